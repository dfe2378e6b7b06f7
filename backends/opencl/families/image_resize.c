/* Images: resizing, sampling between elements, colours. Numbers are computed in float64 if the device has it, else in
 * pairs of float32 (colours: in float32). dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <string.h>

#include "backends/opencl/support/ordering.h"
#include "backends/reading.h"

static nd4c_cl_options options_of(const nd4c_call *call, nd4c_dtype dtype, nd4c_dtype other) {
  nd4c_cl_options options = {""};
  nd4c_cl_define_index(&options, call);
  ND4C_CL_TYPES(&options, "AB", dtype, other);
  nd4c_cl_define_if(&options, !nd4c_cl_wide(call), "PAIRS"); /* image.cl says what REAL is else */
  return options;
}

#define RESIZE_SOURCES(call) ND4C_CL_BY_PAIRS(call, "places+image+resize")
#define SAMPLE_SOURCES(call) ND4C_CL_BY_PAIRS(call, "places+image+sample")

/* -- resize -------------------------------------------------------------------------------------------------------- */

/* What the kernel's nd4c_resize_axis begins with, then its REAL numbers. */
typedef struct axis_numbers {
  int64_t in, out, taps, table, first_tap, mode, coordinates, nearest;
  int32_t exclude_outside, antialias;
} axis_numbers;
enum { SCALE, WIDTH, ROI_BEGIN, ROI_END, CUBIC_A, UNUSED, REALS };

typedef struct resize_axis {
  axis_numbers numbers;
  double reals[REALS];
  int32_t entry; /* of the attribute axes; -1: the axis stays as it is */
} resize_axis;

/* The same struct as nd4c_resize of resize.cl. */
typedef struct resizing {
  int64_t size;
  int32_t rank, mode;
  int64_t shape[ND4C_CL_RANK], x_shape[ND4C_CL_RANK], x_strides[ND4C_CL_RANK], y_strides[ND4C_CL_RANK],
      taps[ND4C_CL_RANK], table[ND4C_CL_RANK];
} resizing;

/* One axis; the first word behind its table. */
static int64_t describe_axis(const nd4c_call *call, int32_t i, int64_t table, resize_axis *axis) {
  const nd4c_attr_value *attrs = call->attrs;
  const nd4c_resize_lists lists = nd4c_resize_lists_of(call);
  *axis = (resize_axis){.entry = nd4c_resize_entry(&lists, i)};
  axis_numbers *n = &axis->numbers;
  *n = (axis_numbers){.in = call->inputs[0].shape[i],
                      .out = call->outputs[0].shape[i],
                      .table = table,
                      .mode = attrs[ND4C_ATTR_resize_mode].as.i,
                      .coordinates = ND4C_RESIZE_COORDINATES_ASYMMETRIC};
  axis->reals[SCALE] = 1;
  axis->reals[ROI_END] = 1;
  if (axis->entry >= 0 && n->out > 0) {
    n->coordinates = attrs[ND4C_ATTR_resize_coordinates].as.i;
    n->nearest = attrs[ND4C_ATTR_resize_nearest].as.i;
    n->exclude_outside = attrs[ND4C_ATTR_resize_exclude_outside].as.i != 0;
    n->antialias = attrs[ND4C_ATTR_resize_antialias].as.i != 0;
    axis->reals[CUBIC_A] = attrs[ND4C_ATTR_resize_cubic_a].as.f;
    axis->reals[SCALE] = nd4c_resize_scale(&lists, axis->entry);
  }
  axis->reals[WIDTH] = nd4c_resize_width(&lists, axis->reals[SCALE], n->in, n->out);
  n->first_tap = nd4c_resize_first_tap(n->mode == ND4C_INTERPOLATION_CUBIC, n->antialias != 0, axis->reals[SCALE]);
  n->taps = n->mode == ND4C_INTERPOLATION_NEAREST ? 1 : 2 - 2 * n->first_tap;
  return table + (2 * n->taps + 1) * n->out;
}

static int64_t resize_scratch(const nd4c_call *call) {
  int64_t words = 1;
  resize_axis axis;
  for (int32_t i = 0; i < call->inputs[0].rank; i++) {
    words = describe_axis(call, i, words, &axis);
  }
  return words * ND4C_CL_WORD;
}

