#include "device/transfer_stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/staging.h"
#include "device/stream_pool.h"

/* Transfers run on streams of their own, which are kept for the next one: work that is queued elsewhere neither delays
 * them nor are its failures theirs. Each piece of a transfer ends in a fence, so that a stream is given back clean; one
 * on which something failed is not. */

/* One side of a transfer between host memory and a block; the other side is the block. */
typedef struct transfer {
  nd4c_device *device;
  nd4c_stream stream; /* NULL on a synchronous device */
  const nd4c_block *block;
  char *host; /* only read if `to_device` */
  bool to_device;
} transfer;

static nd4c_status enqueue(const transfer *t, void *host, int64_t at, int64_t bytes) {
  const nd4c_device_ops *ops = t->device->ops;
  int64_t offset = t->block->offset + at;
  return t->to_device ? ops->copy_from_host(t->device->handle, t->stream, t->block->buffer, offset, host, bytes)
                      : ops->copy_to_host(t->device->handle, t->stream, host, t->block->buffer, offset, bytes);
}

static nd4c_status finish(const transfer *t, nd4c_fence fence) {
  nd4c_status status = t->device->ops->fence_wait(t->device->handle, fence);
  t->device->ops->fence_destroy(t->device->handle, fence);
  return status;
}

static nd4c_status copy_directly(const transfer *t, int64_t bytes) {
  nd4c_fence fence = NULL;
  ND4C_TRY(enqueue(t, t->host, 0, bytes));
  ND4C_TRY(t->device->ops->fence_record(t->device->handle, t->stream, &fence));
  return finish(t, fence);
}

/* A piece under way through a staging buffer. */
typedef struct piece {
  char *buffer;
  nd4c_fence fence; /* NULL: none */
  int64_t at, bytes;
} piece;

static nd4c_status end_piece(const transfer *t, piece *p) {
  if (p->fence == NULL) {
    return ND4C_OK;
  }
  nd4c_fence fence = p->fence;
  p->fence = NULL;
  ND4C_TRY(finish(t, fence));
  if (!t->to_device) {
    memcpy(t->host + p->at, p->buffer, (size_t)p->bytes);
  }
  return ND4C_OK;
}

static nd4c_status begin_piece(const transfer *t, piece *p, int64_t at, int64_t bytes) {
  p->at = at;
  p->bytes = bytes;
  if (t->to_device) {
    memcpy(p->buffer, t->host + at, (size_t)bytes);
  }
  ND4C_TRY(enqueue(t, p->buffer, at, bytes));
  return t->device->ops->fence_record(t->device->handle, t->stream, &p->fence);
}

/* While the device copies one buffer the host fills, or empties, the other. */
static nd4c_status copy_in_pieces(const transfer *t, piece *pieces, int count, int64_t bytes) {
  int turn = 0;
  for (int64_t at = 0; at < bytes; at += ND4C_STAGING_BYTES) {
    int64_t rest = bytes - at;
    ND4C_TRY(end_piece(t, &pieces[turn]));
    ND4C_TRY(begin_piece(t, &pieces[turn], at, rest < ND4C_STAGING_BYTES ? rest : ND4C_STAGING_BYTES));
    turn = (turn + 1) % count;
  }
  for (int i = 0; i < count; ++i) {
    ND4C_TRY(end_piece(t, &pieces[(turn + i) % count]));
  }
  return ND4C_OK;
}

static nd4c_status copy_on_stream(const transfer *t, piece *pieces, int64_t bytes) {
  pieces[0].buffer = nd4c_staging_take(t->device);
  if (pieces[0].buffer == NULL) {
    return copy_directly(t, bytes);
  }
  pieces[1].buffer = bytes > ND4C_STAGING_BYTES ? nd4c_staging_take(t->device) : NULL;
  return copy_in_pieces(t, pieces, pieces[1].buffer != NULL ? 2 : 1, bytes);
}

static nd4c_status run_transfer(transfer *t, int64_t bytes) {
  nd4c_device *device = t->device;
  if (bytes == 0) {
    return ND4C_OK;
  }
  if (!device->description.asynchronous) {
    return enqueue(t, t->host, 0, bytes);
  }
  ND4C_TRY(nd4c_stream_take(device, &t->stream));
  piece pieces[2] = {{0}};
  nd4c_status status = copy_on_stream(t, pieces, bytes);
  if (status == ND4C_OK) {
    nd4c_stream_give(device, t->stream);
  } else {
    nd4c_stream_drop(device, t->stream); /* waits: nothing refers to host memory any more */
  }
  for (int i = 0; i < 2; ++i) {
    if (pieces[i].fence != NULL) {
      device->ops->fence_destroy(device->handle, pieces[i].fence);
    }
    nd4c_staging_give(device, pieces[i].buffer);
  }
  return status == ND4C_OK ? status
                           : nd4c_device_fail_prefix(status, device, "with", "copy of %lld bytes", (long long)bytes);
}

/* Host memory of which it is known that a transfer only reads it. */
static char *only_read(const void *host) {
  char *address;
  memcpy(&address, &host, sizeof address);
  return address;
}

nd4c_status nd4c_transfer_from_host(nd4c_device *device, const nd4c_block *to, const void *from, int64_t bytes) {
  if (to->address != NULL && !device->description.asynchronous) {
    memcpy(to->address, from, (size_t)bytes);
    return ND4C_OK;
  }
  return run_transfer(&(transfer){.device = device, .block = to, .host = only_read(from), .to_device = true}, bytes);
}

