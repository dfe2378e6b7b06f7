/* The part of a storage that every layer may use: array.c and the layers above retain, release and address storages
 * with it. src/device/storage owns the rest (replicas, coherence, fences). */
#ifndef ND4C_ARRAY_STORAGE_H
#define ND4C_ARRAY_STORAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nd4c/device.h"

typedef struct nd4c_storage nd4c_storage;

/* ENCODED: the contents are quantised blocks, see device/storage/encoded.h; READ_ONLY, too.
 * DEFERRED: the contents are written when they are needed, see device/storage/deferred.h; READ_ONLY, too. */
enum { ND4C_STORAGE_READ_ONLY = 1, ND4C_STORAGE_FOREIGN = 2, ND4C_STORAGE_ENCODED = 4, ND4C_STORAGE_DEFERRED = 8 };

struct nd4c_storage {
  _Atomic int32_t references;
  uint32_t flags;
  int64_t bytes;
  /* First byte in host memory, if the current replica is on a synchronous device that the host reads by address. The
   * storage is then ready, and access needs neither a fence nor a coherence step. NULL: ask src/device. Changes only
   * under the storage's lock. */
  void *_Atomic address;
  nd4c_device *_Atomic device; /* of the current replica */
  void (*destroy)(nd4c_storage *storage);
  nd4c_dtype dtype; /* of the array that it was made for; NONE: it holds several arrays */
  /* The program holds an address of the host replica for writing: submitted work must not read the replica after the
   * submitting call has returned. */
  _Atomic bool lent;
};

static inline nd4c_storage *nd4c_storage_retain(nd4c_storage *storage) {
  atomic_fetch_add_explicit(&storage->references, 1, memory_order_relaxed);
  return storage;
}

static inline void nd4c_storage_release(nd4c_storage *storage) {
  /* The caller holds the only reference, so no other thread can change the count, and no atomic subtraction is
   * needed. */
  if (atomic_load_explicit(&storage->references, memory_order_acquire) == 1 ||
      atomic_fetch_sub_explicit(&storage->references, 1, memory_order_acq_rel) == 1) {
    storage->destroy(storage);
  }
}

#endif
