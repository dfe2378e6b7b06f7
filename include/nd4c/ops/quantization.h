/* Op functions of the family quantization, made from include/nd4c/op_table/quantization.h by scripts/ops_header.py
 * (target ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_QUANTIZATION_H
#define ND4C_OPS_QUANTIZATION_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/options.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* cast_float8: y = x as a float8 dtype; a value beyond the largest (infinities too) gives the largest if saturate,
 * else infinity or NaN; rounding applies to float8_e8m0fnu only: 0 to nearest, ties up, 1 up, 2 down; there, a value
 * that rounds below the smallest number gives the smallest if saturate, else NaN.
 * In: x (bool, int, uint, float, complex, float8, packed).
 * Attributes: dtype (ND4C_DTYPE_NONE), saturate (true), rounding (ND4C_ROUNDING_NEAREST).
 * Out: y: x's shape, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE. */
ND4C_API nd4c_status nd4c_cast_float8(const nd4c_array *x, nd4c_dtype dtype, bool saturate, nd4c_rounding rounding,
                                      nd4c_array **y);
ND4C_API nd4c_status nd4c_cast_float8_on(nd4c_context *context, const nd4c_array *x, nd4c_dtype dtype, bool saturate,
                                         nd4c_rounding rounding, nd4c_array **y);

/* quantize_linear: y = saturate(round(x / scale) + zero_point), ties to even, NaN as 0; the quotient is rounded to
 * precision (none: scale's dtype); scale has one value, one for each index of axis, or one for each block_size
 * elements along axis; y has the attribute dtype, else zero_point's, else uint8; for float8 and float4, x / scale +
 * zero_point is rounded as in cast_float8.
 * In: x (int32, float), scale, zero_point or NULL.
 * Attributes: axis (1), block_size (0), dtype (ND4C_DTYPE_NONE), precision (ND4C_DTYPE_NONE), saturate (true).
 * Out: y: x's shape, in the attribute dtype; by default zero_point's, or uint8 without zero_point.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_quantize_linear(const nd4c_array *x, const nd4c_array *scale, const nd4c_array *zero_point,
                                          int64_t axis, int64_t block_size, nd4c_dtype dtype, nd4c_dtype precision,
                                          bool saturate, nd4c_array **y);
ND4C_API nd4c_status nd4c_quantize_linear_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *scale,
                                             const nd4c_array *zero_point, int64_t axis, int64_t block_size,
                                             nd4c_dtype dtype, nd4c_dtype precision, bool saturate, nd4c_array **y);

/* dequantize_linear: y = (x - zero_point) * scale, rounded once to dtype (none: scale's); scales as in
 * quantize_linear.
 * In: x (int8, int16, int32, uint8, uint16, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, packed),
 *     scale, zero_point or NULL.
 * Attributes: axis (1), block_size (0), dtype (ND4C_DTYPE_NONE).
 * Out: y: x's shape, in the attribute dtype; by default scale's, float32 if that is float8_e8m0fnu.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_dequantize_linear(const nd4c_array *x, const nd4c_array *scale, const nd4c_array *zero_point,
                                            int64_t axis, int64_t block_size, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_dequantize_linear_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *scale,
                                               const nd4c_array *zero_point, int64_t axis, int64_t block_size,
                                               nd4c_dtype dtype, nd4c_array **y);

/* dynamic_quantize_linear: scale = (max(0, max x) - min(0, min x)) / 255 (1/255 if x is 0), zero_point = round(-min /
 * scale), y = saturate(round(x / scale) + zero_point) as uint8; NaN does not count and becomes zero_point.
 * In: x (float32).
 * Out: y: uint8, in x's shape; scale: a float32 scalar; zero_point: a uint8 scalar.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_dynamic_quantize_linear(const nd4c_array *x, nd4c_array **y, nd4c_array **scale,
                                                  nd4c_array **zero_point);
ND4C_API nd4c_status nd4c_dynamic_quantize_linear_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y,
                                                     nd4c_array **scale, nd4c_array **zero_point);

/* fake_quantize: y = x quantised and dequantised: rounded to one of 2^bits equally spaced values from low to high
 * (broadcast to x), shifted so that 0 is one of them; narrow_range: one value fewer.
 * In: x (float), low, high.
 * Attributes: bits (8), narrow_range (false).
 * Out: y: the shape and dtype of x. low and high have x's dtype and broadcast to x.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_fake_quantize(const nd4c_array *x, const nd4c_array *low, const nd4c_array *high,
                                        int64_t bits, bool narrow_range, nd4c_array **y);
ND4C_API nd4c_status nd4c_fake_quantize_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *low,
                                           const nd4c_array *high, int64_t bits, bool narrow_range, nd4c_array **y);

/* matmul_integer: y = (a - a_zero_point)(b - b_zero_point) in int32, which wraps; a_zero_point: one, or one a row;
 * b_zero_point: one, or one a column.
 * In: a (int8, uint8), b, a_zero_point or NULL, b_zero_point or NULL.
 * Out: y: int32, in the shape of matmul's result.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_matmul_integer(const nd4c_array *a, const nd4c_array *b, const nd4c_array *a_zero_point,
                                         const nd4c_array *b_zero_point, nd4c_array **y);
ND4C_API nd4c_status nd4c_matmul_integer_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                            const nd4c_array *a_zero_point, const nd4c_array *b_zero_point,
                                            nd4c_array **y);

/* qlinear_matmul: y = saturate(round((a - a_zero_point)(b - b_zero_point) a_scale b_scale / y_scale) + y_zero_point),
 * sums in int32, ties to even; a's scale and zero point: one or one a row; b's: one or one a column; with constant
 * scales the value may be rounded to float32 first, and with an odd y_zero_point a channel in 64 may round ties to
 * odd.
 * In: a (int8, uint8), a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
 * Out: y: the shape of matmul's result for a and b, in the dtype of y_zero_point.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_qlinear_matmul(const nd4c_array *a, const nd4c_array *a_scale, const nd4c_array *a_zero_point,
                                         const nd4c_array *b, const nd4c_array *b_scale, const nd4c_array *b_zero_point,
                                         const nd4c_array *y_scale, const nd4c_array *y_zero_point, nd4c_array **y);
ND4C_API nd4c_status nd4c_qlinear_matmul_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *a_scale,
                                            const nd4c_array *a_zero_point, const nd4c_array *b,
                                            const nd4c_array *b_scale, const nd4c_array *b_zero_point,
                                            const nd4c_array *y_scale, const nd4c_array *y_zero_point, nd4c_array **y);

/* Options of nd4c_conv_integer. */
typedef struct nd4c_conv_integer_options {
  uint32_t struct_size; /* set by ND4C_CONV_INTEGER_DEFAULTS */
  const nd4c_array *x_zero_point;
  const nd4c_array *w_zero_point;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  int64_t groups;
  nd4c_auto_pad auto_pad;
} nd4c_conv_integer_options;
#define ND4C_CONV_INTEGER_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_conv_integer_options, auto_pad), NULL, NULL, NULL, 0, NULL, 0, NULL, 0, 1, \
   ND4C_AUTO_PAD_EXPLICIT}

