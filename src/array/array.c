/* Implements array.h and the queries of nd4c/array.h. device/access, device/storage and dispatch make handles here, and
 * check the arrays that callers give to public functions. */
#include "array/array.h"

#include <stdlib.h>
#include <string.h>

#include "array/handle_cache.h"
#include "array/narrow.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/compiler.h"
#include "base/recycle.h"
#include "base/status.h"

static inline uint64_t hash_add(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

/* Small extents and strides differ in a few low bits only, so each word is multiplied before the next one comes in. */
static uint64_t layout_signature(const nd4c_array *array) {
  const uint64_t encoded = array->storage->flags & ND4C_STORAGE_ENCODED; /* keeps their signatures apart from those of
                                                                            other arrays */
  uint64_t hash =
      hash_add(UINT64_C(0x6a09e667f3bcc908), encoded << 32 | (uint64_t)array->dtype << 8 | (uint64_t)array->rank);
  for (int32_t i = 0; i < array->rank; i++) {
    hash = hash_add(hash, (uint64_t)array->shape[i]);
    hash = hash_add(hash, (uint64_t)array->strides[i]);
  }
  return hash;
}

/* Frees shape and strides that do not fit into the handle. */
static inline size_t dims_bytes(int32_t rank) {
  return 2 * (size_t)rank * sizeof(int64_t);
}

static void array_free(nd4c_array *array) {
  if (array->shape != array->inline_dims) {
    nd4c_recycle_give(array->shape, dims_bytes(array->rank));
  }
  nd4c_handle_recycle(array);
}

/* A handle with room for `rank` axes; only its layout is initialised. */
static inline nd4c_status take_handle(int32_t rank, nd4c_array **out) {
  nd4c_array *array = nd4c_handle_take();
  if (ND4C_UNLIKELY(array == NULL)) {
    return nd4c_fail_memory("an array's handle", sizeof *array);
  }
  array->shape = array->inline_dims;
  if (ND4C_UNLIKELY(rank > ND4C_ARRAY_INLINE_RANK)) {
    array->shape = nd4c_recycle_take_raw(dims_bytes(rank));
    if (array->shape == NULL) {
      array->shape = array->inline_dims;
      array_free(array);
      return nd4c_fail_memory("an array's shape", dims_bytes(rank));
    }
  }
  array->strides = array->shape + rank;
  array->rank = rank;
  *out = array;
  return ND4C_OK;
}

static inline void finish_handle(nd4c_array *array, nd4c_dtype dtype, int64_t size, int64_t offset,
                                 nd4c_storage *storage) {
  array->dtype = dtype;
  array->size = size;
  array->offset = offset;
  array->storage = storage;
  atomic_store_explicit(&array->references, 1, memory_order_relaxed);
  array->magic = ND4C_ARRAY_MAGIC;
}

/* Elements that share a byte have no address: packed arrays lie in C order and begin with a block. */
static nd4c_status check_packed(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                                int64_t offset) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  if (strides != NULL && !nd4c_shape_is_contiguous(rank, shape, strides)) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s holds %d elements a byte: arrays of it are contiguous, cast first",
                     info->name, (int)info->block_elements);
  }
  if (offset % info->block_elements != 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s holds %d elements a byte: no byte begins with element %lld, cast first",
                     info->name, (int)info->block_elements, (long long)offset);
  }
  return ND4C_OK;
}

nd4c_status nd4c_array_make(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                            int64_t offset, nd4c_storage *storage, nd4c_array **out) {
  int64_t size;
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_shape_size(dtype, rank, shape, &size));
  if (ND4C_UNLIKELY(nd4c_dtype_is_packed(dtype))) {
    ND4C_TRY(check_packed(dtype, rank, shape, strides, offset));
    strides = NULL; /* those of axes of length 1 do not matter */
  }
  ND4C_TRY(take_handle(rank, &array));
  for (int32_t i = 0; i < rank; i++) {
    array->shape[i] = shape[i];
  }
  if (strides == NULL) {
    nd4c_shape_strides(rank, shape, array->strides);
    array->contiguous = true;
  } else {
    for (int32_t i = 0; i < rank; i++) {
      array->strides[i] = strides[i];
    }
    array->contiguous = nd4c_shape_is_contiguous(rank, shape, strides);
  }
  finish_handle(array, dtype, size, offset, storage);
  array->signature = layout_signature(array);
  *out = array;
  return ND4C_OK;
}

nd4c_status nd4c_array_make_again(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                                  int64_t size, bool contiguous, uint64_t signature, nd4c_storage *storage,
                                  nd4c_array **out) {
  nd4c_array *array = NULL;
  ND4C_TRY(take_handle(rank, &array));
  for (int32_t i = 0; i < rank; i++) {
    array->shape[i] = shape[i];
    array->strides[i] = strides[i];
  }
  array->contiguous = contiguous;
  array->signature = signature;
  finish_handle(array, dtype, size, 0, storage);
  *out = array;
  return ND4C_OK;
}

bool nd4c_array_is_same_view(const nd4c_array *a, const nd4c_array *b) {
  return a->storage == b->storage && a->offset == b->offset && a->dtype == b->dtype &&
         nd4c_shape_equal(a->rank, a->shape, b->rank, b->shape) &&
         memcmp(a->strides, b->strides, (size_t)a->rank * sizeof *a->strides) == 0;
}

