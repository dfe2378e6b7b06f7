/* Copies the contents of a storage from one replica to another; coherence.c and residence.c call it. If a device can
 * copy asynchronously, the copy is enqueued: the target's `written` is its fence, and work that uses the target waits
 * for it. The device reads the bytes from
 *
 *     a cargo (cargo.h), which the host has filled      if the copy is small, or fastest from page-locked memory
 *     the source's replica, until the copy has ended    else, unless the user may write to it without a call of nd4c
 *
 * Every other copy is complete when nd4c_replica_bring returns. */
#include "device/storage/replica_copy.h"

#include "base/os.h"
#include "base/status.h"
#include "device/device.h"
#include "device/storage/cargo.h"
#include "device/storage/deferred.h"
#include "device/storage/encoded.h"
#include "device/storage/transfer_stream.h"
#include "device/stream/host_ranges.h"
#include "device/stream/shared_locks.h"
#include "device/stream/stream_pool.h"
#include "device/trace/tracer.h"

/* Blocks until the copy is complete. */
static nd4c_status copy_now(nd4c_storage_body *body, nd4c_replica *source, nd4c_replica *target) {
  ND4C_TRY(nd4c_storage_settle_source(body, source));
  ND4C_TRY(nd4c_storage_await_replica(body, target)); /* work that still uses the target's old contents */
  int64_t begin = nd4c_tracer_is_on() ? nd4c_os_nanoseconds() : 0;
  ND4C_TRY(nd4c_transfer_copy(source->device, &source->block, target->device, &target->block, body->base.bytes));
  nd4c_replica_release_fences(target); /* that work has ended; its outcome does not matter to the new contents */
  if (begin != 0) {
    nd4c_tracer_copy(begin, body, source->device, target->device, body->base.bytes);
  }
  return ND4C_OK;
}

/* The device that can copy between the two asynchronously; NULL if the copy must pass through the host. */
static nd4c_device *find_carrier(nd4c_device *from, nd4c_device *to) {
  bool from_host = nd4c_device_is_immediate(from), to_host = nd4c_device_is_immediate(to);
  if ((from_host || nd4c_transfer_is_direct(from, to)) && to->description.asynchronous) {
    return to;
  }
  return to_host && from->description.asynchronous ? from : NULL;
}

bool nd4c_replica_can_follow(const nd4c_replica *source, nd4c_device *device) {
  if (source->pinned || find_carrier(source->device, device) != device) {
    return false;
  }
  return source->written == NULL || nd4c_fence_is_of(source->written, device) ||
         (nd4c_fence_is_of(source->written, source->device) && nd4c_transfer_is_direct(source->device, device));
}

/* Whether the program has an address of the replica's memory and may write through it at any time. */
static bool is_lent(const nd4c_storage_body *body, const nd4c_replica *replica) {
  bool foreign = replica == &body->first && (body->base.flags & ND4C_STORAGE_FOREIGN) != 0;
  bool given_out =
      nd4c_device_is_immediate(replica->device) && atomic_load_explicit(&body->base.lent, memory_order_relaxed);
  return foreign || given_out || replica->pinned;
}

/* A copy while it is enqueued. */
typedef struct copy {
  nd4c_storage_body *body;
  nd4c_replica *source, *target;
  nd4c_device *carrier;
  nd4c_stream stream;
  nd4c_bring when;
  nd4c_cargo *cargo; /* NULL: the source is read until the copy has ended */
  bool sent;         /* bytes of the cargo may be under way */
  int32_t readers;   /* how many readers the source may have */
  nd4c_host_use use; /* of the host's memory, until the copy's fence is recorded */
} copy;

static bool is_direct(const copy *c) {
  return c->carrier == c->target->device && nd4c_transfer_is_direct(c->source->device, c->target->device);
}

/* The copy becomes one more reader of the source. If the source has very many, the host first waits for the oldest. */
static nd4c_status make_room_for_reader(copy *c) {
  c->readers = nd4c_replica_count_readers();
  nd4c_shared_fence *oldest = nd4c_readers_find_excess(&c->source->readers, c->readers);
  return oldest == NULL ? ND4C_OK : nd4c_storage_put_off(c->body, oldest);
}

