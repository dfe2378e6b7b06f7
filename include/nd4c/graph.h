/* Graphs and plans. A graph records ops on values of known dtype and shape. A plan is a graph that was optimised and
 * frozen for a device: nd4c has chosen the kernels, and where in one arena each value lies and for how long. The shapes
 * may depend on dims, whose numbers each run brings; the plan then has a binding for each combination of them. One
 * thread builds a graph. Any threads run a plan: at once in mode direct (the report names the mode), each with an arena
 * of its own; in the other modes they wait for each other. A plan is destroyed after all other calls on it have
 * returned. */
#ifndef ND4C_GRAPH_H
#define ND4C_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/compile.h"
#include "nd4c/extent.h"
#include "nd4c/op_schema.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_graph nd4c_graph;
typedef struct nd4c_plan nd4c_plan;
typedef struct nd4c_state nd4c_state;             /* nd4c/variable.h */
typedef struct nd4c_calibration nd4c_calibration; /* nd4c/calibration.h */

/* A value of a graph: an input, a variable, a constant, or an output of a node. Negative: none. */
typedef int32_t nd4c_value;
#define ND4C_VALUE_NONE (-1)

ND4C_API nd4c_status nd4c_graph_create(nd4c_graph **graph);
/* Frees the graph; plans made from it stay valid. NULL is fine. */
ND4C_API void nd4c_graph_destroy(nd4c_graph *graph);

/* Declares a dim: an extent that is only known by its name until the graph is bound. low <= its value <= high, or no
 * upper bound for high < 0. *extent stands for it in the shapes of inputs of this graph, and in attributes that hold
 * extents, such as reshape's shape. NAME: the name is taken. SHAPE: no value lies between the bounds. */
ND4C_API nd4c_status nd4c_graph_dim(nd4c_graph *graph, const char *name, int64_t low, int64_t high, int64_t *extent);
ND4C_API int32_t nd4c_graph_dim_count(const nd4c_graph *graph);
/* NULL: there is no such dim. Borrowed. */
ND4C_API const char *nd4c_graph_dim_name(const nd4c_graph *graph, int32_t index);
/* An extent as text: "2*batch + 1", where / rounds down. Free with nd4c_free. SHAPE: it is none of this graph. */
ND4C_API nd4c_status nd4c_graph_extent_text(const nd4c_graph *graph, int64_t extent, char **text);

/* What nd4c_graph_extent computes of two extents. Numbers are fixed. */
typedef enum nd4c_extent_operation {
  ND4C_EXTENT_ADD = 0,
  ND4C_EXTENT_SUBTRACT = 1,
  ND4C_EXTENT_MULTIPLY = 2,
  ND4C_EXTENT_DIVIDE = 3, /* rounded down */
  ND4C_EXTENT_REMAINDER = 4,
  ND4C_EXTENT_MAXIMUM = 5,
  ND4C_EXTENT_MINIMUM = 6
} nd4c_extent_operation;

/* Computes with extents of this graph and numbers of at least 0: *extent stands for a + b, a - b, ... and may be where
 * a dim may be. It is a number if all dims fall out ("n - n"). If only the numbers of the dims can say that the result
 * is at least 0, or that a divisor is at least 1, that becomes a guard (nd4c_graph_guards) which names the result.
 * SHAPE: the result is no extent whatever the dims are, or an operand is none of this graph. ARGUMENT: there is no such
 * operation. UNSUPPORTED: the result has too many terms. */
ND4C_API nd4c_status nd4c_graph_extent(nd4c_graph *graph, nd4c_extent_operation operation, int64_t a, int64_t b,
                                       int64_t *extent);
/* The number of an extent where all named dims have these numbers; names are those of all dims of the graph, in any
 * order. NAME: a name is not that of a dim, is given twice, or one lacks. SHAPE: as nd4c_graph_bind, or the extent is
 * none of this graph. */
ND4C_API nd4c_status nd4c_graph_extent_number(const nd4c_graph *graph, int64_t extent, const char *const *names,
                                              const int64_t *extents, int32_t count, int64_t *number);
