/* Images: resizing, sampling, boxes. emission/scope.c calls the emit functions through the rows below. */
#include "base/status.h"
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

static const char *const interpolations[] = {ND4C_INTERPOLATION_TABLE(ND4C_ONNX_WORD) NULL};
/* Upsample up to opset 6, and GridSample of opset 16, which has all three. */
static const char *const older_interpolations[] = {"nearest", "bilinear", "bicubic", NULL};
static const char *const coordinates[] = {ND4C_RESIZE_COORDINATES_TABLE(ND4C_ONNX_WORD) NULL};
static const char *const nearests[] = {ND4C_RESIZE_NEAREST_TABLE(ND4C_ONNX_WORD) NULL};
static const char *const aspects[] = {ND4C_RESIZE_ASPECT_TABLE(ND4C_ONNX_WORD) NULL};

/* Upsample and the first Resize: asymmetric coordinates, rounded down. */
static void add_older_places(nd4c_onnx_attrs *attrs) {
  nd4c_onnx_attrs_add(attrs, nd4c_attr_of_int("coordinates", ND4C_RESIZE_COORDINATES_ASYMMETRIC));
  nd4c_onnx_attrs_add(attrs, nd4c_attr_of_int("nearest", ND4C_RESIZE_NEAREST_FLOOR));
}

static nd4c_status emit_upsample(nd4c_onnx_emission *emission) {
  double scales[ND4C_MAX_RANK];
  int32_t count = 0;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  add_older_places(&attrs);
  if (emission->input_count > 1) {
    ND4C_TRY(read_floats(emission, emission->inputs[1], "input 'scales'", scales, &count));
    nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_floats("scales", scales, count));
  }
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_resize, emission->inputs, 1, &attrs);
}

/* Up to opset 6: one scale for the height and one for the width of images. */
static nd4c_status emit_upsample_images(nd4c_onnx_emission *emission) {
  double scales[] = {1, 1, 1, 1};
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  add_older_places(&attrs);
  ND4C_TRY(nd4c_onnx_get_float(emission, "height_scale", 1, &scales[2]));
  ND4C_TRY(nd4c_onnx_get_float(emission, "width_scale", 1, &scales[3]));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_floats("scales", scales, 4));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_resize, emission->inputs, 1, &attrs);
}

static nd4c_status emit_resize(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand inputs[] = {emission->inputs[0], ND4C_ONNX_OPERAND_NONE}, sizes = nd4c_onnx_input(emission, 3);
  double scales[ND4C_MAX_RANK];
  int64_t lengths[ND4C_MAX_RANK];
  int32_t scale_count = 0, size_count = 0;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(read_floats(emission, nd4c_onnx_input(emission, 2), "input 'scales'", scales, &scale_count));
  if (sizes != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_extents(emission, sizes, "input 'sizes'", ND4C_MAX_RANK, lengths, &size_count));
  }
  if (size_count == 0 && scale_count == 0) {
    emission->outputs[0] = inputs[0]; /* of rank 0 */
    return nd4c_emitted_get(&emission->emitter, inputs[0]).rank == 0
               ? ND4C_OK
               : nd4c_fail(ND4C_FORMAT, "neither sizes nor scales are given");
  }
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_ints("sizes", lengths, size_count));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_floats("scales", scales, scale_count));
  if (attrs.list[0].value.as.i == ND4C_RESIZE_COORDINATES_TF_CROP_AND_RESIZE) {
    inputs[1] = nd4c_onnx_input(emission, 1);
  }
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_resize, inputs, inputs[1] == ND4C_ONNX_OPERAND_NONE ? 1 : 2, &attrs);
}

/* -- sampling ---------------------------------------------------------------------------------------------------- */

static const char *const paddings[] = {ND4C_SAMPLE_PADDING_TABLE(ND4C_ONNX_WORD) NULL};

static nd4c_status emit_affine_grid(nd4c_onnx_emission *emission) {
  int64_t size[5];
  int32_t count = 0;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_read_extents(emission, emission->inputs[1], "input 'size'", 5, size, &count));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_ints("size", size, count));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_affine_grid, emission->inputs, 1, &attrs);
}

/* -- boxes ------------------------------------------------------------------------------------------------------- */

