/* Questions about extents, and guards: the assumptions that a binding of the dims must satisfy (extents.h). The rules
 * of ops/infer ask and assume; graph/ir forgets the guards of a node that is refused. */
#include <stdio.h>

#include "base/status.h"
#include "ops/extents/table.h"

static nd4c_certainty answer_of(bool yes) {
  return yes ? ND4C_CERTAINLY : ND4C_CERTAINLY_NOT;
}

bool nd4c_relation_holds(nd4c_relation relation, int64_t a, int64_t b) {
  switch (relation) {
    case ND4C_RELATION_EQUAL:
      return a == b;
    case ND4C_RELATION_DIFFERENT:
      return a != b;
    case ND4C_RELATION_AT_LEAST:
      return a >= b;
    case ND4C_RELATION_MULTIPLE:
      return b != 0 && (b == -1 || a % b == 0);
    case ND4C_RELATION_BROADCASTS:
      return a == 1 || a == b;
  }
  return false;
}

/* a - b without factors that are surely not 0, which do not change how the two compare; false if the table cannot
 * express it. */
static bool difference(nd4c_extents *extents, int64_t a, int64_t b, nd4c_polynomial *result) {
  nd4c_polynomial subtrahend;
  nd4c_polynomial_of(extents, a, result);
  nd4c_polynomial_of(extents, b, &subtrahend);
  if (!nd4c_polynomial_add(extents, result, &subtrahend, -1)) {
    return false;
  }
  nd4c_polynomial_strip(extents, result);
  return true;
}

static nd4c_certainty ask_zero(const nd4c_extents *extents, const nd4c_polynomial *polynomial) {
  int64_t low, high, content = nd4c_polynomial_content(polynomial, false);
  nd4c_polynomial_bounds(extents, polynomial, &low, &high);
  if (low == 0 && high == 0) {
    return ND4C_CERTAINLY;
  }
  bool divides = content == 0 || nd4c_polynomial_constant(polynomial) % content == 0;
  return low > 0 || high < 0 || !divides ? ND4C_CERTAINLY_NOT : ND4C_UNCERTAIN;
}

static nd4c_certainty ask_equal(nd4c_extents *extents, int64_t a, int64_t b) {
  nd4c_polynomial rest;
  int64_t a_low, a_high, b_low, b_high;
  nd4c_extents_bounds(extents, a, &a_low, &a_high);
  nd4c_extents_bounds(extents, b, &b_low, &b_high);
  if (a_high < b_low || b_high < a_low) {
    return ND4C_CERTAINLY_NOT;
  }
  return difference(extents, a, b, &rest) ? ask_zero(extents, &rest) : ND4C_UNCERTAIN;
}

/* The first term that is a maximum or a minimum, NULL if there is none. */
static const nd4c_extent_atom *extreme_of(const nd4c_extents *extents, const nd4c_polynomial *polynomial,
                                          int32_t *term) {
  for (*term = 0; *term < polynomial->count; ++*term) {
    const nd4c_monomial *product = &extents->monomials[polynomial->terms[*term].monomial];
    const nd4c_extent_atom *atom = product->degree == 1 ? &extents->atoms[extents->factors[product->first]] : NULL;
    if (atom != NULL && (atom->kind == ND4C_ATOM_MAXIMUM || atom->kind == ND4C_ATOM_MINIMUM)) {
      return atom;
    }
  }
  return NULL;
}

/* The first term that is a quotient by a number which fits; NULL if there is none. */
static const nd4c_extent_atom *quotient_of(const nd4c_extents *extents, const nd4c_polynomial *polynomial,
                                           int32_t *term) {
  for (*term = 0; *term < polynomial->count; ++*term) {
    const nd4c_monomial *product = &extents->monomials[polynomial->terms[*term].monomial];
    const nd4c_extent_atom *atom = product->degree == 1 ? &extents->atoms[extents->factors[product->first]] : NULL;
    if (atom != NULL && atom->kind == ND4C_ATOM_QUOTIENT && !nd4c_extent_is_symbolic(atom->b)) {
      return atom;
    }
  }
  return NULL;
}

