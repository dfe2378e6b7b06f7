/* Elements that are not zero: how many, and where. simd/sorting/sorting_nonzero.c calls these, simd/indexing_masks.c on
 * masks. */
#ifndef ND4C_KERNELS_CPU_SORTING_NONZERO_H
#define ND4C_KERNELS_CPU_SORTING_NONZERO_H

#include <stdint.h>

/* Of n units x those that have a bit in common with `mask`: all bits of integers, all but the signs of floats. */
typedef int64_t (*nd4c_nonzero_count)(int64_t n, const void *x, uint64_t mask);

/* Writes first + i of the first `count` such units x[i], of which there are as many among n. Touches nothing behind. */
typedef void (*nd4c_nonzero_places)(int64_t n, int64_t count, const void *x, uint64_t mask, int64_t first,
                                    int64_t *places);

typedef struct nd4c_nonzero_table {
  nd4c_nonzero_count count[9]; /* by bytes of a unit: 1, 2, 4, 8; NULL for others */
  nd4c_nonzero_places places[9];
} nd4c_nonzero_table;

#endif
