/* Control flow in graphs: nodes that run other graphs, their bodies. nd4c_graph_if runs one of two bodies,
 * nd4c_graph_loop and nd4c_graph_scan run a body in rounds, nd4c_graph_call runs a named function. A plan runs such
 * nodes itself: it makes a plan of each body, once for each combination of sizes, and a round costs what the body's
 * kernels cost.
 *
 * A body is a graph with inputs and outputs, which the program builds before the node. The node keeps a copy: changes
 * to the body after the call, and its destruction, do not matter. So no body can contain itself. What a body reads from
 * the graph around it comes in as an input. A body may have dims: they are the dims of the same names of the graph
 * around it, which must have them.
 *
 * Errors of all functions that record a node: NULL_ARGUMENT, HANDLE, INDEX (a value is none of the graph's); ARGUMENT
 * (a number of inputs or outputs), DTYPE and SHAPE if the body does not fit what it is given or what it must give;
 * NAME if the body has a dim that the graph lacks; UNSUPPORTED if bodies lie in each other more than ND4C_CONTROL_DEPTH
 * deep, or a body has more than ND4C_CONTROL_NODES nodes. The text names the node and the value. The graph is unchanged
 * then. */
#ifndef ND4C_CONTROL_H
#define ND4C_CONTROL_H

#include "nd4c/graph.h"

ND4C_EXTERN_C_BEGIN

/* Bodies in bodies: so deep at most. */
#define ND4C_CONTROL_DEPTH 32
/* The most nodes of a body, with those of its own bodies counted as often as nodes name them. */
#define ND4C_CONTROL_NODES (INT64_C(1) << 20)
/* The rounds after which a loop fails if its program sets no other limit. */
#define ND4C_LOOP_LIMIT (INT64_C(1) << 32)

/* -- functions ----------------------------------------------------------------------------------------------------- */

/* A body with a name. Any graphs, and bodies of other functions, may call it. */
typedef struct nd4c_function nd4c_function;

/* NAME: the name is empty. ARGUMENT: the body has no outputs. UNSUPPORTED: too many nodes, or bodies too deep. */
ND4C_API nd4c_status nd4c_function_create(const char *name, const nd4c_graph *body, nd4c_function **function);
/* Graphs that call the function keep it. NULL is fine. */
ND4C_API void nd4c_function_release(nd4c_function *function);

/* Records a call: inputs and outputs are those of the function's body, in its order. */
ND4C_API nd4c_status nd4c_graph_call(nd4c_graph *graph, nd4c_function *function, const nd4c_value *inputs,
                                     int32_t input_count, const char *label, nd4c_value *outputs, int32_t output_count);

/* -- branches and loops -------------------------------------------------------------------------------------------- */

/* Runs `then_body` if the condition, a bool of one element, is true, else `else_body`. Both bodies take all inputs, and
 * their outputs agree in number, dtype and shape. */
ND4C_API nd4c_status nd4c_graph_if(nd4c_graph *graph, nd4c_value condition, const nd4c_graph *then_body,
                                   const nd4c_graph *else_body, const nd4c_value *inputs, int32_t input_count,
                                   const char *label, nd4c_value *outputs, int32_t output_count);

/* A loop. It ends after *trips rounds, after *rounds rounds, or when the body says so, whichever comes first.
 *
 * Inputs of the body, in this order: the number of the round (int64, no axes) from 0; the carried values; the captured
 * values, which are the same in all rounds. Outputs of the body: whether another round follows (bool, one element), if
 * `decides`; the carried values for the next round, with the same dtypes and shapes; values to collect.
 *
 * Outputs of the loop: the carried values after the last round, or as they were given if there is no round; then each
 * collected value with a new first axis of *rounds. If the loop may end before *rounds rounds, the rest is 0. */
