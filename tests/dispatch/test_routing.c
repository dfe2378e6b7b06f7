/* Routing between the host and the stub's two devices: policies, lists, declines, failures, transfer, creation. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "array/array.h"
#include "base/alloc.h"
#include "device/storage.h"
#include "device/stub_plugin.h"

enum { COUNT = 8192 };
static const int64_t shape[1] = {COUNT}, few[1] = {8};
static nd4c_device *cpu, *second;
static float buffer[COUNT];

static nd4c_array *filled(nd4c_device *device, const int64_t *extent, double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, extent, value, device, &array), ND4C_OK);
  return array;
}

/* A context on the host whose ops are routed. */
static nd4c_context *routed(nd4c_routing_options options, bool strict) {
  nd4c_device *devices[] = {cpu, stub_device, second};
  options.struct_size = sizeof options;
  if (options.devices == NULL) {
    options.devices = devices;
    options.device_count = 3;
  }
  nd4c_context_options on = {.struct_size = sizeof on, .device = cpu, .strict = strict};
  nd4c_context *context = NULL;
  nd4c_routing *routing = NULL;
  assert_int_equal(nd4c_context_create(&on, &context), ND4C_OK);
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_OK);
  assert_int_equal(nd4c_context_set_routing(context, routing), ND4C_OK);
  nd4c_routing_destroy(routing);
  return context;
}

static nd4c_context *with_policy(nd4c_routing_policy policy) {
  return routed((nd4c_routing_options){.policy = policy}, false);
}

/* Where a + a is computed; the values are checked. */
static nd4c_device *device_of_sum(nd4c_context *context, const nd4c_array *a, float expected) {
  nd4c_array *sum = NULL;
  nd4c_status status = nd4c_add_on(context, a, a, &sum);
  if (status != ND4C_OK) {
    print_error("%s\n", nd4c_error_message());
  }
  assert_int_equal(status, ND4C_OK);
  (void)stub_control("reset"); /* reading is not what is to fail */
  nd4c_device *device = nd4c_array_device(sum);
  assert_int_equal(nd4c_array_read(sum, buffer, (size_t)sum->size * sizeof(float)), ND4C_OK);
  for (int64_t i = 0; i < sum->size; i++) {
    assert_float_equal(buffer[i], expected, 0);
  }
  nd4c_array_release(sum);
  return device;
}

static void policies_pick_devices(void **state) {
  (void)state;
  nd4c_array *here = filled(cpu, shape, 2), *there = filled(second, shape, 3);
  nd4c_context *context = with_policy(ND4C_ROUTING_PREFER_GPU);
  assert_ptr_equal(device_of_sum(context, here, 4), stub_device); /* the first of those that are no CPU */
  assert_ptr_equal(device_of_sum(context, there, 6), second);     /* the data decides between two */
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  context = with_policy(ND4C_ROUTING_PREFER_CPU);
  assert_ptr_equal(device_of_sum(context, there, 6), cpu);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(there);
  there = filled(second, shape, 3);
  context = with_policy(ND4C_ROUTING_FOLLOW_DATA);
  assert_ptr_equal(device_of_sum(context, here, 4), cpu);
  assert_ptr_equal(device_of_sum(context, there, 6), second);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  context = with_policy(ND4C_ROUTING_VOTE);
  for (int i = 0; i < 600; i++) { /* remembered, and voted again on the way */
    nd4c_device *expected = i % 2 != 0 ? second : cpu;
    assert_ptr_equal(device_of_sum(context, i % 2 != 0 ? there : here, i % 2 != 0 ? 6 : 4), expected);
  }
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(here);
  nd4c_array_release(there);
}

static void memory_goes_where_room_is(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, shape, 2);
  nd4c_device *devices[] = {stub_device, second};
  nd4c_context *context =
      routed((nd4c_routing_options){.policy = ND4C_ROUTING_MEMORY, .devices = devices, .device_count = 2}, false);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 1 << 20), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(second, 1 << 24), ND4C_OK);
  assert_ptr_equal(device_of_sum(context, a, 4), second);
  assert_int_equal(nd4c_memory_set_cap(second, 1 << 12), ND4C_OK); /* no room any more: voted anew by failure */
  assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(second, 0), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(a);
}

