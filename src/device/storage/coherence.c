/* Coherence of a storage's replicas: which one is current, and which copies a use needs (storage.h). submit,
 * graph/modes and device/access acquire a storage here before they use it, and commit it afterwards. */
#include <string.h>

#include "base/alloc.h"
#include "base/config/log.h"
#include "base/os.h"
#include "base/status.h"
#include "device/storage/forms.h"
#include "device/storage/replica_copy.h"
#include "device/storage/storage.h"
#include "device/storage/storage_body.h"
#include "device/storage/transfer_stream.h"
#include "device/stream/exit_and_fork.h"
#include "device/trace/tracer.h"

nd4c_replica *nd4c_replica_find(nd4c_storage_body *body, const nd4c_device *device) {
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    if (replica->device == device) {
      return replica;
    }
  }
  return NULL;
}

void nd4c_storage_update_address(nd4c_storage_body *body) {
  nd4c_replica *only = NULL;
  int current = 0;
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    if (replica->state != 'I') {
      only = replica;
      current++;
    }
  }
  bool direct = current == 1 && body->poison == ND4C_OK && nd4c_device_is_immediate(only->device) &&
                only->written == NULL && only->readers.count == 0;
  if (direct && atomic_load_explicit(&body->forms, memory_order_relaxed) != NULL) {
    nd4c_forms_doubt(body);
  }
  atomic_store(&body->base.address, direct ? only->block.address : NULL);
}

nd4c_status nd4c_storage_fail_poisoned(const nd4c_storage_body *body) {
  return nd4c_fail(body->poison, "%s", body->poison_text != NULL ? body->poison_text : "a failed operation");
}

static void set_poison(nd4c_storage_body *body, nd4c_status code, const char *text) {
  nd4c_deallocate(body->poison_text);
  body->poison = code;
  body->poison_text = nd4c_duplicate_text(text);
  nd4c_storage_update_address(body);
}

void nd4c_replica_settle_copy(nd4c_replica *replica) {
  if (!replica->copied) {
    return;
  }
  if (nd4c_fence_outcome(replica->written) != ND4C_OK) {
    replica->state = 'I'; /* the replica that it was copied from is still current */
  }
  nd4c_fence_release(replica->written);
  replica->written = NULL;
  replica->copied = false;
}

nd4c_replica *nd4c_storage_find_current(nd4c_storage_body *body) {
  nd4c_replica *found = NULL;
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    bool complete = replica->state != 'I' && !replica->copied;
    if (complete && !nd4c_device_is_forked(replica->device)) {
      return replica;
    }
    found = complete && found == NULL ? replica : found;
  }
  if (found != NULL) {
    return found;
  }
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    if (nd4c_fence_is_known(replica->written)) {
      nd4c_replica_settle_copy(replica);
    }
    if (replica->state != 'I') {
      return replica;
    }
  }
  return NULL;
}

/* After a failed copy the value is still in the replica from which it was copied: the operation is put off, and finds
 * that replica when it is tried again. */
static nd4c_status settle_copied_source(nd4c_storage_body *body, nd4c_replica *source) {
  nd4c_shared_fence *copied = nd4c_fence_retain(source->written);
  nd4c_replica_settle_copy(source);
  const nd4c_status status = source->state != 'I' ? ND4C_OK : nd4c_storage_put_off(body, copied);
  nd4c_fence_release(copied);
  return status;
}

nd4c_status nd4c_storage_settle_source(nd4c_storage_body *body, nd4c_replica *source) {
  if (source->written == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_storage_await(body, source->written));
  if (source->copied) {
    return settle_copied_source(body, source);
  }
  nd4c_status status = nd4c_fence_wait(source->written);
  if (status != ND4C_OK) {
    set_poison(body, status, nd4c_error_message());
    return status;
  }
  nd4c_fence_release(source->written);
  source->written = NULL;
  nd4c_fence_collect(source->device);
  return ND4C_OK;
}

bool nd4c_replica_runs_far_ahead(void) {
  static const int64_t much = INT64_C(64) << 20;
  return nd4c_storage_buried_bytes() + nd4c_fence_kept_bytes() > much;
}

int32_t nd4c_replica_count_readers(void) {
  return nd4c_replica_runs_far_ahead() ? ND4C_READERS_FEW : ND4C_READERS_MOST;
}

