/* The table of expressions: atoms, products of atoms and polynomials, each kept once (extents.h). ops/infer and
 * graph/ir make and free tables; the other files of this folder add to them. */
#include "ops/extents/table.h"

#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "nd4c/array.h"

nd4c_status nd4c_extents_create(nd4c_extents **extents) {
  nd4c_extents *created = NULL;
  int32_t one = 0;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *created, "a table of extents", &created));
  memset(created->monomial_buckets, -1, sizeof created->monomial_buckets);
  memset(created->expression_buckets, -1, sizeof created->expression_buckets);
  if (!nd4c_extents_monomial(created, NULL, 0, &one)) {
    nd4c_status status = nd4c_extents_failure(created);
    nd4c_extents_destroy(created);
    return status;
  }
  *extents = created;
  return ND4C_OK;
}

void nd4c_extents_destroy(nd4c_extents *extents) {
  if (extents == NULL) {
    return;
  }
  nd4c_deallocate(extents->atoms);
  nd4c_deallocate(extents->monomials);
  nd4c_deallocate(extents->factors);
  nd4c_deallocate(extents->terms);
  nd4c_deallocate(extents->expressions);
  nd4c_deallocate(extents->guards);
  nd4c_region_free(&extents->region);
  nd4c_deallocate(extents);
}

/* A copy of the first items of a list. */
static nd4c_status copy_list(const void *from, int32_t count, size_t size, void *to) {
  if (count == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count, size, "a table of extents", to));
  memcpy(*(void **)to, from, (size_t)count * size);
  return ND4C_OK;
}

/* Names lie in the region of the table that they came from. */
static nd4c_status copy_names(nd4c_extents *extents) {
  for (int32_t i = 0; i < extents->atom_count; i++) {
    if (extents->atoms[i].name != NULL) {
      extents->atoms[i].name = nd4c_region_text(&extents->region, extents->atoms[i].name);
      ND4C_TRY(extents->atoms[i].name == NULL ? nd4c_error_code() : ND4C_OK);
    }
  }
  return ND4C_OK;
}

static nd4c_status copy_lists(const nd4c_extents *from, nd4c_extents *to) {
  ND4C_TRY(copy_list(from->atoms, from->atom_count, sizeof *to->atoms, &to->atoms));
  ND4C_TRY(copy_list(from->monomials, from->monomial_count, sizeof *to->monomials, &to->monomials));
  ND4C_TRY(copy_list(from->factors, from->factor_count, sizeof *to->factors, &to->factors));
  ND4C_TRY(copy_list(from->terms, from->term_count, sizeof *to->terms, &to->terms));
  ND4C_TRY(copy_list(from->expressions, from->expression_count, sizeof *to->expressions, &to->expressions));
  ND4C_TRY(copy_list(from->guards, from->guard_count, sizeof *to->guards, &to->guards));
  return copy_names(to);
}

nd4c_status nd4c_extents_clone(const nd4c_extents *extents, nd4c_extents **clone) {
  nd4c_extents *made = NULL;
  *clone = NULL;
  if (extents == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made, "a table of extents", &made));
  *made = *extents;
  made->region = (nd4c_region){0};
  made->atoms = NULL;
  made->monomials = NULL;
  made->factors = NULL;
  made->terms = NULL;
  made->expressions = NULL;
  made->guards = NULL;
  made->atom_capacity = made->atom_count;
  made->monomial_capacity = made->monomial_count;
  made->factor_capacity = made->factor_count;
  made->term_capacity = made->term_count;
  made->expression_capacity = made->expression_count;
  made->guard_capacity = made->guard_count;
  const nd4c_status status = copy_lists(extents, made);
  if (status != ND4C_OK) {
    nd4c_extents_destroy(made);
    return status;
  }
  *clone = made;
  return ND4C_OK;
}

bool nd4c_extents_fail(nd4c_extents *extents, nd4c_status status) {
  extents->failure = status;
  return false;
}

nd4c_status nd4c_extents_failure(nd4c_extents *extents) {
  nd4c_status failure = extents->failure;
  extents->failure = ND4C_OK;
  return failure;
}

bool nd4c_extents_has(const nd4c_extents *extents, int64_t extent) {
  return extents != NULL && nd4c_extent_is_symbolic(extent) && nd4c_expression_of(extent) < extents->expression_count;
}

/* -- atoms ------------------------------------------------------------------------------------------------------- */

