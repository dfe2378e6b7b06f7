/* Engine reference: images: resizing, sampling, boxes, regions of interest, colours. dispatch/choice.c asks these
 * kernels last, after those of all other engines. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "backends/cpu/support/regions.h"
#include "backends/cpu/support/resize.h"
#include "kernels/reference/image/image.h"

/* -- resize ------------------------------------------------------------------------------------------------------ */

typedef struct resize_job {
  nd4c_ref_resize_args args;
  nd4c_ref_resize_axis axes[ND4C_CPU_MAX_RANK];
  double *rows; /* one a worker */
} resize_job;

static void resize_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const resize_job *job = user;
  const nd4c_ref_tensor *x = &job->args.x;
  nd4c_ref_resize(&job->args, job->rows + worker * x->shape[x->rank - 1], begin, end);
}

static nd4c_status resize(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  resize_job job = {.args = {.x = nd4c_cpu_ref_tensor(x),
                             .y = nd4c_cpu_ref_tensor(y),
                             .mode = ND4C_INT_OF(call, resize_mode),
                             .extrapolation = ND4C_REAL_OF(call, resize_extrapolation)}};
  job.args.axes = job.axes;
  if (y->size > 0 && y->rank == 0) {
    nd4c_value_store(y->dtype, y->data, 0, nd4c_value_load(x->dtype, x->data, 0));
  }
  if (y->size == 0 || y->rank == 0) {
    return ND4C_OK;
  }
  double *tables = nd4c_cpu_work_make(work, nd4c_cpu_resize_bytes(call) / (int64_t)sizeof(double));
  if (tables != NULL) {
    nd4c_cpu_resize_fill(call, tables, job.axes);
  }
  int64_t columns = x->shape[x->rank - 1], last = y->shape[y->rank - 1];
  job.rows = nd4c_cpu_work_make(work, (call->width > 1 ? call->width : 1) * columns);
  return nd4c_cpu_work_parallel(work, y->size / last, 4 * (columns + last), resize_range, &job);
}

/* -- sampling ---------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(sample_range, nd4c_ref_sample)

static nd4c_status sample_all(const nd4c_call *call, nd4c_ref_sample_args *args) {
  const nd4c_tensor *y = &call->outputs[0];
  int64_t channels = y->shape[1], places = y->size > 0 ? y->size / channels : 0;
  return nd4c_cpu_reference_parallel(call, places, 16 * channels, sample_range, args);
}

static nd4c_status grid_sample_run(const nd4c_call *call) {
  nd4c_ref_sample_args args = {.x = nd4c_cpu_ref_input(call, 0),
                               .grid = nd4c_cpu_ref_input(call, ND4C_IN_grid_sample_grid),
                               .y = nd4c_cpu_ref_output(call, 0),
                               .mode = ND4C_INT_OF(call, grid_sample_mode),
                               .padding = ND4C_INT_OF(call, grid_sample_padding),
                               .align_corners = ND4C_FLAG_OF(call, grid_sample_align_corners)};
  return sample_all(call, &args);
}

static nd4c_status spatial_transformer_run(const nd4c_call *call) {
  nd4c_ref_sample_args args = {.x = nd4c_cpu_ref_input(call, 0),
                               .theta = nd4c_cpu_ref_input(call, ND4C_IN_spatial_transformer_theta),
                               .y = nd4c_cpu_ref_output(call, 0),
                               .mode = ND4C_INT_OF(call, spatial_transformer_mode),
                               .padding = ND4C_INT_OF(call, spatial_transformer_padding),
                               .align_corners = ND4C_FLAG_OF(call, spatial_transformer_align_corners)};
  return sample_all(call, &args);
}

ND4C_CPU_RANGE(grid_range, nd4c_ref_affine_grid)

static nd4c_status affine_grid_run(const nd4c_call *call) {
  const nd4c_tensor *grid = &call->outputs[0];
  nd4c_ref_grid_args args = {.theta = nd4c_cpu_ref_input(call, 0),
                             .grid = nd4c_cpu_ref_tensor(grid),
                             .align_corners = ND4C_FLAG_OF(call, affine_grid_align_corners)};
  int64_t places = grid->size > 0 ? grid->size / grid->shape[grid->rank - 1] : 0;
  return nd4c_cpu_reference_parallel(call, places, 64, grid_range, &args);
}

nd4c_status nd4c_cpu_check_images(const nd4c_call *call, const char *what, const nd4c_ref_tensor *indices,
                                  int64_t images) {
  for (int64_t i = 0; i < indices->shape[0]; i++) {
    int64_t image = nd4c_value_load(indices->dtype, indices->data, i * indices->strides[0]).i;
    ND4C_CPU_FAIL_IF(image < 0 || image >= images, ND4C_INDEX, "%s: %s[%lld] is %lld, expected 0 to %lld",
                     call->op->name, what, (long long)i, (long long)image, (long long)images - 1);
  }
  return ND4C_OK;
}

ND4C_CPU_RANGE(crop_range, nd4c_ref_crop_and_resize)

static nd4c_status crop_and_resize_run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_ref_crop_args args = {.x = nd4c_cpu_ref_input(call, 0),
                             .boxes = nd4c_cpu_ref_input(call, ND4C_IN_crop_and_resize_boxes),
                             .indices = nd4c_cpu_ref_input(call, ND4C_IN_crop_and_resize_box_indices),
                             .y = nd4c_cpu_ref_tensor(y),
                             .mode = ND4C_INT_OF(call, crop_and_resize_mode),
                             .extrapolation = ND4C_REAL_OF(call, crop_and_resize_extrapolation)};
  ND4C_BACKEND_TRY(nd4c_cpu_check_images(call, "box_indices", &args.indices, args.x.shape[0]));
  int64_t rows = y->size > 0 ? y->size / y->shape[3] : 0;
  return nd4c_cpu_reference_parallel(call, rows, 16 * y->shape[3], crop_range, &args);
}

/* -- boxes ------------------------------------------------------------------------------------------------------- */

