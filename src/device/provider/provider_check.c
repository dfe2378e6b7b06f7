/* Implements provider_check.h for the tables of a provider and the descriptions of its devices.
 * device/registry/candidate.c calls it before it calls any function of the provider. */
#include "device/provider/provider_check.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"

/* -- words --------------------------------------------------------------------------------------------------------- */

/* Names go into "name:index", comma-separated lists and JSON. */
static bool is_name(const char *name) {
  if (name == NULL || name[0] == '\0') {
    return false;
  }
  for (const char *at = name; *at != '\0'; at++) {
    if (at - name == ND4C_PLUGIN_NAME_SIZE - 1) {
      return false;
    }
    const bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
    if (!letter && !(*at >= '0' && *at <= '9') && strchr("_-.", *at) == NULL) {
      return false;
    }
  }
  return true;
}

enum { LONGEST = 500 };

static void clean_words(const char *words, char clean[LONGEST + 1]) {
  size_t used = 0;
  for (const char *at = words; *at != '\0';) {
    const size_t bytes = nd4c_text_character(at), taken = bytes == 0 ? 1 : bytes;
    if (used + taken > LONGEST) {
      break;
    }
    memcpy(clean + used, bytes == 0 ? "?" : at, taken);
    used += taken;
    at += taken;
  }
  clean[used] = '\0';
}

const char *nd4c_provider_words(const char *words) {
  char clean[LONGEST + 1];
  if (words == NULL) {
    return NULL;
  }
  clean_words(words, clean);
  return nd4c_text_intern(clean);
}

bool nd4c_provider_is_line(const char *text) {
  char clean[LONGEST + 1];
  clean_words(text, clean);
  return strcmp(clean, text) == 0;
}

nd4c_status nd4c_provider_failed(nd4c_status status, const char *what) {
  const bool known = strcmp(nd4c_status_name(status), "?") != 0;
  const bool worded = nd4c_error_answer() == status && nd4c_error_message()[0] != '\0';
  nd4c_error_clean(); /* nd4c's texts may contain names from the plug-in */
  if (known && worded) {
    return status;
  }
  return known ? nd4c_fail(status, "%s failed without a text: %s", what, nd4c_status_text(status))
               : nd4c_fail(ND4C_INTERNAL, "%s returned %d, which is not a status of nd4c%s%s", what, (int)status,
                           worded ? ": " : "", worded ? nd4c_error_message() : "");
}

/* -- tables -------------------------------------------------------------------------------------------------------- */

void nd4c_provider_copy(void *to, size_t to_size, const void *from, uint32_t from_size) {
  memset(to, 0, to_size);
  memcpy(to, from, from_size < to_size ? from_size : to_size);
}

static nd4c_status check_count(const char *from, const char *what, int32_t count, const void *table) {
  if (count < 0 || count > ND4C_PLUGIN_TABLE_LIMIT) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: %s is %d, expected 0 to %d", from, what, count, ND4C_PLUGIN_TABLE_LIMIT);
  }
  return count == 0 || table != NULL
             ? ND4C_OK
             : nd4c_fail(ND4C_ABI, "plug-in %s: %s is %d, but the table is NULL", from, what, count);
}

nd4c_status nd4c_provider_fail_short(const char *from, const char *what, uint32_t struct_size, const char *type) {
  return nd4c_fail(ND4C_ABI, "plug-in %s: struct_size of %s is %u, which is too short: set it to ND4C_SIZE_OF(%s)",
                   from, what, struct_size, type);
}

static nd4c_status check_capture(const char *from, const nd4c_capture_ops *ops) {
  if (!ND4C_HAS_FIELD(ops, launchable_destroy)) {
    return nd4c_provider_fail_short(from, "capture", ops->struct_size, "nd4c_capture_ops");
  }
  if (ops->begin == NULL || ops->end == NULL || ops->abandon == NULL || ops->instantiate == NULL ||
      ops->launch == NULL || ops->recording_destroy == NULL || ops->launchable_destroy == NULL) {
    return nd4c_fail(
        ND4C_ABI, "plug-in %s: of capture, all functions but update and host_callback are required where it is given",
        from);
  }
  return ND4C_OK;
}

