/* Reductions of engine simd against the reference: every subset of axes of several shapes and layouts. */
#include "tests/kernels/operands.h"

typedef struct reduction_case {
  const char *op;
  nd4c_op number;
  nd4c_dtype floats, ints, uints; /* dtype of the result; NONE: that of x */
  bool one_axis;
} reduction_case;
static const reduction_case ops[] = {{"sum", ND4C_OP_sum, 0, ND4C_INT64, ND4C_UINT64, false},
                                     {"prod", ND4C_OP_prod, 0, ND4C_INT64, ND4C_UINT64, false},
                                     {"mean", ND4C_OP_mean, 0, 0, 0, false},
                                     {"max", ND4C_OP_max, 0, 0, 0, false},
                                     {"min", ND4C_OP_min, 0, 0, 0, false},
                                     {"all", ND4C_OP_all, 0, 0, 0, false},
                                     {"any", ND4C_OP_any, 0, 0, 0, false},
                                     {"argmax", ND4C_OP_argmax, ND4C_INT64, ND4C_INT64, ND4C_INT64, true},
                                     {"argmin", ND4C_OP_argmin, ND4C_INT64, ND4C_INT64, ND4C_INT64, true}};

static const struct {
  int32_t rank;
  int64_t shape[MAX_RANK];
} shapes[] = {{1, {1}}, {1, {130}}, {1, {70001}}, {2, {3, 5}}, {2, {300, 40}}, {2, {17, 2100}}, {3, {4, 19, 66}}};
/* Columns of which rows are shared out, at the edge of a vector of each level and in two images. */
static const int64_t tall_shapes[][3] = {{1, 7300, 9}, {1, 2100, 33}, {2, 1700, 40}};

static nd4c_dtype result_dtype(const reduction_case *op, nd4c_dtype x) {
  nd4c_dtype_kind kind = nd4c_reference_kind(x);
  nd4c_dtype result = kind == ND4C_KIND_FLOAT ? op->floats : kind == ND4C_KIND_INT ? op->ints : op->uints;
  return result == ND4C_DTYPE_NONE ? x : result;
}

/* Sums of numbers that cancel are compared on the scale of the terms: no infinities, and a tolerance of the sum's own.
 */
static void fill_mildly(operand *x) {
  int64_t index[MAX_RANK] = {0};
  do {
    nd4c_value value = random_value(x->tensor.dtype);
    if (nd4c_reference_kind(x->tensor.dtype) == ND4C_KIND_FLOAT) {
      value.f = random_bits() % 97 == 0 ? 1 : 0.5 + random_unit();
    }
    nd4c_value_store(x->tensor.dtype, x->tensor.data, nd4c_index_offset(x->tensor.rank, index, x->strides), value);
  } while (nd4c_index_next(x->tensor.rank, x->shape, index));
}

static void check(const reduction_case *op, nd4c_dtype dtype, size_t s, unsigned mask, placement where, int width) {
  const nd4c_kernel *simd = find_kernel(op->op, "simd"), *reference = find_kernel(op->op, "reference");
  const nd4c_op_info info = {.struct_size = ND4C_SIZE_OF(nd4c_op_info), .op = op->number, .name = op->op};
  int64_t axes[MAX_RANK], y_shape[MAX_RANK];
  int32_t count = 0;
  operand x, outputs[2];
  char what[200], reason[200];
  assert_non_null(simd);
  assert_non_null(reference);
  lay_out(&x, dtype, shapes[s].rank, shapes[s].shape, where);
  for (int32_t axis = 0; axis < shapes[s].rank; axis++) {
    y_shape[axis] = mask >> axis & 1 ? 1 : x.shape[axis];
    if (mask >> axis & 1) {
      axes[count++] = axis - (axis % 2 ? shapes[s].rank : 0);
    }
  }
  bool mild = op->number == ND4C_OP_sum || op->number == ND4C_OP_prod || op->number == ND4C_OP_mean;
  if (mild) {
    fill_mildly(&x);
  } else {
    fill(&x);
  }
  const nd4c_attr_value attrs[3] = {op->one_axis
                                        ? (nd4c_attr_value){.kind = ND4C_ATTR_INT, .as.i = axes[0]}
                                        : (nd4c_attr_value){.kind = ND4C_ATTR_INTS, .count = count, .as.ints = axes},
                                    {.kind = ND4C_ATTR_BOOL, .as.i = 1},
                                    {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_DTYPE_NONE}}; /* of sum and prod */
  for (int i = 0; i < 2; i++) {
    lay_out(&outputs[i], result_dtype(op, dtype), shapes[s].rank, y_shape, where <= TRANSPOSED ? where : PLAIN);
  }
  nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                    .op = &info,
                    .input_count = 1,
                    .output_count = 1,
                    .inputs = &x.tensor,
                    .attrs = attrs,
                    .width = width,
                    .outputs = &outputs[0].tensor};
  (void)snprintf(what, sizeof what, "level %s, %s, dtype %d, shape %d, axes %u, width %d, layout %s", level, op->op,
                 (int)dtype, (int)s, mask, width, placement_names[where]);
  if (((simd->dtypes & reference->dtypes) >> dtype & 1) != 0 && simd->usable(&call, reason, sizeof reason)) {
    assert_int_equal(simd->run(&call), ND4C_OK);
    call.outputs = &outputs[1].tensor;
    assert_int_equal(reference->run(&call), ND4C_OK);
    compare(what, &outputs[0], &outputs[1], op->number == ND4C_OP_prod ? 1024 : dtype == ND4C_FLOAT64 ? 64 : 2);
    assert_memory_equal(outputs[0].memory, outputs[1].memory,
                        GUARD * (size_t)nd4c_reference_bytes(outputs[0].tensor.dtype));
  }
  free(x.memory);
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
        for (unsigned mask = 1; mask < 1u << shapes[s].rank; mask++) {
          if (ops[o].one_axis && (mask & (mask - 1)) != 0) {
            continue;
          }
          check(&ops[o], dtypes[d], s, mask, PLAIN, 2);
          check(&ops[o], dtypes[d], s, mask, (placement)(random_bits() % PLACEMENTS), 1 + (int)(random_bits() % 3));
        }
      }
    }
  }
  cpu_providers_close();
}

