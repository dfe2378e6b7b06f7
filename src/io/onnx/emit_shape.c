/* Ops that rearrange. */
#include <inttypes.h>

#include "base/checked.h"
#include "base/status.h"
#include "io/onnx/emit.h"

/* An axis of ONNX's range -rank .. rank - 1 as 0 .. rank - 1. */
static nd4c_status normalize(int64_t axis, int32_t rank, int64_t *normalized) {
  if (axis < -rank || axis >= rank) {
    return nd4c_fail(ND4C_INDEX, "axis %" PRId64 " of rank %d", axis, (int)rank);
  }
  *normalized = axis < 0 ? axis + rank : axis;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_emit_op_reshape(nd4c_onnx_emission *emission) {
  enum { SHAPE_IS_INPUT = 5 };
  int64_t shape[ND4C_MAX_RANK];
  int64_t allow_zero = 0;
  int32_t rank = 0;
  const int64_t *attribute = NULL;
  nd4c_onnx_operand_info info = nd4c_onnx_operand_get(emission, emission->inputs[0]);
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
    ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[1], "input 'shape'", ND4C_MAX_RANK, shape, &rank));
  }
  for (int32_t i = 0; i < rank && allow_zero == 0; i++) {
    if (shape[i] == 0 && i >= info.rank) {
      return nd4c_fail(ND4C_SHAPE, "entry %d of the shape is 0 (as in the input), but the input has rank %d", (int)i,
                       (int)info.rank);
    }
    shape[i] = shape[i] == 0 ? info.shape[i] : shape[i];
  }
  return nd4c_onnx_emit_reshape(emission, emission->inputs[0], rank, shape, &emission->outputs[0]);
}

nd4c_status nd4c_onnx_emit_op_flatten(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 1, &axis));
  nd4c_attr attr = nd4c_attr_of_int("axis", axis);
  return nd4c_onnx_emit(emission, ND4C_OP_flatten, emission->inputs, 1, &attr, 1, &emission->outputs[0]);
}

nd4c_status nd4c_onnx_emit_op_transpose(nd4c_onnx_emission *emission) {
  const int64_t *axes = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "perm", &axes, &count));
  return nd4c_onnx_emit_axes(emission, ND4C_OP_transpose, emission->inputs[0], count, axes, &emission->outputs[0]);
}

nd4c_status nd4c_onnx_emit_op_squeeze(nd4c_onnx_emission *emission) {
  enum { AXES_ARE_INPUT = 13 };
  int64_t axes[ND4C_MAX_RANK];
  int32_t count = 0;
  bool given = false;
  ND4C_TRY(nd4c_onnx_get_axes(emission, AXES_ARE_INPUT, 1, axes, &count, &given));
  if (given && count == 0) {
    emission->outputs[0] = emission->inputs[0];
    return ND4C_OK;
  }
  return nd4c_onnx_emit_axes(emission, ND4C_OP_squeeze, emission->inputs[0], count, axes, &emission->outputs[0]);
}

nd4c_status nd4c_onnx_emit_op_unsqueeze(nd4c_onnx_emission *emission) {
  enum { AXES_ARE_INPUT = 13 };
  int64_t axes[ND4C_MAX_RANK];
  int32_t count = 0;
  bool given = false;
  ND4C_TRY(nd4c_onnx_get_axes(emission, AXES_ARE_INPUT, 1, axes, &count, &given));
  if (!given) {
    return nd4c_fail(ND4C_FORMAT, "axes are missing");
  }
  if (count == 0) {
    emission->outputs[0] = emission->inputs[0];
    return ND4C_OK;
  }
  return nd4c_onnx_emit_axes(emission, ND4C_OP_expand_dims, emission->inputs[0], count, axes, &emission->outputs[0]);
}

