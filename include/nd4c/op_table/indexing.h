/* Rows of the op table: picking, placing and moving elements (take, scatter, pad, tile, one_hot, segments). op_table.h
 * says how to read them.
 *
 * Indices are int32 or int64; negative ones count from the end; an index out of range gives ND4C_INDEX, and nothing is
 * written. If several updates of a scatter go to one element, they are applied one after the other in C order of the
 * indices, each rounded to the dtype; without a reduction the last update wins. The result does not depend on the
 * width. */
#ifndef ND4C_OP_TABLE_INDEXING_H
#define ND4C_OP_TABLE_INDEXING_H

/* What the new cells of a padded array hold. */
#define ND4C_PAD_MODE_TABLE(X) \
  X(CONSTANT, 0, "constant")   \
  X(EDGE, 1, "edge")           \
  X(REFLECT, 2, "reflect")     \
  X(WRAP, 3, "wrap")           \
  X(SYMMETRIC, 4, "symmetric")

/* What take does with an index out of range. WRAP: the index modulo the extent. CLIP: the nearest valid index; a
 * negative index becomes 0. */
#define ND4C_INDEX_MODE_TABLE(X) X(RAISE, 0, "raise") X(WRAP, 1, "wrap") X(CLIP, 2, "clip")

/* How a scatter combines an update with the element in its place. */
#define ND4C_SCATTER_REDUCTION_TABLE(X) \
  X(NONE, 0, "none")                    \
  X(ADD, 1, "add")                      \
  X(MULTIPLY, 2, "multiply")            \
  X(MAXIMUM, 3, "maximum")              \
  X(MINIMUM, 4, "minimum")              \
  X(SUBTRACT, 5, "subtract")            \
  X(DIVIDE, 6, "divide")

#define ND4C_SIG_SWAPAXES(A, op) A(op, IN, x, 0) A(op, INT, axis1, -2) A(op, INT, axis2, -1) A(op, OUT, y, 0)
#define ND4C_SIG_MOVEAXIS(A, op) A(op, IN, x, 0) A(op, INTS, source, 0) A(op, INTS, destination, 0) A(op, OUT, y, 0)
#define ND4C_SIG_ATLEAST(A, op) A(op, IN, x, 0) A(op, INT, ndim, 1) A(op, OUT, y, 0)
#define ND4C_SIG_SELECT(A, op) A(op, IN, x, 0) A(op, INT, axis, 0) A(op, INT, index, 0) A(op, OUT, y, 0)
#define ND4C_SIG_WINDOWS(A, op) A(op, IN, x, 0) A(op, INTS, window, 0) A(op, INTS, axes, 0) A(op, OUT, y, 0)
#define ND4C_SIG_UNFOLD(A, op) \
  A(op, IN, x, 0) A(op, INT, axis, -1) A(op, INT, size, 1) A(op, INT, step, 1) A(op, OUT, y, 0)
#define ND4C_SIG_PAD(A, op) \
  A(op, IN, x, 0)           \
  A(op, OPT, value, 0)      \
  A(op, INTS, pads, 0) A(op, INTS, axes, 0) A(op, WORD, mode, pad_mode, ND4C_PAD_MODE_CONSTANT) A(op, OUT, y, 0)
#define ND4C_SIG_TILE(A, op) A(op, IN, x, 0) A(op, INTS, repeats, 0) A(op, OUT, y, 0)
#define ND4C_SIG_REPEAT(A, op) \
  A(op, IN, x, 0)              \
  A(op, OPT, counts, 0) A(op, INTS, repeats, 0) A(op, INTS, axes, 0) A(op, INT, total, -1) A(op, OUT, y, 0)
#define ND4C_SIG_ROLL(A, op) A(op, IN, x, 0) A(op, INTS, shifts, 0) A(op, INTS, axes, 0) A(op, OUT, y, 0)
#define ND4C_SIG_TAKE(A, op) \
  A(op, IN, x, 0)            \
  A(op, IN, indices, 0) A(op, INTS, axes, 0) A(op, WORD, mode, index_mode, ND4C_INDEX_MODE_RAISE) A(op, OUT, y, 0)
