/* Cancellation: stopping what a thread computes, from another thread or at a deadline.
 *
 * While a thread has entered a cancellation, each operation that it begins on any context asks it first: an eager call,
 * each step of a plan, each node of a model. After a request, or past the deadline, these are refused with CANCELLED or
 * DEADLINE. A kernel that works for long may ask in between (nd4c_call.cancellation), and stop.
 *
 * A refused eager call changes nothing. A plan that is stopped between its steps leaves the output arrays that it was
 * given without a value (POISONED when read) until they are written again, as after any failure; its inputs are whole.
 * What was submitted to an asynchronous device before goes on to its end.
 *
 *     nd4c_cancellation *limit = NULL;
 *     nd4c_cancellation_create(&limit);
 *     nd4c_cancellation_set_timeout(limit, 500000000);       // half a second from now
 *     nd4c_cancellation_enter(limit);
 *     status = nd4c_model_run(...);                          // DEADLINE if it takes longer
 *     nd4c_cancellation_leave(limit);
 *     nd4c_cancellation_destroy(limit);
 */
#ifndef ND4C_CANCELLATION_H
#define ND4C_CANCELLATION_H

#include <stdint.h>

#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_cancellation nd4c_cancellation;

/* How many a thread may have entered at once. */
#define ND4C_CANCELLATION_DEPTH 16

/* Makes one without a request and without a deadline; nd4c_cancellation_destroy ends it. Any thread. NULL_ARGUMENT,
 * MEMORY. */
ND4C_API nd4c_status nd4c_cancellation_create(nd4c_cancellation **cancellation);
/* Gives it up. Threads that have entered it keep it until they leave. NULL is fine. Any thread. */
ND4C_API void nd4c_cancellation_destroy(nd4c_cancellation *cancellation);

/* Asks the threads that have entered it, or will, to stop. Returns at once. Any thread, and a signal handler. HANDLE.
 */
ND4C_API nd4c_status nd4c_cancellation_request(nd4c_cancellation *cancellation);
/* Lets the deadline be so many nanoseconds from now; 0: none. Any thread. HANDLE; ARGUMENT for a negative number. */
ND4C_API nd4c_status nd4c_cancellation_set_timeout(nd4c_cancellation *cancellation, int64_t nanoseconds);
/* As it was made: no request, no deadline. Any thread. HANDLE. */
ND4C_API nd4c_status nd4c_cancellation_reset(nd4c_cancellation *cancellation);
/* OK, or CANCELLED after a request, else DEADLINE past the deadline. Any thread. HANDLE. */
ND4C_API nd4c_status nd4c_cancellation_check(const nd4c_cancellation *cancellation);

/* From here on the calling thread's operations ask it, beside those that it entered before. The same one may be entered
 * again, and by several threads. HANDLE; ARGUMENT beyond ND4C_CANCELLATION_DEPTH; MEMORY. */
ND4C_API nd4c_status nd4c_cancellation_enter(nd4c_cancellation *cancellation);
/* The calling thread leaves the one that it entered last. HANDLE; ARGUMENT if that is another one. */
ND4C_API nd4c_status nd4c_cancellation_leave(nd4c_cancellation *cancellation);

ND4C_EXTERN_C_END
#endif
