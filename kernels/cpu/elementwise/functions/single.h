/* Formulas of the table in ../functions.h in f32 alone, for functions that are called often: vectors of f32 hold twice
 * as many numbers as those of f64. They follow the formulas of f64 (exponential.h, angle.h), low parts included, and
 * want fused products: ../functions.c compiles them into its loops where the level has these. Errors are at most 0.9
 * units in the last place. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_SINGLE_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_SINGLE_H

#include <stdbool.h>

#include "kernels/cpu/elementwise/mathematics.h"

#if ND4C_HAS_FMA

#define ND4C_LN2_HIGH_F32 0x1.63p-1f
#define ND4C_LN2_LOW_F32 -0x1.bd0106p-13f

typedef struct nd4c_two_f32 {
  float high, low;
} nd4c_two_f32;

ND4C_INLINED nd4c_two_f32 nd4c_two_sum_ordered_f32(float larger, float smaller) {
  float sum = larger + smaller;
  return (nd4c_two_f32){sum, (larger - sum) + smaller};
}

ND4C_INLINED nd4c_two_f32 nd4c_two_product_f32(float a, float b) {
  float product = a * b;
  return (nd4c_two_f32){product, fmaf(a, b, -product)};
}

/* -- logarithms ------------------------------------------------------------------------------------------------ */

typedef struct nd4c_logarithm_f32 {
  float k;
  nd4c_two_f32 part;
} nd4c_logarithm_f32;

ND4C_INLINED nd4c_logarithm_f32 nd4c_logarithm_of_f32(float u, float c, float k_offset) {
  uint32_t bits = nd4c_float_bits(u) + (0x3f800000 - 0x3f3504f3);
  float k = (float)(int32_t)(bits >> 23) - 127.0f - k_offset;
  float f = nd4c_float_from_bits((bits & 0x007fffff) + 0x3f3504f3) - 1;
  float s = f / (2 + f), z = s * s, square = 0.5f * f * f;
  float series = fmaf(z, 0.295800461683121989f, 0.399887784336514373f);
  series = z * fmaf(z, series, 0.666666850447858783f);
  float shrunk = c * nd4c_float_from_bits(~bits & 0x7f800000);
  float of_c = shrunk * (fmaf(-0.5f, s, 0.5f) * fmaf(s, s, 1 - s));
  float high = f - square, lost = 0.5f * fmaf(f, f, -2 * square);
  return (nd4c_logarithm_f32){k, {high, ((f - high) - square) - lost + fmaf(s, square + series, of_c)}};
}

ND4C_INLINED float nd4c_logarithm_round_f32(nd4c_logarithm_f32 of) {
  nd4c_two_f32 sum = nd4c_two_sum_ordered_f32(of.k * ND4C_LN2_HIGH_F32, of.part.high);
  return sum.high + (sum.low + fmaf(of.k, ND4C_LN2_LOW_F32, of.part.low));
}

ND4C_INLINED float nd4c_single_log1p(float x) {
  float u = 1 + x, c = x < 1 ? x - (u - 1) : 1 - (u - x);
  nd4c_logarithm_f32 of = nd4c_logarithm_of_f32(u, c, 0);
  float y = nd4c_logarithm_round_f32(of);
  y = x < INFINITY ? y : x;
  return x > -1 ? copysignf(y, x) : x == -1 ? -INFINITY : NAN;
}

ND4C_INLINED float nd4c_single_to_base(float x, float inverse, float inverse_low, float step, float step_low) {
  bool tiny = x < 0x1p-126f;
  nd4c_logarithm_f32 of = nd4c_logarithm_of_f32(tiny ? x * 0x1p23f : x, 0, tiny ? 23 : 0);
  nd4c_two_f32 product = nd4c_two_product_f32(of.part.high, inverse);
  float low = product.low + fmaf(of.part.high, inverse_low, of.part.low * inverse);
  nd4c_two_f32 sum = nd4c_two_sum_ordered_f32(of.k * step, product.high);
  float y = sum.high + (sum.low + fmaf(of.k, step_low, low));
  y = x < INFINITY ? y : x;
  return x > 0 ? y : x == 0 ? -INFINITY : NAN;
}

ND4C_INLINED float nd4c_single_log2(float x) {
  return nd4c_single_to_base(x, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1, 0);
}

ND4C_INLINED float nd4c_single_log10(float x) {
  return nd4c_single_to_base(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-2f, 0x1.3509f8p-18f);
}

