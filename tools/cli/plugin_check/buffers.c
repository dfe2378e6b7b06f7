/* Sections `buffers` and `refused`: buffers of a device by its table; and each function of the device while the host
 * refuses it memory. The section table of plugin_check.c lists these. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"

enum { BUFFERS = 8, BYTES = 4099, CYCLES = 128, PLACES = 400 };
static const int64_t cycle_bytes = 1 << 20, most_bytes = INT64_C(1) << 40;

static bool write_bytes(plugin_direct *d, nd4c_stream s, nd4c_buffer b, const void *from, int64_t bytes) {
  return plugin_direct_status(d, d->ops->copy_from_host(d->device, s, b, 0, from, bytes), "copy_from_host");
}

static bool read_bytes(plugin_direct *d, nd4c_stream s, nd4c_buffer b, void *to, int64_t bytes) {
  return plugin_direct_status(d, d->ops->copy_to_host(d->device, s, to, b, 0, bytes), "copy_to_host");
}

/* -- handles ------------------------------------------------------------------------------------------------------- */

static bool check_handles(plugin_direct *d, nd4c_buffer *buffers) {
  bool right = true;
  for (int32_t i = 0; i < BUFFERS && right; i++) {
    right = plugin_direct_status(d, plugin_direct_buffer(d, BYTES, &buffers[i]), "allocate") &&
            plugin_check_that(d->check, buffers[i] != NULL, "%s: allocate gave NULL and OK", d->name);
    for (int32_t k = 0; k < i && right; k++) {
      right = plugin_check_that(d->check, buffers[k] != buffers[i],
                                "%s: allocate gave the handle %p for two buffers that live at once", d->name,
                                (void *)buffers[i]);
    }
  }
  return right;
}

static void check_addresses(plugin_direct *d, const nd4c_buffer *buffers) {
  const int64_t alignment = d->about.alignment > 0 ? d->about.alignment : 64;
  uintptr_t at[BUFFERS];
  plugin_check_at("address of what allocate gave on %s", d->name);
  for (int32_t i = 0; i < BUFFERS; i++) {
    at[i] = (uintptr_t)d->ops->buffers->address(d->device, buffers[i]);
    (void)plugin_check_that(d->check, at[i] != 0 && at[i] % (uintptr_t)alignment == 0,
                            "%s: a buffer's address is %#" PRIxPTR ", which is not aligned to %" PRId64, d->name, at[i],
                            alignment);
    for (int32_t k = 0; k < i; k++) {
      const uintptr_t apart = at[i] > at[k] ? at[i] - at[k] : at[k] - at[i];
      (void)plugin_check_that(d->check, apart >= BYTES, "%s: two buffers overlap", d->name);
    }
  }
}

/* Each buffer keeps its own bytes. */
static void check_bytes(plugin_direct *d, nd4c_stream stream, const nd4c_buffer *buffers) {
  static unsigned char sent[BUFFERS][BYTES], got[BUFFERS][BYTES];
  bool good = true;
  plugin_check_at("copies to and from what allocate gave on %s: is it a buffer?", d->name);
  for (int32_t i = 0; i < BUFFERS && good; i++) {
    memset(sent[i], 17 * i + 3, BYTES);
    good = write_bytes(d, stream, buffers[i], sent[i], BYTES);
  }
  for (int32_t i = 0; i < BUFFERS && good; i++) {
    good = read_bytes(d, stream, buffers[i], got[i], BYTES);
  }
  if (good && plugin_direct_wait(d, stream, "copies")) {
    (void)plugin_check_that(d->check, memcmp(sent, got, sizeof got) == 0,
                            "%s: bytes of buffers that live at once are not what was written", d->name);
  }
}

/* -- free ---------------------------------------------------------------------------------------------------------- */

static int64_t available(plugin_direct *d) {
  int64_t bytes = -1;
  const bool told = d->ops->memory_available != NULL && d->ops->memory_available(d->device, &bytes) == ND4C_OK;
  nd4c_error_clear();
  return told ? bytes : -1;
}

/* By free, or, where there is a stream and the device has it, by free_on. */
static bool cycle(plugin_direct *d, nd4c_stream stream, int64_t bytes, bool on_stream) {
  static const unsigned char byte[1] = {9};
  nd4c_buffer buffer = NULL;
  if (!plugin_direct_may_fail(d, plugin_direct_buffer(d, bytes, &buffer), "allocate") ||
      !write_bytes(d, stream, buffer, byte, 1)) {
    return false;
  }
  if (on_stream) {
    d->ops->buffers->free_on(d->device, buffer, stream);
    return true;
  }
  const bool good = plugin_direct_wait(d, stream, "a copy");
  d->ops->buffers->free(d->device, buffer);
  return good;
}