/* conv_integer: y = (x - x_zero_point) * (w - w_zero_point) as conv, in int32, which wraps; padding counts as
 * x_zero_point; w_zero_point: one, or one an output channel.
 * In: x (int8, uint8), w.
 * Options: x_zero_point (NULL), w_zero_point (NULL), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), groups
 *     (1), auto_pad (ND4C_AUTO_PAD_EXPLICIT).
 * Out: y: int32, in the shape of conv's result.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_conv_integer(const nd4c_array *x, const nd4c_array *w,
                                       const nd4c_conv_integer_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_conv_integer_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                          const nd4c_conv_integer_options *options, nd4c_array **y);

/* Options of nd4c_qlinear_conv. */
typedef struct nd4c_qlinear_conv_options {
  uint32_t struct_size; /* set by ND4C_QLINEAR_CONV_DEFAULTS */
  const nd4c_array *bias;
  const int64_t *strides;
  int32_t strides_count;
  const int64_t *pads;
  int32_t pads_count;
  const int64_t *dilations;
  int32_t dilations_count;
  int64_t groups;
  nd4c_auto_pad auto_pad;
} nd4c_qlinear_conv_options;
#define ND4C_QLINEAR_CONV_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_qlinear_conv_options, auto_pad), NULL, NULL, 0, NULL, 0, NULL, 0, 1, \
   ND4C_AUTO_PAD_EXPLICIT}

