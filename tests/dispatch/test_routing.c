/* Routing between the host and the stub's two devices: policies, lists, declines, transfer, creation. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

#include "device/context/context.h"
#include "dispatch/call_cache.h"
#include "dispatch/routing_fixture.h"

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
  for (int i = 0; i < 600; i++) { /* decisions are remembered, and votes repeated in between */
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
  assert_int_equal(nd4c_memory_set_cap(second, 1 << 12), ND4C_OK); /* no room any more: the failure causes a new vote */
  assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(second, 0), ND4C_OK);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  nd4c_array_release(a);
}

/* Reading on the host leaves a copy there, which does not move the next op on this array, or on another array of the
 * same kind, to the host. */
static void reading_moves_nothing(void **state) {
  (void)state;
  static const nd4c_routing_policy policies[] = {ND4C_ROUTING_FOLLOW_DATA, ND4C_ROUTING_VOTE};
  for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
    for (int is_small = 0; is_small < 2; is_small++) {
      if (policies[p] == ND4C_ROUTING_VOTE && is_small == 0) {
        continue; /* its list comes first there */
      }
      nd4c_context *context = with_policy(policies[p]); /* the host is the first of its list */
      nd4c_array *read = filled(second, is_small != 0 ? few : shape, 2);
      nd4c_array *other = filled(second, is_small != 0 ? few : shape, 3);
      const nd4c_array *both[] = {read, read};
      for (int i = 0; i < 3; i++) {
        assert_int_equal(nd4c_array_read(read, buffer, (size_t)read->size * sizeof(float)), ND4C_OK);
        assert_int_equal(nd4c_storage_state(read->storage, cpu), 'S');
        assert_ptr_equal(device_of_sum(context, read, 4), second);
        assert_ptr_equal(device_of_sum(context, other, 6), second);
      }
      char *text = NULL;
      assert_int_equal(nd4c_explain(context, ND4C_OP_add, both, 2, NULL, 0, &text), ND4C_OK);
      assert_non_null(strstr(text, "\n  stub:1: score"));
      assert_true(strstr(text, "\n  stub:1: score") < strstr(text, "\n  cpu:0: score"));
      nd4c_free(text);
      nd4c_array_release(read);
      nd4c_array_release(other);
      assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
    }
  }
}

/* One signature with inputs on different devices: a decision for one placement does not count for another. */
static void decisions_know_all_places(void **state) {
  (void)state;
  nd4c_context *context = with_policy(ND4C_ROUTING_VOTE);
  nd4c_array *shared = filled(second, shape, 2), *alone = filled(second, shape, 3);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(nd4c_array_read(shared, buffer, sizeof buffer), ND4C_OK);
    assert_ptr_equal(device_of_sum(context, shared, 4), cpu); /* here, too, and first in the list */
    assert_ptr_equal(device_of_sum(context, alone, 6), second);
    assert_int_equal(nd4c_storage_state(alone->storage, cpu), '-');
  }
  nd4c_array_release(shared);
  nd4c_array_release(alone);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
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

/* As many calls as a step of a large model has: each is voted for once for each placement of its input. */
static void many_calls_in_turn_are_remembered(void **state) {
  (void)state;
  enum { CALLS = 600, WARM = 2, ROUNDS = 4 }; /* a copied input has another placement in the second round */
  static const nd4c_routing_policy policies[] = {ND4C_ROUTING_VOTE, ND4C_ROUTING_PREFER_GPU};
  nd4c_array *arrays[CALLS];
  for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
    nd4c_context *context = with_policy(policies[p]);
    int64_t votes = 0;
    for (int64_t i = 0; i < CALLS; i++) {
      const int64_t extent = i + 1;
      arrays[i] = filled(cpu, &extent, 2);
    }
    for (int round = 0; round < ROUNDS; round++) {
      votes = round == WARM ? stub_counter("memory_available") : votes; /* which each vote asks for */
      for (int i = 0; i < CALLS; i++) {
        nd4c_array *sum = NULL;
        assert_int_equal(nd4c_add_on(context, arrays[i], arrays[i], &sum), ND4C_OK);
        nd4c_array_release(sum);
      }
    }
    assert_int_equal(stub_counter("memory_available") - votes, 0);
    for (int i = 0; i < CALLS; i++) {
      nd4c_array_release(arrays[i]);
    }
    assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  }
}

/* How many of the sums of arrays of one to `count` elements the thread's cache of calls knows. */
static int32_t count_known(nd4c_context *context, int64_t count, bool compute) {
  int32_t known = 0;
  for (int64_t extent = 1; extent <= count; extent++) {
    nd4c_array *a = filled(cpu, &extent, 2), *sum = NULL;
    const nd4c_array *inputs[] = {a, a};
    if (compute) {
      assert_int_equal(nd4c_add_on(context, a, a, &sum), ND4C_OK);
    }
    uint64_t key = nd4c_call_key(ND4C_OP_add, inputs, 2, NULL, 0, NULL);
    known += nd4c_call_cache_find(key, context, ND4C_OP_add, inputs, 2, NULL, 0, NULL) != NULL;
    nd4c_array_release(a);
    nd4c_array_release(sum);
  }
  return known;
}