/* ln((1 + a) / (1 - a)) / 2 */
ND4C_INLINED float nd4c_single_atanh(float x) {
  float a = fabsf(x), inside = a < 1 ? a : 0;
  nd4c_two_f32 over = nd4c_two_sum_ordered_f32(1, inside), under = nd4c_two_sum_ordered_f32(1, -inside);
  float inverse = 1 / under.high, quotient = over.high * inverse;
  float low = (fmaf(-quotient, under.high, over.high) + (over.low - quotient * under.low)) * inverse;
  float y = 0.5f * nd4c_logarithm_round_f32(nd4c_logarithm_of_f32(quotient, low, 0));
  return a < 0x1p-13f ? x : copysignf(a < 1 ? y : a == 1 ? INFINITY : NAN, x);
}

/* As nd4c_logarithm_with_root; beyond 2^13 the root is x. */
ND4C_INLINED float nd4c_logarithm_with_root_f32(float x, nd4c_two_f32 near) {
  bool far = x >= 0x1p13f;
  float u = 1 + near.high, c = (near.high < 1 ? near.high - (u - 1) : 1 - (u - near.high)) + near.low;
  return nd4c_logarithm_round_f32(nd4c_logarithm_of_f32(far ? x : u, far ? 0 : c, far ? -1 : 0));
}

ND4C_INLINED float nd4c_single_asinh(float x) {
  float a = fabsf(x), inside = nd4c_at_most_f32(a, 0x1p13f), square = inside * inside;
  nd4c_two_f32 sum = nd4c_two_sum_ordered_f32(inside, square / (1 + sqrtf(square + 1)));
  float y = nd4c_logarithm_with_root_f32(a, sum);
  return a < 0x1p-13f ? x : copysignf(a < INFINITY ? y : a, x);
}

ND4C_INLINED float nd4c_single_acosh(float x) {
  float t = (x < 0x1p13f ? x : 0x1p13f) - 1;
  nd4c_two_f32 square = nd4c_two_product_f32(t, t);
  float inside = 2 * t + square.high, of_square = inside - 2 * t;
  float low = (2 * t - (inside - of_square)) + (square.high - of_square) + square.low, root = sqrtf(inside);
  float inverse = nd4c_float_from_bits(0x5f3759df - (nd4c_float_bits(inside) >> 1)); /* 1 / root, to 4 % */
  nd4c_two_f32 sum = nd4c_two_sum_ordered_f32(root, t);
  sum.low += 0.5f * inverse * (fmaf(-root, root, inside) + low);
  float y = nd4c_logarithm_with_root_f32(x, sum);
  y = x < INFINITY ? y : x;
  return x > 1 ? y : x == 1 ? 0 : NAN;
}

/* -- roots ----------------------------------------------------------------------------------------------------- */

/* 1 / s, s the root, then what both roundings lost. */
ND4C_INLINED float nd4c_single_rsqrt(float x) {
  bool tiny = x < 0x1p-100f;
  float a = tiny ? x * 0x1p24f : x, root = sqrtf(a), y = 1 / root;
  float lost = fmaf(-root, y, 1.0f) - 0.5f * y * y * fmaf(-root, root, a);
  float good = fmaf(y, lost, y) * (tiny ? 0x1p12f : 1.0f);
  return x == 0 || x == INFINITY ? y : good;
}

/* As nd4c_function_cbrt. */
ND4C_INLINED float nd4c_single_cbrt(float x) {
  float a = fabsf(x), tiny = a < 0x1p-126f ? 0x1p24f : 1;
  uint32_t bits = nd4c_float_bits(a * tiny);
  float k = (float)(int32_t)(bits >> 23) - 127, rounded = fmaf(k, 1.0f / 3, ND4C_ROUNDER_F32);
  float q = rounded - ND4C_ROUNDER_F32;
  float m =
      nd4c_float_from_bits((bits & 0x007fffff) | 0x3f800000) * nd4c_power_of_two_f32(k - 3 * q + ND4C_ROUNDER_F32);
  float y = fmaf(m, -0.00435039760904682442f, 0.059812450110234598f);
  y = fmaf(m, y, -0.325925135995929733f);
  y = fmaf(m, y, 0.903163894282235803f);
  y = fmaf(m, y, -1.39568635707750323f);
  y = fmaf(m, y, 1.76318735319737257f);
  float off = fmaf(-m * y, y * y, 1.0f);
  y = fmaf(y * off, fmaf(off, 2.0f / 9, 1.0f / 3), y);
  float root = m * y * y, square = root * root, square_low = fmaf(root, root, -square);
  float cube = square * root, cube_low = fmaf(square, root, -cube);
  float rest = (m - cube) - fmaf(square_low, root, cube_low);
  root = fmaf(rest * y, y * (1.0f / 3), root) * nd4c_power_of_two_f32(rounded) * (tiny > 1 ? 0x1p-8f : 1.0f);
  return a > 0 && a < INFINITY ? copysignf(root, x) : x;
}

