/* Rules for the gradients of ops that join, cut, pad and pick. gradient.c looks rules up in this list. */
#include "base/alloc.h"
#include "base/status.h"
#include "device/device.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

static int32_t axis_of(const nd4c_attr_value *axis, int32_t rank) {
  return (int32_t)(axis->as.i < 0 ? axis->as.i + rank : axis->as.i);
}

/* -- joining ------------------------------------------------------------------------------------------------------- */

/* The part of g that the input is. */
ND4C_GRADIENT(concat) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[index]);
  const int32_t axis = axis_of(&step->attrs[ND4C_ATTR_concat_axis], info.rank);
  int64_t begin = 0;
  for (int32_t i = 0; i <= index; i++) {
    const int64_t extent = nd4c_emitted_get(e, step->inputs[i]).shape[axis];
    if (nd4c_extent_is_symbolic(extent)) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a concat needs numbers along its axis");
    }
    begin += i < index ? extent : 0;
  }
  return nd4c_emit_slice(e, step->given, axis, begin, begin + info.shape[axis], 1, gradient);
}

/* -- cutting ------------------------------------------------------------------------------------------------------- */

/* The number of the first element that start:stop:step takes of an axis. */
static int64_t first_of(int64_t start, int64_t step, int64_t extent) {
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  if (start == ND4C_SLICE_NONE) {
    return step > 0 ? low : high;
  }
  start += start < 0 ? extent : 0;
  return start < low ? low : start > high ? high : start;
}

/* Zeros in front of and behind g along an axis. */
static nd4c_status pad_axis(nd4c_emitter *e, nd4c_emitted given, int64_t axis, int64_t before, int64_t behind,
                            nd4c_emitted *y) {
  const int64_t pads[] = {before, behind};
  const nd4c_attr attrs[] = {nd4c_attr_of_ints("pads", pads, 2), nd4c_attr_of_ints("axes", &axis, 1)};
  return nd4c_emit(e, ND4C_OP_pad, &given, 1, attrs, 2, y);
}

/* start, start + step, ... as a constant */
static nd4c_status emit_positions(nd4c_emitter *e, int64_t start, int64_t step, int64_t count, nd4c_emitted *y) {
  int64_t *numbers = NULL;
  nd4c_array *array = NULL;
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count + 1, sizeof *numbers, "positions of a slice", &numbers));
  for (int64_t i = 0; i < count; i++) {
    numbers[i] = start + i * step;
  }
  const nd4c_status status = nd4c_array_from_data(ND4C_INT64, 1, &count, numbers, host, &array);
  nd4c_deallocate(numbers);
  return status == ND4C_OK ? nd4c_emit_constant(e, array, y) : status;
}

/* g at the positions of an axis that were taken, zeros elsewhere. */
static nd4c_status spread_axis(nd4c_emitter *e, int32_t axis, int64_t start, int64_t step, int64_t extent,
                               nd4c_emitted *gradient) {
  nd4c_emitted_info info = nd4c_emitted_get(e, *gradient);
  const int64_t count = info.shape[axis];
  const nd4c_attr along = nd4c_attr_of_int("axis", axis);
  nd4c_emitted inputs[3] = {ND4C_EMITTED_NONE, ND4C_EMITTED_NONE, *gradient};
  if (step == 1) {
    return pad_axis(e, *gradient, axis, start, extent - start - count, gradient);
  }
  ND4C_TRY(emit_positions(e, start, step, count, &inputs[1]));
  info.shape[axis] = extent;
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, &inputs[0]));
  return nd4c_emit(e, ND4C_OP_scatter_add, inputs, 3, &along, 1, gradient);
}

ND4C_GRADIENT(slice) {
  const nd4c_emitted_info x = nd4c_emitted_get(e, step->inputs[0]), y = nd4c_emitted_get(e, step->given);
  const nd4c_attr_value *starts = &step->attrs[ND4C_ATTR_slice_starts], *axes = &step->attrs[ND4C_ATTR_slice_axes],
                        *steps = &step->attrs[ND4C_ATTR_slice_steps];
  (void)index;
  *gradient = step->given;
  for (int32_t i = 0; i < starts->count; i++) {
    const int64_t named = axes->count > 0 ? axes->as.ints[i] : i, by = steps->count > 0 ? steps->as.ints[i] : 1;
    const int32_t axis = (int32_t)(named < 0 ? named + x.rank : named);
    const int64_t extent = x.shape[axis], start = starts->as.ints[i];
    if (extent == y.shape[axis] && by == 1) {
      continue; /* all of the axis */
    }
    if (nd4c_extent_is_symbolic(extent) || nd4c_extent_is_symbolic(y.shape[axis])) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a slice needs numbers along its axes");
    }
    ND4C_TRY(spread_axis(e, axis, first_of(start, by, extent), by, extent, gradient));
  }
  return ND4C_OK;
}

