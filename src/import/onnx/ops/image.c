/* Images: resizing, sampling, boxes. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/emission/lists.h"
#include "import/onnx/family.h"

/* -- resize ------------------------------------------------------------------------------------------------------ */

/* Numbers of a constant input of floats; none if it is left out. */
static nd4c_status read_floats(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                               double *values, int32_t *count) {
  float list[ND4C_MAX_RANK];
  *count = 0;
  if (operand == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_onnx_read_array(emission, operand, what, &array));
  if (nd4c_array_dtype(array) != ND4C_FLOAT32 || nd4c_array_rank(array) > 1 || nd4c_array_size(array) > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_FORMAT, "%s is %s of rank %d; expected at most %d of float32", what,
                     nd4c_dtype_name(nd4c_array_dtype(array)), (int)nd4c_array_rank(array), ND4C_MAX_RANK);
  }
  *count = (int32_t)nd4c_array_size(array);
  ND4C_TRY(nd4c_array_read(array, list, (size_t)*count * sizeof *list));
  for (int32_t i = 0; i < *count; i++) {
    values[i] = (double)list[i];
  }
  return ND4C_OK;
}

/* What the attributes and inputs of Resize and Upsample say. */
typedef struct resize_plan {
  int64_t sizes[ND4C_MAX_RANK];
  double scales[ND4C_MAX_RANK];
  const int64_t *axes;
  int32_t size_count, scale_count, axis_count;
  int64_t mode, coordinates, nearest, aspect, exclude_outside, antialias;
  double cubic_a, extrapolation;
  nd4c_onnx_operand roi;
} resize_plan;

static nd4c_status emit_plan(nd4c_onnx_emission *emission, const resize_plan *plan) {
  nd4c_onnx_operand inputs[2] = {emission->inputs[0], plan->roi};
  nd4c_attr attrs[] = {nd4c_attr_of_ints("sizes", plan->sizes, plan->size_count),
                       nd4c_attr_of_floats("scales", plan->scales, plan->scale_count),
                       nd4c_attr_of_ints("axes", plan->axes, plan->axis_count),
                       nd4c_attr_of_int("mode", plan->mode),
                       nd4c_attr_of_int("coordinates", plan->coordinates),
                       nd4c_attr_of_int("nearest", plan->nearest),
                       nd4c_attr_of_float("cubic_a", plan->cubic_a),
                       nd4c_attr_of_bool("exclude_outside", plan->exclude_outside != 0),
                       nd4c_attr_of_bool("antialias", plan->antialias != 0),
                       nd4c_attr_of_int("aspect", plan->aspect),
                       nd4c_attr_of_float("extrapolation", plan->extrapolation)};
  return nd4c_emit(&emission->emitter, ND4C_OP_resize, inputs, plan->roi == ND4C_ONNX_OPERAND_NONE ? 1 : 2, attrs,
                   sizeof attrs / sizeof attrs[0], &emission->outputs[0]);
}

static const char *const interpolations[] = {ND4C_INTERPOLATION_TABLE(ND4C_ONNX_WORD) NULL};

/* Up to opset 10: scales alone, corners on corners, the element before. */
static nd4c_status emit_upsample(nd4c_onnx_emission *emission) {
  enum { SCALES_ARE_INPUT = 9 };
  resize_plan plan = {.coordinates = ND4C_RESIZE_COORDINATES_ASYMMETRIC,
                      .nearest = ND4C_RESIZE_NEAREST_FLOOR,
                      .roi = ND4C_ONNX_OPERAND_NONE};
  const double *scales = NULL;
  ND4C_TRY(nd4c_onnx_get_word(emission, "mode", "nearest", interpolations, &plan.mode));
  if (emission->opset < SCALES_ARE_INPUT) {
    ND4C_TRY(nd4c_onnx_get_floats(emission, "scales", &scales, &plan.scale_count));
    if (plan.scale_count > ND4C_MAX_RANK) {
      return nd4c_fail(ND4C_FORMAT, "%d scales; expected at most %d", (int)plan.scale_count, ND4C_MAX_RANK);
    }
    for (int32_t i = 0; i < plan.scale_count; i++) {
      plan.scales[i] = scales[i];
    }
  } else {
    ND4C_TRY(read_floats(emission, nd4c_onnx_input(emission, 1), "input 'scales'", plan.scales, &plan.scale_count));
  }
  return emit_plan(emission, &plan);
}

/* Up to opset 6: one scale for the height and one for the width of images. */
static nd4c_status emit_upsample_images(nd4c_onnx_emission *emission) {
  resize_plan plan = {.coordinates = ND4C_RESIZE_COORDINATES_ASYMMETRIC,
                      .nearest = ND4C_RESIZE_NEAREST_FLOOR,
                      .scales = {1, 1},
                      .scale_count = 4,
                      .roi = ND4C_ONNX_OPERAND_NONE};
  nd4c_span mode;
  ND4C_TRY(nd4c_onnx_get_text(emission, "mode", "nearest", &mode));
  ND4C_TRY(nd4c_onnx_get_float(emission, "height_scale", 1, &plan.scales[2]));
  ND4C_TRY(nd4c_onnx_get_float(emission, "width_scale", 1, &plan.scales[3]));
  bool bilinear = nd4c_span_is(mode, "bilinear");
  if (!bilinear && !nd4c_span_is(mode, "nearest")) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'mode' is %s, expected 'nearest' or 'bilinear'",
                     nd4c_span_show(mode).text);
  }
  plan.mode = bilinear ? ND4C_INTERPOLATION_LINEAR : ND4C_INTERPOLATION_NEAREST;
  return emit_plan(emission, &plan);
}

