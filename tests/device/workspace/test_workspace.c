/* Workspaces: cycles that allocate nothing after the first, nested scopes, arrays that outlive theirs, wrong orders. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "workspace_tests.h"

static int64_t total(const nd4c_device *device) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_memory_get_info(device, &info), ND4C_OK);
  return info.total_count;
}

/* A step of training: results of results, all released at its end. */
static void step(nd4c_context *context, const nd4c_array *x, float expected) {
  nd4c_array *square = NULL, *sum = NULL, *twice = NULL;
  assert_int_equal(nd4c_square_on(context, x, &square), ND4C_OK);
  assert_int_equal(nd4c_add_on(context, square, x, &sum), ND4C_OK);
  assert_int_equal(nd4c_add_on(context, sum, sum, &twice), ND4C_OK);
  assert_all(twice, expected);
  nd4c_array_release(square);
  nd4c_array_release(sum);
  nd4c_array_release(twice);
}

static void a_cycle_allocates_nothing_after_the_first(void **state) {
  (void)state;
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 0);
  nd4c_array *x = filled(cpu, 3);
  int64_t blocks = 0, allocations = 0;
  for (int cycle = 0; cycle < 10; cycle++) {
    if (cycle == 2) { /* the second cycle still made entries in caches */
      blocks = total(cpu);
      allocations = nd4c_allocation_count();
    }
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    assert_ptr_equal(nd4c_workspace_current(), workspace);
    step(NULL, x, 24);
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
    nd4c_workspace_info info = info_of(workspace, cpu);
    assert_int_equal(info.spilled_count, 3);
    assert_true(info.bytes >= (int64_t)(3 * sizeof buffer));
    assert_int_equal(info.cycles, cycle + 1);
    assert_int_equal(info.used_bytes + info.live_count + info.depth, 0);
  }
  assert_int_equal(total(cpu), blocks);
#if defined(NDEBUG)
  assert_int_equal(nd4c_allocation_count(), allocations);
#else /* every handle is new, so that a use after release is seen */
  assert_int_equal(nd4c_allocation_count(), allocations + 8 * 3);
#endif
  assert_null(nd4c_workspace_current());
  nd4c_array_release(x);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

/* As many arrays as a model's step has, all alive at once: results, scalars and views. */
static void a_cycle_of_many_arrays_allocates_nothing(void **state) {
  (void)state;
  enum { ALIVE = 600, WARM = 3, COUNTED = 3 };
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 0);
  nd4c_array *x = filled(cpu, 3), *arrays[3 * ALIVE] = {NULL};
  int64_t allocations = 0;
  for (int cycle = 0; cycle < WARM + COUNTED; cycle++) {
    allocations = cycle == WARM ? nd4c_allocation_count() : allocations;
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    for (int i = 0; i < 3 * ALIVE; i += 3) {
      assert_int_equal(nd4c_add(i == 0 ? x : arrays[i - 3], x, &arrays[i]), ND4C_OK);
      assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, i, cpu, &arrays[i + 1]), ND4C_OK);
      assert_int_equal(nd4c_array_select(arrays[i], 0, 0, &arrays[i + 2]), ND4C_OK);
    }
    for (int i = 0; i < 3 * ALIVE; i++) {
      nd4c_array_release(arrays[i]);
      arrays[i] = NULL;
    }
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  }
#if defined(NDEBUG)
  if (ND4C_RECYCLES) {
    assert_int_equal(nd4c_allocation_count(), allocations);
  }
#else /* every handle is new */
  assert_int_equal(nd4c_allocation_count(), allocations + COUNTED * 3 * ALIVE);
#endif
  nd4c_array_release(x);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

/* Blocks that came from the device itself, not from the manager's cache. */
static int64_t fresh(const nd4c_device *device) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_memory_get_info(device, &info), ND4C_OK);
  return info.total_count - info.cache_hits;
}

