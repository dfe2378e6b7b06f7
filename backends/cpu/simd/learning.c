/* tree_ensemble of engine simd, for CONSTANT trees whose nodes all compare alike, as those of XGBoost, LightGBM and
 * scikit-learn do. `prepare` packs the trees into nodes that a few bytes hold; a run walks down each tree with several
 * rows side by side. dispatch/choice.c asks this kernel before the reference's. */
#include <float.h>
#include <string.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"

enum { TARGETS_MOST = 64, NODES_MOST = 1 << 30 };

/* Everything lies in `held`. Leaves are numbered after the inner nodes. */
typedef struct forest {
  void *nodes;
  int32_t inner, leaves, trees, comparison;
  int32_t *roots, *depths; /* of each tree */
  int32_t *ends;           /* of each leaf: where its entries end */
  int32_t *targets;        /* of each entry */
  double *weights;         /* of each entry */
  bool plain;              /* a leaf has one entry, and there is one target */
  nd4c_cpu_held held;
} forest;

/* -- packing ------------------------------------------------------------------------------------------------------ */

#define LIST(name) nd4c_cpu_ref_input(call, ND4C_IN_tree_ensemble_##name)

static int64_t integer_at(const nd4c_ref_tensor *list, int64_t i) {
  return nd4c_value_load(list->dtype, list->data, i * list->strides[0]).i;
}

static double real_at(const nd4c_ref_tensor *list, int64_t i) {
  return nd4c_ref_load(list, i * list->strides[0]);
}

static bool is_given(const nd4c_call *call, int32_t input) {
  return nd4c_cpu_input(call, input) != NULL;
}

static nd4c_status refuse(const char *what) {
  return nd4c_cpu_host->fail(ND4C_UNSUPPORTED, "tree_ensemble: %s", what);
}

static int64_t node_bytes(nd4c_dtype dtype) {
  return (int64_t)(dtype == ND4C_FLOAT32 ? sizeof(nd4c_tree_node_float32) : sizeof(nd4c_tree_node_float64));
}

/* Takes memory for the parts, each aligned for doubles. */
static nd4c_status reserve(const nd4c_call *call, int64_t entries, forest *f) {
  const int64_t sizes[] = {node_bytes(call->inputs[0].dtype) * ((int64_t)f->inner + f->leaves),
                           (int64_t)sizeof(double) * entries,
                           (int64_t)sizeof(int32_t) * entries,
                           (int64_t)sizeof(int32_t) * f->leaves,
                           (int64_t)sizeof(int32_t) * f->trees,
                           (int64_t)sizeof(int32_t) * f->trees};
  void **const parts[] = {&f->nodes,         (void **)&f->weights, (void **)&f->targets,
                          (void **)&f->ends, (void **)&f->roots,   (void **)&f->depths};
  int64_t total = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    total += (sizes[i] + 15) / 16 * 16;
  }
  ND4C_BACKEND_TRY(nd4c_cpu_hold(call, (size_t)total, "packed trees", &f->held));
  char *at = f->held.memory;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    *parts[i] = at;
    at += (sizes[i] + 15) / 16 * 16;
  }
  return ND4C_OK;
}

static void put_node(forest *f, nd4c_dtype dtype, int64_t at, double split, uint32_t feature, int64_t no, int64_t yes) {
  if (dtype == ND4C_FLOAT32) {
    ((nd4c_tree_node_float32 *)f->nodes)[at] =
        (nd4c_tree_node_float32){(float)split, feature, {(int32_t)no, (int32_t)yes}};
  } else {
    ((nd4c_tree_node_float64 *)f->nodes)[at] = (nd4c_tree_node_float64){split, feature, {(int32_t)no, (int32_t)yes}};
  }
}

/* The packed number of a child; -1: it does not exist, or stands before its parent, so that there might be a circle. */
static int64_t child_of(const forest *f, const nd4c_ref_tensor *ids, const nd4c_ref_tensor *leaves, int64_t node) {
  const int64_t id = integer_at(ids, node);
  if (integer_at(leaves, node) != 0) {
    return id >= 0 && id < f->leaves ? f->inner + id : -1;
  }
  return id > node && id < f->inner ? id : -1;
}

