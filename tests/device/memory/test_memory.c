/* The accounting memory manager of the host: live, cached, peak, caps and their text, trim, the leak report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "nd4c/nd4c.h"

enum { MEGABYTE = 1 << 20 };
static nd4c_device *cpu;

static nd4c_memory_info info(void) {
  nd4c_memory_info now = {.struct_size = sizeof now};
  assert_int_equal(nd4c_memory_get_info(cpu, &now), ND4C_OK);
  return now;
}

static nd4c_status make(int64_t bytes, nd4c_array **array) {
  *array = NULL;
  return nd4c_array_empty(ND4C_UINT8, 1, &bytes, cpu, array);
}

static void assert_message(const char *part) {
  if (strstr(nd4c_error_message(), part) == NULL) {
    print_error("no \"%s\" in \"%s\"\n", part, nd4c_error_message());
  }
  assert_non_null(strstr(nd4c_error_message(), part));
}

static void every_byte_is_counted(void **state) {
  (void)state;
  nd4c_array *a = NULL, *b = NULL;
  assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK);
  assert_int_equal(nd4c_memory_reset_peak(cpu), ND4C_OK);
  nd4c_memory_info before = info();
  assert_int_equal(before.peak_bytes, before.live_bytes);
  assert_int_equal(make(3 * MEGABYTE, &a), ND4C_OK);
  assert_int_equal(make(5 * MEGABYTE, &b), ND4C_OK);
  nd4c_memory_info full = info();
  assert_true(full.live_bytes - before.live_bytes >= 8 * MEGABYTE);
  assert_true(full.live_bytes - before.live_bytes <= 16 * MEGABYTE); /* size classes limit the waste */
  assert_int_equal(full.live_count - before.live_count, 2);
  assert_int_equal(full.total_count - before.total_count, 2);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_memory_info after = info();
  assert_int_equal(after.live_bytes, before.live_bytes);
  assert_int_equal(after.live_count, before.live_count);
  assert_int_equal(after.peak_bytes, full.live_bytes);
  assert_true(after.cached_bytes >= 8 * MEGABYTE);
  assert_int_equal(nd4c_memory_reset_peak(cpu), ND4C_OK);
  assert_int_equal(info().peak_bytes, before.live_bytes);

  /* A failed allocation does not raise the peak. */
  nd4c_array *huge = NULL;
  assert_int_equal(nd4c_array_empty(ND4C_INT8, 1, (const int64_t[]){INT64_C(1) << 48}, NULL, &huge), ND4C_MEMORY);
  assert_int_equal(info().peak_bytes, before.live_bytes);
}

static void views_own_nothing(void **state) {
  (void)state;
  nd4c_array *a = NULL, *view = NULL;
  assert_int_equal(make(2 * MEGABYTE, &a), ND4C_OK);
  nd4c_memory_info before = info();
  assert_int_equal(nd4c_array_select(a, 0, 7, &view), ND4C_OK);
  assert_int_equal(info().live_bytes, before.live_bytes);
  nd4c_array_release(a);
  assert_int_equal(info().live_bytes, before.live_bytes); /* kept alive by the view */
  nd4c_array_release(view);
  assert_true(info().live_bytes < before.live_bytes);
}

static void the_cache_serves_again(void **state) {
  (void)state;
  nd4c_array *a = NULL;
  assert_int_equal(make(4 * MEGABYTE, &a), ND4C_OK);
  nd4c_array_release(a);
  nd4c_memory_info before = info();
  assert_int_equal(make(4 * MEGABYTE, &a), ND4C_OK);
  assert_int_equal(info().cache_hits, before.cache_hits + 1);
  assert_true(info().cached_bytes < before.cached_bytes);
  nd4c_array_release(a);
}

/* Fresh results of the same size as earlier ones reuse mapped pages. */
static void fresh_results_cause_no_page_faults(void **state) {
  enum { WARM = 3, CALLS = 20, PAGES = 10000 };
  (void)state;
  nd4c_array *x = NULL, *y = NULL;
  assert_int_equal(make(PAGES * INT64_C(4096), &x), ND4C_OK);
  const nd4c_array *const pair[] = {x, x};
  struct rusage before = {0}, after = {0};
  for (int i = 0; i < WARM + CALLS; i++) {
    if (i == WARM) {
      (void)getrusage(RUSAGE_SELF, &before);
    }
    y = NULL;
    assert_int_equal(nd4c_op_call(NULL, ND4C_OP_add, pair, 2, NULL, 0, &y, 1), ND4C_OK);
    nd4c_array_release(y);
  }
  (void)getrusage(RUSAGE_SELF, &after);
  nd4c_array_release(x);
  /* Little else touches new pages; new memory would fault PAGES of them in each call, 20 with huge pages. */
  assert_in_range(after.ru_minflt - before.ru_minflt, 0, 5 * CALLS);
}

