/* Indexing, x[items], with the meaning that it has in NumPy: integers, slices, an ellipsis, new axes, masks and arrays
 * of indices.
 *
 * Without masks and arrays the result is a view. With them it is a new array by NumPy's advanced rules: all arrays of
 * indices (a mask stands for the indices of its true elements, one array for each of its axes) are broadcast together.
 * If only integers stand between the arrays, the broadcast axes take the place of the first array; otherwise they come
 * first in the result. Axes beyond the last item are taken whole. */
#ifndef ND4C_INDEXING_H
#define ND4C_INDEXING_H

#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Kinds of items. Numbers are never reused. */
typedef enum nd4c_index_kind {
  ND4C_INDEX_END = 0,      /* ends a list of items that is given without a count */
  ND4C_INDEX_INTEGER = 1,  /* element `start` of an axis, which disappears; negative counts from the end */
  ND4C_INDEX_SLICE = 2,    /* start:stop:step of an axis; ND4C_SLICE_NONE stands for Python's None */
  ND4C_INDEX_ELLIPSIS = 3, /* as many whole axes as the other items leave over; at most one */
  ND4C_INDEX_NEW_AXIS = 4, /* an axis of length 1 */
  ND4C_INDEX_MASK = 5,     /* `array` of bool covers as many axes as its rank; its extents equal theirs or are 0 */
  ND4C_INDEX_ARRAY = 6     /* `array` of any integer dtype over one axis; bool: as ND4C_INDEX_MASK */
} nd4c_index_kind;

typedef struct nd4c_index {
  int32_t kind; /* nd4c_index_kind */
  int64_t start, stop, step;
  const nd4c_array *array;
} nd4c_index;

/* *out = x[items]. INDEX for an index out of range (the text has axis, index and extent), too many items, two ellipses,
 * arrays that do not broadcast or whose dtype is not an integer, a mask of another shape; ARGUMENT for a step of 0 or
 * an unknown kind. */
ND4C_API nd4c_status nd4c_array_get(const nd4c_array *array, const nd4c_index *items, int32_t count, nd4c_array **out);

/* As nd4c_array_get, but returns the new array, for bindings to languages in which each argument of a call is costly.
 * The last item is followed by one of kind ND4C_INDEX_END. NULL after a failure: see nd4c_error_code and
 * nd4c_error_message. */
ND4C_API nd4c_array *nd4c_array_at(const nd4c_array *array, const nd4c_index *items);

/* x[items] = value. The value is broadcast (surplus leading axes of length 1 are dropped) and cast to the same or a
 * higher kind, in the order bool, integer, float, complex; DTYPE for a lower kind. If several indices name one element,
 * the last one wins. The value may share memory with the array. A refused call writes nothing. Errors as
 * nd4c_array_get; SHAPE for a value that does not broadcast, READ_ONLY, UNSUPPORTED for strings, which cannot be
 * replaced in place. */
ND4C_API nd4c_status nd4c_array_set(nd4c_array *array, const nd4c_index *items, int32_t count, const nd4c_array *value);

ND4C_EXTERN_C_END
#endif
