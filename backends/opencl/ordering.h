/* Sorting and choosing on the device: lists in a call's scratch buffer, which is counted in 64-bit words. */
#ifndef ND4C_BACKENDS_OPENCL_ORDERING_H
#define ND4C_BACKENDS_OPENCL_ORDERING_H

#include "backends/opencl/moving.h"

enum { ND4C_CL_WORD = 8, ND4C_CL_MOST_SORTED = INT32_MAX }; /* orders are 32-bit numbers */

/* Words that a list of 32-bit numbers, or of bytes, needs. */
static inline int64_t nd4c_cl_words_of_numbers(int64_t count) {
  return (count + 1) / 2;
}
static inline int64_t nd4c_cl_words_of_flags(int64_t count) {
  return (count + ND4C_CL_WORD - 1) / ND4C_CL_WORD;
}

/* Lines of keys, each with a payload (its order); word offsets. Sorting moves both to and fro between two places:
 * afterwards `keys` and `order` say where they are. */
typedef struct nd4c_cl_sorting {
  int64_t lines, length, keys, order, other_keys, other_order;
} nd4c_cl_sorting;

/* Lays the lists out from word `begin` on; the first word behind them. */
int64_t nd4c_cl_sorting_make(nd4c_cl_sorting *sorting, int64_t begin, int64_t lines, int64_t length);
/* Ascending, stable. */
nd4c_status nd4c_cl_sort(const nd4c_call *call, nd4c_cl_sorting *sorting);
/* The order of `length` rows of `columns` keys (at sorting->keys, which do not move). */
nd4c_status nd4c_cl_sort_rows(const nd4c_call *call, nd4c_cl_sorting *sorting, int64_t columns);
/* Refuses more elements than orders can number, or scratch longer than a buffer of the device's can be. */
nd4c_status nd4c_cl_sorting_check(const nd4c_cl_step *step, int64_t count, int64_t bytes);

/* Keys of x's elements (dtype's order; flip: its reverse) along an axis, the other axes in C order, from place `begin`
 * of the sorting on. by_order: each line in the order that stands in the sorting. */
nd4c_status nd4c_cl_make_keys(const nd4c_cl_step *step, const nd4c_tensor *x, int32_t axis, bool flip, bool by_order,
                              int64_t begin, const nd4c_cl_sorting *sorting);
/* The key that all NaN of a dtype have; false if it has none. */
bool nd4c_cl_nan_key(nd4c_dtype dtype, uint64_t *key);

/* Flags, and what numbering them gives: places of the true ones in `chosen`, how many are true up to each in `ranks`
 * (less 1). Word offsets. */
typedef struct nd4c_cl_selection {
  int64_t count, chunk, chunks, flags, sums, chosen, ranks;
} nd4c_cl_selection;

int64_t nd4c_cl_selection_make(nd4c_cl_selection *selection, int64_t begin, int64_t count);
/* Numbers the flags. `total`: how many are true, read back; NULL: not asked for. */
nd4c_status nd4c_cl_select(const nd4c_call *call, const nd4c_cl_selection *selection, int64_t *total);
/* Flags from what is not zero in x along a walk of its places; ordered as the walk is. */
nd4c_status nd4c_cl_make_flags(const nd4c_call *call, const nd4c_tensor *x, const nd4c_cl_walk *walk, int64_t flags);

/* y (int64) = the numbers of a list at the places that strides of y's shape name. */
nd4c_status nd4c_cl_write_numbers(const nd4c_cl_step *step, int64_t list, const nd4c_tensor *y, const int64_t *places);
/* Begins a launch of order.cl, whose first argument is the scratch buffer. */
nd4c_status nd4c_cl_begin_order(nd4c_cl_launch *launch, const nd4c_call *call, const char *function);

#endif