static void small_calls_follow_the_data(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, few, 2);
  nd4c_device *devices[] = {stub_device, cpu};
  nd4c_context *context = routed((nd4c_routing_options){.devices = devices, .device_count = 2}, false);
  assert_ptr_equal(device_of_sum(context, a, 4), cpu);
  nd4c_array *there = filled(stub_device, few, 3);
  for (int i = 0; i < 9000; i++) { /* remembered, one signature on two devices, and voted again on the way */
    const bool moved = i % 3 == 2;
    assert_ptr_equal(device_of_sum(context, moved ? there : a, moved ? 6 : 4), moved ? stub_device : cpu);
  }
  nd4c_array_release(there);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  context = routed(
      (nd4c_routing_options){
          .policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2, .small_bytes = -1},
      false);
  assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(a);
}

static void remembered_calls_that_fail_go_elsewhere(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, shape, 2);
  nd4c_device *devices[] = {stub_device, cpu};
  nd4c_context *context =
      routed((nd4c_routing_options){.policy = ND4C_ROUTING_FOLLOW_DATA, .devices = devices, .device_count = 2}, false);
  for (int i = 0; i < 3; i++) {
    assert_ptr_equal(device_of_sum(context, a, 4), cpu);
  }
  nd4c_array *sum = NULL;
  assert_int_equal(nd4c_memory_set_cap(cpu, 1), ND4C_OK);
  assert_int_equal(nd4c_add_on(context, a, a, &sum), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(cpu, 0), ND4C_OK);
  assert_ptr_equal(nd4c_array_device(sum), stub_device);
  nd4c_array_release(sum);
  nd4c_array_release(a); /* was on both by now */
  a = filled(cpu, shape, 2);
  assert_ptr_equal(device_of_sum(context, a, 4), cpu);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(a);
}

static void ops_and_categories_have_lists_of_their_own(void **state) {
  (void)state;
  nd4c_device *on_stub[] = {stub_device, cpu}, *on_second[] = {second};
  nd4c_routing *routing = NULL;
  nd4c_context_options on = {.struct_size = sizeof on, .device = cpu};
  nd4c_context *context = NULL;
  assert_int_equal(nd4c_context_create(&on, &context), ND4C_OK);
  assert_int_equal(nd4c_routing_create(NULL, &routing), ND4C_OK);
  assert_int_equal(nd4c_routing_set_category(routing, ND4C_CATEGORY_BINARY, on_stub, 2), ND4C_OK);
  assert_int_equal(nd4c_routing_set_op(routing, ND4C_OP_multiply, on_second, 1), ND4C_OK);
  assert_int_equal(nd4c_routing_set_category(routing, (nd4c_category)99, on_stub, 2), ND4C_ARGUMENT);
  assert_int_equal(nd4c_routing_set_op(routing, 999999, on_stub, 2), ND4C_NAME);
  assert_int_equal(nd4c_context_set_routing(context, routing), ND4C_OK);
  assert_int_equal(nd4c_routing_set_op(routing, ND4C_OP_add, on_stub, 1), ND4C_ARGUMENT); /* in use */
  nd4c_routing_destroy(routing);
  nd4c_array *a = filled(cpu, shape, 2), *product = NULL, *square = NULL;
  assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
  assert_int_equal(nd4c_multiply_on(context, a, a, &product), ND4C_OK);
  assert_ptr_equal(nd4c_array_device(product), second);
  assert_int_equal(nd4c_square_on(context, a, &square), ND4C_OK);
  assert_ptr_equal(nd4c_array_device(square), cpu); /* the general list: the default device alone */
  nd4c_array_release(a);
  nd4c_array_release(product);
  nd4c_array_release(square);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

static void assert_reported(const char *expected) {
  char *text = NULL;
  assert_int_equal(nd4c_report_applied(&text), ND4C_OK);
  if (strstr(text, expected) == NULL) {
    print_error("expected '%s' in '%s'\n", expected, text);
    fail();
  }
  nd4c_free(text);
}

static void who_declines_is_passed_over(void **state) {
  (void)state;
  nd4c_context *context = with_policy(ND4C_ROUTING_PREFER_GPU);
  const nd4c_array *a = filled(cpu, shape, 0.5);
  nd4c_array *y = NULL;
  char *text = NULL;
  assert_int_equal(nd4c_atanh_on(context, a, &y), ND4C_OK); /* the stub has no such kernel */
  assert_reported("atanh: requested stub:0, applied cpu:0");
  assert_ptr_equal(nd4c_array_device(y), cpu);
  assert_int_equal(nd4c_explain(context, ND4C_OP_atanh, &a, 1, NULL, 0, &text), ND4C_OK);
  assert_non_null(strstr(text, "atanh is routed, policy prefer_gpu"));
  assert_non_null(strstr(text, "stub:0: score"));
  assert_non_null(strstr(text, "atanh on stub:0:\n  nothing computes this call here"));
  assert_non_null(strstr(text, "cpu:0 wins"));
  nd4c_free(text);
  nd4c_device *stubs[] = {stub_device, second};
  nd4c_context *none =
      routed((nd4c_routing_options){.policy = ND4C_ROUTING_PREFER_GPU, .devices = stubs, .device_count = 2}, false);
  nd4c_array *nothing = NULL;
  assert_int_equal(nd4c_atanh_on(none, a, &nothing), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "stub:0"));
  assert_non_null(strstr(nd4c_error_message(), "stub:1"));
  assert_null(nothing);
  nd4c_array_release((nd4c_array *)(uintptr_t)a);
  nd4c_array_release(y);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(none), ND4C_OK);
}

