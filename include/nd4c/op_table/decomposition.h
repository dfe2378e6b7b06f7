/* Rows of the op table: factorisations of matrices, the equations that they solve, norms. op_table.h says how to read
 * them.
 *
 * Axes before the last two are a batch. All dtypes are computed in double or double complex and rounded once. A matrix
 * with NaN or infinity gives NaN throughout (matrix_rank: 0); if a factorisation does not exist (for example for a
 * singular matrix to invert, or one that is not positive definite), the op fails with ND4C_ARGUMENT, and the text has
 * the number of the matrix in the batch. */
#ifndef ND4C_OP_TABLE_DECOMPOSITION_H
#define ND4C_OP_TABLE_DECOMPOSITION_H

/* The norm that matrix_norm computes. Frobenius: the root of the sum of squares; nuclear: the sum of the singular
 * values. ONE, INFINITE: the largest column or row sum of magnitudes, TWO: the largest singular value; MINUS_*: the
 * smallest. */
#define ND4C_MATRIX_NORM_ORDER_TABLE(X) \
  X(FROBENIUS, 0, "fro")                \
  X(NUCLEAR, 1, "nuc")                  \
  X(ONE, 2, "1")                        \
  X(MINUS_ONE, 3, "-1")                 \
  X(TWO, 4, "2")                        \
  X(MINUS_TWO, 5, "-2")                 \
  X(INFINITE, 6, "inf")                 \
  X(MINUS_INFINITE, 7, "-inf")

#define ND4C_SIG_CHOLESKY(A, op) A(op, IN, x, 0) A(op, BOOL, upper, 0) A(op, OUT, y, 0)
#define ND4C_SIG_SLOGDET(A, op) A(op, IN, x, 0) A(op, OUT, sign, 0) A(op, OUT, logabsdet, 0)
#define ND4C_SIG_TRIANGULAR_SOLVE(A, op) \
  A(op, IN, a, 0)                        \
  A(op, IN, b, 0) A(op, BOOL, upper, 0) A(op, BOOL, adjoint, 0) A(op, BOOL, unit_diagonal, 0) A(op, OUT, y, 0)
#define ND4C_SIG_CHOLESKY_SOLVE(A, op) A(op, IN, a, 0) A(op, IN, b, 0) A(op, BOOL, upper, 0) A(op, OUT, y, 0)
#define ND4C_SIG_QR(A, op) A(op, IN, x, 0) A(op, BOOL, complete, 0) A(op, OUT, q, 0) A(op, OUT, r, 0)
#define ND4C_SIG_SVD(A, op) \
  A(op, IN, x, 0) A(op, BOOL, full_matrices, 1) A(op, OUT, u, 0) A(op, OUT, s, 0) A(op, OUT, vh, 0)
#define ND4C_SIG_EIGH(A, op) A(op, IN, x, 0) A(op, BOOL, upper, 0) A(op, OUT, values, 0) A(op, OUT, vectors, 0)
#define ND4C_SIG_EIGVALSH(A, op) A(op, IN, x, 0) A(op, BOOL, upper, 0) A(op, OUT, values, 0)
#define ND4C_SIG_EIG(A, op) A(op, IN, x, 0) A(op, OUT, values, 0) A(op, OUT, vectors, 0)
#define ND4C_SIG_RTOL(A, op) A(op, IN, x, 0) A(op, FLOAT, rtol, -1) A(op, OUT, y, 0)
#define ND4C_SIG_LSTSQ(A, op) \
  A(op, IN, a, 0)             \
  A(op, IN, b, 0)             \
  A(op, FLOAT, rtol, -1) A(op, OUT, x, 0) A(op, OUT, residuals, 0) A(op, OUT, rank, 0) A(op, OUT, values, 0)
#define ND4C_SIG_LU(A, op) A(op, IN, x, 0) A(op, OUT, p, 0) A(op, OUT, l, 0) A(op, OUT, u, 0)
#define ND4C_SIG_LU_FACTOR(A, op) A(op, IN, x, 0) A(op, OUT, lu, 0) A(op, OUT, pivots, 0)
#define ND4C_SIG_LU_SOLVE(A, op) A(op, IN, lu, 0) A(op, IN, pivots, 0) A(op, IN, b, 0) A(op, OUT, y, 0)
#define ND4C_SIG_MATRIX_POWER(A, op) A(op, IN, x, 0) A(op, INT, n, 1) A(op, OUT, y, 0)
#define ND4C_SIG_MATRIX_NORM(A, op) \
  A(op, IN, x, 0)                   \
  A(op, WORD, ord, matrix_norm_order, ND4C_MATRIX_NORM_ORDER_FROBENIUS) A(op, BOOL, keepdims, 0) A(op, OUT, y, 0)
