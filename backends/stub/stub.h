/* The stub backend: a device for tests that checks every promise of the ABI. Its memory has opaque handles and
 * scrambled bytes, its queues run late, and a test can make every call fail. Every file of this folder includes it;
 * tests find the exported functions with dlsym. */
#ifndef ND4C_BACKENDS_STUB_STUB_H
#define ND4C_BACKENDS_STUB_STUB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/plugin.h"

enum { STUB_RANK = 32, STUB_INPUTS = 64, STUB_TEXT = 512 };

/* The host table from the entry function; set before any other function runs. */
extern const nd4c_host *stub_host;

/* An axis that counts from the end if it is negative. */
static inline int64_t stub_axis(int64_t axis, int32_t rank) {
  return axis < 0 ? axis + rank : axis;
}

static inline void stub_lock(nd4c_host_lock *lock) {
  stub_host->threads->lock_acquire(lock);
}
static inline void stub_unlock(nd4c_host_lock *lock) {
  stub_host->threads->lock_release(lock);
}

/* -- control.c: options, injected failures, counters ------------------------------------------------------------ */

/* Calls that a test can make fail. in_flight: a kernel's or a segment's work in the queue; in_flight_copy: a copy
 * there; return_output, return_bytes, return_twice: an executable that hands over no buffer, too small a size, the
 * first buffer once more. */
#define STUB_CALLS(X)    \
  X(entry)               \
  X(probe)               \
  X(open)                \
  X(device_count)        \
  X(engine_state)        \
  X(device_open)         \
  X(target_open)         \
  X(describe)            \
  X(buffer_allocate)     \
  X(buffer_free_on)      \
  X(buffer_address)      \
  X(copy_from_host)      \
  X(copy_to_host)        \
  X(copy_within)         \
  X(stream_create)       \
  X(stream_wait_fence)   \
  X(stream_wait_other)   \
  X(fence_record)        \
  X(fence_query)         \
  X(fence_wait)          \
  X(fence_failure)       \
  X(synchronize)         \
  X(usable)              \
  X(prepare)             \
  X(pack)                \
  X(device_scratch)      \
  X(run)                 \
  X(supports)            \
  X(partition)           \
  X(accepts)             \
  X(describe_executable) \
  X(return_output)       \
  X(return_bytes)        \
  X(return_twice)        \
  X(capture_begin)       \
  X(capture_end)         \
  X(instantiate)         \
  X(capture_update)      \
  X(launch)              \
  X(collective_id)       \
  X(collective_join)     \
  X(collective)          \
  X(import_memory)       \
  X(export_memory)       \
  X(host_register)       \
  X(fingerprint)         \
  X(serialise)           \
  X(load)                \
  X(compile)             \
  X(execute)             \
  X(in_flight)           \
  X(in_flight_copy)      \
  X(memory_available)    \
  X(pinned_allocate) X(fill) X(copy_between) X(peer) X(stream_create_with) X(stream_wrap) X(timing_begin) X(timing_read)

typedef enum stub_call {
#define STUB_CALL_ENUM(name) STUB_CALL_##name,
  STUB_CALLS(STUB_CALL_ENUM)
#undef STUB_CALL_ENUM
      STUB_CALL_COUNT
} stub_call;

/* Things counted for the tests. direct_copies: those from and to registered host memory. violations: errors of the
 * caller (a buffer freed under pending work, a handle used after it was freed, an access outside a buffer, two pieces
 * of work at once in the same scratch). held, asked_to_give: pieces of memory beside arrays, and how often nd4c asked
 * for one. scratch_granted, scratch_limit: bytes that the latest call was given, and that the latest kernel was told it
 * may ask for. host_waits: waits of the host for a fence that was not ready. */
