/* The op table: the one definition of every op's number, version, name, signature, rule and doc line.
 *
 * The enum, the typed C functions (ops.h), the generic call's schema, `nd4c ops`, docs/ops.md and the test matrix are
 * derived from it. A row is
 *
 *   OP(number, version, name, category, SIGNATURE, inference rule, dtypes of the first input, doc line)
 *
 * Numbers are never reused; files and plug-ins bind by name and version. A signature lists inputs, attributes and
 * outputs in the order of the C function's parameters: A(op, kind, name, default), with the kinds
 *
 *   IN     one array               OPT   one array or NULL          VAR   an array of arrays and its count
 *   INT    int64_t                 BOOL  bool                       FLOAT double
 *   INTS   int64_t list and count  DTYPE a dtype                    STRING text
 *   OUT    one output
 *
 * The inference rule names nd4c_infer_<rule> of src/ops. */
#ifndef ND4C_OP_TABLE_H
#define ND4C_OP_TABLE_H

/* -- signatures ----------------------------------------------------------------------------------------------- */

#define ND4C_SIG_UNARY(A, op) A(op, IN, x, 0) A(op, OUT, y, 0)
#define ND4C_SIG_BINARY(A, op) A(op, IN, a, 0) A(op, IN, b, 0) A(op, OUT, y, 0)
#define ND4C_SIG_CLIP(A, op) A(op, IN, x, 0) A(op, OPT, low, 0) A(op, OPT, high, 0) A(op, OUT, y, 0)
#define ND4C_SIG_LEAKY(A, op) A(op, IN, x, 0) A(op, FLOAT, alpha, 0.01) A(op, OUT, y, 0)
#define ND4C_SIG_GELU(A, op) A(op, IN, x, 0) A(op, BOOL, approximate, 0) A(op, OUT, y, 0)
#define ND4C_SIG_WHERE(A, op) A(op, IN, condition, 0) A(op, IN, a, 0) A(op, IN, b, 0) A(op, OUT, y, 0)
#define ND4C_SIG_CAST(A, op) A(op, IN, x, 0) A(op, DTYPE, dtype, 0) A(op, OUT, y, 0)
#define ND4C_SIG_REDUCE(A, op) A(op, IN, x, 0) A(op, INTS, axes, 0) A(op, BOOL, keepdims, 0) A(op, OUT, y, 0)
#define ND4C_SIG_ARG_REDUCE(A, op) A(op, IN, x, 0) A(op, INT, axis, 0) A(op, BOOL, keepdims, 0) A(op, OUT, y, 0)
#define ND4C_SIG_AXIS(A, op) A(op, IN, x, 0) A(op, INT, axis, -1) A(op, OUT, y, 0)
#define ND4C_SIG_LINEAR(A, op)                                                                                      \
  A(op, IN, x, 0)                                                                                                   \
  A(op, IN, w, 0)                                                                                                   \
  A(op, OPT, bias, 0) A(op, OPT, addend, 0) A(op, BOOL, transpose_w, 0) A(op, INT, activation, 0) A(op, OUT, y, 0)
#define ND4C_SIG_CONV(A, op)                                                                                        \
  A(op, IN, x, 0)                                                                                                   \
  A(op, IN, w, 0)                                                                                                   \
  A(op, OPT, bias, 0)                                                                                               \
  A(op, OPT, addend, 0)                                                                                             \
  A(op, INTS, strides, 0)                                                                                           \
  A(op, INTS, pads, 0)                                                                                              \
  A(op, INTS, dilations, 0)                                                                                         \
  A(op, INT, groups, 1) A(op, INT, auto_pad, 0) A(op, INT, activation, 0) A(op, OUT, y, 0)
#define ND4C_SIG_POOL(A, op)                                                                                        \
  A(op, IN, x, 0)                                                                                                   \
  A(op, INTS, kernel, 0)                                                                                            \
  A(op, INTS, strides, 0)                                                                                           \
  A(op, INTS, pads, 0)                                                                                              \
  A(op, INTS, dilations, 0)                                                                                         \
  A(op, INT, auto_pad, 0) A(op, BOOL, ceil_mode, 0) A(op, BOOL, count_include_pad, 0) A(op, OUT, y, 0)
#define ND4C_SIG_BATCH_NORM(A, op)                                                                                  \
  A(op, IN, x, 0)                                                                                                   \
  A(op, IN, scale, 0)                                                                                               \
  A(op, IN, bias, 0) A(op, IN, mean, 0) A(op, IN, variance, 0) A(op, FLOAT, epsilon, 1e-5) A(op, OUT, y, 0)
#define ND4C_SIG_LAYER_NORM(A, op)                                                                                  \
  A(op, IN, x, 0)                                                                                                   \
  A(op, OPT, scale, 0) A(op, OPT, bias, 0) A(op, INT, axis, -1) A(op, FLOAT, epsilon, 1e-5) A(op, OUT, y, 0)
