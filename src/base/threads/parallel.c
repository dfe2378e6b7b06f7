/* Implements parallel.h: cuts a loop into pieces and runs them on OpenMP's threads, on those of pool.c, or on the
 * caller alone. Kernels enter it through the host table (device/memory/host.c). */
#include "base/threads/parallel.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"
#include "base/config/config.h"
#include "base/config/log.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/threads/pool.h"

#if defined(ND4C_HAVE_OPENMP) && !defined(ND4C_THREAD_SANITIZER)
#define USE_OPENMP 1
#include <omp.h>
#endif

typedef enum pool_kind { POOL_SERIAL, POOL_THREADS, POOL_OPENMP } pool_kind;

/* Width and pool as configured, valid for `epoch`: one atomic word, so that a reader needs no lock.
 * epoch in bits 32..63, pool in bits 24..31, width in bits 0..23. */
static _Atomic uint64_t settings;
enum { WIDTH_BITS = 24, WIDTH_MAX = (1 << WIDTH_BITS) - 1 };

/* Members of all running teams. */
static _Atomic int32_t members_running;
static _Thread_local bool inside_range;

static nd4c_once fork_watch = ND4C_ONCE_INIT;
static _Atomic bool forked;

/* In a child of fork only the forking thread exists: OpenMP's runtime would wait for its workers for ever. OpenBLAS and
 * oneDNN use that runtime, too: with no level of parallelism allowed, the caller alone runs each of their regions. */
static void fork_in_child(void) {
#if defined(USE_OPENMP)
  omp_set_max_active_levels(0);
#endif
  atomic_store(&forked, true);
  atomic_store(&members_running, 0);
  inside_range = false;
  nd4c_pool_reset();
}

static void fork_watch_start(void) {
  nd4c_os_on_fork(fork_in_child);
}

static pool_kind configured_pool(void) {
  char name[16];
  (void)nd4c_config_string(ND4C_CONFIG_POOL, name, sizeof name);
  if (strcmp(name, "serial") == 0) {
    return POOL_SERIAL;
  }
#if defined(USE_OPENMP)
  if (strcmp(name, "threads") != 0) {
    return POOL_OPENMP;
  }
#endif
  if (strcmp(name, "openmp") == 0) {
    nd4c_log_write(ND4C_LOG_WARNING, "parallel",
                   "nd4c.pool asks for openmp, which is not in this build; using threads");
  }
  return POOL_THREADS;
}

static ND4C_NOINLINE uint64_t settings_read(uint32_t epoch) {
  static _Atomic int32_t processors; /* asked of the system once */
  nd4c_once_run(&fork_watch, fork_watch_start);
  int64_t width = nd4c_config_int(ND4C_CONFIG_WIDTH);
  if (width <= 0) {
    width = atomic_load(&processors);
    if (width == 0) {
      width = nd4c_os_processors();
      atomic_store(&processors, (int32_t)width);
    }
  }
  width = width < 1 ? 1 : width > WIDTH_MAX ? WIDTH_MAX : width;
  uint64_t fresh = (uint64_t)epoch << 32 | (uint64_t)configured_pool() << WIDTH_BITS | (uint64_t)width;
  atomic_store_explicit(&settings, fresh, memory_order_relaxed);
  return fresh;
}

static inline uint64_t settings_get(void) {
  uint32_t epoch = atomic_load_explicit(&nd4c_config_epoch, memory_order_relaxed);
  uint64_t current = atomic_load_explicit(&settings, memory_order_relaxed);
  return ND4C_LIKELY(current >> 32 == epoch) ? current : settings_read(epoch);
}

static pool_kind current_pool(void) {
  pool_kind pool = (pool_kind)(settings_get() >> WIDTH_BITS & 0xff);
  return pool == POOL_OPENMP && atomic_load_explicit(&forked, memory_order_relaxed) ? POOL_THREADS : pool;
}

int32_t nd4c_parallel_width(void) {
  return (int32_t)(settings_get() & WIDTH_MAX);
}

const char *nd4c_parallel_pool_name(void) {
  static const char *const names[] = {"serial", "threads", "openmp"};
  return names[current_pool()];
}

/* Takes up to `wanted` members out of the process's budget, at least one: the caller itself, which runs anyway. */
static int32_t members_take(int32_t wanted) {
  int32_t budget = nd4c_parallel_width();
  int32_t running = atomic_load_explicit(&members_running, memory_order_relaxed);
  int32_t taken;
  do {
    int32_t left = budget - running;
    taken = wanted < left ? wanted : left;
    taken = taken < 1 ? 1 : taken;
  } while (!atomic_compare_exchange_weak_explicit(&members_running, &running, running + taken, memory_order_relaxed,
                                                  memory_order_relaxed));
  return taken;
}

/* After a fork inside a region the count was reset: it must not fall below zero. */
static void members_give(int32_t taken) {
  if (atomic_fetch_sub_explicit(&members_running, taken, memory_order_relaxed) < taken) {
    atomic_store_explicit(&members_running, 0, memory_order_relaxed);
  }
}

static inline void piece_run(const nd4c_pool_job *job, int32_t piece) {
  int64_t begin = piece * job->piece_size;
  int64_t end = job->count - begin < job->piece_size ? job->count : begin + job->piece_size;
  job->range(job->user, begin, end, piece);
}

/* Every `step`-th piece from `first` on. */
static void pieces_run(const nd4c_pool_job *job, int32_t first, int32_t step) {
  bool outer = inside_range;
  inside_range = true;
  for (int32_t piece = first; piece < job->pieces; piece += step) {
    piece_run(job, piece);
  }
  inside_range = outer;
}

void nd4c_pool_job_run(nd4c_pool_job *job) {
  bool outer = inside_range;
  inside_range = true;
  for (;;) {
    int32_t piece = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
    if (piece >= job->pieces) {
      break;
    }
    piece_run(job, piece);
  }
  inside_range = outer;
}

static ND4C_NOINLINE void job_run(nd4c_pool_job *job, pool_kind pool) {
  int32_t team = members_take(job->pieces);
  if (team == 1) {
    pieces_run(job, 0, 1);
#if defined(USE_OPENMP)
  } else if (pool == POOL_OPENMP) {
#pragma omp parallel num_threads(team)
    pieces_run(job, omp_get_thread_num(), omp_get_num_threads());
#endif
  } else {
    nd4c_pool_run(job, team);
  }
  (void)pool;
  members_give(team);
}

/* Long pieces start at multiples of this many elements, so that neighbours share no cache line and each piece is
 * aligned like the whole range. */
enum { PIECE_MULTIPLE = 64 };

void nd4c_parallel_for(int64_t count, int64_t grain, int32_t width, nd4c_parallel_range range, void *user) {
  if (count <= 0) {
    return;
  }
  grain = grain < 1 ? 1 : grain;
  if (width <= 1 || count <= grain || inside_range) {
    range(user, 0, count, 0);
    return;
  }
  pool_kind pool = current_pool();
  int64_t most = count / grain;
  int64_t pieces = most < width ? most : width;
  int64_t size = (count + pieces - 1) / pieces;
  if (size >= 16 * PIECE_MULTIPLE) {
    size = (size + PIECE_MULTIPLE - 1) / PIECE_MULTIPLE * PIECE_MULTIPLE;
  }
  nd4c_pool_job job = {.range = range, .user = user, .count = count, .piece_size = size};
  job.pieces = (int32_t)((count + size - 1) / size);
  if (job.pieces <= 1 || pool == POOL_SERIAL) {
    pieces_run(&job, 0, 1);
    return;
  }
  job_run(&job, pool);
}
