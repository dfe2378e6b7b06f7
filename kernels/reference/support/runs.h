/* Runs of strided elements as numbers: one switch on the dtype a run instead of one an element. */
#ifndef ND4C_KERNELS_REFERENCE_SUPPORT_RUNS_H
#define ND4C_KERNELS_REFERENCE_SUPPORT_RUNS_H

#include "kernels/reference/support/tensor.h"

enum { ND4C_REF_BLOCK = 512, ND4C_REF_RANK = 32 };

/* `count` elements from `start` on, `stride` apart (in elements), as doubles; two doubles an element of a complex
 * dtype. 64-bit integers are rounded. */
void nd4c_ref_read_doubles(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                           double *to);
/* The same as 64-bit integers (two's complement), of bools and integers alone. */
void nd4c_ref_read_words(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                         uint64_t *to);
/* Back, floats rounded once, integers wrapped. */
void nd4c_ref_write_doubles(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                            const double *from);
void nd4c_ref_write_words(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                          const uint64_t *from);

/* Elements as they are: from strided places into a row, and back. */
void nd4c_ref_read_raw(int64_t bytes, const char *data, int64_t start, int64_t stride, int64_t count, void *to);
void nd4c_ref_write_raw(int64_t bytes, char *data, int64_t start, int64_t stride, int64_t count, const void *from);

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

#endif
