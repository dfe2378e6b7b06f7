/* Properties of factorisations: their product, orthonormal columns, triangles, order. In long double. The recorded
 * cases of the family decomposition name them. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance.h"

typedef long double complex number;

/* A matrix by rows. */
typedef struct matrix {
  int64_t m, n;
  number *x;
} matrix;

static matrix fresh(int64_t m, int64_t n) {
  return (matrix){m, n, cf_need((size_t)(m * n + 1) * sizeof(number))};
}

/* Matrix `index` of a tensor whose last `axes` axes are the matrix: a vector is one column. */
static matrix matrix_at(const cf_tensor *tensor, int64_t index, int32_t axes) {
  int64_t m = axes > 0 ? tensor->shape[tensor->rank - axes] : 1, n = axes > 1 ? tensor->shape[tensor->rank - 1] : 1;
  matrix result = fresh(m, n);
  for (int64_t i = 0; i < m * n; i++) {
    cf_value value = cf_get(tensor, index * m * n + i);
    result.x[i] = cf_is_integer(tensor->dtype) ? (number)value.i : value.re + value.im * I;
  }
  return result;
}

static matrix product(matrix a, bool adjoint_a, matrix b) {
  int64_t m = adjoint_a ? a.n : a.m, inner = adjoint_a ? a.m : a.n;
  matrix c = fresh(m, b.n);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t k = 0; k < inner; k++) {
      number factor = adjoint_a ? conjl(a.x[k * a.n + i]) : a.x[i * a.n + k];
      for (int64_t j = 0; j < b.n; j++) {
        c.x[i * b.n + j] += factor * b.x[k * b.n + j];
      }
    }
  }
  return c;
}

static matrix adjoint_of(matrix a) {
  matrix c = fresh(a.n, a.m);
  for (int64_t i = 0; i < a.m * a.n; i++) {
    c.x[i % a.n * a.m + i / a.n] = conjl(a.x[i]);
  }
  return c;
}

static long double distance(matrix a, matrix b) {
  long double most = 0;
  for (int64_t i = 0; i < a.m * a.n; i++) {
    most = fmaxl(most, cabsl(a.x[i] - b.x[i]));
    if (isnan(creall(a.x[i] - b.x[i])) || isnan(cimagl(a.x[i] - b.x[i]))) {
      return INFINITY;
    }
  }
  return most;
}

static long double size_of(matrix a) {
  long double sum = 0;
  for (int64_t i = 0; i < a.m * a.n; i++) {
    sum = hypotl(sum, cabsl(a.x[i]));
  }
  return sum;
}

/* How far the columns are from orthonormal. */
static long double skewness(matrix q) {
  matrix gram = product(q, true, q);
  for (int64_t i = 0; i < q.n; i++) {
    gram.x[i * q.n + i] -= 1;
  }
  matrix zero = fresh(q.n, q.n);
  long double most = distance(gram, zero);
  free(zero.x);
  free(gram.x);
  return most;
}

static bool is_finite_matrix(matrix a) {
  for (int64_t i = 0; i < a.m * a.n; i++) {
    if (!isfinite(creall(a.x[i])) || !isfinite(cimagl(a.x[i]))) {
      return false;
    }
  }
  return true;
}

static long double epsilon_of(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT16                              ? 0x1p-11L
         : dtype == ND4C_BFLOAT16                           ? 0x1p-8L
         : dtype == ND4C_FLOAT32 || dtype == ND4C_COMPLEX64 ? 0x1p-24L
                                                            : 0x1p-53L;
}

/* One matrix of a case and its results. */
typedef struct judged {
  const cf_case *c;
  matrix x, out[3];
  long double tolerance; /* of numbers around 1 */
  long double scale;     /* of x */
} judged;

typedef const char *(*judge)(const judged *j);

static int64_t attr_of(const judged *j, const char *name) {
  return cf_int_of(j->c, name, 0);
}