bool nd4c_extents_atom(nd4c_extents *extents, nd4c_extent_atom atom, int32_t *number) {
  for (int32_t i = 0; i < extents->atom_count && atom.kind != ND4C_ATOM_DIM; i++) {
    const nd4c_extent_atom *known = &extents->atoms[i];
    if (known->kind == atom.kind && known->a == atom.a && known->b == atom.b) {
      *number = i;
      return true;
    }
  }
  nd4c_status status = nd4c_grow(&extents->atoms, &extents->atom_capacity, extents->atom_count + 1,
                                 sizeof *extents->atoms, "a table of extents");
  if (status != ND4C_OK) {
    return nd4c_extents_fail(extents, status);
  }
  *number = extents->atom_count++;
  atom.usual = nd4c_atom_usual(extents, &atom);
  extents->atoms[*number] = atom;
  return true;
}

int32_t nd4c_extents_dim_count(const nd4c_extents *extents) {
  return extents == NULL ? 0 : extents->dim_count;
}

static const nd4c_extent_atom *dim_at(const nd4c_extents *extents, int32_t dim) {
  int32_t i = 0;
  while (extents->atoms[i].kind != ND4C_ATOM_DIM || extents->atoms[i].dim != dim) {
    i++;
  }
  return &extents->atoms[i];
}

int32_t nd4c_extents_find_dim(const nd4c_extents *extents, const char *name) {
  for (int32_t i = 0; extents != NULL && i < extents->atom_count; i++) {
    if (extents->atoms[i].kind == ND4C_ATOM_DIM && strcmp(extents->atoms[i].name, name) == 0) {
      return extents->atoms[i].dim;
    }
  }
  return -1;
}

const char *nd4c_extents_dim_name(const nd4c_extents *extents, int32_t dim) {
  return dim_at(extents, dim)->name;
}

void nd4c_extents_dim_bounds(const nd4c_extents *extents, int32_t dim, int64_t *low, int64_t *high) {
  *low = dim_at(extents, dim)->low;
  *high = dim_at(extents, dim)->high;
}

bool nd4c_extents_dim_extent(nd4c_extents *extents, int32_t dim, int64_t *extent) {
  nd4c_polynomial polynomial = {.count = 1, .terms = {{1, 0}}};
  const int32_t atom = (int32_t)(dim_at(extents, dim) - extents->atoms);
  return nd4c_extents_monomial(extents, &atom, 1, &polynomial.terms[0].monomial) &&
         nd4c_extents_intern(extents, &polynomial, extent);
}

/* Takes back the atom of a dim whose expression could not be made. */
static nd4c_status drop_dim(nd4c_extents *extents) {
  extents->atom_count--;
  return nd4c_extents_failure(extents);
}

nd4c_status nd4c_extents_dim(nd4c_extents *extents, const char *name, int64_t low, int64_t high, int64_t *extent) {
  enum { SHOWN = 200 };
  int32_t atom = 0;
  nd4c_polynomial polynomial = {.count = 1, .terms = {{1, 0}}};
  if (name == NULL || name[0] == '\0') {
    return nd4c_fail(ND4C_NAME, "a dim has no name, expected a text");
  }
  if (nd4c_extents_find_dim(extents, name) >= 0) {
    return nd4c_fail(ND4C_NAME, "dim '%.*s' is there already, expected another name", SHOWN, name);
  }
  high = high < 0 ? INT64_MAX : high;
  if (low < 0 || low > high) {
    return nd4c_fail(ND4C_SHAPE, "dim '%.*s' is %lld to %lld, expected bounds of at least 0 in ascending order", SHOWN,
                     name, (long long)low, (long long)high);
  }
  const char *copy = nd4c_region_text(&extents->region, name);
  if (copy == NULL) {
    return nd4c_error_code();
  }
  nd4c_extent_atom dim = {.kind = ND4C_ATOM_DIM, .name = copy, .dim = extents->dim_count, .low = low, .high = high};
  if (!nd4c_extents_atom(extents, dim, &atom)) {
    return nd4c_extents_failure(extents);
  }
  if (!nd4c_extents_monomial(extents, &atom, 1, &polynomial.terms[0].monomial) ||
      !nd4c_extents_intern(extents, &polynomial, extent)) {
    return drop_dim(extents);
  }
  extents->dim_count++;
  return ND4C_OK;
}

/* -- monomials --------------------------------------------------------------------------------------------------- */

static uint32_t mix(uint32_t hash, uint64_t value) {
  uint64_t mixed = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(mixed >> 32);
}

