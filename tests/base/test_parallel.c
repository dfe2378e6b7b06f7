/* Pools of threads: splitting a loop into pieces, several callers at once, the budget of threads, forks:
 * src/base/threads/parallel.h. */
#define _GNU_SOURCE /* fork, waitpid */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/config/config.h"
#include "base/os.h"
#include "base/threads/parallel.h"

enum { MOST = 5000, MOST_PIECES = 64 };

/* What a loop did: how often each element was visited, and the pieces by worker. */
typedef struct visits {
  _Atomic int seen[MOST];
  _Atomic int64_t begin[MOST_PIECES], end[MOST_PIECES];
  _Atomic int pieces;
} visits;

static void visit(void *user, int64_t begin, int64_t end, int32_t worker) {
  visits *v = user;
  for (int64_t i = begin; i < end; i++) {
    atomic_fetch_add(&v->seen[i], 1);
  }
  atomic_store(&v->begin[worker], begin);
  atomic_store(&v->end[worker], end);
  atomic_fetch_add(&v->pieces, 1);
}

static const struct {
  int64_t count, grain;
  int32_t width;
  int pieces; /* expected */
} splits[] = {
    {0, 1, 4, 0},     {-3, 1, 4, 0},     {1, 1, 4, 1},     {2, 1, 4, 2},       {3, 1, 2, 2},       {10, 4, 8, 2},
    {10, 10, 8, 1},   {11, 10, 8, 1},    {20, 10, 8, 2},   {4096, 1, 1, 1},    {4096, 1, 0, 1},    {4096, 1, 3, 3},
    {4999, 64, 7, 7}, {5000, 0, 64, 64}, {100, 1, 60, 50}, {5000, 4000, 2, 1}, {5000, 2500, 2, 2}, {5000, 2499, 9, 2},
};

static const char *const pools[] = {"auto", "openmp", "threads", "serial"};

static void check_split(size_t i, const char *pool) {
  static visits v, again;
  memset(&v, 0, sizeof v);
  memset(&again, 0, sizeof again);
  nd4c_parallel_for(splits[i].count, splits[i].grain, splits[i].width, visit, &v);
  nd4c_parallel_for(splits[i].count, splits[i].grain, splits[i].width, visit, &again);
  int wrong = v.pieces != splits[i].pieces || memcmp(&v, &again, sizeof v) != 0;
  for (int64_t k = 0; k < MOST; k++) {
    wrong |= v.seen[k] != (k < splits[i].count);
  }
  for (int piece = 0; piece + 1 < v.pieces; piece++) {
    wrong |= v.end[piece] != v.begin[piece + 1] || v.end[piece] - v.begin[piece] < splits[i].grain;
  }
  if (wrong) {
    fail_msg("pool %s, count %lld, grain %lld, width %d: %d pieces, expected %d, each element once", pool,
             (long long)splits[i].count, (long long)splits[i].grain, (int)splits[i].width, (int)v.pieces,
             splits[i].pieces);
  }
}

static void test_splits(void **state) {
  (void)state;
  for (size_t pool = 0; pool < sizeof pools / sizeof pools[0]; pool++) {
    assert_int_equal(nd4c_config_set("nd4c.pool", pools[pool]), ND4C_OK);
    for (size_t i = 0; strcmp(pools[pool], "serial") != 0 && i < sizeof splits / sizeof splits[0]; i++) {
      check_split(i, pools[pool]);
    }
  }
  assert_int_equal(nd4c_config_set("nd4c.pool", "serial"), ND4C_OK);
  assert_string_equal(nd4c_parallel_pool_name(), "serial");
  assert_int_equal(nd4c_config_set("nd4c.pool", "threads"), ND4C_OK);
  assert_string_equal(nd4c_parallel_pool_name(), "threads");
  assert_int_equal(nd4c_config_set("nd4c.pool", NULL), ND4C_OK);
}

static void test_width(void **state) {
  (void)state;
  assert_true(nd4c_parallel_width() >= 1);
  assert_int_equal(nd4c_config_set("nd4c.width", "7"), ND4C_OK);
  assert_int_equal(nd4c_parallel_width(), 7);
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
  const int32_t width = nd4c_parallel_width();
  assert_true(width >= 1);
  assert_true(width <= nd4c_parallel_processors());
}

/* OMP_NUM_THREADS limits the default width and no other; what is no number of threads is ignored. */
static void test_openmp_s_number_of_threads(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int32_t most;
  } rows[] = {{"1", 1},         {"1,4", 1},        {"2", 2},       {"100000", INT32_MAX},
              {"0", INT32_MAX}, {"-1", INT32_MAX}, {"", INT32_MAX}};
  const int32_t processors = nd4c_parallel_processors();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(setenv("OMP_NUM_THREADS", rows[i].text, 1), 0);
    assert_int_equal(nd4c_config_set("nd4c.width", "5"), ND4C_OK);
    assert_int_equal(nd4c_parallel_width(), 5);
    assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
    assert_int_equal(nd4c_parallel_width(), rows[i].most < processors ? rows[i].most : processors);
  }
  assert_int_equal(unsetenv("OMP_NUM_THREADS"), 0);
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
}

