/* A plan: a graph rewritten by passes and frozen for one device.
 *
 * Every value of the rewritten graph has a slot (same index), which says where its elements are: in an array that the
 * caller gives, in a constant, in the arena, or inside another slot (a view). Every computed node is a step with a
 * prepared choice. Nothing of a plan changes after creation except the addresses of what the caller gives. */
#ifndef ND4C_GRAPH_PLAN_H
#define ND4C_GRAPH_PLAN_H

#include "base/status.h"
#include "base/text.h"
#include "device/context/context.h"
#include "device/storage/storage.h"
#include "dispatch/choice.h"
#include "dispatch/constants.h"
#include "dispatch/engines.h"
#include "graph/ir/graph.h"

typedef enum nd4c_slot_kind {
  ND4C_SLOT_UNUSED, /* no node that runs reads or writes it */
  ND4C_SLOT_INPUT,
  ND4C_SLOT_CONSTANT,
  ND4C_SLOT_ARENA,
  ND4C_SLOT_OUTPUT, /* written straight into the output's array */
  ND4C_SLOT_VIEW,   /* lies inside its root */
  ND4C_SLOT_OWN     /* a storage of its own: steps of several devices touch it */
} nd4c_slot_kind;

typedef struct nd4c_slot {
  nd4c_slot_kind kind;
  nd4c_dtype dtype;
  int32_t rank;
  int64_t size;
  const int64_t *shape, *strides; /* strides in elements */
  bool contiguous;
  int32_t root;          /* slot whose memory it lies in; itself if it has its own */
  int64_t offset;        /* of element 0, in elements from the root's element 0 */
  int64_t bytes;         /* of own memory */
  int64_t arena_offset;  /* ARENA, but not where buffers are whole */
  int32_t buffer;        /* ARENA, where buffers are whole: number among its place's; -1: it has no bytes */
  int32_t port;          /* INPUT, OUTPUT: position among the graph's */
  nd4c_array *array;     /* CONSTANT: borrowed from the graph */
  bool bound;            /* CONSTANT: a step reads it as it is, not packed */
  int32_t place;         /* ARENA, OWN, OUTPUT: whose step makes it */
  nd4c_storage *storage; /* OWN: one reference */
  bool in_parts;         /* OWN: written through views, so that a run must begin with a new value */
} nd4c_slot;

/* One of the devices that a plan runs on. */
typedef struct nd4c_plan_place {
  nd4c_device *device;
  nd4c_context *context; /* one reference; NULL while the plan is on none, see nd4c_plan_move */
  int64_t arena_bytes;
  nd4c_storage *arena; /* NULL if nothing is in it, or its values lie in buffers */
  /* Of a device with whole buffers: values of the same size that never live at once share a buffer. */
  int32_t buffer_count;
  int64_t *buffer_bytes;
  nd4c_storage **buffers; /* mode arrays; NULL in others */
} nd4c_plan_place;

enum { ND4C_PLAN_PLACES = 8 };

/* What a compiler took as one piece. Its nodes stand together in the plan's graph. */
typedef struct nd4c_plan_segment {
  const nd4c_compiler *compiler;
  nd4c_compiled *compiled; /* one reference; NULL: not compiled yet */
  nd4c_executable_info info;
  int32_t first, node_count; /* of the plan's graph */
  int64_t nanoseconds;       /* the compiler's estimate of a run; ND4C_COST_UNKNOWN */
  const char *missing_from;  /* the file that was given and has no executable for it; NULL: none, or it has */
} nd4c_plan_segment;

/* A node that a compiler did not take. */
typedef struct nd4c_plan_decline {
  struct nd4c_plan_decline *next;
  int32_t node;
  const char *engine, *reason;
} nd4c_plan_decline;

typedef struct nd4c_step {
  int32_t node; /* of the plan's graph; the last one of a segment */
  int32_t input_count, output_count;
  const nd4c_value *inputs; /* slots; ND4C_VALUE_NONE for one left out */
  const nd4c_value *outputs;
  nd4c_tensor *tensors; /* inputs, then outputs */
  nd4c_call call;
  nd4c_choice *choice; /* one reference; NULL: segment */
  nd4c_plan_segment *segment;
  int32_t place;
  const char *declined;   /* why it does not run where it was placed; NULL: it does */
  int64_t scratch_offset; /* in the arena; scratch_bytes of the choice */
  int64_t nanoseconds;    /* shortest run so far, while profiling; 0: not measured */
} nd4c_step;

/* Where a run puts the address of something the caller gave. */
typedef struct nd4c_patch {
  nd4c_tensor *tensor;
  int32_t port; /* of an input or output; of the arena: number of a whole buffer */
  int64_t byte_offset;
  bool committed; /* an output of this run whose storage had replicas elsewhere: they may have to follow the write */
} nd4c_patch;

