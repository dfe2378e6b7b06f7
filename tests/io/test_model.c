/* The model handle: description, matching of inputs, plans for shapes, progress, lent memory, misuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "device/context/context.h"
#include "graph/calibration/table.h"
#include "import/model_internal.h"
#include "model_build.h"
#include "nd4c/nd4c.h"

/* y = relu(x) + b, z = b * b; x [n, 3], b [n, 3]. */
static void build_example(wire_bytes *bytes) {
  static const int64_t shape[] = {-1, 3};
  wire_bytes graph = {0};
  build_nodes(&graph, "Relu x > r; Add r b > y; Mul b b > z");
  build_value(&graph, 11, "x", 1, 2, shape);
  build_value(&graph, 11, "b", 1, 2, shape);
  build_value(&graph, 12, "y", 1, 2, shape);
  build_value(&graph, 12, "z", 1, 0, NULL);
  build_model(bytes, &graph, 13);
}

static nd4c_model *open_example(const nd4c_model_options *options) {
  static wire_bytes bytes;
  nd4c_model *model = NULL;
  bytes = (wire_bytes){0};
  build_example(&bytes);
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, options, NULL, NULL, &model), ND4C_OK);
  return model;
}

static nd4c_array *make_array(nd4c_dtype dtype, int32_t rank, int64_t rows, int64_t columns, double value) {
  nd4c_array *array = NULL;
  const int64_t shape[] = {rows, columns};
  assert_int_equal(nd4c_array_full(dtype, rank, shape, value, NULL, &array), ND4C_OK);
  return array;
}

static void describes(void **state) {
  (void)state;
  nd4c_model *model = open_example(NULL);
  nd4c_model_value value = {.struct_size = sizeof value};
  assert_int_equal(nd4c_model_input_count(model), 2);
  assert_int_equal(nd4c_model_output_count(model), 2);
  assert_int_equal(nd4c_model_input(model, 1, &value), ND4C_OK);
  assert_string_equal(value.name, "b");
  assert_int_equal(value.dtype, ND4C_FLOAT32);
  assert_int_equal(value.rank, 2);
  assert_int_equal(value.shape[0], -1);
  assert_int_equal(value.shape[1], 3);
  assert_string_equal(value.symbols[0], "n");
  assert_null(value.symbols[1]);
  assert_int_equal(nd4c_model_output(model, 1, &value), ND4C_OK);
  assert_string_equal(value.name, "z");
  assert_int_equal(nd4c_model_output(model, 2, &value), ND4C_INDEX);
  assert_int_equal(nd4c_model_input(model, -1, &value), ND4C_INDEX);
  assert_int_equal(nd4c_model_input(model, 0, NULL), ND4C_NULL_ARGUMENT);
  value.struct_size = 4;
  assert_int_equal(nd4c_model_input(model, 0, &value), ND4C_ARGUMENT);
  assert_int_equal(nd4c_model_input(NULL, 0, &value), ND4C_NULL_ARGUMENT);
  nd4c_model_close(model);
  nd4c_model_close(NULL);
}

static void lists_intermediates(void **state) {
  (void)state;
  nd4c_model_options options = {.struct_size = sizeof options, .all_intermediates = true};
  nd4c_model *model = open_example(&options);
  nd4c_model_value value = {.struct_size = sizeof value};
  assert_int_equal(nd4c_model_output_count(model), 3);
  assert_int_equal(nd4c_model_output(model, 2, &value), ND4C_OK);
  assert_string_equal(value.name, "r");
  assert_int_equal(value.rank, -1);
  nd4c_model_close(model);
}

static void refuses_options_without_a_size(void **state) {
  (void)state;
  nd4c_model_options options = {.no_optimization = true};
  nd4c_model *model = NULL;
  const uint32_t wrong[] = {0, sizeof options.struct_size, offsetof(nd4c_model_options, no_optimization)};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    options.struct_size = wrong[i];
    assert_int_equal(nd4c_model_open("/nowhere.onnx", &options, &model), ND4C_ARGUMENT);
    assert_non_null(strstr(nd4c_error_message(), "nd4c_model_open: options.struct_size is "));
    assert_int_equal(nd4c_model_open_memory("", 0, &options, NULL, NULL, &model), ND4C_ARGUMENT);
    assert_non_null(strstr(nd4c_error_message(), "nd4c_model_open_memory: options.struct_size is "));
    assert_null(model);
  }
  options.struct_size = offsetof(nd4c_model_options, placement); /* an older program's struct */
  nd4c_model_close(open_example(&options));
}

