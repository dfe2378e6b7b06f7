/* A process ends cleanly while OpenCL still compiles and computes for it: nd4c destroys no object that the driver's
 * threads use. First through a loader that holds every kernel until the library waits, and that checks this when a
 * driver would destroy its objects; then with kernels that are compiled again, which takes a while. */
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
#include "faulty_loader.h"
#include "nd4c/nd4c.h"

/* Leaves work in flight: a chain of results, because many readers of one array would make the host wait. 77 without a
 * device. */
static int leave_work(const char *milliseconds) {
  const int64_t shape[2] = {300, 400};
  const struct timespec pause = {.tv_nsec = strtol(milliseconds, NULL, 10) * 1000000};
  nd4c_device *device = NULL;
  nd4c_context *context = NULL;
  static nd4c_array *y[7]; /* static: not lost when the process ends */
  if (nd4c_device_find("opencl:0", &device) != ND4C_OK) {
    return 77;
  }
  nd4c_status status = nd4c_context_acquire(device, &context);
  status = status == ND4C_OK ? nd4c_array_full(ND4C_FLOAT32, 2, shape, 0.5, device, &y[0]) : status;
  status = status == ND4C_OK ? nd4c_exp(y[0], &y[1]) : status;
  status = status == ND4C_OK ? nd4c_tanh(y[1], &y[2]) : status;
  status = status == ND4C_OK ? nd4c_sin(y[2], &y[3]) : status;
  status = status == ND4C_OK ? nd4c_log(y[3], &y[4]) : status;
  status = status == ND4C_OK ? nd4c_sqrt(y[4], &y[5]) : status;
  status = status == ND4C_OK ? nd4c_floor(y[5], &y[6]) : status;
  (void)nanosleep(&pause, NULL);
  return status == ND4C_OK ? 0 : 1;
}

static void leave(const char *milliseconds, const char *const *environment) {
  char output[CHILD_OUTPUT];
  const int code = child_run("/proc/self/exe", "leave", milliseconds, environment, output);
  print_message("%s", output);
  if (code == 77) {
    skip();
  }
  assert_int_equal(code, 0);
}

static void work_in_flight_is_waited_for(void **state) {
  (void)state;
  leave("0", (const char *const[]){"ND4C_OPENCL_LIBRARY=" FAULTY_PATH, "FAULTY_CL_LIE=held", NULL});
}

static int make_folder(void **state) {
  static char folder[] = "/tmp/nd4c_exit_XXXXXX";
  *state = mkdtemp(folder);
  return *state != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
  char output[CHILD_OUTPUT];
  return child_run("/bin/rm", "-rf", *state, NULL, output);
}

static void threads_of_the_driver_end_first(void **state) {
  char cache[64];
  (void)snprintf(cache, sizeof cache, "POCL_CACHE_DIR=%s", (const char *)*state);
  leave("20", (const char *const[]){cache, NULL});
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(work_in_flight_is_waited_for),
      cmocka_unit_test_setup_teardown(threads_of_the_driver_end_first, make_folder, remove_folder)};
  return argc == 3 && strcmp(argv[1], "leave") == 0 ? leave_work(argv[2]) : cmocka_run_group_tests(tests, NULL, NULL);
}
