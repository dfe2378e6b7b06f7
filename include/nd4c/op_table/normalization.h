/* Rows of the op table: normalisations, softmax, clipping by a norm, biases. op_table.h says how to read them. */
#ifndef ND4C_OP_TABLE_NORMALIZATION_H
#define ND4C_OP_TABLE_NORMALIZATION_H

#define ND4C_SIG_CHANNEL_NORM(A, op) \
  A(op, IN, x, 0) A(op, OPT, scale, 0) A(op, OPT, bias, 0) A(op, FLOAT, epsilon, 1e-5) A(op, OUT, y, 0)
#define ND4C_SIG_GROUP_NORM(A, op) \
  A(op, IN, x, 0)                  \
  A(op, OPT, scale, 0) A(op, OPT, bias, 0) A(op, INT, groups, 1) A(op, FLOAT, epsilon, 1e-5) A(op, OUT, y, 0)
#define ND4C_SIG_RMS_NORM(A, op) \
  A(op, IN, x, 0) A(op, OPT, scale, 0) A(op, INT, axis, -1) A(op, FLOAT, epsilon, 1e-5) A(op, OUT, y, 0)
#define ND4C_SIG_LP_NORMALIZE(A, op) \
  A(op, IN, x, 0) A(op, FLOAT, p, 2.0) A(op, INT, axis, -1) A(op, FLOAT, epsilon, 0.0) A(op, OUT, y, 0)
#define ND4C_SIG_STANDARDIZE(A, op) A(op, IN, x, 0) A(op, INTS, axes, 0) A(op, FLOAT, epsilon, 0.0) A(op, OUT, y, 0)
#define ND4C_SIG_BATCH_NORM_TRAINING(A, op) \
  A(op, IN, x, 0)                           \
  A(op, IN, scale, 0)                       \
  A(op, IN, bias, 0)                        \
  A(op, IN, mean, 0)                        \
  A(op, IN, variance, 0)                    \
  A(op, FLOAT, epsilon, 1e-5)               \
  A(op, FLOAT, momentum, 0.9) A(op, OUT, y, 0) A(op, OUT, running_mean, 0) A(op, OUT, running_variance, 0)
#define ND4C_SIG_LAYER_NORM_STATISTICS(A, op) \
  A(op, IN, x, 0)                             \
  A(op, OPT, scale, 0)                        \
  A(op, OPT, bias, 0)                         \
  A(op, INT, axis, -1)                        \
  A(op, FLOAT, epsilon, 1e-5)                 \
  A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, OUT, y, 0) A(op, OUT, mean, 0) A(op, OUT, inverse_deviation, 0)
#define ND4C_SIG_SKIP_LAYER_NORM(A, op) \
  A(op, IN, x, 0)                       \
  A(op, IN, skip, 0)                    \
  A(op, OPT, scale, 0)                  \
  A(op, OPT, bias, 0)                   \
  A(op, OPT, addend, 0) A(op, FLOAT, epsilon, 1e-5) A(op, BOOL, rms, 0) A(op, OUT, y, 0) A(op, OUT, sum, 0)
#define ND4C_SIG_BIAS_ADD(A, op) \
  A(op, IN, x, 0)                \
  A(op, IN, bias, 0) A(op, INT, axis, 1) A(op, WORD, activation, activation, ND4C_ACTIVATION_NONE) A(op, OUT, y, 0)
#define ND4C_SIG_CLIP_BY_NORM(A, op) \
  A(op, IN, x, 0) A(op, OPT, norm, 0) A(op, FLOAT, max_norm, 1.0) A(op, INTS, axes, 0) A(op, OUT, y, 0)
#define ND4C_SIG_NORM_OF_ALL(A, op) A(op, VAR, xs, 0) A(op, OUT, y, 0)
#define ND4C_SIG_BATCH_NORM(A, op) \
  A(op, IN, x, 0)                  \
  A(op, IN, scale, 0)              \
  A(op, IN, bias, 0) A(op, IN, mean, 0) A(op, IN, variance, 0) A(op, FLOAT, epsilon, 1e-5) A(op, OUT, y, 0)
#define ND4C_SIG_LAYER_NORM(A, op) \
  A(op, IN, x, 0)                  \
  A(op, OPT, scale, 0) A(op, OPT, bias, 0) A(op, INT, axis, -1) A(op, FLOAT, epsilon, 1e-5) A(op, OUT, y, 0)
#define ND4C_SIG_LRN(A, op) \
  A(op, IN, x, 0)           \
  A(op, INT, size, 5) A(op, FLOAT, alpha, 1e-4) A(op, FLOAT, beta, 0.75) A(op, FLOAT, bias, 1.0) A(op, OUT, y, 0)

