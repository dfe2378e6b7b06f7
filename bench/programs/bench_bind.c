/* What a run costs that brings new sizes to a plan of a graph with dims: microseconds for each node of the graph, and
 * for each of those that the passes leave; beside that what kernels' own preparation takes for each node (a vendor's
 * library compiles there), and how many of them a run prepares. Graphs with a batch and a second dim: twelve
 * transformer layers, twenty convolutions with pools, twelve layers of a decoder whose cache grows. Medians of twelve
 * sizes, each of which is new; the last line of a graph is for sizes of one bucket. The exit status is 1 if a line is
 * above the bar for the graph's nodes. Usage: bench_bind [PASSES [GRAPH]], where PASSES are as in nd4c_plan_options, or
 * "none" for the graph as it was recorded; GRAPH is the name of the only graph to measure. */
#include <stdio.h>
#include <string.h>

#include "bench/measure.h"

enum { LAYERS = 12, CONVOLUTIONS = 20, WIDTH = 64, HEADS = 4, ROUNDS = 12 };
static const double bar = 1.0; /* microseconds a node of the graph */

static nd4c_attr ints(const char *name, const int64_t *numbers, int32_t count) {
  return (nd4c_attr){.name = name, .value = {.kind = ND4C_ATTR_INTS, .count = count, .as.ints = numbers}};
}

static nd4c_value op(nd4c_graph *graph, nd4c_op which, nd4c_value a, nd4c_value b, const nd4c_attr *attr) {
  nd4c_value result = ND4C_VALUE_NONE;
  const nd4c_value inputs[] = {a, b};
  bench_check(nd4c_graph_op(graph, which, inputs, b >= 0 ? 2 : 1, attr, attr != NULL, NULL, &result, 1), "a node");
  return result;
}

static nd4c_value weight(nd4c_graph *graph, int32_t rank, const int64_t *shape) {
  nd4c_value value = ND4C_VALUE_NONE;
  nd4c_array *array = bench_array(ND4C_FLOAT32, rank, shape);
  bench_check(nd4c_graph_constant(graph, array, &value), "a constant");
  nd4c_array_release(array);
  return value;
}

static nd4c_value dense(nd4c_graph *graph, nd4c_value x, int64_t rows, int64_t columns) {
  nd4c_value y = op(graph, ND4C_OP_matmul, x, weight(graph, 2, (int64_t[]){rows, columns}), NULL);
  return op(graph, ND4C_OP_add, y, weight(graph, 1, &columns), NULL);
}

/* x + attention(x), as exporters spell it. */
static nd4c_value attend(nd4c_graph *graph, nd4c_value x, int64_t batch, int64_t time) {
  const nd4c_attr split = ints("shape", (int64_t[]){batch, time, HEADS, WIDTH / HEADS}, 4);
  const nd4c_attr merge = ints("shape", (int64_t[]){batch, time, WIDTH}, 3);
  const nd4c_attr forth = ints("axes", (int64_t[]){0, 2, 1, 3}, 4), turned = ints("axes", (int64_t[]){0, 2, 3, 1}, 4);
  nd4c_value parts[3];
  for (int i = 0; i < 3; i++) {
    parts[i] = op(graph, ND4C_OP_reshape, dense(graph, x, WIDTH, WIDTH), -1, &split);
    parts[i] = op(graph, ND4C_OP_transpose, parts[i], -1, i == 1 ? &turned : &forth);
  }
  nd4c_value scores = op(graph, ND4C_OP_matmul, parts[0], parts[1], NULL);
  scores = op(graph, ND4C_OP_multiply, scores, weight(graph, 0, NULL), NULL);
  scores = op(graph, ND4C_OP_softmax, scores, -1, NULL);
  nd4c_value y = op(graph, ND4C_OP_matmul, scores, parts[2], NULL);
  y = op(graph, ND4C_OP_transpose, y, -1, &forth);
  y = op(graph, ND4C_OP_reshape, y, -1, &merge);
  return op(graph, ND4C_OP_add, x, dense(graph, y, WIDTH, WIDTH), NULL);
}

static void make_transformer(nd4c_graph *graph, int64_t batch, int64_t time) {
  nd4c_value x = ND4C_VALUE_NONE;
  bench_check(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 3, (int64_t[]){batch, time, WIDTH}, &x), "an input");
  for (int i = 0; i < LAYERS; i++) {
    x = attend(graph, x, batch, time);
    const nd4c_value inner = op(graph, ND4C_OP_gelu, dense(graph, x, WIDTH, 2 * (int64_t)WIDTH), -1, NULL);
    x = op(graph, ND4C_OP_add, x, dense(graph, inner, 2 * (int64_t)WIDTH, WIDTH), NULL);
  }
  bench_check(nd4c_graph_output(graph, "y", x), "an output");
}

