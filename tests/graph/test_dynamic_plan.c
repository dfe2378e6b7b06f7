/* Plans of graphs with dims: for each size, results are bitwise those of a plan of the graph of numbers; what inputs
 * are refused, and by which text; the budget; phases; threads with different sizes; memory that runs out in
 * mid-binding. */
#include <pthread.h>

#include "graph/dynamic.h"
#include "graph_check.h"

enum { DIMS = 2, LENGTH = 512 };

/* -- graphs -------------------------------------------------------------------------------------------------------- */

typedef struct builder {
  nd4c_graph *graph;
  int64_t n, m; /* extents of the two dims */
} builder;

/* x [n, 6] -> relu(x w + b), with a packed constant. */
static void make_dense(const builder *b) {
  nd4c_value x = check_input(b->graph, "x", 2, (int64_t[]){b->n, 6});
  nd4c_value k = check_input(b->graph, "k", 1, (int64_t[]){b->m});
  nd4c_value w = check_constant(b->graph, 2, (int64_t[]){6, 5}, 1, -1, 1);
  nd4c_value bias = check_constant(b->graph, 1, (int64_t[]){5}, 2, -1, 1);
  nd4c_value y = check_binary(b->graph, ND4C_OP_add, check_binary(b->graph, ND4C_OP_matmul, x, w), bias);
  CHECK_OK(nd4c_graph_output(b->graph, "y", check_unary(b->graph, ND4C_OP_relu, y)));
  CHECK_OK(nd4c_graph_output(b->graph, "k", check_unary(b->graph, ND4C_OP_exp, k)));
}

/* A convolution and a pool, whose extents are quotients, and a reshape to [n, -1]. */
static void make_convolution(const builder *b) {
  nd4c_value x = check_input(b->graph, "x", 4, (int64_t[]){b->n, 3, b->m, 16});
  nd4c_value w = check_constant(b->graph, 4, (int64_t[]){4, 3, 3, 3}, 1, -1, 1);
  nd4c_attr conv[] = {check_ints("strides", (int64_t[]){2, 2}, 2), check_ints("pads", (int64_t[]){1, 1, 1, 1}, 4)};
  nd4c_attr pool[] = {check_ints("kernel", (int64_t[]){2, 2}, 2), check_ints("strides", (int64_t[]){2, 2}, 2)};
  nd4c_attr shape[] = {check_ints("shape", (int64_t[]){b->n, -1}, 2)};
  nd4c_value y = check_op(b->graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, conv, 2);
  y = check_unary(b->graph, ND4C_OP_relu, y);
  y = check_op(b->graph, ND4C_OP_max_pool, &y, 1, pool, 2);
  CHECK_OK(nd4c_graph_output(b->graph, "y", check_op(b->graph, ND4C_OP_reshape, &y, 1, shape, 1)));
}

/* Attention over m positions of 2 heads of 4: views, transposes, softmax, matmuls of two symbolic extents. */
static void make_attention(const builder *b) {
  const int64_t heads[] = {b->n, b->m, 2, 4}, merged[] = {b->n, b->m, 8}, width[] = {8, 8};
  nd4c_attr split[] = {check_ints("shape", heads, 4)}, merge[] = {check_ints("shape", merged, 3)};
  nd4c_attr forth[] = {check_ints("axes", (int64_t[]){0, 2, 1, 3}, 4)};
  nd4c_attr turned[] = {check_ints("axes", (int64_t[]){0, 2, 3, 1}, 4)};
  nd4c_value x = check_input(b->graph, "x", 3, merged), parts[3];
  for (uint64_t i = 0; i < 3; i++) {
    nd4c_value w = check_constant(b->graph, 2, width, 5 + i, -1, 1);
    nd4c_value projected = check_binary(b->graph, ND4C_OP_matmul, x, w);
    projected = check_op(b->graph, ND4C_OP_reshape, &projected, 1, split, 1);
    parts[i] = check_op(b->graph, ND4C_OP_transpose, &projected, 1, i == 1 ? turned : forth, 1);
  }
  nd4c_value scores = check_binary(b->graph, ND4C_OP_matmul, parts[0], parts[1]);
  scores = check_binary(b->graph, ND4C_OP_multiply, scores, check_scalar(b->graph, 0.5));
  scores = check_unary(b->graph, ND4C_OP_softmax, scores);
  nd4c_value y = check_binary(b->graph, ND4C_OP_matmul, scores, parts[2]);
  y = check_op(b->graph, ND4C_OP_transpose, &y, 1, forth, 1);
  y = check_op(b->graph, ND4C_OP_reshape, &y, 1, merge, 1);
  CHECK_OK(nd4c_graph_output(b->graph, "y", check_binary(b->graph, ND4C_OP_add, x, y)));
}

