/* Rules for the gradients of ops that replace elements by indices. gradient.c looks rules up in this list; picks.c has
 * those of scatters that combine elements. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

/* 0, 1, ... in a shape of so many elements */
static nd4c_status number_places(nd4c_emitter *e, const nd4c_emitted_info *places, int64_t count, nd4c_emitted *y) {
  const nd4c_attr attrs[] = {nd4c_attr_of_int("axis", 0), nd4c_attr_of_bool("exclusive", true)};
  nd4c_emitted ones = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_full(e, ND4C_INT64, 1, 1, &count, &ones));
  ND4C_TRY(nd4c_emit(e, ND4C_OP_cumulative_sum, &ones, 1, attrs, 2, y));
  return nd4c_emit_reshape(e, *y, places->rank, places->shape, y);
}

/* The op puts the updates' numbers where it puts the updates, so that of several for one element the same one wins. g
 * is added to each number's place; what no update has replaced goes to one place more. */
static nd4c_status give_updates(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_op op,
                                const nd4c_emitted_info *places, nd4c_emitted *gradient) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->given);
  const int64_t count = nd4c_gradient_join_extents(places->shape, places->rank), more = count + 1,
                size = nd4c_gradient_join_extents(info.shape, info.rank);
  const nd4c_attr along = nd4c_attr_of_int("axis", 0);
  nd4c_emitted inputs[] = {ND4C_EMITTED_NONE, step->inputs[1], ND4C_EMITTED_NONE};
  if (count < 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of updates that replace elements needs numbers as their extents");
  }
  if (count == 0) {
    return nd4c_emit_full(e, info.dtype, 0, places->rank, places->shape, gradient);
  }
  ND4C_TRY(nd4c_emit_full(e, ND4C_INT64, (double)count, info.rank, info.shape, &inputs[0]));
  ND4C_TRY(number_places(e, places, count, &inputs[2]));
  ND4C_TRY(nd4c_gradient_emit_alike(e, step, op, inputs, 3, &inputs[1]));
  ND4C_TRY(nd4c_emit_reshape(e, inputs[1], 1, &size, &inputs[1]));
  ND4C_TRY(nd4c_emit_reshape(e, step->given, 1, &size, &inputs[2]));
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, 1, &more, &inputs[0]));
  ND4C_TRY(nd4c_emit(e, ND4C_OP_scatter_add, inputs, 3, &along, 1, gradient));
  ND4C_TRY(nd4c_emit_slice(e, *gradient, 0, 0, count, 1, gradient));
  return nd4c_emit_reshape(e, *gradient, places->rank, places->shape, gradient);
}

nd4c_status nd4c_gradient_replace(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_op op, int32_t index,
                                  const nd4c_emitted_info *places, nd4c_emitted *gradient) {
  nd4c_emitted inputs[] = {step->given, step->inputs[1], ND4C_EMITTED_NONE};
  if (index == 1) {
    return nd4c_fail(ND4C_UNSUPPORTED, "indices have no gradient");
  }
  if (index == 2) {
    return give_updates(e, step, op, places, gradient);
  }
  ND4C_TRY(nd4c_emit_full(e, places->dtype, 0, places->rank, places->shape, &inputs[2]));
  return nd4c_gradient_emit_alike(e, step, op, inputs, 3, gradient);
}

/* Indices and values are broadcast to the places: x's shape, but along the axis. */
ND4C_GRADIENT(put) {
  const int64_t named = step->attrs[ND4C_ATTR_put_along_axis_axis].as.i;
  const nd4c_emitted_info indices = nd4c_emitted_get(e, step->inputs[1]);
  nd4c_emitted_info places = nd4c_emitted_get(e, step->inputs[0]);
  const int32_t axis = (int32_t)(named < 0 ? named + places.rank : named);
  places.shape[axis] = indices.shape[axis];
  return nd4c_gradient_replace(e, step, ND4C_OP_put_along_axis, index, &places, gradient);
}

ND4C_GRADIENT(updated) {
  const nd4c_emitted_info places = nd4c_emitted_get(e, step->inputs[2]);
  return nd4c_gradient_replace(e, step, ND4C_OP_scatter_update, index, &places, gradient);
}

const nd4c_gradient_row nd4c_gradient_replacements[] = {ND4C_GRADIENT_REPLACEMENTS(ROW){ND4C_OP_NONE, NULL}};
