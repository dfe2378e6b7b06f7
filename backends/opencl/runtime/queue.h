/* The inside of streams and fences, for queue.c, fence.c, fault.c, stream.c and timing.c. */
#ifndef ND4C_BACKENDS_OPENCL_RUNTIME_QUEUE_H
#define ND4C_BACKENDS_OPENCL_RUNTIME_QUEUE_H

#include "backends/opencl/runtime/device.h"

/* Words of a fault buffer: whether there is a fault, then value and extent in halves (nd4c_fault_index of common.cl).
 */
enum { ND4C_CL_FAULT_WORDS = 5 };

/* A command that was enqueued; owns the event. call and op are static. */
typedef struct nd4c_cl_entry {
  cl_event event;
  const char *call, *op;
  int64_t point; /* of the call that it belongs to; 0: it has none */
} nd4c_cl_entry;

/* Zeros in a fault buffer; owns the event, NULL where `code` says why there is none. */
typedef struct nd4c_cl_reset {
  cl_event event;
  cl_int code;
} nd4c_cl_reset;

/* Events of commands that a timing covers. */
struct nd4c_timing_handle {
  int32_t count, capacity;
  bool lost; /* there was no memory for one */
  cl_event *events;
};

/* The calls to which a fault may belong. */
typedef struct nd4c_cl_suspects {
  const char *op; /* of the first; NULL: there are none */
  bool others;    /* of other ops, too */
  nd4c_failed_range points;
} nd4c_cl_suspects;

/* A fault buffer. Each launch since the last fence that may report a fault has its own, as long as there are enough;
 * further launches share the last one. */
enum { ND4C_CL_FAULTS = 32 };
typedef struct nd4c_cl_fault {
  nd4c_buffer buffer;        /* NULL: not made yet */
  nd4c_cl_reset reset;       /* the last one */
  int32_t promised;          /* launches that got it and have not been enqueued */
  nd4c_cl_suspects suspects; /* those that were, since the last fence */
} nd4c_cl_fault;

/* A fence's read of a fault buffer. */
typedef struct nd4c_cl_reading {
  struct nd4c_cl_reading *next;
  cl_event event;      /* of the read */
  cl_int waited;       /* outcome of waiting for it */
  nd4c_cl_reset reset; /* the one before it */
  nd4c_cl_suspects suspects;
  int32_t words[ND4C_CL_FAULT_WORDS];
} nd4c_cl_reading;

struct nd4c_stream_handle {
  nd4c_cl_device *device;
  cl_command_queue queue;
  nd4c_host_lock lock; /* guards the fields below; held while a command is enqueued, taken after a kernel's lock */
  nd4c_cl_entry *entries;
  int32_t count, capacity;
  nd4c_cl_fault faults[ND4C_CL_FAULTS];
  nd4c_cl_reading *readings;         /* from a fence that could not be recorded; the next fence takes them */
  nd4c_device_memory *fault_counted; /* the fault buffers */
  bool timed;                        /* the queue reports times; set before the queue is used */
  nd4c_timing timing;                /* that commands are added to; NULL: none */
  nd4c_stream next;
};

struct nd4c_fence_handle {
  cl_event marker;
  nd4c_cl_entry *entries;
  int32_t count;
  cl_int waited; /* the first failure of waiting for them */
  nd4c_cl_reading *readings;
};

/* Execution status of a command: CL_COMPLETE, larger while it is in flight, negative for failures; CL_INVALID_EVENT for
 * a status that the specification lacks. If the driver cannot say: the code of that failure. */
cl_int nd4c_cl_event_status(cl_event event);
/* The command is known to be done, or to have failed. */
bool nd4c_cl_event_is_over(cl_event event);
/* The command is known to have failed. */
bool nd4c_cl_event_has_failed(cl_event event);
/* Blocks until the command is done. If the driver cannot wait, polls the status without a limit, because a command in
 * flight may still write to memory that the caller frees after the wait. If the driver cannot report the status either,
 * the command counts as lost. Returns the outcome of the wait: CL_SUCCESS also for a failed command, whose status has
 * the failure. */
cl_int nd4c_cl_event_wait(cl_event event);
/* Fails with the text of a command's failure: MEMORY, where memory ran out, else as nd4c_cl_fail does. */
nd4c_status nd4c_cl_entry_fail(const nd4c_cl_device *device, const nd4c_cl_entry *entry, cl_int code);
/* OK if the command succeeded or is in flight; otherwise fails with its failure, or with clGetEventInfo's if the status
 * is not available. */
nd4c_status nd4c_cl_entry_outcome(const nd4c_cl_device *device, const nd4c_cl_entry *entry);

/* Adds a command to the timing that its stream is in. Under the stream's lock. timing.c */
void nd4c_cl_timing_note(nd4c_stream stream, cl_event event);

/* A stream on a queue, of which it takes over one reference; not after a failure (MEMORY). queue.c */
nd4c_status nd4c_cl_stream_adopt(nd4c_cl_device *device, cl_command_queue queue, nd4c_stream *out);

/* -- fault.c ------------------------------------------------------------------------------------------------------ */

/* Notes that a launch with the buffer is enqueued: if it is a fault buffer, the next fence reads it. Under the stream's
 * lock. */
void nd4c_cl_fault_note(nd4c_stream stream, nd4c_buffer buffer, const char *op, int64_t point);
/* Enqueues the reads of the stream's fault buffers that were used since the last fence, and their resets, between
 * barriers. The reads stay with the stream, even after a failure. Under the stream's lock. */
nd4c_status nd4c_cl_fault_collect(nd4c_stream stream);
/* Gives the reads to a recorded fence. Under the stream's lock. */
void nd4c_cl_fault_hand_over(nd4c_stream stream, nd4c_fence fence);
/* Waits for a read, once. */
void nd4c_cl_reading_wait(nd4c_cl_reading *reading);
/* After the wait: INDEX if a kernel has reported a fault; DEVICE if that cannot be determined. */
nd4c_status nd4c_cl_reading_outcome(const nd4c_cl_device *device, const nd4c_cl_reading *reading);
/* Waits before freeing them, because reads may still write to them. */
void nd4c_cl_readings_drop(nd4c_cl_reading *readings);
/* Of a stream that ends. */
void nd4c_cl_fault_free(nd4c_stream stream);

#endif