/* A cache that grows: past [n, 4] and new [m, 4] are joined; the joined one has n + m rows. */
static void make_cache(const builder *b) {
  nd4c_value past = check_input(b->graph, "past", 2, (int64_t[]){b->n, 4});
  nd4c_value next = check_input(b->graph, "next", 2, (int64_t[]){b->m, 4});
  nd4c_attr rows[] = {check_int("axis", 0)}, axes[] = {check_ints("axes", (int64_t[]){0}, 1)};
  nd4c_value all = check_op(b->graph, ND4C_OP_concat, (nd4c_value[]){past, next}, 2, rows, 1);
  CHECK_OK(nd4c_graph_output(b->graph, "all", all));
  CHECK_OK(nd4c_graph_output(b->graph, "sum", check_op(b->graph, ND4C_OP_sum, &all, 1, axes, 1)));
  CHECK_OK(nd4c_graph_output(b->graph, "same", past));
}

/* A long chain of element-wise ops on n*m elements, which the compiler tile takes, and one of a row that broadcasts. */
static void make_chain(const builder *b) {
  nd4c_value x = check_input(b->graph, "x", 2, (int64_t[]){b->n, b->m});
  nd4c_value row = check_input(b->graph, "row", 1, (int64_t[]){b->m}), y = x;
  for (int i = 0; i < 6; i++) {
    y = check_unary(b->graph, i % 2 == 0 ? ND4C_OP_tanh : ND4C_OP_abs, y);
    y = check_binary(b->graph, ND4C_OP_add, check_binary(b->graph, ND4C_OP_multiply, y, row), x);
  }
  CHECK_OK(nd4c_graph_output(b->graph, "y", y));
}

typedef struct graph_case {
  const char *name;
  void (*make)(const builder *b);
  int64_t low[DIMS];
  int64_t sizes[8][DIMS]; /* {0, 0} ends the list */
} graph_case;

static const graph_case graphs[] = {
    {"dense", make_dense, {1, 1}, {{1, 1}, {3, 2}, {1, 1}, {64, 7}, {3, 3}, {200, 2}}},
    {"convolution", make_convolution, {1, 8}, {{1, 8}, {2, 17}, {1, 64}, {5, 9}, {2, 17}}},
    {"attention", make_attention, {1, 1}, {{1, 1}, {2, 5}, {1, 37}, {2, 6}, {2, 5}, {1, 64}}},
    {"cache", make_cache, {0, 1}, {{0, 1}, {1, 1}, {2, 1}, {3, 4}, {0, 7}, {100, 1}}},
    {"chain", make_chain, {1, 2}, {{1, 2}, {2, 3}, {300, 40}, {64, 64}, {7, 2}, {300, 40}, {301, 1000}}},
};

enum { GRAPHS = sizeof graphs / sizeof *graphs };

static nd4c_graph *make_graph(const graph_case *c) {
  builder b = {0};
  CHECK_OK(nd4c_graph_create(&b.graph));
  CHECK_OK(nd4c_graph_dim(b.graph, "n", c->low[0], -1, &b.n));
  CHECK_OK(nd4c_graph_dim(b.graph, "m", c->low[1], 5000, &b.m));
  c->make(&b);
  return b.graph;
}

