/* Models with bodies (If, Loop, Scan) whose inputs leave extents free: imported once into a graph with dims, whose
 * nodes have bodies with dims. Each case runs at several sizes, and at each the results are those of a model that is
 * imported for that size alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

enum { FLOAT = 1, INT64 = 7, BOOL = 9, COLUMNS = 3, MOST = 300 };

typedef struct inner {
  const char *attribute;
  const char *inputs[4], *nodes, *outputs[4];
} inner;

/* A model of x [n, 3], w [3, 3], c (bool) and k (int64, 0-d), with one output y. All have the constants zero, one
 * (0-d), v0, v1 and v2 ([1]). */
typedef struct bodies_case {
  const char *before, *node, *after;
  inner bodies[2];
  const char *reported; /* in the report of the plan */
} bodies_case;

static const bodies_case cases[] = {
    {.node = "If c > y",
     .bodies = {{"then_branch", {0}, "Add x x > a", {"a"}}, {"else_branch", {0}, "Neg x > b", {"b"}}},
     .reported = "if: "},
    /* extents in a branch: of the graph around, and of its own */
    {.before = "Shape x > s; Gather s zero > n",
     .node = "If c > y",
     .bodies = {{"then_branch", {0}, "Cast n to=1 > f; Mul x f > a", {"a"}},
                {"else_branch", {0}, "Shape x > t; ConstantOfShape t > z; Sub z x > b", {"b"}}},
     .reported = "if: "},
    /* branches whose output has an extent that is made in them */
    {.node = "If c > y",
     .bodies = {{"then_branch", {0}, "Concat x x axis=0 > a", {"a"}},
                {"else_branch", {0}, "Neg x > b0; Concat b0 x axis=0 > b", {"b"}}},
     .reported = "if: "},
    {.node = "Loop k - x > y",
     .bodies = {{"body", {"i", "go", "a"}, "Identity go > on; Add a x > b", {"on", "b"}}},
     .reported = "loop: "},
    /* as many rounds as x has rows, collected */
    {.before = "Shape x > s; Gather s zero > n; ReduceSum x v0 keepdims=0 > first",
     .node = "Loop n - first > last y",
     .bodies = {{"body", {"i", "go", "a"}, "Identity go > on; Gather x i > row; Add a row > b", {"on", "b", "b"}}},
     .reported = "loop: "},
    /* w is multiplied by itself in each round: the product moves in front of the loop */
    {.node = "Loop k - x > y",
     .bodies = {{"body", {"i", "go", "a"}, "Identity go > on; MatMul w w > v; MatMul a v > b", {"on", "b"}}},
     .reported = "loop: "},
    /* so does what has an extent */
    {.node = "Loop k - x > y",
     .bodies = {{"body", {"i", "go", "a"}, "Identity go > on; MatMul x w > v; Sub a v > b", {"on", "b"}}},
     .reported = "loop: "},
    {.before = "ReduceSum x v0 keepdims=0 > first",
     .node = "Scan first x > last y num_scan_inputs=1",
     .bodies = {{"body", {"a", "row"}, "Add a row > b; Mul a row > d", {"b", "d"}}},
     .reported = "scan: "},
    /* what a short loop of a known number of rounds gives is recorded round by round */
    {.node = "Loop two - x > y",
     .bodies = {{"body", {"i", "go", "a"}, "Identity go > on; MatMul a w > b", {"on", "b"}}},
     .reported = "matmul"},
    /* one round, or none where x has one row */
    {.before = "Shape x > s; Gather s zero > n; Sub n one > m; Sub zero one > minus; Cast minus to=9 > t; Not t > f",
     .node = "Loop m - x > y",
     .bodies = {{"body", {"i", "go", "a"}, "Identity f > on; Add a x > b", {"on", "b"}}},
     .reported = "loop: "},
    {.node = "If c > y",
     .bodies = {{"then_branch", {0}, "Concat x x axis=0 > a", {"a"}}, {"else_branch", {0}, "Neg x > b", {"b"}}},
     .reported = "interpreted, node after node"},
    {.node = "Loop k - x > y",
     .bodies = {{"body", {"i", "go", "a"}, "Identity go > on; Concat a x axis=0 > b", {"on", "b"}}},
     .reported = "interpreted, node after node"},
};

static void build_inner(const inner *body, wire_bytes *graph) {
  build_nodes(graph, body->nodes);
  for (int i = 0; i < 4 && body->inputs[i] != NULL; i++) {
    build_name(graph, 11, body->inputs[i]);
  }
  for (int i = 0; i < 4 && body->outputs[i] != NULL; i++) {
    build_name(graph, 12, body->outputs[i]);
  }
}

static void add_constants(wire_bytes *graph) {
  static const char *const names[] = {"zero", "one", "two", "v0", "v1", "v2"};
  static const int64_t length = 1, values[] = {0, 1, 2, 0, 1, 2};
  for (int i = 0; i < 6; i++) {
    build_initializer(graph, names[i], INT64, i < 3 ? 0 : 1, i < 3 ? NULL : &length, &values[i], sizeof *values);
  }
}

static nd4c_model *open_case(const bodies_case *one, wire_bytes *bytes) {
  static wire_bytes graph, first, second;
  static const int64_t x[] = {-1, COLUMNS}, w[] = {COLUMNS, COLUMNS};
  nd4c_model *model = NULL;
  *bytes = graph = first = second = (wire_bytes){0};
  if (one->before != NULL) {
    build_nodes(&graph, one->before);
  }
  build_inner(&one->bodies[0], &first);
  if (one->bodies[1].nodes != NULL) {
    build_inner(&one->bodies[1], &second);
  }
  build_holder(&graph, one->node, one->bodies[0].attribute, &first, one->bodies[1].attribute,
               one->bodies[1].nodes != NULL ? &second : NULL);
  add_constants(&graph);
  build_value(&graph, 11, "x", FLOAT, 2, x);
  build_value(&graph, 11, "w", FLOAT, 2, w);
  build_value(&graph, 11, "c", BOOL, 0, NULL);
  build_value(&graph, 11, "k", INT64, 0, NULL);
  build_name(&graph, 12, "y");
  build_model(bytes, &graph, 16);
  if (nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, &model) != ND4C_OK) {
    fail_msg("%s: %s", one->node, nd4c_error_message());
  }
  return model;
}