/* What ops have assumed about the dims, which nd4c_graph_bind checks: a line for each guard, "add: batch == time". Free
 * with nd4c_free. */
ND4C_API nd4c_status nd4c_graph_guards(const nd4c_graph *graph, char **text);
/* Makes a graph in which the named dims are numbers; values and nodes keep their numbers. Dims that are not named stay.
 * The graph is not changed, and both share their constants. NAME: a name is not that of a dim, or is given twice.
 * SHAPE: a bound or a guard does not hold; the text names it. */
ND4C_API nd4c_status nd4c_graph_bind(const nd4c_graph *graph, const char *const *names, const int64_t *extents,
                                     int32_t count, nd4c_graph **bound);

/* Declares an input. Names are unique among inputs and variables (ND4C_NAME). Extents are numbers or this graph's
 * (nd4c_graph_dim).
 */
ND4C_API nd4c_status nd4c_graph_input(nd4c_graph *graph, const char *name, nd4c_dtype dtype, int32_t rank,
                                      const int64_t *shape, nd4c_value *value);
/* Records a constant. The graph keeps the array's memory, whose contents must not change from now on. The array may be
 * donated (nd4c/runner.h): the graph and its plans keep the value. */
ND4C_API nd4c_status nd4c_graph_constant(nd4c_graph *graph, nd4c_array *array, nd4c_value *value);
/* Records an op. Dtypes and shapes are checked and inferred in this call; the errors are those of nd4c_op_call. `label`
 * (may be NULL) names the node in errors and reports. Of extents that depend on dims, the op may assume what numbers
 * would show, for instance that two are equal (nd4c_graph_guards). UNSUPPORTED: the op's inference takes numbers only.
 */
ND4C_API nd4c_status nd4c_graph_op(nd4c_graph *graph, nd4c_op op, const nd4c_value *inputs, int32_t input_count,
                                   const nd4c_attr *attrs, int32_t attr_count, const char *label, nd4c_value *outputs,
                                   int32_t output_count);
/* Marks a value as an output under a name, unique among outputs. The outputs of a plan are in the order of these
 * calls. */
ND4C_API nd4c_status nd4c_graph_output(nd4c_graph *graph, const char *name, nd4c_value value);

/* Dtype and shape of a value; shape is owned by the graph. Its extents may depend on dims (nd4c_extent_is_symbolic). */
ND4C_API nd4c_status nd4c_graph_value_info(const nd4c_graph *graph, nd4c_value value, nd4c_dtype *dtype, int32_t *rank,
                                           const int64_t **shape);
/* The graph's array of a constant; NULL if the value is not a constant. Borrowed, for reading only: it must be neither
 * written nor donated. */
ND4C_API nd4c_array *nd4c_graph_value_constant(const nd4c_graph *graph, nd4c_value value);
ND4C_API int32_t nd4c_graph_input_count(const nd4c_graph *graph);
ND4C_API int32_t nd4c_graph_output_count(const nd4c_graph *graph);
ND4C_API const char *nd4c_graph_input_name(const nd4c_graph *graph, int32_t index);
ND4C_API const char *nd4c_graph_output_name(const nd4c_graph *graph, int32_t index);
ND4C_API nd4c_value nd4c_graph_input_value(const nd4c_graph *graph, int32_t index);
ND4C_API nd4c_value nd4c_graph_output_value(const nd4c_graph *graph, int32_t index);

/* Whether an op takes inputs and attributes whose extents depend on the graph's dims; false for an unknown op. The
 * others are refused by nd4c_graph_op with UNSUPPORTED. Any thread. */
ND4C_API bool nd4c_op_takes_dims(nd4c_op op);

/* -- looking at a graph ------------------------------------------------------------------------------------------- */

/* A node of a graph. Texts and lists are the graph's: valid until it is destroyed or, for a graph that is still being
 * built, until the next call that records something. */
