/* A plan: a graph that passes have rewritten and that is frozen for a device. The files of src/graph share it, except
 * those of ir; src/import includes it to move plans.
 *
 * Each value of the rewritten graph has a slot with the same index, which says where its elements are: in an array of
 * the caller, in a constant, in the arena, or inside another slot (a view). Each computed node is a step with a
 * prepared choice. After creation only the addresses of the caller's arrays change. */
#ifndef ND4C_GRAPH_PLAN_H
#define ND4C_GRAPH_PLAN_H

#include "base/os_lock.h"
#include "base/status.h"
#include "base/text.h"
#include "device/context/context.h"
#include "device/storage/storage.h"
#include "dispatch/choice.h"
#include "dispatch/constants.h"
#include "dispatch/engines.h"
#include "graph/ir/cost.h"
#include "graph/ir/graph.h"

typedef enum nd4c_slot_kind {
  ND4C_SLOT_UNUSED, /* no step reads or writes it */
  ND4C_SLOT_INPUT,
  ND4C_SLOT_CONSTANT,
  ND4C_SLOT_ARENA,
  ND4C_SLOT_OUTPUT, /* written directly to the output's array */
  ND4C_SLOT_VIEW,   /* lies inside its root */
  ND4C_SLOT_OWN     /* a separate storage, since steps of several devices use it */
} nd4c_slot_kind;

typedef struct nd4c_slot {
  nd4c_slot_kind kind;
  nd4c_dtype dtype;
  int32_t rank;
  int64_t size;
  const int64_t *shape, *strides; /* strides in elements */
  bool contiguous;
  int32_t root;          /* the slot whose memory contains it; itself if it has memory */
  int64_t offset;        /* of element 0, in elements from the root's element 0 */
  int64_t bytes;         /* of own memory */
  int64_t arena_offset;  /* ARENA, except with whole buffers */
  int32_t buffer;        /* ARENA, with whole buffers: number of the buffer at its place; -1: it has no bytes */
  int32_t port;          /* INPUT, OUTPUT: position among the graph's */
  nd4c_array *array;     /* CONSTANT: borrowed from the graph */
  bool bound;            /* CONSTANT: a step reads it unpacked */
  int32_t place;         /* ARENA, OWN, OUTPUT: the place whose step produces it */
  nd4c_storage *storage; /* OWN: one reference */
  bool in_parts;         /* OWN: written through views, so a run must begin with a new value */
  bool joined;           /* of a concat without a step: the nodes before it compute its parts in place */
} nd4c_slot;

/* One of the devices that a plan runs on. */
typedef struct nd4c_plan_place {
  nd4c_device *device;
  nd4c_context *context; /* one reference; NULL while the plan has no context, see nd4c_plan_move */
  int64_t arena_bytes;
  nd4c_storage *arena; /* NULL if it is empty, or values have separate buffers */
  /* With whole buffers: values of equal size whose lifetimes do not overlap share a buffer. */
  int32_t buffer_count;
  int64_t *buffer_bytes;
  nd4c_storage **buffers; /* mode arrays; NULL in others */
} nd4c_plan_place;

enum { ND4C_PLAN_PLACES = 8 };

/* A segment: a piece that a compiler took. Its nodes are adjacent in the plan's graph. */
typedef struct nd4c_plan_segment {
  const nd4c_compiler *compiler;
  nd4c_compiled *compiled; /* one reference; NULL: not compiled yet */
  nd4c_executable_info info;
  int32_t first, node_count; /* of the plan's graph */
  int64_t nanoseconds;       /* the compiler's estimate of a run; ND4C_COST_UNKNOWN */
  const char *missing_from;  /* the file of executables, if it lacks this segment; else NULL */
} nd4c_plan_segment;

/* Nodes that a compiler declined for the same reason. */
typedef struct nd4c_plan_decline {
  struct nd4c_plan_decline *next;
  int32_t node; /* the first one */
  int32_t count;
  const char *engine, *reason;
} nd4c_plan_decline;

typedef struct nd4c_control_step nd4c_control_step; /* control.h */
typedef struct nd4c_plan_family nd4c_plan_family;