static nd4c_graph *bind(const nd4c_graph *graph, const int64_t *dims) {
  nd4c_graph *bound = NULL;
  CHECK_OK(nd4c_graph_bind(graph, (const char *const[]){"n", "m"}, dims, DIMS, &bound));
  return bound;
}

static nd4c_plan *make_plan(const nd4c_graph *graph, const nd4c_plan_options *options) {
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, options, &plan));
  return plan;
}

static nd4c_plan_bindings bindings_of(const nd4c_plan *plan) {
  nd4c_plan_bindings bindings = {.struct_size = sizeof bindings};
  CHECK_OK(nd4c_plan_get_bindings(plan, &bindings));
  return bindings;
}

/* -- sizes --------------------------------------------------------------------------------------------------------- */

static bool same_bits(const nd4c_array *a, const nd4c_array *b) {
  const size_t bytes = (size_t)nd4c_array_size(a) * sizeof(float);
  void *left = malloc(bytes + 1), *right = malloc(bytes + 1);
  bool same = nd4c_array_size(a) == nd4c_array_size(b) && nd4c_array_rank(a) == nd4c_array_rank(b) &&
              nd4c_array_read(a, left, bytes) == ND4C_OK && nd4c_array_read(b, right, bytes) == ND4C_OK &&
              memcmp(left, right, bytes) == 0;
  for (int32_t i = 0; same && i < nd4c_array_rank(a); i++) {
    same = nd4c_array_shape(a)[i] == nd4c_array_shape(b)[i];
  }
  free(left);
  free(right);
  return same;
}

/* Inputs for these dims, and what a plan of the graph of numbers makes of them. */
typedef struct sample {
  nd4c_array *inputs[CHECK_PORTS], *expected[CHECK_PORTS];
  int32_t input_count, output_count;
  double tolerance; /* passes know more of numbers than of dims, and then round elsewhere; 0: the same bits */
} sample;

static sample make_sample(const nd4c_graph *graph, const int64_t *dims, const nd4c_plan_options *options) {
  nd4c_graph *bound = bind(graph, dims);
  nd4c_plan *plan = make_plan(bound, options);
  const bool plain = options != NULL && options->no_optimization;
  sample s = {.input_count = bound->inputs.count, .output_count = bound->outputs.count, .tolerance = plain ? 0 : 1e-6};
  check_make_inputs(bound, (uint64_t)(dims[0] * 1000 + dims[1]), s.inputs);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)s.inputs, s.input_count, s.expected, s.output_count));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(bound);
  return s;
}

static void free_sample(sample *s) {
  check_release(s->inputs, s->input_count);
  check_release(s->expected, s->output_count);
}

static nd4c_status run_sample(nd4c_plan *plan, const sample *s, nd4c_array **outputs) {
  return nd4c_plan_run(plan, (const nd4c_array *const *)s->inputs, s->input_count, outputs, s->output_count);
}

static void check_sample(nd4c_plan *plan, const sample *s, const char *what, const int64_t *dims) {
  nd4c_array *outputs[CHECK_PORTS] = {NULL};
  for (int round = 0; round < 2; round++) { /* fresh outputs, then given ones */
    CHECK_OK(run_sample(plan, s, outputs));
    for (int32_t i = 0; i < s->output_count; i++) {
      if (s->tolerance > 0 ? !(check_difference(s->expected[i], outputs[i]) <= s->tolerance)
                           : !same_bits(outputs[i], s->expected[i])) {
        fail_msg("%s of n = %lld, m = %lld: output %d differs by %g", what, (long long)dims[0], (long long)dims[1], i,
                 check_difference(s->expected[i], outputs[i]));
      }
    }
  }
  check_release(outputs, s->output_count);
}