static nd4c_array *numbers(int64_t rows) {
  float values[MOST];
  const int64_t shape[] = {rows, COLUMNS};
  nd4c_array *array = NULL;
  assert_true(rows * COLUMNS <= MOST);
  for (int64_t i = 0; i < rows * COLUMNS; i++) {
    values[i] = (float)(i % 7) / 4 - 0.5F; /* exact, also in sums and products of a few */
  }
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 2, shape, values, NULL, &array), ND4C_OK);
  return array;
}

/* `rounds` is k; c is whether it is odd. */
static nd4c_array *run(nd4c_model *model, const bodies_case *one, int64_t rows, int64_t rounds) {
  static const char *const names[] = {"x", "w", "c", "k"};
  nd4c_array *inputs[4] = {numbers(rows), numbers(COLUMNS), NULL, NULL}, *y = NULL;
  assert_int_equal(nd4c_array_scalar(ND4C_BOOL, (double)(rounds % 2), NULL, &inputs[2]), ND4C_OK);
  assert_int_equal(nd4c_array_scalar(ND4C_INT64, (double)rounds, NULL, &inputs[3]), ND4C_OK);
  const nd4c_array *given[] = {inputs[0], inputs[1], inputs[2], inputs[3]};
  if (nd4c_model_run(model, NULL, names, given, 4, &y, 1) != ND4C_OK) {
    fail_msg("%s of %lld rows, %lld rounds: %s", one->node, (long long)rows, (long long)rounds, nd4c_error_message());
  }
  for (int i = 0; i < 4; i++) {
    nd4c_array_release(inputs[i]);
  }
  return y;
}

static void same(const bodies_case *one, int64_t rows, const nd4c_array *given, const nd4c_array *wanted) {
  static float left[MOST * MOST], right[MOST * MOST];
  const size_t bytes = (size_t)nd4c_array_size(wanted) * sizeof *left;
  bool agrees = nd4c_array_rank(given) == nd4c_array_rank(wanted) && bytes <= sizeof left;
  for (int i = 0; i < nd4c_array_rank(wanted) && agrees; i++) {
    agrees = nd4c_array_shape(given)[i] == nd4c_array_shape(wanted)[i];
  }
  agrees = agrees && nd4c_array_read(given, left, bytes) == ND4C_OK &&
           nd4c_array_read(wanted, right, bytes) == ND4C_OK && memcmp(left, right, bytes) == 0;
  if (!agrees) {
    fail_msg("%s of %lld rows differs from a model that is imported for these shapes", one->node, (long long)rows);
  }
}

static void check_report(const bodies_case *one, const nd4c_model *model) {
  char *report = NULL;
  assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
  if (strstr(report, "imported for these shapes alone: ") != NULL || strstr(report, one->reported) == NULL) {
    fail_msg("%s: %s", one->node, report);
  }
  nd4c_free(report);
}

static void gives_what_an_import_for_the_shapes_gives(void **state) {
  (void)state;
  static wire_bytes bytes, other;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd4c_model *model = open_case(&cases[i], &bytes);
    for (int64_t rows = 1; rows < 90; rows = 3 * rows + 1) {
      for (int64_t rounds = 0; rounds < 4; rounds++) {
        nd4c_array *given = run(model, &cases[i], rows, rounds);
        assert_int_equal(nd4c_config_set("nd4c.model.dims", "none"), ND4C_OK);
        nd4c_model *alone = open_case(&cases[i], &other);
        nd4c_array *wanted = run(alone, &cases[i], rows, rounds);
        assert_int_equal(nd4c_config_set("nd4c.model.dims", NULL), ND4C_OK);
        same(&cases[i], rows, given, wanted);
        nd4c_array_release(given);
        nd4c_array_release(wanted);
        nd4c_model_close(alone);
      }
    }
    check_report(&cases[i], model);
    nd4c_model_close(model);
  }
}

static void imports_once(void **state) {
  (void)state;
  static wire_bytes bytes;
  nd4c_model *model = open_case(&cases[3], &bytes);
  int imports = 0;
  nd4c_model_set_progress(model, count_imports, &imports);
  for (int64_t rows = 1; rows < 6; rows++) {
    nd4c_array_release(run(model, &cases[3], rows, 2));
  }
  assert_int_equal(imports, 1);
  nd4c_model_close(model);
}

/* The plan of one size: what does not change from round to round stands in front of the loop. */
static void invariants_with_extents_leave_the_loop(void **state) {
  (void)state;
  static wire_bytes bytes;
  for (int i = 5; i < 7; i++) {
    char *report = NULL;
    nd4c_model *model = open_case(&cases[i], &bytes);
    nd4c_array_release(run(model, &cases[i], 4, 2));
    assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
    const char *line = strstr(report, "loop_invariants ");
    if (line == NULL || strncmp(line + strlen("loop_invariants "), "         1 ->     2 nodes", 24) != 0) {
      fail_msg("%s", report);
    }
    nd4c_free(report);
    nd4c_model_close(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_what_an_import_for_the_shapes_gives),
      cmocka_unit_test(imports_once),
      cmocka_unit_test(invariants_with_extents_leave_the_loop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
