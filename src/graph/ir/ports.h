/* The named inputs and outputs of a graph. The builder (graph.c) and clone.c use it. */
#ifndef ND4C_GRAPH_IR_PORTS_H
#define ND4C_GRAPH_IR_PORTS_H

#include "graph/ir/graph.h"

/* Appends a port; NAME if the name is taken (`what`: "input", "output"). The name is copied into the region. */
nd4c_status nd4c_ports_add(nd4c_graph_ports *ports, nd4c_region *region, const char *what, const char *name,
                           nd4c_value value);
void nd4c_ports_free(nd4c_graph_ports *ports);

#endif
