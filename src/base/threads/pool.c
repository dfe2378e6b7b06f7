/* Implements pool.h: waiting threads that parallel.c wakes for a loop. Only parallel.c calls it. */
#include "base/threads/pool.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/os.h"
#include "base/os_lock.h"

/* Waiting threads spin this long before they sleep: longer than the gap between two ops of a busy program, but much
 * shorter than a time slice. */
enum { SPIN_NANOSECONDS = 50000, SPINS_BETWEEN_LOOKS = 64 };

/* One thread; it lives as long as the process, since a thread of the application may still call at its end. `slot` is
 * its state: NULL idle, &busy_mark running, else a job for it. The caller may take back a job that the thread has not
 * started. */
typedef struct worker {
  _Atomic(nd4c_pool_job *) slot;
  _Atomic bool sleeping; /* the thread sleeps or is about to: wake it under the lock */
  _Atomic bool awaited;  /* a caller sleeps until the slot is empty */
  nd4c_lock lock;
  nd4c_condition changed;
  struct worker *next_idle, *next;
} worker;

static nd4c_pool_job busy_mark;

static nd4c_lock pool_lock = ND4C_LOCK_INIT;
static worker *all_workers, *idle_workers; /* under pool_lock */
static _Atomic uint32_t generation;        /* counts forks that this process is the child of */

/* True once the slot is (not) empty; false after the spinning time. */
static bool spin_until(worker *w, bool empty) {
  int64_t end = 0;
  for (;;) {
    for (int i = 0; i < SPINS_BETWEEN_LOOKS; i++) {
      if ((atomic_load_explicit(&w->slot, memory_order_acquire) == NULL) == empty) {
        return true;
      }
      nd4c_compiler_pause();
    }
    int64_t now = nd4c_os_nanoseconds();
    end = end == 0 ? now + SPIN_NANOSECONDS : end;
    if (now > end) {
      return false;
    }
  }
}

static void worker_sleep(worker *w) {
  nd4c_lock_acquire(&w->lock);
  atomic_store(&w->sleeping, true);
  while (atomic_load(&w->slot) == NULL) {
    nd4c_condition_wait(&w->changed, &w->lock);
  }
  atomic_store(&w->sleeping, false);
  nd4c_lock_release(&w->lock);
}

static void worker_wake(worker *w) {
  nd4c_lock_acquire(&w->lock);
  nd4c_condition_wake_all(&w->changed);
  nd4c_lock_release(&w->lock);
}

static void worker_main(void *argument) {
  worker *w = argument;
  for (;;) {
    if (!spin_until(w, false)) {
      worker_sleep(w);
    }
    nd4c_pool_job *job = atomic_load(&w->slot);
    if (job == NULL || !atomic_compare_exchange_strong(&w->slot, &job, &busy_mark)) {
      continue; /* taken back in the meantime */
    }
    nd4c_pool_job_run(job);
    /* From here on the job may have been freed. */
    atomic_store(&w->slot, NULL);
    if (atomic_load(&w->awaited)) {
      worker_wake(w);
    }
  }
}

static void worker_await(worker *w) {
  if (spin_until(w, true)) {
    return;
  }
  nd4c_lock_acquire(&w->lock);
  atomic_store(&w->awaited, true);
  while (atomic_load(&w->slot) != NULL) {
    nd4c_condition_wait(&w->changed, &w->lock);
  }
  atomic_store(&w->awaited, false);
  nd4c_lock_release(&w->lock);
}

static void worker_free(worker *w) {
  nd4c_condition_destroy(&w->changed);
  nd4c_lock_destroy(&w->lock);
  nd4c_deallocate(w);
}

/* pool_lock is held. NULL if the system cannot start more threads: the job then runs with a smaller team. */
static worker *worker_create(void) {
  worker *w = nd4c_allocate_zeroed(1, sizeof *w);
  if (w == NULL) {
    return NULL;
  }
  nd4c_lock_init(&w->lock);
  nd4c_condition_init(&w->changed);
  if (!nd4c_os_thread_start(worker_main, w)) {
    worker_free(w);
    return NULL;
  }
  w->next = all_workers;
  all_workers = w;
  return w;
}

/* Up to `count` idle workers as a list. */
static worker *helpers_take(int32_t count) {
  worker *helpers = NULL;
  nd4c_lock_acquire(&pool_lock);
  for (int32_t i = 0; i < count; i++) {
    worker *w = idle_workers;
    if (w != NULL) {
      idle_workers = w->next_idle;
    } else if ((w = worker_create()) == NULL) {
      break;
    }
    w->next_idle = helpers;
    helpers = w;
  }
  nd4c_lock_release(&pool_lock);
  return helpers;
}

static void helpers_give(worker *helpers) {
  nd4c_lock_acquire(&pool_lock);
  while (helpers != NULL) {
    worker *w = helpers;
    helpers = w->next_idle;
    w->next_idle = idle_workers;
    idle_workers = w;
  }
  nd4c_lock_release(&pool_lock);
}

void nd4c_pool_run(nd4c_pool_job *job, int32_t team) {
  uint32_t born = atomic_load(&generation);
  worker *helpers = helpers_take(team - 1);
  for (worker *w = helpers; w != NULL; w = w->next_idle) {
    atomic_store(&w->slot, job);
    if (atomic_load(&w->sleeping)) {
      worker_wake(w);
    }
  }
  nd4c_pool_job_run(job);
  if (atomic_load(&generation) != born) {
    return; /* a range forked, and this is the child, which has no helpers */
  }
  for (worker *w = helpers; w != NULL; w = w->next_idle) {
    nd4c_pool_job *expected = job;
    if (!atomic_compare_exchange_strong(&w->slot, &expected, NULL)) {
      worker_await(w);
    }
  }
  helpers_give(helpers);
}

void nd4c_pool_reset(void) {
  atomic_fetch_add(&generation, 1);
  /* The forking thread did not hold the lock; a thread of the parent may have, and cannot release it here. */
  nd4c_lock_init(&pool_lock);
  while (all_workers != NULL) {
    worker *w = all_workers;
    all_workers = w->next;
    nd4c_deallocate(w); /* a thread of the parent may hold its lock, so it is forgotten, not destroyed */
  }
  idle_workers = NULL;
}
