/* Engine reference: random numbers. Parameters are checked before anything is written. dispatch/choice.c asks these
 * kernels last, after those of all other engines. simd/random.c makes the same bits. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "kernels/reference/random/random.h"
#include "kernels/reference/sorting/order.h"

/* Of an element: some 10 ns. */
enum { WORK = 3 };

static nd4c_philox read_state(const nd4c_tensor *state) {
  uint64_t words[3] = {0, 0, 0};
  nd4c_ref_read_words(state->dtype, state->data, 0, state->strides[0], state->shape[0], words);
  return (nd4c_philox){words[0], words[1], words[2]};
}

static nd4c_philox state_of(const nd4c_call *call) {
  return read_state(&call->inputs[0]);
}

static nd4c_status random_advance_run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  uint64_t steps = (uint64_t)ND4C_INT_OF(call, random_advance_steps);
  nd4c_philox state = state_of(call);
  uint64_t words[3] = {state.key, state.low + steps, state.high};
  words[2] += words[1] < steps;
  nd4c_ref_write_words(y->dtype, y->data, 0, y->strides[0], y->shape[0], words);
  return ND4C_OK;
}

/* -- distributions ------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(fill_range, nd4c_ref_random_fill)

static nd4c_ref_random random_of(const nd4c_call *call, nd4c_ref_distribution distribution) {
  return (nd4c_ref_random){.state = state_of(call),
                           .distribution = distribution,
                           .a = nd4c_cpu_ref_input(call, 1),
                           .b = nd4c_cpu_ref_input(call, 2),
                           .y = nd4c_cpu_ref_output(call, 0)};
}

static nd4c_status fill(const nd4c_call *call, nd4c_ref_random *r) {
  return nd4c_cpu_reference_parallel(call, call->outputs[0].size, WORK, fill_range, r);
}

/* A law with two attributes. low and high of random_uniform have the positions of mean and scale of the others. */
static nd4c_status with_two(const nd4c_call *call, nd4c_ref_distribution distribution) {
  nd4c_ref_random r = random_of(call, distribution);
  nd4c_dtype dtype = call->outputs[0].dtype;
  r.bits = dtype == ND4C_FLOAT16 ? 11 : dtype == ND4C_BFLOAT16 ? 8 : 24;
  r.c[0] = ND4C_REAL_OF(call, random_uniform_low);
  r.c[1] = ND4C_REAL_OF(call, random_uniform_high);
  if (distribution == ND4C_REF_DISTRIBUTION_truncated_normal) {
    r.c[2] = ND4C_REAL_OF(call, random_truncated_normal_low);
    r.c[3] = ND4C_REAL_OF(call, random_truncated_normal_high);
  }
  return fill(call, &r);
}

/* What a parameter may be. */
typedef struct limits {
  double least, most;
  bool whole;
} limits;

static nd4c_status check_parameter(const nd4c_call *call, int32_t input, limits allowed) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, input);
  for (int64_t i = 0; i < call->inputs[input].size; i++) {
    double value;
    nd4c_ref_read_doubles(x.dtype, x.data, nd4c_ref_offset(&x, x.rank, x.shape, i), 1, 1, &value);
    ND4C_CPU_FAIL_IF(!(value >= allowed.least && value <= allowed.most) || (allowed.whole && value != floor(value)),
                     ND4C_ARGUMENT, "%s: element %lld of %s is %g, expected %s%g to %g", call->op->name, (long long)i,
                     call->op->inputs[input].name, value, allowed.whole ? "a whole number of " : "", allowed.least,
                     allowed.most);
  }
  return ND4C_OK;
}

static const limits probability = {0, 1, false}, trials = {0, 0x1p53, true}, positive = {0, 0x1p53, false},
                    finite = {0, 0x1.fffffffffffffp1023, false};

