/* Variables: declaring and assigning them, what a run reads and commits, and failures that change nothing. */
#include "variables_check.h"

/* -- runs ---------------------------------------------------------------------------------------------------------- */

static void runs_read_then_assign(void **unused) {
  (void)unused;
  for (int32_t plain = 0; plain < 2; plain++) {
    nd4c_graph *graph = make_counter();
    nd4c_plan *plan = plan_of(graph, NULL, plain == 1), *other = plan_of(graph, NULL, plain == 0);
    nd4c_state *state = state_of(graph);
    nd4c_graph_destroy(graph);
    expect_variable(state, "n", 1);
    run_once(plan, 3, 2);
    expect_variable(state, "n", 4);
    run_once(plan, 1, 8);
    run_once(other, 1, 10); /* plans of one graph share its state */
    expect_variable(state, "n", 6);
    nd4c_plan_destroy(plan);
    nd4c_plan_destroy(other);
    expect_variable(state, "n", 6);
    nd4c_state_release(state);
  }
}

static void initial_values_may_be_computed(void **unused) {
  (void)unused;
  const uint64_t key[] = {7, 0};
  const int64_t two = 2;
  for (int32_t plain = 0; plain < 2; plain++) {
    nd4c_graph *graph = NULL;
    nd4c_array *seed = NULL, *expected = NULL, *w = NULL, *again = NULL;
    nd4c_value constant = ND4C_VALUE_NONE;
    CHECK_OK(nd4c_graph_create(&graph));
    CHECK_OK(nd4c_array_from_data(ND4C_UINT64, 1, &two, key, NULL, &seed));
    CHECK_OK(nd4c_graph_constant(graph, seed, &constant));
    const nd4c_attr attrs[] = {check_ints("shape", shape, 2)};
    const nd4c_value drawn = check_op(graph, ND4C_OP_random_normal, &constant, 1, attrs, 1);
    const nd4c_value w_value = make_variable(graph, "w", drawn, true);
    (void)make_variable(graph, "copy", drawn, true);
    CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_negative, w_value)));
    nd4c_plan *plan = plan_of(graph, NULL, plain == 1);
    assert_false(check_has_step(plan, ND4C_OP_random_normal)); /* no run draws anything */
    nd4c_state *state = state_of(graph);
    CHECK_OK(nd4c_random_normal(seed, shape, 2, ND4C_FLOAT32, 0, 1, &expected));
    const char *names[] = {"w", "copy"};
    nd4c_array *both[] = {w, again};
    CHECK_OK(nd4c_state_get(state, names, both, 2));
    assert_true(check_difference(expected, both[0]) == 0);
    assert_true(check_difference(expected, both[1]) == 0);
    check_release(both, 2);
    nd4c_array_release(expected);
    nd4c_array_release(seed);
    nd4c_state_release(state);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* Values that are no node's: what is assigned may be an input, a constant, or another variable. */
