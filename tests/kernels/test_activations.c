/* NaN and infinities through the activations that kernels of conv and linear apply themselves: every engine's kernels
 * against engine reference. */
#include <math.h>

#include "kernels/kernel_call.h"
#include "nd4c/ops.h"

enum { F32 = ND4C_FLOAT32, F64 = ND4C_FLOAT64, BF16 = ND4C_BFLOAT16, F16 = ND4C_FLOAT16 };

/* Extents end with 0; an input with shape[0] == 0 is left out. */
typedef struct record {
  const char *op;
  nd4c_dtype dtype;
  int64_t shapes[4][6];
  int64_t strides, pads, groups; /* of conv, along both axes */
  layout order;
  bool single; /* relu and x alone: a call that threads share, and that takes long in the reference */
} record;

static const record records[] = {
    {"linear", F32, {{40, 72}, {72, 48}, {48}}, 0, 0, 0, C_ORDER, false},
    {"linear", F32, {{40, 72}, {72, 48}, {48}, {40, 48}}, 0, 0, 0, C_ORDER, false},
    {"linear", F32, {{1, 160}, {160, 96}, {96}}, 0, 0, 0, C_ORDER, false},
    {"linear", F32, {{3, 9}, {9, 7}}, 0, 0, 0, C_ORDER, false},
    {"linear", F32, {{160, 256}, {256, 128}, {128}}, 0, 0, 0, C_ORDER, true},
    {"linear", F64, {{40, 72}, {72, 48}, {48}}, 0, 0, 0, C_ORDER, false},
    {"linear", F16, {{40, 72}, {72, 48}, {48}}, 0, 0, 0, C_ORDER, false},
    {"linear", BF16, {{40, 72}, {72, 48}, {48}}, 0, 0, 0, C_ORDER, false},
    {"conv", F32, {{1, 20, 9, 8}, {24, 20, 3, 3}, {24}}, 2, 1, 1, CHANNELS_LAST, false},
    {"conv", F32, {{1, 20, 9, 8}, {24, 20, 3, 3}, {24}, {1, 24, 9, 8}}, 1, 1, 1, CHANNELS_LAST, false},
    {"conv", F32, {{1, 16, 12, 12}, {32, 16, 3, 3}, {32}}, 1, 1, 1, CHANNELS_LAST, false}, /* Winograd's */
    {"conv", F32, {{1, 48, 7, 6}, {40, 48, 1, 1}, {40}}, 1, 0, 1, CHANNELS_LAST, false},
    {"conv", F32, {{1, 48, 7, 6}, {40, 48, 1, 1}, {40}}, 1, 0, 1, C_ORDER, false},
    {"conv", F32, {{1, 3, 15, 16}, {16, 3, 3, 3}, {16}}, 2, 1, 1, C_ORDER, false},
    {"conv", F32, {{1, 32, 9, 9}, {32, 1, 3, 3}, {32}}, 1, 1, 32, CHANNELS_LAST, false},
    {"conv", F32, {{2, 7, 9, 9}, {7, 1, 3, 3}, {7}}, 1, 1, 7, C_ORDER, false},
    {"conv", F32, {{1, 12, 6, 6}, {24, 3, 5, 5}, {24}}, 1, 2, 4, CHANNELS_LAST, false},
    {"conv", F32, {{1, 64, 28, 28}, {64, 64, 3, 3}, {64}}, 2, 1, 1, CHANNELS_LAST, true},
    {"conv", F32, {{1, 128, 24, 24}, {64, 128, 1, 1}, {64}}, 1, 0, 1, CHANNELS_LAST, true},
    {"conv", F64, {{1, 5, 6, 6}, {4, 5, 3, 3}, {4}}, 1, 1, 1, C_ORDER, false},
    {"conv", BF16, {{1, 16, 6, 6}, {16, 16, 3, 3}, {16}}, 1, 1, 1, CHANNELS_LAST, false},
};

/* One odd number in one of the operands, at a place that does not meet all results: all of them in x, NaN in others. */
static const double odd_numbers[] = {INFINITY, -INFINITY, NAN};

static int32_t rank_of(const int64_t *shape) {
  int32_t rank = 0;
  while (rank < 6 && shape[rank] != 0) {
    rank++;
  }
  return rank;
}

static int32_t make_operands(const record *r, call_frame *frame) {
  int32_t count = 0;
  for (int32_t i = 0; i < 4; i++) {
    operand *op = &frame->operands[i];
    op->rank = rank_of(r->shapes[i]);
    if (op->rank > 0) {
      op->dtype = r->dtype;
      memcpy(op->shape, r->shapes[i], sizeof r->shapes[i]);
      lay_out(op, i == 0 || i == 3 ? r->order : C_ORDER);
      fill(op, (uint64_t)i + 11, -1);
      count = i + 1;
    }
  }
  return count;
}

static void put(const operand *op, int64_t index, double number) {
  nd4c_value value = {.f = number};
  nd4c_value_store(op->dtype, op->memory, index, value);
}

static bool agrees(double got, double expected, nd4c_dtype dtype) {
  const double tolerance = dtype == F64 ? 1e-11 : dtype == F32 ? 1e-4 : dtype == BF16 ? 4e-2 : 1e-2;
  return isfinite(expected) ? fabs(got - expected) <= tolerance * fmax(1, fabs(expected))
                            : got == expected || (isnan(got) && isnan(expected));
}

static int64_t special_results; /* that the reference gave in all */

/* odd: the input with the odd number. Padding of zeros times a NaN or an infinity may count or not: the reference skips
 * padding, others multiply it. */
