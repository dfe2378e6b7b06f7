/* Inference rules of factorisations, solvers and norms of matrices (op_table/decomposition.h). nd4c_op_infer (infer.c)
 * calls the rule that an op's row names. */
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* -- shared ----------------------------------------------------------------------------------------------------- */

static nd4c_status check_matrix(const nd4c_inference *inference, int32_t position, bool square) {
  const nd4c_tensor *x = &inference->inputs[position];
  if (x->rank < 2) {
    return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected at least 2 axes: [..., %s]",
                            square ? "n, n" : "m, n");
  }
  if (square && !nd4c_rule_is_equal(inference, x->shape[x->rank - 2], x->shape[x->rank - 1])) {
    return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected square matrices: [..., n, n]");
  }
  return ND4C_OK;
}

static nd4c_dtype real_dtype(nd4c_dtype dtype) {
  return dtype == ND4C_COMPLEX64 ? ND4C_FLOAT32 : dtype == ND4C_COMPLEX128 ? ND4C_FLOAT64 : dtype;
}

static nd4c_dtype complex_dtype(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT64 || dtype == ND4C_COMPLEX128 ? ND4C_COMPLEX128 : ND4C_COMPLEX64;
}

/* An output with the first input's batch axes, then `count` more. */
static void batch_output(nd4c_inference *inference, int32_t position, nd4c_dtype dtype, int32_t count,
                         const int64_t *extents) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_inferred *output = &inference->outputs[position];
  output->dtype = dtype;
  output->rank = 0;
  for (int32_t i = 0; i < x->rank - 2; i++) {
    output->shape[output->rank++] = x->shape[i];
  }
  for (int32_t i = 0; i < count; i++) {
    output->shape[output->rank++] = extents[i];
  }
}

static void scalars_output(nd4c_inference *inference, int32_t position, nd4c_dtype dtype) {
  batch_output(inference, position, dtype, 0, NULL);
}

static void vectors_output(nd4c_inference *inference, int32_t position, nd4c_dtype dtype, int64_t n) {
  batch_output(inference, position, dtype, 1, &n);
}

static void matrices_output(nd4c_inference *inference, int32_t position, nd4c_dtype dtype, int64_t m, int64_t n) {
  batch_output(inference, position, dtype, 2, (const int64_t[]){m, n});
}

typedef struct extents {
  int64_t m, n, least;
} extents;

/* Of the first input. */
static nd4c_status find_extents(const nd4c_inference *inference, extents *e) {
  const nd4c_tensor *x = &inference->inputs[0];
  *e = (extents){.m = x->shape[x->rank - 2], .n = x->shape[x->rank - 1]};
  return nd4c_rule_minimum(inference, e->m, e->n, &e->least) ? ND4C_OK : nd4c_rule_too_long(inference, 0, x->rank - 1);
}

/* -- square matrices -------------------------------------------------------------------------------------------- */

/* Gives: the shape and dtype of x, whose last two axes must be of one length. */
nd4c_status nd4c_infer_matrix_square(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_matrix(inference, 0, true));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x, whose last two axes must be of one length. */
nd4c_status nd4c_infer_cholesky(nd4c_inference *inference) {
  return nd4c_infer_matrix_square(inference);
}

/* Gives: x without its last two axes, in x's dtype. */
nd4c_status nd4c_infer_det(nd4c_inference *inference) {
  ND4C_TRY(check_matrix(inference, 0, true));
  scalars_output(inference, 0, inference->inputs[0].dtype);
  return ND4C_OK;
}

/* Gives: sign: x without its last two axes, in x's dtype; logabsdet: the same shape, in x's dtype, or its real dtype if
 * x is complex. */
nd4c_status nd4c_infer_slogdet(nd4c_inference *inference) {
  ND4C_TRY(check_matrix(inference, 0, true));
  scalars_output(inference, 0, inference->inputs[0].dtype);
  scalars_output(inference, 1, real_dtype(inference->inputs[0].dtype));
  return ND4C_OK;
}

/* Gives: x without its last axis, in x's dtype, or its real dtype if x is complex. */
nd4c_status nd4c_infer_eigvalsh(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_matrix(inference, 0, true));
  vectors_output(inference, 0, real_dtype(x->dtype), x->shape[x->rank - 1]);
  return ND4C_OK;
}

