/* Graphs inside nodes, functions, and models that are interpreted because they need the values of inputs. */
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

static const int64_t two[] = {2};

static void expect_status(nd4c_status given, nd4c_status expected, const char *words) {
  if (given != expected || (expected != ND4C_OK && strstr(nd4c_error_message(), words) == NULL)) {
    fail_msg("%s \"%s\"; expected %s \"%s\"", nd4c_status_name(given), nd4c_error_message(), nd4c_status_name(expected),
             words);
  }
}

/* -- building -------------------------------------------------------------------------------------------------- */

/* inputs: float32 [2] "x" and a 0-d value "c" of `type`; output "y". */
static nd4c_model *open_model(wire_bytes *bytes, wire_bytes *graph, int type) {
  nd4c_model *model = NULL;
  build_value(graph, 11, "x", 1, 1, two);
  build_value(graph, 11, "c", type, 0, NULL);
  build_name(graph, 12, "y");
  build_model(bytes, graph, 16);
  expect_status(nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, &model), ND4C_OK, "");
  return model;
}

static nd4c_status run(nd4c_model *model, nd4c_dtype type, double c, nd4c_array **y) {
  const char *names[] = {"x", "c"};
  nd4c_array *arrays[2] = {0};
  const float x[] = {1, 2};
  expect_status(nd4c_array_from_data(ND4C_FLOAT32, 1, two, x, NULL, &arrays[0]), ND4C_OK, "");
  expect_status(nd4c_array_scalar(type, c, NULL, &arrays[1]), ND4C_OK, "");
  const nd4c_array *inputs[] = {arrays[0], arrays[1]};
  nd4c_status status = nd4c_model_run(model, NULL, names, inputs, 2, y, 1);
  nd4c_array_release(arrays[0]);
  nd4c_array_release(arrays[1]);
  return status;
}

static void expect_values(nd4c_model *model, nd4c_dtype type, double c, int count, const float *expected) {
  nd4c_array *y = NULL;
  float values[16];
  expect_status(run(model, type, c, &y), ND4C_OK, "");
  assert_int_equal(nd4c_array_size(y), count);
  expect_status(nd4c_array_read(y, values, (size_t)count * sizeof *values), ND4C_OK, "");
  for (int i = 0; i < count; i++) {
    if (values[i] != expected[i]) {
      fail_msg("element %d is %g, expected %g", i, (double)values[i], (double)expected[i]);
    }
  }
  nd4c_array_release(y);
}

/* -- If ------------------------------------------------------------------------------------------------------- */

static void if_takes_the_branch_of_the_input(void **state) {
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, yes = {0}, no = {0};
  char *report = NULL;
  build_nodes(&yes, "Add x x > a"); /* x of the graph around */
  build_name(&yes, 12, "a");
  build_nodes(&no, "Neg d > b");
  build_name(&no, 12, "b");
  build_nodes(&graph, "Add x x > d");
  build_holder(&graph, "If c > y", "then_branch", &yes, "else_branch", &no);
  nd4c_model *model = open_model(&bytes, &graph, 9);
  for (int i = 0; i < 2; i++) {
    expect_values(model, ND4C_BOOL, 1, 2, (const float[]){2, 4});
    expect_values(model, ND4C_BOOL, 0, 2, (const float[]){-2, -4});
  }
  expect_status(nd4c_model_report(model, &report), ND4C_OK, "");
  assert_null(strstr(report, "interpreted, node after node"));
  assert_non_null(strstr(report, "if: "));
  nd4c_free(report);
  nd4c_model_close(model);
}

/* Branches of different shapes cannot be a node of a graph. */
static void branches_of_different_shapes_are_interpreted(void **state) {
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, yes = {0}, no = {0};
  char *report = NULL;
  build_nodes(&yes, "Concat x x > a axis=0");
  build_name(&yes, 12, "a");
  build_nodes(&no, "Neg x > b");
  build_name(&no, 12, "b");
  build_holder(&graph, "If c > y", "then_branch", &yes, "else_branch", &no);
  nd4c_model *model = open_model(&bytes, &graph, 9);
  expect_values(model, ND4C_BOOL, 1, 4, (const float[]){1, 2, 1, 2});
  expect_values(model, ND4C_BOOL, 0, 2, (const float[]){-1, -2});
  expect_status(nd4c_model_report(model, &report), ND4C_OK, "");
  assert_non_null(strstr(report, "interpreted, node after node"));
  assert_non_null(strstr(report, "node 0 (If): if: else: output 0 has shape (2,), expected (4,)"));
  nd4c_free(report);
  nd4c_model_close(model);
}

