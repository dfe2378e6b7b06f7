/* Copies of axes, space that becomes channels or batches, axes that roll: which elements move where, in strides.
 * backends/reading.h includes this for every backend that moves by strides, kernels/reference/indexing/arrangement.h
 * for the reference. */
#ifndef ND4C_KERNELS_SPACE_H
#define ND4C_KERNELS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct nd4c_strided {
  int32_t rank;
  const int64_t *shape, *strides;
} nd4c_strided;

/* The rest of a divided by n, 0 to n - 1; 0 for n = 0. */
static inline int64_t nd4c_modulo(int64_t a, int64_t n) {
  int64_t rest = n > 0 ? a % n : 0;
  return rest < 0 ? rest + n : rest;
}

/* Positions o in 0 .. outputs - 1 for which o * stride + shift lies in 0 .. extent - 1: the first and how many. */
static inline int64_t nd4c_valid_range(int64_t outputs, int64_t stride, int64_t shift, int64_t extent, int64_t *first) {
  int64_t last = extent - 1 - shift < 0 ? -1 : (extent - 1 - shift) / stride;
  *first = shift < 0 ? (-shift + stride - 1) / stride : 0;
  last = last >= outputs ? outputs - 1 : last;
  return last < *first ? 0 : last - *first + 1;
}

/* tile as a copy between views in which each axis of y is two: the copies, and x's own. y is not empty. Returns their
 * rank. */
static inline int32_t nd4c_tile_views(const nd4c_strided *x, const nd4c_strided *y, int64_t *shape, int64_t *from,
                                      int64_t *to) {
  for (int32_t i = 0; i < y->rank; i++) {
    int32_t own = i - (y->rank - x->rank);
    int64_t extent = own >= 0 ? x->shape[own] : 1;
    shape[2 * i] = y->shape[i] / extent;
    from[2 * i] = 0;
    to[2 * i] = y->strides[i] * extent;
    shape[2 * i + 1] = extent;
    from[2 * i + 1] = own >= 0 ? x->strides[own] : 0;
    to[2 * i + 1] = y->strides[i];
  }
  return 2 * y->rank;
}

/* depth_to_space and space_to_depth as a copy between views of two axes more than the tensors have: their shape, and
 * the strides of the tensor with the deep channels and of the one with the wide space. Returns their rank. */
static inline int32_t nd4c_depth_views(const nd4c_strided *deep, const nd4c_strided *wide, int64_t block,
                                       bool depth_first, bool channels_last, int64_t *shape, int64_t *deep_strides,
                                       int64_t *wide_strides) {
  int32_t rank = deep->rank, n = rank - 3, c = channels_last ? rank - 1 : n, y = channels_last ? n : n + 1, x = y + 1;
  int64_t depth = wide->shape[c], channel = deep->strides[c];
  for (int32_t i = 0; i < n; i++) {
    shape[i] = deep->shape[i];
    deep_strides[i] = deep->strides[i];
    wide_strides[i] = wide->strides[i];
  }
  const int64_t extents[5] = {depth, deep->shape[y], block, deep->shape[x], block};
  const int64_t of_deep[5] = {depth_first ? channel * block * block : channel, deep->strides[y],
                              depth_first ? channel * block : channel * block * depth, deep->strides[x],
                              depth_first ? channel : channel * depth};
  const int64_t of_wide[5] = {wide->strides[c], wide->strides[y] * block, wide->strides[y], wide->strides[x] * block,
                              wide->strides[x]};
  for (int32_t i = 0; i < 5; i++) {
    shape[n + i] = extents[i];
    deep_strides[n + i] = of_deep[i];
    wide_strides[n + i] = of_wide[i];
  }
  return n + 5;
}

/* One cell of all blocks of space_to_batch and batch_to_space: what it moves between a slice of axis 0 of `deep` and
 * every block's element of `wide` that is not in the padding. Strides of the deep side are the tensor's own. */
typedef struct nd4c_batch_cell {
  int64_t shape[32], wide_strides[32], deep_offset, wide_offset;
} nd4c_batch_cell;

/* `number`: of the cell; `at`: where it is in the block; pads: before each axis from 1 on, NULL for none. False if
 * there is nothing to move. */
static inline bool nd4c_batch_cell_find(const nd4c_strided *deep, const nd4c_strided *wide, int32_t count,
                                        const int64_t *block, const int64_t *pads, int64_t number, const int64_t *at,
                                        nd4c_batch_cell *cell) {
  cell->deep_offset = number * wide->shape[0] * deep->strides[0];
  cell->wide_offset = 0;
  for (int32_t i = 0; i < wide->rank; i++) {
    cell->shape[i] = wide->shape[i];
    cell->wide_strides[i] = wide->strides[i];
  }
  for (int32_t i = 0; i < count; i++) {
    int64_t shift = at[i] - (pads != NULL ? pads[i] : 0), first;
    int32_t axis = i + 1;
    cell->shape[axis] = nd4c_valid_range(deep->shape[axis], block[i], shift, wide->shape[axis], &first);
    if (cell->shape[axis] == 0) {
      return false;
    }
    cell->wide_strides[axis] = wide->strides[axis] * block[i];
    cell->wide_offset += (first * block[i] + shift) * wide->strides[axis];
    cell->deep_offset += first * deep->strides[axis];
  }
  return true;
}

#endif
