/* The tracer records which ops ran where and which bytes were copied. It is off by default, and then costs one relaxed
 * load for each operation, allocation and copy. While it is on, each thread records into its own buffer, without a
 * lock.
 *
 * It records executions of ops with op, device, kernel and time. On an asynchronous device this is the time until the
 * work is submitted; if the backend reports it, the time that the device worked is recorded, too (OpenCL reports it for
 * streams that were created while the tracer was on). It also records device transitions (a thread executes an op on
 * another device than its previous one), copies between devices and between the host and a device (bytes, nanoseconds,
 * the op that asked), and allocations and frees of device memory (except host arrays of up to 256 bytes, which come
 * from per-thread lists). Each event belongs to a thread; threads are numbered from 1 in the order of their first
 * event.
 *
 * A round trip is flagged when bytes leave a device D for the host and come back to it without the program having
 * asked:
 *  - a "bounce": a storage is copied from D to the host and later back to D, without a write in between. It is
 *    attributed to the op for which the storage was copied to the host.
 *  - a "detour": an op runs on the host, an input was copied there from D for it, and its result is then copied to D.
 *    It is attributed to the op that ran on the host.
 *  - a "spill": a storage was copied from D to the host to free memory on D (nd4c.device.memory.spill), and is copied
 *    back. It is attributed to the op or function that needed the memory.
 * Explicit actions of the program are never part of a round trip: writing on the host through nd4c_array_data_mutable,
 * moving by nd4c_array_migrate or nd4c_array_prefetch. A copy for a step of a plan does not begin a round trip if the
 * step runs on the device that nd4c_placement gave it; it may if another device had to run the step. */
#ifndef ND4C_TRACE_H
#define ND4C_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/device.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Starts a new recording and discards the previous one. `path`: the file that nd4c_trace_stop writes, in the format of
 * Chrome traces (chrome://tracing, Perfetto); NULL: no file. Any thread.
 *
 * The property nd4j.multibackend.trace makes a second recording, from the first use of a device on. The table of
 * nd4c_trace_report for this recording is written to stderr when the property is turned off or changed and when the
 * process ends, even if nothing ran. The property's value is "true" (or another word of a bool) for the table alone, or
 * the path of a trace file, which must contain a '/'. A program may start and stop its own recording meanwhile: the two
 * are independent, but share the limit of a million events per thread. */
ND4C_API nd4c_status nd4c_trace_start(const char *path);

/* Stops the recording and writes the file, if one was named. The events (up to a million per thread) stay in memory
 * until the next start. *table (may be NULL) receives the summary, as nd4c_trace_report. ARGUMENT if nd4c_trace_start
 * has not started a recording; IO with the system's error if the file cannot be written: the table is given all the
 * same. */
ND4C_API nd4c_status nd4c_trace_stop(char **table);

/* True between nd4c_trace_start and nd4c_trace_stop. The property's recording does not count. */
ND4C_API bool nd4c_trace_is_on(void);

/* Summary of a recording, as a table. The recording is the program's, running or stopped, if the program has started
 * one since the property started its recording; otherwise it is the property's. The table lists copies by pair of
 * devices (count, bytes, time), ops by device, memory by device, the same sums by thread (if there are many, the
 * busiest ones and the sum of the others), transitions by pair of devices, and round trips with the op that caused
 * each. Free with nd4c_free. Threads may go on recording meanwhile. */
ND4C_API nd4c_status nd4c_trace_report(char **text);

/* The sums that nd4c_trace_report prints. */
typedef struct nd4c_trace_totals {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_trace_totals) */
  int64_t transitions;
  int64_t executions;
  int64_t copies, copied_bytes, copy_nanoseconds;
  int64_t allocations, allocated_bytes, frees;
  int64_t round_trips;
  int64_t dropped; /* events lost because a thread had a million already, or memory was short */
  /* Appended; a shorter struct_size leaves them out. */
  int32_t threads;             /* highest thread number; includes threads that recorded only before this recording */
  int64_t execute_nanoseconds; /* time of the calling threads in executions; on an asynchronous device until the work is
                                  submitted */
  int64_t device_timed;        /* executions for which the device reported its own time, and */
  int64_t device_nanoseconds;  /* the sum of those times */
} nd4c_trace_totals;

/* Fills the sums as far as struct_size reaches. `from` and `to` (NULL: any) restrict copies to those from and to a
 * device; `to` also restricts executions, allocations and frees to those on that device. HANDLE if one is not a device
 * of an open backend. */
ND4C_API nd4c_status nd4c_trace_get_totals(const nd4c_device *from, const nd4c_device *to, nd4c_trace_totals *totals);

/* As nd4c_trace_get_totals for one thread, by its number; counts the round trips that lie entirely in that thread.
 * INDEX if no thread has that number. */
ND4C_API nd4c_status nd4c_trace_get_thread_totals(int32_t thread, const nd4c_device *from, const nd4c_device *to,
                                                  nd4c_trace_totals *totals);

ND4C_EXTERN_C_END
#endif