/* Gives: values: x without its last axis, in x's dtype, or its real dtype if x is complex; vectors: the shape and dtype
 * of x. */
nd4c_status nd4c_infer_eigh(nd4c_inference *inference) {
  ND4C_TRY(nd4c_infer_eigvalsh(inference));
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_rule_output_at(inference, 1, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: x without its last axis, in the complex dtype of x's precision. */
nd4c_status nd4c_infer_eigvals(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_matrix(inference, 0, true));
  vectors_output(inference, 0, complex_dtype(x->dtype), x->shape[x->rank - 1]);
  return ND4C_OK;
}

/* Gives: values: x without its last axis, vectors: x's shape, both in the complex dtype of x's precision. */
nd4c_status nd4c_infer_eig(nd4c_inference *inference) {
  ND4C_TRY(nd4c_infer_eigvals(inference));
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_rule_output_at(inference, 1, complex_dtype(x->dtype), x->rank, x->shape);
  return ND4C_OK;
}

/* -- matrices of any form --------------------------------------------------------------------------------------- */

/* Gives: q: [..., m, k], r: [..., k, n], in x's dtype, for x [..., m, n]; k is the lesser of m and n, or m if
 * complete. */
nd4c_status nd4c_infer_qr(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_matrix(inference, 0, false));
  extents e;
  ND4C_TRY(find_extents(inference, &e));
  int64_t inner = inference->attrs[ND4C_ATTR_qr_complete].as.i != 0 ? e.m : e.least;
  matrices_output(inference, 0, x->dtype, e.m, inner);
  matrices_output(inference, 1, x->dtype, inner, e.n);
  return ND4C_OK;
}

/* Gives: u: [..., m, k], s: [..., k], vh: [..., k, n], for x [..., m, n]; k is the lesser of m and n. full_matrices: u
 * [..., m, m] and vh [..., n, n]. In x's dtype; s in its real dtype if x is complex. */
nd4c_status nd4c_infer_svd(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_matrix(inference, 0, false));
  extents e;
  ND4C_TRY(find_extents(inference, &e));
  bool full = inference->attrs[ND4C_ATTR_svd_full_matrices].as.i != 0;
  matrices_output(inference, 0, x->dtype, e.m, full ? e.m : e.least);
  vectors_output(inference, 1, real_dtype(x->dtype), e.least);
  matrices_output(inference, 2, x->dtype, full ? e.n : e.least, e.n);
  return ND4C_OK;
}

/* Gives: [..., k], for x [..., m, n] with k the lesser of m and n, in x's dtype, or its real dtype if x is complex. */
nd4c_status nd4c_infer_svdvals(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_matrix(inference, 0, false));
  extents e;
  ND4C_TRY(find_extents(inference, &e));
  vectors_output(inference, 0, real_dtype(x->dtype), e.least);
  return ND4C_OK;
}

/* Gives: x with its last two axes exchanged, in x's dtype. */
nd4c_status nd4c_infer_pinv(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_matrix(inference, 0, false));
  matrices_output(inference, 0, x->dtype, x->shape[x->rank - 1], x->shape[x->rank - 2]);
  return ND4C_OK;
}

/* Gives: int64, in x's shape without its last two axes. */
nd4c_status nd4c_infer_matrix_rank(nd4c_inference *inference) {
  ND4C_TRY(check_matrix(inference, 0, false));
  scalars_output(inference, 0, ND4C_INT64);
  return ND4C_OK;
}

/* Gives: p: [..., m, m], l: [..., m, k], u: [..., k, n], in x's dtype, for x [..., m, n]; k is the lesser of m and n.
 */
nd4c_status nd4c_infer_lu(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_matrix(inference, 0, false));
  extents e;
  ND4C_TRY(find_extents(inference, &e));
  matrices_output(inference, 0, x->dtype, e.m, e.m);
  matrices_output(inference, 1, x->dtype, e.m, e.least);
  matrices_output(inference, 2, x->dtype, e.least, e.n);
  return ND4C_OK;
}