/* Part of an array, which a failing device could spoil. */
static nd4c_array *part_of(nd4c_array *array, int64_t extent) {
  nd4c_array *part = NULL;
  assert_int_equal(nd4c_array_make(array->dtype, 1, &extent, NULL, 0, nd4c_storage_retain(array->storage), &part),
                   ND4C_OK);
  return part;
}

/* The first half of an array is written by a device that fails as `command` says: the other half stays. */
static void write_a_part(nd4c_context *context, const nd4c_array *a, const char *command) {
  nd4c_array *flat = filled(stub_device, (int64_t[]){2 * COUNT}, 7), *half = part_of(flat, COUNT);
  float values[2 * COUNT];
  (void)nd4c_memory_trim(stub_device, 0);
  assert_int_equal(stub_control(command), ND4C_OK);
  assert_int_equal(nd4c_add_on(context, a, a, &half), ND4C_OK);
  (void)stub_control("reset");
  assert_int_equal(nd4c_array_read(flat, values, sizeof values), ND4C_OK);
  assert_float_equal(values[COUNT - 1], 4, 0);
  assert_float_equal(values[COUNT], 7, 0);
  nd4c_array_release(half);
  nd4c_array_release(flat);
}

/* Each call that may fail, at each of its first times: as a call is submitted, and, where the routing waits, in flight.
 */
static void a_failing_device_is_replaced(void **state) {
  (void)state;
  static const struct {
    const char *call;
    bool wait;
  } rows[] = {{"buffer_allocate", false},
              {"copy_from_host", false},
              {"stream_create", false},
              {"fence_record", false},
              {"run", false},
              {"buffer_allocate", true},
              {"copy_from_host", true},
              {"fence_record", true},
              {"run", true},
              {"in_flight", true},
              {"in_flight_copy", true},
              {"fence_wait", true}};
  nd4c_device *devices[] = {stub_device, cpu};
  for (size_t c = 0; c < sizeof rows / sizeof rows[0]; c++) {
    bool failed = false;
    stub_settle();
    for (int n = 1; n <= 3; n++) {
      nd4c_context *context = routed(
          (nd4c_routing_options){
              .policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2, .wait = rows[c].wait},
          false);
      nd4c_array *a = filled(cpu, shape, 2), *given = filled(cpu, shape, 7);
      char command[64], *ignored = NULL;
      (void)nd4c_report_applied(&ignored);
      nd4c_free(ignored);
      (void)snprintf(command, sizeof command, "fail %s:%d", rows[c].call, n);
      (void)nd4c_memory_trim(stub_device, 0);
      assert_int_equal(stub_control(command), ND4C_OK);
      nd4c_device *used = device_of_sum(context, a, 4);
      failed = failed || used == cpu;
      if (used == cpu) {
        assert_reported("add: requested stub:0, applied cpu:0");
      }
      (void)stub_control("reset");
      (void)nd4c_memory_trim(stub_device, 0);
      assert_int_equal(stub_control(command), ND4C_OK);
      assert_int_equal(nd4c_add_on(context, a, given, &given), ND4C_OK); /* in place */
      (void)stub_control("reset");
      assert_int_equal(nd4c_array_read(given, buffer, sizeof buffer), ND4C_OK);
      assert_float_equal(buffer[0], 9, 0);
      assert_float_equal(buffer[COUNT - 1], 9, 0);
      assert_int_equal(nd4c_array_read(a, buffer, sizeof buffer), ND4C_OK);
      assert_float_equal(buffer[COUNT - 1], 2, 0);
      write_a_part(context, a, command);
      nd4c_array_release(a);
      nd4c_array_release(given);
      assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
    }
    assert_true(failed);
    stub_settle();
  }
  (void)nd4c_memory_trim(second, 0);
  assert_int_equal(stub_counter("buffers"), 0);
  assert_int_equal(stub_counter("violations"), 0);
}

