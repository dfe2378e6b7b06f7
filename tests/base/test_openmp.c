/* OpenMP of vendors' libraries on nd4c's pool: src/base/threads/openmp.c and openmp_library.c, os_linux_imports.c. The
 * libraries are copies of openmp_code.c beside this program. */
#define _GNU_SOURCE /* fork, waitpid */

#include <dlfcn.h>
#include <fenv.h>
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
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/config/config.h"
#include "base/openmp_code.h"
#include "base/os.h"
#include "base/threads/openmp.h"
#include "base/threads/parallel.h"
#include "nd4c/status.h"

#if !defined(ND4C_TEST_OPENMP_FOLDER)

int main(void) {
  puts("skipped: the compiler has no OpenMP for GCC's runtime");
  return 77;
}

#else

enum { MEMBERS = 4 };

static struct {
#define FIELD(result, name, parameters) result(*name) parameters;
  CODE_FUNCTIONS(FIELD)
#undef FIELD
} code;

static nd4c_host_openmp open_copy(const char *copy, void **library) {
  char path[4096];
  nd4c_host_openmp openmp = {.struct_size = sizeof openmp};
  snprintf(path, sizeof path, "%s/lib%s.so", ND4C_TEST_OPENMP_FOLDER, copy);
  if (nd4c_openmp_open(path, "", library, &openmp) != ND4C_OK) {
    fail_msg("%s: %s", path, nd4c_error_message());
  }
  return openmp;
}

