/* A process that ends while OpenCL still compiles and computes for it ends well: nothing is taken down below the
 * driver's threads. Its kernels are compiled anew, which takes a while. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "../device/child.h"
#include "nd4c/nd4c.h"

/* Leaves work behind; 77 without a device. */
static int leave_work(const char *milliseconds) {
  const int64_t shape[2] = {300, 400};
  const struct timespec pause = {.tv_nsec = strtol(milliseconds, NULL, 10) * 1000000};
  nd4c_device *device = NULL;
  nd4c_context *context = NULL;
  static nd4c_array *x, *y[6]; /* static: not lost when the process ends */
  if (nd4c_device_find("opencl:0", &device) != ND4C_OK) {
    return 77;
  }
  nd4c_status status = nd4c_context_acquire(device, &context);
  status = status == ND4C_OK ? nd4c_array_full(ND4C_FLOAT32, 2, shape, 0.5, device, &x) : status;
  status = status == ND4C_OK ? nd4c_exp(x, &y[0]) : status;
  status = status == ND4C_OK ? nd4c_tanh(x, &y[1]) : status;
  status = status == ND4C_OK ? nd4c_sin(x, &y[2]) : status;
  status = status == ND4C_OK ? nd4c_log(x, &y[3]) : status;
  status = status == ND4C_OK ? nd4c_sqrt(x, &y[4]) : status;
  status = status == ND4C_OK ? nd4c_floor(x, &y[5]) : status;
  (void)nanosleep(&pause, NULL);
  return status == ND4C_OK ? 0 : 1;
}

static void work_in_flight_ends_before_the_process(void **state) {
  (void)state;
  static const char *const pauses[] = {"20", "150"};
  for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
    char folder[] = "/tmp/nd4c_exit_XXXXXX";
    assert_non_null(mkdtemp(folder));
    char cache[64], output[CHILD_OUTPUT];
    (void)snprintf(cache, sizeof cache, "POCL_CACHE_DIR=%s", folder);
    const int code = child_run("/proc/self/exe", "leave", pauses[i], (const char *const[]){cache, NULL}, output);
    print_message("%s", output);
    assert_int_equal(child_run("/bin/rm", "-rf", folder, NULL, output), 0);
    if (code == 77) {
      skip();
    }
    assert_int_equal(code, 0);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(work_in_flight_ends_before_the_process)};
  return argc == 3 && strcmp(argv[1], "leave") == 0 ? leave_work(argv[2]) : cmocka_run_group_tests(tests, NULL, NULL);
}
