/* Running sums, products and extremes along an axis; differences. */
#include <stdio.h>

#include "backends/opencl/reduction.h"

enum { MOST_DIFFERENCES = 16 };

/* Walk over all axes but one. */
static bool lines_walk(const nd4c_call *call, int32_t axis, nd4c_cl_walk *walk, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0];
  const nd4c_tensor *arrays[3] = {x, &call->outputs[0], call->output_count > 1 ? &call->outputs[1] : x};
  int64_t shape[ND4C_CL_MAX_RANK], strides[3][ND4C_CL_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    if (i == axis)
      continue;
    shape[rank] = x->shape[i];
    for (int k = 0; k < 3; k++)
      strides[k][rank] = arrays[k]->strides[i];
    rank++;
  }
  const int64_t *const all[] = {strides[0], strides[1], strides[2]};
  return nd4c_cl_walk_strides(walk, rank, shape, 3, all, reason, reason_size);
}

static int32_t axis_of(const nd4c_call *call) {
  return nd4c_cl_axis(call->attrs[ND4C_ATTR_cumulative_sum_axis].as.i, call->inputs[0].rank);
}

/* Elements are cast first: to a dtype that they are computed in. */
static bool cumulative_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_dtype x = call->inputs[0].dtype, y = call->outputs[0].dtype;
  nd4c_cl_walk walk;
  if (!nd4c_cl_call_usable(call, reason, reason_size))
    return false;
  if (x != y && (nd4c_cl_is_float(x) || nd4c_cl_is_float(y)) && y != ND4C_FLOAT64) {
    (void)snprintf(reason, reason_size, "elements are not cast to the given dtype on the way");
    return false;
  }
  return lines_walk(call, axis_of(call), &walk, reason, reason_size);
}

static nd4c_status cumulative_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_op op = call->op->op;
  bool initial = op != ND4C_OP_cumulative_logsumexp;
  bool real = nd4c_cl_is_float(y->dtype), wide = nd4c_cl_wide(call) && y->dtype != ND4C_FLOAT64;
  int32_t axis = axis_of(call);
  char reason[128];
  nd4c_cl_walk walk;
  nd4c_cl_options options = {{0}};
  nd4c_cl_kernel *kernel;
  nd4c_cl_launch launch;
  if (!lines_walk(call, axis, &walk, reason, sizeof reason))
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: %s", call->op->name, reason);
  nd4c_cl_define(&options,
                 op == ND4C_OP_cumulative_sum    ? "SCAN_sum"
                 : op == ND4C_OP_cumulative_prod ? "SCAN_prod"
                                                 : "SCAN_logsumexp",
                 "1");
  nd4c_cl_define_type(&options, 'A', x->dtype);
  nd4c_cl_define_type(&options, 'B', x->dtype);
  nd4c_cl_define_type(&options, 'C', x->dtype);
  nd4c_cl_define_type(&options, 'Y', y->dtype);
  nd4c_cl_define_real(&options, call);
  nd4c_cl_define(&options, "VALUE", "%s", real ? "REAL" : nd4c_cl_wrapping(y->dtype, "COMPUTE_Y"));
  nd4c_cl_define(&options, "MOST", "1");
  if (real && !wide)
    nd4c_cl_define(&options, "COMPENSATED", "1");
  if (!nd4c_cl_is_float(x->dtype))
    nd4c_cl_define(&options, "WHOLE", "1");
  nd4c_status status = nd4c_cl_kernel_get(call->device, "scan", "cumulate", &options, &kernel);
  if (status != ND4C_OK)
    return status;
  nd4c_cl_launch_begin(&launch, call, kernel);
  nd4c_cl_arg_bytes(&launch, &walk, sizeof walk);
  nd4c_cl_arg_tensor(&launch, x, ND4C_CL_READ);
  nd4c_cl_arg_long(&launch, x->strides[axis]);
  nd4c_cl_arg_tensor(&launch, y, ND4C_CL_WRITE);
  nd4c_cl_arg_long(&launch, y->strides[axis]);
  nd4c_cl_arg_long(&launch, x->shape[axis]);
  nd4c_cl_arg_int(&launch, call->attrs[ND4C_ATTR_cumulative_sum_reverse].as.i != 0);
  nd4c_cl_arg_int(&launch, call->attrs[ND4C_ATTR_cumulative_sum_exclusive].as.i != 0);
  nd4c_cl_arg_int(&launch, initial && call->attrs[ND4C_ATTR_cumulative_sum_include_initial].as.i != 0);
  return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
}