/* The interpreter writes a result into the caller's array if the array fits, and otherwise refuses. */
static void interpreted_results_go_where_they_belong(void **state) {
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, yes = {0}, no = {0};
  build_nodes(&yes, "Concat x x > a axis=0");
  build_name(&yes, 12, "a");
  build_nodes(&no, "Neg x > b");
  build_name(&no, 12, "b");
  build_holder(&graph, "If c > y", "then_branch", &yes, "else_branch", &no);
  nd4c_model *model = open_model(&bytes, &graph, 9);
  nd4c_array *place = NULL;
  nd4c_array *wrong = NULL;
  double value = 0;
  expect_status(nd4c_array_zeros(ND4C_FLOAT32, 1, two, NULL, &place), ND4C_OK, "");
  expect_status(nd4c_array_full(ND4C_FLOAT32, 1, (const int64_t[]){3}, 5, NULL, &wrong), ND4C_OK, "");
  nd4c_array *kept = place;
  expect_status(run(model, ND4C_BOOL, 0, &place), ND4C_OK, "");
  assert_ptr_equal(place, kept);
  expect_status(nd4c_array_item(place, (const int64_t[]){1}, &value), ND4C_OK, "");
  assert_true(value == -2);
  expect_status(run(model, ND4C_BOOL, 1, &wrong), ND4C_SHAPE, "output 'y': the array given is float32 (3,)");
  expect_status(nd4c_array_item(wrong, (const int64_t[]){2}, &value), ND4C_OK, "");
  assert_true(value == 5);
  nd4c_array_release(place);
  nd4c_array_release(wrong);
  nd4c_model_close(model);
}

/* -- Loop ----------------------------------------------------------------------------------------------------- */

/* Doubles v while a number of it is below c: data ends the loop. */
static void data_ends_loops(void **state) {
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, body = {0};
  char *report = NULL;
  build_nodes(&body, "Add v v > w; ReduceMax w > m keepdims=0; Less m c > on; Neg w > unread");
  build_loop_names(&body, "w unread");
  build_nodes(&graph, "Abs x > start");
  build_holder(&graph, "Loop - - start > last", "body", &body, NULL, NULL);
  build_nodes(&graph, "Add last x > y");
  nd4c_model *model = open_model(&bytes, &graph, 1);
  expect_values(model, ND4C_FLOAT32, 0, 2, (const float[]){3, 6});
  expect_values(model, ND4C_FLOAT32, 100, 2, (const float[]){65, 130});
  expect_status(nd4c_model_report(model, &report), ND4C_OK, "");
  assert_null(strstr(report, "interpreted, node after node"));
  assert_non_null(strstr(report, "loop: "));
  nd4c_free(report);
  nd4c_model_close(model);
}

/* A branch in a loop reads values and constants of both graphs around it, which later nodes read again. */
static void inner_graphs_read_what_lies_around(void **state) {
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, body = {0}, yes = {0}, no = {0};
  char *report = NULL;
  build_nodes(&yes, "Mul v kf > p; Add p x > a");
  build_name(&yes, 12, "a");
  build_nodes(&no, "Add v d > b");
  build_name(&no, 12, "b");
  build_nodes(&body, "ReduceMax v > m keepdims=0; Less m kf > small; Less m c > on");
  build_holder(&body, "If small > w", "then_branch", &yes, "else_branch", &no);
  build_loop_names(&body, "w");
  build_nodes(&graph, "Add x x > d; Constant > k value_int=3; Cast k > kf to=1");
  build_holder(&graph, "Loop - - x > last", "body", &body, NULL, NULL);
  build_nodes(&graph, "Mul last kf > t; Sub t d > y");
  nd4c_model *model = open_model(&bytes, &graph, 1);
  /* rounds from (1, 2): then (4, 8), else (6, 12), else (8, 16), where 12 is not below 10 any more */
  expect_values(model, ND4C_FLOAT32, 10, 2, (const float[]){8 * 3 - 2, 16 * 3 - 4});
  expect_values(model, ND4C_FLOAT32, 0, 2, (const float[]){4 * 3 - 2, 8 * 3 - 4});
  expect_status(nd4c_model_report(model, &report), ND4C_OK, "");
  assert_null(strstr(report, "interpreted, node after node"));
  nd4c_free(report);
  nd4c_model_close(model);
}

