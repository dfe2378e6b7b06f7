/* Boxes: non-maximum suppression, regions of interest. In float64, because every comparison decides which cells and
 * boxes count. dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <math.h>
#include <string.h>

#include "backends/opencl/support/judge.h"
#include "backends/opencl/support/ordering.h"

#define SOURCES "convert+places+boxes"

/* -- nms ----------------------------------------------------------------------------------------------------------- */

enum { GROUP = 64 };

/* The same struct as nd4c_box_steps of boxes.cl. */
typedef struct box_steps {
  int64_t batch, box, number;
  int32_t center_point_box, unused;
} box_steps;

/* Candidates of each pair of batch and class, sorted; then `kept`, numbers of those that stay, and how many of each
 * pair from `counts` on. */
typedef struct suppression {
  nd4c_cl_sorting sorting;
  int64_t classes, boxes, pairs, kept, counts, words;
} suppression;

static void lay_out(const nd4c_call *call, suppression *s) {
  const nd4c_tensor *scores = &call->inputs[ND4C_IN_nms_scores];
  *s = (suppression){.classes = scores->shape[1], .boxes = scores->shape[2]};
  s->pairs = scores->shape[0] * s->classes;
  s->counts = nd4c_cl_sorting_make(&s->sorting, 0, s->pairs, s->boxes);
  s->words = s->counts + s->pairs + 1;
}

static int64_t nms_scratch(const nd4c_call *call) {
  suppression s;
  lay_out(call, &s);
  return s.words * ND4C_CL_WORD;
}

static nd4c_cl_options nms_options(const nd4c_call *call) {
  nd4c_cl_options options = {""};
  ND4C_CL_TYPES(&options, "ABCD", call->inputs[0].dtype, call->inputs[ND4C_IN_nms_scores].dtype,
                nd4c_cl_dtype_of(nd4c_cl_input(call, ND4C_IN_nms_iou_threshold), ND4C_FLOAT32),
                nd4c_cl_dtype_of(nd4c_cl_input(call, ND4C_IN_nms_score_threshold), ND4C_FLOAT32));
  nd4c_cl_define_index(&options, call);
  return options;
}

static nd4c_status sort_candidates(const nd4c_call *call, suppression *s, const nd4c_cl_walk *walk) {
  const nd4c_tensor *threshold = nd4c_cl_input(call, ND4C_IN_nms_score_threshold);
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ITEMS(call, SOURCES, "score_keys", nms_options(call), walk->size,
                                     ND4C_CL_IN(&call->inputs[ND4C_IN_nms_scores]), ND4C_CL_VALUE(*walk),
                                     ND4C_CL_LONG(s->boxes), ND4C_CL_IN(threshold), ND4C_CL_INT(threshold != NULL),
                                     ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(s->sorting.keys, s->sorting.order)));
  ND4C_BACKEND_TRY(nd4c_cl_sort(call, &s->sorting));
  s->kept = s->sorting.other_order; /* free now */
  return ND4C_OK;
}

static nd4c_status keep_boxes(const nd4c_call *call, const suppression *s) {
  const nd4c_tensor *boxes = &call->inputs[0], *iou = nd4c_cl_input(call, ND4C_IN_nms_iou_threshold);
  const nd4c_tensor *most = nd4c_cl_input(call, ND4C_IN_nms_max_output);
  const box_steps steps = {.batch = boxes->strides[0],
                           .box = boxes->strides[1],
                           .number = boxes->strides[2],
                           .center_point_box = ND4C_FLAG_OF(call, nms_center_point_box)};
  return ND4C_CL_RUN_GROUPS(
      call, SOURCES, "keep_boxes", nms_options(call), s->pairs, GROUP, ND4C_CL_IN(boxes), ND4C_CL_VALUE(steps),
      ND4C_CL_LONG(s->boxes, s->classes), ND4C_CL_IN(iou), ND4C_CL_INT(iou != NULL), ND4C_CL_IN(most),
      ND4C_CL_INT(most != NULL && most->dtype == ND4C_INT64, most != NULL), ND4C_CL_SCRATCH(READ_WRITE),
      ND4C_CL_LONG(s->sorting.keys, s->sorting.order, s->kept, s->counts));
}

