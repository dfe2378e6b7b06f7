/* Calibration: ranges as NumPy computes them, what a plan of int8 makes of them, files, and everything that is refused.
 * On a machine without fast products of bytes the plans are left out, and without oneDNN convs stay in float32. */
#include "graph/calibration/observer.h"
#include "graph/calibration/table.h"
#include "graph/graph_check.h"
#include "graph/precision.h"
#include "graph/quantization.h"

enum { CHANNELS = 16, SIDE = 12, WIDTH = 256 };

static bool has_int8(void) {
  nd4c_context *context = NULL;
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  return nd4c_precision_check_device(context, ND4C_INT8, "test") == ND4C_OK;
}

/* The call fails with this status and a text that has these words. */
#define CHECK_REFUSED(expression, status, words)                                                 \
  do {                                                                                           \
    const nd4c_status refused_ = (expression);                                                   \
    if (refused_ != (status) || strstr(nd4c_error_message(), words) == NULL) {                   \
      fail_msg("%s gave %s: %s", #expression, nd4c_status_name(refused_), nd4c_error_message()); \
    }                                                                                            \
  } while (0)

/* -- ranges -------------------------------------------------------------------------------------------------------- */

/* As in make_calibration_golden.py. */
typedef struct sample_row {
  const char *name;
  int count;
  double offset, scale, shift, least;
} sample_row;

static const sample_row samples[] = {{"cubes", 5000, 13, 0x1p-20, 0, -INFINITY},
                                     {"bounded", 5000, 5, 0x1p-22, 3, 0},
                                     {"negative", 3000, 77, 0x1p-24, -100, -INFINITY},
                                     {"grows", 1000, 1, 0x1p-32, 0, -INFINITY},
                                     {"grows", 4000, 2, 0x1p-20, 0, -INFINITY},
                                     {"grows", 2000, 3, 0x1p-22, 1, -INFINITY},
                                     {"outliers", 20000, 13, 0x1p-26, 0, -INFINITY},
                                     {"outliers", 6, 1, 0x1p-20, 0, -INFINITY},
                                     {"zeros", 100, 0, 0, 0, -INFINITY},
                                     {"zeros_first", 100, 0, 0, 0, -INFINITY},
                                     {"zeros_first", 400, 9, 0x1p-20, 0, -INFINITY},
                                     {"threes", 64, 0, 0, 3, -INFINITY}};

static void observe_case(const char *name, const nd4c_observing *how, double *low, double *high) {
  nd4c_observer observer;
  static float elements[20000];
  static double scratch[ND4C_OBSERVER_BINS];
  CHECK_OK(nd4c_observer_init(&observer, how));
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    const sample_row *row = &samples[i];
    for (int k = 0; strcmp(row->name, name) == 0 && k < row->count; k++) {
      const double u = fmod(7919.0 * k + row->offset, 2003) - 1001;
      elements[k] = (float)fmax(u * u * u * row->scale + row->shift, row->least);
    }
    if (strcmp(row->name, name) == 0) {
      nd4c_observer_add(&observer, how, nd4c_extremes_of(elements, row->count), elements, row->count);
    }
  }
  assert_true(observer.seen);
  nd4c_observer_range(&observer, how, scratch, low, high);
  nd4c_observer_free(&observer);
}

static nd4c_calibration_method find_method(const char *name) {
  int32_t i = 0;
  while (strcmp(nd4c_calibration_method_name((nd4c_calibration_method)i), name) != 0) {
    i++;
  }
  return (nd4c_calibration_method)i;
}

static void ranges_are_those_of_numpy(void **state) {
  (void)state;
  FILE *file = fopen(ND4C_TEST_SOURCE_DIR "/tests/data/calibration.txt", "r");
  char name[32], method[32];
  double percent = 0, low = 0, high = 0, step = 0, seen_low = 0, seen_high = 0;
  int zero = 0, rows = 0;
  assert_non_null(file);
  while (fscanf(file, "%31s %31s %lf %la %la %la %d", name, method, &percent, &low, &high, &step, &zero) == 7) {
    const nd4c_observing how = {find_method(method), percent > 0 ? percent : 99.99, 0.25};
    observe_case(name, &how, &seen_low, &seen_high);
    const nd4c_calibration_affine affine = nd4c_calibration_affine_of(seen_low, seen_high);
    const double slack = 1e-12 * (fabs(low) + fabs(high));
    if (fabs(seen_low - low) > slack || fabs(seen_high - high) > slack ||
        fabs((double)affine.step - step) > 1e-7 * step || affine.zero != zero) {
      fail_msg("%s by %s: %g to %g, step %g, zero %d, expected %g to %g, step %g, zero %d", name, method, seen_low,
               seen_high, (double)affine.step, affine.zero, low, high, step, zero);
    }
    rows++;
  }
  (void)fclose(file);
  assert_int_equal(rows, 48);
}

