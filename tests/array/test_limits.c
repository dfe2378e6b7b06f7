/* Limits of dtypes, against the constants of the C library and of ml_dtypes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>

#include "nd4c/dtype.h"

static nd4c_dtype_limits limits_of(nd4c_dtype dtype) {
  nd4c_dtype_limits limits = {.struct_size = sizeof limits};
  assert_int_equal(nd4c_dtype_get_limits(dtype, &limits), ND4C_OK);
  return limits;
}

static void test_floats(void **state) {
  (void)state;
  static const struct {
    nd4c_dtype dtype;
    int bits;
    double min, max, epsilon, normal, subnormal;
  } rows[] = {
      {ND4C_FLOAT32, 32, -FLT_MAX, FLT_MAX, FLT_EPSILON, FLT_MIN, FLT_TRUE_MIN},
      {ND4C_FLOAT64, 64, -DBL_MAX, DBL_MAX, DBL_EPSILON, DBL_MIN, DBL_TRUE_MIN},
      {ND4C_COMPLEX64, 32, -FLT_MAX, FLT_MAX, FLT_EPSILON, FLT_MIN, FLT_TRUE_MIN},
      {ND4C_FLOAT16, 16, -65504, 65504, 0x1p-10, 0x1p-14, 0x1p-24},
      {ND4C_BFLOAT16, 16, -0x1.fep127, 0x1.fep127, 0x1p-7, 0x1p-126, 0x1p-133},
      {ND4C_FLOAT8_E4M3FN, 8, -448, 448, 0.125, 0x1p-6, 0x1p-9},
      {ND4C_FLOAT8_E4M3FNUZ, 8, -240, 240, 0.125, 0x1p-7, 0x1p-10},
      {ND4C_FLOAT8_E5M2, 8, -57344, 57344, 0.25, 0x1p-14, 0x1p-16},
      {ND4C_FLOAT8_E5M2FNUZ, 8, -57344, 57344, 0.25, 0x1p-15, 0x1p-17},
      {ND4C_FLOAT8_E8M0FNU, 8, 0x1p-127, 0x1p127, 1, 0x1p-127, 0x1p-127},
      {ND4C_FLOAT4_E2M1FN, 4, -6, 6, 0.5, 1, 0.5},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd4c_dtype_limits got = limits_of(rows[i].dtype);
    assert_int_equal(got.bits, rows[i].bits);
    assert_true(got.min == rows[i].min && got.max == rows[i].max && got.epsilon == rows[i].epsilon);
    assert_true(got.smallest_normal == rows[i].normal && got.smallest_subnormal == rows[i].subnormal);
    assert_true(got.integer_min == 0 && got.integer_max == 0);
  }
}

static void test_integers(void **state) {
  (void)state;
  assert_true(limits_of(ND4C_BOOL).integer_max == 1);
  assert_true(limits_of(ND4C_INT8).integer_min == INT8_MIN && limits_of(ND4C_INT8).integer_max == INT8_MAX);
  assert_true(limits_of(ND4C_INT64).integer_min == INT64_MIN && limits_of(ND4C_INT64).integer_max == INT64_MAX);
  assert_true(limits_of(ND4C_UINT64).integer_min == 0 && limits_of(ND4C_UINT64).integer_max == UINT64_MAX);
  assert_true(limits_of(ND4C_INT4).integer_min == -8 && limits_of(ND4C_INT4).integer_max == 7);
  assert_true(limits_of(ND4C_UINT2).integer_max == 3 && limits_of(ND4C_UINT2).max == 3);
  assert_true(limits_of(ND4C_INT32).epsilon == 0);
}

static void test_refusals(void **state) {
  (void)state;
  nd4c_dtype_limits limits = {.struct_size = sizeof limits, .bits = 5};
  assert_int_equal(nd4c_dtype_get_limits(ND4C_UTF8, &limits), ND4C_DTYPE);
  assert_string_equal(nd4c_error_message(),
                      "dtype_get_limits: utf8 (16) has no limits, expected a dtype of numbers or bool");
  assert_int_equal(nd4c_dtype_get_limits(999, &limits), ND4C_DTYPE);
  assert_int_equal(nd4c_dtype_get_limits(ND4C_INT8, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(limits.bits, 5);
  limits.struct_size = 1;
  assert_int_equal(nd4c_dtype_get_limits(ND4C_INT8, &limits), ND4C_ARGUMENT);
}

static void test_can_cast(void **state) {
  (void)state;
  assert_true(nd4c_dtype_can_cast(ND4C_INT8, ND4C_INT16) && nd4c_dtype_can_cast(ND4C_UINT8, ND4C_INT16));
  assert_true(nd4c_dtype_can_cast(ND4C_FLOAT32, ND4C_COMPLEX64) && nd4c_dtype_can_cast(ND4C_UTF8, ND4C_UTF8));
  assert_false(nd4c_dtype_can_cast(ND4C_INT16, ND4C_INT8) || nd4c_dtype_can_cast(ND4C_FLOAT64, ND4C_FLOAT32));
  assert_false(nd4c_dtype_can_cast(ND4C_UTF8, ND4C_INT8) || nd4c_dtype_can_cast(ND4C_INT4, ND4C_INT8));
  assert_false(nd4c_dtype_can_cast(0, ND4C_INT8) || nd4c_dtype_can_cast(ND4C_INT8, 999));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_floats), cmocka_unit_test(test_integers),
                                     cmocka_unit_test(test_refusals), cmocka_unit_test(test_can_cast)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
