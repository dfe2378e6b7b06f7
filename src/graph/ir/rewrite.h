/* The functions with which passes rewrite graphs. Values keep their numbers. A rewritten node takes over the outputs of
 * the pattern's last node, so the order of nodes stays valid. Outputs of the pattern's other nodes are removed if no
 * other node reads them. */
#ifndef ND4C_GRAPH_REWRITE_H
#define ND4C_GRAPH_REWRITE_H

#include "device/context/context.h"
#include "graph/ir/graph.h"

typedef struct nd4c_rewrite {
  nd4c_graph *graph;
  nd4c_context *context;
  int32_t *uses; /* by value: number of reads by nodes, plus one for each output of the graph that it is */
  int32_t uses_capacity;
  int32_t changes; /* number of rewrites, for the report */
} nd4c_rewrite;

/* Counts uses. nd4c_rewrite_end must follow. */
nd4c_status nd4c_rewrite_begin(nd4c_rewrite *rewrite, nd4c_graph *graph, nd4c_context *context);
/* Removes nodes without readers, releases constants without readers, and compacts the list of nodes. */
void nd4c_rewrite_end(nd4c_rewrite *rewrite);

/* The node that produces the value, if its op is `op`; else NULL. */
nd4c_graph_node *nd4c_rewrite_producer(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_op op);
/* True if the only reader of the value is one node: its producer may then be merged into that node. */
bool nd4c_rewrite_is_single(const nd4c_rewrite *rewrite, nd4c_value value);
/* Input at a position; ND4C_VALUE_NONE if it is omitted. */
nd4c_value nd4c_node_input(const nd4c_graph_node *node, int32_t position);

/* Turns node `index` into another op with the same output. `fused` (copied) names the ops that it replaces. Does
 * nothing and sets *done to false if the op refuses the inputs or infers another dtype or shape. */
nd4c_status nd4c_rewrite_node(nd4c_rewrite *rewrite, int32_t index, nd4c_op op, const nd4c_value *inputs,
                              int32_t input_count, const nd4c_attr_value *attrs, const char *fused, bool *done);
/* Replaces input `position` of a node by another value of the same dtype and shape. */
void nd4c_rewrite_input(nd4c_rewrite *rewrite, nd4c_graph_node *node, int32_t position, nd4c_value value);
/* Replaces output `index` of the graph by another value of the same dtype and shape. */
void nd4c_rewrite_output(nd4c_rewrite *rewrite, int32_t index, nd4c_value value);
/* Removes a node whose outputs have no reader left or have become constants. */
void nd4c_rewrite_remove(nd4c_rewrite *rewrite, nd4c_graph_node *node);
/* Adds a constant, taking over the caller's reference; on failure it is released. */
nd4c_status nd4c_rewrite_constant(nd4c_rewrite *rewrite, nd4c_array *array, nd4c_value *value);

/* Defaults of an op's attributes, in the schema's order; room for ND4C_REWRITE_ATTRS. */
enum { ND4C_REWRITE_ATTRS = 16 };
nd4c_status nd4c_rewrite_presets(nd4c_op op, nd4c_attr_value *attrs);

/* "conv + relu": the name of two merged nodes; cut if it does not fit. */
const char *nd4c_fused_text(const nd4c_graph_node *first, const char *second, char *buffer, size_t size);

/* -- constants ----------------------------------------------------------------------------------------------------- */

/* True, with its value, if the value is a constant with one element of a floating or integer dtype. */
bool nd4c_constant_scalar(const nd4c_rewrite *rewrite, nd4c_value value, double *number);
/* All elements of a constant of float32 or float64 in C order, to be freed with nd4c_deallocate. NULL with *status OK
 * if the value is not a constant, has more than `limit` elements or another dtype; else *status is a failure of memory
 * or a device. */
double *nd4c_constant_numbers(const nd4c_rewrite *rewrite, nd4c_value value, int64_t limit, nd4c_status *status);
/* A new constant on the context's device from C-ordered numbers. */
nd4c_status nd4c_constant_make(nd4c_rewrite *rewrite, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                               const double *numbers, nd4c_value *value);

#endif
