/* The conv kernel that transforms its cells and filters (simd.conv_winograd) against engine reference: sizes that fill
 * no tile, padding, addends and activations, and values that are not finite. */
#include <math.h>

#include "kernels/kernel_call.h"

#define HUGE_CELL 3e38F /* sums of such cells overflow */

/* A conv of x [images, channels, height, width] with windows of 3 x 3. */
typedef struct conv_case {
  int64_t images, channels, height, width, outputs;
  int64_t pads[4];
  int64_t activation;
  bool bias, addend;
} conv_case;

static const conv_case cases[] = {
    {1, 16, 16, 16, 32, {1, 1, 1, 1}, ND4C_ACTIVATION_NONE, false, false},
    {1, 17, 13, 15, 33, {1, 1, 1, 1}, ND4C_ACTIVATION_RELU, true, false},
    {3, 40, 9, 8, 50, {1, 0, 0, 1}, ND4C_ACTIVATION_RELU, true, true},
    {1, 70, 12, 29, 70, {0, 0, 0, 0}, ND4C_ACTIVATION_NONE, false, true},
    {1, 64, 30, 31, 96, {2, 1, 0, 2}, ND4C_ACTIVATION_SIGMOID, true, false},
};

static const nd4c_kernel *winograd_kernel(void) {
  const nd4c_kernel *kernel = named_kernel("conv", "simd.conv_winograd");
  assert_non_null(kernel);
  return kernel;
}

/* Operands with random contents, everything with channels side by side, and the call. */
static void make_call(const conv_case *c, call_frame *frame) {
  const int64_t height = c->height + c->pads[0] + c->pads[2] - 2, width = c->width + c->pads[1] + c->pads[3] - 2;
  add_operand(frame, ND4C_IN_conv_x, 4, (int64_t[]){c->images, c->channels, c->height, c->width}, CHANNELS_LAST);
  add_operand(frame, ND4C_IN_conv_w, 4, (int64_t[]){c->outputs, c->channels, 3, 3}, C_ORDER);
  if (c->bias) {
    add_operand(frame, ND4C_IN_conv_bias, 1, (int64_t[]){c->outputs}, C_ORDER);
  }
  if (c->addend) {
    add_operand(frame, ND4C_IN_conv_addend, 4, (int64_t[]){c->images, c->outputs, height, width}, CHANNELS_LAST);
  }
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find("conv", &info), ND4C_OK);
  const nd4c_attr attrs[] = {{"pads", {.kind = ND4C_ATTR_INTS, .count = 4, .as.ints = c->pads}},
                             {"activation", {.kind = ND4C_ATTR_INT, .as.i = c->activation}}};
  nd4c_attr_value values[MAX_ATTRS];
  assert_int_equal(nd4c_op_resolve_attrs(info, attrs, 2, values), ND4C_OK);
  ready(frame, "conv", ND4C_IN_conv_count, values, CHANNELS_LAST);
  frame->inputs[ND4C_IN_conv_w].flags |= ND4C_TENSOR_CONSTANT;
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
    make_call(&cases[i], &frame);
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
    make_call(&cases[i], &frame);
    const operand *x = &frame.operands[ND4C_IN_conv_x];
    for (int64_t k = 0; k < 8; k++) {
      int64_t index[4] = {x->shape[0] - 1, k * 5 % x->shape[1], k * 3 % x->shape[2], k * 7 % x->shape[3]};
      ((float *)x->memory)[nd4c_index_offset(4, index, x->strides)] = values[k % 4];
    }
    compare_with_reference(&frame, winograd_kernel(), ND4C_IN_conv_w, nearly_equal, (int32_t)i);
    release(&frame);
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
  make_call(&cases[0], &frame);
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

  const conv_case few = {1, 8, 16, 16, 32, {1, 1, 1, 1}, ND4C_ACTIVATION_NONE, false, false};
  call_frame small = {.output.rank = 0};
  make_call(&few, &small);
  expect_decline(&small, "few channels, or few results");
  release(&small);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees_with_reference),
                                     cmocka_unit_test(test_values_that_are_not_finite),
                                     cmocka_unit_test(test_declines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