static void check_sizes(const graph_case *c, const nd4c_plan_options *options) {
  nd4c_graph *graph = make_graph(c);
  nd4c_plan *plan = make_plan(graph, options);
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_RECORDING);
  for (int i = 0; i < 8 && (c->sizes[i][0] != 0 || c->sizes[i][1] != 0); i++) {
    sample s = make_sample(graph, c->sizes[i], options);
    check_sample(plan, &s, c->name, c->sizes[i]);
    free_sample(&s);
  }
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

static void each_size_has_the_bits_of_its_own_plan(void **state) {
  (void)state;
  const nd4c_plan_options plain = {.struct_size = sizeof plain, .no_optimization = true};
  for (int i = 0; i < GRAPHS; i++) {
    check_sizes(&graphs[i], &plain);
    check_sizes(&graphs[i], NULL);
  }
}

static void a_known_size_is_found_without_allocating(void **state) {
  (void)state;
  const int64_t sizes[][DIMS] = {{3, 5}, {2, 8}};
  nd4c_graph *graph = make_graph(&graphs[2]);
  nd4c_plan *plan = make_plan(graph, NULL);
  sample s[] = {make_sample(graph, sizes[0], NULL), make_sample(graph, sizes[1], NULL)};
  nd4c_array *outputs[2][CHECK_PORTS] = {{NULL}};
  for (int round = 0; round < 6; round++) {
    const int64_t before = nd4c_allocation_count();
    CHECK_OK(run_sample(plan, &s[round % 2], outputs[round % 2]));
    if (round >= 4 && ND4C_RECYCLES) {
      assert_int_equal(nd4c_allocation_count() - before, 0);
    }
  }
  assert_int_equal(bindings_of(plan).made, 2);
  assert_int_equal(bindings_of(plan).reused, 4);
  assert_int_equal(bindings_of(plan).kept, 2);
  for (int i = 0; i < 2; i++) {
    check_release(outputs[i], s[i].output_count);
    free_sample(&s[i]);
  }
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

static void expect(nd4c_status status, nd4c_status expected, const char *text) {
  if (status != expected || strstr(nd4c_error_message(), text) == NULL) {
    fail_msg("%s: %s; expected %s: %s", nd4c_status_name(status), nd4c_error_message(), nd4c_status_name(expected),
             text);
  }
}

typedef struct refusal {
  nd4c_status status;
  int64_t x[2], y[2], z[1];
  const char *text;
} refusal;

/* x [n, 4] and y [n, m] with m <= 5000, z [2*m + 1]: x y, and z as it is. */
static nd4c_plan *make_refusing_plan(void) {
  nd4c_graph *graph = NULL;
  int64_t n = 0, m = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 2, 9, &n));
  CHECK_OK(nd4c_graph_dim(graph, "m", 1, -1, &m));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, 4}), y = check_input(graph, "y", 2, (int64_t[]){n, m});
  nd4c_attr flat[] = {check_ints("shape", (int64_t[]){-1, 3}, 2)};
  nd4c_attr rows[] = {check_int("axis", 1)};
  nd4c_value both = check_op(graph, ND4C_OP_concat, (nd4c_value[]){x, y}, 2, rows, 1);
  CHECK_OK(nd4c_graph_output(graph, "both", check_op(graph, ND4C_OP_reshape, &both, 1, flat, 1)));
  nd4c_value grown = check_op(graph, ND4C_OP_concat, (nd4c_value[]){y, y, x}, 3, rows, 1);
  const int64_t *shape = NULL;
  CHECK_OK(nd4c_graph_value_info(graph, grown, NULL, NULL, &shape)); /* 2*m + 4 */
  nd4c_value z = check_input(graph, "z", 1, &shape[1]);
  CHECK_OK(nd4c_graph_output(graph, "z", check_unary(graph, ND4C_OP_abs, z)));
  nd4c_plan *plan = make_plan(graph, NULL);
  nd4c_graph_destroy(graph);
  return plan;
}

