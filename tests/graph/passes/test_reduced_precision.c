/* Plans that compute nodes of float32 in bfloat16: which nodes do, where casts stand, what results keep, how weights
 * are shared, and what is refused. On a machine without instructions for bfloat16, products of a few rows are tested in
 * place of square ones, and without AVX2 only the refusals. */
#include <float.h>

#include "graph/graph_check.h"
#include "graph/match/fast.h"
#include "graph/precision.h"

enum { SIDE = 64, FEW = 4 };
static const int64_t square[] = {SIDE, SIDE}, few_rows[] = {FEW, SIDE};

/* bfloat16 has 8 bits: a rounding errs by 2^-9 at most. Three products with sums of 64 roundings each stay below this,
 * relative to the largest result. */
#define TOLERANCE 0x1p-6

/* The error of twelve layers is 6.9e-3 with sums in float32, and 9.3e-3 with sums in bfloat16. */
#define ERROR_OF_LAYERS 8e-3

static bool has_bfloat16(void) {
  nd4c_context *context = NULL;
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  return nd4c_precision_check_device(context, ND4C_BFLOAT16, "test") == ND4C_OK;
}

/* Whether products of any size, convolutions and attention are fast in bfloat16; otherwise it is used for weights that
 * few rows read. */
static bool multiplies_bfloat16(void) {
  nd4c_context *context = NULL;
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  return nd4c_multiplies_fast(context, ND4C_BFLOAT16);
}

static nd4c_value input_rows(nd4c_graph *graph) {
  return check_input(graph, "x", 2, multiplies_bfloat16() ? square : few_rows);
}

static nd4c_value linear(nd4c_graph *graph, nd4c_value x, uint64_t seed) {
  const nd4c_value w = check_constant(graph, 2, square, seed, -0.25, 0.25);
  const nd4c_value bias = check_constant(graph, 1, square, seed + 1, -0.25, 0.25);
  return check_op(graph, ND4C_OP_linear, (nd4c_value[]){x, w, bias}, 3, NULL, 0);
}

static nd4c_value product(nd4c_graph *graph, nd4c_value x, uint64_t seed) {
  return check_binary(graph, ND4C_OP_matmul, x, check_constant(graph, 2, square, seed, -0.25, 0.25));
}

static nd4c_plan *make_plan(const nd4c_graph *graph, nd4c_dtype precision) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .precision = precision};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  return plan;
}

/* -- patterns ------------------------------------------------------------------------------------------------------ */

/* Each makes y of x. */
static nd4c_value one_product(nd4c_graph *graph, nd4c_value x) {
  return product(graph, x, 1);
}
static nd4c_value two_products(nd4c_graph *graph, nd4c_value x) {
  return product(graph, product(graph, x, 1), 2);
}
static nd4c_value followers(nd4c_graph *graph, nd4c_value x) {
  const nd4c_value h = check_unary(graph, ND4C_OP_gelu, product(graph, x, 1));
  return product(graph, check_binary(graph, ND4C_OP_add, h, x), 2);
}
static nd4c_value exp_between(nd4c_graph *graph, nd4c_value x) {
  return product(graph, check_unary(graph, ND4C_OP_exp, product(graph, x, 1)), 2);
}
static nd4c_value no_anchor(nd4c_graph *graph, nd4c_value x) {
  return check_unary(graph, ND4C_OP_tanh, check_binary(graph, ND4C_OP_multiply, x, x));
}
static nd4c_value leaders(nd4c_graph *graph, nd4c_value x) {
  return product(graph, check_unary(graph, ND4C_OP_tanh, x), 1);
}
/* The product is read in both dtypes. */
static nd4c_value read_twice(nd4c_graph *graph, nd4c_value x) {
  const nd4c_value h = product(graph, x, 1);
  const nd4c_value a = check_unary(graph, ND4C_OP_exp, h), b = check_unary(graph, ND4C_OP_sin, h);
  return check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_add, a, b), product(graph, h, 2));
}
static nd4c_value trailer(nd4c_graph *graph, nd4c_value x) {
  return check_binary(graph, ND4C_OP_multiply, product(graph, x, 1), x);
}
static nd4c_value normalised(nd4c_graph *graph, nd4c_value x) {
  const nd4c_attr axis[] = {check_int("axis", -1)};
  const nd4c_value h = check_op(graph, ND4C_OP_softmax, (nd4c_value[]){product(graph, x, 1)}, 1, axis, 1);
  return product(graph, check_unary(graph, ND4C_OP_tanh, h), 2);
}

