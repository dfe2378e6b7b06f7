/* Narrow dtypes: every code and the numbers around every code against ml_dtypes
 * (tests/tools/golden/make_narrow_golden.py), packed memory, arrays and views of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "array/array.h"
#include "array/narrow.h"
#include "base/alloc.h"
#include "hand_storage.h"
#include "kernels/narrow.h"

#ifndef ND4C_DTYPES_LITE

static float kernel_number(nd4c_dtype dtype, uint8_t code) {
  switch (dtype) {
#define CASE(NAME, name) \
  case ND4C_##NAME:      \
    return nd4c_##name##_to_float(code);
    ND4C_FLOAT8_DTYPES(CASE)
#undef CASE
    case ND4C_FLOAT4_E2M1FN:
      return nd4c_float4_e2m1fn_to_float(code);
    case ND4C_INT4:
      return (float)nd4c_packed_signed(code, 4);
    case ND4C_INT2:
      return (float)nd4c_packed_signed(code, 2);
    default:
      return (float)code;
  }
}

static uint8_t kernel_code(nd4c_dtype dtype, float number) {
  switch (dtype) {
#define CASE(NAME, name) \
  case ND4C_##NAME:      \
    return nd4c_##name##_from_float(number);
    ND4C_FLOAT8_DTYPES(CASE)
#undef CASE
    default:
      return nd4c_float4_e2m1fn_from_float(number);
  }
}

static uint8_t kernel_saturated(nd4c_dtype dtype, float number) {
  switch (dtype) {
#define CASE(NAME, name) \
  case ND4C_##NAME:      \
    return nd4c_##name##_saturate(number);
    ND4C_FLOAT8_DTYPES(CASE)
#undef CASE
    default:
      return nd4c_float4_e2m1fn_from_float(number);
  }
}

static bool same_number(double a, double b) {
  return isnan(a) ? isnan(b) : !(a < b || a > b) && !isnan(b) && (signbit(a) != 0) == (signbit(b) != 0);
}

static void check_code(nd4c_dtype dtype, uint8_t code, float wanted) {
  if (!same_number((double)wanted, (double)kernel_number(dtype, code)) ||
      !same_number((double)wanted, nd4c_narrow_to_double(dtype, code))) {
    fail_msg("%s code %02x: kernels %g, arrays %g, expected %g", nd4c_dtype_name(dtype), code,
             (double)kernel_number(dtype, code), nd4c_narrow_to_double(dtype, code), (double)wanted);
  }
}

/* Arrays saturate: numbers that ml_dtypes converts to infinity or NaN become the largest number. */
static void check_cast(nd4c_dtype dtype, float number, uint8_t wanted) {
  bool beyond = !isnan(number) && !isfinite(kernel_number(dtype, wanted));
  uint8_t got = kernel_code(dtype, number), saturated = nd4c_narrow_from_double(dtype, (double)number);
  double value = nd4c_narrow_to_double(dtype, saturated);
  bool kept = beyond ? isfinite(value) && (value < 0) == (number < 0) : saturated == wanted;
  if (got != wanted || !kept || kernel_saturated(dtype, number) != saturated) {
    fail_msg("%s of %a: kernels %02x, saturated %02x, arrays %02x, expected %02x", nd4c_dtype_name(dtype),
             (double)number, got, kernel_saturated(dtype, number), saturated, wanted);
  }
}

static void test_golden(void **state) {
  (void)state;
  FILE *file = fopen(ND4C_TEST_SOURCE_DIR "/tests/data/narrow.txt", "r");
  assert_non_null(file);
  char what[8], name[32];
  int count, tables = 0;
  while (fscanf(file, "%7s %31s %d", what, name, &count) == 3) {
    nd4c_dtype dtype = ND4C_DTYPE_NONE;
    assert_int_equal(nd4c_dtype_find(name, &dtype), ND4C_OK);
    for (int i = 0; i < count; i++) {
      unsigned bits = 0, code = (unsigned)i;
      assert_int_equal(fscanf(file, "%x", &bits), 1);
      if (strcmp(what, "casts") == 0) {
        assert_int_equal(fscanf(file, ":%x", &code), 1);
        check_cast(dtype, nd4c_float_from_bits(bits), (uint8_t)code);
      } else {
        check_code(dtype, (uint8_t)code, nd4c_float_from_bits(bits));
      }
    }
    tables++;
  }
  (void)fclose(file);
  assert_int_equal(tables, 16);
}

