/* Implements thread.h: makes the state of a thread, and runs the hooks of the layers above when the thread ends.
 * exit_and_fork.c and device/access/memory_query.c ask about all threads. */
#include "device/stream/thread.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/stream/cancellation.h"

static nd4c_once key_once = ND4C_ONCE_INIT;
static nd4c_thread_key key;
static nd4c_lock list_lock = ND4C_LOCK_INIT;
static nd4c_thread *list;
/* Accounts of threads that have ended, under list_lock. */
static int64_t ended_live_bytes, ended_live_count, ended_total_count, ended_hits;

ND4C_FAST_THREAD_LOCAL nd4c_thread *nd4c_thread_current;

static void end_thread(void *argument) {
  nd4c_thread *thread = argument;
  nd4c_thread_current = thread; /* what is freed below may free small storages */
  if (thread->calls_destroy != NULL) {
    thread->calls_destroy(thread->calls);
  }
  nd4c_deallocate(thread->decisions);
  nd4c_cancellation_abandon(thread);
  for (int order = 0; order < ND4C_THREAD_END_ORDERS; order++) {
    ND4C_HOOK_EACH(thread_hooks, nd4c_thread_hook, hook) {
      if ((int)hook->order == order) {
        hook->end(thread);
      }
    }
  }
  nd4c_lock_acquire(&list_lock);
  ended_live_bytes += atomic_load(&thread->small_live_bytes);
  ended_live_count += atomic_load(&thread->small_live_count);
  ended_total_count += atomic_load(&thread->small_total_count);
  ended_hits += atomic_load(&thread->small_hits);
  if (thread->previous != NULL) {
    thread->previous->next = thread->next;
  } else {
    list = thread->next;
  }
  if (thread->next != NULL) {
    thread->next->previous = thread->previous;
  }
  nd4c_lock_release(&list_lock);
  nd4c_thread_current = NULL;
  nd4c_deallocate(thread);
}

static void make_key(void) {
  (void)nd4c_thread_key_make(&key, end_thread);
}

nd4c_thread *nd4c_thread_make(void) {
  nd4c_once_run(&key_once, make_key);
  nd4c_thread *thread = nd4c_allocate_zeroed(1, sizeof *thread);
  if (thread == NULL) {
    (void)nd4c_fail_memory("a thread's state", sizeof *thread);
    return NULL;
  }
  if (!nd4c_thread_key_set(key, thread)) {
    nd4c_deallocate(thread);
    (void)nd4c_fail_memory("a thread's state", sizeof *thread);
    return NULL;
  }
  nd4c_lock_acquire(&list_lock);
  thread->next = list;
  if (list != NULL) {
    list->previous = thread;
  }
  list = thread;
  nd4c_lock_release(&list_lock);
  nd4c_thread_current = thread;
  return thread;
}

bool nd4c_thread_has_others(void) {
  nd4c_lock_acquire(&list_lock);
  bool others = list != NULL && (list != nd4c_thread_current || list->next != NULL);
  nd4c_lock_release(&list_lock);
  return others;
}

void nd4c_thread_sum_small(int64_t *live_bytes, int64_t *live_count, int64_t *total_count, int64_t *hits,
                           int64_t *cached_count) {
  nd4c_lock_acquire(&list_lock);
  *live_bytes = ended_live_bytes;
  *live_count = ended_live_count;
  *total_count = ended_total_count;
  *hits = ended_hits;
  *cached_count = 0;
  for (nd4c_thread *thread = list; thread != NULL; thread = thread->next) {
    *live_bytes += atomic_load_explicit(&thread->small_live_bytes, memory_order_relaxed);
    *live_count += atomic_load_explicit(&thread->small_live_count, memory_order_relaxed);
    *total_count += atomic_load_explicit(&thread->small_total_count, memory_order_relaxed);
    *hits += atomic_load_explicit(&thread->small_hits, memory_order_relaxed);
    *cached_count += atomic_load_explicit(&thread->small_free_count, memory_order_relaxed);
  }
  nd4c_lock_release(&list_lock);
}
