/* The passes group_norm, skip_norm, scale_products, join_products and recompute, and fuse_addend of a product without a
 * bias: each fires on its patterns, leaves alone what only looks like one, and changes no result. */
#include <time.h>

#include "graph/graph_check.h"

typedef struct fusion_case {
  const char *name, *pass;
  int32_t changes;
  nd4c_op becomes; /* among the steps afterwards, if the pass changes something */
  nd4c_value (*build)(nd4c_graph *graph);
} fusion_case;

static nd4c_value times(nd4c_graph *graph, nd4c_value a, nd4c_value b) {
  return check_binary(graph, ND4C_OP_multiply, a, b);
}

static nd4c_value plus(nd4c_graph *graph, nd4c_value a, nd4c_value b) {
  return check_binary(graph, ND4C_OP_add, a, b);
}

static nd4c_value reshaped(nd4c_graph *graph, nd4c_value x, const int64_t *shape, int32_t rank) {
  const nd4c_attr attr = check_ints("shape", shape, rank);
  return check_op(graph, ND4C_OP_reshape, &x, 1, &attr, 1);
}

/* -- group_norm ---------------------------------------------------------------------------------------------------- */

static const int64_t image[] = {2, 6, 4, 5};

static nd4c_value image_input(nd4c_graph *graph) {
  return check_input(graph, "x", 4, image);
}

static nd4c_value by_channel(nd4c_graph *graph, uint64_t seed) {
  return check_constant(graph, 3, (int64_t[]){image[1], 1, 1}, seed, 0.5, 1.5);
}

static nd4c_value instance_norm(nd4c_graph *graph, nd4c_value x, int64_t groups, double scale) {
  const nd4c_value inputs[] = {x, check_constant(graph, 1, &groups, 1, scale, scale),
                               check_constant(graph, 1, &groups, 2, 0, 0)};
  const nd4c_attr epsilon = {.name = "epsilon", .value = {.kind = ND4C_ATTR_FLOAT, .as.f = 1e-3}};
  return check_op(graph, ND4C_OP_instance_norm, inputs, 3, &epsilon, 1);
}

/* As PyTorch exports it: instance_norm of groups, and the parameters behind it. */
static nd4c_value group_of(nd4c_graph *graph, int64_t groups, double scale) {
  const nd4c_value rows = reshaped(graph, image_input(graph), (int64_t[]){image[0], groups, -1}, 3);
  return reshaped(graph, instance_norm(graph, rows, groups, scale), image, 4);
}

static nd4c_value exported_group_norm(nd4c_graph *graph) {
  const nd4c_value y = times(graph, by_channel(graph, 3), group_of(graph, 3, 1));
  return plus(graph, y, by_channel(graph, 4));
}

static nd4c_value group_norm_with_a_scale_inside(nd4c_graph *graph) {
  return group_of(graph, 3, 0.5);
}

/* As the importer records it: the parameters of the groups, 1 and 0, behind the norm. */
static nd4c_value imported_group_norm(nd4c_graph *graph) {
  enum { GROUPS = 3 };
  const nd4c_value parts = reshaped(graph, image_input(graph), (int64_t[]){image[0], GROUPS, -1}, 3);
  const nd4c_attr axis = check_int("axis", 2);
  nd4c_value y = check_op(graph, ND4C_OP_layer_norm, &parts, 1, &axis, 1);
  y = times(graph, y, check_constant(graph, 2, (int64_t[]){GROUPS, 1}, 1, 1, 1));
  y = plus(graph, y, check_constant(graph, 2, (int64_t[]){GROUPS, 1}, 2, 0, 0));
  return plus(graph, reshaped(graph, y, image, 4), by_channel(graph, 4));
}

static nd4c_value groups_that_cut_channels(nd4c_graph *graph) {
  return group_of(graph, 4, 1);
}

