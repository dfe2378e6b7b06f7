/* The passes cse, slices, shapes, transpose and reassociate: each pattern, what must stay as it is, and a graph of many
 * nodes. Steps count kernels; a view has none, and an output that is a view of an input is one copy. */
#include <time.h>

#include "graph/exact.h"

static nd4c_value f32(nd4c_graph *graph) {
  return exact_vector(graph, ND4C_FLOAT32);
}

static nd4c_value cube(nd4c_graph *graph) {
  return exact_input(graph, ND4C_FLOAT32, 3, (int64_t[]){4, 6, 5});
}

static nd4c_value with_ints(nd4c_graph *graph, nd4c_op op, nd4c_value x, const char *name, const int64_t *numbers,
                            int32_t count) {
  const nd4c_attr attr = check_ints(name, numbers, count);
  return check_op(graph, op, &x, 1, &attr, 1);
}

static nd4c_value with_int(nd4c_graph *graph, nd4c_op op, const nd4c_value *inputs, int32_t count, const char *name,
                           int64_t number) {
  const nd4c_attr attr = check_int(name, number);
  return check_op(graph, op, inputs, count, &attr, 1);
}

static nd4c_value negative(nd4c_graph *graph, nd4c_value x) {
  return check_unary(graph, ND4C_OP_negative, x);
}

static nd4c_value add(nd4c_graph *graph, nd4c_value a, nd4c_value b) {
  return check_binary(graph, ND4C_OP_add, a, b);
}

/* -- cse ----------------------------------------------------------------------------------------------------------- */

static void equal_nodes(nd4c_graph *graph) {
  const nd4c_value x = f32(graph), y = f32(graph);
  exact_output(graph, check_unary(graph, ND4C_OP_exp, add(graph, x, y)));
  exact_output(graph, check_unary(graph, ND4C_OP_exp, add(graph, y, x)));
}

static void equal_scalars(nd4c_graph *graph) {
  const nd4c_value x = f32(graph);
  const nd4c_value a = check_binary(graph, ND4C_OP_maximum, x, exact_scalar(graph, ND4C_FLOAT32, 3));
  const nd4c_value b = check_binary(graph, ND4C_OP_maximum, x, exact_scalar(graph, ND4C_FLOAT32, 3));
  exact_output(graph, check_binary(graph, ND4C_OP_multiply, a, negative(graph, b)));
}

static void other_attributes(nd4c_graph *graph) {
  const nd4c_value x = f32(graph);
  exact_output(graph, with_int(graph, ND4C_OP_softmax, &x, 1, "axis", 0));
  exact_output(graph, with_int(graph, ND4C_OP_softmax, &x, 1, "axis", 1));
}

static void other_order(nd4c_graph *graph) {
  const nd4c_value x = f32(graph), y = f32(graph);
  exact_output(graph, check_binary(graph, ND4C_OP_subtract, x, y));
  exact_output(graph, check_binary(graph, ND4C_OP_subtract, y, x));
}

/* Ops whose results are the same to the bit when their operands change places. */
static void commutative_numbers(nd4c_graph *graph) {
  static const nd4c_op ops[] = {ND4C_OP_add, ND4C_OP_multiply, ND4C_OP_equal, ND4C_OP_not_equal};
  const nd4c_value x = f32(graph), y = f32(graph);
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    exact_output(graph, check_binary(graph, ops[i], x, y));
    exact_output(graph, check_binary(graph, ops[i], y, x));
  }
}

static void commutative_bits(nd4c_graph *graph) {
  static const nd4c_op ops[] = {ND4C_OP_bitwise_and, ND4C_OP_bitwise_or, ND4C_OP_bitwise_xor,
                                ND4C_OP_logical_and, ND4C_OP_logical_or, ND4C_OP_logical_xor};
  const nd4c_value x = exact_vector(graph, ND4C_BOOL), y = exact_vector(graph, ND4C_BOOL);
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    exact_output(graph, check_binary(graph, ops[i], x, y));
    exact_output(graph, check_binary(graph, ops[i], y, x));
  }
}

