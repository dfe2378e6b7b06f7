/* Inference rule and view function of slice, with Python's meaning of start:stop:step. nd4c_op_infer (infer.c) calls
 * the rule; dispatch and plans call the view function. */
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* One axis of a slice: the first element taken and how many. */
typedef struct cut {
  int64_t start, step, length;
} cut;

/* Elements from start to before stop, step by step; differences fit because both lie in -1 .. extent. */
static int64_t cut_length(int64_t start, int64_t stop, int64_t step) {
  if (step > 0) {
    return start < stop ? 1 + (stop - start - 1) / step : 0;
  }
  /* The step's magnitude is taken unsigned: that of INT64_MIN has no int64. */
  return start > stop ? 1 + (int64_t)((uint64_t)(start - stop - 1) / (0 - (uint64_t)step)) : 0;
}

/* A bound into low .. high, counting from the end if negative. */
static int64_t clamp_bound(int64_t bound, int64_t extent, int64_t low, int64_t high) {
  if (bound < 0) {
    bound += extent;
  }
  return bound < low ? low : bound > high ? high : bound;
}

static cut resolve_cut(int64_t start, int64_t stop, int64_t step, int64_t extent) {
  bool forward = step > 0;
  int64_t low = forward ? 0 : -1, high = forward ? extent : extent - 1;
  cut result = {.step = step};
  result.start = start == ND4C_SLICE_NONE ? (forward ? low : high) : clamp_bound(start, extent, low, high);
  int64_t end = stop == ND4C_SLICE_NONE ? (forward ? high : low) : clamp_bound(stop, extent, low, high);
  result.length = cut_length(result.start, end, step);
  return result;
}

static bool is_number(const nd4c_inference *inference, int64_t extent) {
  return inference->extents == NULL || !nd4c_extents_has(inference->extents, extent);
}

/* Whether a bound is one that exporters write for "to the end" or "to the first element": beyond 32 bits, nearly. That
 * the extent is not longer is a guard. */
static bool is_far(const nd4c_inference *inference, int64_t bound, int64_t extent) {
  return bound >= INT32_MAX - 1 && nd4c_rule_is_at_least(inference, bound, extent);
}

/* How many elements lie before a bound, or, for a cut that goes backward (shift 1), up to it; at most the extent. */
static bool clamp_symbolic(const nd4c_inference *inference, int64_t bound, int64_t shift, int64_t extent,
                           int64_t preset, int64_t *result) {
  if (bound == ND4C_SLICE_NONE || bound == INT64_MAX) {
    *result = bound == INT64_MAX ? extent : preset;
    return true;
  }
  if (is_number(inference, bound) && bound < 0) {
    int64_t after = bound == INT64_MIN ? INT64_MAX : -bound - shift;
    if (is_far(inference, after, extent)) {
      *result = 0;
      return true;
    }
    return nd4c_extents_maximum(inference->extents, extent, after, result) &&
           nd4c_rule_subtract(inference, *result, after, result);
  }
  if (is_number(inference, bound) && is_far(inference, bound, extent)) {
    *result = extent;
    return true;
  }
  return nd4c_rule_add(inference, bound, shift, result) &&
         nd4c_extents_minimum(inference->extents, extent, *result, result);
}

/* The length of a cut whose bounds or extent are symbolic; where it begins only numbers can say. */
static nd4c_status resolve_symbolic_cut(const nd4c_inference *inference, int32_t axis, int64_t start, int64_t stop,
                                        int64_t step, cut *result) {
  int64_t extent = inference->inputs[0].shape[axis], first = 0, end = 0, shift = step < 0;
  *result = (cut){.step = step};
  bool fits = clamp_symbolic(inference, start, shift, extent, shift ? extent : 0, &first) &&
              clamp_symbolic(inference, stop, shift, extent, shift ? 0 : extent, &end);
  int64_t from = shift ? end : first, to = shift ? first : end;
  fits = fits && nd4c_extents_maximum(inference->extents, to, from, &result->length) &&
         nd4c_rule_subtract(inference, result->length, from, &result->length) &&
         (step == INT64_MIN ? nd4c_extents_minimum(inference->extents, result->length, 1, &result->length)
                            : nd4c_rule_divide_up(inference, result->length, shift ? -step : step, &result->length));
  return fits ? ND4C_OK : nd4c_rule_too_long(inference, 0, axis);
}

