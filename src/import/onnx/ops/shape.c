/* Ops that reshape, broadcast and rearrange. emission/scope.c calls the emit functions through the rows below. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

static nd4c_status emit_reshape(nd4c_onnx_emission *emission) {
  enum { SHAPE_IS_INPUT = 5 };
  int64_t shape[ND4C_MAX_RANK];
  int64_t allow_zero = 0;
  int32_t rank = 0;
  const int64_t *attribute = NULL;
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_int(emission, "allowzero", 0, &allow_zero));
  if (emission->opset < SHAPE_IS_INPUT) {
    ND4C_TRY(nd4c_onnx_get_ints(emission, "shape", &attribute, &rank));
    if (attribute == NULL || rank > ND4C_MAX_RANK) {
      return nd4c_fail(ND4C_FORMAT, "attribute 'shape' has %d entries; expected at most %d", (int)rank, ND4C_MAX_RANK);
    }
    memcpy(shape, attribute, (size_t)rank * sizeof *shape);
  } else if (nd4c_onnx_input(emission, 1) == ND4C_ONNX_OPERAND_NONE) {
    return nd4c_fail(ND4C_FORMAT, "input 'shape' is left out, but required");
  } else {
    ND4C_TRY(nd4c_onnx_read_extents(emission, emission->inputs[1], "input 'shape'", ND4C_MAX_RANK, shape, &rank));
  }
  for (int32_t i = 0; i < rank && allow_zero == 0; i++) {
    if (nd4c_extent_is_symbolic(shape[i]) && !nd4c_onnx_assume(emission, ND4C_RELATION_DIFFERENT, shape[i], 0)) {
      return nd4c_fail(ND4C_UNSUPPORTED, "entry %d of the shape is an extent that is 0", (int)i);
    }
    if (shape[i] == 0 && i >= info.rank) {
      return nd4c_fail(ND4C_SHAPE, "entry %d of the shape is 0 (as in the input), but the input has rank %d", (int)i,
                       (int)info.rank);
    }
    shape[i] = shape[i] == 0 ? info.shape[i] : shape[i];
  }
  return nd4c_emit_reshape(&emission->emitter, emission->inputs[0], rank, shape, &emission->outputs[0]);
}

/* Squeeze and Unsqueeze. Without axes, Squeeze drops all axes of length 1; an empty list changes nothing. */
static nd4c_status emit_axes(nd4c_onnx_emission *emission) {
  enum { AXES_ARE_INPUT = 13 };
  nd4c_op op = emission->node->mapping->op;
  int64_t axes[ND4C_MAX_RANK];
  int32_t count = 0;
  bool given = false;
  ND4C_TRY(nd4c_onnx_get_axes(emission, AXES_ARE_INPUT, 1, axes, &count, &given));
  if (!given && op == ND4C_OP_expand_dims) {
    return nd4c_fail(ND4C_FORMAT, "axes are missing");
  }
  emission->outputs[0] = emission->inputs[0];
  return given && count == 0
             ? ND4C_OK
             : nd4c_emit_axes(&emission->emitter, op, emission->inputs[0], count, axes, &emission->outputs[0]);
}

/* The shape given and the input's are broadcast against each other. */
static nd4c_status emit_expand(nd4c_onnx_emission *emission) {
  int64_t wanted[ND4C_MAX_RANK];
  int64_t shape[ND4C_MAX_RANK];
  int32_t count = 0;
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_read_extents(emission, emission->inputs[1], "input 'shape'", ND4C_MAX_RANK, wanted, &count));
  int32_t rank = count > info.rank ? count : info.rank;
  for (int32_t i = 0; i < rank; i++) {
    int32_t from_wanted = i - (rank - count);
    int32_t from_input = i - (rank - info.rank);
    int64_t a = from_wanted >= 0 ? wanted[from_wanted] : 1;
    int64_t b = from_input >= 0 ? info.shape[from_input] : 1;
    shape[i] = a == 1 ? b : a;
  }
  return nd4c_emit_broadcast(&emission->emitter, emission->inputs[0], rank, shape, &emission->outputs[0]);
}

