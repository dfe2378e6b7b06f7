/* A device whose kernels take only whole buffers in C order: the stub counts every other operand as a violation, so
 * right results without violations show that views were copied and that values of plans have separate buffers. */
#define _POSIX_C_SOURCE 200809L
#include "graph/modes/mode.h"
#include "graph/plan/plan_memory.h"
#include "graph_check.h"
#include "stub_plugin.h"

enum { ROWS = 6, COLUMNS = 8, SIZE = ROWS * COLUMNS };

static const int64_t shape[] = {ROWS, COLUMNS};

/* Element i is i, on the stub. */
static nd4c_array *make_numbers(void) {
  float values[SIZE];
  nd4c_array *array = NULL;
  for (int32_t i = 0; i < SIZE; i++) {
    values[i] = (float)i;
  }
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 2, shape, values, stub_device, &array));
  return array;
}

/* Views of 3 x 4 elements of `whole`, with its rows 1 to 3 or its columns; element (r, c) is number_of(v, r, c). */
typedef struct view_case {
  const char *name;
  int64_t strides[2], offset;
} view_case;

static const view_case views[] = {
    {"behind an offset, contiguous", {4, 1}, 5},
    {"some columns", {COLUMNS, 1}, 2},
    {"transposed", {1, COLUMNS}, 9},
    {"reversed", {-COLUMNS, -1}, SIZE - 1},
    {"every second element", {COLUMNS, 2}, 0},
    {"one row again and again", {0, 1}, 16},
};
enum { VIEWS = sizeof views / sizeof views[0], VIEW_ROWS = 3, VIEW_COLUMNS = 4, VIEW_SIZE = 12 };

static const int64_t view_shape[] = {VIEW_ROWS, VIEW_COLUMNS};

static nd4c_array *make_view(const nd4c_array *whole, const view_case *v) {
  nd4c_array *view = NULL;
  CHECK_OK(nd4c_array_as_strided(whole, 2, view_shape, v->strides, v->offset, &view));
  return view;
}

static int64_t number_of(const view_case *v, int64_t index) {
  return v->offset + index / VIEW_COLUMNS * v->strides[0] + index % VIEW_COLUMNS * v->strides[1];
}

static void views_are_read(void **state) {
  (void)state;
  for (int32_t i = 0; i < VIEWS; i++) {
    nd4c_array *whole = make_numbers(), *view = make_view(whole, &views[i]), *result = NULL;
    float values[VIEW_SIZE];
    for (int32_t round = 0; round < 3; round++) { /* calls after the first one may come from the cache */
      CHECK_OK(nd4c_add_on(stub_context, view, view, &result));
      CHECK_OK(nd4c_array_read(result, values, sizeof values));
      for (int32_t k = 0; k < VIEW_SIZE; k++) {
        if (values[k] != 2 * (float)number_of(&views[i], k)) {
          fail_msg("%s: element %d is %g, expected %g", views[i].name, k, (double)values[k],
                   2.0 * (double)number_of(&views[i], k));
        }
      }
      nd4c_array_release(result);
      result = NULL;
    }
    nd4c_array_release(view);
    nd4c_array_release(whole);
  }
}

/* Two calls that differ only in the offset. */
static void offsets_are_told_apart(void **state) {
  (void)state;
  nd4c_array *whole = make_numbers();
  for (int64_t row = 0; row < ROWS; row++) {
    const int64_t starts[] = {row, 0}, stops[] = {row + 1, COLUMNS}, steps[] = {1, 1};
    nd4c_array *view = NULL, *result = NULL;
    float values[COLUMNS];
    CHECK_OK(nd4c_array_slice(whole, starts, stops, steps, &view));
    CHECK_OK(nd4c_negative_on(stub_context, view, &result));
    CHECK_OK(nd4c_array_read(result, values, sizeof values));
    for (int32_t k = 0; k < COLUMNS; k++) {
      assert_true(values[k] == -(float)(row * COLUMNS + k));
    }
    nd4c_array_release(view);
    nd4c_array_release(result);
  }
  nd4c_array_release(whole);
}