/* Results of results in flight, the last one read. */
static void step_in_flight(nd4c_context *context, const nd4c_array *x, int sums, bool pairs) {
  enum { SUMS_AT_MOST = 40 };
  nd4c_array *product = NULL, *sum[SUMS_AT_MOST] = {NULL}, *all = NULL, *largest = NULL, *places = NULL;
  float value = 0;
  assert_int_equal(nd4c_matmul_on(context, x, x, &product), ND4C_OK);
  for (int i = 0; i < sums; i++) {
    assert_int_equal(nd4c_add_on(context, i == 0 ? product : sum[i - 1], x, &sum[i]), ND4C_OK);
  }
  assert_int_equal(nd4c_sum_on(context, sum[sums - 1], NULL, 0, false, ND4C_DTYPE_NONE, &all), ND4C_OK);
  assert_int_equal(nd4c_array_read(all, &value, sizeof value), ND4C_OK);
  assert_float_equal(value, 64.0 * (8 + sums), 0);
  if (pairs) { /* of ops of two results no thread keeps the choice */
    assert_int_equal(nd4c_cumulative_max_on(context, x, 1, &largest, &places), ND4C_OK);
  }
  nd4c_array_release(largest);
  nd4c_array_release(places);
  nd4c_array_release(product);
  nd4c_array_release(all);
  for (int i = 0; i < sums; i++) {
    nd4c_array_release(sum[i]);
  }
}

/* `cycles` steps in flight, each in the workspace's scope. */
static void run_cycles(nd4c_workspace *workspace, nd4c_context *context, const nd4c_array *x, int cycles, int sums,
                       bool pairs) {
  for (int cycle = 0; cycle < cycles; cycle++) {
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    step_in_flight(context, x, sums, pairs);
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  }
}

/* The stub's threads release blocks that this thread took, and each keeps a few of them. How many of them they keep
 * depends on which thread was late, so that on a busy machine a block may be missing long after the first cycles: the
 * test waits for COUNTED cycles in a row that allocate nothing. A call that allocates each time never has them. */
static void check_cycles(const char *name, nd4c_device *device) {
  const int64_t side[2] = {8, 8};
  enum { BURSTS = 2, WARM = 40, COUNTED = 10, TRIES = 20 };
  const bool pairs = strncmp(name, "stub", 4) != 0; /* it has no such op */
#if defined(NDEBUG)
  const int64_t handles = 0;
#else /* every handle is new */
  const int64_t handles = COUNTED * (pairs ? 5 : 3);
#endif
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 0);
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  nd4c_context *context = NULL;
  nd4c_array *x = NULL;
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 2, side, 1, device, &x), ND4C_OK);
  for (int burst = 0; burst < BURSTS; burst++) { /* a whole cycle is in flight, which is more than the threads keep */
    stub_order("pause until_wait");
    run_cycles(workspace, context, x, 1, 40, pairs);
  }
  stub_order("resume");
  run_cycles(workspace, context, x, WARM, 1, pairs);
  int64_t made_blocks = 1;
  int64_t allocations = 1;
  for (int i = 0; i < TRIES && (made_blocks != 0 || allocations != 0); i++) {
    made_blocks = fresh(device);
    allocations = nd4c_allocation_count() + handles;
    run_cycles(workspace, context, x, COUNTED, 1, pairs);
    made_blocks = fresh(device) - made_blocks;
    allocations = ND4C_RECYCLES ? nd4c_allocation_count() - allocations : 0;
  }
  if (made_blocks != 0 || allocations != 0) {
    fail_msg("%s: %d cycles made %lld allocations, %lld of them of the device's memory", name, COUNTED,
             (long long)allocations, (long long)made_blocks);
  }
  nd4c_array_release(x);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* No allocations of records of fences, launches and copies, of replicas, or of device memory. */
static void a_cycle_allocates_nothing_on_any_device(void **state) {
  (void)state;
  static const char *const names[] = {"cpu:0", "stub:0", "opencl:0"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    nd4c_device *device = NULL;
    if (nd4c_device_find(names[i], &device) == ND4C_OK) {
      check_cycles(names[i], device);
    } else {
      print_message("no %s here: %s\n", names[i], nd4c_error_message());
      assert_string_equal(names[i], "opencl:0");
    }
  }
}

