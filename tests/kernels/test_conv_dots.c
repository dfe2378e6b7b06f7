/* The conv kernel for windows of one cell and few output channels (simd.conv_dots) against engine reference, f32 and
 * bfloat16: every number of output channels, channels that fill no block, cells that fill no tile and no piece, images
 * of one and three axes, addends and activations; results that do not depend on the width; and what it declines. */
#include "nd4c/dtype.h"

static nd4c_dtype tested = ND4C_FLOAT32;
#define CONV_DTYPE tested

#include "conv_call.h"

#define ONE_CELL(images, channels, outputs, height, width, activation, bias, addend) \
  {4,                                                                                \
   {images, channels, height, width},                                                \
   {outputs, channels, 1, 1},                                                        \
   {1, 1},                                                                           \
   {1, 1},                                                                           \
   {0},                                                                              \
   activation,                                                                       \
   bias,                                                                             \
   addend,                                                                           \
   CHANNELS_LAST}

static const conv_case cases[] = {
    ONE_CELL(1, 64, 1, 40, 31, ND4C_ACTIVATION_SIGMOID, true, false),
    ONE_CELL(2, 33, 2, 9, 7, ND4C_ACTIVATION_NONE, false, true),
    ONE_CELL(1, 95, 3, 14, 14, ND4C_ACTIVATION_RELU, true, true),
    ONE_CELL(3, 17, 4, 5, 1, ND4C_ACTIVATION_SWISH, true, false),
    ONE_CELL(1, 30, 5, 30, 11, ND4C_ACTIVATION_TANH, false, false),
    ONE_CELL(2, 16, 5, 13, 13, ND4C_ACTIVATION_HARD_SWISH, true, true),
    ONE_CELL(1, 256, 1, 6, 9, ND4C_ACTIVATION_NONE, false, false),
    ONE_CELL(1, 5, 5, 8, 25, ND4C_ACTIVATION_RELU6, true, false),
    ONE_CELL(1, 30, 4, 21, 10, ND4C_ACTIVATION_NONE, true, true),
    ONE_CELL(1, 48, 3, 1, 1, ND4C_ACTIVATION_NONE, true, false),
    {3, {2, 40, 77}, {3, 40, 1}, {1}, {1}, {0}, ND4C_ACTIVATION_SIGMOID, true, false, CHANNELS_LAST},
    {5, {1, 65, 3, 5, 7}, {2, 65, 1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, ND4C_ACTIVATION_NONE, true, true, CHANNELS_LAST},
};
enum { CASES = sizeof cases / sizeof *cases };

static const nd4c_kernel *dots_kernel(void) {
  const nd4c_kernel *kernel = named_kernel("conv", "simd.conv_dots");
  assert_non_null(kernel);
  return kernel;
}

static bool is_left_to_libraries(void) {
  return conv_is_left_to_libraries(dots_kernel(), &cases[0]);
}

/* The results of a kernel that packs no weights. */
static double *results_of(const nd4c_kernel *kernel, const conv_case *c, int32_t width, int64_t *count) {
  call_frame frame = {.output.rank = 0};
  char reason[TEXT_SIZE] = "";
  make_conv(c, &frame);
  frame.call.width = width;
  if (kernel->usable != NULL && !kernel->usable(&frame.call, reason, sizeof reason)) {
    fail_msg("%s: %s", kernel->name, reason);
  }
  run_kernel(kernel, &frame);
  double *results = result_numbers(&frame);
  *count = frame.output.size;
  release(&frame);
  return results;
}

static void check_against_reference(const conv_case *c, int32_t which) {
  int64_t count = 0;
  double *expected = results_of(engine_kernel("conv", "reference"), c, 2, &count);
  double *got = results_of(dots_kernel(), c, 2, &count);
  double errors = 0, squares = 0;
  for (int64_t i = 0; i < count; i++) {
    errors += (got[i] - expected[i]) * (got[i] - expected[i]);
    squares += expected[i] * expected[i];
  }
  const double error = sqrt(errors / squares);
  if (!(error <= (tested == ND4C_BFLOAT16 ? 2e-4 : 3e-7))) {
    fail_msg("case %d, %s: error %.3g", (int)which, nd4c_dtype_name(tested), error);
  }
  free(expected);
  free(got);
}

static void test_agrees_with_reference(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (int32_t i = 0; i < 2 * CASES; i++) {
    tested = i % 2 ? ND4C_BFLOAT16 : ND4C_FLOAT32;
    check_against_reference(&cases[i / 2], i / 2);
  }
  tested = ND4C_FLOAT32;
}

static void test_width_does_not_show(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (int32_t i = 0; i < 2 * CASES; i++) {
    int64_t count = 0;
    tested = i % 2 ? ND4C_BFLOAT16 : ND4C_FLOAT32;
    double *expected = results_of(dots_kernel(), &cases[i / 2], 1, &count);
    for (int32_t width = 2; width <= 5; width += 3) {
      double *got = results_of(dots_kernel(), &cases[i / 2], width, &count);
      assert_memory_equal(got, expected, (size_t)count * sizeof *got);
      free(got);
    }
    free(expected);
  }
  tested = ND4C_FLOAT32;
}

/* A NaN of x shows in the results of its cell alone. */
static void test_values_that_are_not_finite(void **state) {
  const conv_case *c = &cases[4]; /* whose last block is not full */
  const int64_t outputs = c->w[0], channels = c->w[1];
  call_frame frame = {.output.rank = 0};
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  make_conv(c, &frame);
  ((float *)frame.operands[ND4C_IN_conv_x].memory)[7 * channels + channels - 1] = NAN;
  run_kernel(dots_kernel(), &frame);
  const float *y = frame.result.memory;
  for (int64_t i = 0; i < frame.output.size; i++) {
    assert_int_equal(isnan(y[i]) != 0, i / outputs == 7);
  }
  release(&frame);
}

static void test_declines(void **state) {
  conv_case many = cases[8], slow = cases[8], deep = cases[0], wide = cases[0], apart = cases[0], beside = cases[0],
            first = cases[0];
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  many.w[0] = 6;
  slow.x[1] = slow.w[1] = 33;
  deep.x[1] = deep.w[1] = 257;
  wide.w[3] = 3;
  apart.strides[1] = 2;
  beside.pads[0] = beside.pads[2] = 1;
  first.order = C_ORDER;
  check_conv_declined(dots_kernel(), &many, true, "many results of a cell, or groups of channels");
  check_conv_declined(dots_kernel(), &slow, true, "many channels for so many results: oneDNN is faster");
  check_conv_declined(dots_kernel(), &deep, true, "many channels for so many results: oneDNN is faster");
  check_conv_declined(dots_kernel(), &wide, true, "windows of several cells, or not of each cell");
  check_conv_declined(dots_kernel(), &apart, true, "windows of several cells, or not of each cell");
  check_conv_declined(dots_kernel(), &beside, true, "windows of several cells, or not of each cell");
  check_conv_declined(dots_kernel(), &first, true, "channels do not lie side by side, or cells not equally far apart");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_agrees_with_reference), cmocka_unit_test(test_width_does_not_show),
      cmocka_unit_test(test_values_that_are_not_finite), cmocka_unit_test(test_declines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
