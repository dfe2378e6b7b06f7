/* Samplers and oracles of unary, binary and ternary ops. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "conformance.h"

typedef struct shape {
  int32_t rank;
  int64_t extents[5];
} shape;

/* The long one is split into several pieces of work, whatever an element costs. */
static const shape shapes[] = {{0, {0}},       {2, {0, 3}},    {1, {7}},      {3, {2, 3, 5}}, {4, {2, 5, 3, 4}},
                               {1, {1}},       {3, {3, 1, 4}}, {2, {17, 33}}, {1, {1003}},    {5, {2, 1, 3, 2, 2}},
                               {3, {2, 3, 0}}, {1, {32771}}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* -- unary ------------------------------------------------------------------------------------------------------ */

static cf_fill_kind special_kind(nd4c_op op) {
  return op == ND4C_OP_gelu ? CF_WIDE : CF_SPECIAL;
}

static void unary_attrs(cf_case *c, int32_t number) {
  if (c->op == ND4C_OP_leaky_relu && number % 2 == 1) {
    cf_attr_float(c, "alpha", 0.25);
  }
  if (c->op == ND4C_OP_gelu) {
    cf_attr_bool(c, "approximate", number % 2 == 1);
  }
}

bool cf_sample_unary(cf_random *random, int32_t number, cf_case *c) {
  if (number >= SHAPES + 3) {
    return false;
  }
  if (number < SHAPES) {
    bool positive = c->op == ND4C_OP_log || c->op == ND4C_OP_sqrt;
    cf_filled(c, random, positive ? CF_POSITIVE : CF_SMALL, c->dtype, shapes[number].rank, shapes[number].extents);
  } else {
    cf_filled(c, random, number == SHAPES + 2 ? CF_WIDE : special_kind(c->op), c->dtype, CF_SHAPE(61));
  }
  unary_attrs(c, number);
  return true;
}

bool cf_sample_logical_unary(cf_random *random, int32_t number, cf_case *c) {
  return cf_sample_unary(random, number, c);
}

static long double gelu(long double x, bool approximate) {
  return approximate ? x / 2 * (1 + tanhl(sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x)))
                     : x / 2 * erfcl(-x / sqrtl(2));
}

static long double real_unary(const cf_case *c, long double x) {
  switch (c->op) {
    case ND4C_OP_negative:
      return -x;
    case ND4C_OP_abs:
      return fabsl(x);
    case ND4C_OP_sign:
      return isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0;
    case ND4C_OP_square:
      return x * x;
    case ND4C_OP_sqrt:
      return sqrtl(x);
    case ND4C_OP_reciprocal:
      return 1 / x;
    case ND4C_OP_exp:
      return expl(x);
    case ND4C_OP_log:
      return logl(x);
    case ND4C_OP_sin:
      return sinl(x);
    case ND4C_OP_cos:
      return cosl(x);
    case ND4C_OP_tanh:
      return tanhl(x);
    case ND4C_OP_erf:
      return erfl(x);
    case ND4C_OP_sigmoid:
      return 1 / (1 + expl(-x));
    case ND4C_OP_relu:
      return x > 0 || isnan(x) ? x : 0;
    case ND4C_OP_leaky_relu:
      return x >= 0 || isnan(x) ? x : (long double)cf_float_of(c, "alpha", 0.01) * x;
    case ND4C_OP_gelu:
      return gelu(x, cf_int_of(c, "approximate", 0) != 0);
    case ND4C_OP_floor:
      return floorl(x);
    case ND4C_OP_ceil:
      return ceill(x);
    case ND4C_OP_round:
      return rintl(x);
    default: /* copy */
      return x;
  }
}

/* Finite numbers only, for which the plain expression is exact. */
static long double complex complex_of(cf_value value) {
  return value.re + value.im * I;
}

