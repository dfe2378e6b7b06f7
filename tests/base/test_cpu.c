/* The tile registers of x86-64 (AMX): naming the processor's features asks the system for nothing, and the system's
 * answer to the first request holds. */
#define _GNU_SOURCE /* sigaltstack */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/threads/cpu.h"

enum { STACK_BYTES = 8192 }; /* enough for AVX-512, too small for the state of tiles */

static int set_signal_stack(void *memory) {
  const stack_t stack = {.ss_sp = memory, .ss_size = STACK_BYTES, .ss_flags = memory == NULL ? SS_DISABLE : 0};
  return sigaltstack(&stack, NULL);
}

static void features_leave_signal_stacks_alone(void **state) {
  void *memory = malloc(STACK_BYTES);
  (void)state;
  assert_non_null(memory);
  assert_non_null(nd4c_cpu_features());
  assert_int_equal(set_signal_stack(memory), 0);
  assert_int_equal(set_signal_stack(NULL), 0);
  free(memory);
}

static void the_first_answer_holds(void **state) {
  void *memory = malloc(STACK_BYTES);
  (void)state;
  assert_non_null(memory);
  assert_int_equal(set_signal_stack(memory), 0);
  assert_false(nd4c_cpu_allow_tiles()); /* this stack could not hold them */
  assert_int_equal(set_signal_stack(NULL), 0);
  assert_false(nd4c_cpu_allow_tiles());
  free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(features_leave_signal_stacks_alone),
                                     cmocka_unit_test(the_first_answer_holds)};
  return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
