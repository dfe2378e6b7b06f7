/* What passes rewrite graphs with. Values keep their numbers: a rewritten node takes over the outputs of the last node
 * of the pattern, so the order of the nodes stays right, and what the pattern's other nodes gave dies if nobody else
 * reads it. */
#ifndef ND4C_GRAPH_REWRITE_H
#define ND4C_GRAPH_REWRITE_H

#include "device/context/context.h"
#include "graph/ir/graph.h"

typedef struct nd4c_rewrite {
  nd4c_graph *graph;
  nd4c_context *context;
  int32_t *uses; /* by value: how often nodes read it, plus one for each output that it is */
  int32_t uses_capacity;
  int32_t changes; /* rewrites done, for the report */
} nd4c_rewrite;

/* Counts uses. nd4c_rewrite_end must follow. */
nd4c_status nd4c_rewrite_begin(nd4c_rewrite *rewrite, nd4c_graph *graph, nd4c_context *context);
/* Removes nodes that nobody reads, lets go of constants that nobody reads, and closes the gaps. */
void nd4c_rewrite_end(nd4c_rewrite *rewrite);

/* The node that makes the value if its op is `op`; NULL otherwise. */
nd4c_graph_node *nd4c_rewrite_producer(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_op op);
/* True if the value is read once, and by a node: then its producer may be merged into that node. */
bool nd4c_rewrite_is_single(const nd4c_rewrite *rewrite, nd4c_value value);
/* Input at a position, ND4C_VALUE_NONE if it is left out or missing at the end. */
nd4c_value nd4c_node_input(const nd4c_graph_node *node, int32_t position);

/* Makes node `index` another op that gives the same output. `fused` (copied) says what it stands for. Does nothing and
 * sets *done to false if the op would not accept the inputs or give another dtype or shape. */
nd4c_status nd4c_rewrite_node(nd4c_rewrite *rewrite, int32_t index, nd4c_op op, const nd4c_value *inputs,
                              int32_t input_count, const nd4c_attr_value *attrs, const char *fused, bool *done);
/* Lets input `position` of a node be another value of the same dtype and shape. */
void nd4c_rewrite_input(nd4c_rewrite *rewrite, nd4c_graph_node *node, int32_t position, nd4c_value value);
/* Lets output `index` of the graph be another value of the same dtype and shape. */
void nd4c_rewrite_output(nd4c_rewrite *rewrite, int32_t index, nd4c_value value);
/* Removes a node that is not needed any more; its outputs have no reader left or have become constants. */
void nd4c_rewrite_remove(nd4c_rewrite *rewrite, nd4c_graph_node *node);
/* Adds a constant, taking over the caller's reference; on failure it is released. */
nd4c_status nd4c_rewrite_constant(nd4c_rewrite *rewrite, nd4c_array *array, nd4c_value *value);

/* Defaults of an op's attributes, in the order of the schema; room for ND4C_REWRITE_ATTRS. */
enum { ND4C_REWRITE_ATTRS = 16 };
nd4c_status nd4c_rewrite_presets(nd4c_op op, nd4c_attr_value *attrs);

/* "conv + relu": what two merged nodes stand for together; cut if it does not fit. */
const char *nd4c_fused_text(const nd4c_graph_node *first, const char *second, char *buffer, size_t size);

/* -- constants ----------------------------------------------------------------------------------------------------- */

/* True, with its value, if the value is a constant with one element of a floating or integer dtype. */
bool nd4c_constant_scalar(const nd4c_rewrite *rewrite, nd4c_value value, double *number);
/* All elements of a constant of float32 or float64 in C order, to be freed with nd4c_deallocate. NULL without an error
 * if the value is none, has more than `limit` elements or another dtype; *status tells about memory and devices. */
double *nd4c_constant_numbers(const nd4c_rewrite *rewrite, nd4c_value value, int64_t limit, nd4c_status *status);
/* A new constant on the context's device from C-ordered numbers. */
nd4c_status nd4c_constant_make(nd4c_rewrite *rewrite, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                               const double *numbers, nd4c_value *value);

#endif
