/* Sections `open`, `memory` and `streams`: the plug-in's devices through the library's arrays. The section table of
 * plugin_check.c lists these; capture.c, external.c and peers.c walk devices with plugin_devices_each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { DEVICES = 4, CHAIN = 200, LONG_CHAIN = 700, FLIGHT = 64 };

static const char *own_device(const plugin_targets *targets, int32_t index, char *text, size_t size) {
  (void)snprintf(text, size, "%s:%d", targets->devices, (int)index);
  return text;
}

void plugin_devices_each(plugin_check *check,
                         void (*function)(plugin_check *check, nd4c_device *device, const char *name)) {
  plugin_targets targets;
  char name[PLUGIN_NAME + 16];
  if (plugin_targets_find(check, &targets)) {
    for (int32_t i = 0; i < DEVICES && targets.devices[0] != '\0'; i++) {
      nd4c_device *device = NULL;
      const nd4c_status status = nd4c_device_find(own_device(&targets, i, name, sizeof name), &device);
      if (i > 0 && status == ND4C_INDEX) {
        break;
      }
      if (plugin_check_status(check, status, "%s", name)) {
        function(check, device, name);
      }
    }
    if (targets.devices[0] == '\0') {
      plugin_check_skip("it brings no devices of its own");
    }
  }
  plugin_targets_free(&targets);
}

/* -- open ---------------------------------------------------------------------------------------------------------- */

static void describe(plugin_check *check, nd4c_device *device, const char *name) {
  nd4c_device_info info = {.struct_size = sizeof info};
  if (plugin_check_status(check, nd4c_device_get_info(device, &info), "%s", name)) {
    plugin_check_note("%s: %s, %s, %s", name, info.description, nd4c_device_type_name(info.type),
                      info.asynchronous ? "asynchronous" : "synchronous");
    (void)plugin_check_that(check, info.description[0] != '\0', "%s has no description", name);
  }
}

/* What the library says of the provider, which it has opened if its devices are here. */
static void check_provider(plugin_check *check, const char *name, int32_t count,
                           nd4c_status (*get)(int32_t, nd4c_backend_status *)) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_backend_status row = {.struct_size = sizeof row};
    if (get(i, &row) != ND4C_OK) {
      continue;
    }
    if (strcmp(row.name, name) == 0) {
      const bool here =
          plugin_check_that(check, row.verdict != ND4C_VERDICT_ABSENT, "it cannot be used: %s", row.reason);
      const bool opened = plugin_check_that(check, row.unusable_devices[0] == '\0', "devices that cannot be used: %s",
                                            row.unusable_devices);
      if (!here || !opened) {
        plugin_check_fact("refused");
      }
    }
    /* Kernels and compilers that could not be accepted stand with the backend that they are for. */
    (void)plugin_check_that(check, strstr(row.left_out, name) == NULL, "the library left out: %s", row.left_out);
  }
}

void plugin_section_open(plugin_check *check) {
  plugin_targets targets;
  plugin_devices_each(check, describe);
  if (plugin_targets_find(check, &targets)) {
    check_provider(check, targets.name, nd4c_backend_count(), nd4c_backend_get_status);
    check_provider(check, targets.name, nd4c_contributor_count(), nd4c_contributor_get_status);
  } else {
    plugin_check_fact("refused");
  }
  plugin_targets_free(&targets);
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

static void fill(unsigned char *bytes, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; i++) {
    bytes[i] = (unsigned char)(seed + i * 31 + (i >> 8));
  }
}

