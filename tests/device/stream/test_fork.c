/* A child of fork and the devices of its parent: calls that need such a device are refused at once with a text, and
 * arrays on the host stay usable. An argument names a device instead of the stub's. */
#define _GNU_SOURCE /* alarm, fork */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/stub_plugin.h"

enum { COUNT = 5000, THREADS = 3, FORKS = 20, MOST_SECONDS = 120 };
static const int64_t shape[1] = {COUNT};
static const char *name = "stub:0";
static bool held; /* the parent's work does not run before the child has ended */
static nd4c_device *device, *cpu;
static nd4c_context *there, *here;
static float buffer[COUNT];
static atomic_bool stopped;
static bool is_child;

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>

/* The child does not free allocations of the parent's driver. */
int __lsan_is_turned_off(void) {
  return is_child;
}
#endif

/* The parent's arrays: only on the host, on both, only on the device, being computed on the device, being copied to the
 * host, and on the host while the device reads it; and a plan on the device. */
typedef struct arrays {
  nd4c_array *host, *both, *device, *pending, *coming, *read;
  nd4c_plan *plan; /* a run of the plan is under way, into: */
  nd4c_array *planned;
} arrays;

static bool holds(const nd4c_array *array, float value) {
  bool all = nd4c_array_read(array, buffer, sizeof buffer) == ND4C_OK;
  for (int i = 0; i < COUNT && all; i++) {
    all = buffer[i] == value;
  }
  return all;
}

static nd4c_array *filled(nd4c_device *on, double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, value, on, &array), ND4C_OK);
  return array;
}

static nd4c_plan *make_plan(void) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value x = 0, y = 0;
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, shape, &x), ND4C_OK);
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_square, &x, 1, NULL, 0, NULL, &y, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_output(graph, "y", y), ND4C_OK);
  assert_int_equal(nd4c_plan_create(graph, there, NULL, &plan), ND4C_OK);
  nd4c_graph_destroy(graph);
  return plan;
}

static nd4c_status run_plan(nd4c_plan *plan, const nd4c_array *x, nd4c_array **y) {
  const nd4c_array *given[] = {x};
  return nd4c_plan_run(plan, given, 1, y, 1);
}

static arrays make_arrays(void) {
  arrays a = {filled(cpu, 1), filled(device, 2), filled(device, 3), NULL, NULL, filled(cpu, 6), make_plan(), NULL};
  assert_true(holds(a.both, 2));
  assert_int_equal(nd4c_array_wait(a.device), ND4C_OK);
  if (stub_control != NULL) {
    stub_order(held ? "pause" : "delay 20000");
  }
  assert_int_equal(nd4c_add_on(there, a.device, a.device, &a.pending), ND4C_OK);
  assert_int_equal(nd4c_add_on(there, a.read, a.device, &a.coming), ND4C_OK);
  assert_int_equal(nd4c_array_prefetch(a.coming, cpu), ND4C_OK);
  assert_int_equal(run_plan(a.plan, a.device, &a.planned), ND4C_OK);
  return a;
}

static void release_arrays(const arrays *a) {
  nd4c_array *const all[] = {a->host, a->both, a->device, a->pending, a->coming, a->read, a->planned};
  nd4c_plan_destroy(a->plan);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    nd4c_array_release(all[i]);
  }
}

static bool is_refused(nd4c_status status, const char *what) {
  const char *text = nd4c_error_message();
  bool refused = status == ND4C_DEVICE && strstr(text, name) != NULL && strstr(text, "a child of fork") != NULL &&
                 strstr(text, "exec") != NULL && strstr(text, "spawn") != NULL;
  if (!refused) {
    (void)fprintf(stderr, "%s: %d: %s\n", what, (int)status, text);
  }
  nd4c_error_clear();
  return refused;
}

static bool is_done(bool done, const char *what) {
  if (!done) {
    (void)fprintf(stderr, "%s: %s\n", what, nd4c_error_message());
  }
  return done;
}

static bool what_is_on_the_host_is_there(const arrays *a) {
  nd4c_array *sum = NULL;
  bool good = is_done(holds(a->host, 1), "host") && is_done(holds(a->both, 2), "both") &&
              is_done(holds(a->read, 6), "read") &&
              is_done(nd4c_array_write(a->read, buffer, sizeof buffer) == ND4C_OK && holds(a->read, 6), "a write") &&
              is_done(nd4c_add_on(here, a->both, a->read, &sum) == ND4C_OK && holds(sum, 8), "a sum on the host") &&
              is_done(nd4c_add_on(here, a->host, a->host, &sum) == ND4C_OK && holds(sum, 2), "into a given array");
  nd4c_array_release(sum);
  return good;
}

/* Work that no pause holds may have ended, and the parent may know. */
static bool has_ended_or_is_refused(const nd4c_array *array, const char *what) {
  return (!held && nd4c_array_wait(array) == ND4C_OK) || is_refused(nd4c_array_wait(array), what);
}

