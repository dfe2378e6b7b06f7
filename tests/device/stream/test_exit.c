/* A process ends while its threads submit to an asynchronous device: nd4c refuses new work and waits for submitted
 * work, at most as long as nd4c.device.exit.wait. Arguments name a device instead of the stub's. */
#define _GNU_SOURCE /* alarm */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>
#include <time.h>

#include "device/child.h"
#include "device/stub_plugin.h"

enum { THREADS = 6, COUNT = 1000, MOST_SECONDS = 120, NO_DEVICE = 77 };
static const int64_t shape[1] = {COUNT};
static const char *name = "stub:0";
static nd4c_device *device;
static atomic_int working, refused, wrong;

static void nap(long milliseconds) {
  const struct timespec pause = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
  (void)nanosleep(&pause, NULL);
}

static nd4c_status find_device(void) {
  nd4c_status status = strncmp(name, "stub", 4) == 0 ? stub_start() : ND4C_OK;
  return status == ND4C_OK ? nd4c_device_find(name, &device) : status;
}

/* Submits without end, one result after the other, and waits for none. */
static void *submit(void *argument) {
  nd4c_context *context = NULL;
  nd4c_array *a = NULL;
  bool good = nd4c_context_acquire(device, &context) == ND4C_OK &&
              nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, device, &a) == ND4C_OK;
  atomic_fetch_add(good ? &working : &wrong, 1);
  for (bool told = false; good;) {
    nd4c_array *sum = NULL;
    nd4c_status status = nd4c_add(a, a, &sum);
    nd4c_array_release(sum);
    if (status != ND4C_OK && !told) {
      told = true;
      bool expected = status == ND4C_DEVICE && strstr(nd4c_error_message(), "the process is ending") != NULL &&
                      strstr(nd4c_error_message(), name) != NULL;
      atomic_fetch_add(expected ? &refused : &wrong, 1);
    }
  }
  return argument;
}

/* Runs after nd4c's own handler, which was registered later. */
static void look_at_the_end(void) {
  for (int i = 0; i < 60000 && atomic_load(&refused) < THREADS; i++) {
    nap(1);
  }
  bool good = atomic_load(&refused) == THREADS && atomic_load(&wrong) == 0;
  /* The thread that ends the process may still call nd4c: its handlers read their results. */
  if (good && stub_context != NULL) {
    nd4c_array *a = NULL, *sum = NULL;
    float values[COUNT];
    good = nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, device, &a) == ND4C_OK &&
           nd4c_add_on(stub_context, a, a, &sum) == ND4C_OK && nd4c_array_read(sum, values, sizeof values) == ND4C_OK &&
           values[COUNT - 1] == 2;
  }
  (void)fprintf(stderr, "%d threads refused, %d wrong\n", atomic_load(&refused), atomic_load(&wrong));
  _exit(good ? 0 : 1);
}

static int end_while_threads_submit(void) {
  pthread_t threads[THREADS];
  (void)alarm(MOST_SECONDS);
  if (atexit(look_at_the_end) != 0) {
    return 1;
  }
  if (find_device() != ND4C_OK) {
    _exit(NO_DEVICE);
  }
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, submit, NULL) != 0) {
      return 1;
    }
  }
  while (atomic_load(&working) + atomic_load(&wrong) < THREADS) {
    nap(1);
  }
  nap(100);
  return 0;
}

static float registered[COUNT];

/* Runs after nd4c's own handler, while a copy uses the memory: the driver is left alone. */
static void unregister_at_the_end(void) {
  if (nd4c_host_unregister(device, registered) != ND4C_OK || stub_counter("violations") != 0) {
    _exit(1);
  }
}

/* An operation never ends, nor does a copy of registered memory. */
static int end_while_a_device_hangs(void) {
  static nd4c_array *a, *b, *sum; /* static: not lost when the process ends */
  (void)alarm(MOST_SECONDS);
  bool good = atexit(unregister_at_the_end) == 0 && find_device() == ND4C_OK &&
              nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, device, &a) == ND4C_OK &&
              nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, registered, true, NULL, NULL, &b) == ND4C_OK &&
              nd4c_host_register(device, registered, sizeof registered) == ND4C_OK &&
              stub_control("pause") == ND4C_OK && nd4c_add_on(stub_context, a, a, &sum) == ND4C_OK &&
              nd4c_array_prefetch(b, device) == ND4C_OK && stub_counter("direct_copies") == 1;
  return good ? 0 : 1;
}

static void the_end_does_not_wait_for_what_threads_submit(void **state) {
  (void)state;
  for (int i = 0; i < 5; i++) {
    char output[CHILD_OUTPUT];
    int code = child_run("/proc/self/exe", "submit", name, NULL, output);
    print_message("%s", output);
    if (code == NO_DEVICE) {
      skip();
    }
    assert_int_equal(code, 0);
  }
}

static void the_end_waits_no_longer_than_it_should(void **state) {
  (void)state;
  if (strncmp(name, "stub", 4) != 0) {
    skip();
  }
  static const char *const waits[] = {"ND4C_DEVICE_EXIT_WAIT=1", "ND4C_DEVICE_EXIT_WAIT=0"};
  for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
    char output[CHILD_OUTPUT];
    const char *const environment[] = {waits[i], "ND4J_LOG_INITIALIZATION=true", NULL};
    assert_int_equal(child_run("/proc/self/exe", "hang", name, environment, output), 0);
    assert_int_equal(strstr(output, "work in flight did not end in 1 s") != NULL, i == 0);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_end_does_not_wait_for_what_threads_submit),
      cmocka_unit_test(the_end_waits_no_longer_than_it_should),
  };
  name = argc > 1 ? argv[argc - 1] : name;
  return argc == 3 && strcmp(argv[1], "submit") == 0 ? end_while_threads_submit()
         : argc == 3 && strcmp(argv[1], "hang") == 0 ? end_while_a_device_hangs()
                                                     : cmocka_run_group_tests(tests, NULL, NULL);
}
