/* What conv_transpose does around its products: adds up rows of them, and puts the phases of a stride in their order.
 * Engine simd calls these (backends/cpu/simd/window/window_transposed.c). */
#ifndef ND4C_KERNELS_CPU_WINDOW_TRANSPOSED_H
#define ND4C_KERNELS_CPU_WINDOW_TRANSPOSED_H

#include <stdint.h>

typedef struct nd4c_transposed_loops {
  /* to[r to_step + i] += from[r from_step + i] for r in [0, rows), i in [0, n) */
  void (*add)(int64_t rows, int64_t n, const void *from, int64_t from_step, void *to, int64_t to_step);
  /* y[i] = sums[i % phases * step + i / phases] + the number at bias, unless that is NULL, for i in [0, n) */
  void (*write)(int64_t n, int64_t phases, const void *sums, int64_t step, const void *bias, void *y);
} nd4c_transposed_loops;

typedef struct nd4c_transposed_table {
  nd4c_transposed_loops float32, float64;
} nd4c_transposed_table;

#endif
