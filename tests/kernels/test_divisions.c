/* Divisions with a rest of engine simd, which vectors compute by floats: integers of every size of numbers up to the
 * limits of what floats hold, by arrays and by one number, and floats whose quotients are near integers or too large;
 * at every level that this machine has. */
#include "kernels/quotient.h"
#include "tests/kernels/operands.h"

enum { COUNT = 700 }; /* more than two pieces */

static const char *const names[] = {"divide", "floor_divide", "remainder", "fmod"};

/* Runs a kernel on contiguous operands; b has b_count numbers. */
static void run(const char *name, nd4c_dtype dtype, const void *a, const void *b, int64_t b_count, void *y) {
  static const int64_t step[1] = {1};
  const nd4c_kernel *kernel = find_kernel(name, "simd");
  const nd4c_op_info *info = NULL;
  const int64_t shape[1] = {COUNT}, b_shape[1] = {b_count};
  char reason[200];
  assert_non_null(kernel);
  assert_int_equal(nd4c_op_find(name, &info), ND4C_OK);
  const nd4c_tensor inputs[2] = {
      {.dtype = dtype, .rank = 1, .shape = shape, .strides = step, .size = COUNT, .data = (void *)(uintptr_t)a},
      {.dtype = dtype, .rank = 1, .shape = b_shape, .strides = step, .size = b_count, .data = (void *)(uintptr_t)b}};
  const nd4c_tensor output = {.dtype = dtype, .rank = 1, .shape = shape, .strides = step, .size = COUNT, .data = y};
  const nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                          .op = info,
                          .input_count = 2,
                          .output_count = 1,
                          .inputs = inputs,
                          .outputs = &output,
                          .width = 1};
  assert_true(kernel->usable(&call, reason, sizeof reason));
  assert_int_equal(kernel->run(&call), ND4C_OK);
}

/* What C's division gives, as 64 bits of the wrapped result. */
static uint64_t expected_of(int op, bool is_signed, uint64_t a, uint64_t b) {
  if (b == 0) {
    return 0;
  }
  if (!is_signed) {
    return op < 2 ? a / b : a % b;
  }
  const int64_t x = (int64_t)a, z = (int64_t)b;
  uint64_t quotient = z == -1 ? 0 - a : (uint64_t)(x / z), rest = z == -1 ? 0 : (uint64_t)(x % z);
  if ((op == 1 || op == 2) && rest != 0 && ((int64_t)rest < 0) != (z < 0)) {
    quotient--;
    rest += b;
  }
  return op < 2 ? quotient : rest;
}

/* A number of up to `bits` bits, more often one near a power of two, or zero. */
static uint64_t number_of(int bits, bool is_signed) {
  const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  uint64_t x = random_bits() >> random_bits() % 64 & mask;
  if (random_bits() % 4 == 0) {
    x = ((UINT64_C(1) << random_bits() % 64) + random_bits() % 3 - 1) & mask;
  }
  return is_signed && random_bits() % 2 == 0 ? 0 - x : x;
}

static void check_integers(nd4c_dtype dtype, int bits, bool alone) {
  static uint64_t a[COUNT], b[COUNT], y[COUNT]; /* room for elements of every size */
  const bool is_signed = nd4c_reference_kind(dtype) == ND4C_KIND_INT;
  const int64_t b_count = alone ? 1 : COUNT;
  for (int64_t i = 0; i < COUNT; i++) {
    nd4c_value_store(dtype, (char *)a, i, (nd4c_value){.u = number_of(bits, is_signed)});
  }
  for (int64_t i = 0; i < b_count; i++) {
    nd4c_value_store(dtype, (char *)b, i, (nd4c_value){.u = number_of(bits, is_signed)});
  }
  for (int op = 0; op < 4; op++) {
    run(names[op], dtype, a, b, b_count, y);
    for (int64_t i = 0; i < COUNT; i++) {
      const nd4c_value x = nd4c_value_load(dtype, (char *)a, i), z = nd4c_value_load(dtype, (char *)b, alone ? 0 : i);
      uint64_t wanted[1];
      nd4c_value_store(dtype, (char *)wanted, 0, (nd4c_value){.u = expected_of(op, is_signed, x.u, z.u)});
      const nd4c_value want = nd4c_value_load(dtype, (char *)wanted, 0), got = nd4c_value_load(dtype, (char *)y, i);
      if (got.u != want.u) {
        fail_msg("level %s, dtype %d, %s of %lld by %lld: %lld instead of %lld", level, (int)dtype, names[op],
                 (long long)x.i, (long long)z.i, (long long)got.i, (long long)want.i);
      }
    }
  }
}

