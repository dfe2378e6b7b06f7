/* Engine reference: images. */
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "backends/reading.h"
#include "kernels/reference/image/image.h"

/* -- resize ------------------------------------------------------------------------------------------------------ */

typedef struct resize_job {
  nd4c_ref_resize_args args;
  nd4c_ref_resize_axis axes[ND4C_CPU_MAX_RANK];
  double *rows; /* one a worker */
} resize_job;

/* Makes the table of one axis; false without memory. */
static bool make_axis(const nd4c_call *call, const nd4c_ref_resize_setting *setting, int32_t axis,
                      nd4c_ref_resize_axis *table) {
  const nd4c_tensor *roi = nd4c_cpu_input(call, ND4C_IN_resize_roi);
  nd4c_ref_resize_setting own = *setting;
  const nd4c_resize_lists lists = nd4c_resize_lists_of(call);
  int32_t entry = nd4c_resize_entry(&lists, axis);
  double scale = 1, bounds[2] = {0, 1};
  *table = (nd4c_ref_resize_axis){.in = call->inputs[0].shape[axis], .out = call->outputs[0].shape[axis]};
  bool crop = own.coordinates == ND4C_RESIZE_COORDINATES_TF_CROP_AND_RESIZE;
  if (entry < 0 || table->out == 0) {
    own = (nd4c_ref_resize_setting){.mode = setting->mode, .coordinates = ND4C_RESIZE_COORDINATES_ASYMMETRIC};
  } else {
    scale = nd4c_resize_scale(&lists, entry);
  }
  if (entry >= 0 && crop) {
    nd4c_ref_tensor list = nd4c_cpu_ref_tensor(roi);
    bounds[0] = nd4c_ref_load(&list, entry * list.strides[0]);
    bounds[1] = nd4c_ref_load(&list, (entry + list.shape[0] / 2) * list.strides[0]);
  }
  double width = nd4c_resize_width(&lists, scale, table->in, table->out);
  table->taps = nd4c_ref_resize_taps(&own, scale);
  size_t places = (size_t)(table->out * table->taps);
  table->index = nd4c_cpu_host->allocate((places + 1) * sizeof *table->index);
  table->weight = nd4c_cpu_host->allocate((places + 1) * sizeof *table->weight);
  table->outside = nd4c_cpu_host->allocate((size_t)table->out + 1);
  if (table->index == NULL || table->weight == NULL || table->outside == NULL) {
    return false;
  }
  nd4c_ref_resize_fill(&own, scale, width, bounds, table);
  return true;
}

static void resize_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const resize_job *job = user;
  const nd4c_ref_tensor *x = &job->args.x;
  nd4c_ref_resize(&job->args, job->rows + worker * x->shape[x->rank - 1], begin, end);
}

static nd4c_status resize_axes(const nd4c_call *call, resize_job *job) {
  const nd4c_attr_value *attrs = call->attrs;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_ref_resize_setting setting = {.mode = attrs[ND4C_ATTR_resize_mode].as.i,
                                     .coordinates = attrs[ND4C_ATTR_resize_coordinates].as.i,
                                     .nearest = attrs[ND4C_ATTR_resize_nearest].as.i,
                                     .cubic_a = attrs[ND4C_ATTR_resize_cubic_a].as.f,
                                     .exclude_outside = attrs[ND4C_ATTR_resize_exclude_outside].as.i != 0,
                                     .antialias = attrs[ND4C_ATTR_resize_antialias].as.i != 0};
  int32_t width = call->width > 1 ? call->width : 1;
  for (int32_t axis = 0; axis < x->rank; axis++) {
    if (!make_axis(call, &setting, axis, &job->axes[axis])) {
      return nd4c_cpu_host->fail(ND4C_MEMORY, "resize: no memory for the weights of axis %d", (int)axis);
    }
  }
  int64_t columns = x->shape[x->rank - 1], last = y->shape[y->rank - 1];
  job->rows = nd4c_cpu_host->allocate((size_t)(width * columns) * sizeof *job->rows + 1);
  if (job->rows == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "resize: no memory for %d rows of %lld", (int)width, (long long)columns);
  }
  nd4c_cpu_host->parallel_for(y->size / last, nd4c_cpu_grain(4 * (columns + last)), width, resize_range, job);
  return ND4C_OK;
}

