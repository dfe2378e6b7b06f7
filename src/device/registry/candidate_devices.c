/* The devices of a candidate: each is opened and checked separately, so that a failure does not affect its siblings.
 * candidate.c calls it when a backend opens, registry.c to find a device. Under the registry's lock. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/config/log.h"
#include "base/status.h"
#include "base/text.h"
#include "device/memory/memory_manager.h"
#include "device/memory/scratch.h"
#include "device/memory/staging.h"
#include "device/peers.h"
#include "device/provider/provider_check.h"
#include "device/registry/candidate.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/stream_pool.h"

/* -- one device -------------------------------------------------------------------------------------------------- */

static void identify(nd4c_device *device) {
  device->process_rank = (int32_t)nd4c_config_int(ND4C_CONFIG_PROCESS_RANK);
  device->process_count = (int32_t)nd4c_config_int(ND4C_CONFIG_PROCESS_COUNT);
  if (device->process_count > 1) {
    (void)snprintf(device->identity, sizeof device->identity, "%d/%s", (int)device->process_rank, device->name);
  } else {
    (void)snprintf(device->identity, sizeof device->identity, "%s", device->name);
  }
}

/* A device's name is known before it is opened. */
static void name_device(nd4c_candidate *candidate, int32_t index) {
  static _Atomic int32_t next_number;
  nd4c_device *device = &candidate->devices[index];
  device->backend = &candidate->backend;
  device->ops = &candidate->ops;
  atomic_store(&device->compute, candidate->compute);
  device->index = index;
  device->number = atomic_fetch_add(&next_number, 1);
  (void)snprintf(device->name, sizeof device->name, "%.19s:%d", candidate->name, index);
  identify(device);
}

static void write_uuid(nd4c_device *device) {
  size_t length = 0;
  for (int i = 0; device->description.has_uuid && i < ND4C_DEVICE_UUID_BYTES; i++) {
    const bool joint = i == 4 || i == 6 || i == 8 || i == 10;
    length += (size_t)snprintf(device->uuid + length, sizeof device->uuid - length, "%s%02x", joint ? "-" : "",
                               device->description.uuid[i]);
  }
}

/* The backend's description of the device, with printable texts. */
static nd4c_status describe(const nd4c_candidate *candidate, nd4c_device *device) {
  nd4c_device_description *description = &device->description;
  description->struct_size = ND4C_SIZE_OF(nd4c_device_description);
  nd4c_error_clear();
  nd4c_status status = candidate->ops.describe(device->handle, description);
  if (status != ND4C_OK) {
    return nd4c_provider_failed(status, "describe");
  }
  ND4C_TRY(nd4c_provider_check_description(candidate, description));
  nd4c_provider_clean_description(description);
  write_uuid(device);
  description->alignment = description->alignment == 0 ? 64 : description->alignment;
  description->width = description->width == 0 ? 1 : description->width;
  if (description->dtypes == 0) {
    description->dtypes = nd4c_compute_dtypes(candidate->compute);
  }
  return ND4C_OK;
}

static nd4c_status start_device(nd4c_candidate *candidate, nd4c_device *device) {
  nd4c_status status = candidate->ops.device_open(device->index, &device->handle);
  if (status != ND4C_OK) {
    return nd4c_provider_failed(status, "device_open");
  }
  if (device->handle == NULL) {
    return nd4c_fail(ND4C_ABI, "device_open returned OK but no device");
  }
  ND4C_TRY(describe(candidate, device));
  ND4C_TRY(nd4c_stream_pool_make(device, &device->streams));
  ND4C_TRY(nd4c_scratch_pool_make(device, &device->scratch));
  ND4C_TRY(nd4c_staging_make(device, &device->staging));
  ND4C_TRY(nd4c_peers_make(device, candidate->device_count));
  ND4C_TRY(nd4c_memory_manager_make(device, &device->memory));
  ND4C_TRY(nd4c_device_verify(device, &candidate->openings[device->index].added));
  return nd4c_devices_publish(device);
}

static void stop_device(nd4c_candidate *candidate, nd4c_device *device) {
  nd4c_stream_pool_free(device->streams);
  nd4c_staging_free(device->staging);
  nd4c_peers_free(device);
  nd4c_scratch_pool_free(device->scratch);
  nd4c_memory_manager_free(device->memory);
  if (device->handle != NULL && candidate->ops.device_close != NULL) {
    candidate->ops.device_close(device->handle);
  }
  device->streams = NULL;
  device->scratch = NULL;
  device->staging = NULL;
  device->memory = NULL;
  device->handle = NULL;
  memset(&device->description, 0, sizeof device->description);
}

/* The thread's error text with the device's name, on one line. */
static void keep_reason(const nd4c_device *device, nd4c_opening *opening) {
  const char *words = nd4c_error_message();
  (void)snprintf(opening->reason, sizeof opening->reason, "%s%s%s", nd4c_device_is_named(device) ? "" : device->name,
                 nd4c_device_is_named(device) ? "" : ": ",
                 words[0] != '\0' ? words : nd4c_status_text(opening->status));
  nd4c_text_clean(opening->reason, false);
}

static nd4c_status open_device(nd4c_candidate *candidate, int32_t index) {
  nd4c_device *device = &candidate->devices[index];
  nd4c_opening *opening = &candidate->openings[index];
  nd4c_error_clear(); /* a backend may fail without a text */
  opening->status = start_device(candidate, device);
  opening->usable = opening->status == ND4C_OK;
  opening->retries = opening->status == ND4C_MEMORY || opening->status == ND4C_DEVICE_LOST;
  if (!opening->usable) {
    keep_reason(device, opening);
    stop_device(candidate, device);
  }
  return opening->status;
}

