/* nd4c_graph_gradient: the rules of ops that move, repeat, take, place and order elements, each by itself against
 * differences of a loss. */
#include "gradient_check.h"

/* a [2, 3], b [3, 4], p = a b [2, 4], all [6, 4], of x and w */
typedef struct operands {
  nd4c_graph *graph;
  value x, w, p, all;
} operands;

#define CASE(name)                                                             \
  static value name##_of(const operands *o);                                   \
  static value name(nd4c_graph *graph, value x, value w) {                     \
    const operands o = {graph, x, w, BINARY(matmul, x, w), many(graph, x, w)}; \
    return weigh(graph, name##_of(&o));                                        \
  }                                                                            \
  static value name##_of(const operands *o)
#define GRAPH nd4c_graph *graph = o->graph
#define ONE(x) const value ones[] = {x}
#define WHOLE(graph, items, ...) \
  whole(graph, (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__}, items)

/* -- turning and joining ------------------------------------------------------------------------------------------- */

CASE(flip) {
  GRAPH;
  ONE(o->all);
  return BINARY(multiply, OP(flip, ones, INTS("axes", -1)), check_unary(graph, ND4C_OP_flip, o->all));
}

CASE(swap) {
  GRAPH;
  ONE(SHAPED(o->all, 2, 3, 4));
  return OP(swapaxes, ones, check_int("axis1", 0), check_int("axis2", -1));
}

CASE(move) {
  GRAPH;
  ONE(SHAPED(o->all, 2, 3, 4));
  return OP(moveaxis, ones, INTS("source", 0, 1), INTS("destination", -1, 0));
}

CASE(turn) {
  GRAPH;
  return UNARY(matrix_transpose, SHAPED(o->all, 2, 3, 4));
}

CASE(atleast) {
  GRAPH;
  ONE(o->x);
  return OP(atleast_nd, ones, check_int("ndim", 4));
}

CASE(select_last) {
  GRAPH;
  ONE(SHAPED(o->all, 2, 3, 4));
  const value first = OP(select, ones, check_int("axis", -2), check_int("index", -1));
  return BINARY(multiply, first, OP(select, ones, check_int("axis", 1), check_int("index", 1)));
}

CASE(stack) {
  GRAPH;
  const value parts[] = {o->p, UNARY(sin, o->p), o->p};
  return BINARY(multiply, OP(stack, parts, check_int("axis", 1)), SHAPED(o->all, 2, 3, 4));
}

CASE(tile) {
  GRAPH;
  ONE(o->x);
  const value longer = OP(tile, ones, INTS("repeats", 2, 1, 3)); /* [2, 2, 9] */
  return BINARY(multiply, longer, OP(tile, ones, INTS("repeats", 3)));
}

CASE(tile_none) { /* nothing is left of p */
  GRAPH;
  ONE(o->p);
  return BINARY(add, o->p, UNARY(sum, OP(tile, ones, INTS("repeats", 0, 2))));
}

CASE(repeat) {
  GRAPH;
  ONE(o->x);
  const value rows = OP(repeat, ones, INTS("repeats", 3), INTS("axes", 0));
  return BINARY(multiply, SHAPED(OP(repeat, ones, INTS("repeats", 3)), 6, 3), rows);
}

CASE(repeat_some) {
  GRAPH;
  ONE(o->x);
  const value counted[] = {o->x, WHOLE(graph, ((int64_t[]){1, 4}), 2)};
  const value listed = OP(repeat, ones, INTS("repeats", 2, 0, 1), INTS("axes", -1)); /* [2, 3] */
  const value given = OP(repeat, counted, INTS("axes", 0), check_int("total", 5));   /* [5, 3] */
  return BINARY(add, UNARY(sum, BINARY(multiply, listed, UNARY(sin, listed))), given);
}

CASE(roll) {
  GRAPH;
  ONE(o->all);
  return BINARY(multiply, OP(roll, ones, INTS("shifts", 5)), OP(roll, ones, INTS("shifts", -1, 2), INTS("axes", 0, 1)));
}

CASE(windows) {
  GRAPH;
  ONE(o->all);
  const value sliding = OP(sliding_window_view, ones, INTS("window", 3), INTS("axes", 0)); /* [4, 4, 3] */
  const value apart = OP(unfold, ones, check_int("axis", 0), check_int("size", 3), check_int("step", 1));
  return BINARY(multiply, sliding, UNARY(cos, apart));
}

CASE(blocks) {
  GRAPH;
  ONE(SHAPED(o->all, 1, 8, 1, 3));
  const value spaces[] = {OP(depth_to_space, ones, check_int("block_size", 2))}; /* [1, 2, 2, 6] */
  const value deep = OP(space_to_depth, spaces, check_int("block_size", 2), ATTR_BOOL("depth_first", 1));
  return BINARY(multiply, deep, ones[0]);
}

CASE(columns) {
  GRAPH;
  ONE(SHAPED(o->all, 1, 2, 3, 4));
  const nd4c_attr attrs[] = {INTS("kernel", 2, 2), INTS("pads", 1, 0, 0, 1), INTS("strides", 1, 2),
                             INTS("dilations", 1, 2), INTS("image", 3, 4)};
  const value made[] = {check_op(graph, ND4C_OP_im2col, ones, 1, attrs, 4)};
  return BINARY(multiply, check_op(graph, ND4C_OP_col2im, made, 1, attrs, 5), ones[0]);
}

CASE(reverse) {
  GRAPH;
  const value inputs[] = {o->all, WHOLE(graph, ((int64_t[]){4, 1, 6, 2}), 4)};
  return BINARY(multiply, check_op(graph, ND4C_OP_reverse_sequence, inputs, 2, NULL, 0), UNARY(sin, o->all));
}

CASE(pads) {
  GRAPH;
  ONE(o->x);
  const value edge = OP(pad, ones, INTS("pads", 1, 0, 2, 2), check_int("mode", ND4C_PAD_MODE_EDGE));
  const value mirror = OP(pad, ones, INTS("pads", 1, 2, 1, 0), check_int("mode", ND4C_PAD_MODE_REFLECT));
  const value around = OP(pad, ones, INTS("pads", 1, 1), INTS("axes", 1), check_int("mode", ND4C_PAD_MODE_WRAP));
  const value twice = OP(pad, ones, INTS("pads", 1, 1), INTS("axes", 1), check_int("mode", ND4C_PAD_MODE_SYMMETRIC));
  const value sums = BINARY(multiply, UNARY(mean, UNARY(square, edge)), UNARY(mean, UNARY(square, mirror)));
  return BINARY(multiply, BINARY(multiply, around, UNARY(cos, twice)), sums);
}

/* -- diagonals and triangles --------------------------------------------------------------------------------------- */

CASE(triangles) {
  GRAPH;
  ONE(SHAPED(o->all, 2, 3, 4));
  const value lower = OP(tril, ones, check_int("k", 1)), upper = OP(triu, ones, check_int("k", -1));
  return BINARY(multiply, BINARY(add, lower, upper),
                OP(matrix_band_part, ones, check_int("lower", 1), check_int("upper", 0)));
}

CASE(diagonals) {
  GRAPH;
  ONE(SHAPED(o->all, 4, 3, 2));
  const value first = OP(diagonal, ones, check_int("offset", 1), check_int("axis1", 0), check_int("axis2", 1));
  const value second = OP(diagonal, ones, check_int("offset", -2), check_int("axis1", 1), check_int("axis2", 0));
  return BINARY(multiply, first, second); /* [2, 2] */
}

CASE(tall_diagonal) { /* ends before the last column, and at the last row */
  GRAPH;
  ONE(o->all);
  const value second = OP(diagonal, ones, check_int("offset", -2)), third = OP(diagonal, ones, check_int("offset", 3));
  return BINARY(multiply, second, third);
}

CASE(no_diagonal) {
  GRAPH;
  ONE(o->x);
  return BINARY(add, UNARY(sum, OP(diagonal, ones, check_int("offset", 3))), UNARY(sum, o->x));
}

CASE(traces) {
  GRAPH;
  ONE(SHAPED(o->all, 2, 3, 4));
  return BINARY(multiply, OP(trace, ones, check_int("offset", -1)), UNARY(trace, o->all));
}

CASE(diag) {
  GRAPH;
  const value lists[] = {SHAPED(o->x, 6)}, tables[] = {o->all};
  const value table = OP(diag, lists, check_int("k", -1)); /* [7, 7] */
  return BINARY(multiply, table, UNARY(sum, OP(diag, tables, check_int("k", 1))));
}

CASE(embedded) {
  GRAPH;
  ONE(o->p);
  const value inputs[] = {SHAPED(o->all, 2, 3, 4), SHAPED(UNARY(sin, o->x), 2, 3)};
  const value made = OP(diag_embed, ones, check_int("offset", 1), check_int("axis1", 0)); /* [5, 2, 5] */
  return BINARY(add, UNARY(sum, UNARY(square, made)), OP(matrix_set_diag, inputs, check_int("k", 1)));
}

/* -- taking and placing -------------------------------------------------------------------------------------------- */

CASE(take) {
  GRAPH;
  const value rows[] = {o->all, WHOLE(graph, ((int64_t[]){-1, 0, 0, 3}), 2, 2)};
  const value far[] = {o->all, WHOLE(graph, ((int64_t[]){-7, 5, 13, 0}), 2, 2)};
  const value column = OP(take, rows, INTS("axes", 1)), flat = check_op(graph, ND4C_OP_take, rows, 2, NULL, 0);
  const value around = OP(take, far, INTS("axes", 0), check_int("mode", ND4C_INDEX_MODE_WRAP));
  const value near = OP(take, far, check_int("mode", ND4C_INDEX_MODE_CLIP));
  return BINARY(multiply, BINARY(add, UNARY(sum, around), column), BINARY(multiply, flat, near));
}

CASE(along) {
  GRAPH;
  const value inputs[] = {o->x, WHOLE(graph, ((int64_t[]){2, 0, -1, 2}), 1, 4)};
  const value tall[] = {SHAPED(o->x, 1, 6), WHOLE(graph, ((int64_t[]){5, 1, 1, 0, -6, 5, 2, 3}), 2, 4)};
  return BINARY(multiply, OP(take_along_axis, inputs, check_int("axis", 1)),
                OP(take_along_axis, tall, check_int("axis", -1)));
}

CASE(batches) {
  GRAPH;
  const value inputs[] = {SHAPED(o->all, 2, 3, 4), WHOLE(graph, ((int64_t[]){0, -1, 0, 2, 2, 1}), 2, 3, 1)};
  return OP(gather_nd, inputs, check_int("batch_dims", 1));
}

CASE(order) {
  GRAPH;
  ONE(o->all);
  const value columns = OP(sort, ones, check_int("axis", 0)), rows = OP(sort, ones, ATTR_BOOL("descending", 1));
  return BINARY(multiply, columns, UNARY(sin, rows));
}

CASE(best) {
  GRAPH;
  ONE(o->all);
  nd4c_value tops[2], low[2], third[2], kept[2], rising[2], falling[2];
  const nd4c_attr least[] = {check_int("axis", 0), check_int("k", 3), ATTR_BOOL("largest", 0)};
  const nd4c_attr two[] = {check_int("k", 2)},
                  at[] = {check_int("axis", 0), check_int("k", 2), ATTR_BOOL("keepdims", 1)};
  const nd4c_attr down[] = {check_int("axis", 0)};
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_top_k, ones, 1, two, 1, NULL, tops, 2));      /* [6, 2] */
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_top_k, ones, 1, least, 3, NULL, low, 2));     /* [3, 4] */
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_kth_value, ones, 1, two, 1, NULL, third, 2)); /* [6] */
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_kth_value, ones, 1, at, 3, NULL, kept, 2));   /* [1, 4] */
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_cumulative_max, ones, 1, NULL, 0, NULL, rising, 2));
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_cumulative_min, ones, 1, down, 1, NULL, falling, 2));
  const value first = BINARY(multiply, SHAPED(tops[0], 3, 4), low[0]);
  const value second = BINARY(add, BINARY(multiply, rising[0], falling[0]), SHAPED(third[0], 6, 1));
  return BINARY(multiply, SHAPED(second, 2, 3, 4), BINARY(multiply, first, kept[0]));
}