typedef struct nd4c_step {
  int32_t node; /* of the plan's graph; the last one of a segment */
  int32_t input_count, output_count;
  const nd4c_value *inputs; /* slots; ND4C_VALUE_NONE for an omitted one */
  const nd4c_value *outputs;
  nd4c_tensor *tensors; /* inputs, then outputs */
  nd4c_call call;
  nd4c_choice *choice; /* one reference; NULL: segment or control */
  nd4c_plan_segment *segment;
  nd4c_control_step *control; /* the plan's: the step runs bodies; NULL: it does not */
  int32_t place;
  const char *declined;   /* why it does not run on the device of its placement; NULL: it does */
  int64_t scratch_offset; /* in the arena; scratch_bytes of the choice or of control */
  /* Of the profile (profile.c): shortest run by any caller, all runs together, how many; 0: not measured. */
  _Atomic int64_t nanoseconds, total_nanoseconds, profiled_runs;
} nd4c_step;

/* Where a run writes the address of an argument. */
typedef struct nd4c_patch {
  nd4c_tensor *tensor;
  int32_t port; /* of an input or output; of the arena: number of a whole buffer */
  int64_t byte_offset;
  bool committed; /* an output of this run whose storage had replicas on other devices, which may have to be updated
                     after the write */
} nd4c_patch;

typedef struct nd4c_patch_list {
  nd4c_patch *items;
  int32_t count;
} nd4c_patch_list;

typedef struct nd4c_plan_mode nd4c_plan_mode;

/* What all runs of one pass did together. */
typedef struct nd4c_pass_record {
  const char *name, *doc;
  int32_t runs;          /* 0: it did not run */
  int32_t before, after; /* nodes before its first run; the same with those that its runs removed or added */
  int32_t changes;
  int32_t phase; /* nd4c_phase */
  bool restless; /* the last run changed something */
  double raised; /* by which share of it its runs have raised the estimate of the graph's cost together */
} nd4c_pass_record;

enum { ND4C_PASS_RECORDS = 64 };

/* Which passes do not run, by their number. */
typedef struct nd4c_pass_switches {
  bool off[ND4C_PASS_RECORDS];
  const char *from; /* the option or property that says so */
} nd4c_pass_switches;

/* Whom plans tell how far they have come, as nd4c_progress_callback of models says. Outlives the plans. */
typedef struct nd4c_plan_progress {
  void (*tell)(void *user, const char *what, int64_t done, int64_t total);
  void *user;
  _Atomic bool on; /* the program has a callback */
} nd4c_plan_progress;

static inline bool nd4c_progress_is_on(const nd4c_plan_progress *progress) {
  return progress != NULL && atomic_load_explicit(&progress->on, memory_order_relaxed);
}
static inline void nd4c_progress_tell(const nd4c_plan_progress *progress, const char *what, int64_t done,
                                      int64_t total) {
  if (nd4c_progress_is_on(progress)) {
    progress->tell(progress->user, what, done, total);
  }
}

/* Who runs a plan (callers.h). */
typedef struct nd4c_plan_callers {
  nd4c_lock lock; /* guards the rest */
  nd4c_condition given;
  bool plan_taken; /* a thread runs the plan itself */
  struct nd4c_plan *idle;
  int32_t idle_count;
} nd4c_plan_callers;

enum { ND4C_BUCKETS_POWERS = -1 };

typedef struct nd4c_dynamic nd4c_dynamic;
typedef struct nd4c_plan_variables nd4c_plan_variables;
typedef struct nd4c_plan_common nd4c_plan_common;