/* Memory that runs out at each allocation in turn: a result or a status, nothing lost, nothing spoilt. */
static void no_memory_is_survived(void **state) {
  (void)state;
  int refused = 0, served = 0;
  for (int n = 0; n < 60; n++) {
    nd4c_array *a = filled(cpu, shape, 2), *sum = NULL;
    nd4c_context *context = with_policy(ND4C_ROUTING_PREFER_GPU);
    nd4c_allocation_fail_at(n);
    nd4c_status status = nd4c_add_on(context, a, a, &sum);
    nd4c_allocation_fail_at(-1);
    if (status == ND4C_OK) { /* the stub's own thread takes memory, too: then the result tells */
      status = nd4c_array_read(sum, buffer, sizeof buffer);
      nd4c_array_release(sum);
      sum = NULL;
    }
    if (status == ND4C_OK) {
      assert_float_equal(buffer[COUNT - 1], 4, 0);
      served += 1;
    } else {
      assert_int_equal(status, ND4C_MEMORY);
      assert_null(sum);
      refused += 1;
    }
    assert_int_equal(nd4c_array_read(a, buffer, sizeof buffer), ND4C_OK);
    assert_float_equal(buffer[COUNT - 1], 2, 0);
    nd4c_array_release(a);
    (void)nd4c_context_destroy(context); /* may tell the failure once more */
  }
  assert_true(served > refused);
  stub_settle();
  (void)nd4c_memory_trim(second, 0);
  assert_int_equal(stub_counter("buffers"), 0);
}

static void strict_contexts_give_the_failure(void **state) {
  (void)state;
  nd4c_device *devices[] = {stub_device, cpu};
  nd4c_context *context =
      routed((nd4c_routing_options){.policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2}, true);
  nd4c_array *a = filled(cpu, shape, 2), *sum = NULL;
  assert_int_equal(stub_control("fail run:1"), ND4C_OK);
  assert_int_equal(nd4c_add_on(context, a, a, &sum), ND4C_DEVICE);
  assert_null(sum);
  (void)stub_control("reset");
  assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
  nd4c_array *image = NULL, *y = NULL;
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 4, (int64_t[]){1, 1, 2, 2}, cpu, &image), ND4C_OK);
  assert_int_equal(nd4c_lrn_on(context, image, 5, 1e-4, 0.75, 1, &y), ND4C_UNSUPPORTED); /* asked for, and declines */
  assert_non_null(strstr(nd4c_error_message(), "lrn: nothing on stub:0 computes this call"));
  nd4c_array_release(image);
  nd4c_array_release(a);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* What nobody else could do better, or may be asked for, is the failure of a call that waits. */
