/* How operations on a storage wait for submitted work, and get memory, without the storage's lock. coherence.c,
 * residence.c and replica_copy.c put an operation off here; storage_body.h shows how. */
#include "base/status.h"
#include "device/storage/storage_body.h"

nd4c_status nd4c_storage_put_off(nd4c_storage_body *body, nd4c_shared_fence *fence) {
  if (body->awaited == NULL) {
    body->awaited = nd4c_fence_retain(fence);
  }
  return ND4C_UNSUPPORTED;
}

nd4c_status nd4c_storage_await(nd4c_storage_body *body, nd4c_shared_fence *fence) {
  return nd4c_fence_is_known(fence) ? ND4C_OK : nd4c_storage_put_off(body, fence);
}

nd4c_status nd4c_storage_await_replica(nd4c_storage_body *body, nd4c_replica *replica) {
  ND4C_TRY(nd4c_storage_await(body, replica->written));
  return nd4c_storage_await(body, nd4c_readers_find_pending(&replica->readers));
}

nd4c_status nd4c_storage_await_all(nd4c_storage_body *body) {
  for (nd4c_replica *replica = &body->first; replica != NULL; replica = replica->next) {
    ND4C_TRY(nd4c_storage_await_replica(body, replica));
  }
  return ND4C_OK;
}

nd4c_status nd4c_storage_ask_for_memory(nd4c_storage_body *body, nd4c_device *device) {
  body->lacking = device;
  return ND4C_UNSUPPORTED;
}

void nd4c_storage_forget_need(nd4c_storage_body *body) {
  nd4c_fence_release(body->awaited);
  body->awaited = NULL;
  body->lacking = NULL;
}

/* Releases the lock meanwhile. */
static void wait_outside(nd4c_storage_body *body, nd4c_shared_fence *fence) {
  nd4c_storage_unlock(body);
  nd4c_fence_settle(fence);
  nd4c_fence_release(fence);
  nd4c_storage_lock(body);
}

/* Releases the lock meanwhile: a device that is full may wait for work that keeps memory. */
static nd4c_status allocate_outside(nd4c_storage_body *body, nd4c_device *device) {
  nd4c_block block = {0};
  nd4c_replica *replica = NULL;
  const nd4c_memory_request request = {.bytes = body->base.bytes, .origin = "a replica", .dtype = body->base.dtype};
  nd4c_storage_unlock(body);
  const nd4c_status status = nd4c_memory_allocate(device, &request, &block);
  nd4c_storage_lock(body);
  return status == ND4C_OK ? nd4c_replica_install(body, device, &block, &replica) : status;
}

bool nd4c_storage_provide(nd4c_storage_body *body, nd4c_status *status) {
  nd4c_shared_fence *fence = body->awaited;
  nd4c_device *device = body->lacking;
  body->awaited = NULL;
  body->lacking = NULL;
  if (fence != NULL) {
    wait_outside(body, fence);
    return true;
  }
  *status = allocate_outside(body, device);
  return *status == ND4C_OK;
}
