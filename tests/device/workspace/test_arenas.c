/* Arenas of workspaces when memory is short: no call fails that would succeed without a workspace. */
#include "workspace_tests.h"

/* Pieces of arenas and blocks of 12000 bytes take 12288. */
static void set_cap(int64_t bytes) {
  stub_settle();
  assert_int_equal(nd4c_memory_set_cap(stub_device, bytes), ND4C_OK);
}

/* Where the sum of a cycle's arrays does not fit the cap, they come from the cache as without a workspace. */
static void an_arena_over_the_cap(void **state) {
  (void)state;
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 0);
  int64_t buffers = 0;
  set_cap(20000);
  for (int cycle = 0; cycle < 6; cycle++) {
    assert_int_equal(nd4c_memory_set_cap(stub_device, cycle < 4 ? 20000 : 0), ND4C_OK);
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    for (int i = 0; i < 3; i++) {
      nd4c_array *x = filled(stub_device, i);
      buffers = cycle == 0 && i == 0 ? stub_counter("buffer_allocate") : buffers;
      nd4c_array_release(x);
    }
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
    nd4c_workspace_info info = info_of(workspace, stub_device);
    assert_true(info.peak_bytes >= 36000);
    assert_int_equal(info.bytes > 0, cycle >= 4); /* memory is available again */
    assert_int_equal(info.spilled_count, cycle < 4 ? 3 * (cycle + 1) : 15);
    if (cycle < 4) {
      assert_int_equal(stub_counter("buffer_allocate"), buffers);
    }
  }
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
}

/* An arena is freed if its memory is needed for an array, unless arrays use it: then the text names it. */
static void an_arena_gives_way(void **state) {
  (void)state;
  for (int closed = 0; closed < 2; closed++) {
    nd4c_array *x = NULL, *y = NULL;
    stub_settle();
    nd4c_workspace *workspace = made(ND4C_OUTLIVING_REFUSED, NULL, 20480);
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    x = filled(stub_device, 1);
    assert_int_equal(nd4c_memory_set_cap(stub_device, 30000), ND4C_OK);
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 2, stub_device, &y), ND4C_MEMORY_CAP);
    assert_message("20480 bytes in use (20480 of them in arenas of workspaces) and 0 cached");
    assert_all(x, 1);
    nd4c_array_release(x);
    if (closed == 1) {
      assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
    }
    y = filled(stub_device, 2);
    assert_int_equal(info_of(workspace, stub_device).bytes, 0);
    assert_all(y, 2);
    nd4c_array_release(y);
    if (closed == 0) {
      assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
    }
    for (int cycle = 0; cycle < 2; cycle++) { /* it is not made again */
      assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
      nd4c_array_release(filled(stub_device, 3));
      assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
      assert_int_equal(info_of(workspace, stub_device).bytes, 0);
    }
    assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
    set_cap(0);
  }
}

/* Arrays that outlive the scope and find no memory on the device move to the host; arrays without a value stay without
 * one. */
static void moving_out_under_a_full_cap(void **state) {
  (void)state;
  stub_settle();
  nd4c_workspace *workspace = made(ND4C_OUTLIVING_MOVED_OUT, stub_device, 49152);
  assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
  nd4c_array *x = filled(stub_device, 6), *shared = filled(stub_device, 7), *failed = NULL;
  assert_int_equal(nd4c_memory_set_cap(stub_device, 50000), ND4C_OK);
  assert_all(shared, 7);
  assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
  assert_int_equal(nd4c_square_on(stub_context, x, &failed), ND4C_OK);
  (void)nd4c_device_synchronize(stub_device);
  assert_int_equal(stub_control("reset"), ND4C_OK);
  assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  nd4c_array *const all[] = {x, shared, failed};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(nd4c_array_state(all[i], stub_device), '-');
    assert_int_equal(nd4c_array_state(all[i], cpu), i < 2 ? 'M' : '-');
  }
  assert_all(x, 6);
  assert_all(shared, 7);
  assert_int_not_equal(nd4c_array_read(failed, buffer, sizeof buffer), ND4C_OK);
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
  assert_int_equal(nd4c_array_write(failed, buffer, sizeof buffer), ND4C_OK);
  assert_all(failed, 7);
  assert_int_equal(nd4c_array_state(failed, stub_device), 'S');
  for (int i = 0; i < 3; i++) {
    nd4c_array_release(all[i]);
  }
  set_cap(0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_arena_over_the_cap),
      cmocka_unit_test(an_arena_gives_way),
      cmocka_unit_test(moving_out_under_a_full_cap),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