static nd4c_status resize_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  resize_job job = {.args = {.x = nd4c_cpu_ref_tensor(x),
                             .y = nd4c_cpu_ref_tensor(y),
                             .mode = call->attrs[ND4C_ATTR_resize_mode].as.i,
                             .extrapolation = call->attrs[ND4C_ATTR_resize_extrapolation].as.f}};
  job.args.axes = job.axes;
  if (y->size == 0) {
    return ND4C_OK;
  }
  if (y->rank == 0) {
    nd4c_value_store(y->dtype, y->data, 0, nd4c_value_load(x->dtype, x->data, 0));
    return ND4C_OK;
  }
  nd4c_status status = resize_axes(call, &job);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    nd4c_cpu_host->free(job.axes[axis].index);
    nd4c_cpu_host->free(job.axes[axis].weight);
    nd4c_cpu_host->free(job.axes[axis].outside);
  }
  nd4c_cpu_host->free(job.rows);
  return status;
}

/* -- sampling ---------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(sample_range, nd4c_ref_sample)

static nd4c_status sample_all(const nd4c_call *call, nd4c_ref_sample_args *args) {
  const nd4c_tensor *y = &call->outputs[0];
  int64_t channels = y->shape[1];
  if (y->size > 0) {
    nd4c_cpu_host->parallel_for(y->size / channels, nd4c_cpu_grain(16 * channels), call->width, sample_range, args);
  }
  return ND4C_OK;
}

static nd4c_status grid_sample_run(const nd4c_call *call) {
  nd4c_ref_sample_args args = {.x = nd4c_cpu_ref_tensor(&call->inputs[0]),
                               .grid = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_grid_sample_grid]),
                               .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
                               .mode = call->attrs[ND4C_ATTR_grid_sample_mode].as.i,
                               .padding = call->attrs[ND4C_ATTR_grid_sample_padding].as.i,
                               .align_corners = call->attrs[ND4C_ATTR_grid_sample_align_corners].as.i != 0};
  return sample_all(call, &args);
}

static nd4c_status spatial_transformer_run(const nd4c_call *call) {
  nd4c_ref_sample_args args = {.x = nd4c_cpu_ref_tensor(&call->inputs[0]),
                               .theta = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_spatial_transformer_theta]),
                               .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
                               .mode = call->attrs[ND4C_ATTR_spatial_transformer_mode].as.i,
                               .padding = call->attrs[ND4C_ATTR_spatial_transformer_padding].as.i,
                               .align_corners = call->attrs[ND4C_ATTR_spatial_transformer_align_corners].as.i != 0};
  return sample_all(call, &args);
}

typedef struct grid_args {
  nd4c_ref_tensor theta, grid;
  bool align_corners;
} grid_args;

static void grid_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const grid_args *args = user;
  (void)worker;
  nd4c_ref_affine_grid(&args->theta, &args->grid, args->align_corners, begin, end);
}

static nd4c_status affine_grid_run(const nd4c_call *call) {
  const nd4c_tensor *grid = &call->outputs[0];
  grid_args args = {.theta = nd4c_cpu_ref_tensor(&call->inputs[0]),
                    .grid = nd4c_cpu_ref_tensor(grid),
                    .align_corners = call->attrs[ND4C_ATTR_affine_grid_align_corners].as.i != 0};
  if (grid->size > 0) {
    nd4c_cpu_host->parallel_for(grid->size / grid->shape[grid->rank - 1], nd4c_cpu_grain(64), call->width, grid_range,
                                &args);
  }
  return ND4C_OK;
}

/* Each of a list of image numbers names one of `images`. */
static nd4c_status check_images(const nd4c_call *call, const char *what, const nd4c_ref_tensor *indices,
                                int64_t images) {
  for (int64_t i = 0; i < indices->shape[0]; i++) {
    int64_t image = nd4c_value_load(indices->dtype, indices->data, i * indices->strides[0]).i;
    if (image < 0 || image >= images) {
      return nd4c_cpu_host->fail(ND4C_INDEX, "%s: %s[%lld] is %lld, expected 0 to %lld", call->op->name, what,
                                 (long long)i, (long long)image, (long long)images - 1);
    }
  }
  return ND4C_OK;
}