static void other_order_of_all(nd4c_graph *graph) {
  static const nd4c_op ops[] = {ND4C_OP_divide,     ND4C_OP_power,   ND4C_OP_remainder,     ND4C_OP_less,
                                ND4C_OP_less_equal, ND4C_OP_greater, ND4C_OP_greater_equal, ND4C_OP_atan2};
  const nd4c_value x = f32(graph), y = f32(graph);
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    exact_output(graph, check_binary(graph, ops[i], x, y));
    exact_output(graph, check_binary(graph, ops[i], y, x));
  }
}

/* The larger of 0 and -0 is the one that a kernel finds first or last: a division by it shows its sign. */
static void other_order_of_zeros(nd4c_graph *graph) {
  static const nd4c_op ops[] = {ND4C_OP_maximum, ND4C_OP_minimum};
  const nd4c_value x = f32(graph), y = negative(graph, x), one = exact_scalar(graph, ND4C_FLOAT32, 1);
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    exact_output(graph, check_binary(graph, ND4C_OP_divide, one, check_binary(graph, ops[i], x, y)));
    exact_output(graph, check_binary(graph, ND4C_OP_divide, one, check_binary(graph, ops[i], y, x)));
  }
}

static void other_order_of_complex(nd4c_graph *graph) {
  const int64_t pairs[] = {5, 2};
  const nd4c_value x = check_unary(graph, ND4C_OP_view_as_complex, exact_input(graph, ND4C_FLOAT32, 2, pairs));
  const nd4c_value y = check_unary(graph, ND4C_OP_view_as_complex, exact_input(graph, ND4C_FLOAT32, 2, pairs));
  const nd4c_value xy = check_binary(graph, ND4C_OP_multiply, x, y), yx = check_binary(graph, ND4C_OP_multiply, y, x);
  exact_output(graph, check_unary(graph, ND4C_OP_view_as_real, xy));
  exact_output(graph, check_unary(graph, ND4C_OP_view_as_real, yx));
}

static void zeros_of_both_signs(nd4c_graph *graph) {
  const nd4c_value x = f32(graph);
  exact_output(graph, check_binary(graph, ND4C_OP_divide, x, exact_scalar(graph, ND4C_FLOAT32, 0.0)));
  exact_output(graph, check_binary(graph, ND4C_OP_divide, x, exact_scalar(graph, ND4C_FLOAT32, -0.0)));
}

static void scalars_of_other_shape(nd4c_graph *graph) {
  const nd4c_value x = exact_input(graph, ND4C_FLOAT32, 0, NULL);
  exact_output(graph, add(graph, x, exact_scalar(graph, ND4C_FLOAT32, 2)));
  exact_output(graph, add(graph, x, exact_full(graph, ND4C_FLOAT32, 2, 1, (int64_t[]){1})));
}

static const exact_case cse[] = {
    {"equal nodes, operands exchanged", "cse", 2, 3, equal_nodes, 0},
    {"equal scalars", "cse", 2, 3, equal_scalars, 0},
    {"other attributes", "cse", 0, 2, other_attributes, 0},
    {"operands of commutative ops exchanged", "cse", 4, 8, commutative_numbers, 0},
    {"operands of commutative ops of bits exchanged", "cse", 6, 12, commutative_bits, 0},
    {"operands of a difference exchanged", "cse", 0, 2, other_order, 0},
    {"operands of other ops exchanged", "cse", 0, 16, other_order_of_all, 0},
    {"operands of maximum and minimum exchanged", "cse", 0, 9, other_order_of_zeros, 0},
    {"operands of complex products exchanged", "cse", 0, 6, other_order_of_complex, 0},
    {"0 and -0", "cse", 0, 2, zeros_of_both_signs, 0},
    {"scalars of other shapes", "cse", 0, 2, scalars_of_other_shape, 0},
};

/* -- shapes -------------------------------------------------------------------------------------------------------- */

static void reshapes(nd4c_graph *graph) {
  nd4c_value x = negative(graph, cube(graph));
  x = with_ints(graph, ND4C_OP_reshape, x, "shape", (int64_t[]){24, 5}, 2);
  x = with_ints(graph, ND4C_OP_expand_dims, x, "axes", (int64_t[]){0, 2}, 2);
  x = with_ints(graph, ND4C_OP_squeeze, x, "axes", (int64_t[]){0}, 1);
  x = with_int(graph, ND4C_OP_flatten, &x, 1, "axis", 1);
  exact_output(graph, negative(graph, with_ints(graph, ND4C_OP_reshape, x, "shape", (int64_t[]){-1}, 1)));
}

