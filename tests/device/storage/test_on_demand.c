/* Copies that an operation needs while the host continues: the host does not wait for them, its later writes do not
 * change the copied values, and failed copies lose nothing. The test runs a second time on a device without page-locked
 * memory (STUB_LIE=old_device), whose copies read the array's own memory, and which copies and waits through the
 * host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/os.h"
#include "device/stream/fence.h"
#include "device/stub_test.h"
#include "nd4c/dlpack.h"

/* Numbers of elements: copied within nd4c's record, in one staging buffer, in several, in more than exist. */
static const int64_t sizes[] = {1, 100, 30000, 700000, 2000000};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
static nd4c_device *cpu, *other; /* other: stub:1 */
static nd4c_context *other_context;
static bool is_old;

static float *make_values(int64_t count, float value) {
  float *values = malloc((size_t)count * sizeof *values);
  assert_non_null(values);
  for (int64_t i = 0; i < count; i++) {
    values[i] = value;
  }
  return values;
}

static void set_values(float *values, int64_t count, float value) {
  for (int64_t i = 0; i < count; i++) {
    values[i] = value;
  }
}

static nd4c_array *make_here(int64_t count, float value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &count, value, cpu, &array), ND4C_OK);
  return array;
}

static void assert_all(const nd4c_array *array, float expected) {
  const int64_t count = nd4c_array_size(array);
  float *got = make_values(count, 0);
  assert_int_equal(nd4c_array_read(array, got, (size_t)count * sizeof *got), ND4C_OK);
  for (int64_t i = 0; i < count; i++) {
    if (got[i] != expected) {
      fail_msg("element %lld is %g, expected %g", (long long)i, (double)got[i], (double)expected);
    }
  }
  free(got);
}

static nd4c_trace_totals totals(const nd4c_device *from, const nd4c_device *to) {
  nd4c_trace_totals sums = {.struct_size = sizeof sums};
  assert_int_equal(nd4c_trace_get_totals(from, to, &sums), ND4C_OK);
  return sums;
}

/* -- the host continues ------------------------------------------------------------------------------------------ */

static void a_call_returns_before_the_copy_has_run(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    nd4c_array *a = make_here(sizes[i], 3), *y = NULL;
    stub_order("pause until_wait");
    assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
    const int64_t tasks = stub_counter("tasks"), copies = stub_counter("copy_from_host");
    const int64_t waits = stub_counter("host_waits");
    assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
    assert_int_equal(stub_counter("tasks"), tasks);
    assert_int_equal(stub_counter("copy_from_host"), copies + 1);
    assert_int_equal(stub_counter("host_waits"), waits);
    assert_int_equal(nd4c_array_state(a, stub_device), 'S');
    nd4c_array_release(a);                                /* its memory stays until the device has read it */
    assert_int_equal(totals(cpu, stub_device).copies, 1); /* waits for the device's times */
    assert_int_equal(totals(cpu, stub_device).copied_bytes, sizes[i] * (int64_t)sizeof(float));
    assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
    assert_all(y, 9);
    stub_order("reset");
    nd4c_array_release(y);
  }
}

/* Work that has ended keeps its staging buffers until its fence is asked: a question about memory asks it. */
static void finished_copies_give_their_buffers_back(void **state) {
  (void)state;
  enum { TURNS = 2000 };
  nd4c_array *a = make_here(sizes[2], 3), *y = NULL;
  assert_int_equal(nd4c_fence_kept_bytes(), 0);
  stub_order("pause");
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  const int64_t kept = nd4c_fence_kept_bytes();
  assert_true(is_old ? kept == 0 : kept >= sizes[2] * (int64_t)sizeof(float));
  (void)memory_info_of(stub_device);
  assert_int_equal(nd4c_fence_kept_bytes(), kept); /* still under way */
  stub_order("resume");
  for (int turn = 0; turn < TURNS && nd4c_fence_kept_bytes() > 0; turn++) {
    nd4c_os_sleep(1000000);
    (void)memory_info_of(stub_device);
  }
  assert_int_equal(nd4c_fence_kept_bytes(), 0);
  assert_all(y, 9);
  nd4c_array_release(a);
  nd4c_array_release(y);
}

