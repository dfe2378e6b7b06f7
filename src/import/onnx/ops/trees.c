/* Tree ensembles of ai.onnx.ml. The older forms name trees and nodes by arbitrary numbers; here they become lists of
 * branches and leaves. emission/scope.c calls the emit functions through the rows below. */
#include <stdlib.h>

#include "base/status.h"
#include "import/onnx/emission/lists.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

enum {
  X,
  FEATURES,
  SPLITS,
  MODES,
  TRUE_IDS,
  TRUE_LEAVES,
  FALSE_IDS,
  FALSE_LEAVES,
  LEAF_TARGETS,
  LEAF_WEIGHTS,
  ROOTS,
  MISSING,
  MEMBERS,
  LEAF_ENDS,
  TREE_INPUTS
};

static nd4c_status emit_ensemble(nd4c_onnx_emission *emission, const nd4c_onnx_operand *inputs, int64_t targets,
                                 int64_t aggregate, nd4c_onnx_operand *y) {
  nd4c_attr attrs[] = {nd4c_attr_of_int("targets", targets), nd4c_attr_of_int("aggregate", aggregate)};
  return nd4c_emit(&emission->emitter, ND4C_OP_tree_ensemble, inputs, TREE_INPUTS, attrs, 2, y);
}

static const char *const aggregates[] = {ND4C_TREE_AGGREGATE_TABLE(ND4C_ONNX_WORD) NULL};
static const char *const transforms[] = {ND4C_POST_TRANSFORM_TABLE(ND4C_ONNX_WORD) NULL};

/* -- TreeEnsemble (opset 5) --------------------------------------------------------------------------------------- */

static nd4c_status integers_of(nd4c_onnx_emission *emission, const char *name, nd4c_onnx_operand *list) {
  const int64_t *values = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, name, &values, &count));
  return values == NULL ? ND4C_OK : nd4c_onnx_int64s(emission, 1, count, values, list);
}

static nd4c_status emit_tree_ensemble(nd4c_onnx_emission *emission) {
  static const struct {
    const char *name;
    int position;
    bool tensor;
  } lists[] = {{"nodes_featureids", FEATURES, false},
               {"nodes_splits", SPLITS, true},
               {"nodes_modes", MODES, true},
               {"nodes_truenodeids", TRUE_IDS, false},
               {"nodes_trueleafs", TRUE_LEAVES, false},
               {"nodes_falsenodeids", FALSE_IDS, false},
               {"nodes_falseleafs", FALSE_LEAVES, false},
               {"leaf_targetids", LEAF_TARGETS, false},
               {"leaf_weights", LEAF_WEIGHTS, true},
               {"tree_roots", ROOTS, false},
               {"nodes_missing_value_tracks_true", MISSING, false},
               {"membership_values", MEMBERS, true}};
  nd4c_onnx_operand inputs[TREE_INPUTS], y;
  int64_t targets = 0, aggregate = 0, post = 0;
  for (int i = 0; i < TREE_INPUTS; i++) {
    inputs[i] = ND4C_ONNX_OPERAND_NONE;
  }
  inputs[X] = emission->inputs[0];
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    nd4c_onnx_operand *list = &inputs[lists[i].position];
    ND4C_TRY(lists[i].tensor ? nd4c_onnx_tensor_constant(emission, lists[i].name, list, NULL)
                             : integers_of(emission, lists[i].name, list));
    if (*list == ND4C_ONNX_OPERAND_NONE && lists[i].position < MISSING) {
      return nd4c_fail(ND4C_FORMAT, "attribute %s is missing", lists[i].name);
    }
  }
  nd4c_onnx_ignore(emission, "nodes_hitrates");
  ND4C_TRY(nd4c_onnx_get_int(emission, "n_targets", 1, &targets));
  ND4C_TRY(nd4c_onnx_get_int(emission, "aggregate_function", ND4C_TREE_AGGREGATE_SUM, &aggregate));
  ND4C_TRY(nd4c_onnx_get_int(emission, "post_transform", 0, &post));
  ND4C_TRY(emit_ensemble(emission, inputs, targets, aggregate, &y));
  return nd4c_compose_score_transform(&emission->emitter, y, post, &emission->outputs[0]);
}

