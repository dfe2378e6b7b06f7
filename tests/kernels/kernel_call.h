/* Calls one kernel of the CPU backend directly, without dispatch: operands with random contents in a chosen layout. */
#ifndef ND4C_TESTS_KERNELS_KERNEL_CALL_H
#define ND4C_TESTS_KERNELS_KERNEL_CALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/memory/host.h"
#include "kernels/reference/support/value.h"
#include "ops/op.h"
#include "providers.h"

enum { MAX_OPERANDS = 8, MAX_RESULTS = 8, MAX_ATTRS = 12, TEXT_SIZE = 512 };

/* How an operand lies in memory: C order; channels last ([n, c, ...] stored as [n, ..., c]); every second element of a
 * C-ordered block; last two axes swapped. */
typedef enum layout { C_ORDER, CHANNELS_LAST, SPARSE, SWAPPED } layout;

typedef struct operand {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[8], strides[8];
  void *memory; /* owned, element 0 */
  size_t bytes;
} operand;

static void open_providers(void) {
  static bool opened;
  if (!opened) {
    assert_true(cpu_providers_enter(nd4c_host_table()));
    assert_true(cpu_providers_open());
    opened = true;
  }
}

static inline int64_t shape_size(int32_t rank, const int64_t *shape) {
  int64_t size = 1;
  for (int32_t i = 0; i < rank; i++) {
    size *= shape[i];
  }
  return size;
}

static void lay_out(operand *op, layout how) {
  int32_t order[8];
  for (int32_t i = 0; i < op->rank; i++) {
    order[i] = i;
  }
  if (how == CHANNELS_LAST && op->rank > 2) {
    for (int32_t i = 1; i < op->rank - 1; i++) {
      order[i] = i + 1;
    }
    order[op->rank - 1] = 1;
  }
  if (how == SWAPPED && op->rank > 1) {
    order[op->rank - 2] = op->rank - 1;
    order[op->rank - 1] = op->rank - 2;
  }
  int64_t stride = how == SPARSE ? 2 : 1;
  for (int32_t i = op->rank - 1; i >= 0; i--) {
    op->strides[order[i]] = stride;
    stride *= op->shape[order[i]];
  }
  op->bytes = (size_t)(stride * nd4c_reference_bytes(op->dtype));
  op->memory = aligned_alloc(64, (op->bytes + 127) / 64 * 64);
  assert_non_null(op->memory);
  memset(op->memory, 0x5A, op->bytes);
}

/* Numbers in [-1, 1), in [low, low + 1) with `low` >= 0, small integers for integer dtypes. */
static void fill(operand *op, uint64_t seed, double low) {
  int64_t index[8] = {0};
  uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
  nd4c_dtype_kind kind = nd4c_reference_kind(op->dtype);
  if (shape_size(op->rank, op->shape) == 0) {
    return;
  }
  do {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    double number = (double)(random >> 11) * 0x1p-53;
    nd4c_value value = {.f = low >= 0 ? low + number : 2 * number - 1};
    if (kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT) {
      value.i = (int64_t)(random >> 40) % 100 - (kind == ND4C_KIND_INT ? 50 : 0);
    }
    if (kind == ND4C_KIND_COMPLEX) {
      value.c = number + (1 - number) * I;
    }
    nd4c_value_store(op->dtype, op->memory, nd4c_index_offset(op->rank, index, op->strides), value);
  } while (nd4c_index_next(op->rank, op->shape, index));
}

/* One call with its operands and attributes. */
typedef struct call_frame {
  nd4c_call call;
  nd4c_tensor inputs[MAX_OPERANDS], output;
  nd4c_attr_value attrs[MAX_ATTRS];
  operand operands[MAX_OPERANDS], result;
} call_frame;

static void describe(nd4c_tensor *tensor, const operand *op, uint32_t flags) {
  *tensor = (nd4c_tensor){.dtype = op->dtype,
                          .rank = op->rank,
                          .flags = flags,
                          .shape = op->shape,
                          .strides = op->strides,
                          .size = shape_size(op->rank, op->shape),
                          .data = op->memory};
  if (op->dtype == ND4C_DTYPE_NONE) {
    *tensor = (nd4c_tensor){.dtype = ND4C_DTYPE_NONE};
  }
}

/* Infers the first result from frame->operands (dtype, rank, shape and memory set) and readies the call. */
static inline void ready(call_frame *frame, const char *op_name, int32_t input_count, const nd4c_attr_value *attrs,
                         layout result) {
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find(op_name, &info), ND4C_OK);
  memcpy(frame->attrs, attrs, (size_t)info->attr_count * sizeof *attrs);
  for (int32_t i = 0; i < input_count; i++) {
    describe(&frame->inputs[i], &frame->operands[i], 0);
  }
  nd4c_inferred inferred[MAX_RESULTS];
  nd4c_inference inference = {
      .op = info, .input_count = input_count, .inputs = frame->inputs, .attrs = frame->attrs, .outputs = inferred};
  assert_true(info->output_count <= MAX_RESULTS);
  if (nd4c_op_infer(nd4c_op_get_def(info->op), &inference) != ND4C_OK) {
    fail_msg("%s: %s", op_name, nd4c_error_message());
  }
  frame->result.dtype = inferred[0].dtype;
  frame->result.rank = inferred[0].rank;
  memcpy(frame->result.shape, inferred[0].shape, sizeof frame->result.shape);
  lay_out(&frame->result, result);
  describe(&frame->output, &frame->result, 0);
  frame->call = (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                            .op = info,
                            .input_count = input_count,
                            .output_count = 1,
                            .inputs = frame->inputs,
                            .outputs = &frame->output,
                            .attrs = frame->attrs,
                            .width = 2};
}

