/* Joining, cutting, gathering and padding. emission/scope.c calls the emit functions through the rows below. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/emission/cuts.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

/* -- joining and cutting --------------------------------------------------------------------------------------- */

static nd4c_status emit_concat(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 1, &axis));
  return nd4c_emit_along(&emission->emitter, ND4C_OP_concat, emission->inputs, emission->input_count, axis,
                         &emission->outputs[0]);
}

/* Lengths when the node gives none: equal parts, the last one smaller (opset 18 on). */
static nd4c_status equal_parts(nd4c_onnx_emission *emission, int64_t extent, int64_t *lengths) {
  enum { UNEVEN_SINCE = 18 };
  int32_t parts = emission->node->output_count;
  if (nd4c_extent_is_symbolic(extent)) {
    int64_t each = 0;
    ND4C_TRY(nd4c_onnx_extent_part(emission, extent, parts, &each));
    for (int32_t i = 0; i < parts; i++) {
      lengths[i] = each;
    }
    return ND4C_OK;
  }
  int64_t whole = extent / parts + (extent % parts != 0);
  if (extent % parts != 0 && emission->opset < UNEVEN_SINCE) {
    return nd4c_fail(ND4C_SHAPE, "an axis of %" PRId64 " does not split into %d equal parts", extent, (int)parts);
  }
  for (int32_t i = 0; i < parts; i++) {
    int64_t left = extent - i * whole;
    lengths[i] = left < 0 ? 0 : left < whole ? left : whole;
  }
  return ND4C_OK;
}

/* As nd4c_compose_split, also of extents. */
static nd4c_status split_extents(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int32_t axis, int32_t count,
                                 const int64_t *lengths) {
  const int64_t extent = nd4c_emitted_get(&emission->emitter, x).shape[axis];
  int64_t start = 0, stop = 0;
  for (int32_t i = 0; i < count; i++) {
    if (lengths[i] < 0 && !nd4c_extent_is_symbolic(lengths[i])) {
      return nd4c_fail(ND4C_SHAPE, "part %d of %" PRId64, (int)i, lengths[i]);
    }
    ND4C_TRY(nd4c_onnx_extent_sum(emission, start, lengths[i], &stop));
    ND4C_TRY(nd4c_emit_slice(&emission->emitter, x, axis, start, stop, 1, &emission->outputs[i]));
    start = stop;
  }
  return nd4c_onnx_assume(emission, ND4C_RELATION_EQUAL, extent, start)
             ? ND4C_OK
             : nd4c_fail(ND4C_SHAPE, "the parts are not the axis in all");
}

/* The lengths are an input in opset 1 and from opset 13 on, else an attribute. */
static nd4c_status emit_split(nd4c_onnx_emission *emission) {
  enum { LENGTHS_ARE_INPUT = 13 };
  nd4c_onnx_operand x = emission->inputs[0], given = nd4c_onnx_input(emission, 1);
  int32_t outputs = emission->node->output_count, count = 0, fixed = 0;
  int64_t axis = 0, parts = 0, *lengths = NULL;
  const int64_t *attribute = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)outputs + 1, sizeof *lengths, "the parts of an axis", &lengths));
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "num_outputs", outputs, &parts));
  if (emission->opset < LENGTHS_ARE_INPUT) {
    ND4C_TRY(nd4c_onnx_get_ints(emission, "split", &attribute, &count));
  }
  ND4C_TRY(nd4c_onnx_fix_axis(emission, x, axis, &fixed));
  if (given != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_extents(emission, given, "the lengths of the parts", outputs, lengths, &count));
  } else if (count == outputs) {
    memcpy(lengths, attribute, (size_t)count * sizeof *lengths);
  } else if (count == 0 && outputs > 0) {
    count = outputs;
    ND4C_TRY(equal_parts(emission, nd4c_emitted_get(&emission->emitter, x).shape[fixed], lengths));
  }
  if (count != outputs || parts != outputs) {
    return nd4c_fail(ND4C_FORMAT, "%d parts for %d outputs", (int)(count != outputs ? count : (int32_t)parts),
                     (int)outputs);
  }
  bool symbolic = nd4c_extent_is_symbolic(nd4c_emitted_get(&emission->emitter, x).shape[fixed]);
  for (int32_t i = 0; i < count; i++) {
    symbolic = symbolic || nd4c_extent_is_symbolic(lengths[i]);
  }
  return symbolic ? split_extents(emission, x, fixed, count, lengths)
                  : nd4c_compose_split(&emission->emitter, x, fixed, count, lengths, false, emission->outputs);
}

