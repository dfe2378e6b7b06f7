/* Graphs and plans. A graph records ops on values of known dtype and shape; a plan is a graph optimised and frozen for
 * one device: slots, a release schedule and one arena. A graph is built by one thread; a plan is run by one thread at a
 * time. */
#ifndef ND4C_GRAPH_H
#define ND4C_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/compile.h"
#include "nd4c/op_schema.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_graph nd4c_graph;
typedef struct nd4c_plan nd4c_plan;

/* A value of a graph: an input, a constant, or an output of a node. Negative: none. */
typedef int32_t nd4c_value;
#define ND4C_VALUE_NONE (-1)

ND4C_API nd4c_status nd4c_graph_create(nd4c_graph **graph);
/* Frees the graph; plans made from it stay valid. NULL is fine. */
ND4C_API void nd4c_graph_destroy(nd4c_graph *graph);

/* Declares an input. Names are unique among inputs (ND4C_NAME). */
ND4C_API nd4c_status nd4c_graph_input(nd4c_graph *graph, const char *name, nd4c_dtype dtype, int32_t rank,
                                      const int64_t *shape, nd4c_value *value);
/* Records a constant; the graph keeps a reference to the array, whose contents must not change from here on. */
ND4C_API nd4c_status nd4c_graph_constant(nd4c_graph *graph, nd4c_array *array, nd4c_value *value);
/* Records an op. Dtypes and shapes are checked and inferred now; errors as nd4c_op_call. `label` (may be NULL) names
 * the node in errors and reports. */
ND4C_API nd4c_status nd4c_graph_op(nd4c_graph *graph, nd4c_op op, const nd4c_value *inputs, int32_t input_count,
                                   const nd4c_attr *attrs, int32_t attr_count, const char *label, nd4c_value *outputs,
                                   int32_t output_count);
/* Marks a value as an output under a name, unique among outputs. The order of the calls is the order of outputs. */
ND4C_API nd4c_status nd4c_graph_output(nd4c_graph *graph, const char *name, nd4c_value value);

/* Dtype and shape of a value; shape is owned by the graph. */
ND4C_API nd4c_status nd4c_graph_value_info(const nd4c_graph *graph, nd4c_value value, nd4c_dtype *dtype, int32_t *rank,
                                           const int64_t **shape);
/* The array behind a constant value, NULL if it is none. Borrowed. */
ND4C_API nd4c_array *nd4c_graph_value_constant(const nd4c_graph *graph, nd4c_value value);
ND4C_API int32_t nd4c_graph_input_count(const nd4c_graph *graph);
ND4C_API int32_t nd4c_graph_output_count(const nd4c_graph *graph);
ND4C_API const char *nd4c_graph_input_name(const nd4c_graph *graph, int32_t index);
ND4C_API const char *nd4c_graph_output_name(const nd4c_graph *graph, int32_t index);
ND4C_API nd4c_value nd4c_graph_input_value(const nd4c_graph *graph, int32_t index);
ND4C_API nd4c_value nd4c_graph_output_value(const nd4c_graph *graph, int32_t index);

/* A node of a plan that is being made, after the passes. Borrowed during the callback. */
typedef struct nd4c_plan_node {
  uint32_t struct_size;
  int32_t index, node_count;
  const nd4c_op_info *op;
  const char *label; /* the one it was recorded with, of a model the node's name; "" if none */
} nd4c_plan_node;

/* The device for a node; NULL: the plan's. Called once a node while the plan is made, on that thread. */
typedef nd4c_device *(*nd4c_placement_callback)(void *user, const nd4c_plan_node *node);

/* Which device each node of a plan runs on: what device_of says, or, if that is NULL, node i on devices[i %
 * device_count]. At most 8 devices, the plan's own among them. Where the list names one device, the plan is on that
 * device as if the context were, with compilers and recorded work; the context's device then takes the nodes that it
 * cannot compute. */
typedef struct nd4c_placement {
  uint32_t struct_size; /* sizeof(nd4c_placement) */
  nd4c_placement_callback device_of;
  void *user;
  nd4c_device *const *devices;
  int32_t device_count;
} nd4c_placement;

