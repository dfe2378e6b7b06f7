/* Sums of products whose pairs are multiplied by OpenBLAS: float32 and complex64 in single precision, as in matmul,
 * everything else in double. dispatch/choice.c asks these kernels before those of reference/contraction.c. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/openblas/openblas.h"
#include "backends/cpu/support/contraction.h"

/* Multiplications of one matrix of a batch up to which matrices, not parts of them, are shared out. */
enum { SMALL_MATRIX = 1 << 22 };

typedef struct job {
  const nd4c_openblas *blas;
  nd4c_dtype wide;
  int64_t m, n, k, bytes;
  const char *a, *b;
  char *c;
} job;

/* A part of a product: so many rows of a, and columns of b. */
static void multiply(const job *j, int64_t rows, int64_t columns, const void *a, const void *b, void *c) {
  static const double one[2] = {1, 0}, zero[2] = {0, 0};
  static const float onef[2] = {1, 0}, zerof[2] = {0, 0};
  const nd4c_openblas *blas = j->blas;
  int m = (int)rows, n = (int)columns, k = (int)j->k, leading = (int)j->n;
  switch (j->wide) {
    case ND4C_FLOAT32:
      blas->cblas_sgemm(CBLAS_BY_ROWS, CBLAS_AS_IS, CBLAS_AS_IS, m, n, k, 1, a, k, b, leading, 0, c, leading);
      break;
    case ND4C_FLOAT64:
      blas->cblas_dgemm(CBLAS_BY_ROWS, CBLAS_AS_IS, CBLAS_AS_IS, m, n, k, 1, a, k, b, leading, 0, c, leading);
      break;
    case ND4C_COMPLEX64:
      blas->cblas_cgemm(CBLAS_BY_ROWS, CBLAS_AS_IS, CBLAS_AS_IS, m, n, k, onef, a, k, b, leading, zerof, c, leading);
      break;
    default:
      blas->cblas_zgemm(CBLAS_BY_ROWS, CBLAS_AS_IS, CBLAS_AS_IS, m, n, k, one, a, k, b, leading, zero, c, leading);
      break;
  }
}

static void multiply_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  int before = nd4c_openblas_enter(j->blas, 1);
  for (int64_t index = begin; index < end; index++) {
    multiply(j, j->m, j->n, j->a + index * j->m * j->k * j->bytes, j->b + index * j->k * j->n * j->bytes,
             j->c + index * j->m * j->n * j->bytes);
  }
  nd4c_openmp_leave(&j->blas->omp, before);
}

static void row_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  int before = nd4c_openblas_enter(j->blas, 1);
  multiply(j, end - begin, j->n, j->a + begin * j->k * j->bytes, j->b, j->c + begin * j->n * j->bytes);
  nd4c_openmp_leave(&j->blas->omp, before);
}

static void column_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  int before = nd4c_openblas_enter(j->blas, 1);
  multiply(j, j->m, end - begin, j->a, j->b + begin * j->bytes, j->c + begin * j->bytes);
  nd4c_openmp_leave(&j->blas->omp, before);
}

/* One product in pieces of at least so many rows or columns, if there are enough. */
static bool multiply_pieces(job *j, int64_t least, int32_t width) {
  const int64_t grain = nd4c_openblas_rows_from(least, j->n, j->k);
  const int64_t column_grain = nd4c_openblas_rows_from(least, j->m, j->k);
  if (j->n > 1 && j->m >= 2 * grain) {
    nd4c_cpu_host->parallel_for(j->m, grain, nd4c_openblas_width(j->blas, width), row_range, j);
    return true;
  }
  if (j->m > 1 && j->n >= 2 * column_grain) {
    nd4c_cpu_host->parallel_for(j->n, column_grain, nd4c_openblas_width(j->blas, width), column_range, j);
    return true;
  }
  return false;
}

/* All products, one after the other: in pieces, or on one thread if they are small; OpenBLAS's own threads, which wait
 * for each other, multiply vectors only. */
static void multiply_whole(job *j, int64_t batch, int32_t width) {
  for (int64_t index = 0; index < batch; index++) {
    if (!multiply_pieces(j, ND4C_OPENBLAS_MANY, width) && !multiply_pieces(j, ND4C_OPENBLAS_FEW, width)) {
      const int before = nd4c_openblas_enter(j->blas, j->m > 1 && j->n > 1 ? 1 : width);
      multiply(j, j->m, j->n, j->a, j->b, j->c);
      nd4c_openmp_leave(&j->blas->omp, before);
    }
    j->a += j->m * j->k * j->bytes;
    j->b += j->k * j->n * j->bytes;
    j->c += j->m * j->n * j->bytes;
  }
}

static void product(const nd4c_contraction *contraction, int64_t batch, int64_t m, int64_t n, int64_t k, const void *a,
                    const void *b, void *c) {
  job j = {.blas = nd4c_openblas_get(), .wide = contraction->wide, .bytes = nd4c_reference_bytes(contraction->wide)};
  bool whole = batch == 1 || m * n * k > SMALL_MATRIX;
  if (m == 0 || n == 0 || k == 0) { /* leading dimensions may not be 0 */
    memset(c, 0, (size_t)(batch * m * n * j.bytes));
    return;
  }
  if (m > INT_MAX || n > INT_MAX || k > INT_MAX) { /* more than BLAS counts */
    for (int64_t index = 0; index < batch; index++) {
      nd4c_wide_product(contraction->wide, 0, m, n, k, (const char *)a + index * m * k * j.bytes,
                        (const char *)b + index * k * n * j.bytes, (char *)c + index * m * n * j.bytes);
    }
    return;
  }
  j.m = m;
  j.n = n;
  j.k = k;
  j.a = a;
  j.b = b;
  j.c = c;
  const int32_t width = contraction->labels.call->width;
  if (whole) {
    multiply_whole(&j, batch, width);
  } else {
    nd4c_cpu_parallel(batch, nd4c_cpu_grain(m * n * k), width, multiply_range, &j);
  }
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = NULL;
  double most = 0;
  for (int32_t i = 0; i < call->input_count; i++) {
    most = (double)call->inputs[i].size > most ? (double)call->inputs[i].size : most;
  }
  nd4c_dtype_kind kind = nd4c_reference_kind(call->outputs[0].dtype);
  if (kind != ND4C_KIND_FLOAT && kind != ND4C_KIND_COMPLEX) {
    why = "BLAS multiplies floating numbers";
  } else if (call->input_count < 2 || most < 1024) {
    why = "the operands are small";
  }
  return nd4c_openblas_accept(why, reason, reason_size);
}

static nd4c_status run(const nd4c_call *call) {
  ND4C_CPU_FAIL_IF(nd4c_openblas_get() == NULL, ND4C_MEMORY, "%s: no memory for OpenBLAS's table", call->op->name);
  nd4c_dtype dtype = call->outputs[0].dtype;
  bool single = dtype == ND4C_FLOAT32 || dtype == ND4C_COMPLEX64;
  return nd4c_cpu_contraction_run(call, single ? dtype : nd4c_wide_dtype(dtype), product);
}

/* The ops whose products can be large matrices. */
#define OPS(X) X(tensordot) X(multi_dot) X(einsum) X(inner)

#define KERNEL(op) ND4C_CPU_KERNEL("openblas", op, #op, ND4C_CPU_PRIORITY_OPENBLAS, ND4C_CPU_NUMBERS, usable, run),
const nd4c_kernel *const nd4c_cpu_openblas_contraction_kernels[] = {OPS(KERNEL) NULL};
