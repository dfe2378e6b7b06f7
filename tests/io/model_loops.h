/* Models with one Loop, for the tests of its rounds: each case gives what it gives interpreted (all_intermediates), at
 * every number of rounds. */
#ifndef ND4C_TESTS_IO_MODEL_LOOPS_H
#define ND4C_TESTS_IO_MODEL_LOOPS_H

#include "base/alloc.h"
#include "model_parts.h"

enum { WIDE = 4 };

static const int64_t wide[] = {WIDE};

/* A model of x [4] (or [n]), k (int64, 0-d: the number of rounds) and c (float, 0-d), with outputs y and z. Constants:
 * one and half (float, 0-d), w [4, 4], i0 and i1 (int64, 0-d), v0, v1 and v2
 * (int64, [1]). */
typedef struct loop_case {
  const char *before, *node, *nodes, *outputs; /* outputs: of the body, which has the inputs i, go and v */
  const char *reported;
} loop_case;

static const char planned[] = "rounds in a plan: node ";

static inline void open_case(example *e, const loop_case *given, const nd4c_model_options *options) {
  static const float half = 0.5F, single = 1;
  static const int64_t weights[] = {WIDE, WIDE}, numbers[] = {0, 1, 2};
  wire_bytes graph = {0}, body = {0};
  if (given->before != NULL) {
    build_nodes(&graph, given->before);
  }
  build_nodes(&body, given->nodes);
  build_names(&body, 11, "i go v");
  build_names(&body, 12, given->outputs);
  build_holder(&graph, given->node, "body", &body, NULL, NULL);
  build_initializer(&graph, "half", FLOAT, 0, NULL, &half, sizeof half);
  build_initializer(&graph, "one", FLOAT, 0, NULL, &single, sizeof single);
  build_initializer(&graph, "i1f", FLOAT, 0, NULL, &single, sizeof single);
  build_initializer(&graph, "i0", INT64, 0, NULL, &numbers[0], sizeof *numbers);
  build_initializer(&graph, "i1", INT64, 0, NULL, &numbers[1], sizeof *numbers);
  build_initializer(&graph, "v0", INT64, 1, one, &numbers[0], sizeof *numbers);
  build_initializer(&graph, "v1", INT64, 1, one, &numbers[1], sizeof *numbers);
  build_initializer(&graph, "v2", INT64, 1, one, &numbers[2], sizeof *numbers);
  add_noise(&graph, "w", 2, weights, 5);
  build_value(&graph, 11, "x", FLOAT, 1, (const int64_t[]){-1});
  build_value(&graph, 11, "k", INT64, 0, NULL);
  build_value(&graph, 11, "c", FLOAT, 0, NULL);
  build_name(&graph, 12, "y");
  if (strstr(given->node, " z") != NULL) {
    build_name(&graph, 12, "z");
  }
  e->bytes = (wire_bytes){0};
  build_model(&e->bytes, &graph, 16);
  nd4c_model_options own = options != NULL ? *options : (nd4c_model_options){.struct_size = sizeof own};
  if (nd4c_model_open_memory(e->bytes.bytes, e->bytes.size, &own, NULL, NULL, &e->model) != ND4C_OK) {
    fail_msg("%s: %s", given->nodes, nd4c_error_message());
  }
  own.all_intermediates = true;
  assert_int_equal(nd4c_model_open_memory(e->bytes.bytes, e->bytes.size, &own, NULL, NULL, &e->whole), ND4C_OK);
}

static inline int count_reported(const nd4c_model *model, const char *part) {
  char *text = NULL;
  int count = 0;
  assert_int_equal(nd4c_model_report(model, &text), ND4C_OK);
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    count++;
  }
  nd4c_free(text);
  return count;
}

static int64_t fails_at = -1; /* the allocation of a run that fails; negative: none */

static inline nd4c_status run_loop(nd4c_model *model, int64_t length, int64_t k, double c, nd4c_array **y) {
  static const char *const names[] = {"x", "k", "c"};
  nd4c_array *inputs[3] = {make_x(1, &length), NULL, NULL}, *outputs[16] = {NULL};
  const int32_t count = nd4c_model_output_count(model);
  assert_true(count <= 16);
  assert_int_equal(nd4c_array_scalar(ND4C_INT64, (double)k, NULL, &inputs[1]), ND4C_OK);
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, c, NULL, &inputs[2]), ND4C_OK);
  nd4c_allocation_fail_at(fails_at);
  const nd4c_status status = nd4c_model_run(model, NULL, names, (const nd4c_array *const *)inputs, 3, outputs, count);
  nd4c_allocation_fail_at(-1);
  for (int32_t i = 0; i < 16; i++) {
    if (i < 2) {
      y[i] = outputs[i];
    } else {
      nd4c_array_release(outputs[i]);
    }
  }
  for (int i = 0; i < 3; i++) {
    nd4c_array_release(inputs[i]);
  }
  return status;
}

static inline void drop(nd4c_array **y) {
  nd4c_array_release(y[0]);
  nd4c_array_release(y[1]);
}

static inline void compare(const example *e, const loop_case *given, int64_t length, int64_t k, double c) {
  nd4c_array *y[2] = {NULL}, *expected[2] = {NULL};
  const int32_t count = nd4c_model_output_count(e->model);
  if (run_loop(e->whole, length, k, c, expected) != ND4C_OK || run_loop(e->model, length, k, c, y) != ND4C_OK) {
    fail_msg("%s, %d rounds: %s", given->nodes, (int)k, nd4c_error_message());
  }
  for (int32_t i = 0; i < count; i++) {
    if (!are_close(y[i], expected[i])) {
      fail_msg("%s, %d rounds: output %d is wrong", given->nodes, (int)k, (int)i);
    }
  }
  drop(y);
  if (count == 1) { /* the rest are intermediate values */
    nd4c_array_release(expected[1]);
    nd4c_array_release(expected[0]);
  } else {
    drop(expected);
  }
}

/* Also more rounds than there is memory for at first, and as many as there is. */
static inline void compare_cases(const loop_case *cases, size_t count) {
  static const int64_t rounds[] = {1, 0, 2, 17, 16, 1, 40, 3};
  for (size_t i = 0; i < count; i++) {
    example e;
    open_case(&e, &cases[i], NULL);
    for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++) {
      compare(&e, &cases[i], WIDE, rounds[k], (double)(4 * rounds[k]));
    }
    compare(&e, &cases[i], 4, 5, -100);
    expect_reported(e.model, cases[i].reported);
    assert_int_equal(count_reported(e.whole, planned), 0);
    close_example(&e);
  }
}

#endif