#define ND4C_SIG_LRN(A, op)                                                                                         \
  A(op, IN, x, 0)                                                                                                   \
  A(op, INT, size, 5) A(op, FLOAT, alpha, 1e-4) A(op, FLOAT, beta, 0.75) A(op, FLOAT, bias, 1.0) A(op, OUT, y, 0)
#define ND4C_SIG_RESHAPE(A, op) A(op, IN, x, 0) A(op, INTS, shape, 0) A(op, OUT, y, 0)
#define ND4C_SIG_AXES(A, op) A(op, IN, x, 0) A(op, INTS, axes, 0) A(op, OUT, y, 0)
#define ND4C_SIG_SLICE(A, op)                                                                                       \
  A(op, IN, x, 0)                                                                                                   \
  A(op, INTS, starts, 0) A(op, INTS, stops, 0) A(op, INTS, axes, 0) A(op, INTS, steps, 0) A(op, OUT, y, 0)
#define ND4C_SIG_CONCAT(A, op) A(op, VAR, xs, 0) A(op, INT, axis, 0) A(op, OUT, y, 0)
#define ND4C_SIG_GATHER(A, op) A(op, IN, x, 0) A(op, IN, indices, 0) A(op, INT, axis, 0) A(op, OUT, y, 0)

/* -- rows, one list a family ---------------------------------------------------------------------------------- */

#define ND4C_OPS_UNARY(OP)                                                                                          \
  OP(1, 1, negative, UNARY, ND4C_SIG_UNARY, same, NUMERIC, "y = -x; integers wrap")                                 \
  OP(2, 1, abs, UNARY, ND4C_SIG_UNARY, magnitude, NUMERIC, "y = |x|; complex gives the real modulus")               \
  OP(3, 1, sign, UNARY, ND4C_SIG_UNARY, same, REAL, "y = -1, 0 or 1; NaN stays NaN")                                \
  OP(4, 1, square, UNARY, ND4C_SIG_UNARY, same, NUMERIC, "y = x * x")                                               \
  OP(5, 1, sqrt, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = x^(1/2), correctly rounded")                           \
  OP(6, 1, reciprocal, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = 1 / x")                                          \
  OP(7, 1, exp, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = e^x")                                                   \
  OP(8, 1, log, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = ln x")                                                  \
  OP(9, 1, sin, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = sin x, x in radians")                                   \
  OP(10, 1, cos, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = cos x, x in radians")                                  \
  OP(11, 1, tanh, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = (e^x - e^-x) / (e^x + e^-x)")                         \
  OP(12, 1, erf, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = 2 / sqrt(pi) * integral of e^(-t^2), t = 0..x")   \
  OP(13, 1, sigmoid, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = 1 / (1 + e^-x)")                              \
  OP(14, 1, relu, UNARY, ND4C_SIG_UNARY, same, REAL, "y = max(x, 0); NaN stays NaN")                                \
  OP(15, 1, leaky_relu, UNARY, ND4C_SIG_LEAKY, same, REAL_FLOATING, "y = x for x >= 0, alpha * x below")            \
  OP(16, 1, gelu, UNARY, ND4C_SIG_GELU, same, REAL_FLOATING,                                                        \
     "y = x / 2 * (1 + erf(x / sqrt 2)); approximate: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))")       \
  OP(17, 1, floor, UNARY, ND4C_SIG_UNARY, same, REAL, "y = largest integer <= x")                                   \
  OP(18, 1, ceil, UNARY, ND4C_SIG_UNARY, same, REAL, "y = smallest integer >= x")                                   \
  OP(19, 1, round, UNARY, ND4C_SIG_UNARY, same, REAL, "y = nearest integer, ties to even")                          \
  OP(20, 1, is_nan, UNARY, ND4C_SIG_UNARY, predicate, NUMERIC, "y = x is not a number")                             \
  OP(21, 1, logical_not, UNARY, ND4C_SIG_UNARY, predicate, BOOLEAN, "y = not x")                                    \
  OP(22, 1, clip, UNARY, ND4C_SIG_CLIP, clip, REAL, "y = min(max(x, low), high); low and high are 0-d, optional")   \
  OP(23, 1, cast, UNARY, ND4C_SIG_CAST, cast, NUMBER_OR_BOOL,                                                       \
     "y = x as dtype: float to integer truncates, out of range saturates, NaN gives 0; complex to real drops the "  \
     "imaginary part")                                                                                              \
  OP(24, 1, copy, UNARY, ND4C_SIG_UNARY, same, ANY, "y = x, in fresh C-contiguous storage")