/* One workspace, three memories; on devices without addresses arrays are parts of a buffer. */
static void arenas_on_several_devices(void **state) {
  (void)state;
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 0);
  nd4c_context_options options = {.struct_size = sizeof options, .device = second};
  nd4c_context *second_context = NULL;
  assert_int_equal(nd4c_context_create(&options, &second_context), ND4C_OK);
  nd4c_array *x = filled(cpu, 3), *here = filled(stub_device, 3), *there = filled(second, 3);
  int64_t buffers = 0;
  for (int cycle = 0; cycle < 5; cycle++) {
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    step(NULL, x, 24);
    step(stub_context, here, 24);
    step(second_context, there, 24);
    step(stub_context, here, 24);
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
    buffers = cycle == 1 ? stub_counter("buffer_allocate") : buffers;
  }
  assert_int_equal(stub_counter("buffer_allocate"), buffers);
  assert_true(info_of(workspace, stub_device).bytes > info_of(workspace, second).bytes);
  assert_int_equal(info_of(workspace, stub_device).spilled_count, 6);
  assert_int_equal(info_of(workspace, NULL).spilled_count, 12);
  nd4c_array_release(x);
  nd4c_array_release(here);
  nd4c_array_release(there);
  assert_int_equal(nd4c_context_destroy(second_context), ND4C_OK);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

static void scopes_nest(void **state) {
  (void)state;
  nd4c_workspace *a = made(ND4C_OUTLIVING_REFUSED, NULL, 1 << 20), *b = made(ND4C_OUTLIVING_REFUSED, cpu, 1 << 16);
  assert_int_equal(nd4c_workspace_enter(a), ND4C_OK);
  nd4c_array *outer = filled(cpu, 1);
  int64_t used = info_of(a, cpu).used_bytes;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(nd4c_workspace_enter(a), ND4C_OK);
    nd4c_array *inner = filled(cpu, 2);
    assert_int_equal(info_of(a, cpu).used_bytes, 2 * used);
    assert_int_equal(nd4c_workspace_enter(b), ND4C_OK);
    nd4c_array *other = filled(cpu, 3), *elsewhere = filled(stub_device, 4); /* b is only for the host */
    assert_int_equal(info_of(b, NULL).live_count, 1);
    assert_all(elsewhere, 4);
    assert_int_equal(nd4c_workspace_leave(a), ND4C_ARGUMENT);
    assert_message("a workspace without a name of cpu:0 was entered after it");
    nd4c_array_release(other);
    assert_int_equal(nd4c_workspace_leave(b), ND4C_OK);
    assert_all(inner, 2);
    nd4c_array_release(inner);
    assert_int_equal(nd4c_workspace_leave(a), ND4C_OK);
    assert_int_equal(info_of(a, cpu).used_bytes, used);
    nd4c_array_release(elsewhere);
  }
  assert_all(outer, 1);
  assert_int_equal(info_of(a, cpu).spilled_count, 0);
  nd4c_array_release(outer);
  assert_int_equal(nd4c_workspace_leave(a), ND4C_OK);
  assert_int_equal(info_of(a, cpu).cycles, 1);
  assert_int_equal(nd4c_workspace_destroy(a), ND4C_OK);
  assert_int_equal(nd4c_workspace_destroy(b), ND4C_OK);
}

static void outliving_is_refused(void **state) {
  (void)state;
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 1 << 20);
  assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
  nd4c_array *x = filled(cpu, 5), *y = NULL, *view = NULL;
  assert_int_equal(nd4c_square(x, &y), ND4C_OK);
  int64_t start_at = 3;
  int64_t stop_at = 9;
  assert_int_equal(nd4c_array_slice(x, &start_at, &stop_at, NULL, &view), ND4C_OK);
  nd4c_array_release(x); /* the view keeps it */
  assert_int_equal(nd4c_workspace_leave(workspace), ND4C_ARGUMENT);
  assert_message("2 array(s) made in the scope are still alive");
  assert_message("12000 bytes on cpu:0 from square");
  assert_message("nd4c_array_full");
  assert_ptr_equal(nd4c_workspace_current(), workspace);
  assert_all(y, 25);
  nd4c_array_release(y);
  nd4c_array_release(view);
  assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

