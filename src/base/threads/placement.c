/* Implements placement.h: which processor the threads of the pool are kept off, and when that changes. */
#include "base/threads/placement.h"

#include <stdatomic.h>
#include <stdint.h>

#include "base/os.h"
#include "base/os_lock.h"

/* MOST_THREADS: with more, some processor is free whatever the kernel does, and moving them all takes too long.
 * CHANGE_NANOSECONDS: from one change to the next at least, since callers on several processors would move the threads
 * to and fro. NONE: the threads may run anywhere. */
enum { MOST_THREADS = 16, CHANGE_NANOSECONDS = 1000000, NONE = -1 };

static nd4c_lock placement_lock = ND4C_LOCK_INIT;
static nd4c_os_placement threads[MOST_THREADS]; /* under placement_lock, as all but left_free */
static int32_t thread_count;
static int64_t change_from;
static _Atomic int32_t left_free = NONE; /* the processor that the threads are kept off; written under placement_lock */

void nd4c_placement_join(void) {
  nd4c_lock_acquire(&placement_lock);
  if (thread_count < MOST_THREADS && nd4c_os_placement_read(&threads[thread_count])) {
    nd4c_os_placement_avoid(&threads[thread_count], atomic_load(&left_free));
    thread_count++;
  }
  nd4c_lock_release(&placement_lock);
}

static void change(int32_t processor) {
  for (int32_t i = 0; i < thread_count; i++) {
    nd4c_os_placement_avoid(&threads[i], processor);
  }
  atomic_store(&left_free, processor);
}

void nd4c_placement_leave_caller(void) {
  const int32_t processor = nd4c_os_processor();
  if (processor == atomic_load_explicit(&left_free, memory_order_relaxed) || processor < 0 ||
      !nd4c_lock_try(&placement_lock)) {
    return;
  }
  const int64_t now = nd4c_os_nanoseconds();
  if (now >= change_from) {
    change_from = now + CHANGE_NANOSECONDS;
    change(processor);
  }
  nd4c_lock_release(&placement_lock);
}

void nd4c_placement_free(void) {
  if (atomic_load_explicit(&left_free, memory_order_relaxed) != NONE && nd4c_lock_try(&placement_lock)) {
    change(NONE);
    nd4c_lock_release(&placement_lock);
  }
}

void nd4c_placement_reset(void) {
  nd4c_lock_init(&placement_lock);
  thread_count = 0;
  change_from = 0;
  atomic_store(&left_free, NONE);
}
