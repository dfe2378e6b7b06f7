/* Ops that move elements, and ops on sets, on engine simd: every size of elements, several layouts, results of the
 * reference to the bit; NaN and zeros of both signs among the elements of sets. */
#include "kernels/same.h"

#include <math.h>

enum { ATTRS = 4 };

typedef struct row_operand {
  int32_t rank;
  int64_t shape[4];
  nd4c_dtype dtype; /* NONE: the dtype that varies */
  int64_t low, below;
} row_operand;

typedef struct row {
  nd4c_op op;
  int32_t count, attr_count;
  row_operand operands[3];
  nd4c_attr attrs[ATTRS];
  bool any_layout; /* of the first operand; else it lies without gaps */
  bool numbers;    /* not of bool and float16 */
} row;

#define INT(name, number)                     \
  {                                           \
    name, {                                   \
      .kind = ND4C_ATTR_INT, .as.i = (number) \
    }                                         \
  }
#define COUNT(...) (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define INTS(name, ...)                                                                   \
  {                                                                                       \
    name, {                                                                               \
      .kind = ND4C_ATTR_INTS, .count = COUNT(__VA_ARGS__), .as.ints = (const int64_t[]) { \
        __VA_ARGS__                                                                       \
      }                                                                                   \
    }                                                                                     \
  }
#define X4(...) {4, {__VA_ARGS__}, ND4C_DTYPE_NONE, 0, 100}
#define X(rank, ...) {rank, {__VA_ARGS__}, ND4C_DTYPE_NONE, 0, 100}
#define INDEX(rank, least, most, ...) {rank, {__VA_ARGS__}, ND4C_INT64, least, (most) - (least) + 1}

