/* Memory that is released while work on it is pending: the same stream reuses it at once, others after that work. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/stub_test.h"

enum { CHAIN = 40 };
static const int64_t MIB = INT64_C(1) << 20;

static nd4c_array *filled(nd4c_device *device, int64_t size, double value) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, &size, value, device, &array), ND4C_OK);
  return array;
}

static void assert_all(const nd4c_array *array, int64_t size, float value) {
  float *got = malloc((size_t)size * sizeof *got);
  assert_non_null(got);
  assert_int_equal(nd4c_array_read(array, got, size * (int64_t)sizeof *got), ND4C_OK);
  int64_t wrong = 0;
  for (int64_t i = 0; i < size; i++) {
    wrong += got[i] != value;
  }
  free(got);
  assert_int_equal(wrong, 0);
}

/* x + 1, again and again, each array released once the next one is submitted. */
static nd4c_array *run_chain(nd4c_context *context, nd4c_array *x, nd4c_array *one, int length) {
  for (int i = 0; i < length; i++) {
    nd4c_array *next = NULL;
    assert_int_equal(nd4c_add_on(context, x, one, &next), ND4C_OK);
    nd4c_array_release(x);
    x = next;
  }
  return x;
}

static int uncap(void **state) {
  (void)nd4c_memory_set_cap(stub_device, 0);
  return stub_test_end(state);
}

static void a_chain_reuses_its_memory(void **state) {
  (void)state;
  const int64_t size = MIB / 4; /* 1 MiB of float32: the stub computes slowly */
  nd4c_array *one = filled(stub_device, 1, 1), *x = filled(stub_device, size, 0);
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  assert_int_equal(nd4c_memory_reset_peak(stub_device), ND4C_OK);
  int64_t waits = stub_counter("fence_wait"), tasks = stub_counter("tasks");
  stub_order("pause until_wait");
  x = run_chain(stub_context, x, one, CHAIN);
  assert_int_equal(stub_counter("tasks"), tasks); /* the host was ahead all the time */
  assert_int_equal(stub_counter("fence_wait"), waits);
  assert_in_range(memory_info_of(stub_device).peak_bytes, 2 * MIB, 4 * MIB);
  assert_all(x, size, CHAIN);
  nd4c_array_release(x);
  nd4c_array_release(one);
}

static void so_does_one_on_opencl(void **state) {
  (void)state;
  const int64_t size = 4 * MIB; /* 16 MiB of float32 */
  nd4c_device *device = NULL;
  nd4c_context *context = NULL;
  if (nd4c_device_find("opencl:0", &device) != ND4C_OK) {
    nd4c_error_clear();
    skip();
  }
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
  nd4c_array *one = filled(device, 1, 1), *x = filled(device, size, 0);
  assert_int_equal(nd4c_memory_reset_peak(device), ND4C_OK);
  x = run_chain(context, x, one, CHAIN);
  assert_in_range(memory_info_of(device).peak_bytes, 32 * MIB, 64 * MIB);
  assert_all(x, size, CHAIN);
  nd4c_array_release(x);
  nd4c_array_release(one);
  assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
}

/* Another stream takes other memory, without waiting, while there is some. If there is none, it gets this memory and
 * waits, so that the earlier work still reads its values. */
static void another_stream_comes_after(void **state) {
  (void)state;
  enum { SIZE = 1 << 18 }; /* 1 MiB */
  nd4c_context *second = NULL;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  assert_int_equal(nd4c_context_create(&options, &second), ND4C_OK);
  for (int full = 0; full < 2; full++) {
    nd4c_array *one = filled(stub_device, 1, 1), *a = filled(stub_device, SIZE, 2), *b = filled(stub_device, SIZE, 5);
    nd4c_array *sum = NULL, *other = NULL;
    stub_settle();
    stub_order("pause until_wait");
    stub_order("delay 30000"); /* once it runs: work that does not wait for it would run first */
    assert_int_equal(nd4c_add_on(stub_context, a, one, &sum), ND4C_OK);
    nd4c_array_release(a); /* still to be read */
    stub_order("delay 0");
    int64_t live = memory_info_of(stub_device).live_bytes, buffers = stub_counter("buffers");
    if (full) {
      assert_int_equal(nd4c_memory_set_cap(stub_device, live), ND4C_OK);
    }
    int64_t waits = stub_counter("fence_wait");
    assert_int_equal(nd4c_add_on(second, b, one, &other), ND4C_OK);
    assert_int_equal(stub_counter("fence_wait"), waits);
    assert_int_equal(stub_counter("buffers"), full ? buffers : buffers + 1);
    assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
    assert_all(sum, SIZE, 3);
    assert_all(other, SIZE, 6);
    nd4c_array_release(one);
    nd4c_array_release(b);
    nd4c_array_release(sum);
    nd4c_array_release(other);
  }
  assert_int_equal(nd4c_context_destroy(second), ND4C_OK);
}

/* A block that was reused but never written is released with the work that is still pending on it. */
static void an_unused_result_waits_for_the_work_before(void **state) {
  (void)state;
  enum { SIZE = 1 << 18 };
  nd4c_array *one = filled(stub_device, 1, 1), *a = filled(stub_device, SIZE, 2), *sum = NULL, *failed = NULL;
  stub_settle();
  stub_order("pause until_wait");
  stub_order("delay 30000");
  assert_int_equal(nd4c_add_on(stub_context, a, one, &sum), ND4C_OK);
  nd4c_array_release(a);
  stub_order("delay 0");
  int64_t buffers = stub_counter("buffers");
  (void)stub_control("fail run:1");
  (void)stub_control("fail execute:1");
  assert_int_not_equal(nd4c_add_on(stub_context, sum, one, &failed), ND4C_OK);
  assert_null(failed);
  assert_int_equal(stub_counter("buffers"), buffers);
  assert_all(sum, SIZE, 3);
  nd4c_array_release(one);
  nd4c_array_release(sum);
}