#define ND4C_SIG_VECTOR_NORM(A, op) \
  A(op, IN, x, 0) A(op, INTS, axes, 0) A(op, FLOAT, ord, 2) A(op, BOOL, keepdims, 0) A(op, OUT, y, 0)

#define ND4C_OPS_DECOMPOSITION(OP)                                                                                    \
  OP(500, 1, cholesky, LINALG, ND4C_SIG_CHOLESKY, cholesky, FLOATING,                                                 \
     "L with x = L L^H, or U with x = U^H U; only that triangle of x is read",                                        \
     "linalg.cholesky|linalg.cholesky||cholesky", REFUSES_LATE)                                                       \
  OP(501, 1, det, LINALG, ND4C_SIG_UNARY, det, FLOATING, "determinant, by LU; 0 for a singular matrix",               \
     "linalg.det|linalg.det|Det|matrixDeterminant", REFUSES_LATE)                                                     \
  OP(502, 1, slogdet, LINALG, ND4C_SIG_SLOGDET, slogdet, FLOATING,                                                    \
     "sign and logarithm of the absolute value of the determinant; 0 and -infinity for a singular matrix",            \
     "linalg.slogdet|linalg.slogdet||logdet", REFUSES_LATE)                                                           \
  OP(503, 1, inv, LINALG, ND4C_SIG_UNARY, matrix_square, FLOATING, "inverse, by LU with row exchanges",               \
     "linalg.inv|linalg.inv|com.microsoft.Inverse|matrixInverse", REFUSES_LATE)                                       \
  OP(504, 1, solve, LINALG, ND4C_SIG_BINARY, solve, FLOATING,                                                         \
     "x such that a x = b, by LU with row exchanges; b: one vector if it has one axis, else matrices; batches "       \
     "broadcast",                                                                                                     \
     "linalg.solve|linalg.solve||solve", REFUSES_LATE)                                                                \
  OP(505, 1, triangular_solve, LINALG, ND4C_SIG_TRIANGULAR_SOLVE, triangular_solve, FLOATING,                         \
     "x such that a x = b, or a^H x = b (adjoint); a is triangular, its other triangle is not read; b as in solve",   \
     "scipy.linalg.solve_triangular|linalg.solve_triangular||triangularSolve", REFUSES_LATE)                          \
  OP(506, 1, cholesky_solve, LINALG, ND4C_SIG_CHOLESKY_SOLVE, solve, FLOATING,                                        \
     "x such that a a^H x = b, or a^H a x = b (upper), with a from cholesky; b as in solve",                          \
     "scipy.linalg.cho_solve|cholesky_solve||", REFUSES_LATE)                                                         \
  OP(507, 1, qr, LINALG, ND4C_SIG_QR, qr, FLOATING,                                                                   \
     "x = q r, q with orthonormal columns: min(m, n) of them, or m (complete); r upper triangular; Householder",      \
     "linalg.qr|linalg.qr||qr", REFUSES_LATE)                                                                         \
  OP(508, 1, svd, LINALG, ND4C_SIG_SVD, svd, FLOATING,                                                                \
     "x = u diag(s) vh, s descending; full_matrices: u and vh are square, else they have min(m, n) columns and rows", \
     "linalg.svd|linalg.svd||svd", REFUSES_LATE)                                                                      \
  OP(509, 1, svdvals, LINALG, ND4C_SIG_UNARY, svdvals, FLOATING, "singular values, descending",                       \
     "linalg.svdvals|linalg.svdvals||", REFUSES_LATE)                                                                 \
  OP(510, 1, eigh, LINALG, ND4C_SIG_EIGH, eigh, FLOATING,                                                             \
     "eigenvalues (ascending) and orthonormal vectors (columns) of Hermitian x; one triangle of it is read",          \
     "linalg.eigh|linalg.eigh||selfAdjointEigen", REFUSES_LATE)                                                       \
  OP(511, 1, eigvalsh, LINALG, ND4C_SIG_EIGVALSH, eigvalsh, FLOATING,                                                 \
     "eigenvalues of Hermitian x, ascending; one triangle of it is read", "linalg.eigvalsh|linalg.eigvalsh||",        \
     REFUSES_LATE)                                                                                                    \
  OP(512, 1, eig, LINALG, ND4C_SIG_EIG, eig, FLOATING,                                                                \
     "eigenvalues (any order) and right eigenvectors (columns of length 1) of a square matrix; complex",              \
     "linalg.eig|linalg.eig||eig", REFUSES_LATE)                                                                      \
  OP(513, 1, eigvals, LINALG, ND4C_SIG_UNARY, eigvals, FLOATING,                                                      \
     "eigenvalues of a square matrix, in any order; complex", "linalg.eigvals|linalg.eigvals||", REFUSES_LATE)        \
  OP(514, 1, pinv, LINALG, ND4C_SIG_RTOL, pinv, FLOATING,                                                             \
     "Moore-Penrose inverse, by SVD; singular values up to rtol times the largest count as 0 (rtol negative: max(m, " \
     "n) epsilon)",                                                                                                   \
     "linalg.pinv|linalg.pinv||", REFUSES_LATE)                                                                       \
  OP(515, 1, matrix_rank, LINALG, ND4C_SIG_RTOL, matrix_rank, FLOATING,                                               \
     "int64 count of the singular values above rtol times the largest (rtol negative: max(m, n) epsilon)",            \
     "linalg.matrix_rank|linalg.matrix_rank||", REFUSES_LATE)                                                         \
  OP(516, 1, lstsq, LINALG, ND4C_SIG_LSTSQ, lstsq, FLOATING,                                                          \
     "x of least length that minimises |a x - b|, by SVD; residuals: the sums of squares of a x - b (always given); " \
     "rank; singular values; b as in solve, rtol as in matrix_rank",                                                  \
     "linalg.lstsq|linalg.lstsq||lstsq", REFUSES_LATE)                                                                \
  OP(517, 1, lu, LINALG, ND4C_SIG_LU, lu, FLOATING,                                                                   \
     "x = p l u: p a permutation, l lower with unit diagonal, u upper triangular", "scipy.linalg.lu|linalg.lu||lu",   \
     REFUSES_LATE)                                                                                                    \
  OP(518, 1, lu_factor, LINALG, ND4C_SIG_LU_FACTOR, lu_factor, FLOATING,                                              \
     "l and u of x in one matrix; row i was exchanged with row pivots[i] (int64, from 0), in order",                  \
     "scipy.linalg.lu_factor|linalg.lu_factor||", REFUSES_LATE)                                                       \
  OP(519, 1, lu_solve, LINALG, ND4C_SIG_LU_SOLVE, lu_solve, FLOATING,                                                 \
     "x such that a x = b, from lu_factor of a; b as in solve", "scipy.linalg.lu_solve|linalg.lu_solve||",            \
     REFUSES_LATE)                                                                                                    \
  OP(520, 1, matrix_power, LINALG, ND4C_SIG_MATRIX_POWER, matrix_square, FLOATING,                                    \
     "x multiplied with itself n times; n negative: the inverse of x to the power -n",                                \
     "linalg.matrix_power|linalg.matrix_power||", REFUSES_LATE)                                                       \
  OP(521, 1, expm, LINALG, ND4C_SIG_UNARY, matrix_square, FLOATING,                                                   \
     "matrix exponential, by scaling, a [13/13] Pade approximant and squaring (Higham 2005)",                         \
     "scipy.linalg.expm|linalg.matrix_exp||", REFUSES_LATE)                                                           \
  OP(522, 1, matrix_norm, LINALG, ND4C_SIG_MATRIX_NORM, matrix_norm, FLOATING,                                        \
     "norm of matrices; 0 for one without elements", "linalg.matrix_norm|linalg.matrix_norm||", REFUSES_LATE)         \
  OP(523, 1, vector_norm, LINALG, ND4C_SIG_VECTOR_NORM, vector_norm, FLOATING,                                        \
     "(sum |x|^ord)^(1/ord) over axes (none: all); infinity: max |x|, -infinity: min |x|, 0: count of non-zeros",     \
     "linalg.vector_norm|linalg.vector_norm||norm")

#endif
