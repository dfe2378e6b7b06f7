/* The op Gradient against differences of the model itself. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

enum { FLOAT64_TYPE = 11, COUNT = 4 };
static const int64_t square[] = {2, 2};
static const int64_t row[] = {2};

static void expect_ok(nd4c_status status) {
  if (status != ND4C_OK) {
    fail_msg("%s: %s", nd4c_status_name(status), nd4c_error_message());
  }
}

static void add_string(wire_bytes *node, const char *name, const char *const *texts, int count) {
  wire_bytes attribute = {0};
  wire_text(&attribute, 1, name);
  for (int i = 0; i < count || i == 0; i++) {
    wire_text(&attribute, count == 0 ? 4 : 9, texts[i]);
  }
  wire_number(&attribute, 20, count == 0 ? 3 : 8);
  wire_message(node, 5, &attribute);
}

/* Inputs x [2, 2] and v [2] (broadcast); outputs y and its gradients by both. */
static nd4c_model *open_model(wire_bytes *bytes, const char *nodes) {
  static const char *const xs[] = {"x", "v"};
  static const char *const y[] = {"y"};
  wire_bytes graph = {0}, node = {0}, import = {0};
  nd4c_model *model = NULL;
  build_nodes(&graph, nodes);
  wire_text(&node, 4, "Gradient");
  wire_text(&node, 7, "ai.onnx.preview.training");
  for (int i = 0; i < 2; i++) {
    wire_text(&node, 1, xs[i]);
  }
  wire_text(&node, 2, "dx");
  wire_text(&node, 2, "dv");
  add_string(&node, "xs", xs, 2);
  add_string(&node, "y", y, 0);
  wire_message(&graph, 1, &node);
  build_value(&graph, 11, "x", FLOAT64_TYPE, 2, square);
  build_value(&graph, 11, "v", FLOAT64_TYPE, 1, row);
  build_value(&graph, 12, "y", FLOAT64_TYPE, 0, NULL);
  build_value(&graph, 12, "dx", FLOAT64_TYPE, 0, NULL);
  build_value(&graph, 12, "dv", FLOAT64_TYPE, 0, NULL);
  wire_text(&import, 1, "ai.onnx.preview.training");
  wire_number(&import, 2, 1);
  wire_message(bytes, 8, &import);
  build_model(bytes, &graph, 13);
  expect_ok(nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, &model));
  return model;
}

/* The sum of y; gradients (may be NULL) receive dx, then dv. */
static double run(nd4c_model *model, const double *values, double *gradients) {
  const char *names[] = {"x", "v"};
  nd4c_array *arrays[2] = {0};
  nd4c_array *outputs[3] = {0};
  double y[COUNT], sum = 0;
  expect_ok(nd4c_array_from_data(ND4C_FLOAT64, 2, square, values, NULL, &arrays[0]));
  expect_ok(nd4c_array_from_data(ND4C_FLOAT64, 1, row, values + COUNT, NULL, &arrays[1]));
  const nd4c_array *inputs[] = {arrays[0], arrays[1]};
  expect_ok(nd4c_model_run(model, NULL, names, inputs, 2, outputs, 3));
  expect_ok(nd4c_array_read(outputs[0], y, sizeof y));
  for (int i = 0; i < COUNT; i++) {
    sum += y[i];
  }
  if (gradients != NULL) {
    assert_int_equal(nd4c_array_rank(outputs[1]), 2);
    assert_int_equal(nd4c_array_rank(outputs[2]), 1);
    expect_ok(nd4c_array_read(outputs[1], gradients, COUNT * sizeof *gradients));
    expect_ok(nd4c_array_read(outputs[2], gradients + COUNT, 2 * sizeof *gradients));
  }
  for (int i = 0; i < 3; i++) {
    nd4c_array_release(outputs[i]);
  }
  nd4c_array_release(arrays[0]);
  nd4c_array_release(arrays[1]);
  return sum;
}

static void gradients_are_those_of_the_model(void **state) {
  (void)state;
  static const char *const models[] = {
      "Add x v > y",
      "Sub x v > y",
      "Sub v x > y",
      "Mul x v > y",
      "Div x v > y",
      "Div v x > y",
      "MatMul x x > m; Add m v > y",
      "Identity x > a; Neg a > b; Mul b v > y",
      "Exp x > a; Log a > b; Mul a b > c; Add c v > y",
      "Sqrt x > a; Tanh a > b; Mul b v > y",
      "Sigmoid x > a; Sin a > b; Cos b > c; Sub c v > y",
      "Sub x v > a; Relu a > b; Mul b b > y",
      "Mul x x > y",
  };
  const double values[COUNT + 2] = {0.7, 1.3, 2.1, 0.4, 1.1, 0.6};
  const double step = 1e-5;
  for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
    wire_bytes bytes = {0};
    double gradients[COUNT + 2], moved[COUNT + 2];
    nd4c_model *model = open_model(&bytes, models[m]);
    (void)run(model, values, gradients);
    for (int i = 0; i < COUNT + 2; i++) {
      memcpy(moved, values, sizeof moved);
      moved[i] = values[i] + step;
      double above = run(model, moved, NULL);
      moved[i] = values[i] - step;
      double difference = (above - run(model, moved, NULL)) / (2 * step);
      if (!(fabs(difference - gradients[i]) <= 1e-7 * (1 + fabs(difference)))) {
        fail_msg("%s: gradient %d is %.12g, by differences %.12g", models[m], i, gradients[i], difference);
      }
    }
    nd4c_model_close(model);
  }
}

static void refuses_what_it_cannot_differentiate(void **state) {
  (void)state;
  wire_bytes bytes = {0};
  nd4c_model *model = open_model(&bytes, "Floor x > a; Add a v > y");
  const char *names[] = {"x", "v"};
  nd4c_array *arrays[2] = {0};
  nd4c_array *outputs[3] = {0};
  expect_ok(nd4c_array_zeros(ND4C_FLOAT64, 2, square, NULL, &arrays[0]));
  expect_ok(nd4c_array_zeros(ND4C_FLOAT64, 1, row, NULL, &arrays[1]));
  const nd4c_array *inputs[] = {arrays[0], arrays[1]};
  assert_int_equal(nd4c_model_run(model, NULL, names, inputs, 2, outputs, 3), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "the gradient of 'Floor' is not supported"));
  nd4c_array_release(arrays[0]);
  nd4c_array_release(arrays[1]);
  nd4c_model_close(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_those_of_the_model),
                                     cmocka_unit_test(refuses_what_it_cannot_differentiate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
