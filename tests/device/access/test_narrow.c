/* Arrays of narrow dtypes: made, read, moved and cast; ops that would compute with their elements refuse them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

#ifndef ND4C_DTYPES_LITE

static double item(const nd4c_array *array, int64_t index) {
  double value = 0;
  assert_int_equal(nd4c_array_item(array, &index, &value), ND4C_OK);
  return value;
}

/* Every way to make an array, for packed dtypes of odd sizes too. */
static void makes(void **state) {
  (void)state;
  for (nd4c_dtype dtype = ND4C_FLOAT8_E4M3FN; dtype < ND4C_DTYPE_END; dtype++) {
    int64_t size = 7;
    bool has_two = dtype != ND4C_INT2;
    nd4c_array *array = NULL;
    assert_int_equal(nd4c_array_full(dtype, 1, &size, 1, NULL, &array), ND4C_OK);
    for (int64_t i = 0; i < size; i++) {
      assert_true(item(array, i) == 1);
    }
    nd4c_array_release(array);
    assert_int_equal(nd4c_array_arange(dtype, 1, has_two ? 1 : -1, 3, NULL, &array), ND4C_OK);
    assert_true(item(array, 0) == 1);
    assert_true(item(array, 1) == (has_two ? 2 : 0));
    assert_true(item(array, -1) == (dtype == ND4C_FLOAT8_E8M0FNU ? 4 : has_two ? 3 : -1));
    unsigned char bytes[7], again[7];
    size_t count = (size_t)nd4c_dtype_bytes(dtype, 3);
    assert_int_equal(nd4c_array_read(array, bytes, count), ND4C_OK);
    assert_int_equal(nd4c_array_read(array, again, count + 1), ND4C_ARGUMENT);
    nd4c_array *zeros = NULL, *moved = NULL;
    int64_t three = 3;
    assert_int_equal(nd4c_array_zeros(dtype, 1, &three, NULL, &zeros), ND4C_OK);
    assert_int_equal(nd4c_array_write(zeros, bytes, count), ND4C_OK);
    assert_int_equal(nd4c_array_to_device(zeros, NULL, &moved), ND4C_OK);
    assert_int_equal(nd4c_array_read(moved, again, count), ND4C_OK);
    assert_memory_equal(bytes, again, count);
    nd4c_array_release(moved);
    nd4c_array_release(zeros);
    nd4c_array_release(array);
  }
}

/* int4 of 5 elements: reshaped views share memory, a copy and casts there and back keep the elements. */
static void moves(void **state) {
  (void)state;
  const int64_t shape[2] = {1, 5}, flat[1] = {5};
  const unsigned char bytes[3] = {0x8f, 0x70, 0x01}; /* -1 -8 0 7 1 */
  const float numbers[5] = {-1, -8, 0, 7, 1};
  unsigned char again[3];
  nd4c_array *a = NULL, *view = NULL, *copy = NULL, *wide = NULL, *back = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_INT4, 2, shape, bytes, NULL, &a), ND4C_OK);
  assert_int_equal(nd4c_reshape(a, flat, 1, &view), ND4C_OK);
  assert_true(nd4c_array_overlaps(a, view));
  assert_int_equal(nd4c_copy(view, &copy), ND4C_OK);
  assert_false(nd4c_array_overlaps(a, copy));
  assert_int_equal(nd4c_cast(copy, ND4C_FLOAT32, &wide), ND4C_OK);
  for (int64_t i = 0; i < 5; i++) {
    assert_true(item(wide, i) == (double)numbers[i] && item(view, i) == (double)numbers[i]);
  }
  assert_int_equal(nd4c_cast(wide, ND4C_INT4, &back), ND4C_OK);
  assert_int_equal(nd4c_array_read(back, again, 3), ND4C_OK);
  assert_memory_equal(again, bytes, 3);
  nd4c_array_release(a);
  nd4c_array_release(view);
  nd4c_array_release(copy);
  nd4c_array_release(wide);
  nd4c_array_release(back);
}

