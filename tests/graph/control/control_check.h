/* Shared by the tests of nodes with bodies: bodies that many cases use, and an oracle that runs graphs with such nodes
 * by eager calls, round by round, without any code of plans. */
#ifndef ND4C_TESTS_CONTROL_CHECK_H
#define ND4C_TESTS_CONTROL_CHECK_H

#include "graph/graph_check.h"
#include "graph/ir/control.h"

enum { CONTROL_PORTS = 16 };

static void control_evaluate(const nd4c_graph *graph, nd4c_array *const *inputs, nd4c_array **outputs);

static inline nd4c_array *control_int(int64_t number) {
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_array_from_data(ND4C_INT64, 0, NULL, &number, NULL, &array));
  return array;
}

static inline nd4c_array *control_bool(bool value) {
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_array_scalar(ND4C_BOOL, value, NULL, &array));
  return array;
}

static inline bool control_is_true(const nd4c_array *array) {
  double number = 0;
  uint8_t byte = 0;
  assert_int_equal(nd4c_array_dtype(array), ND4C_BOOL);
  CHECK_OK(nd4c_array_read(array, &byte, 1));
  number = byte;
  return number != 0;
}

static inline nd4c_array *control_copy(const nd4c_array *array) {
  nd4c_array *copy = NULL;
  CHECK_OK(nd4c_op_call(NULL, ND4C_OP_copy, &array, 1, NULL, 0, &copy, 1));
  return copy;
}

/* Element `index` of axis 0. */
static inline nd4c_array *control_element(const nd4c_array *array, int64_t index) {
  nd4c_array *view = NULL, *copy = NULL;
  CHECK_OK(nd4c_array_select(array, 0, index, &view));
  copy = control_copy(view);
  nd4c_array_release(view);
  return copy;
}

static inline void control_put(nd4c_array *array, int64_t index, const nd4c_array *element) {
  nd4c_array *view = NULL;
  CHECK_OK(nd4c_array_select(array, 0, index, &view));
  CHECK_OK(nd4c_op_call(NULL, ND4C_OP_copy, &element, 1, NULL, 0, &view, 1));
  nd4c_array_release(view);
}

static inline void control_loop(const nd4c_graph *graph, const nd4c_graph_node *node, nd4c_array *const *given,
                                nd4c_array **results) {
  const nd4c_control *control = node->control;
  const nd4c_graph *body = control->bodies[0]->graph;
  nd4c_array *in[CONTROL_PORTS], *out[CONTROL_PORTS];
  int64_t most = control->rounds < 0 ? INT64_MAX : control->rounds, trips = INT64_MAX, round = 0;
  bool goes = true;
  if (control->has_trips) {
    CHECK_OK(nd4c_array_read(*given++, &trips, sizeof trips));
  }
  if (control->has_condition) {
    goes = control_is_true(*given++);
  }
  for (int32_t i = 0; i < control->carried; i++) {
    results[i] = control_copy(given[i]);
  }
  for (int32_t i = control->carried; i < node->output_count; i++) {
    const nd4c_graph_value *value = &graph->values[node->outputs[i]];
    CHECK_OK(nd4c_array_zeros(value->dtype, value->rank, value->shape, NULL, &results[i]));
  }
  for (; goes && round < most && round < trips; round++) {
    int32_t at = 0, from = control->decides ? 1 : 0;
    if (control->takes_round) {
      in[at++] = control_int(round);
    }
    for (int32_t i = 0; i < control->carried; i++) {
      in[at++] = nd4c_array_retain(results[i]);
    }
    for (int32_t i = 0; i < control->scanned; i++) {
      int64_t index = control->backward[i] ? control->rounds - 1 - round : round;
      in[at++] = control_element(given[control->carried + i], index);
    }
    for (int32_t i = 0; i < control->captured; i++) {
      in[at++] = nd4c_array_retain(given[control->carried + control->scanned + i]);
    }
    control_evaluate(body, in, out);
    goes = !control->decides || control_is_true(out[0]);
    for (int32_t i = 0; i < control->carried; i++) {
      nd4c_array_release(results[i]);
      results[i] = nd4c_array_retain(out[from + i]);
    }
    for (int32_t i = 0; i < control->collected; i++) {
      int64_t index = control->backward[control->scanned + i] ? control->rounds - 1 - round : round;
      control_put(results[control->carried + i], index, out[from + control->carried + i]);
    }
    check_release(in, at);
    check_release(out, body->outputs.count);
  }
}

static inline void control_node(const nd4c_graph *graph, const nd4c_graph_node *node, nd4c_array *const *given,
                                nd4c_array **results) {
  const nd4c_control *control = node->control;
  if (control->kind == ND4C_CONTROL_IF) {
    control_evaluate(control->bodies[control_is_true(given[0]) ? 0 : 1]->graph, given + 1, results);
  } else if (control->kind == ND4C_CONTROL_CALL) {
    control_evaluate(control->bodies[0]->graph, given, results);
  } else {
    control_loop(graph, node, given, results);
  }
}

/* The oracle. */
static void control_evaluate(const nd4c_graph *graph, nd4c_array *const *inputs, nd4c_array **outputs) {
  nd4c_array **values = calloc((size_t)graph->value_count + 1, sizeof *values);
  assert_non_null(values);
  for (int32_t i = 0; i < graph->value_count; i++) {
    const nd4c_graph_value *value = &graph->values[i];
    values[i] = nd4c_array_retain(value->input >= 0 ? inputs[value->input] : value->constant);
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    nd4c_array *operands[CONTROL_PORTS] = {NULL}, *results[CONTROL_PORTS] = {NULL};
    const nd4c_array *read[CONTROL_PORTS] = {NULL};
    assert_in_range(node->input_count, 0, CONTROL_PORTS - 1);
    for (int32_t k = 0; k < node->input_count; k++) {
      operands[k] = node->inputs[k] < 0 ? NULL : values[node->inputs[k]];
      read[k] = operands[k];
    }
    if (node->control != NULL) {
      control_node(graph, node, operands, results);
    } else {
      CHECK_OK(nd4c_op_call_positional(NULL, node->def->info.op, read, node->input_count, node->attrs, results));
    }
    for (int32_t k = 0; k < node->output_count; k++) {
      values[node->outputs[k]] = results[k];
    }
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    outputs[i] = nd4c_array_retain(values[graph->outputs.items[i].value]);
  }
  check_release(values, graph->value_count);
  free(values);
}

/* -- building ------------------------------------------------------------------------------------------------------ */

static inline nd4c_graph *control_graph(void) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  return graph;
}

static inline nd4c_value control_input(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape) {
  char name[16];
  nd4c_value value = ND4C_VALUE_NONE;
  (void)snprintf(name, sizeof name, "in%d", (int)graph->inputs.count);
  CHECK_OK(nd4c_graph_input(graph, name, dtype, rank, shape, &value));
  return value;
}

static inline void control_output(nd4c_graph *graph, nd4c_value value) {
  char name[16];
  (void)snprintf(name, sizeof name, "out%d", (int)graph->outputs.count);
  CHECK_OK(nd4c_graph_output(graph, name, value));
}

static inline nd4c_value control_constant(nd4c_graph *graph, nd4c_array *array) {
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_constant(graph, array, &value));
  nd4c_array_release(array);
  return value;
}

#endif
