/* Engine reference: its own factorisations, in double, as methods for the ops of support/decomposition.h; vector_norm.
 * dispatch/choice.c asks these kernels last, after those of all other engines. */
#include "backends/cpu/support/decomposition.h"
#include "kernels/reference/decomposition/norm.h"

#define METHODS(t, number, is_complex)                                                                            \
  static int64_t t##_cholesky(int64_t n, void *a) {                                                               \
    return nd4c_dense_##t##_cholesky(n, a);                                                                       \
  }                                                                                                               \
  static int64_t t##_lu(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, int64_t *pivots) {                  \
    (void)space;                                                                                                  \
    return nd4c_dense_##t##_lu(m, n, a, pivots);                                                                  \
  }                                                                                                               \
  static void t##_triangular(bool upper, bool adjoint, bool unit, int64_t n, int64_t k, const void *a, void *b) { \
    nd4c_dense_##t##_triangular(upper, adjoint, unit, n, k, a, b);                                                \
  }                                                                                                               \
  static int64_t t##_qr(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, int64_t columns, void *q) {         \
    number *work = nd4c_cpu_space_take(space, ND4C_SPACE_METHOD, m < n ? m : n, sizeof *work);                    \
    if (work == NULL) {                                                                                           \
      return ND4C_DENSE_NO_MEMORY;                                                                                \
    }                                                                                                             \
    nd4c_dense_##t##_qr(m, n, a, columns, q, work);                                                               \
    return ND4C_DENSE_FINE;                                                                                       \
  }                                                                                                               \
  static void t##_adjoint(int64_t m, int64_t n, const number *a, number *to) {                                    \
    for (int64_t j = 0; j < n; j++) {                                                                             \
      for (int64_t i = 0; i < m; i++) {                                                                           \
        to[i * n + j] = t##_conjugate(a[j * m + i]);                                                              \
      }                                                                                                           \
    }                                                                                                             \
  }                                                                                                               \
  /* The kernel wants m >= n and gives v; a wide matrix goes through its adjoint. */                              \
  static int64_t t##_svd(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, bool full, void *s, void *u,       \
                         void *vh) {                                                                              \
    bool wide = m < n;                                                                                            \
    int64_t tall = wide ? n : m, least = wide ? m : n, columns = full ? tall : least;                             \
    number *work = nd4c_cpu_space_take(space, ND4C_SPACE_METHOD, tall * least + least, sizeof *work);             \
    number *left = nd4c_cpu_space_take(space, ND4C_SPACE_METHOD + 1, tall * columns, sizeof *left);               \
    number *right = nd4c_cpu_space_take(space, ND4C_SPACE_METHOD + 2, least * least, sizeof *right);              \
    number *turned = nd4c_cpu_space_take(space, ND4C_SPACE_METHOD + 3, tall * least, sizeof *turned);             \
    if (work == NULL || left == NULL || right == NULL || turned == NULL) {                                        \
      return ND4C_DENSE_NO_MEMORY;                                                                                \
    }                                                                                                             \
    if (wide) {                                                                                                   \
      t##_adjoint(m, n, a, turned);                                                                               \
    }                                                                                                             \
    int64_t info = nd4c_dense_##t##_svd(tall, least, wide ? turned : a, columns, s,                               \
                                        u == NULL ? NULL                                                          \
                                        : wide    ? left                                                          \
                                                  : u,                                                               \
                                        u == NULL ? NULL                                                          \
                                        : wide    ? u                                                             \
                                                  : right,                                                           \
                                        work);                                                                    \
    if (u != NULL && wide) {                                                                                      \
      t##_adjoint(tall, columns, left, vh);                                                                       \
    } else if (u != NULL) {                                                                                       \
      t##_adjoint(least, least, right, vh);                                                                       \
    }                                                                                                             \
    return info;                                                                                                  \
  }                                                                                                               \
  static int64_t t##_eigh(nd4c_cpu_space *space, int64_t n, void *a, void *w, void *v) {                          \
    (void)space;                                                                                                  \
    return nd4c_dense_##t##_eigh(n, a, w, v);                                                                     \
  }                                                                                                               \
  static int64_t t##_eig(nd4c_cpu_space *space, int64_t n, void *a, double complex *w, double complex *v) {       \
    double complex *work = nd4c_cpu_space_take(space, ND4C_SPACE_METHOD, 3 * n * n + n, sizeof *work);            \
    return work == NULL ? ND4C_DENSE_NO_MEMORY : nd4c_dense_##t##_eig(n, a, w, v, work);                          \
  }                                                                                                               \
  static void t##_product(bool adjoint, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c) { \
    nd4c_dense_##t##_product(adjoint, m, n, k, a, b, c);                                                          \
  }                                                                                                               \
  static const nd4c_cpu_dense t##_methods = {.complex_numbers = is_complex,                                       \
                                             .cholesky = t##_cholesky,                                            \
                                             .lu = t##_lu,                                                        \
                                             .triangular = t##_triangular,                                        \
                                             .qr = t##_qr,                                                        \
                                             .svd = t##_svd,                                                      \
                                             .eigh = t##_eigh,                                                    \
                                             .eig = t##_eig,                                                      \
                                             .product = t##_product};

static double real_conjugate(double x) {
  return x;
}
static double complex complex_conjugate(double complex x) {
  return conj(x);
}
METHODS(real, double, false)
METHODS(complex, double complex, true)

static const nd4c_cpu_dense_engine engine = {.methods = {&real_methods, &complex_methods}};

#define RUN(op)                                                    \
  static nd4c_status op##_run(const nd4c_call *call) {             \
    return nd4c_cpu_dense_run(call, &engine, nd4c_cpu_dense_##op); \
  }
ND4C_CPU_DENSE_OPS(RUN)

/* -- vector_norm ------------------------------------------------------------------------------------------------ */

ND4C_CPU_RANGE(norm_range, nd4c_ref_vector_norm)

static nd4c_status vector_norm_run(const nd4c_call *call) {
  nd4c_ref_norm args = {
      .x = nd4c_cpu_ref_input(call, 0), .y = nd4c_cpu_ref_output(call, 0), .ord = ND4C_REAL_OF(call, vector_norm_ord)};
  int64_t results = call->outputs[0].size;
  nd4c_cpu_reduced_axes(args.x.rank, &call->attrs[ND4C_ATTR_vector_norm_axes], args.reduced);
  nd4c_cpu_reduction_strides(args.x.rank, args.reduced, ND4C_FLAG_OF(call, vector_norm_keepdims), &call->outputs[0],
                             args.strides);
  return nd4c_cpu_reference_parallel(call, results, results > 0 ? call->inputs[0].size / results : 0, norm_range,
                                     &args);
}

#define KERNEL(op) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES, op##_run),
const nd4c_kernel *const nd4c_cpu_reference_decomposition_kernels[] = {
    ND4C_CPU_DENSE_OPS(KERNEL)
        ND4C_CPU_REFERENCE_KERNEL(vector_norm, ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES, vector_norm_run),
    NULL};
