/* NULL instead of a list: refused on the first call, and on a call whose signature is cached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

static void lists_without_values_are_refused(void **state) {
  (void)state;
  const int64_t shape[2] = {2, 3}, other[2] = {3, 2}, axes[1] = {0};
  nd4c_array *x = NULL, *y = NULL;
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 2, shape, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_reshape(x, NULL, 2, &y), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "reshape: attribute shape is a list of 2 without values"));
  assert_int_equal(nd4c_reshape(x, other, -1, &y), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "reshape: attribute shape is a list whose count is -1, expected 0"));
  assert_int_equal(nd4c_relu(x, NULL), ND4C_NULL_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "relu: y is NULL"));
  /* sum is cached by its signature; the same count without values must not find that entry. */
  assert_int_equal(nd4c_sum(x, axes, 1, false, ND4C_DTYPE_NONE, &y), ND4C_OK);
  nd4c_array_release(y);
  y = NULL;
  assert_int_equal(nd4c_sum(x, NULL, 1, false, ND4C_DTYPE_NONE, &y), ND4C_ARGUMENT);
  assert_null(y);
  nd4c_array_release(x);
}

static void outputs_that_are_no_arrays_are_refused(void **state) {
  (void)state;
  static int64_t zeros[64]; /* something else's memory */
  const int64_t shape[1] = {3};
  nd4c_array *x = NULL, *y = (nd4c_array *)(void *)zeros;
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 1, shape, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_add(x, x, &y), ND4C_HANDLE);
  assert_string_equal(nd4c_error_message(), "add: the output given is not an array");
  nd4c_array_release(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lists_without_values_are_refused),
                                     cmocka_unit_test(outputs_that_are_no_arrays_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
