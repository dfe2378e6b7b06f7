/* What routing adds to a call on eight float32 elements, under each policy: over the host alone, and over the host and
 * a second device (the first argument, "opencl:0"; left out where there is none). Beside it stands the same call in a
 * context without routing on the device that computes it: the host, but for prefer_gpu over two. Prints lines of JSON
 * and, behind those of a policy, the medians over the rounds of routed / plain. */
#include <stdio.h>

#include "measure.h"
#include "small.h"

enum { CALLS = 1000, PLAIN = 0, ROUTED = 1, PAIR = 2 };

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
  bench_check(nd4c_context_synchronize(state->context), "waiting for a context");
  bench_check(nd4c_context_enter(previous, NULL), "leaving a context");
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

/* Where the context computes a sum of eight numbers that lie on the host. */
static nd4c_device *chosen_by(nd4c_context *context, const nd4c_array *a) {
  nd4c_array *y = NULL;
  bench_check(nd4c_add_on(context, a, a, &y), "an addition");
  nd4c_device *device = nd4c_array_device(y);
  nd4c_array_release(y);
  return device;
}

static void measure(nd4c_device *const *devices, int32_t count, nd4c_routing_policy policy, const char *name,
                    bench_small which, const char *op) {
  const int64_t shape = 8;
  nd4c_array *arrays[3] = {bench_array(ND4C_FLOAT32, 1, &shape), bench_array(ND4C_FLOAT32, 1, &shape),
                           bench_array(ND4C_FLOAT32, 1, &shape)};
  nd4c_context *routed = routed_context(devices, count, policy);
  nd4c_device *device = chosen_by(routed, arrays[0]);
  nd4c_context *contexts[PAIR] = {plain_context(device), routed};
  char label[64], plain[64];
  (void)snprintf(label, sizeof label, "%s over %d device%s", name, (int)count, count > 1 ? "s" : "");
  nd4c_device_info info = {.struct_size = sizeof info};
  bench_check(nd4c_device_get_info(device, &info), "nd4c_device_get_info");
  (void)snprintf(plain, sizeof plain, "plain on %s", info.name);
  routed_state states[PAIR];
  bench_case cases[PAIR];
  for (int i = 0; i < PAIR; ++i) {
    states[i] = (routed_state){contexts[i], (int)which, arrays[0], arrays[1], arrays[2]};
    cases[i] = (bench_case){
        .name = i == PLAIN ? plain : label, .shape = op, .dtype = "float32", .body = body, .state = &states[i]};
  }
  bench_interleave(cases, PAIR);
  for (int i = 0; i < PAIR; ++i) {
    for (int round = 0; round < BENCH_ROUNDS; ++round) {
      cases[i].times[round] /= CALLS;
    }
    bench_print(&cases[i], 0);
  }
  (void)printf("%s, %s: %.3f of the plain call's time\n", op, label, bench_ratio(&cases[ROUTED], &cases[PLAIN]));
  for (int i = 0; i < 3; ++i) {
    nd4c_array_release(arrays[i]);
  }
  for (int i = 0; i < PAIR; ++i) {
    (void)nd4c_context_destroy(contexts[i]);
  }
}

int main(int argc, char **argv) {
  static const struct {
    nd4c_routing_policy policy;
    const char *name;
  } policies[] = {
#define POLICY_ROW(NAME, number, name) {ND4C_ROUTING_##NAME, name},
      ND4C_ROUTING_POLICY_TABLE(POLICY_ROW)
#undef POLICY_ROW
  };
  nd4c_device *devices[2] = {NULL, NULL};
  bench_check(nd4c_device_find("cpu:0", &devices[0]), "cpu:0");
  const bool second = nd4c_device_find(argc > 1 ? argv[1] : "opencl:0", &devices[1]) == ND4C_OK;
  for (size_t i = 0; i < sizeof policies / sizeof policies[0]; ++i) {
    for (int32_t count = 1; count <= 1 + second; ++count) {
      measure(devices, count, policies[i].policy, policies[i].name, BENCH_SMALL_FRESH, "add fresh");
      measure(devices, count, policies[i].policy, policies[i].name, BENCH_SMALL_INTO, "add into an output");
    }
  }
  return 0;
}
