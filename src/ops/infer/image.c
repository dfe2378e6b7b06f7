/* Inference rules of op_table/image.h. nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "ops/infer/rules.h"

static nd4c_status refuse_attr(const nd4c_inference *inference, const char *what) {
  return nd4c_fail(ND4C_ARGUMENT, "%s: %s", inference->op->name, what);
}

static bool is_float(nd4c_dtype dtype) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  return info != NULL && info->kind == ND4C_KIND_FLOAT;
}

/* An input of real floating dtype and of a rank; `shape` says what was expected. */
static nd4c_status check_floats(const nd4c_inference *inference, int32_t position, int32_t rank, const char *shape) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  if (tensor == NULL) {
    return ND4C_OK;
  }
  if (!is_float(tensor->dtype)) {
    return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected a floating dtype");
  }
  return tensor->rank == rank ? ND4C_OK : nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected %s", shape);
}

static nd4c_status check_indices(const nd4c_inference *inference, int32_t position, int64_t count) {
  const nd4c_tensor *tensor = &inference->inputs[position];
  if (tensor->dtype != ND4C_INT32 && tensor->dtype != ND4C_INT64) {
    return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected int32 or int64");
  }
  return tensor->rank == 1 && nd4c_rule_is_equal(inference, tensor->shape[0], count)
             ? ND4C_OK
             : nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected (%lld,), one for each box",
                                (long long)count);
}

/* The attribute size, [height, width]. */
static nd4c_status check_size(const nd4c_inference *inference, const nd4c_attr_value *size, int32_t count) {
  bool sound = size->count == count;
  for (int32_t i = 0; i < size->count; i++) {
    sound = sound && size->as.ints[i] > 0;
  }
  return sound ? ND4C_OK
               : nd4c_fail(ND4C_ARGUMENT, "%s: size has %d values, expected %d of at least 1", inference->op->name,
                           (int)size->count, (int)count);
}

/* -- resize ------------------------------------------------------------------------------------------------------ */

static nd4c_status check_resize_modes(const nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t mode = attrs[ND4C_ATTR_resize_mode].as.i;
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_resize_mode));
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_resize_coordinates));
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_resize_nearest));
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_resize_aspect));
  nd4c_dtype_kind kind = nd4c_dtype_get_info(inference->inputs[0].dtype)->kind;
  if (mode != ND4C_INTERPOLATION_NEAREST && (kind == ND4C_KIND_BOOL || kind == ND4C_KIND_COMPLEX)) {
    return nd4c_rule_refuse(inference, 0, ND4C_DTYPE, "expected a real dtype; mode nearest alone takes others");
  }
  return mode == ND4C_INTERPOLATION_NEAREST && attrs[ND4C_ATTR_resize_antialias].as.i != 0
             ? refuse_attr(inference, "antialias is given with mode nearest, expected linear or cubic")
             : ND4C_OK;
}

/* Extents from sizes; with an aspect ratio to keep, from the smallest or largest of their scales. */
static nd4c_status resize_by_sizes(const nd4c_inference *inference, const nd4c_attr_value *sizes, int64_t aspect,
                                   const int32_t *axes, int64_t *shape) {
  const nd4c_tensor *x = &inference->inputs[0];
  double scale = 0;
  for (int32_t i = 0; i < sizes->count; i++) {
    int64_t size = sizes->as.ints[i];
    if (size < 0 && !nd4c_extents_has(inference->extents, size)) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: sizes[%d] is %lld, expected at least 0", inference->op->name, (int)i,
                       (long long)size);
    }
    double own = (double)size / (double)x->shape[axes[i]];
    scale = i == 0 || (aspect == ND4C_RESIZE_ASPECT_NOT_LARGER ? own < scale : own > scale) ? own : scale;
    shape[axes[i]] = size;
    if (aspect != ND4C_RESIZE_ASPECT_STRETCH && (size < 0 || x->shape[axes[i]] < 0)) {
      return nd4c_rule_needs_numbers(inference, 0, "an aspect to keep, expected numbers for axis %d and its size",
                                     (int)axes[i]);
    }
  }
  for (int32_t i = 0; i < sizes->count && aspect != ND4C_RESIZE_ASPECT_STRETCH; i++) {
    double extent = floor(scale * (double)x->shape[axes[i]] + 0.5);
    shape[axes[i]] = extent < 0x1p62 ? (int64_t)extent : INT64_C(1) << 62;
  }
  return ND4C_OK;
}