static nd4c_value norm(nd4c_graph *graph, nd4c_value x, uint64_t seed) {
  const nd4c_value scale = check_constant(graph, 1, square, seed, 0.5, 1.5);
  return check_op(graph, ND4C_OP_layer_norm, (nd4c_value[]){x, scale}, 2, NULL, 0);
}
/* A layer of a transformer: what it adds is of the reduced dtype, the sum is not. */
static nd4c_value block(nd4c_graph *graph, nd4c_value x, uint64_t seed) {
  const nd4c_value h = check_unary(graph, ND4C_OP_gelu, linear(graph, norm(graph, x, seed), seed + 1));
  return check_binary(graph, ND4C_OP_add, linear(graph, h, seed + 3), x);
}
static nd4c_value normalised_sum(nd4c_graph *graph, nd4c_value x) {
  return product(graph, norm(graph, block(graph, x, 1), 8), 9);
}
/* The sum goes through a second add before the norm reads it, and a product adds to it with an activation. */
static nd4c_value sum_of_three(nd4c_graph *graph, nd4c_value x) {
  const nd4c_value first = check_binary(graph, ND4C_OP_add, product(graph, x, 1), x);
  const nd4c_value second = check_binary(graph, ND4C_OP_subtract, first, product(graph, x, 2));
  return product(graph, norm(graph, second, 8), 9);
}
static nd4c_value sum_of_relu(nd4c_graph *graph, nd4c_value x) {
  const nd4c_value sum = check_binary(graph, ND4C_OP_add, linear(graph, x, 1), x);
  return product(graph, norm(graph, check_unary(graph, ND4C_OP_relu, sum), 8), 9);
}
/* Twelve layers. */
static nd4c_value layers(nd4c_graph *graph, nd4c_value x) {
  for (uint64_t i = 0; i < 12; i++) {
    x = block(graph, x, 10 * i);
  }
  return product(graph, norm(graph, x, 500), 501);
}

static const struct pattern {
  const char *name;
  nd4c_value (*make)(nd4c_graph *graph, nd4c_value x);
  int32_t counts[3]; /* nodes of bfloat16 and of float32, and casts */
  int32_t few[3];    /* the same where only few rows are fast, if it differs */
} patterns[] = {
    {"a product between two casts", one_product, {1, 0, 2}, {0}},
    {"no casts between products", two_products, {2, 0, 2}, {0}},
    {"what follows a product; x is cast once", followers, {4, 0, 2}, {3, 1, 4}},
    {"exp stays float32", exp_between, {2, 1, 4}, {0}},
    {"nothing without a product", no_anchor, {0, 2, 0}, {0}},
    {"what only precedes a product stays float32", leaders, {1, 1, 2}, {0}},
    {"readers of float32 share a cast", read_twice, {2, 4, 3}, {0}},
    {"what follows the last product stays float32", trailer, {1, 1, 2}, {0}},
    {"softmax follows", normalised, {4, 0, 2}, {0}},
    {"sums that a norm reads stay float32", normalised_sum, {3, 3, 4}, {0}},
    {"so do sums before them", sum_of_three, {3, 3, 5}, {0}},
    {"an activation between sum and norm follows", sum_of_relu, {2, 1, 4}, {0}},
};

static void count(const nd4c_plan *plan, int32_t *reduced, int32_t *kept, int32_t *casts) {
  *reduced = *kept = *casts = 0;
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    const nd4c_dtype dtype = plan->graph->values[node->outputs[0]].dtype;
    const bool cast = node->def->info.op == ND4C_OP_cast;
    *casts += cast;
    *reduced += !cast && dtype == ND4C_BFLOAT16;
    *kept += !cast && dtype == ND4C_FLOAT32;
  }
}