static long double complex complex_unary(nd4c_op op, long double complex x) {
  switch (op) {
    case ND4C_OP_negative:
      return -x;
    case ND4C_OP_square:
      return x * x;
    case ND4C_OP_sign:
      return x == 0 ? x : x / cabsl(x);
    case ND4C_OP_round:
      return rintl(creall(x)) + rintl(cimagl(x)) * I;
    case ND4C_OP_sqrt:
      return csqrtl(x);
    case ND4C_OP_reciprocal:
      return 1 / x;
    case ND4C_OP_exp:
      return cexpl(x);
    case ND4C_OP_log:
      return clogl(x);
    case ND4C_OP_sin:
      return csinl(x);
    case ND4C_OP_cos:
      return ccosl(x);
    case ND4C_OP_tanh:
      return ctanhl(x);
    default: /* copy */
      return x;
  }
}

static int64_t integer_unary(const cf_case *c, int64_t x) {
  bool negative = !cf_is_unsigned(c->dtype) && x < 0;
  switch (c->op) {
    case ND4C_OP_negative:
      return (int64_t) - (uint64_t)x;
    case ND4C_OP_abs:
      return negative ? (int64_t) - (uint64_t)x : x;
    case ND4C_OP_sign:
      return negative ? -1 : x != 0;
    case ND4C_OP_square:
      return (int64_t)((uint64_t)x * (uint64_t)x);
    case ND4C_OP_relu:
      return negative ? 0 : x;
    default: /* floor, ceil, round, copy */
      return x;
  }
}

static nd4c_dtype unary_dtype(const cf_case *c) {
  if (c->op == ND4C_OP_is_nan || c->op == ND4C_OP_logical_not) {
    return ND4C_BOOL;
  }
  if (c->op == ND4C_OP_abs && cf_is_complex(c->dtype)) {
    return c->dtype == ND4C_COMPLEX64 ? ND4C_FLOAT32 : ND4C_FLOAT64;
  }
  return c->dtype;
}

static cf_value unary_value(const cf_case *c, cf_value x) {
  cf_value y = {0};
  if (c->op == ND4C_OP_is_nan) {
    y.i = isnan(x.re) || isnan(x.im);
  } else if (c->op == ND4C_OP_logical_not) {
    y.i = x.i == 0;
  } else if (cf_is_complex(c->dtype) && c->op == ND4C_OP_abs) {
    y.re = hypotl(x.re, x.im);
  } else if (cf_is_complex(c->dtype)) {
    long double complex z = complex_unary(c->op, complex_of(x));
    y.re = creall(z);
    y.im = cimagl(z);
  } else if (cf_is_float(c->dtype)) {
    y.re = real_unary(c, x.re);
  } else if (cf_is_integer(c->dtype)) {
    y.i = cf_wrap(c->dtype, integer_unary(c, x.i));
  } else { /* copy of bool and utf8 */
    y = x;
  }
  return y;
}

/* Where the result is a difference of larger numbers, their size counts. */
static long double unary_scale(const cf_case *c, cf_value x) {
  switch (c->op) {
    case ND4C_OP_gelu:
      return fabsl(x.re);
    case ND4C_OP_log:
      return cf_is_complex(c->dtype) ? 1 : 0;
    default:
      return 0;
  }
}

/* Whether C (Annex F) and NumPy define the sign of a zero: of -0, and of numbers that are rounded to it. */
static bool has_zero_signs(const cf_case *c) {
  switch (c->op) {
    case ND4C_OP_negative:
    case ND4C_OP_abs:
    case ND4C_OP_square:
    case ND4C_OP_sqrt:
    case ND4C_OP_reciprocal:
    case ND4C_OP_exp:
    case ND4C_OP_log:
    case ND4C_OP_sin:
    case ND4C_OP_tanh:
    case ND4C_OP_erf:
    case ND4C_OP_gelu:
    case ND4C_OP_leaky_relu:
    case ND4C_OP_floor:
    case ND4C_OP_ceil:
    case ND4C_OP_round:
      return cf_is_float(c->dtype);
    default:
      return false;
  }
}