static nd4c_status make_taps(const nd4c_call *call, const resize_axis *axis) {
  const nd4c_tensor *roi = nd4c_cl_input(call, ND4C_IN_resize_roi);
  bool crops =
      axis->entry >= 0 && roi != NULL && axis->numbers.coordinates == ND4C_RESIZE_COORDINATES_TF_CROP_AND_RESIZE;
  unsigned char bytes[sizeof axis->numbers + sizeof axis->reals];
  size_t size = sizeof axis->numbers;
  memcpy(bytes, &axis->numbers, size);
  for (int32_t i = 0; i < REALS; i++) {
    float pair[2];
    nd4c_cl_pair_of(axis->reals[i], pair);
    memcpy(bytes + size, nd4c_cl_wide(call) ? (const void *)&axis->reals[i] : (const void *)pair, sizeof pair);
    size += sizeof pair;
  }
  return ND4C_CL_RUN_ITEMS(call, RESIZE_SOURCES(call), "make_taps",
                           options_of(call, call->inputs[0].dtype, crops ? roi->dtype : ND4C_FLOAT32),
                           axis->numbers.out, ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_BYTES(bytes, size),
                           ND4C_CL_BUFFER(crops ? roi->buffer : call->scratch_buffer, ND4C_CL_READ),
                           ND4C_CL_LONG(crops ? roi->offset + axis->entry * roi->strides[0] : 0,
                                        crops ? roi->offset + (axis->entry + roi->shape[0] / 2) * roi->strides[0] : 0),
                           ND4C_CL_INT(crops));
}

static nd4c_status resize(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  resizing r = {.size = y->size, .rank = y->rank, .mode = (int32_t)ND4C_INT_OF(call, resize_mode)};
  int64_t words = 1;
  if (x->rank > ND4C_CL_RANK) {
    return nd4c_cl_step_refuse(step, "more than %d axes", (int)ND4C_CL_RANK);
  }
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_step_call(step));
    return nd4c_cl_sorting_check(step, 0, resize_scratch(call));
  }
  for (int32_t i = 0; i < x->rank && y->size > 0; i++) {
    resize_axis axis;
    r.shape[i] = y->shape[i];
    r.x_shape[i] = x->shape[i];
    r.x_strides[i] = x->strides[i];
    r.y_strides[i] = y->strides[i];
    r.table[i] = words;
    words = describe_axis(call, i, words, &axis);
    r.taps[i] = axis.numbers.taps;
    ND4C_BACKEND_TRY(make_taps(call, &axis));
  }
  return ND4C_CL_RUN_ITEMS(call, RESIZE_SOURCES(call), "resize", options_of(call, x->dtype, ND4C_FLOAT32), y->size,
                           ND4C_CL_IN(x), ND4C_CL_OUT(y), ND4C_CL_SCRATCH(READ), ND4C_CL_VALUE(r),
                           ND4C_CL_PAIR(ND4C_REAL_OF(call, resize_extrapolation)));
}

/* -- sampling ------------------------------------------------------------------------------------------------------ */

/* The same struct as nd4c_sampling of sample.cl. */
typedef struct sampling {
  int32_t spatial, mode, padding, align_corners, has_theta, unused;
  int64_t x_shape[5], x_strides[5], y_shape[5], y_strides[5], grid_strides[5];
} sampling;

static void copy_axes(const nd4c_tensor *tensor, int64_t *shape, int64_t *strides) {
  for (int32_t i = 0; i < tensor->rank && i < 5; i++) {
    strides[i] = tensor->strides[i];
    if (shape != NULL) {
      shape[i] = tensor->shape[i];
    }
  }
}

static sampling describe(const nd4c_tensor *x, const nd4c_tensor *grid, const nd4c_tensor *y, int32_t spatial) {
  sampling s = {.spatial = spatial};
  copy_axes(x, s.x_shape, s.x_strides);
  copy_axes(y, s.y_shape, s.y_strides);
  copy_axes(grid, NULL, s.grid_strides);
  return s;
}

/* attrs: mode, padding, align_corners. */
static nd4c_status sample(const nd4c_cl_step *step, const nd4c_attr_value *attrs, bool has_theta) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *grid = &call->inputs[1], *y = &call->outputs[0];
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  sampling s = describe(x, grid, y, x->rank - 2);
  s.mode = (int32_t)attrs[0].as.i;
  s.padding = (int32_t)attrs[1].as.i;
  s.align_corners = attrs[2].as.i != 0;
  s.has_theta = has_theta;
  return ND4C_CL_RUN_ITEMS(call, SAMPLE_SOURCES(call), "sample_grid", options_of(call, x->dtype, grid->dtype), y->size,
                           ND4C_CL_IN(x), ND4C_CL_IN(grid), ND4C_CL_OUT(y), ND4C_CL_VALUE(s));
}