static nd4c_status check_collective(const char *from, const nd4c_collective_ops *ops) {
  if (!ND4C_HAS_FIELD(ops, receive)) {
    return nd4c_provider_fail_short(from, "collective", ops->struct_size, "nd4c_collective_ops");
  }
  if (ops->make_id == NULL || ops->join == NULL || ops->leave == NULL || ops->all_reduce == NULL ||
      ops->all_gather == NULL || ops->reduce_scatter == NULL || ops->broadcast == NULL || ops->send == NULL ||
      ops->receive == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: of collective, all functions but abort are required where it is given",
                     from);
  }
  return ND4C_OK;
}

static nd4c_status check_external(const char *from, const nd4c_external_ops *ops) {
  if (!ND4C_HAS_FIELD(ops, host_unregister)) {
    return nd4c_provider_fail_short(from, "external", ops->struct_size, "nd4c_external_ops");
  }
  return (ops->host_register == NULL) == (ops->host_unregister == NULL)
             ? ND4C_OK
             : nd4c_fail(ND4C_ABI, "plug-in %s: of external, host_register and host_unregister come together", from);
}

static nd4c_status check_timing(const char *from, const nd4c_timing_ops *ops) {
  if (!ND4C_HAS_FIELD(ops, destroy)) {
    return nd4c_provider_fail_short(from, "timing", ops->struct_size, "nd4c_timing_ops");
  }
  return ops->begin != NULL && ops->end != NULL && ops->read != NULL && ops->destroy != NULL
             ? ND4C_OK
             : nd4c_fail(ND4C_ABI, "plug-in %s: of timing, all functions are required where it is given", from);
}

static nd4c_status check_device(const char *from, const nd4c_device_ops *ops) {
  if (!ND4C_HAS_FIELD(ops, copy_within)) {
    return nd4c_provider_fail_short(from, "its device", ops->struct_size, "nd4c_device_ops");
  }
  if (ops->device_open == NULL || ops->describe == NULL || ops->buffers == NULL || ops->copy_from_host == NULL ||
      ops->copy_to_host == NULL) {
    return nd4c_fail(ND4C_ABI,
                     "plug-in %s: device_open, describe, buffers, copy_from_host and copy_to_host are required", from);
  }
  if (!ND4C_HAS_FIELD(ops->buffers, free)) {
    return nd4c_provider_fail_short(from, "its buffers", ops->buffers->struct_size, "nd4c_buffer_ops");
  }
  if (ops->buffers->allocate == NULL || ops->buffers->free == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: allocate and free of its buffers are required", from);
  }
  if (ND4C_HAS_FIELD(ops, external) && ops->external != NULL) {
    ND4C_TRY(check_external(from, ops->external));
  }
  if (ND4C_HAS_FIELD(ops, timing) && ops->timing != NULL) {
    ND4C_TRY(check_timing(from, ops->timing));
  }
  return ND4C_HAS_FIELD(ops, capture) && ops->capture != NULL ? check_capture(from, ops->capture) : ND4C_OK;
}

static nd4c_status check_backend(const char *from, const nd4c_backend *backend) {
  if (!ND4C_HAS_FIELD(backend, device)) {
    return nd4c_provider_fail_short(from, "its backend", backend->struct_size, "nd4c_backend");
  }
  if (backend->device_count == NULL || backend->device == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: its backend lacks device_count or device", from);
  }
  if (strcmp(nd4c_device_type_name(backend->type), "?") == 0) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: its backend has device type %d, which nd4c does not know", from,
                     (int)backend->type);
  }
  if (ND4C_HAS_FIELD(backend, collective) && backend->collective != NULL) {
    ND4C_TRY(check_collective(from, backend->collective));
  }
  return check_device(from, backend->device);
}

static nd4c_status check_engine(const char *from, const nd4c_engine *engine, int32_t index) {
  if (engine != NULL && !ND4C_HAS_FIELD(engine, state)) {
    char what[32];
    (void)snprintf(what, sizeof what, "engine %d", (int)index);
    return nd4c_provider_fail_short(from, what, engine->struct_size, "nd4c_engine");
  }
  return engine != NULL && is_name(engine->name)
             ? ND4C_OK
             : nd4c_fail(ND4C_ABI, "plug-in %s: engine %d has no name of 1 to %d letters, digits, '_', '-' and '.'",
                         from, (int)index, ND4C_PLUGIN_NAME_SIZE - 1);
}

