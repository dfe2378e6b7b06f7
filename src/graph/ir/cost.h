/* Estimates of what nodes cost, from their ops and shapes alone. Passes may compare two ways to compute the same thing
 * with it; passes.c, ir/look.c and explain.c report it. An estimate of time on a certain device is another thing: the
 * device's compilers and kernels give those. */
#ifndef ND4C_GRAPH_IR_COST_H
#define ND4C_GRAPH_IR_COST_H

#include "graph/ir/graph.h"

typedef struct nd4c_cost {
  double operations; /* additions, multiplications and comparisons; a function such as exp counts as several */
  double bytes;      /* read and written, each operand once; nothing for ops that can be views */
} nd4c_cost;

/* What the value's elements take. */
double nd4c_value_bytes(const nd4c_graph *graph, nd4c_value value);
nd4c_cost nd4c_node_cost(const nd4c_graph *graph, const nd4c_graph_node *node);
/* Of all nodes. */
nd4c_cost nd4c_graph_cost(const nd4c_graph *graph);

/* "4.1 Goperations, 98 MB moved"; returns the buffer. */
const char *nd4c_cost_text(nd4c_cost cost, char *buffer, size_t size);

/* One number for comparisons: about nanoseconds of one core that computes 32 operations and moves 8 bytes in each, and
 * needs 100 ns for each of `nodes` calls. */
double nd4c_cost_weight(nd4c_cost cost, int32_t nodes);
/* The sum over all nodes; those that can be views count nothing. The driver of passes compares it from run to run. */
double nd4c_graph_weight(const nd4c_graph *graph);

#endif
