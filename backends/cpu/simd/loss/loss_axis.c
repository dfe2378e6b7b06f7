/* Engine simd: losses that each take an axis of x: of classes (nll_loss, softmax_cross_entropy) and of distributions
 * (dense_cross_entropy, cosine_distance). Rows are reduced into scratch in double first. dispatch/choice.c asks these
 * kernels before the reference's. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "backends/cpu/simd/loss/loss.h"
#include "backends/cpu/simd/reduction/reduction_terms.h"
#include "backends/cpu/support/flat.h"
#include "kernels/reference/support/value.h"

enum { GRAIN = 4096, LISTS = 3 };

/* The rows of x along an axis: their losses, weights and sums of exponentials' logarithms, in scratch. */
typedef struct rows {
  int32_t axis, rank; /* of a loss */
  int64_t count, length;
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK], x_strides[ND4C_CPU_MAX_RANK];
  nd4c_tensor losses, shares, logarithms; /* of double, without gaps */
} rows;

static void rows_make(const nd4c_call *call, int32_t axis, rows *r) {
  const nd4c_tensor *x = &call->inputs[0];
  *r = (rows){.axis = axis, .rank = x->rank - 1, .count = 1, .length = x->shape[axis]};
  for (int32_t i = r->rank - 1; i >= 0; i--) {
    r->shape[i] = x->shape[i < axis ? i : i + 1];
    r->x_strides[i] = x->strides[i < axis ? i : i + 1];
    r->strides[i] = r->count;
    r->count *= r->shape[i];
  }
  nd4c_tensor *const lists[LISTS] = {&r->losses, &r->shares, &r->logarithms};
  for (int32_t i = 0; i < LISTS; i++) {
    *lists[i] = (nd4c_tensor){.dtype = ND4C_FLOAT64,
                              .flags = ND4C_TENSOR_CONTIGUOUS,
                              .rank = r->rank,
                              .shape = r->shape,
                              .strides = r->strides,
                              .size = r->count,
                              .data = (double *)call->scratch + i * r->count};
  }
}

static int64_t rows_bytes(const nd4c_call *call, int32_t axis) {
  const nd4c_tensor *x = &call->inputs[0];
  return LISTS * (x->size / x->shape[axis]) * (int64_t)sizeof(double);
}

/* The offset of a row among strides like those of a loss, in elements. */
static int64_t row_at(const rows *r, int64_t row, const int64_t *strides) {
  int64_t offset = 0;
  for (int32_t i = r->rank - 1; i >= 0 && row > 0; i--) { /* mostly of one axis: a division is slow */
    offset += (i > 0 ? row % r->shape[i] : row) * strides[i];
    row = i > 0 ? row / r->shape[i] : 0;
  }
  return offset;
}

/* Reduces x, or x and the target, along the axis into `to`. */
static nd4c_status reduce_rows(const nd4c_call *call, const rows *r, nd4c_simd_row_reduction reduction,
                               const nd4c_tensor *to) {
  const int64_t axis = r->axis;
  const nd4c_attr_value attrs[2] = {{.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &axis}, {.kind = ND4C_ATTR_BOOL}};
  nd4c_call inner = *call;
  inner.attrs = attrs;
  inner.outputs = to;
  return reduction(&inner);
}

/* The logarithms of the sums of exponentials. A row with an infinity has no log_softmax. */
static nd4c_status take_logarithms(const nd4c_call *call, const rows *r) {
  double *logarithms = r->logarithms.data;
  ND4C_BACKEND_TRY(reduce_rows(call, r, nd4c_simd_logsumexp, &r->logarithms));
  for (int64_t i = 0; i < r->count; i++) {
    logarithms[i] = logarithms[i] == INFINITY ? NAN : logarithms[i];
  }
  return ND4C_OK;
}

/* -- classes ------------------------------------------------------------------------------------------------------- */

typedef struct class_job {
  const nd4c_call *call;
  const rows *r;
  bool softmax;
  int64_t ignored;
} class_job;

static int64_t class_of(const nd4c_tensor *target, const rows *r, int64_t row) {
  const int64_t at = row_at(r, row, target->strides);
  return target->dtype == ND4C_INT64 ? ((const int64_t *)target->data)[at]
                                     : nd4c_value_load(target->dtype, target->data, at).i;
}

/* A float; `at` counts elements. */
static double number_at(const nd4c_tensor *x, int64_t at) {
  return x->dtype == ND4C_FLOAT32   ? (double)((const float *)x->data)[at]
         : x->dtype == ND4C_FLOAT64 ? ((const double *)x->data)[at]
                                    : nd4c_value_load(x->dtype, x->data, at).f;
}