/* -- the older forms ---------------------------------------------------------------------------------------------- */

/* A node with the two numbers that name it. */
typedef struct tree_node {
  int64_t tree, node;
  int32_t index; /* in the lists of the attributes */
} tree_node;

/* The lists of the attributes, and the data that is computed from them. */
typedef struct forest {
  const int64_t *trees, *nodes, *features, *yes, *no, *missing;
  const nd4c_span *modes;
  const int64_t *entry_trees, *entry_nodes, *entry_targets;
  const double *splits, *weights;
  int32_t count, entry_count, missing_count;
  tree_node *sorted; /* by names */
  bool *root;        /* whether a node is the first of its tree */
  int64_t *number;   /* of each node: among the branches, or among the leaves */
  int64_t *leaf_of;  /* of each entry */
  int64_t *columns;  /* room for the lists: of branches, then of leaves */
  int64_t branches, leaves;
} forest;

static int compare_nodes(const void *a, const void *b) {
  const tree_node *left = a, *right = b;
  if (left->tree != right->tree) {
    return left->tree < right->tree ? -1 : 1;
  }
  if (left->node != right->node) {
    return left->node < right->node ? -1 : 1;
  }
  return left->index - right->index;
}

/* The index of a node in the lists of the attributes; -1: there is no such node. */
static int32_t find_node(const forest *f, int64_t tree, int64_t node) {
  int32_t low = 0, high = f->count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    const tree_node *at = &f->sorted[middle];
    if (at->tree < tree || (at->tree == tree && at->node < node)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < f->count && f->sorted[low].tree == tree && f->sorted[low].node == node ? f->sorted[low].index : -1;
}

static bool is_leaf(const forest *f, int64_t index) {
  return nd4c_span_is(f->modes[index], "LEAF");
}

static void number_nodes(forest *f) {
  for (int32_t i = 0; i < f->count; i++) {
    f->sorted[i] = (tree_node){f->trees[i], f->nodes[i], i};
    f->number[i] = is_leaf(f, i) ? f->leaves++ : f->branches++;
  }
  if (f->count > 0) {
    qsort(f->sorted, (size_t)f->count, sizeof *f->sorted, compare_nodes);
  }
  int32_t first = 0;
  for (int32_t i = 0; i < f->count; i++) {
    bool same = i > 0 && f->sorted[i].tree == f->sorted[i - 1].tree;
    first = same && first < f->sorted[i].index ? first : f->sorted[i].index;
    if (i + 1 == f->count || f->sorted[i + 1].tree != f->sorted[i].tree) {
      f->root[first] = true;
    }
  }
}

/* Floats of an attribute, or of the tensor that stands for it. */
static nd4c_status read_floats(nd4c_onnx_emission *emission, const char *name, const char *tensor_name,
                               int32_t expected, const double **values) {
  int32_t count = 0;
  nd4c_onnx_operand list = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(nd4c_onnx_get_floats(emission, name, values, &count));
  ND4C_TRY(nd4c_onnx_tensor_constant(emission, tensor_name, &list, NULL));
  if (list != ND4C_ONNX_OPERAND_NONE) {
    nd4c_array *array = NULL;
    double *read = NULL;
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, list, ND4C_FLOAT64, &list));
    ND4C_TRY(nd4c_onnx_read_array(emission, list, tensor_name, &array));
    if (nd4c_array_size(array) != expected) {
      return nd4c_fail(ND4C_FORMAT, "attribute %s: expected %d values", tensor_name, (int)expected);
    }
    ND4C_TRY(nd4c_onnx_claim(emission, (size_t)expected + 1, sizeof *read, name, &read));
    *values = read;
    return nd4c_array_read(array, read, (size_t)expected * sizeof *read);
  }
  return count == expected
             ? ND4C_OK
             : nd4c_fail(ND4C_FORMAT, "attribute %s has %d values; expected %d", name, (int)count, (int)expected);
}

