/* Plans of graphs of float16 and bfloat16 on the CPU: which nodes compute in float32, where values are rounded, what
 * stays in 16 bits, and what the report says. */
#include "dispatch/choice.h"
#include "graph/graph_check.h"
#include "graph/match/fast.h"

enum { SIDE = 64, ROWS = 100 };
static const int64_t square[] = {SIDE, SIDE};

/* A rounding to float16 errs by 2^-11 at most. */
#define ONE_ROUNDING 0x1p-11

static nd4c_array *as(const nd4c_array *x, nd4c_dtype dtype) {
  nd4c_array *y = NULL;
  CHECK_OK(nd4c_cast(x, dtype, &y));
  return y;
}

/* A constant whose numbers float16 has, in the dtype. */
static nd4c_value weights(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape, uint64_t seed) {
  nd4c_array *wide = check_array(ND4C_FLOAT32, rank, shape, seed, -0.25, 0.25), *half = as(wide, ND4C_FLOAT16);
  nd4c_array *given = as(half, dtype);
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_constant(graph, given, &value));
  check_release((nd4c_array *[]){wide, half, given}, 3);
  return value;
}

static nd4c_value input_of(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape) {
  nd4c_value value = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_input(graph, "x", dtype, rank, shape, &value));
  return value;
}

static nd4c_array *result_of(nd4c_plan *plan, const nd4c_array *input) {
  nd4c_array *output = NULL;
  CHECK_OK(nd4c_plan_run(plan, &input, 1, &output, 1));
  return output;
}

/* -- networks ------------------------------------------------------------------------------------------------------ */

static nd4c_value convolved(nd4c_graph *graph, nd4c_dtype dtype, nd4c_value x, int64_t from, uint64_t seed) {
  const int64_t shape[] = {SIDE, from, 3, 3}, pads[] = {1, 1, 1, 1};
  const nd4c_attr attrs[] = {check_ints("pads", pads, 4)};
  return check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, weights(graph, dtype, 4, shape, seed)}, 2, attrs, 1);
}

/* Convolutions, a normalisation with group_norm, a pool and a product. */
static nd4c_graph *make_network(nd4c_dtype dtype) {
  const int64_t image[] = {1, 8, 12, 12}, flat[] = {1, SIDE};
  const nd4c_attr to_flat[] = {check_ints("shape", flat, 2)}, groups[] = {check_int("groups", 4)};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = input_of(graph, dtype, 4, image);
  nd4c_value h = check_unary(graph, ND4C_OP_relu, convolved(graph, dtype, x, 8, 1));
  const nd4c_value norm[] = {h, weights(graph, dtype, 1, square, 2), weights(graph, dtype, 1, square, 3)};
  h = check_op(graph, ND4C_OP_group_norm, norm, 3, groups, 1);
  h = check_unary(graph, ND4C_OP_relu, convolved(graph, dtype, h, SIDE, 4));
  h = check_unary(graph, ND4C_OP_global_average_pool, h);
  h = check_op(graph, ND4C_OP_reshape, &h, 1, to_flat, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_matmul, h, weights(graph, dtype, 2, square, 5))));
  return graph;
}

/* Every step but casts computes in float32. */
static void check_wide(const nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    if (node->def->info.op != ND4C_OP_cast) {
      assert_int_equal(plan->graph->values[node->outputs[0]].dtype, ND4C_FLOAT32);
    }
  }
}

static void a_network_computes_in_float32(void **state) {
  (void)state;
  const int64_t image[] = {1, 8, 12, 12};
  nd4c_array *wide = check_array(ND4C_FLOAT32, 4, image, 7, -1, 1), *half = as(wide, ND4C_FLOAT16);
  nd4c_array *exact = as(half, ND4C_FLOAT32);
  nd4c_graph *graphs[] = {make_network(ND4C_FLOAT16), make_network(ND4C_FLOAT32)};
  nd4c_plan *plans[2] = {NULL};
  char *text = NULL;
  for (int32_t i = 0; i < 2; i++) {
    CHECK_OK(nd4c_plan_create(graphs[i], NULL, NULL, &plans[i]));
  }
  check_wide(plans[0]);
  assert_int_equal(check_changes(plans[0], "widen"), 8);
  assert_int_equal(check_changes(plans[1], "widen"), 0);
  nd4c_array *got = result_of(plans[0], half), *expected = result_of(plans[1], exact);
  assert_int_equal(nd4c_array_dtype(got), ND4C_FLOAT16);
  nd4c_array *shown = as(got, ND4C_FLOAT32);
  const double difference = check_difference(expected, shown);
  assert_true(difference <= ONE_ROUNDING);
  CHECK_OK(nd4c_plan_report(plans[0], &text));
  assert_non_null(strstr(text,
                         "16-bit floats: 8 nodes compute in float32, because cpu:0 has no fast kernels for them in 16 "
                         "bits; outputs and casts round\n"));
  nd4c_free(text);
  for (int32_t i = 0; i < 2; i++) {
    nd4c_plan_destroy(plans[i]);
    nd4c_graph_destroy(graphs[i]);
  }
  check_release((nd4c_array *[]){wide, half, exact, got, expected, shown}, 6);
}

