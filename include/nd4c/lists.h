/* Functions that return several arrays: splitting one array, or broadcasting several to one shape. The outputs are
 * views; no bytes are moved. Each function fills all of its outputs or none; the caller releases them. Errors are those
 * of the ops that make the views, and NULL_ARGUMENT. */
#ifndef ND4C_LISTS_H
#define ND4C_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* The slices of x along an axis, without that axis. `count` must be the axis's extent (SHAPE). */
ND4C_API nd4c_status nd4c_unstack(const nd4c_array *x, int64_t axis, nd4c_array **outputs, int32_t count);

/* Parts of x along an axis. lengths: the length of each part, at least 0; their sum is the axis's extent (SHAPE). NULL:
 * the lengths differ by at most one, the longer parts first. */
ND4C_API nd4c_status nd4c_split(const nd4c_array *x, int64_t axis, const int64_t *lengths, nd4c_array **outputs,
                                int32_t count);

/* Views of all arrays with the shape to which they broadcast. */
ND4C_API nd4c_status nd4c_broadcast_arrays(const nd4c_array *const *xs, nd4c_array **outputs, int32_t count);

/* Coordinates of a grid from 1-D (or 0-d) arrays: output i has the values of xs[i] along axis i and is constant along
 * the others. swapped: exchanges the first two axes, as NumPy's default indexing "xy" does; false is NumPy's "ij". */
ND4C_API nd4c_status nd4c_meshgrid(const nd4c_array *const *xs, bool swapped, nd4c_array **outputs, int32_t count);

ND4C_EXTERN_C_END
#endif
