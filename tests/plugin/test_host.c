/* The host table's locks, threads, time and files for backends, called as a backend calls them. */
#define _GNU_SOURCE /* fork, alarm, mkdtemp, chmod */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/memory/host.h"
#include "nd4c/config.h"

static const nd4c_host *host;
static const nd4c_host_threads *t;
static const nd4c_host_files *f;

static int set_up(void **state) {
  (void)state;
  host = nd4c_host_table();
  t = host->threads;
  f = host->files;
  return 0;
}

/* -- locks and conditions ------------------------------------------------------------------------------------------ */

enum { ROUNDS = 20000, WORKERS = 3 };

static nd4c_host_lock lock;
static nd4c_host_condition changed;
static int64_t total, turn;

static nd4c_status add_rounds(void *argument) {
  (void)argument;
  for (int i = 0; i < ROUNDS; i++) {
    t->lock_acquire(&lock);
    total++;
    t->lock_release(&lock);
  }
  return ND4C_OK;
}

static void lock_excludes(void **state) {
  (void)state;
  nd4c_host_thread *threads[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    assert_int_equal(t->thread_start("adder", 0, add_rounds, NULL, &threads[i]), ND4C_OK);
  }
  for (int i = 0; i < WORKERS; i++) {
    assert_int_equal(t->thread_join(threads[i]), ND4C_OK);
  }
  assert_int_equal(total, WORKERS * ROUNDS);
}

static nd4c_status take_turns(void *argument) {
  const int64_t own = (intptr_t)argument;
  for (int64_t i = own; i < 300; i += 2) {
    t->lock_acquire(&lock);
    while (turn != i) {
      t->condition_wait(&changed, &lock);
    }
    turn++;
    (i % 3 == 0 ? t->condition_broadcast : t->condition_signal)(&changed);
    t->lock_release(&lock);
  }
  return ND4C_OK;
}

static void condition_wakes(void **state) {
  (void)state;
  nd4c_host_thread *threads[2];
  for (intptr_t i = 0; i < 2; i++) {
    assert_int_equal(t->thread_start("turns", 0, take_turns, (void *)i, &threads[i]), ND4C_OK);
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(t->thread_join(threads[i]), ND4C_OK);
  }
  assert_int_equal(turn, 300);
}

static void timed_wait_ends(void **state) {
  (void)state;
  nd4c_host_condition never = {{0}};
  t->lock_acquire(&lock);
  const int64_t before = t->nanoseconds();
  while (t->condition_wait_until(&never, &lock, before + 3000000)) {
  }
  assert_true(t->nanoseconds() - before >= 3000000);
  assert_false(t->condition_wait_until(&never, &lock, before)); /* a deadline that has passed */
  assert_false(t->condition_wait_until(&never, &lock, -1));
  t->lock_release(&lock);
  t->condition_destroy(&never);
}

static nd4c_status signal_soon(void *argument) {
  t->sleep(1000000);
  t->lock_acquire(&lock);
  *(bool *)argument = true;
  t->condition_signal(&changed);
  t->lock_release(&lock);
  return ND4C_OK;
}

static void timed_wait_is_woken(void **state) {
  (void)state;
  bool done = false;
  nd4c_host_thread *thread;
  const int64_t deadline = t->nanoseconds() + INT64_C(60000000000);
  assert_int_equal(t->thread_start(NULL, 0, signal_soon, &done, &thread), ND4C_OK);
  t->lock_acquire(&lock);
  while (!done && t->condition_wait_until(&changed, &lock, deadline)) {
  }
  assert_true(done);
  t->lock_release(&lock);
  assert_int_equal(t->thread_join(thread), ND4C_OK);
}

static void memory_of_a_lock_serves_again(void **state) {
  (void)state;
  struct {
    nd4c_host_lock lock;
    nd4c_host_condition condition;
  } *record = host->allocate(sizeof *record);
  assert_non_null(record);
  for (int i = 0; i < 3; i++) {
    memset(record, 0, sizeof *record);
    t->lock_acquire(&record->lock);
    t->condition_broadcast(&record->condition);
    t->lock_release(&record->lock);
    t->condition_destroy(&record->condition);
    t->lock_destroy(&record->lock);
  }
  host->free(record);
}

