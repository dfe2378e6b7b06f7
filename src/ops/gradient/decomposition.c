/* Rules for the gradients of inverses, determinants, solutions of equations, Cholesky factors and powers of matrices.
 * gradient.c looks rules up in this list. */
#include "base/status.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

#define TURN(x, y) UNARY(matrix_transpose, x, y)

/* a b c */
static nd4c_status multiply_three(nd4c_emitter *e, nd4c_emitted a, nd4c_emitted b, nd4c_emitted c, nd4c_emitted *y) {
  BINARY(matmul, a, b, y);
  return nd4c_emit_binary(e, ND4C_OP_matmul, *y, c, y);
}

/* A number for each matrix, as factors of its elements. */
static nd4c_status with_two_axes(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  const int64_t axes[] = {-2, -1};
  return nd4c_emit_axes(e, ND4C_OP_expand_dims, x, 2, axes, y);
}

/* Of y = x^-1: -y^T g y^T */
static nd4c_status back_from_inverse(nd4c_emitter *e, nd4c_emitted y, nd4c_emitted given, nd4c_emitted *gradient) {
  nd4c_emitted turned = ND4C_EMITTED_NONE;
  TURN(y, &turned);
  ND4C_TRY(multiply_three(e, turned, given, turned, gradient));
  return nd4c_emit_unary(e, ND4C_OP_negative, *gradient, gradient);
}

ND4C_GRADIENT(inverse) {
  (void)index;
  return back_from_inverse(e, step->output, step->given, gradient);
}

/* g x^-T for a g of each matrix */
static nd4c_status times_turned_inverse(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted given, nd4c_emitted *gradient) {
  nd4c_emitted part = ND4C_EMITTED_NONE;
  UNARY(inv, x, &part);
  TURN(part, &part);
  ND4C_TRY(with_two_axes(e, given, gradient));
  return nd4c_emit_binary(e, ND4C_OP_multiply, *gradient, part, gradient);
}

ND4C_GRADIENT(determinant) {
  nd4c_emitted part = ND4C_EMITTED_NONE;
  (void)index;
  BINARY(multiply, step->given, step->output, &part);
  return times_turned_inverse(e, step->inputs[0], part, gradient);
}

/* The sign changes in steps, and the logarithm is that of the determinant's size. */
ND4C_GRADIENT(logarithm_of_determinant) {
  const nd4c_emitted given = step->givens[1];
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  (void)index;
  return given == ND4C_EMITTED_NONE ? nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, gradient)
                                    : times_turned_inverse(e, step->inputs[0], given, gradient);
}

/* -- equations ----------------------------------------------------------------------------------------------------- */

static nd4c_status as_column(nd4c_emitter *e, bool vector, nd4c_emitted x, nd4c_emitted *y) {
  const int64_t last = -1;
  *y = x;
  return vector ? nd4c_emit_axes(e, ND4C_OP_expand_dims, x, 1, &last, y) : ND4C_OK;
}

/* Of a x = b: a^-T g for b, which is h, and -h x^T for a. */
ND4C_GRADIENT(solution) {
  const bool vector = nd4c_emitted_get(e, step->inputs[1]).rank == 1;
  const int64_t last = -1;
  nd4c_emitted turned = ND4C_EMITTED_NONE, given = ND4C_EMITTED_NONE, x = ND4C_EMITTED_NONE;
  TURN(step->inputs[0], &turned);
  ND4C_TRY(as_column(e, vector, step->given, &given));
  BINARY(solve, turned, given, gradient);
  if (index == 1) {
    return vector ? nd4c_emit_axes(e, ND4C_OP_squeeze, *gradient, 1, &last, gradient) : ND4C_OK;
  }
  ND4C_TRY(as_column(e, vector, step->output, &x));
  TURN(x, &x);
  BINARY(matmul, *gradient, x, gradient);
  return nd4c_emit_unary(e, ND4C_OP_negative, *gradient, gradient);
}