/* Neither what the device has free nor what the plug-in has of the host's moves with the number of buffers. */
static void check_growth(plugin_direct *d, nd4c_stream stream, bool on_stream) {
  const char *how = on_stream ? "free_on" : "free";
  plugin_check_at("%s on %s", how, d->name);
  bool good = cycle(d, stream, cycle_bytes, on_stream) && plugin_direct_wait(d, stream, "a copy");
  const int64_t free_before = available(d), live_before = plugin_direct_live();
  for (int32_t i = 0; i < CYCLES && good; i++) {
    good = cycle(d, stream, cycle_bytes, on_stream);
  }
  good = good && plugin_direct_wait(d, stream, "copies");
  (void)plugin_check_that(d->check, good, "%s: after some buffers of %" PRId64 " bytes that %s ended there is no other",
                          d->name, cycle_bytes, how);
  const int64_t lost = free_before - available(d), kept = plugin_direct_live() - live_before;
  (void)plugin_check_that(d->check, free_before < 0 || lost < CYCLES / 2 * cycle_bytes,
                          "%s: %s frees nothing: %d buffers of %" PRId64 " bytes ended, and %" PRId64
                          " bytes less are free",
                          d->name, how, CYCLES, cycle_bytes, lost);
  (void)plugin_check_that(d->check, kept < CYCLES / 2,
                          "%s: %s frees nothing: %d buffers ended, and the plug-in has %" PRId64
                          " blocks more of the host's",
                          d->name, how, CYCLES, kept);
}

