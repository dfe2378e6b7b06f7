/* Cancellation: stopping what a thread computes, from another thread or at a deadline.
 *
 * While a thread has entered a cancellation, each operation that it begins, on any context, checks the cancellation
 * first: each eager call, each step of a plan, each node of a model. After a request the operation is refused with
 * CANCELLED, past the deadline with DEADLINE. A long-running kernel may check it while it runs
 * (nd4c_call.cancellation), and stop early. So do functions that work for long without a kernel, between the nodes of a
 * graph: the import of a model, nd4c_plan_create and a run that makes a binding, nd4c_graph_optimize, _explain, _bind
 * and _gradient, and calibration. The text then names the pass, another stage of planning, or the node; nothing has
 * changed, and a later call may succeed.
 *
 * On the CPU, reductions (sums, products, extremes, norms, counts, variances, logsumexp) check as they run: a view that
 * repeats elements (broadcast_to) may have more of them than memory. All other kernels do not check: one that has begun
 * ends, however long that takes, and a run whose last kernel had begun by the deadline succeeds. That goes for
 * factorisations, too: LAPACK's functions cannot be stopped, and a svd of thousands of rows takes minutes.
 *
 * A refused eager call changes nothing. One that is stopped while its kernel runs returns no fresh array, and an array
 * that was given for its result has no value: reading it fails as the call did, until it is written again. If a plan is
 * stopped between two steps, the caller's output arrays have no value, as after any failure: reading them gives
 * POISONED until they are written again. The plan's inputs are unchanged. Work that was already submitted to an
 * asynchronous device runs to completion.
 *
 *     nd4c_cancellation *limit = NULL;
 *     nd4c_cancellation_create(&limit);
 *     nd4c_cancellation_set_timeout(limit, 500000000);       // half a second from now
 *     nd4c_cancellation_enter(limit);
 *     status = nd4c_model_run(...);                          // DEADLINE if a kernel would begin later
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

/* How many cancellations a thread may have entered at once. */
#define ND4C_CANCELLATION_DEPTH 16

/* Creates a cancellation without a request and without a deadline. The caller frees it with nd4c_cancellation_destroy.
 * Any thread. NULL_ARGUMENT, MEMORY. */
ND4C_API nd4c_status nd4c_cancellation_create(nd4c_cancellation **cancellation);
/* Releases the caller's reference. Threads that have entered it keep it alive until they leave. NULL is fine. Any
 * thread. */
ND4C_API void nd4c_cancellation_destroy(nd4c_cancellation *cancellation);

/* Asks all threads that have entered it, or enter it later, to stop. Returns at once. May be called from any thread and
 * from a signal handler. HANDLE. */
ND4C_API nd4c_status nd4c_cancellation_request(nd4c_cancellation *cancellation);
/* Sets the deadline to `nanoseconds` from now; 0 removes it. Any thread. HANDLE; ARGUMENT for a negative number. */
ND4C_API nd4c_status nd4c_cancellation_set_timeout(nd4c_cancellation *cancellation, int64_t nanoseconds);
/* Removes the request and the deadline. Any thread. HANDLE. */
ND4C_API nd4c_status nd4c_cancellation_reset(nd4c_cancellation *cancellation);
/* OK, or CANCELLED after a request, else DEADLINE past the deadline. Any thread. HANDLE. */
ND4C_API nd4c_status nd4c_cancellation_check(const nd4c_cancellation *cancellation);

/* From now on the calling thread's operations check this cancellation, besides those that the thread entered before. A
 * thread may enter the same one again, and several threads may enter it. HANDLE; ARGUMENT beyond
 * ND4C_CANCELLATION_DEPTH; MEMORY. */
ND4C_API nd4c_status nd4c_cancellation_enter(nd4c_cancellation *cancellation);
/* The calling thread leaves the cancellation that it entered last. HANDLE; ARGUMENT if it entered another one last. */
ND4C_API nd4c_status nd4c_cancellation_leave(nd4c_cancellation *cancellation);

ND4C_EXTERN_C_END
#endif