/* Loops whose condition, or whose body, ends them at once. c is a bool, or the number of rounds. */
static void loops_end_when_they_must(void **state) {
  (void)state;
  static const struct {
    const char *decision, *node; /* of the body, which doubles v; of the loop */
    int type;                    /* of c, as the format numbers dtypes */
    nd4c_dtype dtype;
    double c;
    float first;
  } rows[] = {
      /* a condition that is constantly false, and a body that decides from data */
      {"ReduceMax v > m keepdims=0; Less m kf > on", "Loop - no x > y", 7, ND4C_INT64, 3, 1},
      {"ReduceMax v > m keepdims=0; Less m kf > on", "Loop n no x > y", 7, ND4C_INT64, 3, 1},
      {"ReduceMax v > m keepdims=0; Less m kf > on", "Loop c no x > y", 7, ND4C_INT64, 3, 1},
      {"ReduceMax v > m keepdims=0; Less m kf > on", "Loop c yes x > y", 7, ND4C_INT64, 3, 8},
      {"Identity yes > on", "Loop c no x > y", 7, ND4C_INT64, 3, 1},
      /* a body that never asks for another round, and what begins the loop is known in the run only */
      {"Identity no > on", "Loop n c x > y", 9, ND4C_BOOL, 1, 2},
      {"Identity no > on", "Loop n c x > y", 9, ND4C_BOOL, 0, 1},
      {"Identity no > on", "Loop none c x > y", 9, ND4C_BOOL, 1, 1},
      {"Identity no > on", "Loop - c x > y", 9, ND4C_BOOL, 1, 2},
      {"Identity no > on", "Loop - c x > y", 9, ND4C_BOOL, 0, 1},
      {"Identity no > on", "Loop c - x > y", 7, ND4C_INT64, 3, 2},
      {"Identity no > on", "Loop c - x > y", 7, ND4C_INT64, 0, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    wire_bytes bytes = {0}, graph = {0}, body = {0};
    char *report = NULL;
    build_nodes(&body, rows[i].decision);
    build_nodes(&body, "Add v v > w");
    build_loop_names(&body, "w");
    build_nodes(&graph,
                "Constant > n value_int=100; Constant > none value_int=0; Constant > k value_int=9; "
                "Cast k > kf to=1; Less none n > yes; Less n none > no");
    build_holder(&graph, rows[i].node, "body", &body, NULL, NULL);
    nd4c_model *model = open_model(&bytes, &graph, rows[i].type);
    expect_values(model, rows[i].dtype, rows[i].c, 2, (const float[]){rows[i].first, 2 * rows[i].first});
    expect_status(nd4c_model_report(model, &report), ND4C_OK, "");
    if (strstr(report, "interpreted, node after node") != NULL) {
      fail_msg("row %zu: %s", i, report);
    }
    nd4c_free(report);
    nd4c_model_close(model);
  }
}

/* Loops and scans without any round, whose bodies do not declare what they collect. c is the number of rounds. */
static void no_round_gives_empty_lists(void **state) {
  (void)state;
  static const char *const nodes[] = {"Loop none - x > last all most", "Loop c - x > last all most",
                                      "Scan x empty > last all most num_scan_inputs=1"};
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
    const bool is_scan = strncmp(nodes[i], "Scan", 4) == 0;
    wire_bytes bytes = {0}, graph = {0}, body = {0};
    build_nodes(&body, is_scan ? "Add v e > w" : "Identity go > on; Add v v > w");
    build_nodes(&body, "Identity w > s; ReduceMax w > m keepdims=0");
    if (is_scan) {
      build_names(&body, 11, "v e");
      build_names(&body, 12, "w s m");
    } else {
      build_loop_names(&body, "w s m");
    }
    build_nodes(&graph, "Constant > none value_int=0; Shape x > s; Sub s s > z; ConstantOfShape z > empty");
    build_holder(&graph, nodes[i], "body", &body, NULL, NULL);
    build_nodes(&graph,
                "Size all > a; Size most > b; Add a b > ab; Cast ab > f to=1; Shape all > sa; Shape most > sm; "
                "ReduceSum sa > na keepdims=0; ReduceSum sm > nm keepdims=0; Add na nm > nn; Cast nn > g to=1; "
                "Add last f > h; Add h g > y");
    nd4c_model *model = open_model(&bytes, &graph, 7);
    expect_values(model, ND4C_INT64, 0, 2, (const float[]){1 + 2, 2 + 2}); /* [0, 2] and [0] */
    nd4c_model_close(model);
  }
}

