/* Engine reference: picks and places elements at indices, and where a mask is true. dispatch/choice.c asks these
 * kernels last, after those of all other engines. Its checks of indices serve engine simd, too (support/moving.h). */
#include "kernels/reference/indexing/indexing.h"

#include "backends/cpu/support/moving.h"
#include "kernels/reference/support/numbers.h"

/* -- indices out of range ------------------------------------------------------------------------------------------ */

nd4c_status nd4c_cpu_index_fail(const nd4c_call *call, int32_t input, int64_t flat, int64_t value, int32_t axis,
                                int64_t extent) {
  const nd4c_tensor *indices = &call->inputs[input];
  char place[256];
  size_t length = 0;
  int64_t position[ND4C_CPU_MAX_RANK];
  for (int32_t i = indices->rank - 1; i >= 0; i--) {
    position[i] = flat % indices->shape[i];
    flat /= indices->shape[i];
  }
  place[0] = '\0';
  for (int32_t i = 0; i < indices->rank && length < sizeof place; i++) {
    length +=
        (size_t)snprintf(place + length, sizeof place - length, i > 0 ? ", %lld" : "%lld", (long long)position[i]);
  }
  return nd4c_cpu_host->fail(ND4C_INDEX,
                             "%s: %s[%s] is %lld, out of range for axis %d of length %lld: expected %lld to %lld",
                             call->op->name, call->op->inputs[input].name, place, (long long)value, (int)axis,
                             (long long)extent, (long long)-extent, (long long)(extent - 1));
}

nd4c_status nd4c_cpu_check_indices(const nd4c_call *call, int32_t input, int32_t axis, int64_t extent) {
  nd4c_ref_tensor indices = nd4c_cpu_ref_input(call, input);
  int64_t flat, value;
  if (nd4c_ref_find_bad_index(&indices, extent, &flat, &value)) {
    return nd4c_cpu_index_fail(call, input, flat, value, axis, extent);
  }
  return ND4C_OK;
}

/* -- picking ------------------------------------------------------------------------------------------------------- */

/* x as a tensor of one axis; false if x is not contiguous. */
static bool flatten(const nd4c_tensor *x, nd4c_ref_tensor *flat) {
  static const int64_t one = 1;
  *flat = (nd4c_ref_tensor){x->dtype, 1, &x->size, &one, x->data};
  return (x->flags & ND4C_TENSOR_CONTIGUOUS) != 0;
}

static nd4c_status take_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_take_axes];
  nd4c_ref_slices args = {.whole = nd4c_cpu_ref_tensor(x),
                          .indices = nd4c_cpu_ref_input(call, 1),
                          .part = nd4c_cpu_ref_output(call, 0),
                          .mode = (nd4c_ref_index_mode)ND4C_INT_OF(call, take_mode)};
  args.axis = axes->count == 0 ? 0 : nd4c_axis(axes->as.ints[0], x->rank);
  if (args.mode == ND4C_REF_RAISE) {
    ND4C_BACKEND_TRY(nd4c_cpu_check_indices(call, 1, args.axis, axes->count == 0 ? x->size : x->shape[args.axis]));
  }
  if (axes->count == 0 && !flatten(x, &args.whole)) {
    nd4c_ref_tensor whole = nd4c_cpu_ref_tensor(x);
    nd4c_ref_take_flat(&whole, &args.indices, args.mode, &args.part);
    return ND4C_OK;
  }
  nd4c_ref_move_slices(&args);
  return ND4C_OK;
}

static nd4c_status embedding_lookup_run(const nd4c_call *call) {
  nd4c_ref_slices args = {.whole = nd4c_cpu_ref_input(call, 0),
                          .indices = nd4c_cpu_ref_input(call, 1),
                          .part = nd4c_cpu_ref_output(call, 0)};
  ND4C_BACKEND_TRY(nd4c_cpu_check_indices(call, 1, 0, args.whole.shape[0]));
  nd4c_ref_move_slices(&args);
  return ND4C_OK;
}

