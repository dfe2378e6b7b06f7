/* Sums of products over named axes. An op says which label each axis of its operands has; the pairs are multiplied as
 * batches of matrices. reference/contraction.c and openblas/contraction.c call it with their own product. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_CONTRACTION_H
#define ND4C_BACKENDS_CPU_SUPPORT_CONTRACTION_H

#include "backends/cpu/reference/reference.h"
#include "backends/labels.h"
#include "kernels/reference/contraction/contraction.h"

typedef struct nd4c_contraction {
  nd4c_labels labels;
  /* c [batch, m, n] = a [batch, m, k] b [batch, k, n], dense, of the dtype `wide`. */
  void (*product)(const struct nd4c_contraction *contraction, int64_t batch, int64_t m, int64_t n, int64_t k,
                  const void *a, const void *b, void *c);
  nd4c_dtype wide;
} nd4c_contraction;

typedef void (*nd4c_contraction_product)(const nd4c_contraction *contraction, int64_t batch, int64_t m, int64_t n,
                                         int64_t k, const void *a, const void *b, void *c);

/* Computes the call, whose op is matmul or one of ND4C_LABELLED_OPS, with numbers of the dtype `wide` in between. */
nd4c_status nd4c_cpu_contraction_run(const nd4c_call *call, nd4c_dtype wide, nd4c_contraction_product product);

#endif
