/* Implements openmp.h: the functions of GCC's runtime of OpenMP that oneDNN and OpenBLAS call. A region is a job of the
 * pool with a piece for each member. Members may wait for each other, in barriers or by spinning on memory of their
 * own: pool.h says why each gets a thread. */
#include "base/threads/openmp.h"

#include <fenv.h>
#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "base/os.h"
#include "base/threads/parallel.h"
#include "base/threads/pool.h"

/* A loop that a member shares with the others of its region: its next block, in iterations. */
typedef struct shared_loop {
  long start, increment, iterations, block, next, stride;
} shared_loop;

/* A thread's place. A region inside a region of several members has one member; `depth` counts those that are open. */
enum { DEEPEST = 2 }; /* thread-local storage is scarce */
typedef struct place {
  struct team *team; /* NULL outside regions of several members */
  int32_t number, depth;
  int32_t width; /* of regions that the thread opens; 0: nd4c's */
  shared_loop loops[DEEPEST];
} place;

/* A region that several members run. */
typedef struct team {
  nd4c_pool_job job; /* first: nd4c_pool_job.run gets it */
  void (*function)(void *);
  void *data;
  place outer;              /* the caller's, which may be in regions of one member; members get its width */
  _Atomic int32_t arrived;  /* members in the barrier */
  _Atomic uint32_t passed;  /* barriers that all members have passed; members wait for it to change */
  _Atomic int32_t sleeping; /* members that may sleep in the barrier */
  _Atomic bool invalid;     /* a helper's instruction had an invalid operand: FE_INVALID */
} team;

static _Thread_local place here;
static _Thread_local team own; /* the region that this thread has opened */

/* -- what a thread can ask ----------------------------------------------------------------------------------------- */

static bool is_alone(void) {
  return here.team == NULL || here.depth > 0;
}

static int get_num_threads(void) {
  return is_alone() ? 1 : here.team->job.pieces;
}

static int get_thread_num(void) {
  return is_alone() ? 0 : here.number;
}

static int in_parallel(void) {
  return nd4c_pool_is_inside();
}

/* As the thread set it, or nd4c's width. */
static int get_wanted_threads(void) {
  return nd4c_parallel_is_serial() ? 1 : here.width > 0 ? here.width : nd4c_parallel_width();
}

/* What libraries are told: no more than there can be, since OpenBLAS shares work among as many as it was told. */
static int get_max_threads(void) {
  const int wanted = get_wanted_threads();
  return wanted > 1 ? nd4c_pool_grow(wanted - 1) + 1 : 1;
}

static void set_num_threads(int threads) {
  here.width = threads < 1 ? 1 : threads;
}

static int get_num_procs(void) {
  return nd4c_parallel_processors();
}

static int get_max_active_levels(void) {
  return 1;
}

/* No places are defined, so threads are bound to none. */
static int get_num_places(void) {
  return 0;
}

/* -- regions ------------------------------------------------------------------------------------------------------- */

/* A helper's FE_INVALID goes to the caller (parallel_end): engine onednn sees by it that a maximum met a NaN. */
static void member_run(nd4c_pool_job *job, int32_t number) {
  team *t = (team *)(void *)job;
  const place outer = here;
  here = (place){.team = t, .number = number, .width = t->outer.width};
  if (fetestexcept(FE_INVALID) != 0) {
    (void)feclearexcept(FE_INVALID); /* of earlier work */
  }
  t->function(t->data);
  if (fetestexcept(FE_INVALID) != 0) {
    atomic_store_explicit(&t->invalid, true, memory_order_relaxed);
  }
  here = outer;
}

/* Opens a region for member 0, the caller. If the system can start no threads it has fewer members than asked for, as
 * OpenMP allows: a member without a thread could not wait for others. If nd4c.pool has become serial, a library that
 * was told more threads before still gets them: what it prepared shares its work among as many. */
static void parallel_start(void (*function)(void *), void *data, unsigned threads) {
  const int32_t asked = threads == 0 || threads > INT32_MAX ? get_max_threads() : (int32_t)threads;
  const int32_t helpers = asked > 1 && !nd4c_pool_is_inside() ? nd4c_pool_grow(asked - 1) : 0;
  if (helpers == 0) {
    here.depth++;
    return;
  }
  own.job.run = member_run;
  own.job.pieces = helpers + 1;
  atomic_store_explicit(&own.job.next, 1, memory_order_relaxed);
  own.function = function;
  own.data = data;
  own.outer = here;
  atomic_store_explicit(&own.arrived, 0, memory_order_relaxed);
  atomic_store_explicit(&own.invalid, false, memory_order_relaxed);
  here = (place){.team = &own, .width = own.outer.width};
  (void)nd4c_pool_set_inside(true);
  nd4c_pool_open(&own.job, helpers, nd4c_parallel_width() - 1);
}

