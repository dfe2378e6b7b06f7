/* Positions in C order to indices along each axis, and back: the inner loops of unravel_index and ravel_multi_index.
 * simd/indexing/indexing_coordinates.c calls them for some numbers at a time, one axis after the other. */
#ifndef ND4C_KERNELS_CPU_INDEXING_COORDINATES_H
#define ND4C_KERNELS_CPU_INDEXING_COORDINATES_H

#include <stdbool.h>
#include <stdint.h>

/* For indices of a dtype; negative ones count from the end. */
typedef struct nd4c_coordinates_loops {
  /* Whether all are in [-extent, extent). */
  bool (*inside)(int64_t n, int64_t extent, const void *indices);
  /* numbers[i] = indices[i], as a number in [0, extent). */
  void (*start)(int64_t n, int64_t extent, const void *indices, int64_t *numbers);
  /* numbers[i] = numbers[i] * extent + indices[i], the latter as such a number. */
  void (*join)(int64_t n, int64_t extent, const void *indices, int64_t *numbers);
} nd4c_coordinates_loops;

typedef struct nd4c_coordinates_table {
  nd4c_coordinates_loops int32, int64;
  /* numbers[i] and rests[i] become the quotient and the remainder of numbers[i] by `extent`, 1 or more. The numbers are
   * in [0, most). */
  void (*divide)(int64_t n, int64_t extent, int64_t most, int64_t *numbers, int64_t *rests);
} nd4c_coordinates_table;

#endif