static void hands_switches_of_passes_to_plans(void **state) {
  (void)state;
  char passes[] = "-identity";
  nd4c_model *model = open_example(&(nd4c_model_options){.struct_size = sizeof(nd4c_model_options), .passes = passes});
  memset(passes, 'x', sizeof passes - 1); /* nd4c has copied it */
  nd4c_array *inputs[] = {make_array(ND4C_FLOAT32, 2, 4, 3, 1), make_array(ND4C_FLOAT32, 2, 4, 3, 2)};
  const nd4c_array *given[] = {inputs[0], inputs[1]};
  const char *names[] = {"x", "b"};
  nd4c_array *outputs[2] = {NULL};
  char *report = NULL;
  assert_int_equal(nd4c_model_run(model, NULL, names, given, 2, outputs, 2), ND4C_OK);
  assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
  assert_non_null(strstr(report, "passes switched off: identity (options.passes)"));
  nd4c_free(report);
  for (int i = 0; i < 2; i++) {
    nd4c_array_release(inputs[i]);
    nd4c_array_release(outputs[i]);
  }
  nd4c_model_close(model);
  wire_bytes bytes = {0};
  build_example(&bytes);
  model = NULL;
  const nd4c_model_options wrong = {.struct_size = sizeof wrong, .passes = "-identty"};
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, &wrong, NULL, NULL, &model), ND4C_NAME);
  assert_string_equal(nd4c_error_message(), "options.passes: there is no pass 'identty': the nearest is 'identity'");
  assert_null(model);
}

/* The report says what was asked for; on a device without a fast product of the dtype the run is refused. */
static void hands_the_precision_to_plans(void **state) {
  (void)state;
  nd4c_model *model =
      open_example(&(nd4c_model_options){.struct_size = sizeof(nd4c_model_options), .precision = ND4C_BFLOAT16});
  nd4c_array *inputs[] = {make_array(ND4C_FLOAT32, 2, 4, 3, 1), make_array(ND4C_FLOAT32, 2, 4, 3, 2)};
  const nd4c_array *given[] = {inputs[0], inputs[1]};
  const char *names[] = {"x", "b"};
  nd4c_array *outputs[2] = {NULL};
  char *report = NULL;
  const nd4c_status status = nd4c_model_run(model, NULL, names, given, 2, outputs, 2);
  if (status == ND4C_UNSUPPORTED) {
    assert_non_null(strstr(nd4c_error_message(), "has no fast matrix product of this dtype"));
  } else {
    assert_int_equal(status, ND4C_OK);
    assert_int_equal(nd4c_array_dtype(outputs[0]), ND4C_FLOAT32);
    assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
    assert_non_null(strstr(report, "precision: bfloat16 (options.precision)"));
    nd4c_free(report);
  }
  for (int i = 0; i < 2; i++) {
    nd4c_array_release(inputs[i]);
    nd4c_array_release(outputs[i]);
  }
  nd4c_model_close(model);
  wire_bytes bytes = {0};
  build_example(&bytes);
  model = NULL;
  const nd4c_model_options wrong = {.struct_size = sizeof wrong, .precision = ND4C_FLOAT64};
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, &wrong, NULL, NULL, &model), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "options.precision is float64"));
  assert_null(model);
}

/* Ranges are for int8 alone, and the model keeps them. */
static void keeps_its_calibration(void **state) {
  (void)state;
  static const char text[] =
      "{\"nd4c_calibration\": 1, \"method\": \"min_max\", \"samples\": 1, "
      "\"fingerprint\": \"0000000000000000\", \"ranges\": {}}";
  nd4c_model_options options = {.struct_size = sizeof options};
  nd4c_model *model = NULL;
  wire_bytes bytes = {0};
  build_example(&bytes);
  assert_int_equal(nd4c_calibration_load_memory(text, sizeof text - 1, &options.calibration), ND4C_OK);
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, &options, NULL, NULL, &model), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "options.precision is none, expected int8"));
  assert_null(model);
  options.precision = ND4C_INT8;
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, &options, NULL, NULL, &model), ND4C_OK);
  nd4c_calibration_release(options.calibration);
  assert_int_equal(nd4c_calibration_count(model->calibration), 0);
  assert_true(model->calibration->references == 1);
  nd4c_model_close(model);
}

