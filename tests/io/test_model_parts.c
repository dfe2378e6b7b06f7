/* Models whose shapes depend on data: planned parts between interpreted nodes. */
#include <pthread.h>

#include "graph/plan.h"
#include "import/model_internal.h"
#include "model_parts.h"

enum { ROUNDS = 8, THREADS = 4 };

/* x [64, 64] through products, rows that the mask m [64] chooses, then products again. */
static void open_rows(example *e) {
  wire_bytes graph = {0};
  add_constants(&graph);
  build_nodes(&graph,
              "MatMul x w > a; Relu a > b; MatMul b v > c; NonZero m > z; Squeeze z v0 > i; Gather c i > r; "
              "MatMul r w > d; Relu d > f; MatMul f v > y");
  build_value(&graph, 11, "x", FLOAT, 2, square);
  build_value(&graph, 11, "m", FLOAT, 1, rows);
  build_value(&graph, 12, "y", FLOAT, 2, (const int64_t[]){-1, SIDE});
  open_graph(e, &graph, 13);
}

/* -- results --------------------------------------------------------------------------------------------------------
 */

/* The plan of part `number`, from 0. */
static nd4c_plan *part_plan(const nd4c_model *model, int32_t number) {
  nd4c_plan *const *plans = NULL;
  const int32_t count = nd4c_model_split_plans(model->plans->parts, &plans);
  for (int32_t i = 0; i < count; i++) {
    if (plans[i] != NULL && number-- == 0) {
      return plans[i];
    }
  }
  fail_msg("no such part");
  return NULL;
}

static int64_t bindings_made(const nd4c_plan *plan) {
  nd4c_plan_bindings bindings = {.struct_size = sizeof bindings};
  assert_int_equal(nd4c_plan_get_bindings(plan, &bindings), ND4C_OK);
  return bindings.made;
}

/* Other sizes bind the second part again; the model is not imported again, and makes no other plan. */
static void nonzero_lies_between_parts(void **state) {
  (void)state;
  static const int64_t counts[] = {5, 17, 5, 64, 1, 17};
  example e;
  open_rows(&e);
  nd4c_array *x = make_x(2, square);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    nd4c_array *m = make_mask(counts[i]);
    assert_int_equal(check_run(&e, x, m), counts[i]);
    nd4c_array_release(m);
  }
  expect_reported(e.model, "interpreted in part: 1 of 9 nodes, beside 2 planned parts\n");
  expect_reported(e.model, "part 1: 3 nodes; reads 'x'; gives 'c'\n");
  expect_reported(e.model, "interpreted: node 3 (NonZero): ");
  expect_reported(e.model, "part 2: 5 nodes; reads 'z', 'c'; gives 'y'\n");
  expect_reported(e.model, "did not serve the sizes: 0\n");
  assert_null(e.model->plans->next);
  assert_int_equal(bindings_made(part_plan(e.model, 1)), 4);
  nd4c_array_release(x);
  close_example(&e);
}

/* Nothing is found: the parts behind serve that, or are interpreted; never is it an error. */
static void nothing_is_found(void **state) {
  (void)state;
  example e;
  open_rows(&e);
  nd4c_array *x = make_x(2, square), *none = make_mask(0), *some = make_mask(3);
  assert_int_equal(check_run(&e, x, none), 0);
  assert_int_equal(check_run(&e, x, some), 3);
  assert_int_equal(check_run(&e, x, none), 0);
  nd4c_array_release(x);
  nd4c_array_release(none);
  nd4c_array_release(some);
  close_example(&e);
}

