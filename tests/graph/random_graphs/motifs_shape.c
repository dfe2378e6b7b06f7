/* Chains of ops that move elements or change nothing: transposes, reshapes, slices, casts, identity elements, chains of
 * scalars, gathers, conditions. supply.c picks them by random. */
#include <math.h>

#include "random_graphs.h"

static int32_t swapped(rg_sketch *sketch, nd4c_op op, int32_t a, int32_t b) {
  return rg_chance(sketch, 2) ? rg_binary(sketch, op, a, b) : rg_binary(sketch, op, b, a);
}

/* -- shapes -------------------------------------------------------------------------------------------------------- */

static void shuffle(rg_sketch *sketch, int64_t *numbers, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    numbers[i] = i;
  }
  for (int32_t i = count - 1; i > 0; i--) {
    const int32_t k = rg_pick(sketch, i + 1);
    const int64_t kept = numbers[i];
    numbers[i] = numbers[k];
    numbers[k] = kept;
  }
}

static int32_t transpose(rg_sketch *sketch, int32_t x) {
  if (x < 0) {
    return RG_NONE;
  }
  int64_t axes[RG_RANK];
  const int32_t rank = rg_rank(sketch, x);
  shuffle(sketch, axes, rank);
  return rg_op_ints(sketch, ND4C_OP_transpose, x, "axes", axes, rg_chance(sketch, 4) ? 0 : rank);
}

/* Another shape with as many elements: two neighbouring axes joined, one split, or all flat. */
static int32_t reshape(rg_sketch *sketch, int32_t x) {
  if (x < 0 || rg_size(sketch, x) == 0) {
    return RG_NONE;
  }
  int64_t shape[RG_RANK + 1];
  const int32_t rank = rg_rank(sketch, x);
  int32_t made = 0;
  const int32_t at = rank > 0 ? rg_pick(sketch, rank) : 0, kind = rg_pick(sketch, 4);
  for (int32_t i = 0; i < rank && kind < 3; i++) {
    const int64_t extent = rg_shape(sketch, x)[i];
    const int64_t part = extent % 3 == 0 ? 3 : (extent % 2 == 0 ? 2 : 1);
    if (i == at && kind == 0 && i + 1 < rank) {
      shape[made++] = extent * rg_shape(sketch, x)[++i];
    } else if (i == at && kind == 1 && rank < RG_RANK - 2) {
      shape[made++] = part;
      shape[made++] = extent / part;
    } else {
      shape[made++] = extent;
    }
  }
  if (made == 0) {
    shape[made++] = -1;
  }
  return rg_op_ints(sketch, ND4C_OP_reshape, x, "shape", shape, made);
}

static int32_t move_axes(rg_sketch *sketch, int32_t x) {
  if (x < 0) {
    return RG_NONE;
  }
  const int64_t axis = rg_pick(sketch, rg_rank(sketch, x) + 1);
  switch (rg_pick(sketch, 8)) {
    case 0:
      return rg_op_ints(sketch, ND4C_OP_expand_dims, x, "axes", &axis, 1);
    case 1:
      return rg_op_ints(sketch, ND4C_OP_squeeze, x, "axes", NULL, 0);
    case 2:
      return rg_op_int(sketch, ND4C_OP_flatten, x, "axis", axis);
    case 3:
      return rg_unary(sketch, ND4C_OP_copy, x);
    case 4:
    case 5:
      return reshape(sketch, x);
    default:
      return transpose(sketch, x);
  }
}

static int32_t motif_moves(rg_sketch *sketch) {
  int32_t x = rg_any(sketch);
  const int32_t count = 2 + rg_pick(sketch, 4);
  for (int32_t i = 0; i < count && x >= 0; i++) {
    const int32_t y = move_axes(sketch, x);
    x = y >= 0 ? y : x;
  }
  return x;
}

