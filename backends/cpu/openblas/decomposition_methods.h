/* What decomposition.c and decomposition_spectral.c of engine openblas share: slots of the worker's memory, workspaces,
 * and methods as support/decomposition.h describes them. */
#ifndef ND4C_BACKENDS_CPU_OPENBLAS_DECOMPOSITION_METHODS_H
#define ND4C_BACKENDS_CPU_OPENBLAS_DECOMPOSITION_METHODS_H

#include "backends/cpu/openblas/openblas.h"
#include "backends/cpu/support/decomposition.h"

enum {
  ND4C_ROOM_WORK = ND4C_SPACE_METHOD,
  ND4C_ROOM_WHOLE,
  ND4C_ROOM_REAL,
  ND4C_ROOM_TAU,
  ND4C_ROOM_VECTORS,
  ND4C_ROOM_BLOCKS
};

/* Workspace of as many numbers as LAPACK answered. */
void *nd4c_openblas_work(nd4c_cpu_space *space, double answer, int64_t bytes, int *count);

#define ND4C_OPENBLAS_METHODS(t)                                                                                     \
  int64_t nd4c_openblas_##t##_qr(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, int64_t columns, void *q);    \
  int64_t nd4c_openblas_##t##_svd(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, bool full, void *s, void *u, \
                                  void *vh);                                                                         \
  int64_t nd4c_openblas_##t##_eigh(nd4c_cpu_space *space, int64_t n, void *a, void *w, void *v);
ND4C_OPENBLAS_METHODS(real)
ND4C_OPENBLAS_METHODS(complex)
ND4C_OPENBLAS_METHODS(real_single)
ND4C_OPENBLAS_METHODS(complex_single)
#undef ND4C_OPENBLAS_METHODS
int64_t nd4c_openblas_real_eig(nd4c_cpu_space *space, int64_t order, void *a, double complex *w, double complex *v);
int64_t nd4c_openblas_complex_eig(nd4c_cpu_space *space, int64_t order, void *a, double complex *w, double complex *v);

#endif