static nd4c_status read_resize_attributes(nd4c_onnx_emission *emission, resize_plan *plan) {
  static const char *const coordinates[] = {ND4C_RESIZE_COORDINATES_TABLE(ND4C_ONNX_WORD) NULL};
  static const char *const nearests[] = {ND4C_RESIZE_NEAREST_TABLE(ND4C_ONNX_WORD) NULL};
  static const char *const aspects[] = {ND4C_RESIZE_ASPECT_TABLE(ND4C_ONNX_WORD) NULL};
  ND4C_TRY(nd4c_onnx_get_word(emission, "mode", "nearest", interpolations, &plan->mode));
  ND4C_TRY(
      nd4c_onnx_get_word(emission, "coordinate_transformation_mode", "half_pixel", coordinates, &plan->coordinates));
  ND4C_TRY(nd4c_onnx_get_word(emission, "nearest_mode", "round_prefer_floor", nearests, &plan->nearest));
  ND4C_TRY(nd4c_onnx_get_word(emission, "keep_aspect_ratio_policy", "stretch", aspects, &plan->aspect));
  ND4C_TRY(nd4c_onnx_get_int(emission, "exclude_outside", 0, &plan->exclude_outside));
  ND4C_TRY(nd4c_onnx_get_int(emission, "antialias", 0, &plan->antialias));
  ND4C_TRY(nd4c_onnx_get_float(emission, "cubic_coeff_a", -0.75, &plan->cubic_a));
  ND4C_TRY(nd4c_onnx_get_float(emission, "extrapolation_value", 0, &plan->extrapolation));
  return nd4c_onnx_get_ints(emission, "axes", &plan->axes, &plan->axis_count);
}

static nd4c_status emit_resize(nd4c_onnx_emission *emission) {
  resize_plan plan = {.roi = ND4C_ONNX_OPERAND_NONE};
  nd4c_onnx_operand sizes = nd4c_onnx_input(emission, 3);
  ND4C_TRY(read_resize_attributes(emission, &plan));
  ND4C_TRY(read_floats(emission, nd4c_onnx_input(emission, 2), "input 'scales'", plan.scales, &plan.scale_count));
  if (sizes != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_ints(emission, sizes, "input 'sizes'", ND4C_MAX_RANK, plan.sizes, &plan.size_count));
  }
  if (plan.coordinates == ND4C_RESIZE_COORDINATES_TF_CROP_AND_RESIZE) {
    plan.roi = nd4c_onnx_input(emission, 1);
  }
  if (plan.size_count == 0 && plan.scale_count == 0) {
    emission->outputs[0] = emission->inputs[0]; /* of rank 0 */
    return nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank == 0
               ? ND4C_OK
               : nd4c_fail(ND4C_FORMAT, "neither sizes nor scales are given");
  }
  return emit_plan(emission, &plan);
}

/* -- sampling ---------------------------------------------------------------------------------------------------- */

static nd4c_status emit_grid_sample(nd4c_onnx_emission *emission) {
  /* Opset 16 says bilinear and bicubic. */
  static const char *const older[] = {"nearest", "bilinear", "bicubic", NULL};
  static const char *const paddings[] = {ND4C_SAMPLE_PADDING_TABLE(ND4C_ONNX_WORD) NULL};
  enum { NAMES_SINCE = 20 };
  int64_t mode = 0, padding = 0, align = 0;
  bool is_older = emission->opset < NAMES_SINCE;
  ND4C_TRY(
      nd4c_onnx_get_word(emission, "mode", is_older ? "bilinear" : "linear", is_older ? older : interpolations, &mode));
  ND4C_TRY(nd4c_onnx_get_word(emission, "padding_mode", "zeros", paddings, &padding));
  ND4C_TRY(nd4c_onnx_get_int(emission, "align_corners", 0, &align));
  nd4c_attr attrs[] = {nd4c_attr_of_int("mode", mode), nd4c_attr_of_int("padding", padding),
                       nd4c_attr_of_bool("align_corners", align != 0)};
  return nd4c_emit(&emission->emitter, ND4C_OP_grid_sample, emission->inputs, 2, attrs, 3, &emission->outputs[0]);
}

static nd4c_status emit_affine_grid(nd4c_onnx_emission *emission) {
  int64_t size[5], align = 0;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[1], "input 'size'", 5, size, &count));
  ND4C_TRY(nd4c_onnx_get_int(emission, "align_corners", 0, &align));
  nd4c_attr attrs[] = {nd4c_attr_of_ints("size", size, count), nd4c_attr_of_bool("align_corners", align != 0)};
  return nd4c_emit(&emission->emitter, ND4C_OP_affine_grid, emission->inputs, 1, attrs, 2, &emission->outputs[0]);
}