/* The boxes that are left of a convolution's. */
static void boxes_are_selected_behind_a_head(void **state) {
  (void)state;
  static const int64_t image[] = {1, 16, 16, 16}, kernel[] = {16, 16, 3, 3}, boxes[] = {1, 784, 4};
  static const float thresholds[] = {0.4F, 0.2F};
  const int64_t most = 50, shape[] = {3};
  wire_bytes graph = {0};
  example e;
  add_constants(&graph);
  add_noise(&graph, "k", 4, kernel, 3);
  build_initializer(&graph, "shape", INT64, 1, shape, boxes, sizeof boxes);
  build_initializer(&graph, "most", INT64, 1, one, &most, sizeof most);
  build_initializer(&graph, "iou", FLOAT, 1, one, &thresholds[0], sizeof(float));
  add_number(&graph, "v2", 1, 2);
  build_nodes(&graph,
              "Conv x k > c; Relu c > r; Reshape r shape > b; ReduceMax b v2 keepdims=0 > t; Unsqueeze t v1 > s; "
              "NonMaxSuppression b s most iou m > n; Gather n two axis=1 > i; Squeeze b v0 > q; Gather q i > y");
  build_value(&graph, 11, "x", FLOAT, 4, image);
  build_value(&graph, 11, "m", FLOAT, 1, one);
  build_value(&graph, 12, "y", FLOAT, 2, (const int64_t[]){-1, 4});
  open_graph(&e, &graph, 18);
  nd4c_array *x = make_x(4, image), *low = make_scalar(ND4C_FLOAT32, 0.2), *high = make_scalar(ND4C_FLOAT32, 100);
  assert_true(check_run(&e, x, low) > 0);
  assert_int_equal(check_run(&e, x, high), 0);
  expect_reported(e.model, "(NonMaxSuppression): ");
  expect_reported(e.model, "1 planned part\n");
  nd4c_array_release(x);
  nd4c_array_release(low);
  nd4c_array_release(high);
  close_example(&e);
}

/* Branches of different shapes: their rows are a dim of the part behind. */
static void branches_lie_between_parts(void **state) {
  (void)state;
  wire_bytes graph = {0}, yes = {0}, no = {0};
  example e;
  add_constants(&graph);
  build_nodes(&yes, "Concat b b axis=0 > p");
  build_name(&yes, 12, "p");
  build_nodes(&no, "Neg b > q");
  build_name(&no, 12, "q");
  build_nodes(&graph, "MatMul x w > a; Relu a > b");
  build_holder(&graph, "If m > c", "then_branch", &yes, "else_branch", &no);
  build_nodes(&graph, "MatMul c v > d; Relu d > y");
  build_value(&graph, 11, "x", FLOAT, 2, square);
  build_value(&graph, 11, "m", BOOL, 1, one);
  build_value(&graph, 12, "y", FLOAT, 2, (const int64_t[]){-1, SIDE});
  open_graph(&e, &graph, 13);
  nd4c_array *x = make_x(2, square), *on = make_scalar(ND4C_BOOL, 1), *off = make_scalar(ND4C_BOOL, 0);
  assert_int_equal(check_run(&e, x, on), 2 * SIDE);
  assert_int_equal(check_run(&e, x, off), SIDE);
  expect_reported(e.model, "interpreted in part: 1 of 5 nodes, beside 2 planned parts\n");
  expect_reported(e.model, "did not serve the sizes: 0\n");
  nd4c_array_release(x);
  nd4c_array_release(on);
  nd4c_array_release(off);
  close_example(&e);
}

/* A loop whose carried value grows by SIDE rows in each round, run with 0 to `most` - 1 rounds. declares: the body says
 * that the value keeps its shape. */
static void check_growing_loop(bool declares, int64_t most, const char *report) {
  wire_bytes graph = {0}, body = {0};
  example e;
  add_constants(&graph);
  /* a declaration counts where the body cannot be recorded */
  build_nodes(&body, declares ? "NonZero g > n" : "Neg g > n");
  build_nodes(&body, "Concat g b axis=0 > h; Identity on > go");
  build_name(&body, 11, "i");
  build_name(&body, 11, "on");
  build_name(&body, 11, "g");
  build_name(&body, 12, "go");
  if (declares) {
    build_value(&body, 12, "h", FLOAT, 2, square);
  } else {
    build_name(&body, 12, "h");
  }
  build_nodes(&graph, "MatMul x w > a; Relu a > b");
  build_holder(&graph, "Loop m - b > c", "body", &body, NULL, NULL);
  build_nodes(&graph, "MatMul c v > d; Relu d > y");
  build_value(&graph, 11, "x", FLOAT, 2, square);
  build_value(&graph, 11, "m", INT64, 1, one);
  build_value(&graph, 12, "y", FLOAT, 2, (const int64_t[]){-1, SIDE});
  open_graph(&e, &graph, 13);
  nd4c_array *x = make_x(2, square);
  for (int64_t trips = 0; trips < most; trips++) {
    nd4c_array *m = make_scalar(ND4C_INT64, (double)trips);
    assert_int_equal(check_run(&e, x, m), (trips + 1) * SIDE);
    nd4c_array_release(m);
  }
  expect_reported(e.model, report);
  expect_reported(e.model, "interpreted in part: 1 of 5 nodes, beside 2 planned parts\n");
  nd4c_array_release(x);
  close_example(&e);
}

