/* Results that depend on comparisons equal the CPU's, over more elements than the records have: rejected random words,
 * orders, selected boxes. Without an OpenCL device that has float64 the test is skipped. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "faulty_loader.h"

enum { COUNT = 20000, INPUTS = 4 };

static nd4c_device *device;
static nd4c_context *context;

static nd4c_array *array_of(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const void *data) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_from_data(dtype, rank, shape, data, NULL, &array), ND4C_OK);
  return array;
}

static nd4c_array *state_array(void) {
  const int64_t words[3] = {42, -2, 1}, shape[1] = {3}; /* the counter carries */
  return array_of(ND4C_INT64, 1, shape, words);
}

/* The result, of elements of 8 bytes, on the host's device or on the other one. */
static int64_t *call_on(nd4c_context *on, nd4c_op op, nd4c_array *const *inputs, const nd4c_attr *attrs, int32_t count,
                        int64_t *size) {
  nd4c_array *y = NULL;
  int32_t given = 1;
  while (given < INPUTS && inputs[given] != NULL) {
    given++;
  }
  if (nd4c_op_call(on, op, (const nd4c_array *const *)inputs, given, attrs, count, &y, 1) != ND4C_OK) {
    fail_msg("%s", nd4c_error_message());
  }
  assert_true((nd4c_array_device(y) == device) == (on != NULL));
  *size = nd4c_array_size(y);
  int64_t *values = malloc((size_t)*size * sizeof *values);
  assert_non_null(values);
  assert_int_equal(nd4c_array_read(y, values, (size_t)*size * sizeof *values), ND4C_OK);
  nd4c_array_release(y);
  return values;
}

/* Both devices' results; off: how far numbers of float64 may differ, 0: the same bits. Releases the inputs. */
static void compare(nd4c_op op, nd4c_array **inputs, const nd4c_attr *attrs, int32_t count, double off) {
  int64_t size = 0, device_size = 0;
  int64_t *own = call_on(NULL, op, inputs, attrs, count, &size);
  int64_t *other = call_on(context, op, inputs, attrs, count, &device_size);
  assert_int_equal(size, device_size);
  for (int64_t i = 0; i < size; i++) {
    double a = 0, b = 0;
    memcpy(&a, &own[i], sizeof a);
    memcpy(&b, &other[i], sizeof b);
    if (off == 0 ? own[i] != other[i] : !(fabs(a - b) <= off * fabs(a))) {
      fail_msg("%s: element %lld is %.17g (%lld) on the device, %.17g (%lld) on the CPU", nd4c_op_get(op)->name,
               (long long)i, b, (long long)other[i], a, (long long)own[i]);
    }
  }
  free(own);
  free(other);
  for (int i = 0; i < INPUTS; i++) {
    nd4c_array_release(inputs[i]);
  }
}

typedef struct parameter {
  double least, most; /* in equal steps of the logarithm */
  bool whole;
} parameter;

/* The second parameter cycles through its values many times while the first one goes through its values once. */
static nd4c_array *parameter_array(parameter p, int64_t turns, int32_t rank, const int64_t *shape) {
  double *values = malloc(COUNT * sizeof *values);
  assert_non_null(values);
  for (int64_t i = 0; i < COUNT; i++) {
    double part = (double)(i * turns % COUNT) / COUNT, value = p.least * pow(p.most / p.least, part);
    values[i] = p.whole ? floor(value) : value;
  }
  nd4c_array *array = array_of(ND4C_FLOAT64, rank, shape, values);
  free(values);
  return array;
}