/* Sends bytes to the device and back, copies new bytes on the device, and reads a part of them. */
static void check_size(plugin_check *check, nd4c_device *device, const char *name, int64_t size) {
  const size_t bytes = (size_t)size;
  unsigned char *sent = malloc(bytes + 1), *got = malloc(bytes + 1);
  nd4c_array *array = NULL, *part = NULL, *copy = NULL;
  nd4c_status status = sent != NULL && got != NULL ? ND4C_OK : ND4C_MEMORY;
  plugin_check_at("%" PRId64 " bytes on %s", size, name);
  if (status == ND4C_OK) {
    fill(sent, bytes, 7);
    status = nd4c_array_from_data(ND4C_UINT8, 1, &size, sent, device, &array);
  }
  status = status == ND4C_OK ? nd4c_array_read(array, got, bytes) : status;
  if (plugin_check_status(check, status, "%" PRId64 " bytes to %s and back", size, name)) {
    (void)plugin_check_that(check, memcmp(sent, got, bytes) == 0, "%" PRId64 " bytes came back from %s changed", size,
                            name);
    fill(sent, bytes, 99);
    status = nd4c_array_write(array, sent, bytes);
    status = status == ND4C_OK ? nd4c_array_to_device(array, device, &copy) : status;
    status = status == ND4C_OK ? nd4c_array_read(copy, got, bytes) : status;
    (void)plugin_check_status(check, status, "%" PRId64 " bytes written and copied on %s", size, name);
    (void)plugin_check_that(check, memcmp(sent, got, bytes) == 0, "%" PRId64 " bytes copied on %s are not the same",
                            size, name);
  }
  if (status == ND4C_OK && size > 2) {
    const int64_t starts[] = {size / 3}, stops[] = {size / 3 * 2}, steps[] = {1};
    status = nd4c_array_slice(array, starts, stops, steps, &part);
    status = status == ND4C_OK ? nd4c_array_read(part, got, (size_t)nd4c_array_size(part)) : status;
    (void)plugin_check_that(check,
                            status == ND4C_OK && memcmp(sent + size / 3, got, (size_t)nd4c_array_size(part)) == 0,
                            "a part of %" PRId64 " bytes on %s is not what was written", size, name);
  }
  nd4c_array_release(part);
  nd4c_array_release(copy);
  nd4c_array_release(array);
  free(sent);
  free(got);
}

/* More than the device can have must be refused, and the device must serve on. */
static void check_excess(plugin_check *check, nd4c_device *device, const char *name) {
  nd4c_array *array = NULL;
  const int64_t excess = INT64_MAX / 4;
  plugin_check_at("a request for %" PRId64 " bytes on %s", excess, name);
  const nd4c_status status = nd4c_array_zeros(ND4C_UINT8, 1, &excess, device, &array);
  (void)plugin_check_that(check, status != ND4C_OK && nd4c_error_message()[0] != '\0',
                          "%s grants %" PRId64 " bytes, or refuses without a text", name, excess);
  nd4c_array_release(array);
}

static void check_memory(plugin_check *check, nd4c_device *device, const char *name) {
  static const int64_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 127, 4095, 4096, 4097, 65537, 1 << 20, (1 << 24) + 5};
  nd4c_memory_info before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  (void)plugin_check_status(check, nd4c_memory_get_info(device, &before), "%s", name);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    check_size(check, device, name, sizes[i]);
  }
  check_excess(check, device, name);
  check_size(check, device, name, 1000);
  (void)plugin_check_status(check, nd4c_device_synchronize(device), "synchronizing %s", name);
  (void)plugin_check_status(check, nd4c_memory_trim(device, 0), "trimming %s", name);
  (void)plugin_check_status(check, nd4c_memory_get_info(device, &after), "%s", name);
  (void)plugin_check_that(check, after.live_bytes <= before.live_bytes,
                          "%" PRId64 " bytes more are alive on %s than before", after.live_bytes - before.live_bytes,
                          name);
}

void plugin_section_memory(plugin_check *check) {
  plugin_devices_each(check, check_memory);
}

/* -- streams ------------------------------------------------------------------------------------------------------- */

/* A chain of additions of one, on two contexts (a stream each) by turns: each call needs the one before. NULL where the
 * device does not add. */
static nd4c_status run_chain(nd4c_context *const *contexts, nd4c_array **value, const nd4c_array *one, int32_t length) {
  const nd4c_op_info *add = NULL;
  nd4c_status status = nd4c_op_find("add", &add);
  for (int32_t i = 0; i < length && status == ND4C_OK; i++) {
    const nd4c_array *inputs[] = {*value, one};
    nd4c_array *next = NULL;
    status = nd4c_op_call(contexts[i % 2], add->op, inputs, 2, NULL, 0, &next, 1);
    if (status == ND4C_OK) {
      nd4c_array_release(*value);
      *value = next;
    }
  }
  return status;
}

static void check_values(plugin_check *check, const nd4c_array *array, float expected, const char *what) {
  float *values = malloc((size_t)nd4c_array_size(array) * sizeof *values);
  nd4c_status status =
      values != NULL ? nd4c_array_read(array, values, (size_t)nd4c_array_size(array) * sizeof *values) : ND4C_MEMORY;
  bool right = status == ND4C_OK;
  for (int64_t i = 0; right && i < nd4c_array_size(array); i++) {
    right = values[i] == expected;
  }
  if (plugin_check_status(check, status, "reading behind %s", what)) {
    (void)plugin_check_that(check, right, "%s gave %g, expected %g", what, (double)values[0], (double)expected);
  }
  free(values);
}

