/* Samplers and oracles of reductions. */
#include <math.h>
#include <stdlib.h>

#include "conformance.h"

typedef struct reduction {
  int32_t rank;
  int64_t shape[5];
  int32_t axis_count;
  int64_t axes[5];
  bool keepdims;
  cf_fill_kind kind;
} reduction;

static const reduction reductions[] = {
    {0, {0}, 0, {0}, false, CF_SMALL},
    {1, {37}, 0, {0}, false, CF_SMALL},
    {1, {700}, 1, {-1}, true, CF_SMALL},
    {3, {3, 4, 5}, 1, {1}, false, CF_SMALL},
    {3, {3, 4, 5}, 2, {0, -1}, true, CF_SMALL},
    {4, {2, 3, 5, 4}, 2, {2, 3}, false, CF_SMALL},
    {4, {2, 3, 5, 4}, 1, {0}, true, CF_WIDE},
    {2, {33, 17}, 1, {0}, false, CF_SMALL},
    {2, {33, 17}, 1, {1}, false, CF_SPECIAL},
    {1, {29}, 0, {0}, true, CF_SPECIAL},
    {2, {0, 3}, 1, {1}, false, CF_SMALL}, /* no results */
    {2, {0, 3}, 1, {0}, false, CF_SMALL}, /* results of nothing */
    {3, {2, 1, 3}, 1, {1}, false, CF_SMALL},
    {5, {2, 3, 2, 1, 2}, 3, {0, 2, 4}, false, CF_SMALL},
    {2, {3, 40}, CF_NO_VALUES, {0}, false, CF_SMALL},
    {0, {0}, CF_NO_VALUES, {0}, true, CF_SMALL},
    {1, {4200}, 0, {0}, false, CF_SMALL},  /* two pieces */
    {2, {3, 67}, 1, {1}, false, CF_SMALL}, /* few vectors and a part of one */
    {2, {3, 131}, 1, {1}, false, CF_SPECIAL},
    {2, {2, 2177}, 1, {1}, true, CF_SMALL},   /* longer than the piece in which 16-bit floats are widened */
    {2, {21, 67}, 1, {0}, false, CF_SPECIAL}, /* eight rows at a time, then single ones */
    {2, {8, 16}, 1, {0}, true, CF_SMALL},
    {2, {300, 150}, 1, {0}, false, CF_SMALL}, /* several cascades */
    {2, {9, 2100}, 1, {0}, false, CF_SMALL},  /* two lines of accumulators */
    /* from LONG on: rows that devices split into pieces */
    {2, {1, 20011}, 1, {-1}, false, CF_SMALL},
    {2, {1, 20011}, 0, {0}, false, CF_SMALL},
    {3, {3, 2, 9001}, 1, {-1}, true, CF_SMALL},
    {3, {3, 2, 9001}, 0, {0}, false, CF_SMALL},
};
enum { REDUCTIONS = sizeof reductions / sizeof reductions[0], LONG = REDUCTIONS - 4 };

/* Whether the op uses the sample: the long ones are for sums that vector loops compute. */
static bool is_for(const cf_case *c, int32_t number) {
  return number < LONG || (c->dtype == ND4C_FLOAT32 && (c->op == ND4C_OP_sum || c->op == ND4C_OP_mean));
}

static bool needs_elements(nd4c_op op) {
  return op == ND4C_OP_max || op == ND4C_OP_min || op == ND4C_OP_argmax || op == ND4C_OP_argmin;
}

/* A sum of large numbers of one sign is infinite, whatever the order. */
static bool sample_overflow(cf_random *random, cf_case *c) {
  if (c->op != ND4C_OP_sum || (!cf_is_float(c->dtype) && !cf_is_complex(c->dtype))) {
    return false;
  }
  cf_tensor *x = cf_filled(c, random, CF_POSITIVE, c->dtype, CF_SHAPE(3, 40));
  int power = c->dtype == ND4C_FLOAT16                                         ? 15
              : cf_bits_of(c->dtype) / (cf_is_complex(c->dtype) ? 2 : 1) == 64 ? 1023
                                                                               : 127;
  for (int64_t i = 0; i < x->size; i++) {
    cf_set(x, i, (cf_value){.re = ldexpl(1, power), .im = -ldexpl(1, power)});
  }
  cf_attr_ints(c, "axes", 1, (const int64_t[]){1});
  return true;
}

