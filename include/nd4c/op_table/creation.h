/* Rows of the op table: arrays from numbers (full, zeros, arange, linspace, eye). op_table.h says how to read them. */
#ifndef ND4C_OP_TABLE_CREATION_H
#define ND4C_OP_TABLE_CREATION_H

#define ND4C_SIG_FILLED(A, op) A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, OUT, y, 0)
#define ND4C_SIG_LIKE(A, op) A(op, IN, x, 0) A(op, DTYPE, dtype, ND4C_DTYPE_NONE) A(op, OUT, y, 0)
#define ND4C_SIG_FULL(A, op) A(op, IN, value, 0) A(op, INTS, shape, 0) A(op, OUT, y, 0)
#define ND4C_SIG_FULL_LIKE(A, op) A(op, IN, x, 0) A(op, IN, value, 0) A(op, OUT, y, 0)
#define ND4C_SIG_ARANGE(A, op) \
  A(op, FLOAT, start, 0)       \
  A(op, FLOAT, stop, 0) A(op, FLOAT, step, 1) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, OUT, y, 0)
#define ND4C_SIG_INTEGER_RANGE(A, op) \
  A(op, INT, start, 0)                \
  A(op, INT, stop, 0)                 \
  A(op, INT, step, 1) A(op, BOOL, endpoint, 0) A(op, DTYPE, dtype, ND4C_INT64) A(op, OUT, y, 0)
#define ND4C_SIG_LINSPACE(A, op) \
  A(op, FLOAT, start, 0)         \
  A(op, FLOAT, stop, 1)          \
  A(op, INT, num, 50) A(op, BOOL, endpoint, 1) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, OUT, y, 0)
#define ND4C_SIG_LOGSPACE(A, op) \
  A(op, FLOAT, start, 0)         \
  A(op, FLOAT, stop, 1)          \
  A(op, INT, num, 50) A(op, FLOAT, base, 10) A(op, BOOL, endpoint, 1) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, OUT, y, 0)
#define ND4C_SIG_EYE(A, op) \
  A(op, INT, rows, 1)       \
  A(op, INT, columns, -1) A(op, INT, k, 0) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, OUT, y, 0)
#define ND4C_SIG_INDICES(A, op) A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_INT64) A(op, OUT, y, 0)

#define ND4C_OPS_CREATION(OP)                                                                                         \
  OP(420, 1, full, CREATION, ND4C_SIG_FULL, full, MOVABLE,                                                            \
     "an array of the given shape; every element is the one element of value", "full|full|ConstantOfShape|fill")      \
  OP(432, 1, full_like, CREATION, ND4C_SIG_FULL_LIKE, full_like, MOVABLE,                                             \
     "an array of x's shape; every element is the one element of value, which has x's dtype",                         \
     "full_like|full_like||fill_as")                                                                                  \
  OP(421, 1, zeros, CREATION, ND4C_SIG_FILLED, filled, NUMBER_OR_BOOL, "an array of zeros", "zeros|zeros||create")    \
  OP(422, 1, ones, CREATION, ND4C_SIG_FILLED, filled, NUMBER_OR_BOOL, "an array of ones", "ones|ones||")              \
  OP(423, 1, zeros_like, CREATION, ND4C_SIG_LIKE, like, NUMBER_OR_BOOL,                                               \
     "zeros in x's shape, of x's dtype or the one given", "zeros_like|zeros_like||zeros_as")                          \
  OP(424, 1, ones_like, CREATION, ND4C_SIG_LIKE, like, NUMBER_OR_BOOL,                                                \
     "ones in x's shape, of x's dtype or the one given", "ones_like|ones_like||ones_as")                              \
  OP(425, 1, arange, CREATION, ND4C_SIG_ARANGE, arange, REAL,                                                         \
     "start + i step for every i for which this is before stop: ceil((stop - start) / step) elements, counted "       \
     "exactly; computed in float64, integers truncated",                                                              \
     "arange|arange|Range|range")                                                                                     \
  OP(426, 1, integer_range, CREATION, ND4C_SIG_INTEGER_RANGE, integer_range, REAL,                                    \
     "start + i step for every i for which this is before stop (endpoint: not after stop), exact in 64 bits; for "    \
     "uint64, start and stop are read as unsigned; refused if the integer dtype does not hold all elements",          \
     "arange|arange|Range|range")                                                                                     \
  OP(427, 1, linspace, CREATION, ND4C_SIG_LINSPACE, linspace, NUMERIC,                                                \
     "num numbers from start to stop in equal steps: start + i (stop - start) / (num - endpoint); the last is stop "  \
     "unless endpoint is false; integers are rounded down",                                                           \
     "linspace|linspace||lin_space")                                                                                  \
  OP(428, 1, logspace, CREATION, ND4C_SIG_LOGSPACE, logspace, FLOATING, "base to the power of linspace(start, stop)", \
     "logspace|logspace||")                                                                                           \
  OP(429, 1, eye, CREATION, ND4C_SIG_EYE, eye, NUMBER_OR_BOOL,                                                        \
     "a matrix of rows by columns (columns -1: as many as rows): ones where column - row = k, else zeros",            \
     "eye, identity|eye|EyeLike|eye")                                                                                 \
  OP(430, 1, tri, CREATION, ND4C_SIG_EYE, eye, NUMBER_OR_BOOL,                                                        \
     "a matrix of rows by columns (columns -1: as many as rows): ones where column - row <= k, else zeros",           \
     "tri|||tri")                                                                                                     \
  OP(431, 1, indices, CREATION, ND4C_SIG_INDICES, indices, REAL,                                                      \
     "the indices of a grid of the given shape: y[a, i0, i1, ...] = i_a; the first axis has one entry for each axis " \
     "of the grid",                                                                                                   \
     "indices|||")

#endif
