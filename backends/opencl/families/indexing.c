/* Ops that pick and place elements at indices. dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <string.h>

#include "backends/opencl/support/ordering.h"

static nd4c_cl_target target_of(const nd4c_tensor *indices, int64_t mode, int64_t extent, int64_t stride) {
  return (nd4c_cl_target){
      .count = 1, .mode = (int32_t)mode, .wide = indices->dtype == ND4C_INT64, .extent = {extent}, .stride = {stride}};
}

/* Places of a part along strides of the whole (but for the axes that indices choose), of indices, of the part. */
typedef struct places {
  int32_t rank;
  int64_t shape[2 * ND4C_CL_MAX_RANK], whole[2 * ND4C_CL_MAX_RANK], index[2 * ND4C_CL_MAX_RANK],
      part[2 * ND4C_CL_MAX_RANK];
} places;

static void add_axis(places *p, int64_t extent, int64_t whole, int64_t index, int64_t part) {
  p->shape[p->rank] = extent;
  p->whole[p->rank] = whole;
  p->index[p->rank] = index;
  p->part[p->rank++] = part;
}

/* Slices along an axis: part [before, i..., after]. `part_strides` NULL: one element for all. */
static void add_slices(places *p, const nd4c_tensor *whole, int32_t axis, const nd4c_tensor *indices,
                       const int64_t *part_strides) {
  const int64_t *part = part_strides;
  for (int32_t i = 0; i < axis; i++) {
    add_axis(p, whole->shape[i], whole->strides[i], 0, part != NULL ? *part++ : 0);
  }
  for (int32_t i = 0; i < indices->rank; i++) {
    add_axis(p, indices->shape[i], 0, indices->strides[i], part != NULL ? *part++ : 0);
  }
  for (int32_t i = axis + 1; i < whole->rank; i++) {
    add_axis(p, whole->shape[i], whole->strides[i], 0, part != NULL ? *part++ : 0);
  }
}

/* -- picking ------------------------------------------------------------------------------------------------------- */

static nd4c_status pick(const nd4c_cl_step *step, const places *p, const nd4c_tensor *whole, const nd4c_tensor *indices,
                        const nd4c_tensor *part, const nd4c_cl_target *target, bool to_whole) {
  const int64_t *strides[3] = {p->whole, p->index, p->part};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, p->rank, p->shape, 3, strides));
  /* Kernels count places in a type that is wide enough for the operands. Broadcast indices can make more places than
   * that. */
  if (walk.size > INT32_MAX && whole->size <= INT32_MAX && indices->size <= INT32_MAX && part->size <= INT32_MAX) {
    return nd4c_cl_step_refuse(step, "%lld places in arrays of fewer elements than 2^31", (long long)walk.size);
  }
  return ND4C_CL_STEP_UNITS(step, "places+move", "pick", whole->dtype, walk.size,
                            ND4C_CL_TENSOR(whole, to_whole ? ND4C_CL_WRITE : ND4C_CL_READ, 0), ND4C_CL_IN(indices),
                            ND4C_CL_TENSOR(part, to_whole ? ND4C_CL_READ : ND4C_CL_WRITE, 0), ND4C_CL_VALUE(walk),
                            ND4C_CL_VALUE(*target), ND4C_CL_INT(to_whole), ND4C_CL_FAULT);
}

static nd4c_status pick_slices(const nd4c_cl_step *step, int32_t axis, int64_t mode) {
  const nd4c_tensor *x = &step->call->inputs[0], *indices = &step->call->inputs[1], *y = &step->call->outputs[0];
  places p = {.rank = 0};
  nd4c_cl_target t = target_of(indices, mode, x->shape[axis], x->strides[axis]);
  add_slices(&p, x, axis, indices, y->strides);
  return pick(step, &p, x, indices, y, &t, false);
}

static nd4c_status gather(const nd4c_cl_step *step) {
  int64_t axis = ND4C_INT_OF(step->call, gather_axis);
  return pick_slices(step, nd4c_axis(axis, step->call->inputs[0].rank), ND4C_CL_RAISE);
}

