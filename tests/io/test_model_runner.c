/* Runners of models: a cache that ScatterND updates in its memory, symbols that two inputs share, donation, and a model
 * that is interpreted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

enum { FLOAT = 1, INT64 = 7, ROWS = 4, COLUMNS = 3 };

#define OK(call) assert_int_equal(call, ND4C_OK)

static void expect(nd4c_status status, nd4c_status wanted, const char *text) {
  if (status != wanted || strstr(nd4c_error_message(), text) == NULL) {
    fail_msg("got %s: %s; expected %s: %s", nd4c_status_name(status), nd4c_error_message(), nd4c_status_name(wanted),
             text);
  }
}

/* cache [4, 3], at [1, 1], row [1, 3], x [n, 3], w [n, 3] -> next = cache with row `at` replaced, y = x + w. */
static nd4c_model *open_cache(wire_bytes *bytes) {
  wire_bytes graph = {0};
  nd4c_model *model = NULL;
  *bytes = (wire_bytes){0};
  build_nodes(&graph, "ScatterND cache at row > next; Add x w > y");
  build_value(&graph, 11, "cache", FLOAT, 2, (int64_t[]){ROWS, COLUMNS});
  build_value(&graph, 11, "at", INT64, 2, (int64_t[]){1, 1});
  build_value(&graph, 11, "row", FLOAT, 2, (int64_t[]){1, COLUMNS});
  build_value(&graph, 11, "x", FLOAT, 2, (int64_t[]){-1, COLUMNS});
  build_value(&graph, 11, "w", FLOAT, 2, (int64_t[]){-1, COLUMNS});
  build_value(&graph, 12, "next", FLOAT, 2, (int64_t[]){ROWS, COLUMNS});
  build_value(&graph, 12, "y", FLOAT, 2, (int64_t[]){-1, COLUMNS});
  build_model(bytes, &graph, 13);
  OK(nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, &model));
  return model;
}

static nd4c_array *filled(int64_t rows, double number) {
  nd4c_array *array = NULL;
  OK(nd4c_array_full(ND4C_FLOAT32, 2, (int64_t[]){rows, COLUMNS}, number, NULL, &array));
  return array;
}

static const float *data_of(const nd4c_array *array) {
  const void *data = NULL;
  OK(nd4c_array_data(array, &data));
  return data;
}

static nd4c_runner *bind_rest(nd4c_model *model, int64_t position) {
  nd4c_runner *runner = NULL;
  nd4c_array *at = NULL, *row = filled(1, 7), *x = filled(2, 1), *w = filled(2, 2);
  OK(nd4c_array_from_data(ND4C_INT64, 2, (int64_t[]){1, 1}, &position, NULL, &at));
  OK(nd4c_runner_of_model(model, NULL, &runner));
  OK(nd4c_runner_bind_input(runner, "at", at));
  OK(nd4c_runner_bind_input(runner, "row", row));
  OK(nd4c_runner_bind_input(runner, "x", x));
  OK(nd4c_runner_bind_input(runner, "w", w));
  nd4c_array_release(at);
  nd4c_array_release(row);
  nd4c_array_release(x);
  nd4c_array_release(w);
  return runner;
}

static void assert_row(const nd4c_array *cache, int64_t row) {
  for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
    const float wanted = i / COLUMNS == row ? 7 : 1;
    assert_float_equal(data_of(cache)[i], wanted, 0);
  }
}

static void a_cache_stays_where_it_is(void **state) {
  (void)state;
  wire_bytes bytes;
  nd4c_model *model = open_cache(&bytes);
  nd4c_runner *runner = bind_rest(model, 2);
  nd4c_array *cache = filled(ROWS, 1), *y = NULL, *longer = filled(5, 4), *next = NULL;
  const float *memory = data_of(cache);
  OK(nd4c_runner_bind_input(runner, "cache", cache));
  OK(nd4c_runner_bind_output(runner, "next", cache));
  for (int i = 0; i < 3; i++) {
    OK(nd4c_runner_run(runner));
    assert_row(cache, 2);
  }
  assert_ptr_equal(data_of(cache), memory);
  OK(nd4c_runner_bind_input(runner, "x", longer));
  expect(nd4c_runner_run(runner), ND4C_SHAPE, "'n'");
  OK(nd4c_runner_bind_input(runner, "w", longer)); /* one array for two inputs, and other extents */
  OK(nd4c_runner_run(runner));
  OK(nd4c_runner_get_output(runner, "y", &y));
  assert_int_equal(nd4c_array_shape(y)[0], 5);
  assert_float_equal(data_of(y)[14], 8, 0);
  OK(nd4c_runner_bind_output(runner, "next", NULL));
  OK(nd4c_runner_donate(runner, "cache", cache));
  OK(nd4c_runner_run(runner));
  OK(nd4c_runner_get_output(runner, "next", &next));
  assert_ptr_equal(data_of(next), memory);
  const void *gone = NULL;
  expect(nd4c_array_data(cache, &gone), ND4C_POISONED, "donated");
  nd4c_runner_destroy(runner);
  nd4c_model_close(model);
  assert_row(next, 2);
  nd4c_array_release(next);
  nd4c_array_release(y);
  nd4c_array_release(longer);
  nd4c_array_release(cache);
}