typedef struct nest {
  visits inner[4];
  _Atomic int wrong;
} nest;

typedef struct one_thread {
  pthread_t thread;
  visits *visits;
  _Atomic int *wrong;
} one_thread;

static void visit_here(void *user, int64_t begin, int64_t end, int32_t worker) {
  one_thread *here = user;
  if (!pthread_equal(pthread_self(), here->thread)) {
    atomic_store(here->wrong, 1);
  }
  visit(here->visits, begin, end, worker);
}

static void visit_nested(void *user, int64_t begin, int64_t end, int32_t worker) {
  nest *n = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    one_thread here = {pthread_self(), &n->inner[i], &n->wrong};
    nd4c_parallel_for(1000, 1, 4, visit_here, &here);
  }
}

static void test_nested(void **state) {
  (void)state;
  static nest n;
  for (size_t pool = 0; pool < 3; pool++) {
    assert_int_equal(nd4c_config_set("nd4c.pool", pools[pool]), ND4C_OK);
    memset(&n, 0, sizeof n);
    nd4c_parallel_for(4, 1, 4, visit_nested, &n);
    assert_int_equal(n.wrong, 0);
    for (int i = 0; i < 4; i++) {
      assert_int_equal(n.inner[i].pieces, 1);
      assert_int_equal(n.inner[i].end[0], 1000);
    }
  }
  assert_int_equal(nd4c_config_set("nd4c.pool", NULL), ND4C_OK);
}

/* Many callers at once: each gets its own result, and the teams together stay within the budget. */
static _Atomic int running, running_at_most;

typedef struct sum_box {
  _Atomic int64_t sum;
} sum_box;

static void count_running(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  int now = atomic_fetch_add(&running, 1) + 1, most = atomic_load(&running_at_most);
  while (now > most && !atomic_compare_exchange_weak(&running_at_most, &most, now)) {
  }
  int64_t sum = 0;
  for (int64_t i = begin; i < end; i++) {
    sum += i;
  }
  sum_box *box = user;
  atomic_fetch_add(&box->sum, sum);
  atomic_fetch_sub(&running, 1);
}

enum { CALLERS = 8, WIDTH = 4, CALLS = 300 };

static void *call_often(void *argument) {
  for (int i = 0; i < CALLS; i++) {
    sum_box box = {0};
    nd4c_parallel_for(4000, 1, WIDTH, count_running, &box);
    if (box.sum != INT64_C(4000) * 3999 / 2) {
      *(int *)argument = 1;
    }
  }
  return NULL;
}

