/* Products of one row with constant weights, of which a decoder's step has dozens: right for all extents, and a warm
 * run calls no allocator, neither nd4c nor a vendor's library. */
#include <math.h>
#include <stdatomic.h>

#include "graph_check.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS 1
static _Atomic int64_t taken;

/* These replace the C library's functions in the whole process, as its manual allows, and call its own. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);

ND4C_API void *malloc(size_t bytes) {
  atomic_fetch_add(&taken, 1);
  return __libc_malloc(bytes);
}

ND4C_API void *calloc(size_t count, size_t size) {
  atomic_fetch_add(&taken, 1);
  return __libc_calloc(count, size);
}
#else
#define COUNTS 0
static _Atomic int64_t taken;
#endif

static const float *numbers_of(const nd4c_array *array) {
  const void *data = NULL;
  CHECK_OK(nd4c_array_data(array, &data));
  return data;
}

/* y = relu(x w + bias). */
static nd4c_plan *make_plan(nd4c_array *w, nd4c_array *bias) {
  const int64_t shape[] = {1, nd4c_array_shape(w)[0]};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value weights = ND4C_VALUE_NONE, added = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_constant(graph, w, &weights));
  CHECK_OK(nd4c_graph_constant(graph, bias, &added));
  const nd4c_value y = check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_matmul, x, weights), added);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_relu, y)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

/* Counts what the last of three runs takes from the C library. */
static int64_t run(nd4c_plan *plan, const nd4c_array *x, nd4c_array **y) {
  int64_t before = 0;
  for (int i = 0; i < 3; i++) {
    before = atomic_load(&taken);
    CHECK_OK(nd4c_plan_run(plan, &x, 1, y, 1));
  }
  return atomic_load(&taken) - before;
}

static void check_row(int64_t depth, int64_t width) {
  const int64_t x_shape[] = {1, depth}, w_shape[] = {depth, width};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, x_shape, 1, -1, 1), *y = NULL;
  nd4c_array *w = check_array(ND4C_FLOAT32, 2, w_shape, 2, -1, 1),
             *bias = check_array(ND4C_FLOAT32, 1, &width, 3, -1, 1);
  nd4c_plan *plan = make_plan(w, bias);
  const int64_t allocations = run(plan, x, &y);
  for (int64_t i = 0; i < width; i++) {
    double expected = (double)numbers_of(bias)[i];
    for (int64_t k = 0; k < depth; k++) {
      expected += (double)numbers_of(x)[k] * (double)numbers_of(w)[k * width + i];
    }
    assert_true(fabs((double)numbers_of(y)[i] - (expected > 0 ? expected : 0)) < 1e-4);
  }
  if (COUNTS && allocations != 0) {
    fail_msg("%lld by %lld: a warm run allocates %lld times", (long long)depth, (long long)width,
             (long long)allocations);
  }
  nd4c_plan_destroy(plan);
  check_release((nd4c_array *[]){x, w, bias, y}, 4);
}

static void rows_are_right_and_allocate_nothing(void **state) {
  (void)state;
  static const int64_t extents[][2] = {{256, 320}, {250, 200}, {129, 1000}, {16, 600},
                                       {512, 512}, {1000, 17}, {300, 64}};
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
    check_row(extents[i][0], extents[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_right_and_allocate_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