/* The longest axis reduced; no axes given reduces all of the one that such samples have. */
static int64_t longest_reduced(const reduction *r) {
  int64_t longest = r->axis_count == 0 && r->rank == 1 ? r->shape[0] : 0;
  for (int32_t i = 0; i < r->axis_count; i++) {
    int64_t length = r->shape[r->axes[i] < 0 ? r->axes[i] + r->rank : r->axes[i]];
    longest = length > longest ? length : longest;
  }
  return longest;
}

bool cf_sample_reduce(cf_random *random, int32_t number, cf_case *c) {
  if (number == REDUCTIONS) {
    return sample_overflow(random, c);
  }
  if (number > REDUCTIONS) {
    return false;
  }
  if (!is_for(c, number)) {
    return true;
  }
  const reduction *r = &reductions[number];
  bool ordered = c->op == ND4C_OP_max || c->op == ND4C_OP_min;
  bool integer = !cf_is_float(c->dtype) && !cf_is_complex(c->dtype);
  cf_fill_kind kind = r->kind;
  if (number == 11 && needs_elements(c->op)) {
    return true;
  }
  if (c->op == ND4C_OP_prod && cf_is_complex(c->dtype) && longest_reduced(r) > 2000) {
    return true; /* the product of so many numbers of magnitude sqrt(2) is more than double holds */
  }
  if (c->op == ND4C_OP_prod && !integer) {
    kind = CF_NEAR_ONE;
  } else if (!ordered && !integer && kind != CF_SMALL) {
    kind = CF_POSITIVE; /* the order of additions of infinities and huge numbers is free */
  }
  cf_filled(c, random, kind, c->dtype, r->rank, r->shape);
  cf_attr_ints(c, "axes", r->axis_count, r->axes);
  cf_attr_bool(c, "keepdims", r->keepdims);
  return true;
}

bool cf_sample_arg_reduce(cf_random *random, int32_t number, cf_case *c) {
  if (number >= LONG) {
    return false;
  }
  const reduction *r = &reductions[number];
  if (r->rank == 0 || number == 11 || r->axis_count == CF_NO_VALUES) {
    return true;
  }
  cf_filled(c, random, r->kind, c->dtype, r->rank, r->shape);
  cf_attr_int(c, "axis", r->axis_count > 0 ? r->axes[0] : 0);
  cf_attr_bool(c, "keepdims", r->keepdims);
  return true;
}

/* -- oracles ---------------------------------------------------------------------------------------------------- */

static void reduced_axes(const cf_case *c, bool arg, bool *reduced) {
  int32_t rank = c->inputs[0].rank, count = 0;
  const int64_t *axes = cf_ints_of(c, "axes", &count);
  int64_t single = arg ? cf_int_of(c, "axis", 0) : 0;
  if (arg) {
    axes = &single;
    count = 1;
  }
  for (int32_t i = 0; i < rank; i++) {
    reduced[i] = axes == NULL;
  }
  for (int32_t i = 0; i < count; i++) {
    reduced[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
  }
}

static void reduced_shape(const cf_case *c, const bool *reduced, int32_t *rank, int64_t *shape) {
  bool keepdims = cf_int_of(c, "keepdims", 0) != 0;
  *rank = 0;
  for (int32_t i = 0; i < c->inputs[0].rank; i++) {
    if (!reduced[i] || keepdims) {
      shape[(*rank)++] = reduced[i] ? 1 : c->inputs[0].shape[i];
    }
  }
}

/* Result to which an element belongs. */
static int64_t owner_of(const cf_tensor *x, const bool *reduced, int64_t number) {
  int64_t owner = 0, stride = 1;
  for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
    int64_t index = number % x->shape[axis];
    number /= x->shape[axis];
    if (!reduced[axis]) {
      owner += index * stride;
      stride *= x->shape[axis];
    }
  }
  return owner;
}

static bool wins(nd4c_dtype dtype, bool largest, cf_value challenger, cf_value champion) {
  if (cf_is_float(dtype)) {
    if (isnan(champion.re) || isnan(challenger.re)) {
      return isnan(challenger.re) && !isnan(champion.re);
    }
    return largest ? challenger.re > champion.re : challenger.re < champion.re;
  }
  bool above = cf_is_unsigned(dtype) ? (uint64_t)challenger.i > (uint64_t)champion.i : challenger.i > champion.i;
  return largest ? above : challenger.i != champion.i && !above;
}

static nd4c_dtype sum_dtype(nd4c_dtype dtype) {
  if (cf_is_unsigned(dtype) && cf_has_dtype(ND4C_UINT64)) {
    return ND4C_UINT64;
  }
  return cf_is_integer(dtype) || dtype == ND4C_BOOL ? (nd4c_dtype)ND4C_INT64 : dtype;
}