static void reshape_back(nd4c_graph *graph) {
  const nd4c_value x = cube(graph);
  const nd4c_value flat = with_ints(graph, ND4C_OP_reshape, x, "shape", (int64_t[]){-1}, 1);
  exact_output(graph, add(graph, x, with_ints(graph, ND4C_OP_reshape, flat, "shape", (int64_t[]){4, 6, 5}, 3)));
  exact_output(graph, negative(graph, flat));
}

/* Both reshapes would copy the transposed value. */
static void reshape_of_copy(nd4c_graph *graph) {
  const nd4c_value x = check_op(graph, ND4C_OP_transpose, (nd4c_value[]){cube(graph)}, 1, NULL, 0);
  const nd4c_value flat = with_ints(graph, ND4C_OP_reshape, x, "shape", (int64_t[]){-1}, 1);
  exact_output(graph, negative(graph, flat));
  exact_output(
      graph, check_unary(graph, ND4C_OP_abs, with_ints(graph, ND4C_OP_reshape, flat, "shape", (int64_t[]){6, 20}, 2)));
}

static void broadcasts(nd4c_graph *graph) {
  const nd4c_value x = cube(graph), row = exact_input(graph, ND4C_FLOAT32, 1, (int64_t[]){5});
  nd4c_value wide = with_ints(graph, ND4C_OP_broadcast_to, row, "shape", (int64_t[]){6, 5}, 2);
  wide = with_ints(graph, ND4C_OP_broadcast_to, wide, "shape", (int64_t[]){4, 6, 5}, 3);
  exact_output(graph, add(graph, wide, x));
}

static void broadcast_that_shapes(nd4c_graph *graph) {
  const nd4c_value row = exact_input(graph, ND4C_FLOAT32, 1, (int64_t[]){5});
  const nd4c_value wide = with_ints(graph, ND4C_OP_broadcast_to, row, "shape", (int64_t[]){6, 5}, 2);
  exact_output(graph, add(graph, wide, exact_input(graph, ND4C_FLOAT32, 1, (int64_t[]){5})));
}

static void nothing(nd4c_graph *graph) {
  nd4c_value x = cube(graph);
  x = with_ints(graph, ND4C_OP_tile, x, "repeats", (int64_t[]){1, 1, 1}, 3);
  x = with_ints(graph, ND4C_OP_pad, x, "pads", (int64_t[]){0, 0, 0, 0, 0, 0}, 6);
  x = with_ints(graph, ND4C_OP_roll, x, "shifts", (int64_t[]){0}, 1);
  exact_output(graph, negative(graph, x));
}

/* The shape stays, the elements do not. */
static void something(nd4c_graph *graph) {
  nd4c_value x = cube(graph);
  x = with_ints(graph, ND4C_OP_pad, x, "pads", (int64_t[]){1, 0, 0, -1, 0, 0}, 6);
  x = with_ints(graph, ND4C_OP_roll, x, "shifts", (int64_t[]){2}, 1);
  exact_output(graph, x);
}

static const exact_case shapes[] = {
    {"chain of reshapes", "shapes", 4, 2, reshapes, 0},
    {"reshape back", "shapes", 1, 2, reshape_back, 0},
    {"broadcasts before a sum", "shapes", 2, 1, broadcasts, 0},
    {"tile, pad, roll of nothing", "shapes", 3, 1, nothing, 0},
    {"a reshape that copies is read twice", "shapes", 0, 3, reshape_of_copy, 0},
    {"a broadcast that gives the shape", "shapes", 0, 1, broadcast_that_shapes, 0},
    {"pad and roll of the same shape", "shapes", 0, 2, something, 0},
};

/* -- slices -------------------------------------------------------------------------------------------------------- */

static nd4c_value cut(nd4c_graph *graph, nd4c_value x, int64_t axis, int64_t start, int64_t stop, int64_t step) {
  const nd4c_attr attrs[] = {check_ints("starts", &start, 1), check_ints("stops", &stop, 1),
                             check_ints("axes", &axis, 1), check_ints("steps", &step, 1)};
  return check_op(graph, ND4C_OP_slice, &x, 1, attrs, 4);
}

