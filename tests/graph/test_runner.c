/* Runners of plans: arrays that are bound once, outputs in the memory of inputs, donated inputs, and what a refused or
 * a failed run leaves. */
#include <pthread.h>

#include "dynamic_cases.h"
#include "graph/runner.h"

enum { ROWS = 6, COLUMNS = 4, LATE = 99 };

static const int64_t cache_shape[] = {ROWS, COLUMNS}, one_row[] = {1, COLUMNS}, one[] = {1};

static nd4c_array *filled(int32_t rank, const int64_t *shape, double number) {
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, rank, shape, number, NULL, &array));
  return array;
}

static const float *data_of(const nd4c_array *array) {
  const void *data = NULL;
  CHECK_OK(nd4c_array_data(array, &data));
  return data;
}

static nd4c_array *position(int64_t number) {
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_array_empty(ND4C_INT64, 1, one, NULL, &array));
  CHECK_OK(nd4c_array_write(array, &number, sizeof number));
  return array;
}

/* -- graphs --------------------------------------------------------------------------------------------------------
 *
 * A cache of six rows: next = cache with the row at `at` replaced, and `sum` over the rows of next. `late`: the update
 * waits for a `take` at `at` + 0, which fails for a position that does not exist; `early`: a take of next does. */

typedef enum cache_kind { PLAIN, LATE_UPDATE, EARLY_UPDATE } cache_kind;

static nd4c_graph *record_cache(cache_kind kind) {
  nd4c_graph *graph = NULL;
  nd4c_value at = ND4C_VALUE_NONE, where = ND4C_VALUE_NONE;
  const nd4c_attr rows[] = {check_int("axis", 0)}, axes[] = {check_ints("axes", (int64_t[]){0}, 1)};
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value cache = check_input(graph, "cache", 2, cache_shape), row = check_input(graph, "row", 2, one_row);
  CHECK_OK(nd4c_graph_input(graph, "at", ND4C_INT64, 1, one, &at));
  CHECK_OK(nd4c_graph_input(graph, "where", ND4C_INT64, 1, one, &where));
  nd4c_value other = check_input(graph, "other", 2, cache_shape);
  if (kind == LATE_UPDATE) {
    nd4c_value taken = check_op(graph, ND4C_OP_take, (nd4c_value[]){other, where}, 2, axes, 1);
    row = check_binary(graph, ND4C_OP_add, row, taken);
  }
  nd4c_value next = check_op(graph, ND4C_OP_scatter_update, (nd4c_value[]){cache, at, row}, 3, rows, 1), sum = next;
  if (kind != LATE_UPDATE) {
    sum = check_op(graph, ND4C_OP_take, (nd4c_value[]){kind == PLAIN ? other : next, where}, 2, axes, 1);
  }
  CHECK_OK(nd4c_graph_output(graph, "next", next));
  CHECK_OK(nd4c_graph_output(graph, "sum", check_op(graph, ND4C_OP_sum, &sum, 1, axes, 1)));
  return graph;
}

typedef struct fixture {
  nd4c_graph *graph;
  nd4c_plan *plan;
  nd4c_runner *runner;
  nd4c_array *cache, *row, *at, *where, *other;
} fixture;

static fixture make_fixture(cache_kind kind) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  fixture f = {.graph = record_cache(kind),
               .cache = filled(2, cache_shape, 1),
               .row = filled(2, one_row, 7),
               .at = position(2),
               .where = position(0),
               .other = filled(2, cache_shape, 0)};
  CHECK_OK(nd4c_plan_create(f.graph, NULL, &options, &f.plan));
  CHECK_OK(nd4c_runner_of_plan(f.plan, &f.runner));
  CHECK_OK(nd4c_runner_bind_input(f.runner, "row", f.row));
  CHECK_OK(nd4c_runner_bind_input(f.runner, "at", f.at));
  CHECK_OK(nd4c_runner_bind_input(f.runner, "where", f.where));
  CHECK_OK(nd4c_runner_bind_input(f.runner, "other", f.other));
  return f;
}

static void free_fixture(fixture *f) {
  nd4c_runner_destroy(f->runner);
  nd4c_plan_destroy(f->plan);
  nd4c_graph_destroy(f->graph);
  check_release((nd4c_array *[]){f->cache, f->row, f->at, f->where, f->other}, 5);
}

