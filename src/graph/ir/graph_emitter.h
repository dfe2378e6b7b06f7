/* The emitter that records each op as a node of a graph (ops/emitter.h). Its values are the graph's.
 * samples/layers.c opens one. */
#ifndef ND4C_GRAPH_IR_GRAPH_EMITTER_H
#define ND4C_GRAPH_IR_GRAPH_EMITTER_H

#include "nd4c/graph.h"
#include "ops/emitter.h"

typedef struct nd4c_graph_emitter {
  nd4c_emitter emitter;
  nd4c_graph *graph; /* borrowed */
  const char *label; /* of the nodes, for errors and the report; NULL: none. Borrowed */
} nd4c_graph_emitter;

/* There is nothing to close: the graph owns what is recorded. */
void nd4c_graph_emitter_open(nd4c_graph_emitter *recorder, nd4c_graph *graph, const char *label);

/* What emitters tell of a value of a graph. */
nd4c_emitted_info nd4c_graph_value_describe(const nd4c_graph *graph, nd4c_value value);

#endif