nd4c_status nd4c_replica_order_after(nd4c_storage_body *body, nd4c_replica *replica, nd4c_device *device,
                                     nd4c_stream stream, bool writes) {
  bool on_host = false;
  nd4c_shared_fence *reader = NULL;
  if (replica->written != NULL) {
    ND4C_TRY(nd4c_fence_enqueue_wait(replica->written, device, stream, &on_host));
  }
  if (on_host) {
    ND4C_TRY(nd4c_storage_await(body, replica->written));
  }
  if (writes && replica->readers.count > 0) {
    ND4C_TRY(nd4c_readers_enqueue_wait(&replica->readers, device, stream, &reader));
  }
  return reader != NULL ? nd4c_storage_await(body, reader) : ND4C_OK;
}

/* -- waiting ------------------------------------------------------------------------------------------------------ */

/* The fence for which a reader on the device would have to wait; NULL: none. Work on a stream of the device does not
 * wait if the contents are current there. */
static nd4c_shared_fence *find_wait(nd4c_storage_body *body, nd4c_device *device, bool follows) {
  const nd4c_replica *current = body->poison == ND4C_OK ? nd4c_storage_find_current(body) : NULL;
  if (current == NULL || current->written == NULL) {
    return NULL;
  }
  const bool streams = device != NULL && device->description.asynchronous;
  const nd4c_replica *here = streams ? nd4c_replica_find(body, device) : NULL;
  if (here != NULL && here->state != 'I') {
    return NULL;
  }
  return follows && nd4c_replica_can_follow(current, device) ? NULL : current->written;
}

void nd4c_storage_lock_settled(nd4c_storage_body *body, nd4c_device *device, bool follows) {
  nd4c_storage_lock(body);
  nd4c_shared_fence *fence = find_wait(body, device, follows);
  while (fence != NULL && !nd4c_fence_is_known(fence)) {
    nd4c_status status = nd4c_storage_put_off(body, fence);
    (void)nd4c_storage_resume(body, &status);
    fence = find_wait(body, device, follows); /* another thread may have begun a write */
  }
}

/* -- acquire and commit ------------------------------------------------------------------------------------------ */

/* Whether the use needs a copy, although the context forbids copies. */
static nd4c_status check_transfer(nd4c_storage_body *body, const nd4c_replica *replica, const nd4c_device *device) {
  if (replica != NULL && nd4c_replica_is_there(replica) && replica->state != 'I') {
    return ND4C_OK;
  }
  const nd4c_device *from = atomic_load(&body->base.device);
  if ((body->encoding != NULL || body->deferral != NULL) && from == device && nd4c_storage_find_current(body) == NULL) {
    return ND4C_OK; /* it is decoded or written on the host */
  }
  return nd4c_fail(ND4C_UNSUPPORTED,
                   "its contents are on %s and needed on %s, and transfers are off (none, by the context's option "
                   "transfer or nd4c.device.transfer): nd4c_array_migrate or nd4c_array_prefetch brings them there",
                   from->name, device->name);
}

/* Makes the device's replica current for work that reads it. */
static nd4c_status prepare_read(nd4c_storage_body *body, nd4c_replica *replica, nd4c_bring when) {
  if (replica->copied && !replica->device->description.asynchronous) {
    ND4C_TRY(nd4c_storage_await(body, replica->written));
  }
  if (replica->copied && nd4c_fence_is_known(replica->written)) {
    nd4c_replica_settle_copy(replica);
  }
  nd4c_status status = nd4c_replica_bring(body, replica, when);
  if (replica->state == 'I' && !nd4c_storage_is_put_off(body) && !replica->pinned && replica->holds == 0 &&
      nd4c_replica_is_idle(replica) && replica->block.node != NULL) {
    nd4c_replica_drop(body, replica); /* the copy has failed: it has no contents, so its memory is freed */
  }
  ND4C_TRY(status);
  return replica->device->description.asynchronous ? ND4C_OK : nd4c_storage_settle_source(body, replica);
}

