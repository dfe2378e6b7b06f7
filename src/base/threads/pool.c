/* Implements pool.h: the threads, the list of open jobs, and how threads wait. parallel.c and openmp.c call it. */
#include "base/threads/pool.h"

#include <stddef.h>

#include "base/compiler.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/threads/parallel.h"
#include "base/threads/placement.h"

/* A thread that waits spins this long before it sleeps: longer than the gap between two ops of a busy program, but much
 * shorter than a time slice. After a failure to start a thread the pool waits before it tries again. */
enum { SPIN_NANOSECONDS = 50000, SPINS_BETWEEN_LOOKS = 64, MOST_HELPERS = 4096, RETRY_NANOSECONDS = 100000000 };

/* The price of another thread, in nanoseconds: while one spins, and the limits of what is learnt about waking one.
 * Beside other programs a wake-up takes milliseconds; loops that are longer than the highest price keep learning. */
enum { PRICE_AWAKE = 1000, PRICE_FIRST = 10000, PRICE_LEAST = 2000, PRICE_MOST = 100000, PRICE_STEPS = 8 };

/* In nd4c_pool_job.inside. */
#define CALLER_SLEEPS (UINT32_C(1) << 31)

static nd4c_lock pool_lock = ND4C_LOCK_INIT;
static nd4c_pool_job *oldest, *youngest; /* under pool_lock */
static int64_t retry_from;               /* under pool_lock: no thread could be started before this time */
static _Atomic int32_t helper_count;     /* written under pool_lock; threads live as long as the process */
static _Atomic int32_t working;          /* helpers that work on a job */
static _Atomic uint32_t generation;      /* counts forks that this process is the child of */

/* Counts published jobs: helpers that found no job wait until it changes. A helper first counts as spinning, then as
 * sleeping, so that a caller that has changed the number knows whether it must wake one. */
static _Atomic uint32_t published;
static _Atomic int32_t spinning, sleeping;

static _Atomic int64_t woken_at; /* when a caller last woke threads of which none has begun */
static _Atomic int64_t wake_price = PRICE_FIRST;

static _Atomic bool crowded; /* more threads than processors */
static ND4C_FAST_THREAD_LOCAL bool inside;

bool nd4c_pool_is_inside(void) {
  return inside;
}

bool nd4c_pool_set_inside(bool now) {
  bool before = inside;
  inside = now;
  return before;
}

bool nd4c_pool_spin(const _Atomic uint32_t *word, uint32_t value) {
  int64_t end = 0;
  for (;;) {
    for (int i = 0; i < SPINS_BETWEEN_LOOKS; i++) {
      if (atomic_load_explicit(word, memory_order_acquire) != value) {
        return true;
      }
      nd4c_compiler_pause();
    }
    if (atomic_load_explicit(&crowded, memory_order_relaxed)) {
      return false;
    }
    int64_t now = nd4c_os_nanoseconds();
    end = end == 0 ? now + SPIN_NANOSECONDS : end;
    if (now > end) {
      return false;
    }
  }
}

/* -- jobs ---------------------------------------------------------------------------------------------------------- */

static bool has_pieces(nd4c_pool_job *job) {
  return atomic_load_explicit(&job->next, memory_order_relaxed) < job->pieces;
}

/* The oldest job that has pieces left; NULL if there is none or enough helpers work. The job stays until job_leave. */
static nd4c_pool_job *job_join(void) {
  nd4c_lock_acquire(&pool_lock);
  nd4c_pool_job *job = oldest;
  while (job != NULL && !has_pieces(job)) {
    job = job->younger;
  }
  if (job != NULL && atomic_load_explicit(&working, memory_order_relaxed) >= job->most_helpers) {
    job = NULL; /* a helper that leaves a job looks again */
  }
  if (job != NULL) {
    atomic_fetch_add_explicit(&working, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&job->inside, 1, memory_order_relaxed);
  }
  nd4c_lock_release(&pool_lock);
  return job;
}

static void job_leave(nd4c_pool_job *job, uint32_t born) {
  if (atomic_load(&generation) != born) {
    return; /* the piece forked, and this is the child: the caller does not exist here */
  }
  atomic_fetch_sub_explicit(&working, 1, memory_order_relaxed);
  /* From the subtraction on the job may have been freed. */
  const _Atomic uint32_t *word = &job->inside;
  if (atomic_fetch_sub_explicit(&job->inside, 1, memory_order_acq_rel) == (CALLER_SLEEPS | 1)) {
    nd4c_os_wake(word, 1);
  }
}

int32_t nd4c_pool_help(nd4c_pool_job *job) {
  bool outer = nd4c_pool_set_inside(true);
  int32_t ran = 0;
  for (;; ran++) {
    int32_t piece = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
    if (piece >= job->pieces) {
      break;
    }
    job->run(job, piece);
  }
  inside = outer;
  return ran;
}

void nd4c_pool_open(nd4c_pool_job *job, int32_t helpers, int32_t budget) {
  const int32_t own = job->pieces - 1;
  if (!atomic_load_explicit(&crowded, memory_order_relaxed)) {
    nd4c_placement_leave_caller();
  }
  job->most_helpers = budget > own ? budget : own;
  job->younger = NULL;
  atomic_store_explicit(&job->inside, 0, memory_order_relaxed);
  atomic_store_explicit(&job->helped, 0, memory_order_relaxed);
  nd4c_lock_acquire(&pool_lock);
  job->born = atomic_load_explicit(&generation, memory_order_relaxed);
  job->older = youngest;
  *(youngest != NULL ? &youngest->younger : &oldest) = job;
  youngest = job;
  nd4c_lock_release(&pool_lock);
  atomic_fetch_add(&published, 1);
  const int32_t asleep = atomic_load(&sleeping), wanted = helpers - atomic_load(&spinning);
  if (asleep > 0 && wanted > 0) {
    atomic_store_explicit(&woken_at, nd4c_os_nanoseconds(), memory_order_relaxed);
    nd4c_os_wake(&published, wanted);
  }
}

