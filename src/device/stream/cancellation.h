/* Cancellation as submissions see it: what the calling thread has entered, and whether to stop. */
#ifndef ND4C_DEVICE_CANCELLATION_H
#define ND4C_DEVICE_CANCELLATION_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "device/stream/thread.h"
#include "nd4c/cancellation.h"
#include "nd4c/plugin/call.h"

/* What a thread has entered, the innermost last. Written by the thread alone; other threads read it while they compute
 * for a call of this thread's, which waits for them. */
struct nd4c_cancellation_scope {
  int32_t count;
  nd4c_cancellation *entered[ND4C_CANCELLATION_DEPTH]; /* one reference each */
};

/* Over all threads: how many cancellations are entered. 0 in most programs: asking costs one load then. */
extern _Atomic int32_t nd4c_cancellations_entered;

/* The calling thread's, for nd4c_call.cancellation; NULL: it has entered none. */
static inline const nd4c_cancellation_scope *nd4c_cancellation_current(void) {
  if (ND4C_LIKELY(atomic_load_explicit(&nd4c_cancellations_entered, memory_order_relaxed) == 0)) {
    return NULL;
  }
  const nd4c_thread *thread = nd4c_thread_current;
  return thread != NULL && thread->cancellations != NULL && thread->cancellations->count > 0 ? thread->cancellations
                                                                                             : NULL;
}

/* OK, CANCELLED or DEADLINE, the outermost's first. NULL: OK. */
nd4c_status nd4c_cancellation_check_scope(const nd4c_cancellation_scope *scope);

/* The same for the calling thread. */
static inline nd4c_status nd4c_cancellation_poll(void) {
  const nd4c_cancellation_scope *scope = nd4c_cancellation_current();
  return ND4C_LIKELY(scope == NULL) ? ND4C_OK : nd4c_cancellation_check_scope(scope);
}

/* A thread that ends leaves all that it has entered. */
void nd4c_cancellation_abandon(nd4c_thread *thread);

#endif