static void test_e8m0_range(void **state) {
  (void)state;
  assert_int_equal(nd4c_narrow_from_double(ND4C_FLOAT8_E8M0FNU, 0), 0);
  assert_int_equal(nd4c_narrow_from_double(ND4C_FLOAT8_E8M0FNU, -1), 0xff);
  assert_int_equal(nd4c_narrow_from_double(ND4C_FLOAT8_E8M0FNU, (double)INFINITY), 0xfe);
  assert_int_equal(nd4c_narrow_from_double(ND4C_FLOAT8_E8M0FNU, 1e300), 0xfe);
  assert_int_equal(nd4c_float8_e8m0fnu_encode(1.01, ND4C_NARROW_UP, true), 128);
  assert_int_equal(nd4c_float8_e8m0fnu_encode(1.99, ND4C_NARROW_DOWN, true), 127);
  assert_int_equal(nd4c_float8_e8m0fnu_encode(0, ND4C_NARROW_UP, false), 0xff);
  assert_int_equal(nd4c_float8_e8m0fnu_encode((double)INFINITY, ND4C_NARROW_DOWN, false), 0xff);
  assert_int_equal(nd4c_float8_e8m0fnu_encode(0x1.1p127, ND4C_NARROW_UP, false), 0xff);
  assert_int_equal(nd4c_float8_e8m0fnu_encode(0x1.1p127, ND4C_NARROW_UP, true), 0xfe);
}

/* -- packed memory ---------------------------------------------------------------------------------------------- */

static void test_packing(void **state) {
  (void)state;
  uint8_t bytes[3] = {0};
  for (int i = 0; i < 5; i++) {
    nd4c_narrow_set(ND4C_UINT4, bytes, i, (uint8_t)(i + 1));
  }
  assert_memory_equal(bytes, "\x21\x43\x05", 3); /* the first in the low bits, as ONNX has it */
  for (int i = 0; i < 9; i++) {
    nd4c_narrow_set(ND4C_INT2, bytes, i, (uint8_t)(i & 3));
    assert_int_equal(nd4c_narrow_get(ND4C_INT2, bytes, i), i & 3);
  }
  assert_memory_equal(bytes, "\xe4\xe4\x04", 3);
  assert_int_equal(nd4c_dtype_size(ND4C_INT4), 0);
  assert_int_equal(nd4c_dtype_bytes(ND4C_INT4, 5), 3);
  assert_int_equal(nd4c_dtype_bytes(ND4C_UINT2, 5), 2);
  assert_int_equal(nd4c_dtype_bytes(ND4C_UINT2, 8), 2);
  assert_int_equal(nd4c_dtype_bytes(ND4C_FLOAT8_E5M2, 5), 5);
  assert_int_equal(nd4c_dtype_bytes(ND4C_FLOAT64, 5), 40);
  assert_int_equal(nd4c_dtype_bytes(ND4C_FLOAT64, 0), 0);
  assert_int_equal(nd4c_dtype_bytes(99, 5), 0);
}

static nd4c_array *packed_array(int64_t size) {
  nd4c_storage *storage = hand_storage(NULL, (size_t)nd4c_dtype_bytes(ND4C_UINT4, size));
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_make(ND4C_UINT4, 1, &size, NULL, 0, storage, &array), ND4C_OK);
  return array;
}

static void expect_slice(const nd4c_array *array, int64_t start, int64_t stop, int64_t step, const char *text) {
  nd4c_array *view = NULL;
  nd4c_status status = nd4c_array_slice(array, &start, &stop, &step, &view);
  assert_int_equal(status, text == NULL ? ND4C_OK : ND4C_UNSUPPORTED);
  if (text != NULL) {
    assert_non_null(strstr(nd4c_error_message(), text));
    assert_null(view);
  } else {
    assert_true(nd4c_array_is_contiguous(view));
    nd4c_array_release(view);
  }
}

/* Views are of whole bytes; the last one may be shorter. */
static void test_views(void **state) {
  (void)state;
  nd4c_array *array = packed_array(9), *view = NULL;
  expect_slice(array, 0, 9, 1, NULL);
  expect_slice(array, 2, 9, 1, NULL);
  expect_slice(array, 2, 6, 1, NULL);
  expect_slice(array, 4, 4, 1, NULL);
  expect_slice(array, 1, 9, 1, "uint4 holds 2 elements a byte: no byte begins with element 1, cast first");
  expect_slice(array, 2, 7, 1, "uint4 holds 2 elements a byte: no byte ends with element 6, cast first");
  expect_slice(array, 0, 7, 2, "uint4 holds 2 elements a byte: arrays of it are contiguous, cast first");
  expect_slice(array, 8, -10, -1, "cast first");
  int64_t square[] = {3, 3}, turned[] = {1, 3}, plain[] = {3, 1};
  assert_int_equal(nd4c_array_as_strided(array, 2, square, turned, 0, &view), ND4C_UNSUPPORTED);
  assert_int_equal(nd4c_array_as_strided(array, 2, square, plain, 0, &view), ND4C_OK);
  assert_true(nd4c_array_overlaps(array, view));
  nd4c_array_release(view);
  int64_t ten = 11, one = 1;
  assert_int_equal(nd4c_array_as_strided(array, 1, &ten, &one, 0, &view), ND4C_INDEX);
  nd4c_array_release(array);
}

#else

static void test_left_out(void **state) {
  (void)state;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  assert_int_equal(nd4c_dtype_find("float8_e4m3fn", &dtype), ND4C_DTYPE);
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
#ifndef ND4C_DTYPES_LITE
      cmocka_unit_test(test_golden),
      cmocka_unit_test(test_e8m0_range),
      cmocka_unit_test(test_packing),
      cmocka_unit_test(test_views),
#else
      cmocka_unit_test(test_left_out),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
