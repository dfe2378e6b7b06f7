/* Calibrations of graphs with variables: samples read and assign variables of the calibration's own, and a plan of int8
 * finds the ranges. On a machine without fast products of bytes the plan is left out. */
#include "graph/graph_check.h"
#include "graph/precision.h"
#include "graph/quantization.h"
#include "nd4c/calibration.h"
#include "nd4c/variable.h"

enum { ROWS = 4, WIDTH = 256 };

/* y = (x + s) w and s = x + s, where s begins as a constant plus 0, which passes remove. */
static nd4c_graph *make_graph(void) {
  const int64_t shape[] = {ROWS, WIDTH};
  nd4c_graph *graph = NULL;
  nd4c_value s = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, shape), zero = check_scalar(graph, -0.0);
  const nd4c_value initial = check_binary(graph, ND4C_OP_add, check_constant(graph, 2, shape, 1, 1, 1), zero);
  CHECK_OK(nd4c_graph_variable(graph, "s", initial, false, &s));
  const nd4c_value sum = check_binary(graph, ND4C_OP_add, x, s);
  CHECK_OK(nd4c_graph_assign(graph, s, sum));
  const nd4c_value w = check_constant(graph, 2, (int64_t[]){WIDTH, WIDTH}, 2, -1, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_matmul, sum, w)));
  return graph;
}

/* The largest element of the variable. */
static double largest_of_state(const nd4c_graph *graph) {
  const char *name = "s";
  nd4c_state *state = NULL;
  nd4c_array *array = NULL;
  static float elements[ROWS * WIDTH];
  double largest = 0;
  CHECK_OK(nd4c_graph_state(graph, &state));
  CHECK_OK(nd4c_state_get(state, &name, &array, 1));
  CHECK_OK(nd4c_array_read(array, elements, sizeof elements));
  for (size_t i = 0; i < ROWS * WIDTH; i++) {
    largest = fmax(largest, (double)elements[i]);
  }
  nd4c_array_release(array);
  nd4c_state_release(state);
  return largest;
}

static nd4c_calibration *calibrate(const nd4c_graph *graph, const nd4c_array *x) {
  nd4c_calibration *calibration = NULL;
  CHECK_OK(nd4c_calibration_create(graph, NULL, NULL, &calibration));
  CHECK_OK(nd4c_calibration_observe(calibration, &x, 1));
  CHECK_OK(nd4c_calibration_observe(calibration, &x, 1));
  CHECK_OK(nd4c_calibration_finish(calibration));
  return calibration;
}

static void check_range(const nd4c_calibration *calibration, double from, double to) {
  const char *name = NULL;
  double low = 0, high = 0;
  assert_int_equal(nd4c_calibration_count(calibration), 1);
  CHECK_OK(nd4c_calibration_get_range(calibration, 0, &name, &low, &high));
  assert_string_equal(name, "add#2");
  assert_true(low == from && high == to);
}

/* The variable begins as 1, each x is 2, so the sum is 3 and then 5. */
static void samples_assign_variables_of_their_own(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  nd4c_state *own = NULL;
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, (int64_t[]){ROWS, WIDTH}, 1, 2, 2);
  nd4c_calibration *calibration = calibrate(graph, x);
  check_range(calibration, 3, 5);
  CHECK_OK(nd4c_graph_state(graph, &own));
  assert_int_equal(nd4c_state_count(own), 0); /* no run has filled it */
  CHECK_OK(nd4c_state_initialize(own, graph, NULL));
  CHECK_OK(nd4c_calibration_measure(calibration, (const nd4c_array *const *)&x, 1));
  assert_true(largest_of_state(graph) == 1);
  nd4c_state_release(own);
  nd4c_calibration_release(calibration);
  nd4c_array_release(x);
  nd4c_graph_destroy(graph);
}

/* Runs of a plan assign the program's variable between samples, and do not see theirs. */
static void samples_begin_with_the_values_of_the_program(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  nd4c_plan *plan = NULL;
  nd4c_calibration *calibration = NULL;
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, (int64_t[]){ROWS, WIDTH}, 1, 2, 2), *y = NULL;
  const nd4c_array *given[] = {x};
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  for (int run = 0; run < 5; run++) {
    if (run == 3) {
      CHECK_OK(nd4c_calibration_create(graph, NULL, NULL, &calibration));
    }
    for (int sample = 0; run >= 3 && sample < 2; sample++) {
      CHECK_OK(nd4c_calibration_observe(calibration, given, 1));
    }
    CHECK_OK(nd4c_plan_run(plan, given, 1, &y, 1));
    assert_true(largest_of_state(graph) == 2 * run + 3);
  }
  CHECK_OK(nd4c_calibration_finish(calibration));
  check_range(calibration, 9, 15); /* from 7: the sums of four samples */
  nd4c_plan_destroy(plan);
  nd4c_calibration_release(calibration);
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_graph_destroy(graph);
}

static void plans_find_the_ranges(void **state) {
  (void)state;
  nd4c_context *context = NULL;
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  if (nd4c_precision_check_device(context, ND4C_INT8, "test") != ND4C_OK) {
    skip();
  }
  nd4c_graph *graph = make_graph();
  nd4c_plan *plan = NULL;
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, (int64_t[]){ROWS, WIDTH}, 1, 2, 2), *y = NULL;
  nd4c_calibration *calibration = calibrate(graph, x);
  const nd4c_plan_options options = {.struct_size = sizeof options, .precision = ND4C_INT8, .calibration = calibration};
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  assert_int_equal(plan->quantization->bytes, 1);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)&x, 1, &y, 1));
  assert_true(largest_of_state(graph) == 3);
  nd4c_array_release(y);
  nd4c_plan_destroy(plan);
  nd4c_calibration_release(calibration);
  nd4c_array_release(x);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(samples_assign_variables_of_their_own),
                                     cmocka_unit_test(samples_begin_with_the_values_of_the_program),
                                     cmocka_unit_test(plans_find_the_ranges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