static void check_pattern(const struct pattern *pattern) {
  nd4c_graph *graph = NULL;
  nd4c_array *input[1] = {NULL}, *expected[1] = {NULL};
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", pattern->make(graph, input_rows(graph))));
  check_make_inputs(graph, 7, input);
  check_evaluate(graph, input, expected);
  nd4c_plan *plan = make_plan(graph, ND4C_BFLOAT16);
  const int32_t *n = multiplies_bfloat16() || pattern->few[0] == 0 ? pattern->counts : pattern->few;
  int32_t reduced, kept, casts;
  count(plan, &reduced, &kept, &casts);
  if (reduced != n[0] || kept != n[1] || casts != n[2]) {
    char *report = NULL;
    CHECK_OK(nd4c_plan_report(plan, &report));
    fail_msg("%s: %d nodes of bfloat16, %d of float32 and %d casts, expected %d, %d and %d:\n%s", pattern->name,
             reduced, kept, casts, n[0], n[1], n[2], report);
  }
  check_runs(plan, input, expected, n[0] > 0 ? TOLERANCE : 1e-6, pattern->name);
  nd4c_plan_destroy(plan);
  check_release(input, 1);
  check_release(expected, 1);
  nd4c_graph_destroy(graph);
}

static void products_and_what_follows_them_are_reduced(void **state) {
  (void)state;
  for (size_t i = 0; has_bfloat16() && i < sizeof patterns / sizeof patterns[0]; i++) {
    check_pattern(&patterns[i]);
  }
}

static nd4c_plan *plan_of(nd4c_value (*make)(nd4c_graph *graph, nd4c_value x), int64_t rows, nd4c_dtype precision) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", make(graph, check_input(graph, "x", 2, (int64_t[]){rows, SIDE}))));
  nd4c_plan *plan = make_plan(graph, precision);
  nd4c_graph_destroy(graph);
  return plan;
}

/* Without instructions for bfloat16, products of many rows are faster in float32: the plan is that of float32, with all
 * that it fuses. */
static void many_rows_stay_in_float32(void **state) {
  static nd4c_value (*const makes[])(nd4c_graph *graph, nd4c_value x) = {two_products, followers, sum_of_three, layers};
  (void)state;
  for (size_t i = 0; has_bfloat16() && !multiplies_bfloat16() && i < sizeof makes / sizeof *makes; i++) {
    nd4c_plan *plan = plan_of(makes[i], SIDE, ND4C_BFLOAT16), *wide = plan_of(makes[i], SIDE, ND4C_DTYPE_NONE);
    int32_t reduced, kept, casts;
    count(plan, &reduced, &kept, &casts);
    assert_int_equal(reduced + casts, 0);
    assert_int_equal(plan->graph->node_count, wide->graph->node_count);
    for (int32_t n = 0; n < plan->graph->node_count; n++) {
      assert_int_equal(plan->graph->nodes[n].def->info.op, wide->graph->nodes[n].def->info.op);
    }
    nd4c_plan_destroy(plan);
    nd4c_plan_destroy(wide);
  }
}

/* Root mean square of the error, relative to that of the results. */
static double error_of(nd4c_value (*make)(nd4c_graph *graph, nd4c_value x)) {
  nd4c_graph *graph = NULL;
  nd4c_array *input[1] = {NULL}, *expected[1] = {NULL}, *output = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", make(graph, input_rows(graph))));
  check_make_inputs(graph, 7, input);
  check_evaluate(graph, input, expected);
  nd4c_plan *plan = make_plan(graph, ND4C_BFLOAT16);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)input, 1, &output, 1));
  static float exact[SIDE * SIDE], reduced[SIDE * SIDE];
  double errors = 0, squares = 0;
  const int32_t size = (multiplies_bfloat16() ? SIDE : FEW) * SIDE;
  CHECK_OK(nd4c_array_read(expected[0], exact, (size_t)size * sizeof *exact));
  CHECK_OK(nd4c_array_read(output, reduced, (size_t)size * sizeof *reduced));
  for (int32_t i = 0; i < size; i++) {
    errors += ((double)reduced[i] - exact[i]) * ((double)reduced[i] - exact[i]);
    squares += (double)exact[i] * exact[i];
  }
  nd4c_plan_destroy(plan);
  check_release((nd4c_array *[]){input[0], expected[0], output}, 3);
  nd4c_graph_destroy(graph);
  return sqrt(errors / squares);
}

static void roundings_do_not_add_up_over_layers(void **state) {
  (void)state;
  if (has_bfloat16()) {
    const double error = error_of(layers);
    print_message("twelve layers: RMS %.2e\n", error);
    assert_true(error < ERROR_OF_LAYERS);
  }
}

