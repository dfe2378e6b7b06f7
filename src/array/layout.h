/* Checks and hashes of layouts (nd4c/plugin/layout.h), for encoded arrays (device/storage) and packed constants
 * (device/storage, dispatch/constants.c). */
#ifndef ND4C_ARRAY_LAYOUT_H
#define ND4C_ARRAY_LAYOUT_H

#include "nd4c/plugin/layout.h"
#include "nd4c/status.h"

/* ABI unless the layout, which a plug-in may have written, is consistent in tag, counts, extents, blocks and bytes.
 * `what` begins the text. */
nd4c_status nd4c_layout_check(const nd4c_layout *layout, const char *what);

/* Bytes of the elements and the side data: for OPAQUE the layout's own number, for the others computed from shape and
 * blocks. False if an array cannot have that many. */
bool nd4c_layout_needs(const nd4c_layout *layout, int64_t *bytes);

/* Equal layouts (nd4c_layout_equal) have equal hashes. */
uint64_t nd4c_layout_hash(const nd4c_layout *layout);

/* Whether kernels of two engines, each of which wants its layout of the same array, share one packed copy. */
bool nd4c_layout_shares(const char *engine, const nd4c_layout *layout, const char *other_engine,
                        const nd4c_layout *other);

/* "blocked", "quantised (q8_0)": for texts. Static, or in `buffer`. */
const char *nd4c_layout_text(const nd4c_layout *layout, char *buffer, size_t size);

#endif