static void odd_ranges_have_a_step(void **state) {
  (void)state;
  static const double ranges[][2] = {{0, 0}, {1e-44, 2e-44}, {-4e37, 4e37}, {5, 5}, {-2, -1}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    const nd4c_calibration_affine affine = nd4c_calibration_affine_of(ranges[i][0], ranges[i][1]);
    assert_true(nd4c_calibration_fits(ranges[i][0], ranges[i][1]));
    assert_true(affine.step >= 0x1p-126F && affine.step <= 0x1p118F);
    assert_in_range(affine.zero, 0, 255);
  }
}

static void wide_ranges_do_not_fit(void **state) {
  (void)state;
  assert_false(nd4c_calibration_fits(-3e38, 3e38));
  assert_false(nd4c_calibration_fits(0, 1e38));
  assert_false(nd4c_calibration_fits(-1e308, 1e308));
}

/* A step for each output, whichever axis has the outputs. */
static void weights_have_a_step_for_each_output(void **state) {
  (void)state;
  static const float weights[] = {1, -127, 0, 2, 254, 0};
  static const double steps[][3] = {{1, 2}, {0, 2, 1}},
                      codes[][6] = {{1, -127, 0, 1, 127, 0}, {64, -64, 0, 127, 127, 0}};
  static const int64_t shape[] = {2, 3};
  for (int32_t axis = 0; axis < 2; axis++) {
    nd4c_calibration_weights made;
    double *numbers = nd4c_allocate(sizeof codes[0]);
    for (int32_t i = 0; i < 6; i++) {
      numbers[i] = (double)weights[i];
    }
    CHECK_OK(nd4c_calibration_round_weights(numbers, 2, shape, axis, &made));
    assert_int_equal(made.outputs, shape[axis]);
    for (int32_t i = 0; i < made.outputs; i++) {
      const double step = axis == 1 && i == 0 ? (double)(float)(2.0 / 127) : steps[axis][i];
      assert_true(made.steps[i] == step);
    }
    assert_memory_equal(made.codes, codes[axis], sizeof codes[axis]);
    nd4c_calibration_weights_free(&made);
  }
  double *odd = nd4c_allocate(sizeof *odd);
  nd4c_calibration_weights made;
  *odd = (double)INFINITY;
  static const int64_t one[] = {1, 1};
  CHECK_REFUSED(nd4c_calibration_round_weights(odd, 2, one, 0, &made), ND4C_UNSUPPORTED, "not finite");
}

/* -- graphs -------------------------------------------------------------------------------------------------------- */

typedef nd4c_value (*builder)(nd4c_graph *graph, nd4c_value x, uint64_t seed);

static nd4c_value name_last(nd4c_graph *graph, const char *name) {
  nd4c_graph_node *node = &graph->nodes[graph->node_count - 1];
  node->label = name;
  return node->outputs[0];
}

static nd4c_value conv(nd4c_graph *graph, nd4c_value x, uint64_t seed, const char *name) {
  const int64_t shape[] = {CHANNELS, CHANNELS, 3, 3}, count[] = {CHANNELS}, pads[] = {1, 1, 1, 1};
  const nd4c_value w = check_constant(graph, 4, shape, seed, -0.2, 0.2);
  const nd4c_value bias = check_constant(graph, 1, count, seed + 1, -0.2, 0.2);
  const nd4c_attr attr = check_ints("pads", pads, 4);
  (void)check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w, bias}, 3, &attr, 1);
  return name_last(graph, name);
}

static nd4c_value relu(nd4c_graph *graph, nd4c_value x) {
  return check_unary(graph, ND4C_OP_relu, x);
}

static nd4c_value two_convs(nd4c_graph *graph, nd4c_value x, uint64_t seed) {
  return conv(graph, relu(graph, conv(graph, x, seed, "first")), seed + 7, "second");
}

static nd4c_value residual(nd4c_graph *graph, nd4c_value x, uint64_t seed) {
  const nd4c_value a = relu(graph, conv(graph, x, seed, "first"));
  const nd4c_value b = conv(graph, a, seed + 7, "second");
  return conv(graph, relu(graph, check_binary(graph, ND4C_OP_add, a, b)), seed + 9, "third");
}

