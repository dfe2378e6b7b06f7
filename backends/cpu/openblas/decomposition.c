/* Ops on matrices through LAPACKE on OpenBLAS, in the precision of the operands: the methods for
 * support/decomposition.h, and which calls they serve. dispatch/choice.c asks these kernels before the reference's. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/openblas/decomposition_methods.h"

/* Below this many multiplications the reference is as fast and needs no library. */
enum { SMALL = 2048 };
/* Workspaces of divide and conquer are counted in int: a few squares of this. */
enum { WIDEST = 16383 };

static const nd4c_lapack *lapack(void) {
  return &nd4c_openblas_get()->lapack; /* usable has seen it */
}

/* Exchanges as LAPACK counts them. */
static int *lapack_pivots(nd4c_cpu_space *space, int64_t n, const int64_t *pivots) {
  int *exchanged = nd4c_cpu_space_take(space, ND4C_ROOM_WHOLE, n, sizeof *exchanged);
  for (int64_t i = 0; exchanged != NULL && i < n; i++) {
    exchanged[i] = (int)pivots[i] + 1;
  }
  return exchanged;
}

static int enter(int32_t width) {
  return nd4c_openblas_enter(nd4c_openblas_get(), width);
}

static void leave(int before) {
  nd4c_openmp_leave(&nd4c_openblas_get()->omp, before);
}

/* Inside an op of products a factorisation that is faster on one thread gets one; see support/decomposition.c. */
static int enter_factorisation(int64_t rows, int64_t columns, int64_t least) {
  return (double)rows * (double)columns * (double)least < ND4C_DENSE_LEAST_SHARED ? enter(1) : 0;
}

/* -- products in pieces ------------------------------------------------------------------------------------------- */

/* c = a b, or c = a^H b, by columns. */
typedef struct product {
  void (*multiply)(const struct product *p, int64_t begin, int64_t end); /* these columns of c */
  bool adjoint;
  int64_t rows, inner;
  const char *a, *b;
  char *c;
} product;

static void product_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const product *p = user;
  (void)worker;
  const int before = enter(1);
  p->multiply(p, begin, end);
  leave(before);
}

/* Threads of OpenBLAS's own division of a product wait for each other; pieces do not. */
static void product_share(product *p, int64_t columns) {
  const nd4c_openblas *blas = nd4c_openblas_get();
  const int32_t width = blas->omp.set_num_threads != NULL ? blas->omp.get_max_threads() : 1;
  nd4c_cpu_parallel(columns, nd4c_openblas_rows(p->rows, p->inner), width, product_range, p);
}

/* -- what all types of numbers share ------------------------------------------------------------------------------ */

/* The C BLAS takes real factors by value, complex ones by address. */
#define BY_VALUE(x) (x)[0]
#define BY_ADDRESS(x) (x)

