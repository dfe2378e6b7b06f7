/* Out of memory: every allocation of a scenario fails once, one at a time, on the host and on the stub, in a warm
 * process and in one that has just started. The call gives a status with a text and loses nothing, and the scenario
 * works afterwards. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "device/child.h"
#include "device/step.h"
#include "device/stub_plugin.h"
#include "nd4c/dlpack.h"

static const char *program;

enum { ARRAYS = 21 };

/* All objects of a run. */
typedef struct scenario {
  nd4c_context *context;
  nd4c_array *arrays[ARRAYS];
  nd4c_dl_managed *managed;
  char *texts[3];
} scenario;

static void clear(scenario *s) {
  for (int i = 0; i < ARRAYS; i++) {
    nd4c_array_release(s->arrays[i]);
  }
  if (s->managed != NULL) {
    s->managed->deleter(s->managed);
  }
  for (int i = 0; i < 3; i++) {
    nd4c_free(s->texts[i]);
  }
  (void)nd4c_context_destroy(s->context);
  *s = (scenario){0};
}

/* Ops of all kinds: with prepared state, scratch, views, broadcasting, more axes than a handle holds inline. The
 * matrices are so large that the host's kernels take scratch. The stub allocates the same for any sizes, and multiplies
 * by plain loops, which took most of the time of this test. */
static nd4c_status play_ops(scenario *s, nd4c_device *device, bool stub) {
  const int64_t image[4] = {1, 3, 8, 8}, weights[4] = {4, 3, 3, 3}, long_shape[9] = {1, 2, 1, 2, 1, 2, 1, 2, 1};
  const int64_t big[2] = {stub ? 20 : 300, stub ? 21 : 301}, axes[1] = {1}, flat[2] = {4, -1};
  nd4c_array **a = s->arrays;
  STEP(nd4c_array_full(ND4C_FLOAT32, 4, image, 1, device, &a[0]));
  STEP(nd4c_array_full(ND4C_FLOAT32, 4, weights, 0.5, device, &a[1]));
  if (nd4c_conv_on(s->context, a[0], a[1], NULL, &a[2]) != ND4C_OK && nd4c_error_code() != ND4C_UNSUPPORTED) {
    return nd4c_error_code();
  }
  STEP(nd4c_array_full(ND4C_FLOAT32, 2, big, 2, device, &a[3]));
  STEP(nd4c_transpose_on(s->context, a[3], NULL, 0, &a[4]));
  STEP(nd4c_matmul_on(s->context, a[3], a[4], &a[5]));
  STEP(nd4c_sum_on(s->context, a[5], axes, 1, false, ND4C_DTYPE_NONE, &a[6]));
  STEP(nd4c_reshape_on(s->context, a[4], flat, 2, &a[7]));
  STEP(nd4c_array_full(ND4C_FLOAT32, 9, long_shape, 3, device, &a[8]));
  STEP(nd4c_exp_on(s->context, a[8], &a[9]));
  STEP(nd4c_softmax_on(s->context, a[3], -1, &a[10]));
  STEP(nd4c_add_on(s->context, a[3], a[3], &a[3])); /* in place */
  float values[16];
  STEP(nd4c_array_read(a[9], values, sizeof values));
  return nd4c_context_synchronize(s->context);
}

static nd4c_status play_host(scenario *s) {
  static float memory[4] = {1, 2, 3, 4};
  const int64_t shape[1] = {4};
  const char *const strings[] = {"a", "b", "", "dd"};
  const nd4c_array *inputs[1];
  nd4c_array **a = s->arrays;
  STEP(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, true, NULL, NULL, &a[11]));
  STEP(nd4c_array_to_dlpack(a[11], &s->managed));
  STEP(nd4c_array_from_strings(1, shape, strings, NULL, &a[12]));
  STEP(nd4c_array_format(a[11], NULL, &s->texts[0]));
  inputs[0] = a[11];
  STEP(nd4c_explain(s->context, ND4C_OP_square, inputs, 1, NULL, 0, &s->texts[1]));
  return nd4c_report_applied(&s->texts[2]);
}

