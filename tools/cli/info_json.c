/* nd4c info --json: one object with all that the text of info.c shows. info.c calls it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "info_external.h"
#include "info_peers.h"
#include "info_rows.h"

static cJSON *contributors_json(void) {
  cJSON *array = cJSON_CreateArray();
  nd4c_backend_status status;
  for (int32_t i = 0; info_contributor_at(i, &status); i++) {
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, "name", status.name);
    (void)cJSON_AddStringToObject(object, "version", status.version);
    (void)cJSON_AddStringToObject(object, "origin", status.origin);
    (void)cJSON_AddStringToObject(object, "contributes_to", status.contributes_to);
    (void)cJSON_AddStringToObject(object, "verdict", info_verdict_text(status.verdict));
    const char *warning = strstr(status.reason, info_mark); /* it stands among the warnings */
    char reason[1024];
    (void)snprintf(reason, sizeof reason, "%.*s", warning != NULL ? (int)(warning - status.reason) : 1000,
                   status.reason);
    (void)cJSON_AddStringToObject(object, "reason", reason);
    (void)cJSON_AddItemToArray(array, object);
  }
  return array;
}

/* An array of lines. */
static void add_lines(cJSON *object, const char *name, const char *lines) {
  cJSON *array = cJSON_AddArrayToObject(object, name);
  for (size_t length; (length = strcspn(lines, "\n")) > 0; lines += length + (lines[length] != '\0')) {
    char text[1024];
    (void)snprintf(text, sizeof text, "%.*s", (int)length, lines);
    (void)cJSON_AddItemToArray(array, cJSON_CreateString(text));
  }
}

static cJSON *backends_json(bool probe) {
  cJSON *array = cJSON_CreateArray();
  nd4c_backend_status status;
  for (int32_t i = 0; info_backend_at(i, &status); i++) {
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, "name", status.name);
    (void)cJSON_AddStringToObject(object, "version", status.version);
    (void)cJSON_AddStringToObject(object, "origin", status.origin);
    (void)cJSON_AddNumberToObject(object, "priority", status.priority);
    if (status.by_request_only[0] != '\0') {
      (void)cJSON_AddStringToObject(object, "by_request_only", status.by_request_only);
    }
    (void)cJSON_AddStringToObject(object, "verdict", info_verdict_text(status.verdict));
    (void)cJSON_AddStringToObject(object, "reason", status.reason);
    (void)cJSON_AddBoolToObject(object, "selected", status.selected);
    (void)cJSON_AddNumberToObject(object, "devices", status.device_count);
    add_lines(object, "unusable_devices", status.unusable_devices);
    add_lines(object, "left_out", status.left_out);
    cJSON *engines = cJSON_AddArrayToObject(object, "engines");
    const char *engine = NULL;
    char state[INFO_STATE_SIZE];
    for (int32_t e = 0; (engine = nd4c_backend_engine(status.name, e)) != NULL; e++) {
      cJSON *entry = cJSON_CreateObject();
      (void)cJSON_AddStringToObject(entry, "name", engine);
      (void)cJSON_AddStringToObject(entry, "state", info_engine_state(status.name, e, probe, state));
      (void)cJSON_AddItemToArray(engines, entry);
    }
    (void)cJSON_AddItemToArray(array, object);
  }
  return array;
}