static void test_callers(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("nd4c.width", "4"), ND4C_OK);
  for (size_t pool = 0; pool < 3; pool++) {
    assert_int_equal(nd4c_config_set("nd4c.pool", pools[pool]), ND4C_OK);
    pthread_t threads[CALLERS];
    int wrong[CALLERS] = {0};
    atomic_store(&running_at_most, 0);
    for (int i = 0; i < CALLERS; i++) {
      assert_int_equal(pthread_create(&threads[i], NULL, call_often, &wrong[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
      assert_int_equal(wrong[i], 0);
    }
    /* Every caller runs in any case; only helpers are taken from the budget. */
    if (atomic_load(&running_at_most) > CALLERS + WIDTH - 1) {
      fail_msg("pool %s: %d ranges ran at once, expected at most %d", pools[pool], (int)running_at_most,
               CALLERS + WIDTH - 1);
    }
  }
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.pool", NULL), ND4C_OK);
}

/* -- helpers that do not come, and idle ones ------------------------------------------------------------------------
 */

static _Atomic int held_pieces, may_end;

static void hold(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)user;
  (void)begin;
  (void)end;
  (void)worker;
  atomic_fetch_add(&held_pieces, 1);
  while (!atomic_load(&may_end)) {
    nd4c_os_sleep(100000);
  }
}

static void *hold_pool(void *argument) {
  nd4c_parallel_for(2, 1, 2, hold, argument);
  return NULL;
}

/* The only helper is busy for as long as another caller likes: a call computes all its pieces itself. */
static void test_caller_finishes_alone(void **state) {
  (void)state;
  static visits v;
  pthread_t holder;
  assert_int_equal(nd4c_config_set("nd4c.width", "2"), ND4C_OK);
  atomic_store(&held_pieces, 0);
  atomic_store(&may_end, 0);
  assert_int_equal(pthread_create(&holder, NULL, hold_pool, NULL), 0);
  while (atomic_load(&held_pieces) < 2) {
    nd4c_os_sleep(100000);
  }
  memset(&v, 0, sizeof v);
  _Atomic int elsewhere = 0;
  one_thread here = {pthread_self(), &v, &elsewhere};
  nd4c_parallel_for(4000, 1, 2, visit_here, &here);
  atomic_store(&may_end, 1);
  assert_int_equal(pthread_join(holder, NULL), 0);
  assert_int_equal(v.pieces, 2);
  assert_int_equal(elsewhere, 0);
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
}

static int64_t processor_nanoseconds(void) {
  struct timespec now;
  assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Threads without work spin for some microseconds, and then use no processor. */
static void test_idle_threads_sleep(void **state) {
  (void)state;
  static visits v;
  assert_int_equal(nd4c_config_set("nd4c.width", "4"), ND4C_OK);
  nd4c_parallel_for(4096, 1, 4, visit, &v);
  nd4c_os_sleep(5000000);
  const int64_t begin = processor_nanoseconds();
  nd4c_os_sleep(100000000);
  const int64_t used = processor_nanoseconds() - begin;
  if (used > 2000000) {
    fail_msg("%lld ns of processor time in 100 ms after the last call", (long long)used);
  }
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
}

#if !defined(ND4C_THREAD_SANITIZER) /* ThreadSanitizer forbids threads in the child of a process with threads */

static int child_works(void) {
  static visits v;
  alarm(20); /* if the pool waits for threads of the parent, the alarm ends the child */
  memset(&v, 0, sizeof v);
  nd4c_parallel_for(4096, 1, 4, visit, &v);
  int good = v.pieces == 4;
  for (int i = 0; i < 4096; i++) {
    good = good && v.seen[i] == 1;
  }
  return good;
}

/* The child has no threads yet, and cannot start any. */
static int child_works_alone(void) {
  static visits v;
  _Atomic int wrong = 0;
  one_thread here = {pthread_self(), &v, &wrong};
  memset(&v, 0, sizeof v);
  nd4c_allocation_fail_at(0);
  nd4c_parallel_for(4096, 1, 4, visit_here, &here);
  nd4c_allocation_fail_at(-1);
  return v.pieces == 4 && wrong == 0;
}

static void fork_and_check(int (*works)(void)) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    _exit(works() ? 0 : 1);
  }
  int result = 0;
  assert_int_equal(waitpid(child, &result, 0), child);
  if (!WIFEXITED(result) || WEXITSTATUS(result) != 0) {
    fail_msg("the child of a fork ended with %d", result);
  }
}

typedef struct fork_once {
  pthread_t caller;
  pid_t child;
} fork_once;

/* Forks only in the calling thread, which may get no piece because the helpers may be faster. */
static void fork_inside(void *user, int64_t begin, int64_t end, int32_t worker) {
  fork_once *f = user;
  if (pthread_equal(pthread_self(), f->caller) && f->child < 0) {
    f->child = fork();
  }
  (void)begin;
  (void)end;
  (void)worker;
}

static void test_fork(void **state) {
  (void)state;
  static visits v;
  assert_int_equal(nd4c_config_set("nd4c.width", "4"), ND4C_OK);
  for (size_t pool = 0; pool < 3; pool++) {
    assert_int_equal(nd4c_config_set("nd4c.pool", pools[pool]), ND4C_OK);
    nd4c_parallel_for(4096, 1, 4, visit, &v);
    fork_and_check(child_works);
    fork_and_check(child_works_alone);
    memset(&v, 0, sizeof v);
    nd4c_parallel_for(4096, 1, 4, visit, &v); /* the parent continues as before */
    assert_int_equal(v.pieces, 4);
  }
  /* A fork out of a range of the plain pool: the child's call returns as well, and its next ones work. */
  assert_int_equal(nd4c_config_set("nd4c.pool", "threads"), ND4C_OK);
  fork_once f = {pthread_self(), -1};
  pid_t self = getpid();
  for (int attempt = 0; attempt < 1000 && f.child < 0; attempt++) {
    nd4c_parallel_for(64, 1, 4, fork_inside, &f);
  }
  if (getpid() != self) {
    _exit(child_works() ? 0 : 1);
  }
  int result = 0;
  assert_int_equal(waitpid(f.child, &result, 0), f.child);
  assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.pool", NULL), ND4C_OK);
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_splits),
      cmocka_unit_test(test_width),
      cmocka_unit_test(test_openmp_s_number_of_threads),
      cmocka_unit_test(test_nested),
      cmocka_unit_test(test_callers),
      cmocka_unit_test(test_caller_finishes_alone),
      cmocka_unit_test(test_idle_threads_sleep),
#if !defined(ND4C_THREAD_SANITIZER)
      cmocka_unit_test(test_fork),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
