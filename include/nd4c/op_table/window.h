/* Rows of the op table: convolutions, pools and morphology. op_table.h says how to read them. */
#ifndef ND4C_OP_TABLE_WINDOW_H
#define ND4C_OP_TABLE_WINDOW_H

#define ND4C_SIG_CONV_TRANSPOSE(A, op) \
  A(op, IN, x, 0)                      \
  A(op, IN, w, 0)                      \
  A(op, OPT, bias, 0)                  \
  A(op, INTS, strides, 0)              \
  A(op, INTS, pads, 0)                 \
  A(op, INTS, dilations, 0)            \
  A(op, INTS, output_padding, 0)       \
  A(op, INTS, output_shape, 0)         \
  A(op, INT, groups, 1) A(op, WORD, auto_pad, auto_pad, ND4C_AUTO_PAD_EXPLICIT) A(op, OUT, y, 0)
#define ND4C_SIG_DEFORMABLE_CONV(A, op) \
  A(op, IN, x, 0)                       \
  A(op, IN, w, 0)                       \
  A(op, IN, offset, 0)                  \
  A(op, OPT, bias, 0)                   \
  A(op, OPT, mask, 0)                   \
  A(op, INTS, strides, 0)               \
  A(op, INTS, pads, 0)                  \
  A(op, INTS, dilations, 0)             \
  A(op, INT, groups, 1) A(op, INT, offset_groups, 1) A(op, OUT, y, 0)
#define ND4C_SIG_CAUSAL_CONV(A, op) \
  A(op, IN, x, 0)                   \
  A(op, IN, w, 0)                   \
  A(op, OPT, bias, 0)               \
  A(op, OPT, past_state, 0) A(op, BOOL, silu, 0) A(op, OUT, y, 0) A(op, OUT, present_state, 0)
#define ND4C_SIG_POOL_INDICES(A, op)                      \
  A(op, IN, x, 0)                                         \
  A(op, INTS, kernel, 0)                                  \
  A(op, INTS, strides, 0)                                 \
  A(op, INTS, pads, 0)                                    \
  A(op, INTS, dilations, 0)                               \
  A(op, WORD, auto_pad, auto_pad, ND4C_AUTO_PAD_EXPLICIT) \
  A(op, BOOL, ceil_mode, 0)                               \
  A(op, BOOL, planar, 0) A(op, BOOL, column_major, 0) A(op, OUT, y, 0) A(op, OUT, indices, 0)
#define ND4C_SIG_UNPOOL(A, op) \
  A(op, IN, x, 0)              \
  A(op, IN, indices, 0)        \
  A(op, INTS, kernel, 0)       \
  A(op, INTS, strides, 0)      \
  A(op, INTS, pads, 0) A(op, INTS, output_shape, 0) A(op, BOOL, planar, 0) A(op, OUT, y, 0)
#define ND4C_SIG_LP_POOL(A, op)                           \
  A(op, IN, x, 0)                                         \
  A(op, INTS, kernel, 0)                                  \
  A(op, INTS, strides, 0)                                 \
  A(op, INTS, pads, 0)                                    \
  A(op, INTS, dilations, 0)                               \
  A(op, WORD, auto_pad, auto_pad, ND4C_AUTO_PAD_EXPLICIT) \
  A(op, BOOL, ceil_mode, 0) A(op, FLOAT, p, 2.0) A(op, OUT, y, 0)
#define ND4C_SIG_GLOBAL_LP_POOL(A, op) A(op, IN, x, 0) A(op, FLOAT, p, 2.0) A(op, OUT, y, 0)
#define ND4C_SIG_ADAPTIVE_POOL(A, op) A(op, IN, x, 0) A(op, INTS, output_shape, 0) A(op, OUT, y, 0)
#define ND4C_SIG_ADAPTIVE_POOL_INDICES(A, op) ND4C_SIG_ADAPTIVE_POOL(A, op) A(op, OUT, indices, 0)
#define ND4C_SIG_MORPHOLOGY(A, op) \
  A(op, IN, x, 0)                  \
  A(op, IN, w, 0)                  \
  A(op, INTS, strides, 0)          \
  A(op, INTS, pads, 0)             \
  A(op, INTS, dilations, 0) A(op, WORD, auto_pad, auto_pad, ND4C_AUTO_PAD_EXPLICIT) A(op, OUT, y, 0)

