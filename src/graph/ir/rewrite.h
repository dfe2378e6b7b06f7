/* Functions that rewrite graphs, for the files of src/graph/passes; passes.c begins and ends a rewrite for each pass.
 *
 * A pass changes a node into another one that gives the same output (nd4c_rewrite_node), reads another value in place
 * of one (nd4c_rewrite_input, nd4c_rewrite_replace), or adds nodes: the rewrite is an emitter (ops/emitter.h), so that
 * `nd4c_emit_unary(&rewrite->emitter, ...)` and every composite and gradient add nodes to the graph. For nodes in front
 * of a node, the pass emits them from the node's input and gives their result to nd4c_rewrite_input. For nodes behind a
 * value, it emits them from the value and calls nd4c_rewrite_replace.
 *
 * Values keep their numbers. Added nodes stand behind all others until the pass ends; nd4c_rewrite_end puts them where
 * they can be run. Adding may move the array of nodes: a pass takes pointers to nodes anew afterwards. A node whose
 * outputs are not read any more is removed when the pass ends. */
#ifndef ND4C_GRAPH_IR_REWRITE_H
#define ND4C_GRAPH_IR_REWRITE_H

#include "device/context/context.h"
#include "graph/ir/graph.h"
#include "graph/ir/value_readers.h"
#include "ops/emitter.h"

typedef struct nd4c_rewrite {
  nd4c_emitter emitter; /* adds nodes; its values are the graph's */
  nd4c_graph *graph;
  nd4c_context *context;
  int32_t *uses; /* by value: number of reads by nodes, plus one for each output of the graph that it is */
  int32_t uses_capacity;
  nd4c_value_readers readers; /* made when a value is first replaced */
  int32_t changes;            /* rewrites done, for the report */
  int32_t existing;           /* nodes before the pass: those from this number on were added by it */
  int32_t math;               /* nd4c_math: how far the plan's request allows a pass to change the arithmetic */
  nd4c_dtype precision;       /* the dtype in which nodes of float32 are to compute; ND4C_DTYPE_NONE: float32 */
  bool reduces_products;      /* the device computes products of any size fast in this dtype: most nodes will change */
  int64_t arena_bytes;        /* what values between nodes should take at most; 0: no limit */
  struct nd4c_quantization *quantization; /* quantization.h; NULL: layers do not compute on bytes */
  struct nd4c_folding *folding;           /* plan.h: what the pass fold_constants may take; set by passes.c */
  bool ends_round; /* the passes of SIMPLIFY are to see the changes before the next pass of the phase does */
} nd4c_rewrite;

/* Counts uses. nd4c_rewrite_end must follow. */
nd4c_status nd4c_rewrite_begin(nd4c_rewrite *rewrite, nd4c_graph *graph, nd4c_context *context);
/* Removes nodes and constants that are not read, closes the gaps, and puts added nodes where they can be run. INTERNAL
 * if the pass made nodes that read each other. */
nd4c_status nd4c_rewrite_end(nd4c_rewrite *rewrite);

/* For a pass that records nodes on the graph itself: takes a mark before it, and then ends it with the status of the
 * recording. That counts what the new nodes read or, after a failure, takes them and their values back; it returns the
 * status. */
nd4c_graph_mark nd4c_rewrite_begin_recording(const nd4c_rewrite *rewrite);
nd4c_status nd4c_rewrite_end_recording(nd4c_rewrite *rewrite, nd4c_graph_mark mark, nd4c_status status);

/* The node that produces the value, if its op is `op`; else NULL. */
nd4c_graph_node *nd4c_rewrite_producer(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_op op);
/* True if the only reader of the value is one node: its producer may then be merged into that node. */
bool nd4c_rewrite_is_single(const nd4c_rewrite *rewrite, nd4c_value value);
/* Whether a pass may make an op where another one stood: the device has a kernel for it, or none for the other. */
bool nd4c_rewrite_computes(const nd4c_rewrite *rewrite, nd4c_op made, nd4c_op replaced);
/* Input at a position; ND4C_VALUE_NONE if it is omitted. */
nd4c_value nd4c_node_input(const nd4c_graph_node *node, int32_t position);

/* Turns node `index` into another op with the same output. `fused` (copied) names the ops that it replaces. Does
 * nothing and sets *done to false if the op refuses the inputs, infers another dtype or shape, or assumes something new
 * about the graph's dims. */
nd4c_status nd4c_rewrite_node(nd4c_rewrite *rewrite, int32_t index, nd4c_op op, const nd4c_value *inputs,
                              int32_t input_count, const nd4c_attr_value *attrs, const char *fused, bool *done);
/* Replaces input `position` of a node by another value of the same dtype and shape. */
void nd4c_rewrite_input(nd4c_rewrite *rewrite, nd4c_graph_node *node, int32_t position, nd4c_value value);
/* Replaces output `index` of the graph by another value of the same dtype and shape. */
void nd4c_rewrite_output(nd4c_rewrite *rewrite, int32_t index, nd4c_value value);
/* Whether `value` may stand for `old`: it has the same dtype and, at every size, the same shape. Extents that are equal
 * only because the graph assumes it, such as n and m of a sum, are not the same: their readers were recorded with the
 * other ones. Every pass asks this before it lets a value stand for another, and leaves the node otherwise. */
bool nd4c_rewrite_may_replace(const nd4c_rewrite *rewrite, nd4c_value old, nd4c_value value);
/* The same of each output of a node and its entry of `values`. */
bool nd4c_rewrite_may_replace_all(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, const nd4c_value *values);
/* Lets all nodes up to number `until`, and the outputs of the graph, read another value of the same dtype and shape.
 * Nodes from `until` on keep the old value: those that were added to compute the new one from it. */
nd4c_status nd4c_rewrite_replace(nd4c_rewrite *rewrite, nd4c_value old, nd4c_value value, int32_t until);
/* Removes a node that is not needed any more; its outputs have no reader left or have become constants. */
void nd4c_rewrite_remove(nd4c_rewrite *rewrite, nd4c_graph_node *node);
/* Removes the nodes that neither a node nor an output of the graph reads; returns their number. */
int32_t nd4c_rewrite_remove_unread(nd4c_rewrite *rewrite);
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
/* All elements of a constant of float32, float64, int32, int8 or uint8 in C order, to be freed with nd4c_deallocate.
 * NULL with *status OK if the value is no such constant; else *status is a failure of memory or a device. */
double *nd4c_constant_elements(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_status *status);
/* The same, but NULL also for integers and for more than `limit` elements. */
double *nd4c_constant_numbers(const nd4c_rewrite *rewrite, nd4c_value value, int64_t limit, nd4c_status *status);
/* A new constant of one of these dtypes on the context's device from C-ordered numbers, which an integer dtype holds.
 */
nd4c_status nd4c_constant_make(nd4c_rewrite *rewrite, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                               const double *numbers, nd4c_value *value);

#endif