static void gives_its_graph(void **state) {
  (void)state;
  nd4c_model *model = open_example(NULL);
  nd4c_graph *graph = NULL;
  nd4c_node_info node = {.struct_size = sizeof node};
  const int32_t ranks[] = {2, 2}, odd_ranks[] = {2, 1};
  const int64_t wide[] = {4, 3}, odd[] = {4, 5};
  const int64_t *shapes[] = {wide, wide}, *odd_shapes[] = {wide, odd};
  assert_int_equal(nd4c_model_graph(model, NULL, ranks, odd_shapes, &graph), ND4C_SHAPE);
  assert_int_equal(nd4c_model_graph(model, NULL, odd_ranks, shapes, &graph), ND4C_SHAPE);
  assert_int_equal(nd4c_model_graph(model, NULL, ranks, NULL, &graph), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_model_graph(model, NULL, ranks, shapes, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_model_graph(NULL, NULL, ranks, shapes, &graph), ND4C_NULL_ARGUMENT);
  assert_null(graph);
  assert_int_equal(nd4c_model_graph(model, NULL, ranks, shapes, &graph), ND4C_OK);
  nd4c_model_close(model); /* the graph outlives it */
  assert_int_equal(nd4c_graph_node_count(graph), 3);
  assert_int_equal(nd4c_graph_get_node(graph, 0, &node), ND4C_OK);
  assert_string_equal(node.op->name, "relu");
  assert_string_equal(nd4c_graph_input_name(graph, 1), "b");
  assert_string_equal(nd4c_graph_output_name(graph, 1), "z");
  nd4c_graph_destroy(graph);
}

/* One call, described by its arguments for x and b. */
typedef struct run_case {
  const char *names[3];
  int32_t count;
  nd4c_dtype dtype;
  int32_t rank;
  int64_t rows[2], columns;
  nd4c_status status;
  const char *words;
} run_case;

static const run_case runs[] = {
    {{"x", "b"}, 2, ND4C_FLOAT32, 2, {4, 4}, 3, ND4C_OK, ""},
    {{"b", "x"}, 2, ND4C_FLOAT32, 2, {0, 0}, 3, ND4C_OK, ""},
    {{"x", "c"}, 2, ND4C_FLOAT32, 2, {4, 4}, 3, ND4C_NAME, "the model has no input 'c'; it has 'x', 'b'"},
    {{"x", "x"}, 2, ND4C_FLOAT32, 2, {4, 4}, 3, ND4C_NAME, "input 'x' is given twice"},
    {{"x"}, 1, ND4C_FLOAT32, 2, {4, 4}, 3, ND4C_NAME, "input 'b' of the model is not given"},
    {{"x", NULL}, 2, ND4C_FLOAT32, 2, {4, 4}, 3, ND4C_NULL_ARGUMENT, "the name of input 1 is NULL"},
    {{"x", "b"}, 2, ND4C_FLOAT64, 2, {4, 4}, 3, ND4C_DTYPE, "input 'x' is float64, expected float32"},
    {{"x", "b"}, 2, ND4C_FLOAT32, 2, {4, 4}, 5, ND4C_SHAPE, "input 'x' has shape (4, 5), expected (n, 3)"},
    {{"x", "b"}, 2, ND4C_FLOAT32, 1, {4, 4}, 3, ND4C_SHAPE, "input 'x' has shape (4,), expected (n, 3)"},
    {{"x", "b"}, 2, ND4C_FLOAT32, 2, {4, 5}, 3, ND4C_SHAPE, "input 'b' has 5 for 'n' (axis 0), but input 'x' has 4"},
    {{"x", "b"}, -1, ND4C_FLOAT32, 2, {4, 4}, 3, ND4C_ARGUMENT, "input_count is -1, expected at least 0"}};

static void matches_inputs(void **state) {
  (void)state;
  nd4c_model *model = open_example(NULL);
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    const run_case *run = &runs[i];
    nd4c_array *outputs[2] = {0};
    nd4c_array *arrays[2] = {make_array(run->dtype, run->rank, run->rows[0], run->columns, 1),
                             make_array(run->dtype, run->rank, run->rows[1], run->columns, 2)};
    const nd4c_array *inputs[2] = {arrays[0], arrays[1]};
    nd4c_status status = nd4c_model_run(model, NULL, run->names, inputs, run->count, outputs, 2);
    bool words = status == ND4C_OK || strstr(nd4c_error_message(), run->words) != NULL;
    if (status != run->status || !words || (status != ND4C_OK && (outputs[0] != NULL || outputs[1] != NULL))) {
      fail_msg("case %zu: %s: %s", i, nd4c_status_name(status), nd4c_error_message());
    }
    for (int j = 0; j < 2; j++) {
      nd4c_array_release(outputs[j]);
      nd4c_array_release(arrays[j]);
    }
  }
  nd4c_array *one = NULL;
  assert_int_equal(nd4c_model_run(model, NULL, NULL, NULL, 0, &one, 1), ND4C_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "nd4c_model_run: room for 1 outputs; the model has 2");
  nd4c_array *none[2] = {0};
  assert_int_equal(nd4c_model_run(model, NULL, NULL, NULL, 1, none, 2), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "nd4c_model_run: input_names is NULL, but input_count is 1");
  assert_int_equal(nd4c_model_run(model, NULL, runs[0].names, NULL, 2, none, 2), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "nd4c_model_run: inputs is NULL, but input_count is 2");
  assert_int_equal(nd4c_model_run(model, NULL, NULL, NULL, 0, NULL, 2), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_model_run(NULL, NULL, NULL, NULL, 0, &one, 1), ND4C_NULL_ARGUMENT);
  nd4c_model_close(model);
}

