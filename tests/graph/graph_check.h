/* Shared by the tests of graphs: random inputs, a graph evaluated op by op with eager calls (the oracle), and the check
 * that plans agree with it. */
#ifndef ND4C_TESTS_GRAPH_CHECK_H
#define ND4C_TESTS_GRAPH_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "base/threads/cpu.h"
#include "device/registry/candidate.h"
#include "device/registry/candidate_list.h"
#include "dispatch/engines.h"
#include "graph/passes.h"
#include "graph/plan.h"
#include "nd4c/nd4c.h"

enum { CHECK_PORTS = 64 };

/* Seed of the case being checked, for the line that reproduces a failure (ND4C_TEST_SEED). */
static uint64_t check_seed;

#define CHECK_OK(expression)                                                                       \
  do {                                                                                             \
    nd4c_status check_status_ = (expression);                                                      \
    if (check_status_ != ND4C_OK) {                                                                \
      fail_msg("ND4C_TEST_SEED=%llu: %s gave %s: %s", (unsigned long long)check_seed, #expression, \
               nd4c_status_name(check_status_), nd4c_error_message());                             \
    }                                                                                              \
  } while (0)

static inline uint64_t check_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Between -1 and 1. */
static inline double check_number(uint64_t *state) {
  return (double)(int64_t)(check_random(state) % 2000001) / 1e6 - 1.0;
}

static inline nd4c_array *check_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape, uint64_t seed, double low,
                                      double high) {
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_array_empty(dtype, rank, shape, NULL, &array));
  void *data = NULL;
  CHECK_OK(nd4c_array_data_mutable(array, &data));
  uint64_t state = seed * 2654435761u + 88172645463325252u;
  for (int64_t i = 0; i < nd4c_array_size(array); i++) {
    double number = low + (check_number(&state) + 1.0) / 2.0 * (high - low);
    if (dtype == ND4C_FLOAT64) {
      ((double *)data)[i] = number;
    } else if (dtype == ND4C_INT64) {
      ((int64_t *)data)[i] = (int64_t)number;
    } else {
      assert_int_equal(dtype, ND4C_FLOAT32);
      ((float *)data)[i] = (float)number;
    }
  }
  return array;
}

/* Whether plans for the CPU may use the engine: its library is here, and the settings allow it. */
static inline bool check_has_engine(const char *name) {
  const nd4c_candidate *cpu = nd4c_candidates_find("cpu"), *brought_by = NULL;
  const nd4c_engine *engine = NULL;
  nd4c_engine_rules rules;
  char text[1024];
  nd4c_engine_rules_read(&rules);
  assert_non_null(cpu);
  for (int32_t i = 0; (engine = nd4c_candidate_engine(cpu, i, &brought_by)) != NULL; i++) {
    if (strcmp(engine->name, name) == 0) {
      return (engine->state == NULL || engine->state(true, text, sizeof text)) &&
             !nd4c_engine_is_disabled(&rules, name) && (rules.forced[0] == '\0' || nd4c_engine_is_forced(&rules, name));
    }
  }
  return false;
}

/* Whether this processor has the feature ("avx512bw"). */
static inline bool check_has_feature(const char *name) {
  const size_t length = strlen(name);
  const char *at = nd4c_cpu_features();
  while ((at = strstr(at, name)) != NULL && at[length] != ' ' && at[length] != '\0') {
    at += length;
  }
  return at != NULL;
}

/* Whether oneDNN multiplies bytes exactly. */
static inline bool check_has_exact_bytes(void) {
  return check_has_engine("onednn") && (check_has_feature("avx512_vnni") || check_has_feature("avx_vnni"));
}

/* -- building ------------------------------------------------------------------------------------------------------ */

static inline nd4c_value check_input(nd4c_graph *graph, const char *name, int32_t rank, const int64_t *shape) {
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_input(graph, name, ND4C_FLOAT32, rank, shape, &value));
  return value;
}

static inline nd4c_value check_constant(nd4c_graph *graph, int32_t rank, const int64_t *shape, uint64_t seed,
                                        double low, double high) {
  nd4c_array *array = check_array(ND4C_FLOAT32, rank, shape, seed, low, high);
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_constant(graph, array, &value));
  nd4c_array_release(array);
  return value;
}

static inline nd4c_value check_scalar(nd4c_graph *graph, double number) {
  nd4c_array *array = NULL;
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_scalar(ND4C_FLOAT32, number, NULL, &array));
  CHECK_OK(nd4c_graph_constant(graph, array, &value));
  nd4c_array_release(array);
  return value;
}

static inline nd4c_value check_op(nd4c_graph *graph, nd4c_op op, const nd4c_value *inputs, int32_t input_count,
                                  const nd4c_attr *attrs, int32_t attr_count) {
  nd4c_value output = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_op(graph, op, inputs, input_count, attrs, attr_count, NULL, &output, 1));
  return output;
}

static inline nd4c_value check_unary(nd4c_graph *graph, nd4c_op op, nd4c_value x) {
  return check_op(graph, op, &x, 1, NULL, 0);
}

