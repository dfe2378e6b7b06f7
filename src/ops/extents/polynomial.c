/* Polynomials as sorted lists of terms, for the files of this folder. A monomial is greater if it has a higher degree;
 * among equal degrees, if it has more of the atom with the lowest number. Products keep this order, which division
 * needs. */
#include <string.h>

#include "base/status.h"
#include "ops/extents/table.h"

static int compare_monomials(const nd4c_extents *extents, int32_t a, int32_t b) {
  const nd4c_monomial *left = &extents->monomials[a], *right = &extents->monomials[b];
  if (a == b || left->degree != right->degree) {
    return left->degree - right->degree;
  }
  const int32_t *left_atoms = extents->factors + left->first, *right_atoms = extents->factors + right->first;
  for (int32_t i = 0; i < left->degree; i++) {
    if (left_atoms[i] != right_atoms[i]) {
      return left_atoms[i] < right_atoms[i] ? 1 : -1;
    }
  }
  return 0;
}

static bool too_large(nd4c_extents *extents) {
  return nd4c_extents_fail(
      extents, nd4c_fail(ND4C_UNSUPPORTED, "an extent would be an expression of more than %d terms or factors",
                         ND4C_POLYNOMIAL_TERMS));
}

void nd4c_polynomial_of(const nd4c_extents *extents, int64_t extent, nd4c_polynomial *polynomial) {
  if (nd4c_extents_has(extents, extent)) {
    const nd4c_expression *expression = &extents->expressions[nd4c_expression_of(extent)];
    polynomial->count = expression->count;
    memcpy(polynomial->terms, extents->terms + expression->first,
           (size_t)expression->count * sizeof *polynomial->terms);
    return;
  }
  polynomial->count = extent != 0;
  polynomial->terms[0] = (nd4c_extent_term){extent, 0};
}

bool nd4c_polynomial_add_term(nd4c_extents *extents, nd4c_polynomial *polynomial, int64_t coefficient,
                              int32_t monomial) {
  nd4c_extent_term *terms = polynomial->terms;
  int32_t place = 0;
  while (place < polynomial->count && compare_monomials(extents, terms[place].monomial, monomial) > 0) {
    place++;
  }
  size_t rest = (size_t)(polynomial->count - place);
  if (coefficient == 0) {
    return true;
  }
  if (rest > 0 && terms[place].monomial == monomial) {
    if (!nd4c_checked_add(terms[place].coefficient, coefficient, &terms[place].coefficient)) {
      return false;
    }
    if (terms[place].coefficient == 0) {
      memmove(&terms[place], &terms[place + 1], (rest - 1) * sizeof *terms);
      polynomial->count--;
    }
    return true;
  }
  if (polynomial->count == ND4C_POLYNOMIAL_TERMS) {
    return too_large(extents);
  }
  memmove(&terms[place + 1], &terms[place], rest * sizeof *terms);
  terms[place] = (nd4c_extent_term){coefficient, monomial};
  polynomial->count++;
  return true;
}

bool nd4c_polynomial_add(nd4c_extents *extents, nd4c_polynomial *sum, const nd4c_polynomial *polynomial,
                         int64_t factor) {
  for (int32_t i = 0; i < polynomial->count; i++) {
    int64_t coefficient;
    if (!nd4c_checked_multiply(polynomial->terms[i].coefficient, factor, &coefficient) ||
        !nd4c_polynomial_add_term(extents, sum, coefficient, polynomial->terms[i].monomial)) {
      return false;
    }
  }
  return true;
}

static bool multiply_monomials(nd4c_extents *extents, int32_t a, int32_t b, int32_t *product) {
  const nd4c_monomial left = extents->monomials[a], right = extents->monomials[b];
  int32_t atoms[ND4C_POLYNOMIAL_DEGREE];
  if (left.degree + right.degree > ND4C_POLYNOMIAL_DEGREE) {
    return too_large(extents);
  }
  const int32_t *from = extents->factors;
  for (int32_t i = 0, j = 0; i + j < left.degree + right.degree;) {
    bool take_left = j == right.degree || (i < left.degree && from[left.first + i] <= from[right.first + j]);
    atoms[i + j] = take_left ? from[left.first + i] : from[right.first + j];
    i += take_left;
    j += !take_left;
  }
  return nd4c_extents_monomial(extents, atoms, left.degree + right.degree, product);
}

bool nd4c_polynomial_multiply(nd4c_extents *extents, const nd4c_polynomial *a, const nd4c_polynomial *b,
                              nd4c_polynomial *product) {
  product->count = 0;
  for (int32_t i = 0; i < a->count; i++) {
    for (int32_t j = 0; j < b->count; j++) {
      int64_t coefficient;
      int32_t monomial = 0;
      if (!nd4c_checked_multiply(a->terms[i].coefficient, b->terms[j].coefficient, &coefficient) ||
          !multiply_monomials(extents, a->terms[i].monomial, b->terms[j].monomial, &monomial) ||
          !nd4c_polynomial_add_term(extents, product, coefficient, monomial)) {
        return false;
      }
    }
  }
  return true;
}

