/* Routing when devices fail: a device without room, a failure at submission or in flight, and strict contexts. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "base/alloc.h"
#include "dispatch/routing_fixture.h"

static char *take_report(void) {
  char *report = NULL;
  assert_int_equal(nd4c_report_applied(&report), ND4C_OK);
  return report;
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

/* The requested device has no room: the report says so, and a strict context fails. */
static void who_has_no_room_is_told(void **state) {
  (void)state;
  nd4c_device *devices[] = {stub_device, cpu};
  nd4c_routing_options options = {.policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2};
  nd4c_context *context = routed(options, false), *strict = routed(options, true);
  nd4c_array *a = filled(cpu, shape, 2), *sum = NULL;
  stub_settle();
  assert_int_equal(nd4c_memory_set_cap(stub_device, 1 << 12), ND4C_OK);
  for (int i = 0; i < 3; i++) { /* each time: a choice for lack of room is not remembered */
    nd4c_free(take_report());
    assert_ptr_equal(device_of_sum(context, a, 4), cpu);
    assert_reported(
        "add: requested stub:0, applied cpu:0 (1 kernel choices): no room there: 4096 bytes are free, the inputs alone "
        "take 32768"); /* an array that is added to itself counts once */
  }
  assert_int_equal(nd4c_add_on(strict, a, a, &sum), ND4C_MEMORY_CAP);
  assert_non_null(strstr(nd4c_error_message(), "stub:0"));
  assert_null(sum);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_ptr_equal(device_of_sum(strict, a, 4), stub_device);
  nd4c_array_release(a);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(strict), ND4C_OK);
}

/* Each call that may fail, at each of its first times: at submission, and in flight if the routing waits. */
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
      char command[64];
      nd4c_free(take_report());
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

