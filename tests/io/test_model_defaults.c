/* Inputs of a model that have an initializer: constants, or inputs of a model that is opened so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

/* y = x + b + c; b [3] is an input with an initializer, as files of IR version 3 have all of theirs; c [3] has
 * none. */
static nd4c_status open_with_default(const nd4c_model_options *options, nd4c_model **model) {
  static const int64_t shape[] = {-1, 3};
  static const float values[] = {1, 2, 3};
  static wire_bytes bytes;
  wire_bytes graph = {0};
  bytes = (wire_bytes){0};
  build_nodes(&graph, "Add x b > z; Add z c > y");
  build_value(&graph, 11, "b", 1, 1, &shape[1]);
  build_value(&graph, 11, "x", 1, 2, shape);
  build_value(&graph, 11, "c", 1, 1, &shape[1]);
  build_initializer(&graph, "b", 1, 1, &shape[1], values, sizeof values);
  build_value(&graph, 12, "y", 1, 2, shape);
  build_model(&bytes, &graph, 13);
  return nd4c_model_open_memory(bytes.bytes, bytes.size, options, NULL, NULL, model);
}

static nd4c_array *make_array(nd4c_dtype dtype, int32_t rank, int64_t rows, int64_t columns, double value) {
  nd4c_array *array = NULL;
  const int64_t shape[] = {rows, columns};
  assert_int_equal(nd4c_array_full(dtype, rank, shape, value, NULL, &array), ND4C_OK);
  return array;
}

/* y[0][0] of a run with x, b (NULL: not given) and c. */
static nd4c_status run_default(nd4c_model *model, const nd4c_array *b, float *first) {
  static const char *const names[] = {"x", "c", "b"};
  nd4c_array *x = make_array(ND4C_FLOAT32, 2, 2, 3, 10), *c = make_array(ND4C_FLOAT32, 1, 3, 1, 100), *y = NULL;
  const nd4c_array *inputs[] = {x, c, b};
  float values[6] = {0};
  nd4c_status status = nd4c_model_run(model, NULL, names, inputs, b != NULL ? 3 : 2, &y, 1);
  if (status == ND4C_OK) {
    status = nd4c_array_read(y, values, sizeof values);
  }
  *first = values[0];
  nd4c_array_release(x);
  nd4c_array_release(c);
  nd4c_array_release(y);
  return status;
}

static void inputs_have_defaults(void **state) {
  (void)state;
  static const char *const names[] = {"b"};
  const nd4c_model_options options = {.struct_size = sizeof options, .overridden = names, .overridden_count = 1};
  nd4c_array *b = make_array(ND4C_FLOAT32, 1, 3, 1, 5);
  nd4c_model_value value = {.struct_size = sizeof value};
  nd4c_model *model = NULL;
  float y = 0;
  assert_int_equal(open_with_default(NULL, &model), ND4C_OK);
  assert_int_equal(nd4c_model_input_count(model), 2);
  assert_int_equal(nd4c_model_default_count(model), 1);
  assert_int_equal(nd4c_model_default(model, 0, &value), ND4C_OK);
  assert_string_equal(value.name, "b");
  assert_int_equal(value.dtype, ND4C_FLOAT32);
  assert_int_equal(value.shape[0], 3);
  assert_int_equal(nd4c_model_default(model, 1, &value), ND4C_INDEX);
  assert_int_equal(run_default(model, NULL, &y), ND4C_OK);
  assert_float_equal(y, 111, 0);
  assert_int_equal(run_default(model, b, &y), ND4C_NAME);
  assert_non_null(strstr(nd4c_error_message(), "input 'b' has an initializer; a model opened with it in"));
  nd4c_model_close(model);
  assert_int_equal(open_with_default(&options, &model), ND4C_OK);
  assert_int_equal(nd4c_model_input_count(model), 3);
  assert_int_equal(nd4c_model_default_count(model), 0);
  assert_int_equal(nd4c_model_input(model, 0, &value), ND4C_OK);
  assert_string_equal(value.name, "b");
  assert_int_equal(run_default(model, b, &y), ND4C_OK);
  assert_float_equal(y, 115, 0);
  assert_int_equal(run_default(model, NULL, &y), ND4C_NAME);
  nd4c_model_close(model);
  nd4c_array_release(b);
}

static void refuses_other_overrides(void **state) {
  (void)state;
  static const char *const wrong[] = {"b", "c"}, *const none[] = {"b", NULL}, *const twice[] = {"b", "b"};
  nd4c_model_options options = {.struct_size = sizeof options, .overridden = wrong, .overridden_count = 2};
  nd4c_model *model = NULL;
  assert_int_equal(open_with_default(&options, &model), ND4C_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "options.overridden: the model has no input 'c' with an initializer");
  options.overridden = none;
  assert_int_equal(open_with_default(&options, &model), ND4C_NULL_ARGUMENT);
  options.overridden = twice;
  assert_int_equal(open_with_default(&options, &model), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "options.overridden has b twice"));
  options.overridden_count = -1;
  assert_int_equal(open_with_default(&options, &model), ND4C_ARGUMENT);
  assert_null(model);
  assert_int_equal(nd4c_model_default_count(NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(inputs_have_defaults), cmocka_unit_test(refuses_other_overrides)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
