/* Graphs with branches, loops, scans and calls, which tests run on the host and on other devices. */
#ifndef ND4C_TESTS_CONTROL_CASES_H
#define ND4C_TESTS_CONTROL_CASES_H

#include "control_check.h"

static const int64_t pair[] = {3, 4};

/* -- bodies -------------------------------------------------------------------------------------------------------- */

/* x, w -> op(x) * w + x */
static nd4c_graph *branch_body(nd4c_op op) {
  nd4c_graph *graph = control_graph();
  nd4c_value x = control_input(graph, ND4C_FLOAT32, 2, pair), w = control_input(graph, ND4C_FLOAT32, 1, &pair[1]);
  control_output(
      graph, check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_multiply, check_unary(graph, op, x), w), x));
  return graph;
}

/* round, a, b, w -> b, tanh(a) * w + b + round: the carried values change places. */
static nd4c_graph *swap_body(void) {
  nd4c_graph *graph = control_graph();
  nd4c_value round = control_input(graph, ND4C_INT64, 0, NULL);
  nd4c_value a = control_input(graph, ND4C_FLOAT32, 2, pair), b = control_input(graph, ND4C_FLOAT32, 2, pair);
  nd4c_value w = control_input(graph, ND4C_FLOAT32, 1, &pair[1]);
  const nd4c_attr attr = {"dtype", {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT32}};
  nd4c_value number = check_op(graph, ND4C_OP_cast, &round, 1, &attr, 1);
  nd4c_value next = check_binary(graph, ND4C_OP_multiply, check_unary(graph, ND4C_OP_tanh, a), w);
  next = check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_add, next, b), number);
  control_output(graph, b);
  control_output(graph, next);
  return graph;
}

/* round, n, x, limit -> n < limit, n + 1, x * 0.5 (, sum of x): a loop that data ends. */
static nd4c_graph *while_body(bool collects) {
  nd4c_graph *graph = control_graph();
  (void)control_input(graph, ND4C_INT64, 0, NULL);
  nd4c_value n = control_input(graph, ND4C_INT64, 0, NULL), x = control_input(graph, ND4C_FLOAT32, 2, pair);
  nd4c_value limit = control_input(graph, ND4C_INT64, 0, NULL);
  nd4c_value next = check_binary(graph, ND4C_OP_add, n, control_constant(graph, control_int(1)));
  control_output(graph, check_binary(graph, ND4C_OP_less, next, limit));
  control_output(graph, next);
  control_output(graph, check_binary(graph, ND4C_OP_multiply, x, check_scalar(graph, 0.5)));
  if (collects) {
    control_output(graph, check_unary(graph, ND4C_OP_sin, x));
  }
  return graph;
}

/* -- graphs -------------------------------------------------------------------------------------------------------- */

/* What a case is built with: a number of rounds, or which branch. */
typedef nd4c_graph *(*build_function)(int64_t number);

static nd4c_graph *build_if(int64_t number) {
  (void)number;
  nd4c_graph *graph = control_graph(), *then_body = branch_body(ND4C_OP_tanh), *else_body = branch_body(ND4C_OP_exp);
  nd4c_value condition = control_input(graph, ND4C_BOOL, 0, NULL), x = control_input(graph, ND4C_FLOAT32, 2, pair);
  nd4c_value w = control_input(graph, ND4C_FLOAT32, 1, &pair[1]), y = ND4C_VALUE_NONE;
  x = check_unary(graph, ND4C_OP_sin, x);
  CHECK_OK(nd4c_graph_if(graph, condition, then_body, else_body, (nd4c_value[]){x, w}, 2, "branch", &y, 1));
  control_output(graph, y);
  control_output(graph, check_unary(graph, ND4C_OP_negative, y));
  nd4c_graph_destroy(then_body);
  nd4c_graph_destroy(else_body);
  return graph;
}

