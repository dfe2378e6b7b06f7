/* Host access to the elements of arrays: nd4c_array_data, _item and the host's part of reading and writing. Programs
 * call the public functions; dispatch/fetch.c calls the others for nd4c_array_read and _write. */
#include <stddef.h>
#include <string.h>

#include "array/array.h"
#include "array/element.h"
#include "array/pack.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/access/write.h"
#include "device/context/context.h"
#include "device/memory/host.h"
#include "device/storage/storage.h"
#include "device/trace/tracer.h"

enum { ELEMENT_BYTES = 16 }; /* of the largest dtype */
enum {
  MOST_RUNS = 16
}; /* limit of parts that are written one by one on another device, since each is waited
      for */

nd4c_status nd4c_array_host_address(const nd4c_array *array, bool writes, void **address) {
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  nd4c_replica_view view;
  nd4c_access access = writes ? ND4C_ACCESS_READ_WRITE : ND4C_ACCESS_READ;
  ND4C_TRY(nd4c_storage_acquire(array->storage, host, NULL, access, ND4C_TRANSFER_ON_DEMAND, &view));
  if (writes) {
    nd4c_storage_commit(array->storage, host, access, NULL);
    if (nd4c_tracer_is_on()) {
      nd4c_tracer_write(array->storage, host);
    }
  }
  *address = (char *)view.address + nd4c_array_offset_bytes(array);
  return ND4C_OK;
}

/* The range of bytes that a strided array's elements span; its first byte is relative to element 0. */
static void find_span(const nd4c_array *array, int64_t *first, int64_t *bytes) {
  int64_t element = nd4c_dtype_size(array->dtype), low = 0, high = 0;
  (void)nd4c_layout_bounds(array->rank, array->shape, array->strides, &low, &high); /* cannot fail for an existing
                                                                                       array */
  *first = array->contiguous ? 0 : low * element;
  *bytes = array->contiguous ? nd4c_dtype_bytes(array->dtype, array->size) : (high - low + 1) * element;
}

nd4c_status nd4c_array_look_at(const nd4c_array *array, nd4c_look *look) {
  int64_t first = 0, bytes = 0;
  void *address = NULL;
  *look = (nd4c_look){0};
  if (atomic_load(&array->storage->address) == NULL && array->size > 0) {
    find_span(array, &first, &bytes);
    if (nd4c_storage_reads_apart(array->storage, bytes, 1)) {
      look->bytes = (size_t)bytes;
      look->copy = nd4c_host_table()->allocate_pages(look->bytes);
      if (look->copy == NULL) {
        return nd4c_fail_memory("reading an array", look->bytes);
      }
      look->element0 = (char *)look->copy - first;
      nd4c_status status =
          nd4c_storage_read_piece(array->storage, nd4c_array_offset_bytes(array) + first, bytes, look->copy);
      if (status != ND4C_OK) {
        nd4c_array_look_away(look);
      }
      return status;
    }
  }
  ND4C_TRY(nd4c_array_host_address(array, false, &address));
  look->element0 = address;
  return ND4C_OK;
}

void nd4c_array_look_away(nd4c_look *look) {
  nd4c_host_table()->free_pages(look->copy, look->bytes);
  *look = (nd4c_look){0};
}

nd4c_status nd4c_array_write_contiguous(nd4c_array *array, const void *host, int64_t bytes) {
  nd4c_device *device = atomic_load(&array->storage->device);
  void *address = nd4c_storage_ready_address(array->storage, device);
  if (address != NULL) {
    memcpy(address, host, (size_t)bytes);
    return ND4C_OK;
  }
  return nd4c_storage_upload(array->storage, host, bytes);
}

static nd4c_status check_output(const void *pointer, const char *function, const char *name) {
  return pointer != NULL ? ND4C_OK : nd4c_fail(ND4C_NULL_ARGUMENT, "%s: %s is NULL", function, name);
}

nd4c_status nd4c_array_data(const nd4c_array *array, const void **data) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_data: array"));
  ND4C_TRY(check_output(data, "nd4c_array_data", "data"));
  void *address = NULL;
  ND4C_TRY(nd4c_array_host_address(array, false, &address));
  *data = address;
  return ND4C_OK;
}

nd4c_status nd4c_array_data_mutable(nd4c_array *array, void **data) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_data_mutable: array"));
  ND4C_TRY(check_output(data, "nd4c_array_data_mutable", "data"));
  if (array->dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_DTYPE, "nd4c_array_data_mutable: strings cannot be written in place");
  }
  ND4C_TRY(nd4c_array_host_address(array, true, data));
  atomic_store_explicit(&array->storage->lent, true, memory_order_relaxed);
  return ND4C_OK;
}

static nd4c_status check_bytes(const nd4c_array *array, size_t bytes, const char *function) {
  size_t expected = (size_t)nd4c_dtype_bytes(array->dtype, array->size);
  if (array->dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_DTYPE, "%s: utf8: use nd4c_array_string and nd4c_array_from_strings", function);
  }
  if (bytes != expected) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %zu bytes given, %lld elements of %s need %zu", function, bytes,
                     (long long)array->size, nd4c_dtype_name(array->dtype), expected);
  }
  return ND4C_OK;
}

