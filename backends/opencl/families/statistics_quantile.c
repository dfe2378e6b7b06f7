/* Medians and quantiles. */
#include "backends/opencl/support/reduction.h"

enum { GROUP = 128 };

typedef struct plan {
  nd4c_cl_walk kept, inner;
  nd4c_tensor y; /* of the first q */
  int64_t y_step;
  const double *q;
  int32_t count, method; /* of nd4c_quantile_method; quantile.cl has the same numbers */
  bool skip_nan;
} plan;

static bool make_plan(const nd4c_call *call, plan *p, char *reason, size_t reason_size) {
  static const double half = 0.5;
  const nd4c_tensor *x = &call->inputs[0];
  bool quantile = call->op->op == ND4C_OP_quantile, reduced[ND4C_CL_MAX_RANK];
  bool keepdims = call->attrs[ND4C_ATTR_median_keepdims].as.i != 0;
  int64_t shape[2][ND4C_CL_MAX_RANK], strides[2][2][ND4C_CL_MAX_RANK];
  int32_t rank[2] = {0, 0}, place = 0;
  *p = (plan){.y = call->outputs[0], .q = &half, .count = 1, .method = ND4C_QUANTILE_METHOD_MIDPOINT};
  p->skip_nan = call->op->op == ND4C_OP_nanmedian;
  if (quantile) { /* the first axis counts q */
    p->q = call->attrs[ND4C_ATTR_quantile_q].as.floats;
    p->count = call->attrs[ND4C_ATTR_quantile_q].count;
    p->method = (int32_t)call->attrs[ND4C_ATTR_quantile_method].as.i;
    p->y_step = p->y.strides[0];
    p->y.strides++;
  }
  nd4c_cl_reduced_axes(x->rank, &call->attrs[ND4C_ATTR_median_axes], reduced);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    int side = reduced[axis] ? 1 : 0;
    shape[side][rank[side]] = x->shape[axis];
    strides[side][0][rank[side]] = x->strides[axis];
    strides[side][1][rank[side]++] = reduced[axis] ? 0 : p->y.strides[place];
    place += keepdims || !reduced[axis];
  }
  const int64_t *const kept[] = {strides[0][0], strides[0][1]}, *const inner[] = {strides[1][0]};
  return nd4c_cl_walk_strides(&p->kept, rank[0], shape[0], 2, kept, reason, reason_size) &&
         nd4c_cl_walk_strides(&p->inner, rank[1], shape[1], 1, inner, reason, reason_size);
}

/* Floats of up to 32 bits are compared as such, all else in double. */
static bool is_narrow(nd4c_dtype dtype) {
  return nd4c_cl_is_float(dtype) && dtype != ND4C_FLOAT64;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  plan p;
  if (!nd4c_cl_call_usable(call, reason, reason_size))
    return false;
  if (!is_narrow(call->inputs[0].dtype) && !nd4c_cl_fp64_usable(call->device, reason, reason_size))
    return false;
  return make_plan(call, &p, reason, reason_size);
}

static nd4c_status launch_one(const nd4c_call *call, const plan *p, nd4c_cl_kernel *kernel, int64_t group, int32_t i) {
  nd4c_cl_launch launch;
  nd4c_tensor y = p->y;
  int64_t global = p->kept.size * group;
  y.offset += i * p->y_step;
  nd4c_cl_launch_begin(&launch, call, kernel);
  nd4c_cl_arg_bytes(&launch, &p->kept, sizeof p->kept);
  nd4c_cl_arg_bytes(&launch, &p->inner, sizeof p->inner);
  nd4c_cl_arg_tensor(&launch, &call->inputs[0], ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, &y, ND4C_CL_WRITE);
  nd4c_cl_arg_real(&launch, p->q[i]);
  nd4c_cl_arg_int(&launch, p->method);
  nd4c_cl_arg_int(&launch, p->skip_nan);
  nd4c_cl_arg_local(&launch, (size_t)group * sizeof(int64_t));
  return nd4c_cl_launch_run(&launch, 1, &global, &group);
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_cl_limits *limits = nd4c_cl_device_limits(call->device);
  bool narrow = is_narrow(call->inputs[0].dtype);
  char reason[128];
  plan p;
  int64_t group = GROUP;
  nd4c_cl_options options = {{0}};
  nd4c_cl_kernel *kernel;
  if (!make_plan(call, &p, reason, sizeof reason))
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: %s", call->op->name, reason);
  while (group > 1 && (group > limits->group_size || group * (int64_t)sizeof(int64_t) > limits->local_bytes))
    group /= 2;
  nd4c_cl_define_type(&options, 'A', call->inputs[0].dtype);
  nd4c_cl_define_type(&options, 'Y', call->outputs[0].dtype);
  nd4c_cl_define_real(&options, call);
  nd4c_cl_define(&options, "NUMBER", "%s", narrow ? "float" : "double");
  nd4c_cl_define(&options, "KEY", "%s", narrow ? "uint" : "ulong");
  nd4c_cl_define(&options, "KEY_BITS", "%d", narrow ? 32 : 64);
  nd4c_cl_define(&options, "AS_KEY", "%s", narrow ? "as_uint" : "as_ulong");
  nd4c_cl_define(&options, "AS_NUMBER", "%s", narrow ? "as_float" : "as_double");
  nd4c_cl_define_index(&options, call);
  nd4c_status status = nd4c_cl_kernel_get(call->device, "quantile", "quantile", &options, &kernel);
  group = status == ND4C_OK ? nd4c_cl_kernel_fit(kernel, group) : group;
  for (int32_t i = 0; i < p.count && status == ND4C_OK; i++)
    status = launch_one(call, &p, kernel, group, i);
  return status;
}

ND4C_CL_KERNEL(median, ND4C_CL_REALS, usable, run, NULL)
ND4C_CL_KERNEL(nanmedian, ND4C_CL_FLOATS, usable, run, NULL)
ND4C_CL_KERNEL(quantile, ND4C_CL_REALS, usable, run, NULL)

const nd4c_kernel *const nd4c_cl_statistics_quantile_kernels[] = {&opencl_median, &opencl_nanmedian, &opencl_quantile, NULL};
