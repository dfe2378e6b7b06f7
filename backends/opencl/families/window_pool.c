/* Pools, morphology and what undoes a pool. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/support/sweep.h"

typedef struct pool {
  const char *what;
  nd4c_cl_sweep sweep;
  const nd4c_tensor *w, *indices;
  double p;
  bool adaptive, include_pad, planar, column_major;
} pool;

static const nd4c_cl_window_attrs pool_attrs = {ND4C_ATTR_max_pool_strides, ND4C_ATTR_max_pool_pads,
                                                ND4C_ATTR_max_pool_dilations, ND4C_ATTR_max_pool_auto_pad};

static pool windowed(const nd4c_call *call, const char *what) {
  pool p = {.what = what};
  nd4c_cl_sweep_window(call, pool_attrs, call->attrs[ND4C_ATTR_max_pool_kernel].as.ints, &p.sweep);
  return p;
}

static pool adaptive(const nd4c_call *call, const char *what) {
  pool p = {.what = what, .adaptive = true, .planar = true};
  nd4c_cl_sweep_extents(call, &p.sweep);
  if (call->output_count > 1) {
    p.indices = &call->outputs[1];
    nd4c_cl_sweep_strides(p.indices, 2, p.sweep.z_strides);
  }
  return p;
}

static pool max_pool_plan(const nd4c_call *call) {
  return windowed(call, "max");
}

static pool average_pool_plan(const nd4c_call *call) {
  pool p = windowed(call, "average");
  p.include_pad = call->attrs[ND4C_ATTR_average_pool_count_include_pad].as.i != 0;
  return p;
}

static pool lp_pool_plan(const nd4c_call *call) {
  pool p = windowed(call, "lp");
  p.p = call->attrs[ND4C_ATTR_lp_pool_p].as.f;
  return p;
}

static pool max_pool_with_indices_plan(const nd4c_call *call) {
  pool p = windowed(call, "max");
  p.indices = &call->outputs[1];
  p.planar = call->attrs[ND4C_ATTR_max_pool_with_indices_planar].as.i != 0;
  p.column_major = call->attrs[ND4C_ATTR_max_pool_with_indices_column_major].as.i != 0;
  nd4c_cl_sweep_strides(p.indices, 2, p.sweep.z_strides);
  return p;
}

static pool average_plan(const nd4c_call *call) {
  return adaptive(call, "average");
}

static pool max_plan(const nd4c_call *call) {
  return adaptive(call, "max");
}

static pool lp_plan(const nd4c_call *call) {
  pool p = adaptive(call, "lp");
  p.p = call->attrs[ND4C_ATTR_global_lp_pool_p].as.f;
  return p;
}

static pool morphology_plan(const nd4c_call *call, const char *what) {
  const nd4c_cl_window_attrs at = {ND4C_ATTR_morphological_dilation_strides, ND4C_ATTR_morphological_dilation_pads,
                                   ND4C_ATTR_morphological_dilation_dilations,
                                   ND4C_ATTR_morphological_dilation_auto_pad};
  pool p = {.what = what, .w = &call->inputs[1]};
  nd4c_cl_sweep_window(call, at, p.w->shape + 1, &p.sweep);
  nd4c_cl_sweep_strides(p.w, 1, p.sweep.w_strides);
  return p;
}

static pool dilation_plan(const nd4c_call *call) {
  return morphology_plan(call, "dilation");
}

static pool erosion_plan(const nd4c_call *call) {
  return morphology_plan(call, "erosion");
}

/* The lowest number of a dtype of whole numbers. */
static const char *lowest(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_INT8:
      return "(-128)";
    case ND4C_INT16:
      return "(-32768)";
    case ND4C_INT32:
      return "INT_MIN";
    case ND4C_INT64:
      return "LONG_MIN";
    default:
      return "0";
  }
}