static int set_up(void **state) {
  void *library = NULL;
  (void)state;
  assert_int_equal(nd4c_config_set("nd4c.width", "4"), ND4C_OK);
  nd4c_host_openmp openmp = open_copy("openmp_code", &library);
  assert_string_equal(openmp.text, "on nd4c's threads");
  assert_true(openmp.on_pool);
#define FIND(result, name, parameters)          \
  {                                             \
    void *symbol = dlsym(library, #name);       \
    assert_non_null(symbol);                    \
    memcpy(&code.name, &symbol, sizeof symbol); \
  }
  CODE_FUNCTIONS(FIND)
#undef FIND
  return 0;
}

/* -- regions ------------------------------------------------------------------------------------------------------- */

typedef struct region {
  _Atomic int seen[MEMBERS], wrong;
  int before[MEMBERS]; /* written before the barrier, read by all after it */
  pthread_t threads[MEMBERS];
} region;

static void member(void *user, int number, int members) {
  region *r = user;
  if (number < 0 || number >= MEMBERS || members != MEMBERS || !code.code_in_parallel()) {
    atomic_store(&r->wrong, 1);
    return;
  }
  r->threads[number] = pthread_self();
  for (int round = 1; round <= 3; round++) {
    r->before[number] = round * (number + 1);
    code.code_barrier();
    for (int i = 0; i < MEMBERS; i++) {
      if (r->before[i] != round * (i + 1)) {
        atomic_store(&r->wrong, 2);
      }
    }
    code.code_barrier();
  }
  atomic_fetch_add(&r->seen[number], 1);
}

static void old_member(void *user) {
  member(user, code.code_number(), MEMBERS);
}

/* Every member ran once, and beside the others: all were in the barrier at once. */
static int region_is_wrong(const region *r) {
  int wrong = r->wrong;
  for (int i = 0; i < MEMBERS; i++) {
    wrong |= r->seen[i] != 1;
    for (int k = 0; k < i; k++) {
      wrong |= pthread_equal(r->threads[i], r->threads[k]) != 0;
    }
  }
  return wrong;
}

static void test_region(void **state) {
  (void)state;
  for (int round = 0; round < 20; round++) {
    region r = {0}, old = {0};
    code.code_region(MEMBERS, member, &r);
    assert_int_equal(region_is_wrong(&r), 0);
    assert_true(pthread_equal(r.threads[0], pthread_self()));
    code.code_old_region(MEMBERS, old_member, &old);
    assert_int_equal(region_is_wrong(&old), 0);
    assert_int_equal(code.code_in_parallel(), 0);
    assert_int_equal(code.code_number(), 0);
  }
}

/* The member of that number has an invalid operand. */
static void invalid_member(void *user, int number, int members) {
  (void)members;
  if (number == *(const int *)user) {
    (void)feraiseexcept(FE_INVALID);
  }
}

static void test_invalid_operands(void **state) {
  (void)state;
  for (int round = 0; round < 5; round++) {
    for (int number = 0; number <= MEMBERS; number++) {
      assert_int_equal(feclearexcept(FE_INVALID), 0);
      code.code_region(MEMBERS, invalid_member, &number);
      assert_int_equal(fetestexcept(FE_INVALID) != 0, number < MEMBERS);
    }
  }
  int nothing = -1;
  code.code_region(MEMBERS, invalid_member, &nothing);
  assert_int_equal(fetestexcept(FE_INVALID), 0); /* a helper's flag of an earlier region does not count */
  (void)feraiseexcept(FE_INVALID);
  code.code_region(MEMBERS, invalid_member, &nothing);
  assert_int_not_equal(fetestexcept(FE_INVALID), 0); /* the caller's own stays */
  assert_int_equal(feclearexcept(FE_INVALID), 0);
}

/* Regions and loops share the threads: the helpers of a region are those of a loop. */
typedef struct loop_threads {
  _Atomic int arrived;
  pthread_t threads[MEMBERS];
} loop_threads;

static void note_thread(void *user, int64_t begin, int64_t end, int32_t worker) {
  loop_threads *l = user;
  (void)begin;
  (void)end;
  l->threads[worker] = pthread_self();
  atomic_fetch_add(&l->arrived, 1);
  while (atomic_load(&l->arrived) < MEMBERS) { /* so that no thread takes two pieces */
    nd4c_os_sleep(10000);
  }
}

static void test_threads_are_the_pool_s(void **state) {
  (void)state;
  region r = {0};
  loop_threads l = {0};
  code.code_region(MEMBERS, member, &r);
  nd4c_parallel_for(MEMBERS, 1, MEMBERS, note_thread, &l);
  for (int i = 0; i < MEMBERS; i++) {
    int found = 0;
    for (int k = 0; k < MEMBERS; k++) {
      found += pthread_equal(l.threads[i], r.threads[k]) != 0;
    }
    assert_int_equal(found, 1);
  }
}

/* -- static loops -------------------------------------------------------------------------------------------------- */

enum { MOST = 64 };
typedef struct blocks {
  long start, end, increment, chunk;
  _Atomic int owner[MOST]; /* 1 + the member that ran the iteration */
  _Atomic int wrong;
} blocks;

static void note_block(void *user, int number, long begin, long end) {
  blocks *b = user;
  for (long i = begin; b->increment > 0 ? i < end : i > end; i += b->increment) {
    const long iteration = (i - b->start) / b->increment;
    int none = 0;
    if (iteration < 0 || iteration >= MOST ||
        !atomic_compare_exchange_strong(&b->owner[iteration], &none, number + 1)) {
      atomic_store(&b->wrong, 1);
    }
  }
}

static void loop_member(void *user, int number, int members) {
  blocks *b = user;
  (void)number;
  (void)members;
  code.code_loop(b->start, b->end, b->increment, b->chunk, note_block, b);
}

static void test_static_loops(void **state) {
  static const long loops[][4] = {{0, 10, 1, 0}, {0, 3, 1, 0},   {5, 5, 1, 0},   {5, 4, 1, 0},  {0, 64, 1, 0},
                                  {0, 10, 3, 0}, {10, 0, -1, 0}, {10, 0, -4, 0}, {0, 10, 1, 1}, {0, 10, 1, 3},
                                  {0, 64, 1, 5}, {20, 1, -2, 2}, {0, 2, 1, 100}};
  (void)state;
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
    blocks b = {.start = loops[i][0], .end = loops[i][1], .increment = loops[i][2], .chunk = loops[i][3]};
    code.code_region(MEMBERS, loop_member, &b);
    const long span = (b.end - b.start) * (b.increment > 0 ? 1 : -1), step = labs(b.increment);
    const long count = span <= 0 ? 0 : (span + step - 1) / step, share = count / MEMBERS, more = count % MEMBERS;
    int wrong = b.wrong;
    for (long k = 0; k < MOST; k++) {
      const long longer = more * (share + 1);
      const long owner = b.chunk > 0  ? k / b.chunk % MEMBERS
                         : k < longer ? k / (share + 1)
                         : share == 0 ? 0
                                      : more + (k - longer) / share;
      wrong |= b.owner[k] != (k < count ? owner + 1 : 0);
    }
    if (wrong) {
      fail_msg("loop %ld, %ld, %ld, chunk %ld: iterations ran twice, never or elsewhere", b.start, b.end, b.increment,
               b.chunk);
    }
  }
}

