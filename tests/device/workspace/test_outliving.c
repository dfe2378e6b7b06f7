/* What a workspace says of arrays that outlive their scope: those of the scope that is left alone, and the first few of
 * many. */
#include "workspace_tests.h"

static void outer_arrays_are_not_told(void **state) {
  (void)state;
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 1 << 20);
  assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
  nd4c_array *outer = filled(cpu, 1);
  assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
  nd4c_array *inner = filled(cpu, 2);
  assert_int_equal(nd4c_workspace_leave(workspace), ND4C_ARGUMENT);
  assert_message(": 1 array(s) made in the scope are still alive: 12000 bytes on cpu:0 from ");
  assert_all(inner, 2);
  nd4c_array_release(inner);
  assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  assert_all(outer, 1);
  assert_int_equal(nd4c_workspace_leave(workspace), ND4C_ARGUMENT);
  assert_message(": 1 array(s) made in the scope are still alive: ");
  nd4c_array_release(outer);
  assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

static int count_told(void) {
  int told = 0;
  for (const char *at = nd4c_error_message(); (at = strstr(at, "12000 bytes on ")) != NULL; at++) {
    told++;
  }
  return told;
}

static void the_first_five_of_many_are_told(void **state) {
  (void)state;
  enum { MOST = 7 };
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 1 << 20);
  nd4c_array *arrays[MOST];
  assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
  for (int i = 0; i < MOST; i++) {
    char counted[64];
    arrays[i] = filled(cpu, i);
    (void)snprintf(counted, sizeof counted, ": %d array(s) made in the scope are still alive: ", i + 1);
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_ARGUMENT);
    assert_message(counted);
    assert_int_equal(count_told(), i < 5 ? i + 1 : 5);
    assert_int_equal(strstr(nd4c_error_message(), ", ...") != NULL, i >= 5);
  }
  for (int i = 0; i < MOST; i++) {
    assert_all(arrays[i], (float)i);
    nd4c_array_release(arrays[i]);
  }
  assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outer_arrays_are_not_told),
      cmocka_unit_test(the_first_five_of_many_are_told),
  };
  return cmocka_run_group_tests_name("outliving", tests, start, stop);
}
