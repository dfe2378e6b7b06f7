/* Contexts lent to threads: nesting, restoring, refusals, reuse. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/alloc.h"
#include "device/stub_plugin.h"

static nd4c_device *cpu, *second;

static void assert_refused(nd4c_status status, const char *part) {
  assert_int_equal(status, ND4C_HANDLE);
  if (strstr(nd4c_error_message(), part) == NULL) {
    fail_msg("no \"%s\" in \"%s\"", part, nd4c_error_message());
  }
}

static nd4c_context *acquired(nd4c_device *device) {
  nd4c_context *context = NULL;
  assert_int_equal(nd4c_context_acquire(device, &context), ND4C_OK);
  assert_ptr_equal(nd4c_context_current(), context);
  assert_ptr_equal(nd4c_context_device(context), device);
  return context;
}

static void scopes_nest_and_restore(void **state) {
  (void)state;
  nd4c_context *own = nd4c_context_current();
  nd4c_context *a = acquired(stub_device), *b = acquired(second), *c = acquired(stub_device), *d = acquired(cpu);
  assert_ptr_not_equal(a, c);
  nd4c_array *x = NULL, *y = NULL;
  assert_int_equal(nd4c_context_release(d), ND4C_OK);
  assert_ptr_equal(nd4c_context_current(), c);
  assert_int_equal(nd4c_context_release(c), ND4C_OK);
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 3, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_square(x, &y), ND4C_OK);
  assert_ptr_equal(nd4c_array_device(y), second); /* fresh arrays and results are on the context's device */
  assert_int_equal(nd4c_context_release(b), ND4C_OK);
  assert_ptr_equal(nd4c_context_current(), a);
  assert_int_equal(nd4c_context_release(a), ND4C_OK);
  assert_ptr_equal(nd4c_context_current(), own);
  double value = 0;
  assert_int_equal(nd4c_array_item(y, NULL, &value), ND4C_OK); /* the work outlives the scope */
  assert_float_equal(value, 9, 0);
  nd4c_array_release(x);
  nd4c_array_release(y);
}

/* A context entered by hand in between does not prevent the return to the previous one. */
static void releasing_restores_whatever_was_entered(void **state) {
  (void)state;
  nd4c_context_options options = {.struct_size = sizeof options, .device = cpu};
  nd4c_context *mine = NULL;
  assert_int_equal(nd4c_context_create(&options, &mine), ND4C_OK);
  assert_int_equal(nd4c_context_enter(mine, NULL), ND4C_OK);
  nd4c_context *a = acquired(stub_device);
  assert_int_equal(nd4c_context_destroy(mine), ND4C_ARGUMENT); /* it will be current again */
  assert_int_equal(nd4c_context_enter(stub_context, NULL), ND4C_OK);
  assert_int_equal(nd4c_context_release(a), ND4C_OK);
  assert_ptr_equal(nd4c_context_current(), mine);
  assert_int_equal(nd4c_context_enter(NULL, NULL), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(mine), ND4C_OK);
}

static void wrong_releases_change_nothing(void **state) {
  (void)state;
  nd4c_context *a = acquired(stub_device), *b = acquired(second);
  assert_refused(nd4c_context_release(a), "1 context(s) acquired after this one on stub:0, the last on stub:1,");
  assert_refused(nd4c_context_release(stub_context), "not a context from nd4c_context_acquire");
  assert_refused(nd4c_context_release((nd4c_context *)(void *)&a), "not a context from nd4c_context_acquire");
  assert_int_equal(nd4c_context_release(NULL), ND4C_NULL_ARGUMENT);
  assert_refused(nd4c_context_destroy(b), "nd4c_context_release releases it");
  assert_ptr_equal(nd4c_context_current(), b);
  assert_int_equal(nd4c_context_release(b), ND4C_OK);
  assert_refused(nd4c_context_release(b), "the context on stub:1 was released already");
  assert_refused(nd4c_context_set_routing(b, NULL), "released");
  assert_refused(nd4c_context_enter(b, NULL), "released, or another thread acquired it");
  nd4c_array *x = NULL, *y = NULL;
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 3, NULL, &x), ND4C_OK);
  assert_refused(nd4c_square_on(b, x, &y), "released, or another thread acquired it");
  assert_refused(nd4c_context_synchronize(b), "released");
  assert_null(nd4c_context_device(b));
  assert_int_equal(nd4c_square_on(a, x, &y), ND4C_OK);
  nd4c_context *again = acquired(second);
  assert_ptr_equal(again, b); /* lent again, it has its usual settings */
  assert_int_equal(nd4c_square_on(b, x, &y), ND4C_OK);
  assert_int_equal(nd4c_context_release(b), ND4C_OK);
  assert_refused(nd4c_square_on(b, x, &y), "released");
  nd4c_array_release(x);
  nd4c_array_release(y);
  assert_ptr_equal(nd4c_context_current(), a);
  assert_int_equal(nd4c_context_release(a), ND4C_OK);
  nd4c_context *none = NULL;
  assert_refused(nd4c_context_acquire((nd4c_device *)(void *)&a, &none), "not a device of an open backend");
  assert_int_equal(nd4c_context_acquire(stub_device, NULL), ND4C_NULL_ARGUMENT);
  assert_null(none);
}