static nd4c_status pool_run(const nd4c_call *call, const pool *p) {
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  char name[32];
  nd4c_dtype x = call->inputs[0].dtype;
  const nd4c_tensor *w = p->w != NULL ? p->w : &call->inputs[0];
  (void)snprintf(name, sizeof name, "POOL_%s", p->what);
  nd4c_cl_define(&options, name, "1");
  nd4c_cl_define_type(&options, 'A', x);
  nd4c_cl_define_type(&options, 'B', w->dtype);
  nd4c_cl_define_type(&options, 'Y', call->outputs[0].dtype);
  bool lp = strcmp(p->what, "lp") == 0;
  if (lp)
    nd4c_cl_define_pair(&options, call);
  else
    nd4c_cl_define_real(&options, call);
  nd4c_cl_define(&options, "VALUE", "%s", nd4c_cl_is_float(x) ? "REAL" : "COMPUTE_A");
  nd4c_cl_define(&options, "LOWEST", "%s", nd4c_cl_is_float(x) ? "(-INFINITY)" : lowest(x));
  if (!nd4c_cl_is_float(x))
    nd4c_cl_define(&options, "WHOLE", "1");
  if (p->adaptive)
    nd4c_cl_define(&options, "ADAPTIVE", "1");
  if (p->indices != NULL)
    nd4c_cl_define(&options, "INDEXED", "1");
  nd4c_status status =
      nd4c_cl_begin(&launch, call, lp ? ND4C_CL_BY_PAIRS(call, "sweep+pool") : "sweep+pool", "pool", &options);
  if (status != ND4C_OK)
    return status;
  nd4c_cl_arg_bytes(&launch, &p->sweep, sizeof p->sweep);
  nd4c_cl_arg_tensor(&launch, &call->inputs[0], ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, w, ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, &call->outputs[0], ND4C_CL_WRITE);
  if (lp)
    nd4c_cl_arg_pair(&launch, p->p);
  else
    nd4c_cl_arg_real(&launch, p->p);
  nd4c_cl_arg_int(&launch, p->include_pad);
  nd4c_cl_arg_int(&launch, p->planar);
  nd4c_cl_arg_int(&launch, p->column_major);
  if (p->indices != NULL)
    nd4c_cl_arg_tensor(&launch, p->indices, ND4C_CL_WRITE);
  int64_t outputs = nd4c_cl_sweep_outputs(&p->sweep);
  return nd4c_cl_launch_run(&launch, 1, &outputs, NULL);
}

/* -- max_unpool ---------------------------------------------------------------------------------------------------- */

static void unpool_sweep(const nd4c_call *call, nd4c_cl_sweep *s, int64_t *extents) {
  const nd4c_attr_value *attrs = call->attrs, *pads = &attrs[ND4C_ATTR_max_unpool_pads];
  int32_t spatial = call->inputs[0].rank - 2;
  bool planar = attrs[ND4C_ATTR_max_unpool_planar].as.i != 0;
  nd4c_cl_sweep_extents(call, s);
  nd4c_cl_sweep_strides(&call->inputs[1], 2, s->z_strides);
  for (int32_t axis = 0; axis < 3; axis++) {
    int32_t own = axis - (3 - spatial);
    extents[axis] = s->y[axis];
    if (own >= 0 && !planar)
      extents[axis] = s->x[axis] == 0
                          ? 0
                          : (s->x[axis] - 1) * nd4c_cl_list_at(&attrs[ND4C_ATTR_max_unpool_strides], own, 1) +
                                nd4c_cl_list_at(&attrs[ND4C_ATTR_max_unpool_kernel], own, 1) -
                                nd4c_cl_list_at(pads, own, 0) - nd4c_cl_list_at(pads, spatial + own, 0);
  }
}

static bool max_unpool_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  if (call->inputs[0].size >= INT32_MAX) {
    (void)snprintf(reason, reason_size, "more elements than 32 bits count");
    return false;
  }
  return nd4c_cl_call_usable(call, reason, reason_size);
}

static int64_t max_unpool_scratch(const nd4c_call *call) {
  return call->outputs[0].size * 4;
}