static void time_passes(void **state) {
  (void)state;
  const int64_t before = t->nanoseconds();
  t->sleep(0);
  t->sleep(-5);
  t->yield();
  t->sleep(1000000);
  assert_true(t->nanoseconds() - before >= 1000000);
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

static nd4c_status fail_with_text(void *argument) {
  return (host->fail)(ND4C_DEVICE_LOST, "the %s left", (const char *)argument);
}

static nd4c_status fail_without_text(void *argument) {
  (void)argument;
  return ND4C_MEMORY;
}

static void thread_tells_its_failure(void **state) {
  (void)state;
  nd4c_host_thread *thread;
  assert_int_equal(t->thread_start("teller", 0, fail_with_text, (void *)(uintptr_t) "device", &thread), ND4C_OK);
  (void)(host->fail)(ND4C_ARGUMENT, "the joiner's own");
  assert_int_equal(t->thread_join(thread), ND4C_DEVICE_LOST);
  assert_string_equal(host->error_message(), "the device left");
  assert_int_equal(t->thread_start("teller", 0, fail_without_text, NULL, &thread), ND4C_OK);
  assert_int_equal(t->thread_join(thread), ND4C_MEMORY);
  assert_string_equal(host->error_message(), nd4c_status_text(ND4C_MEMORY));
}

typedef struct about_thread {
  size_t stack;
  char name[16];
  bool signals_blocked;
} about_thread;

static nd4c_status look_around(void *argument) {
  about_thread *about = argument;
  pthread_attr_t attributes;
  sigset_t blocked;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    (void)pthread_attr_getstacksize(&attributes, &about->stack);
    (void)pthread_attr_destroy(&attributes);
  }
  (void)pthread_getname_np(pthread_self(), about->name, sizeof about->name);
  (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  about->signals_blocked = sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGCHLD) == 1;
  return ND4C_OK;
}

static void thread_has_name_and_stack(void **state) {
  (void)state;
  const struct {
    const char *name;
    int64_t stack;
    const char *shown;
    size_t least;
  } rows[] = {{"a queue", 4 << 20, "a queue", 4 << 20},
              {"a name that is far too long", 1, "a name that is ", 16384},
              {NULL, 3000001, "nd4c", 3000001},
              {"", 0, "", 16384}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    about_thread about = {.stack = 0};
    nd4c_host_thread *thread;
    assert_int_equal(t->thread_start(rows[i].name, rows[i].stack, look_around, &about, &thread), ND4C_OK);
    assert_int_equal(t->thread_join(thread), ND4C_OK);
    assert_string_equal(about.name, rows[i].shown);
    assert_true(about.stack >= rows[i].least);
    assert_true(about.signals_blocked);
  }
}

static void odd_stacks_are_refused(void **state) {
  (void)state;
  const int64_t odd[] = {-1, INT64_MIN, INT64_MAX, (INT64_C(1) << 30) + 1};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    nd4c_host_thread *thread = NULL;
    assert_int_equal(t->thread_start("odd", odd[i], look_around, NULL, &thread), ND4C_ARGUMENT);
    assert_null(thread);
    assert_non_null(strstr(host->error_message(), "thread odd: a stack of "));
  }
}

static nd4c_status wait_for_release(void *argument) {
  while (!atomic_load((atomic_bool *)argument)) {
    t->sleep(100000);
  }
  return ND4C_OK;
}