/* -- regions in regions and in loops ------------------------------------------------------------------------------- */

static void alone(void *user, int number, int members) {
  code.code_barrier(); /* the calling thread is alone in its region: it does not wait */
  atomic_fetch_add((_Atomic int *)user, number == 0 && members == 1);
}

static void nesting_member(void *user, int number, int members) {
  code.code_region(3, alone, user);
  if (code.code_number() != number || members != MEMBERS) {
    atomic_store((_Atomic int *)user, -1000);
  }
}

static void nesting_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)begin;
  (void)end;
  (void)worker;
  code.code_region(3, alone, user);
}

static void test_nested(void **state) {
  (void)state;
  _Atomic int in_region = 0, in_loop = 0, single = 0;
  code.code_region(MEMBERS, nesting_member, &in_region);
  assert_int_equal(in_region, MEMBERS);
  nd4c_parallel_for(MEMBERS, 1, MEMBERS, nesting_range, &in_loop);
  assert_int_equal(in_loop, MEMBERS);
  code.code_region(1, alone, &single);
  assert_int_equal(single, 1);
}

/* A region of one member opens one of several, in the midst of a loop: the loop goes on, and later ones are whole. */
typedef struct outer_region {
  blocks loop;
  _Atomic int nested; /* members of the inner regions */
} outer_region;

static void inner_loop_member(void *user, int number, int members) {
  outer_region *o = user;
  blocks b = {.end = MOST, .increment = 1};
  atomic_fetch_add(&o->nested, members == MEMBERS);
  code.code_region(1, loop_member, &b); /* as deep as the outer loop */
  loop_member(&b, number, members);
}

static void open_region(void *user, int number, long begin, long end) {
  outer_region *o = user;
  note_block(&o->loop, number, begin, end);
  code.code_region(MEMBERS, inner_loop_member, o);
}

static void single_member(void *user, int number, int members) {
  const blocks *b = &((outer_region *)user)->loop;
  assert_int_equal(number, 0);
  assert_int_equal(members, 1);
  code.code_loop(b->start, b->end, b->increment, b->chunk, open_region, user);
}

static void test_several_in_one(void **state) {
  (void)state;
  for (int round = 0; round < 3; round++) {
    outer_region o = {.loop = {.end = 6, .increment = 1, .chunk = 2}};
    blocks after = {.end = MOST, .increment = 1};
    code.code_region(1, single_member, &o);
    assert_int_equal(o.loop.wrong, 0);
    assert_int_equal(o.nested, 3 * MEMBERS);
    code.code_region(MEMBERS, loop_member, &after);
    assert_int_equal(after.wrong, 0);
    for (int i = 0; i < MOST; i++) {
      assert_int_equal(o.loop.owner[i], i < 6);
      assert_int_equal(after.owner[i], 1 + i / (MOST / MEMBERS));
    }
    loop_member(&o.loop, 0, 1); /* outside regions; it finds its iterations taken */
    assert_int_equal(o.loop.wrong, 1);
  }
}

/* -- callers at once ----------------------------------------------------------------------------------------------- */

/* As oneDNN's members, which wait for each other by spinning on memory. */
typedef struct meeting {
  _Atomic int arrived;
  _Atomic int members;
} meeting;

