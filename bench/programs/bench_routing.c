/* The overhead of routing for a call on eight float32 elements, under each policy: over the host alone, and over the
 * host and a second device (the first argument, "opencl:0"; left out where there is none). The same call in a context
 * without routing, on the device that computes it, is timed for comparison: that is the host, except for prefer_gpu
 * with two devices. The last rows make many different calls in turn (ops, dtypes, lengths), like the steps of a model
 * that is computed eagerly. Prints lines of JSON and, after those of a policy, the medians over the rounds of routed /
 * plain. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure.h"
#include "bench/small.h"

enum { CALLS = 1000, PLAIN = 0, ROUTED = 1, PAIR = 2 };

typedef nd4c_status binary(const nd4c_array *a, const nd4c_array *b, nd4c_array **out);

/* A call that differs from all others of its list in op, dtype or length. */
typedef struct different_call {
  binary *op;
  nd4c_array *a;
} different_call;

typedef struct routed_state {
  nd4c_context *context;
  int which;
  nd4c_array *a, *b, *y;
  const different_call *different; /* if not NULL, called in turn instead of one call on the arrays */
  int count;
} routed_state;

static void enter(const routed_state *state, nd4c_context **previous) {
  bench_check(nd4c_context_enter(state->context, previous), "entering a context");
}

static void leave(const routed_state *state, nd4c_context *previous) {
  bench_check(nd4c_context_synchronize(state->context), "waiting for a context");
  bench_check(nd4c_context_enter(previous, NULL), "leaving a context");
}

static void body(void *argument) {
  const routed_state *state = argument;
  nd4c_context *previous = NULL;
  enter(state, &previous);
  if (bench_small_calls(state->which, state->a, state->b, state->y, CALLS) < 0) {
    bench_check(nd4c_error_code(), "a small call");
  }
  leave(state, previous);
}

static void body_different(void *argument) {
  const routed_state *state = argument;
  nd4c_context *previous = NULL;
  enter(state, &previous);
  for (int i = 0; i < state->count; i++) {
    const different_call *call = &state->different[i];
    nd4c_array *y = NULL;
    bench_check(call->op(call->a, call->a, &y), "one of many calls");
    nd4c_array_release(y);
  }
  leave(state, previous);
}

static nd4c_context *plain_context(nd4c_device *device) {
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  nd4c_context *context = NULL;
  bench_check(nd4c_context_create(&options, &context), "a context");
  return context;
}

/* A context on the first of `count` devices, routed over them. */
static nd4c_context *routed_context(nd4c_device *const *devices, int32_t count, nd4c_routing_policy policy) {
  nd4c_routing_options routes = {
      .struct_size = sizeof routes, .policy = policy, .devices = devices, .device_count = count};
  nd4c_context *context = plain_context(devices[0]);
  nd4c_routing *routing = NULL;
  bench_check(nd4c_routing_create(&routes, &routing), "a routing object");
  bench_check(nd4c_context_set_routing(context, routing), "routing of a context");
  nd4c_routing_destroy(routing);
  return context;
}

/* The device on which the context computes a sum of eight numbers that are on the host. */
static nd4c_device *chosen_by(nd4c_context *context, const nd4c_array *a) {
  nd4c_array *y = NULL;
  bench_check(nd4c_add_on(context, a, a, &y), "an addition");
  nd4c_device *device = nd4c_array_device(y);
  nd4c_array_release(y);
  return device;
}

/* Both contexts in turn, one as `state` says and the other by `routed`; calls: of one body. */
static void compare(routed_state state, nd4c_context *routed, void (*run)(void *), int calls, const char *label,
                    const char *op) {
  const nd4c_array *first = state.different != NULL ? state.different[0].a : state.a;
  nd4c_device *device = chosen_by(routed, first);
  nd4c_device_info info = {.struct_size = sizeof info};
  bench_check(nd4c_device_get_info(device, &info), "nd4c_device_get_info");
  char plain[64];
  (void)snprintf(plain, sizeof plain, "plain on %s", info.name);
  nd4c_context *contexts[PAIR] = {plain_context(device), routed};
  routed_state states[PAIR];
  bench_case cases[PAIR];
  for (int i = 0; i < PAIR; i++) {
    states[i] = state;
    states[i].context = contexts[i];
    cases[i] = (bench_case){
        .name = i == PLAIN ? plain : label, .shape = op, .dtype = "float32", .body = run, .state = &states[i]};
  }
  bench_interleave(cases, PAIR);
  for (int i = 0; i < PAIR; i++) {
    for (int round = 0; round < BENCH_ROUNDS; round++) {
      cases[i].times[round] /= calls;
    }
    bench_print(&cases[i], 0);
  }
  (void)printf("%s, %s: %.3f of the plain call's time\n", op, label, bench_ratio(&cases[ROUTED], &cases[PLAIN]));
  for (int i = 0; i < PAIR; i++) {
    (void)nd4c_context_destroy(contexts[i]);
  }
}

