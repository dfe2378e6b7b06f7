/* Sums of products over named axes: every op of the kind gives its operands' axes labels. */
#ifndef ND4C_BACKENDS_OPENCL_CONTRACTION_H
#define ND4C_BACKENDS_OPENCL_CONTRACTION_H

#include "backends/opencl/reduction.h"

/* Letters 0 .. 51 of einsum, then the axes that "..." stands for, then what ops need besides. */
enum { ND4C_CL_HIDDEN = 52, ND4C_CL_OWN = ND4C_CL_HIDDEN + ND4C_CL_MAX_RANK, ND4C_CL_LABELS = 160, ND4C_CL_TERMS = 12 };

/* An array whose axes have labels; one that stands twice is a diagonal. */
typedef struct nd4c_cl_labelled {
  nd4c_tensor tensor; /* dtype, buffer, offset */
  int32_t rank;
  int32_t labels[ND4C_CL_AXES];
  int64_t shape[ND4C_CL_AXES], strides[ND4C_CL_AXES];
} nd4c_cl_labelled;

typedef struct nd4c_cl_contraction {
  const nd4c_call *call;
  int32_t count;
  nd4c_cl_labelled operands[ND4C_CL_TERMS], output;
} nd4c_cl_contraction;

/* X(op): every op that is one. */
#define ND4C_CL_CONTRACTIONS(X) \
  X(trace)                      \
  X(outer)                      \
  X(tensordot)                  \
  X(vecdot)                     \
  X(kron)                       \
  X(multi_dot)                  \
  X(einsum)                     \
  X(inner)                      \
  X(matvec)                     \
  X(vecmat)

/* Sets operands and output of the call, of at most ND4C_CL_TERMS inputs. */
void nd4c_cl_contraction_label(nd4c_cl_contraction *contraction, const nd4c_call *call);

#endif