/* The shape given and the input's are broadcast against each other. */
nd4c_status nd4c_onnx_emit_op_expand(nd4c_onnx_emission *emission) {
  int64_t wanted[ND4C_MAX_RANK];
  int64_t shape[ND4C_MAX_RANK];
  int32_t count = 0;
  nd4c_onnx_operand_info info = nd4c_onnx_operand_get(emission, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[1], "input 'shape'", ND4C_MAX_RANK, wanted, &count));
  int32_t rank = count > info.rank ? count : info.rank;
  for (int32_t i = 0; i < rank; i++) {
    int32_t from_wanted = i - (rank - count);
    int32_t from_input = i - (rank - info.rank);
    int64_t a = from_wanted >= 0 ? wanted[from_wanted] : 1;
    int64_t b = from_input >= 0 ? info.shape[from_input] : 1;
    shape[i] = a == 1 ? b : a;
  }
  return nd4c_onnx_emit_broadcast(emission, emission->inputs[0], rank, shape, &emission->outputs[0]);
}

/* Repeats: [a, b] becomes [1, a, 1, b], is spread over [r, a, s, b] and joined to [r a, s b]. */
nd4c_status nd4c_onnx_emit_op_tile(nd4c_onnx_emission *emission) {
  int64_t repeats[ND4C_MAX_RANK];
  int64_t split[ND4C_MAX_RANK];
  int64_t spread[ND4C_MAX_RANK];
  int64_t joined[ND4C_MAX_RANK];
  int32_t count = 0;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_onnx_operand_info info = nd4c_onnx_operand_get(emission, x);
  ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[1], "input 'repeats'", ND4C_MAX_RANK, repeats, &count));
  if (count != info.rank || 2 * count > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_SHAPE, "%d repeats for rank %d; expected one an axis, at most %d", (int)count, (int)info.rank,
                     ND4C_MAX_RANK / 2);
  }
  for (int32_t i = 0; i < count; i++) {
    split[2 * i] = 1;
    spread[2 * i] = repeats[i];
    split[2 * i + 1] = spread[2 * i + 1] = info.shape[i];
    if (repeats[i] < 0 || !nd4c_checked_multiply(repeats[i], info.shape[i], &joined[i])) {
      return nd4c_fail(ND4C_OVERFLOW, "%" PRId64 " repeats of %" PRId64, repeats[i], info.shape[i]);
    }
  }
  ND4C_TRY(nd4c_onnx_emit_reshape(emission, x, 2 * count, split, &x));
  ND4C_TRY(nd4c_onnx_emit_broadcast(emission, x, 2 * count, spread, &x));
  return nd4c_onnx_emit_reshape(emission, x, count, joined, &emission->outputs[0]);
}

/* -- joining and cutting --------------------------------------------------------------------------------------- */

static nd4c_status concat(nd4c_onnx_emission *emission, const nd4c_onnx_operand *parts, int32_t count, int64_t axis,
                          nd4c_onnx_operand *y) {
  nd4c_attr attr = nd4c_attr_of_int("axis", axis);
  return nd4c_onnx_emit(emission, ND4C_OP_concat, parts, count, &attr, 1, y);
}

nd4c_status nd4c_onnx_emit_op_concat(nd4c_onnx_emission *emission) {
  enum { AXIS_REQUIRED_SINCE = 4 };
  int64_t axis = 0;
  if (emission->opset >= AXIS_REQUIRED_SINCE && nd4c_onnx_attribute_find(emission, "axis") == NULL) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'axis' is missing");
  }
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 1, &axis));
  return concat(emission, emission->inputs, emission->input_count, axis, &emission->outputs[0]);
}