static nd4c_status take(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *indices = &call->inputs[1], *y = &call->outputs[0];
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_take_axes];
  int64_t mode = ND4C_INT_OF(call, take_mode);
  const int64_t *strides[2] = {indices->strides, y->strides};
  nd4c_cl_walk walk, x_walk;
  if (axes->count > 0) {
    return pick_slices(step, nd4c_axis(axes->as.ints[0], x->rank), mode);
  }
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, y->rank, y->shape, 2, strides));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &x_walk, x));
  return ND4C_CL_STEP_UNITS(step, "places+move", "take_flat", y->dtype, walk.size, ND4C_CL_IN(x), ND4C_CL_IN(indices),
                            ND4C_CL_OUT(y), ND4C_CL_VALUE(walk), ND4C_CL_VALUE(x_walk),
                            ND4C_CL_INT((int32_t)mode, indices->dtype == ND4C_INT64), ND4C_CL_FAULT);
}

/* Strides of a tensor of the same rank seen with a shape: 0 where it has length 1. */
static int64_t stretched(const nd4c_tensor *tensor, int32_t i, int64_t extent) {
  return tensor->shape[i] == 1 && extent != 1 ? 0 : tensor->strides[i];
}

/* Single elements along an axis, for the places of a shape to which indices and part are broadcast. */
static void add_elements(places *p, const nd4c_tensor *whole, int32_t axis, const nd4c_tensor *indices,
                         const nd4c_tensor *part, const int64_t *shape) {
  for (int32_t i = 0; i < whole->rank; i++) {
    add_axis(p, shape[i], i == axis ? 0 : stretched(whole, i, shape[i]), stretched(indices, i, shape[i]),
             stretched(part, i, shape[i]));
  }
}

static nd4c_status pick_elements(const nd4c_cl_step *step, int64_t axis_attr) {
  const nd4c_tensor *x = &step->call->inputs[0], *indices = &step->call->inputs[1], *y = &step->call->outputs[0];
  int32_t axis = nd4c_axis(axis_attr, x->rank);
  places p = {.rank = 0};
  nd4c_cl_target t = target_of(indices, ND4C_CL_RAISE, x->shape[axis], x->strides[axis]);
  add_elements(&p, x, axis, indices, y, y->shape);
  return pick(step, &p, x, indices, y, &t, false);
}

/* Reads targets from the last axis of indices: positions in x that begin after its first `batch` axes. */
static nd4c_status positions_of(const nd4c_cl_step *step, const nd4c_tensor *x, const nd4c_tensor *indices,
                                int32_t batch, nd4c_cl_target *t) {
  int64_t length = indices->shape[indices->rank - 1];
  if (length > ND4C_CL_RANK) {
    return nd4c_cl_step_refuse(step, "positions of more than %d numbers", (int)ND4C_CL_RANK);
  }
  *t = (nd4c_cl_target){.count = (int32_t)length, .wide = indices->dtype == ND4C_INT64};
  t->step = indices->strides[indices->rank - 1];
  for (int32_t k = 0; k < t->count; k++) {
    t->extent[k] = x->shape[batch + k];
    t->stride[k] = x->strides[batch + k];
  }
  return ND4C_OK;
}

static nd4c_status gather_nd(const nd4c_cl_step *step) {
  const nd4c_tensor *x = &step->call->inputs[0], *indices = &step->call->inputs[1], *y = &step->call->outputs[0];
  int32_t batch = (int32_t)ND4C_INT_OF(step->call, gather_nd_batch_dims), next = 0;
  places p = {.rank = 0};
  nd4c_cl_target t;
  ND4C_BACKEND_TRY(positions_of(step, x, indices, batch, &t));
  for (int32_t i = 0; i + 1 < indices->rank; i++) {
    add_axis(&p, indices->shape[i], i < batch ? x->strides[i] : 0, indices->strides[i], y->strides[next++]);
  }
  for (int32_t i = batch + t.count; i < x->rank; i++) {
    add_axis(&p, x->shape[i], x->strides[i], 0, y->strides[next++]);
  }
  return pick(step, &p, x, indices, y, &t, false);
}

/* -- placing ------------------------------------------------------------------------------------------------------- */

