/* Element-wise functions on values (elementwise.h). backends/cpu/reference/elementwise.c passes them to the map,
 * reduction/reduction.c calls them on pairs. */
#include "kernels/reference/elementwise/elementwise.h"

#include <math.h>

#include "kernels/angle.h"
#include "kernels/reference/elementwise/mathematics.h"

#define VALUE_FUNCTION(name) nd4c_value nd4c_value_##name(const nd4c_dtype_kind *kinds, const nd4c_value *inputs)

/* -- arithmetic: integers in uint64_t, where overflow wraps --------------------------------------------------- */

#define ARITHMETIC(name, operator)              \
  VALUE_FUNCTION(name) {                        \
    nd4c_value a = inputs[0], b = inputs[1], y; \
    if (kinds[0] == ND4C_KIND_COMPLEX)          \
      y.c = a.c operator b.c;                   \
    else if (kinds[0] == ND4C_KIND_FLOAT)       \
      y.f = a.f operator b.f;                   \
    else                                        \
      y.u = a.u operator b.u;                   \
    return y;                                   \
  }
ARITHMETIC(add, +)
ARITHMETIC(subtract, -)
ARITHMETIC(multiply, *)

VALUE_FUNCTION(divide) {
  nd4c_value a = inputs[0], b = inputs[1], y = {.u = 0};
  if (kinds[0] == ND4C_KIND_COMPLEX) {
    y.c = a.c / b.c;
  } else if (kinds[0] == ND4C_KIND_FLOAT) {
    y.f = a.f / b.f;
  } else if (b.u != 0 && kinds[0] == ND4C_KIND_INT) {
    y.u = b.i == -1 ? 0 - a.u : (uint64_t)(a.i / b.i); /* INT64_MIN / -1 wraps */
  } else if (b.u != 0) {
    y.u = a.u / b.u;
  }
  return y;
}

static uint64_t power_wrapping(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if (exponent & 1) {
      result *= base;
    }
  }
  return result;
}

VALUE_FUNCTION(power) {
  nd4c_value a = inputs[0], b = inputs[1], y = {.u = 0};
  if (kinds[0] == ND4C_KIND_COMPLEX) {
    y.c = b.c == 0 ? 1 : cpow(a.c, b.c);
  } else if (kinds[0] == ND4C_KIND_FLOAT) {
    y.f = pow(a.f, b.f);
  } else if (kinds[0] == ND4C_KIND_INT && b.i < 0) {
    y.i = a.i == 1 ? 1 : a.i == -1 ? (b.i & 1 ? -1 : 1) : 0; /* 1 / a^-b, truncated; division by zero gives 0 */
  } else {
    y.u = power_wrapping(a.u, b.u);
  }
  return y;
}

/* -- order ---------------------------------------------------------------------------------------------------- */

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static double imaginary_part(nd4c_dtype_kind kind, nd4c_value value) {
  return kind == ND4C_KIND_COMPLEX ? cimag(value.c) : 0;
}

static bool is_integer(nd4c_dtype_kind kind) {
  return kind == ND4C_KIND_BOOL || kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT;
}

/* Integers of any signs compare as numbers; everything else as float64 or complex128, to which it promotes. Complex
 * numbers are equal or unordered. */
static int compare(const nd4c_dtype_kind *kinds, const nd4c_value *inputs) {
  nd4c_value a = inputs[0], b = inputs[1];
  if (is_integer(kinds[0]) && is_integer(kinds[1])) {
    bool a_negative = kinds[0] == ND4C_KIND_INT && a.i < 0, b_negative = kinds[1] == ND4C_KIND_INT && b.i < 0;
    if (a_negative != b_negative) {
      return a_negative ? LESS : GREATER;
    }
    return a.u < b.u ? LESS : a.u == b.u ? EQUAL : GREATER; /* same sign: two's complement keeps the order */
  }
  double x = nd4c_value_as_double(kinds[0], a), y = nd4c_value_as_double(kinds[1], b);
  if (kinds[0] == ND4C_KIND_COMPLEX || kinds[1] == ND4C_KIND_COMPLEX) {
    return x == y && imaginary_part(kinds[0], a) == imaginary_part(kinds[1], b) ? EQUAL : UNORDERED;
  }
  return x < y ? LESS : x == y ? EQUAL : x > y ? GREATER : UNORDERED;
}

#define COMPARISON(name, accepted)                                        \
  VALUE_FUNCTION(name) {                                                  \
    return (nd4c_value){.u = (compare(kinds, inputs) & (accepted)) != 0}; \
  }
COMPARISON(equal, EQUAL)
COMPARISON(not_equal, LESS | GREATER | UNORDERED)
COMPARISON(less, LESS)
COMPARISON(less_equal, LESS | EQUAL)
COMPARISON(greater, GREATER)
COMPARISON(greater_equal, GREATER | EQUAL)

/* NaN wins, and of two NaNs the first. */
#define EXTREME(name, wanted)                                                   \
  VALUE_FUNCTION(name) {                                                        \
    if (kinds[0] == ND4C_KIND_FLOAT && inputs[0].f != inputs[0].f)              \
      return inputs[0];                                                         \
    return compare(kinds, inputs) & ((wanted) | EQUAL) ? inputs[0] : inputs[1]; \
  }
EXTREME(maximum, GREATER)
EXTREME(minimum, LESS)