/* -- memory that is written meanwhile ---------------------------------------------------------------------------- */

typedef struct given {
  nd4c_array *array;
  float *values; /* through which the test writes without nd4c; NULL: it calls nd4c_array_write */
  float *owned;
  nd4c_dl_managed *exported;
} given;

static given give_own(int64_t count) {
  return (given){.array = make_here(count, 3)};
}

static given give_data(int64_t count) {
  given g = {.array = make_here(count, 3)};
  void *data = NULL;
  assert_int_equal(nd4c_array_data_mutable(g.array, &data), ND4C_OK);
  g.values = data;
  return g;
}

static given give_wrapped(int64_t count) {
  given g = {.values = make_values(count, 3)};
  g.owned = g.values;
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, &count, NULL, g.values, false, NULL, NULL, &g.array), ND4C_OK);
  return g;
}

/* nd4c does not write there, but the memory's owner may. */
static given give_read_only(int64_t count) {
  given g = {.values = make_values(count, 3)};
  g.owned = g.values;
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, &count, NULL, g.values, true, NULL, NULL, &g.array), ND4C_OK);
  return g;
}

static given give_exported(int64_t count) {
  given g = {.array = make_here(count, 3)};
  assert_int_equal(nd4c_array_to_dlpack(g.array, &g.exported), ND4C_OK);
  g.values = g.exported->tensor.data;
  return g;
}

/* Like Python's buffers: the address stays in use after the tensor is released. */
static given give_buffer(int64_t count) {
  given g = give_exported(count);
  g.exported->deleter(g.exported);
  g.exported = NULL;
  return g;
}

/* A view of the exported array. */
static given give_view(int64_t count) {
  given g = give_data(count);
  nd4c_array *view = NULL;
  assert_int_equal(nd4c_reshape(g.array, &count, 1, &view), ND4C_OK);
  nd4c_array_release(g.array);
  g.array = view;
  return g;
}

static void overwrite(const given *g, int64_t count) {
  if (g->values != NULL) {
    set_values(g->values, count, 5);
    return;
  }
  float *values = make_values(count, 5);
  assert_int_equal(nd4c_array_write(g->array, values, (size_t)count * sizeof *values), ND4C_OK);
  free(values);
}

static void give_back(given *g) {
  if (g->exported != NULL) {
    g->exported->deleter(g->exported);
  }
  nd4c_array_release(g->array);
  (void)nd4c_device_synchronize(stub_device);
  free(g->owned);
}

static given (*const ways[])(int64_t count) = {give_own,      give_data,   give_wrapped, give_read_only,
                                               give_exported, give_buffer, give_view};

/* unpinned: no page-locked memory is available. */
static void check_written_behind_a_call(bool unpinned) {
  for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
    for (int i = 0; i < SIZES; i++) {
      nd4c_array *y = NULL;
      given g = ways[w](sizes[i]);
      stub_order(unpinned ? "fail pinned_allocate:0" : "reset");
      stub_order("delay 3000");
      assert_int_equal(nd4c_square_on(stub_context, g.array, &y), ND4C_OK);
      overwrite(&g, sizes[i]);
      assert_all(y, 9);
      stub_order("reset");
      nd4c_array_release(y);
      give_back(&g);
    }
  }
}

static void what_is_written_behind_a_call_does_not_reach_it(void **state) {
  (void)state;
  check_written_behind_a_call(false);
  (void)nd4c_memory_trim(stub_device, 0);
  check_written_behind_a_call(true);
}

