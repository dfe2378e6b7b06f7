/* Values that grow by rows: a plan appends them where the earlier rows lie, if the caller gives such memory (run.c,
 * plan/overlays.c), and rounds of a loop give it to their body (graph/rounds_growing.c). */
#include "control_check.h"
#include "graph/callers.h"
#include "graph/dynamic.h"
#include "graph/ir/growing.h"
#include "graph/rounds.h"

enum { COLUMNS = 3, ROOM = 8, MOST = 300, UNTOUCHED = 77 };

static const int64_t room_shape[] = {ROOM, COLUMNS}, columns[] = {0}, all_axes[] = {0, 1, 2};

static nd4c_value concat(nd4c_graph *graph, nd4c_value a, nd4c_value b, int64_t axis) {
  const nd4c_attr attr = check_int("axis", axis);
  return check_op(graph, ND4C_OP_concat, (nd4c_value[]){a, b}, 2, &attr, 1);
}

static nd4c_value sum(nd4c_graph *graph, nd4c_value x, int32_t rank) {
  const nd4c_attr attr = check_ints("axes", all_axes, rank);
  return check_op(graph, ND4C_OP_sum, &x, 1, &attr, 1);
}

static const float *data_of(const nd4c_array *array) {
  const void *data = NULL;
  CHECK_OK(nd4c_array_data(array, &data));
  return data;
}

/* -- one run ------------------------------------------------------------------------------------------------------- */

/* past [3, 3], row [1, 3] -> present; the column sums of past, which read it before and after. */
typedef struct step_case {
  int32_t axis;
  bool reversed; /* the row comes first */
  int64_t from;  /* the row of the room that the present begins with */
  bool in_place; /* as the request says */
  bool inside;   /* the row is where it goes to */
  bool extends;
} step_case;

static const step_case steps[] = {
    {.in_place = true, .extends = true},  {.in_place = false},           {.in_place = true, .from = 1},
    {.in_place = true, .reversed = true}, {.in_place = true, .axis = 1}, {.in_place = true, .inside = true},
};

static nd4c_graph *record_step(const step_case *given) {
  nd4c_graph *graph = control_graph();
  const int64_t past_shape[] = {3, COLUMNS};
  const int64_t row_shape[] = {given->axis == 0 ? 1 : 3, given->axis == 0 ? COLUMNS : 1};
  const nd4c_attr axes = check_ints("axes", columns, 1);
  const nd4c_value past = control_input(graph, ND4C_FLOAT32, 2, past_shape);
  const nd4c_value row = control_input(graph, ND4C_FLOAT32, 2, row_shape);
  control_output(graph,
                 given->reversed ? concat(graph, row, past, given->axis) : concat(graph, past, row, given->axis));
  control_output(graph, check_op(graph, ND4C_OP_sum, &past, 1, &axes, 1));
  return graph;
}

static nd4c_array *view_of(const nd4c_array *whole, int64_t first, int64_t rows, int64_t count) {
  nd4c_array *view = NULL;
  CHECK_OK(nd4c_array_view(whole, 2, (int64_t[]){rows, count}, (int64_t[]){count, 1}, first * COLUMNS, &view));
  return view;
}

static void check_step(const step_case *given) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  const float row[] = {100, 200, 300};
  nd4c_graph *graph = record_step(given);
  nd4c_plan *plan = NULL;
  nd4c_array *room = NULL, *outside = NULL, *expected[2] = {NULL};
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, room_shape, UNTOUCHED, NULL, &room));
  CHECK_OK(
      nd4c_array_from_data(ND4C_FLOAT32, 2, graph->values[graph->inputs.items[1].value].shape, row, NULL, &outside));
  nd4c_array *past = view_of(room, 0, 3, COLUMNS), *place = view_of(room, 3, 1, COLUMNS);
  const int64_t tall = given->axis == 0 ? 4 : 3;
  nd4c_array *present = view_of(room, given->from, tall, 12 / tall);
  CHECK_OK(nd4c_array_write(past, (const float[]){1, 2, 3, 4, 5, 6, 7, 8, 9}, 9 * sizeof(float)));
  CHECK_OK(given->inside ? nd4c_array_write(place, row, sizeof row) : ND4C_OK);
  nd4c_array *inputs[] = {past, given->inside ? place : outside}, *outputs[] = {present, NULL};
  nd4c_array *copies[] = {control_copy(inputs[0]), control_copy(inputs[1])};
  control_evaluate(graph, copies, expected);
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  const nd4c_run_request request = {.inputs = (const nd4c_array *const *)inputs,
                                    .outputs = outputs,
                                    .input_count = 2,
                                    .output_count = 2,
                                    .in_place = given->in_place};
  CHECK_OK(nd4c_plan_run_request(plan, NULL, &request));
  assert_int_equal(plan->output_staging[0] == NULL, given->extends);
  assert_true(check_difference(expected[0], present) == 0);
  assert_true(check_difference(expected[1], outputs[1]) == 0);
  for (int64_t i = (given->from + 4) * COLUMNS; i < (int64_t)ROOM * COLUMNS; i++) {
    assert_true(data_of(room)[i] == UNTOUCHED);
  }
  check_release((nd4c_array *[]){room, outside, past, place, present, outputs[1]}, 6);
  check_release(copies, 2);
  check_release(expected, 2);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void a_run_appends_where_it_may(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    check_step(&steps[i]);
  }
}

