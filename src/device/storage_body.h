/* The whole of a storage, for the files of src/device that keep it. */
#ifndef ND4C_DEVICE_STORAGE_BODY_H
#define ND4C_DEVICE_STORAGE_BODY_H

#include "array/storage.h"
#include "device/fence.h"
#include "device/memory.h"
#include "nd4c/array.h"

enum { ND4C_REPLICA_READS = 4 };

/* The bytes of a storage on one device. */
typedef struct nd4c_replica {
  nd4c_device *device;
  nd4c_block block;
  char state; /* 'M' the only current one, 'S' current like others, 'I' stale */
  nd4c_shared_fence *written;
  nd4c_shared_fence *reads[ND4C_REPLICA_READS];
  struct nd4c_replica *next;
} nd4c_replica;

/* Replicas, states and fences are guarded by the storage's lock (one of a fixed set, by address); `base` as its comment
 * says. */
typedef struct nd4c_storage_body {
  nd4c_storage base;
  nd4c_replica first;
  nd4c_release_callback release; /* of foreign memory */
  void *release_user;
  nd4c_status poison;
  char *poison_text;
  struct nd4c_storage_body *grave_next;
} nd4c_storage_body;

/* Drops everything that a storage holds beyond its first replica's block: other replicas, fences, texts. */
void nd4c_storage_body_reset(nd4c_storage_body *body);
/* True if no work on the storage is pending. */
bool nd4c_storage_body_is_idle(nd4c_storage_body *body);
/* Keeps a storage whose work is pending until nd4c_storage_collect finds it idle. */
void nd4c_storage_bury(nd4c_storage_body *body);

#endif
