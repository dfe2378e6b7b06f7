/* Sorting and choosing on the device: lists in a call's scratch buffer, counted in 64-bit words. The families sorting,
 * indexing, random and image use it. */
#ifndef ND4C_BACKENDS_OPENCL_SUPPORT_ORDERING_H
#define ND4C_BACKENDS_OPENCL_SUPPORT_ORDERING_H

#include "backends/opencl/support/moving.h"

enum { ND4C_CL_WORD = 8, ND4C_CL_MOST_SORTED = INT32_MAX }; /* orders are 32-bit numbers */

/* Words that a list of 32-bit numbers, or of bytes, needs. */
static inline int64_t nd4c_cl_words_of_numbers(int64_t count) {
  return (count + 1) / 2;
}
static inline int64_t nd4c_cl_words_of_flags(int64_t count) {
  return (count + ND4C_CL_WORD - 1) / ND4C_CL_WORD;
}

/* Lines of keys, each with a payload (its order), as word offsets. Sorting moves both between two places; afterwards
 * `keys` and `order` say where they are. */
typedef struct nd4c_cl_sorting {
  int64_t lines, length, keys, order, other_keys, other_order;
} nd4c_cl_sorting;

/* Lays the lists out from word `begin` on; returns the first word after them. */
int64_t nd4c_cl_sorting_make(nd4c_cl_sorting *sorting, int64_t begin, int64_t lines, int64_t length);
/* Bytes of scratch for sorting so many elements, in whatever lines. */
int64_t nd4c_cl_sorting_bytes(int64_t count);
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

/* -- keys from indices -------------------------------------------------------------------------------------------- */

/* Modes of an index; the numbers of ND4C_INDEX_MODE_TABLE. GROUP: a number that does not count from the end. */
enum { ND4C_CL_RAISE, ND4C_CL_WRAP, ND4C_CL_CLIP, ND4C_CL_GROUP };

/* Numbers that lead to an element. The same struct as nd4c_target of places.cl. */
typedef struct nd4c_cl_target {
  int32_t count, mode, wide, unused;
  int64_t step, extent[ND4C_CL_RANK], stride[ND4C_CL_RANK];
} nd4c_cl_target;

/* Makes keys, for a sorting of one line, of the places that the indices name. The walk's operands: an offset, indices.
 * at_once: a fault is written to the beginning of the scratch buffer instead of the fault buffer, for a call that waits
 * anyway. */
nd4c_status nd4c_cl_place_keys(const nd4c_call *call, const nd4c_tensor *indices, const nd4c_cl_walk *walk,
                               const nd4c_cl_target *target, const nd4c_cl_sorting *sorting, bool at_once);
/* The key of an offset, or of a group's number; NO_PLACE is that of an index out of range. */
#define ND4C_CL_NO_PLACE UINT64_MAX
static inline uint64_t nd4c_cl_place_key(int64_t offset) {
  return (uint64_t)offset ^ UINT64_C(1) << 63;
}
/* "INT", "FLOAT". */
const char *nd4c_cl_kind(nd4c_dtype dtype);

/* -- choosing ----------------------------------------------------------------------------------------------------- */

/* Flags and their numbering, as word offsets. chosen: the places of true flags; ranks: for each flag, the number of
 * true ones up to it, less 1. */
typedef struct nd4c_cl_selection {
  int64_t count, chunk, chunks, flags, sums, chosen, ranks;
} nd4c_cl_selection;

int64_t nd4c_cl_selection_make(nd4c_cl_selection *selection, int64_t begin, int64_t count);
/* Numbers the flags. `total`: how many are true, read back; NULL: not asked for. */
nd4c_status nd4c_cl_select(const nd4c_call *call, const nd4c_cl_selection *selection, int64_t *total);
/* Flags from what is not zero in x along a walk of its places; ordered as the walk is. */
nd4c_status nd4c_cl_make_flags(const nd4c_call *call, const nd4c_tensor *x, const nd4c_cl_walk *walk, int64_t flags);

/* Moves elements from x to y, or with scatter from y to x: the first `count` elements of the walk, whose operands are x
 * without the chosen axes, y, and a place in the list. `places` leads from the number at that place to a place of x. */
nd4c_status nd4c_cl_move_chosen(const nd4c_call *call, const nd4c_tensor *x, const nd4c_tensor *y, int64_t list,
                                const nd4c_cl_walk *walk, const nd4c_cl_walk *places, bool scatter, int64_t count);
/* Copies slices of x to the first output: those at the `total` numbers of a list, which count the axes [axis, axis +
 * covered) in C order. In the output one axis replaces these axes. Sets the true shape. */
nd4c_status nd4c_cl_take_slices(const nd4c_cl_step *step, const nd4c_tensor *x, int32_t axis, int32_t covered,
                                int64_t list, int64_t total);

/* Writes the numbers of a list, from number `first` on, to y (int64), at the places that the strides give over y's
 * shape. */
nd4c_status nd4c_cl_write_numbers(const nd4c_cl_step *step, int64_t list, int64_t first, const nd4c_tensor *y,
                                  const int64_t *places);
/* As ND4C_CL_RUN_ITEMS and ND4C_CL_STEP_UNITS of a kernel of order.cl, whose first argument is the scratch buffer. */
nd4c_cl_options nd4c_cl_order_options(void);
#define ND4C_CL_RUN_ORDER(call, function, count, ...)                                                            \
  ND4C_CL_RUN_ITEMS(call, "places+order", function, nd4c_cl_order_options(), count, ND4C_CL_SCRATCH(READ_WRITE), \
                    __VA_ARGS__)
#define ND4C_CL_STEP_ORDER(step, function, count, ...) \
  (nd4c_cl_is_dry(step) ? ND4C_OK : ND4C_CL_RUN_ORDER((step)->call, function, count, __VA_ARGS__))

#endif