static void meet(void *user, int number, int members) {
  meeting *m = user;
  (void)number;
  atomic_store(&m->members, members);
  atomic_fetch_add(&m->arrived, 1);
  while (atomic_load(&m->arrived) < members) {
    nd4c_compiler_pause();
  }
}

static void count_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  atomic_fetch_add((_Atomic int64_t *)user, end - begin);
}

enum { CALLERS = 6, CALLS = 12 };

static void *call_often(void *argument) {
  int *wrong = argument;
  for (int i = 0; i < CALLS; i++) {
    region r = {0};
    meeting m = {0};
    _Atomic int64_t count = 0;
    code.code_region(MEMBERS, member, &r);
    code.code_region(2 + i % 3, meet, &m);
    nd4c_parallel_for(1000, 1, MEMBERS, count_range, &count);
    *wrong |= region_is_wrong(&r) | (m.arrived != 2 + i % 3) << 8 | (count != 1000) << 9;
  }
  return NULL;
}

/* No caller waits for a thread that waits for another caller's region. */
static void test_callers(void **state) {
  (void)state;
  pthread_t threads[CALLERS];
  int wrong[CALLERS] = {0};
  for (int i = 0; i < CALLERS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, &wrong[i]), 0);
  }
  for (int i = 0; i < CALLERS; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(wrong[i], 0);
  }
}

/* -- number of threads --------------------------------------------------------------------------------------------- */

static void *other_thread_s_threads(void *argument) {
  *(int *)argument = code.code_max_threads();
  return NULL;
}

static void test_number_of_threads(void **state) {
  (void)state;
  void *library = NULL;
  nd4c_host_openmp openmp = open_copy("openmp_code", &library); /* a second time: the same answer */
  assert_true(openmp.on_pool);
  assert_int_equal(code.code_max_threads(), 4); /* nd4c.width */
  openmp.set_num_threads(3);
  assert_int_equal(code.code_max_threads(), 3);
  assert_int_equal(openmp.get_max_threads(), 3);
  int other = 0;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, other_thread_s_threads, &other), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(other, 4); /* each thread has its own number */
  assert_int_equal(nd4c_config_set("nd4c.pool", "serial"), ND4C_OK);
  assert_int_equal(code.code_max_threads(), 1);
  region r = {0}; /* of as many members as was prepared before */
  code.code_region(MEMBERS, member, &r);
  assert_int_equal(region_is_wrong(&r), 0);
  assert_int_equal(nd4c_config_set("nd4c.pool", NULL), ND4C_OK);
  openmp.set_num_threads(4);
}

/* -- libraries that keep their runtime ----------------------------------------------------------------------------- */

static void expect_kept(const char *copy, const char *reason) {
  void *library = NULL;
  nd4c_host_openmp openmp = open_copy(copy, &library);
  assert_false(openmp.on_pool);
  if (strstr(openmp.text, reason) == NULL) {
    fail_msg("%s: \"%s\", expected a text with \"%s\"", copy, openmp.text, reason);
  }
  int (*max_threads)(void) = NULL;
  void *symbol = dlsym(library, "code_max_threads");
  memcpy(&max_threads, &symbol, sizeof symbol);
  assert_ptr_not_equal(openmp.get_max_threads, NULL);
  openmp.set_num_threads(5);
  assert_int_equal(max_threads(), 5); /* the runtime's own number, which nd4c's do not see */
  assert_int_equal(code.code_max_threads(), 4);
  assert_true(openmp.get_max_active_levels() >= 1);
}

static void test_kept_runtimes(void **state) {
  (void)state;
  char path[4096];
  assert_int_equal(nd4c_config_set("nd4c.pool", "openmp"), ND4C_OK);
  expect_kept("openmp_code_off", "nd4c.pool is openmp");
  assert_int_equal(nd4c_config_set("nd4c.pool", NULL), ND4C_OK);
  expect_kept("openmp_code_critical", "it calls GOMP_critical_start, which nd4c lacks");
  snprintf(path, sizeof path, "%s/libopenmp_code_before.so", ND4C_TEST_OPENMP_FOLDER);
  assert_non_null(dlopen(path, RTLD_NOW | RTLD_LOCAL));
  expect_kept("openmp_code_before", "the program had loaded the library before nd4c");
}

