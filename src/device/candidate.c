#include "device/candidate.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "device/host.h"
#include "device/memory.h"

/* Copies a struct that the other side filled into one of ours: fields it does not have become zero, fields that we do
 * not know are left out. */
static void copy_versioned(void *to, size_t to_size, const void *from, uint32_t from_size) {
  memset(to, 0, to_size);
  memcpy(to, from, from_size < to_size ? from_size : to_size);
}

static nd4c_status refuse(nd4c_candidate *candidate, nd4c_status status) {
  candidate->verdict = ND4C_VERDICT_ABSENT;
  (void)snprintf(candidate->reason, sizeof candidate->reason, "%s", nd4c_error_message());
  nd4c_log_write(candidate->requested ? ND4C_LOG_WARNING : ND4C_LOG_INFO, "registry", "backend %s: %s", candidate->name,
                 candidate->reason);
  return status;
}

void nd4c_candidate_refuse(nd4c_candidate *candidate) {
  if (!candidate->refused) {
    (void)refuse(candidate, nd4c_error_code());
  }
  memset(&candidate->backend, 0, sizeof candidate->backend);
  memset(&candidate->ops, 0, sizeof candidate->ops);
  candidate->entry = NULL;
  candidate->type = ND4C_DEVICE_NONE;
  candidate->priority = 0;
  candidate->refused = candidate->tried = true;
  candidate->retries = false;
}

bool nd4c_candidate_is_possible(const nd4c_candidate *candidate) {
  return candidate->verdict != ND4C_VERDICT_ABSENT || candidate->retries;
}

static nd4c_status load_plugin(nd4c_candidate *candidate) {
  void *library = NULL;
  ND4C_TRY(nd4c_os_library_open(candidate->path, "", &library));
  void *symbol = nd4c_os_library_symbol(library, ND4C_PLUGIN_ENTRY);
  if (symbol == NULL) {
    nd4c_os_library_close(library);
    return nd4c_fail(ND4C_SYMBOL, "plug-in %s does not export %s", candidate->path, ND4C_PLUGIN_ENTRY);
  }
  /* The library stays loaded for the life of the process: its tables are referred to from now on. */
  memcpy(&candidate->entry, &symbol, sizeof symbol);
  return ND4C_OK;
}

static nd4c_status check_tables(const nd4c_candidate *candidate, const nd4c_backend *backend) {
  const char *from = candidate->path != NULL ? candidate->path : candidate->name;
  if (backend == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s gave no backend", from);
  }
  if (!ND4C_HAS_FIELD(backend, abi_minor) || backend->abi_major != ND4C_PLUGIN_ABI_MAJOR ||
      backend->abi_minor > ND4C_PLUGIN_ABI_MINOR) {
    return nd4c_fail(ND4C_ABI, "plug-in %s was built for plug-in ABI %d.%d; this library accepts %d.0 to %d.%d", from,
                     backend->abi_major, backend->abi_minor, ND4C_PLUGIN_ABI_MAJOR, ND4C_PLUGIN_ABI_MAJOR,
                     ND4C_PLUGIN_ABI_MINOR);
  }
  if (!ND4C_HAS_FIELD(backend, compiler)) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: struct nd4c_backend has %u bytes, version %d.%d has at least %zu", from,
                     backend->struct_size, backend->abi_major, backend->abi_minor,
                     offsetof(nd4c_backend, compiler) + sizeof(void *));
  }
  const nd4c_device_ops *ops = backend->device;
  if (backend->name == NULL || backend->name[0] == '\0' || strlen(backend->name) >= ND4C_BACKEND_NAME_SIZE ||
      backend->device_count == NULL || ops == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: a name of 1 to %d bytes, device_count and device are required", from,
                     ND4C_BACKEND_NAME_SIZE - 1);
  }
  if (!ND4C_HAS_FIELD(ops, copy_within) || ops->device_open == NULL || ops->describe == NULL ||
      ops->buffer_allocate == NULL || ops->buffer_free == NULL || ops->copy_from_host == NULL ||
      ops->copy_to_host == NULL) {
    return nd4c_fail(ND4C_ABI,
                     "plug-in %s: device_open, describe, buffer_allocate, buffer_free, copy_from_host and "
                     "copy_to_host are required",
                     from);
  }
  return ND4C_OK;
}