typedef struct nd4c_patch_list {
  nd4c_patch *items;
  int32_t count;
} nd4c_patch_list;

typedef struct nd4c_plan_mode nd4c_plan_mode;

/* Nodes before and after one pass. */
typedef struct nd4c_pass_record {
  const char *name, *doc;
  int32_t before, after, changes;
} nd4c_pass_record;

enum { ND4C_PASS_RECORDS = 32 };

struct nd4c_plan {
  uint32_t magic;
  nd4c_region region;
  nd4c_context *context; /* one reference; places[0] has it, too. NULL: on none */
  bool moved;            /* it has left the context that it was made on */
  nd4c_device *device;
  nd4c_plan_place places[ND4C_PLAN_PLACES];
  int32_t place_count;
  bool whole; /* some place's device takes whole buffers alone: every operand is one */
  const nd4c_placement *placement; /* the caller's, while the plan is made; NULL, too, where it names one device */
  nd4c_context *helper; /* while the plan is made, borrowed: the caller's, where the plan's is on the one device that
                         * the placement names. It becomes a place when that device cannot compute a node. NULL: none */
  nd4c_compile_request *compile;   /* own; NULL: nothing is asked of compilers */
  bool portable; /* pieces are to be equal in another process: constants are folded on the host */
  bool ahead;    /* only compiled: the device is a target, the context is the host's or the device's */
  const char *unused_file;  /* a file of executables that was given to a plan without pieces; NULL: none */
  nd4c_compile_source file; /* while the plan is made: of executables that were compiled ahead; own; NULL: none */
  const int32_t *place_of;         /* by node, of the first placed_count; NULL: all on places[0] */
  int32_t placed_count;
  nd4c_engine_rules rules; /* when the choices were made */
  nd4c_graph *graph;       /* own, rewritten */
  int32_t nodes_recorded;
  nd4c_pass_record passes[ND4C_PASS_RECORDS];
  int32_t pass_count;
  int32_t *segment_of; /* by node, of the first segmented_count: number of its segment, -1: none. NULL: no compiler */
  int32_t segmented_count;
  nd4c_plan_segment *segments;
  int32_t segment_count;
  nd4c_plan_decline *declines; /* the latest first */
  bool *fed;                   /* by value: a node of a segment reads it */
  bool *hidden;                /* by value: made and read inside one segment alone */

  nd4c_slot *slots; /* one a value */
  int32_t slot_count;
  nd4c_step *steps;
  int32_t step_count;

  int64_t arena_bytes, tensor_bytes; /* of all arenas; of all tensors in them if each had its own memory */

  const nd4c_plan_mode *mode;                                   /* modes/mode.h; NULL until it is chosen */
  const char **mode_reasons;                                    /* why not, by row of the table, of those before it */
  bool profiled;                                                /* nd4c.plan.profile when the plan was made */
  const nd4c_cancellation_scope *cancellation; /* that of the thread that ran it last, in all steps' calls */
  nd4c_patch_list input_patches, output_patches, arena_patches; /* all but arrays */
  struct nd4c_plan_stream *stream;                              /* modes stream and capture */
  nd4c_array **slot_arrays;       /* mode arrays: by slot; those in the caller's arrays during a run only */
  const nd4c_array **step_inputs; /* mode arrays: operands of the step in progress */
  nd4c_array **step_outputs;

  /* Contiguous stand-ins for given arrays whose layout does not fit; made when first needed. */
  nd4c_array **input_staging, **output_staging;
  /* Of the run in progress: what stands for each input and output. */
  nd4c_array **input_arrays, **output_arrays;
  bool began; /* some step may have written: what was given for outputs is not as it was */
};

/* An empty plan, for nd4c_plan_destroy. */
nd4c_status nd4c_plan_allocate(nd4c_plan **plan);
/* Reads the file of executables that the options name into plan->file. */
nd4c_status nd4c_plan_read_compiled(nd4c_plan *plan, const char *path);
void nd4c_plan_drop_compiled(nd4c_plan *plan);
/* A file that no piece asks for, since there is none: told by the report, or an error where strict. */
nd4c_status nd4c_plan_note_unused_file(nd4c_plan *plan);
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

/* Lets the plan run on another context of the same device with the same settings, which the caller has seen to; NULL:
 * on none, until the next, so that no context lives longer for it: this fails only where it leaves the one that it was
 * made on. What is under way on the one before it follows by the fences of the storages. A failure leaves it on none.
 */
nd4c_status nd4c_plan_move(nd4c_plan *plan, nd4c_context *context);