static void binding_checks_what_the_model_declares(void **state) {
  (void)state;
  wire_bytes bytes;
  nd4c_model *model = open_cache(&bytes);
  nd4c_runner *runner = bind_rest(model, 2), *none = NULL;
  nd4c_array *small = filled(3, 0), *single = NULL;
  OK(nd4c_array_scalar(ND4C_FLOAT32, 1, NULL, &single));
  expect(nd4c_runner_bind_input(runner, "cache", small), ND4C_SHAPE, "input 'cache' has shape (3, 3), expected (4, 3)");
  expect(nd4c_runner_bind_output(runner, "next", small), ND4C_SHAPE, "output 'next' has shape (3, 3)");
  expect(nd4c_runner_bind_input(runner, "at", small), ND4C_DTYPE, "input 'at' is float32, expected int64");
  expect(nd4c_runner_bind_input(runner, "x", single), ND4C_SHAPE, "input 'x' has shape ()");
  expect(nd4c_runner_run(runner), ND4C_ARGUMENT, "nothing is bound to input 'cache'");
  expect(nd4c_runner_of_model(NULL, NULL, &none), ND4C_NULL_ARGUMENT, "model is NULL");
  expect(nd4c_runner_of_model(model, NULL, NULL), ND4C_NULL_ARGUMENT, "runner is NULL");
  nd4c_context *context = NULL;
  OK(nd4c_context_create(NULL, &context));
  OK(nd4c_context_destroy(context));
  expect(nd4c_runner_of_model(model, context, &none), ND4C_HANDLE, "nd4c_runner_of_model");
  assert_null(none);
  nd4c_array_release(single);
  nd4c_array_release(small);
  nd4c_runner_destroy(runner);
  nd4c_model_close(model);
}

/* A callback of a run uses the runner that is running. */
static void use_again(void *user, const char *what, int64_t done, int64_t total) {
  nd4c_runner *runner = user;
  (void)what, (void)done, (void)total;
  expect(nd4c_runner_run(runner), ND4C_ARGUMENT, "another call on this runner is in progress");
}

static void a_callback_cannot_use_the_runner(void **state) {
  (void)state;
  wire_bytes bytes;
  nd4c_model *model = open_cache(&bytes);
  nd4c_runner *runner = bind_rest(model, 1);
  nd4c_array *cache = filled(ROWS, 1);
  nd4c_model_set_progress(model, use_again, runner);
  OK(nd4c_runner_bind_input(runner, "cache", cache));
  OK(nd4c_runner_bind_output(runner, "next", cache));
  OK(nd4c_runner_run(runner));
  assert_row(cache, 1);
  nd4c_runner_destroy(runner);
  nd4c_model_close(model);
  nd4c_array_release(cache);
}

/* How many elements are not zero depends on data, so the model has no plan. */
static void interpreted_models_have_runners(void **state) {
  (void)state;
  static const int64_t three[] = {3};
  wire_bytes graph = {0}, bytes = {0}, info = {0};
  nd4c_model *model = NULL;
  nd4c_runner *runner = NULL;
  nd4c_array *x = NULL, *y = NULL;
  const float numbers[] = {1, 0, 2};
  const void *gone = NULL;
  build_nodes(&graph, "NonZero x > y");
  build_value(&graph, 11, "x", FLOAT, 1, three);
  wire_text(&info, 1, "y");
  wire_message(&graph, 12, &info);
  build_model(&bytes, &graph, 13);
  OK(nd4c_model_open_memory(bytes.bytes, bytes.size, NULL, NULL, NULL, &model));
  OK(nd4c_runner_of_model(model, NULL, &runner));
  OK(nd4c_array_from_data(ND4C_FLOAT32, 1, three, numbers, NULL, &x));
  OK(nd4c_runner_donate(runner, "x", x));
  OK(nd4c_runner_run(runner));
  OK(nd4c_runner_get_output(runner, "y", &y));
  assert_int_equal(nd4c_array_shape(y)[1], 2);
  expect(nd4c_array_data(x, &gone), ND4C_POISONED, "donated");
  nd4c_array_release(y);
  nd4c_array_release(x);
  nd4c_runner_destroy(runner);
  nd4c_model_close(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cache_stays_where_it_is),
      cmocka_unit_test(binding_checks_what_the_model_declares),
      cmocka_unit_test(a_callback_cannot_use_the_runner),
      cmocka_unit_test(interpreted_models_have_runners),
  };
  return cmocka_run_group_tests_name("model_runner", tests, NULL, NULL);
}