#define ND4C_SIG_EMBEDDING(A, op) A(op, IN, table, 0) A(op, IN, indices, 0) A(op, OUT, y, 0)
#define ND4C_SIG_PICK(A, op) A(op, IN, x, 0) A(op, IN, indices, 0) A(op, INT, axis, -1) A(op, OUT, y, 0)
#define ND4C_SIG_GATHER_ND(A, op) A(op, IN, x, 0) A(op, IN, indices, 0) A(op, INT, batch_dims, 0) A(op, OUT, y, 0)
#define ND4C_SIG_PUT(A, op) \
  A(op, IN, x, 0) A(op, IN, indices, 0) A(op, IN, values, 0) A(op, INT, axis, -1) A(op, OUT, y, 0)
#define ND4C_SIG_SCATTER(A, op) \
  A(op, IN, x, 0) A(op, IN, indices, 0) A(op, IN, updates, 0) A(op, INT, axis, 0) A(op, OUT, y, 0)
#define ND4C_SIG_SCATTER_ELEMENTS(A, op) \
  A(op, IN, x, 0)                        \
  A(op, IN, indices, 0)                  \
  A(op, IN, updates, 0)                  \
  A(op, INT, axis, 0) A(op, WORD, reduction, scatter_reduction, ND4C_SCATTER_REDUCTION_NONE) A(op, OUT, y, 0)
#define ND4C_SIG_SCATTER_ND(A, op) \
  A(op, IN, x, 0)                  \
  A(op, IN, indices, 0)            \
  A(op, IN, updates, 0) A(op, WORD, reduction, scatter_reduction, ND4C_SCATTER_REDUCTION_NONE) A(op, OUT, y, 0)
#define ND4C_SIG_INDEX_FILL(A, op) \
  A(op, IN, x, 0) A(op, IN, indices, 0) A(op, IN, value, 0) A(op, INT, axis, 0) A(op, OUT, y, 0)
#define ND4C_SIG_MASKED_FILL(A, op) A(op, IN, x, 0) A(op, IN, mask, 0) A(op, IN, value, 0) A(op, OUT, y, 0)
#define ND4C_SIG_MASKED(A, op) A(op, IN, x, 0) A(op, IN, mask, 0) A(op, OUT, y, 0)
#define ND4C_SIG_MASKED_AXIS(A, op) A(op, IN, x, 0) A(op, IN, mask, 0) A(op, INT, axis, 0) A(op, OUT, y, 0)
#define ND4C_SIG_COMPRESS(A, op) A(op, IN, x, 0) A(op, IN, condition, 0) A(op, INTS, axes, 0) A(op, OUT, y, 0)
#define ND4C_SIG_TRIANGLE(A, op) A(op, IN, x, 0) A(op, INT, k, 0) A(op, OUT, y, 0)
#define ND4C_SIG_BAND(A, op) A(op, IN, x, 0) A(op, INT, lower, -1) A(op, INT, upper, -1) A(op, OUT, y, 0)
#define ND4C_SIG_DIAG_EMBED(A, op) \
  A(op, IN, x, 0) A(op, INT, offset, 0) A(op, INT, axis1, -2) A(op, INT, axis2, -1) A(op, OUT, y, 0)
#define ND4C_SIG_SET_DIAG(A, op) A(op, IN, x, 0) A(op, IN, diagonal, 0) A(op, INT, k, 0) A(op, OUT, y, 0)
#define ND4C_SIG_BLOCKS(A, op) \
  A(op, IN, x, 0)              \
  A(op, INT, block_size, 1) A(op, BOOL, depth_first, 0) A(op, BOOL, channels_last, 0) A(op, OUT, y, 0)
#define ND4C_SIG_SPACE_BATCH(A, op) A(op, IN, x, 0) A(op, INTS, block_shape, 0) A(op, INTS, pads, 0) A(op, OUT, y, 0)
#define ND4C_SIG_IM2COL(A, op) \
  A(op, IN, x, 0)              \
  A(op, INTS, kernel, 0) A(op, INTS, strides, 0) A(op, INTS, pads, 0) A(op, INTS, dilations, 0) A(op, OUT, y, 0)
#define ND4C_SIG_COL2IM(A, op) \
  A(op, IN, x, 0)              \
  A(op, INTS, image, 0)        \
  A(op, INTS, kernel, 0) A(op, INTS, strides, 0) A(op, INTS, pads, 0) A(op, INTS, dilations, 0) A(op, OUT, y, 0)
