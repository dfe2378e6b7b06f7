/* Implements graph_select: the nodes around one, or of one op. graph.c calls it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

static bool describe(const nd4c_graph *graph, int32_t index, nd4c_node_info *node) {
  *node = (nd4c_node_info){.struct_size = sizeof *node};
  return nd4c_graph_get_node(graph, index, node) == ND4C_OK;
}

/* Which node gives each value; -1: none. NULL: no memory. */
static int32_t *find_producers(const nd4c_graph *graph) {
  const int32_t values = nd4c_graph_value_count(graph);
  int32_t *producers = malloc(((size_t)values + 1) * sizeof *producers);
  nd4c_node_info node;
  for (int32_t i = 0; producers != NULL && i < values; i++) {
    producers[i] = -1;
  }
  for (int32_t i = 0; producers != NULL && i < nd4c_graph_node_count(graph); i++) {
    for (int32_t k = 0; describe(graph, i, &node) && k < node.output_count; k++) {
      producers[node.outputs[k]] = i;
    }
  }
  return producers;
}

/* The node that a user means: by value, by its whole label, else the first whose label has the text as a part. */
static int32_t find_node(const nd4c_graph *graph, const int32_t *producers, const char *around) {
  char *end = NULL;
  const long value = around[0] == '%' ? strtol(around + 1, &end, 10) : -1;
  int32_t part = -1;
  nd4c_node_info node;
  if (end != NULL && *end == '\0' && value >= 0 && value < nd4c_graph_value_count(graph)) {
    return producers[value];
  }
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    if (describe(graph, i, &node) && strcmp(node.label, around) == 0) {
      return i;
    }
    part = part < 0 && strstr(node.label, around) != NULL ? i : part;
  }
  return part;
}

/* Marks the nodes whose distance is `step` and whose neighbour is marked with one less. distances: -1: not reached. */
static void reach(const nd4c_graph *graph, const int32_t *producers, int32_t step, int32_t *distances) {
  nd4c_node_info node;
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    for (int32_t k = 0; describe(graph, i, &node) && k < node.input_count; k++) {
      const int32_t other = node.inputs[k] < 0 ? -1 : producers[node.inputs[k]];
      if (other >= 0 && distances[i] == step - 1 && distances[other] < 0) {
        distances[other] = step;
      }
      if (other >= 0 && distances[other] == step - 1 && distances[i] < 0) {
        distances[i] = step;
      }
    }
  }
}

static int select_around(const nd4c_graph *graph, const graph_selection *selection, bool *shown) {
  const int32_t count = nd4c_graph_node_count(graph);
  int32_t *producers = find_producers(graph), *distances = malloc(((size_t)count + 1) * sizeof *distances);
  int result = CLI_OK;
  if (producers == NULL || distances == NULL) {
    result = cli_fail(&cli_graph, "no memory");
  }
  const int32_t middle = result == CLI_OK ? find_node(graph, producers, selection->around) : -1;
  if (result == CLI_OK && middle < 0) {
    result = cli_fail(&cli_graph, "--around %s: no node has this label or gives this value", selection->around);
  }
  for (int32_t i = 0; result == CLI_OK && i < count; i++) {
    distances[i] = i == middle ? 0 : -1;
  }
  for (int32_t step = 1; result == CLI_OK && step <= selection->depth; step++) {
    reach(graph, producers, step, distances);
  }
  for (int32_t i = 0; result == CLI_OK && i < count; i++) {
    shown[i] = distances[i] >= 0;
  }
  free(producers);
  free(distances);
  return result;
}

int graph_select(const nd4c_graph *graph, const graph_selection *selection, bool **shown) {
  const int32_t count = nd4c_graph_node_count(graph);
  int32_t left = 0;
  *shown = NULL;
  if (selection->around == NULL && selection->op == NULL) {
    return CLI_OK;
  }
  bool *made = malloc((size_t)count + 1);
  if (made == NULL) {
    return cli_fail(&cli_graph, "no memory");
  }
  memset(made, 1, (size_t)count + 1);
  const int result = selection->around != NULL ? select_around(graph, selection, made) : CLI_OK;
  for (int32_t i = 0; result == CLI_OK && i < count; i++) {
    nd4c_node_info node;
    made[i] =
        made[i] && describe(graph, i, &node) && (selection->op == NULL || strcmp(node.op->name, selection->op) == 0);
    left += made[i];
  }
  if (result != CLI_OK || left == 0) {
    free(made);
    return result != CLI_OK ? result : cli_fail(&cli_graph, "--op %s: no node is shown", selection->op);
  }
  *shown = made;
  return CLI_OK;
}
