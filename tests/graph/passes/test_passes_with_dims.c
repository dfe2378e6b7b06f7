/* Passes on graphs with dims: what they rewrite there and what they leave alone, what is said about them, and that the
 * graph that they leave can be bound. tests/graph/random_graphs compares results at several sizes. */
#include "graph/graph_check.h"

#include "graph/ir/cost.h"

static nd4c_graph *make_graph_of(const char *dim, int64_t low, int64_t *extent) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, dim, low, -1, extent));
  return graph;
}

static nd4c_graph *make_graph(int64_t low, int64_t *batch) {
  return make_graph_of("batch", low, batch);
}

static nd4c_graph *optimise(const nd4c_graph *graph) {
  nd4c_graph *optimised = NULL;
  CHECK_OK(nd4c_graph_optimize(graph, NULL, NULL, &optimised));
  return optimised;
}

static nd4c_graph *bind(const nd4c_graph *graph, int64_t batch) {
  nd4c_graph *bound = NULL;
  const char *name = "batch";
  CHECK_OK(nd4c_graph_bind(graph, &name, &batch, 1, &bound));
  return bound;
}

/* "conv + gelu": the ops of all nodes. */
static const char *ops_of(const nd4c_graph *graph, char *text, size_t size) {
  text[0] = '\0';
  for (int32_t i = 0; i < graph->node_count; i++) {
    const size_t length = strlen(text);
    (void)snprintf(text + length, size - length, "%s%s", i > 0 ? " + " : "", graph->nodes[i].def->info.name);
  }
  return text;
}

static void assert_ops(const nd4c_graph *graph, const char *expected) {
  char text[512];
  assert_string_equal(ops_of(graph, text, sizeof text), expected);
}

/* Both graphs give nearly the same for the same inputs. */
static void assert_agree(const nd4c_graph *a, const nd4c_graph *b) {
  nd4c_array *inputs[CHECK_PORTS] = {NULL}, *left[CHECK_PORTS] = {NULL}, *right[CHECK_PORTS] = {NULL};
  check_make_inputs(a, 3, inputs);
  check_evaluate(a, inputs, left);
  check_evaluate(b, inputs, right);
  for (int32_t i = 0; i < a->outputs.count; i++) {
    assert_true(check_difference(left[i], right[i]) < 1e-5);
  }
  check_release(inputs, a->inputs.count);
  check_release(left, a->outputs.count);
  check_release(right, a->outputs.count);
}

/* -- rewriting ----------------------------------------------------------------------------------------------------- */

/* A layer of a network: heads are split by reshapes, one place is picked, and its bias follows. */
static nd4c_graph *make_layer(nd4c_value *y) {
  int64_t batch = 0, index = 1;
  nd4c_graph *graph = make_graph(1, &batch);
  nd4c_value x = check_input(graph, "x", 3, (int64_t[]){batch, 6, 8});
  nd4c_attr first = check_ints("shape", (int64_t[]){batch, 6, 2, 4}, 4);
  nd4c_attr second = check_ints("shape", (int64_t[]){batch, 48}, 2);
  nd4c_value heads = check_op(graph, ND4C_OP_reshape, &x, 1, &first, 1);
  nd4c_value flat = check_op(graph, ND4C_OP_reshape, &heads, 1, &second, 1);
  nd4c_value product =
      check_binary(graph, ND4C_OP_matmul, flat, check_constant(graph, 2, (int64_t[]){48, 5}, 1, -1, 1));
  nd4c_value sum = check_binary(graph, ND4C_OP_add, product, check_constant(graph, 1, (int64_t[]){5}, 2, -1, 1));
  nd4c_array *number = check_array(ND4C_INT64, 0, NULL, 1, 1, 1);
  nd4c_value picked = ND4C_VALUE_NONE;
  nd4c_attr axis = check_int("axis", index);
  CHECK_OK(nd4c_graph_constant(graph, number, &picked));
  nd4c_array_release(number);
  nd4c_value place = check_op(graph, ND4C_OP_gather, (nd4c_value[]){x, picked}, 2, &axis, 1);
  *y = check_unary(graph, ND4C_OP_relu, sum);
  CHECK_OK(nd4c_graph_output(graph, "y", *y));
  CHECK_OK(nd4c_graph_output(graph, "place", place));
  return graph;
}

