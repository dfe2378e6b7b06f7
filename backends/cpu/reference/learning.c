/* Engine reference: classical machine learning: trees, support vector machines, labels. The ONNX importer makes these
 * ops. dispatch/choice.c asks these kernels last, after those of all other engines. */
#include "kernels/reference/learning/learning.h"
#include "backends/cpu/reference/work.h"

/* -- label_index -------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(label_range, nd4c_ref_label_index)

static nd4c_status label_index(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_tensor keys = nd4c_cpu_ref_input(call, ND4C_IN_label_index_keys);
  int64_t words = (int64_t)(sizeof(nd4c_ref_key) / sizeof(double));
  nd4c_ref_key *sorted = (nd4c_ref_key *)(void *)nd4c_cpu_work_make(work, 2 * words * keys.shape[0]);
  nd4c_ref_label_args args = {.x = nd4c_cpu_ref_input(call, 0),
                              .index = nd4c_cpu_ref_output(call, 0),
                              .sorted = sorted,
                              .count = keys.shape[0]};
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  nd4c_ref_sort_keys(&keys, sorted);
  return nd4c_cpu_work_parallel(work, call->inputs[0].size, 32, label_range, &args);
}

/* -- tree_ensemble ------------------------------------------------------------------------------------------------ */

static void tree_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  nd4c_ref_trees_run(user, begin, end, worker);
}

#define TREE_LIST(name) nd4c_cpu_ref_input(call, ND4C_IN_tree_ensemble_##name)

static nd4c_ref_trees trees_of(const nd4c_call *call) {
  return (nd4c_ref_trees){.features = TREE_LIST(node_features),
                          .splits = TREE_LIST(node_splits),
                          .modes = TREE_LIST(node_modes),
                          .true_ids = TREE_LIST(true_ids),
                          .true_leaves = TREE_LIST(true_leaves),
                          .false_ids = TREE_LIST(false_ids),
                          .false_leaves = TREE_LIST(false_leaves),
                          .leaf_targets = TREE_LIST(leaf_targets),
                          .leaf_weights = TREE_LIST(leaf_weights),
                          .roots = TREE_LIST(roots),
                          .missing_true = TREE_LIST(missing_true),
                          .members = TREE_LIST(members),
                          .leaf_ends = TREE_LIST(leaf_ends),
                          .targets = ND4C_INT_OF(call, tree_ensemble_targets),
                          .aggregate = ND4C_INT_OF(call, tree_ensemble_aggregate),
                          .x = nd4c_cpu_ref_input(call, 0),
                          .y = nd4c_cpu_ref_output(call, 0)};
}

static int64_t workers(const nd4c_call *call) {
  return call->width > 1 ? call->width : 1;
}

static nd4c_status tree_ensemble(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_trees trees = trees_of(call);
  int64_t nodes = trees.features.shape[0], at = 0;
  uint8_t *state = (uint8_t *)nd4c_cpu_work_make_integers(work, nodes / 8 + 1);
  int64_t *stack = nd4c_cpu_work_make_integers(work, nodes + 1);
  trees.first_member = nd4c_cpu_work_make_integers(work, nodes + 1);
  trees.sums = nd4c_cpu_work_make(work, workers(call) * trees.targets);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  const char *problem = nd4c_ref_trees_check(&trees, call->inputs[0].shape[1], state, stack, &at);
  ND4C_CPU_FAIL_IF(problem != NULL, ND4C_INDEX, "tree_ensemble: %s (number %lld)", problem, (long long)at);
  return nd4c_cpu_work_parallel(work, trees.x.shape[0], 16 * trees.roots.shape[0], tree_range, &trees);
}

/* -- scores ------------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(score_range, nd4c_ref_score_transform)

static nd4c_status score_transform_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_score_args args = {nd4c_cpu_ref_tensor(x), nd4c_cpu_ref_output(call, 0),
                              ND4C_INT_OF(call, score_transform_transform)};
  int64_t length = x->size > 0 ? x->shape[x->rank - 1] : 1;
  return nd4c_cpu_reference_parallel(call, x->size / length, 32 * length, score_range, &args);
}

ND4C_CPU_RANGE(svm_range, nd4c_ref_svm_kernel)

static nd4c_status svm_kernel_run(const nd4c_call *call) {
  nd4c_ref_svm_args args = {.x = nd4c_cpu_ref_input(call, 0),
                            .vectors = nd4c_cpu_ref_input(call, ND4C_IN_svm_kernel_vectors),
                            .y = nd4c_cpu_ref_output(call, 0),
                            .kernel = ND4C_INT_OF(call, svm_kernel_kernel),
                            .gamma = ND4C_REAL_OF(call, svm_kernel_gamma),
                            .coef0 = ND4C_REAL_OF(call, svm_kernel_coef0),
                            .degree = ND4C_REAL_OF(call, svm_kernel_degree)};
  return nd4c_cpu_reference_parallel(call, call->outputs[0].size, 4 * args.x.shape[1], svm_range, &args);
}

static void probability_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  nd4c_ref_svm_probabilities(user, begin, end, worker);
}

static nd4c_status svm_probabilities(const nd4c_call *call, nd4c_cpu_work *work) {
  int64_t room = ND4C_REF_PROBABILITY_WORK(call->outputs[0].shape[1]);
  nd4c_ref_probability_args args = {.scores = nd4c_cpu_ref_input(call, 0),
                                    .y = nd4c_cpu_ref_output(call, 0),
                                    .a = call->attrs[ND4C_ATTR_svm_probabilities_prob_a].as.floats,
                                    .b = call->attrs[ND4C_ATTR_svm_probabilities_prob_b].as.floats,
                                    .work = nd4c_cpu_work_make(work, workers(call) * room)};
  return nd4c_cpu_work_parallel(work, args.y.shape[0], 64 * room, probability_range, &args);
}

/* The kernels take the numbers of modes from the op table. */
_Static_assert(ND4C_TREE_AGGREGATE_AVERAGE == 0 && ND4C_TREE_AGGREGATE_SUM == 1 && ND4C_TREE_AGGREGATE_MIN == 2 &&
                   ND4C_TREE_AGGREGATE_MAX == 3 && ND4C_TREE_MODE_LEQ == 0 && ND4C_TREE_MODE_MEMBER == 6 &&
                   ND4C_POST_TRANSFORM_SOFTMAX == 1 && ND4C_POST_TRANSFORM_PROBIT == 4 &&
                   ND4C_KERNEL_FUNCTION_LINEAR == 0 && ND4C_KERNEL_FUNCTION_POLY == 1 && ND4C_KERNEL_FUNCTION_RBF == 2,
               "kernels/reference/learning/learning.c");

#define F ND4C_CPU_FLOATS
#define WORK_OPS(X)                                     \
  X(label_index, ND4C_CPU_ALL, label_index(call, work)) \
  X(tree_ensemble, F, tree_ensemble(call, work))        \
  X(svm_probabilities, F, svm_probabilities(call, work))
WORK_OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_learning_kernels[] = {
    WORK_OPS(ND4C_CPU_WORK_ROW) ND4C_CPU_REFERENCE_KERNEL(score_transform, F, score_transform_run),
    ND4C_CPU_REFERENCE_KERNEL(svm_kernel, F, svm_kernel_run), NULL};
