/* Distinct rows, search in sorted keys, and bins of a histogram, for engine reference's family sorting; engine simd
 * calls the functions of bins. */
#ifndef ND4C_KERNELS_REFERENCE_SORTING_SETS_H
#define ND4C_KERNELS_REFERENCE_SORTING_SETS_H

#include "kernels/reference/sorting/order.h"

/* The distinct rows among `count` rows of `columns` elements, which lie in C order in `data`. Each list has room for
 * `count` numbers. Sorting takes ND4C_REF_SORT_WORDS * count words of work space besides. */
typedef struct nd4c_ref_distinct {
  nd4c_dtype dtype;
  const char *data;
  int64_t columns, count;
  int64_t *order;  /* rows in ascending order; equal rows keep their order */
  int64_t *groups; /* for each entry of `order`: the number of the distinct row */
  int64_t *first;  /* for each distinct row: its first occurrence */
  int64_t *counts; /* its number of occurrences */
  int64_t *last;   /* its last occurrence */
  int64_t group_count;
} nd4c_ref_distinct;

/* Fills the lists. sorted: distinct rows are numbered in ascending order, else in the order of their first
 * occurrences. */
void nd4c_ref_find_distinct(nd4c_ref_distinct *d, bool sorted, uint64_t *work);

/* The position at which `key` is inserted into ascending keys: before equal keys, or after them. */
int64_t nd4c_ref_search(const uint64_t *keys, int64_t count, uint64_t key, bool after);

/* 1: the keys never decrease; -1: they decrease, but never increase; 0: both. */
int nd4c_ref_direction(const uint64_t *keys, int64_t count);

/* Whether each element is at least (strict: greater than) the one before it. False if two or more elements include a
 * NaN. */
bool nd4c_ref_is_ordered(nd4c_dtype dtype, const char *data, int64_t count, bool strict);

/* -- bins --------------------------------------------------------------------------------------------------------- */

/* Finds the least and the largest element: 0 and 1 if there are none. Returns false if an element is NaN or infinite,
 * or if their difference overflows. */
bool nd4c_ref_find_limits(const double *x, int64_t count, double *low, double *high);
/* Fills `edges` with bins + 1 equally spaced numbers, rounded to the dtype. */
void nd4c_ref_bin_edges(double low, double high, int64_t bins, nd4c_dtype dtype, double *edges);
/* The bin that x lies in; the last bin includes its upper edge. -1: x lies in none. */
int64_t nd4c_ref_bin(const double *edges, int64_t bins, double x);

#endif
