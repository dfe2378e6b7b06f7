/* What models tell about their outputs. ZipMap of ai.onnx.ml, with which converters of scikit-learn end a classifier:
 * the output is the tensor of probabilities, and the model tells the classes of its columns. Maps that something else
 * reads are refused. Shapes that contradict the declared ones are in the report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

enum { FLOAT = 1, INT64 = 7, BOOL = 9, INTS = 7, STRINGS = 8 };

/* "ZipMap from > to" with classes, texts or integers, separated by spaces. */
static void build_zip_map(wire_bytes *graph, const char *from, const char *to, const char *texts,
                          const char *integers) {
  wire_bytes node = {0}, attribute = {0};
  char copy[64];
  (void)snprintf(copy, sizeof copy, "%s", texts != NULL ? texts : integers != NULL ? integers : "");
  wire_text(&node, 1, from);
  wire_text(&node, 2, to);
  wire_text(&node, 4, "ZipMap");
  wire_text(&node, 7, "ai.onnx.ml");
  wire_text(&attribute, 1, texts != NULL ? "classlabels_strings" : "classlabels_int64s");
  for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
    if (texts != NULL) {
      wire_text(&attribute, 9, word);
    } else {
      wire_number(&attribute, 8, (uint64_t)strtoll(word, NULL, 10));
    }
  }
  wire_number(&attribute, 20, texts != NULL ? STRINGS : INTS);
  if (texts != NULL || integers != NULL) {
    wire_message(&node, 5, &attribute);
  }
  wire_message(graph, 1, &node);
}

/* An output "maps" that is declared as a sequence of maps from int64 to float. */
static void build_maps(wire_bytes *graph, const char *name) {
  wire_bytes info = {0}, type = {0}, sequence = {0}, element = {0}, map = {0};
  wire_number(&map, 1, 7);
  wire_message(&element, 5, &map);
  wire_message(&sequence, 1, &element);
  wire_message(&type, 4, &sequence);
  wire_text(&info, 1, name);
  wire_message(&info, 2, &type);
  wire_message(graph, 12, &info);
}

static void finish(wire_bytes *bytes, wire_bytes *graph, int rank, const int64_t *shape) {
  *bytes = (wire_bytes){0};
  build_value(graph, 11, "x", FLOAT, rank, shape);
  build_domain(bytes, "ai.onnx.ml", 1);
  build_model(bytes, graph, 16);
}

static nd4c_model *open_model(const wire_bytes *bytes) {
  nd4c_model *model = NULL;
  if (nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, &model) != ND4C_OK) {
    fail_msg("%s", nd4c_error_message());
  }
  return model;
}

static nd4c_status run(nd4c_model *model, int rank, const int64_t *shape, nd4c_array **outputs, int count) {
  static const char *const names[] = {"x"};
  static const float values[] = {0, 1, 2, 3, 4, 5};
  nd4c_array *x = NULL;
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, rank, shape, values, NULL, &x), ND4C_OK);
  const nd4c_array *const given[] = {x};
  const nd4c_status status = nd4c_model_run(model, NULL, names, given, 1, outputs, count);
  nd4c_array_release(x);
  return status;
}

static void expect_report(const nd4c_model *model, const char *line) {
  char *report = NULL;
  assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
  const size_t length = strlen(report), last = strlen(line);
  const char *end = length > last ? report + length - last : "";
  if (strcmp(end, line) != 0) {
    fail_msg("\"%s\"; expected \"%s\"", end, line);
  }
  nd4c_free(report);
}

