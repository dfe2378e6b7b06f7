/* States: graphs that share one, programs that read and replace variables, and threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "variables_check.h"

/* One graph counts, another one reads: by name they have the same variable. */
static void graphs_share_a_state(void **unused) {
  (void)unused;
  nd4c_graph *counter = make_counter(), *reader = NULL, *wrong = NULL;
  nd4c_state *state = NULL;
  CHECK_OK(nd4c_graph_create(&reader));
  const nd4c_value n = make_variable(reader, "n", full(reader, 100), false);
  const nd4c_value m = make_variable(reader, "m", full(reader, 10), false);
  const nd4c_value x = check_input(reader, "x", 2, shape);
  CHECK_OK(
      nd4c_graph_output(reader, "y", check_binary(reader, ND4C_OP_add, x, check_binary(reader, ND4C_OP_add, n, m))));
  CHECK_OK(nd4c_state_create(&state));
  assert_int_equal(nd4c_state_count(state), 0);
  nd4c_plan *counting = plan_of(counter, state, false), *reading = plan_of(reader, state, false);
  assert_int_equal(nd4c_state_count(state), 2);
  run_once(reading, 0, 11);
  run_once(counting, 5, 2);
  run_once(reading, 0, 16);
  nd4c_state_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_state_get_info(state, 0, &info));
  assert_string_equal(info.name, "n");
  assert_int_equal(info.changes, 1);
  assert_int_equal(info.rank, 2);
  assert_int_equal(info.shape[1], 8);
  assert_int_equal(info.dtype, ND4C_FLOAT32);
  CHECK_OK(nd4c_graph_create(&wrong));
  const nd4c_value scalar = check_scalar(wrong, 1);
  (void)make_variable(wrong, "other", scalar, false);
  nd4c_value bad = make_variable(wrong, "n", scalar, false);
  CHECK_OK(nd4c_graph_output(wrong, "y", bad));
  expect_failure(nd4c_state_initialize(state, wrong, NULL), ND4C_SHAPE,
                 "variable 'n' has shape () in the graph and (4, 8) in the state");
  assert_int_equal(nd4c_state_count(state), 2);
  const nd4c_plan_options options = {.struct_size = sizeof options, .state = state};
  nd4c_plan *refused = NULL;
  assert_int_equal(nd4c_plan_create(wrong, NULL, &options, &refused), ND4C_SHAPE);
  nd4c_plan_destroy(counting);
  nd4c_plan_destroy(reading);
  nd4c_graph_destroy(wrong);
  nd4c_graph_destroy(reader);
  nd4c_graph_destroy(counter);
  nd4c_state_release(state);
}

/* -- reading and replacing ----------------------------------------------------------------------------------------- */