static void nothing_changes_unless_asked(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", two_products(graph, check_input(graph, "x", 2, square))));
  nd4c_plan *plan = make_plan(graph, ND4C_DTYPE_NONE);
  int32_t reduced, kept, casts;
  count(plan, &reduced, &kept, &casts);
  assert_int_equal(reduced + casts, 0);
  assert_int_equal(kept, 2);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- a network ----------------------------------------------------------------------------------------------------- */

static nd4c_value conv(nd4c_graph *graph, nd4c_value x, int64_t from, int64_t to, uint64_t seed) {
  const int64_t shape[] = {to, from, 3, 3}, pads[] = {1, 1, 1, 1};
  const nd4c_attr attrs[] = {check_ints("pads", pads, 4)};
  const nd4c_value w = check_constant(graph, 4, shape, seed, -0.2, 0.2),
                   bias = check_constant(graph, 1, &to, seed + 1, -0.2, 0.2);
  return check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w, bias}, 3, attrs, 1);
}

/* The normalisation of a conv's result after a relu, which no conv can take over. */
static nd4c_value normalise(nd4c_graph *graph, nd4c_value x, int64_t channels, uint64_t seed) {
  nd4c_value inputs[ND4C_IN_batch_norm_count] = {x};
  for (int i = ND4C_IN_batch_norm_scale; i < ND4C_IN_batch_norm_count; i++) {
    inputs[i] = check_constant(graph, 1, &channels, seed + (uint64_t)i, 0.5, 1.5);
  }
  return check_op(graph, ND4C_OP_batch_norm, inputs, ND4C_IN_batch_norm_count, NULL, 0);
}

/* Convolutions with a shortcut, a pool, a normalisation, and a classifier; the features are an output, too. */
static nd4c_graph *make_network(void) {
  const int64_t image[] = {1, 8, 24, 24}, flat[] = {1, SIDE}, window[] = {2, 2};
  const nd4c_attr pool[] = {check_ints("kernel", window, 2), check_ints("strides", window, 2)};
  const nd4c_attr to_flat[] = {check_ints("shape", flat, 2)};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, image);
  nd4c_value h = check_unary(graph, ND4C_OP_relu, conv(graph, x, 8, SIDE, 1));
  h = check_op(graph, ND4C_OP_max_pool, &h, 1, pool, 2);
  h = check_unary(graph, ND4C_OP_relu, check_binary(graph, ND4C_OP_add, conv(graph, h, SIDE, SIDE, 3), h));
  h = normalise(graph, h, SIDE, 40);
  h = check_unary(graph, ND4C_OP_relu, conv(graph, h, SIDE, SIDE, 9));
  CHECK_OK(nd4c_graph_output(graph, "features", h));
  h = check_unary(graph, ND4C_OP_global_average_pool, h);
  h = check_op(graph, ND4C_OP_reshape, &h, 1, to_flat, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", linear(graph, h, 5)));
  return graph;
}

/* The plan has a node with this op, and each of them computes in the dtype. */
static void check_dtype(const nd4c_plan *plan, nd4c_op op, nd4c_dtype dtype) {
  int32_t found = 0;
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    if (node->def->info.op == op) {
      found++;
      assert_int_equal(plan->graph->values[node->outputs[0]].dtype, dtype);
    }
  }
  assert_int_not_equal(found, 0);
}

static void a_network_keeps_its_outputs(void **state) {
  (void)state;
  nd4c_graph *graph = make_network();
  nd4c_array *input[1] = {NULL}, *expected[2] = {NULL};
  check_make_inputs(graph, 11, input);
  check_evaluate(graph, input, expected);
  if (has_bfloat16()) {
    nd4c_plan *plan = make_plan(graph, ND4C_BFLOAT16);
    check_arena(plan);
    check_dtype(plan, ND4C_OP_max_pool, multiplies_bfloat16() ? ND4C_BFLOAT16 : ND4C_FLOAT32);
    check_dtype(plan, ND4C_OP_conv, multiplies_bfloat16() ? ND4C_BFLOAT16 : ND4C_FLOAT32);
    check_dtype(plan, ND4C_OP_batch_norm, multiplies_bfloat16() ? ND4C_BFLOAT16 : ND4C_FLOAT32);
    check_dtype(plan, ND4C_OP_linear, ND4C_BFLOAT16);
    check_runs(plan, input, expected, TOLERANCE, "a network"); /* also compares the dtypes */
    nd4c_plan_destroy(plan);
  }
  check_release(input, 1);
  check_release(expected, 2);
  nd4c_graph_destroy(graph);
}

