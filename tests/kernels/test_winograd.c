/* The conv kernel that transforms its cells and filters (simd.conv_winograd) against engine reference: sizes that fill
 * no tile, padding, addends and activations, and values that are not finite. */
#include "conv_call.h"

#define HUGE_CELL 3e38F /* sums of such cells overflow */

static const conv_case cases[] = {
    {4,
     {1, 16, 16, 16},
     {32, 16, 3, 3},
     {1, 1, 1},
     {1, 1, 1},
     {1, 1, 1, 1},
     ND4C_ACTIVATION_NONE,
     false,
     false,
     CHANNELS_LAST},
    {4,
     {1, 17, 13, 15},
     {33, 17, 3, 3},
     {1, 1, 1},
     {1, 1, 1},
     {1, 1, 1, 1},
     ND4C_ACTIVATION_RELU,
     true,
     false,
     CHANNELS_LAST},
    {4,
     {3, 40, 9, 8},
     {50, 40, 3, 3},
     {1, 1, 1},
     {1, 1, 1},
     {1, 0, 0, 1},
     ND4C_ACTIVATION_RELU,
     true,
     true,
     CHANNELS_LAST},
    {4,
     {1, 70, 12, 29},
     {70, 70, 3, 3},
     {1, 1, 1},
     {1, 1, 1},
     {0, 0, 0, 0},
     ND4C_ACTIVATION_NONE,
     false,
     true,
     CHANNELS_LAST},
    {4,
     {1, 64, 30, 31},
     {96, 64, 3, 3},
     {1, 1, 1},
     {1, 1, 1},
     {2, 1, 0, 2},
     ND4C_ACTIVATION_SIGMOID,
     true,
     false,
     CHANNELS_LAST},
};

static const nd4c_kernel *winograd_kernel(void) {
  const nd4c_kernel *kernel = named_kernel("conv", "simd.conv_winograd");
  assert_non_null(kernel);
  return kernel;
}

/* NaN and infinities are compared exactly. Sums are as exact as the largest product in them, which HUGE_CELL dwarfs. */
static bool nearly_equal(double got, double expected) {
  const double scale = fabs(expected) > 1e6 ? (double)HUGE_CELL : fmax(1, fabs(expected));
  return isfinite(expected) ? fabs(got - expected) <= 2e-5 * scale : got == expected || (isnan(got) && isnan(expected));
}

static void test_agrees_with_reference(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    call_frame frame = {.output.rank = 0};
    make_conv(&cases[i], &frame);
    compare_with_reference(&frame, winograd_kernel(), ND4C_IN_conv_w, nearly_equal, (int32_t)i);
    release(&frame);
  }
}

/* Infinities, NaN and sums beyond the range of f32 on the way: the results are those of the sum that defines conv. */
static void test_values_that_are_not_finite(void **state) {
  static const float values[] = {INFINITY, -INFINITY, NAN, HUGE_CELL};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    call_frame frame = {.output.rank = 0};
    make_conv(&cases[i], &frame);
    const operand *x = &frame.operands[ND4C_IN_conv_x];
    for (int64_t k = 0; k < 8; k++) {
      int64_t index[4] = {x->shape[0] - 1, k * 5 % x->shape[1], k * 3 % x->shape[2], k * 7 % x->shape[3]};
      ((float *)x->memory)[nd4c_index_offset(4, index, x->strides)] = values[k % 4];
    }
    compare_with_reference(&frame, winograd_kernel(), ND4C_IN_conv_w, nearly_equal, (int32_t)i);
    release(&frame);
  }
}

/* Transforms make terms larger than the result, and their roundings: with sums of 128 channels
 * the error was 3.6e-7 here, with sums of 32 it is 2.2e-7.
 */
static void test_is_exact(void **state) {
  const conv_case deep = {4,         {1, 256, 14, 14}, {32, 256, 3, 3},      {1, 1, 1},
                          {1, 1, 1}, {1, 1, 1, 1},     ND4C_ACTIVATION_NONE, true,
                          false,     CHANNELS_LAST};
  (void)state;
  double error = conv_error(&deep, winograd_kernel());
  if (!(error <= 2.7e-7)) {
    fail_msg("error %.3g", error);
  }
}

static void expect_decline(call_frame *frame, const char *text) {
  char reason[TEXT_SIZE] = "";
  assert_false(winograd_kernel()->usable(&frame->call, reason, sizeof reason));
  assert_string_equal(reason, text);
}

static void test_declines(void **state) {
  (void)state;
  call_frame frame = {.output.rank = 0};
  make_conv(&cases[0], &frame);
  nd4c_tensor *w = &frame.inputs[ND4C_IN_conv_w];
  w->flags = 0;
  expect_decline(&frame, "the weights are not constant");
  w->flags = ND4C_TENSOR_CONSTANT;
  void *prepared = NULL;
  assert_int_equal(winograd_kernel()->prepare(&frame.call, &prepared), ND4C_UNSUPPORTED);
  ((float *)frame.operands[ND4C_IN_conv_w].memory)[100] = INFINITY;
  nd4c_layout wanted = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  assert_true(winograd_kernel()->wants_layout(&frame.call, ND4C_IN_conv_w, &wanted));
  nd4c_tensor packed = *w;
  packed.data = malloc((size_t)wanted.bytes);
  assert_int_equal(winograd_kernel()->pack(&frame.call, ND4C_IN_conv_w, &wanted, &packed), ND4C_UNSUPPORTED);
  free(packed.data);
  release(&frame);

  const conv_case few = {4,     {1, 8, 16, 16}, {32, 8, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1}, ND4C_ACTIVATION_NONE,
                         false, false,          CHANNELS_LAST};
  call_frame small = {.output.rank = 0};
  make_conv(&few, &small);
  expect_decline(&small, "few channels, or few results");
  release(&small);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees_with_reference),
                                     cmocka_unit_test(test_values_that_are_not_finite), cmocka_unit_test(test_is_exact),
                                     cmocka_unit_test(test_declines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