/* Together more than the device has. */
static void check_whole(plugin_direct *d, nd4c_stream stream) {
  const int64_t now = available(d), memory = d->about.memory_bytes;
  int64_t piece = memory / 4;
  piece = now >= 0 && now / 2 < piece ? now / 2 : piece;
  piece = d->about.largest_bytes > 0 && d->about.largest_bytes < piece ? d->about.largest_bytes : piece;
  if (memory <= 0 || memory > most_bytes || piece < 1) {
    plugin_check_note(
        "%s does not tell how much memory it has: whether free frees is seen by what the plug-in takes of "
        "the host's",
        d->name);
    return;
  }
  plugin_check_at("buffers of %" PRId64 " bytes, one after the other, on %s", piece, d->name);
  while (piece > 1 && !cycle(d, stream, piece, false)) { /* others may use the device */
    piece /= 2;
  }
  const int64_t times = memory / piece + 2;
  int64_t done = 0;
  while (done < times && done < CYCLES && cycle(d, stream, piece, false)) {
    done++;
  }
  (void)plugin_check_that(d->check, done == times || done == CYCLES,
                          "%s: free frees nothing: after %" PRId64 " buffers of %" PRId64
                          " bytes, each ended before the "
                          "next, there is no other",
                          d->name, done, piece);
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

static void check_excess(plugin_direct *d) {
  nd4c_buffer buffer = NULL;
  plugin_check_at("a request for more memory than %s can have", d->name);
  const nd4c_status status = plugin_direct_buffer(d, INT64_MAX / 4, &buffer);
  (void)plugin_check_that(d->check, status != ND4C_OK, "%s grants %" PRId64 " bytes", d->name, INT64_MAX / 4);
  (void)plugin_direct_may_fail(d, status, "allocate of more than there is");
}

static void check_buffers(plugin_direct *d, plugin_direct *other) {
  nd4c_buffer buffers[BUFFERS] = {NULL};
  nd4c_stream stream = NULL;
  (void)other;
  plugin_check_at("buffers of %s", d->name);
  if (!plugin_direct_stream(d, &stream) || !check_handles(d, buffers)) {
    return;
  }
  if (d->about.addressable) {
    check_addresses(d, buffers);
  }
  check_bytes(d, stream, buffers);
  for (int32_t i = 0; i < BUFFERS; i++) {
    d->ops->buffers->free(d->device, buffers[i]);
  }
  const int32_t before = d->check->failed;
  check_growth(d, stream, false);
  if (d->check->failed == before) { /* after a failure, growth of the rest has no meaning */
    if (d->about.asynchronous && ND4C_HAS_FIELD(d->ops->buffers, free_on) && d->ops->buffers->free_on != NULL) {
      check_growth(d, stream, true);
    }
    check_whole(d, stream);
  }
  plugin_direct_kinds(d, stream);
  check_excess(d);
  if (d->about.asynchronous) {
    d->ops->stream_destroy(d->device, stream);
  }
}

void plugin_section_buffers(plugin_check *check) {
  plugin_direct_each(check, check_buffers);
}

/* -- refused memory ------------------------------------------------------------------------------------------------ */

static unsigned char sent[BYTES], got[BYTES], expected, other_byte = 255; /* as long as the process: work may be late */

/* One after the other until one fails, each of which must say why. True: all succeeded, as the device says. */
static bool copy_about(plugin_direct *d, nd4c_stream stream, nd4c_buffer from, nd4c_buffer to) {
  const nd4c_device_ops *ops = d->ops;
  bool good = plugin_direct_may_fail(d, ops->copy_from_host(d->device, stream, from, 0, sent, BYTES), "copy_from_host");
  if (good && ops->fill != NULL) {
    good = plugin_direct_may_fail(d, ops->fill(d->device, stream, to, 0, BYTES, &other_byte, 1), "fill");
  }
  if (good && ops->copy_within != NULL) {
    good = plugin_direct_may_fail(d, ops->copy_within(d->device, stream, to, 0, from, 0, BYTES), "copy_within");
    from = to;
  }
  return good && plugin_direct_may_fail(d, ops->copy_to_host(d->device, stream, got, from, 0, BYTES), "copy_to_host");
}

/* Work may fail when it is under way: then its fence tells it. */
static bool end_work(plugin_direct *d, nd4c_stream stream, bool good) {
  nd4c_failed_range failed = {0, 0};
  nd4c_fence fence = NULL;
  if (!d->about.asynchronous) {
    return good;
  }
  while (!plugin_direct_may_fail(d, d->ops->fence_record(d->device, stream, &fence), "fence_record")) {
    good = false;
  }
  const bool waits =
      plugin_direct_may_fail(d, d->ops->stream_wait_fence(d->device, stream, fence), "stream_wait_fence");
  const bool told = plugin_direct_may_fail(d, d->ops->fence_wait(d->device, fence, &failed), "fence_wait");
  d->ops->fence_destroy(d->device, fence);
  return good && waits && told;
}

/* Whether an allocation was refused. */
static bool run_refused(plugin_direct *d, int32_t place) {
  nd4c_stream stream = NULL;
  nd4c_buffer from = NULL, to = NULL;
  plugin_check_at("%s with allocation %d refused", d->name, (int)place);
  expected = (unsigned char)(place % 200 + 1);
  memset(sent, expected, BYTES);
  memset(got, 0, BYTES);
  nd4c_error_clear();
  plugin_direct_refuse(place);
  const bool made =
      !d->about.asynchronous || plugin_direct_may_fail(d, d->ops->stream_create(d->device, &stream), "stream_create");
  bool good = made && plugin_direct_may_fail(d, plugin_direct_buffer(d, BYTES, &from), "allocate") &&
              plugin_direct_may_fail(d, plugin_direct_buffer(d, BYTES, &to), "allocate");
  if (good) {
    good = end_work(d, stream, copy_about(d, stream, from, to));
  }
  const bool hit = plugin_direct_refused();
  (void)plugin_check_that(
      d->check, !good || (got[0] == expected && got[BYTES - 1] == expected),
      "%s, with allocation %d refused: every call and the fence say that all went well, and bytes are "
      "missing: a failure was dropped",
      d->name, (int)place);
  (void)plugin_check_that(d->check, good || hit, "%s: a call failed though no memory was refused", d->name);
  if (from != NULL) {
    d->ops->buffers->free(d->device, from);
  }
  if (to != NULL) {
    d->ops->buffers->free(d->device, to);
  }
  if (made && d->about.asynchronous) {
    d->ops->stream_destroy(d->device, stream);
  }
  return hit;
}

static void check_refused(plugin_direct *d, plugin_direct *other) {
  int32_t place = 1;
  (void)other;
  while (place <= PLACES && run_refused(d, place)) {
    place++;
  }
  (void)run_refused(d, 0);
  plugin_check_note("%s: %d allocations were refused", d->name, (int)place - 1);
}

void plugin_section_refused(plugin_check *check) {
  plugin_direct_each(check, check_refused);
}
