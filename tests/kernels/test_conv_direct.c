/* The conv kernel for small windows with channels last (simd.conv_direct) against engine reference: strides, padding
 * and cells apart, sizes that fill no tile and no panel, long sums, addends and activations; results that do not depend
 * on the width; and what it declines. */
#include "backends/cpu/simd/simd.h"
#include "conv_call.h"

static const conv_case cases[] = {
    /* one panel of 16, two threads' worth of rows, a sum in two parts */
    {4,
     {1, 16, 28, 28},
     {16, 16, 3, 3},
     {1, 1},
     {1, 1},
     {1, 1, 1, 1},
     ND4C_ACTIVATION_RELU,
     true,
     false,
     CHANNELS_LAST},
    /* rows shorter than a tile, an addend, a panel that outputs do not fill */
    {4, {3, 5, 7, 3}, {21, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, ND4C_ACTIVATION_RELU, true, true, CHANNELS_LAST},
    {4, {2, 12, 9, 30}, {40, 12, 3, 3}, {1, 1}, {1, 1}, {0, 2, 1, 0}, ND4C_ACTIVATION_NONE, false, true, CHANNELS_LAST},
    {4,
     {1, 33, 15, 25},
     {64, 33, 3, 3},
     {2, 2},
     {1, 1},
     {1, 1, 1, 1},
     ND4C_ACTIVATION_SWISH,
     true,
     false,
     CHANNELS_LAST},
    {4, {2, 3, 11, 19}, {9, 3, 4, 5}, {1, 3}, {2, 2}, {6, 9, 0, 9}, ND4C_ACTIVATION_RELU6, true, false, CHANNELS_LAST},
    {4, {1, 1, 12, 12}, {6, 1, 5, 5}, {1, 1}, {1, 1}, {0}, ND4C_ACTIVATION_TANH, true, false, CHANNELS_LAST},
    /* windows that see padding only */
    {4, {1, 8, 2, 2}, {17, 8, 3, 3}, {1, 1}, {1, 1}, {5, 5, 5, 5}, ND4C_ACTIVATION_NONE, true, false, CHANNELS_LAST},
};

static const nd4c_kernel *direct_kernel(void) {
  const nd4c_kernel *kernel = named_kernel("conv", "simd.conv_direct");
  assert_non_null(kernel);
  return kernel;
}

static bool is_left_to_libraries(void) {
  return conv_is_left_to_libraries(direct_kernel(), &cases[1]);
}

/* With AVX2, long sums are left to other kernels. */
static bool is_taken(const conv_case *c) {
  enum { MANY_TERMS = 129 };
  const bool is_long = c->w[1] * c->w[2] * c->w[3] >= MANY_TERMS && nd4c_simd_level_is("avx2");
  if (is_long) {
    check_conv_declined(direct_kernel(), c, true, "oneDNN is faster");
  }
  return !is_long;
}

static void test_agrees_with_reference(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (is_taken(&cases[i])) {
      check_conv_cases(direct_kernel(), &cases[i], 1);
    }
  }
}

static void test_width_does_not_show(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (is_taken(&cases[i])) {
      check_conv_widths(direct_kernel(), &cases[i]);
    }
  }
}

static void test_values_that_are_not_finite(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  check_conv_not_finite(direct_kernel(), &cases[2]);
}

static void expect_decline(const conv_case *c, bool constant, const char *text) {
  check_conv_declined(direct_kernel(), c, constant, text);
}

static void test_declines(void **state) {
  conv_case single = cases[0], large = cases[0], few = cases[0], much = cases[0], narrow = cases[0], first = cases[0];
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  single.w[2] = single.w[3] = 1;
  large.w[2] = 5; /* of more than a little work */
  few.w[0] = 8;
  few.x[0] = 2;
  much.x[0] = 10;
  narrow.x[0] = 16;
  narrow.x[3] = 5;
  first.order = C_ORDER;
  expect_decline(&cases[0], false, "the weights are not constant");
  expect_decline(&single, true, "windows of one cell, or of many");
  expect_decline(&large, true, "oneDNN is faster");
  expect_decline(&few, true, "oneDNN is faster");
  expect_decline(&much, true, "oneDNN is faster");
  expect_decline(&narrow, true, "oneDNN is faster");
  expect_decline(&first, true, "channels do not lie side by side");
}

static void test_infinite_weights(void **state) {
  (void)state;
  check_conv_infinite_weights(direct_kernel(), &cases[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees_with_reference),
                                     cmocka_unit_test(test_width_does_not_show),
                                     cmocka_unit_test(test_values_that_are_not_finite), cmocka_unit_test(test_declines),
                                     cmocka_unit_test(test_infinite_weights)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