static int plan_count(const nd4c_model *model) {
  int count = 0;
  for (const nd4c_model_plan *plan = model->plans; plan != NULL; plan = plan->next) {
    count++;
  }
  return count;
}

static void run_rows(nd4c_model *model, int64_t rows) {
  const char *names[] = {"x", "b"};
  nd4c_array *x = make_array(ND4C_FLOAT32, 2, rows, 3, -1);
  nd4c_array *b = make_array(ND4C_FLOAT32, 2, rows, 3, 2);
  const nd4c_array *inputs[] = {x, b};
  nd4c_array *outputs[2] = {0};
  double value = 0;
  assert_int_equal(nd4c_model_run(model, NULL, names, inputs, 2, outputs, 2), ND4C_OK);
  assert_int_equal(nd4c_array_shape(outputs[0])[0], rows);
  assert_int_equal(nd4c_array_item(outputs[0], (int64_t[]){rows - 1, 2}, &value), ND4C_OK);
  assert_true(value == 2);
  assert_int_equal(nd4c_array_item(outputs[1], (int64_t[]){rows - 1, 2}, &value), ND4C_OK);
  assert_true(value == 4);
  nd4c_array_release(x);
  nd4c_array_release(b);
  nd4c_array_release(outputs[0]);
  nd4c_array_release(outputs[1]);
}

