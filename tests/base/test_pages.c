/* The cache of pages: each size is mapped once and reused within limits; no pages are kept while a test injects
 * failures or if the property forbids it. Trimming unmaps them. The cache serves all threads, also in the child of a
 * fork; buffers of devices do not use it. */
#define _GNU_SOURCE /* fork, alarm */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "base/threads/pages.h"
#include "nd4c/nd4c.h"

enum { KIB = 1024, MIB = 1024 * 1024, MOST = 256 };

/* How many of `count` blocks had to be mapped; they are released in the same order. */
static int64_t mapped(int count, size_t bytes) {
  void *blocks[2 * MOST];
  int64_t before = nd4c_allocation_count();
  for (int i = 0; i < count; i++) {
    blocks[i] = nd4c_pages_take(bytes, false);
    assert_non_null(blocks[i]);
    *(unsigned char *)blocks[i] = 0xa5;
  }
  int64_t fresh = nd4c_allocation_count() - before;
  for (int i = 0; i < count; i++) {
    nd4c_pages_give(blocks[i], bytes);
  }
  return fresh;
}

static int64_t of_recycled(int64_t fresh, int64_t all) {
  return ND4C_RECYCLES ? fresh : all;
}

static const struct {
  int count;
  size_t first, again;
  int64_t fresh; /* the second time */
} uses[] = {
    {1, 64 * KIB, 64 * KIB, 0},         {1, 64 * KIB + 1, 72 * KIB, 0}, /* eight steps between powers of two */
    {1, 64 * KIB + 1, 72 * KIB + 1, 1}, {1, 72 * KIB, 64 * KIB, 1},
    {1, 1000 * 1000, 1024 * 1000, 0},   {3, 5 * MIB, 5 * MIB, 0},
    {1, 64 * MIB, 64 * MIB, 0},         {1, 64 * MIB + 1, 64 * MIB + 1, 1}, /* too large */
    {4, 64 * MIB, 64 * MIB, 0},         {5, 64 * MIB, 64 * MIB, 1},         /* 256 MiB in all */
    {MOST, 64 * KIB, 64 * KIB, 0},      {MOST + 1, 64 * KIB, 64 * KIB, 1},  /* 256 blocks in all */
};

static void sizes_are_kept_within_limits_and_trimmed(void **state) {
  (void)state;
  (void)mapped(1, 64 * KIB); /* the first use reads the configuration */
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
    nd4c_pages_trim();
    assert_int_equal(mapped(uses[i].count, uses[i].first), uses[i].count);
    assert_int_equal(mapped(uses[i].count, uses[i].again), of_recycled(uses[i].fresh, uses[i].count));
  }
  nd4c_pages_trim();
  assert_int_equal(mapped(1, 64 * KIB), 1);
  nd4c_pages_give(NULL, 64 * KIB);
}

static void what_is_to_be_zero_is(void **state) {
  (void)state;
  unsigned char *block = NULL;
  for (int turn = 0; turn < 2; turn++) {
    block = nd4c_pages_take(MIB + 1, true);
    assert_non_null(block);
    assert_true(block[0] == 0 && block[MIB] == 0);
    block[0] = block[MIB] = 0xa5;
    nd4c_pages_give(block, MIB + 1);
  }
  assert_int_equal(mapped(1, MIB + 1), of_recycled(0, 1));
}

static void the_oldest_goes_first(void **state) {
  (void)state;
  nd4c_pages_trim();
  (void)mapped(1, 64 * MIB);
  (void)mapped(2, 56 * MIB);
  (void)mapped(2, 48 * MIB); /* 272 MiB */
  assert_int_equal(mapped(2, 56 * MIB), of_recycled(0, 2));
  assert_int_equal(mapped(2, 48 * MIB), of_recycled(0, 2));
  assert_int_equal(mapped(1, 64 * MIB), 1);
}

static void the_property_allows_less(void **state) {
  (void)state;
  nd4c_pages_trim();
  (void)mapped(2, MIB);
  assert_int_equal(nd4c_config_set("nd4c.memory.cache", "1m"), ND4C_OK);
  assert_int_equal(mapped(2, MIB), of_recycled(0, 2));
  assert_int_equal(mapped(2, MIB), of_recycled(1, 2));
  assert_int_equal(mapped(1, 2 * MIB), 1); /* more than may be kept: it is unmapped, and the cached blocks stay */
  assert_int_equal(mapped(1, MIB), of_recycled(0, 1));
  assert_int_equal(nd4c_config_set("nd4c.memory.cache", "0"), ND4C_OK);
  (void)mapped(1, MIB);
  assert_int_equal(mapped(1, MIB), 1);
  assert_int_equal(nd4c_config_set("nd4c.memory.cache", "1g"), ND4C_OK);
}