/* Length of part `index` when nothing says otherwise: equal parts, the last one smaller (opset 18 on). */
static nd4c_status split_length(nd4c_onnx_emission *emission, int64_t extent, int32_t index, int64_t *length) {
  enum { UNEVEN_SINCE = 18 };
  int32_t parts = emission->node->output_count;
  int64_t whole = extent / parts + (extent % parts != 0);
  if (extent % parts != 0 && emission->opset < UNEVEN_SINCE) {
    return nd4c_fail(ND4C_SHAPE, "an axis of %" PRId64 " does not split into %d equal parts", extent, (int)parts);
  }
  int64_t left = extent - index * whole;
  *length = left < 0 ? 0 : left < whole ? left : whole;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_emit_op_split(nd4c_onnx_emission *emission) {
  enum { LENGTHS_ARE_INPUT = 13, MOST = 4096 };
  static const char what[] = "the lengths of the parts";
  int64_t axis = 0;
  int64_t parts = 0;
  int64_t lengths[MOST];
  int32_t count = 0;
  const int64_t *attribute = NULL;
  nd4c_onnx_operand_info info = nd4c_onnx_operand_get(emission, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "num_outputs", emission->node->output_count, &parts));
  ND4C_TRY(normalize(axis, info.rank, &axis));
  nd4c_onnx_operand given = nd4c_onnx_input(emission, 1);
  if (emission->opset < LENGTHS_ARE_INPUT) {
    ND4C_TRY(nd4c_onnx_get_ints(emission, "split", &attribute, &count));
    if (count > MOST) {
      return nd4c_fail(ND4C_FORMAT, "%d parts; expected at most %d", (int)count, (int)MOST);
    }
    memcpy(lengths, attribute != NULL ? attribute : lengths, (size_t)count * sizeof *lengths);
  } else if (given != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_ints(emission, given, what, MOST, lengths, &count));
  }
  if ((count != 0 && count != emission->node->output_count) || parts != emission->node->output_count) {
    return nd4c_fail(ND4C_FORMAT, "%d parts for %d outputs", (int)(count != 0 ? count : (int32_t)parts),
                     (int)emission->node->output_count);
  }
  int64_t start = 0;
  for (int32_t i = 0; i < emission->node->output_count; i++) {
    int64_t length = count != 0 ? lengths[i] : 0;
    if (count == 0) {
      ND4C_TRY(split_length(emission, info.shape[axis], i, &length));
    }
    if (length < 0 || length > info.shape[axis] - start) {
      return nd4c_fail(ND4C_SHAPE, "part %d of %" PRId64 " from %" PRId64 " on leaves the axis of %" PRId64, (int)i,
                       length, start, info.shape[axis]);
    }
    ND4C_TRY(
        nd4c_onnx_emit_slice(emission, emission->inputs[0], axis, start, start + length, 1, &emission->outputs[i]));
    start += length;
  }
  return start == info.shape[axis]
             ? ND4C_OK
             : nd4c_fail(ND4C_SHAPE, "parts of %" PRId64 " in all; expected %" PRId64, start, info.shape[axis]);
}

/* What Slice says, from attributes or inputs. */
typedef struct slice_bounds {
  int64_t starts[ND4C_MAX_RANK], stops[ND4C_MAX_RANK], axes[ND4C_MAX_RANK], steps[ND4C_MAX_RANK];
  int32_t start_count, stop_count, axis_count, step_count;
} slice_bounds;

static nd4c_status slice_from_attributes(nd4c_onnx_emission *emission, slice_bounds *bounds) {
  static const char *const names[3] = {"starts", "ends", "axes"};
  int64_t *lists[3] = {bounds->starts, bounds->stops, bounds->axes};
  int32_t *counts[3] = {&bounds->start_count, &bounds->stop_count, &bounds->axis_count};
  for (int i = 0; i < 3; i++) {
    const int64_t *values = NULL;
    ND4C_TRY(nd4c_onnx_get_ints(emission, names[i], &values, counts[i]));
    if ((values == NULL && i < 2) || *counts[i] > ND4C_MAX_RANK) {
      return nd4c_fail(ND4C_FORMAT, "attribute '%s' is missing or longer than %d", names[i], ND4C_MAX_RANK);
    }
    if (*counts[i] > 0) {
      memcpy(lists[i], values, (size_t)*counts[i] * sizeof **lists);
    }
  }
  return ND4C_OK;
}