/* The source's fences, for a call that lets the copy come after them; *count 0: there are none. */
static nd4c_status hold_source(const copy *c, nd4c_shared_fence *before, nd4c_fence *waits, int32_t *count) {
  *count = nd4c_fence_hold(before, waits);
  if (*count >= 0) {
    return ND4C_OK;
  }
  nd4c_shared_fence *oldest = nd4c_fence_oldest(before);
  const nd4c_status status = nd4c_storage_put_off(c->body, oldest != NULL ? oldest : before);
  nd4c_fence_release(oldest);
  return status;
}

/* Between two devices. The target's device waits for the source's. */
static nd4c_status enqueue_direct(copy *c) {
  nd4c_shared_fence *before = c->source->written;
  ND4C_TRY(make_room_for_reader(c));
  if (before != NULL && !nd4c_fence_is_of(before, c->source->device)) {
    ND4C_TRY(nd4c_replica_order_after(c->body, c->source, c->carrier, c->stream, false));
    before = NULL;
  }
  nd4c_fence waits[ND4C_TIMELINE_WAITS];
  int32_t wait_count = 0;
  ND4C_TRY(hold_source(c, before, waits, &wait_count));
  const nd4c_status status =
      nd4c_transfer_enqueue_direct(c->source->device, &c->source->block, waits, wait_count, c->carrier,
                                   &c->target->block, c->stream, c->body->base.bytes);
  if (wait_count > 0) {
    nd4c_fence_let_go(before);
  }
  return status;
}

/* Enqueues a copy between the host and a device. Also UNSUPPORTED while the host's memory is being unregistered: a
 * blocking copy then uses other memory. */
static nd4c_status enqueue_from_or_to_host(copy *c) {
  const nd4c_block *from = &c->source->block, *to = &c->target->block;
  const int64_t bytes = c->body->base.bytes;
  ND4C_TRY(nd4c_replica_order_after(c->body, c->source, c->carrier, c->stream, false));
  if (c->cargo != NULL) {
    c->sent = true;
    return nd4c_cargo_send(c->cargo, c->stream, to, from->address, bytes);
  }
  if (c->when != ND4C_BRING_REQUESTED && (is_lent(c->body, c->source) || nd4c_replica_runs_far_ahead())) {
    return ND4C_UNSUPPORTED;
  }
  ND4C_TRY(make_room_for_reader(c));
  const void *host = c->carrier == c->target->device ? from->address : to->address;
  if (!nd4c_host_use_begin(&c->use, c->carrier, host, bytes)) {
    return ND4C_UNSUPPORTED;
  }
  return nd4c_transfer_enqueue(c->carrier, c->stream, c->target->device, from, to, bytes);
}

static nd4c_status enqueue(copy *c) {
  const bool direct = is_direct(c);
  if (direct && c->when != ND4C_BRING_REQUESTED && is_lent(c->body, c->source)) {
    return ND4C_UNSUPPORTED;
  }
  ND4C_TRY(nd4c_replica_order_after(c->body, c->target, c->carrier, c->stream, true));
  return direct ? enqueue_direct(c) : enqueue_from_or_to_host(c);
}

static nd4c_status fail_copy(const copy *c, nd4c_status status) {
  const long long bytes = (long long)c->body->base.bytes;
  return is_direct(c) ? nd4c_device_fail_prefix(status, c->carrier, "to", "copy of %lld bytes from %s", bytes,
                                                c->source->device->name)
                      : nd4c_device_fail_prefix(status, c->carrier, "with", "copy of %lld bytes", bytes);
}

/* Whether the host first copies the bytes to a cargo. */
static bool takes_cargo(const copy *c) {
  return c->carrier == c->target->device && !is_direct(c) && c->when != ND4C_BRING_REQUESTED &&
         c->source->written == NULL &&
         !nd4c_host_range_holds(c->carrier, c->source->block.address, c->body->base.bytes);
}

/* Takes a stream, and a cargo if there is one. If the cargo does not hold all of the bytes, the host waits for pieces
 * of the copy: no earlier work may then be in flight on the stream or the target. */
static nd4c_status take_means(copy *c) {
  const int64_t bytes = c->body->base.bytes;
  c->cargo = takes_cargo(c) ? nd4c_cargo_make(c->carrier, bytes) : NULL;
  const bool waits = c->cargo != NULL && !nd4c_cargo_fits(c->cargo, bytes);
  nd4c_status status = waits ? nd4c_storage_await_replica(c->body, c->target) : ND4C_OK;
  if (status == ND4C_OK) {
    status = waits ? nd4c_stream_take_idle(c->carrier, &c->stream) : nd4c_stream_take(c->carrier, &c->stream);
  }
  if (status != ND4C_OK) {
    nd4c_cargo_free(c->cargo);
  }
  return status;
}

