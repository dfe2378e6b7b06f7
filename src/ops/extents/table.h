/* The table of expressions from the inside; the files of this folder include it. */
#ifndef ND4C_OPS_EXTENTS_TABLE_H
#define ND4C_OPS_EXTENTS_TABLE_H

#include "base/region.h"
#include "ops/extents/extents.h"

enum {
  ND4C_POLYNOMIAL_TERMS = 64, /* of one expression */
  ND4C_POLYNOMIAL_DEGREE = 64,
  ND4C_EXTENT_BUCKETS = 256
};

typedef enum nd4c_atom_kind { ND4C_ATOM_DIM, ND4C_ATOM_QUOTIENT, ND4C_ATOM_MAXIMUM, ND4C_ATOM_MINIMUM } nd4c_atom_kind;

/* What polynomials are made of. The value of an atom is at least 0. */
typedef struct nd4c_extent_atom {
  nd4c_atom_kind kind;
  const char *name;  /* of a dim, in the region */
  int32_t dim;       /* number of a dim */
  int64_t a, b;      /* extents that the others are made of */
  int64_t low, high; /* high INT64_MAX: no bound */
  double usual;      /* nd4c_extents_usual; nd4c_extents_atom sets it */
  bool told;         /* of a dim: a guard says what is usual */
} nd4c_extent_atom;

/* A product of atoms: their numbers in ascending order, an atom as often as its power. Monomial 0 is the empty
 * product. */
typedef struct nd4c_monomial {
  int32_t first, degree; /* in the list of factors */
  int32_t next;          /* of the same bucket, -1: none */
} nd4c_monomial;

typedef struct nd4c_extent_term {
  int64_t coefficient; /* never 0 in an expression */
  int32_t monomial;
} nd4c_extent_term;

/* Terms from the greatest monomial to the least; no two have the same. No terms: 0. */
typedef struct nd4c_polynomial {
  int32_t count;
  nd4c_extent_term terms[ND4C_POLYNOMIAL_TERMS];
} nd4c_polynomial;

typedef struct nd4c_expression {
  int32_t first, count; /* in the list of terms */
  int32_t next;
  int64_t low, high;
  double usual; /* nd4c_extents_usual */
} nd4c_expression;

typedef struct nd4c_guard {
  nd4c_relation relation;
  int64_t a, b;
  const char *asker;
  int64_t subject; /* the extent that the guard is for; 0: none */
} nd4c_guard;

struct nd4c_extents {
  nd4c_region region; /* names */
  nd4c_extent_atom *atoms;
  nd4c_monomial *monomials;
  int32_t *factors;
  nd4c_extent_term *terms;
  nd4c_expression *expressions;
  nd4c_guard *guards;
  int32_t atom_count, monomial_count, factor_count, term_count, expression_count, guard_count, dim_count;
  int32_t atom_capacity, monomial_capacity, factor_capacity, term_capacity, expression_capacity, guard_capacity;
  int32_t monomial_buckets[ND4C_EXTENT_BUCKETS], expression_buckets[ND4C_EXTENT_BUCKETS];
  const char *asker;
  int64_t subject; /* of guards that are made; 0: none */
  nd4c_status failure;
};

/* Position of an expression in the table. */
static inline int32_t nd4c_expression_of(int64_t extent) {
  return (int32_t)(ND4C_EXTENT_FIRST - extent);
}

/* -- table.c -- */

/* Keeps the status for nd4c_extents_failure; returns false. */
bool nd4c_extents_fail(nd4c_extents *extents, nd4c_status status);
/* The number of an atom, of a product of atoms; false after a failure. */
bool nd4c_extents_atom(nd4c_extents *extents, nd4c_extent_atom atom, int32_t *number);
bool nd4c_extents_monomial(nd4c_extents *extents, const int32_t *atoms, int32_t degree, int32_t *number);
/* The extent of a polynomial whose value is known to be at least 0. False: it is surely not, or a failure. */
bool nd4c_extents_intern(nd4c_extents *extents, const nd4c_polynomial *polynomial, int64_t *extent);
/* Lowest and highest value by interval arithmetic; INT64_MIN and INT64_MAX: no bound. */
void nd4c_polynomial_bounds(const nd4c_extents *extents, const nd4c_polynomial *polynomial, int64_t *low,
                            int64_t *high);

/* -- usual.c: what nd4c_extents_usual is of an atom and of a polynomial, from what they are made of -- */

double nd4c_atom_usual(const nd4c_extents *extents, const nd4c_extent_atom *atom);
double nd4c_polynomial_usual(const nd4c_extents *extents, const nd4c_polynomial *polynomial);
/* All of them anew, after guards were added or dropped. */
void nd4c_extents_renew_usual(nd4c_extents *extents);

/* -- polynomial.c: false beyond 64 bits or if there are too many terms -- */

void nd4c_polynomial_of(const nd4c_extents *extents, int64_t extent, nd4c_polynomial *polynomial);
bool nd4c_polynomial_add_term(nd4c_extents *extents, nd4c_polynomial *polynomial, int64_t coefficient,
                              int32_t monomial);
/* *sum += factor * polynomial. */
bool nd4c_polynomial_add(nd4c_extents *extents, nd4c_polynomial *sum, const nd4c_polynomial *polynomial,
                         int64_t factor);
bool nd4c_polynomial_multiply(nd4c_extents *extents, const nd4c_polynomial *a, const nd4c_polynomial *b,
                              nd4c_polynomial *product);
/* True if b times a polynomial is a. */
bool nd4c_polynomial_divide(nd4c_extents *extents, const nd4c_polynomial *a, const nd4c_polynomial *b,
                            nd4c_polynomial *quotient);
/* Divides by each atom that all terms have and that is surely not 0: it does not change where the polynomial is 0, or
 * its sign. */
void nd4c_polynomial_strip(nd4c_extents *extents, nd4c_polynomial *polynomial);
/* Greatest common divisor of the coefficients, with or without that of the constant; 0 if there are none. */
int64_t nd4c_polynomial_content(const nd4c_polynomial *polynomial, bool with_constant);
int64_t nd4c_polynomial_constant(const nd4c_polynomial *polynomial);
/* The terms with positive coefficients, and the others with opposite signs. */
bool nd4c_polynomial_split(const nd4c_polynomial *polynomial, nd4c_polynomial *positive, nd4c_polynomial *negative);

/* -- guards.c -- */

/* The extent of a polynomial; assumes that it is at least 0 unless that is known. */
bool nd4c_extents_publish(nd4c_extents *extents, const nd4c_polynomial *polynomial, int64_t *extent);
/* False if a relation does not hold for two numbers. */
bool nd4c_relation_holds(nd4c_relation relation, int64_t a, int64_t b);

#endif
