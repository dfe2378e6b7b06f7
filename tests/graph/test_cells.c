/* Convolutions of single cells on the CPU: oneDNN computes them as products of all cells, also where images are parts
 * of others, and keeps nothing when the plans are gone. */
#include <malloc.h>
#include <math.h>

#include "graph_check.h"

enum { CELLS = 2 * 5 * 7, ALL = 48, PART_AT = 8, PART = 32, RESULTS = 24 };

static const float *numbers_of(const nd4c_array *array) {
  const void *data = NULL;
  CHECK_OK(nd4c_array_data(array, &data));
  return data;
}

/* y = relu(conv(x, w) + z) of single cells, where x has some of the channels of an image with channels last. */
static nd4c_plan *make_cells(nd4c_array *w, const int64_t *x_shape, const int64_t *z_shape) {
  const int64_t axis = 3, start = PART_AT, stop = PART_AT + PART;
  const nd4c_attr range[] = {check_ints("starts", &start, 1), check_ints("stops", &stop, 1),
                             check_ints("axes", &axis, 1)};
  const nd4c_attr first = check_ints("axes", (int64_t[]){0, 3, 1, 2}, 4);
  const nd4c_attr last = check_ints("axes", (int64_t[]){0, 2, 3, 1}, 4);
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value weights = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value image = check_input(graph, "x", 4, x_shape), added = check_input(graph, "z", 4, z_shape);
  CHECK_OK(nd4c_graph_constant(graph, w, &weights));
  nd4c_value part = check_op(graph, ND4C_OP_slice, &image, 1, range, 3);
  part = check_op(graph, ND4C_OP_transpose, &part, 1, &first, 1);
  const nd4c_value turned = check_op(graph, ND4C_OP_transpose, &added, 1, &first, 1);
  nd4c_value sum = check_op(graph, ND4C_OP_conv, (nd4c_value[]){part, weights}, 2, NULL, 0);
  sum = check_unary(graph, ND4C_OP_relu, check_binary(graph, ND4C_OP_add, sum, turned));
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_transpose, &sum, 1, &last, 1)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

static void cells_of_a_part_are_a_product(void **state) {
  (void)state;
  const int64_t x_shape[] = {2, 5, 7, ALL}, w_shape[] = {RESULTS, PART, 1, 1}, z_shape[] = {2, 5, 7, RESULTS};
  nd4c_array *x = check_array(ND4C_FLOAT32, 4, x_shape, 1, -1, 1), *w = check_array(ND4C_FLOAT32, 4, w_shape, 2, -1, 1);
  nd4c_array *z = check_array(ND4C_FLOAT32, 4, z_shape, 3, -1, 1), *y = NULL;
  nd4c_plan *plan = make_cells(w, x_shape, z_shape);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x, z}, 2, &y, 1));
  for (int64_t i = 0; i < CELLS * RESULTS; i++) {
    const float *cell = numbers_of(x) + i / RESULTS * ALL + PART_AT, *row = numbers_of(w) + i % RESULTS * PART;
    double expected = (double)numbers_of(z)[i];
    for (int64_t k = 0; k < PART; k++) {
      expected += (double)cell[k] * (double)row[k];
    }
    assert_true(fabs((double)numbers_of(y)[i] - (expected > 0 ? expected : 0)) < 1e-5);
  }
  nd4c_plan_destroy(plan);
  check_release((nd4c_array *[]){x, w, z, y}, 4);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Bytes of the C library's blocks in use, after plans of `count` convolutions of single cells have come and gone. */
static size_t heap_after_pointwise(int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const int64_t x_shape[] = {1, 14, 14, 32 + i}, w_shape[] = {64, 32 + i, 1, 1};
    const nd4c_attr first = check_ints("axes", (int64_t[]){0, 3, 1, 2}, 4);
    const nd4c_attr last = check_ints("axes", (int64_t[]){0, 2, 3, 1}, 4);
    nd4c_array *w = check_array(ND4C_FLOAT32, 4, w_shape, 8, -1, 1);
    nd4c_value inputs[2] = {ND4C_VALUE_NONE};
    nd4c_graph *graph = NULL;
    nd4c_plan *plan = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    nd4c_value x = check_input(graph, "x", 4, x_shape);
    inputs[0] = check_op(graph, ND4C_OP_transpose, &x, 1, &first, 1);
    CHECK_OK(nd4c_graph_constant(graph, w, &inputs[1]));
    nd4c_value y = check_op(graph, ND4C_OP_conv, inputs, 2, NULL, 0);
    CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_transpose, &y, 1, &last, 1)));
    CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
    nd4c_graph_destroy(graph);
    nd4c_plan_destroy(plan);
    nd4c_array_release(w);
  }
  nd4c_device *host = NULL;
  CHECK_OK(nd4c_device_find("cpu:0", &host));
  CHECK_OK(nd4c_memory_trim(host, 0));
  return mallinfo2().uordblks;
}

/* oneDNN keeps the kernels of brgemm convolutions as long as the process lives, so none is made for single cells. Its
 * products replace them, which have a brgemm with AVX-512. */
static void convolutions_of_single_cells_leave_nothing(void **state) {
  (void)state;
  const size_t before = heap_after_pointwise(2), after = heap_after_pointwise(40);
  assert_true(!check_has_feature("avx512bw") || after < before + 40 * 1024);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_of_a_part_are_a_product),
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
      cmocka_unit_test(convolutions_of_single_cells_leave_nothing),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
