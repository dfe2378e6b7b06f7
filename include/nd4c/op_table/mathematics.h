/* Rows of the op table: further element-wise ops (elementary and special functions, bits, parts of numbers).
 * op_table.h says how to read them. */
#ifndef ND4C_OP_TABLE_MATHEMATICS_H
#define ND4C_OP_TABLE_MATHEMATICS_H

#define ND4C_SIG_IS_INF(A, op) \
  A(op, IN, x, 0) A(op, BOOL, detect_negative, 1) A(op, BOOL, detect_positive, 1) A(op, OUT, y, 0)
#define ND4C_SIG_NAN_TO_NUM(A, op) \
  A(op, IN, x, 0)                  \
  A(op, FLOAT, nan, 0.0)           \
  A(op, FLOAT, posinf, 1.7976931348623157e308) A(op, FLOAT, neginf, -1.7976931348623157e308) A(op, OUT, y, 0)
#define ND4C_SIG_IS_CLOSE(A, op) \
  A(op, IN, a, 0)                \
  A(op, IN, b, 0)                \
  A(op, FLOAT, rtol, 1e-5) A(op, FLOAT, atol, 1e-8) A(op, BOOL, equal_nan, 0) A(op, OUT, y, 0)
#define ND4C_SIG_LDEXP(A, op) A(op, IN, x, 0) A(op, IN, exponent, 0) A(op, OUT, y, 0)

#define ND4C_SIG_INCOMPLETE_GAMMA(A, op) A(op, IN, a, 0) A(op, IN, x, 0) A(op, OUT, y, 0)
#define ND4C_SIG_INCOMPLETE_BETA(A, op) A(op, IN, a, 0) A(op, IN, b, 0) A(op, IN, x, 0) A(op, OUT, y, 0)
#define ND4C_SIG_ZETA(A, op) A(op, IN, x, 0) A(op, IN, q, 0) A(op, OUT, y, 0)
#define ND4C_SIG_POLYGAMMA(A, op) A(op, IN, n, 0) A(op, IN, x, 0) A(op, OUT, y, 0)

