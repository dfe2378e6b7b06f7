/* Work on two queues of a device with transfers either way, for tests in which each call of it fails in turn. */
#ifndef TESTS_DEVICE_SCENARIO_H
#define TESTS_DEVICE_SCENARIO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "step.h"

enum { SCENARIO_COUNT = 33 };
static const int64_t scenario_shape[1] = {SCENARIO_COUNT};

/* Objects of one run; each may be NULL. */
typedef struct scenario {
  nd4c_context *first, *second;
  nd4c_array *a, *b, *on_host, *sum, *product, *given, *moved, *strided, *ordered, *wide;
} scenario;

static inline nd4c_status scenario_check(const nd4c_array *array, float expected) {
  float values[SCENARIO_COUNT];
  STEP(nd4c_array_read(array, values, (size_t)nd4c_array_size(array) * sizeof *values));
  for (int64_t i = 0; i < nd4c_array_size(array); i++) {
    assert_float_equal(values[i], expected, 0); /* a wrong value is worse than a failure */
  }
  return ND4C_OK;
}

static inline nd4c_status scenario_play(scenario *s, nd4c_device *device) {
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  nd4c_device *cpu = NULL;
  float values[SCENARIO_COUNT];
  for (int i = 0; i < SCENARIO_COUNT; i++) {
    values[i] = 2;
  }
  STEP(nd4c_device_find("cpu", &cpu));
  STEP(nd4c_array_from_data(ND4C_FLOAT32, 1, scenario_shape, values, cpu, &s->on_host));
  STEP(nd4c_context_create(&options, &s->first));
  STEP(nd4c_context_create(&options, &s->second));
  STEP(nd4c_array_from_data(ND4C_FLOAT32, 1, scenario_shape, values, device, &s->a));
  STEP(nd4c_array_full(ND4C_FLOAT32, 1, scenario_shape, 3, device, &s->b));
  STEP(nd4c_add_on(s->first, s->a, s->b, &s->sum));
  STEP(nd4c_multiply_on(s->second, s->sum, s->on_host, &s->product));
  STEP(nd4c_array_zeros(ND4C_FLOAT32, 1, scenario_shape, device, &s->given));
  STEP(nd4c_subtract_on(s->second, s->product, s->a, &s->given));
  STEP(scenario_check(s->given, 8));
  STEP(scenario_check(s->product, 10));
  STEP(nd4c_array_to_device(s->sum, cpu, &s->moved));
  STEP(scenario_check(s->moved, 5));
  const int64_t begin = 1, end = SCENARIO_COUNT, step = 3;
  STEP(nd4c_array_slice(s->sum, &begin, &end, &step, &s->strided));
  STEP(nd4c_array_to_device(s->strided, device, &s->ordered));
  STEP(scenario_check(s->ordered, 5));
  const int64_t wide_shape[1] = {4096}, last = -1;
  double value = 0;
  STEP(nd4c_array_full(ND4C_FLOAT32, 1, wide_shape, 7, device, &s->wide));
  STEP(nd4c_array_item(s->wide, &last, &value)); /* comes alone */
  assert_true(value == 7);
  STEP(nd4c_array_write(s->given, values, sizeof values));
  STEP(scenario_check(s->given, 2));
  STEP(nd4c_context_synchronize(s->first));
  return nd4c_device_synchronize(device);
}

static inline void scenario_clear(scenario *s) {
  nd4c_array *const arrays[] = {s->a,     s->b,     s->on_host, s->sum,     s->product,
                                s->given, s->moved, s->strided, s->ordered, s->wide};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    nd4c_array_release(arrays[i]);
  }
  (void)nd4c_context_destroy(s->first);
  (void)nd4c_context_destroy(s->second);
  *s = (scenario){0};
}

#endif
