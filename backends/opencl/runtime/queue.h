/* Streams and fences from the inside: what queue.c and fence.c share. */
#ifndef ND4C_BACKENDS_OPENCL_RUNTIME_QUEUE_H
#define ND4C_BACKENDS_OPENCL_RUNTIME_QUEUE_H

#include "backends/opencl/runtime/device.h"

/* Words of a fault buffer: whether there is a fault, then value and extent in halves (nd4c_fault_index of common.cl).
 */
enum { ND4C_CL_FAULT_WORDS = 5 };

/* A command that is or was under way; owns the event. call and op are static. */
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

/* Events of commands whose times are wanted. */
struct nd4c_timing_handle {
  int32_t count, capacity;
  bool lost; /* there was no memory for one */
  cl_event *events;
};

/* Which calls a fault may be of. */
typedef struct nd4c_cl_suspects {
  const char *op; /* of the first; NULL: there are none */
  bool others;    /* of other ops, too */
  nd4c_failed_range points;
} nd4c_cl_suspects;

/* A fault buffer. Each launch that may tell a fault since the last fence has one to itself, as long as there are
 * enough; those beyond share the last one. */
enum { ND4C_CL_FAULTS = 32 };
typedef struct nd4c_cl_fault {
  nd4c_buffer buffer;        /* NULL: not made yet */
  nd4c_cl_reset reset;       /* the last one */
  int32_t promised;          /* launches that got it and have not been enqueued */
  nd4c_cl_suspects suspects; /* those that were, since the last fence */
} nd4c_cl_fault;

/* What a fence reads of a fault buffer. */
typedef struct nd4c_cl_reading {
  struct nd4c_cl_reading *next;
  cl_event event;      /* of the read */
  cl_int waited;       /* how waiting for it went */
  nd4c_cl_reset reset; /* the one before it */
  nd4c_cl_suspects suspects;
  int32_t words[ND4C_CL_FAULT_WORDS];
} nd4c_cl_reading;

struct nd4c_stream_handle {
  nd4c_cl_device *device;
  cl_command_queue queue;
  nd4c_host_lock lock; /* guards what follows; held while a command is enqueued, behind a kernel's lock */
  nd4c_cl_entry *entries;
  int32_t count, capacity;
  nd4c_cl_fault faults[ND4C_CL_FAULTS];
  nd4c_cl_reading *readings; /* of a fence that could not be recorded: the next one has them */
  nd4c_device_memory *fault_counted; /* the fault buffers */
  bool timed;         /* the queue tells times; set before it is used */
  nd4c_timing timing; /* that commands are added to; NULL: none */
  nd4c_stream next;
};

struct nd4c_fence_handle {
  cl_event marker;
  nd4c_cl_entry *entries;
  int32_t count;
  cl_int waited; /* the first failure to wait for them, once that was tried */
  nd4c_cl_reading *readings;
};

/* Execution status of a command: CL_COMPLETE, above it while it is under way, below it for failures; a status that the
 * specification does not know is CL_INVALID_EVENT. Where the driver cannot tell it: that failure's code. */
cl_int nd4c_cl_event_status(cl_event event);
/* The command is known to be done, or to have failed. */
bool nd4c_cl_event_is_over(cl_event event);
/* The command is known to have failed. */
bool nd4c_cl_event_has_failed(cl_event event);
/* Returns when the command is done, also where the driver cannot wait: then its state is asked again and again, without
 * end, for a command under way may still write to memory that the caller gives up behind the wait. A driver that cannot
 * tell the state either is taken at its word that the command is lost. The outcome of the wait; CL_SUCCESS for a
 * command that failed, which its status tells. */
cl_int nd4c_cl_event_wait(cl_event event);
/* Fails with the text of a command's failure: MEMORY, where memory ran out, else as nd4c_cl_fail does. */
nd4c_status nd4c_cl_entry_fail(const nd4c_cl_device *device, const nd4c_cl_entry *entry, cl_int code);
/* OK if the command was done; else fails as it did, or with clGetEventInfo's name if that cannot be told. Of one that
 * is under way it says OK. */
nd4c_status nd4c_cl_entry_outcome(const nd4c_cl_device *device, const nd4c_cl_entry *entry);

/* Adds a command to the timing that its stream is in. Under the stream's lock. timing.c */
void nd4c_cl_timing_note(nd4c_stream stream, cl_event event);

/* A stream on a queue, of which it takes over one reference; not after a failure (MEMORY). queue.c */
nd4c_status nd4c_cl_stream_adopt(nd4c_cl_device *device, cl_command_queue queue, nd4c_stream *stream);

/* -- fault.c ------------------------------------------------------------------------------------------------------ */

/* A launch that uses the buffer is being enqueued: if it is a fault buffer, the next fence reads it. Under the stream's
 * lock. */
void nd4c_cl_fault_note(nd4c_stream stream, nd4c_buffer buffer, const char *op, int64_t point);
/* Enqueues the reads of the stream's fault buffers that were used since the last fence, and their resets, between
 * barriers. What was read stays with the stream, also after a failure. Under the stream's lock. */
nd4c_status nd4c_cl_fault_collect(nd4c_stream stream);
/* Gives what was read to a fence that has been recorded. Under the stream's lock. */
void nd4c_cl_fault_hand_over(nd4c_stream stream, nd4c_fence fence);
/* Waits for a read, once. */
void nd4c_cl_reading_wait(nd4c_cl_reading *reading);
/* Of one that was waited for: INDEX where a kernel told a fault; DEVICE where that cannot be known. */
nd4c_status nd4c_cl_reading_outcome(const nd4c_cl_device *device, const nd4c_cl_reading *reading);
/* Ends them: reads may still write to them. */
void nd4c_cl_readings_drop(nd4c_cl_reading *readings);
/* Of a stream that ends. */
void nd4c_cl_fault_free(nd4c_stream stream);

#endif
