/* Where ops of bytes would not give what the single ops give: the passes quantized_conv, quantized_linear and
 * hoist_quantize leave the pattern alone, and conv_integer stays exact. */
#include "graph/graph_check.h"

static nd4c_value bytes(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape, int32_t number) {
  nd4c_array *array = NULL;
  nd4c_value value = ND4C_VALUE_NONE;
  void *data = NULL;
  CHECK_OK(nd4c_array_empty(dtype, rank, shape, NULL, &array));
  CHECK_OK(nd4c_array_data_mutable(array, &data));
  for (int64_t i = 0; i < nd4c_array_size(array); i++) {
    if (dtype == ND4C_INT32) {
      ((int32_t *)data)[i] = number;
    } else {
      ((uint8_t *)data)[i] = (uint8_t)number;
    }
  }
  CHECK_OK(nd4c_graph_constant(graph, array, &value));
  nd4c_array_release(array);
  return value;
}

static nd4c_value scaled(nd4c_graph *graph, nd4c_op op, nd4c_value x, double scale, nd4c_dtype dtype) {
  const nd4c_value inputs[] = {x, check_scalar(graph, scale), bytes(graph, dtype, 0, NULL, 0)};
  return check_op(graph, op, inputs, 3, NULL, 0);
}

/* x as float32 from uint8, quantised with a scale. */
static nd4c_value both(nd4c_graph *graph, nd4c_value x, double scale) {
  return scaled(graph, ND4C_OP_dequantize_linear, scaled(graph, ND4C_OP_quantize_linear, x, scale, ND4C_UINT8), scale,
                ND4C_UINT8);
}

static nd4c_value weights(nd4c_graph *graph, int32_t rank, const int64_t *shape, int32_t number) {
  return scaled(graph, ND4C_OP_dequantize_linear, bytes(graph, ND4C_INT8, rank, shape, number), 0.02, ND4C_INT8);
}

static void finish(nd4c_graph *graph, nd4c_value y) {
  CHECK_OK(nd4c_graph_output(graph, "y", y));
}

/* Runs the plan and compares with eager calls. */
static nd4c_plan *check_bytes(const nd4c_graph *graph, double low, double high) {
  nd4c_array *input[1] = {NULL}, *expected[1] = {NULL};
  const nd4c_graph_value *x = &graph->values[graph->inputs.items[0].value];
  nd4c_plan *plan = NULL;
  input[0] = check_array(x->dtype, x->rank, x->shape, 3, low, high);
  check_evaluate(graph, input, expected);
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  check_runs(plan, input, expected, 1e-5, "bytes");
  check_release(input, 1);
  check_release(expected, 1);
  return plan;
}

/* Scales of blocks of a bias are not one scale a channel. */
static void a_bias_with_blocks_is_left(void **state) {
  (void)state;
  const int64_t channels = 32, blocks = 2;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 4, (int64_t[]){1, 16, 9, 8});
  const nd4c_attr attrs[] = {check_int("axis", 0), check_int("block_size", 16)};
  const nd4c_value parts[] = {bytes(graph, ND4C_INT32, 1, &channels, 500),
                              check_constant(graph, 1, &blocks, 5, 1e-4, 2e-4)};
  const nd4c_value inputs[] = {both(graph, x, 0.01), weights(graph, 4, (int64_t[]){32, 16, 1, 1}, 5),
                               check_op(graph, ND4C_OP_dequantize_linear, parts, 2, attrs, 2)};
  const nd4c_value y = check_op(graph, ND4C_OP_conv, inputs, 3, NULL, 0);
  finish(graph, scaled(graph, ND4C_OP_quantize_linear, y, 0.02, ND4C_UINT8));
  nd4c_plan *plan = check_bytes(graph, 1.001, 1.004);
  assert_false(check_has_step(plan, ND4C_OP_qlinear_conv));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* 70000 products of 255 and 127 exceed int32. */
