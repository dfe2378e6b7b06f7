/* The family reduction: which statistic of reduction.cl an op computes. dispatch/choice.c asks these kernels for arrays
 * on OpenCL devices. The launches are in support/reduction.c. */
#include "backends/opencl/support/reduction.h"

typedef struct row {
  nd4c_op op;
  const char *gather;
  bool least, skip_nan, pair, single_axis;
  int32_t parameter; /* position of the attribute, -1: none */
} row;

/* X(op, dtypes, then the members of `row` in their order) */
#define REDUCTIONS(X)                                                                           \
  X(sum, ND4C_CL_ALL, sum, false, false, false, false, -1)                                      \
  X(prod, ND4C_CL_ALL, prod, false, false, false, false, -1)                                    \
  X(mean, ND4C_CL_FLOATS, mean, false, false, false, false, -1)                                 \
  X(max, ND4C_CL_ALL, extreme, false, false, false, false, -1)                                  \
  X(min, ND4C_CL_ALL, extreme, true, false, false, false, -1)                                   \
  X(all, ND4C_CL_ALL, all, false, false, false, false, -1)                                      \
  X(any, ND4C_CL_ALL, any, false, false, false, false, -1)                                      \
  X(argmax, ND4C_CL_ALL, place, false, false, false, true, -1)                                  \
  X(argmin, ND4C_CL_ALL, place, true, false, false, true, -1)                                   \
  X(var, ND4C_CL_FLOATS, var, false, false, false, false, ND4C_ATTR_var_correction)             \
  X(std, ND4C_CL_FLOATS, std, false, false, false, false, ND4C_ATTR_std_correction)             \
  X(logsumexp, ND4C_CL_FLOATS, logsumexp, false, false, false, false, -1)                       \
  X(norm1, ND4C_CL_FLOATS, norm1, false, false, false, false, -1)                               \
  X(norm2, ND4C_CL_FLOATS, norm2, false, false, false, false, -1)                               \
  X(norm_max, ND4C_CL_FLOATS, norm_max, false, false, false, false, -1)                         \
  X(norm_p, ND4C_CL_FLOATS, norm_p, false, false, false, false, ND4C_ATTR_norm_p_p)             \
  X(sum_square, ND4C_CL_FLOATS, sum_square, false, false, false, false, -1)                     \
  X(count_nonzero, ND4C_CL_ALL, count_nonzero, false, false, false, false, -1)                  \
  X(count_zero, ND4C_CL_ALL, count_zero, false, false, false, false, -1)                        \
  X(zero_fraction, ND4C_CL_ALL, zero_fraction, false, false, false, false, -1)                  \
  X(entropy, ND4C_CL_FLOATS, entropy, false, false, false, false, -1)                           \
  X(log_entropy, ND4C_CL_FLOATS, log_entropy, false, false, false, false, -1)                   \
  X(shannon_entropy, ND4C_CL_FLOATS, shannon_entropy, false, false, false, false, -1)           \
  X(abs_min, ND4C_CL_FLOATS, abs_min, true, false, false, false, -1)                            \
  X(abs_mean, ND4C_CL_FLOATS, abs_mean, false, false, false, false, -1)                         \
  X(ptp, ND4C_CL_REALS, ptp, false, false, false, false, -1)                                    \
  X(nansum, ND4C_CL_FLOATS, sum, false, true, false, false, -1)                                 \
  X(nanprod, ND4C_CL_FLOATS, prod, false, true, false, false, -1)                               \
  X(nanmean, ND4C_CL_FLOATS, mean, false, true, false, false, -1)                               \
  X(nanmax, ND4C_CL_FLOATS, extreme, false, true, false, false, -1)                             \
  X(nanmin, ND4C_CL_FLOATS, extreme, true, true, false, false, -1)                              \
  X(nanvar, ND4C_CL_FLOATS, var, false, true, false, false, ND4C_ATTR_nanvar_correction)        \
  X(nanstd, ND4C_CL_FLOATS, std, false, true, false, false, ND4C_ATTR_nanstd_correction)        \
  X(vector_norm, ND4C_CL_FLOATS, norm_p, false, false, false, false, ND4C_ATTR_vector_norm_ord) \
  X(cosine_similarity, ND4C_CL_FLOATS, cosine_similarity, false, false, true, false, -1)        \
  X(euclidean_distance, ND4C_CL_FLOATS, euclidean_distance, false, false, true, false, -1)      \
  X(manhattan_distance, ND4C_CL_FLOATS, manhattan_distance, false, false, true, false, -1)      \
  X(hamming_distance, ND4C_CL_FLOATS, hamming_distance, false, false, true, false, -1)          \
  X(jaccard_distance, ND4C_CL_FLOATS, jaccard_distance, false, false, true, false, -1)