static nd4c_value join(nd4c_graph *graph, const nd4c_value *parts, int32_t count, int64_t axis) {
  return with_int(graph, ND4C_OP_concat, parts, count, "axis", axis);
}

static nd4c_value pick(nd4c_graph *graph, nd4c_value x, nd4c_value indices, int64_t axis) {
  return with_int(graph, ND4C_OP_gather, (nd4c_value[]){x, indices}, 2, "axis", axis);
}

static void gather_scalar(nd4c_graph *graph) {
  const int64_t index = -2;
  exact_output(graph, negative(graph, pick(graph, cube(graph), exact_indices(graph, 0, NULL, &index), 1)));
}

static void gather_steps(nd4c_graph *graph) {
  const int64_t indices[] = {5, 3, -5}, count = 3;
  exact_output(graph, negative(graph, pick(graph, cube(graph), exact_indices(graph, 1, &count, indices), 1)));
}

static void gather_one(nd4c_graph *graph) {
  const int64_t index = 3, count = 1;
  exact_output(graph, negative(graph, pick(graph, cube(graph), exact_indices(graph, 1, &count, &index), 0)));
}

static void gather_uneven(nd4c_graph *graph) {
  const int64_t indices[] = {0, 1, 3}, count = 3;
  exact_output(graph, negative(graph, pick(graph, cube(graph), exact_indices(graph, 1, &count, indices), 1)));
}

static void gather_same(nd4c_graph *graph) {
  const int64_t indices[] = {2, 2}, count = 2;
  exact_output(graph, negative(graph, pick(graph, cube(graph), exact_indices(graph, 1, &count, indices), 1)));
}

static void slice_of_slice(nd4c_graph *graph) {
  nd4c_value x = cut(graph, cube(graph), 1, 5, ND4C_SLICE_NONE, -2); /* 5, 3, 1 */
  x = cut(graph, x, 1, 2, 0, -1);                                    /* 1, 3 */
  exact_output(graph, negative(graph, cut(graph, x, 2, 1, -1, 2)));
}

static void slice_backwards_to_the_first(nd4c_graph *graph) {
  const nd4c_value x = cut(graph, cube(graph), 1, 0, 4, 1);
  exact_output(graph, negative(graph, cut(graph, x, 1, 3, ND4C_SLICE_NONE, -3))); /* 3, 0 */
}

static void parts_of_concat(nd4c_graph *graph) {
  const nd4c_value x = cube(graph), y = cube(graph);
  const nd4c_value both = join(graph, (nd4c_value[]){x, y}, 2, 1);
  exact_output(graph, negative(graph, cut(graph, both, 1, 6, 12, 1)));
  exact_output(graph, negative(graph, cut(graph, both, 1, 1, 5, 2)));
  exact_output(graph, negative(graph, cut(graph, both, 1, 10, 6, -2)));
}

static void across_concat(nd4c_graph *graph) {
  const nd4c_value x = cube(graph), y = cube(graph);
  exact_output(graph, negative(graph, cut(graph, join(graph, (nd4c_value[]){x, y}, 2, 1), 1, 5, 7, 1)));
}

static void part_of_other_dtype(nd4c_graph *graph) {
  const nd4c_value x = cube(graph), y = exact_input(graph, ND4C_FLOAT64, 3, (int64_t[]){4, 6, 5});
  exact_output(graph, negative(graph, cut(graph, join(graph, (nd4c_value[]){x, y}, 2, 1), 1, 0, 6, 1)));
}

static void concat_of_split(nd4c_graph *graph) {
  const nd4c_value x = cube(graph);
  const nd4c_value parts[] = {cut(graph, x, 1, 0, 2, 1), cut(graph, x, 1, 2, 3, 1), cut(graph, x, 1, 3, 6, 1)};
  exact_output(graph, negative(graph, join(graph, parts, 3, -2)));
}

static void concat_of_neighbours(nd4c_graph *graph) {
  const nd4c_value x = cube(graph);
  const nd4c_value parts[] = {cut(graph, x, 1, 1, 2, 1), cut(graph, x, 1, 2, 5, 1)};
  exact_output(graph, negative(graph, join(graph, parts, 2, 1)));
}

static void concat_in_other_order(nd4c_graph *graph) {
  const nd4c_value x = cube(graph);
  const nd4c_value parts[] = {cut(graph, x, 1, 3, 6, 1), cut(graph, x, 1, 0, 3, 1)};
  exact_output(graph, negative(graph, join(graph, parts, 2, 1)));
}