static nd4c_status read_list(nd4c_onnx_emission *emission, const char *name, int32_t expected, const int64_t **values) {
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, name, values, &count));
  return count == expected
             ? ND4C_OK
             : nd4c_fail(ND4C_FORMAT, "attribute %s has %d values; expected %d", name, (int)count, (int)expected);
}

/* entries: the names of treeids, nodeids, ids, weights and weights_as_tensor of the leaves' values. */
static nd4c_status read_forest(nd4c_onnx_emission *emission, const char *const entries[5], forest *f) {
  int32_t modes = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "nodes_treeids", &f->trees, &f->count));
  ND4C_TRY(read_list(emission, "nodes_nodeids", f->count, &f->nodes));
  ND4C_TRY(read_list(emission, "nodes_featureids", f->count, &f->features));
  ND4C_TRY(read_list(emission, "nodes_truenodeids", f->count, &f->yes));
  ND4C_TRY(read_list(emission, "nodes_falsenodeids", f->count, &f->no));
  ND4C_TRY(nd4c_onnx_get_ints(emission, "nodes_missing_value_tracks_true", &f->missing, &f->missing_count));
  ND4C_TRY(nd4c_onnx_get_strings(emission, "nodes_modes", &f->modes, &modes));
  if (modes != f->count || (f->missing_count != 0 && f->missing_count != f->count)) {
    return nd4c_fail(ND4C_FORMAT, "%d nodes_modes for %d nodes", (int)modes, (int)f->count);
  }
  ND4C_TRY(read_floats(emission, "nodes_values", "nodes_values_as_tensor", f->count, &f->splits));
  nd4c_onnx_ignore(emission, "nodes_hitrates");
  nd4c_onnx_ignore(emission, "nodes_hitrates_as_tensor");
  ND4C_TRY(nd4c_onnx_get_ints(emission, entries[0], &f->entry_trees, &f->entry_count));
  ND4C_TRY(read_list(emission, entries[1], f->entry_count, &f->entry_nodes));
  ND4C_TRY(read_list(emission, entries[2], f->entry_count, &f->entry_targets));
  ND4C_TRY(read_floats(emission, entries[3], entries[4], f->entry_count, &f->weights));
  size_t room = (size_t)f->count + 1, entry_room = (size_t)f->entry_count + 1;
  ND4C_TRY(nd4c_onnx_claim(emission, room, sizeof *f->sorted, "trees", &f->sorted));
  ND4C_TRY(nd4c_onnx_claim(emission, room, sizeof *f->root, "trees", &f->root));
  ND4C_TRY(nd4c_onnx_claim(emission, room, sizeof *f->number, "trees", &f->number));
  ND4C_TRY(nd4c_onnx_claim(emission, entry_room, sizeof *f->leaf_of, "trees", &f->leaf_of));
  ND4C_TRY(nd4c_onnx_claim(emission, 2 * room + entry_room, sizeof *f->columns, "trees", &f->columns));
  number_nodes(f);
  return ND4C_OK;
}

/* Gives one integer for a branch. A tree that is only a leaf gets an additional branch at the end of the list, both
 * sides of which are that leaf (`lonely`). */
typedef int64_t (*branch_value)(const forest *f, int32_t node, bool lonely);

