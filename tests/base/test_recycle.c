/* Recycled blocks: zeroed, without an allocation once the lists hold some, whichever thread released them, also in the
 * child of a fork. No block is kept while a test injects failures. */
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
#include "base/region.h"

static bool is_zero(const unsigned char *block, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (block[i] != 0) {
      return false;
    }
  }
  return true;
}

static void *taken(size_t bytes) {
  unsigned char *block = nd4c_recycle_take(bytes);
  assert_non_null(block);
  assert_true(is_zero(block, bytes));
  memset(block, 0xa5, bytes);
  return block;
}

static const struct {
  size_t bytes;
  bool kept;
} sizes[] = {{0, true},    {1, true},    {63, true},   {64, true},    {65, true},    {640, true},   {1024, true},
             {1025, true}, {4096, true}, {8193, true}, {16384, true}, {16385, true}, {65536, true}, {65537, false}};

static void sizes_are_kept_zeroed_and_trimmed(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    nd4c_recycle_trim();
    nd4c_recycle_give(taken(sizes[i].bytes), sizes[i].bytes);
    int64_t before = nd4c_allocation_count();
    nd4c_recycle_give(taken(sizes[i].bytes), sizes[i].bytes);
    assert_int_equal(nd4c_allocation_count() - before, sizes[i].kept && ND4C_RECYCLES ? 0 : 1);
    nd4c_recycle_trim();
    before = nd4c_allocation_count();
    nd4c_recycle_give(taken(sizes[i].bytes), sizes[i].bytes);
    assert_int_equal(nd4c_allocation_count() - before, 1);
  }
  nd4c_recycle_give(NULL, 64);
}

/* Bytes that regions count are those that they hold, and they use all of them. */
static void regions_count_whole_blocks(void **state) {
  enum { FIRST = 20000, SECOND = 10000 }; /* both fit a block of 32 KiB */
  nd4c_region region = {0};
  (void)state;
  assert_true(nd4c_recycle_size(FIRST) >= FIRST);
  assert_int_equal(nd4c_recycle_size(ND4C_RECYCLE_LARGEST + 1), ND4C_RECYCLE_LARGEST + 1);
  assert_non_null(nd4c_region_take(&region, FIRST, 1));
  const size_t total = region.total;
  assert_non_null(nd4c_region_take(&region, SECOND, 1));
  if (ND4C_RECYCLES) {
    assert_true(total < nd4c_recycle_size(FIRST) && total + 64 >= nd4c_recycle_size(FIRST));
    assert_int_equal(region.total, total);
  }
  nd4c_region_free(&region);
}

static void a_block_grows(void **state) {
  (void)state;
  char *block = nd4c_recycle_grow(NULL, 0, 0, 100);
  assert_non_null(block);
  memset(block, 'x', 100);
  nd4c_allocation_fail_at(0);
  assert_null(nd4c_recycle_grow(block, 100, 100, 5000));
  nd4c_allocation_fail_at(-1);
  char *larger = nd4c_recycle_grow(block, 60, 100, 5000);
  assert_non_null(larger);
  for (int i = 0; i < 60; i++) {
    assert_int_equal(larger[i], 'x');
  }
  int64_t before = nd4c_allocation_count();
  block = taken(100); /* the smaller one came back */
  assert_int_equal(nd4c_allocation_count() - before, ND4C_RECYCLES ? 0 : 1);
  nd4c_recycle_give(block, 100);
  nd4c_recycle_give(larger, 5000);
}

static void what_is_kept_hides_no_failure(void **state) {
  (void)state;
  nd4c_recycle_give(taken(100), 100);
  nd4c_allocation_fail_at(1);
  void *fresh = nd4c_recycle_take(100);
  assert_null(nd4c_recycle_take(100));
  nd4c_allocation_fail_at(-1);
  assert_non_null(fresh);
  nd4c_recycle_give(fresh, 100);
  nd4c_recycle_give(taken(100), 100);
}

enum { MANY = 100, ROUNDS = 200, THREADS = 4 };

static void *give_all(void *argument) {
  void **blocks = argument;
  for (int i = 0; i < MANY; i++) {
    nd4c_recycle_give(blocks[i], 200);
  }
  return NULL;
}

/* This thread takes blocks, another one releases them: the blocks that the other one keeps are freed when it ends. */
static void what_another_thread_gives_back_returns(void **state) {
  (void)state;
  enum { OF_A_THREAD = 16 };
  void *blocks[MANY];
  int64_t before = 0;
  nd4c_recycle_trim();
  for (int round = 0; round < 2; round++) {
    pthread_t thread;
    before = nd4c_allocation_count();
    for (int i = 0; i < MANY; i++) {
      blocks[i] = taken(200);
    }
    assert_int_equal(pthread_create(&thread, NULL, give_all, blocks), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
  }
  assert_true(nd4c_allocation_count() - before <= (ND4C_RECYCLES ? OF_A_THREAD : MANY));
}

/* Blocks passed between threads; a block that is not in its place belongs to one thread. */
static void *_Atomic places[MANY];

static void *pass_blocks(void *argument) {
  size_t number = (size_t)(uintptr_t)argument;
  for (size_t i = 0; i < (size_t)ROUNDS * MANY; i++) {
    size_t at = (i * (2 * number + 1)) % MANY, bytes = 64 + at % 8 * 40;
    unsigned char *block = nd4c_recycle_take(bytes);
    if (block == NULL || !is_zero(block, bytes)) {
      return NULL;
    }
    memset(block, (int)at + 1, bytes);
    unsigned char *other = atomic_exchange(&places[at], block);
    for (size_t k = 0; other != NULL && k < bytes; k++) {
      if (other[k] != (unsigned char)(at + 1)) {
        return NULL;
      }
    }
    nd4c_recycle_give(other, bytes);
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
  for (size_t at = 0; at < MANY; at++) {
    nd4c_recycle_give(atomic_exchange(&places[at], NULL), 64 + at % 8 * 40);
  }
  nd4c_recycle_trim();
}

static atomic_bool stopped;

/* Takes and releases more than a thread keeps, so that almost every turn takes the lock of the shared lists. */
static void *use_shared_lists(void *argument) {
  void *blocks[MANY];
  while (!atomic_load(&stopped)) {
    for (int i = 0; i < MANY; i++) {
      blocks[i] = nd4c_recycle_take(200);
    }
    give_all(blocks);
  }
  return argument;
}

static void the_child_of_a_fork_goes_on(void **state) {
  (void)state;
  enum { CHILDREN = 20 };
  if (!ND4C_RECYCLES) {
    skip(); /* AddressSanitizer's own allocator may hang in such a child */
  }
  pthread_t thread;
  int failed = 0;
  void *blocks[MANY];
  nd4c_recycle_give(taken(200), 200);
  assert_int_equal(pthread_create(&thread, NULL, use_shared_lists, NULL), 0);
  for (int child = 0; child < CHILDREN; child++) {
    pid_t id = fork();
    if (id == 0) {
      (void)alarm(20);
      for (int i = 0; i < MANY; i++) {
        blocks[i] = nd4c_recycle_take(200);
      }
      give_all(blocks);
      _exit(0);
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
      cmocka_unit_test(sizes_are_kept_zeroed_and_trimmed),
      cmocka_unit_test(regions_count_whole_blocks),
      cmocka_unit_test(a_block_grows),
      cmocka_unit_test(what_is_kept_hides_no_failure),
      cmocka_unit_test(what_another_thread_gives_back_returns),
      cmocka_unit_test(threads_share_no_block),
      cmocka_unit_test(the_child_of_a_fork_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