static nd4c_status nms(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *scores = &call->inputs[ND4C_IN_nms_scores];
  nd4c_ref_tensor most = nd4c_cpu_ref_input(call, ND4C_IN_nms_max_output);
  nd4c_ref_tensor iou = nd4c_cpu_ref_input(call, ND4C_IN_nms_iou_threshold);
  nd4c_ref_tensor least = nd4c_cpu_ref_input(call, ND4C_IN_nms_score_threshold);
  nd4c_ref_nms_args args = {.boxes = nd4c_cpu_ref_input(call, 0),
                            .scores = nd4c_cpu_ref_tensor(scores),
                            .max_output = most.data != NULL ? nd4c_value_load(most.dtype, most.data, 0).i : INT64_MAX,
                            .iou_threshold = iou.data != NULL ? nd4c_ref_load(&iou, 0) : 0,
                            .score_threshold = least.data != NULL ? nd4c_ref_load(&least, 0) : 0,
                            .has_score_threshold = least.data != NULL,
                            .center_point_box = ND4C_FLAG_OF(call, nms_center_point_box)};
  /* A candidate takes two numbers. */
  nd4c_ref_candidate *candidates = (nd4c_ref_candidate *)nd4c_cpu_work_make(work, 4 * scores->shape[2]);
  double *chosen = nd4c_cpu_work_make(work, 4 * scores->shape[2]);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  call->true_shapes[0][0] = nd4c_ref_nms(&args, candidates, chosen, call->outputs[0].data);
  call->true_shapes[0][1] = 3;
  return ND4C_OK;
}

_Static_assert(sizeof(nd4c_ref_candidate) <= 2 * sizeof(double), "the memory of nms");

ND4C_CPU_RANGE(roi_align_range, nd4c_ref_roi_align)