nd4c_status nd4c_candidate_load(nd4c_candidate *candidate) {
  if (candidate->backend.struct_size != 0) {
    return ND4C_OK;
  }
  const nd4c_backend *backend = NULL;
  nd4c_status status = candidate->entry == NULL ? load_plugin(candidate) : ND4C_OK;
  if (status == ND4C_OK) {
    nd4c_error_clear();
    status = candidate->entry(nd4c_host_table(), &backend);
    if (status != ND4C_OK) {
      status = nd4c_fail(status, "%s failed to start: %s", candidate->path != NULL ? candidate->path : candidate->name,
                         nd4c_error_message()[0] != '\0' ? nd4c_error_message() : nd4c_status_text(status));
    }
  }
  if (status == ND4C_OK) {
    status = check_tables(candidate, backend);
  }
  if (status != ND4C_OK) {
    candidate->retries = status == ND4C_MEMORY;
    candidate->refused = !candidate->retries;
    return refuse(candidate, status);
  }
  copy_versioned(&candidate->backend, sizeof candidate->backend, backend, backend->struct_size);
  candidate->backend.struct_size = ND4C_SIZE_OF(nd4c_backend);
  copy_versioned(&candidate->ops, sizeof candidate->ops, backend->device, backend->device->struct_size);
  candidate->backend.device = &candidate->ops;
  (void)snprintf(candidate->name, sizeof candidate->name, "%s", backend->name);
  candidate->type = backend->type;
  candidate->priority = backend->priority;
  return ND4C_OK;
}

static nd4c_status probe_backend(nd4c_candidate *candidate) {
  if (candidate->backend.probe == NULL) {
    return ND4C_OK;
  }
  char reason[ND4C_REASON_SIZE] = "";
  nd4c_verdict verdict = candidate->backend.probe(true, reason, sizeof reason);
  if (verdict == ND4C_VERDICT_COMPILE_ONLY) {
    candidate->verdict = verdict;
    (void)snprintf(candidate->reason, sizeof candidate->reason, "%s", reason);
    return nd4c_fail(ND4C_HARDWARE, "backend %s can only compile ahead of time: %s", candidate->name, reason);
  }
  if (verdict == ND4C_VERDICT_ABSENT) {
    return nd4c_fail(ND4C_HARDWARE, "%s", reason[0] != '\0' ? reason : "its probe gave no reason");
  }
  return ND4C_OK;
}

static nd4c_status start_backend(nd4c_candidate *candidate) {
  if (!candidate->started && candidate->backend.open != NULL) {
    ND4C_TRY(candidate->backend.open());
  }
  candidate->started = true;
  ND4C_TRY(nd4c_kernel_index_make(&candidate->backend, &candidate->kernels));
  return nd4c_candidate_open_devices(candidate);
}

/* What may come back, memory or a device, is for the next attempt, which goes on from here. Everything else is final
 * for this process. */
static nd4c_status stop_backend(nd4c_candidate *candidate, nd4c_status status) {
  const bool retries = status == ND4C_MEMORY || nd4c_candidate_has_hope(candidate);
  nd4c_candidate_close_devices(candidate);
  nd4c_kernel_index_free(candidate->kernels);
  candidate->kernels = NULL;
  (void)refuse(candidate, status);
  candidate->retries = retries;
  if (candidate->retries) {
    return status;
  }
  candidate->tried = true;
  if (candidate->started && candidate->backend.close != NULL) {
    candidate->backend.close();
  }
  candidate->started = false;
  return status;
}

nd4c_status nd4c_candidate_open(nd4c_candidate *candidate) {
  if (candidate->opened) {
    return ND4C_OK;
  }
  if (candidate->tried || (candidate->entry == NULL && candidate->path == NULL)) {
    return nd4c_fail(ND4C_NO_BACKEND, "backend %s: %s", candidate->name, candidate->reason);
  }
  ND4C_TRY(nd4c_candidate_load(candidate));
  nd4c_status status = probe_backend(candidate);
  if (candidate->verdict == ND4C_VERDICT_COMPILE_ONLY) {
    candidate->tried = true;
    return status;
  }
  if (status == ND4C_OK) {
    status = start_backend(candidate);
  }
  if (status != ND4C_OK) {
    return stop_backend(candidate, status);
  }
  candidate->tried = candidate->opened = true;
  candidate->retries = false;
  candidate->verdict = ND4C_VERDICT_VERIFIED;
  nd4c_candidate_tell_devices(candidate);
  nd4c_memory_tell_idle_caps(candidate->devices, candidate->device_count);
  return ND4C_OK;
}
