/* Op functions of the family random, made from include/nd4c/op_table/random.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_RANDOM_H
#define ND4C_OPS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* random_advance: state with its counter `steps` further on (a third element takes the carry).
 * In: state (int64, uint64).
 * Attributes: steps (1).
 * Out: y: the shape and dtype of state.
 * Statuses: ARGUMENT, SHAPE. */
ND4C_API nd4c_status nd4c_random_advance(const nd4c_array *state, int64_t steps, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_advance_on(nd4c_context *context, const nd4c_array *state, int64_t steps,
                                            nd4c_array **y);

/* random_bits: random bits as integers: one of up to 32 bits takes the low bits of word i % 4 of Philox block i / 4;
 * one of 64 bits takes two words, the low one first.
 * In: state (int64, uint64).
 * Attributes: shape (NULL, 0), dtype (ND4C_INT32).
 * Out: y: the attribute shape, in the attribute dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_bits(const nd4c_array *state, const int64_t *shape, int32_t shape_count,
                                      nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_bits_on(nd4c_context *context, const nd4c_array *state, const int64_t *shape,
                                         int32_t shape_count, nd4c_dtype dtype, nd4c_array **y);

/* random_uniform: low + u (high - low), 0 <= u < 1, u of as many random bits as dtype's significand has; rounding may
 * give high unless high is a power of two and low is 0.
 * In: state (int64, uint64).
 * Attributes: shape (NULL, 0), dtype (ND4C_FLOAT32), low (0), high (1).
 * Out: y: the attribute shape, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_uniform(const nd4c_array *state, const int64_t *shape, int32_t shape_count,
                                         nd4c_dtype dtype, double low, double high, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_uniform_on(nd4c_context *context, const nd4c_array *state, const int64_t *shape,
                                            int32_t shape_count, nd4c_dtype dtype, double low, double high,
                                            nd4c_array **y);

/* random_normal: mean + scale z, z the inverse normal distribution function of 64 random bits (AS 241; tails up to
 * 9.2).
 * In: state (int64, uint64).
 * Attributes: shape (NULL, 0), dtype (ND4C_FLOAT32), mean (0), scale (1).
 * Out: y: the attribute shape, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_normal(const nd4c_array *state, const int64_t *shape, int32_t shape_count,
                                        nd4c_dtype dtype, double mean, double scale, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_normal_on(nd4c_context *context, const nd4c_array *state, const int64_t *shape,
                                           int32_t shape_count, nd4c_dtype dtype, double mean, double scale,
                                           nd4c_array **y);

/* random_log_normal: e^(mean + scale z), z as in random_normal.
 * In: state (int64, uint64).
 * Attributes: shape (NULL, 0), dtype (ND4C_FLOAT32), mean (0), scale (1).
 * Out: y: the attribute shape, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_log_normal(const nd4c_array *state, const int64_t *shape, int32_t shape_count,
                                            nd4c_dtype dtype, double mean, double scale, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_log_normal_on(nd4c_context *context, const nd4c_array *state, const int64_t *shape,
                                               int32_t shape_count, nd4c_dtype dtype, double mean, double scale,
                                               nd4c_array **y);

/* random_truncated_normal: mean + scale z, z normal, restricted to low <= z <= high, by inversion.
 * In: state (int64, uint64).
 * Attributes: shape (NULL, 0), dtype (ND4C_FLOAT32), mean (0), scale (1), low (-2), high (2).
 * Out: y: the attribute shape, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_truncated_normal(const nd4c_array *state, const int64_t *shape, int32_t shape_count,
                                                  nd4c_dtype dtype, double mean, double scale, double low, double high,
                                                  nd4c_array **y);
ND4C_API nd4c_status nd4c_random_truncated_normal_on(nd4c_context *context, const nd4c_array *state,
                                                     const int64_t *shape, int32_t shape_count, nd4c_dtype dtype,
                                                     double mean, double scale, double low, double high,
                                                     nd4c_array **y);

/* random_exponential: -scale ln u, u uniform with 64 random bits.
 * In: state (int64, uint64).
 * Attributes: shape (NULL, 0), dtype (ND4C_FLOAT32), scale (1).
 * Out: y: the attribute shape, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_exponential(const nd4c_array *state, const int64_t *shape, int32_t shape_count,
                                             nd4c_dtype dtype, double scale, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_exponential_on(nd4c_context *context, const nd4c_array *state, const int64_t *shape,
                                                int32_t shape_count, nd4c_dtype dtype, double scale, nd4c_array **y);

/* random_integers: low <= y < high, with exactly equal chances.
 * In: state (int64, uint64).
 * Attributes: shape (NULL, 0), dtype (ND4C_INT64), low (0), high (2).
 * Out: y: the attribute shape, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_integers(const nd4c_array *state, const int64_t *shape, int32_t shape_count,
                                          nd4c_dtype dtype, int64_t low, int64_t high, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_integers_on(nd4c_context *context, const nd4c_array *state, const int64_t *shape,
                                             int32_t shape_count, nd4c_dtype dtype, int64_t low, int64_t high,
                                             nd4c_array **y);

/* random_bernoulli: 1 (true) with probability p, else 0; shape: p broadcasts to it; no shape: p's; a p outside 0 .. 1
 * is refused.
 * In: state (int64, uint64), p.
 * Attributes: shape (NULL, 0), dtype (ND4C_BOOL).
 * Out: y: the attribute shape, to which p broadcasts, by default p's; in the attribute dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_bernoulli(const nd4c_array *state, const nd4c_array *p, const int64_t *shape,
                                           int32_t shape_count, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_bernoulli_on(nd4c_context *context, const nd4c_array *state, const nd4c_array *p,
                                              const int64_t *shape, int32_t shape_count, nd4c_dtype dtype,
                                              nd4c_array **y);

/* random_binomial: how many of n trials succeed, each with probability p; n whole, at most 2^53.
 * In: state (int64, uint64), n, p.
 * Attributes: shape (NULL, 0), dtype (ND4C_INT64).
 * Out: y: the attribute shape, to which n and p broadcast, by default the shape that they broadcast to; in the
 *     attribute dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_binomial(const nd4c_array *state, const nd4c_array *n, const nd4c_array *p,
                                          const int64_t *shape, int32_t shape_count, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_binomial_on(nd4c_context *context, const nd4c_array *state, const nd4c_array *n,
                                             const nd4c_array *p, const int64_t *shape, int32_t shape_count,
                                             nd4c_dtype dtype, nd4c_array **y);

/* random_gamma: gamma distribution of shape parameter alpha >= 0 (Marsaglia and Tsang), times scale.
 * In: state (int64, uint64), alpha.
 * Attributes: shape (NULL, 0), dtype (ND4C_FLOAT32), scale (1).
 * Out: y: the attribute shape, to which alpha broadcasts, by default alpha's; in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_gamma(const nd4c_array *state, const nd4c_array *alpha, const int64_t *shape,
                                       int32_t shape_count, nd4c_dtype dtype, double scale, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_gamma_on(nd4c_context *context, const nd4c_array *state, const nd4c_array *alpha,
                                          const int64_t *shape, int32_t shape_count, nd4c_dtype dtype, double scale,
                                          nd4c_array **y);

/* random_poisson: Poisson distribution of 0 <= rate <= 2^53 (inversion, Hoermann's PTRS from 10 on).
 * In: state (int64, uint64), rate.
 * Attributes: shape (NULL, 0), dtype (ND4C_INT64).
 * Out: y: the attribute shape, to which rate broadcasts, by default rate's; in the attribute dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_poisson(const nd4c_array *state, const nd4c_array *rate, const int64_t *shape,
                                         int32_t shape_count, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_poisson_on(nd4c_context *context, const nd4c_array *state, const nd4c_array *rate,
                                            const int64_t *shape, int32_t shape_count, nd4c_dtype dtype,
                                            nd4c_array **y);

/* random_categorical: for each row of p, `samples` indices with probabilities proportional to p (or to e^p, if p
 * holds logarithms); without replacement: distinct indices.
 * In: state (int64, uint64), p.
 * Attributes: samples (1), logarithms (false), replacement (true), dtype (ND4C_INT64).
 * Out: y: p with its last axis replaced by samples, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_categorical(const nd4c_array *state, const nd4c_array *p, int64_t samples,
                                             bool logarithms, bool replacement, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_categorical_on(nd4c_context *context, const nd4c_array *state, const nd4c_array *p,
                                                int64_t samples, bool logarithms, bool replacement, nd4c_dtype dtype,
                                                nd4c_array **y);

/* random_permutation: 0 .. n - 1 in random order.
 * In: state (int64, uint64).
 * Attributes: n (0), dtype (ND4C_INT64).
 * Out: y: a vector of n elements, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_permutation(const nd4c_array *state, int64_t n, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_permutation_on(nd4c_context *context, const nd4c_array *state, int64_t n,
                                                nd4c_dtype dtype, nd4c_array **y);

/* random_shuffle: x with its slices along axis in the order of random_permutation.
 * In: state (int64, uint64), x.
 * Attributes: axis (0).
 * Out: y: the shape and dtype of x.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_random_shuffle(const nd4c_array *state, const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_random_shuffle_on(nd4c_context *context, const nd4c_array *state, const nd4c_array *x,
                                            int64_t axis, nd4c_array **y);

/* random_dropout: x / (1 - rate) where the mask is true, 0 elsewhere; the mask is false with probability rate.
 * In: state (int64, uint64), x.
 * Attributes: rate (0.5).
 * Out: y: the shape and dtype of x; mask: bool, in x's shape.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_random_dropout(const nd4c_array *state, const nd4c_array *x, double rate, nd4c_array **y,
                                         nd4c_array **mask);
ND4C_API nd4c_status nd4c_random_dropout_on(nd4c_context *context, const nd4c_array *state, const nd4c_array *x,
                                            double rate, nd4c_array **y, nd4c_array **mask);

/* rrelu: y = x for x >= 0, slope x below 0; with a state, slope = low + u (high - low) with u of 53 random bits;
 * without one, slope = (low + high) / 2.
 * In: x (float), state or NULL.
 * Attributes: low (0.125), high (0.3333333333333333).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_rrelu(const nd4c_array *x, const nd4c_array *state, double low, double high, nd4c_array **y);
ND4C_API nd4c_status nd4c_rrelu_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *state, double low,
                                   double high, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