CASE(masked) {
  GRAPH;
  const value inputs[] = {o->p, BINARY(greater, o->p, check_scalar(graph, 0)), UNARY(mean, o->x)};
  return check_op(graph, ND4C_OP_masked_fill, inputs, 3, NULL, 0);
}

CASE(added) {
  GRAPH;
  const nd4c_attr adds[] = {check_int("axis", 1), check_int("reduction", ND4C_SCATTER_REDUCTION_ADD)};
  const value slices[] = {o->all, WHOLE(graph, ((int64_t[]){1, -1, 1}), 3),
                          BINARY(multiply, SHAPED(o->x, 6, 1), numbers(graph, 3, (double[]){1, 2, -1}))};
  const value spots[] = {o->all, WHOLE(graph, ((int64_t[]){0, 3, -1, 2, 2, 2}), 2, 3), o->x};
  const value places[] = {o->all, WHOLE(graph, ((int64_t[]){5, 0, 5}), 3, 1), o->w};
  const value first = OP(scatter_add, slices, check_int("axis", 1));
  const value second = check_op(graph, ND4C_OP_scatter_elements, spots, 3, adds, 2);
  const value third = check_op(graph, ND4C_OP_scatter_nd, places, 3, &adds[1], 1);
  return BINARY(multiply, first, BINARY(multiply, second, third));
}

