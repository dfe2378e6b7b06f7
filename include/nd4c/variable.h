/* Variables of graphs: arrays that stay from one run of a plan to the next, such as the weights of a model that is
 * trained, or what an optimiser remembers.
 *
 * A graph declares a variable with an initial value, reads it like an input, and may assign it a new value. The arrays
 * themselves belong to a state, not to the graph. A run takes a snapshot of all its variables when it begins: the value
 * that nd4c_graph_variable gives is always the variable as it was then. When the run has succeeded, all its
 * assignments take effect at once. After a run that failed or was cancelled each variable is what it was before.
 *
 *     nd4c_graph_variable(graph, "w", initial, true, &w);     // once, while the graph is built
 *     ...                                                     // next_w = w - 0.1 * gradient
 *     nd4c_graph_assign(graph, w, next_w);
 *     nd4c_plan_create(graph, NULL, NULL, &plan);             // w is initial now
 *     nd4c_plan_run(plan, inputs, 1, outputs, 1);             // w is next_w afterwards
 *
 * Variables are neither inputs nor outputs of a plan: its runs take and give the same arrays as without them.
 *
 * Threads: runs that assign variables of one state wait for each other, whichever plans they belong to, so that each
 * sees all assignments of the one before it. Runs that only read do not wait. Memory: a variable that is assigned
 * has two arrays, the current one and the one that the next run writes, which change places when a run commits; from
 * the second run on nothing is allocated, unless a run that reads still holds the older array. On a device that
 * computes asynchronously a run succeeds when all its work is submitted. If the work fails later, variables that it has
 * assigned are poisoned, as outputs are: nd4c_state_set gives them a value again. */
#ifndef ND4C_VARIABLE_H
#define ND4C_VARIABLE_H

#include "nd4c/graph.h"

ND4C_EXTERN_C_BEGIN

/* -- in graphs ----------------------------------------------------------------------------------------------------- */

/* Declares a variable; *value is its value at the beginning of a run. Names are unique among the graph's inputs and
 * variables (NAME), and begin with the names of the open scopes (nd4c/names.h). `initial` is a value of the graph that
 * depends on constants alone, such as a constant or a random op with a constant key: a state computes it once. It gives
 * the variable its dtype and shape. ARGUMENT: it depends on an input or a variable; the text names it. SHAPE: its shape
 * depends on the graph's dims. `trainable` marks what an optimiser is to change (nd4c_graph_gradient). A graph with
 * variables cannot be a body of nd4c/control.h: a body takes the variable's value as an input, and gives what is to be
 * assigned as an output. */
ND4C_API nd4c_status nd4c_graph_variable(nd4c_graph *graph, const char *name, nd4c_value initial, bool trainable,
                                         nd4c_value *value);
/* Assigns `value` to a variable when a run has succeeded. `variable`: what nd4c_graph_variable gave (ARGUMENT: another
 * value). A second assignment to the same variable replaces the first. DTYPE, SHAPE: the value has another dtype or
 * shape than the variable. */
ND4C_API nd4c_status nd4c_graph_assign(nd4c_graph *graph, nd4c_value variable, nd4c_value value);