/* Updates of y. places: the walk over the indices; inner: the walk over the elements that each index updates. */
typedef struct updates {
  const nd4c_tensor *indices, *part;
  nd4c_cl_target target;
  places places, inner;
  int64_t reduction;
} updates;

static nd4c_cl_options placing_options(const nd4c_call *call, int64_t reduction, nd4c_dtype dtype) {
#define REDUCTION_NAME(NAME, number, name) [number] = #NAME,
  static const char *const names[] = {ND4C_SCATTER_REDUCTION_TABLE(REDUCTION_NAME)};
#undef REDUCTION_NAME
  nd4c_cl_options options = {""};
  if (reduction == ND4C_SCATTER_REDUCTION_NONE) {
    return nd4c_cl_unit_options(call, dtype);
  }
  nd4c_cl_define_type(&options, 'A', dtype);
  nd4c_cl_define(&options, "JOIN", "%s", names[reduction]);
  nd4c_cl_define(&options, "KIND", "%s", nd4c_cl_kind(dtype));
  return options;
}

/* The range of offsets that updates may reach; least > most: there are none. */
static void place_range(const updates *u, int64_t *least, int64_t *most) {
  int64_t ends[2] = {0, 0};
  bool none = false;
  for (int32_t i = 0; i < u->places.rank; i++) {
    ends[u->places.whole[i] > 0] += (u->places.shape[i] - 1) * u->places.whole[i];
  }
  for (int32_t i = 0; i < u->target.count; i++) {
    none = none || u->target.extent[i] == 0;
    ends[u->target.stride[i] > 0] += (u->target.extent[i] - 1) * u->target.stride[i];
  }
  *least = none ? 1 : ends[0];
  *most = none ? 0 : ends[1];
}

static nd4c_status place(const nd4c_cl_step *step, const nd4c_tensor *y, const updates *u) {
  const nd4c_call *call = step->call;
  const int64_t *key_strides[2] = {u->places.whole, u->places.index}, *part_strides = u->places.part;
  const int64_t *inner_strides[2] = {u->inner.whole, u->inner.part};
  nd4c_cl_walk keys, parts, inner;
  nd4c_cl_sorting sorting;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &keys, u->places.rank, u->places.shape, 2, key_strides));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &parts, u->places.rank, u->places.shape, 1, &part_strides));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &inner, u->inner.rank, u->inner.shape, 2, inner_strides));
  (void)nd4c_cl_sorting_make(&sorting, 0, 1, keys.size);
  if (nd4c_cl_is_dry(step)) {
    bool typed = u->reduction != ND4C_SCATTER_REDUCTION_NONE;
    ND4C_BACKEND_TRY(typed ? nd4c_cl_step_dtype(step, y->dtype) : ND4C_OK);
    return nd4c_cl_sorting_check(step, keys.size, nd4c_cl_sorting_bytes(keys.size));
  }
  if (keys.size == 0 || inner.size == 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(nd4c_cl_place_keys(call, u->indices, &keys, &u->target, &sorting, false));
  ND4C_BACKEND_TRY(nd4c_cl_sort(call, &sorting));
  const char *function = u->reduction == ND4C_SCATTER_REDUCTION_NONE ? "place_last" : "place_joined";
  int64_t least, most;
  place_range(u, &least, &most);
  return ND4C_CL_RUN_ITEMS(call, "places+scatter", function, placing_options(call, u->reduction, y->dtype),
                           keys.size * inner.size, ND4C_CL_SCRATCH(READ),
                           ND4C_CL_LONG(sorting.keys, sorting.order, keys.size, least, most), ND4C_CL_INOUT(y),
                           ND4C_CL_IN(u->part), ND4C_CL_VALUE(parts), ND4C_CL_VALUE(inner));
}

static int64_t index_scratch(const nd4c_call *call) {
  return nd4c_cl_sorting_bytes(call->inputs[1].size);
}

