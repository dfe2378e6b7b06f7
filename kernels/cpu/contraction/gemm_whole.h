/* Products of matrices of whole numbers, whose sums wrap. Engine simd calls it for matmul and its relatives
 * (simd/contraction/contraction_whole.c). Numbers of 16 to 64 bits are multiplied as they are, with or without a sign.
 * Bytes are widened to 16 bits, whose lower halves are the results. */
#ifndef ND4C_KERNELS_CPU_CONTRACTION_GEMM_WHOLE_H
#define ND4C_KERNELS_CPU_CONTRACTION_GEMM_WHOLE_H

#include "kernels/cpu/contraction/gemm.h"

typedef struct nd4c_whole_table {
  /* By the bytes of an element: 2, 4 and 8. Only `multiply`, `direct` and the numbers beside them. */
  const nd4c_gemm_loops *loops[9];
  /* The same; that of 1 is for b of bytes, where a, y and sums have 16 bits. */
  const nd4c_thin_loops *thin[9];
  /* y[0] = sum of a[i] b[i], i in [0, k), of bytes, in 16 bits */
  void (*dot_bytes)(int64_t k, const void *a, const void *b, void *y);
  /* y[i] = x[i * step] for i in [0, n), from bytes to 16 bits */
  void (*widen)(int64_t n, const uint8_t *x, int64_t step, uint16_t *y);
  /* y[i * step] = the lower half of x[i] */
  void (*narrow)(int64_t n, const uint16_t *x, int64_t step, uint8_t *y);
} nd4c_whole_table;

#endif