/* Rows are 1 but for those at `rows`, a bit each, which are `number`. */
static void assert_rows(const nd4c_array *array, unsigned rows, float number) {
  const float *data = data_of(array);
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    const float wanted = (rows >> (i / COLUMNS) & 1) != 0 ? number : 1;
    assert_float_equal(data[i], wanted, 0);
  }
}

static void move_to(const fixture *f, int64_t row) {
  CHECK_OK(nd4c_array_write(f->at, &row, sizeof row));
}

static void break_run(const fixture *f, bool broken) {
  const int64_t number = broken ? LATE : 0;
  CHECK_OK(nd4c_array_write(f->where, &number, sizeof number));
}

/* -- binding ------------------------------------------------------------------------------------------------------- */

static void runs_name_nothing(void **state) {
  (void)state;
  nd4c_graph *graph = check_make_fork();
  nd4c_plan *plan = NULL;
  nd4c_runner *runner = NULL;
  nd4c_array *inputs[2] = {NULL}, *expected[3] = {NULL}, *c = filled(2, (int64_t[]){4, 8}, 0), *a = NULL, *again = NULL;
  const int64_t count = 32;
  check_make_inputs(graph, 5, inputs);
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_runner_of_plan(plan, &runner));
  CHECK_OK(nd4c_runner_bind_input(runner, "x", inputs[0]));
  expect(nd4c_runner_run(runner), ND4C_ARGUMENT, "nothing is bound to input 'w'");
  expect(nd4c_runner_get_output(runner, "c", &a), ND4C_ARGUMENT, "no run has given output 'c'");
  CHECK_OK(nd4c_runner_bind_input(runner, "w", inputs[1]));
  CHECK_OK(nd4c_runner_bind_output(runner, "c", c));
  for (int round = 0; round < 4; round++) {
    void *data = NULL;
    CHECK_OK(nd4c_array_data_mutable(inputs[0], &data));
    for (int64_t i = 0; i < count; i++) {
      ((float *)data)[i] += 0.25F;
    }
    check_evaluate(graph, inputs, expected);
    CHECK_OK(nd4c_runner_run(runner));
    CHECK_OK(nd4c_runner_get_output(runner, "a", &a));
    CHECK_OK(nd4c_runner_get_output(runner, "c", &again));
    assert_ptr_equal(again, c);
    assert_true(check_difference(expected[2], c) <= 1e-6);
    assert_true(check_difference(expected[0], a) <= 1e-6);
    check_release((nd4c_array *[]){a, again}, 2);
    check_release(expected, 3);
  }
  nd4c_array *others[] = {filled(2, (int64_t[]){4, 8}, 0), filled(2, (int64_t[]){4, 8}, 0)};
  CHECK_OK(nd4c_runner_bind_output(runner, "a", others[0]));
  CHECK_OK(nd4c_runner_bind_output(runner, "b", others[1]));
  CHECK_OK(nd4c_runner_run(runner));
  const int64_t before = nd4c_allocation_count();
  CHECK_OK(nd4c_runner_run(runner));
  if (nd4c_plan_is_direct(plan) && ND4C_RECYCLES) {
    assert_int_equal(nd4c_allocation_count() - before, 0);
  }
  CHECK_OK(nd4c_runner_clear(runner));
  expect(nd4c_runner_run(runner), ND4C_ARGUMENT, "nothing is bound to input 'x'");
  nd4c_runner_destroy(runner);
  nd4c_runner_destroy(NULL);
  assert_int_equal(c->references, 1);
  check_release((nd4c_array *[]){c, inputs[0], inputs[1], others[0], others[1]}, 5);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void binding_checks_the_array(void **state) {
  (void)state;
  fixture f = make_fixture(PLAIN);
  nd4c_array *narrow = filled(2, (int64_t[]){ROWS, 3}, 0), *frozen = NULL, *none = NULL;
  static float numbers[ROWS * COLUMNS];
  CHECK_OK(nd4c_array_wrap(ND4C_FLOAT32, 2, cache_shape, NULL, numbers, true, NULL, NULL, &frozen));
  expect(nd4c_runner_bind_input(f.runner, "cach", f.cache), ND4C_NAME, "there is no input 'cach'");
  expect(nd4c_runner_bind_output(f.runner, "cache", f.cache), ND4C_NAME, "there is no output 'cache'");
  expect(nd4c_runner_bind_input(f.runner, NULL, f.cache), ND4C_NULL_ARGUMENT, "name is NULL");
  expect(nd4c_runner_bind_input(f.runner, "cache", f.at), ND4C_DTYPE, "input 'cache' has dtype int64");
  expect(nd4c_runner_bind_input(f.runner, "cache", narrow), ND4C_SHAPE, "has shape (6, 3), expected (6, 4)");
  expect(nd4c_runner_bind_output(f.runner, "next", narrow), ND4C_SHAPE, "output 'next' has shape (6, 3)");
  expect(nd4c_runner_bind_output(f.runner, "next", frozen), ND4C_READ_ONLY, "the array for output 'next'");
  expect(nd4c_runner_get_output(f.runner, "next", NULL), ND4C_NULL_ARGUMENT, "array is NULL");
  expect(nd4c_runner_run(NULL), ND4C_NULL_ARGUMENT, "runner is NULL");
  expect(nd4c_runner_of_plan(NULL, &f.runner), ND4C_NULL_ARGUMENT, "plan is NULL");
  expect(nd4c_runner_of_plan(f.plan, NULL), ND4C_NULL_ARGUMENT, "runner is NULL");
  expect(nd4c_runner_get_output(f.runner, "next", &none), ND4C_ARGUMENT, "no run has given");
  CHECK_OK(nd4c_runner_bind_input(f.runner, "cache", frozen)); /* inputs may be read-only */
  atomic_store(&f.runner->busy, true);                         /* as while another thread runs it */
  expect(nd4c_runner_run(f.runner), ND4C_ARGUMENT, "another call on this runner is in progress");
  expect(nd4c_runner_bind_input(f.runner, "cache", f.cache), ND4C_ARGUMENT, "another call on this runner");
  atomic_store(&f.runner->busy, false);
  CHECK_OK(nd4c_runner_run(f.runner));
  free_fixture(&f);
  check_release((nd4c_array *[]){narrow, frozen}, 2);
}

