/* Results whose shape depends on the data (dispatch/call.c): memory is allocated for the largest shape; a result that
 * uses at least half of it stays there, and a smaller one is copied, so that it does not hold the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "array/array.h"
#include "nd4c/nd4c.h"

enum { SIZE = 1000, WIDTH = sizeof(int64_t) };

/* The first `count` of SIZE truth values are true. */
static nd4c_array *places_of(int64_t count) {
  const int64_t size = SIZE;
  char truths[SIZE] = {0};
  nd4c_array *x = NULL, *y = NULL;
  memset(truths, 1, (size_t)count);
  assert_int_equal(nd4c_array_from_data(ND4C_BOOL, 1, &size, truths, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_nonzero(x, &y), ND4C_OK);
  nd4c_array_release(x);
  return y;
}

static void small_results_do_not_hold_the_largest(void **state) {
  (void)state;
  static const int64_t counts[] = {0, 1, 100, SIZE / 2 - 1, SIZE / 2, SIZE / 2 + 1, SIZE};
  int64_t places[SIZE];
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    nd4c_array *y = places_of(counts[i]);
    assert_int_equal(nd4c_array_rank(y), 2);
    assert_int_equal(nd4c_array_shape(y)[0], 1);
    assert_int_equal(nd4c_array_shape(y)[1], counts[i]);
    assert_int_equal(nd4c_array_read(y, places, (size_t)counts[i] * WIDTH), ND4C_OK);
    for (int64_t k = 0; k < counts[i]; k++) {
      assert_int_equal(places[k], k);
    }
    assert_int_equal(y->storage->bytes, (counts[i] < SIZE / 2 ? counts[i] : SIZE) * WIDTH);
    nd4c_array_release(y);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_results_do_not_hold_the_largest),
  };
  return cmocka_run_group_tests_name("true_shapes", tests, NULL, NULL);
}
