/* Chains of element-wise ops: tanh(sqrt(x * x + y * y) * 0.5 + exp(-x) / (1 + y)) - x * y + 2, and the same with its
 * mean at the end; then the mean of (x - y)^2, and all of it in float64. Each is fused by engine tile, and computed op
 * by op, beside the memory's limit (the same bytes read and written by a hand-written loop). Usage: bench_chain
 * [ELEMENTS]; 10^7 by default. Prints lines of JSON, then the ratios.
 * bench/python/chain_jax.py times JAX and numexpr. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/limits.h"
#include "bench/measure.h"

enum { CASES = 3 };

typedef struct chain_state {
  nd4c_plan *plan;
  const nd4c_array *inputs[2];
  nd4c_array *output;
} chain_state;

typedef struct limit_state {
  const void *x, *y;
  void *output;
  int64_t count;
  int32_t width;
  nd4c_dtype dtype;
  bool reads; /* it writes nothing */
} limit_state;

static nd4c_value op(nd4c_graph *graph, nd4c_op number, nd4c_value a, nd4c_value b) {
  const nd4c_value inputs[] = {a, b};
  nd4c_value y = ND4C_VALUE_NONE;
  bench_check(nd4c_graph_op(graph, number, inputs, b < 0 ? 1 : 2, NULL, 0, "", &y, 1), "a node");
  return y;
}

typedef struct chain_kind {
  const char *name;
  nd4c_dtype dtype;
  bool long_chain, mean;
} chain_kind;

static const chain_kind kinds[] = {
    {"chain", ND4C_FLOAT32, true, false},       {"chain, mean", ND4C_FLOAT32, true, true},
    {"mean square", ND4C_FLOAT32, false, true}, {"chain", ND4C_FLOAT64, true, false},
    {"chain, mean", ND4C_FLOAT64, true, true},  {"mean square", ND4C_FLOAT64, false, true}};

static nd4c_value number(nd4c_graph *graph, nd4c_dtype dtype, double value) {
  nd4c_array *array = NULL;
  nd4c_value constant = ND4C_VALUE_NONE;
  const float narrow = (float)value;
  const void *data = dtype == ND4C_FLOAT32 ? (const void *)&narrow : (const void *)&value;
  bench_check(nd4c_array_from_data(dtype, 0, NULL, data, NULL, &array), "a number");
  bench_check(nd4c_graph_constant(graph, array, &constant), "a constant");
  nd4c_array_release(array);
  return constant;
}

static nd4c_value add_chain(nd4c_graph *graph, nd4c_dtype dtype, nd4c_value x, nd4c_value y) {
  const nd4c_value none = ND4C_VALUE_NONE;
  const nd4c_value squares =
      op(graph, ND4C_OP_add, op(graph, ND4C_OP_multiply, x, x), op(graph, ND4C_OP_multiply, y, y));
  const nd4c_value half =
      op(graph, ND4C_OP_multiply, op(graph, ND4C_OP_sqrt, squares, none), number(graph, dtype, 0.5));
  const nd4c_value decay = op(graph, ND4C_OP_exp, op(graph, ND4C_OP_negative, x, none), none);
  const nd4c_value quotient = op(graph, ND4C_OP_divide, decay, op(graph, ND4C_OP_add, number(graph, dtype, 1), y));
  const nd4c_value bent = op(graph, ND4C_OP_tanh, op(graph, ND4C_OP_add, half, quotient), none);
  const nd4c_value difference = op(graph, ND4C_OP_subtract, bent, op(graph, ND4C_OP_multiply, x, y));
  return op(graph, ND4C_OP_add, difference, number(graph, dtype, 2));
}