/* The copies that follow an eager write, too: the user may write again, through the address or by a call. */
static void what_is_written_behind_a_write_does_not_reach_its_copies(void **state) {
  (void)state;
  nd4c_context_options options = {
      .struct_size = sizeof options, .device = stub_device, .transfer = ND4C_TRANSFER_EAGER};
  nd4c_context *eager = NULL;
  assert_int_equal(nd4c_context_create(&options, &eager), ND4C_OK);
  for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
    for (int i = 0; i < SIZES; i++) {
      nd4c_array *y = NULL;
      given g = ways[w](sizes[i]);
      float *twos = make_values(sizes[i], 2);
      assert_int_equal(nd4c_array_prefetch(g.array, stub_device), ND4C_OK);
      assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
      stub_order("delay 3000");
      assert_int_equal(nd4c_context_enter(eager, NULL), ND4C_OK);
      const bool writable = !nd4c_array_is_read_only(g.array);
      if (writable) {
        assert_int_equal(nd4c_array_write(g.array, twos, (size_t)sizes[i] * sizeof *twos), ND4C_OK);
      }
      assert_int_equal(nd4c_square_on(eager, g.array, &y), ND4C_OK);
      assert_int_equal(nd4c_context_enter(NULL, NULL), ND4C_OK);
      overwrite(&g, sizes[i]);
      assert_all(y, writable ? 4 : 9);
      stub_order("reset");
      free(twos);
      nd4c_array_release(y);
      give_back(&g);
    }
  }
  assert_int_equal(nd4c_context_destroy(eager), ND4C_OK);
}

/* Once another device has written the array the address no longer holds, and its next copies need not wait. */
static void an_address_ends_with_a_write_elsewhere(void **state) {
  (void)state;
  given g = give_data(30000);
  nd4c_array *y = NULL;
  assert_int_equal(nd4c_square_on(stub_context, g.array, &g.array), ND4C_OK);
  float *values = make_values(30000, 4);
  assert_int_equal(nd4c_array_migrate(g.array, cpu), ND4C_OK);
  stub_order("pause until_wait");
  const int64_t tasks = stub_counter("tasks");
  assert_int_equal(nd4c_square_on(stub_context, g.array, &y), ND4C_OK);
  assert_int_equal(stub_counter("tasks"), tasks);
  assert_all(y, 81);
  stub_order("reset");
  free(values);
  nd4c_array_release(y);
  give_back(&g);
}

/* Arrays that are released before the device has read them: at most 64 MiB and the copies under way. */
static void the_host_runs_ahead_by_so_much(void **state) {
  (void)state;
  enum { COUNT = 4 << 20, MEBIBYTES = 16, ARRAYS = 12 };
  nd4c_memory_info before = {.struct_size = sizeof before}, info = before;
  nd4c_array *results[ARRAYS] = {NULL};
  assert_int_equal(nd4c_memory_get_info(cpu, &before), ND4C_OK);
  stub_order("idle 1");
  stub_order("delay 2000");
  int64_t most = 0;
  for (int i = 0; i < ARRAYS; i++) {
    nd4c_array *a = make_here(COUNT, 1);
    assert_int_equal(nd4c_square_on(stub_context, a, &results[i]), ND4C_OK);
    nd4c_array_release(a);
    assert_int_equal(nd4c_memory_get_info(cpu, &info), ND4C_OK);
    most = info.live_bytes - before.live_bytes > most ? info.live_bytes - before.live_bytes : most;
  }
  assert_true(most <= (64 + 2 * MEBIBYTES) * INT64_C(1048576));
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  stub_order("reset");
  for (int i = 0; i < ARRAYS; i++) {
    nd4c_array_release(results[i]);
  }
}

/* -- failures ---------------------------------------------------------------------------------------------------- */