static void views_are_written(void **state) {
  (void)state;
  for (int32_t i = 0; i < VIEWS - 1; i++) { /* the last one shares elements: no output */
    nd4c_array *whole = make_numbers(), *view = make_view(whole, &views[i]);
    float values[SIZE], expected[SIZE];
    for (int32_t k = 0; k < SIZE; k++) {
      expected[k] = (float)k;
    }
    for (int32_t k = 0; k < VIEW_SIZE; k++) {
      expected[number_of(&views[i], k)] *= 2;
    }
    CHECK_OK(nd4c_add_on(stub_context, view, view, &view)); /* in place, too */
    CHECK_OK(nd4c_array_read(whole, values, sizeof values));
    for (int32_t k = 0; k < SIZE; k++) {
      if (values[k] != expected[k]) {
        fail_msg("%s: element %d is %g, expected %g", views[i].name, k, (double)values[k], (double)expected[k]);
      }
    }
    nd4c_array_release(view);
    nd4c_array_release(whole);
  }
}

/* A refused call changes nothing, and a failed call leaves the given array unchanged. */
static void failures_leave_the_given_array(void **state) {
  (void)state;
  nd4c_array *whole = make_numbers(), *view = make_view(whole, &views[1]), *wrong = make_view(whole, &views[1]);
  float values[SIZE];
  const int64_t one[] = {1};
  nd4c_array *small = check_array(ND4C_FLOAT32, 1, one, 1, -1, 1);
  assert_int_equal(nd4c_add_on(stub_context, whole, small, &wrong), ND4C_SHAPE);
  CHECK_OK(nd4c_device_synchronize(stub_device)); /* an addition on it is under way */
  (void)stub_control("fail in_flight:1");
  assert_int_not_equal(nd4c_add_on(stub_context, view, small, &view), ND4C_OK);
  assert_non_null(strstr(nd4c_error_message(), "told to fail"));
  CHECK_OK(nd4c_array_read(whole, values, sizeof values));
  for (int32_t k = 0; k < SIZE; k++) {
    assert_true(values[k] == (float)k);
  }
  nd4c_array_release(small);
  nd4c_array_release(wrong);
  nd4c_array_release(view);
  nd4c_array_release(whole);
}

/* A context that forbids copies refuses a view on another device, and takes one on its own. */
static void forbidden_copies_stay_forbidden(void **state) {
  (void)state;
  const nd4c_context_options options = {
      .struct_size = sizeof options, .device = stub_device, .transfer = ND4C_TRANSFER_NONE};
  nd4c_context *context = NULL;
  nd4c_array *here = make_numbers(), *there = check_array(ND4C_FLOAT32, 2, shape, 3, -1, 1), *result = NULL;
  CHECK_OK(nd4c_context_create(&options, &context));
  nd4c_array *good = make_view(here, &views[2]), *bad = make_view(there, &views[2]);
  CHECK_OK(nd4c_add_on(context, good, good, &result));
  nd4c_array_release(result);
  result = NULL;
  assert_int_not_equal(nd4c_add_on(context, bad, bad, &result), ND4C_OK);
  nd4c_array_release(good);
  nd4c_array_release(bad);
  nd4c_array_release(here);
  nd4c_array_release(there);
  CHECK_OK(nd4c_context_destroy(context));
}

/* y = sin(tanh(... sin(x) + w)), of a constant w that may be a view. */
static nd4c_graph *make_graph(nd4c_array *w) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape), constant = 0, y = 0;
  CHECK_OK(nd4c_graph_constant(graph, w, &constant));
  y = check_binary(graph, ND4C_OP_add, check_unary(graph, ND4C_OP_sin, x), constant);
  for (int32_t i = 0; i < 6; i++) {
    y = check_unary(graph, i % 2 == 0 ? ND4C_OP_tanh : ND4C_OP_sin, y);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  return graph;
}