enum { FLOAT_INTEGERS = 1 << 24 }; /* float32 holds all whole numbers up to it */

/* Only a whole scale, or one by which doubles divide exactly, is arithmetic of integers. */
static bool is_whole(double scale) {
  return scale == floor(scale) && scale < 0x1p31;
}
static bool is_part(double scale) {
  int exponent = 0;
  return frexp(scale, &exponent) == 0.5 && 1 / scale < 0x1p31;
}

/* How long an axis becomes, not rounded down yet. A scale that float32 holds comes from a model, whose program rounded
 * a quotient of lengths to it; multiplied in float32, as ONNX Runtime does, it gives that length again: 3 times 5 / 3
 * is 5, where float64 gives less than 5. */
static double scaled_length(int64_t length, double scale) {
  const bool narrow = scale < (double)FLT_MAX && (double)(float)scale == scale && !is_whole(scale) && !is_part(scale);
  return narrow ? (double)((float)length * (float)scale) : (double)length * scale;
}

/* A scale as a fraction whose denominator is a power of 2: products of lengths with it are exact in float32 as long as
 * those with the numerator are. */
static bool as_fraction(double scale, int64_t *numerator, int64_t *denominator) {
  enum { GREATEST_DENOMINATOR = 1 << 16 };
  *denominator = 1;
  while (*denominator < GREATEST_DENOMINATOR && scale != floor(scale)) {
    scale *= 2;
    *denominator *= 2;
  }
  *numerator = scale < FLOAT_INTEGERS ? (int64_t)scale : 0;
  return scale == floor(scale) && *numerator > 0;
}

static nd4c_status scale_symbolic(const nd4c_inference *inference, int32_t axis, double scale, int64_t *extent) {
  const int64_t length = inference->inputs[0].shape[axis];
  int64_t numerator = 0, denominator = 0;
  bool fits = false;
  if (is_whole(scale)) {
    fits = nd4c_rule_multiply(inference, length, (int64_t)scale, extent);
  } else if (is_part(scale)) {
    fits = nd4c_rule_divide(inference, length, (int64_t)(1 / scale), extent);
  } else if (as_fraction(scale, &numerator, &denominator) &&
             nd4c_rule_is_at_least(inference, FLOAT_INTEGERS / numerator, length)) {
    fits = nd4c_rule_multiply(inference, length, numerator, extent) &&
           nd4c_rule_divide(inference, *extent, denominator, extent);
  } else {
    return nd4c_rule_needs_numbers(
        inference, 0, "scale %g of axis %d, expected a whole number, or one divided by a power of 2", scale, (int)axis);
  }
  return fits ? ND4C_OK : nd4c_rule_too_long(inference, 0, axis);
}

static nd4c_status resize_by_scales(const nd4c_inference *inference, const nd4c_attr_value *scales, const int32_t *axes,
                                    int64_t *shape) {
  const nd4c_tensor *x = &inference->inputs[0];
  for (int32_t i = 0; i < scales->count; i++) {
    double scale = scales->as.floats[i];
    if (!(scale > 0) || isinf(scale)) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: scales[%d] is %g, expected a number above 0", inference->op->name, (int)i,
                       scale);
    }
    double extent = floor(scaled_length(x->shape[axes[i]], scale));
    if (extent >= 0x1p62) {
      return nd4c_fail(ND4C_OVERFLOW, "%s: scales[%d] is %g, expected a size that 64 bits hold", inference->op->name,
                       (int)i, scale);
    }
    shape[axes[i]] = (int64_t)extent;
    if (x->shape[axes[i]] < 0) {
      ND4C_TRY(scale_symbolic(inference, axes[i], scale, &shape[axes[i]]));
    }
  }
  return ND4C_OK;
}

