/* The conv kernel with packed weights and short sums (simd.conv_panels) against engine reference: windows that are read
 * in place and copied ones, sizes that fill no panel and no strip, addends and activations; how exact long sums are;
 * and results that do not depend on the width. */
#include "backends/cpu/simd/simd.h"
#include "conv_call.h"

static const conv_case cases[] = {
    /* one cell, in place; a step: copied */
    {4, {1, 200, 9, 7}, {72, 200, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, ND4C_ACTIVATION_NONE, false, false, CHANNELS_LAST},
    {4, {3, 256, 8, 11}, {129, 256, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, ND4C_ACTIVATION_RELU, true, true, CHANNELS_LAST},
    {4, {2, 193, 9, 8}, {65, 193, 1, 1}, {2, 2}, {1, 1, 1}, {0}, ND4C_ACTIVATION_RELU, true, false, CHANNELS_LAST},
    /* one cell, whose results are partly those of four panels at a time */
    {4, {1, 300, 1, 1}, {1000, 300, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, ND4C_ACTIVATION_RELU, true, true, CHANNELS_LAST},
    {4, {1, 97, 1, 1}, {70, 97, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, ND4C_ACTIVATION_SWISH, true, false, CHANNELS_LAST},
    /* padding on either side, steps, cells apart */
    {4,
     {1, 24, 13, 15},
     {64, 24, 3, 3},
     {2, 1},
     {1, 1, 1},
     {1, 0, 2, 3},
     ND4C_ACTIVATION_SIGMOID,
     true,
     true,
     CHANNELS_LAST},
    {4,
     {2, 30, 12, 11},
     {81, 30, 3, 5},
     {1, 2},
     {3, 2},
     {3, 4, 3, 4},
     ND4C_ACTIVATION_RELU6,
     false,
     true,
     CHANNELS_LAST},
    {4,
     {1, 5, 31, 29},
     {64, 5, 7, 7},
     {2, 2},
     {1, 1, 1},
     {3, 3, 3, 3},
     ND4C_ACTIVATION_RELU,
     false,
     false,
     CHANNELS_LAST},
    /* one axis and three */
    {3, {2, 80, 50}, {96, 80, 3}, {2}, {1}, {1, 1}, ND4C_ACTIVATION_GELU, true, false, CHANNELS_LAST},
    {5,
     {1, 9, 5, 6, 7},
     {70, 9, 3, 3, 3},
     {1, 2, 1},
     {1, 1, 1},
     {1, 1, 0, 1, 0, 1},
     ND4C_ACTIVATION_NONE,
     true,
     false,
     CHANNELS_LAST},
};

static const nd4c_kernel *panels_kernel(void) {
  const nd4c_kernel *kernel = named_kernel("conv", "simd.conv_panels");
  assert_non_null(kernel);
  return kernel;
}

static bool is_left_to_libraries(void) {
  return conv_is_left_to_libraries(panels_kernel(), &cases[0]);
}

static void test_agrees_with_reference(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double error = conv_error(&cases[i], panels_kernel());
    if (!(error <= 3e-7)) {
      fail_msg("case %d: error %.3g", (int)i, error);
    }
  }
}

/* Each number of columns in the last panel, rows that fill no strip, and each activation, with and without what is
 * added before it. */
static void test_each_part_of_a_panel(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (int32_t outputs = 1; outputs <= 66; outputs++) {
    const int64_t channels = outputs % 3 == 0 ? 3 : outputs % 3 == 1 ? 70 : 130;
    const conv_case c = {
        4,   {2, channels, 5, 4 + outputs % 5},     {outputs, channels, 1, 1}, {1, 1},          {1, 1},
        {0}, outputs % (ND4C_ACTIVATION_RELU6 + 1), outputs % 2 == 0,          outputs % 4 < 2, CHANNELS_LAST};
    const double error = conv_error(&c, panels_kernel());
    if (!(error <= 3e-7)) {
      fail_msg("%d outputs: error %.3g", (int)outputs, error);
    }
  }
}

/* NaN and infinities of x stay through the activations that are applied in registers. */
static void test_values_that_are_not_finite(void **state) {
  static const int64_t activations[] = {ND4C_ACTIVATION_NONE, ND4C_ACTIVATION_RELU, ND4C_ACTIVATION_RELU6,
                                        ND4C_ACTIVATION_HARD_SWISH};
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
    const conv_case c = {4,   {1, 40, 6, 7},  {37, 40, 1, 1}, {1, 1}, {1, 1},
                         {0}, activations[i], true,           true,   CHANNELS_LAST};
    check_conv_not_finite(panels_kernel(), &c);
  }
}

/* Channels of a wider image: a part of a concatenation that is written in place. */
static void test_parts_of_wider_images(void **state) {
  enum { WIDER = 300, FIRST = 90 };
  const conv_case part = {4,   {2, 200, 5, 6},       {72, 200, 1, 1}, {1, 1, 1}, {1, 1, 1},
                          {0}, ND4C_ACTIVATION_NONE, false,           false,     CHANNELS_LAST};
  conv_case whole = part;
  call_frame frame = {.output.rank = 0}, wide = {.output.rank = 0};
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  whole.x[1] = whole.w[1] = WIDER;
  make_conv(&part, &frame);
  make_conv(&whole, &wide);
  const operand *from = &wide.operands[ND4C_IN_conv_x];
  nd4c_tensor *x = &frame.inputs[ND4C_IN_conv_x];
  x->data = (float *)from->memory + FIRST;
  x->strides = from->strides;
  run_kernel(engine_kernel("conv", "reference"), &frame);
  double *expected = result_numbers(&frame);
  run_packed_kernel(panels_kernel(), ND4C_IN_conv_w, &frame);
  double *got = result_numbers(&frame);
  for (int64_t i = 0; i < frame.output.size; i++) {
    assert_true(fabs(got[i] - expected[i]) <= 1e-5);
  }
  free(expected);
  free(got);
  release(&frame);
  release(&wide);
}

static void test_width_does_not_show(void **state) {
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_conv_widths(panels_kernel(), &cases[i]);
  }
}

/* One sum of 2,304 or 1,536 terms has an error of 1e-6 and more. */
static void test_long_sums_are_exact(void **state) {
  static const conv_case long_sums[] = {{4,
                                         {1, 256, 12, 12},
                                         {64, 256, 3, 3},
                                         {2, 2},
                                         {1, 1, 1},
                                         {1, 1, 1, 1},
                                         ND4C_ACTIVATION_NONE,
                                         true,
                                         false,
                                         CHANNELS_LAST},
                                        {4,
                                         {1, 1536, 8, 8},
                                         {64, 1536, 1, 1},
                                         {1, 1, 1},
                                         {1, 1, 1},
                                         {0},
                                         ND4C_ACTIVATION_NONE,
                                         true,
                                         false,
                                         CHANNELS_LAST}};
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (size_t i = 0; i < sizeof long_sums / sizeof *long_sums; i++) {
    double error = conv_error(&long_sums[i], panels_kernel());
    if (!(error <= 3e-7)) {
      fail_msg("case %d: error %.3g", (int)i, error);
    }
  }
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

static void expect_decline(const conv_case *c, bool constant, const char *text) {
  check_conv_declined(panels_kernel(), c, constant, text);
}

static void test_declines(void **state) {
  conv_case channels_first = cases[0];
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  channels_first.order = C_ORDER;
  expect_decline(&cases[0], false, "the weights are not constant");
  expect_decline(&channels_first, true, "channels do not lie side by side, or cells not equally far apart");
}

/* The kernel stands twice: before oneDNN's for what it is faster at, and after it. */
static void test_comes_first_where_it_is_faster(void **state) {
  static const struct {
    int64_t channels, outputs, side, kernel;
    bool first, first_avx2; /* with AVX-512, with AVX2 */
  } rows[] = {{200, 96, 14, 1, true, true},
              {200, 96, 40, 1, true, true},
              {200, 128, 14, 1, true, true},
              {200, 128, 40, 1, false, true},
              {200, 256, 14, 1, false, true},
              {480, 256, 8, 1, true, true},
              {480, 256, 9, 1, false, true},
              {479, 256, 8, 1, false, true},
              {16, 12, 2, 1, true, true},
              {16, 12, 3, 1, false, true},
              {16, 12, 17, 1, false, true},
              /* few terms, much work with few outputs and with 64, little work, large weights */
              {14, 64, 18, 3, false, false},
              {64, 63, 50, 3, false, false},
              {64, 64, 50, 3, false, true},
              {64, 80, 17, 3, false, false},
              {64, 16, 50, 3, false, true},
              {96, 96, 14, 2, false, true},
              {256, 128, 18, 3, false, true},
              {256, 144, 18, 3, false, false}};
  const nd4c_kernel *first = named_kernel("conv", "simd.conv_panels_first");
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    conv_case c = cases[0];
    call_frame frame = {.output.rank = 0};
    char reason[TEXT_SIZE] = "";
    c.x[1] = c.w[1] = rows[i].channels;
    c.x[2] = c.x[3] = rows[i].side;
    c.w[0] = rows[i].outputs;
    c.w[2] = c.w[3] = rows[i].kernel;
    make_conv(&c, &frame);
    const bool expected = nd4c_simd_level_is("avx2") ? rows[i].first_avx2 : rows[i].first;
    if (first->usable(&frame.call, reason, sizeof reason) != expected) {
      fail_msg("case %d: %s", (int)i, expected ? reason : "taken");
    }
    assert_string_equal(reason, expected ? "" : "oneDNN is faster");
    assert_true(panels_kernel()->usable(&frame.call, reason, sizeof reason));
    release(&frame);
  }
  assert_true(first->priority > panels_kernel()->priority);
}

/* A result with gaps between its cells, as a part of a concat has: oneDNN would have to copy it. */
static void test_comes_first_where_results_have_gaps(void **state) {
  const conv_case c = {4,    {2, 20, 17, 16}, {128, 20, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, ND4C_ACTIVATION_RELU, true,
                       true, CHANNELS_LAST};
  const nd4c_kernel *first = named_kernel("conv", "simd.conv_panels_first");
  enum { WIDER = 150, FIRST = 11 };
  conv_case whole = c;
  call_frame frame = {.output.rank = 0}, wide = {.output.rank = 0};
  char reason[TEXT_SIZE] = "";
  (void)state;
  if (is_left_to_libraries()) {
    skip();
  }
  whole.x[1] = whole.w[1] = WIDER;
  make_conv(&c, &frame);
  make_conv(&whole, &wide);
  run_kernel(engine_kernel("conv", "reference"), &frame);
  double *expected = result_numbers(&frame);
  assert_int_equal(first->usable(&frame.call, reason, sizeof reason), nd4c_simd_level_is("avx2"));
  nd4c_tensor *y = &frame.output;
  const nd4c_tensor dense = *y;
  const operand *image = &wide.operands[ND4C_IN_conv_x];
  float *cells = image->memory;
  const float before = cells[FIRST - 1], after = cells[FIRST + 128];
  y->data = cells + FIRST;
  y->strides = image->strides;
  assert_true(first->usable(&frame.call, reason, sizeof reason));
  run_packed_kernel(first, ND4C_IN_conv_w, &frame);
  int64_t index[8] = {0};
  for (int64_t i = 0; i < y->size; i++, nd4c_index_next(y->rank, y->shape, index)) {
    const double got = (double)cells[FIRST + nd4c_index_offset(y->rank, index, y->strides)];
    assert_true(fabs(got - expected[i]) <= 1e-5);
  }
  assert_true(cells[FIRST - 1] == before && cells[FIRST + 128] == after);
  *y = dense;
  free(expected);
  release(&frame);
  release(&wide);
}

/* Infinite weights times the zeros of padding are NaN, so they are not packed. */
static void test_infinite_weights(void **state) {
  call_frame frame = {.output.rank = 0};
  nd4c_layout wanted = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  void *prepared = NULL;
  (void)state;
  make_conv(&cases[3], &frame);
  assert_int_equal(panels_kernel()->prepare(&frame.call, &prepared), ND4C_UNSUPPORTED);
  const nd4c_tensor *w = &frame.inputs[ND4C_IN_conv_w];
  ((float *)frame.operands[ND4C_IN_conv_w].memory)[w->size - 1] = INFINITY;
  assert_true(panels_kernel()->wants_layout(&frame.call, ND4C_IN_conv_w, &wanted));
  assert_false(panels_kernel()->wants_layout(&frame.call, ND4C_IN_conv_x, &wanted));
  nd4c_tensor packed = *w;
  packed.data = aligned_alloc(64, (size_t)(wanted.bytes + 63) / 64 * 64);
  assert_non_null(packed.data);
  assert_int_equal(panels_kernel()->pack(&frame.call, ND4C_IN_conv_w, &wanted, &packed), ND4C_UNSUPPORTED);
  free(packed.data);
  release(&frame);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees_with_reference),
                                     cmocka_unit_test(test_each_part_of_a_panel),
                                     cmocka_unit_test(test_values_that_are_not_finite),
                                     cmocka_unit_test(test_parts_of_wider_images),
                                     cmocka_unit_test(test_width_does_not_show),
                                     cmocka_unit_test(test_long_sums_are_exact),
                                     cmocka_unit_test(test_declines),
                                     cmocka_unit_test(test_comes_first_where_it_is_faster),
                                     cmocka_unit_test(test_comes_first_where_results_have_gaps),
                                     cmocka_unit_test(test_infinite_weights)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
