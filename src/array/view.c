/* Views of arrays: implements the slicing functions of nd4c/array.h. Programs call those; dispatch/indexing*.c and
 * graph/ir make their views here. */
#include <stddef.h>

#include "array/array.h"
#include "array/narrow.h"
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"

/* A packed view ends at a block, or where its parent ends: writing it must not touch later elements. */
static nd4c_status check_packed_end(const nd4c_array *array, int32_t rank, const int64_t *shape, int64_t offset) {
  int64_t size = 0, elements = nd4c_dtype_get_info(array->dtype)->block_elements;
  ND4C_TRY(nd4c_shape_size(array->dtype, rank, shape, &size));
  if (size > 0 && (offset + size) % elements != 0 && offset + size != array->offset + array->size) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s holds %d elements a byte: no byte ends with element %lld, cast first",
                     nd4c_dtype_name(array->dtype), (int)elements, (long long)(offset + size - 1));
  }
  return ND4C_OK;
}

/* A view shares the parent's storage; on failure the reference taken for it is given back. */
nd4c_status nd4c_array_view(const nd4c_array *array, int32_t rank, const int64_t *shape, const int64_t *strides,
                            int64_t offset, nd4c_array **out) {
  if (nd4c_dtype_is_packed(array->dtype)) {
    ND4C_TRY(check_packed_end(array, rank, shape, offset));
  }
  nd4c_storage *storage = nd4c_storage_retain(array->storage);
  nd4c_status status = nd4c_array_make(array->dtype, rank, shape, strides, offset, storage, out);
  if (status != ND4C_OK) {
    nd4c_storage_release(storage);
  }
  return status;
}

void nd4c_slice_axis(int64_t length, int64_t start, int64_t stop, int64_t step, int64_t *first, int64_t *count) {
  /* Forwards indices lie in 0..length, backwards in -1..length - 1. */
  int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? length : length - 1;
  if (start == ND4C_SLICE_NONE) {
    start = step > 0 ? lowest : highest;
  } else {
    start += start < 0 ? length : 0;
    start = start < lowest ? lowest : start > highest ? highest : start;
  }
  if (stop == ND4C_SLICE_NONE) {
    stop = step > 0 ? highest : lowest;
  } else {
    stop += stop < 0 ? length : 0;
    stop = stop < lowest ? lowest : stop > highest ? highest : stop;
  }
  uint64_t distance = step > 0 ? (uint64_t)(stop - start) : (uint64_t)(start - stop);
  uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
  bool empty = step > 0 ? stop <= start : start <= stop;
  *first = start;
  *count = empty ? 0 : (int64_t)((distance - 1) / stride) + 1;
}

/* A view of at least one of the array's elements. */
static nd4c_status view_of_elements(const nd4c_array *array, int32_t rank, const int64_t *shape, const int64_t *strides,
                                    int64_t offset, nd4c_array **out) {
  return ND4C_UNLIKELY(nd4c_dtype_is_packed(array->dtype))
             ? nd4c_array_view(array, rank, shape, strides, offset, out)
             : nd4c_array_view_within(array, rank, shape, strides, offset, out);
}

nd4c_status nd4c_array_slice(const nd4c_array *array, const int64_t *starts, const int64_t *stops, const int64_t *steps,
                             nd4c_array **out) {
  ND4C_TRY(nd4c_array_check(array, "array_slice: array"));
  if (out == NULL || (array->rank > 0 && (starts == NULL || stops == NULL))) {
    const char *name = out == NULL ? "out" : starts == NULL ? "starts" : "stops";
    return nd4c_fail(ND4C_NULL_ARGUMENT, "array_slice: %s is NULL", name);
  }
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK], offset = array->offset;
  bool empty = array->size == 0;
  for (int32_t i = 0; i < array->rank; i++) {
    int64_t step = steps != NULL ? steps[i] : 1, first;
    if (step == 0) {
      return nd4c_fail(ND4C_ARGUMENT, "array_slice: step of axis %d is 0", (int)i);
    }
    nd4c_slice_axis(array->shape[i], starts[i], stops[i], step, &first, &shape[i]);
    empty = empty || shape[i] == 0;
    /* A step that overflows is longer than any axis, so at most one element is left. */
    if (!nd4c_checked_multiply(array->strides[i], step, &strides[i])) {
      strides[i] = array->strides[i];
    }
    offset += empty ? 0 : first * array->strides[i];
  }
  return empty ? nd4c_array_view(array, array->rank, shape, strides, array->offset, out)
               : view_of_elements(array, array->rank, shape, strides, offset, out);
}

nd4c_status nd4c_array_select(const nd4c_array *array, int32_t axis, int64_t index, nd4c_array **out) {
  ND4C_TRY(nd4c_array_check(array, "array_select: array"));
  if (out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "array_select: out is NULL");
  }
  int32_t fixed;
  ND4C_TRY(nd4c_axis_normalize(axis, array->rank, "array_select: axis", &fixed));
  int64_t length = array->shape[fixed];
  if (index < -length || index >= length) {
    return nd4c_fail(ND4C_INDEX, "array_select: index %lld of axis %d, which has %lld elements", (long long)index,
                     (int)fixed, (long long)length);
  }
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < array->rank; i++) {
    if (i != fixed) {
      shape[rank] = array->shape[i];
      strides[rank++] = array->strides[i];
    }
  }
  int64_t offset = (index < 0 ? index + length : index) * array->strides[fixed];
  return array->size > 0 ? view_of_elements(array, rank, shape, strides, array->offset + offset, out)
                         : nd4c_array_view(array, rank, shape, strides, array->offset, out);
}

/* Elements that the storage has room for. */
static int64_t storage_elements(const nd4c_array *array) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(array->dtype);
  return array->storage->bytes / info->block_bytes * info->block_elements;
}

nd4c_status nd4c_array_as_strided(const nd4c_array *array, int32_t rank, const int64_t *shape, const int64_t *strides,
                                  int64_t offset, nd4c_array **out) {
  ND4C_TRY(nd4c_array_check(array, "array_as_strided: array"));
  if (out == NULL || (rank > 0 && (shape == NULL || strides == NULL))) {
    const char *name = out == NULL ? "out" : shape == NULL ? "shape" : "strides";
    return nd4c_fail(ND4C_NULL_ARGUMENT, "array_as_strided: %s is NULL", name);
  }
  int64_t size, low, high, start, first, last;
  nd4c_status status = nd4c_shape_size(array->dtype, rank, shape, &size);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "array_as_strided");
  }
  bool counted = nd4c_layout_bounds(rank, shape, strides, &low, &high) &&
                 nd4c_checked_add(array->offset, offset, &start) && nd4c_checked_add(start, low, &first) &&
                 nd4c_checked_add(start, high, &last);
  if (!counted) {
    return nd4c_fail(ND4C_INDEX, "array_as_strided: strides and offset %lld reach beyond int64", (long long)offset);
  }
  if (size == 0) { /* an empty view touches no byte; its offset is set to lie inside */
    return nd4c_array_view(array, rank, shape, strides, array->offset, out);
  }
  if (first < 0 || last >= storage_elements(array)) {
    return nd4c_fail(ND4C_INDEX, "array_as_strided: the view touches elements %lld to %lld of a storage that has %lld",
                     (long long)first, (long long)last, (long long)storage_elements(array));
  }
  return nd4c_array_view(array, rank, shape, strides, start, out);
}
