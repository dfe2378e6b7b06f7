/* Which calls the kernel of conv_transpose takes before oneDNN's (simd.own_conv_transpose), and which ones it leaves.
 */
#include "backends/cpu/cpu.h"
#include "kernels/kernel_call.h"

/* conv_transpose of x [1, channels, extent, extent] with weights [channels, 32, 4, 4]. */
static void make(call_frame *frame, int64_t channels, int64_t extent, bool constant, layout x) {
  add_operand(frame, ND4C_IN_conv_transpose_x, 4, (int64_t[]){1, channels, extent, extent}, x);
  add_operand(frame, ND4C_IN_conv_transpose_w, 4, (int64_t[]){channels, 32, 4, 4}, C_ORDER);
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find("conv_transpose", &info), ND4C_OK);
  nd4c_attr_value values[MAX_ATTRS];
  assert_int_equal(nd4c_op_resolve_attrs(info, NULL, 0, values), ND4C_OK);
  ready(frame, "conv_transpose", ND4C_IN_conv_transpose_count, values, C_ORDER);
  frame->inputs[ND4C_IN_conv_transpose_w].flags |= constant ? ND4C_TENSOR_CONSTANT : 0;
}

static bool takes(const char *name, const call_frame *frame, char reason[TEXT_SIZE]) {
  const nd4c_kernel *kernel = named_kernel("conv_transpose", name);
  assert_non_null(kernel);
  reason[0] = '\0';
  return kernel->usable(&frame->call, reason, TEXT_SIZE);
}

static void weights_that_are_packed_once_are_left(void **state) {
  (void)state;
  const struct {
    int64_t channels, extent;
    bool constant, taken;
  } cases[] = {{64, 14, true, true}, {64, 14, false, true}, {64, 56, true, false}, {64, 56, false, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    call_frame frame = {.output.rank = 0};
    char reason[TEXT_SIZE];
    make(&frame, cases[i].channels, cases[i].extent, cases[i].constant, C_ORDER);
    assert_int_equal(takes("simd.own_conv_transpose", &frame, reason), cases[i].taken);
    assert_string_equal(
        reason, cases[i].taken ? "" : "the weights are constant, and the multiplications many: oneDNN packs them once");
    assert_true(takes("simd.conv_transpose", &frame, reason));
    release(&frame);
  }
}

static void other_orders_are_left(void **state) {
  (void)state;
  call_frame frame = {.output.rank = 0};
  char reason[TEXT_SIZE];
  make(&frame, 3, 5, false, CHANNELS_LAST);
  assert_false(takes("simd.own_conv_transpose", &frame, reason));
  assert_string_equal(reason, "an operand is not in C order");
  assert_false(takes("simd.conv_transpose", &frame, reason));
  release(&frame);
}

static void it_is_asked_before_onednn(void **state) {
  (void)state;
  assert_true(named_kernel("conv_transpose", "simd.own_conv_transpose")->priority > ND4C_CPU_PRIORITY_ONEDNN);
  assert_true(named_kernel("conv_transpose", "simd.conv_transpose")->priority < ND4C_CPU_PRIORITY_ONEDNN);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(weights_that_are_packed_once_are_left),
                                     cmocka_unit_test(other_orders_are_left),
                                     cmocka_unit_test(it_is_asked_before_onednn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
