/* Gradients of ops: what an op gives back to its inputs from the gradient of its first output, as ops of an emitter
 * (ops/emitter.h). nd4c_graph_gradient (graph/gradient.c) and the importer of the ONNX op Gradient
 * (import/onnx/ops/gradient.c) call it; the other files of this folder are lists of rules. */
#ifndef ND4C_OPS_GRADIENT_GRADIENT_H
#define ND4C_OPS_GRADIENT_GRADIENT_H

#include "ops/emitter.h"

enum { ND4C_GRADIENT_INPUTS = 3 }; /* of an op of ND4C_GRADIENT_TABLE, at most */

/* An op that was emitted, and the gradient of its output. */
typedef struct nd4c_gradient_step {
  const nd4c_emitted *inputs; /* an input that is left out is NONE, */
  int32_t input_count;        /* or not counted */
  nd4c_emitted output;
  nd4c_emitted given;
  const nd4c_emitted *outputs;  /* all of them, and */
  const nd4c_attr_value *attrs; /* the attributes, resolved: only for nd4c_gradient_find_any */
  const nd4c_emitted *givens;   /* the gradients of all outputs, where nd4c_gradient_takes_all; a NONE: none is given */
} nd4c_gradient_step;

static inline nd4c_emitted nd4c_gradient_input(const nd4c_gradient_step *step, int32_t index) {
  return index < step->input_count ? step->inputs[index] : ND4C_EMITTED_NONE;
}

/* The gradient of input `index`. It has the output's shape where the op broadcasts its inputs. */
typedef nd4c_status (*nd4c_gradient_rule)(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t index,
                                          nd4c_emitted *gradient);

/* X(op, rule): the ops that have a rule, a list for each file of rules. The importer's row for Gradient names them. */
#define ND4C_GRADIENT_ELEMENTWISE(X) \
  X(copy, pass)                      \
  X(add, pass)                       \
  X(subtract, subtract)              \
  X(multiply, multiply)              \
  X(divide, divide)                  \
  X(negative, negative)              \
  X(exp, exponential)                \
  X(log, logarithm)                  \
  X(sqrt, square_root)               \
  X(sin, sine)                       \
  X(cos, cosine)
#define ND4C_GRADIENT_ACTIVATION(X) \
  X(tanh, hyperbolic_tangent)       \
  X(sigmoid, sigmoid)               \
  X(relu, rectifier)
#define ND4C_GRADIENT_CONTRACTION(X) X(matmul, product)
#define ND4C_GRADIENT_TABLE(X) ND4C_GRADIENT_ELEMENTWISE(X) ND4C_GRADIENT_ACTIVATION(X) ND4C_GRADIENT_CONTRACTION(X)

/* Ops whose rules read attributes, or other outputs than the first. */
#define ND4C_GRADIENT_REDUCTION(X)       \
  X(sum, total)                          \
  X(mean, average)                       \
  X(softmax, softmax)                    \
  X(log_softmax, log_softmax)            \
  X(reshape, reshaped)                   \
  X(flatten, reshaped)                   \
  X(squeeze, reshaped)                   \
  X(expand_dims, reshaped)               \
  X(transpose, transposed)               \
  X(broadcast_to, broadcast)             \
  X(cast, converted)                     \
  X(square, squared)                     \
  X(where, chosen)                       \
  X(max, extreme)                        \
  X(min, extreme)                        \
  X(nanmax, extreme)                     \
  X(nanmin, extreme)                     \
  X(global_average_pool, global_average) \
  X(global_max_pool, global_extreme)
#define ND4C_GRADIENT_LOSS(X)                    \
  X(mse_loss, squared_error)                     \
  X(softmax_cross_entropy, cross_entropy)        \
  X(nll_loss, likelihood)                        \
  X(l1_loss, absolute_error)                     \
  X(huber_loss, huber)                           \
  X(smooth_l1_loss, smooth_error)                \
  X(hinge_loss, hinge)                           \
  X(sigmoid_cross_entropy, binary_cross_entropy) \
  X(poisson_nll_loss, poisson)                   \
  X(kl_divergence, divergence)