static nd4c_status pack_nodes(const nd4c_call *call, forest *f) {
  const nd4c_ref_tensor features = LIST(node_features), splits = LIST(node_splits), modes = LIST(node_modes),
                        true_ids = LIST(true_ids), true_leaves = LIST(true_leaves), false_ids = LIST(false_ids),
                        false_leaves = LIST(false_leaves), missing = LIST(missing_true);
  const int64_t columns = call->inputs[0].shape[1];
  const nd4c_dtype dtype = call->inputs[0].dtype;
  f->comparison = (int32_t)nd4c_value_load(ND4C_UINT8, modes.data, 0).u;
  for (int64_t i = 0; i < f->inner; i++) {
    const int64_t feature = integer_at(&features, i);
    const int64_t yes = child_of(f, &true_ids, &true_leaves, i), no = child_of(f, &false_ids, &false_leaves, i);
    if ((int32_t)nd4c_value_load(ND4C_UINT8, modes.data, i * modes.strides[0]).u != f->comparison ||
        f->comparison >= ND4C_TREE_COMPARISONS) {
      return refuse("its nodes compare in several ways, or by equality or sets");
    }
    if (feature < 0 || feature >= columns || yes < 0 || no < 0) {
      return refuse("a node comes after one below it, or an index is out of range");
    }
    const bool is_true = missing.data != NULL && integer_at(&missing, i) != 0;
    put_node(f, dtype, i, real_at(&splits, i), (uint32_t)feature | (is_true ? ND4C_TREE_NAN_IS_TRUE : 0), no, yes);
  }
  for (int64_t i = 0; i < f->leaves; i++) {
    put_node(f, dtype, f->inner + i, 0, 0, f->inner + i, f->inner + i);
  }
  return ND4C_OK;
}

static const int32_t *next_of(const forest *f, nd4c_dtype dtype, int64_t node) {
  return dtype == ND4C_FLOAT32 ? ((const nd4c_tree_node_float32 *)f->nodes)[node].next
                               : ((const nd4c_tree_node_float64 *)f->nodes)[node].next;
}

/* The longest way down from each node, found from the last node to the first. */
static nd4c_status find_depths(const nd4c_call *call, forest *f) {
  const nd4c_ref_tensor roots = LIST(roots);
  int32_t *below = nd4c_cpu_host->allocate((size_t)f->inner * sizeof *below);
  nd4c_status status = ND4C_OK;
  ND4C_CPU_FAIL_IF(below == NULL, ND4C_MEMORY, "tree_ensemble: no memory for %d depths", (int)f->inner);
  for (int32_t i = f->inner - 1; i >= 0; i--) {
    const int32_t *next = next_of(f, call->inputs[0].dtype, i);
    const int32_t no = next[0] < f->inner ? below[next[0]] : 0, yes = next[1] < f->inner ? below[next[1]] : 0;
    below[i] = 1 + (no > yes ? no : yes);
  }
  for (int32_t i = 0; i < f->trees && status == ND4C_OK; i++) {
    const int64_t root = integer_at(&roots, i);
    if (root < 0 || root >= f->inner) {
      status = refuse("a root is no node");
    } else {
      f->roots[i] = (int32_t)root;
      f->depths[i] = below[root];
    }
  }
  nd4c_cpu_host->free(below);
  return status;
}

static nd4c_status pack_leaves(const nd4c_call *call, int64_t entries, forest *f) {
  const nd4c_ref_tensor targets = LIST(leaf_targets), weights = LIST(leaf_weights), ends = LIST(leaf_ends);
  const int64_t count = ND4C_INT_OF(call, tree_ensemble_targets);
  const bool listed = is_given(call, ND4C_IN_tree_ensemble_leaf_ends);
  f->plain = count == 1;
  for (int64_t i = 0; i < entries; i++) {
    const int64_t target = integer_at(&targets, i);
    if (target < 0 || target >= count) {
      return refuse("a leaf's target is out of range");
    }
    f->targets[i] = (int32_t)target;
    f->weights[i] = real_at(&weights, i);
  }
  int64_t last = 0;
  for (int64_t i = 0; i < f->leaves; i++) {
    const int64_t end = listed ? integer_at(&ends, i) : i + 1;
    if (end < last || end > entries) {
      return refuse("the end of a leaf is out of range");
    }
    f->plain = f->plain && end == i + 1;
    f->ends[i] = (int32_t)end;
    last = end;
  }
  return ND4C_OK;
}