static nd4c_status emit_nms(nd4c_onnx_emission *emission) {
  static const int64_t none;
  nd4c_onnx_attrs attrs;
  nd4c_onnx_operand inputs[5];
  for (int32_t i = 0; i < 5; i++) {
    inputs[i] = nd4c_onnx_input(emission, i);
  }
  if (inputs[2] == ND4C_ONNX_OPERAND_NONE) { /* ONNX: no boxes at all */
    ND4C_TRY(nd4c_onnx_int64s(emission, 1, 1, &none, &inputs[2]));
  }
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_nms, inputs, 5, &attrs);
}

static const char *const roi_modes[] = {"avg", "max", NULL};
static const char *const roi_shifts[] = {"output_half_pixel", "half_pixel", NULL};

static nd4c_status emit_roi_align(nd4c_onnx_emission *emission) {
  int64_t size[2];
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_get_int(emission, "output_height", 1, &size[0]));
  ND4C_TRY(nd4c_onnx_get_int(emission, "output_width", 1, &size[1]));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_ints("size", size, 2));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_roi_align, emission->inputs, 3, &attrs);
}

static const char *const pixel_formats[] = {ND4C_PIXEL_FORMAT_TABLE(ND4C_ONNX_WORD) NULL};

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                         \
  READ(Upsample, 1, 6, 1, 1, 1, upsample_images, NONE, WORDS("mode", "mode", 0, older_interpolations))               \
  READ(Upsample, 7, 8, 1, 1, 1, upsample, NONE, WORDS("mode", "mode", 0, interpolations),                            \
       ATTR("scales", FLOATS, "scales", 0))                                                                          \
  READ(Upsample, 9, 9, 2, 2, 1, upsample, NONE, WORDS("mode", "mode", 0, interpolations))                            \
  READ(Resize, 10, 10, 2, 2, 1, upsample, NONE, WORDS("mode", "mode", 0, interpolations))                            \
  READ(Resize, 11, LAST, 1, 4, 1, resize, NONE,                                                                      \
       WORDS("coordinate_transformation_mode", "coordinates", 0, coordinates),                                       \
       WORDS("mode", "mode", 0, interpolations), WORDS("nearest_mode", "nearest", 0, nearests),                      \
       WORDS("keep_aspect_ratio_policy", "aspect", 0, aspects), ATTR("exclude_outside", BOOL, "exclude_outside", 0), \
       ATTR("antialias", BOOL, "antialias", 0), ATTR("cubic_coeff_a", FLOAT, "cubic_a", -0.75),                      \
       ATTR("extrapolation_value", FLOAT, "extrapolation", 0), ATTR("axes", INTS, "axes", 0))                        \
  MAP(GridSample, 16, 19, 2, 2, 1, grid_sample, WORDS("mode", "mode", 1, older_interpolations),                      \
      WORDS("padding_mode", "padding", 0, paddings), ATTR("align_corners", BOOL, "align_corners", 0))                \
  MAP(GridSample, 20, LAST, 2, 2, 1, grid_sample, WORDS("mode", "mode", 1, interpolations),                          \
      WORDS("padding_mode", "padding", 0, paddings), ATTR("align_corners", BOOL, "align_corners", 0))                \
  READ(AffineGrid, 20, LAST, 2, 2, 1, affine_grid, NONE, ATTR("align_corners", BOOL, "align_corners", 0))            \
  READ(NonMaxSuppression, 10, LAST, 2, 5, 1, nms, NONE, ATTR("center_point_box", BOOL, "center_point_box", 0))       \
  READ(RoiAlign, 10, 15, 3, 3, 1, roi_align, NONE, WORDS("mode", "mode", 0, roi_modes),                              \
       ATTR("sampling_ratio", INT, "sampling_ratio", 0), ATTR("spatial_scale", FLOAT, "spatial_scale", 1))           \
  READ(RoiAlign, 16, LAST, 3, 3, 1, roi_align, NONE, WORDS("mode", "mode", 0, roi_modes),                            \
       ATTR("sampling_ratio", INT, "sampling_ratio", 0), ATTR("spatial_scale", FLOAT, "spatial_scale", 1),           \
       WORDS("coordinate_transformation_mode", "half_pixel", 1, roi_shifts))                                         \
  MAP(ImageDecoder, 20, LAST, 1, 1, 1, decode_image, WORDS("pixel_format", "pixel_format", 0, pixel_formats))        \
  MAP(MaxRoiPool, 1, LAST, 2, 2, 1, max_roi_pool, ATTR("pooled_shape", INTS, "size", REQUIRED),                      \
      ATTR("spatial_scale", FLOAT, "spatial_scale", 1))

ND4C_ONNX_FAMILY(image, "", ROWS)