/* -- rounds -------------------------------------------------------------------------------------------------------- */

/* Carried: a [n, 3] gets c below, b [1, m, 3] gets 2 c below, r [k, 3] gets c above, and d is the next a. Captured: c
 * [2, 3]. Collected: the sums of a before and after, and of the next b. */
enum { CARRIED = 4, COLLECTED = 3, GIVEN = CARRIED + 1, RESULTS = CARRIED + COLLECTED, ROWS = 2 };

static const nd4c_rounds loop = {
    .carried = CARRIED, .captured = 1, .collected = COLLECTED, .most = INT64_MAX, .limit = INT64_MAX};

static nd4c_plan *make_plan(void) {
  nd4c_graph *body = control_graph();
  nd4c_plan *plan = NULL;
  int64_t n = 0, m = 0, k = 0, l = 0;
  const nd4c_attr shape = check_ints("shape", (int64_t[]){1, ROWS, COLUMNS}, 3);
  CHECK_OK(nd4c_graph_dim(body, "n", 0, -1, &n));
  CHECK_OK(nd4c_graph_dim(body, "m", 0, -1, &m));
  CHECK_OK(nd4c_graph_dim(body, "k", 0, -1, &k));
  CHECK_OK(nd4c_graph_dim(body, "l", 0, -1, &l));
  (void)control_input(body, ND4C_INT64, 0, NULL);
  const nd4c_value a = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){n, COLUMNS});
  const nd4c_value b = control_input(body, ND4C_FLOAT32, 3, (int64_t[]){1, m, COLUMNS});
  const nd4c_value r = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){k, COLUMNS});
  (void)control_input(body, ND4C_FLOAT32, 2, (int64_t[]){l, COLUMNS});
  const nd4c_value c = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){ROWS, COLUMNS});
  const nd4c_value twice = check_binary(body, ND4C_OP_add, c, c);
  const nd4c_value next_a = concat(body, a, c, 0);
  const nd4c_value next_b = concat(body, b, check_op(body, ND4C_OP_reshape, &twice, 1, &shape, 1), 1);
  control_output(body, next_a);
  control_output(body, next_b);
  control_output(body, concat(body, c, r, 0));
  control_output(body, next_a);
  control_output(body, sum(body, a, 2));
  control_output(body, sum(body, next_a, 2));
  control_output(body, sum(body, next_b, 3));
  CHECK_OK(nd4c_plan_create(body, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_move(plan, NULL));
  nd4c_graph_destroy(body);
  return plan;
}

/* All values that are carried have `first` rows of ones. */
static nd4c_status run_rounds(nd4c_plan *plan, int64_t first, int64_t rounds, int64_t fail_at, nd4c_array **results) {
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[] = {first, COLUMNS}, deep[] = {1, first, COLUMNS}, rows[] = {ROWS, COLUMNS};
  nd4c_array *given[GIVEN] = {NULL};
  nd4c_context *context = NULL;
  nd4c_rounds few = loop;
  few.most = rounds;
  for (int i = 0; i < CARRIED; i++) {
    CHECK_OK(nd4c_array_full(ND4C_FLOAT32, i == 1 ? 3 : 2, i == 1 ? deep : shape, 1, NULL, &given[i]));
  }
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 2, rows, numbers, NULL, &given[CARRIED]));
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  nd4c_allocation_fail_at(fail_at);
  const nd4c_status status = nd4c_rounds_run(plan, context, &few, (const nd4c_array *const *)given, results);
  nd4c_allocation_fail_at(-1);
  for (int i = 0; i < CARRIED; i++) { /* what was given is as it was */
    for (int64_t k = 0; k < first * COLUMNS; k++) {
      assert_true(data_of(given[i])[k] == 1);
    }
  }
  check_release(given, GIVEN);
  return status;
}