static int64_t feature_of(const forest *f, int32_t node, bool lonely) {
  return lonely ? 0 : f->features[node];
}
static int64_t missing_of(const forest *f, int32_t node, bool lonely) {
  return lonely || f->missing_count == 0 ? 0 : f->missing[node];
}
static int64_t yes_of(const forest *f, int32_t node, bool lonely) {
  int32_t child = lonely ? node : find_node(f, f->trees[node], f->yes[node]);
  return child < 0 ? -1 : f->number[child];
}
static int64_t no_of(const forest *f, int32_t node, bool lonely) {
  int32_t child = lonely ? node : find_node(f, f->trees[node], f->no[node]);
  return child < 0 ? -1 : f->number[child];
}
static int64_t yes_is_leaf(const forest *f, int32_t node, bool lonely) {
  int32_t child = lonely ? node : find_node(f, f->trees[node], f->yes[node]);
  return child >= 0 && is_leaf(f, child);
}
static int64_t no_is_leaf(const forest *f, int32_t node, bool lonely) {
  int32_t child = lonely ? node : find_node(f, f->trees[node], f->no[node]);
  return child >= 0 && is_leaf(f, child);
}
static int64_t mode_of(const forest *f, int32_t node, bool lonely) {
  static const char *const words[] = {ND4C_TREE_MODE_TABLE(ND4C_ONNX_WORD) NULL};
  for (int64_t i = 0; words[i] != NULL && !lonely; i++) {
    if (nd4c_span_is(f->modes[node], words[i])) {
      return i;
    }
  }
  return lonely ? 0 : -1;
}

static nd4c_status branch_list(nd4c_onnx_emission *emission, const forest *f, branch_value value,
                               nd4c_onnx_operand *list) {
  int64_t count = 0;
  for (int32_t i = 0; i < f->count; i++) {
    if (!is_leaf(f, i)) {
      f->columns[count++] = value(f, i, false);
    }
  }
  for (int32_t i = 0; i < f->count; i++) {
    if (is_leaf(f, i) && f->root[i]) {
      f->columns[count++] = value(f, i, true);
    }
  }
  return nd4c_onnx_int64s(emission, 1, count, f->columns, list);
}

static nd4c_status root_list(nd4c_onnx_emission *emission, const forest *f, nd4c_onnx_operand *list) {
  int64_t count = 0, lonely = f->branches;
  for (int32_t i = 0; i < f->count; i++) {
    if (f->root[i]) {
      f->columns[count++] = is_leaf(f, i) ? lonely++ : f->number[i];
    }
  }
  return nd4c_onnx_int64s(emission, 1, count, f->columns, list);
}

static nd4c_status split_list(nd4c_onnx_emission *emission, const forest *f, nd4c_dtype dtype,
                              nd4c_onnx_operand *list) {
  double *values = NULL;
  int64_t count = 0;
  ND4C_TRY(nd4c_onnx_claim(emission, 2 * (size_t)f->count + 1, sizeof *values, "splits", &values));
  for (int32_t i = 0; i < f->count; i++) {
    if (!is_leaf(f, i)) {
      values[count++] = f->splits[i];
    }
  }
  for (int32_t i = 0; i < f->count; i++) {
    count += is_leaf(f, i) && f->root[i];
  }
  return nd4c_onnx_float_list(emission, values, count, dtype, list);
}

/* The leaves' values in the order of the leaves: a counting sort, which keeps the order within a leaf. */
static nd4c_status leaf_lists(nd4c_onnx_emission *emission, forest *f, nd4c_dtype dtype, nd4c_onnx_operand *inputs) {
  int64_t *ends = f->columns, *targets = f->columns + f->leaves + 1;
  double *weights = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)f->entry_count + 1, sizeof *weights, "weights", &weights));
  for (int64_t i = 0; i <= f->leaves; i++) {
    ends[i] = 0;
  }
  for (int32_t i = 0; i < f->entry_count; i++) {
    int32_t node = find_node(f, f->entry_trees[i], f->entry_nodes[i]);
    if (node < 0 || !is_leaf(f, node)) {
      return nd4c_fail(ND4C_FORMAT, "value %d belongs to node %lld of tree %lld, which is no leaf", (int)i,
                       (long long)f->entry_nodes[i], (long long)f->entry_trees[i]);
    }
    f->leaf_of[i] = f->number[node];
    ends[f->leaf_of[i] + 1]++;
  }
  for (int64_t i = 1; i <= f->leaves; i++) {
    ends[i] += ends[i - 1];
  }
  for (int32_t i = 0; i < f->entry_count; i++) {
    int64_t at = ends[f->leaf_of[i]]++; /* each start advances until it is the leaf's end */
    targets[at] = f->entry_targets[i];
    weights[at] = f->weights[i];
  }
  ND4C_TRY(nd4c_onnx_int64s(emission, 1, f->leaves, ends, &inputs[LEAF_ENDS]));
  ND4C_TRY(nd4c_onnx_int64s(emission, 1, f->entry_count, targets, &inputs[LEAF_TARGETS]));
  return nd4c_onnx_float_list(emission, weights, f->entry_count, dtype, &inputs[LEAF_WEIGHTS]);
}

