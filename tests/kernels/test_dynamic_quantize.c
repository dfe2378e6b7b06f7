/* dynamic_quantize_linear of engine simd against engine reference where x and y do not lie in C order: networks with
 * channels last compute it between their convolutions. */
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_order_of_memory),
                                     cmocka_unit_test(gaps_are_left_to_the_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
