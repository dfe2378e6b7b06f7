/* Value functions of two numbers: division with a remainder, bits, distances. backends/cpu/reference/elementwise.c
 * passes them to the map. */
#include <math.h>

#include "kernels/hypot.h"
#include "kernels/quotient.h"
#include "kernels/reference/elementwise/mathematics.h"
#include "kernels/types.h"

#define VALUE_FUNCTION(name) nd4c_value nd4c_value_##name(const nd4c_dtype_kind *kinds, const nd4c_value *inputs)

/* -- division: of integers by zero gives 0 ------------------------------------------------------------------------- */

/* The rest of an integer division in wrapping arithmetic, with the sign of a; INT64_MIN % -1 is 0. */
static uint64_t rest_of(nd4c_dtype_kind kind, nd4c_value a, nd4c_value b) {
  if (kind != ND4C_KIND_INT) {
    return a.u % b.u;
  }
  return b.i == -1 ? 0 : (uint64_t)(a.i % b.i);
}

/* Whether the floored rest differs from C's: it is not 0 and its sign is not b's. */
static bool must_floor(nd4c_dtype_kind kind, uint64_t rest, nd4c_value b) {
  return kind == ND4C_KIND_INT && rest != 0 && ((int64_t)rest < 0) != (b.i < 0);
}

VALUE_FUNCTION(fmod) {
  nd4c_value a = inputs[0], b = inputs[1];
  if (kinds[0] == ND4C_KIND_FLOAT) {
    return (nd4c_value){.f = fmod(a.f, b.f)};
  }
  return (nd4c_value){.u = b.u == 0 ? 0 : rest_of(kinds[0], a, b)};
}

VALUE_FUNCTION(remainder) {
  nd4c_value a = inputs[0], b = inputs[1];
  if (kinds[0] == ND4C_KIND_FLOAT) {
    return (nd4c_value){.f = nd4c_floor_rest(a.f, b.f)};
  }
  uint64_t rest = b.u == 0 ? 0 : rest_of(kinds[0], a, b);
  return (nd4c_value){.u = must_floor(kinds[0], rest, b) ? rest + b.u : rest};
}

VALUE_FUNCTION(floor_divide) {
  nd4c_value a = inputs[0], b = inputs[1], truncated = nd4c_value_divide(kinds, inputs);
  if (kinds[0] == ND4C_KIND_FLOAT) {
    return (nd4c_value){.f = nd4c_floor_quotient(a.f, b.f)};
  }
  if (b.u != 0 && must_floor(kinds[0], rest_of(kinds[0], a, b), b)) {
    truncated.u--;
  }
  return truncated;
}

VALUE_FUNCTION(divide_no_nan) {
  (void)kinds;
  return (nd4c_value){.f = inputs[1].f == 0 ? 0 : inputs[0].f / inputs[1].f};
}