static void layers_are_rewritten(void **state) {
  (void)state;
  nd4c_value y = ND4C_VALUE_NONE;
  nd4c_graph *graph = make_layer(&y), *optimised = optimise(graph);
  assert_ops(optimised, "reshape + select + linear");
  assert_int_equal(nd4c_graph_dim_count(optimised), 1);
  for (int64_t batch = 1; batch <= 7; batch += 3) {
    nd4c_graph *plain = bind(graph, batch), *bound = bind(optimised, batch);
    assert_int_equal(nd4c_graph_output_value(bound, 0), y); /* values keep their numbers */
    assert_string_equal(bound->nodes[2].fused, "matmul + add + relu");
    assert_agree(plain, bound);
    nd4c_graph_destroy(plain);
    nd4c_graph_destroy(bound);
  }
  nd4c_graph_destroy(optimised);
  nd4c_graph_destroy(graph);
}

/* softmax(q k^T / 4 + mask) v with heads, of any batch and number of places. */
static void attention_is_recognised(void **state) {
  (void)state;
  int64_t batch = 0, time = 0;
  nd4c_graph *graph = make_graph(1, &batch), *optimised = NULL;
  CHECK_OK(nd4c_graph_dim(graph, "time", 1, -1, &time));
  const int64_t shape[] = {batch, 3, time, 16};
  nd4c_attr turn = check_ints("axes", (int64_t[]){0, 1, 3, 2}, 4);
  nd4c_value q = check_input(graph, "q", 4, shape), k = check_input(graph, "k", 4, shape);
  nd4c_value v = check_input(graph, "v", 4, shape);
  nd4c_value mask = check_input(graph, "mask", 4, (int64_t[]){batch, 1, 1, time});
  nd4c_value product = check_binary(graph, ND4C_OP_matmul, q, check_op(graph, ND4C_OP_transpose, &k, 1, &turn, 1));
  nd4c_value scaled = check_binary(graph, ND4C_OP_divide, product, check_scalar(graph, 4));
  nd4c_value shares = check_unary(graph, ND4C_OP_softmax, check_binary(graph, ND4C_OP_add, scaled, mask));
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_matmul, shares, v)));
  optimised = optimise(graph);
  assert_ops(optimised, "attention");
  const char *names[] = {"batch", "time"};
  nd4c_graph *plain = NULL, *bound = NULL;
  CHECK_OK(nd4c_graph_bind(graph, names, (int64_t[]){2, 9}, 2, &plain));
  CHECK_OK(nd4c_graph_bind(optimised, names, (int64_t[]){2, 9}, 2, &bound));
  assert_agree(plain, bound);
  nd4c_graph_destroy(plain);
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(optimised);
  nd4c_graph_destroy(graph);
}

/* A constant that is broadcast to the batch has no size yet. */
static void constants_of_unknown_size_are_not_folded(void **state) {
  (void)state;
  int64_t batch = 0;
  nd4c_graph *graph = make_graph(1, &batch);
  nd4c_value table = check_constant(graph, 2, (int64_t[]){1, 4}, 1, -1, 1);
  nd4c_attr shape = check_ints("shape", (int64_t[]){batch, 4}, 2);
  nd4c_value folded = check_unary(graph, ND4C_OP_exp, check_unary(graph, ND4C_OP_negative, table));
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_broadcast_to, &folded, 1, &shape, 1)));
  nd4c_graph *optimised = optimise(graph), *bound = bind(optimised, 3), *plain = bind(graph, 3);
  assert_ops(optimised, "broadcast_to");
  assert_agree(plain, bound);
  nd4c_graph_destroy(plain);
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(optimised);
  nd4c_graph_destroy(graph);
}

