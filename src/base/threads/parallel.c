/* Implements parallel.h: cuts a loop into pieces and runs them on the pool, or on the caller alone. Kernels enter it
 * through the host table (device/memory/host.c). */
#include "base/threads/parallel.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/config/config.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/threads/openmp.h"
#include "base/threads/pool.h"
#include "base/threads/split.h"

typedef enum pool_kind { POOL_SERIAL, POOL_THREADS, POOL_OPENMP } pool_kind;

/* Width and pool as configured, valid for `epoch`: one atomic word, so that a reader needs no lock.
 * epoch in bits 32..63, pool in bits 24..31, width in bits 0..23. */
static _Atomic uint64_t settings;
enum { WIDTH_BITS = 24, WIDTH_MAX = (1 << WIDTH_BITS) - 1 };

static nd4c_once fork_watch = ND4C_ONCE_INIT;

/* In a child of fork only the forking thread exists: the pool starts new threads, and other runtimes of OpenMP, which
 * would wait for theirs for ever, are told to start none. */
static void fork_in_child(void) {
  nd4c_pool_reset();
  nd4c_openmp_reset();
}

static void fork_watch_start(void) {
  nd4c_os_on_fork(fork_in_child);
}

static pool_kind configured_pool(void) {
  char name[16];
  (void)nd4c_config_string(ND4C_CONFIG_POOL, name, sizeof name);
  return strcmp(name, "serial") == 0 ? POOL_SERIAL : strcmp(name, "openmp") == 0 ? POOL_OPENMP : POOL_THREADS;
}

int32_t nd4c_parallel_processors(void) {
  static _Atomic int32_t processors; /* asked of the system once */
  int32_t count = atomic_load_explicit(&processors, memory_order_relaxed);
  if (count == 0) {
    count = nd4c_os_processors();
    count = count < 1 ? 1 : count > WIDTH_MAX ? WIDTH_MAX : count;
    atomic_store_explicit(&processors, count, memory_order_relaxed);
  }
  return count;
}

/* The processors, or fewer if OMP_NUM_THREADS (a number, or a list with one for each level) says so. */
static int32_t default_width(void) {
  const char *text = nd4c_os_environment("OMP_NUM_THREADS");
  const long asked = text != NULL ? strtol(text, NULL, 10) : 0;
  const int32_t processors = nd4c_parallel_processors();
  return asked > 0 && asked < processors ? (int32_t)asked : processors;
}

static ND4C_NOINLINE uint64_t settings_read(uint32_t epoch) {
  nd4c_once_run(&fork_watch, fork_watch_start);
  int64_t width = nd4c_config_int(ND4C_CONFIG_WIDTH);
  width = width <= 0 ? default_width() : width > WIDTH_MAX ? WIDTH_MAX : width;
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
  return (pool_kind)(settings_get() >> WIDTH_BITS & 0xff);
}

int32_t nd4c_parallel_width(void) {
  return (int32_t)(settings_get() & WIDTH_MAX);
}

bool nd4c_parallel_is_serial(void) {
  return current_pool() == POOL_SERIAL;
}

const char *nd4c_parallel_pool_name(void) {
  static const char *const names[] = {"serial", "threads", "openmp"};
  return names[current_pool()];
}

/* A loop cut into pieces; lives on the caller's stack. */
typedef struct loop {
  nd4c_pool_job job; /* first: nd4c_pool_job.run gets it */
  nd4c_parallel_range range;
  void *user;
  int64_t count, piece_size;
} loop;

static void piece_run(nd4c_pool_job *job, int32_t piece) {
  const loop *l = (const loop *)(void *)job;
  int64_t begin = piece * l->piece_size;
  int64_t end = l->count - begin < l->piece_size ? l->count : begin + l->piece_size;
  l->range(l->user, begin, end, piece);
}

/* Long pieces start at multiples of this many elements, so that neighbours share no cache line and each piece is
 * aligned like the whole range. */
enum { PIECE_MULTIPLE = 64 };

/* Runs the pieces, with other threads if the loop is worth that, and notes how long all would take on one: by the time
 * that the caller's own pieces took. A helper that wakes on the caller's processor can run all of them before the
 * caller runs again; its time counts then, or a busy machine would let loops be offered for ever. */
static void loop_share(loop *l, uint64_t key, int32_t team, int32_t budget) {
  const int32_t helpers = nd4c_split_is_worth(key, team, nd4c_pool_price()) ? nd4c_pool_grow(team - 1) : 0;
  if (helpers > 0) {
    nd4c_pool_open(&l->job, helpers, budget - 1);
  }
  const int64_t begin = nd4c_os_nanoseconds();
  const int32_t own = nd4c_pool_help(&l->job);
  if (own > 0) {
    nd4c_split_note(key, (nd4c_os_nanoseconds() - begin) / own * l->job.pieces);
  }
  if (helpers > 0) {
    nd4c_pool_close(&l->job);
  }
  if (own == 0) {
    nd4c_split_note(key, atomic_load_explicit(&l->job.helped, memory_order_relaxed));
  }
}

void nd4c_parallel_for(int64_t count, int64_t grain, int32_t width, nd4c_parallel_range range, void *user) {
  if (count <= 0) {
    return;
  }
  grain = grain < 1 ? 1 : grain;
  if (width <= 1 || count <= grain || nd4c_pool_is_inside()) {
    range(user, 0, count, 0);
    return;
  }
  const pool_kind pool = current_pool();
  int64_t most = count / grain;
  int64_t pieces = most < width ? most : width;
  int64_t size = (count + pieces - 1) / pieces;
  if (size >= 16 * PIECE_MULTIPLE) {
    size = (size + PIECE_MULTIPLE - 1) / PIECE_MULTIPLE * PIECE_MULTIPLE;
  }
  loop l = {.job = {.run = piece_run}, .range = range, .user = user, .count = count, .piece_size = size};
  l.job.pieces = (int32_t)((count + size - 1) / size);
  const int32_t budget = nd4c_parallel_width(), team = l.job.pieces < budget ? l.job.pieces : budget;
  if (pool == POOL_SERIAL || team <= 1) {
    (void)nd4c_pool_help(&l.job);
  } else {
    loop_share(&l, nd4c_split_key(range, count, grain, l.job.pieces), team, budget);
  }
}
