/* x[items] as NumPy and Python mean it: integers, slices, an ellipsis, new axes, masks and arrays of indices.
 *
 * Without masks and arrays the result is a view. With them it is a new array by NumPy's advanced rules: all arrays of
 * indices (a mask stands for the indices of its true elements, one array for each of its axes) are broadcast together;
 * their axes stand where the first of them stood if nothing but integers stands between them, in front of all others if
 * something does. Fewer items than axes: the rest is taken whole. */
#ifndef ND4C_INDEXING_H
#define ND4C_INDEXING_H

#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Kinds of items. Numbers are never reused. */
typedef enum nd4c_index_kind {
  ND4C_INDEX_END = 0,      /* no item: ends a list that is given without its count */
  ND4C_INDEX_INTEGER = 1,  /* element `start` of an axis, which disappears; negative counts from the end */
  ND4C_INDEX_SLICE = 2,    /* start:stop:step of an axis; ND4C_SLICE_NONE in a place is Python's None there */
  ND4C_INDEX_ELLIPSIS = 3, /* as many whole axes as the other items leave; one at most */
  ND4C_INDEX_NEW_AXIS = 4, /* an axis of length 1 */
  ND4C_INDEX_MASK = 5,     /* `array` of bool over as many axes as it has, of their extents or 0; 0-d: over none */
  ND4C_INDEX_ARRAY = 6     /* `array` of any integer dtype over one axis; bool: as ND4C_INDEX_MASK */
} nd4c_index_kind;

typedef struct nd4c_index {
  int32_t kind; /* nd4c_index_kind */
  int64_t start, stop, step;
  const nd4c_array *array;
} nd4c_index;

/* *out = x[items]. INDEX, with axis, index and extent, for one out of range, too many items, two ellipses, arrays that
 * do not broadcast or are of no integer dtype, a mask of another shape; ARGUMENT for a step of 0 or an unknown kind. */
ND4C_API nd4c_status nd4c_array_get(const nd4c_array *array, const nd4c_index *items, int32_t count, nd4c_array **out);

/* The same with the new array as the result, for languages that pay for each argument of a call: the last item is
 * followed by one of kind ND4C_INDEX_END. NULL when it is refused: nd4c_error_code and nd4c_error_message say why. */
ND4C_API nd4c_array *nd4c_array_at(const nd4c_array *array, const nd4c_index *items);

/* x[items] = value, which is broadcast (axes of length 1 in front that are too many do not count) and cast. Cast to
 * the same kind or upwards: bool, integer, float, complex; the other way is DTYPE. Where an element is named several
 * times the last one wins. The value may share memory with the array. Nothing is written when the call is refused:
 * as nd4c_array_get, SHAPE for a value that does not broadcast, READ_ONLY, UNSUPPORTED for strings, which cannot be
 * replaced in place. */
ND4C_API nd4c_status nd4c_array_set(nd4c_array *array, const nd4c_index *items, int32_t count, const nd4c_array *value);

ND4C_EXTERN_C_END
#endif