static nd4c_value pooled_and_joined(nd4c_graph *graph, nd4c_value x, uint64_t seed) {
  const int64_t two[] = {2, 2}, shape[] = {CHANNELS, 2 * CHANNELS, 1, 1};
  const nd4c_attr pool[] = {check_ints("kernel", two, 2), check_ints("strides", two, 2)};
  const nd4c_attr axis = check_int("axis", 1);
  nd4c_value a = relu(graph, conv(graph, x, seed, "first"));
  a = check_op(graph, ND4C_OP_max_pool, &a, 1, pool, 2);
  const nd4c_value parts[] = {relu(graph, conv(graph, a, seed + 3, "left")),
                              relu(graph, conv(graph, a, seed + 5, "right"))};
  const nd4c_value joined = check_op(graph, ND4C_OP_concat, parts, 2, &axis, 1);
  const nd4c_value w = check_constant(graph, 4, shape, seed + 11, -0.2, 0.2);
  (void)check_op(graph, ND4C_OP_conv, (nd4c_value[]){joined, w}, 2, NULL, 0);
  return name_last(graph, "last");
}

static nd4c_graph *build(builder make, uint64_t seed) {
  const int64_t shape[] = {2, CHANNELS, SIDE, SIDE};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", make(graph, check_input(graph, "x", 4, shape), seed)));
  return graph;
}

/* x [rows, 256] times two matrices, the first one with a bias and a relu behind. rows 0: a dim. */
static nd4c_graph *build_products(int64_t rows, uint64_t seed) {
  int64_t shape[] = {rows, WIDTH};
  const int64_t square[] = {WIDTH, WIDTH};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  if (rows == 0) {
    CHECK_OK(nd4c_graph_dim(graph, "rows", 1, -1, &shape[0]));
  }
  const nd4c_value x = check_input(graph, "x", 2, shape);
  const nd4c_value w = check_constant(graph, 2, square, seed, -0.1, 0.1);
  const nd4c_value bias = check_constant(graph, 1, square, seed + 1, -0.1, 0.1);
  (void)check_op(graph, ND4C_OP_linear, (nd4c_value[]){x, w, bias}, 3, NULL, 0);
  const nd4c_value h = relu(graph, name_last(graph, "hidden"));
  (void)check_binary(graph, ND4C_OP_matmul, h, check_constant(graph, 2, square, seed + 2, -0.1, 0.1));
  CHECK_OK(nd4c_graph_output(graph, "y", name_last(graph, "result")));
  return graph;
}

static nd4c_array *make_sample(const nd4c_graph *graph, uint64_t seed) {
  const nd4c_graph_value *x = &graph->values[graph->inputs.items[0].value];
  int64_t shape[ND4C_MAX_RANK];
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = nd4c_extent_is_symbolic(x->shape[i]) ? 8 + (int64_t)(seed % 3) : x->shape[i];
  }
  return check_array(ND4C_FLOAT32, x->rank, shape, seed, -1, 1);
}

/* Observes some samples; the last one is that of seed 100. */
static nd4c_calibration *observe(const nd4c_graph *graph, nd4c_calibration_method method) {
  const nd4c_calibration_options options = {.struct_size = sizeof options, .method = method};
  nd4c_calibration *calibration = NULL;
  CHECK_OK(nd4c_calibration_create(graph, NULL, &options, &calibration));
  for (uint64_t seed = 98; seed <= 100; seed++) {
    nd4c_array *x = make_sample(graph, seed);
    CHECK_OK(nd4c_calibration_observe(calibration, (const nd4c_array *const *)&x, 1));
    nd4c_array_release(x);
  }
  return calibration;
}

static nd4c_calibration *calibrate(const nd4c_graph *graph, nd4c_calibration_method method) {
  nd4c_calibration *calibration = observe(graph, method);
  CHECK_OK(nd4c_calibration_finish(calibration));
  return calibration;
}

static nd4c_plan *plan_of(const nd4c_graph *graph, nd4c_dtype precision, const nd4c_calibration *calibration) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .precision = precision, .calibration = calibration};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  return plan;
}

static int32_t count_nodes(const nd4c_plan *plan, nd4c_op op) {
  int32_t count = 0;
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    count += plan->graph->nodes[i].def->info.op == op;
  }
  return count;
}

static nd4c_array *run_plan(nd4c_plan *plan, nd4c_array *x) {
  nd4c_array *y = NULL;
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)&x, 1, &y, 1));
  return y;
}

/* The plan's results differ from those in float32, but not by more than `most` of the largest one; 0: not at all. */
static void check_error(const nd4c_graph *graph, nd4c_plan *plan, double most) {
  nd4c_plan *plain = plan_of(graph, ND4C_DTYPE_NONE, NULL);
  nd4c_array *x = make_sample(graph, 100), *expected = run_plan(plain, x), *actual = run_plan(plan, x);
  const double difference = check_difference(expected, actual);
  if (!(most > 0 ? difference > 0 && difference < most : difference == 0)) {
    char *report = NULL;
    CHECK_OK(nd4c_plan_report(plan, &report));
    print_error("%s", report);
    nd4c_free(report);
    fail_msg("the results differ by %g of the largest, expected between 0 and %g", difference, most);
  }
  nd4c_array_release(x);
  nd4c_array_release(expected);
  nd4c_array_release(actual);
  nd4c_plan_destroy(plain);
}