ND4C_CPU_RANGE(crop_range, nd4c_ref_crop_and_resize)

static nd4c_status crop_and_resize_run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_ref_crop_args args = {.x = nd4c_cpu_ref_tensor(&call->inputs[0]),
                             .boxes = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_crop_and_resize_boxes]),
                             .indices = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_crop_and_resize_box_indices]),
                             .y = nd4c_cpu_ref_tensor(y),
                             .mode = call->attrs[ND4C_ATTR_crop_and_resize_mode].as.i,
                             .extrapolation = call->attrs[ND4C_ATTR_crop_and_resize_extrapolation].as.f};
  nd4c_status status = check_images(call, "box_indices", &args.indices, args.x.shape[0]);
  if (status == ND4C_OK && y->size > 0) {
    nd4c_cpu_host->parallel_for(y->size / y->shape[3], nd4c_cpu_grain(16 * y->shape[3]), call->width, crop_range,
                                &args);
  }
  return status;
}

/* -- boxes ------------------------------------------------------------------------------------------------------- */

static nd4c_status nms_run(const nd4c_call *call) {
  const nd4c_tensor *scores = &call->inputs[ND4C_IN_nms_scores];
  nd4c_ref_tensor most = nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_nms_max_output));
  nd4c_ref_tensor iou = nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_nms_iou_threshold));
  nd4c_ref_tensor least = nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_nms_score_threshold));
  nd4c_ref_nms_args args = {.boxes = nd4c_cpu_ref_tensor(&call->inputs[0]),
                            .scores = nd4c_cpu_ref_tensor(scores),
                            .max_output = most.data != NULL ? nd4c_value_load(most.dtype, most.data, 0).i : INT64_MAX,
                            .iou_threshold = iou.data != NULL ? nd4c_ref_load(&iou, 0) : 0,
                            .score_threshold = least.data != NULL ? nd4c_ref_load(&least, 0) : 0,
                            .has_score_threshold = least.data != NULL,
                            .center_point_box = call->attrs[ND4C_ATTR_nms_center_point_box].as.i != 0};
  size_t boxes = (size_t)scores->shape[2] + 1;
  nd4c_ref_candidate *candidates = nd4c_cpu_host->allocate(2 * boxes * sizeof *candidates);
  double *chosen = nd4c_cpu_host->allocate(boxes * 4 * sizeof *chosen);
  nd4c_status status = ND4C_OK;
  if (candidates != NULL && chosen != NULL) {
    call->true_shapes[0][0] = nd4c_ref_nms(&args, candidates, chosen, call->outputs[0].data);
    call->true_shapes[0][1] = 3;
  } else {
    status = nd4c_cpu_host->fail(ND4C_MEMORY, "nms: no memory for %zu boxes", boxes - 1);
  }
  nd4c_cpu_host->free(candidates);
  nd4c_cpu_host->free(chosen);
  return status;
}

ND4C_CPU_RANGE(roi_align_range, nd4c_ref_roi_align)

