/* Every kernel of engine simd against the reference, at every level that this machine has, over odd sizes, misaligned
 * starts, gaps, negative strides, transposed and repeated axes. */
#include "tests/kernels/operands.h"

/* -- cases ---------------------------------------------------------------------------------------------------- */

typedef struct shape_case {
  int32_t rank;
  int64_t shape[MAX_RANK];
} shape_case;
static const shape_case shapes[] = {{0, {0}},       {1, {1}},         {1, {8}},           {1, {67}},
                                    {1, {5003}},    {2, {3, 5}},      {2, {33, 65}},      {2, {131, 70}},
                                    {3, {5, 7, 3}}, {3, {4, 33, 40}}, {4, {2, 3, 4, 70}}, {2, {0, 5}}};

/* attrs: by position; outputs of predicates are bool. */
typedef struct op_case {
  const char *op;
  nd4c_op number;
  int inputs;
  bool predicate;
  double units; /* of the last place that results may differ by */
} op_case;
#define UNARY(op, units) {#op, ND4C_OP_##op, 1, false, units}
#define BINARY(op, units) {#op, ND4C_OP_##op, 2, false, units}
#define COMPARISON(op) {#op, ND4C_OP_##op, 2, true, 0}
static const op_case ops[] = {UNARY(negative, 0),
                              UNARY(abs, 0),
                              UNARY(sign, 0),
                              UNARY(square, 0),
                              UNARY(sqrt, 0),
                              UNARY(reciprocal, 0),
                              UNARY(exp, 2),
                              UNARY(log, 2),
                              UNARY(sin, 2),
                              UNARY(cos, 2),
                              UNARY(tanh, 3),
                              UNARY(erf, 3),
                              UNARY(sigmoid, 3),
                              UNARY(relu, 0),
                              UNARY(leaky_relu, 1),
                              UNARY(gelu, 8),
                              UNARY(floor, 0),
                              UNARY(ceil, 0),
                              UNARY(round, 0),
                              {"is_nan", ND4C_OP_is_nan, 1, true, 0},
                              {"logical_not", ND4C_OP_logical_not, 1, true, 0},
                              UNARY(clip, 0),
                              UNARY(copy, 0),
                              BINARY(add, 0),
                              BINARY(subtract, 0),
                              BINARY(multiply, 0),
                              BINARY(divide, 0),
                              BINARY(power, 2),
                              BINARY(maximum, 0),
                              BINARY(minimum, 0),
                              COMPARISON(equal),
                              COMPARISON(not_equal),
                              COMPARISON(less),
                              COMPARISON(less_equal),
                              COMPARISON(greater),
                              COMPARISON(greater_equal),
                              COMPARISON(logical_and),
                              COMPARISON(logical_or),
                              COMPARISON(logical_xor),
                              BINARY(bitwise_and, 0),
                              BINARY(bitwise_or, 0),
                              BINARY(bitwise_xor, 0),
                              BINARY(bitwise_left_shift, 0),
                              BINARY(bitwise_right_shift, 0),
                              BINARY(gcd, 0),
                              BINARY(lcm, 0),
                              BINARY(floor_divide, 0),
                              BINARY(remainder, 0),
                              BINARY(fmod, 0),
                              BINARY(fmax, 0),
                              BINARY(fmin, 0),
                              BINARY(squared_difference, 1),
                              BINARY(copysign, 0),
                              BINARY(nextafter, 0),
                              BINARY(heaviside, 0),
                              BINARY(divide_no_nan, 0),
                              COMPARISON(is_close),
                              UNARY(trunc, 0),
                              UNARY(frac, 0),
                              UNARY(cube, 1),
                              UNARY(bitwise_invert, 0),
                              UNARY(nan_to_num, 0),
                              UNARY(positive, 0),
                              {"is_finite", ND4C_OP_is_finite, 1, true, 0},
                              {"is_inf", ND4C_OP_is_inf, 1, true, 0},
                              {"signbit", ND4C_OP_signbit, 1, true, 0},
                              {"where", ND4C_OP_where, 3, false, 0}};