static const row rows[] = {
    {ND4C_OP_fftshift, 1, 0, {X(2, 5, 6)}, {{0}}, false, false},
    {ND4C_OP_ifftshift, 1, 0, {X(3, 5, 6, 7)}, {{0}}, false, false},
    {ND4C_OP_ifftshift, 1, 1, {X(2, 5, 1)}, {INTS("axes", 1)}, false, false},
    {ND4C_OP_diag, 1, 1, {X(1, 9)}, {INT("k", -2)}, true, false},
    {ND4C_OP_diag, 1, 1, {X(2, 4, 9)}, {INT("k", 3)}, true, false},
    {ND4C_OP_diag_embed, 1, 3, {X(3, 2, 3, 4)}, {INT("offset", 1), INT("axis1", 0), INT("axis2", 2)}, true, false},
    {ND4C_OP_matrix_set_diag, 2, 1, {X(3, 2, 5, 6), X(2, 2, 5)}, {INT("k", 1)}, true, false},
    {ND4C_OP_matrix_set_diag, 2, 1, {X(3, 2, 5, 6), X(1, 4)}, {INT("k", -1)}, true, false},
    {ND4C_OP_space_to_batch,
     1,
     2,
     {X4(2, 5, 7, 3)},
     {INTS("block_shape", 2, 3), INTS("pads", 1, 0, 0, 2)},
     true,
     false},
    {ND4C_OP_space_to_batch, 1, 1, {X4(2, 4, 6, 3)}, {INTS("block_shape", 2, 3)}, true, false},
    {ND4C_OP_batch_to_space,
     1,
     2,
     {X4(12, 3, 3, 2)},
     {INTS("block_shape", 2, 3), INTS("pads", 1, 0, 0, 2)},
     true,
     false},
    {ND4C_OP_im2col,
     1,
     4,
     {X4(2, 3, 6, 7)},
     {INTS("kernel", 3, 2), INTS("strides", 2, 1), INTS("pads", 1, 4, 2, 0), INTS("dilations", 1, 3)},
     true,
     false},
    {ND4C_OP_im2col, 1, 1, {X4(2, 3, 6, 7)}, {INTS("kernel", 3, 2)}, true, false},
    {ND4C_OP_reverse_sequence,
     2,
     2,
     {X(3, 6, 4, 3), INDEX(1, 0, 6, 4)},
     {INT("batch_axis", 1), INT("time_axis", 0)},
     true,
     false},
    {ND4C_OP_index_fill, 3, 1, {X(3, 3, 5, 4), INDEX(1, -5, 4, 3), X(0, 0)}, {INT("axis", 1)}, true, false},
    {ND4C_OP_index_fill, 3, 1, {X(2, 3, 5), INDEX(1, -5, 4, 3), X(0, 0)}, {INT("axis", -1)}, true, false},
    {ND4C_OP_put_along_axis, 3, 1, {X(2, 5, 6), INDEX(2, -5, 4, 3, 6), X(2, 3, 6)}, {INT("axis", 0)}, true, false},
    {ND4C_OP_put_along_axis, 3, 1, {X(2, 5, 6), INDEX(2, 0, 5, 5, 8), X(2, 5, 8)}, {INT("axis", 1)}, true, false},
    {ND4C_OP_scatter_subtract, 3, 1, {X(2, 5, 70), INDEX(1, -5, 4, 9), X(2, 9, 70)}, {INT("axis", 0)}, true, true},
    {ND4C_OP_scatter_multiply, 3, 1, {X(1, 50), INDEX(1, 0, 49, 9), X(1, 9)}, {INT("axis", 0)}, true, true},
    {ND4C_OP_scatter_maximum, 3, 1, {X(2, 5, 7), INDEX(1, 0, 6, 9), X(2, 5, 9)}, {INT("axis", 1)}, true, true},
    {ND4C_OP_scatter_minimum, 3, 1, {X(3, 3, 5, 9), INDEX(1, 0, 4, 4), X(3, 3, 4, 9)}, {INT("axis", 1)}, true, true},
    {ND4C_OP_masked_scatter, 3, 0, {X(2, 140, 200), {2, {140, 200}, ND4C_BOOL, 0, 2}, X(1, 28000)}, {{0}}, true, false},
    {ND4C_OP_tensor_scatter,
     3,
     1,
     {X(3, 3, 50, 40), X(3, 3, 7, 40), INDEX(1, 0, 43, 3)},
     {INT("axis", 1)},
     true,
     false},
    {ND4C_OP_tensor_scatter,
     3,
     2,
     {X4(2, 3, 90, 60), X4(2, 3, 70, 60), INDEX(1, 30, 89, 2)},
     {INT("axis", -2), INT("circular", 1)},
     true,
     false},
    {ND4C_OP_col2im,
     1,
     4,
     {X(3, 2, 54, 2100)},
     {INTS("image", 60, 70), INTS("kernel", 3, 3), INTS("strides", 1, 2), INTS("pads", 1, 1, 1, 1)},
     false,
     true},
    {ND4C_OP_max_unpool,
     2,
     3,
     {X4(2, 3, 30, 40), INDEX(4, 0, 4799, 2, 3, 30, 40)},
     {INTS("kernel", 2, 2), INTS("strides", 2, 2), INT("planar", 1)},
     false,
     true},
    {ND4C_OP_max_unpool,
     2,
     2,
     {X4(2, 3, 30, 40), INDEX(4, 0, 28799, 2, 3, 30, 40)},
     {INTS("kernel", 2, 2), INTS("strides", 2, 2)},
     false,
     true},
    {ND4C_OP_isin, 2, 0, {X(2, 40, 50), X(1, 30)}, {{0}}, true, false},
    {ND4C_OP_union1d, 2, 0, {X(2, 40, 50), X(1, 30)}, {{0}}, true, false},
    {ND4C_OP_intersect1d, 2, 0, {X(1, 200), X(2, 3, 30)}, {{0}}, true, false},
    {ND4C_OP_setdiff1d, 2, 0, {X(1, 200), X(1, 30)}, {{0}}, true, false},
    {ND4C_OP_setxor1d, 2, 0, {X(1, 20), X(1, 30)}, {{0}}, true, false},
    {ND4C_OP_argwhere, 1, 0, {{3, {3, 2, 1100}, ND4C_DTYPE_NONE, 0, 3}}, {{0}}, false, false},
    {ND4C_OP_argwhere, 1, 0, {{1, {300}, ND4C_DTYPE_NONE, 0, 2}}, {{0}}, false, false},
    {ND4C_OP_lexsort,
     3,
     0,
     {X(2, 7, 90), {2, {7, 90}, ND4C_FLOAT32, -3, 5}, INDEX(2, 0, 3, 7, 90)},
     {{0}},
     false,
     false},
};

