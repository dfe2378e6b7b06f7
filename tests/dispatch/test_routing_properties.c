/* Properties of routing that cannot be applied: each call reports which property it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/stub_plugin.h"

typedef struct wrong_value {
  const char *property, *value;
  nd4c_status status;
  const char *text;
} wrong_value;

static void what_cannot_be_served_is_named(void **state) {
  (void)state;
  static const wrong_value rows[] = {
      {"nd4c.routing.devices", "cpu:0,stub:1,CPU", ND4C_CONFIG,
       "nd4c.routing.devices (ND4C_ROUTING_DEVICES): cpu:0 is listed twice"},
      {"nd4c.routing.devices", "cpu:0,nosuch:0", ND4C_NO_BACKEND,
       "nd4c.routing.devices (ND4C_ROUTING_DEVICES): device 'nosuch:0'"},
      {"nd4c.routing.creation", "nosuch:0", ND4C_NO_BACKEND,
       "nd4c.routing.creation (ND4C_ROUTING_CREATION): device 'nosuch:0'"},
      {"nd4c.routing.transfer", "false", ND4C_ARGUMENT, "or allow it (nd4c.routing.transfer)"},
  };
  const int64_t shape[1] = {3};
  nd4c_device *cpu = NULL;
  nd4c_array *here = NULL, *sum = NULL;
  assert_int_equal(nd4c_device_find("cpu", &cpu), ND4C_OK);
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 1, shape, cpu, &here), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.routing", "vote"), ND4C_OK);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_int_equal(nd4c_config_set("nd4c.routing.devices", "stub:1"), ND4C_OK);
    assert_int_equal(nd4c_config_set(rows[i].property, rows[i].value), ND4C_OK);
    assert_int_equal(nd4c_add(here, here, &sum), rows[i].status);
    if (strstr(nd4c_error_message(), rows[i].text) == NULL) {
      fail_msg("%s=%s: \"%s\"", rows[i].property, rows[i].value, nd4c_error_message());
    }
    assert_int_equal(nd4c_config_set(rows[i].property, NULL), ND4C_OK);
  }
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", "stub:1"), ND4C_OK);
  assert_int_equal(nd4c_add(here, here, &sum), ND4C_OK); /* after the correction the calls succeed */
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.routing", NULL), ND4C_OK);
  nd4c_array_release(here);
  nd4c_array_release(sum);
}

static int start(void **state) {
  (void)state;
  return stub_start() == ND4C_OK ? 0 : 1;
}

static int stop(void **state) {
  (void)state;
  return nd4c_context_destroy(stub_context) == ND4C_OK ? 0 : 1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_cannot_be_served_is_named)};
  return cmocka_run_group_tests(tests, start, stop);
}
