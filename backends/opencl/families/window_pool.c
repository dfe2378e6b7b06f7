/* Pools, their inverse (max_unpool), and morphology. dispatch/choice.c asks these kernels for arrays on OpenCL
 * devices. */
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

static pool average_pool_plan(const nd4c_call *call) {
  pool p = windowed(call, "average");
  p.include_pad = ND4C_FLAG_OF(call, average_pool_count_include_pad);
  return p;
}

static pool lp_pool_plan(const nd4c_call *call) {
  pool p = windowed(call, "lp");
  p.p = ND4C_REAL_OF(call, lp_pool_p);
  return p;
}

static pool max_pool_with_indices_plan(const nd4c_call *call) {
  pool p = windowed(call, "max");
  p.indices = &call->outputs[1];
  p.planar = ND4C_FLAG_OF(call, max_pool_with_indices_planar);
  p.column_major = ND4C_FLAG_OF(call, max_pool_with_indices_column_major);
  nd4c_cl_sweep_strides(p.indices, 2, p.sweep.z_strides);
  return p;
}

static pool lp_plan(const nd4c_call *call) {
  pool p = adaptive(call, "lp");
  p.p = ND4C_REAL_OF(call, global_lp_pool_p);
  return p;
}

static pool morphology(const nd4c_call *call, const char *what) {
  const nd4c_cl_window_attrs at = {ND4C_ATTR_morphological_dilation_strides, ND4C_ATTR_morphological_dilation_pads,
                                   ND4C_ATTR_morphological_dilation_dilations,
                                   ND4C_ATTR_morphological_dilation_auto_pad};
  pool p = {.what = what, .w = &call->inputs[1]};
  nd4c_cl_sweep_window(call, at, p.w->shape + 1, &p.sweep);
  nd4c_cl_sweep_strides(p.w, 1, p.sweep.w_strides);
  return p;
}

/* The lowest number of an integer dtype. */
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
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0], *w = p->w != NULL ? p->w : x;
  const bool lp = strcmp(p->what, "lp") == 0, real = nd4c_cl_is_float(x->dtype);
  const nd4c_cl_given power = {.kind = lp ? ND4C_CL_GIVEN_PAIRS : ND4C_CL_GIVEN_REALS, .at = &p->p, .count = 1};
  const nd4c_cl_given indices = ND4C_CL_OUT(p->indices), none = {0};
  nd4c_cl_options options = {{0}};
  char name[32];
  (void)snprintf(name, sizeof name, "POOL_%s", p->what);
  nd4c_cl_define(&options, name, "1");
  ND4C_CL_TYPES(&options, "ABY", x->dtype, w->dtype, y->dtype);
  (lp ? nd4c_cl_define_pair : nd4c_cl_define_real)(&options, call);
  nd4c_cl_define(&options, "VALUE", "%s", real ? "REAL" : "COMPUTE(A)");
  nd4c_cl_define(&options, "LOWEST", "%s", real ? "(-INFINITY)" : lowest(x->dtype));
  nd4c_cl_define_if(&options, !real, "WHOLE");
  nd4c_cl_define_if(&options, p->adaptive, "ADAPTIVE");
  nd4c_cl_define_if(&options, p->indices != NULL, "INDEXED");
  return ND4C_CL_RUN(call, lp ? ND4C_CL_BY_PAIRS(call, "sweep+pool") : "sweep+pool", "pool", options,
                     nd4c_cl_sweep_outputs(&p->sweep), ND4C_CL_VALUE(p->sweep), ND4C_CL_IN(x), ND4C_CL_IN(w),
                     ND4C_CL_OUT(y), power, ND4C_CL_INT(p->include_pad, p->planar, p->column_major),
                     p->indices != NULL ? indices : none);
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
    if (own >= 0 && !planar) {
      extents[axis] = s->x[axis] == 0
                          ? 0
                          : (s->x[axis] - 1) * nd4c_cl_list_at(&attrs[ND4C_ATTR_max_unpool_strides], own, 1) +
                                nd4c_cl_list_at(&attrs[ND4C_ATTR_max_unpool_kernel], own, 1) -
                                nd4c_cl_list_at(pads, own, 0) - nd4c_cl_list_at(pads, spatial + own, 0);
    }
  }
}

static int64_t max_unpool_scratch(const nd4c_call *call) {
  return call->outputs[0].size * 4;
}

static nd4c_status max_unpool(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  static const int32_t unmarked = 0;
  const nd4c_tensor *x = &call->inputs[0], *places = &call->inputs[1], *y = &call->outputs[0];
  nd4c_cl_sweep s;
  int64_t extents[3];
  nd4c_cl_options options = {{0}};
  if (x->size >= INT32_MAX) {
    return nd4c_cl_step_refuse(step, "more elements than 32 bits count");
  }
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  unpool_sweep(call, &s, extents);
  ND4C_CL_TYPES(&options, "ABY", x->dtype, places->dtype, y->dtype);
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, 0, y->size * 4, &unmarked, 4));
  ND4C_BACKEND_TRY(ND4C_CL_RUN(call, "sweep+unpool", "unpool_mark", options, x->size, ND4C_CL_VALUE(s),
                               ND4C_CL_LONGS(extents, 3), ND4C_CL_IN(places),
                               ND4C_CL_INT(ND4C_FLAG_OF(call, max_unpool_planar)), ND4C_CL_SCRATCH(READ_WRITE),
                               ND4C_CL_FAULT));
  return ND4C_CL_RUN(call, "sweep+unpool", "unpool_take", options, y->size, ND4C_CL_VALUE(s), ND4C_CL_IN(x),
                     ND4C_CL_OUT(y), ND4C_CL_SCRATCH(READ));
}

/* -- list ---------------------------------------------------------------------------------------------------------- */

/* X(op, dtypes, plan) */
#define OPS(X)                                                              \
  X(max_pool, ND4C_CL_REALS, windowed(call, "max"))                         \
  X(average_pool, ND4C_CL_FLOATS, average_pool_plan(call))                  \
  X(lp_pool, ND4C_CL_FLOATS, lp_pool_plan(call))                            \
  X(max_pool_with_indices, ND4C_CL_REALS, max_pool_with_indices_plan(call)) \
  X(global_average_pool, ND4C_CL_FLOATS, adaptive(call, "average"))         \
  X(global_max_pool, ND4C_CL_FLOATS, adaptive(call, "max"))                 \
  X(global_lp_pool, ND4C_CL_FLOATS, lp_plan(call))                          \
  X(adaptive_average_pool, ND4C_CL_FLOATS, adaptive(call, "average"))       \
  X(adaptive_max_pool, ND4C_CL_FLOATS, adaptive(call, "max"))               \
  X(morphological_dilation, ND4C_CL_FLOATS, morphology(call, "dilation"))   \
  X(morphological_erosion, ND4C_CL_FLOATS, morphology(call, "erosion"))

#define DEFINE(op, dtypes, plan)                       \
  static nd4c_status op##_run(const nd4c_call *call) { \
    pool p = plan;                                     \
    return pool_run(call, &p);                         \
  }                                                    \
  ND4C_CL_KERNEL(op, dtypes, nd4c_cl_call_usable, op##_run, NULL)
OPS(DEFINE)
ND4C_CL_STEP_KERNEL(max_unpool, ND4C_CL_REALS, max_unpool(step), max_unpool_scratch)

const nd4c_kernel *const nd4c_cl_window_pool_kernels[] = {&opencl_max_unpool, OPS(ND4C_CL_LISTED) NULL};
