/* Rows of the op table: reductions over axes (sum, mean, min, max, argmax). op_table.h says how to read them. */
#ifndef ND4C_OP_TABLE_REDUCTION_H
#define ND4C_OP_TABLE_REDUCTION_H

#define ND4C_SIG_ARG_REDUCE(A, op) A(op, IN, x, 0) A(op, INT, axis, 0) A(op, BOOL, keepdims, 0) A(op, OUT, y, 0)

#define ND4C_SIG_REDUCE_AS(A, op) \
  A(op, IN, x, 0) A(op, INTS, axes, 0) A(op, BOOL, keepdims, 0) A(op, DTYPE, dtype, ND4C_DTYPE_NONE) A(op, OUT, y, 0)

#define ND4C_OPS_REDUCTION(OP)                                                                                        \
  OP(70, 1, sum, REDUCTION, ND4C_SIG_REDUCE_AS, reduce_sum, NUMBER_OR_BOOL,                                           \
     "sum over axes (none: all); pairwise in f32 or wider; small integers widen to (u)int64; dtype: each element is " \
     "cast to it first",                                                                                              \
     "sum|sum|ReduceSum|sum")                                                                                         \
  OP(71, 1, prod, REDUCTION, ND4C_SIG_REDUCE_AS, reduce_sum, NUMBER_OR_BOOL,                                          \
     "product over axes (none: all); small integers widen to (u)int64; dtype: each element is cast to it first",      \
     "prod|prod|ReduceProd|prod")                                                                                     \
  OP(72, 1, mean, REDUCTION, ND4C_SIG_REDUCE, reduce_same, FLOATING, "arithmetic mean over axes (none: all)",         \
     "mean|mean|ReduceMean|mean")                                                                                     \
  OP(73, 1, max, REDUCTION, ND4C_SIG_REDUCE, reduce_nonempty, REAL, "largest over axes (none: all); NaN wins",        \
     "max|amax|ReduceMax|max")                                                                                        \
  OP(74, 1, min, REDUCTION, ND4C_SIG_REDUCE, reduce_nonempty, REAL, "smallest over axes (none: all); NaN wins",       \
     "min|amin|ReduceMin|min")                                                                                        \
  OP(75, 1, all, REDUCTION, ND4C_SIG_REDUCE, reduce_bool, NUMBER_OR_BOOL,                                             \
     "true if every element over axes is true; a number counts as true unless it is 0 (NaN is "                       \
     "true)",                                                                                                         \
     "all|all||all")                                                                                                  \
  OP(76, 1, any, REDUCTION, ND4C_SIG_REDUCE, reduce_bool, NUMBER_OR_BOOL,                                             \
     "true if some element over axes is true; a number counts as true unless it is 0 (NaN is "                        \
     "true)",                                                                                                         \
     "any|any||any")                                                                                                  \
  OP(77, 1, argmax, REDUCTION, ND4C_SIG_ARG_REDUCE, arg_reduce, REAL, "int64 index of the first largest; NaN wins",   \
     "argmax|argmax|ArgMax|argmax")                                                                                   \
  OP(78, 1, argmin, REDUCTION, ND4C_SIG_ARG_REDUCE, arg_reduce, REAL, "int64 index of the first smallest; NaN wins",  \
     "argmin|argmin|ArgMin|argmin")

#endif
