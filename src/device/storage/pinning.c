/* Implements pinning.h: acquires the contents, pins the replica and waits for its value. access/dlpack.c and
 * access/external.c call it before they give memory away. */
#include "device/storage/pinning.h"

#include "base/status.h"
#include "device/trace/tracer.h"

static nd4c_status wait_for_value(nd4c_replica_view *view) {
  nd4c_status status = nd4c_fence_wait(view->written);
  nd4c_fence_release(view->written);
  view->written = NULL;
  return status;
}

/* Makes the device's replica the only current one. */
static nd4c_status take_for_writing(nd4c_storage *storage, nd4c_device *device, nd4c_replica_view *view) {
  ND4C_TRY(nd4c_storage_acquire(storage, device, NULL, ND4C_ACCESS_READ_WRITE, ND4C_TRANSFER_ON_DEMAND, view));
  nd4c_status status = wait_for_value(view);
  if (status != ND4C_OK) {
    nd4c_storage_cancel(storage, device);
    return status;
  }
  nd4c_storage_commit(storage, device, ND4C_ACCESS_READ_WRITE, NULL);
  if (nd4c_tracer_is_on()) {
    nd4c_tracer_write(storage, device);
  }
  return ND4C_OK;
}

nd4c_status nd4c_array_pin_place(nd4c_array *array, nd4c_device *device, nd4c_replica_view *view) {
  nd4c_storage *storage = array->storage;
  ND4C_TRY(nd4c_storage_own(storage)); /* the receiver keeps the address, so the memory must not end with a workspace's
                                          scope */
  ND4C_TRY(nd4c_storage_acquire(storage, device, NULL, ND4C_ACCESS_READ, ND4C_TRANSFER_ON_DEMAND, view));
  nd4c_storage_pin(storage, device); /* before another thread that needs memory can move it */
  const nd4c_status status = wait_for_value(view);
  if (status != ND4C_OK) {
    nd4c_storage_unpin(storage, device);
  }
  return status;
}

nd4c_status nd4c_array_pin_contents(nd4c_array *array, nd4c_device *device, nd4c_replica_view *view) {
  const nd4c_status status = nd4c_array_is_read_only(array) ? ND4C_OK : take_for_writing(array->storage, device, view);
  if (status != ND4C_OK) {
    nd4c_storage_unpin(array->storage, device);
  }
  return status;
}

nd4c_status nd4c_array_pin(nd4c_array *array, nd4c_device *device, nd4c_replica_view *view) {
  ND4C_TRY(nd4c_array_pin_place(array, device, view));
  return nd4c_array_pin_contents(array, device, view);
}