/* a without the factors of b; false if it lacks one. */
static bool divide_monomials(nd4c_extents *extents, int32_t a, int32_t b, int32_t *quotient) {
  const nd4c_monomial left = extents->monomials[a], right = extents->monomials[b];
  int32_t atoms[ND4C_POLYNOMIAL_DEGREE], kept = 0, matched = 0;
  const int32_t *from = extents->factors;
  for (int32_t i = 0; i < left.degree; i++) {
    bool match = matched < right.degree && from[left.first + i] == from[right.first + matched];
    matched += match;
    if (!match) {
      atoms[kept++] = from[left.first + i];
    }
  }
  return matched == right.degree && nd4c_extents_monomial(extents, atoms, kept, quotient);
}

bool nd4c_polynomial_divide(nd4c_extents *extents, const nd4c_polynomial *a, const nd4c_polynomial *b,
                            nd4c_polynomial *quotient) {
  nd4c_polynomial rest = *a;
  quotient->count = 0;
  while (b->count > 0 && rest.count > 0) {
    const nd4c_extent_term lead = rest.terms[0], by = b->terms[0];
    nd4c_polynomial step = {.count = 1}, product;
    if ((lead.coefficient == INT64_MIN && by.coefficient == -1) || lead.coefficient % by.coefficient != 0 ||
        !divide_monomials(extents, lead.monomial, by.monomial, &step.terms[0].monomial)) {
      return false;
    }
    step.terms[0].coefficient = lead.coefficient / by.coefficient;
    if (!nd4c_polynomial_multiply(extents, &step, b, &product) || !nd4c_polynomial_add(extents, &rest, &product, -1) ||
        !nd4c_polynomial_add(extents, quotient, &step, 1)) {
      return false;
    }
  }
  return b->count > 0;
}

/* Divides all terms by an atom; false, with the polynomial as it was, if one lacks it. */
static bool divide_by_atom(nd4c_extents *extents, nd4c_polynomial *polynomial, int32_t by) {
  nd4c_polynomial result = *polynomial;
  for (int32_t i = 0; i < result.count; i++) {
    if (!divide_monomials(extents, result.terms[i].monomial, by, &result.terms[i].monomial)) {
      return false;
    }
  }
  *polynomial = result; /* still sorted: products keep the order */
  return true;
}

void nd4c_polynomial_strip(nd4c_extents *extents, nd4c_polynomial *polynomial) {
  for (bool found = polynomial->count > 0; found;) {
    const nd4c_monomial lead = extents->monomials[polynomial->terms[0].monomial];
    found = false;
    for (int32_t i = 0; i < lead.degree && !found; i++) {
      int32_t atom = extents->factors[lead.first + i], by = 0;
      found = extents->atoms[atom].low >= 1 && nd4c_extents_monomial(extents, &atom, 1, &by) &&
              divide_by_atom(extents, polynomial, by);
    }
  }
}

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

int64_t nd4c_polynomial_content(const nd4c_polynomial *polynomial, bool with_constant) {
  int64_t divisor = 0;
  for (int32_t i = 0; i < polynomial->count; i++) {
    int64_t coefficient = polynomial->terms[i].coefficient;
    if (coefficient == INT64_MIN) {
      return 1; /* its magnitude is no int64 */
    }
    if (polynomial->terms[i].monomial != 0 || with_constant) {
      divisor = common_divisor(coefficient < 0 ? -coefficient : coefficient, divisor);
    }
  }
  return divisor;
}

int64_t nd4c_polynomial_constant(const nd4c_polynomial *polynomial) {
  int32_t last = polynomial->count - 1;
  return last >= 0 && polynomial->terms[last].monomial == 0 ? polynomial->terms[last].coefficient : 0;
}

bool nd4c_polynomial_split(const nd4c_polynomial *polynomial, nd4c_polynomial *positive, nd4c_polynomial *negative) {
  positive->count = 0;
  negative->count = 0;
  for (int32_t i = 0; i < polynomial->count; i++) {
    const nd4c_extent_term *term = &polynomial->terms[i];
    nd4c_polynomial *part = term->coefficient > 0 ? positive : negative;
    if (term->coefficient == INT64_MIN) {
      return false;
    }
    part->terms[part->count] =
        (nd4c_extent_term){term->coefficient > 0 ? term->coefficient : -term->coefficient, term->monomial};
    part->count++;
  }
  return true;
}