static nd4c_plan *make_plan(const chain_kind *kind, int64_t count, bool fused) {
  const nd4c_value none = ND4C_VALUE_NONE;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value x = none, y = none;
  bench_check(nd4c_graph_create(&graph), "a graph");
  bench_check(nd4c_graph_input(graph, "x", kind->dtype, 1, &count, &x), "an input");
  bench_check(nd4c_graph_input(graph, "y", kind->dtype, 1, &count, &y), "an input");
  nd4c_value z = kind->long_chain ? add_chain(graph, kind->dtype, x, y)
                                  : op(graph, ND4C_OP_square, op(graph, ND4C_OP_subtract, x, y), none);
  z = kind->mean ? op(graph, ND4C_OP_mean, z, none) : z;
  bench_check(nd4c_graph_output(graph, "z", z), "an output");
  bench_check(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", fused ? NULL : "tile"), "a rule");
  bench_check(nd4c_plan_create(graph, NULL, NULL, &plan), "a plan");
  bench_check(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", NULL), "a rule");
  nd4c_graph_destroy(graph);
  return plan;
}

static void run(void *argument) {
  chain_state *state = argument;
  bench_check(nd4c_plan_run(state->plan, state->inputs, 2, &state->output, 1), "a run");
}

static void run_limit(void *argument) {
  const limit_state *state = argument;
  const size_t bytes = (size_t)state->count * (size_t)nd4c_dtype_size(state->dtype);
  if (state->reads) {
    (void)bench_limit_read(state->x, bytes, state->width);
    (void)bench_limit_read(state->y, bytes, state->width);
    return;
  }
  (void)bench_limit_binary(BENCH_LIMIT_ADD, state->dtype, state->x, state->y, state->output, state->count, 1, true,
                           state->width);
}

static void measure(const chain_kind *kind, int64_t elements) {
  nd4c_array *x = bench_array(kind->dtype, 1, &elements), *y = bench_array(kind->dtype, 1, &elements);
  chain_state states[2] = {{.plan = make_plan(kind, elements, true)}, {.plan = make_plan(kind, elements, false)}};
  nd4c_machine_info machine = {.struct_size = sizeof machine};
  char shape[32], names[2][32];
  (void)snprintf(shape, sizeof shape, "%lld", (long long)elements);
  (void)snprintf(names[0], sizeof names[0], "%s fused", kind->name);
  (void)snprintf(names[1], sizeof names[1], "%s op by op", kind->name);
  bench_check(nd4c_machine_get_info(&machine), "nd4c_machine_get_info");
  nd4c_array *z = bench_array(kind->dtype, 1, &elements);
  limit_state limit = {.count = elements, .width = machine.width, .dtype = kind->dtype, .reads = kind->mean};
  bench_check(nd4c_array_data(x, &limit.x), "nd4c_array_data");
  bench_check(nd4c_array_data(y, &limit.y), "nd4c_array_data");
  bench_check(nd4c_array_data_mutable(z, &limit.output), "nd4c_array_data_mutable");
  bench_case cases[CASES] = {{.name = names[0], .body = run, .state = &states[0]},
                             {.name = names[1], .body = run, .state = &states[1]},
                             {.name = "memory", .body = run_limit, .state = &limit}};
  for (int i = 0; i < CASES; i++) {
    cases[i].shape = shape;
    cases[i].dtype = nd4c_dtype_name(kind->dtype);
    cases[i].bytes = (kind->mean ? 2.0 : 3.0) * (double)nd4c_dtype_size(kind->dtype) * (double)elements;
  }
  for (int i = 0; i < 2; i++) {
    states[i].inputs[0] = x;
    states[i].inputs[1] = y;
  }
  bench_interleave(cases, CASES);
  for (int i = 0; i < CASES; i++) {
    bench_print(&cases[i], bench_median(cases[2].times, BENCH_ROUNDS));
  }
  (void)printf("op by op / fused %.2f, memory / fused %.2f\n", bench_ratio(&cases[1], &cases[0]),
               bench_ratio(&cases[2], &cases[0]));
  for (int i = 0; i < 2; i++) {
    nd4c_plan_destroy(states[i].plan);
    nd4c_array_release(states[i].output);
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_array_release(z);
}

int main(int count, char **arguments) {
  const int64_t elements = count > 1 ? strtoll(arguments[1], NULL, 10) : 10000000;
  if (elements < 1) {
    (void)fprintf(stderr, "usage: %s [ELEMENTS]\n", arguments[0]);
    return 2;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    measure(&kinds[i], elements);
  }
  return 0;
}