/* A column of a matrix is no C order: it is copied for each run, with its contents at that time. */
static void other_strides_are_copied(void **state) {
  (void)state;
  fixture f = make_fixture(PLAIN);
  nd4c_array *wide = filled(2, (int64_t[]){ROWS, 2 * COLUMNS}, 1), *half = NULL, *result = NULL;
  CHECK_OK(nd4c_array_slice(wide, (int64_t[]){0, COLUMNS}, (int64_t[]){ROWS, 2 * COLUMNS}, NULL, &half));
  CHECK_OK(nd4c_runner_bind_input(f.runner, "cache", half));
  CHECK_OK(nd4c_runner_bind_output(f.runner, "next", half));
  for (int64_t i = 0; i < 3; i++) {
    move_to(&f, i);
    CHECK_OK(nd4c_runner_run(f.runner));
  }
  CHECK_OK(nd4c_op_call(NULL, ND4C_OP_copy, (const nd4c_array *[]){half}, 1, NULL, 0, &result, 1));
  assert_rows(result, 7, 7);
  const float *all = data_of(wide);
  for (int i = 0; i < ROWS; i++) {
    assert_float_equal(all[(size_t)i * 2 * COLUMNS], 1, 0);
  }
  free_fixture(&f);
  check_release((nd4c_array *[]){wide, half, result}, 3);
}

/* -- in place ------------------------------------------------------------------------------------------------------ */

static void a_cache_is_updated_in_its_memory(void **state) {
  (void)state;
  fixture f = make_fixture(PLAIN);
  const float *memory = data_of(f.cache);
  CHECK_OK(nd4c_runner_bind_input(f.runner, "cache", f.cache));
  CHECK_OK(nd4c_runner_bind_output(f.runner, "next", f.cache));
  for (int64_t i = 1; i < 4; i++) {
    move_to(&f, i);
    CHECK_OK(nd4c_runner_run(f.runner));
    assert_rows(f.cache, (2U << i) - 2, 7);
  }
  assert_ptr_equal(data_of(f.cache), memory);
  assert_null(f.plan->output_staging[0]); /* no run computed elsewhere and copied */
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(f.plan, &report));
  assert_non_null(strstr(report, "\n  output 'next' may have the memory of input 'cache'\n"));
  assert_non_null(strstr(report, "\n  output 'sum' may have the memory of input 'row'\n"));
  nd4c_free(report);
  free_fixture(&f);
}

