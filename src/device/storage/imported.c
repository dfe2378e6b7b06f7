/* Implements imported.h: makes such a storage, and lists the live ones for reports. access/external.c makes them;
 * access/memory_query.c reads the list. */
#include "device/storage/imported.h"

#include "base/alloc.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/storage/storage_body.h"
#include "device/stream/exit_and_fork.h"
#include "device/trace/tracer.h"

typedef struct imported {
  nd4c_storage_body body;
  nd4c_external_kind kind;
  struct imported *next, *previous; /* list of all imported storages, under the lock */
} imported;

static nd4c_lock lock = ND4C_LOCK_INIT; /* guards the list; nothing is called under it */
static imported *all;
static nd4c_once forks_once = ND4C_ONCE_INIT;

static void lock_all(void) {
  nd4c_lock_acquire(&lock);
}

static void unlock_all(void) {
  nd4c_lock_release(&lock);
}

static void watch_forks(void) {
  nd4c_os_around_fork(lock_all, unlock_all);
}

static void list(imported *storage) {
  nd4c_once_run(&forks_once, watch_forks);
  lock_all();
  storage->previous = NULL;
  storage->next = all;
  if (all != NULL) {
    all->previous = storage;
  }
  all = storage;
  unlock_all();
}

static void unlist(imported *storage) {
  lock_all();
  *(storage->previous != NULL ? &storage->previous->next : &all) = storage->next;
  if (storage->next != NULL) {
    storage->next->previous = storage->previous;
  }
  unlock_all();
}

/* Called when the work on it has ended. */
static void end_import(imported *storage) {
  nd4c_storage_body *body = &storage->body;
  nd4c_device *device = body->first.device;
  const nd4c_release_callback release = body->release;
  void *user = body->release_user;
  unlist(storage);
  if (!nd4c_device_is_forked(device)) {
    nd4c_driver_buffer_free(device, body->first.block.buffer);
  }
  nd4c_recycle_give(storage, sizeof *storage);
  if (release != NULL) {
    release(user);
  }
}

static void destroy_imported(nd4c_storage *base) {
  nd4c_storage_body *body = (nd4c_storage_body *)base;
  if (nd4c_storage_body_end(body)) {
    end_import((imported *)body);
  }
}

static nd4c_status import_block(nd4c_device *device, const nd4c_external *external, nd4c_block *block) {
  ND4C_TRY(nd4c_driver_import_memory(device, external, &block->buffer));
  nd4c_status status = nd4c_driver_buffer_address(device, block->buffer, ND4C_MEMORY_KIND_DEVICE, &block->address);
  if (status == ND4C_OK && external->kind == ND4C_EXTERNAL_DEVICE_POINTER && block->address != external->pointer) {
    status = nd4c_fail(ND4C_DEVICE, "buffers.address gave %p for memory that was imported at %p", block->address,
                       external->pointer);
  }
  if (status != ND4C_OK) {
    nd4c_driver_buffer_free(device, block->buffer);
  }
  block->bytes = external->bytes;
  return status;
}

nd4c_status nd4c_storage_import(nd4c_device *device, nd4c_dtype dtype, const nd4c_external *external,
                                nd4c_storage **out) {
  ND4C_TRY(nd4c_device_admit(device));
  imported *storage = nd4c_recycle_take_raw(sizeof *storage);
  if (storage == NULL) {
    return nd4c_fail_memory("a storage", sizeof *storage);
  }
  nd4c_storage_body *body = &storage->body;
  nd4c_storage_body_start(body, device, dtype, external->bytes,
                          ND4C_STORAGE_FOREIGN | (external->read_only ? ND4C_STORAGE_READ_ONLY : 0U), destroy_imported);
  nd4c_status status = import_block(device, external, &body->first.block);
  if (status != ND4C_OK) {
    nd4c_recycle_give(storage, sizeof *storage);
    return status;
  }
  storage->kind = external->kind;
  body->base.address = nd4c_device_is_immediate(device) ? body->first.block.address : NULL;
  list(storage);
  if (nd4c_tracer_is_on()) {
    nd4c_tracer_write(body, device); /* events of an earlier storage at this address do not count */
  }
  *out = &body->base;
  return ND4C_OK;
}

void nd4c_imports_count(const nd4c_device *device, int64_t *count, int64_t *bytes) {
  *count = *bytes = 0;
  lock_all();
  for (const imported *storage = all; storage != NULL; storage = storage->next) {
    const bool here = storage->body.first.device == device;
    *count += here;
    *bytes += here ? storage->body.base.bytes : 0;
  }
  unlock_all();
}

void nd4c_imports_report(const nd4c_device *device, nd4c_text *report) {
  lock_all();
  for (const imported *storage = all; storage != NULL; storage = storage->next) {
    if (storage->body.first.device == device) {
      nd4c_text_print(report, "%lld bytes imported from a %s, not allocated here\n",
                      (long long)storage->body.base.bytes, nd4c_external_kind_name(storage->kind));
    }
  }
  unlock_all();
}