/* The norm in its parts, of rows [n, groups, ...] or [n * groups, ...]. */
static nd4c_value norm_in_parts(nd4c_graph *graph, nd4c_value x, const int64_t *axes, int32_t count) {
  const nd4c_attr attrs[] = {check_ints("axes", axes, count),
                             {.name = "keepdims", .value = {.kind = ND4C_ATTR_BOOL, .as.i = 1}}};
  const nd4c_value centred = check_binary(graph, ND4C_OP_subtract, x, check_op(graph, ND4C_OP_mean, &x, 1, attrs, 2));
  const nd4c_value square = check_unary(graph, ND4C_OP_square, centred);
  const nd4c_value variance = check_op(graph, ND4C_OP_mean, &square, 1, attrs, 2);
  return check_binary(graph, ND4C_OP_divide, centred,
                      check_unary(graph, ND4C_OP_sqrt, plus(graph, variance, check_scalar(graph, 1e-5))));
}

static nd4c_value group_norm_in_parts(nd4c_graph *graph) {
  const nd4c_value parts = reshaped(graph, image_input(graph), (int64_t[]){image[0], 2, 3, image[2], image[3]}, 5);
  const nd4c_value y = norm_in_parts(graph, parts, (int64_t[]){2, 3, 4}, 3);
  return times(graph, reshaped(graph, y, image, 4), by_channel(graph, 3));
}

static nd4c_value groups_of_all_batches(nd4c_graph *graph) {
  const nd4c_value rows = reshaped(graph, image_input(graph), (int64_t[]){image[0] * 3, -1}, 2);
  return reshaped(graph, norm_in_parts(graph, rows, (int64_t[]){1}, 1), image, 4);
}

/* Rows that are no whole number of groups for each batch: four rows of two batches and six channels, three each. */
static nd4c_value rows_across_batches(nd4c_graph *graph) {
  const nd4c_value rows = reshaped(graph, image_input(graph), (int64_t[]){3, -1}, 2);
  return reshaped(graph, norm_in_parts(graph, rows, (int64_t[]){1}, 1), image, 4);
}

static nd4c_value each_channel_with_parameters(nd4c_graph *graph) {
  const nd4c_value y = norm_in_parts(graph, image_input(graph), (int64_t[]){2, 3}, 2);
  return plus(graph, times(graph, y, by_channel(graph, 3)), by_channel(graph, 4));
}

/* -- skip_norm ----------------------------------------------------------------------------------------------------- */

static const int64_t rows[] = {2, 5, 16};

/* A value that no chain of element-wise ops computes. */
static nd4c_value computed(nd4c_graph *graph, const char *name) {
  const nd4c_value x = check_input(graph, name, 3, rows);
  return check_op(graph, ND4C_OP_softmax, &x, 1, NULL, 0);
}

static nd4c_value layer_norm(nd4c_graph *graph, nd4c_value x, bool bias) {
  const nd4c_value inputs[] = {x, check_constant(graph, 1, &rows[2], 5, 0.5, 1.5),
                               check_constant(graph, 1, &rows[2], 6, -1, 1)};
  return check_op(graph, ND4C_OP_layer_norm, inputs, bias ? 3 : 2, NULL, 0);
}

static nd4c_value sum_and_layer_norm(nd4c_graph *graph) {
  return layer_norm(graph, plus(graph, computed(graph, "a"), computed(graph, "b")), true);
}

/* The sum is read again, as the next residual. */
static nd4c_value sum_and_rms_norm(nd4c_graph *graph) {
  const nd4c_value sum = plus(graph, computed(graph, "a"), computed(graph, "b"));
  const nd4c_value inputs[] = {sum, check_constant(graph, 1, &rows[2], 5, 0.5, 1.5)};
  const nd4c_attr epsilon = {.name = "epsilon", .value = {.kind = ND4C_ATTR_FLOAT, .as.f = 1e-2}};
  return plus(graph, sum, check_op(graph, ND4C_OP_rms_norm, inputs, 2, &epsilon, 1));
}