/* What the body would give cannot be told if it cannot be imported. */
static void no_round_tells_why_the_body_fails(void **state) {
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, body = {0};
  nd4c_array *y = NULL;
  build_nodes(&body, "Identity go > on; Identity v > w; Concat v i > s axis=0");
  build_loop_names(&body, "w s");
  build_nodes(&graph, "Constant > none value_int=0");
  build_holder(&graph, "Loop none - x > y all", "body", &body, NULL, NULL);
  nd4c_model *model = open_model(&bytes, &graph, 7);
  expect_status(run(model, ND4C_INT64, 0, &y), ND4C_SHAPE,
                "no round is run, and the body, which does not declare all outputs, was tried: ");
  assert_null(y);
  nd4c_model_close(model);
}

/* Many rounds in one plan: the number of rounds is a constant, and one carried value is collected. */
static void many_rounds_are_a_node(void **state) {
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, body = {0};
  char *report = NULL;
  build_nodes(&body, "Add v x > w; Identity go > on; Identity w > s; ReduceMax w > m keepdims=0");
  build_loop_names(&body, "w s m");
  build_nodes(&graph, "Constant > n value_int=1000");
  build_holder(&graph, "Loop n - x > last all most", "body", &body, NULL, NULL);
  build_nodes(&graph,
              "ReduceMax all > high keepdims=0; ReduceMax most > top keepdims=0; Add high last > sum; "
              "Add sum top > y");
  nd4c_model *model = open_model(&bytes, &graph, 1);
  expect_values(model, ND4C_FLOAT32, 0, 2, (const float[]){1001 + 2002 + 2002, 2002 + 2002 + 2002});
  expect_status(nd4c_model_report(model, &report), ND4C_OK, "");
  assert_null(strstr(report, "interpreted, node after node"));
  nd4c_free(report);
  nd4c_model_close(model);
}

/* Short loops in short loops: 2^14 rounds of the innermost one, which no import can take one by one. */
static void nested_short_loops_stay_short(void **state) {
  enum { DEPTH = 14 };
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, bodies[DEPTH + 1] = {{0}};
  char text[80];
  for (int k = DEPTH; k > 0; k--) {
    (void)snprintf(text, sizeof text, "Identity go%d > on%d", k, k);
    build_nodes(&bodies[k], text);
    if (k == DEPTH) {
      (void)snprintf(text, sizeof text, "Add v%d x > w%d", k, k);
      build_nodes(&bodies[k], text);
    } else {
      (void)snprintf(text, sizeof text, "Loop n - v%d > w%d", k, k);
      build_holder(&bodies[k], text, "body", &bodies[k + 1], NULL, NULL);
    }
    (void)snprintf(text, sizeof text, "i%d go%d v%d", k, k, k);
    build_names(&bodies[k], 11, text);
    (void)snprintf(text, sizeof text, "on%d w%d", k, k);
    build_names(&bodies[k], 12, text);
  }
  build_nodes(&graph, "Constant > n value_int=2");
  build_holder(&graph, "Loop n - x > y", "body", &bodies[1], NULL, NULL);
  nd4c_model *model = open_model(&bytes, &graph, 1);
  char *report = NULL;
  expect_values(model, ND4C_FLOAT32, 0, 2, (const float[]){16385, 32770});
  expect_status(nd4c_model_report(model, &report), ND4C_OK, "");
  assert_null(strstr(report, "interpreted, node after node"));
  nd4c_free(report);
  nd4c_model_close(model);
}

