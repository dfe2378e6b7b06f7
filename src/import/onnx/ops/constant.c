/* Ops whose result is known at import. emission/scope.c calls the emit functions through the rows below. */
#include <inttypes.h>

#include "array/shape.h"
#include "base/status.h"
#include "import/onnx/emission/lists.h"
#include "import/onnx/family.h"

/* A 0-d float32 or int64 of the exact attribute value. */
static nd4c_status scalar_constant(nd4c_onnx_emission *emission, const nd4c_onnx_attribute *attribute) {
  nd4c_array *array = NULL;
  bool is_float = attribute->type == ND4C_ONNX_ATTR_FLOAT;
  const void *data = is_float ? (const void *)&attribute->f : (const void *)&attribute->i;
  ND4C_TRY(nd4c_onnx_host_array(is_float ? ND4C_FLOAT32 : ND4C_INT64, 0, NULL, data, &array));
  return nd4c_emit_constant(&emission->emitter, array, &emission->outputs[0]);
}

static nd4c_status emit_constant(nd4c_onnx_emission *emission) {
  static const struct {
    const char *name;
    nd4c_onnx_attribute_type type;
  } forms[] = {{"value", ND4C_ONNX_ATTR_TENSOR},        {"sparse_value", ND4C_ONNX_ATTR_TENSOR},
               {"value_float", ND4C_ONNX_ATTR_FLOAT},   {"value_floats", ND4C_ONNX_ATTR_FLOATS},
               {"value_int", ND4C_ONNX_ATTR_INT},       {"value_ints", ND4C_ONNX_ATTR_INTS},
               {"value_string", ND4C_ONNX_ATTR_STRING}, {"value_strings", ND4C_ONNX_ATTR_STRINGS}};
  if (emission->node->attribute_count != 1) {
    return nd4c_fail(ND4C_FORMAT, "%d attributes; expected exactly one value", (int)emission->node->attribute_count);
  }
  const nd4c_onnx_attribute *attribute = NULL;
  for (size_t i = 0; attribute == NULL && i < sizeof forms / sizeof forms[0]; i++) {
    attribute = nd4c_onnx_attribute_find(emission, forms[i].name);
    if (attribute != NULL && attribute->type != forms[i].type) {
      return nd4c_fail(ND4C_FORMAT, "attribute '%s' is of another type than its name says", forms[i].name);
    }
  }
  if (attribute == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a constant of form %s",
                     nd4c_span_show(emission->node->attributes[0].name).text);
  }
  nd4c_array *array = NULL;
  switch (attribute->type) {
    case ND4C_ONNX_ATTR_TENSOR:
      ND4C_TRY(nd4c_onnx_tensor_array(attribute->tensor, false, &array));
      return nd4c_emit_constant(&emission->emitter, array, &emission->outputs[0]);
    case ND4C_ONNX_ATTR_FLOATS:
      return nd4c_onnx_float_list(emission, attribute->floats, attribute->count, ND4C_FLOAT32, &emission->outputs[0]);
    case ND4C_ONNX_ATTR_INTS:
      return nd4c_onnx_int64s(emission, 1, attribute->count, attribute->ints, &emission->outputs[0]);
    case ND4C_ONNX_ATTR_STRING:
      return nd4c_onnx_strings(emission, &attribute->s, 0, 1, &emission->outputs[0]);
    case ND4C_ONNX_ATTR_STRINGS:
      return nd4c_onnx_strings(emission, attribute->strings, 1, attribute->count, &emission->outputs[0]);
    default:
      return scalar_constant(emission, attribute);
  }
}

/* A broadcast view of one element, which takes no memory for copies. */
static nd4c_status emit_constant_of_shape(nd4c_onnx_emission *emission) {
  int64_t shape[ND4C_MAX_RANK];
  int32_t rank = 0;
  nd4c_onnx_operand element = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(nd4c_onnx_read_extents(emission, emission->inputs[0], "the shape", ND4C_MAX_RANK, shape, &rank));
  const nd4c_onnx_attribute *value = nd4c_onnx_attribute_find(emission, "value");
  if (value == NULL) {
    return nd4c_emit_full(&emission->emitter, ND4C_FLOAT32, 0, rank, shape, &emission->outputs[0]);
  }
  if (value->type != ND4C_ONNX_ATTR_TENSOR || value->tensor == NULL || value->tensor->size != 1) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'value' is no tensor of one element");
  }
  ND4C_TRY(nd4c_onnx_tensor_constant(emission, "value", &element, NULL));
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, element, 0, NULL, &element));
  return nd4c_emit_broadcast(&emission->emitter, element, rank, shape, &emission->outputs[0]);
}

