/* One array as several, and several made alike: views, no bytes are moved. Every function fills all of its outputs or
 * none; each is released by the caller. Errors are those of the ops that make the views, and NULL_ARGUMENT. */
#ifndef ND4C_LISTS_H
#define ND4C_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* The slices of x along an axis, without that axis: count of them, which must be the axis's extent (SHAPE). */
ND4C_API nd4c_status nd4c_unstack(const nd4c_array *x, int64_t axis, nd4c_array **outputs, int32_t count);

/* Parts of x along an axis. lengths: of each part, at least 0, together the axis's extent (SHAPE); NULL: parts as equal
 * as can be, the first ones longer by one. */
ND4C_API nd4c_status nd4c_split(const nd4c_array *x, int64_t axis, const int64_t *lengths, nd4c_array **outputs,
                                int32_t count);

/* All arrays seen with the one shape that they broadcast to. */
ND4C_API nd4c_status nd4c_broadcast_arrays(const nd4c_array *const *xs, nd4c_array **outputs, int32_t count);

/* Coordinates of a grid from 1-D (or 0-d) arrays: output i varies along axis i alone, as xs[i] does. swapped: the first
 * two axes exchanged, which is NumPy's default indexing "xy"; false is "ij". */
ND4C_API nd4c_status nd4c_meshgrid(const nd4c_array *const *xs, bool swapped, nd4c_array **outputs, int32_t count);

ND4C_EXTERN_C_END
#endif
