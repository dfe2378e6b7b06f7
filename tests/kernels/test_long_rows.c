/* layer_norm of rows whose elements differ by little, so that a mean that is rounded to their dtype is off by more than
 * they differ: the result is about 0 for equal elements, and the elements' distances from the exact mean otherwise.
 * Rows whose sum or squares leave the range of float32. entropy of many rows: a number's term has the same bits
 * wherever in a vector it is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { LENGTH = 20000 };

static void normalize(const float *numbers, float *result) {
  nd4c_array *x = NULL, *y = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 2, (int64_t[]){1, LENGTH}, numbers, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_layer_norm(x, NULL, NULL, -1, 1e-5, &y), ND4C_OK);
  assert_int_equal(nd4c_array_read(y, result, LENGTH * sizeof *result), ND4C_OK);
  nd4c_array_release(x);
  nd4c_array_release(y);
}

static void equal_elements_give_nothing(void **state) {
  static float x[LENGTH], y[LENGTH];
  (void)state;
  for (int i = 0; i < LENGTH; i++) {
    x[i] = 100.3F;
  }
  normalize(x, y);
  for (int i = 0; i < LENGTH; i++) {
    assert_true(fabsf(y[i]) < 1e-3F);
  }
}

static void small_differences_are_kept(void **state) {
  static float x[LENGTH], y[LENGTH];
  double mean = 0, variance = 0;
  (void)state;
  for (int i = 0; i < LENGTH; i++) {
    x[i] = 100.3F + 0.002F * (float)(i * 37 % 101 - 50) / 50;
    mean += (double)x[i] / LENGTH;
  }
  for (int i = 0; i < LENGTH; i++) {
    variance += ((double)x[i] - mean) * ((double)x[i] - mean) / LENGTH;
  }
  normalize(x, y);
  for (int i = 0; i < LENGTH; i++) {
    assert_true(fabs((double)y[i] - ((double)x[i] - mean) / sqrt(variance + 1e-5)) < 1e-4);
  }
}

static void large_elements_are_normalised(void **state) {
  static const float sizes[] = {1e18F, 2e19F, 1e25F, 1e38F, 3.4e38F};
  static float x[LENGTH], y[LENGTH];
  (void)state;
  for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
    for (int offset = 0; offset < 2; offset++) { /* with it the sum overflows, too */
      double mean = 0, variance = 0;
      for (int i = 0; i < LENGTH; i++) {
        x[i] = sizes[size] * ((float)(i * 37 % 101 - 50) / 50 * (offset ? 0.4F : 1.0F) + (offset ? 0.6F : 0.0F));
        mean += (double)x[i] / LENGTH;
      }
      for (int i = 0; i < LENGTH; i++) {
        variance += ((double)x[i] - mean) * ((double)x[i] - mean) / LENGTH;
      }
      normalize(x, y);
      for (int i = 0; i < LENGTH; i++) {
        assert_true(fabs((double)y[i] - ((double)x[i] - mean) / sqrt(variance + 1e-5)) < 1e-5);
      }
    }
  }
  x[LENGTH / 2] = INFINITY;
  normalize(x, y);
  assert_true(isnan(y[0]) && isnan(y[LENGTH - 1]));
}

/* entropy of `count` rows of one number each. */
static void entropies(const double *numbers, int64_t count, double *result) {
  nd4c_array *x = NULL, *y = NULL;
  const int64_t axis = 1;
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT64, 2, (int64_t[]){count, 1}, numbers, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_entropy(x, &axis, 1, false, &y), ND4C_OK);
  assert_int_equal(nd4c_array_read(y, result, (size_t)count * sizeof *result), ND4C_OK);
  nd4c_array_release(x);
  nd4c_array_release(y);
}

static void places_do_not_change_bits(void **state) {
  enum { COUNT = 200000, FEW = 7 };
  static double x[COUNT], whole[COUNT], part[FEW];
  uint64_t random = 88172645463325252U;
  (void)state;
  for (int64_t i = 0; i < COUNT; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    x[i] = (double)(random >> 11) * 0x1p-53;
  }
  entropies(x, COUNT, whole);
  for (int64_t i = 0; i + FEW <= COUNT; i += FEW) {
    entropies(x + i, FEW, part);
    assert_memory_equal(part, whole + i, sizeof part);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_elements_give_nothing),
      cmocka_unit_test(small_differences_are_kept),
      cmocka_unit_test(large_elements_are_normalised),
      cmocka_unit_test(places_do_not_change_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
