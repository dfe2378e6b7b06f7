/* Product of signed bytes into int32, for one thread. */
#ifndef ND4C_KERNELS_CPU_BYTES_H
#define ND4C_KERNELS_CPU_BYTES_H

#include <stdint.h>

enum { ND4C_BYTES_COLUMNS = 16 }; /* of a panel of b */

/* Of levels that have no such product everything is 0 and NULL. */
typedef struct nd4c_bytes_table {
  int64_t depth; /* rows of a and panels of b are filled up with zeros to a multiple of this */
  /* Columns [0, columns) of b, element (i, j) at b[i * row_stride + j * column_stride], as a panel of k, filled up. */
  void (*pack)(int64_t columns, int64_t k, const int8_t *b, int64_t row_stride, int64_t column_stride, int8_t *panel);
  /* y [m, columns] = a [m, k] times a panel; k is filled up. */
  void (*multiply)(int64_t m, int64_t columns, int64_t k, const int8_t *a, const int8_t *panel, int32_t *y,
                   int64_t y_stride);
} nd4c_bytes_table;

#endif