CASE(subtracted) {
  GRAPH;
  const nd4c_attr less[] = {check_int("axis", 1), check_int("reduction", ND4C_SCATTER_REDUCTION_SUBTRACT)};
  const value slices[] = {o->all, WHOLE(graph, ((int64_t[]){1, -1, 1}), 3),
                          BINARY(multiply, SHAPED(o->x, 6, 1), numbers(graph, 3, (double[]){1, 2, -1}))};
  const value spots[] = {o->all, WHOLE(graph, ((int64_t[]){0, 3, -1, 2, 2, 2}), 2, 3), o->x};
  const value places[] = {o->all, WHOLE(graph, ((int64_t[]){5, 0, 5}), 3, 1), o->w};
  const value first = OP(scatter_subtract, slices, check_int("axis", 1));
  const value second = check_op(graph, ND4C_OP_scatter_elements, spots, 3, less, 2);
  const value third = check_op(graph, ND4C_OP_scatter_nd, places, 3, &less[1], 1);
  return BINARY(multiply, first, BINARY(multiply, second, third));
}

/* Some elements are replaced twice, and the last update wins. */
CASE(replaced) {
  GRAPH;
  const value spots[] = {o->all, WHOLE(graph, ((int64_t[]){0, 3, -1, 2, 2, 2}), 2, 3), o->x};
  const value tall[] = {o->all, WHOLE(graph, ((int64_t[]){4, -1, 4, -2, 0, 4}), 2, 3), UNARY(sin, o->x)};
  const value places[] = {o->all, WHOLE(graph, ((int64_t[]){5, 0, 5}), 3, 1), o->w};
  const value cells[] = {o->all, WHOLE(graph, ((int64_t[]){5, 0, -1, 3, 5, 0, 5, 0, 2, 2, 0, -4}), 6, 2),
                         SHAPED(UNARY(cos, o->x), 6)};
  const value first = OP(scatter_elements, spots, check_int("axis", 1)),
              third = UNARY(sin, check_op(graph, ND4C_OP_scatter_nd, places, 3, NULL, 0));
  const value second = OP(scatter_elements, tall, check_int("axis", 0)),
              fourth = check_op(graph, ND4C_OP_scatter_nd, cells, 3, NULL, 0);
  return BINARY(multiply, BINARY(add, first, second), BINARY(add, third, fourth));
}

