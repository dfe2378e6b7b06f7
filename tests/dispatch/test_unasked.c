/* The library's own computations, and the program's code that runs during its calls: the library packs strided arrays
 * with the op copy, whose failure must not fail a read; the release callback of foreign memory may call ops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/stub_plugin.h"

enum { COUNT = 4000, STEP = 40, PICKED = COUNT / STEP };
static const int64_t shape[1] = {COUNT};
static nd4c_device *cpu;

static nd4c_array *ones(void) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, stub_device, &array), ND4C_OK);
  return array;
}

/* x + x, finished; far: elements so far apart that they are packed first. */
static nd4c_array *twos(nd4c_array **far) {
  static const int64_t start = 0, stop = COUNT, step = STEP;
  nd4c_array *x = ones(), *sum = NULL;
  assert_int_equal(nd4c_add_on(stub_context, x, x, &sum), ND4C_OK);
  nd4c_array_release(x);
  assert_int_equal(nd4c_array_slice(sum, &start, &stop, &step, far), ND4C_OK);
  return sum;
}

static void assert_all(const float *values, int count, float expected) {
  for (int i = 0; i < count; i++) {
    assert_float_equal(values[i], expected, 0);
  }
}

/* Reads it, copies it to the host, packs it on its device. */
static nd4c_status take(const nd4c_array *far, int way, float *values) {
  nd4c_array *made = NULL;
  nd4c_status status = way == 0 ? nd4c_array_read(far, values, PICKED * sizeof *values)
                                : nd4c_array_to_device(far, way == 1 ? cpu : stub_device, &made);
  if (made != NULL) {
    (void)stub_control("reset");
    status = nd4c_array_read(made, values, PICKED * sizeof *values);
  }
  nd4c_array_release(made);
  return status;
}

static void who_lacks_the_op_or_memory_is_not_missed(void **state) {
  (void)state;
  static const char *const lacks[] = {"fail usable:1:600", "fail prepare:1:500",       "fail run:1:500",
                                      "fail run:1:501",    "fail stream_create:1:500", "fail in_flight:1:500"};
  for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++) {
    for (int way = 0; way < 3; way++) {
      float values[PICKED] = {0};
      nd4c_array *far = NULL, *all = twos(&far);
      assert_int_equal(nd4c_array_wait(all), ND4C_OK);
      stub_settle();
      assert_int_equal(stub_control(lacks[i]), ND4C_OK);
      nd4c_status status = take(far, way, values);
      (void)stub_control("reset");
      if (status != ND4C_OK) {
        fail_msg("%s, way %d: %s", lacks[i], way, nd4c_error_message());
      }
      assert_all(values, PICKED, 2);
      nd4c_array_release(far);
      nd4c_array_release(all);
      (void)nd4c_device_synchronize(stub_device);
    }
  }
}

static void a_failed_array_is_told_as_itself(void **state) {
  (void)state;
  for (int way = 0; way < 3; way++) {
    float values[PICKED];
    nd4c_array *far = NULL;
    assert_int_equal(stub_control("fail in_flight:1:600"), ND4C_OK);
    nd4c_array *all = twos(&far);
    assert_int_equal(take(far, way, values), ND4C_DEVICE);
    assert_non_null(strstr(nd4c_error_message(), "add"));
    (void)stub_control("reset");
    nd4c_array_release(far);
    nd4c_array_release(all);
    (void)nd4c_device_synchronize(stub_device);
  }
}

/* Forced engines apply only to ops that the program calls. */
static void strictness_is_not_for_reading(void **state) {
  (void)state;
  static const char *const rules[][2] = {{"SD_KERNEL_FORCE_ENGINE", "simd"},
                                         {"SD_KERNEL_DISABLE_ENGINES", "reference"}};
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    char *report = NULL;
    nd4c_array *far = NULL, *all = twos(&far), *own = NULL;
    assert_int_equal(nd4c_report_applied(&report), ND4C_OK);
    nd4c_free(report);
    assert_int_equal(nd4c_config_set(rules[i][0], rules[i][1]), ND4C_OK);
    for (int strict = 0; strict < 2; strict++) {
      assert_int_equal(nd4c_config_set("nd4c.strict", strict != 0 ? "true" : "false"), ND4C_OK);
      for (int way = 0; way < 3; way++) {
        float values[PICKED];
        assert_int_equal(take(far, way, values), ND4C_OK);
        assert_all(values, PICKED, 2);
      }
    }
    assert_int_equal(nd4c_report_applied(&report), ND4C_OK);
    assert_string_equal(report, "");
    nd4c_free(report);
    nd4c_context *context = NULL; /* but the program's own copy fails */
    assert_int_equal(nd4c_context_acquire(stub_device, &context), ND4C_OK);
    assert_int_equal(nd4c_copy_on(context, far, &own), ND4C_STRICT);
    assert_int_equal(nd4c_context_release(context), ND4C_OK);
    assert_int_equal(nd4c_config_set("nd4c.strict", "false"), ND4C_OK);
    assert_int_equal(nd4c_config_set(rules[i][0], ""), ND4C_OK);
    nd4c_array_release(far);
    nd4c_array_release(all);
  }
}

/* -- the program's code ------------------------------------------------------------------------------------------- */

static nd4c_array *threes; /* the callback adds it to itself, with the interrupted call's signature */
static int called;

/* Empties the cache of calls and fills its places. */
static void released(void *user) {
  (void)user;
  nd4c_array *sum = NULL;
  assert_int_equal(nd4c_config_set("nd4c.strict", called % 2 != 0 ? "false" : "true"), ND4C_OK);
  assert_int_equal(nd4c_add_on(stub_context, threes, threes, &sum), ND4C_OK);
  nd4c_array_release(sum);
  called++;
}

/* Foreign memory that a copy under way still reads is released when the next storage is made, in the middle of a
 * call. */
static void release_in_the_next_call(float *memory) {
  nd4c_array *foreign = NULL;
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, false, released, NULL, &foreign), ND4C_OK);
  stub_order("pause until_wait");
  assert_int_equal(nd4c_array_prefetch(foreign, stub_device), ND4C_OK);
  int before = called;
  nd4c_array_release(foreign);
  assert_int_equal(called, before);
  (void)nd4c_device_synchronize(stub_device);
}

static void releases_may_call_ops(void **state) {
  (void)state;
  static float memory[COUNT], values[COUNT];
  nd4c_array *x = ones();
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 3, stub_device, &threes), ND4C_OK);
  for (int i = 0; i < 4; i++) {
    nd4c_array *warm = NULL, *sum = NULL;
    assert_int_equal(nd4c_add_on(stub_context, x, x, &warm), ND4C_OK); /* cached from here on */
    release_in_the_next_call(memory);
    assert_int_equal(nd4c_add_on(stub_context, x, x, &sum), ND4C_OK);
    assert_int_equal(called, i + 1);
    assert_int_equal(nd4c_array_read(sum, values, sizeof values), ND4C_OK);
    assert_all(values, COUNT, 2);
    nd4c_array_release(sum);
    nd4c_array_release(warm);
  }
  nd4c_array_release(x);
  nd4c_array_release(threes);
}

static int start(void **state) {
  (void)state;
  return stub_start() == ND4C_OK && nd4c_device_find("cpu:0", &cpu) == ND4C_OK ? 0 : 1;
}

static int stop(void **state) {
  (void)state;
  return stub_stop();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_lacks_the_op_or_memory_is_not_missed),
      cmocka_unit_test(a_failed_array_is_told_as_itself),
      cmocka_unit_test(strictness_is_not_for_reading),
      cmocka_unit_test(releases_may_call_ops),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
