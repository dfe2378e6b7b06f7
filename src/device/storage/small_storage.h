/* Small storages of the host: header and data in one block, recycled in per-thread lists, so that a fresh result of 8
 * elements costs no lock and no system call. storage.c makes them. */
#ifndef ND4C_DEVICE_STORAGE_SMALL_STORAGE_H
#define ND4C_DEVICE_STORAGE_SMALL_STORAGE_H

#include "device/storage/storage_body.h"
#include "device/stream/thread.h"

enum { ND4C_SMALL_STORAGE_BYTES = 256 };

typedef struct nd4c_small_storage {
  nd4c_storage_body body;
  struct nd4c_small_storage *next; /* free ones */
  _Alignas(64) unsigned char data[ND4C_SMALL_STORAGE_BYTES];
} nd4c_small_storage;

/* A storage of up to ND4C_SMALL_STORAGE_BYTES on `host`, which is the host device. */
nd4c_status nd4c_small_storage_create(nd4c_device *host, nd4c_dtype dtype, int64_t bytes, nd4c_storage **out);

/* Frees the thread's list. */
void nd4c_small_storage_trim(nd4c_thread *thread);

#endif
