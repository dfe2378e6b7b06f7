/* Engine reference: random numbers. Parameters are judged before anything is written. */
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "kernels/reference/random/random.h"
#include "kernels/reference/sorting/order.h"

enum { GRAIN = 1024 };

static nd4c_philox read_state(const nd4c_tensor *state) {
  uint64_t words[3] = {0, 0, 0};
  nd4c_ref_read_words(state->dtype, state->data, 0, state->strides[0], state->shape[0], words);
  return (nd4c_philox){words[0], words[1], words[2]};
}

static nd4c_philox state_of(const nd4c_call *call) {
  return read_state(&call->inputs[0]);
}

static nd4c_status run_random_advance(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  uint64_t steps = (uint64_t)call->attrs[ND4C_ATTR_random_advance_steps].as.i;
  nd4c_philox state = state_of(call);
  uint64_t words[3] = {state.key, state.low + steps, state.high};
  words[2] += words[1] < steps;
  nd4c_ref_write_words(y->dtype, y->data, 0, y->strides[0], y->shape[0], words);
  return ND4C_OK;
}

/* -- distributions ------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(fill_range, nd4c_ref_random_fill)

static nd4c_ref_random random_of(const nd4c_call *call, nd4c_ref_distribution distribution) {
  return (nd4c_ref_random){
      .state = state_of(call), .distribution = distribution, .y = nd4c_cpu_ref_tensor(&call->outputs[0])};
}

static nd4c_status fill(const nd4c_call *call, nd4c_ref_random *r) {
  nd4c_cpu_parallel(call->outputs[0].size, GRAIN, call->width, fill_range, r);
  return ND4C_OK;
}

static nd4c_status run_random_uniform(const nd4c_call *call) {
  nd4c_dtype dtype = call->outputs[0].dtype;
  nd4c_ref_random r =
      random_of(call, dtype == ND4C_FLOAT64 ? ND4C_REF_DISTRIBUTION_uniform64 : ND4C_REF_DISTRIBUTION_uniform32);
  r.bits = dtype == ND4C_FLOAT16 ? 11 : dtype == ND4C_BFLOAT16 ? 8 : 24;
  r.c[0] = call->attrs[ND4C_ATTR_random_uniform_low].as.f;
  r.c[1] = call->attrs[ND4C_ATTR_random_uniform_high].as.f;
  return fill(call, &r);
}

static nd4c_status normal(const nd4c_call *call, nd4c_ref_distribution distribution) {
  nd4c_ref_random r = random_of(call, distribution);
  r.c[0] = call->attrs[ND4C_ATTR_random_normal_mean].as.f;
  r.c[1] = call->attrs[ND4C_ATTR_random_normal_scale].as.f;
  if (distribution == ND4C_REF_DISTRIBUTION_truncated_normal) {
    r.c[2] = call->attrs[ND4C_ATTR_random_truncated_normal_low].as.f;
    r.c[3] = call->attrs[ND4C_ATTR_random_truncated_normal_high].as.f;
  }
  return fill(call, &r);
}

static nd4c_status run_random_normal(const nd4c_call *call) {
  return normal(call, ND4C_REF_DISTRIBUTION_normal);
}

static nd4c_status run_random_log_normal(const nd4c_call *call) {
  return normal(call, ND4C_REF_DISTRIBUTION_log_normal);
}

static nd4c_status run_random_truncated_normal(const nd4c_call *call) {
  return normal(call, ND4C_REF_DISTRIBUTION_truncated_normal);
}

static nd4c_status run_random_exponential(const nd4c_call *call) {
  nd4c_ref_random r = random_of(call, ND4C_REF_DISTRIBUTION_exponential);
  r.c[1] = call->attrs[ND4C_ATTR_random_exponential_scale].as.f;
  return fill(call, &r);
}

/* What a parameter may be. */
typedef struct limits {
  double least, most;
  bool whole;
} limits;

