/* Contexts: each thread has one current context, enters and leaves others, and a context lives while an owner, a thread
 * or a plan uses it. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "device/stub_plugin.h"

static nd4c_context *made(nd4c_device *device, int32_t width) {
  nd4c_context_options options = {.struct_size = sizeof options, .device = device, .width = width};
  nd4c_context *context = NULL;
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
  return context;
}

static void entering_and_leaving(void **state) {
  (void)state;
  nd4c_context *own = nd4c_context_current(), *outer = made(NULL, 1), *inner = made(NULL, 2), *previous = own;
  assert_non_null(own);
  assert_int_equal(nd4c_context_enter(outer, &previous), ND4C_OK);
  assert_null(previous);
  assert_ptr_equal(nd4c_context_current(), outer);
  assert_int_equal(nd4c_context_width(nd4c_context_current()), 1);
  assert_int_equal(nd4c_context_enter(inner, &previous), ND4C_OK);
  assert_ptr_equal(previous, outer);
  assert_int_equal(nd4c_context_width(NULL), 0);
  assert_int_equal(nd4c_context_width(nd4c_context_current()), 2);
  assert_int_equal(nd4c_context_enter(previous, &previous), ND4C_OK);
  assert_ptr_equal(previous, inner);
  assert_int_equal(nd4c_context_destroy(inner), ND4C_OK);
  assert_int_equal(nd4c_context_enter(NULL, NULL), ND4C_OK);
  assert_ptr_equal(nd4c_context_current(), own);
  assert_int_equal(nd4c_context_destroy(outer), ND4C_OK);
}

static void a_current_context_is_kept(void **state) {
  (void)state;
  nd4c_context *context = made(NULL, 1);
  assert_int_equal(nd4c_context_enter(context, NULL), ND4C_OK);
  assert_int_equal(nd4c_context_enter(context, NULL), ND4C_OK); /* again: still one */
  assert_int_equal(nd4c_context_destroy(context), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "current one of 1 thread"));
  nd4c_array *x = NULL;
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 1, NULL, &x), ND4C_OK);
  nd4c_array_release(x);
  assert_int_equal(nd4c_context_enter(NULL, NULL), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

typedef struct visitor {
  nd4c_context *context;
  nd4c_context *seen_before, *seen_inside;
  nd4c_status destroyed;
  nd4c_device *device;
} visitor;

static void *visit(void *argument) {
  visitor *v = argument;
  nd4c_array *one = NULL, *two = NULL;
  v->seen_before = nd4c_context_current();
  (void)nd4c_context_enter(v->context, NULL);
  v->seen_inside = nd4c_context_current();
  v->destroyed = nd4c_context_destroy(v->context);
  if (nd4c_array_scalar(ND4C_FLOAT32, 1, NULL, &one) == ND4C_OK && nd4c_add(one, one, &two) == ND4C_OK) {
    v->device = nd4c_array_device(two);
  }
  nd4c_array_release(one);
  nd4c_array_release(two);
  (void)nd4c_context_enter(NULL, NULL);
  return NULL;
}

static void every_thread_has_its_own(void **state) {
  (void)state;
  pthread_t thread;
  visitor v = {.context = stub_context};
  nd4c_context *mine = nd4c_context_current();
  assert_int_equal(pthread_create(&thread, NULL, visit, &v), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_non_null(v.seen_before);
  assert_ptr_equal(v.seen_inside, stub_context);
  assert_int_equal(v.destroyed, ND4C_ARGUMENT);
  assert_ptr_equal(v.device, stub_device); /* fresh arrays and results are on the context's device */
  assert_ptr_equal(nd4c_context_current(), mine);
  assert_ptr_not_equal(nd4c_context_device(mine), stub_device);
}

static void options_are_checked(void **state) {
  (void)state;
  nd4c_context *context = NULL;
  nd4c_context_options unset = {0}, negative = {.struct_size = sizeof negative, .width = -1};
  assert_int_equal(nd4c_context_create(&unset, &context), ND4C_ARGUMENT);
  assert_int_equal(nd4c_context_create(&negative, &context), ND4C_ARGUMENT);
  assert_int_equal(nd4c_context_create(NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_null(context);
  assert_int_equal(nd4c_context_destroy(NULL), ND4C_OK);
  assert_int_equal(nd4c_context_create(NULL, &context), ND4C_OK);
  assert_true(nd4c_context_width(context) >= 1);
  assert_int_equal(nd4c_context_synchronize(context), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* All functions that take a context. */
static void assert_refused(nd4c_context *foreign) {
  nd4c_array *one = NULL, *sum = NULL;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  char *text = NULL;
  nd4c_native_handles handles = {.struct_size = sizeof handles};
  nd4c_context *previous = NULL;
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 1, NULL, &one), ND4C_OK);
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  const nd4c_array *const inputs[] = {one, one};
  const nd4c_status refused[] = {nd4c_context_destroy(foreign),
                                 nd4c_context_enter(foreign, &previous),
                                 nd4c_context_release(foreign),
                                 nd4c_context_native(foreign, &handles),
                                 nd4c_context_synchronize(foreign),
                                 nd4c_context_set_routing(foreign, NULL),
                                 nd4c_plan_create(graph, foreign, NULL, &plan),
                                 nd4c_explain(foreign, ND4C_OP_add, inputs, 2, NULL, 0, &text),
                                 nd4c_op_call(foreign, ND4C_OP_add, inputs, 2, NULL, 0, &sum, 1),
                                 nd4c_add_on(foreign, one, one, &sum)};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    if (refused[i] != ND4C_HANDLE) {
      fail_msg("function %zu gives %s", i, nd4c_status_name(refused[i]));
    }
  }
  assert_int_equal(nd4c_square_on(foreign, one, &sum), ND4C_HANDLE);
  assert_non_null(strstr(nd4c_error_message(), "is not a context, or was destroyed"));
  nd4c_error_clear();
  assert_null(nd4c_context_device(foreign));
  assert_int_equal(nd4c_error_code(), ND4C_HANDLE);
  assert_int_equal(nd4c_context_width(foreign), 0);
  nd4c_graph_destroy(graph);
  nd4c_array_release(one);
}

static void foreign_contexts_are_refused(void **state) {
  (void)state;
  union {
    char bytes[1024];
    nd4c_context *context;
  } junk;
  memset(&junk, 0x5a, sizeof junk);
  assert_refused((nd4c_context *)(void *)&junk);
  assert_refused((nd4c_context *)(uintptr_t)64); /* nothing is mapped there */
  /* A context that was in use until it was destroyed. */
  nd4c_context *gone = made(stub_device, 1);
  nd4c_array *one = NULL, *sum = NULL;
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 1, NULL, &one), ND4C_OK);
  assert_int_equal(nd4c_add_on(gone, one, one, &sum), ND4C_OK);
  assert_ptr_equal(nd4c_context_device(gone), stub_device);
  assert_int_equal(nd4c_context_destroy(gone), ND4C_OK);
  assert_refused(gone);
  nd4c_array_release(one);
  nd4c_array_release(sum);
  assert_ptr_equal(nd4c_context_device(stub_context), stub_device);
}

/* A plan keeps its context: a second call of destroy by the owner must not free it. */
static void destroyed_once(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value x = 0, y = 0;
  nd4c_context *context = made(stub_device, 1);
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 0, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_square, &x, 1, NULL, 0, "", &y, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_output(graph, "y", y), ND4C_OK);
  assert_int_equal(nd4c_plan_create(graph, context, NULL, &plan), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(context), ND4C_HANDLE);
  assert_non_null(strstr(nd4c_error_message(), "was destroyed; only a plan still uses it"));
  assert_int_equal(nd4c_context_enter(context, NULL), ND4C_HANDLE);
  assert_int_equal(nd4c_context_set_routing(context, NULL), ND4C_HANDLE);
  nd4c_plan *second_plan = NULL;
  assert_int_equal(nd4c_plan_create(graph, context, NULL, &second_plan), ND4C_HANDLE);
  nd4c_array *two = NULL, *four = NULL;
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 2, NULL, &two), ND4C_OK);
  assert_int_equal(nd4c_square_on(context, two, &four), ND4C_HANDLE);
  assert_non_null(strstr(nd4c_error_message(), "was destroyed; only a plan still uses it"));
  /* The plan still runs, also when it has to copy its input because the output is the same array. */
  nd4c_array *same = two;
  assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *const *)&two, 1, &same, 1), ND4C_OK);
  double squared = 0;
  assert_int_equal(nd4c_array_item(two, NULL, &squared), ND4C_OK);
  assert_float_equal(squared, 4, 0);
  nd4c_array_release(two);
  nd4c_array *three = NULL, *nine = NULL;
  double value = 0;
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 3, NULL, &three), ND4C_OK);
  assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *const *)&three, 1, &nine, 1), ND4C_OK);
  assert_int_equal(nd4c_array_item(nine, NULL, &value), ND4C_OK);
  assert_float_equal(value, 9, 0);
  nd4c_array_release(three);
  nd4c_array_release(nine);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void the_width_follows_configuration(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("nd4c.width", "3"), ND4C_OK);
  assert_int_equal(nd4c_context_width(nd4c_context_current()), 3);
  nd4c_context *fixed = made(NULL, 2);
  assert_int_equal(nd4c_config_set("nd4c.width", "1"), ND4C_OK);
  assert_int_equal(nd4c_context_width(nd4c_context_current()), 1);
  assert_int_equal(nd4c_context_width(fixed), 2);
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(fixed), ND4C_OK);
}