/* A view from a later byte on is computed from and into there. */
static void views_begin_later(void **state) {
  (void)state;
  int64_t nine = 9, start = 4, stop = 9, inside = 8;
  nd4c_array *a = NULL, *view = NULL, *wide = NULL, *middle = NULL;
  assert_int_equal(nd4c_array_arange(ND4C_UINT4, 0, 1, nine, NULL, &a), ND4C_OK);
  assert_int_equal(nd4c_array_slice(a, &start, &stop, NULL, &view), ND4C_OK);
  for (int round = 0; round < 3; round++) { /* the call cache must not take part */
    assert_int_equal(nd4c_cast(view, ND4C_INT32, &wide), ND4C_OK);
    for (int64_t i = 0; i < 5; i++) {
      assert_true(item(wide, i) == (double)(i + 4));
    }
    nd4c_array_release(wide);
    wide = NULL;
  }
  assert_int_equal(nd4c_array_slice(a, &start, &inside, NULL, &middle), ND4C_OK);
  nd4c_array *ones = NULL;
  int64_t four = 4;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &four, 15, NULL, &ones), ND4C_OK);
  assert_int_equal(nd4c_cast(ones, ND4C_UINT4, &middle), ND4C_OK);
  for (int64_t i = 0; i < 9; i++) {
    assert_true(item(a, i) == (i >= 4 && i < 8 ? 15 : (double)i));
  }
  nd4c_array_release(ones);
  nd4c_array_release(middle);
  nd4c_array_release(view);
  nd4c_array_release(a);
}

static void expect_cast_first(nd4c_status status, nd4c_status expected, const nd4c_array *y) {
  assert_int_equal(status, expected);
  assert_non_null(strstr(nd4c_error_message(), "cast"));
  assert_null(y);
}

static void refuses(void **state) {
  (void)state;
  int64_t shape[2] = {2, 4};
  nd4c_array *packed = NULL, *float8 = NULL, *numbers = NULL, *y = NULL;
  assert_int_equal(nd4c_array_zeros(ND4C_INT4, 2, shape, NULL, &packed), ND4C_OK);
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT8_E5M2, 2, shape, NULL, &float8), ND4C_OK);
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 2, shape, NULL, &numbers), ND4C_OK);
  expect_cast_first(nd4c_exp(float8, &y), ND4C_DTYPE, y);
  expect_cast_first(nd4c_add(packed, packed, &y), ND4C_DTYPE, y);
  expect_cast_first(nd4c_add(numbers, float8, &y), ND4C_DTYPE, y);
  expect_cast_first(nd4c_transpose(packed, NULL, 0, &y), ND4C_DTYPE, y);
  const nd4c_array *both[2] = {float8, numbers};
  assert_int_equal(nd4c_concat(both, 2, 0, &y), ND4C_DTYPE);
  assert_null(y);
  assert_int_equal(nd4c_transpose(float8, NULL, 0, &y), ND4C_OK); /* a byte an element: moves like any other */
  nd4c_array_release(y);
  nd4c_array_release(packed);
  nd4c_array_release(float8);
  nd4c_array_release(numbers);
}

#else

static void is_left_out(void **state) {
  (void)state;
  int64_t one = 1;
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_zeros(ND4C_INT4, 1, &one, NULL, &array), ND4C_DTYPE);
  assert_null(array);
}

#endif

int main(void) {
#ifndef ND4C_DTYPES_LITE
  const struct CMUnitTest tests[] = {cmocka_unit_test(makes), cmocka_unit_test(moves),
                                     cmocka_unit_test(views_begin_later), cmocka_unit_test(refuses)};
#else
  const struct CMUnitTest tests[] = {cmocka_unit_test(is_left_out)};
#endif
  return cmocka_run_group_tests(tests, NULL, NULL);
}