/* The steps of a cache that tensor_scatter writes: the others are not copied, since the memory is the same. */
static void a_scatter_writes_its_steps_alone(void **state) {
  (void)state;
  const int64_t whole[] = {2, ROWS, COLUMNS}, part[] = {2, 1, COLUMNS}, batch[] = {2}, places[] = {1, 4};
  nd4c_graph *graph = NULL;
  nd4c_value at = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value cache = check_input(graph, "cache", 3, whole), update = check_input(graph, "update", 3, part);
  CHECK_OK(nd4c_graph_input(graph, "at", ND4C_INT64, 1, batch, &at));
  const nd4c_value next = check_op(graph, ND4C_OP_tensor_scatter, (nd4c_value[]){cache, update, at}, 3, NULL, 0);
  CHECK_OK(nd4c_graph_output(graph, "next", next));
  nd4c_array *memory = filled(3, whole, 1), *row = filled(3, part, 7), *numbers = NULL;
  nd4c_plan *plan = NULL;
  nd4c_runner *runner = NULL;
  CHECK_OK(nd4c_array_from_data(ND4C_INT64, 1, batch, places, NULL, &numbers));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_runner_of_plan(plan, &runner));
  CHECK_OK(nd4c_runner_bind_input(runner, "cache", memory));
  CHECK_OK(nd4c_runner_bind_input(runner, "update", row));
  CHECK_OK(nd4c_runner_bind_input(runner, "at", numbers));
  CHECK_OK(nd4c_runner_bind_output(runner, "next", memory));
  CHECK_OK(nd4c_runner_run(runner));
  const float *data = data_of(memory);
  for (int i = 0; i < 2 * ROWS * COLUMNS; i++) {
    const int at_row = i / COLUMNS;
    assert_float_equal(data[i], at_row == places[0] || at_row == ROWS + places[1] ? 7 : 1, 0);
  }
  assert_null(plan->output_staging[0]); /* no run computed elsewhere and copied */
  nd4c_runner_destroy(runner);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release((nd4c_array *[]){memory, row, numbers}, 3);
}

/* y = x w reads all of x for each element of y; z = x + 1 comes after it, and p = x * x before. */
static void outputs_over_inputs_are_right(void **state) {
  (void)state;
  enum { N = 5 };
  const int64_t square[] = {N, N};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, square), w = check_input(graph, "w", 2, square);
  CHECK_OK(nd4c_graph_output(graph, "p", check_binary(graph, ND4C_OP_multiply, x, x)));
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_matmul, x, w)));
  CHECK_OK(nd4c_graph_output(graph, "z", check_binary(graph, ND4C_OP_add, x, check_scalar(graph, 1))));
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  const char *const names[] = {"p", "y", "z"};
  for (int over = 0; over < 6; over++) { /* each output over each input */
    const char *input = over < 3 ? "x" : "w";
    nd4c_array *inputs[2], *expected[3] = {NULL};
    nd4c_plan *plan = NULL;
    nd4c_runner *runner = NULL;
    check_make_inputs(graph, 3, inputs);
    check_evaluate(graph, inputs, expected);
    CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
    CHECK_OK(nd4c_runner_of_plan(plan, &runner));
    CHECK_OK(nd4c_runner_bind_input(runner, "x", inputs[0]));
    CHECK_OK(nd4c_runner_bind_input(runner, "w", inputs[1]));
    CHECK_OK(nd4c_runner_bind_output(runner, names[over % 3], inputs[over / 3]));
    CHECK_OK(nd4c_runner_run(runner));
    for (int i = 0; i < 3; i++) {
      nd4c_array *found = NULL;
      CHECK_OK(nd4c_runner_get_output(runner, names[i], &found));
      if (!(check_difference(expected[i], found) <= 1e-6)) {
        fail_msg("output %s with %s over %s", names[i], names[over % 3], input);
      }
      nd4c_array_release(found);
    }
    /* In place: z over x, at whose step x is read last; z over w, which the product before has read. */
    assert_int_equal(plan->output_staging[over % 3] == NULL, over == 2 || over == 5);
    nd4c_runner_destroy(runner);
    nd4c_plan_destroy(plan);
    check_release(inputs, 2);
    check_release(expected, 3);
  }
  nd4c_graph_destroy(graph);
}