/* Memory runs out at each allocation in turn: the call gives a result or a status, and no array is lost or changed. */
static void no_memory_is_survived(void **state) {
  (void)state;
  int refused = 0, served = 0;
  for (int n = 0; n < 60; n++) {
    nd4c_array *a = filled(cpu, shape, 2), *sum = NULL;
    nd4c_context *context = with_policy(ND4C_ROUTING_PREFER_GPU);
    nd4c_allocation_fail_at(n);
    nd4c_status status = nd4c_add_on(context, a, a, &sum);
    nd4c_allocation_fail_at(-1);
    if (status == ND4C_OK) { /* the stub's own thread takes memory, too: then reading the result reports it */
      status = nd4c_array_read(sum, buffer, sizeof buffer);
      nd4c_array_release(sum);
      sum = NULL;
    }
    if (status == ND4C_OK) {
      assert_float_equal(buffer[COUNT - 1], 4, 0);
      served++;
    } else {
      assert_int_equal(status, ND4C_MEMORY);
      assert_null(sum);
      refused++;
    }
    assert_int_equal(nd4c_array_read(a, buffer, sizeof buffer), ND4C_OK);
    assert_float_equal(buffer[COUNT - 1], 2, 0);
    nd4c_array_release(a);
    (void)nd4c_context_destroy(context); /* may report the failure once more */
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
  assert_int_equal(nd4c_layer_norm_on(context, image, NULL, NULL, -1, 1e-5, &y),
                   ND4C_UNSUPPORTED); /* requested, and declines */
  assert_non_null(strstr(nd4c_error_message(), "layer_norm: nothing on stub:0 computes this call"));
  nd4c_array_release(image);
  nd4c_array_release(a);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* Two contexts of one routing: a decision for the first one must not serve the strict one, which fails. */
static void decisions_know_strictness(void **state) {
  (void)state;
  nd4c_device *devices[] = {stub_device, cpu};
  nd4c_routing_options options = {
      .struct_size = sizeof options, .policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2};
  nd4c_routing *routing = NULL;
  nd4c_array *a = filled(cpu, shape, 0.5);
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_OK);
  for (int strict = 0; strict < 2; strict++) {
    nd4c_context_options on = {.struct_size = sizeof on, .device = cpu, .strict = strict != 0};
    nd4c_context *context = NULL;
    assert_int_equal(nd4c_context_create(&on, &context), ND4C_OK);
    assert_int_equal(nd4c_context_set_routing(context, routing), ND4C_OK);
    for (int i = 0; i < 3; i++) {
      nd4c_array *y = NULL;
      assert_int_equal(nd4c_atanh_on(context, a, &y), strict != 0 ? ND4C_UNSUPPORTED : ND4C_OK);
      nd4c_array_release(y);
    }
    assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  }
  nd4c_routing_destroy(routing);
  nd4c_array_release(a);
}

/* A given output without a value is only written: a device without room for it is reported, and the next one is
 * tried. */
static void an_output_without_a_value_is_written(void **state) {
  (void)state;
  nd4c_device *devices[] = {stub_device, cpu};
  nd4c_context *context =
      routed((nd4c_routing_options){.policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2}, false);
  nd4c_array *a = filled(stub_device, shape, 2), *given = filled(cpu, shape, 0);
  stub_settle();
  assert_int_equal(nd4c_memory_set_cap(stub_device, 1), ND4C_OK);
  nd4c_storage_poison(given->storage, ND4C_DEVICE, "spoilt");
  assert_int_equal(nd4c_add_on(stub_context, a, a, &given), ND4C_MEMORY_CAP);
  assert_non_null(strstr(nd4c_error_message(), "add: output 0, float32 (8192)"));
  assert_int_equal(nd4c_add_on(context, a, a, &given), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_array_read(given, buffer, sizeof buffer), ND4C_OK);
  assert_float_equal(buffer[COUNT - 1], 4, 0);
  nd4c_array_release(a);
  nd4c_array_release(given);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* If no other device can or may compute a call that waits, the call fails. */
static void calls_that_wait_give_the_failure(void **state) {
  (void)state;
  nd4c_device *devices[] = {stub_device, cpu};
  nd4c_array *a = filled(cpu, shape, 2), *lost = NULL, *sum = NULL;
  for (int alone = 0; alone < 2; alone++) { /* strict, then without a second device */
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
  stub_order("pause until_wait"); /* lost while the next one is already submitted */
  assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, a, a, &lost), ND4C_OK);
  assert_int_equal(nd4c_add_on(context, lost, a, &sum), ND4C_POISONED);
  assert_non_null(strstr(nd4c_error_message(), "add: an input was left without a value: add failed on stub:0"));
  (void)stub_control("reset");
  assert_null(sum);
  /* The same once the failure is known: the report names no device, because none has failed at this call. */
  nd4c_free(take_report());
  assert_int_equal(nd4c_array_wait(lost), ND4C_DEVICE);
  assert_int_equal(nd4c_add_on(context, lost, a, &sum), ND4C_POISONED);
  assert_non_null(strstr(nd4c_error_message(), "add: input 0 was left without a value: add failed on stub:0"));
  char *report = take_report();
  assert_null(strstr(report, "add: requested"));
  nd4c_free(report);
  assert_null(sum);
  assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(lost);
  nd4c_array_release(a);
  stub_settle();
}

/* A remembered decision does not hide a failure: the same call again, and its device fails. */
static void a_remembered_device_may_fail(void **state) {
  (void)state;
  nd4c_device *devices[] = {stub_device, cpu};
  for (int strict = 0; strict < 2; strict++) {
    nd4c_context *context = routed(
        (nd4c_routing_options){.policy = ND4C_ROUTING_PREFER_GPU, .devices = devices, .device_count = 2}, strict != 0);
    nd4c_array *a = filled(cpu, shape, 2), *sum = NULL;
    for (int i = 0; i < 3; i++) {
      assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
    }
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

int main(void) {
  if (routing_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_has_no_room_is_told),
      cmocka_unit_test(a_failing_device_is_replaced),
      cmocka_unit_test(no_memory_is_survived),
      cmocka_unit_test(strict_contexts_give_the_failure),
      cmocka_unit_test(decisions_know_strictness),
      cmocka_unit_test(an_output_without_a_value_is_written),
      cmocka_unit_test(calls_that_wait_give_the_failure),
      cmocka_unit_test(a_remembered_device_may_fail),
      cmocka_unit_test(a_view_that_fails_is_made_elsewhere),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)nd4c_context_destroy(stub_context);
  return failed;
}
