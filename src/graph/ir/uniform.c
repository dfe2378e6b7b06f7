/* Implements uniform.h. */
#include "graph/ir/uniform.h"

#include <math.h>
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "device/storage/storage.h"

enum { LIMIT_BYTES = 1 << 14, LARGEST_ELEMENT = 8 };

/* True if the array has one element in memory, and repeats it. */
static bool is_repeated(const nd4c_array *array) {
  for (int32_t i = 0; i < array->rank; i++) {
    if (array->shape[i] != 1 && array->strides[i] != 0) {
      return false;
    }
  }
  return true;
}

static bool read_first(const nd4c_array *array, size_t size, uint8_t *first) {
  nd4c_array *element = NULL;
  if (nd4c_array_view_within(array, 0, array->shape, array->strides, array->offset, &element) != ND4C_OK) {
    return false;
  }
  const bool read = nd4c_array_read(element, first, size) == ND4C_OK;
  nd4c_array_release(element);
  return read;
}

/* The bytes of the first element, if all others have the same. */
static bool read_same(const nd4c_array *array, size_t size, uint8_t *first) {
  if (is_repeated(array)) {
    return read_first(array, size, first);
  }
  const size_t bytes = (size_t)array->size * size;
  uint8_t *elements = array->size > LIMIT_BYTES / (int64_t)size ? NULL : nd4c_allocate(bytes);
  bool same = elements != NULL && nd4c_array_read(array, elements, bytes) == ND4C_OK;
  for (size_t i = size; i < bytes && same; i += size) {
    same = memcmp(elements, elements + i, size) == 0;
  }
  if (same) {
    memcpy(first, elements, size);
  }
  nd4c_deallocate(elements);
  return same;
}

/* Integers and bool from their little-endian bytes. */
static int64_t widen(nd4c_dtype_kind kind, const uint8_t *bytes, size_t size) {
  uint64_t bits = 0;
  memcpy(&bits, bytes, size);
  const uint64_t sign = UINT64_C(1) << (8 * size - 1);
  return (int64_t)(kind == ND4C_KIND_INT ? (bits ^ sign) - sign : bits);
}

static bool is_whole(nd4c_dtype_kind kind) {
  return kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT || kind == ND4C_KIND_BOOL;
}

bool nd4c_constant_uniform(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_uniform *uniform) {
  const nd4c_array *array = value < 0 ? NULL : rewrite->graph->values[value].constant;
  const nd4c_dtype_info *info = array == NULL ? NULL : nd4c_dtype_get_info(array->dtype);
  if (info == NULL || array->size == 0 || (ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(array->dtype)) != 0 ||
      (array->storage->flags & ND4C_STORAGE_ENCODED) != 0 || (!is_whole(info->kind) && info->kind != ND4C_KIND_FLOAT)) {
    return false;
  }
  uint8_t first[LARGEST_ELEMENT];
  const size_t size = (size_t)info->block_bytes;
  if (!read_same(array, size, first)) {
    return false;
  }
  *uniform = (nd4c_uniform){.dtype = array->dtype, .kind = info->kind};
  if (info->kind == ND4C_KIND_FLOAT) {
    const int64_t index[ND4C_MAX_RANK] = {0};
    return nd4c_array_item(array, index, &uniform->real) == ND4C_OK;
  }
  uniform->whole = widen(info->kind, first, size);
  return true;
}

bool nd4c_uniform_is(const nd4c_uniform *uniform, double number) {
  if (uniform->kind == ND4C_KIND_FLOAT) {
    return uniform->real == number && signbit(uniform->real) == signbit(number);
  }
  return uniform->whole == (int64_t)number && (number >= 0 || uniform->kind == ND4C_KIND_INT) &&
         (double)(int64_t)number == number;
}

bool nd4c_uniform_is_full(const nd4c_uniform *uniform) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(uniform->dtype);
  switch (uniform->kind) {
    case ND4C_KIND_BOOL:
      return uniform->whole == 1;
    case ND4C_KIND_INT:
      return uniform->whole == -1;
    case ND4C_KIND_UINT:
      return (uint64_t)uniform->whole == UINT64_MAX >> (64 - info->bits);
    default:
      return false;
  }
}

bool nd4c_constant_wholes(const nd4c_rewrite *rewrite, nd4c_value value, int64_t limit, int64_t *numbers,
                          int64_t *count) {
  const nd4c_array *array = value < 0 ? NULL : rewrite->graph->values[value].constant;
  const nd4c_dtype_info *info = array == NULL ? NULL : nd4c_dtype_get_info(array->dtype);
  if (info == NULL || array->size > limit || !is_whole(info->kind) || info->bits < 8) {
    return false;
  }
  const size_t size = (size_t)info->block_bytes, bytes = (size_t)array->size * size;
  uint8_t *elements = nd4c_allocate(bytes);
  const bool read = elements != NULL && nd4c_array_read(array, elements, bytes) == ND4C_OK;
  for (int64_t i = 0; i < array->size && read; i++) {
    numbers[i] = widen(info->kind, elements + (size_t)i * size, size);
  }
  *count = array->size;
  nd4c_deallocate(elements);
  return read;
}
