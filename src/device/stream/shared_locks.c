/* Implements shared_locks.h: counts waits that a thread makes although it must not. timeline_marks.c reports them
 * before it waits for a device; tests read the count. */
#include "device/stream/shared_locks.h"

#include <assert.h>
#include <stdatomic.h>

ND4C_FAST_THREAD_LOCAL int32_t nd4c_shared_locks_entered;
static _Atomic int64_t waits;

void nd4c_shared_locks_note_wait(void) {
  atomic_fetch_add_explicit(&waits, 1, memory_order_relaxed);
  assert(!"a thread waits for a device while it holds a lock that storages share");
}

int64_t nd4c_shared_locks_waits(void) {
  return atomic_load_explicit(&waits, memory_order_relaxed);
}