/* A polynomial that is at least 0 only if `polynomial` is, without its first quotient by a number: of a / b, rounded
 * down, the b-fold lies in a - b + 1 .. a, so that n - n / 2 is at least 0 if 2*n - n is. False: there is none. */
static bool without_quotient(nd4c_extents *extents, const nd4c_polynomial *polynomial, nd4c_polynomial *result) {
  int32_t term;
  nd4c_polynomial dividend;
  const nd4c_extent_atom *atom = quotient_of(extents, polynomial, &term);
  const int64_t by = atom == NULL ? 0 : atom->b, coefficient = atom == NULL ? 0 : polynomial->terms[term].coefficient;
  if (atom == NULL || coefficient == INT64_MIN) {
    return false;
  }
  int64_t scaled, lost = 0;
  *result = (nd4c_polynomial){0};
  nd4c_polynomial_of(extents, atom->a, &dividend);
  if (polynomial->count + dividend.count >= ND4C_POLYNOMIAL_TERMS) { /* a question must not fail */
    return false;
  }
  return nd4c_checked_multiply(coefficient, by, &scaled) && nd4c_checked_multiply(-coefficient, by - 1, &lost) &&
         scaled != INT64_MIN && nd4c_polynomial_add(extents, result, polynomial, by) &&
         nd4c_polynomial_add_term(extents, result, -scaled, polynomial->terms[term].monomial) &&
         nd4c_polynomial_add(extents, result, &dividend, coefficient) &&
         (coefficient < 0 || nd4c_polynomial_add_term(extents, result, lost, 0));
}

/* Whether a polynomial is at least 0 under every binding, as far as intervals show it, also with one of its quotients
 * estimated, and with one of its maxima or minima replaced by its operands: max(n, 3) - n is at least n - n. */
static bool is_at_least_zero(nd4c_extents *extents, const nd4c_polynomial *polynomial, int32_t depth) {
  int64_t low, high;
  int32_t term;
  nd4c_polynomial_bounds(extents, polynomial, &low, &high);
  if (low < 0 && high >= 0 && depth > 0) {
    nd4c_polynomial estimate;
    if (without_quotient(extents, polynomial, &estimate) && is_at_least_zero(extents, &estimate, depth - 1)) {
      return true;
    }
  }
  const nd4c_extent_atom *atom = low < 0 && high >= 0 && depth > 0 ? extreme_of(extents, polynomial, &term) : NULL;
  if (atom == NULL) {
    return low >= 0;
  }
  int64_t coefficient = polynomial->terms[term].coefficient, operands[2] = {atom->a, atom->b};
  bool one_is_enough = (coefficient > 0) == (atom->kind == ND4C_ATOM_MAXIMUM);
  int32_t fine = 0, monomial = polynomial->terms[term].monomial;
  for (int32_t i = 0; i < 2; i++) {
    nd4c_polynomial replaced = *polynomial, operand;
    nd4c_polynomial_of(extents, operands[i], &operand);
    fine += coefficient != INT64_MIN && nd4c_polynomial_add_term(extents, &replaced, -coefficient, monomial) &&
            nd4c_polynomial_add(extents, &replaced, &operand, coefficient) &&
            is_at_least_zero(extents, &replaced, depth - 1);
  }
  return fine == 2 || (fine == 1 && one_is_enough);
}

static nd4c_certainty ask_at_least(nd4c_extents *extents, int64_t a, int64_t b) {
  enum { DEPTH = 4 };
  nd4c_polynomial rest, below;
  int64_t a_low, a_high, b_low, b_high;
  nd4c_extents_bounds(extents, a, &a_low, &a_high);
  nd4c_extents_bounds(extents, b, &b_low, &b_high);
  if (a_low >= b_high || a_high < b_low) {
    return answer_of(a_low >= b_high);
  }
  if (difference(extents, a, b, &rest) && is_at_least_zero(extents, &rest, DEPTH)) {
    return ND4C_CERTAINLY;
  }
  bool less = difference(extents, b, a, &below) && nd4c_polynomial_add_term(extents, &below, -1, 0) &&
              is_at_least_zero(extents, &below, DEPTH);
  return less ? ND4C_CERTAINLY_NOT : ND4C_UNCERTAIN;
}