static nd4c_dtype reduce_dtype(const cf_case *c) {
  if (c->op == ND4C_OP_all || c->op == ND4C_OP_any) {
    return ND4C_BOOL;
  }
  return c->op == ND4C_OP_sum || c->op == ND4C_OP_prod ? sum_dtype(c->dtype) : c->dtype;
}

static bool is_true(cf_value x) {
  return x.i != 0 || x.re != 0 || x.im != 0;
}

static void fold(nd4c_op op, nd4c_dtype dtype, bool first, cf_value *y, long double *scale, cf_value x) {
  switch (op) {
    case ND4C_OP_sum:
    case ND4C_OP_mean:
      y->re += x.re;
      y->im += x.im;
      y->i = (int64_t)((uint64_t)y->i + (uint64_t)x.i);
      *scale += x.im == 0 ? fabsl(x.re) : hypotl(x.re, x.im);
      break;
    case ND4C_OP_prod: {
      long double re = y->re * x.re - y->im * x.im;
      y->im = y->re * x.im + y->im * x.re;
      y->re = re;
      y->i = (int64_t)((uint64_t)y->i * (uint64_t)x.i);
      break;
    }
    case ND4C_OP_all:
      y->i = y->i != 0 && is_true(x);
      break;
    case ND4C_OP_any:
      y->i = y->i != 0 || is_true(x);
      break;
    default: /* max, min */
      if (first || wins(dtype, op == ND4C_OP_max, x, *y)) {
        *y = x;
      }
      break;
  }
}

/* Blocks of up to 128 terms may be added one after the other before sums are paired. Mean: divides; product: every
 * factor may have cost a rounding. */
static void finish(const cf_case *c, cf_expected *expected) {
  int64_t count = expected->size > 0 ? c->inputs[0].size / expected->size : 0;
  for (int64_t i = 0; i < expected->size; i++) {
    cf_value *y = &expected->values[i];
    expected->scale[i] *= 1 + (long double)(count < 128 ? count : 128) / 16;
    if (c->op == ND4C_OP_mean) {
      y->re /= (long double)count;
      y->im = cf_is_complex(c->dtype) ? y->im / (long double)count : 0;
      expected->scale[i] /= (long double)(count > 0 ? count : 1);
    } else if (c->op == ND4C_OP_prod) {
      expected->scale[i] = hypotl(y->re, y->im) * (long double)(1 + count / 2);
    }
  }
}

void cf_oracle_reduce(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  bool reduced[CF_RANK];
  int32_t rank = 0;
  int64_t shape[CF_RANK];
  reduced_axes(c, false, reduced);
  reduced_shape(c, reduced, &rank, shape);
  cf_expect(expected, reduce_dtype(c), rank, shape, true);
  bool one = c->op == ND4C_OP_prod || c->op == ND4C_OP_all;
  bool *seen = calloc((size_t)expected->size + 1, sizeof *seen);
  for (int64_t i = 0; i < expected->size && one; i++) {
    expected->values[i] = (cf_value){.i = 1, .re = 1};
  }
  for (int64_t i = 0; i < x->size && seen != NULL; i++) {
    int64_t owner = owner_of(x, reduced, i);
    fold(c->op, c->dtype, !seen[owner], &expected->values[owner], &expected->scale[owner], cf_get(x, i));
    seen[owner] = true;
  }
  free(seen);
  finish(c, expected);
}

void cf_oracle_arg_reduce(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  bool reduced[CF_RANK];
  int32_t rank = 0;
  int64_t shape[CF_RANK];
  reduced_axes(c, true, reduced);
  reduced_shape(c, reduced, &rank, shape);
  cf_expect(expected, ND4C_INT64, rank, shape, false);
  cf_value *best = calloc((size_t)expected->size + 1, sizeof *best);
  int64_t *seen = calloc((size_t)expected->size + 1, sizeof *seen);
  for (int64_t i = 0; i < x->size && best != NULL && seen != NULL; i++) {
    /* Elements of one owner come in the order of the one reduced axis. */
    int64_t owner = owner_of(x, reduced, i);
    cf_value value = cf_get(x, i);
    if (seen[owner] == 0 || wins(c->dtype, c->op == ND4C_OP_argmax, value, best[owner])) {
      best[owner] = value;
      expected->values[owner].i = seen[owner];
    }
    seen[owner]++;
  }
  free(best);
  free(seen);
}
