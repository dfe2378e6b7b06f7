/* Moving and combining blocks of elements: one plan for any strides, one row function for what happens to the elements
 * of a row. Axes that lie next to each other in both operands are merged, so that rows are as long as they can be. The
 * files of this folder and backends/cpu/reference/indexing*.c call these. */
#ifndef ND4C_KERNELS_REFERENCE_INDEXING_MOVE_H
#define ND4C_KERNELS_REFERENCE_INDEXING_MOVE_H

#include "kernels/reference/support/runs.h"

enum { ND4C_REF_PLAN_RANK = 72 }; /* twice an array's axes, and some */

typedef struct nd4c_ref_plan {
  nd4c_ref_row row;
  int64_t bytes; /* an element */
  int64_t size;  /* elements */
  int32_t rank;  /* at least 1; the last axis is the row */
  int64_t shape[ND4C_REF_PLAN_RANK], from[ND4C_REF_PLAN_RANK], to[ND4C_REF_PLAN_RANK]; /* strides in bytes */
} nd4c_ref_plan;

/* Strides in elements of `dtype`. row NULL: copies. */
void nd4c_ref_plan_make(nd4c_ref_plan *plan, nd4c_ref_row row, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                        const int64_t *from_strides, const int64_t *to_strides);
void nd4c_ref_plan_run(const nd4c_ref_plan *plan, const char *from, char *to);
/* The part [begin, end) of the plan's slowest axis. */
void nd4c_ref_plan_run_part(const nd4c_ref_plan *plan, int64_t begin, int64_t end, const char *from, char *to);

/* y = the element at `value`, everywhere. */
void nd4c_ref_fill(const nd4c_ref_tensor *y, const char *value);
/* y = x of the same shape. */
void nd4c_ref_copy(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y);

/* How an update joins the element in its place; the numbers of ND4C_SCATTER_REDUCTION_TABLE. Integers wrap, division by
 * zero gives 0; NaN wins in maximum and minimum; bool: add and maximum are or, multiply and minimum and. NULL: the
 * dtype has no such. */
nd4c_ref_row nd4c_ref_combine_row(int64_t reduction, nd4c_dtype dtype);

/* An index: int32 or int64. */
static inline int64_t nd4c_ref_index(nd4c_dtype dtype, const char *data, int64_t offset) {
  int64_t wide;
  int32_t narrow;
  if (dtype == ND4C_INT64) {
    memcpy(&wide, data + offset * 8, sizeof wide);
    return wide;
  }
  memcpy(&narrow, data + offset * 4, sizeof narrow);
  return narrow;
}

/* Whether all indices are in -extent .. extent - 1. */
bool nd4c_ref_all_in_range(const nd4c_ref_tensor *indices, int64_t extent);
/* First number of indices (number `flat` in C order) that is not in -extent .. extent - 1. */
bool nd4c_ref_find_bad_index(const nd4c_ref_tensor *indices, int64_t extent, int64_t *flat, int64_t *value);

#endif
