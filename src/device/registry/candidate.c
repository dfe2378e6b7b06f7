/* Implements candidate.h: loads, checks, probes and opens one provider. registry.c and candidate_list.c call it under
 * the registry's lock. */
#include "device/registry/candidate.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/config/log.h"
#include "base/os.h"
#include "base/status.h"
#include "base/text.h"
#include "device/memory/host.h"
#include "device/memory/memory.h"
#include "device/plugin_ops.h"
#include "device/provider/provider_check.h"
#include "device/registry/properties.h"

void nd4c_candidate_say(nd4c_candidate *candidate, const char *words) {
  (void)snprintf(candidate->reason, sizeof candidate->reason, "%s", words);
  nd4c_text_clean(candidate->reason, false);
}

void nd4c_candidate_announce(const nd4c_candidate *candidate, const char *function) {
  const bool loaded = candidate->provider.struct_size != 0 || candidate->path == NULL;
  nd4c_log_write(ND4C_LOG_DEBUG, "provider", "%s: %s", loaded ? candidate->name : candidate->path, function);
}

bool nd4c_candidate_is_disabled(const nd4c_candidate *candidate) {
  return nd4c_config_list_has(ND4C_CONFIG_BACKEND_DISABLE, candidate->name) ||
         (candidate->path != NULL && nd4c_config_list_has(ND4C_CONFIG_BACKEND_DISABLE, candidate->path));
}

void nd4c_candidate_disable(nd4c_candidate *candidate) {
  candidate->verdict = ND4C_VERDICT_ABSENT;
  candidate->disabled = candidate->tried = true;
  candidate->retries = false;
  nd4c_candidate_say(candidate, "nd4c.backend.disable (ND4C_BACKEND_DISABLE) names it");
}

static nd4c_status refuse(nd4c_candidate *candidate, nd4c_status status) {
  candidate->verdict = ND4C_VERDICT_ABSENT;
  nd4c_candidate_say(candidate, nd4c_error_message());
  nd4c_log_write(candidate->requested ? ND4C_LOG_WARNING : ND4C_LOG_INFO, "registry", "backend %s: %s", candidate->name,
                 candidate->reason);
  return status;
}

void nd4c_candidate_refuse(nd4c_candidate *candidate) {
  if (!candidate->refused) {
    (void)refuse(candidate, nd4c_error_code());
  }
  memset(&candidate->provider, 0, sizeof candidate->provider);
  memset(&candidate->backend, 0, sizeof candidate->backend);
  memset(&candidate->ops, 0, sizeof candidate->ops);
  memset(&candidate->buffers, 0, sizeof candidate->buffers);
  memset(&candidate->capture, 0, sizeof candidate->capture);
  memset(&candidate->timing, 0, sizeof candidate->timing);
  memset(&candidate->collective, 0, sizeof candidate->collective);
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
  nd4c_candidate_announce(candidate, "load");
  ND4C_TRY(nd4c_os_library_open(candidate->path, "", &library));
  void *symbol = nd4c_os_library_symbol(library, ND4C_PLUGIN_ENTRY);
  if (symbol == NULL) {
    nd4c_os_library_close(library);
    return nd4c_fail(ND4C_SYMBOL,
                     "plug-in %s does not export %s: is the function extern \"C\" (ND4C_PLUGIN_EXPORT), and "
                     "visible?",
                     candidate->path, ND4C_PLUGIN_ENTRY);
  }
  /* The library stays loaded for the life of the process, because nd4c now refers to its tables. */
  memcpy(&candidate->entry, &symbol, sizeof symbol);
  return ND4C_OK;
}