/* A transpose and its inverse, with something between them that does not care. */
static int32_t motif_there_and_back(rg_sketch *sketch) {
  const int32_t x = rg_any(sketch);
  if (x < 0) {
    return RG_NONE;
  }
  int64_t axes[RG_RANK], inverse[RG_RANK];
  const int32_t rank = rg_rank(sketch, x);
  shuffle(sketch, axes, rank);
  for (int32_t i = 0; i < rank; i++) {
    inverse[axes[i]] = i;
  }
  int32_t y = rg_op_ints(sketch, ND4C_OP_transpose, x, "axes", axes, rank);
  if (rg_chance(sketch, 2)) {
    y = rg_unary(sketch, rg_chance(sketch, 2) ? ND4C_OP_relu : ND4C_OP_negative, y);
  }
  return rg_op_ints(sketch, ND4C_OP_transpose, y, "axes", inverse, rank);
}

/* Channel shuffle: [n, g c, h, w] by groups. */
static int32_t motif_shuffle(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 4);
  if (x < 0 || rg_shape(sketch, x)[1] % 2 != 0) {
    return RG_NONE;
  }
  const int64_t *s = rg_shape(sketch, x), split[] = {s[0], 2, s[1] / 2, s[2], s[3]}, axes[] = {0, 2, 1, 3, 4};
  const int64_t back[] = {s[0], s[1], s[2], s[3]};
  const int32_t y = rg_op_ints(sketch, ND4C_OP_reshape, x, "shape", split, 5);
  return rg_op_ints(sketch, ND4C_OP_reshape, rg_op_ints(sketch, ND4C_OP_transpose, y, "axes", axes, 5), "shape", back,
                    4);
}

/* -- slices, concat, gather ---------------------------------------------------------------------------------------- */

static int32_t slice(rg_sketch *sketch, int32_t x, int64_t axis, int64_t start, int64_t stop, int64_t step) {
  const nd4c_attr attrs[] = {rg_attr_ints("starts", &start, 1), rg_attr_ints("stops", &stop, 1),
                             rg_attr_ints("axes", &axis, 1), rg_attr_ints("steps", &step, 1)};
  return rg_op(sketch, ND4C_OP_slice, &x, 1, attrs, 4);
}

static int32_t concat(rg_sketch *sketch, const int32_t *parts, int32_t count, int64_t axis) {
  const nd4c_attr attr = rg_attr_int("axis", axis);
  return rg_op(sketch, ND4C_OP_concat, parts, count, &attr, 1);
}

/* Cut into two or three parts and joined again, in order or not. */
static int32_t motif_cut_and_join(rg_sketch *sketch) {
  const int32_t x = rg_any(sketch);
  if (x < 0 || rg_rank(sketch, x) == 0) {
    return RG_NONE;
  }
  const int64_t axis = rg_pick(sketch, rg_rank(sketch, x)), extent = rg_shape(sketch, x)[axis];
  const int64_t at = extent > 0 ? rg_pick(sketch, (int32_t)extent + 1) : 0;
  const int32_t first = slice(sketch, x, axis, 0, at, 1), second = slice(sketch, x, axis, at, INT64_MAX, 1);
  if (rg_chance(sketch, 4)) {
    return concat(sketch, (int32_t[]){second, first}, 2, axis);
  }
  if (rg_chance(sketch, 3)) {
    return concat(sketch, (int32_t[]){first, rg_unary(sketch, ND4C_OP_abs, second), first}, 3, axis);
  }
  return concat(sketch, (int32_t[]){first, second}, 2, axis);
}

static int32_t motif_concat(rg_sketch *sketch) {
  const int32_t x = rg_any(sketch);
  if (x < 0 || rg_rank(sketch, x) == 0) {
    return RG_NONE;
  }
  const int64_t axis = rg_pick(sketch, rg_rank(sketch, x));
  const int32_t y = rg_chance(sketch, 2) ? rg_unary(sketch, ND4C_OP_abs, x) : x;
  const int32_t both = concat(sketch, (int32_t[]){x, y}, rg_chance(sketch, 6) ? 1 : 2, axis);
  const int64_t part = rg_shape(sketch, x)[axis];
  switch (rg_pick(sketch, 4)) { /* nested, or a part of it back, or that in the other direction */
    case 0:
    case 1:
      return concat(sketch, (int32_t[]){both, x}, 2, axis);
    case 2:
      return slice(sketch, both, axis, part - 1, INT64_MIN, -1);
    default:
      return slice(sketch, both, axis, 0, part, 1);
  }
}

