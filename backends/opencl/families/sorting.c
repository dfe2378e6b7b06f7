/* Sorting along an axis, by one key or several: elements become words that compare as the elements do, and these are
 * sorted with their places. dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include "backends/opencl/support/ordering.h"

/* What is taken of the sorted lines: `taken` places from `first` on. NULL: not wanted. */
typedef struct taking {
  const nd4c_tensor *values, *indices;
  int64_t first, taken;
  bool descending;
} taking;

static int64_t sort_scratch(const nd4c_call *call) {
  return nd4c_cl_sorting_bytes(call->inputs[0].size);
}

/* A line for each place of the other axes. */
static int64_t lines_of(const nd4c_tensor *x, int64_t length) {
  return length > 0 ? x->size / length : 0;
}

static int32_t sort_axis(const nd4c_call *call) {
  return nd4c_axis(ND4C_INT_OF(call, sort_axis), call->inputs[0].rank);
}

/* Strides of the sorted order's places for the taken part of x's shape. */
static void order_strides(const nd4c_tensor *x, int32_t axis, int64_t *strides) {
  int64_t stride = x->shape[axis];
  for (int32_t i = x->rank - 1; i >= 0; i--) {
    strides[i] = i == axis ? 1 : stride;
    stride *= i == axis ? 1 : x->shape[i];
  }
}

/* Strides of a result for the taken part of x's shape: it has the axis, or lacks it. */
static void result_strides(const nd4c_tensor *x, const nd4c_tensor *y, int32_t axis, int64_t *strides) {
  for (int32_t i = 0, next = 0; i < x->rank; i++) {
    bool has = i != axis || y->rank == x->rank;
    strides[i] = has ? y->strides[next++] : 0;
  }
}

static nd4c_status write_values(const nd4c_cl_step *step, const taking *t, int32_t axis, const int64_t *shape,
                                const int64_t *places, int64_t order) {
  const nd4c_tensor *x = &step->call->inputs[0];
  int64_t from[ND4C_CL_MAX_RANK], to[ND4C_CL_MAX_RANK];
  const int64_t *strides[3] = {from, to, places};
  nd4c_cl_walk walk;
  for (int32_t i = 0; i < x->rank; i++) {
    from[i] = i == axis ? 0 : x->strides[i];
  }
  result_strides(x, t->values, axis, to);
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, x->rank, shape, 3, strides));
  return ND4C_CL_STEP_UNITS(step, "places+move", "take_order", x->dtype, walk.size, ND4C_CL_IN(x),
                            ND4C_CL_OUT(t->values), ND4C_CL_SCRATCH(READ),
                            ND4C_CL_LONG(order * 2 + t->first, x->shape[axis], x->strides[axis]), ND4C_CL_VALUE(walk));
}

/* The numbers at `order` as a result; the first one `first` numbers on. */
static nd4c_status write_indices(const nd4c_cl_step *step, const taking *t, int32_t axis, const int64_t *shape,
                                 const int64_t *places, int64_t order) {
  int64_t to[ND4C_CL_MAX_RANK];
  nd4c_tensor y = *t->indices;
  result_strides(&step->call->inputs[0], t->indices, axis, to);
  y.rank = step->call->inputs[0].rank;
  y.shape = shape;
  y.strides = to;
  return nd4c_cl_write_numbers(step, order, t->first, &y, places);
}

static nd4c_status sort_lines(const nd4c_cl_step *step, const taking *t) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = sort_axis(call);
  int64_t length = x->shape[axis], shape[ND4C_CL_MAX_RANK], places[ND4C_CL_MAX_RANK];
  nd4c_cl_sorting sorting;
  (void)nd4c_cl_sorting_make(&sorting, 0, lines_of(x, length), length);
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = i == axis ? t->taken : x->shape[i];
  }
  order_strides(x, axis, places);
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_sorting_check(step, x->size, sort_scratch(call)));
  } else if (x->size == 0 || t->taken == 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(nd4c_cl_make_keys(step, x, axis, t->descending, false, 0, &sorting));
  if (!nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_sort(call, &sorting));
  }
  if (t->values != NULL) {
    ND4C_BACKEND_TRY(write_values(step, t, axis, shape, places, sorting.order));
  }
  return t->indices != NULL ? write_indices(step, t, axis, shape, places, sorting.order) : ND4C_OK;
}

static nd4c_status sort(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  return sort_lines(step, &(taking){.values = &call->outputs[0],
                                    .taken = call->inputs[0].shape[sort_axis(call)],
                                    .descending = ND4C_FLAG_OF(call, sort_descending)});
}

static nd4c_status argsort(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  return sort_lines(step, &(taking){.indices = &call->outputs[0],
                                    .taken = call->inputs[0].shape[sort_axis(call)],
                                    .descending = ND4C_FLAG_OF(call, argsort_descending)});
}

static const nd4c_tensor *wanted(const nd4c_call *call, int32_t output) {
  return output < call->output_count && call->outputs[output].dtype != ND4C_DTYPE_NONE ? &call->outputs[output] : NULL;
}

static nd4c_status top_k(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  return sort_lines(step, &(taking){.values = wanted(call, 0),
                                    .indices = wanted(call, 1),
                                    .taken = ND4C_INT_OF(call, top_k_k),
                                    .descending = ND4C_FLAG_OF(call, top_k_largest)});
}

static nd4c_status kth_value(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  return sort_lines(
      step,
      &(taking){
          .values = wanted(call, 0), .indices = wanted(call, 1), .first = ND4C_INT_OF(call, kth_value_k), .taken = 1});
}

/* Sorts stably by each key in turn, the last key last. Each key is read in the order that the earlier keys gave. */
static nd4c_status lexsort(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, lexsort_axis), y->rank);
  int64_t places[ND4C_CL_MAX_RANK];
  nd4c_cl_sorting sorting;
  (void)nd4c_cl_sorting_make(&sorting, 0, lines_of(y, y->shape[axis]), y->shape[axis]);
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_sorting_check(step, y->size, sort_scratch(call)));
  } else if (y->size == 0) {
    return ND4C_OK;
  }
  for (int32_t k = 0; k < call->input_count; k++) {
    if ((ND4C_CL_ALL & ND4C_DTYPE_BIT(call->inputs[k].dtype)) == 0) {
      return nd4c_cl_step_refuse(step, "key %d is neither bool nor a real number of at least 8 bits", (int)k);
    }
    ND4C_BACKEND_TRY(nd4c_cl_make_keys(step, &call->inputs[k], axis, false, k > 0, 0, &sorting));
    if (!nd4c_cl_is_dry(step)) {
      ND4C_BACKEND_TRY(nd4c_cl_sort(call, &sorting));
    }
  }
  order_strides(y, axis, places);
  return nd4c_cl_write_numbers(step, sorting.order, 0, y, places);
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define OPS(X)                  \
  X(sort, sort(step))           \
  X(argsort, argsort(step))     \
  X(top_k, top_k(step))         \
  X(kth_value, kth_value(step)) \
  X(lexsort, lexsort(step))
#define DEFINE_KERNEL(op, what) ND4C_CL_STEP_KERNEL(op, ND4C_CL_ALL, what, sort_scratch)
OPS(DEFINE_KERNEL)

const nd4c_kernel *const nd4c_cl_sorting_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