#define ND4C_OPS_BINARY(OP)                                                                                         \
  OP(40, 1, add, BINARY, ND4C_SIG_BINARY, promote, NUMERIC, "y = a + b, broadcast; integers wrap")                  \
  OP(41, 1, subtract, BINARY, ND4C_SIG_BINARY, promote, NUMERIC, "y = a - b, broadcast; integers wrap")             \
  OP(42, 1, multiply, BINARY, ND4C_SIG_BINARY, promote, NUMERIC, "y = a * b, broadcast; integers wrap")             \
  OP(43, 1, divide, BINARY, ND4C_SIG_BINARY, promote, NUMERIC,                                                      \
     "y = a / b, broadcast; integers truncate toward zero, division by zero gives 0")                               \
  OP(44, 1, power, BINARY, ND4C_SIG_BINARY, promote, NUMERIC,                                                       \
     "y = a^b, broadcast; integers wrap, a negative integer exponent truncates the quotient")                       \
  OP(45, 1, maximum, BINARY, ND4C_SIG_BINARY, promote, REAL, "y = the larger of a and b; NaN wins")                 \
  OP(46, 1, minimum, BINARY, ND4C_SIG_BINARY, promote, REAL, "y = the smaller of a and b; NaN wins")                \
  OP(47, 1, equal, BINARY, ND4C_SIG_BINARY, compare, NUMBER_OR_BOOL, "y = a == b, exact across dtypes' promotion")  \
  OP(48, 1, not_equal, BINARY, ND4C_SIG_BINARY, compare, NUMBER_OR_BOOL, "y = a != b")                              \
  OP(49, 1, less, BINARY, ND4C_SIG_BINARY, compare, REAL, "y = a < b")                                              \
  OP(50, 1, less_equal, BINARY, ND4C_SIG_BINARY, compare, REAL, "y = a <= b")                                       \
  OP(51, 1, greater, BINARY, ND4C_SIG_BINARY, compare, REAL, "y = a > b")                                           \
  OP(52, 1, greater_equal, BINARY, ND4C_SIG_BINARY, compare, REAL, "y = a >= b")                                    \
  OP(53, 1, logical_and, BINARY, ND4C_SIG_BINARY, compare, BOOLEAN, "y = a and b")                                  \
  OP(54, 1, logical_or, BINARY, ND4C_SIG_BINARY, compare, BOOLEAN, "y = a or b")                                    \
  OP(55, 1, logical_xor, BINARY, ND4C_SIG_BINARY, compare, BOOLEAN, "y = a xor b")                                  \
  OP(56, 1, where, TERNARY, ND4C_SIG_WHERE, where, BOOLEAN, "y = a where condition holds, else b; broadcast")

#define ND4C_OPS_REDUCTION(OP)                                                                                      \
  OP(70, 1, sum, REDUCTION, ND4C_SIG_REDUCE, reduce_sum, NUMBER_OR_BOOL,                                            \
     "sum over axes (none: all); pairwise in f32 or wider; small integers widen to (u)int64")                       \
  OP(71, 1, prod, REDUCTION, ND4C_SIG_REDUCE, reduce_sum, NUMBER_OR_BOOL,                                           \
     "product over axes (none: all); small integers widen to (u)int64")                                             \
  OP(72, 1, mean, REDUCTION, ND4C_SIG_REDUCE, reduce_same, FLOATING, "arithmetic mean over axes (none: all)")       \
  OP(73, 1, max, REDUCTION, ND4C_SIG_REDUCE, reduce_nonempty, REAL, "largest over axes (none: all); NaN wins")      \
  OP(74, 1, min, REDUCTION, ND4C_SIG_REDUCE, reduce_nonempty, REAL, "smallest over axes (none: all); NaN wins")     \
  OP(75, 1, all, REDUCTION, ND4C_SIG_REDUCE, reduce_bool, BOOLEAN, "true if every element over axes is")            \
  OP(76, 1, any, REDUCTION, ND4C_SIG_REDUCE, reduce_bool, BOOLEAN, "true if some element over axes is")             \
  OP(77, 1, argmax, REDUCTION, ND4C_SIG_ARG_REDUCE, arg_reduce, REAL, "int64 index of the first largest; NaN wins") \
  OP(78, 1, argmin, REDUCTION, ND4C_SIG_ARG_REDUCE, arg_reduce, REAL, "int64 index of the first smallest; NaN wins")

#define ND4C_OPS_LINALG(OP)                                                                                         \
  OP(90, 1, matmul, LINALG, ND4C_SIG_BINARY, matmul, NUMERIC,                                                       \
     "matrix product over the last two axes, the others broadcast; 1-D operands as NumPy's matmul")                 \
  OP(91, 1, linear, LINALG, ND4C_SIG_LINEAR, linear, REAL_FLOATING,                                                 \
     "y = activation(x w + bias + addend): x [..., k], w [k, n] or, transposed, [n, k], bias [n] or broadcastable " \
     "to y, addend like y")