/* A loop of a fixed number of rounds. */
static nd4c_graph *build_fixed(int64_t number) {
  nd4c_graph *graph = control_graph(), *body = swap_body();
  nd4c_value carried[] = {control_input(graph, ND4C_FLOAT32, 2, pair), control_input(graph, ND4C_FLOAT32, 2, pair)};
  nd4c_value w = check_constant(graph, 1, &pair[1], 7, -1, 1), outputs[2];
  const nd4c_loop_options options = {.struct_size = sizeof options,
                                     .carried_count = 2,
                                     .carried = carried,
                                     .captured_count = 1,
                                     .captured = &w,
                                     .rounds = &number};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "fixed", outputs, 2));
  control_output(graph, outputs[0]);
  control_output(graph, check_binary(graph, ND4C_OP_add, outputs[1], carried[0]));
  nd4c_graph_destroy(body);
  return graph;
}

/* The number of rounds is an input; the first carried value is transposed on the way in. */
static nd4c_graph *build_trips(int64_t number) {
  (void)number;
  nd4c_graph *graph = control_graph(), *body = swap_body();
  nd4c_value trips = control_input(graph, ND4C_INT64, 0, NULL);
  nd4c_value turned = control_input(graph, ND4C_FLOAT32, 2, (int64_t[]){4, 3});
  nd4c_value carried[] = {check_op(graph, ND4C_OP_transpose, &turned, 1, NULL, 0),
                          control_input(graph, ND4C_FLOAT32, 2, pair)};
  nd4c_value w = control_input(graph, ND4C_FLOAT32, 1, &pair[1]), outputs[2];
  const nd4c_loop_options options = {.struct_size = sizeof options,
                                     .carried_count = 2,
                                     .carried = carried,
                                     .captured_count = 1,
                                     .captured = &w,
                                     .trips = &trips};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "trips", outputs, 2));
  control_output(graph, outputs[1]);
  nd4c_graph_destroy(body);
  return graph;
}

/* The body decides, and at most `number` rounds are collected. */
static nd4c_graph *build_while(int64_t number) {
  nd4c_graph *graph = control_graph(), *body = while_body(number > 0);
  nd4c_value limit = control_input(graph, ND4C_INT64, 0, NULL), x = control_input(graph, ND4C_FLOAT32, 2, pair);
  nd4c_value zero = control_constant(graph, control_int(0)), outputs[3];
  nd4c_value condition = check_binary(graph, ND4C_OP_less, zero, limit);
  const nd4c_loop_options options = {.struct_size = sizeof options,
                                     .carried_count = 2,
                                     .carried = (nd4c_value[]){zero, x},
                                     .captured_count = 1,
                                     .captured = &limit,
                                     .decides = true,
                                     .condition = &condition,
                                     .rounds = number > 0 ? &number : NULL};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, NULL, outputs, number > 0 ? 3 : 2));
  for (int32_t i = 0; i < (number > 0 ? 3 : 2); i++) {
    control_output(graph, outputs[i]);
  }
  nd4c_graph_destroy(body);
  return graph;
}

/* s, x -> s + x, s * x */
static nd4c_graph *sum_body(void) {
  nd4c_graph *graph = control_graph();
  nd4c_value s = control_input(graph, ND4C_FLOAT32, 1, &pair[1]), x = control_input(graph, ND4C_FLOAT32, 1, &pair[1]);
  control_output(graph, check_binary(graph, ND4C_OP_add, s, x));
  control_output(graph, check_binary(graph, ND4C_OP_multiply, s, x));
  return graph;
}

/* A scan over axis `number` of a 4 x 4; 2 and 3: backward. */
static nd4c_graph *build_scan(int64_t number) {
  nd4c_graph *graph = control_graph(), *body = sum_body();
  nd4c_value s = control_input(graph, ND4C_FLOAT32, 1, &pair[1]);
  nd4c_value x = control_input(graph, ND4C_FLOAT32, 2, (int64_t[]){4, 4}), outputs[2];
  const int32_t axis = (int32_t)number % 2;
  const bool backward = number >= 2, forward = false;
  const nd4c_scan_options options = {.struct_size = sizeof options,
                                     .carried_count = 1,
                                     .carried = &s,
                                     .scanned_count = 1,
                                     .scanned = &x,
                                     .axes = &axis,
                                     .backward = &backward,
                                     .output_axes = &axis,
                                     .output_backward = axis == 1 ? &backward : &forward};
  CHECK_OK(nd4c_graph_scan(graph, body, &options, "scan", outputs, 2));
  control_output(graph, outputs[0]);
  control_output(graph, outputs[1]);
  nd4c_graph_destroy(body);
  return graph;
}

