/* The bindings of plans with dims: the budget, preparing sizes ahead, phases, memory that runs out in mid-binding, and
 * threads with different sizes. */
#include <math.h>

#include "dynamic_cases.h"
#include "graph/dynamic.h"

/* -- budget and phase ------------------------------------------------------------------------------------------------
 */

static void run_size(const nd4c_graph *graph, nd4c_plan *plan, int64_t n, int64_t m) {
  const int64_t dims[] = {n, m};
  sample s = make_sample(graph, dims, NULL);
  check_sample(plan, &s, "a size", dims);
  free_sample(&s);
}

static void bindings_are_dropped_by_bytes(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_plan(graph, NULL);
  run_size(graph, plan, 50, 1);
  const int64_t one = bindings_of(plan).bytes;
  assert_int_equal(bindings_of(plan).byte_limit, 20 << 20); /* its constants take less */
  nd4c_plan_destroy(plan);
  const nd4c_plan_options options = {.struct_size = sizeof options, .binding_bytes = 3 * one + one / 2};
  plan = make_plan(graph, &options);
  for (int64_t m = 1; m <= 5; m++) {
    run_size(graph, plan, 50, m);
    assert_true(bindings_of(plan).bytes <= options.binding_bytes);
  }
  assert_int_equal(bindings_of(plan).kept, 3);
  assert_int_equal(bindings_of(plan).dropped, 2);
  run_size(graph, plan, 50, 3); /* the least recently used of those that are kept: now the most */
  assert_int_equal(bindings_of(plan).made, 5);
  run_size(graph, plan, 50, 9);
  run_size(graph, plan, 50, 3);
  assert_int_equal(bindings_of(plan).made, 6);
  run_size(graph, plan, 50, 4); /* was dropped for 9 */
  assert_int_equal(bindings_of(plan).made, 7);
  nd4c_plan_destroy(plan);
  const nd4c_plan_options least = {.struct_size = sizeof least, .binding_bytes = 1};
  plan = make_plan(graph, &least);
  run_size(graph, plan, 2, 2);
  run_size(graph, plan, 3, 2);
  assert_int_equal(bindings_of(plan).kept, 1); /* the latest stays */
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* A thread runs one size for long, others run another one; there is room for one. */
static void the_binding_used_last_is_kept(void **state) {
  (void)state;
  const nd4c_plan_options least = {.struct_size = sizeof least, .binding_bytes = 1};
  const int64_t running[] = {4, 2};
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_plan(graph, &least);
  nd4c_plan_binding *binding = NULL;
  CHECK_OK(nd4c_bindings_take(plan, NULL, running, true, &binding));
  for (int i = 0; i < 3; i++) {
    run_size(graph, plan, 3, 2);
  }
  assert_int_equal(bindings_of(plan).made, 2);
  assert_int_equal(bindings_of(plan).dropped, 0);
  nd4c_bindings_give(plan, binding); /* its use began before the others' */
  assert_int_equal(bindings_of(plan).kept, 1);
  run_size(graph, plan, 3, 2);
  assert_int_equal(bindings_of(plan).made, 2);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* A binding has no entries for the values that the passes left behind, here of pairs that cancel. The variable keeps
 * its number, and counts the runs. */
static void bindings_have_no_room_for_removed_values(void **state) {
  (void)state;
  enum { PAIRS = 20 };
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_value counter = ND4C_VALUE_NONE, y = 0; /* x */
  CHECK_OK(nd4c_graph_variable(graph, "counter", check_scalar(graph, 5), false, &counter));
  CHECK_OK(nd4c_graph_assign(graph, counter, check_binary(graph, ND4C_OP_add, counter, check_scalar(graph, 1))));
  for (int i = 0; i < 2 * PAIRS; i++) {
    y = check_unary(graph, ND4C_OP_negative, y);
  }
  CHECK_OK(nd4c_graph_output(graph, "counted", check_binary(graph, ND4C_OP_multiply, y, counter)));
  const int32_t recorded = graph->value_count;
  nd4c_plan *plan = make_plan(graph, NULL);
  for (int run = 0; run < 3; run++) {
    const int64_t dims[] = {3 + run, 2};
    nd4c_plan_binding *binding = NULL;
    CHECK_OK(nd4c_bindings_take(plan, NULL, dims, false, &binding));
    assert_in_range(binding->plan->slot_count, 1, recorded - 2 * PAIRS);
    nd4c_bindings_give(plan, binding);
    nd4c_graph *bound = bind(graph, dims);
    nd4c_array *inputs[CHECK_PORTS] = {NULL}, *outputs[CHECK_PORTS] = {NULL};
    float x[30], counted[30];
    const size_t bytes = (size_t)dims[0] * 6 * sizeof *x;
    check_make_inputs(bound, 1, inputs);
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, bound->inputs.count, outputs, 3));
    CHECK_OK(nd4c_array_read(inputs[0], x, bytes));
    CHECK_OK(nd4c_array_read(outputs[2], counted, bytes));
    for (int64_t i = 0; i < dims[0] * 6; i++) {
      assert_true(counted[i] == x[i] * (float)(5 + run));
    }
    check_release(outputs, 3);
    check_release(inputs, bound->inputs.count);
    nd4c_graph_destroy(bound);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Six products in two orders of their weights, each with its own weights. */
static void equal_layers_prepare_once(void **state) {
  (void)state;
  for (int buckets = 0; buckets < 2; buckets++) {
    const nd4c_plan_options options = {.struct_size = sizeof options, .buckets = buckets ? "n=32" : ""};
    nd4c_graph *graph = make_graph(&graphs[LAYERS]);
    nd4c_plan *plan = make_plan(graph, &options);
    run_size(graph, plan, 20, 1);
    for (int64_t n = 21; n < 24; n++) {
      const nd4c_plan_bindings before = bindings_of(plan);
      run_size(graph, plan, n, 1);
      const nd4c_plan_bindings after = bindings_of(plan);
      assert_true(after.prepared + after.patch_prepared <= before.prepared + before.patch_prepared + 2);
    }
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* The first convolution's weights cannot be transformed, so another kernel than that of the second takes it. */
static void a_layer_with_odd_weights_is_no_model(void **state) {
  enum { CHANNELS = 32, EXTENT = 16 };
  const int64_t shape[] = {CHANNELS, CHANNELS, 3, 3}, image[] = {2, CHANNELS, EXTENT, EXTENT};
  const nd4c_attr pads = check_ints("pads", (int64_t[]){1, 1, 1, 1}, 4);
  nd4c_graph *graph = NULL, *numbers = NULL;
  nd4c_array *x = check_array(ND4C_FLOAT32, 4, image, 3, -1, 1), *y[2] = {NULL}, *expected[2] = {NULL};
  const nd4c_array *given[] = {x};
  nd4c_plan *plan = NULL, *plain = NULL;
  int64_t batch = 0;
  (void)state;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &batch));
  nd4c_value input = check_input(graph, "x", 4, (int64_t[]){batch, CHANNELS, EXTENT, EXTENT});
  for (uint64_t i = 0; i < 2; i++) {
    nd4c_array *w = check_array(ND4C_FLOAT32, 4, shape, 8 + i, -0.2, 0.2);
    nd4c_value weights = ND4C_VALUE_NONE;
    void *data = NULL;
    CHECK_OK(nd4c_array_data_mutable(w, &data));
    *(float *)data = i == 0 ? INFINITY : 0;
    CHECK_OK(nd4c_graph_constant(graph, w, &weights));
    CHECK_OK(nd4c_graph_output(graph, i == 0 ? "odd" : "plain",
                               check_op(graph, ND4C_OP_conv, (nd4c_value[]){input, weights}, 2, &pads, 1)));
    nd4c_array_release(w);
  }
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_graph_bind(graph, (const char *const[]){"n"}, (int64_t[]){2}, 1, &numbers));
  CHECK_OK(nd4c_plan_create(numbers, NULL, NULL, &plain));
  CHECK_OK(nd4c_plan_run(plan, given, 1, y, 2));
  CHECK_OK(nd4c_plan_run(plain, given, 1, expected, 2));
  assert_true(check_difference(expected[1], y[1]) == 0); /* by the same kernel */
  const nd4c_plan *bound = nd4c_bindings_latest(plan->dynamic)->plan;
  assert_int_equal(bound->step_count, plain->step_count);
  for (int32_t i = 0; i < bound->step_count; i++) {
    assert_string_equal(nd4c_choice_name(bound->steps[i].choice), nd4c_choice_name(plain->steps[i].choice));
  }
  check_release((nd4c_array *[]){x, y[0], y[1], expected[0], expected[1]}, 5);
  nd4c_plan_destroy(plan);
  nd4c_plan_destroy(plain);
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(numbers);
}

static void prepare(nd4c_plan *plan, int64_t n, int64_t m) {
  CHECK_OK(nd4c_plan_prepare(plan, (const char *const[]){"n", "m"}, (int64_t[]){n, m}, 2));
}

/* Bindings that no run has used are dropped in the order in which they were prepared, too. */
static void prepared_bindings_have_an_order(void **state) {
  (void)state;
  enum { FIRST = 1, LAST = 12 };
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_plan(graph, NULL);
  prepare(plan, 50, FIRST);
  const int64_t one = bindings_of(plan).bytes;
  nd4c_plan_destroy(plan);
  const nd4c_plan_options options = {.struct_size = sizeof options, .binding_bytes = 3 * one + one / 2};
  plan = make_plan(graph, &options);
  for (int64_t m = FIRST; m <= LAST; m++) {
    prepare(plan, 50, FIRST); /* always used again */
    prepare(plan, 50, m > FIRST ? m - 1 : m);
    prepare(plan, 50, m); /* instead of m - 2 */
    assert_int_equal(bindings_of(plan).made, m);
  }
  assert_int_equal(bindings_of(plan).runs, 0);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* The tables of a dropped binding serve the next one: what a new size still takes from the system does not grow with
 * the nodes. */
static void a_new_size_takes_recycled_tables(void **state) {
  (void)state;
  enum { WARM = 40, MOST = 6 };
  if (!ND4C_RECYCLES) {
    skip();
  }
  nd4c_graph *graph = make_graph(&graphs[0]);
  const nd4c_plan_options least = {.struct_size = sizeof least, .binding_bytes = 1};
  nd4c_plan *plan = make_plan(graph, &least);
  for (int64_t m = 1; m <= WARM; m++) {
    prepare(plan, 50, m);
  }
  int64_t fewest = INT64_MAX;
  for (int64_t m = WARM; m < WARM + 4; m++) {
    const int64_t before = nd4c_allocation_count();
    prepare(plan, 50, m % 3 + 1);
    const int64_t taken = nd4c_allocation_count() - before;
    fewest = taken < fewest ? taken : fewest;
  }
  assert_true(fewest <= MOST);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void assert_reported(const nd4c_plan *plan, const char *text) {
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  if (strstr(report, text) == NULL) {
    fail_msg("no '%s' in\n%s", text, report);
  }
  nd4c_free(report);
}

static void sizes_can_be_prepared(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]), *fork = check_make_fork();
  nd4c_plan *plan = make_plan(graph, NULL), *numbers = make_plan(fork, NULL);
  const char *names[] = {"m", "n", "k"};
  CHECK_OK(nd4c_plan_prepare(plan, names, (int64_t[]){3, 4}, 2));
  CHECK_OK(nd4c_plan_prepare(plan, names, (int64_t[]){3, 4}, 2)); /* it is there */
  assert_int_equal(bindings_of(plan).made, 1);
  assert_int_equal(bindings_of(plan).runs, 0);
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_RECORDING);
  assert_reported(plan, "prepared, no run yet");
  run_size(graph, plan, 4, 3);
  assert_int_equal(bindings_of(plan).made, 1);
  assert_int_equal(bindings_of(plan).reused, 2);
  expect(nd4c_plan_prepare(plan, names, (int64_t[]){3}, 1), ND4C_NAME, "dim 'n' has no number");
  expect(nd4c_plan_prepare(plan, names + 2, (int64_t[]){3}, 1), ND4C_NAME, "'k' is no dim of the plan");
  expect(nd4c_plan_prepare(plan, (const char *[]){"n", "n"}, (int64_t[]){3, 3}, 2), ND4C_NAME, "'n' is given twice");
  expect(nd4c_plan_prepare(plan, names, (int64_t[]){3, -1}, 2), ND4C_SHAPE, "dim 'n' is -1, expected at least 0");
  expect(nd4c_plan_prepare(plan, names, (int64_t[]){9999, 1}, 2), ND4C_SHAPE, "dim 'm' is 9999, expected 1 to 5000");
  expect(nd4c_plan_prepare(plan, NULL, NULL, 1), ND4C_NULL_ARGUMENT, "names is NULL, but count is 1");
  expect(nd4c_plan_prepare(plan, names, NULL, 2), ND4C_NULL_ARGUMENT, "extents is NULL, but count is 2");
  expect(nd4c_plan_prepare(plan, names, (int64_t[]){3, 3}, -1), ND4C_ARGUMENT, "count is -1, expected at least 0");
  expect(nd4c_plan_prepare(NULL, NULL, NULL, 0), ND4C_NULL_ARGUMENT, "plan is NULL");
  CHECK_OK(nd4c_plan_prepare(numbers, NULL, NULL, 0));
  expect(nd4c_plan_prepare(numbers, names, (int64_t[]){3}, 1), ND4C_NAME, "'m' is no dim of the plan");
  nd4c_plan_destroy(numbers);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(fork);
  nd4c_graph_destroy(graph);
}