struct nd4c_plan {
  uint32_t magic;
  nd4c_dynamic *dynamic;    /* dynamic.h, of a plan of a graph with dims, whose bindings compute; NULL: it
                               computes itself */
  nd4c_plan_common *common; /* plan/common.h, of a binding that shares choices with others; borrowed; else NULL */
  struct nd4c_plan_arenas *arenas; /* plan/arenas.h, of a binding or its callers whose runs take their arena there;
                                      borrowed; NULL: it has its own */
  nd4c_plan_variables *variables;  /* variables.h; NULL: the graph has none, or it is a plan inside another one */
  bool borrows;                    /* the graph has its names and attributes from the graph of a plan with dims */
  nd4c_plan_callers *callers;      /* NULL in a further caller */
  struct nd4c_plan *parent;        /* of a further caller: the plan that it belongs to, else NULL */
  struct nd4c_plan *next_caller;   /* the next idle one */
  nd4c_region region;
  nd4c_context *context; /* one reference; places[0] has it, too. NULL: the plan has none */
  bool moved;            /* it has left the context that it was made on */
  nd4c_device *device;
  nd4c_plan_place places[ND4C_PLAN_PLACES];
  int32_t place_count;
  bool whole;                      /* a place's device takes only whole buffers, so every operand is one */
  const nd4c_placement *placement; /* the caller's, while the plan is created; also NULL if it names a single device */
  nd4c_context *helper; /* borrowed, while the plan is created: the caller's context, if the plan is on the single
                           device of a placement. It becomes a place when that device cannot compute a node. NULL:
                           none */
  nd4c_compile_request *compile; /* own; NULL: no request to compilers */
  bool portable;                 /* pieces must be equal in another process, so constants are folded on the host */
  bool ahead; /* the plan is only compiled: the device is a target, the context is on the host or the device */
  const nd4c_plan_progress *progress; /* NULL: the plan tells nothing */
  const char *unused_file;            /* a file of executables, given to a plan without pieces; NULL: none */
  nd4c_compile_source file;           /* while the plan is created: the file of executables; own; NULL: none */
  const int32_t *place_of;            /* by node, for the first placed_count nodes; NULL: all on places[0] */
  int32_t placed_count;
  nd4c_engine_rules rules; /* when the choices were made */
  nd4c_graph *graph;       /* own, rewritten */
  int32_t nodes_recorded;
  bool optimized;         /* passes were asked for */
  bool follows;           /* a binding that the passes of the first one serve */
  const int64_t *buckets; /* by dim: what sizes are rounded up to a multiple of; 0: nothing; ND4C_BUCKETS_POWERS.
                             NULL: no dim has buckets */
  bool keeps_layout;      /* of a binding: it has a layout for others of its bucket */
  struct nd4c_plan_layout *layout;  /* plan/plan_memory.h */
  const struct nd4c_plan *previous; /* while a binding is created: the one whose bucket it takes; NULL: none */
  bool kept_layout;                 /* it has its layout and arena */
  nd4c_pass_switches switches;
  nd4c_dtype precision;          /* asked for; ND4C_DTYPE_NONE: nothing, or the plan does not do it */
  nd4c_dtype precision_unused;   /* asked for, but the plan does not do it; ND4C_DTYPE_NONE: nothing */
  const char *precision_why;     /* why it does not */
  const char *precision_from;    /* "options.precision" or the property's name */
  int64_t arena_limit;           /* what values between nodes should take at most; 0: no limit */
  nd4c_cost cost_recorded, cost; /* estimates for the graph before and after its passes */
  struct nd4c_folding {
    bool begun;
    int64_t left; /* bytes that results of the pass fold_constants may still take, once it has begun */
  } folding;
  struct nd4c_quantization *quantization; /* quantization.h, own; NULL: not int8, or a binding or body */
  nd4c_pass_record passes[ND4C_PASS_RECORDS];
  int32_t pass_count;
  uint32_t unsettled;  /* phases, one bit each, that were stopped by the limit of rounds */
  int32_t *segment_of; /* by node, for the first segmented_count nodes: number of its segment, -1: none. NULL: no
                          compiler */
  int32_t segmented_count;
  nd4c_plan_segment *segments;
  int32_t segment_count;
  nd4c_plan_decline *declines; /* the latest first */
  bool *fed;                   /* by value: a segment reads it that takes only C order */
  int32_t *reads;     /* by value: how many inputs of nodes, and outputs of the graph, it is; NULL: not counted */
  int32_t *number_of; /* by value: its number in the segment being described, else -1 */
  bool *hidden;       /* by value: produced and read only inside one segment */

  nd4c_control_step **controls; /* by node, for the first control_count nodes: what runs its bodies; NULL: an op */
  int32_t control_count;
  nd4c_plan_family *family; /* the plans of all bodies, also of bodies in them */
  bool family_is_own;       /* false in the plan of a body */

  nd4c_slot *slots; /* one a value */
  int32_t slot_count;
  nd4c_step *steps;
  int32_t step_count;

  int64_t arena_bytes;                 /* of all arenas */
  int64_t tensor_bytes, scratch_bytes; /* that the arenas' tensors and the steps' scratch would take without sharing */

  const nd4c_plan_mode *mode;                  /* modes/mode.h; NULL until it is chosen */
  const char **mode_reasons;                   /* for the rows before it, why they cannot run the
                                                  plan */
  _Atomic bool profiled;                       /* runs measure each step; of a caller: that of `parent` counts */
  const nd4c_cancellation_scope *cancellation; /* in all steps' calls: the cancellation of the thread that ran it
                                                  last */
  nd4c_patch_list input_patches, output_patches, arena_patches; /* all but arrays */
  const char *arena_at;            /* mode direct: the address of the arena that the calls name; NULL: none */
  struct nd4c_plan_stream *stream; /* modes stream and capture */
  nd4c_array **slot_arrays;        /* mode arrays: by slot; slots in the caller's arrays have one only during a run */
  const nd4c_array **step_inputs;  /* mode arrays: operands of the step in progress */
  nd4c_array **step_outputs;