static nd4c_status slice_from_inputs(nd4c_onnx_emission *emission, slice_bounds *bounds) {
  static const char *const names[4] = {"input 'starts'", "input 'ends'", "input 'axes'", "input 'steps'"};
  int64_t *lists[4] = {bounds->starts, bounds->stops, bounds->axes, bounds->steps};
  int32_t *counts[4] = {&bounds->start_count, &bounds->stop_count, &bounds->axis_count, &bounds->step_count};
  for (int32_t i = 0; i < 4; i++) {
    nd4c_onnx_operand operand = nd4c_onnx_input(emission, i + 1);
    if (operand != ND4C_ONNX_OPERAND_NONE) {
      ND4C_TRY(nd4c_onnx_read_ints(emission, operand, names[i], ND4C_MAX_RANK, lists[i], counts[i]));
    } else if (i < 2) {
      return nd4c_fail(ND4C_FORMAT, "%s is left out, but required", names[i]);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_emit_op_slice(nd4c_onnx_emission *emission) {
  enum { BOUNDS_ARE_INPUTS = 10 };
  slice_bounds bounds = {0};
  if (emission->opset < BOUNDS_ARE_INPUTS) {
    ND4C_TRY(slice_from_attributes(emission, &bounds));
  } else {
    ND4C_TRY(slice_from_inputs(emission, &bounds));
  }
  int32_t count = bounds.start_count;
  if (bounds.stop_count != count || (bounds.axis_count != 0 && bounds.axis_count != count) ||
      (bounds.step_count != 0 && bounds.step_count != count)) {
    return nd4c_fail(ND4C_FORMAT, "%d starts, %d ends, %d axes, %d steps; expected as many of each", (int)count,
                     (int)bounds.stop_count, (int)bounds.axis_count, (int)bounds.step_count);
  }
  for (int32_t i = 0; i < count; i++) {
    /* The smallest number stands for "none" in nd4c and is an ordinary bound here. */
    bounds.starts[i] += bounds.starts[i] == INT64_MIN;
    bounds.stops[i] += bounds.stops[i] == INT64_MIN;
  }
  if (count == 0) {
    emission->outputs[0] = emission->inputs[0];
    return ND4C_OK;
  }
  nd4c_attr attrs[] = {nd4c_attr_of_ints("starts", bounds.starts, count),
                       nd4c_attr_of_ints("stops", bounds.stops, count),
                       nd4c_attr_of_ints("axes", bounds.axes, bounds.axis_count),
                       nd4c_attr_of_ints("steps", bounds.steps, bounds.step_count)};
  return nd4c_onnx_emit(emission, ND4C_OP_slice, emission->inputs, 1, attrs, 4, &emission->outputs[0]);
}

nd4c_status nd4c_onnx_emit_op_gather(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  nd4c_attr attr = nd4c_attr_of_int("axis", axis);
  return nd4c_onnx_emit(emission, ND4C_OP_gather, emission->inputs, 2, &attr, 1, &emission->outputs[0]);
}

/* -- Pad ------------------------------------------------------------------------------------------------------ */

/* One side of one axis: a block of `value` beside x. */
static nd4c_status pad_side(nd4c_onnx_emission *emission, nd4c_onnx_operand value, int64_t axis, int64_t amount,
                            bool before, nd4c_onnx_operand *x) {
  nd4c_onnx_operand_info info = nd4c_onnx_operand_get(emission, *x);
  nd4c_onnx_operand parts[2];
  if (amount < 0) {
    int64_t kept = amount < -info.shape[axis] ? 0 : info.shape[axis] + amount;
    int64_t start = before ? info.shape[axis] - kept : 0;
    return nd4c_onnx_emit_slice(emission, *x, axis, start, start + kept, 1, x);
  }
  info.shape[axis] = amount;
  ND4C_TRY(nd4c_onnx_emit_broadcast(emission, value, info.rank, info.shape, &parts[before ? 0 : 1]));
  parts[before ? 1 : 0] = *x;
  return concat(emission, parts, 2, axis, x);
}

/* The amounts, begins then ends, for all axes. */
static nd4c_status read_pads(nd4c_onnx_emission *emission, int32_t rank, int64_t *pads) {
  enum { PADS_ARE_INPUT = 11 };
  int64_t values[2 * ND4C_MAX_RANK];
  int64_t axes[ND4C_MAX_RANK];
  int32_t count = 0;
  int32_t axis_count = rank;
  const int64_t *attribute = NULL;
  for (int32_t i = 0; i < rank; i++) {
    axes[i] = i;
    pads[i] = pads[i + rank] = 0;
  }
  if (emission->opset < PADS_ARE_INPUT) {
    ND4C_TRY(nd4c_onnx_get_ints(emission, emission->opset < 2 ? "paddings" : "pads", &attribute, &count));
    if (count == 2 * rank) {
      memcpy(values, attribute, (size_t)count * sizeof *values);
    }
  } else {
    ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[1], "input 'pads'", 2 * ND4C_MAX_RANK, values, &count));
    if (nd4c_onnx_input(emission, 3) != ND4C_ONNX_OPERAND_NONE) {
      ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[3], "input 'axes'", ND4C_MAX_RANK, axes, &axis_count));
    }
  }
  if (count != 2 * axis_count) {
    return nd4c_fail(ND4C_FORMAT, "%d pads for %d axes; expected two an axis", (int)count, (int)axis_count);
  }
  for (int32_t i = 0; i < axis_count; i++) {
    int64_t axis = 0;
    ND4C_TRY(normalize(axes[i], rank, &axis));
    pads[axis] = values[i];
    pads[axis + rank] = values[i + axis_count];
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_emit_op_pad(nd4c_onnx_emission *emission) {
  enum { VALUE_IS_INPUT = 11 };
  int64_t pads[2 * ND4C_MAX_RANK];
  nd4c_span mode;
  double number = 0;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_onnx_operand value = nd4c_onnx_input(emission, 2);
  int32_t rank = nd4c_onnx_operand_get(emission, x).rank;
  ND4C_TRY(nd4c_onnx_get_text(emission, "mode", "constant", &mode));
  if (!nd4c_span_is(mode, "constant")) {
    return nd4c_fail(ND4C_UNSUPPORTED, "mode %s; nd4c has 'constant'", nd4c_span_show(mode).text);
  }
  ND4C_TRY(read_pads(emission, rank, pads));
  if (emission->opset < VALUE_IS_INPUT) {
    ND4C_TRY(nd4c_onnx_get_float(emission, "value", 0, &number));
  }
  if (value == ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_scalar_like(emission, x, number, &value));
  } else if (nd4c_onnx_operand_get(emission, value).rank > 0) {
    ND4C_TRY(nd4c_onnx_emit_reshape(emission, value, 0, NULL, &value));
  }
  for (int32_t axis = 0; axis < rank; axis++) {
    for (int end = 0; end < 2; end++) {
      if (pads[axis + end * rank] != 0) {
        ND4C_TRY(pad_side(emission, value, axis, pads[axis + end * rank], end == 0, &x));
      }
    }
  }
  emission->outputs[0] = x;
  return ND4C_OK;
}