static nd4c_status pick_elements(const nd4c_call *call, int64_t axis) {
  nd4c_ref_elements args = {.whole = nd4c_cpu_ref_input(call, 0),
                            .indices = nd4c_cpu_ref_input(call, 1),
                            .part = nd4c_cpu_ref_output(call, 0),
                            .axis = nd4c_axis(axis, call->inputs[0].rank),
                            .shape = call->outputs[0].shape};
  ND4C_BACKEND_TRY(nd4c_cpu_check_indices(call, 1, args.axis, args.whole.shape[args.axis]));
  nd4c_ref_move_elements(&args);
  return ND4C_OK;
}

const int64_t *nd4c_cpu_integers(const nd4c_tensor *x, int64_t *room) {
  if (x->dtype == ND4C_INT64 && nd4c_in_c_order(x)) {
    return x->data;
  }
  const nd4c_ref_tensor from = nd4c_cpu_ref_tensor(x);
  nd4c_ref_integers_load(&from, room);
  return room;
}

nd4c_status nd4c_cpu_check_positions(const nd4c_call *call, const nd4c_ref_positions *args) {
  int64_t flat, value;
  if (nd4c_ref_find_bad_position(args, &flat, &value)) {
    int32_t axis = args->batch + (int32_t)(flat % args->length);
    return nd4c_cpu_index_fail(call, 1, flat, value, axis, args->whole.shape[axis]);
  }
  return ND4C_OK;
}

static nd4c_status gather_nd_run(const nd4c_call *call) {
  const nd4c_tensor *indices = &call->inputs[1];
  nd4c_ref_positions args = {.whole = nd4c_cpu_ref_input(call, 0),
                             .indices = nd4c_cpu_ref_tensor(indices),
                             .part = nd4c_cpu_ref_output(call, 0),
                             .batch = (int32_t)ND4C_INT_OF(call, gather_nd_batch_dims),
                             .length = (int32_t)indices->shape[indices->rank - 1]};
  ND4C_BACKEND_TRY(nd4c_cpu_check_positions(call, &args));
  nd4c_ref_move_positions(&args);
  return ND4C_OK;
}

/* -- placing ------------------------------------------------------------------------------------------------------- */

/* Copies x to y, to which updates are then applied. In place both are the same view, and nothing is copied. */
static nd4c_ref_tensor begin_with_x(const nd4c_call *call) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  if (x.data != y.data) {
    nd4c_ref_copy(&x, &y);
  }
  return y;
}

static nd4c_status place_elements(const nd4c_call *call, int64_t axis, const int64_t *shape, int64_t reduction) {
  nd4c_ref_elements args = {.indices = nd4c_cpu_ref_input(call, 1),
                            .part = nd4c_cpu_ref_input(call, 2),
                            .axis = nd4c_axis(axis, call->inputs[0].rank),
                            .shape = shape,
                            .to_whole = true,
                            .row = nd4c_ref_combine_row(reduction, call->inputs[0].dtype)};
  ND4C_BACKEND_TRY(nd4c_cpu_check_indices(call, 1, args.axis, call->inputs[0].shape[args.axis]));
  args.whole = begin_with_x(call);
  nd4c_ref_move_elements(&args);
  return ND4C_OK;
}

/* Values may have fewer axes: they are aligned at the last one. */
static nd4c_status put_along_axis_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *indices = &call->inputs[1], *values = &call->inputs[2];
  int64_t axis = nd4c_axis(ND4C_INT_OF(call, put_along_axis_axis), x->rank);
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = i == axis ? indices->shape[i] : x->shape[i];
  }
  nd4c_tensor places = {.rank = x->rank, .shape = shape}, aligned = *values;
  nd4c_cpu_broadcast_strides(values, &places, strides);
  aligned.rank = x->rank;
  aligned.shape = shape;
  aligned.strides = strides;
  nd4c_tensor inputs[3] = {*x, *indices, aligned};
  nd4c_call same = *call;
  same.inputs = inputs;
  return place_elements(&same, axis, shape, ND4C_SCATTER_REDUCTION_NONE);
}