/* -- donation ------------------------------------------------------------------------------------------------------ */

static void assert_spent(nd4c_array *array) {
  float numbers[ROWS * COLUMNS] = {0};
  void *data = NULL;
  expect(nd4c_array_read(array, numbers, sizeof numbers), ND4C_POISONED, "the array was donated to a run");
  expect(nd4c_array_data_mutable(array, &data), ND4C_READ_ONLY, "read-only");
  expect(nd4c_array_write(array, numbers, sizeof numbers), ND4C_READ_ONLY, "read-only");
  nd4c_array *copy = NULL;
  expect(nd4c_op_call(NULL, ND4C_OP_abs, (const nd4c_array *[]){array}, 1, NULL, 0, &copy, 1), ND4C_POISONED,
         "donated");
  assert_int_equal(nd4c_array_shape(array)[0], ROWS); /* dtype and shape stay */
}

#if defined(__SANITIZE_THREAD__) /* there a run of this plan allocates */
enum { COUNTS_ALLOCATIONS = false };
#else
enum { COUNTS_ALLOCATIONS = ND4C_RECYCLES };
#endif

static void an_output_takes_donated_memory(void **state) {
  (void)state;
  fixture f = make_fixture(PLAIN);
  const float *memory = data_of(f.cache);
  nd4c_array *cache = f.cache, *next = NULL;
  f.cache = NULL;
  for (int64_t i = 0; i < 3; i++) { /* each run's output is the next one's cache */
    move_to(&f, i);
    CHECK_OK(nd4c_runner_donate(f.runner, "cache", cache));
    const int64_t before = nd4c_allocation_count();
    CHECK_OK(nd4c_runner_run(f.runner));
    assert_true(i < 2 || !COUNTS_ALLOCATIONS || nd4c_allocation_count() == before);
    CHECK_OK(nd4c_runner_get_output(f.runner, "next", &next));
    assert_spent(cache);
    assert_ptr_equal(data_of(next), memory);
    assert_rows(next, (2U << i) - 1, 7);
    expect(nd4c_runner_run(f.runner), ND4C_ARGUMENT, "nothing is bound to input 'cache'");
    nd4c_array_release(cache);
    cache = next;
  }
  nd4c_runner_destroy(f.runner);
  f.runner = NULL;
  assert_rows(cache, 7, 7); /* it outlives the runner */
  nd4c_array_release(cache);
  free_fixture(&f);
}

/* Memory that another array has, or that a program lent, is not written; the array is given up all the same. */
static void shared_memory_is_left_alone(void **state) {
  (void)state;
  fixture f = make_fixture(PLAIN);
  nd4c_array *view = NULL, *next = NULL, *wrapped = NULL, *part = NULL;
  CHECK_OK(nd4c_array_as_strided(f.cache, 2, cache_shape, (int64_t[]){COLUMNS, 1}, 0, &view));
  CHECK_OK(nd4c_runner_donate(f.runner, "cache", f.cache));
  CHECK_OK(nd4c_runner_run(f.runner));
  CHECK_OK(nd4c_runner_get_output(f.runner, "next", &next));
  assert_spent(f.cache);
  assert_rows(view, 0, 0);
  assert_rows(next, 1 << 2, 7);
  nd4c_array_release(next);
  float numbers[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    numbers[i] = 1;
  }
  CHECK_OK(nd4c_array_wrap(ND4C_FLOAT32, 2, cache_shape, NULL, numbers, false, NULL, NULL, &wrapped));
  CHECK_OK(nd4c_runner_donate(f.runner, "cache", wrapped));
  CHECK_OK(nd4c_runner_run(f.runner));
  assert_spent(wrapped);
  assert_float_equal(numbers[2 * COLUMNS], 1, 0);
  nd4c_array *wide = filled(2, (int64_t[]){ROWS + 1, COLUMNS}, 1);
  CHECK_OK(nd4c_array_slice(wide, (int64_t[]){0, 0}, (int64_t[]){ROWS, COLUMNS}, NULL, &part));
  nd4c_array_release(wide);
  CHECK_OK(nd4c_runner_donate(f.runner, "cache", part)); /* alone, but smaller than its storage */
  CHECK_OK(nd4c_runner_run(f.runner));
  CHECK_OK(nd4c_runner_get_output(f.runner, "next", &next));
  assert_rows(next, 1 << 2, 7);
  free_fixture(&f);
  check_release((nd4c_array *[]){view, next, wrapped, part}, 4);
}