#define STUB_COUNTERS(X) \
  X(buffers)             \
  X(buffer_bytes)        \
  X(pinned)              \
  X(imports)             \
  X(exports)             \
  X(registrations)       \
  X(direct_copies)       \
  X(host_waits)          \
  X(streams)             \
  X(priorities)          \
  X(wrapped)             \
  X(natives)             \
  X(timings)             \
  X(scratch_granted)     \
  X(scratch_limit)       \
  X(held)                \
  X(asked_to_give)       \
  X(fences) X(prepared) X(executables) X(tasks) X(violations) X(recordings) X(launchables) X(members)

typedef enum stub_count {
#define STUB_COUNT_ENUM(name) STUB_COUNT_##name,
  STUB_COUNTERS(STUB_COUNT_ENUM)
#undef STUB_COUNT_ENUM
      STUB_COUNT_COUNT
} stub_count;

typedef struct stub_options {
  char name[32];
  char type[16];
  char lie[32];
  char memory[16];
  char capture[16];
  char peers[16]; /* what the devices do with each other's memory */
  char verdict[16];
  int32_t priority;
  int32_t devices;
  int32_t generation; /* of the devices: executables are for one alone */
  bool kernels;       /* offers kernels */
  bool compiler;      /* offers the compiler */
  bool returns;       /* executables return their outputs */
  bool whole;         /* kernels and executables take whole buffers in C order alone */
  bool tells;         /* failures have the points of their calls */
  bool swift;         /* what is submitted has run when the submission returns, unless a pause holds work */
  bool slow;          /* every task and marker takes 0.2 ms longer */
  bool addresses;     /* buffers have addresses, which only the stub can read */
} stub_options;

extern stub_options stub_settings;

/* Reads STUB_* from the environment. */
void stub_options_read(void);
/* Whether STUB_LIE names this. */
bool stub_lies(const char *about);
/* The device type that the options name. */
nd4c_device_type stub_settings_type(void);
/* Counts a call; true if it was told to fail. */
bool stub_fails(stub_call call);
/* As stub_fails, as a status with a text. */
nd4c_status stub_attempt(stub_call call);
void stub_count_add(stub_count counter, int64_t amount);
void stub_count_set(stub_count counter, int64_t value);
/* Notes an error of the caller; returns INTERNAL with a text. */
nd4c_status stub_violation(const char *what);
/* The pause that holds work submitted now; 0: none. */
int64_t stub_gate_number(void);
/* Blocks until the pause of that number is over. */
void stub_gate_pass(int64_t number);
/* Whether no pause holds work. */
bool stub_gate_is_open(void);
/* Called before the host waits for unfinished work: ends "pause until_wait". */
void stub_gate_host_waits(void);
int64_t stub_delay(void);
void stub_delay_set(int64_t microseconds);
/* Lets a call take longer: between its steps, where other threads' calls come in between. */
void stub_linger(void);
/* Bytes of memory of each device. */
int64_t stub_memory(void);
/* How much of the device's memory every kernel and executable asks for beside its operands. */
nd4c_scratch_range stub_scratch_asked(void);
bool stub_idle(void);
/* Whether kernels work until they are cancelled. */
bool stub_endless(void);

/* Functions for tests, found by dlsym. stub_control takes one command:
 *   "fail CALL:N[:STATUS],..."  the N-th such call from now fails (0: every one), with that status number (default
 *                               600); N+M: so does the M-th after it
 *   "delay MICROSECONDS"        of every task submitted from now on
 *   "pause"                     nothing that is submitted to any stream from now on runs until "resume", be it a task,
 *                               a marker, a wait or a free; what was submitted before runs
 *   "pause until_wait"          the same until the host waits for work that is not done, by a fence, a stream, a device
 *                               or a timing: that resumes
 *   "pass"                      what is submitted from now on runs, unless held work is before it in its stream; what
 *                               pauses hold stays held
 *   "resume"                    ends all pauses
 *   "resume first"              ends the earliest one of several; ARGUMENT: there is none
 *   "memory BYTES"              of each device from now on
 *   "scratch LEAST [BEST]"      bytes of the device's that a kernel asks for, for signatures not seen before
 *   "hold BYTES"                counts a piece of memory of the first device as held; returns the status
 *   "hold_buffer BYTES"         the same, with a buffer
 *   "unhold"                    gives every piece back
 *   "give_way WAY"              what is done when nd4c asks for a piece: own (it is given back), all (all are), none,
 *                               or greedy (another one is asked for, which counts as a violation if it is granted)
 *   "idle 1" kernels do nothing and enqueue nothing, to measure what a call costs around them "endless 1" kernels run
 *   until the call's thread is cancelled, and return that status "reset" no failures, no delay, no pauses, the usual
 *   memory, no scratch, kernels that compute */
