/* Kernels of 16-bit floats that compute by kernels of float32 (backends/cpu/support/widened.h): scratch of operands
 * that repeat numbers, hostile views, and where they come before oneDNN's own. */
#include <math.h>

#include "kernels/kernel_call.h"

enum { BATCH = 64, M = 8, K = 96, N = 128 };

static void add_narrow(call_frame *frame, nd4c_dtype dtype, int32_t input, int32_t rank, const int64_t *shape) {
  add_operand(frame, input, rank, shape, C_ORDER);
  operand *op = &frame->operands[input];
  free(op->memory);
  op->dtype = dtype;
  lay_out(op, C_ORDER);
  fill(op, (uint64_t)input + 3, -1);
}

static void add_half(call_frame *frame, int32_t input, int32_t rank, const int64_t *shape) {
  add_narrow(frame, ND4C_FLOAT16, input, rank, shape);
}

static void make_ready(call_frame *frame, const char *op, int32_t inputs) {
  const nd4c_op_info *info = NULL;
  nd4c_attr_value values[MAX_ATTRS];
  assert_int_equal(nd4c_op_find(op, &info), ND4C_OK);
  assert_int_equal(nd4c_op_resolve_attrs(info, NULL, 0, values), ND4C_OK);
  ready(frame, op, inputs, values, C_ORDER);
}

/* The n-th kernel of the op, for the call in the frame: NULL past the end. */
static const nd4c_kernel *take(call_frame *frame, int32_t n, bool *widened) {
  const nd4c_kernel *kernel = nth_kernel(frame->call.op->name, n);
  *widened = kernel != NULL && strstr(kernel->name, "widened") != NULL;
  frame->call.data = kernel == NULL ? NULL : kernel->data;
  return kernel;
}

/* The scratch of the kernel for the call in the frame. */
static int64_t scratch_of(const nd4c_kernel *kernel, call_frame *frame) {
  assert_int_equal(kernel->prepare(&frame->call, &frame->call.state), ND4C_OK);
  const int64_t bytes = kernel->scratch_bytes(&frame->call);
  kernel->unprepare(frame->call.state);
  frame->call.state = NULL;
  return bytes;
}

/* One matrix of weights for a batch of rows is widened once, and the product is right. */
static void repeated_weights_are_widened_once(void **state) {
  (void)state;
  call_frame frame = {.output.rank = 0};
  int32_t asked = 0;
  open_providers();
  add_half(&frame, 0, 3, (int64_t[]){BATCH, M, K});
  add_half(&frame, 1, 3, (int64_t[]){1, K, N});
  frame.operands[1].shape[0] = BATCH;
  frame.operands[1].strides[0] = 0;
  make_ready(&frame, "matmul", 2);
  run_kernel(engine_kernel("matmul", "reference"), &frame);
  double *expected = result_numbers(&frame);
  bool widened = false;
  const nd4c_kernel *kernel = NULL;
  for (int32_t n = 0; (kernel = take(&frame, n, &widened)) != NULL; n++) {
    char reason[TEXT_SIZE] = "";
    if (!widened || !kernel->usable(&frame.call, reason, sizeof reason)) {
      continue;
    }
    asked++;
    const int64_t bytes = scratch_of(kernel, &frame), once = 4 * (BATCH * M * (K + N) + K * N);
    if (bytes >= 2 * once) {
      fail_msg("%s wants %lld bytes of scratch for %lld of operands", kernel->name, (long long)bytes, (long long)once);
    }
    run_kernel(kernel, &frame);
    double *got = result_numbers(&frame);
    for (int64_t i = 0; i < frame.output.size; i++) {
      if (!(fabs(got[i] - expected[i]) <= 0.01 + fabs(expected[i]) * 0x1p-9)) {
        fail_msg("%s, element %lld: %.9g, reference %.9g", kernel->name, (long long)i, got[i], expected[i]);
      }
    }
    free(got);
  }
  assert_true(asked > 0);
  free(expected);
  release(&frame);
}

/* Two numbers, each repeated 2^60 times: the bytes of both, four for an element, are more than an int64 counts. */
static void endless_vectors_want_little(void **state) {
  (void)state;
  call_frame frame = {.output.rank = 0};
  int32_t asked = 0;
  open_providers();
  for (int32_t i = 0; i < 2; i++) {
    add_half(&frame, i, 1, (int64_t[]){1});
    frame.operands[i].shape[0] = INT64_C(1) << 60;
    frame.operands[i].strides[0] = 0;
  }
  make_ready(&frame, "vecdot", 2);
  bool widened = false;
  const nd4c_kernel *kernel = NULL;
  for (int32_t n = 0; (kernel = take(&frame, n, &widened)) != NULL; n++) {
    char reason[TEXT_SIZE] = "";
    if (widened) {
      asked++;
      if (kernel->usable(&frame.call, reason, sizeof reason)) {
        const int64_t bytes = scratch_of(kernel, &frame);
        assert_true(bytes > 0 && bytes <= 1 << 20);
      }
    }
  }
  assert_true(asked > 0);
  release(&frame);
}