/* Copies the provider's tables, so that fields that it lacks are zero. */
static nd4c_status copy_tables(nd4c_candidate *candidate, const nd4c_provider *provider) {
  const size_t count = (size_t)provider->contribution_count;
  ND4C_TRY(nd4c_allocate_or_fail(count + 1, sizeof *candidate->contributions, "the contributions of a plug-in",
                                 &candidate->contributions));
  for (size_t i = 0; i < count; i++) {
    const nd4c_contribution *contribution = provider->contributions[i];
    nd4c_provider_copy(&candidate->contributions[i], sizeof *contribution, contribution, contribution->struct_size);
  }
  nd4c_provider_copy(&candidate->provider, sizeof candidate->provider, provider, provider->struct_size);
  candidate->provider.struct_size = ND4C_SIZE_OF(nd4c_provider);
  candidate->provider.version = nd4c_provider_words(provider->version);
  if (provider->backend != NULL) {
    const nd4c_backend *backend = provider->backend;
    nd4c_provider_copy(&candidate->backend, sizeof candidate->backend, backend, backend->struct_size);
    nd4c_provider_copy(&candidate->ops, sizeof candidate->ops, backend->device, backend->device->struct_size);
    nd4c_provider_copy(&candidate->buffers, sizeof candidate->buffers, candidate->ops.buffers,
                       candidate->ops.buffers->struct_size);
    candidate->ops.buffers = &candidate->buffers;
    if (candidate->ops.capture != NULL) {
      nd4c_provider_copy(&candidate->capture, sizeof candidate->capture, candidate->ops.capture,
                         candidate->ops.capture->struct_size);
      candidate->ops.capture = &candidate->capture;
    }
    if (candidate->ops.timing != NULL) {
      nd4c_provider_copy(&candidate->timing, sizeof candidate->timing, candidate->ops.timing,
                         candidate->ops.timing->struct_size);
      candidate->ops.timing = &candidate->timing;
    }
    candidate->backend.device = &candidate->ops;
    if (candidate->backend.collective != NULL) {
      nd4c_provider_copy(&candidate->collective, sizeof candidate->collective, candidate->backend.collective,
                         candidate->backend.collective->struct_size);
      candidate->backend.collective = &candidate->collective;
    }
    candidate->type = backend->type;
    candidate->priority = backend->priority;
  }
  (void)snprintf(candidate->name, sizeof candidate->name, "%s", provider->name);
  return ND4C_OK;
}

nd4c_status nd4c_candidate_load(nd4c_candidate *candidate) {
  if (candidate->provider.struct_size != 0) {
    return ND4C_OK;
  }
  const char *from = candidate->path != NULL ? candidate->path : candidate->name;
  const nd4c_provider *provider = NULL;
  nd4c_status status = candidate->entry == NULL ? load_plugin(candidate) : ND4C_OK;
  if (status == ND4C_OK) {
    nd4c_error_clear();
    nd4c_candidate_announce(candidate, ND4C_PLUGIN_ENTRY);
    status = candidate->entry(candidate->path != NULL ? nd4c_host_for_plugins() : nd4c_host_table(), &provider);
    if (status != ND4C_OK) {
      status = nd4c_fail_prefix(nd4c_provider_failed(status, ND4C_PLUGIN_ENTRY), "%s failed to start", from);
    }
  }
  if (status == ND4C_OK) {
    status = nd4c_provider_check(from, provider);
  }
  if (status == ND4C_OK) {
    status = copy_tables(candidate, provider);
  }
  if (status != ND4C_OK) {
    candidate->retries = status == ND4C_MEMORY;
    candidate->refused = !candidate->retries;
    return refuse(candidate, status);
  }
  return ND4C_OK;
}

static nd4c_status register_ops(nd4c_candidate *candidate, const char *from) {
  const nd4c_provider *provider = &candidate->provider;
  nd4c_contribution *references = NULL;
  if (provider->op_count == 0 || candidate->references != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_plugin_ops_contribute(provider->ops, provider->op_count, &references));
  nd4c_status status = nd4c_plugin_ops_add(from, candidate->name, provider->ops, provider->op_count);
  if (status != ND4C_OK) {
    nd4c_deallocate(references);
    return status;
  }
  candidate->references = references;
  return ND4C_OK;
}

nd4c_status nd4c_candidate_register(nd4c_candidate *candidate) {
  const char *from = candidate->path != NULL ? candidate->path : candidate->name;
  nd4c_config_definition *prepared = NULL;
  ND4C_TRY(nd4c_properties_prepare(from, &candidate->provider, &prepared));
  nd4c_status status = register_ops(candidate, from);
  if (status == ND4C_OK && nd4c_properties_declare(&candidate->provider, prepared)) {
    nd4c_config_tell_declared(candidate->name);
  }
  nd4c_deallocate(prepared);
  return status;
}

