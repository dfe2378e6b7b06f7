/* Engine simd: losses of a prediction and a target, element by element (kernels/cpu/reduction/terms.h): the losses, or
 * their sum or mean, with weights or without. loss_axis.c has losses stored that it made itself. dispatch/choice.c asks
 * these kernels before the reference's. */
#include "backends/cpu/simd/loss/loss.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/support/flat.h"

enum { PART = 65536, MAX_PARTS = 512, GRAIN = 16384, OPERANDS = 3 };

typedef struct loss_job {
  nd4c_term_map map; /* NULL: the first operand is the losses, in double */
  double parameter;
  nd4c_dtype dtype, weight_dtype; /* of the result, and of weights */
  int64_t size, part;             /* elements, and those of a part of the sum */
  bool has_weights, summed, stream;
  nd4c_simd_flat operands[OPERANDS], y; /* prediction, target, weights */
  double *sums, *shares;                /* of the losses and of the weights of each part */
} loss_job;

/* The weighted losses of n elements from `from` on; *shares gets their weights in double, or NULL. */
static void make_losses(const loss_job *job, int64_t from, int64_t n, double *losses, double *shares) {
  _Alignas(64) char buffers[OPERANDS][ND4C_FLAT_BYTES];
  void *const to[ND4C_TERM_LINES] = {losses};
  const char *x = nd4c_simd_flat_read(&job->operands[0], from, n, buffers[0]);
  if (job->map == NULL) {
    memcpy(losses, x, (size_t)n * sizeof *losses);
  } else {
    job->map(n, x, nd4c_simd_flat_read(&job->operands[1], from, n, buffers[1]), job->parameter, to);
  }
  if (!job->has_weights) {
    return;
  }
  const char *weights = nd4c_simd_flat_read(&job->operands[2], from, n, buffers[2]);
  if (job->weight_dtype == ND4C_FLOAT64) {
    memcpy(shares, weights, (size_t)n * sizeof *shares);
  } else {
    nd4c_simd.cast->loops[job->weight_dtype][ND4C_FLOAT64](n, weights, shares);
  }
  nd4c_simd.binary->loops[ND4C_BINARY_multiply][ND4C_FLOAT64].both(n, losses, shares, losses);
}

static void losses_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const loss_job *job = user;
  const nd4c_reduction_loops *rounds = &nd4c_simd.reduction->loops[ND4C_REDUCE_prod][job->dtype];
  _Alignas(64) double losses[ND4C_FLAT_PIECE], shares[ND4C_FLAT_PIECE];
  _Alignas(64) char buffer[ND4C_FLAT_BYTES];
  (void)worker;
  for (int64_t from = begin; from < end; from += ND4C_FLAT_PIECE) {
    const int64_t n = end - from < ND4C_FLAT_PIECE ? end - from : ND4C_FLAT_PIECE;
    char *place = nd4c_simd_flat_place(&job->y, from, job->stream, buffer);
    make_losses(job, from, n, losses, shares);
    rounds->store(n, losses, 1, place);
    nd4c_simd_flat_write(&job->y, from, n, job->stream, place);
  }
  if (job->stream) {
    nd4c_simd.move->stream_fence();
  }
}

static void add(int64_t n, const double *numbers, bool first, double *sum) {
  const nd4c_reduction_loops *loops = &nd4c_simd.reduction->loops[ND4C_REDUCE_sum][ND4C_FLOAT64];
  double own;
  loops->run(1, n, numbers, 0, first ? sum : &own);
  if (!first) {
    loops->merge(1, &own, sum);
  }
}

static void parts_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const loss_job *job = user;
  _Alignas(64) double losses[ND4C_FLAT_PIECE], shares[ND4C_FLAT_PIECE];
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    const int64_t first = i * job->part, last = job->size - first < job->part ? job->size : first + job->part;
    for (int64_t from = first; from < last; from += ND4C_FLAT_PIECE) {
      const int64_t n = last - from < ND4C_FLAT_PIECE ? last - from : ND4C_FLAT_PIECE;
      make_losses(job, from, n, losses, shares);
      add(n, losses, from == first, &job->sums[i]);
      if (job->has_weights) {
        add(n, shares, from == first, &job->shares[i]);
      }
    }
  }
}

static double sum_of(int64_t count, double *sums) {
  for (int64_t step = 1; step < count; step *= 2) {
    for (int64_t i = 0; i + step < count; i += 2 * step) {
      sums[i] += sums[i + step];
    }
  }
  return sums[0];
}