static nd4c_value norm_of_two_axes(nd4c_graph *graph) {
  const nd4c_value sum = plus(graph, computed(graph, "a"), computed(graph, "b"));
  const nd4c_attr axis = check_int("axis", -2);
  return check_op(graph, ND4C_OP_layer_norm, &sum, 1, &axis, 1);
}

/* tile computes the sum in the same loop as tanh. */
static nd4c_value sum_in_a_chain(nd4c_graph *graph) {
  const nd4c_value tanh = check_unary(graph, ND4C_OP_tanh, computed(graph, "a"));
  return layer_norm(graph, plus(graph, tanh, computed(graph, "b")), false);
}

/* A scale that is computed from the sum: a node that gives both would read its own output. */
static nd4c_value scale_of_the_sum(nd4c_graph *graph) {
  const nd4c_value sum = plus(graph, computed(graph, "a"), computed(graph, "b"));
  const int64_t axes[] = {0, 1};
  const nd4c_attr attr = check_ints("axes", axes, 2);
  const nd4c_value inputs[] = {sum, check_op(graph, ND4C_OP_mean, &sum, 1, &attr, 1)};
  return check_op(graph, ND4C_OP_layer_norm, inputs, 2, NULL, 0);
}

/* -- fuse_addend of a product without a bias ------------------------------------------------------------------------
 */

static nd4c_value residual_of_a_product(nd4c_graph *graph) {
  const nd4c_value x = check_input(graph, "x", 3, rows);
  const nd4c_value w = check_constant(graph, 2, (int64_t[]){rows[2], rows[2]}, 9, -1, 1);
  return plus(graph, x, check_binary(graph, ND4C_OP_matmul, x, w));
}

static nd4c_value residual_of_two_inputs(nd4c_graph *graph) {
  const nd4c_value x = check_input(graph, "x", 3, rows), w = check_input(graph, "w", 2, (int64_t[]){rows[2], rows[2]});
  return plus(graph, x, check_binary(graph, ND4C_OP_matmul, x, w));
}

/* -- scale_products ------------------------------------------------------------------------------------------------ */

static nd4c_value weights(nd4c_graph *graph, uint64_t seed) {
  return check_constant(graph, 2, (int64_t[]){16, 7}, seed, -1, 1);
}

static nd4c_value product(nd4c_graph *graph, nd4c_value x) {
  return check_binary(graph, ND4C_OP_matmul, x, weights(graph, 7));
}

static nd4c_value factor_behind(nd4c_graph *graph) {
  return times(graph, check_scalar(graph, 0.3), product(graph, check_input(graph, "x", 3, rows)));
}

static nd4c_value divisor_behind_a_bias(nd4c_graph *graph) {
  const nd4c_value inputs[] = {check_input(graph, "x", 3, rows), weights(graph, 7),
                               check_constant(graph, 1, (int64_t[]){7}, 8, -1, 1)};
  return check_binary(graph, ND4C_OP_divide, check_op(graph, ND4C_OP_linear, inputs, 3, NULL, 0),
                      check_scalar(graph, 2.5));
}

static nd4c_value factor_before(nd4c_graph *graph) {
  const nd4c_value x = check_input(graph, "x", 3, rows);
  return check_unary(graph, ND4C_OP_tanh, product(graph, times(graph, x, check_scalar(graph, 4))));
}

static nd4c_value factor_zero(nd4c_graph *graph) {
  return times(graph, check_scalar(graph, 0), product(graph, check_input(graph, "x", 3, rows)));
}

/* The scaled weights would lose all their digits. */
static nd4c_value factor_too_small(nd4c_graph *graph) {
  const nd4c_value x = times(graph, check_input(graph, "x", 3, rows), check_scalar(graph, 40));
  const nd4c_value w = check_constant(graph, 2, (int64_t[]){16, 7}, 7, -1e-28, 1e-28);
  return check_binary(graph, ND4C_OP_matmul,
                      times(graph, check_unary(graph, ND4C_OP_exp, x), check_scalar(graph, 1e-18)), w);
}