static void classes_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const class_job *job = user;
  const rows *r = job->r;
  const nd4c_tensor *x = &job->call->inputs[0], *target = &job->call->inputs[ND4C_IN_nll_loss_target];
  const nd4c_tensor *weights = nd4c_cpu_input(job->call, ND4C_IN_nll_loss_weights);
  double *losses = r->losses.data, *shares = r->shares.data;
  const double *logarithms = r->logarithms.data;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    const int64_t class = class_of(target, r, row);
    losses[row] = shares[row] = 0;
    if (class == job->ignored) {
      continue;
    }
    const double score = number_at(x, row_at(r, row, r->x_strides) + class * x->strides[r->axis]);
    losses[row] = job->softmax ? logarithms[row] - score : -score;
    shares[row] = weights != NULL ? number_at(weights, class * weights->strides[0]) : 1;
  }
}

static nd4c_status check_classes(const nd4c_call *call, const rows *r, int64_t ignored) {
  const nd4c_tensor *target = &call->inputs[ND4C_IN_nll_loss_target];
  for (int64_t row = 0; row < r->count; row++) {
    const int64_t class = class_of(target, r, row);
    if (class != ignored) {
      ND4C_BACKEND_TRY(nd4c_cpu_check_integers(call, "a class in target", &class, 1, 0, r->length - 1));
    }
  }
  return ND4C_OK;
}

static nd4c_status of_classes(const nd4c_call *call, bool softmax) {
  const int64_t reduction = ND4C_INT_OF(call, nll_loss_reduction), ignored = ND4C_INT_OF(call, nll_loss_ignore_index);
  rows r;
  rows_make(call, 1, &r);
  ND4C_BACKEND_TRY(check_classes(call, &r, ignored));
  if (softmax) {
    ND4C_BACKEND_TRY(take_logarithms(call, &r));
    nd4c_simd_subtract_rows(call, 1, &r.logarithms, &call->outputs[1]);
  }
  class_job job = {call, &r, softmax, ignored};
  nd4c_cpu_parallel(r.count, GRAIN, call->width, classes_range, &job);
  nd4c_simd_store_losses(call, &r.losses, &r.shares,
                         reduction == ND4C_LOSS_REDUCTION_MEAN ? ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT : reduction);
  return ND4C_OK;
}

/* -- distributions ------------------------------------------------------------------------------------------------- */

typedef struct row_job {
  const rows *r;
  bool softmax;
} row_job;

/* losses holds the sums of target * x, shares those of the targets. */
static void distributions_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const row_job *job = user;
  double *losses = job->r->losses.data;
  const double *targets = job->r->shares.data, *logarithms = job->r->logarithms.data;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    losses[row] = job->softmax ? targets[row] * logarithms[row] - losses[row] : 1 - losses[row];
  }
}

static nd4c_status of_distributions(const nd4c_call *call, bool softmax) {
  const nd4c_tensor *weights = nd4c_cpu_input(call, ND4C_IN_cosine_distance_weights);
  rows r;
  rows_make(call, nd4c_axis(ND4C_INT_OF(call, cosine_distance_axis), call->inputs[0].rank), &r);
  ND4C_BACKEND_TRY(reduce_rows(call, &r, softmax ? nd4c_simd_sum_scores : nd4c_simd_sum_products, &r.losses));
  if (softmax) {
    ND4C_BACKEND_TRY(reduce_rows(call, &r, nd4c_simd_sum_targets, &r.shares));
    ND4C_BACKEND_TRY(take_logarithms(call, &r));
  }
  row_job job = {&r, softmax};
  nd4c_cpu_parallel(r.count, GRAIN, call->width, distributions_range, &job);
  nd4c_simd_store_losses(call, &r.losses, weights, ND4C_INT_OF(call, cosine_distance_reduction));
  return ND4C_OK;
}

/* -- list ---------------------------------------------------------------------------------------------------------- */

static int64_t class_bytes(const nd4c_call *call) {
  return rows_bytes(call, 1);
}

static int64_t distribution_bytes(const nd4c_call *call) {
  return rows_bytes(call, nd4c_axis(ND4C_INT_OF(call, cosine_distance_axis), call->inputs[0].rank));
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0, "no elements");
  return true;
}

/* X(op, how, whether of log_softmax, scratch) */
#define OPS(X)                                                    \
  X(nll_loss, of_classes, false, class_bytes)                     \
  X(softmax_cross_entropy, of_classes, true, class_bytes)         \
  X(cosine_distance, of_distributions, false, distribution_bytes) \
  X(dense_cross_entropy, of_distributions, true, distribution_bytes)

#define DEFINE_OP(op, how, softmax, bytes)             \
  static nd4c_status run_##op(const nd4c_call *call) { \
    return how(call, softmax);                         \
  }
OPS(DEFINE_OP)

#define KERNEL(op, how, softmax, bytes) \
  ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_FLOATS, usable, run_##op, .scratch_bytes = (bytes)),
const nd4c_kernel *const nd4c_cpu_simd_loss_axis_kernels[] = {OPS(KERNEL) NULL};
