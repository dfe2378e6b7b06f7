/* matmul, linear, and sums of products over named axes that need no copies, on OpenBLAS. For linear the product is
 * added to its bias and addend, and the activation runs over the result afterwards. dispatch/choice.c asks these
 * kernels after oneDNN's. */
#include <limits.h>
#include <stdio.h>

#include "backends/cpu/openblas/openblas.h"
#include "backends/cpu/support/contraction_product.h"
#include "kernels/reference/support/value.h"

/* Multiplications of one matrix of a batch up to which matrices, not parts of them, are shared out. */
enum { SMALL_MATRIX = 1 << 22 };

static bool fits(const nd4c_cpu_product *p, const nd4c_cpu_matrices *x, bool by_columns_too) {
  for (int32_t axis = p->rank - 2; axis < p->rank; axis++) {
    if (x->shape[axis] > INT_MAX || x->strides[axis] > INT_MAX) {
      return false;
    }
  }
  return nd4c_cpu_matrices_dense(p, x, true) || (by_columns_too && nd4c_cpu_matrices_dense(p, x, false));
}

static const char *refuse(const nd4c_call *call) {
  nd4c_cpu_product p;
  const char *why = nd4c_cpu_product_read(call, &p);
  if (why != NULL) {
    return why;
  }
  if (p.batch * p.m * p.n * p.k < ND4C_PRODUCT_SMALL) {
    return "the product is small";
  }
  if (nd4c_cpu_product_by_columns(call, &p)) {
    nd4c_cpu_product_turn(&p);
  }
  if (!fits(&p, &p.a, true) || !fits(&p, &p.b, true)) {
    return "an operand has neither rows nor columns without gaps, or more than 2^31 of them";
  }
  return fits(&p, &p.y, false) ? NULL : "the result's rows have gaps";
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return nd4c_openblas_accept(refuse(call), reason, reason_size);
}

/* -- one product ------------------------------------------------------------------------------------------------ */

typedef struct job {
  const nd4c_openblas *blas;
  nd4c_cpu_product p;
  int64_t bytes; /* of an element */
  bool adds;     /* the result holds what the product is added to */
} job;

/* A matrix as BLAS wants it: its address, whether it lies by columns, and the distance of its rows (columns). */
typedef struct blas_matrix {
  char *data;
  bool by_columns;
  int leading;
} blas_matrix;

static blas_matrix matrix_of(const job *j, const nd4c_cpu_matrices *x, int64_t index) {
  int32_t row = j->p.rank - 2, column = row + 1;
  bool by_columns = !nd4c_cpu_matrices_dense(&j->p, x, true);
  int32_t outer = by_columns ? column : row, inner = by_columns ? row : column;
  blas_matrix result = {.by_columns = by_columns};
  result.data = (char *)x->tensor->data + nd4c_cpu_matrices_offset(&j->p, x, index) * j->bytes;
  result.leading = (int)(x->shape[outer] == 1 ? x->shape[inner] : x->strides[outer]);
  return result;
}

/* A part of a result: its first row and column, and how many of each. */
typedef struct part {
  int64_t row, rows, column, columns;
} part;

