/* Plans over several devices: nodes that alternate between the host and the stub give the same results, and the plan
 * makes exactly the copies that the graph needs. */
#define _POSIX_C_SOURCE 200809L
#include "graph_check.h"
#include "stub_plugin.h"

enum { ROWS = 3, COLUMNS = 40 };
static const int64_t shape[] = {ROWS, COLUMNS};
static nd4c_device *cpu, *second;
static nd4c_context *cpu_context;

/* y = tanh(relu(x + c) w^T), z = (x + c)^T, s = (x + c) * relu(x + c) */
static nd4c_graph *make_graph(void) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  nd4c_value w = check_constant(graph, 2, (int64_t[]){5, COLUMNS}, 1, -1, 1);
  nd4c_value sum = check_binary(graph, ND4C_OP_add, x, check_constant(graph, 1, &shape[1], 2, -1, 1));
  nd4c_value turned = check_op(graph, ND4C_OP_transpose, &w, 1, NULL, 0);
  nd4c_value rectified = check_unary(graph, ND4C_OP_relu, sum);
  nd4c_value product = check_binary(graph, ND4C_OP_matmul, rectified, turned);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, product)));
  CHECK_OK(nd4c_graph_output(graph, "z", check_op(graph, ND4C_OP_transpose, &sum, 1, NULL, 0)));
  CHECK_OK(nd4c_graph_output(graph, "s", check_binary(graph, ND4C_OP_multiply, sum, rectified)));
  return graph;
}

static nd4c_trace_totals totals(void) {
  nd4c_trace_totals sums = {.struct_size = sizeof sums};
  CHECK_OK(nd4c_trace_get_totals(NULL, NULL, &sums));
  return sums;
}

static nd4c_plan_copies copies_of(const nd4c_plan *plan) {
  nd4c_plan_copies copies = {.struct_size = sizeof copies};
  CHECK_OK(nd4c_plan_get_copies(plan, &copies));
  return copies;
}

/* Alternating, from either device, with and without passes. */
static void check_alternating(nd4c_device *first, nd4c_device *then, bool optimize) {
  nd4c_graph *graph = make_graph();
  nd4c_device *devices[] = {first, then};
  nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices, .device_count = 2};
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = !optimize, .placement = &placement};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_trace_start(NULL));
  CHECK_OK(nd4c_plan_create(graph, cpu_context, &options, &plan));
  nd4c_plan_copies expected = copies_of(plan);
  assert_true(expected.values > 0);
  assert_int_equal(totals().copies, expected.constants);
  assert_int_equal(totals().copied_bytes, expected.constant_bytes);
  nd4c_array *inputs[1], *right[3] = {NULL}, *results[3] = {NULL};
  check_make_inputs(graph, 7, inputs);
  check_evaluate(graph, inputs, right);
  const nd4c_array *given[] = {inputs[0]};
  for (int run = 0; run < 3; run++) {
    CHECK_OK(nd4c_trace_start(NULL));
    CHECK_OK(nd4c_plan_run(plan, given, 1, results, 3));
    CHECK_OK(nd4c_device_synchronize(stub_device));
    nd4c_trace_totals seen = totals();
    assert_int_equal(seen.round_trips, 0);                                             /* explicit placement is none */
    assert_int_equal(seen.copies, expected.values + (run == 0 ? expected.inputs : 0)); /* none for weights */
    assert_int_equal(seen.copied_bytes, expected.value_bytes + (run == 0 ? expected.input_bytes : 0));
    assert_true(seen.transitions > 0);
    for (int i = 0; i < 3; i++) {
      assert_true(check_difference(right[i], results[i]) <= 1e-5);
    }
    check_release(results, 3);
    memset(results, 0, sizeof results);
  }
  CHECK_OK(nd4c_trace_stop(NULL));
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  assert_non_null(strstr(report, "plan on cpu:0, stub:0"));
  assert_non_null(strstr(report, "stub:0     "));
  assert_non_null(strstr(report, "copies between devices: "));
  assert_true(expected.constants == 0 || strstr(report, "a constant, once") != NULL);
  nd4c_free(report);
  check_release(inputs, 1);
  check_release(right, 3);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void alternating_nodes_copy_what_is_needed(void **state) {
  (void)state;
  check_alternating(cpu, stub_device, false);
  check_alternating(stub_device, cpu, false);
  check_alternating(cpu, stub_device, true);
  check_alternating(stub_device, cpu, true);
}