static const char *check_forms(const cf_case *c, const cf_tensor *outputs, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const cf_expected *wanted = &c->golden->outputs[i];
    bool same = wanted->dtype == outputs[i].dtype && wanted->rank == outputs[i].rank;
    for (int32_t axis = 0; same && axis < wanted->rank; axis++) {
      same = wanted->shape[axis] == outputs[i].shape[axis];
    }
    if (!same) {
      return "an output has another dtype or shape";
    }
  }
  return NULL;
}

static const char *all_nan(const judged *j, int32_t count, const cf_tensor *outputs) {
  for (int32_t i = 0; i < count; i++) {
    for (int64_t k = 0; k < j->out[i].m * j->out[i].n; k++) {
      number value = j->out[i].x[k];
      if (cf_is_integer(outputs[i].dtype) ? value != 0 : !isnan(creall(value))) {
        return "the matrix is not finite, but a result is a number";
      }
    }
  }
  return NULL;
}

/* axes: of each output's matrix. */
static const char *judge_all(const cf_case *c, const cf_tensor *outputs, int32_t count, const int32_t *axes, judge one,
                             char *text, size_t size) {
  const cf_tensor *x = &c->inputs[0];
  const char *problem = check_forms(c, outputs, count);
  int64_t batch = 1;
  for (int32_t i = 0; i < x->rank - 2; i++) {
    batch *= x->shape[i];
  }
  for (int64_t index = 0; index < batch && problem == NULL; index++) {
    judged j = {.c = c, .x = matrix_at(x, index, 2)};
    for (int32_t i = 0; i < count; i++) {
      j.out[i] = matrix_at(&outputs[i], index, axes[i]);
    }
    int64_t most = j.x.m > j.x.n ? j.x.m : j.x.n;
    j.tolerance = epsilon_of(outputs[0].dtype) * (8 + 4 * (long double)most);
    bool finite = is_finite_matrix(j.x);
    j.scale = finite ? size_of(j.x) : 1;
    problem = finite ? one(&j) : all_nan(&j, count, outputs);
    for (int32_t i = 0; i < count; i++) {
      free(j.out[i].x);
    }
    free(j.x.x);
  }
  if (problem != NULL) {
    (void)snprintf(text, size, "%s", problem);
  }
  return problem != NULL ? text : NULL;
}

static bool is_zero_below(matrix a) {
  for (int64_t i = 0; i < a.m * a.n; i++) {
    if (i / a.n > i % a.n && a.x[i] != 0) {
      return false;
    }
  }
  return true;
}

static const char *one_qr(const judged *j) {
  matrix y = product(j->out[0], false, j->out[1]);
  long double off = distance(y, j->x);
  free(y.x);
  if (off > j->tolerance * j->scale) {
    return "q r is not x";
  }
  if (skewness(j->out[0]) > j->tolerance) {
    return "the columns of q are not orthonormal";
  }
  return is_zero_below(j->out[1]) ? NULL : "r is not upper triangular";
}

/* p [m, m], l, u */
static const char *check_lu(const judged *j, matrix p, matrix l, matrix u) {
  const char *problem = is_zero_below(u) ? NULL : "u is not upper triangular";
  for (int64_t i = 0; i < l.m * l.n; i++) {
    number wanted = i / l.n == i % l.n ? 1 : 0;
    if (i / l.n <= i % l.n ? l.x[i] != wanted : cabsl(l.x[i]) > 1.5L) {
      problem = "l is not lower triangular with ones, or has a large multiplier";
    }
  }
  matrix lu = product(l, false, u), y = product(p, false, lu);
  if (distance(y, j->x) > j->tolerance * j->scale) {
    problem = "p l u is not x";
  }
  free(lu.x);
  free(y.x);
  return problem;
}