/* A remainder is asked for only if its divisor is surely positive, so that asking assumes nothing. */
static nd4c_certainty ask_multiple(nd4c_extents *extents, int64_t a, int64_t b) {
  int64_t low, high, rest;
  nd4c_extents_bounds(extents, b, &low, &high);
  if (high <= 0) {
    return ND4C_CERTAINLY_NOT;
  }
  if (low < 1 || !nd4c_extents_remainder(extents, a, b, &rest)) {
    return ND4C_UNCERTAIN;
  }
  return nd4c_extent_is_symbolic(rest) ? ND4C_UNCERTAIN : answer_of(rest == 0);
}

nd4c_certainty nd4c_extents_ask(nd4c_extents *extents, nd4c_relation relation, int64_t a, int64_t b) {
  if (!nd4c_extents_has(extents, a) && !nd4c_extents_has(extents, b)) {
    return answer_of(nd4c_relation_holds(relation, a, b));
  }
  nd4c_certainty one, equal;
  switch (relation) {
    case ND4C_RELATION_EQUAL:
      return ask_equal(extents, a, b);
    case ND4C_RELATION_DIFFERENT:
      equal = ask_equal(extents, a, b);
      return equal == ND4C_UNCERTAIN ? equal : answer_of(equal == ND4C_CERTAINLY_NOT);
    case ND4C_RELATION_AT_LEAST:
      return ask_at_least(extents, a, b);
    case ND4C_RELATION_MULTIPLE:
      return ask_multiple(extents, a, b);
    case ND4C_RELATION_BROADCASTS:
      one = ask_equal(extents, a, 1);
      equal = ask_equal(extents, a, b);
      return one == ND4C_CERTAINLY || equal == ND4C_CERTAINLY_NOT ? one : equal;
  }
  return ND4C_UNCERTAIN;
}

/* -- guards ------------------------------------------------------------------------------------------------------ */

/* "6*n == 4*m" becomes "3*n == 2*m": what stands on both sides and common divisors go, so that equal guards are found.
 * What a table cannot express stays as it is. */
static void reduce(nd4c_extents *extents, nd4c_guard *guard) {
  nd4c_polynomial rest, positive, negative;
  bool order = guard->relation == ND4C_RELATION_AT_LEAST;
  if ((!order && guard->relation != ND4C_RELATION_EQUAL && guard->relation != ND4C_RELATION_DIFFERENT) ||
      !difference(extents, guard->a, guard->b, &rest) || rest.count == 0) {
    return;
  }
  int64_t content = nd4c_polynomial_content(&rest, true), sign = !order && rest.terms[0].coefficient < 0 ? -1 : 1;
  for (int32_t i = 0; i < rest.count; i++) {
    rest.terms[i].coefficient /= content * sign;
  }
  int64_t a, b;
  if (nd4c_polynomial_split(&rest, &positive, &negative) && nd4c_extents_intern(extents, &positive, &a) &&
      nd4c_extents_intern(extents, &negative, &b)) {
    guard->a = a;
    guard->b = b;
  }
}

/* Whether a guard says that `a` is another number, or that it is not this one. */
static bool contradicts(const nd4c_guard *known, const nd4c_guard *guard) {
  if (known->a != guard->a || nd4c_extent_is_symbolic(known->b) || nd4c_extent_is_symbolic(guard->b)) {
    return false;
  }
  bool fixed = known->relation == ND4C_RELATION_EQUAL;
  return fixed ? !nd4c_relation_holds(guard->relation, known->b, guard->b)
               : guard->relation == ND4C_RELATION_EQUAL && !nd4c_relation_holds(known->relation, guard->b, known->b);
}

static bool same_guard(const nd4c_guard *known, const nd4c_guard *guard) {
  return known->relation == guard->relation && known->a == guard->a && known->b == guard->b;
}

