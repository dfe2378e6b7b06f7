/* Constants packed for kernels: shared by plans of other shapes, kept for the next plan, dropped when the constant is
 * written or released or its memory is needed; on the stub, which checks layouts strictly, and with oneDNN on the
 * CPU. */
#include <pthread.h>

#include "device/storage/forms.h"
#include "device/storage/packed.h"
#include "graph/modes/mode.h"
#include "graph_check.h"
#include "stub_plugin.h"

enum { DEPTH = 24, WIDTH = 40 };

static nd4c_device *host;

/* y = x w for so many rows. */
static nd4c_plan *make_product(nd4c_context *context, nd4c_array *w, int64_t rows) {
  const int64_t shape[] = {rows, DEPTH};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value weights = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_constant(graph, w, &weights));
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_matmul, x, weights)));
  nd4c_status status = nd4c_plan_create(graph, context, NULL, &plan);
  nd4c_graph_destroy(graph);
  return status == ND4C_OK ? plan : NULL;
}

static nd4c_array *make_weights(uint64_t seed) {
  const int64_t shape[] = {DEPTH, WIDTH};
  return check_array(ND4C_FLOAT32, 2, shape, seed, -1, 1);
}

/* The plan's result for rows that follow from the seed. */
static nd4c_array *run_product(nd4c_plan *plan, int64_t rows) {
  const int64_t shape[] = {rows, DEPTH};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 5, -1, 1), *y = NULL;
  const nd4c_array *given[] = {x};
  CHECK_OK(nd4c_plan_run(plan, given, 1, &y, 1));
  CHECK_OK(nd4c_array_wait(y));
  nd4c_array_release(x);
  return y;
}

static void check_product(nd4c_plan *plan, const nd4c_array *w, int64_t rows) {
  const int64_t shape[] = {rows, DEPTH};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 5, -1, 1), *expected = NULL, *y = run_product(plan, rows);
  CHECK_OK(nd4c_matmul(x, w, &expected));
  assert_true(check_difference(expected, y) <= 1e-5);
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_array_release(expected);
}

/* Without what backends hold, such as caches of vendors' libraries. */
static int64_t array_bytes(nd4c_device *device) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_memory_get_info(device, &info));
  return info.live_bytes - info.held_bytes;
}

static int64_t live_bytes(nd4c_device *device) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_memory_get_info(device, &info));
  return info.live_bytes;
}

/* -- the stub ------------------------------------------------------------------------------------------------------ */

static void plans_share_what_is_packed(void **state) {
  (void)state;
  nd4c_array *w = make_weights(1);
  int64_t packs = stub_counter("pack");
  nd4c_plan *few = make_product(stub_context, w, 2), *many = make_product(stub_context, w, 7);
  assert_non_null(few);
  assert_non_null(many);
  assert_int_equal(stub_counter("pack") - packs, 1);
  check_product(few, w, 2);
  check_product(many, w, 7);
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(few, &text));
  assert_non_null(strstr(text, "{packed constants: b blocked}"));
  nd4c_free(text);
  nd4c_plan_destroy(few);
  check_product(many, w, 7);
  nd4c_plan_destroy(many);
  CHECK_OK(nd4c_device_synchronize(stub_device));
  nd4c_plan *again = make_product(stub_context, w, 3); /* it was kept */
  assert_int_equal(stub_counter("pack") - packs, 1);
  check_product(again, w, 3);
  nd4c_plan_destroy(again);
  nd4c_array_release(w);
}

