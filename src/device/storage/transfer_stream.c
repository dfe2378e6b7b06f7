/* Implements transfer_stream.h: moves bytes through staging buffers, ordinary memory or from device to device.
 * replica_copy.c, coherence.c and access/apart.c call it, submit/returned.c for results that an executable returned. */
#include "device/storage/transfer_stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/memory/host.h"
#include "device/memory/staging.h"
#include "device/peers.h"
#include "device/stream/host_ranges.h"
#include "device/stream/stream_pool.h"

/* Transfers run on separate, pooled streams: work on other streams neither delays them nor passes its failures to them.
 * Each piece of a transfer ends in a fence, so streams return to the pool without pending failures; a stream on which a
 * piece failed is destroyed. */

/* One side of a transfer between host memory and a block; the other side is the block. */
typedef struct transfer {
  nd4c_device *device;
  nd4c_stream stream; /* NULL on a synchronous device */
  const nd4c_block *block;
  char *host; /* only read if `to_device` */
  bool to_device;
} transfer;

static nd4c_status enqueue(const transfer *t, void *host, int64_t at, int64_t bytes) {
  int64_t offset = t->block->offset + at;
  return t->to_device ? nd4c_driver_copy_from_host(t->device, t->stream, t->block->buffer, offset, host, bytes)
                      : nd4c_driver_copy_to_host(t->device, t->stream, host, t->block->buffer, offset, bytes);
}

static nd4c_status finish(const transfer *t, nd4c_fence fence) {
  nd4c_status status = nd4c_driver_fence_wait(t->device, fence);
  t->device->ops->fence_destroy(t->device->handle, fence);
  return status;
}

/* Waits for the end. */
static nd4c_status copy_part(const transfer *t, void *host, int64_t at, int64_t bytes) {
  nd4c_fence fence = NULL;
  ND4C_TRY(enqueue(t, host, at, bytes));
  if (t->stream == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_driver_fence_record(t->device, t->stream, &fence));
  return finish(t, fence);
}

/* A piece in flight through a staging buffer. */
typedef struct piece {
  char *buffer;
  nd4c_staging_buffer staging; /* has `buffer`; zeroed: `buffer` is ordinary memory */
  nd4c_fence fence;            /* NULL: none */
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
  return nd4c_driver_fence_record(t->device, t->stream, &p->fence);
}

/* While the device copies one buffer, the host fills or empties the other. */
static nd4c_status copy_in_pieces(const transfer *t, piece *pieces, int count, int64_t bytes) {
  int turn = 0;
  for (int64_t at = 0; at < bytes; at += ND4C_STAGING_BYTES) {
    int64_t rest = bytes - at;
    ND4C_TRY(end_piece(t, &pieces[turn]));
    ND4C_TRY(begin_piece(t, &pieces[turn], at, rest < ND4C_STAGING_BYTES ? rest : ND4C_STAGING_BYTES));
    turn = (turn + 1) % count;
  }
  for (int i = 0; i < count; i++) {
    ND4C_TRY(end_piece(t, &pieces[(turn + i) % count]));
  }
  return ND4C_OK;
}

static bool take_staging(nd4c_device *device, piece *p) {
  const bool taken = nd4c_staging_take(device, &p->staging);
  p->buffer = p->staging.address;
  return taken;
}

/* The resources of a transfer until it returns its stream. */
typedef struct means {
  piece pieces[2];
  nd4c_host_use use;
  char *pages; /* ordinary memory that the transfer passes through; NULL: none */
  size_t page_bytes;
} means;

/* Copies through memory of nd4c that is not page-locked. */
static nd4c_status copy_through_pages(const transfer *t, means *m, int64_t bytes) {
  m->page_bytes = (size_t)(bytes < ND4C_STAGING_BYTES ? bytes : ND4C_STAGING_BYTES);
  m->pages = nd4c_host_table()->allocate_pages(m->page_bytes);
  if (m->pages == NULL) {
    return nd4c_fail_memory("a copy of memory that is being unregistered", m->page_bytes);
  }
  for (int64_t at = 0; at < bytes; at += ND4C_STAGING_BYTES) {
    const int64_t rest = bytes - at, part = rest < ND4C_STAGING_BYTES ? rest : ND4C_STAGING_BYTES;
    if (t->to_device) {
      memcpy(m->pages, t->host + at, (size_t)part);
    }
    ND4C_TRY(copy_part(t, m->pages, at, part));
    if (!t->to_device) {
      memcpy(t->host + at, m->pages, (size_t)part);
    }
  }
  return ND4C_OK;
}