typedef struct nd4c_loop_options {
  uint32_t struct_size; /* sizeof(nd4c_loop_options) */
  int32_t carried_count, captured_count;
  const nd4c_value *carried, *captured;
  bool decides;                /* the body's first output says whether another round follows */
  const nd4c_value *trips;     /* int64, one element; NULL: any number */
  const nd4c_value *condition; /* bool, one element: whether there is a first round; NULL: yes */
  const int64_t *rounds; /* a number or an extent in the graph's dims; NULL: not known, and nothing is collected */
  int64_t limit;         /* a loop that wants more rounds than this fails; 0: ND4C_LOOP_LIMIT */
} nd4c_loop_options;

/* ARGUMENT: nothing ends the loop (no trips, no rounds, and the body does not decide), values are collected and *rounds
 * is not known, the loop has no outputs, or limit is negative. SHAPE: *rounds is neither a number nor an extent of the
 * graph. UNSUPPORTED: as for scans. A run fails with OVERFLOW after `limit` rounds. Each round checks the thread's
 * cancellations. */
ND4C_API nd4c_status nd4c_graph_loop(nd4c_graph *graph, const nd4c_graph *body, const nd4c_loop_options *options,
                                     const char *label, nd4c_value *outputs, int32_t output_count);

/* A loop over the elements of arrays along an axis. Inputs of the body: the carried values; an element of each scanned
 * value, without the axis; the captured values. Outputs: the carried values; values to collect. Outputs of the scan:
 * the carried values after the last round; each collected value with a new axis, as long as the scanned axes are.
 *
 * NULL axes are 0, NULL directions forward. Negative axes count from the end. A backward input is scanned from its last
 * element on; a backward output is written from its last element on. */
typedef struct nd4c_scan_options {
  uint32_t struct_size; /* sizeof(nd4c_scan_options) */
  int32_t carried_count, scanned_count, captured_count;
  const nd4c_value *carried, *scanned, *captured;
  const int32_t *axes;         /* one for each scanned value */
  const bool *backward;        /* one for each scanned value */
  const int32_t *output_axes;  /* one for each collected value */
  const bool *output_backward; /* one for each collected value */
} nd4c_scan_options;

/* ARGUMENT: there is no scanned value. SHAPE: scanned axes differ in length. INDEX: an axis is out of range.
 * UNSUPPORTED: a scanned or collected value has several elements in a byte, or a collected one ND4C_MAX_RANK axes
 * already. */
ND4C_API nd4c_status nd4c_graph_scan(nd4c_graph *graph, const nd4c_graph *body, const nd4c_scan_options *options,
                                     const char *label, nd4c_value *outputs, int32_t output_count);

/* -- looking ------------------------------------------------------------------------------------------------------- */

typedef enum nd4c_control_kind {
  ND4C_CONTROL_NONE, /* the node is an op */
  ND4C_CONTROL_IF,
  ND4C_CONTROL_LOOP,
  ND4C_CONTROL_SCAN,
  ND4C_CONTROL_CALL
} nd4c_control_kind;

/* What a node with bodies does. nd4c_graph_get_node gives its inputs in this order: condition (if), trips and condition
 * (loop, each where it has one), carried, scanned, captured values; its info.op has the kind's name, a number that no
 * call accepts, and no attributes. */
typedef struct nd4c_control_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_control_info) */
  nd4c_control_kind kind;
  int32_t body_count; /* 2: then and else */
  int32_t carried_count, scanned_count, captured_count, collected_count;
  bool has_trips, has_condition, decides;
  int64_t rounds; /* a number or an extent in the graph's dims; -1: not known */
  int64_t limit;
  const char *function; /* of a call: its name; else NULL. The graph's */
} nd4c_control_info;

/* Of node `index`; of an op, kind is NONE and the rest 0. INDEX; ARGUMENT if struct_size is too small. */
ND4C_API nd4c_status nd4c_graph_get_control(const nd4c_graph *graph, int32_t index, nd4c_control_info *info);
/* Body number `body` of a node; NULL: there is none. The graph's: valid as long as the graph, and not to be changed or
 * destroyed. */
ND4C_API const nd4c_graph *nd4c_graph_body(const nd4c_graph *graph, int32_t index, int32_t body);

ND4C_EXTERN_C_END
#endif