static nd4c_status check_parameter(const nd4c_call *call, int32_t input, limits allowed) {
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&call->inputs[input]);
  for (int64_t i = 0; i < call->inputs[input].size; i++) {
    double value;
    nd4c_ref_read_doubles(x.dtype, x.data, nd4c_ref_offset(&x, x.rank, x.shape, i), 1, 1, &value);
    if (!(value >= allowed.least && value <= allowed.most) || (allowed.whole && value != floor(value))) {
      return nd4c_cpu_host->fail(ND4C_ARGUMENT, "%s: element %lld of %s is %g, expected %s%g to %g", call->op->name,
                                 (long long)i, call->op->inputs[input].name, value,
                                 allowed.whole ? "a whole number of " : "", allowed.least, allowed.most);
    }
  }
  return ND4C_OK;
}

static const limits probability = {0, 1, false}, trials = {0, 0x1p53, true}, positive = {0, 0x1p53, false},
                    finite = {0, 0x1.fffffffffffffp1023, false};

static nd4c_status run_random_bernoulli(const nd4c_call *call) {
  nd4c_ref_random r = random_of(call, ND4C_REF_DISTRIBUTION_bernoulli);
  r.a = nd4c_cpu_ref_tensor(&call->inputs[1]);
  nd4c_status status = check_parameter(call, 1, probability);
  return status == ND4C_OK ? fill(call, &r) : status;
}

static nd4c_status run_random_binomial(const nd4c_call *call) {
  nd4c_ref_random r = random_of(call, ND4C_REF_DISTRIBUTION_binomial);
  r.a = nd4c_cpu_ref_tensor(&call->inputs[1]);
  r.b = nd4c_cpu_ref_tensor(&call->inputs[2]);
  nd4c_status status = check_parameter(call, 1, trials);
  status = status == ND4C_OK ? check_parameter(call, 2, probability) : status;
  return status == ND4C_OK ? fill(call, &r) : status;
}

static nd4c_status run_random_poisson(const nd4c_call *call) {
  nd4c_ref_random r = random_of(call, ND4C_REF_DISTRIBUTION_poisson);
  r.a = nd4c_cpu_ref_tensor(&call->inputs[1]);
  nd4c_status status = check_parameter(call, 1, positive);
  return status == ND4C_OK ? fill(call, &r) : status;
}

static nd4c_status run_random_gamma(const nd4c_call *call) {
  nd4c_ref_random r = random_of(call, ND4C_REF_DISTRIBUTION_gamma);
  r.a = nd4c_cpu_ref_tensor(&call->inputs[1]);
  r.c[1] = call->attrs[ND4C_ATTR_random_gamma_scale].as.f;
  nd4c_status status = check_parameter(call, 1, finite);
  return status == ND4C_OK ? fill(call, &r) : status;
}

/* -- integers ------------------------------------------------------------------------------------------------------ */

typedef struct integers_call {
  nd4c_philox state;
  nd4c_ref_tensor y;
  int64_t low;
  uint64_t range;
} integers_call;

static void bits_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const integers_call *c = user;
  (void)worker;
  nd4c_ref_random_bits(&c->state, &c->y, begin, end);
}

static nd4c_status run_random_bits(const nd4c_call *call) {
  integers_call c = {.state = state_of(call), .y = nd4c_cpu_ref_tensor(&call->outputs[0])};
  nd4c_cpu_parallel(call->outputs[0].size, GRAIN, call->width, bits_range, &c);
  return ND4C_OK;
}

static void integers_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const integers_call *c = user;
  (void)worker;
  nd4c_ref_random_integers(&c->state, c->low, c->range, &c->y, begin, end);
}

