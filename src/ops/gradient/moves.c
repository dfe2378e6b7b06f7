/* Rules for the gradients of ops that stack, repeat, roll, turn and window arrays, and of diagonals and triangles.
 * gradient.c looks rules up in this list. */
#include "base/alloc.h"
#include "base/status.h"
#include "device/device.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

static int32_t axis_from(int64_t axis, int32_t rank) {
  return (int32_t)(axis < 0 ? axis + rank : axis);
}

enum { MOST_ATTRS = 8 };

nd4c_status nd4c_gradient_emit_alike(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_op op,
                                     const nd4c_emitted *inputs, int32_t input_count, nd4c_emitted *y) {
  const nd4c_op_info *schema = &nd4c_op_get_def(op)->info;
  nd4c_attr attrs[MOST_ATTRS];
  if (schema->attr_count > MOST_ATTRS) {
    return nd4c_fail(ND4C_INTERNAL, "the gradient of %s has room for %d attributes", schema->name, (int)MOST_ATTRS);
  }
  for (int32_t i = 0; i < schema->attr_count; i++) {
    attrs[i] = (nd4c_attr){schema->attrs[i].name, step->attrs[i]};
  }
  return nd4c_emit(e, op, inputs, input_count, attrs, schema->attr_count, y);
}

/* The same on `first` in place of the first input. */
static nd4c_status emit_alike(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_op op, nd4c_emitted first,
                              nd4c_emitted *y) {
  nd4c_emitted inputs[ND4C_GRADIENT_INPUTS] = {first};
  for (int32_t i = 1; i < step->input_count; i++) {
    inputs[i] = step->inputs[i];
  }
  return nd4c_gradient_emit_alike(e, step, op, inputs, step->input_count, y);
}

/* -- any movement -------------------------------------------------------------------------------------------------- */

/* 0, 1, ... as a constant in a shape */
static nd4c_status number_elements(nd4c_emitter *e, const nd4c_emitted_info *info, int64_t count, nd4c_emitted *y) {
  int64_t *numbers = NULL;
  nd4c_array *array = NULL;
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count + 1, sizeof *numbers, "positions of elements", &numbers));
  for (int64_t i = 0; i < count; i++) {
    numbers[i] = i;
  }
  const nd4c_status status = nd4c_array_from_data(ND4C_INT64, info->rank, info->shape, numbers, host, &array);
  nd4c_deallocate(numbers);
  return status == ND4C_OK ? nd4c_emit_constant(e, array, y) : status;
}

/* The op moves the numbers of x's elements as it moves the elements; g is added where each came from. */
nd4c_status nd4c_gradient_move_back(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_op op,
                                    nd4c_emitted *gradient) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]), given = nd4c_emitted_get(e, step->given);
  const int64_t count = nd4c_gradient_join_extents(info.shape, info.rank),
                moved_count = nd4c_gradient_join_extents(given.shape, given.rank);
  const nd4c_attr along = nd4c_attr_of_int("axis", 0);
  nd4c_emitted numbers, scattered[3];
  if (count < 0 || moved_count < 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient needs numbers as extents");
  }
  ND4C_TRY(number_elements(e, &info, count, &numbers));
  ND4C_TRY(emit_alike(e, step, op, numbers, &scattered[1]));
  ND4C_TRY(nd4c_emit_reshape(e, scattered[1], 1, &moved_count, &scattered[1]));
  ND4C_TRY(nd4c_emit_reshape(e, step->given, 1, &moved_count, &scattered[2]));
  ND4C_TRY(nd4c_emit_full(e, given.dtype, 0, 1, &count, &scattered[0]));
  ND4C_TRY(nd4c_emit(e, ND4C_OP_scatter_add, scattered, 3, &along, 1, gradient));
  return nd4c_emit_reshape(e, *gradient, info.rank, info.shape, gradient);
}

ND4C_GRADIENT(windows) {
  (void)index;
  return nd4c_gradient_move_back(e, step, ND4C_OP_sliding_window_view, gradient);
}

ND4C_GRADIENT(unfolded) {
  (void)index;
  return nd4c_gradient_move_back(e, step, ND4C_OP_unfold, gradient);
}

/* -- there and back ------------------------------------------------------------------------------------------------ */