static nd4c_status make_lists(nd4c_onnx_emission *emission, forest *f, nd4c_onnx_operand *inputs) {
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, inputs[X]).dtype;
  inputs[MEMBERS] = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(branch_list(emission, f, feature_of, &inputs[FEATURES]));
  ND4C_TRY(branch_list(emission, f, mode_of, &inputs[MODES]));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, inputs[MODES], ND4C_UINT8, &inputs[MODES]));
  ND4C_TRY(branch_list(emission, f, yes_of, &inputs[TRUE_IDS]));
  ND4C_TRY(branch_list(emission, f, yes_is_leaf, &inputs[TRUE_LEAVES]));
  ND4C_TRY(branch_list(emission, f, no_of, &inputs[FALSE_IDS]));
  ND4C_TRY(branch_list(emission, f, no_is_leaf, &inputs[FALSE_LEAVES]));
  ND4C_TRY(branch_list(emission, f, missing_of, &inputs[MISSING]));
  ND4C_TRY(split_list(emission, f, dtype, &inputs[SPLITS]));
  ND4C_TRY(root_list(emission, f, &inputs[ROOTS]));
  return leaf_lists(emission, f, dtype, inputs);
}

/* The trees' sums [n, targets] in float32, with the base values. */
static nd4c_status older_sums(nd4c_onnx_emission *emission, const char *const entries[5], int64_t targets,
                              int64_t aggregate, nd4c_onnx_operand *y) {
  nd4c_onnx_operand inputs[TREE_INPUTS], base = ND4C_ONNX_OPERAND_NONE;
  const double *values = NULL;
  int32_t count = 0;
  forest f = {.count = 0};
  nd4c_dtype given = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype;
  nd4c_dtype dtype = given == ND4C_FLOAT64 ? ND4C_FLOAT64 : ND4C_FLOAT32;
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, emission->inputs[0], dtype, &inputs[X]));
  if (nd4c_emitted_get(&emission->emitter, inputs[X]).rank == 1) {
    int64_t shape[2] = {1, -1};
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, inputs[X], 2, shape, &inputs[X]));
  }
  ND4C_TRY(read_forest(emission, entries, &f));
  ND4C_TRY(make_lists(emission, &f, inputs));
  ND4C_TRY(emit_ensemble(emission, inputs, targets, aggregate, y));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, *y, ND4C_FLOAT32, y));
  ND4C_TRY(nd4c_onnx_get_floats(emission, "base_values", &values, &count));
  ND4C_TRY(nd4c_onnx_tensor_constant(emission, "base_values_as_tensor", &base, NULL));
  if (base == ND4C_ONNX_OPERAND_NONE && count > 0) {
    ND4C_TRY(nd4c_onnx_float_list(emission, values, count, ND4C_FLOAT32, &base));
  }
  if (base == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, base, ND4C_FLOAT32, &base));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *y, base, y);
}

static nd4c_status emit_tree_regressor(nd4c_onnx_emission *emission) {
  static const char *const entries[5] = {"target_treeids", "target_nodeids", "target_ids", "target_weights",
                                         "target_weights_as_tensor"};
  int64_t targets = 0, aggregate = 0, post = 0;
  nd4c_onnx_operand y;
  ND4C_TRY(nd4c_onnx_get_int(emission, "n_targets", 1, &targets));
  ND4C_TRY(nd4c_onnx_get_word(emission, "aggregate_function", "SUM", aggregates, &aggregate));
  ND4C_TRY(nd4c_onnx_get_word(emission, "post_transform", "NONE", transforms, &post));
  ND4C_TRY(older_sums(emission, entries, targets, aggregate, &y));
  return nd4c_compose_score_transform(&emission->emitter, y, post, &emission->outputs[0]);
}