static void check_report(const nd4c_plan *plan, const char *line) {
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  if (strstr(report, line) == NULL) {
    print_error("%s", report);
    fail_msg("the report lacks '%s'", line);
  }
  nd4c_free(report);
}

static void convolutions_compute_on_bytes(void **state) {
  (void)state;
  static const struct {
    builder make;
    int32_t convs, sums, quantized;
  } rows[] = {{two_convs, 2, 0, 1}, {residual, 3, 1, 1}, {pooled_and_joined, 4, 0, 1}};
  const bool fires = check_has_exact_bytes();
  for (size_t i = 0; has_int8() && i < sizeof rows / sizeof *rows; i++) {
    for (int32_t method = 0; method <= (int32_t)ND4C_CALIBRATION_MSE; method++) {
      nd4c_graph *graph = build(rows[i].make, 5);
      nd4c_calibration *calibration = calibrate(graph, (nd4c_calibration_method)method);
      nd4c_plan *plan = plan_of(graph, ND4C_INT8, calibration);
      check_report(plan, "precision: int8 (options.precision), ranges of a calibration; of ");
      assert_int_equal(count_nodes(plan, ND4C_OP_qlinear_conv), fires ? rows[i].convs : 0);
      assert_int_equal(count_nodes(plan, ND4C_OP_conv), fires ? 0 : rows[i].convs);
      assert_int_equal(count_nodes(plan, ND4C_OP_qlinear_add), fires ? rows[i].sums : 0);
      assert_int_equal(count_nodes(plan, ND4C_OP_quantize_linear), fires ? rows[i].quantized : 0);
      assert_int_equal(count_nodes(plan, ND4C_OP_relu), 0);
      const double most = method == (int32_t)ND4C_CALIBRATION_MIN_MAX ? 0.06 : 0.3; /* others clip */
      check_error(graph, plan, fires ? most : 0);
      nd4c_plan_destroy(plan);
      nd4c_calibration_release(calibration);
      nd4c_graph_destroy(graph);
    }
  }
}

static void products_compute_on_bytes(void **state) {
  (void)state;
  for (int64_t rows = 0; has_int8() && rows <= 8; rows += 8) {
    nd4c_graph *graph = build_products(rows, 3);
    nd4c_calibration *calibration = calibrate(graph, ND4C_CALIBRATION_MIN_MAX);
    for (int32_t given = 0; given < 2; given++) {
      nd4c_plan *plan = plan_of(graph, ND4C_INT8, given ? calibration : NULL);
      assert_int_equal(count_nodes(plan, ND4C_OP_linear_int8), 2);
      assert_int_equal(count_nodes(plan, ND4C_OP_dynamic_quantize_linear), given ? 0 : 2);
      check_error(graph, plan, 0.03);
      check_report(plan, given ? "ranges of a calibration; of 2 layers with constant weights 2 compute on bytes"
                               : "ranges found in each run; of 2 layers with constant weights 2 compute on bytes");
      nd4c_plan_destroy(plan);
    }
    nd4c_calibration_release(calibration);
    nd4c_graph_destroy(graph);
  }
}

static void ranges_are_those_of_the_values(void **state) {
  (void)state;
  nd4c_graph *graph = build(two_convs, 5);
  nd4c_calibration *calibration = calibrate(graph, ND4C_CALIBRATION_MIN_MAX);
  const nd4c_calibration_range *x = nd4c_calibration_find(calibration, "x");
  const nd4c_calibration_range *first = nd4c_calibration_find(calibration, "first");
  const nd4c_calibration_range *bounded = nd4c_calibration_find(calibration, "relu");
  assert_non_null(x);
  assert_non_null(first);
  assert_non_null(bounded);
  assert_true(x->low < -0.99 && x->low >= -1 && x->high > 0.99 && x->high <= 1);
  assert_true(first->low < 0 && first->high > 0 && bounded->low == 0 && bounded->high == first->high);
  assert_int_equal(nd4c_calibration_count(calibration), 4);
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
}

/* Two equal products and a chain behind them, without labels: the pass cse makes one of the two, and the ranges of
 * those behind are still theirs. */