static nd4c_model *open_loop(wire_bytes *bytes, const char *node) {
  wire_bytes graph = {0}, body = {0};
  build_nodes(&body, "Add v x > w; Identity go > on; Identity w > s");
  build_loop_names(&body, "w");
  build_value(&body, 12, "s", 1, 1, two);
  build_holder(&graph, node, "body", &body, NULL, NULL);
  return open_model(bytes, &graph, 7);
}

static void loop_runs_as_often_as_the_input_says(void **state) {
  (void)state;
  wire_bytes bytes = {0};
  nd4c_model *model = open_loop(&bytes, "Loop c - x > last y");
  expect_values(model, ND4C_INT64, 2, 4, (const float[]){2, 4, 3, 6});
  nd4c_array *empty = NULL;
  expect_status(run(model, ND4C_INT64, 0, &empty), ND4C_OK, "");
  assert_int_equal(nd4c_array_rank(empty), 2);
  assert_int_equal(nd4c_array_size(empty), 0);
  nd4c_array_release(empty);
  /* Many rounds: the arrays of a round are released after it. */
  nd4c_array *many = NULL;
  expect_status(run(model, ND4C_INT64, 2000, &many), ND4C_OK, "");
  assert_int_equal(nd4c_array_size(many), 4000);
  nd4c_array_release(many);
  nd4c_model_close(model);
}

static void refuses_bodies_that_do_not_agree(void **state) {
  (void)state;
  static const char *const nodes[] = {"Loop c > last y", "Loop c - x x > last y", "Loop c - x > a b y",
                                      "Loop c > y",      "Scan c x > y",          "If c > y"};
  for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
    wire_bytes bytes = {0};
    nd4c_array *y = NULL;
    nd4c_model *model = open_loop(&bytes, nodes[i]);
    expect_status(run(model, ND4C_INT64, 2, &y), ND4C_FORMAT, "at byte");
    assert_null(y);
    nd4c_model_close(model);
  }
}

/* -- malformed graphs ------------------------------------------------------------------------------------------- */

static void expect_refusal(const wire_bytes *bytes, nd4c_status status, const char *words) {
  nd4c_model *model = NULL;
  expect_status(nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, &model), status, words);
  assert_null(model);
}

static void refuses_inner_graphs_that_are_not_right(void **state) {
  (void)state;
  static const struct {
    const char *nodes, *output, *words;
    nd4c_status status;
  } cases[] = {{"Neg nope > b", "b", "reads 'nope', which nothing defines", ND4C_FORMAT},
               {"Neg x > b; Neg x > b", "b", "defined a second time", ND4C_FORMAT},
               {"Neg x > b", "other", "is not defined by any node", ND4C_FORMAT},
               {"Nonsense x > b", "b", "'Nonsense' (not known at this opset", ND4C_UNSUPPORTED},
               {"Neg x x > b", "b", "has 2 inputs", ND4C_FORMAT}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    wire_bytes bytes = {0}, graph = {0}, branch = {0};
    build_nodes(&branch, cases[i].nodes);
    build_name(&branch, 12, cases[i].output);
    build_holder(&graph, "If c > y", "then_branch", &branch, "else_branch", &branch);
    build_nodes(&graph, "Neg x > later");
    build_value(&graph, 11, "x", 1, 1, two);
    build_value(&graph, 11, "c", 9, 0, NULL);
    build_name(&graph, 12, "y");
    build_model(&bytes, &graph, 16);
    expect_refusal(&bytes, cases[i].status, cases[i].words);
  }
}

/* A graph with `depth` Ifs in each other, each the first branch of the one around. Where c is true all branches negate,
 * and so does each graph around them: y is x negated depth + 1 times; where c is false, twice. */
enum { DEEPEST = 42 };

static wire_bytes *build_deep(int depth) {
  wire_bytes *graph = calloc(1, sizeof *graph), *inner = calloc(1, sizeof *inner), *other = calloc(1, sizeof *other);
  assert_true(graph != NULL && inner != NULL && other != NULL);
  build_nodes(graph, "Neg x > y");
  build_nodes(other, "Neg x > y");
  build_name(other, 12, "y");
  for (int i = 0; i < depth; i++) {
    build_name(graph, 12, "y");
    memcpy(inner, graph, sizeof *inner);
    graph->size = 0;
    build_holder(graph, "If c > z", "then_branch", inner, "else_branch", other);
    build_nodes(graph, "Neg z > y");
  }
  free(inner);
  free(other);
  return graph;
}