#define ROW(op, dtypes, gather, least, skip_nan, pair, single_axis, parameter) \
  {ND4C_OP_##op, "GATHER_" #gather, least, skip_nan, pair, single_axis, parameter},
static const row rows[] = {REDUCTIONS(ROW)};

static const row *row_of(const nd4c_call *call) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].op == call->op->op) {
      return &rows[i];
    }
  }
  return NULL;
}

/* The reduction that the row and the attributes of the op describe. */
static nd4c_cl_reduction reduction_of(const nd4c_call *call) {
  const row *r = row_of(call);
  nd4c_cl_reduction reduction = {.gather = r->gather,
                                 .a = &call->inputs[0],
                                 .b = r->pair ? &call->inputs[1] : NULL,
                                 .y = &call->outputs[0],
                                 .least = r->least,
                                 .skip_nan = r->skip_nan,
                                 .parameter = r->parameter >= 0 ? call->attrs[r->parameter].as.f : 0};
  int32_t axes = ND4C_ATTR_sum_axes, keepdims = ND4C_ATTR_sum_keepdims;
  if (r->op == ND4C_OP_vector_norm) {
    axes = ND4C_ATTR_vector_norm_axes;
    keepdims = ND4C_ATTR_vector_norm_keepdims;
  }
  if (r->single_axis && reduction.a->rank > 0) {
    reduction.reduced[nd4c_axis(ND4C_INT_OF(call, argmax_axis), reduction.a->rank)] = true;
  } else if (!r->single_axis) {
    nd4c_cl_reduced_axes(reduction.a->rank, &call->attrs[axes], reduction.reduced);
  }
  nd4c_cl_reduction_over(&reduction, call->attrs[r->single_axis ? ND4C_ATTR_argmax_keepdims : keepdims].as.i != 0);
  return reduction;
}

static int64_t scratch(const nd4c_call *call) {
  nd4c_cl_reduction reduction = reduction_of(call);
  return nd4c_cl_reduction_scratch(call, &reduction);
}

static nd4c_status reduce(const nd4c_cl_step *step) {
  nd4c_cl_reduction reduction = reduction_of(step->call);
  return nd4c_cl_reduce(step, &reduction);
}

/* -- moments: two results ------------------------------------------------------------------------------------------ */

static nd4c_cl_reduction moment_of(const nd4c_call *call, int32_t output) {
  nd4c_cl_reduction reduction = {
      .gather = output == 0 ? "GATHER_mean" : "GATHER_var", .a = &call->inputs[0], .y = &call->outputs[output]};
  nd4c_cl_reduced_axes(reduction.a->rank, &call->attrs[ND4C_ATTR_moments_axes], reduction.reduced);
  nd4c_cl_reduction_over(&reduction, ND4C_FLAG_OF(call, moments_keepdims));
  return reduction;
}

static int64_t moments_scratch(const nd4c_call *call) {
  nd4c_cl_reduction mean = moment_of(call, 0);
  return nd4c_cl_reduction_scratch(call, &mean);
}

static nd4c_status moments(const nd4c_cl_step *step) {
  nd4c_cl_reduction mean = moment_of(step->call, 0), variance = moment_of(step->call, 1);
  ND4C_BACKEND_TRY(nd4c_cl_reduce(step, &mean));
  return nd4c_cl_reduce(step, &variance);
}

/* -- matrix_norm: the norms that need no singular values ----------------------------------------------------------- */