/* Views of one storage are constants of their own. The form that no plan has used for longest gives way first. */
static void views_have_forms_of_their_own(void **state) {
  (void)state;
  enum { VIEWS = 3 };
  const int64_t shape[] = {2 * DEPTH, DEPTH}, half[] = {DEPTH, DEPTH}, along[] = {DEPTH, 1}, across[] = {1, DEPTH};
  nd4c_array *w = check_array(ND4C_FLOAT32, 2, shape, 4, -1, 1), *views[VIEWS] = {NULL};
  nd4c_plan *plans[VIEWS];
  const int64_t packs = stub_counter("pack");
  for (int32_t i = 0; i < VIEWS; i++) { /* the upper half, the lower one, and the upper one transposed */
    CHECK_OK(nd4c_array_as_strided(w, 2, half, i < 2 ? along : across, i == 1 ? DEPTH * DEPTH : 0, &views[i]));
    plans[i] = make_product(stub_context, views[i], 2);
    check_product(plans[i], views[i], 2);
  }
  assert_int_equal(stub_counter("pack") - packs, VIEWS);
  for (int32_t i = 0; i < VIEWS; i++) {
    nd4c_plan_destroy(plans[i]);
  }
  CHECK_OK(nd4c_device_synchronize(stub_device));
  assert_true(nd4c_forms_give_way(stub_device, 1) > 0);
  for (int32_t i = VIEWS - 1; i >= 0; i--) {
    plans[i] = make_product(stub_context, views[i], 2);
    check_product(plans[i], views[i], 2);
    assert_true(plans[i]->whole || stub_counter("pack") - packs == VIEWS + (i == 0)); /* whole: they were copied */
    nd4c_plan_destroy(plans[i]);
  }
  check_release(views, VIEWS);
  nd4c_array_release(w);
}

/* In mode arrays each step runs through storages: with the form in place of its constant. */
static void a_plan_of_two_devices_reads_the_same(void **state) {
  (void)state;
  const int64_t shape[] = {4, DEPTH};
  nd4c_device *const devices[] = {stub_device, host};
  const nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices, .device_count = 2};
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .placement = &placement};
  nd4c_array *w = make_weights(2), *x = check_array(ND4C_FLOAT32, 2, shape, 5, -1, 1), *y = NULL, *expected = NULL;
  nd4c_value weights = ND4C_VALUE_NONE;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value input = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_constant(graph, w, &weights));
  nd4c_value product = check_binary(graph, ND4C_OP_matmul, input, weights);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, product)));
  int64_t packs = stub_counter("pack");
  CHECK_OK(nd4c_plan_create(graph, stub_context, &options, &plan));
  assert_string_equal(plan->mode->name, "arrays");
  assert_int_equal(stub_counter("pack") - packs, 1);
  const nd4c_array *given[] = {x};
  check_evaluate(graph, (nd4c_array *[]){x}, &expected);
  for (int32_t i = 0; i < 3; i++) {
    CHECK_OK(nd4c_plan_run(plan, given, 1, &y, 1));
    assert_true(check_difference(expected, y) <= 1e-5);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release((nd4c_array *[]){w, x, y, expected}, 4);
}

static void without_memory_it_is_read_as_it_is(void **state) {
  (void)state;
  nd4c_array *w = make_weights(3);
  (void)stub_control("fail pack:0:500"); /* MEMORY */
  nd4c_plan *plan = make_product(stub_context, w, 2);
  assert_non_null(plan);
  assert_int_equal(plan->steps[0].choice->form_count, 0);
  check_product(plan, w, 2);
  nd4c_plan_destroy(plan);
  nd4c_array_release(w);
}

static void another_failure_passes_the_kernel_over(void **state) {
  (void)state;
  nd4c_array *w = make_weights(3);
  static const char *const failures[] = {"fail pack:0", "fail in_flight:0"};
  for (size_t i = 0; i < 2; i++) {
    int64_t before = live_bytes(stub_device);
    (void)stub_control(failures[i]);
    assert_null(make_product(stub_context, w, 2));
    assert_int_equal(nd4c_error_code(), ND4C_UNSUPPORTED);
    assert_non_null(strstr(nd4c_error_message(), "was told to fail"));
    (void)stub_control("reset");
    assert_true(live_bytes(stub_device) <= before + DEPTH * WIDTH * 8); /* the constant may have come */
  }
  nd4c_plan *plan = make_product(stub_context, w, 2); /* no entry is left that would count as packed */
  check_product(plan, w, 2);
  nd4c_plan_destroy(plan);
  nd4c_array_release(w);
}