CASE(put) {
  GRAPH;
  const value row[] = {o->all, WHOLE(graph, ((int64_t[]){5, 0, 1, 1, 0, -6, 2, 2}), 2, 4), UNARY(mean, o->w)};
  const value both[] = {SHAPED(o->all, 2, 12), WHOLE(graph, ((int64_t[]){1, -1, 1}), 1, 3), o->x};
  const value slices[] = {o->all, WHOLE(graph, ((int64_t[]){1, -1, 1}), 3),
                          BINARY(multiply, SHAPED(o->x, 6, 1), numbers(graph, 3, (double[]){1, 2, -1}))};
  const value grid[] = {
      o->all, WHOLE(graph, ((int64_t[]){4, 1, 1, 4}), 2, 2),
      SHAPED(BINARY(multiply, SHAPED(UNARY(cos, o->w), 12, 1), numbers(graph, 2, (double[]){1, 3})), 24)};
  const value flat[] = {grid[2]}, sixteen = OP(slice, flat, INTS("starts", 8), INTS("stops", 24));
  const value blocks[] = {o->all, grid[1], SHAPED(sixteen, 2, 2, 4)};
  const value first = SHAPED(OP(put_along_axis, both, check_int("axis", 1)), 6, 4);
  const value second = OP(put_along_axis, row, check_int("axis", 0));
  const value third = OP(scatter_update, slices, check_int("axis", 1)),
              fourth = UNARY(sin, check_op(graph, ND4C_OP_scatter_update, blocks, 3, NULL, 0));
  return BINARY(multiply, BINARY(add, first, second), BINARY(add, third, fourth));
}

CASE(segments) {
  GRAPH;
  const value inputs[] = {o->all, WHOLE(graph, ((int64_t[]){1, 0, 1, 3, 3, 1}), 6)};
  return OP(segment_sum, inputs, check_int("num_segments", 4));
}

