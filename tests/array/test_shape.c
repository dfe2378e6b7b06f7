/* Sizes and bounds of shapes, broadcasting, reshaping without a copy, lists of axes: src/array/shape.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array/shape.h"
#include "nd4c/array.h"

#define BIG (INT64_C(1) << 31)

static const struct {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[4];
  nd4c_status status;
  int64_t size;
  const char *text;
} sizes[] = {
    {ND4C_FLOAT32, 0, {0}, ND4C_OK, 1, ""},
    {ND4C_FLOAT32, 3, {2, 3, 4}, ND4C_OK, 24, ""},
    {ND4C_FLOAT32, 3, {2, 0, 4}, ND4C_OK, 0, ""},
    {ND4C_INT8, 2, {BIG, BIG}, ND4C_OK, INT64_C(1) << 62, ""},
    {ND4C_FLOAT32,
     2,
     {BIG, BIG},
     ND4C_OVERFLOW,
     0,
     "shape (2147483648, 2147483648) of float32: more bytes than int64 can count"},
    {ND4C_FLOAT32,
     3,
     {BIG, BIG, 0},
     ND4C_OVERFLOW,
     0,
     "shape (2147483648, 2147483648, 0) of float32: more bytes than int64 can count"},
    {ND4C_FLOAT32, 2, {2, -1}, ND4C_SHAPE, 0, "shape (2, -1): axis 1 is negative"},
    {ND4C_FLOAT32, 33, {1}, ND4C_SHAPE, 0, "rank 33: expected 0 to 32"},
    {ND4C_FLOAT32, -1, {1}, ND4C_SHAPE, 0, "rank -1: expected 0 to 32"},
    {0, 1, {1}, ND4C_DTYPE, 0, "dtype ? (0) is not a dtype of this build"},
};

static void test_size(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    int64_t size = 0;
    nd4c_error_clear();
    assert_int_equal(nd4c_shape_size(sizes[i].dtype, sizes[i].rank, sizes[i].shape, &size), sizes[i].status);
    assert_string_equal(nd4c_error_message(), sizes[i].text);
    assert_int_equal(size, sizes[i].size);
  }
  int64_t size;
  assert_int_equal(nd4c_shape_size(ND4C_INT8, 1, NULL, &size), ND4C_NULL_ARGUMENT);
}

static const struct {
  int32_t rank;
  int64_t shape[3], strides[3];
  bool contiguous;
  int64_t low, high;
} layouts[] = {
    {0, {0}, {0}, true, 0, 0},        {1, {4}, {1}, true, 0, 3},          {1, {4}, {-1}, false, -3, 0},
    {1, {4}, {0}, false, 0, 0},       {1, {1}, {77}, true, 0, 0},         {2, {2, 3}, {3, 1}, true, 0, 5},
    {2, {2, 3}, {1, 2}, false, 0, 5}, {2, {2, 3}, {4, 1}, false, 0, 6},   {3, {2, 1, 3}, {3, 99, 1}, true, 0, 5},
    {2, {0, 3}, {5, 7}, true, 0, -1}, {2, {3, 3}, {-3, 1}, false, -6, 2},
};

static void test_layouts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
    int64_t low = 9, high = 9;
    if (nd4c_shape_is_contiguous(layouts[i].rank, layouts[i].shape, layouts[i].strides) != layouts[i].contiguous ||
        !nd4c_layout_bounds(layouts[i].rank, layouts[i].shape, layouts[i].strides, &low, &high) ||
        low != layouts[i].low || high != layouts[i].high) {
      fail_msg("layout %zu: bounds %lld to %lld", i, (long long)low, (long long)high);
    }
  }
  int64_t shape[] = {3, 3}, strides[] = {INT64_MAX / 2, INT64_MAX / 2}, low, high;
  assert_false(nd4c_layout_bounds(2, shape, strides, &low, &high));
  strides[0] = INT64_MAX;
  assert_false(nd4c_layout_bounds(1, shape, strides, &low, &high));
}

static const struct {
  int32_t a_rank;
  int64_t a[3];
  int32_t b_rank;
  int64_t b[3];
  int32_t rank; /* -1: refused */
  int64_t shape[3];
} broadcasts[] = {
    {0, {0}, 0, {0}, 0, {0}},
    {1, {3}, 0, {0}, 1, {3}},
    {2, {2, 3}, 1, {3}, 2, {2, 3}},
    {2, {2, 1}, 1, {3}, 2, {2, 3}},
    {3, {4, 1, 3}, 2, {2, 1}, 3, {4, 2, 3}},
    {1, {0}, 1, {1}, 1, {0}},
    {1, {2}, 1, {3}, -1, {0}},
    {1, {0}, 1, {2}, -1, {0}},
};