static nd4c_status roi_align_run(const nd4c_call *call) {
  nd4c_ref_roi_args args = {.x = nd4c_cpu_ref_tensor(&call->inputs[0]),
                            .rois = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_roi_align_rois]),
                            .indices = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_roi_align_batch_indices]),
                            .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
                            .sampling_ratio = call->attrs[ND4C_ATTR_roi_align_sampling_ratio].as.i,
                            .spatial_scale = call->attrs[ND4C_ATTR_roi_align_spatial_scale].as.f,
                            .maximum = call->attrs[ND4C_ATTR_roi_align_mode].as.i == ND4C_ROI_MODE_MAX,
                            .half_pixel = call->attrs[ND4C_ATTR_roi_align_half_pixel].as.i != 0};
  nd4c_status status = check_images(call, "batch_indices", &args.indices, args.x.shape[0]);
  int64_t samples = 1;
  for (int64_t roi = 0; roi < args.rois.shape[0] && status == ND4C_OK; roi++) {
    int64_t own = nd4c_ref_roi_samples(&args, roi);
    samples = own > samples ? own : samples;
    if (own < 0) {
      status = nd4c_cpu_host->fail(ND4C_ARGUMENT,
                                   "roi_align: rois[%lld] is not finite or needs more than %d samples along a bin",
                                   (long long)roi, (int)ND4C_REF_ROI_SAMPLES);
    }
  }
  if (status == ND4C_OK) {
    nd4c_cpu_host->parallel_for(call->outputs[0].size, nd4c_cpu_grain(8 * samples * samples), call->width,
                                roi_align_range, &args);
  }
  return status;
}

ND4C_CPU_RANGE(max_roi_pool_range, nd4c_ref_max_roi_pool)

static nd4c_status max_roi_pool_run(const nd4c_call *call) {
  nd4c_ref_roi_args args = {.x = nd4c_cpu_ref_tensor(&call->inputs[0]),
                            .rois = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_max_roi_pool_rois]),
                            .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
                            .spatial_scale = call->attrs[ND4C_ATTR_max_roi_pool_spatial_scale].as.f};
  for (int64_t roi = 0; roi < args.rois.shape[0]; roi++) {
    double image = nd4c_ref_load(&args.rois, roi * args.rois.strides[0]);
    if (!(image >= 0 && image < (double)args.x.shape[0])) {
      return nd4c_cpu_host->fail(ND4C_INDEX, "max_roi_pool: rois[%lld] names image %g, expected 0 to %lld",
                                 (long long)roi, image, (long long)args.x.shape[0] - 1);
    }
  }
  nd4c_cpu_host->parallel_for(call->outputs[0].size, nd4c_cpu_grain(64), call->width, max_roi_pool_range, &args);
  return ND4C_OK;
}

