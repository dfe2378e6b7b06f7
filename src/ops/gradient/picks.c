/* Rules for the gradients of ops that take and place elements by indices and masks, and of those that order them.
 * gradient.c looks rules up in this list. */
#include "base/status.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

static nd4c_status refuse_index(int32_t index, int32_t which) {
  return index != which ? ND4C_OK : nd4c_fail(ND4C_UNSUPPORTED, "indices have no gradient");
}

/* -- taking -------------------------------------------------------------------------------------------------------- */

/* The indices as scatter_add takes them, where an index out of range is another one. */
static nd4c_status bring_into_range(nd4c_emitter *e, int64_t mode, int64_t extent, nd4c_emitted *indices) {
  if (mode == ND4C_INDEX_MODE_RAISE) {
    return ND4C_OK;
  }
  if (nd4c_extent_is_symbolic(extent)) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of indices out of range needs a number along their axis");
  }
  if (mode == ND4C_INDEX_MODE_WRAP) {
    return nd4c_emit_with_scalar(e, ND4C_OP_remainder, *indices, (double)extent, indices);
  }
  SCALED(maximum, *indices, 0, indices);
  return nd4c_emit_with_scalar(e, ND4C_OP_minimum, *indices, (double)extent - 1, indices);
}

/* g added to zeros at the slices that were taken; without an axis, at the elements of x flattened. */
ND4C_GRADIENT(taken) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  const nd4c_attr_value *axes = &step->attrs[ND4C_ATTR_take_axes];
  const bool flat = axes->count == 0;
  const int64_t named = flat ? 0 : axes->as.ints[0], axis = named < 0 ? named + info.rank : named,
                size = nd4c_gradient_join_extents(info.shape, info.rank);
  const nd4c_attr along = nd4c_attr_of_int("axis", axis);
  nd4c_emitted inputs[] = {ND4C_EMITTED_NONE, step->inputs[1], step->given};
  ND4C_TRY(refuse_index(index, 1));
  if (flat && size < 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of elements that are taken needs numbers as extents");
  }
  ND4C_TRY(bring_into_range(e, step->attrs[ND4C_ATTR_take_mode].as.i, flat ? size : info.shape[axis], &inputs[1]));
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, flat ? 1 : info.rank, flat ? &size : info.shape, &inputs[0]));
  ND4C_TRY(nd4c_emit(e, ND4C_OP_scatter_add, inputs, 3, &along, 1, gradient));
  return flat ? nd4c_emit_reshape(e, *gradient, info.rank, info.shape, gradient) : ND4C_OK;
}

/* g added to zeros along an axis of `extent` elements; indices have g's shape. */
static nd4c_status add_along(nd4c_emitter *e, nd4c_emitted given, nd4c_emitted indices, int64_t named, int64_t extent,
                             nd4c_emitted *gradient) {
  nd4c_emitted_info info = nd4c_emitted_get(e, given);
  const int64_t axis = named < 0 ? named + info.rank : named;
  const nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_int("reduction", ND4C_SCATTER_REDUCTION_ADD)};
  nd4c_emitted inputs[] = {ND4C_EMITTED_NONE, indices, given};
  info.shape[axis] = extent;
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, &inputs[0]));
  return nd4c_emit(e, ND4C_OP_scatter_elements, inputs, 3, attrs, 2, gradient);
}

static int64_t extent_along(const nd4c_emitter *e, nd4c_emitted x, int64_t axis) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  return info.shape[axis < 0 ? axis + info.rank : axis];
}

/* What was broadcast is summed by nd4c_gradient_emit. */
ND4C_GRADIENT(along_axis) {
  const nd4c_emitted_info given = nd4c_emitted_get(e, step->given);
  const int64_t axis = step->attrs[ND4C_ATTR_take_along_axis_axis].as.i;
  nd4c_emitted indices = ND4C_EMITTED_NONE;
  ND4C_TRY(refuse_index(index, 1));
  ND4C_TRY(nd4c_emit_broadcast(e, step->inputs[1], given.rank, given.shape, &indices));
  return add_along(e, step->given, indices, axis, extent_along(e, step->inputs[0], axis), gradient);
}

/* -- order --------------------------------------------------------------------------------------------------------- */

ND4C_GRADIENT(sorted) {
  const nd4c_attr attrs[] = {{"axis", step->attrs[ND4C_ATTR_sort_axis]},
                             {"descending", step->attrs[ND4C_ATTR_sort_descending]}};
  const int64_t axis = step->attrs[ND4C_ATTR_sort_axis].as.i;
  nd4c_emitted order = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit(e, ND4C_OP_argsort, step->inputs, 1, attrs, 2, &order));
  return add_along(e, step->given, order, axis, extent_along(e, step->inputs[0], axis), gradient);
}

/* The second output says where each element of the first came from. */
static nd4c_status by_places(nd4c_emitter *e, const nd4c_gradient_step *step, int64_t axis, nd4c_emitted *gradient) {
  return add_along(e, step->given, step->outputs[1], axis, extent_along(e, step->inputs[0], axis), gradient);
}

ND4C_GRADIENT(best) {
  (void)index;
  return by_places(e, step, step->attrs[ND4C_ATTR_top_k_axis].as.i, gradient);
}

