/* Arithmetic on extents of which at least one is symbolic (extents.h); the rules of ops/infer compute with it. */
#include "base/status.h"
#include "ops/extents/table.h"

/* Whether an operand is symbolic, so that the table has to compute. */
static bool is_expression(const nd4c_extents *extents, int64_t a, int64_t b) {
  return nd4c_extents_has(extents, a) || nd4c_extents_has(extents, b);
}

static int64_t quotient_down(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

bool nd4c_extents_add(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  nd4c_polynomial sum, addend;
  if (!is_expression(extents, a, b)) {
    return nd4c_checked_add(a, b, result);
  }
  nd4c_polynomial_of(extents, a, &sum);
  nd4c_polynomial_of(extents, b, &addend);
  return nd4c_polynomial_add(extents, &sum, &addend, 1) && nd4c_extents_publish(extents, &sum, result);
}

bool nd4c_extents_subtract(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  nd4c_polynomial rest, subtrahend;
  if (!is_expression(extents, a, b)) {
    return nd4c_checked_subtract(a, b, result);
  }
  nd4c_polynomial_of(extents, a, &rest);
  nd4c_polynomial_of(extents, b, &subtrahend);
  return nd4c_polynomial_add(extents, &rest, &subtrahend, -1) && nd4c_extents_publish(extents, &rest, result);
}

bool nd4c_extents_multiply(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  nd4c_polynomial left, right, product;
  if (!is_expression(extents, a, b)) {
    return nd4c_checked_multiply(a, b, result);
  }
  nd4c_polynomial_of(extents, a, &left);
  nd4c_polynomial_of(extents, b, &right);
  /* A product of extents is an extent, even if interval arithmetic on its terms does not see that. */
  bool known = (a >= 0 || nd4c_extents_has(extents, a)) && (b >= 0 || nd4c_extents_has(extents, b));
  return nd4c_polynomial_multiply(extents, &left, &right, &product) &&
         (known ? nd4c_extents_intern(extents, &product, result) : nd4c_extents_publish(extents, &product, result));
}

/* -- quotients --------------------------------------------------------------------------------------------------- */

/* An atom as an expression. */
static bool atom_extent(nd4c_extents *extents, nd4c_extent_atom atom, nd4c_polynomial *polynomial) {
  int32_t number = 0;
  *polynomial = (nd4c_polynomial){.count = 1, .terms = {{1, 0}}};
  return nd4c_extents_atom(extents, atom, &number) &&
         nd4c_extents_monomial(extents, &number, 1, &polynomial->terms[0].monomial);
}

/* a / b, rounded down, as an atom of its own. */
static bool quotient_atom(nd4c_extents *extents, int64_t a, int64_t b, nd4c_polynomial *polynomial) {
  int64_t a_low, a_high, b_low, b_high;
  nd4c_extents_bounds(extents, a, &a_low, &a_high);
  nd4c_extents_bounds(extents, b, &b_low, &b_high);
  b_low = b_low < 1 ? 1 : b_low;
  nd4c_extent_atom atom = {.kind = ND4C_ATOM_QUOTIENT,
                           .a = a,
                           .b = b,
                           .low = b_high == INT64_MAX ? 0 : a_low / b_high,
                           .high = a_high == INT64_MAX ? INT64_MAX : a_high / b_low};
  return atom_extent(extents, atom, polynomial);
}

/* Splits a polynomial by a positive number: *whole * by + *rest, with the coefficients of *rest in 0 .. by - 1. */
static bool split_by(nd4c_extents *extents, const nd4c_polynomial *polynomial, int64_t by, nd4c_polynomial *whole,
                     nd4c_polynomial *rest) {
  whole->count = 0;
  rest->count = 0;
  for (int32_t i = 0; i < polynomial->count; i++) {
    const nd4c_extent_term *term = &polynomial->terms[i];
    int64_t quotient = quotient_down(term->coefficient, by);
    if (!nd4c_polynomial_add_term(extents, whole, quotient, term->monomial) ||
        !nd4c_polynomial_add_term(extents, rest, term->coefficient - quotient * by, term->monomial)) {
      return false;
    }
  }
  return true;
}

/* The one quotient by a number of which a polynomial consists, a constant aside; NULL if it consists of more. */
static const nd4c_extent_atom *lone_quotient(const nd4c_extents *extents, const nd4c_polynomial *polynomial) {
  int32_t symbolic = polynomial->count - (nd4c_polynomial_constant(polynomial) != 0);
  const nd4c_monomial *monomial = &extents->monomials[polynomial->count > 0 ? polynomial->terms[0].monomial : 0];
  if (symbolic != 1 || monomial->degree != 1 || polynomial->terms[0].coefficient != 1) {
    return NULL;
  }
  const nd4c_extent_atom *atom = &extents->atoms[extents->factors[monomial->first]];
  return atom->kind == ND4C_ATOM_QUOTIENT && !nd4c_extent_is_symbolic(atom->b) ? atom : NULL;
}

/* (a / c + constant) / by = (a + constant * c) / (c * by), all rounded down. */
static bool merge_quotients(nd4c_extents *extents, nd4c_polynomial *rest, int64_t *by) {
  const nd4c_extent_atom *inner = lone_quotient(extents, rest);
  int64_t shift, product;
  if (inner == NULL || !nd4c_checked_multiply(nd4c_polynomial_constant(rest), inner->b, &shift) ||
      !nd4c_checked_multiply(*by, inner->b, &product)) {
    return true;
  }
  nd4c_polynomial_of(extents, inner->a, rest);
  *by = product;
  return nd4c_polynomial_add_term(extents, rest, shift, 0);
}

/* The part of a quotient that does not divide evenly: without common divisors, and as one quotient if it is a quotient
 * of another. */
static bool divide_rest(nd4c_extents *extents, nd4c_polynomial *rest, int64_t by, nd4c_polynomial *result) {
  nd4c_polynomial atom;
  int64_t numerator, common = nd4c_polynomial_content(rest, false);
  for (int64_t b = by; b != 0;) {
    int64_t next = common % b;
    common = b;
    b = next;
  }
  for (int32_t i = 0; i < rest->count; i++) {
    rest->terms[i].coefficient /= common;
  }
  rest->count -= rest->terms[rest->count - 1].coefficient == 0;
  return nd4c_extents_intern(extents, rest, &numerator) && quotient_atom(extents, numerator, by / common, &atom) &&
         nd4c_polynomial_add(extents, result, &atom, 1);
}

/* a / by for a number. Each turn takes out what divides evenly and then one level of nested quotients, so that the
 * nesting bounds the turns. */
static bool divide_by_number(nd4c_extents *extents, const nd4c_polynomial *a, int64_t by, nd4c_polynomial *result) {
  nd4c_polynomial whole, rest, left = *a;
  result->count = 0;
  for (int64_t before = 0; before != by;) {
    before = by;
    if (!split_by(extents, &left, by, &whole, &rest) || !nd4c_polynomial_add(extents, result, &whole, 1)) {
      return false;
    }
    left = rest;
    if (!merge_quotients(extents, &left, &by)) {
      return false;
    }
  }
  /* A constant below the divisor leaves nothing. */
  return rest.count == 0 || rest.terms[0].monomial == 0 || divide_rest(extents, &rest, by, result);
}

bool nd4c_extents_divide(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  nd4c_polynomial dividend, divisor, quotient;
  if (!is_expression(extents, a, b)) {
    bool defined = b != 0 && (a != INT64_MIN || b != -1);
    *result = defined ? quotient_down(a, b) : 0;
    return defined;
  }
  nd4c_polynomial_of(extents, a, &dividend);
  nd4c_polynomial_of(extents, b, &divisor);
  if (!nd4c_extent_is_symbolic(b)) {
    return b > 0 && divide_by_number(extents, &dividend, b, &quotient) &&
           nd4c_extents_intern(extents, &quotient, result);
  }
  if (a < 0 && !nd4c_extent_is_symbolic(a)) {
    return false;
  }
  if (!nd4c_extents_assume(extents, ND4C_RELATION_AT_LEAST, b, 1)) {
    return false;
  }
  bool even = nd4c_polynomial_divide(extents, &dividend, &divisor, &quotient);
  return (even || quotient_atom(extents, a, b, &quotient)) && nd4c_extents_intern(extents, &quotient, result);
}

bool nd4c_extents_remainder(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  nd4c_polynomial rest, whole, taken, divisor;
  int64_t quotient;
  if (!is_expression(extents, a, b)) {
    bool defined = b > 0;
    *result = defined ? a - quotient_down(a, b) * b : 0;
    return defined;
  }
  if (!nd4c_extents_divide(extents, a, b, &quotient)) {
    return false;
  }
  nd4c_polynomial_of(extents, a, &rest);
  nd4c_polynomial_of(extents, b, &divisor);
  nd4c_polynomial_of(extents, quotient, &whole);
  return nd4c_polynomial_multiply(extents, &whole, &divisor, &taken) &&
         nd4c_polynomial_add(extents, &rest, &taken, -1) && nd4c_extents_intern(extents, &rest, result);
}

/* -- the larger and the smaller ---------------------------------------------------------------------------------- */

static bool extreme(nd4c_extents *extents, bool larger, int64_t a, int64_t b, int64_t *result) {
  nd4c_certainty above = nd4c_extents_ask(extents, ND4C_RELATION_AT_LEAST, a, b);
  nd4c_certainty below = nd4c_extents_ask(extents, ND4C_RELATION_AT_LEAST, b, a);
  if (above == ND4C_CERTAINLY || below == ND4C_CERTAINLY) {
    *result = (above == ND4C_CERTAINLY) == larger ? a : b;
    return true;
  }
  int64_t a_low, a_high, b_low, b_high;
  nd4c_polynomial polynomial;
  nd4c_extents_bounds(extents, a, &a_low, &a_high);
  nd4c_extents_bounds(extents, b, &b_low, &b_high);
  /* Expressions in the order in which they were made, then a number. */
  bool first = b >= 0 || (a < 0 && a > b);
  nd4c_extent_atom atom = {.kind = larger ? ND4C_ATOM_MAXIMUM : ND4C_ATOM_MINIMUM,
                           .a = first ? a : b,
                           .b = first ? b : a,
                           .low = (a_low > b_low) == larger ? a_low : b_low,
                           .high = (a_high > b_high) == larger ? a_high : b_high};
  return atom_extent(extents, atom, &polynomial) && nd4c_extents_intern(extents, &polynomial, result);
}

bool nd4c_extents_maximum(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  return extreme(extents, true, a, b, result);
}

bool nd4c_extents_minimum(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  return extreme(extents, false, a, b, result);
}