static bool is_busy(const nd4c_replica *replica) {
  return !nd4c_fence_is_known(replica->written) || nd4c_readers_find_pending(&replica->readers) != NULL;
}

/* Returns the stream of a copy that was not enqueued. If the stream already waits for other work, a fence after that
 * wait shows when the stream is idle. */
static void give_unused(const copy *c) {
  nd4c_shared_fence *mark = NULL;
  if ((is_busy(c->target) || !nd4c_fence_is_known(c->source->written)) &&
      nd4c_fence_record(c->carrier, c->stream, "copy", NULL, 0, &mark) != ND4C_OK) {
    nd4c_stream_drop(c->carrier, c->stream);
    return;
  }
  nd4c_fence_release(mark);
  nd4c_stream_give(c->carrier, c->stream);
}

/* Attaches the fence of an enqueued copy to what the copy uses: the cargo or the source, and the target. */
static void add_copy(copy *c, nd4c_shared_fence *fence) {
  if (c->cargo != NULL) {
    nd4c_fence_keep(fence, c->cargo, nd4c_cargo_held(c->cargo), nd4c_cargo_free);
  } else {
    nd4c_readers_add(&c->source->readers, fence, c->readers);
  }
  nd4c_fence_release(c->target->written);
  c->target->written = fence;
  c->target->copied = true;
}

static nd4c_status enqueue_copy(copy *c) {
  nd4c_shared_fence *fence = NULL;
  int64_t begin = nd4c_tracer_is_on() ? nd4c_os_nanoseconds() : 0;
  ND4C_TRY(take_means(c));
  nd4c_status status = enqueue(c);
  if (status == ND4C_UNSUPPORTED && !c->sent) {
    nd4c_host_use_end(&c->use);
    give_unused(c);
    nd4c_cargo_free(c->cargo);
    return status;
  }
  if (status == ND4C_OK) {
    status = nd4c_fence_record(c->carrier, c->stream, "copy", &c->source->written, 1, &fence);
  }
  if (status != ND4C_OK) {
    nd4c_stream_drop_copy(c->carrier, c->stream, &c->use); /* waits for the enqueued work */
    nd4c_cargo_free(c->cargo);
    return fail_copy(c, status);
  }
  nd4c_host_use_end(&c->use); /* before release callbacks run, which may unregister memory */
  nd4c_fence_settle_earlier(fence);
  nd4c_stream_give(c->carrier, c->stream);
  if (begin != 0) {
    nd4c_tracer_copy(begin, c->body, c->source->device, c->target->device, c->body->base.bytes);
  }
  add_copy(c, fence);
  return ND4C_OK;
}

/* Enqueues the copy and does not wait for it. UNSUPPORTED: nothing was enqueued. */
static nd4c_status copy_later(copy *c) {
  nd4c_shared_locks_enter();
  const nd4c_status status = enqueue_copy(c);
  nd4c_shared_locks_leave();
  return status;
}

nd4c_status nd4c_replica_bring(nd4c_storage_body *body, nd4c_replica *replica, nd4c_bring when) {
  if (replica->state != 'I') {
    return ND4C_OK;
  }
  nd4c_replica *source = nd4c_storage_find_current(body);
  if (source == NULL && (body->encoding != NULL || body->deferral != NULL)) {
    ND4C_TRY(body->encoding != NULL ? nd4c_encoded_decode(body) : nd4c_deferred_make(body));
    if (replica->state != 'I') {
      return ND4C_OK;
    }
    source = nd4c_storage_find_current(body);
  }
  if (source == NULL) {
    return nd4c_fail(ND4C_INTERNAL, "a storage without a current replica");
  }
  copy c = {.body = body, .source = source, .target = replica, .when = when};
  c.carrier = when != ND4C_BRING_NOW && body->base.bytes > 0 ? find_carrier(source->device, replica->device) : NULL;
  nd4c_status status = c.carrier != NULL ? copy_later(&c) : ND4C_UNSUPPORTED;
  if (status == ND4C_UNSUPPORTED && !nd4c_storage_is_put_off(body)) {
    status = copy_now(body, source, replica);
  }
  ND4C_TRY(status);
  source->state = replica->state = 'S';
  nd4c_storage_update_address(body);
  return ND4C_OK;
}