/* The gradient of the matrix: -h x^T, where h is that of b. */
static nd4c_status back_to_matrix(nd4c_emitter *e, const nd4c_gradient_step *step, bool vector, nd4c_emitted h,
                                  nd4c_emitted *matrix) {
  nd4c_emitted x = ND4C_EMITTED_NONE;
  ND4C_TRY(as_column(e, vector, step->output, &x));
  TURN(x, &x);
  BINARY(matmul, h, x, matrix);
  return nd4c_emit_unary(e, ND4C_OP_negative, *matrix, matrix);
}

/* A triangle without the diagonal, where `k` is 1. */
static nd4c_status keep_triangle(nd4c_emitter *e, bool upper, int64_t k, nd4c_emitted x, nd4c_emitted *y) {
  const nd4c_attr from = nd4c_attr_of_int("k", upper ? k : -k);
  return nd4c_emit(e, upper ? ND4C_OP_triu : ND4C_OP_tril, &x, 1, &from, 1, y);
}

/* As solution, with the triangle that is read, and its transpose for an adjoint; of a unit diagonal nothing is read. */
ND4C_GRADIENT(by_triangle) {
  const nd4c_attr_value *attrs = step->attrs;
  const bool vector = nd4c_emitted_get(e, step->inputs[1]).rank == 1,
             adjoint = attrs[ND4C_ATTR_triangular_solve_adjoint].as.i != 0,
             unit = attrs[ND4C_ATTR_triangular_solve_unit_diagonal].as.i != 0;
  const nd4c_attr turned[] = {{"upper", attrs[ND4C_ATTR_triangular_solve_upper]},
                              nd4c_attr_of_bool("adjoint", !adjoint),
                              nd4c_attr_of_bool("unit_diagonal", unit)};
  const int64_t last = -1;
  nd4c_emitted inputs[] = {step->inputs[0], ND4C_EMITTED_NONE};
  ND4C_TRY(as_column(e, vector, step->given, &inputs[1]));
  ND4C_TRY(nd4c_emit(e, ND4C_OP_triangular_solve, inputs, 2, turned, 3, gradient));
  if (index == 1) {
    return vector ? nd4c_emit_axes(e, ND4C_OP_squeeze, *gradient, 1, &last, gradient) : ND4C_OK;
  }
  ND4C_TRY(back_to_matrix(e, step, vector, *gradient, gradient));
  if (adjoint) {
    TURN(*gradient, gradient);
  }
  return keep_triangle(e, attrs[ND4C_ATTR_triangular_solve_upper].as.i != 0, unit, *gradient, gradient);
}

/* As solution, of a symmetric matrix: a a^T has the gradient s, and its factor the triangle of (s + s^T) a; with the
 * upper factor of a^T a, that of a (s + s^T). */
ND4C_GRADIENT(by_factor) {
  const bool vector = nd4c_emitted_get(e, step->inputs[1]).rank == 1,
             upper = step->attrs[ND4C_ATTR_cholesky_solve_upper].as.i != 0;
  const nd4c_attr same = {"upper", step->attrs[ND4C_ATTR_cholesky_solve_upper]};
  const int64_t last = -1;
  nd4c_emitted inputs[] = {step->inputs[0], ND4C_EMITTED_NONE}, turned = ND4C_EMITTED_NONE;
  ND4C_TRY(as_column(e, vector, step->given, &inputs[1]));
  ND4C_TRY(nd4c_emit(e, ND4C_OP_cholesky_solve, inputs, 2, &same, 1, gradient));
  if (index == 1) {
    return vector ? nd4c_emit_axes(e, ND4C_OP_squeeze, *gradient, 1, &last, gradient) : ND4C_OK;
  }
  ND4C_TRY(back_to_matrix(e, step, vector, *gradient, gradient));
  TURN(*gradient, &turned);
  BINARY(add, *gradient, turned, gradient);
  ND4C_TRY(keep_triangle(e, upper, 0, inputs[0], &inputs[0])); /* the other one is not read */
  BINARY(matmul, upper ? inputs[0] : *gradient, upper ? *gradient : inputs[0], gradient);
  return keep_triangle(e, upper, 0, *gradient, gradient);
}

