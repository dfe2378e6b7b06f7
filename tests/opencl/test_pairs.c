/* Without float64, kernels compute in pairs of floats and must agree with the CPU at the ends of float32's range,
 * beside masks, at halves and zeros. CI also runs it with the loader that hides float64 (mobile_gpu). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "faulty_loader.h"

enum { INPUTS = 4, ATTRS = 3, MOST = 300 };

static nd4c_device *device, *host;
static nd4c_context *contexts[2]; /* on the host, on the device */

/* Values in C order, repeated `times` times. */
typedef struct input {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[4];
  double values[16];
  int32_t times;
} input;

typedef struct row {
  const char *what;
  nd4c_op op;
  input inputs[INPUTS];
  nd4c_attr attrs[ATTRS];
  int32_t attr_count;
} row;

#define F32(...) ND4C_FLOAT32, 1, __VA_ARGS__
#define TINY 1.40129846e-45
#define LEAST (-3.4028234663852886e38)

static const int64_t eleven = 11, axis_1 = 1;
// clang-format off
#define TO_11 {{"sizes", {.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &eleven}}, \
               {"axes", {.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &axis_1}}, \
               {"mode", {.kind = ND4C_ATTR_INT, .as.i = 1}}} /* linear */
// clang-format on

static const row rows[] = {
    {"glu of a large number behind a gate near 0", ND4C_OP_glu, .inputs = {{F32({2}, {1e30, -41}, 1)}}},
    {"glu near the largest float", ND4C_OP_glu, .inputs = {{F32({8}, {3e38, -3e38, 1e30, 1, -41, -60, -85, -41}, 1)}}},
    {"glu of -0 and of what the gate makes -0", ND4C_OP_glu,
     .inputs = {{F32({6}, {-1, -1, -TINY, -150, -104, -2}, 1)}}},
    {"swish to -0", ND4C_OP_swish, .inputs = {{F32({6}, {-110, -150, -200, -2e6, -1e30, -TINY}, 1)}}},
    {"mish to -0", ND4C_OP_mish, .inputs = {{F32({6}, {-110, -150, -200, -2e6, -1e30, -TINY}, 1)}}},
    {"hard_swish to -0", ND4C_OP_hard_swish, .inputs = {{F32({4}, {-TINY, TINY, -0.0, -2.5}, 1)}}},
    {"tanh_shrink to zeros", ND4C_OP_tanh_shrink, .inputs = {{F32({5}, {-0.0, -TINY, -1e-30, 1e-30, -1e-12}, 1)}}},
    {"swiglu of the least float", ND4C_OP_swiglu,
     .inputs = {{F32({5}, {TINY, -TINY, 3, 1e-45, -50}, 1)}, {F32({5}, {3, 3, TINY, 1e38, 1e38}, 1)}}},
    {"hard_sigmoid by more than the largest float", ND4C_OP_hard_sigmoid, .inputs = {{F32({4}, {0, 1, -1, NAN}, 1)}},
     .attrs = {{"alpha", {.kind = ND4C_ATTR_FLOAT, .as.f = 1e39}}, {"beta", {.kind = ND4C_ATTR_FLOAT, .as.f = 0.5}}},
     .attr_count = 2},
    {"std of small numbers among zeros", ND4C_OP_std,
     .inputs = {{F32({300}, {0, 0, 0, 0, 0, 0, 3e-25, 0, 0, 1e-25, 0, 0}, 25)}}},
    {"var of zeros", ND4C_OP_var, .inputs = {{F32({300}, {0}, 300)}}},
    {"std of a single small number", ND4C_OP_std, .inputs = {{F32({3}, {1e-22, 0, 0}, 1)}}},
    {"resize of whole numbers that floats tell from halves no more", ND4C_OP_resize,
     .inputs = {{ND4C_INT32, 2, {1, 6}, {4194304, 4194307, 8388607, 8388600, -4194304, -4194307}, 1}}, .attrs = TO_11,
     .attr_count = 3},
    {"resize of uint64 beyond int64", ND4C_OP_resize, .inputs = {{ND4C_UINT64, 2, {1, 3}, {0x1p63, 0x1.8p63, 5}, 1}},
     .attrs = TO_11, .attr_count = 3},
    {"prod over the range and 0", ND4C_OP_prod, .inputs = {{F32({3}, {3e38, 3e38, 0}, 1)}}},
    {"prod over the range and back", ND4C_OP_prod, .inputs = {{F32({200}, {1e30, -1e-30, 1e25, 1e-20, 1e-5}, 40)}}},
    {"lp_normalize of large numbers", ND4C_OP_lp_normalize, .inputs = {{F32({4}, {1e25, -3e25, 2e20, 3e38}, 1)}}},
    {"lp_normalize of small numbers", ND4C_OP_lp_normalize, .inputs = {{F32({3}, {1e-25, -3e-25, 0}, 1)}}},
    {"clip_by_norm of large numbers", ND4C_OP_clip_by_norm, .inputs = {{F32({3}, {1e20, -3e20, 2e19}, 1)}},
     .attrs = {{"max_norm", {.kind = ND4C_ATTR_FLOAT, .as.f = 2}}}, .attr_count = 1},
    {"lp_pool of large powers", ND4C_OP_global_lp_pool,
     .inputs = {{ND4C_FLOAT32, 3, {1, 2, 3}, {1e5, -2e5, 3e5, 1e-25, 0, 3e-25}, 1}},
     .attrs = {{"p", {.kind = ND4C_ATTR_FLOAT, .as.f = 8}}}, .attr_count = 1},
    {"attention under a mask of the least float", ND4C_OP_attention,
     .inputs = {{ND4C_FLOAT32, 4, {1, 1, 2, 2}, {1, 2, 3, 4}, 1},
                {ND4C_FLOAT32, 4, {1, 1, 3, 2}, {1, 0, 0, 1, -1, 2}, 1},
                {ND4C_FLOAT32, 4, {1, 1, 3, 2}, {1, 2, 3, 4, 5, 7}, 1},
                {ND4C_FLOAT32, 2, {2, 3}, {LEAST, LEAST, LEAST, 0, LEAST, -1e9}, 1}}},
};

