/* Medians and quantiles. dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
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

static nd4c_status make_plan(const nd4c_cl_step *step, plan *p) {
  const nd4c_call *call = step->call;
  static const double half = 0.5;
  const nd4c_tensor *x = &call->inputs[0];
  bool quantile = call->op->op == ND4C_OP_quantile, reduced[ND4C_CL_MAX_RANK];
  bool keepdims = ND4C_FLAG_OF(call, median_keepdims);
  int64_t y_strides[ND4C_CL_MAX_RANK];
  const int64_t *const strides[] = {x->strides, y_strides};
  int32_t place = 0;
  *p = (plan){.y = call->outputs[0], .q = &half, .count = 1, .method = ND4C_QUANTILE_METHOD_MIDPOINT};
  p->skip_nan = call->op->op == ND4C_OP_nanmedian;
  if (quantile) { /* the first axis counts q */
    p->q = call->attrs[ND4C_ATTR_quantile_q].as.floats;
    p->count = call->attrs[ND4C_ATTR_quantile_q].count;
    p->method = (int32_t)ND4C_INT_OF(call, quantile_method);
    p->y_step = p->y.strides[0];
    p->y.strides++;
  }
  nd4c_cl_reduced_axes(x->rank, &call->attrs[ND4C_ATTR_median_axes], reduced);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    y_strides[axis] = reduced[axis] ? 0 : p->y.strides[place];
    place += keepdims || !reduced[axis];
  }
  return nd4c_cl_step_walk_split(step, &p->kept, &p->inner, x->rank, x->shape, reduced, (const int32_t[]){2, 1},
                                 strides);
}

/* Floats of up to 32 bits are compared as floats, all other numbers as doubles. */
static bool is_narrow(nd4c_dtype dtype) {
  return nd4c_cl_is_float(dtype) && dtype != ND4C_FLOAT64;
}

static nd4c_status quantiles(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const bool narrow = is_narrow(x->dtype);
  plan p;
  ND4C_BACKEND_TRY(make_plan(step, &p));
  if (nd4c_cl_is_dry(step)) {
    return narrow ? nd4c_cl_step_call(step) : nd4c_cl_step_fp64(step);
  }
  nd4c_cl_options options = {""};
  ND4C_CL_TYPES(&options, "AY", x->dtype, y->dtype);
  nd4c_cl_define_real(&options, call);
  nd4c_cl_define(&options, "NUMBER", "%s", narrow ? "float" : "double");
  nd4c_cl_define(&options, "KEY", "%s", narrow ? "uint" : "ulong");
  nd4c_cl_define(&options, "KEY_BITS", "%d", narrow ? 32 : 64);
  nd4c_cl_define(&options, "AS_KEY", "%s", narrow ? "as_uint" : "as_ulong");
  nd4c_cl_define(&options, "AS_NUMBER", "%s", narrow ? "as_float" : "as_double");
  nd4c_cl_define_index(&options, call);
  for (int32_t i = 0; i < p.count; i++) {
    ND4C_BACKEND_TRY(ND4C_CL_RUN_GROUPS(
        call, "quantile", "quantile", options, p.kept.size, nd4c_cl_group_within(call, GROUP, sizeof(int64_t)),
        ND4C_CL_VALUE(p.kept), ND4C_CL_VALUE(p.inner), ND4C_CL_IN(x), ND4C_CL_OUT_AT(y, i * p.y_step),
        ND4C_CL_REAL(p.q[i]), ND4C_CL_INT(p.method, p.skip_nan), ND4C_CL_LOCAL_EACH(sizeof(int64_t))));
  }
  return ND4C_OK;
}

ND4C_CL_STEP_KERNEL(median, ND4C_CL_REALS, quantiles(step), NULL)
ND4C_CL_STEP_KERNEL(nanmedian, ND4C_CL_FLOATS, quantiles(step), NULL)
ND4C_CL_STEP_KERNEL(quantile, ND4C_CL_REALS, quantiles(step), NULL)

const nd4c_kernel *const nd4c_cl_statistics_quantile_kernels[] = {&opencl_median, &opencl_nanmedian, &opencl_quantile,
                                                                  NULL};