static bool best_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cl_walk walk;
  return nd4c_cl_call_usable(call, reason, reason_size) && lines_walk(call, axis_of(call), &walk, reason, reason_size);
}

static nd4c_status best_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *arrays[] = {x, &call->outputs[0], &call->outputs[1]};
  int32_t axis = axis_of(call);
  char reason[128];
  nd4c_cl_walk walk;
  nd4c_cl_options options = {{0}};
  nd4c_cl_kernel *kernel;
  nd4c_cl_launch launch;
  if (!lines_walk(call, axis, &walk, reason, sizeof reason))
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: %s", call->op->name, reason);
  nd4c_cl_define_type(&options, 'A', x->dtype);
  nd4c_cl_define_type(&options, 'B', x->dtype);
  nd4c_cl_define_type(&options, 'C', x->dtype);
  nd4c_cl_define_type(&options, 'Y', arrays[1]->dtype);
  nd4c_cl_define(&options, "VALUE", "COMPUTE_A");
  nd4c_cl_define(&options, "MOST", "1");
  if (!nd4c_cl_is_float(x->dtype))
    nd4c_cl_define(&options, "WHOLE", "1");
  nd4c_status status = nd4c_cl_kernel_get(call->device, "scan", "running_best", &options, &kernel);
  if (status != ND4C_OK)
    return status;
  nd4c_cl_launch_begin(&launch, call, kernel);
  nd4c_cl_arg_bytes(&launch, &walk, sizeof walk);
  for (int i = 0; i < 3; i++) {
    nd4c_cl_arg_tensor(&launch, arrays[i], i == 0 ? ND4C_CL_READ : ND4C_CL_WRITE);
    nd4c_cl_arg_long(&launch, arrays[i]->strides[axis]);
  }
  nd4c_cl_arg_long(&launch, x->shape[axis]);
  nd4c_cl_arg_int(&launch, call->op->op == ND4C_OP_cumulative_min);
  return nd4c_cl_launch_run(&launch, 1, &walk.size, NULL);
}

/* -- diff ---------------------------------------------------------------------------------------------------------- */

typedef struct diff {
  nd4c_cl_walk walk, pieces;
  const nd4c_tensor *arrays[3]; /* x, prepend, append */
  int64_t lengths[3];
  int32_t axis;
} diff;

static bool diff_plan(const nd4c_call *call, diff *d, char *reason, size_t reason_size) {
  const nd4c_tensor *y = &call->outputs[0];
  int64_t strides[5][ND4C_CL_MAX_RANK];
  d->axis = nd4c_cl_axis(call->attrs[ND4C_ATTR_diff_axis].as.i, call->inputs[0].rank);
  d->arrays[0] = &call->inputs[0];
  d->arrays[1] = nd4c_cl_input(call, ND4C_IN_diff_prepend);
  d->arrays[2] = nd4c_cl_input(call, ND4C_IN_diff_append);
  for (int i = 0; i < 3; i++)
    d->lengths[i] = d->arrays[i] != NULL ? d->arrays[i]->shape[d->axis] : 0;
  for (int32_t axis = 0; axis < y->rank; axis++) {
    for (int i = 0; i < 3; i++)
      strides[i][axis] = axis == d->axis || d->lengths[i] == 0 ? 0 : d->arrays[i]->strides[axis];
    strides[3][axis] = y->strides[axis];
    strides[4][axis] = axis == d->axis;
  }
  const int64_t *const walked[] = {strides[3], strides[4]}, *const pieces[] = {strides[0], strides[1], strides[2]};
  if (call->attrs[ND4C_ATTR_diff_order].as.i > MOST_DIFFERENCES) {
    (void)snprintf(reason, reason_size, "differences of an order above %d", MOST_DIFFERENCES);
    return false;
  }
  return nd4c_cl_walk_strides(&d->walk, y->rank, y->shape, 2, walked, reason, reason_size) &&
         nd4c_cl_walk_strides(&d->pieces, y->rank, y->shape, 3, pieces, reason, reason_size);
}

