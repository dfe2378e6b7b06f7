/* Loops that are too small to share stay on the caller's thread, by what they took before: src/base/threads/split.h.
 * Jobs of the pool are counted. A time is compared only where other programs, which make times longer, cannot change
 * the answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/config/config.h"
#include "base/os.h"
#include "base/threads/parallel.h"
#include "base/threads/pool.h"
#include "base/threads/split.h"

static void nothing(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)user;
  (void)begin;
  (void)end;
  (void)worker;
}

static void nothing_else(void *user, int64_t begin, int64_t end, int32_t worker) {
  nothing(user, end, begin, worker);
}

/* The key of a subject's first loop. */
static uint64_t key_of(const void *call, int64_t size, nd4c_parallel_range range, int64_t count, int64_t grain,
                       int32_t pieces) {
  const uint64_t outer = nd4c_split_begin(call, size);
  const uint64_t key = nd4c_split_key(range, count, grain, pieces);
  nd4c_split_end(outer);
  return key;
}

static void test_keys_tell_loops_apart(void **state) {
  static const int calls[2];
  const uint64_t key = key_of(&calls[0], 100, nothing, 10, 2, 4);
  (void)state;
  assert_int_equal(nd4c_split_key(nothing, 10, 2, 4), 0); /* no call runs */
  assert_int_not_equal(key, 0);
  assert_int_equal(key_of(&calls[0], 100, nothing, 10, 2, 4), key);
  assert_int_not_equal(key_of(&calls[1], 100, nothing, 10, 2, 4), key);
  assert_int_not_equal(key_of(&calls[0], 101, nothing, 10, 2, 4), key);
  assert_int_not_equal(key_of(&calls[0], 100, nothing_else, 10, 2, 4), key);
  assert_int_not_equal(key_of(&calls[0], 100, nothing, 11, 2, 4), key);
  assert_int_not_equal(key_of(&calls[0], 100, nothing, 10, 3, 4), key);
  assert_int_not_equal(key_of(&calls[0], 100, nothing, 10, 2, 5), key);
}

/* Equal loops of one call have keys of their own, up to the eighth, which stands for all that follow: a recurrent op
 * has thousands. A call inside a call does not change the outer one's loops. */
static void test_keys_number_the_loops_of_a_call(void **state) {
  static const int calls[2];
  uint64_t keys[20];
  (void)state;
  const uint64_t outer = nd4c_split_begin(&calls[0], 1);
  for (int i = 0; i < 20; i++) {
    keys[i] = nd4c_split_key(nothing, 10, 1, 2);
    const uint64_t inner = nd4c_split_begin(&calls[1], 1);
    (void)nd4c_split_key(nothing, 10, 1, 2);
    nd4c_split_end(inner);
    for (int k = 0; k < i && i < 8; k++) {
      assert_int_not_equal(keys[i], keys[k]);
    }
    assert_true(i < 8 || keys[i] == keys[7]);
  }
  nd4c_split_end(outer);
  assert_int_equal(nd4c_split_subject, 0);
}

static void test_worth(void **state) {
  static const struct {
    int64_t taken;
    int32_t team;
    int64_t price;
    bool worth;
  } rows[] = {
      {1, 2, 0, false},         {19999, 2, 0, false},      {20000, 2, 0, true},           {20000, 2, 9999, true},
      {20000, 2, 10000, false}, {40000, 2, 20000, false},  {40001, 2, 20000, true},       {40000, 4, 29999, true},
      {40000, 4, 30000, false}, {200001, 2, 100000, true}, {INT64_MAX, 64, 100000, true},
  };
  static const int calls[sizeof rows / sizeof *rows];
  (void)state;
  assert_true(nd4c_split_is_worth(0, 2, 100000)); /* no call: the grain alone decides */
  nd4c_split_note(0, 1);
  assert_true(nd4c_split_is_worth(0, 2, 100000));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const uint64_t key = key_of(&calls[i], 0, nothing, 10, 1, 2);
    assert_true(nd4c_split_is_worth(key, rows[i].team, rows[i].price)); /* unknown */
    nd4c_split_note(key, rows[i].taken);
    if (nd4c_split_is_worth(key, rows[i].team, rows[i].price) != rows[i].worth) {
      fail_msg("a loop of %lld ns, %d threads, price %lld", (long long)rows[i].taken, (int)rows[i].team,
               (long long)rows[i].price);
    }
  }
}