/* A migrated array has no memory in the arena: it may stay, and does not count as moved out. */
static void what_was_migrated_is_outside(void **state) {
  (void)state;
  for (int outliving = ND4C_OUTLIVING_REFUSED; outliving <= ND4C_OUTLIVING_MOVED_OUT; outliving++) {
    nd4c_workspace *workspace = made((nd4c_outliving)outliving, NULL, 0);
    for (int cycle = 0; cycle < 3; cycle++) {
      nd4c_device *const froms[] = {cpu, stub_device}, *const tos[] = {stub_device, second};
      nd4c_array *kept[2] = {NULL};
      assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
      for (int i = 0; i < 2; i++) {
        kept[i] = filled(froms[i], 5 + i);
        nd4c_array *inside = filled(froms[i], 1); /* behind it in the arena */
        assert_int_equal(info_of(workspace, NULL).live_count, 2);
        assert_int_equal(nd4c_array_migrate(kept[i], tos[i]), ND4C_OK);
        assert_int_equal(info_of(workspace, NULL).live_count, 1);
        assert_all(inside, 1);
        nd4c_array_release(inside);
      }
      assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
      assert_int_equal(info_of(workspace, NULL).moved_count, 0);
      for (int i = 0; i < 2; i++) {
        assert_all(kept[i], (float)(5 + i));
        assert_int_equal(nd4c_array_migrate(kept[i], froms[i]), ND4C_OK); /* back to the host, to separate memory */
        assert_all(kept[i], (float)(5 + i));
        nd4c_array_release(kept[i]);
      }
    }
    /* Moved back before the scope ends: it is outside the arena then. */
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    nd4c_array *back = filled(stub_device, 8);
    assert_int_equal(nd4c_array_migrate(back, cpu), ND4C_OK);
    assert_int_equal(nd4c_array_migrate(back, stub_device), ND4C_OK);
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
    assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
    assert_all(back, 8);
    nd4c_array_release(back);
  }
}

static void outliving_is_moved_out(void **state) {
  (void)state;
  nd4c_device *const devices[] = {cpu, stub_device, second};
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_MOVED_OUT, NULL, 1 << 17);
  nd4c_array *kept[3][3] = {{NULL}}, *pending = NULL;
  for (int cycle = 0; cycle < 3; cycle++) {
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    for (int d = 0; d < 3; d++) {
      nd4c_array *gone = filled(devices[d], 99);
      kept[cycle][d] = filled(devices[d], 10 * cycle + d);
      nd4c_array_release(gone);
    }
    assert_int_equal(nd4c_array_prefetch(kept[cycle][1], cpu), ND4C_OK);
    assert_int_equal(nd4c_array_migrate(kept[cycle][2], stub_device), ND4C_OK);
    if (cycle == 2) {
      assert_int_equal(stub_control("delay 20000"), ND4C_OK);
      assert_int_equal(nd4c_square_on(stub_context, kept[2][1], &pending), ND4C_OK);
    }
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  }
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_int_equal(info_of(workspace, NULL).moved_count, 7); /* the three that migrated had left */
  assert_all(pending, 441);
  nd4c_array_release(pending);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
  for (int cycle = 0; cycle < 3; cycle++) {
    for (int d = 0; d < 3; d++) {
      assert_all(kept[cycle][d], (float)(10 * cycle + d));
      nd4c_array_release(kept[cycle][d]);
    }
  }
}

/* Moving out fails at each call in turn: the scope stays open, nothing is lost, another try succeeds. */
static void moving_out_that_fails(void **state) {
  (void)state;
  static const char *const calls[] = {"buffer_allocate", "copy_within", "fence_record", "in_flight_copy"};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    char command[64];
    nd4c_workspace *workspace = made(ND4C_OUTLIVING_MOVED_OUT, NULL, 1 << 17);
    stub_settle();
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    nd4c_array *x = filled(stub_device, 6);
    (void)snprintf(command, sizeof command, "fail %s:1", calls[i]);
    assert_int_equal(stub_control(command), ND4C_OK);
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_DEVICE);
    assert_message("nd4c_workspace_leave: a workspace without a name: moving an array of 12000 bytes");
    assert_ptr_equal(nd4c_workspace_current(), workspace);
    assert_int_equal(stub_control("reset"), ND4C_OK);
    assert_all(x, 6);
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
    assert_all(x, 6);
    nd4c_array_release(x);
    assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
  }
}

