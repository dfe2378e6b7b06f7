/* Element types: names, promotion against NumPy's table (tests/tools/golden/make_promotion_golden.py), half precision.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "array/half.h"
#include "nd4c/dtype.h"

#if defined(ND4C_DTYPES_LITE)
enum { LITE = 1 };
#else
enum { LITE = 0 };
#endif

static void test_table(void **state) {
  (void)state;
  int available = 0;
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
    assert_non_null(info);
    assert_int_equal(info->bits * info->block_elements, 8 * info->block_bytes);
    assert_int_equal(nd4c_dtype_size(dtype), info->block_elements == 1 ? info->block_bytes : 0);
    nd4c_dtype found = 0;
    assert_int_equal(nd4c_dtype_find(info->name, &found), info->available ? ND4C_OK : ND4C_DTYPE);
    assert_int_equal(found, info->available ? dtype : 0);
    available += info->available;
  }
  assert_int_equal(available, LITE ? 8 : 26);
  assert_null(nd4c_dtype_get_info(0));
  assert_null(nd4c_dtype_get_info(-1));
  assert_null(nd4c_dtype_get_info(ND4C_DTYPE_END));
  assert_string_equal(nd4c_dtype_name(99), "?");
  assert_int_equal(nd4c_dtype_size(99), 0);
}

static const struct {
  const char *name;
  nd4c_dtype dtype;
} names[] = {{"<f4", ND4C_FLOAT32}, {"f4", ND4C_FLOAT32}, {"f32", ND4C_FLOAT32}, {"i64", ND4C_INT64},
             {"|u1", ND4C_UINT8},   {"u1", ND4C_UINT8},   {"<i8", ND4C_INT64},   {"|i1", ND4C_INT8},
             {"f64", ND4C_FLOAT64}, {"|b1", ND4C_BOOL},   {"utf8", ND4C_UTF8},   {"i32", ND4C_INT32}};

static void test_names(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    nd4c_dtype found = 0;
    if (nd4c_dtype_find(names[i].name, &found) != ND4C_OK || found != names[i].dtype) {
      fail_msg("\"%s\" gave %s", names[i].name, nd4c_dtype_name(found));
    }
  }
  nd4c_dtype found = 77;
  assert_int_equal(nd4c_dtype_find("float12", &found), ND4C_NAME);
  assert_non_null(strstr(nd4c_error_message(), "dtype \"float12\" is not known; there are bool, int8, "));
  assert_int_equal(nd4c_dtype_find("i8", &found), ND4C_NAME);
  assert_string_equal(nd4c_error_message(), "dtype \"i8\" may mean bits or NumPy's bytes; give one of int8, int64");
  assert_int_equal(nd4c_dtype_find("", &found), ND4C_NAME);
  assert_int_equal(nd4c_dtype_find(NULL, &found), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_dtype_find("int8", NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(found, 77);
#if !defined(ND4C_DTYPES_LITE)
  assert_int_equal(nd4c_dtype_find("bf16", &found), ND4C_OK);
  assert_int_equal(found, ND4C_BFLOAT16);
  assert_int_equal(nd4c_dtype_find("<f2", &found), ND4C_OK);
  assert_int_equal(found, ND4C_FLOAT16);
#endif
}

static void test_promotion(void **state) {
  (void)state;
  FILE *file = fopen(ND4C_TEST_SOURCE_DIR "/tests/data/promotion.txt", "r");
  assert_non_null(file);
  char a_name[32], b_name[32], result_name[32];
  int rows = 0, checked = 0;
  while (fscanf(file, "%31s %31s %31s", a_name, b_name, result_name) == 3) {
    nd4c_dtype a, b, expected, result = 0;
    rows++;
    if (nd4c_dtype_find(a_name, &a) != ND4C_OK || nd4c_dtype_find(b_name, &b) != ND4C_OK) {
      assert_true(LITE);
      continue;
    }
    assert_int_equal(nd4c_dtype_promote(a, b, &result), ND4C_OK);
    /* A lite build gives the next wider dtype in the build. */
    if (nd4c_dtype_find(result_name, &expected) != ND4C_OK) {
      assert_true(LITE && nd4c_dtype_get_info(result)->available);
    } else if (result != expected) {
      fail_msg("%s with %s: %s, expected %s", a_name, b_name, nd4c_dtype_name(result), result_name);
    }
    checked++;
  }
  (void)fclose(file);
  assert_int_equal(rows, 14 * 14);
  assert_true(checked >= (LITE ? 36 : rows));
}

/* What NumPy has no dtype for. */
static const struct {
  nd4c_dtype a, b, result;
} others[] = {
    {ND4C_UTF8, ND4C_UTF8, ND4C_UTF8},
    {ND4C_UTF8, ND4C_INT8, ND4C_DTYPE_NONE},
    {ND4C_UTF8, ND4C_BOOL, ND4C_DTYPE_NONE},
#if !defined(ND4C_DTYPES_LITE)
    {ND4C_BFLOAT16, ND4C_BFLOAT16, ND4C_BFLOAT16},
    {ND4C_BFLOAT16, ND4C_BOOL, ND4C_BFLOAT16},
    {ND4C_BFLOAT16, ND4C_FLOAT16, ND4C_FLOAT32},
    {ND4C_BFLOAT16, ND4C_FLOAT32, ND4C_FLOAT32},
    {ND4C_BFLOAT16, ND4C_FLOAT64, ND4C_FLOAT64},
    {ND4C_BFLOAT16, ND4C_INT8, ND4C_BFLOAT16},
    {ND4C_BFLOAT16, ND4C_UINT16, ND4C_FLOAT32},
    {ND4C_BFLOAT16, ND4C_INT64, ND4C_FLOAT64},
    {ND4C_BFLOAT16, ND4C_COMPLEX64, ND4C_COMPLEX64},
    {ND4C_FLOAT8_E5M2, ND4C_FLOAT8_E5M2, ND4C_FLOAT8_E5M2},
    {ND4C_FLOAT8_E5M2, ND4C_FLOAT8_E4M3FN, ND4C_DTYPE_NONE},
    {ND4C_FLOAT8_E5M2, ND4C_FLOAT32, ND4C_DTYPE_NONE},
    {ND4C_INT4, ND4C_INT8, ND4C_DTYPE_NONE},
    {ND4C_INT4, ND4C_BOOL, ND4C_DTYPE_NONE},
#endif
};