#define ND4C_SIG_REVERSE_SEQUENCE(A, op) \
  A(op, IN, x, 0) A(op, IN, lengths, 0) A(op, INT, batch_axis, 1) A(op, INT, time_axis, 0) A(op, OUT, y, 0)
#define ND4C_SIG_SEQUENCE_MASK(A, op) \
  A(op, IN, lengths, 0) A(op, INT, maxlen, 0) A(op, DTYPE, dtype, ND4C_BOOL) A(op, OUT, y, 0)
#define ND4C_SIG_ONE_HOT(A, op) \
  A(op, IN, indices, 0)         \
  A(op, OPT, values, 0) A(op, INT, depth, 1) A(op, INT, axis, -1) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, OUT, y, 0)
#define ND4C_SIG_PARTITION(A, op) \
  A(op, IN, x, 0) A(op, IN, partitions, 0) A(op, INT, num_partitions, 1) A(op, OUT, y, 0) A(op, OUT, counts, 0)
#define ND4C_SIG_STITCH(A, op) A(op, VAR, xs, 0) A(op, INT, size, -1) A(op, OUT, y, 0)
#define ND4C_SIG_SEGMENTS(A, op) A(op, IN, x, 0) A(op, IN, segments, 0) A(op, INT, num_segments, -1) A(op, OUT, y, 0)
#define ND4C_SIG_TENSOR_SCATTER(A, op) \
  A(op, IN, x, 0)                      \
  A(op, IN, update, 0) A(op, OPT, write_indices, 0) A(op, INT, axis, -2) A(op, BOOL, circular, 0) A(op, OUT, y, 0)
#define ND4C_SIG_UNRAVEL(A, op) A(op, IN, indices, 0) A(op, INTS, shape, 0) A(op, OUT, y, 0)

#define ND4C_OPS_INDEXING(OP) \
  ND4C_OPS_INDEX_VIEWS(OP) ND4C_OPS_INDEX_MOVES(OP) ND4C_OPS_INDEX_PICKS(OP) ND4C_OPS_INDEX_PARTS(OP)

#define ND4C_OPS_INDEX_VIEWS(OP)                                                                                    \
  OP(440, 1, flip, SHAPE, ND4C_SIG_AXES, flip, MOVABLE,                                                             \
     "x with the order along the axes (none: all) reversed; a view", "flip|flip||reverse")                          \
  OP(441, 1, swapaxes, SHAPE, ND4C_SIG_SWAPAXES, swapaxes, MOVABLE, "x with two axes exchanged; a view",            \
     "swapaxes|transpose, swapaxes||")                                                                              \
  OP(442, 1, moveaxis, SHAPE, ND4C_SIG_MOVEAXIS, moveaxis, MOVABLE,                                                 \
     "x with the axes of source moved to the positions of destination, the others in their order; a view",          \
     "moveaxis|movedim||")                                                                                          \
  OP(443, 1, atleast_nd, SHAPE, ND4C_SIG_ATLEAST, atleast_nd, MOVABLE,                                              \
     "x with axes of length 1 added in front until there are ndim; a view", "atleast_1d, atleast_2d|atleast_2d||")  \
  OP(444, 1, select, SHAPE, ND4C_SIG_SELECT, select, MOVABLE,                                                       \
     "x[..., index, ...]: one slice, without its axis; a view", "x[i]|select||")                                    \
  OP(446, 1, sliding_window_view, SHAPE, ND4C_SIG_WINDOWS, sliding_window_view, MOVABLE,                            \
     "all windows of x: y[i..., j...] = x[i + j]; the axes i (none: all) are shorter by window - 1, the axes j of " \
     "the window come last; a view",                                                                                \
     "lib.stride_tricks.sliding_window_view|||")                                                                    \
  OP(447, 1, unfold, SHAPE, ND4C_SIG_UNFOLD, unfold, MOVABLE,                                                       \
     "slices of size along axis, step apart: y[..., i, ..., j] = x[..., i step + j, ...]; a view", "|Tensor.unfold||")