/* A part of the product of one pair of matrices. */
static void multiply(const job *j, int64_t index, part of) {
  blas_matrix a = matrix_of(j, &j->p.a, index), b = matrix_of(j, &j->p.b, index), y = matrix_of(j, &j->p.y, index);
  a.data += of.row * (a.by_columns ? 1 : a.leading) * j->bytes;
  b.data += of.column * (b.by_columns ? b.leading : 1) * j->bytes;
  y.data += (of.row * y.leading + of.column) * j->bytes;
  int m = (int)of.rows, n = (int)of.columns, k = (int)j->p.k;
  int ta = a.by_columns ? CBLAS_TRANSPOSED : CBLAS_AS_IS, tb = b.by_columns ? CBLAS_TRANSPOSED : CBLAS_AS_IS;
  const nd4c_openblas *blas = j->blas;
  const double one[2] = {1, 0}, zero[2] = {0, 0};
  const float onef[2] = {1, 0}, zerof[2] = {0, 0};
  const void *ad = a.data, *bd = b.data;
  switch (j->p.y.tensor->dtype) {
    case ND4C_FLOAT32:
      blas->cblas_sgemm(CBLAS_BY_ROWS, ta, tb, m, n, k, 1, ad, a.leading, bd, b.leading, j->adds ? 1 : 0,
                        (void *)y.data, y.leading);
      break;
    case ND4C_FLOAT64:
      blas->cblas_dgemm(CBLAS_BY_ROWS, ta, tb, m, n, k, 1, ad, a.leading, bd, b.leading, j->adds ? 1 : 0,
                        (void *)y.data, y.leading);
      break;
    case ND4C_COMPLEX64:
      blas->cblas_cgemm(CBLAS_BY_ROWS, ta, tb, m, n, k, onef, ad, a.leading, bd, b.leading, zerof, y.data, y.leading);
      break;
    default:
      blas->cblas_zgemm(CBLAS_BY_ROWS, ta, tb, m, n, k, one, ad, a.leading, bd, b.leading, zero, y.data, y.leading);
      break;
  }
}

/* One row or one column: a product with a vector, whose elements may have gaps. */
static bool multiply_vector(const job *j, int64_t index) {
  nd4c_dtype dtype = j->p.y.tensor->dtype;
  bool single = dtype == ND4C_FLOAT32, row = j->p.m == 1;
  if ((!row && j->p.n != 1) || (!single && dtype != ND4C_FLOAT64)) {
    return false;
  }
  const nd4c_cpu_matrices *matrices = row ? &j->p.b : &j->p.a, *vector = row ? &j->p.a : &j->p.b;
  int32_t along = row ? j->p.rank - 1 : j->p.rank - 2;
  blas_matrix m = matrix_of(j, matrices, index), y = matrix_of(j, &j->p.y, index), v = matrix_of(j, vector, index);
  int step = (int)(vector->shape[along] == 1 ? 1 : vector->strides[along]);
  int y_step = (int)(j->p.y.shape[along] == 1 ? 1 : j->p.y.strides[along]);
  /* M is the matrix in memory order, with dense rows. y = M v, or y = M^T v if the vector has an element for each row
   * of M. */
  int32_t outer = j->p.rank - (m.by_columns ? 1 : 2), inner = j->p.rank - (m.by_columns ? 2 : 1);
  int rows = (int)matrices->shape[outer], columns = (int)matrices->shape[inner];
  int how = (row != m.by_columns) ? CBLAS_TRANSPOSED : CBLAS_AS_IS;
  const void *md = m.data, *vd = v.data;
  if (single) {
    j->blas->cblas_sgemv(CBLAS_BY_ROWS, how, rows, columns, 1, md, m.leading, vd, step, j->adds ? 1 : 0, (void *)y.data,
                         y_step);
  } else {
    j->blas->cblas_dgemv(CBLAS_BY_ROWS, how, rows, columns, 1, md, m.leading, vd, step, j->adds ? 1 : 0, (void *)y.data,
                         y_step);
  }
  return true;
}

/* -- the whole call --------------------------------------------------------------------------------------------- */

static void batch_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  int before = nd4c_openblas_enter(j->blas, 1);
  for (int64_t index = begin; index < end; index++) {
    if (!multiply_vector(j, index)) {
      multiply(j, index, (part){0, j->p.m, 0, j->p.n});
    }
  }
  nd4c_openmp_leave(&j->blas->omp, before);
}

static void row_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const job *j = user;
  int before = nd4c_openblas_enter(j->blas, 1);
  for (int64_t index = 0; index < j->p.batch; index++) {
    multiply(j, index, (part){begin, end - begin, 0, j->p.n});
  }
  nd4c_openmp_leave(&j->blas->omp, before);
}