/* The axes to resize in the order given; all if none are. */
static nd4c_status resize_axes(const nd4c_inference *inference, int32_t *axes, int32_t *count) {
  bool chosen[ND4C_MAX_RANK];
  const nd4c_attr_value *given = &inference->attrs[ND4C_ATTR_resize_axes];
  int32_t rank = inference->inputs[0].rank;
  ND4C_TRY(nd4c_rule_axes(inference, "axes", given, rank, chosen));
  *count = given->count > 0 ? given->count : rank;
  for (int32_t i = 0; i < *count; i++) {
    axes[i] = given->count == 0 ? i : nd4c_axis_index(given->as.ints[i], rank);
  }
  return ND4C_OK;
}

/* Gives: x with the resized axes as long as sizes says, or floor(length * scale) with scales, in x's dtype; a scale
 * that float32 holds is multiplied in float32; an aspect other than STRETCH may change sizes. */
nd4c_status nd4c_infer_resize(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *roi = nd4c_rule_input(inference, ND4C_IN_resize_roi);
  const nd4c_attr_value *attrs = inference->attrs;
  const nd4c_attr_value *sizes = &attrs[ND4C_ATTR_resize_sizes], *scales = &attrs[ND4C_ATTR_resize_scales];
  int32_t axes[ND4C_MAX_RANK], count = 0;
  int64_t shape[ND4C_MAX_RANK];
  bool crop = attrs[ND4C_ATTR_resize_coordinates].as.i == ND4C_RESIZE_COORDINATES_TF_CROP_AND_RESIZE;
  ND4C_TRY(check_resize_modes(inference));
  ND4C_TRY(resize_axes(inference, axes, &count));
  if ((sizes->count == 0) == (scales->count == 0) && count > 0) {
    return refuse_attr(inference, "expected either sizes or scales");
  }
  if (sizes->count + scales->count != count) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d %s given, expected %d, one an axis", inference->op->name,
                     (int)(sizes->count + scales->count), sizes->count > 0 ? "sizes" : "scales", (int)count);
  }
  ND4C_TRY(check_floats(inference, ND4C_IN_resize_roi, 1, "1 axis"));
  if (crop && (roi == NULL || !nd4c_rule_is_equal(inference, roi->shape[0], 2 * (int64_t)count))) {
    return nd4c_fail(roi == NULL ? ND4C_NULL_ARGUMENT : ND4C_SHAPE, "%s: input roi %s: expected (%d,), starts and ends",
                     inference->op->name, roi == NULL ? "is missing" : "has another length", (int)(2 * count));
  }
  if (x->rank > 0) {
    memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
  }
  ND4C_TRY(sizes->count > 0 ? resize_by_sizes(inference, sizes, attrs[ND4C_ATTR_resize_aspect].as.i, axes, shape)
                            : resize_by_scales(inference, scales, axes, shape));
  for (int32_t i = 0; i < count; i++) {
    if (shape[axes[i]] != 0 && shape[axes[i]] != x->shape[axes[i]] && nd4c_rule_is(inference, x->shape[axes[i]], 0)) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "axis %d is empty and would become %lld long", (int)axes[i],
                              (long long)shape[axes[i]]);
    }
  }
  nd4c_rule_output(inference, x->dtype, x->rank, shape);
  return ND4C_OK;
}