typedef struct nd4c_node_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_node_info) */
  int32_t input_count, output_count;
  const nd4c_op_info *op;
  const nd4c_value *inputs; /* ND4C_VALUE_NONE: an optional input that is left out */
  const nd4c_value *outputs;
  const nd4c_attr_value *attrs; /* all op->attr_count attributes, in the order of the schema */
  const char *label;            /* "" if the node was recorded without one */
  const char *fused;            /* the ops that passes made the node from ("conv + relu"); NULL: none */
  /* Estimates from the op and the shapes: additions and multiplications (a function such as exp counts as eight), and
   * the bytes that are read and written; 0 for ops whose result can be a view. */
  double operations, bytes;
  /* The labels of the recorded nodes that passes merged into the node, in their order ("conv1 + bn1 + relu1"; of more
   * than eight the first seven and the last). NULL: fewer than two. */
  const char *parts;
} nd4c_node_info;

/* Nodes in an order in which they can run, from 0; a node's inputs come from nodes before it. 0 for NULL. */
ND4C_API int32_t nd4c_graph_node_count(const nd4c_graph *graph);
/* INDEX outside 0 .. count - 1; ARGUMENT if struct_size is too small. */
ND4C_API nd4c_status nd4c_graph_get_node(const nd4c_graph *graph, int32_t index, nd4c_node_info *info);
/* Values have numbers from 0 to count - 1. After passes, some belong to no node any more. */
ND4C_API int32_t nd4c_graph_value_count(const nd4c_graph *graph);

/* -- passes -------------------------------------------------------------------------------------------------------- */

/* A pass, which rewrites the graph of a plan and keeps its meaning. Texts live as long as the library is loaded. */
typedef struct nd4c_pass_info {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_pass_info) */
  const char *name;
  const char *phase; /* "simplify", "recognize", "fuse", "layout": phases run in this order */
  const char *where; /* "any": every plan; "device": plans of one device, whose kernels the pass asks; "numbers": plans
                      * of one device whose graph has no dims */
  const char *doc;   /* what it does, in a line */
} nd4c_pass_info;

/* Passes in the order in which those of a phase run. Any thread. */
ND4C_API int32_t nd4c_pass_count(void);
/* INDEX outside 0 .. count - 1; ARGUMENT if struct_size is too small. */
ND4C_API nd4c_status nd4c_pass_get_info(int32_t index, nd4c_pass_info *info);

/* -- plans --------------------------------------------------------------------------------------------------------- */

/* A node of a plan that is being created, after the passes ran. Valid during the callback only. */
typedef struct nd4c_plan_node {
  uint32_t struct_size;
  int32_t index, node_count;
  const nd4c_op_info *op;
  const char *label; /* the label that it was recorded with, or the node's name in a model; "" if none */
} nd4c_plan_node;

/* Returns the device for a node; NULL means the plan's device. nd4c_plan_create calls it once for each node, on the
 * calling thread. */
typedef nd4c_device *(*nd4c_placement_callback)(void *user, const nd4c_plan_node *node);