static void calls_that_wait_give_the_failure(void **state) {
  (void)state;
  nd4c_device *devices[] = {stub_device, cpu};
  nd4c_array *a = filled(cpu, shape, 2), *lost = NULL, *sum = NULL;
  for (int alone = 0; alone < 2; alone++) { /* strict, then without another device */
    nd4c_routing_options options = {
        .policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2 - alone, .wait = true};
    nd4c_context *context = routed(options, alone == 0);
    assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
    assert_int_equal(nd4c_add_on(context, a, a, &sum), ND4C_DEVICE);
    assert_non_null(strstr(nd4c_error_message(), "add failed on stub:0: "));
    assert_non_null(strstr(nd4c_error_message(), "in_flight was told to fail"));
    assert_null(sum);
    assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  }
  nd4c_context *context = routed(
      (nd4c_routing_options){.policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2, .wait = true},
      false);
  assert_int_equal(stub_control("delay 20000"), ND4C_OK); /* lost while the next one is already submitted */
  assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, a, a, &lost), ND4C_OK);
  assert_int_equal(nd4c_add_on(context, lost, a, &sum), ND4C_POISONED);
  assert_non_null(strstr(nd4c_error_message(), "add: an input was left without a value: add failed on stub:0"));
  (void)stub_control("reset");
  assert_null(sum);
  assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(lost);
  nd4c_array_release(a);
  stub_settle();
}

/* A decision that is remembered hides nothing: the same call again, and its device fails. */
static void a_remembered_device_may_fail(void **state) {
  (void)state;
  nd4c_device *devices[] = {stub_device, cpu};
  for (int strict = 0; strict < 2; strict++) {
    nd4c_context *context = routed(
        (nd4c_routing_options){.policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2}, strict != 0);
    nd4c_array *a = filled(cpu, shape, 2), *sum = NULL;
    char *ignored = NULL;
    for (int i = 0; i < 3; i++) {
      assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
    }
    (void)nd4c_report_applied(&ignored);
    nd4c_free(ignored);
    assert_int_equal(stub_control("fail run:1"), ND4C_OK);
    if (strict != 0) {
      assert_int_equal(nd4c_add_on(context, a, a, &sum), ND4C_DEVICE);
      assert_null(sum);
      (void)stub_control("reset");
    } else {
      assert_ptr_equal(device_of_sum(context, a, 4), cpu);
      assert_reported("add: requested stub:0, applied cpu:0");
    }
    assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
    nd4c_array_release(a);
    assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  }
}

static void given_outputs_are_checked_first(void **state) {
  (void)state;
  nd4c_context *context = with_policy(ND4C_ROUTING_PREFER_GPU);
  nd4c_array *a = filled(cpu, shape, 2), *twice = filled(cpu, shape, 7), *flat = filled(cpu, (int64_t[]){2 * COUNT}, 7);
  nd4c_array *small = part_of(twice, COUNT / 2), *half = part_of(flat, COUNT), *same = NULL;
  assert_int_equal(nd4c_add_on(context, a, a, &small), ND4C_SHAPE);
  assert_string_equal(nd4c_error_message(), "add: the output given has shape (4096,), the result has (8192,)");
  assert_int_equal(
      nd4c_array_make(ND4C_FLOAT32, 1, shape, (int64_t[]){0}, 0, nd4c_storage_retain(flat->storage), &same), ND4C_OK);
  assert_int_equal(nd4c_add_on(context, a, a, &same), ND4C_ALIAS);
  assert_int_equal(nd4c_add_on(context, a, a, &half), ND4C_OK);
  assert_int_equal(nd4c_array_read(half, buffer, sizeof buffer), ND4C_OK);
  assert_float_equal(buffer[COUNT - 1], 4, 0);
  /* Without a value before, without one afterwards: the other half was not computed. */
  nd4c_storage_poison(flat->storage, ND4C_DEVICE, "spoilt");
  assert_int_equal(nd4c_add_on(context, a, a, &half), ND4C_DEVICE);
  assert_true(nd4c_storage_is_poisoned(flat->storage));
  nd4c_array *all[] = {a, twice, flat, small, half, same};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    nd4c_array_release(all[i]);
  }
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* A view that has to be copied first is computed elsewhere, too. */
static void a_view_that_fails_is_made_elsewhere(void **state) {
  (void)state;
  nd4c_device *devices[] = {stub_device, cpu};
  for (int strict = 0; strict < 2; strict++) {
    nd4c_context *context = routed((nd4c_routing_options){.devices = devices, .device_count = 2}, strict != 0);
    nd4c_array *table = NULL, *turned = NULL, *flat = NULL;
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 2, (int64_t[]){64, 128}, 3, stub_device, &table), ND4C_OK);
    assert_int_equal(nd4c_array_make(ND4C_FLOAT32, 2, (int64_t[]){128, 64}, (int64_t[]){1, 128}, 0,
                                     nd4c_storage_retain(table->storage), &turned),
                     ND4C_OK);
    assert_int_equal(stub_control("fail run:1"), ND4C_OK);
    nd4c_status status = nd4c_reshape_on(context, turned, shape, 1, &flat);
    (void)stub_control("reset");
    assert_int_equal(status, strict != 0 ? ND4C_DEVICE : ND4C_OK);
    if (strict == 0) {
      assert_ptr_equal(nd4c_array_device(flat), cpu);
      assert_int_equal(nd4c_array_read(flat, buffer, sizeof buffer), ND4C_OK);
      assert_float_equal(buffer[COUNT - 1], 3, 0);
    }
    nd4c_array_release(table);
    nd4c_array_release(turned);
    nd4c_array_release(flat);
    assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  }
}

