/* Op functions of the family mathematics, made from include/nd4c/op_table/mathematics.h by scripts/ops_header.py
 * (target ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_MATHEMATICS_H
#define ND4C_OPS_MATHEMATICS_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* acos: y = arc cosine of x, 0 to pi.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_acos(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_acos_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* acosh: y = ln(x + sqrt(x + 1) sqrt(x - 1)).
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_acosh(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_acosh_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* asin: y = arc sine of x, -pi/2 to pi/2.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_asin(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_asin_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* asinh: y = ln(x + sqrt(x^2 + 1)).
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_asinh(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_asinh_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* atan: y = arc tangent of x, -pi/2 to pi/2.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_atan(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_atan_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* atanh: y = ln((1 + x) / (1 - x)) / 2.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_atanh(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_atanh_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* cosh: y = (e^x + e^-x) / 2.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_cosh(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_cosh_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* sinh: y = (e^x - e^-x) / 2.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_sinh(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_sinh_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* tan: y = sin x / cos x, x in radians.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_tan(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_tan_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* expm1: y = e^x - 1, without cancellation.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_expm1(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_expm1_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* log1p: y = ln(1 + x), without cancellation.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_log1p(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_log1p_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* log2: y = ln x / ln 2.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_log2(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_log2_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* log10: y = ln x / ln 10.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_log10(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_log10_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* exp2: y = 2^x.
 * In: x (float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_exp2(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_exp2_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* cbrt: y = x^(1/3), also for negative x.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_cbrt(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_cbrt_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* rsqrt: y = x^(-1/2).
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_rsqrt(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_rsqrt_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* trunc: y = x without its fraction.
 * In: x (int, uint, float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_trunc(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_trunc_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* frac: y = x - trunc x; NaN for infinities.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_frac(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_frac_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* is_finite: y = x is neither infinite nor NaN; complex: both parts.
 * In: x (int, uint, float, complex).
 * Out: y: bool, in the first input's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_is_finite(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_is_finite_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* is_inf: y = x is infinite with a sign that the attributes detect; complex: either part.
 * In: x (int, uint, float, complex).
 * Attributes: detect_negative (true), detect_positive (true).
 * Out: y: bool, in the first input's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_is_inf(const nd4c_array *x, bool detect_negative, bool detect_positive, nd4c_array **y);
ND4C_API nd4c_status nd4c_is_inf_on(nd4c_context *context, const nd4c_array *x, bool detect_negative,
                                    bool detect_positive, nd4c_array **y);

/* signbit: y = the sign bit of x is set; true also for -0 and for NaN with that bit.
 * In: x (float).
 * Out: y: bool, in the first input's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_signbit(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_signbit_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* conj: y = Re x - i Im x; y = x for real dtypes.
 * In: x (int, uint, float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_conj(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_conj_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* real: y = Re x; y = x for real dtypes.
 * In: x (int, uint, float, complex).
 * Out: y: the first input's shape and dtype, or the real dtype of a complex one.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_real(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_real_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* imag: y = Im x; 0 for real dtypes.
 * In: x (int, uint, float, complex).
 * Out: y: the first input's shape and dtype, or the real dtype of a complex one.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_imag(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_imag_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* angle: y = atan2(Im x, Re x); real x: 0, or pi if negative.
 * In: x (float, complex).
 * Out: y: the first input's shape and dtype, or the real dtype of a complex one.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_angle(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_angle_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* positive: y = x.
 * In: x (int, uint, float, complex).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_positive(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_positive_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* bitwise_invert: y = all bits of x inverted; bools: not x.
 * In: x (bool, int, uint).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_bitwise_invert(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_bitwise_invert_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* bit_count: y = the number of bits that are 1 in |x|, as uint8.
 * In: x (int, uint).
 * Out: y: uint8, in x's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_bit_count(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_bit_count_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* erfc: y = 1 - erf x, without cancellation.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_erfc(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_erfc_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* erfinv: y with erf y = x; infinite for 1 and -1, NaN beyond.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_erfinv(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_erfinv_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* lgamma: y = ln |gamma(x)|; infinite at 0, -1, -2, .
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_lgamma(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_lgamma_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* digamma: y = d/dx ln gamma(x); NaN at -1, -2, ... and at minus infinity, -inf at 0, inf at -0.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_digamma(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_digamma_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* i0: y = modified Bessel function of the first kind, order 0.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_i0(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_i0_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* i1: y = modified Bessel function of the first kind, order 1.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_i1(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_i1_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* sinc: y = sin(pi x) / (pi x); 1 at 0.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_sinc(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_sinc_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* deg2rad: y = x pi / 180.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_deg2rad(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_deg2rad_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* rad2deg: y = x 180 / pi.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_rad2deg(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_rad2deg_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* gamma: y = gamma(x); NaN at -1, -2, ... and at minus infinity.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_gamma(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_gamma_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* logit: y = ln(x / (1 - x)); NaN outside 0 to 1.
 * In: x (float).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_logit(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_logit_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* nan_to_num: y = x with NaN and infinities replaced; replacements beyond the dtype's range become its largest and
 * smallest numbers.
 * In: x (float).
 * Attributes: nan (0.0), posinf (1.7976931348623157e308), neginf (-1.7976931348623157e308).
 * Out: y: the shape and dtype of the first input.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_nan_to_num(const nd4c_array *x, double nan, double posinf, double neginf, nd4c_array **y);
ND4C_API nd4c_status nd4c_nan_to_num_on(nd4c_context *context, const nd4c_array *x, double nan, double posinf,
                                        double neginf, nd4c_array **y);

/* bit_cast: y = the bits of x read as another dtype of the same size.
 * In: x (bool, int, uint, float, complex).
 * Attributes: dtype (ND4C_DTYPE_NONE).
 * Out: y: x's shape, in the attribute dtype, which has as many bits as x's.
 * Statuses: DTYPE. */