static void gives_the_probabilities(void **state) {
  (void)state;
  static wire_bytes bytes, graph;
  static const int64_t free_rows[] = {-1, 3}, shape[] = {2, 3};
  nd4c_model_value value = {.struct_size = sizeof value};
  nd4c_array *outputs[2] = {NULL, NULL}, *classes = NULL;
  char *before = NULL;
  graph = (wire_bytes){0};
  build_zip_map(&graph, "p", "maps", NULL, "7 -1 12"); /* and before the node that makes its input */
  build_nodes(&graph, "Neg x > p");
  build_maps(&graph, "maps");
  build_value(&graph, 12, "p", FLOAT, 2, free_rows);
  finish(&bytes, &graph, 2, free_rows);
  nd4c_model *model = open_model(&bytes);
  assert_int_equal(nd4c_model_output(model, 0, &value), ND4C_OK);
  assert_string_equal(value.name, "maps");
  assert_int_equal(value.dtype, ND4C_FLOAT32);
  assert_int_equal(value.kind_count, 1);
  assert_int_equal(value.kinds[0], ND4C_DATUM_ARRAY);
  assert_int_equal(value.rank, 2);
  assert_int_equal(value.shape[0], -1);
  assert_int_equal(value.shape[1], 3);
  assert_int_equal(nd4c_model_report(model, &before), ND4C_OK);
  assert_string_equal(before, "");
  nd4c_free(before);
  assert_int_equal(run(model, 2, shape, outputs, 2), ND4C_OK);
  for (int i = 0; i < 2; i++) {
    float values[6];
    assert_int_equal(nd4c_array_rank(outputs[i]), 2);
    assert_int_equal(nd4c_array_shape(outputs[i])[0], 2);
    assert_int_equal(nd4c_array_read(outputs[i], values, sizeof values), ND4C_OK);
    assert_true(values[1] == -1 && values[5] == -5);
    nd4c_array_release(outputs[i]);
  }
  expect_report(model,
                "output 'maps' has the probabilities in place of the maps that ZipMap makes of them, a column for "
                "each class: 7, -1, 12\n");
  int64_t numbers[3];
  assert_int_equal(nd4c_model_classes(model, 0, &classes), ND4C_OK);
  assert_int_equal(nd4c_array_dtype(classes), ND4C_INT64);
  assert_int_equal(nd4c_array_read(classes, numbers, sizeof numbers), ND4C_OK);
  assert_true(numbers[0] == 7 && numbers[1] == -1 && numbers[2] == 12);
  nd4c_array_release(classes);
  assert_int_equal(nd4c_model_classes(model, 1, &classes), ND4C_OK);
  assert_null(classes);
  assert_int_equal(nd4c_model_classes(model, 2, &classes), ND4C_INDEX);
  assert_int_equal(nd4c_model_classes(model, -1, &classes), ND4C_INDEX);
  assert_int_equal(nd4c_model_classes(model, 0, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_model_classes(NULL, 0, &classes), ND4C_NULL_ARGUMENT);
  nd4c_model_close(model);
}

/* One row without an axis for it; classes that are texts. */
static void gives_a_row_of_one(void **state) {
  (void)state;
  static wire_bytes bytes, graph;
  static const int64_t two = 2;
  nd4c_array *y = NULL, *classes = NULL;
  const char *text = NULL;
  int64_t length = 0;
  graph = (wire_bytes){0};
  build_zip_map(&graph, "x", "maps", "no yes", NULL);
  build_maps(&graph, "maps");
  finish(&bytes, &graph, 1, &two);
  nd4c_model *model = open_model(&bytes);
  assert_int_equal(run(model, 1, &two, &y, 1), ND4C_OK);
  assert_int_equal(nd4c_array_rank(y), 2);
  assert_int_equal(nd4c_array_shape(y)[0], 1);
  assert_int_equal(nd4c_array_shape(y)[1], 2);
  nd4c_array_release(y);
  assert_int_equal(nd4c_model_classes(model, 0, &classes), ND4C_OK);
  assert_int_equal(nd4c_array_string(classes, 1, &text, &length), ND4C_OK);
  assert_int_equal(length, 3);
  assert_memory_equal(text, "yes", 3);
  nd4c_array_release(classes);
  expect_report(model,
                "output 'maps' has the probabilities in place of the maps that ZipMap makes of them, a column for "
                "each class: 'no', 'yes'\n");
  nd4c_model_close(model);
}

/* The report shows the first classes, and counts the others. */
static void many_classes_are_counted(void **state) {
  (void)state;
  static wire_bytes bytes, graph;
  static const int64_t counts[] = {16, 17, 19};
  static const char *const ends[] = {"\n", " and 1 more\n", " and 3 more\n"};
  for (int i = 0; i < 3; i++) {
    char labels[64] = "", line[256];
    for (int64_t k = 0; k < counts[i]; k++) {
      (void)snprintf(labels + strlen(labels), sizeof labels - strlen(labels), k > 0 ? " %d" : "%d", (int)k);
    }
    graph = (wire_bytes){0};
    build_zip_map(&graph, "x", "maps", NULL, labels);
    build_maps(&graph, "maps");
    finish(&bytes, &graph, 1, &counts[i]);
    nd4c_model *model = open_model(&bytes);
    nd4c_array *x = NULL, *y = NULL;
    assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 1, &counts[i], NULL, &x), ND4C_OK);
    const nd4c_array *const given[] = {x};
    assert_int_equal(nd4c_model_run(model, NULL, (const char *const[]){"x"}, given, 1, &y, 1), ND4C_OK);
    (void)snprintf(line, sizeof line, "a column for each class: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15%s",
                   ends[i]);
    expect_report(model, line);
    nd4c_array_release(x);
    nd4c_array_release(y);
    nd4c_model_close(model);
  }
}

static void expect_refusal(const wire_bytes *bytes, nd4c_status status, const char *words) {
  nd4c_model *model = NULL;
  const nd4c_status given = nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, &model);
  if (given != status || strstr(nd4c_error_message(), words) == NULL) {
    fail_msg("%s \"%s\"; expected \"%s\"", nd4c_status_name(given), nd4c_error_message(), words);
  }
}

