/* What extents usually are, for estimates of cost (extents.h). table.c asks when it makes an atom or an expression, so
 * that a question later is one look at the table, however deep the expression is; guards.c renews all when a guard
 * tells more. */
#include <math.h>
#include <string.h>

#include "ops/extents/table.h"

static const double USUAL = 64;

double nd4c_extents_usual(const nd4c_extents *extents, int64_t extent) {
  return nd4c_extents_has(extents, extent) ? extents->expressions[nd4c_expression_of(extent)].usual : (double)extent;
}

static double within(double number, int64_t low, int64_t high) {
  return fmin(fmax(number, (double)low), high == INT64_MAX ? (double)INFINITY : (double)high);
}

double nd4c_atom_usual(const nd4c_extents *extents, const nd4c_extent_atom *atom) {
  const double a = atom->kind == ND4C_ATOM_DIM ? USUAL : nd4c_extents_usual(extents, atom->a);
  const double b = atom->kind == ND4C_ATOM_DIM ? 1 : nd4c_extents_usual(extents, atom->b);
  switch (atom->kind) {
    case ND4C_ATOM_QUOTIENT:
      return within(floor(a / fmax(b, 1)), atom->low, atom->high);
    case ND4C_ATOM_MAXIMUM:
      return fmax(a, b);
    case ND4C_ATOM_MINIMUM:
      return fmin(a, b);
    default:
      return within(a, atom->low, atom->high);
  }
}

double nd4c_polynomial_usual(const nd4c_extents *extents, const nd4c_polynomial *polynomial) {
  double sum = 0;
  for (int32_t i = 0; i < polynomial->count; i++) {
    const nd4c_monomial *monomial = &extents->monomials[polynomial->terms[i].monomial];
    double product = (double)polynomial->terms[i].coefficient;
    for (int32_t k = 0; k < monomial->degree; k++) {
      product *= extents->atoms[extents->factors[monomial->first + k]].usual;
    }
    sum += product;
  }
  return fmax(sum, 0);
}

/* Whether the guard allows the dim the number that an earlier guard gave it. */
static bool allows(const nd4c_guard *guard, int64_t factor, int64_t offset, double usual) {
  const double value = (double)factor * usual + (double)offset;
  return guard->relation == ND4C_RELATION_BROADCASTS && (value == 1 || value == (double)guard->b);
}

/* A dim that a guard gives a number, or that number or 1. Two guards with different numbers leave 1: where only one of
 * them counted, a body that has this one alone would seem to be of another size than the graph around it. */
static void apply_guard(nd4c_extents *extents, const nd4c_guard *guard) {
  int32_t dim;
  int64_t factor, offset;
  const bool tells = guard->relation == ND4C_RELATION_EQUAL || guard->relation == ND4C_RELATION_BROADCASTS;
  if (!tells || nd4c_extents_has(extents, guard->b) ||
      !nd4c_extents_linear(extents, guard->a, &dim, &factor, &offset)) {
    return;
  }
  for (int32_t i = 0; i < extents->atom_count; i++) {
    nd4c_extent_atom *atom = &extents->atoms[i];
    if (atom->kind == ND4C_ATOM_DIM && atom->dim == dim &&
        !(atom->told && allows(guard, factor, offset, atom->usual))) {
      const int64_t number = atom->told && guard->relation == ND4C_RELATION_BROADCASTS ? 1 : guard->b;
      atom->usual = within((double)(number - offset) / (double)factor, atom->low, atom->high);
      atom->told = true;
    }
  }
}

static void renew_expression(nd4c_extents *extents, int32_t index) {
  nd4c_expression *expression = &extents->expressions[index];
  nd4c_polynomial polynomial = {.count = expression->count};
  memcpy(polynomial.terms, extents->terms + expression->first, (size_t)expression->count * sizeof *polynomial.terms);
  expression->usual = nd4c_polynomial_usual(extents, &polynomial);
}

/* An atom is made of expressions in atoms that were there before it, so their order suffices, however deep they are. */
static void renew_atom(nd4c_extents *extents, nd4c_extent_atom *atom) {
  const int64_t parts[] = {atom->a, atom->b};
  for (int32_t i = 0; i < 2; i++) {
    if (nd4c_extents_has(extents, parts[i])) {
      renew_expression(extents, nd4c_expression_of(parts[i]));
    }
  }
  atom->usual = nd4c_atom_usual(extents, atom);
}

void nd4c_extents_renew_usual(nd4c_extents *extents) {
  for (int32_t i = 0; i < extents->atom_count; i++) {
    nd4c_extent_atom *atom = &extents->atoms[i];
    atom->usual = atom->kind == ND4C_ATOM_DIM ? nd4c_atom_usual(extents, atom) : atom->usual;
    atom->told = false;
  }
  for (int32_t i = 0; i < extents->guard_count; i++) {
    apply_guard(extents, &extents->guards[i]);
  }
  for (int32_t i = 0; i < extents->atom_count; i++) {
    if (extents->atoms[i].kind != ND4C_ATOM_DIM) {
      renew_atom(extents, &extents->atoms[i]);
    }
  }
  for (int32_t i = 0; i < extents->expression_count; i++) {
    renew_expression(extents, i);
  }
}