static void the_default_follows_the_forced_backend(void **state) {
  (void)state;
  nd4c_device *device = NULL;
  assert_int_equal(nd4c_config_set("backend.type", "stub"), ND4C_OK);
  assert_int_equal(nd4c_device_default(&device), ND4C_OK);
  assert_ptr_equal(device, stub_device);
  assert_ptr_equal(nd4c_context_device(nd4c_context_current()), stub_device);
  assert_int_equal(nd4c_config_set("backend.type", "no_such"), ND4C_OK);
  assert_null(nd4c_context_current());
  assert_int_equal(nd4c_error_code(), ND4C_NO_BACKEND);
  nd4c_array *x = NULL;
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 1, NULL, &x), ND4C_NO_BACKEND);
  assert_int_equal(nd4c_config_set("backend.type", NULL), ND4C_OK);
  assert_int_equal(nd4c_device_default(&device), ND4C_OK);
  assert_ptr_not_equal(device, stub_device);
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entering_and_leaving),
      cmocka_unit_test(a_current_context_is_kept),
      cmocka_unit_test(every_thread_has_its_own),
      cmocka_unit_test(options_are_checked),
      cmocka_unit_test(foreign_contexts_are_refused),
      cmocka_unit_test(destroyed_once),
      cmocka_unit_test(the_width_follows_configuration),
      cmocka_unit_test(the_default_follows_the_forced_backend),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