/* The result has memory of its own, without more room than it needs. */
static void check_rows(const nd4c_array *array, int64_t ones, int64_t rounds, float factor, bool above) {
  const float *data = data_of(array);
  const int32_t rank = nd4c_array_rank(array);
  assert_int_equal(nd4c_array_shape(array)[rank - 2], ones + ROWS * rounds);
  assert_int_equal(array->storage->bytes, array->size * (int64_t)sizeof(float));
  for (int64_t i = 0; i < array->size; i++) {
    const int64_t at = above ? i : i - ones * COLUMNS;
    const bool appended = at >= 0 && at < ROWS * COLUMNS * rounds;
    assert_true(data[i] == (appended ? factor * (float)(at % (ROWS * COLUMNS) + 1) : 1));
  }
}

static void check_results(nd4c_array **results, int64_t first, int64_t rounds) {
  check_rows(results[0], first, rounds, 1, false);
  check_rows(results[1], first, rounds, 2, false);
  check_rows(results[2], first, rounds, 1, true);
  check_rows(results[3], first, rounds, 1, false);
  assert_ptr_not_equal(results[3]->storage, results[0]->storage);
  for (int64_t i = 0; i < rounds; i++) {
    const float ones = (float)(first * COLUMNS), done = (float)(21 * i);
    assert_true(data_of(results[4])[i] == ones + done);
    assert_true(data_of(results[5])[i] == ones + done + 21);
    assert_true(data_of(results[6])[i] == ones + 2 * (done + 21));
  }
  check_release(results, RESULTS);
}

static void rounds_append(void **state) {
  (void)state;
  static const int64_t firsts[] = {4, 0, 1, 33}, rounds[] = {1, 2, 3, 4, 7, 8, 9, MOST};
  nd4c_plan *plan = make_plan();
  for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
    for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++) {
      nd4c_array *results[RESULTS] = {NULL};
      CHECK_OK(run_rounds(plan, firsts[i], rounds[k], -1, results));
      check_results(results, firsts[i], rounds[k]);
    }
  }
  nd4c_plan_destroy(plan);
}

/* a and b grow by ROWS; what is put above does not, nor does a value that another one also is. */
static void growth_is_found(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan();
  nd4c_rounds_growth growth[CARRIED] = {{0}};
  nd4c_array *results[RESULTS] = {NULL};
  nd4c_rounds_find_growth(plan, &loop, growth);
  assert_false(growth[0].grows); /* no round was run */
  CHECK_OK(run_rounds(plan, 4, 3, -1, results));
  check_results(results, 4, 3);
  nd4c_rounds_find_growth(plan, &loop, growth);
  assert_true(growth[0].grows && growth[0].axis == 0 && growth[0].rows == ROWS);
  assert_true(growth[1].grows && growth[1].axis == 1 && growth[1].rows == ROWS);
  assert_false(growth[2].grows);
  assert_false(growth[3].grows);
  nd4c_plan_destroy(plan);
}

/* Memory doubles, and ends where the last round does. */
static void memory_doubles(void **state) {
  (void)state;
  const int64_t shape[] = {5, COLUMNS};
  nd4c_rounds few = loop;
  nd4c_rounds_growth growth = {.grows = true, .rows = ROWS};
  nd4c_context *context = NULL;
  nd4c_array *past = NULL, *next = NULL;
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, shape, 1, NULL, &past));
  few.most = 11;
  static const int64_t rooms[] = {14, 14, 14, 14, 25, 25, 25, 25, 25, 25};
  for (int64_t done = 1; done < few.most; done++) {
    const nd4c_storage *before = growth.room == NULL ? NULL : growth.room->storage;
    CHECK_OK(nd4c_rounds_grow(&few, context, past, done, &growth, &next));
    assert_int_equal(nd4c_array_shape(growth.room)[0], rooms[done - 1]);
    assert_true((next->storage == past->storage) == (before == growth.room->storage));
    assert_int_equal(nd4c_array_shape(next)[0], 5 + ROWS * done);
    nd4c_array_release(past);
    past = next;
    next = NULL;
  }
  CHECK_OK(nd4c_rounds_end_growth(context, &growth, &past));
  assert_null(growth.room);
  nd4c_array_release(past);
}