static void rules_agree_with_differences(void **unused) {
  static const struct {
    const char *what;
    make_loss make;
  } rows[] = {
#define NAMED(name) {#name, name},
      NAMED(flip) NAMED(swap) NAMED(move) NAMED(turn) NAMED(atleast) NAMED(select_last) NAMED(stack) NAMED(tile)
          NAMED(tile_none) NAMED(repeat) NAMED(repeat_some) NAMED(roll) NAMED(windows) NAMED(blocks) NAMED(columns)
              NAMED(reverse) NAMED(pads) NAMED(triangles) NAMED(diagonals) NAMED(tall_diagonal) NAMED(no_diagonal)
                  NAMED(traces) NAMED(diag) NAMED(embedded) NAMED(take) NAMED(along) NAMED(batches) NAMED(order)
                      NAMED(best) NAMED(masked) NAMED(added) NAMED(subtracted) NAMED(replaced) NAMED(put)
                          NAMED(segments)};
  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_rule(rows[i].what, rows[i].make);
  }
}

/* Slices keep the order of equal elements, so that each element has one gradient. */
static void equal_elements_are_apart(void **unused) {
  (void)unused;
  const double at[X] = {2, 1, 2, 3, 3, 3}, expected[X] = {10, 1, 100, 1, 10, 100};
  nd4c_graph *graph = NULL;
  nd4c_array *x = NULL, *result = NULL;
  double dx[X];
  nd4c_value given = ND4C_VALUE_NONE, gradient = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT64, 2, x_shape, &given));
  const value sorted = UNARY(sort, given);
  const value loss = UNARY(sum, BINARY(multiply, sorted, numbers(graph, 3, (double[]){1, 10, 100})));
  CHECK_OK(nd4c_graph_gradient(graph, loss, &given, 1, &gradient));
  CHECK_OK(nd4c_graph_output(graph, "dx", gradient));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, 2, x_shape, at, NULL, &x));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &result, 1));
  CHECK_OK(nd4c_array_read(result, dx, sizeof dx));
  for (int32_t i = 0; i < X; i++) {
    assert_true(dx[i] == expected[i]);
  }
  nd4c_array_release(x);
  nd4c_array_release(result);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

/* The text that a loss is refused with; x [n, 3] has a dim. */
static void check_refusal(value (*make)(nd4c_graph *graph, value x, value w), const char *text) {
  nd4c_graph *graph = NULL;
  nd4c_value values[2], gradients[2];
  int64_t extents[] = {0, 3};
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &extents[0]));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT64, 2, extents, &values[0]));
  CHECK_OK(nd4c_graph_input(graph, "w", ND4C_FLOAT64, 2, w_shape, &values[1]));
  const value loss = mean_of(graph, make(graph, values[0], values[1]));
  assert_int_equal(nd4c_graph_gradient(graph, loss, values, 2, gradients), ND4C_UNSUPPORTED);
  if (strstr(nd4c_error_message(), text) == NULL) {
    fail_msg("the text is \"%s\", expected \"%s\"", nd4c_error_message(), text);
  }
  nd4c_graph_destroy(graph);
}

static value mirrored_dim(nd4c_graph *graph, value x, value w) {
  const value xs[] = {x};
  (void)w;
  return OP(pad, xs, INTS("pads", 1, 1), INTS("axes", 1), check_int("mode", ND4C_PAD_MODE_EDGE));
}

static value diagonal_of_dims(nd4c_graph *graph, value x, value w) {
  (void)w;
  return UNARY(diagonal, x);
}

static value largest_scattered(nd4c_graph *graph, value x, value w) {
  const value inputs[] = {w, WHOLE(graph, ((int64_t[]){0, 1, 1}), 3, 1), w};
  (void)x;
  return OP(scatter_nd, inputs, check_int("reduction", ND4C_SCATTER_REDUCTION_MAXIMUM));
}

static value dims_put(nd4c_graph *graph, value x, value w) {
  const value inputs[] = {x, WHOLE(graph, ((int64_t[]){0}), 1, 1), SHAPED(UNARY(mean, w), 1, 1)};
  return OP(put_along_axis, inputs, check_int("axis", 1));
}

static void what_no_rule_covers_is_refused(void **unused) {
  (void)unused;
  check_refusal(mirrored_dim, "pad: the gradient needs numbers as extents");
  check_refusal(diagonal_of_dims, "diagonal: the gradient of a diagonal needs numbers along its axes");
  check_refusal(dims_put,
                "put_along_axis: the gradient of updates that replace elements needs numbers as their extents");
  check_refusal(largest_scattered,
                "scatter_nd: of the reductions of a scatter only none, add and subtract have a gradient");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_agree_with_differences),
      cmocka_unit_test(equal_elements_are_apart),
      cmocka_unit_test(what_no_rule_covers_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
