/* Buffers of other kinds than the device's own memory, which the host reaches by their address. buffers.c calls it for
 * section `buffers`. */
#include <inttypes.h>
#include <string.h>

#include "direct.h"

enum { BYTES = 4099, BY_HOST = 41, BY_DEVICE = 42 };

static const char *const kind_names[ND4C_MEMORY_KINDS] = {"device", "host-pinned", "managed", "host-mapped"};

static nd4c_status allocate(plugin_direct *d, int32_t kind, nd4c_buffer *buffer) {
  const nd4c_buffer_descriptor descriptor = {.struct_size = ND4C_SIZE_OF(nd4c_buffer_descriptor),
                                             .kind = (nd4c_memory_kind)kind,
                                             .usage = ND4C_BUFFER_STAGING,
                                             .bytes = BYTES,
                                             .alignment = d->about.alignment > 0 ? d->about.alignment : 64,
                                             .layout = ND4C_LAYOUT_STRIDED};
  *buffer = NULL;
  nd4c_error_clear();
  return d->ops->buffers->allocate(d->device, &descriptor, buffer);
}

/* Whether every byte is `wanted`. */
static void check_bytes(plugin_direct *d, int32_t kind, const unsigned char *bytes, unsigned char wanted,
                        const char *what) {
  int32_t at = 0;
  while (at < BYTES && bytes[at] == wanted) {
    at++;
  }
  (void)plugin_check_that(d->check, at == BYTES, "%s: %s memory: %s: byte %d is %d, expected %d", d->name,
                          kind_names[kind], what, (int)at, at < BYTES ? bytes[at] : 0, wanted);
}

/* What the host writes goes to the device and comes back: host-pinned memory is the host's side of a copy, that of the
 * other kinds is the device's as well, by its handle. */
static void check_contents(plugin_direct *d, nd4c_stream stream, int32_t kind, nd4c_buffer buffer,
                           unsigned char *bytes) {
  static unsigned char got[BYTES], sent[BYTES]; /* as long as the process: a device may write there late */
  const bool pinned = kind == ND4C_MEMORY_KIND_HOST_PINNED;
  const nd4c_device_ops *ops = d->ops;
  nd4c_buffer plain = NULL;
  if (pinned && !plugin_direct_status(d, plugin_direct_buffer(d, BYTES, &plain), "allocate")) {
    return;
  }
  const nd4c_buffer on_device = pinned ? plain : buffer;
  unsigned char *host_out = pinned ? bytes : sent, *host_in = pinned ? bytes : got;
  memset(bytes, BY_HOST, BYTES);
  memset(sent, BY_DEVICE, BYTES);
  bool good = !pinned || (plugin_direct_status(d, ops->copy_from_host(d->device, stream, plain, 0, host_out, BYTES),
                                               "copy_from_host") &&
                          plugin_direct_wait(d, stream, "copy_from_host"));
  if (pinned) {
    memset(bytes, 0, BYTES);
  }
  good = good &&
         plugin_direct_status(d, ops->copy_to_host(d->device, stream, host_in, on_device, 0, BYTES), "copy_to_host") &&
         plugin_direct_wait(d, stream, "copy_to_host");
  if (good) {
    check_bytes(d, kind, host_in, BY_HOST, "what the host wrote at its address");
  }
  if (good && !pinned &&
      plugin_direct_status(d, ops->copy_from_host(d->device, stream, buffer, 0, sent, BYTES), "copy_from_host") &&
      plugin_direct_wait(d, stream, "copy_from_host")) {
    check_bytes(d, kind, bytes, BY_DEVICE, "what a copy wrote, at its address");
  }
  if (plain != NULL) {
    ops->buffers->free(d->device, plain);
  }
}

static void check_kind(plugin_direct *d, nd4c_stream stream, int32_t kind) {
  nd4c_buffer buffer = NULL;
  plugin_check_at("%s memory of %s", kind_names[kind], d->name);
  if (!plugin_direct_status(d, allocate(d, kind, &buffer), "allocate") ||
      !plugin_check_that(d->check, buffer != NULL, "%s: allocate gave NULL and OK", d->name)) {
    return;
  }
  unsigned char *bytes = d->ops->buffers->address(d->device, buffer);
  if (plugin_check_that(d->check, bytes != NULL, "%s: %s memory has no address", d->name, kind_names[kind])) {
    check_contents(d, stream, kind, buffer, bytes);
  }
  d->ops->buffers->free(d->device, buffer);
}

void plugin_direct_kinds(plugin_direct *d, nd4c_stream stream) {
  for (int32_t kind = ND4C_MEMORY_KIND_HOST_PINNED; kind < ND4C_MEMORY_KINDS; kind++) {
    if ((d->about.memory_kinds & ND4C_MEMORY_KIND_BIT(kind)) != 0) {
      check_kind(d, stream, kind);
    }
  }
}