static const nd4c_dtype dtypes[] = {ND4C_BOOL,  ND4C_UINT8, ND4C_FLOAT16, ND4C_FLOAT32,
                                    ND4C_INT32, ND4C_INT64, ND4C_FLOAT64};

static void check_row(const row *r, int number, nd4c_dtype dtype, same_layout how) {
  nd4c_array *inputs[3];
  char what[96];
  for (int32_t i = 0; i < r->count; i++) {
    const row_operand *x = &r->operands[i];
    inputs[i] = same_array(x->dtype == ND4C_DTYPE_NONE ? dtype : x->dtype, x->rank, x->shape, i == 0 ? how : SAME_PLAIN,
                           x->low, x->below);
  }
  (void)snprintf(what, sizeof what, "row %d: op %d of %s, layout %d", number, (int)r->op, nd4c_dtype_name(dtype),
                 (int)how);
  same_check(what, r->op, (const nd4c_array *const *)inputs, r->count, r->attrs, r->attr_count, 1, "simd");
  same_free(inputs, r->count);
}

static void test_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
      if (rows[i].numbers && (dtypes[k] == ND4C_BOOL || dtypes[k] == ND4C_FLOAT16)) {
        continue;
      }
      for (same_layout how = SAME_PLAIN; how < (rows[i].any_layout ? SAME_LAYOUTS : SAME_TURNED); how++) {
        check_row(&rows[i], (int)i, dtypes[k], how);
      }
    }
  }
}

static const row counted_rows[] = {
    {ND4C_OP_histogram_fixed_width,
     1,
     1,
     {{2, {300, 400}, ND4C_DTYPE_NONE, -20, 130}},
     {{"high", {.kind = ND4C_ATTR_FLOAT, .as.f = 90}}},
     false,
     true},
    {ND4C_OP_confusion_matrix, 2, 1, {X(2, 300, 400), X(2, 300, 400)}, {INT("classes", 100)}, false, true},
    {ND4C_OP_confusion_matrix,
     3,
     1,
     {X(2, 300, 400), X(2, 300, 400), {2, {300, 400}, ND4C_FLOAT32, -9, 20}},
     {INT("classes", 100)},
     true,
     true},
};

/* Tables of several workers that are added up. */
static void test_counted_rows(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("nd4c.width", "3"), ND4C_OK);
  for (size_t i = 0; i < sizeof counted_rows / sizeof *counted_rows; i++) {
    for (same_layout how = SAME_PLAIN; how < (counted_rows[i].any_layout ? SAME_LAYOUTS : SAME_TURNED); how++) {
      check_row(&counted_rows[i], (int)i, ND4C_INT32, how);
      check_row(&counted_rows[i], (int)i, ND4C_INT64, how);
    }
  }
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
}

/* Rows that are gathered, rotated or blended, by several threads. */
static const row float_rows[] = {
    {ND4C_OP_embedding_bag, 2, 1, {X(2, 90, 75), INDEX(2, 0, 89, 130, 9)}, {INT("padding_index", 3)}, false, true},
    {ND4C_OP_embedding_bag, 2, 1, {X(2, 90, 75), INDEX(2, 0, 89, 130, 9)}, {INT("mode", 2)}, false, true},
    {ND4C_OP_crop_and_resize,
     3,
     1,
     {X4(2, 30, 40, 3), {2, {40, 4}, ND4C_FLOAT32, 0, 2}, INDEX(1, 0, 1, 40)},
     {INTS("size", 16, 17)},
     false,
     true},
    {ND4C_OP_fake_quantize,
     3,
     0,
     {X(2, 90, 1300), {2, {90, 1}, ND4C_DTYPE_NONE, -9, 9}, {2, {90, 1}, ND4C_DTYPE_NONE, 0, 90}},
     {{0}},
     false,
     true},
    {ND4C_OP_affine_grid, 1, 1, {X(3, 5, 2, 3)}, {INTS("size", 5, 1, 61, 60)}, false, true},
    {ND4C_OP_affine_grid, 1, 1, {X(3, 5, 3, 4)}, {INTS("size", 5, 1, 17, 9, 20)}, false, true},
    {ND4C_OP_rotary_embedding, 3, 0, {X4(2, 5, 61, 46), X(3, 2, 61, 23), X(3, 2, 61, 23)}, {{0}}, false, true},
    {ND4C_OP_rotary_embedding,
     3,
     3,
     {X(3, 2, 61, 230), X(3, 2, 61, 17), X(3, 2, 61, 17)},
     {INT("heads", 5), INT("interleaved", 1), INT("rotary_dim", 34)},
     false,
     true},
};