static cJSON *device_json(nd4c_device *device) {
  nd4c_device_info info = {.struct_size = sizeof info};
  nd4c_memory_info memory = {.struct_size = sizeof memory};
  if (nd4c_device_get_info(device, &info) != ND4C_OK || nd4c_memory_get_info(device, &memory) != ND4C_OK) {
    return cJSON_CreateNull();
  }
  cJSON *object = cJSON_CreateObject();
  (void)cJSON_AddStringToObject(object, "name", info.name);
  (void)cJSON_AddStringToObject(object, "description", info.description);
  (void)cJSON_AddStringToObject(object, "type", nd4c_device_type_name(info.type));
  (void)cJSON_AddNumberToObject(object, "index", info.index);
  (void)cJSON_AddNumberToObject(object, "priority", info.priority);
  (void)cJSON_AddStringToObject(object, "vendor", info.vendor);
  (void)cJSON_AddStringToObject(object, "driver", info.driver);
  (void)cJSON_AddStringToObject(object, "identity", info.identity);
  (void)cJSON_AddNumberToObject(object, "process_rank", info.process_rank);
  (void)cJSON_AddNumberToObject(object, "process_count", info.process_count);
  (void)cJSON_AddStringToObject(object, "uuid", info.uuid);
  (void)cJSON_AddStringToObject(object, "pci", info.pci);
  (void)cJSON_AddStringToObject(object, "capability", info.capability);
  char native[32]; /* text: a number of JSON's has not all bits of an address */
  (void)snprintf(native, sizeof native, "%p", info.native);
  (void)cJSON_AddItemToObject(object, "native", info.has_native ? cJSON_CreateString(native) : cJSON_CreateNull());
  (void)cJSON_AddNumberToObject(object, "least_priority", info.least_priority);
  (void)cJSON_AddNumberToObject(object, "greatest_priority", info.greatest_priority);
  (void)cJSON_AddBoolToObject(object, "wraps_streams", info.wraps_streams);
  (void)cJSON_AddItemToObject(object, "peers", info_peers_json(device));
  (void)cJSON_AddBoolToObject(object, "host_processor", info.host_processor);
  (void)cJSON_AddBoolToObject(object, "unified_memory", info.unified_memory);
  (void)cJSON_AddBoolToObject(object, "addressable", info.addressable);
  (void)cJSON_AddBoolToObject(object, "host_readable", info.host_readable);
  (void)cJSON_AddBoolToObject(object, "asynchronous", info.asynchronous);
  (void)cJSON_AddNumberToObject(object, "alignment", (double)info.alignment);
  cJSON *dtypes = cJSON_AddArrayToObject(object, "dtypes");
  for (int32_t dtype = 1; dtype < 64; dtype++) {
    if ((info.dtypes & ND4C_DTYPE_BIT(dtype)) != 0 && nd4c_dtype_get_info((nd4c_dtype)dtype) != NULL) {
      (void)cJSON_AddItemToArray(dtypes, cJSON_CreateString(nd4c_dtype_name((nd4c_dtype)dtype)));
    }
  }
  info_add_external(object, &info, &memory);
  (void)cJSON_AddNumberToObject(object, "width", info.width);
  (void)cJSON_AddNumberToObject(object, "memory_bytes", (double)info.memory_bytes);
  (void)cJSON_AddNumberToObject(object, "live_bytes", (double)memory.live_bytes);
  (void)cJSON_AddNumberToObject(object, "cached_bytes", (double)memory.cached_bytes);
  (void)cJSON_AddNumberToObject(object, "peak_bytes", (double)memory.peak_bytes);
  (void)cJSON_AddNumberToObject(object, "cap_bytes", (double)memory.cap_bytes);
  (void)cJSON_AddNumberToObject(object, "largest_bytes", (double)info.largest_bytes);
  (void)cJSON_AddNumberToObject(object, "live_count", (double)memory.live_count);
  (void)cJSON_AddNumberToObject(object, "total_count", (double)memory.total_count);
  (void)cJSON_AddNumberToObject(object, "cache_hits", (double)memory.cache_hits);
  (void)cJSON_AddNumberToObject(object, "dropped_count", (double)memory.dropped_count);
  (void)cJSON_AddNumberToObject(object, "spilled_count", (double)memory.spilled_count);
  (void)cJSON_AddNumberToObject(object, "spilled_bytes", (double)memory.spilled_bytes);
  (void)cJSON_AddNumberToObject(object, "scratch_bytes", (double)memory.scratch_bytes);
  (void)cJSON_AddNumberToObject(object, "held_bytes", (double)memory.held_bytes);
  int64_t remaining = 0;
  if (nd4c_memory_remaining(device, &remaining) == ND4C_OK && remaining != INT64_MAX) {
    (void)cJSON_AddNumberToObject(object, "remaining_bytes", (double)remaining);
  }
  return object;
}

/* Every device of an opened backend; empty if no backend was opened to choose the selected device. */
static cJSON *devices_json(bool known) {
  cJSON *array = cJSON_CreateArray();
  nd4c_device *device = NULL;
  for (int32_t i = 0; known && i < nd4c_device_count() && nd4c_device_at(i, &device) == ND4C_OK; i++) {
    (void)cJSON_AddItemToArray(array, device_json(device));
  }
  return array;
}

/* The properties about several devices, as they are. */
static cJSON *sharing_json(void) {
  static const char *const properties[] = {"nd4c.device.transfer", "nd4c.device.memory.spill", "nd4c.routing",
                                           "nd4c.routing.devices", "nd4c.routing.transfer",    "nd4c.routing.creation",
                                           "nd4c.routing.wait"};
  cJSON *object = cJSON_CreateObject();
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
    (void)cJSON_AddStringToObject(object, properties[i], info_property_or(properties[i], ""));
  }
  return object;
}

int info_print_json(const nd4c_machine_info *machine, const info_warnings *found, bool probe, nd4c_status picked,
                    nd4c_device *device) {
  cJSON *root = cJSON_CreateObject();
  (void)cJSON_AddStringToObject(root, "version", nd4c_version());
  (void)cJSON_AddStringToObject(root, "build", nd4c_build_info());
  (void)cJSON_AddBoolToObject(root, "probed", probe);
  cJSON *cpu = cJSON_AddObjectToObject(root, "machine");
  (void)cJSON_AddStringToObject(cpu, "cpu", machine->cpu_model);
  (void)cJSON_AddStringToObject(cpu, "features", machine->cpu_features);
  (void)cJSON_AddStringToObject(cpu, "level", machine->cpu_level);
  (void)cJSON_AddStringToObject(cpu, "level_reason", machine->level_reason);
  (void)cJSON_AddStringToObject(cpu, "pool", machine->pool);
  (void)cJSON_AddNumberToObject(cpu, "width", machine->width);
  (void)cJSON_AddNumberToObject(cpu, "memory_bytes", (double)machine->memory_bytes);
  (void)cJSON_AddNumberToObject(cpu, "cache_bytes", (double)machine->cache_bytes);
  (void)cJSON_AddItemToObject(root, "sharing", sharing_json());
  (void)cJSON_AddItemToObject(root, "backends", backends_json(probe));
  (void)cJSON_AddItemToObject(root, "contributors", contributors_json());
  (void)cJSON_AddItemToObject(root, "device", device != NULL ? device_json(device) : cJSON_CreateNull());
  (void)cJSON_AddItemToObject(root, "devices", devices_json(device != NULL));
  if (picked != ND4C_OK) {
    (void)cJSON_AddStringToObject(root, "error", nd4c_error_message());
  }
  cJSON *list = cJSON_AddArrayToObject(root, "warnings");
  for (int i = 0; i < found->count; i++) {
    (void)cJSON_AddItemToArray(list, cJSON_CreateString(found->text[i]));
  }
  return cli_print_json(&cli_info, root, false);
}