static void concat_on_other_axis(nd4c_graph *graph) {
  const nd4c_value x = cube(graph);
  const nd4c_value parts[] = {cut(graph, x, 1, 0, 3, 1), cut(graph, x, 1, 3, 6, 1)};
  exact_output(graph, negative(graph, join(graph, parts, 2, 0)));
}

/* Parts that follow each other on axis 0, but are not one slice: each case breaks one thing that a slice needs. */
static void concat_of_other_sources(nd4c_graph *graph) {
  const nd4c_value x = cube(graph), y = cube(graph);
  const nd4c_value parts[] = {cut(graph, x, 0, 0, 2, 1), cut(graph, y, 0, 2, 4, 1)};
  exact_output(graph, negative(graph, join(graph, parts, 2, 0)));
}

static void concat_of_other_starts(nd4c_graph *graph) {
  const nd4c_value x = cube(graph);
  const nd4c_value parts[] = {cut(graph, cut(graph, x, 0, 0, 2, 1), 1, 0, 3, 1),
                              cut(graph, cut(graph, x, 0, 2, 4, 1), 1, 1, 4, 1)};
  exact_output(graph, negative(graph, join(graph, parts, 2, 0)));
}

static void concat_of_other_steps(nd4c_graph *graph) {
  const nd4c_value x = cube(graph);
  const nd4c_value parts[] = {cut(graph, cut(graph, x, 0, 0, 2, 1), 1, 0, 3, 1),
                              cut(graph, cut(graph, x, 0, 2, 4, 1), 1, 0, 6, 2)};
  exact_output(graph, negative(graph, join(graph, parts, 2, 0)));
}

static void concat_of_a_first_with_gaps(nd4c_graph *graph) {
  const nd4c_value x = cube(graph);
  const nd4c_value parts[] = {cut(graph, x, 1, 0, 3, 2), cut(graph, x, 1, 2, 3, 1)}; /* 0, 2; 2 */
  exact_output(graph, negative(graph, join(graph, parts, 2, 1)));
}

static void concat_of_a_second_with_gaps(nd4c_graph *graph) {
  const nd4c_value x = cube(graph);
  const nd4c_value parts[] = {cut(graph, x, 1, 0, 2, 1), cut(graph, x, 1, 2, 6, 2)}; /* 0, 1; 2, 4 */
  exact_output(graph, negative(graph, join(graph, parts, 2, 1)));
}

static void concat_of_concat(nd4c_graph *graph) {
  const nd4c_value x = cube(graph), y = cube(graph), z = cube(graph);
  const nd4c_value inner = join(graph, (nd4c_value[]){x, y}, 2, 0);
  exact_output(graph, join(graph, (nd4c_value[]){z, inner, x}, 3, 0));
}

static void concat_read_twice(nd4c_graph *graph) {
  const nd4c_value x = cube(graph), y = cube(graph);
  const nd4c_value inner = join(graph, (nd4c_value[]){x, y}, 2, 0);
  exact_output(graph, join(graph, (nd4c_value[]){inner, x}, 2, 0));
  exact_output(graph, inner);
}

static const exact_case slices[] = {
    {"one index without axes", "slices", 1, 1, gather_scalar, 0},
    {"indices of even steps", "slices", 1, 1, gather_steps, 0},
    {"one index", "slices", 1, 1, gather_one, 0},
    {"slice of slice", "slices", 2, 1, slice_of_slice, 0},
    {"slice backwards to the first", "slices", 1, 1, slice_backwards_to_the_first, 0},
    {"parts of a concat", "slices", 3, 3, parts_of_concat, 0},
    {"concat of a split", "slices", 1, 1, concat_of_split, 0},
    {"concat of neighbours", "slices", 1, 1, concat_of_neighbours, 0},
    {"concat of concat", "slices", 1, 1, concat_of_concat, 0},
    {"uneven indices", "slices", 0, 2, gather_uneven, 0},
    {"equal indices", "slices", 0, 2, gather_same, 0},
    {"a slice across two parts", "slices", 0, 2, across_concat, 0},
    {"a part that is promoted", "slices", 0, 2, part_of_other_dtype, 0},
    {"parts in another order", "slices", 0, 2, concat_in_other_order, 0},
    {"parts on another axis", "slices", 0, 2, concat_on_other_axis, 0},
    {"parts of other values", "slices", 0, 2, concat_of_other_sources, 0},
    {"parts that start elsewhere on another axis", "slices", 2, 2, concat_of_other_starts, 0},
    {"parts of other steps on another axis", "slices", 2, 2, concat_of_other_steps, 0},
    {"a first part with gaps", "slices", 0, 2, concat_of_a_first_with_gaps, 0},
    {"a second part with gaps", "slices", 0, 2, concat_of_a_second_with_gaps, 0},
    {"another reader of the inner concat", "slices", 0, 2, concat_read_twice, 0},
};