static void transfer_may_be_refused(void **state) {
  (void)state;
  nd4c_context *context = routed((nd4c_routing_options){.no_transfer = true}, false);
  nd4c_array *here = filled(cpu, shape, 2), *there = filled(stub_device, shape, 3), *sum = NULL;
  assert_ptr_equal(device_of_sum(context, here, 4), cpu);
  assert_ptr_equal(device_of_sum(context, there, 6), stub_device);
  assert_int_equal(nd4c_add_on(context, here, there, &sum), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "'a' is on cpu:0, 'b' is on stub:0"));
  assert_non_null(strstr(nd4c_error_message(), "automatic transfer is off"));
  assert_non_null(strstr(nd4c_error_message(), "(nd4c_routing_options.no_transfer)")); /* no property did it */
  assert_null(sum);
  assert_int_equal(nd4c_storage_state(here->storage, stub_device), '-');
  nd4c_array_release(here);
  nd4c_array_release(there);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

static nd4c_device *device_of_zeros(nd4c_context *context) {
  nd4c_context *previous = NULL;
  nd4c_array *zeros = NULL;
  assert_int_equal(nd4c_context_enter(context, &previous), ND4C_OK);
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 1, shape, NULL, &zeros), ND4C_OK);
  assert_int_equal(nd4c_context_enter(previous, NULL), ND4C_OK);
  nd4c_device *device = nd4c_array_device(zeros);
  nd4c_array_release(zeros);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  return device;
}

static void arrays_are_made_where_it_is_said(void **state) {
  (void)state;
  nd4c_routing_options options = {.policy = ND4C_ROUTING_PREFER_GPU};
  assert_ptr_equal(device_of_zeros(routed(options, false)), cpu);
  options.creation = ND4C_CREATE_ROUTED;
  assert_ptr_equal(device_of_zeros(routed(options, false)), stub_device);
  options.creation = ND4C_CREATE_ON_DEVICE;
  options.creation_device = second;
  assert_ptr_equal(device_of_zeros(routed(options, false)), second);
  options.creation = ND4C_CREATE_ON_HOST;
  assert_ptr_equal(device_of_zeros(routed(options, false)), cpu);
}