/* -- numbers ------------------------------------------------------------------------------------------------------- */

static float result_of(float x, float w) {
  nd4c_graph *graph = NULL;
  nd4c_array *input = check_array(ND4C_FLOAT32, 2, few_rows, 1, 0, 0),
             *weights = check_array(ND4C_FLOAT32, 2, square, 1, 0, 0);
  nd4c_array *output = NULL;
  nd4c_value constant = ND4C_VALUE_NONE;
  void *data = NULL;
  CHECK_OK(nd4c_array_data_mutable(input, &data));
  ((float *)data)[0] = x;
  CHECK_OK(nd4c_array_data_mutable(weights, &data));
  ((float *)data)[0] = w;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value given = check_input(graph, "x", 2, few_rows);
  CHECK_OK(nd4c_graph_constant(graph, weights, &constant));
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_matmul, given, constant)));
  nd4c_plan *plan = make_plan(graph, ND4C_BFLOAT16);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const[]){input}, 1, &output, 1));
  float numbers[FEW * SIDE];
  CHECK_OK(nd4c_array_read(output, numbers, sizeof numbers));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release((nd4c_array *[]){input, weights, output}, 3);
  return numbers[0];
}

static void special_numbers_pass(void **state) {
  (void)state;
  if (!has_bfloat16()) {
    return;
  }
  assert_true(isnan(result_of(NAN, 1)));
  assert_true(isnan(result_of(1, NAN)));
  assert_true(result_of(INFINITY, 2) == INFINITY);
  assert_true(result_of(2, -INFINITY) == -INFINITY);
  /* A weight beyond bfloat16's largest number stays finite; an input is rounded, to infinity. */
  assert_true(result_of(0.5F, FLT_MAX) == 0x1.FEp126F);
  assert_true(result_of(FLT_MAX, 0.5F) == INFINITY);
  assert_true(result_of(3, 1 + 0x1p-9F) == 3); /* weights are rounded to nearest even */
}

/* A mask with float32's lowest number, as models make it: bfloat16 does not have it, and a row of infinities would give
 * NaN. */
static void check_masks(bool attention) {
  const nd4c_attr axis = check_int("axis", -1);
  nd4c_graph *graph = NULL;
  nd4c_array *inputs[2] = {NULL}, *expected[1] = {NULL};
  void *data = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, square), mask = check_input(graph, "mask", 2, square);
  const nd4c_value scores = check_binary(graph, ND4C_OP_add, product(graph, x, 1), mask);
  const nd4c_value shares = check_op(graph, ND4C_OP_softmax, &scores, 1, &axis, 1);
  const nd4c_value taken = attention ? shares : check_unary(graph, ND4C_OP_tanh, shares);
  CHECK_OK(nd4c_graph_output(graph, "y", product(graph, taken, 2)));
  check_make_inputs(graph, 7, inputs);
  CHECK_OK(nd4c_array_data_mutable(inputs[1], &data));
  for (int32_t i = 0; i < SIDE * SIDE; i++) { /* row 0 as a whole, half of the others */
    ((float *)data)[i] = i < SIDE || i % 2 == 0 ? -FLT_MAX : 0;
  }
  check_evaluate(graph, inputs, expected);
  nd4c_plan *plan = make_plan(graph, ND4C_BFLOAT16);
  int32_t reduced, kept, casts;
  count(plan, &reduced, &kept, &casts);
  assert_int_equal(check_has_step(plan, ND4C_OP_attention), attention);
  assert_int_equal(reduced, attention ? 1 : 5);
  check_runs(plan, inputs, expected, TOLERANCE, "masks");
  nd4c_plan_destroy(plan);
  check_release(inputs, 2);
  check_release(expected, 1);
  nd4c_graph_destroy(graph);
}

static void wholly_masked_rows_are_finite(void **state) {
  (void)state;
  if (multiplies_bfloat16()) {
    check_masks(true);
    check_masks(false);
  }
}