#define SHARED(t, prefix, part, size, adjoint_value, PASS)                                                          \
  static const part t##_one[2] = {1, 0}, t##_zero[2] = {0, 0};                                                      \
  static int64_t t##_cholesky(int64_t n, void *a) {                                                                 \
    return lapack()->LAPACKE_##prefix##potrf_work(LAPACKE_BY_COLUMNS, 'L', (int)n, a, (int)n);                      \
  }                                                                                                                 \
  static int64_t t##_lu(nd4c_cpu_space *space, int64_t rows, int64_t columns, void *a, int64_t *pivots) {           \
    int m = (int)rows, n = (int)columns, least = m < n ? m : n;                                                     \
    int *exchanged = nd4c_cpu_space_take(space, ND4C_ROOM_WHOLE, least, sizeof *exchanged);                         \
    if (exchanged == NULL) {                                                                                        \
      return ND4C_DENSE_NO_MEMORY;                                                                                  \
    }                                                                                                               \
    int before = enter_factorisation(rows, columns, least);                                                         \
    int info = lapack()->LAPACKE_##prefix##getrf_work(LAPACKE_BY_COLUMNS, m, n, a, m, exchanged);                   \
    leave(before);                                                                                                  \
    for (int i = 0; i < least; i++) {                                                                               \
      pivots[i] = exchanged[i] - 1;                                                                                 \
    }                                                                                                               \
    return info;                                                                                                    \
  }                                                                                                                 \
  static int64_t t##_invert(nd4c_cpu_space *space, int64_t order, void *a, const int64_t *pivots) {                 \
    int n = (int)order, count = 0;                                                                                  \
    int *exchanged = lapack_pivots(space, order, pivots);                                                           \
    part answer[2] = {0};                                                                                           \
    lapack()->LAPACKE_##prefix##getri_work(LAPACKE_BY_COLUMNS, n, a, n, exchanged, answer, -1);                     \
    void *work = nd4c_openblas_work(space, (double)answer[0], size, &count);                                        \
    if (exchanged == NULL || work == NULL) {                                                                        \
      return ND4C_DENSE_NO_MEMORY;                                                                                  \
    }                                                                                                               \
    return lapack()->LAPACKE_##prefix##getri_work(LAPACKE_BY_COLUMNS, n, a, n, exchanged, work, count);             \
  }                                                                                                                 \
  static void t##_triangular(bool upper, bool adjoint, bool unit, int64_t rows, int64_t columns, const void *a,     \
                             void *b) {                                                                             \
    int n = (int)rows, k = (int)columns;                                                                            \
    nd4c_openblas_get()->cblas_##prefix##trsm(CBLAS_BY_COLUMNS, CBLAS_LEFT, upper ? CBLAS_UPPER : CBLAS_LOWER,      \
                                              adjoint ? (adjoint_value) : CBLAS_AS_IS,                              \
                                              unit ? CBLAS_UNIT : CBLAS_NON_UNIT, n, k, PASS(t##_one), a, n, b, n); \
  }                                                                                                                 \
  static void t##_multiply(const product *p, int64_t begin, int64_t end) {                                          \
    int m = (int)p->rows, n = (int)(end - begin), k = (int)p->inner, leading = p->adjoint ? k : m;                  \
    nd4c_openblas_get()->cblas_##prefix##gemm(CBLAS_BY_COLUMNS, p->adjoint ? (adjoint_value) : CBLAS_AS_IS,         \
                                              CBLAS_AS_IS, m, n, k, PASS(t##_one), (const void *)p->a, leading,     \
                                              (const void *)(p->b + begin * k * (size)), k, PASS(t##_zero),         \
                                              (void *)(p->c + begin * m * (size)), m);                              \
  }                                                                                                                 \
  static void t##_product(bool adjoint, int64_t rows, int64_t columns, int64_t inner, const void *a, const void *b, \
                          void *c) {                                                                                \
    product p = {t##_multiply, adjoint, rows, inner, a, b, c};                                                      \
    if (inner == 0) { /* leading dimensions may not be 0 */                                                         \
      memset(c, 0, (size_t)(rows * columns * (size)));                                                              \
    } else if (rows > 0 && columns > 0) {                                                                           \
      product_share(&p, columns);                                                                                   \
    }                                                                                                               \
  }

SHARED(real, d, double, 8, CBLAS_TRANSPOSED, BY_VALUE)
SHARED(complex, z, double, 16, CBLAS_ADJOINT, BY_ADDRESS)
SHARED(real_single, s, float, 4, CBLAS_TRANSPOSED, BY_VALUE)
SHARED(complex_single, c, float, 8, CBLAS_ADJOINT, BY_ADDRESS)

/* -- kernels ------------------------------------------------------------------------------------------------------ */

#define METHODS(t, is_complex, is_single)                                                                            \
  static const nd4c_cpu_dense t##_methods = {.complex_numbers = is_complex,                                          \
                                             .single = is_single,                                                    \
                                             .cholesky = t##_cholesky,                                               \
                                             .lu = t##_lu,                                                           \
                                             .triangular = t##_triangular,                                           \
                                             .qr = nd4c_openblas_##t##_qr,                                           \
                                             .svd = nd4c_openblas_##t##_svd,                                         \
                                             .eigh = nd4c_openblas_##t##_eigh,                                       \
                                             .eig = is_complex ? nd4c_openblas_complex_eig : nd4c_openblas_real_eig, \
                                             .product = t##_product,                                                 \
                                             .invert = t##_invert};
METHODS(real, false, false)
METHODS(complex, true, false)
METHODS(real_single, false, true)
METHODS(complex_single, true, true)

static bool has_workspace(nd4c_op op) {
  return op == ND4C_OP_svd || op == ND4C_OP_svdvals || op == ND4C_OP_eigh || op == ND4C_OP_eigvalsh ||
         op == ND4C_OP_pinv || op == ND4C_OP_matrix_rank || op == ND4C_OP_lstsq || op == ND4C_OP_matrix_norm;
}

static const char *refuse(const nd4c_call *call) {
  const nd4c_tensor *a = &call->inputs[0];
  int64_t m = a->shape[a->rank - 2], n = a->shape[a->rank - 1], least = m < n ? m : n;
  if ((double)m * (double)n * (double)least < SMALL) {
    return "the matrices are small";
  }
  if (m > INT_MAX || n > INT_MAX) {
    return "an axis of the matrices is longer than 2^31";
  }
  if (least > WIDEST && has_workspace(call->op->op)) {
    return "the workspace would be larger than 2^31 numbers";
  }
  for (int32_t i = 1; i < call->input_count; i++) {
    const nd4c_tensor *b = &call->inputs[i];
    if (b->rank > 1 && (b->size == 0 || b->shape[b->rank - 1] > INT_MAX)) {
      return "the right-hand side has no columns, or more than 2^31";
    }
  }
  if (call->op->op == ND4C_OP_matrix_norm) {
    if (!nd4c_norm_is_spectral(call->attrs[ND4C_ATTR_matrix_norm_ord].as.i)) {
      return "the norm needs no factorisation";
    }
  }
  return NULL;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  if (!nd4c_openblas_accept(refuse(call), reason, reason_size)) {
    return false;
  }
  return lapack()->ready || nd4c_cpu_decline(reason, reason_size, "%s", lapack()->text);
}

static nd4c_status run(const nd4c_call *call, nd4c_cpu_dense_one op) {
  const nd4c_openblas *blas = nd4c_openblas_get();
  ND4C_CPU_FAIL_IF(blas == NULL || !blas->lapack.ready, ND4C_MEMORY, "%s: no memory for OpenBLAS's table",
                   call->op->name);
  const nd4c_cpu_dense_engine engine = {
      .methods = {&real_methods, &complex_methods, &real_single_methods, &complex_single_methods},
      .enter = enter,
      .leave = leave,
      .splits = blas->omp.set_num_threads != NULL};
  return nd4c_cpu_dense_run(call, &engine, op);
}

#define RUN(op_name)                                        \
  static nd4c_status op_name##_run(const nd4c_call *call) { \
    return run(call, nd4c_cpu_dense_##op_name);             \
  }
ND4C_CPU_DENSE_OPS(RUN)

#define KERNEL(op)                                                                                               \
  ND4C_CPU_KERNEL("openblas", op, #op, ND4C_CPU_PRIORITY_OPENBLAS, ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES, usable, \
                  op##_run, .scratch_bytes = nd4c_cpu_dense_scratch),
const nd4c_kernel *const nd4c_cpu_openblas_decomposition_kernels[] = {ND4C_CPU_DENSE_OPS(KERNEL) NULL};
