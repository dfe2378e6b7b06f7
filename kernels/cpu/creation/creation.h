/* Inner loops that make arrays from numbers. simd/creation/creation.c runs them. */
#ifndef ND4C_KERNELS_CPU_CREATION_CREATION_H
#define ND4C_KERNELS_CPU_CREATION_CREATION_H

#include <stdint.h>

#include "kernels/creation.h"

/* y[i] = the element. */
typedef void (*nd4c_fill_function)(int64_t n, const void *element, void *y);

typedef struct nd4c_creation_table {
  nd4c_fill_function fill[17]; /* by element size: 1, 2, 4, 8, 16; NULL for others */
  /* y[i] = start + (first + i) step. */
  void (*steps)(int64_t n, int64_t first, double start, double step, double *y);
  /* y[i] = start + (first + i) stride, modulo 2^64. */
  void (*wholes)(int64_t n, int64_t first, int64_t start, int64_t stride, int64_t *y);
  /* y[i] = start + (first + i) (stop - start) / steps, with about twice the digits of a double; first + i is
   * at most 2^53, and the largest product finite. NULL on levels without a fused multiply-add. */
  void (*spaced)(int64_t n, int64_t first, const nd4c_spacing *spacing, double *y);
} nd4c_creation_table;

#endif