/* The deepest that is one node, and the deepest that can be read, whose outer branches are interpreted. */
static void graphs_lie_in_each_other(void **state) {
  (void)state;
  static const int depths[] = {ND4C_CONTROL_DEPTH - 1, ND4C_CONTROL_DEPTH, DEEPEST};
  for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
    wire_bytes *bytes = calloc(1, sizeof *bytes), *graph = build_deep(depths[i]);
    assert_non_null(bytes);
    nd4c_model *model = open_model(bytes, graph, 9);
    const float sign = depths[i] % 2 == 0 ? -1 : 1;
    expect_values(model, ND4C_BOOL, 1, 2, (const float[]){sign * 1, sign * 2});
    expect_values(model, ND4C_BOOL, 0, 2, (const float[]){1, 2});
    nd4c_model_close(model);
    free(bytes);
    free(graph);
  }
}

static void refuses_graphs_too_deep(void **state) {
  (void)state;
  static const int depths[] = {DEEPEST + 1, 600};
  for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
    wire_bytes *bytes = calloc(1, sizeof *bytes), *graph = build_deep(depths[i]);
    assert_non_null(bytes);
    build_model(bytes, graph, 16);
    expect_refusal(bytes, ND4C_FORMAT, "messages are nested deeper than 128");
    free(bytes);
    free(graph);
  }
}

/* -- functions ------------------------------------------------------------------------------------------------- */

/* A function of one input, p, and one output, q, of the domain "mine". `nodes`: a graph of nothing but nodes. */
static void build_function_of(wire_bytes *model, const char *name, const wire_bytes *nodes,
                              const char *domain_of_nodes) {
  wire_bytes function = {0}, import = {0};
  wire_text(&function, 1, name);
  wire_text(&function, 4, "p");
  wire_text(&function, 5, "q");
  build_function_nodes(&function, nodes, domain_of_nodes);
  wire_number(&import, 2, 16);
  wire_message(&function, 9, &import);
  wire_text(&function, 10, "mine");
  wire_message(model, 25, &function);
}

static void build_function(wire_bytes *model, const char *name, const char *nodes, const char *domain_of_nodes) {
  wire_bytes graph = {0};
  build_nodes(&graph, nodes);
  build_function_of(model, name, &graph, domain_of_nodes);
}

/* The same as build_chain with two calls, but each in a branch of an If whose condition is true. */
static void build_branching_chain(wire_bytes *model, int last) {
  for (int i = 0; i < last; i++) {
    char name[16], call[64];
    wire_bytes branch = {0}, nodes = {0};
    (void)snprintf(name, sizeof name, "F%d", i);
    (void)snprintf(call, sizeof call, "mine::F%d p > r", i + 1);
    build_nodes(&branch, call);
    build_name(&branch, 12, "r");
    build_nodes(&nodes, "Size p > s; Cast s to=9 > c");
    build_holder(&nodes, "If c > q", "then_branch", &branch, "else_branch", &branch);
    build_function_of(model, name, &nodes, NULL);
  }
  char name[16];
  (void)snprintf(name, sizeof name, "F%d", last);
  build_function(model, name, "Neg p > q", NULL);
}

/* y = mine::first(x) */
static nd4c_status open_calling(wire_bytes *bytes, const char *first, nd4c_model **model) {
  wire_bytes graph = {0}, node = {0}, import = {0};
  wire_text(&node, 4, first);
  wire_text(&node, 1, "x");
  wire_text(&node, 2, "y");
  wire_text(&node, 7, "mine");
  wire_message(&graph, 1, &node);
  build_value(&graph, 11, "x", 1, 1, two);
  build_value(&graph, 11, "c", 9, 0, NULL);
  build_name(&graph, 12, "y");
  wire_text(&import, 1, "mine");
  wire_number(&import, 2, 1);
  wire_message(bytes, 8, &import);
  build_model(bytes, &graph, 16);
  return nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, model);
}