/* Gives: lu: the shape and dtype of x [..., m, n]; pivots: int64 [..., the lesser of m and n]. */
nd4c_status nd4c_infer_lu_factor(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_matrix(inference, 0, false));
  extents e;
  ND4C_TRY(find_extents(inference, &e));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  vectors_output(inference, 1, ND4C_INT64, e.least);
  return ND4C_OK;
}

/* -- solving ---------------------------------------------------------------------------------------------------- */

/* The right-hand side at a position: [m], or [..., m, k] with batch axes that broadcast with a's. The solution has n
 * rows in place of m; the first output gets its shape and `dtype`. */
static nd4c_status solution(nd4c_inference *inference, int32_t position, int64_t m, int64_t n, nd4c_dtype dtype) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[position];
  nd4c_inferred *output = &inference->outputs[0];
  char text[ND4C_RULE_TEXT_SIZE / 2];
  bool vector = b->rank == 1;
  if (b->rank == 0 || !nd4c_rule_is_equal(inference, b->shape[b->rank - (vector ? 1 : 2)], m)) {
    return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected [%lld] or [..., %lld, k] for input %s's %s",
                            (long long)m, (long long)m, inference->op->inputs[0].name,
                            nd4c_shape_text(a->rank, a->shape, text, sizeof text));
  }
  nd4c_status status = nd4c_rule_broadcast_shapes(inference, a->rank - 2, a->shape, vector ? 0 : b->rank - 2, b->shape,
                                                  &output->rank, output->shape);
  if (status != ND4C_OK || output->rank > ND4C_MAX_RANK - 2) {
    return nd4c_rule_refuse(inference, position, status != ND4C_OK ? status : ND4C_SHAPE,
                            "expected axes before the last two that broadcast with input %s's %s",
                            inference->op->inputs[0].name, nd4c_shape_text(a->rank, a->shape, text, sizeof text));
  }
  output->dtype = dtype;
  output->shape[output->rank++] = n;
  if (!vector) {
    output->shape[output->rank++] = b->shape[b->rank - 1];
  }
  return ND4C_OK;
}

static nd4c_status operands(const nd4c_inference *inference, int32_t position, bool square, nd4c_dtype *dtype) {
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, position));
  ND4C_TRY(nd4c_rule_promote(inference, 0, position, dtype));
  return check_matrix(inference, 0, square);
}

/* Gives: the batch axes that the inputs broadcast to, then the shape of b's matrices, in the dtype that the inputs
 * promote to, for a [..., n, n] and b [..., n, k]; a b of one axis [n] is a vector for each matrix of a. */
nd4c_status nd4c_infer_solve(nd4c_inference *inference) {
  nd4c_dtype dtype;
  ND4C_TRY(operands(inference, 1, true, &dtype));
  const nd4c_tensor *a = &inference->inputs[0];
  return solution(inference, 1, a->shape[a->rank - 1], a->shape[a->rank - 1], dtype);
}

/* Gives: the batch axes that the inputs broadcast to, then the shape of b's matrices, in the dtype that the inputs
 * promote to, for a [..., n, n] and b [..., n, k]; a b of one axis [n] is a vector for each matrix of a. */
nd4c_status nd4c_infer_triangular_solve(nd4c_inference *inference) {
  return nd4c_infer_solve(inference);
}

/* Gives: the batch axes that lu and b broadcast to, then the shape of b's matrices, in the dtype that lu and b
 * promote to, for lu [..., n, n] and b [..., n, k] or [n]. */
nd4c_status nd4c_infer_lu_solve(nd4c_inference *inference) {
  const nd4c_tensor *lu = &inference->inputs[ND4C_IN_lu_solve_lu];
  const nd4c_tensor *pivots = &inference->inputs[ND4C_IN_lu_solve_pivots];
  nd4c_dtype dtype;
  ND4C_TRY(operands(inference, ND4C_IN_lu_solve_b, true, &dtype));
  if (pivots->dtype != ND4C_INT64) {
    return nd4c_rule_refuse(inference, ND4C_IN_lu_solve_pivots, ND4C_DTYPE, "expected int64");
  }
  if (!nd4c_rule_same_shape(inference, pivots->rank, pivots->shape, lu->rank - 1, lu->shape)) {
    char text[ND4C_RULE_TEXT_SIZE / 2];
    return nd4c_rule_refuse(inference, ND4C_IN_lu_solve_pivots, ND4C_SHAPE, "expected %s",
                            nd4c_shape_text(lu->rank - 1, lu->shape, text, sizeof text));
  }
  return solution(inference, ND4C_IN_lu_solve_b, lu->shape[lu->rank - 1], lu->shape[lu->rank - 1], dtype);
}