void nd4c_pool_close(nd4c_pool_job *job) {
  if (atomic_load_explicit(&generation, memory_order_relaxed) != job->born) {
    return; /* a piece forked, and this is the child, which has no helpers */
  }
  nd4c_lock_acquire(&pool_lock);
  *(job->older != NULL ? &job->older->younger : &oldest) = job->younger;
  *(job->younger != NULL ? &job->younger->older : &youngest) = job->older;
  nd4c_lock_release(&pool_lock);
  /* No helper joins any more. */
  uint32_t now = atomic_load_explicit(&job->inside, memory_order_acquire);
  while (now != 0 && nd4c_pool_spin(&job->inside, now)) {
    now = atomic_load_explicit(&job->inside, memory_order_acquire);
  }
  if (now != 0) {
    nd4c_placement_free();
    now = atomic_fetch_or_explicit(&job->inside, CALLER_SLEEPS, memory_order_acq_rel) | CALLER_SLEEPS;
    while (now != CALLER_SLEEPS) {
      nd4c_os_wait(&job->inside, now);
      now = atomic_load_explicit(&job->inside, memory_order_acquire);
    }
  }
}

/* -- helpers ------------------------------------------------------------------------------------------------------- */

/* A step towards each wake-up's time makes the price the middle of all, whatever the longest are. */
static void price_learn(int64_t begin) {
  if (begin == 0) {
    return; /* another thread has counted this wake-up */
  }
  const int64_t before = atomic_load_explicit(&wake_price, memory_order_relaxed), step = before / PRICE_STEPS;
  const int64_t now = nd4c_os_nanoseconds() - begin > before ? before + step : before - step;
  if (now >= PRICE_LEAST && now <= PRICE_MOST) {
    atomic_store_explicit(&wake_price, now, memory_order_relaxed);
  }
}

int64_t nd4c_pool_price(void) {
  return atomic_load_explicit(&spinning, memory_order_relaxed) > 0
             ? PRICE_AWAKE
             : atomic_load_explicit(&wake_price, memory_order_relaxed);
}

uint32_t nd4c_pool_published(void) {
  return atomic_load(&published);
}

static void await_jobs(uint32_t seen) {
  atomic_fetch_add(&spinning, 1);
  const bool came = nd4c_pool_spin(&published, seen);
  atomic_fetch_sub(&spinning, 1);
  if (!came) {
    atomic_fetch_add(&sleeping, 1);
    while (atomic_load(&published) == seen) {
      nd4c_os_wait(&published, seen);
    }
    atomic_fetch_sub(&sleeping, 1);
    price_learn(atomic_exchange_explicit(&woken_at, 0, memory_order_relaxed));
  }
}

static void job_work(nd4c_pool_job *job, uint32_t born) {
  const int64_t begin = nd4c_os_nanoseconds();
  (void)nd4c_pool_help(job);
  atomic_fetch_add_explicit(&job->helped, nd4c_os_nanoseconds() - begin, memory_order_relaxed);
  job_leave(job, born);
}

static void helper_main(void *argument) {
  (void)argument;
  nd4c_placement_join();
  for (;;) {
    const uint32_t seen = atomic_load(&published), born = atomic_load(&generation);
    nd4c_pool_job *job = job_join();
    if (job != NULL) {
      job_work(job, born);
    } else {
      await_jobs(seen);
    }
  }
}

static ND4C_NOINLINE void start_helpers(int32_t wanted) {
  const int32_t processors = nd4c_parallel_processors();
  nd4c_lock_acquire(&pool_lock);
  int32_t count = atomic_load(&helper_count);
  if (count < wanted && (retry_from == 0 || nd4c_os_nanoseconds() >= retry_from)) {
    retry_from = 0;
    while (count < wanted && nd4c_os_thread_start(helper_main, NULL)) {
      count++;
    }
    retry_from = count < wanted ? nd4c_os_nanoseconds() + RETRY_NANOSECONDS : 0;
    atomic_store(&helper_count, count);
    if (count >= processors) { /* from here on no processor is kept free */
      nd4c_placement_free();
    }
    atomic_store(&crowded, count >= processors);
  }
  nd4c_lock_release(&pool_lock);
}

int32_t nd4c_pool_grow(int32_t helpers) {
  helpers = helpers < MOST_HELPERS ? helpers : MOST_HELPERS;
  if (ND4C_UNLIKELY(helpers > atomic_load_explicit(&helper_count, memory_order_relaxed))) {
    start_helpers(helpers);
  }
  const int32_t count = atomic_load_explicit(&helper_count, memory_order_relaxed);
  return helpers < count ? helpers : count;
}

void nd4c_pool_reset(void) {
  atomic_fetch_add(&generation, 1);
  /* The forking thread did not hold the lock; a thread of the parent may have, and cannot release it here. */
  nd4c_lock_init(&pool_lock);
  nd4c_placement_reset();
  oldest = youngest = NULL;
  retry_from = 0;
  inside = false;
  atomic_store(&helper_count, 0);
  atomic_store(&working, 0);
  atomic_store(&spinning, 0);
  atomic_store(&sleeping, 0);
}