static void ranges_do_not_depend_on_other_passes(void **state) {
  (void)state;
  static const double bounds[] = {0.1, 0.1, 100, 1e-4, 0.1};
  const int64_t shape[] = {8, WIDTH}, square[] = {WIDTH, WIDTH};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value y = check_input(graph, "x", 2, shape), w[5];
  for (int32_t i = 0; i < 5; i++) {
    w[i] = i == 1 ? w[0] : check_constant(graph, 2, square, 3 + (uint64_t)i, -bounds[i], bounds[i]);
  }
  y = check_binary(graph, ND4C_OP_maximum, check_binary(graph, ND4C_OP_matmul, y, w[0]),
                   check_unary(graph, ND4C_OP_sin, check_binary(graph, ND4C_OP_matmul, y, w[1])));
  for (int32_t i = 2; i < 5; i++) {
    y = check_binary(graph, ND4C_OP_matmul, y, w[i]);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  nd4c_calibration *calibration = calibrate(graph, ND4C_CALIBRATION_MIN_MAX);
  assert_null(nd4c_calibration_find(calibration, "matmul#2"));
  assert_non_null(nd4c_calibration_find(calibration, "matmul#3"));
  for (int32_t i = 0; i < 2 && has_int8(); i++) {
    const nd4c_plan_options options = {.struct_size = sizeof options,
                                       .precision = ND4C_INT8,
                                       .calibration = calibration,
                                       .passes = i == 0 ? NULL : "-cse"};
    nd4c_plan *plan = NULL;
    CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
    assert_int_equal(count_nodes(plan, ND4C_OP_linear_int8), 4 + i);
    check_error(graph, plan, 0.06);
    nd4c_plan_destroy(plan);
  }
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
}

static void kept_nodes_stay_in_float32(void **state) {
  (void)state;
  static const char *const names[] = {"second", "conv"};
  for (int32_t i = 0; has_int8() && i < 2; i++) {
    nd4c_graph *graph = build(two_convs, 5);
    nd4c_calibration *calibration = calibrate(graph, ND4C_CALIBRATION_MIN_MAX);
    CHECK_OK(nd4c_calibration_keep(calibration, names[i]));
    CHECK_OK(nd4c_calibration_keep(calibration, names[i]));
    CHECK_REFUSED(nd4c_calibration_keep(calibration, "third"), ND4C_NAME, "'third'");
    CHECK_REFUSED(nd4c_calibration_keep(calibration, ""), ND4C_ARGUMENT, "empty");
    nd4c_plan *plan = plan_of(graph, ND4C_INT8, calibration);
    assert_int_equal(count_nodes(plan, ND4C_OP_conv), check_has_exact_bytes() ? 1 + i : 2);
    check_report(plan, "stays in float32: conv 'second': the calibration says so");
    nd4c_plan_destroy(plan);
    nd4c_calibration_release(calibration);
    nd4c_graph_destroy(graph);
  }
}

/* The name of a node without a range can be kept, too, and is in the file. */
static void files_have_names_of_text(void **state) {
  (void)state;
  nd4c_graph *graph = build_products(8, 3);
  graph->nodes[graph->node_count - 1].label = "\xff";
  nd4c_calibration *calibration = calibrate(graph, ND4C_CALIBRATION_MIN_MAX);
  CHECK_OK(nd4c_calibration_keep(calibration, "\xff"));
  CHECK_REFUSED(nd4c_calibration_save(calibration, "no file"), ND4C_FORMAT, "is not UTF-8");
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
}

static void layers_are_measured(void **state) {
  (void)state;
  nd4c_graph *graph = build_products(8, 3);
  nd4c_calibration *calibration = observe(graph, ND4C_CALIBRATION_MIN_MAX);
  nd4c_calibration_layer layer = {.struct_size = sizeof layer}, other = layer;
  nd4c_array *x = make_sample(graph, 100);
  const nd4c_array *const *inputs = (const nd4c_array *const *)&x;
  CHECK_REFUSED(nd4c_calibration_measure(calibration, inputs, 1), ND4C_ARGUMENT, "no ranges yet");
  CHECK_OK(nd4c_calibration_finish(calibration));
  assert_int_equal(nd4c_calibration_layer_count(calibration), 2);
  CHECK_OK(nd4c_calibration_get_layer(calibration, 0, &layer));
  assert_true(isnan(layer.decibels));
  CHECK_OK(nd4c_calibration_measure(calibration, inputs, 1));
  CHECK_OK(nd4c_calibration_get_layer(calibration, 0, &layer));
  CHECK_OK(nd4c_calibration_get_layer(calibration, 1, &other));
  assert_string_equal(layer.name, "hidden");
  assert_string_equal(other.op, "matmul");
  /* Uniform numbers in 8 bits: about 48 dB of each factor, so about 45 dB together. */
  assert_true(layer.decibels > 42 && layer.decibels < 50);
  assert_true(other.decibels > 38 && other.decibels < 50);
  CHECK_REFUSED(nd4c_calibration_get_layer(calibration, 2, &layer), ND4C_INDEX, "2 layers");
  void *data = NULL;
  CHECK_OK(nd4c_array_data_mutable(x, &data));
  ((float *)data)[3] = NAN;
  CHECK_REFUSED(nd4c_calibration_measure(calibration, inputs, 1), ND4C_ARGUMENT, "'x' has NaN");
  CHECK_OK(nd4c_calibration_get_layer(calibration, 0, &other));
  assert_true(other.decibels == layer.decibels);
  nd4c_array_release(x);
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
}

/* Squares of float32 would overflow. */
static void layers_of_large_values_are_measured(void **state) {
  (void)state;
  nd4c_graph *graph = build_products(8, 3);
  nd4c_calibration *calibration = NULL;
  nd4c_calibration_layer layer = {.struct_size = sizeof layer};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, (int64_t[]){8, WIDTH}, 1, -1e30, 1e30);
  const nd4c_array *const *inputs = (const nd4c_array *const *)&x;
  CHECK_OK(nd4c_calibration_create(graph, NULL, NULL, &calibration));
  CHECK_OK(nd4c_calibration_observe(calibration, inputs, 1));
  CHECK_OK(nd4c_calibration_finish(calibration));
  CHECK_OK(nd4c_calibration_measure(calibration, inputs, 1));
  CHECK_OK(nd4c_calibration_get_layer(calibration, 0, &layer));
  assert_true(layer.decibels > 40 && layer.decibels < 50);
  nd4c_array_release(x);
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
}

