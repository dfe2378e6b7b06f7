/* The mapping table. A row is one ONNX op over a range of opsets in which its meaning is what the emit function reads;
 * attributes that became inputs are told apart inside. */
#include "io/onnx/mapping.h"

#include "io/onnx/emit.h"

#define LAST ND4C_ONNX_OPSET_LAST
#define ANY ND4C_ONNX_ANY

/* X(op, since, until, fewest inputs, most inputs, outputs made, emit function, nd4c op) */
#define ROWS_ELEMENTWISE(X)                                   \
  X(Abs, 1, LAST, 1, 1, 1, direct, abs)                       \
  X(Neg, 1, LAST, 1, 1, 1, direct, negative)                  \
  X(Sign, 9, LAST, 1, 1, 1, direct, sign)                     \
  X(Sqrt, 1, LAST, 1, 1, 1, direct, sqrt)                     \
  X(Reciprocal, 1, LAST, 1, 1, 1, direct, reciprocal)         \
  X(Exp, 1, LAST, 1, 1, 1, direct, exp)                       \
  X(Log, 1, LAST, 1, 1, 1, direct, log)                       \
  X(Sin, 7, LAST, 1, 1, 1, direct, sin)                       \
  X(Cos, 7, LAST, 1, 1, 1, direct, cos)                       \
  X(Tanh, 1, LAST, 1, 1, 1, direct, tanh)                     \
  X(Erf, 9, LAST, 1, 1, 1, direct, erf)                       \
  X(Sigmoid, 1, LAST, 1, 1, 1, direct, sigmoid)               \
  X(Relu, 1, LAST, 1, 1, 1, direct, relu)                     \
  X(Floor, 1, LAST, 1, 1, 1, direct, floor)                   \
  X(Ceil, 1, LAST, 1, 1, 1, direct, ceil)                     \
  X(Round, 11, LAST, 1, 1, 1, direct, round)                  \
  X(IsNaN, 9, LAST, 1, 1, 1, direct, is_nan)                  \
  X(IsInf, 10, LAST, 1, 1, 1, is_inf, NONE)                   \
  X(Not, 1, LAST, 1, 1, 1, direct, logical_not)               \
  X(Identity, 1, LAST, 1, 1, 1, identity, NONE)               \
  X(Add, 1, 6, 2, 2, 1, direct_legacy, add)                   \
  X(Add, 7, LAST, 2, 2, 1, direct, add)                       \
  X(Sub, 1, 6, 2, 2, 1, direct_legacy, subtract)              \
  X(Sub, 7, LAST, 2, 2, 1, direct, subtract)                  \
  X(Mul, 1, 6, 2, 2, 1, direct_legacy, multiply)              \
  X(Mul, 7, LAST, 2, 2, 1, direct, multiply)                  \
  X(Div, 1, 6, 2, 2, 1, direct_legacy, divide)                \
  X(Div, 7, LAST, 2, 2, 1, direct, divide)                    \
  X(Pow, 1, 6, 2, 2, 1, direct_legacy, power)                 \
  X(Pow, 7, LAST, 2, 2, 1, power, NONE)                       \
  X(Equal, 1, 6, 2, 2, 1, direct_legacy, equal)               \
  X(Equal, 7, LAST, 2, 2, 1, direct, equal)                   \
  X(Less, 1, 6, 2, 2, 1, direct_legacy, less)                 \
  X(Less, 7, LAST, 2, 2, 1, direct, less)                     \
  X(LessOrEqual, 12, LAST, 2, 2, 1, direct, less_equal)       \
  X(Greater, 1, 6, 2, 2, 1, direct_legacy, greater)           \
  X(Greater, 7, LAST, 2, 2, 1, direct, greater)               \
  X(GreaterOrEqual, 12, LAST, 2, 2, 1, direct, greater_equal) \
  X(And, 1, 6, 2, 2, 1, direct_legacy, logical_and)           \
  X(And, 7, LAST, 2, 2, 1, direct, logical_and)               \
  X(Or, 1, 6, 2, 2, 1, direct_legacy, logical_or)             \
  X(Or, 7, LAST, 2, 2, 1, direct, logical_or)                 \
  X(Xor, 1, 6, 2, 2, 1, direct_legacy, logical_xor)           \
  X(Xor, 7, LAST, 2, 2, 1, direct, logical_xor)               \
  X(Where, 9, LAST, 3, 3, 1, direct, where)                   \
  X(Sum, 1, LAST, 1, ANY, 1, variadic, add)                   \
  X(Max, 1, LAST, 1, ANY, 1, variadic, maximum)               \
  X(Min, 1, LAST, 1, ANY, 1, variadic, minimum)               \
  X(Mean, 1, LAST, 1, ANY, 1, mean, add)                      \
  X(Clip, 1, LAST, 1, 3, 1, clip, NONE)                       \
  X(Cast, 6, LAST, 1, 1, 1, cast, NONE)                       \
  X(CastLike, 15, LAST, 2, 2, 1, cast_like, NONE)