static nd4c_status copy_whole(const transfer *t, means *m, int64_t bytes) {
  return nd4c_host_use_begin(&m->use, t->device, t->host, bytes) ? copy_part(t, t->host, 0, bytes)
                                                                 : copy_through_pages(t, m, bytes);
}

static nd4c_status copy_on_stream(const transfer *t, means *m, int64_t bytes) {
  if (nd4c_host_range_holds(t->device, t->host, bytes) || !take_staging(t->device, &m->pieces[0])) {
    return copy_whole(t, m, bytes);
  }
  if (bytes > ND4C_STAGING_BYTES) {
    (void)take_staging(t->device, &m->pieces[1]);
  }
  return copy_in_pieces(t, m->pieces, m->pieces[1].buffer != NULL ? 2 : 1, bytes);
}

/* The stream was returned before; after a failure its work has ended. */
static void give_means(nd4c_device *device, means *m) {
  for (int i = 0; i < 2; i++) {
    if (m->pieces[i].fence != NULL) {
      device->ops->fence_destroy(device->handle, m->pieces[i].fence);
    }
    nd4c_staging_give(device, &m->pieces[i].staging);
  }
  nd4c_host_table()->free_pages(m->pages, m->page_bytes);
}

static nd4c_status run_at_once(const transfer *t, int64_t bytes) {
  means m = {0};
  const nd4c_status status = copy_whole(t, &m, bytes);
  nd4c_host_use_end(&m.use);
  give_means(t->device, &m);
  return status;
}

static nd4c_status run_transfer(transfer *t, int64_t bytes) {
  nd4c_device *device = t->device;
  if (bytes == 0) {
    return ND4C_OK;
  }
  if (!device->description.asynchronous) {
    return run_at_once(t, bytes);
  }
  ND4C_TRY(nd4c_stream_take_idle(device, &t->stream));
  means m = {0};
  nd4c_status status = copy_on_stream(t, &m, bytes);
  if (status == ND4C_OK) {
    nd4c_host_use_end(&m.use);
    nd4c_stream_give(device, t->stream);
  } else {
    nd4c_stream_drop_copy(device, t->stream, &m.use); /* waits, so that no work refers to host memory any more */
  }
  give_means(device, &m);
  return status == ND4C_OK ? status
                           : nd4c_device_fail_prefix(status, device, "with", "copy of %lld bytes", (long long)bytes);
}

/* Casts away const for host memory that a transfer only reads. */
static char *only_read(const void *host) {
  char *address;
  memcpy(&address, &host, sizeof address);
  return address;
}

static bool is_host_memory(const nd4c_device *device, const nd4c_block *block) {
  return block->address != NULL && nd4c_device_is_immediate(device);
}

nd4c_status nd4c_transfer_from_host(nd4c_device *device, const nd4c_block *to, const void *from, int64_t bytes) {
  if (is_host_memory(device, to)) {
    memcpy(to->address, from, (size_t)bytes);
    return ND4C_OK;
  }
  return run_transfer(&(transfer){.device = device, .block = to, .host = only_read(from), .to_device = true}, bytes);
}

nd4c_status nd4c_transfer_to_host(nd4c_device *device, const nd4c_block *from, void *to, int64_t bytes) {
  if (is_host_memory(device, from)) {
    memcpy(to, from->address, (size_t)bytes);
    return ND4C_OK;
  }
  return run_transfer(&(transfer){.device = device, .block = from, .host = to}, bytes);
}

/* -- by way of the host ------------------------------------------------------------------------------------------ */

/* Copies from one device to another through two buffers of the host: while one is copied to the target, the next piece
 * is copied to the other. */
typedef struct relay {
  transfer down, up;
  nd4c_device *lender; /* of the buffers, page-locked; NULL: ordinary memory */
  size_t buffer_bytes;
  piece pieces[2];
} relay;