/* Checks the parameters before anything is written; NULL: the law has no such parameter. */
static nd4c_status with_parameters(const nd4c_call *call, nd4c_ref_distribution distribution, const limits *a,
                                   const limits *b, double scale) {
  nd4c_ref_random r = random_of(call, distribution);
  r.c[1] = scale;
  if (a != NULL) {
    ND4C_BACKEND_TRY(check_parameter(call, 1, *a));
  }
  if (b != NULL) {
    ND4C_BACKEND_TRY(check_parameter(call, 2, *b));
  }
  return fill(call, &r);
}

/* -- integers ------------------------------------------------------------------------------------------------------ */

ND4C_CPU_RANGE(bits_range, nd4c_ref_random_bits)
ND4C_CPU_RANGE(integers_range, nd4c_ref_random_integers)

static nd4c_status integers(const nd4c_call *call, nd4c_range_function range, int64_t low, int64_t high) {
  nd4c_ref_integers args = {state_of(call), nd4c_cpu_ref_output(call, 0), low, (uint64_t)high - (uint64_t)low};
  return nd4c_cpu_reference_parallel(call, call->outputs[0].size, WORK, range, &args);
}

/* -- orders -------------------------------------------------------------------------------------------------------- */

/* NULL without memory. */
static int64_t *make_order(const nd4c_call *call, nd4c_cpu_work *work, int64_t count) {
  nd4c_philox state = state_of(call);
  int64_t *order = nd4c_cpu_work_make_integers(work, count);
  if (order != NULL) {
    nd4c_ref_random_order(&state, count, order);
  }
  return order;
}

static nd4c_status permutation(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *y = &call->outputs[0];
  const int64_t *order = make_order(call, work, y->size);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  nd4c_ref_write_words(y->dtype, y->data, 0, y->strides[0], y->size, (const uint64_t *)order);
  return ND4C_OK;
}

static nd4c_status shuffle(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 1), y = nd4c_cpu_ref_output(call, 0);
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, random_shuffle_axis), x.rank);
  nd4c_ref_axes lines = nd4c_ref_axes_without(&x, &y, axis);
  int64_t count = x.shape[axis], from, to;
  const int64_t *order = make_order(call, work, count);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t line = 0; line < nd4c_ref_axes_size(&lines); line++) {
    nd4c_ref_axes_at(&lines, line, &from, &to);
    nd4c_ref_permute_raw(nd4c_reference_bytes(x.dtype), x.data, from, x.strides[axis], order, count, y.data, to,
                         y.strides[axis]);
  }
  return ND4C_OK;
}

/* -- dropout, leaky rectifier -------------------------------------------------------------------------------------- */

/* random_dropout: keeps each element with a probability, and writes the mask. rrelu (no mask): multiplies elements
 * below 0 by a random slope. */
typedef struct chance_job {
  nd4c_philox state;
  bool seeded;
  double rate, low, high, *y; /* y begins as x */
  int64_t *mask;
} chance_job;

static void chance_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const chance_job *c = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    double u = c->seeded ? nd4c_ref_random_unit(&c->state, i) : 0.5;
    if (c->mask != NULL) {
      c->mask[i] = u >= c->rate;
      c->y[i] = c->mask[i] ? c->y[i] / (1 - c->rate) : 0;
    } else {
      c->y[i] *= c->y[i] < 0 ? c->low + u * (c->high - c->low) : 1;
    }
  }
}

static nd4c_status dropout(const nd4c_call *call, nd4c_cpu_work *work) {
  chance_job c = {.state = state_of(call),
                  .seeded = true,
                  .rate = ND4C_REAL_OF(call, random_dropout_rate),
                  .y = nd4c_cpu_work_load(work, 1),
                  .mask = nd4c_cpu_work_output_integers(work, 1)};
  nd4c_cpu_work_result(work, 0, c.y);
  return nd4c_cpu_work_parallel(work, call->outputs[0].size, WORK, chance_range, &c);
}