static void anything_may_be_assigned(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value a = make_variable(graph, "a", full(graph, 1), false);
  const nd4c_value b = make_variable(graph, "b", full(graph, 2), false);
  const nd4c_value c = make_variable(graph, "c", full(graph, 3), false);
  const nd4c_value d = make_variable(graph, "d", full(graph, 4), false);
  const nd4c_value e = make_variable(graph, "e", full(graph, 5), false);
  const nd4c_value x = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_assign(graph, a, b)); /* swapped */
  CHECK_OK(nd4c_graph_assign(graph, b, a));
  CHECK_OK(nd4c_graph_assign(graph, c, e));
  CHECK_OK(nd4c_graph_assign(graph, c, x)); /* the last one counts */
  CHECK_OK(nd4c_graph_assign(graph, d, full(graph, 9)));
  CHECK_OK(nd4c_graph_assign(graph, e, e));
  CHECK_OK(nd4c_graph_output(graph, "assign a", a)); /* the name of a port that plans make */
  nd4c_plan *plan = plan_of(graph, NULL, false);
  nd4c_state *state = state_of(graph);
  run_once(plan, 7, 1);
  expect_variable(state, "a", 2);
  expect_variable(state, "b", 1);
  expect_variable(state, "c", 7);
  expect_variable(state, "d", 9);
  expect_variable(state, "e", 5);
  run_once(plan, 8, 2);
  expect_variable(state, "a", 1);
  expect_variable(state, "b", 2);
  expect_variable(state, "c", 8);
  nd4c_state_release(state);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void a_plan_may_only_assign(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value n = make_variable(graph, "n", full(graph, 1), false);
  nd4c_plan *plan = NULL;
  expect_failure(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_ARGUMENT,
                 "nd4c_plan_create: the graph has no outputs: name them by nd4c_graph_output");
  CHECK_OK(nd4c_graph_assign(graph, n, check_binary(graph, ND4C_OP_add, n, n)));
  plan = plan_of(graph, NULL, false);
  for (int32_t i = 0; i < 5; i++) {
    CHECK_OK(nd4c_plan_run(plan, NULL, 0, NULL, 0));
  }
  nd4c_state *state = state_of(graph);
  expect_variable(state, "n", 32);
  nd4c_state_release(state);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void warm_runs_allocate_nothing(void **unused) {
  (void)unused;
  nd4c_graph *graph = make_counter();
  nd4c_plan *plan = plan_of(graph, NULL, false);
  nd4c_array *x = filled(1), *y = filled(0);
  const nd4c_array *inputs[] = {x};
  for (int32_t i = 0; i < 3; i++) {
    CHECK_OK(nd4c_plan_run(plan, inputs, 1, &y, 1));
  }
  const int64_t before = nd4c_allocation_count();
  for (int32_t i = 0; i < 10; i++) {
    CHECK_OK(nd4c_plan_run(plan, inputs, 1, &y, 1));
  }
  assert_int_equal(nd4c_allocation_count() - before, 0);
  expect_all(y, 26);
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* The array of the initial value belongs to the program: no run may write it. */
static void initial_arrays_stay(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  nd4c_array *one = filled(1);
  nd4c_value constant = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_constant(graph, one, &constant));
  const nd4c_value n = make_variable(graph, "n", constant, false);
  CHECK_OK(nd4c_graph_assign(graph, n, check_binary(graph, ND4C_OP_add, n, constant)));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  for (int32_t i = 0; i < 4; i++) {
    CHECK_OK(nd4c_plan_run(plan, NULL, 0, NULL, 0));
  }
  expect_all(one, 1);
  nd4c_state *state = NULL, *mine = NULL;
  state = state_of(graph);
  expect_variable(state, "n", 5);
  CHECK_OK(nd4c_state_create(&mine)); /* begins with the initial values */
  nd4c_plan *other = plan_of(graph, mine, false);
  CHECK_OK(nd4c_plan_run(other, NULL, 0, NULL, 0));
  expect_variable(mine, "n", 2);
  expect_variable(state, "n", 5);
  nd4c_plan_destroy(other);
  nd4c_state_release(mine);
  nd4c_state_release(state);
  nd4c_array_release(one);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- dims, copies, other graphs ------------------------------------------------------------------------------------ */

/* n, of one number, is assigned n + sum(x) for x of any length; y = x + n. */
static void plans_with_dims_have_variables(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL, *bound = NULL;
  nd4c_value x = ND4C_VALUE_NONE;
  int64_t batch = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "batch", 1, -1, &batch));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, &batch, &x));
  const nd4c_value n = make_variable(graph, "n", check_scalar(graph, 0), false);
  const nd4c_value sum = check_unary(graph, ND4C_OP_sum, x);
  CHECK_OK(nd4c_graph_assign(graph, n, check_binary(graph, ND4C_OP_add, n, sum)));
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, x, n)));
  nd4c_value refused = ND4C_VALUE_NONE;
  expect_failure(nd4c_graph_assign(graph, n, x), ND4C_SHAPE,
                 "graph: variable 'n' is assigned shape (batch,), expected ()");
  const int64_t seven = 7;
  const char *name = "batch";
  CHECK_OK(nd4c_graph_bind(graph, &name, &seven, 1, &bound));
  nd4c_plan *plan = plan_of(graph, NULL, false), *fixed = plan_of(bound, NULL, false);
  double total = 0;
  for (int64_t length = 1; length <= 7; length++) {
    nd4c_array *given = NULL, *y = NULL;
    float read[7];
    CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 1, &length, 1, NULL, &given));
    const nd4c_array *inputs[] = {given};
    CHECK_OK(nd4c_plan_run(length == 7 ? fixed : plan, inputs, 1, &y, 1)); /* a bound graph shares the state */
    CHECK_OK(nd4c_array_read(y, read, (size_t)length * sizeof *read));
    assert_float_equal(read[length - 1], 1 + total, 0);
    total += (double)length;
    nd4c_array_release(given);
    nd4c_array_release(y);
  }
  /* An initial value must not depend on a dim. */
  const nd4c_value ones = check_op(graph, ND4C_OP_ones, NULL, 0, (nd4c_attr[]){check_ints("shape", &batch, 1)}, 1);
  assert_int_equal(nd4c_graph_variable(graph, "bad", ones, false, &refused), ND4C_SHAPE);
  assert_non_null(strstr(nd4c_error_message(), "variable 'bad': its initial value depends on the graph's dims"));
  nd4c_plan_destroy(plan);
  nd4c_plan_destroy(fixed);
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(graph);
}