static void parallel_end(void) {
  if (is_alone()) {
    here.depth--;
    return;
  }
  team *t = here.team;
  if (fetestexcept(FE_INVALID) != 0) { /* the caller may run a member, which starts without it */
    atomic_store_explicit(&t->invalid, true, memory_order_relaxed);
  }
  (void)nd4c_pool_help(&t->job);
  nd4c_pool_close(&t->job);
  if (atomic_load_explicit(&t->invalid, memory_order_relaxed)) {
    (void)feraiseexcept(FE_INVALID);
  }
  t->outer.width = here.width; /* the caller may have set it */
  here = t->outer;
  (void)nd4c_pool_set_inside(false);
}

static void parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags) {
  (void)flags; /* how to bind the threads */
  parallel_start(function, data, threads);
  function(data);
  parallel_end();
}

static void barrier(void) {
  if (is_alone()) {
    return;
  }
  team *t = here.team;
  const uint32_t seen = atomic_load_explicit(&t->passed, memory_order_acquire);
  if (atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel) + 1 == t->job.pieces) {
    atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
    atomic_fetch_add(&t->passed, 1);
    if (atomic_load(&t->sleeping) > 0) {
      nd4c_os_wake(&t->passed, t->job.pieces);
    }
  } else if (!nd4c_pool_spin(&t->passed, seen)) {
    atomic_fetch_add(&t->sleeping, 1);
    while (atomic_load(&t->passed) == seen) {
      nd4c_os_wait(&t->passed, seen);
    }
    atomic_fetch_sub(&t->sleeping, 1);
  }
}

/* -- loops with a static schedule ---------------------------------------------------------------------------------- */

static shared_loop *current_loop(void) {
  return &here.loops[here.depth < DEEPEST ? here.depth : DEEPEST - 1];
}

static _Bool loop_static_next(long *begin, long *end) {
  shared_loop *l = current_loop();
  if (l->next >= l->iterations) {
    return false;
  }
  const long left = l->iterations - l->next, count = left < l->block ? left : l->block;
  *begin = l->start + l->next * l->increment;
  *end = l->start + (l->next + count) * l->increment;
  l->next = l->stride > l->iterations - l->next ? l->iterations : l->next + l->stride;
  return true;
}

/* Iterations start, start + increment, ... before `limit`, in blocks of `chunk` by turns; 0: one block for each. */
static _Bool loop_static_start(long start, long limit, long increment, long chunk, long *begin, long *end) {
  shared_loop *l = current_loop();
  const long members = get_num_threads(), number = get_thread_num();
  const long span = increment > 0 ? limit - start : start - limit, step = increment > 0 ? increment : -increment;
  *l = (shared_loop){.start = start, .increment = increment, .iterations = span <= 0 ? 0 : (span - 1) / step + 1};
  if (chunk > 0) {
    l->block = chunk;
    l->next = chunk * number;
    l->stride = chunk * members;
  } else {
    const long share = l->iterations / members, more = l->iterations % members;
    l->block = share + (number < more);
    l->next = l->block > 0 ? share * number + (number < more ? number : more) : l->iterations;
    l->stride = l->iterations;
  }
  return loop_static_next(begin, end);
}

static void loop_end_nowait(void) {}

static void loop_end(void) {
  barrier();
}

/* -- by name ------------------------------------------------------------------------------------------------------- */

typedef struct entry {
  const char *symbol;
  void (*function)(void);
} entry;
#define ENTRY(symbol, function) {#symbol, (void (*)(void))(function)}
static const entry entries[] = {
    ENTRY(GOMP_parallel, parallel),
    ENTRY(GOMP_parallel_start, parallel_start),
    ENTRY(GOMP_parallel_end, parallel_end),
    ENTRY(GOMP_barrier, barrier),
    ENTRY(GOMP_loop_static_start, loop_static_start),
    ENTRY(GOMP_loop_static_next, loop_static_next),
    ENTRY(GOMP_loop_end, loop_end),
    ENTRY(GOMP_loop_end_nowait, loop_end_nowait),
    ENTRY(omp_get_max_active_levels, get_max_active_levels),
    ENTRY(omp_get_max_threads, get_max_threads),
    ENTRY(omp_get_num_places, get_num_places),
    ENTRY(omp_get_num_procs, get_num_procs),
    ENTRY(omp_get_num_threads, get_num_threads),
    ENTRY(omp_get_thread_num, get_thread_num),
    ENTRY(omp_in_parallel, in_parallel),
    ENTRY(omp_set_num_threads, set_num_threads),
};

void *nd4c_openmp_find(const char *symbol) {
  void *address = NULL;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    if (strcmp(symbol, entries[i].symbol) == 0) {
      memcpy(&address, &entries[i].function, sizeof address);
    }
  }
  return address;
}

bool nd4c_openmp_is_symbol(const char *symbol) {
  static const char *const prefixes[] = {"GOMP_", "GOACC_", "omp_", "kmp_", "__kmp"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    if (strncmp(symbol, prefixes[i], strlen(prefixes[i])) == 0) {
      return true;
    }
  }
  return false;
}

void nd4c_openmp_describe(nd4c_host_openmp *openmp) {
  openmp->set_num_threads = set_num_threads;
  openmp->get_max_threads = get_wanted_threads;
  openmp->get_max_active_levels = get_max_active_levels;
}