#define ND4C_OPS_NORMALIZATION(OP)                                                                                    \
  OP(113, 1, batch_norm, NN, ND4C_SIG_BATCH_NORM, batch_norm, REAL_FLOATING,                                          \
     "y = (x - mean) / sqrt(variance + epsilon) * scale + bias, by channel (axis 1)",                                 \
     "|nn.functional.batch_norm|BatchNormalization|batchNorm", INPUT_ORDER)                                           \
  OP(114, 1, layer_norm, NN, ND4C_SIG_LAYER_NORM, layer_norm, REAL_FLOATING,                                          \
     "y = (x - m) / sqrt(v + epsilon) * scale + bias, m and v over the axes from axis on",                            \
     "|nn.functional.layer_norm|LayerNormalization|layerNorm")                                                        \
  OP(115, 1, softmax, NN, ND4C_SIG_AXIS, axis_same, REAL_FLOATING, "y = e^(x - max) / sum of e^(x - max) on axis",    \
     "scipy.special.softmax|softmax|Softmax|softmax", INPUT_ORDER)                                                    \
  OP(116, 1, log_softmax, NN, ND4C_SIG_AXIS, axis_same, REAL_FLOATING, "y = x - max - ln sum of e^(x - max)",         \
     "scipy.special.log_softmax|log_softmax|LogSoftmax|logSoftmax", INPUT_ORDER)                                      \
  OP(117, 1, lrn, NN, ND4C_SIG_LRN, lrn, REAL_FLOATING,                                                               \
     "y = x / (bias + alpha / size * sum of squares over size neighbouring channels)^beta",                           \
     "|nn.functional.local_response_norm|LRN|localResponseNormalization", INPUT_ORDER)                                \
  OP(620, 1, instance_norm, NN, ND4C_SIG_CHANNEL_NORM, instance_norm, REAL_FLOATING,                                  \
     "y = (x - m) / sqrt(v + epsilon) * scale + bias, m and v over the spatial axes of each [n, c] plane",            \
     "|nn.functional.instance_norm|InstanceNormalization|", INPUT_ORDER)                                              \
  OP(621, 1, group_norm, NN, ND4C_SIG_GROUP_NORM, group_norm, REAL_FLOATING,                                          \
     "y = (x - m) / sqrt(v + epsilon) * scale + bias by channel, m and v over each of `groups` runs of channels",     \
     "|nn.functional.group_norm|GroupNormalization|", INPUT_ORDER)                                                    \
  OP(622, 1, rms_norm, NN, ND4C_SIG_RMS_NORM, rms_norm, REAL_FLOATING,                                                \
     "y = x / sqrt(mean of x^2 + epsilon) * scale, the mean over the axes from axis on",                              \
     "|nn.functional.rms_norm|RMSNormalization, SimplifiedLayerNormalization|")                                       \
  OP(623, 1, lp_normalize, NN, ND4C_SIG_LP_NORMALIZE, lp_normalize, REAL_FLOATING,                                    \
     "y = x / max((sum of |x|^p on axis)^(1 / p), epsilon); 0 if this norm is 0 and epsilon is 0",                    \
     "|nn.functional.normalize|LpNormalization|")                                                                     \
  OP(624, 1, standardize, NN, ND4C_SIG_STANDARDIZE, standardize, REAL_FLOATING,                                       \
     "y = (x - m) / (sqrt(v) + epsilon), mean and variance over axes (none: all)",                                    \
     "scipy.stats.zscore||MeanVarianceNormalization|standardize")                                                     \
  OP(625, 1, batch_norm_training, NN, ND4C_SIG_BATCH_NORM_TRAINING, batch_norm_training, REAL_FLOATING,               \
     "batch_norm with the mean and (population) variance of x itself; running_* = momentum * given + (1 - momentum) " \
     "* that of x",                                                                                                   \
     "|nn.functional.batch_norm(training)|BatchNormalization|")                                                       \
  OP(626, 1, layer_norm_with_statistics, NN, ND4C_SIG_LAYER_NORM_STATISTICS, layer_norm_with_statistics,              \
     REAL_FLOATING,                                                                                                   \
     "layer_norm, and m and 1 / sqrt(v + epsilon) in the given floating dtype, normalised axes kept with extent 1",   \
     "|native_layer_norm|LayerNormalization|")                                                                        \
  OP(627, 1, skip_layer_norm, NN, ND4C_SIG_SKIP_LAYER_NORM, skip_layer_norm, REAL_FLOATING,                           \
     "layer_norm (or rms_norm) on the last axis of sum = x + skip + addend; the second output is that sum",           \
     "||com.microsoft.SkipLayerNormalization, com.microsoft.SkipSimplifiedLayerNormalization|")                       \
  OP(628, 1, bias_add, NN, ND4C_SIG_BIAS_ADD, bias_add, REAL_FLOATING, "y = activation(x + bias), bias along axis",   \
     "|||biasAdd")                                                                                                    \
  OP(629, 1, clip_by_norm, NN, ND4C_SIG_CLIP_BY_NORM, clip_by_norm, REAL_FLOATING,                                    \
     "y = x * max_norm / max(norm, max_norm); norm is the input or, if left out, the Euclidean norm over axes "       \
     "(none: all)",                                                                                                   \
     "|nn.utils.clip_grad_norm_||clipByNorm, clipByGlobalNorm")                                                       \
  OP(630, 1, global_norm, NN, ND4C_SIG_NORM_OF_ALL, global_norm, REAL_FLOATING,                                       \
     "y = sqrt(sum of the squares of all elements of all xs), 0-d", "|nn.utils.get_total_norm||")                     \
  OP(631, 1, hardmax, NN, ND4C_SIG_AXIS, axis_same, REAL_FLOATING,                                                    \
     "1 at the first largest element on axis, 0 elsewhere; NaN wins", "||Hardmax|")

#endif
