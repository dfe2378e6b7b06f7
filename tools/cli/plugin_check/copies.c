/* Section `copies`: parts of buffers, copied and filled from and to odd places, with nothing beside them changed. The
 * section table of plugin_check.c lists it. */
#include <stdlib.h>
#include <string.h>

#include "direct.h"

enum { SIZE = 4099, PART = 301 };

/* The host's memory lives as long as the process: a device may use it late. */
typedef struct memory {
  unsigned char pattern[SIZE], other[SIZE], wanted[SIZE], got[SIZE];
} memory;

typedef struct bench {
  plugin_direct *d;
  nd4c_stream stream;
  nd4c_buffer a, b; /* of the device, SIZE bytes each */
  memory *m;
} bench;

static void preset(memory *m) {
  for (int i = 0; i < SIZE; i++) {
    m->pattern[i] = (unsigned char)(i * 7 % 251 + 1);
    m->other[i] = (unsigned char)(255 - i % 13);
  }
}

/* The whole buffer is what is wanted: `what` changed what it was told to, and nothing else. */
static void compare(bench *t, plugin_direct *d, nd4c_stream stream, nd4c_buffer buffer, const char *what) {
  memset(t->m->got, 0, SIZE);
  if (!plugin_direct_status(d, d->ops->copy_to_host(d->device, stream, t->m->got, buffer, 0, SIZE), "copy_to_host") ||
      !plugin_direct_wait(d, stream, what)) {
    return;
  }
  int at = 0;
  while (at < SIZE && t->m->got[at] == t->m->wanted[at]) {
    at++;
  }
  (void)plugin_check_that(d->check, at == SIZE, "%s: %s: byte %d of %d is %d, expected %d", d->name, what, at, SIZE,
                          at < SIZE ? t->m->got[at] : 0, at < SIZE ? t->m->wanted[at] : 0);
}

static bool send(bench *t, nd4c_buffer to, int64_t offset, const void *from, int64_t bytes) {
  return plugin_direct_status(t->d, t->d->ops->copy_from_host(t->d->device, t->stream, to, offset, from, bytes),
                              "copy_from_host");
}

static bool check_host(bench *t) {
  memory *m = t->m;
  memcpy(m->wanted, m->pattern, SIZE);
  memcpy(m->wanted + 1001, m->other, 13);
  if (!send(t, t->a, 0, m->pattern, SIZE) || !send(t, t->a, 1001, m->other, 13)) {
    return false;
  }
  compare(t, t->d, t->stream, t->a, "copy_from_host of 13 bytes to offset 1001");
  memset(m->got, 0, SIZE);
  if (plugin_direct_status(t->d, t->d->ops->copy_to_host(t->d->device, t->stream, m->got, t->a, 517, PART),
                           "copy_to_host") &&
      plugin_direct_wait(t->d, t->stream, "copy_to_host")) {
    (void)plugin_check_that(t->d->check, memcmp(m->got, m->pattern + 517, PART) == 0,
                            "%s: copy_to_host of %d bytes from offset 517 gives other bytes", t->d->name, PART);
    (void)plugin_check_that(t->d->check, m->got[PART] == 0, "%s: copy_to_host of %d bytes writes more of them",
                            t->d->name, PART);
  }
  return true;
}

static void check_within(bench *t) {
  memory *m = t->m;
  const nd4c_device_ops *ops = t->d->ops;
  if (ops->copy_within == NULL || !send(t, t->a, 0, m->pattern, SIZE) || !send(t, t->b, 0, m->other, SIZE)) {
    return;
  }
  memcpy(m->wanted, m->other, SIZE);
  memcpy(m->wanted + 33, m->pattern + 1000, 77);
  if (plugin_direct_status(t->d, ops->copy_within(t->d->device, t->stream, t->b, 33, t->a, 1000, 77), "copy_within")) {
    compare(t, t->d, t->stream, t->b, "copy_within of 77 bytes from offset 1000 to offset 33");
  }
}

