/* Op functions of the family learning, made from include/nd4c/op_table/learning.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_LEARNING_H
#define ND4C_OPS_LEARNING_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/options.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* label_index: int64 position of each element of x among keys; if several keys are equal, the last one; NaN is equal
 * to NaN; an element that is not among keys gives the number of keys.
 * In: x (bool, int, uint, float, complex, utf8), keys.
 * Out: index: int64, in x's shape.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_label_index(const nd4c_array *x, const nd4c_array *keys, nd4c_array **index);
ND4C_API nd4c_status nd4c_label_index_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *keys,
                                         nd4c_array **index);

/* Options of nd4c_tree_ensemble. */
typedef struct nd4c_tree_ensemble_options {
  uint32_t struct_size; /* set by ND4C_TREE_ENSEMBLE_DEFAULTS */
  const nd4c_array *missing_true;
  const nd4c_array *members;
  const nd4c_array *leaf_ends;
  int64_t targets;
  nd4c_tree_aggregate aggregate;
} nd4c_tree_ensemble_options;
#define ND4C_TREE_ENSEMBLE_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_tree_ensemble_options, aggregate), NULL, NULL, NULL, 1, ND4C_TREE_AGGREGATE_SUM}

/* tree_ensemble: y [n, targets]: for each row of x [n, features], each tree leads to a leaf, and the weights of these
 * leaves are combined (sum, average, least, largest). A node compares its feature with its split as node_modes says
 * (MEMBER: with its set in members, which NaN ends; missing_true: NaN counts as true), then goes to node or leaf
 * true_ids, else false_ids. leaf_ends: where the targets and weights of each leaf end; left out: one target for each
 * leaf (ONNX TreeEnsemble).
 * In: x (float), node_features, node_splits, node_modes, true_ids, true_leaves, false_ids, false_leaves,
 *     leaf_targets, leaf_weights, roots.
 * Options: missing_true (NULL), members (NULL), leaf_ends (NULL), targets (1), aggregate (ND4C_TREE_AGGREGATE_SUM).
 * Out: y: [n, targets], in x's dtype, for x [n, features].
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_tree_ensemble(const nd4c_array *x, const nd4c_array *node_features,
                                        const nd4c_array *node_splits, const nd4c_array *node_modes,
                                        const nd4c_array *true_ids, const nd4c_array *true_leaves,
                                        const nd4c_array *false_ids, const nd4c_array *false_leaves,
                                        const nd4c_array *leaf_targets, const nd4c_array *leaf_weights,
                                        const nd4c_array *roots, const nd4c_tree_ensemble_options *options,
                                        nd4c_array **y);
ND4C_API nd4c_status nd4c_tree_ensemble_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *node_features,
                                           const nd4c_array *node_splits, const nd4c_array *node_modes,
                                           const nd4c_array *true_ids, const nd4c_array *true_leaves,
                                           const nd4c_array *false_ids, const nd4c_array *false_leaves,
                                           const nd4c_array *leaf_targets, const nd4c_array *leaf_weights,
                                           const nd4c_array *roots, const nd4c_tree_ensemble_options *options,
                                           nd4c_array **y);

/* score_transform: scores on the last axis unchanged, or their softmax, 1 / (1 + e^-x), softmax that leaves zeros 0,
 * or inverse of the normal distribution (ONNX post_transform).
 * In: x (float).
 * Attributes: transform (ND4C_POST_TRANSFORM_NONE).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT, SHAPE. */
ND4C_API nd4c_status nd4c_score_transform(const nd4c_array *x, nd4c_post_transform transform, nd4c_array **y);
ND4C_API nd4c_status nd4c_score_transform_on(nd4c_context *context, const nd4c_array *x, nd4c_post_transform transform,
                                             nd4c_array **y);

/* svm_kernel: y [n, v] for x [n, f] and vectors [v, f]: x . v, (gamma x . v + coef0)^degree, e^(-gamma |x - v|^2) or
 * tanh(gamma x . v + coef0).
 * In: x (float), vectors.
 * Attributes: kernel (ND4C_KERNEL_FUNCTION_LINEAR), gamma (1.0), coef0 (0), degree (3).
 * Out: y: [n, number of vectors], in x's dtype, for x [n, features].
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_svm_kernel(const nd4c_array *x, const nd4c_array *vectors, nd4c_kernel_function kernel,
                                     double gamma, double coef0, double degree, nd4c_array **y);
ND4C_API nd4c_status nd4c_svm_kernel_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *vectors,
                                        nd4c_kernel_function kernel, double gamma, double coef0, double degree,
                                        nd4c_array **y);

/* svm_probabilities: class probabilities [n, classes] from scores s [n, pairs of classes]: the probability of each
 * pair is 1 / (1 + e^(prob_a s + prob_b)), and libsvm's iteration couples the pairs (Wu, Lin and Weng 2004).
 * In: scores (float).
 * Attributes: prob_a (NULL, 0), prob_b (NULL, 0).
 * Out: y: [n, classes], in the dtype of scores [n, classes * (classes - 1) / 2].
 * Statuses: ARGUMENT, SHAPE. */
ND4C_API nd4c_status nd4c_svm_probabilities(const nd4c_array *scores, const double *prob_a, int32_t prob_a_count,
                                            const double *prob_b, int32_t prob_b_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_svm_probabilities_on(nd4c_context *context, const nd4c_array *scores, const double *prob_a,
                                               int32_t prob_a_count, const double *prob_b, int32_t prob_b_count,
                                               nd4c_array **y);

ND4C_EXTERN_C_END
#endif