static void plans_use_whole_buffers(void **state) {
  (void)state;
  nd4c_array *large = check_array(ND4C_FLOAT32, 2, (int64_t[]){COLUMNS, ROWS + 1}, 5, -1, 1), *w = NULL;
  CHECK_OK(nd4c_array_as_strided(large, 2, shape, (int64_t[]){1, ROWS + 1}, 1, &w)); /* transposed, behind an offset */
  nd4c_graph *graph = make_graph(w);
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, stub_context, NULL, &plan));
  assert_true(plan->whole);
  assert_string_equal(plan->mode->name, "capture");
  assert_true(plan->places[0].buffer_count <= 2); /* values die one after another */
  assert_int_equal(plan->arena_bytes, plan->places[0].buffer_count * SIZE * (int64_t)sizeof(float));
  nd4c_array *wide = check_array(ND4C_FLOAT32, 2, (int64_t[]){ROWS + 1, 2 * COLUMNS}, 8, -1, 1), *result = NULL;
  for (int32_t i = 0; i < VIEWS; i++) { /* inputs and outputs that are views */
    const int64_t rows = views[i].strides[0] == 0 ? 0 : 2 * COLUMNS;
    nd4c_array *x = NULL, *expected = NULL;
    CHECK_OK(nd4c_array_as_strided(wide, 2, shape, (int64_t[]){rows, i % 2 == 0 ? 1 : 2}, i, &x));
    check_evaluate(graph, &x, &expected);
    for (int32_t run = 0; run < 3; run++) {
      CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &result, 1));
      assert_true(check_difference(expected, result) <= 1e-5);
    }
    nd4c_array *out = check_array(ND4C_FLOAT32, 2, (int64_t[]){ROWS, COLUMNS + 3}, 1, -1, 1), *part = NULL;
    CHECK_OK(nd4c_array_as_strided(out, 2, shape, (int64_t[]){COLUMNS + 3, 1}, 3, &part));
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &part, 1));
    assert_true(check_difference(expected, part) <= 1e-5);
    nd4c_array_release(part);
    nd4c_array_release(out);
    nd4c_array_release(x);
    nd4c_array_release(expected);
  }
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(plan, &text));
  assert_non_null(strstr(text, "whole buffers: the device takes no parts of one"));
  nd4c_free(text);
  nd4c_array_release(result);
  nd4c_array_release(wide);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  nd4c_array_release(w);
  nd4c_array_release(large);
}

/* Each allocation of a plan fails once: it is refused. */
static void plans_may_lack_memory(void **state) {
  (void)state;
  nd4c_array *w = check_array(ND4C_FLOAT32, 2, shape, 4, -1, 1);
  nd4c_graph *graph = make_graph(w);
  int32_t failures = 0;
  for (int64_t skip = 0, reached = 1; reached != 0; skip++) {
    nd4c_plan *plan = NULL;
    const int64_t asked = nd4c_allocation_count();
    nd4c_allocation_fail_at(skip);
    const nd4c_status status = nd4c_plan_create(graph, stub_context, NULL, &plan);
    nd4c_allocation_fail_at(-1);
    reached = nd4c_allocation_count() - asked > skip;
    assert_true(status == ND4C_OK ? plan != NULL && plan->whole : status == ND4C_MEMORY && plan == NULL);
    failures += status != ND4C_OK;
    nd4c_plan_destroy(plan);
  }
  assert_true(failures > 20);
  nd4c_graph_destroy(graph);
  nd4c_array_release(w);
}

/* The same in mode arrays, half of it on the host. */
static void placed_plans_use_whole_buffers(void **state) {
  (void)state;
  nd4c_device *cpu = NULL;
  CHECK_OK(nd4c_device_find("cpu:0", &cpu));
  nd4c_device *devices[] = {stub_device, stub_device, cpu};
  nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices, .device_count = 3};
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .placement = &placement};
  nd4c_array *w = check_array(ND4C_FLOAT32, 2, shape, 4, -1, 1), *x = check_array(ND4C_FLOAT32, 2, shape, 6, -1, 1);
  nd4c_array *expected = NULL, *result = NULL;
  nd4c_graph *graph = make_graph(w);
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, stub_context, &options, &plan));
  assert_int_equal(plan->place_count, 2);
  assert_string_equal(plan->mode->name, "arrays");
  check_evaluate(graph, &x, &expected);
  for (int32_t run = 0; run < 3; run++) {
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &result, 1));
    assert_true(check_difference(expected, result) <= 1e-5);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  nd4c_array_release(x);
  nd4c_array_release(w);
  nd4c_array_release(expected);
  nd4c_array_release(result);
}

/* The host has no kernels of transpose and slice, because it makes views. If they are placed on it, it copies the
 * views, because the stub takes their results as whole buffers. */