static void check(const op_case *op, nd4c_dtype dtype, const shape_case *shape, const placement *where, int width) {
  const nd4c_kernel *simd = find_kernel(op->op, "simd"), *reference = find_kernel(op->op, "reference");
  const nd4c_op_info *info = nd4c_op_get(op->number);
  nd4c_attr_value attrs[3];
  operand inputs[3], outputs[2];
  nd4c_tensor tensors[3];
  char what[200], reason[200];
  assert_non_null(simd);
  assert_non_null(reference);
  assert_true(info->attr_count <= 3);
  for (int32_t i = 0; i < info->attr_count; i++) {
    attrs[i] = info->attrs[i].preset;
  }
  (void)snprintf(what, sizeof what, "level %s, %s, dtype %d, rank %d, last axis %lld, width %d, y %s, a %s, b %s",
                 level, op->op, (int)dtype, (int)shape->rank,
                 (long long)(shape->rank > 0 ? shape->shape[shape->rank - 1] : 1), width, placement_names[where[0]],
                 placement_names[where[1]], placement_names[where[2]]);
  for (int i = 0; i < op->inputs; i++) {
    nd4c_dtype own = op->number == ND4C_OP_where && i == 0 ? ND4C_BOOL : dtype;
    lay_out(&inputs[i], own, shape->rank, shape->shape, where[i % 2 + 1]);
    fill(&inputs[i]);
    tensors[i] = inputs[i].tensor;
  }
  nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                    .op = info,
                    .input_count = op->inputs,
                    .output_count = 1,
                    .inputs = tensors,
                    .attrs = attrs,
                    .width = width};
  for (int i = 0; i < 2; i++) {
    lay_out(&outputs[i], op->predicate ? ND4C_BOOL : dtype, shape->rank, shape->shape, where[0]);
  }
  call.outputs = &outputs[0].tensor;
  if (((simd->dtypes & reference->dtypes) >> tensors[0].dtype & 1) != 0 &&
      (simd->usable == NULL || simd->usable(&call, reason, sizeof reason))) {
    assert_int_equal(simd->run(&call), ND4C_OK);
    call.outputs = &outputs[1].tensor;
    assert_int_equal(reference->run(&call), ND4C_OK);
    compare(what, &outputs[0], &outputs[1], op->units);
    /* The bytes between and around the elements must stay unchanged: comparing all bytes needs equal elements. */
    const nd4c_dtype_kind kind = nd4c_reference_kind(dtype);
    if (op->units == 0 && !op->predicate && kind != ND4C_KIND_FLOAT && kind != ND4C_KIND_COMPLEX) {
      assert_memory_equal(outputs[0].memory, outputs[1].memory, outputs[0].bytes);
    } else {
      assert_memory_equal(outputs[0].memory, outputs[1].memory,
                          GUARD * (size_t)nd4c_reference_bytes(outputs[0].tensor.dtype));
    }
  }
  for (int i = 0; i < op->inputs; i++) {
    free(inputs[i].memory);
  }
  free(outputs[0].memory);
  free(outputs[1].memory);
}

static const nd4c_dtype dtypes[] = {
#define NUMBER(NAME, name, kind) ND4C_##NAME,
    ND4C_NUMBER_DTYPES(NUMBER)
#undef NUMBER
};

static void check_level(const char *name) {
  level = name;
  assert_true(cpu_providers_open());
  for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (int round = 0; round < (s < 7 ? 3 : 1); round++) {
          /* Repeated axes are for inputs only; the first round is all plain. */
          const placement where[3] = {round == 0 ? PLAIN : (placement)(random_bits() % (TRANSPOSED + 1)),
                                      round == 0 ? PLAIN : (placement)(random_bits() % PLACEMENTS),
                                      round == 0 ? PLAIN : (placement)(random_bits() % PLACEMENTS)};
          check(&ops[o], dtypes[d], &shapes[s], where, 1 + (int)(random_bits() % 3));
        }
      }
    }
  }
  cpu_providers_close();
}

static void test_levels(void **state) {
  (void)state;
  enter_providers();
  stream_bytes = 0;
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    check_level(nd4c_cpu_level_name(i));
  }
}

static void test_streaming(void **state) {
  (void)state;
  enter_providers();
  stream_bytes = 4096;
  check_level(nd4c_cpu_level_name(nd4c_cpu_get_level()));
}