static void loops_lie_between_parts(void **state) {
  (void)state;
  check_growing_loop(false, 4, "did not serve the sizes: 0\n");
}

/* What the import foresaw does not come true: the file declares a shape that the loop's result has in one run only. */
static void declarations_may_be_wrong(void **state) {
  (void)state;
  check_growing_loop(true, 3, "did not serve the sizes: 2\n");
}

/* Sizes that the model leaves free, and sizes that data decides, are dims of the same parts. What the file computes
 * from shapes goes past the interpreted node. */
static void free_sizes_pass_interpreted_nodes(void **state) {
  (void)state;
  static const int64_t free_rows[] = {-1, SIDE};
  wire_bytes graph = {0};
  example e;
  add_constants(&graph);
  add_number(&graph, "v_1", 1, -1);
  build_nodes(
      &graph,
      "MatMul x w > a; Relu a > b; MatMul b v > c; Shape c > s; NonZero m > z; Squeeze z v0 > i; Gather w i > g; "
      "MatMul g v > h; Relu h > j; MatMul j w > k; ReduceSum k v0 keepdims=1 > l; Add c l > n; Shape i > t; "
      "Concat s t axis=0 > u; ReduceProd u keepdims=1 > o; Cast o to=1 > p; MatMul n v > q; Div q p > r; "
      "Reshape r s > y");
  build_value(&graph, 11, "x", FLOAT, 2, free_rows);
  build_value(&graph, 11, "m", FLOAT, 1, rows);
  build_value(&graph, 12, "y", FLOAT, 2, free_rows);
  open_graph(&e, &graph, 13);
  for (int64_t n = 30; n < 34; n++) {
    nd4c_array *x = make_x(2, (const int64_t[]){n, SIDE}), *m = make_mask(n % 3 + 2);
    assert_int_equal(check_run(&e, x, m), n);
    nd4c_array_release(x);
    nd4c_array_release(m);
  }
  expect_reported(e.model, "did not serve the sizes: 0\n");
  assert_null(e.model->plans->next);
  nd4c_array_release(NULL);
  close_example(&e);
}

/* -- failures -------------------------------------------------------------------------------------------------------
 */

/* x through products, into the shape of data m, and on. */
static void open_shaped(example *e, const char *between, int type, const int64_t *shape) {
  wire_bytes graph = {0};
  add_constants(&graph);
  build_nodes(&graph, "MatMul x w > a; Relu a > b; MatMul b v > c");
  build_nodes(&graph, between);
  build_nodes(&graph, "MatMul d v > f; Relu f > g; MatMul g w > y");
  build_value(&graph, 11, "x", FLOAT, 2, square);
  build_value(&graph, 11, "m", type, 1, shape);
  build_value(&graph, 12, "y", FLOAT, 2, (const int64_t[]){-1, SIDE});
  open_graph(e, &graph, 13);
}