static void test_other_promotion(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    for (int swapped = 0; swapped < 2; swapped++) {
      nd4c_dtype result = ND4C_DTYPE_NONE, a = swapped ? others[i].b : others[i].a;
      nd4c_status status = nd4c_dtype_promote(a, swapped ? others[i].a : others[i].b, &result);
      if (result != others[i].result || (status == ND4C_OK) != (result != ND4C_DTYPE_NONE)) {
        fail_msg("%s with %s: %s", nd4c_dtype_name(others[i].a), nd4c_dtype_name(others[i].b), nd4c_dtype_name(result));
      }
    }
  }
  nd4c_dtype result;
  assert_int_equal(nd4c_dtype_promote(ND4C_UTF8, ND4C_FLOAT32, &result), ND4C_DTYPE);
  assert_string_equal(nd4c_error_message(), "dtypes utf8 and float32 do not mix");
  assert_int_equal(nd4c_dtype_promote(0, ND4C_FLOAT32, &result), ND4C_DTYPE);
  assert_int_equal(nd4c_dtype_promote(ND4C_FLOAT32, 17, &result), ND4C_DTYPE);
  assert_int_equal(nd4c_dtype_promote(ND4C_FLOAT32, ND4C_FLOAT32, NULL), ND4C_NULL_ARGUMENT);
}

/* The nearest of the halves around `value`, ties to the even one, found by looking at all of them once. */
static uint16_t nearest_half(double value, float (*to_float)(uint16_t), uint16_t infinity) {
  uint16_t sign = signbit(value) ? 0x8000 : 0, low = 0, high = infinity;
  double magnitude = fabs(value);
  while (high - low > 1) {
    uint16_t middle = (uint16_t)((low + high) / 2);
    if ((double)to_float(middle) <= magnitude) {
      low = middle;
    } else {
      high = middle;
    }
  }
  /* The number that infinity stands for in rounding is the one after the last finite one. */
  double below = (double)to_float(low);
  double step = below - (double)to_float((uint16_t)(low > 0 ? low - 1 : 0));
  double above = high == infinity ? below + step : (double)to_float(high);
  double to_below = magnitude - below, to_above = above - magnitude;
  int up = to_above < to_below || (to_above == to_below && (low & 1) != 0);
  return (uint16_t)(sign | (up ? high : low));
}

static void check_half(const char *name, double value, uint16_t got, uint16_t expected) {
  if (got != expected) {
    fail_msg("%s of %a: %04x, expected %04x", name, value, got, expected);
  }
}

static void test_half(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    uint16_t half = (uint16_t)bits;
    float f = nd4c_float16_to_float(half), b = nd4c_bfloat16_to_float(half);
    assert_true(isnan(f) ? isnan(nd4c_float16_to_float(nd4c_float16_from_float(f)))
                         : nd4c_float16_from_float(f) == half && nd4c_float16_from_double((double)f) == half);
    assert_true(isnan(b) ? isnan(nd4c_bfloat16_to_float(nd4c_bfloat16_from_float(b)))
                         : nd4c_bfloat16_from_float(b) == half && nd4c_bfloat16_from_double((double)b) == half);
  }
  assert_true(nd4c_float16_to_float(0x0001) == 0x1p-24F && nd4c_float16_to_float(0x7bff) == 65504.0F);
  assert_true(nd4c_bfloat16_to_float(0x3fc0) == 1.5F);
  uint64_t random = 88172645463325252U;
  for (int i = 0; i < 300000; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    /* Exponents from far below to far above float16's; mantissas also just beside the middle between two halves. */
    double mantissa = 1 + (double)(random >> 54) / 1024 + (i % 3 - 1) * (i % 2 ? 0x1p-40 : 0x1p-12);
    double value = ldexp(random & 1 ? mantissa : -mantissa, (int)(random >> 8 & 63) - 40);
    check_half("float16", value, nd4c_float16_from_double(value), nearest_half(value, nd4c_float16_to_float, 0x7c00));
    check_half("bfloat16", value, nd4c_bfloat16_from_double(value),
               nearest_half(value, nd4c_bfloat16_to_float, 0x7f80));
    double single = (double)(float)value;
    check_half("float16", single, nd4c_float16_from_float((float)value),
               nearest_half(single, nd4c_float16_to_float, 0x7c00));
    check_half("bfloat16", single, nd4c_bfloat16_from_float((float)value),
               nearest_half(single, nd4c_bfloat16_to_float, 0x7f80));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),           cmocka_unit_test(test_names), cmocka_unit_test(test_promotion),
      cmocka_unit_test(test_other_promotion), cmocka_unit_test(test_half),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
