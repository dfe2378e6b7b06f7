/* The passes casts, peephole, algebra, select, strength and fold_chain: each pattern with the numbers that it could go
 * wrong for, and look-alikes that must stay. A plan with one step for the output alone has copied its input. */
#include "graph/exact.h"

/* -- building ------------------------------------------------------------------------------------------------------ */

static nd4c_value f32(nd4c_graph *graph) {
  return exact_vector(graph, ND4C_FLOAT32);
}

static nd4c_value i32(nd4c_graph *graph) {
  return exact_vector(graph, ND4C_INT32);
}

/* op(x, number) and, if `left`, op(number, x), each an output. */
static void with_number(nd4c_graph *graph, nd4c_dtype dtype, nd4c_op op, double number, bool left) {
  const nd4c_value x = exact_vector(graph, dtype), constant = exact_scalar(graph, dtype, number);
  exact_output(graph, left ? check_binary(graph, op, constant, x) : check_binary(graph, op, x, constant));
}

#define NUMBER(name, DTYPE, op, number, left)                         \
  static void name(nd4c_graph *graph) {                               \
    with_number(graph, ND4C_##DTYPE, ND4C_OP_##op, (number), (left)); \
  }
#define CHAIN(name, DTYPE, first, second)                                                              \
  static void name(nd4c_graph *graph) {                                                                \
    const nd4c_value x = exact_vector(graph, ND4C_##DTYPE);                                            \
    exact_output(graph, check_unary(graph, ND4C_OP_##second, check_unary(graph, ND4C_OP_##first, x))); \
  }
#define TWICE(name, DTYPE, op)                                    \
  static void name(nd4c_graph *graph) {                           \
    const nd4c_value x = exact_vector(graph, ND4C_##DTYPE);       \
    exact_output(graph, check_binary(graph, ND4C_OP_##op, x, x)); \
  }

/* -- casts --------------------------------------------------------------------------------------------------------- */

static void cast_through(nd4c_graph *graph, nd4c_dtype from, nd4c_dtype middle, nd4c_dtype to) {
  exact_output(graph, exact_cast(graph, exact_cast(graph, exact_vector(graph, from), middle), to));
}
#define CASTS(name, FROM, MIDDLE, TO)                           \
  static void name(nd4c_graph *graph) {                         \
    cast_through(graph, ND4C_##FROM, ND4C_##MIDDLE, ND4C_##TO); \
  }
CASTS(cast_back_float, FLOAT32, FLOAT64, FLOAT32)
CASTS(cast_back_whole, INT32, FLOAT64, INT32)
CASTS(cast_wider, INT8, INT32, FLOAT32)
CASTS(cast_wraps, INT32, INT64, INT8)
CASTS(cast_bool, BOOL, FLOAT32, INT8)
CASTS(cast_to_bool, FLOAT32, FLOAT64, BOOL)
CASTS(cast_rounds, FLOAT64, FLOAT32, FLOAT64)
CASTS(cast_saturates, INT32, FLOAT64, INT8)
CASTS(cast_loses, INT64, FLOAT64, INT64)
CASTS(cast_cuts, INT32, INT8, INT32)

static const exact_case casts[] = {
    {"float and back", "casts", 1, 1, cast_back_float, 0},
    {"integer through double and back", "casts", 1, 1, cast_back_whole, 0},
    {"integer through a wider one", "casts", 1, 1, cast_wider, 0},
    {"integer through a wider one to a narrower one", "casts", 1, 1, cast_wraps, 0},
    {"bool through float", "casts", 1, 1, cast_bool, 0},
    {"float through double to bool", "casts", 1, 1, cast_to_bool, 0},
    {"the middle rounds", "casts", 0, 2, cast_rounds, 0},
    {"the middle saturates where a direct cast wraps", "casts", 0, 2, cast_saturates, 0},
    {"the middle loses bits", "casts", 0, 2, cast_loses, 0},
    {"the middle cuts bits", "casts", 0, 2, cast_cuts, 0},
};

/* -- peephole ------------------------------------------------------------------------------------------------------ */

CHAIN(negative_twice, FLOAT32, negative, negative)
CHAIN(negative_twice_whole, INT32, negative, negative)
CHAIN(not_twice, BOOL, logical_not, logical_not)
CHAIN(invert_twice, INT32, bitwise_invert, bitwise_invert)
CHAIN(relu_twice, FLOAT32, relu, relu)
CHAIN(abs_twice, INT32, abs, abs)
CHAIN(floor_of_round, FLOAT32, round, floor)
CHAIN(relu_of_abs, FLOAT32, abs, relu)
CHAIN(abs_of_square, FLOAT32, square, abs)
CHAIN(abs_of_negative, FLOAT32, negative, abs)
CHAIN(square_of_abs, INT32, abs, square)
CHAIN(floor_of_whole, INT32, floor, ceil)
CHAIN(abs_of_relu, FLOAT32, relu, abs)
CHAIN(abs_of_whole_square, INT32, square, abs)
CHAIN(reciprocal_twice, FLOAT32, reciprocal, reciprocal)
CHAIN(floor_of_abs, FLOAT32, abs, floor)

static void compare(nd4c_graph *graph, nd4c_dtype dtype, nd4c_op op) {
  const nd4c_value a = exact_vector(graph, dtype), b = exact_vector(graph, dtype);
  exact_output(graph, check_unary(graph, ND4C_OP_logical_not, check_binary(graph, op, a, b)));
}

static void not_equal_floats(nd4c_graph *graph) {
  compare(graph, ND4C_FLOAT32, ND4C_OP_equal);
}

static void not_less_wholes(nd4c_graph *graph) {
  compare(graph, ND4C_INT32, ND4C_OP_less);
}

static void not_less_floats(nd4c_graph *graph) {
  compare(graph, ND4C_FLOAT32, ND4C_OP_less);
}

static void with_negative(nd4c_graph *graph, nd4c_dtype dtype, nd4c_op op, bool first, bool second) {
  nd4c_value a = exact_vector(graph, dtype), b = exact_vector(graph, dtype);
  a = first ? check_unary(graph, ND4C_OP_negative, a) : a;
  b = second ? check_unary(graph, ND4C_OP_negative, b) : b;
  exact_output(graph, check_binary(graph, op, a, b));
}

static void add_negative(nd4c_graph *graph) {
  with_negative(graph, ND4C_FLOAT32, ND4C_OP_add, false, true);
}

static void negative_add(nd4c_graph *graph) {
  with_negative(graph, ND4C_INT32, ND4C_OP_add, true, false);
}

static void subtract_negative(nd4c_graph *graph) {
  with_negative(graph, ND4C_FLOAT32, ND4C_OP_subtract, false, true);
}

static void multiply_negatives(nd4c_graph *graph) {
  with_negative(graph, ND4C_FLOAT32, ND4C_OP_multiply, true, true);
}

static void divide_negatives(nd4c_graph *graph) {
  with_negative(graph, ND4C_INT32, ND4C_OP_divide, true, true);
}

/* The negative of the least int8 is itself, so that it may not be computed in int64. */
static void add_narrow_negative(nd4c_graph *graph) {
  const nd4c_value a = exact_vector(graph, ND4C_INT64), b = exact_vector(graph, ND4C_INT8);
  exact_output(graph, check_binary(graph, ND4C_OP_add, a, check_unary(graph, ND4C_OP_negative, b)));
}

/* The bits of float32 as int32, and these as another dtype. */
static void bits_of_bits(nd4c_graph *graph, nd4c_dtype dtype) {
  const nd4c_attr attrs[] = {{.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_INT32}},
                             {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = dtype}}};
  const nd4c_value x = exact_vector(graph, ND4C_FLOAT32), bits = check_op(graph, ND4C_OP_bit_cast, &x, 1, attrs, 1);
  exact_output(graph, check_op(graph, ND4C_OP_bit_cast, &bits, 1, &attrs[1], 1));
}

static void bits_and_back(nd4c_graph *graph) {
  bits_of_bits(graph, ND4C_FLOAT32);
}

static void bits_of_another(nd4c_graph *graph) {
  bits_of_bits(graph, ND4C_UINT32);
}

static const exact_case peephole[] = {
    {"bits as integers and back", "peephole", 1, 1, bits_and_back, 0},
    {"bits as another dtype", "peephole", 0, 2, bits_of_another, 0},
    {"negative of negative", "peephole", 1, 1, negative_twice, 0},
    {"negative of negative, integers", "peephole", 1, 1, negative_twice_whole, 0},
    {"not of not", "peephole", 1, 1, not_twice, 0},
    {"inverted bits inverted", "peephole", 1, 1, invert_twice, 0},
    {"relu of relu", "peephole", 1, 1, relu_twice, 0},
    {"abs of abs", "peephole", 1, 1, abs_twice, 0},
    {"floor of round", "peephole", 1, 1, floor_of_round, 0},
    {"relu of abs", "peephole", 1, 1, relu_of_abs, 0},
    {"abs of square", "peephole", 1, 1, abs_of_square, 0},
    {"abs of negative", "peephole", 1, 1, abs_of_negative, 0},
    {"square of abs, integers", "peephole", 1, 1, square_of_abs, 0},
    {"floor and ceil of integers", "peephole", 2, 1, floor_of_whole, 0},
    {"not of equal", "peephole", 1, 1, not_equal_floats, 0},
    {"not of less, integers", "peephole", 1, 1, not_less_wholes, 0},
    {"a + -b", "peephole", 1, 1, add_negative, 0},
    {"-a + b, integers", "peephole", 1, 1, negative_add, 0},
    {"a - -b", "peephole", 1, 1, subtract_negative, 0},
    {"-a * -b", "peephole", 1, 1, multiply_negatives, 0},
    {"relu may keep -0", "peephole", 0, 2, abs_of_relu, 0},
    {"the square of an integer may wrap", "peephole", 0, 2, abs_of_whole_square, 0},
    {"two reciprocals round", "peephole", 0, 2, reciprocal_twice, 0},
    {"abs does not round", "peephole", 0, 2, floor_of_abs, 0},
    {"not of less, NaN", "peephole", 0, 2, not_less_floats, 0},
    {"quotients of integers that wrap", "peephole", 0, 3, divide_negatives, 0},
    {"a negative in a narrower dtype", "peephole", 0, 2, add_narrow_negative, 0},
};

/* -- algebra ------------------------------------------------------------------------------------------------------- */

NUMBER(add_minus_zero, FLOAT32, add, -0.0, false)
NUMBER(add_zero, FLOAT32, add, 0.0, false)
NUMBER(add_zero_whole, INT64, add, 0, true)
NUMBER(subtract_zero, FLOAT32, subtract, 0.0, false)
NUMBER(subtract_minus_zero, FLOAT32, subtract, -0.0, false)
NUMBER(zero_subtract, FLOAT32, subtract, 0.0, true)
NUMBER(minus_zero_subtract, FLOAT32, subtract, -0.0, true)
NUMBER(zero_subtract_whole, INT32, subtract, 0, true)
NUMBER(multiply_one, FLOAT32, multiply, 1, true)
NUMBER(multiply_minus_one, FLOAT32, multiply, -1, false)
NUMBER(multiply_minus_one_whole, INT64, multiply, -1, false)
NUMBER(multiply_zero, FLOAT32, multiply, 0, false)
NUMBER(multiply_zero_whole, INT32, multiply, 0, false)
NUMBER(divide_one, FLOAT32, divide, 1, false)
NUMBER(one_divide, FLOAT32, divide, 1, true)
NUMBER(divide_minus_one, FLOAT32, divide, -1, false)
NUMBER(power_one, FLOAT32, power, 1, false)
NUMBER(maximum_lowest, FLOAT32, maximum, -INFINITY, false)
NUMBER(minimum_lowest, FLOAT32, minimum, -INFINITY, false)
NUMBER(maximum_lowest_whole, INT32, maximum, -2147483648.0, false)
NUMBER(maximum_highest_whole, INT32, maximum, 2147483647.0, false)
NUMBER(and_true, BOOL, logical_and, 1, false)
NUMBER(and_false, BOOL, logical_and, 0, true)
NUMBER(or_true, BOOL, logical_or, 1, false)
NUMBER(xor_true, BOOL, logical_xor, 1, false)
NUMBER(bits_and_all, INT32, bitwise_and, -1, false)
NUMBER(bits_or_all, UINT8, bitwise_or, 255, false)
NUMBER(shift_none, INT32, bitwise_left_shift, 0, false)
TWICE(maximum_same, FLOAT32, maximum)
TWICE(and_same, BOOL, logical_and)
TWICE(subtract_same_whole, INT32, subtract)
TWICE(subtract_same, FLOAT32, subtract)
TWICE(equal_same_whole, INT32, equal)
TWICE(equal_same, FLOAT32, equal)
TWICE(xor_same, INT32, bitwise_xor)

static void add_zero_of_other_dtype(nd4c_graph *graph) {
  exact_output(graph,
               check_binary(graph, ND4C_OP_add, exact_vector(graph, ND4C_INT32), exact_scalar(graph, ND4C_INT64, 0)));
}

static void multiply_ones_of_larger_shape(nd4c_graph *graph) {
  const nd4c_value ones = exact_full(graph, ND4C_FLOAT32, 1, 3, (int64_t[]){2, 5, 25});
  exact_output(graph, check_binary(graph, ND4C_OP_multiply, f32(graph), ones));
}

static void multiply_ones_of_same_shape(nd4c_graph *graph) {
  const nd4c_value ones = exact_full(graph, ND4C_FLOAT32, 1, 2, (int64_t[]){5, 25});
  exact_output(graph, check_binary(graph, ND4C_OP_multiply, f32(graph), ones));
}

static void multiply_zeros_of_larger_shape(nd4c_graph *graph) {
  const nd4c_value zeros = exact_full(graph, ND4C_INT32, 0, 3, (int64_t[]){2, 1, 1});
  exact_output(graph, check_binary(graph, ND4C_OP_multiply, i32(graph), zeros));
}

/* The neutral sum is an output, and so is what comes after it. */
static void given_out(nd4c_graph *graph) {
  const nd4c_value x = f32(graph);
  const nd4c_value sum = check_binary(graph, ND4C_OP_subtract, x, exact_scalar(graph, ND4C_FLOAT32, 0));
  exact_output(graph, sum);
  exact_output(graph, check_unary(graph, ND4C_OP_abs, sum));
  exact_output(graph, check_binary(graph, ND4C_OP_add, sum, x));
  exact_output(graph, x);
}

static const exact_case algebra[] = {
    {"x + -0", "algebra", 1, 1, add_minus_zero, 0},
    {"0 + x, integers", "algebra", 1, 1, add_zero_whole, 0},
    {"x - 0", "algebra", 1, 1, subtract_zero, 0},
    {"-0 - x", "algebra", 1, 1, minus_zero_subtract, 0},
    {"0 - x, integers", "algebra", 1, 1, zero_subtract_whole, 0},
    {"1 * x", "algebra", 1, 1, multiply_one, 0},
    {"x * -1", "algebra", 1, 1, multiply_minus_one, 0},
    {"x * -1, integers", "algebra", 1, 1, multiply_minus_one_whole, 0},
    {"x * 0, integers", "algebra", 1, 1, multiply_zero_whole, 0},
    {"x / 1", "algebra", 1, 1, divide_one, 0},
    {"x / -1", "algebra", 1, 1, divide_minus_one, 0},
    {"x^1", "algebra", 1, 1, power_one, 0},
    {"max(x, -inf)", "algebra", 1, 1, maximum_lowest, 0},
    {"max(x, least)", "algebra", 1, 1, maximum_lowest_whole, 0},
    {"max(x, largest)", "algebra", 1, 1, maximum_highest_whole, 0},
    {"x and true", "algebra", 1, 1, and_true, 0},
    {"false and x", "algebra", 1, 1, and_false, 0},
    {"x or true", "algebra", 1, 1, or_true, 0},
    {"x xor true", "algebra", 1, 1, xor_true, 0},
    {"x & all bits", "algebra", 1, 1, bits_and_all, 0},
    {"x | all bits", "algebra", 1, 1, bits_or_all, 0},
    {"x << 0", "algebra", 1, 1, shift_none, 0},
    {"max(x, x)", "algebra", 1, 1, maximum_same, 0},
    {"x and x", "algebra", 1, 1, and_same, 0},
    {"x - x, integers", "algebra", 1, 1, subtract_same_whole, 0},
    {"x == x, integers", "algebra", 1, 1, equal_same_whole, 0},
    {"x xor x", "algebra", 1, 1, xor_same, 0},
    {"ones of the same shape", "algebra", 1, 1, multiply_ones_of_same_shape, 0},
    {"zeros that broadcast x, integers", "algebra", 1, 1, multiply_zeros_of_larger_shape, 0},
    {"outputs before and after", "algebra", 1, 4, given_out, 0},
    {"x + 0 is 0 for -0", "algebra", 0, 1, add_zero, 0},
    {"x - -0 is 0 for -0", "algebra", 0, 1, subtract_minus_zero, 0},
    {"0 - 0 is 0, not -0", "algebra", 0, 1, zero_subtract, 0},
    {"inf * 0 is NaN", "algebra", 0, 1, multiply_zero, 0},
    {"1 / x is not x", "algebra", 0, 1, one_divide, 0},
    {"min(x, -inf) is NaN for NaN", "algebra", 0, 1, minimum_lowest, 0},
    {"inf - inf is NaN", "algebra", 0, 1, subtract_same, 0},
    {"NaN != NaN", "algebra", 0, 1, equal_same, 0},
    {"a zero that promotes", "algebra", 0, 1, add_zero_of_other_dtype, 0},
    {"ones that broadcast x", "algebra", 0, 1, multiply_ones_of_larger_shape, 0},
};

/* -- select -------------------------------------------------------------------------------------------------------- */

static nd4c_value where(nd4c_graph *graph, nd4c_value condition, nd4c_value a, nd4c_value b) {
  return check_op(graph, ND4C_OP_where, (nd4c_value[]){condition, a, b}, 3, NULL, 0);
}

static void where_known(nd4c_graph *graph) {
  exact_output(graph, where(graph, exact_scalar(graph, ND4C_BOOL, 1), f32(graph), f32(graph)));
}

static void where_known_broadcast(nd4c_graph *graph) {
  const nd4c_value row = exact_input(graph, ND4C_FLOAT32, 1, (int64_t[]){25});
  exact_output(graph, where(graph, exact_scalar(graph, ND4C_BOOL, 0), f32(graph), row));
}

static void where_known_promotes(nd4c_graph *graph) {
  exact_output(graph, where(graph, exact_scalar(graph, ND4C_BOOL, 1), i32(graph), exact_vector(graph, ND4C_INT64)));
}

static void where_same(nd4c_graph *graph) {
  const nd4c_value x = f32(graph);
  exact_output(graph, where(graph, exact_vector(graph, ND4C_BOOL), x, x));
}

static void where_not(nd4c_graph *graph) {
  const nd4c_value condition = check_unary(graph, ND4C_OP_logical_not, exact_vector(graph, ND4C_BOOL));
  exact_output(graph, where(graph, condition, f32(graph), f32(graph)));
}

static void where_nested(nd4c_graph *graph) {
  const nd4c_value condition = exact_vector(graph, ND4C_BOOL);
  const nd4c_value inner = where(graph, condition, f32(graph), f32(graph));
  exact_output(graph, where(graph, condition, inner, f32(graph)));
}

static void where_nested_last(nd4c_graph *graph) {
  const nd4c_value condition = exact_vector(graph, ND4C_BOOL);
  const nd4c_value inner = where(graph, condition, f32(graph), f32(graph));
  exact_output(graph, where(graph, condition, f32(graph), inner));
}

static void where_other_condition(nd4c_graph *graph) {
  const nd4c_value inner = where(graph, exact_vector(graph, ND4C_BOOL), f32(graph), f32(graph));
  exact_output(graph, where(graph, exact_vector(graph, ND4C_BOOL), inner, f32(graph)));
}

static void where_bools(nd4c_graph *graph) {
  const nd4c_value condition = exact_vector(graph, ND4C_BOOL);
  exact_output(graph, where(graph, condition, exact_scalar(graph, ND4C_BOOL, 0), exact_scalar(graph, ND4C_BOOL, 1)));
}

static const exact_case selects[] = {
    {"known condition", "select", 1, 1, where_known, 0},
    {"known condition, the branch broadcasts", "select", 1, 1, where_known_broadcast, 0},
    {"equal branches", "select", 1, 1, where_same, 0},
    {"negated condition", "select", 1, 1, where_not, 0},
    {"same condition in the first branch", "select", 1, 1, where_nested, 0},
    {"same condition in the second branch", "select", 1, 1, where_nested_last, 0},
    {"false and true", "select", 1, 1, where_bools, 0},
    {"known condition, the branch is promoted", "select", 0, 1, where_known_promotes, 0},
    {"another condition", "select", 0, 2, where_other_condition, 0},
};

/* -- strength ------------------------------------------------------------------------------------------------------ */

NUMBER(power_two, FLOAT32, power, 2, false)
NUMBER(power_two_whole, INT32, power, 2, false)
NUMBER(power_minus_one, FLOAT32, power, -1, false)
NUMBER(power_half, FLOAT32, power, 0.5, false)
NUMBER(divide_four, FLOAT32, divide, 4, false)
NUMBER(divide_minus_quarter, FLOAT64, divide, -0.25, false)
NUMBER(divide_three, FLOAT32, divide, 3, false)
NUMBER(divide_four_whole, INT32, divide, 4, false)
NUMBER(true_divide_three, FLOAT32, true_divide, 3, false)
NUMBER(three_true_divide, FLOAT64, true_divide, 3, true)
NUMBER(true_divide_whole, INT32, true_divide, 4, false)
NUMBER(divide_tiny, FLOAT32, divide, 0x1p-140, false)
NUMBER(divide_least_normal, FLOAT32, divide, 0x1p-126, false)
NUMBER(divide_least_normal_double, FLOAT64, divide, -0x1p-1022, false)
NUMBER(divide_below_normal, FLOAT32, divide, 0x1p-127, false)
NUMBER(divide_largest, FLOAT32, divide, 0x1p126, false)
NUMBER(divide_too_large, FLOAT32, divide, 0x1p127, false)
NUMBER(divide_too_large_double, FLOAT64, divide, 0x1p1023, false)
NUMBER(divide_infinity, FLOAT32, divide, INFINITY, false)
NUMBER(divide_zero, FLOAT32, divide, 0.0, false)
NUMBER(power_minus_one_double, FLOAT64, power, -1, false)
NUMBER(power_three, FLOAT32, power, 3, false)
NUMBER(power_minus_two, FLOAT32, power, -2, false)
TWICE(multiply_same, FLOAT32, multiply)

/* A power of a sum that is never negative. */
static void power_of_square(nd4c_graph *graph, double exponent) {
  const nd4c_value sum = check_binary(graph, ND4C_OP_add, check_unary(graph, ND4C_OP_square, f32(graph)),
                                      exact_scalar(graph, ND4C_FLOAT32, 1e-5));
  exact_output(graph, check_binary(graph, ND4C_OP_power, sum, exact_scalar(graph, ND4C_FLOAT32, exponent)));
}

static void power_half_of_square(nd4c_graph *graph) {
  power_of_square(graph, 0.5);
}

static void power_third_of_square(nd4c_graph *graph) {
  power_of_square(graph, 1.0 / 3);
}

static void power_minus_half_of_square(nd4c_graph *graph) {
  power_of_square(graph, -0.5);
}

static const exact_case strength[] = {
    {"x^2", "strength", 1, 1, power_two, 1e-6},
    {"x^2, integers", "strength", 1, 1, power_two_whole, 0},
    {"1 / x", "strength", 1, 1, power_minus_one, 1e-6},
    {"root of a sum of squares", "strength", 1, 3, power_half_of_square, 1e-6},
    {"x / 4", "strength", 1, 1, divide_four, 0},
    {"x / -0.25", "strength", 1, 1, divide_minus_quarter, 0},
    {"x * x", "strength", 1, 1, multiply_same, 0},
    {"the root of -0 is -0, that of -inf NaN", "strength", 0, 1, power_half, 0},
    {"x / 3 rounds", "strength", 0, 1, divide_three, 0},
    {"x / 3 as true_divide", "strength", 1, 1, true_divide_three, 0},
    {"3 / x as true_divide", "strength", 1, 1, three_true_divide, 0},
    {"x / 4 as true_divide of integers", "strength", 0, 1, true_divide_whole, 0},
    {"x / 4, integers", "strength", 0, 1, divide_four_whole, 0},
    {"1 / subnormal overflows", "strength", 0, 1, divide_tiny, 0},
    {"x / the least normal number", "strength", 1, 1, divide_least_normal, 0},
    {"x / the least normal double", "strength", 1, 1, divide_least_normal_double, 0},
    {"x / a subnormal number", "strength", 0, 1, divide_below_normal, 0},
    {"x / 2^126", "strength", 1, 1, divide_largest, 0},
    {"1 / 2^127 is subnormal", "strength", 0, 1, divide_too_large, 0},
    {"1 / 2^1023 is subnormal", "strength", 0, 1, divide_too_large_double, 0},
    {"x / inf", "strength", 0, 1, divide_infinity, 0},
    {"x / 0", "strength", 0, 1, divide_zero, 0},
    {"1 / x, doubles", "strength", 1, 1, power_minus_one_double, 1e-6},
    {"x^3", "strength", 0, 1, power_three, 1e-6},
    {"x^-2", "strength", 0, 1, power_minus_two, 1e-6},
    {"the third root of a sum of squares", "strength", 0, 3, power_third_of_square, 1e-6},
    {"1 / root of a sum of squares", "strength", 0, 3, power_minus_half_of_square, 1e-6},
};

/* -- fold_chain ---------------------------------------------------------------------------------------------------- */

typedef struct chain_link {
  nd4c_op op;
  double number;
  bool left;
} chain_link;

static void chain(nd4c_graph *graph, nd4c_dtype dtype, const chain_link *links, int32_t count) {
  nd4c_value x = exact_vector(graph, dtype);
  for (int32_t i = 0; i < count; i++) {
    const nd4c_value number = exact_scalar(graph, dtype, links[i].number);
    x = links[i].left ? check_binary(graph, links[i].op, number, x) : check_binary(graph, links[i].op, x, number);
  }
  exact_output(graph, x);
}

static void sums_whole(nd4c_graph *graph) {
  const chain_link links[] = {{ND4C_OP_add, 2147483000.0, false},
                              {ND4C_OP_subtract, 5, false},
                              {ND4C_OP_subtract, 77, true},
                              {ND4C_OP_add, 2147483647.0, true},
                              {ND4C_OP_subtract, 3, true}};
  chain(graph, ND4C_INT32, links, 5);
}

static void products_whole(nd4c_graph *graph) {
  const chain_link links[] = {{ND4C_OP_multiply, 65537, false}, {ND4C_OP_multiply, -65539, true}};
  chain(graph, ND4C_INT32, links, 2);
}

static void bits(nd4c_graph *graph) {
  const chain_link links[] = {{ND4C_OP_bitwise_xor, 85, false}, {ND4C_OP_bitwise_xor, 15, true}};
  chain(graph, ND4C_UINT8, links, 2);
}

static void powers_up(nd4c_graph *graph) {
  const chain_link links[] = {{ND4C_OP_multiply, 4, false}, {ND4C_OP_multiply, -8, true}, {ND4C_OP_multiply, 2, false}};
  chain(graph, ND4C_FLOAT32, links, 3);
}

static void sign_and_number(nd4c_graph *graph) {
  const chain_link links[] = {
      {ND4C_OP_multiply, 0.3, false}, {ND4C_OP_maximum, -5, false}, {ND4C_OP_maximum, -3, true}};
  chain(graph, ND4C_FLOAT32, links, 3);
}

static void powers_down(nd4c_graph *graph) {
  const chain_link links[] = {{ND4C_OP_multiply, 0.5, false}, {ND4C_OP_multiply, 0.25, false}};
  chain(graph, ND4C_FLOAT32, links, 2);
}

static void powers_overflow(nd4c_graph *graph) {
  const chain_link links[] = {{ND4C_OP_multiply, 0x1p100, false}, {ND4C_OP_multiply, 0x1p100, false}};
  chain(graph, ND4C_FLOAT32, links, 2);
}

/* Of two powers of two, or numbers that are none. */
#define PRODUCTS(name, DTYPE, first, second)                                                          \
  static void name(nd4c_graph *graph) {                                                               \
    const chain_link links[] = {{ND4C_OP_multiply, first, false}, {ND4C_OP_multiply, second, false}}; \
    chain(graph, ND4C_##DTYPE, links, 2);                                                             \
  }
PRODUCTS(powers_largest, FLOAT32, 0x1p100, 0x1p27)
PRODUCTS(powers_past_largest, FLOAT32, 0x1p100, -0x1p28)
PRODUCTS(powers_double, FLOAT64, 0x1p100, 0x1p100)
PRODUCTS(infinity_first, FLOAT32, INFINITY, 4)
PRODUCTS(infinity_last, FLOAT32, 4, INFINITY)
PRODUCTS(not_a_number, FLOAT32, NAN, 4)
PRODUCTS(three_and_two, FLOAT32, 3, 2)
PRODUCTS(two_and_three, FLOAT32, 2, 3)
PRODUCTS(half_and_four, FLOAT32, 0.5, 4)

PRODUCTS(product_past_largest, FLOAT32, -3e38, 2)
PRODUCTS(product_below_normal, FLOAT32, 1e-30, 1e-30)
PRODUCTS(product_with_zero, FLOAT32, 0, 3e38)

static void sum_past_largest(nd4c_graph *graph) {
  const chain_link links[] = {{ND4C_OP_add, 3e38, false}, {ND4C_OP_subtract, -3e38, false}};
  chain(graph, ND4C_FLOAT32, links, 2);
}

/* A row with one large number. */
static void row_past_largest(nd4c_graph *graph) {
  float numbers[25] = {1, 2, 3, 0, 3e38F};
  nd4c_array *row = NULL;
  nd4c_value number = ND4C_VALUE_NONE, x = exact_vector(graph, ND4C_FLOAT32);
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 1, (int64_t[]){25}, numbers, NULL, &row));
  CHECK_OK(nd4c_graph_constant(graph, row, &number));
  nd4c_array_release(row);
  x = check_binary(graph, ND4C_OP_multiply, x, number);
  exact_output(graph, check_binary(graph, ND4C_OP_multiply, x, exact_scalar(graph, ND4C_FLOAT32, 3)));
}

static void sums(nd4c_graph *graph) {
  const chain_link links[] = {{ND4C_OP_add, 0.1, false}, {ND4C_OP_subtract, 0.7, true}, {ND4C_OP_subtract, 3, false}};
  chain(graph, ND4C_FLOAT32, links, 3);
}

static void maximum_of_zeros(nd4c_graph *graph) {
  const chain_link links[] = {{ND4C_OP_maximum, 0.0, false}, {ND4C_OP_maximum, -1, false}};
  chain(graph, ND4C_FLOAT32, links, 2);
}

static void sum_read_twice(nd4c_graph *graph) {
  const nd4c_value sum = check_binary(graph, ND4C_OP_add, i32(graph), exact_scalar(graph, ND4C_INT32, 5));
  exact_output(graph, check_binary(graph, ND4C_OP_add, sum, exact_scalar(graph, ND4C_INT32, 6)));
  exact_output(graph, check_unary(graph, ND4C_OP_negative, sum));
}

/* A column and a row: their sum would have more elements than both. */
static void sum_of_column_and_row(nd4c_graph *graph) {
  const nd4c_value column = exact_constant(graph, ND4C_INT32, 2, (int64_t[]){5, 1}, 3);
  const nd4c_value row = exact_constant(graph, ND4C_INT32, 1, (int64_t[]){25}, 4);
  exact_output(graph, check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_add, i32(graph), column), row));
}

static const exact_case chains[] = {
    {"sums of integers that wrap", "fold_chain", 4, 1, sums_whole, 0},
    {"products of integers that wrap", "fold_chain", 1, 1, products_whole, 0},
    {"bits", "fold_chain", 1, 1, bits, 0},
    {"powers of two from 1 up", "fold_chain", 2, 1, powers_up, 0},
    {"two maxima", "fold_chain", 1, 2, sign_and_number, 0},
    {"powers of two below 1 round subnormals twice", "fold_chain", 0, 2, powers_down, 0},
    {"the product of the powers overflows", "fold_chain", 0, 2, powers_overflow, 0},
    {"the product of the powers is the largest one", "fold_chain", 1, 1, powers_largest, 0},
    {"the product of the powers is past the largest one", "fold_chain", 0, 2, powers_past_largest, 0},
    {"the product of the powers fits a double", "fold_chain", 1, 1, powers_double, 0},
    {"inf, and a power", "fold_chain", 0, 2, infinity_first, 0},
    {"a power, and inf", "fold_chain", 0, 2, infinity_last, 0},
    {"NaN, and a power", "fold_chain", 0, 2, not_a_number, 0},
    {"3, and a power", "fold_chain", 0, 2, three_and_two, 0},
    {"a power, and 3", "fold_chain", 0, 2, two_and_three, 0},
    {"a half, and a power", "fold_chain", 0, 2, half_and_four, 0},
    {"sums of floats round", "fold_chain", 0, 3, sums, 0},
    {"maxima with 0", "fold_chain", 0, 2, maximum_of_zeros, 0},
    {"another node reads the sum", "fold_chain", 0, 3, sum_read_twice, 0},
    {"a column and a row", "fold_chain", 0, 2, sum_of_column_and_row, 0},
};

static const exact_case reordered_chains[] = {
    {"sums of floats", "fold_chain", 2, 1, sums, 1e-6},
    {"products of floats", "fold_chain", 1, 1, powers_down, 1e-6},
    {"the product of the constants overflows", "fold_chain", 0, 2, product_past_largest, 0},
    {"the product of the constants is 0", "fold_chain", 0, 2, product_below_normal, 0},
    {"a factor is 0", "fold_chain", 1, 1, product_with_zero, 0},
    {"the sum of the constants overflows", "fold_chain", 0, 2, sum_past_largest, 0},
    {"a number of a row overflows", "fold_chain", 0, 2, row_past_largest, 0},
};

/* -- tests --------------------------------------------------------------------------------------------------------- */

static void casts_that_lose_nothing_merge(void **state) {
  (void)state;
  EXACT_CHECK_ALL(casts, ND4C_MATH_EXACT);
}

static void unary_pairs_vanish(void **state) {
  (void)state;
  EXACT_CHECK_ALL(peephole, ND4C_MATH_EXACT);
}

static void neutral_numbers_vanish(void **state) {
  (void)state;
  EXACT_CHECK_ALL(algebra, ND4C_MATH_EXACT);
}

static void known_branches_are_taken(void **state) {
  (void)state;
  EXACT_CHECK_ALL(selects, ND4C_MATH_EXACT);
}

static void costly_ops_become_cheap_ones(void **state) {
  (void)state;
  EXACT_CHECK_ALL(strength, ND4C_MATH_EXACT);
}

static void chains_become_one_op(void **state) {
  (void)state;
  EXACT_CHECK_ALL(chains, ND4C_MATH_EXACT);
  EXACT_CHECK_ALL(reordered_chains, ND4C_MATH_REORDER);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(casts_that_lose_nothing_merge), cmocka_unit_test(unary_pairs_vanish),
      cmocka_unit_test(neutral_numbers_vanish),        cmocka_unit_test(known_branches_are_taken),
      cmocka_unit_test(costly_ops_become_cheap_ones),  cmocka_unit_test(chains_become_one_op),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