static nd4c_status check_contribution(const char *from, const nd4c_contribution *contribution, bool has_backend) {
  if (contribution == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: a contribution is NULL", from);
  }
  if (!ND4C_HAS_FIELD(contribution, compilers)) {
    return nd4c_provider_fail_short(from, "a contribution", contribution->struct_size, "nd4c_contribution");
  }
  if (contribution->backend != NULL ? !is_name(contribution->backend) : !has_backend) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: a contribution names %s", from,
                     contribution->backend != NULL ? "a backend in other than letters, digits, '_', '-' and '.'"
                                                   : "no backend, and the plug-in brings none");
  }
  ND4C_TRY(check_count(from, "engine_count", contribution->engine_count, contribution->engines));
  ND4C_TRY(check_count(from, "family_count", contribution->family_count, contribution->families));
  ND4C_TRY(check_count(from, "compiler_count", contribution->compiler_count, contribution->compilers));
  for (int32_t i = 0; i < contribution->engine_count; i++) {
    ND4C_TRY(check_engine(from, contribution->engines[i], i));
  }
  for (int32_t i = 0; i < contribution->family_count; i++) {
    if (contribution->families[i] == NULL) {
      return nd4c_fail(ND4C_ABI, "plug-in %s: kernel family %d is NULL", from, i);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_provider_check(const char *from, const nd4c_provider *provider) {
  if (provider == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s gave no provider", from);
  }
  if (!ND4C_HAS_FIELD(provider, abi_minor) || provider->abi_major != ND4C_PLUGIN_ABI_MAJOR) {
    const bool told = ND4C_HAS_FIELD(provider, abi_minor);
    return nd4c_fail(ND4C_ABI,
                     "plug-in %s was built for plug-in ABI %d.%d; this library accepts ABI %d: build the plug-in with "
                     "this library's nd4c/plugin.h",
                     from, told ? provider->abi_major : 0, told ? provider->abi_minor : 0, ND4C_PLUGIN_ABI_MAJOR);
  }
  if (!ND4C_HAS_FIELD(provider, contributions)) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: struct nd4c_provider has %u bytes, version %d.%d has at least %zu", from,
                     provider->struct_size, provider->abi_major, provider->abi_minor,
                     offsetof(nd4c_provider, contributions) + sizeof(void *));
  }
  if (!is_name(provider->name)) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: a name of 1 to %d letters, digits, '_', '-' and '.' is required", from,
                     ND4C_PLUGIN_NAME_SIZE - 1);
  }
  ND4C_TRY(check_count(from, "contribution_count", provider->contribution_count, provider->contributions));
  const bool has_ops = ND4C_HAS_FIELD(provider, ops) && provider->op_count != 0;
  if (has_ops) {
    ND4C_TRY(check_count(from, "op_count", provider->op_count, provider->ops));
    ND4C_TRY(nd4c_provider_check_ops(from, provider->ops, provider->op_count));
  }
  if (ND4C_HAS_FIELD(provider, properties)) {
    ND4C_TRY(nd4c_provider_check_properties(from, provider->name, provider->properties, provider->property_count));
  }
  if (provider->backend == NULL && provider->contribution_count == 0 && !has_ops) {
    return nd4c_fail(ND4C_ABI, "plug-in %s brings neither a backend nor a contribution nor an op", from);
  }
  if (provider->backend != NULL) {
    ND4C_TRY(check_backend(from, provider->backend));
  }
  for (int32_t i = 0; i < provider->contribution_count; i++) {
    ND4C_TRY(check_contribution(from, provider->contributions[i], provider->backend != NULL));
  }
  return ND4C_OK;
}

/* -- devices ------------------------------------------------------------------------------------------------------- */

static nd4c_status check_numbers(const nd4c_device_description *description) {
  const struct {
    const char *name;
    int64_t value;
  } numbers[] = {{"memory_bytes", description->memory_bytes},
                 {"width", description->width},
                 {"alignment", description->alignment},
                 {"largest_bytes", description->largest_bytes}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (numbers[i].value < 0) {
      return nd4c_fail(ND4C_ABI, "describe gave %s %lld, expected 0 or more", numbers[i].name,
                       (long long)numbers[i].value);
    }
  }
  if ((description->alignment & (description->alignment - 1)) != 0 ||
      description->alignment > ND4C_PLUGIN_ALIGNMENT_LIMIT) {
    return nd4c_fail(ND4C_ABI, "describe gave alignment %lld, expected a power of two of at most %d",
                     (long long)description->alignment, ND4C_PLUGIN_ALIGNMENT_LIMIT);
  }
  return ND4C_OK;
}

