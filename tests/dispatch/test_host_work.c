/* Scratch of the ops that the library itself computes: zeroed, aligned, apart, and refused if no address space holds
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dispatch/host/work.h"

static void blocks_are_zeroed_aligned_and_apart(void **state) {
  enum { BLOCKS = 24, ROUNDS = 3 };
  (void)state;
  for (int round = 0; round < ROUNDS; round++) { /* later rounds meet memory that earlier ones have written */
    nd4c_work work = {NULL};
    unsigned char *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
      const size_t bytes = i * 37;
      blocks[i] = nd4c_work_take(&work, i, 37);
      assert_non_null(blocks[i]);
      assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
      for (size_t k = 0; k < bytes; k++) {
        assert_int_equal(blocks[i][k], 0);
      }
      memset(blocks[i], (int)i + 1, bytes);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
      for (size_t k = 0; k < i * 37; k++) {
        assert_int_equal(blocks[i][k], i + 1);
      }
    }
    nd4c_work_end(&work);
    assert_null(work.first);
  }
}

/* None of these is a number of bytes that a size_t holds together with the block's head; each would wrap to few bytes.
 */
static void what_no_size_holds_is_refused(void **state) {
  (void)state;
  nd4c_work work = {NULL};
  assert_null(nd4c_work_take(&work, SIZE_MAX, 1));
  assert_null(nd4c_work_take(&work, 1, SIZE_MAX));
  assert_null(nd4c_work_take(&work, SIZE_MAX - sizeof(max_align_t) + 1, 1));
  assert_null(nd4c_work_take(&work, SIZE_MAX / 16 + 1, 16));
  assert_null(nd4c_work_take(&work, SIZE_MAX / 2 + 1, 2));
  assert_null(work.first);
  assert_non_null(nd4c_work_take(&work, 5, 0));
  assert_non_null(nd4c_work_take(&work, 0, SIZE_MAX));
  nd4c_work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
                                     cmocka_unit_test(what_no_size_holds_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