static void check_fill(bench *t) {
  static const unsigned char four[] = {1, 2, 3, 4};
  memory *m = t->m;
  const nd4c_device_ops *ops = t->d->ops;
  if (ops->fill == NULL || !send(t, t->b, 0, m->other, SIZE)) {
    return;
  }
  memcpy(m->wanted, m->other, SIZE);
  memset(m->wanted + 2001, 9, 5);
  for (int i = 0; i < 24; i++) {
    m->wanted[100 + i] = four[i % 4];
  }
  const unsigned char nine = 9;
  if (plugin_direct_status(t->d, ops->fill(t->d->device, t->stream, t->b, 100, 24, four, 4), "fill") &&
      plugin_direct_status(t->d, ops->fill(t->d->device, t->stream, t->b, 2001, 5, &nine, 1), "fill")) {
    compare(t, t->d, t->stream, t->b, "fill of 24 bytes at offset 100 and of 5 at offset 2001");
  }
}

/* Whether nd4c asks `to` for copies from `from`; it does not if peer answers NONE. */
static bool reaches(plugin_direct *to, plugin_direct *from) {
  nd4c_peer_link link = {.struct_size = sizeof link, .kind = ND4C_PEER_NONE};
  if (to->ops->copy_between == NULL) {
    return false;
  }
  return to->ops->peer == NULL || (plugin_direct_status(to, to->ops->peer(to->device, from->device, &link), "peer") &&
                                   link.kind != ND4C_PEER_NONE);
}

/* To a buffer of the other device. */
static void check_between(bench *t, plugin_direct *other) {
  memory *m = t->m;
  nd4c_stream stream = NULL;
  nd4c_buffer mine = NULL;
  nd4c_fence fence = NULL;
  if (other == NULL || !t->d->about.asynchronous || !reaches(other, t->d) || !send(t, t->a, 0, m->pattern, SIZE) ||
      !plugin_direct_stream(other, &stream) ||
      !plugin_direct_status(other, plugin_direct_buffer(other, SIZE, &mine), "allocate") ||
      !plugin_direct_status(other, other->ops->copy_from_host(other->device, stream, mine, 0, m->other, SIZE),
                            "copy_from_host") ||
      !plugin_direct_status(t->d, t->d->ops->fence_record(t->d->device, t->stream, &fence), "fence_record")) {
    return;
  }
  const nd4c_status status =
      other->ops->copy_between(other->device, stream, mine, 40, t->d->device, t->a, 1003, 51, &fence, 1);
  t->d->ops->fence_destroy(t->d->device, fence);
  if (status == ND4C_UNSUPPORTED) {
    (void)plugin_direct_may_fail(other, status, "copy_between");
  } else if (plugin_direct_status(other, status, "copy_between")) {
    memcpy(m->wanted, m->other, SIZE);
    memcpy(m->wanted + 40, m->pattern + 1003, 51);
    compare(t, other, stream, mine, "copy_between of 51 bytes from offset 1003 to offset 40");
  }
  other->ops->buffers->free(other->device, mine);
  other->ops->stream_destroy(other->device, stream);
}

static void check_copies(plugin_direct *d, plugin_direct *other) {
  bench t = {.d = d, .m = calloc(1, sizeof *t.m)};
  plugin_check_at("copies of parts of buffers on %s", d->name);
  if (!plugin_check_that(d->check, t.m != NULL, "no memory")) {
    return;
  }
  preset(t.m);
  if (!plugin_direct_stream(d, &t.stream) ||
      !plugin_direct_status(d, plugin_direct_buffer(d, SIZE, &t.a), "allocate") ||
      !plugin_direct_status(d, plugin_direct_buffer(d, SIZE, &t.b), "allocate")) {
    return;
  }
  if (check_host(&t)) {
    check_within(&t);
    check_fill(&t);
    check_between(&t, other);
  }
  d->ops->buffers->free(d->device, t.a);
  d->ops->buffers->free(d->device, t.b);
  if (d->about.asynchronous) {
    d->ops->stream_destroy(d->device, t.stream);
  }
}

void plugin_section_copies(plugin_check *check) {
  plugin_direct_each(check, check_copies);
}
