/* Graphs with dims for the tests of their plans, and what a plan of the graph of numbers makes of an input: the oracle.
 */
#ifndef ND4C_TESTS_GRAPH_DYNAMIC_CASES_H
#define ND4C_TESTS_GRAPH_DYNAMIC_CASES_H

#include <pthread.h>

#include "graph_check.h"

enum { DIMS = 2 };

/* -- graphs -------------------------------------------------------------------------------------------------------- */

typedef struct builder {
  nd4c_graph *graph;
  int64_t n, m; /* extents of the two dims */
} builder;

/* x [n, 6] -> relu(x w + b), with a packed constant. */
static inline void make_dense(const builder *b) {
  nd4c_value x = check_input(b->graph, "x", 2, (int64_t[]){b->n, 6});
  nd4c_value k = check_input(b->graph, "k", 1, (int64_t[]){b->m});
  nd4c_value w = check_constant(b->graph, 2, (int64_t[]){6, 5}, 1, -1, 1);
  nd4c_value bias = check_constant(b->graph, 1, (int64_t[]){5}, 2, -1, 1);
  nd4c_value y = check_binary(b->graph, ND4C_OP_add, check_binary(b->graph, ND4C_OP_matmul, x, w), bias);
  CHECK_OK(nd4c_graph_output(b->graph, "y", check_unary(b->graph, ND4C_OP_relu, y)));
  CHECK_OK(nd4c_graph_output(b->graph, "k", check_unary(b->graph, ND4C_OP_exp, k)));
}

/* A convolution and a pool, whose extents are quotients, and a reshape to [n, -1]. */
static inline void make_convolution(const builder *b) {
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
static inline void make_attention(const builder *b) {
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
static inline void make_cache(const builder *b) {
  nd4c_value past = check_input(b->graph, "past", 2, (int64_t[]){b->n, 4});
  nd4c_value next = check_input(b->graph, "next", 2, (int64_t[]){b->m, 4});
  nd4c_attr rows[] = {check_int("axis", 0)}, axes[] = {check_ints("axes", (int64_t[]){0}, 1)};
  nd4c_value all = check_op(b->graph, ND4C_OP_concat, (nd4c_value[]){past, next}, 2, rows, 1);
  CHECK_OK(nd4c_graph_output(b->graph, "all", all));
  CHECK_OK(nd4c_graph_output(b->graph, "sum", check_op(b->graph, ND4C_OP_sum, &all, 1, axes, 1)));
  CHECK_OK(nd4c_graph_output(b->graph, "same", past));
}

/* A long chain of element-wise ops on n*m elements, which the compiler tile takes, and one of a row that broadcasts. */
static inline void make_chain(const builder *b) {
  nd4c_value x = check_input(b->graph, "x", 2, (int64_t[]){b->n, b->m});
  nd4c_value row = check_input(b->graph, "row", 1, (int64_t[]){b->m}), y = x;
  for (int i = 0; i < 6; i++) {
    y = check_unary(b->graph, i % 2 == 0 ? ND4C_OP_tanh : ND4C_OP_abs, y);
    y = check_binary(b->graph, ND4C_OP_add, check_binary(b->graph, ND4C_OP_multiply, y, row), x);
  }
  CHECK_OK(nd4c_graph_output(b->graph, "y", y));
}

/* The same op on operands of two dtypes and equal extents. */
static inline void make_mixed(const builder *b) {
  nd4c_value x = check_input(b->graph, "x", 2, (int64_t[]){b->n, b->m}), d = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_input(b->graph, "d", ND4C_FLOAT64, 2, (int64_t[]){b->n, b->m}, &d));
  const nd4c_attr single = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT32}};
  nd4c_value wide = check_unary(b->graph, ND4C_OP_exp, d), narrow = check_unary(b->graph, ND4C_OP_exp, x);
  wide = check_op(b->graph, ND4C_OP_cast, &wide, 1, &single, 1);
  CHECK_OK(nd4c_graph_output(b->graph, "y", check_binary(b->graph, ND4C_OP_multiply, wide, narrow)));
}