#define ND4C_SIG_SEPARABLE_CONV(A, op) \
  A(op, IN, x, 0)                      \
  A(op, IN, depthwise, 0)              \
  A(op, IN, pointwise, 0)              \
  A(op, OPT, bias, 0)                  \
  A(op, INTS, strides, 0)              \
  A(op, INTS, pads, 0)                 \
  A(op, INTS, dilations, 0) A(op, WORD, auto_pad, auto_pad, ND4C_AUTO_PAD_EXPLICIT) A(op, OUT, y, 0)
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

#define ND4C_OPS_WINDOW(OP)                                                                                            \
  OP(110, 1, conv, NN, ND4C_SIG_CONV, conv, REAL_FLOATING,                                                             \
     "y = activation(x * w + bias + addend), cross-correlation over 1 to 3 spatial axes: x [n, c, ...], w [o, c / "    \
     "groups, ...], bias [o], addend like y; strides and dilations: one value for each spatial axis, left out: 1; "    \
     "pads: all begins, then all ends, left out: 0",                                                                   \
     "|nn.functional.conv1d, conv2d, conv3d|Conv|conv1d, conv2d, conv3d", FIRST_ORDER, OPTIONS)                        \
  OP(111, 1, max_pool, NN, ND4C_SIG_POOL, pool, REAL,                                                                  \
     "largest in each window; padding never wins; kernel: one value for each spatial axis, must be given; strides "    \
     "left out: 1 (PyTorch: kernel); pads and dilations as of conv; count_include_pad has no effect",                  \
     "|nn.functional.max_pool1d, 2d, 3d|MaxPool|maxPooling2d, maxPooling3d", INPUT_ORDER, OPTIONS)                     \
  OP(112, 1, average_pool, NN, ND4C_SIG_POOL, pool, REAL_FLOATING,                                                     \
     "mean of the cells of x in each window; count_include_pad: of all cells in the window, padding included; "        \
     "kernel, strides, pads and dilations as of max_pool",                                                             \
     "|nn.functional.avg_pool1d, 2d, 3d|AveragePool|avgPooling2d, avgPooling3d", INPUT_ORDER, OPTIONS)                 \
  OP(570, 1, conv_transpose, NN, ND4C_SIG_CONV_TRANSPOSE, conv_transpose, REAL_FLOATING,                               \
     "transpose of conv: each element of x, times w [c, o / groups, ...], is added to the cells of y from which conv " \
     "would have computed it; plus bias [o]; strides, pads and dilations as of conv; extent (x - 1) * stride + "       \
     "output_padding (left out: 0) + dilation * (kernel - 1) + 1 - pads, or output_shape, or x * stride (auto_pad "    \
     "same)",                                                                                                          \
     "|nn.functional.conv_transpose1d, 2d, 3d|ConvTranspose|deconv2d, deconv3d", NONE, OPTIONS)                        \
  OP(571, 1, deformable_conv, NN, ND4C_SIG_DEFORMABLE_CONV, deformable_conv, REAL_FLOATING,                            \
     "conv in which tap k reads x at its usual position plus offset [n, offset_groups * taps * axes, ...], "           \
     "interpolated linearly between cells, 0 outside x, and multiplied by mask [n, offset_groups * taps, ...] (left "  \
     "out: 1); strides, pads and dilations as of conv; arXiv 1703.06211 and 1811.11168",                               \
     "|torchvision.ops.deform_conv2d|DeformConv|", NONE, OPTIONS)                                                      \
  OP(572, 1, causal_conv_with_state, NN, ND4C_SIG_CAUSAL_CONV, causal_conv, REAL_FLOATING,                             \
     "depthwise conv along time with w [c, 1, k] and bias [c], over past_state [n, c, k - 1] (left out: zeros) "       \
     "followed by x [n, c, t]; then y * sigmoid(y) if silu; present_state: the last k - 1 steps of past_state and x",  \
     "||CausalConvWithState|")                                                                                         \
  OP(573, 1, max_pool_with_indices, NN, ND4C_SIG_POOL_INDICES, max_pool_with_indices, REAL,                            \
     "largest element in each window and the int64 index of the first such cell, counted in all of x or, if planar, "  \
     "in its [n, c] plane; column_major: counted with the first spatial axis fastest; -1 for a window of padding "     \
     "alone; kernel, strides, pads and dilations as of max_pool",                                                      \
     "|nn.functional.max_pool2d(return_indices)|MaxPool|maxPoolWithArgmax", NONE, OPTIONS)                             \
  OP(574, 1, max_unpool, NN, ND4C_SIG_UNPOOL, max_unpool, REAL,                                                        \
     "zeros, with each element of x at its index; if indices repeat, the last element wins; planar: an index counts "  \
     "in the [n, c] plane of y; else it counts in all planes of the spatial extents (x - 1) * stride + kernel - "      \
     "pads, even if output_shape is larger; kernel and strides left out: 1; pads left out: 0",                         \
     "|nn.functional.max_unpool1d, 2d, 3d|MaxUnpool|", NONE, OPTIONS)                                                  \
  OP(575, 1, lp_pool, NN, ND4C_SIG_LP_POOL, lp_pool, REAL_FLOATING,                                                    \
     "y = (sum of |x|^p in each window)^(1 / p), padding counts as 0; kernel, strides, pads and dilations as of "      \
     "max_pool",                                                                                                       \
     "|nn.functional.lp_pool1d, 2d, 3d|LpPool|pnormPool2d", NONE, OPTIONS)                                             \
  OP(576, 1, global_average_pool, NN, ND4C_SIG_UNARY, global_pool, REAL_FLOATING,                                      \
     "mean over the spatial axes of x [n, c, ...], kept with extent 1", "||GlobalAveragePool|")                        \
  OP(577, 1, global_max_pool, NN, ND4C_SIG_UNARY, global_pool, REAL_FLOATING,                                          \
     "largest over the spatial axes of x [n, c, ...], kept with extent 1; NaN wins", "||GlobalMaxPool|")               \
  OP(578, 1, global_lp_pool, NN, ND4C_SIG_GLOBAL_LP_POOL, global_lp_pool, REAL_FLOATING,                               \
     "(sum of |x|^p)^(1 / p) over the spatial axes of x [n, c, ...], kept with extent 1", "||GlobalLpPool|")           \
  OP(579, 1, adaptive_average_pool, NN, ND4C_SIG_ADAPTIVE_POOL, adaptive_pool, REAL_FLOATING,                          \
     "for each of output_shape's spatial positions i, the mean of the cells floor(i * x / y) to ceil((i + 1) * x / "   \
     "y) - 1, x and y being the extents",                                                                              \
     "|nn.functional.adaptive_avg_pool1d, 2d, 3d||")                                                                   \
  OP(580, 1, adaptive_max_pool, NN, ND4C_SIG_ADAPTIVE_POOL_INDICES, adaptive_max_pool, REAL_FLOATING,                  \
     "largest of the cells over which adaptive_average_pool takes the mean, and its int64 index in the [n, c] "        \
     "plane; NaN wins",                                                                                                \
     "|nn.functional.adaptive_max_pool1d, 2d, 3d||")                                                                   \
  OP(581, 1, morphological_dilation, NN, ND4C_SIG_MORPHOLOGY, morphology, REAL_FLOATING,                               \
     "y = largest x + w in each window, w [c, ...]; padding never wins; strides, pads and dilations as of conv",       \
     "scipy.ndimage.grey_dilation|||dilation2D", NONE, OPTIONS)                                                        \
  OP(582, 1, morphological_erosion, NN, ND4C_SIG_MORPHOLOGY, morphology, REAL_FLOATING,                                \
     "y = smallest x - w in each window, w [c, ...]; padding never wins; strides, pads and dilations as of conv",      \
     "scipy.ndimage.grey_erosion|||", NONE, OPTIONS)                                                                   \
  OP(583, 1, separable_conv2d, NN, ND4C_SIG_SEPARABLE_CONV, separable_conv2d, REAL_FLOATING,                           \
     "conv of each channel of x [n, c, h, w] with its own filters, depthwise [c m, 1, kh, kw], then conv with "        \
     "pointwise [o, c m, 1, 1], plus bias [o]; strides, pads and dilations, of the first conv, as of conv; the "       \
     "intermediate result is not rounded to the dtype",                                                                \
     "|||sconv2d", NONE, OPTIONS)

#endif