static bool what_needs_the_device_is_refused(const arrays *a) {
  nd4c_array *made = NULL;
  nd4c_context *context = NULL;
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  double value = 0;
  return is_refused(nd4c_add_on(there, a->host, a->host, &made), "an op") &&
         is_refused(nd4c_square_on(there, a->device, &made), "an op on the parent's array") &&
         is_refused(nd4c_array_read(a->device, buffer, sizeof buffer), "reading") &&
         is_refused(nd4c_array_item(a->device, (int64_t[]){7}, &value), "an element") &&
         is_refused(nd4c_array_read(a->pending, buffer, sizeof buffer), "reading what is pending") &&
         is_refused(nd4c_array_read(a->coming, buffer, sizeof buffer), "reading what was coming") &&
         has_ended_or_is_refused(a->pending, "waiting") &&
         has_ended_or_is_refused(a->planned, "waiting for a plan's run") &&
         is_refused(run_plan(a->plan, a->host, &made), "running a plan") &&
         is_refused(nd4c_array_write(a->device, buffer, sizeof buffer), "writing") &&
         is_refused(nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, device, &made), "making an array") &&
         is_refused(nd4c_array_migrate(a->host, device), "migrating there") &&
         is_refused(nd4c_array_migrate(a->device, cpu), "migrating here") &&
         is_refused(nd4c_array_prefetch(a->host, device), "prefetching") &&
         is_refused(nd4c_array_to_device(a->device, cpu, &made), "copying") &&
         is_refused(nd4c_context_create(&options, &context), "a context") &&
         is_refused(nd4c_context_synchronize(there), "synchronizing a context") &&
         is_refused(nd4c_device_synchronize(device), "synchronizing the device");
}

/* Ends the child by exit: its handlers do not wait for the parent's device either. */
static _Noreturn void be_the_child(arrays *a) {
  is_child = true;
  (void)alarm(MOST_SECONDS);
  bool good = what_is_on_the_host_is_there(a) && what_needs_the_device_is_refused(a) && what_is_on_the_host_is_there(a);
  release_arrays(a);
  (void)nd4c_context_destroy(there);
  good = nd4c_memory_trim(device, 0) == ND4C_OK && good;
  exit(good ? 0 : 1);
}

static void run_child(void) {
  arrays a = make_arrays();
  (void)fflush(stdout);
  (void)fflush(stderr);
  pid_t child = fork();
  if (child == 0) {
    be_the_child(&a);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  if (stub_control != NULL) {
    stub_order("reset");
  }
  assert_true(holds(a.pending, 6) && holds(a.coming, 9) && holds(a.planned, 9) && holds(a.host, 1) &&
              holds(a.device, 3));
  release_arrays(&a);
}

static void a_child_is_refused(void **state) {
  (void)state;
  held = stub_control != NULL;
  for (int i = 0; i < 3; i++) {
    run_child();
  }
}

static void *submit(void *argument) {
  nd4c_context *context = NULL;
  bool good = nd4c_context_acquire(device, &context) == ND4C_OK;
  while (good && !atomic_load(&stopped)) {
    nd4c_array *a = NULL, *sum = NULL;
    double value = 0;
    good = nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, device, &a) == ND4C_OK && nd4c_add(a, a, &sum) == ND4C_OK &&
           nd4c_array_item(sum, (int64_t[]){-1}, &value) == ND4C_OK && value == 2;
    nd4c_array_release(a);
    nd4c_array_release(sum);
  }
  return nd4c_context_release(context) == ND4C_OK && good ? argument : NULL;
}

/* Threads of the parent hold locks and wait for the device as it forks. */
static void a_child_is_refused_while_threads_submit(void **state) {
  (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  skip(); /* the sanitizers' own allocators keep their locks over a fork */
#endif
  pthread_t threads[THREADS];
  held = false; /* the threads wait for the device */
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, submit, &stopped), 0);
  }
  for (int i = 0; i < FORKS; i++) {
    (void)usleep(500);
    run_child();
  }
  atomic_store(&stopped, true);
  for (int i = 0; i < THREADS; i++) {
    void *result = NULL;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_ptr_equal(result, &stopped);
  }
}

static int start(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  nd4c_status status = nd4c_context_create(&options, &there);
  options.device = cpu;
  return status == ND4C_OK && nd4c_context_create(&options, &here) == ND4C_OK ? 0 : 1;
}

static int stop(void **state) {
  (void)state;
  (void)nd4c_context_destroy(there);
  (void)nd4c_context_destroy(here);
  return stub_control != NULL ? stub_stop() : 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_is_refused),
                                     cmocka_unit_test(a_child_is_refused_while_threads_submit)};
  name = argc > 1 ? argv[1] : name;
  if ((argc == 1 && stub_start() != ND4C_OK) || nd4c_device_find("cpu", &cpu) != ND4C_OK) {
    return 1;
  }
  if (nd4c_device_find(name, &device) != ND4C_OK) {
    (void)printf("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  return cmocka_run_group_tests(tests, start, stop);
}