static nd4c_device *by_op(void *user, const nd4c_plan_node *node) {
  assert_true(node->index >= 0 && node->index < node->node_count);
  int32_t *asked = user;
  (*asked)++;
  return node->op->op == ND4C_OP_matmul ? stub_device : node->op->op == ND4C_OP_tanh ? second : NULL;
}

static void a_callback_places_nodes_on_three_devices(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  int32_t asked = 0;
  nd4c_placement placement = {.struct_size = sizeof placement, .device_of = by_op, .user = &asked};
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .placement = &placement};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, cpu_context, &options, &plan));
  assert_int_equal(asked, 7);
  nd4c_plan_copies copies = copies_of(plan);
  assert_int_equal(copies.inputs, 0);
  assert_int_equal(copies.values, 2);    /* relu's for matmul, matmul's for tanh */
  assert_int_equal(copies.constants, 1); /* w */
  nd4c_array *inputs[1], *right[3] = {NULL}, *results[3] = {NULL};
  check_make_inputs(graph, 3, inputs);
  check_evaluate(graph, inputs, right);
  const nd4c_array *given[] = {inputs[0]};
  CHECK_OK(nd4c_plan_run(plan, given, 1, results, 3));
  assert_ptr_equal(nd4c_array_device(results[0]), second); /* on the device that computed it */
  for (int i = 0; i < 3; i++) {
    assert_true(check_difference(right[i], results[i]) <= 1e-5);
  }
  /* A failure in a run does not affect the next run. */
  assert_int_equal(stub_control("fail run:1"), ND4C_OK);
  nd4c_array *failed[3] = {NULL};
  assert_int_equal(nd4c_plan_run(plan, given, 1, failed, 3), ND4C_DEVICE);
  assert_int_equal(stub_control("fail in_flight:1"), ND4C_OK);
  CHECK_OK(nd4c_plan_run(plan, given, 1, failed, 3));                     /* the failing value's copy is under way */
  assert_int_equal(nd4c_context_synchronize(cpu_context), ND4C_POISONED); /* it waits for all places */
  assert_int_equal(nd4c_array_wait(failed[0]), ND4C_POISONED);
  assert_non_null(strstr(nd4c_error_message(), "tanh: an input was left without a value"));
  assert_non_null(strstr(nd4c_error_message(), "matmul failed on stub:0"));
  check_release(failed, 3);
  (void)stub_control("reset");
  CHECK_OK(nd4c_plan_run(plan, given, 1, results, 3));
  assert_true(check_difference(right[0], results[0]) <= 1e-5);
  check_release(inputs, 1);
  check_release(right, 3);
  check_release(results, 3);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void who_cannot_leaves_the_node_to_the_plan(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  nd4c_value y = check_unary(graph, ND4C_OP_atan, check_unary(graph, ND4C_OP_square, x));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  nd4c_placement placement = {.struct_size = sizeof placement, .devices = &stub_device, .device_count = 1};
  nd4c_plan_options options = {.struct_size = sizeof options, .placement = &placement};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, cpu_context, &options, &plan));
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  assert_non_null(strstr(report, "cpu:0 is used: "));
  assert_non_null(strstr(report, "nothing on stub:0 computes this call"));
  nd4c_free(report);
  nd4c_plan_destroy(plan);
  nd4c_context_options strict_options = {.struct_size = sizeof strict_options, .device = cpu, .strict = true};
  nd4c_context *strict = NULL;
  CHECK_OK(nd4c_context_create(&strict_options, &strict));
  plan = NULL;
  assert_int_equal(nd4c_plan_create(graph, strict, &options, &plan), ND4C_UNSUPPORTED);
  CHECK_OK(nd4c_context_destroy(strict));
  placement.device_count = 0;
  assert_int_equal(nd4c_plan_create(graph, cpu_context, &options, &plan), ND4C_ARGUMENT);
  placement.device_count = 1;
  int64_t nothing = 0;
  placement.devices = &(nd4c_device *){(nd4c_device *)&nothing}; /* never opened */
  assert_int_equal(nd4c_plan_create(graph, cpu_context, &options, &plan), ND4C_HANDLE);
  placement.devices = NULL;
  assert_int_equal(nd4c_plan_create(graph, cpu_context, &options, &plan), ND4C_NULL_ARGUMENT);
  placement.struct_size = 1;
  assert_int_equal(nd4c_plan_create(graph, cpu_context, &options, &plan), ND4C_ARGUMENT);
  assert_int_equal(nd4c_plan_get_copies(NULL, NULL), ND4C_NULL_ARGUMENT);
  nd4c_graph_destroy(graph);
}