/* Items of all kinds, one array of indices, several, and masks with one value and with one for each element. */
static nd4c_status play_items(scenario *s) {
  const int64_t shape[2] = {3, 4}, two[1] = {2}, row[1] = {4};
  const int8_t numbers[2] = {0, -1};
  const bool chosen[4] = {true, false, true, false};
  nd4c_array **a = s->arrays;
  STEP(nd4c_array_zeros(ND4C_FLOAT32, 2, shape, NULL, &a[13]));
  STEP(nd4c_array_from_data(ND4C_INT8, 1, two, numbers, NULL, &a[14]));
  STEP(nd4c_array_from_data(ND4C_BOOL, 1, row, chosen, NULL, &a[15]));
  const nd4c_index at = {.kind = ND4C_INDEX_ARRAY, .array = a[14]}, all = {.kind = ND4C_INDEX_ELLIPSIS};
  const nd4c_index where = {.kind = ND4C_INDEX_MASK, .array = a[15]}, first = {.kind = ND4C_INDEX_INTEGER};
  STEP(nd4c_array_get(a[13], (nd4c_index[]){first, all}, 2, &a[16]));
  STEP(nd4c_array_get(a[13], (nd4c_index[]){all, at}, 2, &a[17]));
  STEP(nd4c_array_get(a[13], (nd4c_index[]){at, where}, 2, &a[18]));
  STEP(nd4c_array_get(a[13], (nd4c_index[]){all, where}, 2, &a[19]));
  STEP(nd4c_array_set(a[13], (nd4c_index[]){all, where}, 2, a[14])); /* cast, one value an element */
  STEP(nd4c_array_get(a[14], &first, 1, &a[20]));
  STEP(nd4c_array_set(a[13], (nd4c_index[]){all, where}, 2, a[20])); /* one value for all */
  STEP(nd4c_array_set(a[13], (nd4c_index[]){at, at}, 2, a[20]));
  return nd4c_array_set(a[13], (nd4c_index[]){at, all}, 2, a[16]); /* a part of the array itself */
}

static nd4c_status play(scenario *s, const char *name) {
  nd4c_device *device = NULL;
  bool stub = strcmp(name, "stub") == 0;
  if (stub && stub_control == NULL) {
    nd4c_status loaded = nd4c_backend_load(STUB_PATH);
    if (loaded != ND4C_OK && loaded != ND4C_NAME) { /* NAME: it exists from an earlier attempt */
      return loaded;
    }
  }
  STEP(nd4c_device_find(name, &device));
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  STEP(nd4c_context_create(&options, &s->context));
  STEP(play_ops(s, device, stub));
  STEP(stub ? ND4C_OK : play_host(s));
  return stub ? ND4C_OK : play_items(s);
}

static bool is_lack_of_memory(nd4c_status status) {
  return status == ND4C_MEMORY || status == ND4C_POISONED; /* the second where an input lacked it in flight */
}

/* -- in a warm process ------------------------------------------------------------------------------------------- */

static int64_t live_bytes(const char *name) {
  nd4c_device *device = NULL;
  nd4c_memory_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_device_find(name, &device), ND4C_OK);
  (void)nd4c_device_synchronize(device);
  (void)nd4c_memory_trim(device, 0);
  assert_int_equal(nd4c_memory_get_info(device, &info), ND4C_OK);
  return info.live_bytes;
}