static nd4c_value factor_behind_an_activation(nd4c_graph *graph) {
  const nd4c_value y = check_unary(graph, ND4C_OP_relu, product(graph, check_input(graph, "x", 3, rows)));
  return times(graph, y, check_scalar(graph, -0.3));
}

static nd4c_value weights_of_two_products(nd4c_graph *graph) {
  const nd4c_value w = weights(graph, 7);
  const nd4c_value a = check_binary(graph, ND4C_OP_matmul, check_input(graph, "a", 3, rows), w);
  const nd4c_value b = check_binary(graph, ND4C_OP_matmul, check_input(graph, "b", 3, rows), w);
  return check_binary(graph, ND4C_OP_subtract, times(graph, a, check_scalar(graph, 0.3)), b);
}

/* -- join_products ------------------------------------------------------------------------------------------------- */

enum { WIDTH = 128 };

static nd4c_value square_weights(nd4c_graph *graph, uint64_t seed, int64_t columns) {
  return check_constant(graph, 2, (int64_t[]){WIDTH, columns}, seed, -1, 1);
}

/* Queries, keys and values of `rows` rows, keys and values with fewer columns; multiplied so that all are read. */
static nd4c_value three_products(nd4c_graph *graph, int64_t count, bool biased) {
  const nd4c_value x = check_input(graph, "x", 3, (int64_t[]){1, count, WIDTH});
  nd4c_value y[3];
  for (int32_t i = 0; i < 3; i++) {
    const nd4c_value inputs[] = {x, square_weights(graph, 20 + (uint64_t)i, WIDTH),
                                 biased ? check_constant(graph, 1, (int64_t[]){WIDTH}, 30 + (uint64_t)i, -1, 1) : 0};
    y[i] = biased ? check_op(graph, ND4C_OP_linear, inputs, 3, NULL, 0)
                  : check_binary(graph, ND4C_OP_matmul, inputs[0], inputs[1]);
  }
  return times(graph, times(graph, y[0], y[1]), check_unary(graph, ND4C_OP_sin, y[2]));
}

static nd4c_value products_of_one_row(nd4c_graph *graph) {
  return three_products(graph, 1, false);
}

static nd4c_value products_with_biases(nd4c_graph *graph) {
  return three_products(graph, 5, true);
}

static nd4c_value products_of_many_rows(nd4c_graph *graph) {
  return three_products(graph, 65, false);
}

/* The gate and the rest of a gated layer, of different widths behind a slice. */
static nd4c_value gated_products(nd4c_graph *graph) {
  const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){3, WIDTH});
  const nd4c_value gate = check_binary(graph, ND4C_OP_matmul, x, square_weights(graph, 20, 2 * WIDTH));
  const nd4c_value up = check_binary(graph, ND4C_OP_matmul, x, square_weights(graph, 21, 2 * WIDTH));
  return times(graph, times(graph, gate, check_unary(graph, ND4C_OP_sigmoid, gate)), up);
}

static nd4c_value turned_products(nd4c_graph *graph) {
  const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){3, WIDTH});
  const nd4c_attr turned = {.name = "transpose_w", .value = {.kind = ND4C_ATTR_BOOL, .as.i = 1}};
  nd4c_value y[2];
  for (int32_t i = 0; i < 2; i++) {
    const nd4c_value w = check_constant(graph, 2, (int64_t[]){WIDTH + WIDTH * i, WIDTH}, 20 + (uint64_t)i, -1, 1);
    y[i] = check_op(graph, ND4C_OP_linear, (nd4c_value[]){x, w}, 2, &turned, 1);
  }
  const nd4c_attr axis = check_int("axis", -1);
  return check_op(graph, ND4C_OP_concat, (nd4c_value[]){y[1], y[0]}, 2, &axis, 1);
}