static const refusal refusals[] = {
    {ND4C_SHAPE, {3, 5}, {3, 2}, {8}, "plan: input 'x' has shape (3, 5), expected (n, 4)"},
    {ND4C_SHAPE,
     {3, 4},
     {6, 2},
     {8},
     "plan: dim 'n' is 3 by axis 0 of input 'x', but input 'y' has 6 on axis 0, expected n"},
    {ND4C_SHAPE,
     {3, 4},
     {3, 2},
     {10},
     "plan: dim 'm' is 2 by axis 1 of input 'y', but input 'z' has 10 on axis 0, expected 2*m + 4"},
    {ND4C_SHAPE, {3, 4}, {3, 2}, {9}, "but input 'z' has 9 on axis 0, expected 2*m + 4"},
    {ND4C_SHAPE, {1, 4}, {1, 2}, {8}, "dim 'n' is 1, expected 2 to 9"},
    {ND4C_SHAPE, {3, 4}, {3, 0}, {4}, "dim 'm' is 0, expected 1 or more"},
    {ND4C_SHAPE, {2, 4}, {2, 1}, {6}, "the graph was built on reshape: "},
};

static nd4c_status run_refusing(nd4c_plan *plan, const refusal *r) {
  nd4c_array *inputs[] = {check_array(ND4C_FLOAT32, 2, r->x, 1, -1, 1), check_array(ND4C_FLOAT32, 2, r->y, 2, -1, 1),
                          check_array(ND4C_FLOAT32, 1, r->z, 3, -1, 1)};
  nd4c_array *outputs[] = {NULL, NULL};
  const nd4c_status status = nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 3, outputs, 2);
  check_release(outputs, 2);
  check_release(inputs, 3);
  return status;
}

static void inputs_that_do_not_fit_are_refused(void **state) {
  (void)state;
  nd4c_plan *plan = make_refusing_plan();
  const refusal right = {.status = ND4C_OK, .x = {3, 4}, .y = {3, 2}, .z = {8}};
  for (int round = 0; round < 2; round++) { /* without any binding, and with one */
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
      expect(run_refusing(plan, &refusals[i]), refusals[i].status, refusals[i].text);
    }
    CHECK_OK(run_refusing(plan, &right));
  }
  assert_int_equal(bindings_of(plan).made, 1);
  nd4c_plan_destroy(plan);
}

static void outputs_of_another_size_are_refused(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_plan(graph, NULL);
  sample s = make_sample(graph, (int64_t[]){3, 2}, NULL), other = make_sample(graph, (int64_t[]){4, 2}, NULL);
  expect(run_sample(plan, &s, other.expected), ND4C_SHAPE, "output 'y' has shape (4, 5), expected (3, 5)");
  expect(nd4c_plan_run(plan, (const nd4c_array *const *)s.inputs, 1, s.expected, 2), ND4C_ARGUMENT, "1 inputs");
  free_sample(&s);
  free_sample(&other);
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

static nd4c_device *place_nowhere(void *user, const nd4c_plan_node *node) {
  (void)user;
  (void)node;
  return NULL;
}

/* Dims that inputs do not tell. */
static void dims_must_follow_from_inputs(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  int64_t n = 0, m = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, 9, &n));
  CHECK_OK(nd4c_graph_dim(graph, "lost", 1, 9, &m));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, 4});
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_abs, x)));
  expect(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_UNSUPPORTED,
         "dim 'lost' does not follow from the inputs: expected an input with an extent that is 'lost' alone");
  const nd4c_placement placement = {.struct_size = sizeof placement, .device_of = place_nowhere};
  nd4c_plan_options options = {.struct_size = sizeof options, .placement = &placement};
  expect(nd4c_plan_create(graph, NULL, &options, &plan), ND4C_UNSUPPORTED, "a placement on several devices");
  nd4c_graph_destroy(graph);
}