static void unprepare(void *state) {
  forest *f = state;
  nd4c_cpu_let_go(&f->held);
  nd4c_cpu_host->free(f);
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  forest *f = nd4c_cpu_host->allocate(sizeof *f);
  ND4C_CPU_FAIL_IF(f == NULL, ND4C_MEMORY, "tree_ensemble: no memory for its prepared state");
  const nd4c_tensor *ends = nd4c_cpu_input(call, ND4C_IN_tree_ensemble_leaf_ends);
  const int64_t entries = call->inputs[ND4C_IN_tree_ensemble_leaf_targets].size;
  *f = (forest){.inner = (int32_t)call->inputs[ND4C_IN_tree_ensemble_node_features].size,
                .leaves = (int32_t)(ends != NULL ? ends->size : entries),
                .trees = (int32_t)call->inputs[ND4C_IN_tree_ensemble_roots].size};
  nd4c_status status = reserve(call, entries, f);
  status = status == ND4C_OK ? pack_nodes(call, f) : status;
  status = status == ND4C_OK ? find_depths(call, f) : status;
  status = status == ND4C_OK ? pack_leaves(call, entries, f) : status;
  if (status != ND4C_OK) {
    unprepare(f);
    return status;
  }
  *state = f;
  return ND4C_OK;
}

/* -- a run -------------------------------------------------------------------------------------------------------- */

typedef struct tree_call {
  const forest *f;
  const nd4c_tensor *x, *y;
  nd4c_tree_walk walk;
  int64_t targets, aggregate;
} tree_call;

static void combine(double *target, double weight, int64_t aggregate) {
  if (aggregate == ND4C_TREE_AGGREGATE_MIN) {
    *target = weight < *target ? weight : *target;
  } else if (aggregate == ND4C_TREE_AGGREGATE_MAX) {
    *target = weight > *target ? weight : *target;
  } else {
    *target += weight;
  }
}

/* Adds what the leaves of a tree give, one leaf for each of `rows` rows. */
static void add_leaves(const tree_call *t, int32_t rows, const int32_t *at, double *sums) {
  const forest *f = t->f;
  const bool adds = t->aggregate == ND4C_TREE_AGGREGATE_SUM || t->aggregate == ND4C_TREE_AGGREGATE_AVERAGE;
  if (f->plain && adds) {
    for (int32_t i = 0; i < rows; i++) {
      sums[i] += f->weights[at[i] - f->inner];
    }
    return;
  }
  for (int32_t i = 0; i < rows; i++) {
    const int32_t leaf = at[i] - f->inner;
    for (int32_t entry = leaf > 0 ? f->ends[leaf - 1] : 0; entry < f->ends[leaf]; entry++) {
      combine(&sums[i * t->targets + f->targets[entry]], f->weights[entry], t->aggregate);
    }
  }
}

static void store(const tree_call *t, int64_t first, int32_t rows, const double *sums) {
  const double trees = t->aggregate == ND4C_TREE_AGGREGATE_AVERAGE && t->f->trees > 0 ? t->f->trees : 1;
  for (int64_t i = 0; i < rows * t->targets; i++) {
    const int64_t to = first * t->targets + i;
    if (t->y->dtype == ND4C_FLOAT32) {
      ((float *)t->y->data)[to] = (float)(sums[i] / trees);
    } else {
      ((double *)t->y->data)[to] = sums[i] / trees;
    }
  }
}

