/* Parts of a storage that the host reads or writes on the device where the contents are, without copying the rest.
 * access.c and print.c call it for small parts of large arrays. */
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "device/storage/forms.h"
#include "device/storage/storage.h"
#include "device/storage/storage_body.h"
#include "device/storage/transfer_stream.h"
#include "device/trace/tracer.h"

/* The cost of a small transfer, in bytes. */
enum { PIECE_COST = 256 };

/* At most a quarter of the storage: more is expensive in any case. */
static int64_t cost_of(const nd4c_storage *storage, int64_t bytes, int64_t pieces) {
  int64_t most = storage->bytes / 4, cost = pieces > most / PIECE_COST ? most : pieces * PIECE_COST;
  return bytes > cost ? bytes : cost;
}

static nd4c_block piece_of(const nd4c_replica *replica, int64_t offset) {
  nd4c_block piece = replica->block;
  piece.offset += offset;
  piece.address = piece.address != NULL ? (char *)piece.address + offset : NULL;
  return piece;
}

bool nd4c_storage_reads_apart(nd4c_storage *storage, int64_t bytes, int64_t pieces) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_device *host = NULL;
  if (atomic_load(&storage->address) != NULL ||
      (storage->flags & (ND4C_STORAGE_ENCODED | ND4C_STORAGE_DEFERRED)) != 0 || nd4c_device_host(&host) != ND4C_OK) {
    return false;
  }
  const int64_t cost = cost_of(storage, bytes, pieces);
  nd4c_storage_lock(body);
  const nd4c_replica *here = nd4c_replica_find(body, host);
  bool apart = (here == NULL || here->state == 'I') && cost < storage->bytes / 4 - body->read_apart;
  body->read_apart += apart ? cost : 0;
  nd4c_storage_unlock(body);
  return apart;
}

static nd4c_status read_piece(nd4c_storage_body *body, nd4c_device *host, int64_t offset, int64_t bytes, void *to) {
  nd4c_replica *source = body->poison == ND4C_OK ? nd4c_storage_find_current(body) : NULL;
  if (source == NULL) {
    return body->poison != ND4C_OK ? nd4c_storage_fail_poisoned(body)
                                   : nd4c_fail(ND4C_INTERNAL, "a storage without a current replica");
  }
  ND4C_TRY(nd4c_storage_settle_source(body, source));
  int64_t begin = nd4c_tracer_is_on() ? nd4c_os_nanoseconds() : 0;
  const nd4c_block piece = piece_of(source, offset);
  nd4c_replica_use(source);
  ND4C_TRY(nd4c_transfer_to_host(source->device, &piece, to, bytes));
  if (begin != 0 && source->device != host) {
    nd4c_tracer_ask(body); /* a later copy to the device does not complete a round trip with this one */
    nd4c_tracer_copy(begin, body, source->device, host, bytes);
    nd4c_tracer_ask(NULL);
  }
  return ND4C_OK;
}

nd4c_status nd4c_storage_read_piece(nd4c_storage *storage, int64_t offset, int64_t bytes, void *to) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  nd4c_status status;
  nd4c_storage_lock_settled(body, NULL, false);
  do {
    status = read_piece(body, host, offset, bytes, to);
  } while (nd4c_storage_resume(body, &status));
  nd4c_storage_unlock(body);
  return status;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */

bool nd4c_storage_writes_apart(nd4c_storage *storage, int64_t bytes, int64_t pieces) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  if (atomic_load(&storage->address) != NULL) {
    return false;
  }
  const int64_t cost = cost_of(storage, bytes, pieces);
  bool elsewhere = false;
  nd4c_storage_lock(body);
  for (const nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    elsewhere = elsewhere || (replica->state != 'I' && !nd4c_device_is_immediate(replica->device));
  }
  bool apart = elsewhere && cost < storage->bytes / 4 - body->wrote_apart;
  body->wrote_apart += apart ? cost : 0;
  nd4c_storage_unlock(body);
  return apart;
}

static nd4c_status write_to(nd4c_storage_body *body, nd4c_replica *replica, nd4c_device *host, int64_t offset,
                            int64_t bytes, const void *from) {
  const nd4c_block piece = piece_of(replica, offset);
  nd4c_fence_settle(replica->written); /* the source's write has succeeded, and the other replicas are copies of it */
  nd4c_readers_settle(&replica->readers);
  int64_t begin = nd4c_tracer_is_on() ? nd4c_os_nanoseconds() : 0;
  nd4c_replica_use(replica);
  ND4C_TRY(nd4c_transfer_from_host(replica->device, &piece, from, bytes));
  if (begin != 0 && replica->device != host) {
    nd4c_tracer_ask(body); /* a new value is not part of a round trip of the old one */
    nd4c_tracer_copy(begin, body, host, replica->device, bytes);
    nd4c_tracer_ask(NULL);
  }
  return ND4C_OK;
}

/* Replicas that missed the part become stale. If all missed it, the caller has cleared the marks: all stay current,
 * with the part undefined. */
static void keep_written(nd4c_storage_body *body) {
  nd4c_replica *only = NULL;
  int current = 0;
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    replica->state = replica->missed ? 'I' : replica->state;
    replica->missed = replica->left = false;
    current += replica->state != 'I';
    only = replica->state != 'I' ? replica : only;
  }
  if (current == 1) {
    only->state = 'M';
    atomic_store(&body->base.device, only->device);
  }
  nd4c_storage_update_address(body);
}

/* Waits for the work on all replicas that will be written. */
static nd4c_status await_current(nd4c_storage_body *body) {
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    if (replica->state != 'I') {
      ND4C_TRY(nd4c_storage_await_replica(body, replica));
    }
  }
  return ND4C_OK;
}

static nd4c_status write_piece(nd4c_storage_body *body, nd4c_device *host, int64_t offset, int64_t bytes,
                               const void *from) {
  nd4c_replica *source = body->poison == ND4C_OK ? nd4c_storage_find_current(body) : NULL;
  if (source == NULL) {
    return body->poison != ND4C_OK ? nd4c_storage_fail_poisoned(body)
                                   : nd4c_fail(ND4C_INTERNAL, "a storage without a current replica");
  }
  ND4C_TRY(nd4c_storage_settle_source(body, source));
  ND4C_TRY(await_current(body));
  nd4c_status status = ND4C_OK;
  int written = 0;
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    nd4c_replica_settle_copy(replica);
    if (replica->state != 'I') {
      nd4c_status here = write_to(body, replica, host, offset, bytes, from);
      replica->missed = here != ND4C_OK;
      written += here == ND4C_OK;
      status = here != ND4C_OK ? here : status;
    }
  }
  for (nd4c_replica *replica = &body->first; replica != NULL && written == 0; replica = replica->next) {
    replica->missed = false;
  }
  keep_written(body);
  return written > 0 ? ND4C_OK : status;
}

nd4c_status nd4c_storage_write_piece(nd4c_storage *storage, int64_t offset, int64_t bytes, const void *from) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_device *host = NULL;
  if ((storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
    return nd4c_fail(ND4C_READ_ONLY, "the array's storage is read-only");
  }
  ND4C_TRY(nd4c_device_host(&host));
  nd4c_status status;
  nd4c_storage_lock_settled(body, NULL, false);
  do {
    nd4c_forms_detach(body);
    status = write_piece(body, host, offset, bytes, from);
  } while (nd4c_storage_resume(body, &status));
  if (status == ND4C_OK && nd4c_tracer_is_on()) {
    nd4c_tracer_write(body, atomic_load(&storage->device));
  }
  nd4c_storage_unlock(body);
  return status;
}
