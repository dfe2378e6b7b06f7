/* Which processors the threads of the pool may use: src/base/threads/placement.h, and its calls of src/base/os.h. */
#define _GNU_SOURCE /* sched_setaffinity, fork, gettid */

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/os.h"
#include "base/threads/parallel.h"

static cpu_set_t allowed_now(void) {
  cpu_set_t set;
  assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

static void allow(const cpu_set_t *set) {
  assert_int_equal(sched_setaffinity(0, sizeof *set, set), 0);
}

static cpu_set_t only(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)processor, &set);
  return set;
}

/* The first processor of a set, or the second one. */
static int member(const cpu_set_t *set, int index) {
  for (int i = 0; i < CPU_SETSIZE; i++) {
    if (CPU_ISSET((size_t)i, set) && index-- == 0) {
      return i;
    }
  }
  return -1;
}

static void expect_allowed(cpu_set_t set, int without) {
  if (without >= 0) {
    CPU_CLR((size_t)without, &set);
  }
  const cpu_set_t now = allowed_now();
  assert_true(CPU_EQUAL(&now, &set));
}

static void test_avoids_one_processor(void **state) {
  const cpu_set_t all = allowed_now();
  nd4c_os_placement placement;
  (void)state;
  if (CPU_COUNT(&all) < 2) {
    skip();
  }
  const int first = member(&all, 0), second = member(&all, 1);
  assert_true(nd4c_os_placement_read(&placement));
  nd4c_os_placement_avoid(&placement, first);
  expect_allowed(all, first);
  assert_int_not_equal(nd4c_os_processor(), first);
  nd4c_os_placement_avoid(&placement, second);
  expect_allowed(all, second);
  nd4c_os_placement_avoid(&placement, -1);
  expect_allowed(all, -1);
}

/* What taskset and others say counts from the next change on, and a thread keeps the only processor it has. */
static void test_keeps_what_others_chose(void **state) {
  const cpu_set_t all = allowed_now();
  nd4c_os_placement placement;
  (void)state;
  if (CPU_COUNT(&all) < 2) {
    skip();
  }
  const int first = member(&all, 0), second = member(&all, 1);
  const cpu_set_t chosen = only(first);
  assert_true(nd4c_os_placement_read(&placement));
  nd4c_os_placement_avoid(&placement, first);
  allow(&chosen);
  nd4c_os_placement_avoid(&placement, first);
  expect_allowed(chosen, -1);
  nd4c_os_placement_avoid(&placement, second);
  expect_allowed(chosen, -1);
  nd4c_os_placement_avoid(&placement, -1);
  expect_allowed(chosen, -1);
  assert_false(nd4c_os_placement_read(&placement));
  allow(&all);
}

typedef struct meeting {
  _Atomic int come;
  _Atomic int32_t processors[2];
} meeting;

/* The two pieces wait for each other, so each has a thread of its own. */
static void meet(void *user, int64_t begin, int64_t end, int32_t worker) {
  meeting *m = user;
  (void)end;
  (void)worker;
  /* Afterwards the caller may sleep, and the helper may use its processor. */
  atomic_store(&m->processors[begin], nd4c_os_processor());
  atomic_fetch_add(&m->come, 1);
  while (atomic_load(&m->come) < 2) {
    (void)sched_yield();
  }
}

/* Where the caller goes, the helper goes away, although the kernel's own choice may be another. */
static void test_helpers_leave_the_caller(void **state) {
  const cpu_set_t all = allowed_now();
  (void)state;
  if (CPU_COUNT(&all) < 2 || nd4c_parallel_processors() < 2) {
    skip();
  }
  for (int turn = 0; turn < 20; turn++) {
    const int processor = member(&all, turn % 2);
    const cpu_set_t here = only(processor);
    meeting m = {0};
    if (turn > 0) { /* the first loop starts the thread, which inherits what the caller may use */
      allow(&here);
      nd4c_os_sleep(2000000); /* changes are a millisecond apart */
    }
    nd4c_parallel_for(2, 1, 2, meet, &m);
    assert_int_not_equal(m.processors[0], m.processors[1]);
    assert_true(turn == 0 || m.processors[0] == processor || m.processors[1] == processor);
  }
  allow(&all);
}

#if !defined(ND4C_THREAD_SANITIZER) /* ThreadSanitizer forbids threads in the child of a process with threads */

/* From here on the system ends the process if the calling thread is moved: by number 0, or by its own number. False if
 * the system has no such filters. */
static bool forbid_moves(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)gettid(), 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

enum { FOUND, NO_FILTERS, NONE_FOUND };

/* How a child ends that counts the processors, or moves itself. */
static int child_result(bool moves) {
  const cpu_set_t all = allowed_now();
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (!forbid_moves()) {
      _exit(NO_FILTERS);
    }
    if (moves) {
      (void)sched_setaffinity(0, sizeof all, &all);
    }
    meeting m = {0};
    if (nd4c_os_processors() > 1) {
      nd4c_parallel_for(2, 1, 2, meet, &m);
    }
    _exit(nd4c_os_processors() > 0 ? FOUND : NONE_FOUND);
  }
  int result = 0;
  assert_int_equal(waitpid(child, &result, 0), child);
  return result;
}

/* Counting the processors and starting the pool leave the calling thread where it is. */
static void test_first_use_moves_no_caller(void **state) {
  (void)state;
  const int moved = child_result(true);
  if (WIFEXITED(moved) && WEXITSTATUS(moved) == NO_FILTERS) {
    skip();
  }
  assert_true(WIFSIGNALED(moved)); /* the filter works */
  const int result = child_result(false);
  assert_true(WIFEXITED(result));
  assert_int_equal(WEXITSTATUS(result), FOUND);
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
#if !defined(ND4C_THREAD_SANITIZER)
      cmocka_unit_test(test_first_use_moves_no_caller),
#endif
      cmocka_unit_test(test_avoids_one_processor), cmocka_unit_test(test_keeps_what_others_chose),
      cmocka_unit_test(test_helpers_leave_the_caller)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