/* With the pass switched off each node converts by itself, and none is left to the reference. */
static void single_ops_convert(void **state) {
  (void)state;
  const int64_t image[] = {1, 8, 12, 12};
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT16, ND4C_BFLOAT16};
  for (int32_t d = 0; d < 2; d++) {
    nd4c_array *wide = check_array(ND4C_FLOAT32, 4, image, 7, -1, 1), *half = as(wide, dtypes[d]);
    nd4c_graph *graph = make_network(dtypes[d]);
    const nd4c_plan_options off = {.struct_size = sizeof off, .passes = "-widen"};
    nd4c_plan *plans[2] = {NULL};
    CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plans[0]));
    CHECK_OK(nd4c_plan_create(graph, NULL, &off, &plans[1]));
    for (int32_t i = 0; i < plans[1]->step_count; i++) {
      const nd4c_choice *choice = plans[1]->steps[i].choice;
      assert_true(choice == NULL || strcmp(nd4c_choice_engine(choice), "reference") != 0);
    }
    nd4c_array *a = result_of(plans[0], half), *b = result_of(plans[1], half);
    nd4c_array *left = as(a, ND4C_FLOAT32), *right = as(b, ND4C_FLOAT32);
    assert_true(check_difference(left, right) <= (d == 0 ? 8 : 64) * ONE_ROUNDING);
    nd4c_plan_destroy(plans[0]);
    nd4c_plan_destroy(plans[1]);
    nd4c_graph_destroy(graph);
    check_release((nd4c_array *[]){wide, half, a, b, left, right}, 6);
  }
}

/* -- single nodes -------------------------------------------------------------------------------------------------- */

/* A lookup in a table of float16 reads 16 bits, and its reader converts. */
static void tables_stay_in_16_bits(void **state) {
  (void)state;
  const int64_t table[] = {ROWS, SIDE}, places[] = {5};
  nd4c_graph *graph = NULL;
  nd4c_value ids = ND4C_VALUE_NONE;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "ids", ND4C_INT64, 1, places, &ids));
  const nd4c_value rows = check_binary(graph, ND4C_OP_gather, weights(graph, ND4C_FLOAT16, 2, table, 1), ids);
  CHECK_OK(nd4c_graph_output(graph, "y",
                             check_binary(graph, ND4C_OP_matmul, rows, weights(graph, ND4C_FLOAT16, 2, square, 2))));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  bool found = false;
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    if (node->def->info.op == ND4C_OP_gather) {
      found = true;
      assert_int_equal(plan->graph->values[node->inputs[0]].dtype, ND4C_FLOAT16);
    }
  }
  assert_true(found);
  assert_int_equal(check_changes(plan, "widen"), 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* A cast of the model rounds, although its reader computes in float32; a product between two nodes does not. */
static void casts_of_the_model_round(void **state) {
  (void)state;
  nd4c_array *input = check_array(ND4C_FLOAT32, 2, square, 1, 0, 0),
             *identity = check_array(ND4C_FLOAT32, 2, square, 1, 0, 0);
  nd4c_array *half = NULL;
  const nd4c_attr attr = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT16}};
  const nd4c_attr back = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT32}};
  void *data = NULL;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value constant = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_data_mutable(input, &data));
  ((float *)data)[0] = 1 + 0x1p-11F + 0x1p-20F; /* rounds to 1 + 2^-10 */
  CHECK_OK(nd4c_array_data_mutable(identity, &data));
  for (int32_t i = 0; i < SIDE; i++) {
    ((float *)data)[i * SIDE + i] = 1 + 0x1p-10F;
  }
  half = as(identity, ND4C_FLOAT16);
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_constant(graph, half, &constant));
  const nd4c_value x = check_input(graph, "x", 2, square);
  const nd4c_value narrow = check_op(graph, ND4C_OP_cast, &x, 1, &attr, 1);
  const nd4c_value y = check_binary(graph, ND4C_OP_matmul, narrow, constant);
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_cast, &y, 1, &back, 1)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_array *output = result_of(plan, input);
  const void *numbers = NULL;
  CHECK_OK(nd4c_array_data(output, &numbers));
  assert_true(((const float *)numbers)[0] == (1 + 0x1p-10F) * (1 + 0x1p-10F));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release((nd4c_array *[]){input, identity, half, output}, 4);
}

/* The first element of op(x w) of float16, where x and w have one number each, at the first place. Only the product
 * computes in float32. */
