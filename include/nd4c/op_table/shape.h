/* Rows of the op table: reshape, transpose, squeeze, slice, concat, gather; a view where possible. op_table.h says
 * how to read them. */
#ifndef ND4C_OP_TABLE_SHAPE_H
#define ND4C_OP_TABLE_SHAPE_H

#define ND4C_SIG_RESHAPE(A, op) A(op, IN, x, 0) A(op, INTS, shape, 0) A(op, OUT, y, 0)
#define ND4C_SIG_SLICE(A, op) \
  A(op, IN, x, 0)             \
  A(op, INTS, starts, 0) A(op, INTS, stops, 0) A(op, INTS, axes, 0) A(op, INTS, steps, 0) A(op, OUT, y, 0)
#define ND4C_SIG_CONCAT(A, op) A(op, VAR, xs, 0) A(op, INT, axis, 0) A(op, OUT, y, 0)
#define ND4C_SIG_GATHER(A, op) A(op, IN, x, 0) A(op, IN, indices, 0) A(op, INT, axis, 0) A(op, OUT, y, 0)

#define ND4C_OPS_SHAPE(OP)                                                                                             \
  OP(130, 1, reshape, SHAPE, ND4C_SIG_RESHAPE, reshape, STORED,                                                        \
     "x with another shape, C order; one -1 is inferred; a view where the strides allow it",                           \
     "reshape|reshape|Reshape|reshape")                                                                                \
  OP(131, 1, transpose, SHAPE, ND4C_SIG_AXES, transpose, MOVABLE, "x with axes permuted (none: reversed); a view",     \
     "transpose, permute_dims|permute|Transpose|permute")                                                              \
  OP(132, 1, broadcast_to, SHAPE, ND4C_SIG_RESHAPE, broadcast_to, MOVABLE, "x repeated to a shape; a view",            \
     "broadcast_to|broadcast_to|Expand|broadcastTo")                                                                   \
  OP(133, 1, squeeze, SHAPE, ND4C_SIG_AXES, squeeze, STORED,                                                           \
     "x without the given axes of length 1 (none: all); a view", "squeeze|squeeze|Squeeze|squeeze")                    \
  OP(134, 1, expand_dims, SHAPE, ND4C_SIG_AXES, expand_dims, STORED, "x with axes of length 1 inserted; a view",       \
     "expand_dims|unsqueeze|Unsqueeze|expandDims")                                                                     \
  OP(135, 1, flatten, SHAPE, ND4C_SIG_AXIS, flatten, STORED,                                                           \
     "x as 2-D: the first axis joins the axes before `axis`, the second joins the others", "|flatten|Flatten|flatten") \
  OP(136, 1, slice, SHAPE, ND4C_SIG_SLICE, slice, MOVABLE,                                                             \
     "x[start:stop:step] on the given axes (none: the first ones), as in Python; a view",                              \
     "x[a:b:c]|x[a:b:c]|Slice|stridedSlice", NONE, OPTIONS)                                                            \
  OP(137, 1, concat, SHAPE, ND4C_SIG_CONCAT, concat, MOVABLE, "arrays joined along an axis; dtypes promoted",          \
     "concatenate, concat|cat|Concat|concat", FIRST_ORDER)                                                             \
  OP(138, 1, gather, SHAPE, ND4C_SIG_GATHER, gather, MOVABLE,                                                          \
     "x's slices at indices (int32 or int64, negative counts from the end) along axis; out of range: ND4C_INDEX",      \
     "take|index_select|Gather|gather")

#endif
