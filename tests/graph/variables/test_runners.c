/* Runners and what graphs and states keep: arrays that are constants or initial values and are donated, runs with
 * variables, and what a refused run leaves. */
#include "graph/runner.h"
#include "graph/state/state.h"
#include "variables_check.h"

static nd4c_runner *runner_of(nd4c_plan *plan) {
  nd4c_runner *runner = NULL;
  CHECK_OK(nd4c_runner_of_plan(plan, &runner));
  return runner;
}

static void expect_output(nd4c_runner *runner, const char *name, double number) {
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_runner_get_output(runner, name, &array));
  expect_all(array, number);
  nd4c_array_release(array);
}

/* Runs once with a fresh x. */
static void run_with(nd4c_runner *runner, double x, double expected) {
  nd4c_array *given = filled(x);
  CHECK_OK(nd4c_runner_bind_input(runner, "x", given));
  CHECK_OK(nd4c_runner_run(runner));
  expect_output(runner, "y", expected);
  CHECK_OK(nd4c_runner_bind_input(runner, "x", NULL));
  nd4c_array_release(given);
}

/* -- donated arrays that a graph keeps ----------------------------------------------------------------------------- */

/* y = x + w, where w is a constant or a variable; then w's array is donated as x. */
static void kept_arrays_may_be_donated(void **unused) {
  (void)unused;
  for (int32_t variable = 0; variable < 2; variable++) {
    nd4c_graph *graph = NULL;
    nd4c_array *given = filled(5), *again[8];
    nd4c_value w = ND4C_VALUE_NONE;
    CHECK_OK(nd4c_graph_create(&graph));
    CHECK_OK(nd4c_graph_constant(graph, given, &w));
    w = variable == 1 ? make_variable(graph, "w", w, true) : w;
    CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, check_input(graph, "x", 2, shape), w)));
    nd4c_plan *plan = plan_of(graph, NULL, false);
    nd4c_runner *runner = runner_of(plan);
    CHECK_OK(nd4c_runner_donate(runner, "x", given));
    CHECK_OK(nd4c_runner_run(runner));
    expect_output(runner, "y", 10);
    assert_int_equal(nd4c_array_wait(given), ND4C_POISONED);
    for (int32_t i = 0; i < 8; i++) { /* would get the memory if it had been freed */
      again[i] = filled(77);
    }
    run_with(runner, 1, 6);
    if (variable == 1) {
      nd4c_state *state = state_of(graph), *other = NULL;
      expect_variable(state, "w", 5);
      CHECK_OK(nd4c_state_create(&other));
      CHECK_OK(nd4c_state_initialize(other, graph, NULL));
      expect_variable(other, "w", 5);
      nd4c_state_release(state);
      nd4c_state_release(other);
    }
    check_release(again, 8);
    nd4c_runner_destroy(runner);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
    nd4c_array_release(given);
  }
}

/* -- refused runs -------------------------------------------------------------------------------------------------- */

/* y = x + x, z = x x. An output that was donated elsewhere since the last run cannot be written: the other one keeps
 * its value. */
static void refused_runs_write_nothing(void **unused) {
  (void)unused;
  const char *const names[] = {"y", "z"};
  for (int32_t lost = 0; lost < 2; lost++) {
    nd4c_graph *graph = NULL;
    nd4c_array *x = filled(3), *outputs[] = {filled(0), filled(0)};
    CHECK_OK(nd4c_graph_create(&graph));
    const nd4c_value value = check_input(graph, "x", 2, shape);
    CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, value, value)));
    CHECK_OK(nd4c_graph_output(graph, "z", check_binary(graph, ND4C_OP_multiply, value, value)));
    nd4c_plan *plan = plan_of(graph, NULL, false);
    nd4c_runner *runner = runner_of(plan), *other = runner_of(plan);
    CHECK_OK(nd4c_runner_bind_input(runner, "x", x));
    for (int32_t i = 0; i < 2; i++) {
      CHECK_OK(nd4c_runner_bind_output(runner, names[i], outputs[i]));
    }
    CHECK_OK(nd4c_runner_run(runner));
    CHECK_OK(nd4c_runner_donate(other, "x", outputs[lost]));
    CHECK_OK(nd4c_runner_run(other));
    assert_int_equal(nd4c_runner_run(runner), ND4C_READ_ONLY);
    expect_all(outputs[1 - lost], lost == 0 ? 9 : 6);
    nd4c_runner_destroy(runner);
    nd4c_runner_destroy(other);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
    check_release((nd4c_array *[]){x, outputs[0], outputs[1]}, 3);
  }
}

/* An array that was bound after the run has no output. */
static void outputs_are_what_runs_wrote(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  nd4c_array *x = filled(3), *y = filled(99), *found = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value value = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, value, value)));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  nd4c_runner *runner = runner_of(plan);
  CHECK_OK(nd4c_runner_bind_input(runner, "x", x));
  CHECK_OK(nd4c_runner_run(runner));
  CHECK_OK(nd4c_runner_bind_output(runner, "y", y));
  assert_int_equal(nd4c_runner_get_output(runner, "y", &found), ND4C_ARGUMENT);
  assert_null(found);
  CHECK_OK(nd4c_runner_run(runner));
  expect_output(runner, "y", 6);
  atomic_store(&runner->busy, true); /* as while a callback of its run destroys it */
  nd4c_runner_destroy(runner);
  atomic_store(&runner->busy, false);
  expect_output(runner, "y", 6);
  nd4c_runner_destroy(runner);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release((nd4c_array *[]){x, y}, 2);
}