/* Turns the counts into starts, writes the boxes, and reads back the number of rows. */
static nd4c_status write_boxes(const nd4c_call *call, const suppression *s, int64_t *total) {
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ORDER(call, "scan_sums", 1, ND4C_CL_LONG(s->counts, s->pairs)));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ITEMS(call, SOURCES, "write_boxes", nms_options(call), s->pairs * s->boxes,
                                     ND4C_CL_SCRATCH(READ),
                                     ND4C_CL_LONG(s->kept, s->counts, s->boxes, s->classes, call->outputs[0].shape[0]),
                                     ND4C_CL_OUT(&call->outputs[0])));
  return nd4c_cl_read_back(call, call->scratch_buffer, (s->counts + s->pairs) * ND4C_CL_WORD, total,
                           (int64_t)sizeof *total);
}

static nd4c_status nms(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *scores = &call->inputs[ND4C_IN_nms_scores];
  nd4c_cl_walk walk;
  suppression s;
  lay_out(call, &s);
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &walk, scores));
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_step_fp64(step));
    return nd4c_cl_sorting_check(step, scores->size, s.words * ND4C_CL_WORD);
  }
  int64_t total = 0;
  if (scores->size > 0) {
    ND4C_BACKEND_TRY(sort_candidates(call, &s, &walk));
    ND4C_BACKEND_TRY(keep_boxes(call, &s));
    ND4C_BACKEND_TRY(write_boxes(call, &s, &total));
  }
  call->true_shapes[0][0] = total;
  call->true_shapes[0][1] = 3;
  return ND4C_OK;
}

/* -- regions of interest ------------------------------------------------------------------------------------------- */

enum { MOST_SAMPLES = 1 << 20 /* along a bin */ };

/* The same struct as nd4c_rois of boxes.cl. */
typedef struct regions {
  int64_t x_shape[4], x_strides[4], y_shape[4], y_strides[4], rois_strides[2];
  int64_t sampling_ratio, most_samples, images_step;
  int32_t wide, maximum, half_pixel, unused;
} regions;

static regions describe(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *rois = &call->inputs[1], *y = &call->outputs[0];
  regions r = {.most_samples = MOST_SAMPLES};
  memcpy(r.x_shape, x->shape, sizeof r.x_shape);
  memcpy(r.x_strides, x->strides, sizeof r.x_strides);
  memcpy(r.y_shape, y->shape, sizeof r.y_shape);
  memcpy(r.y_strides, y->strides, sizeof r.y_strides);
  memcpy(r.rois_strides, rois->strides, sizeof r.rois_strides);
  return r;
}

/* Number `place` of a list of images. */
static nd4c_status read_image(const nd4c_call *call, const nd4c_tensor *images, int64_t place, int64_t *image) {
  int64_t bytes = nd4c_cl_element_bytes(images->dtype);
  int32_t narrow;
  void *to = images->dtype == ND4C_INT64 ? (void *)image : &narrow;
  ND4C_BACKEND_TRY(
      nd4c_cl_read_back(call, images->buffer, (images->offset + place * images->strides[0]) * bytes, to, bytes));
  *image = images->dtype == ND4C_INT64 ? *image : narrow;
  return ND4C_OK;
}