/* Weights of bytes with a scale for each column, or one for all. */
static nd4c_value bytes_times(nd4c_graph *graph, nd4c_value x, int32_t seed, bool columns) {
  static int8_t weights_of[2 * WIDTH * WIDTH];
  nd4c_array *array = NULL;
  nd4c_value inputs[] = {x, ND4C_VALUE_NONE, check_scalar(graph, 0.01),
                         columns ? check_constant(graph, 1, (int64_t[]){2 * WIDTH}, 40 + (uint64_t)seed, 0.01, 0.02)
                                 : check_scalar(graph, 0.01 * (1 + seed))};
  for (int32_t i = 0; i < 2 * WIDTH * WIDTH; i++) {
    weights_of[i] = (int8_t)((i * 7 + seed * 13) % 251 - 125);
  }
  CHECK_OK(nd4c_array_from_data(ND4C_INT8, 2, (int64_t[]){2 * WIDTH, WIDTH}, weights_of, NULL, &array));
  CHECK_OK(nd4c_graph_constant(graph, array, &inputs[1]));
  nd4c_array_release(array);
  return check_op(graph, ND4C_OP_linear_int8, inputs, 4, NULL, 0);
}

static nd4c_value products_of_bytes(nd4c_graph *graph) {
  const nd4c_attr bytes = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_UINT8}};
  nd4c_value x = check_unary(graph, ND4C_OP_abs, check_input(graph, "x", 2, (int64_t[]){3, WIDTH}));
  x = times(graph, x, check_scalar(graph, 200));
  x = check_op(graph, ND4C_OP_cast, &x, 1, &bytes, 1);
  const nd4c_value y = times(graph, bytes_times(graph, x, 0, true), bytes_times(graph, x, 1, false));
  return times(graph, y, check_unary(graph, ND4C_OP_sin, bytes_times(graph, x, 2, true)));
}

static nd4c_value products_of_little_weights(nd4c_graph *graph) {
  const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){1, WIDTH});
  return times(graph, check_binary(graph, ND4C_OP_matmul, x, square_weights(graph, 20, WIDTH - 1)),
               check_binary(graph, ND4C_OP_matmul, x, square_weights(graph, 21, WIDTH - 1)));
}

/* The kernels of the products compute gelu on the way. */
static nd4c_value products_before_activations(nd4c_graph *graph) {
  const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){2, WIDTH});
  nd4c_value y[2];
  for (int32_t i = 0; i < 2; i++) {
    y[i] = check_unary(graph, ND4C_OP_gelu,
                       check_binary(graph, ND4C_OP_matmul, x, square_weights(graph, 20 + (uint64_t)i, WIDTH)));
    y[i] = check_op(graph, ND4C_OP_softmax, &y[i], 1, NULL, 0);
  }
  return plus(graph, y[0], y[1]);
}

