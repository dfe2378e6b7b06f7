/* Ops with lists: splitting one array into several, and bringing several to one shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { MOST = 4 };

static nd4c_array *range(int32_t rank, const int64_t *shape) {
  nd4c_array *flat = NULL, *x = NULL;
  int64_t size = 1;
  for (int32_t i = 0; i < rank; i++) {
    size *= shape[i];
  }
  assert_int_equal(nd4c_array_arange(ND4C_INT32, 0, 1, size, NULL, &flat), ND4C_OK);
  assert_int_equal(nd4c_reshape(flat, shape, rank, &x), ND4C_OK);
  nd4c_array_release(flat);
  return x;
}

static void check(const nd4c_array *y, int32_t rank, const int64_t *shape, const int32_t *values) {
  int32_t read[32];
  int64_t size = nd4c_array_size(y);
  assert_int_equal(nd4c_array_rank(y), rank);
  for (int32_t i = 0; i < rank; i++) {
    assert_int_equal(nd4c_array_shape(y)[i], shape[i]);
  }
  assert_int_equal(nd4c_array_read(y, read, (size_t)size * sizeof *read), ND4C_OK);
  for (int64_t i = 0; i < size; i++) {
    assert_int_equal(read[i], values[i]);
  }
}

static void release_all(nd4c_array **ys) {
  for (int i = 0; i < MOST; i++) {
    nd4c_array_release(ys[i]);
    ys[i] = NULL;
  }
}

static void slices_without_their_axis(void **state) {
  (void)state;
  nd4c_array *x = range(2, (const int64_t[]){2, 3}), *ys[MOST] = {NULL};
  assert_int_equal(nd4c_unstack(x, -1, ys, 3), ND4C_OK);
  check(ys[0], 1, (const int64_t[]){2}, (const int32_t[]){0, 3});
  check(ys[2], 1, (const int64_t[]){2}, (const int32_t[]){2, 5});
  release_all(ys);
  assert_int_equal(nd4c_unstack(x, 0, ys, 3), ND4C_SHAPE);
  assert_int_equal(nd4c_unstack(x, 2, ys, 3), ND4C_INDEX);
  assert_int_equal(nd4c_unstack(NULL, 0, ys, 2), ND4C_NULL_ARGUMENT);
  assert_null(ys[0]);
  nd4c_array_release(x);
}

static void parts_of_given_and_of_equal_lengths(void **state) {
  (void)state;
  nd4c_array *x = range(1, (const int64_t[]){5}), *ys[MOST] = {NULL};
  assert_int_equal(nd4c_split(x, 0, (const int64_t[]){1, 0, 4}, ys, 3), ND4C_OK);
  check(ys[0], 1, (const int64_t[]){1}, (const int32_t[]){0});
  check(ys[1], 1, (const int64_t[]){0}, NULL);
  check(ys[2], 1, (const int64_t[]){4}, (const int32_t[]){1, 2, 3, 4});
  release_all(ys);
  assert_int_equal(nd4c_split(x, -1, NULL, ys, 3), ND4C_OK);
  check(ys[0], 1, (const int64_t[]){2}, (const int32_t[]){0, 1});
  check(ys[2], 1, (const int64_t[]){1}, (const int32_t[]){4});
  release_all(ys);
  assert_int_equal(nd4c_split(x, 0, (const int64_t[]){1, 3}, ys, 2), ND4C_SHAPE);
  assert_int_equal(nd4c_split(x, 0, (const int64_t[]){6, -1}, ys, 2), ND4C_SHAPE);
  assert_int_equal(nd4c_split(x, 0, (const int64_t[]){INT64_MAX, INT64_MAX}, ys, 2), ND4C_SHAPE);
  assert_int_equal(nd4c_split(x, 1, NULL, ys, 2), ND4C_INDEX);
  assert_int_equal(nd4c_split(x, 0, NULL, ys, -1), ND4C_ARGUMENT);
  nd4c_array_release(x);
}

static void several_in_one_shape(void **state) {
  (void)state;
  nd4c_array *a = range(1, (const int64_t[]){3}), *b = range(2, (const int64_t[]){2, 1}), *ys[MOST] = {NULL};
  const nd4c_array *xs[] = {a, b}, *bad[] = {a, NULL};
  assert_int_equal(nd4c_broadcast_arrays(xs, ys, 2), ND4C_OK);
  check(ys[0], 2, (const int64_t[]){2, 3}, (const int32_t[]){0, 1, 2, 0, 1, 2});
  check(ys[1], 2, (const int64_t[]){2, 3}, (const int32_t[]){0, 0, 0, 1, 1, 1});
  release_all(ys);
  nd4c_array *c = range(1, (const int64_t[]){4});
  const nd4c_array *unlike[] = {a, b, c};
  assert_int_equal(nd4c_broadcast_arrays(unlike, ys, 3), ND4C_SHAPE);
  assert_int_equal(nd4c_broadcast_arrays(bad, ys, 2), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_broadcast_arrays(xs, NULL, 2), ND4C_NULL_ARGUMENT);
  assert_null(ys[0]);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(c);
}

static void coordinates_of_a_grid(void **state) {
  (void)state;
  nd4c_array *a = range(1, (const int64_t[]){3}), *b = range(1, (const int64_t[]){2}), *ys[MOST] = {NULL};
  const nd4c_array *xs[] = {a, b};
  assert_int_equal(nd4c_meshgrid(xs, false, ys, 2), ND4C_OK);
  check(ys[0], 2, (const int64_t[]){3, 2}, (const int32_t[]){0, 0, 1, 1, 2, 2});
  check(ys[1], 2, (const int64_t[]){3, 2}, (const int32_t[]){0, 1, 0, 1, 0, 1});
  release_all(ys);
  assert_int_equal(nd4c_meshgrid(xs, true, ys, 2), ND4C_OK);
  check(ys[0], 2, (const int64_t[]){2, 3}, (const int32_t[]){0, 1, 2, 0, 1, 2});
  check(ys[1], 2, (const int64_t[]){2, 3}, (const int32_t[]){0, 0, 0, 1, 1, 1});
  release_all(ys);
  assert_int_equal(nd4c_meshgrid(xs, true, ys, 0), ND4C_OK);
  nd4c_array *matrix = range(2, (const int64_t[]){2, 2});
  const nd4c_array *bad[] = {a, matrix};
  assert_int_equal(nd4c_meshgrid(bad, true, ys, 2), ND4C_SHAPE);
  nd4c_array_release(matrix);
  nd4c_array_release(a);
  nd4c_array_release(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(slices_without_their_axis),
                                     cmocka_unit_test(parts_of_given_and_of_equal_lengths),
                                     cmocka_unit_test(several_in_one_shape), cmocka_unit_test(coordinates_of_a_grid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
