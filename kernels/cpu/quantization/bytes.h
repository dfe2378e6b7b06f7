/* Product of signed bytes into int32, for one thread. simd/quantization_bytes.c calls it on blocks,
 * simd/quantization_narrow.c the products of few rows. */
#ifndef ND4C_KERNELS_CPU_QUANTIZATION_BYTES_H
#define ND4C_KERNELS_CPU_QUANTIZATION_BYTES_H

#include <stdbool.h>
#include <stdint.h>

enum { ND4C_BYTES_COLUMNS = 16 }; /* of a panel of b */
enum { ND4C_BYTES_THIN_ROWS = 4, ND4C_BYTES_THIN_STEP = 32 };

/* Of levels that have no such product everything is 0 and NULL. */
typedef struct nd4c_bytes_table {
  int64_t depth; /* rows of a and panels of b are filled up with zeros to a multiple of this */
  /* Columns [0, columns) of b, element (i, j) at b[i * row_stride + j * column_stride], as a panel of k, filled up. */
  void (*pack)(int64_t columns, int64_t k, const int8_t *b, int64_t row_stride, int64_t column_stride, int8_t *panel);
  /* y [m, columns] = a [m, k] times a panel; k is filled up. */
  void (*multiply)(int64_t m, int64_t columns, int64_t k, const int8_t *a, const int8_t *panel, int32_t *y,
                   int64_t y_stride);
  /* y [m, n] = x [m, k] times b, for up to ND4C_BYTES_THIN_ROWS rows; column j of b lies without gaps at j * b_column.
   * Rows of x, already widened, end with zeros: their length is a multiple of ND4C_BYTES_THIN_STEP. flipped: b is
   * unsigned, and 128 is taken off every byte of it. NULL: there is none. */
  void (*dots)(int64_t m, int64_t n, int64_t k, const int16_t *x, int64_t x_row, const void *b, int64_t b_column,
               bool flipped, int32_t *y, int64_t y_row);
} nd4c_bytes_table;

#endif