#define ND4C_OPS_INDEX_MOVES(OP)                                                                                      \
  OP(448, 1, stack, INDEXING, ND4C_SIG_CONCAT, stack, MOVABLE,                                                        \
     "arrays of one shape joined along a new axis; dtypes promoted", "stack|stack|ConcatFromSequence|stack")          \
  OP(449, 1, pad, INDEXING, ND4C_SIG_PAD, pad, MOVABLE,                                                               \
     "x with pads (all begins, then all ends, of the axes; none: all) around it; they hold value (left out: zero), "  \
     "or x's edge (edge), its mirror image without the edge (reflect) or with it (symmetric), or x again (wrap); "    \
     "negative pads cut off",                                                                                         \
     "pad|nn.functional.pad|Pad|pad, mirror_pad")                                                                     \
  OP(450, 1, tile, INDEXING, ND4C_SIG_TILE, tile, MOVABLE,                                                            \
     "x repeated as a whole: y[i] = x[i mod extent]; repeats and the shape of x are aligned at the last axis",        \
     "tile|tile|Tile|tile")                                                                                           \
  OP(451, 1, repeat, INDEXING, ND4C_SIG_REPEAT, repeat, MOVABLE,                                                      \
     "each slice along the axis (none: of x flattened) repeated: repeats has one number for all slices or one for "   \
     "each; the input counts replaces repeats, and its sum must be total",                                            \
     "repeat|repeat_interleave||repeat")                                                                              \
  OP(452, 1, roll, INDEXING, ND4C_SIG_ROLL, roll, MOVABLE,                                                            \
     "y[(i + shift) mod extent] = x[i] along the axes (none: of x flattened)", "roll|roll||roll")                     \
  OP(480, 1, depth_to_space, INDEXING, ND4C_SIG_BLOCKS, depth_to_space, MOVABLE,                                      \
     "channels into blocks of space: [..., C b b, H, W] becomes [..., C, H b, W b]; depth_first: C is the slowest "   \
     "part of the channels (ONNX's CRD, pixel shuffle), else the fastest (DCR)",                                      \
     "|nn.PixelShuffle|DepthToSpace|depth_to_space")                                                                  \
  OP(481, 1, space_to_depth, INDEXING, ND4C_SIG_BLOCKS, space_to_depth, MOVABLE,                                      \
     "blocks of space into channels: [..., C, H b, W b] becomes [..., C b b, H, W]; inverse of depth_to_space",       \
     "|nn.PixelUnshuffle|SpaceToDepth|space_to_depth")                                                                \
  OP(482, 1, space_to_batch, INDEXING, ND4C_SIG_SPACE_BATCH, space_to_batch, MOVABLE,                                 \
     "x [n, space..., rest], padded with zeros (all begins, then all ends), cut into blocks; the position in a "      \
     "block becomes the slowest part of axis 0",                                                                      \
     "|||space_to_batch, space_to_batch_nd")                                                                          \
  OP(483, 1, batch_to_space, INDEXING, ND4C_SIG_SPACE_BATCH, batch_to_space, MOVABLE,                                 \
     "inverse of space_to_batch; pads are cut off", "|||batch_to_space, batch_to_space_nd")                           \
  OP(484, 1, im2col, INDEXING, ND4C_SIG_IM2COL, im2col, MOVABLE,                                                      \
     "windows as columns: x [n, c, space...] gives [n, c prod(kernel), windows], zeros in the padding (begins, then " \
     "ends)",                                                                                                         \
     "|nn.Unfold||im2col", NONE, OPTIONS)                                                                             \
  OP(485, 1, col2im, INDEXING, ND4C_SIG_COL2IM, col2im, NUMERIC,                                                      \
     "sum of windows, the reverse of im2col: x [n, c prod(kernel), windows] gives [n, c, image...]; every element "   \
     "is added where im2col took it from",                                                                            \
     "|nn.Fold|Col2Im|col2im", NONE, OPTIONS)                                                                         \
  OP(486, 1, reverse_sequence, INDEXING, ND4C_SIG_REVERSE_SEQUENCE, reverse_sequence, MOVABLE,                        \
     "the first lengths[b] steps of sequence b reversed, the others as they are",                                     \
     "||ReverseSequence|reverse_sequence")