static inline nd4c_value check_binary(nd4c_graph *graph, nd4c_op op, nd4c_value a, nd4c_value b) {
  return check_op(graph, op, (nd4c_value[]){a, b}, 2, NULL, 0);
}

static inline nd4c_attr check_int(const char *name, int64_t number) {
  return (nd4c_attr){.name = name, .value = {.kind = ND4C_ATTR_INT, .as.i = number}};
}

static inline nd4c_attr check_ints(const char *name, const int64_t *numbers, int32_t count) {
  return (nd4c_attr){.name = name, .value = {.kind = ND4C_ATTR_INTS, .count = count, .as.ints = numbers}};
}

/* -- evaluating ---------------------------------------------------------------------------------------------------- */

/* Random inputs of a graph, C-contiguous. */
static inline void check_make_inputs(const nd4c_graph *graph, uint64_t seed, nd4c_array **inputs) {
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    const nd4c_graph_value *value = &graph->values[graph->inputs.items[i].value];
    inputs[i] = check_array(value->dtype, value->rank, value->shape, seed + (uint64_t)i, -1.0, 1.0);
  }
}

static inline void check_release(nd4c_array **arrays, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(arrays[i]);
    arrays[i] = NULL;
  }
}

/* The oracle: every node by an eager call. */
static inline void check_evaluate(const nd4c_graph *graph, nd4c_array *const *inputs, nd4c_array **outputs) {
  nd4c_array **values = calloc((size_t)graph->value_count, sizeof *values);
  assert_non_null(values);
  for (int32_t i = 0; i < graph->value_count; i++) {
    const nd4c_graph_value *value = &graph->values[i];
    values[i] = nd4c_array_retain(value->input >= 0 ? inputs[value->input] : value->constant);
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    const nd4c_array *operands[16] = {NULL};
    assert_in_range(node->input_count, 0, 16);
    for (int32_t k = 0; k < node->input_count; k++) {
      operands[k] = node->inputs[k] < 0 ? NULL : values[node->inputs[k]];
    }
    CHECK_OK(nd4c_op_call_positional(NULL, node->def->info.op, operands, node->input_count, node->attrs,
                                     &values[node->outputs[0]]));
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    outputs[i] = nd4c_array_retain(values[graph->outputs.items[i].value]);
  }
  check_release(values, graph->value_count);
  free(values);
}

/* Largest difference relative to the largest magnitude of the expected array; fails on other shapes or dtypes. */
static inline double check_difference(const nd4c_array *expected, const nd4c_array *actual) {
  assert_int_equal(nd4c_array_dtype(expected), nd4c_array_dtype(actual));
  assert_int_equal(nd4c_array_rank(expected), nd4c_array_rank(actual));
  for (int32_t i = 0; i < nd4c_array_rank(expected); i++) {
    assert_int_equal(nd4c_array_shape(expected)[i], nd4c_array_shape(actual)[i]);
  }
  int64_t size = nd4c_array_size(expected);
  size_t bytes = (size_t)(size * nd4c_dtype_size(nd4c_array_dtype(expected)));
  void *left = malloc(bytes + 1), *right = malloc(bytes + 1);
  CHECK_OK(nd4c_array_read(expected, left, bytes));
  CHECK_OK(nd4c_array_read(actual, right, bytes));
  double worst = 0, largest = 1e-6;
  for (int64_t i = 0; i < size; i++) {
    double a, b;
    if (nd4c_array_dtype(expected) == ND4C_FLOAT32) {
      a = (double)((float *)left)[i];
      b = (double)((float *)right)[i];
    } else if (nd4c_array_dtype(expected) == ND4C_FLOAT64) {
      a = ((double *)left)[i];
      b = ((double *)right)[i];
    } else {
      a = memcmp(left, right, bytes) == 0 ? 0 : 1;
      b = 0;
    }
    double difference = isnan(a) && isnan(b) ? 0 : (a == b ? 0 : fabs(a - b));
    worst = isnan(difference) || difference > worst ? difference : worst;
    largest = fabs(a) > largest && !isinf(a) ? fabs(a) : largest;
  }
  free(left);
  free(right);
  return worst / largest;
}

static inline bool check_has_step(const nd4c_plan *plan, nd4c_op op) {
  for (int32_t i = 0; i < plan->step_count; i++) {
    if (plan->steps[i].choice != NULL && plan->graph->nodes[plan->steps[i].node].def->info.op == op) {
      return true;
    }
  }
  return false;
}

/* How often a pass rewrote the plan's graph. */
static inline int32_t check_changes(const nd4c_plan *plan, const char *pass) {
  for (int32_t i = 0; i < plan->pass_count; i++) {
    if (strcmp(plan->passes[i].name, pass) == 0) {
      return plan->passes[i].changes;
    }
  }
  fail_msg("there is no pass %s", pass);
  return -1;
}