nd4c_status nd4c_array_view_within(const nd4c_array *array, int32_t rank, const int64_t *shape, const int64_t *strides,
                                   int64_t offset, nd4c_array **out) {
  nd4c_array *view = NULL;
  int64_t size = 1;
  ND4C_TRY(take_handle(rank, &view));
  for (int32_t i = 0; i < rank; i++) {
    view->shape[i] = shape[i];
    view->strides[i] = strides[i];
    size *= shape[i];
  }
  view->contiguous = nd4c_shape_is_contiguous(rank, shape, strides);
  finish_handle(view, array->dtype, size, offset, nd4c_storage_retain(array->storage));
  view->signature = layout_signature(view);
  *out = view;
  return ND4C_OK;
}

static inline bool array_is_live(const nd4c_array *array) {
  return array != NULL && ND4C_LIKELY(array->magic == ND4C_ARRAY_MAGIC);
}

nd4c_status nd4c_array_check(const nd4c_array *array, const char *what) {
  if (ND4C_LIKELY(array_is_live(array))) {
    return ND4C_OK;
  }
  if (array == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s is NULL: expected an array", what);
  }
  return nd4c_fail(ND4C_HANDLE, "%s is %s", what,
                   array->magic == ND4C_ARRAY_DEAD ? "an array that was released" : "not an array");
}

nd4c_array *nd4c_array_retain(nd4c_array *array) {
  if (array_is_live(array)) {
    atomic_fetch_add_explicit(&array->references, 1, memory_order_relaxed);
  }
  return array;
}

void nd4c_array_release(nd4c_array *array) {
  if (array == NULL || nd4c_array_check(array, "array_release: array") != ND4C_OK) {
    return;
  }
  /* The caller holds the only reference, so no other thread can change the count, and no atomic subtraction is
   * needed. */
  if (atomic_load_explicit(&array->references, memory_order_acquire) != 1 &&
      atomic_fetch_sub_explicit(&array->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  nd4c_storage *storage = array->storage;
  array_free(array);
  nd4c_storage_release(storage);
}

/* -- queries -------------------------------------------------------------------------------------------------- */

nd4c_dtype nd4c_array_dtype(const nd4c_array *array) {
  return array_is_live(array) ? array->dtype : ND4C_DTYPE_NONE;
}

int32_t nd4c_array_rank(const nd4c_array *array) {
  return array_is_live(array) ? array->rank : -1;
}

const int64_t *nd4c_array_shape(const nd4c_array *array) {
  return array_is_live(array) ? array->shape : NULL;
}

const int64_t *nd4c_array_strides(const nd4c_array *array) {
  return array_is_live(array) ? array->strides : NULL;
}

int64_t nd4c_array_size(const nd4c_array *array) {
  return array_is_live(array) ? array->size : 0;
}

bool nd4c_array_is_contiguous(const nd4c_array *array) {
  return array_is_live(array) && array->contiguous;
}

bool nd4c_array_is_read_only(const nd4c_array *array) {
  return array_is_live(array) && (array->storage->flags & ND4C_STORAGE_READ_ONLY) != 0;
}

nd4c_device *nd4c_array_device(const nd4c_array *array) {
  return array_is_live(array) ? array->storage->device : NULL;
}

/* First and last byte that a view touches, from the storage's first byte; false for an empty view. Views are checked
 * against their storage when they are made, so nothing overflows. */
static bool view_bytes(const nd4c_array *array, int64_t *first, int64_t *last) {
  int64_t low, high;
  if (!nd4c_layout_bounds(array->rank, array->shape, array->strides, &low, &high) || low > high) {
    return false;
  }
  *first = nd4c_dtype_bytes(array->dtype, array->offset + low);
  *last = nd4c_dtype_bytes(array->dtype, array->offset + high + 1) - 1;
  return true;
}

static int64_t common_step(const nd4c_array *array, int64_t step) {
  for (int32_t i = 0; i < array->rank; i++) {
    int64_t other = array->shape[i] > 1 ? llabs(array->strides[i]) : 0;
    while (other != 0) {
      int64_t rest = step % other;
      step = other;
      other = rest;
    }
  }
  return step;
}

/* Interleaved views of one storage: the elements of each lie on a grid, and the two grids never meet. */
static bool views_interlace(const nd4c_array *a, const nd4c_array *b) {
  if (nd4c_dtype_size(a->dtype) != nd4c_dtype_size(b->dtype) || nd4c_dtype_size(a->dtype) == 0) {
    return false;
  }
  int64_t step = common_step(b, common_step(a, 0));
  return step > 1 && (b->offset - a->offset) % step != 0;
}

bool nd4c_array_overlaps(const nd4c_array *a, const nd4c_array *b) {
  int64_t a_first, a_last, b_first, b_last;
  if (!array_is_live(a) || !array_is_live(b) || !view_bytes(a, &a_first, &a_last) ||
      !view_bytes(b, &b_first, &b_last)) {
    return false;
  }
  if (a->storage == b->storage) {
    return a_first <= b_last && b_first <= a_last && !views_interlace(a, b);
  }
  /* Two storages may wrap the same foreign memory. */
  uintptr_t a_base = (uintptr_t)a->storage->address, b_base = (uintptr_t)b->storage->address;
  return a_base != 0 && b_base != 0 && a_base + (uintptr_t)a_first <= b_base + (uintptr_t)b_last &&
         b_base + (uintptr_t)b_first <= a_base + (uintptr_t)a_last;
}
