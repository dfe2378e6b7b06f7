/* The kernels of products whose right-hand side is packed (simd.packed_matmul, simd.packed_linear) against engine
 * reference: sizes that fill no panel and no strip, both orders of the weights, addends and activations; how exact long
 * sums are; and results that do not depend on the width. */
#include <math.h>

#include "backends/cpu/simd/simd.h"
#include "kernels/kernel_call.h"

/* A linear of x [m, k]; addend: of the result's shape. */
typedef struct product_case {
  int64_t m, k, n;
  bool transposed, bias, addend;
  int64_t activation;
  layout x;
} product_case;

static const product_case cases[] = {
    {70, 128, 64, false, false, false, ND4C_ACTIVATION_NONE, C_ORDER},
    {67, 300, 129, false, true, false, ND4C_ACTIVATION_GELU, C_ORDER},
    {75, 257, 33, true, true, true, ND4C_ACTIVATION_NONE, C_ORDER},
    {250, 96, 520, true, false, true, ND4C_ACTIVATION_RELU, C_ORDER},
    {131, 130, 70, false, true, true, ND4C_ACTIVATION_SWISH, C_ORDER},
    {64, 1000, 31, true, true, false, ND4C_ACTIVATION_TANH, C_ORDER},
    {257, 129, 300, false, true, true, ND4C_ACTIVATION_RELU, C_ORDER},
    {384, 100, 65, true, false, true, ND4C_ACTIVATION_NONE, C_ORDER},
    {613, 391, 70, false, true, true, ND4C_ACTIVATION_RELU, C_ORDER},
    {8, 700, 47, true, true, true, ND4C_ACTIVATION_RELU, C_ORDER},
    {31, 96, 47, true, true, true, ND4C_ACTIVATION_RELU, C_ORDER},
};

/* With AVX2 few rows are packed, too; one row passes four panels at a time. */
static const product_case few_rows[] = {
    {1, 300, 129, false, true, false, ND4C_ACTIVATION_GELU, C_ORDER},
    {1, 128, 256, false, false, false, ND4C_ACTIVATION_NONE, C_ORDER},
    {1, 385, 127, true, true, true, ND4C_ACTIVATION_RELU, C_ORDER},
    {1, 1000, 63, false, false, true, ND4C_ACTIVATION_NONE, C_ORDER},
    {1, 129, 1100, true, true, true, ND4C_ACTIVATION_SWISH, C_ORDER},
    {2, 257, 70, true, true, true, ND4C_ACTIVATION_RELU, C_ORDER},
    {3, 130, 200, false, false, true, ND4C_ACTIVATION_NONE, C_ORDER},
    {5, 500, 33, false, true, false, ND4C_ACTIVATION_TANH, C_ORDER},
};

static const nd4c_kernel *packed_kernel(const char *op) {
  char name[TEXT_SIZE];
  (void)snprintf(name, sizeof name, "simd.packed_%s", op);
  const nd4c_kernel *kernel = named_kernel(op, name);
  assert_non_null(kernel);
  return kernel;
}

static void make_linear(const product_case *c, call_frame *frame) {
  add_operand(frame, ND4C_IN_linear_x, 2, (int64_t[]){c->m, c->k}, c->x);
  add_operand(frame, ND4C_IN_linear_w, 2, c->transposed ? (int64_t[]){c->n, c->k} : (int64_t[]){c->k, c->n}, C_ORDER);
  if (c->bias) {
    add_operand(frame, ND4C_IN_linear_bias, 1, (int64_t[]){c->n}, C_ORDER);
  }
  if (c->addend) {
    add_operand(frame, ND4C_IN_linear_addend, 2, (int64_t[]){c->m, c->n}, C_ORDER);
  }
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find("linear", &info), ND4C_OK);
  const nd4c_attr attrs[] = {{"transpose_w", {.kind = ND4C_ATTR_BOOL, .as.i = c->transposed}},
                             {"activation", {.kind = ND4C_ATTR_INT, .as.i = c->activation}}};
  nd4c_attr_value values[MAX_ATTRS];
  assert_int_equal(nd4c_op_resolve_attrs(info, attrs, 2, values), ND4C_OK);
  ready(frame, "linear", ND4C_IN_linear_count, values, C_ORDER);
  frame->inputs[ND4C_IN_linear_w].flags |= ND4C_TENSOR_CONSTANT;
}

/* True, and the test ends, where engine simd leaves these products to the libraries. */
static bool is_left_to_libraries(void) {
  call_frame frame = {.output.rank = 0};
  char reason[TEXT_SIZE] = "";
  make_linear(&cases[0], &frame);
  bool usable = packed_kernel("linear")->usable(&frame.call, reason, sizeof reason);
  release(&frame);
  if (!usable) {
    assert_string_equal(reason, "without AVX2 the libraries are faster");
  }
  return !usable;
}

static bool nearly_equal(double got, double expected) {
  return fabs(got - expected) <= 1e-5 * fmax(1, fabs(expected));
}