/* Queries, keys, and features of a head: whole tiles and vectors of the products, and parts of them. */
static void attention_of_any_size(void **state) {
  static const int64_t sizes[][4] = {{1, 5, 64, 64},     {7, 16, 32, 16},   {33, 37, 64, 20}, {40, 200, 96, 64},
                                     {128, 128, 64, 64}, {64, 131, 48, 18}, {20, 12, 64, 64}};
  (void)state;
  for (size_t i = 0; multiplies_bfloat16() && i < sizeof sizes / sizeof *sizes; i++) {
    const int64_t *n = sizes[i], q[] = {2, 3, n[0], n[2]}, k[] = {2, 3, n[1], n[2]}, v[] = {2, 3, n[1], n[3]};
    nd4c_graph *graph = NULL;
    nd4c_array *inputs[3] = {NULL}, *expected[1] = {NULL};
    char name[64];
    CHECK_OK(nd4c_graph_create(&graph));
    const nd4c_value operands[] = {check_input(graph, "q", 4, q), check_input(graph, "k", 4, k),
                                   check_input(graph, "v", 4, v)};
    CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_attention, operands, 3, NULL, 0)));
    check_make_inputs(graph, 3, inputs);
    check_evaluate(graph, inputs, expected);
    nd4c_plan *plan = make_plan(graph, ND4C_BFLOAT16);
    check_dtype(plan, ND4C_OP_attention, ND4C_BFLOAT16);
    (void)snprintf(name, sizeof name, "attention of %lld queries, %lld keys", (long long)n[0], (long long)n[1]);
    check_runs(plan, inputs, expected, TOLERANCE, name);
    nd4c_plan_destroy(plan);
    check_release(inputs, 3);
    check_release(expected, 1);
    nd4c_graph_destroy(graph);
  }
}

/* -- weights ------------------------------------------------------------------------------------------------------- */

static const nd4c_array *weights_of(const nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    if (node->def->info.op == ND4C_OP_matmul) {
      return plan->graph->values[node->inputs[1]].constant;
    }
  }
  return NULL;
}

static void plans_share_converted_weights(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  if (!has_bfloat16()) {
    return;
  }
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", product(graph, input_rows(graph), 3)));
  nd4c_plan *first = make_plan(graph, ND4C_BFLOAT16), *second = make_plan(graph, ND4C_BFLOAT16);
  nd4c_plan *wide = make_plan(graph, ND4C_DTYPE_NONE);
  assert_non_null(weights_of(first));
  assert_ptr_equal(weights_of(first), weights_of(second));
  assert_int_equal(nd4c_array_dtype(weights_of(first)), ND4C_BFLOAT16);
  assert_int_equal(nd4c_array_dtype(weights_of(wide)), ND4C_FLOAT32);
  nd4c_plan_destroy(first);
  nd4c_plan_destroy(wide);
  nd4c_plan_destroy(second);
  nd4c_graph_destroy(graph);
}

/* -- asking -------------------------------------------------------------------------------------------------------- */

static nd4c_status attempt(const nd4c_plan_options *options) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", product(graph, input_rows(graph), 3)));
  const nd4c_status status = nd4c_plan_create(graph, NULL, options, &plan);
  assert_true((plan != NULL) == (status == ND4C_OK));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  return status;
}

static void wrong_requests_are_refused(void **state) {
  (void)state;
  nd4c_plan_options options = {.struct_size = sizeof options, .precision = ND4C_FLOAT64};
  assert_int_equal(attempt(&options), ND4C_ARGUMENT);
  assert_string_equal(nd4c_error_message(),
                      "options.precision is float64 (13), expected bfloat16, float16, int8 or none");
  options = (nd4c_plan_options){.struct_size = sizeof options, .precision = ND4C_BFLOAT16, .no_optimization = true};
  assert_int_equal(attempt(&options), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "options.precision and options.no_optimization are both set"));
  options.struct_size = offsetof(nd4c_plan_options, precision); /* an older program's struct */
  options.no_optimization = false;
  options.precision = ND4C_FLOAT64;
  CHECK_OK(attempt(&options));
  CHECK_OK(nd4c_config_set("nd4c.plan.precision", "float64"));
  assert_int_equal(attempt(NULL), ND4C_CONFIG);
  assert_string_equal(nd4c_error_message(),
                      "nd4c.plan.precision (ND4C_PLAN_PRECISION) is 'float64', expected bfloat16, float16 or int8");
  CHECK_OK(nd4c_config_set("nd4c.plan.precision", NULL));
}