/* -- all of them ------------------------------------------------------------------------------------------------- */

/* The texts of all unusable devices, separated by `between`. Returns their number. */
static int32_t print_unusable(const nd4c_candidate *candidate, const char *between, char *text, size_t size) {
  int32_t count = 0;
  size_t used = 0;
  text[0] = '\0';
  for (int32_t i = 0; i < candidate->device_count; i++) {
    if (!candidate->openings[i].usable) {
      used += used < size ? (size_t)snprintf(text + used, size - used, "%s%s", count > 0 ? between : "",
                                             candidate->openings[i].reason)
                          : 0;
      count++;
    }
  }
  nd4c_text_clean(text, true); /* it may have been cut */
  return count;
}

void nd4c_candidate_tell_devices(nd4c_candidate *candidate) {
  char words[sizeof candidate->unusable];
  const int32_t count = print_unusable(candidate, "; ", words, sizeof words);
  bool added = false;
  for (int32_t i = 0; i < candidate->device_count; i++) {
    added = added || (candidate->openings[i].usable && candidate->openings[i].added);
  }
  int length = snprintf(
      candidate->reason, sizeof candidate->reason, "initialised; %s",
      added ? "one addition gave the right answer" : "it does not add float32: what was copied there came back right");
  if (count > 0) {
    (void)snprintf(candidate->reason + length, sizeof candidate->reason - (size_t)length,
                   "; %d of %d devices cannot be used: %.800s", count, candidate->device_count, words);
    nd4c_text_clean(candidate->reason, false);
  }
  (void)print_unusable(candidate, "\n", candidate->unusable, sizeof candidate->unusable);
}

nd4c_status nd4c_candidate_open_devices(nd4c_candidate *candidate) {
  int32_t count = candidate->backend.device_count();
  if (count == 0) {
    return nd4c_fail(ND4C_HARDWARE, "backend %s found no device", candidate->name);
  }
  if (count < 0 || count > ND4C_PLUGIN_DEVICE_LIMIT) {
    return nd4c_fail(ND4C_ABI, "backend %s: device_count gave %d, expected 0 to %d", candidate->name, count,
                     ND4C_PLUGIN_DEVICE_LIMIT);
  }
  candidate->devices = nd4c_allocate_zeroed((size_t)count, sizeof *candidate->devices);
  candidate->openings = nd4c_allocate_zeroed((size_t)count, sizeof *candidate->openings);
  if (candidate->devices == NULL || candidate->openings == NULL) {
    return nd4c_fail_memory("devices", (size_t)count * (sizeof *candidate->devices + sizeof *candidate->openings));
  }
  candidate->device_count = count;
  for (int32_t i = 0; i < count; i++) {
    name_device(candidate, i);
    (void)open_device(candidate, i);
  }
  const nd4c_device *first = nd4c_candidate_first_device(candidate);
  if (first == NULL) {
    char words[sizeof candidate->unusable];
    (void)print_unusable(candidate, "; ", words, sizeof words);
    return nd4c_fail(candidate->openings[0].status, "%s", words);
  }
  for (int32_t i = 0; i < count; i++) {
    if (!candidate->openings[i].usable) {
      nd4c_log_write(ND4C_LOG_WARNING, "registry", "%s cannot be used: %s", candidate->devices[i].name,
                     candidate->openings[i].reason);
    }
  }
  nd4c_closing_watch(first);
  return ND4C_OK;
}

void nd4c_candidate_close_devices(nd4c_candidate *candidate) {
  for (int32_t i = 0; i < candidate->device_count; i++) {
    stop_device(candidate, &candidate->devices[i]);
  }
  nd4c_deallocate(candidate->devices);
  nd4c_deallocate(candidate->openings);
  candidate->devices = NULL;
  candidate->openings = NULL;
  candidate->device_count = 0;
}

bool nd4c_candidate_has_hope(const nd4c_candidate *candidate) {
  bool hope = false;
  for (int32_t i = 0; i < candidate->device_count; i++) {
    hope = hope || candidate->openings[i].retries;
  }
  return hope;
}

nd4c_device *nd4c_candidate_first_device(const nd4c_candidate *candidate) {
  for (int32_t i = 0; i < candidate->device_count; i++) {
    if (candidate->openings[i].usable) {
      return &candidate->devices[i];
    }
  }
  return NULL;
}

nd4c_status nd4c_candidate_find_device(nd4c_candidate *candidate, const char *name, int64_t index,
                                       nd4c_device **device) {
  const bool was_open = candidate->opened;
  ND4C_TRY(nd4c_candidate_open(candidate));
  if (index >= candidate->device_count) {
    return nd4c_fail(ND4C_INDEX, "device '%s': backend %s has %d, the last one is %s", name, candidate->name,
                     candidate->device_count, candidate->devices[candidate->device_count - 1].name);
  }
  nd4c_opening *opening = &candidate->openings[index];
  if (!opening->usable && opening->retries && was_open) {
    if (open_device(candidate, (int32_t)index) == ND4C_OK) {
      nd4c_closing_watch(&candidate->devices[index]);
    }
    nd4c_candidate_tell_devices(candidate);
  }
  if (!opening->usable) {
    return nd4c_fail(opening->status, "%s", opening->reason);
  }
  *device = &candidate->devices[index];
  return ND4C_OK;
}
