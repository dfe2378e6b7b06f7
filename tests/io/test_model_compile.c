/* What nd4c_model_compile refuses, and what it takes as far as the search for the target. tests/graph/test_ahead.c
 * compiles for a target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

#define TARGET "nowhere:0"
#define PATH "/tmp/nd4c-no-folder/compiled"

static nd4c_model *open_shaped(const char *nodes, int rank, const int64_t *shape, const nd4c_model_options *options) {
  static wire_bytes bytes;
  wire_bytes graph = {0};
  nd4c_model *model = NULL;
  bytes = (wire_bytes){0};
  build_nodes(&graph, nodes);
  build_value(&graph, 11, "x", 1, rank, shape);
  build_value(&graph, 12, "y", 1, rank, shape);
  build_model(&bytes, &graph, 13);
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, options, NULL, NULL, &model), ND4C_OK);
  return model;
}

/* x [n, 3] (or [2, 3]) float32, and y. */
static nd4c_model *open_model(const char *nodes, int64_t rows, const nd4c_model_options *options) {
  return open_shaped(nodes, 2, (const int64_t[]){rows, 3}, options);
}

static void expect(nd4c_model *model, const int64_t *rows, nd4c_status expected, const char *words) {
  const int64_t shape[] = {rows != NULL ? *rows : 0, 3}, *const shapes[] = {shape};
  const int32_t ranks[] = {2};
  char *report = NULL;
  assert_int_equal(
      nd4c_model_compile(model, TARGET, rows != NULL ? ranks : NULL, rows != NULL ? shapes : NULL, PATH, &report),
      expected);
  assert_null(report);
  if (strstr(nd4c_error_message(), words) == NULL) {
    fail_msg("no \"%s\" in \"%s\"", words, nd4c_error_message());
  }
}

static void what_is_missing_is_named(void **state) {
  (void)state;
  nd4c_model *model = open_model("Relu x > y", 2, NULL);
  const int32_t ranks[] = {2};
  const int64_t shape[] = {2, 3}, *const shapes[] = {shape};
  char *report = NULL;
  assert_int_equal(nd4c_model_compile(model, NULL, NULL, NULL, PATH, &report), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "nd4c_model_compile: target is NULL");
  assert_int_equal(nd4c_model_compile(model, TARGET, NULL, NULL, NULL, &report), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "nd4c_model_compile: path is NULL");
  assert_int_equal(nd4c_model_compile(model, TARGET, NULL, shapes, PATH, &report), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "nd4c_model_compile: ranks is NULL");
  assert_int_equal(nd4c_model_compile(model, TARGET, ranks, NULL, PATH, &report), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "nd4c_model_compile: shapes is NULL");
  assert_null(report);
  nd4c_model_close(model);
}

static void the_model_has_to_be_a_graph_of_known_extents(void **state) {
  (void)state;
  const int64_t rows = 2;
  nd4c_model *model = open_model("Relu x > y", -1, NULL);
  expect(model, NULL, ND4C_SHAPE, "x");
  expect(model, &rows, ND4C_NO_BACKEND, "nowhere");
  nd4c_model_close(model);
  model = open_model("Relu x > y", 3, NULL);
  expect(model, &rows, ND4C_SHAPE, "the shape given for input 'x' is not one that the model declares");
  nd4c_model_close(model);
  model = open_model("NonZero x > z; Cast z to=1 > y", 2, NULL);
  expect(model, NULL, ND4C_UNSUPPORTED, "the model is no graph, and cannot be compiled: ");
  nd4c_model_close(model);
}

/* Given shapes are those that a run would take, where a declared extent of 0 is any; what follows is the search for the
 * target. */
static void given_shapes_are_those_of_runs(void **state) {
  (void)state;
  static const struct {
    int declared_rank;
    int64_t declared[2];
    int32_t rank;
    int64_t shape[3];
    bool fits;
  } cases[] = {
      {2, {2, 3}, 2, {2, 3}, true},    {2, {2, 3}, 2, {1, 3}, false},
      {2, {2, 3}, 2, {2, 4}, false},   {2, {2, 3}, 3, {2, 3, 1}, false},
      {2, {2, 3}, 1, {2}, false},      {2, {2, 3}, -1, {0}, false},
      {2, {-1, 3}, 2, {0, 3}, true},   {2, {-1, 3}, 2, {1, 3}, true},
      {2, {-1, 3}, 2, {-1, 3}, false}, {2, {0, 3}, 2, {0, 3}, true},
      {2, {0, 3}, 2, {1, 3}, true},    {0, {0}, 0, {0}, true},
      {0, {0}, 1, {1}, false},         {2, {2, 3}, ND4C_MAX_RANK + 1, {2, 3}, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd4c_model *model = open_shaped("Relu x > y", cases[i].declared_rank, cases[i].declared, NULL);
    const int64_t *const shapes[] = {cases[i].rank == 0 ? NULL : cases[i].shape};
    char *report = NULL;
    const nd4c_status status = nd4c_model_compile(model, TARGET, &cases[i].rank, shapes, PATH, &report);
    if (status != (cases[i].fits ? ND4C_NO_BACKEND : ND4C_SHAPE)) {
      fail_msg("case %d: %s: %s", (int)i, nd4c_status_name(status), nd4c_error_message());
    }
    const int64_t *const none[] = {NULL};
    assert_int_equal(nd4c_model_compile(model, TARGET, &(int32_t){2}, none, PATH, &report), ND4C_SHAPE);
    assert_null(report);
    nd4c_model_close(model);
  }
}

static void options_say_where_it_would_run(void **state) {
  (void)state;
  nd4c_device *cpu = NULL;
  assert_int_equal(nd4c_device_find("cpu", &cpu), ND4C_OK);
  nd4c_device *const devices[] = {cpu};
  const nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices, .device_count = 1};
  nd4c_model_options options = {.struct_size = sizeof options, .placement = &placement};
  nd4c_model *model = open_model("Relu x > y", 2, &options);
  expect(model, NULL, ND4C_NO_BACKEND, "nowhere"); /* one device is like none */
  nd4c_model_close(model);
  options = (nd4c_model_options){.struct_size = sizeof options, .compiled = "some.file"};
  model = open_model("Relu x > y", 2, &options);
  expect(model, NULL, ND4C_ARGUMENT, "nd4c_model_compile: the model was opened with options.compiled");
  nd4c_model_close(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_missing_is_named),
      cmocka_unit_test(the_model_has_to_be_a_graph_of_known_extents),
      cmocka_unit_test(given_shapes_are_those_of_runs),
      cmocka_unit_test(options_say_where_it_would_run),
  };
  return cmocka_run_group_tests_name("model_compile", tests, NULL, NULL);
}
