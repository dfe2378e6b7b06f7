/* Products of real Householder reflectors, as LAPACK's factorisations leave them, computed with OpenBLAS's matrix
 * products. decomposition_spectral.c calls them. */
#ifndef ND4C_BACKENDS_CPU_OPENBLAS_DECOMPOSITION_REFLECTORS_H
#define ND4C_BACKENDS_CPU_OPENBLAS_DECOMPOSITION_REFLECTORS_H

#include "backends/cpu/support/decomposition.h"

/* Q = H_0 H_1 ... with H_j = I - tau_j v_j v_j^T, v_j 0 before place j + shift, 1 there, then what stands in column j
 * of a, or in its row j. Numbers are float or double. */
typedef struct nd4c_reflectors {
  bool single, by_rows;
  int length, count, shift;
  const void *a, *tau;
  int leading; /* of a */
} nd4c_reflectors;

/* c [length, columns] = Q c; is_identity: c is the identity's first columns, whose zeros are not multiplied. `room` of
 * the space is used. FINE or NO_MEMORY. */
int64_t nd4c_reflectors_times(nd4c_cpu_space *space, int32_t room, const nd4c_reflectors *q, int columns, void *c,
                              bool is_identity);
/* c [rows, length] = c Q^T. */
int64_t nd4c_reflectors_times_right(nd4c_cpu_space *space, int32_t room, const nd4c_reflectors *q, int rows, void *c);
/* Factorises a [m, n] as ?geqrf does; work as ?geqrf wants it, of `count` numbers. */
int64_t nd4c_reflectors_qr(nd4c_cpu_space *space, int32_t room, bool single, int m, int n, void *a, void *tau,
                           void *work, int count);

#endif
