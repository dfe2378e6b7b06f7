/* Appends the nodes of one graph to another. The passes that inline bodies, and those that make new bodies, call it. */
#ifndef ND4C_GRAPH_IR_APPEND_H
#define ND4C_GRAPH_IR_APPEND_H

#include "graph/ir/graph.h"

/* Records nodes of `from`, which has no dims, in their order, with their labels. values: by value of `from`, the value
 * of `graph` that stands for it; ND4C_VALUE_NONE: none yet. Inputs of `from` that the nodes read must have one.
 * Constants get one when a node first reads them, and so do the outputs of the nodes. chosen (NULL: all): by node,
 * which are recorded. */
nd4c_status nd4c_graph_append(nd4c_graph *graph, const nd4c_graph *from, const bool *chosen, nd4c_value *values);

/* The value of `graph` for a value of `from`, which may be a constant. */
nd4c_status nd4c_graph_append_value(nd4c_graph *graph, const nd4c_graph *from, nd4c_value value, nd4c_value *values);

#endif
