/* Elements where a mask is true, or that are not zero. The device counts them, and only that number is read back.
 * dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <string.h>

#include "backends/opencl/support/ordering.h"

static nd4c_status masked_fill(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *mask = &call->inputs[1], *value = &call->inputs[2], *y = &call->outputs[0];
  const nd4c_tensor *const walked[] = {x, mask, value, y};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_tensors(step, &walk, y->rank, y->shape, 4, walked));
  return ND4C_CL_STEP_UNITS(step, "places+move", "masked_fill", y->dtype, walk.size, ND4C_CL_IN(x), ND4C_CL_IN(mask),
                            ND4C_CL_IN(value), ND4C_CL_OUT(y), ND4C_CL_VALUE(walk));
}

/* -- choosing ------------------------------------------------------------------------------------------------------ */

/* The places where x is not zero, in the order of a shape to which it is broadcast. `total`: how many. */
static nd4c_status choose(const nd4c_cl_step *step, const nd4c_tensor *x, int32_t rank, const int64_t *shape,
                          nd4c_cl_selection *selection, int64_t *total) {
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_tensors(step, &walk, rank, shape, 1, &x));
  int64_t words = nd4c_cl_selection_make(selection, 0, walk.size);
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_sorting_check(step, walk.size, words * ND4C_CL_WORD);
  }
  ND4C_BACKEND_TRY(nd4c_cl_make_flags(step->call, x, &walk, selection->flags));
  return nd4c_cl_select(step->call, selection, total);
}

static int64_t scratch_for(int64_t count) {
  nd4c_cl_selection selection;
  return nd4c_cl_selection_make(&selection, 0, count) * ND4C_CL_WORD;
}

static int64_t input_scratch(const nd4c_call *call) {
  return scratch_for(call->inputs[0].size);
}

static int64_t mask_scratch(const nd4c_call *call) {
  return scratch_for(call->inputs[1].size);
}

static int64_t output_scratch(const nd4c_call *call) {
  return scratch_for(call->outputs[0].size);
}

static nd4c_status mask_slices(const nd4c_cl_step *step, int32_t axis) {
  const nd4c_tensor *x = &step->call->inputs[0], *mask = &step->call->inputs[1];
  nd4c_cl_selection selection;
  int64_t total = mask->size;
  ND4C_BACKEND_TRY(choose(step, mask, mask->rank, mask->shape, &selection, &total));
  return nd4c_cl_take_slices(step, x, axis, mask->rank, selection.chosen, total);
}

static nd4c_status compress(const nd4c_cl_step *step) {
  const nd4c_attr_value *axes = &step->call->attrs[ND4C_ATTR_compress_axes];
  const nd4c_tensor *x = &step->call->inputs[0], *condition = &step->call->inputs[1];
  nd4c_cl_selection selection;
  int64_t total = condition->size;
  if (axes->count > 0) {
    return mask_slices(step, nd4c_axis(axes->as.ints[0], x->rank));
  }
  ND4C_BACKEND_TRY(choose(step, condition, condition->rank, condition->shape, &selection, &total));
  return nd4c_cl_take_slices(step, x, 0, x->rank, selection.chosen, total);
}

static int32_t common_shape(const nd4c_tensor *x, const nd4c_tensor *mask, int64_t *shape) {
  int32_t rank = x->rank > mask->rank ? x->rank : mask->rank;
  for (int32_t i = 0; i < rank; i++) {
    int32_t a = i - (rank - x->rank), b = i - (rank - mask->rank);
    shape[i] = a >= 0 && (b < 0 || x->shape[a] != 1) ? x->shape[a] : mask->shape[b];
  }
  return rank;
}