  /* By port: the last step that reads an input, and the first one that writes an output, -1: none. A caller has its
   * plan's. They say where an output may lie in an input's memory (plan/overlays.c). */
  int32_t *input_last, *output_first;
  int32_t failed_at; /* mode direct: the last step that the latest run began, if it failed */

  /* Contiguous replacements for the caller's arrays whose layout does not fit; allocated when first needed. */
  nd4c_array **input_staging, **output_staging;
  /* During a run: the array used for each input and output. */
  nd4c_array **input_arrays, **output_arrays;
  bool began; /* a step may have written, so the caller's outputs may have changed */
};

/* An empty plan, for nd4c_plan_destroy. */
nd4c_status nd4c_plan_allocate(nd4c_plan **plan);
/* The first part of nd4c_plan_create, which `function` names in errors: a plan with the context, the device and what
 * the options ask for, without a graph. */
nd4c_status nd4c_plan_begin(const char *function, const nd4c_graph *graph, nd4c_context *context,
                            const nd4c_plan_options *options, nd4c_plan **plan);
/* Whether a plan with dims has or can make a binding for these inputs, whose counts and dtypes fit: the status with
 * which a run would be refused. OK for other plans. */
nd4c_status nd4c_plan_serves(nd4c_plan *plan, nd4c_context *context, const nd4c_array *const *inputs);
/* As nd4c_plan_create; the plan and its bindings tell `progress` (may be NULL) how far they have come, also in runs. */
nd4c_status nd4c_plan_create_told(const nd4c_graph *graph, nd4c_context *context, const nd4c_plan_options *options,
                                  const nd4c_plan_progress *progress, nd4c_plan **plan);
/* ARGUMENT if the graph has no outputs. */
nd4c_status nd4c_plan_check_outputs(const nd4c_graph *graph, const char *function);
/* Reads the file of executables that the options name into plan->file. */
nd4c_status nd4c_plan_read_compiled(nd4c_plan *plan, const char *path);
void nd4c_plan_drop_compiled(nd4c_plan *plan);
/* A file of executables for a plan without pieces: the report says so; an error in a strict context. */
nd4c_status nd4c_plan_note_unused_file(nd4c_plan *plan);
/* The lines about passes: what each did, what did not come to an end, what is switched off. brief: passes that
 * changed nothing by their names alone. */
void nd4c_plan_print_passes(const nd4c_plan *plan, bool brief, nd4c_text *text);
/* A line for each node that a compiler declined. */
void nd4c_plan_print_declines(const nd4c_plan *plan, nd4c_text *text);

enum { ND4C_PLAN_ALIVE = 0x706c616e, ND4C_PLAN_DEAD = 0x70646561 };
/* HANDLE or NULL_ARGUMENT. */
static inline nd4c_status nd4c_plan_check(const nd4c_plan *plan) {
  if (plan == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "plan is NULL");
  }
  return plan->magic == ND4C_PLAN_ALIVE
             ? ND4C_OK
             : nd4c_fail(ND4C_HANDLE, "plan %p is not a plan, or was destroyed", (const void *)plan);
}

/* Moves the plan to another context of the same device with the same settings, which the caller has checked. NULL: to
 * no context, so that the plan keeps none alive; this can fail only when it leaves the context on which it was created.
 * Work in flight on the previous context is ordered by the fences of the storages. After a failure the plan has no
 * context. */
nd4c_status nd4c_plan_move(nd4c_plan *plan, nd4c_context *context);

/* What a plan made for another one takes over from it: a binding, or the plan of a body. Not its profile, its context
 * and its rules of engines, which the two kinds take from elsewhere. `function` is for errors. */
nd4c_status nd4c_plan_inherit(const char *function, const nd4c_plan *outer, nd4c_plan *inner);

