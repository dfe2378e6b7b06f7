/* Values that comparisons with a tolerance do not distinguish, and operands that only a hostile caller passes: engine
 * simd must agree with the reference, or decline. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

static nd4c_array *array_of(nd4c_dtype dtype, int64_t n, const void *data) {
  nd4c_array *x = NULL;
  assert_int_equal(nd4c_array_from_data(dtype, 1, &n, data, NULL, &x), ND4C_OK);
  return x;
}

static nd4c_array *shaped(int32_t rank, const int64_t *shape, const float *data) {
  nd4c_array *x = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, rank, shape, data, NULL, &x), ND4C_OK);
  return x;
}

static nd4c_attr ints(const char *name, const int64_t *values, int32_t count) {
  return (nd4c_attr){name, {.kind = ND4C_ATTR_INTS, .count = count, .as.ints = values}};
}

static const void *data_of(const nd4c_array *x) {
  const void *data = NULL;
  assert_int_equal(nd4c_array_data(x, &data), ND4C_OK);
  return data;
}

static nd4c_array *call_one(nd4c_op op, const nd4c_array *x) {
  nd4c_array *y = NULL;
  assert_int_equal(nd4c_op_call(NULL, op, &x, 1, NULL, 0, &y, 1), ND4C_OK);
  return y;
}

static double first_of(const nd4c_array *y, nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT32 ? (double)*(const float *)data_of(y) : *(const double *)data_of(y);
}

static void check_negative_zero(nd4c_op op, int64_t n, double rest) {
  for (int i = 0; i < 2; i++) {
    nd4c_dtype dtype = i == 0 ? ND4C_FLOAT32 : ND4C_FLOAT64;
    float single[64];
    double wide[64];
    for (int64_t j = 0; j < n; j++) {
      wide[j] = j == 0 ? -0.0 : rest;
      single[j] = (float)wide[j];
    }
    nd4c_array *x = array_of(dtype, n, i == 0 ? (void *)single : (void *)wide), *y = call_one(op, x);
    double got = first_of(y, dtype);
    assert_true(got == 0 && signbit(got));
    nd4c_array_release(y);
    nd4c_array_release(x);
  }
}

static void test_zero_keeps_its_sign(void **state) {
  (void)state;
  for (int64_t n = 1; n <= 64; n += 9) {
    check_negative_zero(ND4C_OP_max, n, -0.0);
    check_negative_zero(ND4C_OP_min, n, 1);
    check_negative_zero(ND4C_OP_prod, n, 2);
    check_negative_zero(ND4C_OP_sum, n, -0.0);
  }
}

/* One number beyond the fast ranges among many: it must not change the others' bits. */
static void test_trigonometry_is_by_number(void **state) {
  enum { N = 700 };
  static const float beyond[] = {2000.0f, 3e6f, INFINITY};
  (void)state;
  for (size_t k = 0; k < sizeof beyond / sizeof *beyond; k++) {
    for (int i = 0; i < 2; i++) {
      nd4c_op op = i == 0 ? ND4C_OP_sin : ND4C_OP_cos;
      float plain[N], with[N];
      for (int j = 0; j < N; j++) {
        with[j] = plain[j] = (float)(j - N / 2) * 0.0371f;
      }
      with[300] = beyond[k];
      nd4c_array *a = array_of(ND4C_FLOAT32, N, plain), *b = array_of(ND4C_FLOAT32, N, with);
      nd4c_array *y = call_one(op, a), *z = call_one(op, b);
      const float *first = data_of(y), *second = data_of(z);
      for (int j = 0; j < N; j++) {
        if (j != 300) {
          assert_memory_equal(&first[j], &second[j], sizeof *first);
        }
      }
      nd4c_array_release(z);
      nd4c_array_release(y);
      nd4c_array_release(b);
      nd4c_array_release(a);
    }
  }
}

static void test_layer_norm_of_large_bfloat16(void **state) {
  /* 1e20, -1e20: squares are beyond float32 */
  static const uint16_t large[] = {0x60ad, 0xe0ad};
  (void)state;
  if (!nd4c_dtype_get_info(ND4C_BFLOAT16)->available) {
    skip();
  }
  nd4c_array *x = array_of(ND4C_BFLOAT16, 2, large), *y = call_one(ND4C_OP_layer_norm, x);
  const uint16_t *got = data_of(y);
  assert_int_equal(got[0], 0x3f80);
  assert_int_equal(got[1], 0xbf80);
  nd4c_array_release(y);
  nd4c_array_release(x);
}