/* Runs `op` over the rows of x. The caller owns y's memory. */
static void run_tall(const char *op, const operand *x, int width, operand *y) {
  const nd4c_kernel *kernel = find_kernel(op, "simd");
  const nd4c_op_info info = {.struct_size = ND4C_SIZE_OF(nd4c_op_info), .op = ND4C_OP_sum, .name = op};
  const int64_t axis = 1, shape[3] = {x->shape[0], 1, x->shape[2]};
  const nd4c_attr_value attrs[3] = {{.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &axis},
                                    {.kind = ND4C_ATTR_BOOL, .as.i = 1},
                                    {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_DTYPE_NONE}};
  char reason[200];
  lay_out(y, x->tensor.dtype, 3, shape, PLAIN);
  nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                    .op = &info,
                    .input_count = 1,
                    .output_count = 1,
                    .inputs = &x->tensor,
                    .attrs = attrs,
                    .width = width,
                    .outputs = &y->tensor};
  assert_true(kernel->usable(&call, reason, sizeof reason));
  assert_int_equal(kernel->run(&call), ND4C_OK);
}

/* Tall columns against sums in long double, and the same bits at every width. */
static void check_tall(nd4c_dtype dtype, const int64_t *shape) {
  operand x, y, wide;
  lay_out(&x, dtype, 3, shape, PLAIN);
  fill_mildly(&x);
  run_tall("sum", &x, 1, &y);
  for (int width = 2; width <= 5; width++) {
    run_tall("sum", &x, width, &wide);
    assert_memory_equal(y.tensor.data, wide.tensor.data,
                        (size_t)(shape[0] * shape[2]) * (size_t)nd4c_reference_bytes(dtype));
    free(wide.memory);
  }
  for (int64_t i = 0; i < shape[0] * shape[2]; i++) {
    long double sum = 0;
    for (int64_t row = 0; row < shape[1]; row++) {
      const int64_t at = (i / shape[2] * shape[1] + row) * shape[2] + i % shape[2];
      sum += nd4c_value_load(dtype, x.tensor.data, at).f;
    }
    const double found = nd4c_value_load(dtype, y.tensor.data, i).f;
    const double tolerance = dtype == ND4C_FLOAT64 ? 0x1p-44 : dtype == ND4C_FLOAT32 ? 0x1p-22 : 0x1p-8;
    if (!(fabs(found - (double)sum) <= tolerance * (double)sum)) {
      fail_msg("level %s, dtype %d, shape %d %d %d, column %d: %g instead of %g", level, (int)dtype, (int)shape[0],
               (int)shape[1], (int)shape[2], (int)i, found, (double)sum);
    }
  }
  free(x.memory);
  free(y.memory);
}

static void test_tall(void **state) {
  static const nd4c_dtype floats[] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_BFLOAT16, ND4C_FLOAT16};
  (void)state;
  enter_providers();
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    level = nd4c_cpu_level_name(i);
    assert_true(cpu_providers_open());
    for (size_t s = 0; s < sizeof tall_shapes / sizeof *tall_shapes; s++) {
      for (size_t d = 0; d < sizeof floats / sizeof *floats; d++) {
        check_tall(floats[d], tall_shapes[s]);
      }
    }
    cpu_providers_close();
  }
}

static void test_levels(void **state) {
  (void)state;
  enter_providers();
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    check_level(nd4c_cpu_level_name(i));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels), cmocka_unit_test(test_tall)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
