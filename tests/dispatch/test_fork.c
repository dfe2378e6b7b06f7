/* A child of fork computes on the host, whatever the parent's other threads were doing. */
#define _GNU_SOURCE /* alarm, fork */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nd4c/nd4c.h"

enum { COUNT = 1000, FORKS = 60, STEPS = 10, MOST_SECONDS = 20 };
static atomic_bool stopped;

static bool step(void) {
  static const int64_t shape[1] = {COUNT};
  nd4c_array *a = NULL, *b = NULL;
  float values[COUNT] = {0};
  bool good = nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, NULL, &a) == ND4C_OK && nd4c_add(a, a, &b) == ND4C_OK &&
              nd4c_array_read(b, values, sizeof values) == ND4C_OK && values[COUNT - 1] == 2;
  nd4c_array_release(a);
  nd4c_array_release(b);
  return good;
}

static void *compute(void *argument) {
  bool good = true;
  while (good && !atomic_load(&stopped)) {
    good = step();
  }
  return good ? argument : NULL;
}

static void children_compute_while_others_do(void **state) {
  (void)state;
  pthread_t thread;
  void *result = NULL;
  int failed = 0;
  assert_true(step());
  assert_int_equal(pthread_create(&thread, NULL, compute, &stopped), 0);
  for (int i = 0; i < FORKS && failed == 0; i++) {
    (void)usleep(500);
    pid_t child = fork();
    if (child == 0) {
      bool good = true;
      (void)alarm(MOST_SECONDS);
      for (int k = 0; k < STEPS; k++) {
        good = step() && good;
      }
      _exit(good ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    failed += status != 0;
  }
  atomic_store(&stopped, true);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_ptr_equal(result, &stopped);
  assert_int_equal(failed, 0);
}

int main(void) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  (void)puts("skipped: the sanitizers' own allocators keep their locks over a fork");
  return 77;
#endif
  const struct CMUnitTest tests[] = {cmocka_unit_test(children_compute_while_others_do)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