/* An extent that is no multiple of one dim is checked against what the others say. */
static void other_expressions_are_checked(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  int64_t n = 0, m = 0;
  const int64_t *shape = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, 9, &n));
  CHECK_OK(nd4c_graph_dim(graph, "m", 1, 9, &m));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, m});
  nd4c_attr flat[] = {check_ints("shape", (int64_t[]){-1}, 1)};
  nd4c_value line = check_op(graph, ND4C_OP_reshape, &x, 1, flat, 1);
  CHECK_OK(nd4c_graph_value_info(graph, line, NULL, NULL, &shape));
  nd4c_value z = check_input(graph, "z", 1, shape);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, line, z)));
  nd4c_plan *plan = make_plan(graph, NULL);
  for (int64_t length = 5; length <= 6; length++) {
    nd4c_array *inputs[] = {check_array(ND4C_FLOAT32, 2, (int64_t[]){2, 3}, 1, -1, 1),
                            check_array(ND4C_FLOAT32, 1, &length, 2, -1, 1)};
    nd4c_array *output = NULL;
    const nd4c_status status = nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 2, &output, 1);
    if (length == 6) {
      CHECK_OK(status);
    } else {
      expect(status, ND4C_SHAPE, "input 'z' has 5 on axis 0, expected 6 (n*m)");
    }
    nd4c_array_release(output);
    check_release(inputs, 2);
  }
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

static void queries_are_checked(void **state) {
  (void)state;
  nd4c_graph *graph = check_make_fork();
  nd4c_plan *plan = make_plan(graph, NULL);
  nd4c_plan_bindings bindings = {.struct_size = 8};
  expect(nd4c_plan_get_bindings(plan, &bindings), ND4C_ARGUMENT, "struct_size is 8, expected at least");
  expect(nd4c_plan_get_bindings(plan, NULL), ND4C_NULL_ARGUMENT, "bindings is NULL");
  expect(nd4c_plan_get_bindings(NULL, &bindings), ND4C_NULL_ARGUMENT, "plan is NULL");
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_FROZEN); /* no dims */
  assert_int_equal(bindings_of(plan).made, 0);
  nd4c_graph_destroy(graph);
  nd4c_plan_destroy(plan);
}

/* -- budget and phase ------------------------------------------------------------------------------------------------
 */

static void run_size(const nd4c_graph *graph, nd4c_plan *plan, int64_t n, int64_t m) {
  const int64_t dims[] = {n, m};
  sample s = make_sample(graph, dims, NULL);
  check_sample(plan, &s, "a size", dims);
  free_sample(&s);
}

