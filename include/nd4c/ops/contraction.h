/* Op functions of the family contraction, made from include/nd4c/op_table/contraction.h by scripts/ops_header.py
 * (target ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_CONTRACTION_H
#define ND4C_OPS_CONTRACTION_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* matmul: matrix product over the last two axes, the others broadcast; 1-D operands as NumPy's matmul.
 * In: a (int, uint, float, complex), b.
 * Out: y: the batch axes that the inputs broadcast to, then the rows of a and the columns of b, in the dtype that the
 *     inputs promote to. A vector has no rows (a) or no columns (b).
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_matmul(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_matmul_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* linear: y = activation(x w + bias + addend): x [..., k], w [k, n] or, transposed, [n, k], bias [n] or broadcastable
 * to y, addend like y.
 * In: x (float), w, bias or NULL, addend or NULL.
 * Attributes: transpose_w (false), activation (ND4C_ACTIVATION_NONE).
 * Out: y: x with its last axis replaced by the columns of w (transpose_w: its rows), in x's dtype. bias and addend
 *     broadcast to that.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_linear(const nd4c_array *x, const nd4c_array *w, const nd4c_array *bias,
                                 const nd4c_array *addend, bool transpose_w, nd4c_activation activation,
                                 nd4c_array **y);
ND4C_API nd4c_status nd4c_linear_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                    const nd4c_array *bias, const nd4c_array *addend, bool transpose_w,
                                    nd4c_activation activation, nd4c_array **y);

/* matrix_transpose: x with its last two axes exchanged; a view.
 * In: x (bool, int, uint, float, complex, utf8).
 * Out: y: x with its last two axes exchanged, in x's dtype.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_matrix_transpose(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_matrix_transpose_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* diagonal: the diagonals of the matrices on two axes (default: the last two), as a new last axis; offset above 0
 * lies above the main diagonal; a view.
 * In: x (bool, int, uint, float, complex, utf8).
 * Attributes: offset (0), axis1 (-2), axis2 (-1).
 * Out: y: x without axis1 and axis2, and with the diagonal as its last axis, in x's dtype.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_diagonal(const nd4c_array *x, int64_t offset, int64_t axis1, int64_t axis2, nd4c_array **y);
ND4C_API nd4c_status nd4c_diagonal_on(nd4c_context *context, const nd4c_array *x, int64_t offset, int64_t axis1,
                                      int64_t axis2, nd4c_array **y);

/* trace: sums of diagonals; integers are summed in 64 bits, as in sum.
 * In: x (int, uint, float, complex).
 * Attributes: offset (0), axis1 (-2), axis2 (-1).
 * Out: y: x without axis1 and axis2, in x's dtype; int64 or uint64 for integers.
 * Statuses: ARGUMENT, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_trace(const nd4c_array *x, int64_t offset, int64_t axis1, int64_t axis2, nd4c_array **y);
ND4C_API nd4c_status nd4c_trace_on(nd4c_context *context, const nd4c_array *x, int64_t offset, int64_t axis1,
                                   int64_t axis2, nd4c_array **y);

/* outer: y[i, j] = a[i] b[j] of two vectors.
 * In: a (int, uint, float, complex), b.
 * Out: y: [length of a, length of b], in the dtype that the inputs promote to. Both have one axis.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_outer(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_outer_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* cross: cross product of vectors of 3 elements along an axis; the other axes broadcast.
 * In: a (int, uint, float, complex), b.
 * Attributes: axis (-1).
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to. Both have 3 elements on the
 *     axis.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_cross(const nd4c_array *a, const nd4c_array *b, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_cross_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, int64_t axis,
                                   nd4c_array **y);

/* tensordot: sums over pairs of axes, axes_a[i] of a with axes_b[i] of b; the other axes of a, then of b.
 * In: a (int, uint, float, complex), b.
 * Attributes: axes_a (NULL, 0), axes_b (NULL, 0).
 * Out: y: the axes of a that are not summed, then those of b, in the dtype that the inputs promote to.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_tensordot(const nd4c_array *a, const nd4c_array *b, const int64_t *axes_a,
                                    int32_t axes_a_count, const int64_t *axes_b, int32_t axes_b_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_tensordot_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                       const int64_t *axes_a, int32_t axes_a_count, const int64_t *axes_b,
                                       int32_t axes_b_count, nd4c_array **y);

/* vecdot: sum of conj(a) b along an axis; the other axes broadcast.
 * In: a (int, uint, float, complex), b.
 * Attributes: axis (-1).
 * Out: y: the shape that the inputs broadcast to without the axis, in the dtype that they promote to. The axis counts
 *     from the end and is equally long in both.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_vecdot(const nd4c_array *a, const nd4c_array *b, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_vecdot_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, int64_t axis,
                                    nd4c_array **y);

/* kron: Kronecker product: every element of a times all of b, block by block; the shorter shape is filled up with
 * axes of length 1 in front.
 * In: a (int, uint, float, complex), b.
 * Out: y: each axis of a times that of b, in the dtype that the inputs promote to; the shorter shape is filled up
 *     with 1 in front.
 * Statuses: DTYPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_kron(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_kron_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* multi_dot: product of two or more matrices, pairs in a greedy order; the first and the last may be vectors.
 * In: xs (one or more) (int, uint, float, complex).
 * Out: y: [rows of the first, columns of the last], in the dtype that the inputs promote to; without rows or columns
 *     where the first or last input has one axis.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_multi_dot(const nd4c_array *const *xs, int32_t xs_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_multi_dot_on(nd4c_context *context, const nd4c_array *const *xs, int32_t xs_count,
                                       nd4c_array **y);

/* einsum: Einstein's sum, NumPy's notation: 'ij,jk->ik', '...ii->...i', 'ij,j'; pairs are multiplied in a greedy
 * order.
 * In: xs (one or more) (int, uint, float, complex).
 * Attributes: equation (NULL).
 * Out: y: an axis for each letter of the result, in the dtype that the inputs promote to. Without an arrow the result
 *     has the letters that occur once, in alphabetical order, behind the axes of an ellipsis.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_einsum(const nd4c_array *const *xs, int32_t xs_count, const char *equation, nd4c_array **y);
ND4C_API nd4c_status nd4c_einsum_on(nd4c_context *context, const nd4c_array *const *xs, int32_t xs_count,
                                    const char *equation, nd4c_array **y);

/* inner: sums over the last axes of both; if one input is a scalar, the product of the two.
 * In: a (int, uint, float, complex), b.
 * Out: y: a's axes but the last, then b's axes but the last, in the dtype that the inputs promote to; with a scalar
 *     the shape of the other input.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_inner(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_inner_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* matvec: matrices a [..., m, n] times vectors b [..., n]; batches broadcast.
 * In: a (int, uint, float, complex), b.
 * Out: y: the batch axes that the inputs broadcast to, then the rows of a, in the dtype that the inputs promote to,
 *     for a [..., m, n] and b [..., n].
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_matvec(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_matvec_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* vecmat: conjugated vectors a [..., m] times matrices b [..., m, n]; batches broadcast.
 * In: a (int, uint, float, complex), b.
 * Out: y: the batch axes that the inputs broadcast to, then the columns of b, in the dtype that the inputs promote
 *     to, for a [..., m] and b [..., m, n].
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_vecmat(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_vecmat_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