#define AGAIN(rule, op)                                              \
  ND4C_GRADIENT(rule) {                                              \
    (void)index;                                                     \
    return emit_alike(e, step, ND4C_OP_##op, step->given, gradient); \
  }
AGAIN(flipped, flip)
AGAIN(swapped, swapaxes)
AGAIN(turned, matrix_transpose)
AGAIN(to_depth, depth_to_space)
AGAIN(to_space, space_to_depth)
AGAIN(reversed, reverse_sequence)
AGAIN(lower_triangle, tril)
AGAIN(upper_triangle, triu)
AGAIN(band, matrix_band_part)
AGAIN(embedded_diagonal, diagonal)

ND4C_GRADIENT(with_axes_in_front) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  (void)index;
  return nd4c_emit_reshape(e, step->given, info.rank, info.shape, gradient);
}

ND4C_GRADIENT(moved_axes) {
  const nd4c_attr attrs[] = {{"source", step->attrs[ND4C_ATTR_moveaxis_destination]},
                             {"destination", step->attrs[ND4C_ATTR_moveaxis_source]}};
  (void)index;
  return nd4c_emit(e, ND4C_OP_moveaxis, &step->given, 1, attrs, 2, gradient);
}

ND4C_GRADIENT(rolled) {
  const nd4c_attr_value *shifts = &step->attrs[ND4C_ATTR_roll_shifts];
  int64_t back[ND4C_MAX_RANK];
  (void)index;
  if (shifts->count > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient takes at most %d shifts", ND4C_MAX_RANK);
  }
  for (int32_t i = 0; i < shifts->count; i++) {
    if (nd4c_extent_is_symbolic(shifts->as.ints[i]) || shifts->as.ints[i] == INT64_MIN) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient needs numbers as shifts, above the least of int64");
    }
    back[i] = -shifts->as.ints[i];
  }
  const nd4c_attr attrs[] = {nd4c_attr_of_ints("shifts", back, shifts->count),
                             {"axes", step->attrs[ND4C_ATTR_roll_axes]}};
  return nd4c_emit(e, ND4C_OP_roll, &step->given, 1, attrs, 2, gradient);
}

/* -- slices -------------------------------------------------------------------------------------------------------- */

ND4C_GRADIENT(stacked) {
  const int64_t axis = step->attrs[ND4C_ATTR_stack_axis].as.i;
  const nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_int("index", index)};
  return nd4c_emit(e, ND4C_OP_select, &step->given, 1, attrs, 2, gradient);
}

/* Zeros around g along axes; negative numbers cut off. */
static nd4c_status pad_axes(nd4c_emitter *e, nd4c_emitted given, int32_t count, const int64_t *axes,
                            const int64_t *pads, nd4c_emitted *y) {
  const nd4c_attr attrs[] = {nd4c_attr_of_ints("pads", pads, 2 * count), nd4c_attr_of_ints("axes", axes, count)};
  return nd4c_emit(e, ND4C_OP_pad, &given, 1, attrs, 2, y);
}

ND4C_GRADIENT(selected) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  const int64_t axis = axis_from(step->attrs[ND4C_ATTR_select_axis].as.i, info.rank), extent = info.shape[axis];
  const int64_t place = step->attrs[ND4C_ATTR_select_index].as.i;
  (void)index;
  if (nd4c_extent_is_symbolic(extent)) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a slice needs a number along its axis");
  }
  const int64_t before = place < 0 ? place + extent : place, pads[] = {before, extent - 1 - before};
  ND4C_TRY(nd4c_emit_axes(e, ND4C_OP_expand_dims, step->given, 1, &axis, gradient));
  return pad_axes(e, *gradient, 1, &axis, pads, gradient);
}

/* -- repetitions --------------------------------------------------------------------------------------------------- */

/* Sums what was repeated: each axis i of g becomes two, times[i] and extents[i], if it was repeated; of these times is
 * the first if `outer`. */
static nd4c_status fold(nd4c_emitter *e, nd4c_emitted given, int32_t rank, const int64_t *extents, const int64_t *times,
                        bool outer, nd4c_emitted *gradient) {
  int64_t shape[2 * ND4C_MAX_RANK], summed[ND4C_MAX_RANK];
  int32_t count = 0, summed_count = 0;
  for (int32_t i = 0; i < rank; i++) {
    if (times[i] != 1 && outer) {
      summed[summed_count++] = count;
      shape[count++] = times[i];
    }
    shape[count++] = extents[i];
    if (times[i] != 1 && !outer) {
      summed[summed_count++] = count;
      shape[count++] = times[i];
    }
  }
  if (count > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient needs an axis more for each axis that is repeated");
  }
  ND4C_TRY(nd4c_emit_reshape(e, given, count, shape, gradient));
  return summed_count == 0 ? ND4C_OK
                           : nd4c_emit_reduce(e, ND4C_OP_sum, *gradient, summed_count, summed, false, gradient);
}