/* False: the device does not add. */
static bool check_chain(plugin_check *check, nd4c_device *device, nd4c_context *const *contexts, int64_t size,
                        int32_t length, const char *what) {
  nd4c_array *value = NULL, *one = NULL;
  plugin_check_at("%s", what);
  nd4c_status status = nd4c_array_full(ND4C_FLOAT32, 1, &size, 3, device, &value);
  status = status == ND4C_OK ? nd4c_array_full(ND4C_FLOAT32, 1, &size, 1, device, &one) : status;
  status = status == ND4C_OK ? run_chain(contexts, &value, one, length) : status;
  const bool adds = !plugin_declined(status);
  if (adds && plugin_check_status(check, status, "%s", what)) {
    check_values(check, value, (float)(3 + length), what);
  }
  nd4c_array_release(value);
  nd4c_array_release(one);
  return adds;
}

/* A context on the very stream of the first one, as if the application had made it: both compute in turns, and the
 * stream serves on when the second has gone. */
static void check_wrapped(plugin_check *check, nd4c_context *context, const char *name) {
  nd4c_context *contexts[2] = {context, NULL};
  nd4c_device *device = nd4c_context_device(context);
  char what[160];
  nd4c_native_handles handles = {.struct_size = sizeof handles};
  plugin_check_at("a context on a stream of others on %s", name);
  nd4c_status status = nd4c_context_native(context, &handles);
  (void)plugin_check_that(check, handles.stream != NULL, "%s takes streams of others, but stream_native gives none",
                          name);
  status = status == ND4C_OK ? nd4c_context_wrap(device, handles.stream, &contexts[1]) : status;
  if (plugin_check_status(check, status, "a context on a stream of others on %s", name)) {
    (void)snprintf(what, sizeof what, "a chain of %d additions on a stream of others on %s", CHAIN, name);
    const bool adds = check_chain(check, device, contexts, 1000, CHAIN, what);
    (void)plugin_check_status(check, nd4c_context_destroy(contexts[1]), "destroying a context on a stream of others");
    contexts[1] = context;
    if (adds) {
      (void)check_chain(check, device, contexts, 1000, CHAIN, what);
    }
  }
}

static void check_streams(plugin_check *check, nd4c_device *device, const char *name) {
  static const int64_t sizes[] = {1, 1000, 100000};
  nd4c_device_info info = {.struct_size = sizeof info};
  nd4c_context_options options = {.struct_size = sizeof options, .device = device, .strict = true};
  nd4c_context *contexts[2] = {NULL};
  char what[160];
  bool adds = true;
  bool made = plugin_check_status(check, nd4c_device_get_info(device, &info), "what is known of %s", name);
  for (int32_t i = 0; i < 2 && made; i++) {
    options.priority = i == 0 ? info.least_priority : info.greatest_priority;
    made = plugin_check_status(check, nd4c_context_create(&options, &contexts[i]), "a context on %s, priority %" PRId32,
                               name, options.priority);
  }
  for (size_t i = 0; made && adds && i < sizeof sizes / sizeof sizes[0]; i++) {
    (void)snprintf(what, sizeof what, "a chain of %d additions of %" PRId64 " elements on two streams of %s", CHAIN,
                   sizes[i], name);
    adds = check_chain(check, device, contexts, sizes[i], CHAIN, what);
  }
  if (made && adds) { /* where a device tells points, one fence covers hundreds of calls */
    nd4c_context *const one[2] = {contexts[0], contexts[0]};
    (void)snprintf(what, sizeof what, "a chain of %d additions on one stream of %s", LONG_CHAIN, name);
    (void)check_chain(check, device, one, sizes[1], LONG_CHAIN, what);
  }
  if (made && adds && info.wraps_streams) {
    check_wrapped(check, contexts[0], name);
  }
  if (!adds) {
    plugin_check_skip("%s does not add in float32: order between streams was not checked", name);
  }
  for (int32_t i = 0; i < 2; i++) {
    (void)plugin_check_status(check, nd4c_context_destroy(contexts[i]), "destroying a context on %s", name);
  }
}

