/* Random orders: the same shuffle that the CPU does step by step, computed by sorting its steps (random_order.cl).
 * dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <string.h>

#include "backends/opencl/families/random.h"
#include "backends/opencl/support/ordering.h"

#define SOURCES "convert+philox+random_order"

static nd4c_cl_options options_of(const nd4c_call *call, nd4c_dtype dtype) {
  nd4c_cl_options options = {""};
  ND4C_CL_TYPES(&options, "AY", call->inputs[0].dtype, dtype);
  return options;
}

/* Makes a random order of `count` numbers: sorts and links its steps in scratch, then writes the order to y. y NULL:
 * writes it to scratch, over the other keys. */
static nd4c_status make_order(const nd4c_call *call, int64_t count, nd4c_dtype dtype, nd4c_cl_sorting *s,
                              const nd4c_tensor *y) {
  const uint32_t none = UINT32_MAX;
  (void)nd4c_cl_sorting_make(s, 0, 1, count);
  nd4c_cl_options options = options_of(call, dtype);
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ITEMS(call, SOURCES, "choose_others", options, count, ND4C_CL_STATE(&call->inputs[0]),
                                     ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(s->keys, s->order)));
  ND4C_BACKEND_TRY(nd4c_cl_sort(call, s));
  const nd4c_tensor own = {.buffer = call->scratch_buffer, .offset = 2 * s->other_keys};
  /* The other lists are free now: the links overwrite the other order. */
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, s->other_order * ND4C_CL_WORD, count * (int64_t)sizeof none,
                                &none, sizeof none));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ITEMS(call, SOURCES, "link_places", options, count, ND4C_CL_SCRATCH(READ_WRITE),
                                     ND4C_CL_LONG(s->keys, s->order, s->other_order)));
  return ND4C_CL_RUN_ITEMS(call, SOURCES, "follow_places", options, count, ND4C_CL_SCRATCH(READ_WRITE),
                           ND4C_CL_LONG(s->keys, s->order, s->other_order), ND4C_CL_OUT(y != NULL ? y : &own),
                           ND4C_CL_LONG(y != NULL ? y->strides[0] : 1));
}

static int64_t permutation_scratch(const nd4c_call *call) {
  return nd4c_cl_sorting_bytes(call->outputs[0].size);
}

static nd4c_status random_permutation(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_cl_sorting sorting;
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_sorting_check(step, y->size, nd4c_cl_sorting_bytes(y->size));
  }
  return y->size == 0 ? ND4C_OK : make_order(call, y->size, y->dtype, &sorting, y);
}

static int32_t shuffle_axis(const nd4c_call *call) {
  return nd4c_axis(ND4C_INT_OF(call, random_shuffle_axis), call->inputs[1].rank);
}

static int64_t shuffle_scratch(const nd4c_call *call) {
  return nd4c_cl_sorting_bytes(call->inputs[1].shape[shuffle_axis(call)]);
}

static nd4c_status random_shuffle(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[1], *y = &call->outputs[0];
  int32_t axis = shuffle_axis(call);
  int64_t count = x->shape[axis], from[ND4C_CL_MAX_RANK], place[ND4C_CL_MAX_RANK] = {0};
  const int64_t *strides[3] = {from, y->strides, place};
  nd4c_cl_sorting sorting;
  nd4c_cl_walk walk;
  memcpy(from, x->strides, (size_t)x->rank * sizeof *from);
  from[axis] = 0;
  place[axis] = 1;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, x->rank, x->shape, 3, strides));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_sorting_check(step, count, shuffle_scratch(call));
  }
  if (x->size == 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(make_order(call, count, ND4C_UINT32, &sorting, NULL));
  return ND4C_CL_RUN_UNITS(call, "places+move", "take_order", x->dtype, walk.size, ND4C_CL_IN(x), ND4C_CL_OUT(y),
                           ND4C_CL_SCRATCH(READ), ND4C_CL_LONG(2 * sorting.other_keys, count, x->strides[axis]),
                           ND4C_CL_VALUE(walk));
}

ND4C_CL_STEP_KERNEL(random_permutation, ND4C_CL_STATES, random_permutation(step), permutation_scratch)
ND4C_CL_STEP_KERNEL(random_shuffle, ND4C_CL_STATES, random_shuffle(step), shuffle_scratch)

const nd4c_kernel *const nd4c_cl_random_order_kernels[] = {&opencl_random_permutation, &opencl_random_shuffle, NULL};