/* The stages of nd4c_plan_create, in order, for a plan whose graph is its own and has no dims. */
nd4c_status nd4c_plan_build(nd4c_plan *plan, bool optimize);
nd4c_status nd4c_plan_make_places(nd4c_plan *plan);
/* Adds the plan's helper to its places. */
void nd4c_plan_add_helper(nd4c_plan *plan);
nd4c_status nd4c_plan_make_whole(nd4c_plan *plan);
nd4c_status nd4c_plan_find_segments(nd4c_plan *plan);
nd4c_status nd4c_plan_make_slots(nd4c_plan *plan);
/* By node, in the plan's region: whether it is a concat that needs no step, because every part of its result can be
 * computed in place by the node that produces the part. *joined NULL: no values of this plan have parts. */
nd4c_status nd4c_plan_find_joins(nd4c_plan *plan, bool **joined);
/* In a plan with a device of whole buffers: turns a node that could be a view of its input on other devices into a copy
 * of that view, which every device that takes parts of buffers can compute. *copied false: it is not such a node; the
 * node and the thread's error are unchanged. */
nd4c_status nd4c_plan_copy_view(nd4c_plan *plan, int32_t index, bool *copied);
nd4c_status nd4c_plan_make_steps(nd4c_plan *plan);
/* The constants among a step's inputs; `items` has room for all inputs. */
void nd4c_plan_find_constants(const nd4c_plan *plan, const nd4c_step *step, nd4c_constant_input *items);
/* The same in the plan's region; NULL: no memory. */
const nd4c_constant_input *nd4c_plan_constants_of(nd4c_plan *plan, const nd4c_step *step);
/* Notes the constants that a step with a choice reads unpacked. */
void nd4c_plan_note_bound(nd4c_plan *plan, const nd4c_step *step, const nd4c_constant_input *items);
/* Gives an operand of a step that is a constant, or a view of one, its address on the plan's device; leaves others. */
nd4c_status nd4c_plan_place_constant(nd4c_plan *plan, nd4c_value value, nd4c_tensor *tensor);
nd4c_status nd4c_plan_make_memory(nd4c_plan *plan);
/* Gives a binding that shares arenas one of its own, since its mode needs that. */
nd4c_status nd4c_plan_own_arena(nd4c_plan *plan);
nd4c_status nd4c_plan_bind(nd4c_plan *plan);

/* Notes the steps for nd4c_plan_may_overlay; after the steps are made. */
nd4c_status nd4c_plan_note_ports(nd4c_plan *plan);
/* Whether a run may write output `output` to the memory of input `input`, whose array has the same bytes: every step
 * has read the input before the output's first step, or this step computes in place. Only plans in mode direct do so.
 */
bool nd4c_plan_may_overlay(const nd4c_plan *plan, int32_t input, int32_t output);
/* Whether a run may write output `output` to memory of which input `input` is the first part: the output is a concat
 * whose first operand is the input, and its kernel leaves that where it is. Only plans in mode direct do so. */
bool nd4c_plan_may_extend(const nd4c_plan *plan, int32_t input, int32_t output);
/* A line of the report for each output that may have the memory of an input, of the first `inputs` and `outputs`, which
 * are the caller's: the arrays of variables have memory of their own. For plans in mode direct. */
void nd4c_plan_print_overlays(const nd4c_plan *plan, int32_t inputs, int32_t outputs, nd4c_text *text);
/* Whether a step may write its only output to the memory of its input `index`: the op or the segment computes in place,
 * the layouts are equal, and no other operand reads the memory otherwise. The caller knows that no later step reads
 * it. */
bool nd4c_plan_is_in_place(const nd4c_plan *plan, const nd4c_step *step, int32_t index);

/* Dtype, rank and extents of an array for an input or an output ("input"), those extents that are numbers (run.c). */
nd4c_status nd4c_plan_check_port(const nd4c_plan *plan, const char *what, const nd4c_graph_port *port,
                                 const nd4c_array *array);

/* What a caller of the plan has for the arguments of its run. */
nd4c_status nd4c_plan_make_arguments(nd4c_plan *plan);
void nd4c_plan_release_arguments(nd4c_plan *plan);
/* Fills in the step of node `index`, except for its device, choice and constants; not for a segment. */
nd4c_status nd4c_plan_describe_step(nd4c_plan *plan, int32_t index, nd4c_step *step);
/* Describes the operands of a step whose inputs and outputs are set, without their addresses. */
void nd4c_plan_describe_operands(const nd4c_plan *plan, nd4c_step *step);

