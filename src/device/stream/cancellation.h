/* Cancellation inside the library (nd4c/cancellation.h): what the calling thread has entered, and whether to stop.
 * submit, graph/modes, dispatch and the host table (device/memory/host.c) check it. */
#ifndef ND4C_DEVICE_STREAM_CANCELLATION_H
#define ND4C_DEVICE_STREAM_CANCELLATION_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "base/os_lock.h"
#include "device/stream/thread.h"
#include "nd4c/cancellation.h"
#include "nd4c/plugin/call.h"

/* The cancellations that a thread has entered, the innermost last. Only the thread writes it. Other threads read it
 * while they compute for a call of this thread, which waits for them. */
struct nd4c_cancellation_scope {
  int32_t count;
  nd4c_cancellation *entered[ND4C_CANCELLATION_DEPTH]; /* one reference each */
};

/* Number of entered cancellations in all threads. It is 0 in most programs, where a check costs one load. */
extern _Atomic int32_t nd4c_cancellations_entered;

/* The calling thread's scope, for nd4c_call.cancellation; NULL: it has entered none. */
static inline const nd4c_cancellation_scope *nd4c_cancellation_current(void) {
  if (ND4C_LIKELY(atomic_load_explicit(&nd4c_cancellations_entered, memory_order_relaxed) == 0)) {
    return NULL;
  }
  const nd4c_thread *thread = nd4c_thread_current;
  return thread != NULL && thread->cancellations != NULL && thread->cancellations->count > 0 ? thread->cancellations
                                                                                             : NULL;
}

/* OK, CANCELLED or DEADLINE; the outermost cancellation counts first. NULL: OK. */
nd4c_status nd4c_cancellation_check_scope(const nd4c_cancellation_scope *scope);

/* The same for the calling thread. */
static inline nd4c_status nd4c_cancellation_poll(void) {
  const nd4c_cancellation_scope *scope = nd4c_cancellation_current();
  return ND4C_LIKELY(scope == NULL) ? ND4C_OK : nd4c_cancellation_check_scope(scope);
}

/* Acquires a lock under which other threads may compute for long. A thread that has entered a cancellation looks at it
 * while it waits. CANCELLED, DEADLINE: the lock is not acquired. */
nd4c_status nd4c_cancellation_acquire(nd4c_lock *lock);

/* When a thread ends: leaves all that it has entered. */
void nd4c_cancellation_abandon(nd4c_thread *thread);

#endif
