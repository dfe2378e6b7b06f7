/* Every call of the ABI fails once, at every place where a scenario makes it: a status with the backend's words,
 * nothing left behind, and the same scenario works right after. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/scenario.h"
#include "device/stub_plugin.h"

static int64_t held(void) {
  static const char *const counters[] = {"buffers", "fences", "streams"};
  int64_t sum = 0;
  for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
    sum += stub_counter(counters[i]);
  }
  return sum;
}

typedef struct call_row {
  const char *call;
  const char *words; /* of the failure's text */
  bool declines;     /* the device lacks the op for this call: the host packs strided operands */
} call_row;

static const call_row rows[] = {
    {"buffer_allocate", "buffer_allocate was told to fail", false},
    {"copy_from_host", "copy_from_host was told to fail", false},
    {"copy_to_host", "copy_to_host was told to fail", false},
    {"stream_create", "stream_create was told to fail", false},
    {"stream_wait_fence", "stream_wait_fence was told", false},
    {"fence_record", "fence_record was told to fail", false},
    {"fence_wait", "fence_wait was told to fail", false},
    {"run", "run was told to fail", false},
    {"execute", "execute was told to fail", false},
    {"in_flight", "in_flight was told to fail", false},
    {"in_flight_copy", "in_flight_copy was told to fail", false},
    {"usable", "it declined, but takes the call when asked why", true}, /* it fails once */
    {"supports", "told to decline", true},
    {"partition", "partition was told to fail", true},
    {"prepare", "prepare was told to fail", true},
    {"compile", "compile was told to fail", true},
};

/* If a device reports which call failed, a fence that is recorded for a wait may succeed at the second attempt. */
static bool is_mended(const call_row *row) {
  const char *points = getenv("STUB_POINTS");
  return strcmp(row->call, "fence_record") == 0 && (points == NULL || strcmp(points, "none") != 0);
}

/* One failure at the n-th call. False if the scenario made fewer. */
static bool fail_once(const call_row *row, int64_t number, int64_t baseline) {
  scenario s = {0};
  char command[64];
  int64_t before = stub_counter(row->call);
  (void)snprintf(command, sizeof command, "fail %s:%lld", row->call, (long long)number);
  assert_int_equal(stub_control(command), ND4C_OK);
  (void)stub_control("delay 50");
  nd4c_error_clear();
  nd4c_status status = scenario_play(&s, stub_device);
  bool reached = stub_counter(row->call) - before >= number;
  char text[1024];
  (void)snprintf(text, sizeof text, "%s", nd4c_error_message());
  (void)stub_control("reset");
  scenario_clear(&s);
  stub_settle();
  bool told = (status == ND4C_OK && is_mended(row)) ||
              ((status != ND4C_OK || row->declines) && strstr(text, row->words) != NULL);
  if (reached && !told) {
    print_error("fail %s:%lld gave %s \"%s\", expected \"%s\"\n", row->call, (long long)number,
                nd4c_status_name(status), text, row->words);
  }
  if (held() != baseline || stub_counter("violations") != 0) {
    print_error("fail %s:%lld left %lld objects instead of %lld; %lld violations\n", row->call, (long long)number,
                (long long)held(), (long long)baseline, (long long)stub_counter("violations"));
  }
  assert_true(!reached || told);
  assert_int_equal(held(), baseline);
  assert_int_equal(stub_counter("violations"), 0);
  return reached;
}

static void every_call_may_fail(void **state) {
  (void)state;
  scenario s = {0};
  stub_settle();
  int64_t baseline = held(), failures = 0;
  assert_int_equal(scenario_play(&s, stub_device), ND4C_OK);
  scenario_clear(&s);
  stub_settle();
  assert_int_equal(held(), baseline);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int64_t number = 1;
    /* Choices are cached by request: a new epoch calls usable and prepare again. */
    for (; number < 100; number++) {
      assert_int_equal(nd4c_config_set("nd4c.width", number % 2 == 0 ? "1" : "2"), ND4C_OK);
      if (!fail_once(&rows[i], number, baseline)) {
        break;
      }
      failures++;
      assert_int_equal(scenario_play(&s, stub_device), ND4C_OK);
      scenario_clear(&s);
      stub_settle();
    }
    assert_true(number < 100);
  }
  print_message("%lld failures survived\n", (long long)failures);
  assert_true(failures > 20);
}

static int start(void **state) {
  (void)state;
  return stub_start() == ND4C_OK ? 0 : 1;
}

static int stop(void **state) {
  (void)state;
  return nd4c_context_destroy(stub_context) == ND4C_OK ? 0 : 1;
}

int main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_may_fail)};
  int result = cmocka_run_group_tests(tests, start, stop);
  return result;
}