nd4c_status nd4c_transfer_to_host(nd4c_device *device, const nd4c_block *from, void *to, int64_t bytes) {
  if (from->address != NULL && !device->description.asynchronous) {
    memcpy(to, from->address, (size_t)bytes);
    return ND4C_OK;
  }
  return run_transfer(&(transfer){.device = device, .block = from, .host = to}, bytes);
}

nd4c_status nd4c_transfer_enqueue(nd4c_device *carrier, nd4c_stream stream, const nd4c_block *from,
                                  const nd4c_block *to, bool to_carrier, int64_t bytes) {
  const transfer t = {.device = carrier,
                      .stream = stream,
                      .block = to_carrier ? to : from,
                      .host = to_carrier ? from->address : to->address,
                      .to_device = to_carrier};
  return enqueue(&t, t.host, 0, bytes);
}

static bool is_host_memory(const nd4c_device *device, const nd4c_block *block) {
  return block->address != NULL && !device->description.asynchronous;
}

/* Between devices that do not know each other, a part at a time. */
static nd4c_status copy_through_host(nd4c_device *from_device, const nd4c_block *from, nd4c_device *to_device,
                                     const nd4c_block *to, int64_t bytes) {
  enum { PART = 16 << 20 };
  size_t size = (size_t)(bytes < PART ? bytes : PART);
  void *part = nd4c_allocate(size);
  if (part == NULL) {
    return nd4c_fail_memory("staging a copy between devices", size);
  }
  nd4c_status status = ND4C_OK;
  for (int64_t at = 0; at < bytes && status == ND4C_OK; at += PART) {
    int64_t length = bytes - at < PART ? bytes - at : PART;
    nd4c_block source = *from, target = *to;
    source.offset += at;
    target.offset += at;
    status = nd4c_transfer_to_host(from_device, &source, part, length);
    if (status == ND4C_OK) {
      status = nd4c_transfer_from_host(to_device, &target, part, length);
    }
  }
  nd4c_deallocate(part);
  return status;
}

/* What a device does with its own memory alone. */
typedef struct local {
  nd4c_device *device;
  const nd4c_block *from; /* NULL: filled with the pattern */
  const nd4c_block *to;
  const void *pattern;
  int32_t pattern_bytes;
  int64_t bytes;
} local;

static nd4c_status enqueue_local(const local *l, nd4c_stream stream) {
  const nd4c_device_ops *ops = l->device->ops;
  return l->from != NULL ? ops->copy_within(l->device->handle, stream, l->to->buffer, l->to->offset, l->from->buffer,
                                            l->from->offset, l->bytes)
                         : ops->fill(l->device->handle, stream, l->to->buffer, l->to->offset, l->bytes, l->pattern,
                                     l->pattern_bytes);
}

static nd4c_status run_on_stream(const local *l) {
  nd4c_device *device = l->device;
  nd4c_stream stream = NULL;
  nd4c_fence fence = NULL;
  ND4C_TRY(nd4c_stream_take(device, &stream));
  nd4c_status status = enqueue_local(l, stream);
  if (status == ND4C_OK) {
    status = device->ops->fence_record(device->handle, stream, &fence);
  }
  if (status == ND4C_OK) {
    status = finish(&(transfer){.device = device}, fence);
  }
  if (status != ND4C_OK) {
    nd4c_stream_drop(device, stream);
    return status;
  }
  nd4c_stream_give(device, stream);
  return ND4C_OK;
}

static nd4c_status run_local(const local *l) {
  if (l->bytes == 0) {
    return ND4C_OK;
  }
  nd4c_status status = l->device->description.asynchronous ? run_on_stream(l) : enqueue_local(l, NULL);
  return status == ND4C_OK
             ? status
             : nd4c_device_fail_prefix(status, l->device, l->from != NULL ? "within" : "with", "%s of %lld bytes",
                                       l->from != NULL ? "copy" : "fill", (long long)l->bytes);
}

void nd4c_transfer_repeat(void *memory, int64_t bytes, const void *pattern, int64_t pattern_bytes) {
  memcpy(memory, pattern, (size_t)pattern_bytes);
  for (int64_t done = pattern_bytes; done < bytes;) {
    int64_t part = done < bytes - done ? done : bytes - done;
    memcpy((char *)memory + done, memory, (size_t)part);
    done += part;
  }
}

nd4c_status nd4c_transfer_fill(nd4c_device *device, const nd4c_block *to, int64_t bytes, const void *pattern,
                               int32_t pattern_bytes) {
  if (is_host_memory(device, to)) {
    nd4c_transfer_repeat(to->address, bytes, pattern, pattern_bytes);
    return ND4C_OK;
  }
  if (device->ops->fill == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s does not fill memory", device->name);
  }
  return run_local(
      &(local){.device = device, .to = to, .pattern = pattern, .pattern_bytes = pattern_bytes, .bytes = bytes});
}

nd4c_status nd4c_transfer_copy(nd4c_device *from_device, const nd4c_block *from, nd4c_device *to_device,
                               const nd4c_block *to, int64_t bytes) {
  if (is_host_memory(from_device, from)) {
    return nd4c_transfer_from_host(to_device, to, from->address, bytes);
  }
  if (is_host_memory(to_device, to)) {
    return nd4c_transfer_to_host(from_device, from, to->address, bytes);
  }
  if (from_device == to_device && from_device->ops->copy_within != NULL) {
    return run_local(&(local){.device = to_device, .from = from, .to = to, .bytes = bytes});
  }
  return copy_through_host(from_device, from, to_device, to, bytes);
}
