/* Branches, loops, scans and calls in plans: results equal those of an oracle that runs the bodies by eager calls, for
 * several numbers of rounds, nested, with captured values, on several threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "control_cases.h"
#include "graph/callers.h"
#include "graph/control.h"
#include "graph/modes/mode.h"

/* -- results ------------------------------------------------------------------------------------------------------- */

/* Mode arrays, which other devices use, computes on the host, too. */
static void run_on_arrays(nd4c_plan *plan) {
  plan->mode = &nd4c_mode_arrays;
  CHECK_OK(plan->mode->prepare(plan));
}

static void check_case(const control_case *each, bool optimized, bool arrays) {
  nd4c_array *inputs[CONTROL_PORTS] = {NULL}, *expected[CONTROL_PORTS] = {NULL};
  nd4c_graph *graph = each->build(each->built);
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = !optimized};
  nd4c_plan *plan = NULL;
  control_make_inputs(graph, each->leading, (uint64_t)(each - control_cases) + 1, inputs);
  control_evaluate(graph, inputs, expected);
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  assert_true(nd4c_plan_is_direct(plan));
  check_arena(plan);
  if (arrays) {
    run_on_arrays(plan);
  }
  check_runs(plan, inputs, expected, 1e-6, each->name);
  check_release(inputs, graph->inputs.count);
  check_release(expected, graph->outputs.count);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void results_equal_those_of_eager_calls(void **state) {
  (void)state;
  for (size_t i = 0; i < CONTROL_CASES; i++) {
    check_case(&control_cases[i], false, false);
    check_case(&control_cases[i], true, false);
    check_case(&control_cases[i], true, true);
  }
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, RUNS = 200 };

typedef struct worker {
  nd4c_plan *plan;
  nd4c_array *inputs[CONTROL_PORTS], *expected[CONTROL_PORTS];
  pthread_t thread;
  bool wrong;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  const nd4c_graph *graph = w->plan->graph;
  nd4c_array *outputs[CONTROL_PORTS] = {NULL};
  const nd4c_array *given[CONTROL_PORTS];
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    given[i] = w->inputs[i];
  }
  for (int32_t run = 0; run < RUNS && !w->wrong; run++) {
    w->wrong = nd4c_plan_run(w->plan, given, graph->inputs.count, outputs, graph->outputs.count) != ND4C_OK ||
               check_difference(w->expected[0], outputs[0]) > 1e-6;
  }
  check_release(outputs, graph->outputs.count);
  return NULL;
}

/* Each caller of the plan has state of its own in the loops inside it. */
static void threads_run_one_plan(void **state) {
  (void)state;
  worker workers[THREADS] = {{NULL}};
  nd4c_graph *graph = build_nested(6);
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  for (int32_t i = 0; i < THREADS; i++) {
    workers[i].plan = plan;
    control_make_inputs(graph, 0, (uint64_t)i * 100 + 5, workers[i].inputs);
    control_evaluate(graph, workers[i].inputs, workers[i].expected);
  }
  for (int32_t i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int32_t i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_false(workers[i].wrong);
    check_release(workers[i].inputs, graph->inputs.count);
    check_release(workers[i].expected, graph->outputs.count);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- loops without an end ------------------------------------------------------------------------------------------ */

/* round, n -> true, n + 1 */
static nd4c_graph *endless_body(void) {
  nd4c_graph *body = control_graph();
  (void)control_input(body, ND4C_INT64, 0, NULL);
  nd4c_value n = control_input(body, ND4C_INT64, 0, NULL);
  control_output(body, control_constant(body, control_bool(true)));
  control_output(body, check_binary(body, ND4C_OP_add, n, control_constant(body, control_int(1))));
  return body;
}

static nd4c_plan *make_endless(int64_t limit) {
  nd4c_graph *graph = control_graph(), *body = endless_body();
  nd4c_value n = control_input(graph, ND4C_INT64, 0, NULL), y = ND4C_VALUE_NONE;
  nd4c_plan *plan = NULL;
  const nd4c_loop_options options = {
      .struct_size = sizeof options, .carried_count = 1, .carried = &n, .decides = true, .limit = limit};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "forever", &y, 1));
  control_output(graph, y);
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(body);
  return plan;
}

static void limits_end_loops(void **state) {
  (void)state;
  for (int32_t arrays = 0; arrays < 2; arrays++) {
    nd4c_plan *plan = make_endless(1000);
    nd4c_array *n = control_int(5), *y = NULL;
    if (arrays == 1) {
      run_on_arrays(plan);
    }
    assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *const[]){n}, 1, &y, 1), ND4C_OVERFLOW);
    assert_null(y);
    assert_non_null(strstr(nd4c_error_message(), "node 'forever' (loop): "));
    assert_non_null(strstr(nd4c_error_message(), "another round follows after 1000, the limit of the loop"));
    nd4c_array_release(n);
    nd4c_plan_destroy(plan);
  }
}

