#include "device/transfer_stream.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

/* Transfers run on a stream of their own, made for each: work that is queued elsewhere neither delays them nor are its
 * failures theirs. */
typedef nd4c_status (*transfer_function)(nd4c_device *device, nd4c_stream stream, const nd4c_block *block, void *host,
                                         int64_t bytes);

static nd4c_status enqueue_from_host(nd4c_device *device, nd4c_stream stream, const nd4c_block *block, void *host,
                                     int64_t bytes) {
  return device->ops->copy_from_host(device->handle, stream, block->buffer, 0, host, bytes);
}

static nd4c_status enqueue_to_host(nd4c_device *device, nd4c_stream stream, const nd4c_block *block, void *host,
                                   int64_t bytes) {
  return device->ops->copy_to_host(device->handle, stream, host, block->buffer, 0, bytes);
}

static nd4c_status wait_for_stream(nd4c_device *device, nd4c_stream stream) {
  nd4c_fence fence = NULL;
  ND4C_TRY(device->ops->fence_record(device->handle, stream, &fence));
  nd4c_status status = device->ops->fence_wait(device->handle, fence);
  device->ops->fence_destroy(device->handle, fence);
  return status;
}

static nd4c_status transfer(nd4c_device *device, const nd4c_block *block, void *host, int64_t bytes,
                            transfer_function enqueue) {
  if (bytes == 0) {
    return ND4C_OK;
  }
  if (!device->description.asynchronous) {
    return enqueue(device, NULL, block, host, bytes);
  }
  nd4c_stream stream = NULL;
  ND4C_TRY(device->ops->stream_create(device->handle, &stream));
  nd4c_status status = enqueue(device, stream, block, host, bytes);
  if (status == ND4C_OK) {
    status = wait_for_stream(device, stream);
  }
  device->ops->stream_destroy(device->handle, stream);
  return status == ND4C_OK ? status
                           : nd4c_fail_prefix(status, "copy of %lld bytes with %s", (long long)bytes, device->name);
}

nd4c_status nd4c_transfer_from_host(nd4c_device *device, const nd4c_block *to, const void *from, int64_t bytes) {
  if (to->address != NULL && !device->description.asynchronous) {
    memcpy(to->address, from, (size_t)bytes);
    return ND4C_OK;
  }
  /* The direction is enqueue_from_host's: the host side is only read. */
  void *host;
  memcpy(&host, &from, sizeof host);
  return transfer(device, to, host, bytes, enqueue_from_host);
}

nd4c_status nd4c_transfer_to_host(nd4c_device *device, const nd4c_block *from, void *to, int64_t bytes) {
  if (from->address != NULL && !device->description.asynchronous) {
    memcpy(to, from->address, (size_t)bytes);
    return ND4C_OK;
  }
  return transfer(device, from, to, bytes, enqueue_to_host);
}

static bool is_host_memory(const nd4c_device *device, const nd4c_block *block) {
  return block->address != NULL && !device->description.asynchronous;
}

nd4c_status nd4c_transfer_copy(nd4c_device *from_device, const nd4c_block *from, nd4c_device *to_device,
                               const nd4c_block *to, int64_t bytes) {
  if (is_host_memory(from_device, from)) {
    return nd4c_transfer_from_host(to_device, to, from->address, bytes);
  }
  if (is_host_memory(to_device, to)) {
    return nd4c_transfer_to_host(from_device, from, to->address, bytes);
  }
  void *staging = nd4c_allocate((size_t)bytes);
  if (staging == NULL) {
    return nd4c_fail_memory("staging a copy between devices", (size_t)bytes);
  }
  nd4c_status status = nd4c_transfer_to_host(from_device, from, staging, bytes);
  if (status == ND4C_OK) {
    status = nd4c_transfer_from_host(to_device, to, staging, bytes);
  }
  nd4c_deallocate(staging);
  return status;
}