/* Gives: [boxes, h, w, c] with h and w of size, in x's dtype, for x [b, h, w, c]. */
nd4c_status nd4c_infer_crop_and_resize(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *boxes = &inference->inputs[ND4C_IN_crop_and_resize_boxes];
  const nd4c_attr_value *size = &inference->attrs[ND4C_ATTR_crop_and_resize_size];
  ND4C_TRY(nd4c_rule_choice_below(inference, ND4C_ATTR_crop_and_resize_mode, ND4C_INTERPOLATION_LINEAR + 1));
  ND4C_TRY(check_size(inference, size, 2));
  ND4C_TRY(check_floats(inference, 0, 4, "[b, h, w, c]"));
  ND4C_TRY(check_floats(inference, ND4C_IN_crop_and_resize_boxes, 2, "[boxes, 4]"));
  if (!nd4c_rule_is_equal(inference, boxes->shape[1], 4)) {
    return nd4c_rule_refuse(inference, ND4C_IN_crop_and_resize_boxes, ND4C_SHAPE, "expected [boxes, 4]");
  }
  if (nd4c_rule_is(inference, x->shape[1], 0) || nd4c_rule_is(inference, x->shape[2], 0)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected images that are not empty");
  }
  ND4C_TRY(check_indices(inference, ND4C_IN_crop_and_resize_box_indices, boxes->shape[0]));
  nd4c_rule_output(inference, x->dtype, 4,
                   (int64_t[]){boxes->shape[0], size->as.ints[0], size->as.ints[1], x->shape[3]});
  return ND4C_OK;
}

/* -- sampling ---------------------------------------------------------------------------------------------------- */

static nd4c_status check_sampling(const nd4c_inference *inference, int32_t mode, int32_t padding) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_choice(inference, mode));
  ND4C_TRY(nd4c_rule_choice(inference, padding));
  if (x->rank < 3 || x->rank > 5) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, c, ...] with 1 to 3 spatial axes");
  }
  for (int32_t axis = 2; axis < x->rank; axis++) {
    if (nd4c_rule_is(inference, x->shape[axis], 0)) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected spatial axes that are not empty");
    }
  }
  return ND4C_OK;
}

/* Gives: [n, c, ...] with the spatial axes of grid [n, ..., d], in x's dtype, for x [n, c, ...] with d spatial axes. */
nd4c_status nd4c_infer_grid_sample(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *grid = &inference->inputs[ND4C_IN_grid_sample_grid];
  ND4C_TRY(check_sampling(inference, ND4C_ATTR_grid_sample_mode, ND4C_ATTR_grid_sample_padding));
  ND4C_TRY(check_floats(inference, ND4C_IN_grid_sample_grid, x->rank, "[n, ..., d], as many axes as x has"));
  if (!nd4c_rule_is_equal(inference, grid->shape[0], x->shape[0]) ||
      !nd4c_rule_is_equal(inference, grid->shape[grid->rank - 1], x->rank - 2)) {
    return nd4c_rule_refuse(inference, ND4C_IN_grid_sample_grid, ND4C_SHAPE,
                            "expected [%lld, ..., %d], one coordinate a spatial axis of x", (long long)x->shape[0],
                            (int)x->rank - 2);
  }
  int64_t shape[ND4C_MAX_RANK] = {x->shape[0], x->shape[1]};
  memcpy(shape + 2, grid->shape + 1, (size_t)(x->rank - 2) * sizeof *shape);
  nd4c_rule_output(inference, x->dtype, x->rank, shape);
  return ND4C_OK;
}

/* theta [n, d, d + 1]. */
static nd4c_status check_theta(const nd4c_inference *inference, int32_t position, int64_t n, int32_t d) {
  const nd4c_tensor *theta = &inference->inputs[position];
  ND4C_TRY(check_floats(inference, position, 3, "[n, d, d + 1]"));
  return nd4c_rule_is_equal(inference, theta->shape[0], n) && nd4c_rule_is_equal(inference, theta->shape[1], d) &&
                 nd4c_rule_is_equal(inference, theta->shape[2], (int64_t)d + 1)
             ? ND4C_OK
             : nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected (%lld, %d, %d)", (long long)n, (int)d,
                                (int)d + 1);
}

/* Gives: [n, h, w, 2] or [n, d, h, w, 3], in theta's dtype, for size [n, c, h, w] or [n, c, d, h, w]. */
nd4c_status nd4c_infer_affine_grid(nd4c_inference *inference) {
  const nd4c_attr_value *size = &inference->attrs[ND4C_ATTR_affine_grid_size];
  int32_t d = size->count - 2;
  int64_t shape[ND4C_MAX_RANK];
  if (d != 2 && d != 3) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: size has %d values, expected [n, c, h, w] or [n, c, d, h, w]",
                     inference->op->name, (int)size->count);
  }
  ND4C_TRY(check_theta(inference, 0, size->as.ints[0], d));
  shape[0] = size->as.ints[0];
  memcpy(shape + 1, size->as.ints + 2, (size_t)d * sizeof *shape);
  shape[d + 1] = d;
  nd4c_rule_output(inference, inference->inputs[0].dtype, d + 2, shape);
  return ND4C_OK;
}