static void a_copy_that_fails_in_flight_loses_nothing(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    nd4c_array *a = make_here(sizes[i], 3), *y = NULL, *z = NULL;
    float *got = make_values(sizes[i], 0);
    stub_order("pause until_wait");
    stub_order("fail in_flight_copy:1");
    assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
    assert_int_equal(nd4c_negative_on(stub_context, y, &z), ND4C_OK);
    assert_int_equal(nd4c_array_read(z, got, (size_t)sizes[i] * sizeof *got), ND4C_POISONED);
    assert_message("negative");
    assert_int_equal(nd4c_array_read(y, got, (size_t)sizes[i] * sizeof *got), ND4C_POISONED);
    assert_message("square");
    assert_message("copy failed on stub:0");
    assert_message("in_flight_copy was told to fail");
    stub_order("reset");
    assert_all(a, 3);                                               /* it has not moved */
    assert_int_equal(nd4c_square_on(stub_context, a, &z), ND4C_OK); /* which makes the copy again */
    assert_all(z, 9);
    assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK); /* and a new value makes it usable */
    assert_all(y, 9);
    free(got);
    nd4c_array_release(a);
    nd4c_array_release(y);
    nd4c_array_release(z);
    (void)nd4c_device_synchronize(stub_device);
    nd4c_error_clear();
  }
}

/* If a kernel's input did not arrive, the kernel's own report within the call does not count. */
static void a_kernel_that_fails_for_lack_of_an_input_is_explained(void **state) {
  (void)state;
  nd4c_array *a = make_here(100, 3), *bad = NULL, *y = NULL;
  stub_order("pause until_wait");
  stub_order("fail in_flight_copy:1,run:1:205");
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_DEVICE);
  assert_null(y);
  assert_message("square: an input was left without a value: copy failed on stub:0");
  assert_all(a, 3);
  stub_order("reset");
  stub_order("pause until_wait");
  stub_order("fail in_flight:1,run:2:205");
  assert_int_equal(nd4c_square_on(stub_context, a, &bad), ND4C_OK);
  assert_int_equal(nd4c_negative_on(stub_context, bad, &y), ND4C_POISONED);
  assert_null(y);
  assert_message("negative: an input was left without a value: square failed on stub:0");
  stub_order("reset");
  nd4c_array_release(a);
  nd4c_array_release(bad);
  (void)nd4c_device_synchronize(stub_device);
  nd4c_error_clear();
}

/* -- two devices ------------------------------------------------------------------------------------------------- */

/* x = x + x by turns on the two devices, in place or not. Returns the first failure. */
static nd4c_status alternate(nd4c_array **x, int steps, bool in_place) {
  nd4c_status status = ND4C_OK;
  for (int i = 0; i < steps && status == ND4C_OK; i++) {
    nd4c_context *context = i % 2 == 0 ? other_context : stub_context;
    nd4c_array *next = in_place ? *x : NULL;
    status = nd4c_add_on(context, *x, *x, &next);
    if (status == ND4C_OK && !in_place) {
      nd4c_array_release(*x);
      *x = next;
    }
  }
  return status;
}

static nd4c_array *make_there(int64_t count, float value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &count, value, stub_device, &array), ND4C_OK);
  return array;
}

static void work_that_alternates_makes_no_host_wait(void **state) {
  (void)state;
  for (int in_place = 0; in_place <= 1; in_place++) {
    for (int i = 0; i < 4; i++) {
      nd4c_array *x = make_there(sizes[i], 1);
      assert_int_equal(nd4c_array_wait(x), ND4C_OK);
      stub_order("pause until_wait");
      const int64_t waits = stub_counter("host_waits"), copies = stub_counter("copy_between");
      assert_int_equal(alternate(&x, 10, in_place != 0), ND4C_OK);
      if (!is_old) {
        assert_int_equal(stub_counter("host_waits"), waits);
        assert_int_equal(stub_counter("copy_between"), copies + 10);
      }
      stub_order("resume");
      assert_all(x, 1024);
      nd4c_array_release(x);
    }
  }
}

