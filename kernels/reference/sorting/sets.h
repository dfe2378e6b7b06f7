/* Equal elements of the reference, found by sorting: sets, unique elements, places in sorted rows, bins. The
 * family sorting of engine reference calls these, engine simd those of bins. */
#ifndef ND4C_KERNELS_REFERENCE_SORTING_SETS_H
#define ND4C_KERNELS_REFERENCE_SORTING_SETS_H

#include "kernels/reference/sorting/order.h"

/* The different rows among `count` rows of `columns` elements, C order in `data`. Lists have room for count numbers;
 * sorting needs words of its own (ND4C_REF_SORT_WORDS * count). */
typedef struct nd4c_ref_distinct {
  nd4c_dtype dtype;
  const char *data;
  int64_t columns, count;
  int64_t *order;  /* rows in ascending order, equal ones as they came */
  int64_t *groups; /* number of the different row, for each place of `order` */
  int64_t *first;  /* for each different row: where it came first */
  int64_t *counts; /* and how often */
  int64_t *last;   /* and where it came last */
  int64_t group_count;
} nd4c_ref_distinct;

/* Fills the lists. `sorted` false: different rows are numbered in the order of their first places. */
void nd4c_ref_find_distinct(nd4c_ref_distinct *d, bool sorted, uint64_t *work);

/* Where a key goes into ascending keys: before equal ones, or after. */
int64_t nd4c_ref_search(const uint64_t *keys, int64_t count, uint64_t key, bool after);

/* 1: no element is less than the one before, -1: none is greater, 0 neither. Of keys. */
int nd4c_ref_direction(const uint64_t *keys, int64_t count);

/* No element is less than (strict: less than or equal to) the one before it; a NaN is. */
bool nd4c_ref_is_ordered(nd4c_dtype dtype, const char *data, int64_t count, bool strict);

/* -- bins --------------------------------------------------------------------------------------------------------- */

/* Least and largest; false if there is a NaN or an infinity. 0 and 1 of no elements. */
bool nd4c_ref_find_limits(const double *x, int64_t count, double *low, double *high);
/* `bins` + 1 equally spaced numbers as a dtype holds them. */
void nd4c_ref_bin_edges(double low, double high, int64_t bins, nd4c_dtype dtype, double *edges);
/* Bin of x among edges, the last one closed; -1 if x lies in none. */
int64_t nd4c_ref_bin(const double *edges, int64_t bins, double x);

#endif