/* Which device each node of a plan runs on: the one that device_of returns or, if device_of is NULL, devices[i %
 * device_count] for node i. At most 8 devices, including the plan's. If the list has a single device, the plan is
 * created as if that device were the context's: the plan can use the device's compilers, and the device can record the
 * plan's work and launch it again. The context's device then runs the nodes that the listed device cannot compute. */
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
  /* Several devices; NULL: all nodes run on the context's device. Each step runs on its device's stream. A value that
   * steps on two devices use has memory on both, and is copied when the second device first needs it. Constants are
   * copied once, when the plan is created. A node that its device cannot compute runs on the plan's device, and the
   * report says so (strict context: UNSUPPORTED). Compilers are asked only if all nodes are placed on one device. Fresh
   * outputs stay on the device that computed them. */
  const nd4c_placement *placement;
  const nd4c_compile_request *compile; /* for compilers; NULL: exact arithmetic, no limit, no options */
  /* A file that nd4c_plan_compile wrote, from which the plan's executables are loaded; read while the plan is created.
   * NULL: none. FORMAT: it is not such a file, or an executable was compiled by another compiler or for another device;
   * the text shows both fingerprints. If the file lacks a piece (the nodes that make up one executable), nd4c compiles
   * the piece now, and the report says so (strict context: STRICT). Constants are folded on the host, as they were when
   * the file was written. Only load files that you trust: nd4c executes the code in them. */
  const char *compiled;
  /* Which passes optimise the graph: names separated by commas (nd4c_pass_get_info lists them). "-gelu,-layout": all
   * but these; "gelu,layout": only these. NULL or "": as the property nd4c.plan.passes says, which has the same syntax
   * and by default switches none off. ARGUMENT: names with and without '-' in one list, or an empty entry. NAME: there
   * is no such pass. The report names the passes that are switched off. */
  const char *passes;
  /* For a graph with dims: bytes of bindings that the plan keeps, apart from constants: tables, and what kernels have
   * prepared, which is estimated. Beyond them it drops those that were used least recently, except the latest and those
   * that run. Arenas are counted only on asynchronous devices; on others, runs share them (nd4c_plan_bindings). Not
   * counted: contiguous copies of inputs and outputs. 0: as the property nd4c.plan.bindings says. ARGUMENT: negative.
   */
  int64_t binding_bytes;
  /* The dtype in which nodes of float32 compute: ND4C_BFLOAT16, ND4C_FLOAT16, or ND4C_INT8, of which `calibration`
   * says more. Of the first two: products, convolutions and attention, and what lies between them, then take and give
   * values of this dtype where the device has a fast kernel for it; sums inside a kernel stay float32, and so do
   * layer_norm and rms_norm, the sums that they read, and what follows the last product. A device without instructions
   * for the dtype uses it for products of few rows with constant weights, which are bound by reading these, and keeps
   * the rest in float32, where it is faster. Inputs and outputs of the graph keep their dtypes. Results have the
   * precision of the dtype (8 bits for bfloat16, 11 for float16); float16 overflows above 65504. ND4C_DTYPE_NONE: as
   * the property nd4c.plan.precision says, which by default asks for nothing, and which no_optimization and a list of
   * passes without reduced_precision override, as the report says. ARGUMENT: another dtype, or together with
   * no_optimization. UNSUPPORTED: the device has no fast product of this dtype, not even of one row, or the plan has a
   * placement on several devices, or nd4c_plan_compile is asked. The report says how many nodes compute in the dtype.
   */
  nd4c_dtype precision;
  /* Where the graph's variables are (nd4c/variable.h); the plan keeps a reference. NULL: the graph's own state. */
  nd4c_state *state;
  /* Bytes that values between nodes should take at most while the plan runs. Where they would take more, the pass
   * recompute computes cheap values again (element-wise ops, casts, fills, views) instead of keeping them, which costs
   * time. It is no promise: what cannot be computed again stays, and the report says how large the arena is. 0: as the
   * property nd4c.plan.arena says, by default no limit. ARGUMENT: negative. */
  int64_t arena_bytes;
  /* For a graph with dims whose sizes grow from run to run, as a key-value cache does: which sizes share a binding.
   * "powers" rounds a dim up to a power of two, a number ("64") to a multiple of it, within the dim's bounds; "none"
   * does not. 0 and 1 stay. Entries are separated by commas: "time=64" is for one dim, "64" for all; the last one wins.
   * Sizes that round to the same numbers are a bucket. The first run in a bucket lays the arena out for the bucket's
   * largest sizes. A run with other sizes of the bucket then makes no binding but changes the extents of the bucket's
   * one: values keep their places in the arena, which is made anew only for more scratch, and kernels that take the new
   * extents stay, though another one might be chosen for them. A bucket has one binding, unless several threads run
   * sizes of it at once; a program that alternates between sizes is better off without buckets. NULL or "": as the
   * property nd4c.plan.buckets says, by default none. ARGUMENT (CONFIG for the property): another text. NAME: there is
   * no such dim; the property may name dims of other graphs. */
  const char *buckets;
  /* With ND4C_INT8, the ranges of the values (nd4c/calibration.h). Convolutions, products with constant weights and
   * what lies between them then compute on bytes where the device has a fast kernel for it: weights are int8 with a
   * scale for each output channel, other values uint8 with one scale. NULL: only products with constant weights do, and
   * each run finds the range of their first factor. Bodies of control flow stay in float32. The report names what stays
   * in float32, and why. Read while the plan is created. ARGUMENT: another precision, a calibration that is not
   * finished, or that of a graph with other weights. */
  const nd4c_calibration *calibration;
} nd4c_plan_options;