/* Equal layers with weights of their own, by rows and then by columns: what a kernel prepares for one serves others. */
static inline void make_layers(const builder *b) {
  enum { WIDTH = 96 };
  const int64_t square[] = {WIDTH, WIDTH};
  const nd4c_attr turned = {.name = "transpose_w", .value = {.kind = ND4C_ATTR_BOOL, .as.i = true}};
  nd4c_value y = check_input(b->graph, "x", 2, (int64_t[]){b->n, WIDTH});
  nd4c_value k = check_input(b->graph, "k", 1, (int64_t[]){b->m});
  for (uint64_t i = 0; i < 6; i++) {
    const nd4c_value operands[] = {y, check_constant(b->graph, 2, square, 40 + i, -0.2, 0.2)};
    y = check_op(b->graph, ND4C_OP_linear, operands, 2, &turned, i < 3 ? 0 : 1);
    y = check_unary(b->graph, ND4C_OP_relu, y);
  }
  CHECK_OK(nd4c_graph_output(b->graph, "y", y));
  CHECK_OK(nd4c_graph_output(b->graph, "k", check_unary(b->graph, ND4C_OP_exp, k)));
}

static inline nd4c_value make_part(const builder *b, nd4c_value x, int64_t axis, int64_t start, int64_t stop) {
  const nd4c_attr attrs[] = {check_ints("starts", &start, 1), check_ints("stops", &stop, 1),
                             check_ints("axes", &axis, 1)};
  return check_op(b->graph, ND4C_OP_slice, &x, 1, attrs, 3);
}

/* Parts of constants that end or begin where a dim says: kernels and a compiled chain read them. */
static inline void make_parts(const builder *b) {
  nd4c_value x = check_input(b->graph, "x", 3, (int64_t[]){b->n, 3, b->m});
  nd4c_value table = check_constant(b->graph, 2, (int64_t[]){3, 64}, 1, -1, 1);
  nd4c_value list = check_constant(b->graph, 1, (int64_t[]){20000}, 2, -1, 1);
  nd4c_value head = make_part(b, table, 1, 0, b->m), tail = make_part(b, list, 0, b->m, INT32_MAX), y = tail;
  CHECK_OK(nd4c_graph_output(b->graph, "sum", check_binary(b->graph, ND4C_OP_add, x, head)));
  CHECK_OK(nd4c_graph_output(b->graph, "head", check_unary(b->graph, ND4C_OP_abs, head)));
  for (int i = 0; i < 4; i++) {
    y = check_binary(b->graph, ND4C_OP_multiply, check_unary(b->graph, ND4C_OP_tanh, y), tail);
  }
  CHECK_OK(nd4c_graph_output(b->graph, "tail", y));
}

/* Ops that do nothing while n is 1: a sum over one element, and a broadcast to one row. */
static inline void make_units(const builder *b) {
  nd4c_value x = check_input(b->graph, "x", 2, (int64_t[]){b->n, b->m});
  nd4c_attr sum[] = {check_ints("axes", (int64_t[]){0}, 1),
                     {.name = "keepdims", .value = {.kind = ND4C_ATTR_BOOL, .as.i = 1}}};
  nd4c_attr shape[] = {check_ints("shape", (int64_t[]){b->n, b->m}, 2)};
  nd4c_value y = check_op(b->graph, ND4C_OP_sum, &x, 1, sum, 2);
  y = check_op(b->graph, ND4C_OP_broadcast_to, &y, 1, shape, 1);
  CHECK_OK(nd4c_graph_output(b->graph, "y", check_unary(b->graph, ND4C_OP_exp, y)));
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
    {"mixed", make_mixed, {1, 1}, {{2, 3}, {1, 1}, {40, 50}, {2, 3}}},
    {"layers", make_layers, {1, 1}, {{1, 1}, {20, 1}, {130, 2}, {300, 1}, {21, 1}, {131, 2}, {20, 1}}},
    {"units", make_units, {1, 1}, {{1, 3}, {3, 3}, {1, 1}, {2, 2}, {7, 5}}},
    {"parts", make_parts, {1, 1}, {{2, 64}, {2, 40}, {2, 64}, {2, 33}, {1, 50}, {1, 64}, {3, 8}}},
};

enum { GRAPHS = sizeof graphs / sizeof *graphs, LAYERS = 6 /* its place in the list */ };