static void trim_gives_back(void **state) {
  (void)state;
  nd4c_array *arrays[4];
  for (int i = 0; i < 4; i++) {
    assert_int_equal(make((1 + i) * MEGABYTE, &arrays[i]), ND4C_OK);
  }
  for (int i = 0; i < 4; i++) {
    nd4c_array_release(arrays[i]);
  }
  assert_true(info().cached_bytes >= 10 * MEGABYTE);
  assert_int_equal(nd4c_memory_trim(cpu, 5 * MEGABYTE), ND4C_OK);
  assert_true(info().cached_bytes <= 5 * MEGABYTE);
  assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK);
  assert_true(info().cached_bytes < MEGABYTE);
  int64_t live = info().live_bytes;
  assert_int_equal(make(MEGABYTE, &arrays[0]), ND4C_OK);
  assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK); /* live memory stays */
  assert_true(info().live_bytes >= live + MEGABYTE);
  nd4c_array_release(arrays[0]);
}

/* -- blocks that are not reused ------------------------------------------------------------------------------------ */

/* `count` arrays of sizes that grow to `most`, one after the other, each released before the next. */
static void pass_through(int count, int64_t most) {
  for (int64_t i = 0; i < count; i++) {
    nd4c_array *array = NULL;
    assert_int_equal(make(most / 4 + most * 3 / 4 * i / count, &array), ND4C_OK);
    nd4c_array_release(array);
  }
}

static void sizes_that_grow_leave_little_behind(void **state) {
  (void)state;
  assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK);
  pass_through(60, 32 * MEGABYTE); /* 270 MB of blocks, one of each size class */
  assert_in_range(info().cached_bytes, 24 * MEGABYTE, (64 + 2 * 32) * MEGABYTE);
}

/* The last block of another size goes even if every request is served from the cache. */
static void a_warm_loop_lets_older_blocks_go(void **state) {
  (void)state;
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK);
  assert_int_equal(make(4 * MEGABYTE, &array), ND4C_OK);
  nd4c_array_release(array);
  assert_int_equal(make(48 * MEGABYTE, &array), ND4C_OK);
  nd4c_array_release(array);
  const nd4c_memory_info before = info();
  for (int i = 0; i < 24; i++) {
    assert_int_equal(make(4 * MEGABYTE, &array), ND4C_OK);
    nd4c_array_release(array);
  }
  assert_int_equal(info().cache_hits - before.cache_hits, 24);
  assert_int_equal(before.cached_bytes - info().cached_bytes, 48 * MEGABYTE);
}

/* A loop whose blocks rest for longer than the usual age loses each of them once. */
static void a_long_loop_learns_to_keep_its_blocks(void **state) {
  static const int sizes[] = {2, 5, 20};
  (void)state;
  for (int i = 0; i < 3; i++) {
    assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK);
    pass_through(sizes[i], 40 * MEGABYTE);
    pass_through(sizes[i], 40 * MEGABYTE);
    const nd4c_memory_info before = info();
    for (int loop = 0; loop < 3; loop++) {
      pass_through(sizes[i], 40 * MEGABYTE);
    }
    assert_int_equal(info().cache_hits - before.cache_hits, 3 * sizes[i]);
    assert_int_equal(info().cached_bytes, before.cached_bytes);
  }
}

static void a_cap_is_an_error_with_numbers(void **state) {
  (void)state;
  nd4c_array *a = NULL, *b = NULL;
  char part[64];
  assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK);
  int64_t cap = info().live_bytes + info().cached_bytes + 8 * MEGABYTE;
  assert_int_equal(nd4c_memory_set_cap(cpu, cap), ND4C_OK);
  assert_int_equal(info().cap_bytes, cap);
  assert_int_equal(make(4 * MEGABYTE, &a), ND4C_OK);
  assert_int_equal(make(6 * MEGABYTE, &b), ND4C_MEMORY_CAP);
  assert_null(b);
  assert_message("memory cap of cpu:0 exceeded");
  (void)snprintf(part, sizeof part, "cap %lld", (long long)cap);
  assert_message(part);
  assert_message("in use");
  assert_message("requested");
  /* A cached block makes room before a request fails. */
  nd4c_array_release(a);
  assert_int_equal(make(6 * MEGABYTE, &b), ND4C_OK);
  nd4c_array_release(b);
  assert_int_equal(nd4c_memory_set_cap(cpu, 0), ND4C_OK);
  assert_int_equal(make(16 * MEGABYTE, &a), ND4C_OK);
  nd4c_array_release(a);
  assert_int_equal(nd4c_memory_set_cap(cpu, -1), ND4C_ARGUMENT);
  assert_int_equal(nd4c_memory_trim(cpu, -1), ND4C_ARGUMENT);
  assert_message("keep_bytes is -1");
}