#define ND4C_GRADIENT_MATHEMATICS(X) \
  X(erf, error_function)             \
  X(gelu, gaussian_unit)             \
  X(swish, swish)                    \
  X(softplus, softplus)              \
  X(leaky_relu, leaky)               \
  X(abs, magnitude)                  \
  X(reciprocal, reciprocal)          \
  X(power, power)                    \
  X(maximum, larger)                 \
  X(minimum, smaller)                \
  X(clip, clipped)                   \
  X(true_divide, quotient)
#define ND4C_GRADIENT_FUNCTIONS(X)        \
  X(log1p, logarithm_near_one)            \
  X(expm1, exponential_less_one)          \
  X(exp2, power_of_two)                   \
  X(log2, binary_logarithm)               \
  X(log10, decimal_logarithm)             \
  X(tan, tangent)                         \
  X(sinh, hyperbolic_sine)                \
  X(cosh, hyperbolic_cosine)              \
  X(asin, arc_sine)                       \
  X(acos, arc_cosine)                     \
  X(atan, arc_tangent)                    \
  X(asinh, area_sine)                     \
  X(acosh, area_cosine)                   \
  X(atanh, area_tangent)                  \
  X(cbrt, cube_root)                      \
  X(atan2, angle)                         \
  X(hypot, distance)                      \
  X(logaddexp, logarithm_of_sum)          \
  X(logaddexp2, binary_logarithm_of_sum)  \
  X(rsqrt, reciprocal_root)               \
  X(erfc, complement)                     \
  X(logit, log_odds)                      \
  X(lgamma, log_gamma)                    \
  X(deg2rad, to_radians)                  \
  X(rad2deg, to_degrees)                  \
  X(positive, unchanged)                  \
  X(squared_difference, squared_distance) \
  X(xlogy, product_with_logarithm)        \
  X(remainder, rest)                      \
  X(fmod, rest)                           \
  X(floor_divide, level)                  \
  X(floor, level)                         \
  X(ceil, level)                          \
  X(round, level)                         \
  X(trunc, level)                         \
  X(sign, level)
#define ND4C_GRADIENT_UNITS(X)      \
  X(elu, elu)                       \
  X(selu, selu)                     \
  X(celu, celu)                     \
  X(softsign, softsign)             \
  X(hard_sigmoid, hard_sigmoid)     \
  X(hard_swish, hard_swish)         \
  X(mish, mish)                     \
  X(prelu, prelu)                   \
  X(threshold, threshold)           \
  X(hard_tanh, hard_tanh)           \
  X(log_sigmoid, log_sigmoid)       \
  X(tanh_shrink, tanh_shrink)       \
  X(shrink, shrink)                 \
  X(cube, cube)                     \
  X(rectified_tanh, rectified_tanh) \
  X(glu, glu)                       \
  X(crelu, crelu)                   \
  X(swiglu, swiglu)
#define ND4C_GRADIENT_LAYER(X) \
  X(linear, linear)            \
  X(conv, convolution)         \
  X(conv_transpose, transposed_convolution)
#define ND4C_GRADIENT_POOL(X) X(max_pool, largest) X(average_pool, averages)
#define ND4C_GRADIENT_NORMALIZATION(X)  \
  X(layer_norm, layer_norm)             \
  X(rms_norm, rms_norm)                 \
  X(batch_norm, batch_norm)             \
  X(batch_norm_training, training_norm) \
  X(group_norm, group_norm)             \
  X(instance_norm, instance_norm)
#define ND4C_GRADIENT_ARRANGEMENT(X) \
  X(concat, concat)                  \
  X(slice, slice)                    \
  X(pad, pad)                        \
  X(gather, gather)                  \
  X(embedding_lookup, rows)          \
  X(gather_elements, elements)       \
  X(gather_nd, positions)