/* -- factors ------------------------------------------------------------------------------------------------------- */

/* The lower triangle with half of the diagonal. */
static nd4c_status halve_diagonal(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  const nd4c_attr below = nd4c_attr_of_int("k", -1);
  nd4c_emitted lower = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit(e, ND4C_OP_tril, &x, 1, &below, 1, &lower));
  UNARY(tril, x, y);
  BINARY(add, *y, lower, y);
  return nd4c_emit_with_scalar(e, ND4C_OP_multiply, *y, 0.5, y);
}

/* The solution of l^T y = x, l being a lower triangle. */
static nd4c_status solve_turned(nd4c_emitter *e, nd4c_emitted l, nd4c_emitted x, nd4c_emitted *y) {
  const nd4c_attr adjoint = nd4c_attr_of_bool("adjoint", true);
  const nd4c_emitted inputs[] = {l, x};
  return nd4c_emit(e, ND4C_OP_triangular_solve, inputs, 2, &adjoint, 1, y);
}

/* Of x = l l^T: the symmetric part of l^-T p l^-1, where p is the lower triangle of l^T g with half of its diagonal. x
 * is symmetric, though one triangle of it is read, and so is its gradient. */
ND4C_GRADIENT(factor) {
  const bool upper = step->attrs[ND4C_ATTR_cholesky_upper].as.i != 0;
  nd4c_emitted l = step->output, given = step->given, part = ND4C_EMITTED_NONE;
  (void)index;
  if (upper) {
    TURN(l, &l);
    TURN(given, &given);
  }
  TURN(l, &part);
  BINARY(matmul, part, given, &part);
  ND4C_TRY(halve_diagonal(e, part, &part));
  ND4C_TRY(solve_turned(e, l, part, &part)); /* l^-T p */
  TURN(part, &part);
  ND4C_TRY(solve_turned(e, l, part, &part)); /* the transposed whole */
  TURN(part, gradient);
  BINARY(add, *gradient, part, gradient);
  return nd4c_emit_with_scalar(e, ND4C_OP_multiply, *gradient, 0.5, gradient);
}

/* -- powers -------------------------------------------------------------------------------------------------------- */

enum { MOST_FACTORS = 32 };

/* Of x^n: the sum of t^k g t^(n - 1 - k) with t = x^T; what is given times t from the right as often as from the left
 * in all. */
static nd4c_status back_from_power(nd4c_emitter *e, nd4c_emitted x, int64_t n, nd4c_emitted given,
                                   nd4c_emitted *gradient) {
  nd4c_emitted turned = ND4C_EMITTED_NONE, right = given;
  TURN(x, &turned);
  *gradient = given;
  for (int64_t k = 1; k < n; k++) {
    BINARY(matmul, right, turned, &right);
    BINARY(matmul, turned, *gradient, gradient);
    BINARY(add, *gradient, right, gradient);
  }
  return ND4C_OK;
}

ND4C_GRADIENT(power_of_matrix) {
  const int64_t n = step->attrs[ND4C_ATTR_matrix_power_n].as.i;
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  nd4c_emitted inverse = ND4C_EMITTED_NONE;
  (void)index;
  if (n > MOST_FACTORS || n < -MOST_FACTORS) {
    return nd4c_fail(ND4C_UNSUPPORTED, "powers above %d have no gradient", (int)MOST_FACTORS);
  }
  if (n == 0) {
    return nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, gradient);
  }
  if (n > 0) {
    return back_from_power(e, step->inputs[0], n, step->given, gradient);
  }
  UNARY(inv, step->inputs[0], &inverse);
  ND4C_TRY(back_from_power(e, inverse, -n, step->given, gradient));
  return back_from_inverse(e, inverse, *gradient, gradient);
}

const nd4c_gradient_row nd4c_gradient_decomposition[] = {ND4C_GRADIENT_DECOMPOSITION(ROW){ND4C_OP_NONE, NULL}};