static nd4c_status emit_shape(nd4c_onnx_emission *emission) {
  int64_t start = 0;
  int64_t end = 0;
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_get_int(emission, "start", 0, &start));
  ND4C_TRY(nd4c_onnx_get_int(emission, "end", info.rank, &end));
  start = start < -info.rank ? 0 : start < 0 ? start + info.rank : start > info.rank ? info.rank : start;
  end = end < -info.rank ? 0 : end < 0 ? end + info.rank : end > info.rank ? info.rank : end;
  const int64_t *extents = info.shape + start;
  return nd4c_onnx_extent_list(emission, 1, end > start ? end - start : 0, extents, &emission->outputs[0]);
}

static nd4c_status emit_size(nd4c_onnx_emission *emission) {
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  int64_t size = 0;
  ND4C_TRY(nd4c_onnx_extent_size(emission, info.rank, info.shape, &size));
  return nd4c_onnx_extent_list(emission, 0, 1, &size, &emission->outputs[0]);
}

/* int32 and int64 are counted in 64 bits, the others as the op arange does. A start and a limit of whole integers may
 * be extents. */
/* A range of floats whose bounds are extents: whole numbers, which the dtype holds exactly. *done is false if it is no
 * such range. */
static nd4c_status range_of_extents(nd4c_onnx_emission *emission, nd4c_dtype dtype, bool *done) {
  static const char *const names[3] = {"start", "stop", "step"};
  nd4c_attr attrs[3];
  *done = nd4c_onnx_is_extents(emission, emission->inputs[0]) || nd4c_onnx_is_extents(emission, emission->inputs[1]);
  for (int32_t i = 0; i < 3 && *done; i++) {
    int64_t value = 0;
    ND4C_TRY(nd4c_onnx_read_whole(emission, emission->inputs[i], done, &value));
    attrs[i] = nd4c_attr_of_int(names[i], value);
  }
  *done = *done && !nd4c_onnx_is_extents(emission, emission->inputs[2]);
  if (!*done) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_integer_range, NULL, 0, attrs, 3, &emission->outputs[0]));
  return nd4c_emit_cast(&emission->emitter, emission->outputs[0], dtype, &emission->outputs[0]);
}

static nd4c_status emit_range(nd4c_onnx_emission *emission) {
  static const char *const names[3] = {"input 'start'", "input 'limit'", "input 'delta'"};
  static const char *const attr_names[3] = {"start", "stop", "step"};
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype;
  bool whole = dtype == ND4C_INT32 || dtype == ND4C_INT64;
  nd4c_attr attrs[4] = {[3] = nd4c_attr_of_dtype("dtype", dtype)};
  bool done = false;
  if (!whole) {
    ND4C_TRY(range_of_extents(emission, dtype, &done));
  }
  if (done) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < 3; i++) {
    int64_t integer = 0;
    int32_t count = 0;
    double number = 0;
    if (whole) {
      ND4C_TRY(i < 2 ? nd4c_onnx_read_extents(emission, emission->inputs[i], names[i], 1, &integer, &count)
                     : nd4c_onnx_read_ints(emission, emission->inputs[i], names[i], 1, &integer, &count));
      if (count != 1) {
        return nd4c_fail(ND4C_FORMAT, "%s is empty; expected a number", names[i]);
      }
      attrs[i] = nd4c_attr_of_int(attr_names[i], integer);
    } else {
      ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[i], names[i], &number));
      attrs[i] = nd4c_attr_of_float(attr_names[i], number);
    }
  }
  return nd4c_emit(&emission->emitter, whole ? ND4C_OP_integer_range : ND4C_OP_arange, NULL, 0, attrs, 4,
                   &emission->outputs[0]);
}

static nd4c_status emit_eye_like(nd4c_onnx_emission *emission) {
  nd4c_onnx_attrs attrs;
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_get_dtype(emission, "dtype", info.dtype, &dtype));
  if (info.rank != 2) {
    return nd4c_fail(ND4C_SHAPE, "the input has rank %d; expected 2", (int)info.rank);
  }
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_int("rows", info.shape[0]));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_int("columns", info.shape[1]));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_dtype("dtype", dtype));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_eye, NULL, 0, &attrs);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                               \
  CHAIN(Constant, 1, LAST, 0, 0, 1, constant, NONE, "a constant of the graph")                             \
  OP(ConstantOfShape, 9, LAST, 1, 1, 1, constant_of_shape, NONE)                                           \
  CHAIN(Shape, 1, LAST, 1, 1, 1, shape, NONE, "a constant, because shapes are known when a graph is made") \
  CHAIN(Size, 1, LAST, 1, 1, 1, size, NONE, "a constant, because shapes are known when a graph is made")   \
  OP(Range, 11, LAST, 3, 3, 1, range, NONE)                                                                \
  READ(EyeLike, 9, LAST, 1, 1, 1, eye_like, NONE, ATTR("k", INT, "k", 0))

ND4C_ONNX_FAMILY(constant, "", ROWS)
