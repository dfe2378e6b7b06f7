/* The depthwise conv kernel for channels last (simd.conv_depthwise_last) against engine reference, f32 and bfloat16:
 * strides, padding and cells apart, channels that fill no block, activations; results that do not depend on the width;
 * and what it declines. */

#include "nd4c/dtype.h"

static nd4c_dtype tested = ND4C_FLOAT32;
#define CONV_DTYPE tested
#define CONV_GROUPS(c) (c)->x[1]

#include "backends/cpu/simd/simd.h"
#include "conv_call.h"

static const conv_case cases[] = {
    {4, {1, 64, 7, 7}, {64, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, ND4C_ACTIVATION_RELU6, true, false, CHANNELS_LAST},
    {4, {2, 45, 9, 8}, {45, 1, 5, 5}, {2, 2}, {1, 1}, {2, 2, 2, 2}, ND4C_ACTIVATION_NONE, false, false, CHANNELS_LAST},
    {4, {3, 17, 6, 5}, {17, 1, 3, 2}, {1, 1}, {2, 3}, {4, 5, 0, 1}, ND4C_ACTIVATION_SWISH, true, false, CHANNELS_LAST},
    {4,
     {1, 200, 13, 11},
     {200, 1, 7, 7},
     {2, 3},
     {1, 1},
     {3, 3, 3, 3},
     ND4C_ACTIVATION_RELU,
     true,
     false,
     CHANNELS_LAST},
    {4, {1, 2, 1, 40}, {2, 1, 1, 9}, {1, 1}, {1, 1}, {0, 4, 0, 4}, ND4C_ACTIVATION_TANH, false, false, CHANNELS_LAST},
    /* strips of 7, 4, 2 and 1 places, of 3, 5 and 7 taps */
    {4,
     {2, 70, 9, 14},
     {70, 1, 3, 3},
     {1, 1},
     {1, 1},
     {1, 1, 1, 1},
     ND4C_ACTIVATION_HARD_SWISH,
     true,
     false,
     CHANNELS_LAST},
    {4, {1, 33, 5, 13}, {33, 1, 5, 5}, {1, 1}, {2, 1}, {4, 2, 4, 2}, ND4C_ACTIVATION_SWISH, true, false, CHANNELS_LAST},
    {4, {1, 96, 9, 29}, {96, 1, 7, 7}, {2, 2}, {1, 1}, {3, 3, 2, 2}, ND4C_ACTIVATION_RELU6, true, false, CHANNELS_LAST},
    {4, {1, 40, 8, 3}, {40, 1, 7, 7}, {1, 1}, {1, 1}, {3, 3, 3, 3}, ND4C_ACTIVATION_RELU, false, false, CHANNELS_LAST},
    {4, {1, 32, 3, 16}, {32, 1, 1, 3}, {1, 2}, {1, 1}, {0, 0, 0, 9}, ND4C_ACTIVATION_NONE, true, false, CHANNELS_LAST},
    {4, {1, 65, 2, 6}, {65, 1, 2, 5}, {1, 1}, {3, 1}, {5, 2, 3, 2}, ND4C_ACTIVATION_NONE, true, false, CHANNELS_LAST},
    /* windows that see padding only */
    {4, {2, 33, 2, 2}, {33, 1, 2, 2}, {1, 1}, {1, 1}, {2, 2, 2, 2}, ND4C_ACTIVATION_NONE, true, false, CHANNELS_LAST},
};

static const nd4c_kernel *last_kernel(void) {
  const nd4c_kernel *kernel = named_kernel("conv", "simd.conv_depthwise_last");
  assert_non_null(kernel);
  return kernel;
}

/* f32, and bfloat16 where the level's loops have it. */
static int32_t dtypes(void) {
  return nd4c_simd_level_is("avx512") ? 2 : 1;
}

static bool is_left_to_libraries(void) {
  return conv_is_left_to_libraries(last_kernel(), &cases[0]);
}

static void test_agrees_with_reference(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (int32_t narrow = 0; narrow < dtypes(); narrow++) {
    tested = narrow ? ND4C_BFLOAT16 : ND4C_FLOAT32;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const double error = conv_error(&cases[i], last_kernel());
      if (!(error <= (narrow ? 2e-4 : 3e-7))) {
        fail_msg("case %d, narrow %d: error %.3g", (int)i, (int)narrow, error);
      }
    }
  }
  tested = ND4C_FLOAT32;
}