static void take_buffer(const relay *r, piece *p) {
  if (r->lender != NULL) {
    (void)take_staging(r->lender, p);
  } else {
    p->buffer = nd4c_host_table()->allocate_pages(r->buffer_bytes);
  }
}

static nd4c_status take_buffers(relay *r, int64_t bytes) {
  r->buffer_bytes = (size_t)(bytes < ND4C_STAGING_BYTES ? bytes : ND4C_STAGING_BYTES);
  r->lender = r->up.device->staging != NULL ? r->up.device : r->down.device->staging != NULL ? r->down.device : NULL;
  take_buffer(r, &r->pieces[0]);
  if (r->pieces[0].buffer == NULL && r->lender != NULL) {
    r->lender = NULL;
    take_buffer(r, &r->pieces[0]);
  }
  if (r->pieces[0].buffer == NULL) {
    return nd4c_fail_memory("staging a copy between devices", r->buffer_bytes);
  }
  if (bytes > ND4C_STAGING_BYTES) {
    take_buffer(r, &r->pieces[1]);
  }
  return ND4C_OK;
}

static void give_buffers(relay *r) {
  for (int i = 0; i < 2; i++) {
    if (r->pieces[i].fence != NULL) {
      r->up.device->ops->fence_destroy(r->up.device->handle, r->pieces[i].fence);
    }
    if (r->lender != NULL) {
      nd4c_staging_give(r->lender, &r->pieces[i].staging);
    } else {
      nd4c_host_table()->free_pages(r->pieces[i].buffer, r->buffer_bytes);
    }
  }
}

static nd4c_status fail_relay(nd4c_status status, const transfer *t, int64_t bytes) {
  return status == ND4C_OK ? status
                           : nd4c_device_fail_prefix(status, t->device, "with", "copy of %lld bytes", (long long)bytes);
}

static nd4c_status send_up(const transfer *up, piece *p) {
  ND4C_TRY(enqueue(up, p->buffer, p->at, p->bytes));
  return up->stream != NULL ? nd4c_driver_fence_record(up->device, up->stream, &p->fence) : ND4C_OK;
}

static nd4c_status relay_pieces(relay *r, int64_t bytes) {
  int turn = 0, count = r->pieces[1].buffer != NULL ? 2 : 1;
  for (int64_t at = 0; at < bytes; at += ND4C_STAGING_BYTES) {
    piece *p = &r->pieces[turn];
    ND4C_TRY(fail_relay(end_piece(&r->up, p), &r->up, bytes));
    p->at = at;
    p->bytes = bytes - at < ND4C_STAGING_BYTES ? bytes - at : ND4C_STAGING_BYTES;
    ND4C_TRY(fail_relay(copy_part(&r->down, p->buffer, at, p->bytes), &r->down, bytes));
    ND4C_TRY(fail_relay(send_up(&r->up, p), &r->up, bytes));
    turn = (turn + 1) % count;
  }
  for (int i = 0; i < count; i++) {
    ND4C_TRY(fail_relay(end_piece(&r->up, &r->pieces[(turn + i) % count]), &r->up, bytes));
  }
  return ND4C_OK;
}

static void end_relay_stream(const transfer *t, nd4c_status status) {
  if (status == ND4C_OK) {
    nd4c_stream_give(t->device, t->stream);
  } else {
    nd4c_stream_drop(t->device, t->stream); /* waits, so that no work uses the buffers afterwards */
  }
}

static nd4c_status copy_through_host(nd4c_device *from_device, const nd4c_block *from, nd4c_device *to_device,
                                     const nd4c_block *to, int64_t bytes) {
  relay r = {.down = {.device = from_device, .block = from},
             .up = {.device = to_device, .block = to, .to_device = true}};
  if (bytes == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_stream_take_idle(from_device, &r.down.stream));
  nd4c_status status = nd4c_stream_take_idle(to_device, &r.up.stream);
  status = status == ND4C_OK ? take_buffers(&r, bytes) : status;
  status = status == ND4C_OK ? relay_pieces(&r, bytes) : status;
  end_relay_stream(&r.down, status);
  end_relay_stream(&r.up, status);
  give_buffers(&r);
  return status;
}

