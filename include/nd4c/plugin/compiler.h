/* Compilers: what turns nodes of a graph into executables.
 *
 * A device may have any number of compilers. nd4c offers a region, the nodes of a graph on that device that no path
 * through other nodes leaves and enters again, to one compiler after the other, from the highest priority down. Each
 * answers which nodes it takes, as which pieces. Each piece is compiled and becomes one step of the plan. An eager call
 * is a region of one node.
 *
 * Every function gets the `data` of its table first and may be called by several threads at once. A function that fails
 * sets the text through host->fail. Structs that nd4c fills, and everything they point to, are borrowed for the
 * duration of the call. */
#ifndef ND4C_PLUGIN_COMPILER_H
#define ND4C_PLUGIN_COMPILER_H

#include "nd4c/compile.h"
#include "nd4c/plugin/call.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* A set of nodes: a region that is offered, or a piece that is compiled. Values are numbered: the segment's inputs
 * first, then outputs of nodes. Of each node's call these fields are set: flags, op, the tensors, attrs, width; stream
 * is NULL, state and scratch are NULL, device is the argument's. Tensors have dtype, shape, strides and size. Operands
 * of a graph are C-contiguous, but constants may have any strides; those of an eager call (one node) may, too. Inputs
 * flagged CONSTANT have data, or buffer and offset on devices without addresses. */
typedef struct nd4c_segment {
  uint32_t struct_size;
  int32_t node_count;
  const nd4c_call *nodes; /* in an order in which they can run */
  const int32_t *const *node_inputs; /* value numbers, -1 for an input left out */
  const int32_t *const *node_outputs;
  int32_t value_count;
  int32_t input_count; /* values 0 .. input_count - 1, constants among them */
  int32_t output_count;
  const int32_t *outputs; /* value numbers that leave the segment */
  const char *const *labels; /* by node: its name for people, "" if it has none; NULL: none has */
} nd4c_segment;

/* What is asked of a compilation. */
typedef struct nd4c_compile_options {
  uint32_t struct_size;
  bool deterministic;   /* equal inputs must give equal bits in every run */
  int32_t math;         /* nd4c_math: the most that is allowed */
  int32_t width;        /* parallel width to use at most */
  int64_t memory_bytes; /* of the device's that the executable and its scratch may take beside operands; 0: no limit */
  int32_t option_count;
  const nd4c_compile_option *options; /* the compiler ignores keys that it does not know */
} nd4c_compile_options;

#define ND4C_COST_UNKNOWN INT64_C(-1)

/* Flags of a piece. */
enum {
  /* One run of the piece costs less than the device's kernels would: nd4c takes it even if it is a single node. */
  ND4C_PIECE_CHEAPER = 1
};

/* Where a compiler writes its answer. nd4c checks it: an answer with a number out of range, a node in two pieces, or a
 * piece that a path leaves and enters again is refused as a whole, and the nodes stay for the next compiler. */
typedef struct nd4c_partition {
  uint32_t struct_size;
  /* Takes `nodes` of the segment, by number, as one piece that costs about `nanoseconds` a run (ND4C_COST_UNKNOWN).
   * Copies what it is given. A status other than OK is to be returned by `partition`. */
  nd4c_status (*take)(struct nd4c_partition *partition, const int32_t *nodes, int32_t node_count, int64_t nanoseconds,
                      uint32_t flags);
  /* Tells why a node is not taken. Copies the text. Optional to call, but reports then say "no reason given". */
  nd4c_status (*decline)(struct nd4c_partition *partition, int32_t node, const char *reason);
} nd4c_partition;

/* Flags of an executable. */
enum {
  /* It may serve other extents than those that it was compiled for: `accepts` is asked. */
  ND4C_EXECUTABLE_DYNAMIC = 1
};

/* What a run of an executable on given extents needs. nd4c presets everything with 0. */
typedef struct nd4c_executable_info {
  uint32_t struct_size;
  uint32_t flags;
  int64_t scratch_bytes;        /* host memory for each run */
  int64_t device_scratch_bytes; /* the device's memory for each run, beside operands */
  int64_t device_bytes;         /* the device's memory that the executable holds until it is released, for reports */
} nd4c_executable_info;

/* One run. inputs and outputs stand in the order of the segment's; their buffers and data are valid until the work has
 * ended. */
typedef struct nd4c_execution {
  uint32_t struct_size;
  uint32_t flags;     /* ND4C_CALL_DETERMINISTIC */
  void *device;       /* the one that it was compiled for */
  nd4c_stream stream; /* NULL on synchronous devices: then the work has ended when execute returns */
  int32_t width;
  int32_t input_count, output_count;
  const nd4c_tensor *inputs;
  const nd4c_tensor *outputs;
  void *scratch;              /* scratch_bytes of host memory, 64-byte aligned, until execute returns; else NULL */
  nd4c_buffer scratch_buffer; /* device_scratch_bytes, this run's alone until its work has ended; else NULL */
  const nd4c_cancellation_scope *cancellation; /* as in nd4c_call */
  int64_t point;                               /* as in nd4c_call */
} nd4c_execution;

/* A compiler of a device. Static; valid after its provider was opened. One set of functions may serve several tables
 * that differ in `data`. */
typedef struct nd4c_compiler {
  uint32_t struct_size;
  int32_t priority;    /* of those of a device, the highest is asked first */
  const char *engine;  /* required: the engine that SD_KERNEL_FORCE_ENGINE and SD_KERNEL_DISABLE_ENGINES name */
  const char *version; /* of whatever decides about the code that is made; NULL: unknown */
  void *data;
  /* Required. Answers which nodes of a region it takes. May block. Compiles nothing. A failure counts as an
   * answer that takes nothing, with its text as the reason. */
  nd4c_status (*partition)(void *data, void *device, const nd4c_segment *region, const nd4c_compile_options *options,
                           nd4c_partition *answer);
  /* Required. Compiles a piece. May block. UNSUPPORTED if it cannot after all. */
  nd4c_status (*compile)(void *data, void *device, const nd4c_segment *piece, const nd4c_compile_options *options,
                         nd4c_executable *executable);
  /* Required. Enqueues one run on execution->stream and does not wait for it. MEMORY, UNSUPPORTED and argument codes
   * mean that nothing was enqueued. Several runs of one executable may be under way at once. */
  nd4c_status (*execute)(void *data, nd4c_executable executable, const nd4c_execution *execution);
  /* Required. The work of every run has ended. */
  void (*release)(void *data, nd4c_executable executable);
  /* Optional. What runs need on the extents that it was compiled for. Does not block. NULL: no scratch, one
   * set of extents. */
  nd4c_status (*describe)(void *data, nd4c_executable executable, nd4c_executable_info *info);
  /* Optional. Whether a DYNAMIC executable serves a segment that differs from its own in extents and strides alone;
   * writes into info what runs on these need. Tensors have no data. Does not block. NULL: no. */
  bool (*accepts)(void *data, nd4c_executable executable, const nd4c_tensor *inputs, int32_t input_count,
                  const nd4c_tensor *outputs, int32_t output_count, nd4c_executable_info *info);
} nd4c_compiler;

ND4C_EXTERN_C_END
#endif
