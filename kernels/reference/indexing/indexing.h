/* Elements and slices at indices, and where a mask is true. The caller has checked that indices are in range
 * (nd4c_cpu_check_indices). The family indexing of engine reference calls these. */
#ifndef ND4C_KERNELS_REFERENCE_INDEXING_INDEXING_H
#define ND4C_KERNELS_REFERENCE_INDEXING_INDEXING_H

#include "kernels/reference/indexing/move.h"

/* What an index out of range means; the numbers of ND4C_INDEX_MODE_TABLE. */
typedef enum nd4c_ref_index_mode { ND4C_REF_RAISE, ND4C_REF_WRAP, ND4C_REF_CLIP } nd4c_ref_index_mode;

/* An index as a position in 0 .. extent - 1. */
static inline int64_t nd4c_ref_resolve_index(nd4c_ref_index_mode mode, int64_t index, int64_t extent) {
  if (mode == ND4C_REF_WRAP) {
    index %= extent;
  } else if (mode == ND4C_REF_CLIP) {
    return index < 0 ? 0 : index >= extent ? extent - 1 : index;
  }
  return index < 0 ? index + extent : index;
}

/* Slices of `whole` along an axis and the `part` that has them at indices' places:
 * part[before, i..., after] and whole[before, indices[i...], after]. */
typedef struct nd4c_ref_slices {
  nd4c_ref_tensor whole, indices, part;
  int32_t axis;
  nd4c_ref_index_mode mode;
  bool to_whole;    /* false: part = whole; true: whole (row)= part, in C order of part */
  nd4c_ref_row row; /* NULL: copies */
} nd4c_ref_slices;
void nd4c_ref_move_slices(const nd4c_ref_slices *args);

/* y[i...] = element number indices[i...] of x in C order. */
void nd4c_ref_take_flat(const nd4c_ref_tensor *x, const nd4c_ref_tensor *indices, nd4c_ref_index_mode mode,
                        const nd4c_ref_tensor *y);

/* The same for whole positions, of `length` numbers in the last axis of indices, behind `batch` axes that all share. */
typedef struct nd4c_ref_positions {
  nd4c_ref_tensor whole, indices, part;
  int32_t batch, length;
  bool to_whole;
  nd4c_ref_row row;
} nd4c_ref_positions;
void nd4c_ref_move_positions(const nd4c_ref_positions *args);
/* First number of indices that is out of range for its axis: number `flat` in C order. */
bool nd4c_ref_find_bad_position(const nd4c_ref_positions *args, int64_t *flat, int64_t *value);

/* Single elements along an axis: part[..., i, ...] and whole[..., indices[..., i, ...], ...], for the places of
 * `shape`, to which part and indices (and the other axes of whole) are broadcast. */
typedef struct nd4c_ref_elements {
  nd4c_ref_tensor whole, indices, part;
  int32_t axis;
  const int64_t *shape;
  bool to_whole;
  nd4c_ref_row row;
} nd4c_ref_elements;
void nd4c_ref_move_elements(const nd4c_ref_elements *args);

/* -- masks: bool tensors ------------------------------------------------------------------------------------------ */

int64_t nd4c_ref_count_true(const nd4c_ref_tensor *mask);
/* The slices of x where mask, which covers its axes from `axis` on, is true, one after the other into y. A mask of one
 * axis may be shorter than x's. */
void nd4c_ref_mask_slices(const nd4c_ref_tensor *x, const nd4c_ref_tensor *mask, int32_t axis, char *y);
/* The elements of x where mask is true, both of one rank and shape; strides 0 where they are broadcast. */
void nd4c_ref_mask_elements(const nd4c_ref_tensor *x, const nd4c_ref_tensor *mask, char *y);
/* The elements of x whose number in C order has a true condition, which may be shorter. */
void nd4c_ref_mask_flat(const nd4c_ref_tensor *x, const nd4c_ref_tensor *condition, char *y);
/* y = value where mask is true; both are broadcast to y by strides of y's rank. */
void nd4c_ref_mask_fill(const nd4c_ref_tensor *mask, const nd4c_ref_tensor *value, const nd4c_ref_tensor *y);
/* y = the next of source's elements where mask is true. */
void nd4c_ref_mask_scatter(const nd4c_ref_tensor *mask, const nd4c_ref_tensor *source, const nd4c_ref_tensor *y);

#endif