/* Gives: x: [..., n, k] for a [..., m, n] and b [..., m, k], in the dtype that they promote to; residuals: [..., k];
 * rank: int64 [...]; values: [..., the lesser of m and n]. residuals and values have the real dtype. For b [m] there
 * is no k. */
nd4c_status nd4c_infer_lstsq(nd4c_inference *inference) {
  nd4c_dtype dtype;
  ND4C_TRY(operands(inference, 1, false, &dtype));
  extents e;
  ND4C_TRY(find_extents(inference, &e));
  ND4C_TRY(solution(inference, 1, e.m, e.n, dtype));
  /* Everything else has the solution's batch, too. */
  const nd4c_inferred *x = &inference->outputs[0];
  bool vector = inference->inputs[1].rank == 1;
  int32_t batch = x->rank - (vector ? 1 : 2);
  int64_t shape[ND4C_MAX_RANK];
  memcpy(shape, x->shape, sizeof shape);
  shape[batch] = vector ? 0 : x->shape[x->rank - 1];
  nd4c_rule_output_at(inference, 1, real_dtype(dtype), batch + !vector, shape);
  nd4c_rule_output_at(inference, 2, ND4C_INT64, batch, shape);
  shape[batch] = e.least;
  nd4c_rule_output_at(inference, 3, real_dtype(dtype), batch + 1, shape);
  return ND4C_OK;
}

/* -- norms ------------------------------------------------------------------------------------------------------ */

/* Gives: x without its last two axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 * complex. */
nd4c_status nd4c_infer_matrix_norm(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const int64_t ord = inference->attrs[ND4C_ATTR_matrix_norm_ord].as.i;
  ND4C_TRY(check_matrix(inference, 0, false));
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_matrix_norm_ord));
  const bool least = ord == ND4C_MATRIX_NORM_ORDER_MINUS_ONE || ord == ND4C_MATRIX_NORM_ORDER_MINUS_TWO ||
                     ord == ND4C_MATRIX_NORM_ORDER_MINUS_INFINITE;
  extents e;
  ND4C_TRY(find_extents(inference, &e));
  if (least && nd4c_rule_is(inference, e.least, 0)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least one element for an ord of -1, -2 or -inf");
  }
  if (inference->attrs[ND4C_ATTR_matrix_norm_keepdims].as.i != 0) {
    matrices_output(inference, 0, real_dtype(x->dtype), 1, 1);
  } else {
    scalars_output(inference, 0, real_dtype(x->dtype));
  }
  return ND4C_OK;
}

/* Gives: x without the reduced axes (keepdims: with 1 in their places), in x's dtype, or its real dtype if x is
 * complex. */
nd4c_status nd4c_infer_vector_norm(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *axes = &inference->attrs[ND4C_ATTR_vector_norm_axes];
  double ord = inference->attrs[ND4C_ATTR_vector_norm_ord].as.f;
  bool keepdims = inference->attrs[ND4C_ATTR_vector_norm_keepdims].as.i != 0, reduced[ND4C_MAX_RANK];
  nd4c_inferred *output = &inference->outputs[0];
  if (ord != ord) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: ord is NaN, expected a number or an infinity", inference->op->name);
  }
  ND4C_TRY(nd4c_rule_axes_or_all(inference, "axes", axes, x->rank, reduced));
  output->dtype = real_dtype(x->dtype);
  output->rank = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    bool gone = reduced[i];
    if (gone && ord < 0 && nd4c_rule_is(inference, x->shape[i], 0)) {
      return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "axis %d is empty, expected at least one element for ord %g",
                              (int)i, ord);
    }
    if (!gone || keepdims) {
      output->shape[output->rank++] = gone ? 1 : x->shape[i];
    }
  }
  return ND4C_OK;
}
