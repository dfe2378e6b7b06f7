/* dynamic_quantize_linear of engine simd against engine reference where x and y do not lie in C order: networks with
 * channels last compute it between their convolutions. quantize_linear in each lane of a vector, at and beside the
 * middles between two numbers, where a multiplication by the inverse of the scale would round to the wrong one. */
#include <math.h>

#include "kernels/kernel_call.h"

enum { OUTPUTS = 3 };

typedef struct quantizing {
  call_frame frame;
  nd4c_tensor outputs[OUTPUTS];
  float scale;
  uint8_t zero;
} quantizing;

static void make(quantizing *q, layout x, layout y) {
  static const int64_t shape[] = {2, 37, 11, 40}; /* several pieces, and a part of a vector */
  const nd4c_attr_value none[MAX_ATTRS] = {{.as.i = 0}};
  *q = (quantizing){.scale = -1};
  add_operand(&q->frame, 0, 4, shape, x);
  ready(&q->frame, "dynamic_quantize_linear", 1, none, y);
  q->outputs[0] = q->frame.output;
  q->outputs[1] = (nd4c_tensor){.dtype = ND4C_FLOAT32, .size = 1, .data = &q->scale};
  q->outputs[2] = (nd4c_tensor){.dtype = ND4C_UINT8, .size = 1, .data = &q->zero};
  q->frame.call.outputs = q->outputs;
  q->frame.call.output_count = OUTPUTS;
}

static void check(layout x, layout y) {
  quantizing q;
  char reason[TEXT_SIZE] = "";
  const nd4c_kernel *simd = engine_kernel("dynamic_quantize_linear", "simd");
  make(&q, x, y);
  if (!simd->usable(&q.frame.call, reason, sizeof reason)) {
    fail_msg("x %d, y %d: %s", (int)x, (int)y, reason);
  }
  run_kernel(engine_kernel("dynamic_quantize_linear", "reference"), &q.frame);
  const float scale = q.scale;
  const uint8_t zero = q.zero;
  double *expected = result_numbers(&q.frame);
  q.scale = -1;
  q.zero = 0;
  run_kernel(simd, &q.frame);
  double *got = result_numbers(&q.frame);
  assert_true(q.scale == scale);
  assert_int_equal(q.zero, zero);
  assert_memory_equal(got, expected, (size_t)q.frame.output.size * sizeof *got);
  free(expected);
  free(got);
  release(&q.frame);
}

static void any_order_of_memory(void **state) {
  (void)state;
  check(C_ORDER, C_ORDER);
  check(CHANNELS_LAST, CHANNELS_LAST);
  check(CHANNELS_LAST, C_ORDER);
  check(C_ORDER, SWAPPED);
  check(SWAPPED, SPARSE);
}

/* x: numbers about the middles, beyond what bytes hold, and special ones. `first` moves them along the lanes. */
static void fill_with_middles(float *x, int64_t count, float scale, int64_t first) {
  static const float special[] = {NAN, INFINITY, -INFINITY, 3e38F, -3e38F, 0.0F, -0.0F, 1e-40F};
  enum { SPECIAL = sizeof special / sizeof *special };
  for (int64_t i = 0; i < count; i++) {
    const int64_t number = i + first, middle = number / 3 % 400 - 200;
    const float at = ((float)middle + 0.5F) * scale;
    x[i] = number % 3 == 0 ? at : nextafterf(at, number % 3 == 1 ? INFINITY : -INFINITY);
    x[i] = number % 67 == 0 ? special[number / 67 % SPECIAL] : x[i];
  }
}

static void check_middles(nd4c_dtype byte, float scale, int32_t zero, int64_t first) {
  const int64_t count = 2500 + first;
  const nd4c_op_info *info = NULL;
  nd4c_attr_value attrs[MAX_ATTRS];
  call_frame frame = {.output.rank = 0};
  assert_int_equal(nd4c_op_find("quantize_linear", &info), ND4C_OK);
  assert_int_equal(nd4c_op_resolve_attrs(info, NULL, 0, attrs), ND4C_OK);
  add_operand(&frame, ND4C_IN_quantize_linear_x, 1, &count, C_ORDER);
  add_operand(&frame, ND4C_IN_quantize_linear_scale, 0, &count, C_ORDER);
  frame.operands[ND4C_IN_quantize_linear_zero_point].dtype = byte;
  lay_out(&frame.operands[ND4C_IN_quantize_linear_zero_point], C_ORDER);
  fill_with_middles(frame.operands[ND4C_IN_quantize_linear_x].memory, count, scale, first);
  *(float *)(void *)frame.operands[ND4C_IN_quantize_linear_scale].memory = scale;
  *(int8_t *)(void *)frame.operands[ND4C_IN_quantize_linear_zero_point].memory = (int8_t)zero;
  ready(&frame, "quantize_linear", ND4C_IN_quantize_linear_count, attrs, C_ORDER);
  run_kernel(engine_kernel("quantize_linear", "reference"), &frame);
  double *expected = result_numbers(&frame);
  run_kernel(engine_kernel("quantize_linear", "simd"), &frame);
  double *got = result_numbers(&frame);
  for (int64_t i = 0; i < count; i++) {
    if (got[i] != expected[i]) {
      const float *x = frame.operands[ND4C_IN_quantize_linear_x].memory;
      fail_msg("scale %g, x[%d] = %.9g: %g, expected %g", (double)scale, (int)i, (double)x[i], got[i], expected[i]);
    }
  }
  free(expected);
  free(got);
  release(&frame);
}

static void middles_in_each_lane(void **state) {
  static const float scales[] = {1, 0.1F, 0.0234567F, 3e-5F, -0.3F, 1e37F, 1e-38F};
  (void)state;
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    for (int64_t first = 0; first < 34; first += i == 1 ? 1 : 11) {
      check_middles(ND4C_UINT8, scales[i], 100, first);
      check_middles(ND4C_INT8, scales[i], -7, first);
    }
  }
}

static void gaps_are_left_to_the_reference(void **state) {
  quantizing q;
  char reason[TEXT_SIZE] = "";
  (void)state;
  make(&q, SPARSE, C_ORDER);
  assert_false(engine_kernel("dynamic_quantize_linear", "simd")->usable(&q.frame.call, reason, sizeof reason));
  assert_string_equal(reason, "the elements have gaps");
  release(&q.frame);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_order_of_memory), cmocka_unit_test(middles_in_each_lane),
                                     cmocka_unit_test(gaps_are_left_to_the_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