ND4C_PLUGIN_EXPORT int32_t stub_control(const char *command);
/* Value of a counter, or the number of calls of a call; -1 for an unknown name. */
ND4C_PLUGIN_EXPORT int64_t stub_counter(const char *name);

/* What an application does with the "vendor's" streams, in queue.c: makes one; enqueues work of its own, which takes
 * that long and then stores the number; destroys it. */
ND4C_PLUGIN_EXPORT void *stub_native_create(int32_t device);
ND4C_PLUGIN_EXPORT int32_t stub_native_work(void *native, int64_t microseconds, _Atomic int32_t *place, int32_t number);
ND4C_PLUGIN_EXPORT void stub_native_destroy(void *native);

enum { STUB_LEAST_PRIORITY = -1, STUB_GREATEST_PRIORITY = 2 };

/* -- memory.c: buffers ------------------------------------------------------------------------------------------ */

typedef struct stub_buffer {
  unsigned char *bytes; /* every byte XORed with `scramble` */
  int64_t size;
  int32_t device;
  int32_t uses; /* pending tasks, buffers over its memory, exports, and 1 until it is freed */
  bool freed;
  unsigned char scramble; /* 0: the bytes are the host's */
  nd4c_memory_kind kind;
  nd4c_buffer handle;
  /* An import: the kind as which it was (0: none), the buffer whose memory it is, its address where that was given,
   * what its bytes are mapped from. */
  nd4c_external_kind imported;
  struct stub_buffer *parent;
  void *address;
  int32_t descriptor;
  int64_t mapped_from;
} stub_buffer;

/* Where the buffer is: pinned memory's address; on a device with addresses a number at which no process has memory;
 * NULL on others. */
void *stub_buffer_address(const stub_buffer *buffer);
/* Bytes in buffers of one device. */
int64_t stub_buffer_used(int32_t device);
/* leaving: bytes that are used, and will be free when it is used. */
nd4c_status stub_buffer_create(int32_t device, nd4c_memory_kind kind, int64_t bytes, int64_t leaving,
                               stub_buffer **result);
/* Makes a record like the one given, with a handle of its own. Takes over nothing if it fails. */
nd4c_status stub_buffer_adopt(const stub_buffer *given, stub_buffer **result);
/* The device's buffer in whose memory these bytes of its addresses lie, with one use added; NULL: there is none. */
stub_buffer *stub_buffer_at(int32_t device, const void *address, int64_t bytes);
/* The buffer behind a handle with one use added, or NULL (a violation) if the handle is stale. */
stub_buffer *stub_buffer_use(nd4c_buffer handle);
void stub_buffer_retain(stub_buffer *buffer);
void stub_buffer_done(stub_buffer *buffer);
/* The owner gives it back; pending work on it is a violation. */
void stub_buffer_drop(stub_buffer *buffer);
/* Makes the handle stale; pending work may still use the buffer. */
void stub_buffer_retire(stub_buffer *buffer);
/* Copies bytes in and out, unscrambled outside. INTERNAL (a violation) outside the buffer. */
nd4c_status stub_buffer_read(const stub_buffer *buffer, int64_t offset, void *to, int64_t bytes);
nd4c_status stub_buffer_write(stub_buffer *buffer, int64_t offset, const void *from, int64_t bytes);

/* -- queue.c: streams and fences -------------------------------------------------------------------------------- */

typedef struct stub_stream stub_stream;
typedef struct stub_fence stub_fence;
typedef struct stub_recording stub_recording;
typedef struct stub_timing stub_timing;

