/* Placement: random blocks never overlap while both live, and memory is reused. */
#include "graph/plan/plan_memory.h"

#include <time.h>

#include "graph_check.h"

static void check_placed(const nd4c_plan_block *blocks, int32_t count, int64_t bytes, uint64_t seed) {
  for (int32_t a = 0; a < count; a++) {
    assert_int_equal(blocks[a].offset % ND4C_PLAN_ALIGNMENT, 0);
    assert_true(blocks[a].offset >= 0 && blocks[a].offset + blocks[a].bytes <= bytes);
    for (int32_t b = a + 1; b < count; b++) {
      bool together = blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last;
      bool apart = blocks[a].offset + blocks[a].bytes <= blocks[b].offset ||
                   blocks[b].offset + blocks[b].bytes <= blocks[a].offset;
      if (together && !apart && blocks[a].bytes > 0 && blocks[b].bytes > 0) {
        fail_msg("seed %llu: blocks %d and %d overlap", (unsigned long long)seed, a, b);
      }
    }
  }
}

/* The most bytes alive at one step: no placement needs less. */
static int64_t least(const nd4c_plan_block *blocks, int32_t count, int32_t steps) {
  int64_t most = 0;
  for (int32_t step = 0; step < steps; step++) {
    int64_t live = 0;
    for (int32_t i = 0; i < count; i++) {
      live += blocks[i].first <= step && step <= blocks[i].last ? blocks[i].bytes : 0;
    }
    most = live > most ? live : most;
  }
  return most;
}

static void random_blocks_do_not_overlap(void **state) {
  (void)state;
  enum { MOST = 120, STEPS = 60 };
  int64_t used = 0, needed = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    uint64_t random = seed * 7919;
    nd4c_plan_block blocks[MOST];
    int32_t count = (int32_t)(check_random(&random) % MOST) + 1;
    for (int32_t i = 0; i < count; i++) {
      int32_t first = (int32_t)(check_random(&random) % STEPS);
      int32_t length = (int32_t)(check_random(&random) % 8);
      int32_t last = first + length < STEPS ? first + length : STEPS - 1;
      int64_t bytes = (int64_t)(check_random(&random) % 5 == 0 ? 0 : check_random(&random) % 100000);
      bytes = seed % 2 == 0 ? bytes / 30000 * 30000 : bytes; /* many of one size */
      blocks[i] = (nd4c_plan_block){.bytes = bytes, .first = first, .last = last};
    }
    int64_t bytes = -1;
    CHECK_OK(nd4c_plan_place_blocks(blocks, count, NULL, &bytes));
    check_placed(blocks, count, bytes, seed);
    assert_true(bytes >= least(blocks, count, STEPS));
    used += bytes;
    needed += least(blocks, count, STEPS);
  }
  /* Best fit stays near the bound; a placement without reuse would need about ten times as much. */
  assert_true((double)used <= 1.25 * (double)needed);
}

/* Very many values of one size that live together, as in a sum of all values of a chain: placed in the bytes that live
 * at once, below a second, and smaller ones around them. */
static void many_blocks_take_linear_time(void **state) {
  (void)state;
  enum { HALF = 40000, COUNT = 2 * HALF, SMALL = 10 };
  nd4c_plan_block *blocks = test_malloc((COUNT + SMALL) * sizeof *blocks);
  int64_t bytes = 0;
  for (int32_t i = 0; i < HALF; i++) { /* value i is read by sum i, which the next sum reads */
    blocks[i] = (nd4c_plan_block){.bytes = 256, .first = i, .last = HALF + i};
    blocks[HALF + i] = (nd4c_plan_block){.bytes = 256, .first = HALF + i, .last = HALF + i + 1};
  }
  for (int32_t i = 0; i < SMALL; i++) {
    blocks[COUNT + i] = (nd4c_plan_block){.bytes = 64, .first = HALF / 2, .last = HALF + HALF / 2};
  }
  const clock_t begin = clock();
  CHECK_OK(nd4c_plan_place_blocks(blocks, COUNT, NULL, &bytes));
  assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 1);
  assert_int_equal(bytes, (HALF + 1) * 256);
  CHECK_OK(nd4c_plan_place_blocks(blocks, COUNT + SMALL, NULL, &bytes));
  assert_true(bytes <= (HALF + 1) * 256 + SMALL * 64);
  bool *taken = test_calloc((size_t)(bytes / 64), sizeof *taken);
  for (int32_t step = 0; step < COUNT; step += HALF / 8) { /* no two that live in a step overlap */
    memset(taken, 0, (size_t)(bytes / 64) * sizeof *taken);
    for (int32_t i = 0; i < COUNT + SMALL; i++) {
      for (int64_t at = 0; at < blocks[i].bytes && blocks[i].first <= step && step <= blocks[i].last; at += 64) {
        assert_false(taken[(blocks[i].offset + at) / 64]);
        taken[(blocks[i].offset + at) / 64] = true;
      }
    }
  }
  test_free(taken);
  test_free(blocks);
}

static void sizes_that_overflow_are_refused(void **state) {
  (void)state;
  int64_t bytes = 0;
  nd4c_plan_block one[] = {{.bytes = INT64_MAX, .first = 0, .last = 0}};
  assert_int_equal(nd4c_plan_place_blocks(one, 1, NULL, &bytes), ND4C_OVERFLOW);
  assert_non_null(strstr(nd4c_error_message(), "9223372036854775807 bytes"));
  nd4c_plan_block two[] = {{.bytes = INT64_MAX / 2 + 1, .first = 0, .last = 0},
                           {.bytes = INT64_MAX / 2 + 1, .first = 0, .last = 0}};
  assert_int_equal(nd4c_plan_place_blocks(two, 2, NULL, &bytes), ND4C_OVERFLOW);
  assert_non_null(strstr(nd4c_error_message(), "together"));
}

static void no_memory_is_reported(void **state) {
  (void)state;
  int64_t bytes = 0;
  nd4c_plan_block one[] = {{.bytes = 100, .first = 0, .last = 0}};
  nd4c_allocation_fail_at(0);
  assert_int_equal(nd4c_plan_place_blocks(one, 1, NULL, &bytes), ND4C_MEMORY);
  nd4c_allocation_fail_at(-1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_blocks_do_not_overlap),
      cmocka_unit_test(many_blocks_take_linear_time),
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(no_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