static void *cancel_later(void *cancellation) {
  const struct timespec while_it_runs = {.tv_nsec = 20000000};
  (void)nanosleep(&while_it_runs, NULL);
  (void)nd4c_cancellation_request(cancellation);
  return NULL;
}

static void cancellation_ends_loops(void **state) {
  (void)state;
  for (int32_t arrays = 0; arrays < 2; arrays++) {
    nd4c_plan *plan = make_endless(0);
    nd4c_array *n = control_int(5), *y = NULL;
    nd4c_cancellation *cancellation = NULL;
    pthread_t thread;
    if (arrays == 1) {
      run_on_arrays(plan);
    }
    CHECK_OK(nd4c_cancellation_create(&cancellation));
    CHECK_OK(nd4c_cancellation_enter(cancellation));
    assert_int_equal(pthread_create(&thread, NULL, cancel_later, cancellation), 0);
    assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *const[]){n}, 1, &y, 1), ND4C_CANCELLED);
    assert_non_null(strstr(nd4c_error_message(), ": round "));
    assert_int_equal(pthread_join(thread, NULL), 0);
    CHECK_OK(nd4c_cancellation_reset(cancellation));
    CHECK_OK(nd4c_cancellation_set_timeout(cancellation, 5000000));
    assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *const[]){n}, 1, &y, 1), ND4C_DEADLINE);
    assert_null(y);
    CHECK_OK(nd4c_cancellation_leave(cancellation));
    nd4c_cancellation_destroy(cancellation);
    nd4c_array_release(n);
    nd4c_plan_destroy(plan);
  }
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

