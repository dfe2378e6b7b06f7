/* How many of the locks that storages share the thread holds. A thread that holds one must not wait for submitted work:
 * the work may need what another thread has yet to submit, and that thread may need the lock. storage.c counts; what
 * waits for a device asks. */
#ifndef ND4C_DEVICE_SHARED_LOCKS_H
#define ND4C_DEVICE_SHARED_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

extern ND4C_FAST_THREAD_LOCAL int32_t nd4c_shared_locks_held;

/* Whether the thread may wait for submitted work. */
static inline bool nd4c_shared_locks_allow_wait(void) {
  return nd4c_shared_locks_held == 0;
}

/* Notes a wait for submitted work that a thread makes although it holds such a lock. A debug build aborts. */
void nd4c_shared_locks_note_wait(void);
/* Such waits since the process began. Tests expect none. */
int64_t nd4c_shared_locks_waits(void);

#endif