static void make_network(nd4c_graph *graph, int64_t batch, int64_t height) {
  const nd4c_attr kernel = ints("kernel", (int64_t[]){2, 2}, 2);
  nd4c_value x = ND4C_VALUE_NONE;
  bench_check(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 4, (int64_t[]){batch, 16, height, 32}, &x), "an input");
  for (int i = 0; i < CONVOLUTIONS; i++) {
    const nd4c_attr pads = ints("pads", (int64_t[]){1, 1, 1, 1}, 4);
    nd4c_value y = op(graph, ND4C_OP_conv, x, weight(graph, 4, (int64_t[]){16, 16, 3, 3}), &pads);
    y = op(graph, ND4C_OP_add, y, weight(graph, 4, (int64_t[]){1, 16, 1, 1}), NULL);
    x = op(graph, ND4C_OP_relu, op(graph, ND4C_OP_add, x, y, NULL), -1, NULL);
    x = i % 8 == 7 ? op(graph, ND4C_OP_max_pool, x, -1, &kernel) : x;
  }
  bench_check(nd4c_graph_output(graph, "y", x), "an output");
}

/* One position more: each layer attends from x [batch, 1] to a cache of all positions before and to itself. */
static void make_decoder(nd4c_graph *graph, int64_t batch, int64_t length) {
  const nd4c_attr middle = {.name = "axis", .value = {.kind = ND4C_ATTR_INT, .as.i = 1}};
  const nd4c_attr turned = ints("axes", (int64_t[]){0, 2, 1}, 3);
  nd4c_value x = ND4C_VALUE_NONE, past = ND4C_VALUE_NONE;
  bench_check(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 3, (int64_t[]){batch, 1, WIDTH}, &x), "an input");
  bench_check(nd4c_graph_input(graph, "past", ND4C_FLOAT32, 3, (int64_t[]){batch, length, WIDTH}, &past), "an input");
  for (int i = 0; i < LAYERS; i++) {
    const nd4c_value all = op(graph, ND4C_OP_concat, past, dense(graph, x, WIDTH, WIDTH), &middle);
    nd4c_value y = op(graph, ND4C_OP_transpose, all, -1, &turned);
    y = op(graph, ND4C_OP_softmax, op(graph, ND4C_OP_matmul, dense(graph, x, WIDTH, WIDTH), y, NULL), -1, NULL);
    y = op(graph, ND4C_OP_matmul, y, all, NULL);
    x = op(graph, ND4C_OP_add, x, dense(graph, y, WIDTH, WIDTH), NULL);
    const nd4c_value inner = op(graph, ND4C_OP_gelu, dense(graph, x, WIDTH, 2 * (int64_t)WIDTH), -1, NULL);
    x = op(graph, ND4C_OP_add, x, dense(graph, inner, 2 * (int64_t)WIDTH, WIDTH), NULL);
  }
  bench_check(nd4c_graph_output(graph, "y", x), "an output");
}

typedef struct network {
  const char *name;
  void (*make)(nd4c_graph *graph, int64_t batch, int64_t length);
  int32_t rank, axis; /* of the input; the second dim's axis */
  int64_t shape[4];
  bool decodes;  /* an input of one position comes before that one */
  int64_t first; /* the least size of the second dim */
} network;

static const network networks[] = {{"transformer", make_transformer, 3, 1, {0, 0, WIDTH}, false, 4},
                                   {"convolutions", make_network, 4, 2, {0, 16, 0, 32}, false, 8},
                                   {"decoder", make_decoder, 3, 1, {0, 0, WIDTH}, true, 4}};

static void run(nd4c_plan *plan, const network *n, int64_t batch, int64_t length) {
  int64_t shape[4];
  nd4c_array *output = NULL;
  memcpy(shape, n->shape, sizeof shape);
  shape[0] = batch;
  shape[n->axis] = length;
  nd4c_array *input = bench_array(ND4C_FLOAT32, n->rank, shape);
  nd4c_array *one = bench_array(ND4C_FLOAT32, 3, (int64_t[]){batch, 1, WIDTH});
  const nd4c_array *const inputs[] = {one, input};
  bench_check(nd4c_plan_run(plan, n->decodes ? inputs : inputs + 1, n->decodes ? 2 : 1, &output, 1), "a run");
  nd4c_array_release(output);
  nd4c_array_release(input);
  nd4c_array_release(one);
}