/* In the child a lock has its state at the fork, and the library does not wait for a thread of the parent. */
static void child_of_fork(void **state) {
  (void)state;
  atomic_bool released = false;
  nd4c_host_thread *thread;
  assert_int_equal(t->thread_start("parent's", 0, wait_for_release, &released, &thread), ND4C_OK);
  const pid_t child = fork();
  if (child == 0) {
    (void)alarm(20);
    t->lock_acquire(&lock); /* was free */
    t->lock_release(&lock);
    bool good = t->thread_join(thread) == ND4C_DEVICE && strstr(host->error_message(), "before the fork") != NULL;
#if !defined(__SANITIZE_THREAD__) /* which starts no threads there */
    good = good && t->thread_start("own", 0, add_rounds, NULL, &thread) == ND4C_OK && t->thread_join(thread) == ND4C_OK;
#endif
    _exit(good ? 0 : 1);
  }
  int result = 0;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));
  assert_int_equal(WEXITSTATUS(result), 0);
  atomic_store(&released, true);
  assert_int_equal(t->thread_join(thread), ND4C_OK);
}

/* -- files --------------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/nd4c-host-XXXXXX";

static void path_of(char *path, const char *name) {
  (void)snprintf(path, 256, "%s/deep/er/%s", folder, name);
}

static bool count_names(void *user, const char *name) {
  (void)name;
  return ++*(int *)user < 2;
}

static void files_come_back(void **state) {
  (void)state;
  char path[256], link[256];
  static const char text[] = "some bytes";
  void *bytes = NULL;
  int64_t size = -1;
  int count = 0;
  assert_non_null(mkdtemp(folder));
  path_of(path, "");
  assert_int_equal(f->make_directory(path), ND4C_OK);
  assert_int_equal(f->make_directory(path), ND4C_OK);
  path_of(path, "file");
  assert_int_equal(f->read_own(path, 100, &bytes, &size), ND4C_IO);
  assert_int_equal(f->write_own(path, "old and longer than the new one", 31), ND4C_OK);
  assert_int_equal(f->write_own(path, text, sizeof text), ND4C_OK);
  assert_int_equal(f->read_own(path, sizeof text, &bytes, &size), ND4C_OK);
  assert_int_equal(size, sizeof text);
  assert_memory_equal(bytes, text, sizeof text);
  host->free(bytes);
  struct stat about;
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0600);

  /* Files that other users may write to, and paths that are not files, are not read. */
  assert_int_equal(f->read_own(path, sizeof text - 1, &bytes, &size), ND4C_FORMAT);
  assert_null(bytes);
  assert_int_equal(chmod(path, 0620), 0);
  assert_int_equal(f->read_own(path, 100, &bytes, &size), ND4C_FORMAT);
  assert_non_null(strstr(host->error_message(), "other users may write to it"));
  assert_int_equal(chmod(path, 0600), 0);
  path_of(link, "link");
  assert_int_equal(symlink(path, link), 0);
  assert_int_equal(f->read_own(link, 100, &bytes, &size), ND4C_FORMAT);
  assert_int_equal(f->make_directory(path), ND4C_IO);
  path_of(path, "empty");
  assert_int_equal(f->write_own(path, NULL, 0), ND4C_OK);
  assert_int_equal(f->read_own(path, 0, &bytes, &size), ND4C_OK);
  assert_int_equal(size, 0);
  assert_null(bytes);
  assert_int_equal(f->write_own(path, text, -1), ND4C_ARGUMENT);
  path_of(path, "pipe");
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(f->read_own(path, 100, &bytes, &size), ND4C_FORMAT);

  path_of(path, "");
  assert_int_equal(f->list(path, count_names, &count), ND4C_OK);
  assert_int_equal(count, 2); /* of four: the function ended the list */
  assert_int_equal(f->list("/nonexistent", count_names, &count), ND4C_IO);
  assert_int_equal(f->make_directory("relative"), ND4C_IO);
  assert_int_equal(f->make_directory("/proc/nd4c"), ND4C_IO);
  const char *const names[] = {"file", "link", "empty", "pipe"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    path_of(path, names[i]);
    assert_int_equal(unlink(path), 0);
  }
  path_of(path, "");
  assert_int_equal(rmdir(path), 0);
}

static void cache_directory_is_the_environments(void **state) {
  (void)state;
  char path[64];
  assert_int_equal(setenv("XDG_CACHE_HOME", "/some/where", 1), 0);
  assert_true(f->cache_directory(path, sizeof path));
  assert_string_equal(path, "/some/where/nd4c");
  assert_false(f->cache_directory(path, 8));
}

