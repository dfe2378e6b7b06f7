/* A thread that holds a lock that storages share must not wait for submitted work: that work may depend on work that
 * another thread has not submitted yet, and that thread may need the lock. device/storage calls functions that could
 * wait between nd4c_shared_locks_enter and nd4c_shared_locks_leave; functions of this folder that wait for a device ask
 * first. A debug build enters with every such lock, so that it finds all waits; a release build saves that time. */
#ifndef ND4C_DEVICE_STREAM_SHARED_LOCKS_H
#define ND4C_DEVICE_STREAM_SHARED_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

extern ND4C_FAST_THREAD_LOCAL int32_t nd4c_shared_locks_entered;

static inline void nd4c_shared_locks_enter(void) {
  nd4c_shared_locks_entered++;
}
static inline void nd4c_shared_locks_leave(void) {
  nd4c_shared_locks_entered--;
}
/* Whether the thread may wait for submitted work. */
static inline bool nd4c_shared_locks_allow_wait(void) {
  return nd4c_shared_locks_entered == 0;
}

/* Notes a wait for submitted work that a thread makes although it must not. A debug build aborts. */
void nd4c_shared_locks_note_wait(void);
/* Such waits since the process began. Tests expect none. */
int64_t nd4c_shared_locks_waits(void);

#endif
