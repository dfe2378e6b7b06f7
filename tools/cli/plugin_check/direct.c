/* Implements direct.h: opens a plug-in without the library's registry, with a host table that counts and refuses.
 * buffers.c, order.c, kernels.c, reload.c and copies.c drive devices through it. */
#include "direct.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 2, CHUNK = 1 << 20, LINKS = 64 };

/* -- the host table ------------------------------------------------------------------------------------------------ */

static const nd4c_host *real;
static _Atomic int32_t countdown;
static _Atomic bool refused;
static _Atomic int64_t live;

void plugin_direct_refuse(int32_t place) {
  atomic_store(&refused, false);
  atomic_store(&countdown, place);
}

bool plugin_direct_refused(void) {
  atomic_store(&countdown, 0);
  return atomic_load(&refused);
}

int64_t plugin_direct_live(void) {
  return atomic_load(&live);
}

static bool refuses(void) {
  int32_t left = atomic_load(&countdown);
  while (left > 0 && !atomic_compare_exchange_weak(&countdown, &left, left - 1)) {
  }
  if (left == 1) {
    atomic_store(&refused, true);
  }
  return left == 1;
}

static void *count(void *memory) {
  atomic_fetch_add(&live, memory != NULL);
  return memory;
}
static void *host_allocate(size_t bytes) {
  return refuses() ? NULL : count(real->allocate(bytes));
}
static void *host_pages(size_t bytes) {
  return refuses() ? NULL : count(real->allocate_pages(bytes));
}
static void *host_buffer(size_t bytes) {
  return refuses() ? NULL : count(real->allocate_buffer(bytes));
}
static void host_free(void *memory) {
  atomic_fetch_sub(&live, memory != NULL);
  real->free(memory);
}
static void host_free_pages(void *memory, size_t bytes) {
  atomic_fetch_sub(&live, memory != NULL);
  real->free_pages(memory, bytes);
}
static void host_free_buffer(void *memory, size_t bytes) {
  atomic_fetch_sub(&live, memory != NULL);
  real->free_buffer(memory, bytes);
}

/* Properties that the plug-in declares: nd4c, which has not loaded it, does not know them. */
static const nd4c_provider *provider_of_table;

static const char *value_of(const char *property) {
  const nd4c_provider *p = provider_of_table;
  const bool declares = p != NULL && ND4C_HAS_FIELD(p, properties) && p->properties != NULL;
  for (int32_t i = 0; declares && i < p->property_count; i++) {
    if (strcmp(p->properties[i]->name, property) == 0) {
      const char *set = getenv(p->properties[i]->environment);
      return set != NULL ? set : p->properties[i]->default_value;
    }
  }
  return NULL;
}

static bool host_config(const char *property, char *text, size_t size) {
  const char *value = value_of(property);
  if (value != NULL) {
    (void)snprintf(text, size, "%s", value);
  }
  return value != NULL || real->config(property, text, size);
}

static bool host_config_number(const char *property, int64_t *number) {
  const char *value = value_of(property), *unit = NULL;
  static const char units[] = "kmgt";
  char *end = NULL;
  if (value == NULL) {
    return real->config_number(property, number);
  }
  *number = strcmp(value, "true") == 0 || strcmp(value, "yes") == 0 || strcmp(value, "on") == 0
                ? 1
                : strtoll(value, &end, 10);
  if (end != NULL && *end != '\0' && (unit = strchr(units, *end | 0x20)) != NULL) {
    *number *= INT64_C(1) << (10 * (unit - units + 1));
  }
  return true;
}

static const nd4c_provider *load(plugin_check *check) {
  static nd4c_host table;
  real = nd4c_plugin_get_host();
  table = *real;
  table.allocate = host_allocate;
  table.allocate_pages = host_pages;
  table.allocate_buffer = host_buffer;
  table.free = host_free;
  table.free_pages = host_free_pages;
  table.free_buffer = host_free_buffer;
  table.device_memory = plugin_direct_memory();
  table.config = host_config;
  table.config_number = host_config_number;
  if (plugin_check_status(check, nd4c_plugin_set_host(&table), "a host table that counts memory")) {
    provider_of_table = plugin_load_provider(check);
  }
  return provider_of_table;
}

const nd4c_provider *plugin_direct_provider(void) {
  return provider_of_table;
}

/* -- statuses ------------------------------------------------------------------------------------------------------ */

bool plugin_direct_may_fail(plugin_direct *d, nd4c_status status, const char *what) {
  if (status != ND4C_OK) {
    (void)plugin_check_that(d->check, nd4c_error_message()[0] != '\0', "%s: %s failed with %s (%d) and without a text",
                            d->name, what, nd4c_status_name(status), (int)status);
  }
  nd4c_error_clear();
  return status == ND4C_OK;
}

bool plugin_direct_status(plugin_direct *d, nd4c_status status, const char *what) {
  (void)plugin_check_that(d->check, status == ND4C_OK, "%s: %s: %s: %s", d->name, what, nd4c_status_name(status),
                          nd4c_error_message());
  return plugin_direct_may_fail(d, status, what);
}

/* -- devices ------------------------------------------------------------------------------------------------------- */

static void copy_table(void *to, size_t size, const void *from, uint32_t from_size) {
  memset(to, 0, size);
  memcpy(to, from, from_size < size ? from_size : size);
}