static nd4c_status max_unpool_run(const nd4c_call *call) {
  static const int32_t no_input = 0;
  nd4c_cl_sweep s;
  int64_t extents[3], inputs = call->inputs[0].size, outputs = call->outputs[0].size;
  nd4c_cl_options options = {{0}};
  nd4c_cl_kernel *mark, *take;
  nd4c_cl_launch launch;
  unpool_sweep(call, &s, extents);
  if (outputs == 0 && inputs == 0)
    return ND4C_OK;
  nd4c_cl_define_type(&options, 'A', call->inputs[0].dtype);
  nd4c_cl_define_type(&options, 'B', call->inputs[1].dtype);
  nd4c_cl_define_type(&options, 'Y', call->outputs[0].dtype);
  nd4c_status status = nd4c_cl_kernel_get(call->device, "sweep+unpool", "unpool_mark", &options, &mark);
  if (status == ND4C_OK)
    status = nd4c_cl_kernel_get(call->device, "sweep+unpool", "unpool_take", &options, &take);
  if (status == ND4C_OK && outputs > 0)
    status = nd4c_cl_fill(call, call->scratch_buffer, 0, outputs * 4, &no_input, 4);
  if (status != ND4C_OK)
    return status;
  nd4c_cl_launch_begin(&launch, call, mark);
  nd4c_cl_arg_bytes(&launch, &s, sizeof s);
  for (int axis = 0; axis < 3; axis++)
    nd4c_cl_arg_long(&launch, extents[axis]);
  nd4c_cl_arg_tensor(&launch, &call->inputs[1], ND4C_CL_READ);
  nd4c_cl_arg_int(&launch, call->attrs[ND4C_ATTR_max_unpool_planar].as.i != 0);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ_WRITE);
  nd4c_cl_arg_fault(&launch);
  status = nd4c_cl_launch_run(&launch, 1, &inputs, NULL);
  if (status != ND4C_OK)
    return status;
  nd4c_cl_launch_begin(&launch, call, take);
  nd4c_cl_arg_bytes(&launch, &s, sizeof s);
  nd4c_cl_arg_tensor(&launch, &call->inputs[0], ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, &call->outputs[0], ND4C_CL_WRITE);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ);
  return nd4c_cl_launch_run(&launch, 1, &outputs, NULL);
}

/* -- list ---------------------------------------------------------------------------------------------------------- */

/* X(op, dtypes, plan) */
#define OPS(X)                                                        \
  X(max_pool, ND4C_CL_REALS, max_pool_plan)                           \
  X(average_pool, ND4C_CL_FLOATS, average_pool_plan)                  \
  X(lp_pool, ND4C_CL_FLOATS, lp_pool_plan)                            \
  X(max_pool_with_indices, ND4C_CL_REALS, max_pool_with_indices_plan) \
  X(global_average_pool, ND4C_CL_FLOATS, average_plan)                \
  X(global_max_pool, ND4C_CL_FLOATS, max_plan)                        \
  X(global_lp_pool, ND4C_CL_FLOATS, lp_plan)                          \
  X(adaptive_average_pool, ND4C_CL_FLOATS, average_plan)              \
  X(adaptive_max_pool, ND4C_CL_FLOATS, max_plan)                      \
  X(morphological_dilation, ND4C_CL_FLOATS, dilation_plan)            \
  X(morphological_erosion, ND4C_CL_FLOATS, erosion_plan)

#define DEFINE(op, dtypes, plan)                       \
  static nd4c_status op##_run(const nd4c_call *call) { \
    pool p = plan(call);                               \
    return pool_run(call, &p);                         \
  }                                                    \
  ND4C_CL_KERNEL(op, dtypes, nd4c_cl_call_usable, op##_run, NULL)
OPS(DEFINE)
ND4C_CL_KERNEL(max_unpool, ND4C_CL_REALS, max_unpool_usable, max_unpool_run, max_unpool_scratch)

#define LISTED(op, ...) &opencl_##op,
const nd4c_kernel *const nd4c_cl_window_pool_kernels[] = {OPS(LISTED) & opencl_max_unpool, NULL};
