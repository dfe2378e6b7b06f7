/* Long lines that several work items share: running sums, products and extremes, and repeat's counts, against a plain
 * loop. Without an OpenCL device the test is skipped; without float64 on the device, its rows of float64 are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "faulty_loader.h"

enum { LENGTH = 40003, LINES = 2, SIZE = LENGTH * LINES };
enum { FIRST_AXIS = 1, REVERSE = 2, EXCLUSIVE = 4, GPU = 8 /* without float64 alone: each program is compiled */ };

static nd4c_device *device;
static nd4c_context *context;
static bool has_float64;
static double x[SIZE], expected[SIZE], scale[SIZE], result[SIZE];
static int64_t words[SIZE], places[SIZE], expected_places[SIZE];
static float floats[SIZE];

/* -- elements ------------------------------------------------------------------------------------------------------ */

static double whole(int64_t i) {
  return (double)((i * 7919 + 13) % 201 - 100);
}

static double signs(int64_t i) {
  return i * 7919 % 64 < 32 ? 1.0009765625 : -0.9990234375;
}

/* Pieces of a line, as scan.c splits it; pieces from 1 on follow another one. */
enum { PIECES = LENGTH / 4096, PIECE = (LENGTH + PIECES - 1) / PIECES };

/* The running sum moves from one end of the range to the other; started at 0 it would leave the range. */
static double huge(int64_t i) {
  return i == 0 ? -1.7e308 : (i - 1) % 6 < 3 ? 1e308 : -1e308;
}

/* The same for products: to 2^-1000, to 2^1000 and back, repeatedly. */
static double swing(int64_t i) {
  return i % 4000 < 1000 || i % 4000 >= 3000 ? 0.5 : 2;
}

/* `first` 600 times in the second piece; in the third one `next` `count` times, then its reciprocal. */
static double to_and_back(int64_t i, double first, double next, int64_t count) {
  int64_t piece = i / PIECE, at = i % PIECE;
  return piece == 1 && at < 600 ? first : piece != 2 || at >= 2 * count ? 1 : at < count ? next : 1 / next;
}

/* Computed alone, the third piece comes so near 0 that bits are lost. */
static double deep(int64_t i) {
  return to_and_back(i, 2, 1.0 / 3, 668);
}

/* Computed alone it stays within the range, after the second piece it does not. */
static double sink(int64_t i) {
  return to_and_back(i, 0.5, 0.5, 600);
}

static double rise(int64_t i) {
  return to_and_back(i, 2, 2, 600);
}

/* Down to 0, where the product stays. */
static double vanish(int64_t i) {
  return i < 12000 ? 0.5 : 2;
}

/* 0 first: without it the later products would overflow. */
static double zero_first(int64_t i) {
  return i == 0 ? 0 : i % 5 == 0 ? -1e300 : 1e300;
}

static double with_infinity(int64_t i) {
  return i == 20000 ? (double)INFINITY : i == 33000 ? -(double)INFINITY : 1;
}

static double with_nan(int64_t i) {
  return i == 17000 ? (double)NAN : signs(i);
}

static double turns(int64_t i) {
  return i % 7 < 3 ? 1 : -1;
}

static double zero_then_infinity(int64_t i) {
  return i == 0 ? 0 : i == 20000 ? (double)INFINITY : turns(i);
}

static double infinity_then_zero(int64_t i) {
  return i == 0 ? (double)INFINITY : i == 20000 ? 0 : turns(i);
}

/* An odd number of signs in each piece. */
static double signed_infinities(int64_t i) {
  return i == 20000 ? (double)INFINITY : i == 33000 ? -(double)INFINITY : i % 5 == 0 ? -1 : 1;
}

static double overflow(int64_t i) {
  return i % 20000 < 4 ? 1e308 : 1;
}

/* -- the plain loop ------------------------------------------------------------------------------------------------ */

typedef struct row {
  const char *what;
  nd4c_op op;
  nd4c_dtype dtype, to; /* of x; of sums and products */
  double (*element)(int64_t i);
  unsigned how;
} row;

static bool is_best(const row *r) {
  return r->op == ND4C_OP_cumulative_max || r->op == ND4C_OP_cumulative_min;
}

static double next_of(const row *r, double before, double value) {
  if (r->op == ND4C_OP_cumulative_sum) {
    return before + value;
  }
  if (r->op == ND4C_OP_cumulative_prod) {
    return before * value;
  }
  double high = before > value ? before : value, low = before > value ? value : before;
  return isinf(high) ? high : high + log1p(exp(low - high));
}

