/* Launches of reduction.cl: how rows and their elements are shared among work items. The families reduction and
 * contraction call it. */
#include <string.h>

#include "backends/opencl/support/reduction.h"

enum {
  GROUP = 128,      /* work items of a group at most */
  STATE_BYTES = 64, /* at least what a state of reduction.cl takes */
  PIECE = 4096,     /* elements of a row's piece at least */
  PIECES = 256,     /* of a row at most */
  UNITS = 8,        /* groups for each compute unit before rows are cut */
  EIGHT_LEAST = 64  /* elements of a row that is gone through in vectors */
};

typedef struct plan {
  nd4c_cl_walk kept, inner;
  bool rows_next; /* neighbouring work items take neighbouring rows */
  bool eight;     /* EIGHT of reduction.cl */
  int64_t group, lanes, pieces, piece;
} plan;

void nd4c_cl_reduced_axes(int32_t rank, const nd4c_attr_value *axes, bool *reduced) {
  for (int32_t axis = 0; axis < rank; axis++) {
    reduced[axis] = axes->as.ints == NULL;
  }
  for (int32_t i = 0; i < axes->count; i++) {
    reduced[nd4c_axis(axes->as.ints[i], rank)] = true;
  }
}

void nd4c_cl_reduction_over(nd4c_cl_reduction *reduction, bool keepdims) {
  const nd4c_tensor *a = reduction->a, *b = reduction->b;
  int32_t place = 0;
  reduction->rank = a->rank;
  for (int32_t axis = 0; axis < a->rank; axis++) {
    bool reduced = reduction->reduced[axis];
    reduction->shape[axis] = a->shape[axis];
    reduction->a_strides[axis] = a->strides[axis];
    reduction->b_strides[axis] = b != NULL ? b->strides[axis] : 0;
    reduction->y_strides[axis] = reduced ? 0 : reduction->y->strides[place];
    place += keepdims || !reduced;
  }
}

static int64_t power_of_two(int64_t least) {
  int64_t power = 1;
  while (power < least) {
    power *= 2;
  }
  return power;
}

/* Sums that a processor computes in vectors, with one work item for each row or piece; compilers do not vectorise them
 * themselves. */
static bool by_eight(const nd4c_call *call, const nd4c_cl_reduction *reduction, const nd4c_cl_walk *inner) {
  bool sum = strcmp(reduction->gather, "GATHER_sum") == 0 || strcmp(reduction->gather, "GATHER_mean") == 0;
  return sum && nd4c_cl_device_limits(call->device)->is_cpu && nd4c_cl_wide(call) && !reduction->skip_nan &&
         reduction->b == NULL && reduction->a->dtype == ND4C_FLOAT32 &&
         (reduction->y->dtype == ND4C_FLOAT32 || reduction->y->dtype == ND4C_FLOAT64) && inner->rank == 1 &&
         inner->strides[0][0] == 1 && inner->size >= EIGHT_LEAST;
}

static nd4c_status make_plan(const nd4c_cl_step *step, const nd4c_cl_reduction *reduction, plan *p) {
  const nd4c_call *call = step->call;
  const nd4c_cl_limits *limits = nd4c_cl_device_limits(call->device);
  const int64_t *const strides[] = {reduction->a_strides, reduction->b_strides, reduction->y_strides};
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_split(step, &p->kept, &p->inner, reduction->rank, reduction->shape,
                                           reduction->reduced, (const int32_t[]){3, 2}, strides));
  p->group = nd4c_cl_group_within(call, GROUP, STATE_BYTES);
  p->eight = by_eight(call, reduction, &p->inner);
  p->group = p->eight ? 1 : p->group;
  p->rows_next = p->kept.rank > 0 && nd4c_cl_walk_step(&p->kept) < nd4c_cl_walk_step(&p->inner);
  int64_t least = p->rows_next ? p->inner.size / 16 : p->inner.size / 4;
  p->lanes = power_of_two(least < p->group ? least : p->group);
  int64_t wanted = UNITS * (int64_t)(limits->compute_units > 0 ? limits->compute_units : 1);
  p->pieces = 1;
  if (p->kept.size > 0 && p->kept.size < wanted && p->inner.size >= 2 * PIECE) {
    int64_t pieces = wanted / p->kept.size + 1, most = p->inner.size / PIECE;
    pieces = pieces > most ? most : pieces;
    p->pieces = pieces > PIECES ? PIECES : pieces;
  }
  p->piece = (p->inner.size + p->pieces - 1) / p->pieces;
  return ND4C_OK;
}

int64_t nd4c_cl_reduction_scratch(const nd4c_call *call, const nd4c_cl_reduction *reduction) {
  char reason[64];
  const nd4c_cl_step dry = {call, reason, sizeof reason};
  plan p;
  return make_plan(&dry, reduction, &p) == ND4C_OK && p.pieces > 1 ? p.pieces * p.kept.size * STATE_BYTES : 0;
}

/* Elements are taken as numbers of the result's type. */
static bool folds(const nd4c_cl_reduction *reduction) {
  const char *gather = reduction->gather;
  return strcmp(gather, "GATHER_sum") == 0 || strcmp(gather, "GATHER_prod") == 0 ||
         strcmp(gather, "GATHER_product") == 0;
}