static nd4c_status scatter_nd_run(const nd4c_call *call) {
  const nd4c_tensor *indices = &call->inputs[1];
  nd4c_ref_positions args = {
      .whole = nd4c_cpu_ref_output(call, 0),
      .indices = nd4c_cpu_ref_tensor(indices),
      .part = nd4c_cpu_ref_input(call, 2),
      .length = (int32_t)indices->shape[indices->rank - 1],
      .to_whole = true,
      .row = nd4c_ref_combine_row(ND4C_INT_OF(call, scatter_nd_reduction), call->inputs[0].dtype)};
  ND4C_BACKEND_TRY(nd4c_cpu_check_positions(call, &args));
  args.whole = begin_with_x(call);
  nd4c_ref_move_positions(&args);
  return ND4C_OK;
}

static nd4c_status scatter_slices(const nd4c_call *call, int64_t reduction) {
  nd4c_ref_slices args = {.indices = nd4c_cpu_ref_input(call, 1),
                          .part = nd4c_cpu_ref_input(call, 2),
                          .axis = nd4c_axis(ND4C_INT_OF(call, scatter_add_axis), call->inputs[0].rank),
                          .to_whole = true,
                          .row = nd4c_ref_combine_row(reduction, call->inputs[0].dtype)};
  ND4C_BACKEND_TRY(nd4c_cpu_check_indices(call, 1, args.axis, call->inputs[0].shape[args.axis]));
  args.whole = begin_with_x(call);
  nd4c_ref_move_slices(&args);
  return ND4C_OK;
}

/* The one value seen as all the slices. */
static nd4c_status index_fill_run(const nd4c_call *call) {
  static const int64_t same[2 * ND4C_CPU_MAX_RANK];
  nd4c_ref_slices args = {.indices = nd4c_cpu_ref_input(call, 1),
                          .part = nd4c_cpu_ref_input(call, 2),
                          .axis = nd4c_axis(ND4C_INT_OF(call, index_fill_axis), call->inputs[0].rank),
                          .to_whole = true};
  ND4C_BACKEND_TRY(nd4c_cpu_check_indices(call, 1, args.axis, call->inputs[0].shape[args.axis]));
  args.whole = begin_with_x(call);
  args.part.strides = same;
  nd4c_ref_move_slices(&args);
  return ND4C_OK;
}

/* -- masks --------------------------------------------------------------------------------------------------------- */

/* A tensor seen with another's shape; strides is where its strides go. */
static nd4c_ref_tensor broadcast(const nd4c_tensor *tensor, const nd4c_tensor *as, int64_t *strides) {
  nd4c_cpu_broadcast_strides(tensor, as, strides);
  return (nd4c_ref_tensor){tensor->dtype, as->rank, as->shape, strides, tensor->data};
}

static nd4c_status masked_fill_run(const nd4c_call *call) {
  int64_t mask_strides[ND4C_CPU_MAX_RANK], value_strides[ND4C_CPU_MAX_RANK];
  nd4c_ref_tensor mask = broadcast(&call->inputs[1], &call->outputs[0], mask_strides);
  nd4c_ref_tensor value = broadcast(&call->inputs[2], &call->outputs[0], value_strides);
  nd4c_ref_tensor y = begin_with_x(call);
  nd4c_ref_mask_fill(&mask, &value, &y);
  return ND4C_OK;
}

nd4c_status nd4c_cpu_check_scattered(const nd4c_call *call, int64_t count) {
  const nd4c_tensor *source = &call->inputs[2];
  ND4C_CPU_FAIL_IF(count > source->size, ND4C_SHAPE,
                   "masked_scatter: value has %lld elements, expected at least %lld: so many "
                   "are true in mask",
                   (long long)source->size, (long long)count);
  return ND4C_OK;
}

static nd4c_status masked_scatter_run(const nd4c_call *call) {
  const nd4c_tensor *source = &call->inputs[2];
  int64_t strides[ND4C_CPU_MAX_RANK];
  nd4c_ref_tensor mask = broadcast(&call->inputs[1], &call->outputs[0], strides);
  nd4c_ref_tensor values = nd4c_cpu_ref_tensor(source);
  ND4C_BACKEND_TRY(nd4c_cpu_check_scattered(call, nd4c_ref_count_true(&mask)));
  nd4c_ref_tensor y = begin_with_x(call);
  nd4c_ref_mask_scatter(&mask, &values, &y);
  return ND4C_OK;
}