typedef struct matrix_norm {
  nd4c_cl_reduction first, last; /* sums of magnitudes into scratch, then their least or largest; or `first` alone */
  nd4c_tensor sums;
  bool two;
  int64_t sums_bytes;
} matrix_norm;

static void matrix_norm_plan(const nd4c_call *call, matrix_norm *p) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int64_t ord = ND4C_INT_OF(call, matrix_norm_ord);
  bool keepdims = ND4C_FLAG_OF(call, matrix_norm_keepdims);
  bool by_rows = nd4c_norm_is_by_rows(ord);
  int32_t row_axis = x->rank - 2, column_axis = x->rank - 1, inner = by_rows ? column_axis : row_axis;
  int64_t size = 1;
  /* The norm of no elements is 0 for every order, so one pass is enough. */
  p->two = ord != ND4C_MATRIX_NORM_ORDER_FROBENIUS && x->shape[row_axis] > 0 && x->shape[column_axis] > 0;
  p->first = (nd4c_cl_reduction){.gather = p->two ? "GATHER_norm1" : "GATHER_norm2", .a = x, .y = y};
  p->first.reduced[row_axis] = !p->two || inner == row_axis;
  p->first.reduced[column_axis] = !p->two || inner == column_axis;
  p->sums_bytes = 0;
  if (!p->two) {
    nd4c_cl_reduction_over(&p->first, keepdims);
    return;
  }
  p->sums = (nd4c_tensor){.dtype = nd4c_cl_wide(call) ? ND4C_FLOAT64 : ND4C_FLOAT32, .buffer = call->scratch_buffer};
  p->first.y = p->last.a = &p->sums;
  p->last = (nd4c_cl_reduction){.gather = "GATHER_extreme", .a = &p->sums, .y = y, .least = nd4c_norm_is_least(ord)};
  p->first.rank = p->last.rank = x->rank;
  for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
    bool matrix = axis >= row_axis;
    p->first.shape[axis] = x->shape[axis];
    p->first.a_strides[axis] = x->strides[axis];
    p->last.shape[axis] = axis == inner ? 1 : x->shape[axis];
    p->last.reduced[axis] = matrix;
    p->last.a_strides[axis] = p->first.y_strides[axis] = axis == inner ? 0 : size;
    p->last.y_strides[axis] = matrix ? 0 : y->strides[axis];
    size *= p->last.shape[axis];
  }
  p->sums_bytes = (size * 8 + 63) / 64 * 64;
  p->first.scratch_at = p->last.scratch_at = p->sums_bytes;
}

static int64_t matrix_norm_scratch(const nd4c_call *call) {
  matrix_norm p;
  matrix_norm_plan(call, &p);
  int64_t first = nd4c_cl_reduction_scratch(call, &p.first);
  int64_t last = p.two ? nd4c_cl_reduction_scratch(call, &p.last) : 0;
  return p.sums_bytes + (first > last ? first : last);
}

static nd4c_status norm_matrix(const nd4c_cl_step *step) {
  matrix_norm p;
  if (nd4c_norm_is_spectral(ND4C_INT_OF(step->call, matrix_norm_ord))) {
    return nd4c_cl_step_refuse(step, "singular values are not computed by OpenCL kernels");
  }
  matrix_norm_plan(step->call, &p);
  ND4C_BACKEND_TRY(nd4c_cl_reduce(step, &p.first));
  return p.two ? nd4c_cl_reduce(step, &p.last) : ND4C_OK;
}

ND4C_CL_STEP(reduce, reduce(step))
#define DEFINE_KERNEL(op, dtypes, ...) ND4C_CL_KERNEL(op, dtypes, reduce_usable, reduce_run, scratch)
REDUCTIONS(DEFINE_KERNEL)
ND4C_CL_STEP_KERNEL(moments, ND4C_CL_FLOATS, moments(step), moments_scratch)
ND4C_CL_STEP_KERNEL(matrix_norm, ND4C_CL_FLOATS, norm_matrix(step), matrix_norm_scratch)

const nd4c_kernel *const nd4c_cl_reduction_kernels[] = {&opencl_moments, &opencl_matrix_norm,
                                                        REDUCTIONS(ND4C_CL_LISTED) NULL};