/* -- depth and space ------------------------------------------------------------------------------------------- */

/* Reshape to six axes, permute them, join them to four. */
static nd4c_status rearrange(nd4c_onnx_emission *emission, const int64_t *split, const int64_t *order,
                             const int64_t *joined) {
  nd4c_onnx_operand x = emission->inputs[0];
  ND4C_TRY(nd4c_onnx_emit_reshape(emission, x, 6, split, &x));
  ND4C_TRY(nd4c_onnx_emit_axes(emission, ND4C_OP_transpose, x, 6, order, &x));
  return nd4c_onnx_emit_reshape(emission, x, 4, joined, &emission->outputs[0]);
}

static nd4c_status read_block(nd4c_onnx_emission *emission, nd4c_onnx_operand_info *info, int64_t *block) {
  *info = nd4c_onnx_operand_get(emission, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_get_int(emission, "blocksize", 0, block));
  if (info->rank != 4 || *block < 1 || *block > 1 << 15) {
    return nd4c_fail(ND4C_SHAPE, "an input of rank %d and blocks of %" PRId64 "; expected rank 4 and 1 or more",
                     (int)info->rank, *block);
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_emit_op_depth_to_space(nd4c_onnx_emission *emission) {
  static const int64_t depth_first[6] = {0, 3, 4, 1, 5, 2};
  static const int64_t column_first[6] = {0, 1, 4, 2, 5, 3};
  int64_t b = 0;
  nd4c_span mode;
  nd4c_onnx_operand_info x;
  ND4C_TRY(read_block(emission, &x, &b));
  ND4C_TRY(nd4c_onnx_get_text(emission, "mode", "DCR", &mode));
  bool crd = nd4c_span_is(mode, "CRD");
  if ((!crd && !nd4c_span_is(mode, "DCR")) || x.shape[1] % (b * b) != 0) {
    return nd4c_fail(ND4C_FORMAT, "mode %s, %" PRId64 " channels, blocks of %" PRId64, nd4c_span_show(mode).text,
                     x.shape[1], b);
  }
  int64_t depth = x.shape[1] / (b * b);
  int64_t split[6] = {x.shape[0], crd ? depth : b, b, crd ? b : depth, x.shape[2], x.shape[3]};
  int64_t joined[4] = {x.shape[0], depth};
  if (!nd4c_checked_multiply(x.shape[2], b, &joined[2]) || !nd4c_checked_multiply(x.shape[3], b, &joined[3])) {
    return nd4c_fail(ND4C_OVERFLOW, "%" PRId64 " by %" PRId64 " blocks of %" PRId64, x.shape[2], x.shape[3], b);
  }
  return rearrange(emission, split, crd ? column_first : depth_first, joined);
}

nd4c_status nd4c_onnx_emit_op_space_to_depth(nd4c_onnx_emission *emission) {
  static const int64_t block_first[6] = {0, 3, 5, 1, 2, 4};
  static const int64_t depth_first[6] = {0, 1, 3, 5, 2, 4};
  int64_t b = 0;
  nd4c_span mode;
  nd4c_onnx_operand_info x;
  ND4C_TRY(read_block(emission, &x, &b));
  ND4C_TRY(nd4c_onnx_get_text(emission, "mode", "DCR", &mode));
  bool crd = nd4c_span_is(mode, "CRD");
  if (!crd && !nd4c_span_is(mode, "DCR")) {
    return nd4c_fail(ND4C_FORMAT, "mode %s, expected 'DCR' or 'CRD'", nd4c_span_show(mode).text);
  }
  if (x.shape[2] % b != 0 || x.shape[3] % b != 0) {
    return nd4c_fail(ND4C_SHAPE, "%" PRId64 " by %" PRId64 " cells do not split into blocks of %" PRId64, x.shape[2],
                     x.shape[3], b);
  }
  int64_t split[6] = {x.shape[0], x.shape[1], x.shape[2] / b, b, x.shape[3] / b, b};
  int64_t joined[4] = {x.shape[0], 0, x.shape[2] / b, x.shape[3] / b};
  if (!nd4c_checked_multiply(x.shape[1], b * b, &joined[1])) {
    return nd4c_fail(ND4C_OVERFLOW, "%" PRId64 " channels of blocks of %" PRId64, x.shape[1], b);
  }
  return rearrange(emission, split, crd ? depth_first : block_first, joined);
}