/* Values without elements cross devices like others: planned, computed and handed out. */
static void empty_values_have_no_place(void **state) {
  (void)state;
  const int64_t none[] = {0, COLUMNS};
  static const nd4c_op ops[] = {ND4C_OP_relu, ND4C_OP_square, ND4C_OP_tanh, ND4C_OP_abs, ND4C_OP_relu, ND4C_OP_exp};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value value = check_input(graph, "x", 2, none);
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    value = check_unary(graph, ops[i], value);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", value));
  nd4c_device *devices[] = {cpu, stub_device};
  nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices, .device_count = 2};
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .placement = &placement};
  nd4c_plan *plan = NULL;
  nd4c_array *input = NULL, *result = NULL;
  CHECK_OK(nd4c_plan_create(graph, cpu_context, &options, &plan));
  CHECK_OK(nd4c_array_zeros(ND4C_FLOAT32, 2, none, cpu, &input));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){input}, 1, &result, 1));
  assert_int_equal(nd4c_array_size(result), 0);
  nd4c_array_release(input);
  nd4c_array_release(result);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* The devices of the nodes of the graphs below. */
static nd4c_device *by_number(void *user, const nd4c_plan_node *node) {
  return ((nd4c_device *const *)user)[node->index];
}

/* A value that another device reads has an array of its own, whichever operand it is: the arena's next value may take
 * its bytes while the copy is under way. */
static void check_operand(int32_t place) {
  nd4c_device *devices[] = {stub_device, cpu, cpu, stub_device, stub_device};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  nd4c_value crossing = check_unary(graph, ND4C_OP_square, x), home = check_unary(graph, ND4C_OP_exp, x);
  nd4c_value read = place == 0 ? check_binary(graph, ND4C_OP_subtract, crossing, home)
                               : check_binary(graph, ND4C_OP_subtract, home, crossing);
  CHECK_OK(nd4c_graph_output(graph, "y", read));
  nd4c_value other = check_unary(graph, ND4C_OP_tanh, crossing);
  CHECK_OK(nd4c_graph_output(graph, "z", check_unary(graph, ND4C_OP_sin, other)));
  nd4c_placement placement = {.struct_size = sizeof placement, .device_of = by_number, .user = devices};
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .placement = &placement};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, cpu_context, &options, &plan));
  assert_int_equal(plan->slots[crossing].kind, ND4C_SLOT_OWN);
  assert_int_equal(plan->slots[home].kind, ND4C_SLOT_ARENA);
  assert_int_equal(plan->slots[other].kind, ND4C_SLOT_ARENA);
  nd4c_array *inputs[1], *right[2] = {NULL}, *results[2] = {NULL};
  check_make_inputs(graph, 7, inputs);
  check_evaluate(graph, inputs, right);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){inputs[0]}, 1, results, 2));
  for (int32_t i = 0; i < 2; i++) {
    assert_true(check_difference(right[i], results[i]) <= 1e-5);
  }
  check_release(inputs, 1);
  check_release(right, 2);
  check_release(results, 2);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void values_that_cross_have_their_own_arrays(void **state) {
  (void)state;
  check_operand(0);
  check_operand(1);
}

/* A step that may reuse the block of an input must not take an empty value of another device for a block in its own
 * arena. `empty` comes from `here`; x lives on `there` for one step and must leave its bytes to `wide`, however long
 * the empty value after it lives. On the device that is planned later the wrong block would begin before all blocks,
 * which AddressSanitizer reports. */