/* A mask of -infinity that a sum reads, not a layer: the sample counts, and the mask has no range. */
static void other_inputs_may_be_infinite(void **state) {
  (void)state;
  const int64_t shape[] = {2, CHANNELS, SIDE, SIDE};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 4, shape), mask = check_input(graph, "mask", 4, shape);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_add, conv(graph, x, 5, "first"), mask)));
  nd4c_calibration *calibration = NULL;
  nd4c_array *inputs[] = {check_array(ND4C_FLOAT32, 4, shape, 1, -1, 1), check_array(ND4C_FLOAT32, 4, shape, 2, -1, 1)};
  void *data = NULL;
  CHECK_OK(nd4c_array_data_mutable(inputs[1], &data));
  ((float *)data)[5] = -INFINITY;
  CHECK_OK(nd4c_calibration_create(graph, NULL, NULL, &calibration));
  CHECK_OK(nd4c_calibration_observe(calibration, (const nd4c_array *const *)inputs, 2));
  CHECK_OK(nd4c_calibration_finish(calibration));
  assert_non_null(nd4c_calibration_find(calibration, "x"));
  assert_null(nd4c_calibration_find(calibration, "mask"));
  check_release(inputs, 2);
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
}

/* -- what is refused ----------------------------------------------------------------------------------------------- */

static void samples_are_checked(void **state) {
  (void)state;
  nd4c_graph *graph = build(two_convs, 5);
  nd4c_calibration *calibration = NULL;
  CHECK_OK(nd4c_calibration_create(graph, NULL, NULL, &calibration));
  CHECK_REFUSED(nd4c_calibration_finish(calibration), ND4C_ARGUMENT, "no sample was observed");
  CHECK_REFUSED(nd4c_calibration_save(calibration, "none"), ND4C_ARGUMENT, "no ranges yet");
  nd4c_array *x = make_sample(graph, 1);
  const nd4c_array *const *inputs = (const nd4c_array *const *)&x;
  static const float odd[] = {NAN, INFINITY, -INFINITY};
  void *data = NULL;
  CHECK_OK(nd4c_array_data_mutable(x, &data));
  for (int32_t i = 0; i < 3; i++) {
    const float before = ((float *)data)[77];
    ((float *)data)[77] = odd[i];
    CHECK_REFUSED(nd4c_calibration_observe(calibration, inputs, 1), ND4C_ARGUMENT, "'x' has NaN or an infinity");
    ((float *)data)[77] = before;
  }
  CHECK_REFUSED(nd4c_calibration_finish(calibration), ND4C_ARGUMENT, "no sample was observed");
  CHECK_REFUSED(nd4c_calibration_observe(calibration, NULL, 1), ND4C_NULL_ARGUMENT, "NULL");
  CHECK_REFUSED(nd4c_calibration_observe(calibration, inputs, 2), ND4C_ARGUMENT, "2 inputs");
  nd4c_array *other = NULL;
  const int64_t shape[] = {2, CHANNELS, SIDE, SIDE};
  CHECK_OK(nd4c_array_full(ND4C_INT64, 4, shape, 1, NULL, &other));
  CHECK_REFUSED(nd4c_calibration_observe(calibration, (const nd4c_array *const *)&other, 1), ND4C_DTYPE,
                "'x' is int64");
  nd4c_array_release(other);
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 3, shape, 1, NULL, &other));
  CHECK_REFUSED(nd4c_calibration_observe(calibration, (const nd4c_array *const *)&other, 1), ND4C_SHAPE,
                "'x' has 3 axes");
  nd4c_array_release(other);
  CHECK_OK(nd4c_calibration_observe(calibration, inputs, 1));
  CHECK_OK(nd4c_calibration_finish(calibration));
  CHECK_REFUSED(nd4c_calibration_observe(calibration, inputs, 1), ND4C_ARGUMENT, "is finished");
  CHECK_REFUSED(nd4c_calibration_finish(calibration), ND4C_ARGUMENT, "finished already");
  nd4c_array_release(x);
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
}

