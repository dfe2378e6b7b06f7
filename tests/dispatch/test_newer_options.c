/* Options of the typed functions, as the library checks them (test_typed_options.c compiles their source by itself): a
 * struct of a newer header is taken as long as it asks for nothing that the library does not know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

typedef struct newer {
  nd4c_conv_options known;
  unsigned char more[16];
} newer;

static nd4c_array *filled(double value) {
  const int64_t shape[] = {1, 1, 3, 3};
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 4, shape, value, NULL, &array), ND4C_OK);
  return array;
}

static void newer_options_are_taken_if_they_are_zero(void **state) {
  (void)state;
  nd4c_array *x = filled(2), *w = filled(3), *y = NULL;
  const int64_t none[4] = {0};
  double value = 0;
  newer options;
  memset(&options, 0, sizeof options);
  options.known = (nd4c_conv_options)ND4C_CONV_DEFAULTS;
  options.known.struct_size = sizeof options;
  assert_int_equal(nd4c_conv(x, w, &options.known, &y), ND4C_OK);
  assert_int_equal(nd4c_array_item(y, none, &value), ND4C_OK);
  assert_true(value == 54);
  nd4c_array_release(y);
  y = NULL;
  for (size_t i = 0; i < sizeof options.more; i++) {
    for (int bit = 0; bit < 8; bit += 7) {
      options.more[i] = (unsigned char)(1 << bit);
      assert_int_equal(nd4c_conv(x, w, &options.known, &y), ND4C_ARGUMENT);
      assert_non_null(strstr(nd4c_error_message(), "is not zero: load a newer libnd4c.so"));
      assert_null(y);
    }
    options.more[i] = 0;
  }
  nd4c_array_release(x);
  nd4c_array_release(w);
}

static void sizes_that_no_header_has_are_refused(void **state) {
  (void)state;
  static const uint32_t sizes[] = {0, 1, 3, 4097, UINT32_MAX};
  nd4c_array *x = filled(2), *w = filled(3), *y = NULL;
  nd4c_conv_options options = ND4C_CONV_DEFAULTS;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    options.struct_size = sizes[i];
    assert_int_equal(nd4c_conv(x, w, &options, &y), ND4C_ARGUMENT);
    assert_non_null(strstr(nd4c_error_message(), "initialise the struct with its DEFAULTS"));
    assert_null(y);
  }
  options.struct_size = 4; /* no field yet */
  assert_int_equal(nd4c_conv(x, w, &options, &y), ND4C_OK);
  nd4c_array_release(x);
  nd4c_array_release(w);
  nd4c_array_release(y);
}

/* A list without its count is a mistake, except in slice. */
static void lists_without_a_count_are_refused(void **state) {
  (void)state;
  static const int64_t strides[] = {1, 1};
  nd4c_array *x = filled(2), *w = filled(3), *y = NULL;
  nd4c_conv_options options = ND4C_CONV_DEFAULTS;
  options.strides = strides;
  assert_int_equal(nd4c_conv(x, w, &options, &y), ND4C_ARGUMENT);
  assert_string_equal(nd4c_error_message(),
                      "conv: the options have a list strides, but strides_count is 0: set the count, or leave the list "
                      "at NULL");
  assert_null(y);
  options.strides_count = 2;
  assert_int_equal(nd4c_conv(x, w, &options, &y), ND4C_OK);
  nd4c_array_release(y);
  y = NULL;
  nd4c_slice_options none = ND4C_SLICE_DEFAULTS;
  none.starts = none.stops = none.axes = strides; /* no axis is sliced */
  assert_int_equal(nd4c_slice(x, &none, &y), ND4C_OK);
  assert_int_equal(nd4c_array_size(y), 9);
  nd4c_array_release(x);
  nd4c_array_release(w);
  nd4c_array_release(y);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(newer_options_are_taken_if_they_are_zero),
      cmocka_unit_test(sizes_that_no_header_has_are_refused),
      cmocka_unit_test(lists_without_a_count_are_refused),
  };
  return cmocka_run_group_tests_name("newer_options", tests, NULL, NULL);
}