static nd4c_status affine_grid(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *theta = &call->inputs[0], *y = &call->outputs[0];
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  sampling s = describe(theta, theta, y, y->rank - 2);
  s.align_corners = ND4C_FLAG_OF(call, affine_grid_align_corners);
  return ND4C_CL_RUN_ITEMS(call, SAMPLE_SOURCES(call), "affine_grid", options_of(call, y->dtype, theta->dtype), y->size,
                           ND4C_CL_IN(theta), ND4C_CL_OUT(y), ND4C_CL_VALUE(s));
}

static nd4c_status crop_and_resize(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *boxes = &call->inputs[ND4C_IN_crop_and_resize_boxes];
  const nd4c_tensor *images = &call->inputs[ND4C_IN_crop_and_resize_box_indices], *y = &call->outputs[0];
  if (images->dtype != ND4C_INT32 && images->dtype != ND4C_INT64) {
    return nd4c_cl_step_refuse(step, "box_indices that are neither int32 nor int64");
  }
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  sampling s = describe(x, boxes, y, 2);
  s.mode = (int32_t)ND4C_INT_OF(call, crop_and_resize_mode);
  return ND4C_CL_RUN_ITEMS(call, SAMPLE_SOURCES(call), "crop", options_of(call, x->dtype, boxes->dtype), y->size,
                           ND4C_CL_IN(x), ND4C_CL_IN(boxes), ND4C_CL_IN(images), ND4C_CL_LONG(images->strides[0]),
                           ND4C_CL_INT(images->dtype == ND4C_INT64), ND4C_CL_OUT(y), ND4C_CL_VALUE(s),
                           ND4C_CL_PAIR(ND4C_REAL_OF(call, crop_and_resize_extrapolation)), ND4C_CL_FAULT);
}

/* -- colours ------------------------------------------------------------------------------------------------------- */

/* What color.cl does with a pixel. */
enum { TO_HSV, FROM_HSV, MATRIX, GRAYSCALE, HUE, SATURATION };

/* TensorFlow's matrices, which ND4J has, too. */
static const double yiq_of_rgb[9] = {0.299,       0.587,      0.114,       0.59590059, -0.27455667,
                                     -0.32134392, 0.21153661, -0.52273617, 0.31119955};
static const double rgb_of_yiq[9] = {1, 0.95598634, 0.6208248, 1, -0.27201283, -0.64720424, 1, -1.10674021, 1.70423049};
static const double yuv_of_rgb[9] = {0.299,      0.587,      0.114,       -0.14714119, -0.28886916,
                                     0.43601035, 0.61497538, -0.51496512, -0.10001026};
static const double rgb_of_yuv[9] = {1, 0, 1.13988303, 1, -0.394642334, -0.58062185, 1, 2.03206185, 0};
static const double gray_of_rgb[9] = {0.2989, 0.587, 0.114};

/* amount: the attribute of an adjustment; NULL: there is none. */
static nd4c_status convert(const nd4c_cl_step *step, int32_t what, const double *matrix, const nd4c_attr_value *axis_at,
                           const nd4c_attr_value *amount) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int32_t axis = nd4c_axis(axis_at->as.i, x->rank);
  int64_t shape[ND4C_CL_MAX_RANK];
  const int64_t *strides[2] = {x->strides, y->strides};
  nd4c_cl_walk walk;
  memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
  shape[axis] = 1;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, x->rank, shape, 2, strides));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  const bool wide = nd4c_cl_wide(call);
  float narrow[9];
  for (int32_t i = 0; i < 9; i++) {
    narrow[i] = (float)matrix[i];
  }
  return ND4C_CL_RUN_TYPED(call, "places+image+color", "convert_color", x->dtype, walk.size, ND4C_CL_IN(x),
                           ND4C_CL_LONG(x->strides[axis]), ND4C_CL_OUT(y), ND4C_CL_LONG(y->strides[axis]),
                           ND4C_CL_VALUE(walk), ND4C_CL_INT(what),
                           ND4C_CL_BYTES(wide ? (const void *)matrix : (const void *)narrow, 9 * (wide ? 8 : 4)),
                           ND4C_CL_REAL(amount != NULL ? amount->as.f : 0));
}

