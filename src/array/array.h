/* The array handle inside the library: dtype, shape, strides, offset and storage. All layers above src/array use it. */
#ifndef ND4C_ARRAY_ARRAY_H
#define ND4C_ARRAY_ARRAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "array/storage.h"
#include "nd4c/array.h"

enum {
  ND4C_ARRAY_MAGIC = 0x6e643463, /* "nd4c" */
  ND4C_ARRAY_DEAD = 0x64656164,
  ND4C_ARRAY_INLINE_RANK = 6
};

struct nd4c_array {
  uint32_t magic;
  _Atomic int32_t references;
  nd4c_dtype dtype;
  int32_t rank;
  bool contiguous;    /* C order without gaps */
  int64_t size;       /* elements */
  int64_t offset;     /* elements from the storage's first byte to element 0 */
  uint64_t signature; /* hash of dtype, rank, shape and strides; equal layouts have equal signatures */
  nd4c_storage *storage;
  int64_t *shape; /* inline_dims or a separate block: rank extents, then rank strides */
  int64_t *strides;
  int64_t inline_dims[2 * ND4C_ARRAY_INLINE_RANK];
};

/* Makes a handle over `storage`; on success it takes over the caller's reference to the storage. strides NULL: C order.
 * The caller checks bounds (see nd4c_layout_bounds). UNSUPPORTED for a packed array that is not in C order or does not
 * begin at a whole block. Handles come from a per-thread cache. */
nd4c_status nd4c_array_make(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                            int64_t offset, nd4c_storage *storage, nd4c_array **out);

/* As nd4c_array_make, but takes over the reference also if it fails. */
static inline nd4c_status nd4c_array_make_of(nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                                             const int64_t *strides, int64_t offset, nd4c_storage *storage,
                                             nd4c_array **out) {
  const nd4c_status status = nd4c_array_make(dtype, rank, shape, strides, offset, storage, out);
  if (status != ND4C_OK) {
    nd4c_storage_release(storage);
  }
  return status;
}

/* As nd4c_array_make for a known layout: `size`, `contiguous` and `signature` are those of an earlier array with the
 * layout. */
nd4c_status nd4c_array_make_again(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                                  int64_t size, bool contiguous, uint64_t signature, nd4c_storage *storage,
                                  nd4c_array **out);

/* A view of `array`'s storage. The caller checks bounds; as nd4c_array_make for packed dtypes. */
nd4c_status nd4c_array_view(const nd4c_array *array, int32_t rank, const int64_t *shape, const int64_t *strides,
                            int64_t offset, nd4c_array **out);

/* As nd4c_array_view, if every element of the view is an element of the array, so that nothing can overflow; not
 * for packed dtypes. */
nd4c_status nd4c_array_view_within(const nd4c_array *array, int32_t rank, const int64_t *shape, const int64_t *strides,
                                   int64_t offset, nd4c_array **out);

/* Whether two handles have the same elements of one storage in the same layout. */
bool nd4c_array_is_same_view(const nd4c_array *a, const nd4c_array *b);

/* NULL_ARGUMENT or HANDLE, with the argument's name in the text. Debug builds poison released handles and keep them for
 * a while, so that a use after release is detected. */
nd4c_status nd4c_array_check(const nd4c_array *array, const char *what);

/* Bytes from the storage's first byte to element 0. Packed arrays begin at a whole block. */
static inline int64_t nd4c_array_offset_bytes(const nd4c_array *array) {
  return array->offset == 0 ? 0 : nd4c_dtype_bytes(array->dtype, array->offset);
}

/* Elements in whole blocks of `bytes` bytes. */
static inline int64_t nd4c_dtype_elements(nd4c_dtype dtype, int64_t bytes) {
  const nd4c_dtype_info *info = bytes == 0 ? NULL : nd4c_dtype_get_info(dtype);
  return info == NULL ? 0 : bytes / info->block_bytes * info->block_elements;
}

/* Address of element 0, given that storage->address is not NULL. */
static inline void *nd4c_array_address(const nd4c_array *array, int64_t element_bytes) {
  return (char *)atomic_load_explicit(&array->storage->address, memory_order_acquire) + array->offset * element_bytes;
}

/* Whether the array is in C order and begins at its storage's first byte, so that a kernel gets a whole buffer. */
static inline bool nd4c_array_is_whole(const nd4c_array *array) {
  return array->contiguous && array->offset == 0;
}

#endif
