/* The parts of contraction_product.h around a product: linear's bias and addend before it, and its activation after it.
 * simd/contraction/contraction.c and openblas/contraction_matmul.c call them. */
#include <math.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/contraction_product.h"

typedef struct job {
  const nd4c_cpu_product *p;
  const nd4c_gemm_loops *loops;
  nd4c_unary_loop activate;
  int64_t bytes;
} job;

static job job_make(const nd4c_cpu_product *p) {
  bool single = p->y.tensor->dtype == ND4C_FLOAT32;
  return (job){.p = p, .loops = single ? nd4c_simd.gemm->float32 : nd4c_simd.gemm->float64, .bytes = single ? 4 : 8};
}

/* Element 0 of row `row`, counted over all matrices of the batch. */
static char *row_of(const job *j, const nd4c_cpu_matrices *x, int64_t row) {
  const nd4c_cpu_product *p = j->p;
  int64_t offset = nd4c_cpu_matrices_offset(p, x, row / p->m) + row % p->m * x->strides[p->rank - 2];
  return (char *)x->tensor->data + offset * j->bytes;
}

static int64_t grain(const nd4c_cpu_product *p) {
  return 16384 / p->n + 1;
}

static void start_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_cpu_matrices *addend = &j->p->addend;
  const void *bias = j->p->bias != NULL ? j->p->bias->data : NULL;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    const void *from = addend->tensor != NULL ? row_of(j, addend, row) : NULL;
    int64_t step = addend->tensor != NULL ? addend->strides[j->p->rank - 1] : 0;
    j->loops->start(j->p->n, bias, from, step, row_of(j, &j->p->y, row));
  }
}

bool nd4c_cpu_product_start(const nd4c_cpu_product *product, int32_t width) {
  if (product->bias == NULL && product->addend.tensor == NULL) {
    return false;
  }
  job j = job_make(product);
  nd4c_cpu_host->parallel_for(product->batch * product->m, grain(product), width, start_range, &j);
  return true;
}

static void finish_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_unary_parameters parameters = nd4c_cpu_activation_parameters(j->p->activation, j->p->y.tensor->dtype);
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    char *y = row_of(j, &j->p->y, row);
    j->activate(j->p->n, y, y, &parameters);
  }
}

nd4c_unary_parameters nd4c_cpu_activation_parameters(int64_t activation, nd4c_dtype dtype) {
  static const float singles[] = {0, 6};
  static const double doubles[] = {0, 6};
  const bool bounded = activation == ND4C_ACTIVATION_RELU6, wide = dtype == ND4C_FLOAT64;
  return (nd4c_unary_parameters){.alpha = 1, /* of swish */
                                 .low = !bounded ? NULL
                                        : wide   ? (const void *)&doubles[0]
                                                 : &singles[0],
                                 .high = !bounded ? NULL
                                         : wide   ? (const void *)&doubles[1]
                                                  : &singles[1]};
}

/* The op of that name has no loop for float64: the reference computes it. */
static void hard_swish_float64(int64_t n, const void *x, void *y, const nd4c_unary_parameters *parameters) {
  const double *from = x;
  double *to = y;
  (void)parameters;
  for (int64_t i = 0; i < n; i++) {
    const double share = fmin(fmax(from[i] / 6 + 0.5, 0), 1);
    to[i] = from[i] == -(double)INFINITY ? -0.0 : from[i] * share;
  }
}

nd4c_inner_activation nd4c_cpu_inner_activation(int64_t activation) {
  switch (activation) {
    case ND4C_ACTIVATION_RELU:
      return ND4C_INNER_RELU;
    case ND4C_ACTIVATION_RELU6:
      return ND4C_INNER_RELU6;
    case ND4C_ACTIVATION_HARD_SWISH:
      return ND4C_INNER_HARD_SWISH;
    default:
      return ND4C_INNER_NONE;
  }
}

nd4c_unary_loop nd4c_cpu_activation_loop(int64_t activation, nd4c_dtype dtype) {
  static const int loops[] = {[ND4C_ACTIVATION_RELU] = ND4C_UNARY_relu,
                              [ND4C_ACTIVATION_GELU] = ND4C_UNARY_gelu,
                              [ND4C_ACTIVATION_GELU_TANH] = ND4C_UNARY_gelu_tanh,
                              [ND4C_ACTIVATION_SIGMOID] = ND4C_UNARY_sigmoid,
                              [ND4C_ACTIVATION_TANH] = ND4C_UNARY_tanh,
                              [ND4C_ACTIVATION_SWISH] = ND4C_UNARY_swish,
                              [ND4C_ACTIVATION_HARD_SWISH] = ND4C_UNARY_hard_swish,
                              [ND4C_ACTIVATION_RELU6] = ND4C_UNARY_clip};
  if (activation == ND4C_ACTIVATION_NONE) {
    return NULL;
  }
  return activation == ND4C_ACTIVATION_HARD_SWISH && dtype == ND4C_FLOAT64
             ? hard_swish_float64
             : nd4c_simd.unary->loops[loops[activation]][dtype];
}

void nd4c_cpu_product_finish(const nd4c_cpu_product *product, int32_t width) {
  job j = job_make(product);
  j.activate = nd4c_cpu_activation_loop(product->activation, product->y.tensor->dtype);
  if (j.activate == NULL) {
    return;
  }
  nd4c_cpu_host->parallel_for(product->batch * product->m, grain(product), width, finish_range, &j);
}