/* qlinear_conv: y = saturate(round((conv_integer + bias) x_scale w_scale / y_scale) + y_zero_point), ties to even;
 * bias int32; with constant weights and scales the value may be rounded to float32 first, and with an odd
 * y_zero_point a channel in 64 may round ties to odd.
 * In: x (int8, uint8), x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point.
 * Options: bias (NULL), strides (NULL, 0), pads (NULL, 0), dilations (NULL, 0), groups (1), auto_pad
 *     (ND4C_AUTO_PAD_EXPLICIT).
 * Out: y: the shape of conv's result for x and w, in the dtype of y_zero_point.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_qlinear_conv(const nd4c_array *x, const nd4c_array *x_scale, const nd4c_array *x_zero_point,
                                       const nd4c_array *w, const nd4c_array *w_scale, const nd4c_array *w_zero_point,
                                       const nd4c_array *y_scale, const nd4c_array *y_zero_point,
                                       const nd4c_qlinear_conv_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_qlinear_conv_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *x_scale,
                                          const nd4c_array *x_zero_point, const nd4c_array *w,
                                          const nd4c_array *w_scale, const nd4c_array *w_zero_point,
                                          const nd4c_array *y_scale, const nd4c_array *y_zero_point,
                                          const nd4c_qlinear_conv_options *options, nd4c_array **y);

/* linear_int8: y = (x - x_zero_point)(w - w_zero_point)^T x_scale w_scale + bias in x_scale's dtype, sums in int32; w
 * [n, k], x_scale and x_zero_point one or one a row of x, w_scale and w_zero_point one or [n].
 * In: x (int8, uint8), w, x_scale, w_scale, x_zero_point or NULL, w_zero_point or NULL, bias or NULL.
 * Out: y: x with its last axis replaced by the rows of w, in the dtype of x_scale.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_linear_int8(const nd4c_array *x, const nd4c_array *w, const nd4c_array *x_scale,
                                      const nd4c_array *w_scale, const nd4c_array *x_zero_point,
                                      const nd4c_array *w_zero_point, const nd4c_array *bias, nd4c_array **y);
ND4C_API nd4c_status nd4c_linear_int8_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                         const nd4c_array *x_scale, const nd4c_array *w_scale,
                                         const nd4c_array *x_zero_point, const nd4c_array *w_zero_point,
                                         const nd4c_array *bias, nd4c_array **y);

/* matmul_nbits: y = a dequantize(b)^T + bias: b [n, k] of int4, uint4, int2, uint2, int8, uint8 or float4, scale (and
 * zero_point) [n, ceil(k / block_size)], one a block of a row.
 * In: a (float), b, scale, zero_point or NULL, bias or NULL.
 * Attributes: block_size (32).
 * Out: y: a with its last axis replaced by the rows of b, in a's dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_matmul_nbits(const nd4c_array *a, const nd4c_array *b, const nd4c_array *scale,
                                       const nd4c_array *zero_point, const nd4c_array *bias, int64_t block_size,
                                       nd4c_array **y);
ND4C_API nd4c_status nd4c_matmul_nbits_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                          const nd4c_array *scale, const nd4c_array *zero_point, const nd4c_array *bias,
                                          int64_t block_size, nd4c_array **y);

/* qlinear_add: y = saturate(round(((a - a_zero_point) a_scale + (b - b_zero_point) b_scale) / y_scale) +
 * y_zero_point), broadcast, in float64, ties to even.
 * In: a (int8, uint8), a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
 * Out: y: the shape that a and b broadcast to, in the dtype of y_zero_point.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_qlinear_add(const nd4c_array *a, const nd4c_array *a_scale, const nd4c_array *a_zero_point,
                                      const nd4c_array *b, const nd4c_array *b_scale, const nd4c_array *b_zero_point,
                                      const nd4c_array *y_scale, const nd4c_array *y_zero_point, nd4c_array **y);
ND4C_API nd4c_status nd4c_qlinear_add_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *a_scale,
                                         const nd4c_array *a_zero_point, const nd4c_array *b, const nd4c_array *b_scale,
                                         const nd4c_array *b_zero_point, const nd4c_array *y_scale,
                                         const nd4c_array *y_zero_point, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
