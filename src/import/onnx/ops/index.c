/* Joining, cutting, gathering and padding. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/family.h"

/* An axis of ONNX's range -rank .. rank - 1 as 0 .. rank - 1. */
static nd4c_status normalize(int64_t axis, int32_t rank, int64_t *normalized) {
  if (axis < -rank || axis >= rank) {
    return nd4c_fail(ND4C_INDEX, "axis %" PRId64 " of rank %d", axis, (int)rank);
  }
  *normalized = axis < 0 ? axis + rank : axis;
  return ND4C_OK;
}

/* -- joining and cutting --------------------------------------------------------------------------------------- */

static nd4c_status concat(nd4c_onnx_emission *emission, const nd4c_onnx_operand *parts, int32_t count, int64_t axis,
                          nd4c_onnx_operand *y) {
  nd4c_attr attr = nd4c_attr_of_int("axis", axis);
  return nd4c_emit(&emission->emitter, ND4C_OP_concat, parts, count, &attr, 1, y);
}

static nd4c_status emit_concat(nd4c_onnx_emission *emission) {
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

static nd4c_status emit_split(nd4c_onnx_emission *emission) {
  enum { LENGTHS_ARE_INPUT = 13, MOST = 4096 };
  static const char what[] = "the lengths of the parts";
  int64_t axis = 0;
  int64_t parts = 0;
  int64_t lengths[MOST];
  int32_t count = 0;
  const int64_t *attribute = NULL;
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
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
    ND4C_TRY(nd4c_emit_slice(&emission->emitter, emission->inputs[0], axis, start, start + length, 1,
                             &emission->outputs[i]));
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

static nd4c_status emit_slice(nd4c_onnx_emission *emission) {
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
  return nd4c_emit(&emission->emitter, ND4C_OP_slice, emission->inputs, 1, attrs, 4, &emission->outputs[0]);
}

static nd4c_status emit_gather(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  nd4c_attr attr = nd4c_attr_of_int("axis", axis);
  return nd4c_emit(&emission->emitter, ND4C_OP_gather, emission->inputs, 2, &attr, 1, &emission->outputs[0]);
}

/* -- Pad ------------------------------------------------------------------------------------------------------ */

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

/* Modes in the order of the op's table. */
static nd4c_status read_pad_mode(nd4c_onnx_emission *emission, int64_t *mode) {
  static const char *const names[] = {
#define NAME_ROW(NAME, number, name) name,
      ND4C_PAD_MODE_TABLE(NAME_ROW)
#undef NAME_ROW
  };
  nd4c_span text;
  ND4C_TRY(nd4c_onnx_get_text(emission, "mode", "constant", &text));
  for (*mode = 0; *mode <= ND4C_PAD_MODE_WRAP; ++*mode) {
    if (nd4c_span_is(text, names[*mode])) {
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_FORMAT, "mode %s; expected constant, edge, reflect or wrap", nd4c_span_show(text).text);
}

static nd4c_status emit_pad(nd4c_onnx_emission *emission) {
  enum { VALUE_IS_INPUT = 11 };
  int64_t pads[2 * ND4C_MAX_RANK];
  int64_t mode = 0;
  double number = 0;
  nd4c_onnx_operand inputs[2] = {emission->inputs[0], ND4C_ONNX_OPERAND_NONE};
  int32_t rank = nd4c_emitted_get(&emission->emitter, inputs[0]).rank;
  ND4C_TRY(read_pad_mode(emission, &mode));
  ND4C_TRY(read_pads(emission, rank, pads));
  if (emission->opset < VALUE_IS_INPUT) {
    ND4C_TRY(nd4c_onnx_get_float(emission, "value", 0, &number));
    if (number != 0) {
      ND4C_TRY(nd4c_emit_scalar_like(&emission->emitter, inputs[0], number, &inputs[1]));
    }
  } else {
    inputs[1] = nd4c_onnx_input(emission, 2);
  }
  nd4c_attr attrs[2] = {nd4c_attr_of_ints("pads", pads, 2 * rank), nd4c_attr_of_int("mode", mode)};
  return nd4c_emit(&emission->emitter, ND4C_OP_pad, inputs, inputs[1] == ND4C_ONNX_OPERAND_NONE ? 1 : 2, attrs, 2,
                   &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                             \
  OP(Concat, 1, LAST, 1, ANY, 1, concat, NONE)                           \
  CHAIN(Split, 2, LAST, 1, 2, ANY, split, NONE, "slice for each output") \
  OP(Slice, 1, LAST, 1, 5, 1, slice, NONE)                               \
  OP(Gather, 1, LAST, 2, 2, 1, gather, NONE)                             \
  OP(Pad, 1, 10, 1, 1, 1, pad, NONE)                                     \
  OP(Pad, 11, LAST, 2, 4, 1, pad, NONE)

ND4C_ONNX_FAMILY(index, "", ROWS)
