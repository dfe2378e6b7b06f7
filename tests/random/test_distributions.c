/* Random numbers: Philox's published vectors, the same results for any number of threads, and distributions that follow
 * their laws (Kolmogorov and Smirnov's test, chi-squared, moments), with fixed states. tests/records/random_numbers.py
 * checks the exact value of each element. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/reference/random/philox.h"
#include "nd4c/nd4c.h"

enum { COUNT = 100000 };

/* -- Philox -------------------------------------------------------------------------------------------------------- */

/* Random123's kat_vectors (tests/data/philox.json). */
static void philox_gives_the_published_vectors(void **state) {
  (void)state;
  static const struct {
    int rounds;
    uint32_t counter[4], key[2], out[4];
  } vectors[] = {{7, {0, 0, 0, 0}, {0, 0}, {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}},
                 {7, {~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}},
                 {7,
                  {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                  {0xa4093822, 0x299f31d0},
                  {0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}},
                 {10, {0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                 {10, {~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                 {10,
                  {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                  {0xa4093822, 0x299f31d0},
                  {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    uint32_t block[4];
    nd4c_philox4x32(vectors[i].counter, vectors[i].key, vectors[i].rounds, block);
    assert_memory_equal(block, vectors[i].out, sizeof block);
  }
}

/* A stream whose counter carries from its lower into its upper half. */
static void a_counter_carries(void **state) {
  (void)state;
  const nd4c_philox start = {UINT64_C(2) << 32 | 1, UINT64_MAX - 1, 0};
  uint32_t block[4];
  nd4c_philox_block(&start, 1023, 0, block);
  static const uint32_t last[4] = {0x7de4bc9f, 0xda44a56d, 0xd80b3366, 0xf5fe59d0};
  assert_memory_equal(block, last, sizeof block);
}

/* -- drawing ------------------------------------------------------------------------------------------------------- */

/* A draw: up to two parameters as 0-d inputs, attributes c and d by name. */
typedef struct draw {
  nd4c_op op;
  int parameters;
  double a, b;
  const char *c_name, *d_name;
  double c, d;
} draw;

static nd4c_array *scalar(double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT64, 0, NULL, &value, NULL, &array), ND4C_OK);
  return array;
}

static nd4c_array *state_array(uint64_t key, uint64_t counter) {
  const int64_t words[2] = {(int64_t)key, (int64_t)counter}, shape[1] = {2};
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, shape, words, NULL, &array), ND4C_OK);
  return array;
}

static void read_and_release(nd4c_array *array, void *to, int64_t bytes) {
  assert_int_equal(nd4c_array_read(array, to, (size_t)bytes), ND4C_OK);
  nd4c_array_release(array);
}

static double *draw_all(nd4c_context *context, const draw *d, uint64_t key) {
  const int64_t shape[1] = {COUNT};
  nd4c_array *inputs[3] = {state_array(key, 12345), NULL, NULL}, *y = NULL;
  nd4c_attr attrs[4] = {{"shape", {.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = shape}},
                        {"dtype", {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT64}}};
  int count = 2;
  if (d->c_name != NULL) {
    attrs[count++] = (nd4c_attr){d->c_name, {.kind = ND4C_ATTR_FLOAT, .as.f = d->c}};
  }
  if (d->d_name != NULL) {
    attrs[count++] = (nd4c_attr){d->d_name, {.kind = ND4C_ATTR_FLOAT, .as.f = d->d}};
  }
  for (int i = 0; i < d->parameters; i++) {
    inputs[i + 1] = scalar(i == 0 ? d->a : d->b);
  }
  nd4c_status status =
      nd4c_op_call(context, d->op, (const nd4c_array *const *)inputs, 1 + d->parameters, attrs, count, &y, 1);
  if (status != ND4C_OK) {
    fail_msg("%s", nd4c_error_message());
  }
  double *values = malloc(COUNT * sizeof *values);
  assert_non_null(values);
  read_and_release(y, values, COUNT * (int64_t)sizeof *values);
  for (int i = 0; i < 3; i++) {
    nd4c_array_release(inputs[i]);
  }
  return values;
}

static const draw draws[] = {{ND4C_OP_random_uniform, 0, 0, 0, "low", "high", -1, 3},
                             {ND4C_OP_random_normal, 0, 0, 0, "mean", "scale", 2, 3},
                             {ND4C_OP_random_log_normal, 0, 0, 0, NULL, NULL, 0, 0},
                             {ND4C_OP_random_truncated_normal, 0, 0, 0, NULL, NULL, 0, 0},
                             {ND4C_OP_random_exponential, 0, 0, 0, "scale", NULL, 2, 0},
                             {ND4C_OP_random_bernoulli, 1, 0.3, 0, NULL, NULL, 0, 0},
                             {ND4C_OP_random_gamma, 1, 0.7, 0, NULL, NULL, 0, 0},
                             {ND4C_OP_random_poisson, 1, 33, 0, NULL, NULL, 0, 0},
                             {ND4C_OP_random_binomial, 2, 90, 0.4, NULL, NULL, 0, 0}};

static void results_do_not_depend_on_width(void **state) {
  (void)state;
  static const int32_t widths[] = {1, 2, 7};
  for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
    double *first = NULL;
    for (int w = 0; w < 3; w++) {
      nd4c_context_options options = {.struct_size = sizeof options, .width = widths[w]};
      nd4c_context *context = NULL;
      assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
      double *values = draw_all(context, &draws[i], 77);
      if (first == NULL) {
        first = values;
      } else {
        assert_memory_equal(first, values, COUNT * sizeof *values);
        free(values);
      }
      assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
    }
    free(first);
  }
}

/* -- continuous distributions -------------------------------------------------------------------------------------- */

static double normal_below(double x) {
  return 0.5 * erfc(-x / sqrt(2));
}

static double uniform_law(double x, double a) {
  (void)a;
  return (x + 1) / 4;
}
static double normal_law(double x, double a) {
  (void)a;
  return normal_below((x - 2) / 3);
}
static double log_normal_law(double x, double a) {
  (void)a;
  return normal_below(log(x));
}
static double truncated_law(double x, double a) {
  (void)a;
  return (normal_below(x) - normal_below(-2)) / (normal_below(2) - normal_below(-2));
}
static double truncated_tail_law(double x, double a) {
  (void)a;
  return 1 - (normal_below(-x) - normal_below(-5)) / (normal_below(-4) - normal_below(-5));
}
static double exponential_law(double x, double a) {
  (void)a;
  return -expm1(-x / 2);
}
/* Of half or whole alpha. */
static double gamma_law(double x, double alpha) {
  if (alpha == 0.5) {
    return erf(sqrt(x));
  }
  double term = exp(-x), sum = 0;
  for (int k = 0; k < (int)alpha; k++) {
    sum += term;
    term *= x / (k + 1);
  }
  return 1 - sum;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The largest distance of the numbers' distribution from the law, times sqrt n: above 1.95 once in a thousand times. */
static double distance_from_law(double *values, double (*law)(double, double), double a) {
  double largest = 0;
  qsort(values, COUNT, sizeof *values, ascending);
  for (int i = 0; i < COUNT; i++) {
    double p = law(values[i], a);
    largest = fmax(largest, fmax(fabs(p - (double)i / COUNT), fabs(p - (double)(i + 1) / COUNT)));
  }
  return largest * sqrt(COUNT);
}

static void continuous_results_follow_their_laws(void **state) {
  (void)state;
  const struct {
    draw d;
    double (*law)(double, double);
  } cases[] = {{draws[0], uniform_law},
               {draws[1], normal_law},
               {draws[2], log_normal_law},
               {draws[3], truncated_law},
               {{ND4C_OP_random_truncated_normal, 0, 0, 0, "low", "high", 4, 5}, truncated_tail_law},
               {draws[4], exponential_law},
               {{ND4C_OP_random_gamma, 1, 0.5, 0, NULL, NULL, 0, 0}, gamma_law},
               {{ND4C_OP_random_gamma, 1, 1, 0, NULL, NULL, 0, 0}, gamma_law},
               {{ND4C_OP_random_gamma, 1, 3, 0, NULL, NULL, 0, 0}, gamma_law},
               {{ND4C_OP_random_gamma, 1, 60, 0, NULL, NULL, 0, 0}, gamma_law}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double *values = draw_all(NULL, &cases[i].d, 1000 + i);
    double distance = distance_from_law(values, cases[i].law, cases[i].d.a);
    free(values);
    if (!(distance < 1.95)) {
      fail_msg("%s (case %zu) is %g away from its law", nd4c_op_get(cases[i].d.op)->name, i, distance);
    }
  }
}

/* Far tails: of so many normal numbers some are beyond 4, and all are finite. */
static void normal_tails_are_there(void **state) {
  (void)state;
  const draw d = {ND4C_OP_random_normal, 0, 0, 0, NULL, NULL, 0, 0};
  int beyond = 0;
  for (uint64_t key = 0; key < 10; key++) {
    double *values = draw_all(NULL, &d, key);
    for (int i = 0; i < COUNT; i++) {
      assert_true(isfinite(values[i]) && fabs(values[i]) < 9.3);
      beyond += fabs(values[i]) > 4;
    }
    free(values);
  }
  assert_in_range(beyond, 30, 100); /* 63 expected, deviation 8 */
}

/* -- discrete distributions ---------------------------------------------------------------------------------------- */

static double bernoulli_mass(double k, double p, double unused) {
  (void)unused;
  return k == 0 ? 1 - p : k == 1 ? p : 0;
}
static double poisson_mass(double k, double rate, double unused) {
  (void)unused;
  return exp(k * log(rate) - rate - lgamma(k + 1));
}
static double binomial_mass(double k, double n, double p) {
  return k > n ? 0 : exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p));
}

/* Chi-squared over values 0 .. most, rare ones together; the distance from the expected value in deviations. */
static double chi_squared(const double *values, int64_t count, int most, double (*mass)(double, double, double),
                          double a, double b) {
  double *observed = calloc((size_t)most + 2, sizeof *observed), sum = 0, seen = 0, expected = 0;
  int cells = 0;
  assert_non_null(observed);
  for (int64_t i = 0; i < count; i++) {
    assert_true(values[i] >= 0 && values[i] == floor(values[i]));
    observed[values[i] > most ? most + 1 : (int)values[i]]++;
  }
  for (int k = 0; k <= most; k++) {
    seen += observed[k];
    expected += (double)count * mass(k, a, b);
    if (expected >= 20) {
      sum += (seen - expected) * (seen - expected) / expected;
      cells++;
      seen = expected = 0;
    }
  }
  assert_true(observed[most + 1] <= 20);
  free(observed);
  return (sum - (cells - 1)) / sqrt(2.0 * (cells > 1 ? cells - 1 : 1));
}

static void discrete_results_follow_their_laws(void **state) {
  (void)state;
  const struct {
    draw d;
    int most;
    double (*mass)(double, double, double);
  } cases[] = {{draws[5], 1, bernoulli_mass},
               {{ND4C_OP_random_poisson, 1, 0.5, 0, NULL, NULL, 0, 0}, 12, poisson_mass},
               {{ND4C_OP_random_poisson, 1, 9.5, 0, NULL, NULL, 0, 0}, 40, poisson_mass},
               {{ND4C_OP_random_poisson, 1, 10, 0, NULL, NULL, 0, 0}, 40, poisson_mass},
               {{ND4C_OP_random_poisson, 1, 33.3, 0, NULL, NULL, 0, 0}, 80, poisson_mass},
               {{ND4C_OP_random_poisson, 1, 2000, 0, NULL, NULL, 0, 0}, 2400, poisson_mass},
               {{ND4C_OP_random_binomial, 2, 10, 0.3, NULL, NULL, 0, 0}, 10, binomial_mass},
               {{ND4C_OP_random_binomial, 2, 1000, 0.004, NULL, NULL, 0, 0}, 40, binomial_mass},
               {{ND4C_OP_random_binomial, 2, 1000, 0.4, NULL, NULL, 0, 0}, 1000, binomial_mass},
               {{ND4C_OP_random_binomial, 2, 100, 0.85, NULL, NULL, 0, 0}, 100, binomial_mass},
               {{ND4C_OP_random_binomial, 2, 40, 0.5, NULL, NULL, 0, 0}, 40, binomial_mass}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double *values = draw_all(NULL, &cases[i].d, 2000 + i);
    double away = chi_squared(values, COUNT, cases[i].most, cases[i].mass, cases[i].d.a, cases[i].d.b);
    free(values);
    if (!(fabs(away) < 4)) {
      fail_msg("%s (case %zu) is %g deviations away from its law", nd4c_op_get(cases[i].d.op)->name, i, away);
    }
  }
}

/* Mean and variance, for laws whose table of probabilities would be too long. */
static void large_parameters_have_the_right_moments(void **state) {
  (void)state;
  const struct {
    draw d;
    double mean, variance;
  } cases[] = {{{ND4C_OP_random_poisson, 1, 1e13, 0, NULL, NULL, 0, 0}, 1e13, 1e13},
               {{ND4C_OP_random_binomial, 2, 0x1p50, 0.25, NULL, NULL, 0, 0}, 0x1p48, 0x1p48 * 0.75},
               {{ND4C_OP_random_gamma, 1, 1e8, 0, NULL, NULL, 0, 0}, 1e8, 1e8},
               {{ND4C_OP_random_gamma, 1, 0.01, 0, NULL, NULL, 0, 0}, 0.01, 0.01}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double *values = draw_all(NULL, &cases[i].d, 3000 + i), mean = 0, variance = 0;
    for (int k = 0; k < COUNT; k++) {
      mean += (values[k] - cases[i].mean) / COUNT;
    }
    for (int k = 0; k < COUNT; k++) {
      double distance = values[k] - cases[i].mean - mean;
      variance += distance * distance / COUNT;
    }
    free(values);
    assert_true(fabs(mean) < 4 * sqrt(cases[i].variance / COUNT));
    assert_true(fabs(variance / cases[i].variance - 1) < (i == 3 ? 0.2 : 0.02));
  }
}

/* -- integers, orders, categories ---------------------------------------------------------------------------------- */

static double equal_mass(double k, double cells, double unused) {
  (void)unused;
  return k < cells ? 1 / cells : 0;
}

static void integers_are_equally_likely(void **state) {
  (void)state;
  const int64_t shape[1] = {COUNT};
  nd4c_array *start = state_array(5, 6), *y = NULL;
  assert_int_equal(nd4c_random_integers(start, shape, 1, ND4C_INT64, 0, 97, &y), ND4C_OK);
  int64_t *drawn = malloc(COUNT * sizeof *drawn);
  double *values = malloc(COUNT * sizeof *values);
  assert_true(drawn != NULL && values != NULL);
  read_and_release(y, drawn, COUNT * (int64_t)sizeof *drawn);
  for (int i = 0; i < COUNT; i++) {
    values[i] = (double)drawn[i];
  }
  assert_true(fabs(chi_squared(values, COUNT, 96, equal_mass, 97, 0)) < 4);
  free(drawn);
  free(values);
  nd4c_array_release(start);
}

static void permutations_are_equally_likely(void **state) {
  (void)state;
  enum { TRIALS = 4800, ORDERS = 24 };
  static double numbers[TRIALS];
  for (int trial = 0; trial < TRIALS; trial++) {
    nd4c_array *start = state_array(9, (uint64_t)trial * 4), *y = NULL;
    int64_t order[4], number = 0;
    assert_int_equal(nd4c_random_permutation(start, 4, ND4C_INT64, &y), ND4C_OK);
    read_and_release(y, order, sizeof order);
    for (int i = 0; i < 4; i++) {
      int64_t smaller = 0;
      for (int j = i + 1; j < 4; j++) {
        smaller += order[j] < order[i];
      }
      number = number * (4 - i) + smaller;
    }
    numbers[trial] = (double)number;
    nd4c_array_release(start);
  }
  assert_true(fabs(chi_squared(numbers, TRIALS, ORDERS - 1, equal_mass, ORDERS, 0)) < 4);
}

static double category_mass(double k, double unused, double unused_too) {
  static const double chances[4] = {0.1, 0, 0.65, 0.25};
  (void)unused;
  (void)unused_too;
  return k < 4 ? chances[(int)k] : 0;
}

static void categories_have_their_chances(void **state) {
  (void)state;
  const double p[4] = {0.2, 0, 1.3, 0.5};
  const int64_t shape[1] = {4};
  nd4c_array *start = state_array(1, 0), *weights = NULL, *y = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT64, 1, shape, p, NULL, &weights), ND4C_OK);
  assert_int_equal(nd4c_random_categorical(start, weights, COUNT, false, true, ND4C_INT64, &y), ND4C_OK);
  int64_t *drawn = malloc(COUNT * sizeof *drawn);
  double *values = malloc(COUNT * sizeof *values);
  assert_true(drawn != NULL && values != NULL);
  read_and_release(y, drawn, COUNT * (int64_t)sizeof *drawn);
  for (int i = 0; i < COUNT; i++) {
    assert_int_not_equal(drawn[i], 1);
    values[i] = (double)drawn[i];
  }
  assert_true(fabs(chi_squared(values, COUNT, 3, category_mass, 0, 0)) < 4);
  free(drawn);
  free(values);
  nd4c_array_release(start);
  nd4c_array_release(weights);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(philox_gives_the_published_vectors),
                                     cmocka_unit_test(a_counter_carries),
                                     cmocka_unit_test(results_do_not_depend_on_width),
                                     cmocka_unit_test(continuous_results_follow_their_laws),
                                     cmocka_unit_test(normal_tails_are_there),
                                     cmocka_unit_test(discrete_results_follow_their_laws),
                                     cmocka_unit_test(large_parameters_have_the_right_moments),
                                     cmocka_unit_test(integers_are_equally_likely),
                                     cmocka_unit_test(permutations_are_equally_likely),
                                     cmocka_unit_test(categories_have_their_chances)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