bool nd4c_array_is_scattered(const nd4c_array *array) {
  const nd4c_storage *storage = array->storage;
  const nd4c_device *device = atomic_load(&storage->device);
  if (array->contiguous || array->size == 0 || atomic_load(&storage->address) != NULL ||
      nd4c_device_is_immediate(device) || device->description.whole_buffers) {
    return false;
  }
  int64_t first = 0, span = 0;
  find_span(array, &first, &span);
  return span >= storage->bytes / 4 &&
         nd4c_storage_reads_apart(array->storage, nd4c_dtype_bytes(array->dtype, array->size), 1);
}

nd4c_status nd4c_array_read_here(const nd4c_array *array, void *data, size_t bytes) {
  ND4C_TRY(check_bytes(array, bytes, "nd4c_array_read"));
  if (bytes == 0) {
    return nd4c_storage_wait(array->storage);
  }
  ND4C_TRY(check_output(data, "nd4c_array_read", "data"));
  if (array->contiguous && nd4c_storage_reads_apart(array->storage, (int64_t)bytes, 1)) {
    return nd4c_storage_read_piece(array->storage, nd4c_array_offset_bytes(array), (int64_t)bytes, data);
  }
  if (array->contiguous) {
    void *address = NULL;
    ND4C_TRY(nd4c_array_host_address(array, false, &address));
    memcpy(data, address, bytes);
    return ND4C_OK;
  }
  nd4c_look look;
  ND4C_TRY(nd4c_array_look_at(array, &look));
  nd4c_pack(array->rank, array->shape, array->strides, nd4c_dtype_size(array->dtype), look.element0, data);
  nd4c_array_look_away(&look);
  return ND4C_OK;
}

/* Length of the contiguous runs at the end of the shape, of which a strided array consists. */
static int64_t run_length(const nd4c_array *array) {
  int64_t run = 1;
  for (int32_t axis = array->rank - 1; axis >= 0 && (array->shape[axis] == 1 || array->strides[axis] == run); axis--) {
    run *= array->shape[axis];
  }
  return run;
}

static nd4c_status write_runs(const nd4c_array *array, int64_t run, const char *data) {
  const int64_t element = nd4c_dtype_size(array->dtype);
  for (int64_t number = 0; number < array->size; number += run) {
    int64_t rest = number, offset = array->offset;
    for (int32_t axis = array->rank - 1; axis >= 0; axis--) {
      offset += rest % array->shape[axis] * array->strides[axis];
      rest /= array->shape[axis];
    }
    ND4C_TRY(nd4c_storage_write_piece(array->storage, offset * element, run * element, data + number * element));
  }
  return ND4C_OK;
}

/* Writes a few short parts of an array on another device in place. *done false: nothing was written. */
static nd4c_status write_apart(const nd4c_array *array, const void *data, int64_t bytes, bool *done) {
  const int64_t run = array->contiguous ? array->size : run_length(array);
  *done = array->size / run <= MOST_RUNS && nd4c_storage_writes_apart(array->storage, bytes, array->size / run);
  if (!*done) {
    return ND4C_OK;
  }
  return array->contiguous ? nd4c_storage_write_piece(array->storage, nd4c_array_offset_bytes(array), bytes, data)
                           : write_runs(array, run, data);
}

static nd4c_status write_elements(nd4c_array *array, const void *data, size_t bytes) {
  const nd4c_storage *storage = array->storage;
  if (array->contiguous && (int64_t)bytes == storage->bytes && atomic_load(&storage->address) == NULL) {
    /* Gives the whole storage a new value on its device; its old value or failure does not matter. */
    return nd4c_array_write_contiguous(array, data, (int64_t)bytes);
  }
  bool done = false;
  void *address = NULL;
  if (atomic_load(&storage->address) == NULL) {
    nd4c_status status = write_apart(array, data, (int64_t)bytes, &done);
    if (done) {
      return status;
    }
  }
  ND4C_TRY(nd4c_array_host_address(array, true, &address));
  if (array->contiguous) {
    memcpy(address, data, bytes);
    return ND4C_OK;
  }
  nd4c_unpack(array->rank, array->shape, array->strides, nd4c_dtype_size(array->dtype), data, address);
  return ND4C_OK;
}

void nd4c_array_written(nd4c_array *array) {
  nd4c_context *context = NULL;
  if (nd4c_context_resolve(NULL, &context) == ND4C_OK && context->transfer == ND4C_TRANSFER_EAGER) {
    nd4c_storage_refresh(array->storage);
  }
}