/* A kernel with an impossible layout is skipped with a text that says why. */
static void an_odd_layout_is_told(void **state) {
  (void)state;
  nd4c_array *w = make_weights(3);
  assert_null(make_product(stub_context, w, 2));
  assert_non_null(strstr(nd4c_error_message(), "stub.plain: wants_layout of input 1: no layout: bytes is 3839"));
  nd4c_array_release(w);
}

/* -- the CPU ------------------------------------------------------------------------------------------------------- */

static bool has_onednn(nd4c_plan *plan) {
  if (strcmp(nd4c_choice_engine(plan->steps[0].choice), "onednn") != 0) {
    print_message("oneDNN does not serve this: %s\n", nd4c_choice_name(plan->steps[0].choice));
    nd4c_plan_destroy(plan);
    return false;
  }
  return true;
}

enum { IN = 64, OUT = 64, EDGE = 6 };

/* y = relu(batch_norm(conv(x, w))): the normalisation is folded into the weights. */
static nd4c_plan *make_conv(nd4c_array *const *parameters, int64_t batch) {
  const int64_t shape[] = {batch, IN, EDGE, EDGE}, pads[] = {1, 1, 1, 1};
  const nd4c_attr attrs[] = {check_ints("pads", pads, 4)};
  nd4c_value inputs[6] = {ND4C_VALUE_NONE};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, shape), w = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_constant(graph, parameters[0], &w));
  inputs[0] = check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, attrs, 1);
  for (int32_t i = 1; i < 5; i++) {
    CHECK_OK(nd4c_graph_constant(graph, parameters[i], &inputs[i]));
  }
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_batch_norm, inputs, 5, NULL, 0)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

static void make_parameters(nd4c_array **parameters) {
  const int64_t w[] = {OUT, IN, 3, 3}, channels[] = {OUT};
  parameters[0] = check_array(ND4C_FLOAT32, 4, w, 11, -1, 1);
  for (uint64_t i = 1; i < 5; i++) {
    parameters[i] = check_array(ND4C_FLOAT32, 1, channels, 11 + i, 0.5, 1.5);
  }
}

static nd4c_array *run_conv(nd4c_plan *plan, int64_t batch) {
  const int64_t shape[] = {batch, IN, EDGE, EDGE};
  nd4c_array *x = check_array(ND4C_FLOAT32, 4, shape, 6, -1, 1), *y = NULL;
  const nd4c_array *given[] = {x};
  CHECK_OK(nd4c_plan_run(plan, given, 1, &y, 1));
  nd4c_array_release(x);
  return y;
}

/* Plans of one model for other batches share the folded weights and oneDNN's packed form of them. Their results equal
 * those of plans that share nothing, bit for bit. */
static void batches_of_a_convolution_share(void **state) {
  (void)state;
  nd4c_array *shared[5], *own[5];
  make_parameters(shared);
  make_parameters(own);
  int64_t before = live_bytes(host), packed = nd4c_forms_packed();
  nd4c_plan *first = make_conv(shared, 1);
  if (!has_onednn(first)) {
    check_release(shared, 5);
    check_release(own, 5);
    skip();
  }
  assert_int_equal(first->step_count, 1);
  assert_int_equal(nd4c_forms_packed() - packed, 1);
  int64_t weights = live_bytes(host) - before;
  nd4c_plan *second = make_conv(shared, 4);
  assert_int_equal(nd4c_forms_packed() - packed, 1);
  assert_true(first->steps[0].choice->forms[0] == second->steps[0].choice->forms[0]);
  assert_true(live_bytes(host) - before - weights < OUT * IN * 9 * 4); /* the second plan packs none */
  nd4c_plan *apart = make_conv(own, 4);
  assert_int_equal(nd4c_forms_packed() - packed, 2);
  nd4c_array *y = run_conv(second, 4), *expected = run_conv(apart, 4);
  assert_true(check_difference(expected, y) == 0);
  nd4c_array_release(y);
  nd4c_plan_destroy(first); /* the plan that had packed them */
  y = run_conv(second, 4);
  assert_true(check_difference(expected, y) == 0);
  nd4c_array_release(y);
  nd4c_array_release(expected);
  nd4c_plan_destroy(second);
  nd4c_plan_destroy(apart);
  check_release(shared, 5);
  check_release(own, 5);
  CHECK_OK(nd4c_memory_trim(host, 0));
  assert_true(live_bytes(host) <= before);
}