static void check_empty(nd4c_device *here, nd4c_device *there) {
  const int64_t none[] = {0, COLUMNS}, thin[] = {COLUMNS, 5};
  nd4c_device *devices[] = {here, there, there, there, there, there, there};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value empty = check_unary(graph, ND4C_OP_relu, check_input(graph, "e", 2, none));
  nd4c_value x = check_unary(graph, ND4C_OP_square, check_input(graph, "x", 2, shape));
  nd4c_value narrow = check_binary(graph, ND4C_OP_matmul, x, check_constant(graph, 2, thin, 1, -1, 1));
  empty = check_unary(graph, ND4C_OP_square, empty);
  nd4c_value back = check_constant(graph, 2, (int64_t[]){5, COLUMNS}, 2, -1, 1);
  nd4c_value wide = check_binary(graph, ND4C_OP_matmul, narrow, back);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, wide)));
  CHECK_OK(nd4c_graph_output(graph, "z", check_unary(graph, ND4C_OP_tanh, empty)));
  nd4c_placement placement = {.struct_size = sizeof placement, .device_of = by_number, .user = devices};
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .placement = &placement};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, cpu_context, &options, &plan));
  assert_int_equal(plan->place_count, 2);
  assert_int_equal(plan->arena_bytes, 512 + 64); /* x or wide, and narrow */
  nd4c_array *inputs[2], *right[2] = {NULL}, *results[2] = {NULL};
  check_make_inputs(graph, 7, inputs);
  check_evaluate(graph, inputs, right);
  const nd4c_array *given[] = {inputs[0], inputs[1]};
  CHECK_OK(nd4c_plan_run(plan, given, 2, results, 2));
  assert_true(check_difference(right[0], results[0]) <= 1e-5);
  assert_int_equal(nd4c_array_size(results[1]), 0);
  check_release(inputs, 2);
  check_release(right, 2);
  check_release(results, 2);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void empty_values_take_no_block_of_another_device(void **state) {
  (void)state;
  check_empty(cpu, stub_device);
  check_empty(stub_device, cpu);
}

