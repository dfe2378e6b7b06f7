/* Several versions of one op from one plug-in: eager calls take the highest, a name with a version takes that one, and
 * a model takes the highest one up to its opset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../io/model_build.h"
#include "nd4c/nd4c.h"

/* The op's result for 2, and explain's line about the kernel that computes it. */
static void expect_shift(const char *name, float wanted, const char *kernel) {
  const nd4c_op_info *info = NULL;
  nd4c_array *two = NULL, *y = NULL;
  char *text = NULL;
  float value = 0;
  if (nd4c_op_find(name, &info) != ND4C_OK) {
    fail_msg("%s: %s", name, nd4c_error_message());
  }
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 2, NULL, &two), ND4C_OK);
  const nd4c_array *input = two;
  if (nd4c_op_call(NULL, info->op, &input, 1, NULL, 0, &y, 1) != ND4C_OK) {
    fail_msg("%s: %s", name, nd4c_error_message());
  }
  assert_int_equal(nd4c_array_read(y, &value, sizeof value), ND4C_OK);
  assert_float_equal(value, wanted, 0);
  assert_int_equal(nd4c_explain(NULL, info->op, &input, 1, NULL, 0, &text), ND4C_OK);
  if (strstr(text, kernel) == NULL) {
    fail_msg("%s: no '%s' in %s", name, kernel, text);
  }
  nd4c_free(text);
  nd4c_array_release(two);
  nd4c_array_release(y);
}

static void eager_calls_take_the_highest(void **state) {
  (void)state;
  expect_shift("verse.shift", 102, "verse.fast.7 (engine verse): taken");
  expect_shift("verse.shift@7", 102, "verse.fast.7 (engine verse): taken");
  expect_shift("verse.shift@3", 12, "verse.shift.3 (engine reference): taken");
  expect_shift("verse.shift@1", 3, "verse.fast.1 (engine verse): taken");
}

static void unknown_versions_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"verse.shift@2",  "verse.shift@0",          "verse.shift@",
                                      "verse.shift@03", "verse.shift@4294967295", "verse.shift@8"};
  const nd4c_op_info *info = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_int_equal(nd4c_op_find(names[i], &info), ND4C_NAME);
    if (strstr(nd4c_error_message(), "is not known: this build has verse.shift@7, @3, @1") == NULL) {
      fail_msg("%s: %s", names[i], nd4c_error_message());
    }
  }
}

static void kernels_of_other_versions_are_left_out(void **state) {
  (void)state;
  nd4c_backend_status row = {.struct_size = sizeof row};
  bool told = false;
  for (int32_t i = 0; i < nd4c_backend_count() && nd4c_backend_get_status(i, &row) == ND4C_OK; i++) {
    told = told || strstr(row.left_out,
                          "verse: kernel verse.fast.5: it is made for version 5 of op verse.shift; this "
                          "library has version 7") != NULL;
    assert_null(strstr(row.left_out, "verse.fast.1"));
  }
  assert_true(told);
}

/* verse.shift of 2 in a model of that opset of domain verse; -1 after a failure, with the thread's failure text set. */
static float run_model(int64_t opset) {
  static const int64_t shape[] = {1};
  static const char *const names[] = {"x"};
  static wire_bytes bytes;
  wire_bytes graph = {0}, import = {0};
  nd4c_model *model = NULL;
  nd4c_array *x = NULL, *y = NULL;
  float value = 0;
  bytes = (wire_bytes){0};
  build_nodes(&graph, "verse::shift x > y");
  build_value(&graph, 11, "x", 1, 1, shape);
  build_value(&graph, 12, "y", 1, 0, NULL);
  build_model(&bytes, &graph, 13);
  wire_text(&import, 1, "verse");
  wire_number(&import, 2, (uint64_t)opset);
  wire_message(&bytes, 8, &import);
  if (nd4c_model_open_memory(bytes.bytes, bytes.size, NULL, NULL, NULL, &model) != ND4C_OK) {
    return -1;
  }
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 2, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_model_run(model, NULL, names, (const nd4c_array *const *)&x, 1, &y, 1), ND4C_OK);
  assert_int_equal(nd4c_array_read(y, &value, sizeof value), ND4C_OK);
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_model_close(model);
  return value;
}

static void models_take_the_highest_up_to_their_opset(void **state) {
  (void)state;
  static const struct {
    int64_t opset;
    float value;
  } rows[] = {{1, 3}, {2, 3}, {3, 12}, {6, 12}, {7, 102}, {8, 102}, {INT64_C(1) << 40, 102}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const float value = run_model(rows[i].opset);
    if (value != rows[i].value) {
      fail_msg("opset %lld gives %g: %s", (long long)rows[i].opset, (double)value, nd4c_error_message());
    }
  }
}

static int load(void **state) {
  (void)state;
  return nd4c_backend_load(VERSIONS_PATH) == ND4C_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(eager_calls_take_the_highest),
                                     cmocka_unit_test(unknown_versions_are_refused),
                                     cmocka_unit_test(kernels_of_other_versions_are_left_out),
                                     cmocka_unit_test(models_take_the_highest_up_to_their_opset)};
  return cmocka_run_group_tests(tests, load, NULL);
}