static void programs_read_and_replace(void **unused) {
  (void)unused;
  nd4c_graph *graph = make_counter();
  nd4c_plan *plan = plan_of(graph, NULL, false);
  nd4c_state *state = state_of(graph);
  nd4c_array *hundred = filled(100), *into = filled(0), *scalar = NULL;
  const char *const n[] = {"n"}, *const twice[] = {"n", "n"}, *const unknown[] = {"n", "nn"};
  const nd4c_array *const given[] = {hundred, hundred};
  run_once(plan, 1, 2);
  CHECK_OK(nd4c_state_set(state, n, given, 1));
  clear(hundred); /* the state has a copy */
  CHECK_OK(nd4c_state_get(state, n, &into, 1));
  expect_all(into, 100);
  clear(into); /* and gives copies */
  run_once(plan, 1, 200);
  expect_failure(nd4c_state_set(state, twice, given, 2), ND4C_NAME, "nd4c_state_set: 'n' is given twice");
  expect_failure(nd4c_state_set(state, unknown, given, 2), ND4C_NAME,
                 "nd4c_state_set: 'nn' is no variable of the state");
  CHECK_OK(nd4c_array_scalar(ND4C_FLOAT32, 1, NULL, &scalar));
  const nd4c_array *const small[] = {scalar};
  expect_failure(nd4c_state_set(state, n, small, 1), ND4C_SHAPE,
                 "nd4c_state_set: the array for 'n' has shape (), expected (4, 8)");
  nd4c_array *fresh[] = {NULL, NULL};
  expect_failure(nd4c_state_get(state, unknown, fresh, 2), ND4C_NAME,
                 "nd4c_state_get: 'nn' is no variable of the state");
  assert_null(fresh[0]);
  expect_failure(nd4c_state_get(state, n, &scalar, 1), ND4C_SHAPE,
                 "nd4c_state_get: the array for 'n' has shape (), expected (4, 8)");
  expect_variable(state, "n", 101);
  nd4c_array_release(scalar);
  nd4c_array_release(into);
  nd4c_array_release(hundred);
  nd4c_state_release(state);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

enum { RUNS = 200, WRITERS = 3 };

typedef struct shared {
  nd4c_plan *counting, *reading;
  nd4c_state *state;
  _Atomic bool done;
  _Atomic int32_t failures;
} shared;

static void *count_up(void *argument) {
  shared *s = argument;
  nd4c_array *x = NULL, *y = NULL;
  bool good = nd4c_array_full(ND4C_FLOAT32, 2, shape, 1, NULL, &x) == ND4C_OK;
  const nd4c_array *inputs[] = {x};
  for (int32_t i = 0; i < RUNS && good; i++) {
    good = nd4c_plan_run(s->counting, inputs, 1, &y, 1) == ND4C_OK;
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
  s->failures += !good;
  return NULL;
}

/* Both variables are always equal, in runs and in snapshots. */
static void *watch(void *argument) {
  shared *s = argument;
  const char *const names[] = {"n", "m"};
  nd4c_array *difference = NULL, *both[] = {NULL, NULL};
  bool good = true;
  while (!s->done && good) {
    float numbers[SIZE], others[SIZE];
    good = nd4c_plan_run(s->reading, NULL, 0, &difference, 1) == ND4C_OK &&
           nd4c_array_read(difference, numbers, sizeof numbers) == ND4C_OK;
    for (int32_t i = 0; i < SIZE && good; i++) {
      good = numbers[i] == 0;
    }
    good = good && nd4c_state_get(s->state, names, both, 2) == ND4C_OK &&
           nd4c_array_read(both[0], numbers, sizeof numbers) == ND4C_OK &&
           nd4c_array_read(both[1], others, sizeof others) == ND4C_OK && memcmp(numbers, others, sizeof numbers) == 0;
  }
  nd4c_array_release(difference);
  check_release(both, 2);
  s->failures += !good;
  return NULL;
}

static void threads_lose_no_assignment(void **unused) {
  (void)unused;
  nd4c_graph *counter = NULL, *reader = NULL;
  shared s = {0};
  CHECK_OK(nd4c_graph_create(&counter));
  const nd4c_value n = make_variable(counter, "n", full(counter, 0), false);
  const nd4c_value m = make_variable(counter, "m", full(counter, 0), false);
  const nd4c_value x = check_input(counter, "x", 2, shape);
  CHECK_OK(nd4c_graph_assign(counter, n, check_binary(counter, ND4C_OP_add, n, x)));
  CHECK_OK(nd4c_graph_assign(counter, m, check_binary(counter, ND4C_OP_add, m, x)));
  CHECK_OK(nd4c_graph_output(counter, "y", check_binary(counter, ND4C_OP_add, m, n)));
  CHECK_OK(nd4c_graph_create(&reader));
  const nd4c_value rn = make_variable(reader, "n", full(reader, 0), false);
  const nd4c_value rm = make_variable(reader, "m", full(reader, 0), false);
  CHECK_OK(nd4c_graph_output(reader, "y", check_binary(reader, ND4C_OP_subtract, rn, rm)));
  s.state = state_of(counter);
  s.counting = plan_of(counter, NULL, false);
  s.reading = plan_of(reader, s.state, false);
  pthread_t writers[WRITERS], watchers[2];
  for (int32_t i = 0; i < 2; i++) {
    assert_int_equal(pthread_create(&watchers[i], NULL, watch, &s), 0);
  }
  for (int32_t i = 0; i < WRITERS; i++) {
    assert_int_equal(pthread_create(&writers[i], NULL, count_up, &s), 0);
  }
  for (int32_t i = 0; i < WRITERS; i++) {
    assert_int_equal(pthread_join(writers[i], NULL), 0);
  }
  s.done = true;
  for (int32_t i = 0; i < 2; i++) {
    assert_int_equal(pthread_join(watchers[i], NULL), 0);
  }
  assert_int_equal(s.failures, 0);
  expect_variable(s.state, "n", WRITERS * RUNS);
  nd4c_plan_destroy(s.counting);
  nd4c_plan_destroy(s.reading);
  nd4c_state_release(s.state);
  nd4c_graph_destroy(counter);
  nd4c_graph_destroy(reader);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(graphs_share_a_state),
      cmocka_unit_test(programs_read_and_replace),
      cmocka_unit_test(threads_lose_no_assignment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
