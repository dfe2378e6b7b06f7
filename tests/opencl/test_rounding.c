/* Results that are computed in double are rounded once. Without an OpenCL device that has float64 the test is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "faulty_loader.h"

static nd4c_device *device;
static nd4c_context *context;

/* The sum is just above the midpoint of two neighbours of the dtype, by less than a float resolves: rounded to float
 * first it would be the midpoint, and then the even neighbour below. */
static void rounds_once(void **state) {
  (void)state;
  static const struct {
    nd4c_dtype dtype;
    uint16_t terms[3], sum;
  } rows[] = {
      {ND4C_FLOAT16, {0x6800, 0x3c00, 0x0001}, 0x6801},  /* 2048 + 1 + 2^-24: 2050 */
      {ND4C_BFLOAT16, {0x4380, 0x3f80, 0x3000}, 0x4381}, /* 256 + 1 + 2^-31: 258 */
  };
  const int64_t shape[1] = {3};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    nd4c_array *x = NULL, *sum = NULL;
    uint16_t result = 0;
    assert_int_equal(nd4c_array_from_data(rows[i].dtype, 1, shape, rows[i].terms, device, &x), ND4C_OK);
    assert_int_equal(nd4c_sum_on(context, x, NULL, 0, false, ND4C_DTYPE_NONE, &sum), ND4C_OK);
    assert_ptr_equal(nd4c_array_device(sum), device);
    assert_int_equal(nd4c_array_read(sum, &result, sizeof result), ND4C_OK);
    assert_int_equal(result, rows[i].sum);
    nd4c_array_release(x);
    nd4c_array_release(sum);
  }
}

int main(void) {
  if (faulty_start_float64(&device, &context) != ND4C_OK) {
    print_message("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(rounds_once)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return nd4c_context_destroy(context) == ND4C_OK ? failed : 1;
}