/* Gives: [n, c, ...size], in x's dtype, for x [n, c, ...]. */
nd4c_status nd4c_infer_spatial_transformer(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *size = &inference->attrs[ND4C_ATTR_spatial_transformer_size];
  ND4C_TRY(check_sampling(inference, ND4C_ATTR_spatial_transformer_mode, ND4C_ATTR_spatial_transformer_padding));
  ND4C_TRY(check_size(inference, size, x->rank - 2));
  ND4C_TRY(check_theta(inference, ND4C_IN_spatial_transformer_theta, x->shape[0], x->rank - 2));
  int64_t shape[ND4C_MAX_RANK] = {x->shape[0], x->shape[1]};
  memcpy(shape + 2, size->as.ints, (size_t)size->count * sizeof *shape);
  nd4c_rule_output(inference, x->dtype, x->rank, shape);
  return ND4C_OK;
}

/* -- boxes ------------------------------------------------------------------------------------------------------- */

static nd4c_status check_single(const nd4c_inference *inference, int32_t position, bool integer) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  if (tensor == NULL) {
    return ND4C_OK;
  }
  if (integer ? tensor->dtype != ND4C_INT64 && tensor->dtype != ND4C_INT32 : !is_float(tensor->dtype)) {
    return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected %s",
                            integer ? "int32 or int64" : "a floating dtype");
  }
  return tensor->size == 1 ? ND4C_OK : nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected a single element");
}

/* Gives: int64 [selected, 3]: image, class, box. The number of rows depends on the data. */
nd4c_status nd4c_infer_nms(nd4c_inference *inference) {
  const nd4c_tensor *boxes = &inference->inputs[0], *scores = &inference->inputs[ND4C_IN_nms_scores];
  ND4C_TRY(check_floats(inference, 0, 3, "[n, boxes, 4]"));
  ND4C_TRY(check_floats(inference, ND4C_IN_nms_scores, 3, "[n, classes, boxes]"));
  if (boxes->shape[2] != 4) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, boxes, 4]");
  }
  if (scores->shape[0] != boxes->shape[0] || scores->shape[2] != boxes->shape[1]) {
    return nd4c_rule_refuse(inference, ND4C_IN_nms_scores, ND4C_SHAPE, "expected [%lld, classes, %lld]",
                            (long long)boxes->shape[0], (long long)boxes->shape[1]);
  }
  ND4C_TRY(check_single(inference, ND4C_IN_nms_max_output, true));
  ND4C_TRY(check_single(inference, ND4C_IN_nms_iou_threshold, false));
  ND4C_TRY(check_single(inference, ND4C_IN_nms_score_threshold, false));
  nd4c_rule_output(inference, ND4C_INT64, 2, (int64_t[]){scores->size, 3});
  inference->outputs[0].shape_depends_on_data = true;
  return ND4C_OK;
}

/* x [n, c, h, w] not empty, rois [rois, columns], a scale that is a number. */
static nd4c_status check_rois(const nd4c_inference *inference, int64_t columns, double scale) {
  const nd4c_tensor *x = &inference->inputs[0], *rois = &inference->inputs[1];
  ND4C_TRY(check_floats(inference, 0, 4, "[n, c, h, w]"));
  ND4C_TRY(check_floats(inference, 1, 2, columns == 4 ? "[rois, 4]" : "[rois, 5]"));
  if (!nd4c_rule_is_equal(inference, rois->shape[1], columns)) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected [rois, %lld]", (long long)columns);
  }
  if (nd4c_rule_is(inference, x->shape[2], 0) || nd4c_rule_is(inference, x->shape[3], 0)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected images that are not empty");
  }
  return isfinite(scale) ? ND4C_OK : refuse_attr(inference, "spatial_scale is not finite, expected a number");
}