bool nd4c_extents_assume(nd4c_extents *extents, nd4c_relation relation, int64_t a, int64_t b) {
  nd4c_certainty answer = nd4c_extents_ask(extents, relation, a, b);
  if (answer != ND4C_UNCERTAIN) {
    return answer == ND4C_CERTAINLY;
  }
  nd4c_guard guard = {.relation = relation, .a = a, .b = b, .asker = extents->asker};
  guard.subject = nd4c_extent_is_symbolic(extents->subject) ? extents->subject : 0;
  reduce(extents, &guard);
  for (int32_t i = 0; i < extents->guard_count; i++) {
    nd4c_guard *known = &extents->guards[i];
    if (same_guard(known, &guard)) {
      if (known->asker == NULL && known->subject == 0) { /* made while a binding computed its extents */
        known->asker = guard.asker;
        known->subject = guard.subject;
      }
      return true;
    }
    if (contradicts(&extents->guards[i], &guard)) {
      return false;
    }
  }
  nd4c_status status = nd4c_grow(&extents->guards, &extents->guard_capacity, extents->guard_count + 1,
                                 sizeof *extents->guards, "a table of extents");
  if (status != ND4C_OK) {
    return nd4c_extents_fail(extents, status);
  }
  extents->guards[extents->guard_count] = guard;
  extents->guard_count++;
  if (relation == ND4C_RELATION_EQUAL || relation == ND4C_RELATION_BROADCASTS) {
    nd4c_extents_renew_usual(extents);
  }
  return true;
}

void nd4c_extents_set_asker(nd4c_extents *extents, const char *asker) {
  extents->asker = asker;
}

void nd4c_extents_set_subject(nd4c_extents *extents, int32_t count, int64_t subject) {
  for (int32_t i = count; i < extents->guard_count; i++) {
    extents->guards[i].subject = nd4c_extent_is_symbolic(subject) ? subject : 0;
  }
}

int32_t nd4c_extents_guard_count(const nd4c_extents *extents) {
  return extents->guard_count;
}

void nd4c_extents_forget(nd4c_extents *extents, int32_t count) {
  if (count < extents->guard_count) {
    extents->guard_count = count;
    nd4c_extents_renew_usual(extents);
  }
}

const char *nd4c_extents_guard_text(const nd4c_extents *extents, int32_t guard, char *buffer, size_t size) {
  enum { SIDE = 256 };
  static const char *const words[] = {[ND4C_RELATION_EQUAL] = "==",
                                      [ND4C_RELATION_DIFFERENT] = "!=",
                                      [ND4C_RELATION_AT_LEAST] = ">=",
                                      [ND4C_RELATION_MULTIPLE] = "is a multiple of",
                                      [ND4C_RELATION_BROADCASTS] = "is 1 or"};
  const nd4c_guard *known = &extents->guards[guard];
  char a[SIDE], b[SIDE], subject[SIDE] = "";
  bool named = known->subject != 0;
  if (named) {
    (void)nd4c_extents_text(extents, known->subject, subject, sizeof subject);
  }
  (void)snprintf(buffer, size, "%s%s%s%s %s %s",
                 named                  ? "the extent "
                 : known->asker == NULL ? ""
                                        : known->asker,
                 subject, named || known->asker != NULL ? ": " : "", nd4c_extents_text(extents, known->a, a, sizeof a),
                 words[known->relation], nd4c_extents_text(extents, known->b, b, sizeof b));
  return buffer;
}

bool nd4c_extents_publish(nd4c_extents *extents, const nd4c_polynomial *polynomial, int64_t *extent) {
  int64_t low, high, a, b;
  nd4c_polynomial positive, negative;
  nd4c_polynomial_bounds(extents, polynomial, &low, &high);
  bool assumed =
      low >= 0 || (high >= 0 && nd4c_polynomial_split(polynomial, &positive, &negative) &&
                   nd4c_extents_intern(extents, &positive, &a) && nd4c_extents_intern(extents, &negative, &b) &&
                   nd4c_extents_assume(extents, ND4C_RELATION_AT_LEAST, a, b));
  return assumed && nd4c_extents_intern(extents, polynomial, extent);
}
