/* Metadata of a graph or a node: pairs of texts in the graph's region (nd4c/names.h). labels.c sets and reads them,
 * ir/clone.c, ir/dims.c and ir/bodies.c copy them. */
#ifndef ND4C_GRAPH_NAMES_NOTES_H
#define ND4C_GRAPH_NAMES_NOTES_H

#include "base/region.h"
#include "nd4c/names.h"

typedef struct nd4c_note nd4c_note;
struct nd4c_note {
  const char *key, *value;
  nd4c_note *next;
};

/* Sets a pair, or takes it away (value NULL). `what` is the function, for errors. */
nd4c_status nd4c_notes_set(nd4c_note **notes, nd4c_region *region, const char *what, const char *key,
                           const char *value);
/* NULL: there is no such pair. */
const nd4c_note *nd4c_notes_find(const nd4c_note *notes, const char *key);
nd4c_status nd4c_notes_copy(const nd4c_note *from, nd4c_region *region, nd4c_note **to);

#endif
