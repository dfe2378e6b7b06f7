/* Inference with symbolic extents; infer.c includes it. */
#ifndef ND4C_OPS_INFER_SYMBOLIC_H
#define ND4C_OPS_INFER_SYMBOLIC_H

#include "ops/op.h"

typedef nd4c_status (*nd4c_symbolic_function)(const nd4c_op_def *def, nd4c_inference *inference);

/* Calls `infer` for an inference with a table. UNSUPPORTED: an extent is symbolic and the op's rule takes numbers only.
 * If the inference fails, its guards are forgotten, and its error shows expressions in place of their numbers. */
nd4c_status nd4c_infer_symbolic(const nd4c_op_def *def, nd4c_inference *inference, nd4c_symbolic_function infer);

#endif