static nd4c_status masked_select_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *mask = &call->inputs[1];
  int32_t rank = x->rank > mask->rank ? x->rank : mask->rank;
  int64_t shape[ND4C_CPU_MAX_RANK], x_strides[ND4C_CPU_MAX_RANK], mask_strides[ND4C_CPU_MAX_RANK];
  for (int32_t i = 0; i < rank; i++) {
    int32_t a = i - (rank - x->rank), b = i - (rank - mask->rank);
    shape[i] = a >= 0 && (b < 0 || x->shape[a] != 1) ? x->shape[a] : mask->shape[b];
  }
  nd4c_tensor common = {.rank = rank, .shape = shape};
  nd4c_ref_tensor values = broadcast(x, &common, x_strides), chosen = broadcast(mask, &common, mask_strides);
  call->true_shapes[0][0] = nd4c_ref_count_true(&chosen);
  nd4c_ref_mask_elements(&values, &chosen, call->outputs[0].data);
  return ND4C_OK;
}

static nd4c_status mask_slices(const nd4c_call *call, int32_t axis) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), mask = nd4c_cpu_ref_input(call, 1);
  for (int32_t i = 0; i < call->outputs[0].rank; i++) {
    call->true_shapes[0][i] = i == axis ? nd4c_ref_count_true(&mask) : call->outputs[0].shape[i];
  }
  nd4c_ref_mask_slices(&x, &mask, axis, call->outputs[0].data);
  return ND4C_OK;
}

static nd4c_status compress_run(const nd4c_call *call) {
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_compress_axes];
  if (axes->count > 0) {
    return mask_slices(call, nd4c_axis(axes->as.ints[0], call->inputs[0].rank));
  }
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), condition = nd4c_cpu_ref_input(call, 1);
  call->true_shapes[0][0] = nd4c_ref_count_true(&condition);
  nd4c_ref_mask_flat(&x, &condition, call->outputs[0].data);
  return ND4C_OK;
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define M ND4C_CPU_MOVABLE
#define OPS(X)           \
  X(take, M)             \
  X(embedding_lookup, M) \
  X(gather_nd, M)        \
  X(put_along_axis, M)   \
  X(scatter_nd, M) X(index_fill, M) X(masked_fill, M) X(masked_scatter, M) X(masked_select, M) X(compress, M)
/* X(op, dtypes, expression) */
#define OTHER_OPS(X)                                                                                           \
  X(take_along_axis, M, pick_elements(call, ND4C_INT_OF(call, take_along_axis_axis)))                          \
  X(gather_elements, M, pick_elements(call, ND4C_INT_OF(call, gather_elements_axis)))                          \
  X(scatter_elements, M,                                                                                       \
    place_elements(call, ND4C_INT_OF(call, scatter_elements_axis), call->inputs[1].shape,                      \
                   ND4C_INT_OF(call, scatter_elements_reduction)))                                             \
  X(boolean_mask, M, mask_slices(call, nd4c_axis(ND4C_INT_OF(call, boolean_mask_axis), call->inputs[0].rank))) \
  X(scatter_update, M, scatter_slices(call, ND4C_SCATTER_REDUCTION_NONE))                                      \
  X(scatter_add, M, scatter_slices(call, ND4C_SCATTER_REDUCTION_ADD))                                          \
  X(scatter_subtract, M, scatter_slices(call, ND4C_SCATTER_REDUCTION_SUBTRACT))                                \
  X(scatter_multiply, M, scatter_slices(call, ND4C_SCATTER_REDUCTION_MULTIPLY))                                \
  X(scatter_divide, M, scatter_slices(call, ND4C_SCATTER_REDUCTION_DIVIDE))                                    \
  X(scatter_maximum, M, scatter_slices(call, ND4C_SCATTER_REDUCTION_MAXIMUM))                                  \
  X(scatter_minimum, M, scatter_slices(call, ND4C_SCATTER_REDUCTION_MINIMUM))
OTHER_OPS(ND4C_CPU_REFERENCE_RUN)

const nd4c_kernel *const nd4c_cpu_reference_indexing_kernels[] = {OPS(ND4C_CPU_REFERENCE_STORED)
                                                                      OTHER_OPS(ND4C_CPU_REFERENCE_STORED) NULL};