/* One number of all losses. */
static void reduce_losses(loss_job *job, int64_t reduction, int32_t width, char *y) {
  double sums[MAX_PARTS], shares[MAX_PARTS];
  job->sums = sums;
  job->shares = shares;
  job->part = job->size / MAX_PARTS / PART * PART + PART;
  const int64_t parts = nd4c_cpu_divide_up(job->size, job->part);
  nd4c_cpu_parallel(parts, 1, width, parts_range, job);
  double sum = sum_of(parts, sums);
  if (reduction == ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT) {
    sum /= job->has_weights ? sum_of(parts, shares) : (double)job->size;
  } else if (reduction == ND4C_LOSS_REDUCTION_MEAN) {
    sum /= (double)job->size;
  }
  nd4c_simd.reduction->loops[ND4C_REDUCE_prod][job->dtype].store(1, &sum, 1, y);
}

/* The first operand says the shape. */
static void store_job(const nd4c_call *call, loss_job *job, const nd4c_tensor *const *operands, int64_t reduction) {
  const nd4c_tensor *x = operands[0], *y = &call->outputs[0];
  job->dtype = y->dtype;
  job->size = x->size;
  job->has_weights = operands[2] != NULL;
  job->weight_dtype = job->has_weights ? operands[2]->dtype : ND4C_DTYPE_NONE;
  for (int32_t i = 0; i < OPERANDS; i++) {
    if (operands[i] != NULL) {
      nd4c_simd_flat_make(&job->operands[i], operands[i], x);
    }
  }
  if (reduction != ND4C_LOSS_REDUCTION_NONE) {
    reduce_losses(job, reduction, call->width, y->data);
    return;
  }
  nd4c_simd_flat_make(&job->y, y, x);
  job->stream = job->size * job->y.bytes > nd4c_simd_stream_bytes;
  nd4c_cpu_parallel(job->size, GRAIN, call->width, losses_range, job);
}

void nd4c_simd_store_losses(const nd4c_call *call, const nd4c_tensor *losses, const nd4c_tensor *weights,
                            int64_t reduction) {
  const nd4c_tensor *const operands[OPERANDS] = {losses, NULL, weights};
  loss_job job = {.map = NULL};
  store_job(call, &job, operands, reduction);
}

static nd4c_status run_loss(const nd4c_call *call, enum nd4c_term_index term, double parameter) {
  const nd4c_tensor *const operands[OPERANDS] = {&call->inputs[0], &call->inputs[ND4C_IN_mse_loss_target],
                                                 nd4c_cpu_input(call, ND4C_IN_mse_loss_weights)};
  loss_job job = {.map = nd4c_simd.terms->maps[term][call->inputs[0].dtype], .parameter = parameter};
  store_job(call, &job, operands, ND4C_INT_OF(call, mse_loss_reduction));
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0, "no elements");
  return true;
}

/* X(op, term, parameter) */
#define OPS(X)                                                       \
  X(mse_loss, squared_distance, 0)                                   \
  X(l1_loss, distance, 0)                                            \
  X(hinge_loss, hinge, 0)                                            \
  X(poisson_nll_loss, poisson, 0)                                    \
  X(huber_loss, huber, ND4C_REAL_OF(call, huber_loss_delta))         \
  X(smooth_l1_loss, smooth, ND4C_REAL_OF(call, smooth_l1_loss_beta)) \
  X(log_loss, log_loss, ND4C_REAL_OF(call, log_loss_epsilon))        \
  X(sigmoid_cross_entropy, sigmoid_loss, ND4C_REAL_OF(call, sigmoid_cross_entropy_label_smoothing))

#define DEFINE_OP(op, term, parameter)                    \
  static nd4c_status run_##op(const nd4c_call *call) {    \
    return run_loss(call, ND4C_TERM_##term, (parameter)); \
  }
OPS(DEFINE_OP)

static nd4c_status run_kl_divergence(const nd4c_call *call) {
  return run_loss(call, ND4C_FLAG_OF(call, kl_divergence_log_target) ? ND4C_TERM_divergence_log : ND4C_TERM_divergence,
                  0);
}

#define KERNEL(op, ...) ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_FLOATS, usable, run_##op),
const nd4c_kernel *const nd4c_cpu_simd_loss_kernels[] = {
    OPS(KERNEL) ND4C_CPU_SIMD_KERNEL(kl_divergence, ND4C_CPU_FLOATS, usable, run_kl_divergence), NULL};