static const fusion_case cases[] = {
    {"group_norm as PyTorch exports it", "group_norm", 3, ND4C_OP_group_norm, exported_group_norm},
    {"group_norm as it is imported", "group_norm", 3, ND4C_OP_group_norm, imported_group_norm},
    {"a scale inside the groups", "group_norm", 0, ND4C_OP_NONE, group_norm_with_a_scale_inside},
    {"group_norm in its parts", "group_norm", 2, ND4C_OP_group_norm, group_norm_in_parts},
    {"groups of all batches", "group_norm", 1, ND4C_OP_group_norm, groups_of_all_batches},
    {"rows across batches", "group_norm", 0, ND4C_OP_NONE, rows_across_batches},
    {"groups that cut channels", "group_norm", 0, ND4C_OP_NONE, groups_that_cut_channels},
    {"instance_norm in its parts", "group_norm", 2, ND4C_OP_group_norm, each_channel_with_parameters},
    {"a sum and layer_norm", "skip_norm", 1, ND4C_OP_skip_layer_norm, sum_and_layer_norm},
    {"a sum that is read again and rms_norm", "skip_norm", 1, ND4C_OP_skip_layer_norm, sum_and_rms_norm},
    {"a norm of two axes", "skip_norm", 0, ND4C_OP_NONE, norm_of_two_axes},
    {"a sum in a chain", "skip_norm", 0, ND4C_OP_NONE, sum_in_a_chain},
    {"a scale of the sum", "skip_norm", 0, ND4C_OP_NONE, scale_of_the_sum},
    {"products of one row", "join_products", 1, ND4C_OP_matmul, products_of_one_row},
    {"products with biases", "join_products", 1, ND4C_OP_linear, products_with_biases},
    {"products of many rows", "join_products", 0, ND4C_OP_NONE, products_of_many_rows},
    {"a gated layer", "join_products", 1, ND4C_OP_matmul, gated_products},
    {"products of turned weights", "join_products", 1, ND4C_OP_linear, turned_products},
    {"products of bytes", "join_products", 1, ND4C_OP_linear_int8, products_of_bytes},
    {"products of little weights", "join_products", 0, ND4C_OP_NONE, products_of_little_weights},
    {"products before activations", "join_products", 0, ND4C_OP_NONE, products_before_activations},
    {"a residual of a product", "fuse_addend", 1, ND4C_OP_linear, residual_of_a_product},
    {"a residual of a product of inputs", "fuse_addend", 0, ND4C_OP_NONE, residual_of_two_inputs},
    {"a factor behind a product", "scale_products", 1, ND4C_OP_matmul, factor_behind},
    {"a divisor behind a bias", "scale_products", 1, ND4C_OP_linear, divisor_behind_a_bias},
    {"a factor before a product", "scale_products", 1, ND4C_OP_matmul, factor_before},
    {"a factor of 0", "scale_products", 0, ND4C_OP_NONE, factor_zero},
    {"a factor that is too small", "scale_products", 0, ND4C_OP_NONE, factor_too_small},
    {"a factor behind an activation", "scale_products", 0, ND4C_OP_NONE, factor_behind_an_activation},
    {"weights of two products", "scale_products", 0, ND4C_OP_NONE, weights_of_two_products},
};

static void fusions_fire_on_their_patterns(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const fusion_case *row = &cases[i];
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    CHECK_OK(nd4c_graph_output(graph, "y", row->build(graph)));
    nd4c_plan *plan = check_graph(graph, 11, 1e-5);
    const int32_t changes = check_changes(plan, row->pass);
    if (changes != row->changes || (changes > 0 && !check_has_step(plan, row->becomes))) {
      char *report = NULL;
      CHECK_OK(nd4c_plan_report(plan, &report));
      print_error("%s", report);
      fail_msg("%s: %d changes, expected %d", row->name, (int)changes, (int)row->changes);
    }
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* -- recompute ----------------------------------------------------------------------------------------------------- */

enum { WIDE = 4096, NARROW = 16 };

typedef enum idle { CHEAP, TWO, PRODUCT, UNEQUAL } idle;

/* A wide value is made at once of a narrow one, and read again at the end, behind ops that need as much memory. TWO:
 * two such values, which one node reads. PRODUCT: it is dear to compute. UNEQUAL: as TWO, and the first one costs more.
 */
static nd4c_graph *make_idle_value(idle kind) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){1, NARROW});
  const nd4c_value w = check_input(graph, "w", 2, (int64_t[]){WIDE, 1});
  nd4c_value wide = kind == PRODUCT ? check_binary(graph, ND4C_OP_matmul, w, x) : times(graph, w, x);
  wide = kind == UNEQUAL ? check_unary(graph, ND4C_OP_tanh, wide) : wide;
  const bool two = kind == TWO || kind == UNEQUAL;
  const nd4c_value other = two ? plus(graph, w, x) : wide;
  nd4c_value y = two ? check_binary(graph, ND4C_OP_subtract, wide, other) : wide;
  for (int32_t i = 0; i < 3; i++) {
    const nd4c_attr axis = check_int("axis", i % 2);
    y = check_op(graph, ND4C_OP_softmax, &y, 1, &axis, 1);
  }
  const nd4c_value inputs[] = {y, wide, other};
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_clip, inputs, 3, NULL, 0)));
  return graph;
}