/* -- configuration ------------------------------------------------------------------------------------------------- */

static void properties_are_copied(void **state) {
  (void)state;
  char text[16];
  int64_t number = 7;
  assert_int_equal(nd4c_config_set("nd4c.memory.cache", "3m"), ND4C_OK);
  assert_true(host->config("nd4c.memory.cache", text, sizeof text));
  assert_string_equal(text, "3m");
  assert_true(host->config("nd4c.memory.cache", text, 2));
  assert_string_equal(text, "3");
  assert_true(host->config_number("nd4c.memory.cache", &number));
  assert_int_equal(number, 3 << 20);
  assert_true(host->config_number("nd4c.strict", &number));
  assert_int_equal(number, 0);
  assert_false(host->config_number("nd4c.routing", &number)); /* a string */
  (void)(host->fail)(ND4C_ARGUMENT, "stays");
  assert_false(host->config("nd4c.memory.cash", text, sizeof text));
  assert_string_equal(text, "");
  assert_false(host->config_number("nd4c.memory.cash", &number));
  assert_string_equal(host->error_message(), "stays");
  assert_int_equal(nd4c_config_set("nd4c.memory.cache", NULL), ND4C_OK);
}

/* Two mappings of one descriptor show the same bytes, wherever in a page they begin. */
static void descriptors_are_mapped(void **state) {
  (void)state;
  enum { SIZE = 10000, FROM = 4100 };
  int32_t descriptor = memfd_create("test", MFD_CLOEXEC), second = -1;
  void *whole = NULL, *part = NULL;
  assert_true(descriptor >= 0);
  assert_int_equal(ftruncate(descriptor, SIZE), 0);
  assert_int_equal(f->duplicate(descriptor, &second), ND4C_OK);
  assert_true(second >= 0 && second != descriptor);
  assert_int_equal(fcntl(second, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  assert_int_equal(f->map(descriptor, 0, SIZE, true, &whole), ND4C_OK);
  (void)close(descriptor);
  assert_int_equal(f->map(second, FROM, SIZE - FROM, false, &part), ND4C_OK);
  ((char *)whole)[SIZE - 1] = 5;
  assert_int_equal(((char *)part)[SIZE - FROM - 1], 5);
  f->unmap(whole, SIZE);
  assert_int_equal(((char *)part)[SIZE - FROM - 1], 5);
  f->unmap(part, SIZE - FROM);
  assert_int_equal(f->map(second, FROM, SIZE, false, &part), ND4C_ARGUMENT);
  assert_int_equal(f->map(second, -1, 1, false, &part), ND4C_ARGUMENT);
  assert_int_equal(f->map(second, 1, INT64_MAX, false, &part), ND4C_ARGUMENT);
  assert_int_equal(f->map(second, 0, 0, false, &part), ND4C_ARGUMENT);
  f->close(second);
  assert_int_equal(f->map(second, 0, 1, false, &part), ND4C_ARGUMENT);
  assert_int_equal(f->duplicate(second, &second), ND4C_ARGUMENT);
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  assert_int_equal(f->map(pipes[0], 0, 1, false, &part), ND4C_ARGUMENT);
  (void)close(pipes[0]);
  (void)close(pipes[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lock_excludes),
      cmocka_unit_test(condition_wakes),
      cmocka_unit_test(timed_wait_ends),
      cmocka_unit_test(timed_wait_is_woken),
      cmocka_unit_test(memory_of_a_lock_serves_again),
      cmocka_unit_test(time_passes),
      cmocka_unit_test(thread_tells_its_failure),
      cmocka_unit_test(thread_has_name_and_stack),
      cmocka_unit_test(odd_stacks_are_refused),
      cmocka_unit_test(child_of_fork),
      cmocka_unit_test(files_come_back),
      cmocka_unit_test(cache_directory_is_the_environments),
      cmocka_unit_test(descriptors_are_mapped),
      cmocka_unit_test(properties_are_copied),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