/* A plan computes with the values of the constants at the time when it is made, even while an older plan lives that
 * packed them, or folded a normalisation into them, before they were written by nd4c or through an address. */
static void a_new_plan_sees_what_was_written(void **state) {
  (void)state;
  enum { COUNT = OUT * IN * 9 };
  float *weights = malloc(COUNT * sizeof *weights);
  for (int by_address = 0; by_address <= 1; by_address++) {
    nd4c_array *parameters[5], *others[5];
    void *data = NULL;
    make_parameters(parameters);
    make_parameters(others);
    CHECK_OK(nd4c_array_data_mutable(parameters[0], &data));
    nd4c_plan *old = make_conv(parameters, 1);
    nd4c_array_release(run_conv(old, 1));
    CHECK_OK(nd4c_array_read(parameters[0], weights, COUNT * sizeof *weights));
    for (int i = 0; i < COUNT; i++) {
      weights[i] *= 3;
    }
    CHECK_OK(nd4c_array_write(others[0], weights, COUNT * sizeof *weights));
    if (by_address) {
      memcpy(data, weights, COUNT * sizeof *weights);
    } else {
      CHECK_OK(nd4c_array_write(parameters[0], weights, COUNT * sizeof *weights));
    }
    nd4c_plan *new = make_conv(parameters, 1), *apart = make_conv(others, 1);
    nd4c_array *y = run_conv(new, 1), *expected = run_conv(apart, 1);
    assert_true(check_difference(expected, y) == 0);
    nd4c_array_release(y);
    nd4c_array_release(expected);
    nd4c_plan_destroy(old);
    nd4c_plan_destroy(new);
    nd4c_plan_destroy(apart);
    check_release(parameters, 5);
    check_release(others, 5);
  }
  free(weights);
}

static void a_new_plan_packs_what_was_written(void **state) {
  (void)state;
  float values[DEPTH * WIDTH];
  nd4c_array *w = make_weights(1);
  nd4c_plan *old = make_product(stub_context, w, 2);
  check_product(old, w, 2);
  int64_t packs = stub_counter("pack");
  CHECK_OK(nd4c_array_read(w, values, sizeof values));
  for (int i = 0; i < DEPTH * WIDTH; i++) {
    values[i] *= 3;
  }
  CHECK_OK(nd4c_array_write(w, values, sizeof values));
  nd4c_plan *new = make_product(stub_context, w, 2);
  assert_int_equal(stub_counter("pack") - packs, 1);
  check_product(new, w, 2);
  nd4c_plan_destroy(old);
  nd4c_plan_destroy(new);
  nd4c_array_release(w);
}

enum { LARGE = 96 };

static nd4c_plan *make_large(nd4c_array *w, int64_t rows) {
  const int64_t shape[] = {rows, LARGE};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value weights = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_constant(graph, w, &weights));
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_matmul, x, weights)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

static void check_large(nd4c_plan *plan, const nd4c_array *w, int64_t rows) {
  const int64_t shape[] = {rows, LARGE};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 5, -1, 1), *expected = NULL, *y = NULL;
  const nd4c_array *given[] = {x};
  CHECK_OK(nd4c_plan_run(plan, given, 1, &y, 1));
  CHECK_OK(nd4c_matmul(x, w, &expected));
  assert_true(check_difference(expected, y) <= 1e-5);
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_array_release(expected);
}