#define ND4C_GRADIENT_MOVES(X)      \
  X(flip, flipped)                  \
  X(swapaxes, swapped)              \
  X(moveaxis, moved_axes)           \
  X(matrix_transpose, turned)       \
  X(atleast_nd, with_axes_in_front) \
  X(select, selected)               \
  X(stack, stacked)                 \
  X(tile, tiled)                    \
  X(repeat, repeated)               \
  X(roll, rolled)                   \
  X(sliding_window_view, windows)   \
  X(unfold, unfolded)               \
  X(depth_to_space, to_space)       \
  X(space_to_depth, to_depth)       \
  X(im2col, to_columns)             \
  X(col2im, to_image)               \
  X(reverse_sequence, reversed)     \
  X(tril, lower_triangle)           \
  X(triu, upper_triangle)           \
  X(matrix_band_part, band)         \
  X(diag, diag)                     \
  X(diagonal, diagonal)             \
  X(trace, trace)                   \
  X(diag_embed, embedded_diagonal)  \
  X(matrix_set_diag, replaced_diagonal)
#define ND4C_GRADIENT_PICKS(X)        \
  X(take, taken)                      \
  X(take_along_axis, along_axis)      \
  X(sort, sorted)                     \
  X(top_k, best)                      \
  X(kth_value, kth)                   \
  X(cumulative_max, running_best)     \
  X(cumulative_min, running_best)     \
  X(masked_fill, filled)              \
  X(scatter_add, added_slices)        \
  X(scatter_subtract, taken_slices)   \
  X(scatter_elements, added_elements) \
  X(scatter_nd, added_at_positions)   \
  X(segment_sum, segment_sums)
#define ND4C_GRADIENT_REPLACEMENTS(X) X(put_along_axis, put) X(scatter_update, updated)
#define ND4C_GRADIENT_QUANTILES(X) X(median, median) X(quantile, quantile)
#define ND4C_GRADIENT_STATISTICS(X)       \
  X(prod, product_of_all)                 \
  X(var, variance)                        \
  X(std, deviation)                       \
  X(norm1, sum_of_sizes)                  \
  X(norm2, length)                        \
  X(norm_max, largest_size)               \
  X(norm_p, norm_p)                       \
  X(vector_norm, vector_norm)             \
  X(abs_min, least_size)                  \
  X(sum_square, sum_of_squares)           \
  X(abs_mean, mean_of_sizes)              \
  X(logsumexp, logarithm_of_exponentials) \
  X(nansum, sum_without_nan)              \
  X(nanmean, mean_without_nan)            \
  X(nanvar, variance_without_nan)         \
  X(nanstd, deviation_without_nan)        \
  X(ptp, spread)                          \
  X(cumulative_sum, running_sum)          \
  X(cumulative_prod, running_product)     \
  X(diff, differences)
#define ND4C_GRADIENT_PRODUCTS(X) \
  X(einsum, einsum)               \
  X(tensordot, tensordot)         \
  X(inner, inner)                 \
  X(outer, outer)                 \
  X(vecdot, vecdot)               \
  X(matvec, matvec)               \
  X(vecmat, vecmat)               \
  X(kron, kron)                   \
  X(multi_dot, chain)             \
  X(cross, cross)
#define ND4C_GRADIENT_DECOMPOSITION(X) \
  X(inv, inverse)                      \
  X(det, determinant)                  \
  X(slogdet, logarithm_of_determinant) \
  X(solve, solution)                   \
  X(triangular_solve, by_triangle)     \
  X(cholesky_solve, by_factor)         \
  X(cholesky, factor)                  \
  X(matrix_power, power_of_matrix)
#define ND4C_GRADIENT_ATTENTION(X) X(attention, attention)

