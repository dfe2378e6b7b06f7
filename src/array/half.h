/* float16 and bfloat16 as float: exact one way, rounded to nearest even the other. */
#ifndef ND4C_ARRAY_HALF_H
#define ND4C_ARRAY_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t nd4c_float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float nd4c_float_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline float nd4c_bfloat16_to_float(uint16_t half) {
  return nd4c_float_from_bits((uint32_t)half << 16);
}

static inline uint16_t nd4c_bfloat16_from_float(float value) {
  uint32_t bits = nd4c_float_bits(value);
  if ((bits & 0x7fffffff) > 0x7f800000) {
    return (uint16_t)(bits >> 16 | 0x40); /* a NaN stays one: rounding could carry it into infinity */
  }
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float nd4c_float16_to_float(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
  if (rest >= 0x7c00) {
    return nd4c_float_from_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  }
  if (rest < 0x400) { /* zero or subnormal: rest * 2^-24, exact in float */
    float magnitude = (float)rest * 0x1p-24F;
    return nd4c_float_from_bits(sign | nd4c_float_bits(magnitude));
  }
  return nd4c_float_from_bits(sign | ((rest << 13) + 0x38000000));
}

static inline uint16_t nd4c_float16_from_float(float value) {
  uint32_t bits = nd4c_float_bits(value), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000) {
    return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x3ff));
  }
  if (rest >= 0x47800000) { /* 2^16 and more; what rounds up to it carries into infinity below */
    return (uint16_t)(sign | 0x7c00);
  }
  if (rest < 0x38800000) {
    /* Below 2^-14: adding 0.5 leaves the subnormal in the low bits, rounded by the float addition itself. */
    uint32_t shifted = nd4c_float_bits(nd4c_float_from_bits(rest) + 0.5F);
    return (uint16_t)(sign | (shifted - 0x3f000000));
  }
  return (uint16_t)(sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13));
}

/* From double in one rounding: through float with the discarded bits kept as a sticky last bit (round to odd), which
 * the second rounding then sees. */
static inline float nd4c_float_round_to_odd(double value) {
  float nearest = (float)value;
  uint32_t bits = nd4c_float_bits(nearest);
  double difference = value - (double)nearest;
  if (!(difference < 0 || difference > 0) || (bits & 0x7fffffff) >= 0x7f800000) {
    return nearest;
  }
  if ((bits & 1) == 0) {
    int away = (difference > 0) == (nearest > 0 || (nearest == 0 && value > 0));
    bits = away ? bits + 1 : bits - 1;
    if (nearest == 0) {
      bits = value < 0 ? 0x80000001 : 1;
    }
  }
  return nd4c_float_from_bits(bits);
}

static inline uint16_t nd4c_float16_from_double(double value) {
  return nd4c_float16_from_float(nd4c_float_round_to_odd(value));
}

static inline uint16_t nd4c_bfloat16_from_double(double value) {
  return nd4c_bfloat16_from_float(nd4c_float_round_to_odd(value));
}

#endif