/* Domain of 4 to 8 digits, bus and device of 2, function of 1. */
static bool is_pci_address(const char *text) {
  static const char digits[] = "0123456789abcdefABCDEF";
  const size_t domain = strspn(text, digits);
  const char *rest = text + domain;
  return domain >= 4 && domain <= 8 && rest[0] == ':' && strspn(rest + 1, digits) == 2 && rest[3] == ':' &&
         strspn(rest + 4, digits) == 2 && rest[6] == '.' && rest[7] >= '0' && rest[7] <= '7' && rest[8] == '\0';
}

/* Imports and exports must be known kinds, with the functions for them; nd4c itself exports addresses. */
static nd4c_status check_exchange(const nd4c_candidate *candidate, const nd4c_device_description *description) {
  const uint32_t named = ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DESCRIPTOR) | ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_NATIVE);
  const uint32_t pointers =
      ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_HOST_POINTER) | ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DEVICE_POINTER);
  const nd4c_external_ops *external = candidate->ops.external;
  if ((description->imports & ~(named | pointers)) != 0 || (description->exports & ~named) != 0) {
    return nd4c_fail(ND4C_ABI, "describe gave imports 0x%x and exports 0x%x, expected sets within 0x%x and 0x%x",
                     (unsigned)description->imports, (unsigned)description->exports, (unsigned)(named | pointers),
                     (unsigned)named);
  }
  if ((description->imports != 0 && (external == NULL || external->import_memory == NULL)) ||
      (description->exports != 0 && (external == NULL || external->export_memory == NULL))) {
    return nd4c_fail(ND4C_ABI, "describe gave imports or exports without the function for them");
  }
  if ((description->imports & ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DEVICE_POINTER)) != 0 && !description->addressable) {
    return nd4c_fail(ND4C_ABI, "describe gave imports of device pointers without addressable");
  }
  return ND4C_OK;
}

nd4c_status nd4c_provider_check_description(const nd4c_candidate *candidate,
                                            const nd4c_device_description *description) {
  const nd4c_device_ops *ops = &candidate->ops;
  ND4C_TRY(check_numbers(description));
  if (description->pci != NULL && !is_pci_address(description->pci)) {
    return nd4c_fail(ND4C_ABI, "describe gave PCI address \"%.40s\", expected one such as 0000:65:00.0",
                     nd4c_provider_words(description->pci));
  }
  if (description->type != candidate->type) {
    return nd4c_fail(ND4C_ABI, "describe gave device type %d, the backend's is %s", (int)description->type,
                     nd4c_device_type_name(candidate->type));
  }
  if (description->asynchronous &&
      (ops->stream_create == NULL || ops->stream_destroy == NULL || ops->stream_wait_fence == NULL ||
       ops->fence_record == NULL || ops->fence_query == NULL || ops->fence_wait == NULL ||
       ops->fence_destroy == NULL)) {
    return nd4c_fail(ND4C_ABI, "an asynchronous device needs all stream and fence functions");
  }
  if (description->memory_kinds >> ND4C_MEMORY_KINDS != 0) {
    return nd4c_fail(ND4C_ABI, "describe gave memory_kinds 0x%x, expected a set within 0x%x",
                     (unsigned)description->memory_kinds, (unsigned)ND4C_MEMORY_KIND_BIT(ND4C_MEMORY_KINDS) - 1);
  }
  if ((description->addressable || description->memory_kinds != 0) && ops->buffers->address == NULL) {
    return nd4c_fail(ND4C_ABI, "a device that is addressable or has memory kinds needs its buffers' address");
  }
  if (description->least_priority > 0 || description->greatest_priority < 0) {
    return nd4c_fail(ND4C_ABI, "describe gave priorities from %d to %d, expected 0 within", description->least_priority,
                     description->greatest_priority);
  }
  if (description->least_priority != description->greatest_priority &&
      (!description->asynchronous || ops->stream_create_with == NULL)) {
    return nd4c_fail(ND4C_ABI, "describe gave priorities, which need an asynchronous device and stream_create_with");
  }
  if (description->host_readable && !description->addressable) {
    return nd4c_fail(ND4C_ABI, "describe gave host_readable without addressable");
  }
  if (description->whole_buffers && description->host_readable) {
    return nd4c_fail(ND4C_ABI, "describe gave whole_buffers with host_readable");
  }
  return check_exchange(candidate, description);
}

void nd4c_provider_clean_description(nd4c_device_description *description) {
  description->description = nd4c_provider_words(description->description);
  description->vendor = nd4c_provider_words(description->vendor);
  description->driver = nd4c_provider_words(description->driver);
  description->pci = nd4c_provider_words(description->pci);
  description->capability = nd4c_provider_words(description->capability);
}