static uint64_t magnitude(nd4c_dtype_kind kind, nd4c_value x) {
  return kind == ND4C_KIND_INT && x.i < 0 ? 0 - x.u : x.u;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

VALUE_FUNCTION(gcd) {
  return (nd4c_value){.u = common_divisor(magnitude(kinds[0], inputs[0]), magnitude(kinds[1], inputs[1]))};
}

VALUE_FUNCTION(lcm) {
  uint64_t a = magnitude(kinds[0], inputs[0]), b = magnitude(kinds[1], inputs[1]);
  return (nd4c_value){.u = a == 0 || b == 0 ? 0 : a / common_divisor(a, b) * b};
}

/* -- bits ---------------------------------------------------------------------------------------------------------- */

#define BITWISE(name, operator)                                  \
  VALUE_FUNCTION(name) {                                         \
    (void)kinds;                                                 \
    return (nd4c_value){.u = inputs[0].u operator inputs[1].u }; \
  }
BITWISE(bitwise_and, &)
BITWISE(bitwise_or, |)
BITWISE(bitwise_xor, ^)

/* A negative count is, as an unsigned one, beyond every width; one beyond the dtype's width leaves no bit at the store.
 */
VALUE_FUNCTION(bitwise_left_shift) {
  (void)kinds;
  return (nd4c_value){.u = inputs[1].u < 64 ? inputs[0].u << inputs[1].u : 0};
}

VALUE_FUNCTION(bitwise_right_shift) {
  uint64_t count = inputs[1].u < 63 ? inputs[1].u : 63;
  if (kinds[0] != ND4C_KIND_INT || inputs[0].i >= 0) {
    return (nd4c_value){.u = inputs[1].u < 64 ? inputs[0].u >> inputs[1].u : 0};
  }
  return (nd4c_value){.u = ~(~inputs[0].u >> count)};
}

/* -- floats -------------------------------------------------------------------------------------------------------- */

VALUE_FUNCTION(atan2) {
  (void)kinds;
  return (nd4c_value){.f = atan2(inputs[0].f, inputs[1].f)};
}

VALUE_FUNCTION(copysign) {
  (void)kinds;
  return (nd4c_value){.f = copysign(inputs[0].f, inputs[1].f)};
}

VALUE_FUNCTION(hypot) {
  (void)kinds;
  return (nd4c_value){.f = nd4c_hypot_f64(inputs[0].f, inputs[1].f)};
}

/* The larger and ln(1 + e^-|a - b|), which may cancel: in long double. */
static double log_add(double a, double b, long double base) {
  double larger = a > b || a != a ? a : b, smaller = a > b || a != a ? b : a;
  if (larger != larger || smaller != smaller) {
    return NAN;
  }
  if (isinf(larger) || isinf(smaller)) {
    return larger;
  }
  return (double)(larger + log1pl(expl(((long double)smaller - larger) * base)) / base);
}

VALUE_FUNCTION(logaddexp) {
  (void)kinds;
  return (nd4c_value){.f = log_add(inputs[0].f, inputs[1].f, 1)};
}

VALUE_FUNCTION(logaddexp2) {
  (void)kinds;
  return (nd4c_value){.f = log_add(inputs[0].f, inputs[1].f, 0.693147180559945309417232121458176568L)};
}

VALUE_FUNCTION(xlogy) {
  double a = inputs[0].f, b = inputs[1].f;
  (void)kinds;
  return (nd4c_value){.f = a == 0 && b == b ? 0 : (double)((long double)a * logl(b))};
}

VALUE_FUNCTION(heaviside) {
  double a = inputs[0].f;
  (void)kinds;
  return a == 0 ? inputs[1] : (nd4c_value){.f = a != a ? a : a > 0};
}

VALUE_FUNCTION(ldexp) {
  enum { FAR = 1 << 14 }; /* from the smallest number beyond the largest */
  int64_t n = kinds[1] == ND4C_KIND_UINT && inputs[1].u > FAR ? FAR : inputs[1].i;
  return (nd4c_value){.f = ldexp(inputs[0].f, (int)(n > FAR ? FAR : n < -FAR ? -FAR : n))};
}

#define NUMBER_WINS(name, otherwise)                                                      \
  VALUE_FUNCTION(name) {                                                                  \
    bool is_float = kinds[0] == ND4C_KIND_FLOAT;                                          \
    if (is_float && inputs[0].f != inputs[0].f)                                           \
      return inputs[1];                                                                   \
    return is_float && inputs[1].f != inputs[1].f ? inputs[0] : otherwise(kinds, inputs); \
  }
NUMBER_WINS(fmax, nd4c_value_maximum)
NUMBER_WINS(fmin, nd4c_value_minimum)

VALUE_FUNCTION(squared_difference) {
  nd4c_value difference = nd4c_value_subtract(kinds, inputs), twice[2] = {difference, difference};
  return nd4c_value_multiply(kinds, twice);
}

static long double part_of(nd4c_dtype_kind kind, nd4c_value x, int part) {
  if (kind == ND4C_KIND_COMPLEX) {
    return part == 0 ? creal(x.c) : cimag(x.c);
  }
  if (part == 1) {
    return 0;
  }
  return kind == ND4C_KIND_FLOAT ? (long double)x.f : kind == ND4C_KIND_INT ? (long double)x.i : (long double)x.u;
}

/* Inputs: a, b, rtol, atol, equal_nan. */
VALUE_FUNCTION(is_close) {
  long double a[2], b[2];
  for (int i = 0; i < 2; i++) {
    a[i] = part_of(kinds[0], inputs[0], i);
    b[i] = part_of(kinds[1], inputs[1], i);
  }
  bool a_nan = isnan(a[0]) || isnan(a[1]), b_nan = isnan(b[0]) || isnan(b[1]);
  long double distance = hypotl(a[0] - b[0], a[1] - b[1]), size = hypotl(b[0], b[1]);
  bool close = a_nan || b_nan                   ? a_nan && b_nan && inputs[4].f != 0
               : a[0] == b[0] && a[1] == b[1]   ? true
               : isinf(size) || isinf(distance) ? false
                                                : distance <= inputs[3].f + inputs[2].f * size;
  return (nd4c_value){.u = close};
}

/* -- the next number, which depends on the dtype ------------------------------------------------------------------- */

VALUE_FUNCTION(nextafter_float64) {
  (void)kinds;
  return (nd4c_value){.f = nextafter(inputs[0].f, inputs[1].f)};
}

VALUE_FUNCTION(nextafter_float32) {
  (void)kinds;
  return (nd4c_value){.f = (double)nextafterf((float)inputs[0].f, (float)inputs[1].f)};
}

#ifndef ND4C_DTYPES_LITE
/* Bits of a 16-bit float one step from a towards b; a and b are numbers and differ. */
static uint16_t step(uint16_t bits, double a, double b) {
  if (a == 0) {
    return b > 0 ? 1 : 0x8001;
  }
  return (uint16_t)((a < b) == (a > 0) ? bits + 1 : bits - 1);
}

#define NEXT_HALF(name)                                                                                       \
  VALUE_FUNCTION(nextafter_##name) {                                                                          \
    double a = inputs[0].f, b = inputs[1].f;                                                                  \
    (void)kinds;                                                                                              \
    if (a != a || b != b || a == b)                                                                           \
      return (nd4c_value){.f = a != a ? a : b};                                                               \
    return (nd4c_value){.f = (double)nd4c_##name##_to_float(step(nd4c_##name##_from_float((float)a), a, b))}; \
  }
NEXT_HALF(float16)
NEXT_HALF(bfloat16)
#endif