/* -- boxes ------------------------------------------------------------------------------------------------------- */

static nd4c_status emit_nms(nd4c_onnx_emission *emission) {
  int64_t center = 0, none = 0;
  nd4c_onnx_operand inputs[5];
  for (int32_t i = 0; i < 5; i++) {
    inputs[i] = nd4c_onnx_input(emission, i);
  }
  if (inputs[2] == ND4C_ONNX_OPERAND_NONE) { /* ONNX: no boxes at all */
    ND4C_TRY(nd4c_onnx_int64s(emission, 1, 1, &none, &inputs[2]));
  }
  ND4C_TRY(nd4c_onnx_get_int(emission, "center_point_box", 0, &center));
  nd4c_attr attr = nd4c_attr_of_bool("center_point_box", center != 0);
  return nd4c_emit(&emission->emitter, ND4C_OP_nms, inputs, 5, &attr, 1, &emission->outputs[0]);
}

static nd4c_status emit_roi_align(nd4c_onnx_emission *emission) {
  enum { HALF_PIXEL_SINCE = 16 };
  static const char *const modes[] = {"avg", "max", NULL};
  static const char *const shifts[] = {"output_half_pixel", "half_pixel", NULL};
  int64_t mode = 0, half_pixel = 0, ratio = 0, size[2];
  double scale = 1;
  ND4C_TRY(nd4c_onnx_get_word(emission, "mode", "avg", modes, &mode));
  if (emission->opset >= HALF_PIXEL_SINCE) {
    ND4C_TRY(nd4c_onnx_get_word(emission, "coordinate_transformation_mode", "half_pixel", shifts, &half_pixel));
  }
  ND4C_TRY(nd4c_onnx_get_int(emission, "output_height", 1, &size[0]));
  ND4C_TRY(nd4c_onnx_get_int(emission, "output_width", 1, &size[1]));
  ND4C_TRY(nd4c_onnx_get_int(emission, "sampling_ratio", 0, &ratio));
  ND4C_TRY(nd4c_onnx_get_float(emission, "spatial_scale", 1, &scale));
  nd4c_attr attrs[] = {nd4c_attr_of_ints("size", size, 2), nd4c_attr_of_int("mode", mode),
                       nd4c_attr_of_int("sampling_ratio", ratio), nd4c_attr_of_float("spatial_scale", scale),
                       nd4c_attr_of_bool("half_pixel", half_pixel != 0)};
  return nd4c_emit(&emission->emitter, ND4C_OP_roi_align, emission->inputs, 3, attrs, 5, &emission->outputs[0]);
}

static nd4c_status emit_max_roi_pool(nd4c_onnx_emission *emission) {
  const int64_t *size = NULL;
  int32_t count = 0;
  double scale = 1;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "pooled_shape", &size, &count));
  ND4C_TRY(nd4c_onnx_get_float(emission, "spatial_scale", 1, &scale));
  nd4c_attr attrs[] = {nd4c_attr_of_ints("size", size, count), nd4c_attr_of_float("spatial_scale", scale)};
  return nd4c_emit(&emission->emitter, ND4C_OP_max_roi_pool, emission->inputs, 2, attrs, 2, &emission->outputs[0]);
}

static nd4c_status emit_image_decoder(nd4c_onnx_emission *emission) {
  static const char *const formats[] = {ND4C_PIXEL_FORMAT_TABLE(ND4C_ONNX_WORD) NULL};
  int64_t format = 0;
  ND4C_TRY(nd4c_onnx_get_word(emission, "pixel_format", "RGB", formats, &format));
  nd4c_attr attr = nd4c_attr_of_int("pixel_format", format);
  return nd4c_emit(&emission->emitter, ND4C_OP_decode_image, emission->inputs, 1, &attr, 1, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                               \
  OP(Upsample, 1, 6, 1, 1, 1, upsample_images, NONE)       \
  OP(Upsample, 7, 8, 1, 1, 1, upsample, NONE)              \
  OP(Upsample, 9, 9, 2, 2, 1, upsample, NONE)              \
  OP(Resize, 10, 10, 2, 2, 1, upsample, NONE)              \
  OP(Resize, 11, LAST, 1, 4, 1, resize, NONE)              \
  OP(GridSample, 16, LAST, 2, 2, 1, grid_sample, NONE)     \
  OP(AffineGrid, 20, LAST, 2, 2, 1, affine_grid, NONE)     \
  OP(NonMaxSuppression, 10, LAST, 2, 5, 1, nms, NONE)      \
  OP(RoiAlign, 10, LAST, 3, 3, 1, roi_align, NONE)         \
  OP(ImageDecoder, 20, LAST, 1, 1, 1, image_decoder, NONE) \
  OP(MaxRoiPool, 1, LAST, 2, 2, 1, max_roi_pool, NONE)

ND4C_ONNX_FAMILY(image, "", ROWS)