static int32_t motif_slices(rg_sketch *sketch) {
  int32_t x = rg_any(sketch);
  const int32_t count = 1 + rg_pick(sketch, 3);
  for (int32_t i = 0; i < count && x >= 0 && rg_rank(sketch, x) > 0; i++) {
    const int64_t axis = rg_pick(sketch, rg_rank(sketch, x)), extent = rg_shape(sketch, x)[axis];
    const int64_t step = rg_chance(sketch, 3) ? (rg_chance(sketch, 2) ? 2 : -1) : 1;
    const int64_t start = step < 0 ? extent - 1 : rg_pick(sketch, 2);
    const int64_t stop = step < 0 ? -extent - 1 : (rg_chance(sketch, 2) ? extent : extent - rg_pick(sketch, 2));
    x = slice(sketch, x, axis, start, stop, step);
  }
  return x;
}

static int32_t index_constant(rg_sketch *sketch, int32_t rank, const int64_t *shape, const int64_t *numbers) {
  const bool wide = rg_chance(sketch, 2);
  nd4c_array *array = NULL, *narrow = NULL;
  rg_must(nd4c_array_from_data(ND4C_INT64, rank, shape, numbers, NULL, &array), "indices");
  if (!wide) {
    rg_must(nd4c_cast(array, ND4C_INT32, &narrow), "cast");
    nd4c_array_release(array);
  }
  return rg_leaf(sketch, wide ? array : narrow, !rg_chance(sketch, 8));
}

/* Indices of the kinds that passes can turn into views: one, a run, all, from the end; and others. */
static int32_t motif_gather(rg_sketch *sketch) {
  const int32_t x = rg_any(sketch);
  if (x < 0 || rg_rank(sketch, x) == 0) {
    return RG_NONE;
  }
  const int64_t axis = rg_pick(sketch, rg_rank(sketch, x)), extent = rg_shape(sketch, x)[axis];
  if (extent == 0) {
    return RG_NONE;
  }
  int64_t numbers[32];
  const int32_t kind = rg_pick(sketch, 5);
  int64_t count = kind == 0 ? 1 : (kind == 1 ? extent : 1 + rg_pick(sketch, (int32_t)extent));
  count = count > 32 ? 32 : count;
  const int64_t start = kind == 1 ? 0 : rg_pick(sketch, (int32_t)(extent - count + 1));
  for (int64_t i = 0; i < count; i++) {
    numbers[i] = kind < 4 ? start + i : rg_pick(sketch, (int32_t)extent);
    numbers[i] -= kind == 2 || (kind == 0 && rg_chance(sketch, 3)) ? extent : 0;
  }
  const int32_t indices = index_constant(sketch, kind == 0 && rg_chance(sketch, 2) ? 0 : 1, &count, numbers);
  const nd4c_attr attr = rg_attr_int("axis", axis);
  return rg_op(sketch, ND4C_OP_gather, (int32_t[]){x, indices}, 2, &attr, 1);
}

static int32_t motif_broadcast(rg_sketch *sketch) {
  const int32_t x = rg_any(sketch);
  if (x < 0 || rg_rank(sketch, x) > 4) {
    return RG_NONE;
  }
  int64_t shape[RG_RANK];
  const int32_t rank = rg_rank(sketch, x), more = rg_pick(sketch, 2);
  for (int32_t i = 0; i < rank + more; i++) {
    const int64_t extent = i < more ? 1 : rg_shape(sketch, x)[i - more];
    shape[i] = extent == 1 && rg_chance(sketch, 2) ? 3 : extent;
  }
  const int32_t wide = rg_op_ints(sketch, ND4C_OP_broadcast_to, x, "shape", shape, rank + more);
  return rg_chance(sketch, 3) ? wide : swapped(sketch, rg_chance(sketch, 2) ? ND4C_OP_add : ND4C_OP_maximum, wide, x);
}