static void test_bad_calls(void **state) {
  (void)state;
  void *library = NULL;
  nd4c_host_openmp openmp = {.struct_size = sizeof openmp};
  assert_int_equal(nd4c_openmp_open("libmissing-nd4c.so", "", &library, &openmp), ND4C_LIBRARY);
  assert_non_null(strstr(nd4c_error_message(), "libmissing-nd4c.so could not be loaded"));
  assert_int_equal(nd4c_openmp_open(NULL, "", &library, &openmp), ND4C_ARGUMENT);
  assert_int_equal(nd4c_openmp_open("libm.so.6", "", &library, NULL), ND4C_ARGUMENT);
  openmp.struct_size = 0;
  assert_int_equal(nd4c_openmp_open("libm.so.6", "", &library, &openmp), ND4C_ARGUMENT);
  openmp = (nd4c_host_openmp){.struct_size = sizeof openmp};
  assert_int_equal(nd4c_openmp_open("libm.so.6", "", &library, &openmp), ND4C_OK);
  assert_string_equal(openmp.text, "without OpenMP");
  assert_false(openmp.on_pool);
  assert_null(openmp.set_num_threads);
}

/* -- after a fork, and without threads ----------------------------------------------------------------------------- */

#if !defined(ND4C_THREAD_SANITIZER) /* ThreadSanitizer forbids threads in the child of a process with threads */

static int child_has_threads(void) {
  region r = {0};
  code.code_region(MEMBERS, member, &r);
  return region_is_wrong(&r) == 0;
}

/* The system refuses to start threads. What asks for the number of threads is told 1, and regions have one member. */
static int child_without_threads(void) {
  _Atomic int single = 0;
  _Atomic int64_t count = 0;
  void *library = NULL;
  nd4c_host_openmp openmp = open_copy("openmp_code", &library);
  openmp.set_num_threads(4);
  nd4c_allocation_fail_at(0);
  const int told = code.code_max_threads();
  nd4c_allocation_fail_at(-1);
  code.code_region(MEMBERS, alone, &single);
  nd4c_parallel_for(1000, 1, MEMBERS, count_range, &count);
  const int good = told == 1 && single == 1 && count == 1000;
  nd4c_os_sleep(110000000); /* then it may try again */
  return good && code.code_max_threads() == 4 && child_has_threads();
}

static void expect_in_child(int (*test)(void), const char *what) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(20); /* ends a child that waits for threads of the parent */
    _exit(test() ? 0 : 1);
  }
  int result = 0;
  assert_int_equal(waitpid(child, &result, 0), child);
  if (!WIFEXITED(result) || WEXITSTATUS(result) != 0) {
    fail_msg("%s: the child ended with %d", what, result);
  }
}

static int child_of_kept_runtime(void) {
  void *library = NULL;
  nd4c_host_openmp openmp = open_copy("openmp_code_off", &library);
  return openmp.get_max_active_levels() == 0;
}

static void test_fork(void **state) {
  (void)state;
  expect_in_child(child_has_threads, "a region");
  expect_in_child(child_without_threads, "no threads");
  expect_in_child(child_of_kept_runtime, "a runtime that was kept");
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_region),
      cmocka_unit_test(test_invalid_operands),
      cmocka_unit_test(test_threads_are_the_pool_s),
      cmocka_unit_test(test_static_loops),
      cmocka_unit_test(test_nested),
      cmocka_unit_test(test_several_in_one),
      cmocka_unit_test(test_callers),
      cmocka_unit_test(test_number_of_threads),
      cmocka_unit_test(test_kept_runtimes),
      cmocka_unit_test(test_bad_calls),
#if !defined(ND4C_THREAD_SANITIZER)
      cmocka_unit_test(test_fork),
#endif
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}

#endif
