/* Blocked matrix product for operands with any strides. */
#ifndef ND4C_KERNELS_CPU_GEMM_H
#define ND4C_KERNELS_CPU_GEMM_H

#include <stdbool.h>
#include <stdint.h>

/* One matrix: element (row, column) at data + row * row_stride + column * column_stride, in elements. */
typedef struct nd4c_gemm_matrix {
  char *data; /* inputs are never written */
  int64_t row_stride, column_stride;
} nd4c_gemm_matrix;

typedef struct nd4c_gemm_loops {
  /* y [m, n] = a [m, k] b [k, n], added to what y holds if `adds`. buffer: buffer_bytes, aligned to 64. For one
   * thread: callers share out tiles, best of tile_rows x tile_columns. */
  void (*multiply)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y,
                   bool adds, void *buffer);
  int64_t tile_rows, tile_columns, buffer_bytes;
  /* The same without a buffer, bit for bit, where columns of b and y have stride 1 and k is at most small_depth:
   * quicker where a row of y and the columns of b above it stay in the L1 cache. */
  void (*small)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y, bool adds);
  int64_t small_depth;
  /* y[i] = bias[i] + addend[i * step] for i in [0, n); either may be NULL. */
  void (*start)(int64_t n, const void *bias, const void *addend, int64_t step, void *y);
  /* y[i * step] = x[i] */
  void (*spread)(int64_t n, const void *x, int64_t step, void *y);
} nd4c_gemm_loops;

typedef struct nd4c_gemm_table {
  const nd4c_gemm_loops *float32, *float64;
} nd4c_gemm_table;

#endif
