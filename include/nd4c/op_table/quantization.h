/* Rows of the op table: quantisation, casts to float8, products and convolutions of quantised numbers. op_table.h
 * says how to read them. */
#ifndef ND4C_OP_TABLE_QUANTIZATION_H
#define ND4C_OP_TABLE_QUANTIZATION_H

#define ND4C_SIG_CAST_FLOAT8(A, op)    \
  A(op, IN, x, 0)                      \
  A(op, DTYPE, dtype, ND4C_DTYPE_NONE) \
  A(op, BOOL, saturate, 1) A(op, WORD, rounding, rounding, ND4C_ROUNDING_NEAREST) A(op, OUT, y, 0)
#define ND4C_SIG_QUANTIZE(A, op)       \
  A(op, IN, x, 0)                      \
  A(op, IN, scale, 0)                  \
  A(op, OPT, zero_point, 0)            \
  A(op, INT, axis, 1)                  \
  A(op, INT, block_size, 0)            \
  A(op, DTYPE, dtype, ND4C_DTYPE_NONE) \
  A(op, DTYPE, precision, ND4C_DTYPE_NONE) A(op, BOOL, saturate, 1) A(op, OUT, y, 0)
#define ND4C_SIG_DEQUANTIZE(A, op) \
  A(op, IN, x, 0)                  \
  A(op, IN, scale, 0)              \
  A(op, OPT, zero_point, 0)        \
  A(op, INT, axis, 1)              \
  A(op, INT, block_size, 0) A(op, DTYPE, dtype, ND4C_DTYPE_NONE) A(op, OUT, y, 0)
#define ND4C_SIG_DYNAMIC_QUANTIZE(A, op) A(op, IN, x, 0) A(op, OUT, y, 0) A(op, OUT, scale, 0) A(op, OUT, zero_point, 0)
#define ND4C_SIG_FAKE_QUANTIZE(A, op) \
  A(op, IN, x, 0)                     \
  A(op, IN, low, 0)                   \
  A(op, IN, high, 0) A(op, INT, bits, 8) A(op, BOOL, narrow_range, 0) A(op, OUT, y, 0)
#define ND4C_SIG_MATMUL_INTEGER(A, op) \
  A(op, IN, a, 0) A(op, IN, b, 0) A(op, OPT, a_zero_point, 0) A(op, OPT, b_zero_point, 0) A(op, OUT, y, 0)
#define ND4C_SIG_QLINEAR_MATMUL(A, op) \
  A(op, IN, a, 0)                      \
  A(op, IN, a_scale, 0)                \
  A(op, IN, a_zero_point, 0)           \
  A(op, IN, b, 0)                      \
  A(op, IN, b_scale, 0)                \
  A(op, IN, b_zero_point, 0) A(op, IN, y_scale, 0) A(op, IN, y_zero_point, 0) A(op, OUT, y, 0)
#define ND4C_SIG_BYTE_WINDOWS(A, op) \
  A(op, INTS, strides, 0)            \
  A(op, INTS, pads, 0)               \
  A(op, INTS, dilations, 0)          \
  A(op, INT, groups, 1) A(op, WORD, auto_pad, auto_pad, ND4C_AUTO_PAD_EXPLICIT) A(op, OUT, y, 0)
#define ND4C_SIG_CONV_INTEGER(A, op) \
  A(op, IN, x, 0)                    \
  A(op, IN, w, 0) A(op, OPT, x_zero_point, 0) A(op, OPT, w_zero_point, 0) ND4C_SIG_BYTE_WINDOWS(A, op)
#define ND4C_SIG_QLINEAR_CONV(A, op) \
  A(op, IN, x, 0)                    \
  A(op, IN, x_scale, 0)              \
  A(op, IN, x_zero_point, 0)         \
  A(op, IN, w, 0)                    \
  A(op, IN, w_scale, 0)              \
  A(op, IN, w_zero_point, 0)         \
  A(op, IN, y_scale, 0)              \
  A(op, IN, y_zero_point, 0) A(op, OPT, bias, 0) ND4C_SIG_BYTE_WINDOWS(A, op)
#define ND4C_SIG_LINEAR_INT8(A, op) \
  A(op, IN, x, 0)                   \
  A(op, IN, w, 0)                   \
  A(op, IN, x_scale, 0)             \
  A(op, IN, w_scale, 0)             \
  A(op, OPT, x_zero_point, 0) A(op, OPT, w_zero_point, 0) A(op, OPT, bias, 0) A(op, OUT, y, 0)
#define ND4C_SIG_MATMUL_NBITS(A, op) \
  A(op, IN, a, 0)                    \
  A(op, IN, b, 0)                    \
  A(op, IN, scale, 0) A(op, OPT, zero_point, 0) A(op, OPT, bias, 0) A(op, INT, block_size, 32) A(op, OUT, y, 0)