/* Forms packed by making, running and destroying a plan; -1: oneDNN wants none here. */
static int64_t packed_by_a_plan(nd4c_array *w, int64_t rows) {
  int64_t packed = nd4c_forms_packed();
  nd4c_plan *plan = make_large(w, rows);
  bool wants = plan->steps[0].choice->form_count == 1;
  check_large(plan, w, rows);
  nd4c_plan_destroy(plan);
  return wants ? nd4c_forms_packed() - packed : -1;
}

static void what_is_kept_is_used_until_it_is_written(void **state) {
  (void)state;
  const int64_t shape[] = {LARGE, LARGE};
  nd4c_array *w = check_array(ND4C_FLOAT32, 2, shape, 3, -1, 1);
  if (packed_by_a_plan(w, 64) < 0) {
    nd4c_array_release(w);
    skip();
  }
  assert_int_equal(packed_by_a_plan(w, 64), 0);
  void *data = NULL;
  CHECK_OK(nd4c_array_data_mutable(w, &data));
  ((float *)data)[LARGE * LARGE - 1] += 1.0F; /* nd4c does not notice this write */
  assert_int_equal(packed_by_a_plan(w, 64), 1);
  assert_int_equal(packed_by_a_plan(w, 64), 0);
  CHECK_OK(nd4c_memory_trim(host, 0));
  assert_int_equal(packed_by_a_plan(w, 64), 1);
  nd4c_array_release(w);
}

/* One row, few rows and many rows are left to kernels of two engines, which read one packed copy. */
static void products_of_all_rows_share(void **state) {
  const int64_t shape[] = {LARGE, LARGE}, rows[] = {128, 1, 8, 300, 64, 1, 2};
  (void)state;
  for (int first = 0; first < 4; first++) { /* whichever packs */
    nd4c_array *w = check_array(ND4C_FLOAT32, 2, shape, 20 + (uint64_t)first, -1, 1);
    const int64_t packed = nd4c_forms_packed();
    for (int i = 0; i < 4; i++) {
      const int64_t count = rows[first + i];
      nd4c_plan *plan = make_large(w, count);
      check_large(plan, w, count);
      nd4c_plan_destroy(plan);
    }
    assert_true(nd4c_forms_packed() - packed <= 1);
    nd4c_array_release(w);
  }
}

/* x w^T, where w is square: its packed form is not that of x w, though both are made of one array. */
static void square_weights_have_a_form_for_each_order(void **state) {
  const int64_t shape[] = {LARGE, LARGE}, rows[] = {8, 100, 300};
  const nd4c_attr turned = {"transpose_w", {.kind = ND4C_ATTR_BOOL, .as.i = true}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const int64_t input[] = {rows[i], LARGE};
    nd4c_array *w = check_array(ND4C_FLOAT32, 2, shape, 30, -1, 1), *columns = NULL;
    nd4c_graph *graph = NULL;
    nd4c_plan *plan = NULL, *plain = make_large(w, rows[i]);
    nd4c_value weights = ND4C_VALUE_NONE;
    CHECK_OK(nd4c_graph_create(&graph));
    const nd4c_value x = check_input(graph, "x", 2, input);
    CHECK_OK(nd4c_graph_constant(graph, w, &weights));
    const nd4c_value operands[] = {x, weights};
    CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_linear, operands, 2, &turned, 1)));
    CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
    nd4c_graph_destroy(graph);
    CHECK_OK(nd4c_matrix_transpose(w, &columns));
    check_large(plain, w, rows[i]);
    check_large(plan, columns, rows[i]);
    nd4c_plan_destroy(plan);
    nd4c_plan_destroy(plain);
    check_release((nd4c_array *[]){w, columns}, 2);
  }
}