static void test_integers(void **state) {
  (void)state;
  static const nd4c_dtype dtypes[] = {
#define INTEGER(NAME, name, kind) ND4C_##NAME,
      ND4C_INT_DTYPES(INTEGER) ND4C_UINT_DTYPES(INTEGER)
#undef INTEGER
  };
  static const int sizes[] = {3, 8, 16, 24, 32, 49, 50, 51, 52, 53, 64};
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    level = nd4c_cpu_level_name(i);
    assert_true(cpu_providers_open());
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
      for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        check_integers(dtypes[d], sizes[s], false);
        for (int lone = 0; lone < 8; lone++) {
          check_integers(dtypes[d], sizes[s], true);
        }
      }
    }
    cpu_providers_close();
  }
}

/* -- floats -------------------------------------------------------------------------------------------------------- */

/* A float whose bits are random near its ends, and a multiple of it, or nearly. */
static void pair_of(nd4c_dtype dtype, double *a, double *b) {
  const int digits = dtype == ND4C_FLOAT64 ? 53 : dtype == ND4C_FLOAT32 ? 24 : dtype == ND4C_FLOAT16 ? 11 : 8;
  const double quotient = (double)(random_bits() >> (random_bits() % 63)) * (random_bits() % 2 == 0 ? 1 : -1);
  *b = ldexp((double)(random_bits() >> (64 - digits)), (int)(random_bits() % 8) - digits);
  *b = random_bits() % 2 == 0 ? *b : -*b;
  *a = random_bits() % 3 == 0 ? (random_unit() - 0.5) * 1e4 : quotient * *b;
}

static double float_of(int op, double a, double b) {
  return op == 1 ? nd4c_floor_quotient(a, b) : op == 2 ? nd4c_floor_rest(a, b) : fmod(a, b);
}

static void check_floats(nd4c_dtype dtype, bool alone, bool has_special) {
  static const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN, 5e-324, -1e-310, 1e308, 1e-40, 3e38};
  static double a[COUNT], b[COUNT], y[COUNT];
  for (int64_t i = 0; i < COUNT; i++) {
    nd4c_value x, z;
    pair_of(dtype, &x.f, &z.f);
    if (has_special && random_bits() % 16 == 0) {
      *(random_bits() % 2 == 0 ? &x.f : &z.f) = special[random_bits() % (sizeof special / sizeof *special)];
    }
    nd4c_value_store(dtype, (char *)a, i, x);
    nd4c_value_store(dtype, (char *)b, i, z);
  }
  for (int op = 1; op < 4; op++) {
    run(names[op], dtype, a, b, alone ? 1 : COUNT, y);
    for (int64_t i = 0; i < COUNT; i++) {
      const nd4c_value x = nd4c_value_load(dtype, (char *)a, i), z = nd4c_value_load(dtype, (char *)b, alone ? 0 : i);
      double wanted[1];
      nd4c_value_store(dtype, (char *)wanted, 0, (nd4c_value){.f = float_of(op, x.f, z.f)});
      const nd4c_value want = nd4c_value_load(dtype, (char *)wanted, 0), got = nd4c_value_load(dtype, (char *)y, i);
      const bool same = want.f == got.f ? signbit(want.f) == signbit(got.f) : isnan(want.f) && isnan(got.f);
      if (!same) {
        fail_msg("level %s, dtype %d, %s of %a by %a: %a instead of %a", level, (int)dtype, names[op], x.f, z.f, got.f,
                 want.f);
      }
    }
  }
}

static void test_floats(void **state) {
  (void)state;
  static const nd4c_dtype dtypes[] = {
#define NUMBER(NAME, name, kind) ND4C_##NAME,
      ND4C_FLOAT_DTYPES(NUMBER)
#undef NUMBER
  };
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    level = nd4c_cpu_level_name(i);
    assert_true(cpu_providers_open());
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
      for (int round = 0; round < 12; round++) {
        check_floats(dtypes[d], round % 3 == 2, round % 2 == 1);
      }
    }
    cpu_providers_close();
  }
}

static int enter(void **state) {
  (void)state;
  enter_providers();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_integers), cmocka_unit_test(test_floats)};
  return cmocka_run_group_tests(tests, enter, NULL);
}
