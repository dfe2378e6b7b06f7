/* Truth values as 0 and 1: memory that a program views as bool may hold any byte. reduction.c and scan.c add and
 * multiply what this gives. */
#ifndef ND4C_KERNELS_CPU_SUPPORT_TRUTH_H
#define ND4C_KERNELS_CPU_SUPPORT_TRUTH_H

#include <stdint.h>

#include "kernels/cpu/support/level.h"

enum { ND4C_TRUTH_CHUNK = 4096 };

ND4C_INLINED void nd4c_truth_values(int64_t n, const uint8_t *x, uint8_t *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = x[i] != 0;
  }
}

#endif