static void donations_are_single(void **state) {
  (void)state;
  fixture f = make_fixture(PLAIN);
  expect(nd4c_runner_donate(f.runner, "cache", f.other), ND4C_ARGUMENT, "the array is bound to input 'other'");
  CHECK_OK(nd4c_runner_bind_output(f.runner, "next", f.cache));
  expect(nd4c_runner_donate(f.runner, "cache", f.cache), ND4C_ARGUMENT, "the array is bound to output 'next'");
  CHECK_OK(nd4c_runner_bind_output(f.runner, "next", NULL));
  CHECK_OK(nd4c_runner_donate(f.runner, "cache", f.cache));
  expect(nd4c_runner_bind_input(f.runner, "other", f.cache), ND4C_ARGUMENT, "the array is donated as input 'cache'");
  expect(nd4c_runner_bind_output(f.runner, "next", f.cache), ND4C_ARGUMENT, "the array is donated as input 'cache'");
  expect(nd4c_runner_donate(f.runner, "other", f.cache), ND4C_ARGUMENT, "the array is donated as input 'cache'");
  expect(nd4c_runner_donate(f.runner, "cache", NULL), ND4C_NULL_ARGUMENT, "array");
  CHECK_OK(nd4c_runner_bind_input(f.runner, "cache", f.cache)); /* no donation after all */
  CHECK_OK(nd4c_runner_run(f.runner));
  assert_rows(f.cache, 0, 0);
  free_fixture(&f);
}

/* -- failures ------------------------------------------------------------------------------------------------------ */

static void refuse(const fixture *f) {
  nd4c_cancellation *cancellation = NULL;
  CHECK_OK(nd4c_cancellation_create(&cancellation));
  CHECK_OK(nd4c_cancellation_request(cancellation));
  CHECK_OK(nd4c_cancellation_enter(cancellation));
  expect(nd4c_runner_run(f->runner), ND4C_CANCELLED, "");
  CHECK_OK(nd4c_cancellation_leave(cancellation));
  nd4c_cancellation_destroy(cancellation);
}

/* A failure before the update leaves the cache as it was, and the run can be tried again. */
static void failures_lose_nothing(void **state) {
  (void)state;
  for (int donated = 0; donated < 2; donated++) {
    fixture f = make_fixture(LATE_UPDATE);
    CHECK_OK(donated ? nd4c_runner_donate(f.runner, "cache", f.cache)
                     : nd4c_runner_bind_input(f.runner, "cache", f.cache));
    CHECK_OK(donated ? ND4C_OK : nd4c_runner_bind_output(f.runner, "next", f.cache));
    refuse(&f);
    assert_rows(f.cache, 0, 0);
    break_run(&f, true);
    expect(nd4c_runner_run(f.runner), ND4C_INDEX, "take");
    assert_rows(f.cache, 0, 0);
    break_run(&f, false);
    CHECK_OK(nd4c_runner_run(f.runner));
    nd4c_array *next = NULL;
    CHECK_OK(nd4c_runner_get_output(f.runner, "next", &next));
    assert_rows(next, 1 << 2, 7);
    assert_int_equal(next == f.cache, !donated);
    nd4c_array_release(next);
    free_fixture(&f);
  }
}