static void optimised_graphs_keep_variables(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL, *optimized = NULL;
  nd4c_state *mine = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value start = check_unary(graph, ND4C_OP_negative, full(graph, -3));
  const nd4c_value n = make_variable(graph, "n", start, true);
  const nd4c_value same = check_binary(graph, ND4C_OP_multiply, n, full(graph, 1)); /* a pass removes it */
  (void)check_unary(graph, ND4C_OP_exp, n);                                         /* is not read */
  CHECK_OK(nd4c_graph_assign(graph, n, check_binary(graph, ND4C_OP_add, same, same)));
  CHECK_OK(nd4c_graph_output(graph, "y", same));
  CHECK_OK(nd4c_graph_optimize(graph, NULL, NULL, &optimized));
  assert_int_equal(nd4c_graph_variable_count(optimized), 1);
  assert_int_equal(nd4c_graph_input_count(optimized), 0);
  assert_int_equal(nd4c_graph_output_count(optimized), 1);
  assert_int_equal(nd4c_graph_node_count(optimized), 1);
  nd4c_variable_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_graph_get_variable(optimized, 0, &info));
  assert_string_equal(info.name, "n");
  assert_true(info.trainable);
  assert_int_equal(nd4c_graph_output_value(optimized, 0), info.value);
  assert_non_null(nd4c_graph_value_constant(optimized, info.initial));
  CHECK_OK(nd4c_state_create(&mine));
  nd4c_plan *plan = plan_of(optimized, mine, true);
  nd4c_array *y = NULL;
  CHECK_OK(nd4c_plan_run(plan, NULL, 0, &y, 1));
  expect_all(y, 3);
  expect_variable(mine, "n", 6);
  char *text = NULL;
  CHECK_OK(nd4c_graph_explain(graph, NULL, NULL, -1, &text));
  assert_non_null(strstr(text, "- exp"));
  nd4c_free(text);
  CHECK_OK(nd4c_plan_report(plan, &text));
  assert_non_null(strstr(text,
                         "variables: 1 with 128 bytes, 1 trainable, 1 assigned by each run; in a state that the "
                         "options name\n"));
  nd4c_free(text);
  nd4c_array_release(y);
  nd4c_plan_destroy(plan);
  nd4c_state_release(mine);
  nd4c_graph_destroy(optimized);
  nd4c_graph_destroy(graph);
}