/* y of a conv, or of a conv_transpose, with weights [LARGE, LARGE, 3, 3] that are a constant or an input. */
static nd4c_array *convolve(nd4c_op op, nd4c_array *w, bool constant, nd4c_plan **plan) {
  const int64_t shape[] = {1, LARGE, 6, 6};
  nd4c_graph *graph = NULL;
  nd4c_value weights = ND4C_VALUE_NONE;
  nd4c_array *x = check_array(ND4C_FLOAT32, 4, shape, 5, -1, 1), *y = NULL;
  const nd4c_array *given[] = {x, w};
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value input = check_input(graph, "x", 4, shape);
  CHECK_OK(constant ? nd4c_graph_constant(graph, w, &weights) : ND4C_OK);
  weights = constant ? weights : check_input(graph, "w", 4, (int64_t[]){LARGE, LARGE, 3, 3});
  const nd4c_value operands[] = {input, weights};
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, op, operands, 2, NULL, 0)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, plan));
  CHECK_OK(nd4c_plan_run(*plan, given, constant ? 1 : 2, &y, 1));
  nd4c_graph_destroy(graph);
  nd4c_array_release(x);
  return y;
}

static void weights_of_both_convolutions_are_apart(void **state) {
  const nd4c_op ops[] = {ND4C_OP_conv, ND4C_OP_conv_transpose};
  nd4c_array *w = check_array(ND4C_FLOAT32, 4, (int64_t[]){LARGE, LARGE, 3, 3}, 31, -1, 1);
  nd4c_plan *plans[4];
  (void)state;
  for (int i = 0; i < 2; i++) {
    nd4c_array *y = convolve(ops[i], w, true, &plans[2 * i]), *expected = convolve(ops[i], w, false, &plans[2 * i + 1]);
    assert_true(check_difference(expected, y) <= 1e-4);
    check_release((nd4c_array *[]){y, expected}, 2);
  }
  for (int i = 0; i < 4; i++) {
    nd4c_plan_destroy(plans[i]);
  }
  nd4c_array_release(w);
}

static void forms_end_with_their_storage(void **state) {
  (void)state;
  const int64_t shape[] = {LARGE, LARGE};
  CHECK_OK(nd4c_memory_trim(host, 0));
  int64_t before = array_bytes(host);
  nd4c_array *w = check_array(ND4C_FLOAT32, 2, shape, 3, -1, 1);
  int64_t alone = live_bytes(host);
  if (packed_by_a_plan(w, 64) < 0) {
    nd4c_array_release(w);
    skip();
  }
  assert_true(live_bytes(host) >= alone + LARGE * LARGE * 4);
  nd4c_array_release(w);
  assert_int_equal(array_bytes(host), before);
}

/* Arrays with equal elements have one packed form in memory, whichever is released or written first. */
static void equal_constants_share_memory(void **state) {
  (void)state;
  const int64_t shape[] = {LARGE, LARGE};
  nd4c_array *w[3], *changed = check_array(ND4C_FLOAT32, 2, shape, 4, -1, 1);
  nd4c_plan *plans[3];
  float values[LARGE * LARGE];
  for (int i = 0; i < 3; i++) {
    w[i] = check_array(ND4C_FLOAT32, 2, shape, 3, -1, 1);
  }
  plans[0] = make_large(w[0], 64);
  if (plans[0]->steps[0].choice->form_count == 0) {
    nd4c_plan_destroy(plans[0]);
    check_release(w, 3);
    nd4c_array_release(changed);
    skip();
  }
  const int64_t before = live_bytes(host), packed = nd4c_forms_packed(), shared = nd4c_packed_shared();
  plans[1] = make_large(w[1], 64);
  plans[2] = make_large(w[2], 65);
  assert_int_equal(nd4c_forms_packed() - packed, 2);
  assert_int_equal(nd4c_packed_shared() - shared, 2);
  assert_true(live_bytes(host) - before < LARGE * LARGE * 4); /* two small arenas */
  CHECK_OK(nd4c_array_read(changed, values, sizeof values));
  CHECK_OK(nd4c_array_write(w[1], values, sizeof values));
  nd4c_plan *renewed = make_large(w[1], 64);
  assert_int_equal(nd4c_packed_shared() - shared, 2); /* these elements are others */
  check_large(renewed, changed, 64);
  nd4c_plan_destroy(plans[0]);
  nd4c_array_release(w[0]);
  check_large(plans[2], w[2], 65);
  nd4c_plan_destroy(plans[1]);
  nd4c_plan_destroy(plans[2]);
  nd4c_plan_destroy(renewed);
  check_release(w + 1, 2);
  nd4c_array_release(changed);
}

