/* Locks, condition variables, threads and time for backends, which must not call the operating system themselves.
 *
 * Locks and condition variables are structs of a fixed size, not handles. A static one needs no initialisation,
 * initialising one cannot fail, and one inside another struct needs no allocation. All zeros (as host->allocate gives)
 * are an unlocked lock, and a condition variable on which no thread waits. They must not be moved or copied.
 *
 * A child of fork has one thread, the one that forked. Threads that a backend started do not exist there, and a lock
 * that another thread held at the fork stays locked for ever. In a child nd4c calls no function of an asynchronous
 * device that was opened before the fork. A backend that takes its locks only inside such functions therefore needs no
 * code for fork. */
#ifndef ND4C_PLUGIN_THREAD_H
#define ND4C_PLUGIN_THREAD_H

#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Opaque to backends. Large enough for the lock of any system: 40 bytes with glibc, 64 on macOS. */
typedef struct nd4c_host_lock {
  int64_t space[8];
} nd4c_host_lock;
typedef struct nd4c_host_condition {
  int64_t space[8];
} nd4c_host_condition;

typedef struct nd4c_host_thread nd4c_host_thread;

/* The function of a thread. thread_join returns its status; a failure sets its text through host->fail. */
typedef nd4c_status (*nd4c_thread_function)(void *argument);

/* Any thread may call any function, unless stated otherwise. Static for the life of the process. */
typedef struct nd4c_host_threads {
  uint32_t struct_size;

  /* Blocks until the lock is free, then takes it. Not recursive: the thread must not hold it already. Without
   * contention it takes about ten nanoseconds, including lock_release. Does not allocate. */
  void (*lock_acquire)(nd4c_host_lock *lock);
  /* Releases the lock. Only the thread that took the lock may call this. Does not block. */
  void (*lock_release)(nd4c_host_lock *lock);
  /* Destroys the lock, before its memory is freed or zeroed for another use. No thread may hold it or wait for it. Does
   * not block. Not needed for a static lock. */
  void (*lock_destroy)(nd4c_host_lock *lock);

  /* Releases the lock, which the calling thread holds, blocks until the condition is signalled, and takes the lock
   * again. It may return without a signal, so call it in a loop that tests the condition. */
  void (*condition_wait)(nd4c_host_condition *condition, nd4c_host_lock *lock);
  /* As condition_wait, but waits at most until nanoseconds() reaches `deadline`. False if the deadline has passed; the
   * thread holds the lock in that case, too. */
  bool (*condition_wait_until)(nd4c_host_condition *condition, nd4c_host_lock *lock, int64_t deadline);
  /* Wakes at least one waiting thread, if there is one. Does not block. Costs some microseconds if a thread is asleep,
   * else some nanoseconds. */
  void (*condition_signal)(nd4c_host_condition *condition);
  /* Wakes all waiting threads. Does not block. */
  void (*condition_broadcast)(nd4c_host_condition *condition);
  /* Destroys the condition variable, as lock_destroy. May block until woken threads have left condition_wait. */
  void (*condition_destroy)(nd4c_host_condition *condition);

  /* Runs function(argument) on a new thread. `name` is for debuggers: its first 15 bytes are shown; NULL: "nd4c".
   * stack_bytes is rounded up to whole pages and the system's minimum; 0: the system's default, usually 8 MiB. The
   * thread blocks signals, so that handlers run on the application's own threads. On success *thread is a handle, which
   * thread_join frees. ARGUMENT: stack_bytes is negative or above 1 GiB; MEMORY; DEVICE: the system cannot start more
   * threads. Does not block; costs some tens of microseconds and one allocation. */
  nd4c_status (*thread_start)(const char *name, int64_t stack_bytes, nd4c_thread_function function, void *argument,
                              nd4c_host_thread **thread);
  /* Blocks until the thread's function has returned, and frees the handle. Returns the function's status; the text of a
   * failure becomes the calling thread's error text. In a child of fork it does not wait for a thread of the parent: it
   * returns DEVICE, and frees the handle. Call it exactly once for each thread, from another thread. */
  nd4c_status (*thread_join)(nd4c_host_thread *thread);

  /* Monotonic time in nanoseconds, for differences and deadlines only. Does not block; costs about 30 ns. */
  int64_t (*nanoseconds)(void);
  /* Blocks the calling thread for that time; a signal may end the sleep early. Returns at once for 0 or less. */
  void (*sleep)(int64_t nanoseconds);
  /* Lets another runnable thread run. Does not block; costs some hundred nanoseconds. */
  void (*yield)(void);
} nd4c_host_threads;

/* The OpenMP under a library that nd4c_host.openmp_open opened. */
typedef struct nd4c_host_openmp {
  uint32_t struct_size;
  bool on_pool; /* the library's regions run on nd4c's threads; FE_INVALID of each is raised in the caller, too */
  /* How many threads the regions have that the calling thread opens next, through this library or any other on the
   * same threads. All three are NULL in a library without OpenMP. */
  void (*set_num_threads)(int threads);
  int (*get_max_threads)(void);
  /* 0 if the library kept its own runtime and this is a child of fork: regions then have one thread, and the number
   * should be set to 1, because a library may count on threads that it was promised. Else 1 or more. */
  int (*get_max_active_levels)(void);
  /* For people: which threads the regions run on, and why ("on nd4c's threads"). Static. */
  const char *text;
  /* The program had loaded the library before nd4c: other threads may be in it. */
  bool was_loaded;
} nd4c_host_openmp;

ND4C_EXTERN_C_END
#endif
