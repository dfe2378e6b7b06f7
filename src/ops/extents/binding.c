/* What expressions become when dims are bound to numbers or to extents of another table (extents.h). graph/ir binds
 * graphs with it; nd4c_binding_make also checks bounds and guards. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ops/extents/table.h"

enum { UNKNOWN = -1, IMPOSSIBLE = -2, SHOWN = 200 }; /* values that no extent has */

static bool is_extent(int64_t value) {
  return value >= 0 || nd4c_extent_is_symbolic(value);
}

/* Whether an operand has a value. */
static bool operand(const nd4c_binding *binding, int64_t extent, int64_t *value) {
  *value = nd4c_extents_has(binding->from, extent) ? binding->values[nd4c_expression_of(extent)] : extent;
  return is_extent(*value);
}

static bool compute_atom(const nd4c_binding *binding, const nd4c_extent_atom *atom, int64_t *value) {
  int64_t a, b;
  if (atom->kind == ND4C_ATOM_DIM) {
    *value = binding->dims[atom->dim];
    return true;
  }
  if (!operand(binding, atom->a, &a) || !operand(binding, atom->b, &b)) {
    return false;
  }
  return atom->kind == ND4C_ATOM_QUOTIENT  ? nd4c_extents_divide(binding->to, a, b, value)
         : atom->kind == ND4C_ATOM_MAXIMUM ? nd4c_extents_maximum(binding->to, a, b, value)
                                           : nd4c_extents_minimum(binding->to, a, b, value);
}

/* What an atom consists of was made before it, and so has its value. */
static bool atom_value(const nd4c_binding *binding, int32_t number, int64_t *value) {
  if (binding->atoms[number] == UNKNOWN) {
    bool made = compute_atom(binding, &binding->from->atoms[number], value);
    binding->atoms[number] = made && is_extent(*value) ? *value : IMPOSSIBLE;
  }
  *value = binding->atoms[number];
  return *value != IMPOSSIBLE;
}

static bool term_value(const nd4c_binding *binding, const nd4c_extent_term *term, int64_t *value) {
  const nd4c_monomial *product = &binding->from->monomials[term->monomial];
  *value = 1;
  for (int32_t i = 0; i < product->degree; i++) {
    int64_t factor;
    if (!atom_value(binding, binding->from->factors[product->first + i], &factor) ||
        !nd4c_extents_multiply(binding->to, *value, factor, value)) {
      return false;
    }
  }
  return term->coefficient != INT64_MIN &&
         nd4c_extents_multiply(binding->to, *value, term->coefficient < 0 ? -term->coefficient : term->coefficient,
                               value);
}

/* Positive and negative terms are added apart, so that no partial sum is below 0. */
static bool expression_value(const nd4c_binding *binding, int32_t number, int64_t *value) {
  const nd4c_expression *expression = &binding->from->expressions[number];
  int64_t sums[2] = {0, 0};
  for (int32_t i = 0; i < expression->count; i++) {
    const nd4c_extent_term *term = &binding->from->terms[expression->first + i];
    int64_t part, *sum = &sums[term->coefficient < 0];
    if (!term_value(binding, term, &part) || !nd4c_extents_add(binding->to, *sum, part, sum)) {
      return false;
    }
  }
  /* An expression whose assumption was forgotten may be below 0: only its use is an error. */
  bool below = nd4c_extents_ask(binding->to, ND4C_RELATION_AT_LEAST, sums[0], sums[1]) == ND4C_CERTAINLY_NOT;
  return !below && nd4c_extents_subtract(binding->to, sums[0], sums[1], value);
}

/* -- checks ------------------------------------------------------------------------------------------------------ */

