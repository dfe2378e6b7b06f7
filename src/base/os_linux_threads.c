/* Implements os.h and os_lock.h for Linux: threads, the functions of locks that no hot path needs, and the table of
 * both for backends (nd4c/plugin/thread.h). threads/pool.c and device/stream/exit_and_fork.c start threads here. */
#define _GNU_SOURCE /* pthread_setname_np, pthread_cond_clockwait, syscall */

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/status.h"

/* -- locks and condition variables --------------------------------------------------------------------------------- */

void nd4c_lock_init_recursive(nd4c_lock *lock) {
  pthread_mutexattr_t attributes;
  (void)pthread_mutexattr_init(&attributes);
  (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  (void)pthread_mutex_init(lock, &attributes);
  (void)pthread_mutexattr_destroy(&attributes);
}

bool nd4c_condition_wait_until(nd4c_condition *condition, nd4c_lock *lock, int64_t deadline) {
  const int64_t second = 1000000000, until = deadline > 0 ? deadline : 0;
  const struct timespec time = {.tv_sec = (time_t)(until / second), .tv_nsec = (long)(until % second)};
  (void)pthread_cond_clockwait(condition, lock, CLOCK_MONOTONIC, &time);
  return nd4c_os_nanoseconds() < deadline;
}

void nd4c_os_wait(const _Atomic uint32_t *word, uint32_t expected) {
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

void nd4c_os_wake(const _Atomic uint32_t *word, int32_t count) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* The functions for backends. A host lock is a struct of a fixed size that begins with a lock of os_lock.h. */
_Static_assert(sizeof(nd4c_lock) <= sizeof(nd4c_host_lock), "a lock of the system's does not fit");
_Static_assert(sizeof(nd4c_condition) <= sizeof(nd4c_host_condition), "a condition of the system's does not fit");

/* In glibc and musl the static initialisers are zeros, so zeroed locks need no initialisation. */
static nd4c_lock *lock_of(nd4c_host_lock *lock) {
  return (nd4c_lock *)(void *)lock;
}
static nd4c_condition *condition_of(nd4c_host_condition *condition) {
  return (nd4c_condition *)(void *)condition;
}

static void lock_acquire(nd4c_host_lock *lock) {
  nd4c_lock_acquire(lock_of(lock));
}

static void lock_release(nd4c_host_lock *lock) {
  nd4c_lock_release(lock_of(lock));
}

static void lock_destroy(nd4c_host_lock *lock) {
  nd4c_lock_destroy(lock_of(lock));
}

static void condition_wait(nd4c_host_condition *condition, nd4c_host_lock *lock) {
  nd4c_condition_wait(condition_of(condition), lock_of(lock));
}

static bool condition_wait_until(nd4c_host_condition *condition, nd4c_host_lock *lock, int64_t deadline) {
  return nd4c_condition_wait_until(condition_of(condition), lock_of(lock), deadline);
}

static void condition_signal(nd4c_host_condition *condition) {
  nd4c_condition_wake_one(condition_of(condition));
}

static void condition_broadcast(nd4c_host_condition *condition) {
  nd4c_condition_wake_all(condition_of(condition));
}

static void condition_destroy(nd4c_host_condition *condition) {
  nd4c_condition_destroy(condition_of(condition));
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

/* A thread inherits the mask: with everything blocked, handlers run on the application's own threads only. */
static int create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                         void *argument) {
  sigset_t all, before;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  int code = pthread_create(thread, attributes, function, argument);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return code;
}

typedef struct thread_start {
  void (*function)(void *argument);
  void *argument;
} thread_start;

static void *thread_main(void *argument) {
  thread_start start = *(thread_start *)argument;
  nd4c_deallocate(argument);
  start.function(start.argument);
  return NULL;
}

bool nd4c_os_thread_start(void (*function)(void *argument), void *argument) {
  thread_start *start = nd4c_allocate(sizeof *start);
  if (start == NULL) {
    return false;
  }
  *start = (thread_start){function, argument};
  pthread_t made;
  if (create_thread(&made, NULL, thread_main, start) != 0) {
    nd4c_deallocate(start);
    return false;
  }
  (void)pthread_detach(made);
  return true;
}

enum { NAME_SIZE = 16, TEXT_SIZE = 1024 };

struct nd4c_host_thread {
  pthread_t thread;
  int64_t process; /* the process that started the thread: it does not exist in a child of fork */
  nd4c_thread_function function;
  void *argument;
  char name[NAME_SIZE];
  nd4c_status status;
  char text[TEXT_SIZE];
};

static void *host_thread_main(void *argument) {
  nd4c_host_thread *thread = argument;
  (void)pthread_setname_np(pthread_self(), thread->name);
  nd4c_error_expect();
  thread->status = thread->function(thread->argument);
  if (thread->status != ND4C_OK) {
    const bool worded = nd4c_error_answer() == thread->status;
    (void)snprintf(thread->text, sizeof thread->text, "%.900s",
                   worded ? nd4c_error_message() : nd4c_status_text(thread->status));
  }
  return NULL;
}

/* Rounds up to whole pages and the system's minimum. */
static int set_stack(pthread_attr_t *attributes, int64_t bytes) {
  const size_t page = nd4c_os_page_size(), least = (size_t)PTHREAD_STACK_MIN;
  const size_t wanted = (size_t)bytes > least ? (size_t)bytes : least;
  return bytes == 0 ? 0 : pthread_attr_setstacksize(attributes, (wanted + page - 1) / page * page);
}

static nd4c_status host_thread_start(const char *name, int64_t stack_bytes, nd4c_thread_function function,
                                     void *argument, nd4c_host_thread **out) {
  const int64_t largest = INT64_C(1) << 30;
  *out = NULL;
  if (stack_bytes < 0 || stack_bytes > largest) {
    return nd4c_fail(ND4C_ARGUMENT, "thread %s: a stack of %lld bytes, expected 0 to %lld",
                     name != NULL ? name : "nd4c", (long long)stack_bytes, (long long)largest);
  }
  nd4c_host_thread *thread = nd4c_allocate_zeroed(1, sizeof *thread);
  if (thread == NULL) {
    return nd4c_fail_memory("a thread", sizeof *thread);
  }
  thread->process = nd4c_os_process();
  thread->function = function;
  thread->argument = argument;
  (void)snprintf(thread->name, sizeof thread->name, "%.15s", name != NULL ? name : "nd4c");
  pthread_attr_t attributes;
  int code = pthread_attr_init(&attributes);
  if (code == 0) {
    code = set_stack(&attributes, stack_bytes);
    code = code == 0 ? create_thread(&thread->thread, &attributes, host_thread_main, thread) : code;
    (void)pthread_attr_destroy(&attributes);
  }
  if (code != 0) {
    nd4c_status status = nd4c_fail(ND4C_DEVICE, "thread %s could not be started: %s", thread->name, strerror(code));
    nd4c_deallocate(thread);
    return status;
  }
  *out = thread;
  return ND4C_OK;
}

static nd4c_status host_thread_join(nd4c_host_thread *thread) {
  nd4c_status status = ND4C_OK;
  if (thread->process != nd4c_os_process()) {
    status = nd4c_fail(ND4C_DEVICE,
                       "thread %s is not in this process: it was started before the fork, which only the calling "
                       "thread passes",
                       thread->name);
  } else if (pthread_join(thread->thread, NULL) != 0) {
    return nd4c_fail(ND4C_INTERNAL, "thread %s cannot be joined: by itself, or a second time", thread->name);
  } else if (thread->status != ND4C_OK) {
    status = nd4c_fail(thread->status, "%s", thread->text);
  }
  nd4c_deallocate(thread);
  return status;
}

static void yield(void) {
  (void)sched_yield();
}

const nd4c_host_threads nd4c_os_threads = {
    .struct_size = ND4C_SIZE_OF(nd4c_host_threads),
    .lock_acquire = lock_acquire,
    .lock_release = lock_release,
    .lock_destroy = lock_destroy,
    .condition_wait = condition_wait,
    .condition_wait_until = condition_wait_until,
    .condition_signal = condition_signal,
    .condition_broadcast = condition_broadcast,
    .condition_destroy = condition_destroy,
    .thread_start = host_thread_start,
    .thread_join = host_thread_join,
    .nanoseconds = nd4c_os_nanoseconds,
    .sleep = nd4c_os_sleep,
    .yield = yield,
};