/* Along the batch, an index that the least batch has is a view; the other one may be out of range. */
static void indices_must_be_in_range_of_every_size(void **state) {
  (void)state;
  int64_t batch = 0;
  nd4c_graph *graph = make_graph(2, &batch);
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){batch, 4});
  const int64_t numbers[] = {1, -2, 2, -3};
  for (int32_t i = 0; i < 4; i++) {
    nd4c_array *array = NULL;
    nd4c_value index = ND4C_VALUE_NONE;
    char name[] = {(char)('a' + i), '\0'};
    CHECK_OK(nd4c_array_scalar(ND4C_INT64, (double)numbers[i], NULL, &array));
    CHECK_OK(nd4c_graph_constant(graph, array, &index));
    nd4c_array_release(array);
    CHECK_OK(nd4c_graph_output(graph, name, check_binary(graph, ND4C_OP_gather, x, index)));
  }
  nd4c_graph *optimised = optimise(graph), *bound = bind(optimised, 5), *plain = bind(graph, 5);
  assert_ops(optimised, "select + select + gather + gather");
  assert_agree(plain, bound);
  nd4c_graph_destroy(plain);
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(optimised);
  nd4c_graph_destroy(graph);
}

/* A rewrite that would serve fewer sizes than the recorded graph is none. */
static void rewrites_assume_nothing_new(void **state) {
  (void)state;
  int64_t batch = 0, other = 0;
  nd4c_context *context = NULL;
  nd4c_rewrite rewrite;
  bool done = true;
  nd4c_graph *graph = make_graph(1, &batch);
  CHECK_OK(nd4c_graph_dim(graph, "other", 1, -1, &other));
  nd4c_value x = check_input(graph, "x", 1, &batch), y = check_input(graph, "y", 1, &other);
  CHECK_OK(nd4c_graph_output(graph, "sum", check_binary(graph, ND4C_OP_add, x, x)));
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  CHECK_OK(nd4c_rewrite_begin(&rewrite, graph, context));
  const nd4c_value inputs[] = {x, y};
  CHECK_OK(nd4c_rewrite_node(&rewrite, 0, ND4C_OP_add, inputs, 2, NULL, NULL, &done));
  assert_false(done);
  assert_int_equal(nd4c_extents_guard_count(graph->extents), 0);
  CHECK_OK(nd4c_rewrite_node(&rewrite, 0, ND4C_OP_multiply, (nd4c_value[]){x, x}, 2, NULL, NULL, &done));
  assert_true(done);
  CHECK_OK(nd4c_rewrite_end(&rewrite));
  nd4c_graph_destroy(graph);
}

/* The guard of a node that a pass has removed is checked all the same, also if some dims stay. */
static void guards_outlive_their_nodes(void **state) {
  (void)state;
  int64_t batch = 0, other = 0;
  nd4c_graph *graph = make_graph(1, &batch), *half = NULL, *bound = NULL;
  CHECK_OK(nd4c_graph_dim(graph, "other", 1, -1, &other));
  nd4c_value x = check_input(graph, "x", 1, &batch);
  nd4c_attr there = check_ints("shape", &other, 1), back = check_ints("shape", &batch, 1);
  nd4c_value moved = check_op(graph, ND4C_OP_reshape, &x, 1, &there, 1);
  nd4c_value returned = check_op(graph, ND4C_OP_reshape, &moved, 1, &back, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_negative, returned)));
  nd4c_graph *optimised = optimise(graph);
  assert_ops(optimised, "negative");
  const char *names[] = {"batch", "other"};
  CHECK_OK(nd4c_graph_bind(optimised, names, (int64_t[]){4}, 1, &half));
  assert_int_equal(nd4c_graph_bind(half, names + 1, (int64_t[]){5}, 1, &bound), ND4C_SHAPE);
  assert_non_null(strstr(nd4c_error_message(), "reshape: "));
  CHECK_OK(nd4c_graph_bind(half, names + 1, (int64_t[]){4}, 1, &bound));
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(half);
  nd4c_graph_destroy(optimised);
  nd4c_graph_destroy(graph);
}

static int32_t count_op(const nd4c_graph *graph, nd4c_op op) {
  int32_t count = 0;
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    CHECK_OK(nd4c_graph_get_node(graph, i, &node));
    count += node.op->op == op;
  }
  return count;
}