static nd4c_status check_bounds(const nd4c_binding *binding) {
  for (int32_t i = 0; i < nd4c_extents_dim_count(binding->from); i++) {
    int64_t low, high, value = binding->dims[i];
    nd4c_extents_dim_bounds(binding->from, i, &low, &high);
    bool fits = is_extent(value) && nd4c_extents_assume(binding->to, ND4C_RELATION_AT_LEAST, value, low) &&
                (high == INT64_MAX || nd4c_extents_assume(binding->to, ND4C_RELATION_AT_LEAST, high, value));
    if (!fits) {
      char text[SHOWN], most[32] = "or more";
      if (high != INT64_MAX) {
        (void)nd4c_extents_text(NULL, high, most, sizeof most);
      }
      return nd4c_fail(ND4C_SHAPE, "dim '%.*s' is %s, expected %lld %s%s", SHOWN,
                       nd4c_extents_dim_name(binding->from, i),
                       nd4c_extents_text(binding->to, value, text, sizeof text), (long long)low,
                       high != INT64_MAX ? "to " : "", most);
    }
  }
  return ND4C_OK;
}

static nd4c_status refuse_guard(const nd4c_binding *binding, int32_t guard, int64_t a, int64_t b) {
  enum { TEXT = 600 };
  char text[TEXT], left[SHOWN], right[SHOWN];
  return nd4c_fail(ND4C_SHAPE, "the graph was built on %s; here the two are %s and %s",
                   nd4c_extents_guard_text(binding->from, guard, text, sizeof text),
                   is_extent(a) ? nd4c_extents_text(binding->to, a, left, sizeof left) : "no extent",
                   is_extent(b) ? nd4c_extents_text(binding->to, b, right, sizeof right) : "no extent");
}

static nd4c_status check_guards(const nd4c_binding *binding) {
  for (int32_t i = 0; i < binding->from->guard_count; i++) {
    const nd4c_guard *guard = &binding->from->guards[i];
    int64_t a, b;
    bool known = operand(binding, guard->a, &a);
    known = operand(binding, guard->b, &b) && known;
    if (binding->to != NULL) {
      int64_t subject = 0;
      nd4c_extents_set_asker(binding->to, guard->asker);
      binding->to->subject = guard->subject != 0 && operand(binding, guard->subject, &subject) ? subject : 0;
    }
    bool holds = known && nd4c_extents_assume(binding->to, guard->relation, a, b);
    if (binding->to != NULL) {
      binding->to->subject = 0;
    }
    if (!holds) {
      return refuse_guard(binding, i, a, b);
    }
  }
  return ND4C_OK;
}

/* -- binding ----------------------------------------------------------------------------------------------------- */

static nd4c_status compute_values(nd4c_binding *binding) {
  for (int32_t i = 0; i < binding->from->atom_count; i++) {
    binding->atoms[i] = UNKNOWN;
  }
  for (int32_t i = 0; i < binding->from->expression_count; i++) {
    int64_t value;
    bool made = expression_value(binding, i, &value);
    binding->values[i] = made && is_extent(value) ? value : IMPOSSIBLE;
    nd4c_status failure = binding->to != NULL ? nd4c_extents_failure(binding->to) : ND4C_OK;
    if (failure != ND4C_OK) {
      return failure;
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_binding_make(const nd4c_extents *from, const int64_t *dims, nd4c_extents *to, nd4c_binding *binding) {
  *binding = (nd4c_binding){.from = from, .to = to, .dims = dims};
  size_t expressions = (size_t)from->expression_count, atoms = (size_t)from->atom_count;
  ND4C_TRY(check_bounds(binding));
  nd4c_status status =
      nd4c_allocate_or_fail(expressions + atoms + 1, sizeof *binding->values, "values of extents", &binding->values);
  if (status == ND4C_OK) {
    binding->atoms = binding->values + expressions;
    status = compute_values(binding);
  }
  status = status == ND4C_OK ? check_guards(binding) : status;
  if (status != ND4C_OK) {
    nd4c_binding_free(binding);
  }
  return status;
}

void nd4c_binding_free(nd4c_binding *binding) {
  nd4c_deallocate(binding->values);
  binding->values = NULL;
}

nd4c_status nd4c_binding_get(const nd4c_binding *binding, int64_t extent, int64_t *value) {
  if (operand(binding, extent, value) || !nd4c_extents_has(binding->from, extent)) {
    return ND4C_OK;
  }
  char text[SHOWN];
  return nd4c_fail(ND4C_OVERFLOW, "the extent %s has no value of at least 0 that 64 bits hold",
                   nd4c_extents_text(binding->from, extent, text, sizeof text));
}