/* Gives: [rois, c, ...size], in x's dtype, for x [n, c, h, w]. */
nd4c_status nd4c_infer_roi_align(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *rois = &inference->inputs[ND4C_IN_roi_align_rois];
  const nd4c_attr_value *attrs = inference->attrs, *size = &attrs[ND4C_ATTR_roi_align_size];
  int64_t ratio = attrs[ND4C_ATTR_roi_align_sampling_ratio].as.i;
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_roi_align_mode));
  ND4C_TRY(check_size(inference, size, 2));
  ND4C_TRY(check_rois(inference, 4, attrs[ND4C_ATTR_roi_align_spatial_scale].as.f));
  ND4C_TRY(check_indices(inference, ND4C_IN_roi_align_batch_indices, rois->shape[0]));
  if (ratio < 0 || ratio > 1024) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: sampling_ratio is %lld, expected 0 to 1024", inference->op->name,
                     (long long)ratio);
  }
  nd4c_rule_output(inference, x->dtype, 4,
                   (int64_t[]){rois->shape[0], x->shape[1], size->as.ints[0], size->as.ints[1]});
  return ND4C_OK;
}

/* Gives: [rois, c, ...size], in x's dtype, for x [n, c, h, w]. */
nd4c_status nd4c_infer_max_roi_pool(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *rois = &inference->inputs[ND4C_IN_max_roi_pool_rois];
  const nd4c_attr_value *size = &inference->attrs[ND4C_ATTR_max_roi_pool_size];
  ND4C_TRY(check_size(inference, size, 2));
  ND4C_TRY(check_rois(inference, 5, inference->attrs[ND4C_ATTR_max_roi_pool_spatial_scale].as.f));
  nd4c_rule_output(inference, x->dtype, 4,
                   (int64_t[]){rois->shape[0], x->shape[1], size->as.ints[0], size->as.ints[1]});
  return ND4C_OK;
}

/* Gives: uint8 [h, w, channels], 1 channel for GRAYSCALE, else 3. Height and width depend on the data. */
nd4c_status nd4c_infer_decode_image(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t format = inference->attrs[ND4C_ATTR_decode_image_pixel_format].as.i;
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_decode_image_pixel_format));
  if (x->rank != 1) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected 1 axis, the bytes of a file");
  }
  /* The extents are known only when the file is decoded. */
  nd4c_rule_output(inference, ND4C_UINT8, 3, (int64_t[]){0, 0, format == ND4C_PIXEL_FORMAT_GRAYSCALE ? 1 : 3});
  inference->outputs[0].shape_depends_on_data = true;
  return ND4C_OK;
}

/* -- colours ----------------------------------------------------------------------------------------------------- */

/* The axis of a colour op: the last attribute of each of them. */
static nd4c_status color_axis(const nd4c_inference *inference, int32_t *axis) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t given = inference->attrs[inference->op->attr_count - 1].as.i;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", given, x->rank, axis));
  return nd4c_rule_is_equal(inference, x->shape[*axis], 3)
             ? ND4C_OK
             : nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected 3 colours on axis %d", (int)*axis);
}

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_color(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t axis = 0;
  ND4C_TRY(color_axis(inference, &axis));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: x with 1 on the axis, which must have 3, in x's dtype. */
nd4c_status nd4c_infer_grayscale(nd4c_inference *inference) {
  int32_t axis = 0;
  ND4C_TRY(nd4c_infer_color(inference));
  ND4C_TRY(color_axis(inference, &axis));
  inference->outputs[0].shape[axis] = 1;
  return ND4C_OK;
}

/* Gives: the shape and dtype of x, [..., h, w, c] or [..., c, h, w]. */
nd4c_status nd4c_infer_contrast(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t axis = 0;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_adjust_contrast_axis].as.i, x->rank, &axis));
  if (x->rank < 3 || (axis != x->rank - 1 && axis != x->rank - 3)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE,
                            "expected [..., h, w, c] with axis -1 or [..., c, h, w] with axis -3");
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}