static void frozen_graphs_have_constants(void **unused) {
  (void)unused;
  nd4c_graph *graph = make_counter(), *frozen = NULL;
  nd4c_plan *plan = plan_of(graph, NULL, false);
  run_once(plan, 3, 2);
  CHECK_OK(nd4c_graph_freeze(graph, NULL, NULL, &frozen));
  run_once(plan, 3, 8); /* later runs do not change the frozen graph */
  run_once(plan, 3, 14);
  assert_int_equal(nd4c_graph_variable_count(frozen), 0);
  nd4c_plan *fixed = plan_of(frozen, NULL, false);
  run_once(fixed, 3, 8);
  run_once(fixed, 3, 8);
  nd4c_plan_destroy(fixed);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(frozen);
  nd4c_graph_destroy(graph);
}

/* A frozen graph has no state, and takes variables of its own, as a graph that never had any. */
static void frozen_graphs_take_variables(void **unused) {
  (void)unused;
  nd4c_graph *graph = make_counter(), *frozen = NULL;
  CHECK_OK(nd4c_graph_freeze(graph, NULL, NULL, &frozen));
  nd4c_state *state = NULL, *first = state_of(graph);
  expect_failure(nd4c_graph_state(frozen, &state), ND4C_ARGUMENT, "nd4c_graph_state: the graph has no variables");
  for (int32_t i = 0; i < 9; i++) {
    char name[8];
    (void)snprintf(name, sizeof name, "n%d", (int)i);
    nd4c_value n = make_variable(frozen, i == 0 ? "n" : name, full(frozen, 10 + i), false);
    CHECK_OK(nd4c_graph_assign(frozen, n, check_binary(frozen, ND4C_OP_add, n, nd4c_graph_input_value(frozen, 0))));
  }
  assert_int_equal(nd4c_graph_variable_count(frozen), 9);
  nd4c_plan *plan = plan_of(frozen, NULL, false);
  run_once(plan, 5, 2);
  nd4c_state *second = state_of(frozen);
  assert_ptr_not_equal(first, second);
  expect_variable(second, "n", 15);
  expect_variable(second, "n8", 23);
  expect_variable(first, "n", 1);
  nd4c_state_release(first);
  nd4c_state_release(second);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(frozen);
  nd4c_graph_destroy(graph);
}

/* -- failures ------------------------------------------------------------------------------------------------------ */

