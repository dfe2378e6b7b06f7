/* Shared by the tests of variables: a graph that counts, and checks of a state. */
#ifndef ND4C_TESTS_GRAPH_VARIABLES_CHECK_H
#define ND4C_TESTS_GRAPH_VARIABLES_CHECK_H

#include "graph/graph_check.h"

static const int64_t shape[] = {4, 8};
enum { SIZE = 32 };

/* -- building ------------------------------------------------------------------------------------------------------ */

static inline nd4c_value make_variable(nd4c_graph *graph, const char *name, nd4c_value initial, bool trainable) {
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_variable(graph, name, initial, trainable, &value));
  return value;
}

/* Everywhere the same number. */
static inline nd4c_value full(nd4c_graph *graph, double number) {
  nd4c_array *array = NULL;
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, shape, number, NULL, &array));
  CHECK_OK(nd4c_graph_constant(graph, array, &value));
  nd4c_array_release(array);
  return value;
}

/* Inputs: x. Variable n, at first 1, is assigned n + x. Output y = 2 n. */
static inline nd4c_graph *make_counter(void) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value n = make_variable(graph, "n", full(graph, 1), false);
  nd4c_value x = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_assign(graph, n, check_binary(graph, ND4C_OP_add, n, x)));
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, n, n)));
  return graph;
}

static inline nd4c_plan *plan_of(const nd4c_graph *graph, nd4c_state *state, bool no_optimization) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = no_optimization, .state = state};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  return plan;
}

static inline nd4c_state *state_of(const nd4c_graph *graph) {
  nd4c_state *state = NULL;
  CHECK_OK(nd4c_graph_state(graph, &state));
  return state;
}

static inline nd4c_array *filled(double number) {
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, shape, number, NULL, &array));
  return array;
}

static inline void clear(nd4c_array *array) {
  const float zeros[SIZE] = {0};
  CHECK_OK(nd4c_array_write(array, zeros, sizeof zeros));
}

static inline void expect_all(const nd4c_array *array, double number) {
  float numbers[SIZE];
  CHECK_OK(nd4c_array_read(array, numbers, sizeof numbers));
  for (int32_t i = 0; i < SIZE; i++) {
    assert_float_equal(numbers[i], number, 0);
  }
}

static inline void expect_variable(const nd4c_state *state, const char *name, double number) {
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_state_get(state, &name, &array, 1));
  expect_all(array, number);
  nd4c_array_release(array);
}

static inline void run_once(nd4c_plan *plan, double x, double expected) {
  nd4c_array *given = filled(x), *y = NULL;
  const nd4c_array *inputs[] = {given};
  CHECK_OK(nd4c_plan_run(plan, inputs, 1, &y, 1));
  expect_all(y, expected);
  nd4c_array_release(given);
  nd4c_array_release(y);
}

static inline void expect_failure(nd4c_status actual, nd4c_status expected, const char *text) {
  assert_int_equal(actual, expected);
  if (strcmp(nd4c_error_message(), text) != 0) {
    fail_msg("the text is \"%s\", expected \"%s\"", nd4c_error_message(), text);
  }
}

#endif