/* No two blocks of the arena that are alive at the same step overlap, but for values computed in place. */
static inline void check_arena(const nd4c_plan *plan) {
  int32_t *first = calloc((size_t)plan->slot_count + 1, sizeof *first);
  int32_t *last = calloc((size_t)plan->slot_count + 1, sizeof *last);
  for (int32_t i = 0; i < plan->slot_count; i++) {
    first[i] = INT32_MAX;
    last[i] = -1;
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    const nd4c_step *step = &plan->steps[i];
    for (int32_t k = 0; k < step->input_count + step->output_count; k++) {
      nd4c_value value = k < step->input_count ? step->inputs[k] : step->outputs[k - step->input_count];
      int32_t root = value < 0 ? -1 : plan->slots[value].root;
      if (root >= 0 && plan->slots[root].kind == ND4C_SLOT_ARENA) {
        first[root] = i < first[root] ? i : first[root];
        last[root] = i;
      }
    }
  }
  for (int32_t a = 0; a < plan->slot_count; a++) {
    for (int32_t b = 0; b < plan->slot_count; b++) {
      const nd4c_slot *x = &plan->slots[a], *y = &plan->slots[b];
      /* Where one ends in the step in which the other begins, an in-place step put them on one place. */
      bool in_place =
          x->arena_offset == y->arena_offset && x->bytes == y->bytes && (last[a] == first[b] || last[b] == first[a]);
      if (a < b && last[a] >= first[b] && last[b] >= first[a] && !in_place && x->bytes > 0 && y->bytes > 0) {
        bool apart = x->arena_offset + x->bytes <= y->arena_offset || y->arena_offset + y->bytes <= x->arena_offset;
        if (!apart) {
          fail_msg("slots %d (steps %d..%d) and %d (steps %d..%d) overlap", a, first[a], last[a], b, first[b], last[b]);
        }
      }
    }
    if (last[a] >= 0) {
      assert_true(plan->slots[a].arena_offset % 64 == 0);
      assert_true(plan->slots[a].arena_offset + plan->slots[a].bytes <= plan->arena_bytes);
    }
  }
  free(first);
  free(last);
}

/* Runs a plan twice, into fresh and into given arrays, and compares with what is expected. */
static inline void check_runs(nd4c_plan *plan, nd4c_array *const *inputs, nd4c_array *const *expected, double tolerance,
                              const char *what) {
  int32_t input_count = plan->graph->inputs.count, output_count = plan->graph->outputs.count;
  const nd4c_array *given[CHECK_PORTS];
  nd4c_array *outputs[CHECK_PORTS] = {NULL};
  for (int32_t i = 0; i < input_count; i++) {
    given[i] = inputs[i];
  }
  for (int32_t round = 0; round < 3; round++) {
    int64_t before = nd4c_allocation_count();
    CHECK_OK(nd4c_plan_run(plan, given, input_count, outputs, output_count));
    if (round == 2 && nd4c_plan_is_direct(plan) && ND4C_RECYCLES) {
      assert_int_equal(nd4c_allocation_count() - before, 0);
    }
    for (int32_t i = 0; i < output_count; i++) {
      double difference = check_difference(expected[i], outputs[i]);
      assert_int_equal(nd4c_array_dtype(outputs[i]), nd4c_array_dtype(expected[i]));
      if (!(difference <= tolerance)) {
        char *report = NULL;
        CHECK_OK(nd4c_plan_report(plan, &report));
        print_error("%s", report);
        fail_msg("ND4C_TEST_SEED=%llu: %s: output %d differs by %g in round %d", (unsigned long long)check_seed, what,
                 i, difference, round);
      }
    }
  }
  check_release(outputs, output_count);
}

/* The optimised plan of a graph after checking that it, the unoptimised one and eager calls agree. */
static inline nd4c_plan *check_graph(const nd4c_graph *graph, uint64_t seed, double tolerance) {
  nd4c_array *inputs[CHECK_PORTS] = {NULL}, *expected[CHECK_PORTS] = {NULL};
  check_seed = seed;
  check_make_inputs(graph, seed, inputs);
  check_evaluate(graph, inputs, expected);
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  nd4c_plan *plain = NULL, *optimized = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plain));
  check_arena(plain);
  check_runs(plain, inputs, expected, tolerance, "unoptimised");
  nd4c_plan_destroy(plain);
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &optimized));
  check_arena(optimized);
  check_runs(optimized, inputs, expected, tolerance, "optimised");
  check_release(inputs, graph->inputs.count);
  check_release(expected, graph->outputs.count);
  return optimized;
}

/* Inputs x and w of 4 x 8. Outputs: a = tanh(x), b = sin(w), c = exp(tanh(x)) + sin(w); steps in this order: tanh, sin,
 * exp, add. */
static inline nd4c_graph *check_make_fork(void) {
  static const int64_t fork_shape[] = {4, 8};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, fork_shape), w = check_input(graph, "w", 2, fork_shape);
  nd4c_value a = check_unary(graph, ND4C_OP_tanh, x), b = check_unary(graph, ND4C_OP_sin, w);
  nd4c_value c = check_binary(graph, ND4C_OP_add, check_unary(graph, ND4C_OP_exp, a), b);
  CHECK_OK(nd4c_graph_output(graph, "a", a));
  CHECK_OK(nd4c_graph_output(graph, "b", b));
  CHECK_OK(nd4c_graph_output(graph, "c", c));
  return graph;
}

#endif
