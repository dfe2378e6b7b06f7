/* Calls of conv for the tests of single kernels (test_winograd.c, test_conv_panels.c, test_conv_few.c,
 * test_conv_direct.c, test_conv_dots.c, test_depthwise_last.c): operands with random contents. */
#ifndef ND4C_TESTS_KERNELS_CONV_CALL_H
#define ND4C_TESTS_KERNELS_CONV_CALL_H

#include <math.h>

#include "kernels/kernel_call.h"

/* x [images, channels, ...] and w [outputs, channels, ...] of `rank` axes. The call refers to its lists. */
typedef struct conv_case {
  int32_t rank;
  int64_t x[5], w[5];
  int64_t strides[3], dilations[3], pads[6];
  int64_t activation;
  bool bias, addend;
  layout order; /* of x, y and the addend; CHANNELS_LAST unless a test sets another */
} conv_case;

/* A test of other calls defines these before: the order of x, the dtype of all operands, groups of channels. */
#ifndef CONV_X_ORDER
#define CONV_X_ORDER(c) (c)->order
#endif
#ifndef CONV_DTYPE
#define CONV_DTYPE ND4C_FLOAT32
#endif
#ifndef CONV_GROUPS
#define CONV_GROUPS(c) 1
#endif

static void add_conv_operand(call_frame *frame, int32_t input, int32_t rank, const int64_t *shape, layout how) {
  operand *op = &frame->operands[input];
  op->dtype = CONV_DTYPE;
  op->rank = rank;
  memcpy(op->shape, shape, (size_t)rank * sizeof *shape);
  lay_out(op, how);
  fill(op, (uint64_t)input + 3, -1);
}

static void conv_result_shape(const conv_case *c, int64_t *shape) {
  shape[0] = c->x[0];
  shape[1] = c->w[0];
  for (int32_t i = 0; i < c->rank - 2; i++) {
    const int64_t reach = (c->w[i + 2] - 1) * c->dilations[i] + 1;
    shape[i + 2] = (c->x[i + 2] + c->pads[i] + c->pads[c->rank - 2 + i] - reach) / c->strides[i] + 1;
  }
}

/* Operands and the call, whose weights are constant. */
static void make_conv(const conv_case *c, call_frame *frame) {
  const int32_t spatial = c->rank - 2;
  int64_t result[5];
  conv_result_shape(c, result);
  add_conv_operand(frame, ND4C_IN_conv_x, c->rank, c->x, CONV_X_ORDER(c));
  add_conv_operand(frame, ND4C_IN_conv_w, c->rank, c->w, C_ORDER);
  if (c->bias) {
    add_conv_operand(frame, ND4C_IN_conv_bias, 1, c->w, C_ORDER);
  }
  if (c->addend) {
    add_conv_operand(frame, ND4C_IN_conv_addend, c->rank, result, c->order);
  }
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find("conv", &info), ND4C_OK);
  const nd4c_attr attrs[] = {{"strides", {.kind = ND4C_ATTR_INTS, .count = spatial, .as.ints = c->strides}},
                             {"dilations", {.kind = ND4C_ATTR_INTS, .count = spatial, .as.ints = c->dilations}},
                             {"pads", {.kind = ND4C_ATTR_INTS, .count = 2 * spatial, .as.ints = c->pads}},
                             {"groups", {.kind = ND4C_ATTR_INT, .as.i = CONV_GROUPS(c)}},
                             {"activation", {.kind = ND4C_ATTR_INT, .as.i = c->activation}}};
  nd4c_attr_value values[MAX_ATTRS];
  assert_int_equal(nd4c_op_resolve_attrs(info, attrs, sizeof attrs / sizeof *attrs, values), ND4C_OK);
  ready(frame, "conv", ND4C_IN_conv_count, values, c->order);
  frame->inputs[ND4C_IN_conv_w].flags |= ND4C_TENSOR_CONSTANT;
}

/* The root of the mean square of the kernel's errors, divided by that of the reference's results, which are summed in
 * double precision. */
static double conv_error(const conv_case *c, const nd4c_kernel *kernel) {
  call_frame frame = {.output.rank = 0};
  double errors = 0, squares = 0;
  make_conv(c, &frame);
  run_kernel(engine_kernel("conv", "reference"), &frame);
  double *expected = result_numbers(&frame);
  run_packed_kernel(kernel, ND4C_IN_conv_w, &frame);
  double *got = result_numbers(&frame);
  for (int64_t i = 0; i < frame.output.size; i++) {
    errors += (got[i] - expected[i]) * (got[i] - expected[i]);
    squares += expected[i] * expected[i];
  }
  free(expected);
  free(got);
  release(&frame);
  return sqrt(errors / squares);
}