#define ND4C_OPS_INDEX_PICKS(OP)                                                                                      \
  OP(453, 1, take, INDEXING, ND4C_SIG_TAKE, take, MOVABLE,                                                            \
     "x's slices at indices along the axis (none: of x flattened); mode says what an index out of range does",        \
     "take|take, index_select|Gather|gather")                                                                         \
  OP(454, 1, embedding_lookup, INDEXING, ND4C_SIG_EMBEDDING, embedding_lookup, MOVABLE, "rows of table at indices",   \
     "|nn.functional.embedding|Gather|embedding_lookup")                                                              \
  OP(455, 1, take_along_axis, INDEXING, ND4C_SIG_PICK, take_along_axis, MOVABLE,                                      \
     "y[..., i, ...] = x[..., indices[..., i, ...], ...]; the other axes are broadcast",                              \
     "take_along_axis|take_along_dim||")                                                                              \
  OP(456, 1, gather_elements, INDEXING, ND4C_SIG_PICK, gather_elements, MOVABLE,                                      \
     "as take_along_axis, but y has the shape of indices, and the other axes of indices may be shorter than x's",     \
     "|gather|GatherElements|")                                                                                       \
  OP(457, 1, gather_nd, INDEXING, ND4C_SIG_GATHER_ND, gather_nd, MOVABLE,                                             \
     "y[b, i...] = x[b, indices[b, i..., :], ...]: the last axis of indices holds whole positions",                   \
     "||GatherND, com.microsoft.GatherND|gather_nd")                                                                  \
  OP(458, 1, put_along_axis, INDEXING, ND4C_SIG_PUT, put_along_axis, MOVABLE,                                         \
     "x with y[..., indices[..., i, ...], ...] = values[..., i, ...]; the other axes are broadcast; the last of "     \
     "several values for one element wins",                                                                           \
     "put_along_axis|||")                                                                                             \
  OP(459, 1, scatter_elements, INDEXING, ND4C_SIG_SCATTER_ELEMENTS, scatter_elements, MOVABLE,                        \
     "x with y[..., indices[..., i, ...], ...] = updates[..., i, ...], or combined with x by reduction",              \
     "|scatter, scatter_reduce|ScatterElements, Scatter|")                                                            \
  OP(460, 1, scatter_nd, INDEXING, ND4C_SIG_SCATTER_ND, scatter_nd, MOVABLE,                                          \
     "x with y[indices[i..., :]] = updates[i...], or combined with x by reduction; the last axis of indices holds "   \
     "whole positions",                                                                                               \
     "||ScatterND|scatter_nd, scatter_nd_add, scatter_nd_sub, scatter_nd_update", REPLACES)                           \
  OP(461, 1, scatter_update, INDEXING, ND4C_SIG_SCATTER, scatter, MOVABLE,                                            \
     "x with y[..., indices[i], ...] = updates[..., i, ...], slices along axis", "|index_copy||scatter_update",       \
     REPLACES)                                                                                                        \
  OP(462, 1, scatter_add, INDEXING, ND4C_SIG_SCATTER, scatter, NUMBER_OR_BOOL,                                        \
     "x with y[..., indices[i], ...] += updates[..., i, ...], slices along axis; bool: or",                           \
     "add.at|index_add||scatter_add")                                                                                 \
  OP(463, 1, scatter_subtract, INDEXING, ND4C_SIG_SCATTER, scatter, NUMERIC,                                          \
     "x with y[..., indices[i], ...] -= updates[..., i, ...], slices along axis", "subtract.at|||scatter_sub")        \
  OP(464, 1, scatter_multiply, INDEXING, ND4C_SIG_SCATTER, scatter, NUMBER_OR_BOOL,                                   \
     "x with y[..., indices[i], ...] *= updates[..., i, ...], slices along axis; bool: and",                          \
     "multiply.at|index_reduce||scatter_mul")                                                                         \
  OP(465, 1, scatter_divide, INDEXING, ND4C_SIG_SCATTER, scatter, NUMERIC,                                            \
     "x with y[..., indices[i], ...] /= updates[..., i, ...], slices along axis; integers as the op divide",          \
     "divide.at|||scatter_div")                                                                                       \
  OP(466, 1, scatter_maximum, INDEXING, ND4C_SIG_SCATTER, scatter, REAL,                                              \
     "x with y[..., indices[i], ...] = max(that, updates[..., i, ...]), slices along axis; NaN wins",                 \
     "maximum.at|index_reduce||scatter_max")                                                                          \
  OP(467, 1, scatter_minimum, INDEXING, ND4C_SIG_SCATTER, scatter, REAL,                                              \
     "x with y[..., indices[i], ...] = min(that, updates[..., i, ...]), slices along axis; NaN wins",                 \
     "minimum.at|index_reduce||scatter_min")                                                                          \
  OP(468, 1, index_fill, INDEXING, ND4C_SIG_INDEX_FILL, index_fill, MOVABLE,                                          \
     "x with the slices at indices along axis filled with value", "|index_fill||")                                    \
  OP(469, 1, masked_fill, INDEXING, ND4C_SIG_MASKED_FILL, masked_fill, MOVABLE,                                       \
     "value where mask is true, else x; mask and value are broadcast to x", "putmask|masked_fill||", REPLACES)        \
  OP(470, 1, masked_select, INDEXING, ND4C_SIG_MASKED, masked_select, MOVABLE,                                        \
     "the elements of x where mask is true, in C order; x and mask are broadcast; 1-D",                               \
     "x[mask], extract|masked_select||")                                                                              \
  OP(471, 1, masked_scatter, INDEXING, ND4C_SIG_MASKED_FILL, masked_scatter, MOVABLE,                                 \
     "x with the elements where mask is true (broadcast to x) replaced by the first ones of value in C order",        \
     "place|masked_scatter||", REPLACES)                                                                              \
  OP(472, 1, boolean_mask, INDEXING, ND4C_SIG_MASKED_AXIS, boolean_mask, MOVABLE,                                     \
     "x's slices where mask is true; mask covers the axes of x from axis on, and one axis takes their place",         \
     "x[mask]|x[mask]||boolean_mask")                                                                                 \
  OP(473, 1, compress, INDEXING, ND4C_SIG_COMPRESS, compress, MOVABLE,                                                \
     "x's slices along the axis (none: of x flattened) where the 1-D condition is true; slices past the end of "      \
     "condition are left out",                                                                                        \
     "compress||Compress|")                                                                                           \
  OP(488, 1, one_hot, INDEXING, ND4C_SIG_ONE_HOT, one_hot, INDEX,                                                     \
     "y[..., d, ...] = on if the index is d or d - depth, else off, d along axis; values holds (off, on), left out: " \
     "0 and 1 of dtype; an index out of range: all off",                                                              \
     "|nn.functional.one_hot|OneHot|onehot")                                                                          \
  OP(498, 1, tensor_scatter, INDEXING, ND4C_SIG_TENSOR_SCATTER, tensor_scatter, MOVABLE,                              \
     "cache x with update written along axis from write_indices[b] (left out: 0) on in batch b (axis 0); circular: "  \
     "modulo the extent",                                                                                             \
     "||TensorScatter|", REPLACES)