/* Positions that are added to each item of a batch: no kernel of skip_layer_norm broadcasts them, also if a batch of
 * one item would need none to. */
static void sums_that_broadcast_stay(void **state) {
  (void)state;
  for (int32_t broadcasts = 0; broadcasts < 2; broadcasts++) {
    nd4c_graph *graph = NULL, *optimised = NULL;
    int64_t n = 0;
    CHECK_OK(nd4c_graph_create(&graph));
    CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
    const int64_t batch[] = {n, 4, 16}, one[] = {4, 16};
    const nd4c_value x = check_input(graph, "x", 3, batch);
    const nd4c_value p = broadcasts ? check_input(graph, "p", 2, one) : check_input(graph, "p", 3, batch);
    const nd4c_value sum = check_binary(graph, ND4C_OP_add, check_op(graph, ND4C_OP_softmax, &x, 1, NULL, 0), p);
    const nd4c_value operands[] = {sum, check_constant(graph, 1, &one[1], 1, 0.5, 1.5)};
    CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_layer_norm, operands, 2, NULL, 0)));
    CHECK_OK(nd4c_graph_optimize(graph, NULL, NULL, &optimised));
    assert_int_equal(count_op(optimised, ND4C_OP_skip_layer_norm), 1 - broadcasts);
    nd4c_graph_destroy(optimised);
    nd4c_graph_destroy(graph);
  }
}

/* -- equal by assumption --------------------------------------------------------------------------------------------
 */

/* x [n, 4] and y [m, 4] beside each other, and both parts again. The second has n rows, and y has m. */
static void record_parts(nd4c_graph *graph, nd4c_value x, nd4c_value y) {
  const nd4c_attr beside = check_int("axis", 1);
  const nd4c_value both = check_op(graph, ND4C_OP_concat, (nd4c_value[]){x, y}, 2, &beside, 1);
  for (int64_t i = 0; i < 2; i++) {
    const int64_t starts = 4 * i, stops = starts + 4, axes = 1;
    const nd4c_attr attrs[] = {check_ints("starts", &starts, 1), check_ints("stops", &stops, 1),
                               check_ints("axes", &axes, 1)};
    const nd4c_value part = check_op(graph, ND4C_OP_slice, &both, 1, attrs, 3);
    CHECK_OK(nd4c_graph_output(graph, i == 0 ? "first" : "second", check_unary(graph, ND4C_OP_exp, part)));
  }
}

/* The sum that begins with x has n rows, the one that begins with y has m. */
static void record_sums(nd4c_graph *graph, nd4c_value x, nd4c_value y) {
  CHECK_OK(nd4c_graph_output(graph, "exp", check_unary(graph, ND4C_OP_exp, check_binary(graph, ND4C_OP_add, x, y))));
  CHECK_OK(nd4c_graph_output(graph, "sin", check_unary(graph, ND4C_OP_sin, check_binary(graph, ND4C_OP_add, y, x))));
}

/* Bodies that take n rows, of y, which has m. */
static void record_calls(nd4c_graph *graph, nd4c_value x, nd4c_value y) {
  int64_t n = 0, rounds = 3;
  nd4c_graph *body = make_graph_of("n", 1, &n);
  nd4c_function *function = NULL;
  nd4c_value result = check_input(body, "x", 2, (int64_t[]){n, 4});
  CHECK_OK(nd4c_graph_output(body, "y", check_unary(body, ND4C_OP_tanh, result)));
  CHECK_OK(nd4c_function_create("rows", body, &function));
  CHECK_OK(nd4c_graph_call(graph, function, &y, 1, NULL, &result, 1));
  CHECK_OK(nd4c_graph_output(graph, "called", check_binary(graph, ND4C_OP_add, result, x)));
  nd4c_function_release(function);
  nd4c_graph_destroy(body);
  body = make_graph_of("n", 1, &n);
  CHECK_OK(nd4c_graph_input(body, "round", ND4C_INT64, 0, NULL, &result));
  result = check_input(body, "x", 2, (int64_t[]){n, 4});
  CHECK_OK(nd4c_graph_output(body, "y", check_unary(body, ND4C_OP_sin, result)));
  const nd4c_loop_options options = {
      .struct_size = sizeof options, .carried_count = 1, .carried = &y, .rounds = &rounds};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, NULL, &result, 1));
  CHECK_OK(nd4c_graph_output(graph, "looped", check_unary(graph, ND4C_OP_exp, result)));
  nd4c_graph_destroy(body);
}

