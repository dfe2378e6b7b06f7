/* Rows of the op table: element-wise ops of one array (abs, exp, relu, sigmoid, tanh, gelu, clip, cast). op_table.h
 * says how to read them. */
#ifndef ND4C_OP_TABLE_UNARY_H
#define ND4C_OP_TABLE_UNARY_H

#define ND4C_SIG_CLIP(A, op) A(op, IN, x, 0) A(op, OPT, low, 0) A(op, OPT, high, 0) A(op, OUT, y, 0)
#define ND4C_SIG_LEAKY(A, op) A(op, IN, x, 0) A(op, FLOAT, alpha, 0.01) A(op, OUT, y, 0)
#define ND4C_SIG_GELU(A, op) A(op, IN, x, 0) A(op, BOOL, approximate, 0) A(op, OUT, y, 0)
#define ND4C_SIG_CAST(A, op) A(op, IN, x, 0) A(op, DTYPE, dtype, 0) A(op, OUT, y, 0)

#define ND4C_OPS_UNARY(OP)                                                                                             \
  OP(1, 1, negative, UNARY, ND4C_SIG_UNARY, same, NUMERIC, "y = -x; integers wrap", "negative|neg|Neg|neg")            \
  OP(2, 1, abs, UNARY, ND4C_SIG_UNARY, magnitude, NUMERIC, "y = |x|; complex gives the real modulus",                  \
     "absolute|abs|Abs|abs")                                                                                           \
  OP(3, 1, sign, UNARY, ND4C_SIG_UNARY, same, NUMERIC, "y = -1, 0 or 1; complex x / |x|; NaN stays NaN",               \
     "sign|sign|Sign|sign")                                                                                            \
  OP(4, 1, square, UNARY, ND4C_SIG_UNARY, same, NUMERIC, "y = x * x", "square|square||square")                         \
  OP(5, 1, sqrt, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = x^(1/2), correctly rounded", "sqrt|sqrt|Sqrt|sqrt")       \
  OP(6, 1, reciprocal, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = 1 / x",                                             \
     "reciprocal|reciprocal|Reciprocal|reciprocal")                                                                    \
  OP(7, 1, exp, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = e^x", "exp|exp|Exp|exp")                                   \
  OP(8, 1, log, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = ln x", "log|log|Log|log")                                  \
  OP(9, 1, sin, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = sin x, x in radians", "sin|sin|Sin|sin")                   \
  OP(10, 1, cos, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = cos x, x in radians", "cos|cos|Cos|cos")                  \
  OP(11, 1, tanh, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = (e^x - e^-x) / (e^x + e^-x)", "tanh|tanh|Tanh|tanh")     \
  OP(12, 1, erf, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = 2 / sqrt(pi) * integral of e^(-t^2), t = 0..x",      \
     "scipy.special.erf|erf|Erf|erf")                                                                                  \
  OP(13, 1, sigmoid, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = 1 / (1 + e^-x)",                                 \
     "scipy.special.expit|sigmoid|Sigmoid|sigmoid")                                                                    \
  OP(14, 1, relu, UNARY, ND4C_SIG_UNARY, same, REAL, "y = max(x, 0); NaN stays NaN", "|nn.functional.relu|Relu|relu")  \
  OP(15, 1, leaky_relu, UNARY, ND4C_SIG_LEAKY, same, REAL_FLOATING, "y = x for x >= 0, alpha * x below",               \
     "|nn.functional.leaky_relu|LeakyRelu|leakyRelu")                                                                  \
  OP(16, 1, gelu, UNARY, ND4C_SIG_GELU, same, REAL_FLOATING,                                                           \
     "y = x / 2 * (1 + erf(x / sqrt 2)); approximate: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))",          \
     "|nn.functional.gelu|Gelu, com.microsoft.Gelu|gelu")                                                              \
  OP(17, 1, floor, UNARY, ND4C_SIG_UNARY, same, REAL, "y = largest integer <= x", "floor|floor|Floor|floor")           \
  OP(18, 1, ceil, UNARY, ND4C_SIG_UNARY, same, REAL, "y = smallest integer >= x", "ceil|ceil|Ceil|ceil")               \
  OP(19, 1, round, UNARY, ND4C_SIG_UNARY, same, NUMERIC, "y = nearest integer, ties to even; complex: each part",      \
     "round|round|Round|round")                                                                                        \
  OP(20, 1, is_nan, UNARY, ND4C_SIG_UNARY, predicate, NUMERIC, "y = x is not a number", "isnan|isnan|IsNaN|isNaN")     \
  OP(21, 1, logical_not, UNARY, ND4C_SIG_UNARY, predicate, BOOLEAN, "y = not x", "logical_not|logical_not|Not|not")    \
  OP(22, 1, clip, UNARY, ND4C_SIG_CLIP, clip, REAL,                                                                    \
     "y = min(max(x, low), high) as x's dtype; low and high are optional, broadcast with x and promote to its dtype; " \
     "NaN wins",                                                                                                       \
     "clip|clamp|Clip|clipByValue")                                                                                    \
  OP(23, 1, cast, UNARY, ND4C_SIG_CAST, cast, CASTABLE,                                                                \
     "y = x as dtype: float to integer truncates, out-of-range values saturate, NaN gives 0; complex to real drops "   \
     "the imaginary part; to float8 and float4 rounds to nearest even and saturates (cast_float8 offers other "        \
     "roundings); numbers become strings as in NumPy's str(), and strings are parsed as numbers",                      \
     "astype|Tensor.to|Cast|castTo")                                                                                   \
  OP(24, 1, copy, UNARY, ND4C_SIG_UNARY, same, STORED, "y = x, in fresh C-contiguous storage",                         \
     "copy|clone|Identity|dup", C_ORDER)

#endif