/* Times, on a stream that is made while a recording goes on: of all executions, or of none. */
static void check_times(plugin_check *check, nd4c_device *device, const char *name) {
  nd4c_context_options options = {.struct_size = sizeof options, .device = device, .strict = true};
  nd4c_trace_totals sums = {.struct_size = sizeof sums};
  nd4c_context *contexts[2] = {NULL};
  char what[160];
  (void)snprintf(what, sizeof what, "a chain of %d additions on %s while a recording goes on", CHAIN, name);
  nd4c_status status = nd4c_trace_start(NULL);
  status = status == ND4C_OK ? nd4c_context_create(&options, &contexts[0]) : status;
  contexts[1] = contexts[0];
  if (plugin_check_status(check, status, "a context on %s while a recording goes on", name) &&
      check_chain(check, device, contexts, 1000, CHAIN, what) &&
      plugin_check_status(check, nd4c_trace_get_totals(NULL, device, &sums), "what was recorded on %s", name)) {
    (void)plugin_check_that(check, sums.device_timed == 0 || sums.device_timed == sums.executions,
                            "%s tells the times of %" PRId64 " executions and not of %" PRId64 " others", name,
                            sums.device_timed, sums.executions - sums.device_timed);
    plugin_check_note("%s %s how long it works", name, sums.device_timed > 0 ? "tells" : "does not tell");
  }
  (void)plugin_check_status(check, nd4c_context_destroy(contexts[0]), "destroying a context on %s", name);
  (void)nd4c_trace_stop(NULL);
}

/* Copies that are under way at once, each from an array that is released right behind its submission. */
static void check_flight(plugin_check *check, nd4c_device *device, const char *name) {
  nd4c_array *copies[FLIGHT] = {NULL};
  nd4c_status status = ND4C_OK;
  plugin_check_at("%d copies under way on %s", FLIGHT, name);
  for (int32_t i = 0; i < FLIGHT && status == ND4C_OK; i++) {
    nd4c_array *from = NULL;
    const int64_t size = 1000 + 37 * i;
    status = nd4c_array_full(ND4C_FLOAT32, 1, &size, i, device, &from);
    status = status == ND4C_OK ? nd4c_array_to_device(from, device, &copies[i]) : status;
    nd4c_array_release(from);
  }
  (void)plugin_check_status(check, status, "copies on %s", name);
  for (int32_t i = 0; i < FLIGHT && status == ND4C_OK; i++) {
    double value = -1;
    status = nd4c_array_item(copies[i], (const int64_t[]){-1}, &value);
    (void)plugin_check_that(check, status == ND4C_OK && value == i, "copy %d on %s holds %g: %s", (int)i, name, value,
                            nd4c_error_message());
  }
  plugin_arrays_release(copies, FLIGHT);
}

/* A chain by turns on two devices: each call needs what the other device has just been given to do. */
static void check_pair(plugin_check *check, nd4c_device *const *devices, const char *name) {
  static const int64_t sizes[] = {1, 1000, 100000};
  nd4c_context *contexts[2] = {NULL};
  nd4c_status status = ND4C_OK;
  plugin_check_at("a chain of %d additions by turns on two devices of %s", CHAIN, name);
  for (int32_t i = 0; i < 2 && status == ND4C_OK; i++) {
    nd4c_context_options options = {.struct_size = sizeof options, .device = devices[i], .strict = true};
    status = nd4c_context_create(&options, &contexts[i]);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && status == ND4C_OK; i++) {
    nd4c_array *value = NULL, *one = NULL;
    status = nd4c_array_full(ND4C_FLOAT32, 1, &sizes[i], 3, devices[0], &value);
    status = status == ND4C_OK ? nd4c_array_full(ND4C_FLOAT32, 1, &sizes[i], 1, devices[1], &one) : status;
    status = status == ND4C_OK ? run_chain(contexts, &value, one, CHAIN) : status;
    if (status == ND4C_OK) {
      char what[160];
      (void)snprintf(what, sizeof what, "a chain of %d additions by turns on two devices of %s", CHAIN, name);
      check_values(check, value, 3 + CHAIN, what);
    }
    nd4c_array_release(value);
    nd4c_array_release(one);
  }
  (void)plugin_check_that(check, status == ND4C_OK || plugin_declined(status),
                          "a chain of additions by turns on two devices of %s: %s", name, nd4c_error_message());
  for (int32_t i = 0; i < 2; i++) {
    (void)nd4c_context_destroy(contexts[i]);
  }
}

static void check_devices(plugin_check *check) {
  plugin_targets targets;
  nd4c_device *devices[2] = {NULL};
  char name[PLUGIN_NAME + 16];
  if (plugin_targets_find(check, &targets) && targets.devices[0] != '\0' &&
      nd4c_device_find(own_device(&targets, 0, name, sizeof name), &devices[0]) == ND4C_OK &&
      nd4c_device_find(own_device(&targets, 1, name, sizeof name), &devices[1]) == ND4C_OK) {
    check_pair(check, devices, targets.devices);
  }
  plugin_targets_free(&targets);
}

static void check_order(plugin_check *check, nd4c_device *device, const char *name) {
  check_streams(check, device, name);
  check_times(check, device, name);
  check_flight(check, device, name);
}

void plugin_section_streams(plugin_check *check) {
  plugin_devices_each(check, check_order);
  check_devices(check);
}