static const char *one_lu(const judged *j) {
  matrix p = j->out[0];
  int64_t ones = 0;
  for (int64_t i = 0; i < p.m * p.n; i++) {
    ones += p.x[i] == 1;
    if (p.x[i] != 0 && p.x[i] != 1) {
      return "p is not a permutation";
    }
  }
  return ones != p.m || skewness(p) != 0 ? "p is not a permutation" : check_lu(j, p, j->out[1], j->out[2]);
}

static const char *one_lu_factor(const judged *j) {
  int64_t m = j->x.m, n = j->x.n, least = m < n ? m : n;
  matrix p = fresh(m, m), l = fresh(m, least), u = fresh(least, n);
  const char *problem = NULL;
  for (int64_t i = 0; i < m; i++) {
    p.x[i * m + i] = 1;
  }
  for (int64_t i = least - 1; i >= 0; i--) { /* rows of p l u go back */
    int64_t other = (int64_t)creall(j->out[1].x[i]);
    if (other < i || other >= m) {
      free(p.x);
      free(l.x);
      free(u.x);
      return "a pivot is not a row below";
    }
    for (int64_t k = 0; k < m && other != i; k++) {
      number kept = p.x[i * m + k];
      p.x[i * m + k] = p.x[other * m + k];
      p.x[other * m + k] = kept;
    }
  }
  for (int64_t i = 0; i < m * n; i++) {
    int64_t row = i / n, column = i % n;
    if (row > column) {
      l.x[row * least + column] = j->out[0].x[i];
    } else {
      u.x[row * n + column] = j->out[0].x[i];
    }
  }
  for (int64_t i = 0; i < least; i++) {
    l.x[i * least + i] = 1;
  }
  problem = check_lu(j, p, l, u);
  free(p.x);
  free(l.x);
  free(u.x);
  return problem;
}

static const char *one_svd(const judged *j) {
  matrix u = j->out[0], s = j->out[1], vh = j->out[2], us = fresh(u.m, vh.m);
  for (int64_t k = 0; k < s.m; k++) {
    if (!(creall(s.x[k]) >= 0) || (k > 0 && creall(s.x[k]) > creall(s.x[k - 1]))) {
      return "the singular values are not descending from a positive one";
    }
    for (int64_t i = 0; i < u.m; i++) {
      us.x[i * vh.m + k] = u.x[i * u.n + k] * s.x[k];
    }
  }
  matrix y = product(us, false, vh), v = adjoint_of(vh);
  const char *problem = distance(y, j->x) > j->tolerance * j->scale ? "u diag(s) vh is not x" : NULL;
  if (problem == NULL && (skewness(u) > j->tolerance || skewness(v) > j->tolerance)) {
    problem = "the columns of u or the rows of vh are not orthonormal";
  }
  free(us.x);
  free(y.x);
  free(v.x);
  return problem;
}

/* How far x v is from v diag(w). */
static long double eigen_residual(matrix x, matrix w, matrix v) {
  matrix y = product(x, false, v);
  for (int64_t i = 0; i < v.m * v.n; i++) {
    y.x[i] -= v.x[i] * w.x[i % v.n];
  }
  matrix zero = fresh(v.m, v.n);
  long double off = distance(y, zero);
  free(zero.x);
  free(y.x);
  return off;
}

static const char *one_eigh(const judged *j) {
  bool upper = attr_of(j, "upper") != 0;
  int64_t n = j->x.n;
  matrix x = fresh(n, n), w = j->out[0];
  for (int64_t i = 0; i < n * n; i++) {
    int64_t row = i / n, column = i % n;
    bool given = upper ? row <= column : row >= column;
    x.x[i] = row == column ? creall(j->x.x[i]) : given ? j->x.x[i] : conjl(j->x.x[column * n + row]);
  }
  long double off = eigen_residual(x, w, j->out[1]);
  free(x.x);
  for (int64_t i = 1; i < n; i++) {
    if (creall(w.x[i]) < creall(w.x[i - 1])) {
      return "the eigenvalues are not ascending";
    }
  }
  if (off > j->tolerance * j->scale) {
    return "x v is not v diag(w)";
  }
  return skewness(j->out[1]) > j->tolerance ? "the columns of v are not orthonormal" : NULL;
}