/* -- exponentials ---------------------------------------------------------------------------------------------- */

/* e^(most + rest) - 1 = most + result. */
ND4C_INLINED float nd4c_exponential_rest_f32(float most, float rest) {
  float r = most + rest, q = fmaf(0.000198909884555445658f, r, 0.00139336478629288628f);
  q = fmaf(q, r, 0.00833331092761531122f);
  q = fmaf(q, r, 0.0416664649445056993f);
  q = fmaf(q, r, 0.16666666681621095f);
  q = fmaf(q, r, 0.50000000134638855f);
  return fmaf(r * r, q, rest);
}

ND4C_INLINED float nd4c_single_expm1(float x) {
  float inside = nd4c_within_f32(x, -30, 89);
  float rounded = fmaf(inside, 0x1.715476p+0f, ND4C_ROUNDER_F32), n = rounded - ND4C_ROUNDER_F32;
  float most = fmaf(n, -ND4C_LN2_HIGH_F32, inside);
  float rest = nd4c_exponential_rest_f32(most, n * -ND4C_LN2_LOW_F32);
  float scale = nd4c_power_of_two_f32(rounded - 1), less = scale - 0.5f, lost = (scale - less) - 0.5f;
  nd4c_two_f32 sum = nd4c_two_sum_ordered_f32(less, scale * most);
  return fabsf(x) < 0x1p-26f ? x : 2 * (sum.high + (fmaf(scale, rest, sum.low) + lost));
}

ND4C_INLINED float nd4c_single_exp2(float x) {
  float inside = nd4c_within_f32(x, -152, 129), n_rounded = inside + ND4C_ROUNDER_F32;
  float n = n_rounded - ND4C_ROUNDER_F32, part = inside - n;
  nd4c_two_f32 most = nd4c_two_product_f32(part, 0x1.62e43p-1f);
  most.low = fmaf(part, -0x1.05c61p-29f, most.low);
  float y = 1 + (most.high + nd4c_exponential_rest_f32(most.high, most.low));
  float half = fmaf(n, 0.5f, ND4C_ROUNDER_F32), rest = n - (half - ND4C_ROUNDER_F32) + ND4C_ROUNDER_F32;
  return y * nd4c_power_of_two_f32(half) * nd4c_power_of_two_f32(rest);
}

/* -- hyperbolic functions -------------------------------------------------------------------------------------- */

/* As nd4c_hyperbolic, divided by 4. */
typedef struct nd4c_hyperbolic_f32 {
  float sine_n, cosine_n, r, sine_rest, cosine_rest;
  float lost; /* what rounding took from cosine_n */
} nd4c_hyperbolic_f32;

ND4C_INLINED nd4c_hyperbolic_f32 nd4c_hyperbolic_of_f32(float x) {
  float a = nd4c_at_most_f32(fabsf(x), 90);
  float rounded = fmaf(a, 0x1.715476p+0f, ND4C_ROUNDER_F32), n = rounded - ND4C_ROUNDER_F32;
  float most = fmaf(n, -ND4C_LN2_HIGH_F32, a), low = n * -ND4C_LN2_LOW_F32, r = most + low, z = r * r;
  float up = nd4c_power_of_two_f32(rounded - 4);
  float down = n > 30 ? 0 : nd4c_power_of_two_f32(ND4C_ROUNDER_F32 - n - 4);
  float sine = fmaf(z, 0.000198910168155062408f, 0.00833331090205841034f);
  sine = fmaf(z, sine, 0.166666666816466825f);
  float cosine = fmaf(z, 0.00139336734008343131f, 0.0416664647143726203f);
  cosine = fmaf(z, cosine, 0.500000001348692547f);
  float sum = up + down;
  return (nd4c_hyperbolic_f32){up - down, sum, most, fmaf(r * z, sine, low), z * cosine, down - (sum - up)};
}

ND4C_INLINED float nd4c_single_sinh(float x) {
  nd4c_hyperbolic_f32 h = nd4c_hyperbolic_of_f32(x);
  nd4c_two_f32 product = nd4c_two_product_f32(h.cosine_n, h.r), sum = nd4c_two_sum_ordered_f32(h.sine_n, product.high);
  float rest = fmaf(h.sine_n, h.cosine_rest, h.cosine_n * h.sine_rest) + product.low;
  return fabsf(x) < 0x1p-20f ? x : copysignf(8 * (sum.high + (sum.low + rest)), x);
}