/* Slices of y along an axis. */
static nd4c_status place_slices(const nd4c_cl_step *step, const nd4c_tensor *y, int32_t axis,
                                const nd4c_tensor *indices, const nd4c_tensor *part, int64_t reduction) {
  updates u = {.indices = indices, .part = part, .reduction = reduction};
  u.target = target_of(indices, ND4C_CL_RAISE, y->shape[axis], y->strides[axis]);
  for (int32_t i = 0; i < indices->rank; i++) {
    add_axis(&u.places, indices->shape[i], 0, indices->strides[i], part->strides[axis + i]);
  }
  for (int32_t i = 0; i < y->rank; i++) {
    if (i != axis) {
      add_axis(&u.inner, y->shape[i], y->strides[i], 0, part->strides[i < axis ? i : i + indices->rank - 1]);
    }
  }
  return place(step, y, &u);
}

static nd4c_status scatter_slices(const nd4c_cl_step *step, int64_t reduction) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, scatter_add_axis), y->rank);
  ND4C_BACKEND_TRY(nd4c_cl_copy(step, &call->inputs[0], y));
  return place_slices(step, y, axis, &call->inputs[1], &call->inputs[2], reduction);
}

/* Every place is an update of one element: indices and part are broadcast to the shape. */
static nd4c_status place_elements(const nd4c_cl_step *step, int64_t axis_attr, const int64_t *shape,
                                  const nd4c_tensor *part, int64_t reduction) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_axis(axis_attr, y->rank);
  updates u = {.indices = &call->inputs[1], .part = part, .reduction = reduction};
  u.target = target_of(u.indices, ND4C_CL_RAISE, y->shape[axis], y->strides[axis]);
  add_elements(&u.places, y, axis, u.indices, part, shape);
  ND4C_BACKEND_TRY(nd4c_cl_copy(step, &call->inputs[0], y));
  return place(step, y, &u);
}

static nd4c_status scatter_elements(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  return place_elements(step, ND4C_INT_OF(call, scatter_elements_axis), call->inputs[1].shape, &call->inputs[2],
                        ND4C_INT_OF(call, scatter_elements_reduction));
}

static void put_shape(const nd4c_call *call, int64_t *shape) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, put_along_axis_axis), x->rank);
  memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
  shape[axis] = call->inputs[1].shape[axis];
}

static int64_t put_scratch(const nd4c_call *call) {
  int64_t shape[ND4C_CL_MAX_RANK], count = 1;
  put_shape(call, shape);
  for (int32_t i = 0; i < call->inputs[0].rank; i++) {
    count *= shape[i];
  }
  return nd4c_cl_sorting_bytes(count);
}

/* Values may have fewer axes: they are aligned at the last one. */
static nd4c_status put_along_axis(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  int64_t shape[ND4C_CL_MAX_RANK], strides[ND4C_CL_MAX_RANK];
  nd4c_tensor aligned = call->inputs[2];
  put_shape(call, shape);
  nd4c_cl_broadcast_strides(&call->inputs[2], call->inputs[0].rank, shape, strides);
  aligned.rank = call->inputs[0].rank;
  aligned.shape = shape;
  aligned.strides = strides;
  return place_elements(step, ND4C_INT_OF(call, put_along_axis_axis), shape, &aligned, ND4C_SCATTER_REDUCTION_NONE);
}

static int64_t scatter_nd_scratch(const nd4c_call *call) {
  const nd4c_tensor *indices = &call->inputs[1];
  int64_t count = 1;
  for (int32_t i = 0; i + 1 < indices->rank; i++) {
    count *= indices->shape[i];
  }
  return nd4c_cl_sorting_bytes(count);
}

static nd4c_status scatter_nd(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *indices = &call->inputs[1], *part = &call->inputs[2], *y = &call->outputs[0];
  updates u = {.indices = indices, .part = part, .reduction = ND4C_INT_OF(call, scatter_nd_reduction)};
  ND4C_BACKEND_TRY(positions_of(step, y, indices, 0, &u.target));
  for (int32_t i = 0; i + 1 < indices->rank; i++) {
    add_axis(&u.places, indices->shape[i], 0, indices->strides[i], part->strides[i]);
  }
  for (int32_t i = u.target.count; i < y->rank; i++) {
    add_axis(&u.inner, y->shape[i], y->strides[i], 0, part->strides[i - u.target.count + indices->rank - 1]);
  }
  ND4C_BACKEND_TRY(nd4c_cl_copy(step, &call->inputs[0], y));
  return place(step, y, &u);
}