static void building_is_checked(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL, *body = NULL;
  nd4c_value value = ND4C_VALUE_NONE, out = ND4C_VALUE_NONE;
  nd4c_state *state = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  expect_failure(nd4c_graph_state(graph, &state), ND4C_ARGUMENT, "nd4c_graph_state: the graph has no variables");
  const nd4c_value x = check_input(graph, "x", 2, shape), start = full(graph, 1);
  const nd4c_value n = make_variable(graph, "n", start, false);
  const int32_t values = nd4c_graph_value_count(graph);
  expect_failure(nd4c_graph_variable(graph, "n", start, false, &value), ND4C_NAME,
                 "graph: there is already a variable named 'n'");
  expect_failure(nd4c_graph_variable(graph, "x", start, false, &value), ND4C_NAME,
                 "graph: there is already an input named 'x'");
  expect_failure(nd4c_graph_input(graph, "n", ND4C_FLOAT32, 2, shape, &value), ND4C_NAME,
                 "graph: there is already a variable named 'n'");
  expect_failure(nd4c_graph_variable(graph, "", start, false, &value), ND4C_NAME, "graph: a variable needs a name");
  expect_failure(nd4c_graph_variable(graph, "m", 1000, false, &value), ND4C_INDEX,
                 "graph: variable 'm': its initial value: value 1000 is not one of the graph's 3 values");
  expect_failure(nd4c_graph_variable(graph, "m", n, false, &value), ND4C_ARGUMENT,
                 "graph: variable 'm': its initial value depends on the variable 'n', expected constants alone");
  expect_failure(nd4c_graph_assign(graph, x, n), ND4C_ARGUMENT,
                 "nd4c_graph_assign: value 0 is no variable of the graph");
  assert_int_equal(nd4c_graph_value_count(graph), values);
  const nd4c_value far = check_unary(graph, ND4C_OP_exp, check_binary(graph, ND4C_OP_add, start, x));
  expect_failure(nd4c_graph_variable(graph, "m", far, false, &value), ND4C_ARGUMENT,
                 "graph: variable 'm': its initial value depends on the input 'x', expected constants alone");
  const nd4c_attr wide = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT64}};
  expect_failure(nd4c_graph_assign(graph, n, check_op(graph, ND4C_OP_cast, &n, 1, &wide, 1)), ND4C_DTYPE,
                 "graph: variable 'n' is assigned dtype float64, expected float32");
  expect_failure(nd4c_graph_assign(graph, n, check_scalar(graph, 1)), ND4C_SHAPE,
                 "graph: variable 'n' is assigned shape (), expected (4, 8)");
  assert_int_equal(nd4c_graph_find_variable(graph, "n"), 0);
  assert_int_equal(nd4c_graph_find_variable(graph, "x"), -1);
  nd4c_variable_info info = {.struct_size = sizeof info};
  expect_failure(nd4c_graph_get_variable(graph, 1, &info), ND4C_INDEX,
                 "nd4c_graph_get_variable: the graph has 1 variables, not one number 1");
  /* Bodies. */
  CHECK_OK(nd4c_graph_create(&body));
  const nd4c_value inner = make_variable(body, "v", full(body, 1), false);
  CHECK_OK(nd4c_graph_output(body, "y", inner));
  nd4c_array *truth = NULL;
  nd4c_value condition = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_scalar(ND4C_BOOL, 1, NULL, &truth));
  CHECK_OK(nd4c_graph_constant(graph, truth, &condition));
  const int32_t nodes = nd4c_graph_node_count(graph);
  assert_int_equal(nd4c_graph_if(graph, condition, body, body, NULL, 0, "branch", &out, 1), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(),
                         "the body has the variable 'v': declare it in the graph around it, read it there as an input "
                         "of the body, and assign an output"));
  assert_int_equal(nd4c_graph_node_count(graph), nodes);
  nd4c_array_release(truth);
  nd4c_graph_destroy(body);
  nd4c_graph_destroy(graph);
}