/* Work of a task: runs once on the stream's thread (or in the caller), then dispose is called. */
typedef struct stub_task {
  nd4c_status (*run)(void *work);
  void (*dispose)(void *work);
  void *work;
  int64_t point; /* the call's; 0: none */
  /* Of work that may be recorded: gives back what it holds of buffers; makes the same work with buffers held that the
   * handles name now. */
  void (*loosen)(void *work);
  nd4c_status (*again)(const void *work, void **copy);
} stub_task;

nd4c_status stub_stream_create(int32_t device, int32_t priority, stub_stream **result);
/* A handle of its own for a stream. ARGUMENT: it is none of the device's. */
nd4c_status stub_stream_wrap(int32_t device, void *native, stub_stream **result);
/* What stub_stream_wrap takes. `handle`, here and below: a stream, or what stub_stream_wrap made for it. */
void *stub_stream_native(stub_stream *handle);
/* Waits for what is enqueued; the last handle ends the stream. */
void stub_stream_destroy(stub_stream *handle);
/* Takes over the work even when it fails. handle NULL: runs at once. */
nd4c_status stub_stream_submit(stub_stream *handle, stub_task task);
/* Submits all tasks or none, and adds `points` to their points. Takes over the work even if it fails. */
nd4c_status stub_stream_submit_all(stub_stream *handle, const stub_task *tasks, int32_t count, int64_t points);
/* From here on submissions go into a recording, until it is ended and handed over. INTERNAL (a violation): it is being
 * recorded already, or not at all. */
nd4c_status stub_stream_begin_recording(stub_stream *handle);
nd4c_status stub_stream_end_recording(stub_stream *handle, stub_recording **recording);
/* Tasks that are submitted from here on belong to the timing, until it is taken off the stream, which gives it.
 * UNSUPPORTED: the stream is timed already, as by another handle for it. */
nd4c_status stub_stream_begin_timing(stub_stream *handle, stub_timing *timing);
stub_timing *stub_stream_end_timing(stub_stream *handle);
/* device: the one whose stream recorded the fence, as the caller says. INTERNAL (a violation): another one did. */
nd4c_status stub_stream_wait_fence(stub_stream *handle, stub_fence *fence, int32_t device);
nd4c_status stub_fence_record(stub_stream *handle, stub_fence **result);
/* Ends the buffer, of which the caller has a use, when the stream has passed this point. */
void stub_stream_free(stub_stream *handle, stub_buffer *buffer);
/* Bytes that are on their way out on the stream. NULL: 0. */
int64_t stub_stream_leaving(stub_stream *handle);
bool stub_fence_ready(stub_fence *fence);
nd4c_status stub_fence_wait(stub_fence *fence, nd4c_failed_range *failed);
/* See nd4c_device_ops.fence_failure. */
nd4c_status stub_fence_failure(const stub_fence *fence, int32_t index, nd4c_failed_range *failed);
void stub_fence_release(stub_fence *fence);
/* Waits for every stream of the device. Returns the first failure that no fence has reported. */
nd4c_status stub_synchronize(int32_t device);

/* -- external.c: memory of others, memory for others ------------------------------------------------------------- */

typedef struct stub_range stub_range;
extern const nd4c_external_ops stub_external_ops;
/* Gives back what an import holds. */
void stub_import_end(stub_buffer *buffer);
/* The registered range of the device in which these bytes lie, with one use added, or NULL. */
stub_range *stub_range_use(int32_t device, const void *memory, int64_t bytes);
/* NULL is fine. */
void stub_range_done(stub_range *range);

/* -- timing.c: times of tasks ------------------------------------------------------------------------------------- */

extern const nd4c_timing_ops stub_timing_ops;
/* For a task that is submitted; returns the timing, with a reference that `done` gives back. */
stub_timing *stub_timing_add(stub_timing *timing);
void stub_timing_done(stub_timing *timing, int64_t begin, int64_t end, bool failed);

/* -- capture.c: recordings ---------------------------------------------------------------------------------------- */