/* A line of x from `begin` on, `step` apart; the results have the same layout. */
static void expect_line(const row *r, int64_t begin, int64_t step) {
  double sum = r->op == ND4C_OP_cumulative_sum ? 0 : r->op == ND4C_OP_cumulative_prod ? 1 : -(double)INFINITY;
  double weight = 0, best = NAN;
  int64_t where = 0;
  for (int64_t j = 0; j < LENGTH; j++) {
    int64_t at = begin + (r->how & REVERSE ? LENGTH - 1 - j : j) * step;
    bool better = r->op == ND4C_OP_cumulative_max ? x[at] >= best : x[at] <= best;
    double before = sum;
    if (is_best(r)) {
      where = j == 0 || isnan(x[at]) || (!isnan(best) && better) ? j : where;
      best = where == j ? x[at] : best;
    } else {
      sum = next_of(r, sum, x[at]);
      weight =
          r->op == ND4C_OP_cumulative_sum ? fmin(weight + fabs(x[at]), 1e308) : fabs(r->how & EXCLUSIVE ? before : sum);
    }
    expected[at] = is_best(r) ? best : r->how & EXCLUSIVE ? before : sum;
    scale[at] = weight;
    expected_places[at] = where;
  }
}

/* A device without float64 rounds each of its products and exponentials to float32. */
static bool is_close(const row *r, double a, double b, double size) {
  double tolerance = r->dtype == ND4C_INT64 || is_best(r) ? 0 : r->to == ND4C_FLOAT64 ? 1e-11 : 1e-7;
  tolerance = tolerance > 0 && !has_float64 && r->op != ND4C_OP_cumulative_sum ? 5e-3 : tolerance;
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b)) ||
         (a != b && isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance * size);
}

/* -- tests --------------------------------------------------------------------------------------------------------- */

static void read_as_doubles(nd4c_array *array, nd4c_dtype dtype, double *to) {
  void *raw = dtype == ND4C_FLOAT64 ? (void *)to : dtype == ND4C_FLOAT32 ? (void *)floats : words;
  assert_int_equal(nd4c_array_read(array, raw, SIZE * (dtype == ND4C_FLOAT32 ? sizeof(float) : 8)), ND4C_OK);
  for (int64_t i = 0; i < SIZE && dtype != ND4C_FLOAT64; i++) {
    to[i] = dtype == ND4C_FLOAT32 ? floats[i] : (double)words[i];
  }
}

static nd4c_array *make_input(const row *r, int64_t begin, int64_t step) {
  const int64_t shape[2] = {r->how & FIRST_AXIS ? LENGTH : LINES, r->how & FIRST_AXIS ? LINES : LENGTH};
  nd4c_array *array = NULL;
  for (int64_t line = 0; line < LINES; line++) {
    for (int64_t j = 0; j < LENGTH; j++) {
      int64_t at = line * begin + j * step;
      x[at] = r->element(r->how & REVERSE ? LENGTH - 1 - j : j);
      floats[at] = (float)x[at];
      x[at] = r->dtype == ND4C_FLOAT32 ? floats[at] : x[at];
      words[at] = isfinite(x[at]) && r->dtype == ND4C_INT64 ? (int64_t)x[at] : 0;
    }
  }
  const void *data = r->dtype == ND4C_FLOAT64   ? (const void *)x
                     : r->dtype == ND4C_FLOAT32 ? (const void *)floats
                                                : words;
  assert_int_equal(nd4c_array_from_data(r->dtype, 2, shape, data, device, &array), ND4C_OK);
  return array;
}

static void run_row(const row *r) {
  int64_t begin = r->how & FIRST_AXIS ? 1 : LENGTH, step = r->how & FIRST_AXIS ? LINES : 1;
  nd4c_array *input = make_input(r, begin, step), *outputs[2] = {NULL, NULL};
  const nd4c_array *inputs[1] = {input};
  const nd4c_attr attrs[] = {{"axis", {.kind = ND4C_ATTR_INT, .as.i = r->how & FIRST_AXIS ? 0 : -1}},
                             {"reverse", {.kind = ND4C_ATTR_BOOL, .as.i = (r->how & REVERSE) != 0}},
                             {"exclusive", {.kind = ND4C_ATTR_BOOL, .as.i = (r->how & EXCLUSIVE) != 0}},
                             {"dtype", {.kind = ND4C_ATTR_DTYPE, .as.i = r->to}}};
  int32_t attr_count = is_best(r) ? 1 : r->op == ND4C_OP_cumulative_logsumexp ? 3 : 4;
  assert_int_equal(nd4c_op_call(context, r->op, inputs, 1, attrs, attr_count, outputs, is_best(r) ? 2 : 1), ND4C_OK);
  assert_ptr_equal(nd4c_array_device(outputs[0]), device);
  read_as_doubles(outputs[0], r->to, result);
  if (is_best(r)) {
    assert_int_equal(nd4c_array_read(outputs[1], places, sizeof places), ND4C_OK);
  }
  for (int64_t line = 0; line < LINES; line++) {
    expect_line(r, line * begin, step);
  }
  for (int64_t i = 0; i < SIZE; i++) {
    if (!is_close(r, result[i], expected[i], scale[i]) || (is_best(r) && places[i] != expected_places[i])) {
      fail_msg("%s: element %lld is %.17g, expected %.17g", r->what, (long long)i, result[i], expected[i]);
    }
  }
  nd4c_array_release(input);
  nd4c_array_release(outputs[0]);
  nd4c_array_release(outputs[1]);
}