#define ND4C_OPS_QUANTIZATION(OP)                                                                                      \
  OP(700, 1, cast_float8, QUANTIZATION, ND4C_SIG_CAST_FLOAT8, cast_float8, STORED_NUMBER,                              \
     "y = x as a float8 dtype; a value beyond the largest (infinities too) gives the largest if saturate, else "       \
     "infinity or NaN; rounding applies to float8_e8m0fnu only: 0 to nearest, ties up, 1 up, 2 down; there, a value "  \
     "that rounds below the smallest number gives the smallest if saturate, else NaN",                                 \
     "||Cast|")                                                                                                        \
  OP(701, 1, quantize_linear, QUANTIZATION, ND4C_SIG_QUANTIZE, quantize_linear, QUANTIZABLE,                           \
     "y = saturate(round(x / scale) + zero_point), ties to even, NaN as 0; the quotient is rounded to precision "      \
     "(none: scale's dtype); scale has one value, one for each index of axis, or one for each block_size elements "    \
     "along axis; y has the attribute dtype, else zero_point's, else uint8; for float8 and float4, x / scale + "       \
     "zero_point is rounded as in cast_float8",                                                                        \
     "|quantize_per_tensor, quantize_per_channel|QuantizeLinear, com.microsoft.QuantizeLinear|quantize", FIRST_ORDER)  \
  OP(702, 1, dequantize_linear, QUANTIZATION, ND4C_SIG_DEQUANTIZE, dequantize_linear, QUANTIZED,                       \
     "y = (x - zero_point) * scale, rounded once to dtype (none: scale's); scales as in quantize_linear",              \
     "|dequantize|DequantizeLinear, com.microsoft.DequantizeLinear|dequantize", FIRST_ORDER)                           \
  OP(703, 1, dynamic_quantize_linear, QUANTIZATION, ND4C_SIG_DYNAMIC_QUANTIZE, dynamic_quantize_linear, FLOAT32,       \
     "scale = (max(0, max x) - min(0, min x)) / 255 (1/255 if x is 0), zero_point = round(-min / scale), y = "         \
     "saturate(round(x / scale) + zero_point) as uint8; NaN does not count and becomes zero_point",                    \
     "||DynamicQuantizeLinear|")                                                                                       \
  OP(704, 1, fake_quantize, QUANTIZATION, ND4C_SIG_FAKE_QUANTIZE, fake_quantize, REAL_FLOATING,                        \
     "y = x quantised and dequantised: rounded to one of 2^bits equally spaced values from low to high (broadcast "    \
     "to x), shifted so that 0 is one of them; narrow_range: one value fewer",                                         \
     "|fake_quantize_per_tensor_affine||fakeQuantWithMinMaxVars")                                                      \
  OP(710, 1, matmul_integer, QUANTIZATION, ND4C_SIG_MATMUL_INTEGER, matmul_integer, INT8S,                             \
     "y = (a - a_zero_point)(b - b_zero_point) in int32, which wraps; a_zero_point: one, or one a row; "               \
     "b_zero_point: one, or one a column",                                                                             \
     "||MatMulInteger|")                                                                                               \
  OP(711, 1, qlinear_matmul, QUANTIZATION, ND4C_SIG_QLINEAR_MATMUL, qlinear_matmul, INT8S,                             \
     "y = saturate(round((a - a_zero_point)(b - b_zero_point) a_scale b_scale / y_scale) + y_zero_point), sums in "    \
     "int32, ties to even; a's scale and zero point: one or one a row; b's: one or one a column; with constant "       \
     "scales the value may be rounded to float32 first, and with an odd y_zero_point a channel in 64 may round ties "  \
     "to odd",                                                                                                         \
     "||QLinearMatMul|")                                                                                               \
  OP(712, 1, conv_integer, QUANTIZATION, ND4C_SIG_CONV_INTEGER, conv_integer, INT8S,                                   \
     "y = (x - x_zero_point) * (w - w_zero_point) as conv, in int32, which wraps; padding counts as x_zero_point; "    \
     "w_zero_point: one, or one an output channel",                                                                    \
     "||ConvInteger|", FIRST_ORDER, OPTIONS)                                                                           \
  OP(713, 1, qlinear_conv, QUANTIZATION, ND4C_SIG_QLINEAR_CONV, qlinear_conv, INT8S,                                   \
     "y = saturate(round((conv_integer + bias) x_scale w_scale / y_scale) + y_zero_point), ties to even; bias int32; " \
     "with constant weights and scales the value may be rounded to float32 first, and with an odd y_zero_point a "     \
     "channel in 64 may round ties to odd",                                                                            \
     "||QLinearConv|", FIRST_ORDER, OPTIONS)                                                                           \
  OP(714, 1, linear_int8, QUANTIZATION, ND4C_SIG_LINEAR_INT8, linear_int8, INT8S,                                      \
     "y = (x - x_zero_point)(w - w_zero_point)^T x_scale w_scale + bias in x_scale's dtype, sums in int32; w [n, k], " \
     "x_scale and x_zero_point one or one a row of x, w_scale and w_zero_point one or [n]",                            \
     "|ao.nn.quantized.dynamic.Linear||")                                                                              \
  OP(715, 1, matmul_nbits, QUANTIZATION, ND4C_SIG_MATMUL_NBITS, matmul_nbits, REAL_FLOATING,                           \
     "y = a dequantize(b)^T + bias: b [n, k] of int4, uint4, int2, uint2, int8, uint8 or float4, scale (and "          \
     "zero_point) [n, ceil(k / block_size)], one a block of a row",                                                    \
     "||com.microsoft.MatMulNBits|")                                                                                   \
  OP(716, 1, qlinear_add, QUANTIZATION, ND4C_SIG_QLINEAR_MATMUL, qlinear_add, INT8S,                                   \
     "y = saturate(round(((a - a_zero_point) a_scale + (b - b_zero_point) b_scale) / y_scale) + y_zero_point), "       \
     "broadcast, in float64, ties to even",                                                                            \
     "|ops.quantized.add|com.microsoft.QLinearAdd|", INPUT_ORDER)

#endif
