/* Op functions of the family activation, made from include/nd4c/op_table/activation.h by scripts/ops_header.py
 * (target ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_ACTIVATION_H
#define ND4C_OPS_ACTIVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* elu: y = x for x > 0, alpha (e^x - 1) below.
 * In: x (float).
 * Attributes: alpha (1.0).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_elu(const nd4c_array *x, double alpha, nd4c_array **y);
ND4C_API nd4c_status nd4c_elu_on(nd4c_context *context, const nd4c_array *x, double alpha, nd4c_array **y);

/* selu: y = gamma x for x > 0, gamma alpha (e^x - 1) below.
 * In: x (float).
 * Attributes: alpha (1.6732632423543772), gamma (1.0507009873554805).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_selu(const nd4c_array *x, double alpha, double gamma, nd4c_array **y);
ND4C_API nd4c_status nd4c_selu_on(nd4c_context *context, const nd4c_array *x, double alpha, double gamma,
                                  nd4c_array **y);

/* celu: y = max(x, 0) + min(alpha (e^(x / alpha) - 1), 0); alpha is not 0.
 * In: x (float).
 * Attributes: alpha (1.0).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT. */
ND4C_API nd4c_status nd4c_celu(const nd4c_array *x, double alpha, nd4c_array **y);
ND4C_API nd4c_status nd4c_celu_on(nd4c_context *context, const nd4c_array *x, double alpha, nd4c_array **y);

/* softplus: y = ln(1 + e^(beta x)) / beta; beta is not 0.
 * In: x (float).
 * Attributes: beta (1.0).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT. */
ND4C_API nd4c_status nd4c_softplus(const nd4c_array *x, double beta, nd4c_array **y);
ND4C_API nd4c_status nd4c_softplus_on(nd4c_context *context, const nd4c_array *x, double beta, nd4c_array **y);

/* softsign: y = x / (1 + |x|); 1 and -1 at infinity.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_softsign(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_softsign_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* hard_sigmoid: y = min(max(alpha x + beta, 0), 1); PyTorch's alpha is 1/6.
 * In: x (float).
 * Attributes: alpha (0.2), beta (0.5).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_hard_sigmoid(const nd4c_array *x, double alpha, double beta, nd4c_array **y);
ND4C_API nd4c_status nd4c_hard_sigmoid_on(nd4c_context *context, const nd4c_array *x, double alpha, double beta,
                                          nd4c_array **y);

/* hard_swish: y = x min(max(x / 6 + 1/2, 0), 1); -0 at minus infinity.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_hard_swish(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_hard_swish_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* mish: y = x tanh(ln(1 + e^x)); -0 at minus infinity.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_mish(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_mish_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* swish: y = x / (1 + e^(-alpha x)), SiLU for alpha = 1; -0 at minus infinity.
 * In: x (float).
 * Attributes: alpha (1.0).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_swish(const nd4c_array *x, double alpha, nd4c_array **y);
ND4C_API nd4c_status nd4c_swish_on(nd4c_context *context, const nd4c_array *x, double alpha, nd4c_array **y);

/* prelu: y = x for x >= 0, slope x below; slope broadcasts to x, integers wrap.
 * In: x (int, uint, float), slope.
 * Out: y: the shape and dtype of x. slope has x's dtype and broadcasts to x.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_prelu(const nd4c_array *x, const nd4c_array *slope, nd4c_array **y);
ND4C_API nd4c_status nd4c_prelu_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *slope, nd4c_array **y);

/* threshold: y = x for x > threshold, else value; NaN stays NaN.
 * In: x (float).
 * Attributes: threshold (0.0), value (0.0).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_threshold(const nd4c_array *x, double threshold, double value, nd4c_array **y);
ND4C_API nd4c_status nd4c_threshold_on(nd4c_context *context, const nd4c_array *x, double threshold, double value,
                                       nd4c_array **y);

/* hard_tanh: y = min(max(x, low), high); relu6 for 0 and 6.
 * In: x (float).
 * Attributes: low (-1.0), high (1.0).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_hard_tanh(const nd4c_array *x, double low, double high, nd4c_array **y);
ND4C_API nd4c_status nd4c_hard_tanh_on(nd4c_context *context, const nd4c_array *x, double low, double high,
                                       nd4c_array **y);

/* log_sigmoid: y = -ln(1 + e^-x).
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_log_sigmoid(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_log_sigmoid_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* tanh_shrink: y = x - tanh x, without cancellation.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_tanh_shrink(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_tanh_shrink_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* shrink: y = x - bias for x > lambd, x + bias for x < -lambd, else 0; NaN stays NaN.
 * In: x (float).
 * Attributes: lambd (0.5), bias (0.0).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_shrink(const nd4c_array *x, double lambd, double bias, nd4c_array **y);
ND4C_API nd4c_status nd4c_shrink_on(nd4c_context *context, const nd4c_array *x, double lambd, double bias,
                                    nd4c_array **y);

/* cube: y = x x x; integers wrap.
 * In: x (int, uint, float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_cube(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_cube_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* rational_tanh: y = 1.7159 s (1 - 1 / (1 + |u| + u^2 + 1.41645 u^4)), u = 2 x / 3, s its sign.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_rational_tanh(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_rational_tanh_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* rectified_tanh: y = max(tanh x, 0).
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_rectified_tanh(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_rectified_tanh_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* glu: y = a / (1 + e^-b), a and b the halves of x along axis.
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: x with half the length on the axis, in x's dtype.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_glu(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_glu_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* crelu: y = max(x, 0) and then max(-x, 0) along axis; integers wrap.
 * In: x (int, uint, float).
 * Attributes: axis (-1).
 * Out: y: x with twice the length on the axis, in x's dtype.
 * Statuses: INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_crelu(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_crelu_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* swiglu: y = b a / (1 + e^(-alpha a)), broadcast.
 * In: a (float), b.
 * Attributes: alpha (1.0).
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_swiglu(const nd4c_array *a, const nd4c_array *b, double alpha, nd4c_array **y);
ND4C_API nd4c_status nd4c_swiglu_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, double alpha,
                                    nd4c_array **y);

ND4C_EXTERN_C_END
#endif