/* -- runs with variables ------------------------------------------------------------------------------------------- */

/* Warm runs, a donated input next to an assigned variable, and refusals in between, which cost nothing. */
static void runners_assign_variables(void **unused) {
  (void)unused;
  nd4c_graph *graph = make_counter();
  nd4c_plan *plan = plan_of(graph, NULL, false);
  nd4c_state *state = state_of(graph);
  nd4c_runner *runner = runner_of(plan);
  nd4c_array *x = filled(1), *y = filled(0), *odd = NULL, *given = filled(2);
  nd4c_cancellation *cancellation = NULL;
  const nd4c_array *inputs[1];
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 1, (int64_t[]){3}, 0, NULL, &odd));
  CHECK_OK(nd4c_cancellation_create(&cancellation));
  CHECK_OK(nd4c_cancellation_request(cancellation));
  CHECK_OK(nd4c_runner_bind_input(runner, "x", x));
  CHECK_OK(nd4c_runner_bind_output(runner, "y", y));
  for (int32_t i = 0; i < 3; i++) {
    CHECK_OK(nd4c_runner_run(runner));
  }
  CHECK_OK(nd4c_cancellation_enter(cancellation)); /* the thread's first one allocates */
  CHECK_OK(nd4c_cancellation_leave(cancellation));
  const nd4c_array *spare = state->items[0]->spare;
  const int64_t before = nd4c_allocation_count();
  assert_non_null(spare);
  inputs[0] = odd;
  assert_int_equal(nd4c_plan_run(plan, inputs, 1, &y, 1), ND4C_SHAPE);
  assert_ptr_equal(state->items[0]->spare, spare);
  CHECK_OK(nd4c_state_begin(state)); /* a refused run does not wait for the turn */
  assert_int_equal(nd4c_plan_run(plan, inputs, 1, &y, 1), ND4C_SHAPE);
  nd4c_state_end(state);
  CHECK_OK(nd4c_cancellation_enter(cancellation));
  assert_int_equal(nd4c_runner_run(runner), ND4C_CANCELLED);
  CHECK_OK(nd4c_cancellation_leave(cancellation));
  CHECK_OK(nd4c_runner_run(runner));
  CHECK_OK(nd4c_runner_run(runner));
  assert_int_equal(nd4c_allocation_count() - before, 0);
  expect_variable(state, "n", 6);
  expect_output(runner, "y", 10);
  CHECK_OK(nd4c_runner_bind_output(runner, "y", NULL));
  CHECK_OK(nd4c_runner_donate(runner, "x", given));
  CHECK_OK(nd4c_cancellation_enter(cancellation));
  assert_int_equal(nd4c_runner_run(runner), ND4C_CANCELLED);
  CHECK_OK(nd4c_cancellation_leave(cancellation));
  expect_all(given, 2); /* still bound, and with its value */
  CHECK_OK(nd4c_runner_run(runner));
  assert_int_equal(nd4c_array_wait(given), ND4C_POISONED);
  expect_output(runner, "y", 12);
  expect_variable(state, "n", 8);
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  assert_null(strstr(report, "of input 'n'")); /* no caller gives the arrays of a variable */
  assert_null(strstr(report, "output 'assign n' may have"));
  nd4c_free(report);
  nd4c_cancellation_destroy(cancellation);
  nd4c_runner_destroy(runner);
  nd4c_state_release(state);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release((nd4c_array *[]){x, y, odd, given}, 4);
}

/* -- workspaces ---------------------------------------------------------------------------------------------------- */

/* An initial value that was made in a workspace outlives it in the state. */
static void initial_values_leave_their_workspace(void **unused) {
  (void)unused;
  static const int64_t large[] = {16, 16}; /* workspaces do not serve small arrays */
  nd4c_workspace *workspace = NULL;
  nd4c_graph *graph = NULL;
  nd4c_array *three = NULL, *one = NULL, *y = NULL;
  nd4c_value initial = ND4C_VALUE_NONE;
  float number = 0;
  CHECK_OK(nd4c_workspace_create(NULL, &workspace));
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_workspace_enter(workspace));
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, large, 3, NULL, &three));
  CHECK_OK(nd4c_graph_constant(graph, three, &initial));
  nd4c_array_release(three);
  const nd4c_value w = make_variable(graph, "w", initial, true);
  const nd4c_value x = check_input(graph, "x", 2, large);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, x, w)));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  nd4c_graph_destroy(graph);
  CHECK_OK(nd4c_workspace_leave(workspace));
  CHECK_OK(nd4c_workspace_destroy(workspace));
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, large, 1, NULL, &one));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){one}, 1, &y, 1));
  CHECK_OK(nd4c_array_slice(y, (int64_t[]){0, 0}, (int64_t[]){1, 1}, NULL, &three));
  CHECK_OK(nd4c_array_read(three, &number, sizeof number));
  assert_float_equal(number, 4, 0);
  check_release((nd4c_array *[]){one, y, three}, 3);
  nd4c_plan_destroy(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kept_arrays_may_be_donated),           cmocka_unit_test(refused_runs_write_nothing),
      cmocka_unit_test(outputs_are_what_runs_wrote),          cmocka_unit_test(runners_assign_variables),
      cmocka_unit_test(initial_values_leave_their_workspace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