static nd4c_status check_lists(const nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  int32_t count = attrs[ND4C_ATTR_slice_starts].count, rank = inference->inputs[0].rank;
  const struct {
    const char *name;
    int32_t count;
    bool may_be_empty;
  } lists[] = {{"stops", attrs[ND4C_ATTR_slice_stops].count, false},
               {"axes", attrs[ND4C_ATTR_slice_axes].count, true},
               {"steps", attrs[ND4C_ATTR_slice_steps].count, true}};
  if (count > rank) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "starts has %d values, expected at most %d, one an axis",
                            (int)count, (int)rank);
  }
  for (int32_t i = 0; i < 3; i++) {
    if (lists[i].count != count && !(lists[i].may_be_empty && lists[i].count == 0)) {
      return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "%s has %d values, expected %d, as many as starts",
                              lists[i].name, (int)lists[i].count, (int)count);
    }
  }
  return ND4C_OK;
}

/* One cut an axis; axes that are not named are taken whole. */
static nd4c_status resolve_cuts(const nd4c_inference *inference, cut *cuts) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *attrs = inference->attrs, *axes = &attrs[ND4C_ATTR_slice_axes];
  const nd4c_attr_value *steps = &attrs[ND4C_ATTR_slice_steps];
  bool chosen[ND4C_MAX_RANK];
  ND4C_TRY(check_lists(inference));
  ND4C_TRY(nd4c_rule_axes(inference, "axes", axes, x->rank, chosen));
  for (int32_t i = 0; i < x->rank; i++) {
    cuts[i] = (cut){.start = 0, .step = 1, .length = x->shape[i]};
  }
  for (int32_t i = 0; i < attrs[ND4C_ATTR_slice_starts].count; i++) {
    int32_t axis = i;
    if (axes->count > 0) {
      axis = nd4c_axis_index(axes->as.ints[i], x->rank);
    }
    int64_t step = steps->count > 0 ? steps->as.ints[i] : 1;
    if (step == 0) {
      return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "the step of axis %d is 0, expected another value",
                              (int)axis);
    }
    int64_t start = attrs[ND4C_ATTR_slice_starts].as.ints[i], stop = attrs[ND4C_ATTR_slice_stops].as.ints[i];
    if (is_number(inference, start) && is_number(inference, stop) && is_number(inference, x->shape[axis])) {
      cuts[axis] = resolve_cut(start, stop, step, x->shape[axis]);
    } else {
      ND4C_TRY(resolve_symbolic_cut(inference, axis, start, stop, step, &cuts[axis]));
    }
  }
  return ND4C_OK;
}

/* Gives: x with each axis as long as its slice, in x's dtype. */
nd4c_status nd4c_infer_slice(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  cut cuts[ND4C_MAX_RANK];
  ND4C_TRY(resolve_cuts(inference, cuts));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  for (int32_t i = 0; i < x->rank; i++) {
    inference->outputs[0].shape[i] = cuts[i].length;
  }
  return ND4C_OK;
}

bool nd4c_view_slice(const nd4c_inference *inference, int64_t *strides, int64_t *offset) {
  const nd4c_tensor *x = &inference->inputs[0];
  cut cuts[ND4C_MAX_RANK];
  *offset = 0;
  if (resolve_cuts(inference, cuts) != ND4C_OK) {
    return false;
  }
  bool empty = false;
  for (int32_t i = 0; i < x->rank; i++) {
    int64_t skipped;
    empty = empty || cuts[i].length == 0;
    strides[i] = x->strides[i];
    /* A step that is never taken may be any number: the stride stays. */
    if (cuts[i].length > 1 && !nd4c_checked_multiply(x->strides[i], cuts[i].step, &strides[i])) {
      return false;
    }
    if (!nd4c_checked_multiply(x->strides[i], cuts[i].start, &skipped) || !nd4c_checked_add(*offset, skipped, offset)) {
      return false;
    }
  }
  /* The start of an empty cut may lie outside the input. */
  *offset = empty ? 0 : *offset;
  return true;
}