/* Segments: making the step of the segment that ends with `node`, running it on arrays, freeing executables. */
nd4c_status nd4c_plan_make_segment(nd4c_plan *plan, int32_t node, nd4c_step *step);
/* Number of the node's segment, -1: none. */
static inline int32_t nd4c_plan_segment_of(const nd4c_plan *plan, int32_t node) {
  return plan->segment_of == NULL || node >= plan->segmented_count ? -1 : plan->segment_of[node];
}
/* Describes some nodes of the plan's graph, in their order, as a segment; everything is in the plan's region. `inputs`
 * and `outputs`: values of the graph. */
nd4c_status nd4c_plan_describe_segment(nd4c_plan *plan, const nd4c_compiler *compiler, const int32_t *nodes,
                                       int32_t count, nd4c_segment *segment, nd4c_value **inputs, nd4c_value **outputs);
/* The arrays of a segment's inputs that are constants, NULL for the others; in the plan's region. */
nd4c_status nd4c_plan_segment_constants(nd4c_plan *plan, const nd4c_value *inputs, int32_t count,
                                        const nd4c_array *const **constants);
/* Runs a segment whose operands have addresses, on a synchronous device. */
nd4c_status nd4c_plan_execute_segment(const nd4c_plan *plan, nd4c_step *step);
nd4c_status nd4c_plan_run_segment(nd4c_plan *plan, nd4c_step *step);
/* Compiles a segment of `made->node_count` nodes in the graph's order. `*declined`: its compiler cannot compile it
 * after all; its text is the thread's last error, and `made` is unchanged. */
nd4c_status nd4c_plan_compile_segment(nd4c_plan *plan, const int32_t *nodes, nd4c_plan_segment *made, bool *declined);
void nd4c_plan_release_segments(nd4c_plan *plan);
/* Whether a step allocates the buffers of its outputs, and which one: these are bound to arrays in each run. */
bool nd4c_plan_returns_outputs(const nd4c_plan *plan, char *reason, size_t reason_size);
/* True if a segment that takes only C order reads the value. */
static inline bool nd4c_plan_feeds_segment(const nd4c_plan *plan, nd4c_value value) {
  return plan->fed != NULL && plan->fed[value];
}
/* True if the value is produced and read only inside one segment: it never has memory. */
static inline bool nd4c_plan_inside_segment(const nd4c_plan *plan, nd4c_value value) {
  return plan->hidden != NULL && plan->hidden[value];
}
/* The place of node `index`, as a position in places. */
int32_t nd4c_plan_place_of(const nd4c_plan *plan, int32_t index);
/* With several devices: finds the place that produces each slot, and gives slots that two devices use separate
 * storages. */
void nd4c_plan_split_slots(nd4c_plan *plan);
/* The report's lines about copies. */
void nd4c_plan_print_copies(const nd4c_plan *plan, nd4c_text *text);

/* The plan's mode: chooses and prepares it, computes output_arrays from input_arrays (all C-contiguous), releases it,
 * and writes its lines of the report. */
nd4c_status nd4c_plan_choose_mode(nd4c_plan *plan);
nd4c_status nd4c_plan_run_mode(nd4c_plan *plan);
void nd4c_plan_release_mode(nd4c_plan *plan);
void nd4c_plan_print_mode(const nd4c_plan *plan, nd4c_text *text);
bool nd4c_plan_is_direct(const nd4c_plan *plan);
const char *nd4c_plan_mode_name(const nd4c_plan *plan);
/* Prebuilt calls get the cancellation of the thread that runs them now. */
void nd4c_plan_bind_cancellation(nd4c_plan *plan);

/* Whether a run by this plan or caller measures its steps (profile.c). */
static inline bool nd4c_plan_is_profiled(const nd4c_plan *plan) {
  return atomic_load_explicit(plan->parent != NULL ? &plan->parent->profiled : &plan->profiled, memory_order_relaxed);
}
/* Says so, also in the plans of its bodies. */
void nd4c_plan_set_profiled(nd4c_plan *plan, bool on);
/* Bytes of the step's operands. */
int64_t nd4c_step_bytes(const nd4c_step *step);

/* "node 'label' (conv)" or "node (conv)" for errors and reports; returns the buffer. */
const char *nd4c_plan_node_text(const nd4c_plan *plan, int32_t node, char *buffer, size_t size);
/* Puts that in front of the thread's error text; returns the status. */
nd4c_status nd4c_plan_fail_node(const nd4c_plan *plan, int32_t node, nd4c_status status);

/* Tensor of a slot without an address. */
void nd4c_slot_describe(const nd4c_slot *slot, nd4c_tensor *tensor);

#endif