/* Forms that no plan uses are freed for an allocation that the cap would refuse; forms in use are not. */
static void forms_give_way(void **state) {
  (void)state;
  enum { MORE = 1 << 20 };
  const int64_t shape[] = {LARGE, LARGE}, more[] = {MORE};
  CHECK_OK(nd4c_memory_trim(host, 0));
  nd4c_array *w = check_array(ND4C_FLOAT32, 2, shape, 3, -1, 1), *large = NULL;
  if (packed_by_a_plan(w, 64) < 0) {
    nd4c_array_release(w);
    skip();
  }
  CHECK_OK(nd4c_memory_set_cap(host, live_bytes(host) + MORE - LARGE * LARGE * 2));
  CHECK_OK(nd4c_array_empty(ND4C_UINT8, 1, more, host, &large));
  nd4c_array_release(large);
  CHECK_OK(nd4c_memory_set_cap(host, 0));
  assert_int_equal(packed_by_a_plan(w, 64), 1);
  nd4c_plan *plan = make_large(w, 64);
  CHECK_OK(nd4c_memory_set_cap(host, live_bytes(host)));
  assert_int_equal(nd4c_array_empty(ND4C_UINT8, 1, more, host, &large), ND4C_MEMORY_CAP);
  CHECK_OK(nd4c_memory_set_cap(host, 0));
  check_large(plan, w, 64);
  nd4c_plan_destroy(plan);
  nd4c_array_release(w);
}

/* -- threads ------------------------------------------------------------------------------------------------------ */

static void *make_and_run(void *argument) {
  nd4c_array *w = argument;
  for (int64_t i = 0; i < 6; i++) {
    nd4c_plan *plan = make_large(w, 64 + i % 2);
    check_large(plan, w, 64 + i % 2);
    nd4c_plan_destroy(plan);
    CHECK_OK(nd4c_memory_trim(host, 0));
  }
  return NULL;
}

static void threads_make_and_drop_them(void **state) {
  (void)state;
  enum { THREADS = 3 };
  const int64_t shape[] = {LARGE, LARGE};
  nd4c_array *w = check_array(ND4C_FLOAT32, 2, shape, 3, -1, 1);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, make_and_run, w), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  nd4c_array_release(w);
}

int main(void) {
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu:0", &host) != ND4C_OK) {
    return 1;
  }
  if (getenv("STUB_LIE") != NULL) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_odd_layout_is_told, stub_test_begin, stub_test_end)};
    return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(plans_share_what_is_packed, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(views_have_forms_of_their_own, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(a_plan_of_two_devices_reads_the_same, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(without_memory_it_is_read_as_it_is, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(another_failure_passes_the_kernel_over, stub_test_begin, stub_test_end),
      cmocka_unit_test(batches_of_a_convolution_share),
      cmocka_unit_test(a_new_plan_sees_what_was_written),
      cmocka_unit_test_setup_teardown(a_new_plan_packs_what_was_written, stub_test_begin, stub_test_end),
      cmocka_unit_test(what_is_kept_is_used_until_it_is_written),
      cmocka_unit_test(products_of_all_rows_share),
      cmocka_unit_test(square_weights_have_a_form_for_each_order),
      cmocka_unit_test(weights_of_both_convolutions_are_apart),
      cmocka_unit_test(forms_end_with_their_storage),
      cmocka_unit_test(equal_constants_share_memory),
      cmocka_unit_test(forms_give_way),
      cmocka_unit_test(threads_make_and_drop_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