static void exhaust(const char *name) {
  scenario s = {0};
  int64_t survived = 0;
  assert_int_equal(play(&s, name), ND4C_OK);
  clear(&s);
  int64_t host = live_bytes("cpu"), device = live_bytes(name);
  for (int64_t skip = 0;; skip++) {
    /* Cached choices and memory would hide allocations. */
    assert_int_equal(nd4c_config_set("nd4c.width", skip % 2 == 0 ? "1" : "2"), ND4C_OK);
    nd4c_error_clear();
    int64_t before = nd4c_allocation_count();
    nd4c_allocation_fail_at(skip);
    nd4c_status status = play(&s, name);
    bool reached = nd4c_allocation_count() - before > skip;
    nd4c_allocation_fail_at(-1);
    if (status != ND4C_OK && (!is_lack_of_memory(status) || nd4c_error_message()[0] == '\0')) {
      print_error("%s: allocation %lld: %s: %s\n", name, (long long)skip, nd4c_status_name(status),
                  nd4c_error_message());
    }
    assert_true(status == ND4C_OK || is_lack_of_memory(status));
    clear(&s);
    if (live_bytes("cpu") != host || live_bytes(name) != device) {
      print_error("%s: allocation %lld left %lld bytes of the host, %lld of the device\n", name, (long long)skip,
                  (long long)(live_bytes("cpu") - host), (long long)(live_bytes(name) - device));
    }
    assert_int_equal(live_bytes("cpu"), host);
    assert_int_equal(live_bytes(name), device);
    if (!reached) {
      assert_int_equal(status, ND4C_OK);
      break;
    }
    survived += status != ND4C_OK;
    assert_int_equal(play(&s, name), ND4C_OK);
    clear(&s);
  }
  print_message("%s: %lld failures survived\n", name, (long long)survived);
  assert_true(survived > 20);
}

static void the_host_survives(void **state) {
  (void)state;
  exhaust("cpu");
}

static void the_stub_survives(void **state) {
  (void)state;
  assert_int_equal(stub_start(), ND4C_OK);
  exhaust("stub");
  assert_int_equal(nd4c_context_destroy(stub_context), ND4C_OK);
  assert_int_equal(stub_counter("violations"), 0);
}

/* -- in processes that have just begun --------------------------------------------------------------------------- */

/* The first failure among the very first allocations, then the same again with memory. */
static int child(const char *name, const char *skip) {
  scenario s = {0};
  nd4c_allocation_fail_at(strtoll(skip, NULL, 10));
  nd4c_status status = play(&s, name);
  bool reached = nd4c_allocation_count() > strtoll(skip, NULL, 10);
  nd4c_allocation_fail_at(-1);
  printf("first=%s %s\n", nd4c_status_name(status), status != ND4C_OK ? nd4c_error_message() : "");
  clear(&s);
  nd4c_status again = play(&s, name);
  printf("again=%s %s\n", nd4c_status_name(again), again != ND4C_OK ? nd4c_error_message() : "");
  clear(&s);
  printf("%s\n", reached ? "reached" : "done");
  return again != ND4C_OK || (status != ND4C_OK && !is_lack_of_memory(status));
}

/* Each of the first `dense` allocations fails once, then each 13th. */
static void exhaust_cold(const char *name, int dense) {
  char output[CHILD_OUTPUT], skip[24];
  int failures = 0, runs = 0;
  for (int number = 0; runs < 400; runs++, number += number < dense ? 1 : 13) {
    (void)snprintf(skip, sizeof skip, "%d", number);
    int code = child_run(program, name, skip, NULL, output);
    if (code != 0) {
      print_error("%s: allocation %d of a process ended with %d:\n%s\n", name, number, code, output);
      failures++;
    }
    if (strstr(output, "\ndone\n") != NULL) {
      break;
    }
  }
  assert_true(runs < 400);
  assert_int_equal(failures, 0);
}

static void beginnings_survive(void **state) {
  (void)state;
  exhaust_cold("cpu", 40);
  exhaust_cold("stub", 64); /* these include the loading of the plug-in */
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc == 3) {
    return child(argv[1], argv[2]);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_host_survives),
      cmocka_unit_test(the_stub_survives),
      cmocka_unit_test(beginnings_survive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
