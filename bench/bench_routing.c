/* What routing adds to a call on eight float32 elements: in a context without routing, with routing over the host
 * alone, and over the host and a second device (the first argument, "opencl:0"; left out where there is none). Prints
 * lines of JSON and, last, the median over the rounds of routed / plain. */
#include <stdio.h>

#include "measure.h"
#include "small.h"

enum { CALLS = 1000, PLAIN = 0, ONE = 1, TWO = 2, WAYS = 3 };

typedef struct routed_state {
  nd4c_context *context;
  int which;
  nd4c_array *a, *b, *y;
} routed_state;

static void body(void *argument) {
  routed_state *state = argument;
  nd4c_context *previous = NULL;
  bench_check(nd4c_context_enter(state->context, &previous), "entering a context");
  if (bench_small_calls(state->which, state->a, state->b, state->y, CALLS) < 0) {
    bench_check(nd4c_error_code(), "a small call");
  }
  bench_check(nd4c_context_enter(previous, NULL), "leaving a context");
}

/* A context on the first device, routed over `count` of them (0: not routed). */
static nd4c_context *make_context(nd4c_device *const *devices, int32_t count) {
  nd4c_context_options options = {.struct_size = sizeof options, .device = devices[0]};
  nd4c_routing_options routes = {.struct_size = sizeof routes, .devices = devices, .device_count = count};
  nd4c_context *context = NULL;
  nd4c_routing *routing = NULL;
  bench_check(nd4c_context_create(&options, &context), "a context");
  if (count > 0) {
    bench_check(nd4c_routing_create(&routes, &routing), "a routing object");
    bench_check(nd4c_context_set_routing(context, routing), "routing of a context");
    nd4c_routing_destroy(routing);
  }
  return context;
}

static void measure(nd4c_context *const *contexts, int ways, bench_small which, const char *op) {
  static const char *const names[WAYS] = {"plain", "routed, one device", "routed, two devices"};
  const int64_t shape = 8;
  nd4c_array *a = bench_array(ND4C_FLOAT32, 1, &shape), *b = bench_array(ND4C_FLOAT32, 1, &shape);
  nd4c_array *y = bench_array(ND4C_FLOAT32, 1, &shape);
  routed_state states[WAYS];
  bench_case cases[WAYS];
  for (int i = 0; i < ways; ++i) {
    states[i] = (routed_state){.context = contexts[i], .which = (int)which, .a = a, .b = b, .y = y};
    cases[i] = (bench_case){.name = names[i], .shape = op, .dtype = "float32", .body = body, .state = &states[i]};
  }
  bench_interleave(cases, ways);
  for (int i = 0; i < ways; ++i) {
    for (int round = 0; round < BENCH_ROUNDS; ++round) {
      cases[i].times[round] /= CALLS;
    }
    bench_print(&cases[i], 0);
  }
  for (int i = 1; i < ways; ++i) {
    (void)printf("%s, %s: %.3f of the plain call's time\n", op, names[i], bench_ratio(&cases[i], &cases[PLAIN]));
  }
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(y);
}

int main(int argc, char **argv) {
  nd4c_device *devices[2] = {NULL, NULL};
  nd4c_context *contexts[WAYS] = {NULL};
  bench_check(nd4c_device_find("cpu:0", &devices[0]), "cpu:0");
  const bool second = nd4c_device_find(argc > 1 ? argv[1] : "opencl:0", &devices[1]) == ND4C_OK;
  contexts[PLAIN] = make_context(devices, 0);
  contexts[ONE] = make_context(devices, 1);
  contexts[TWO] = second ? make_context(devices, 2) : NULL;
  measure(contexts, second ? WAYS : TWO, BENCH_SMALL_FRESH, "add fresh");
  measure(contexts, second ? WAYS : TWO, BENCH_SMALL_INTO, "add into an output");
  for (int i = 0; i < WAYS; ++i) {
    (void)nd4c_context_destroy(contexts[i]);
  }
  return 0;
}