static int64_t arena_of(const nd4c_graph *graph, int64_t limit, int32_t *changes) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .arena_bytes = limit};
  nd4c_array *inputs[CHECK_PORTS] = {NULL}, *expected[CHECK_PORTS] = {NULL};
  nd4c_plan *plan = NULL;
  check_make_inputs(graph, 3, inputs);
  check_evaluate(graph, inputs, expected);
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  check_arena(plan);
  check_runs(plan, inputs, expected, 1e-6, "with a limit");
  const int64_t bytes = plan->arena_bytes;
  *changes = check_changes(plan, "recompute");
  check_release(inputs, graph->inputs.count);
  check_release(expected, graph->outputs.count);
  nd4c_plan_destroy(plan);
  return bytes;
}

/* A second step that needs as much memory as the first one, and which nothing lies idle over. */
static void nothing_is_computed_again_without_gain(void **state) {
  (void)state;
  int32_t changes = -1;
  nd4c_graph *graph = make_idle_value(CHEAP);
  const int64_t half = NARROW / 2;
  const nd4c_value x = check_input(graph, "x2", 2, (int64_t[]){1, NARROW + half});
  const nd4c_value w = check_input(graph, "w2", 2, (int64_t[]){WIDE, 1});
  nd4c_value z = times(graph, w, x);
  for (int32_t i = 0; i < 3; i++) {
    const nd4c_attr axis = check_int("axis", i % 2);
    z = check_op(graph, ND4C_OP_softmax, &z, 1, &axis, 1);
  }
  CHECK_OK(nd4c_graph_output(graph, "z", z));
  const int64_t kept = arena_of(graph, 0, &changes);
  assert_int_equal(arena_of(graph, 1, &changes), kept);
  assert_int_equal(changes, 0);
  nd4c_graph_destroy(graph);
}

static void idle_values_are_computed_again(void **state) {
  (void)state;
  const int64_t wide = (int64_t)sizeof(float) * WIDE * NARROW;
  for (idle kind = CHEAP; kind <= TWO; kind++) {
    int32_t changes = -1;
    nd4c_graph *graph = make_idle_value(kind);
    const int64_t kept = arena_of(graph, 0, &changes);
    assert_int_equal(changes, 0);
    assert_int_equal(arena_of(graph, 100 * kept, &changes), kept);
    assert_int_equal(changes, 0);
    assert_true(kept - arena_of(graph, 1, &changes) >= wide);
    assert_int_equal(changes, 1); /* of TWO, the reader needs both values at once: one copy is all that helps */
    CHECK_OK(nd4c_config_set("nd4c.plan.arena", "1"));
    assert_true(arena_of(graph, 0, &changes) < kept);
    assert_int_equal(arena_of(graph, 100 * kept, &changes), kept); /* the options take precedence */
    CHECK_OK(nd4c_config_set("nd4c.plan.arena", NULL));
    nd4c_graph_destroy(graph);
  }
}

static void dear_values_are_kept(void **state) {
  (void)state;
  int32_t changes = -1;
  nd4c_graph *graph = make_idle_value(PRODUCT);
  (void)arena_of(graph, 1, &changes);
  assert_int_equal(changes, 0);
  nd4c_graph_destroy(graph);
}

/* Of two values that free as much, the one that costs less. */
static void the_cheaper_value_is_computed_again(void **state) {
  (void)state;
  const nd4c_plan_options options = {.struct_size = sizeof options, .arena_bytes = 1};
  nd4c_graph *graph = make_idle_value(UNEQUAL);
  nd4c_plan *plan = NULL;
  int32_t sums = 0, dear = 0;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  assert_int_equal(check_changes(plan, "recompute"), 1);
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    const nd4c_op op = plan->graph->nodes[i].def == NULL ? ND4C_OP_NONE : plan->graph->nodes[i].def->info.op;
    sums += op == ND4C_OP_add;
    dear += op == ND4C_OP_tanh;
  }
  assert_int_equal(sums, 2);
  assert_int_equal(dear, 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void a_negative_limit_is_refused(void **state) {
  (void)state;
  const nd4c_plan_options options = {.struct_size = sizeof options, .arena_bytes = -1};
  nd4c_graph *graph = check_make_fork();
  nd4c_plan *plan = NULL;
  assert_int_equal(nd4c_plan_create(graph, NULL, &options, &plan), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "options.arena_bytes is -1, expected at least 0"));
  assert_null(plan);
  nd4c_graph_destroy(graph);
}