ND4C_API nd4c_status nd4c_bit_cast(const nd4c_array *x, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_bit_cast_on(nd4c_context *context, const nd4c_array *x, nd4c_dtype dtype, nd4c_array **y);

/* atan2: y = angle of the point (b, a), -pi to pi.
 * In: a (float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_atan2(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_atan2_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* bitwise_and: y = a & b, bit by bit.
 * In: a (bool, int, uint), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_bitwise_and(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_bitwise_and_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                         nd4c_array **y);

/* bitwise_or: y = a | b, bit by bit.
 * In: a (bool, int, uint), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_bitwise_or(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_bitwise_or_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                        nd4c_array **y);

/* bitwise_xor: y = a ^ b, bit by bit.
 * In: a (bool, int, uint), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_bitwise_xor(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_bitwise_xor_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                         nd4c_array **y);

/* bitwise_left_shift: y = a << b; 0 where b is negative or at least the number of bits.
 * In: a (int, uint), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_bitwise_left_shift(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_bitwise_left_shift_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                                nd4c_array **y);

/* bitwise_right_shift: y = a >> b, keeping the sign; where b is negative or at least the number of bits, -1 for
 * negative a, else 0.
 * In: a (int, uint), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_bitwise_right_shift(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_bitwise_right_shift_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                                 nd4c_array **y);

/* copysign: y = |a| with the sign bit of b.
 * In: a (float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_copysign(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_copysign_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* floor_divide: y = floor(a / b) of the exact quotient; integers: division by zero gives 0, overflow wraps.
 * In: a (int, uint, float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_floor_divide(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_floor_divide_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                          nd4c_array **y);

/* remainder: y = a - b floor(a / b), with the sign of b, as Python's %; integers: division by zero gives 0.
 * In: a (int, uint, float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_remainder(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_remainder_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* fmod: y = a - b trunc(a / b), with the sign of a, as C's %; integers: division by zero gives 0.
 * In: a (int, uint, float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_fmod(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_fmod_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* hypot: y = sqrt(a^2 + b^2), without overflow.
 * In: a (float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_hypot(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_hypot_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* logaddexp: y = ln(e^a + e^b), without overflow.
 * In: a (float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_logaddexp(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_logaddexp_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* nextafter: y = the number next to a in the direction of b; b if they are equal.
 * In: a (float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_nextafter(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_nextafter_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* true_divide: y = a / b, broadcast; integers are divided as float64.
 * In: a (int, uint, float, complex), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to; float64 for integers.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_true_divide(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_true_divide_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                         nd4c_array **y);

/* xlogy: y = a ln b; 0 where a is 0 and b is not NaN.
 * In: a (float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_xlogy(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_xlogy_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* gcd: y = greatest common divisor of |a| and |b|; 0 if both are 0.
 * In: a (int, uint), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_gcd(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_gcd_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* lcm: y = least common multiple of |a| and |b|; overflow wraps.
 * In: a (int, uint), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_lcm(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_lcm_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* ldexp: y = x 2^exponent, exponent an integer.
 * In: x (float), exponent.
 * Out: y: the shape that the inputs broadcast to, in x's dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_ldexp(const nd4c_array *x, const nd4c_array *exponent, nd4c_array **y);
ND4C_API nd4c_status nd4c_ldexp_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *exponent,
                                   nd4c_array **y);

/* heaviside: y = 0 for a < 0, b for a = 0, 1 for a > 0.
 * In: a (float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_heaviside(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_heaviside_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* fmax: y = the larger of a and b; a number wins over NaN.
 * In: a (int, uint, float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_fmax(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_fmax_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* fmin: y = the smaller of a and b; a number wins over NaN.
 * In: a (int, uint, float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_fmin(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_fmin_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* squared_difference: y = (a - b)^2; integers wrap.
 * In: a (int, uint, float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_squared_difference(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_squared_difference_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                                nd4c_array **y);

/* is_close: y = |a - b| <= atol + rtol |b|; equal infinities are close, NaNs if equal_nan.
 * In: a (int, uint, float, complex), b.
 * Attributes: rtol (1e-5), atol (1e-8), equal_nan (false).
 * Out: y: bool, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_is_close(const nd4c_array *a, const nd4c_array *b, double rtol, double atol, bool equal_nan,
                                   nd4c_array **y);
ND4C_API nd4c_status nd4c_is_close_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, double rtol,
                                      double atol, bool equal_nan, nd4c_array **y);

/* divide_no_nan: y = a / b; 0 where b is 0.
 * In: a (float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_divide_no_nan(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_divide_no_nan_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                           nd4c_array **y);

/* logaddexp2: y = log2(2^a + 2^b), without overflow.
 * In: a (float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_logaddexp2(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_logaddexp2_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                        nd4c_array **y);

/* igamma: y = integral of t^(a - 1) e^-t, t = 0..x, divided by gamma(a); NaN for negative a or x.
 * In: a (float), x.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_igamma(const nd4c_array *a, const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_igamma_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *x, nd4c_array **y);

/* igammac: y = 1 - igamma(a, x), without cancellation.
 * In: a (float), x.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_igammac(const nd4c_array *a, const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_igammac_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *x, nd4c_array **y);

/* betainc: y = integral of t^(a - 1) (1 - t)^(b - 1) for t = 0..x, divided by the same integral for t = 0..1; NaN for
 * negative a or b, for x outside 0 to 1.
 * In: a (float), b, x.
 * Out: y: the shape that the three inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_betainc(const nd4c_array *a, const nd4c_array *b, const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_betainc_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                     const nd4c_array *x, nd4c_array **y);

/* zeta: y = sum of (q + k)^-x over k = 0, 1, ... (Hurwitz); infinite for x = 1 and for q = 0, -1, ...; NaN for x < 1,
 * and for any other negative q unless x is whole.
 * In: x (float), q.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_zeta(const nd4c_array *x, const nd4c_array *q, nd4c_array **y);
ND4C_API nd4c_status nd4c_zeta_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *q, nd4c_array **y);

/* polygamma: y = derivative n of digamma at x: (-1)^(n + 1) n! zeta(n + 1, x); n whole, else NaN.
 * In: n (float), x.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_polygamma(const nd4c_array *n, const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_polygamma_on(nd4c_context *context, const nd4c_array *n, const nd4c_array *x, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