static nd4c_plan_bindings counts_of(const nd4c_plan *plan) {
  nd4c_plan_bindings counts = {.struct_size = sizeof counts};
  bench_check(nd4c_plan_get_bindings(plan, &counts), "bindings");
  return counts;
}

/* What bindings took by themselves and in kernels, whether they were made or got other extents. */
typedef struct spent {
  int64_t bindings, own, kernels, prepared;
} spent;

static spent spent_by(const nd4c_plan *plan) {
  const nd4c_plan_bindings counts = counts_of(plan);
  const int64_t kernels = counts.prepare_nanoseconds + counts.patch_prepare_nanoseconds;
  return (spent){.bindings = counts.made + counts.patched,
                 .own = counts.nanoseconds + counts.patch_nanoseconds - kernels,
                 .kernels = kernels,
                 .prepared = counts.prepared + counts.patch_prepared};
}

/* Nodes of the graph as it was recorded, and as the passes leave it. */
typedef struct node_counts {
  int recorded, left;
} node_counts;

/* Sizes of one dim alone change, or both. Keeps medians over the sizes. Returns 1 if the bar is missed. */
static int measure(nd4c_plan *plan, const network *n, node_counts nodes, const char *what, int batch_step,
                   int length_step) {
  double own[ROUNDS], kernels[ROUNDS], prepared[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    const spent before = spent_by(plan);
    run(plan, n, 1 + (int64_t)i * batch_step, n->first + (int64_t)i * length_step);
    const spent after = spent_by(plan);
    bench_check(after.bindings == before.bindings + 1 ? ND4C_OK : ND4C_INTERNAL, "a binding");
    own[i] = (double)(after.own - before.own) / 1e3;
    kernels[i] = (double)(after.kernels - before.kernels) / 1e3 / nodes.recorded;
    prepared[i] = (double)(after.prepared - before.prepared);
  }
  const double all = bench_median(own, ROUNDS), each = all / nodes.recorded;
  (void)printf(
      "{\"graph\": \"%s\", \"sizes\": \"%s\", \"nodes\": %d, \"left\": %d, \"us_a_node\": %.3f, "
      "\"us_a_node_left\": %.3f, \"kernels_us_a_node\": %.3f, \"prepared\": %.0f, \"bar\": %.1f, \"met\": %s}\n",
      n->name, what, nodes.recorded, nodes.left, each, all / nodes.left, bench_median(kernels, ROUNDS),
      bench_median(prepared, ROUNDS), bar, each <= bar ? "true" : "false");
  return each > bar;
}

static int measure_network(const network *n, const char *passes) {
  nd4c_graph *graph = NULL, *optimized = NULL;
  nd4c_plan *plan = NULL;
  int64_t batch = 0, length = 0;
  const bool none = strcmp(passes, "none") == 0;
  bench_check(nd4c_graph_create(&graph), "a graph");
  bench_check(nd4c_graph_dim(graph, "batch", 1, -1, &batch), "a dim");
  bench_check(nd4c_graph_dim(graph, "length", n->first, -1, &length), "a dim");
  n->make(graph, batch, length);
  const nd4c_plan_options options = {
      .struct_size = sizeof options, .no_optimization = none, .passes = none ? "" : passes, .binding_bytes = 1};
  nd4c_plan_options bucketed = options;
  bucketed.buckets = "length=64";
  bench_check(nd4c_graph_optimize(graph, NULL, &options, &optimized), "passes");
  bench_check(nd4c_plan_create(graph, NULL, &options, &plan), "a plan");
  const node_counts nodes = {nd4c_graph_node_count(graph), nd4c_graph_node_count(optimized)};
  nd4c_graph_destroy(optimized);
  run(plan, n, 40, n->first); /* what is made once */
  int missed = measure(plan, n, nodes, "new batches", 1, 0);
  missed += measure(plan, n, nodes, "new lengths", 0, 3);
  missed += measure(plan, n, nodes, "both new", 1, 5);
  nd4c_plan_destroy(plan);
  bench_check(nd4c_plan_create(graph, NULL, &bucketed, &plan), "a plan");
  run(plan, n, 1, n->first + 1);
  missed += measure(plan, n, nodes, "new lengths in a bucket", 0, 3);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  return missed;
}

int main(int count, char **arguments) {
  int missed = 0;
  for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
    if (count < 3 || strcmp(arguments[2], networks[i].name) == 0) {
      missed += measure_network(&networks[i], count > 1 ? arguments[1] : "");
    }
  }
  return missed > 0 ? 1 : 0;
}
