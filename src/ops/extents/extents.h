/* Symbolic extents: integers that a graph knows only as expressions in named dims ("batch", "2*batch + 1"). An extent
 * is an int64_t. A number of 0 or more is itself; a number of nd4c_extent_is_symbolic names an expression in a table.
 * Every expression is an extent, so its value is at least 0 under each binding of the dims that the table allows.
 *
 * Expressions are polynomials with integer coefficients over dims and over quotients, maxima and minima of polynomials.
 * The table keeps each in one canonical form, so that equal polynomials have equal numbers.
 *
 * ops/infer computes with the table of the inference in progress; graph/ir owns one for each graph with dims. The
 * caller serialises the functions of one table. Functions that may be called with numbers alone take NULL for a table.
 */
#ifndef ND4C_OPS_EXTENTS_EXTENTS_H
#define ND4C_OPS_EXTENTS_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/checked.h"
#include "nd4c/dtype.h"
#include "nd4c/extent.h"
#include "nd4c/status.h"

typedef struct nd4c_extents nd4c_extents;

nd4c_status nd4c_extents_create(nd4c_extents **extents);
/* A table of its own with the same dims, expressions and guards: an extent means the same in both. NULL makes NULL. */
nd4c_status nd4c_extents_clone(const nd4c_extents *extents, nd4c_extents **clone);
/* NULL is fine. */
void nd4c_extents_destroy(nd4c_extents *extents);

/* -- dims -- */

/* A new dim with low <= value <= high; high < 0: no bound. NAME: the name is taken or no name. SHAPE: no value lies
 * between the bounds. */
nd4c_status nd4c_extents_dim(nd4c_extents *extents, const char *name, int64_t low, int64_t high, int64_t *extent);
int32_t nd4c_extents_dim_count(const nd4c_extents *extents);
/* Number of the dim of that name; -1: there is none. */
int32_t nd4c_extents_find_dim(const nd4c_extents *extents, const char *name);
const char *nd4c_extents_dim_name(const nd4c_extents *extents, int32_t dim);
/* The extent that nd4c_extents_dim gave for it; false: nd4c_extents_failure says why. */
bool nd4c_extents_dim_extent(nd4c_extents *extents, int32_t dim, int64_t *extent);
void nd4c_extents_dim_bounds(const nd4c_extents *extents, int32_t dim, int64_t *low, int64_t *high);

/* -- arithmetic --
 *
 * Each function returns false if the result is surely no extent (below 0, beyond 64 bits, divided by 0), or if it could
 * not be made; then nd4c_extents_failure says why. If the result may be below 0, or a divisor 0, the function records
 * the assumption that it is not. Of numbers alone, the functions compute what C does, with checks. */
bool nd4c_extents_add(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result);
bool nd4c_extents_subtract(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result);
bool nd4c_extents_multiply(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result);
bool nd4c_extents_divide(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result); /* the quotient rounded down */
bool nd4c_extents_remainder(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result);
bool nd4c_extents_maximum(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result);
bool nd4c_extents_minimum(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result);

/* MEMORY or UNSUPPORTED (an expression of too many terms) if a function of this table failed for such a reason since
 * the last call of this one, else OK. The thread's error has the text. */
nd4c_status nd4c_extents_failure(nd4c_extents *extents);

/* -- questions -- */

typedef enum nd4c_certainty { ND4C_CERTAINLY_NOT, ND4C_CERTAINLY, ND4C_UNCERTAIN } nd4c_certainty;

/* What a relation of two extents says. */
typedef enum nd4c_relation {
  ND4C_RELATION_EQUAL,      /* a == b */
  ND4C_RELATION_DIFFERENT,  /* a != b */
  ND4C_RELATION_AT_LEAST,   /* a >= b */
  ND4C_RELATION_MULTIPLE,   /* a is a multiple of b */
  ND4C_RELATION_BROADCASTS, /* a is 1 or b */
} nd4c_relation;

/* Whether a relation holds under every binding (YES), under none (NO), or neither is known. */
nd4c_certainty nd4c_extents_ask(nd4c_extents *extents, nd4c_relation relation, int64_t a, int64_t b);
/* Lowest and highest value; INT64_MAX: no bound. */
void nd4c_extents_bounds(const nd4c_extents *extents, int64_t extent, int64_t *low, int64_t *high);
/* A number that stands for the extent in estimates: its value if each dim is 64, or its bound nearest to 64, or what
 * guards say that it is. Sums and products of extents have the sums and products of these numbers. Numbers stay what
 * they are. */
double nd4c_extents_usual(const nd4c_extents *extents, int64_t extent);

/* -- guards: what a binding must satisfy -- */

/* False if the relation is surely wrong or contradicts a guard. If it is not known to hold, it becomes a guard. */
bool nd4c_extents_assume(nd4c_extents *extents, nd4c_relation relation, int64_t a, int64_t b);
/* Names who makes the assumptions from now on: a static text. NULL: no name. */
void nd4c_extents_set_asker(nd4c_extents *extents, const char *asker);
/* The guards from `count` on were assumed for the sake of an extent, which their texts name. */
void nd4c_extents_set_subject(nd4c_extents *extents, int32_t count, int64_t subject);
int32_t nd4c_extents_guard_count(const nd4c_extents *extents);
/* Drops the guards from `count` on. */
void nd4c_extents_forget(nd4c_extents *extents, int32_t count);
/* "add: batch == time", into a buffer, which is returned. */
const char *nd4c_extents_guard_text(const nd4c_extents *extents, int32_t guard, char *buffer, size_t size);

/* Whether an extent is factor * dim + offset of one dim; factor is not 0. */
bool nd4c_extents_linear(const nd4c_extents *extents, int64_t extent, int32_t *dim, int64_t *factor, int64_t *offset);

/* -- shapes -- */

/* Product of the extents: as nd4c_shape_size, also of symbolic ones. */
nd4c_status nd4c_extents_size(nd4c_extents *extents, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                              int64_t *size);
/* Whether a number names one of the table's expressions. NULL: none does. */
bool nd4c_extents_has(const nd4c_extents *extents, int64_t extent);

/* -- text -- */

/* "2*batch + 1", cut if too long; returns the buffer. */
const char *nd4c_extents_text(const nd4c_extents *extents, int64_t extent, char *buffer, size_t size);
/* A copy of a text in which each number that names an expression is replaced by the expression. */
void nd4c_extents_translate(const nd4c_extents *extents, const char *text, char *buffer, size_t size);
/* Fails again with the status and the thread's error text, translated; NULL: as it is. */
nd4c_status nd4c_extents_translate_error(const nd4c_extents *extents, nd4c_status status);

/* -- binding -- */

/* What the expressions of a table become if each dim becomes an extent of another table. */
typedef struct nd4c_binding {
  const nd4c_extents *from;
  nd4c_extents *to;    /* NULL: all dims become numbers */
  const int64_t *dims; /* one for each dim of `from` */
  int64_t *values;     /* of expressions that have a value, and of atoms */
  int64_t *atoms;
} nd4c_binding;

/* `dims` must live as long as the binding. SHAPE: a bound or a guard does not hold; the text names it. */
nd4c_status nd4c_binding_make(const nd4c_extents *from, const int64_t *dims, nd4c_extents *to, nd4c_binding *binding);
void nd4c_binding_free(nd4c_binding *binding);
/* OVERFLOW: the value does not fit into 64 bits. Numbers stay what they are. */
nd4c_status nd4c_binding_get(const nd4c_binding *binding, int64_t extent, int64_t *value);

#endif