static nd4c_status rrelu(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *state = nd4c_cpu_input(call, ND4C_IN_rrelu_state);
  chance_job c = {.seeded = state != NULL,
                  .low = ND4C_REAL_OF(call, rrelu_low),
                  .high = ND4C_REAL_OF(call, rrelu_high),
                  .y = nd4c_cpu_work_load(work, 0)};
  if (c.seeded) {
    c.state = read_state(state);
  }
  nd4c_cpu_work_result(work, 0, c.y);
  return nd4c_cpu_work_parallel(work, call->outputs[0].size, WORK, chance_range, &c);
}

/* -- categories ---------------------------------------------------------------------------------------------------- */

/* Reads the unnormalised probabilities of one row; false if they are not valid. */
static bool read_chances(const nd4c_tensor *p, int64_t start, bool logarithms, double *chances) {
  int64_t classes = p->shape[p->rank - 1];
  double largest = -INFINITY, sum = 0;
  nd4c_ref_read_doubles(p->dtype, p->data, start, p->strides[p->rank - 1], classes, chances);
  for (int64_t i = 0; i < classes && logarithms; i++) {
    largest = fmax(largest, chances[i]);
  }
  for (int64_t i = 0; i < classes; i++) {
    if (chances[i] != chances[i] || chances[i] == INFINITY || (!logarithms && chances[i] < 0)) {
      return false;
    }
    chances[i] = logarithms ? exp(chances[i] - largest) : chances[i];
    sum += chances[i];
  }
  return sum > 0 && sum < INFINITY;
}

/* Turns the probabilities into running sums, and picks for each sample the class whose interval contains a random
 * place. */
static void choose_with_replacement(const nd4c_philox *state, int64_t first, int64_t classes, double *chances,
                                    int64_t samples, int64_t *chosen) {
  for (int64_t i = 1; i < classes; i++) {
    chances[i] += chances[i - 1];
  }
  for (int64_t k = 0; k < samples; k++) {
    double place = nd4c_ref_random_unit(state, first + k) * chances[classes - 1];
    int64_t low = 0, high = classes - 1;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (chances[middle] > place) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    chosen[k] = low;
  }
}

/* Orders the classes by exponential waiting times (Efraimidis and Spirakis); classes of probability 0 come last. */
static void choose_without_replacement(const nd4c_philox *state, int64_t first, int64_t classes, double *chances,
                                       uint64_t *work, int64_t *order) {
  for (int64_t i = 0; i < classes; i++) {
    double u = nd4c_ref_random_unit(state, first + i) + 0x1p-54;
    chances[i] = chances[i] > 0 ? -log(u) / chances[i] : INFINITY;
  }
  nd4c_ref_argsort(ND4C_FLOAT64, (const char *)chances, 0, 1, 1, classes, false, work, order);
}

typedef struct categories {
  nd4c_philox state;
  const nd4c_tensor *p, *y;
  nd4c_ref_axes rows;
  int64_t classes, samples;
  bool logarithms, replacement;
  double *chances;
  int64_t *chosen;
  uint64_t *work;
} categories;

static nd4c_status check_rows(const categories *c) {
  for (int64_t row = 0; row < nd4c_ref_axes_size(&c->rows); row++) {
    int64_t from, to;
    nd4c_ref_axes_at(&c->rows, row, &from, &to);
    ND4C_CPU_FAIL_IF(!read_chances(c->p, from, c->logarithms, c->chances), ND4C_ARGUMENT,
                     "random_categorical: row %lld of p has no chances: expected %s and a positive sum", (long long)row,
                     c->logarithms ? "no NaN or infinity" : "numbers of at least 0");
  }
  return ND4C_OK;
}

static void choose_rows(const categories *c) {
  for (int64_t row = 0; row < nd4c_ref_axes_size(&c->rows); row++) {
    int64_t from, to;
    nd4c_ref_axes_at(&c->rows, row, &from, &to);
    (void)read_chances(c->p, from, c->logarithms, c->chances);
    if (c->replacement) {
      choose_with_replacement(&c->state, row * c->samples, c->classes, c->chances, c->samples, c->chosen);
    } else {
      choose_without_replacement(&c->state, row * c->classes, c->classes, c->chances, c->work, c->chosen);
    }
    nd4c_ref_write_words(c->y->dtype, c->y->data, to, c->y->strides[c->y->rank - 1], c->samples,
                         (const uint64_t *)c->chosen);
  }
}

