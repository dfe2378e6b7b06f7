/* matmul, linear and other sums of products of two operands as one form: y [batch..., m, n] = activation(
 * a [batch..., m, k] b [batch..., k, n] + bias + addend). Engine simd, oneDNN and OpenBLAS read their calls with this.
 */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_CONTRACTION_PRODUCT_H
#define ND4C_BACKENDS_CPU_SUPPORT_CONTRACTION_PRODUCT_H

#include "backends/cpu/cpu.h"

enum { ND4C_PRODUCT_MAX_RANK = 12 };

/* Below this many multiplications a call is left to engine simd: it takes no longer, and the library stays closed. */
enum { ND4C_PRODUCT_SMALL = 8192 };

/* A matrix, or a batch of them: extents and strides of the batch axes, then rows and columns. A batch axis that is
 * broadcast has extent 1. */
typedef struct nd4c_cpu_matrices {
  const nd4c_tensor *tensor; /* NULL: left out */
  int64_t shape[ND4C_PRODUCT_MAX_RANK], strides[ND4C_PRODUCT_MAX_RANK];
} nd4c_cpu_matrices;

typedef struct nd4c_cpu_product {
  int32_t rank;
  int64_t batch, m, n, k;
  nd4c_cpu_matrices a, b, y, addend;
  const nd4c_tensor *bias; /* n elements without gaps, or NULL */
  int64_t activation;
} nd4c_cpu_product;

/* Reads a matmul, linear, vecdot, matvec or vecmat call, or a sum of products of two operands over named axes
 * (backends/labels.h), whose operands are not conjugated. A batch that shares b is made one tall product where strides
 * allow. NULL, or why these engines cannot take the call (static text). */
const char *nd4c_cpu_product_read(const nd4c_call *call, nd4c_cpu_product *product);

/* A part of that: the sums over named axes (contraction_labels.c). */
const char *nd4c_cpu_product_read_labels(const nd4c_call *call, nd4c_cpu_product *product);

/* Where matrix number `index` of the batch starts, in elements from the first. */
int64_t nd4c_cpu_matrices_offset(const nd4c_cpu_product *product, const nd4c_cpu_matrices *matrices, int64_t index);

/* A row (or, if !by_rows, a column) lies without gaps, and the next one behind it: what libraries describe by a leading
 * dimension. */
bool nd4c_cpu_matrices_dense(const nd4c_cpu_product *product, const nd4c_cpu_matrices *matrices, bool by_rows);

/* True for a product whose result lies by columns: best computed as y^T = b^T a^T. Not for linear, whose bias runs
 * along rows. */
bool nd4c_cpu_product_by_columns(const nd4c_call *call, const nd4c_cpu_product *product);
/* Turns the product into that of the transposes. */
void nd4c_cpu_product_turn(nd4c_cpu_product *product);

/* What linear does around the product, for f32 and f64 results whose rows lie without gaps: fills y with bias + addend
 * (true if there was one: the product is then added), and applies the activation. */
bool nd4c_cpu_product_start(const nd4c_cpu_product *product, int32_t width);
void nd4c_cpu_product_finish(const nd4c_cpu_product *product, int32_t width);

#endif