/* A rule; each family of rules ends with NONE. */
typedef struct nd4c_gradient_row {
  nd4c_op op;
  nd4c_gradient_rule rule;
} nd4c_gradient_row;
extern const nd4c_gradient_row nd4c_gradient_elementwise[], nd4c_gradient_activation[], nd4c_gradient_contraction[],
    nd4c_gradient_reduction[], nd4c_gradient_loss[], nd4c_gradient_mathematics[], nd4c_gradient_layer[],
    nd4c_gradient_pool[], nd4c_gradient_normalization[], nd4c_gradient_arrangement[], nd4c_gradient_attention[],
    nd4c_gradient_functions[], nd4c_gradient_units[], nd4c_gradient_moves[], nd4c_gradient_picks[],
    nd4c_gradient_statistics[], nd4c_gradient_products[], nd4c_gradient_decomposition[], nd4c_gradient_replacements[],
    nd4c_gradient_quantiles[];

/* The rule of an op of ND4C_GRADIENT_TABLE; NULL if it has none. */
nd4c_gradient_rule nd4c_gradient_find(nd4c_op op);
/* The rule of any op. */
nd4c_gradient_rule nd4c_gradient_find_any(nd4c_op op);

/* Whether the rule of an op reads the gradients of outputs other than the first; `given` may be NONE then. */
bool nd4c_gradient_takes_all(nd4c_op op);

/* The gradient of input `index` in that input's shape: what was broadcast is summed. */
nd4c_status nd4c_gradient_emit(nd4c_emitter *e, nd4c_gradient_rule rule, const nd4c_gradient_step *step, int32_t index,
                               nd4c_emitted *gradient);

/* What files of rules share. */

/* The dtype in which a rule computes what may leave the range of a dtype of 16 bits. */
static inline nd4c_dtype nd4c_gradient_wide(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT16 || dtype == ND4C_BFLOAT16 ? ND4C_FLOAT32 : dtype;
}

/* The extent of axes that become one: their product, or -1, which reshape replaces, if one is an expression
 * (gradient.c). reshape cannot tell it of an array without elements, so no rule leaves an extent to it that is known.
 */
int64_t nd4c_gradient_join_extents(const int64_t *extents, int32_t count);
/* The gradient in front of an activation that an op applies to its result y (activation.c); UNSUPPORTED if y does not
 * tell it. */
nd4c_status nd4c_gradient_before(nd4c_emitter *e, int64_t activation, nd4c_emitted y, nd4c_emitted given,
                                 nd4c_emitted *gradient);
/* The gradient of input 0 of an op whose elements are elements of that input (moves.c). */
nd4c_status nd4c_gradient_move_back(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_op op,
                                    nd4c_emitted *gradient);
/* An op with the attributes of the op that was emitted (moves.c). */
nd4c_status nd4c_gradient_emit_alike(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_op op,
                                     const nd4c_emitted *inputs, int32_t input_count, nd4c_emitted *y);
/* What a scatter that replaces elements gives back to x and to its updates, `places` being their shape
 * (replacements.c). */
nd4c_status nd4c_gradient_replace(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_op op, int32_t index,
                                  const nd4c_emitted_info *places, nd4c_emitted *gradient);
/* s (1 + alpha x (1 - s)) with s = sigmoid(alpha x) (mathematics.c). */
nd4c_status nd4c_gradient_swish_slope(nd4c_emitter *e, nd4c_emitted x, double alpha, nd4c_emitted *slope);
/* Whether an axis is among those of a reduction; no list: all are (reduction.c). */
bool nd4c_gradient_is_reduced(const nd4c_attr_value *axes, int32_t rank, int32_t axis);
/* A result of a reduction of x in x's shape, where each reduced axis has one element. */
nd4c_status nd4c_gradient_keep_axes(nd4c_emitter *e, nd4c_emitted x, const nd4c_attr_value *axes, nd4c_emitted result,
                                    nd4c_emitted *kept);
/* What is given to a reduction in the shape of its input. */
nd4c_status nd4c_gradient_spread(nd4c_emitter *e, const nd4c_gradient_step *step, const nd4c_attr_value *axes,
                                 nd4c_emitted *gradient);
