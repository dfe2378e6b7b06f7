/* max_pool of 16-bit floats whose channels lie side by side, on engine simd: every pair of special values in every lane
 * of whole and partial vectors, at each level. */
#include "tests/kernels/operands.h"

/* More than every level's block of vectors, its single vectors, and a part of one. */
enum { CHANNELS = 127, WINDOWS = 3, CELLS = 4 };

/* NaN, the smallest and the largest of each sign; infinities; the largest and the smallest finite ones; zeros; ones. */
static const uint16_t bfloat16s[] = {0x7fc0, 0xffc0, 0x7f81, 0xff81, 0x7fff, 0xffff, 0x7f80, 0xff80,
                                     0x7f7f, 0xff7f, 0x0001, 0x8001, 0x0000, 0x8000, 0x3f80, 0xbf80};
static const uint16_t float16s[] = {0x7e00, 0xfe00, 0x7c01, 0xfc01, 0x7fff, 0xffff, 0x7c00, 0xfc00,
                                    0x7bff, 0xfbff, 0x0001, 0x8001, 0x0000, 0x8000, 0x3c00, 0xbc00};
enum { VALUES = sizeof bfloat16s / sizeof *bfloat16s };

static const nd4c_attr_value attrs[] = {
    [ND4C_ATTR_max_pool_kernel] = {.kind = ND4C_ATTR_INTS, .count = 2, .as.ints = (const int64_t[]){2, 2}},
    [ND4C_ATTR_max_pool_strides] = {.kind = ND4C_ATTR_INTS, .count = 2, .as.ints = (const int64_t[]){2, 2}},
    [ND4C_ATTR_max_pool_pads] = {.kind = ND4C_ATTR_INTS},
    [ND4C_ATTR_max_pool_dilations] = {.kind = ND4C_ATTR_INTS},
    [ND4C_ATTR_max_pool_auto_pad] = {.kind = ND4C_ATTR_INT, .as.i = ND4C_AUTO_PAD_EXPLICIT},
    [ND4C_ATTR_max_pool_ceil_mode] = {.kind = ND4C_ATTR_BOOL},
    [ND4C_ATTR_max_pool_count_include_pad] = {.kind = ND4C_ATTR_BOOL}};

static bool is_nan(uint16_t bits, uint16_t infinity) {
  return (bits & 0x7fff) > infinity;
}

static int32_t order(uint16_t bits) {
  return (bits & 0x8000) != 0 ? -(bits & 0x7fff) : bits;
}

/* Either zero may be the larger one. */
static bool agrees(uint16_t got, uint16_t a, uint16_t b, uint16_t infinity) {
  if (is_nan(a, infinity) || is_nan(b, infinity)) {
    return is_nan(got, infinity);
  }
  return (got == a && order(a) >= order(b)) || (got == b && order(b) >= order(a));
}

/* Windows of `most`, with `one` in another cell for each channel and window. */
static void check_pair(nd4c_dtype dtype, uint16_t most, uint16_t one, uint16_t infinity) {
  const nd4c_kernel *kernel = find_kernel("max_pool", "simd");
  const nd4c_op_info info = {.struct_size = ND4C_SIZE_OF(nd4c_op_info), .op = ND4C_OP_max_pool, .name = "max_pool"};
  operand x, y;
  char reason[200];
  lay_out(&x, dtype, 4, (const int64_t[]){1, CHANNELS, 2, 2 * WINDOWS}, TRANSPOSED);
  lay_out(&y, dtype, 4, (const int64_t[]){1, CHANNELS, 1, WINDOWS}, TRANSPOSED);
  uint16_t *from = x.tensor.data, *to = y.tensor.data;
  for (int64_t c = 0; c < CHANNELS; c++) {
    for (int64_t cell = 0; cell < WINDOWS * CELLS; cell++) {
      int64_t row = cell % CELLS / 2, column = cell / CELLS * 2 + cell % 2;
      from[c + row * x.strides[2] + column * x.strides[3]] = cell % CELLS == (c + cell / CELLS) % CELLS ? one : most;
    }
  }
  nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                    .op = &info,
                    .input_count = 1,
                    .output_count = 1,
                    .inputs = &x.tensor,
                    .attrs = attrs,
                    .width = 1,
                    .outputs = &y.tensor};
  assert_true(kernel->usable(&call, reason, sizeof reason));
  assert_int_equal(kernel->run(&call), ND4C_OK);
  for (int64_t i = 0; i < WINDOWS * CHANNELS; i++) {
    uint16_t got = to[i % CHANNELS + i / CHANNELS * y.strides[3]];
    if (!agrees(got, most, one, infinity)) {
      fail_msg("level %s, dtype %d, channel %d, window %d: 0x%04x is not the larger of 0x%04x and 0x%04x", level,
               (int)dtype, (int)(i % CHANNELS), (int)(i / CHANNELS), (unsigned)got, (unsigned)most, (unsigned)one);
    }
  }
  assert_memory_equal(y.memory, x.memory, GUARD * sizeof *to); /* nothing before the result was written */
  free(x.memory);
  free(y.memory);
}

static void test_pairs(void **state) {
  (void)state;
  enter_providers();
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    level = nd4c_cpu_level_name(i);
    assert_true(cpu_providers_open());
    for (int pair = 0; pair < VALUES * VALUES; pair++) {
      if (nd4c_dtype_get_info(ND4C_BFLOAT16)->available) {
        check_pair(ND4C_BFLOAT16, bfloat16s[pair / VALUES], bfloat16s[pair % VALUES], 0x7f80);
        check_pair(ND4C_FLOAT16, float16s[pair / VALUES], float16s[pair % VALUES], 0x7c00);
      }
    }
    cpu_providers_close();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
