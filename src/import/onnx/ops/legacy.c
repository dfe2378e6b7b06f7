/* Ops in the form that they had before opset 6. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/status.h"
#include "import/onnx/family.h"

/* Up to opset 5 the dtype is named. */
static nd4c_status emit_cast_named(nd4c_onnx_emission *emission) {
  nd4c_span name;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_onnx_get_text(emission, "to", "", &name));
  for (int64_t number = 1; nd4c_onnx_dtype_get(number) != NULL; number++) {
    if (nd4c_span_is(name, nd4c_onnx_dtype_get(number)->name)) {
      ND4C_TRY(nd4c_onnx_dtype_resolve(number, &dtype));
      return nd4c_emit_cast(&emission->emitter, emission->inputs[0], dtype, &emission->outputs[0]);
    }
  }
  return nd4c_fail(ND4C_FORMAT, "attribute 'to' is %s, which is no element type", nd4c_span_show(name).text);
}

/* Axis 0 .. rank - 1 of input 0. */
static nd4c_status check_axis(const nd4c_onnx_emission *emission, int64_t *axis) {
  int32_t rank = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank;
  if (*axis < -rank || *axis >= rank) {
    return nd4c_fail(ND4C_INDEX, "axis %" PRId64 " of rank %d", *axis, (int)rank);
  }
  *axis += *axis < 0 ? rank : 0;
  return ND4C_OK;
}

enum { PARTS_MOST = 1024 };

/* The lengths of the parts: an input, an attribute, or equal ones. */
static nd4c_status read_lengths(nd4c_onnx_emission *emission, int64_t extent, int64_t *lengths) {
  int32_t parts = emission->node->output_count;
  int32_t count = 0;
  const int64_t *attribute = NULL;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "split", &attribute, &count));
  if (nd4c_onnx_input(emission, 1) != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(
        nd4c_onnx_read_ints(emission, emission->inputs[1], "the lengths of the parts", PARTS_MOST, lengths, &count));
  } else if (attribute != NULL && count == parts) {
    memcpy(lengths, attribute, (size_t)count * sizeof *lengths);
  } else if (attribute == NULL && extent % parts == 0) {
    for (count = 0; count < parts; count++) {
      lengths[count] = extent / parts;
    }
  }
  return count == parts ? ND4C_OK
                        : nd4c_fail(ND4C_FORMAT, "%d parts of an axis of %" PRId64 " for %d outputs", (int)count,
                                    extent, (int)parts);
}

static nd4c_status emit_split_first(nd4c_onnx_emission *emission) {
  int64_t lengths[PARTS_MOST];
  int64_t axis = 0;
  int64_t start = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(check_axis(emission, &axis));
  int64_t extent = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).shape[axis];
  if (emission->node->output_count < 1 || emission->node->output_count > PARTS_MOST) {
    return nd4c_fail(ND4C_FORMAT, "%d parts; expected 1 to %d", (int)emission->node->output_count, (int)PARTS_MOST);
  }
  ND4C_TRY(read_lengths(emission, extent, lengths));
  for (int32_t i = 0; i < emission->node->output_count; i++) {
    if (lengths[i] < 0 || lengths[i] > extent - start) {
      return nd4c_fail(ND4C_SHAPE, "part %d of %" PRId64 " from %" PRId64 " on leaves the axis of %" PRId64, (int)i,
                       lengths[i], start, extent);
    }
    ND4C_TRY(nd4c_emit_slice(&emission->emitter, emission->inputs[0], axis, start, start + lengths[i], 1,
                             &emission->outputs[i]));
    start += lengths[i];
  }
  return start == extent ? ND4C_OK
                         : nd4c_fail(ND4C_SHAPE, "parts of %" PRId64 " in all; expected %" PRId64, start, extent);
}

/* Repeats along one axis: [a] becomes [1, a], is spread over [n, a] and joined to [n a]. */
static nd4c_status emit_tile_axis(nd4c_onnx_emission *emission) {
  double tiles = 0;
  double given_axis = 0;
  int64_t shape[ND4C_MAX_RANK + 1];
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[1], "input 'tiles'", &tiles));
  ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[2], "input 'axis'", &given_axis));
  if (!(tiles >= 0 && tiles <= INT32_MAX) || !(given_axis >= -ND4C_MAX_RANK && given_axis < ND4C_MAX_RANK) ||
      info.rank == ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_FORMAT, "%g tiles on axis %g of rank %d", tiles, given_axis, (int)info.rank);
  }
  int64_t axis = (int64_t)given_axis;
  ND4C_TRY(check_axis(emission, &axis));
  for (int32_t i = 0; i <= info.rank; i++) {
    shape[i] = i < axis ? info.shape[i] : i == axis ? (int64_t)tiles : info.shape[i - 1];
  }
  ND4C_TRY(nd4c_emit_axes(&emission->emitter, ND4C_OP_expand_dims, x, 1, &axis, &x));
  ND4C_TRY(nd4c_emit_broadcast(&emission->emitter, x, info.rank + 1, shape, &x));
  if (!nd4c_checked_multiply(info.shape[axis], (int64_t)tiles, &info.shape[axis])) {
    return nd4c_fail(ND4C_OVERFLOW, "%g tiles of %" PRId64, tiles, info.shape[axis]);
  }
  return nd4c_emit_reshape(&emission->emitter, x, info.rank, info.shape, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                    \
  OP(Cast, 1, 5, 1, 1, 1, cast_named, NONE)     \
  OP(Split, 1, 1, 1, 2, ANY, split_first, NONE) \
  OP(Tile, 1, 5, 3, 3, 1, tile_axis, NONE)

ND4C_ONNX_FAMILY(legacy, "", ROWS)