/* An index out of range is an error of the run, as without passes. */
static void indices_out_of_range_fail_in_the_run(void **state) {
  (void)state;
  const int64_t index = 6;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_array *output = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = cube(graph);
  exact_output(graph, pick(graph, x, exact_indices(graph, 0, NULL, &index), 1));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_array *input = exact_array(ND4C_FLOAT32, 3, (int64_t[]){4, 6, 5}, 1);
  assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *[]){input}, 1, &output, 1), ND4C_INDEX);
  nd4c_array_release(input);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- transpose ----------------------------------------------------------------------------------------------------- */

static nd4c_value turn(nd4c_graph *graph, nd4c_value x, int64_t a, int64_t b, int64_t c) {
  return with_ints(graph, ND4C_OP_transpose, x, "axes", (int64_t[]){a, b, c}, 3);
}

static void transpose_back(nd4c_graph *graph) {
  const nd4c_value x = turn(graph, cube(graph), 1, 2, 0);
  exact_output(graph, negative(graph, turn(graph, x, 2, 0, 1)));
}

static void other_transposes(nd4c_graph *graph) {
  nd4c_value x = cube(graph);
  const nd4c_attr swaps[] = {check_int("axis1", 0), check_int("axis2", 2)};
  const int64_t first = 0, last = 2;
  const nd4c_attr moves[] = {check_ints("source", &first, 1), check_ints("destination", &last, 1)};
  x = check_op(graph, ND4C_OP_swapaxes, &x, 1, swaps, 2); /* 2 1 0 */
  x = check_op(graph, ND4C_OP_moveaxis, &x, 1, moves, 2); /* 1 0 2 */
  x = check_unary(graph, ND4C_OP_matrix_transpose, x);    /* 1 2 0 */
  exact_output(graph, negative(graph, with_ints(graph, ND4C_OP_transpose, x, "axes", (int64_t[]){-1, 0, 1}, 3)));
}

static void through_element_wise(nd4c_graph *graph) {
  const nd4c_value x = turn(graph, cube(graph), 0, 2, 1), y = turn(graph, cube(graph), 0, 2, 1);
  nd4c_value sum = add(graph, check_unary(graph, ND4C_OP_abs, x), y);
  sum = check_binary(graph, ND4C_OP_multiply, sum, exact_constant(graph, ND4C_FLOAT32, 1, (int64_t[]){6}, 3));
  sum = check_binary(graph, ND4C_OP_maximum, exact_scalar(graph, ND4C_FLOAT32, 0.5), sum);
  exact_output(graph, negative(graph, turn(graph, sum, 0, 2, 1)));
}

static void one_not_transposed(nd4c_graph *graph) {
  const nd4c_value x = turn(graph, cube(graph), 0, 2, 1);
  const nd4c_value y = exact_input(graph, ND4C_FLOAT32, 3, (int64_t[]){4, 5, 6});
  exact_output(graph, negative(graph, turn(graph, add(graph, x, y), 0, 2, 1)));
}

static void read_between(nd4c_graph *graph) {
  const nd4c_value x = check_unary(graph, ND4C_OP_abs, turn(graph, cube(graph), 0, 2, 1));
  exact_output(graph, negative(graph, turn(graph, x, 0, 2, 1)));
  exact_output(graph, x);
}

