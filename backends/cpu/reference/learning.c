/* Engine reference: classical machine learning. */
#include "backends/cpu/reference/reference.h"
#include "kernels/reference/learning/learning.h"

/* -- label_index -------------------------------------------------------------------------------------------------- */

typedef struct label_job {
  nd4c_ref_tensor x, index;
  nd4c_ref_key *keys;
  int64_t count;
} label_job;

static void label_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const label_job *job = user;
  (void)worker;
  nd4c_ref_label_index(&job->x, job->keys, job->count, &job->index, begin, end);
}

static nd4c_status label_index_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_tensor keys = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_label_index_keys]);
  label_job job = {.x = nd4c_cpu_ref_tensor(x),
                   .index = nd4c_cpu_ref_tensor(&call->outputs[0]),
                   .keys = nd4c_cpu_host->allocate((size_t)(2 * keys.shape[0] + 1) * sizeof *job.keys),
                   .count = keys.shape[0]};
  if (job.keys == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "label_index: no memory for %lld keys", (long long)job.count);
  }
  nd4c_ref_sort_keys(&keys, job.keys);
  nd4c_cpu_host->parallel_for(x->size, nd4c_cpu_grain(32), call->width, label_range, &job);
  nd4c_cpu_host->free(job.keys);
  return ND4C_OK;
}

/* -- tree_ensemble ------------------------------------------------------------------------------------------------ */

typedef struct tree_job {
  nd4c_ref_trees trees;
  nd4c_ref_tensor x, y;
  double *sums; /* as many as targets for each worker */
} tree_job;

static void tree_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const tree_job *job = user;
  nd4c_ref_trees_run(&job->trees, &job->x, &job->y, job->sums + worker * job->trees.targets, begin, end);
}

#define TREE_LIST(name) nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_tree_ensemble_##name))

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
                          .targets = call->attrs[ND4C_ATTR_tree_ensemble_targets].as.i,
                          .aggregate = call->attrs[ND4C_ATTR_tree_ensemble_aggregate].as.i};
}

static nd4c_status check_trees(const nd4c_call *call, nd4c_ref_trees *trees) {
  size_t nodes = (size_t)trees->features.shape[0] + 1;
  uint8_t *state = nd4c_cpu_host->allocate(nodes);
  int64_t *stack = nd4c_cpu_host->allocate(nodes * sizeof *stack), at = 0;
  nd4c_status status = ND4C_OK;
  if (state == NULL || stack == NULL || trees->first_member == NULL) {
    status = nd4c_cpu_host->fail(ND4C_MEMORY, "tree_ensemble: no memory for %zu nodes", nodes);
  } else {
    const char *problem = nd4c_ref_trees_check(trees, call->inputs[0].shape[1], state, stack, &at);
    if (problem != NULL) {
      status = nd4c_cpu_host->fail(ND4C_INDEX, "tree_ensemble: %s (number %lld)", problem, (long long)at);
    }
  }
  nd4c_cpu_host->free(state);
  nd4c_cpu_host->free(stack);
  return status;
}

static nd4c_status tree_ensemble_run(const nd4c_call *call) {
  tree_job job = {
      .trees = trees_of(call), .x = nd4c_cpu_ref_tensor(&call->inputs[0]), .y = nd4c_cpu_ref_tensor(&call->outputs[0])};
  int64_t width = call->width > 1 ? call->width : 1, nodes = job.trees.features.shape[0];
  job.trees.first_member = nd4c_cpu_host->allocate((size_t)(nodes + 1) * sizeof *job.trees.first_member);
  nd4c_status status = check_trees(call, &job.trees);
  if (status == ND4C_OK) {
    job.sums = nd4c_cpu_host->allocate((size_t)(width * job.trees.targets) * sizeof *job.sums);
    if (job.sums != NULL) {
      nd4c_cpu_host->parallel_for(job.x.shape[0], nd4c_cpu_grain(16 * job.trees.roots.shape[0]), call->width,
                                  tree_range, &job);
    } else {
      status =
          nd4c_cpu_host->fail(ND4C_MEMORY, "tree_ensemble: no memory for %lld targets", (long long)job.trees.targets);
    }
  }
  nd4c_cpu_host->free(job.trees.first_member);
  nd4c_cpu_host->free(job.sums);
  return status;
}

/* -- scores ------------------------------------------------------------------------------------------------------- */

typedef struct score_job {
  nd4c_ref_tensor x, y;
  int64_t transform;
} score_job;