nd4c_status nd4c_array_write_here(nd4c_array *array, const void *data, size_t bytes) {
  ND4C_TRY(check_bytes(array, bytes, "nd4c_array_write"));
  if (bytes == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(check_output(data, "nd4c_array_write", "data"));
  bool alone = atomic_load(&array->storage->address) != NULL; /* no other replica is current, so none must be updated */
  ND4C_TRY(write_elements(array, data, bytes));
  if (!alone) {
    nd4c_array_written(array);
  }
  return ND4C_OK;
}

bool nd4c_array_takes_scattered(const nd4c_array *array, size_t bytes) {
  const nd4c_storage *storage = array->storage;
  const nd4c_device *device = atomic_load(&storage->device);
  if (array->contiguous || array->size == 0 || atomic_load(&storage->address) != NULL ||
      nd4c_device_is_immediate(device) || device->description.whole_buffers ||
      (storage->flags & ND4C_STORAGE_READ_ONLY) != 0 || (int64_t)bytes != nd4c_dtype_bytes(array->dtype, array->size)) {
    return false;
  }
  nd4c_device *host = NULL;
  char here = nd4c_device_host(&host) == ND4C_OK ? nd4c_storage_state(array->storage, host) : 'M';
  return here != 'M' && here != 'S' && array->size / run_length(array) > MOST_RUNS &&
         nd4c_layout_is_distinct(array->rank, array->shape, array->strides) &&
         nd4c_storage_writes_apart(array->storage, (int64_t)bytes, 1);
}

/* An element that shares a byte with others is read with them. */
static nd4c_status read_element(const nd4c_array *array, int64_t number, double *value) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(array->dtype);
  int64_t block = number / info->block_elements; /* packed arrays begin at a whole block; other dtypes have blocks of
                                                    one element */
  _Alignas(max_align_t) unsigned char bytes[ELEMENT_BYTES] = {0};
  ND4C_TRY(nd4c_storage_read_piece(array->storage, nd4c_array_offset_bytes(array) + block * info->block_bytes,
                                   info->block_bytes, bytes));
  *value = nd4c_element_get(array->dtype, bytes, number - block * info->block_elements);
  return ND4C_OK;
}

nd4c_status nd4c_array_item(const nd4c_array *array, const int64_t *index, double *value) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_item: array"));
  ND4C_TRY(check_output(value, "nd4c_array_item", "value"));
  ND4C_TRY(check_output(array->rank == 0 ? (const void *)value : index, "nd4c_array_item", "index"));
  if (array->dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_DTYPE, "nd4c_array_item: utf8: use nd4c_array_string");
  }
  int64_t offset = 0;
  for (int32_t axis = 0; axis < array->rank; axis++) {
    int64_t extent = array->shape[axis], at = index[axis] < 0 ? index[axis] + extent : index[axis];
    if (at < 0 || at >= extent) {
      return nd4c_fail(ND4C_INDEX, "nd4c_array_item: index %lld on axis %d, which has %lld elements",
                       (long long)index[axis], axis, (long long)extent);
    }
    offset += at * array->strides[axis];
  }
  void *address = NULL;
  if (nd4c_storage_reads_apart(array->storage, 1, 1)) {
    return read_element(array, offset, value);
  }
  ND4C_TRY(nd4c_array_host_address(array, false, &address));
  *value = nd4c_element_get(array->dtype, address, offset);
  return ND4C_OK;
}

nd4c_status nd4c_array_wait(const nd4c_array *array) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_wait: array"));
  return nd4c_storage_wait(array->storage);
}

nd4c_status nd4c_array_copy_packed(nd4c_array *to, const nd4c_array *from) {
  int64_t element = nd4c_dtype_size(from->dtype), bytes = nd4c_dtype_bytes(from->dtype, from->size);
  void *address = NULL, *target = atomic_load(&to->storage->address);
  ND4C_TRY(nd4c_array_host_address(from, false, &address));
  if (target != NULL) {
    nd4c_pack(from->rank, from->shape, from->strides, element, address, target);
    return ND4C_OK;
  }
  void *packed = nd4c_host_table()->allocate_pages((size_t)bytes);
  if (packed == NULL) {
    return nd4c_fail_memory("packing an array", (size_t)bytes);
  }
  nd4c_pack(from->rank, from->shape, from->strides, element, address, packed);
  nd4c_status status = nd4c_storage_upload(to->storage, packed, bytes);
  nd4c_host_table()->free_pages(packed, (size_t)bytes);
  return status;
}

nd4c_status nd4c_array_copy_contiguous(nd4c_array *to, const nd4c_array *from) {
  int64_t bytes = nd4c_dtype_bytes(from->dtype, from->size), offset = nd4c_array_offset_bytes(from);
  nd4c_device *target = atomic_load(&to->storage->device);
  nd4c_device *source = nd4c_storage_nearest(from->storage, target);
  nd4c_replica_view view;
  ND4C_TRY(nd4c_storage_acquire(from->storage, source, NULL, ND4C_ACCESS_READ, ND4C_TRANSFER_ON_DEMAND, &view));
  nd4c_status status = nd4c_fence_wait(view.written);
  nd4c_fence_release(view.written);
  view.address = view.address != NULL ? (char *)view.address + offset : NULL;
  view.offset += offset;
  if (status == ND4C_OK) {
    status = nd4c_storage_receive(to->storage, source, &view, bytes);
  }
  if (source->description.asynchronous) {
    nd4c_storage_cancel(from->storage, source);
  }
  return status;
}
