/* Creates arrays: nd4c_array_empty, _zeros, _full, _wrap and the others of nd4c/array.h. Programs call them; dispatch,
 * import and io create their arrays here, too. */
#include <math.h>
#include <string.h>

#include "array/array.h"
#include "array/element.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/access/write.h"
#include "device/context/context.h"
#include "device/context/routing.h"
#include "device/memory/host.h"
#include "device/storage/storage.h"
#include "device/storage/transfer_stream.h"
#include "device/trace/tracer.h"

enum { ELEMENT_BYTES = 16 }; /* of the largest dtype */

static nd4c_status resolve_device(int64_t bytes, nd4c_device **device) {
  if (*device != NULL) {
    return nd4c_device_check(*device, "making an array");
  }
  nd4c_context *context = NULL;
  ND4C_TRY(nd4c_context_resolve(NULL, &context));
  *device = context->device;
  return context->routing != NULL ? nd4c_routing_place(context, bytes, device) : ND4C_OK;
}

static nd4c_status make_empty(nd4c_dtype dtype, int32_t rank, const int64_t *shape, nd4c_device *device,
                              const char *origin, nd4c_array **out) {
  if (out == NULL || (shape == NULL && rank > 0)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: %s is NULL", origin, out == NULL ? "out" : "shape");
  }
  int64_t bytes = 0;
  nd4c_status status = nd4c_shape_bytes(dtype, rank, shape, &bytes);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "%s", origin);
  }
  if (dtype == ND4C_UTF8) {
    const nd4c_device *asked = device;
    ND4C_TRY(nd4c_device_host(&device));
    if (asked != NULL && asked != device) {
      ND4C_TRY(nd4c_device_check(asked, origin));
      return nd4c_fail(ND4C_DTYPE, "%s: strings live on the host, not on %s", origin, asked->name);
    }
  }
  ND4C_TRY(resolve_device(bytes, &device));
  nd4c_storage *storage = NULL;
  status = nd4c_storage_create(device, NULL, dtype, bytes, origin, &storage);
  if (status != ND4C_OK) {
    return nd4c_device_fail_prefix(status, device, "on", "%s", origin);
  }
  status = nd4c_array_make(dtype, rank, shape, NULL, 0, storage, out);
  if (status != ND4C_OK) {
    nd4c_storage_release(storage);
  } else if (nd4c_tracer_is_on()) {
    nd4c_tracer_write(storage, device); /* events of an earlier storage at this address do not count */
  }
  return status;
}

/* Fills a fresh array, or releases it after a failure. */
static nd4c_status fill_fresh(nd4c_array **out, nd4c_array *array, nd4c_status status) {
  if (status != ND4C_OK) {
    nd4c_array_release(array);
    return status;
  }
  *out = array;
  return ND4C_OK;
}

nd4c_status nd4c_array_empty(nd4c_dtype dtype, int32_t rank, const int64_t *shape, nd4c_device *device,
                             nd4c_array **out) {
  nd4c_array *array = NULL;
  ND4C_TRY(make_empty(dtype, rank, shape, device, "nd4c_array_empty", out != NULL ? &array : NULL));
  if (dtype == ND4C_UTF8) {
    /* Undefined contents must still be valid text, so all strings are empty. */
    memset(nd4c_array_address(array, 1), 0, (size_t)array->storage->bytes);
  }
  *out = array;
  return ND4C_OK;
}

/* Fills a fresh array with an element, or with the elements that share a byte; on its device, if the device can.
 * `zero`: all bits are 0. */
static nd4c_status fill_array(nd4c_array *array, const void *element, bool zero) {
  int64_t size = nd4c_dtype_bytes(array->dtype, 1), bytes = nd4c_dtype_bytes(array->dtype, array->size);
  char *host = atomic_load(&array->storage->address);
  const nd4c_device *device = atomic_load(&array->storage->device);
  if (bytes == 0) {
    return ND4C_OK;
  }
  if (host != NULL && zero) {
    memset(host, 0, (size_t)bytes);
    return ND4C_OK;
  }
  if (host != NULL) {
    nd4c_transfer_repeat(host, bytes, element, size);
    return ND4C_OK;
  }
  if (device->ops->fill != NULL) {
    /* Another thread that needs memory may move the array meanwhile, to a device without `fill`. */
    nd4c_status status = nd4c_storage_fill(array->storage, bytes, element, (int32_t)size);
    if (status != ND4C_UNSUPPORTED) {
      return status;
    }
  }
  host = nd4c_host_table()->allocate_pages((size_t)bytes);
  if (host == NULL) {
    return nd4c_fail_memory("filling an array", (size_t)bytes);
  }
  nd4c_transfer_repeat(host, bytes, element, size);
  nd4c_status status = nd4c_storage_upload(array->storage, host, bytes);
  nd4c_host_table()->free_pages(host, (size_t)bytes);
  return status;
}

nd4c_status nd4c_array_zeros(nd4c_dtype dtype, int32_t rank, const int64_t *shape, nd4c_device *device,
                             nd4c_array **out) {
  nd4c_array *array = NULL;
  ND4C_TRY(make_empty(dtype, rank, shape, device, "nd4c_array_zeros", out != NULL ? &array : NULL));
  static const unsigned char zero[ELEMENT_BYTES];
  return fill_fresh(out, array, fill_array(array, zero, true));
}