#define ND4C_OPS_NN(OP)                                                                                             \
  OP(110, 1, conv, NN, ND4C_SIG_CONV, conv, REAL_FLOATING,                                                          \
     "y = activation(x * w + bias + addend), cross-correlation over 1 to 3 spatial axes: x [n, c, ...], "           \
     "w [o, c / groups, ...], bias [o], addend like y; pads: all begins, then all ends")                            \
  OP(111, 1, max_pool, NN, ND4C_SIG_POOL, pool, REAL, "largest in each window; padding never wins")                 \
  OP(112, 1, average_pool, NN, ND4C_SIG_POOL, pool, REAL_FLOATING,                                                  \
     "mean of each window, of its cells inside x or, count_include_pad, inside the padded x")                       \
  OP(113, 1, batch_norm, NN, ND4C_SIG_BATCH_NORM, batch_norm, REAL_FLOATING,                                        \
     "y = (x - mean) / sqrt(variance + epsilon) * scale + bias, by channel (axis 1)")                               \
  OP(114, 1, layer_norm, NN, ND4C_SIG_LAYER_NORM, layer_norm, REAL_FLOATING,                                        \
     "y = (x - m) / sqrt(v + epsilon) * scale + bias, m and v over the axes from axis on")                          \
  OP(115, 1, softmax, NN, ND4C_SIG_AXIS, axis_same, REAL_FLOATING, "y = e^(x - max) / sum of e^(x - max) on axis")  \
  OP(116, 1, log_softmax, NN, ND4C_SIG_AXIS, axis_same, REAL_FLOATING, "y = x - max - ln sum of e^(x - max)")       \
  OP(117, 1, lrn, NN, ND4C_SIG_LRN, lrn, REAL_FLOATING,                                                             \
     "y = x / (bias + alpha / size * sum of squares over size neighbouring channels)^beta")

#define ND4C_OPS_SHAPE(OP)                                                                                          \
  OP(130, 1, reshape, SHAPE, ND4C_SIG_RESHAPE, reshape, ANY,                                                        \
     "x with another shape, C order; one -1 is inferred; a view where the strides allow it")                        \
  OP(131, 1, transpose, SHAPE, ND4C_SIG_AXES, transpose, ANY, "x with axes permuted (none: reversed); a view")      \
  OP(132, 1, broadcast_to, SHAPE, ND4C_SIG_RESHAPE, broadcast_to, ANY, "x repeated to a shape; a view")             \
  OP(133, 1, squeeze, SHAPE, ND4C_SIG_AXES, squeeze, ANY, "x without the given axes of length 1 (none: all); a view") \
  OP(134, 1, expand_dims, SHAPE, ND4C_SIG_AXES, expand_dims, ANY, "x with axes of length 1 inserted; a view")       \
  OP(135, 1, flatten, SHAPE, ND4C_SIG_AXIS, flatten, ANY, "x as 2-D: axes before axis, axes from axis on")          \
  OP(136, 1, slice, SHAPE, ND4C_SIG_SLICE, slice, ANY,                                                              \
     "x[start:stop:step] on the given axes (none: the first ones), Python's meaning; a view")                       \
  OP(137, 1, concat, SHAPE, ND4C_SIG_CONCAT, concat, ANY, "arrays joined along an axis; dtypes promoted")           \
  OP(138, 1, gather, SHAPE, ND4C_SIG_GATHER, gather, ANY,                                                           \
     "x's slices at indices (int32 or int64, negative counts from the end) along axis; out of range: ND4C_INDEX")

#define ND4C_OP_TABLE(OP) \
  ND4C_OPS_UNARY(OP)      \
  ND4C_OPS_BINARY(OP)     \
  ND4C_OPS_REDUCTION(OP)  \
  ND4C_OPS_LINALG(OP)     \
  ND4C_OPS_NN(OP)         \
  ND4C_OPS_SHAPE(OP)

/* Values of the attribute `activation` of linear and conv: X(NAME, number, name). */
#define ND4C_ACTIVATION_TABLE(X) \
  X(NONE, 0, "none")             \
  X(RELU, 1, "relu")             \
  X(GELU, 2, "gelu")             \
  X(GELU_TANH, 3, "gelu_tanh")   \
  X(SIGMOID, 4, "sigmoid")       \
  X(TANH, 5, "tanh")

/* Values of the attribute `auto_pad` of conv and pools: X(NAME, number, name). SAME_* pad so that the output has
 * ceil(input / stride) cells; an odd cell goes to the end (UPPER) or the beginning (LOWER). */
#define ND4C_AUTO_PAD_TABLE(X)       \
  X(EXPLICIT, 0, "explicit")         \
  X(SAME_UPPER, 1, "same_upper")     \
  X(SAME_LOWER, 2, "same_lower")     \
  X(VALID, 3, "valid")

#endif