/* Records the nodes that compute the gradients of a loss: gradients[i] is the derivative of the loss by values[i], with
 * its shape, and zero if the loss does not depend on it. values NULL: the graph's trainable variables, in their order,
 * of which there are `count` (ARGUMENT otherwise). The loss is one floating number (SHAPE, DTYPE), and so are the
 * elements of the values (DTYPE). UNSUPPORTED: a node between has no gradient, or a complex operand; the text names it.
 * Nothing goes through integers and truth values, which change in steps. These ops have a gradient:
 *
 *     functions    add, subtract, multiply, divide, true_divide, negative, positive, square, cube, sqrt, rsqrt, cbrt,
 *                  reciprocal, power, exp, exp2, expm1, log, log1p, log2, log10, logaddexp, logaddexp2, logit, xlogy,
 *                  erf, erfc, lgamma, hypot, sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, asinh, acosh, atanh,
 *                  deg2rad, rad2deg, abs, maximum, minimum, clip (of x), where, squared_difference, remainder, fmod,
 *                  cast, copy; with slopes of 0: floor, ceil, round, trunc, sign, floor_divide
 *     activations  tanh, sigmoid, relu, leaky_relu, gelu, swish, softplus, softmax, log_softmax, elu, selu, celu, mish,
 *                  softsign, hard_sigmoid, hard_swish, hard_tanh, rectified_tanh, log_sigmoid, tanh_shrink, shrink,
 *                  threshold, prelu, glu, crelu, swiglu
 *     sums         sum, mean, prod, max, min, ptp, var, std, vector_norm, norm1, norm2, norm_max, norm_p, abs_min,
 *                  abs_mean, sum_square, logsumexp, nansum, nanmean, nanmax, nanmin, nanvar, nanstd, cumulative_sum,
 *                  cumulative_prod, diff
 *     losses       mse_loss, l1_loss, huber_loss, smooth_l1_loss, hinge_loss, softmax_cross_entropy, nll_loss,
 *                  sigmoid_cross_entropy, poisson_nll_loss, kl_divergence, all of them without weights
 *     layers       matmul, linear, conv, conv_transpose (without auto_pad and output_shape), attention (without past
 *                  keys, lengths of keys and windows), max_pool, average_pool, global_average_pool, global_max_pool;
 *                  an activation in linear or conv: relu, sigmoid and tanh
 *     products     einsum, tensordot, inner, outer, vecdot, matvec, vecmat, kron, multi_dot (of at most 16 arrays),
 *                  cross
 *     matrices     inv, det, slogdet, solve, triangular_solve, cholesky, cholesky_solve, matrix_power (of at most 32)
 *     norms        layer_norm, rms_norm, batch_norm, batch_norm_training, group_norm, instance_norm
 *     shapes       reshape, flatten, squeeze, expand_dims, atleast_nd, transpose, matrix_transpose, swapaxes, moveaxis,
 *                  broadcast_to, concat, stack, slice, select, flip, roll, tile, repeat, pad (of x), unfold,
 *                  sliding_window_view, im2col, col2im, depth_to_space, space_to_depth, reverse_sequence, tril, triu,
 *                  matrix_band_part, diag, diagonal, diag_embed, matrix_set_diag, trace
 *     picks        gather, take, embedding_lookup, gather_elements, take_along_axis, gather_nd, masked_fill,
 *                  put_along_axis, scatter_update, scatter_add, scatter_subtract, segment_sum; scatter_elements and
 *                  scatter_nd that replace, add or subtract
 *     order        sort, median, quantile, and the values of top_k, kth_value, cumulative_max and cumulative_min
 *
 * Convolutions and pools need numbers as spatial extents, concat, slice, select, diagonals, median and quantile along
 * their axes, and attention as heads and features; pads that repeat elements, windows, repeat with several numbers,
 * gather_nd with batches and take without an axis need numbers as all extents of x, and updates that replace elements
 * as all of theirs; other extents may be dims. Equal elements share the gradient of max, min, nanmax, nanmin and ptp
 * over axes, and of norms that are one size; of two equal operands the first has that of maximum and minimum, of a
 * window its first largest cell that of max_pool, of equal elements those in the places of a sorted line that of sort,
 * median and quantile, and of several updates of one element the last. Where std or a norm is 0, it has the gradient 0;
 * NaN has 0 from reductions without NaN. That of cholesky is symmetric, though one triangle is read; det needs an
 * inverse, so that a plan fails for a singular matrix (ARGUMENT). A refused call changes nothing. */
ND4C_API nd4c_status nd4c_graph_gradient(nd4c_graph *graph, nd4c_value loss, const nd4c_value *values, int32_t count,
                                         nd4c_value *gradients);

/* Records a value that is another one, float, and through which no gradient goes: nd4c_graph_gradient takes it for a
 * constant. DTYPE: the value is no float of 8 to 64 bits. An optimised plan computes nothing for it. A refused call
 * changes nothing. */
ND4C_API nd4c_status nd4c_graph_stop_gradient(nd4c_graph *graph, nd4c_value value, nd4c_value *result);

/* A variable of a graph. */
typedef struct nd4c_variable_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_variable_info) */
  const char *name;     /* the graph's */
  nd4c_value value;     /* the variable at the beginning of a run */
  nd4c_value initial;
  nd4c_value assigned; /* ND4C_VALUE_NONE: the graph only reads it */
  bool trainable;
} nd4c_variable_info;

