/* The driver tells the pool whose loops run: of each kernel and each executable the small ones stay on the caller's
 * thread once they were timed. Jobs of the pool are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/config/config.h"
#include "base/threads/parallel.h"
#include "base/threads/pool.h"
#include "base/threads/split.h"
#include "device/compiled.h"
#include "device/driver.h"

enum { LEARNING = 200, RUNS = 20 };

static void nothing(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)user;
  (void)begin;
  (void)end;
  (void)worker;
}

static nd4c_status run_kernel(const nd4c_call *call) {
  nd4c_parallel_for(4, 1, 4, nothing, NULL);
  return call->width == 0 ? ND4C_OK : nd4c_fail(ND4C_ARGUMENT, "the width is %d", call->width);
}

static nd4c_status execute(void *data, nd4c_executable executable, const nd4c_execution *execution) {
  (void)data;
  (void)executable;
  nd4c_parallel_for(4, 1, 4, nothing, NULL);
  return execution->width == 0 ? ND4C_OK : nd4c_fail(ND4C_ARGUMENT, "the width is %d", execution->width);
}

static uint32_t jobs_of_kernel(const nd4c_kernel *kernel, const nd4c_call *call, int runs, nd4c_status expected) {
  const uint32_t before = nd4c_pool_published();
  for (int i = 0; i < runs; i++) {
    assert_int_equal(nd4c_driver_kernel_run(kernel, call), expected);
    assert_int_equal(nd4c_split_subject, 0);
  }
  return nd4c_pool_published() - before;
}

/* Calls on other sizes, and those without results, are others. */
static void test_kernel(void **state) {
  const nd4c_kernel kernel = {.name = "nothing", .run = run_kernel};
  nd4c_tensor output = {.size = 10};
  const nd4c_call call = {.outputs = &output, .output_count = 1}, failing = {.width = 1};
  (void)state;
  assert_in_range(jobs_of_kernel(&kernel, &call, LEARNING, ND4C_OK), 1, LEARNING - 1);
  assert_int_equal(jobs_of_kernel(&kernel, &call, RUNS, ND4C_OK), 0);
  output.size = 11;
  assert_int_equal(jobs_of_kernel(&kernel, &call, 1, ND4C_OK), 1);
  assert_int_equal(jobs_of_kernel(&kernel, &failing, 1, ND4C_ARGUMENT), 1);
}

static uint32_t jobs_of_executable(const nd4c_compiled *compiled, nd4c_execution *execution, int runs,
                                   nd4c_status expected) {
  const uint32_t before = nd4c_pool_published();
  for (int i = 0; i < runs; i++) {
    assert_int_equal(nd4c_compiled_execute(compiled, execution), expected);
    assert_int_equal(nd4c_split_subject, 0);
  }
  return nd4c_pool_published() - before;
}

/* An executable may serve other extents. */
static void test_executable(void **state) {
  static nd4c_device device;
  const nd4c_compiler compiler = {.engine = "nothing", .execute = execute};
  const nd4c_compiled compiled = {.compiler = &compiler, .device = &device};
  nd4c_tensor output = {.size = 10};
  nd4c_execution execution = {.outputs = &output, .output_count = 1}, failing = {.width = 1};
  (void)state;
  assert_in_range(jobs_of_executable(&compiled, &execution, LEARNING, ND4C_OK), 1, LEARNING - 1);
  assert_int_equal(jobs_of_executable(&compiled, &execution, RUNS, ND4C_OK), 0);
  output.size = 11;
  assert_int_equal(jobs_of_executable(&compiled, &execution, 1, ND4C_OK), 1);
  assert_int_equal(jobs_of_executable(&compiled, &failing, 1, ND4C_ARGUMENT), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernel), cmocka_unit_test(test_executable)};
  if (nd4c_config_set("nd4c.width", "4") != ND4C_OK) {
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
