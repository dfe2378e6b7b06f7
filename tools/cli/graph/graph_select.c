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

/* The node that a user means: by value, by its whole label, else the first whose label, or one of whose parts, has the
 * text in it. */
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
    part = part < 0 && strstr(cli_node_name(&node), around) != NULL ? i : part;
  }
  return part;
}

/* Which nodes give what a node reads, or read what it gives: others[begins[i] .. begins[i + 1] - 1] for node i. */
typedef struct neighbours {
  size_t *begins;
  int32_t *others;
} neighbours;

static void free_neighbours(neighbours *n) {
  free(n->begins);
  free(n->others);
}

/* Counts each node's neighbours behind its place or, once begins[i + 1] is the begin of node i, puts them there. */
static void visit_links(const nd4c_graph *graph, const int32_t *producers, neighbours *n) {
  nd4c_node_info node;
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    for (int32_t k = 0, reads = describe(graph, i, &node) ? node.input_count : 0; k < reads; k++) {
      const int32_t other = node.inputs[k] < 0 ? -1 : producers[node.inputs[k]];
      if (other >= 0 && n->others == NULL) {
        n->begins[i + 2]++;
        n->begins[other + 2]++;
      } else if (other >= 0) {
        n->others[n->begins[i + 1]++] = other;
        n->others[n->begins[other + 1]++] = i;
      }
    }
  }
}

/* False: no memory. free_neighbours must follow in any case. */
static bool find_neighbours(const nd4c_graph *graph, const int32_t *producers, neighbours *n) {
  const int32_t count = nd4c_graph_node_count(graph);
  *n = (neighbours){.begins = calloc((size_t)count + 2, sizeof *n->begins)};
  if (n->begins == NULL) {
    return false;
  }
  visit_links(graph, producers, n);
  for (int32_t i = 0; i < count; i++) {
    n->begins[i + 2] += n->begins[i + 1];
  }
  n->others = malloc((n->begins[count + 1] + 1) * sizeof *n->others);
  if (n->others != NULL) {
    visit_links(graph, producers, n);
  }
  return n->others != NULL;
}

/* Marks the nodes that are at most `depth` links away from the first of `queue`, which has room for all nodes. */
static void reach(const neighbours *n, int32_t depth, int32_t *queue, bool *shown) {
  int32_t begin = 0, end = 1;
  shown[queue[0]] = true;
  for (int32_t step = 0; step < depth && begin < end; step++) {
    for (const int32_t last = end; begin < last; begin++) {
      for (size_t k = n->begins[queue[begin]]; k < n->begins[queue[begin] + 1]; k++) {
        const int32_t other = n->others[k];
        if (!shown[other]) {
          shown[other] = true;
          queue[end++] = other;
        }
      }
    }
  }
}

static int select_around(const nd4c_graph *graph, const graph_selection *selection, bool *shown) {
  const int32_t count = nd4c_graph_node_count(graph);
  int32_t *producers = find_producers(graph), *queue = malloc(((size_t)count + 1) * sizeof *queue);
  neighbours near = {.begins = NULL};
  int result = CLI_OK;
  if (producers == NULL || queue == NULL || !find_neighbours(graph, producers, &near)) {
    result = cli_fail(&cli_graph, "no memory");
  } else if ((queue[0] = find_node(graph, producers, selection->around)) < 0) {
    result = cli_fail(&cli_graph, "--around %s: no node has this label or gives this value", selection->around);
  } else {
    memset(shown, 0, (size_t)count);
    reach(&near, selection->depth, queue, shown);
  }
  free_neighbours(&near);
  free(producers);
  free(queue);
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