/* A loop in a branch in a loop. round, x, w */
static nd4c_graph *nested_body(void) {
  nd4c_graph *inner = control_graph(), *loop = control_graph(), *plain = branch_body(ND4C_OP_sin),
             *graph = control_graph();
  nd4c_value round = control_input(inner, ND4C_INT64, 0, NULL), x = control_input(inner, ND4C_FLOAT32, 2, pair);
  nd4c_value w = control_input(inner, ND4C_FLOAT32, 1, &pair[1]), y = ND4C_VALUE_NONE;
  (void)round;
  control_output(inner, check_binary(inner, ND4C_OP_subtract, check_unary(inner, ND4C_OP_tanh, x), w));
  x = control_input(loop, ND4C_FLOAT32, 2, pair);
  w = control_input(loop, ND4C_FLOAT32, 1, &pair[1]);
  const int64_t three = 3;
  const nd4c_loop_options options = {.struct_size = sizeof options,
                                     .carried_count = 1,
                                     .carried = &x,
                                     .captured_count = 1,
                                     .captured = &w,
                                     .rounds = &three};
  CHECK_OK(nd4c_graph_loop(loop, inner, &options, "inner", &y, 1));
  control_output(loop, y);
  round = control_input(graph, ND4C_INT64, 0, NULL);
  x = control_input(graph, ND4C_FLOAT32, 2, pair);
  w = control_input(graph, ND4C_FLOAT32, 1, &pair[1]);
  nd4c_value even = check_binary(graph, ND4C_OP_less, round, control_constant(graph, control_int(2)));
  CHECK_OK(nd4c_graph_if(graph, even, loop, plain, (nd4c_value[]){x, w}, 2, "branch", &y, 1));
  control_output(graph, y);
  nd4c_graph_destroy(inner);
  nd4c_graph_destroy(loop);
  nd4c_graph_destroy(plain);
  return graph;
}

static nd4c_graph *build_nested(int64_t number) {
  nd4c_graph *graph = control_graph(), *body = nested_body();
  nd4c_value x = control_input(graph, ND4C_FLOAT32, 2, pair), w = control_input(graph, ND4C_FLOAT32, 1, &pair[1]), y;
  const nd4c_loop_options options = {.struct_size = sizeof options,
                                     .carried_count = 1,
                                     .carried = &x,
                                     .captured_count = 1,
                                     .captured = &w,
                                     .rounds = &number};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "outer", &y, 1));
  control_output(graph, y);
  nd4c_graph_destroy(body);
  return graph;
}

/* A function called `number` times, one call in another function. */
static nd4c_graph *build_calls(int64_t number) {
  nd4c_graph *graph = control_graph(), *body = branch_body(ND4C_OP_tanh), *outer = control_graph();
  nd4c_function *layer = NULL, *two = NULL;
  CHECK_OK(nd4c_function_create("layer", body, &layer));
  nd4c_value x = control_input(outer, ND4C_FLOAT32, 2, pair), w = control_input(outer, ND4C_FLOAT32, 1, &pair[1]);
  CHECK_OK(nd4c_graph_call(outer, layer, (nd4c_value[]){x, w}, 2, "first", &x, 1));
  CHECK_OK(nd4c_graph_call(outer, layer, (nd4c_value[]){x, w}, 2, "second", &x, 1));
  control_output(outer, x);
  CHECK_OK(nd4c_function_create("two", outer, &two));
  x = control_input(graph, ND4C_FLOAT32, 2, pair);
  w = control_input(graph, ND4C_FLOAT32, 1, &pair[1]);
  for (int64_t i = 0; i < number; i++) {
    CHECK_OK(nd4c_graph_call(graph, i % 2 == 0 ? two : layer, (nd4c_value[]){x, w}, 2, "call", &x, 1));
  }
  control_output(graph, x);
  nd4c_function_release(layer);
  nd4c_function_release(two);
  nd4c_graph_destroy(body);
  nd4c_graph_destroy(outer);
  return graph;
}

