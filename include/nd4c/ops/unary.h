/* Op functions of the family unary, made from include/nd4c/op_table/unary.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_UNARY_H
#define ND4C_OPS_UNARY_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* negative: y = -x; integers wrap.
 * In: x (int, uint, float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_negative(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_negative_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* abs: y = |x|; complex gives the real modulus.
 * In: x (int, uint, float, complex).
 * Out: y: the first input's shape and dtype, or the real dtype of a complex one.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_abs(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_abs_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* sign: y = -1, 0 or 1; complex x / |x|; NaN stays NaN.
 * In: x (int, uint, float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_sign(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_sign_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* square: y = x * x.
 * In: x (int, uint, float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_square(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_square_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* sqrt: y = x^(1/2), correctly rounded.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_sqrt(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_sqrt_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* reciprocal: y = 1 / x.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_reciprocal(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_reciprocal_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* exp: y = e^x.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_exp(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_exp_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* log: y = ln x.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_log(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_log_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* sin: y = sin x, x in radians.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_sin(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_sin_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* cos: y = cos x, x in radians.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_cos(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_cos_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* tanh: y = (e^x - e^-x) / (e^x + e^-x).
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_tanh(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_tanh_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* erf: y = 2 / sqrt(pi) * integral of e^(-t^2), t = 0..x.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_erf(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_erf_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* sigmoid: y = 1 / (1 + e^-x).
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_sigmoid(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_sigmoid_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* relu: y = max(x, 0); NaN stays NaN.
 * In: x (int, uint, float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_relu(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_relu_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* leaky_relu: y = x for x >= 0, alpha * x below.
 * In: x (float).
 * Attributes: alpha (0.01).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_leaky_relu(const nd4c_array *x, double alpha, nd4c_array **y);
ND4C_API nd4c_status nd4c_leaky_relu_on(nd4c_context *context, const nd4c_array *x, double alpha, nd4c_array **y);

/* gelu: y = x / 2 * (1 + erf(x / sqrt 2)); approximate: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
 * In: x (float).
 * Attributes: approximate (false).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_gelu(const nd4c_array *x, bool approximate, nd4c_array **y);
ND4C_API nd4c_status nd4c_gelu_on(nd4c_context *context, const nd4c_array *x, bool approximate, nd4c_array **y);

/* floor: y = largest integer <= x.
 * In: x (int, uint, float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_floor(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_floor_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* ceil: y = smallest integer >= x.
 * In: x (int, uint, float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_ceil(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_ceil_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* round: y = nearest integer, ties to even; complex: each part.
 * In: x (int, uint, float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_round(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_round_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* is_nan: y = x is not a number.
 * In: x (int, uint, float, complex).
 * Out: y: bool, in the first input's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_is_nan(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_is_nan_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* logical_not: y = not x.
 * In: x (bool).
 * Out: y: bool, in the first input's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_logical_not(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_logical_not_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* clip: y = min(max(x, low), high) as x's dtype; low and high are optional, broadcast with x and promote to its
 * dtype; NaN wins.
 * In: x (int, uint, float), low or NULL, high or NULL.
 * Out: y: the shape that x, low and high broadcast to, in x's dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_clip(const nd4c_array *x, const nd4c_array *low, const nd4c_array *high, nd4c_array **y);
ND4C_API nd4c_status nd4c_clip_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *low,
                                  const nd4c_array *high, nd4c_array **y);

/* cast: y = x as dtype: float to integer truncates, out-of-range values saturate, NaN gives 0; complex to real drops
 * the imaginary part; to float8 and float4 rounds to nearest even and saturates (cast_float8 offers other roundings);
 * numbers become strings as in NumPy's str(), and strings are parsed as numbers.
 * In: x (bool, int, uint, float, complex, utf8, float8, packed).
 * Attributes: dtype (ND4C_DTYPE_NONE).
 * Out: y: x's shape, in the attribute dtype.
 * Statuses: DTYPE. */
ND4C_API nd4c_status nd4c_cast(const nd4c_array *x, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_cast_on(nd4c_context *context, const nd4c_array *x, nd4c_dtype dtype, nd4c_array **y);

/* copy: y = x, in fresh C-contiguous storage.
 * In: x (bool, int, uint, float, complex, utf8, float8, packed).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_copy(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_copy_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