/* The bounds of Slice, from attributes or inputs. */
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
      ND4C_TRY(i < 2 ? nd4c_onnx_read_extents(emission, operand, names[i], ND4C_MAX_RANK, lists[i], counts[i])
                     : nd4c_onnx_read_ints(emission, operand, names[i], ND4C_MAX_RANK, lists[i], counts[i]));
    } else if (i < 2) {
      return nd4c_fail(ND4C_FORMAT, "%s is left out, but required", names[i]);
    }
  }
  return ND4C_OK;
}

/* A cut that goes backward from before the axis begins takes the first element in ONNX, and none in nd4c. Of an extent
 * that is no number yet, which of both it is becomes a guard. */
static nd4c_status keep_first(nd4c_onnx_emission *emission, slice_bounds *bounds) {
  const nd4c_onnx_operand x = emission->inputs[0];
  for (int32_t i = 0; i < bounds->start_count; i++) {
    int64_t *start = &bounds->starts[i];
    if (bounds->step_count == 0 || bounds->steps[i] >= 0 || *start >= -1 || nd4c_extent_is_symbolic(*start)) {
      continue;
    }
    int32_t axis = i;
    if (bounds->axis_count > 0) {
      ND4C_TRY(nd4c_onnx_fix_axis(emission, x, bounds->axes[i], &axis));
    }
    const int64_t extent = nd4c_emitted_get(&emission->emitter, x).shape[axis];
    const bool is_far = *start <= -INT32_MAX;
    if (!is_far && nd4c_onnx_assume(emission, ND4C_RELATION_AT_LEAST, extent, -*start)) {
      continue;
    }
    if (!nd4c_onnx_assume(emission, ND4C_RELATION_AT_LEAST, -*start, extent)) {
      return nd4c_fail(ND4C_UNSUPPORTED, "start %" PRId64 " of an axis whose length only a run tells", *start);
    }
    *start = 0;
  }
  return ND4C_OK;
}

/* A slice that begins where only a run says. *done: its lengths are known, and it was made. */
static nd4c_status slice_from_cuts(nd4c_onnx_emission *emission, bool *done) {
  const nd4c_onnx_operand starts = nd4c_onnx_input(emission, 1), axes = nd4c_onnx_input(emission, 3),
                          steps = nd4c_onnx_input(emission, 4);
  nd4c_onnx_cut cuts[ND4C_MAX_RANK];
  slice_bounds bounds = {0};
  nd4c_onnx_operand y = emission->inputs[0];
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_find_cuts(emission, starts, nd4c_onnx_input(emission, 2), cuts, &count));
  if (axes != ND4C_ONNX_OPERAND_NONE && count > 0) {
    ND4C_TRY(nd4c_onnx_read_ints(emission, axes, "input 'axes'", ND4C_MAX_RANK, bounds.axes, &bounds.axis_count));
  }
  if (steps != ND4C_ONNX_OPERAND_NONE && count > 0) {
    ND4C_TRY(nd4c_onnx_read_ints(emission, steps, "input 'steps'", ND4C_MAX_RANK, bounds.steps, &bounds.step_count));
  }
  bool single = count > 0 && (axes == ND4C_ONNX_OPERAND_NONE || bounds.axis_count == count) &&
                (steps == ND4C_ONNX_OPERAND_NONE || bounds.step_count == count);
  for (int32_t i = 0; i < bounds.step_count && single; i++) {
    single = bounds.steps[i] == 1;
  }
  for (int32_t i = 0; i < count && single; i++) {
    int32_t axis = 0;
    ND4C_TRY(nd4c_onnx_fix_axis(emission, y, bounds.axis_count > 0 ? bounds.axes[i] : i, &axis));
    const int64_t start = cuts[i].start + (cuts[i].start == INT64_MIN),
                  stop = cuts[i].stop + (cuts[i].stop == INT64_MIN);
    ND4C_TRY(cuts[i].known ? nd4c_emit_slice(&emission->emitter, y, axis, start, stop, 1, &y)
                           : nd4c_onnx_emit_cut(emission, y, axis, &cuts[i], starts, i, &y));
  }
  *done = single;
  emission->outputs[0] = y;
  return ND4C_OK;
}

