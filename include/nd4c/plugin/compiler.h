/* Compilers turn nodes of a graph into executables. Contributions list them in tables (provider.h); plans and eager
 * calls use them.
 *
 * A device may have any number of compilers. A region is a set of nodes on one device such that no path leaves the set
 * and enters it again. nd4c offers each region to one compiler after the other, from the highest priority down. A
 * compiler answers which nodes it takes, grouped into pieces. nd4c has each piece compiled, and the piece becomes one
 * step of the plan. An eager call is a region of one node.
 *
 * Every function gets its table's `data` as the first argument. Several threads may call it at once. A function that
 * fails sets the text through host->fail. Structs that nd4c fills, and everything they point to, are borrowed for the
 * duration of the call. */
#ifndef ND4C_PLUGIN_COMPILER_H
#define ND4C_PLUGIN_COMPILER_H

#include "nd4c/compile.h"
#include "nd4c/plugin/call.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* A set of nodes: a region that nd4c offers, or a piece to compile. Its values are numbered: first the segment's
 * inputs, then the outputs of its nodes. In each node's call these fields are set: flags, op, the tensors, attrs,
 * width, device; stream, state and scratch are NULL. Tensors have dtype, shape, strides and size. In a graph, constants
 * may have any strides and all other operands are C-contiguous, unless the compiler is flagged ANY_STRIDES. In an eager
 * call (one node), any operand may have any strides. Inputs flagged CONSTANT have data, or buffer and offset on devices
 * without addresses, unless the compiler is flagged ANY_CONTENTS. */
typedef struct nd4c_segment {
  uint32_t struct_size;
  int32_t node_count;
  const nd4c_call *const *nodes;     /* in a valid order of execution */
  const int32_t *const *node_inputs; /* value numbers, -1 for an omitted input */
  const int32_t *const *node_outputs;
  int32_t value_count;
  int32_t input_count; /* values 0 .. input_count - 1, including constants */
  int32_t output_count;
  const int32_t *outputs;    /* numbers of the values that the segment returns */
  const char *const *labels; /* for each node its label, "" if it has none; NULL: no node has one */
} nd4c_segment;

/* What a compilation must respect. */
typedef struct nd4c_compile_options {
  uint32_t struct_size;
  bool deterministic;   /* equal inputs must give equal bits in every run */
  int32_t math;         /* nd4c_math: the most that the compiler may do */
  int32_t width;        /* parallel width to use at most */
  int64_t memory_bytes; /* device memory for the executable and its scratch, besides operands; 0: no limit */
  int32_t option_count;
  const nd4c_compile_option *options; /* the compiler ignores keys that it does not know */
} nd4c_compile_options;

#define ND4C_COST_UNKNOWN INT64_C(-1)

/* Flags of a piece. */
enum {
  /* One run of the piece costs less than the device's kernels would: nd4c takes it even if it is a single node. */
  ND4C_PIECE_CHEAPER = 1
};

/* Receives a compiler's answer. nd4c checks it. If a number is out of range, a node is in two pieces, or a path leaves
 * a piece and enters it again, nd4c refuses the whole answer and offers the nodes to the next compiler. */
typedef struct nd4c_partition {
  uint32_t struct_size;
  /* Takes `nodes` of the segment, by number, as one piece. A run of it takes about `nanoseconds`, or ND4C_COST_UNKNOWN.
   * Copies its arguments. If it returns a status other than OK, `partition` must return that status. A function of
   * nd4c; does not block. */
  nd4c_status (*take)(struct nd4c_partition *partition, const int32_t *nodes, int32_t node_count, int64_t nanoseconds,
                      uint32_t flags);
  /* Says why the compiler does not take a node. Copies the text. Optional; without it reports say "no reason given". A
   * function of nd4c; does not block. */
  nd4c_status (*decline)(struct nd4c_partition *partition, int32_t node, const char *reason);
} nd4c_partition;

/* Flags of an executable. */
enum {
  /* It may serve extents other than those it was compiled for; nd4c asks `accepts`. */
  ND4C_EXECUTABLE_DYNAMIC = 1,
  /* It allocates the buffers of its outputs itself, for any extents: see nd4c_execution.returned. Only for compilers of
   * the provider whose backend has the device. nd4c does not use it for eager calls into arrays that are not in C
   * order, except on devices with whole_buffers. */
  ND4C_EXECUTABLE_RETURNS_OUTPUTS = 2,
  /* It must not be given the memory of an input for its output, although its compiler computes IN_PLACE: an output can
   * be written before all of an input is read. */
  ND4C_EXECUTABLE_KEEPS_INPUTS = 4
};

/* What a run of an executable on given extents needs. nd4c presets everything with 0. */
typedef struct nd4c_executable_info {
  uint32_t struct_size;
  uint32_t flags;
  int64_t scratch_bytes;        /* host scratch of each run */
  int64_t device_scratch_bytes; /* device scratch of each run, besides operands: the least that it needs */
  int64_t device_bytes;         /* device memory that the executable holds until its release, for reports */
  int64_t device_scratch_best;  /* the most scratch that helps; nd4c takes device_scratch_bytes if this is less */
} nd4c_executable_info;

/* An output that an executable allocated: a handle like those of buffers->allocate, and the buffer's size. The buffer
 * has the elements in C order, from its first byte on. Not versioned by struct_size. */
typedef struct nd4c_returned_buffer {
  nd4c_buffer buffer;
  int64_t bytes; /* at least what the elements take */
} nd4c_returned_buffer;

/* One run. inputs and outputs stand in the order of the segment's; their buffers and data are valid until the work has
 * ended. */
