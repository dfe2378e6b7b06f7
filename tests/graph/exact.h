/* For the tests of passes that keep every bit: inputs with the numbers that identities fail on (0 and -0, infinities,
 * NaN, subnormals, the ends of integers), and the check that a plan with all passes gives what eager calls give. */
#ifndef ND4C_TESTS_GRAPH_EXACT_H
#define ND4C_TESTS_GRAPH_EXACT_H

#include "graph_check.h"

/* Builds a graph and names its outputs. */
typedef void (*exact_build)(nd4c_graph *graph);

typedef struct exact_case {
  const char *name, *pass;
  int32_t changes; /* of the pass */
  int32_t steps;   /* of the plan */
  exact_build build;
  double tolerance; /* largest error relative to the largest result; 0: bit for bit */
} exact_case;

static const double exact_floats[] = {0.0,  -0.0,     1.0,     -1.0,  0.5,      -2.5,     3.0,   -7.75, INFINITY,
                                      NAN,  1e-45,    -1e-45,  1e-38, -1e-38,   3.4e38,   1e10,  -3e-5, -INFINITY,
                                      1.25, 1.17e-38, -3.4e38, 100.0, 0.333333, 16777217, -1e-40};
static const int64_t exact_wholes[] = {0,         1,         -1,        2,   7,    -13, 100, INT64_MAX,
                                       INT64_MIN, INT32_MAX, INT32_MIN, 127, -128, 255, 3,   -2};

static inline double exact_float(int64_t index) {
  return exact_floats[(uint64_t)index % (sizeof exact_floats / sizeof exact_floats[0])];
}

static inline int64_t exact_whole(int64_t index) {
  return exact_wholes[(uint64_t)index % (sizeof exact_wholes / sizeof exact_wholes[0])];
}

/* Fills an array so that arrays of other seeds have other numbers at the same place. */
static inline nd4c_array *exact_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape, int64_t seed) {
  nd4c_array *array = NULL;
  void *data = NULL;
  CHECK_OK(nd4c_array_empty(dtype, rank, shape, NULL, &array));
  CHECK_OK(nd4c_array_data_mutable(array, &data));
  for (int64_t i = 0; i < nd4c_array_size(array); i++) {
    const int64_t at = i * (1 + seed % 3) + 7 * seed;
    switch (dtype) {
      case ND4C_FLOAT32:
        ((float *)data)[i] = (float)exact_float(at);
        break;
      case ND4C_FLOAT64:
        ((double *)data)[i] = exact_float(at);
        break;
      case ND4C_INT64:
        ((int64_t *)data)[i] = exact_whole(at);
        break;
      case ND4C_INT32:
        ((int32_t *)data)[i] = (int32_t)(uint32_t)(uint64_t)exact_whole(at);
        break;
      case ND4C_INT8:
      case ND4C_UINT8:
        ((uint8_t *)data)[i] = (uint8_t)(uint64_t)exact_whole(at);
        break;
      default:
        assert_int_equal(dtype, ND4C_BOOL);
        ((uint8_t *)data)[i] = (uint8_t)((at / 2 + at) % 2 != 0);
    }
  }
  return array;
}

static inline nd4c_value exact_input(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape) {
  char name[16];
  nd4c_value value = ND4C_VALUE_NONE;
  (void)snprintf(name, sizeof name, "x%d", graph->inputs.count);
  CHECK_OK(nd4c_graph_input(graph, name, dtype, rank, shape, &value));
  return value;
}

/* A vector of all numbers. */
static inline nd4c_value exact_vector(nd4c_graph *graph, nd4c_dtype dtype) {
  return exact_input(graph, dtype, 2, (int64_t[]){5, 25});
}

static inline nd4c_value exact_full(nd4c_graph *graph, nd4c_dtype dtype, double number, int32_t rank,
                                    const int64_t *shape) {
  nd4c_array *array = NULL;
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_full(dtype, rank, shape, number, NULL, &array));
  CHECK_OK(nd4c_graph_constant(graph, array, &value));
  nd4c_array_release(array);
  return value;
}

static inline nd4c_value exact_scalar(nd4c_graph *graph, nd4c_dtype dtype, double number) {
  return exact_full(graph, dtype, number, 0, NULL);
}

/* A constant of int64. */
static inline nd4c_value exact_indices(nd4c_graph *graph, int32_t rank, const int64_t *shape, const int64_t *numbers) {
  nd4c_array *array = NULL;
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_from_data(ND4C_INT64, rank, shape, numbers, NULL, &array));
  CHECK_OK(nd4c_graph_constant(graph, array, &value));
  nd4c_array_release(array);
  return value;
}

static inline nd4c_value exact_constant(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                                        int64_t seed) {
  nd4c_array *array = exact_array(dtype, rank, shape, seed);
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_constant(graph, array, &value));
  nd4c_array_release(array);
  return value;
}

static inline nd4c_value exact_cast(nd4c_graph *graph, nd4c_value x, nd4c_dtype dtype) {
  const nd4c_attr attr = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = dtype}};
  return check_op(graph, ND4C_OP_cast, &x, 1, &attr, 1);
}