/* Optimises and freezes the graph for the context's device (NULL: current). The graph is not changed. The plan keeps
 * the context's settings and stream, even if the context is destroyed first, and the kernels chosen now: later changes
 * of configuration (forced or disabled engines, strictness) affect later plans only. ARGUMENT: the graph has no outputs
 * and assigns no variable. UNSUPPORTED (no kernel computes a node) and STRICT: the text names the node. CANCELLED and
 * DEADLINE: the thread's cancellation stopped it in one of its stages (nd4c/cancellation.h).
 *
 * If the graph has dims, each must follow from the inputs: an input has an extent that is the dim, or a multiple of it
 * plus a number (UNSUPPORTED; the text names the dim). Runs choose kernels for the sizes that they bring, with the
 * configuration of that time. Such a plan takes at most 64 dims, no placement on several devices and no file of
 * executables (UNSUPPORTED). */
ND4C_API nd4c_status nd4c_plan_create(const nd4c_graph *graph, nd4c_context *context, const nd4c_plan_options *options,
                                      nd4c_plan **plan);
/* Frees the plan. Outputs that it returned stay valid. */
ND4C_API void nd4c_plan_destroy(nd4c_plan *plan);

/* Runs the plan. inputs are in the order of the graph's inputs and have their dtypes and shapes (DTYPE, SHAPE; the text
 * names the input). Any strides are accepted; contiguous inputs need no copy. outputs are in the order of the graph's
 * outputs. A NULL entry receives a fresh array; any other array is written into, and may overlap inputs. A refused call
 * changes nothing. If a run fails after it has started, the outputs that the caller gave are poisoned and the text
 * names the node. From the second run on only fresh outputs allocate memory; a thread allocates an arena if it finds
 * all earlier ones in use.
 *
 * If the graph has dims, the inputs' extents say their numbers. SHAPE: two inputs contradict each other, or a bound or
 * a guard does not hold; the text names the dim. A run with numbers that are new makes a binding, and may fail as
 * nd4c_plan_create does; the plan stays usable. */
ND4C_API nd4c_status nd4c_plan_run(nd4c_plan *plan, const nd4c_array *const *inputs, int32_t input_count,
                                   nd4c_array **outputs, int32_t output_count);

/* Compiles ahead of time: the compilers of `target` compile the nodes that they take, and nd4c writes the executables
 * into a file, which another process loads through nd4c_plan_options.compiled. target: a device's name ("tpu:0"); if
 * its backend's verdict is COMPILE_ONLY, this machine need not have the device. options: those of the plan that will
 * load the file, without placement and without `compiled` (ARGUMENT, as for a graph without outputs). The executables
 * depend on the value that the property nd4c.deterministic has now, but not on widths. *report (may be NULL) lists the
 * compiled pieces, and for each other node why no compiler took it; free with nd4c_free. Blocks; any thread.
 * UNSUPPORTED: no compiler of the target takes a node, or none can write its executables. IO. A refused call writes
 * nothing. */
ND4C_API nd4c_status nd4c_plan_compile(const nd4c_graph *graph, const char *target, const nd4c_plan_options *options,
                                       const char *path, char **report);

/* A graph of its own, as the passes leave it that nd4c_plan_create would run with the same arguments: for looking at
 * it. The caller destroys it; constants are shared. A plan made from it has the same nodes, but what the passes of
 * "layout" chose is not in it. The graph may have dims; the other one then has them, too. Other errors are those of
 * nd4c_plan_create. */