static void functions_are_inlined(void **state) {
  (void)state;
  wire_bytes bytes = {0};
  nd4c_model *model = NULL;
  char *report = NULL;
  build_function(&bytes, "Outer", "Inner p > m; Inner m > q", "mine");
  build_function(&bytes, "Inner", "Add p p > m; Neg m > q", NULL);
  expect_status(open_calling(&bytes, "Outer", &model), ND4C_OK, "");
  expect_values(model, ND4C_BOOL, 0, 2, (const float[]){4, 8});
  expect_status(nd4c_model_report(model, &report), ND4C_OK, "");
  assert_null(strstr(report, "interpreted"));
  nd4c_free(report);
  nd4c_model_close(model);
}

/* Functions F0 to F<last>: each calls the next one, once or twice. */
static void build_chain(wire_bytes *bytes, int last, int calls) {
  for (int i = 0; i < last; i++) {
    char name[16], nodes[64];
    (void)snprintf(name, sizeof name, "F%d", i);
    (void)snprintf(nodes, sizeof nodes, calls == 1 ? "F%d p > q" : "F%d p > m; F%d m > q", i + 1, i + 1);
    build_function(bytes, name, nodes, "mine");
  }
  char name[16];
  (void)snprintf(name, sizeof name, "F%d", last);
  build_function(bytes, name, "Identity p > q", NULL);
}

static void refuses_functions_without_end(void **state) {
  (void)state;
  wire_bytes *bytes = calloc(1, sizeof *bytes);
  nd4c_model *model = NULL;
  assert_non_null(bytes);
  build_function(bytes, "Self", "Self p > q", "mine");
  expect_status(open_calling(bytes, "Self", &model), ND4C_FORMAT, "function 'Self' calls itself");
  memset(bytes, 0, sizeof *bytes);
  build_function(bytes, "Even", "Odd p > q", "mine");
  build_function(bytes, "Odd", "Even p > q", "mine");
  expect_status(open_calling(bytes, "Even", &model), ND4C_FORMAT, "calls itself, directly or through others");
  /* Each calls the next one: 64 deep is the limit. */
  for (int deepest = 63; deepest <= 64; deepest++) {
    memset(bytes, 0, sizeof *bytes);
    build_chain(bytes, deepest, 1);
    expect_status(open_calling(bytes, "F0", &model), deepest < 64 ? ND4C_OK : ND4C_FORMAT,
                  deepest < 64 ? "" : "function 'F64': graphs and functions are more than 64 deep");
    nd4c_model_close(model);
    model = NULL;
  }
  /* Each calls the next one twice: 2^40 nodes, however the model would run. */
  memset(bytes, 0, sizeof *bytes);
  build_chain(bytes, 40, 2);
  expect_status(
      open_calling(bytes, "F0", &model), ND4C_FORMAT,
      "function 'F21': node 1 (F22) at byte 1307 brings it to more than 1048576 nodes with all functions inlined");
  assert_null(model);
  /* Two of one name. */
  memset(bytes, 0, sizeof *bytes);
  model = NULL;
  build_function(bytes, "Twice", "Identity p > q", NULL);
  build_function(bytes, "Twice", "Identity p > q", NULL);
  expect_status(open_calling(bytes, "Twice", &model), ND4C_FORMAT, "function 'Twice' is defined a second time");
  free(bytes);
}

/* Thirteen functions of two branches have some 50,000 nodes in 16,000 branches, each of which costs much more than a
 * node does. */
static void branches_count_as_many_nodes(void **state) {
  (void)state;
  wire_bytes *bytes = calloc(1, sizeof *bytes);
  nd4c_model *model = NULL;
  assert_non_null(bytes);
  build_branching_chain(bytes, 3);
  expect_status(open_calling(bytes, "F0", &model), ND4C_OK, "");
  expect_values(model, ND4C_BOOL, 0, 2, (const float[]){-1, -2});
  nd4c_model_close(model);
  model = NULL;
  memset(bytes, 0, sizeof *bytes);
  build_branching_chain(bytes, 13);
  expect_status(open_calling(bytes, "F0", &model), ND4C_FORMAT, "where a graph in a node counts as 128");
  assert_null(model);
  free(bytes);
}

/* -- sparse constants -------------------------------------------------------------------------------------------- */