static nd4c_status acquire_slowly(nd4c_storage_body *body, nd4c_device *device, nd4c_stream stream, nd4c_access access,
                                  nd4c_transfer transfer, nd4c_bring when, nd4c_replica_view *view) {
  bool reads = access != ND4C_ACCESS_WRITE;
  if (reads && body->poison != ND4C_OK) {
    nd4c_replica_drop_fresh(body);
    return nd4c_storage_fail_poisoned(body);
  }
  nd4c_replica *replica = nd4c_replica_find(body, device);
  if (reads && transfer == ND4C_TRANSFER_NONE) {
    ND4C_TRY(check_transfer(body, replica, device));
  }
  if (replica == NULL || !nd4c_replica_is_there(replica)) {
    return nd4c_storage_ask_for_memory(body, device);
  }
  if (reads) {
    ND4C_TRY(prepare_read(body, replica, when));
  }
  if (device->description.asynchronous) {
    body->wrote_apart = 0; /* writing parts there saved this use a copy of the whole storage */
  }
  ND4C_TRY(nd4c_replica_order_after(body, replica, device, stream, access != ND4C_ACCESS_READ));
  nd4c_replica_use(replica);
  replica->fresh = false;
  replica->holds += device->description.asynchronous || (access == ND4C_ACCESS_WRITE && replica->state == 'I');
  replica->eager = access != ND4C_ACCESS_READ && transfer == ND4C_TRANSFER_EAGER;
  view->address = replica->block.address;
  view->buffer = replica->block.buffer;
  view->offset = replica->block.offset;
  view->written = reads ? nd4c_fence_retain(replica->written) : NULL;
  return ND4C_OK;
}

nd4c_status nd4c_storage_acquire(nd4c_storage *storage, nd4c_device *device, nd4c_stream stream, nd4c_access access,
                                 nd4c_transfer transfer, nd4c_replica_view *view) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  *view = (nd4c_replica_view){0};
  if (access != ND4C_ACCESS_READ && (storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
    return nd4c_fail(ND4C_READ_ONLY, "the array's storage is read-only");
  }
  void *address = nd4c_storage_ready_address(storage, device);
  if (address != NULL) {
    view->address = address;
    view->buffer = body->first.device == device ? body->first.block.buffer : NULL;
    view->offset = body->first.device == device ? body->first.block.offset : 0;
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_device_admit(device));
  const nd4c_bring when = stream != NULL ? ND4C_BRING_FOLLOWING : ND4C_BRING_NOW;
  if (access == ND4C_ACCESS_WRITE) {
    nd4c_storage_lock(body);
  } else {
    nd4c_storage_lock_settled(body, device, stream != NULL);
  }
  nd4c_status status;
  do {
    status = acquire_slowly(body, device, stream, access, transfer, when, view);
  } while (nd4c_storage_resume(body, &status));
  nd4c_storage_unlock(body);
  return status;
}

static void commit_write(nd4c_storage_body *body, nd4c_replica *written, nd4c_shared_fence *fence) {
  nd4c_forms_detach(body);
  nd4c_replica_release_fences(written); /* the new fence comes after all of them on the stream */
  written->written = nd4c_fence_retain(fence);
  written->fresh = false;
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    replica->left = replica != written && replica->state != 'I';
    replica->state = replica == written ? 'M' : 'I';
  }
  nd4c_deallocate(body->poison_text);
  body->poison_text = NULL;
  body->poison = ND4C_OK;
  body->read_apart = body->wrote_apart = 0;
  atomic_store(&body->base.device, written->device);
  if (!nd4c_device_is_immediate(written->device)) {
    atomic_store_explicit(&body->base.lent, false, memory_order_relaxed); /* the address is no longer valid */
  }
  nd4c_storage_update_address(body);
}

/* A replica that the last write made stale and that is to be updated; NULL: there is none. Clears `left` of the
 * replicas before it, which are not updated. */
static nd4c_replica *find_left(nd4c_storage_body *body) {
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    if (replica->left && replica->state == 'I' && nd4c_replica_is_there(replica)) {
      return replica;
    }
    replica->left = false;
  }
  return NULL;
}

/* Updates the replicas that the last write made stale. If a copy fails, the replica stays stale, and its next use
 * reports why. May release the lock in between. */
static void refresh(nd4c_storage_body *body) {
  for (nd4c_replica *replica; body->poison == ND4C_OK && (replica = find_left(body)) != NULL;) {
    nd4c_device *device = replica->device;
    nd4c_status status = nd4c_replica_bring(body, replica, ND4C_BRING_FOLLOWING);
    if (nd4c_storage_resume(body, &status)) {
      continue; /* the replica may have been dropped */
    }
    replica->left = false;
    if (status != ND4C_OK) {
      nd4c_log_write(ND4C_LOG_INFO, "coherence", "an eager copy to %s: %s", device->name, nd4c_error_message());
    }
  }
}

nd4c_device *nd4c_storage_nearest(nd4c_storage *storage, nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_device *host = NULL, *found = atomic_load(&storage->device);
  if (atomic_load(&storage->address) != NULL || found == device || nd4c_device_host(&host) != ND4C_OK) {
    return found;
  }
  nd4c_storage_lock(body);
  for (nd4c_replica *replica = &body->first; replica != NULL && found != device; replica = replica->next) {
    bool here = replica->state != 'I' && nd4c_replica_is_there(replica);
    found = here && (replica->device == device || replica->device == host) ? replica->device : found;
  }
  nd4c_storage_unlock(body);
  return found;
}