static void bindings_are_dropped_by_bytes(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_plan(graph, NULL);
  run_size(graph, plan, 50, 1);
  const int64_t one = bindings_of(plan).bytes;
  assert_int_equal(bindings_of(plan).byte_limit, 256 << 20);
  nd4c_plan_destroy(plan);
  const nd4c_plan_options options = {.struct_size = sizeof options, .binding_bytes = 3 * one + one / 2};
  plan = make_plan(graph, &options);
  for (int64_t m = 1; m <= 5; m++) {
    run_size(graph, plan, 50, m);
    assert_true(bindings_of(plan).bytes <= options.binding_bytes);
  }
  assert_int_equal(bindings_of(plan).kept, 3);
  assert_int_equal(bindings_of(plan).dropped, 2);
  run_size(graph, plan, 50, 3); /* the least recently used of those that are kept: now the most */
  assert_int_equal(bindings_of(plan).made, 5);
  run_size(graph, plan, 50, 9);
  run_size(graph, plan, 50, 3);
  assert_int_equal(bindings_of(plan).made, 6);
  run_size(graph, plan, 50, 4); /* was dropped for 9 */
  assert_int_equal(bindings_of(plan).made, 7);
  nd4c_plan_destroy(plan);
  const nd4c_plan_options least = {.struct_size = sizeof least, .binding_bytes = 1};
  plan = make_plan(graph, &least);
  run_size(graph, plan, 2, 2);
  run_size(graph, plan, 3, 2);
  assert_int_equal(bindings_of(plan).kept, 1); /* the latest stays */
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void assert_reported(const nd4c_plan *plan, const char *text) {
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  if (strstr(report, text) == NULL) {
    fail_msg("no '%s' in\n%s", text, report);
  }
  nd4c_free(report);
}

static void sizes_can_be_prepared(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]), *fork = check_make_fork();
  nd4c_plan *plan = make_plan(graph, NULL), *numbers = make_plan(fork, NULL);
  const char *names[] = {"m", "n", "k"};
  CHECK_OK(nd4c_plan_prepare(plan, names, (int64_t[]){3, 4}, 2));
  CHECK_OK(nd4c_plan_prepare(plan, names, (int64_t[]){3, 4}, 2)); /* it is there */
  assert_int_equal(bindings_of(plan).made, 1);
  assert_int_equal(bindings_of(plan).runs, 0);
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_RECORDING);
  run_size(graph, plan, 4, 3);
  assert_int_equal(bindings_of(plan).made, 1);
  assert_int_equal(bindings_of(plan).reused, 2);
  expect(nd4c_plan_prepare(plan, names, (int64_t[]){3}, 1), ND4C_NAME, "dim 'n' has no number");
  expect(nd4c_plan_prepare(plan, names + 2, (int64_t[]){3}, 1), ND4C_NAME, "'k' is no dim of the plan");
  expect(nd4c_plan_prepare(plan, (const char *[]){"n", "n"}, (int64_t[]){3, 3}, 2), ND4C_NAME, "'n' is given twice");
  expect(nd4c_plan_prepare(plan, names, (int64_t[]){3, -1}, 2), ND4C_SHAPE, "dim 'n' is -1, expected at least 0");
  expect(nd4c_plan_prepare(plan, names, (int64_t[]){9999, 1}, 2), ND4C_SHAPE, "dim 'm' is 9999, expected 1 to 5000");
  expect(nd4c_plan_prepare(plan, NULL, NULL, 1), ND4C_NULL_ARGUMENT, "names or extents are NULL");
  expect(nd4c_plan_prepare(NULL, NULL, NULL, 0), ND4C_NULL_ARGUMENT, "plan is NULL");
  CHECK_OK(nd4c_plan_prepare(numbers, NULL, NULL, 0));
  expect(nd4c_plan_prepare(numbers, names, (int64_t[]){3}, 1), ND4C_NAME, "'m' is no dim of the plan");
  nd4c_plan_destroy(numbers);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(fork);
  nd4c_graph_destroy(graph);
}

static void phases_follow_the_extents(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_plan(graph, NULL);
  assert_reported(plan, "phase: recording");
  assert_reported(plan, "dim 'm': from axis 0 of input 'k'");
  run_size(graph, plan, 2, 1);
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_STABILISING);
  for (int i = 0; i < 3; i++) {
    run_size(graph, plan, 3, 1); /* two runs each */
  }
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_STABILISING);
  run_size(graph, plan, 3, 1);
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_FROZEN);
  assert_reported(plan, "phase: frozen");
  run_size(graph, plan, 3, 4);
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_THAWED);
  assert_reported(plan, "thawed 1 times, last by run 11: 'm' changed from 1 to 4");
  assert_reported(plan, "n = 3, m = 4: ");
  assert_reported(plan, "the binding that was used last:");
  for (int i = 0; i < 3; i++) {
    run_size(graph, plan, 3, 4);
  }
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_FROZEN);
  assert_int_equal(bindings_of(plan).thaws, 1);
  assert_int_equal(bindings_of(plan).runs, 18);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- memory and threads -------------------------------------------------------------------------------------------- */