void cf_oracle_unary(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  cf_expect(expected, unary_dtype(c), x->rank, x->shape, true);
  expected->zero_signs = has_zero_signs(c);
  for (int64_t i = 0; i < x->size; i++) {
    cf_value value = cf_get(x, i);
    expected->values[i] = unary_value(c, value);
    expected->scale[i] = unary_scale(c, value);
  }
}

/* -- cast ------------------------------------------------------------------------------------------------------- */

bool cf_sample_cast(cf_random *random, int32_t number, cf_case *c) {
  static const cf_fill_kind kinds[] = {CF_SMALL, CF_SPECIAL, CF_WIDE, CF_SMALL};
  nd4c_dtype to = 1 + number / 4;
  if (to >= ND4C_DTYPE_END || c->dtype == ND4C_UTF8) { /* strings are recorded (tests/records/text.py) */
    return false;
  }
  if (to == ND4C_UTF8 || !cf_has_dtype(to)) {
    return true;
  }
  if (number % 4 == 3) {
    cf_filled(c, random, kinds[3], c->dtype, CF_SHAPE(2, 3, 2, 5));
  } else {
    cf_filled(c, random, kinds[number % 4], c->dtype, CF_SHAPE(67));
  }
  cf_attr_dtype(c, "dtype", to);
  return true;
}

void cf_oracle_cast(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  nd4c_dtype to = (nd4c_dtype)cf_int_of(c, "dtype", 0);
  cf_expect(expected, to, x->rank, x->shape, false);
  for (int64_t i = 0; i < x->size; i++) {
    expected->values[i] = cf_convert(cf_get(x, i), c->dtype, to);
  }
}

/* -- binary ----------------------------------------------------------------------------------------------------- */

static int compare_integers(nd4c_dtype dtype, int64_t a, int64_t b) {
  return cf_is_unsigned(dtype) ? ((uint64_t)a > (uint64_t)b) - ((uint64_t)a < (uint64_t)b) : (a > b) - (a < b);
}

typedef struct shape_pair {
  shape a, b;
} shape_pair;

/* With the layout `mixed`, places 10 and 13 have every second element of one input and adjacent elements of the other,
 * in rows that are long enough for streaming stores, because both steps select the loop. The last five are planes of
 * short rows, near the size from which rows are computed together. */
static const shape_pair pairs[] = {{{0, {0}}, {0, {0}}},
                                   {{1, {7}}, {0, {0}}},
                                   {{3, {2, 3, 5}}, {3, {2, 3, 5}}},
                                   {{3, {4, 1, 6}}, {2, {5, 1}}},
                                   {{2, {0, 3}}, {1, {3}}},
                                   {{4, {2, 5, 3, 4}}, {3, {5, 1, 1}}},
                                   {{4, {2, 5, 3, 4}}, {4, {2, 5, 3, 4}}},
                                   {{2, {9, 40}}, {1, {40}}},
                                   {{2, {1, 6}}, {2, {5, 1}}},
                                   {{0, {0}}, {2, {3, 4}}},
                                   {{1, {1003}}, {1, {1003}}},
                                   {{2, {3, 0}}, {2, {3, 1}}},
                                   {{2, {3, 4096}}, {2, {3, 4096}}},
                                   {{1, {1003}}, {1, {1003}}},
                                   {{1, {32771}}, {1, {32771}}},
                                   {{2, {5500, 3}}, {1, {3}}},
                                   {{2, {5500, 3}}, {2, {5500, 1}}},
                                   {{2, {1, 129}}, {2, {127, 1}}},
                                   {{3, {2, 330, 50}}, {3, {2, 1, 50}}},
                                   {{3, {3, 330, 50}}, {2, {330, 1}}}};
enum { PAIRS = sizeof pairs / sizeof pairs[0], SPECIAL_CASES = 3 };

static bool is_compare(nd4c_op op) {
  return op >= ND4C_OP_equal && op <= ND4C_OP_greater_equal;
}