static void lines_are_what_a_loop_gives(void **state) {
  (void)state;
#define SUM ND4C_OP_cumulative_sum
#define PROD ND4C_OP_cumulative_prod
#define F32 ND4C_FLOAT32
#define F64 ND4C_FLOAT64
#define I64 ND4C_INT64
  static const row rows[] = {
      {"whole numbers", SUM, I64, I64, whole, 0},
      {"from the end, without the own one", SUM, I64, I64, whole, REVERSE | EXCLUSIVE},
      {"down the first axis", SUM, F32, F32, whole, FIRST_AXIS},
      {"float64 into float32", SUM, F64, F32, whole, REVERSE},
      {"huge numbers", SUM, F64, F64, huge, 0},
      {"an infinity, then the other", SUM, F64, F64, with_infinity, EXCLUSIVE},
      {"too much at last", SUM, F64, F64, overflow, 0},
      {"products of signs", PROD, I64, I64, turns, GPU},
      {"products near 1", PROD, F64, F64, signs, 0},
      {"products of float32", PROD, F32, F32, signs, FIRST_AXIS | REVERSE | EXCLUSIVE | GPU},
      {"to and fro", PROD, F64, F64, swing, 0},
      {"to 0", PROD, F64, F64, vanish, 0},
      {"near 0 by itself alone", PROD, F64, F64, deep, 0},
      {"to 0 behind others alone", PROD, F64, F64, sink, 0},
      {"too much behind others alone", PROD, F64, F64, rise, 0},
      {"0 first", PROD, F64, F64, zero_first, 0},
      {"0, then an infinity", PROD, F64, F64, zero_then_infinity, 0},
      {"an infinity, then 0", PROD, F64, F64, infinity_then_zero, 0},
      {"products with infinities", PROD, F64, F64, signed_infinities, 0},
      {"a NaN", PROD, F64, F64, with_nan, 0},
      {"exponentials", ND4C_OP_cumulative_logsumexp, F64, F64, whole, 0},
      {"exponentials from the end", ND4C_OP_cumulative_logsumexp, F32, F32, whole,
       FIRST_AXIS | REVERSE | EXCLUSIVE | GPU},
      {"largest", ND4C_OP_cumulative_max, F32, F32, with_nan, 0},
      {"smallest", ND4C_OP_cumulative_min, I64, I64, whole, FIRST_AXIS | GPU},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (has_float64 ? !(rows[i].how & GPU) : rows[i].dtype != F64) {
      run_row(&rows[i]);
    }
  }
}

/* more slices than one work item adds */
static void counts_are_added_up(void **state) {
  (void)state;
  enum { SLICES = 20000 };
  const int64_t shape[1] = {SLICES};
  const struct {
    int64_t place, count, more; /* counts[place] instead; beside the total */
    nd4c_status status;
    const char *text;
  } rows[] = {{0, 0, 0, ND4C_OK, NULL},
              {12345, -1, 0, ND4C_ARGUMENT, "counts[12345] is -1, expected 0 to"},
              {9999, INT64_MAX, 0, ND4C_ARGUMENT, "counts[9999] is 9223372036854775807, expected 0 to"},
              {SLICES - 1, 3, 0, ND4C_ARGUMENT, "counts[19999] is 3, expected 0 to 1,"},
              {0, 0, 5, ND4C_ARGUMENT, "the sum of counts is"}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    int64_t total = 0, at = 0;
    nd4c_array *input = NULL, *counts = NULL, *y = NULL;
    for (int64_t i = 0; i < SLICES; i++) {
      places[i] = i;
      words[i] = i * 7919 % 4;
      total += words[i];
    }
    assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, shape, places, device, &input), ND4C_OK);
    if (rows[k].text != NULL && rows[k].more == 0) {
      words[rows[k].place] = rows[k].count;
    }
    assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, shape, words, device, &counts), ND4C_OK);
    const nd4c_array *inputs[2] = {input, counts};
    const nd4c_attr attr = {"total", {.kind = ND4C_ATTR_INT, .as.i = total + rows[k].more}};
    assert_int_equal(nd4c_op_call(context, ND4C_OP_repeat, inputs, 2, &attr, 1, &y, 1), rows[k].status);
    if (rows[k].text != NULL) {
      assert_non_null(strstr(nd4c_error_message(), rows[k].text));
    } else {
      assert_int_equal(nd4c_array_read(y, expected_places, (size_t)total * sizeof *expected_places), ND4C_OK);
      for (int64_t i = 0; i < SLICES; i++) {
        for (int64_t j = 0; j < words[i]; j++) {
          assert_int_equal(expected_places[at++], i);
        }
      }
    }
    nd4c_array_release(input);
    nd4c_array_release(counts);
    nd4c_array_release(y);
  }
}

int main(void) {
  nd4c_context_options options = {.struct_size = sizeof options};
  has_float64 = faulty_start_float64(&device, &context) == ND4C_OK;
  options.device = device;
  if (!has_float64 && (device == NULL || nd4c_context_create(&options, &context) != ND4C_OK)) {
    print_message("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_what_a_loop_gives),
                                     cmocka_unit_test(counts_are_added_up)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return nd4c_context_destroy(context) == ND4C_OK ? failed : 1;
}