static int32_t motif_pad(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 4);
  const int64_t side = rg_pick(sketch, 2), pads[] = {0, 0, side, 1, 0, 0, side, 1};
  const int32_t padded = rg_op_ints(sketch, ND4C_OP_pad, x, "pads", pads, 8);
  if (padded < 0 || rg_chance(sketch, 3)) {
    return padded;
  }
  const int64_t shape[] = {2, rg_shape(sketch, padded)[1], 2, 2};
  return rg_binary(sketch, ND4C_OP_conv, padded, rg_constant(sketch, rg_dtype(sketch, padded), 4, shape));
}

/* -- ops that change nothing, or almost ---------------------------------------------------------------------------- */

static int32_t motif_identity(rg_sketch *sketch) {
  static const struct {
    nd4c_op op;
    double number;
    bool first; /* the number is operand 0 */
  } rows[] = {{ND4C_OP_add, 0, false},       {ND4C_OP_add, 0, true},          {ND4C_OP_add, -0.0, false},
              {ND4C_OP_subtract, 0, false},  {ND4C_OP_subtract, -0.0, false}, {ND4C_OP_subtract, 0, true},
              {ND4C_OP_multiply, 1, false},  {ND4C_OP_multiply, 1, true},     {ND4C_OP_multiply, 0, false},
              {ND4C_OP_multiply, -1, false}, {ND4C_OP_multiply, 2, false},    {ND4C_OP_divide, 1, false},
              {ND4C_OP_divide, 2, false},    {ND4C_OP_divide, 3, false},      {ND4C_OP_divide, 0, true},
              {ND4C_OP_divide, 1, true},     {ND4C_OP_power, 1, false},       {ND4C_OP_power, 0, false},
              {ND4C_OP_power, 2, false},     {ND4C_OP_power, 0.5, false},     {ND4C_OP_power, -1, false},
              {ND4C_OP_power, 3, false},     {ND4C_OP_power, -0.5, false},    {ND4C_OP_power, 1, true},
              {ND4C_OP_maximum, 0, false},   {ND4C_OP_minimum, 0, false}};
  int32_t x = rg_any(sketch);
  const int32_t count = 1 + rg_pick(sketch, 3);
  for (int32_t i = 0; i < count && x >= 0; i++) {
    const int32_t row = rg_pick(sketch, sizeof rows / sizeof rows[0]),
                  constant = rg_scalar(sketch, x, rows[row].number);
    const int32_t y =
        rows[row].first ? rg_binary(sketch, rows[row].op, constant, x) : rg_binary(sketch, rows[row].op, x, constant);
    x = y >= 0 ? y : x;
  }
  return x;
}

/* An op of a value with itself. */
static int32_t motif_with_itself(rg_sketch *sketch) {
  static const nd4c_op ops[] = {ND4C_OP_add,        ND4C_OP_subtract,    ND4C_OP_multiply,   ND4C_OP_divide,
                                ND4C_OP_maximum,    ND4C_OP_minimum,     ND4C_OP_equal,      ND4C_OP_less,
                                ND4C_OP_less_equal, ND4C_OP_logical_and, ND4C_OP_logical_or, ND4C_OP_logical_xor,
                                ND4C_OP_power,      ND4C_OP_not_equal};
  const int32_t x = rg_any(sketch);
  return rg_binary(sketch, ops[rg_pick(sketch, sizeof ops / sizeof ops[0])], x, x);
}

/* An op of a square value with itself transposed: in place of the value it would read what it has written. Between ops
 * that no chain takes up, so that both values are in memory. */
static int32_t motif_with_its_view(rg_sketch *sketch) {
  const int64_t side = 2 + rg_pick(sketch, 7), shape[] = {side, side};
  const int32_t x = rg_op_int(sketch, ND4C_OP_softmax, rg_plain_input(sketch, 2, shape), "axis", -1);
  const int32_t turned = rg_unary(sketch, ND4C_OP_matrix_transpose, x);
  const int32_t y = swapped(sketch, rg_chance(sketch, 2) ? ND4C_OP_subtract : ND4C_OP_multiply, x, turned);
  return rg_op_int(sketch, ND4C_OP_softmax, y, "axis", -1);
}