bool nd4c_extents_monomial(nd4c_extents *extents, const int32_t *atoms, int32_t degree, int32_t *number) {
  uint32_t hash = (uint32_t)degree;
  const size_t bytes = (size_t)degree * sizeof *atoms;
  for (int32_t i = 0; i < degree; i++) {
    hash = mix(hash, (uint64_t)atoms[i]);
  }
  int32_t *bucket = &extents->monomial_buckets[hash % ND4C_EXTENT_BUCKETS];
  for (int32_t i = *bucket; i >= 0; i = extents->monomials[i].next) {
    const nd4c_monomial *known = &extents->monomials[i];
    if (known->degree == degree && (degree == 0 || memcmp(extents->factors + known->first, atoms, bytes) == 0)) {
      *number = i;
      return true;
    }
  }
  nd4c_status status = nd4c_grow(&extents->monomials, &extents->monomial_capacity, extents->monomial_count + 1,
                                 sizeof *extents->monomials, "a table of extents");
  if (status == ND4C_OK && degree > 0) {
    status = nd4c_grow(&extents->factors, &extents->factor_capacity, extents->factor_count + degree,
                       sizeof *extents->factors, "a table of extents");
  }
  if (status != ND4C_OK) {
    return nd4c_extents_fail(extents, status);
  }
  *number = extents->monomial_count++;
  extents->monomials[*number] = (nd4c_monomial){extents->factor_count, degree, *bucket};
  *bucket = *number;
  if (degree > 0) {
    memcpy(extents->factors + extents->factor_count, atoms, bytes);
    extents->factor_count += degree;
  }
  return true;
}

/* -- bounds ------------------------------------------------------------------------------------------------------ */

/* A product of numbers of at least 0, INT64_MAX if it is larger. */
static int64_t saturated(int64_t a, int64_t b) {
  int64_t product;
  return nd4c_checked_multiply(a, b, &product) ? product : INT64_MAX;
}

static void monomial_bounds(const nd4c_extents *extents, int32_t monomial, int64_t *low, int64_t *high) {
  const nd4c_monomial *product = &extents->monomials[monomial];
  *low = 1;
  *high = 1;
  for (int32_t i = 0; i < product->degree; i++) {
    const nd4c_extent_atom *atom = &extents->atoms[extents->factors[product->first + i]];
    *low = saturated(*low, atom->low);
    *high = saturated(*high, atom->high);
  }
}

/* Adds to a bound. A sum beyond 64 bits is unbounded in the direction `open` (INT64_MIN or INT64_MAX), and cut in the
 * other, which leaves a bound that still holds. */
static void add_bound(int64_t *bound, int64_t value, int64_t open) {
  if (*bound == open || value == open) {
    *bound = open;
  } else if (!nd4c_checked_add(*bound, value, bound)) {
    *bound = value < 0 ? INT64_MIN : INT64_MAX;
  }
}

void nd4c_polynomial_bounds(const nd4c_extents *extents, const nd4c_polynomial *polynomial, int64_t *low,
                            int64_t *high) {
  *low = 0;
  *high = 0;
  for (int32_t i = 0; i < polynomial->count; i++) {
    const nd4c_extent_term *term = &polynomial->terms[i];
    int64_t least, most;
    monomial_bounds(extents, term->monomial, &least, &most);
    if (term->coefficient > 0) {
      add_bound(low, saturated(term->coefficient, least), INT64_MIN);
      add_bound(high, saturated(term->coefficient, most), INT64_MAX);
      continue;
    }
    int64_t magnitude = term->coefficient == INT64_MIN ? INT64_MAX : -term->coefficient;
    int64_t lowest = saturated(magnitude, most), highest = saturated(magnitude, least);
    add_bound(low, lowest == INT64_MAX ? INT64_MIN : -lowest, INT64_MIN);
    add_bound(high, -highest, INT64_MAX);
  }
}

void nd4c_extents_bounds(const nd4c_extents *extents, int64_t extent, int64_t *low, int64_t *high) {
  bool symbolic = nd4c_extents_has(extents, extent);
  *low = symbolic ? extents->expressions[nd4c_expression_of(extent)].low : extent;
  *high = symbolic ? extents->expressions[nd4c_expression_of(extent)].high : extent;
}

/* -- expressions ------------------------------------------------------------------------------------------------- */