nd4c_status nd4c_cpu_roi_align_read(const nd4c_call *call, nd4c_ref_roi_args *read) {
  nd4c_ref_roi_args args = {.x = nd4c_cpu_ref_input(call, 0),
                            .rois = nd4c_cpu_ref_input(call, ND4C_IN_roi_align_rois),
                            .indices = nd4c_cpu_ref_input(call, ND4C_IN_roi_align_batch_indices),
                            .y = nd4c_cpu_ref_output(call, 0),
                            .sampling_ratio = ND4C_INT_OF(call, roi_align_sampling_ratio),
                            .spatial_scale = ND4C_REAL_OF(call, roi_align_spatial_scale),
                            .maximum = ND4C_INT_OF(call, roi_align_mode) == ND4C_ROI_MODE_MAX,
                            .half_pixel = ND4C_FLAG_OF(call, roi_align_half_pixel)};
  ND4C_BACKEND_TRY(nd4c_cpu_check_images(call, "batch_indices", &args.indices, args.x.shape[0]));
  for (int64_t roi = 0; roi < args.rois.shape[0]; roi++) {
    ND4C_CPU_FAIL_IF(nd4c_ref_roi_samples(&args, roi) < 0, ND4C_ARGUMENT,
                     "roi_align: rois[%lld] is not finite or needs more than %d samples along a bin", (long long)roi,
                     (int)ND4C_REF_ROI_SAMPLES);
  }
  *read = args;
  return ND4C_OK;
}

static nd4c_status roi_align_run(const nd4c_call *call) {
  nd4c_ref_roi_args args;
  int64_t samples = 1;
  ND4C_BACKEND_TRY(nd4c_cpu_roi_align_read(call, &args));
  for (int64_t roi = 0; roi < args.rois.shape[0]; roi++) {
    int64_t own = nd4c_ref_roi_samples(&args, roi);
    samples = own > samples ? own : samples;
  }
  return nd4c_cpu_reference_parallel(call, call->outputs[0].size, 8 * samples * samples, roi_align_range, &args);
}

ND4C_CPU_RANGE(max_roi_pool_range, nd4c_ref_max_roi_pool)

static nd4c_status max_roi_pool_run(const nd4c_call *call) {
  nd4c_ref_roi_args args = {.x = nd4c_cpu_ref_input(call, 0),
                            .rois = nd4c_cpu_ref_input(call, ND4C_IN_max_roi_pool_rois),
                            .y = nd4c_cpu_ref_output(call, 0),
                            .spatial_scale = ND4C_REAL_OF(call, max_roi_pool_spatial_scale)};
  for (int64_t roi = 0; roi < args.rois.shape[0]; roi++) {
    double image = nd4c_ref_load(&args.rois, roi * args.rois.strides[0]);
    ND4C_CPU_FAIL_IF(!(image >= 0 && image < (double)args.x.shape[0]), ND4C_INDEX,
                     "max_roi_pool: rois[%lld] names image %g, expected 0 to %lld", (long long)roi, image,
                     (long long)args.x.shape[0] - 1);
  }
  return nd4c_cpu_reference_parallel(call, call->outputs[0].size, 64, max_roi_pool_range, &args);
}

/* -- colours ----------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(color_range, nd4c_ref_color_convert)

static nd4c_status color_any(const nd4c_call *call, nd4c_ref_color what, double amount, int64_t axis) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_color_args args = {.x = nd4c_cpu_ref_tensor(x),
                              .y = nd4c_cpu_ref_output(call, 0),
                              .what = what,
                              .amount = amount,
                              .axis = nd4c_axis(axis, x->rank)};
  return nd4c_cpu_reference_parallel(call, x->size / 3, 32, color_range, &args);
}

ND4C_CPU_RANGE(contrast_range, nd4c_ref_contrast)

static nd4c_status adjust_contrast_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, adjust_contrast_axis), x->rank);
  nd4c_ref_contrast_args args = {.x = nd4c_cpu_ref_tensor(x),
                                 .y = nd4c_cpu_ref_output(call, 0),
                                 .factor = ND4C_REAL_OF(call, adjust_contrast_factor),
                                 .spatial = axis == x->rank - 1 ? axis - 2 : axis + 1};
  int64_t plane = x->shape[args.spatial] * x->shape[args.spatial + 1];
  return nd4c_cpu_reference_parallel(call, x->size > 0 ? x->size / plane : 0, 4 * plane, contrast_range, &args);
}

/* The kernels count modes as the op table does. */
_Static_assert((int)ND4C_INTERPOLATION_NEAREST == (int)ND4C_REF_NEAREST &&
                   (int)ND4C_INTERPOLATION_LINEAR == (int)ND4C_REF_LINEAR &&
                   (int)ND4C_INTERPOLATION_CUBIC == (int)ND4C_REF_CUBIC,
               "kernels/reference/image/image.h");