/* -- by the devices themselves ----------------------------------------------------------------------------------- */

/* A copy or fill by a device in its own memory, or from another device of its backend. */
typedef struct local {
  nd4c_device *device;
  nd4c_device *from_device; /* the device of `from` */
  const nd4c_block *from;   /* NULL: filled with the pattern */
  const nd4c_block *to;
  const void *pattern;
  int32_t pattern_bytes;
  int64_t bytes;
  const nd4c_fence *waits; /* fences of from_device, if it is not `device`: the copy waits for them */
  int32_t wait_count;
} local;

static nd4c_status enqueue_local(const local *l, nd4c_stream stream) {
  const nd4c_block *from = l->from, *to = l->to;
  if (from == NULL) {
    return nd4c_driver_fill(l->device, stream, to->buffer, to->offset, l->bytes, l->pattern, l->pattern_bytes);
  }
  return l->from_device == l->device
             ? nd4c_driver_copy_within(l->device, stream, to->buffer, to->offset, from->buffer, from->offset, l->bytes)
             : nd4c_driver_copy_between(l->device, stream, to->buffer, to->offset, l->from_device, from->buffer,
                                        from->offset, l->bytes, l->waits, l->wait_count);
}

static nd4c_status run_on_stream(const local *l) {
  nd4c_device *device = l->device;
  nd4c_stream stream = NULL;
  nd4c_fence fence = NULL;
  ND4C_TRY(nd4c_stream_take_idle(device, &stream));
  nd4c_status status = enqueue_local(l, stream);
  if (status == ND4C_UNSUPPORTED) { /* nothing was enqueued */
    nd4c_stream_give(device, stream);
    return status;
  }
  if (status == ND4C_OK) {
    status = nd4c_driver_fence_record(device, stream, &fence);
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
  if (status != ND4C_OK && l->from != NULL && l->from_device != l->device) {
    return nd4c_device_fail_prefix(status, l->device, "to", "copy of %lld bytes from %s", (long long)l->bytes,
                                   l->from_device->name);
  }
  return status == ND4C_OK
             ? status
             : nd4c_device_fail_prefix(status, l->device, l->from != NULL ? "within" : "with", "%s of %lld bytes",
                                       l->from != NULL ? "copy" : "fill", (long long)l->bytes);
}

bool nd4c_transfer_is_direct(const nd4c_device *from_device, const nd4c_device *to_device) {
  return from_device != to_device && from_device->backend == to_device->backend &&
         to_device->ops->copy_between != NULL && nd4c_peers_reach(to_device, from_device);
}

nd4c_status nd4c_transfer_enqueue_direct(nd4c_device *from_device, const nd4c_block *from, const nd4c_fence *waits,
                                         int32_t wait_count, nd4c_device *to_device, const nd4c_block *to,
                                         nd4c_stream stream, int64_t bytes) {
  return enqueue_local(&(local){.device = to_device,
                                .from_device = from_device,
                                .from = from,
                                .to = to,
                                .bytes = bytes,
                                .waits = waits,
                                .wait_count = wait_count},
                       stream);
}

nd4c_status nd4c_transfer_enqueue(nd4c_device *carrier, nd4c_stream stream, nd4c_device *to_device,
                                  const nd4c_block *from, const nd4c_block *to, int64_t bytes) {
  bool up = carrier == to_device;
  const transfer t = {.device = carrier,
                      .stream = stream,
                      .block = up ? to : from,
                      .host = up ? from->address : to->address,
                      .to_device = up};
  return enqueue(&t, t.host, 0, bytes);
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
  const local l = {.device = to_device, .from_device = from_device, .from = from, .to = to, .bytes = bytes};
  if (from_device == to_device && from_device->ops->copy_within != NULL) {
    return run_local(&l);
  }
  if (nd4c_transfer_is_direct(from_device, to_device)) {
    nd4c_status status = run_local(&l);
    if (status != ND4C_UNSUPPORTED) {
      return status;
    }
  }
  return copy_through_host(from_device, from, to_device, to, bytes);
}
