/* Rounds of a body that has a plan of its own (graph/rounds.h): on addresses, on arrays and on an asynchronous device,
 * each against numbers computed here. */
#include "device/stub_plugin.h"

#include "control_check.h"
#include "graph/modes/mode.h"
#include "graph/rounds.h"

enum { ROW = 3, MOST = 70000 };

static const int64_t row[] = {ROW};

/* round, v [3], c [3], last -> round < last, v + c, v * c. */
static nd4c_graph *make_body(void) {
  nd4c_graph *body = control_graph();
  nd4c_value round = control_input(body, ND4C_INT64, 0, NULL), v = control_input(body, ND4C_FLOAT32, 1, row);
  nd4c_value c = control_input(body, ND4C_FLOAT32, 1, row), last = control_input(body, ND4C_INT64, 0, NULL);
  control_output(body, check_binary(body, ND4C_OP_less, round, last));
  control_output(body, check_binary(body, ND4C_OP_add, v, c));
  control_output(body, check_binary(body, ND4C_OP_multiply, v, c));
  return body;
}

static nd4c_plan *make_plan(nd4c_context *context) {
  nd4c_graph *body = make_body();
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(body, context, NULL, &plan));
  CHECK_OK(nd4c_plan_move(plan, NULL));
  nd4c_graph_destroy(body);
  return plan;
}

static const nd4c_rounds loop = {
    .carried = 1, .captured = 2, .collected = 1, .decides = true, .most = INT64_MAX, .limit = MOST};

/* Every second number of six: kernels get it in C order. */
static nd4c_array *make_strided(float first) {
  const int64_t six[] = {6}, start[] = {0}, stop[] = {6}, step[] = {2};
  const float numbers[] = {first, 9, first + 1, 9, first + 2, 9};
  nd4c_array *whole = NULL, *view = NULL;
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 1, six, numbers, NULL, &whole));
  CHECK_OK(nd4c_array_slice(whole, start, stop, step, &view));
  nd4c_array_release(whole);
  return view;
}

/* v is 1, 2, 3 and c 2, 3, 4. `last`: the rounds less 1. */
static nd4c_status run_rounds(nd4c_plan *plan, nd4c_context *context, const nd4c_rounds *rounds, int64_t last,
                              nd4c_array **results) {
  nd4c_context *resolved = NULL;
  nd4c_array *given[] = {make_strided(1), make_strided(2), control_int(last)};
  CHECK_OK(nd4c_context_resolve(context, &resolved));
  const nd4c_status status = nd4c_rounds_run(plan, resolved, rounds, (const nd4c_array *const *)given, results);
  check_release(given, 3);
  return status;
}

static void check_results(nd4c_array **results, int64_t rounds) {
  float v[ROW];
  float *all = malloc((size_t)rounds * sizeof v);
  assert_non_null(all);
  assert_true(nd4c_array_rank(results[1]) == 2 && nd4c_array_shape(results[1])[0] == rounds &&
              nd4c_array_shape(results[1])[1] == ROW);
  CHECK_OK(nd4c_array_read(results[0], v, sizeof v));
  CHECK_OK(nd4c_array_read(results[1], all, (size_t)rounds * sizeof v));
  for (int i = 0; i < ROW; i++) {
    const float c = (float)(i + 2);
    float expected = (float)(i + 1);
    for (int64_t k = 0; k < rounds; k++) {
      assert_true(all[k * ROW + i] == expected * c);
      expected += c;
    }
    assert_true(v[i] == expected);
  }
  free(all);
  check_release(results, 2);
}

static void check_plan(nd4c_plan *plan, nd4c_context *context, const int64_t *counts) {
  for (; *counts > 0; counts++) {
    nd4c_array *results[2] = {NULL};
    nd4c_rounds few = loop;
    CHECK_OK(run_rounds(plan, context, &loop, *counts - 1, results));
    check_results(results, *counts);
    few.most = *counts;
    CHECK_OK(run_rounds(plan, context, &few, INT64_MAX, results));
    check_results(results, *counts);
    few = loop;
    few.limit = *counts;
    CHECK_OK(run_rounds(plan, context, &few, *counts - 1, results));
    check_results(results, *counts);
    assert_int_equal(run_rounds(plan, context, &few, *counts, results), ND4C_OVERFLOW);
    assert_non_null(strstr(nd4c_error_message(), "the limit of the loop"));
    assert_true(results[0] == NULL && results[1] == NULL);
  }
}

/* Also so many rounds that collected values outgrow 1 MB, whose memory then doubles to just what is allowed. */
static void rounds_run_on_addresses(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 2, 15, 16, 17, 33, MOST, 0};
  nd4c_plan *plan = make_plan(NULL);
  assert_true(nd4c_plan_is_direct(plan));
  check_plan(plan, NULL, counts);
  nd4c_rounds many = loop;
  nd4c_array *results[2] = {NULL};
  many.most = MOST;
  CHECK_OK(run_rounds(plan, NULL, &many, INT64_MAX, results));
  check_results(results, MOST);
  nd4c_plan_destroy(plan);
}

static void rounds_run_on_arrays(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 2, 15, 16, 17, 33, 0};
  nd4c_plan *plan = make_plan(NULL);
  plan->mode = &nd4c_mode_arrays;
  CHECK_OK(plan->mode->prepare(plan));
  check_plan(plan, NULL, counts);
  nd4c_plan_destroy(plan);
}

static void rounds_run_on_other_devices(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 2, 17, 0};
  nd4c_plan *plan = make_plan(stub_context);
  assert_false(nd4c_plan_is_direct(plan));
  check_plan(plan, stub_context, counts);
  nd4c_plan_destroy(plan);
}

/* A failure gives no results, and the plan stays usable. */
static void failures_leave_the_plan(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(NULL);
  nd4c_status status = ND4C_MEMORY;
  for (int64_t skip = 0; status != ND4C_OK; skip++) {
    nd4c_context *resolved = NULL;
    nd4c_array *given[] = {make_strided(1), make_strided(2), control_int(39)}, *results[2] = {NULL};
    CHECK_OK(nd4c_context_resolve(NULL, &resolved));
    assert_true(skip < 1000);
    nd4c_allocation_fail_at(skip);
    status = nd4c_rounds_run(plan, resolved, &loop, (const nd4c_array *const *)given, results);
    nd4c_allocation_fail_at(-1);
    check_release(given, 3);
    assert_true(status == ND4C_OK || (status == ND4C_MEMORY && results[0] == NULL && results[1] == NULL));
    check_release(results, 2);
    CHECK_OK(run_rounds(plan, NULL, &loop, 4, results));
    check_results(results, 5);
  }
  nd4c_plan_destroy(plan);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_run_on_addresses),
      cmocka_unit_test(rounds_run_on_arrays),
      cmocka_unit_test_setup_teardown(rounds_run_on_other_devices, stub_test_begin, stub_test_end),
      cmocka_unit_test(failures_leave_the_plan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