/* Without dims: one plan for each combination of shapes; the most recently used ones are kept. */
static void keeps_plans(void **state) {
  (void)state;
  char *text = NULL;
  assert_int_equal(nd4c_config_set("nd4c.model.dims", "none"), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.model.plans", "2"), ND4C_OK);
  nd4c_model *model = open_example(NULL);
  assert_int_equal(nd4c_model_report(model, &text), ND4C_OK);
  assert_string_equal(text, "");
  nd4c_free(text);
  run_rows(model, 1);
  const nd4c_plan *first = model->plans->plan;
  run_rows(model, 2);
  run_rows(model, 1);
  assert_ptr_equal(model->plans->plan, first);
  assert_int_equal(plan_count(model), 2);
  run_rows(model, 3); /* drops the plan for 2 rows */
  assert_int_equal(plan_count(model), 2);
  run_rows(model, 1);
  assert_ptr_equal(model->plans->plan, first);
  assert_int_equal(nd4c_model_report(model, &text), ND4C_OK);
  assert_true(strlen(text) > 0);
  nd4c_free(text);
  assert_int_equal(nd4c_config_set("nd4c.model.plans", NULL), ND4C_OK);
  run_rows(model, 1); /* another configuration: another plan */
  assert_ptr_not_equal(model->plans->plan, first);
  nd4c_model_close(model);
  assert_int_equal(nd4c_config_set("nd4c.model.dims", NULL), ND4C_OK);
}

/* One plan for all shapes, and one for a shape that the graph with dims does not allow. */
static void keeps_one_plan_with_dims(void **state) {
  (void)state;
  nd4c_model *model = open_example(NULL);
  nd4c_plan_bindings bindings = {.struct_size = sizeof bindings};
  for (int64_t rows = 1; rows <= 4; rows++) {
    run_rows(model, rows);
    run_rows(model, 1);
  }
  assert_int_equal(plan_count(model), 1);
  assert_int_equal(nd4c_plan_get_bindings(model->plans->plan, &bindings), ND4C_OK);
  assert_int_equal(bindings.kept, 4);
  assert_int_equal(bindings.runs, 8);
  const char *names[] = {"x", "b"};
  nd4c_array *empty = make_array(ND4C_FLOAT32, 2, 0, 3, 0), *outputs[2] = {NULL, NULL};
  const nd4c_array *inputs[] = {empty, empty};
  for (int round = 0; round < 2; round++) {
    assert_int_equal(nd4c_model_run(model, NULL, names, inputs, 2, outputs, 2), ND4C_OK);
    assert_int_equal(nd4c_array_shape(outputs[0])[0], 0);
    assert_int_equal(plan_count(model), 2);
    assert_false(model->plans->has_dims);
    for (int i = 0; i < 2; i++) {
      nd4c_array_release(outputs[i]);
      outputs[i] = NULL;
    }
  }
  run_rows(model, 4);
  assert_true(model->plans->has_dims);
  assert_int_equal(plan_count(model), 2);
  nd4c_array_release(empty);
  nd4c_model_close(model);
}

/* An output of a wrong shape is an error of the run, not a reason for another plan. */
static void refuses_outputs_that_do_not_fit_dims(void **state) {
  (void)state;
  nd4c_model *model = open_example(NULL);
  const char *names[] = {"x", "b"};
  nd4c_array *x = make_array(ND4C_FLOAT32, 2, 2, 3, 1), *outputs[2] = {make_array(ND4C_FLOAT32, 2, 3, 3, 1), NULL};
  const nd4c_array *inputs[] = {x, x};
  assert_int_equal(nd4c_model_run(model, NULL, names, inputs, 2, outputs, 2), ND4C_SHAPE);
  assert_non_null(strstr(nd4c_error_message(), "output 'y' has shape (3, 3), expected (2, 3)"));
  assert_null(outputs[1]);
  assert_int_equal(plan_count(model), 1);
  nd4c_array_release(x);
  nd4c_array_release(outputs[0]);
  nd4c_model_close(model);
}

/* Contexts with equal settings share a plan, which does not keep them alive; other settings have another plan. */
static void contexts_share_plans(void **state) {
  (void)state;
  nd4c_model *model = open_example(NULL);
  const char *names[] = {"x", "b"};
  nd4c_array *x = make_array(ND4C_FLOAT32, 2, 2, 3, -1), *b = make_array(ND4C_FLOAT32, 2, 2, 3, 3);
  const nd4c_array *inputs[] = {x, b};
  for (int32_t round = 1; round <= 4; round++) {
    nd4c_context *context = NULL;
    nd4c_array *outputs[2] = {NULL, NULL};
    double y = 0;
    nd4c_context_options options = {.struct_size = sizeof options, .width = 1, .strict = round == 4};
    assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
    assert_int_equal(nd4c_model_run(model, context, names, inputs, 2, outputs, 2), ND4C_OK);
    assert_int_equal(atomic_load(&context->references), 1);
    assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
    assert_int_equal(plan_count(model), round == 4 ? 2 : 1);
    assert_int_equal(nd4c_array_item(outputs[0], (const int64_t[]){1, 2}, &y), ND4C_OK);
    assert_float_equal(y, 3, 0);
    nd4c_array_release(outputs[0]);
    nd4c_array_release(outputs[1]);
  }
  char *text = NULL;
  assert_int_equal(nd4c_model_report(model, &text), ND4C_OK);
  nd4c_free(text);
  nd4c_model_close(model);
  nd4c_array_release(x);
  nd4c_array_release(b);
}

static void count_progress(void *user, const char *what, int64_t done, int64_t total) {
  int *counts = user;
  counts[0] += strcmp(what, "importing") == 0 && done == total && total == 3;
  counts[1] += strcmp(what, "preparing") == 0 && done == total;
  counts[2] += strcmp(what, "running") == 0 && done == total;
  counts[3] += strcmp(what, "preparing") == 0 && done < total && total == 3;
}

static void reports_progress(void **state) {
  (void)state;
  int counts[4] = {0};
  nd4c_model *model = open_example(NULL);
  nd4c_model_set_progress(model, count_progress, counts);
  run_rows(model, 2);
  run_rows(model, 2);
  assert_int_equal(counts[0], 1);
  assert_int_equal(counts[1], 1);
  assert_int_equal(counts[2], 2);
  assert_int_equal(counts[3], 3); /* node by node */
  nd4c_model_close(model);
}

/* What is told, in order: each kind of work from its first step to its last. */
typedef struct told {
  char order[256], what[32];
  int64_t done, total; /* of the latest */
  int calls, torn;     /* torn: a step back, another total, or work that did not come to its end */
} told;

static void note_progress(void *user, const char *what, int64_t done, int64_t total) {
  told *t = user;
  const size_t length = strlen(t->order);
  t->calls++;
  if (strcmp(what, t->what) == 0 && t->done < t->total) {
    t->torn += total != t->total || done < t->done;
  } else {
    t->torn += done != 0 || t->done != t->total;
    (void)snprintf(t->what, sizeof t->what, "%s", what);
    (void)snprintf(t->order + length, sizeof t->order - length, "%s ", what);
  }
  t->done = done;
  t->total = total;
}

static void tells_each_kind_of_work(void **state) {
  (void)state;
  told first = {.calls = 0}, second = {.calls = 0};
  nd4c_model *model = open_example(NULL);
  nd4c_model_set_progress(model, note_progress, &first);
  run_rows(model, 2);
  assert_non_null(strstr(first.order, "importing optimizing "));
  assert_non_null(strstr(first.order, " preparing "));
  assert_string_equal(first.order + strlen(first.order) - 8, "running ");
  if (first.torn != 0) {
    print_error("%s\n", first.order);
  }
  assert_int_equal(first.torn, 0);
  nd4c_model_set_progress(model, note_progress, &second);
  run_rows(model, 2);
  assert_string_equal(second.order, "running ");
  assert_true(second.total >= 1 && second.done == second.total);
  assert_int_equal(second.calls, second.total + 1); /* before each step, and at the end */
  assert_int_equal(second.torn, 0);
  const int calls = second.calls;
  nd4c_model_set_progress(model, NULL, NULL);
  run_rows(model, 2);
  assert_int_equal(second.calls, calls);
  nd4c_model_close(model);
}

/* From the second run on nothing is allocated when the outputs are given. */
static void runs_without_allocating(void **state) {
  (void)state;
  const char *names[] = {"b", "x"};
  nd4c_model *model = open_example(NULL);
  nd4c_array *x = make_array(ND4C_FLOAT32, 2, 5, 3, -1);
  nd4c_array *b = make_array(ND4C_FLOAT32, 2, 5, 3, 2);
  const nd4c_array *inputs[] = {b, x};
  nd4c_array *outputs[2] = {0};
  assert_int_equal(nd4c_model_run(model, NULL, names, inputs, 2, outputs, 2), ND4C_OK);
  int64_t before = nd4c_allocation_count();
  assert_int_equal(nd4c_model_run(model, NULL, names, inputs, 2, outputs, 2), ND4C_OK);
  assert_int_equal(nd4c_allocation_count() - before, 0);
  nd4c_array_release(x);
  nd4c_array_release(b);
  nd4c_array_release(outputs[0]);
  nd4c_array_release(outputs[1]);
  nd4c_model_close(model);
}

static void count_release(void *user) {
  ++*(int *)user;
}

/* Weights are used in place: the bytes stay lent as long as an array over them lives. */
static void lends_memory(void **state) {
  (void)state;
  static const int64_t shape[] = {4};
  static const float weights[4] = {1, 2, 3, 4};
  int released = 0;
  wire_bytes graph = {0}, bytes = {0};
  nd4c_model *model = NULL;
  nd4c_array *output = NULL;
  build_initializer(&graph, "w", 1, 1, shape, weights, sizeof weights);
  build_value(&graph, 12, "w", 1, 0, NULL);
  build_model(&bytes, &graph, 13);
  assert_int_equal(nd4c_model_open_memory("\xff", 1, NULL, count_release, &released, &model), ND4C_FORMAT);
  assert_int_equal(released, 0); /* not for a model that failed to open */
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, NULL, count_release, &released, &model), ND4C_OK);
  assert_int_equal(nd4c_model_run(model, NULL, NULL, NULL, 0, &output, 1), ND4C_OK);
  nd4c_model_close(model);
  float values[4];
  assert_int_equal(nd4c_array_read(output, values, sizeof values), ND4C_OK);
  assert_memory_equal(values, weights, sizeof weights);
  nd4c_array_release(output);
  assert_int_equal(released, 1);
}