static void test_broadcast(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof broadcasts / sizeof broadcasts[0]; i++) {
    int32_t rank = -1;
    int64_t shape[ND4C_MAX_RANK];
    nd4c_status status = nd4c_shape_broadcast(broadcasts[i].a_rank, broadcasts[i].a, broadcasts[i].b_rank,
                                              broadcasts[i].b, &rank, shape);
    assert_int_equal(status, broadcasts[i].rank < 0 ? ND4C_SHAPE : ND4C_OK);
    assert_int_equal(rank, broadcasts[i].rank);
    for (int32_t k = 0; k < rank; k++) {
      assert_int_equal(shape[k], broadcasts[i].shape[k]);
    }
  }
  int64_t a[] = {2, 3}, b[] = {4}, shape[ND4C_MAX_RANK];
  int32_t rank;
  assert_int_equal(nd4c_shape_broadcast(2, a, 1, b, &rank, shape), ND4C_SHAPE);
  assert_string_equal(nd4c_error_message(),
                      "shapes (2, 3) and (4,) do not broadcast: axis 1 from the end has 3 and 4 elements");
  int64_t to[] = {5, 2, 3}, from[] = {1, 3}, from_strides[] = {7, 2}, strides[3];
  nd4c_broadcast_strides(3, to, 2, from, from_strides, strides);
  assert_int_equal(strides[0], 0);
  assert_int_equal(strides[1], 0);
  assert_int_equal(strides[2], 2);
}

/* Offset of the element with C-order number `number`. */
static int64_t element_offset(int32_t rank, const int64_t *shape, const int64_t *strides, int64_t number) {
  int64_t offset = 0;
  for (int32_t i = rank - 1; i >= 0; i--) {
    offset += number % shape[i] * strides[i];
    number /= shape[i];
  }
  return offset;
}

/* Random layouts and new shapes: where strides are given, every element is where it was; a gap-free one is never
 * refused; a refusal is right, as no strides would do. */
static void test_reshape(void **state) {
  (void)state;
  srand(3);
  int given = 0, refused = 0;
  for (int round = 0; round < 20000; round++) {
    static const int64_t extents[] = {1, 1, 2, 2, 3, 4};
    int32_t rank = rand() % 5, new_rank = 0;
    int64_t shape[8], strides[8], new_shape[16], new_strides[16], step = 1, size = 1;
    for (int32_t i = rank - 1; i >= 0; i--) {
      shape[i] = extents[rand() % 6];
      strides[i] = rand() % 4 == 0 ? step + rand() % 3 - 2 : step;
      step = strides[i] * shape[i];
      size *= shape[i];
    }
    for (int64_t left = size; left > 1 || rand() % 3 == 0;) {
      int64_t part = rand() % 3 == 0 ? 1 : left % 2 == 0 && rand() % 2 ? 2 : left % 3 == 0 ? 3 : left;
      new_shape[new_rank++] = part;
      left /= part;
      if (new_rank == 16) {
        break;
      }
    }
    int64_t new_size = 1;
    for (int32_t i = 0; i < new_rank; i++) {
      new_size *= new_shape[i];
    }
    if (new_size != size) {
      continue;
    }
    bool can = nd4c_reshape_strides(rank, shape, strides, new_rank, new_shape, new_strides);
    assert_true(can || !nd4c_shape_is_contiguous(rank, shape, strides));
    given += can;
    refused += !can;
    for (int64_t n = 0; can && n < size; n++) {
      assert_int_equal(element_offset(rank, shape, strides, n), element_offset(new_rank, new_shape, new_strides, n));
    }
  }
  assert_true(given > 1000 && refused > 100);
  int64_t empty[] = {0, 3}, odd[] = {77, -5}, to[] = {3, 0, 2}, out[3];
  assert_true(nd4c_reshape_strides(2, empty, odd, 3, to, out));
}