/* 0 for NULL. */
ND4C_API int32_t nd4c_graph_variable_count(const nd4c_graph *graph);
/* Variables have numbers in the order of their declaration, from 0. INDEX outside 0 .. count - 1; ARGUMENT if
 * struct_size is too small. */
ND4C_API nd4c_status nd4c_graph_get_variable(const nd4c_graph *graph, int32_t index, nd4c_variable_info *info);
/* The number of the variable with this name; -1: there is none. */
ND4C_API int32_t nd4c_graph_find_variable(const nd4c_graph *graph, const char *name);

/* -- states -------------------------------------------------------------------------------------------------------- */

/* Creates a state without variables. The caller releases it with nd4c_state_release. Plans of several graphs may share
 * a state (nd4c_plan_options.state): variables of the same name are then the same, for instance of a graph that trains
 * and one that predicts. Any thread. */
ND4C_API nd4c_status nd4c_state_create(nd4c_state **state);
/* Gives up a reference; plans that use the state keep it. NULL is fine. */
ND4C_API void nd4c_state_release(nd4c_state *state);
/* A reference to the graph's own state, which its plans use unless their options name another. Graphs that
 * nd4c_graph_bind and nd4c_graph_optimize make from the graph share it. ARGUMENT: the graph has no variables. */
ND4C_API nd4c_status nd4c_graph_state(const nd4c_graph *graph, nd4c_state **state);

/* Adds those of the graph's variables that the state lacks, with their initial values, which the context (NULL:
 * current) computes. nd4c_plan_create does the same. DTYPE, SHAPE: the state has a variable of this name, with another
 * dtype or shape; nothing is added then. Any thread. */
ND4C_API nd4c_status nd4c_state_initialize(nd4c_state *state, const nd4c_graph *graph, nd4c_context *context);

/* A variable of a state. Texts and lists live as long as the state. */
typedef struct nd4c_state_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_state_info) */
  const char *name;
  nd4c_dtype dtype;
  int32_t rank;
  const int64_t *shape;
  bool trainable;
  int64_t changes; /* runs and calls of nd4c_state_set that have changed it */
} nd4c_state_info;

/* Variables of a state have numbers in the order in which they were added, from 0; none is ever removed. 0 for NULL. */
ND4C_API int32_t nd4c_state_count(const nd4c_state *state);
/* INDEX outside 0 .. count - 1; ARGUMENT if struct_size is too small. Any thread. */
ND4C_API nd4c_status nd4c_state_get_info(const nd4c_state *state, int32_t index, nd4c_state_info *info);

/* Copies the values of some variables, all as they were at one moment between two runs. A NULL entry of `arrays`
 * receives a fresh array, any other array is written into. NAME: there is no variable of a name; DTYPE, SHAPE,
 * READ_ONLY for an array that is given; the text names the variable. After a failure nothing was made, but given arrays
 * may have been written. Any thread. */
ND4C_API nd4c_status nd4c_state_get(const nd4c_state *state, const char *const *names, nd4c_array **arrays,
                                    int32_t count);
/* Replaces the values of some variables by copies of the arrays, all at once: runs that began before go on with the old
 * values, and later ones see all new values. Waits for a run that assigns. NAME: there is no variable of a name, or it
 * is given twice; DTYPE, SHAPE: the array does not fit; the text names the variable. CANCELLED, DEADLINE. A failed call
 * changes nothing. Any thread. */
ND4C_API nd4c_status nd4c_state_set(nd4c_state *state, const char *const *names, const nd4c_array *const *arrays,
                                    int32_t count);

/* A graph in which the variables are constants with the values that they have in the state now (NULL: in the graph's
 * own), and nothing is assigned: plans of it pack weights as they do those of a model. Values and nodes keep their
 * numbers. Variables that the state lacks are added to it first, as nd4c_state_initialize does. */
ND4C_API nd4c_status nd4c_graph_freeze(const nd4c_graph *graph, nd4c_state *state, nd4c_context *context,
                                       nd4c_graph **frozen);

ND4C_EXTERN_C_END
#endif