static void build_tensor(wire_bytes *outer, uint32_t field, const char *name, int type, int rank, const int64_t *shape,
                         const void *data, size_t bytes) {
  wire_bytes graph = {0}, tensor = {0};
  build_initializer(&graph, name, type, rank, shape, data, bytes);
  /* Without the tag and length of an initializer: they are two bytes here. */
  wire_raw(&tensor, graph.bytes + 2, graph.size - 2);
  wire_message(outer, field, &tensor);
}

/* A sparse [2] of one value at `index`, by a list of indices of rank 1 or 2. */
static void build_sparse(wire_bytes *sparse, int rank, int64_t index) {
  const float value = 5;
  build_tensor(sparse, 1, "w", 1, 1, (const int64_t[]){1}, &value, sizeof value);
  build_tensor(sparse, 2, "i", 7, rank, (const int64_t[]){1, 1}, &index, sizeof index);
  wire_number(sparse, 3, 2);
}

static void sparse_constants_are_dense(void **state) {
  (void)state;
  for (int rank = 1; rank <= 2; rank++) {
    wire_bytes bytes = {0}, graph = {0}, sparse = {0};
    build_sparse(&sparse, rank, 1);
    wire_message(&graph, 15, &sparse);
    build_nodes(&graph, "Add x w > y");
    nd4c_model *model = open_model(&bytes, &graph, 9);
    expect_values(model, ND4C_BOOL, 0, 2, (const float[]){1, 7});
    nd4c_model_close(model);
  }
  wire_bytes bytes = {0}, graph = {0}, sparse = {0};
  nd4c_array *y = NULL;
  build_sparse(&sparse, 1, 2);
  wire_message(&graph, 15, &sparse);
  build_nodes(&graph, "Add x w > y");
  nd4c_model *model = open_model(&bytes, &graph, 9);
  expect_status(run(model, ND4C_BOOL, 0, &y), ND4C_FORMAT, "sparse tensor 'w'");
  nd4c_model_close(model);
}

static void refuses_sparse_tensors_that_are_not_right(void **state) {
  (void)state;
  const float value = 5;
  const int64_t index = 0;
  wire_bytes bytes = {0}, graph = {0}, sparse = {0};
  build_tensor(&sparse, 1, "w", 1, 1, (const int64_t[]){1}, &value, sizeof value);
  wire_number(&sparse, 3, 2);
  wire_message(&graph, 15, &sparse);
  build_model(&bytes, &graph, 16);
  expect_refusal(&bytes, ND4C_FORMAT, "n values and n int64 indices");
  memset(&bytes, 0, sizeof bytes);
  memset(&graph, 0, sizeof graph);
  build_tensor(&sparse, 2, "i", 7, 1, (const int64_t[]){1}, &index, sizeof index);
  wire_number(&sparse, 3, INT64_C(1) << 40);
  wire_message(&graph, 15, &sparse);
  build_model(&bytes, &graph, 16);
  expect_refusal(&bytes, ND4C_UNSUPPORTED, "a sparse tensor of 2199023255552 elements");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(if_takes_the_branch_of_the_input),
                                     cmocka_unit_test(branches_of_different_shapes_are_interpreted),
                                     cmocka_unit_test(data_ends_loops),
                                     cmocka_unit_test(inner_graphs_read_what_lies_around),
                                     cmocka_unit_test(no_round_gives_empty_lists),
                                     cmocka_unit_test(no_round_tells_why_the_body_fails),
                                     cmocka_unit_test(many_rounds_are_a_node),
                                     cmocka_unit_test(nested_short_loops_stay_short),
                                     cmocka_unit_test(loops_end_when_they_must),
                                     cmocka_unit_test(interpreted_results_go_where_they_belong),
                                     cmocka_unit_test(loop_runs_as_often_as_the_input_says),
                                     cmocka_unit_test(refuses_bodies_that_do_not_agree),
                                     cmocka_unit_test(refuses_inner_graphs_that_are_not_right),
                                     cmocka_unit_test(graphs_lie_in_each_other),
                                     cmocka_unit_test(refuses_graphs_too_deep),
                                     cmocka_unit_test(functions_are_inlined),
                                     cmocka_unit_test(refuses_functions_without_end),
                                     cmocka_unit_test(branches_count_as_many_nodes),
                                     cmocka_unit_test(sparse_constants_are_dense),
                                     cmocka_unit_test(refuses_sparse_tensors_that_are_not_right)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