/* What is given where x, in the shape of the input, is the result, shared evenly by equal elements. */
nd4c_status nd4c_gradient_share(nd4c_emitter *e, const nd4c_gradient_step *step, const nd4c_attr_value *axes,
                                nd4c_emitted x, nd4c_emitted *gradient);
/* The input of a reduction with the reduced axes joined to a last one, and back (statistics.c). */
typedef struct nd4c_gradient_lines {
  int32_t rank, kept;                                /* of x, and axes in front of the last one */
  int64_t order[ND4C_MAX_RANK], back[ND4C_MAX_RANK]; /* of transpose, there and back */
  int64_t moved[ND4C_MAX_RANK],
      joined[ND4C_MAX_RANK + 1]; /* extents transposed, and joined: -1, if no number is known */
} nd4c_gradient_lines;
nd4c_status nd4c_gradient_to_lines(nd4c_emitter *e, nd4c_emitted x, const nd4c_attr_value *axes,
                                   nd4c_gradient_lines *lines, nd4c_emitted *y);
nd4c_status nd4c_gradient_from_lines(nd4c_emitter *e, const nd4c_gradient_lines *lines, nd4c_emitted *y);
/* The sum over all axes but one: a list of that axis's length (normalization.c). */
nd4c_status nd4c_gradient_sum_apart(nd4c_emitter *e, nd4c_emitted x, int32_t axis, nd4c_emitted *sum);

/* How a convolution or a pool goes over an image: `large` [n, c, ...] is the image, `small` has a cell for each window
 * (window.c). The pads are those with which the windows cover exactly the cells up to the last window's end, and
 * `rest` cells of the image lie behind it. */
enum { ND4C_GRADIENT_SPATIAL = 3 };
typedef struct nd4c_gradient_window {
  int32_t spatial;
  int64_t kernel[ND4C_GRADIENT_SPATIAL], strides[ND4C_GRADIENT_SPATIAL], dilations[ND4C_GRADIENT_SPATIAL];
  int64_t pads[2 * ND4C_GRADIENT_SPATIAL], rest[ND4C_GRADIENT_SPATIAL];
  int64_t large[ND4C_GRADIENT_SPATIAL], small[ND4C_GRADIENT_SPATIAL];
} nd4c_gradient_window;
/* Attributes of an op with windows; the lists may be left out. */
typedef struct nd4c_gradient_windows {
  const nd4c_attr_value *strides, *pads, *dilations;
  int64_t auto_pad;
} nd4c_gradient_windows;
/* UNSUPPORTED if a spatial extent is no number or 0. kernel: of each spatial axis. */
nd4c_status nd4c_gradient_find_window(nd4c_emitter *e, nd4c_emitted large, nd4c_emitted small, const int64_t *kernel,
                                      const nd4c_gradient_windows *attrs, nd4c_gradient_window *window);
/* The sums over the windows of `large`, weighted by w as in conv; and, back, what each cell of `small` gives to the
 * cells of its window, as in conv_transpose. */
nd4c_status nd4c_gradient_gather_windows(nd4c_emitter *e, const nd4c_gradient_window *window, nd4c_emitted large,
                                         nd4c_emitted w, int64_t groups, nd4c_emitted *small);
nd4c_status nd4c_gradient_spread_windows(nd4c_emitter *e, const nd4c_gradient_window *window, nd4c_emitted small,
                                         nd4c_emitted w, int64_t groups, nd4c_emitted *large);

#define ND4C_GRADIENT(name) \
  static nd4c_status name(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t index, nd4c_emitted *gradient)
#define ROW(op, rule) {ND4C_OP_##op, rule},
#define UNARY(op, x, y) ND4C_TRY(nd4c_emit_unary(e, ND4C_OP_##op, x, y))
#define BINARY(op, a, b, y) ND4C_TRY(nd4c_emit_binary(e, ND4C_OP_##op, a, b, y))
#define SCALED(op, x, number, y) ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_##op, x, number, y))

#endif