static inline void exact_output(nd4c_graph *graph, nd4c_value value) {
  char name[16];
  (void)snprintf(name, sizeof name, "y%d", graph->outputs.count);
  CHECK_OK(nd4c_graph_output(graph, name, value));
}

/* -- checking ------------------------------------------------------------------------------------------------------ */

/* Whether two elements have the same bits, or are both NaN. */
static inline bool exact_equal(nd4c_dtype dtype, const void *a, const void *b, int64_t index) {
  const int64_t size = nd4c_dtype_size(dtype);
  if (dtype == ND4C_FLOAT32 && isnan(((const float *)a)[index])) {
    return isnan(((const float *)b)[index]);
  }
  if (dtype == ND4C_FLOAT64 && isnan(((const double *)a)[index])) {
    return isnan(((const double *)b)[index]);
  }
  return memcmp((const char *)a + index * size, (const char *)b + index * size, (size_t)size) == 0;
}

static inline void exact_compare(const exact_case *row, const nd4c_array *expected, const nd4c_array *actual,
                                 const char *what) {
  if (row->tolerance > 0) {
    assert_true(check_difference(expected, actual) <= row->tolerance);
    return;
  }
  const nd4c_dtype dtype = nd4c_array_dtype(expected);
  const int64_t size = nd4c_array_size(expected);
  const size_t bytes = (size_t)(size * nd4c_dtype_size(dtype));
  (void)check_difference(expected, actual); /* fails on another dtype or shape */
  void *left = malloc(bytes + 1), *right = malloc(bytes + 1);
  CHECK_OK(nd4c_array_read(expected, left, bytes));
  CHECK_OK(nd4c_array_read(actual, right, bytes));
  for (int64_t i = 0; i < size; i++) {
    if (!exact_equal(dtype, left, right, i)) {
      fail_msg("%s: %s: element %lld has other bits", row->name, what, (long long)i);
    }
  }
  free(left);
  free(right);
}

static inline int32_t exact_changes(const nd4c_plan *plan, const char *pass) {
  for (int32_t i = 0; i < plan->pass_count; i++) {
    if (strcmp(plan->passes[i].name, pass) == 0) {
      return plan->passes[i].changes;
    }
  }
  fail_msg("there is no pass %s", pass);
  return -1;
}

static inline void exact_run(const exact_case *row, nd4c_plan *plan, nd4c_array *const *inputs,
                             nd4c_array *const *expected, const char *what) {
  const nd4c_array *given[CHECK_PORTS];
  nd4c_array *outputs[CHECK_PORTS] = {NULL};
  const int32_t input_count = plan->graph->inputs.count, output_count = plan->graph->outputs.count;
  memcpy(given, inputs, (size_t)input_count * sizeof(nd4c_array *));
  CHECK_OK(nd4c_plan_run(plan, given, input_count, outputs, output_count));
  for (int32_t i = 0; i < output_count; i++) {
    exact_compare(row, expected[i], outputs[i], what);
  }
  check_release(outputs, output_count);
}

/* Checks one case, with the math level of a compile request; returns the plan. */
static inline nd4c_plan *exact_check_at(const exact_case *row, int32_t math) {
  nd4c_graph *graph = NULL;
  nd4c_array *inputs[CHECK_PORTS] = {NULL}, *expected[CHECK_PORTS] = {NULL};
  CHECK_OK(nd4c_graph_create(&graph));
  row->build(graph);
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    const nd4c_graph_value *value = &graph->values[graph->inputs.items[i].value];
    inputs[i] = exact_array(value->dtype, value->rank, value->shape, i + 1);
  }
  check_evaluate(graph, inputs, expected);
  const nd4c_compile_request request = {.struct_size = sizeof request, .math = math};
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .compile = &request};
  nd4c_plan *plain = NULL, *optimized = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plain));
  exact_run(row, plain, inputs, expected, "without passes");
  nd4c_plan_destroy(plain);
  options.no_optimization = false;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &optimized));
  check_arena(optimized);
  exact_run(row, optimized, inputs, expected, "with passes");
  const int32_t changes = exact_changes(optimized, row->pass);
  if (changes != row->changes || optimized->step_count != row->steps) {
    char *report = NULL;
    CHECK_OK(nd4c_plan_report(optimized, &report));
    print_error("%s", report);
    fail_msg("%s: pass %s made %d changes, expected %d; %d steps, expected %d", row->name, row->pass, changes,
             row->changes, optimized->step_count, row->steps);
  }
  check_release(inputs, graph->inputs.count);
  check_release(expected, graph->outputs.count);
  nd4c_graph_destroy(graph);
  return optimized;
}

static inline void exact_check_all(const exact_case *rows, size_t count, int32_t math) {
  for (size_t i = 0; i < count; i++) {
    nd4c_plan_destroy(exact_check_at(&rows[i], math));
  }
}

#define EXACT_CHECK_ALL(rows, math) exact_check_all(rows, sizeof(rows) / sizeof((rows)[0]), math)

#endif
