/* ONNX models with nodes of a domain whose ops a plug-in brings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../io/model_build.h"
#include "nd4c/nd4c.h"

/* x (2, 4) > y, with opset `acme` of domain acme (0: none). */
static nd4c_status open_model(const char *nodes, int64_t acme, nd4c_model **model) {
  static const int64_t shape[] = {2, 4};
  static wire_bytes bytes;
  wire_bytes graph = {0}, import = {0};
  bytes = (wire_bytes){0};
  build_nodes(&graph, nodes);
  build_value(&graph, 11, "x", 1, 2, shape);
  build_value(&graph, 12, "y", 1, 0, NULL);
  build_model(&bytes, &graph, 13);
  wire_text(&import, 1, "acme");
  wire_number(&import, 2, (uint64_t)acme);
  if (acme > 0) {
    wire_message(&bytes, 8, &import);
  }
  return nd4c_model_open_memory(bytes.bytes, bytes.size, NULL, NULL, NULL, model);
}

static const char *const names[] = {"x"};

typedef struct refusal {
  const char *nodes;
  int64_t opset;
  const char *words;
} refusal;

static void expect_refusals(const refusal *rows, size_t count) {
  int failures = 0;
  for (size_t i = 0; i < count; i++) {
    nd4c_model *model = NULL;
    nd4c_status status = open_model(rows[i].nodes, rows[i].opset, &model);
    if (status == ND4C_OK) { /* attributes and shapes are looked at when shapes are known */
      nd4c_array *x = NULL, *y = NULL;
      const int64_t shape[] = {2, 4};
      assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 2, shape, 1, NULL, &x), ND4C_OK);
      status = nd4c_model_run(model, NULL, names, (const nd4c_array *const *)&x, 1, &y, 1);
      nd4c_array_release(x);
      nd4c_array_release(y);
    }
    nd4c_model_close(model);
    if (status == ND4C_OK || strstr(nd4c_error_message(), rows[i].words) == NULL) {
      print_error("%s: %s: %s\n", rows[i].nodes, nd4c_status_name(status), nd4c_error_message());
      failures++;
    }
  }
  assert_int_equal(failures, 0);
}

#define GOOD "acme::halves x axis=-1 > a b; acme::scaled_add a b scale=3 > s; Neg s > y"

static void says_which_plugin_is_needed(void **state) {
  (void)state;
  static const refusal rows[] = {
      {GOOD, 2,
       "needs 2 ops that nd4c lacks: 'acme'::'halves' (of a domain that needs a plug-in which brings op "
       "'acme.halves': name it in nd4c.backend.plugins"},
      {GOOD, 0, "of a domain that opset_import lacks"}};
  expect_refusals(rows, sizeof rows / sizeof rows[0]);
}

static void computes(void **state) {
  (void)state;
  nd4c_model *model = NULL;
  assert_int_equal(nd4c_backend_load(ACME_PATH), ND4C_OK);
  if (open_model(GOOD, 2, &model) != ND4C_OK) {
    fail_msg("%s", nd4c_error_message());
  }
  const float values[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const int64_t shape[] = {2, 4};
  nd4c_array *x = NULL, *y = NULL;
  float result[4];
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 2, shape, values, NULL, &x), ND4C_OK);
  if (nd4c_model_run(model, NULL, names, (const nd4c_array *const *)&x, 1, &y, 1) != ND4C_OK) {
    fail_msg("%s", nd4c_error_message());
  }
  assert_int_equal(nd4c_array_read(y, result, sizeof result), ND4C_OK);
  for (int i = 0; i < 4; i++) {
    const float first = values[i / 2 * 4 + i % 2];
    assert_float_equal(result[i], -(first + 3 * (first + 2)), 0);
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_model_close(model);
}

static void refuses(void **state) {
  (void)state;
  static const refusal rows[] = {
      {"acme::nosuch x > y", 2, "plug-in acme brings other ops of that domain, but no op 'acme.nosuch'"},
      {"acme::scaled_add@2 x x > y", 2, "neither nd4c nor a plug-in can have ops"},
      {"acme::scaled_add x x > y", 1, "plug-in acme brings it as of opset 2 of that domain, the model has 1"},
      {"acme::scaled_add x > y", 2, "has 1 inputs; expected at least 2"},
      {"acme::scaled_add x x x > y", 2, "has 3 inputs; expected at most 2"},
      {"acme::scaled_add x x other=1 > y", 2, "'other'"},
      {"acme::halves x axis=5 > y", 2, "axis 5 is out of range"},
      {"emca::op x > y", 2, "of a domain that opset_import lacks"}};
  expect_refusals(rows, sizeof rows / sizeof rows[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(says_which_plugin_is_needed), cmocka_unit_test(computes),
                                     cmocka_unit_test(refuses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
