/* Which devices reach each other's memory: backends' answers, refusal of nonsense, and the effect on copies. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/child.h"
#include "device/stub_plugin.h"

static const char *program;

/* -- in the child ------------------------------------------------------------------------------------------------ */

static void say(const char *what, const nd4c_device *device, const nd4c_device *other) {
  nd4c_peer_info link = {.struct_size = sizeof link};
  const nd4c_status status = nd4c_device_peer(device, other, &link);
  if (status == ND4C_OK) {
    printf("%s: %s %d\n", what, nd4c_peer_kind_name(link.kind), (int)link.rank);
  } else {
    printf("%s: %s: %s\n", what, nd4c_status_name(status), nd4c_error_message());
  }
}

/* Asks, copies twice, asks again. */
static int child(void) {
  nd4c_device *cpu = NULL, *second = NULL, *last = NULL;
  nd4c_array *array = NULL, *copy = NULL;
  const int64_t shape[] = {5};
  float values[5] = {0};
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu", &cpu) != ND4C_OK ||
      nd4c_device_find("stub:1", &second) != ND4C_OK || nd4c_device_find("stub:3", &last) != ND4C_OK) {
    printf("%s\n", nd4c_error_message());
    return 1;
  }
  say("itself", stub_device, stub_device);
  say("host", stub_device, cpu);
  say("next", stub_device, second);
  say("far", last, stub_device);
  for (int turn = 0; turn < 2; turn++) {
    nd4c_status status = nd4c_array_full(ND4C_FLOAT32, 1, shape, 7, stub_device, &array);
    status = status == ND4C_OK ? nd4c_array_to_device(array, second, &copy) : status;
    status = status == ND4C_OK ? nd4c_array_read(copy, values, sizeof values) : status;
    printf("copied: %s %g\n", nd4c_status_name(status), (double)values[4]);
    nd4c_array_release(copy);
    nd4c_array_release(array);
    array = copy = NULL;
  }
  say("later", second, stub_device);
  printf("asked %d, copied %d times, violations %d\n", (int)stub_counter("peer"), (int)stub_counter("copy_between"),
         (int)stub_counter("violations"));
  (void)nd4c_context_destroy(stub_context);
  return 0;
}

/* -- in the test ------------------------------------------------------------------------------------------------- */

static const struct {
  const char *environment, *words[6];
} cases[] = {
    {"STUB_PEERS=copy",
     {"itself: access 0", "host: none 0", "next: copy 1", "far: copy 3", "later: copy 1",
      "asked 3, copied 2 times, violations 0"}},
    {"STUB_PEERS=access", {"next: access 1", "far: access 3", "asked 3, copied 2 times, violations 0"}},
    {"STUB_PEERS=none", {"next: none 0", "copied: OK 7", "later: none 0", "asked 3, copied 0 times, violations 0"}},
    /* A backend without an answer, because it is older or lacks the function, may copy. */
    {"STUB_LIE=peer",
     {"next: ABI: peer of stub:0 to stub:1 gave kind 77 and rank 1, expected 0 to 2 and 0 to 65535", "copied: OK 7",
      "later: none 0", "copied 0 times, violations 0"}},
    {"STUB_FAIL=peer:0:12345",
     {"next: INTERNAL: peer returned 12345, which is not a status of nd4c", "copied: OK 7", "later: none 0",
      "copied 0 times, violations 0"}},
    {"STUB_LIE=old_device", {"itself: access 0", "next: none 0", "copied: OK 7", "asked 0, copied 0 times"}},
};

static void test_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *environment[] = {"STUB_DEVICES=4", cases[i].environment, NULL};
    char output[CHILD_OUTPUT];
    assert_int_equal(child_run(program, "child", "peers", environment, output), 0);
    for (int w = 0; w < 6 && cases[i].words[w] != NULL; w++) {
      if (strstr(output, cases[i].words[w]) == NULL) {
        fail_msg("%s: \"%s\" is not in\n%s", cases[i].environment, cases[i].words[w], output);
      }
    }
  }
}

static void test_arguments(void **state) {
  (void)state;
  nd4c_device *cpu = NULL;
  nd4c_peer_info link = {.struct_size = sizeof link};
  assert_int_equal(nd4c_device_find("cpu", &cpu), ND4C_OK);
  assert_int_equal(nd4c_device_peer(NULL, cpu, &link), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_device_peer(cpu, NULL, &link), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_device_peer(cpu, (nd4c_device *)&link, &link), ND4C_HANDLE);
  assert_int_equal(nd4c_device_peer(cpu, cpu, NULL), ND4C_NULL_ARGUMENT);
  link.struct_size = 8;
  assert_int_equal(nd4c_device_peer(cpu, cpu, &link), ND4C_ARGUMENT);
  assert_string_equal(nd4c_peer_kind_name(ND4C_PEER_NONE), "none");
  assert_string_equal(nd4c_peer_kind_name((nd4c_peer_kind)9), "?");
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc > 1) {
    return child();
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_arguments)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
