/* Copies of more bytes than a staging buffer has (device/storage/transfer_stream.c): in pieces, through two buffers in
 * turn, so that the device copies one while the host fills or empties the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/memory/staging.h"
#include "device/stub_test.h"

enum { PIECE = ND4C_STAGING_BYTES / 4, MOST = 4 * PIECE + 1 };
/* Elements: of one piece, of two and more. */
static const int64_t counts[] = {PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE - 1, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };
static int32_t numbers[MOST], read_back[MOST];

static nd4c_array *make(int64_t count) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_empty(ND4C_INT32, 1, &count, stub_device, &array), ND4C_OK);
  return array;
}

static void every_piece_arrives(void **state) {
  (void)state;
  for (int i = 0; i < COUNTS; i++) {
    const size_t bytes = (size_t)counts[i] * sizeof *numbers;
    nd4c_array *a = make(counts[i]);
    assert_int_equal(nd4c_array_write(a, numbers, bytes), ND4C_OK);
    memset(read_back, 0, sizeof read_back);
    assert_int_equal(nd4c_array_read(a, read_back, bytes), ND4C_OK);
    assert_memory_equal(read_back, numbers, bytes);
    nd4c_array_release(a);
  }
}

/* How many copies the device has been given when the host's first wait for one of them fails. */
static int64_t count_ahead(nd4c_array *a, const char *calls, bool writes) {
  const size_t bytes = (size_t)nd4c_array_size(a) * sizeof *numbers;
  const int64_t before = stub_counter(calls);
  stub_order("fail fence_wait:1:600");
  assert_int_equal(writes ? nd4c_array_write(a, numbers, bytes) : nd4c_array_read(a, read_back, bytes), ND4C_DEVICE);
  stub_order("reset");
  const int64_t given = stub_counter(calls) - before;
  stub_settle();
  return given;
}

static void two_pieces_are_under_way(void **state) {
  (void)state;
  for (int i = 0; i < COUNTS; i++) {
    const size_t bytes = (size_t)counts[i] * sizeof *numbers;
    const int64_t pieces = counts[i] > PIECE ? 2 : 1;
    nd4c_array *a = make(counts[i]);
    assert_int_equal(nd4c_array_write(a, numbers, bytes), ND4C_OK);
    assert_int_equal(count_ahead(a, "copy_to_host", false), pieces);
    memset(read_back, 0, sizeof read_back);
    assert_int_equal(nd4c_array_read(a, read_back, bytes), ND4C_OK); /* a failed copy loses nothing */
    assert_memory_equal(read_back, numbers, bytes);
    nd4c_array_release(a);
    a = make(counts[i]);
    assert_int_equal(count_ahead(a, "copy_from_host", true), pieces);
    assert_int_equal(nd4c_array_write(a, numbers, bytes), ND4C_OK);
    memset(read_back, 0, sizeof read_back);
    assert_int_equal(nd4c_array_read(a, read_back, bytes), ND4C_OK);
    assert_memory_equal(read_back, numbers, bytes);
    nd4c_array_release(a);
  }
}

/* -- copies that an operation needs -------------------------------------------------------------------------------- */

enum { LONG = 7 * PIECE + 3 }; /* more pieces than a copy in flight has buffers */

/* Whichever piece fails, no fence of another one is left, and the contents are there as before. */
static void a_piece_that_fails_leaves_nothing(void **state) {
  (void)state;
  static const char *const calls[] = {"copy_from_host", "fence_wait", "fence_record"};
  const int64_t shape[] = {LONG}, last = LONG - 1;
  nd4c_array *a = NULL, *y = NULL;
  double value = 0;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 3, NULL, &a), ND4C_OK);
  for (int call = 0; call < 3; call++) {
    int failures = 0;
    for (int number = 1; number <= 8; number++) {
      char order[64];
      (void)snprintf(order, sizeof order, "fail %s:%d:600", calls[call], number);
      stub_order(order);
      nd4c_status status = nd4c_square_on(stub_context, a, &y);
      status = status == ND4C_OK ? nd4c_array_wait(y) : status;
      failures += status != ND4C_OK;
      nd4c_array_release(y);
      y = NULL;
      stub_order("reset");
      stub_settle();
      assert_int_equal(stub_counter("fences"), 0);
    }
    /* A fence that cannot be recorded is made good: the host waits for the device. */
    assert_int_equal(failures > 0, call < 2);
  }
  assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
  assert_int_equal(nd4c_array_item(y, &last, &value), ND4C_OK);
  assert_true(value == 9);
  nd4c_array_release(y);
  nd4c_array_release(a);
}

/* A copy that fits its staging buffers follows work that still reads the target; a longer one makes the host wait. */
static void copies_that_fit_make_no_host_wait(void **state) {
  (void)state;
  static const int64_t sizes[] = {PIECE, 4 * PIECE, 4 * PIECE + 1};
  for (int i = 0; i < 3; i++) {
    const int64_t last = sizes[i] - 1;
    nd4c_array *a = NULL, *y = NULL, *z = NULL;
    double value = 0;
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &sizes[i], 3, NULL, &a), ND4C_OK);
    assert_int_equal(nd4c_array_prefetch(a, stub_device), ND4C_OK);
    stub_settle();
    stub_order("pause until_wait");
    const int64_t waits = stub_counter("host_waits");
    assert_int_equal(nd4c_square_on(stub_context, a, &y), ND4C_OK);
    assert_int_equal(nd4c_add(a, a, &a), ND4C_OK); /* on the host */
    assert_int_equal(nd4c_square_on(stub_context, a, &z), ND4C_OK);
    assert_int_equal(stub_counter("host_waits") > waits, i == 2);
    stub_order("reset");
    assert_int_equal(nd4c_array_item(y, &last, &value), ND4C_OK);
    assert_true(value == 9);
    assert_int_equal(nd4c_array_item(z, &last, &value), ND4C_OK);
    assert_true(value == 36);
    nd4c_array_release(a);
    nd4c_array_release(y);
    nd4c_array_release(z);
  }
}

/* Streams of ended copies serve the next ones. */
static void copies_take_streams_that_are_idle(void **state) {
  (void)state;
  const size_t bytes = (size_t)counts[1] * sizeof *numbers;
  nd4c_array *a = make(counts[1]);
  const int64_t before = stub_counter("stream_create");
  for (int turn = 0; turn < 4; turn++) {
    nd4c_array *small = NULL, *y = NULL;
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &(int64_t){100}, 3, NULL, &small), ND4C_OK);
    assert_int_equal(nd4c_square_on(stub_context, small, &y), ND4C_OK); /* a fence on the stream of a copy */
    assert_int_equal(nd4c_array_wait(y), ND4C_OK);
    assert_int_equal(nd4c_array_write(a, numbers, bytes), ND4C_OK);
    assert_int_equal(nd4c_array_read(a, read_back, bytes), ND4C_OK);
    nd4c_array_release(small);
    nd4c_array_release(y);
  }
  assert_int_equal(stub_counter("stream_create") - before, 1);
  nd4c_array_release(a);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  for (int32_t i = 0; i < MOST; i++) {
    numbers[i] = i + 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(every_piece_arrives, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(two_pieces_are_under_way, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(a_piece_that_fails_leaves_nothing, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(copies_that_fit_make_no_host_wait, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(copies_take_streams_that_are_idle, stub_test_begin, stub_test_end),
  };
  const int failed = cmocka_run_group_tests_name("pieces", tests, NULL, NULL);
  return failed + stub_stop();
}
