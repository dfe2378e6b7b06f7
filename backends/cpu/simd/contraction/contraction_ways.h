/* How engine simd multiplies batches of matrices that have any strides: by one of five ways, which shape and strides
 * decide. contraction.c computes floats with it, contraction_whole.c whole numbers. */
#ifndef ND4C_BACKENDS_CPU_SIMD_CONTRACTION_WAYS_H
#define ND4C_BACKENDS_CPU_SIMD_CONTRACTION_WAYS_H

#include "backends/cpu/support/contraction_product.h"
#include "kernels/cpu/contraction/gemm.h"

typedef enum nd4c_simd_way {
  ND4C_WAY_DOT,    /* one row and one column */
  ND4C_WAY_ROWS,   /* few rows, b by rows: b is read once */
  ND4C_WAY_DOTS,   /* few rows, b by columns: b is read once */
  ND4C_WAY_DIRECT, /* b by rows, in the L2 cache or used by few rows: b is read in place */
  ND4C_WAY_PACKED
} nd4c_simd_way;

typedef struct nd4c_simd_product {
  nd4c_cpu_product p; /* as nd4c_simd_product_choose left it */
  nd4c_simd_way way;
  const nd4c_gemm_loops *loops;
  const nd4c_thin_loops *thin;
  int64_t a_bytes, b_bytes, y_bytes; /* an element */
  bool adds;                         /* y holds what the product is added to */
  /* Sums of pieces of one long dot product become one element, added to what y holds if `adds`. */
  void (*total)(const void *sums, int64_t count, bool adds, void *y);
  int32_t width;
  char *buffers;                                  /* nd4c_simd_product_scratch bytes */
  int64_t rows, columns, row_parts, column_parts; /* of a part, and of each matrix: set by nd4c_simd_product_run */
} nd4c_simd_product;

/* Turns the product to that of the transposes if its columns are few, and picks its way. bytes: an element of b. */
nd4c_simd_way nd4c_simd_product_choose(nd4c_cpu_product *p, int64_t bytes);

/* Bytes of `buffers` for a product that has taken its way. */
int64_t nd4c_simd_product_scratch(const nd4c_cpu_product *p, nd4c_simd_way way, const nd4c_gemm_loops *loops,
                                  int64_t y_bytes, int32_t width);

/* Computes y. Every field before `rows` is set. The bits of the result do not depend on the width. */
void nd4c_simd_product_run(nd4c_simd_product *j);

#endif