/* Without memory for an arena, arrays get separate memory. */
static void an_arena_that_cannot_be_had(void **state) {
  (void)state;
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, stub_device, INT64_C(1) << 40);
  nd4c_array *x = filled(stub_device, 3);
  for (int cycle = 0; cycle < 3; cycle++) {
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    step(stub_context, x, 24);
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  }
  assert_int_equal(info_of(workspace, stub_device).spilled_count, 3); /* the learned size is smaller now */
  for (int64_t skip = 0; skip < 30; skip++) {
    nd4c_workspace *other = NULL;
    nd4c_array *y = NULL;
    nd4c_allocation_fail_at(skip);
    nd4c_status status = nd4c_workspace_create(NULL, &other);
    if (status == ND4C_OK && nd4c_workspace_enter(other) == ND4C_OK) {
      status = nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, cpu, &y);
      nd4c_array_release(y);
      assert_int_equal(nd4c_workspace_leave(other), ND4C_OK);
    }
    nd4c_allocation_fail_at(-1);
    assert_true(status == ND4C_OK || status == ND4C_MEMORY);
    assert_int_equal(nd4c_workspace_destroy(other), ND4C_OK);
  }
  nd4c_array_release(x);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

static void *enter_foreign(void *argument) {
  bool refused = nd4c_workspace_enter(argument) == ND4C_ARGUMENT &&
                 strstr(nd4c_error_message(), "workspace 'wrong' of stub:0: another thread has entered it") != NULL &&
                 nd4c_workspace_leave(argument) == ND4C_ARGUMENT && nd4c_workspace_destroy(argument) == ND4C_ARGUMENT;
  return refused ? argument : NULL;
}

static void wrong_calls_are_refused(void **state) {
  (void)state;
  nd4c_workspace *workspace = NULL, *none = NULL;
  nd4c_workspace_options there = {.struct_size = sizeof there, .device = stub_device};
  pthread_t thread;
  void *result = NULL;
  assert_int_equal(nd4c_workspace_named("wrong", &there, &workspace), ND4C_OK);
  assert_int_equal(nd4c_workspace_leave(workspace), ND4C_ARGUMENT);
  assert_message("nd4c_workspace_leave: workspace 'wrong' of stub:0: this thread has not entered it");
  assert_int_equal(nd4c_workspace_enter((nd4c_workspace *)(void *)buffer), ND4C_HANDLE);
  assert_message("this is not a workspace, or it was destroyed");
  assert_int_equal(nd4c_workspace_enter(NULL), ND4C_NULL_ARGUMENT);
  for (int i = 0; i < 16; i++) {
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
  }
  assert_int_equal(nd4c_workspace_enter(workspace), ND4C_ARGUMENT);
  assert_message("16 scopes");
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_ARGUMENT);
  assert_message("workspace 'wrong' of stub:0: 16 scope(s) of it are open");
  assert_int_equal(pthread_create(&thread, NULL, enter_foreign, workspace), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_ptr_equal(result, workspace);
  for (int i = 0; i < 16; i++) {
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  }
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_HANDLE);
  assert_int_equal(nd4c_workspace_destroy(NULL), ND4C_OK);
  nd4c_workspace_options wrong = {.struct_size = sizeof wrong, .initial_bytes = -1};
  assert_int_equal(nd4c_workspace_create(&wrong, &none), ND4C_ARGUMENT);
  wrong = (nd4c_workspace_options){.struct_size = sizeof wrong, .device = (const nd4c_device *)(const void *)buffer};
  assert_int_equal(nd4c_workspace_create(&wrong, &none), ND4C_HANDLE);
  wrong.struct_size = 4;
  assert_int_equal(nd4c_workspace_create(&wrong, &none), ND4C_ARGUMENT);
  assert_int_equal(nd4c_workspace_named("short", &wrong, &none), ND4C_ARGUMENT);
  assert_int_equal(nd4c_workspace_named("", NULL, &none), ND4C_NAME);
  assert_int_equal(nd4c_workspace_named(NULL, NULL, &none), ND4C_NULL_ARGUMENT);
  assert_null(none);
}