static const char *one_eig(const judged *j) {
  matrix w = j->out[0], v = j->out[1];
  number trace = 0;
  for (int64_t k = 0; k < v.n; k++) {
    long double length = 0;
    for (int64_t i = 0; i < v.m; i++) {
      length = hypotl(length, cabsl(v.x[i * v.n + k]));
    }
    if (!(fabsl(length - 1) <= j->tolerance)) {
      return "a vector has not the length 1";
    }
    trace += w.x[k] - j->x.x[k * v.n + k];
  }
  if (!(cabsl(trace) <= 4 * j->tolerance * j->scale)) {
    return "the eigenvalues do not sum up to the trace";
  }
  return eigen_residual(j->x, w, v) > 4 * j->tolerance * j->scale ? "x v is not v diag(w)" : NULL;
}

#define PROPERTY(name, one, ...)                                                                         \
  const char *name(const cf_case *c, const cf_tensor *outputs, int32_t count, char *text, size_t size);  \
  const char *name(const cf_case *c, const cf_tensor *outputs, int32_t count, char *text, size_t size) { \
    static const int32_t axes[] = {__VA_ARGS__};                                                         \
    return judge_all(c, outputs, count, axes, one, text, size);                                          \
  }
PROPERTY(is_qr, one_qr, 2, 2)
PROPERTY(is_lu, one_lu, 2, 2, 2)
PROPERTY(is_lu_factor, one_lu_factor, 2, 1)
PROPERTY(is_svd, one_svd, 2, 1, 2)
PROPERTY(is_eigh, one_eigh, 1, 2)
PROPERTY(is_eig, one_eig, 1, 2)

/* The recorded eigenvalues in any order: each is matched by the nearest that is left. */
static const char *match(const cf_case *c, const cf_tensor *outputs, int64_t index, int64_t n) {
  const cf_expected *wanted = &c->golden->outputs[0];
  matrix got = matrix_at(&outputs[0], index, 1), x = matrix_at(&c->inputs[0], index, 2);
  long double tolerance = 256 * epsilon_of(outputs[0].dtype) * (isfinite((double)size_of(x)) ? size_of(x) : 1);
  const char *problem = NULL;
  for (int64_t i = 0; i < n && problem == NULL; i++) {
    cf_value value = wanted->values[index * n + i];
    int64_t best = 0;
    for (int64_t k = 1; k < n - i; k++) {
      best = cabsl(got.x[k] - (value.re + value.im * I)) < cabsl(got.x[best] - (value.re + value.im * I)) ? k : best;
    }
    bool same = isnan(value.re) ? isnan(creall(got.x[best])) && isnan(cimagl(got.x[best]))
                                : cabsl(got.x[best] - (value.re + value.im * I)) <= tolerance;
    problem = same ? NULL : "an eigenvalue is missing";
    if (same && !cf_is_complex(c->inputs[0].dtype) && value.im == 0 && cimagl(got.x[best]) != 0) {
      problem = "a real eigenvalue of a real matrix has an imaginary part";
    }
    got.x[best] = got.x[n - i - 1];
  }
  free(got.x);
  free(x.x);
  return problem;
}

const char *are_eigenvalues(const cf_case *c, const cf_tensor *outputs, int32_t count, char *text, size_t size);
const char *are_eigenvalues(const cf_case *c, const cf_tensor *outputs, int32_t count, char *text, size_t size) {
  const char *problem = check_forms(c, outputs, count);
  int64_t n = outputs[0].shape[outputs[0].rank - 1];
  for (int64_t index = 0; n > 0 && index < outputs[0].size / n && problem == NULL; index++) {
    problem = match(c, outputs, index, n);
  }
  if (problem != NULL) {
    (void)snprintf(text, size, "%s", problem);
  }
  return problem != NULL ? text : NULL;
}
