/* Reads an expression as a multiple of one dim plus a number, so that a dim's value follows from an extent.
 * graph/dynamic_solve.c solves the dims of a run with it. */
#include "ops/extents/table.h"

bool nd4c_extents_linear(const nd4c_extents *extents, int64_t extent, int32_t *dim, int64_t *factor, int64_t *offset) {
  if (!nd4c_extents_has(extents, extent)) {
    return false;
  }
  const nd4c_expression *expression = &extents->expressions[nd4c_expression_of(extent)];
  *dim = -1;
  *offset = 0;
  for (int32_t i = 0; i < expression->count; i++) {
    const nd4c_extent_term *term = &extents->terms[expression->first + i];
    const nd4c_monomial *product = &extents->monomials[term->monomial];
    if (product->degree == 0) {
      *offset = term->coefficient;
      continue;
    }
    const nd4c_extent_atom *atom = &extents->atoms[extents->factors[product->first]];
    if (product->degree != 1 || atom->kind != ND4C_ATOM_DIM || *dim >= 0) {
      return false;
    }
    *dim = atom->dim;
    *factor = term->coefficient;
  }
  return *dim >= 0;
}
