/* Implements pack.h: walks over the rows of a layout and copies each. device/access/access.c calls it. */
#include "array/pack.h"

#include <stdbool.h>
#include <string.h>

#include "nd4c/array.h"

/* A walk over all rows (last axis) of a layout, or over single elements for rank 0. */
typedef struct row_walk {
  int32_t rank;
  const int64_t *shape, *strides;
  int64_t index[ND4C_MAX_RANK];
  int64_t offset; /* elements, of the row's first element */
} row_walk;

static bool next_row(row_walk *walk) {
  for (int32_t axis = walk->rank - 2; axis >= 0; axis--) {
    walk->offset += walk->strides[axis];
    if (++walk->index[axis] < walk->shape[axis]) {
      return true;
    }
    walk->offset -= walk->strides[axis] * walk->shape[axis];
    walk->index[axis] = 0;
  }
  return false;
}

static bool is_empty(int32_t rank, const int64_t *shape) {
  for (int32_t axis = 0; axis < rank; axis++) {
    if (shape[axis] == 0) {
      return true;
    }
  }
  return false;
}

static void copy_row(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t count,
                     int64_t element_bytes) {
  if (to_stride == 1 && from_stride == 1) {
    memcpy(to, from, (size_t)(count * element_bytes));
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    memcpy(to + i * to_stride * element_bytes, from + i * from_stride * element_bytes, (size_t)element_bytes);
  }
}

static void walk_rows(int32_t rank, const int64_t *shape, const int64_t *strides, int64_t element_bytes, char *strided,
                      char *packed, bool pack) {
  if (is_empty(rank, shape)) {
    return;
  }
  row_walk walk = {.rank = rank, .shape = shape, .strides = strides};
  int64_t count = rank > 0 ? shape[rank - 1] : 1, stride = rank > 0 ? strides[rank - 1] : 1;
  do {
    char *row = strided + walk.offset * element_bytes;
    if (pack) {
      copy_row(packed, 1, row, stride, count, element_bytes);
    } else {
      copy_row(row, stride, packed, 1, count, element_bytes);
    }
    packed += count * element_bytes;
  } while (next_row(&walk));
}

/* The walk takes both sides as writable; `pack` says which one is written. */
static char *without_const(const void *pointer) {
  void *plain;
  memcpy(&plain, &pointer, sizeof plain);
  return plain;
}

void nd4c_pack(int32_t rank, const int64_t *shape, const int64_t *strides, int64_t element_bytes, const void *from,
               void *to) {
  walk_rows(rank, shape, strides, element_bytes, without_const(from), to, true);
}

void nd4c_unpack(int32_t rank, const int64_t *shape, const int64_t *strides, int64_t element_bytes, const void *from,
                 void *to) {
  walk_rows(rank, shape, strides, element_bytes, to, without_const(from), false);
}