/* A graph of which only an input is watched has no plan that checks shapes. */
static void shapes_are_checked_without_a_plan(void **state) {
  (void)state;
  const int64_t shape[] = {4, WIDTH}, square[] = {WIDTH, WIDTH}, odd[] = {4, 7};
  nd4c_graph *graph = NULL;
  nd4c_calibration *calibration = NULL;
  nd4c_array *x = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value w = check_constant(graph, 2, square, 3, -1, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_matmul, check_input(graph, "x", 2, shape), w)));
  CHECK_OK(nd4c_calibration_create(graph, NULL, NULL, &calibration));
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 2, odd, 1, NULL, &x));
  CHECK_REFUSED(nd4c_calibration_observe(calibration, (const nd4c_array *const *)&x, 1), ND4C_SHAPE,
                "axis 1 of input 'x' is 7, expected 256");
  nd4c_array_release(x);
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
}

/* A value in the middle that overflows has no range, and what reads it stays in float32. */
static void values_that_overflow_have_no_range(void **state) {
  (void)state;
  nd4c_graph *graph = build_products(8, 3);
  nd4c_calibration *calibration = NULL;
  CHECK_OK(nd4c_calibration_create(graph, NULL, NULL, &calibration));
  const int64_t shape[] = {8, WIDTH};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 1, 1e38, 3e38);
  CHECK_OK(nd4c_calibration_observe(calibration, (const nd4c_array *const *)&x, 1));
  nd4c_array_release(x);
  x = check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1);
  CHECK_OK(nd4c_calibration_observe(calibration, (const nd4c_array *const *)&x, 1)); /* a finite one behind it */
  CHECK_OK(nd4c_calibration_finish(calibration));
  assert_non_null(nd4c_calibration_find(calibration, "x"));
  assert_null(nd4c_calibration_find(calibration, "relu"));
  if (has_int8()) {
    nd4c_plan *plan = plan_of(graph, ND4C_INT8, calibration);
    check_report(plan, "stays in float32: linear 'hidden': the range of its input is too wide"); /* for a step */
    check_report(plan, "stays in float32: matmul 'result': its input has no range");
    nd4c_plan_destroy(plan);
  }
  nd4c_array_release(x);
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
}

static void uses_are_checked(void **state) {
  (void)state;
  nd4c_graph *graph = build(two_convs, 5), *other = build(two_convs, 6), *none = build(two_convs, 5);
  nd4c_calibration *calibration = observe(graph, ND4C_CALIBRATION_MIN_MAX), *refused = NULL;
  nd4c_calibration_options options = {.struct_size = sizeof options, .method = (nd4c_calibration_method)9};
  nd4c_plan_options plan_options = {.struct_size = sizeof plan_options, .calibration = calibration};
  nd4c_plan *plan = NULL;
  CHECK_REFUSED(nd4c_calibration_create(graph, NULL, &options, &refused), ND4C_ARGUMENT, "no method 9");
  options.method = ND4C_CALIBRATION_PERCENTILE;
  options.percentile = 101;
  CHECK_REFUSED(nd4c_calibration_create(graph, NULL, &options, &refused), ND4C_ARGUMENT, "percentile is 101");
  options = (nd4c_calibration_options){.struct_size = sizeof options, .momentum = -1};
  CHECK_REFUSED(nd4c_calibration_create(graph, NULL, &options, &refused), ND4C_ARGUMENT, "momentum is -1");
  CHECK_REFUSED(nd4c_plan_create(graph, NULL, &plan_options, &plan), ND4C_ARGUMENT, "expected int8");
  if (has_int8()) {
    plan_options.precision = ND4C_INT8;
    CHECK_REFUSED(nd4c_plan_create(graph, NULL, &plan_options, &plan), ND4C_ARGUMENT, "no ranges yet");
    CHECK_OK(nd4c_calibration_finish(calibration));
    CHECK_REFUSED(nd4c_plan_create(other, NULL, &plan_options, &plan), ND4C_ARGUMENT, "fingerprint");
    plan_options.passes = "-quantize";
    CHECK_OK(nd4c_plan_create(graph, NULL, &plan_options, &plan));
    check_report(plan,
                 "requested but not applied:\n  precision int8 (options.precision): the pass quantize is switched");
    nd4c_plan_destroy(plan);
    plan = NULL;
    plan_options.no_optimization = true;
    CHECK_REFUSED(nd4c_plan_create(graph, NULL, &plan_options, &plan), ND4C_ARGUMENT, "no_optimization");
  }
  none->outputs.items[0].value = none->inputs.items[0].value;
  CHECK_REFUSED(nd4c_calibration_create(none, NULL, NULL, &refused), ND4C_UNSUPPORTED, "no convolution");
  assert_null(refused);
  assert_null(plan);
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(other);
  nd4c_graph_destroy(none);
}