/* Loops that follow many others in their call find a thread awake: the price is not asked, and less is enough. */
static void test_worth_of_many(void **state) {
  static const int call;
  uint64_t keys[8];
  (void)state;
  const uint64_t outer = nd4c_split_begin(&call, 0);
  for (int i = 0; i < 8; i++) {
    keys[i] = nd4c_split_key(nothing, 10, 1, 2);
  }
  nd4c_split_end(outer);
  for (int i = 0; i < 8; i++) {
    assert_true(nd4c_split_is_worth(keys[i], 2, 100000));
    nd4c_split_note(keys[i], 8000);
    assert_int_equal(nd4c_split_is_worth(keys[i], 2, 100000), i == 7);
    nd4c_split_note(keys[i], 7999);
    assert_false(nd4c_split_is_worth(keys[i], 2, 0));
  }
}

/* One short time outweighs any number of long ones before it; long ones count again when several have come. */
static void test_the_least_time_counts(void **state) {
  static const int call;
  const uint64_t key = key_of(&call, 0, nothing, 10, 1, 2);
  (void)state;
  nd4c_split_note(key, INT64_MAX); /* the caller was not running for a while */
  assert_true(nd4c_split_is_worth(key, 2, 0));
  nd4c_split_note(key, 1000);
  assert_false(nd4c_split_is_worth(key, 2, 0));
  for (int64_t most = 2000; most < 20000; most *= 2) { /* 2000, 4000, 8000, 16000 */
    nd4c_split_note(key, 5000000);
    assert_false(nd4c_split_is_worth(key, 2, 0));
  }
  nd4c_split_note(key, 5000000); /* 32000 */
  assert_true(nd4c_split_is_worth(key, 2, 0));
  assert_true(nd4c_split_is_worth(key, 2, 15999));
  assert_false(nd4c_split_is_worth(key, 2, 16000));
}

/* -- the pool ------------------------------------------------------------------------------------------------------ */

enum { PIECES = 4 };

typedef struct visits {
  _Atomic int pieces;
  _Atomic int64_t begin[PIECES], end[PIECES];
  int64_t nanoseconds; /* that a piece takes */
} visits;

static void visit(void *user, int64_t begin, int64_t end, int32_t worker) {
  visits *v = user;
  nd4c_os_sleep(v->nanoseconds);
  atomic_fetch_add(&v->pieces, 1);
  atomic_store(&v->begin[worker], begin);
  atomic_store(&v->end[worker], end);
}

/* How many jobs the pool gets in so many runs of a loop whose pieces take so long; each run has the same pieces. */
static uint32_t jobs_of(const void *call, int runs, int64_t nanoseconds) {
  const uint32_t before = nd4c_pool_published();
  for (int i = 0; i < runs; i++) {
    visits v = {.nanoseconds = nanoseconds};
    const uint64_t outer = call != NULL ? nd4c_split_begin(call, 0) : 0;
    nd4c_parallel_for(100, 25, PIECES, visit, &v);
    nd4c_split_end(outer);
    assert_int_equal(v.pieces, PIECES);
    for (int piece = 0; piece < PIECES; piece++) {
      assert_int_equal(v.begin[piece], 25 * piece);
      assert_int_equal(v.end[piece], 25 * piece + 25);
    }
  }
  return nd4c_pool_published() - before;
}

static void test_loops_that_are_offered(void **state) {
  static const int calls[2];
  (void)state;
  assert_int_equal(nd4c_config_set("nd4c.width", "4"), ND4C_OK);
  assert_int_equal(jobs_of(NULL, 20, 0), 20);
  assert_int_equal(jobs_of(&calls[0], 20, 500000), 20); /* 2 ms or more, which is above the highest price */
  assert_in_range(jobs_of(&calls[1], 200, 0), 1, 199);
  assert_int_equal(jobs_of(&calls[1], 20, 0), 0); /* some of 200 runs took less than 10 us */
  assert_int_equal(jobs_of(NULL, 20, 0), 20);
  assert_int_equal(nd4c_config_set("nd4c.pool", "serial"), ND4C_OK);
  assert_int_equal(jobs_of(&calls[0], 5, 500000), 0);
  assert_int_equal(nd4c_config_set("nd4c.pool", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
}

/* What a wake-up costs stays within its limits, however busy the machine is. */
static void test_price(void **state) {
  (void)state;
  assert_in_range(nd4c_pool_price(), 1, 100000);
  for (int i = 0; i < 100; i++) {
    (void)jobs_of(NULL, 1, 0);
    nd4c_os_sleep(i % 2 == 0 ? 200000 : 0); /* the threads fall asleep */
    assert_in_range(nd4c_pool_price(), 1, 100000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keys_tell_loops_apart),
      cmocka_unit_test(test_keys_number_the_loops_of_a_call),
      cmocka_unit_test(test_worth),
      cmocka_unit_test(test_worth_of_many),
      cmocka_unit_test(test_the_least_time_counts),
      cmocka_unit_test(test_loops_that_are_offered),
      cmocka_unit_test(test_price),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