static bool find_expression(const nd4c_extents *extents, const nd4c_polynomial *polynomial, int32_t bucket,
                            int64_t *extent) {
  for (int32_t i = extents->expression_buckets[bucket]; i >= 0; i = extents->expressions[i].next) {
    const nd4c_expression *known = &extents->expressions[i];
    bool same = known->count == polynomial->count;
    for (int32_t j = 0; same && j < polynomial->count; j++) {
      const nd4c_extent_term *term = &extents->terms[known->first + j];
      same = term->coefficient == polynomial->terms[j].coefficient && term->monomial == polynomial->terms[j].monomial;
    }
    if (same) {
      *extent = ND4C_EXTENT_FIRST - i;
      return true;
    }
  }
  return false;
}

static nd4c_status reserve_expression(nd4c_extents *extents, int32_t terms) {
  if (extents->expression_count == ND4C_EXTENT_LIMIT - 1 || extents->term_count > INT32_MAX - terms) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a graph has more than 2^30 different extents");
  }
  ND4C_TRY(nd4c_grow(&extents->expressions, &extents->expression_capacity, extents->expression_count + 1,
                     sizeof *extents->expressions, "a table of extents"));
  return nd4c_grow(&extents->terms, &extents->term_capacity, extents->term_count + terms, sizeof *extents->terms,
                   "a table of extents");
}

bool nd4c_extents_intern(nd4c_extents *extents, const nd4c_polynomial *polynomial, int64_t *extent) {
  if (polynomial->count == 0 || (polynomial->count == 1 && polynomial->terms[0].monomial == 0)) {
    *extent = nd4c_polynomial_constant(polynomial);
    return *extent >= 0;
  }
  uint32_t hash = (uint32_t)polynomial->count;
  for (int32_t i = 0; i < polynomial->count; i++) {
    hash = mix(mix(hash, (uint64_t)polynomial->terms[i].coefficient), (uint64_t)polynomial->terms[i].monomial);
  }
  int32_t bucket = (int32_t)(hash % ND4C_EXTENT_BUCKETS);
  if (find_expression(extents, polynomial, bucket, extent)) {
    return true;
  }
  int64_t low, high;
  nd4c_polynomial_bounds(extents, polynomial, &low, &high);
  if (high < 0 || low == INT64_MAX) {
    return false; /* surely below 0, or beyond 64 bits */
  }
  nd4c_status status = reserve_expression(extents, polynomial->count);
  if (status != ND4C_OK) {
    return nd4c_extents_fail(extents, status);
  }
  memcpy(extents->terms + extents->term_count, polynomial->terms,
         (size_t)polynomial->count * sizeof *polynomial->terms);
  extents->expressions[extents->expression_count] =
      (nd4c_expression){.first = extents->term_count,
                        .count = polynomial->count,
                        .next = extents->expression_buckets[bucket],
                        .low = low < 0 ? 0 : low,
                        .high = high,
                        .usual = nd4c_polynomial_usual(extents, polynomial)};
  extents->expression_buckets[bucket] = extents->expression_count;
  *extent = ND4C_EXTENT_FIRST - extents->expression_count;
  extents->expression_count++;
  extents->term_count += polynomial->count;
  return true;
}

nd4c_status nd4c_extents_size(nd4c_extents *extents, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                              int64_t *size) {
  int64_t numbers[ND4C_MAX_RANK], product = 1, known = 0;
  bool symbolic = false;
  if (extents == NULL) {
    return nd4c_shape_size(dtype, rank, shape, size);
  }
  for (int32_t i = 0; rank <= ND4C_MAX_RANK && shape != NULL && i < rank; i++) {
    bool expression = nd4c_extents_has(extents, shape[i]);
    symbolic = symbolic || expression;
    numbers[i] = shape[i];
    if (expression) {
      nd4c_extents_bounds(extents, shape[i], &numbers[i], &known);
      /* An axis that may be empty does not hide an overflow of the others. */
      numbers[i] = numbers[i] == 0 ? 1 : numbers[i];
    }
  }
  ND4C_TRY(nd4c_shape_size(dtype, rank, symbolic ? numbers : shape, &product));
  if (!symbolic) {
    *size = product;
    return ND4C_OK;
  }
  *size = 1;
  for (int32_t i = 0; i < rank; i++) {
    if (!nd4c_extents_multiply(extents, *size, shape[i], size)) {
      nd4c_status failure = nd4c_extents_failure(extents);
      return failure != ND4C_OK ? failure : nd4c_fail(ND4C_OVERFLOW, "the product of the extents exceeds 64 bits");
    }
  }
  return ND4C_OK;
}