/* Each thread has separate named workspaces; arrays that it leaves when it ends stay usable. */
static void *named_of_a_thread(void *argument) {
  nd4c_workspace *mine = NULL, *again = NULL, *device = NULL;
  nd4c_workspace_options options = {
      .struct_size = sizeof options, .device = stub_device, .outliving = ND4C_OUTLIVING_REFUSED};
  nd4c_array **left = argument;
  bool good = nd4c_workspace_named("loop", NULL, &mine) == ND4C_OK &&
              nd4c_workspace_named("loop", &options, &device) == ND4C_OK &&
              nd4c_workspace_named("loop", NULL, &again) == ND4C_OK && mine == again && mine != device;
  for (int cycle = 0; cycle < 3 && good; cycle++) { /* the last one stays open */
    nd4c_array *x = NULL;
    good = nd4c_workspace_enter(mine) == ND4C_OK && nd4c_workspace_enter(device) == ND4C_OK &&
           nd4c_array_full(ND4C_FLOAT32, 1, shape, 4, cpu, &x) == ND4C_OK &&
           nd4c_array_full(ND4C_FLOAT32, 1, shape, 8, stub_device, &left[1]) == ND4C_OK;
    if (cycle < 2) {
      nd4c_array_release(x);
      nd4c_array_release(left[1]);
      good = good && nd4c_workspace_leave(device) == ND4C_OK && nd4c_workspace_leave(mine) == ND4C_OK;
    } else {
      left[0] = x;
    }
  }
  return good ? argument : NULL;
}

static void named_workspaces(void **state) {
  (void)state;
  nd4c_workspace *mine = NULL;
  nd4c_array *left[2] = {NULL};
  pthread_t thread;
  void *result = NULL;
  assert_int_equal(nd4c_workspace_named("loop", NULL, &mine), ND4C_OK);
  assert_int_equal(pthread_create(&thread, NULL, named_of_a_thread, left), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_ptr_equal(result, left);
  assert_all(left[0], 4);
  assert_all(left[1], 8);
  nd4c_array_release(left[0]);
  nd4c_array_release(left[1]);
  assert_int_equal(info_of(mine, NULL).cycles, 0);
  assert_int_equal(nd4c_workspace_destroy(mine), ND4C_OK);
}

/* A plan relies on the addresses of its constants, so they leave the workspace when the plan is made. */
static void constants_of_plans(void **state) {
  (void)state;
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 1 << 20);
  assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
  nd4c_array *w = filled(cpu, 2), *x = filled(cpu, 3), *y = NULL;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value input = 0, constant = 0, sum = 0;
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, shape, &input), ND4C_OK);
  assert_int_equal(nd4c_graph_constant(graph, w, &constant), ND4C_OK);
  nd4c_value values[] = {input, constant};
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_add, values, 2, NULL, 0, NULL, &sum, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_output(graph, "y", sum), ND4C_OK);
  assert_int_equal(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_OK);
  nd4c_array_release(w);
  const nd4c_array *inputs[] = {x};
  assert_int_equal(nd4c_plan_run(plan, inputs, 1, &y, 1), ND4C_OK);
  assert_all(y, 5);
  nd4c_array_release(x);
  nd4c_array_release(y);
  assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  x = filled(cpu, 7);
  inputs[0] = x;
  y = NULL;
  assert_int_equal(nd4c_plan_run(plan, inputs, 1, &y, 1), ND4C_OK);
  assert_all(y, 9);
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

