/* Op functions of the family decomposition, made from include/nd4c/op_table/decomposition.h by scripts/ops_header.py
 * (target ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_DECOMPOSITION_H
#define ND4C_OPS_DECOMPOSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* cholesky: L with x = L L^H, or U with x = U^H U; only that triangle of x is read.
 * In: x (float, complex).
 * Attributes: upper (false).
 * Out: y: the shape and dtype of x, whose last two axes must be of one length.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_cholesky(const nd4c_array *x, bool upper, nd4c_array **y);
ND4C_API nd4c_status nd4c_cholesky_on(nd4c_context *context, const nd4c_array *x, bool upper, nd4c_array **y);

/* det: determinant, by LU; 0 for a singular matrix.
 * In: x (float, complex).
 * Out: y: x without its last two axes, in x's dtype.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_det(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_det_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* slogdet: sign and logarithm of the absolute value of the determinant; 0 and -infinity for a singular matrix.
 * In: x (float, complex).
 * Out: sign: x without its last two axes, in x's dtype; logabsdet: the same shape, in x's dtype, or its real dtype if
 *     x is complex.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_slogdet(const nd4c_array *x, nd4c_array **sign, nd4c_array **logabsdet);
ND4C_API nd4c_status nd4c_slogdet_on(nd4c_context *context, const nd4c_array *x, nd4c_array **sign,
                                     nd4c_array **logabsdet);

/* inv: inverse, by LU with row exchanges.
 * In: x (float, complex).
 * Out: y: the shape and dtype of x, whose last two axes must be of one length.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_inv(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_inv_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* solve: x such that a x = b, by LU with row exchanges; b: one vector if it has one axis, else matrices; batches
 * broadcast.
 * In: a (float, complex), b.
 * Out: y: the batch axes that the inputs broadcast to, then the shape of b's matrices, in the dtype that the inputs
 *     promote to, for a [..., n, n] and b [..., n, k]; a b of one axis [n] is a vector for each matrix of a.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_solve(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_solve_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* triangular_solve: x such that a x = b, or a^H x = b (adjoint); a is triangular, its other triangle is not read; b
 * as in solve.
 * In: a (float, complex), b.
 * Attributes: upper (false), adjoint (false), unit_diagonal (false).
 * Out: y: the batch axes that the inputs broadcast to, then the shape of b's matrices, in the dtype that the inputs
 *     promote to, for a [..., n, n] and b [..., n, k]; a b of one axis [n] is a vector for each matrix of a.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_triangular_solve(const nd4c_array *a, const nd4c_array *b, bool upper, bool adjoint,
                                           bool unit_diagonal, nd4c_array **y);
ND4C_API nd4c_status nd4c_triangular_solve_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                              bool upper, bool adjoint, bool unit_diagonal, nd4c_array **y);

/* cholesky_solve: x such that a a^H x = b, or a^H a x = b (upper), with a from cholesky; b as in solve.
 * In: a (float, complex), b.
 * Attributes: upper (false).
 * Out: y: the batch axes that the inputs broadcast to, then the shape of b's matrices, in the dtype that the inputs
 *     promote to, for a [..., n, n] and b [..., n, k]; a b of one axis [n] is a vector for each matrix of a.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_cholesky_solve(const nd4c_array *a, const nd4c_array *b, bool upper, nd4c_array **y);
ND4C_API nd4c_status nd4c_cholesky_solve_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, bool upper,
                                            nd4c_array **y);

/* qr: x = q r, q with orthonormal columns: min(m, n) of them, or m (complete); r upper triangular; Householder.
 * In: x (float, complex).
 * Attributes: complete (false).
 * Out: q: [..., m, k], r: [..., k, n], in x's dtype, for x [..., m, n]; k is the lesser of m and n, or m if complete.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_qr(const nd4c_array *x, bool complete, nd4c_array **q, nd4c_array **r);
ND4C_API nd4c_status nd4c_qr_on(nd4c_context *context, const nd4c_array *x, bool complete, nd4c_array **q,
                                nd4c_array **r);

/* svd: x = u diag(s) vh, s descending; full_matrices: u and vh are square, else they have min(m, n) columns and rows.
 * In: x (float, complex).
 * Attributes: full_matrices (true).
 * Out: u: [..., m, k], s: [..., k], vh: [..., k, n], for x [..., m, n]; k is the lesser of m and n. full_matrices: u
 *     [..., m, m] and vh [..., n, n]. In x's dtype; s in its real dtype if x is complex.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_svd(const nd4c_array *x, bool full_matrices, nd4c_array **u, nd4c_array **s, nd4c_array **vh);
ND4C_API nd4c_status nd4c_svd_on(nd4c_context *context, const nd4c_array *x, bool full_matrices, nd4c_array **u,
                                 nd4c_array **s, nd4c_array **vh);

/* svdvals: singular values, descending.
 * In: x (float, complex).
 * Out: y: [..., k], for x [..., m, n] with k the lesser of m and n, in x's dtype, or its real dtype if x is complex.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_svdvals(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_svdvals_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* eigh: eigenvalues (ascending) and orthonormal vectors (columns) of Hermitian x; one triangle of it is read.
 * In: x (float, complex).
 * Attributes: upper (false).
 * Out: values: x without its last axis, in x's dtype, or its real dtype if x is complex; vectors: the shape and dtype
 *     of x.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_eigh(const nd4c_array *x, bool upper, nd4c_array **values, nd4c_array **vectors);
ND4C_API nd4c_status nd4c_eigh_on(nd4c_context *context, const nd4c_array *x, bool upper, nd4c_array **values,
                                  nd4c_array **vectors);

/* eigvalsh: eigenvalues of Hermitian x, ascending; one triangle of it is read.
 * In: x (float, complex).
 * Attributes: upper (false).
 * Out: values: x without its last axis, in x's dtype, or its real dtype if x is complex.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_eigvalsh(const nd4c_array *x, bool upper, nd4c_array **values);
ND4C_API nd4c_status nd4c_eigvalsh_on(nd4c_context *context, const nd4c_array *x, bool upper, nd4c_array **values);

/* eig: eigenvalues (any order) and right eigenvectors (columns of length 1) of a square matrix; complex.
 * In: x (float, complex).
 * Out: values: x without its last axis, vectors: x's shape, both in the complex dtype of x's precision.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_eig(const nd4c_array *x, nd4c_array **values, nd4c_array **vectors);
ND4C_API nd4c_status nd4c_eig_on(nd4c_context *context, const nd4c_array *x, nd4c_array **values, nd4c_array **vectors);

/* eigvals: eigenvalues of a square matrix, in any order; complex.
 * In: x (float, complex).
 * Out: y: x without its last axis, in the complex dtype of x's precision.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_eigvals(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_eigvals_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* pinv: Moore-Penrose inverse, by SVD; singular values up to rtol times the largest count as 0 (rtol negative: max(m,
 * n) epsilon).
 * In: x (float, complex).
 * Attributes: rtol (-1).
 * Out: y: x with its last two axes exchanged, in x's dtype.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_pinv(const nd4c_array *x, double rtol, nd4c_array **y);
ND4C_API nd4c_status nd4c_pinv_on(nd4c_context *context, const nd4c_array *x, double rtol, nd4c_array **y);

/* matrix_rank: int64 count of the singular values above rtol times the largest (rtol negative: max(m, n) epsilon).
 * In: x (float, complex).
 * Attributes: rtol (-1).
 * Out: y: int64, in x's shape without its last two axes.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_matrix_rank(const nd4c_array *x, double rtol, nd4c_array **y);
ND4C_API nd4c_status nd4c_matrix_rank_on(nd4c_context *context, const nd4c_array *x, double rtol, nd4c_array **y);

/* lstsq: x of least length that minimises |a x - b|, by SVD; residuals: the sums of squares of a x - b (always
 * given); rank; singular values; b as in solve, rtol as in matrix_rank.
 * In: a (float, complex), b.
 * Attributes: rtol (-1).
 * Out: x: [..., n, k] for a [..., m, n] and b [..., m, k], in the dtype that they promote to; residuals: [..., k];
 *     rank: int64 [...]; values: [..., the lesser of m and n]. residuals and values have the real dtype. For b [m]
 *     there is no k.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_lstsq(const nd4c_array *a, const nd4c_array *b, double rtol, nd4c_array **x,
                                nd4c_array **residuals, nd4c_array **rank, nd4c_array **values);
ND4C_API nd4c_status nd4c_lstsq_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, double rtol,
                                   nd4c_array **x, nd4c_array **residuals, nd4c_array **rank, nd4c_array **values);

/* lu: x = p l u: p a permutation, l lower with unit diagonal, u upper triangular.
 * In: x (float, complex).
 * Out: p: [..., m, m], l: [..., m, k], u: [..., k, n], in x's dtype, for x [..., m, n]; k is the lesser of m and n.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_lu(const nd4c_array *x, nd4c_array **p, nd4c_array **l, nd4c_array **u);
ND4C_API nd4c_status nd4c_lu_on(nd4c_context *context, const nd4c_array *x, nd4c_array **p, nd4c_array **l,
                                nd4c_array **u);

/* lu_factor: l and u of x in one matrix; row i was exchanged with row pivots[i] (int64, from 0), in order.
 * In: x (float, complex).
 * Out: lu: the shape and dtype of x [..., m, n]; pivots: int64 [..., the lesser of m and n].
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_lu_factor(const nd4c_array *x, nd4c_array **lu, nd4c_array **pivots);
ND4C_API nd4c_status nd4c_lu_factor_on(nd4c_context *context, const nd4c_array *x, nd4c_array **lu,
                                       nd4c_array **pivots);

/* lu_solve: x such that a x = b, from lu_factor of a; b as in solve.
 * In: lu (float, complex), pivots, b.
 * Out: y: the batch axes that lu and b broadcast to, then the shape of b's matrices, in the dtype that lu and b
 *     promote to, for lu [..., n, n] and b [..., n, k] or [n].
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_lu_solve(const nd4c_array *lu, const nd4c_array *pivots, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_lu_solve_on(nd4c_context *context, const nd4c_array *lu, const nd4c_array *pivots,
                                      const nd4c_array *b, nd4c_array **y);

/* matrix_power: x multiplied with itself n times; n negative: the inverse of x to the power -n.
 * In: x (float, complex).
 * Attributes: n (1).
 * Out: y: the shape and dtype of x, whose last two axes must be of one length.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_matrix_power(const nd4c_array *x, int64_t n, nd4c_array **y);
ND4C_API nd4c_status nd4c_matrix_power_on(nd4c_context *context, const nd4c_array *x, int64_t n, nd4c_array **y);

/* expm: matrix exponential, by scaling, a [13/13] Pade approximant and squaring (Higham 2005).
 * In: x (float, complex).
 * Out: y: the shape and dtype of x, whose last two axes must be of one length.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_expm(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_expm_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* matrix_norm: norm of matrices; 0 for one without elements.
 * In: x (float, complex).
 * Attributes: ord (ND4C_MATRIX_NORM_ORDER_FROBENIUS), keepdims (false).
 * Out: y: x without its last two axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex.
 * May be refused after the computation began; outputs that the caller gave stay as they were.
 * Statuses: ARGUMENT, SHAPE. */
ND4C_API nd4c_status nd4c_matrix_norm(const nd4c_array *x, nd4c_matrix_norm_order ord, bool keepdims, nd4c_array **y);
ND4C_API nd4c_status nd4c_matrix_norm_on(nd4c_context *context, const nd4c_array *x, nd4c_matrix_norm_order ord,
                                         bool keepdims, nd4c_array **y);

/* vector_norm: (sum |x|^ord)^(1/ord) over axes (none: all); infinity: max |x|, -infinity: min |x|, 0: count of
 * non-zeros.
 * In: x (float, complex).
 * Attributes: axes (NULL, 0), ord (2), keepdims (false).
 * Out: y: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 *     complex.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_vector_norm(const nd4c_array *x, const int64_t *axes, int32_t axes_count, double ord,
                                      bool keepdims, nd4c_array **y);
ND4C_API nd4c_status nd4c_vector_norm_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                         int32_t axes_count, double ord, bool keepdims, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
