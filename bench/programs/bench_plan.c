/* The overhead of a plan's step in nd4c itself: plans of 10 and of 1,000 steps on the asynchronous stub device, whose
 * kernels then do nothing ("idle 1"), and the same graphs on the host for comparison. Each run ends with a wait. The
 * figure of a step is the difference of the two runs by 990 steps; the limit is 60 ns. Usage: bench_plan
 * PATH_OF_LIBND4C_STUB; with STUB_CAPTURE=all in the environment the stub launches recorded steps. Prints lines of
 * JSON, then the figures. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "bench/measure.h"

enum { FEW = 10, MANY = 1000, RUNS = 20, CASES = 4 };

typedef struct plan_state {
  nd4c_plan *plan;
  nd4c_array *input, *output;
} plan_state;

static void body(void *argument) {
  plan_state *state = argument;
  const nd4c_array *given[] = {state->input};
  for (int i = 0; i < RUNS; i++) {
    bench_check(nd4c_plan_run(state->plan, given, 1, &state->output, 1), "a run");
  }
  bench_check(nd4c_array_wait(state->output), "waiting for a run");
}

static plan_state make_plan(nd4c_context *context, int steps) {
  plan_state state = {.output = NULL};
  const int64_t shape[] = {8};
  nd4c_graph *graph = NULL;
  nd4c_value value = 0;
  bench_check(nd4c_graph_create(&graph), "a graph");
  bench_check(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, shape, &value), "an input");
  for (int i = 0; i < steps; i++) {
    const nd4c_op op = i % 2 == 0 ? ND4C_OP_tanh : ND4C_OP_sin;
    nd4c_value next = 0;
    bench_check(nd4c_graph_op(graph, op, &value, 1, NULL, 0, NULL, &next, 1), "a node");
    value = next;
  }
  bench_check(nd4c_graph_output(graph, "y", value), "an output");
  bench_check(nd4c_plan_create(graph, context, NULL, &state.plan), "a plan");
  nd4c_graph_destroy(graph);
  state.input = bench_array(ND4C_FLOAT32, 1, shape);
  return state;
}

static nd4c_context *context_on(const char *name) {
  nd4c_device *device = NULL;
  nd4c_context *context = NULL;
  bench_check(nd4c_device_find(name, &device), name);
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  bench_check(nd4c_context_create(&options, &context), "a context");
  return context;
}

static void idle(const char *path) {
  void *library = dlopen(path, RTLD_NOW);
  void *symbol = library != NULL ? dlsym(library, "stub_control") : NULL;
  int32_t (*control)(const char *) = NULL;
  memcpy(&control, &symbol, sizeof control);
  bench_check(control != NULL && control("idle 1") == 0 ? ND4C_OK : ND4C_LIBRARY, "stub_control");
}

int main(int count, char **arguments) {
  static const char *const names[CASES] = {"stub, 10 steps", "stub, 1000 steps", "cpu, 10 steps", "cpu, 1000 steps"};
  if (count != 2) {
    (void)fprintf(stderr, "usage: %s PATH_OF_LIBND4C_STUB\n", arguments[0]);
    return 2;
  }
  bench_check(nd4c_backend_load(arguments[1]), "the stub");
  bench_check(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", "tile"), "a rule"); /* it would make one step of many */
  nd4c_context *contexts[] = {context_on("stub:0"), context_on("cpu:0")};
  plan_state states[CASES];
  bench_case cases[CASES];
  for (int i = 0; i < CASES; i++) {
    states[i] = make_plan(contexts[i / 2], i % 2 == 0 ? FEW : MANY);
    cases[i] = (bench_case){.name = names[i], .shape = "(8,)", .dtype = "float32", .body = body, .state = &states[i]};
  }
  idle(arguments[1]);
  bench_interleave(cases, CASES);
  for (int i = 0; i < CASES; i++) {
    for (int round = 0; round < BENCH_ROUNDS; round++) {
      cases[i].times[round] /= RUNS;
    }
    bench_print(&cases[i], 0);
  }
  for (int i = 0; i < CASES; i += 2) {
    double few = bench_median(cases[i].times, BENCH_ROUNDS), many = bench_median(cases[i + 1].times, BENCH_ROUNDS);
    (void)printf("%s: %.1f ns a step, %.0f ns a run beside\n", i == 0 ? "stub" : "cpu, with its kernels",
                 (many - few) / (MANY - FEW), few - FEW * (many - few) / (MANY - FEW));
  }
  return 0;
}
