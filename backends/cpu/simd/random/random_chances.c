/* Engine simd: ops that compare a random number with a chance or scale by it: random_bernoulli, random_dropout, rrelu;
 * and the laws random_log_normal and random_exponential, whose words and normal numbers are made in vectors. The bits
 * are the reference's: exponentials and logarithms are the C library's. dispatch/choice.c asks these kernels before the
 * reference's. */
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/flat.h"
#include "kernels/reference/random/random.h"

enum { RUN = ND4C_FLAT_PIECE, RUNS_GRAIN = 4 };

typedef struct chance_job chance_job;
struct chance_job {
  nd4c_philox state;
  bool seeded;
  nd4c_simd_flat x; /* or the chances */
  const nd4c_tensor *y;
  char *mask;         /* of dropout; NULL: it is not stored */
  nd4c_dtype chances; /* of x, for Bernoulli */
  void (*law)(const chance_job *job, int64_t n, const uint64_t *pairs, double *numbers);
  double a, b;
};

static nd4c_philox state_of(const nd4c_tensor *state) {
  uint64_t words[3] = {0, 0, 0};
  nd4c_ref_read_words(state->dtype, state->data, 0, state->strides[0], state->shape[0], words);
  return (nd4c_philox){words[0], words[1], words[2]};
}

static nd4c_status run_all(const nd4c_call *call, chance_job *job, nd4c_range_function range) {
  nd4c_cpu_parallel(nd4c_cpu_divide_up(job->y->size, RUN), RUNS_GRAIN, call->width, range, job);
  return ND4C_OK;
}

/* Pairs of words of elements from `from` on. */
static int64_t draw(const chance_job *job, int64_t from, uint64_t *pairs) {
  const int64_t n = job->y->size - from < RUN ? job->y->size - from : RUN;
  nd4c_simd.random->blocks(&job->state, (uint64_t)from / 2, (n + 1) / 2, pairs);
  return n;
}

static const nd4c_binary_loops *double_loops(enum nd4c_binary_index op) {
  return &nd4c_simd.binary->loops[op][ND4C_FLOAT64];
}

/* Elements as doubles: in place, or in `wide`. */
static const double *read_doubles(const nd4c_simd_flat *flat, nd4c_dtype dtype, int64_t from, int64_t n, double *wide) {
  _Alignas(64) char buffer[ND4C_FLAT_BYTES];
  const char *x = nd4c_simd_flat_read(flat, from, n, dtype == ND4C_FLOAT64 ? (char *)wide : buffer);
  if (dtype == ND4C_FLOAT64) {
    return (const double *)(const void *)x;
  }
  nd4c_simd.cast->loops[dtype][ND4C_FLOAT64](n, x, wide);
  return wide;
}

/* -- dropout and rrelu --------------------------------------------------------------------------------------------- */

static void dropout_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const chance_job *job = user;
  static const double none[RUN];
  _Alignas(64) double u[RUN], wide[RUN];
  uint64_t pairs[RUN];
  uint8_t unstored[RUN];
  const double kept = 1 - job->a;
  (void)worker;
  for (int64_t from = begin * RUN; from < end * RUN && from < job->y->size; from += RUN) {
    const int64_t n = draw(job, from, pairs);
    uint8_t *mask = job->mask == NULL ? unstored : (uint8_t *)job->mask + from;
    nd4c_simd.random->uniform64(n, pairs, 0, 1, u);
    double_loops(ND4C_BINARY_greater_equal)->first(n, u, &job->a, mask);
    const double *x = read_doubles(&job->x, job->y->dtype, from, n, wide);
    double_loops(ND4C_BINARY_divide)->first(n, x, &kept, u);
    nd4c_simd.cast->where[sizeof(double)](n, mask, u, none, u);
    nd4c_simd_write_doubles(job->y, from, n, u);
  }
}