/* Whether all weights belong to one class, so that the scores of the other of two classes follow from them. */
static nd4c_status is_binary(nd4c_onnx_emission *emission, bool *binary) {
  const int64_t *ids = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "class_ids", &ids, &count));
  *binary = count > 0;
  for (int32_t i = 1; i < count; i++) {
    *binary = *binary && ids[i] == ids[0];
  }
  return ND4C_OK;
}

/* Scores of two classes from those of one. */
static nd4c_status two_scores(nd4c_onnx_emission *emission, nd4c_onnx_operand sums, int64_t post,
                              nd4c_onnx_operand *scores) {
  bool shares = post == ND4C_POST_TRANSFORM_NONE || post == ND4C_POST_TRANSFORM_PROBIT;
  ND4C_TRY(nd4c_emit_slice(&emission->emitter, sums, 1, 0, 1, 1, scores));
  return nd4c_compose_both_signs(&emission->emitter, *scores, shares ? 1 : 0, scores);
}

/* The scores that decide the label. If the transform keeps their order, these are the sums before it, because rounding
 * in the transform can make scores equal. A class without votes has the sum 0 and can be the label, as in ONNX's
 * reference evaluator; ONNX Runtime never chooses it as the label, although it has a score. */
static nd4c_onnx_operand deciding_scores(nd4c_onnx_operand sums, nd4c_onnx_operand transformed, int64_t post) {
  return post == ND4C_POST_TRANSFORM_SOFTMAX || post == ND4C_POST_TRANSFORM_LOGISTIC ? sums : transformed;
}

static nd4c_status emit_tree_classifier(nd4c_onnx_emission *emission) {
  static const char *const entries[5] = {"class_treeids", "class_nodeids", "class_ids", "class_weights",
                                         "class_weights_as_tensor"};
  nd4c_onnx_operand labels = ND4C_ONNX_OPERAND_NONE, scores, best;
  int64_t classes = 0, post = 0;
  bool binary = false;
  ND4C_TRY(nd4c_onnx_class_labels(emission, "classlabels_int64s", &labels, &classes));
  ND4C_TRY(nd4c_onnx_get_word(emission, "post_transform", "NONE", transforms, &post));
  ND4C_TRY(is_binary(emission, &binary));
  ND4C_TRY(older_sums(emission, entries, classes, ND4C_TREE_AGGREGATE_SUM, &scores));
  if (binary && classes <= 2) {
    ND4C_TRY(two_scores(emission, scores, post, &scores));
  }
  ND4C_TRY(nd4c_compose_score_transform(&emission->emitter, scores, post, &emission->outputs[1]));
  ND4C_TRY(nd4c_compose_best_class(&emission->emitter, deciding_scores(scores, emission->outputs[1], post), &best));
  if (classes < 2) { /* the positive class alone: 0 or 1 */
    emission->outputs[0] = best;
    return nd4c_emitted_get(&emission->emitter, labels).dtype == ND4C_INT64
               ? ND4C_OK
               : nd4c_fail(ND4C_UNSUPPORTED, "one class with a name; expected two or more");
  }
  return nd4c_compose_pick(&emission->emitter, labels, best, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                  \
  OP(TreeEnsemble, 5, LAST, 1, 1, 1, tree_ensemble, NONE)                                                     \
  CHAIN(TreeEnsembleRegressor, 1, LAST, 1, 1, 1, tree_regressor, NONE, "tree_ensemble, add, score_transform") \
  CHAIN(TreeEnsembleClassifier, 1, LAST, 1, 1, 2, tree_classifier, NONE,                                      \
        "tree_ensemble, score_transform; the label: argmax, gather")

ND4C_ONNX_FAMILY(trees, "ai.onnx.ml", ROWS)