static bool takes(const cf_case *c, nd4c_dtype dtype) {
  return (nd4c_op_get(c->op)->dtypes & ND4C_DTYPE_BIT(dtype)) != 0;
}

/* Two dtypes in one call. */
static bool sample_mixed(cf_random *random, nd4c_dtype other, cf_case *c) {
  if (other >= ND4C_DTYPE_END) {
    return false;
  }
  bool plain = other != c->dtype && other != ND4C_BOOL && c->dtype != ND4C_BOOL && takes(c, other) &&
               cf_promote(c->dtype, other) != ND4C_DTYPE_NONE && c->op != ND4C_OP_power;
  if (plain) {
    cf_filled(c, random, CF_POSITIVE, c->dtype, CF_SHAPE(3, 7));
    cf_filled(c, random, CF_POSITIVE, other, CF_SHAPE(3, 7));
  }
  return true;
}

bool cf_sample_binary(cf_random *random, int32_t number, cf_case *c) {
  if (c->dtype == ND4C_UTF8) { /* recorded (tests/records/text.py) */
    return false;
  }
  if (number >= PAIRS + SPECIAL_CASES) {
    return sample_mixed(random, number - PAIRS - SPECIAL_CASES + 1, c);
  }
  if (number < PAIRS) {
    bool power = c->op == ND4C_OP_power;
    cf_filled(c, random, power && !cf_is_integer(c->dtype) ? CF_POSITIVE : CF_SMALL, c->dtype, pairs[number].a.rank,
              pairs[number].a.extents);
    cf_filled(c, random, CF_SMALL, c->dtype, pairs[number].b.rank, pairs[number].b.extents);
    return true;
  }
  cf_fill_kind kind = number == PAIRS ? CF_WIDE : CF_SPECIAL;
  cf_filled(c, random, kind, c->dtype, CF_SHAPE(131));
  cf_filled(c, random, kind, c->dtype, CF_SHAPE(131));
  return true;
}

bool cf_sample_logical_binary(cf_random *random, int32_t number, cf_case *c) {
  if (number >= PAIRS) {
    return false;
  }
  return cf_sample_binary(random, number, c);
}

static long double real_binary(nd4c_op op, long double a, long double b) {
  switch (op) {
    case ND4C_OP_add:
      return a + b;
    case ND4C_OP_subtract:
      return a - b;
    case ND4C_OP_multiply:
      return a * b;
    case ND4C_OP_divide:
      return a / b;
    case ND4C_OP_power:
      return powl(a, b);
    case ND4C_OP_maximum:
      return isnan(a) ? a : isnan(b) ? b : a > b ? a : b;
    default: /* minimum */
      return isnan(a) ? a : isnan(b) ? b : a < b ? a : b;
  }
}

static long double complex complex_binary(nd4c_op op, long double complex a, long double complex b) {
  switch (op) {
    case ND4C_OP_add:
      return a + b;
    case ND4C_OP_subtract:
      return a - b;
    case ND4C_OP_multiply:
      return a * b;
    case ND4C_OP_divide:
      return a / b;
    default: /* power */
      return cpowl(a, b);
  }
}

static int64_t integer_power(nd4c_dtype dtype, int64_t a, int64_t b) {
  uint64_t result = 1;
  if (!cf_is_unsigned(dtype) && b < 0) { /* the truncated quotient 1 / a^-b; a division by zero gives 0 */
    return a == 1 ? 1 : a == -1 ? (b & 1) == 0 ? 1 : -1 : 0;
  }
  for (int bit = 63; bit >= 0; bit--) {
    result *= result;
    result *= ((uint64_t)b >> bit & 1) != 0 ? (uint64_t)a : 1;
  }
  return (int64_t)result;
}

static int64_t integer_divide(nd4c_dtype dtype, int64_t a, int64_t b) {
  if (b == 0) {
    return 0;
  }
  if (cf_is_unsigned(dtype)) {
    return (int64_t)((uint64_t)a / (uint64_t)b);
  }
  return b == -1 ? (int64_t) - (uint64_t)a : a / b;
}