/* Runs plans, as bodies are no ops: of a bound graph as it was recorded, and of the optimised one. */
static void assert_runs_agree(const nd4c_graph *recorded, const nd4c_graph *optimised) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  nd4c_array *inputs[CHECK_PORTS] = {NULL}, *expected[CHECK_PORTS] = {NULL};
  nd4c_plan *plain = NULL, *plan = NULL;
  CHECK_OK(nd4c_plan_create(recorded, NULL, &options, &plain));
  CHECK_OK(nd4c_plan_create(optimised, NULL, NULL, &plan));
  check_make_inputs(recorded, 3, inputs);
  CHECK_OK(nd4c_plan_run(plain, (const nd4c_array *const *)inputs, recorded->inputs.count, expected,
                         recorded->outputs.count));
  check_runs(plan, inputs, expected, 1e-6, "optimised");
  check_release(inputs, recorded->inputs.count);
  check_release(expected, recorded->outputs.count);
  nd4c_plan_destroy(plan);
  nd4c_plan_destroy(plain);
}

/* n == m holds in every run, but a value with m rows does not stand for one with n: the plan is made all the same, and
 * gives what the recorded graph gives. */
static void values_of_other_dims_do_not_stand_for_each_other(void **state) {
  (void)state;
  static void (*const records[])(nd4c_graph *, nd4c_value, nd4c_value) = {record_parts, record_sums, record_calls};
  for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
    int64_t n = 0, m = 0;
    nd4c_graph *graph = make_graph_of("n", 1, &n), *plain = NULL, *bound = NULL, *other = NULL;
    CHECK_OK(nd4c_graph_dim(graph, "m", 1, -1, &m));
    const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, 4});
    records[i](graph, x, check_input(graph, "y", 2, (int64_t[]){m, 4}));
    nd4c_graph *optimised = optimise(graph);
    assert_int_equal(nd4c_extents_guard_count(optimised->extents), nd4c_extents_guard_count(graph->extents));
    const char *names[] = {"n", "m"};
    CHECK_OK(nd4c_graph_bind(graph, names, (int64_t[]){3, 3}, 2, &plain));
    CHECK_OK(nd4c_graph_bind(optimised, names, (int64_t[]){3, 3}, 2, &bound));
    assert_int_equal(nd4c_graph_bind(optimised, names, (int64_t[]){3, 4}, 2, &other), ND4C_SHAPE);
    assert_runs_agree(plain, bound);
    nd4c_graph_destroy(bound);
    nd4c_graph_destroy(plain);
    nd4c_graph_destroy(optimised);
    nd4c_graph_destroy(graph);
  }
}

/* -- what is said -------------------------------------------------------------------------------------------------- */

static void left_out_passes_are_named(void **state) {
  (void)state;
  nd4c_value y = ND4C_VALUE_NONE;
  nd4c_graph *graph = make_layer(&y), *bound = bind(graph, 2);
  char *text = NULL;
  CHECK_OK(nd4c_graph_explain(graph, NULL, NULL, -1, &text));
  assert_non_null(strstr(text, "passes left out, because the graph has dims: layout, reduced_precision\n"));
  assert_non_null(strstr(text, "estimate (each dim as 64, or its bound nearest to 64): "));
  nd4c_free(text);
  CHECK_OK(nd4c_graph_explain(bound, NULL, NULL, -1, &text));
  assert_null(strstr(text, "left out"));
  assert_non_null(strstr(text, "estimate: "));
  nd4c_free(text);
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(graph);
}

