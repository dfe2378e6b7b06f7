/* Text cast to integers: exactly up to the ends of 64 bits, with either sign, where a number read as float64 would
 * differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

static void check(nd4c_dtype dtype, int64_t count, const char *const *texts, const void *expected) {
  nd4c_array *text = NULL, *numbers = NULL;
  uint64_t read[16] = {0};
  assert_true(count <= 16);
  assert_int_equal(nd4c_array_from_strings(1, &count, texts, NULL, &text), ND4C_OK);
  assert_int_equal(nd4c_cast(text, dtype, &numbers), ND4C_OK);
  assert_int_equal(nd4c_array_read(numbers, read, (size_t)count * sizeof *read), ND4C_OK);
  assert_memory_equal(read, expected, (size_t)count * sizeof *read);
  nd4c_array_release(numbers);
  nd4c_array_release(text);
}

static void integers_are_exact(void **state) {
  static const char *const signs[] = {"9007199254740993",
                                      "+9007199254740993",
                                      "-9007199254740993",
                                      "9223372036854775807",
                                      "+9223372036854775806",
                                      "-9223372036854775807",
                                      "-9223372036854775808",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "0",
                                      "-0",
                                      "99999999999999999999"};
  static const int64_t whole[] = {9007199254740993,
                                  9007199254740993,
                                  -9007199254740993,
                                  INT64_MAX,
                                  INT64_MAX - 1,
                                  -INT64_MAX,
                                  INT64_MIN,
                                  INT64_MAX,
                                  INT64_MIN,
                                  0,
                                  0,
                                  INT64_MAX};
  static const char *const natural[] = {"18446744073709551615", "+18446744073709551614", "18446744073709551616", "-1"};
  static const uint64_t positive[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX, 0};
  (void)state;
  check(ND4C_INT64, sizeof whole / sizeof whole[0], signs, whole);
#ifndef ND4C_DTYPES_LITE
  check(ND4C_UINT64, sizeof positive / sizeof positive[0], natural, positive);
#else
  (void)natural, (void)positive;
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(integers_are_exact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