nd4c_verdict nd4c_candidate_probe(const nd4c_candidate *candidate, bool verify, char *reason, size_t size) {
  reason[0] = '\0';
  if (candidate->provider.probe == NULL) {
    return ND4C_VERDICT_FOUND;
  }
  nd4c_candidate_announce(candidate, "probe");
  nd4c_verdict verdict = candidate->provider.probe(verify, reason, size);
  reason[size - 1] = '\0';
  nd4c_text_clean(reason, false);
  if ((int)verdict < ND4C_VERDICT_ABSENT || (int)verdict > ND4C_VERDICT_VERIFIED) {
    (void)snprintf(reason, size, "its probe answered %d, which is not a verdict", (int)verdict);
    return ND4C_VERDICT_ABSENT;
  }
  if (verdict == ND4C_VERDICT_ABSENT && reason[0] == '\0') {
    (void)snprintf(reason, size, "its probe gave no reason");
  }
  return verdict;
}

static nd4c_status probe_backend(nd4c_candidate *candidate) {
  char reason[ND4C_REASON_SIZE];
  const nd4c_verdict verdict = nd4c_candidate_probe(candidate, true, reason, sizeof reason);
  if (verdict == ND4C_VERDICT_COMPILE_ONLY) {
    candidate->verdict = verdict;
    nd4c_candidate_say(candidate, reason);
    return nd4c_candidate_fail_compile_only(candidate);
  }
  return verdict == ND4C_VERDICT_ABSENT ? nd4c_fail(ND4C_HARDWARE, "%s", reason) : ND4C_OK;
}

nd4c_status nd4c_candidate_start(nd4c_candidate *candidate) {
  if (!candidate->started && candidate->provider.open != NULL) {
    nd4c_error_clear();
    nd4c_candidate_announce(candidate, "open");
    nd4c_status status = candidate->provider.open();
    if (status != ND4C_OK) {
      return nd4c_provider_failed(status, "open");
    }
  }
  candidate->started = true;
  return ND4C_OK;
}

static nd4c_status start_backend(nd4c_candidate *candidate) {
  ND4C_TRY(nd4c_candidate_start(candidate));
  ND4C_TRY(nd4c_candidate_gather(candidate));
  nd4c_candidate_announce(candidate, "device_open");
  return nd4c_candidate_open_devices(candidate);
}

/* After a temporary failure (memory or a device) the next attempt continues from here. Every other failure is final for
 * this process. */
static nd4c_status stop_backend(nd4c_candidate *candidate, nd4c_status status) {
  const bool retries = status == ND4C_MEMORY || nd4c_candidate_has_hope(candidate);
  nd4c_candidate_close_devices(candidate);
  nd4c_compute_free(candidate->compute);
  candidate->compute = NULL;
  (void)refuse(candidate, status);
  candidate->retries = retries;
  if (candidate->retries) {
    return status;
  }
  candidate->tried = true;
  if (candidate->started && candidate->provider.close != NULL) {
    nd4c_candidate_announce(candidate, "close");
    candidate->provider.close();
  }
  candidate->started = false;
  return status;
}

nd4c_status nd4c_candidate_open(nd4c_candidate *candidate) {
  if (candidate->opened) {
    return ND4C_OK;
  }
  if (candidate->tried || (candidate->entry == NULL && candidate->path == NULL)) {
    return candidate->verdict == ND4C_VERDICT_COMPILE_ONLY
               ? nd4c_candidate_fail_compile_only(candidate)
               : nd4c_fail(ND4C_NO_BACKEND, "backend %s: %s", candidate->name, candidate->reason);
  }
  ND4C_TRY(nd4c_candidate_load(candidate));
  nd4c_status status = nd4c_candidate_register(candidate);
  if (status != ND4C_OK) {
    if (status != ND4C_MEMORY) {
      nd4c_candidate_refuse(candidate);
    }
    return status;
  }
  if (!nd4c_candidate_has_devices(candidate)) {
    return nd4c_fail(ND4C_NO_BACKEND, "%s brings no devices: it contributes to those of others", candidate->name);
  }
  status = probe_backend(candidate);
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
  nd4c_memory_tell_idle_caps(candidate->name, candidate->devices, candidate->device_count);
  return ND4C_OK;
}