/* Every allocation fails once: a status, and nothing leaks (AddressSanitizer). */
static void memory_may_fail(void **state) {
  (void)state;
  nd4c_status status = ND4C_MEMORY;
  for (int64_t failing = 0; status == ND4C_MEMORY; failing++) {
    nd4c_graph *graph = build_nested(3);
    nd4c_plan *plan = NULL;
    assert_true(failing < 4000);
    nd4c_allocation_fail_at(failing);
    status = nd4c_plan_create(graph, NULL, NULL, &plan);
    nd4c_allocation_fail_at(-1);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
  CHECK_OK(status);
}

/* Calls of one function share its plan. */
static void functions_are_planned_once(void **state) {
  (void)state;
  nd4c_graph *graph = build_calls(6);
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  assert_int_equal(plan->family->count, 2);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* The property begins a profile of bodies, too. */
static void bodies_are_profiled(void **state) {
  (void)state;
  nd4c_graph *graph = build_while(0);
  nd4c_plan *plan = NULL;
  nd4c_array *inputs[CONTROL_PORTS] = {NULL}, *expected[CONTROL_PORTS] = {NULL};
  CHECK_OK(nd4c_config_set("nd4c.plan.profile", "true"));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_config_set("nd4c.plan.profile", NULL));
  control_make_inputs(graph, 3, 1, inputs);
  control_evaluate(graph, inputs, expected);
  check_runs(plan, inputs, expected, 1e-6, "profiled");
  assert_true(atomic_load(&plan->steps[0].profiled_runs) > 0);
  assert_int_equal(plan->family->count, 1);
  for (int32_t i = 0; i < plan->family->plans[0]->step_count; i++) {
    assert_true(atomic_load(&plan->family->plans[0]->steps[i].profiled_runs) > 0);
  }
  nd4c_plan_destroy(plan);
  check_release(inputs, graph->inputs.count);
  check_release(expected, graph->outputs.count);
  nd4c_graph_destroy(graph);
}

/* What the caller asks for holds in bodies, too. */
static void bodies_compute_in_the_precision(void **state) {
  (void)state;
  nd4c_graph *graph = build_while(0);
  const nd4c_plan_options options = {.struct_size = sizeof options, .passes = "-gelu", .precision = ND4C_BFLOAT16};
  nd4c_plan *plan = NULL;
  if (nd4c_plan_create(graph, NULL, &options, &plan) == ND4C_OK) {
    assert_int_equal(plan->family->count, 1);
    const nd4c_plan *body = plan->family->plans[0];
    assert_int_equal(body->precision, ND4C_BFLOAT16);
    assert_string_equal(body->precision_from, "options.precision");
    assert_memory_equal(&body->switches, &plan->switches, sizeof body->switches);
  } else {
    assert_int_equal(nd4c_error_code(), ND4C_UNSUPPORTED); /* the machine has no fast product of the dtype */
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- passes -------------------------------------------------------------------------------------------------------- */

static int32_t count_controls(const nd4c_plan *plan) {
  int32_t count = 0;
  for (int32_t i = 0; i < plan->step_count; i++) {
    count += plan->steps[i].control != NULL;
  }
  return count;
}

static nd4c_plan *plan_of(nd4c_graph *graph, const char *passes) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .passes = passes};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  return plan;
}

/* Functions and short loops become nodes; other loops stay. */
static void bodies_are_inlined(void **state) {
  (void)state;
  static const struct {
    build_function build;
    int64_t number;
    int32_t left;
  } rows[] = {{build_calls, 6, 0}, {build_fixed, 0, 0}, {build_fixed, 5, 0}, {build_fixed, 9, 1},
              {build_trips, 0, 1}, {build_while, 0, 1}, {build_scan, 0, 1},  {build_passed, 3, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd4c_graph *graph = rows[i].build(rows[i].number);
    nd4c_plan *plan = plan_of(graph, ""), *plain = plan_of(graph, "-inline_calls");
    assert_int_equal(count_controls(plan), rows[i].left);
    assert_true(count_controls(plain) > 0);
    nd4c_plan_destroy(plan);
    nd4c_plan_destroy(plain);
    nd4c_graph_destroy(graph);
  }
}

/* A branch whose condition is a constant. */
static void known_branches_are_inlined(void **state) {
  (void)state;
  for (int32_t which = 0; which < 2; which++) {
    nd4c_graph *graph = control_graph(), *then_body = branch_body(ND4C_OP_tanh), *else_body = branch_body(ND4C_OP_exp);
    nd4c_value condition = control_constant(graph, control_bool(which == 1)), y = ND4C_VALUE_NONE;
    nd4c_value given[] = {control_input(graph, ND4C_FLOAT32, 2, pair), control_input(graph, ND4C_FLOAT32, 1, &pair[1])};
    nd4c_array *inputs[2] = {NULL}, *expected[1] = {NULL};
    CHECK_OK(nd4c_graph_if(graph, condition, then_body, else_body, given, 2, "known", &y, 1));
    control_output(graph, y);
    control_make_inputs(graph, 0, 3, inputs);
    control_evaluate(graph, inputs, expected);
    nd4c_plan *plan = plan_of(graph, NULL);
    assert_int_equal(count_controls(plan), 0);
    check_runs(plan, inputs, expected, 1e-6, "known branch");
    nd4c_plan_destroy(plan);
    check_release(inputs, 2);
    check_release(expected, 1);
    nd4c_graph_destroy(graph);
    nd4c_graph_destroy(then_body);
    nd4c_graph_destroy(else_body);
  }
}

/* round, x, a, b -> x * 0.5 + tanh(a) * b; b may be a constant. The product is the same in all rounds; what the round
 * changes stays, and so does an integer quotient, which data can make fail. */
static nd4c_graph *invariant_graph(bool constant, nd4c_value *x) {
  nd4c_graph *graph = control_graph(), *body = control_graph();
  const int64_t rounds = 40;
  nd4c_value round = control_input(body, ND4C_INT64, 0, NULL), carried = control_input(body, ND4C_FLOAT32, 2, pair);
  nd4c_value a = control_input(body, ND4C_FLOAT32, 2, pair), b = control_input(body, ND4C_FLOAT32, 1, &pair[1]);
  nd4c_value n = control_input(body, ND4C_INT64, 0, NULL), y[2];
  nd4c_value product = check_binary(body, ND4C_OP_multiply, check_unary(body, ND4C_OP_tanh, a), b);
  control_output(body, check_binary(body, ND4C_OP_add,
                                    check_binary(body, ND4C_OP_multiply, carried, check_scalar(body, 0.5)), product));
  control_output(body, check_binary(body, ND4C_OP_add, round, check_binary(body, ND4C_OP_floor_divide, n, n)));
  *x = control_input(graph, ND4C_FLOAT32, 2, pair);
  nd4c_value captured[] = {
      control_input(graph, ND4C_FLOAT32, 2, pair),
      constant ? check_constant(graph, 1, &pair[1], 5, -1, 1) : control_input(graph, ND4C_FLOAT32, 1, &pair[1]),
      control_input(graph, ND4C_INT64, 0, NULL)};
  const nd4c_loop_options options = {.struct_size = sizeof options,
                                     .carried_count = 1,
                                     .carried = x,
                                     .captured_count = 3,
                                     .captured = captured,
                                     .rounds = &rounds};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "invariant", y, 2));
  control_output(graph, y[0]);
  control_output(graph, y[1]);
  nd4c_graph_destroy(body);
  return graph;
}