_Static_assert(ND4C_RESIZE_COORDINATES_HALF_PIXEL == 0 && ND4C_RESIZE_COORDINATES_HALF_PIXEL_SYMMETRIC == 1 &&
                   ND4C_RESIZE_COORDINATES_PYTORCH_HALF_PIXEL == 2 && ND4C_RESIZE_COORDINATES_ALIGN_CORNERS == 3 &&
                   ND4C_RESIZE_COORDINATES_ASYMMETRIC == 4 && ND4C_RESIZE_COORDINATES_TF_CROP_AND_RESIZE == 5 &&
                   ND4C_RESIZE_COORDINATES_TF_HALF_PIXEL_FOR_NN == 6 && ND4C_RESIZE_NEAREST_ROUND_PREFER_FLOOR == 0 &&
                   ND4C_RESIZE_NEAREST_ROUND_PREFER_CEIL == 1 && ND4C_RESIZE_NEAREST_CEIL == 3,
               "kernels/reference/image/resize.c");
_Static_assert(ND4C_SAMPLE_PADDING_ZEROS == 0 && ND4C_SAMPLE_PADDING_BORDER == 1 && ND4C_SAMPLE_PADDING_REFLECTION == 2,
               "kernels/reference/image/sample.c");

#define F ND4C_CPU_FLOATS
#define WORK_OPS(X)                           \
  X(resize, ND4C_CPU_ALL, resize(call, work)) \
  X(nms, F, nms(call, work))
/* X(op, dtypes, expression) */
#define COLOR_OPS(X)                                                                                         \
  X(rgb_to_hsv, F, color_any(call, ND4C_REF_RGB_TO_HSV, 0, call->attrs[0].as.i))                             \
  X(hsv_to_rgb, F, color_any(call, ND4C_REF_HSV_TO_RGB, 0, call->attrs[0].as.i))                             \
  X(rgb_to_yiq, F, color_any(call, ND4C_REF_RGB_TO_YIQ, 0, call->attrs[0].as.i))                             \
  X(yiq_to_rgb, F, color_any(call, ND4C_REF_YIQ_TO_RGB, 0, call->attrs[0].as.i))                             \
  X(rgb_to_yuv, F, color_any(call, ND4C_REF_RGB_TO_YUV, 0, call->attrs[0].as.i))                             \
  X(yuv_to_rgb, F, color_any(call, ND4C_REF_YUV_TO_RGB, 0, call->attrs[0].as.i))                             \
  X(rgb_to_grayscale, F, color_any(call, ND4C_REF_GRAYSCALE, 0, call->attrs[0].as.i))                        \
  X(adjust_hue, F,                                                                                           \
    color_any(call, ND4C_REF_HUE, ND4C_REAL_OF(call, adjust_hue_delta), ND4C_INT_OF(call, adjust_hue_axis))) \
  X(adjust_saturation, F,                                                                                    \
    color_any(call, ND4C_REF_SATURATION, ND4C_REAL_OF(call, adjust_saturation_factor),                       \
              ND4C_INT_OF(call, adjust_saturation_axis)))
WORK_OPS(ND4C_CPU_WORK_RUN)
COLOR_OPS(ND4C_CPU_REFERENCE_RUN)

const nd4c_kernel *const nd4c_cpu_reference_image_kernels[] = {
    WORK_OPS(ND4C_CPU_WORK_ROW) COLOR_OPS(ND4C_CPU_REFERENCE_ROW)
        ND4C_CPU_REFERENCE_KERNEL(crop_and_resize, F, crop_and_resize_run),
    ND4C_CPU_REFERENCE_KERNEL(grid_sample, ND4C_CPU_REALS, grid_sample_run),
    ND4C_CPU_REFERENCE_KERNEL(affine_grid, F, affine_grid_run),
    ND4C_CPU_REFERENCE_KERNEL(spatial_transformer, ND4C_CPU_REALS, spatial_transformer_run),
    ND4C_CPU_REFERENCE_KERNEL(roi_align, F, roi_align_run),
    ND4C_CPU_REFERENCE_KERNEL(max_roi_pool, F, max_roi_pool_run),
    ND4C_CPU_REFERENCE_KERNEL(adjust_contrast, F, adjust_contrast_run),
    NULL};