/* -- colours ----------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(color_range, nd4c_ref_color_convert)

static nd4c_status color_any(const nd4c_call *call, nd4c_ref_color what, double amount, int64_t axis) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_color_args args = {.x = nd4c_cpu_ref_tensor(x),
                              .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
                              .what = what,
                              .amount = amount,
                              .axis = nd4c_axis(axis, x->rank)};
  nd4c_cpu_host->parallel_for(x->size / 3, nd4c_cpu_grain(32), call->width, color_range, &args);
  return ND4C_OK;
}

#define COLOR_RUN(name, WHAT)                                        \
  static nd4c_status name##_run(const nd4c_call *call) {             \
    return color_any(call, ND4C_REF_##WHAT, 0, call->attrs[0].as.i); \
  }
COLOR_RUN(rgb_to_hsv, RGB_TO_HSV)
COLOR_RUN(hsv_to_rgb, HSV_TO_RGB)
COLOR_RUN(rgb_to_yiq, RGB_TO_YIQ)
COLOR_RUN(yiq_to_rgb, YIQ_TO_RGB)
COLOR_RUN(rgb_to_yuv, RGB_TO_YUV)
COLOR_RUN(yuv_to_rgb, YUV_TO_RGB)
COLOR_RUN(rgb_to_grayscale, GRAYSCALE)

static nd4c_status adjust_hue_run(const nd4c_call *call) {
  return color_any(call, ND4C_REF_HUE, call->attrs[ND4C_ATTR_adjust_hue_delta].as.f,
                   call->attrs[ND4C_ATTR_adjust_hue_axis].as.i);
}

static nd4c_status adjust_saturation_run(const nd4c_call *call) {
  return color_any(call, ND4C_REF_SATURATION, call->attrs[ND4C_ATTR_adjust_saturation_factor].as.f,
                   call->attrs[ND4C_ATTR_adjust_saturation_axis].as.i);
}

typedef struct contrast_args {
  nd4c_ref_tensor x, y;
  double factor;
  int32_t spatial;
} contrast_args;

static void contrast_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const contrast_args *args = user;
  (void)worker;
  nd4c_ref_contrast(&args->x, &args->y, args->factor, args->spatial, begin, end);
}

static nd4c_status adjust_contrast_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_adjust_contrast_axis].as.i, x->rank);
  contrast_args args = {.x = nd4c_cpu_ref_tensor(x),
                        .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
                        .factor = call->attrs[ND4C_ATTR_adjust_contrast_factor].as.f,
                        .spatial = axis == x->rank - 1 ? axis - 2 : axis + 1};
  if (x->size > 0) {
    int64_t plane = x->shape[args.spatial] * x->shape[args.spatial + 1];
    nd4c_cpu_host->parallel_for(x->size / plane, nd4c_cpu_grain(4 * plane), call->width, contrast_range, &args);
  }
  return ND4C_OK;
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

const nd4c_kernel *const nd4c_cpu_reference_image_kernels[] = {
    ND4C_CPU_REFERENCE_KERNEL(resize, ND4C_CPU_ALL, resize_run),
    ND4C_CPU_REFERENCE_KERNEL(crop_and_resize, ND4C_CPU_FLOATS, crop_and_resize_run),
    ND4C_CPU_REFERENCE_KERNEL(grid_sample, ND4C_CPU_REALS, grid_sample_run),
    ND4C_CPU_REFERENCE_KERNEL(affine_grid, ND4C_CPU_FLOATS, affine_grid_run),
    ND4C_CPU_REFERENCE_KERNEL(spatial_transformer, ND4C_CPU_REALS, spatial_transformer_run),
    ND4C_CPU_REFERENCE_KERNEL(nms, ND4C_CPU_FLOATS, nms_run),
    ND4C_CPU_REFERENCE_KERNEL(roi_align, ND4C_CPU_FLOATS, roi_align_run),
    ND4C_CPU_REFERENCE_KERNEL(max_roi_pool, ND4C_CPU_FLOATS, max_roi_pool_run),
    ND4C_CPU_REFERENCE_KERNEL(rgb_to_hsv, ND4C_CPU_FLOATS, rgb_to_hsv_run),
    ND4C_CPU_REFERENCE_KERNEL(hsv_to_rgb, ND4C_CPU_FLOATS, hsv_to_rgb_run),
    ND4C_CPU_REFERENCE_KERNEL(rgb_to_yiq, ND4C_CPU_FLOATS, rgb_to_yiq_run),
    ND4C_CPU_REFERENCE_KERNEL(yiq_to_rgb, ND4C_CPU_FLOATS, yiq_to_rgb_run),
    ND4C_CPU_REFERENCE_KERNEL(rgb_to_yuv, ND4C_CPU_FLOATS, rgb_to_yuv_run),
    ND4C_CPU_REFERENCE_KERNEL(yuv_to_rgb, ND4C_CPU_FLOATS, yuv_to_rgb_run),
    ND4C_CPU_REFERENCE_KERNEL(rgb_to_grayscale, ND4C_CPU_FLOATS, rgb_to_grayscale_run),
    ND4C_CPU_REFERENCE_KERNEL(adjust_hue, ND4C_CPU_FLOATS, adjust_hue_run),
    ND4C_CPU_REFERENCE_KERNEL(adjust_saturation, ND4C_CPU_FLOATS, adjust_saturation_run),
    ND4C_CPU_REFERENCE_KERNEL(adjust_contrast, ND4C_CPU_FLOATS, adjust_contrast_run),
    NULL};
