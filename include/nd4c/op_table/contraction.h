/* Rows of the op table: matrix products, linear layers, products of arrays summed over axes, diagonals. op_table.h says
 * how to read them.
 *
 * Sums are kept in double, double complex or 64 bits and rounded (or wrapped) once at the end, also where several
 * arrays are multiplied; BLAS computes large products of float32 and complex64, in single precision, as in matmul. */
#ifndef ND4C_OP_TABLE_CONTRACTION_H
#define ND4C_OP_TABLE_CONTRACTION_H

#define ND4C_SIG_DIAGONAL(A, op) \
  A(op, IN, x, 0) A(op, INT, offset, 0) A(op, INT, axis1, -2) A(op, INT, axis2, -1) A(op, OUT, y, 0)
#define ND4C_SIG_PAIR_AXIS(A, op) A(op, IN, a, 0) A(op, IN, b, 0) A(op, INT, axis, -1) A(op, OUT, y, 0)
#define ND4C_SIG_TENSORDOT(A, op) \
  A(op, IN, a, 0) A(op, IN, b, 0) A(op, INTS, axes_a, 0) A(op, INTS, axes_b, 0) A(op, OUT, y, 0)
#define ND4C_SIG_ARRAYS(A, op) A(op, VAR, xs, 0) A(op, OUT, y, 0)
#define ND4C_SIG_EINSUM(A, op) A(op, VAR, xs, 0) A(op, STRING, equation, 0) A(op, OUT, y, 0)
#define ND4C_SIG_LINEAR(A, op) \
  A(op, IN, x, 0)              \
  A(op, IN, w, 0)              \
  A(op, OPT, bias, 0)          \
  A(op, OPT, addend, 0)        \
  A(op, BOOL, transpose_w, 0) A(op, WORD, activation, activation, ND4C_ACTIVATION_NONE) A(op, OUT, y, 0)

#define ND4C_OPS_CONTRACTION(OP)                                                                                     \
  OP(90, 1, matmul, LINALG, ND4C_SIG_BINARY, matmul, NUMERIC,                                                        \
     "matrix product over the last two axes, the others broadcast; 1-D operands as NumPy's matmul",                  \
     "matmul|matmul, bmm|MatMul|mmul, batchMmul")                                                                    \
  OP(91, 1, linear, LINALG, ND4C_SIG_LINEAR, linear, REAL_FLOATING,                                                  \
     "y = activation(x w + bias + addend): x [..., k], w [k, n] or, transposed, [n, k], bias [n] or broadcastable "  \
     "to y, addend like y",                                                                                          \
     "|nn.functional.linear|Gemm|linear")                                                                            \
  OP(524, 1, matrix_transpose, SHAPE, ND4C_SIG_UNARY, matrix_transpose, ANY,                                         \
     "x with its last two axes exchanged; a view", "matrix_transpose|mT||")                                          \
  OP(525, 1, diagonal, SHAPE, ND4C_SIG_DIAGONAL, diagonal, ANY,                                                      \
     "the diagonals of the matrices on two axes (default: the last two), as a new last axis; offset above 0 lies "   \
     "above the main diagonal; a view",                                                                              \
     "linalg.diagonal|diagonal||diagPart")                                                                           \
  OP(526, 1, trace, LINALG, ND4C_SIG_DIAGONAL, trace, NUMERIC,                                                       \
     "sums of diagonals; integers are summed in 64 bits, as in sum", "linalg.trace|trace||trace")                    \
  OP(527, 1, outer, LINALG, ND4C_SIG_BINARY, outer, NUMERIC, "y[i, j] = a[i] b[j] of two vectors", "outer|outer||")  \
  OP(528, 1, cross, LINALG, ND4C_SIG_PAIR_AXIS, cross, NUMERIC,                                                      \
     "cross product of vectors of 3 elements along an axis; the other axes broadcast",                               \
     "linalg.cross|linalg.cross||cross")                                                                             \
  OP(529, 1, tensordot, LINALG, ND4C_SIG_TENSORDOT, tensordot, NUMERIC,                                              \
     "sums over pairs of axes, axes_a[i] of a with axes_b[i] of b; the other axes of a, then of b",                  \
     "tensordot|tensordot||tensorMmul")                                                                              \
  OP(530, 1, vecdot, LINALG, ND4C_SIG_PAIR_AXIS, vecdot, NUMERIC,                                                    \
     "sum of conj(a) b along an axis; the other axes broadcast", "vecdot|linalg.vecdot||dot")                        \
  OP(531, 1, kron, LINALG, ND4C_SIG_BINARY, kron, NUMERIC,                                                           \
     "Kronecker product: every element of a times all of b, block by block; the shorter shape is filled up with "    \
     "axes of length 1 in front",                                                                                    \
     "kron|kron||")                                                                                                  \
  OP(532, 1, multi_dot, LINALG, ND4C_SIG_ARRAYS, multi_dot, NUMERIC,                                                 \
     "product of two or more matrices, pairs in a greedy order; the first and the last may be vectors",              \
     "linalg.multi_dot|linalg.multi_dot||")                                                                          \
  OP(533, 1, einsum, LINALG, ND4C_SIG_EINSUM, einsum, NUMERIC,                                                       \
     "Einstein's sum, NumPy's notation: 'ij,jk->ik', '...ii->...i', 'ij,j'; pairs are multiplied in a greedy order", \
     "einsum|einsum|Einsum|")                                                                                        \
  OP(534, 1, inner, LINALG, ND4C_SIG_BINARY, inner, NUMERIC,                                                         \
     "sums over the last axes of both; if one input is a scalar, the product of the two", "inner|inner||")           \
  OP(535, 1, matvec, LINALG, ND4C_SIG_BINARY, matvec, NUMERIC,                                                       \
     "matrices a [..., m, n] times vectors b [..., n]; batches broadcast", "matvec|mv||")                            \
  OP(536, 1, vecmat, LINALG, ND4C_SIG_BINARY, vecmat, NUMERIC,                                                       \
     "conjugated vectors a [..., m] times matrices b [..., m, n]; batches broadcast", "vecmat|||")

#endif
