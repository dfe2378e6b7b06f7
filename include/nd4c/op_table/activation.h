/* Rows of the op table: elu, selu, mish, swish, glu and others; relu, sigmoid, tanh and gelu are in unary.h.
 * op_table.h says how to read them. */
#ifndef ND4C_OP_TABLE_ACTIVATION_H
#define ND4C_OP_TABLE_ACTIVATION_H

#define ND4C_SIG_ALPHA(A, op) A(op, IN, x, 0) A(op, FLOAT, alpha, 1.0) A(op, OUT, y, 0)
#define ND4C_SIG_SELU(A, op)              \
  A(op, IN, x, 0)                         \
  A(op, FLOAT, alpha, 1.6732632423543772) \
  A(op, FLOAT, gamma, 1.0507009873554805) A(op, OUT, y, 0)
#define ND4C_SIG_SOFTPLUS(A, op) A(op, IN, x, 0) A(op, FLOAT, beta, 1.0) A(op, OUT, y, 0)
#define ND4C_SIG_HARD_SIGMOID(A, op) A(op, IN, x, 0) A(op, FLOAT, alpha, 0.2) A(op, FLOAT, beta, 0.5) A(op, OUT, y, 0)
#define ND4C_SIG_SWIGLU(A, op) A(op, IN, a, 0) A(op, IN, b, 0) A(op, FLOAT, alpha, 1.0) A(op, OUT, y, 0)
#define ND4C_SIG_PRELU(A, op) A(op, IN, x, 0) A(op, IN, slope, 0) A(op, OUT, y, 0)
#define ND4C_SIG_HARD_TANH(A, op) A(op, IN, x, 0) A(op, FLOAT, low, -1.0) A(op, FLOAT, high, 1.0) A(op, OUT, y, 0)
#define ND4C_SIG_SHRINK(A, op) A(op, IN, x, 0) A(op, FLOAT, lambd, 0.5) A(op, FLOAT, bias, 0.0) A(op, OUT, y, 0)
#define ND4C_SIG_THRESHOLD(A, op) A(op, IN, x, 0) A(op, FLOAT, threshold, 0.0) A(op, FLOAT, value, 0.0) A(op, OUT, y, 0)

#define ND4C_OPS_ACTIVATION(OP)                                                                                      \
  OP(300, 1, elu, UNARY, ND4C_SIG_ALPHA, same, REAL_FLOATING, "y = x for x > 0, alpha (e^x - 1) below",              \
     "|nn.functional.elu|Elu|elu")                                                                                   \
  OP(301, 1, selu, UNARY, ND4C_SIG_SELU, same, REAL_FLOATING, "y = gamma x for x > 0, gamma alpha (e^x - 1) below",  \
     "|nn.functional.selu|Selu|selu")                                                                                \
  OP(302, 1, celu, UNARY, ND4C_SIG_ALPHA, divisor, REAL_FLOATING,                                                    \
     "y = max(x, 0) + min(alpha (e^(x / alpha) - 1), 0); alpha is not 0", "|nn.functional.celu|Celu|")               \
  OP(303, 1, softplus, UNARY, ND4C_SIG_SOFTPLUS, divisor, REAL_FLOATING,                                             \
     "y = ln(1 + e^(beta x)) / beta; beta is not 0", "|nn.functional.softplus|Softplus|softplus")                    \
  OP(304, 1, softsign, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = x / (1 + |x|); 1 and -1 at infinity",        \
     "|nn.functional.softsign|Softsign|softsign")                                                                    \
  OP(305, 1, hard_sigmoid, UNARY, ND4C_SIG_HARD_SIGMOID, same, REAL_FLOATING,                                        \
     "y = min(max(alpha x + beta, 0), 1); PyTorch's alpha is 1/6",                                                   \
     "|nn.functional.hardsigmoid|HardSigmoid|hardSigmoid")                                                           \
  OP(306, 1, hard_swish, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING,                                                 \
     "y = x min(max(x / 6 + 1/2, 0), 1); -0 at minus infinity", "|nn.functional.hardswish|HardSwish|")               \
  OP(307, 1, mish, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = x tanh(ln(1 + e^x)); -0 at minus infinity",      \
     "|nn.functional.mish|Mish|mish")                                                                                \
  OP(308, 1, swish, UNARY, ND4C_SIG_ALPHA, same, REAL_FLOATING,                                                      \
     "y = x / (1 + e^(-alpha x)), SiLU for alpha = 1; -0 at minus infinity",                                         \
     "|nn.functional.silu|Swish, com.microsoft.QuickGelu|swish")                                                     \
  OP(309, 1, prelu, BINARY, ND4C_SIG_PRELU, prelu, REAL,                                                             \
     "y = x for x >= 0, slope x below; slope broadcasts to x, integers wrap", "|nn.functional.prelu|PRelu|prelu")    \
  OP(310, 1, threshold, UNARY, ND4C_SIG_THRESHOLD, same, REAL_FLOATING,                                              \
     "y = x for x > threshold, else value; NaN stays NaN", "|nn.functional.threshold|ThresholdedRelu|thresholdRelu") \
  OP(311, 1, hard_tanh, UNARY, ND4C_SIG_HARD_TANH, same, REAL_FLOATING,                                              \
     "y = min(max(x, low), high); relu6 for 0 and 6", "|nn.functional.hardtanh, relu6||hardTanh, relu6")             \
  OP(312, 1, log_sigmoid, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = -ln(1 + e^-x)",                           \
     "scipy.special.log_expit|nn.functional.logsigmoid||logSigmoid")                                                 \
  OP(313, 1, tanh_shrink, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = x - tanh x, without cancellation",        \
     "|nn.functional.tanhshrink||")                                                                                  \
  OP(314, 1, shrink, UNARY, ND4C_SIG_SHRINK, same, REAL_FLOATING,                                                    \
     "y = x - bias for x > lambd, x + bias for x < -lambd, else 0; NaN stays NaN",                                   \
     "|nn.functional.hardshrink, softshrink|Shrink|")                                                                \
  OP(315, 1, cube, UNARY, ND4C_SIG_UNARY, same, NUMERIC, "y = x x x; integers wrap", "|||cube")                      \
  OP(316, 1, rational_tanh, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING,                                              \
     "y = 1.7159 s (1 - 1 / (1 + |u| + u^2 + 1.41645 u^4)), u = 2 x / 3, s its sign", "|||rationalTanh")             \
  OP(317, 1, rectified_tanh, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = max(tanh x, 0)", "|||rectifiedTanh")   \
  OP(318, 1, glu, NN, ND4C_SIG_AXIS, glu, REAL_FLOATING, "y = a / (1 + e^-b), a and b the halves of x along axis",   \
     "|nn.functional.glu||")                                                                                         \
  OP(319, 1, crelu, NN, ND4C_SIG_AXIS, crelu, REAL, "y = max(x, 0) and then max(-x, 0) along axis; integers wrap",   \
     "|||cReLU")                                                                                                     \
  OP(320, 1, swiglu, BINARY, ND4C_SIG_SWIGLU, promote, REAL_FLOATING, "y = b a / (1 + e^(-alpha a)), broadcast",     \
     "||SwiGLU|")

#endif