static void the_cache_of_calls_is_bounded(void **state) {
  (void)state;
  enum { MANY = 3 * ND4C_CACHE_ENTRIES };
  nd4c_context_options options = {.struct_size = sizeof options, .device = cpu};
  nd4c_context *context = NULL;
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.plan.profile", "true"), ND4C_OK); /* any change empties the cache */
  assert_int_equal(count_known(context, ND4C_CACHE_ENTRIES / 2, true), ND4C_CACHE_ENTRIES / 2);
  assert_int_equal(count_known(context, ND4C_CACHE_ENTRIES / 2, false), ND4C_CACHE_ENTRIES / 2);
  assert_int_equal(count_known(context, MANY, true), MANY); /* each when it was just computed */
  int32_t kept = count_known(context, MANY, false);
  assert_in_range(kept, ND4C_CACHE_ENTRIES / 2, ND4C_CACHE_ENTRIES);
  assert_int_equal(nd4c_config_set("nd4c.plan.profile", NULL), ND4C_OK);
  assert_int_equal(count_known(context, MANY, false), 0);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
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
  nd4c_array_release(a); /* it was on both by then */
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

/* One device for all ops, except for those of one category, not the first: each call still has to be looked at. */
static void any_category_may_differ(void **state) {
  (void)state;
  nd4c_device *on_stub[] = {stub_device};
  nd4c_routing *routing = NULL;
  nd4c_context_options on = {.struct_size = sizeof on, .device = cpu};
  nd4c_context *context = NULL;
  assert_int_equal(nd4c_context_create(&on, &context), ND4C_OK);
  assert_int_equal(nd4c_routing_create(NULL, &routing), ND4C_OK);
  assert_int_equal(nd4c_routing_set_category(routing, ND4C_CATEGORY_BINARY, on_stub, 1), ND4C_OK);
  assert_int_equal(nd4c_context_set_routing(context, routing), ND4C_OK);
  nd4c_routing_destroy(routing);
  nd4c_array *a = filled(cpu, shape, 2), *square = NULL;
  assert_int_equal(nd4c_square_on(context, a, &square), ND4C_OK);
  assert_ptr_equal(nd4c_array_device(square), cpu);
  assert_ptr_equal(device_of_sum(context, a, 4), stub_device);
  nd4c_array_release(a);
  nd4c_array_release(square);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
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
  assert_non_null(strstr(
      text, "atanh on stub:0:\n  no kernel or compiler computes this call: the backend has no kernel for this op\n"));
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
  /* The array had no value before and has none afterwards, because the other half was not computed. */
  nd4c_storage_poison(flat->storage, ND4C_DEVICE, "spoilt");
  assert_int_equal(nd4c_add_on(context, a, a, &half), ND4C_POISONED);
  assert_non_null(strstr(nd4c_error_message(), "output 0 was left without a value: spoilt"));
  assert_true(nd4c_storage_is_poisoned(flat->storage));
  nd4c_array *all[] = {a, twice, flat, small, half, same};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    nd4c_array_release(all[i]);
  }
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
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
  assert_ptr_equal(device_of_sum(stub_context, a, 4), stub_device); /* contexts passed explicitly are not routed */
  assert_int_equal(nd4c_atanh_on(stub_context, a, &sum), ND4C_UNSUPPORTED);
  assert_int_equal(nd4c_config_set("nd4c.routing.wait", "true"), ND4C_OK);
  assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), cpu); /* and calls that fail in flight are computed on another device */
  assert_int_equal(nd4c_config_set("nd4c.routing.wait", NULL), ND4C_OK);
  /* A device that this machine cannot have is left out with a report; in a strict context it is an error. */
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
  /* The same for a device number that a backend has on other machines. */
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", "stub:7,cpu:0"), ND4C_OK);
  assert_ptr_equal(device_of_sum(NULL, a, 4), cpu);
  assert_int_equal(nd4c_report_applied(&report), ND4C_OK);
  assert_non_null(strstr(report, "nd4c.routing.devices: requested stub:7, applied left out: device 'stub:7': backend"));
  nd4c_free(report);
  assert_int_equal(nd4c_config_set("nd4c.strict", "true"), ND4C_OK);
  assert_int_equal(nd4c_add(a, a, &sum), ND4C_INDEX);
  assert_non_null(strstr(nd4c_error_message(), "nd4c.routing.devices (ND4C_ROUTING_DEVICES)"));
  assert_int_equal(nd4c_config_set("nd4c.strict", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", "cpu:0,stub:1,CPU"), ND4C_OK);
  assert_int_equal(nd4c_add(a, a, &sum), ND4C_CONFIG);
  assert_non_null(strstr(nd4c_error_message(), "(ND4C_ROUTING_DEVICES): cpu:0 is listed twice"));
  assert_int_equal(nd4c_config_set("nd4c.routing.devices", "cpu:0,nosuch:0"), ND4C_OK); /* no backend of that name */
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

/* The routing that a program sets for its thread's default context survives changes of properties. */
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
  options = (nd4c_routing_options){.struct_size = offsetof(nd4c_routing_options, wait), .wait = true};
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_OK); /* a program compiled with an older header */
  nd4c_routing_destroy(routing);
  routing = NULL;
  options.struct_size = 4;
  assert_int_equal(nd4c_routing_create(&options, &routing), ND4C_ARGUMENT);
  assert_int_equal(nd4c_routing_create(NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_context_set_routing(NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_null(routing);
  nd4c_routing_destroy(NULL);
  nd4c_routing_destroy((nd4c_routing *)&options); /* none */
  /* Released twice: the second call is refused, and the context keeps its routing. */
  nd4c_context_options on = {.struct_size = sizeof on, .device = cpu};
  nd4c_context *keeper = NULL;
  nd4c_array *ones = filled(cpu, shape, 1);
  assert_int_equal(nd4c_routing_create(NULL, &routing), ND4C_OK);
  assert_int_equal(nd4c_context_create(&on, &keeper), ND4C_OK);
  assert_int_equal(nd4c_context_set_routing(keeper, routing), ND4C_OK);
  nd4c_routing_destroy(routing);
  nd4c_routing_destroy(routing);
  assert_int_equal(nd4c_context_set_routing(keeper, routing), ND4C_HANDLE);
  assert_ptr_equal(device_of_sum(keeper, ones, 2), cpu);
  assert_int_equal(nd4c_context_destroy(keeper), ND4C_OK);
  nd4c_routing_destroy(routing);
  nd4c_array_release(ones);
  nd4c_context *context = with_policy(ND4C_ROUTING_VOTE);
  nd4c_array *a = filled(cpu, shape, 1), *b = filled(cpu, few, 1), *sum = NULL;
  assert_int_equal(nd4c_add_on(context, a, b, &sum), ND4C_SHAPE); /* a wrong call: no other device is tried */
  assert_int_equal(nd4c_add_on(context, a, NULL, &sum), ND4C_NULL_ARGUMENT);
  nd4c_array_release(a);
  nd4c_array_release(b);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* -- threads -------------------------------------------------------------------------------------------------- */

enum { THREADS = 16, ROUNDS = 36, SOME = 5000 }; /* each pair of devices four times a thread */

/* Arrays move between three devices; the default context of each thread is routed. */
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

/* Ops that can be views are not voted on: they stay where their input is, also where one has to copy. */
static void views_stay_with_their_data(void **state) {
  (void)state;
  const int64_t wide[] = {64, 128}, tall[] = {128, 64};
  nd4c_device *const places[] = {second, cpu};
  for (int i = 0; i < 2; i++) {
    nd4c_context *context = with_policy(i == 0 ? ND4C_ROUTING_PREFER_CPU : ND4C_ROUTING_PREFER_GPU);
    nd4c_array *table = NULL, *turned = NULL, *flat = NULL, *copied = NULL;
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 2, wide, 3, places[i], &table), ND4C_OK);
    assert_int_equal(
        nd4c_array_make(ND4C_FLOAT32, 2, tall, (int64_t[]){1, 128}, 0, nd4c_storage_retain(table->storage), &turned),
        ND4C_OK);
    assert_int_equal(nd4c_reshape_on(context, table, shape, 1, &flat), ND4C_OK);
    assert_ptr_equal(flat->storage, table->storage);
    assert_ptr_equal(nd4c_array_device(flat), places[i]);
    assert_int_equal(nd4c_reshape_on(context, turned, shape, 1, &copied), ND4C_OK);
    assert_ptr_not_equal(copied->storage, table->storage);
    assert_ptr_equal(nd4c_array_device(copied), places[i]);
    assert_int_equal(nd4c_array_read(copied, buffer, sizeof buffer), ND4C_OK);
    assert_float_equal(buffer[COUNT - 1], 3, 0);
    nd4c_array_release(table);
    nd4c_array_release(turned);
    nd4c_array_release(flat);
    nd4c_array_release(copied);
    assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  }
}

int main(void) {
  if (routing_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(policies_pick_devices),
                                     cmocka_unit_test(memory_goes_where_room_is),
                                     cmocka_unit_test(reading_moves_nothing),
                                     cmocka_unit_test(views_stay_with_their_data),
                                     cmocka_unit_test(decisions_know_all_places),
                                     cmocka_unit_test(small_calls_follow_the_data),
                                     cmocka_unit_test(many_calls_in_turn_are_remembered),
                                     cmocka_unit_test(the_cache_of_calls_is_bounded),
                                     cmocka_unit_test(remembered_calls_that_fail_go_elsewhere),
                                     cmocka_unit_test(ops_and_categories_have_lists_of_their_own),
                                     cmocka_unit_test(any_category_may_differ),
                                     cmocka_unit_test(who_declines_is_passed_over),
                                     cmocka_unit_test(given_outputs_are_checked_first),
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
