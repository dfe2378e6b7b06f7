/* Ops on matrices through LAPACKE on OpenBLAS, in double and double complex: float32 gains the digits that make its
 * results as good as rounded once, for twice the time of LAPACK's single precision. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/dense.h"
#include "backends/cpu/openblas.h"

/* Below this many multiplications the reference is as fast, and opens no library. */
enum { SMALL = 2048 };
/* Workspaces of divide and conquer are counted in int: a few squares of this. */
enum { WIDEST = 16383 };

enum { ROOM_WORK = ND4C_SPACE_METHOD, ROOM_WHOLE, ROOM_REAL, ROOM_TAU, ROOM_VECTORS };

static const double one[2] = {1, 0}, zero[2] = {0, 0};

static const nd4c_lapack *lapack(void) {
  return &nd4c_openblas_get()->lapack; /* usable has seen it */
}

/* Workspace as asked for in the first number of `answer`. */
static void *take_work(nd4c_cpu_space *space, const double *answer, int64_t bytes, int *count) {
  *count = answer[0] < 1 ? 1 : (int)answer[0];
  return nd4c_cpu_space_take(space, ROOM_WORK, *count, bytes);
}

/* -- what double and double complex share ---------------------------------------------------------------------------
 */

/* The C BLAS takes real factors by value, complex ones by address. */
#define BY_VALUE(x) (x)[0]
#define BY_ADDRESS(x) (x)

#define SHARED(t, prefix, form_q, adjoint_value, size, PASS)                                                          \
  static int64_t t##_cholesky(int64_t n, void *a) {                                                                   \
    return lapack()->LAPACKE_##prefix##potrf_work(LAPACKE_BY_COLUMNS, 'L', (int)n, a, (int)n);                        \
  }                                                                                                                   \
  static int64_t t##_lu(nd4c_cpu_space *space, int64_t rows, int64_t columns, void *a, int64_t *pivots) {             \
    int m = (int)rows, n = (int)columns, least = m < n ? m : n;                                                       \
    int *exchanged = nd4c_cpu_space_take(space, ROOM_WHOLE, least, sizeof *exchanged);                                \
    if (exchanged == NULL) {                                                                                          \
      return ND4C_DENSE_NO_MEMORY;                                                                                    \
    }                                                                                                                 \
    int info = lapack()->LAPACKE_##prefix##getrf_work(LAPACKE_BY_COLUMNS, m, n, a, m, exchanged);                     \
    for (int i = 0; i < least; i++) {                                                                                 \
      pivots[i] = exchanged[i] - 1;                                                                                   \
    }                                                                                                                 \
    return info;                                                                                                      \
  }                                                                                                                   \
  static void t##_triangular(bool upper, bool adjoint, bool unit, int64_t rows, int64_t columns, const void *a,       \
                             void *b) {                                                                               \
    int n = (int)rows, k = (int)columns;                                                                              \
    nd4c_openblas_get()->cblas_##prefix##trsm(CBLAS_BY_COLUMNS, CBLAS_LEFT, upper ? CBLAS_UPPER : CBLAS_LOWER,        \
                                              adjoint ? (adjoint_value) : CBLAS_AS_IS,                                \
                                              unit ? CBLAS_UNIT : CBLAS_NON_UNIT, n, k, PASS(one), a, n, b, n);       \
  }                                                                                                                   \
  static int64_t t##_qr(nd4c_cpu_space *space, int64_t rows, int64_t all, void *a, int64_t columns, void *q) {        \
    const nd4c_lapack *l = lapack();                                                                                  \
    int m = (int)rows, n = (int)all, wanted = (int)columns, least = m < n ? m : n, count = 0;                         \
    double answer[2] = {0}, other[2] = {0};                                                                           \
    void *tau = nd4c_cpu_space_take(space, ROOM_TAU, least, size);                                                    \
    l->LAPACKE_##prefix##geqrf_work(LAPACKE_BY_COLUMNS, m, n, a, m, tau, answer, -1);                                 \
    l->LAPACKE_##prefix##form_q##_work(LAPACKE_BY_COLUMNS, m, wanted, least, q, m, tau, other, -1);                   \
    void *work = take_work(space, answer[0] > other[0] ? answer : other, size, &count);                               \
    if (tau == NULL || work == NULL) {                                                                                \
      return ND4C_DENSE_NO_MEMORY;                                                                                    \
    }                                                                                                                 \
    l->LAPACKE_##prefix##geqrf_work(LAPACKE_BY_COLUMNS, m, n, a, m, tau, work, count);                                \
    memset(q, 0, (size_t)(rows * columns * (size)));                                                                  \
    memcpy(q, a, (size_t)(rows * (least < wanted ? least : wanted) * (size)));                                        \
    return l->LAPACKE_##prefix##form_q##_work(LAPACKE_BY_COLUMNS, m, wanted, least, q, m, tau, work, count);          \
  }                                                                                                                   \
  static void t##_product(bool adjoint, int64_t rows, int64_t columns, int64_t inner, const void *a, const void *b,   \
                          void *c) {                                                                                  \
    int m = (int)rows, n = (int)columns, k = (int)inner, leading = adjoint ? k : m;                                   \
    if (k == 0) { /* leading dimensions may not be 0 */                                                               \
      memset(c, 0, (size_t)(rows * columns * (size)));                                                                \
    } else if (m > 0 && n > 0) {                                                                                      \
      nd4c_openblas_get()->cblas_##prefix##gemm(CBLAS_BY_COLUMNS, adjoint ? (adjoint_value) : CBLAS_AS_IS,            \
                                                CBLAS_AS_IS, m, n, k, PASS(one), a, leading, b, k, PASS(zero), c, m); \
    }                                                                                                                 \
  }