void nd4c_storage_refresh(nd4c_storage *storage) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_storage_lock(body);
  refresh(body);
  nd4c_storage_unlock(body);
}

static void let_go(nd4c_replica *replica) {
  replica->holds -= replica->holds > 0;
}

/* Adds the fence of work that reads the replica, which is still held by that use. If the replica has very many readers,
 * the host waits for the oldest. */
static void add_reader(nd4c_storage_body *body, nd4c_replica *replica, nd4c_shared_fence *fence) {
  const int32_t most = nd4c_replica_count_readers();
  for (nd4c_shared_fence *oldest; (oldest = nd4c_readers_try_add(&replica->readers, fence, most)) != NULL;) {
    nd4c_status status = nd4c_storage_await(body, oldest);
    (void)nd4c_storage_resume(body, &status);
  }
}

void nd4c_storage_commit(nd4c_storage *storage, nd4c_device *device, nd4c_access access, nd4c_shared_fence *fence) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  if (fence == NULL && nd4c_storage_ready_address(storage, device) != NULL) {
    return;
  }
  nd4c_storage_lock(body);
  nd4c_replica *replica = nd4c_replica_find(body, device);
  if (replica != NULL && access != ND4C_ACCESS_READ) {
    bool eager = replica->eager;
    let_go(replica);
    replica->eager = false;
    commit_write(body, replica, fence);
    if (eager) {
      refresh(body);
    }
  } else if (replica != NULL) {
    if (fence != NULL) {
      add_reader(body, replica, fence);
      nd4c_storage_update_address(body);
    }
    let_go(replica);
  }
  nd4c_storage_unlock(body);
}

void nd4c_storage_cancel(nd4c_storage *storage, nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_storage_lock(body);
  nd4c_replica *replica = nd4c_replica_find(body, device);
  if (replica != NULL) {
    let_go(replica);
  }
  nd4c_storage_unlock(body);
}

void nd4c_storage_pin(nd4c_storage *storage, nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_storage_lock(body);
  nd4c_replica *replica = nd4c_replica_find(body, device);
  if (replica != NULL) {
    let_go(replica);
    replica->pinned += replica->pinned < UINT32_MAX;
    nd4c_storage_attach(body); /* the end of the storage resets both */
  }
  nd4c_storage_unlock(body);
}

void nd4c_storage_unpin(nd4c_storage *storage, const nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_storage_lock(body);
  nd4c_replica *replica = nd4c_replica_find(body, device);
  if (replica != NULL) {
    replica->pinned -= replica->pinned > 0;
  }
  nd4c_storage_unlock(body);
}

/* -- failures and new values ------------------------------------------------------------------------------------- */

void nd4c_storage_poison(nd4c_storage *storage, nd4c_status code, const char *text) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_storage_lock(body);
  set_poison(body, code, text);
  nd4c_storage_unlock(body);
}

nd4c_status nd4c_storage_create_spent(const char *text, nd4c_storage **storage) {
  nd4c_device *host = NULL;
  nd4c_storage *made = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_storage_create_own(host, NULL, ND4C_DTYPE_NONE, 0, "a spent array", &made));
  nd4c_storage_poison(made, ND4C_POISONED, text);
  if (((nd4c_storage_body *)made)->poison_text == NULL) {
    nd4c_storage_release(made);
    return nd4c_fail_memory("a text", strlen(text));
  }
  made->flags |= ND4C_STORAGE_READ_ONLY;
  *storage = made;
  return ND4C_OK;
}

/* Makes the device's replica stale if another one is current; false: there is none. */
static bool leave_to_others(nd4c_storage_body *body, const nd4c_device *device) {
  nd4c_replica *suspect = nd4c_replica_find(body, device), *other = &body->first;
  while (other != NULL && (other == suspect || other->state == 'I')) {
    other = other->next;
  }
  if (suspect == NULL || other == NULL) {
    return false;
  }
  suspect->state = 'I';
  atomic_store(&body->base.device, other->device);
  nd4c_storage_update_address(body);
  return true;
}

void nd4c_storage_fail_write(nd4c_storage *storage, const nd4c_device *device, nd4c_status code, const char *text) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_storage_lock(body);
  if (body->poison != ND4C_OK || !leave_to_others(body, device)) {
    set_poison(body, code, text);
  }
  nd4c_storage_unlock(body);
}