static void what_is_kept_hides_no_failure(void **state) {
  (void)state;
  (void)mapped(1, MIB);
  nd4c_allocation_fail_at(1);
  void *fresh = nd4c_pages_take(MIB, false);
  assert_null(nd4c_pages_take(MIB, false));
  nd4c_allocation_fail_at(-1);
  assert_non_null(fresh);
  nd4c_pages_give(fresh, MIB);
}

/* Kept pages are unmapped with the device's cache, and before an allocation fails because the system refuses. */
static void trimming_and_need_give_it_back(void **state) {
  (void)state;
  nd4c_device *cpu = NULL;
  assert_int_equal(nd4c_device_find("cpu:0", &cpu), ND4C_OK);
  (void)mapped(1, MIB);
  assert_int_equal(nd4c_memory_trim(cpu, 1), ND4C_OK);
  assert_int_equal(mapped(1, MIB), of_recycled(0, 1));
  assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK);
  assert_int_equal(mapped(1, MIB), 1);
  assert_null(nd4c_pages_map((size_t)1 << 60));
  assert_int_equal(mapped(1, MIB), 1);
}

/* The device's memory manager keeps buffers: once it has freed one, no cache keeps it. */
static void buffers_pass_it_by(void **state) {
  (void)state;
  const int64_t shape[] = {MIB};
  nd4c_device *cpu = NULL;
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_device_find("cpu:0", &cpu), ND4C_OK);
  for (size_t beside = 0; beside < 256 * KIB; beside += 64 * KIB) {
    assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK);
    assert_int_equal(nd4c_array_empty(ND4C_INT8, 1, shape, cpu, &array), ND4C_OK);
    nd4c_array_release(array);
    assert_int_equal(nd4c_memory_trim(cpu, 1), ND4C_OK);
    assert_int_equal(mapped(1, MIB + beside), 1);
  }
}

/* -- threads and processes -------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 2000, PLACES = 8, CHILDREN = 20 };

static size_t bytes_at(size_t at) {
  return 64 * KIB + at % 4 * 32 * KIB;
}

/* Blocks passed between threads; a block that is not in its place belongs to one thread. */
static void *_Atomic places[PLACES];

static void *pass_blocks(void *argument) {
  size_t number = (size_t)(uintptr_t)argument;
  for (size_t i = 0; i < ROUNDS; i++) {
    size_t at = i * (2 * number + 1) % PLACES, bytes = bytes_at(at);
    unsigned char *block = nd4c_pages_take(bytes, false);
    if (block == NULL) {
      return NULL;
    }
    block[0] = block[bytes - 1] = (unsigned char)(at + 1);
    unsigned char *other = atomic_exchange(&places[at], block);
    if (other != NULL && (other[0] != at + 1 || other[bytes - 1] != at + 1)) {
      return NULL;
    }
    nd4c_pages_give(other, bytes);
  }
  return argument;
}

static void threads_share_no_block(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, pass_blocks, (void *)(i + 1)), 0);
  }
  for (uintptr_t i = 0; i < THREADS; i++) {
    void *result = NULL;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_ptr_equal(result, (void *)(i + 1));
  }
  for (size_t at = 0; at < PLACES; at++) {
    nd4c_pages_give(atomic_exchange(&places[at], NULL), bytes_at(at));
  }
}

static atomic_bool stopped;

static void *use_the_list(void *argument) {
  while (!atomic_load(&stopped)) {
    nd4c_pages_give(nd4c_pages_take(64 * KIB, false), 64 * KIB);
  }
  return argument;
}

static void the_child_of_a_fork_starts_anew(void **state) {
  (void)state;
  pthread_t thread;
  int failed = 0;
  (void)mapped(1, MIB);
  assert_int_equal(pthread_create(&thread, NULL, use_the_list, NULL), 0);
  for (int child = 0; child < CHILDREN; child++) {
    pid_t id = fork();
    if (id == 0) {
      (void)alarm(20);
      bool anew = mapped(1, MIB) == 1 && mapped(1, MIB) == of_recycled(0, 1);
      _exit(anew ? 0 : 1);
    }
    int status = 1;
    failed += id < 0 || waitpid(id, &status, 0) != id || status != 0;
  }
  atomic_store(&stopped, true);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(failed, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_are_kept_within_limits_and_trimmed),
      cmocka_unit_test(what_is_to_be_zero_is),
      cmocka_unit_test(the_oldest_goes_first),
      cmocka_unit_test(the_property_allows_less),
      cmocka_unit_test(what_is_kept_hides_no_failure),
      cmocka_unit_test(trimming_and_need_give_it_back),
      cmocka_unit_test(buffers_pass_it_by),
      cmocka_unit_test(threads_share_no_block),
      cmocka_unit_test(the_child_of_a_fork_starts_anew),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