/* Streaming loops are picked by the steps of both inputs: every pair of placements. */
static void test_streaming_pairs(void **state) {
  (void)state;
  static const shape_case shape = {2, {3, 4099}};
  enter_providers();
  stream_bytes = 1024;
  level = nd4c_cpu_level_name(nd4c_cpu_get_level());
  assert_true(cpu_providers_open());
  static const op_case streamed[] = {BINARY(add, 0), BINARY(multiply, 0)};
  for (size_t o = 0; o < sizeof streamed / sizeof *streamed; o++) {
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
      for (int a = 0; a < PLACEMENTS; a++) {
        for (int b = 0; b < PLACEMENTS; b++) {
          check(&streamed[o], dtypes[d], &shape, (const placement[3]){PLAIN, (placement)a, (placement)b}, 2);
        }
      }
    }
  }
  cpu_providers_close();
}

#ifndef ND4C_DTYPES_LITE
/* A number of a 16-bit dtype; behind the largest the one that would follow it. */
static double half_value(nd4c_dtype dtype, uint16_t bits) {
  const double value = (double)(dtype == ND4C_FLOAT16 ? nd4c_float16_to_float(bits) : nd4c_bfloat16_to_float(bits));
  return isinf(value) ? ldexp(1, dtype == ND4C_FLOAT16 ? 16 : 128) : value;
}

/* Casts what lies in the middle between any two neighbours, and the doubles next to it on both sides: by way of
 * float32, rounded to nearest, these would become the middle and be rounded again. */
static void check_middles(nd4c_dtype dtype) {
  const nd4c_kernel *kernel = find_kernel("cast", "simd");
  const int64_t infinity = dtype == ND4C_FLOAT16 ? 0x7c00 : 0x7f80, count = 6 * infinity;
  nd4c_attr_value attr = {.kind = ND4C_ATTR_INT, .as.i = dtype};
  operand x, y;
  lay_out(&x, ND4C_FLOAT64, 1, &count, PLAIN);
  lay_out(&y, dtype, 1, &count, PLAIN);
  double *from = x.tensor.data;
  const uint16_t *to = y.tensor.data;
  for (int64_t i = 0; i < count; i++) {
    const double middle = half_value(dtype, (uint16_t)(i / 6)) / 2 + half_value(dtype, (uint16_t)(i / 6 + 1)) / 2;
    const double size = i % 3 == 0 ? nextafter(middle, 0) : i % 3 == 1 ? middle : nextafter(middle, INFINITY);
    from[i] = i % 6 < 3 ? size : -size;
  }
  nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                    .op = nd4c_op_get(ND4C_OP_cast),
                    .input_count = 1,
                    .output_count = 1,
                    .inputs = &x.tensor,
                    .outputs = &y.tensor,
                    .attrs = &attr,
                    .width = 1};
  assert_non_null(kernel);
  assert_int_equal(call.op->attr_count, 1);
  assert_int_equal(kernel->run(&call), ND4C_OK);
  for (int64_t i = 0; i < count; i++) {
    const int64_t below = i / 6, rounded = i % 3 == 0 ? below : i % 3 == 1 ? below + (below & 1) : below + 1;
    const uint16_t expected = (uint16_t)(rounded | (i % 6 < 3 ? 0 : 0x8000));
    if (to[i] != expected) {
      fail_msg("level %s, %s of %a: 0x%04x, expected 0x%04x", level, nd4c_dtype_name(dtype), from[i], to[i], expected);
    }
  }
  free(x.memory);
  free(y.memory);
}
#endif

static void doubles_are_rounded_once(void **state) {
  (void)state;
#ifndef ND4C_DTYPES_LITE
  enter_providers();
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    level = nd4c_cpu_level_name(i);
    assert_true(cpu_providers_open());
    check_middles(ND4C_FLOAT16);
    check_middles(ND4C_BFLOAT16);
    cpu_providers_close();
  }
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels), cmocka_unit_test(test_streaming),
                                     cmocka_unit_test(test_streaming_pairs),
                                     cmocka_unit_test(doubles_are_rounded_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