ND4C_API nd4c_status nd4c_graph_optimize(const nd4c_graph *graph, nd4c_context *context,
                                         const nd4c_plan_options *options, nd4c_graph **optimized);

/* Runs the same passes, and makes nothing. *text says for each run of a pass that changed something in which phase and
 * round it was, how many nodes there were before and after it, the estimates of cost before and after it, what it
 * assumed about dims, and which nodes it removed, changed and added: at most `lines` of these lines for each run, all
 * of them if `lines` is negative. It ends with the lines of nd4c_plan_report about passes. Free with nd4c_free. The
 * graph may have dims. Other errors are those of nd4c_plan_create. */
ND4C_API nd4c_status nd4c_graph_explain(const nd4c_graph *graph, nd4c_context *context,
                                        const nd4c_plan_options *options, int32_t lines, char **text);

/* The copies between devices that a plan needs: one for each tensor and each device that reads the tensor but did not
 * compute it. */
typedef struct nd4c_plan_copies {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_plan_copies) */
  int64_t inputs;       /* of inputs that are on the plan's device; copied again only if the caller changes them */
  int64_t values;       /* of values that steps compute; copied in each run */
  int64_t constants;    /* of constants; each is made once, when the plan is created, unless the device has the constant
                         * already */
  int64_t input_bytes, value_bytes, constant_bytes;
} nd4c_plan_copies;

ND4C_API nd4c_status nd4c_plan_get_copies(const nd4c_plan *plan, nd4c_plan_copies *copies);

/* Whether the runs of a plan whose graph has dims keep bringing the same extents. A plan without dims is frozen. */
typedef enum nd4c_plan_phase {
  ND4C_PLAN_RECORDING,   /* there was no run yet */
  ND4C_PLAN_STABILISING, /* extents were not the same for 8 runs in a row yet */
  ND4C_PLAN_FROZEN,      /* the latest 8 runs or more had the same extents */
  ND4C_PLAN_THAWED       /* extents changed after the plan was frozen; nd4c_plan_report says which */
} nd4c_plan_phase;

/* The bindings of a plan whose graph has dims: what depends on the dims' numbers. All 0 for other plans. */
typedef struct nd4c_plan_bindings {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_plan_bindings) */
  nd4c_plan_phase phase;
  int64_t runs, thaws;             /* runs that found or made a binding; how often the plan thawed */
  int64_t made, reused, dropped;   /* bindings made; runs that found one; bindings dropped for others */
  int64_t kept, bytes, byte_limit; /* bindings now, their memory without constants, and its limit */
  int64_t nanoseconds;             /* spent on making bindings */
  int64_t prepare_nanoseconds; /* of these, in kernels and compilers themselves, for instance in a vendor's library */
  /* Bindings that got other extents of their bucket instead of being made, and as above what that took. */
  int64_t patched, patch_nanoseconds, patch_prepare_nanoseconds;
  /* What kernels have prepared for bindings that were made and for those that got other extents, such as the primitives
   * of a vendor's library. Nodes that need the same share one while a binding has it. */
  int64_t prepared, patch_prepared;
  /* The arenas that runs share, which `bytes` does not have: one for each run at once, as large as the largest binding.
   */
  int64_t arena_bytes;
} nd4c_plan_bindings;

/* Makes the binding for these numbers of the plan's dims, unless it is kept already: a run that brings them then finds
 * it. For a sequence that grows, a program can make the next sizes ahead, also on another thread while runs go on. The
 * binding counts as used now. With buckets (nd4c_plan_options), this is of use for the first size of the next bucket
 * only: it gives the binding of the current bucket other extents. NAME: a name is not that of a dim, is given twice, or
 * a dim is missing. ARGUMENT: count is negative. NULL_ARGUMENT: names or extents is NULL though count is not 0.
 * Otherwise as nd4c_plan_run. */
ND4C_API nd4c_status nd4c_plan_prepare(nd4c_plan *plan, const char *const *names, const int64_t *extents,
                                       int32_t count);

