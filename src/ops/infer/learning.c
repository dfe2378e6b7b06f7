/* Inference rules of op_table/learning.h. nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include "base/status.h"
#include "ops/infer/rules.h"

/* Gives: int64, in x's shape. */
nd4c_status nd4c_infer_label_index(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *keys = &inference->inputs[ND4C_IN_label_index_keys];
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_label_index_keys));
  if (keys->rank != 1) {
    return nd4c_rule_refuse(inference, ND4C_IN_label_index_keys, ND4C_SHAPE, "expected 1 axis");
  }
  nd4c_rule_output(inference, ND4C_INT64, x->rank, x->shape);
  return ND4C_OK;
}

/* -- tree_ensemble ------------------------------------------------------------------------------------------------ */

enum { ANY_LENGTH = -1 };

/* Refuses an input that is not a list of the dtype and the length. Inputs left out pass. */
static nd4c_status check_list(const nd4c_inference *inference, int32_t position, nd4c_dtype dtype, int64_t length) {
  const nd4c_tensor *list = nd4c_rule_input(inference, position);
  if (list == NULL) {
    return ND4C_OK;
  }
  if (list->dtype != dtype) {
    return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected %s", nd4c_dtype_name(dtype));
  }
  if (list->rank != 1) {
    return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected 1 axis");
  }
  return length == ANY_LENGTH || nd4c_rule_is_equal(inference, list->shape[0], length)
             ? ND4C_OK
             : nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected (%lld,)", (long long)length);
}

static nd4c_status check_nodes(const nd4c_inference *inference) {
  static const int32_t integers[] = {ND4C_IN_tree_ensemble_node_features, ND4C_IN_tree_ensemble_true_ids,
                                     ND4C_IN_tree_ensemble_true_leaves,   ND4C_IN_tree_ensemble_false_ids,
                                     ND4C_IN_tree_ensemble_false_leaves,  ND4C_IN_tree_ensemble_missing_true};
  nd4c_dtype dtype = inference->inputs[0].dtype;
  ND4C_TRY(check_list(inference, ND4C_IN_tree_ensemble_node_features, ND4C_INT64, ANY_LENGTH));
  int64_t nodes = inference->inputs[ND4C_IN_tree_ensemble_node_features].shape[0];
  for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
    ND4C_TRY(check_list(inference, integers[i], ND4C_INT64, nodes));
  }
  ND4C_TRY(check_list(inference, ND4C_IN_tree_ensemble_node_splits, dtype, nodes));
  return check_list(inference, ND4C_IN_tree_ensemble_node_modes, ND4C_UINT8, nodes);
}

/* Gives: [n, targets], in x's dtype, for x [n, features]. */
nd4c_status nd4c_infer_tree_ensemble(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t targets = inference->attrs[ND4C_ATTR_tree_ensemble_targets].as.i;
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_tree_ensemble_aggregate));
  if (targets < 1) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: targets is %lld, expected at least 1", inference->op->name,
                     (long long)targets);
  }
  if (x->rank != 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, features]");
  }
  ND4C_TRY(check_nodes(inference));
  ND4C_TRY(check_list(inference, ND4C_IN_tree_ensemble_leaf_targets, ND4C_INT64, ANY_LENGTH));
  ND4C_TRY(check_list(inference, ND4C_IN_tree_ensemble_leaf_weights, x->dtype,
                      inference->inputs[ND4C_IN_tree_ensemble_leaf_targets].shape[0]));
  ND4C_TRY(check_list(inference, ND4C_IN_tree_ensemble_roots, ND4C_INT64, ANY_LENGTH));
  ND4C_TRY(check_list(inference, ND4C_IN_tree_ensemble_members, x->dtype, ANY_LENGTH));
  ND4C_TRY(check_list(inference, ND4C_IN_tree_ensemble_leaf_ends, ND4C_INT64, ANY_LENGTH));
  nd4c_rule_output(inference, x->dtype, 2, (int64_t[]){x->shape[0], targets});
  return ND4C_OK;
}

/* -- scores ------------------------------------------------------------------------------------------------------- */

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_score_transform(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_score_transform_transform));
  if (x->rank < 1) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 1 axis");
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: [n, number of vectors], in x's dtype, for x [n, features]. */
nd4c_status nd4c_infer_svm_kernel(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *vectors = &inference->inputs[ND4C_IN_svm_kernel_vectors];
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_svm_kernel_kernel));
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_svm_kernel_vectors));
  if (x->rank != 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, features]");
  }
  if (vectors->rank != 2 || !nd4c_rule_is_equal(inference, vectors->shape[1], x->shape[1])) {
    return nd4c_rule_refuse(inference, ND4C_IN_svm_kernel_vectors, ND4C_SHAPE, "expected [vectors, %lld]",
                            (long long)x->shape[1]);
  }
  nd4c_rule_output(inference, x->dtype, 2, (int64_t[]){x->shape[0], vectors->shape[0]});
  return ND4C_OK;
}

/* Gives: [n, classes], in the dtype of scores [n, classes * (classes - 1) / 2]. */
nd4c_status nd4c_infer_svm_probabilities(nd4c_inference *inference) {
  enum { MOST_CLASSES = 1024 };
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t a = inference->attrs[ND4C_ATTR_svm_probabilities_prob_a].count;
  int64_t b = inference->attrs[ND4C_ATTR_svm_probabilities_prob_b].count, classes = 2;
  if (x->rank != 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, pairs]");
  }
  if (nd4c_extents_has(inference->extents, x->shape[1])) {
    return nd4c_rule_needs_numbers(inference, 0, "expected a number of pairs");
  }
  while (classes <= MOST_CLASSES && classes * (classes - 1) / 2 < x->shape[1]) {
    classes++;
  }
  if (classes > MOST_CLASSES || classes * (classes - 1) / 2 != x->shape[1]) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected 1, 3, 6, ... pairs of at most %d classes",
                            MOST_CLASSES);
  }
  if (a != x->shape[1] || b != x->shape[1]) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %lld prob_a and %lld prob_b, expected %lld, one a pair", inference->op->name,
                     (long long)a, (long long)b, (long long)x->shape[1]);
  }
  nd4c_rule_output(inference, x->dtype, 2, (int64_t[]){x->shape[0], classes});
  return ND4C_OK;
}