static void properties_route_the_threads_own_context(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, shape, 2), *sum = NULL;
  assert_int_equal(nd4c_config_set("nd4c.routing", "sideways"), ND4C_CONFIG);
  assert_int_equal(nd4c_config_set("nd4c.routing", "prefer_gpu"), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), cpu); /* one device: graceful */
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", "stub:1, cpu:0"), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), second);
  assert_ptr_equal(device_of_sum(stub_context, a, 4), stub_device); /* given contexts mean what they did */
  assert_int_equal(nd4c_atanh_on(stub_context, a, &sum), ND4C_UNSUPPORTED);
  assert_int_equal(nd4c_config_set("nd4c.routing.wait", "true"), ND4C_OK);
  assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), cpu); /* and what fails in flight is computed elsewhere */
  assert_int_equal(nd4c_config_set("nd4c.routing.wait", NULL), ND4C_OK);
  /* A device that this machine cannot have is left out, and that is told; strict, it is an error. */
  char *report = NULL;
  assert_int_equal(nd4c_config_set("nd4c.opencl.library", "/nosuch/libOpenCL.so.1"), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", "opencl:0,cpu:0"), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), cpu);
  assert_int_equal(nd4c_report_applied(&report), ND4C_OK);
  assert_non_null(strstr(report, "nd4c.routing.devices: requested opencl:0, applied left out"));
  nd4c_free(report);
  assert_int_equal(nd4c_config_set("nd4c.strict", "true"), ND4C_OK);
  assert_int_equal(nd4c_add(a, a, &sum), ND4C_NO_BACKEND);
  assert_non_null(strstr(nd4c_error_message(), "backend opencl"));
  assert_int_equal(nd4c_config_set("nd4c.strict", NULL), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), cpu); /* looked for once more */
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", "stub:7"), ND4C_OK);
  assert_int_equal(nd4c_add(a, a, &sum), ND4C_INDEX);
  assert_non_null(strstr(nd4c_error_message(), "nd4c.routing.devices"));
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", "cpu:0,nosuch:0"), ND4C_OK); /* nobody's name */
  assert_int_equal(nd4c_add(a, a, &sum), ND4C_NO_BACKEND);
  assert_non_null(strstr(nd4c_error_message(), "device 'nosuch:0'"));
  assert_int_equal(nd4c_config_set("nd4c.routing", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", NULL), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), cpu);
  nd4c_routing *routing = NULL;
  nd4c_device *devices[] = {stub_device};
  nd4c_routing_options options = {.struct_size = sizeof options, .devices = devices, .device_count = 1};
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_OK);
  assert_int_equal(nd4c_routing_set_default(routing), ND4C_OK);
  nd4c_routing_destroy(routing);
  assert_ptr_equal(device_of_sum(NULL, a, 4), stub_device);
  assert_int_equal(nd4c_routing_set_default(NULL), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), cpu);
  nd4c_array_release(a);
}

/* What a program chooses for its thread's own context outlives changes of properties. */
static void a_choice_for_the_own_context_is_kept(void **state) {
  (void)state;
  nd4c_array *a = filled(cpu, shape, 2);
  nd4c_routing *routing = NULL;
  nd4c_device *devices[] = {stub_device, cpu};
  nd4c_routing_options options = {
      .struct_size = sizeof options, .policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2};
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_OK);
  assert_int_equal(nd4c_context_set_routing(nd4c_context_current(), routing), ND4C_OK);
  nd4c_routing_destroy(routing);
  assert_ptr_equal(device_of_sum(NULL, a, 4), stub_device);
  assert_int_equal(nd4c_config_set("nd4c.strict", "true"), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), stub_device);
  assert_int_equal(nd4c_config_set("nd4c.strict", NULL), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), stub_device);
  assert_int_equal(nd4c_context_set_routing(nd4c_context_current(), NULL), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), cpu);
  nd4c_array_release(a);
}