#define ND4C_OPS_MATHEMATICS_UNARY(OP)                                                                                 \
  OP(200, 1, acos, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = arc cosine of x, 0 to pi", "arccos|acos|Acos|acos")     \
  OP(201, 1, acosh, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = ln(x + sqrt(x + 1) sqrt(x - 1))",                      \
     "arccosh|acosh|Acosh|acosh")                                                                                      \
  OP(202, 1, asin, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = arc sine of x, -pi/2 to pi/2", "arcsin|asin|Asin|asin") \
  OP(203, 1, asinh, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = ln(x + sqrt(x^2 + 1))", "arcsinh|asinh|Asinh|asinh")   \
  OP(204, 1, atan, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = arc tangent of x, -pi/2 to pi/2",                       \
     "arctan|atan|Atan|atan")                                                                                          \
  OP(205, 1, atanh, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = ln((1 + x) / (1 - x)) / 2",                            \
     "arctanh|atanh|Atanh|atanh")                                                                                      \
  OP(206, 1, cosh, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = (e^x + e^-x) / 2", "cosh|cosh|Cosh|cosh")               \
  OP(207, 1, sinh, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = (e^x - e^-x) / 2", "sinh|sinh|Sinh|sinh")               \
  OP(208, 1, tan, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = sin x / cos x, x in radians", "tan|tan|Tan|tan")         \
  OP(209, 1, expm1, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = e^x - 1, without cancellation", "expm1|expm1||expm1")  \
  OP(210, 1, log1p, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = ln(1 + x), without cancellation",                      \
     "log1p|log1p||log1p")                                                                                             \
  OP(211, 1, log2, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = ln x / ln 2", "log2|log2||")                            \
  OP(212, 1, log10, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = ln x / ln 10", "log10|log10||")                        \
  OP(213, 1, exp2, UNARY, ND4C_SIG_UNARY, same, FLOATING, "y = 2^x", "exp2|exp2||")                                    \
  OP(214, 1, cbrt, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = x^(1/3), also for negative x", "cbrt|||")          \
  OP(215, 1, rsqrt, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = x^(-1/2)", "|rsqrt||rsqrt")                       \
  OP(216, 1, trunc, UNARY, ND4C_SIG_UNARY, same, REAL, "y = x without its fraction", "trunc|trunc||")                  \
  OP(217, 1, frac, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = x - trunc x; NaN for infinities", "|frac||")       \
  OP(218, 1, is_finite, UNARY, ND4C_SIG_UNARY, predicate, NUMERIC,                                                     \
     "y = x is neither infinite nor NaN; complex: both parts", "isfinite|isfinite||isFinite")                          \
  OP(219, 1, is_inf, UNARY, ND4C_SIG_IS_INF, predicate, NUMERIC,                                                       \
     "y = x is infinite with a sign that the attributes detect; complex: either part", "isinf|isinf|IsInf|isInfinite") \
  OP(220, 1, signbit, UNARY, ND4C_SIG_UNARY, predicate, REAL_FLOATING,                                                 \
     "y = the sign bit of x is set; true also for -0 and for NaN with that bit", "signbit|signbit||")                  \
  OP(221, 1, conj, UNARY, ND4C_SIG_UNARY, same, NUMERIC, "y = Re x - i Im x; y = x for real dtypes",                   \
     "conj|conj_physical||")                                                                                           \
  OP(222, 1, real, UNARY, ND4C_SIG_UNARY, magnitude, NUMERIC, "y = Re x; y = x for real dtypes", "real|real||")        \
  OP(223, 1, imag, UNARY, ND4C_SIG_UNARY, magnitude, NUMERIC, "y = Im x; 0 for real dtypes", "imag|imag||")            \
  OP(224, 1, angle, UNARY, ND4C_SIG_UNARY, magnitude, FLOATING, "y = atan2(Im x, Re x); real x: 0, or pi if negative", \
     "angle|angle||")                                                                                                  \
  OP(225, 1, positive, UNARY, ND4C_SIG_UNARY, same, NUMERIC, "y = x", "positive|positive||")                           \
  OP(226, 1, bitwise_invert, UNARY, ND4C_SIG_UNARY, same, INTEGER_OR_BOOL, "y = all bits of x inverted; bools: not x", \
     "bitwise_invert|bitwise_not|BitwiseNot|toggleBits")                                                               \
  OP(227, 1, bit_count, UNARY, ND4C_SIG_UNARY, bit_count, INTEGER,                                                     \
     "y = the number of bits that are 1 in |x|, as uint8", "bitwise_count|||")                                         \
  OP(228, 1, erfc, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = 1 - erf x, without cancellation",                  \
     "scipy.special.erfc|erfc||erfc")                                                                                  \
  OP(229, 1, erfinv, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING,                                                       \
     "y with erf y = x; infinite for 1 and -1, NaN beyond", "scipy.special.erfinv|erfinv||")                           \
  OP(230, 1, lgamma, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = ln |gamma(x)|; infinite at 0, -1, -2, ...",      \
     "scipy.special.gammaln|lgamma||lgamma")                                                                           \
  OP(231, 1, digamma, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING,                                                      \
     "y = d/dx ln gamma(x); NaN at -1, -2, ... and at minus infinity, -inf at 0, inf at -0",                           \
     "scipy.special.digamma|digamma||digamma")                                                                         \
  OP(232, 1, i0, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING,                                                           \
     "y = modified Bessel function of the first kind, order 0", "i0|i0||")                                             \
  OP(233, 1, i1, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING,                                                           \
     "y = modified Bessel function of the first kind, order 1", "scipy.special.i1|special.i1||")                       \
  OP(234, 1, sinc, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = sin(pi x) / (pi x); 1 at 0", "sinc|sinc||")        \
  OP(235, 1, deg2rad, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = x pi / 180", "deg2rad|deg2rad||")               \
  OP(236, 1, rad2deg, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = x 180 / pi", "rad2deg|rad2deg||")               \
  OP(237, 1, gamma, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING,                                                        \
     "y = gamma(x); NaN at -1, -2, ... and at minus infinity", "scipy.special.gamma|||")                               \
  OP(238, 1, logit, UNARY, ND4C_SIG_UNARY, same, REAL_FLOATING, "y = ln(x / (1 - x)); NaN outside 0 to 1",             \
     "scipy.special.logit|logit||")                                                                                    \
  OP(239, 1, nan_to_num, UNARY, ND4C_SIG_NAN_TO_NUM, same, REAL_FLOATING,                                              \
     "y = x with NaN and infinities replaced; replacements beyond the dtype's range become its largest and smallest "  \
     "numbers",                                                                                                        \
     "nan_to_num|nan_to_num||")                                                                                        \
  OP(240, 1, bit_cast, UNARY, ND4C_SIG_CAST, bit_cast, NUMBER_OR_BOOL,                                                 \
     "y = the bits of x read as another dtype of the same size", "ndarray.view|Tensor.view|BitCast|bitcast")

#define ND4C_OPS_MATHEMATICS_BINARY(OP)                                                                               \
  OP(250, 1, atan2, BINARY, ND4C_SIG_BINARY, promote, REAL_FLOATING, "y = angle of the point (b, a), -pi to pi",      \
     "arctan2|atan2||atan2")                                                                                          \
  OP(251, 1, bitwise_and, BINARY, ND4C_SIG_BINARY, promote, INTEGER_OR_BOOL, "y = a & b, bit by bit",                 \
     "bitwise_and|bitwise_and|BitwiseAnd|bitwiseAnd")                                                                 \
  OP(252, 1, bitwise_or, BINARY, ND4C_SIG_BINARY, promote, INTEGER_OR_BOOL, "y = a | b, bit by bit",                  \
     "bitwise_or|bitwise_or|BitwiseOr|bitwiseOr")                                                                     \
  OP(253, 1, bitwise_xor, BINARY, ND4C_SIG_BINARY, promote, INTEGER_OR_BOOL, "y = a ^ b, bit by bit",                 \
     "bitwise_xor|bitwise_xor|BitwiseXor|bitwiseXor")                                                                 \
  OP(254, 1, bitwise_left_shift, BINARY, ND4C_SIG_BINARY, promote, INTEGER,                                           \
     "y = a << b; 0 where b is negative or at least the number of bits",                                              \
     "bitwise_left_shift|bitwise_left_shift|BitShift|leftShift")                                                      \
  OP(255, 1, bitwise_right_shift, BINARY, ND4C_SIG_BINARY, promote, INTEGER,                                          \
     "y = a >> b, keeping the sign; where b is negative or at least the number of bits, -1 for "                      \
     "negative a, else 0",                                                                                            \
     "bitwise_right_shift|bitwise_right_shift|BitShift|rightShift")                                                   \
  OP(256, 1, copysign, BINARY, ND4C_SIG_BINARY, promote, REAL_FLOATING, "y = |a| with the sign bit of b",             \
     "copysign|copysign||")                                                                                           \
  OP(257, 1, floor_divide, BINARY, ND4C_SIG_BINARY, promote, REAL,                                                    \
     "y = floor(a / b) of the exact quotient; integers: division by zero gives 0, overflow wraps",                    \
     "floor_divide|floor_divide||floorDiv")                                                                           \
  OP(258, 1, remainder, BINARY, ND4C_SIG_BINARY, promote, REAL,                                                       \
     "y = a - b floor(a / b), with the sign of b, as Python's %; integers: division by zero gives 0",                 \
     "remainder|remainder|Mod|floorMod")                                                                              \
  OP(259, 1, fmod, BINARY, ND4C_SIG_BINARY, promote, REAL,                                                            \
     "y = a - b trunc(a / b), with the sign of a, as C's %; integers: division by zero gives 0", "fmod|fmod|Mod|mod") \
  OP(260, 1, hypot, BINARY, ND4C_SIG_BINARY, promote, REAL_FLOATING, "y = sqrt(a^2 + b^2), without overflow",         \
     "hypot|hypot||")                                                                                                 \
  OP(261, 1, logaddexp, BINARY, ND4C_SIG_BINARY, promote, REAL_FLOATING, "y = ln(e^a + e^b), without overflow",       \
     "logaddexp|logaddexp||")                                                                                         \
  OP(262, 1, nextafter, BINARY, ND4C_SIG_BINARY, promote, REAL_FLOATING,                                              \
     "y = the number next to a in the direction of b; b if they are equal", "nextafter|nextafter||")                  \
  OP(263, 1, true_divide, BINARY, ND4C_SIG_BINARY, true_divide, NUMERIC,                                              \
     "y = a / b, broadcast; integers are divided as float64", "true_divide|true_divide||")                            \
  OP(264, 1, xlogy, BINARY, ND4C_SIG_BINARY, promote, REAL_FLOATING, "y = a ln b; 0 where a is 0 and b is not NaN",   \
     "scipy.special.xlogy|xlogy||")                                                                                   \
  OP(265, 1, gcd, BINARY, ND4C_SIG_BINARY, promote, INTEGER,                                                          \
     "y = greatest common divisor of |a| and |b|; 0 if both are 0", "gcd|gcd||")                                      \
  OP(266, 1, lcm, BINARY, ND4C_SIG_BINARY, promote, INTEGER,                                                          \
     "y = least common multiple of |a| and |b|; overflow wraps", "lcm|lcm||")                                         \
  OP(267, 1, ldexp, BINARY, ND4C_SIG_LDEXP, ldexp, REAL_FLOATING, "y = x 2^exponent, exponent an integer",            \
     "ldexp|ldexp||")                                                                                                 \
  OP(268, 1, heaviside, BINARY, ND4C_SIG_BINARY, promote, REAL_FLOATING, "y = 0 for a < 0, b for a = 0, 1 for a > 0", \
     "heaviside|heaviside||")                                                                                         \
  OP(269, 1, fmax, BINARY, ND4C_SIG_BINARY, promote, REAL, "y = the larger of a and b; a number wins over NaN",       \
     "fmax|fmax||")                                                                                                   \
  OP(270, 1, fmin, BINARY, ND4C_SIG_BINARY, promote, REAL, "y = the smaller of a and b; a number wins over NaN",      \
     "fmin|fmin||")                                                                                                   \
  OP(271, 1, squared_difference, BINARY, ND4C_SIG_BINARY, promote, REAL, "y = (a - b)^2; integers wrap",              \
     "|||squaredDifference")                                                                                          \
  OP(272, 1, is_close, BINARY, ND4C_SIG_IS_CLOSE, compare, NUMERIC,                                                   \
     "y = |a - b| <= atol + rtol |b|; equal infinities are close, NaNs if equal_nan", "isclose|isclose||")            \
  OP(273, 1, divide_no_nan, BINARY, ND4C_SIG_BINARY, promote, REAL_FLOATING, "y = a / b; 0 where b is 0",             \
     "|||divNoNan")                                                                                                   \
  OP(274, 1, logaddexp2, BINARY, ND4C_SIG_BINARY, promote, REAL_FLOATING, "y = log2(2^a + 2^b), without overflow",    \
     "logaddexp2|logaddexp2||")

/* Special functions with parameters (DLMF 5.15, 8.2, 8.17, 25.11); all inputs broadcast. */
#define ND4C_OPS_MATHEMATICS_PARAMETRIC(OP)                                                                           \
  OP(275, 1, igamma, BINARY, ND4C_SIG_INCOMPLETE_GAMMA, promote, REAL_FLOATING,                                       \
     "y = integral of t^(a - 1) e^-t, t = 0..x, divided by gamma(a); NaN for negative a or x",                        \
     "scipy.special.gammainc|special.gammainc||igamma")                                                               \
  OP(276, 1, igammac, BINARY, ND4C_SIG_INCOMPLETE_GAMMA, promote, REAL_FLOATING,                                      \
     "y = 1 - igamma(a, x), without cancellation", "scipy.special.gammaincc|special.gammaincc||igammac")              \
  OP(277, 1, betainc, TERNARY, ND4C_SIG_INCOMPLETE_BETA, promote_three, REAL_FLOATING,                                \
     "y = integral of t^(a - 1) (1 - t)^(b - 1) for t = 0..x, divided by the same integral for t = 0..1; NaN for "    \
     "negative a or b, for x outside 0 to 1",                                                                         \
     "scipy.special.betainc|||betainc")                                                                               \
  OP(278, 1, zeta, BINARY, ND4C_SIG_ZETA, promote, REAL_FLOATING,                                                     \
     "y = sum of (q + k)^-x over k = 0, 1, ... (Hurwitz); infinite for x = 1 and for q = 0, -1, ...; NaN for x < 1, " \
     "and for any other negative q unless x is whole",                                                                \
     "scipy.special.zeta|special.zeta||zeta")                                                                         \
  OP(279, 1, polygamma, BINARY, ND4C_SIG_POLYGAMMA, promote, REAL_FLOATING,                                           \
     "y = derivative n of digamma at x: (-1)^(n + 1) n! zeta(n + 1, x); n whole, else NaN",                           \
     "scipy.special.polygamma|special.polygamma||polygamma")

#define ND4C_OPS_MATHEMATICS(OP) \
  ND4C_OPS_MATHEMATICS_UNARY(OP) ND4C_OPS_MATHEMATICS_BINARY(OP) ND4C_OPS_MATHEMATICS_PARAMETRIC(OP)

#endif