extern const nd4c_capture_ops stub_capture_ops;
nd4c_status stub_recording_create(stub_recording **recording);
void stub_recording_release(stub_recording *recording);
/* Takes over the work even when it fails. */
nd4c_status stub_recording_add(stub_recording *recording, stub_task task);
/* Notes an illegal call; returns UNSUPPORTED with a text. */
nd4c_status stub_recording_spoil(stub_recording *recording, const char *what);

/* -- collective.c ------------------------------------------------------------------------------------------------ */

extern const nd4c_collective_ops stub_collective_ops;

/* -- operand.c: elements in and out of buffers ------------------------------------------------------------------ */

typedef enum stub_class { STUB_NONE, STUB_BOOL, STUB_INT, STUB_UINT, STUB_FLOAT, STUB_COMPLEX } stub_class;

/* One element, wide: i for bool and integers (uint64 as its bits), re and im for the others. */
typedef struct stub_value {
  int64_t i;
  double re, im;
} stub_value;

typedef struct stub_operand {
  nd4c_dtype dtype; /* NONE: left out */
  int32_t rank;
  int64_t shape[STUB_RANK], strides[STUB_RANK];
  int64_t size, offset;
  nd4c_buffer handle;
  stub_buffer *buffer; /* one use held, or NULL until bound */
  nd4c_layout layout;  /* BLOCKED: where the elements are, in place of strides */
} stub_operand;

stub_class stub_class_of(nd4c_dtype dtype);
/* Bytes of a block, and its elements. */
int64_t stub_size_of(nd4c_dtype dtype);
int64_t stub_elements_of(nd4c_dtype dtype);
/* Copies what a tensor says; binds its buffer if it has one. */
nd4c_status stub_operand_copy(const nd4c_tensor *tensor, stub_operand *operand);
/* Gives back the use of the buffer; takes one of the buffer that the handle names. */
void stub_operand_loosen(stub_operand *operand);
nd4c_status stub_operand_bind(stub_operand *operand);
/* All elements in C order. */
nd4c_status stub_operand_load(const stub_operand *operand, stub_value **result);
nd4c_status stub_operand_store(const stub_operand *operand, const stub_value *values);
/* The same of float32, without widening. */
nd4c_status stub_operand_floats(const stub_operand *operand, float **values);
nd4c_status stub_operand_store_floats(const stub_operand *operand, const float *values);
/* Element numbers of `from` (C order) for each element of `to`, by NumPy's broadcasting. */
void stub_broadcast(const stub_operand *from, const stub_operand *to, int64_t *numbers);
/* Brings a value into the range of a dtype as the op cast says. */
stub_value stub_convert(stub_value value, nd4c_dtype from, nd4c_dtype to);
/* Wraps an integer to the width of a dtype. */
int64_t stub_wrap(int64_t value, nd4c_dtype dtype);

/* -- scratch.c ----------------------------------------------------------------------------------------------------- */

typedef struct stub_scratch {
  nd4c_buffer handle;  /* NULL: the call has none */
  stub_buffer *buffer; /* one use held, or NULL until bound */
  int64_t bytes;
} stub_scratch;

nd4c_status stub_scratch_bind(nd4c_buffer handle, int64_t bytes, stub_scratch *scratch);
/* Gives back the use of the buffer. */
void stub_scratch_loosen(stub_scratch *scratch);
/* Around the work that uses it. */
nd4c_status stub_scratch_begin(const stub_scratch *scratch, int64_t *stamp);
nd4c_status stub_scratch_end(const stub_scratch *scratch, int64_t stamp);

/* -- held.c: memory beside arrays ---------------------------------------------------------------------------------- */

/* Commands "hold BYTES", "hold_buffer BYTES", "unhold", "give_way WAY" of stub_control. */
nd4c_status stub_held_control(const char *command);

/* -- work.c: one call, copied out of the caller's memory ---------------------------------------------------------- */

