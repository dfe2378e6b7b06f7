/* Composites: chains of ops behind one function each, for every emitter (ops/emitter.h). The ONNX importer is their
 * caller today; a pass may call them as well. Outputs may be the same variables as inputs. */
#ifndef ND4C_OPS_COMPOSE_COMPOSE_H
#define ND4C_OPS_COMPOSE_COMPOSE_H

#include "ops/emitter.h"

/* UNSUPPORTED if an extent with which a composite would compute is symbolic (nd4c/extent.h). */
nd4c_status nd4c_compose_check_number(int64_t extent, const char *what);

/* -- shape.c -- */

/* Parts of `lengths` along an axis, which they fill; SHAPE if they do not. squeeze: without the axis, for lengths of 1.
 */
nd4c_status nd4c_compose_split(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int32_t count, const int64_t *lengths,
                               bool squeeze, nd4c_emitted *parts);
/* x[index] along an axis, which disappears. */
nd4c_status nd4c_compose_select(nd4c_emitter *e, nd4c_emitted x, int64_t axis, int64_t index, nd4c_emitted *y);
/* The items along a new axis, -rank .. rank - 1 of the result; INDEX for another. */
nd4c_status nd4c_compose_stack(nd4c_emitter *e, const nd4c_emitted *items, int32_t count, int64_t axis,
                               nd4c_emitted *y);
/* x with zeros behind it up to a length, or cut down to it. */
nd4c_status nd4c_compose_fit(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int64_t length, nd4c_emitted *y);
/* The middle of x, or x with zeros on both sides; an odd element goes to the end. */
nd4c_status nd4c_compose_center(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int64_t length, nd4c_emitted *y);
/* x repeated as a whole along an axis; OVERFLOW if it becomes too long. */
nd4c_status nd4c_compose_tile(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int64_t times, nd4c_emitted *y);
/* Each element of an axis repeated: [a, b] becomes [a, a, b, b]. */
nd4c_status nd4c_compose_repeat(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int64_t times, nd4c_emitted *y);

/* -- reduction.c -- */

/* A binary op over all inputs, from the first on. */
nd4c_status nd4c_compose_fold(nd4c_emitter *e, nd4c_op op, const nd4c_emitted *inputs, int32_t count, nd4c_emitted *y);
/* The mean of arrays, element by element. */
nd4c_status nd4c_compose_mean(nd4c_emitter *e, const nd4c_emitted *inputs, int32_t count, nd4c_emitted *y);
/* A reduction that keeps x's dtype. Without elements, max gives the least number of the dtype and min the greatest. Of
 * bools, max is any and min is all. */
nd4c_status nd4c_compose_reduce(nd4c_emitter *e, nd4c_op op, nd4c_emitted x, int32_t count, const int64_t *axes,
                                bool keepdims, nd4c_emitted *y);
/* ln(sum of e^x) in x's dtype; that of integers is computed in float64. */
nd4c_status nd4c_compose_logsumexp(nd4c_emitter *e, nd4c_emitted x, int32_t count, const int64_t *axes, bool keepdims,
                                   nd4c_emitted *y);
/* argmax or argmin; `last`: gives the last of equal elements, not the first. */
nd4c_status nd4c_compose_arg_reduce(nd4c_emitter *e, nd4c_op op, nd4c_emitted x, int32_t axis, bool keepdims, bool last,
                                    nd4c_emitted *y);

/* -- normalization.c -- */

/* A layer norm over each channel of each image, x [n, channels, ...]. */
nd4c_status nd4c_compose_instance_norm(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted scale, nd4c_emitted bias,
                                       double epsilon, nd4c_emitted *y);
/* x / sqrt(mean of x^2 + epsilon) * scale, the mean over the axes from `axis` on. */
nd4c_status nd4c_compose_rms_norm(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted scale, int32_t axis, double epsilon,
                                  nd4c_emitted *y);
/* x divided by the largest magnitude (max), the sum of magnitudes (sum), or the length (lp_normalize) of each row. A
 * row of zeros stays one. */
nd4c_status nd4c_compose_normalize_rows(nd4c_emitter *e, nd4c_op norm, nd4c_emitted x, nd4c_emitted *y);

/* -- contraction.c -- */

/* alpha a b + beta c, c being optional; a and b are matrices. With alpha 1 and floats that is one `linear`. */
typedef struct nd4c_gemm {
  nd4c_emitted a, b, c;
  double alpha, beta;
  bool transpose_a, transpose_b;
} nd4c_gemm;
nd4c_status nd4c_compose_gemm(nd4c_emitter *e, const nd4c_gemm *gemm, nd4c_emitted *y);

/* -- signal.c -- */

/* x [..., 1] as real numbers [...], x [..., 2] as complex ones, in float64 if x has that dtype, else in float32. */
nd4c_status nd4c_compose_numbers(nd4c_emitter *e, nd4c_emitted x, bool *is_complex, nd4c_emitted *y);
/* Complex numbers as pairs of a dtype. */
nd4c_status nd4c_compose_pairs(nd4c_emitter *e, nd4c_emitted x, nd4c_dtype dtype, nd4c_emitted *y);

/* -- learning.c -- */

/* [-s, s] of scores [n, 1]; `shift` is added to the first. */
nd4c_status nd4c_compose_both_signs(nd4c_emitter *e, nd4c_emitted scores, double shift, nd4c_emitted *y);
/* The first of the largest in each row of [n, classes]. */
nd4c_status nd4c_compose_best_class(nd4c_emitter *e, nd4c_emitted scores, nd4c_emitted *best);
/* A score_transform; the transform NONE gives x itself. */
nd4c_status nd4c_compose_score_transform(nd4c_emitter *e, nd4c_emitted x, int64_t transform, nd4c_emitted *y);
/* The items of a list (the rows of a table) at indices. */
nd4c_status nd4c_compose_pick(nd4c_emitter *e, nd4c_emitted list, nd4c_emitted index, nd4c_emitted *y);

#endif
