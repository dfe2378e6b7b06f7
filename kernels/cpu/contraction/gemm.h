/* Blocked matrix product for operands with any strides. Engine simd calls it for matmul
 * (simd/contraction/contraction.c, contraction_packed.c, contraction_narrow.c) and for convolutions (window_conv.c);
 * support/contraction_epilogue.c adds biases with it. */
#ifndef ND4C_KERNELS_CPU_CONTRACTION_GEMM_H
#define ND4C_KERNELS_CPU_CONTRACTION_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cpu/contraction/inner_activation.h"

/* One matrix: element (row, column) at data + row * row_stride + column * column_stride, in elements. */
typedef struct nd4c_gemm_matrix {
  char *data; /* inputs are never written */
  int64_t row_stride, column_stride;
} nd4c_gemm_matrix;

/* How a packed b lies: the first `columns` columns, then as many more. The rows of a strip lie one after the other; the
 * next strip begins `depth` rows further, which are at least k. Columns beyond n and rows beyond k are zeros. */
typedef struct nd4c_gemm_strips {
  int64_t columns, depth;
} nd4c_gemm_strips;

/* What happens to sums when they are complete; columns of all matrices have stride 1. */
typedef struct nd4c_gemm_ending {
  nd4c_gemm_matrix y;      /* where the results go; may be where the sums are */
  const void *bias;        /* added to each row; NULL: none */
  nd4c_gemm_matrix addend; /* added; data NULL: none */
  nd4c_inner_activation activation;
  bool far; /* y is in no cache: loops may prefetch rows before they write them */
} nd4c_gemm_ending;

typedef struct nd4c_gemm_loops {
  /* y [m, n] = a [m, k] b [k, n], added to what y holds if `adds`. buffer: buffer_bytes, aligned to 64. For one
   * thread: callers share out parts, best of multiples of strip_rows and strip_columns. */
  void (*multiply)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y,
                   bool adds, void *buffer);
  int64_t sum_terms; /* products in one sum; longer sums are sums of these */
  int64_t strip_rows, strip_columns, buffer_bytes;
  /* The same without a buffer, where columns of b have stride 1: quicker where b stays in the L2 cache. sum_terms: that
   * of these loops, and the results are the same, bit for bit; or a divisor of it, and they are more exact. */
  void (*direct)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y, bool adds,
                 int64_t sum_terms);
  /* The same with a b that `pack` has packed, for columns [column, column + n) of it: `column` is a multiple of
   * strip_columns, and so are the columns of a strip unless there is only one. sums, bias, addend and ending->y: the
   * first of these columns. sums: where parts of sums are kept, without gaps between columns. */
  void (*pack)(int64_t n, int64_t k, nd4c_gemm_matrix b, nd4c_gemm_strips strips, void *to);
  void (*strips)(int64_t m, int64_t column, int64_t n, int64_t k, nd4c_gemm_matrix a, const void *b,
                 nd4c_gemm_strips strips, nd4c_gemm_matrix sums, int64_t sum_terms, const nd4c_gemm_ending *ending);
  /* y[i] = bias[i] + addend[i * step] for i in [0, n); either may be NULL. */
  void (*start)(int64_t n, const void *bias, const void *addend, int64_t step, void *y);
  /* y[i] = y[i] + bias[i] + addend[i], or 0 if that is negative and `relu`, for i in [0, n); either may be NULL. */
  void (*finish)(int64_t n, const void *bias, const void *addend, bool relu, void *y);
  /* y[i * step] = x[i] */
  void (*spread)(int64_t n, const void *x, int64_t step, void *y);
} nd4c_gemm_loops;

/* Products with few rows, for one thread: callers share out columns. bfloat16 and float16 are those of b; a, y
 * and sums are f32. */
typedef struct nd4c_thin_loops {
  /* y [m, n] = a [m, k] b [k, n], added to what y holds if `adds`; columns of b and y have stride 1. At most 256 rows.
   * Sums of 64 terms are added up in their order. */
  void (*rows)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y, bool adds);
  /* The same where rows of b and columns of a have stride 1: a sum a lane. */
  void (*dots)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y, bool adds);
  /* y[0] = sum of a[i] b[i], i in [0, k) */
  void (*dot)(int64_t k, const void *a, const void *b, void *y);
} nd4c_thin_loops;

typedef struct nd4c_gemm_table {
  const nd4c_gemm_loops *float32, *float64;
  const nd4c_thin_loops *thin_float32, *thin_float64, *thin_bfloat16, *thin_float16;
} nd4c_gemm_table;

#endif
