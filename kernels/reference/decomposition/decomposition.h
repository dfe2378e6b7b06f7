/* Dense linear algebra of the reference: plain, stable algorithms on matrices that lie by columns without gaps, in
 * double or double complex. backends/cpu/reference/decomposition.c calls these; the tests compare engines that have
 * LAPACK with them.
 *
 * Functions return 0, or k > 0 as LAPACK's info: pivot k is zero, minor k is not positive, or an iteration that did not
 * come to an end. `work` is memory of the caller's, of as many numbers as the comment says. */
#ifndef ND4C_KERNELS_REFERENCE_DECOMPOSITION_DECOMPOSITION_H
#define ND4C_KERNELS_REFERENCE_DECOMPOSITION_DECOMPOSITION_H

#include "kernels/reference/support/tensor.h"

#define ND4C_DENSE_DECLARE(t, number)                                                                             \
  /* The lower triangle of a becomes L with a = L L^H; the upper one is not looked at. */                         \
  int64_t nd4c_dense_##t##_cholesky(int64_t n, number *a);                                                        \
  /* a [m, n] becomes L (unit diagonal) and U; row i was exchanged with row pivots[i], in order. */               \
  int64_t nd4c_dense_##t##_lu(int64_t m, int64_t n, number *a, int64_t *pivots);                                  \
  /* b [n, k] becomes op(a)^-1 b, op: as it is, or the adjoint. Only one triangle of a is looked at. */           \
  void nd4c_dense_##t##_triangular(bool upper, bool adjoint, bool unit, int64_t n, int64_t k, const number *a,    \
                                   number *b);                                                                    \
  /* The upper triangle of a [m, n] becomes R, the rest is spoilt; q gets the first `columns` columns of Q. work: \
   * min(m, n). */                                                                                                \
  void nd4c_dense_##t##_qr(int64_t m, int64_t n, number *a, int64_t columns, number *q, number *work);            \
  /* m >= n: a = u diag(s) v^H, s descending; u [m, columns], v [n, n]. a is spoilt; u NULL: s alone. work:       \
   * m n + n. */                                                                                                  \
  int64_t nd4c_dense_##t##_svd(int64_t m, int64_t n, number *a, int64_t columns, double *s, number *u, number *v, \
                               number *work);                                                                     \
  /* The lower triangle of a is a Hermitian matrix: w ascending, v (if not NULL) the vectors. a is spoilt. */     \
  int64_t nd4c_dense_##t##_eigh(int64_t n, number *a, double *w, number *v);                                      \
  /* c [m, n] = op(a) b with a [m, k], or [k, m] if adjoint. */                                                   \
  void nd4c_dense_##t##_product(bool adjoint, int64_t m, int64_t n, int64_t k, const number *a, const number *b,  \
                                number *c);
ND4C_DENSE_DECLARE(real, double)
ND4C_DENSE_DECLARE(complex, double complex)
#undef ND4C_DENSE_DECLARE

/* Eigenvalues of a general matrix, v (if not NULL): right eigenvectors of length 1. a is spoilt. work: 3 n^2 + n. A
 * real matrix's are real, its vectors too, or pairs of conjugates one after the other. */
int64_t nd4c_dense_complex_eig(int64_t n, double complex *a, double complex *w, double complex *v,
                               double complex *work);
int64_t nd4c_dense_real_eig(int64_t n, double *a, double complex *w, double complex *v, double complex *work);
/* For the second: makes a, triangular but for the square at (k, k) whose eigenvalues are value and its conjugate,
 * triangular there, z following. */
void nd4c_dense_split_pair(int64_t n, double complex *a, double complex *z, int64_t k, double complex value);
/* Eigenvalues and vectors of scale z a z^H, a triangular with elements up to 1. vector: n. */
void nd4c_dense_read_triangle(int64_t n, const double complex *a, const double complex *z, double scale,
                              double complex *w, double complex *v, double complex *vector);

/* A matrix of a tensor's into columns of double (double complex if `complex_numbers`), and back with one rounding.
 * data: the address of its first element. */
typedef struct nd4c_dense_place {
  nd4c_dtype dtype;
  char *data;
  int64_t rows, columns, row_stride, column_stride; /* strides in elements */
} nd4c_dense_place;
void nd4c_dense_load(const nd4c_dense_place *from, bool complex_numbers, void *to);
void nd4c_dense_store(const nd4c_dense_place *to, bool complex_numbers, const void *from);

/* Whether none of the numbers is NaN or infinite. */
bool nd4c_dense_is_finite(int64_t count, const double *x);
bool nd4c_dense_is_finite_single(int64_t count, const float *x);

#endif