static void views_on_the_host_are_copied(void **state) {
  (void)state;
  nd4c_device *devices[] = {stub_device, NULL};
  CHECK_OK(nd4c_device_find("cpu:0", &devices[1]));
  nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices, .device_count = 2};
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .placement = &placement};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const int64_t starts[] = {1, 2}, stops[] = {5, 6};
  const nd4c_attr bounds[] = {check_ints("starts", starts, 2), check_ints("stops", stops, 2)};
  nd4c_value y = check_unary(graph, ND4C_OP_abs, check_input(graph, "x", 2, shape));
  y = check_unary(graph, ND4C_OP_exp, check_unary(graph, ND4C_OP_transpose, y));
  y = check_unary(graph, ND4C_OP_negative, check_op(graph, ND4C_OP_slice, &y, 1, bounds, 2));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 6, -1, 1), *expected = NULL, *result = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, stub_context, &options, &plan));
  check_evaluate(graph, &x, &expected);
  for (int32_t run = 0; run < 3; run++) {
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &result, 1));
    assert_true(check_difference(expected, result) <= 1e-5);
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    assert_null(plan->steps[i].declined);
    assert_int_equal(plan->steps[i].place, i % 2);
  }
  assert_int_equal(plan->step_count, 5);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  nd4c_array_release(x);
  nd4c_array_release(expected);
  nd4c_array_release(result);
}

/* The stub has no kernel for flip, and the host makes a view: the host copies the view. */
static void views_without_kernels_are_copied_by_the_host(void **state) {
  (void)state;
  nd4c_device *host = NULL;
  nd4c_context *context = NULL;
  CHECK_OK(nd4c_device_find("cpu:0", &host));
  const nd4c_context_options on_host = {.struct_size = sizeof on_host, .device = host};
  CHECK_OK(nd4c_context_create(&on_host, &context));
  nd4c_placement placement = {.struct_size = sizeof placement, .devices = &stub_device, .device_count = 1};
  nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .placement = &placement};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const int64_t axes[] = {1};
  const nd4c_attr flipped = check_ints("axes", axes, 1);
  nd4c_value y = check_unary(graph, ND4C_OP_abs, check_input(graph, "x", 2, shape));
  y = check_unary(graph, ND4C_OP_negative, check_op(graph, ND4C_OP_flip, &y, 1, &flipped, 1));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 6, -1, 1), *expected = NULL, *result = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, context, &options, &plan));
  check_evaluate(graph, &x, &expected);
  for (int32_t run = 0; run < 3; run++) {
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &result, 1));
    assert_true(check_difference(expected, result) == 0);
  }
  assert_int_equal(plan->step_count, 3);
  assert_ptr_equal(plan->places[plan->steps[0].place].device, stub_device);
  assert_ptr_equal(plan->places[plan->steps[1].place].device, host);
  assert_non_null(plan->steps[1].declined);
  assert_ptr_equal(plan->places[plan->steps[2].place].device, stub_device);
  nd4c_plan_destroy(plan);
  CHECK_OK(nd4c_context_destroy(context));
  nd4c_graph_destroy(graph);
  nd4c_array_release(x);
  nd4c_array_release(expected);
  nd4c_array_release(result);
}

static void blocks_share_buffers(void **state) {
  (void)state;
  nd4c_plan_block blocks[] = {{.bytes = 8, .first = 0, .last = 1}, {.bytes = 8, .first = 1, .last = 2},
                              {.bytes = 0, .first = 1, .last = 1}, {.bytes = 8, .first = 2, .last = 3},
                              {.bytes = 9, .first = 3, .last = 3}, {.bytes = 8, .first = 3, .last = 4}};
  const int32_t buffers[] = {0, 1, -1, 0, 2, 1};
  int64_t bytes[6];
  int32_t last[6];
  assert_int_equal(nd4c_plan_share_buffers(blocks, 6, bytes, last), 3);
  for (int32_t i = 0; i < 6; i++) {
    assert_int_equal(blocks[i].buffer, buffers[i]);
  }
  assert_int_equal(bytes[2], 9);
}

int main(void) {
  if (setenv("STUB_MEMORY", "whole", 1) != 0 || setenv("STUB_CAPTURE", "all", 1) != 0 || stub_start() != ND4C_OK) {
    return 1;
  }
#define TEST(function) cmocka_unit_test_setup_teardown(function, stub_test_begin, stub_test_end)
  const struct CMUnitTest tests[] = {
      TEST(views_are_read),
      TEST(offsets_are_told_apart),
      TEST(views_are_written),
      TEST(failures_leave_the_given_array),
      TEST(forbidden_copies_stay_forbidden),
      TEST(plans_use_whole_buffers),
      TEST(plans_may_lack_memory),
      TEST(placed_plans_use_whole_buffers),
      TEST(views_on_the_host_are_copied),
      TEST(views_without_kernels_are_copied_by_the_host),
      TEST(blocks_share_buffers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