static const nd4c_graph *body_of(const nd4c_graph *graph) {
  const nd4c_graph *body = NULL;
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    body = nd4c_graph_body(graph, i, 0) != NULL ? nd4c_graph_body(graph, i, 0) : body;
  }
  assert_non_null(body);
  return body;
}

static void what_never_changes_moves_out(void **state) {
  (void)state;
  for (int32_t constant = 0; constant < 2; constant++) {
    nd4c_value x = ND4C_VALUE_NONE;
    nd4c_graph *graph = invariant_graph(constant == 1, &x), *made = NULL;
    nd4c_array *inputs[CONTROL_PORTS] = {NULL}, *expected[2] = {NULL};
    CHECK_OK(nd4c_graph_optimize(graph, NULL, NULL, &made));
    assert_int_equal(nd4c_graph_node_count(body_of(graph)), 6);
    assert_int_equal(nd4c_graph_node_count(body_of(made)), 4); /* without tanh and the product */
    nd4c_graph_destroy(made);
    control_make_inputs(graph, 3, 8, inputs);
    control_evaluate(graph, inputs, expected);
    nd4c_plan *plan = plan_of(graph, NULL);
    check_runs(plan, inputs, expected, 1e-6, "invariant");
    nd4c_plan_destroy(plan);
    check_release(inputs, graph->inputs.count);
    check_release(expected, 2);
    nd4c_graph_destroy(graph);
  }
}

/* What fails in a body that does not run does not matter: a loop that has as many rounds as its input says, and a
 * branch that gathers element 7 of 4 elements. `number` is 1 if the index is captured, else it is a constant of the
 * body. */
static nd4c_graph *build_failing_loop(int64_t number) {
  nd4c_graph *graph = control_graph(), *body = control_graph();
  (void)control_input(body, ND4C_INT64, 0, NULL);
  nd4c_value x = control_input(body, ND4C_FLOAT32, 0, NULL), w = control_input(body, ND4C_FLOAT32, 1, &pair[1]);
  nd4c_value index = number == 1 ? control_input(body, ND4C_INT64, 0, NULL) : control_constant(body, control_int(7));
  control_output(body, check_binary(body, ND4C_OP_add, x, check_binary(body, ND4C_OP_gather, w, index)));
  nd4c_value trips = control_input(graph, ND4C_INT64, 0, NULL), y = ND4C_VALUE_NONE;
  x = control_input(graph, ND4C_FLOAT32, 0, NULL);
  const nd4c_value captured[] = {control_input(graph, ND4C_FLOAT32, 1, &pair[1]),
                                 check_binary(graph, ND4C_OP_add, trips, control_constant(graph, control_int(7)))};
  const nd4c_loop_options options = {.struct_size = sizeof options,
                                     .carried_count = 1,
                                     .carried = &x,
                                     .captured_count = number == 1 ? 2 : 1,
                                     .captured = captured,
                                     .trips = &trips};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "failing", &y, 1));
  control_output(graph, y);
  nd4c_graph_destroy(body);
  return graph;
}

static nd4c_graph *build_failing_branch(int64_t number) {
  (void)number;
  nd4c_graph *graph = control_graph(), *then_body = control_graph(), *else_body = control_graph();
  (void)control_input(then_body, ND4C_FLOAT32, 0, NULL);
  const nd4c_value w = check_constant(then_body, 1, &pair[1], 3, -1, 1);
  control_output(then_body, check_binary(then_body, ND4C_OP_gather, w, control_constant(then_body, control_int(7))));
  control_output(else_body, check_unary(else_body, ND4C_OP_sin, control_input(else_body, ND4C_FLOAT32, 0, NULL)));
  nd4c_value condition = control_input(graph, ND4C_BOOL, 0, NULL), x = control_input(graph, ND4C_FLOAT32, 0, NULL), y;
  CHECK_OK(nd4c_graph_if(graph, condition, then_body, else_body, &x, 1, "failing", &y, 1));
  control_output(graph, y);
  nd4c_graph_destroy(then_body);
  nd4c_graph_destroy(else_body);
  return graph;
}