/* Each allocation of a binding fails in turn: the run is refused, and the plan serves old and new sizes. */
static void a_binding_without_memory_leaves_the_plan_usable(void **state) {
  (void)state;
  const int64_t old[] = {2, 5}, next[] = {2, 6};
  for (int which = 0; which < GRAPHS; which++) {
    nd4c_graph *graph = make_graph(&graphs[which]);
    const int64_t *sizes[] = {graphs[which].sizes[0], graphs[which].sizes[1]};
    sample a = make_sample(graph, sizes[0], NULL), b = make_sample(graph, sizes[1], NULL);
    nd4c_plan *plan = make_plan(graph, NULL);
    nd4c_array *outputs[CHECK_PORTS] = {NULL};
    bool done = false;
    check_sample(plan, &a, "before", old);
    for (int64_t skip = 0; !done; skip += 1 + skip / 16) {
      nd4c_allocation_fail_at(skip);
      const nd4c_status status = run_sample(plan, &b, outputs);
      nd4c_allocation_fail_at(-1);
      done = status == ND4C_OK;
      if (!done) {
        assert_int_equal(status, ND4C_MEMORY);
        check_sample(plan, &a, "after a failure", old);
      }
      check_release(outputs, b.output_count);
    }
    check_sample(plan, &b, "at last", next);
    free_sample(&a);
    free_sample(&b);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

enum { THREADS = 4, ROUNDS = 30, SIZES = 6 };

typedef struct worker {
  pthread_t thread;
  nd4c_plan *plan;
  const sample *samples;
  int first, wrong;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  for (int i = 0; i < ROUNDS; i++) {
    const sample *s = &w->samples[(w->first + i * (w->first % 2 + 1)) % SIZES];
    nd4c_array *outputs[CHECK_PORTS] = {NULL};
    w->wrong += run_sample(w->plan, s, outputs) != ND4C_OK;
    for (int32_t k = 0; k < s->output_count && w->wrong == 0; k++) {
      w->wrong += !same_bits(outputs[k], s->expected[k]);
    }
    for (int32_t k = 0; k < s->output_count; k++) {
      nd4c_array_release(outputs[k]);
    }
  }
  return NULL;
}

/* With a budget for some sizes only, so that bindings are dropped while others run. */
static void threads_run_different_sizes(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[2]);
  sample samples[SIZES];
  const nd4c_plan_options all = {.struct_size = sizeof all, .no_optimization = true};
  for (int64_t i = 0; i < SIZES; i++) {
    samples[i] = make_sample(graph, (int64_t[]){1 + i % 2, 3 + i}, &all);
  }
  const nd4c_plan_options few = {.struct_size = sizeof few, .no_optimization = true, .binding_bytes = 1};
  for (int round = 0; round < 2; round++) {
    nd4c_plan *plan = make_plan(graph, round == 0 ? &all : &few);
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
      workers[i] = (worker){.plan = plan, .samples = samples, .first = i};
      assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
      assert_int_equal(workers[i].wrong, 0);
    }
    const nd4c_plan_bindings bindings = bindings_of(plan);
    assert_int_equal(bindings.made + bindings.reused, THREADS * ROUNDS);
    assert_int_equal(bindings.kept, bindings.made - bindings.dropped);
    assert_int_equal(bindings.kept, round == 0 ? SIZES : 1);
    nd4c_plan_destroy(plan);
  }
  for (int i = 0; i < SIZES; i++) {
    free_sample(&samples[i]);
  }
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_size_has_the_bits_of_its_own_plan),
      cmocka_unit_test(a_known_size_is_found_without_allocating),
      cmocka_unit_test(inputs_that_do_not_fit_are_refused),
      cmocka_unit_test(outputs_of_another_size_are_refused),
      cmocka_unit_test(dims_must_follow_from_inputs),
      cmocka_unit_test(other_expressions_are_checked),
      cmocka_unit_test(queries_are_checked),
      cmocka_unit_test(bindings_are_dropped_by_bytes),
      cmocka_unit_test(sizes_can_be_prepared),
      cmocka_unit_test(phases_follow_the_extents),
      cmocka_unit_test(a_binding_without_memory_leaves_the_plan_usable),
      cmocka_unit_test(threads_run_different_sizes),
  };
  return cmocka_run_group_tests_name("dynamic_plan", tests, NULL, NULL);
}