static int64_t integer_binary(nd4c_op op, nd4c_dtype dtype, int64_t a, int64_t b) {
  switch (op) {
    case ND4C_OP_add:
      return (int64_t)((uint64_t)a + (uint64_t)b);
    case ND4C_OP_subtract:
      return (int64_t)((uint64_t)a - (uint64_t)b);
    case ND4C_OP_multiply:
      return (int64_t)((uint64_t)a * (uint64_t)b);
    case ND4C_OP_divide:
      return integer_divide(dtype, a, b);
    case ND4C_OP_power:
      return integer_power(dtype, a, b);
    case ND4C_OP_maximum:
      return compare_integers(dtype, a, b) >= 0 ? a : b;
    default: /* minimum */
      return compare_integers(dtype, a, b) <= 0 ? a : b;
  }
}

static bool compare(nd4c_op op, nd4c_dtype dtype, cf_value a, cf_value b) {
  bool wide = cf_is_float(dtype) || cf_is_complex(dtype);
  bool unordered = isnan(a.re) || isnan(b.re) || isnan(a.im) || isnan(b.im);
  int order = wide ? (a.re > b.re) - (a.re < b.re) : compare_integers(dtype, a.i, b.i);
  bool same = order == 0 && a.im == b.im;
  switch (op) {
    case ND4C_OP_equal:
      return !unordered && same;
    case ND4C_OP_not_equal:
      return unordered || !same;
    case ND4C_OP_less:
      return !unordered && order < 0;
    case ND4C_OP_less_equal:
      return !unordered && order <= 0;
    case ND4C_OP_greater:
      return !unordered && order > 0;
    case ND4C_OP_greater_equal:
      return !unordered && order >= 0;
    case ND4C_OP_logical_and:
      return a.i != 0 && b.i != 0;
    case ND4C_OP_logical_or:
      return a.i != 0 || b.i != 0;
    default: /* logical_xor */
      return (a.i != 0) != (b.i != 0);
  }
}

static cf_value binary_value(nd4c_op op, nd4c_dtype dtype, cf_value a, cf_value b) {
  cf_value y = {0};
  if (is_compare(op) || op >= ND4C_OP_logical_and) {
    y.i = compare(op, dtype, a, b);
  } else if (cf_is_complex(dtype)) {
    long double complex z = complex_binary(op, complex_of(a), complex_of(b));
    y.re = creall(z);
    y.im = cimagl(z);
  } else if (cf_is_float(dtype)) {
    y.re = real_binary(op, a.re, b.re);
  } else {
    y.i = cf_wrap(dtype, integer_binary(op, dtype, a.i, b.i));
  }
  return y;
}

/* NumPy's broadcasting of any number of shapes. */
static void broadcast_shape(const cf_case *c, int32_t *rank, int64_t *extents) {
  *rank = 0;
  for (int32_t n = 0; n < c->input_count; n++) {
    *rank = c->inputs[n].rank > *rank ? c->inputs[n].rank : *rank;
  }
  for (int32_t axis = 0; axis < *rank; axis++) {
    extents[axis] = 1;
    for (int32_t n = 0; n < c->input_count; n++) {
      int32_t own = axis - (*rank - c->inputs[n].rank);
      extents[axis] = own >= 0 && c->inputs[n].shape[own] != 1 ? c->inputs[n].shape[own] : extents[axis];
    }
  }
}

/* The element of a tensor that stands at an element of the broadcast shape. */
static cf_value broadcast_get(const cf_tensor *tensor, const cf_expected *expected, int64_t number) {
  int64_t place = 0, stride = 1;
  for (int32_t axis = expected->rank - 1; axis >= 0; axis--) {
    int64_t index = number % expected->shape[axis];
    number /= expected->shape[axis];
    int32_t own = axis - (expected->rank - tensor->rank);
    if (own >= 0) {
      place += tensor->shape[own] == 1 ? 0 : index * stride;
      stride *= tensor->shape[own];
    }
  }
  return cf_get(tensor, place);
}