/* Aligned raw data are not copied, others are; both read the same. */
static void uses_weights_in_place(void **state) {
  (void)state;
  static const int64_t shape[] = {4};
  static const float weights[4] = {1, 2, 3, 4};
  int in_place = 0;
  for (size_t pad = 0; pad < 4; pad++) {
    static _Alignas(16) unsigned char room[4096];
    wire_bytes graph = {0}, bytes = {0};
    nd4c_model *model = NULL;
    nd4c_array *output = NULL;
    float values[4];
    wire_block(&graph, 10, "docs", pad); /* shifts the bytes after it */
    build_initializer(&graph, "w", 1, 1, shape, weights, sizeof weights);
    build_nodes(&graph, "Relu w > y");
    build_value(&graph, 12, "y", 1, 0, NULL);
    build_model(&bytes, &graph, 13);
    memcpy(room, bytes.bytes, bytes.size);
    assert_int_equal(nd4c_model_open_memory(room, bytes.size, NULL, NULL, NULL, &model), ND4C_OK);
    assert_int_equal(nd4c_model_run(model, NULL, NULL, NULL, 0, &output, 1), ND4C_OK);
    const void *data = NULL;
    assert_int_equal(nd4c_array_data(model->initializers[0], &data), ND4C_OK);
    bool inside = (uintptr_t)data >= (uintptr_t)room && (uintptr_t)data < (uintptr_t)(room + sizeof room);
    in_place += inside;
    assert_int_equal(inside, nd4c_array_is_read_only(model->initializers[0]));
    assert_int_equal(nd4c_array_read(output, values, sizeof values), ND4C_OK);
    assert_memory_equal(values, weights, sizeof weights);
    nd4c_array_release(output);
    nd4c_model_close(model);
  }
  assert_int_equal(in_place, 1);
}