/* Blocks of ND4C_TREE_ROWS rows. */
static void run_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const tree_call *t = user;
  const int64_t columns = t->x->shape[1], row_bytes = columns * nd4c_cpu_dtype_bytes(t->x->dtype);
  const double limit = t->y->dtype == ND4C_FLOAT32 ? FLT_MAX : DBL_MAX;
  const double start = t->aggregate == ND4C_TREE_AGGREGATE_MIN   ? limit
                       : t->aggregate == ND4C_TREE_AGGREGATE_MAX ? -limit
                                                                 : 0;
  double sums[ND4C_TREE_ROWS * TARGETS_MOST];
  (void)worker;
  for (int64_t block = begin; block < end; block++) {
    const int64_t first = block * ND4C_TREE_ROWS, left = t->x->shape[0] - first;
    const int32_t rows = left < ND4C_TREE_ROWS ? (int32_t)left : ND4C_TREE_ROWS;
    const void *x = (const char *)t->x->data + first * row_bytes;
    for (int64_t i = 0; i < rows * t->targets; i++) {
      sums[i] = start;
    }
    for (int32_t tree = 0; tree < t->f->trees; tree++) {
      int32_t at[ND4C_TREE_ROWS];
      for (int32_t i = 0; i < rows; i++) {
        at[i] = t->f->roots[tree];
      }
      t->walk(t->f->nodes, t->f->depths[tree], x, columns, rows, at);
      add_leaves(t, rows, at, sums);
    }
    store(t, first, rows, sums);
  }
}

static nd4c_status run(const nd4c_call *call) {
  enum { BLOCK_NANOSECONDS = 8, GRAIN_NANOSECONDS = 20000 }; /* a step of the rows of a block */
  const forest *f = call->state;
  tree_call t = {.f = f,
                 .x = &call->inputs[0],
                 .y = &call->outputs[0],
                 .targets = ND4C_INT_OF(call, tree_ensemble_targets),
                 .aggregate = ND4C_INT_OF(call, tree_ensemble_aggregate)};
  t.walk = (t.x->dtype == ND4C_FLOAT32 ? nd4c_simd.trees->float32 : nd4c_simd.trees->float64)[f->comparison];
  int64_t steps = 1;
  for (int32_t i = 0; i < f->trees; i++) {
    steps += f->depths[i];
  }
  const int64_t grain = GRAIN_NANOSECONDS / (BLOCK_NANOSECONDS * steps);
  nd4c_cpu_parallel((t.x->shape[0] + ND4C_TREE_ROWS - 1) / ND4C_TREE_ROWS, grain < 1 ? 1 : grain, call->width,
                    run_range, &t);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  for (int32_t i = 1; i < call->input_count; i++) {
    const nd4c_tensor *list = nd4c_cpu_input(call, i);
    ND4C_CPU_DECLINE_IF(list != NULL && (list->flags & ND4C_TENSOR_CONSTANT) == 0, "the trees are not constant");
    ND4C_CPU_DECLINE_IF(list != NULL && list->size > NODES_MOST, "more than 2^30 nodes");
  }
  const nd4c_tensor *ends = nd4c_cpu_input(call, ND4C_IN_tree_ensemble_leaf_ends);
  const int64_t leaves = (ends != NULL ? ends : &call->inputs[ND4C_IN_tree_ensemble_leaf_targets])->size;
  const int64_t inner = call->inputs[ND4C_IN_tree_ensemble_node_features].size;
  ND4C_CPU_DECLINE_IF(inner == 0 || leaves == 0 || inner + leaves > NODES_MOST,
                      "no nodes or leaves, or more than 2^30");
  ND4C_CPU_DECLINE_IF(call->inputs[0].shape[1] > NODES_MOST, "more than 2^30 features");
  ND4C_CPU_DECLINE_IF(is_given(call, ND4C_IN_tree_ensemble_members), "nodes compare with sets");
  ND4C_CPU_DECLINE_IF(call->inputs[ND4C_IN_tree_ensemble_node_splits].dtype != call->inputs[0].dtype ||
                          call->outputs[0].dtype != call->inputs[0].dtype,
                      "x, splits and y are not of one dtype");
  ND4C_CPU_DECLINE_IF(ND4C_INT_OF(call, tree_ensemble_targets) > TARGETS_MOST, "more than %d targets",
                      (int)TARGETS_MOST);
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(&call->inputs[0]) || !nd4c_in_c_order(&call->outputs[0]),
                      "x or y has gaps between its elements");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_learning_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(tree_ensemble, ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64), usable, run,
                         .prepare = prepare, .unprepare = unprepare),
    NULL};