static void laws_are_the_cpus(void **state) {
  (void)state;
  static const struct {
    nd4c_op op;
    int parameters;
    parameter p[2];
    double off;
  } rows[] = {{ND4C_OP_random_gamma, 1, {{1e-2, 1e6, false}}, 1e-12},
              {ND4C_OP_random_poisson, 1, {{1e-2, 100, false}}, 0},
              {ND4C_OP_random_poisson, 1, {{10, 1e12, false}}, 0},
              {ND4C_OP_random_binomial, 2, {{1, 1e6, true}, {1e-4, 1, false}}, 0},
              {ND4C_OP_random_binomial, 2, {{20, 100, true}, {0.1, 0.9, false}}, 0}};
  const int64_t shape[1] = {COUNT};
  const nd4c_attr dtype = {"dtype", {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT64}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    nd4c_array *inputs[INPUTS] = {state_array()};
    for (int k = 0; k < rows[i].parameters; k++) {
      inputs[1 + k] = parameter_array(rows[i].p[k], k == 0 ? 1 : 137, 1, shape);
    }
    compare(rows[i].op, inputs, &dtype, 1, rows[i].off);
  }
}

static void orders_are_the_cpus(void **state) {
  (void)state;
  const int64_t counts[] = {1, 2, 17, 33, 1000, COUNT};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    nd4c_array *inputs[INPUTS] = {state_array()};
    const nd4c_attr n = {"n", {.kind = ND4C_ATTR_INT, .as.i = counts[i]}};
    compare(ND4C_OP_random_permutation, inputs, &n, 1, 0);
  }
}

static void categories_are_the_cpus(void **state) {
  (void)state;
  const int64_t shape[2] = {20, COUNT / 20};
  for (int form = 0; form < 4; form++) {
    nd4c_array *inputs[INPUTS] = {state_array(), parameter_array((parameter){1e-6, 1, false}, 137, 2, shape)};
    const nd4c_attr attrs[3] = {{"samples", {.kind = ND4C_ATTR_INT, .as.i = COUNT / 20}},
                                {"replacement", {.kind = ND4C_ATTR_BOOL, .as.i = form & 1}},
                                {"logarithms", {.kind = ND4C_ATTR_BOOL, .as.i = form >> 1}}};
    compare(ND4C_OP_random_categorical, inputs, attrs, 3, 0);
  }
}

/* 0 <= u < 1 */
static double next_number(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) * 0x1p-53;
}

/* Numbers of low .. high in `steps` steps. */
static nd4c_array *spread(uint64_t seed, double low, double high, double steps, int32_t rank, const int64_t *shape) {
  double values[COUNT];
  int64_t count = 1;
  for (int32_t i = 0; i < rank; i++) {
    count *= shape[i];
  }
  assert_in_range(count, 0, COUNT);
  for (int64_t i = 0; i < count; i++) {
    values[i] = low + floor(next_number(&seed) * steps) / steps * (high - low);
  }
  return array_of(ND4C_FLOAT64, rank, shape, values);
}

/* More boxes are kept than a group of work items looks at together; many have the same score. */
static void boxes_are_the_cpus(void **state) {
  (void)state;
  enum { BOXES = 1500 };
  const int64_t boxes[3] = {2, BOXES, 4}, scores[3] = {2, 3, BOXES}, most[] = {0, 100, BOXES};
  const double threshold = 0.7;
  for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
    const nd4c_attr center = {"center_point_box", {.kind = ND4C_ATTR_BOOL, .as.i = (int64_t)i & 1}};
    nd4c_array *inputs[INPUTS] = {spread(1, 0, 1, 1e6, 3, boxes), spread(2, 0, 1, 200, 3, scores),
                                  array_of(ND4C_INT64, 0, NULL, &most[i]), array_of(ND4C_FLOAT64, 0, NULL, &threshold)};
    compare(ND4C_OP_nms, inputs, &center, 1, 0);
  }
}

int main(void) {
  if (faulty_start_float64(&device, &context) != ND4C_OK) {
    print_message("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(laws_are_the_cpus), cmocka_unit_test(orders_are_the_cpus),
                                     cmocka_unit_test(categories_are_the_cpus), cmocka_unit_test(boxes_are_the_cpus)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return nd4c_context_destroy(context) == ND4C_OK ? failed : 1;
}