/* As a decoder with a cache for each layer: y = a0 + a1 + ... */
static void runs_many_inputs_without_allocating(void **state) {
  enum { INPUTS = 40 };
  static const int64_t shape[] = {3};
  static char names[INPUTS][16];
  (void)state;
  wire_bytes bytes = {0}, graph = {0};
  const char *given_names[INPUTS];
  const nd4c_array *inputs[INPUTS];
  nd4c_array *arrays[INPUTS], *y = NULL;
  nd4c_model *model = NULL;
  char nodes[512] = "Sum";
  double value = 0;
  for (int i = 0; i < INPUTS; i++) {
    (void)snprintf(names[i], sizeof names[i], "a%d", i);
    given_names[i] = names[i];
    (void)strcat(strcat(nodes, " "), names[i]);
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, i, NULL, &arrays[i]), ND4C_OK);
    inputs[i] = arrays[i];
  }
  build_nodes(&graph, strcat(nodes, " > y"));
  for (int i = 0; i < INPUTS; i++) {
    build_value(&graph, 11, names[i], 1, 1, shape);
  }
  build_value(&graph, 12, "y", 1, 1, shape);
  build_model(&bytes, &graph, 13);
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, NULL, NULL, NULL, &model), ND4C_OK);
  assert_int_equal(nd4c_model_run(model, NULL, given_names, inputs, INPUTS, &y, 1), ND4C_OK);
  assert_int_equal(nd4c_model_run(model, NULL, given_names, inputs, INPUTS, &y, 1), ND4C_OK);
  const int64_t before = nd4c_allocation_count();
  assert_int_equal(nd4c_model_run(model, NULL, given_names, inputs, INPUTS, &y, 1), ND4C_OK);
  if (ND4C_RECYCLES) {
    assert_int_equal(nd4c_allocation_count() - before, 0);
  }
  assert_int_equal(nd4c_array_item(y, (const int64_t[]){2}, &value), ND4C_OK);
  assert_true(value == INPUTS * (INPUTS - 1) / 2);
  for (int i = 0; i < INPUTS; i++) {
    nd4c_array_release(arrays[i]);
  }
  nd4c_array_release(y);
  nd4c_model_close(model);
}