static void check_reference(const product_case *each, size_t count) {
  for (size_t i = 0; i < count; i++) {
    call_frame frame = {.output.rank = 0};
    make_linear(&each[i], &frame);
    compare_with_reference(&frame, packed_kernel("linear"), ND4C_IN_linear_w, nearly_equal, (int32_t)i);
    release(&frame);
  }
}

static void test_agrees_with_reference(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  check_reference(cases, sizeof cases / sizeof *cases);
  if (nd4c_simd_level_is("avx2")) {
    check_reference(few_rows, sizeof few_rows / sizeof *few_rows);
  }
}

/* Each number of columns in the last panel, rows that fill no strip, and each activation. */
static void test_each_part_of_a_panel(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (int32_t n = 1; n <= 66; n++) {
    const product_case c = {nd4c_simd_level_is("avx2") ? 4 + n % 15 : 64 + n,
                            n % 3 == 0 ? 131 : 69,
                            n,
                            n % 5 < 2,
                            n % 2 == 0,
                            n % 4 < 2,
                            n % (ND4C_ACTIVATION_RELU6 + 1),
                            C_ORDER};
    char reason[TEXT_SIZE];
    call_frame frame = {.output.rank = 0};
    make_linear(&c, &frame);
    if (packed_kernel("linear")->usable(&frame.call, reason, sizeof reason)) {
      compare_with_reference(&frame, packed_kernel("linear"), ND4C_IN_linear_w, nearly_equal, n);
    } else {
      assert_true(c.m * c.k * c.n < 8192);
    }
    release(&frame);
  }
}

static void check_widths(const product_case *c) {
  call_frame frame = {.output.rank = 0};
  make_linear(c, &frame);
  run_packed_kernel(packed_kernel("linear"), ND4C_IN_linear_w, &frame);
  double *expected = result_numbers(&frame);
  for (int32_t width = 1; width <= 5; width += 2) {
    frame.call.width = width;
    run_packed_kernel(packed_kernel("linear"), ND4C_IN_linear_w, &frame);
    double *got = result_numbers(&frame);
    assert_memory_equal(got, expected, (size_t)frame.output.size * sizeof *got);
    free(got);
  }
  free(expected);
  release(&frame);
}

/* Workers cut the product elsewhere, and each sum stays the same. */
static void test_width_does_not_show(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_widths(&cases[i]);
  }
  for (size_t i = 0; nd4c_simd_level_is("avx2") && i < sizeof few_rows / sizeof *few_rows; i++) {
    check_widths(&few_rows[i]);
  }
}

static void make_matmul(int64_t m, int64_t k, int64_t n, layout b, call_frame *frame) {
  add_operand(frame, ND4C_IN_matmul_a, 2, (int64_t[]){m, k}, C_ORDER);
  add_operand(frame, ND4C_IN_matmul_b, 2, (int64_t[]){k, n}, b);
  ready(frame, "matmul", ND4C_IN_matmul_count, (nd4c_attr_value[MAX_ATTRS]){{0}}, C_ORDER);
  frame->inputs[ND4C_IN_matmul_b].flags |= ND4C_TENSOR_CONSTANT;
}

/* The root of the mean of squared errors. */
static double error_of(const double *y, const double *exact, int64_t count) {
  double total = 0;
  for (int64_t i = 0; i < count; i++) {
    total += (y[i] - exact[i]) * (y[i] - exact[i]);
  }
  return sqrt(total / (double)count);
}

/* Long sums are made of short ones: their error is at most 0.4 of that of sums that add one product after the other,
 * whatever the order of b. */
static void test_long_sums_are_exact(void **state) {
  enum { M = 72, K = 3072, N = 64 };
  static double exact[M * N], plain[M * N];
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (layout order = C_ORDER; order <= SWAPPED; order += SWAPPED - C_ORDER) {
    call_frame frame = {.output.rank = 0};
    make_matmul(M, K, N, order, &frame);
    const operand *a = &frame.operands[ND4C_IN_matmul_a], *b = &frame.operands[ND4C_IN_matmul_b];
    for (int64_t i = 0; i < M * N; i++) {
      float sum = 0;
      exact[i] = 0;
      for (int64_t k = 0; k < K; k++) {
        float x = ((const float *)a->memory)[i / N * K + k];
        float w = ((const float *)b->memory)[k * b->strides[0] + i % N * b->strides[1]];
        exact[i] += (double)x * (double)w;
        sum = fmaf(x, w, sum);
      }
      plain[i] = (double)sum;
    }
    run_packed_kernel(packed_kernel("matmul"), ND4C_IN_matmul_b, &frame);
    double *got = result_numbers(&frame);
    double error = error_of(got, exact, M * N), chain = error_of(plain, exact, M * N);
    if (!(error <= 0.4 * chain)) {
      fail_msg("error %.3g, of one sum %.3g", error, chain);
    }
    free(got);
    release(&frame);
  }
}