static void column_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const job *j = user;
  int before = nd4c_openblas_enter(j->blas, 1);
  for (int64_t index = 0; index < j->p.batch; index++) {
    multiply(j, index, (part){0, j->p.m, begin, end - begin});
  }
  nd4c_openmp_leave(&j->blas->omp, before);
}

/* In pieces of at least so many rows or columns, if there are enough. */
static bool multiply_pieces(job *j, int64_t least, int32_t width) {
  const nd4c_cpu_product *p = &j->p;
  const int64_t grain = nd4c_openblas_rows_from(least, p->n, p->k);
  if (p->n > 1 && (p->m >= 2 * grain || (j->blas->omp.set_num_threads == NULL && p->m > 1))) {
    nd4c_cpu_host->parallel_for(p->m, grain, nd4c_openblas_width(j->blas, width), row_range, j);
    return true;
  }
  const int64_t column_grain = nd4c_openblas_rows_from(least, p->m, p->k);
  if (p->m > 1 && p->n >= 2 * column_grain) {
    nd4c_cpu_host->parallel_for(p->n, column_grain, nd4c_openblas_width(j->blas, width), column_range, j);
    return true;
  }
  return false;
}

/* OpenBLAS divides only products with vectors itself: of 100 x 10^5 by 10^5 x 100 its two threads made 2.4 times one
 * thread's time. */
static void multiply_all(job *j, int32_t width) {
  const nd4c_cpu_product *p = &j->p;
  if (p->batch > 1 && p->m * p->n * p->k <= SMALL_MATRIX) {
    nd4c_cpu_host->parallel_for(p->batch, 1, width, batch_range, j);
    return;
  }
  if (multiply_pieces(j, ND4C_OPENBLAS_MANY, width) || multiply_pieces(j, ND4C_OPENBLAS_FEW, width)) {
    return;
  }
  int before = nd4c_openblas_enter(j->blas, p->m > 1 && p->n > 1 ? 1 : width);
  for (int64_t index = 0; index < p->batch; index++) {
    if (!multiply_vector(j, index)) {
      multiply(j, index, (part){0, p->m, 0, p->n});
    }
  }
  nd4c_openmp_leave(&j->blas->omp, before);
}

static nd4c_status run(const nd4c_call *call) {
  job j = {.blas = nd4c_openblas_get()};
  nd4c_cpu_product_read(call, &j.p); /* usable has seen that it can be read */
  if (nd4c_cpu_product_by_columns(call, &j.p)) {
    nd4c_cpu_product_turn(&j.p);
  }
  ND4C_CPU_FAIL_IF(j.blas == NULL, ND4C_MEMORY, "%s: no memory for OpenBLAS's table", call->op->name);
  j.bytes = nd4c_reference_bytes(call->outputs[0].dtype);
  j.adds = nd4c_cpu_product_start(&j.p, call->width);
  multiply_all(&j, call->width);
  nd4c_cpu_product_finish(&j.p, call->width);
  return ND4C_OK;
}

#define REALS (ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64))
#define KERNEL(op, name, priority, dtypes) ND4C_CPU_KERNEL("openblas", op, name, priority, dtypes, usable, run)
#define PRODUCT(op, dtypes) KERNEL(op, #op, ND4C_CPU_PRIORITY_OPENBLAS, dtypes)
/* Before those of contraction.c, which copy operands. */
#define STRIDED(op) KERNEL(op, "strided_" #op, ND4C_CPU_PRIORITY_OPENBLAS + 1, REALS | ND4C_CPU_COMPLEXES)

const nd4c_kernel *const nd4c_cpu_openblas_contraction_matmul_kernels[] = {PRODUCT(matmul, REALS | ND4C_CPU_COMPLEXES),
                                                                           PRODUCT(linear, REALS),
                                                                           STRIDED(einsum),
                                                                           STRIDED(tensordot),
                                                                           STRIDED(inner),
                                                                           STRIDED(multi_dot),
                                                                           NULL};