/* A failure after the update: the memory has neither value, and says why. */
static void late_failures_poison(void **state) {
  (void)state;
  for (int donated = 0; donated < 2; donated++) {
    fixture f = make_fixture(EARLY_UPDATE);
    float numbers[ROWS * COLUMNS];
    CHECK_OK(donated ? nd4c_runner_donate(f.runner, "cache", f.cache)
                     : nd4c_runner_bind_input(f.runner, "cache", f.cache));
    CHECK_OK(donated ? ND4C_OK : nd4c_runner_bind_output(f.runner, "next", f.cache));
    break_run(&f, true);
    expect(nd4c_runner_run(f.runner), ND4C_INDEX, "take");
    expect(nd4c_array_read(f.cache, numbers, sizeof numbers), ND4C_POISONED, "take");
    break_run(&f, false);
    expect(nd4c_runner_run(f.runner), ND4C_POISONED, "take");
    nd4c_array *fresh = filled(2, cache_shape, 1), *next = NULL;
    CHECK_OK(donated ? nd4c_runner_donate(f.runner, "cache", fresh) : nd4c_runner_bind_input(f.runner, "cache", fresh));
    CHECK_OK(nd4c_runner_run(f.runner));
    CHECK_OK(nd4c_runner_get_output(f.runner, "next", &next));
    assert_rows(next, 1 << 2, 7);
    check_release((nd4c_array *[]){fresh, next}, 2);
    free_fixture(&f);
  }
}

static void ask_before_update(void *user, const char *what, int64_t done, int64_t total) {
  (void)what, (void)total;
  if (done == 2) {
    CHECK_OK(nd4c_cancellation_request(user));
  }
}

/* A request during the step before the update: the update does not begin, so that the cache keeps its value. */
static void cancelled_runs_lose_nothing(void **state) {
  (void)state;
  for (int donated = 0; donated < 2; donated++) {
    fixture f = make_fixture(LATE_UPDATE);
    nd4c_cancellation *cancellation = NULL;
    CHECK_OK(nd4c_cancellation_create(&cancellation));
    const nd4c_plan_progress progress = {.on = true, .tell = ask_before_update, .user = cancellation};
    assert_int_equal(f.plan->output_first[0], 2); /* take, add, update */
    CHECK_OK(donated ? nd4c_runner_donate(f.runner, "cache", f.cache)
                     : nd4c_runner_bind_input(f.runner, "cache", f.cache));
    CHECK_OK(donated ? ND4C_OK : nd4c_runner_bind_output(f.runner, "next", f.cache));
    f.plan->progress = &progress;
    CHECK_OK(nd4c_cancellation_enter(cancellation));
    expect(nd4c_runner_run(f.runner), ND4C_CANCELLED, "");
    CHECK_OK(nd4c_cancellation_leave(cancellation));
    assert_rows(f.cache, 0, 0);
    f.plan->progress = NULL;
    nd4c_cancellation_destroy(cancellation);
    free_fixture(&f);
  }
}

/* Each allocation fails in turn: nothing is lost, nothing leaks. */
static void memory_may_run_out(void **state) {
  (void)state;
  fixture f = make_fixture(PLAIN);
  bool done = false;
  for (int64_t skip = 0; !done; skip++) {
    nd4c_runner *runner = NULL;
    nd4c_allocation_fail_at(skip);
    nd4c_status status = nd4c_runner_of_plan(f.plan, &runner);
    status = status == ND4C_OK ? nd4c_runner_donate(runner, "cache", f.cache) : status;
    status = status == ND4C_OK ? nd4c_runner_bind_input(runner, "row", f.row) : status;
    status = status == ND4C_OK ? nd4c_runner_bind_input(runner, "at", f.at) : status;
    status = status == ND4C_OK ? nd4c_runner_bind_input(runner, "where", f.where) : status;
    status = status == ND4C_OK ? nd4c_runner_bind_input(runner, "other", f.other) : status;
    status = status == ND4C_OK ? nd4c_runner_run(runner) : status;
    nd4c_allocation_fail_at(-1);
    done = status == ND4C_OK;
    if (!done) {
      assert_int_equal(status, ND4C_MEMORY);
      assert_rows(f.cache, 0, 0);
    }
    nd4c_runner_destroy(runner);
  }
  assert_spent(f.cache);
  free_fixture(&f);
}