/* Powers of numbers among which there are zeros of both signs, negative numbers and infinities. */
static int32_t motif_powers(rg_sketch *sketch) {
  static const double numbers[] = {-INFINITY, -0.0, 0.0, 1, 4, 0.25, 2, 9, INFINITY, -2};
  static const double exponents[] = {0.5, 0.5, 2, -1, -0.5, 3};
  const int64_t count = sizeof numbers / sizeof numbers[0];
  nd4c_array *wide = NULL, *array = NULL;
  rg_must(nd4c_array_from_data(ND4C_FLOAT64, 1, &count, numbers, NULL, &wide), "numbers");
  rg_must(nd4c_cast(wide, rg_chance(sketch, 3) ? ND4C_FLOAT64 : ND4C_FLOAT32, &array), "cast");
  nd4c_array_release(wide);
  const int32_t given = rg_leaf(sketch, array, false);
  const int32_t x = rg_chance(sketch, 3) ? rg_unary(sketch, ND4C_OP_abs, given) : given;
  return rg_binary(sketch, ND4C_OP_power, x, rg_scalar(sketch, x, exponents[rg_pick(sketch, 6)]));
}

/* Two ops that cancel each other, that repeat each other, or that imply each other. */
static int32_t motif_pair(rg_sketch *sketch) {
  static const nd4c_op pairs[][2] = {{ND4C_OP_negative, ND4C_OP_negative},
                                     {ND4C_OP_reciprocal, ND4C_OP_reciprocal},
                                     {ND4C_OP_logical_not, ND4C_OP_logical_not},
                                     {ND4C_OP_exp, ND4C_OP_log},
                                     {ND4C_OP_log, ND4C_OP_exp},
                                     {ND4C_OP_square, ND4C_OP_sqrt},
                                     {ND4C_OP_sqrt, ND4C_OP_square},
                                     {ND4C_OP_abs, ND4C_OP_abs},
                                     {ND4C_OP_relu, ND4C_OP_relu},
                                     {ND4C_OP_abs, ND4C_OP_relu},
                                     {ND4C_OP_negative, ND4C_OP_abs},
                                     {ND4C_OP_floor, ND4C_OP_ceil},
                                     {ND4C_OP_round, ND4C_OP_floor},
                                     {ND4C_OP_sign, ND4C_OP_sign},
                                     {ND4C_OP_sigmoid, ND4C_OP_relu},
                                     {ND4C_OP_exp, ND4C_OP_abs},
                                     {ND4C_OP_square, ND4C_OP_relu},
                                     {ND4C_OP_negative, ND4C_OP_square},
                                     {ND4C_OP_copy, ND4C_OP_copy},
                                     {ND4C_OP_sqrt, ND4C_OP_reciprocal}};
  const int32_t x = rg_chance(sketch, 4) ? rg_any(sketch) : rg_any_float(sketch);
  const int32_t row = rg_pick(sketch, sizeof pairs / sizeof pairs[0]);
  return rg_unary(sketch, pairs[row][1], rg_unary(sketch, pairs[row][0], x));
}

/* Chains of one op or of several, with numbers that might be folded together. */
static int32_t motif_scalars(rg_sketch *sketch) {
  static const nd4c_op ops[] = {ND4C_OP_add,    ND4C_OP_subtract, ND4C_OP_multiply, ND4C_OP_multiply,
                                ND4C_OP_divide, ND4C_OP_maximum,  ND4C_OP_minimum};
  int32_t x = rg_any(sketch);
  const bool one = rg_chance(sketch, 2);
  nd4c_op op = ops[rg_pick(sketch, 7)];
  const int32_t count = 2 + rg_pick(sketch, 4);
  for (int32_t i = 0; i < count && x >= 0; i++) {
    const int32_t constant = rg_scalar(sketch, x, rg_special(sketch));
    const int32_t y = rg_chance(sketch, 4) ? rg_binary(sketch, op, constant, x) : rg_binary(sketch, op, x, constant);
    x = y >= 0 ? y : x;
    op = one ? op : ops[rg_pick(sketch, 7)];
  }
  return x;
}