static double after_product(nd4c_op op, double x_number, double weight, nd4c_dtype cast_to) {
  const nd4c_attr to = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = cast_to}};
  nd4c_array *wide[2] = {check_array(ND4C_FLOAT32, 2, square, 1, 0, 0), check_array(ND4C_FLOAT32, 2, square, 1, 0, 0)};
  const double numbers[] = {x_number, weight};
  nd4c_array *half[2] = {NULL};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value constant = ND4C_VALUE_NONE;
  for (int32_t i = 0; i < 2; i++) {
    void *data = NULL;
    CHECK_OK(nd4c_array_data_mutable(wide[i], &data));
    ((float *)data)[0] = (float)numbers[i];
    half[i] = as(wide[i], ND4C_FLOAT16);
  }
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_constant(graph, half[1], &constant));
  const nd4c_value x = input_of(graph, ND4C_FLOAT16, 2, square);
  const nd4c_value product = check_binary(graph, ND4C_OP_matmul, x, constant), pair[] = {product, x};
  const nd4c_value y = check_op(graph, op, pair, op == ND4C_OP_nextafter ? 2 : 1, &to, op == ND4C_OP_cast ? 1 : 0);
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_int_equal(check_changes(plan, "widen"), 1); /* the product */
  nd4c_array *output = result_of(plan, half[0]), *shown = as(output, ND4C_FLOAT64);
  const void *data = NULL;
  CHECK_OK(nd4c_array_data(shown, &data));
  const double found = ((const double *)data)[0];
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release((nd4c_array *[]){wide[0], wide[1], half[0], half[1], output, shown}, 6);
  return found;
}

/* Such ops give what they give in float16: 60000 * 2 is infinite there, 2^-15 * 2^-15 is 0. */
static void ops_of_the_dtype_stay(void **state) {
  (void)state;
  assert_true(after_product(ND4C_OP_nan_to_num, 2, 60000, ND4C_FLOAT16) == 65504);
  assert_true(after_product(ND4C_OP_is_inf, 2, 60000, ND4C_FLOAT16) == 1);
  assert_true(after_product(ND4C_OP_is_finite, 2, 60000, ND4C_FLOAT16) == 0);
  assert_true(after_product(ND4C_OP_nextafter, 2, 0.5, ND4C_FLOAT16) == 1 + 0x1p-10);
  assert_true(after_product(ND4C_OP_cast, 0x1p-15, 0x1p-15, ND4C_BOOL) == 0);
  assert_true(after_product(ND4C_OP_cast, 2, 60000, ND4C_INT32) == INT32_MAX);
  assert_true(after_product(ND4C_OP_matrix_rank, 2, 2, ND4C_FLOAT16) == 1);
}

/* Ops that the CPU computes fast in 16 bits alone gain nothing. */
static void fast_nodes_stay(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = input_of(graph, ND4C_FLOAT16, 2, square);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, check_binary(graph, ND4C_OP_add, x, x))));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_int_equal(check_changes(plan, "widen"), 0);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* The dtype of the product with the constant matrix behind the mean of a product, or of that one (first). */
static nd4c_dtype product_dtype(int64_t side, const char *dim, bool first) {
  const int64_t matrix[] = {side, side}, axes[] = {0};
  const nd4c_attr over[] = {check_ints("axes", axes, 1), {.name = "keepdims", .value = {ND4C_ATTR_BOOL, .as.i = 1}}};
  int64_t rows[] = {ROWS, side};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_dtype dtypes[2] = {ND4C_DTYPE_NONE, ND4C_DTYPE_NONE};
  int32_t found = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  if (dim != NULL) {
    CHECK_OK(nd4c_graph_dim(graph, dim, 1, ROWS, &rows[0]));
  }
  const nd4c_value x = input_of(graph, ND4C_BFLOAT16, 2, rows);
  nd4c_value h = check_binary(graph, ND4C_OP_matmul, x, weights(graph, ND4C_BFLOAT16, 2, matrix, 1));
  h = dim != NULL ? h : check_op(graph, ND4C_OP_mean, &h, 1, over, 2);
  CHECK_OK(nd4c_graph_output(graph, "y",
                             check_binary(graph, ND4C_OP_matmul, h, weights(graph, ND4C_BFLOAT16, 2, matrix, 2))));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    if (node->def->info.op == ND4C_OP_matmul && found < 2) {
      dtypes[found++] = plan->graph->values[node->outputs[0]].dtype;
    }
  }
  assert_int_equal(found, 2);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  return dtypes[first ? 0 : 1];
}

/* Where only products of few rows are fast in bfloat16, they stay, if they have enough weights and no dim gives the
 * rows. */
static void few_rows_read_weights_of_16_bits(void **state) {
  nd4c_context *context = NULL;
  (void)state;
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  if (nd4c_multiplies_fast(context, ND4C_BFLOAT16) || !nd4c_multiplies_rows_fast(context, ND4C_BFLOAT16)) {
    return;
  }
  assert_int_equal(product_dtype(256, NULL, true), ND4C_FLOAT32);
  assert_int_equal(product_dtype(256, NULL, false), ND4C_BFLOAT16);
  assert_int_equal(product_dtype(128, NULL, false), ND4C_FLOAT32);
  assert_int_equal(product_dtype(256, "rows", true), ND4C_FLOAT32);
  assert_int_equal(product_dtype(256, "rows", false), ND4C_FLOAT32);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_network_computes_in_float32),
      cmocka_unit_test(single_ops_convert),
      cmocka_unit_test(tables_stay_in_16_bits),
      cmocka_unit_test(casts_of_the_model_round),
      cmocka_unit_test(ops_of_the_dtype_stay),
      cmocka_unit_test(fast_nodes_stay),
      cmocka_unit_test(few_rows_read_weights_of_16_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