/* Failures name the node, in an interpreted node and in a part, and the model runs again. */
static void failures_name_the_node(void **state) {
  (void)state;
  static const int64_t pair[] = {2};
  static const struct {
    const char *between, *named;
    int64_t good[2], bad[2];
  } cases[] = {
      {"Reshape c m > d", "(Reshape)", {SIDE, SIDE}, {3, SIDE}},
      {"NonZero m > z; Gather c m > e; Squeeze z v0 > i; Gather e i > d", "ather", {1, 2}, {1, SIDE + 7}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    example e;
    nd4c_array *y = NULL, *x = make_x(2, square), *good = NULL, *bad = NULL;
    open_shaped(&e, cases[i].between, INT64, pair);
    assert_int_equal(nd4c_array_zeros(ND4C_INT64, 1, pair, NULL, &good), ND4C_OK);
    assert_int_equal(nd4c_array_zeros(ND4C_INT64, 1, pair, NULL, &bad), ND4C_OK);
    assert_int_equal(nd4c_array_write(good, cases[i].good, sizeof cases[i].good), ND4C_OK);
    assert_int_equal(nd4c_array_write(bad, cases[i].bad, sizeof cases[i].bad), ND4C_OK);
    (void)check_run(&e, x, good);
    expect_reported(e.model, "beside 2 planned parts\n");
    const nd4c_status whole = run_model(e.whole, x, bad, &y), parts = run_model(e.model, x, bad, &y);
    assert_int_not_equal(parts, ND4C_OK);
    assert_int_equal(parts, whole);
    assert_null(y);
    assert_non_null(strstr(nd4c_error_message(), cases[i].named));
    (void)check_run(&e, x, good);
    nd4c_array_release(x);
    nd4c_array_release(good);
    nd4c_array_release(bad);
    close_example(&e);
  }
}

typedef struct stopper {
  nd4c_cancellation *cancellation;
  int begun, stop_at; /* parts whose first step was told */
} stopper;

static void stop_later(void *user, const char *what, int64_t done, int64_t total) {
  stopper *s = user;
  (void)total;
  s->begun += strcmp(what, "running") == 0 && done == 0;
  if (s->begun == s->stop_at) {
    (void)nd4c_cancellation_request(s->cancellation);
  }
}

/* A cancellation ends the run in any of the parts; without it the model runs on. */
static void cancellations_end_parts(void **state) {
  (void)state;
  example e;
  open_rows(&e);
  nd4c_array *x = make_x(2, square), *m = make_mask(9), *y = NULL;
  (void)check_run(&e, x, m);
  for (int part = 1; part <= 2; part++) {
    stopper s = {.stop_at = part};
    assert_int_equal(nd4c_cancellation_create(&s.cancellation), ND4C_OK);
    assert_int_equal(nd4c_cancellation_enter(s.cancellation), ND4C_OK);
    nd4c_model_set_progress(e.model, stop_later, &s);
    assert_int_equal(run_model(e.model, x, m, &y), ND4C_CANCELLED);
    assert_null(y);
    assert_int_equal(s.begun, part);
    nd4c_model_set_progress(e.model, NULL, NULL);
    assert_int_equal(nd4c_cancellation_leave(s.cancellation), ND4C_OK);
    nd4c_cancellation_destroy(s.cancellation);
    (void)check_run(&e, x, m);
  }
  nd4c_array_release(x);
  nd4c_array_release(m);
  close_example(&e);
}

/* -- several callers ------------------------------------------------------------------------------------------------
 */

typedef struct caller {
  pthread_t thread;
  nd4c_model *model;
  const nd4c_array *x;
  nd4c_array *masks[ROUNDS], *expected[ROUNDS];
  int wrong;
} caller;

static void *call(void *user) {
  caller *c = user;
  for (int i = 0; i < ROUNDS; i++) {
    nd4c_array *y = NULL;
    const bool right = run_model(c->model, c->x, c->masks[i], &y) == ND4C_OK && are_close(y, c->expected[i]);
    c->wrong += !right;
    nd4c_array_release(y);
  }
  return NULL;
}

static void several_callers_run_at_once(void **state) {
  (void)state;
  example e;
  caller callers[THREADS];
  open_rows(&e);
  nd4c_array *x = make_x(2, square);
  for (int i = 0; i < THREADS; i++) {
    callers[i] = (caller){.model = e.model, .x = x};
    for (int k = 0; k < ROUNDS; k++) {
      callers[i].masks[k] = make_mask((i * ROUNDS + k * 5) % 11); /* 0 among them */
      assert_int_equal(run_model(e.whole, x, callers[i].masks[k], &callers[i].expected[k]), ND4C_OK);
    }
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
    assert_int_equal(callers[i].wrong, 0);
    for (int k = 0; k < ROUNDS; k++) {
      nd4c_array_release(callers[i].masks[k]);
      nd4c_array_release(callers[i].expected[k]);
    }
  }
  nd4c_array_release(x);
  close_example(&e);
}

/* -- looking at parts -----------------------------------------------------------------------------------------------
 */

static void shows_parts(void **state) {
  (void)state;
  example e;
  nd4c_graph *graphs[2] = {NULL, NULL}, *whole = NULL;
  int32_t count = 0;
  char *text = NULL;
  open_rows(&e);
  assert_int_equal(nd4c_model_graph(e.model, NULL, NULL, NULL, &whole), ND4C_UNSUPPORTED);
  assert_int_equal(nd4c_model_parts(e.model, NULL, NULL, NULL, NULL, 0, &count, &text), ND4C_OK);
  assert_int_equal(count, 2);
  assert_non_null(strstr(text, "interpreted: node 3 (NonZero): "));
  nd4c_free(text);
  assert_int_equal(nd4c_model_parts(e.model, NULL, NULL, NULL, graphs, 2, &count, &text), ND4C_OK);
  nd4c_free(text);
  assert_int_equal(nd4c_graph_dim_count(graphs[0]), 0);
  assert_int_equal(nd4c_graph_dim_count(graphs[1]), 1);
  assert_string_equal(nd4c_graph_dim_name(graphs[1], 0), "z.1");
  assert_int_equal(nd4c_model_parts(e.model, NULL, NULL, NULL, NULL, 1, &count, &text), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_model_parts(e.model, NULL, NULL, NULL, graphs, -1, &count, &text), ND4C_ARGUMENT);
  nd4c_graph_destroy(graphs[0]);
  nd4c_graph_destroy(graphs[1]);
  close_example(&e);
}

/* Steps and nodes of the parts follow one another. Returns how many nodes the steps name. */
static int32_t check_profile(const example *e, int least_products) {
  int32_t count = 0, nodes = 0;
  int products = 0;
  nd4c_array *x = make_x(2, square), *m = make_mask(9);
  (void)check_run(e, x, m);
  assert_int_equal(nd4c_model_profile(e->model, true), ND4C_OK);
  (void)check_run(e, x, m);
  assert_int_equal(nd4c_model_step_count(e->model, &count), ND4C_OK);
  for (int32_t i = 0; i < count; i++) {
    nd4c_step_info step = {.struct_size = sizeof step};
    nd4c_node_info node = {.struct_size = sizeof node};
    assert_int_equal(nd4c_model_get_step(e->model, i, &step), ND4C_OK);
    assert_true(step.first_node >= nodes); /* a view between two steps has a number, too */
    nodes = step.first_node + step.node_count;
    assert_int_equal(nd4c_model_get_node(e->model, step.first_node, &node), ND4C_OK);
    products += strstr(node.label, "MatMul") != NULL || strstr(node.op->name, "matmul") != NULL ||
                strstr(node.op->name, "linear") != NULL;
    assert_int_equal(step.runs, 1);
  }
  assert_true(products >= least_products);
  nd4c_step_info none = {.struct_size = sizeof none};
  assert_int_equal(nd4c_model_get_step(e->model, count, &none), ND4C_INDEX);
  assert_int_equal(nd4c_model_get_step(e->model, -1, &none), ND4C_INDEX);
  nd4c_array_release(x);
  nd4c_array_release(m);
  return nodes;
}

static void parts_have_a_profile(void **state) {
  (void)state;
  example e;
  open_rows(&e);
  assert_int_equal(check_profile(&e, 4), 8);
  close_example(&e);
}

/* Steps of the second part name nodes behind those of the first one, a single step. */
static void check_places(const nd4c_model *model) {
  static const struct {
    const char *op;
    int32_t step; /* -1: a view, which no step names */
  } nodes[] = {{"matmul", 0}, {"squeeze", -1}, {"gather", 1}, {"matmul", 2}, {"matmul", 3}};
  for (int32_t i = 0; i < (int32_t)(sizeof nodes / sizeof *nodes); i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    nd4c_step_info step = {.struct_size = sizeof step};
    assert_int_equal(nd4c_model_get_node(model, i, &node), ND4C_OK);
    assert_string_equal(node.op->name, nodes[i].op);
    if (nodes[i].step >= 0) {
      assert_int_equal(nd4c_model_get_step(model, nodes[i].step, &step), ND4C_OK);
      assert_int_equal(step.first_node, i);
      assert_int_equal(step.node_count, 1);
    }
  }
}

static void a_part_of_one_node_has_a_profile(void **state) {
  (void)state;
  wire_bytes graph = {0};
  example e;
  add_constants(&graph);
  build_nodes(&graph,
              "MatMul x w > a; NonZero m > z; Squeeze z v0 > i; Gather a i > r; MatMul r w > d; MatMul d v > y");
  build_value(&graph, 11, "x", FLOAT, 2, square);
  build_value(&graph, 11, "m", FLOAT, 1, rows);
  build_value(&graph, 12, "y", FLOAT, 2, (const int64_t[]){-1, SIDE});
  open_graph(&e, &graph, 13);
  assert_int_equal(check_profile(&e, 3), 5);
  check_places(e.model);
  expect_reported(e.model, "part 1: 1 nodes;");
  close_example(&e);
}

/* The thread's latest failure stays its latest one, whatever succeeds after it. */
static void runs_that_succeed_leave_the_error(void **state) {
  (void)state;
  example e;
  nd4c_array *y = NULL;
  open_rows(&e);
  nd4c_array *x = make_x(2, square), *m = make_mask(9);
  (void)check_run(&e, x, m);
  assert_int_equal(nd4c_model_profile(NULL, true), ND4C_NULL_ARGUMENT);
  assert_int_equal(run_model(e.model, x, m, &y), ND4C_OK);
  assert_int_equal(nd4c_error_code(), ND4C_NULL_ARGUMENT);
  nd4c_array_release(y);
  nd4c_array_release(x);
  nd4c_array_release(m);
  close_example(&e);
}

/* Too little to plan: the model is interpreted as a whole. */
static void small_models_have_no_parts(void **state) {
  (void)state;
  wire_bytes graph = {0};
  example e;
  int32_t count = 1;
  char *text = NULL;
  add_constants(&graph);
  build_nodes(&graph, "NonZero m > z; Squeeze z v0 > i; Gather x i > y");
  build_value(&graph, 11, "x", FLOAT, 2, square);
  build_value(&graph, 11, "m", FLOAT, 1, rows);
  build_value(&graph, 12, "y", FLOAT, 2, (const int64_t[]){-1, SIDE});
  open_graph(&e, &graph, 13);
  nd4c_array *x = make_x(2, square), *m = make_mask(9);
  assert_int_equal(check_run(&e, x, m), 9);
  expect_reported(e.model, "interpreted, node after node, since the model is no graph: node 0 (NonZero): ");
  assert_int_equal(nd4c_model_parts(e.model, NULL, NULL, NULL, NULL, 0, &count, &text), ND4C_OK);
  assert_int_equal(count, 0);
  nd4c_free(text);
  nd4c_array_release(x);
  nd4c_array_release(m);
  close_example(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nonzero_lies_between_parts),
                                     cmocka_unit_test(nothing_is_found),
                                     cmocka_unit_test(boxes_are_selected_behind_a_head),
                                     cmocka_unit_test(branches_lie_between_parts),
                                     cmocka_unit_test(loops_lie_between_parts),
                                     cmocka_unit_test(declarations_may_be_wrong),
                                     cmocka_unit_test(free_sizes_pass_interpreted_nodes),
                                     cmocka_unit_test(failures_name_the_node),
                                     cmocka_unit_test(cancellations_end_parts),
                                     cmocka_unit_test(several_callers_run_at_once),
                                     cmocka_unit_test(shows_parts),
                                     cmocka_unit_test(parts_have_a_profile),
                                     cmocka_unit_test(a_part_of_one_node_has_a_profile),
                                     cmocka_unit_test(runs_that_succeed_leave_the_error),
                                     cmocka_unit_test(small_models_have_no_parts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
