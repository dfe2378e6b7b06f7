/* Implements deferred.h. import/onnx/file/tensor_array.c, import/onnx/emission/dense.c and graph/passes/fold_affine.c
 * make deferred arrays; dispatch/constants.c packs them. */
#include "device/storage/deferred.h"

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/threads/parallel.h"
#include "device/device.h"
#include "device/storage/storage_body.h"

static const nd4c_deferral *deferral_of(const nd4c_storage *storage) {
  return (storage->flags & ND4C_STORAGE_DEFERRED) == 0 ? NULL : ((const nd4c_storage_body *)storage)->deferral;
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

static nd4c_status make_storage(nd4c_dtype dtype, int64_t bytes, const nd4c_deferral *deferral, nd4c_storage **out) {
  nd4c_device *host = NULL;
  nd4c_deferral *kept = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *kept, "a deferred array", &kept));
  nd4c_storage_body *body = nd4c_storage_body_make(host, dtype, bytes, ND4C_STORAGE_READ_ONLY | ND4C_STORAGE_DEFERRED);
  if (body == NULL) {
    nd4c_deallocate(kept);
    return ND4C_MEMORY;
  }
  *kept = *deferral;
  body->deferral = kept;
  body->first.state = 'I';
  *out = &body->base;
  return ND4C_OK;
}

nd4c_status nd4c_deferred_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const nd4c_deferral *deferral,
                                nd4c_array **array) {
  int64_t size = 0;
  nd4c_storage *storage = NULL;
  ND4C_TRY(nd4c_shape_size(dtype, rank, shape, &size));
  ND4C_TRY(make_storage(dtype, nd4c_dtype_bytes(dtype, size), deferral, &storage));
  nd4c_status status = nd4c_array_make(dtype, rank, shape, NULL, 0, storage, array);
  if (status != ND4C_OK) {
    ((nd4c_storage_body *)storage)->deferral->release = NULL; /* the caller still owns what it would free */
    nd4c_storage_release(storage);
  }
  return status;
}

void nd4c_deferred_free(nd4c_storage_body *body) {
  nd4c_deferral *deferral = body->deferral;
  if (deferral != NULL) {
    body->deferral = NULL;
    if (deferral->release != NULL) {
      deferral->release(deferral->user);
    }
    nd4c_deallocate(deferral);
  }
}

/* -- contents ------------------------------------------------------------------------------------------------------ */

bool nd4c_deferred_is_pending(const nd4c_storage *storage) {
  return deferral_of(storage) != NULL && atomic_load_explicit(&storage->address, memory_order_acquire) == NULL;
}

nd4c_status nd4c_deferred_write(const nd4c_storage *storage, void *to) {
  const nd4c_deferral *deferral = deferral_of(storage);
  if (deferral->bytes == NULL) {
    return deferral->fill(deferral->user, to);
  }
  nd4c_parallel_copy(to, deferral->bytes, storage->bytes);
  return ND4C_OK;
}

/* Memory that the program lent read-only, such as a mapped file, keeps its address and contents as long as it lives. */
static bool is_mapped(const nd4c_storage *storage) {
  const uint32_t both = ND4C_STORAGE_READ_ONLY | ND4C_STORAGE_FOREIGN;
  return (storage->flags & both) == both && atomic_load_explicit(&storage->address, memory_order_acquire) != NULL;
}

bool nd4c_deferred_can_read(const nd4c_storage *storage) {
  return deferral_of(storage) != NULL || is_mapped(storage);
}

nd4c_status nd4c_deferred_read(const nd4c_storage *storage, const void **bytes, void **made) {
  *made = NULL;
  if (deferral_of(storage) == NULL) {
    *bytes = atomic_load_explicit(&storage->address, memory_order_acquire);
    return ND4C_OK;
  }
  void *memory = nd4c_allocate((size_t)storage->bytes);
  if (memory == NULL) {
    return nd4c_fail_memory("a deferred array's contents", (size_t)storage->bytes);
  }
  nd4c_status status = nd4c_deferred_write(storage, memory);
  if (status != ND4C_OK) {
    nd4c_deallocate(memory);
    return status;
  }
  *bytes = *made = memory;
  return ND4C_OK;
}

nd4c_status nd4c_deferred_read_bytes(const nd4c_storage *storage, const void **bytes, void **made) {
  const nd4c_deferral *deferral = deferral_of(storage);
  if (deferral == NULL || deferral->bytes == NULL) {
    return nd4c_deferred_read(storage, bytes, made);
  }
  *bytes = deferral->bytes;
  *made = NULL;
  return ND4C_OK;
}

nd4c_status nd4c_deferred_make(nd4c_storage_body *body) {
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  nd4c_replica *replica = nd4c_replica_find(body, host);
  if (replica == NULL || !nd4c_replica_is_there(replica)) {
    return nd4c_storage_ask_for_memory(body, host);
  }
  ND4C_TRY(nd4c_deferred_write(&body->base, replica->block.address));
  replica->state = 'M';
  nd4c_storage_update_address(body);
  return ND4C_OK;
}