static bool diff_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  diff d;
  return nd4c_cl_call_usable(call, reason, reason_size) && diff_plan(call, &d, reason, reason_size);
}

static nd4c_status diff_run(const nd4c_call *call) {
  static const char letters[] = {'A', 'B', 'C'};
  const nd4c_tensor *x = &call->inputs[0];
  char reason[128];
  diff d;
  nd4c_cl_options options = {{0}};
  nd4c_cl_kernel *kernel;
  nd4c_cl_launch launch;
  if (!diff_plan(call, &d, reason, sizeof reason))
    return nd4c_cl_host->fail(ND4C_INTERNAL, "diff: %s", reason);
  for (int i = 0; i < 3; i++)
    nd4c_cl_define_type(&options, letters[i], d.arrays[i] != NULL ? d.arrays[i]->dtype : x->dtype);
  nd4c_cl_define_type(&options, 'Y', call->outputs[0].dtype);
  nd4c_cl_define_real(&options, call);
  nd4c_cl_define(&options, "VALUE", "%s",
                 nd4c_cl_is_float(x->dtype) ? "REAL" : nd4c_cl_wrapping(x->dtype, "COMPUTE_A"));
  nd4c_cl_define(&options, "MOST", "%d", MOST_DIFFERENCES);
  if (!nd4c_cl_is_float(x->dtype))
    nd4c_cl_define(&options, "WHOLE", "1");
  nd4c_status status = nd4c_cl_kernel_get(call->device, "scan", "differences", &options, &kernel);
  if (status != ND4C_OK)
    return status;
  nd4c_cl_launch_begin(&launch, call, kernel);
  nd4c_cl_arg_bytes(&launch, &d.walk, sizeof d.walk);
  nd4c_cl_arg_bytes(&launch, &d.pieces, sizeof d.pieces);
  for (int i = 0; i < 3; i++) {
    nd4c_cl_arg_tensor(&launch, d.lengths[i] > 0 ? d.arrays[i] : x, ND4C_CL_READ);
    nd4c_cl_arg_long(&launch, d.lengths[i] > 0 ? d.arrays[i]->strides[d.axis] : 0);
    if (i < 2)
      nd4c_cl_arg_long(&launch, d.lengths[i]);
  }
  nd4c_cl_arg_tensor(&launch, &call->outputs[0], ND4C_CL_WRITE);
  nd4c_cl_arg_int(&launch, (int32_t)call->attrs[ND4C_ATTR_diff_order].as.i);
  return nd4c_cl_launch_run(&launch, 1, &d.walk.size, NULL);
}

ND4C_CL_KERNEL(cumulative_sum, ND4C_CL_ALL, cumulative_usable, cumulative_run, NULL)
ND4C_CL_KERNEL(cumulative_prod, ND4C_CL_ALL, cumulative_usable, cumulative_run, NULL)
ND4C_CL_KERNEL(cumulative_logsumexp, ND4C_CL_FLOATS, cumulative_usable, cumulative_run, NULL)
ND4C_CL_KERNEL(cumulative_max, ND4C_CL_REALS, best_usable, best_run, NULL)
ND4C_CL_KERNEL(cumulative_min, ND4C_CL_REALS, best_usable, best_run, NULL)
ND4C_CL_KERNEL(diff, ND4C_CL_REALS, diff_usable, diff_run, NULL)

const nd4c_kernel *const nd4c_cl_scan_kernels[] = {&kernel_cumulative_sum,
                                                   &kernel_cumulative_prod,
                                                   &kernel_cumulative_logsumexp,
                                                   &kernel_cumulative_max,
                                                   &kernel_cumulative_min,
                                                   &kernel_diff,
                                                   NULL};