static void compare(const record *r, const char *what, int32_t odd, const nd4c_kernel *kernel, const double *expected,
                    const call_frame *frame) {
  double *got = result_numbers(frame);
  for (int64_t i = 0; i < frame->output.size; i++) {
    special_results += !isfinite(expected[i]);
    const bool padded = odd == 1 && r->pads > 0 && isnan(got[i]);
    if (!agrees(got[i], expected[i], r->dtype) && !padded) {
      fail_msg("%s, record %d, %s, element %lld: %.9g, reference %.9g", kernel->name, (int)(r - records), what,
               (long long)i, got[i], expected[i]);
    }
  }
  free(got);
}

static bool is_usable(const nd4c_kernel *kernel, call_frame *frame) {
  char reason[TEXT_SIZE] = "";
  frame->call.data = kernel->data;
  return kernel->usable(&frame->call, reason, sizeof reason);
}

static bool wants_packed(const nd4c_kernel *kernel, call_frame *frame) {
  nd4c_layout wanted = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  return kernel->wants_layout != NULL && kernel->wants_layout(&frame->call, 1, &wanted);
}

/* Some kernels refuse weights that are not finite, as their padding is zeros that are multiplied; another kernel is
 * asked then. */
static bool packs(const nd4c_kernel *kernel, call_frame *frame) {
  nd4c_layout wanted = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  assert_true(kernel->wants_layout(&frame->call, 1, &wanted));
  nd4c_tensor packed = frame->inputs[1];
  packed.data = aligned_alloc(64, (size_t)(wanted.bytes + 63) / 64 * 64);
  assert_non_null(packed.data);
  packed.layout = wanted.tag;
  packed.arrangement = &wanted;
  const nd4c_status status = kernel->pack(&frame->call, 1, &wanted, &packed);
  assert_true(status == ND4C_OK || status == ND4C_UNSUPPORTED);
  free(packed.data);
  return status == ND4C_OK;
}

/* All kernels but the reference: weights that vary, and constant ones, packed where the kernel wants it. */
static void check_kernels(const record *r, const char *what, int32_t odd, call_frame *frame) {
  run_kernel(engine_kernel(r->op, "reference"), frame);
  double *expected = result_numbers(frame);
  const nd4c_kernel *kernel;
  for (int32_t n = 0; (kernel = nth_kernel(r->op, n)) != NULL; n++) {
    for (uint32_t flags = 0; flags <= ND4C_TENSOR_CONSTANT; flags += ND4C_TENSOR_CONSTANT) {
      frame->inputs[1].flags = flags;
      if (kernel->usable == NULL || (kernel->dtypes & ND4C_DTYPE_BIT(r->dtype)) == 0 || !is_usable(kernel, frame)) {
        continue;
      }
      if (flags != 0 && wants_packed(kernel, frame)) {
        if (!packs(kernel, frame)) {
          assert_int_equal(odd, 1);
          continue;
        }
        run_packed_kernel(kernel, 1, frame);
      } else {
        run_kernel(kernel, frame);
      }
      compare(r, what, odd, kernel, expected, frame);
    }
    frame->inputs[1].flags = 0;
  }
  free(expected);
}

static void check_numbers(const record *r, int64_t activation, int32_t inputs, call_frame *frame) {
  for (int32_t i = 0; i < (r->single ? 1 : inputs); i++) {
    operand *op = &frame->operands[i];
    for (size_t n = i == 0 ? 0 : 2; op->rank > 0 && n < sizeof odd_numbers / sizeof *odd_numbers; n++) {
      const int64_t size = shape_size(op->rank, op->shape), at = size / 3;
      const double before = nd4c_value_load(op->dtype, op->memory, at).f;
      char what[64];
      (void)snprintf(what, sizeof what, "activation %lld, %g in input %d", (long long)activation, odd_numbers[n], i);
      put(op, at, odd_numbers[n]);
      check_kernels(r, what, i, frame);
      put(op, at, before);
    }
  }
  check_kernels(r, "ordinary numbers", -1, frame);
}

static void check_activation(const record *r, int64_t activation) {
  call_frame frame = {.output.rank = 0};
  const nd4c_op_info *info = NULL;
  nd4c_attr_value values[MAX_ATTRS];
  const int32_t inputs = make_operands(r, &frame);
  const int64_t strides[] = {r->strides, r->strides}, pads[] = {r->pads, r->pads, r->pads, r->pads};
  const nd4c_attr attrs[] = {{"activation", {.kind = ND4C_ATTR_INT, .as.i = activation}},
                             {"strides", {.kind = ND4C_ATTR_INTS, .count = 2, .as.ints = strides}},
                             {"pads", {.kind = ND4C_ATTR_INTS, .count = 4, .as.ints = pads}},
                             {"groups", {.kind = ND4C_ATTR_INT, .as.i = r->groups}}};
  assert_int_equal(nd4c_op_find(r->op, &info), ND4C_OK);
  assert_int_equal(nd4c_op_resolve_attrs(info, attrs, r->groups > 0 ? 4 : 1, values), ND4C_OK);
  ready(&frame, r->op, inputs, values, r->order);
  check_numbers(r, activation, inputs, &frame);
  release(&frame);
}

static void test_special_numbers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    const record *r = &records[i];
    const int64_t last = r->single ? ND4C_ACTIVATION_RELU : ND4C_ACTIVATION_RELU6;
    if (nd4c_reference_bytes(r->dtype) == 0) {
      continue; /* left out of a lite build */
    }
    for (int64_t activation = r->single; activation <= last; activation++) {
      check_activation(r, activation);
    }
  }
  assert_true(special_results > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_special_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