/* True, and the test ends, where engine simd leaves the convolution to the libraries. */
static inline bool conv_is_left_to_libraries(const nd4c_kernel *kernel, const conv_case *c) {
  call_frame frame = {.output.rank = 0};
  char reason[TEXT_SIZE] = "";
  make_conv(c, &frame);
  const bool usable = kernel->usable(&frame.call, reason, sizeof reason);
  release(&frame);
  if (!usable) {
    assert_non_null(strstr(reason, "the libraries are faster"));
  }
  return !usable;
}

/* The kernel takes each case, and its results are those of the reference. */
static inline void check_conv_cases(const nd4c_kernel *kernel, const conv_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    call_frame frame = {.output.rank = 0};
    char reason[TEXT_SIZE] = "";
    make_conv(&cases[i], &frame);
    if (!kernel->usable(&frame.call, reason, sizeof reason)) {
      fail_msg("case %d: %s", (int)i, reason);
    }
    release(&frame);
    const double error = conv_error(&cases[i], kernel);
    if (!(error <= 3e-7)) {
      fail_msg("case %d: error %.3g", (int)i, error);
    }
  }
}

/* The kernel declines the call, whose weights are constant or not, with this text. */
static inline void check_conv_declined(const nd4c_kernel *kernel, const conv_case *c, bool constant, const char *text) {
  call_frame frame = {.output.rank = 0};
  char reason[TEXT_SIZE] = "";
  make_conv(c, &frame);
  frame.inputs[ND4C_IN_conv_w].flags = constant ? ND4C_TENSOR_CONSTANT : 0;
  assert_false(kernel->usable(&frame.call, reason, sizeof reason));
  assert_string_equal(reason, text);
  release(&frame);
}

/* NaN and infinities of x go where the windows see them, and no further. */
static inline void check_conv_not_finite(const nd4c_kernel *kernel, const conv_case *c) {
  call_frame frame = {.output.rank = 0};
  make_conv(c, &frame);
  float *x = frame.operands[ND4C_IN_conv_x].memory;
  x[40] = NAN;
  x[700] = INFINITY;
  run_kernel(engine_kernel("conv", "reference"), &frame);
  double *expected = result_numbers(&frame);
  run_packed_kernel(kernel, ND4C_IN_conv_w, &frame);
  double *got = result_numbers(&frame);
  for (int64_t i = 0; i < frame.output.size; i++) {
    assert_true(isfinite(expected[i]) ? fabs(got[i] - expected[i]) <= 1e-5
                                      : got[i] == expected[i] || (isnan(got[i]) && isnan(expected[i])));
  }
  free(got);
  free(expected);
  release(&frame);
}

/* Infinite weights times the zeros of padding are NaN, so they are not packed; without packed weights, nothing is
 * prepared. */
static inline void check_conv_infinite_weights(const nd4c_kernel *kernel, const conv_case *c) {
  call_frame frame = {.output.rank = 0};
  nd4c_layout wanted = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  void *prepared = NULL;
  make_conv(c, &frame);
  assert_int_equal(kernel->prepare(&frame.call, &prepared), ND4C_UNSUPPORTED);
  const nd4c_tensor *w = &frame.inputs[ND4C_IN_conv_w];
  ((float *)frame.operands[ND4C_IN_conv_w].memory)[w->size - 1] = -INFINITY;
  assert_true(kernel->wants_layout(&frame.call, ND4C_IN_conv_w, &wanted));
  assert_false(kernel->wants_layout(&frame.call, ND4C_IN_conv_x, &wanted));
  nd4c_tensor packed = *w;
  packed.data = aligned_alloc(64, (size_t)(wanted.bytes + 63) / 64 * 64);
  assert_non_null(packed.data);
  assert_int_equal(kernel->pack(&frame.call, ND4C_IN_conv_w, &wanted, &packed), ND4C_UNSUPPORTED);
  free(packed.data);
  release(&frame);
}

/* Workers cut the work elsewhere, and each sum stays the same. */
static inline void check_conv_widths(const nd4c_kernel *kernel, const conv_case *c) {
  call_frame frame = {.output.rank = 0};
  double *expected = NULL;
  make_conv(c, &frame);
  for (int32_t width = 1; width <= 5; width += 2) {
    frame.call.width = width;
    run_packed_kernel(kernel, ND4C_IN_conv_w, &frame);
    double *got = result_numbers(&frame);
    if (expected == NULL) {
      expected = got;
      continue;
    }
    assert_memory_equal(got, expected, (size_t)frame.output.size * sizeof *got);
    free(got);
  }
  free(expected);
  release(&frame);
}

#endif
