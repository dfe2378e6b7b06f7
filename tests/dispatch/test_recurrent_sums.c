/* How exact the sums of long products are in an lstm of float32, for each number of rows that a kernel has a tile for:
 * its state against that of the same call in float64. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { INPUTS = 8192, HIDDEN = 16, ROWS = 9 };

#define CHECK_OK(expression)                               \
  if ((expression) != ND4C_OK) {                           \
    fail_msg("%s: %s", #expression, nd4c_error_message()); \
  }

/* Numbers between -scale and scale. */
static nd4c_array *make(int32_t rank, const int64_t *shape, uint64_t seed, float scale) {
  nd4c_array *array = NULL;
  void *data = NULL;
  CHECK_OK(nd4c_array_empty(ND4C_FLOAT32, rank, shape, NULL, &array));
  CHECK_OK(nd4c_array_data_mutable(array, &data));
  for (int64_t i = 0; i < nd4c_array_size(array); i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    ((float *)data)[i] = scale * (float)((double)(seed >> 11) * 0x1p-52 - 1.0);
  }
  return array;
}

/* The state after one step, in float64. */
static void run(nd4c_dtype dtype, nd4c_array *const *given, double *state, size_t bytes) {
  nd4c_array *cast[3] = {NULL}, *y = NULL, *h = NULL, *c = NULL, *wide = NULL;
  for (int i = 0; i < 3; i++) {
    CHECK_OK(nd4c_cast(given[i], dtype, &cast[i]));
  }
  CHECK_OK(nd4c_lstm(cast[0], cast[1], cast[2], NULL, &y, &h, &c));
  CHECK_OK(nd4c_cast(h, ND4C_FLOAT64, &wide));
  CHECK_OK(nd4c_array_read(wide, state, bytes));
  for (int i = 0; i < 3; i++) {
    nd4c_array_release(cast[i]);
  }
  nd4c_array_release(y);
  nd4c_array_release(h);
  nd4c_array_release(c);
  nd4c_array_release(wide);
}

static void long_sums_are_made_of_short_ones(void **state) {
  static double exact[ROWS * HIDDEN], got[ROWS * HIDDEN];
  (void)state;
  for (int64_t rows = 1; rows <= ROWS; rows++) {
    const size_t count = (size_t)rows * HIDDEN;
    nd4c_array *given[] = {make(3, (int64_t[]){1, rows, INPUTS}, 1, 1),
                           make(3, (int64_t[]){1, 4 * HIDDEN, INPUTS}, 2, 0.02F),
                           make(3, (int64_t[]){1, 4 * HIDDEN, HIDDEN}, 3, 0.02F)};
    run(ND4C_FLOAT64, given, exact, count * sizeof *exact);
    run(ND4C_FLOAT32, given, got, count * sizeof *got);
    double total = 0, scale = 0;
    for (size_t i = 0; i < count; i++) {
      total += (got[i] - exact[i]) * (got[i] - exact[i]);
      scale += exact[i] * exact[i];
    }
    const double error = sqrt(total / scale);
    if (!(error <= 8e-7)) {
      fail_msg("%lld rows: error %.3g", (long long)rows, error);
    }
    for (int i = 0; i < 3; i++) {
      nd4c_array_release(given[i]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(long_sums_are_made_of_short_ones)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
