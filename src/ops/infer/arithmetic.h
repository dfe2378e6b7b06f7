/* Arithmetic on extents and questions about them, for inference rules: one rule serves numbers and symbolic extents.
 * Numbers cost a branch on their signs; everything else goes to the table of the inference (ops/extents/extents.h).
 *
 * A question that the table cannot decide is answered "yes", and the answer becomes a guard: a binding of the graph's
 * dims must make it true. */
#ifndef ND4C_OPS_INFER_ARITHMETIC_H
#define ND4C_OPS_INFER_ARITHMETIC_H

#include "array/shape.h"
#include "nd4c/plugin.h"
#include "ops/extents/extents.h"

/* False if the result is surely no extent. */
static inline bool nd4c_rule_add(const nd4c_inference *inference, int64_t a, int64_t b, int64_t *sum) {
  return (a | b) >= 0 ? nd4c_checked_add(a, b, sum) : nd4c_extents_add(inference->extents, a, b, sum);
}

/* Of numbers alone the difference may be below 0. A symbolic one is at least 0, which becomes a guard. */
static inline bool nd4c_rule_subtract(const nd4c_inference *inference, int64_t a, int64_t b, int64_t *rest) {
  return (a | b) >= 0 ? nd4c_checked_subtract(a, b, rest) : nd4c_extents_subtract(inference->extents, a, b, rest);
}

static inline bool nd4c_rule_multiply(const nd4c_inference *inference, int64_t a, int64_t b, int64_t *product) {
  return (a | b) >= 0 ? nd4c_checked_multiply(a, b, product) : nd4c_extents_multiply(inference->extents, a, b, product);
}

/* The quotient rounded down. */
static inline bool nd4c_rule_divide(const nd4c_inference *inference, int64_t a, int64_t b, int64_t *quotient) {
  if (a >= 0 && b > 0) {
    *quotient = a / b;
    return true;
  }
  return nd4c_extents_divide(inference->extents, a, b, quotient);
}

/* The quotient rounded up, for b of at least 1. */
static inline bool nd4c_rule_divide_up(const nd4c_inference *inference, int64_t a, int64_t b, int64_t *quotient) {
  if (a >= 0) {
    *quotient = a == 0 ? 0 : (a - 1) / b + 1;
    return true;
  }
  return nd4c_rule_add(inference, a, b - 1, quotient) && nd4c_rule_divide(inference, *quotient, b, quotient);
}

/* The lesser of the two. */
static inline bool nd4c_rule_minimum(const nd4c_inference *inference, int64_t a, int64_t b, int64_t *least) {
  if ((a | b) >= 0) {
    *least = a < b ? a : b;
    return true;
  }
  return nd4c_extents_minimum(inference->extents, a, b, least);
}

/* The greater of the two. */
static inline bool nd4c_rule_maximum(const nd4c_inference *inference, int64_t a, int64_t b, int64_t *greatest) {
  if ((a | b) >= 0) {
    *greatest = a > b ? a : b;
    return true;
  }
  return nd4c_extents_maximum(inference->extents, a, b, greatest);
}

static inline bool nd4c_rule_is_equal(const nd4c_inference *inference, int64_t a, int64_t b) {
  return a == b || ((a | b) < 0 && nd4c_extents_assume(inference->extents, ND4C_RELATION_EQUAL, a, b));
}

static inline bool nd4c_rule_is_at_least(const nd4c_inference *inference, int64_t a, int64_t b) {
  return (a | b) >= 0 ? a >= b : nd4c_extents_assume(inference->extents, ND4C_RELATION_AT_LEAST, a, b);
}

/* b must not be 0. */
static inline bool nd4c_rule_is_multiple(const nd4c_inference *inference, int64_t a, int64_t b) {
  return (a | b) >= 0 ? a % b == 0 : nd4c_extents_assume(inference->extents, ND4C_RELATION_MULTIPLE, a, b);
}

/* Whether an extent is 1 (or another number), asked where most are not: an extent that may be either is not. */
static inline bool nd4c_rule_is(const nd4c_inference *inference, int64_t extent, int64_t number) {
  return extent >= 0
             ? extent == number
             : extent == number || !nd4c_extents_assume(inference->extents, ND4C_RELATION_DIFFERENT, extent, number);
}

/* -- shapes. An inference of numbers alone, which has no table, is the fast case. -- */

bool nd4c_symbolic_same_shape(const nd4c_inference *inference, int32_t a_rank, const int64_t *a, int32_t b_rank,
                              const int64_t *b);
nd4c_status nd4c_symbolic_broadcast(const nd4c_inference *inference, int32_t a_rank, const int64_t *a, int32_t b_rank,
                                    const int64_t *b, int32_t *rank, int64_t *shape);
bool nd4c_symbolic_broadcasts_into(const nd4c_inference *inference, int64_t extent, int64_t to);

/* Whether every extent of a shape is the other's. */
static inline bool nd4c_rule_same_shape(const nd4c_inference *inference, int32_t a_rank, const int64_t *a,
                                        int32_t b_rank, const int64_t *b) {
  return inference->extents == NULL ? nd4c_shape_equal(a_rank, a, b_rank, b)
                                    : nd4c_symbolic_same_shape(inference, a_rank, a, b_rank, b);
}

/* NumPy's broadcasting of two shapes. SHAPE with both in the text. A symbolic extent with a number other than 1 gives
 * the number, and with another symbolic extent is taken to be equal. */
static inline nd4c_status nd4c_rule_broadcast_shapes(const nd4c_inference *inference, int32_t a_rank, const int64_t *a,
                                                     int32_t b_rank, const int64_t *b, int32_t *rank, int64_t *shape) {
  return inference->extents == NULL ? nd4c_shape_broadcast(a_rank, a, b_rank, b, rank, shape)
                                    : nd4c_symbolic_broadcast(inference, a_rank, a, b_rank, b, rank, shape);
}

/* The same of one axis of both; false if they do not broadcast. */
bool nd4c_rule_broadcast_axis(const nd4c_inference *inference, int64_t a, int64_t b, int64_t *extent);

/* Whether an extent is 1 or that of the axis that it is broadcast to. */
static inline bool nd4c_rule_broadcasts_into(const nd4c_inference *inference, int64_t extent, int64_t to) {
  return extent == 1 || extent == to ||
         (inference->extents != NULL && nd4c_symbolic_broadcasts_into(inference, extent, to));
}

/* As nd4c_shape_size, also for symbolic extents. */
static inline nd4c_status nd4c_rule_size(const nd4c_inference *inference, nd4c_dtype dtype, int32_t rank,
                                         const int64_t *shape, int64_t *size) {
  return inference->extents == NULL ? nd4c_shape_size(dtype, rank, shape, size)
                                    : nd4c_extents_size(inference->extents, dtype, rank, shape, size);
}

/* Gives a range of integers whose ends are extents: ceil((stop - start) / step) elements, none if stop is less. Refuses
 * what is not counted by integer arithmetic on extents. */
nd4c_status nd4c_rule_extent_range(nd4c_inference *inference, int64_t start, int64_t stop, int64_t step, bool endpoint);

#endif
