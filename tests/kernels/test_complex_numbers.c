/* Arithmetic of complex numbers by engine simd against engine reference: zeros of both signs, infinity, NaN and numbers
 * whose products and squares leave the range, among ordinary ones, in every layout and with one operand alone. */
#include <math.h>

#include "tests/kernels/same.h"

enum { ROWS = 7, COLUMNS = 61, COUNT = ROWS * COLUMNS }; /* not a multiple of what is computed at once */

typedef struct operation {
  const char *name;
  nd4c_op op;
  int32_t operands;
  bool exact; /* of whole numbers */
} operation;

static const operation ops[] = {{"add", ND4C_OP_add, 2, true},
                                {"subtract", ND4C_OP_subtract, 2, true},
                                {"multiply", ND4C_OP_multiply, 2, true},
                                {"equal", ND4C_OP_equal, 2, true},
                                {"not_equal", ND4C_OP_not_equal, 2, true},
                                {"divide", ND4C_OP_divide, 2, false},
                                {"true_divide", ND4C_OP_true_divide, 2, false},
                                {"negative", ND4C_OP_negative, 1, true},
                                {"conj", ND4C_OP_conj, 1, true},
                                {"real", ND4C_OP_real, 1, true},
                                {"imag", ND4C_OP_imag, 1, true},
                                {"abs", ND4C_OP_abs, 1, false},
                                {"angle", ND4C_OP_angle, 1, false}};
enum { OPS = sizeof ops / sizeof *ops };

/* Mostly ordinary numbers: among others, `of` times as seldom, those that loops treat one by one. */
static double part_of(nd4c_dtype dtype, int64_t seldom) {
  const double largest = dtype == ND4C_COMPLEX64 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
  const double tiny = dtype == ND4C_COMPLEX64 ? 0x1p-149 : 0x1p-1074;
  const double special[] = {0,    -0.0,     INFINITY,       -INFINITY,       NAN, largest,
                            tiny, -largest, largest / 1024, -tiny * 1048576, 1,   -1};
  return same_number(seldom) == 0 ? special[same_number(sizeof special / sizeof *special)]
                                  : (double)(same_number(2001) - 1000) / 64;
}

/* An array of ROWS by COLUMNS, or of one number where it is alone. */
static nd4c_array *numbers(nd4c_dtype dtype, same_layout how, int64_t seldom, bool alone) {
  static double parts[4 * COUNT + 2];
  const int64_t room = 2 * COUNT + 1, shape[2] = {alone ? 1 : ROWS, alone ? 1 : COLUMNS};
  const int64_t step = how == SAME_SPARSE ? 2 : how == SAME_BACKWARDS ? -1 : 1;
  const int64_t rows = how == SAME_TURNED ? 1 : COLUMNS, columns = how == SAME_TURNED ? ROWS : 1;
  const int64_t strides[2] = {rows * step, columns * step};
  nd4c_array *wide = NULL, *all = NULL, *seen = NULL;
  for (int64_t i = 0; i < 2 * room; i++) {
    parts[i] = part_of(dtype, seldom);
  }
  assert_int_equal(nd4c_array_from_data(ND4C_COMPLEX128, 1, &room, parts, NULL, &wide), ND4C_OK);
  assert_int_equal(nd4c_cast(wide, dtype, &all), ND4C_OK);
  assert_int_equal(nd4c_array_as_strided(all, 2, shape, strides, step < 0 ? COUNT - 1 : 0, &seen), ND4C_OK);
  nd4c_array_release(wide);
  nd4c_array_release(all);
  return seen;
}

static nd4c_array *computed(const operation *o, const nd4c_array *const *inputs, const char *engine) {
  nd4c_array *y = NULL, *wide = NULL;
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", engine), ND4C_OK);
  assert_int_equal(nd4c_op_call(NULL, o->op, inputs, o->operands, NULL, 0, &y, 1), ND4C_OK);
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", NULL), ND4C_OK);
  assert_int_equal(nd4c_cast(y, ND4C_COMPLEX128, &wide), ND4C_OK);
  nd4c_array_release(y);
  return wide;
}