/* Indices out of range fail in the run, after other nodes have written. */
static void failed_runs_change_nothing(void **unused) {
  (void)unused;
  nd4c_graph *graph = NULL;
  const int64_t three = 3;
  nd4c_value index = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "index", ND4C_INT64, 1, &three, &index));
  const nd4c_value a = make_variable(graph, "a", full(graph, 1), false);
  const nd4c_value b = make_variable(graph, "b", full(graph, 2), false);
  CHECK_OK(nd4c_graph_assign(graph, a, check_binary(graph, ND4C_OP_add, a, b)));
  CHECK_OK(nd4c_graph_assign(graph, b, check_binary(graph, ND4C_OP_multiply, a, b)));
  const nd4c_value rows =
      check_op(graph, ND4C_OP_gather, (nd4c_value[]){a, index}, 2, (nd4c_attr[]){check_int("axis", 0)}, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", rows));
  nd4c_plan *plan = plan_of(graph, NULL, true);
  nd4c_state *state = state_of(graph);
  for (int32_t round = 0; round < 6; round++) {
    const int64_t good[] = {0, 1, 2}, bad[] = {0, 99, 2};
    nd4c_array *given = NULL, *y = NULL;
    CHECK_OK(nd4c_array_from_data(ND4C_INT64, 1, &three, round % 2 == 0 ? bad : good, NULL, &given));
    const nd4c_array *inputs[] = {given};
    const nd4c_status status = nd4c_plan_run(plan, inputs, 1, &y, 1);
    assert_int_equal(status, round % 2 == 0 ? ND4C_INDEX : ND4C_OK);
    nd4c_array_release(given);
    nd4c_array_release(y);
    const double as[] = {1, 3, 3, 5, 5, 11}, bs[] = {2, 2, 2, 6, 6, 30};
    expect_variable(state, "a", as[round]);
    expect_variable(state, "b", bs[round]);
  }
  /* Refused, and cancelled. */
  const nd4c_array *none[] = {NULL};
  nd4c_array *y = NULL;
  assert_int_equal(nd4c_plan_run(plan, none, 1, &y, 1), ND4C_NULL_ARGUMENT);
  expect_failure(nd4c_plan_run(plan, none, 1, NULL, 0), ND4C_ARGUMENT,
                 "plan: 1 inputs and 0 outputs were given, it has 1 inputs and 1 outputs");
  nd4c_cancellation *cancellation = NULL;
  CHECK_OK(nd4c_cancellation_create(&cancellation));
  CHECK_OK(nd4c_cancellation_enter(cancellation));
  CHECK_OK(nd4c_cancellation_request(cancellation));
  const int64_t good[] = {0, 1, 2};
  nd4c_array *given = NULL;
  CHECK_OK(nd4c_cancellation_leave(cancellation));
  CHECK_OK(nd4c_array_from_data(ND4C_INT64, 1, &three, good, NULL, &given));
  CHECK_OK(nd4c_cancellation_enter(cancellation));
  const nd4c_array *inputs[] = {given};
  assert_int_equal(nd4c_plan_run(plan, inputs, 1, &y, 1), ND4C_CANCELLED);
  CHECK_OK(nd4c_cancellation_leave(cancellation));
  nd4c_cancellation_destroy(cancellation);
  expect_variable(state, "a", 11);
  CHECK_OK(nd4c_plan_run(plan, inputs, 1, &y, 1));
  expect_variable(state, "a", 41);
  nd4c_array_release(given);
  nd4c_array_release(y);
  nd4c_state_release(state);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Each allocation fails once: the status says so, nothing leaks (the sanitizers' build), and all works afterwards. */
static void allocations_may_fail(void **unused) {
  (void)unused;
  nd4c_graph *graph = make_counter();
  nd4c_array *x = filled(1), *y = filled(0);
  const nd4c_array *inputs[] = {x};
  for (int32_t skip = 0; skip < 2000; skip++) {
    nd4c_state *state = NULL;
    nd4c_plan *plan = NULL;
    nd4c_graph *frozen = NULL;
    CHECK_OK(nd4c_state_create(&state));
    const nd4c_plan_options options = {.struct_size = sizeof options, .state = state};
    nd4c_allocation_fail_at(skip);
    nd4c_status status = nd4c_plan_create(graph, NULL, &options, &plan);
    status = status == ND4C_OK ? nd4c_plan_run(plan, inputs, 1, &y, 1) : status;
    const bool ran = status == ND4C_OK;
    status = status == ND4C_OK ? nd4c_graph_freeze(graph, state, NULL, &frozen) : status;
    nd4c_allocation_fail_at(-1);
    if (nd4c_state_count(state) == 1) {
      expect_variable(state, "n", ran ? 2 : 1);
    }
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(frozen);
    nd4c_state_release(state);
    if (status == ND4C_OK) {
      assert_true(skip > 10);
      break;
    }
    assert_int_equal(status, ND4C_MEMORY);
    assert_true(skip < 1999);
    clear(y); /* a failed run poisons it */
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_read_then_assign),
      cmocka_unit_test(initial_values_may_be_computed),
      cmocka_unit_test(anything_may_be_assigned),
      cmocka_unit_test(a_plan_may_only_assign),
      cmocka_unit_test(warm_runs_allocate_nothing),
      cmocka_unit_test(initial_arrays_stay),
      cmocka_unit_test(plans_with_dims_have_variables),
      cmocka_unit_test(optimised_graphs_keep_variables),
      cmocka_unit_test(frozen_graphs_have_constants),
      cmocka_unit_test(frozen_graphs_take_variables),
      cmocka_unit_test(building_is_checked),
      cmocka_unit_test(failed_runs_change_nothing),
      cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