static void score_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const score_job *job = user;
  (void)worker;
  nd4c_ref_score_transform(&job->x, &job->y, job->transform, begin, end);
}

static nd4c_status score_transform_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  score_job job = {nd4c_cpu_ref_tensor(x), nd4c_cpu_ref_tensor(&call->outputs[0]),
                   call->attrs[ND4C_ATTR_score_transform_transform].as.i};
  if (x->size > 0) {
    int64_t length = x->shape[x->rank - 1];
    nd4c_cpu_host->parallel_for(x->size / length, nd4c_cpu_grain(32 * length), call->width, score_range, &job);
  }
  return ND4C_OK;
}

ND4C_CPU_RANGE(svm_range, nd4c_ref_svm_kernel)

static nd4c_status svm_kernel_run(const nd4c_call *call) {
  nd4c_ref_svm_args args = {.x = nd4c_cpu_ref_tensor(&call->inputs[0]),
                            .vectors = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_svm_kernel_vectors]),
                            .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
                            .kernel = call->attrs[ND4C_ATTR_svm_kernel_kernel].as.i,
                            .gamma = call->attrs[ND4C_ATTR_svm_kernel_gamma].as.f,
                            .coef0 = call->attrs[ND4C_ATTR_svm_kernel_coef0].as.f,
                            .degree = call->attrs[ND4C_ATTR_svm_kernel_degree].as.f};
  nd4c_cpu_host->parallel_for(call->outputs[0].size, nd4c_cpu_grain(4 * args.x.shape[1]), call->width, svm_range,
                              &args);
  return ND4C_OK;
}

typedef struct probability_job {
  nd4c_ref_probability_args args;
  double *work; /* of each worker */
} probability_job;

static int64_t probability_room(int64_t classes) {
  return 2 * (classes + 1) * classes;
}

static void probability_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const probability_job *job = user;
  nd4c_ref_svm_probabilities(&job->args, job->work + worker * probability_room(job->args.y.shape[1]), begin, end);
}

static nd4c_status svm_probabilities_run(const nd4c_call *call) {
  probability_job job = {.args = {.scores = nd4c_cpu_ref_tensor(&call->inputs[0]),
                                  .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
                                  .a = call->attrs[ND4C_ATTR_svm_probabilities_prob_a].as.floats,
                                  .b = call->attrs[ND4C_ATTR_svm_probabilities_prob_b].as.floats}};
  int64_t width = call->width > 1 ? call->width : 1, room = probability_room(job.args.y.shape[1]);
  job.work = nd4c_cpu_host->allocate((size_t)(width * room) * sizeof *job.work);
  if (job.work == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "svm_probabilities: no memory for %lld numbers", (long long)(width * room));
  }
  nd4c_cpu_host->parallel_for(job.args.y.shape[0], nd4c_cpu_grain(64 * room), call->width, probability_range, &job);
  nd4c_cpu_host->free(job.work);
  return ND4C_OK;
}

/* The kernels count modes as the op table does. */
_Static_assert(ND4C_TREE_AGGREGATE_AVERAGE == 0 && ND4C_TREE_AGGREGATE_SUM == 1 && ND4C_TREE_AGGREGATE_MIN == 2 &&
                   ND4C_TREE_AGGREGATE_MAX == 3 && ND4C_TREE_MODE_LEQ == 0 && ND4C_TREE_MODE_MEMBER == 6 &&
                   ND4C_POST_TRANSFORM_SOFTMAX == 1 && ND4C_POST_TRANSFORM_PROBIT == 4 &&
                   ND4C_KERNEL_FUNCTION_LINEAR == 0 && ND4C_KERNEL_FUNCTION_POLY == 1 && ND4C_KERNEL_FUNCTION_RBF == 2,
               "kernels/reference/learning/learning.c");

const nd4c_kernel *const nd4c_cpu_reference_learning_kernels[] = {

    ND4C_CPU_REFERENCE_KERNEL(label_index, ND4C_CPU_ALL, label_index_run),
    ND4C_CPU_REFERENCE_KERNEL(tree_ensemble, ND4C_CPU_FLOATS, tree_ensemble_run),
    ND4C_CPU_REFERENCE_KERNEL(score_transform, ND4C_CPU_FLOATS, score_transform_run),
    ND4C_CPU_REFERENCE_KERNEL(svm_kernel, ND4C_CPU_FLOATS, svm_kernel_run),
    ND4C_CPU_REFERENCE_KERNEL(svm_probabilities, ND4C_CPU_FLOATS, svm_probabilities_run),
    NULL};
