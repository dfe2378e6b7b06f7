/* Reference kernels of classical machine learning: any strides, computed in double and rounded once. Numbers of modes
 * are those of the op table. backends/cpu/reference/learning.c calls these. */
#ifndef ND4C_KERNELS_REFERENCE_LEARNING_LEARNING_H
#define ND4C_KERNELS_REFERENCE_LEARNING_LEARNING_H

#include <stdbool.h>

#include "kernels/reference/support/tensor.h"

/* A key with its position. */
typedef struct nd4c_ref_key {
  nd4c_value value;
  int64_t position;
} nd4c_ref_key;
/* Sorts the keys, which are of the same dtype as x. `sorted` has room for twice as many. */
void nd4c_ref_sort_keys(const nd4c_ref_tensor *keys, nd4c_ref_key *sorted);
typedef struct nd4c_ref_label_args {
  nd4c_ref_tensor x, index;
  const nd4c_ref_key *sorted;
  int64_t count;
} nd4c_ref_label_args;
/* Positions of elements [begin, end) of x in C order; count for one that is not there. */
void nd4c_ref_label_index(const nd4c_ref_label_args *args, int64_t begin, int64_t end);

/* Trees as the op gets them; strided lists. */
typedef struct nd4c_ref_trees {
  nd4c_ref_tensor features, splits, modes, true_ids, true_leaves, false_ids, false_leaves, leaf_targets, leaf_weights,
      roots, missing_true, members, leaf_ends;
  int64_t targets, aggregate;
  int64_t *first_member; /* of each node: where its members begin */
  nd4c_ref_tensor x, y;
  double *sums; /* as many as targets for each worker */
} nd4c_ref_trees;
/* Fills first_member; NULL, or what is wrong with the trees, where `at` gets the node, leaf or root of it. `state` has
 * a zeroed place a node, `stack` one a node. */
const char *nd4c_ref_trees_check(nd4c_ref_trees *trees, int64_t features, uint8_t *state, int64_t *stack, int64_t *at);
/* Rows [begin, end). */
void nd4c_ref_trees_run(const nd4c_ref_trees *trees, int64_t begin, int64_t end, int32_t worker);

typedef struct nd4c_ref_score_args {
  nd4c_ref_tensor x, y;
  int64_t transform;
} nd4c_ref_score_args;
/* Rows of the last axis [begin, end). */
void nd4c_ref_score_transform(const nd4c_ref_score_args *args, int64_t begin, int64_t end);

typedef struct nd4c_ref_svm_args {
  nd4c_ref_tensor x, vectors, y;
  int64_t kernel;
  double gamma, coef0, degree;
} nd4c_ref_svm_args;
/* Elements [begin, end) of y in C order. */
void nd4c_ref_svm_kernel(const nd4c_ref_svm_args *args, int64_t begin, int64_t end);

#define ND4C_REF_PROBABILITY_WORK(classes) (2 * ((classes) + 1) * (classes))
typedef struct nd4c_ref_probability_args {
  nd4c_ref_tensor scores, y;
  const double *a, *b; /* one a pair */
  double *work;        /* ND4C_REF_PROBABILITY_WORK of the classes for each worker */
} nd4c_ref_probability_args;
/* Rows [begin, end). */
void nd4c_ref_svm_probabilities(const nd4c_ref_probability_args *args, int64_t begin, int64_t end, int32_t worker);

#endif