static void rrelu_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const chance_job *job = user;
  _Alignas(64) double slopes[RUN], wide[RUN], ones[RUN];
  uint8_t negative[RUN];
  uint64_t pairs[RUN];
  const double zero = 0, one = 1, middle = job->a + 0.5 * job->b;
  (void)worker;
  nd4c_simd.creation->fill[sizeof one](RUN, &one, ones);
  nd4c_simd.creation->fill[sizeof middle](RUN, &middle, slopes);
  for (int64_t from = begin * RUN; from < end * RUN && from < job->y->size; from += RUN) {
    const int64_t n = job->y->size - from < RUN ? job->y->size - from : RUN;
    if (job->seeded) {
      (void)draw(job, from, pairs);
      nd4c_simd.random->uniform64(n, pairs, job->a, job->b, slopes);
    }
    const double *x = read_doubles(&job->x, job->y->dtype, from, n, wide);
    double factors[RUN];
    double_loops(ND4C_BINARY_less)->first(n, x, &zero, negative);
    nd4c_simd.cast->where[sizeof(double)](n, negative, slopes, ones, factors);
    double_loops(ND4C_BINARY_multiply)->both(n, x, factors, factors);
    nd4c_simd_write_doubles(job->y, from, n, factors);
  }
}

static nd4c_status run_random_dropout(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_random_dropout_x];
  chance_job job = {.state = state_of(&call->inputs[0]),
                    .y = &call->outputs[0],
                    .mask = call->outputs[1].data,
                    .a = ND4C_REAL_OF(call, random_dropout_rate)};
  nd4c_simd_flat_make(&job.x, x, x);
  return run_all(call, &job, dropout_range);
}

static nd4c_status run_rrelu(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *state = nd4c_cpu_input(call, ND4C_IN_rrelu_state);
  chance_job job = {.seeded = state != NULL, .y = &call->outputs[0], .a = ND4C_REAL_OF(call, rrelu_low)};
  job.b = ND4C_REAL_OF(call, rrelu_high) - job.a;
  if (job.seeded) {
    job.state = state_of(state);
  }
  nd4c_simd_flat_make(&job.x, x, x);
  return run_all(call, &job, rrelu_range);
}

/* -- Bernoulli ----------------------------------------------------------------------------------------------------- */

static void bernoulli_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const chance_job *job = user;
  const nd4c_dtype to = job->y->dtype;
  _Alignas(64) double u[RUN], wide[RUN];
  uint8_t made[RUN];
  uint64_t pairs[RUN];
  (void)worker;
  for (int64_t from = begin * RUN; from < end * RUN && from < job->y->size; from += RUN) {
    const int64_t n = draw(job, from, pairs);
    const double *p = read_doubles(&job->x, job->chances, from, n, wide);
    nd4c_simd.random->uniform64(n, pairs, 0, 1, u);
    double_loops(ND4C_BINARY_less)->both(n, u, p, made);
    nd4c_simd.cast->loops[ND4C_BOOL][to](n, made, (char *)job->y->data + from * nd4c_cpu_dtype_bytes(to));
  }
}

static nd4c_status check_chances(const nd4c_call *call, const nd4c_tensor *p) {
  _Alignas(64) double wide[RUN];
  nd4c_simd_flat flat;
  nd4c_simd_flat_make(&flat, p, p);
  for (int64_t from = 0; from < p->size; from += RUN) {
    const int64_t n = p->size - from < RUN ? p->size - from : RUN;
    const double *values = read_doubles(&flat, p->dtype, from, n, wide);
    for (int64_t i = 0; i < n; i++) {
      ND4C_CPU_FAIL_IF(!(values[i] >= 0 && values[i] <= 1), ND4C_ARGUMENT,
                       "%s: element %lld of %s is %g, expected 0 to 1", call->op->name, (long long)(from + i),
                       call->op->inputs[1].name, values[i]);
    }
  }
  return ND4C_OK;
}

static nd4c_status run_random_bernoulli(const nd4c_call *call) {
  const nd4c_tensor *p = &call->inputs[ND4C_IN_random_bernoulli_p], *y = &call->outputs[0];
  chance_job job = {.state = state_of(&call->inputs[0]), .y = y, .chances = p->dtype};
  ND4C_BACKEND_TRY(check_chances(call, p));
  nd4c_simd_flat_make(&job.x, p, y);
  return run_all(call, &job, bernoulli_range);
}