static void a_refused_operation_leaves_nothing(void **state) {
  (void)state;
  nd4c_array *a = NULL, *y = NULL;
  assert_int_equal(make(4 * MEGABYTE, &a), ND4C_OK);
  assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK);
  nd4c_memory_info before = info();
  assert_int_equal(nd4c_memory_set_cap(cpu, before.live_bytes + before.cached_bytes + MEGABYTE), ND4C_OK);
  assert_int_equal(nd4c_square(a, &y), ND4C_MEMORY_CAP);
  assert_null(y);
  assert_message("square");
  assert_int_equal(info().live_bytes, before.live_bytes);
  assert_int_equal(nd4c_memory_set_cap(cpu, 0), ND4C_OK);
  assert_int_equal(nd4c_square(a, &y), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(y);
}

static void the_property_caps_too(void **state) {
  (void)state;
  nd4c_array *a = NULL;
  assert_int_equal(nd4c_memory_trim(cpu, 0), ND4C_OK);
  assert_int_equal(nd4c_config_set("org.bytedeco.javacpp.maxbytes", "16m"), ND4C_OK);
  assert_int_equal(info().cap_bytes, 16 * MEGABYTE);
  assert_int_equal(make(32 * MEGABYTE, &a), ND4C_MEMORY_CAP);
  assert_int_equal(nd4c_config_set("org.bytedeco.javacpp.maxbytes", NULL), ND4C_OK);
  assert_int_equal(make(32 * MEGABYTE, &a), ND4C_OK);
  nd4c_array_release(a);
}

static void the_report_names_origins(void **state) {
  (void)state;
  nd4c_array *a = NULL, *b = NULL, *sum = NULL;
  char *text = NULL;
  assert_int_equal(nd4c_config_set("nd4c.memory.origins", "true"), ND4C_OK);
  assert_int_equal(make(2 * MEGABYTE, &a), ND4C_OK);
  assert_int_equal(make(2 * MEGABYTE, &b), ND4C_OK);
  assert_int_equal(nd4c_add(a, b, &sum), ND4C_OK);
  assert_int_equal(nd4c_memory_report(cpu, &text), ND4C_OK);
  if (strstr(text, "2 x ") == NULL || strstr(text, "from add") == NULL || strstr(text, "nd4c_array_empty") == NULL) {
    print_error("%s", text);
  }
  assert_non_null(strstr(text, "from add"));
  assert_non_null(strstr(text, "2 x "));
  assert_non_null(strstr(text, "nd4c_array_empty"));
  nd4c_free(text);
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(sum);
  assert_int_equal(nd4c_memory_report(cpu, &text), ND4C_OK);
  assert_null(strstr(text, "from add"));
  nd4c_free(text);
  assert_int_equal(nd4c_config_set("nd4c.memory.origins", NULL), ND4C_OK);
}

static void wrong_calls_are_refused(void **state) {
  (void)state;
  nd4c_memory_info unset = {0};
  nd4c_array *a = NULL;
  int64_t huge[2] = {INT64_MAX / 2, 8}, negative[1] = {-1};
  assert_int_equal(nd4c_memory_get_info(cpu, &unset), ND4C_ARGUMENT);
  assert_int_equal(nd4c_memory_get_info(NULL, &unset), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_memory_trim(NULL, 0), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_memory_report(cpu, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_empty(ND4C_FLOAT64, 2, huge, cpu, &a), ND4C_OVERFLOW);
  assert_int_equal(nd4c_array_empty(ND4C_FLOAT64, 1, negative, cpu, &a), ND4C_SHAPE);
  int64_t too_much[1] = {INT64_C(1) << 46};
  assert_int_equal(nd4c_array_empty(ND4C_FLOAT64, 1, too_much, cpu, &a), ND4C_MEMORY);
  assert_null(a);
}

static int start(void **state) {
  (void)state;
  return nd4c_device_find("cpu", &cpu) == ND4C_OK ? 0 : 1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_byte_is_counted),
      cmocka_unit_test(views_own_nothing),
      cmocka_unit_test(the_cache_serves_again),
      cmocka_unit_test(trim_gives_back),
      cmocka_unit_test(fresh_results_cause_no_page_faults),
      cmocka_unit_test(sizes_that_grow_leave_little_behind),
      cmocka_unit_test(a_warm_loop_lets_older_blocks_go),
      cmocka_unit_test(a_long_loop_learns_to_keep_its_blocks),
      cmocka_unit_test(a_cap_is_an_error_with_numbers),
      cmocka_unit_test(a_refused_operation_leaves_nothing),
      cmocka_unit_test(the_property_caps_too),
      cmocka_unit_test(the_report_names_origins),
      cmocka_unit_test(wrong_calls_are_refused),
  };
  return cmocka_run_group_tests(tests, start, NULL);
}