static nd4c_status run_random_integers(const nd4c_call *call) {
  integers_call c = {.state = state_of(call), .y = nd4c_cpu_ref_tensor(&call->outputs[0])};
  c.low = call->attrs[ND4C_ATTR_random_integers_low].as.i;
  c.range = (uint64_t)call->attrs[ND4C_ATTR_random_integers_high].as.i - (uint64_t)c.low;
  nd4c_cpu_parallel(call->outputs[0].size, GRAIN, call->width, integers_range, &c);
  return ND4C_OK;
}

/* -- orders -------------------------------------------------------------------------------------------------------- */

static nd4c_status make_order(const nd4c_call *call, int64_t count, int64_t **order) {
  nd4c_philox state = state_of(call);
  *order = nd4c_cpu_host->allocate_pages((size_t)(count + 1) * sizeof **order);
  if (*order == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for an order of %lld elements", (long long)count);
  }
  nd4c_ref_random_order(&state, count, *order);
  return ND4C_OK;
}

static void free_order(int64_t *order, int64_t count) {
  nd4c_cpu_host->free_pages(order, (size_t)(count + 1) * sizeof *order);
}

static nd4c_status run_random_permutation(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  int64_t *order;
  nd4c_status status = make_order(call, y->size, &order);
  if (status == ND4C_OK) {
    nd4c_ref_write_words(y->dtype, y->data, 0, y->strides[0], y->size, (const uint64_t *)order);
    free_order(order, y->size);
  }
  return status;
}

static nd4c_status run_random_shuffle(const nd4c_call *call) {
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&call->inputs[1]), y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_random_shuffle_axis].as.i, x.rank);
  nd4c_ref_axes lines = nd4c_ref_axes_without(&x, &y, axis);
  int64_t *order, count = x.shape[axis], from, to;
  ND4C_BACKEND_TRY(make_order(call, count, &order));
  for (int64_t line = 0; line < nd4c_ref_axes_size(&lines); line++) {
    nd4c_ref_axes_at(&lines, line, &from, &to);
    nd4c_ref_permute_raw(nd4c_reference_bytes(x.dtype), x.data, from, x.strides[axis], order, count, y.data, to,
                         y.strides[axis]);
  }
  free_order(order, count);
  return ND4C_OK;
}

/* -- dropout ------------------------------------------------------------------------------------------------------- */

typedef struct dropout_call {
  nd4c_philox state;
  nd4c_ref_tensor x, y, mask;
  double rate;
} dropout_call;

static void dropout_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const dropout_call *c = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    bool kept = nd4c_ref_random_unit(&c->state, i) >= c->rate;
    double x = nd4c_ref_load(&c->x, nd4c_ref_offset(&c->x, c->y.rank, c->y.shape, i));
    nd4c_ref_store(&c->y, nd4c_ref_offset(&c->y, c->y.rank, c->y.shape, i), kept ? x / (1 - c->rate) : 0);
    c->mask.data[nd4c_ref_offset(&c->mask, c->y.rank, c->y.shape, i)] = kept;
  }
}

static nd4c_status run_random_dropout(const nd4c_call *call) {
  dropout_call c = {state_of(call), nd4c_cpu_ref_tensor(&call->inputs[1]), nd4c_cpu_ref_tensor(&call->outputs[0]),
                    nd4c_cpu_ref_tensor(&call->outputs[1]), call->attrs[ND4C_ATTR_random_dropout_rate].as.f};
  nd4c_cpu_parallel(call->outputs[0].size, GRAIN, call->width, dropout_range, &c);
  return ND4C_OK;
}

/* -- leaky rectifier ----------------------------------------------------------------------------------------------- */

typedef struct rrelu_call {
  nd4c_philox state;
  nd4c_ref_tensor x, y;
  double low, high;
  bool seeded;
} rrelu_call;

static void rrelu_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const rrelu_call *c = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    double u = c->seeded ? nd4c_ref_random_unit(&c->state, i) : 0.5;
    double x = nd4c_ref_load(&c->x, nd4c_ref_offset(&c->x, c->y.rank, c->y.shape, i));
    double slope = c->low + u * (c->high - c->low);
    nd4c_ref_store(&c->y, nd4c_ref_offset(&c->y, c->y.rank, c->y.shape, i), x < 0 ? slope * x : x);
  }
}

