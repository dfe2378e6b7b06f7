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
  const nd4c_call *const *nodes; /* in an order in which they can run */
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
   * Copies what it is given. A status other than OK is to be returned by `partition`. nd4c's; does not block. */
  nd4c_status (*take)(struct nd4c_partition *partition, const int32_t *nodes, int32_t node_count, int64_t nanoseconds,
                      uint32_t flags);
  /* Tells why a node is not taken. Copies the text. Optional to call, but reports then say "no reason given".
   * nd4c's; does not block. */
  nd4c_status (*decline)(struct nd4c_partition *partition, int32_t node, const char *reason);
} nd4c_partition;

/* Flags of an executable. */
enum {
  /* It may serve other extents than those that it was compiled for: `accepts` is asked. */
  ND4C_EXECUTABLE_DYNAMIC = 1,
  /* It makes the buffers of its outputs itself, whatever the extents: see nd4c_execution.returned. Of compilers of the
   * provider whose backend has the device. Eager calls into arrays that are not in C order are left to others, except
   * on devices with whole_buffers. */
  ND4C_EXECUTABLE_RETURNS_OUTPUTS = 2
};

/* What a run of an executable on given extents needs. nd4c presets everything with 0. */
typedef struct nd4c_executable_info {
  uint32_t struct_size;
  uint32_t flags;
  int64_t scratch_bytes;        /* host memory for each run */
  int64_t device_scratch_bytes; /* the device's memory for each run, beside operands: the least that it needs */
  int64_t device_bytes;         /* the device's memory that the executable holds until it is released, for reports */
  int64_t device_scratch_best;  /* beyond which more is of no use; less than device_scratch_bytes: the same */
} nd4c_executable_info;

/* An output that an executable made: a handle as buffers->allocate gives them, with the elements in C order from its
 * first byte, and its size. Not versioned by struct_size. */
typedef struct nd4c_returned_buffer {
  nd4c_buffer buffer;
  int64_t bytes; /* at least what the elements take */
} nd4c_returned_buffer;

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
  nd4c_buffer scratch_buffer; /* the stream's, with scratch_buffer_bytes, as in nd4c_call; else NULL */
  const nd4c_cancellation_scope *cancellation; /* as in nd4c_call */
  int64_t point;                               /* as in nd4c_call */
  int64_t scratch_buffer_bytes;                /* from device_scratch_bytes to device_scratch_best; 0: none */
  /* For RETURNS_OUTPUTS, else NULL: a place for each output, zeros. The outputs then have no buffers and no data.
   * execute fills all of them before it returns OK, but those of outputs without elements, and nd4c owns the buffers
   * from then on: it counts them, and frees them by buffers->free when no work uses them any more. A failure hands over
   * none. */
  nd4c_returned_buffer *returned;
} nd4c_execution;

/* Takes the bytes of an executable, piece after piece. nd4c's, for the duration of `serialise`. */
typedef struct nd4c_sink {
  uint32_t struct_size;
  /* Copies the bytes. A status other than OK is to be returned by `serialise`: MEMORY, or OVERFLOW where all that was
   * written is more than nd4c.compile.limit. Does not block. */
  nd4c_status (*write)(struct nd4c_sink *sink, const void *bytes, int64_t size);
} nd4c_sink;

/* A compiler of a device. Static; valid after its provider was opened. One set of functions may serve several tables
 * that differ in `data`. `device` is the pointer that device_open gave, or target_open where the device is not here. */
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
  /* Required. Compiles a piece. May block. UNSUPPORTED if it cannot after all: the plan is made without the piece, and
   * its nodes go to other compilers and to kernels. Any other failure is the plan's. */
  nd4c_status (*compile)(void *data, void *device, const nd4c_segment *piece, const nd4c_compile_options *options,
                         nd4c_executable *executable);
  /* Required. Enqueues one run on execution->stream and does not wait for it. MEMORY, UNSUPPORTED and argument codes
   * mean that nothing was enqueued. Several runs of one executable may be under way at once. */
  nd4c_status (*execute)(void *data, nd4c_executable executable, const nd4c_execution *execution);
  /* Required. The work of every run has ended. May block. */
  void (*release)(void *data, nd4c_executable executable);
  /* Optional. What runs need on the extents that it was compiled for. Does not block. NULL: no scratch, one
   * set of extents. */
  nd4c_status (*describe)(void *data, nd4c_executable executable, nd4c_executable_info *info);
  /* Optional. Whether a DYNAMIC executable serves a segment that differs from its own in extents and strides alone;
   * writes into info what runs on these need. Tensors have no data. Does not block. NULL: no. */
  bool (*accepts)(void *data, nd4c_executable executable, const nd4c_tensor *inputs, int32_t input_count,
                  const nd4c_tensor *outputs, int32_t output_count, nd4c_executable_info *info);

  /* The three that follow are optional, but all there or none: then nd4c keeps executables in files
   * (nd4c.compile.cache), and programs compile ahead of time (nd4c_plan_compile). */

  /* Writes into `text` what must be equal where an executable is compiled and where it is loaded: the version of what
   * makes the code, the device's capability, the driver if code depends on it. One line of printable ASCII, not empty.
   * `options` and the ops, dtypes, shapes and constants of a piece are nd4c's to compare; options->width is not
   * compared: an executable takes the width of its execution. A failure lets nd4c compile, and is told by the log. May
   * block. */
  nd4c_status (*fingerprint)(void *data, void *device, const nd4c_compile_options *options, char *text,
                             size_t text_size);
  /* Writes the executable. Work of it may be under way. May block. UNSUPPORTED for one that cannot be written. */
  nd4c_status (*serialise)(void *data, nd4c_executable executable, nd4c_sink *sink);
  /* Makes an executable of bytes that `serialise` wrote, in this process or another, under an equal fingerprint. They
   * are the caller's, aligned to 16 bytes, and gone when this returns; nd4c has checked that they are complete, not
   * what they say: a file may have been made by anyone. FORMAT for bytes that make no sense. May block. */
  nd4c_status (*load)(void *data, void *device, const void *bytes, int64_t size, nd4c_executable *executable);
} nd4c_compiler;

ND4C_EXTERN_C_END
#endif