void cf_oracle_binary(const cf_case *c, cf_expected *expected) {
  nd4c_dtype from[2] = {c->inputs[0].dtype, c->inputs[1].dtype};
  nd4c_dtype dtype = cf_promote(from[0], from[1]);
  bool boolean = is_compare(c->op) || c->op >= ND4C_OP_logical_and;
  int32_t rank = 0;
  int64_t extents[CF_RANK];
  broadcast_shape(c, &rank, extents);
  cf_expect(expected, boolean ? ND4C_BOOL : dtype, rank, extents, true);
  for (int64_t i = 0; i < expected->size; i++) {
    cf_value a = cf_convert(broadcast_get(&c->inputs[0], expected, i), from[0], dtype);
    cf_value b = cf_convert(broadcast_get(&c->inputs[1], expected, i), from[1], dtype);
    expected->values[i] = binary_value(c->op, dtype, a, b);
    if (c->op == ND4C_OP_power && cf_is_complex(dtype)) { /* exp(b log a): the error of the product counts */
      long double size = hypotl(expected->values[i].re, expected->values[i].im);
      expected->scale[i] = size * (1 + hypotl(b.re, b.im) * (1 + fabsl(logl(hypotl(a.re, a.im)))));
    }
  }
}

/* -- where ------------------------------------------------------------------------------------------------------ */

bool cf_sample_where(cf_random *random, int32_t number, cf_case *c) {
  nd4c_dtype dtype = 1 + number / 5;
  if (dtype >= ND4C_DTYPE_END) {
    return false;
  }
  if (!cf_has_dtype(dtype) || (ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(dtype)) != 0) {
    return true;
  }
  switch (number % 5) {
    case 0:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(3, 4, 5));
      cf_filled(c, random, CF_WIDE, dtype, CF_SHAPE(3, 4, 5));
      cf_filled(c, random, CF_WIDE, dtype, CF_SHAPE(3, 4, 5));
      break;
    case 1:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(4, 1));
      cf_filled(c, random, CF_SPECIAL, dtype, CF_SHAPE(3, 1, 5));
      cf_filled(c, random, CF_SPECIAL, dtype, CF_SCALAR);
      break;
    case 2:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(0));
      cf_filled(c, random, CF_SMALL, dtype, CF_SHAPE(2, 0));
      cf_filled(c, random, CF_SMALL, dtype, CF_SHAPE(1));
      break;
    case 3: /* short rows, computed together */
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(5500, 1));
      cf_filled(c, random, CF_WIDE, dtype, CF_SHAPE(5500, 3));
      cf_filled(c, random, CF_WIDE, dtype, CF_SHAPE(3));
      break;
    default: { /* mixed with the next dtype */
      nd4c_dtype other = dtype + 1 < ND4C_DTYPE_END ? dtype + 1 : ND4C_BOOL;
      if (cf_promote(dtype, other) != ND4C_DTYPE_NONE) {
        cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(41));
        cf_filled(c, random, CF_POSITIVE, dtype, CF_SHAPE(41));
        cf_filled(c, random, CF_POSITIVE, other, CF_SHAPE(41));
      }
      break;
    }
  }
  return true;
}

void cf_oracle_where(const cf_case *c, cf_expected *expected) {
  nd4c_dtype dtype = cf_promote(c->inputs[1].dtype, c->inputs[2].dtype);
  int32_t rank = 0;
  int64_t extents[CF_RANK];
  broadcast_shape(c, &rank, extents);
  cf_expect(expected, dtype, rank, extents, false);
  for (int64_t i = 0; i < expected->size; i++) {
    int32_t source = broadcast_get(&c->inputs[0], expected, i).i != 0 ? 1 : 2;
    expected->values[i] = cf_convert(broadcast_get(&c->inputs[source], expected, i), c->inputs[source].dtype, dtype);
  }
}