static nd4c_status run_rrelu(const nd4c_call *call) {
  const nd4c_tensor *state = nd4c_cpu_input(call, ND4C_IN_rrelu_state);
  rrelu_call c = {.x = nd4c_cpu_ref_tensor(&call->inputs[0]),
                  .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
                  .low = call->attrs[ND4C_ATTR_rrelu_low].as.f,
                  .high = call->attrs[ND4C_ATTR_rrelu_high].as.f,
                  .seeded = state != NULL};
  if (c.seeded) {
    c.state = read_state(state);
  }
  nd4c_cpu_parallel(call->outputs[0].size, GRAIN, call->width, rrelu_range, &c);
  return ND4C_OK;
}

/* -- categories ---------------------------------------------------------------------------------------------------- */

/* One row's chances, unnormalised; false if they are none. */
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

/* chances become sums; the class in whose part a place lies. */
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

/* The classes whose exponential waiting times are shortest (Efraimidis and Spirakis); those without a chance last. */
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
    if (!read_chances(c->p, from, c->logarithms, c->chances)) {
      return nd4c_cpu_host->fail(ND4C_ARGUMENT,
                                 "random_categorical: row %lld of p has no chances: expected %s and a positive sum",
                                 (long long)row, c->logarithms ? "no NaN or infinity" : "numbers of at least 0");
    }
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

static nd4c_status run_random_categorical(const nd4c_call *call) {
  nd4c_ref_tensor p = nd4c_cpu_ref_tensor(&call->inputs[1]), y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  categories c = {.state = state_of(call), .p = &call->inputs[1], .y = &call->outputs[0]};
  c.rows = nd4c_ref_axes_without(&p, &y, p.rank - 1);
  c.classes = p.shape[p.rank - 1];
  c.samples = y.shape[y.rank - 1];
  c.logarithms = call->attrs[ND4C_ATTR_random_categorical_logarithms].as.i != 0;
  c.replacement = call->attrs[ND4C_ATTR_random_categorical_replacement].as.i != 0;
  int64_t chosen = c.samples > c.classes ? c.samples : c.classes;
  size_t bytes = (size_t)(c.classes * (1 + ND4C_REF_SORT_WORDS) + chosen) * sizeof(uint64_t);
  c.chances = nd4c_cpu_host->allocate_pages(bytes);
  if (c.chances == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for %lld classes", (long long)c.classes);
  }
  c.work = (uint64_t *)(void *)(c.chances + c.classes);
  c.chosen = (int64_t *)(void *)(c.work + ND4C_REF_SORT_WORDS * c.classes);
  nd4c_status status = check_rows(&c);
  if (status == ND4C_OK) {
    choose_rows(&c);
  }
  nd4c_cpu_host->free_pages(c.chances, bytes);
  return status;
}

/* -- list ---------------------------------------------------------------------------------------------------------- */

#define OPS(X)               \
  X(random_advance)          \
  X(random_bits)             \
  X(random_uniform)          \
  X(random_normal)           \
  X(random_log_normal)       \
  X(random_truncated_normal) \
  X(random_exponential)      \
  X(random_integers)         \
  X(random_bernoulli)        \
  X(random_binomial)         \
  X(random_gamma)            \
  X(random_poisson)          \
  X(random_categorical)      \
  X(random_permutation)      \
  X(random_shuffle)          \
  X(random_dropout)
#define DEFINE_KERNEL(op) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_INTS, run_##op),

const nd4c_kernel *const nd4c_cpu_reference_random_kernels[] = {
    OPS(DEFINE_KERNEL) ND4C_CPU_REFERENCE_KERNEL(rrelu, ND4C_CPU_FLOATS, run_rrelu), NULL};
