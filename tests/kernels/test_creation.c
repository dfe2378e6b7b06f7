/* Arrays from numbers of engine simd against the reference: sizes beside those of its pieces, several workers, every
 * dtype, every level that this machine has; no byte is written beside the result. */
#include "tests/kernels/operands.h"

enum { MOST_ATTRS = 6, LONGEST = 20011 }; /* longer than what one worker takes */

typedef struct creation_case {
  nd4c_op op;
  int32_t rank; /* of the result; the last axis has the size under test */
  double units;
  nd4c_attr_value attrs[MOST_ATTRS]; /* as far as kernels read them */
} creation_case;

#define REAL(x) {.kind = ND4C_ATTR_FLOAT, .as.f = (x)}
#define WHOLE(x) {.kind = ND4C_ATTR_INT, .as.i = (x)}
enum { SIZE = -12345 }; /* stands for the size */

static const creation_case cases[] = {
    {ND4C_OP_zeros, 2, 0, {WHOLE(0)}},
    {ND4C_OP_ones, 2, 0, {WHOLE(0)}},
    {ND4C_OP_arange, 1, 0, {REAL(-3), REAL(0), REAL(0.125)}},
    {ND4C_OP_integer_range, 1, 0, {WHOLE(-70), WHOLE(0), WHOLE(3)}},
    {ND4C_OP_integer_range, 1, 0, {WHOLE(INT64_MAX - 5), WHOLE(0), WHOLE(INT64_MAX / 3)}},
    /* Near zero the reference has lost digits, and vectors have not. */
    {ND4C_OP_linspace, 1, 16, {REAL(-1), REAL(1), WHOLE(SIZE), WHOLE(1)}},
    {ND4C_OP_linspace, 1, 1, {REAL(0.1), REAL(1e-3), WHOLE(SIZE), WHOLE(0)}},
    {ND4C_OP_logspace, 1, 1, {REAL(-2), REAL(3), WHOLE(SIZE), REAL(2), WHOLE(1)}},
    {ND4C_OP_eye, 2, 0, {WHOLE(0), WHOLE(0), WHOLE(1)}},
    {ND4C_OP_eye, 2, 0, {WHOLE(0), WHOLE(0), WHOLE(INT64_MIN)}},
    {ND4C_OP_tri, 2, 0, {WHOLE(0), WHOLE(0), WHOLE(-2)}},
    {ND4C_OP_indices, 3, 0, {WHOLE(0)}},
};

static int check(const creation_case *each, nd4c_dtype dtype, int64_t size, placement where) {
  const nd4c_op_info *info = nd4c_op_get(each->op);
  const nd4c_kernel *kernels[2] = {find_kernel(info->name, "simd"), find_kernel(info->name, "reference")};
  const int64_t rows = each->rank == 3 ? 2 : 3, shape[3] = {rows, each->rank == 3 ? 5 : size, size};
  nd4c_attr_value attrs[MOST_ATTRS];
  operand y[2];
  char what[120], reason[200];
  memcpy(attrs, each->attrs, sizeof attrs);
  for (int i = 0; i < MOST_ATTRS; i++) {
    attrs[i].as.i = attrs[i].kind == ND4C_ATTR_INT && attrs[i].as.i == SIZE ? size : attrs[i].as.i;
  }
  (void)snprintf(what, sizeof what, "level %s, %s, dtype %d, size %lld", level, info->name, (int)dtype,
                 (long long)size);
  nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call), .op = info, .output_count = 1, .attrs = attrs, .width = 3};
  for (int i = 0; i < 2; i++) {
    assert_non_null(kernels[i]);
    lay_out(&y[i], dtype, each->rank, each->rank == 1 ? &size : shape, where);
    call.outputs = &y[i].tensor;
    if ((kernels[i]->dtypes >> dtype & 1) == 0 ||
        (kernels[i]->usable != NULL && !kernels[i]->usable(&call, reason, sizeof reason))) {
      assert_int_equal(i, 0); /* the reference takes every call */
      free(y[0].memory);
      return 0;
    }
    assert_int_equal(kernels[i]->run(&call), ND4C_OK);
  }
  compare(what, &y[0], &y[1], each->units);
  if (each->units == 0) {
    assert_memory_equal(y[0].memory, y[1].memory, y[0].bytes);
  }
  free(y[0].memory);
  free(y[1].memory);
  return 1;
}

static void test_levels(void **state) {
  (void)state;
  static const nd4c_dtype dtypes[] = {
#define NUMBER(NAME, name, kind) ND4C_##NAME,
      ND4C_REAL_DTYPES(NUMBER)
#undef NUMBER
  };
  int64_t compared = 0;
  static const int64_t sizes[] = {0, 1, 3, 511, 512, 513, 1025, LONGEST};
  enter_providers();
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    level = nd4c_cpu_level_name(i);
    assert_true(cpu_providers_open());
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
          compared += check(&cases[c], dtypes[d], sizes[s], PLAIN);
          compared += check(&cases[c], dtypes[d], sizes[s], sizes[s] < 512 ? GAPS : OFFSET);
        }
      }
    }
    cpu_providers_close();
  }
  assert_true(compared > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
