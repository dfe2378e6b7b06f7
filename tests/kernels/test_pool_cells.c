/* Pools of simd/window/window_cells.c whose few planes are cut into bands for several threads: results of the reference
 * to the bit, in each layout and dtype. Values, NaN and windows at the edges are in tests/records/window.py. */
#include "kernels/same.h"

enum { ATTRS = 4 };

typedef struct row {
  nd4c_op op;
  int32_t attr_count, results, rank;
  int64_t shape[5];
  nd4c_attr attrs[ATTRS];
  bool floats; /* the op is of floats alone */
} row;

#define COUNT(...) (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define INTS(name, ...)                                                                   \
  {                                                                                       \
    name, {                                                                               \
      .kind = ND4C_ATTR_INTS, .count = COUNT(__VA_ARGS__), .as.ints = (const int64_t[]) { \
        __VA_ARGS__                                                                       \
      }                                                                                   \
    }                                                                                     \
  }

static const row rows[] = {
    {ND4C_OP_max_pool_with_indices,
     3,
     2,
     4,
     {1, 1, 150, 131},
     {INTS("kernel", 3, 4), INTS("strides", 2, 3), INTS("pads", 1, 2, 1, 0)},
     false},
    {ND4C_OP_max_pool_with_indices,
     2,
     2,
     5,
     {1, 1, 40, 21, 33},
     {INTS("kernel", 4, 1, 3), INTS("dilations", 3, 1, 2)},
     false},
    {ND4C_OP_max_pool_with_indices, 1, 2, 3, {1, 2, 9000}, {INTS("kernel", 5)}, false},
    {ND4C_OP_lp_pool, 2, 1, 4, {1, 1, 150, 131}, {INTS("kernel", 3, 4), INTS("strides", 2, 1)}, true},
    {ND4C_OP_adaptive_max_pool, 1, 2, 4, {1, 1, 150, 231}, {INTS("output_shape", 11, 7)}, true},
    {ND4C_OP_adaptive_max_pool, 1, 2, 5, {1, 1, 50, 10, 80}, {INTS("output_shape", 7, 3, 20)}, true},
    {ND4C_OP_adaptive_average_pool, 1, 1, 4, {1, 1, 150, 231}, {INTS("output_shape", 11, 7)}, true},
};

static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_BFLOAT16, ND4C_FLOAT16, ND4C_UINT8,
                                    ND4C_INT32,   ND4C_INT64,   ND4C_INT16,    ND4C_UINT64};

static void check_row(const row *r, nd4c_dtype dtype, same_layout how) {
  char what[96];
  nd4c_array *x = same_array(dtype, r->rank, r->shape, how, dtype == ND4C_UINT8 ? 0 : -60, 120);
  const nd4c_array *inputs[1] = {x};
  (void)snprintf(what, sizeof what, "row %d: op %d of %s, layout %d", (int)(r - rows), (int)r->op,
                 nd4c_dtype_name(dtype), (int)how);
  same_check(what, r->op, inputs, 1, r->attrs, r->attr_count, r->results, "simd");
  nd4c_array_release(x);
}

static void test_bands(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("nd4c.width", "4"), ND4C_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
      for (same_layout how = SAME_PLAIN; how < SAME_LAYOUTS && (k < 4 || !rows[i].floats); how++) {
        check_row(&rows[i], dtypes[k], how);
      }
    }
  }
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
}

/* Integers that a double cannot tell apart. */
static void test_wide_integers(void **state) {
  (void)state;
  static const int64_t shape[3] = {1, 1, 4}, numbers[4] = {INT64_MAX - 1, INT64_MAX, INT64_MIN, INT64_MAX};
  static const uint64_t naturals[4] = {UINT64_MAX - 1, 5, UINT64_MAX, UINT64_MAX};
  const nd4c_attr kernel = INTS("kernel", 4);
  const nd4c_array *inputs[1];
  nd4c_array *x = NULL, *y[2] = {NULL};
  int64_t largest = 0, index = 0;
  uint64_t natural = 0;
  assert_int_equal(nd4c_array_from_data(ND4C_INT64, 3, shape, numbers, NULL, &x), ND4C_OK);
  inputs[0] = x;
  assert_int_equal(nd4c_op_call(NULL, ND4C_OP_max_pool_with_indices, inputs, 1, &kernel, 1, y, 2), ND4C_OK);
  assert_int_equal(nd4c_array_read(y[0], &largest, sizeof largest), ND4C_OK);
  assert_int_equal(nd4c_array_read(y[1], &index, sizeof index), ND4C_OK);
  assert_true(largest == INT64_MAX);
  assert_int_equal(index, 1);
  same_free(y, 2);
  y[0] = NULL; /* the op makes the result */
  nd4c_array_release(x);
  assert_int_equal(nd4c_array_from_data(ND4C_UINT64, 3, shape, naturals, NULL, &x), ND4C_OK);
  inputs[0] = x;
  assert_int_equal(nd4c_op_call(NULL, ND4C_OP_max_pool, inputs, 1, &kernel, 1, y, 1), ND4C_OK);
  assert_int_equal(nd4c_array_read(y[0], &natural, sizeof natural), ND4C_OK);
  assert_true(natural == UINT64_MAX);
  same_free(y, 1);
  nd4c_array_release(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bands), cmocka_unit_test(test_wide_integers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
