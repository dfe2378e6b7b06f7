/* Rows of the op table: classical machine learning (trees, support vector machines, labels). op_table.h says how to
 * read them. */
#ifndef ND4C_OP_TABLE_LEARNING_H
#define ND4C_OP_TABLE_LEARNING_H

/* How tree_ensemble combines the results of its trees, in ONNX's order. */
#define ND4C_TREE_AGGREGATE_TABLE(X) \
  X(AVERAGE, 0, "AVERAGE")           \
  X(SUM, 1, "SUM")                   \
  X(MIN, 2, "MIN")                   \
  X(MAX, 3, "MAX")

/* The comparison of a node of tree_ensemble (elements of node_modes), in ONNX's order. */
#define ND4C_TREE_MODE_TABLE(X) \
  X(LEQ, 0, "BRANCH_LEQ")       \
  X(LT, 1, "BRANCH_LT")         \
  X(GTE, 2, "BRANCH_GTE")       \
  X(GT, 3, "BRANCH_GT")         \
  X(EQ, 4, "BRANCH_EQ")         \
  X(NEQ, 5, "BRANCH_NEQ")       \
  X(MEMBER, 6, "BRANCH_MEMBER")

/* What score_transform does with scores, in ONNX's order. */
#define ND4C_POST_TRANSFORM_TABLE(X) \
  X(NONE, 0, "NONE")                 \
  X(SOFTMAX, 1, "SOFTMAX")           \
  X(LOGISTIC, 2, "LOGISTIC")         \
  X(SOFTMAX_ZERO, 3, "SOFTMAX_ZERO") \
  X(PROBIT, 4, "PROBIT")

/* The kernel function of svm_kernel. */
#define ND4C_KERNEL_FUNCTION_TABLE(X) \
  X(LINEAR, 0, "LINEAR")              \
  X(POLY, 1, "POLY")                  \
  X(RBF, 2, "RBF")                    \
  X(SIGMOID, 3, "SIGMOID")

#define ND4C_SIG_LABEL_INDEX(A, op) A(op, IN, x, 0) A(op, IN, keys, 0) A(op, OUT, index, 0)
#define ND4C_SIG_TREE_ENSEMBLE(A, op) \
  A(op, IN, x, 0)                     \
  A(op, IN, node_features, 0)         \
  A(op, IN, node_splits, 0)           \
  A(op, IN, node_modes, 0)            \
  A(op, IN, true_ids, 0)              \
  A(op, IN, true_leaves, 0)           \
  A(op, IN, false_ids, 0)             \
  A(op, IN, false_leaves, 0)          \
  A(op, IN, leaf_targets, 0)          \
  A(op, IN, leaf_weights, 0)          \
  A(op, IN, roots, 0)                 \
  A(op, OPT, missing_true, 0)         \
  A(op, OPT, members, 0)              \
  A(op, OPT, leaf_ends, 0)            \
  A(op, INT, targets, 1) A(op, WORD, aggregate, tree_aggregate, ND4C_TREE_AGGREGATE_SUM) A(op, OUT, y, 0)
#define ND4C_SIG_SCORE_TRANSFORM(A, op) \
  A(op, IN, x, 0) A(op, WORD, transform, post_transform, ND4C_POST_TRANSFORM_NONE) A(op, OUT, y, 0)
#define ND4C_SIG_SVM_KERNEL(A, op)                                  \
  A(op, IN, x, 0)                                                   \
  A(op, IN, vectors, 0)                                             \
  A(op, WORD, kernel, kernel_function, ND4C_KERNEL_FUNCTION_LINEAR) \
  A(op, FLOAT, gamma, 1.0) A(op, FLOAT, coef0, 0) A(op, FLOAT, degree, 3) A(op, OUT, y, 0)

#define ND4C_SIG_SVM_PROBABILITIES(A, op) \
  A(op, IN, scores, 0) A(op, FLOATS, prob_a, 0) A(op, FLOATS, prob_b, 0) A(op, OUT, y, 0)

#define ND4C_OPS_LEARNING(OP)                                                                                         \
  OP(830, 1, label_index, LEARNING, ND4C_SIG_LABEL_INDEX, label_index, ANY,                                           \
     "int64 position of each element of x among keys; if several keys are equal, the last one; NaN is equal to NaN; " \
     "an element that is not among keys gives the number of keys",                                                    \
     "||LabelEncoder|")                                                                                               \
  OP(831, 1, tree_ensemble, LEARNING, ND4C_SIG_TREE_ENSEMBLE, tree_ensemble, REAL_FLOATING,                           \
     "y [n, targets]: for each row of x [n, features], each tree leads to a leaf, and the weights of these leaves "   \
     "are combined (sum, average, least, largest). A node compares its feature with its split as node_modes says "    \
     "(MEMBER: with its set in members, which NaN ends; missing_true: NaN counts as true), then goes to node or "     \
     "leaf true_ids, else false_ids. leaf_ends: where the targets and weights of each leaf end; left out: one "       \
     "target for each leaf (ONNX TreeEnsemble)",                                                                      \
     "||TreeEnsemble|", NONE, OPTIONS)                                                                                \
  OP(832, 1, score_transform, LEARNING, ND4C_SIG_SCORE_TRANSFORM, score_transform, REAL_FLOATING,                     \
     "scores on the last axis unchanged, or their softmax, 1 / (1 + e^-x), softmax that leaves zeros 0, or inverse "  \
     "of the normal distribution (ONNX post_transform)",                                                              \
     "|||")                                                                                                           \
  OP(833, 1, svm_kernel, LEARNING, ND4C_SIG_SVM_KERNEL, svm_kernel, REAL_FLOATING,                                    \
     "y [n, v] for x [n, f] and vectors [v, f]: x . v, (gamma x . v + coef0)^degree, e^(-gamma |x - v|^2) or "        \
     "tanh(gamma x . v + coef0)",                                                                                     \
     "|||")                                                                                                           \
  OP(834, 1, svm_probabilities, LEARNING, ND4C_SIG_SVM_PROBABILITIES, svm_probabilities, REAL_FLOATING,               \
     "class probabilities [n, classes] from scores s [n, pairs of classes]: the probability of each pair is 1 / (1 "  \
     "+ e^(prob_a s + prob_b)), and libsvm's iteration couples the pairs (Wu, Lin and Weng 2004)",                    \
     "|||")

#endif