typedef struct nd4c_plan_options {
  uint32_t struct_size; /* sizeof(nd4c_plan_options) */
  bool no_optimization; /* run the nodes as recorded */
  /* Several devices; NULL: all nodes run on the context's. Each step then runs on its device's stream. What steps of
   * two devices touch has memory of its own on both, and is copied when it is first needed where it is not; constants
   * are copied once, when the plan is made. A device that cannot compute its node leaves it to the plan's, which the
   * report tells (strict context: UNSUPPORTED). Compilers are asked where all nodes are meant for one device. Fresh
   * outputs lie where they were computed. */
  const nd4c_placement *placement;
  const nd4c_compile_request *compile; /* for compilers; NULL: exact arithmetic, no limit, no options */
  /* A file of nd4c_plan_compile, from which the plan's executables are loaded; read while the plan is made. NULL: none.
   * FORMAT: it is no such file, or an executable was compiled for another compiler or device, whose fingerprint the
   * text shows beside the one that is needed. A piece that the file does not have is compiled now, which the report
   * tells (strict context: STRICT). Constants are then folded on the host, as they were when the file was made. Loading
   * runs what is in the file. */
  const char *compiled;
} nd4c_plan_options;

/* Optimises and freezes the graph for the context's device (NULL: current). The graph is not changed. The plan keeps
 * the context's settings and stream, also when the context is destroyed before it, and the kernels chosen now:
 * configuration that changes later (forced or disabled engines, strictness) concerns plans made later. UNSUPPORTED if
 * no kernel computes a node, STRICT; the text names the node. */
ND4C_API nd4c_status nd4c_plan_create(const nd4c_graph *graph, nd4c_context *context, const nd4c_plan_options *options,
                                      nd4c_plan **plan);
/* Frees the plan. Outputs that were handed out stay valid. */
ND4C_API void nd4c_plan_destroy(nd4c_plan *plan);

/* Runs the plan. inputs stand in the order of the graph's inputs and have their dtypes and shapes (DTYPE, SHAPE; the
 * text names the input); any strides will do, contiguous ones need no copy. outputs: in the order of the graph's
 * outputs; NULL entries receive fresh arrays, others are written into, which may overlap inputs. Refused: nothing has
 * changed. Failed on the way: arrays that were given are poisoned, the text names the node. Allocates nothing from the
 * second run on except fresh outputs. */
ND4C_API nd4c_status nd4c_plan_run(nd4c_plan *plan, const nd4c_array *const *inputs, int32_t input_count,
                                   nd4c_array **outputs, int32_t output_count);

/* Compiles ahead of time what compilers of `target` take of the graph, and writes their executables into a file, for
 * nd4c_plan_options.compiled in another process. target: a device's name ("tpu:0"); of a backend whose verdict is
 * COMPILE_ONLY the device need not be here. options: as for the plan that is to load them, with no placement and no
 * `compiled` (ARGUMENT). nd4c.deterministic of the configuration is part of what is compiled; widths are not. *report
 * (may be NULL): the pieces, and why the other nodes are in none; free with nd4c_free. Blocks; any thread. UNSUPPORTED:
 * no compiler of the target takes a node, or can write what it makes. IO. What is refused writes nothing. */
ND4C_API nd4c_status nd4c_plan_compile(const nd4c_graph *graph, const char *target, const nd4c_plan_options *options,
                                       const char *path, char **report);

/* The copies between devices that a plan needs: the distinct pairs of a tensor and a device that reads it and did not
 * make it, counted from the steps. */
typedef struct nd4c_plan_copies {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_plan_copies) */
  int64_t inputs;       /* of inputs that lie on the plan's device; once, unless the caller changes them */
  int64_t values;       /* of what steps make: in each run */
  int64_t constants;    /* made when the plan was made, not in runs; if nobody had brought them there before */
  int64_t input_bytes, value_bytes, constant_bytes;
} nd4c_plan_copies;

ND4C_API nd4c_status nd4c_plan_get_copies(const nd4c_plan *plan, nd4c_plan_copies *copies);

/* Text: nodes before and after each pass, each step with its kernel, its device if there are several, and the reason,
 * planned copies, segments, arena size, and every difference between requested and applied. Free with nd4c_free. */
ND4C_API nd4c_status nd4c_plan_report(const nd4c_plan *plan, char **text);

ND4C_EXTERN_C_END
#endif