static void *chain_of_a_thread(void *argument) {
  enum { SIZE = 3000, TIMES = 20 };
  const double *start = argument;
  nd4c_context *context = NULL;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  bool good = nd4c_context_create(&options, &context) == ND4C_OK;
  for (int t = 0; good && t < TIMES; t++) {
    const int64_t size = SIZE;
    nd4c_array *one = NULL, *x = NULL;
    good = nd4c_array_full(ND4C_FLOAT32, 1, &size, 1, stub_device, &one) == ND4C_OK &&
           nd4c_array_full(ND4C_FLOAT32, 1, &size, *start, stub_device, &x) == ND4C_OK;
    for (int i = 0; good && i < 10; i++) {
      nd4c_array *next = NULL;
      good = nd4c_add_on(context, x, one, &next) == ND4C_OK;
      nd4c_array_release(x);
      x = next;
    }
    float got[SIZE] = {0};
    good = good && nd4c_array_read(x, got, sizeof got) == ND4C_OK;
    for (int i = 0; good && i < SIZE; i++) {
      good = got[i] == (float)*start + 10;
    }
    nd4c_array_release(x);
    nd4c_array_release(one);
  }
  (void)nd4c_context_destroy(context);
  return good ? argument : NULL;
}

static void threads_do_not_disturb_each_other(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  double starts[THREADS] = {1, 100, 10000, 50000};
  (void)stub_control("delay 50");
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, chain_of_a_thread, &starts[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    void *result = NULL;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_ptr_equal(result, &starts[i]);
  }
}

#define REUSE_TEST(name) cmocka_unit_test_setup_teardown(name, stub_test_begin, uncap)

typedef struct tight {
  nd4c_array *one, *x, *column, *row, *y, *z;
  int64_t waits, frees;
} tight;

/* x of 4 MiB, and room for as much besides, where 5 MiB are wanted next. */
static tight make_tight(void) {
  static const int64_t upright[2] = {1024, 1}, flat[2] = {1, 1280};
  tight t = {.one = filled(stub_device, 1, 1), .x = filled(stub_device, MIB, 2)};
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 2, upright, 2, stub_device, &t.column), ND4C_OK);
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 2, flat, -3, stub_device, &t.row), ND4C_OK);
  assert_int_equal(nd4c_device_synchronize(stub_device), ND4C_OK);
  assert_int_equal(nd4c_memory_trim(stub_device, 0), ND4C_OK);
  (void)stub_control("memory 9500000");
  stub_order("pause until_wait");
  t.waits = stub_counter("host_waits");
  t.frees = stub_counter("buffer_free_on");
  return t;
}

/* Submits y on `context`, which reads x; then releases x before the work runs, and makes z. */
static void fill_tight(tight *t, nd4c_context *context) {
  assert_int_equal(nd4c_add_on(context, t->x, t->one, &t->y), ND4C_OK);
  nd4c_array_release(t->x);
  assert_int_equal(nd4c_add_on(stub_context, t->column, t->row, &t->z), ND4C_OK);
}

static void end_tight(tight *t) {
  assert_all(t->y, MIB, 3);
  assert_all(t->z, MIB + MIB / 4, -1);
  assert_true(memory_info_of(stub_device).live_bytes <= 9500000);
  (void)stub_control("reset");
  nd4c_array *const arrays[] = {t->one, t->column, t->row, t->y, t->z};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    nd4c_array_release(arrays[i]);
  }
}

/* On a device with room for only one of the two, released memory of another size is freed in the stream's order, and
 * the host does not wait. */
static void memory_is_freed_in_the_order_of_a_stream(void **state) {
  (void)state;
  const char *lie = getenv("STUB_LIE");
  const bool ordered = lie == NULL || strcmp(lie, "old_buffers") != 0;
  tight t = make_tight();
  fill_tight(&t, stub_context);
  assert_int_equal(stub_counter("host_waits") > t.waits, !ordered);
  assert_int_equal(stub_counter("buffer_free_on") - t.frees, ordered);
  end_tight(&t);
}

/* Memory that another stream still uses is not freed early: the host waits for that stream. */
static void memory_of_two_streams_is_waited_for(void **state) {
  (void)state;
  nd4c_context *second = NULL;
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  assert_int_equal(nd4c_context_create(&options, &second), ND4C_OK);
  tight t = make_tight();
  fill_tight(&t, second);
  assert_true(stub_counter("host_waits") > t.waits);
  assert_int_equal(stub_counter("buffer_free_on"), t.frees);
  end_tight(&t);
  assert_int_equal(nd4c_context_destroy(second), ND4C_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      REUSE_TEST(a_chain_reuses_its_memory),           REUSE_TEST(so_does_one_on_opencl),
      REUSE_TEST(another_stream_comes_after),          REUSE_TEST(an_unused_result_waits_for_the_work_before),
      REUSE_TEST(threads_do_not_disturb_each_other),   REUSE_TEST(memory_is_freed_in_the_order_of_a_stream),
      REUSE_TEST(memory_of_two_streams_is_waited_for),
  };
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  return failures + stub_stop();
}