static inline void release(call_frame *frame) {
  for (int32_t i = 0; i < MAX_OPERANDS; i++) {
    free(frame->operands[i].memory);
  }
  free(frame->result.memory);
}

/* Prepares, runs and releases a kernel; the result is in `frame`. */
static inline void run_kernel(const nd4c_kernel *kernel, call_frame *frame) {
  nd4c_call *call = &frame->call;
  memset(frame->result.memory, 0x5A, frame->result.bytes);
  call->data = kernel->data;
  call->state = NULL;
  if (kernel->prepare != NULL && kernel->prepare(call, &call->state) != ND4C_OK) {
    fail_msg("%s: %s", kernel->name, nd4c_error_message());
  }
  int64_t bytes = kernel->scratch_bytes != NULL ? kernel->scratch_bytes(call) : 0;
  call->scratch = bytes > 0 ? aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64) : NULL;
  for (int32_t round = 0; round < 2; round++) {
    if (kernel->run(call) != ND4C_OK) {
      fail_msg("%s: %s", kernel->name, nd4c_error_message());
    }
  }
  free(call->scratch);
  call->scratch = NULL;
  if (kernel->unprepare != NULL) {
    kernel->unprepare(call->state);
  }
}

/* Packs an input as dispatch does, and runs the kernel. */
static inline void run_packed_kernel(const nd4c_kernel *kernel, int32_t input, call_frame *frame) {
  char reason[TEXT_SIZE] = "";
  if (!kernel->usable(&frame->call, reason, sizeof reason)) {
    fail_msg("%s: %s", kernel->name, reason);
  }
  nd4c_layout wanted = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  assert_true(kernel->wants_layout(&frame->call, input, &wanted));
  nd4c_tensor *w = &frame->inputs[input], strided = *w, packed = *w;
  packed.data = aligned_alloc(64, (size_t)(wanted.bytes + 63) / 64 * 64);
  assert_non_null(packed.data);
  packed.layout = wanted.tag;
  packed.arrangement = &wanted;
  assert_int_equal(kernel->pack(&frame->call, input, &wanted, &packed), ND4C_OK);
  *w = packed;
  run_kernel(kernel, frame);
  *w = strided;
  free(packed.data);
}

/* The n-th kernel of an op, NULL past the end. */
static const nd4c_kernel *nth_kernel(const char *op, int32_t n) {
  open_providers();
  return cpu_kernel(op, NULL, n);
}

static const nd4c_kernel *named_kernel(const char *op, const char *name) {
  for (int32_t n = 0; nth_kernel(op, n) != NULL; n++) {
    if (strcmp(nth_kernel(op, n)->name, name) == 0) {
      return nth_kernel(op, n);
    }
  }
  return NULL;
}

static inline const nd4c_kernel *engine_kernel(const char *op, const char *engine) {
  char name[TEXT_SIZE];
  (void)snprintf(name, sizeof name, "%s.%s", engine, op); /* an engine may have others for special operands */
  return named_kernel(op, name);
}

/* Result elements in C order as doubles (complex: the sum of the parts). */
static double *result_numbers(const call_frame *frame) {
  const operand *y = &frame->result;
  int64_t size = shape_size(y->rank, y->shape), index[8] = {0};
  double *numbers = malloc((size_t)(size + 1) * sizeof *numbers);
  assert_non_null(numbers);
  for (int64_t i = 0; i < size; i++, nd4c_index_next(y->rank, y->shape, index)) {
    nd4c_value value = nd4c_value_load(y->dtype, y->memory, nd4c_index_offset(y->rank, index, y->strides));
    nd4c_dtype_kind kind = nd4c_reference_kind(y->dtype);
    numbers[i] = kind == ND4C_KIND_FLOAT     ? value.f
                 : kind == ND4C_KIND_COMPLEX ? creal(value.c) + cimag(value.c)
                 : kind == ND4C_KIND_INT     ? (double)value.i
                                             : (double)value.u;
  }
  return numbers;
}

/* A float32 input with random contents. */
static inline void add_operand(call_frame *frame, int32_t input, int32_t rank, const int64_t *shape, layout how) {
  operand *op = &frame->operands[input];
  op->dtype = ND4C_FLOAT32;
  op->rank = rank;
  memcpy(op->shape, shape, (size_t)rank * sizeof *shape);
  lay_out(op, how);
  fill(op, (uint64_t)input + 3, -1);
}

/* Computes the call by engine reference and by a kernel that reads `packed`, an input, in its own layout. Fails at the
 * first result that does not agree; which: the number of the case, for the message. */
static inline void compare_with_reference(call_frame *frame, const nd4c_kernel *kernel, int32_t packed,
                                          bool (*agrees)(double got, double expected), int32_t which) {
  run_kernel(engine_kernel(frame->call.op->name, "reference"), frame);
  double *expected = result_numbers(frame);
  run_packed_kernel(kernel, packed, frame);
  double *got = result_numbers(frame);
  for (int64_t i = 0; i < frame->output.size; i++) {
    if (!agrees(got[i], expected[i])) {
      fail_msg("case %d, element %lld: %.9g, reference %.9g", (int)which, (long long)i, got[i], expected[i]);
    }
  }
  free(expected);
  free(got);
}

#endif
