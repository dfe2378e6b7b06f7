/* Ensembles of trees whose nodes are constants: what engine simd packs, and what it leaves to the reference. Results
 * are those of the reference bit by bit. */
#include <math.h>

#include "graph_check.h"

enum { FEATURES = 5, TREES_MOST = 7, NODES_MOST = 400, LISTS = 13 };

/* What a case draws. `mode` -1: each node another one. */
typedef struct forest_case {
  nd4c_dtype dtype;
  int mode;
  int64_t rows, targets;
  bool missing, listed, shuffled;
  const char *engine;
} forest_case;

typedef struct forest {
  uint64_t random;
  int64_t features[NODES_MOST], ids[2][NODES_MOST], leaf_flags[2][NODES_MOST], targets[2 * NODES_MOST],
      roots[TREES_MOST];
  int64_t missing[NODES_MOST], ends[NODES_MOST];
  double splits[NODES_MOST], weights[2 * NODES_MOST];
  unsigned char modes[NODES_MOST];
  int64_t nodes, leaves, entries;
} forest;

static int64_t below(forest *f, int64_t limit) {
  return (int64_t)(check_random(&f->random) % (uint64_t)limit);
}

static int64_t grow_leaf(forest *f, const forest_case *c) {
  const int64_t entries = c->listed ? below(f, 3) : 1;
  for (int64_t i = 0; i < entries; i++) {
    f->targets[f->entries] = below(f, c->targets);
    f->weights[f->entries++] = (double)(below(f, 33) - 16) / 4;
  }
  f->ends[f->leaves] = f->entries;
  return f->leaves++;
}

static int64_t grow(forest *f, const forest_case *c, int depth) { /* NOLINT(misc-no-recursion) */
  const int64_t node = f->nodes++;
  f->features[node] = below(f, FEATURES);
  f->splits[node] = (double)(below(f, 9) - 4) / 2;
  f->modes[node] = (unsigned char)(c->mode < 0 ? below(f, 6) : c->mode);
  f->missing[node] = below(f, 2);
  for (int side = 0; side < 2; side++) {
    const bool is_leaf = depth == 1 || below(f, 4) == 0;
    f->leaf_flags[side][node] = is_leaf;
    f->ids[side][node] = is_leaf ? grow_leaf(f, c) : grow(f, c, depth - 1);
  }
  return node;
}

static nd4c_array *shaped(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const double *from) {
  nd4c_array *wide = NULL, *made = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT64, rank, shape, from, NULL, &wide), ND4C_OK);
  assert_int_equal(nd4c_cast(wide, dtype, &made), ND4C_OK);
  nd4c_array_release(wide);
  return made;
}

static nd4c_array *floats(nd4c_dtype dtype, int64_t count, const double *from) {
  return shaped(dtype, 1, &count, from);
}

static nd4c_array *list(nd4c_dtype dtype, int64_t count, const void *from) {
  nd4c_array *made = NULL;
  assert_int_equal(nd4c_array_from_data(dtype, 1, &count, from, NULL, &made), ND4C_OK);
  return made;
}

/* Half numbers between -3 and 3, some of them NaN and infinite. */
static nd4c_array *make_rows(forest *f, const forest_case *c) {
  double numbers[64 * FEATURES];
  for (int64_t i = 0; i < c->rows * FEATURES; i++) {
    const int64_t draw = below(f, 20);
    numbers[i] = draw == 0 ? NAN : draw == 1 ? INFINITY : (double)(below(f, 13) - 6) / 2;
  }
  return shaped(c->dtype, 2, (const int64_t[]){c->rows, FEATURES}, numbers);
}

/* The op's inputs; NULL for one that is left out. */
static void make_inputs(forest *f, const forest_case *c, nd4c_array **inputs) {
  for (int tree = 0; tree < TREES_MOST; tree++) {
    f->roots[tree] = grow(f, c, 1 + tree % 5);
  }
  if (c->shuffled) { /* a node that stands after one below it */
    const int64_t last = f->nodes++;
    f->features[last] = f->missing[last] = 0;
    f->modes[last] = f->modes[0];
    for (int side = 0; side < 2; side++) {
      f->ids[side][last] = 0;
      f->leaf_flags[side][last] = 0;
    }
    f->roots[0] = last;
  }
  inputs[0] = make_rows(f, c);
  inputs[1] = list(ND4C_INT64, f->nodes, f->features);
  inputs[2] = floats(c->dtype, f->nodes, f->splits);
  inputs[3] = list(ND4C_UINT8, f->nodes, f->modes);
  for (int side = 0; side < 2; side++) {
    inputs[4 + 2 * side] = list(ND4C_INT64, f->nodes, f->ids[side]);
    inputs[5 + 2 * side] = list(ND4C_INT64, f->nodes, f->leaf_flags[side]);
  }
  inputs[8] = list(ND4C_INT64, f->entries, f->targets);
  inputs[9] = floats(c->dtype, f->entries, f->weights);
  inputs[10] = list(ND4C_INT64, TREES_MOST, f->roots);
  inputs[11] = c->missing ? list(ND4C_INT64, f->nodes, f->missing) : NULL;
  inputs[12] = NULL;
  inputs[13] = c->listed ? list(ND4C_INT64, f->leaves, f->ends) : NULL;
}

