/* Runs of strided elements, as numbers or as they are: one switch on the dtype per run instead of one per element.
 * Walks over the runs of operands. The reference kernels of all families call these. */
#ifndef ND4C_KERNELS_REFERENCE_SUPPORT_RUNS_H
#define ND4C_KERNELS_REFERENCE_SUPPORT_RUNS_H

#include <string.h>

#include "kernels/reference/support/tensor.h"

enum { ND4C_REF_BLOCK = 512, ND4C_REF_RANK = 32 };

/* `count` elements from `start` on, `stride` apart (in elements), as doubles; two doubles an element of a complex
 * dtype. 64-bit integers are rounded. */
void nd4c_ref_read_doubles(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                           double *to);
/* The same as 64-bit integers (two's complement), of bools and integers alone. */
void nd4c_ref_read_words(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                         uint64_t *to);
/* Back, floats rounded once, integers wrapped; whole numbers as doubles go into integers, too. */
void nd4c_ref_write_doubles(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                            const double *from);
void nd4c_ref_write_words(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                          const uint64_t *from);

/* to (op)= from for `count` elements; strides in bytes. */
typedef void (*nd4c_ref_row)(int64_t count, int64_t bytes, const char *from, int64_t from_stride, char *to,
                             int64_t to_stride);
/* Copies elements as they are. */
nd4c_ref_row nd4c_ref_copy_row(int64_t bytes, int64_t from_stride, int64_t to_stride);

/* Copies one element. */
static inline void nd4c_ref_move_one(int64_t bytes, const char *from, char *to) {
  switch (bytes) {
    case 1:
      *to = *from;
      break;
    case 2:
      memcpy(to, from, 2);
      break;
    case 4:
      memcpy(to, from, 4);
      break;
    case 8:
      memcpy(to, from, 8);
      break;
    default:
      memcpy(to, from, (size_t)bytes);
  }
}

/* Elements as they are: from strided places into a row, and back. */
static inline void nd4c_ref_read_raw(int64_t bytes, const char *data, int64_t start, int64_t stride, int64_t count,
                                     void *to) {
  nd4c_ref_copy_row(bytes, stride * bytes, bytes)(count, bytes, data + start * bytes, stride * bytes, to, bytes);
}
static inline void nd4c_ref_write_raw(int64_t bytes, char *data, int64_t start, int64_t stride, int64_t count,
                                      const void *from) {
  nd4c_ref_copy_row(bytes, bytes, stride * bytes)(count, bytes, from, bytes, data + start * bytes, stride * bytes);
}

/* to[i] = from[order[i]], element by element. */
void nd4c_ref_permute_raw(int64_t bytes, const char *data, int64_t start, int64_t stride, const int64_t *order,
                          int64_t count, char *to, int64_t to_start, int64_t to_stride);

/* Axes of a tensor split in two groups: those over which an op loops, and those that it takes as one. */
typedef struct nd4c_ref_axes {
  int32_t rank;
  int64_t shape[ND4C_REF_RANK];
  int64_t x[ND4C_REF_RANK], y[ND4C_REF_RANK]; /* strides of two tensors along these axes */
} nd4c_ref_axes;

/* Number of positions. */
static inline int64_t nd4c_ref_axes_size(const nd4c_ref_axes *axes) {
  int64_t size = 1;
  for (int32_t i = 0; i < axes->rank; i++) {
    size *= axes->shape[i];
  }
  return size;
}

/* Offsets of position number `flat`, in C order. */
static inline void nd4c_ref_axes_at(const nd4c_ref_axes *axes, int64_t flat, int64_t *x, int64_t *y) {
  *x = 0;
  *y = 0;
  for (int32_t i = axes->rank - 1; i >= 0; i--) {
    int64_t position = flat % axes->shape[i];
    flat /= axes->shape[i];
    *x += position * axes->x[i];
    *y += position * axes->y[i];
  }
}

/* All axes of x but one; y has the same rank. Works for x of rank 0, which has no axis to leave out. */
static inline nd4c_ref_axes nd4c_ref_axes_without(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, int32_t axis) {
  nd4c_ref_axes axes = {.rank = 0};
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != axis) {
      axes.shape[axes.rank] = x->shape[i];
      axes.x[axes.rank] = x->strides[i];
      axes.y[axes.rank++] = y->strides[i];
    }
  }
  return axes;
}

/* -- rows of several operands -------------------------------------------------------------------------------------- */

enum { ND4C_REF_WALK_OPERANDS = 4 };

/* Walks over the rows (all axes but the last) of operands of one shape. Offsets count elements. */
typedef struct nd4c_ref_walk {
  int32_t outer, count; /* axes walked over, operands */
  int64_t length;       /* of a row */
  const int64_t *shape;
  const int64_t *strides[ND4C_REF_WALK_OPERANDS];
  int64_t step[ND4C_REF_WALK_OPERANDS]; /* along the row */
  int64_t at[ND4C_REF_WALK_OPERANDS];   /* where the row begins */
  int64_t index[32];
} nd4c_ref_walk;

/* False if there are no elements. */
bool nd4c_ref_walk_start(nd4c_ref_walk *walk, int32_t rank, const int64_t *shape, int32_t count,
                         const int64_t *const *strides);
bool nd4c_ref_walk_next(nd4c_ref_walk *walk);

#endif