/* -- dims and threads ---------------------------------------------------------------------------------------------- */

static void dims_come_from_what_is_bound(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_runner *runner = NULL;
  int64_t n = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, 100, &n));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, COLUMNS});
  nd4c_value w = check_input(graph, "w", 2, (int64_t[]){n, COLUMNS});
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, x, w)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_runner_of_plan(plan, &runner));
  nd4c_array *odd = filled(2, (int64_t[]){3, 5}, 0);
  expect(nd4c_runner_bind_input(runner, "x", odd), ND4C_SHAPE, "input 'x' has shape (3, 5), expected (n, 4)");
  for (int64_t rows = 3; rows < 6; rows++) {
    nd4c_array *arrays[] = {filled(2, (int64_t[]){rows, COLUMNS}, 2), filled(2, (int64_t[]){rows, COLUMNS}, 3)};
    CHECK_OK(nd4c_runner_bind_input(runner, "x", arrays[0]));
    if (rows > 3) {
      expect(nd4c_runner_run(runner), ND4C_SHAPE, "dim 'n'");
    }
    CHECK_OK(nd4c_runner_bind_input(runner, "w", arrays[1]));
    CHECK_OK(nd4c_runner_bind_output(runner, "y", arrays[0]));
    for (int i = 0; i < 2; i++) {
      CHECK_OK(nd4c_runner_run(runner));
      assert_float_equal(data_of(arrays[0])[rows * COLUMNS - 1], 5 + 3 * i, 0);
    }
    check_release(arrays, 2);
  }
  nd4c_runner_destroy(runner);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  nd4c_array_release(odd);
}

enum { TURNS = 50 };

typedef struct counter {
  pthread_t thread;
  nd4c_plan *plan;
  int wrong;
} counter;

/* Counts to TURNS in its own array, by x + 1 over x. */
static void *count_up(void *argument) {
  counter *w = argument;
  nd4c_runner *runner = NULL;
  nd4c_array *x = NULL;
  float numbers[ROWS * COLUMNS] = {0};
  w->wrong += nd4c_array_full(ND4C_FLOAT32, 2, cache_shape, 0, NULL, &x) != ND4C_OK;
  w->wrong += nd4c_runner_of_plan(w->plan, &runner) != ND4C_OK;
  w->wrong += nd4c_runner_bind_input(runner, "x", x) != ND4C_OK;
  w->wrong += nd4c_runner_bind_output(runner, "y", x) != ND4C_OK;
  for (int i = 0; i < TURNS; i++) {
    w->wrong += nd4c_runner_run(runner) != ND4C_OK;
  }
  w->wrong += nd4c_array_read(x, numbers, sizeof numbers) != ND4C_OK;
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    w->wrong += numbers[i] != TURNS;
  }
  nd4c_runner_destroy(runner);
  nd4c_array_release(x);
  return NULL;
}

static void threads_have_runners_of_one_plan(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  counter counters[THREADS];
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, cache_shape);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, x, check_scalar(graph, 1))));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  for (int i = 0; i < THREADS; i++) {
    counters[i] = (counter){.plan = plan};
    assert_int_equal(pthread_create(&counters[i].thread, NULL, count_up, &counters[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(counters[i].thread, NULL), 0);
    assert_int_equal(counters[i].wrong, 0);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_name_nothing),
      cmocka_unit_test(binding_checks_the_array),
      cmocka_unit_test(other_strides_are_copied),
      cmocka_unit_test(a_cache_is_updated_in_its_memory),
      cmocka_unit_test(a_scatter_writes_its_steps_alone),
      cmocka_unit_test(outputs_over_inputs_are_right),
      cmocka_unit_test(an_output_takes_donated_memory),
      cmocka_unit_test(shared_memory_is_left_alone),
      cmocka_unit_test(donations_are_single),
      cmocka_unit_test(failures_lose_nothing),
      cmocka_unit_test(cancelled_runs_lose_nothing),
      cmocka_unit_test(late_failures_poison),
      cmocka_unit_test(memory_may_run_out),
      cmocka_unit_test(dims_come_from_what_is_bound),
      cmocka_unit_test(threads_have_runners_of_one_plan),
  };
  return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}