typedef struct stub_work {
  nd4c_op op;
  const char *name;
  int32_t input_count, attr_count;
  stub_operand *inputs;
  stub_operand output;
  nd4c_attr_value *attrs;
  stub_scratch scratch;
} stub_work;

nd4c_status stub_work_create(const nd4c_call *call, stub_work **result);
/* `argument`, here and below: a stub_work. */
void stub_work_destroy(void *argument);
/* See stub_task. */
void stub_work_loosen(void *argument);
nd4c_status stub_work_again(const void *argument, void **copy);
/* Computes on the device's memory, in the calling thread. */
nd4c_status stub_work_run(void *argument);

/* -- compute*.c: what the ops mean ------------------------------------------------------------------------------- */

/* Computes all elements of work->output in C order from the inputs' values in C order. */
typedef nd4c_status (*stub_function)(const stub_work *work, stub_value *const *inputs, stub_value *output);

/* The same, of an op that loads its inputs and stores its result itself. */
typedef nd4c_status (*stub_direct)(const stub_work *work);

bool stub_compute_knows(nd4c_op op);
/* One of the two is there for an op that the stub knows; NULL: the other is. */
stub_function stub_compute_find(nd4c_op op);
stub_direct stub_compute_direct(nd4c_op op);
/* Why the stub cannot compute a call, or true. */
bool stub_compute_usable(const nd4c_call *call, char *reason, size_t reason_size);

nd4c_status stub_compute_unary(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_binary(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_where(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_clip(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_reduce(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_matmul(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_softmax(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_same_order(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_transpose(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_broadcast(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_slice(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_concat(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_gather(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_conv(const stub_work *work);
nd4c_status stub_compute_linear(const stub_work *work);
nd4c_status stub_compute_max_pool(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_average_pool(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_batch_norm(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_lrn(const stub_work *work, stub_value *const *inputs, stub_value *output);
nd4c_status stub_compute_global_average_pool(const stub_work *work, stub_value *const *inputs, stub_value *output);
/* The attribute `activation` of conv and linear. */
double stub_activate(int64_t activation, double x);

/* -- layouts.c --------------------------------------------------------------------------------------------------- */

/* Of the kernel of matmul. */
bool stub_wants_layout(const nd4c_call *call, int32_t input, nd4c_layout *layout);
nd4c_status stub_pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to);
/* Whether each operand lies as kernels of the stub read it; a violation. */
nd4c_status stub_check_layouts(const nd4c_call *call);

/* -- compiler.c, executable.c ------------------------------------------------------------------------------------- */

typedef struct stub_step {
  stub_work *work; /* operands unbound */
  int32_t *inputs; /* value numbers, -1: left out */
  int32_t output;
} stub_step;

/* Shared by its handle and by pending executions. */
typedef struct stub_executable {
  _Atomic int32_t references;
  int32_t node_count, value_count, input_count, output_count, device;
  stub_step *nodes;
  int32_t *outputs;
  bool dynamic; /* a chain of element-wise ops on operands of one shape: serves any */
} stub_executable;

/* One with room for its nodes and outputs, of which the counts are set; one reference. */
nd4c_status stub_executable_create(const stub_executable *counts, stub_executable **result);
void stub_executable_release(stub_executable *executable);
/* Functions of the compiler's table. */
nd4c_status stub_fingerprint(void *data, void *device, const nd4c_compile_options *options, char *text, size_t size);
nd4c_status stub_serialise(void *data, nd4c_executable handle, nd4c_sink *sink);
nd4c_status stub_load(void *data, void *device, const void *bytes, int64_t size, nd4c_executable *result);

/* -- kernels.c, compiler.c, device.c ------------------------------------------------------------------------------ */

const nd4c_kernel *const *stub_kernels(void);
extern const nd4c_compiler stub_compiler;
extern const nd4c_device_ops stub_device_ops;
void *stub_device_at(int32_t index);
nd4c_status stub_target_open(int32_t index, nd4c_device_description *description, void **target);
/* Index of an opened device. */
int32_t stub_device_index(const void *device);

#endif
