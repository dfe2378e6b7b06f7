/* Nodes with bodies: branches, loops, scans and calls (nd4c/control.h). control.c records them, bodies.c keeps and
 * binds their bodies; passes and graph/control.c read them here.
 *
 * Loops and scans are one thing inside: a scan is a loop whose rounds are the elements of an axis. Inputs of a node, in
 * this order: the condition of an if; trips and condition of a loop, each where it has one; carried, scanned, captured
 * values. Inputs of a loop's body: the round, where it takes one; carried, an element of each scanned, captured values.
 * Outputs of a loop's body: whether another round follows, where it decides; carried, collected values. */
#ifndef ND4C_GRAPH_IR_CONTROL_H
#define ND4C_GRAPH_IR_CONTROL_H

#include <stdatomic.h>

#include "graph/ir/cost.h"
#include "graph/ir/graph.h"
#include "nd4c/control.h"

/* A body. Graphs, nodes and callers of nd4c_function_create hold references; none of them changes it. */
struct nd4c_function {
  uint32_t magic;
  _Atomic int32_t references;
  nd4c_graph *graph;
  const char *name; /* in the graph's region; NULL: a body without a name */
  int32_t depth;    /* of bodies in it: 1 if it has none */
  int64_t nodes;    /* with those of bodies in it, by use */
  nd4c_cost cost;   /* of one run */
  double weight;    /* of one run: nd4c_graph_weight */
};

struct nd4c_control {
  _Atomic int32_t references;
  nd4c_control_kind kind;
  nd4c_function *bodies[2]; /* one reference each; then, else */
  int32_t body_count;
  bool has_trips, has_condition, decides, takes_round;
  int32_t carried, scanned, captured, collected;
  int64_t rounds, limit;
  bool *backward; /* by scanned, then by collected value: from the last element on; own */
};

/* -- bodies.c -- */

/* Takes over the graph, also when it fails. UNSUPPORTED: too many nodes, or too deep. ARGUMENT: no outputs. */
nd4c_status nd4c_function_make(const char *name, nd4c_graph *graph, nd4c_function **function);
/* The same, of a copy of the graph. */
nd4c_status nd4c_function_copy(const char *name, const nd4c_graph *graph, nd4c_function **function);
nd4c_function *nd4c_function_retain(nd4c_function *function);
/* HANDLE or NULL_ARGUMENT. */
nd4c_status nd4c_function_check(const nd4c_function *function);

/* UNSUPPORTED if a node of the graph has bodies; `what` is the function that takes none. */
nd4c_status nd4c_graph_check_no_bodies(const nd4c_graph *graph, const char *what);

/* A copy of the record, with references to the same bodies. */
nd4c_status nd4c_control_copy(const nd4c_control *control, nd4c_control **copy);
nd4c_control *nd4c_control_retain(nd4c_control *control);
void nd4c_control_release(nd4c_control *control);
/* The graph holds one reference more, until it is destroyed. */
nd4c_status nd4c_graph_hold_control(nd4c_graph *graph, nd4c_control *control);

/* What a node of `graph` does, with its bodies bound; `bound` holds it. */
nd4c_status nd4c_control_bind(const nd4c_graph *graph, const nd4c_binding *binding, const nd4c_control *control,
                              nd4c_graph *bound, nd4c_control **made);

/* Replaces the extents in a node's attributes; lists with extents are made anew in the region of `bound`. dims.c. */
nd4c_status nd4c_graph_bind_attrs(const nd4c_binding *binding, const nd4c_op_def *def, nd4c_graph *bound,
                                  nd4c_attr_value *attrs);

/* What the dims of a body are in the graph around it, which has dims of the same names. */
typedef struct nd4c_body_dims {
  nd4c_binding binding;
  int64_t *dims;
  bool symbolic;
} nd4c_body_dims;
nd4c_status nd4c_body_dims_make(const nd4c_graph *body, nd4c_graph *graph, nd4c_body_dims *made);
void nd4c_body_dims_free(nd4c_body_dims *made);
/* A shape of the body as the graph around it has it. */
nd4c_status nd4c_body_dims_shape(const nd4c_body_dims *made, const nd4c_graph_value *value, int64_t *shape);

/* Records nodes of `from` in their order, with their labels; `graph` has the dims that they need. values: by value of
 * `from`, the value of `graph` that stands for it; ND4C_VALUE_NONE: none yet. Inputs of `from` that the nodes read must
 * have one. Constants get one when a node first reads them, and so do the outputs of the nodes. chosen (NULL: all): by
 * node, which are recorded. */
nd4c_status nd4c_graph_append(nd4c_graph *graph, const nd4c_graph *from, const bool *chosen, nd4c_value *values);

/* The value of `graph` for a value of `from`, which may be a constant. */
nd4c_status nd4c_graph_append_value(nd4c_graph *graph, const nd4c_graph *from, nd4c_value value, nd4c_value *values);

/* -- control.c -- */

const nd4c_op_def *nd4c_control_def(nd4c_control_kind kind);
/* Checks the node against its bodies and records it; the graph then holds a reference to `control`. `outputs` (may be
 * NULL) gets node->output_count values. */
nd4c_status nd4c_control_record(nd4c_graph *graph, nd4c_control *control, const nd4c_value *inputs, int32_t input_count,
                                const char *label, nd4c_value *outputs);
/* Checks the inputs of a node against its bodies; fills nd4c_control_output_count entries of `outputs`. */
nd4c_status nd4c_control_infer(nd4c_graph *graph, const nd4c_control *control, const nd4c_value *inputs,
                               int32_t input_count, nd4c_inferred *outputs);
/* Number of inputs before the carried ones; number of outputs. */
int32_t nd4c_control_lead(const nd4c_control *control);
int32_t nd4c_control_input_count(const nd4c_control *control);
int32_t nd4c_control_output_count(const nd4c_control *control);

#endif