/* Each number of channels in the last block. */
static void test_each_part_of_a_block(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (int32_t channels = 2; channels <= 70; channels++) {
    const int64_t taps = 3 + channels % 3 * 2, stride = 1 + channels % 2;
    const conv_case c = {4,
                         {1, channels, 7, 20},
                         {channels, 1, taps, taps},
                         {stride, stride},
                         {1, 1},
                         {1, 2, 1, 2},
                         channels % (ND4C_ACTIVATION_RELU6 + 1),
                         true,
                         false,
                         CHANNELS_LAST};
    const double error = conv_error(&c, last_kernel());
    if (!(error <= 3e-7)) {
      fail_msg("%d channels: error %.3g", (int)channels, error);
    }
  }
}

static void test_width_does_not_show(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (int32_t narrow = 0; narrow < dtypes(); narrow++) {
    tested = narrow ? ND4C_BFLOAT16 : ND4C_FLOAT32;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      check_conv_widths(last_kernel(), &cases[i]);
    }
  }
  tested = ND4C_FLOAT32;
}

/* NaN and infinities of x and of weights go where the windows see them, and no further. */
static void test_values_that_are_not_finite(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (int32_t activation = 0; activation < 2; activation++) {
    conv_case c = cases[0];
    call_frame frame = {.output.rank = 0};
    c.activation = activation == 0 ? ND4C_ACTIVATION_RELU6 : ND4C_ACTIVATION_RELU;
    make_conv(&c, &frame);
    float *x = (float *)(void *)frame.operands[ND4C_IN_conv_x].memory;
    float *w = (float *)(void *)frame.operands[ND4C_IN_conv_w].memory;
    x[40] = NAN;
    x[700] = INFINITY;
    w[10] = -INFINITY;
    run_kernel(engine_kernel("conv", "reference"), &frame);
    double *expected = result_numbers(&frame);
    run_packed_kernel(last_kernel(), ND4C_IN_conv_w, &frame);
    double *got = result_numbers(&frame);
    for (int64_t i = 0; i < frame.output.size; i++) {
      assert_true(isfinite(expected[i]) ? fabs(got[i] - expected[i]) <= 1e-5
                                        : got[i] == expected[i] || (isnan(got[i]) && isnan(expected[i])));
    }
    free(got);
    free(expected);
    release(&frame);
  }
}

static void expect_decline(const conv_case *c, bool constant, const char *text) {
  const nd4c_kernel *first = named_kernel("conv", "simd.conv_depthwise_last_first");
  call_frame frame = {.output.rank = 0};
  char reason[TEXT_SIZE] = "";
  make_conv(c, &frame);
  frame.inputs[ND4C_IN_conv_w].flags = constant ? ND4C_TENSOR_CONSTANT : 0;
  if (strcmp(text, "oneDNN is faster") == 0) {
    assert_true(last_kernel()->usable(&frame.call, reason, sizeof reason));
  } else {
    assert_false(last_kernel()->usable(&frame.call, reason, sizeof reason));
    assert_string_equal(reason, text);
  }
  assert_true(first->priority > last_kernel()->priority);
  assert_false(first->usable(&frame.call, reason, sizeof reason));
  assert_string_equal(reason, text);
  release(&frame);
}

static void test_declines(void **state) {
  conv_case large = cases[0], many_taps = cases[3], addend = cases[0], first = cases[0];
  void *prepared = NULL;
  call_frame frame = {.output.rank = 0};
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  large.x[2] = nd4c_simd_level_is("avx2") ? 400 : 8;
  large.x[1] = large.w[0] = 16; /* with AVX2 64 channels would come before oneDNN's */
  many_taps.w[2] = 10;
  addend.addend = true;
  first.order = C_ORDER;
  expect_decline(&cases[0], false, "the weights are not constant");
  expect_decline(&large, true, "oneDNN is faster");
  expect_decline(&many_taps, true, "the filter is large");
  expect_decline(&addend, true, "an addend");
  expect_decline(&first, true, "channels do not lie side by side");
  make_conv(&cases[0], &frame);
  assert_int_equal(last_kernel()->prepare(&frame.call, &prepared), ND4C_UNSUPPORTED);
  release(&frame);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_agrees_with_reference), cmocka_unit_test(test_each_part_of_a_block),
      cmocka_unit_test(test_width_does_not_show), cmocka_unit_test(test_values_that_are_not_finite),
      cmocka_unit_test(test_declines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
