/* Rows of the op table: convolution, pools, normalisations. op_table.h says how to read them. */
#ifndef ND4C_OP_TABLE_NN_H
#define ND4C_OP_TABLE_NN_H

#define ND4C_SIG_CONV(A, op)                              \
  A(op, IN, x, 0)                                         \
  A(op, IN, w, 0)                                         \
  A(op, OPT, bias, 0)                                     \
  A(op, OPT, addend, 0)                                   \
  A(op, INTS, strides, 0)                                 \
  A(op, INTS, pads, 0)                                    \
  A(op, INTS, dilations, 0)                               \
  A(op, INT, groups, 1)                                   \
  A(op, WORD, auto_pad, auto_pad, ND4C_AUTO_PAD_EXPLICIT) \
  A(op, WORD, activation, activation, ND4C_ACTIVATION_NONE) A(op, OUT, y, 0)
#define ND4C_SIG_POOL(A, op)                              \
  A(op, IN, x, 0)                                         \
  A(op, INTS, kernel, 0)                                  \
  A(op, INTS, strides, 0)                                 \
  A(op, INTS, pads, 0)                                    \
  A(op, INTS, dilations, 0)                               \
  A(op, WORD, auto_pad, auto_pad, ND4C_AUTO_PAD_EXPLICIT) \
  A(op, BOOL, ceil_mode, 0) A(op, BOOL, count_include_pad, 0) A(op, OUT, y, 0)
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

#define ND4C_OPS_NN(OP)                                                                                            \
  OP(110, 1, conv, NN, ND4C_SIG_CONV, conv, REAL_FLOATING,                                                         \
     "y = activation(x * w + bias + addend), cross-correlation over 1 to 3 spatial axes: x [n, c, ...], "          \
     "w [o, c / groups, ...], bias [o], addend like y; pads: all begins, then all ends",                           \
     "|nn.functional.conv1d, conv2d, conv3d|Conv|conv1d, conv2d, conv3d", FIRST_ORDER, OPTIONS)                    \
  OP(111, 1, max_pool, NN, ND4C_SIG_POOL, pool, REAL, "largest in each window; padding never wins",                \
     "|nn.functional.max_pool1d, 2d, 3d|MaxPool|maxPooling2d, maxPooling3d", INPUT_ORDER, OPTIONS)                 \
  OP(112, 1, average_pool, NN, ND4C_SIG_POOL, pool, REAL_FLOATING,                                                 \
     "mean of each window, of its cells inside x or, count_include_pad, inside the padded x",                      \
     "|nn.functional.avg_pool1d, 2d, 3d|AveragePool|avgPooling2d, avgPooling3d", INPUT_ORDER, OPTIONS)             \
  OP(113, 1, batch_norm, NN, ND4C_SIG_BATCH_NORM, batch_norm, REAL_FLOATING,                                       \
     "y = (x - mean) / sqrt(variance + epsilon) * scale + bias, by channel (axis 1)",                              \
     "|nn.functional.batch_norm|BatchNormalization|batchNorm", INPUT_ORDER)                                        \
  OP(114, 1, layer_norm, NN, ND4C_SIG_LAYER_NORM, layer_norm, REAL_FLOATING,                                       \
     "y = (x - m) / sqrt(v + epsilon) * scale + bias, m and v over the axes from axis on",                         \
     "|nn.functional.layer_norm|LayerNormalization|layerNorm")                                                     \
  OP(115, 1, softmax, NN, ND4C_SIG_AXIS, axis_same, REAL_FLOATING, "y = e^(x - max) / sum of e^(x - max) on axis", \
     "scipy.special.softmax|softmax|Softmax|softmax", INPUT_ORDER)                                                 \
  OP(116, 1, log_softmax, NN, ND4C_SIG_AXIS, axis_same, REAL_FLOATING, "y = x - max - ln sum of e^(x - max)",      \
     "scipy.special.log_softmax|log_softmax|LogSoftmax|logSoftmax", INPUT_ORDER)                                   \
  OP(117, 1, lrn, NN, ND4C_SIG_LRN, lrn, REAL_FLOATING,                                                            \
     "y = x / (bias + alpha / size * sum of squares over size neighbouring channels)^beta",                        \
     "|nn.functional.local_response_norm|LRN|localResponseNormalization", INPUT_ORDER)

#endif