static void test_float_rows(void **state) {
  (void)state;
  static const nd4c_dtype floats[] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_FLOAT16, ND4C_BFLOAT16};
  for (size_t i = 0; i < sizeof float_rows / sizeof *float_rows; i++) {
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
      check_row(&float_rows[i], (int)i, floats[k], SAME_PLAIN);
    }
  }
}

static void test_sequence_mask(void **state) {
  (void)state;
  static const int64_t shape[2] = {3, 4};
  static const nd4c_dtype results[] = {ND4C_BOOL, ND4C_FLOAT32, ND4C_INT64};
  for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
    nd4c_array *lengths = same_array(ND4C_INT32, 2, shape, SAME_PLAIN, -1, 12);
    const nd4c_attr attrs[2] = {INT("maxlen", 9), {"dtype", {.kind = ND4C_ATTR_DTYPE, .as.i = results[i]}}};
    same_check("sequence_mask", ND4C_OP_sequence_mask, (const nd4c_array *const *)&lengths, 1, attrs, 2, 1, "simd");
    nd4c_array_release(lengths);
  }
}

static void test_complex_parts(void **state) {
  (void)state;
  static const int64_t shape[3] = {4, 5, 2};
  static const nd4c_dtype reals[] = {ND4C_FLOAT32, ND4C_FLOAT64};
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    for (same_layout how = SAME_PLAIN; how < SAME_LAYOUTS; how++) {
      nd4c_array *x = same_array(reals[i], 3, shape, how, -5, 11), *z = NULL;
      same_check("view_as_complex", ND4C_OP_view_as_complex, (const nd4c_array *const *)&x, 1, NULL, 0, 1, "simd");
      same_check("view_as_real of reals", ND4C_OP_view_as_real, (const nd4c_array *const *)&x, 1, NULL, 0, 1, "simd");
      assert_int_equal(nd4c_view_as_complex(x, &z), ND4C_OK);
      same_check("view_as_real", ND4C_OP_view_as_real, (const nd4c_array *const *)&z, 1, NULL, 0, 1, "simd");
      nd4c_array_release(z);
      nd4c_array_release(x);
    }
  }
}

/* -- elements of sets ---------------------------------------------------------------------------------------------- */

static void check_sets(const nd4c_array *a, const nd4c_array *b) {
  static const struct {
    const char *name;
    nd4c_op op;
  } ops[] = {{"isin", ND4C_OP_isin},
             {"union1d", ND4C_OP_union1d},
             {"intersect1d", ND4C_OP_intersect1d},
             {"setdiff1d", ND4C_OP_setdiff1d},
             {"setxor1d", ND4C_OP_setxor1d}};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    const nd4c_array *both[2] = {a, b}, *turned[2] = {b, a};
    same_check(ops[i].name, ops[i].op, both, 2, NULL, 0, 1, "simd");
    same_check(ops[i].name, ops[i].op, turned, 2, NULL, 0, 1, "simd");
  }
}

static void check_order(const nd4c_array *x) {
  same_check("is_non_decreasing", ND4C_OP_is_non_decreasing, &x, 1, NULL, 0, 1, "simd");
  same_check("is_strictly_increasing", ND4C_OP_is_strictly_increasing, &x, 1, NULL, 0, 1, "simd");
}

/* NaN equal nothing; zeros of both signs are one element, with the sign of the first. */
static void test_special_elements(void **state) {
  (void)state;
  const double a[] = {3, NAN, -0.0, 1e300, 0.0, -INFINITY, NAN, 7}, b[] = {NAN, 0.0, 3, -0.0, INFINITY, 1e300};
  const int64_t a_count = 8, b_count = 6, none = 0;
  nd4c_array *x = NULL, *y = NULL, *empty = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT64, 1, &a_count, a, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT64, 1, &b_count, b, NULL, &y), ND4C_OK);
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT64, 1, &none, NULL, &empty), ND4C_OK);
  check_sets(x, y);
  check_sets(x, empty);
  check_order(x);
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_array_release(empty);
}

