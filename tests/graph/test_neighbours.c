/* What stands between two convolutions, whose values have channels last: no step is left to engine reference, and
 * results are those of one op after the other in C order. */
#include "graph_check.h"

/* So many elements that an image is gathered in several pieces. */
enum { CHANNELS = 72, HEIGHT = 39, WIDTH = 41 };

static nd4c_value make_conv(nd4c_graph *graph, nd4c_value x, int64_t channels, int64_t outputs) {
  const nd4c_attr pads = check_ints("pads", (int64_t[]){1, 1, 1, 1}, 4);
  const nd4c_value w = check_constant(graph, 4, (int64_t[]){outputs, channels, 3, 3}, 5, -0.2, 0.2);
  return check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, &pads, 1);
}

/* Checks the graph, and that engine simd or a vendor's library has each step, if this build has engine simd. */
static void check_fast(nd4c_graph *graph, nd4c_value y, double tolerance) {
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  nd4c_plan *plan = check_graph(graph, 11, tolerance);
  for (int32_t i = 0; check_has_engine("simd") && i < plan->step_count; i++) {
    if (plan->steps[i].choice != NULL) {
      if (strcmp(nd4c_choice_engine(plan->steps[i].choice), "reference") == 0) {
        fail_msg("%s runs", nd4c_choice_name(plan->steps[i].choice));
      }
    }
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static nd4c_graph *start(nd4c_value *x) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  *x = make_conv(graph, check_input(graph, "x", 4, (int64_t[]){2, 3, HEIGHT, WIDTH}), 3, CHANNELS);
  return graph;
}

static nd4c_value norm_of(nd4c_graph *graph, nd4c_value x, int64_t channels, int64_t groups, bool scaled) {
  const nd4c_attr attr = check_int("groups", groups);
  nd4c_value inputs[] = {x, ND4C_VALUE_NONE, ND4C_VALUE_NONE};
  if (scaled) {
    inputs[1] = check_constant(graph, 1, &channels, 7, -2, 2);
    inputs[2] = check_constant(graph, 1, &channels, 8, -2, 2);
  }
  return groups == 0 ? check_op(graph, ND4C_OP_instance_norm, inputs, 3, NULL, 0)
                     : check_op(graph, ND4C_OP_group_norm, inputs, 3, &attr, 1);
}

static void norms_between_convs(void **state) {
  (void)state;
  const int64_t groups[] = {0, 1, 6, CHANNELS};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    nd4c_value x = ND4C_VALUE_NONE;
    nd4c_graph *graph = start(&x);
    check_fast(graph, make_conv(graph, norm_of(graph, x, CHANNELS, groups[i], i % 2 == 0), CHANNELS, 5), 1e-4);
  }
}

/* A norm that is the last op writes C order. */
static void norms_at_the_end(void **state) {
  (void)state;
  for (int64_t groups = 0; groups < 3; groups++) {
    nd4c_value x = ND4C_VALUE_NONE;
    nd4c_graph *graph = start(&x);
    check_fast(graph, norm_of(graph, x, CHANNELS, groups, true), 1e-4);
  }
}

/* The norm of an input [2, places..., channels] whose axes are moved: all its channels, or some of them, so that places
 * have gaps. The mean is far above the differences, so sums in float32 would be seen. */
static void check_moved(int64_t channels, int64_t all, int64_t groups) {
  const int64_t axis = 3, begin = all - channels;
  const nd4c_attr range[] = {check_ints("starts", &begin, 1), check_ints("stops", &all, 1),
                             check_ints("axes", &axis, 1)};
  const nd4c_attr order = check_ints("axes", (int64_t[]){0, 3, 1, 2}, 4);
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, (int64_t[]){2, 37, 45, all});
  x = check_binary(graph, ND4C_OP_add, x, check_constant(graph, 0, NULL, 3, 999, 1001));
  if (channels < all) {
    x = check_op(graph, ND4C_OP_slice, &x, 1, range, 3);
  }
  x = check_op(graph, ND4C_OP_transpose, &x, 1, &order, 1);
  const nd4c_value y = norm_of(graph, x, channels, groups, true), one = check_op(graph, ND4C_OP_relu, &y, 1, NULL, 0);
  check_fast(graph, check_unary(graph, ND4C_OP_abs, one), 1e-5);
}

static void norms_of_moved_axes(void **state) {
  (void)state;
  check_moved(6, 6, 0);
  check_moved(6, 6, 3);
  check_moved(40, 56, 0);
  check_moved(40, 56, 5);
  check_moved(600, 600, 0); /* more than a block of columns */
  check_moved(600, 600, 2);
}

/* Between two convs, and as the last op, which writes C order. */
static void resize_between_convs(void **state) {
  (void)state;
  const int64_t sizes[] = {2, CHANNELS, 2 * HEIGHT, 30};
  for (int32_t i = 0; i < 6; i++) {
    nd4c_value x = ND4C_VALUE_NONE;
    nd4c_graph *graph = start(&x);
    const nd4c_attr how[] = {check_int("mode", i % 3), check_ints("sizes", sizes, 4)};
    const nd4c_value resized = check_op(graph, ND4C_OP_resize, &x, 1, how, 2);
    check_fast(graph, i < 3 ? make_conv(graph, resized, CHANNELS, 5) : resized, 1e-4);
  }
}

/* The same of grid_sample, whose places are partly outside of x. */
static void grid_sample_between_convs(void **state) {
  (void)state;
  for (int32_t i = 0; i < 18; i++) {
    nd4c_value x = ND4C_VALUE_NONE;
    nd4c_graph *graph = start(&x);
    const nd4c_attr how[] = {check_int("mode", i % 3), check_int("padding", i / 3 % 3)};
    const nd4c_value grid = check_constant(graph, 4, (int64_t[]){2, 17, 21, 2}, 9, -1.3, 1.3);
    const nd4c_value y = check_op(graph, ND4C_OP_grid_sample, (nd4c_value[]){x, grid}, 2, how, 2);
    check_fast(graph, i < 9 ? make_conv(graph, y, CHANNELS, 5) : y, 1e-4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(norms_between_convs), cmocka_unit_test(norms_of_moved_axes),
                                     cmocka_unit_test(norms_at_the_end), cmocka_unit_test(resize_between_convs),
                                     cmocka_unit_test(grid_sample_between_convs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