/* Any thread, also during runs. ARGUMENT if struct_size is too small. */
ND4C_API nd4c_status nd4c_plan_get_bindings(const nd4c_plan *plan, nd4c_plan_bindings *bindings);

/* A text that lists the nodes before and after each pass; each step with its kernel, the reason for that choice and, if
 * the plan has several devices, the step's device; the planned copies, the segments and the arena's size; and every
 * difference between what was requested and what was applied. If the graph has dims: where each follows from, the
 * phase, the bindings, and all that for the binding that was used last. Free with nd4c_free. */
ND4C_API nd4c_status nd4c_plan_report(const nd4c_plan *plan, char **text);

/* Why each step of the plan has its kernel: which engines were asked in which order, why those before it declined, and
 * what took the step. Steps with the same reasons stand together. The kernels are asked anew, with the configuration of
 * now. Any thread, not while the plan runs. UNSUPPORTED if the graph has dims: each binding chooses its own kernels.
 * Free with nd4c_free. */
ND4C_API nd4c_status nd4c_plan_explain(const nd4c_plan *plan, char **text);

/* -- profiles ------------------------------------------------------------------------------------------------------ */

/* A step of a plan: one node, or the nodes of a segment, which run as one. Of a plan whose graph has dims, steps and
 * nodes are those of the binding that was used last. Texts live as long as the plan or, of a binding, until the plan
 * runs again. */
typedef struct nd4c_step_info {
  uint32_t struct_size;           /* set by the caller: sizeof(nd4c_step_info) */
  int32_t first_node, node_count; /* its nodes, for nd4c_plan_get_node */
  const char *engine,
      *kernel; /* of a segment: the compiler's engine, and "segment"; of control flow: "plan", "bodies" */
  const nd4c_device *device;
  nd4c_dtype dtype; /* of its first input, of its first output if it has no inputs */
  /* Estimates, as in nd4c_node_info; the values inside a segment are not counted as moved. */
  double operations, bytes;
  /* Of the runs since the profile began; runs is 0 if the step is not profiled. */
  int64_t runs, nanoseconds, least_nanoseconds;
} nd4c_step_info;

/* Begins a profile of the plan, which forgets earlier times, or ends it; the times stay. Runs measure each step while a
 * profile is on. Of a plan whose graph has dims, all bindings measure, also those that runs make later. The property
 * nd4c.plan.profile begins a profile for each plan that is made. Any thread, also while others run the plan.
 * UNSUPPORTED, when it is to begin: the plan or a binding submits its steps to a device or runs on several, so the host
 * cannot time them; the text names the mode or the device (nd4c/trace.h has the device's times). A refused call changes
 * nothing. */
ND4C_API nd4c_status nd4c_plan_profile(nd4c_plan *plan, bool on);
/* 0 for NULL. */
ND4C_API int32_t nd4c_plan_step_count(const nd4c_plan *plan);
/* Steps run in the order of their numbers, from 0. INDEX outside 0 .. count - 1; ARGUMENT if struct_size is too small.
 */
ND4C_API nd4c_status nd4c_plan_get_step(const nd4c_plan *plan, int32_t index, nd4c_step_info *info);
/* The plan that a step of control flow runs as its body number `body` (1: the else of a branch), for
 * nd4c_plan_step_count, _get_step and _get_node; a profile of the outer plan measures its steps, too: their runs are
 * rounds. A body that several steps run has one plan, whose times are those of all of them. *found NULL: the step has
 * no such body. Owned by the outer plan, which alone may be run; valid as the texts of nd4c_step_info. INDEX outside 0
 * .. count - 1. */
ND4C_API nd4c_status nd4c_plan_get_body(const nd4c_plan *plan, int32_t index, int32_t body, const nd4c_plan **found);
/* As nd4c_graph_get_node for the graph that the plan runs, after its passes. */
ND4C_API nd4c_status nd4c_plan_get_node(const nd4c_plan *plan, int32_t index, nd4c_node_info *info);

ND4C_EXTERN_C_END
#endif