/* Keys that are too far apart for a table, and many elements of both. */
static void test_wide_sets(void **state) {
  (void)state;
  static const int64_t shapes[2] = {5000, 70};
  static const nd4c_dtype wide[] = {ND4C_INT64, ND4C_INT32, ND4C_FLOAT32};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
    nd4c_array *a = same_array(wide[i], 1, &shapes[0], SAME_PLAIN, -(1 << 30), 1 << 30), *b = NULL;
    const int64_t step = 71;
    assert_int_equal(nd4c_array_as_strided(a, 1, &shapes[1], &step, 0, &b), ND4C_OK);
    check_sets(a, b);
    nd4c_array_release(b);
    nd4c_array_release(a);
  }
}

/* Many elements of few different ones, which are marked. */
static void test_many_of_few(void **state) {
  (void)state;
  static const int64_t shapes[2] = {70000, 90};
  static const nd4c_dtype few[] = {ND4C_BOOL, ND4C_UINT8, ND4C_INT16, ND4C_FLOAT16, ND4C_BFLOAT16};
  for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
    const int64_t low = few[i] == ND4C_BOOL || few[i] == ND4C_UINT8 ? 0 : -90;
    nd4c_array *a = same_array(few[i], 1, &shapes[0], SAME_PLAIN, low, 200);
    nd4c_array *b = same_array(few[i], 1, &shapes[1], SAME_PLAIN, 100, 150);
    check_sets(a, b);
    nd4c_array_release(b);
    nd4c_array_release(a);
  }
}

/* Ascending sequences, with one place out of order around the ends of blocks. */
static void test_order(void **state) {
  (void)state;
  static const int64_t places[] = {0, 1, 2, 1022, 1023, 1024, 2047, 2999};
  int64_t values[3000];
  const int64_t count = 3000;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    for (int64_t change = -1; change <= 1; change++) {
      for (int64_t k = 0; k < count; k++) {
        values[k] = k + (k == places[i] ? 2 * change : 0);
      }
      nd4c_array *x = NULL, *narrow = NULL;
      assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, &count, values, NULL, &x), ND4C_OK);
      assert_int_equal(nd4c_cast(x, ND4C_FLOAT32, &narrow), ND4C_OK);
      check_order(x);
      check_order(narrow);
      nd4c_array_release(x);
      nd4c_array_release(narrow);
    }
  }
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

static void test_indices_out_of_range(void **state) {
  (void)state;
  static const int64_t shape[2] = {5, 6}, one = 1;
  nd4c_array *x = same_array(ND4C_FLOAT32, 2, shape, SAME_PLAIN, 0, 9), *y = NULL;
  nd4c_array *index = same_array(ND4C_INT64, 1, &one, SAME_PLAIN, 6, 1),
             *value = same_array(ND4C_FLOAT32, 0, NULL, SAME_PLAIN, 1, 1);
  const nd4c_array *fill[3] = {x, index, value}, *sequence[2] = {x, NULL};
  const nd4c_attr axis = INT("axis", 0);
  assert_int_equal(nd4c_op_call(NULL, ND4C_OP_index_fill, fill, 3, &axis, 1, &y, 1), ND4C_INDEX);
  assert_non_null(strstr(nd4c_error_message(), "index_fill: indices[0] is 6"));
  nd4c_array *lengths = same_array(ND4C_INT64, 1, &shape[1], SAME_PLAIN, 6, 1);
  sequence[1] = lengths;
  assert_int_equal(nd4c_op_call(NULL, ND4C_OP_reverse_sequence, sequence, 2, NULL, 0, &y, 1), ND4C_INDEX);
  assert_non_null(strstr(nd4c_error_message(), "reverse_sequence: lengths[0] is 6, expected 0 to 5"));
  nd4c_array *all[] = {x, index, value, lengths};
  same_free(all, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),          cmocka_unit_test(test_float_rows),
      cmocka_unit_test(test_counted_rows),  cmocka_unit_test(test_sequence_mask),
      cmocka_unit_test(test_complex_parts), cmocka_unit_test(test_special_elements),
      cmocka_unit_test(test_wide_sets),     cmocka_unit_test(test_many_of_few),
      cmocka_unit_test(test_order),         cmocka_unit_test(test_indices_out_of_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
