/* The functions that import ONNX ops, by family; mapping.c binds them to names and opsets. */
#ifndef ND4C_IO_ONNX_EMIT_H
#define ND4C_IO_ONNX_EMIT_H

#include "io/onnx/emission.h"

#define ND4C_ONNX_EMITS(X)                                                                                        \
  /* emit_direct.c */                                                                                             \
  X(direct)                                                                                                       \
  X(direct_legacy)                                                                                                \
  X(variadic)                                                                                                     \
  X(mean)                                                                                                         \
  X(identity) /* emit_activation.c */                                                                             \
      X(leaky_relu) X(gelu) X(clip) X(hard_sigmoid) X(hard_swish) X(elu) X(selu) X(celu) X(softplus) X(softsign)  \
          X(mish) X(swish) X(prelu) X(thresholded_relu) X(softmax) X(is_inf) /* emit_math.c */                    \
      X(power) X(gemm) X(reduce) X(reduce_l1) X(reduce_l2) X(reduce_sum_square) X(reduce_log_sum)                 \
          X(reduce_log_sum_exp) X(arg_reduce) X(cast) X(cast_like) /* emit_nn.c */                                \
      X(conv) X(max_pool) X(average_pool) X(global_pool) X(batch_norm) X(instance_norm) X(layer_norm) X(rms_norm) \
          X(lrn) X(dropout) /* emit_shape.c */                                                                    \
      X(reshape) X(flatten) X(transpose) X(squeeze) X(unsqueeze) X(expand) X(tile) X(concat) X(split) X(slice)    \
          X(gather) X(pad) X(depth_to_space) X(space_to_depth) /* emit_constant.c */                              \
      X(constant) X(constant_of_shape) X(shape) X(size) X(range) X(eye_like)

#define ND4C_ONNX_EMIT_DECLARE(name) nd4c_status nd4c_onnx_emit_op_##name(nd4c_onnx_emission *emission);
ND4C_ONNX_EMITS(ND4C_ONNX_EMIT_DECLARE)
#undef ND4C_ONNX_EMIT_DECLARE

#endif