static nd4c_status emit_slice(nd4c_onnx_emission *emission) {
  enum { BOUNDS_ARE_INPUTS = 10 };
  slice_bounds bounds = {0};
  bool done = false;
  if (emission->opset >= BOUNDS_ARE_INPUTS) {
    ND4C_TRY(slice_from_cuts(emission, &done));
  }
  if (done) {
    return ND4C_OK;
  }
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
    /* INT64_MIN means "none" in nd4c, but is an ordinary bound in ONNX */
    bounds.starts[i] += bounds.starts[i] == INT64_MIN;
    bounds.stops[i] += bounds.stops[i] == INT64_MIN;
  }
  if (count == 0) {
    emission->outputs[0] = emission->inputs[0];
    return ND4C_OK;
  }
  ND4C_TRY(keep_first(emission, &bounds));
  nd4c_attr attrs[] = {nd4c_attr_of_ints("starts", bounds.starts, count),
                       nd4c_attr_of_ints("stops", bounds.stops, count),
                       nd4c_attr_of_ints("axes", bounds.axes, bounds.axis_count),
                       nd4c_attr_of_ints("steps", bounds.steps, bounds.step_count)};
  return nd4c_emit(&emission->emitter, ND4C_OP_slice, emission->inputs, 1, attrs, 4, &emission->outputs[0]);
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
    ND4C_TRY(nd4c_onnx_read_extents(emission, emission->inputs[1], "input 'pads'", 2 * ND4C_MAX_RANK, values, &count));
    if (nd4c_onnx_input(emission, 3) != ND4C_ONNX_OPERAND_NONE) {
      ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[3], "input 'axes'", ND4C_MAX_RANK, axes, &axis_count));
    }
  }
  if (count != 2 * axis_count) {
    return nd4c_fail(ND4C_FORMAT, "%d pads for %d axes; expected two an axis", (int)count, (int)axis_count);
  }
  for (int32_t i = 0; i < axis_count; i++) {
    int32_t axis = 0;
    ND4C_TRY(nd4c_onnx_fix_axis(emission, emission->inputs[0], axes[i], &axis));
    pads[axis] = values[i];
    pads[axis + rank] = values[i + axis_count];
  }
  return ND4C_OK;
}

static nd4c_status emit_pad(nd4c_onnx_emission *emission) {
  enum { VALUE_IS_INPUT = 11 };
  int64_t pads[2 * ND4C_MAX_RANK];
  double number = 0;
  nd4c_onnx_attrs attrs;
  nd4c_onnx_operand inputs[2] = {emission->inputs[0], ND4C_ONNX_OPERAND_NONE};
  int32_t rank = nd4c_emitted_get(&emission->emitter, inputs[0]).rank;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(read_pads(emission, rank, pads));
  if (emission->opset < VALUE_IS_INPUT) {
    ND4C_TRY(nd4c_onnx_get_float(emission, "value", 0, &number));
    if (number != 0) {
      ND4C_TRY(nd4c_emit_scalar_like(&emission->emitter, inputs[0], number, &inputs[1]));
    }
  } else {
    inputs[1] = nd4c_onnx_input(emission, 2);
  }
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_ints("pads", pads, 2 * rank));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_pad, inputs, inputs[1] == ND4C_ONNX_OPERAND_NONE ? 1 : 2, &attrs);
}

static const char *const pad_modes[] = {"constant", "edge", "reflect", "wrap", NULL};

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                   \
  OP(Concat, 1, 3, 1, ANY, 1, concat, NONE)                                    \
  MAP(Concat, 4, LAST, 1, ANY, 1, concat, ATTR("axis", INT, "axis", REQUIRED)) \
  CHAIN(Split, 1, LAST, 1, 2, ANY, split, NONE, "slice for each output")       \
  OP(Slice, 1, LAST, 1, 5, 1, slice, NONE)                                     \
  MAP(Gather, 1, LAST, 2, 2, 1, gather, ATTR("axis", INT, "axis", 0))          \
  READ(Pad, 1, 10, 1, 1, 1, pad, NONE, WORDS("mode", "mode", 0, pad_modes))    \
  READ(Pad, 11, LAST, 2, 4, 1, pad, NONE, WORDS("mode", "mode", 0, pad_modes))

ND4C_ONNX_FAMILY(indexing_arrangement, "", ROWS)