static void sums_beyond_int32_stay_in_float32(void **state) {
  (void)state;
  enum { TERMS = 70000 };
  for (int32_t quantised = 0; quantised < 2; quantised++) {
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    const nd4c_value x = check_input(graph, "x", 2, (int64_t[]){2, TERMS});
    const nd4c_value w = weights(graph, 2, (int64_t[]){TERMS, 4}, 127);
    const nd4c_value y = check_binary(graph, ND4C_OP_matmul, both(graph, x, 0.01), w);
    finish(graph, quantised ? scaled(graph, ND4C_OP_quantize_linear, y, 2000, ND4C_UINT8) : y);
    nd4c_plan *plan = check_bytes(graph, 2.54, 2.56);
    assert_false(check_has_step(plan, ND4C_OP_qlinear_matmul) || check_has_step(plan, ND4C_OP_linear_int8));
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

static void sums_of_convs_beyond_int32_stay_in_float32(void **state) {
  (void)state;
  enum { TERMS = 70000 };
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 4, (int64_t[]){1, TERMS, 1, 1});
  const nd4c_value w = weights(graph, 4, (int64_t[]){4, TERMS, 1, 1}, 127);
  const nd4c_value y = check_binary(graph, ND4C_OP_conv, both(graph, x, 0.01), w);
  finish(graph, scaled(graph, ND4C_OP_quantize_linear, y, 2000, ND4C_UINT8));
  nd4c_plan *plan = check_bytes(graph, 2.54, 2.56);
  assert_false(check_has_step(plan, ND4C_OP_qlinear_conv));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* The bound [1, 1, 1, 1, 1] gives the result one axis more than x has. */
static void bounds_that_add_axes_stay(void **state) {
  (void)state;
  const int64_t five[] = {1, 1, 1, 1, 1};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 4, (int64_t[]){1, 16, 9, 8});
  const nd4c_value y =
      check_binary(graph, ND4C_OP_conv, both(graph, x, 0.01), weights(graph, 4, (int64_t[]){32, 16, 1, 1}, 5));
  const nd4c_value bounded = check_binary(graph, ND4C_OP_clip, y, check_constant(graph, 5, five, 1, 0, 0));
  finish(graph, scaled(graph, ND4C_OP_quantize_linear, bounded, 0.02, ND4C_UINT8));
  nd4c_plan_destroy(check_bytes(graph, 1.001, 1.004));
  nd4c_graph_destroy(graph);
}

/* 1023 * 255 * 127 + 255 * 126 is odd and above 2^24, so float32 does not have it. */
static void sums_of_conv_integer_are_exact(void **state) {
  (void)state;
  enum { TERMS = 1024 };
  const int64_t shape[] = {1, TERMS, 1, 1};
  nd4c_graph *graph = NULL;
  nd4c_value constant = ND4C_VALUE_NONE, x = ND4C_VALUE_NONE;
  nd4c_array *w = NULL, *input = NULL, *output = NULL;
  nd4c_plan *plan = NULL;
  void *data = NULL;
  int32_t sum = 0;
  CHECK_OK(nd4c_array_empty(ND4C_INT8, 4, shape, NULL, &w));
  CHECK_OK(nd4c_array_data_mutable(w, &data));
  memset(data, 127, TERMS);
  ((int8_t *)data)[5] = 126;
  CHECK_OK(nd4c_array_empty(ND4C_UINT8, 4, shape, NULL, &input));
  CHECK_OK(nd4c_array_data_mutable(input, &data));
  memset(data, 255, TERMS);
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_UINT8, 4, shape, &x));
  CHECK_OK(nd4c_graph_constant(graph, w, &constant));
  finish(graph, check_binary(graph, ND4C_OP_conv_integer, x, constant));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const[]){input}, 1, &output, 1));
  CHECK_OK(nd4c_array_read(output, &sum, sizeof sum));
  assert_int_equal(sum, 1023 * 255 * 127 + 255 * 126);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  check_release((nd4c_array *[]){w, input, output}, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bias_with_blocks_is_left),
      cmocka_unit_test(sums_beyond_int32_stay_in_float32),
      cmocka_unit_test(sums_of_convs_beyond_int32_stay_in_float32),
      cmocka_unit_test(bounds_that_add_axes_stay),
      cmocka_unit_test(sums_of_conv_integer_are_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
