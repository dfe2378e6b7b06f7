/* Order of the reference: elements as unsigned keys that compare as the elements do, and stable sorting by them.
 * backends/cpu/reference/sorting.c and the kernels of sets, boxes, ctc and learning call these.
 *
 * Ascending order is NumPy's: NaN last; complex numbers by real, then imaginary part, those with a NaN imaginary part
 * after all others, those with a NaN real part after these. -0 equals 0 and NaN, for sorting, NaN. Descending order is
 * the reverse but for equal elements, which stay in the order in which they came. */
#ifndef ND4C_KERNELS_REFERENCE_SORTING_ORDER_H
#define ND4C_KERNELS_REFERENCE_SORTING_ORDER_H

#include "kernels/reference/support/runs.h"

enum { ND4C_REF_SORT_WORDS = 3 }; /* words of work an element */

/* The keys of a run of elements of a dtype that is not complex. */
void nd4c_ref_keys(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count, uint64_t *keys);

/* order = positions 0 .. count - 1 sorted by the rows at data + (start + position * stride) elements of `columns`
 * elements side by side, compared from the first column on. work: ND4C_REF_SORT_WORDS * count words. */
void nd4c_ref_argsort(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t columns, int64_t count,
                      bool descending, uint64_t *work, int64_t *order);

/* Sorts numbers; work: 2 * count words. */
void nd4c_ref_sort_doubles(double *row, int64_t count, uint64_t *work);

/* Sorts `count` items of `size` bytes, stable, as `compare` says in the way of qsort; unlike that it asks for no
 * memory: room: for as many items. */
void nd4c_ref_sort(void *items, int64_t count, size_t size, int (*compare)(const void *, const void *), void *room);

/* All elements of x in C order, as they are. */
void nd4c_ref_flatten(const nd4c_ref_tensor *x, void *to);

/* True if the elements at two places are equal; NaN equals nothing. */
bool nd4c_ref_equal(nd4c_dtype dtype, const char *data, int64_t a, int64_t b);

#endif
