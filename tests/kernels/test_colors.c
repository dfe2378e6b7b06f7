/* Conversions of colours of engine simd against engine reference: the same bits for more pixels than one block holds,
 * colours on each axis, both dtypes, and numbers that are not finite. */
#include <math.h>

#include "kernel_call.h"

typedef struct color_case {
  const char *op;
  nd4c_attr_value attrs[2];
} color_case;

#define AXIS {.kind = ND4C_ATTR_INT}
#define AMOUNT(value) {.kind = ND4C_ATTR_FLOAT, .as.f = (value)}
static const color_case cases[] = {{"rgb_to_hsv", {AXIS}},
                                   {"hsv_to_rgb", {AXIS}},
                                   {"rgb_to_yiq", {AXIS}},
                                   {"yiq_to_rgb", {AXIS}},
                                   {"rgb_to_yuv", {AXIS}},
                                   {"yuv_to_rgb", {AXIS}},
                                   {"rgb_to_grayscale", {AXIS}},
                                   {"adjust_hue", {AMOUNT(0.3), AXIS}},
                                   {"adjust_saturation", {AMOUNT(1.7), AXIS}},
                                   {"adjust_saturation", {AMOUNT(-0.5), AXIS}}};

static const int64_t shapes[][3] = {{3, 20, 17}, {2, 3, 300}, {13, 30, 3}, {1, 3, 1}};

static void fill_pixels(operand *x) {
  static const double rare[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -0.0, 0, 1, 1, 2};
  const int64_t size = shape_size(x->rank, x->shape);
  fill(x, 11, 0);
  for (int64_t i = 0; i < size; i += i % 3 + 1) { /* so that some pixels have equal colours */
    nd4c_value_store(x->dtype, x->memory, i,
                     (nd4c_value){.f = rare[i * 5 / 3 % (int64_t)(sizeof rare / sizeof *rare)]});
  }
}

static void check(const color_case *c, nd4c_dtype dtype, const int64_t *shape, int64_t axis) {
  call_frame frame = {0};
  nd4c_attr_value attrs[MAX_ATTRS] = {c->attrs[0], c->attrs[1]};
  attrs[attrs[0].kind == ND4C_ATTR_INT ? 0 : 1].as.i = axis;
  frame.operands[0].dtype = dtype;
  frame.operands[0].rank = 3;
  memcpy(frame.operands[0].shape, shape, 3 * sizeof *shape);
  lay_out(&frame.operands[0], C_ORDER);
  fill_pixels(&frame.operands[0]);
  ready(&frame, c->op, 1, attrs, C_ORDER);
  run_kernel(engine_kernel(c->op, "reference"), &frame);
  double *expected = result_numbers(&frame);
  char reason[TEXT_SIZE] = "";
  assert_true(engine_kernel(c->op, "simd")->usable(&frame.call, reason, sizeof reason));
  run_kernel(engine_kernel(c->op, "simd"), &frame);
  double *got = result_numbers(&frame);
  for (int64_t i = 0; i < frame.output.size; i++) {
    if (!(got[i] == expected[i] || (isnan(got[i]) && isnan(expected[i])))) {
      fail_msg("%s on axis %d, element %lld: %.17g, reference %.17g", c->op, (int)axis, (long long)i, got[i],
               expected[i]);
    }
  }
  free(expected);
  free(got);
  release(&frame);
}

static void test_same_as_the_reference(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      for (int64_t axis = 0; axis < 3; axis++) {
        if (shapes[s][axis] == 3) {
          check(&cases[i], ND4C_FLOAT32, shapes[s], axis);
          check(&cases[i], ND4C_FLOAT64, shapes[s], axis - 3);
        }
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_the_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
