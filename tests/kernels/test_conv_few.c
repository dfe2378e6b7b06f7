/* The conv kernel for few input channels (simd.conv_few) against engine reference: strides, padding and cells apart,
 * sizes that fill no tile and no panel, activations; results that do not depend on the width; and what it declines. */
#define CONV_X_ORDER(c) C_ORDER

#include "conv_call.h"

static const conv_case cases[] = {
    {4, {1, 3, 31, 33}, {64, 3, 3, 3}, {2, 2}, {1, 1}, {0}, ND4C_ACTIVATION_RELU, true, false, CHANNELS_LAST},
    {4, {2, 3, 24, 30}, {32, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, ND4C_ACTIVATION_NONE, false, false, CHANNELS_LAST},
    {4, {3, 4, 17, 19}, {49, 4, 4, 4}, {1, 3}, {1, 1}, {2, 0, 1, 3}, ND4C_ACTIVATION_SWISH, true, false, CHANNELS_LAST},
    {4, {1, 1, 40, 29}, {24, 1, 7, 7}, {2, 1}, {2, 3}, {6, 9, 6, 9}, ND4C_ACTIVATION_RELU6, true, false, CHANNELS_LAST},
    {4, {2, 2, 9, 7}, {70, 2, 5, 2}, {1, 1}, {1, 2}, {4, 2, 0, 5}, ND4C_ACTIVATION_RELU, false, false, CHANNELS_LAST},
    {4, {1, 3, 300, 300}, {25, 3, 1, 1}, {3, 3}, {1, 1}, {0}, ND4C_ACTIVATION_TANH, true, false, CHANNELS_LAST},
    /* windows that see padding only */
    {4, {1, 3, 2, 2}, {33, 3, 3, 3}, {1, 1}, {1, 1}, {5, 5, 5, 5}, ND4C_ACTIVATION_NONE, true, false, CHANNELS_LAST},
};

static const nd4c_kernel *few_kernel(void) {
  const nd4c_kernel *kernel = named_kernel("conv", "simd.conv_few");
  assert_non_null(kernel);
  return kernel;
}

static bool is_left_to_libraries(void) {
  return conv_is_left_to_libraries(few_kernel(), &cases[0]);
}

static void test_agrees_with_reference(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  check_conv_cases(few_kernel(), cases, sizeof cases / sizeof *cases);
}

static void test_width_does_not_show(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_conv_widths(few_kernel(), &cases[i]);
  }
}

static void test_values_that_are_not_finite(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  check_conv_not_finite(few_kernel(), &cases[0]);
}

static void expect_decline(const conv_case *c, bool constant, const char *text) {
  check_conv_declined(few_kernel(), c, constant, text);
}

static void test_declines(void **state) {
  static const char limits[] = "many channels, groups, large windows, or few results";
  conv_case many_channels = cases[0], large = cases[3], few_outputs = cases[0], addend = cases[0], first = cases[0],
            wide = cases[0];
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  many_channels.x[1] = many_channels.w[1] = 5;
  large.w[2] = 10;
  few_outputs.w[0] = 7;
  addend.addend = true;
  first.order = C_ORDER;
  expect_decline(&cases[0], false, "the weights are not constant");
  expect_decline(&many_channels, true, limits);
  expect_decline(&large, true, limits);
  expect_decline(&few_outputs, true, limits);
  expect_decline(&addend, true, "an addend");
  wide.x[3] = 2049;
  expect_decline(&wide, true, "rows have gaps, or many columns");
  expect_decline(&first, true, "the result's channels do not lie side by side, or its cells not equally far apart");
}

static void test_infinite_weights(void **state) {
  (void)state;
  check_conv_infinite_weights(few_kernel(), &cases[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees_with_reference),
                                     cmocka_unit_test(test_width_does_not_show),
                                     cmocka_unit_test(test_values_that_are_not_finite), cmocka_unit_test(test_declines),
                                     cmocka_unit_test(test_infinite_weights)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