/* One value for all slices, so the order of the writes does not matter. */
static nd4c_status index_fill(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *indices = &call->inputs[1], *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, index_fill_axis), y->rank);
  places p = {.rank = 0};
  nd4c_cl_target t = target_of(indices, ND4C_CL_RAISE, y->shape[axis], y->strides[axis]);
  add_slices(&p, y, axis, indices, NULL);
  ND4C_BACKEND_TRY(nd4c_cl_copy(step, &call->inputs[0], y));
  return pick(step, &p, y, indices, &call->inputs[2], &t, true);
}

/* Places pair by pair. The queue keeps their order, so the last value for a place wins. */
static nd4c_status dynamic_stitch(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  int32_t pairs = call->input_count / 2;
  ND4C_BACKEND_TRY(nd4c_cl_zero(step, &call->outputs[0]));
  for (int32_t i = 0; i < pairs; i++) {
    ND4C_BACKEND_TRY(place_slices(step, &call->outputs[0], 0, &call->inputs[i], &call->inputs[i + pairs],
                                  ND4C_SCATTER_REDUCTION_NONE));
  }
  return ND4C_OK;
}

static int64_t stitch_scratch(const nd4c_call *call) {
  int64_t most = 0;
  for (int32_t i = 0; i < call->input_count / 2; i++) {
    most = call->inputs[i].size > most ? call->inputs[i].size : most;
  }
  return nd4c_cl_sorting_bytes(most);
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define OPS(X)                                                                                                  \
  X(gather, ND4C_CL_MOVABLE, gather(step), NULL)                                                                \
  X(take, ND4C_CL_MOVABLE, take(step), NULL)                                                                    \
  X(embedding_lookup, ND4C_CL_MOVABLE, pick_slices(step, 0, ND4C_CL_RAISE), NULL)                               \
  X(take_along_axis, ND4C_CL_MOVABLE, pick_elements(step, ND4C_INT_OF(step->call, take_along_axis_axis)), NULL) \
  X(gather_elements, ND4C_CL_MOVABLE, pick_elements(step, ND4C_INT_OF(step->call, gather_elements_axis)), NULL) \
  X(gather_nd, ND4C_CL_MOVABLE, gather_nd(step), NULL)                                                          \
  X(put_along_axis, ND4C_CL_MOVABLE, put_along_axis(step), put_scratch)                                         \
  X(scatter_elements, ND4C_CL_MOVABLE, scatter_elements(step), index_scratch)                                   \
  X(scatter_nd, ND4C_CL_MOVABLE, scatter_nd(step), scatter_nd_scratch)                                          \
  X(scatter_update, ND4C_CL_MOVABLE, scatter_slices(step, ND4C_SCATTER_REDUCTION_NONE), index_scratch)          \
  X(scatter_add, ND4C_CL_ALL, scatter_slices(step, ND4C_SCATTER_REDUCTION_ADD), index_scratch)                  \
  X(scatter_subtract, ND4C_CL_ALL, scatter_slices(step, ND4C_SCATTER_REDUCTION_SUBTRACT), index_scratch)        \
  X(scatter_multiply, ND4C_CL_ALL, scatter_slices(step, ND4C_SCATTER_REDUCTION_MULTIPLY), index_scratch)        \
  X(scatter_divide, ND4C_CL_ALL, scatter_slices(step, ND4C_SCATTER_REDUCTION_DIVIDE), index_scratch)            \
  X(scatter_maximum, ND4C_CL_ALL, scatter_slices(step, ND4C_SCATTER_REDUCTION_MAXIMUM), index_scratch)          \
  X(scatter_minimum, ND4C_CL_ALL, scatter_slices(step, ND4C_SCATTER_REDUCTION_MINIMUM), index_scratch)          \
  X(index_fill, ND4C_CL_MOVABLE, index_fill(step), NULL)                                                        \
  X(dynamic_stitch, ND4C_DTYPE_BIT(ND4C_INT32) | ND4C_DTYPE_BIT(ND4C_INT64), dynamic_stitch(step), stitch_scratch)
OPS(ND4C_CL_STEP_KERNEL)

const nd4c_kernel *const nd4c_cl_indexing_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
