/* Arrays from numbers and from indices; partitions and segments. The families creation and indexing of engine reference
 * call these. */
#ifndef ND4C_KERNELS_REFERENCE_INDEXING_PARTS_H
#define ND4C_KERNELS_REFERENCE_INDEXING_PARTS_H

#include "kernels/creation.h"
#include "kernels/reference/indexing/move.h"

/* The bits of a small number (0, 1) in a dtype; `element` has 16 bytes. */
void nd4c_ref_number(nd4c_dtype dtype, uint64_t number, char *element);

/* Elements [begin, end) of 1-D ranges. arange: start + i step in float64. integer_range: first + i stride modulo 2^64,
 * then cast. spaced: start + i (stop - start) / steps in long double; to the power of base if that is given; integers
 * rounded down. */
typedef struct nd4c_ref_range {
  nd4c_ref_tensor y;
  double start, step;
  int64_t first, stride;
  nd4c_spacing spacing;
} nd4c_ref_range;
void nd4c_ref_arange(const nd4c_ref_range *args, int64_t begin, int64_t end);
void nd4c_ref_integer_range(const nd4c_ref_range *args, int64_t begin, int64_t end);
void nd4c_ref_spaced(const nd4c_ref_range *args, int64_t begin, int64_t end);
/* y[a, i...] = i_a. */
void nd4c_ref_indices(const nd4c_ref_tensor *y);

/* y[..., i] = i < lengths[...]; strides of lengths for y's axes, the last one 0. */
void nd4c_ref_sequence_mask(const nd4c_ref_tensor *lengths, const nd4c_ref_tensor *y);
/* The element `on` at d = indices[...] along an axis of y, negative ones counted from its end; the rest is left. */
void nd4c_ref_one_hot(const nd4c_ref_tensor *indices, const nd4c_ref_tensor *y, int32_t axis, const char *on);

/* Numbers of elements in C order as indices, one row an axis, and back. False: `flat`, `value`, `axis` say what is out
 * of range, and nothing was written. */
typedef struct nd4c_ref_bad_index {
  int64_t flat, value, extent;
  int32_t axis;
} nd4c_ref_bad_index;
void nd4c_ref_unravel(const nd4c_ref_tensor *indices, int32_t axes, const int64_t *shape, const nd4c_ref_tensor *y);
bool nd4c_ref_check_multi(const nd4c_ref_tensor *indices, const int64_t *shape, nd4c_ref_bad_index *bad);
void nd4c_ref_ravel(const nd4c_ref_tensor *indices, const int64_t *shape, const nd4c_ref_tensor *y);

/* Row numbers by group, each group's in their order: starts has groups + 1 entries, order one for each of groups_of. */
void nd4c_ref_group(const nd4c_ref_tensor *groups_of, int64_t groups, int64_t *starts, int64_t *order);

typedef enum nd4c_ref_segment_op {
  ND4C_REF_SEGMENT_SUM,
  ND4C_REF_SEGMENT_MEAN,
  ND4C_REF_SEGMENT_MAX,
  ND4C_REF_SEGMENT_MIN,
  ND4C_REF_SEGMENT_PROD,
  ND4C_REF_SEGMENT_SQRT_N
} nd4c_ref_segment_op;

/* Segments [begin, end) of y from the rows of x that nd4c_ref_group found. Computed in the widest number of the kind,
 * rounded once. */
typedef struct nd4c_ref_segments {
  nd4c_ref_tensor x, y;
  const int64_t *starts, *order;
  nd4c_ref_segment_op op;
} nd4c_ref_segments;
void nd4c_ref_reduce_segments(const nd4c_ref_segments *args, int64_t begin, int64_t end);

#endif