ND4C_GRADIENT(tiled) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  const nd4c_attr_value *repeats = &step->attrs[ND4C_ATTR_tile_repeats];
  const int32_t rank = nd4c_emitted_get(e, step->given).rank;
  int64_t extents[ND4C_MAX_RANK], times[ND4C_MAX_RANK];
  (void)index;
  for (int32_t i = 0; i < rank; i++) {
    const int32_t own = i - (rank - info.rank), named = i - (rank - repeats->count);
    extents[i] = own < 0 ? 1 : info.shape[own];
    times[i] = named < 0 ? 1 : repeats->as.ints[named];
  }
  ND4C_TRY(fold(e, step->given, rank, extents, times, true, gradient));
  return nd4c_emit_reshape(e, *gradient, info.rank, info.shape, gradient);
}

ND4C_GRADIENT(repeated) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  const nd4c_attr_value *repeats = &step->attrs[ND4C_ATTR_repeat_repeats], *axes = &step->attrs[ND4C_ATTR_repeat_axes];
  const bool counted = nd4c_gradient_input(step, ND4C_IN_repeat_counts) != ND4C_EMITTED_NONE;
  int64_t times[ND4C_MAX_RANK];
  if (index != 0 || counted || repeats->count != 1) {
    return nd4c_gradient_move_back(e, step, ND4C_OP_repeat, gradient);
  }
  for (int32_t i = 0; i < info.rank; i++) {
    times[i] = axes->count > 0 && axis_from(axes->as.ints[0], info.rank) == i ? repeats->as.ints[0] : 1;
  }
  if (axes->count > 0) {
    return fold(e, step->given, info.rank, info.shape, times, false, gradient);
  }
  const int64_t flat = nd4c_gradient_join_extents(info.shape, info.rank);
  ND4C_TRY(fold(e, step->given, 1, &flat, repeats->as.ints, false, gradient));
  return nd4c_emit_reshape(e, *gradient, info.rank, info.shape, gradient);
}

/* -- diagonals ----------------------------------------------------------------------------------------------------- */

/* g on the diagonal of two axes of x, zeros elsewhere */
static nd4c_status embed(nd4c_emitter *e, const nd4c_emitted_info *x, int64_t offset, int64_t axis1, int64_t axis2,
                         nd4c_emitted *gradient) {
  const int64_t axes[] = {axis_from(axis1, x->rank), axis_from(axis2, x->rank)};
  const nd4c_attr attrs[] = {nd4c_attr_of_int("offset", offset), nd4c_attr_of_int("axis1", axes[0]),
                             nd4c_attr_of_int("axis2", axes[1])};
  ND4C_TRY(nd4c_emit(e, ND4C_OP_diag_embed, gradient, 1, attrs, 3, gradient));
  const nd4c_emitted_info made = nd4c_emitted_get(e, *gradient); /* square */
  const int64_t pads[] = {0, 0, x->shape[axes[0]] - made.shape[axes[0]], x->shape[axes[1]] - made.shape[axes[1]]};
  return pad_axes(e, *gradient, 2, axes, pads, gradient);
}

/* How many elements diagonal `offset` of rows and columns has; UNSUPPORTED if it depends on dims. */
static nd4c_status measure_diagonal(const nd4c_emitted_info *x, int64_t offset, int64_t axis1, int64_t axis2,
                                    int64_t *length) {
  int64_t rows = x->shape[axis_from(axis1, x->rank)], columns = x->shape[axis_from(axis2, x->rank)];
  if (nd4c_extent_is_symbolic(rows) || nd4c_extent_is_symbolic(columns)) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a diagonal needs numbers along its axes");
  }
  rows -= offset < 0 ? (-offset < rows ? -offset : rows) : 0;
  columns -= offset > 0 ? (offset < columns ? offset : columns) : 0;
  *length = rows < columns ? rows : columns;
  return ND4C_OK;
}