/* A body that returns an input, a constant and a view; an output of the loop that nothing reads. */
static nd4c_graph *build_passed(int64_t number) {
  nd4c_graph *graph = control_graph(), *body = control_graph();
  (void)control_input(body, ND4C_INT64, 0, NULL);
  nd4c_value a = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){3, 3}), outputs[5];
  nd4c_value b = control_input(body, ND4C_FLOAT32, 2, (int64_t[]){3, 3});
  control_output(body, a);
  control_output(body, check_op(body, ND4C_OP_transpose, &b, 1, NULL, 0));
  control_output(body, b);
  control_output(body, b);
  control_output(body, check_scalar(body, 2.5));
  a = control_input(graph, ND4C_FLOAT32, 2, (int64_t[]){3, 3});
  const nd4c_loop_options options = {
      .struct_size = sizeof options, .carried_count = 2, .carried = (nd4c_value[]){a, a}, .rounds = &number};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "passed", outputs, 5));
  for (int32_t i = 0; i < 5; i++) {
    if (i != 2) {
      control_output(graph, outputs[i]);
    }
  }
  nd4c_graph_destroy(body);
  return graph;
}

/* Values without elements. */
static nd4c_graph *build_empty(int64_t number) {
  nd4c_graph *graph = control_graph(), *body = control_graph();
  const int64_t none[] = {0, 4};
  (void)control_input(body, ND4C_INT64, 0, NULL);
  control_output(body, check_unary(body, ND4C_OP_tanh, control_input(body, ND4C_FLOAT32, 2, none)));
  nd4c_value x = control_input(graph, ND4C_FLOAT32, 2, none), y;
  const nd4c_loop_options options = {
      .struct_size = sizeof options, .carried_count = 1, .carried = &x, .rounds = &number};
  CHECK_OK(nd4c_graph_loop(graph, body, &options, "empty", &y, 1));
  control_output(graph, y);
  nd4c_graph_destroy(body);
  return graph;
}

/* -- cases --------------------------------------------------------------------------------------------------------- */

typedef struct control_case {
  const char *name;
  build_function build;
  int64_t built;   /* with which number */
  int64_t leading; /* the bool or int64 input, where there is one */
} control_case;

static const control_case control_cases[] = {
    {"if, true", build_if, 0, 1},
    {"if, false", build_if, 0, 0},
    {"no round", build_fixed, 0, 0},
    {"one round", build_fixed, 1, 0},
    {"two rounds", build_fixed, 2, 0},
    {"five rounds", build_fixed, 5, 0},
    {"trips 0", build_trips, 0, 0},
    {"trips 1", build_trips, 0, 1},
    {"trips 2", build_trips, 0, 2},
    {"trips 9", build_trips, 0, 9},
    {"trips below 0", build_trips, 0, -3},
    {"while, no round", build_while, 0, 0},
    {"while, one round", build_while, 0, 1},
    {"while, 20 rounds", build_while, 0, 20},
    {"collected, none of 6", build_while, 6, 0},
    {"collected, 4 of 6", build_while, 6, 4},
    {"collected, 6 of 6", build_while, 6, 9},
    {"scan", build_scan, 0, 0},
    {"scan of axis 1", build_scan, 1, 0},
    {"scan backward", build_scan, 2, 0},
    {"scan of axis 1 backward", build_scan, 3, 0},
    {"nested", build_nested, 4, 0},
    {"calls", build_calls, 3, 0},
    {"passed, no round", build_passed, 0, 0},
    {"passed, three rounds", build_passed, 3, 0},
    {"empty", build_empty, 3, 0},
};

static inline void control_make_inputs(const nd4c_graph *graph, int64_t leading, uint64_t seed, nd4c_array **inputs) {
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    const nd4c_graph_value *value = &graph->values[graph->inputs.items[i].value];
    inputs[i] = value->dtype == ND4C_BOOL ? control_bool(leading != 0)
                : value->dtype == ND4C_INT64
                    ? control_int(leading)
                    : check_array(value->dtype, value->rank, value->shape, seed + (uint64_t)i, -1, 1);
  }
}

enum { CONTROL_CASES = sizeof control_cases / sizeof *control_cases };

#endif