static void what_is_wrong_is_refused(void **state) {
  (void)state;
  nd4c_routing *routing = NULL;
  nd4c_device *twice[] = {cpu, cpu}, *missing[] = {NULL};
  nd4c_routing_options options = {.struct_size = sizeof options, .devices = twice, .device_count = 2};
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_ARGUMENT);
  options.devices = missing;
  options.device_count = 1;
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_NULL_ARGUMENT);
  options.device_count = 9;
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_ARGUMENT);
  int64_t nothing = 0;
  missing[0] = (nd4c_device *)&nothing; /* never opened */
  options.device_count = 1;
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_HANDLE);
  options.device_count = 0;
  options.creation = ND4C_CREATE_ON_DEVICE;
  options.creation_device = missing[0];
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_HANDLE);
  options.policy = (nd4c_routing_policy)77;
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_ARGUMENT);
  options.struct_size = 4;
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_ARGUMENT);
  assert_int_equal(nd4c_routing_create(NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_context_set_routing(NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_null(routing);
  nd4c_routing_destroy(NULL);
  nd4c_context *context = with_policy(ND4C_ROUTING_VOTE);
  nd4c_array *a = filled(cpu, shape, 1), *b = filled(cpu, few, 1), *sum = NULL;
  assert_int_equal(nd4c_add_on(context, a, b, &sum), ND4C_SHAPE); /* the call's own fault: nobody else is asked */
  assert_int_equal(nd4c_add_on(context, a, NULL, &sum), ND4C_NULL_ARGUMENT);
  nd4c_array_release(a);
  nd4c_array_release(b);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* -- threads -------------------------------------------------------------------------------------------------- */

enum { THREADS = 16, ROUNDS = 36, SOME = 5000 }; /* each pair of devices four times a thread */

/* Arrays wander between three devices; each thread's own context is routed. */
static void *wander(void *argument) {
  int64_t *wrong = argument, extent = SOME;
  nd4c_device *devices[] = {cpu, stub_device, second};
  float values[SOME];
  for (int i = 0; i < ROUNDS; i++) {
    nd4c_array *a = NULL, *b = NULL, *sum = NULL, *product = NULL;
    nd4c_status status = nd4c_array_full(ND4C_FLOAT32, 1, &extent, i, devices[i % 3], &a);
    status = status != ND4C_OK ? status : nd4c_array_full(ND4C_FLOAT32, 1, &extent, 2, devices[i / 3 % 3], &b);
    status = status != ND4C_OK ? status : nd4c_add(a, b, &sum);
    status = status != ND4C_OK ? status : nd4c_multiply(sum, b, &product);
    status = status != ND4C_OK ? status : nd4c_add(product, a, &product); /* in place */
    status = status != ND4C_OK ? status : nd4c_array_read(product, values, sizeof values);
    *wrong += status != ND4C_OK || values[SOME - 1] != (float)(2 * (i + 2) + i);
    nd4c_array_release(a);
    nd4c_array_release(b);
    nd4c_array_release(sum);
    nd4c_array_release(product);
  }
  return NULL;
}

static void threads_are_routed_side_by_side(void **state) {
  (void)state;
  static const char *const policies[] = {"vote", "memory"};
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", "cpu:0,stub:0,stub:1"), ND4C_OK);
  for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
    pthread_t threads[THREADS];
    int64_t wrong[THREADS] = {0};
    assert_int_equal(nd4c_config_set("nd4c.routing", policies[p]), ND4C_OK);
    assert_int_equal(nd4c_trace_start(NULL), ND4C_OK);
    for (int i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_create(&threads[i], NULL, wander, &wrong[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
      assert_int_equal(wrong[i], 0);
    }
    assert_int_equal(nd4c_trace_stop(NULL), ND4C_OK);
  }
  assert_int_equal(nd4c_config_set("nd4c.routing", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", NULL), ND4C_OK);
  stub_settle();
  assert_int_equal(nd4c_device_synchronize(second), ND4C_OK);
  assert_int_equal(stub_counter("violations"), 0);
}

int main(void) {
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu:0", &cpu) != ND4C_OK ||
      nd4c_device_find("stub:1", &second) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(policies_pick_devices),
                                     cmocka_unit_test(memory_goes_where_room_is),
                                     cmocka_unit_test(small_calls_follow_the_data),
                                     cmocka_unit_test(remembered_calls_that_fail_go_elsewhere),
                                     cmocka_unit_test(ops_and_categories_have_lists_of_their_own),
                                     cmocka_unit_test(who_declines_is_passed_over),
                                     cmocka_unit_test(a_failing_device_is_replaced),
                                     cmocka_unit_test(no_memory_is_survived),
                                     cmocka_unit_test(strict_contexts_give_the_failure),
                                     cmocka_unit_test(calls_that_wait_give_the_failure),
                                     cmocka_unit_test(a_remembered_device_may_fail),
                                     cmocka_unit_test(given_outputs_are_checked_first),
                                     cmocka_unit_test(a_view_that_fails_is_made_elsewhere),
                                     cmocka_unit_test(transfer_may_be_refused),
                                     cmocka_unit_test(arrays_are_made_where_it_is_said),
                                     cmocka_unit_test(properties_route_the_threads_own_context),
                                     cmocka_unit_test(a_choice_for_the_own_context_is_kept),
                                     cmocka_unit_test(what_is_wrong_is_refused),
                                     cmocka_unit_test(threads_are_routed_side_by_side)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)nd4c_context_destroy(stub_context);
  return failed;
}
