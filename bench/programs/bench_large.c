/* How long a plan of many nodes takes to make, with all passes and compilers: a chain, a random graph, and chains of
 * eight element-wise nodes. Usage: bench_large [NODES], by default 100,000. Prints a line of JSON for each shape, and
 * fails if one takes longer than 10 s. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure.h"

enum { SHAPES = 3, CHAIN = 8, NEAR = 50 };

static const double limit_ns = 10e9;

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static nd4c_value add(nd4c_graph *graph, nd4c_op op, const nd4c_value *inputs, int32_t count) {
  nd4c_value result = ND4C_VALUE_NONE;
  bench_check(nd4c_graph_op(graph, op, inputs, count, NULL, 0, NULL, &result, 1), "a node");
  return result;
}

/* One node after another, each of the one before and of the input. */
static void add_chain(nd4c_graph *graph, nd4c_value *values, int32_t nodes) {
  static const nd4c_op ops[] = {ND4C_OP_add, ND4C_OP_multiply, ND4C_OP_subtract, ND4C_OP_maximum};
  for (int32_t i = 0; i < nodes; i++) {
    values[i + 1] = add(graph, ops[i % 4], (const nd4c_value[]){values[i], values[0]}, 2);
  }
}

/* Each node of two that are not far before it. */
static void add_random(nd4c_graph *graph, nd4c_value *values, int32_t nodes) {
  static const nd4c_op ops[] = {ND4C_OP_add, ND4C_OP_multiply, ND4C_OP_tanh, ND4C_OP_softmax, ND4C_OP_exp};
  uint64_t state = 88172645463325252u;
  for (int32_t i = 0; i < nodes; i++) {
    const int32_t near = i < NEAR ? i + 1 : NEAR;
    const nd4c_value operands[] = {values[i - (int32_t)(next_random(&state) % (uint64_t)near)], values[i]};
    const uint64_t op = next_random(&state) % 5;
    values[i + 1] = add(graph, ops[op], operands, op < 2 ? 2 : 1);
  }
}

/* Chains that no compiler takes together, because softmax stands between them. */
static void add_chains(nd4c_graph *graph, nd4c_value *values, int32_t nodes) {
  static const nd4c_op ops[] = {ND4C_OP_tanh, ND4C_OP_exp, ND4C_OP_sqrt, ND4C_OP_sigmoid};
  for (int32_t i = 0; i < nodes; i++) {
    const nd4c_op op = i % (CHAIN + 1) == CHAIN ? ND4C_OP_softmax : ops[i % 4];
    values[i + 1] = add(graph, op, &values[i], 1);
  }
}

static const struct {
  const char *name;
  void (*make)(nd4c_graph *graph, nd4c_value *values, int32_t nodes);
  int64_t extent;
} shapes[SHAPES] = {{"chain", add_chain, 8}, {"random", add_random, 8}, {"chains of 8", add_chains, 131072}};

static double measure(int32_t number, int32_t nodes) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value *values = calloc((size_t)nodes + 1, sizeof *values);
  bench_check(values != NULL ? ND4C_OK : ND4C_MEMORY, "values");
  bench_check(nd4c_graph_create(&graph), "a graph");
  bench_check(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, &shapes[number].extent, &values[0]), "an input");
  const double begin = bench_now();
  shapes[number].make(graph, values, nodes);
  bench_check(nd4c_graph_output(graph, "y", values[nodes]), "an output");
  const double recorded = bench_now();
  bench_check(nd4c_plan_create(graph, NULL, NULL, &plan), "a plan");
  const double planned = bench_now();
  (void)printf("{\"name\": \"%s\", \"nodes\": %d, \"steps\": %d, \"record_seconds\": %.3f, \"plan_seconds\": %.3f}\n",
               shapes[number].name, (int)nodes, (int)nd4c_plan_step_count(plan), 1e-9 * (recorded - begin),
               1e-9 * (planned - recorded));
  (void)fflush(stdout);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  free(values);
  return planned - recorded;
}

int main(int count, char **arguments) {
  const long nodes = count > 1 ? strtol(arguments[1], NULL, 10) : 100000;
  int slow = 0;
  if (count > 2 || nodes < 1 || nodes > 10000000) {
    (void)fprintf(stderr, "usage: %s [NODES], 1 to 10000000\n", arguments[0]);
    return 2;
  }
  for (int32_t i = 0; i < SHAPES; i++) {
    slow += measure(i, (int32_t)nodes) > limit_ns;
  }
  return slow > 0 ? 1 : 0;
}