#define ROWS_ACTIVATION(X)                                      \
  X(LeakyRelu, 1, LAST, 1, 1, 1, leaky_relu, NONE)              \
  X(PRelu, 1, LAST, 2, 2, 1, prelu, NONE)                       \
  X(ThresholdedRelu, 10, LAST, 1, 1, 1, thresholded_relu, NONE) \
  X(Elu, 1, LAST, 1, 1, 1, elu, NONE)                           \
  X(Selu, 1, LAST, 1, 1, 1, selu, NONE)                         \
  X(Celu, 12, LAST, 1, 1, 1, celu, NONE)                        \
  X(Gelu, 20, LAST, 1, 1, 1, gelu, NONE)                        \
  X(HardSigmoid, 1, LAST, 1, 1, 1, hard_sigmoid, NONE)          \
  X(HardSwish, 14, LAST, 1, 1, 1, hard_swish, NONE)             \
  X(Softplus, 1, LAST, 1, 1, 1, softplus, NONE)                 \
  X(Softsign, 1, LAST, 1, 1, 1, softsign, NONE)                 \
  X(Mish, 18, LAST, 1, 1, 1, mish, NONE)                        \
  X(Swish, 24, LAST, 1, 1, 1, swish, NONE)                      \
  X(Softmax, 1, LAST, 1, 1, 1, softmax, softmax)                \
  X(LogSoftmax, 1, LAST, 1, 1, 1, softmax, log_softmax)

#define ROWS_REDUCTION(X)                                        \
  X(ReduceSum, 1, LAST, 1, 2, 1, reduce, sum)                    \
  X(ReduceProd, 1, LAST, 1, 2, 1, reduce, prod)                  \
  X(ReduceMean, 1, LAST, 1, 2, 1, reduce, mean)                  \
  X(ReduceMax, 1, LAST, 1, 2, 1, reduce, max)                    \
  X(ReduceMin, 1, LAST, 1, 2, 1, reduce, min)                    \
  X(ReduceL1, 1, LAST, 1, 2, 1, reduce_l1, NONE)                 \
  X(ReduceL2, 1, LAST, 1, 2, 1, reduce_l2, NONE)                 \
  X(ReduceSumSquare, 1, LAST, 1, 2, 1, reduce_sum_square, NONE)  \
  X(ReduceLogSum, 1, LAST, 1, 2, 1, reduce_log_sum, NONE)        \
  X(ReduceLogSumExp, 1, LAST, 1, 2, 1, reduce_log_sum_exp, NONE) \
  X(ArgMax, 1, LAST, 1, 1, 1, arg_reduce, argmax)                \
  X(ArgMin, 1, LAST, 1, 1, 1, arg_reduce, argmin)