/* The same infinity, both NaN, or as near as `error` times the size of the number. */
static bool is_near(double got, double wanted, double tolerance) {
  return got == wanted || (isnan(got) && isnan(wanted)) || (isfinite(wanted) && fabs(got - wanted) <= tolerance);
}

static void check(const operation *o, nd4c_dtype dtype, const nd4c_array *const *inputs, const char *what) {
  const double error = dtype == ND4C_COMPLEX64 ? 0x1p-22 : 0x1p-50;
  const double least = dtype == ND4C_COMPLEX64 ? 0x1p-148 : 0x1p-1073; /* of numbers that are not normal */
  char taken[64];
  size_t bytes;
  same_engine(o->op, inputs, o->operands, NULL, 0, taken, sizeof taken);
  assert_string_equal(taken, "simd");
  nd4c_array *got = computed(o, inputs, "simd"), *wanted = computed(o, inputs, "reference");
  double *y = same_bytes(got, &bytes), *z = same_bytes(wanted, &bytes);
  for (size_t i = 0; i < bytes / sizeof *y; i += 2) {
    const double size = hypot(z[i], z[i + 1]), tolerance = isfinite(size) ? size * error + least : 0;
    if (!is_near(y[i], z[i], tolerance) || !is_near(y[i + 1], z[i + 1], tolerance)) {
      fail_msg("%s of dtype %d, %s: element %zu is %a %a instead of %a %a", o->name, (int)dtype, what, i / 2, y[i],
               y[i + 1], z[i], z[i + 1]);
    }
  }
  free(y);
  free(z);
  nd4c_array_release(got);
  nd4c_array_release(wanted);
}

static void test_pairs(void **state) {
  static const char *const alone[] = {"two arrays", "the first alone", "the second alone", "both alone"};
  static const int64_t seldom[] = {2, 60, 100000};
  (void)state;
  for (int32_t round = 0; round < 2 * 3 * SAME_LAYOUTS * 4; round++) {
    const nd4c_dtype dtype = round % 2 == 0 ? ND4C_COMPLEX64 : ND4C_COMPLEX128;
    const int32_t which = round / 6 / SAME_LAYOUTS;
    const same_layout how = (same_layout)(round / 6 % SAME_LAYOUTS);
    nd4c_array *inputs[2] = {numbers(dtype, how, seldom[round / 2 % 3], (which & 1) != 0),
                             numbers(dtype, how, seldom[round / 2 % 3], (which & 2) != 0)};
    for (int32_t i = 0; i < OPS; i++) {
      check(&ops[i], dtype, (const nd4c_array *const *)inputs, alone[which]);
    }
    same_free(inputs, 2);
  }
}

static void test_whole_numbers(void **state) {
  static const int64_t shape[2] = {ROWS, COLUMNS};
  (void)state;
  for (int32_t round = 0; round < 2 * SAME_LAYOUTS * SAME_LAYOUTS; round++) {
    const nd4c_dtype dtype = round % 2 == 0 ? ND4C_COMPLEX64 : ND4C_COMPLEX128;
    const same_layout left = (same_layout)(round / 2 % SAME_LAYOUTS), right = (same_layout)(round / 2 / SAME_LAYOUTS);
    const bool row = round % 3 == 0; /* repeated */
    nd4c_array *inputs[2] = {same_array(dtype, 2, shape, left, -9, 19),
                             same_array(dtype, row ? 1 : 2, row ? shape + 1 : shape, right, -9, 19)};
    for (int32_t i = 0; i < OPS; i++) {
      if (ops[i].exact) {
        same_check(ops[i].name, ops[i].op, (const nd4c_array *const *)inputs, ops[i].operands, NULL, 0, 1, "simd");
      }
    }
    same_check("sum", ND4C_OP_sum, (const nd4c_array *const *)inputs, 1, NULL, 0, 1, "simd");
    for (int64_t axis = 0; axis < 2; axis++) {
      const nd4c_attr axes = {.name = "axes", .value = {.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &axis}};
      same_check("sum along an axis", ND4C_OP_sum, (const nd4c_array *const *)inputs, 1, &axes, 1, 1, "simd");
    }
    same_free(inputs, 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_whole_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