typedef struct nd4c_execution {
  uint32_t struct_size;
  uint32_t flags;     /* ND4C_CALL_DETERMINISTIC */
  void *device;       /* the device that the executable was compiled for */
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
  /* For RETURNS_OUTPUTS, else NULL: one zeroed entry for each output. The outputs then have neither buffers nor data.
   * execute fills every entry before it returns OK, except those of outputs without elements. nd4c then owns the
   * buffers: it counts them, and frees them with buffers->free when the work that uses them has ended. After a failure
   * the executable still owns them all. */
  nd4c_returned_buffer *returned;
} nd4c_execution;

/* Receives the bytes of an executable, in any number of calls. A struct of nd4c, valid for the duration of
 * `serialise`. */
typedef struct nd4c_sink {
  uint32_t struct_size;
  /* Copies the bytes. If it returns a status other than OK, `serialise` must return that status. MEMORY; OVERFLOW if
   * the executable exceeds nd4c.compile.limit. Does not block. */
  nd4c_status (*write)(struct nd4c_sink *sink, const void *bytes, int64_t size);
} nd4c_sink;

/* Flags of a compiler. */
enum {
  /* Its executables run on operands of any strides, which may differ from those of the segment that was compiled: they
   * read the strides of each execution. nd4c then leaves values in the order that the kernels around the segment
   * prefer, and gives it views without copying them. */
  ND4C_COMPILER_ANY_STRIDES = 1,
  /* It does not look at the contents of constants before an execution: in the segments that it gets, constants have
   * neither data nor buffers. nd4c then need not decode and copy constants that the compiler takes no part in. */
  ND4C_COMPILER_ANY_CONTENTS = 2,
  /* If a segment has a single output, it may be given the memory of an input that has the same dtype, shape and strides
   * and that nothing reads afterwards, except for executables that KEEP_INPUTS. */
  ND4C_COMPILER_IN_PLACE = 4
};

/* A compiler of a device. Static; `open` of its provider may still fill in fields. Several tables that differ in `data`
 * may share functions. `device` is the pointer from device_open or, when compiling for a device that the machine lacks,
 * from target_open. */
typedef struct nd4c_compiler {
  uint32_t struct_size;
  int32_t priority;    /* nd4c asks a device's compilers from the highest priority down */
  const char *engine;  /* required: the engine that SD_KERNEL_FORCE_ENGINE and SD_KERNEL_DISABLE_ENGINES name */
  const char *version; /* version of the software that determines the generated code; NULL: unknown */
  void *data;
  /* Required. Answers which nodes of a region the compiler takes, without compiling them. May block. A failure counts
   * as an answer that takes no node, with its text as the reason. */
  nd4c_status (*partition)(void *data, void *device, const nd4c_segment *region, const nd4c_compile_options *options,
                           nd4c_partition *answer);
  /* Required. Compiles a piece. May block. UNSUPPORTED if it cannot compile the piece after all: nd4c then offers the
   * nodes to other compilers and to kernels. Any other failure makes nd4c_plan_create fail. */
  nd4c_status (*compile)(void *data, void *device, const nd4c_segment *piece, const nd4c_compile_options *options,
                         nd4c_executable *executable);
  /* Required. Enqueues one run on execution->stream and does not wait for it. MEMORY, UNSUPPORTED and argument codes
   * mean that nothing was enqueued. Several runs of one executable may be in flight at once. */
  nd4c_status (*execute)(void *data, nd4c_executable executable, const nd4c_execution *execution);
  /* Required. Frees an executable; all its runs have ended. May block. */
  void (*release)(void *data, nd4c_executable executable);
  /* Optional. Says what a run needs on the extents that the executable was compiled for. Does not block. NULL: no
   * scratch, and it serves no other extents. */
  nd4c_status (*describe)(void *data, nd4c_executable executable, nd4c_executable_info *info);
  /* Optional. Whether a DYNAMIC executable serves a segment that differs from its own only in extents and strides;
   * writes to *info what runs on that segment need. Tensors have no data. Does not block. NULL: no. */
  bool (*accepts)(void *data, nd4c_executable executable, const nd4c_tensor *inputs, int32_t input_count,
                  const nd4c_tensor *outputs, int32_t output_count, nd4c_executable_info *info);

  /* The next three functions are optional: a compiler has all of them or none. With them nd4c can cache executables in
   * files (nd4c.compile.cache), and programs can compile ahead of time (nd4c_plan_compile). */

  /* Writes to `text` what must be equal at compile time and at load time for an executable to be usable: the version of
   * the code generator, the device's capability, the driver if code depends on it. One line of printable ASCII, not
   * empty. nd4c itself compares `options` and the ops, dtypes, shapes and constants of a piece. It does not compare
   * options->width: an executable uses the width of its execution. If this fails, nd4c logs the failure and compiles
   * without the cache. May block. */
  nd4c_status (*fingerprint)(void *data, void *device, const nd4c_compile_options *options, char *text,
                             size_t text_size);
  /* Writes the executable, whose runs may be in flight. May block. UNSUPPORTED if the executable cannot be written. */
  nd4c_status (*serialise)(void *data, nd4c_executable executable, nd4c_sink *sink);
  /* Makes an executable from bytes that `serialise` wrote, in this process or another one, with an equal fingerprint.
   * The bytes are aligned to 16 bytes and valid until this returns. nd4c has checked that they are complete, but not
   * their contents, which may be forged. FORMAT for invalid bytes. May block. */
  nd4c_status (*load)(void *data, void *device, const void *bytes, int64_t size, nd4c_executable *executable);

  uint32_t flags; /* ANY_STRIDES, ANY_CONTENTS, IN_PLACE */
} nd4c_compiler;

ND4C_EXTERN_C_END
#endif