ND4C_GRADIENT(running_best) {
  (void)index;
  return by_places(e, step, step->attrs[ND4C_ATTR_cumulative_max_axis].as.i, gradient);
}

ND4C_GRADIENT(kth) {
  const int64_t rank = nd4c_emitted_get(e, step->inputs[0]).rank, named = step->attrs[ND4C_ATTR_kth_value_axis].as.i,
                axis = named < 0 ? named + rank : named;
  nd4c_emitted given = step->given, places = step->outputs[1];
  (void)index;
  if (step->attrs[ND4C_ATTR_kth_value_keepdims].as.i == 0) {
    ND4C_TRY(nd4c_emit_axes(e, ND4C_OP_expand_dims, given, 1, &axis, &given));
    ND4C_TRY(nd4c_emit_axes(e, ND4C_OP_expand_dims, places, 1, &axis, &places));
  }
  return add_along(e, given, places, axis, extent_along(e, step->inputs[0], axis), gradient);
}

/* -- placing ------------------------------------------------------------------------------------------------------- */

/* g where the mask is false, and where it is true. */
ND4C_GRADIENT(filled) {
  nd4c_emitted zero = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_scalar_like(e, step->given, 0, &zero));
  return nd4c_emit_where(e, step->inputs[1], index == 0 ? zero : step->given, index == 0 ? step->given : zero,
                         gradient);
}

/* g, and what it has where something was added */
ND4C_GRADIENT(added_slices) {
  const nd4c_emitted inputs[] = {step->given, step->inputs[1]};
  const nd4c_attr along = nd4c_attr_of_int("axis", step->attrs[ND4C_ATTR_scatter_add_axis].as.i);
  ND4C_TRY(refuse_index(index, 1));
  *gradient = step->given;
  return index == 0 ? ND4C_OK : nd4c_emit(e, ND4C_OP_gather, inputs, 2, &along, 1, gradient);
}

/* and less of it where something was subtracted */
ND4C_GRADIENT(taken_slices) {
  ND4C_TRY(added_slices(e, step, index, gradient));
  return index == 0 ? ND4C_OK : nd4c_emit_unary(e, ND4C_OP_negative, *gradient, gradient);
}

/* The gradient of a scatter's update, of which *gradient is what the result has in its places. */
static nd4c_status by_reduction(nd4c_emitter *e, int64_t reduction, nd4c_emitted *gradient) {
  return reduction == ND4C_SCATTER_REDUCTION_ADD ? ND4C_OK
         : reduction == ND4C_SCATTER_REDUCTION_SUBTRACT
             ? nd4c_emit_unary(e, ND4C_OP_negative, *gradient, gradient)
             : nd4c_fail(ND4C_UNSUPPORTED,
                         "of the reductions of a scatter only none, add and subtract have a gradient");
}

ND4C_GRADIENT(added_elements) {
  const nd4c_emitted inputs[] = {step->given, step->inputs[1]};
  const nd4c_attr along = nd4c_attr_of_int("axis", step->attrs[ND4C_ATTR_scatter_elements_axis].as.i);
  const int64_t reduction = step->attrs[ND4C_ATTR_scatter_elements_reduction].as.i;
  const nd4c_emitted_info places = nd4c_emitted_get(e, step->inputs[2]);
  ND4C_TRY(refuse_index(index, 1));
  if (reduction == ND4C_SCATTER_REDUCTION_NONE) {
    return nd4c_gradient_replace(e, step, ND4C_OP_scatter_elements, index, &places, gradient);
  }
  ND4C_TRY(nd4c_emit(e, ND4C_OP_gather_elements, inputs, 2, &along, 1, gradient));
  ND4C_TRY(by_reduction(e, reduction, gradient));
  *gradient = index == 0 ? step->given : *gradient;
  return ND4C_OK;
}

ND4C_GRADIENT(added_at_positions) {
  const int64_t reduction = step->attrs[ND4C_ATTR_scatter_nd_reduction].as.i;
  const nd4c_emitted_info places = nd4c_emitted_get(e, step->inputs[2]);
  ND4C_TRY(refuse_index(index, 1));
  if (reduction == ND4C_SCATTER_REDUCTION_NONE) {
    return nd4c_gradient_replace(e, step, ND4C_OP_scatter_nd, index, &places, gradient);
  }
  BINARY(gather_nd, step->given, step->inputs[1], gradient);
  ND4C_TRY(by_reduction(e, reduction, gradient));
  *gradient = index == 0 ? step->given : *gradient;
  return ND4C_OK;
}

/* Each slice has the gradient of its segment's sum. */
ND4C_GRADIENT(segment_sums) {
  const nd4c_emitted inputs[] = {step->given, step->inputs[1]};
  const nd4c_attr along = nd4c_attr_of_int("axis", 0);
  ND4C_TRY(refuse_index(index, 1));
  return nd4c_emit(e, ND4C_OP_gather, inputs, 2, &along, 1, gradient);
}

const nd4c_gradient_row nd4c_gradient_picks[] = {ND4C_GRADIENT_PICKS(ROW){ND4C_OP_NONE, NULL}};
