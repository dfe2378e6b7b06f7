/* The tracer: what moved and what ran where, while it is on. Off by default; then it costs one relaxed load where an
 * operation runs, memory is taken or bytes are copied. On, each thread records into a buffer of its own without a lock.
 *
 * Recorded are: executions of ops (op, device, kernel; on an asynchronous device the time until the work is submitted,
 * and the time that the device worked where its backend tells that, as OpenCL does for streams made while the tracer is
 * on), device transitions (a thread's execution on another device than its one before), copies between devices and
 * between the host and a device (bytes, nanoseconds, the op that asked), allocations and frees of device memory (arrays
 * of up to 256 bytes on the host are not among them: they come from lists of the thread's). Each belongs to a thread;
 * threads are numbered from 1 in the order in which they first recorded something.
 *
 * A round trip is flagged when bytes leave a device D for the host and come back to it for no reason of the user's:
 *  - a "bounce": a storage is copied from D to the host, and later from the host to D, and nothing wrote it in between.
 *    The op that caused it is the one for which it was copied to the host.
 *  - a "detour": an op runs on the host for which an input was copied there from D, and its result is then copied to D.
 *    The op that caused it is the one that ran on the host.
 *  - a "spill": a storage was copied from D to the host to make room there (nd4c.device.memory.spill), and comes back.
 *    The op that caused it is the one, or the function, for whose memory room was made.
 * What an array's user does by himself is no round trip, nor a part of one: writing on the host through
 * nd4c_array_data_mutable, moving by nd4c_array_migrate or nd4c_array_prefetch. Nor does a copy begin one for a plan's
 * step that runs where nd4c_placement put it; where another device had to take the step it may. */
#ifndef ND4C_TRACE_H
#define ND4C_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/device.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Starts recording anew; what a nd4c_trace_start before recorded is forgotten. `path`: file for nd4c_trace_stop to
 * write as a Chrome trace (chrome://tracing, Perfetto); NULL: none. Any thread.
 *
 * The property nd4j.multibackend.trace makes a recording of its own from when the first device is asked for: a word for
 * yes for the table alone, else the file's path, which has a '/' in it. The table goes to stderr when the property is
 * turned off or changed, or the process ends, also where nothing ran. A program may start and stop its own meanwhile:
 * neither ends the other, and each tells what happened while it was on, as far as the million events a thread go that
 * both share. */
ND4C_API nd4c_status nd4c_trace_start(const char *path);

/* Stops recording (what was recorded stays in memory, up to a million events a thread, until the next start) and
 * writes the file, if one was named. *table (NULL: not wanted) is the summary, as
 * nd4c_trace_report. ARGUMENT if no recording of nd4c_trace_start goes on; IO with the system's words if the file
 * cannot be written: the table is given all the same. */
ND4C_API nd4c_status nd4c_trace_stop(char **table);

/* True between nd4c_trace_start and nd4c_trace_stop, whatever the property records. */
ND4C_API bool nd4c_trace_is_on(void);

/* Summary of what was recorded since the last start, also after stop; where the program started nothing, or nothing
 * since the property began anew, of what the property recorded. Copies by pair of devices (count, bytes, time), ops by
 * device, memory by device, the same sums by thread (of many the busiest, and the others together), transitions by pair
 * of devices, round trips with the op that caused each. Free with nd4c_free. Threads may go on recording meanwhile. */
ND4C_API nd4c_status nd4c_trace_report(char **text);

/* Sums of what nd4c_trace_report tells of. */
typedef struct nd4c_trace_totals {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_trace_totals) */
  int64_t transitions;
  int64_t executions;
  int64_t copies, copied_bytes, copy_nanoseconds;
  int64_t allocations, allocated_bytes, frees;
  int64_t round_trips;
  int64_t dropped; /* events for which there was no room (a million a thread) or no memory */
  /* Appended; a shorter struct_size leaves it out. */
  int32_t threads; /* the highest number that a thread has; those that recorded before this began count */
  int64_t execute_nanoseconds; /* of executions on the calling threads: on an asynchronous device until submitted */
  int64_t device_timed;        /* executions whose device told how long it worked on them, and */
  int64_t device_nanoseconds;  /* how long that was */
} nd4c_trace_totals;

/* Fills the sums as far as struct_size reaches; from, to (NULL: any) narrow copies to those from and to a device,
 * executions, allocations and frees to those on `to`. HANDLE if one is no device of an open backend. */
ND4C_API nd4c_status nd4c_trace_get_totals(const nd4c_device *from, const nd4c_device *to, nd4c_trace_totals *totals);

/* The same of one thread, by its number; round trips are those that the thread made by itself. INDEX if no thread has
 * that number. */
ND4C_API nd4c_status nd4c_trace_get_thread_totals(int32_t thread, const nd4c_device *from, const nd4c_device *to,
                                                  nd4c_trace_totals *totals);

ND4C_EXTERN_C_END
#endif