static void phases_follow_the_extents(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_plan(graph, NULL);
  assert_reported(plan, "phase: recording");
  assert_reported(plan, "dim 'm': from axis 0 of input 'k'");
  run_size(graph, plan, 2, 1);
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_STABILISING);
  for (int i = 0; i < 3; i++) {
    run_size(graph, plan, 3, 1); /* two runs each */
  }
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_STABILISING);
  run_size(graph, plan, 3, 1);
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_FROZEN);
  assert_reported(plan, "phase: frozen");
  run_size(graph, plan, 3, 4);
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_THAWED);
  assert_reported(plan, "thawed 1 times, last by run 11: 'm' changed from 1 to 4");
  assert_reported(plan, "n = 3, m = 4: ");
  assert_reported(plan, "passes: those of the first binding hold");
  assert_reported(plan, "last used by run 12\n");
  assert_reported(plan, "the binding that was used last:");
  for (int i = 0; i < 3; i++) {
    run_size(graph, plan, 3, 4);
  }
  assert_int_equal(bindings_of(plan).phase, ND4C_PLAN_FROZEN);
  assert_int_equal(bindings_of(plan).thaws, 1);
  assert_int_equal(bindings_of(plan).runs, 18);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Passes of a binding release the constants that only dead nodes read. They are the plan's, too. */