/* Each row of a begins one number after the one before, so a is 2^20 times as large as its memory. */
static void overlapping_rows_are_refused(void **state) {
  (void)state;
  const int64_t many = INT64_C(1) << 20;
  call_frame frame = {.output.rank = 0};
  int32_t asked = 0;
  open_providers();
  add_half(&frame, 0, 2, (int64_t[]){1, 2 * many});
  frame.operands[0].shape[0] = frame.operands[0].shape[1] = many;
  frame.operands[0].strides[0] = 1;
  add_half(&frame, 1, 2, (int64_t[]){many, 1});
  make_ready(&frame, "matmul", 2);
  bool widened = false;
  const nd4c_kernel *kernel = NULL;
  for (int32_t n = 0; (kernel = take(&frame, n, &widened)) != NULL; n++) {
    char reason[TEXT_SIZE] = "";
    if (widened) {
      asked++;
      assert_false(kernel->usable(&frame.call, reason, sizeof reason));
      assert_string_equal(reason, "an operand has more than 16 elements for each one in memory");
    }
  }
  assert_true(asked > 0);
  release(&frame);
}

/* oneDNN's own kernels of bfloat16 are for processors with instructions for it: with AVX-512 alone it emulates them,
 * which took three to five times as long as float32. */
static void emulated_products_are_refused(void **state) {
  (void)state;
  nd4c_machine_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_machine_get_info(&info), ND4C_OK);
  if (strncmp(info.cpu_level, "avx", 3) != 0 || strstr(info.cpu_features, "avx512_bf16") != NULL ||
      strstr(info.cpu_features, "avx_ne_convert") != NULL) {
    return;
  }
  call_frame frame = {.output.rank = 0};
  char reason[TEXT_SIZE] = "";
  open_providers();
  add_narrow(&frame, ND4C_BFLOAT16, 0, 2, (int64_t[]){BATCH, K});
  add_narrow(&frame, ND4C_BFLOAT16, 1, 2, (int64_t[]){K, N});
  make_ready(&frame, "matmul", 2);
  const nd4c_kernel *own = named_kernel("matmul", "onednn.matmul");
  assert_true(own == NULL || !own->usable(&frame.call, reason, sizeof reason));
  const nd4c_kernel *sooner = named_kernel("matmul", "simd.widened_own_matmul");
  frame.call.data = sooner->data;
  (void)sooner->usable(&frame.call, reason, sizeof reason);
  assert_null(strstr(reason, "there may be instructions"));
  release(&frame);
}

/* Few rows read b in 16 bits, more of them where it would be widened otherwise, unless it is constant: a plan has it in
 * float32. */
static void few_rows_read_16_bits(void **state) {
  static const struct {
    int64_t rows;
    int32_t flags;
    bool usable;
  } cases[] = {
      {4, 0, true}, {16, 0, true}, {17, 0, false}, {4, ND4C_TENSOR_CONSTANT, true}, {5, ND4C_TENSOR_CONSTANT, false}};
  (void)state;
  nd4c_machine_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_machine_get_info(&info), ND4C_OK);
  for (size_t i = 0; strncmp(info.cpu_level, "avx", 3) == 0 && i < sizeof cases / sizeof *cases; i++) {
    call_frame frame = {.output.rank = 0};
    char reason[TEXT_SIZE] = "";
    open_providers();
    add_half(&frame, 0, 2, (int64_t[]){cases[i].rows, K});
    add_half(&frame, 1, 2, (int64_t[]){K, N});
    make_ready(&frame, "matmul", 2);
    nd4c_tensor inputs[] = {frame.call.inputs[0], frame.call.inputs[1]};
    inputs[1].flags |= cases[i].flags;
    frame.call.inputs = inputs;
    const nd4c_kernel *kernel = named_kernel("matmul", "simd.narrow_float16_matmul");
    assert_int_equal(kernel->usable(&frame.call, reason, sizeof reason), cases[i].usable);
    release(&frame);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(repeated_weights_are_widened_once),
      cmocka_unit_test(endless_vectors_want_little),
      cmocka_unit_test(overlapping_rows_are_refused),
      cmocka_unit_test(emulated_products_are_refused),
      cmocka_unit_test(few_rows_read_16_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