bool nd4c_storage_is_poisoned(nd4c_storage *storage) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_storage_lock(body);
  bool poisoned = body->poison != ND4C_OK;
  nd4c_storage_unlock(body);
  return poisoned;
}

void nd4c_storage_spare(nd4c_storage *storage, const nd4c_device *device) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_storage_lock(body);
  nd4c_deallocate(body->poison_text);
  body->poison_text = NULL;
  body->poison = ND4C_OK;
  if (!leave_to_others(body, device)) {
    nd4c_storage_update_address(body);
  }
  nd4c_storage_unlock(body);
}

nd4c_status nd4c_storage_wait(nd4c_storage *storage) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  if (atomic_load(&storage->address) != NULL) {
    return ND4C_OK;
  }
  nd4c_status status;
  nd4c_storage_lock_settled(body, NULL, false);
  do {
    nd4c_replica *current = nd4c_storage_find_current(body);
    status = body->poison != ND4C_OK ? nd4c_storage_fail_poisoned(body)
             : current != NULL       ? nd4c_storage_settle_source(body, current)
                                     : ND4C_OK;
  } while (nd4c_storage_resume(body, &status));
  nd4c_storage_unlock(body);
  return status;
}

/* Writes a new value to the storage: by `fill` (from NULL) or by a copy from a block of the device `from`. */
typedef struct new_value {
  nd4c_device *from;
  nd4c_block block;
  const void *pattern;
  int32_t pattern_bytes;
  int64_t bytes;
} new_value;

/* A new value ends round trips of the old one. */
static void trace_new_value(int64_t begin, const nd4c_storage_body *body, const new_value *value,
                            const nd4c_device *device) {
  if (value->from != NULL && value->from != device) {
    nd4c_tracer_ask(body);
    nd4c_tracer_copy(begin, body, value->from, device, value->bytes);
    nd4c_tracer_ask(NULL);
  }
  nd4c_tracer_write(body, device);
}

static nd4c_status write_value(const nd4c_replica *to, const new_value *value) {
  return value->from != NULL
             ? nd4c_transfer_copy(value->from, &value->block, to->device, &to->block, value->bytes)
             : nd4c_transfer_fill(to->device, &to->block, value->bytes, value->pattern, value->pattern_bytes);
}

/* Under the lock. */
static nd4c_status put_value(nd4c_storage_body *body, const new_value *value) {
  nd4c_device *device = atomic_load(&body->base.device);
  nd4c_replica *replica = nd4c_replica_find(body, device);
  ND4C_TRY(nd4c_storage_await_all(body));
  /* The outcome of earlier work does not matter to a new value. */
  nd4c_storage_body_settle(body);
  int64_t begin = nd4c_tracer_is_on() ? nd4c_os_nanoseconds() : 0;
  if (replica == NULL || !nd4c_replica_is_there(replica)) { /* poisoned: may have been dropped */
    return nd4c_storage_ask_for_memory(body, device);
  }
  ND4C_TRY(write_value(replica, value));
  if (begin != 0) {
    trace_new_value(begin, body, value, replica->device);
  }
  nd4c_replica_use(replica);
  commit_write(body, replica, NULL);
  return ND4C_OK;
}

static nd4c_status replace(nd4c_storage *storage, const new_value *value) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_status status;
  if ((storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
    return nd4c_fail(ND4C_READ_ONLY, "the array's storage is read-only");
  }
  nd4c_storage_lock(body);
  do {
    status = put_value(body, value);
  } while (nd4c_storage_resume(body, &status));
  nd4c_storage_unlock(body);
  return status;
}

nd4c_status nd4c_storage_upload(nd4c_storage *storage, const void *host, int64_t bytes) {
  nd4c_replica_view view = {0};
  nd4c_device *device = NULL;
  ND4C_TRY(nd4c_device_host(&device));
  memcpy(&view.address, &host, sizeof host); /* it is only read */
  return nd4c_storage_receive(storage, device, &view, bytes);
}

nd4c_status nd4c_storage_receive(nd4c_storage *storage, nd4c_device *from, const nd4c_replica_view *view,
                                 int64_t bytes) {
  return replace(storage,
                 &(new_value){.from = from,
                              .block = {.address = view->address, .buffer = view->buffer, .offset = view->offset},
                              .bytes = bytes});
}

nd4c_status nd4c_storage_fill(nd4c_storage *storage, int64_t bytes, const void *pattern, int32_t pattern_bytes) {
  return replace(storage, &(new_value){.pattern = pattern, .pattern_bytes = pattern_bytes, .bytes = bytes});
}