static void *release_foreign(void *argument) {
  nd4c_context *context = argument;
  nd4c_status status = nd4c_context_release(context);
  bool told = strstr(nd4c_error_message(), "the context on stub:0 is held by another thread") != NULL;
  nd4c_array *one = NULL, *two = NULL;
  (void)nd4c_array_scalar(ND4C_FLOAT32, 1, NULL, &one);
  bool refused =
      nd4c_add_on(context, one, one, &two) == ND4C_HANDLE && nd4c_context_enter(context, NULL) == ND4C_HANDLE;
  nd4c_array_release(one);
  return status == ND4C_HANDLE && told && refused ? context : NULL;
}

static void *end_inside(void *argument) {
  nd4c_context *a = NULL, *b = NULL;
  nd4c_array *x = NULL, *y = NULL;
  (void)nd4c_context_acquire(stub_device, &a);
  (void)nd4c_context_acquire(second, &b);
  if (nd4c_array_scalar(ND4C_FLOAT32, 3, NULL, &x) == ND4C_OK && nd4c_square(x, &y) == ND4C_OK) {
    *(bool *)argument = true;
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
  return NULL;
}

static void each_thread_has_its_own(void **state) {
  (void)state;
  pthread_t thread;
  void *result = NULL;
  nd4c_context *a = acquired(stub_device);
  assert_int_equal(pthread_create(&thread, NULL, release_foreign, a), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_ptr_equal(result, a);
  assert_ptr_equal(nd4c_context_current(), a);
  assert_int_equal(nd4c_context_release(a), ND4C_OK);
  /* A thread that ends inside two scopes leaves nothing behind. */
  bool worked = false;
  assert_int_equal(pthread_create(&thread, NULL, end_inside, &worked), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_true(worked);
}

static void steady_state_makes_nothing(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    nd4c_context *outer = acquired(stub_device), *inner = acquired(stub_device);
    assert_int_equal(nd4c_context_release(inner), ND4C_OK);
    assert_int_equal(nd4c_context_release(outer), ND4C_OK);
  }
  /* Work that an earlier test left in the streams would allocate, too, while it runs. */
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  assert_int_equal(nd4c_device_synchronize(second), ND4C_OK);
  int64_t streams = stub_counter("stream_create"), allocations = nd4c_allocation_count();
  for (int i = 0; i < 1000; i++) {
    nd4c_context *outer = acquired(stub_device), *inner = acquired(stub_device);
    assert_int_equal(nd4c_context_release(inner), ND4C_OK);
    assert_int_equal(nd4c_context_release(outer), ND4C_OK);
  }
  assert_int_equal(stub_counter("stream_create"), streams);
  assert_int_equal(nd4c_allocation_count(), allocations);
}

static void handles_for_code_of_ones_own(void **state) {
  (void)state;
  nd4c_context *a = acquired(stub_device);
  nd4c_device_info info = {.struct_size = sizeof info};
  nd4c_native_handles handles = {.struct_size = sizeof handles};
  assert_int_equal(nd4c_device_get_info(stub_device, &info), ND4C_OK);
  assert_int_equal(nd4c_context_native(a, &handles), ND4C_OK);
  assert_ptr_equal(handles.device, info.native);
  assert_non_null(handles.stream);
  void *stream = handles.stream;
  assert_int_equal(nd4c_context_native(NULL, &handles), ND4C_OK);
  assert_ptr_equal(handles.stream, stream);
  nd4c_context *b = acquired(cpu);
  assert_int_equal(nd4c_context_native(b, &handles), ND4C_OK);
  assert_null(handles.stream);
  assert_int_equal(nd4c_context_release(b), ND4C_OK);
  assert_int_equal(nd4c_context_release(a), ND4C_OK);
  assert_int_equal(nd4c_context_native(a, NULL), ND4C_NULL_ARGUMENT);
  handles.struct_size = 4;
  assert_int_equal(nd4c_context_native(NULL, &handles), ND4C_ARGUMENT);
}

static void a_failure_to_make_changes_nothing(void **state) {
  (void)state;
  stub_settle(); /* frees idle streams, so that the call must make one */
  nd4c_context *own = nd4c_context_current(), *context = NULL;
  int64_t streams = stub_counter("streams");
  assert_int_equal(stub_control("fail stream_create:1"), ND4C_OK);
  assert_int_equal(nd4c_context_acquire(stub_device, &context), ND4C_DEVICE);
  assert_null(context);
  assert_ptr_equal(nd4c_context_current(), own);
  for (int64_t skip = 0; skip < 2; skip++) {
    nd4c_allocation_fail_at(skip);
    nd4c_status status = nd4c_context_acquire(stub_device, &context);
    nd4c_allocation_fail_at(-1);
    assert_true(status == ND4C_OK || status == ND4C_MEMORY);
    if (status == ND4C_OK) {
      assert_int_equal(nd4c_context_release(context), ND4C_OK);
    }
    context = NULL;
    assert_ptr_equal(nd4c_context_current(), own);
  }
  stub_settle();
  assert_int_equal(stub_counter("streams"), streams);
}

static int start(void **state) {
  (void)state;
  return stub_start() == ND4C_OK && nd4c_device_find("cpu", &cpu) == ND4C_OK &&
                 nd4c_device_find("stub:1", &second) == ND4C_OK
             ? 0
             : 1;
}

static int stop(void **state) {
  (void)state;
  return stub_stop();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scopes_nest_and_restore),           cmocka_unit_test(releasing_restores_whatever_was_entered),
      cmocka_unit_test(wrong_releases_change_nothing),     cmocka_unit_test(each_thread_has_its_own),
      cmocka_unit_test(steady_state_makes_nothing),        cmocka_unit_test(handles_for_code_of_ones_own),
      cmocka_unit_test(a_failure_to_make_changes_nothing),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
