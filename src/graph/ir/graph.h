/* A graph as passes and plans use it: values and nodes by index, nodes in a valid order of execution. The files of ir
 * and graph/plan.h include it. */
#ifndef ND4C_GRAPH_IR_GRAPH_H
#define ND4C_GRAPH_IR_GRAPH_H

#include "array/array.h"
#include "base/region.h"
#include "graph/names/notes.h"
#include "graph/names/parts.h"
#include "graph/names/ports.h"
#include "graph/names/scopes.h"
#include "nd4c/graph.h"
#include "ops/extents/extents.h"
#include "ops/op.h"

/* A value is exactly one of: an input (input >= 0), a variable (variable >= 0), a constant (constant != NULL), an
 * output of a node (producer >= 0). In the graph of a plan variables are inputs, too (variables.h). */
typedef struct nd4c_graph_value {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t size;         /* symbolic if the shape is */
  const int64_t *shape; /* in the graph's region */
  nd4c_array *constant; /* one reference */
  bool derived;         /* the constant is from derived.h, and this value holds a use of it */
  int32_t input;        /* position among the graph's inputs, -1: none */
  int32_t variable;     /* its number, -1: none */
  int32_t producer;     /* node, -1: none */
  const int32_t *order; /* preferred memory order of the axes, slowest first; NULL: C order. Set by the layout pass */
} nd4c_graph_value;

typedef struct nd4c_control nd4c_control; /* control.h */

typedef struct nd4c_graph_node {
  const nd4c_op_def *def; /* NULL: removed by a pass; the list is compacted later */
  int32_t input_count, output_count;
  nd4c_value *inputs; /* in the region; ND4C_VALUE_NONE for an omitted optional input */
  nd4c_value *outputs;
  nd4c_attr_value *attrs; /* in the schema's order, all set; lists in the region */
  const char *label;      /* "" if it has none */
  const char *fused;      /* ops this node stands for ("conv + batch_norm + relu"), NULL: itself */
  nd4c_parts parts;       /* labels of the nodes that it stands for */
  nd4c_note *notes;       /* its metadata */
  nd4c_control *control;  /* its bodies, of which the graph holds a reference; NULL: an op */
  bool again;             /* computed once more on purpose (passes/recompute.c): no other node stands for it */
} nd4c_graph_node;

/* What a graph says about a variable; its name and value are in the port with its number. */
typedef struct nd4c_variable {
  nd4c_value initial, assigned; /* ND4C_VALUE_NONE: not assigned */
  bool trainable;
} nd4c_variable;

struct nd4c_graph {
  uint32_t magic;
  nd4c_region region;
  nd4c_graph_value *values;
  int32_t value_count, value_capacity;
  int32_t recycled_values, recycled_nodes; /* of a binding: capacities of tables that are given to base/recycle.h unless
                                              they have grown; 0: none */
  nd4c_graph_node *nodes;
  int32_t node_count, node_capacity;
  nd4c_graph_ports inputs, outputs, variables;
  nd4c_variable *variable_items; /* by variable */
  int32_t variable_capacity;
  nd4c_state *state; /* its own, one reference; NULL: it has no variables */
  nd4c_array **held; /* arrays that attributes refer to, one reference each */
  int32_t held_count, held_capacity;
  nd4c_control **controls; /* of nodes with bodies, one reference each */
  int32_t control_count, control_capacity;
  nd4c_scopes *scopes;   /* NULL: none was opened yet */
  nd4c_note *notes;      /* metadata of the graph itself */
  nd4c_extents *extents; /* dims and the expressions in them; NULL: the graph has no dims */
};

/* Appends a value; the shape is copied. */
nd4c_status nd4c_graph_add_value(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                                 nd4c_value *value);

/* Appends a constant that is this handle: for arrays that programs have no handle of. */
nd4c_status nd4c_graph_add_constant(nd4c_graph *graph, nd4c_array *array, nd4c_value *value);