static bool open_device(plugin_check *check, const nd4c_provider *provider, int32_t index, plugin_direct *d) {
  const nd4c_device_ops *given = provider->backend->device;
  *d = (plugin_direct){.check = check, .ops = &d->table, .about = {.struct_size = sizeof d->about}};
  copy_table(&d->table, sizeof d->table, given, given->struct_size);
  copy_table(&d->buffers, sizeof d->buffers, given->buffers, given->buffers->struct_size);
  d->table.buffers = &d->buffers;
  (void)snprintf(d->name, sizeof d->name, "%.60s:%d", provider->name, (int)index);
  plugin_check_at("opening %s", d->name);
  nd4c_error_clear();
  return plugin_direct_status(d, d->ops->device_open(index, &d->device), "device_open") &&
         plugin_check_that(check, d->device != NULL, "%s: device_open gave NULL", d->name) &&
         plugin_direct_status(d, d->ops->describe(d->device, &d->about), "describe");
}

static bool open_provider(plugin_check *check, const nd4c_provider *provider) {
  char reason[256] = "";
  const nd4c_verdict verdict =
      provider->probe != NULL ? provider->probe(true, reason, sizeof reason) : ND4C_VERDICT_FOUND;
  if (verdict == ND4C_VERDICT_ABSENT || verdict == ND4C_VERDICT_COMPILE_ONLY) {
    plugin_check_skip("its devices are not here: %s", reason);
    return false;
  }
  return plugin_check_status(check, provider->open != NULL ? provider->open() : ND4C_OK, "open");
}

void plugin_direct_each(plugin_check *check, void (*function)(plugin_direct *d, plugin_direct *other)) {
  static plugin_direct devices[DEVICES];
  const nd4c_provider *provider = load(check);
  if (provider == NULL) {
    return;
  }
  if (provider->backend == NULL) {
    plugin_check_skip("it brings no devices of its own");
    return;
  }
  if (!open_provider(check, provider)) {
    return;
  }
  const int32_t there = provider->backend->device_count();
  int32_t opened = 0;
  while (opened < DEVICES && opened < there && open_device(check, provider, opened, &devices[opened])) {
    opened++;
  }
  for (int32_t i = 0; i < opened; i++) {
    plugin_direct_held_for(&devices[i]);
    function(&devices[i], opened > 1 ? &devices[1 - i] : NULL);
  }
}

/* -- pieces of work ------------------------------------------------------------------------------------------------ */

nd4c_status plugin_direct_buffer(plugin_direct *d, int64_t bytes, nd4c_buffer *buffer) {
  const nd4c_buffer_descriptor wanted = {.struct_size = sizeof wanted,
                                         .kind = ND4C_MEMORY_KIND_DEVICE,
                                         .usage = ND4C_BUFFER_ARENA,
                                         .bytes = bytes,
                                         .alignment = d->about.alignment > 0 ? d->about.alignment : 64,
                                         .layout = ND4C_LAYOUT_STRIDED};
  *buffer = NULL;
  return d->ops->buffers->allocate(d->device, &wanted, buffer);
}

bool plugin_direct_stream(plugin_direct *d, nd4c_stream *stream) {
  *stream = NULL;
  return !d->about.asynchronous ||
         (plugin_direct_status(d, d->ops->stream_create(d->device, stream), "stream_create") &&
          plugin_check_that(d->check, *stream != NULL, "%s: stream_create gave NULL", d->name));
}

bool plugin_direct_wait(plugin_direct *d, nd4c_stream stream, const char *what) {
  nd4c_failed_range failed = {0, 0};
  nd4c_fence fence = NULL;
  if (!d->about.asynchronous) {
    return true;
  }
  if (!plugin_direct_status(d, d->ops->fence_record(d->device, stream, &fence), "fence_record")) {
    return false;
  }
  const bool good = plugin_direct_status(d, d->ops->fence_wait(d->device, fence, &failed), what);
  d->ops->fence_destroy(d->device, fence);
  return good;
}

bool plugin_chain_enqueue(plugin_direct *d, nd4c_stream stream, plugin_chain *chain) {
  static unsigned char round;
  *chain = (plugin_chain){.got = calloc(1, CHUNK), .sent = {malloc(CHUNK), malloc(CHUNK)}};
  if (!plugin_check_that(d->check, chain->got != NULL && chain->sent[0] != NULL && chain->sent[1] != NULL,
                         "no memory") ||
      !plugin_direct_status(d, plugin_direct_buffer(d, CHUNK, &chain->buffer), "allocate")) {
    return false;
  }
  round = (unsigned char)(round % 100 + 1);
  memset(chain->sent[0], 200, CHUNK);
  memset(chain->sent[1], round, CHUNK);
  bool good = true;
  for (int32_t i = 0; i < LINKS && good; i++) {
    good = plugin_direct_status(
        d, d->ops->copy_from_host(d->device, stream, chain->buffer, 0, chain->sent[i == LINKS - 1], CHUNK),
        "copy_from_host");
  }
  return good && plugin_direct_status(d, d->ops->copy_to_host(d->device, stream, chain->got, chain->buffer, 0, CHUNK),
                                      "copy_to_host");
}

bool plugin_chain_ended(const plugin_chain *chain) {
  const volatile unsigned char *got = chain->got;
  return got[CHUNK - 1] == chain->sent[1][0] && got[0] == chain->sent[1][0];
}