/* The profile is that of the latest run's plan; interpreted runs have none. */
static void profiles_the_latest_plan(void **state) {
  (void)state;
  nd4c_model *model = open_example(NULL);
  nd4c_step_info step = {.struct_size = sizeof step};
  nd4c_node_info node = {.struct_size = sizeof node};
  int32_t count = -1;
  assert_int_equal(nd4c_model_profile(NULL, true), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_model_step_count(model, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_model_profile(model, true), ND4C_ARGUMENT);
  assert_string_equal(nd4c_error_message(),
                      "nd4c_model_profile: the model has not run yet; run it once "
                      "before its profile, which is of the plan of the latest run");
  assert_int_equal(nd4c_model_step_count(model, &count), ND4C_ARGUMENT);
  assert_int_equal(nd4c_model_get_step(model, 0, &step), ND4C_ARGUMENT);
  assert_int_equal(nd4c_model_get_node(model, 0, &node), ND4C_ARGUMENT);
  run_rows(model, 2);
  assert_int_equal(nd4c_model_profile(model, true), ND4C_OK);
  run_rows(model, 2);
  run_rows(model, 2);
  assert_int_equal(nd4c_model_step_count(model, &count), ND4C_OK);
  assert_true(count > 0);
  for (int32_t i = 0; i < count; i++) {
    assert_int_equal(nd4c_model_get_step(model, i, &step), ND4C_OK);
    assert_int_equal(step.runs, 2);
    assert_int_equal(nd4c_model_get_node(model, step.first_node, &node), ND4C_OK);
  }
  assert_int_equal(nd4c_model_get_step(model, count, &step), ND4C_INDEX);
  run_rows(model, 3); /* another binding of the same plan, which is profiled, too */
  assert_int_equal(nd4c_model_get_step(model, 0, &step), ND4C_OK);
  assert_int_equal(step.runs, 1);
  assert_int_equal(nd4c_model_profile(model, false), ND4C_OK);
  run_rows(model, 3);
  assert_int_equal(nd4c_model_get_step(model, 0, &step), ND4C_OK);
  assert_int_equal(step.runs, 1);
  nd4c_model_close(model);
}

static void refuses_misuse(void **state) {
  (void)state;
  nd4c_model *model = NULL;
  assert_int_equal(nd4c_model_open(NULL, NULL, &model), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_model_open("/nowhere.onnx", NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_model_open("/nowhere.onnx", NULL, &model), ND4C_IO);
  assert_non_null(strstr(nd4c_error_message(), "/nowhere.onnx"));
  assert_int_equal(nd4c_model_open("/dev/null", NULL, &model), ND4C_IO);
  assert_int_equal(nd4c_model_open_memory(NULL, 0, NULL, NULL, NULL, &model), ND4C_NULL_ARGUMENT);
  assert_null(model);
  assert_int_equal(nd4c_model_input_count(NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(describes),
                                     cmocka_unit_test(lists_intermediates),
                                     cmocka_unit_test(refuses_options_without_a_size),
                                     cmocka_unit_test(hands_switches_of_passes_to_plans),
                                     cmocka_unit_test(hands_the_precision_to_plans),
                                     cmocka_unit_test(keeps_its_calibration),
                                     cmocka_unit_test(gives_its_graph),
                                     cmocka_unit_test(matches_inputs),
                                     cmocka_unit_test(keeps_plans),
                                     cmocka_unit_test(keeps_one_plan_with_dims),
                                     cmocka_unit_test(refuses_outputs_that_do_not_fit_dims),
                                     cmocka_unit_test(contexts_share_plans),
                                     cmocka_unit_test(reports_progress),
                                     cmocka_unit_test(tells_each_kind_of_work),
                                     cmocka_unit_test(runs_without_allocating),
                                     cmocka_unit_test(lends_memory),
                                     cmocka_unit_test(uses_weights_in_place),
                                     cmocka_unit_test(runs_many_inputs_without_allocating),
                                     cmocka_unit_test(profiles_the_latest_plan),
                                     cmocka_unit_test(refuses_misuse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
