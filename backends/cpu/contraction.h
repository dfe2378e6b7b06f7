/* Sums of products over named axes. An op says which label each axis of its operands has; the pairs are multiplied as
 * batches of matrices, by engine reference or by BLAS. */
#ifndef ND4C_BACKENDS_CPU_CONTRACTION_H
#define ND4C_BACKENDS_CPU_CONTRACTION_H

#include "backends/cpu/reference.h"
#include "kernels/reference/contraction.h"

/* Letters 0 to 51, then what "..." stands for, then what ops need besides. */
enum { ND4C_LABELS = 128, ND4C_LABEL_HIDDEN = 52, ND4C_LABEL_OWN = ND4C_LABEL_HIDDEN + ND4C_CPU_MAX_RANK };

/* An array and its axes' labels. A label may stand twice in an operand: its diagonal. */
typedef struct nd4c_labelled {
  nd4c_ref_tensor tensor;
  int32_t labels[2 * ND4C_CPU_MAX_RANK];
  bool conjugate;
  int64_t shape[2 * ND4C_CPU_MAX_RANK], strides[2 * ND4C_CPU_MAX_RANK]; /* of a tensor seen in another way */
} nd4c_labelled;

typedef struct nd4c_contraction {
  const nd4c_call *call;
  int32_t count;
  nd4c_labelled *operands;
  nd4c_labelled output; /* every label once */
  /* c [batch, m, n] = a [batch, m, k] b [batch, k, n], dense, of the dtype `wide`. */
  void (*product)(const struct nd4c_contraction *contraction, int64_t batch, int64_t m, int64_t n, int64_t k,
                  const void *a, const void *b, void *c);
  nd4c_dtype wide;
} nd4c_contraction;

typedef void (*nd4c_contraction_product)(const nd4c_contraction *contraction, int64_t batch, int64_t m, int64_t n,
                                         int64_t k, const void *a, const void *b, void *c);

/* X(op): every op that is one. */
#define ND4C_CPU_CONTRACTIONS(X) \
  X(trace)                       \
  X(outer)                       \
  X(tensordot)                   \
  X(vecdot)                      \
  X(kron)                        \
  X(multi_dot)                   \
  X(einsum)                      \
  X(inner)                       \
  X(matvec)                      \
  X(vecmat)

/* Computes the call, whose op is one of them, with numbers of the dtype `wide` in between. */
nd4c_status nd4c_cpu_contraction_run(const nd4c_call *call, nd4c_dtype wide, nd4c_contraction_product product);

/* Labels the operands and the output of a call. */
void nd4c_cpu_contraction_label(nd4c_contraction *contraction);

#endif
