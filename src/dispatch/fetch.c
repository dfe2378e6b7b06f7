/* nd4c_array_to_device, _read and _write, for programs, src/graph and src/import. Arrays in C order are copied
 * directly. A strided array is first made contiguous on its own device, by the op copy, or is scattered there after the
 * copy, so that only the elements' bytes are transferred. */
#include "array/array.h"
#include "base/compiler.h"
#include "base/status.h"
#include "device/access/write.h"
#include "device/context/context.h"
#include "device/device.h"
#include "device/storage/storage.h"
#include "nd4c/context.h"
#include "nd4c/ops.h"

/* The device lacks the op for this dtype or these strides, or the memory: the host does the work instead. */
static bool is_lack(nd4c_status status) {
  return status == ND4C_UNSUPPORTED || status == ND4C_MEMORY || status == ND4C_MEMORY_CAP;
}

static nd4c_status order_on(nd4c_device *device, const nd4c_array *from, nd4c_array *to) {
  nd4c_context *context = NULL;
  ND4C_TRY(nd4c_context_acquire(device, &context)); /* without routing: the op runs on this context */
  context->unasked = true;
  nd4c_status status = nd4c_copy_on(context, from, &to);
  nd4c_status released = nd4c_context_release(context);
  ND4C_TRY(status);
  ND4C_TRY(released);
  return nd4c_array_wait(to); /* reports failures in flight */
}

/* The elements in C order on a device where they are current; NULL: the device lacks the op or the memory. */
static nd4c_status make_ordered(nd4c_device *device, const nd4c_array *from, nd4c_array **out) {
  nd4c_array *ordered = NULL;
  *out = NULL;
  nd4c_status status = nd4c_array_empty(from->dtype, from->rank, from->shape, device, &ordered);
  if (is_lack(status)) {
    return ND4C_OK;
  }
  status = status == ND4C_OK ? order_on(device, from, ordered) : status;
  if (status == ND4C_OK) {
    *out = ordered;
    return ND4C_OK;
  }
  nd4c_array_release(ordered);
  return is_lack(status) ? ND4C_OK : status;
}

static nd4c_status order_and_send(nd4c_device *source, const nd4c_array *from, nd4c_array *to) {
  nd4c_array *ordered = NULL;
  ND4C_TRY(make_ordered(source, from, &ordered));
  if (ordered == NULL) {
    return ND4C_UNSUPPORTED;
  }
  nd4c_status status = nd4c_array_copy_contiguous(to, ordered);
  nd4c_array_release(ordered);
  return status;
}

static nd4c_status copy_strided(nd4c_array *to, const nd4c_array *from) {
  nd4c_device *target = atomic_load(&to->storage->device);
  nd4c_device *source = nd4c_storage_nearest(from->storage, target);
  /* A broadcast view repeats elements of the storage, so copying the storage is faster. */
  bool shrinks = nd4c_dtype_bytes(from->dtype, from->size) <= from->storage->bytes;
  if (nd4c_device_is_immediate(source) || (source != target && !shrinks) || source->description.whole_buffers) {
    return nd4c_array_copy_packed(to, from);
  }
  nd4c_status status = source == target ? order_on(source, from, to) : order_and_send(source, from, to);
  return is_lack(status) ? nd4c_array_copy_packed(to, from) : status;
}

nd4c_status nd4c_array_to_device(const nd4c_array *array, nd4c_device *device, nd4c_array **out) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_to_device: array"));
  if (out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_to_device: out is NULL");
  }
  if (array->dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_DTYPE, "nd4c_array_to_device: strings live on the host");
  }
  ND4C_TRY(nd4c_storage_wait(array->storage)); /* reports a failure before anything is allocated */
  nd4c_array *copy = NULL;
  nd4c_status status = nd4c_array_empty(array->dtype, array->rank, array->shape, device, &copy);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "nd4c_array_to_device");
  }
  if (array->size > 0) {
    status = array->contiguous ? nd4c_array_copy_contiguous(copy, array) : copy_strided(copy, array);
  }
  if (status != ND4C_OK) {
    nd4c_array_release(copy);
    return status;
  }
  *out = copy;
  return ND4C_OK;
}

nd4c_status nd4c_array_read(const nd4c_array *array, void *data, size_t bytes) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_read: array"));
  nd4c_array *ordered = NULL;
  if (ND4C_UNLIKELY(nd4c_array_is_scattered(array))) {
    nd4c_device *source = atomic_load(&array->storage->device);
    ND4C_TRY(nd4c_storage_wait(array->storage)); /* so that a failure of earlier work is reported as such */
    ND4C_TRY(make_ordered(source, array, &ordered));
  }
  nd4c_status status = nd4c_array_read_here(ordered != NULL ? ordered : array, data, bytes);
  nd4c_array_release(ordered);
  return status;
}

/* Copies the elements in C order to the array's device, which scatters them. UNSUPPORTED and the other codes of
 * is_lack: nothing was written. */
static nd4c_status scatter_on(nd4c_device *device, nd4c_array *array, const void *data) {
  nd4c_array *ordered = NULL;
  ND4C_TRY(nd4c_array_from_data(array->dtype, array->rank, array->shape, data, device, &ordered));
  nd4c_status status = order_on(device, ordered, array);
  nd4c_array_release(ordered);
  return status;
}

nd4c_status nd4c_array_write(nd4c_array *array, const void *data, size_t bytes) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_write: array"));
  if (ND4C_UNLIKELY(data != NULL && nd4c_array_takes_scattered(array, bytes))) {
    nd4c_device *device = atomic_load(&array->storage->device);
    ND4C_TRY(nd4c_storage_wait(array->storage)); /* so that a failure of earlier work is reported as such */
    nd4c_status status = scatter_on(device, array, data);
    if (status == ND4C_OK) {
      nd4c_array_written(array);
    }
    if (!is_lack(status)) {
      return status;
    }
  }
  return nd4c_array_write_here(array, data, bytes);
}
