/* Storages made by hand, for tests below src/device. */
#ifndef ND4C_TESTS_ARRAY_HAND_STORAGE_H
#define ND4C_TESTS_ARRAY_HAND_STORAGE_H

#include <stdlib.h>
#include <string.h>

#include "array/array.h"

/* Storages that hand_storage_destroy freed so far. */
static int hand_storages_destroyed;

static void hand_storage_destroy(nd4c_storage *storage) {
  hand_storages_destroyed++;
  free(storage->address);
  free(storage);
}

/* One reference; a copy of `bytes` bytes at `data`, or zeros. */
static inline nd4c_storage *hand_storage(const void *data, size_t bytes) {
  nd4c_storage *storage = calloc(1, sizeof *storage);
  storage->address = calloc(bytes > 0 ? bytes : 1, 1);
  if (data != NULL && bytes > 0) {
    memcpy(storage->address, data, bytes);
  }
  storage->bytes = (int64_t)bytes;
  storage->destroy = hand_storage_destroy;
  atomic_init(&storage->references, 1);
  return storage;
}

#endif