static void observing_can_be_cancelled(void **state) {
  (void)state;
  nd4c_graph *graph = build(two_convs, 5);
  nd4c_calibration *calibration = NULL;
  nd4c_cancellation *stop = NULL;
  nd4c_array *x = make_sample(graph, 1);
  CHECK_OK(nd4c_calibration_create(graph, NULL, NULL, &calibration));
  CHECK_OK(nd4c_cancellation_create(&stop));
  CHECK_OK(nd4c_cancellation_request(stop));
  CHECK_OK(nd4c_cancellation_enter(stop));
  CHECK_REFUSED(nd4c_calibration_observe(calibration, (const nd4c_array *const *)&x, 1), ND4C_CANCELLED, "");
  CHECK_OK(nd4c_cancellation_leave(stop));
  CHECK_REFUSED(nd4c_calibration_finish(calibration), ND4C_ARGUMENT, "no sample was observed");
  nd4c_cancellation_destroy(stop);
  nd4c_array_release(x);
  nd4c_calibration_release(calibration);
  nd4c_graph_destroy(graph);
}

/* Each allocation fails once: a status, and no leak, which sanitizers would find. */
static void failing_allocations_are_reported(void **state) {
  (void)state;
  nd4c_graph *graph = build(residual, 5);
  nd4c_array *x = make_sample(graph, 1);
  const nd4c_calibration_options options = {.struct_size = sizeof options, .method = ND4C_CALIBRATION_ENTROPY};
  nd4c_status status = ND4C_MEMORY;
  for (int64_t at = 0; status != ND4C_OK; at++) {
    nd4c_calibration *calibration = NULL;
    nd4c_plan *plan = NULL;
    nd4c_allocation_fail_at(at);
    status = nd4c_calibration_create(graph, NULL, &options, &calibration);
    status = status == ND4C_OK ? nd4c_calibration_observe(calibration, (const nd4c_array *const *)&x, 1) : status;
    status = status == ND4C_OK ? nd4c_calibration_finish(calibration) : status;
    status = status == ND4C_OK ? nd4c_calibration_measure(calibration, (const nd4c_array *const *)&x, 1) : status;
    if (status == ND4C_OK && has_int8()) {
      const nd4c_plan_options plan_options = {
          .struct_size = sizeof plan_options, .precision = ND4C_INT8, .calibration = calibration};
      status = nd4c_plan_create(graph, NULL, &plan_options, &plan);
    }
    nd4c_allocation_fail_at(-1);
    nd4c_plan_destroy(plan);
    nd4c_calibration_release(calibration);
    assert_true(status == ND4C_OK || status == ND4C_MEMORY || status == ND4C_MEMORY_CAP);
    assert_true(at < 100000);
  }
  nd4c_array_release(x);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_are_those_of_numpy),
                                     cmocka_unit_test(odd_ranges_have_a_step),
                                     cmocka_unit_test(wide_ranges_do_not_fit),
                                     cmocka_unit_test(weights_have_a_step_for_each_output),
                                     cmocka_unit_test(ranges_are_those_of_the_values),
                                     cmocka_unit_test(convolutions_compute_on_bytes),
                                     cmocka_unit_test(products_compute_on_bytes),
                                     cmocka_unit_test(ranges_do_not_depend_on_other_passes),
                                     cmocka_unit_test(kept_nodes_stay_in_float32),
                                     cmocka_unit_test(files_have_names_of_text),
                                     cmocka_unit_test(layers_are_measured),
                                     cmocka_unit_test(samples_are_checked),
                                     cmocka_unit_test(layers_of_large_values_are_measured),
                                     cmocka_unit_test(other_inputs_may_be_infinite),
                                     cmocka_unit_test(shapes_are_checked_without_a_plan),
                                     cmocka_unit_test(values_that_overflow_have_no_range),
                                     cmocka_unit_test(uses_are_checked),
                                     cmocka_unit_test(observing_can_be_cancelled),
                                     cmocka_unit_test(failing_allocations_are_reported)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