/* Devices that cannot wait for each other, or not reach each other's memory: the host waits and copies. */
static void devices_that_cannot_meet_on_the_host(void **state) {
  (void)state;
  static const char *const calls[] = {"stream_wait_other", "copy_between"};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0] && !is_old; i++) {
    for (int in_place = 0; in_place <= 1; in_place++) {
      char command[64];
      nd4c_array *x = make_there(5000, 1);
      const int64_t waits = stub_counter("host_waits"), asked = stub_counter(calls[i]);
      (void)snprintf(command, sizeof command, "fail %s:0:%d", calls[i], (int)ND4C_UNSUPPORTED);
      stub_order(command);
      stub_order("pause until_wait");
      assert_int_equal(alternate(&x, 10, in_place != 0), ND4C_OK);
      assert_true(stub_counter("host_waits") > waits || (i == 0 && in_place == 0));
      assert_true(stub_counter(calls[i]) > asked || (i == 0 && in_place == 0));
      stub_order("reset");
      assert_all(x, 1024);
      nd4c_array_release(x);
    }
  }
}

/* Each call fails in turn: a failure or the right result, and nothing is left behind. */
static void whatever_fails_no_value_is_wrong(void **state) {
  (void)state;
  static const char *const calls[] = {"buffer_allocate",   "copy_from_host", "copy_between",   "stream_create",
                                      "stream_wait_other", "fence_record",   "fence_wait",     "in_flight_copy",
                                      "stream_wait_fence", "in_flight",      "pinned_allocate"};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    for (int number = 1; number <= 6; number++) {
      for (int in_place = 0; in_place <= 1; in_place++) {
        char command[64];
        float got[20000];
        stub_settle();
        (void)nd4c_memory_trim(other, 0);
        nd4c_array *a = make_here(20000, 1), *x = NULL;
        (void)snprintf(command, sizeof command, "fail %s:%d", calls[i], number);
        stub_order(command);
        stub_order("delay 200");
        nd4c_status status = nd4c_add_on(stub_context, a, a, &x);
        status = status == ND4C_OK ? alternate(&x, 5, in_place != 0) : status;
        stub_order("reset");
        if (status == ND4C_OK && nd4c_array_read(x, got, sizeof got) == ND4C_OK) {
          assert_true(got[0] == 64 && got[19999] == 64);
        }
        assert_all(a, 1);
        nd4c_array_release(x);
        nd4c_array_release(a);
        (void)nd4c_device_synchronize(other);
        nd4c_error_clear();
      }
    }
  }
}

static int settle(void **state) {
  (void)nd4c_device_synchronize(other);
  (void)nd4c_memory_trim(other, 0);
  return stub_test_end(state);
}

int main(void) {
  const char *lie = getenv("STUB_LIE");
  is_old = lie != NULL && strcmp(lie, "old_device") == 0;
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu", &cpu) != ND4C_OK ||
      nd4c_device_find("stub:1", &other) != ND4C_OK) {
    return 1;
  }
  nd4c_context_options options = {.struct_size = sizeof options, .device = other};
  if (nd4c_context_create(&options, &other_context) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_call_returns_before_the_copy_has_run, stub_test_begin, settle),
      cmocka_unit_test_setup_teardown(finished_copies_give_their_buffers_back, stub_test_begin, settle),
      cmocka_unit_test_setup_teardown(what_is_written_behind_a_call_does_not_reach_it, stub_test_begin, settle),
      cmocka_unit_test_setup_teardown(what_is_written_behind_a_write_does_not_reach_its_copies, stub_test_begin,
                                      settle),
      cmocka_unit_test_setup_teardown(an_address_ends_with_a_write_elsewhere, stub_test_begin, settle),
      cmocka_unit_test_setup_teardown(the_host_runs_ahead_by_so_much, stub_test_begin, settle),
      cmocka_unit_test_setup_teardown(a_copy_that_fails_in_flight_loses_nothing, stub_test_begin, settle),
      cmocka_unit_test_setup_teardown(a_kernel_that_fails_for_lack_of_an_input_is_explained, stub_test_begin, settle),
      cmocka_unit_test_setup_teardown(work_that_alternates_makes_no_host_wait, stub_test_begin, settle),
      cmocka_unit_test_setup_teardown(devices_that_cannot_meet_on_the_host, stub_test_begin, settle),
      cmocka_unit_test_setup_teardown(whatever_fails_no_value_is_wrong, stub_test_begin, settle),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)nd4c_context_destroy(other_context);
  return failed + stub_stop();
}