/* The plan's copies of inputs and outputs with other layouts are outside the workspace, too. */
static void staging_of_plans(void **state) {
  (void)state;
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 1 << 20);
  int64_t start_at = 0, stop_at = 2 * COUNT, step_by = 2, twice[1] = {2 * COUNT};
  nd4c_array *x = NULL, *y = NULL, *odd = NULL, *even = NULL;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value input = 0, output = 0;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, twice, 3, cpu, &x), ND4C_OK);
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, twice, 4, cpu, &y), ND4C_OK);
  assert_int_equal(nd4c_array_slice(x, &start_at, &stop_at, &step_by, &odd), ND4C_OK);
  assert_int_equal(nd4c_array_slice(y, &start_at, &stop_at, &step_by, &even), ND4C_OK);
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, shape, &input), ND4C_OK);
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_square, &input, 1, NULL, 0, NULL, &output, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_output(graph, "y", output), ND4C_OK);
  assert_int_equal(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_OK);
  const nd4c_array *inputs[] = {odd};
  for (int cycle = 0; cycle < 3; cycle++) {
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    assert_int_equal(nd4c_plan_run(plan, inputs, 1, &even, 1), ND4C_OK);
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
    assert_all(even, 9);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  nd4c_array_release(odd);
  nd4c_array_release(even);
  nd4c_array_release(x);
  nd4c_array_release(y);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

/* Other threads free finished work while this thread leaves scopes with pending work. */
static atomic_bool scopes_done;

static void *free_what_is_done(void *argument) {
  while (!atomic_load(&scopes_done)) {
    (void)nd4c_memory_trim(stub_device, 1);
  }
  return argument;
}

static void leaving_beside_other_threads(void **state) {
  (void)state;
  pthread_t threads[2];
  nd4c_workspace *refusing = made(ND4C_OUTLIVING_REFUSED, NULL, 1 << 17);
  nd4c_workspace *moving = made(ND4C_OUTLIVING_MOVED_OUT, NULL, 1 << 17);
  nd4c_array *x = filled(stub_device, 3), *kept = NULL;
  atomic_store(&scopes_done, false);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, free_what_is_done, NULL), 0);
  }
  (void)stub_control("delay 100");
  for (int cycle = 0; cycle < 100; cycle++) {
    nd4c_workspace *workspace = cycle % 2 == 0 ? refusing : moving;
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    for (int i = 0; i < 8; i++) {
      nd4c_array *y = NULL;
      assert_int_equal(nd4c_square_on(stub_context, x, &y), ND4C_OK);
      if (i == 3 && workspace == moving) {
        kept = y;
      } else {
        nd4c_array_release(y); /* pending */
      }
    }
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
    assert_int_equal(info_of(workspace, NULL).live_count + info_of(workspace, NULL).used_bytes, 0);
    if (kept != NULL) {
      assert_all(kept, 9);
      nd4c_array_release(kept);
      kept = NULL;
    }
  }
  (void)stub_control("reset");
  atomic_store(&scopes_done, true);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  }
  assert_int_equal(info_of(moving, NULL).moved_count, 50);
  nd4c_array_release(x);
  assert_int_equal(nd4c_workspace_destroy(refusing), ND4C_OK);
  assert_int_equal(nd4c_workspace_destroy(moving), ND4C_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cycle_allocates_nothing_after_the_first),
      cmocka_unit_test(a_cycle_of_many_arrays_allocates_nothing),
      cmocka_unit_test(a_cycle_allocates_nothing_on_any_device),
      cmocka_unit_test(arenas_on_several_devices),
      cmocka_unit_test(scopes_nest),
      cmocka_unit_test(outliving_is_refused),
      cmocka_unit_test(what_was_migrated_is_outside),
      cmocka_unit_test(outliving_is_moved_out),
      cmocka_unit_test(moving_out_that_fails),
      cmocka_unit_test(an_arena_that_cannot_be_had),
      cmocka_unit_test(wrong_calls_are_refused),
      cmocka_unit_test(named_workspaces),
      cmocka_unit_test(constants_of_plans),
      cmocka_unit_test(staging_of_plans),
      cmocka_unit_test(leaving_beside_other_threads),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
