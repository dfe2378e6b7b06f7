/* Who reads a value: an index for rewrites, so that replacing one value in a large graph does not look at every node.
 * rewrite.c makes it when a pass first replaces a value, and keeps it current from then on. */
#ifndef ND4C_GRAPH_IR_VALUE_READERS_H
#define ND4C_GRAPH_IR_VALUE_READERS_H

#include "graph/ir/graph.h"

/* Input `position` of a node. An entry may be out of date: the node was removed, or reads another value there now. The
 * reader of the list checks that. */
typedef struct nd4c_value_reader {
  int32_t node, position;
  int32_t next; /* in the value's list, -1: the last one */
} nd4c_value_reader;

/* Zero-initialised is not made. */
typedef struct nd4c_value_readers {
  bool made;
  int32_t *heads; /* by value: its first reader, -1: none */
  int32_t head_count, head_capacity;
  nd4c_value_reader *items;
  int32_t count, capacity;
} nd4c_value_readers;

/* Makes the index, unless it is made. */
nd4c_status nd4c_value_readers_make(nd4c_value_readers *readers, const nd4c_graph *graph);
/* Notes that a node reads a value. If there is no memory for the note, the index is given up, to be made anew. */
void nd4c_value_readers_add(nd4c_value_readers *readers, nd4c_value value, int32_t node, int32_t position);
/* Removes the list of a value and returns its first entry, -1: it is empty. */
int32_t nd4c_value_readers_take(nd4c_value_readers *readers, nd4c_value value);
/* Puts an entry that was taken into the list of a value for which the index has room. */
void nd4c_value_readers_put(nd4c_value_readers *readers, nd4c_value value, int32_t item);
void nd4c_value_readers_free(nd4c_value_readers *readers);

#endif
