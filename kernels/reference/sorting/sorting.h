/* Elements that are not zero: nonzero, argwhere and count_nonzero. backends/cpu/reference/sorting.c calls these. */
#ifndef ND4C_KERNELS_REFERENCE_SORTING_SORTING_H
#define ND4C_KERNELS_REFERENCE_SORTING_SORTING_H

#include "kernels/reference/support/tensor.h"

/* Number of elements that are not zero; NaN is not. */
int64_t nd4c_ref_count_nonzero(const nd4c_ref_tensor *x);

/* Their indices: row `axis`, `count` columns, C order in y. A 0-d x is seen as one of shape (1). */
void nd4c_ref_nonzero(const nd4c_ref_tensor *x, int64_t count, int64_t *y);

/* The same, one row an element and one column an axis (none of a 0-d x); the number of rows. */
int64_t nd4c_ref_argwhere(const nd4c_ref_tensor *x, int64_t *y);

#endif
