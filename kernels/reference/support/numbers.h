/* Operands as plain arrays of doubles (or 64-bit integers) in C order, for ops of many nested loops.
 * backends/cpu/reference/work.c loads inputs with it. */
#ifndef ND4C_KERNELS_REFERENCE_SUPPORT_NUMBERS_H
#define ND4C_KERNELS_REFERENCE_SUPPORT_NUMBERS_H

#include "kernels/reference/support/tensor.h"

/* Elements of a tensor of any real dtype or bool, broadcast to `shape`, in C order. */
void nd4c_ref_numbers_load(const nd4c_ref_tensor *x, int32_t rank, const int64_t *shape, double *numbers);
/* Stores C-order numbers, each rounded once; into integers whole numbers. */
void nd4c_ref_numbers_store(const nd4c_ref_tensor *tensor, const double *numbers);
/* The same for integers; unsigned 64-bit ones beyond the range come out negative. */
void nd4c_ref_integers_load(const nd4c_ref_tensor *tensor, int64_t *numbers);
void nd4c_ref_integers_store(const nd4c_ref_tensor *tensor, const int64_t *numbers);

/* Sum of products. Eight sums side by side: none waits for the one before it. */
static inline double nd4c_ref_dot(int64_t count, const double *a, const double *b) {
  double sums[8] = {0};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int j = 0; j < 8; j++) {
      sums[j] += a[i + j] * b[i + j];
    }
  }
  for (; i < count; i++) {
    sums[0] += a[i] * b[i];
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

#endif