ND4C_INLINED float nd4c_single_cosh(float x) {
  nd4c_hyperbolic_f32 h = nd4c_hyperbolic_of_f32(x);
  nd4c_two_f32 product = nd4c_two_product_f32(h.sine_n, h.r), sum = nd4c_two_sum_ordered_f32(h.cosine_n, product.high);
  float rest = fmaf(h.cosine_n, h.cosine_rest, h.sine_n * h.sine_rest) + (product.low + h.lost);
  return 8 * (sum.high + (sum.low + rest));
}

/* -- inverse trigonometric functions --------------------------------------------------------------------------- */

#define ND4C_PI_F32 0x1.921fb6p+1f
#define ND4C_PI_LOW_F32 -0x1.777a5cp-24f

ND4C_INLINED float nd4c_single_atan(float x) {
  float a = nd4c_at_most_f32(fabsf(x), 0x1p40f);
  bool small = a < 0.5f, large = a > 2;
  float middle = large ? 0 : a;
  float over = middle - (small ? 0 : 1), over_low = middle - (over + (small ? 0 : 1));
  float most = large ? a : 1, add = small ? 0 : middle;
  float under = most + add, under_low = (most - under) + add; /* exact below 1 or from 2 on, where the sum is not */
  float inverse = 1 / under, t = over * inverse;
  float low = (fmaf(-t, under, over) + (over_low - t * under_low)) * inverse;
  float z = t * t, q = fmaf(z, 0.0422568596302155194f, -0.0823550576363628141f);
  q = fmaf(z, q, 0.11006880681346318f);
  q = fmaf(z, q, -0.142798010958109562f);
  q = fmaf(z, q, 0.199998752497826407f);
  q = fmaf(z, q, -0.333333329014846854f);
  float quarters = large ? 2 : small ? 0 : 1;
  nd4c_two_f32 sum = nd4c_two_sum_ordered_f32(quarters * (ND4C_PI_F32 / 4), t);
  return copysignf(sum.high + (sum.low + fmaf(t * z, q, fmaf(quarters, ND4C_PI_LOW_F32 / 4, low))), x);
}

typedef struct nd4c_arc_f32 {
  bool far;
  float t, rest;
} nd4c_arc_f32;

ND4C_INLINED nd4c_arc_f32 nd4c_arc_of_f32(float a) {
  bool far = a > 0.5f;
  float below = 0.5f - 0.5f * a, z = far ? below : a * a, root = sqrtf(below);
  float inverse = nd4c_float_from_bits(0x5f3759df - (nd4c_float_bits(below) >> 1)); /* 1 / root, to 4 % */
  float t = far ? root : a, low = far ? 0.5f * inverse * fmaf(-root, root, below) : 0;
  float q = fmaf(z, 0.0336908472028301195f, 0.0171492383576772532f);
  q = fmaf(z, q, 0.0311006627354945679f);
  q = fmaf(z, q, 0.0445994015285121837f);
  q = fmaf(z, q, 0.0750009454349742348f);
  q = fmaf(z, q, 0.166666663374309071f);
  return (nd4c_arc_f32){far, t, fmaf(t * z, q, low)};
}

ND4C_INLINED float nd4c_single_asin(float x) {
  nd4c_arc_f32 arc = nd4c_arc_of_f32(fabsf(x));
  nd4c_two_f32 rest = nd4c_two_sum_ordered_f32(ND4C_PI_F32 / 2, -2 * arc.t);
  float far = rest.high + fmaf(-2, arc.rest, rest.low + ND4C_PI_LOW_F32 / 2);
  return copysignf(arc.far ? far : arc.t + arc.rest, x);
}

ND4C_INLINED float nd4c_single_acos(float x) {
  nd4c_arc_f32 arc = nd4c_arc_of_f32(fabsf(x));
  float halves = arc.far ? (x > 0 ? 0 : 2) : 1;
  float factor = (arc.far ? 2.0f : 1.0f) * (arc.far == (x > 0) ? 1.0f : -1.0f);
  nd4c_two_f32 sum = nd4c_two_sum_ordered_f32(halves * (ND4C_PI_F32 / 2), factor * arc.t);
  return sum.high + fmaf(factor, arc.rest, fmaf(halves, ND4C_PI_LOW_F32 / 2, sum.low));
}

#endif

#endif