/* A large addend, as that of a residual connection, is added once: results are rounded as one sum of two numbers is. */
static void check_addend(const product_case *residual, const char *kernel) {
  call_frame frame = {.output.rank = 0};
  make_linear(residual, &frame);
  float *addend = frame.operands[ND4C_IN_linear_addend].memory;
  for (int64_t i = 0; i < residual->m * residual->n; i++) {
    addend[i] = 1024 + 512 * addend[i]; /* as large as ten thousand of the product's roundings */
  }
  run_kernel(engine_kernel("linear", "reference"), &frame);
  double *expected = result_numbers(&frame);
  const nd4c_kernel *tested = named_kernel("linear", kernel);
  assert_non_null(tested);
  if (tested->wants_layout != NULL) {
    run_packed_kernel(tested, ND4C_IN_linear_w, &frame);
  } else {
    run_kernel(tested, &frame);
  }
  double *got = result_numbers(&frame);
  const double unit = 0x1p-13; /* in the last place of numbers from 1024 on */
  const double error = error_of(got, expected, frame.output.size) / unit;
  if (!(error <= 0.6)) {
    fail_msg("%s: error %.3g units", kernel, error);
  }
  free(expected);
  free(got);
  release(&frame);
}

static void test_addend_is_added_once(void **state) {
  const product_case rows = {72, 3072, 64, false, true, true, ND4C_ACTIVATION_NONE, C_ORDER};
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  check_addend(&rows, "simd.packed_linear");
}

/* A decoder's products have one row, and weights that are read where they lie. */
static void test_addend_of_few_rows_is_added_once(void **state) {
  (void)state;
  for (int64_t m = 1; m <= 3; m++) {
    const product_case few = {m, 3072, 1111, false, false, true, ND4C_ACTIVATION_NONE, C_ORDER};
    check_addend(&few, "simd.linear");
  }
}

/* Equal square weights by rows and by columns are two layouts: dispatch shares packed forms of one layout. */
static void test_layout_knows_the_order(void **state) {
  const product_case by_rows = {68, 64, 64, false, false, false, ND4C_ACTIVATION_NONE, C_ORDER};
  product_case by_columns = by_rows;
  nd4c_layout layouts[2];
  (void)state;
  by_columns.transposed = true;
  for (int32_t i = 0; i < 2; i++) {
    call_frame frame = {.output.rank = 0};
    make_linear(i == 0 ? &by_rows : &by_columns, &frame);
    layouts[i] = (nd4c_layout){.struct_size = ND4C_SIZE_OF(nd4c_layout)};
    assert_true(packed_kernel("linear")->wants_layout(&frame.call, ND4C_IN_linear_w, &layouts[i]));
    assert_false(packed_kernel("linear")->wants_layout(&frame.call, ND4C_IN_linear_x, &layouts[i]));
    release(&frame);
  }
  assert_true(nd4c_layout_equal(&layouts[0], &layouts[0]));
  assert_false(nd4c_layout_equal(&layouts[0], &layouts[1]));
}

static void expect_decline(call_frame *frame, const char *text) {
  char reason[TEXT_SIZE] = "";
  assert_false(packed_kernel("linear")->usable(&frame->call, reason, sizeof reason));
  assert_string_equal(reason, text);
}

/* A caller without room for the reason gets none. */
static void test_declines_without_room(void **state) {
  call_frame frame = {.output.rank = 0};
  char reason[] = "as before";
  (void)state;
  make_linear(&cases[0], &frame);
  frame.inputs[ND4C_IN_linear_w].flags = 0;
  assert_false(packed_kernel("linear")->usable(&frame.call, reason, 0));
  assert_string_equal(reason, "as before");
  assert_false(packed_kernel("linear")->usable(&frame.call, reason, 4));
  assert_string_equal(reason, "the");
  release(&frame);
}

static void test_declines(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  call_frame frame = {.output.rank = 0};
  make_linear(&cases[0], &frame);
  void *prepared = NULL;
  assert_int_equal(packed_kernel("linear")->prepare(&frame.call, &prepared), ND4C_UNSUPPORTED);
  frame.inputs[ND4C_IN_linear_w].flags = 0;
  expect_decline(&frame, "the right-hand side is not constant");
  release(&frame);
  const bool avx2 = nd4c_simd_level_is("avx2");
  const product_case few = {avx2 ? 1 : 7, avx2 ? 64 : 512, avx2 ? 64 : 512,      false,
                            false,        false,           ND4C_ACTIVATION_NONE, C_ORDER};
  call_frame small = {.output.rank = 0};
  make_linear(&few, &small);
  expect_decline(&small, "a batch, few rows, or few multiplications");
  release(&small);
  const product_case gaps = {68, 128, 64, false, false, false, ND4C_ACTIVATION_NONE, SPARSE};
  call_frame sparse = {.output.rank = 0};
  make_linear(&gaps, &sparse);
  expect_decline(&sparse, "rows have gaps");
  release(&sparse);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_agrees_with_reference),  cmocka_unit_test(test_each_part_of_a_panel),
      cmocka_unit_test(test_width_does_not_show),    cmocka_unit_test(test_long_sums_are_exact),
      cmocka_unit_test(test_addend_is_added_once),   cmocka_unit_test(test_addend_of_few_rows_is_added_once),
      cmocka_unit_test(test_layout_knows_the_order), cmocka_unit_test(test_declines),
      cmocka_unit_test(test_declines_without_room)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