static inline nd4c_graph *make_graph(const graph_case *c) {
  builder b = {0};
  CHECK_OK(nd4c_graph_create(&b.graph));
  CHECK_OK(nd4c_graph_dim(b.graph, "n", c->low[0], -1, &b.n));
  CHECK_OK(nd4c_graph_dim(b.graph, "m", c->low[1], 5000, &b.m));
  c->make(&b);
  return b.graph;
}

static inline nd4c_graph *bind(const nd4c_graph *graph, const int64_t *dims) {
  nd4c_graph *bound = NULL;
  CHECK_OK(nd4c_graph_bind(graph, (const char *const[]){"n", "m"}, dims, DIMS, &bound));
  return bound;
}

static inline nd4c_plan *make_plan(const nd4c_graph *graph, const nd4c_plan_options *options) {
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, options, &plan));
  return plan;
}

static inline nd4c_plan_bindings bindings_of(const nd4c_plan *plan) {
  nd4c_plan_bindings bindings = {.struct_size = sizeof bindings};
  CHECK_OK(nd4c_plan_get_bindings(plan, &bindings));
  return bindings;
}

/* -- sizes --------------------------------------------------------------------------------------------------------- */

static inline bool same_bits(const nd4c_array *a, const nd4c_array *b) {
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

static inline sample make_sample(const nd4c_graph *graph, const int64_t *dims, const nd4c_plan_options *options) {
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

static inline void free_sample(sample *s) {
  check_release(s->inputs, s->input_count);
  check_release(s->expected, s->output_count);
}

static inline nd4c_status run_sample(nd4c_plan *plan, const sample *s, nd4c_array **outputs) {
  return nd4c_plan_run(plan, (const nd4c_array *const *)s->inputs, s->input_count, outputs, s->output_count);
}

static inline bool is_expected(const sample *s, int32_t output, const nd4c_array *got) {
  return s->tolerance > 0 ? check_difference(s->expected[output], got) <= s->tolerance
                          : same_bits(got, s->expected[output]);
}

static inline void check_sample(nd4c_plan *plan, const sample *s, const char *what, const int64_t *dims) {
  nd4c_array *outputs[CHECK_PORTS] = {NULL};
  for (int round = 0; round < 2; round++) { /* fresh outputs, then given ones */
    CHECK_OK(run_sample(plan, s, outputs));
    for (int32_t i = 0; i < s->output_count; i++) {
      if (!is_expected(s, i, outputs[i])) {
        fail_msg("%s of n = %lld, m = %lld: output %d differs by %g", what, (long long)dims[0], (long long)dims[1], i,
                 check_difference(s->expected[i], outputs[i]));
      }
    }
  }
  check_release(outputs, s->output_count);
}

static inline void expect(nd4c_status status, nd4c_status expected, const char *text) {
  if (status != expected || strstr(nd4c_error_message(), text) == NULL) {
    fail_msg("%s: %s; expected %s: %s", nd4c_status_name(status), nd4c_error_message(), nd4c_status_name(expected),
             text);
  }
}

/* -- threads --------------------------------------------------------------------------------------------------------
 */

enum { THREADS = 4, ROUNDS = 30, SIZES = 6 };

/* A thread that runs all samples of one plan again and again, from its own on and in its own steps. */
typedef struct worker {
  pthread_t thread;
  nd4c_plan *plan;
  const sample *samples;
  int first, wrong; /* wrong: runs that failed or gave something else */
} worker;

static inline void *work(void *argument) {
  worker *w = argument;
  for (int i = 0; i < ROUNDS; i++) {
    const sample *s = &w->samples[(w->first + i * (w->first % 2 + 1)) % SIZES];
    nd4c_array *outputs[CHECK_PORTS] = {NULL};
    w->wrong += run_sample(w->plan, s, outputs) != ND4C_OK;
    for (int32_t k = 0; k < s->output_count && w->wrong == 0; k++) {
      w->wrong += !is_expected(s, k, outputs[k]);
    }
    check_release(outputs, s->output_count);
  }
  return NULL;
}

/* THREADS threads at once, ROUNDS runs each. */
static inline void run_threads(nd4c_plan *plan, const sample *samples) {
  worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.plan = plan, .samples = samples, .first = i};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(workers[i].wrong, 0);
  }
}

#endif
