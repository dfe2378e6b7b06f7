/* Variables of graphs inside the library (nd4c/variable.h). A graph that is being built has values that are variables,
 * and says for each what it is assigned. Passes and plans know nothing of this: in a plan's own graph the variables are
 * inputs behind the graph's inputs, and what is assigned are outputs behind its outputs. So no node has an effect, no
 * pass needs to keep an order of reads and assignments, and what is assigned is never dead. graph/variables.c gives
 * these ports their arrays. */
#ifndef ND4C_GRAPH_IR_VARIABLES_H
#define ND4C_GRAPH_IR_VARIABLES_H

#include "graph/ir/graph.h"

/* Copies what a graph says about its variables to a copy of it, which has the same values. */
nd4c_status nd4c_variables_copy(const nd4c_graph *from, nd4c_graph *to);
void nd4c_variables_free(nd4c_graph *graph);
/* Gives a graph that shares its state with others a state of its own, with the values that the variables have now. */
nd4c_status nd4c_variables_fork(nd4c_graph *graph);
/* The number of variables that the graph assigns. */
int32_t nd4c_variables_assigned(const nd4c_graph *graph);
/* UNSUPPORTED if the graph has variables; `what` is where such a graph cannot be. */
nd4c_status nd4c_variables_refuse(const nd4c_graph *graph, const char *what);

/* Makes ports of the variables in a graph of a plan's own: the inputs from nd4c_variables_opened(graph) on are the
 * variables, in their order; the last outputs are what is assigned, in the order of the variables. keep_initial: then
 * the initial values, in that order, so that passes keep them. */
nd4c_status nd4c_variables_open(nd4c_graph *graph, bool keep_initial);
/* Ends what nd4c_variables_open(graph, true) began: the variables are variables again, with the values that passes have
 * put in place of the old ones. */
void nd4c_variables_close(nd4c_graph *graph);
/* The number of the first input that is a variable. */
static inline int32_t nd4c_variables_opened(const nd4c_graph *graph) {
  return graph->inputs.count - graph->variables.count;
}

/* Marks the nodes that some values (ND4C_VALUE_NONE: none) are computed from. needed: by node; false before. */
void nd4c_graph_mark_needed(const nd4c_graph *graph, const nd4c_value *values, int32_t count, bool *needed);

#endif