static void transposed_weights(nd4c_graph *graph) {
  const nd4c_value x = exact_input(graph, ND4C_FLOAT64, 2, (int64_t[]){3, 4});
  const nd4c_value w = exact_input(graph, ND4C_FLOAT64, 2, (int64_t[]){2, 4});
  const nd4c_value turned = check_op(graph, ND4C_OP_transpose, &w, 1, NULL, 0);
  exact_output(graph, check_op(graph, ND4C_OP_linear, (nd4c_value[]){x, turned}, 2, NULL, 0));
}

static const exact_case transposes[] = {
    {"transpose back", "transpose", 1, 1, transpose_back, 0},
    {"swapaxes, moveaxis, matrix_transpose", "transpose", 3, 1, other_transposes, 0},
    {"through element-wise ops", "transpose", 1, 5, through_element_wise, 0},
    {"linear of a transposed matrix", "transpose", 1, 1, transposed_weights, 1e-12},
    {"an operand that is not transposed", "transpose", 0, 2, one_not_transposed, 0},
    {"another reader in between", "transpose", 0, 2, read_between, 0},
};

/* -- reassociate --------------------------------------------------------------------------------------------------- */

static nd4c_value matrix(nd4c_graph *graph, int64_t rows, int64_t columns, uint64_t seed) {
  return check_constant(graph, 2, (int64_t[]){rows, columns}, seed, -1, 1);
}

/* Numbers from -1 to 1. */
static nd4c_value finite(nd4c_graph *graph, int64_t rows, int64_t columns) {
  const nd4c_value x = exact_input(graph, ND4C_FLOAT32, 2, (int64_t[]){rows, columns});
  return check_unary(graph, ND4C_OP_nan_to_num, check_unary(graph, ND4C_OP_tanh, x));
}

static void constants_left(nd4c_graph *graph) {
  const nd4c_value x = finite(graph, 8, 5);
  const nd4c_value inner = check_binary(graph, ND4C_OP_matmul, matrix(graph, 7, 8, 1), x);
  exact_output(graph, check_binary(graph, ND4C_OP_matmul, matrix(graph, 3, 7, 2), inner));
}

static void constants_right(nd4c_graph *graph) {
  const nd4c_value x = finite(graph, 5, 8);
  const nd4c_value inner = check_binary(graph, ND4C_OP_matmul, x, matrix(graph, 8, 7, 1));
  exact_output(graph, check_binary(graph, ND4C_OP_matmul, inner, matrix(graph, 7, 3, 2)));
}

static void low_rank(nd4c_graph *graph) {
  const nd4c_value x = finite(graph, 5, 8);
  const nd4c_value inner = check_binary(graph, ND4C_OP_matmul, x, matrix(graph, 8, 2, 1));
  exact_output(graph, check_binary(graph, ND4C_OP_matmul, inner, matrix(graph, 2, 8, 2)));
}

/* Three matrices that runs bring: a product with a column, or with a row, is the least work. */
static void column_last(nd4c_graph *graph) {
  const nd4c_value a = finite(graph, 6, 2), b = finite(graph, 2, 6), c = finite(graph, 6, 1);
  exact_output(graph, check_binary(graph, ND4C_OP_matmul, check_binary(graph, ND4C_OP_matmul, a, b), c));
}

static void row_first(nd4c_graph *graph) {
  const nd4c_value a = finite(graph, 1, 6), b = finite(graph, 6, 6), c = finite(graph, 6, 6);
  exact_output(graph, check_binary(graph, ND4C_OP_matmul, a, check_binary(graph, ND4C_OP_matmul, b, c)));
}

static void row_first_already(nd4c_graph *graph) {
  const nd4c_value a = finite(graph, 1, 6), b = finite(graph, 6, 6), c = finite(graph, 6, 6);
  exact_output(graph, check_binary(graph, ND4C_OP_matmul, check_binary(graph, ND4C_OP_matmul, a, b), c));
}

/* The product of the two matrices behind it serves the whole batch. */
static void batch_of_matrices(nd4c_graph *graph) {
  const nd4c_value x = exact_input(graph, ND4C_FLOAT32, 3, (int64_t[]){4, 6, 8});
  const nd4c_value a = check_unary(graph, ND4C_OP_nan_to_num, check_unary(graph, ND4C_OP_tanh, x));
  const nd4c_value b = finite(graph, 8, 7), c = finite(graph, 7, 1);
  exact_output(graph, check_binary(graph, ND4C_OP_matmul, check_binary(graph, ND4C_OP_matmul, a, b), c));
}

