/* Functions of shapes and strides as plain numbers, which do not allocate. ops/infer and all layers above src/array
 * call them. */
#ifndef ND4C_ARRAY_SHAPE_H
#define ND4C_ARRAY_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/dtype.h"
#include "nd4c/status.h"

/* Product of the extents. SHAPE for a negative extent or a rank out of range, OVERFLOW if size * dtype exceeds int64.
 */
nd4c_status nd4c_shape_size(nd4c_dtype dtype, int32_t rank, const int64_t *shape, int64_t *size);
/* Bytes of an array in C order. As nd4c_shape_size; DTYPE for a dtype that is unknown or not in this build. */
nd4c_status nd4c_shape_bytes(nd4c_dtype dtype, int32_t rank, const int64_t *shape, int64_t *bytes);
/* Whether two shapes have the same axes. */
bool nd4c_shape_equal(int32_t a_rank, const int64_t *a, int32_t b_rank, const int64_t *b);
/* C-order strides. */
void nd4c_shape_strides(int32_t rank, const int64_t *shape, int64_t *strides);
/* True for C order without gaps (axes of length 1 and empty arrays do not count). */
bool nd4c_shape_is_contiguous(int32_t rank, const int64_t *shape, const int64_t *strides);
/* Lowest and highest element offset that the layout touches, relative to element 0; false if the numbers overflow. For
 * an empty array low > high. */
bool nd4c_layout_bounds(int32_t rank, const int64_t *shape, const int64_t *strides, int64_t *low, int64_t *high);
/* First byte of a layout, relative to element 0, and its number of bytes; strides NULL: C order, as packed dtypes
 * always are. As nd4c_shape_bytes; OVERFLOW if addresses cannot express it. */
nd4c_status nd4c_layout_extent(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                               int64_t *first, int64_t *bytes);
/* True if certainly no two elements share memory: each axis steps over everything that axes with shorter strides
 * reach. */
bool nd4c_layout_is_distinct(int32_t rank, const int64_t *shape, const int64_t *strides);
/* NumPy's broadcasting of two shapes. SHAPE with both in the text. */
nd4c_status nd4c_shape_broadcast(int32_t a_rank, const int64_t *a, int32_t b_rank, const int64_t *b, int32_t *rank,
                                 int64_t *shape);
/* Strides of an array broadcast to `shape`: 0 on repeated axes. */
void nd4c_broadcast_strides(int32_t rank, const int64_t *shape, int32_t from_rank, const int64_t *from_shape,
                            const int64_t *from_strides, int64_t *strides);
/* Strides of `array` as a view with another shape of the same size, in C order; false if that needs a copy. */
bool nd4c_reshape_strides(int32_t rank, const int64_t *shape, const int64_t *strides, int32_t new_rank,
                          const int64_t *new_shape, int64_t *new_strides);
/* Strides of a gap-free array of `shape` with the memory order of `like`, as NumPy's order K. With several layouts the
 * first one that decides counts. */
void nd4c_shape_strides_like(int32_t rank, const int64_t *shape, int32_t count, const int64_t *const *like,
                             int64_t *strides);
/* One axis of a slice by Python's meaning of bounds (ND4C_SLICE_NONE: None): first index and count. step is not 0. */
void nd4c_slice_axis(int64_t length, int64_t start, int64_t stop, int64_t step, int64_t *first, int64_t *count);
/* Maps -rank..rank-1 to 0..rank-1. INDEX with `what` in the text. */
nd4c_status nd4c_axis_normalize(int64_t axis, int32_t rank, const char *what, int32_t *normalized);
/* The same of an axis that was checked. */
static inline int32_t nd4c_axis_index(int64_t axis, int32_t rank) {
  return (int32_t)(axis < 0 ? axis + rank : axis);
}
/* Whether the extents before the axis are 1, so that it is the first one in C order. */
static inline bool nd4c_axis_comes_first(int32_t axis, const int64_t *shape) {
  while (axis > 0 && shape[axis - 1] == 1) {
    axis--;
  }
  return axis == 0;
}
/* "(2, 3)" into a buffer, cut with ... if too long; returns the buffer. */
const char *nd4c_shape_text(int32_t rank, const int64_t *shape, char *buffer, size_t size);

#endif