/* Elements are also rounded to that type first, as the op cast does: sum and prod with the attribute `dtype`. */
static bool casts(const nd4c_cl_reduction *reduction) {
  return folds(reduction) && reduction->b == NULL && nd4c_cl_must_cast(reduction->a->dtype, reduction->y->dtype);
}

static nd4c_cl_options options_of(const nd4c_call *call, const nd4c_cl_reduction *reduction, const plan *p) {
  nd4c_cl_options options = {{0}};
  nd4c_dtype a = reduction->a->dtype, y = reduction->y->dtype;
  bool real = nd4c_cl_is_float(a), wide = nd4c_cl_wide(call);
  nd4c_cl_define(&options, reduction->gather, "1");
  ND4C_CL_TYPES(&options, "ABY", a, nd4c_cl_dtype_of(reduction->b, a), y);
  nd4c_cl_define_real(&options, call);
  real = folds(reduction) ? nd4c_cl_is_float(y) : real;
  nd4c_cl_define(&options, "VALUE", "%s",
                 real               ? "REAL"
                 : folds(reduction) ? nd4c_cl_wrapping(y, "COMPUTE(Y)")
                                    : "COMPUTE(A)");
  nd4c_cl_define(&options, "PARAMETER", "REAL");
  nd4c_cl_define_if(&options, real, "REAL_STATE");
  nd4c_cl_define_if(&options, real && !(wide && a != ND4C_FLOAT64), "COMPENSATED");
  nd4c_cl_define_if(&options, wide, "WIDE_VALUE");
  if (p->eight) {
    nd4c_cl_define(&options, "EIGHT", "double8");
    nd4c_cl_define(&options, "CAST_EIGHT", "convert_double8");
  }
  nd4c_cl_define_if(&options, reduction->b != NULL, "PAIRED");
  nd4c_cl_define_if(&options, reduction->least, "LEAST");
  nd4c_cl_define_if(&options, reduction->skip_nan, "SKIP_NAN");
  nd4c_cl_define_if(&options, casts(reduction), "CAST");
  if (p->kept.size < INT32_MAX && p->inner.size < INT32_MAX) { /* products of axes may count further than operands */
    nd4c_cl_define_index(&options, call);
  }
  return options;
}

static const char *source_of(const nd4c_cl_reduction *reduction) {
  return casts(reduction) ? "convert+reduction" : "reduction";
}

static nd4c_status in_pieces(const nd4c_call *call, const nd4c_cl_reduction *reduction, const plan *p,
                             nd4c_cl_options options) {
  const char *source = source_of(reduction);
  ND4C_BACKEND_TRY(ND4C_CL_RUN_GROUPS(call, source, "reduce_pieces", options, p->kept.size * p->pieces, p->group,
                                      ND4C_CL_VALUE(p->kept), ND4C_CL_VALUE(p->inner), ND4C_CL_IN(reduction->a),
                                      ND4C_CL_IN(reduction->b), ND4C_CL_SCRATCH(WRITE),
                                      ND4C_CL_LONG(reduction->scratch_at), ND4C_CL_REAL(reduction->parameter),
                                      ND4C_CL_LONG(p->pieces, p->piece), ND4C_CL_LOCAL_EACH(STATE_BYTES)));
  return ND4C_CL_RUN_GROUPS(call, source, "reduce_partial", options, p->kept.size, p->group, ND4C_CL_VALUE(p->kept),
                            ND4C_CL_SCRATCH(READ), ND4C_CL_LONG(reduction->scratch_at), ND4C_CL_OUT(reduction->y),
                            ND4C_CL_REAL(reduction->parameter), ND4C_CL_LONG(p->pieces),
                            ND4C_CL_LOCAL_EACH(STATE_BYTES));
}

nd4c_status nd4c_cl_reduce(const nd4c_cl_step *step, const nd4c_cl_reduction *reduction) {
  const nd4c_call *call = step->call;
  plan p;
  nd4c_cl_launch launch;
  ND4C_BACKEND_TRY(make_plan(step, reduction, &p));
  if (nd4c_cl_is_dry(step) || p.kept.size == 0) {
    return nd4c_cl_is_dry(step) ? nd4c_cl_step_call(step) : ND4C_OK;
  }
  nd4c_cl_options options = options_of(call, reduction, &p);
  if (p.pieces > 1) {
    return in_pieces(call, reduction, &p, options);
  }
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, source_of(reduction), "reduce", &options));
  p.group = nd4c_cl_kernel_fit(launch.kernel, p.group);
  p.lanes = p.lanes < p.group ? p.lanes : p.group;
  int64_t rows = p.group / p.lanes, global = (p.kept.size + rows - 1) / rows * p.group;
  ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(p.kept), ND4C_CL_VALUE(p.inner), ND4C_CL_IN(reduction->a),
               ND4C_CL_IN(reduction->b), ND4C_CL_OUT(reduction->y), ND4C_CL_REAL(reduction->parameter),
               ND4C_CL_INT((int32_t)p.lanes, p.rows_next), ND4C_CL_LOCAL((size_t)p.group * STATE_BYTES));
  return nd4c_cl_launch_run(&launch, 1, &global, &p.group);
}