/* -- gelu in the tail ---------------------------------------------------------------------------------------------- */

enum { TAIL = 49 };

/* x (1 + erf(x / sqrt 2)) / 2 of -12, -11.75, ... 0, by a plan with these passes; *product: whether it has an erf. */
static void run_tail(const char *passes, float *x, float *y, bool *product) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .passes = passes};
  const int64_t shape[] = {TAIL};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_array *input = NULL, *output = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value given = check_input(graph, "x", 1, shape);
  nd4c_value share = check_binary(graph, ND4C_OP_divide, given, check_scalar(graph, sqrt(2)));
  share = check_binary(graph, ND4C_OP_add, check_unary(graph, ND4C_OP_erf, share), check_scalar(graph, 1));
  share = check_binary(graph, ND4C_OP_multiply, times(graph, given, share), check_scalar(graph, 0.5));
  CHECK_OK(nd4c_graph_output(graph, "y", share));
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  *product = !check_has_step(plan, ND4C_OP_gelu);
  for (int32_t i = 0; i < TAIL; i++) {
    x[i] = (float)i / 4 - 12;
  }
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, x, NULL, &input));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)&input, 1, &output, 1));
  CHECK_OK(nd4c_array_read(output, y, TAIL * sizeof *y));
  nd4c_array_release(input);
  nd4c_array_release(output);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* What docs/reference/plan-stages.md says of it: gelu has its digits there, the product is 0; they agree within |x|
 * times 2^-23. */
static void gelu_is_exact_in_its_tail(void **state) {
  (void)state;
  float x[TAIL], fused[TAIL], product[TAIL];
  bool is_product = true;
  run_tail("", x, fused, &is_product);
  assert_false(is_product);
  run_tail("-gelu", x, product, &is_product);
  assert_true(is_product);
  for (int32_t i = 0; i < TAIL; i++) {
    const double wide = (double)x[i], exact = wide / 2 * erfc(-wide / sqrt(2));
    if (fabs((double)fused[i] - exact) > 1e-5 * fabs(exact) ||
        fabs((double)fused[i] - (double)product[i]) > fabs(wide) * 0x1p-23) {
      fail_msg("x %g: gelu %g, the product %g, exactly %g", wide, (double)fused[i], (double)product[i], exact);
    }
    if (x[i] <= -6 && (product[i] != 0 || fused[i] >= 0)) {
      fail_msg("x %g: gelu %g, the product %g, expected less than 0 and 0", wide, (double)fused[i], (double)product[i]);
    }
  }
}

/* -- many nodes ---------------------------------------------------------------------------------------------------- */

/* A gelu has few factors: a product of many must not be searched from each of its nodes. */
static void long_products_take_linear_time(void **state) {
  (void)state;
  enum { FACTORS = 33334, NODES = 3 * FACTORS };
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 1, (int64_t[]){4});
  nd4c_value factor = x, product = x;
  for (int32_t i = 0; i < FACTORS; i++) {
    factor = plus(graph, check_unary(graph, ND4C_OP_sin, factor), x);
    product = times(graph, product, factor);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", product));
  const clock_t begin = clock();
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  assert_int_equal(plan->step_count, NODES);
  assert_true(seconds < 10);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fusions_fire_on_their_patterns),      cmocka_unit_test(nothing_is_computed_again_without_gain),
      cmocka_unit_test(idle_values_are_computed_again),      cmocka_unit_test(dear_values_are_kept),
      cmocka_unit_test(the_cheaper_value_is_computed_again), cmocka_unit_test(a_negative_limit_is_refused),
      cmocka_unit_test(gelu_is_exact_in_its_tail),           cmocka_unit_test(long_products_take_linear_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