/* The inner part of g: pads of the other sign cut off what pads added. */
ND4C_GRADIENT(pad) {
  const nd4c_attr_value *pads = &step->attrs[ND4C_ATTR_pad_pads], *axes = &step->attrs[ND4C_ATTR_pad_axes];
  int64_t back[2 * ND4C_MAX_RANK];
  if (index != 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the value of pads has no gradient");
  }
  if (step->attrs[ND4C_ATTR_pad_mode].as.i != ND4C_PAD_MODE_CONSTANT) {
    return nd4c_gradient_move_back(e, step, ND4C_OP_pad, gradient);
  }
  for (int32_t i = 0; i < pads->count; i++) {
    if (nd4c_extent_is_symbolic(pads->as.ints[i])) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a pad needs numbers as pads");
    }
    back[i] = -pads->as.ints[i];
  }
  const nd4c_attr attrs[] = {nd4c_attr_of_ints("pads", back, pads->count), {"axes", *axes}};
  return nd4c_emit(e, ND4C_OP_pad, &step->given, 1, attrs, axes->count > 0 ? 2 : 1, gradient);
}

/* -- picking ------------------------------------------------------------------------------------------------------- */

static nd4c_status refuse_indices(int32_t index) {
  return index == 0 ? ND4C_OK : nd4c_fail(ND4C_UNSUPPORTED, "indices have no gradient");
}

/* g added to zeros in x's shape where the op took it from. */
static nd4c_status scatter(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_op op, const nd4c_attr *attrs,
                           int32_t attr_count, nd4c_emitted *gradient) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  nd4c_emitted inputs[3] = {ND4C_EMITTED_NONE, step->inputs[1], step->given};
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, &inputs[0]));
  return nd4c_emit(e, op, inputs, 3, attrs, attr_count, gradient);
}

/* Slices along an axis; the rows of a table have no attribute axis. */
static nd4c_status picked(nd4c_emitter *e, const nd4c_gradient_step *step, int64_t axis, nd4c_emitted *gradient) {
  const nd4c_attr along = nd4c_attr_of_int("axis", axis);
  return scatter(e, step, ND4C_OP_scatter_add, &along, 1, gradient);
}

ND4C_GRADIENT(gather) {
  ND4C_TRY(refuse_indices(index));
  return picked(e, step, step->attrs[ND4C_ATTR_gather_axis].as.i, gradient);
}

ND4C_GRADIENT(rows) {
  ND4C_TRY(refuse_indices(index));
  return picked(e, step, 0, gradient);
}

ND4C_GRADIENT(elements) {
  const nd4c_attr attrs[] = {nd4c_attr_of_int("axis", step->attrs[ND4C_ATTR_gather_elements_axis].as.i),
                             nd4c_attr_of_int("reduction", ND4C_SCATTER_REDUCTION_ADD)};
  ND4C_TRY(refuse_indices(index));
  return scatter(e, step, ND4C_OP_scatter_elements, attrs, 2, gradient);
}

ND4C_GRADIENT(positions) {
  const nd4c_attr adds = nd4c_attr_of_int("reduction", ND4C_SCATTER_REDUCTION_ADD);
  ND4C_TRY(refuse_indices(index));
  if (step->attrs[ND4C_ATTR_gather_nd_batch_dims].as.i != 0) {
    return nd4c_gradient_move_back(e, step, ND4C_OP_gather_nd, gradient);
  }
  return scatter(e, step, ND4C_OP_scatter_nd, &adds, 1, gradient);
}

const nd4c_gradient_row nd4c_gradient_arrangement[] = {ND4C_GRADIENT_ARRANGEMENT(ROW){ND4C_OP_NONE, NULL}};
