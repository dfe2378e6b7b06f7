/* Rows of the op table: sorting, searching, sets. op_table.h says how to read them. */
#ifndef ND4C_OP_TABLE_SORTING_H
#define ND4C_OP_TABLE_SORTING_H

#define ND4C_OPS_SORTING(OP)                                                                                     \
  OP(380, 1, nonzero, SORTING, ND4C_SIG_UNARY, nonzero, NUMBER_OR_BOOL,                                          \
     "int64 indices of the elements that are not zero, in C order: one row an axis, one column an element; 0-d " \
     "counts as 1-D",                                                                                            \
     "nonzero, argwhere|nonzero|NonZero|")

#endif