/* Clips, maxima and minima behind each other. */
static int32_t motif_clips(rg_sketch *sketch) {
  int32_t x = rg_any_float(sketch);
  for (int32_t i = 0; i < 2 && x >= 0; i++) {
    const int32_t low = rg_chance(sketch, 4) ? RG_OMITTED : rg_scalar(sketch, x, rg_special(sketch));
    const int32_t high = rg_chance(sketch, 4) ? RG_OMITTED : rg_scalar(sketch, x, rg_special(sketch));
    x = rg_op(sketch, ND4C_OP_clip, (int32_t[]){x, low, high}, 3, NULL, 0);
  }
  return x;
}

static nd4c_dtype any_dtype(rg_sketch *sketch) {
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT32, ND4C_FLOAT64, ND4C_FLOAT16, ND4C_BFLOAT16,
                                      ND4C_INT32,   ND4C_INT64,   ND4C_UINT8,   ND4C_BOOL};
  return dtypes[rg_pick(sketch, sizeof dtypes / sizeof dtypes[0])];
}

static int32_t motif_casts(rg_sketch *sketch) {
  int32_t x = rg_any(sketch);
  if (x < 0) {
    return RG_NONE;
  }
  const nd4c_dtype original = rg_dtype(sketch, x);
  const int32_t count = 1 + rg_pick(sketch, 3);
  for (int32_t i = 0; i < count && x >= 0; i++) {
    x = rg_op_int(sketch, ND4C_OP_cast, x, "dtype", any_dtype(sketch));
  }
  return rg_chance(sketch, 3) ? x : rg_op_int(sketch, ND4C_OP_cast, x, "dtype", original);
}

/* -- conditions and reductions ------------------------------------------------------------------------------------- */

static int32_t motif_where(rg_sketch *sketch) {
  const int32_t x = rg_any(sketch);
  if (x < 0) {
    return RG_NONE;
  }
  const int32_t kind = rg_pick(sketch, 4), constant = rg_scalar(sketch, x, rg_special(sketch));
  const int32_t other = rg_chance(sketch, 3) ? x : (rg_chance(sketch, 2) ? constant : rg_unary(sketch, ND4C_OP_abs, x));
  int32_t condition = RG_NONE;
  if (kind == 0) {
    condition = rg_constant(sketch, ND4C_BOOL, 0, NULL);
  } else if (kind == 1) {
    condition = rg_constant(sketch, ND4C_BOOL, rg_rank(sketch, x), rg_shape(sketch, x));
  } else {
    condition = rg_binary(sketch, rg_chance(sketch, 2) ? ND4C_OP_greater : ND4C_OP_less, x, constant);
    condition = rg_chance(sketch, 3) ? rg_unary(sketch, ND4C_OP_logical_not, condition) : condition;
  }
  return rg_op(sketch, ND4C_OP_where, (int32_t[]){condition, x, other}, 3, NULL, 0);
}

static int32_t motif_reductions(rg_sketch *sketch) {
  static const nd4c_op ops[] = {ND4C_OP_sum, ND4C_OP_mean, ND4C_OP_max, ND4C_OP_min, ND4C_OP_prod};
  int32_t x = rg_any_float(sketch);
  const nd4c_op op = ops[rg_pick(sketch, 5)];
  const int32_t count = 1 + rg_pick(sketch, 2);
  for (int32_t i = 0; i < count && x >= 0 && rg_rank(sketch, x) > 0; i++) {
    const int64_t axes[] = {rg_pick(sketch, rg_rank(sketch, x))};
    const nd4c_attr attrs[] = {rg_attr_ints("axes", axes, 1), rg_attr_int("keepdims", rg_pick(sketch, 2))};
    x = rg_op(sketch, op, &x, 1, attrs, 2);
  }
  return x;
}

const rg_motif rg_motifs_shape[] = {
    motif_moves,       motif_moves,         motif_there_and_back, motif_shuffle, motif_cut_and_join, motif_concat,
    motif_slices,      motif_gather,        motif_broadcast,      motif_pad,     motif_identity,     motif_identity,
    motif_with_itself, motif_with_its_view, motif_pair,           motif_scalars, motif_scalars,      motif_clips,
    motif_casts,       motif_where,         motif_reductions,     motif_powers};
const int32_t rg_motifs_shape_count = sizeof rg_motifs_shape / sizeof rg_motifs_shape[0];