static void refuses_what_needs_maps(void **state) {
  (void)state;
  static wire_bytes bytes, graph, first, second;
  static const int64_t shape[] = {2, 3};
  graph = (wire_bytes){0};
  build_zip_map(&graph, "x", "m", NULL, "0 1 2");
  build_nodes(&graph, "Identity m > y");
  build_name(&graph, 12, "y");
  finish(&bytes, &graph, 2, shape);
  expect_refusal(&bytes, ND4C_UNSUPPORTED,
                 "node 1 (Identity) reads 'm', the maps that node 0 (ZipMap) makes; nd4c has no");
  for (int i = 0; i < 2; i++) { /* a branch that reads the maps of the graph around it, or makes some */
    graph = first = second = (wire_bytes){0};
    build_zip_map(&graph, "x", "m", NULL, "0 1 2");
    build_zip_map(&first, "x", "t", NULL, "0 1 2");
    build_name(&first, 12, i == 0 ? "m" : "t");
    build_nodes(&second, "Neg x > e");
    build_name(&second, 12, "e");
    build_holder(&graph, "If c > y", "then_branch", &first, "else_branch", &second);
    build_value(&graph, 11, "c", BOOL, 0, NULL);
    build_name(&graph, 12, "y");
    finish(&bytes, &graph, 2, shape);
    expect_refusal(&bytes, ND4C_UNSUPPORTED,
                   i == 0 ? "the output of a function or inner graph reads 'm', the maps that"
                          : "the output of a function or inner graph reads 't', the maps that");
  }
  graph = (wire_bytes){0};
  build_zip_map(&graph, "x", "maps", NULL, NULL);
  build_maps(&graph, "maps");
  finish(&bytes, &graph, 2, shape);
  expect_refusal(&bytes, ND4C_FORMAT, "node 0 (ZipMap) at byte 24: labels of classes are missing");
}

static void refuses_another_number_of_columns(void **state) {
  (void)state;
  static wire_bytes bytes, graph;
  static const int64_t shape[] = {2, 3};
  nd4c_array *y = NULL;
  graph = (wire_bytes){0};
  build_zip_map(&graph, "x", "maps", NULL, "0 1");
  build_maps(&graph, "maps");
  finish(&bytes, &graph, 2, shape);
  nd4c_model *model = open_model(&bytes);
  assert_int_equal(run(model, 2, shape, &y, 1), ND4C_SHAPE);
  assert_non_null(strstr(nd4c_error_message(), "expected a column for each of the 2 classes"));
  nd4c_model_close(model);
}

/* A declared shape that does not hold is no failure, but a line of the report. */
static void tells_of_declared_shapes_that_do_not_hold(void **state) {
  (void)state;
  static wire_bytes bytes, graph;
  static const int64_t shape[] = {2, 3}, free_rows[] = {-1, 3}, wrong[] = {-1, 4}, right[] = {-1, 3}, six = 6;
  static const struct {
    const char *nodes;
    const int64_t *input, *declared;
    int rank;
    const char *line;
  } cases[] = {
      {"Neg x > y", shape, wrong, 2, "warning: output 'y' is declared with shape (?, 4), but the model gives (2, 3)\n"},
      {"Neg x > y", free_rows, wrong, 2,
       "warning: output 'y' is declared with shape (?, 4), but the model gives (?, 3)\n"},
      {"Neg x > y", shape, &six, 1, "warning: output 'y' is declared with shape (6,), but the model gives (2, 3)\n"},
      {"NonZero x > y", free_rows, wrong, 2,
       "warning: output 'y' is declared with shape (?, 4), but the model gives (2, 5)\n"},
      {"Neg x > y", shape, right, 2, NULL},
      {"Neg x > y", free_rows, shape, 2, NULL}, /* at other sizes it may not hold */
      {"NonZero x > y", free_rows, NULL, 0, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *report = NULL;
    graph = (wire_bytes){0};
    build_nodes(&graph, cases[i].nodes);
    if (cases[i].rank > 0) {
      build_value(&graph, 12, "y", cases[i].nodes[1] == 'o' ? INT64 : FLOAT, cases[i].rank, cases[i].declared);
    } else {
      build_name(&graph, 12, "y");
    }
    finish(&bytes, &graph, 2, cases[i].input);
    nd4c_model *model = open_model(&bytes);
    for (int again = 0; again < 2; again++) {
      nd4c_array *y = NULL;
      if (run(model, 2, shape, &y, 1) != ND4C_OK) {
        fail_msg("case %zu: %s", i, nd4c_error_message());
      }
      nd4c_array_release(y);
    }
    if (cases[i].line != NULL) {
      expect_report(model, cases[i].line);
    }
    assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
    const char *first = strstr(report, "warning: output");
    if ((first != NULL) != (cases[i].line != NULL) || (first != NULL && strstr(first + 1, "warning: output") != NULL)) {
      fail_msg("case %zu: %s", i, report);
    }
    nd4c_free(report);
    nd4c_model_close(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_the_probabilities),           cmocka_unit_test(gives_a_row_of_one),
      cmocka_unit_test(many_classes_are_counted),          cmocka_unit_test(refuses_what_needs_maps),
      cmocka_unit_test(refuses_another_number_of_columns), cmocka_unit_test(tells_of_declared_shapes_that_do_not_hold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