static nd4c_status masked_select(const nd4c_cl_step *step) {
  const nd4c_tensor *x = &step->call->inputs[0], *mask = &step->call->inputs[1];
  int64_t shape[ND4C_CL_MAX_RANK], strides[ND4C_CL_MAX_RANK], total = 1;
  nd4c_tensor stretched = *x;
  nd4c_cl_selection selection;
  stretched.rank = common_shape(x, mask, shape);
  stretched.shape = shape;
  stretched.strides = strides;
  nd4c_cl_broadcast_strides(x, stretched.rank, shape, strides);
  ND4C_BACKEND_TRY(choose(step, mask, stretched.rank, shape, &selection, &total));
  return nd4c_cl_take_slices(step, &stretched, 0, stretched.rank, selection.chosen, total);
}

/* Writes the values, in order, to the places where the mask is true. The number of places is known only on the device,
 * so it is read back and checked before anything is written. */
static nd4c_status masked_scatter(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *mask = &call->inputs[1], *source = &call->inputs[2], *y = &call->outputs[0];
  int64_t none[ND4C_CL_MAX_RANK] = {0}, number[ND4C_CL_MAX_RANK], total = 0;
  const int64_t *strides[3] = {none, source->strides, number};
  nd4c_cl_selection selection;
  nd4c_cl_walk walk, places;
  nd4c_dense_strides(source->rank, source->shape, number);
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, source->rank, source->shape, 3, strides));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &places, y));
  ND4C_BACKEND_TRY(choose(step, mask, y->rank, y->shape, &selection, &total));
  if (total > source->size) {
    return nd4c_cl_host->fail(ND4C_SHAPE,
                              "masked_scatter: value has %lld elements, expected at least %lld: so many "
                              "are true in mask",
                              (long long)source->size, (long long)total);
  }
  ND4C_BACKEND_TRY(nd4c_cl_copy(step, &call->inputs[0], y));
  return nd4c_cl_is_dry(step) ? ND4C_OK
                              : nd4c_cl_move_chosen(call, y, source, selection.chosen, &walk, &places, true, total);
}

/* -- positions ----------------------------------------------------------------------------------------------------- */

static nd4c_status positions(const nd4c_cl_step *step, bool by_row) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_cl_selection selection;
  nd4c_cl_walk shape = {.size = x->size, .rank = x->rank};
  int64_t total = 0;
  if (x->rank > ND4C_CL_RANK) {
    return nd4c_cl_step_refuse(step, "positions of more than %d numbers", (int)ND4C_CL_RANK);
  }
  ND4C_BACKEND_TRY(choose(step, x, x->rank, x->shape, &selection, &total));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  memcpy(shape.shape, x->shape, (size_t)x->rank * sizeof *shape.shape);
  if (x->rank == 0 && !by_row) { /* counts as one axis */
    shape.rank = 1;
    shape.shape[0] = 1;
  }
  call->true_shapes[0][0] = by_row ? total : shape.rank;
  call->true_shapes[0][1] = by_row ? shape.rank : total;
  return ND4C_CL_RUN_ORDER(call, "write_positions", shape.rank > 0 ? total : 0, ND4C_CL_LONG(selection.chosen, total),
                           ND4C_CL_VALUE(shape), ND4C_CL_INT(by_row), ND4C_CL_OUT(&call->outputs[0]));
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define OPS(X)                                                                                            \
  X(masked_fill, ND4C_CL_MOVABLE, masked_fill(step), NULL)                                                \
  X(masked_select, ND4C_CL_MOVABLE, masked_select(step), output_scratch)                                  \
  X(masked_scatter, ND4C_CL_MOVABLE, masked_scatter(step), input_scratch)                                 \
  X(boolean_mask, ND4C_CL_MOVABLE,                                                                        \
    mask_slices(step, nd4c_axis(ND4C_INT_OF(step->call, boolean_mask_axis), step->call->inputs[0].rank)), \
    mask_scratch)                                                                                         \
  X(compress, ND4C_CL_MOVABLE, compress(step), mask_scratch)                                              \
  X(nonzero, ND4C_CL_ALL, positions(step, false), input_scratch)                                          \
  X(argwhere, ND4C_CL_ALL, positions(step, true), input_scratch)
OPS(ND4C_CL_STEP_KERNEL)

const nd4c_kernel *const nd4c_cl_indexing_masks_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