/* g at the elements of a diagonal of x; a diagonal without elements gives zeros. */
static nd4c_status put_on_diagonal(nd4c_emitter *e, nd4c_emitted x, int64_t offset, int64_t axis1, int64_t axis2,
                                   nd4c_emitted *gradient) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  int64_t length = 0;
  ND4C_TRY(measure_diagonal(&info, offset, axis1, axis2, &length));
  return length == 0 ? nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, gradient)
                     : embed(e, &info, offset, axis1, axis2, gradient);
}

ND4C_GRADIENT(diagonal) {
  (void)index;
  *gradient = step->given;
  return put_on_diagonal(e, step->inputs[0], step->attrs[ND4C_ATTR_diagonal_offset].as.i,
                         step->attrs[ND4C_ATTR_diagonal_axis1].as.i, step->attrs[ND4C_ATTR_diagonal_axis2].as.i,
                         gradient);
}

ND4C_GRADIENT(trace) {
  const int64_t offset = step->attrs[ND4C_ATTR_trace_offset].as.i, axis1 = step->attrs[ND4C_ATTR_trace_axis1].as.i,
                axis2 = step->attrs[ND4C_ATTR_trace_axis2].as.i, last = -1;
  const nd4c_emitted_info x = nd4c_emitted_get(e, step->inputs[0]);
  nd4c_emitted_info spread = nd4c_emitted_get(e, step->given);
  (void)index;
  ND4C_TRY(measure_diagonal(&x, offset, axis1, axis2, &spread.shape[spread.rank]));
  ND4C_TRY(nd4c_emit_axes(e, ND4C_OP_expand_dims, step->given, 1, &last, gradient));
  ND4C_TRY(nd4c_emit_broadcast(e, *gradient, spread.rank + 1, spread.shape, gradient));
  return put_on_diagonal(e, step->inputs[0], offset, axis1, axis2, gradient);
}

ND4C_GRADIENT(diag) {
  const int64_t k = step->attrs[ND4C_ATTR_diag_k].as.i;
  (void)index;
  *gradient = step->given;
  return nd4c_emitted_get(e, step->inputs[0]).rank == 1 ? emit_alike(e, step, ND4C_OP_diag, step->given, gradient)
                                                        : put_on_diagonal(e, step->inputs[0], k, 0, 1, gradient);
}

/* Zeros in place of what was replaced, and g's diagonal. */
ND4C_GRADIENT(replaced_diagonal) {
  const int64_t k = step->attrs[ND4C_ATTR_matrix_set_diag_k].as.i;
  const nd4c_attr offset = nd4c_attr_of_int("offset", k), at = nd4c_attr_of_int("k", k);
  if (index == 1) {
    return nd4c_emit(e, ND4C_OP_diagonal, &step->given, 1, &offset, 1, gradient);
  }
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[1]);
  nd4c_emitted inputs[2] = {step->given, ND4C_EMITTED_NONE};
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, &inputs[1]));
  return nd4c_emit(e, ND4C_OP_matrix_set_diag, inputs, 2, &at, 1, gradient);
}

/* -- columns of windows -------------------------------------------------------------------------------------------- */

ND4C_GRADIENT(to_columns) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  (void)index;
  for (int32_t i = 2; i < info.rank; i++) {
    if (nd4c_extent_is_symbolic(info.shape[i])) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient needs numbers as spatial extents");
    }
  }
  const nd4c_attr attrs[] = {{"kernel", step->attrs[ND4C_ATTR_im2col_kernel]},
                             {"strides", step->attrs[ND4C_ATTR_im2col_strides]},
                             {"pads", step->attrs[ND4C_ATTR_im2col_pads]},
                             {"dilations", step->attrs[ND4C_ATTR_im2col_dilations]},
                             nd4c_attr_of_ints("image", &info.shape[2], info.rank - 2)};
  return nd4c_emit(e, ND4C_OP_col2im, &step->given, 1, attrs, 5, gradient);
}

ND4C_GRADIENT(to_image) {
  const nd4c_attr attrs[] = {{"kernel", step->attrs[ND4C_ATTR_col2im_kernel]},
                             {"strides", step->attrs[ND4C_ATTR_col2im_strides]},
                             {"pads", step->attrs[ND4C_ATTR_col2im_pads]},
                             {"dilations", step->attrs[ND4C_ATTR_col2im_dilations]}};
  (void)index;
  return nd4c_emit(e, ND4C_OP_im2col, &step->given, 1, attrs, 4, gradient);
}

const nd4c_gradient_row nd4c_gradient_moves[] = {ND4C_GRADIENT_MOVES(ROW){ND4C_OP_NONE, NULL}};