#define ND4C_OPS_INDEX_PARTS(OP)                                                                                      \
  OP(474, 1, tril, INDEXING, ND4C_SIG_TRIANGLE, triangle, NUMBER_OR_BOOL,                                             \
     "x where column - row <= k in its last two axes, else zero", "tril|tril|Trilu, com.microsoft.Trilu|")            \
  OP(475, 1, triu, INDEXING, ND4C_SIG_TRIANGLE, triangle, NUMBER_OR_BOOL,                                             \
     "x where column - row >= k in its last two axes, else zero", "triu|triu|Trilu, com.microsoft.Trilu|triu")        \
  OP(476, 1, matrix_band_part, INDEXING, ND4C_SIG_BAND, band, NUMBER_OR_BOOL,                                         \
     "x where row - column <= lower and column - row <= upper (negative: all) in its last two axes, else zero",       \
     "|||matrix_band_part")                                                                                           \
  OP(477, 1, diag, INDEXING, ND4C_SIG_TRIANGLE, diag, NUMBER_OR_BOOL,                                                 \
     "1-D: the square matrix with x on diagonal k; 2-D: diagonal k", "diag|diag||diag")                               \
  OP(478, 1, diag_embed, INDEXING, ND4C_SIG_DIAG_EMBED, diag_embed, NUMBER_OR_BOOL,                                   \
     "zeros with x's last axis on the diagonal where axis2's index - axis1's = offset", "|diag_embed||matrix_diag")   \
  OP(479, 1, matrix_set_diag, INDEXING, ND4C_SIG_SET_DIAG, matrix_set_diag, MOVABLE,                                  \
     "x with diagonal k of its last two axes replaced; diagonal is broadcast",                                        \
     "fill_diagonal|diagonal_scatter||matrix_set_diag")                                                               \
  OP(487, 1, sequence_mask, INDEXING, ND4C_SIG_SEQUENCE_MASK, sequence_mask, INDEX,                                   \
     "y[..., i] = i < lengths[...] for i in 0 .. maxlen - 1, as 1 and 0 of dtype", "|||sequence_mask")                \
  OP(489, 1, invert_permutation, INDEXING, ND4C_SIG_UNARY, invert_permutation, INDEX,                                 \
     "y[x[i]] = i for a permutation x of 0 .. n - 1", "argsort|argsort||invert_permutation")                          \
  OP(490, 1, dynamic_partition, INDEXING, ND4C_SIG_PARTITION, dynamic_partition, MOVABLE,                             \
     "y: x's slices (one for each element of partitions) ordered by partition, stably; counts: how many slices each " \
     "of the partitions 0 .. num_partitions - 1 has",                                                                 \
     "|||dynamic_partition")                                                                                          \
  OP(491, 1, dynamic_stitch, INDEXING, ND4C_SIG_STITCH, dynamic_stitch, MOVABLE,                                      \
     "y[indices] = slices of data; xs: the arrays of indices, then as many arrays of data; where an index repeats, "  \
     "the last slice wins; where no slice goes, zeros; y has size slices (-1: as many as indices)",                   \
     "|||dynamic_stitch")                                                                                             \
  OP(492, 1, segment_sum, INDEXING, ND4C_SIG_SEGMENTS, segment_reduce, NUMERIC,                                       \
     "y[s] = sum of the x[i] whose segments[i] = s; segments need not be sorted; y has num_segments segments (-1: "   \
     "as many as the largest number in segments needs; that number must be less than x has rows); an empty "          \
     "segment gives 0",                                                                                               \
     "|segment_reduce||segment_sum, unsorted_segment_sum")                                                            \
  OP(493, 1, segment_mean, INDEXING, ND4C_SIG_SEGMENTS, segment_reduce, FLOATING,                                     \
     "mean of each segment, see segment_sum; an empty segment gives 0",                                               \
     "|segment_reduce||segment_mean, unsorted_segment_mean")                                                          \
  OP(494, 1, segment_max, INDEXING, ND4C_SIG_SEGMENTS, segment_reduce, REAL,                                          \
     "largest of each segment, see segment_sum; NaN wins; an empty segment gives the dtype's least number, floats "   \
     "-infinity",                                                                                                     \
     "|segment_reduce||segment_max, unsorted_segment_max")                                                            \
  OP(495, 1, segment_min, INDEXING, ND4C_SIG_SEGMENTS, segment_reduce, REAL,                                          \
     "least of each segment, see segment_sum; NaN wins; an empty segment gives the dtype's largest number, floats "   \
     "infinity",                                                                                                      \
     "|segment_reduce||segment_min, unsorted_segment_min")                                                            \
  OP(496, 1, segment_prod, INDEXING, ND4C_SIG_SEGMENTS, segment_reduce, NUMERIC,                                      \
     "product of each segment, see segment_sum; an empty segment gives 1", "|||segment_prod, unsorted_segment_prod")  \
  OP(497, 1, segment_sqrt_n, INDEXING, ND4C_SIG_SEGMENTS, segment_reduce, FLOATING,                                   \
     "sum of each segment divided by the root of its count, see segment_sum; an empty segment gives 0",               \
     "|||unsorted_segment_sqrt_n")                                                                                    \
  OP(499, 1, unravel_index, INDEXING, ND4C_SIG_UNRAVEL, unravel_index, INDEX,                                         \
     "positions of elements in C order (numbers from 0) as indices: one row for each axis of shape",                  \
     "unravel_index|unravel_index||")                                                                                 \
  OP(439, 1, ravel_multi_index, INDEXING, ND4C_SIG_UNRAVEL, ravel_multi_index, INDEX,                                 \
     "indices, one row for each axis of shape, as positions of elements in C order (numbers from 0)",                 \
     "ravel_multi_index|||")

#endif
