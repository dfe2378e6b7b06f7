/* LAPACK through LAPACKE's `_work` functions, with matrices by columns: LAPACKE then neither transposes a matrix nor
 * searches it for NaN. openblas.h includes it. */
#ifndef ND4C_BACKENDS_CPU_OPENBLAS_LAPACK_H
#define ND4C_BACKENDS_CPU_OPENBLAS_LAPACK_H

#include <stdbool.h>

/* Where it is if OpenBLAS itself was built without it, as Debian's is. */
#define ND4C_LAPACKE_LIBRARY "liblapacke.so.3"

enum { LAPACKE_BY_COLUMNS = 102 };

/* The one symbol list: X(name, parameters), all give LAPACK's info. Numbers go by address, so that all precisions (s
 * and d, c and z) have the same parameters. */
#define ND4C_LAPACK_SHARED(X, p)                                                \
  X(LAPACKE_##p##potrf_work, (int, char, int, void *, int))                     \
  X(LAPACKE_##p##getrf_work, (int, int, int, void *, int, int *))               \
  X(LAPACKE_##p##getri_work, (int, int, void *, int, const int *, void *, int)) \
  X(LAPACKE_##p##geqrf_work, (int, int, int, void *, int, void *, void *, int))
#define ND4C_LAPACK_REAL(X, p)                                                                                         \
  ND4C_LAPACK_SHARED(X, p)                                                                                             \
  X(LAPACKE_##p##orgqr_work, (int, int, int, int, void *, int, const void *, void *, int))                             \
  X(LAPACKE_##p##gesdd_work, (int, char, int, int, void *, int, void *, void *, int, void *, int, void *, int, int *)) \
  X(LAPACKE_##p##gebrd_work, (int, int, int, void *, int, void *, void *, void *, void *, void *, int))                \
  X(LAPACKE_##p##bdsdc_work,                                                                                           \
    (int, char, char, int, void *, void *, void *, int, void *, int, void *, int *, void *, int *))                    \
  X(LAPACKE_##p##syevd_work, (int, char, char, int, void *, int, void *, void *, int, int *, int))                     \
  X(LAPACKE_##p##sytrd_work, (int, char, int, void *, int, void *, void *, void *, void *, int))                       \
  X(LAPACKE_##p##stedc_work, (int, char, int, void *, void *, void *, int, void *, int, int *, int))
#define ND4C_LAPACK_COMPLEX(X, p)                                                                     \
  ND4C_LAPACK_SHARED(X, p)                                                                            \
  X(LAPACKE_##p##ungqr_work, (int, int, int, int, void *, int, const void *, void *, int))            \
  X(LAPACKE_##p##gesdd_work,                                                                          \
    (int, char, int, int, void *, int, void *, void *, int, void *, int, void *, int, void *, int *)) \
  X(LAPACKE_##p##heevd_work, (int, char, char, int, void *, int, void *, void *, int, void *, int, int *, int))
#define ND4C_LAPACK_SYMBOLS(X)                                                                      \
  ND4C_LAPACK_REAL(X, s)                                                                            \
  ND4C_LAPACK_REAL(X, d)                                                                            \
  ND4C_LAPACK_COMPLEX(X, c)                                                                         \
  ND4C_LAPACK_COMPLEX(X, z)                                                                         \
  X(LAPACKE_dgeev_work,                                                                             \
    (int, char, char, int, void *, int, double *, double *, void *, int, void *, int, void *, int)) \
  X(LAPACKE_zgeev_work, (int, char, char, int, void *, int, void *, void *, int, void *, int, void *, int, double *))

typedef struct nd4c_lapack {
  bool ready;
  char text[400]; /* where it is, or why it is not ready */
#define ND4C_LAPACK_FIELD(name, parameters) int(*name) parameters;
  ND4C_LAPACK_SYMBOLS(ND4C_LAPACK_FIELD)
#undef ND4C_LAPACK_FIELD
} nd4c_lapack;

#endif