static void put(nd4c_dtype dtype, void *data, int64_t i, double value) {
  if (dtype == ND4C_INT32) {
    ((int32_t *)data)[i] = (int32_t)value;
  } else if (dtype == ND4C_UINT64) {
    ((uint64_t *)data)[i] = (uint64_t)value;
  } else {
    ((float *)data)[i] = (float)value;
  }
}

static double take(nd4c_dtype dtype, const void *data, int64_t i) {
  return dtype == ND4C_INT32    ? ((const int32_t *)data)[i]
         : dtype == ND4C_UINT64 ? (double)((const uint64_t *)data)[i]
                                : ((const float *)data)[i];
}

static nd4c_array *array_of(const input *x) {
  uint64_t data[MOST];
  nd4c_array *array = NULL;
  int64_t count = 1;
  for (int32_t i = 0; i < x->rank; i++) {
    count *= x->shape[i];
  }
  assert_in_range(count, 1, MOST);
  for (int64_t i = 0; i < count; i++) {
    put(x->dtype, data, i, x->values[i % (count / x->times)]);
  }
  assert_int_equal(nd4c_array_from_data(x->dtype, x->rank, x->shape, data, host, &array), ND4C_OK);
  return array;
}

/* On the host, on the device. */
static nd4c_array *call_on(const row *r, int where, nd4c_array *const *inputs, int32_t count) {
  nd4c_array *y = NULL;
  if (nd4c_op_call(contexts[where], r->op, (const nd4c_array *const *)inputs, count, r->attrs, r->attr_count, &y, 1) !=
      ND4C_OK) {
    fail_msg("%s: %s", r->what, nd4c_error_message());
  }
  assert_ptr_equal(nd4c_array_device(y), where == 0 ? host : device);
  return y;
}

static bool is_alike(double a, double b) {
  if (isnan(a) || isnan(b) || a == b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
  }
  return fabs(a - b) <= 4e-7 * fabs(a) + 2 * TINY && signbit(a) == signbit(b);
}

static void pairs_give_the_cpus_results(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const row *r = &rows[i];
    nd4c_array *inputs[INPUTS] = {NULL}, *results[2];
    uint64_t data[2][MOST];
    int32_t count = 0;
    while (count < INPUTS && r->inputs[count].rank > 0) {
      inputs[count] = array_of(&r->inputs[count]);
      count++;
    }
    for (int where = 0; where < 2; where++) {
      results[where] = call_on(r, where, inputs, count);
      int64_t size = nd4c_array_size(results[where]);
      assert_in_range(size, 1, MOST);
      size_t bytes = (size_t)size * (nd4c_array_dtype(results[where]) == ND4C_UINT64 ? 8 : 4);
      assert_int_equal(nd4c_array_read(results[where], data[where], bytes), ND4C_OK);
    }
    nd4c_dtype dtype = nd4c_array_dtype(results[0]);
    bool whole = dtype != ND4C_FLOAT32;
    for (int64_t k = 0; k < nd4c_array_size(results[0]); k++) {
      double own = take(dtype, data[0], k), other = take(dtype, data[1], k);
      if (whole ? fabs(own - other) > 1e-13 * fabs(own) : !is_alike(own, other)) {
        print_error("%s: element %lld is %.9g on the device, %.9g on the CPU\n", r->what, (long long)k, other, own);
        wrong++;
      }
    }
    nd4c_array_release(results[0]);
    nd4c_array_release(results[1]);
    for (int32_t k = 0; k < count; k++) {
      nd4c_array_release(inputs[k]);
    }
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  nd4c_context_options options = {.struct_size = sizeof options};
  nd4c_status status = faulty_start(&device);
  status = status == ND4C_OK ? nd4c_device_find("cpu:0", &host) : status;
  options.device = host;
  status = status == ND4C_OK ? nd4c_context_create(&options, &contexts[0]) : status;
  options.device = device;
  status = status == ND4C_OK ? nd4c_context_create(&options, &contexts[1]) : status;
  if (status != ND4C_OK) {
    print_message("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_give_the_cpus_results)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  for (int i = 0; i < 2; i++) {
    failed += nd4c_context_destroy(contexts[i]) != ND4C_OK;
  }
  return failed;
}