static void slow_devices_are_refused(void **state) {
  (void)state;
  const nd4c_plan_options options = {.struct_size = sizeof options, .precision = ND4C_BFLOAT16};
  CHECK_OK(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", "onednn,simd"));
  assert_int_equal(attempt(&options), ND4C_UNSUPPORTED);
  assert_string_equal(
      nd4c_error_message(),
      "options.precision is bfloat16: device cpu:0 has no fast matrix product of this dtype; use none: float32 "
      "is faster there");
  CHECK_OK(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", NULL));
  if (has_bfloat16()) { /* the CPU computes float16 in float32 */
    const nd4c_plan_options half = {.struct_size = sizeof half, .precision = ND4C_FLOAT16};
    assert_int_equal(attempt(&half), ND4C_UNSUPPORTED);
    assert_string_equal(nd4c_error_message(),
                        "options.precision is float16: device cpu:0 has no fast matrix product of this dtype; use "
                        "bfloat16");
  }
}

static void ahead_of_time_is_refused(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  const nd4c_plan_options options = {.struct_size = sizeof options, .precision = ND4C_BFLOAT16};
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", product(graph, input_rows(graph), 3)));
  assert_int_equal(nd4c_plan_compile(graph, "cpu:0", &options, "unused", NULL), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "compiled ahead of time keep their dtypes"));
  nd4c_graph_destroy(graph);
}

static void the_report_says_what_was_asked_and_done(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  char *text = NULL;
  if (!has_bfloat16()) {
    return;
  }
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", exp_between(graph, input_rows(graph))));
  CHECK_OK(nd4c_config_set("nd4c.plan.precision", "bfloat16"));
  nd4c_plan *plan = make_plan(graph, ND4C_DTYPE_NONE);
  CHECK_OK(nd4c_config_set("nd4c.plan.precision", NULL));
  CHECK_OK(nd4c_plan_report(plan, &text));
  assert_non_null(strstr(text,
                         "precision: bfloat16 (nd4c.plan.precision); 2 nodes compute in it, 1 in float32, "
                         "between 4 casts\n"));
  nd4c_free(text);
  nd4c_plan_destroy(plan);
  const nd4c_plan_options off = {.struct_size = sizeof off, .precision = ND4C_BFLOAT16, .passes = "-reduced_precision"};
  CHECK_OK(nd4c_plan_create(graph, NULL, &off, &plan));
  CHECK_OK(nd4c_plan_report(plan, &text));
  assert_non_null(strstr(text,
                         "precision: bfloat16 (options.precision) is not used, because the pass "
                         "reduced_precision is switched off\n"));
  assert_non_null(strstr(text,
                         "requested but not applied:\n  precision bfloat16 (options.precision): the pass "
                         "reduced_precision is switched off\n"));
  assert_int_equal(plan->steps[0].call.flags & ND4C_CALL_REDUCED, 0);
  nd4c_free(text);
  nd4c_plan_destroy(plan);
  const nd4c_plan_options plain = {.struct_size = sizeof plain, .no_optimization = true};
  CHECK_OK(nd4c_config_set("nd4c.plan.precision", "bfloat16"));
  CHECK_OK(nd4c_plan_create(graph, NULL, &plain, &plan));
  CHECK_OK(nd4c_config_set("nd4c.plan.precision", NULL));
  CHECK_OK(nd4c_plan_report(plan, &text));
  assert_non_null(strstr(text,
                         "precision: bfloat16 (nd4c.plan.precision) is not used, because "
                         "options.no_optimization is set\n"));
  assert_int_equal(plan->steps[0].call.flags & ND4C_CALL_REDUCED, 0);
  nd4c_free(text);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_and_what_follows_them_are_reduced),
      cmocka_unit_test(many_rows_stay_in_float32),
      cmocka_unit_test(roundings_do_not_add_up_over_layers),
      cmocka_unit_test(nothing_changes_unless_asked),
      cmocka_unit_test(a_network_keeps_its_outputs),
      cmocka_unit_test(special_numbers_pass),
      cmocka_unit_test(wholly_masked_rows_are_finite),
      cmocka_unit_test(attention_of_any_size),
      cmocka_unit_test(plans_share_converted_weights),
      cmocka_unit_test(wrong_requests_are_refused),
      cmocka_unit_test(slow_devices_are_refused),
      cmocka_unit_test(ahead_of_time_is_refused),
      cmocka_unit_test(the_report_says_what_was_asked_and_done),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
