/* The order of a graph's nodes, after a pass has added some behind the others. nd4c_rewrite_end (rewrite.c) calls
 * it. */
#include "base/region.h"
#include "base/status.h"
#include "graph/ir/graph.h"

enum { UNSEEN, OPEN, DONE };

/* A walk from a node to the producers of its inputs, deepest first. The stack is not the call stack, since chains may
 * have any length. */
typedef struct walk {
  nd4c_graph *graph;
  uint8_t *states;         /* by node */
  int32_t *stack, depth;   /* open nodes */
  int32_t *positions;      /* by node: the next input to look at */
  nd4c_graph_node *sorted; /* what is done, in order */
  int32_t count;
} walk;

/* The next producer of an input of `index` that is not sorted yet; -1: there is none. */
static int32_t next_before(walk *w, int32_t index) {
  const nd4c_graph_node *node = &w->graph->nodes[index];
  while (w->positions[index] < node->input_count) {
    nd4c_value input = node->inputs[w->positions[index]++];
    int32_t producer = input < 0 ? -1 : w->graph->values[input].producer;
    if (producer >= 0 && w->states[producer] != DONE) {
      return producer;
    }
  }
  return -1;
}

static nd4c_status visit(walk *w, int32_t root) {
  int32_t index = root;
  w->states[index] = OPEN;
  w->stack[w->depth++] = index;
  while (w->depth > 0) {
    index = w->stack[w->depth - 1];
    int32_t before = next_before(w, index);
    if (before < 0) {
      w->states[index] = DONE;
      w->sorted[w->count++] = w->graph->nodes[index];
      w->depth--;
    } else if (w->states[before] == OPEN) {
      return nd4c_fail(ND4C_INTERNAL, "%s and %s read each other", w->graph->nodes[index].def->info.name,
                       w->graph->nodes[before].def->info.name);
    } else {
      w->states[before] = OPEN;
      w->stack[w->depth++] = before;
    }
  }
  return ND4C_OK;
}

static nd4c_status sort(nd4c_graph *graph, nd4c_region *region) {
  walk w = {.graph = graph};
  ND4C_TRY(nd4c_region_make(region, graph->node_count, sizeof *w.states, &w.states));
  ND4C_TRY(nd4c_region_make(region, graph->node_count, sizeof *w.stack, &w.stack));
  ND4C_TRY(nd4c_region_make(region, graph->node_count, sizeof *w.positions, &w.positions));
  ND4C_TRY(nd4c_region_make(region, graph->node_count, sizeof *w.sorted, &w.sorted));
  for (int32_t i = 0; i < graph->node_count; i++) {
    if (w.states[i] == UNSEEN) {
      ND4C_TRY(visit(&w, i));
    }
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    graph->nodes[i] = w.sorted[i];
    for (int32_t k = 0; k < w.sorted[i].output_count; k++) {
      graph->values[w.sorted[i].outputs[k]].producer = i;
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_graph_sort(nd4c_graph *graph) {
  nd4c_region region = {0};
  nd4c_status status = sort(graph, &region);
  nd4c_region_free(&region);
  return status;
}