nd4c_status nd4c_array_full(nd4c_dtype dtype, int32_t rank, const int64_t *shape, double value, nd4c_device *device,
                            nd4c_array **out) {
  unsigned char element[ELEMENT_BYTES] = {0};
  if (dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_DTYPE, "nd4c_array_full: a utf8 array cannot be filled with a number");
  }
  nd4c_array *array = NULL;
  ND4C_TRY(make_empty(dtype, rank, shape, device, "nd4c_array_full", out != NULL ? &array : NULL));
  for (int32_t i = 0; i < nd4c_dtype_get_info(dtype)->block_elements; i++) {
    nd4c_element_set(dtype, element, i, value);
  }
  return fill_fresh(out, array, fill_array(array, element, false));
}

nd4c_status nd4c_array_scalar(nd4c_dtype dtype, double value, nd4c_device *device, nd4c_array **out) {
  return nd4c_array_full(dtype, 0, NULL, value, device, out);
}

/* Elements 0 to count - 1 of a range. The loops of the usual dtypes are simple, so that compilers vectorise them. */
static void fill_range(nd4c_dtype dtype, char *host, double start, double step, int64_t count) {
  const double last = start + (double)(count - 1) * step;
  const bool whole = start == floor(start) && step == floor(step) && fabs(start) < 0x1p53 && fabs(last) < 0x1p53;
  if (dtype == ND4C_INT64 && whole) {
    const int64_t first = (int64_t)start, stride = (int64_t)step;
    for (int64_t i = 0; i < count; i++) {
      ((int64_t *)(void *)host)[i] = first + i * stride;
    }
  } else if (dtype == ND4C_FLOAT64) {
    for (int64_t i = 0; i < count; i++) {
      ((double *)(void *)host)[i] = start + (double)i * step;
    }
  } else if (dtype == ND4C_FLOAT32) {
    for (int64_t i = 0; i < count; i++) {
      ((float *)(void *)host)[i] = (float)(start + (double)i * step);
    }
  } else {
    for (int64_t i = 0; i < count; i++) {
      nd4c_element_set(dtype, host, i, start + (double)i * step);
    }
  }
}

nd4c_status nd4c_array_arange(nd4c_dtype dtype, double start, double step, int64_t count, nd4c_device *device,
                              nd4c_array **out) {
  if (dtype == ND4C_UTF8 || dtype == ND4C_BOOL) {
    return nd4c_fail(ND4C_DTYPE, "nd4c_array_arange: %s: expected a number type", nd4c_dtype_name(dtype));
  }
  nd4c_array *array = NULL;
  ND4C_TRY(make_empty(dtype, 1, &count, device, "nd4c_array_arange", out != NULL ? &array : NULL));
  int64_t bytes = nd4c_dtype_bytes(dtype, count);
  char *host = atomic_load(&array->storage->address);
  bool direct = host != NULL;
  if (!direct && (host = nd4c_host_table()->allocate_pages((size_t)bytes)) == NULL) {
    return fill_fresh(out, array, nd4c_fail_memory("filling an array", (size_t)bytes));
  }
  if (bytes > 0) {
    host[bytes - 1] = 0; /* the last byte of a packed array may have unused bits */
  }
  fill_range(dtype, host, start, step, count);
  nd4c_status status = direct ? ND4C_OK : nd4c_array_write_contiguous(array, host, bytes);
  if (!direct) {
    nd4c_host_table()->free_pages(host, (size_t)bytes);
  }
  return fill_fresh(out, array, status);
}

nd4c_status nd4c_array_from_data(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const void *data,
                                 nd4c_device *device, nd4c_array **out) {
  if (dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_DTYPE, "nd4c_array_from_data: utf8 arrays are made by nd4c_array_from_strings");
  }
  nd4c_array *array = NULL;
  ND4C_TRY(make_empty(dtype, rank, shape, device, "nd4c_array_from_data", out != NULL ? &array : NULL));
  int64_t bytes = nd4c_dtype_bytes(dtype, array->size);
  if (data == NULL && bytes > 0) {
    return fill_fresh(out, array, nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_from_data: data is NULL"));
  }
  return fill_fresh(out, array, bytes > 0 ? nd4c_array_write_contiguous(array, data, bytes) : ND4C_OK);
}

nd4c_status nd4c_array_wrap(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides, void *data,
                            bool read_only, nd4c_release_callback release, void *user, nd4c_array **out) {
  if (out == NULL || (shape == NULL && rank > 0)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_wrap: %s is NULL", out == NULL ? "out" : "shape");
  }
  if (dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_DTYPE, "nd4c_array_wrap: utf8 arrays are made by nd4c_array_from_strings");
  }
  int64_t first = 0, bytes = 0;
  ND4C_TRY(nd4c_layout_extent(dtype, rank, shape, strides, &first, &bytes));
  if (data == NULL && bytes > 0) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_wrap: data is NULL");
  }
  if ((uintptr_t)data % (uintptr_t)nd4c_dtype_get_info(dtype)->alignment != 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_array_wrap: data at %p is not aligned to %d bytes as %s needs", data,
                     nd4c_dtype_get_info(dtype)->alignment, nd4c_dtype_name(dtype));
  }
  static unsigned char nothing; /* the address of storages without bytes */
  char *begin = data != NULL ? (char *)data + first : (char *)&nothing;
  nd4c_storage *storage = NULL;
  ND4C_TRY(nd4c_storage_wrap(begin, dtype, bytes, read_only, NULL, NULL, &storage));
  int64_t offset = first == 0 ? 0 : -first / nd4c_dtype_size(dtype);
  ND4C_TRY(nd4c_array_make_of(dtype, rank, shape, strides, offset, storage, out));
  /* Set last, because the callback must not be called if wrapping fails. */
  nd4c_storage_set_release(storage, release, user);
  return ND4C_OK;
}