static nd4c_status judge_rois(const nd4c_call *call, const regions *r, double scale) {
  const nd4c_tensor *rois = &call->inputs[1], *images = &call->inputs[ND4C_IN_roi_align_batch_indices];
  const uint32_t none = UINT32_MAX;
  uint32_t verdict[2];
  int64_t image = 0;
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, 0, (int64_t)sizeof verdict, &none, sizeof none));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_OPS(call, SOURCES, "judge_rois", rois->shape[0], ND4C_CL_IN(rois), ND4C_CL_IN(images),
                                   ND4C_CL_VALUE(*r), ND4C_CL_DOUBLE(scale), ND4C_CL_SCRATCH(READ_WRITE)));
  ND4C_BACKEND_TRY(nd4c_cl_read_back(call, call->scratch_buffer, 0, verdict, (int64_t)sizeof verdict));
  if (verdict[0] != none) {
    ND4C_BACKEND_TRY(read_image(call, images, verdict[0], &image));
    return nd4c_cl_host->fail(ND4C_INDEX, "roi_align: batch_indices[%lld] is %lld, expected 0 to %lld",
                              (long long)verdict[0], (long long)image, (long long)r->x_shape[0] - 1);
  }
  return verdict[1] == none
             ? ND4C_OK
             : nd4c_cl_host->fail(ND4C_ARGUMENT,
                                  "roi_align: rois[%lld] is not finite or needs more than %d samples along a bin",
                                  (long long)verdict[1], (int)MOST_SAMPLES);
}

static nd4c_status roi_align(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *rois = &call->inputs[1], *images = &call->inputs[ND4C_IN_roi_align_batch_indices];
  double scale = ND4C_REAL_OF(call, roi_align_spatial_scale);
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_step_fp64(step));
    return nd4c_cl_sorting_check(step, rois->shape[0], 0);
  }
  regions r = describe(call);
  r.sampling_ratio = ND4C_INT_OF(call, roi_align_sampling_ratio);
  r.images_step = images->strides[0];
  r.wide = images->dtype == ND4C_INT64;
  r.maximum = ND4C_INT_OF(call, roi_align_mode) == ND4C_ROI_MODE_MAX;
  r.half_pixel = ND4C_FLAG_OF(call, roi_align_half_pixel);
  ND4C_BACKEND_TRY(judge_rois(call, &r, scale));
  return ND4C_CL_RUN_OPS(call, SOURCES, "align_rois", call->outputs[0].size, ND4C_CL_IN(&call->inputs[0]),
                         ND4C_CL_IN(rois), ND4C_CL_IN(images), ND4C_CL_OUT(&call->outputs[0]), ND4C_CL_VALUE(r),
                         ND4C_CL_DOUBLE(scale));
}

static nd4c_status max_roi_pool(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  int64_t images = call->inputs[0].shape[0];
  nd4c_tensor numbers = call->inputs[1]; /* the first of each roi: its image's */
  numbers.rank = 1;
  numbers.size = numbers.shape[0];
  const nd4c_tensor *const judged[1] = {&numbers};
  const nd4c_cl_range range = {.most = images > 0 ? nextafter((double)images, 0) : -1};
  nd4c_cl_outlier outlier;
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_step_fp64(step));
    return nd4c_cl_judge_check(step, 1, judged);
  }
  ND4C_BACKEND_TRY(nd4c_cl_judge(call, 1, judged, &range, &outlier));
  if (outlier.tensor >= 0) {
    return nd4c_cl_host->fail(ND4C_INDEX, "max_roi_pool: rois[%lld] names image %g, expected 0 to %lld",
                              (long long)outlier.place, outlier.value, (long long)images - 1);
  }
  regions r = describe(call);
  return ND4C_CL_RUN_OPS(call, SOURCES, "pool_rois", call->outputs[0].size, ND4C_CL_IN(&call->inputs[0]),
                         ND4C_CL_IN(&call->inputs[1]), ND4C_CL_OUT(&call->outputs[0]), ND4C_CL_VALUE(r),
                         ND4C_CL_DOUBLE(ND4C_REAL_OF(call, max_roi_pool_spatial_scale)));
}

ND4C_CL_STEP_KERNEL(nms, ND4C_CL_FLOATS, nms(step), nms_scratch)
ND4C_CL_STEP_KERNEL(roi_align, ND4C_CL_FLOATS, roi_align(step), nd4c_cl_judge_scratch)
ND4C_CL_STEP_KERNEL(max_roi_pool, ND4C_CL_FLOATS, max_roi_pool(step), nd4c_cl_judge_scratch)

const nd4c_kernel *const nd4c_cl_image_boxes_kernels[] = {&opencl_nms, &opencl_roi_align, &opencl_max_roi_pool, NULL};
