/* Locks that storages share (device/stream/shared_locks.h): a thread that holds one must not wait, and waits that it
 * makes all the same are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/stream/shared_locks.h"

static void waits_are_forbidden_from_enter_to_leave(void **state) {
  (void)state;
  assert_true(nd4c_shared_locks_allow_wait());
  nd4c_shared_locks_enter();
  nd4c_shared_locks_enter();
  assert_false(nd4c_shared_locks_allow_wait());
  nd4c_shared_locks_leave();
  assert_false(nd4c_shared_locks_allow_wait());
  nd4c_shared_locks_leave();
  assert_true(nd4c_shared_locks_allow_wait());
}

static void forbidden_waits_are_counted(void **state) {
  (void)state;
  assert_int_equal(nd4c_shared_locks_waits(), 0);
#ifdef NDEBUG /* else the first one ends the program */
  nd4c_shared_locks_note_wait();
  assert_int_equal(nd4c_shared_locks_waits(), 1);
  nd4c_shared_locks_note_wait();
  assert_int_equal(nd4c_shared_locks_waits(), 2);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waits_are_forbidden_from_enter_to_leave),
      cmocka_unit_test(forbidden_waits_are_counted),
  };
  return cmocka_run_group_tests_name("shared_locks", tests, NULL, NULL);
}