#define ROWS_LINALG_NN(X)                                         \
  X(MatMul, 1, LAST, 2, 2, 1, direct, matmul)                     \
  X(Gemm, 7, LAST, 2, 3, 1, gemm, NONE)                           \
  X(Conv, 1, LAST, 2, 3, 1, conv, NONE)                           \
  X(MaxPool, 1, LAST, 1, 1, 1, max_pool, NONE)                    \
  X(AveragePool, 1, LAST, 1, 1, 1, average_pool, NONE)            \
  X(GlobalAveragePool, 1, LAST, 1, 1, 1, global_pool, mean)       \
  X(GlobalMaxPool, 1, LAST, 1, 1, 1, global_pool, max)            \
  X(BatchNormalization, 1, LAST, 5, 5, 1, batch_norm, NONE)       \
  X(InstanceNormalization, 1, LAST, 3, 3, 1, instance_norm, NONE) \
  X(LayerNormalization, 17, LAST, 2, 3, 1, layer_norm, NONE)      \
  X(RMSNormalization, 23, LAST, 2, 2, 1, rms_norm, NONE)          \
  X(LRN, 1, LAST, 1, 1, 1, lrn, NONE)                             \
  X(Dropout, 1, LAST, 1, 3, 2, dropout, NONE)

#define ROWS_SHAPE(X)                                           \
  X(Reshape, 1, LAST, 1, 2, 1, reshape, NONE)                   \
  X(Flatten, 1, LAST, 1, 1, 1, flatten, NONE)                   \
  X(Transpose, 1, LAST, 1, 1, 1, transpose, NONE)               \
  X(Squeeze, 1, LAST, 1, 2, 1, squeeze, NONE)                   \
  X(Unsqueeze, 1, LAST, 1, 2, 1, unsqueeze, NONE)               \
  X(Expand, 8, LAST, 2, 2, 1, expand, NONE)                     \
  X(Tile, 6, LAST, 2, 2, 1, tile, NONE)                         \
  X(Concat, 1, LAST, 1, ANY, 1, concat, NONE)                   \
  X(Split, 2, LAST, 1, 2, ANY, split, NONE)                     \
  X(Slice, 1, LAST, 1, 5, 1, slice, NONE)                       \
  X(Gather, 1, LAST, 2, 2, 1, gather, NONE)                     \
  X(Pad, 1, 10, 1, 1, 1, pad, NONE)                             \
  X(Pad, 11, LAST, 2, 4, 1, pad, NONE)                          \
  X(DepthToSpace, 1, LAST, 1, 1, 1, depth_to_space, NONE)       \
  X(SpaceToDepth, 1, LAST, 1, 1, 1, space_to_depth, NONE)       \
  X(Constant, 1, LAST, 0, 0, 1, constant, NONE)                 \
  X(ConstantOfShape, 9, LAST, 1, 1, 1, constant_of_shape, NONE) \
  X(Shape, 1, LAST, 1, 1, 1, shape, NONE)                       \
  X(Size, 1, LAST, 1, 1, 1, size, NONE)                         \
  X(Range, 11, LAST, 3, 3, 1, range, NONE)                      \
  X(EyeLike, 9, LAST, 1, 1, 1, eye_like, NONE)

#define ROW(name, since, until, least, most, outputs, emit, op) \
  {#name, since, until, least, most, outputs, nd4c_onnx_emit_op_##emit, ND4C_OP_##op},

static const nd4c_onnx_mapping rows[] = {ROWS_ELEMENTWISE(ROW) ROWS_ACTIVATION(ROW) ROWS_REDUCTION(ROW)
                                             ROWS_LINALG_NN(ROW) ROWS_SHAPE(ROW)};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const nd4c_onnx_mapping *nd4c_onnx_mapping_find(nd4c_span name, int64_t opset) {
  for (int32_t i = 0; i < ROW_COUNT; i++) {
    if (opset >= rows[i].since && opset <= rows[i].until && nd4c_span_is(name, rows[i].name)) {
      return &rows[i];
    }
  }
  return NULL;
}

int32_t nd4c_onnx_mapping_count(void) {
  return ROW_COUNT;
}

const nd4c_onnx_mapping *nd4c_onnx_mapping_at(int32_t index) {
  return index >= 0 && index < ROW_COUNT ? &rows[index] : NULL;
}