static void what_does_not_run_does_not_fail(void **state) {
  (void)state;
  static const struct {
    const char *name;
    build_function build;
    int64_t number;
  } rows[] = {{"captured index", build_failing_loop, 1},
              {"constant index", build_failing_loop, 0},
              {"branch of constants", build_failing_branch, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd4c_graph *graph = rows[i].build(rows[i].number);
    nd4c_array *inputs[CONTROL_PORTS] = {NULL}, *expected[1] = {NULL}, *y = NULL;
    const nd4c_array *given[CONTROL_PORTS] = {NULL};
    nd4c_plan *plan = plan_of(graph, NULL);
    control_make_inputs(graph, 0, 4, inputs);
    control_evaluate(graph, inputs, expected);
    check_runs(plan, inputs, expected, 1e-6, rows[i].name);
    check_release(inputs, graph->inputs.count);
    check_release(expected, 1);
    control_make_inputs(graph, 1, 4, inputs);
    for (int32_t k = 0; k < graph->inputs.count; k++) {
      given[k] = inputs[k];
    }
    assert_int_equal(nd4c_plan_run(plan, given, graph->inputs.count, &y, 1), ND4C_INDEX);
    assert_null(y);
    assert_non_null(strstr(nd4c_error_message(), "is out of range for axis 0 of length 4"));
    check_release(inputs, graph->inputs.count);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* A loop's captured constant is a constant of its body. */
static void captured_constants_go_into_bodies(void **state) {
  (void)state;
  nd4c_graph *graph = build_fixed(9), *made = NULL;
  CHECK_OK(nd4c_graph_optimize(graph, NULL, NULL, &made));
  assert_int_equal(nd4c_graph_input_count(body_of(graph)), 4);
  assert_int_equal(nd4c_graph_input_count(body_of(made)), 3);
  nd4c_graph_destroy(made);
  nd4c_graph_destroy(graph);
}

/* Functions that call each other sixteen times, four deep: inlining ends at its limit, and the rest stays calls. */
static void inlining_is_bounded(void **state) {
  (void)state;
  nd4c_function *called = NULL;
  for (int32_t depth = 0; depth < 5; depth++) {
    nd4c_graph *body = control_graph();
    nd4c_value x = control_input(body, ND4C_FLOAT32, 1, &pair[1]);
    nd4c_function *next = NULL;
    for (int32_t i = 0; i < 12; i++) {
      if (depth == 0) {
        x = check_unary(body, i % 2 == 0 ? ND4C_OP_sin : ND4C_OP_cos, x);
      } else {
        CHECK_OK(nd4c_graph_call(body, called, &x, 1, NULL, &x, 1));
      }
    }
    control_output(body, x);
    if (depth < 4) {
      CHECK_OK(nd4c_function_create("bomb", body, &next));
      nd4c_function_release(called);
      called = next;
    } else {
      nd4c_plan *plan = plan_of(body, NULL);
      assert_in_range(plan->step_count, 1, 1 << 16);
      assert_true(count_controls(plan) > 0);
      nd4c_plan_destroy(plan);
    }
    nd4c_graph_destroy(body);
  }
  nd4c_function_release(called);
}

static void plans_say_what_they_run(void **state) {
  (void)state;
  nd4c_graph *graph = build_while(0);
  nd4c_plan *plan = NULL;
  char *report = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_report(plan, &report));
  assert_non_null(strstr(report, "loop: "));
  assert_non_null(strstr(report, " steps a round in mode direct"));
  nd4c_free(report);
  nd4c_step_info step = {.struct_size = sizeof step};
  CHECK_OK(nd4c_plan_get_step(plan, 1, &step));
  assert_string_equal(step.engine, "plan");
  assert_string_equal(step.kernel, "bodies");
  nd4c_plan_destroy(plan);
  assert_int_equal(nd4c_plan_compile(graph, "cpu:0", NULL, "/nonexistent/file", NULL), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "has bodies, which no file of executables holds"));
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_equal_those_of_eager_calls),
      cmocka_unit_test(threads_run_one_plan),
      cmocka_unit_test(limits_end_loops),
      cmocka_unit_test(cancellation_ends_loops),
      cmocka_unit_test(memory_may_fail),
      cmocka_unit_test(functions_are_planned_once),
      cmocka_unit_test(bodies_are_profiled),
      cmocka_unit_test(bodies_compute_in_the_precision),
      cmocka_unit_test(plans_say_what_they_run),
      cmocka_unit_test(bodies_are_inlined),
      cmocka_unit_test(known_branches_are_inlined),
      cmocka_unit_test(what_never_changes_moves_out),
      cmocka_unit_test(what_does_not_run_does_not_fail),
      cmocka_unit_test(captured_constants_go_into_bodies),
      cmocka_unit_test(inlining_is_bounded),
  };
  return cmocka_run_group_tests_name("graph control", tests, NULL, NULL);
}
