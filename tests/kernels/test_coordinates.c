/* unravel_index and ravel_multi_index of large shapes: engine simd divides by doubles, which are exact up to a bound.
 * Numbers next to multiples of the extents, on both sides of that bound, against division of whole numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { AXES = 4, NUMBERS = 1500 };

static int64_t size_of(const int64_t *shape) {
  int64_t size = 1;
  for (int axis = 0; axis < AXES; axis++) {
    size *= shape[axis];
  }
  return size;
}

/* Multiples of an extent, the numbers beside them, and the first and last ones. */
static void choose(const int64_t *shape, int64_t *numbers) {
  const int64_t size = size_of(shape);
  uint64_t random = 88172645463325252U;
  for (int i = 0; i < NUMBERS; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    const int64_t extent = shape[i % AXES], any = (int64_t)(random >> 1) % size,
                  next = any / extent * extent + i % 3 - 1;
    numbers[i] = i % 50 == 0 ? 0 : i % 50 == 1 ? size - 1 : next < 0 || next >= size ? any : next;
    numbers[i] -= i % 7 == 0 ? size : 0; /* counted from the end */
  }
}

static void check(const int64_t *shape) {
  static int64_t numbers[NUMBERS], parts[AXES * NUMBERS], joined[NUMBERS];
  const int64_t count = NUMBERS, size = size_of(shape);
  nd4c_array *x = NULL, *y = NULL, *z = NULL;
  choose(shape, numbers);
  assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, &count, numbers, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_unravel_index(x, shape, AXES, &y), ND4C_OK);
  assert_int_equal(nd4c_array_read(y, parts, sizeof parts), ND4C_OK);
  assert_int_equal(nd4c_ravel_multi_index(y, shape, AXES, &z), ND4C_OK);
  assert_int_equal(nd4c_array_read(z, joined, sizeof joined), ND4C_OK);
  for (int i = 0; i < NUMBERS; i++) {
    const int64_t number = numbers[i] + (numbers[i] < 0 ? size : 0);
    int64_t left = number;
    for (int axis = AXES - 1; axis >= 0; axis--) {
      if (parts[axis * NUMBERS + i] != left % shape[axis]) {
        fail_msg("%lld of shape %lld, %lld, %lld, %lld: axis %d is %lld", (long long)number, (long long)shape[0],
                 (long long)shape[1], (long long)shape[2], (long long)shape[3], axis,
                 (long long)parts[axis * NUMBERS + i]);
      }
      left /= shape[axis];
    }
    assert_int_equal(joined[i], number);
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_array_release(z);
}

static void small_and_large_shapes(void **state) {
  static const int64_t shapes[][AXES] = {{3, 5, 7, 11},
                                         {1, 1, 1, 2},
                                         {100, 200, 50, 3},
                                         {INT64_C(1) << 20, 1, 1, INT64_C(1) << 30}, /* 2^50: the last with doubles */
                                         {3, 1000003, 1, 375299000},
                                         {INT64_C(1) << 20, 1, 1, (INT64_C(1) << 30) + 1},
                                         {1, 3, INT64_C(1) << 31, (INT64_C(1) << 30) - 1},
                                         {2, 1, 1, (INT64_C(1) << 49) - 1}};
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    check(shapes[i]);
  }
}

static void numbers_outside_are_refused(void **state) {
  static const int64_t shape[] = {2, 3}, count = 2, columns[] = {2, 2};
  static const int64_t outside[][2] = {{5, 6}, {-6, -7}, {0, INT64_MAX}, {0, INT64_MIN}};
  static const int64_t rows[][4] = {
      {1, 2, 0, 0}, {1, -3, 0, 0}, {0, 0, 3, 0}, {0, 0, 0, INT64_MIN}, {INT64_MAX, 0, 0, 0}};
  nd4c_array *x = NULL, *y = NULL;
  (void)state;
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
    assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, &count, outside[i], NULL, &x), ND4C_OK);
    assert_int_equal(nd4c_unravel_index(x, shape, 2, &y), ND4C_INDEX);
    nd4c_array_release(x);
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(nd4c_array_from_data(ND4C_INT64, 2, columns, rows[i], NULL, &x), ND4C_OK);
    assert_int_equal(nd4c_ravel_multi_index(x, shape, 2, &y), ND4C_INDEX);
    nd4c_array_release(x);
  }
  assert_null(y);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_and_large_shapes),
                                     cmocka_unit_test(numbers_outside_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
