/* The named inputs and outputs of a graph. The same for its variables. graph.c, clone.c, dims.c and
 * variables.c use it. */
#ifndef ND4C_GRAPH_NAMES_PORTS_H
#define ND4C_GRAPH_NAMES_PORTS_H

#include "base/region.h"
#include "nd4c/graph.h"

typedef struct nd4c_graph_port {
  const char *name;
  nd4c_value value;
} nd4c_graph_port;

/* A growing list of ports with an index of their names. */
typedef struct nd4c_graph_ports {
  nd4c_graph_port *items;
  int32_t count, capacity;
  int32_t *table; /* open addressing: position + 1, 0 is free */
  int32_t table_size;
} nd4c_graph_ports;

/* Appends a port; NAME if the name is taken (`what`: "input", "output"). The name is copied into the region. */
nd4c_status nd4c_ports_add(nd4c_graph_ports *ports, nd4c_region *region, const char *what, const char *name,
                           nd4c_value value);
/* The position of the port with this name; -1: there is none. */
int32_t nd4c_ports_find(const nd4c_graph_ports *ports, const char *name);
/* Keeps the first `count` ports, and forgets the others. */
void nd4c_ports_cut(nd4c_graph_ports *ports, int32_t count);
void nd4c_ports_free(nd4c_graph_ports *ports);

#endif
