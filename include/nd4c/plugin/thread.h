/* Locks, condition variables, threads and time, so that a backend does not call the system itself.
 *
 * Locks and condition variables are structs of a fixed size and not handles: a static one needs no code that makes it,
 * making one cannot fail, and one inside a record costs no allocation of its own. Zeros are an open lock and a
 * condition variable on which no thread waits (host->allocate gives zeros). They must not be moved or copied.
 *
 * A child of fork has one thread, the one that forked. Threads that a backend started do not exist there; a lock that
 * another thread held at the fork stays held for ever. nd4c calls no function of an asynchronous device in a child of
 * fork that was opened before the fork, so that a backend that takes its locks inside these functions needs no code for
 * it. */
#ifndef ND4C_PLUGIN_THREAD_H
#define ND4C_PLUGIN_THREAD_H

#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* The content is the host's. Large enough for any system's own lock: 40 bytes with glibc, 64 on macOS. */
typedef struct nd4c_host_lock {
  int64_t space[8];
} nd4c_host_lock;
typedef struct nd4c_host_condition {
  int64_t space[8];
} nd4c_host_condition;

typedef struct nd4c_host_thread nd4c_host_thread;

/* What a thread does. The status is the thread's outcome; a failure sets its text through host->fail, as everywhere. */
typedef nd4c_status (*nd4c_thread_function)(void *argument);

/* Every function may be called from any thread, unless stated otherwise. Static for the life of the process. */
typedef struct nd4c_host_threads {
  uint32_t struct_size;

  /* Blocks until the lock is free, then takes it. The thread must not hold it already. Without contention some ten
   * nanoseconds with lock_release; no allocation. */
  void (*lock_acquire)(nd4c_host_lock *lock);
  /* Does not block. Called by the thread that took the lock. */
  void (*lock_release)(nd4c_host_lock *lock);
  /* Ends the lock's life, before its memory is freed or zeroed for another use. No thread holds it or waits for it.
   * Does not block. A static lock needs none. */
  void (*lock_destroy)(nd4c_host_lock *lock);

  /* Releases the lock, which the calling thread holds, blocks until the condition is signalled, and takes the lock
   * again. It may also return without a signal: the caller tests what it waits for in a loop. */
  void (*condition_wait)(nd4c_host_condition *condition, nd4c_host_lock *lock);
  /* As condition_wait, but at most until nanoseconds() reaches `deadline`. False if that time has come; the lock is
   * held again then, too. */
  bool (*condition_wait_until)(nd4c_host_condition *condition, nd4c_host_lock *lock, int64_t deadline);
  /* Wakes at least one thread that waits, if any does. Does not block. Waking a thread that sleeps costs some
   * microseconds; without one it is some nanoseconds. */
  void (*condition_signal)(nd4c_host_condition *condition);
  /* Wakes all threads that wait. Does not block. */
  void (*condition_broadcast)(nd4c_host_condition *condition);
  /* As lock_destroy. May block until threads that were woken have left condition_wait. */
  void (*condition_destroy)(nd4c_host_condition *condition);

  /* Runs function(argument) on a new thread. `name` is for debuggers: its first 15 bytes are shown; NULL: "nd4c".
   * stack_bytes 0: the system's default, usually 8 MiB; else it is rounded up to whole pages and the system's least.
   * Signals are blocked in the thread, so that handlers run on the application's own threads. On success *thread is a
   * handle, which thread_join frees. ARGUMENT: stack_bytes is negative or above 1 GiB; MEMORY; DEVICE: the system
   * starts no more threads. Does not block; costs some tens of microseconds and one allocation. */
  nd4c_status (*thread_start)(const char *name, int64_t stack_bytes, nd4c_thread_function function, void *argument,
                              nd4c_host_thread **thread);
  /* Blocks until the thread's function has returned, and frees the handle. Returns what the function returned; of a
   * failure the text becomes the calling thread's. In a child of fork a thread of the parent is not waited for: DEVICE,
   * and the handle is freed. Exactly once for each thread, not by the thread itself. */
  nd4c_status (*thread_join)(nd4c_host_thread *thread);

  /* Monotonic time; of use for differences and deadlines only. Does not block; some 30 ns. */
  int64_t (*nanoseconds)(void);
  /* Blocks the calling thread for so long; a signal may end it early. 0 or less returns at once. */
  void (*sleep)(int64_t nanoseconds);
  /* Lets another thread that is ready run first. Does not block; some hundred nanoseconds. */
  void (*yield)(void);
} nd4c_host_threads;

ND4C_EXTERN_C_END
#endif
