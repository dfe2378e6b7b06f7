/* The labels of the nodes that passes made one node from, for texts that show it. ir/rewrite.c collects them,
 * ir/clone.c and ir/dims.c drop and copy them, ir/look.c and report.c show them. */
#ifndef ND4C_GRAPH_NAMES_PARTS_H
#define ND4C_GRAPH_NAMES_PARTS_H

#include "base/region.h"
#include "nd4c/status.h"

enum { ND4C_PARTS_MOST = 64 }; /* labels that a node keeps; of more, the first ones and the last */

/* Zero-initialised: the node stands for itself. Everything is in the graph's region. */
typedef struct nd4c_parts {
  const char **labels; /* in the order of their nodes, the node's own last; none is empty */
  int32_t count;
  const char *text; /* "a + b + c", or "a + b + c + ... + z"; NULL: fewer than two */
} nd4c_parts;

/* A node's parts from `count` labels, which the region has. */
nd4c_status nd4c_parts_make(nd4c_region *region, const char *const *labels, int32_t count, nd4c_parts *parts);
/* The same with labels of another region, which are copied. */
nd4c_status nd4c_parts_copy(const nd4c_parts *from, nd4c_region *region, nd4c_parts *to);

#endif