SHARED(real, d, orgqr, CBLAS_TRANSPOSED, 8, BY_VALUE)
SHARED(complex, z, ungqr, CBLAS_ADJOINT, 16, BY_ADDRESS)

/* -- singular values ------------------------------------------------------------------------------------------------
 */

typedef struct svd_call {
  char job;
  int m, n, ldvt;
  void *a, *u, *vt;
  double *s, *rwork;
  int *iwork;
} svd_call;

static int gesdd(bool complex_numbers, const svd_call *c, void *work, int count) {
  const nd4c_lapack *l = lapack();
  return complex_numbers ? l->LAPACKE_zgesdd_work(LAPACKE_BY_COLUMNS, c->job, c->m, c->n, c->a, c->m, c->s, c->u, c->m,
                                                  c->vt, c->ldvt, work, count, c->rwork, c->iwork)
                         : l->LAPACKE_dgesdd_work(LAPACKE_BY_COLUMNS, c->job, c->m, c->n, c->a, c->m, c->s, c->u, c->m,
                                                  c->vt, c->ldvt, work, count, c->iwork);
}

static int64_t svd(bool complex_numbers, nd4c_cpu_space *space, int64_t m, int64_t n, void *a, bool full, double *s,
                   void *u, void *vh) {
  int64_t least = m < n ? m : n, most = m < n ? n : m;
  double answer[2] = {0}, nothing[2] = {0};
  int count = 0;
  svd_call c = {u == NULL ? 'N' : full ? 'A' : 'S', (int)m, (int)n, (int)(full ? n : least), a, u, vh, s, NULL, NULL};
  if (u == NULL) {
    c.u = c.vt = nothing;
  }
  c.iwork = nd4c_cpu_space_take(space, ROOM_WHOLE, 8 * least, sizeof(int));
  int64_t reals = 5 * least * least + 7 * least, mixed = 2 * most * least + 2 * least * least + least;
  c.rwork =
      nd4c_cpu_space_take(space, ROOM_REAL, complex_numbers ? (reals > mixed ? reals : mixed) : 1, sizeof(double));
  if (c.iwork == NULL || c.rwork == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  gesdd(complex_numbers, &c, answer, -1);
  void *work = take_work(space, answer, complex_numbers ? 16 : 8, &count);
  return work == NULL ? ND4C_DENSE_NO_MEMORY : gesdd(complex_numbers, &c, work, count);
}

static int64_t real_svd(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, bool full, double *s, void *u, void *vh) {
  return svd(false, space, m, n, a, full, s, u, vh);
}

static int64_t complex_svd(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, bool full, double *s, void *u,
                           void *vh) {
  return svd(true, space, m, n, a, full, s, u, vh);
}

/* -- eigenvalues ----------------------------------------------------------------------------------------------------
 */

static int64_t real_eigh(nd4c_cpu_space *space, int64_t order, void *a, double *w, void *v) {
  int n = (int)order, count = 0, whole = 0;
  char job = v != NULL ? 'V' : 'N';
  double answer[2] = {0};
  lapack()->LAPACKE_dsyevd_work(LAPACKE_BY_COLUMNS, job, 'L', n, a, n, w, answer, -1, &whole, -1);
  int *iwork = nd4c_cpu_space_take(space, ROOM_WHOLE, whole, sizeof *iwork);
  void *work = take_work(space, answer, 8, &count);
  if (iwork == NULL || work == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  int info = lapack()->LAPACKE_dsyevd_work(LAPACKE_BY_COLUMNS, job, 'L', n, a, n, w, work, count, iwork, whole);
  if (v != NULL) {
    memcpy(v, a, (size_t)(order * order * 8));
  }
  return info;
}

static int64_t complex_eigh(nd4c_cpu_space *space, int64_t order, void *a, double *w, void *v) {
  int n = (int)order, count = 0, whole = 0;
  char job = v != NULL ? 'V' : 'N';
  double answer[2] = {0}, reals = 0;
  lapack()->LAPACKE_zheevd_work(LAPACKE_BY_COLUMNS, job, 'L', n, a, n, w, answer, -1, &reals, -1, &whole, -1);
  int real_count = (int)reals;
  int *iwork = nd4c_cpu_space_take(space, ROOM_WHOLE, whole, sizeof *iwork);
  double *rwork = nd4c_cpu_space_take(space, ROOM_REAL, real_count, sizeof *rwork);
  void *work = take_work(space, answer, 16, &count);
  if (iwork == NULL || rwork == NULL || work == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  int info = lapack()->LAPACKE_zheevd_work(LAPACKE_BY_COLUMNS, job, 'L', n, a, n, w, work, count, rwork, real_count,
                                           iwork, whole);
  if (v != NULL) {
    memcpy(v, a, (size_t)(order * order * 16));
  }
  return info;
}

/* Pairs of conjugate values have their vector's parts in two columns. */
static void unpack(int64_t n, const double *wr, const double *wi, const double *vr, double complex *w,
                   double complex *v) {
  for (int64_t j = 0; j < n; j++) {
    w[j] = nd4c_complex_make(wr[j], wi[j]);
    const double *real = vr + (wi[j] < 0 ? j - 1 : j) * n, *imaginary = real + n;
    for (int64_t i = 0; v != NULL && i < n; i++) {
      v[j * n + i] = wi[j] == 0 ? nd4c_complex_make(real[i], 0)
                                : nd4c_complex_make(real[i], wi[j] < 0 ? -imaginary[i] : imaginary[i]);
    }
  }
}

static int64_t real_eig(nd4c_cpu_space *space, int64_t order, void *a, double complex *w, double complex *v) {
  int n = (int)order, count = 0;
  char job = v != NULL ? 'V' : 'N';
  double answer[2] = {0}, nothing = 0;
  double *parts = nd4c_cpu_space_take(space, ROOM_REAL, 2 * order, sizeof *parts);
  double *vr = nd4c_cpu_space_take(space, ROOM_VECTORS, v != NULL ? order * order : 1, sizeof *vr);
  if (parts == NULL || vr == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  lapack()->LAPACKE_dgeev_work(LAPACKE_BY_COLUMNS, 'N', job, n, a, n, parts, parts + n, &nothing, 1, vr, n, answer, -1);
  void *work = take_work(space, answer, 8, &count);
  if (work == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  int info = lapack()->LAPACKE_dgeev_work(LAPACKE_BY_COLUMNS, 'N', job, n, a, n, parts, parts + n, &nothing, 1, vr, n,
                                          work, count);
  unpack(order, parts, parts + order, vr, w, v);
  return info;
}

static int64_t complex_eig(nd4c_cpu_space *space, int64_t order, void *a, double complex *w, double complex *v) {
  int n = (int)order, count = 0;
  char job = v != NULL ? 'V' : 'N';
  double answer[2] = {0}, nothing[2] = {0};
  void *vr = v != NULL ? (void *)v : nothing;
  double *rwork = nd4c_cpu_space_take(space, ROOM_REAL, 2 * order, sizeof *rwork);
  if (rwork == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  lapack()->LAPACKE_zgeev_work(LAPACKE_BY_COLUMNS, 'N', job, n, a, n, w, nothing, 1, vr, n, answer, -1, rwork);
  void *work = take_work(space, answer, 16, &count);
  if (work == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  return lapack()->LAPACKE_zgeev_work(LAPACKE_BY_COLUMNS, 'N', job, n, a, n, w, nothing, 1, vr, n, work, count, rwork);
}

/* -- kernels --------------------------------------------------------------------------------------------------------
 */

#define METHODS(t, is_complex) \
  { is_complex, t##_cholesky, t##_lu, t##_triangular, t##_qr, t##_svd, t##_eigh, t##_eig, t##_product }
static const nd4c_cpu_dense real_methods = METHODS(real, false);
static const nd4c_cpu_dense complex_methods = METHODS(complex, true);

static int enter(int32_t width) {
  return nd4c_openblas_enter(nd4c_openblas_get(), width);
}

static void leave(int before) {
  nd4c_openblas_leave(nd4c_openblas_get(), before);
}

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
    const char *ord = call->attrs[ND4C_ATTR_matrix_norm_ord].as.string;
    if (ord == NULL || (strcmp(ord, "nuc") != 0 && strcmp(ord, "2") != 0 && strcmp(ord, "-2") != 0)) {
      return "the norm needs no factorisation";
    }
  }
  return NULL;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse(call);
  const nd4c_openblas *blas = why == NULL ? nd4c_openblas_get() : NULL;
  if (why == NULL && blas == NULL) {
    why = "no memory for OpenBLAS's table";
  } else if (why == NULL && !blas->ready) {
    why = blas->text;
  } else if (why == NULL && !blas->lapack.ready) {
    why = blas->lapack.text;
  }
  if (why != NULL) {
    snprintf(reason, reason_size, "%s", why);
  }
  return why == NULL;
}

static nd4c_status run(const nd4c_call *call, nd4c_cpu_dense_one op) {
  const nd4c_openblas *blas = nd4c_openblas_get();
  if (blas == NULL || !blas->lapack.ready) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for OpenBLAS's table", call->op->name);
  }
  const nd4c_cpu_dense_engine engine = {.methods = {&real_methods, &complex_methods},
                                        .enter = enter,
                                        .leave = leave,
                                        .splits = blas->omp_set_num_threads != NULL};
  return nd4c_cpu_dense_run(call, &engine, op);
}

#define KERNEL(op_name)                                                                          \
  static nd4c_status op_name##_run(const nd4c_call *call) {                                      \
    return run(call, nd4c_cpu_dense_##op_name);                                                  \
  }                                                                                              \
  static const nd4c_kernel openblas_##op_name = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),       \
                                                 .op_version = 1,                                \
                                                 .op = #op_name,                                 \
                                                 .engine = "openblas",                           \
                                                 .name = "openblas." #op_name,                   \
                                                 .priority = ND4C_CPU_PRIORITY_OPENBLAS,         \
                                                 .dtypes = ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES, \
                                                 .usable = usable,                               \
                                                 .run = op_name##_run};
ND4C_CPU_DENSE_OPS(KERNEL)

#define LISTED(op) &openblas_##op,
const nd4c_kernel *const nd4c_cpu_openblas_decomposition_kernels[] = {ND4C_CPU_DENSE_OPS(LISTED) NULL};