/* The stages of nd4c_plan_create, in order. */
nd4c_status nd4c_plan_make_places(nd4c_plan *plan);
/* Makes the plan's helper one more of its places. */
void nd4c_plan_add_helper(nd4c_plan *plan);
nd4c_status nd4c_plan_make_whole(nd4c_plan *plan);
nd4c_status nd4c_plan_find_segments(nd4c_plan *plan);
nd4c_status nd4c_plan_make_slots(nd4c_plan *plan);
/* In a plan with a device of whole buffers: makes a node that has slots of its own, and could be a view of its input
 * elsewhere, into a copy of that view, which every device that takes parts of buffers can do. Not copied: it is no such
 * node; it and the thread's error are as they were. */
nd4c_status nd4c_plan_copy_view(nd4c_plan *plan, int32_t index, bool *copied);
nd4c_status nd4c_plan_make_steps(nd4c_plan *plan);
nd4c_status nd4c_plan_make_memory(nd4c_plan *plan);
nd4c_status nd4c_plan_bind(nd4c_plan *plan);

/* Segments: a step of its own for the segment that ends with `node`; running it on arrays; freeing their
 * executables. */
nd4c_status nd4c_plan_make_segment(nd4c_plan *plan, int32_t node, nd4c_step *step);
/* Number of the node's segment, -1: none. */
static inline int32_t nd4c_plan_segment_of(const nd4c_plan *plan, int32_t node) {
  return plan->segment_of == NULL || node >= plan->segmented_count ? -1 : plan->segment_of[node];
}
/* The segment of some nodes of the plan's graph, in the order of these; everything in the plan's region. `inputs` and
 * `outputs`: values of the graph. */
nd4c_status nd4c_plan_describe_segment(nd4c_plan *plan, const int32_t *nodes, int32_t count, nd4c_segment *segment,
                                       nd4c_value **inputs, nd4c_value **outputs);
/* The arrays behind those of a segment's inputs that are constants, NULL for the others; in the plan's region. */
nd4c_status nd4c_plan_segment_constants(nd4c_plan *plan, const nd4c_value *inputs, int32_t count,
                                        const nd4c_array *const **constants);
/* Runs a segment whose operands have addresses, on a synchronous device. */
nd4c_status nd4c_plan_execute_segment(const nd4c_plan *plan, nd4c_step *step);
nd4c_status nd4c_plan_run_segment(nd4c_plan *plan, nd4c_step *step);
/* Compiles a segment of these nodes, `made->node_count` of them in the graph's order. `*declined`: its compiler says
 * that it cannot after all, with its text as the thread's last error; made is as it was. */
nd4c_status nd4c_plan_compile_segment(nd4c_plan *plan, const int32_t *nodes, nd4c_plan_segment *made, bool *declined);
void nd4c_plan_release_segments(nd4c_plan *plan);
/* Whether some step makes the buffers of its outputs, and which: those are bound to arrays anew in each run. */
bool nd4c_plan_returns_outputs(const nd4c_plan *plan, char *reason, size_t reason_size);
/* True if some node of a segment reads the value. */
static inline bool nd4c_plan_feeds_segment(const nd4c_plan *plan, nd4c_value value) {
  return plan->fed != NULL && plan->fed[value];
}
/* True if the value is made and read inside one segment alone: it never has memory of its own. */
static inline bool nd4c_plan_inside_segment(const nd4c_plan *plan, nd4c_value value) {
  return plan->hidden != NULL && plan->hidden[value];
}
/* Where node `index` is placed, as a position in places. */
int32_t nd4c_plan_place_of(const nd4c_plan *plan, int32_t index);
/* Several devices: says of each slot who makes it, and gives those that cross from one device to another storages of
 * their own. */
void nd4c_plan_split_slots(nd4c_plan *plan);
/* The report's lines about copies. */
void nd4c_plan_print_copies(const nd4c_plan *plan, nd4c_text *text);

/* The mode that the plan runs in: choosing and preparing it, computing output_arrays from input_arrays (all of them
 * C-contiguous), ending it, and the report's lines about it. */
nd4c_status nd4c_plan_choose_mode(nd4c_plan *plan);
nd4c_status nd4c_plan_run_mode(nd4c_plan *plan);
void nd4c_plan_release_mode(nd4c_plan *plan);
void nd4c_plan_print_mode(const nd4c_plan *plan, nd4c_text *text);
bool nd4c_plan_is_direct(const nd4c_plan *plan);

/* "node 'label' (conv)" or "node (conv)" for errors and reports; returns the buffer. */
const char *nd4c_plan_node_text(const nd4c_plan *plan, int32_t node, char *buffer, size_t size);

/* Tensor of a slot without an address. */
void nd4c_slot_describe(const nd4c_slot *slot, nd4c_tensor *tensor);

#endif
