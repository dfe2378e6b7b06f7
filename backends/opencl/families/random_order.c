/* Random orders: the shuffle that the CPU does step by step, by a sort of its steps (random_order.cl). */
#include <string.h>

#include "backends/opencl/support/ordering.h"
#include "backends/opencl/families/random.h"

static nd4c_status begin(nd4c_cl_launch *launch, const nd4c_call *call, const char *function, nd4c_dtype dtype) {
  nd4c_cl_options options = {""};
  nd4c_cl_define_type(&options, 'A', call->inputs[0].dtype);
  nd4c_cl_define_type(&options, 'Y', dtype);
  return nd4c_cl_begin(launch, call, "convert+philox+random_order", function, &options);
}

/* The steps, sorted and linked, in scratch; `follow` begins the launch that makes an order of `dtype` of them, whose
 * arguments behind these are the order's buffer, first element and step. */
static nd4c_status begin_order(const nd4c_call *call, int64_t count, nd4c_dtype dtype, nd4c_cl_sorting *sorting,
                               nd4c_cl_launch *follow) {
  const uint32_t none = UINT32_MAX;
  nd4c_cl_launch launch;
  (void)nd4c_cl_sorting_make(sorting, 0, 1, count);
  ND4C_BACKEND_TRY(begin(&launch, call, "choose_others", dtype));
  nd4c_cl_arg_state(&launch, &call->inputs[0], call->inputs[0].shape[0]);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ_WRITE);
  nd4c_cl_arg_long(&launch, sorting->keys);
  nd4c_cl_arg_long(&launch, sorting->order);
  ND4C_BACKEND_TRY(nd4c_cl_run_items(&launch, count));
  ND4C_BACKEND_TRY(nd4c_cl_sort(call, sorting));
  /* The other lists are free now: links come to lie where the other order was. */
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, sorting->other_order * ND4C_CL_WORD,
                                count * (int64_t)sizeof none, &none, sizeof none));
  ND4C_BACKEND_TRY(begin(&launch, call, "link_places", dtype));
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ_WRITE);
  nd4c_cl_arg_long(&launch, sorting->keys);
  nd4c_cl_arg_long(&launch, sorting->order);
  nd4c_cl_arg_long(&launch, sorting->other_order);
  ND4C_BACKEND_TRY(nd4c_cl_run_items(&launch, count));
  ND4C_BACKEND_TRY(begin(follow, call, "follow_places", dtype));
  nd4c_cl_arg_buffer(follow, call->scratch_buffer, ND4C_CL_READ_WRITE);
  nd4c_cl_arg_long(follow, sorting->keys);
  nd4c_cl_arg_long(follow, sorting->order);
  nd4c_cl_arg_long(follow, sorting->other_order);
  return ND4C_OK;
}

static int64_t order_scratch(int64_t count) {
  nd4c_cl_sorting sorting;
  return nd4c_cl_sorting_make(&sorting, 0, 1, count) * ND4C_CL_WORD;
}

static int64_t permutation_scratch(const nd4c_call *call) {
  return order_scratch(call->outputs[0].size);
}

static nd4c_status random_permutation(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_cl_sorting sorting;
  nd4c_cl_launch launch;
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_sorting_check(step, y->size, order_scratch(y->size));
  }
  if (y->size == 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(begin_order(call, y->size, y->dtype, &sorting, &launch));
  nd4c_cl_arg_tensor(&launch, y, ND4C_CL_WRITE);
  nd4c_cl_arg_long(&launch, y->strides[0]);
  return nd4c_cl_run_items(&launch, y->size);
}

static int32_t shuffle_axis(const nd4c_call *call) {
  return nd4c_axis(call->attrs[ND4C_ATTR_random_shuffle_axis].as.i, call->inputs[1].rank);
}

static int64_t shuffle_scratch(const nd4c_call *call) {
  return order_scratch(call->inputs[1].shape[shuffle_axis(call)]);
}

static nd4c_status random_shuffle(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[1], *y = &call->outputs[0];
  int32_t axis = shuffle_axis(call);
  int64_t count = x->shape[axis], from[ND4C_CL_MAX_RANK], place[ND4C_CL_MAX_RANK] = {0};
  const int64_t *strides[3] = {from, y->strides, place};
  nd4c_cl_sorting sorting;
  nd4c_cl_launch launch;
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
  /* The order takes the place of the other keys. */
  ND4C_BACKEND_TRY(begin_order(call, count, ND4C_UINT32, &sorting, &launch));
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ_WRITE);
  nd4c_cl_arg_long(&launch, 2 * sorting.other_keys);
  nd4c_cl_arg_long(&launch, 1);
  ND4C_BACKEND_TRY(nd4c_cl_run_items(&launch, count));
  ND4C_BACKEND_TRY(nd4c_cl_begin_units(&launch, call, "places+move", "take_order", x->dtype));
  nd4c_cl_arg_tensor(&launch, x, ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, y, ND4C_CL_WRITE);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ);
  nd4c_cl_arg_long(&launch, 2 * sorting.other_keys);
  nd4c_cl_arg_long(&launch, count);
  nd4c_cl_arg_long(&launch, x->strides[axis]);
  nd4c_cl_arg_bytes(&launch, &walk, sizeof walk);
  return nd4c_cl_run_items(&launch, walk.size);
}

ND4C_CL_STEP_KERNEL(random_permutation, ND4C_CL_STATES, random_permutation, permutation_scratch)
ND4C_CL_STEP_KERNEL(random_shuffle, ND4C_CL_STATES, random_shuffle, shuffle_scratch)

const nd4c_kernel *const nd4c_cl_random_order_kernels[] = {&opencl_random_permutation, &opencl_random_shuffle, NULL};