static void failures_leave_the_plan(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan();
  nd4c_status status = ND4C_MEMORY;
  for (int64_t skip = 0; status != ND4C_OK; skip++) {
    nd4c_array *results[RESULTS] = {NULL};
    assert_true(skip < 5000);
    status = run_rounds(plan, 3, 9, skip, results);
    assert_true(status == ND4C_OK || status == ND4C_MEMORY);
    for (int i = 0; i < RESULTS; i++) {
      assert_int_equal(results[i] != NULL, status == ND4C_OK);
    }
    if (status != ND4C_OK) {
      CHECK_OK(run_rounds(plan, 3, 2, -1, results));
    }
    check_results(results, 3, status == ND4C_OK ? 9 : 2);
  }
  nd4c_plan_destroy(plan);
}

/* -- inner axes ---------------------------------------------------------------------------------------------------- */

enum { OUTER = 2, HEADS = 3, WIDTH = 2, INNER = OUTER * HEADS * WIDTH, NEW = 2 };

/* Carried: b [2, 3, m, 2] gets c [2, 3, 2, 2] behind each row, and d is the next b. Collected: the sum of b's part
 * [1, 2, :, 1], before and after. */
static nd4c_graph *inner_body(void) {
  nd4c_graph *body = control_graph();
  int64_t m = 0, l = 0;
  CHECK_OK(nd4c_graph_dim(body, "m", 0, -1, &m));
  CHECK_OK(nd4c_graph_dim(body, "l", 0, -1, &l));
  (void)control_input(body, ND4C_INT64, 0, NULL);
  const nd4c_value b = control_input(body, ND4C_FLOAT32, 4, (int64_t[]){OUTER, HEADS, m, WIDTH});
  (void)control_input(body, ND4C_FLOAT32, 4, (int64_t[]){OUTER, HEADS, l, WIDTH});
  const nd4c_value c = control_input(body, ND4C_FLOAT32, 4, (int64_t[]){OUTER, HEADS, NEW, WIDTH});
  const nd4c_value next = concat(body, b, c, 2);
  control_output(body, next);
  control_output(body, next);
  for (int i = 0; i < 2; i++) {
    const nd4c_value x = i == 0 ? b : next;
    const nd4c_attr cut[] = {check_ints("starts", (int64_t[]){1, 2, 1}, 3),
                             check_ints("stops", (int64_t[]){2, 3, 2}, 3), check_ints("axes", (int64_t[]){0, 1, 3}, 3)};
    const nd4c_attr axes = check_ints("axes", (int64_t[]){0, 1, 2, 3}, 4);
    const nd4c_value part = check_op(body, ND4C_OP_slice, &x, 1, cut, 3);
    control_output(body, check_op(body, ND4C_OP_sum, &part, 1, &axes, 1));
  }
  return body;
}

/* Element [o, h, t, w] after some rounds: 1 before what was appended. */
static float inner_element(int64_t first, int64_t outer, int64_t time, int64_t w) {
  return time < first ? 1 : (float)((outer * NEW + (time - first) % NEW) * WIDTH + w);
}

static void check_inner(const nd4c_array *array, int64_t first, int64_t rounds) {
  const float *data = data_of(array);
  const int64_t length = first + NEW * rounds;
  assert_true(array->contiguous && nd4c_array_shape(array)[2] == length && nd4c_array_shape(array)[1] == HEADS);
  assert_int_equal(array->storage->bytes, array->size * (int64_t)sizeof(float));
  for (int64_t i = 0; i < array->size; i++) {
    const int64_t w = i % WIDTH, time = i / WIDTH % length, outer = i / WIDTH / length;
    assert_true(data[i] == inner_element(first, outer, time, w));
  }
}

