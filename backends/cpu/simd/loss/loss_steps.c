/* Engine simd: steps of optimisers, each in one pass over x, its gradient and the states (kernels/cpu/loss/steps.h).
 * dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>

#include "backends/cpu/support/flat.h"
#include "kernels/reference/support/value.h"

enum { GRAIN = 8192, STATES = 2, OPERANDS = 2 + STATES, RESULTS = 1 + STATES };

typedef struct step_job {
  nd4c_step_loop loop;
  nd4c_step_numbers numbers;
  bool has[OPERANDS], stream; /* x, gradient, v, h */
  nd4c_simd_flat operands[OPERANDS], results[RESULTS];
} step_job;

static void step_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const step_job *job = user;
  _Alignas(64) char given[OPERANDS][ND4C_FLAT_BYTES], made[RESULTS][ND4C_FLAT_BYTES];
  (void)worker;
  for (int64_t from = begin; from < end; from += ND4C_FLAT_PIECE) {
    const int64_t n = end - from < ND4C_FLAT_PIECE ? end - from : ND4C_FLAT_PIECE;
    const void *x[OPERANDS] = {NULL};
    void *y[RESULTS] = {NULL};
    for (int32_t i = 0; i < OPERANDS; i++) {
      x[i] = job->has[i] ? nd4c_simd_flat_read(&job->operands[i], from, n, given[i]) : NULL;
    }
    for (int32_t i = 0; i < RESULTS; i++) {
      const bool is_made = i == 0 || job->has[i + 1];
      y[i] = is_made ? nd4c_simd_flat_place(&job->results[i], from, job->stream, made[i]) : NULL;
    }
    const nd4c_step_operands operands = {x[0], x[1], x[2], x[3], y[0], y[1], y[2]};
    job->loop(n, &job->numbers, &operands);
    for (int32_t i = 0; i < RESULTS; i++) {
      if (y[i] != NULL) {
        nd4c_simd_flat_write(&job->results[i], from, n, job->stream, y[i]);
      }
    }
  }
  if (job->stream) {
    nd4c_simd.move->stream_fence();
  }
}

static double number_of(const nd4c_tensor *x) {
  return nd4c_value_as_double(nd4c_reference_kind(x->dtype), nd4c_value_load(x->dtype, x->data, 0));
}

/* Inputs are x, the gradient, v and h as far as the step has them, the rate and, of most steps, the step's number. */
static nd4c_status run_step(const nd4c_call *call, enum nd4c_step_index step, nd4c_step_numbers numbers, bool has_v,
                            bool has_h, void (*prepare)(const nd4c_call *call, nd4c_step_numbers *numbers, double at)) {
  const nd4c_tensor *x = &call->inputs[0];
  step_job job = {
      .loop = nd4c_simd.steps->loops[step][x->dtype], .numbers = numbers, .has = {true, true, has_v, has_h}};
  int32_t next = 0, result = 0;
  int64_t bytes = 0;
  for (int32_t i = 0; i < OPERANDS; i++) {
    if (!job.has[i]) {
      continue;
    }
    nd4c_simd_flat_make(&job.operands[i], &call->inputs[next++], x);
    if (i != 1) {
      nd4c_simd_flat *flat = &job.results[i > 0 ? i - 1 : 0];
      nd4c_simd_flat_make(flat, &call->outputs[result++], x);
      bytes += x->size * flat->bytes;
    }
  }
  job.numbers.rate = number_of(&call->inputs[next]);
  if (prepare != NULL) {
    prepare(call, &job.numbers, number_of(&call->inputs[next + 1]));
  }
  job.stream = bytes > nd4c_simd_stream_bytes;
  nd4c_cpu_parallel(x->size, GRAIN, call->width, step_range, &job);
  return ND4C_OK;
}

static void prepare_momentum(const nd4c_call *call, nd4c_step_numbers *numbers, double step) {
  (void)call;
  numbers->fresh = step > 0 ? numbers->beta : 1;
}

static void prepare_adagrad(const nd4c_call *call, nd4c_step_numbers *numbers, double step) {
  numbers->rate /= 1 + step * ND4C_REAL_OF(call, adagrad_step_rate_decay);
}

static void prepare_adam(const nd4c_call *call, nd4c_step_numbers *numbers, double step) {
  numbers->kept = 1 - ND4C_REAL_OF(call, adam_step_decay_after);
  if (step > 0) {
    numbers->rate *= sqrt(1 - pow(numbers->beta, step)) / (1 - pow(numbers->alpha, step));
  }
}

static void prepare_adamw(const nd4c_call *call, nd4c_step_numbers *numbers, double step) {
  (void)call;
  numbers->kept = 1 - numbers->rate * numbers->decay;
  numbers->rate /= 1 - pow(numbers->alpha, step);
  numbers->scale = 1 / (1 - pow(numbers->beta, step));
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0, "no elements");
  return true;
}

#define A(name) ND4C_REAL_OF(call, name)
#define NUMBERS(...) ((nd4c_step_numbers){__VA_ARGS__})
/* X(op, step, numbers, v, h, prepare) */
#define OPS(X)                                                                                                      \
  X(sgd_step, ND4C_STEP_sgd, NUMBERS(.decay = A(sgd_step_decay)), false, false, NULL)                               \
  X(momentum_step, ND4C_FLAG_OF(call, momentum_step_nesterov) ? ND4C_STEP_nesterov : ND4C_STEP_momentum,            \
    NUMBERS(.alpha = A(momentum_step_alpha), .beta = A(momentum_step_beta), .decay = A(momentum_step_decay)), true, \
    false, prepare_momentum)                                                                                        \
  X(adagrad_step, ND4C_STEP_adagrad, NUMBERS(.decay = A(adagrad_step_decay), .epsilon = A(adagrad_step_epsilon)),   \
    false, true, prepare_adagrad)                                                                                   \
  X(rmsprop_step, ND4C_STEP_rmsprop,                                                                                \
    NUMBERS(.alpha = A(rmsprop_step_alpha), .decay = A(rmsprop_step_decay), .epsilon = A(rmsprop_step_epsilon)),    \
    false, true, NULL)                                                                                              \
  X(adam_step, ND4C_STEP_adam,                                                                                      \
    NUMBERS(.alpha = A(adam_step_alpha), .beta = A(adam_step_beta), .epsilon = A(adam_step_epsilon),                \
            .decay = A(adam_step_decay)),                                                                           \
    true, true, prepare_adam)                                                                                       \
  X(adamw_step, ND4C_STEP_adamw,                                                                                    \
    NUMBERS(.alpha = A(adamw_step_alpha), .beta = A(adamw_step_beta), .epsilon = A(adamw_step_epsilon),             \
            .decay = A(adamw_step_decay)),                                                                          \
    true, true, prepare_adamw)

#define DEFINE_OP(op, step, ...)                       \
  static nd4c_status run_##op(const nd4c_call *call) { \
    return run_step(call, step, __VA_ARGS__);          \
  }
OPS(DEFINE_OP)

#define KERNEL(op, ...) ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_FLOATS, usable, run_##op),
const nd4c_kernel *const nd4c_cpu_simd_loss_steps_kernels[] = {OPS(KERNEL) NULL};