static void name_row(nd4c_routing_policy policy, int32_t count, char *label, size_t size) {
  static const char *const names[] = {
#define POLICY_NAME(NAME, number, name) [number] = name,
      ND4C_ROUTING_POLICY_TABLE(POLICY_NAME)
#undef POLICY_NAME
  };
  (void)snprintf(label, size, "%s over %d device%s", names[policy], (int)count, count > 1 ? "s" : "");
}

static void measure(nd4c_device *const *devices, int32_t count, nd4c_routing_policy policy, bench_small which,
                    const char *op) {
  const int64_t shape = 8;
  char label[64];
  name_row(policy, count, label, sizeof label);
  nd4c_array *arrays[3] = {bench_array(ND4C_FLOAT32, 1, &shape), bench_array(ND4C_FLOAT32, 1, &shape),
                           bench_array(ND4C_FLOAT32, 1, &shape)};
  compare((routed_state){.which = (int)which, .a = arrays[0], .b = arrays[1], .y = arrays[2]},
          routed_context(devices, count, policy), body, CALLS, label, op);
  for (int i = 0; i < 3; i++) {
    nd4c_array_release(arrays[i]);
  }
}

static void measure_different(nd4c_device *const *devices, int32_t count, nd4c_routing_policy policy, int calls) {
  static binary *const ops[] = {nd4c_add, nd4c_subtract, nd4c_multiply, nd4c_maximum};
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_INT32, ND4C_INT64};
  enum { OPS = sizeof ops / sizeof ops[0], DTYPES = sizeof dtypes / sizeof dtypes[0] };
  char label[64], op[32];
  name_row(policy, count, label, sizeof label);
  (void)snprintf(op, sizeof op, "%d different calls", calls);
  different_call *different = calloc((size_t)calls, sizeof *different);
  if (different == NULL) {
    return;
  }
  for (int i = 0; i < calls; i++) {
    const int64_t length = 8 + i / (OPS * DTYPES);
    different[i] = (different_call){ops[i % OPS], bench_array(dtypes[i / OPS % DTYPES], 1, &length)};
  }
  compare((routed_state){.different = different, .count = calls}, routed_context(devices, count, policy),
          body_different, calls, label, op);
  for (int i = 0; i < calls; i++) {
    nd4c_array_release(different[i].a);
  }
  free(different);
}

int main(int argc, char **argv) {
  static const nd4c_routing_policy policies[] = {
#define POLICY_ROW(NAME, number, name) ND4C_ROUTING_##NAME,
      ND4C_ROUTING_POLICY_TABLE(POLICY_ROW)
#undef POLICY_ROW
  };
  static const int different[] = {64, 256, 1024};
  nd4c_device *devices[2] = {NULL, NULL};
  bench_check(nd4c_device_find("cpu:0", &devices[0]), "cpu:0");
  const bool second = nd4c_device_find(argc > 1 ? argv[1] : "opencl:0", &devices[1]) == ND4C_OK;
  for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
    for (int32_t count = 1; count <= 1 + second; count++) {
      measure(devices, count, policies[i], BENCH_SMALL_FRESH, "add fresh");
      measure(devices, count, policies[i], BENCH_SMALL_INTO, "add into an output");
    }
  }
  for (size_t i = 0; i < sizeof different / sizeof different[0]; i++) {
    for (int32_t count = 1; count <= 1 + second; count++) {
      measure_different(devices, count, ND4C_ROUTING_VOTE, different[i]);
    }
    if (second) {
      measure_different(devices, 2, ND4C_ROUTING_PREFER_GPU, different[i]);
    }
  }
  return 0;
}