static void test_strides_like(void **state) {
  (void)state;
  int64_t shape[] = {2, 3, 4}, c_order[] = {12, 4, 1}, f_order[] = {1, 2, 6}, middle[] = {4, -8, 1}, none[] = {0, 0, 0};
  int64_t expected_middle[] = {4, 8, 1}, strides[3];
  const struct {
    const int64_t *like[2];
    int32_t count;
    const int64_t *expected;
  } cases[] = {{{c_order}, 1, c_order},          {{f_order}, 1, f_order},
               {{none, f_order}, 2, f_order},    {{none}, 1, c_order},
               {{c_order, f_order}, 2, c_order}, {{f_order, c_order}, 2, f_order},
               {{middle}, 1, expected_middle},   {{NULL}, 0, c_order}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    nd4c_shape_strides_like(3, shape, cases[i].count, cases[i].like, strides);
    for (int k = 0; k < 3; k++) {
      assert_int_equal(strides[k], cases[i].expected[k]);
    }
  }
}

static void test_axis_and_text(void **state) {
  (void)state;
  int32_t axis = 9;
  assert_int_equal(nd4c_axis_normalize(-1, 3, "sum: axis", &axis), ND4C_OK);
  assert_int_equal(axis, 2);
  assert_int_equal(nd4c_axis_normalize(3, 3, "sum: axis", &axis), ND4C_INDEX);
  assert_string_equal(nd4c_error_message(), "sum: axis 3: expected -3 to 2");
  assert_int_equal(nd4c_axis_normalize(0, 0, "sum: axis", &axis), ND4C_INDEX);
  assert_string_equal(nd4c_error_message(), "sum: axis 0: the array has no axes");
  assert_int_equal(axis, 2);
  char text[16], small[8];
  int64_t shape[] = {2, 30, 400};
  assert_string_equal(nd4c_shape_text(3, shape, text, sizeof text), "(2, 30, 400)");
  assert_string_equal(nd4c_shape_text(1, shape, text, sizeof text), "(2,)");
  assert_string_equal(nd4c_shape_text(0, shape, text, sizeof text), "()");
  assert_string_equal(nd4c_shape_text(3, shape, small, sizeof small), "(2, ...");
}

static void test_many_shapes(void **state) {
  (void)state;
  const int64_t a[] = {3, 1}, b[] = {1, 4}, c[] = {2, 1, 1}, d[] = {5}, negative[] = {-1};
  const int64_t *shapes[] = {a, b, c, d};
  const int32_t ranks[] = {2, 2, 3, 1}, high[] = {33}, one[] = {1};
  int64_t shape[ND4C_MAX_RANK] = {7};
  int32_t rank = 9;
  assert_int_equal(nd4c_shapes_broadcast(0, NULL, NULL, &rank, shape), ND4C_OK);
  assert_int_equal(rank, 0);
  assert_int_equal(nd4c_shapes_broadcast(3, ranks, shapes, &rank, shape), ND4C_OK);
  assert_int_equal(rank, 3);
  assert_true(shape[0] == 2 && shape[1] == 3 && shape[2] == 4);
  assert_int_equal(nd4c_shapes_broadcast(4, ranks, shapes, &rank, shape), ND4C_SHAPE);
  assert_string_equal(nd4c_error_message(),
                      "shapes (2, 3, 4) and (5,) do not broadcast: axis 1 from the end has 4 and 5 elements");
  assert_int_equal(rank, 3);
  assert_int_equal(nd4c_shapes_broadcast(1, high, shapes, &rank, shape), ND4C_SHAPE);
  assert_int_equal(nd4c_shapes_broadcast(1, one, (const int64_t *[]){negative}, &rank, shape), ND4C_SHAPE);
  assert_int_equal(nd4c_shapes_broadcast(1, NULL, shapes, &rank, shape), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_shapes_broadcast(-1, ranks, shapes, &rank, shape), ND4C_NULL_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_shapes),   cmocka_unit_test(test_size),    cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_broadcast),     cmocka_unit_test(test_reshape), cmocka_unit_test(test_strides_like),
      cmocka_unit_test(test_axis_and_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