/* As those of the graph with 64, or the bound nearest to it, also where extents are sums, products and quotients. */
static void costs_are_those_of_usual_sizes(void **state) {
  (void)state;
  static const struct {
    int64_t low, high, usual;
  } cases[] = {{3, -1, 64}, {1, 8, 8}, {100, -1, 100}, {0, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int64_t batch = 0;
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    CHECK_OK(nd4c_graph_dim(graph, "batch", cases[i].low, cases[i].high, &batch));
    const nd4c_value x = check_input(graph, "x", 3, (int64_t[]){batch, 4, 8});
    const nd4c_value both[] = {x, check_input(graph, "more", 3, (int64_t[]){5, 4, 8})};
    const nd4c_attr axis = check_int("axis", 0), flat = check_ints("shape", (int64_t[]){-1}, 1);
    const nd4c_value joined = check_op(graph, ND4C_OP_concat, both, 2, &axis, 1);
    const nd4c_value w = check_constant(graph, 2, (int64_t[]){8, 5}, 1, -1, 1);
    const nd4c_value y = check_binary(graph, ND4C_OP_matmul, joined, w);
    CHECK_OK(nd4c_graph_output(graph, "y",
                               check_unary(graph, ND4C_OP_exp, check_op(graph, ND4C_OP_reshape, &y, 1, &flat, 1))));
    const char *name = "batch";
    nd4c_graph *bound = NULL;
    CHECK_OK(nd4c_graph_bind(graph, &name, &cases[i].usual, 1, &bound));
    const nd4c_cost symbolic = nd4c_graph_cost(graph), numbers = nd4c_graph_cost(bound);
    const double apart = cases[i].usual == 0 ? 1000 : 0; /* an empty input counts as one row */
    assert_true(fabs(symbolic.operations - numbers.operations) <= apart);
    assert_true(fabs(symbolic.bytes - numbers.bytes) <= apart);
    nd4c_graph_destroy(bound);
    nd4c_graph_destroy(graph);
  }
}

/* A guard says that the dim is 1 or 5. */
static void costs_follow_guards(void **state) {
  (void)state;
  int64_t batch = 0;
  nd4c_graph *graph = make_graph(1, &batch), *bound = NULL;
  const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){batch, 8});
  const nd4c_value doubled = check_binary(graph, ND4C_OP_add, x, x);
  const nd4c_value more = check_input(graph, "more", 2, (int64_t[]){5, 8});
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, doubled, more)));
  bound = bind(graph, 5);
  const nd4c_cost symbolic = nd4c_graph_cost(graph), numbers = nd4c_graph_cost(bound);
  assert_true(symbolic.operations == numbers.operations && symbolic.bytes == numbers.bytes);
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(graph);
}

/* Of a bound graph whose passes have run, those that need numbers run, and others only after a change. */
static void passes_of_numbers_run_after_binding(void **state) {
  (void)state;
  nd4c_value y = ND4C_VALUE_NONE;
  nd4c_plan *plan = NULL;
  nd4c_graph *graph = make_layer(&y), *optimised = optimise(graph), *bound = bind(optimised, 2);
  CHECK_OK(nd4c_plan_begin("test", bound, NULL, NULL, &plan));
  CHECK_OK(nd4c_graph_clone(bound, &plan->graph));
  CHECK_OK(nd4c_passes_run_bound(plan));
  for (int32_t i = 0; i < plan->pass_count; i++) {
    assert_int_equal(plan->passes[i].runs, nd4c_passes_at(i)->where == ND4C_PASS_NUMBERS);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(optimised);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_are_rewritten),
      cmocka_unit_test(attention_is_recognised),
      cmocka_unit_test(constants_of_unknown_size_are_not_folded),
      cmocka_unit_test(indices_must_be_in_range_of_every_size),
      cmocka_unit_test(rewrites_assume_nothing_new),
      cmocka_unit_test(guards_outlive_their_nodes),
      cmocka_unit_test(sums_that_broadcast_stay),
      cmocka_unit_test(values_of_other_dims_do_not_stand_for_each_other),
      cmocka_unit_test(left_out_passes_are_named),
      cmocka_unit_test(costs_are_those_of_usual_sizes),
      cmocka_unit_test(costs_follow_guards),
      cmocka_unit_test(passes_of_numbers_run_after_binding),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