static int32_t spatial_axis(const nd4c_call *call) {
  int32_t rank = call->inputs[0].rank;
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, adjust_contrast_axis), rank);
  return axis == rank - 1 ? axis - 2 : axis + 1;
}

static int64_t contrast_scratch(const nd4c_call *call) {
  return (call->inputs[0].size + 1) * ND4C_CL_WORD;
}

/* The mean of each plane of two axes, then every element. */
static nd4c_status adjust_contrast(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int32_t spatial = spatial_axis(call);
  int64_t shape[ND4C_CL_MAX_RANK], number[ND4C_CL_MAX_RANK];
  const int64_t *plane_strides = x->strides + spatial;
  const int64_t *strides[3] = {x->strides, y->strides, number};
  nd4c_cl_walk planes, plane, walk;
  memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
  shape[spatial] = shape[spatial + 1] = 1;
  nd4c_dense_strides(x->rank, shape, number);
  number[spatial] = number[spatial + 1] = 0;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &planes, x->rank, shape, 1, &x->strides));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &plane, 2, x->shape + spatial, 1, &plane_strides));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, x->rank, x->shape, 3, strides));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  if (x->size == 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(ND4C_CL_RUN_TYPED(call, "places+image+color", "find_means", x->dtype, planes.size, ND4C_CL_IN(x),
                                     ND4C_CL_VALUE(planes), ND4C_CL_VALUE(plane), ND4C_CL_SCRATCH(WRITE)));
  return ND4C_CL_RUN_TYPED(call, "places+image+color", "change_contrast", x->dtype, x->size, ND4C_CL_IN(x),
                           ND4C_CL_OUT(y), ND4C_CL_VALUE(walk), ND4C_CL_SCRATCH(READ),
                           ND4C_CL_REAL(ND4C_REAL_OF(call, adjust_contrast_factor)));
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

/* X(op, what its step does, scratch) */
#define AT(name) &step->call->attrs[ND4C_ATTR_##name]
#define OPS(X)                                                                                              \
  X(resize, resize(step), resize_scratch)                                                                   \
  X(grid_sample, sample(step, AT(grid_sample_mode), false), NULL)                                           \
  X(spatial_transformer, sample(step, AT(spatial_transformer_mode), true), NULL)                            \
  X(affine_grid, affine_grid(step), NULL)                                                                   \
  X(crop_and_resize, crop_and_resize(step), NULL)                                                           \
  X(rgb_to_hsv, convert(step, TO_HSV, gray_of_rgb, AT(rgb_to_hsv_axis), NULL), NULL)                        \
  X(hsv_to_rgb, convert(step, FROM_HSV, gray_of_rgb, AT(hsv_to_rgb_axis), NULL), NULL)                      \
  X(rgb_to_yiq, convert(step, MATRIX, yiq_of_rgb, AT(rgb_to_yiq_axis), NULL), NULL)                         \
  X(yiq_to_rgb, convert(step, MATRIX, rgb_of_yiq, AT(yiq_to_rgb_axis), NULL), NULL)                         \
  X(rgb_to_yuv, convert(step, MATRIX, yuv_of_rgb, AT(rgb_to_yuv_axis), NULL), NULL)                         \
  X(yuv_to_rgb, convert(step, MATRIX, rgb_of_yuv, AT(yuv_to_rgb_axis), NULL), NULL)                         \
  X(rgb_to_grayscale, convert(step, GRAYSCALE, gray_of_rgb, AT(rgb_to_grayscale_axis), NULL), NULL)         \
  X(adjust_hue, convert(step, HUE, gray_of_rgb, AT(adjust_hue_axis), AT(adjust_hue_delta)), NULL)           \
  X(adjust_saturation,                                                                                      \
    convert(step, SATURATION, gray_of_rgb, AT(adjust_saturation_axis), AT(adjust_saturation_factor)), NULL) \
  X(adjust_contrast, adjust_contrast(step), contrast_scratch)
#define DEFINE_KERNEL(op, what, scratch) ND4C_CL_STEP_KERNEL(op, ND4C_CL_ALL, what, scratch)
OPS(DEFINE_KERNEL)

const nd4c_kernel *const nd4c_cl_image_resize_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