/* -- laws ---------------------------------------------------------------------------------------------------------- */

static void draw_log_normal(const chance_job *job, int64_t n, const uint64_t *pairs, double *numbers) {
  nd4c_simd.random->normal(n, pairs, numbers);
  nd4c_simd.random->scale64(n, numbers, job->a, job->b, numbers);
  for (int64_t i = 0; i < n; i++) {
    numbers[i] = exp(numbers[i]);
  }
}

static void draw_exponential(const chance_job *job, int64_t n, const uint64_t *pairs, double *numbers) {
  for (int64_t i = 0; i < n; i++) {
    numbers[i] = 0 - log(((double)pairs[i] + 0.5) * 0x1p-64);
  }
  double_loops(ND4C_BINARY_multiply)->first(n, numbers, &job->b, numbers);
}

static void law_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const chance_job *job = user;
  double numbers[RUN];
  uint64_t pairs[RUN];
  (void)worker;
  for (int64_t from = begin * RUN; from < end * RUN && from < job->y->size; from += RUN) {
    const int64_t n = draw(job, from, pairs);
    job->law(job, n, pairs, numbers);
    nd4c_simd_write_doubles(job->y, from, n, numbers);
  }
}

static nd4c_status run_random_log_normal(const nd4c_call *call) {
  chance_job job = {.state = state_of(&call->inputs[0]),
                    .y = &call->outputs[0],
                    .law = draw_log_normal,
                    .a = ND4C_REAL_OF(call, random_normal_mean),
                    .b = ND4C_REAL_OF(call, random_normal_scale)};
  return run_all(call, &job, law_range);
}

static nd4c_status run_random_exponential(const nd4c_call *call) {
  chance_job job = {.state = state_of(&call->inputs[0]),
                    .y = &call->outputs[0],
                    .law = draw_exponential,
                    .b = ND4C_REAL_OF(call, random_exponential_scale)};
  return run_all(call, &job, law_range);
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

static bool usable_dense(const nd4c_call *call, char *reason, size_t reason_size) {
  const uint16_t probe = 1;
  for (int32_t i = 0; i < call->output_count; i++) {
    ND4C_CPU_DECLINE_IF((call->outputs[i].flags & ND4C_TENSOR_CONTIGUOUS) == 0, "an output is not contiguous");
  }
  ND4C_CPU_DECLINE_IF(*(const uint8_t *)&probe == 0, "words are pairs on little-endian machines");
  return true;
}

static bool usable_float(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((ND4C_DTYPE_BIT(call->outputs[0].dtype) & ND4C_CPU_FLOATS) == 0, "not a float");
  return usable_dense(call, reason, reason_size);
}

static bool usable_dropout(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[1].dtype != call->outputs[0].dtype, "a result of another dtype");
  return usable_float(call, reason, reason_size);
}

static bool usable_bernoulli(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_dtype p = call->inputs[1].dtype, y = call->outputs[0].dtype;
  ND4C_CPU_DECLINE_IF((ND4C_DTYPE_BIT(p) & ND4C_CPU_FLOATS) == 0 || nd4c_simd.cast->loops[ND4C_BOOL][y] == NULL,
                      "no loop for these dtypes");
  return usable_dense(call, reason, reason_size);
}

#define STATES ND4C_CPU_INTS
const nd4c_kernel *const nd4c_cpu_simd_random_chances_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(random_dropout, STATES, usable_dropout, run_random_dropout),
    ND4C_CPU_SIMD_KERNEL(rrelu, ND4C_CPU_FLOATS, usable_float, run_rrelu),
    ND4C_CPU_SIMD_KERNEL(random_bernoulli, STATES, usable_bernoulli, run_random_bernoulli),
    ND4C_CPU_SIMD_KERNEL(random_log_normal, STATES, usable_float, run_random_log_normal),
    ND4C_CPU_SIMD_KERNEL(random_exponential, STATES, usable_float, run_random_exponential),
    NULL};