static nd4c_status categorical(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_tensor p = nd4c_cpu_ref_input(call, 1), y = nd4c_cpu_ref_output(call, 0);
  int64_t classes = p.shape[p.rank - 1], samples = y.shape[y.rank - 1];
  categories c = {.state = state_of(call),
                  .p = &call->inputs[1],
                  .y = &call->outputs[0],
                  .rows = nd4c_ref_axes_without(&p, &y, p.rank - 1),
                  .classes = classes,
                  .samples = samples,
                  .logarithms = ND4C_FLAG_OF(call, random_categorical_logarithms),
                  .replacement = ND4C_FLAG_OF(call, random_categorical_replacement),
                  .chances = nd4c_cpu_work_make(work, classes),
                  .work = (uint64_t *)nd4c_cpu_work_make_integers(work, ND4C_REF_SORT_WORDS * classes),
                  .chosen = nd4c_cpu_work_make_integers(work, samples > classes ? samples : classes)};
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(check_rows(&c));
  choose_rows(&c);
  return ND4C_OK;
}

/* -- list ---------------------------------------------------------------------------------------------------------- */

#define INTEGERS ND4C_CPU_INTS
#define D(name) ND4C_REF_DISTRIBUTION_##name
#define UNIFORM (call->outputs[0].dtype == ND4C_FLOAT64 ? D(uniform64) : D(uniform32))
/* X(op, dtypes, expression) */
#define OPS(X)                                                                                                       \
  X(random_bits, INTEGERS, integers(call, bits_range, 0, 0))                                                         \
  X(random_integers, INTEGERS,                                                                                       \
    integers(call, integers_range, ND4C_INT_OF(call, random_integers_low), ND4C_INT_OF(call, random_integers_high))) \
  X(random_uniform, INTEGERS, with_two(call, UNIFORM))                                                               \
  X(random_normal, INTEGERS, with_two(call, D(normal)))                                                              \
  X(random_log_normal, INTEGERS, with_two(call, D(log_normal)))                                                      \
  X(random_truncated_normal, INTEGERS, with_two(call, D(truncated_normal)))                                          \
  X(random_exponential, INTEGERS,                                                                                    \
    with_parameters(call, D(exponential), NULL, NULL, ND4C_REAL_OF(call, random_exponential_scale)))                 \
  X(random_bernoulli, INTEGERS, with_parameters(call, D(bernoulli), &probability, NULL, 0))                          \
  X(random_binomial, INTEGERS, with_parameters(call, D(binomial), &trials, &probability, 0))                         \
  X(random_gamma, INTEGERS, with_parameters(call, D(gamma), &finite, NULL, ND4C_REAL_OF(call, random_gamma_scale)))  \
  X(random_poisson, INTEGERS, with_parameters(call, D(poisson), &positive, NULL, 0))
#define WORK_OPS(X)                                        \
  X(random_categorical, INTEGERS, categorical(call, work)) \
  X(random_permutation, INTEGERS, permutation(call, work)) \
  X(random_shuffle, INTEGERS, shuffle(call, work))         \
  X(random_dropout, INTEGERS, dropout(call, work))         \
  X(rrelu, ND4C_CPU_FLOATS, rrelu(call, work))
OPS(ND4C_CPU_REFERENCE_RUN)
WORK_OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_random_kernels[] = {
    OPS(ND4C_CPU_REFERENCE_ROW) WORK_OPS(ND4C_CPU_WORK_ROW)
        ND4C_CPU_REFERENCE_KERNEL(random_advance, INTEGERS, random_advance_run),
    NULL};