/* Outputs that are views of a value with another shape: `turned` selects the op of the view. */
static void check_reshaped(bool turn) {
  const int64_t flat = ROWS * COLUMNS;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  nd4c_value bias = check_constant(graph, 1, &shape[1], 2, -1, 1);
  nd4c_value turned =
      turn ? check_op(graph, ND4C_OP_transpose, &x, 1, NULL, 0) : check_binary(graph, ND4C_OP_add, x, bias);
  nd4c_attr to = check_ints("shape", &flat, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_reshape, &turned, 1, &to, 1)));
  nd4c_plan *plan = NULL;
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  CHECK_OK(nd4c_plan_create(graph, stub_context, &options, &plan));
  nd4c_array *inputs[1], *right[1] = {NULL}, *given = NULL;
  check_make_inputs(graph, 7, inputs);
  check_evaluate(graph, inputs, right);
  const nd4c_array *in[] = {inputs[0]};
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 1, &flat, 9, cpu, &given));
  CHECK_OK(nd4c_trace_start(NULL));
  CHECK_OK(nd4c_plan_run(plan, in, 1, &given, 1));
  assert_int_equal(totals().copies, 1); /* of x, and none of the old contents of y */
  CHECK_OK(nd4c_trace_stop(NULL));
  assert_true(check_difference(right[0], given) <= 0);
  assert_int_equal(stub_control("fail run:1"), ND4C_OK);
  assert_int_equal(nd4c_plan_run(plan, in, 1, &given, 1), ND4C_DEVICE);
  (void)stub_control("reset");
  CHECK_OK(nd4c_plan_run(plan, in, 1, &given, 1));
  assert_true(check_difference(right[0], given) <= 0);
  nd4c_array_release(given);
  check_release(inputs, 1);
  check_release(right, 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void reshaped_outputs_are_written_in_their_own_shape(void **state) {
  (void)state;
  check_reshaped(false);
  check_reshaped(true);
}

/* The smallest model: digits, a convolution among others. */
static void a_model_alternates(void **state) {
  (void)state;
  static const char *const names[] = {"image"};
  const int64_t image_shape[] = {2, 1, 8, 8};
  nd4c_device *devices[] = {cpu, stub_device};
  nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices, .device_count = 2};
  nd4c_model_options options = {.struct_size = sizeof options, .no_optimization = true, .placement = &placement};
  nd4c_model *plain = NULL, *placed = NULL;
  const char *path = ND4C_TEST_SOURCE_DIR "/examples/digits/digits.onnx";
  CHECK_OK(nd4c_model_open(path, NULL, &plain));
  CHECK_OK(nd4c_model_open(path, &options, &placed));
  devices[0] = devices[1] = NULL; /* the model has a copy of the placement */
  const nd4c_array *image = check_array(ND4C_FLOAT32, 4, image_shape, 5, -1, 1);
  nd4c_array *expected = NULL, *actual = NULL;
  CHECK_OK(nd4c_model_run(plain, cpu_context, names, &image, 1, &expected, 1));
  CHECK_OK(nd4c_model_run(placed, cpu_context, names, &image, 1, &actual, 1));
  assert_true(check_difference(expected, actual) <= 1e-4);
  CHECK_OK(nd4c_device_synchronize(stub_device));
  CHECK_OK(nd4c_trace_start(NULL));
  CHECK_OK(nd4c_model_run(placed, cpu_context, names, &image, 1, &actual, 1));
  nd4c_trace_totals seen = totals();
  CHECK_OK(nd4c_trace_stop(NULL));
  char *report = NULL, values[64];
  CHECK_OK(nd4c_model_report(placed, &report));
  (void)snprintf(values, sizeof values, ", %lld of values (%lld bytes) in each run", (long long)seen.copies,
                 (long long)seen.copied_bytes);
  if (strstr(report, values) == NULL) {
    print_error("expected '%s' in\n%s", values, report);
    fail();
  }
  nd4c_free(report);
  assert_true(seen.copies > 0 && seen.transitions > 0);
  assert_true(check_difference(expected, actual) <= 1e-4);
  nd4c_context_options strict_options = {.struct_size = sizeof strict_options, .device = cpu, .strict = true};
  nd4c_context *strict = NULL;
  CHECK_OK(nd4c_context_create(&strict_options, &strict));
  nd4c_model *refused = NULL;
  devices[0] = devices[1] = stub_device;
  CHECK_OK(nd4c_model_open(path, &options, &refused));
  CHECK_OK(stub_control("fail usable:0")); /* its kernels decline, and the host computes all nodes */
  CHECK_OK(nd4c_model_run(refused, cpu_context, names, &image, 1, &actual, 1));
  assert_true(check_difference(expected, actual) <= 1e-4);
  assert_int_equal(nd4c_model_run(refused, strict, names, &image, 1, &actual, 1), ND4C_UNSUPPORTED);
  (void)stub_control("reset");
  nd4c_model_close(refused);
  CHECK_OK(nd4c_context_destroy(strict));
  nd4c_array_release((nd4c_array *)(uintptr_t)image);
  nd4c_array_release(expected);
  nd4c_array_release(actual);
  nd4c_model_close(plain);
  nd4c_model_close(placed);
}

static int settle(void **state) {
  (void)state;
  (void)stub_control("reset");
  stub_settle();
  (void)nd4c_memory_trim(second, 0);
  assert_int_equal(stub_counter("buffers"), 0);
  assert_int_equal(stub_counter("violations"), 0);
  return 0;
}

int main(void) {
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu:0", &cpu) != ND4C_OK ||
      nd4c_device_find("stub:1", &second) != ND4C_OK) {
    return 1;
  }
  nd4c_context_options options = {.struct_size = sizeof options, .device = cpu};
  if (nd4c_context_create(&options, &cpu_context) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(alternating_nodes_copy_what_is_needed, settle),
                                     cmocka_unit_test_teardown(a_callback_places_nodes_on_three_devices, settle),
                                     cmocka_unit_test_teardown(who_cannot_leaves_the_node_to_the_plan, settle),
                                     cmocka_unit_test_teardown(values_that_cross_have_their_own_arrays, settle),
                                     cmocka_unit_test_teardown(empty_values_have_no_place, settle),
                                     cmocka_unit_test_teardown(empty_values_take_no_block_of_another_device, settle),
                                     cmocka_unit_test_teardown(reshaped_outputs_are_written_in_their_own_shape, settle),
                                     cmocka_unit_test_teardown(a_model_alternates, settle)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)nd4c_context_destroy(cpu_context);
  (void)nd4c_context_destroy(stub_context);
  return failed;
}