static void product_read_twice(nd4c_graph *graph) {
  const nd4c_value a = finite(graph, 6, 2), b = finite(graph, 2, 6), c = finite(graph, 6, 1);
  const nd4c_value inner = check_binary(graph, ND4C_OP_matmul, a, b);
  exact_output(graph, check_binary(graph, ND4C_OP_matmul, inner, c));
  exact_output(graph, negative(graph, inner));
}

static const exact_case reordered[] = {
    {"constants on the left", "reassociate", 1, 3, constants_left, 1e-5},
    {"constants on the right", "reassociate", 1, 3, constants_right, 1e-5},
    {"the product is larger than both", "reassociate", 0, 4, low_rank, 1e-5},
    {"a column last", "reassociate", 1, 8, column_last, 1e-5},
    {"a row first", "reassociate", 1, 8, row_first, 1e-5},
    {"a row first already", "reassociate", 0, 8, row_first_already, 1e-5},
    {"a batch of matrices", "reassociate", 1, 8, batch_of_matrices, 1e-5},
    {"a product that is read twice", "reassociate", 0, 9, product_read_twice, 1e-5},
};

static const exact_case in_order[] = {
    {"constants on the left, exact", "reassociate", 0, 4, constants_left, 1e-5},
    {"a column last, exact", "reassociate", 0, 8, column_last, 1e-5},
};

/* -- many nodes ---------------------------------------------------------------------------------------------------- */

/* A long chain of everything that the passes look at, and one value that very many nodes read. */
static void long_chain(nd4c_graph *graph, int32_t nodes) {
  const nd4c_value first = f32(graph);
  nd4c_value x = first;
  for (int32_t i = 0; i < nodes; i += 10) {
    x = check_binary(graph, ND4C_OP_subtract, x, exact_scalar(graph, ND4C_FLOAT32, 0));
    x = negative(graph, negative(graph, x));
    x = with_ints(graph, ND4C_OP_reshape, x, "shape", (int64_t[]){25, 5}, 2);
    x = with_ints(graph, ND4C_OP_reshape, x, "shape", (int64_t[]){5, 25}, 2);
    x = join(graph, (nd4c_value[]){cut(graph, x, 1, 0, 20, 1), cut(graph, x, 1, 20, 25, 1)}, 2, 1);
    x = check_unary(graph, ND4C_OP_abs, add(graph, check_unary(graph, ND4C_OP_exp, first), x));
  }
  exact_output(graph, x);
}

static void many_nodes_take_linear_time(void **state) {
  (void)state;
  enum { NODES = 100000 };
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  long_chain(graph, NODES);
  const clock_t begin = clock();
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  assert_true(graph->node_count >= NODES);
  assert_true(seconds < 10);
  assert_true(plan->step_count <= NODES / 5 + 1); /* add and abs of each round, and one exp */
  if (getenv("ND4C_TEST_PRINT") != NULL) {
    print_message("%d nodes, %d steps: %.3f s\n", graph->node_count, plan->step_count, seconds);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- tests --------------------------------------------------------------------------------------------------------- */

static void equal_nodes_are_computed_once(void **state) {
  (void)state;
  EXACT_CHECK_ALL(cse, ND4C_MATH_EXACT);
}

static void shapes_merge(void **state) {
  (void)state;
  EXACT_CHECK_ALL(shapes, ND4C_MATH_EXACT);
}

static void parts_become_views(void **state) {
  (void)state;
  EXACT_CHECK_ALL(slices, ND4C_MATH_EXACT);
}

static void transposes_cancel(void **state) {
  (void)state;
  EXACT_CHECK_ALL(transposes, ND4C_MATH_EXACT);
}

static void constant_matrices_are_multiplied_once(void **state) {
  (void)state;
  EXACT_CHECK_ALL(reordered, ND4C_MATH_REORDER);
  EXACT_CHECK_ALL(in_order, ND4C_MATH_EXACT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_nodes_are_computed_once),
      cmocka_unit_test(shapes_merge),
      cmocka_unit_test(parts_become_views),
      cmocka_unit_test(indices_out_of_range_fail_in_the_run),
      cmocka_unit_test(transposes_cancel),
      cmocka_unit_test(constant_matrices_are_multiplied_once),
      cmocka_unit_test(many_nodes_take_linear_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