VALUE_FUNCTION(clip) {
  nd4c_value raised[2] = {nd4c_value_maximum(kinds, inputs), inputs[2]};
  return nd4c_value_minimum(kinds, raised);
}

/* -- logic ---------------------------------------------------------------------------------------------------- */

static bool is_true(nd4c_dtype_kind kind, nd4c_value value) {
  return kind == ND4C_KIND_COMPLEX ? value.c != 0 : kind == ND4C_KIND_FLOAT ? value.f != 0 : value.u != 0;
}

#define LOGIC(name, operator)                                                                     \
  VALUE_FUNCTION(name) {                                                                          \
    return (nd4c_value){.u = is_true(kinds[0], inputs[0]) operator is_true(kinds[1], inputs[1])}; \
  }
LOGIC(logical_and, &&)
LOGIC(logical_or, ||)
LOGIC(logical_xor, !=)

VALUE_FUNCTION(logical_not) {
  return (nd4c_value){.u = !is_true(kinds[0], inputs[0])};
}

VALUE_FUNCTION(where) {
  return is_true(kinds[0], inputs[0]) ? inputs[1] : inputs[2];
}

VALUE_FUNCTION(is_nan) {
  nd4c_value x = inputs[0];
  bool nan = kinds[0] == ND4C_KIND_FLOAT ? x.f != x.f : kinds[0] == ND4C_KIND_COMPLEX && x.c != x.c;
  return (nd4c_value){.u = nan};
}

/* -- one operand ---------------------------------------------------------------------------------------------- */

VALUE_FUNCTION(copy) {
  (void)kinds;
  return inputs[0];
}

VALUE_FUNCTION(negative) {
  nd4c_value x = inputs[0], y;
  if (kinds[0] == ND4C_KIND_COMPLEX) {
    y.c = -x.c;
  } else if (kinds[0] == ND4C_KIND_FLOAT) {
    y.f = -x.f;
  } else {
    y.u = 0 - x.u;
  }
  return y;
}

VALUE_FUNCTION(abs) {
  nd4c_value x = inputs[0], y = x;
  if (kinds[0] == ND4C_KIND_COMPLEX) {
    y.f = cabs(x.c);
  } else if (kinds[0] == ND4C_KIND_FLOAT) {
    y.f = fabs(x.f);
  } else if (kinds[0] == ND4C_KIND_INT && x.i < 0) {
    y.u = 0 - x.u;
  }
  return y;
}

VALUE_FUNCTION(sign) {
  nd4c_value x = inputs[0], y = x;
  if (kinds[0] == ND4C_KIND_COMPLEX) {
    y.c = nd4c_complex_sign(x.c);
  } else if (kinds[0] == ND4C_KIND_FLOAT) {
    y.f = x.f > 0 ? 1 : x.f < 0 ? -1 : x.f + 0; /* of both zeros 0; NaN stays */
  } else if (kinds[0] == ND4C_KIND_INT) {
    y.i = (x.i > 0) - (x.i < 0);
  } else {
    y.u = x.u != 0;
  }
  return y;
}

VALUE_FUNCTION(square) {
  nd4c_value twice[2] = {inputs[0], inputs[0]};
  return nd4c_value_multiply(kinds, twice);
}

#define MATHEMATICAL(name, real, complex_function) \
  VALUE_FUNCTION(name) {                           \
    nd4c_value x = inputs[0], y;                   \
    if (kinds[0] == ND4C_KIND_COMPLEX)             \
      y.c = complex_function(x.c);                 \
    else                                           \
      y.f = real(x.f);                             \
    return y;                                      \
  }
static double invert(double x) {
  return 1 / x;
}
static double complex invert_complex(double complex x) {
  return 1 / x;
}
MATHEMATICAL(sqrt, sqrt, csqrt)
MATHEMATICAL(reciprocal, invert, invert_complex)
MATHEMATICAL(exp, exp, cexp)
MATHEMATICAL(log, log, clog)
MATHEMATICAL(sin, nd4c_sin_f64, csin)
MATHEMATICAL(cos, nd4c_cos_f64, ccos)

VALUE_FUNCTION(relu) {
  nd4c_value x = inputs[0];
  if (kinds[0] == ND4C_KIND_FLOAT ? x.f < 0 : kinds[0] == ND4C_KIND_INT && x.i < 0) {
    x = (nd4c_value){.u = 0}; /* the bits of every kind's zero */
  }
  return x;
}

VALUE_FUNCTION(leaky_relu) {
  double x = inputs[0].f;
  (void)kinds;
  return (nd4c_value){.f = x < 0 ? inputs[1].f * x : x};
}

#define ROUNDING(name, real)         \
  VALUE_FUNCTION(name) {             \
    nd4c_value x = inputs[0];        \
    if (kinds[0] == ND4C_KIND_FLOAT) \
      x.f = real(x.f);               \
    return x;                        \
  }
ROUNDING(floor, floor)
ROUNDING(ceil, ceil)

VALUE_FUNCTION(round) {
  nd4c_value x = inputs[0];
  if (kinds[0] == ND4C_KIND_COMPLEX) {
    x.c = nd4c_complex_make(rint(creal(x.c)), rint(cimag(x.c)));
  } else if (kinds[0] == ND4C_KIND_FLOAT) {
    x.f = rint(x.f);
  }
  return x;
}
