/* Deadlines and requests that end a reduction while it runs: of a broadcast view, which has more elements than memory.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/os.h"
#include "nd4c/cancellation.h"
#include "nd4c/nd4c.h"

/* x of extents `own`, seen as `shape` and reduced along the axes. */
typedef struct reduction {
  const char *op;
  nd4c_dtype dtype;
  int64_t own[4], shape[4]; /* of x, and of its view */
  int32_t axis_count;
  int64_t axes[4];
} reduction;

static const reduction reductions[] = {
    {"sum", ND4C_FLOAT32, {1, 1, 1, 1}, {1000, 1000, 1000, 10000}, 4, {0, 1, 2, 3}}, /* one long run */
    {"sum", ND4C_FLOAT64, {1, 1, 1, 7}, {1000, 1000, 1000000, 7}, 4, {0, 1, 2, 3}},
    {"max", ND4C_FLOAT32, {1, 1, 1, 7}, {1000, 1000, 1000000, 7}, 3, {0, 1, 2}}, /* short lines of many rows */
    {"mean", ND4C_FLOAT32, {1, 1, 1, 5000}, {1000, 1000, 1000, 5000}, 3, {0, 1, 2}},
    {"sum", ND4C_INT64, {3, 1, 1, 7}, {3, 1000000, 100000, 7}, 2, {1, 2}},
    {"sum", ND4C_FLOAT32, {1, 1, 2, 1}, {1000000, 1000, 2, 1000}, 2, {0, 3}},
    {"norm2", ND4C_FLOAT64, {1, 1, 1, 7}, {1000, 1000, 1000000, 7}, 4, {0, 1, 2, 3}},
    {"std", ND4C_FLOAT32, {1, 1, 1, 1}, {1000, 1000, 1000, 10000}, 4, {0, 1, 2, 3}},
    {"var", ND4C_FLOAT64, {1, 1, 1, 700}, {1000, 1000, 100000, 700}, 3, {0, 1, 2}},
    {"nanstd", ND4C_FLOAT32, {1, 1, 1, 7}, {1000, 1000, 1000000, 7}, 3, {0, 1, 2}},
    {"logsumexp", ND4C_FLOAT32, {1, 1, 1, 7}, {1000, 1000, 1000000, 7}, 4, {0, 1, 2, 3}},
    {"nansum", ND4C_FLOAT32, {1, 1, 1, 1}, {1000, 1000, 1000, 10000}, 4, {0, 1, 2, 3}},
    {"count_nonzero", ND4C_FLOAT32, {1, 1, 1, 700}, {1000, 1000, 100000, 700}, 3, {0, 1, 2}},
    {"all", ND4C_FLOAT32, {1, 1, 1, 7}, {1000, 1000, 1000000, 7}, 4, {0, 1, 2, 3}},
    {"sum", ND4C_COMPLEX64, {1, 1, 1, 7}, {1000, 1000, 1000000, 7}, 4, {0, 1, 2, 3}},
};

static nd4c_status reduce(const reduction *r, const nd4c_array *x, nd4c_array **y) {
  const nd4c_array *inputs[] = {x};
  const nd4c_attr attrs[] = {{"axes", {.kind = ND4C_ATTR_INTS, .count = r->axis_count, .as.ints = r->axes}}};
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find(r->op, &info), ND4C_OK);
  return nd4c_op_call(NULL, info->op, inputs, 1, attrs, 1, y, 1);
}

static nd4c_array *view_of(const reduction *r) {
  nd4c_array *x = NULL, *view = NULL;
  assert_int_equal(nd4c_array_full(r->dtype, 4, r->own, 1, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_broadcast_to(x, r->shape, 4, &view), ND4C_OK);
  nd4c_array_release(x);
  return view;
}

static void deadlines_end_reductions(void **state) {
  enum { LIMIT = 30000000 }; /* nanoseconds */
  (void)state;
  for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
    const reduction *r = &reductions[i];
    nd4c_cancellation *limit = NULL;
    nd4c_array *x = view_of(r), *y = NULL;
    assert_int_equal(nd4c_cancellation_create(&limit), ND4C_OK);
    assert_int_equal(nd4c_cancellation_enter(limit), ND4C_OK);
    assert_int_equal(nd4c_cancellation_set_timeout(limit, LIMIT), ND4C_OK);
    const int64_t begin = nd4c_os_nanoseconds();
    const nd4c_status status = reduce(r, x, &y);
    const int64_t spent = nd4c_os_nanoseconds() - begin;
    if (status != ND4C_DEADLINE || y != NULL || spent < LIMIT) {
      fail_msg("%s, row %d: status %d after %.3f s", r->op, (int)i, (int)status, (double)spent * 1e-9);
    }
    assert_non_null(strstr(nd4c_error_message(), "deadline"));
    assert_int_equal(nd4c_cancellation_leave(limit), ND4C_OK);
    nd4c_cancellation_destroy(limit);
    nd4c_array_release(x);
  }
}

/* A given output was being written: it has no value until it is written again. */
static void given_outputs_have_no_value(void **state) {
  (void)state;
  const float seven = 7;
  float number = 0;
  nd4c_cancellation *limit = NULL;
  nd4c_array *x = view_of(&reductions[0]), *y = NULL, *small = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 0, NULL, &seven, NULL, &y), ND4C_OK);
  assert_int_equal(nd4c_cancellation_create(&limit), ND4C_OK);
  assert_int_equal(nd4c_cancellation_enter(limit), ND4C_OK);
  assert_int_equal(nd4c_cancellation_set_timeout(limit, 30000000), ND4C_OK);
  assert_int_equal(reduce(&reductions[0], x, &y), ND4C_DEADLINE);
  assert_int_equal(nd4c_cancellation_reset(limit), ND4C_OK);
  assert_int_equal(nd4c_array_read(y, &number, sizeof number), ND4C_DEADLINE);
  const int64_t shape[] = {2, 3, 4, 5};
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 4, shape, 2, NULL, &small), ND4C_OK);
  assert_int_equal(reduce(&reductions[0], small, &y), ND4C_OK);
  assert_int_equal(nd4c_array_read(y, &number, sizeof number), ND4C_OK);
  assert_true(number == 240);
  assert_int_equal(nd4c_cancellation_leave(limit), ND4C_OK);
  nd4c_cancellation_destroy(limit);
  nd4c_array_release(small);
  nd4c_array_release(x);
  nd4c_array_release(y);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(deadlines_end_reductions),
                                     cmocka_unit_test(given_outputs_have_no_value)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