static nd4c_status run_inner(nd4c_plan *plan, const int32_t *front, int64_t first, int64_t rounds, int64_t fail_at) {
  const nd4c_rounds few = {
      .carried = 2, .captured = 1, .collected = 2, .most = rounds, .limit = INT64_MAX, .front = front};
  const int64_t shape[] = {OUTER, HEADS, first, WIDTH}, more[] = {OUTER, HEADS, NEW, WIDTH};
  float numbers[INNER * NEW];
  nd4c_array *given[3] = {NULL}, *results[4] = {NULL};
  nd4c_context *context = NULL;
  for (int i = 0; i < INNER * NEW; i++) {
    numbers[i] = (float)i;
  }
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 4, shape, 1, NULL, &given[0]));
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 4, shape, 1, NULL, &given[1]));
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 4, more, numbers, NULL, &given[2]));
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  nd4c_allocation_fail_at(fail_at);
  const nd4c_status status = nd4c_rounds_run(plan, context, &few, (const nd4c_array *const *)given, results);
  nd4c_allocation_fail_at(-1);
  check_release(given, 3);
  if (status != ND4C_OK) {
    assert_true(results[0] == NULL && results[1] == NULL && results[2] == NULL && results[3] == NULL);
    return status;
  }
  check_inner(results[0], first, rounds);
  check_inner(results[1], first, rounds);
  float sum = (float)first;
  for (int64_t i = 0; i < rounds; i++) {
    assert_true(data_of(results[2])[i] == sum);
    sum += inner_element(0, 5, 0, 1) + inner_element(0, 5, 1, 1);
    assert_true(data_of(results[3])[i] == sum);
  }
  check_release(results, 4);
  return ND4C_OK;
}

/* The axis comes first in the body, and its other readers do not see that. */
static void inner_axes_are_turned(void **state) {
  (void)state;
  static const int64_t firsts[] = {3, 0, 1}, rounds[] = {1, 2, 3, 4, 9, 40};
  nd4c_graph *body = inner_body();
  nd4c_plan *plan = NULL;
  int32_t front[2] = {-1, -1};
  for (int32_t i = 0; i < 2; i++) {
    CHECK_OK(nd4c_graph_turn_growing(body, 1 + i, i, &front[i]));
  }
  assert_true(front[0] == 2 && front[1] == 0);
  CHECK_OK(nd4c_plan_create(body, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_move(plan, NULL));
  for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
    for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++) {
      CHECK_OK(run_inner(plan, front, firsts[i], rounds[k], -1));
    }
  }
  nd4c_status status = ND4C_MEMORY;
  for (int64_t skip = 0; status != ND4C_OK; skip++) {
    assert_true(skip < 5000);
    status = run_inner(plan, front, 2, 6, skip);
    assert_true(status == ND4C_OK || status == ND4C_MEMORY);
    CHECK_OK(run_inner(plan, front, 2, 2, -1));
  }
  nd4c_rounds_growth growth[2] = {{0}};
  const nd4c_rounds last = {.carried = 2, .captured = 1, .collected = 2};
  nd4c_rounds_find_growth(plan, &last, growth);
  assert_true(growth[0].grows && growth[0].axis == 0 && growth[0].rows == NEW && !growth[1].grows);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(body);
}

/* A value that grows along its first axis, behind axes of 1 or not at all, and one of a fixed length. */
static void other_values_are_not_turned(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    nd4c_graph *graph = control_graph();
    int64_t n = 0;
    int32_t front = -1;
    CHECK_OK(nd4c_graph_dim(graph, "n", 0, -1, &n));
    const int64_t outer = kind == 1 ? 1 : 2, shape[] = {kind == 0 ? n : outer, kind == 0 ? 2 : kind == 3 ? 4 : n};
    const int64_t more[] = {kind == 0 ? 1 : outer, kind == 0 ? 2 : 1};
    const nd4c_value v = control_input(graph, ND4C_FLOAT32, 2, shape), c = control_input(graph, ND4C_FLOAT32, 2, more);
    control_output(graph, kind == 2 ? concat(graph, c, v, 1) : concat(graph, v, c, kind == 0 ? 0 : 1));
    const int32_t nodes = graph->node_count;
    CHECK_OK(nd4c_graph_turn_growing(graph, 0, 0, &front));
    assert_true(front == 0 && graph->node_count == nodes);
    nd4c_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_appends_where_it_may),
      cmocka_unit_test(rounds_append),
      cmocka_unit_test(growth_is_found),
      cmocka_unit_test(memory_doubles),
      cmocka_unit_test(failures_leave_the_plan),
      cmocka_unit_test(inner_axes_are_turned),
      cmocka_unit_test(other_values_are_not_turned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