static void check_pool(int64_t stride) {
  static const float data[] = {1, 2};
  const int64_t kernel = 2;
  nd4c_array *x = shaped(3, (const int64_t[]){1, 1, 2}, data), *y = NULL;
  const nd4c_attr attrs[] = {ints("kernel", &kernel, 1), ints("strides", &stride, 1)};
  assert_int_equal(nd4c_op_call(NULL, ND4C_OP_max_pool, (const nd4c_array *const[]){x}, 1, attrs, 2, &y, 1), ND4C_OK);
  assert_true(first_of(y, ND4C_FLOAT32) == 2);
  nd4c_array_release(y);
  nd4c_array_release(x);
}

static void test_strides_of_one_window(void **state) {
  (void)state;
  check_pool(INT64_C(10000000000));
  check_pool(INT64_C(1085102592571150096)); /* 17 times it is 2^64 + 16 */
}

/* A sum in single precision, one number after the other, is off by a hundredth. */
static void test_long_window_is_summed_well(void **state) {
  enum { N = 1000000 };
  const int64_t kernel = N;
  (void)state;
  float *data = malloc(N * sizeof *data);
  assert_non_null(data);
  for (int i = 0; i < N; i++) {
    data[i] = 0.1f;
  }
  nd4c_array *x = shaped(3, (const int64_t[]){1, 1, N}, data), *y = NULL;
  const nd4c_attr attr = ints("kernel", &kernel, 1);
  assert_int_equal(nd4c_op_call(NULL, ND4C_OP_average_pool, (const nd4c_array *const[]){x}, 1, &attr, 1, &y, 1),
                   ND4C_OK);
  assert_true(fabs(first_of(y, ND4C_FLOAT32) - (double)0.1f) < 1e-7);
  nd4c_array_release(y);
  nd4c_array_release(x);
  free(data);
}

static void test_counts_beyond_all_sums(void **state) {
  enum { N = 64 };
  int64_t counts[N] = {INT64_MAX, INT64_MAX, 3}; /* 1, where sums wrap */
  (void)state;
  nd4c_array *x = array_of(ND4C_INT64, N, counts), *wanted = array_of(ND4C_INT64, N, counts), *y = NULL;
  const nd4c_attr attrs[] = {ints("axes", (const int64_t[]){0}, 1), {"total", {.kind = ND4C_ATTR_INT, .as.i = 1}}};
  assert_int_not_equal(nd4c_op_call(NULL, ND4C_OP_repeat, (const nd4c_array *const[]){x, wanted}, 2, attrs, 2, &y, 1),
                       ND4C_OK);
  assert_null(y);
  nd4c_array_release(wanted);
  nd4c_array_release(x);
}

/* Elements that share their bytes: engine simd once did not return for them. */
static void test_one_hot_of_packed_elements(void **state) {
  static const int64_t indices[] = {0, 1};
  (void)state;
  if (!nd4c_dtype_get_info(ND4C_INT4)->available) {
    skip();
  }
  nd4c_array *x = array_of(ND4C_INT64, 2, indices), *y = NULL;
  const nd4c_attr attrs[] = {{"depth", {.kind = ND4C_ATTR_INT, .as.i = 4}},
                             {"dtype", {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_INT4}}};
  assert_int_equal(nd4c_op_call(NULL, ND4C_OP_one_hot, (const nd4c_array *const[]){x}, 1, attrs, 2, &y, 1), ND4C_DTYPE);
  assert_null(y);
  nd4c_array_release(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_zero_keeps_its_sign),          cmocka_unit_test(test_trigonometry_is_by_number),
      cmocka_unit_test(test_layer_norm_of_large_bfloat16), cmocka_unit_test(test_strides_of_one_window),
      cmocka_unit_test(test_long_window_is_summed_well),   cmocka_unit_test(test_counts_beyond_all_sums),
      cmocka_unit_test(test_one_hot_of_packed_elements)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