/* Infers the outputs of a node; fills def->info.output_count entries of `outputs`. `what` names the node in errors. */
nd4c_status nd4c_graph_infer(const nd4c_graph *graph, const nd4c_op_def *def, const nd4c_value *inputs,
                             int32_t input_count, const nd4c_attr_value *attrs, nd4c_inferred *outputs);

/* Adds a node whose outputs are known, after all checks; its outputs are in the last node. The graph is unchanged after
 * a failure. */
nd4c_status nd4c_graph_add_node(nd4c_graph *graph, nd4c_graph_node node, const nd4c_value *inputs,
                                const nd4c_attr_value *attrs, const char *label, const nd4c_inferred *inferred);
/* How far a graph is recorded. For who records several nodes, all of them or none: takes a mark before the first, and
 * takes everything behind it back after a failure. */
typedef struct nd4c_graph_mark {
  int32_t nodes, values, guards, names;
} nd4c_graph_mark;
nd4c_graph_mark nd4c_graph_begin_recording(const nd4c_graph *graph);
void nd4c_graph_take_back(nd4c_graph *graph, nd4c_graph_mark mark);

/* INDEX if the graph has no such value; `what` names who asks. */
nd4c_status nd4c_graph_check_value(const nd4c_graph *graph, nd4c_value value, const char *what);

/* The node's label, in a form that is safe to print, for errors and reports; returns the buffer (look.c). */
const char *nd4c_graph_label_text(const nd4c_graph_node *node, char *buffer, size_t size);

/* Copies attribute values with everything they point to into the graph's region. */
nd4c_status nd4c_graph_copy_attrs(nd4c_graph *graph, int32_t count, const nd4c_attr_value *from, nd4c_attr_value **to);

/* Puts the nodes in an order in which they can be run; those that are in order already keep it. INTERNAL if nodes read
 * each other in a circle. */
nd4c_status nd4c_graph_sort(nd4c_graph *graph);

/* Numbers the values without gaps; those that nothing gives go. For a graph that passes have rewritten: numbers
 * that a caller has kept say nothing afterwards. The graph is unchanged after a failure. */
nd4c_status nd4c_graph_renumber(nd4c_graph *graph);

/* A graph of its own with the same content; constants are shared. */
nd4c_status nd4c_graph_clone(const nd4c_graph *graph, nd4c_graph **clone);

/* HANDLE or NULL_ARGUMENT. */
nd4c_status nd4c_graph_check(const nd4c_graph *graph);
/* UNSUPPORTED if the graph has dims; `what` is the function that needs numbers. */
nd4c_status nd4c_graph_check_numbers(const nd4c_graph *graph, const char *what);

/* Whether the shape of a value has numbers only. */
bool nd4c_graph_is_fixed(const nd4c_graph *graph, nd4c_value value);
/* Whether the shapes of a node's operands and its attributes do. */
bool nd4c_graph_node_is_fixed(const nd4c_graph *graph, const nd4c_graph_node *node);
/* The lowest value of an extent, but at least 1, to ask kernels. Numbers stay what they are. */
int64_t nd4c_graph_least(const nd4c_graph *graph, int64_t extent);

/* Gap-free strides of a value in its preferred order. */
void nd4c_graph_value_strides(const nd4c_graph_value *value, int64_t *strides);

/* Describes a value as an operand: dtype, shape and size; constants with their flag. strides and data stay NULL. */
void nd4c_graph_describe(const nd4c_graph *graph, nd4c_value value, nd4c_tensor *tensor);
/* The same with strides and with numbers for extents (nd4c_graph_least), to ask kernels which op they compute. shape
 * and strides have room for ND4C_MAX_RANK. */
void nd4c_graph_describe_least(const nd4c_graph *graph, nd4c_value value, int64_t *shape, int64_t *strides,
                               nd4c_tensor *tensor);

#endif