static void check_case(const forest_case *c, int64_t aggregate, uint64_t seed) {
  forest *f = calloc(1, sizeof *f);
  nd4c_array *inputs[LISTS + 1], *expected = NULL, *actual = NULL;
  nd4c_value values[LISTS + 1], last = 0;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  char *report = NULL;
  assert_non_null(f);
  f->random = seed;
  make_inputs(f, c, inputs);
  const nd4c_attr attrs[] = {check_int("targets", c->targets), check_int("aggregate", aggregate)};
  assert_int_equal(
      nd4c_op_call(NULL, ND4C_OP_tree_ensemble, (const nd4c_array *const *)inputs, LISTS + 1, attrs, 2, &expected, 1),
      ND4C_OK);
  assert_int_equal(nd4c_graph_create(&graph), ND4C_OK);
  assert_int_equal(nd4c_graph_input(graph, "x", c->dtype, 2, inputs[0]->shape, &values[0]), ND4C_OK);
  for (int i = 1; i <= LISTS; i++) {
    values[i] = ND4C_VALUE_NONE;
    if (inputs[i] != NULL) {
      assert_int_equal(nd4c_graph_constant(graph, inputs[i], &values[i]), ND4C_OK);
    }
  }
  assert_int_equal(nd4c_graph_op(graph, ND4C_OP_tree_ensemble, values, LISTS + 1, attrs, 2, NULL, &last, 1), ND4C_OK);
  assert_int_equal(nd4c_graph_output(graph, "y", last), ND4C_OK);
  assert_int_equal(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_OK);
  assert_int_equal(nd4c_plan_report(plan, &report), ND4C_OK);
  if (strstr(report, c->engine) == NULL) {
    fail_msg("expected %s in: %s", c->engine, report);
  }
  assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 1, &actual, 1), ND4C_OK);
  assert_int_equal(actual->size, c->rows * c->targets);
  assert_memory_equal(actual->storage->address, expected->storage->address,
                      (size_t)nd4c_dtype_bytes(c->dtype, actual->size));
  nd4c_free(report);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  for (int i = 0; i <= LISTS; i++) {
    nd4c_array_release(inputs[i]);
  }
  nd4c_array_release(expected);
  nd4c_array_release(actual);
  free(f);
}

static const char SIMD[] = "simd simd.tree_ensemble", REFERENCE[] = "reference reference.tree_ensemble";

static void results_are_those_of_the_reference(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 15, 16, 17, 64};
  uint64_t seed = 1;
  for (int mode = 0; mode < 4; mode++) {
    for (int i = 0; i < 40; i++) {
      const forest_case c = {.dtype = i % 2 == 0 ? ND4C_FLOAT32 : ND4C_FLOAT64,
                             .mode = mode,
                             .rows = rows[i % 5],
                             .targets = 1 + i / 4 % 3,
                             .missing = i / 2 % 2 != 0,
                             .listed = i % 3 == 0,
                             .engine = SIMD};
      check_case(&c, i % 4, seed++);
    }
  }
}

static void what_is_left_to_the_reference(void **state) {
  (void)state;
  const forest_case cases[] = {
      {.dtype = ND4C_FLOAT32, .mode = -1, .rows = 20, .targets = 1, .engine = REFERENCE},
      {.dtype = ND4C_FLOAT32, .mode = 4, .rows = 20, .targets = 2, .engine = REFERENCE},
      {.dtype = ND4C_FLOAT32, .mode = 1, .rows = 20, .targets = 65, .engine = REFERENCE},
      {.dtype = ND4C_FLOAT64, .mode = 1, .rows = 20, .targets = 1, .shuffled = true, .engine = REFERENCE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_case(&cases[i], ND4C_TREE_AGGREGATE_SUM, 1000 + i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(results_are_those_of_the_reference),
                                     cmocka_unit_test(what_is_left_to_the_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
