/* LAPACK as OpenBLAS exports it: Fortran's symbols. The hidden lengths of Fortran's strings stand at the end of each
 * parameter list, as gfortran passes them. */
#ifndef ND4C_BACKENDS_CPU_OPENBLAS_LAPACK_H
#define ND4C_BACKENDS_CPU_OPENBLAS_LAPACK_H

#include <stddef.h>

typedef const int *nd4c_fortran_int;
typedef const char *nd4c_fortran_text;

/* The one symbol list: X(name, parameters). d: double, z: double complex. */
#define ND4C_LAPACK_SYMBOLS(X)                                                                                         \
  X(dgemm_, (nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_int, nd4c_fortran_int, nd4c_fortran_int, const void *, \
             const void *, nd4c_fortran_int, const void *, nd4c_fortran_int, const void *, void *, nd4c_fortran_int,   \
             size_t, size_t))                                                                                          \
  X(zgemm_, (nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_int, nd4c_fortran_int, nd4c_fortran_int, const void *, \
             const void *, nd4c_fortran_int, const void *, nd4c_fortran_int, const void *, void *, nd4c_fortran_int,   \
             size_t, size_t))                                                                                          \
  X(dtrsm_,                                                                                                            \
    (nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_int, nd4c_fortran_int,   \
     const void *, const void *, nd4c_fortran_int, void *, nd4c_fortran_int, size_t, size_t, size_t, size_t))          \
  X(ztrsm_,                                                                                                            \
    (nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_int, nd4c_fortran_int,   \
     const void *, const void *, nd4c_fortran_int, void *, nd4c_fortran_int, size_t, size_t, size_t, size_t))          \
  X(dpotrf_, (nd4c_fortran_text, nd4c_fortran_int, void *, nd4c_fortran_int, int *, size_t))                           \
  X(zpotrf_, (nd4c_fortran_text, nd4c_fortran_int, void *, nd4c_fortran_int, int *, size_t))                           \
  X(dgetrf_, (nd4c_fortran_int, nd4c_fortran_int, void *, nd4c_fortran_int, int *, int *))                             \
  X(zgetrf_, (nd4c_fortran_int, nd4c_fortran_int, void *, nd4c_fortran_int, int *, int *))                             \
  X(dgeqrf_, (nd4c_fortran_int, nd4c_fortran_int, void *, nd4c_fortran_int, void *, void *, nd4c_fortran_int, int *))  \
  X(zgeqrf_, (nd4c_fortran_int, nd4c_fortran_int, void *, nd4c_fortran_int, void *, void *, nd4c_fortran_int, int *))  \
  X(dorgqr_, (nd4c_fortran_int, nd4c_fortran_int, nd4c_fortran_int, void *, nd4c_fortran_int, const void *, void *,    \
              nd4c_fortran_int, int *))                                                                                \
  X(zungqr_, (nd4c_fortran_int, nd4c_fortran_int, nd4c_fortran_int, void *, nd4c_fortran_int, const void *, void *,    \
              nd4c_fortran_int, int *))                                                                                \
  X(dgesdd_, (nd4c_fortran_text, nd4c_fortran_int, nd4c_fortran_int, void *, nd4c_fortran_int, double *, void *,       \
              nd4c_fortran_int, void *, nd4c_fortran_int, void *, nd4c_fortran_int, int *, int *, size_t))             \
  X(zgesdd_, (nd4c_fortran_text, nd4c_fortran_int, nd4c_fortran_int, void *, nd4c_fortran_int, double *, void *,       \
              nd4c_fortran_int, void *, nd4c_fortran_int, void *, nd4c_fortran_int, double *, int *, int *, size_t))   \
  X(dsyevd_, (nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_int, void *, nd4c_fortran_int, double *, void *,      \
              nd4c_fortran_int, int *, nd4c_fortran_int, int *, size_t, size_t))                                       \
  X(zheevd_, (nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_int, void *, nd4c_fortran_int, double *, void *,      \
              nd4c_fortran_int, double *, nd4c_fortran_int, int *, nd4c_fortran_int, int *, size_t, size_t))           \
  X(dgeev_, (nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_int, void *, nd4c_fortran_int, double *, double *,     \
             void *, nd4c_fortran_int, void *, nd4c_fortran_int, void *, nd4c_fortran_int, int *, size_t, size_t))     \
  X(zgeev_, (nd4c_fortran_text, nd4c_fortran_text, nd4c_fortran_int, void *, nd4c_fortran_int, void *, void *,         \
             nd4c_fortran_int, void *, nd4c_fortran_int, void *, nd4c_fortran_int, double *, int *, size_t, size_t))

/* Functions are NULL if the library was built without LAPACK; then `text` says which is missing. */
typedef struct nd4c_lapack {
  bool ready;
  char text[160];
#define ND4C_LAPACK_FIELD(name, parameters) void(*name) parameters;
  ND4C_LAPACK_SYMBOLS(ND4C_LAPACK_FIELD)
#undef ND4C_LAPACK_FIELD
} nd4c_lapack;

#endif
