/* Section `leaks`: memory that the plug-in takes from the host table must not grow with the number of calls: blocks of
 * host memory, and pieces of device memory. The section table of plugin_check.c lists it. */
#include <stdatomic.h>
#include <stdio.h>

#include "check.h"

enum { CASES = 24, WARM = 8, CALLS = 64 };

static const nd4c_host *real;
static _Atomic int64_t live; /* blocks */

static void *count(void *memory) {
  atomic_fetch_add(&live, memory != NULL);
  return memory;
}
static void *counting_allocate(size_t bytes) {
  return count(real->allocate(bytes));
}
static void *counting_pages(size_t bytes) {
  return count(real->allocate_pages(bytes));
}
static void *counting_buffer(size_t bytes) {
  return count(real->allocate_buffer(bytes));
}
static void counting_free(void *memory) {
  atomic_fetch_sub(&live, memory != NULL);
  real->free(memory);
}
static void counting_free_pages(void *memory, size_t bytes) {
  atomic_fetch_sub(&live, memory != NULL);
  real->free_pages(memory, bytes);
}
static void counting_free_buffer(void *memory, size_t bytes) {
  atomic_fetch_sub(&live, memory != NULL);
  real->free_buffer(memory, bytes);
}

/* -- memory of devices --------------------------------------------------------------------------------------------- */

static _Atomic int64_t senseless; /* requests that no device could serve */
static char senseless_text[256];

static nd4c_status count_piece(nd4c_status status) {
  atomic_fetch_add(&live, status == ND4C_OK);
  if (status == ND4C_ARGUMENT && atomic_fetch_add(&senseless, 1) == 0) {
    (void)snprintf(senseless_text, sizeof senseless_text, "%s", real->error_message());
  }
  return status;
}
static nd4c_status counting_count(const nd4c_device_memory_request *request, nd4c_device_memory **memory) {
  return count_piece(real->device_memory->count(request, memory));
}
static nd4c_status counting_device(const nd4c_device_memory_request *request, nd4c_device_memory **memory,
                                   nd4c_buffer *buffer, void **address) {
  return count_piece(real->device_memory->allocate(request, memory, buffer, address));
}
static void counting_give(nd4c_device_memory *memory) {
  atomic_fetch_sub(&live, memory != NULL);
  real->device_memory->give(memory);
}

/* -- cases --------------------------------------------------------------------------------------------------------- */

/* Calls the case so many times. Outputs are released, and the device's work is done, before it returns. */
static nd4c_status call(plugin_round *round, const plugin_case *p, nd4c_array *const *inputs, int32_t times) {
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < times && status == ND4C_OK; i++) {
    nd4c_array *got[SELFTEST_OUTPUTS] = {NULL};
    status = plugin_case_call(p, inputs, round->context, got);
    plugin_arrays_release(got, SELFTEST_OUTPUTS);
  }
  return status == ND4C_OK ? nd4c_context_synchronize(round->context) : status;
}

/* What a kernel keeps between calls is made in the first ones; what a pool keeps stops growing. */
static void count_calls(plugin_round *round, const plugin_case *p) {
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  bool differs = false;
  nd4c_status status = plugin_case_inputs(p, PLUGIN_CONTIGUOUS, round->context, inputs, &differs);
  status = status == ND4C_OK ? call(round, p, inputs, WARM) : status;
  const int64_t before = atomic_load(&live);
  status = status == ND4C_OK ? call(round, p, inputs, CALLS) : status;
  const int64_t grown = atomic_load(&live) - before;
  if (!plugin_declined(status) && plugin_check_status(round->check, status, "%s, %d calls", p->label, CALLS)) {
    (void)plugin_check_that(round->check, grown < CALLS / 2,
                            "%s: %lld blocks that the plug-in took from the host in %d calls were not given back",
                            p->label, (long long)grown, CALLS);
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
}

void plugin_section_leaks(plugin_check *check) {
  static nd4c_host table;
  real = nd4c_plugin_get_host();
  table = *real;
  table.allocate = counting_allocate;
  table.allocate_pages = counting_pages;
  table.allocate_buffer = counting_buffer;
  table.free = counting_free;
  table.free_pages = counting_free_pages;
  table.free_buffer = counting_free_buffer;
  static nd4c_host_device_memory device_memory;
  device_memory = *real->device_memory;
  device_memory.count = counting_count;
  device_memory.allocate = counting_device;
  device_memory.give = counting_give;
  table.device_memory = &device_memory;
  if (plugin_check_status(check, nd4c_plugin_set_host(&table), "a host table that counts memory")) {
    (void)plugin_cases_each(check, PLUGIN_EAGER, CASES, count_calls, NULL);
    (void)plugin_check_that(check, atomic_load(&senseless) == 0,
                            "%lld requests for a device's memory make no sense, the first one: %s",
                            (long long)atomic_load(&senseless), senseless_text);
    plugin_check_note("%lld blocks of the host's were alive at the end", (long long)atomic_load(&live));
  }
}