static nd4c_status emit_tile(nd4c_onnx_emission *emission) {
  int64_t repeats[ND4C_MAX_RANK];
  int32_t count = 0;
  int32_t rank = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank;
  ND4C_TRY(nd4c_onnx_read_extents(emission, emission->inputs[1], "input 'repeats'", ND4C_MAX_RANK, repeats, &count));
  if (count != rank) {
    return nd4c_fail(ND4C_SHAPE, "%d repeats for rank %d; expected one an axis", (int)count, (int)rank);
  }
  nd4c_attr attr = nd4c_attr_of_ints("repeats", repeats, count);
  return nd4c_emit(&emission->emitter, ND4C_OP_tile, emission->inputs, 1, &attr, 1, &emission->outputs[0]);
}

static nd4c_status emit_center_crop_pad(nd4c_onnx_emission *emission) {
  int64_t lengths[ND4C_MAX_RANK];
  int32_t count = 0;
  int32_t axis_count = 0;
  const int64_t *axes = NULL;
  nd4c_onnx_operand x = emission->inputs[0];
  int32_t rank = nd4c_emitted_get(&emission->emitter, x).rank;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "axes", &axes, &axis_count));
  ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[1], "input 'shape'", ND4C_MAX_RANK, lengths, &count));
  if (count != (axes == NULL ? rank : axis_count)) {
    return nd4c_fail(ND4C_FORMAT, "%d lengths for %d axes", (int)count, (int)(axes == NULL ? rank : axis_count));
  }
  for (int32_t i = 0; i < count; i++) {
    int64_t axis = axes == NULL ? i : axes[i];
    int32_t fixed = 0;
    ND4C_TRY(nd4c_onnx_fix_axis(emission, x, axis, &fixed));
    ND4C_TRY(nd4c_compose_center(&emission->emitter, x, fixed, lengths[i], &x));
  }
  emission->outputs[0] = x;
  return ND4C_OK;
}

/* -- depth and space ------------------------------------------------------------------------------------------- */

static nd4c_status emit_blocks(nd4c_onnx_emission *emission) {
  nd4c_onnx_attrs attrs;
  int32_t rank = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  if (rank != 4) {
    return nd4c_fail(ND4C_SHAPE, "an input of rank %d; expected rank 4", (int)rank);
  }
  return nd4c_onnx_emit_attrs(emission, emission->node->mapping->op, emission->inputs, 1, &attrs);
}

static const char *const block_modes[] = {"DCR", "CRD", NULL};
#define BLOCK_RULES ATTR("blocksize", INT, "block_size", 0), WORDS("mode", "depth_first", 0, block_modes)

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                      \
  OP(Reshape, 1, LAST, 1, 2, 1, reshape, NONE)                                                    \
  MAP(Flatten, 1, LAST, 1, 1, 1, flatten, ATTR("axis", INT, "axis", 1))                           \
  MAP(Transpose, 1, LAST, 1, 1, 1, transpose, ATTR("perm", INTS, "axes", 0))                      \
  OP(Squeeze, 1, LAST, 1, 2, 1, axes, squeeze)                                                    \
  OP(Unsqueeze, 1, LAST, 1, 2, 1, axes, expand_dims)                                              \
  OP(Expand, 8, LAST, 2, 2, 1, expand, NONE)                                                      \
  OP(Tile, 6, LAST, 2, 2, 1, tile, NONE)                                                          \
  CHAIN(CenterCropPad, 18, LAST, 2, 2, 1, center_crop_pad, NONE, "slice and pad along each axis") \
  READ(DepthToSpace, 1, LAST, 1, 1, 1, blocks, depth_to_space, BLOCK_RULES)                       \
  READ(SpaceToDepth, 1, LAST, 1, 1, 1, blocks, space_to_depth, BLOCK_RULES)

ND4C_ONNX_FAMILY(shape, "", ROWS)