static void bindings_leave_the_plan_its_constants(void **state) {
  (void)state;
  const nd4c_plan_options options = {.struct_size = sizeof options, .passes = "layout"};
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_array *constant = check_array(ND4C_FLOAT32, 1, (int64_t[]){5}, 9, -1, 1);
  nd4c_value dead = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_constant(graph, constant, &dead));
  (void)check_unary(graph, ND4C_OP_abs, dead);
  const int32_t before = constant->references;
  nd4c_plan *plan = make_plan(graph, &options);
  const int32_t planned = constant->references;
  run_size(graph, plan, 3, 2);
  assert_true(constant->references >= planned);
  run_size(graph, plan, 3, 4);
  nd4c_plan_destroy(plan);
  assert_int_equal(constant->references, before);
  nd4c_graph_destroy(graph);
  assert_int_equal(constant->references, 1);
  nd4c_array_release(constant);
}

static const char *engine_of(const nd4c_plan *plan, int32_t step) {
  nd4c_step_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_plan_get_step(plan, step, &info));
  return info.engine;
}

/* Later bindings choose with the configuration of their time, and share again once it is the earlier one. */
static void bindings_follow_the_configuration(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_plan(graph, NULL);
  run_size(graph, plan, 3, 2);
  char engine[ND4C_ENGINE_NAME_SIZE];
  (void)snprintf(engine, sizeof engine, "%s", engine_of(plan, 0));
  assert_string_not_equal(engine, "reference");
  for (int64_t m = 3; m <= 4; m++) { /* the product depends on n only */
    CHECK_OK(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", m == 3 ? engine : NULL));
    run_size(graph, plan, 3, m);
    const bool same = strcmp(engine_of(plan, 0), engine) == 0;
    CHECK_OK(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", NULL));
    assert_int_equal(same, m != 3);
  }
  assert_reported(plan, "passes: those of the first binding hold");
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static const nd4c_choice *choice_of(const nd4c_plan *plan, nd4c_op op) {
  const nd4c_plan *bound = nd4c_bindings_latest(plan->dynamic)->plan;
  const nd4c_choice *found = NULL;
  for (int32_t i = 0; i < bound->step_count && found == NULL; i++) {
    found = bound->steps[i].call.op->op == op ? bound->steps[i].choice : NULL;
  }
  return found;
}

/* Results of equal extents with other margins: n before the columns and m behind them. What a kernel has prepared for
 * one binding's attributes serves no other binding's. */
static void attributes_of_dims_tell_choices_apart(void **state) {
  (void)state;
  enum { SUM = 4 };
  builder b = {0};
  CHECK_OK(nd4c_graph_create(&b.graph));
  CHECK_OK(nd4c_graph_dim(b.graph, "n", 0, SUM, &b.n));
  CHECK_OK(nd4c_graph_dim(b.graph, "m", 0, SUM, &b.m));
  nd4c_value x = check_input(b.graph, "x", 2, (int64_t[]){5, 6});
  nd4c_attr pads[] = {check_ints("pads", (int64_t[]){1, b.n, 1, b.m}, 4)};
  CHECK_OK(nd4c_graph_output(b.graph, "y", check_op(b.graph, ND4C_OP_pad, &x, 1, pads, 1)));
  nd4c_value k = check_input(b.graph, "k", 2, (int64_t[]){b.n, b.m}); /* inputs tell what the dims are */
  CHECK_OK(nd4c_graph_output(b.graph, "k", check_unary(b.graph, ND4C_OP_exp, k)));
  nd4c_plan *plan = make_plan(b.graph, NULL);
  const nd4c_choice *choices[SUM + 1];
  for (int64_t n = 0; n <= SUM; n++) {
    const int64_t dims[] = {n, SUM - n};
    sample s = make_sample(b.graph, dims, NULL);
    check_sample(plan, &s, "margins", dims);
    free_sample(&s);
    choices[n] = choice_of(plan, ND4C_OP_pad);
    assert_non_null(choices[n]);
    for (int64_t i = 0; i < n; i++) {
      assert_ptr_not_equal(choices[i], choices[n]);
    }
  }
  assert_int_equal(bindings_of(plan).kept, SUM + 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(b.graph);
}

/* -- memory and threads -------------------------------------------------------------------------------------------- */

/* Each allocation of a binding fails in turn: the run is refused, and the plan serves old and new sizes. */
static void a_binding_without_memory_leaves_the_plan_usable(void **state) {
  (void)state;
  const int64_t old[] = {2, 5}, next[] = {2, 6};
  for (int which = 0; which < GRAPHS; which++) {
    nd4c_graph *graph = make_graph(&graphs[which]);
    const int64_t *sizes[] = {graphs[which].sizes[0], graphs[which].sizes[1]};
    sample a = make_sample(graph, sizes[0], NULL), b = make_sample(graph, sizes[1], NULL);
    nd4c_plan *plan = make_plan(graph, NULL);
    nd4c_array *outputs[CHECK_PORTS] = {NULL};
    bool done = false;
    check_sample(plan, &a, "before", old);
    for (int64_t skip = 0; !done; skip += 1 + skip / 16) {
      nd4c_allocation_fail_at(skip);
      const nd4c_status status = run_sample(plan, &b, outputs);
      nd4c_allocation_fail_at(-1);
      done = status == ND4C_OK;
      if (!done) {
        assert_int_equal(status, ND4C_MEMORY);
        check_sample(plan, &a, "after a failure", old);
      }
      check_release(outputs, b.output_count);
    }
    check_sample(plan, &b, "at last", next);
    free_sample(&a);
    free_sample(&b);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* With a budget for some sizes only, so that bindings are dropped while others run. */
static void threads_run_different_sizes(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[2]);
  sample samples[SIZES];
  const nd4c_plan_options all = {.struct_size = sizeof all, .no_optimization = true};
  for (int64_t i = 0; i < SIZES; i++) {
    samples[i] = make_sample(graph, (int64_t[]){1 + i % 2, 3 + i}, &all);
  }
  const nd4c_plan_options few = {.struct_size = sizeof few, .no_optimization = true, .binding_bytes = 1};
  for (int round = 0; round < 2; round++) {
    nd4c_plan *plan = make_plan(graph, round == 0 ? &all : &few);
    run_threads(plan, samples);
    const nd4c_plan_bindings bindings = bindings_of(plan);
    assert_int_equal(bindings.made + bindings.reused, THREADS * ROUNDS);
    assert_int_equal(bindings.kept, bindings.made - bindings.dropped);
    assert_int_equal(bindings.kept, round == 0 ? SIZES : 1);
    nd4c_plan_destroy(plan);
  }
  for (int i = 0; i < SIZES; i++) {
    free_sample(&samples[i]);
  }
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bindings_are_dropped_by_bytes),
      cmocka_unit_test(the_binding_used_last_is_kept),
      cmocka_unit_test(bindings_have_no_room_for_removed_values),
      cmocka_unit_test(equal_layers_prepare_once),
      cmocka_unit_test(a_layer_with_odd_weights_is_no_model),
      cmocka_unit_test(prepared_bindings_have_an_order),
      cmocka_unit_test(a_new_size_takes_recycled_tables),
      cmocka_unit_test(sizes_can_be_prepared),
      cmocka_unit_test(phases_follow_the_extents),
      cmocka_unit_test(bindings_leave_the_plan_its_constants),
      cmocka_unit_test(bindings_follow_the_configuration),
      cmocka_unit_test(attributes_of_dims_tell_choices_apart),
      cmocka_unit_test(a_binding_without_memory_leaves_the_plan_usable),
      cmocka_unit_test(threads_run_different_sizes),
  };
  return cmocka_run_group_tests_name("dynamic_bindings", tests, NULL, NULL);
}
