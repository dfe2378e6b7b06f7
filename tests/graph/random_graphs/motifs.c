/* Chains of ops of neural networks, as models write them: convolutions with what follows, linear layers, activations,
 * normalisations, attention. supply.c picks them by random. */
#include <math.h>

#include "random_graphs.h"

/* -- arithmetic with constants ------------------------------------------------------------------------------------- */

/* Commutative ops with their operands in either order. */
static int32_t swapped(rg_sketch *sketch, nd4c_op op, int32_t a, int32_t b) {
  return rg_chance(sketch, 2) ? rg_binary(sketch, op, a, b) : rg_binary(sketch, op, b, a);
}

static int32_t with_number(rg_sketch *sketch, nd4c_op op, int32_t x, double number) {
  const int32_t constant = rg_scalar(sketch, x, number);
  return op == ND4C_OP_add || op == ND4C_OP_multiply ? swapped(sketch, op, x, constant)
                                                     : rg_binary(sketch, op, x, constant);
}

/* A constant that varies along one axis of x; shaped [c, 1, 1] or with all axes. */
static int32_t along_axis(rg_sketch *sketch, int32_t x, int32_t axis) {
  if (x < 0) {
    return RG_NONE;
  }
  int64_t shape[RG_RANK];
  const int32_t rank = rg_rank(sketch, x), first = rg_chance(sketch, 2) ? axis : 0;
  for (int32_t i = first; i < rank; i++) {
    shape[i - first] = i == axis ? rg_shape(sketch, x)[i] : 1;
  }
  return rg_constant(sketch, rg_dtype(sketch, x), rank - first, shape);
}

/* Mostly the channels. The last axis is almost one, above all if it is as long. */
static int32_t affine_axis(rg_sketch *sketch, int32_t x) {
  const int32_t last = rg_rank(sketch, x) - 1;
  const bool alike = rg_shape(sketch, x)[last] == rg_shape(sketch, x)[1];
  return rg_chance(sketch, alike ? 2 : 6) ? last : 1;
}

static int32_t affine_by_channel(rg_sketch *sketch, int32_t x) {
  static const nd4c_op ops[] = {ND4C_OP_multiply, ND4C_OP_add, ND4C_OP_subtract, ND4C_OP_divide};
  const int32_t count = 1 + rg_pick(sketch, 3);
  for (int32_t i = 0; i < count && x >= 0; i++) {
    const nd4c_op op = ops[rg_pick(sketch, 4)];
    const int32_t constant =
        rg_chance(sketch, 4) ? rg_scalar(sketch, x, rg_special(sketch)) : along_axis(sketch, x, affine_axis(sketch, x));
    x = rg_chance(sketch, 3) ? rg_binary(sketch, op, constant, x) : rg_binary(sketch, op, x, constant);
  }
  return x;
}

/* -- activations --------------------------------------------------------------------------------------------------- */

/* x / 2 * (1 + erf(x / sqrt 2)) in the nestings that exporters write. */
static int32_t gelu_by_erf(rg_sketch *sketch, int32_t x) {
  const double factor = rg_chance(sketch, 8) ? rg_number(sketch, 0.5, 2) : 1; /* else almost gelu */
  const int32_t scaled = rg_chance(sketch, 2) ? with_number(sketch, ND4C_OP_divide, x, sqrt(2.0) * factor)
                                              : with_number(sketch, ND4C_OP_multiply, x, sqrt(0.5) * factor);
  const int32_t sum = with_number(sketch, ND4C_OP_add, rg_unary(sketch, ND4C_OP_erf, scaled), 1.0);
  switch (rg_pick(sketch, 4)) {
    case 0:
      return with_number(sketch, ND4C_OP_multiply, swapped(sketch, ND4C_OP_multiply, x, sum), 0.5);
    case 1:
      return swapped(sketch, ND4C_OP_multiply, with_number(sketch, ND4C_OP_multiply, x, 0.5), sum);
    case 2:
      return swapped(sketch, ND4C_OP_multiply, x, with_number(sketch, ND4C_OP_multiply, sum, 0.5));
    default: /* almost gelu */
      return swapped(sketch, ND4C_OP_multiply, with_number(sketch, ND4C_OP_multiply, x, rg_special(sketch)), sum);
  }
}

static int32_t gelu_by_tanh(rg_sketch *sketch, int32_t x) {
  const double factor = rg_chance(sketch, 3) ? 0.7978845608 : 0.79788456080286536; /* too short for float64 */
  const int32_t cube = rg_chance(sketch, 2)
                           ? with_number(sketch, ND4C_OP_power, x, 3.0)
                           : swapped(sketch, ND4C_OP_multiply, x, swapped(sketch, ND4C_OP_multiply, x, x));
  const int32_t inner = swapped(sketch, ND4C_OP_add, x, with_number(sketch, ND4C_OP_multiply, cube, 0.044715));
  const int32_t tanh = rg_unary(sketch, ND4C_OP_tanh, with_number(sketch, ND4C_OP_multiply, inner, factor));
  const int32_t sum = with_number(sketch, ND4C_OP_add, tanh, 1.0);
  return swapped(sketch, ND4C_OP_multiply, with_number(sketch, ND4C_OP_multiply, x, 0.5), sum);
}

/* The logistic function as an op, or written out; of the quotients some have another number than 1 above. */
static int32_t logistic(rg_sketch *sketch, int32_t x) {
  if (!rg_chance(sketch, 3)) {
    return rg_unary(sketch, ND4C_OP_sigmoid, x);
  }
  const int32_t sum =
      with_number(sketch, ND4C_OP_add, rg_unary(sketch, ND4C_OP_exp, rg_unary(sketch, ND4C_OP_negative, x)), 1.0);
  if (rg_chance(sketch, 2)) {
    return rg_unary(sketch, ND4C_OP_reciprocal, sum);
  }
  const int32_t above = rg_chance(sketch, 3) ? x : rg_scalar(sketch, x, rg_chance(sketch, 2) ? 1 : rg_special(sketch));
  return rg_binary(sketch, ND4C_OP_divide, above, sum);
}

/* x tanh(softplus(x)), sometimes with another value inside. */
static int32_t mish(rg_sketch *sketch, int32_t x) {
  const int32_t inside = rg_chance(sketch, 3) ? rg_unary(sketch, ND4C_OP_abs, x) : x;
  const int32_t tanh = rg_unary(sketch, ND4C_OP_tanh, rg_unary(sketch, ND4C_OP_softplus, inside));
  return swapped(sketch, ND4C_OP_multiply, x, tanh);
}

static int32_t silu(rg_sketch *sketch, int32_t x) {
  const int32_t gate = rg_chance(sketch, 3) ? with_number(sketch, ND4C_OP_multiply, x, 1.702) : x;
  return swapped(sketch, ND4C_OP_multiply, x, logistic(sketch, gate));
}

static int32_t hard_swish(rg_sketch *sketch, int32_t x) {
  const int32_t sum = with_number(sketch, ND4C_OP_add, x, 3.0);
  const int32_t clipped =
      rg_op(sketch, ND4C_OP_clip, (int32_t[]){sum, rg_scalar(sketch, x, 0.0), rg_scalar(sketch, x, 6.0)}, 3, NULL, 0);
  return with_number(sketch, ND4C_OP_divide, swapped(sketch, ND4C_OP_multiply, x, clipped), 6.0);
}

static int32_t activation(rg_sketch *sketch, int32_t x) {
  static const nd4c_op ops[] = {ND4C_OP_relu, ND4C_OP_relu, ND4C_OP_sigmoid, ND4C_OP_tanh, ND4C_OP_gelu};
  switch (rg_pick(sketch, 10)) {
    case 0:
      return gelu_by_erf(sketch, x);
    case 1:
      return gelu_by_tanh(sketch, x);
    case 2:
      return silu(sketch, x);
    case 3:
      return hard_swish(sketch, x);
    case 4:
      return rg_op_int(sketch, ND4C_OP_gelu, x, "approximate", 1);
    case 5:
      return mish(sketch, x);
    case 6:
      return logistic(sketch, x);
    default:
      return rg_unary(sketch, ops[rg_pick(sketch, 5)], x);
  }
}

static int32_t motif_activation(rg_sketch *sketch) {
  return activation(sketch, rg_any_float(sketch));
}

/* -- convolutions -------------------------------------------------------------------------------------------------- */

/* An activation that a conv or linear has already. */
static int64_t own_activation(rg_sketch *sketch) {
  return rg_chance(sketch, 6) ? rg_pick(sketch, ND4C_ACTIVATION_RELU6 + 1) : ND4C_ACTIVATION_NONE;
}

static int32_t conv(rg_sketch *sketch, int32_t x) {
  const int64_t *shape = rg_shape(sketch, x);
  const int32_t spatial = rg_rank(sketch, x) - 2;
  const int64_t channels = shape[1], side = rg_chance(sketch, 2) ? 1 : 3;
  const bool deep = channels > 1 && rg_chance(sketch, 4); /* a depthwise one */
  const int64_t made = deep || rg_chance(sketch, 3) ? channels : 1 + rg_pick(sketch, 5);
  const int64_t w_shape[] = {made, deep ? 1 : channels, side, side, side}, pad = side / 2;
  const int64_t pads[] = {pad, pad, pad, pad, pad, pad}, stride = rg_chance(sketch, 5) ? 2 : 1;
  const int64_t strides[] = {stride, stride, stride};
  const int32_t w = rg_constant(sketch, rg_dtype(sketch, x), spatial + 2, w_shape);
  const int32_t bias = rg_chance(sketch, 2) ? rg_constant(sketch, rg_dtype(sketch, x), 1, &made) : RG_OMITTED;
  const nd4c_attr attrs[] = {rg_attr_ints("pads", pads, rg_chance(sketch, 4) ? 0 : 2 * spatial),
                             rg_attr_ints("strides", strides, spatial), rg_attr_int("groups", deep ? channels : 1),
                             rg_attr_int("activation", own_activation(sketch))};
  return rg_op(sketch, ND4C_OP_conv, (int32_t[]){x, w, bias}, 3, attrs, 4);
}

/* With finite parameters: kernels compute (x - mean) k + bias or x k + (bias - mean k), which differ in infinities. */
static int32_t batch_norm(rg_sketch *sketch, int32_t x) {
  if (x < 0) {
    return RG_NONE;
  }
  const nd4c_dtype dtype = rg_dtype(sketch, x);
  const int64_t channels = rg_shape(sketch, x)[1];
  const int32_t inputs[] = {
      x, rg_between(sketch, dtype, 1, &channels, -2, 2), rg_between(sketch, dtype, 1, &channels, -2, 2),
      rg_between(sketch, dtype, 1, &channels, -2, 2), rg_between(sketch, dtype, 1, &channels, 0.25, 2)};
  return rg_op(sketch, ND4C_OP_batch_norm, inputs, 5, NULL, 0);
}

static int32_t motif_conv(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, rg_chance(sketch, 4) ? 3 : 4);
  if (x < 0) {
    return RG_NONE;
  }
  int32_t y = conv(sketch, x);
  y = rg_chance(sketch, 2) ? batch_norm(sketch, y) : y;
  y = rg_chance(sketch, 2) ? affine_by_channel(sketch, y) : y;
  if (y >= 0 && rg_chance(sketch, 3)) {
    const int32_t other = rg_same_shape(sketch, x, y) && rg_chance(sketch, 2) ? x : rg_unary(sketch, ND4C_OP_abs, y);
    y = swapped(sketch, ND4C_OP_add, y, other);
  }
  return rg_chance(sketch, 3) ? y : activation(sketch, y);
}

static int32_t motif_affine(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 2 + rg_pick(sketch, 3));
  return affine_by_channel(sketch, rg_chance(sketch, 2) ? batch_norm(sketch, x) : x);
}

static int32_t motif_pool(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 4);
  const int64_t kernel[] = {2, 2};
  return rg_op_ints(sketch, rg_chance(sketch, 2) ? ND4C_OP_max_pool : ND4C_OP_average_pool, x, "kernel", kernel, 2);
}

/* -- linear layers ------------------------------------------------------------------------------------------------- */

static int32_t product(rg_sketch *sketch, int32_t x) {
  if (x < 0) {
    return RG_NONE;
  }
  const int64_t features = rg_shape(sketch, x)[rg_rank(sketch, x) - 1];
  const int64_t shape[] = {features, rg_chance(sketch, 3) ? features : 1 + rg_pick(sketch, 9)};
  if (rg_chance(sketch, 6)) { /* of a matrix that lies transposed */
    const int64_t turned[] = {shape[1], shape[0]};
    const int32_t w = rg_constant(sketch, rg_dtype(sketch, x), 2, turned);
    return rg_binary(sketch, ND4C_OP_matmul, x, rg_unary(sketch, ND4C_OP_transpose, w));
  }
  return rg_binary(sketch, ND4C_OP_matmul, x, rg_constant(sketch, rg_dtype(sketch, x), 2, shape));
}

/* The op linear itself, often of a transposed matrix. */
static int32_t linear(rg_sketch *sketch, int32_t x) {
  if (x < 0) {
    return RG_NONE;
  }
  const int64_t features = rg_shape(sketch, x)[rg_rank(sketch, x) - 1], made = rg_chance(sketch, 2) ? features : 4;
  const bool turned = rg_chance(sketch, 2);
  const int64_t shape[] = {turned ? made : features, turned ? features : made};
  const int32_t w = rg_constant(sketch, rg_dtype(sketch, x), 2, shape);
  const int32_t bias = rg_chance(sketch, 2) ? rg_constant(sketch, rg_dtype(sketch, x), 1, &made) : RG_OMITTED;
  const nd4c_attr attrs[] = {rg_attr_int("transpose_w", turned), rg_attr_int("activation", own_activation(sketch))};
  return rg_op(sketch, ND4C_OP_linear, (int32_t[]){x, w, bias}, 3, attrs, 2);
}

static int32_t dense(rg_sketch *sketch, int32_t x) {
  x = x >= 0 && rg_chance(sketch, 6) ? with_number(sketch, ND4C_OP_multiply, x, rg_special(sketch)) : x;
  int32_t y = rg_chance(sketch, 4) ? linear(sketch, x) : product(sketch, x);
  y = rg_chance(sketch, 6) ? product(sketch, y) : y;
  if (y >= 0 && rg_chance(sketch, 8)) { /* not a bias: another row for each row */
    return swapped(sketch, ND4C_OP_add, y,
                   rg_constant(sketch, rg_dtype(sketch, y), 2, rg_shape(sketch, y) + rg_rank(sketch, y) - 2));
  }
  return y < 0 || rg_chance(sketch, 4) ? y
                                       : swapped(sketch, ND4C_OP_add, y, along_axis(sketch, y, rg_rank(sketch, y) - 1));
}

static int32_t motif_dense(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 2 + rg_pick(sketch, 2));
  int32_t y = dense(sketch, x);
  if (y >= 0 && rg_chance(sketch, 3)) {
    y = with_number(sketch, rg_chance(sketch, 2) ? ND4C_OP_multiply : ND4C_OP_add, y, rg_special(sketch));
  }
  if (y >= 0 && rg_chance(sketch, 3)) {
    y = swapped(sketch, ND4C_OP_add, y, rg_same_shape(sketch, x, y) ? x : rg_unary(sketch, ND4C_OP_tanh, y));
  }
  return rg_chance(sketch, 3) ? y : activation(sketch, y);
}

static int32_t motif_matmul(rg_sketch *sketch) {
  const int32_t a = rg_of_rank(sketch, 2 + rg_pick(sketch, 2));
  if (a < 0) {
    return RG_NONE;
  }
  const int32_t turned = rg_unary(sketch, ND4C_OP_matrix_transpose, a);
  int32_t scaled = rg_chance(sketch, 2) ? with_number(sketch, ND4C_OP_multiply, a, rg_special(sketch)) : a;
  scaled = rg_chance(sketch, 4) ? rg_unary(sketch, ND4C_OP_negative, scaled) : scaled;
  const int32_t y = rg_chance(sketch, 2) ? rg_binary(sketch, ND4C_OP_matmul, scaled, turned)
                                         : rg_binary(sketch, ND4C_OP_matmul, turned, scaled);
  return rg_chance(sketch, 2) ? with_number(sketch, ND4C_OP_multiply, y, rg_special(sketch)) : y;
}

/* Three matrices of which two are multiplied first; the other order may be less work. */
static int32_t motif_chain(rg_sketch *sketch) {
  const int32_t a = rg_of_rank(sketch, 2 + rg_pick(sketch, 2));
  const int32_t turned = a < 0 ? RG_NONE : rg_unary(sketch, ND4C_OP_matrix_transpose, a);
  int32_t last = a;
  if (a >= 0 && rg_chance(sketch, 2)) { /* a narrow one */
    const int64_t shape[] = {rg_shape(sketch, a)[rg_rank(sketch, a) - 1], 1 + rg_pick(sketch, 2)};
    last = rg_binary(sketch, ND4C_OP_matmul, a, rg_constant(sketch, rg_dtype(sketch, a), 2, shape));
  }
  return rg_chance(sketch, 2) ? rg_binary(sketch, ND4C_OP_matmul, rg_binary(sketch, ND4C_OP_matmul, a, turned), last)
                              : rg_binary(sketch, ND4C_OP_matmul, a, rg_binary(sketch, ND4C_OP_matmul, turned, last));
}

/* SwiGLU, GeGLU: two products of one input, one of them through an activation. */
static int32_t motif_gated(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 2 + rg_pick(sketch, 2));
  if (x < 0) {
    return RG_NONE;
  }
  const int64_t features = rg_shape(sketch, x)[rg_rank(sketch, x) - 1], shape[] = {features, 1 + rg_pick(sketch, 8)};
  const int32_t up = rg_binary(sketch, ND4C_OP_matmul, x, rg_constant(sketch, rg_dtype(sketch, x), 2, shape));
  const int32_t gate = rg_binary(sketch, ND4C_OP_matmul, x, rg_constant(sketch, rg_dtype(sketch, x), 2, shape));
  return swapped(sketch, ND4C_OP_multiply, activation(sketch, gate), up);
}

/* -- normalisations ------------------------------------------------------------------------------------------------ */

static int32_t mean_over(rg_sketch *sketch, int32_t x, const int64_t *axes, int32_t count) {
  const nd4c_attr attrs[] = {rg_attr_ints("axes", axes, count), rg_attr_int("keepdims", 1)};
  return rg_op(sketch, ND4C_OP_mean, &x, 1, attrs, 2);
}

static int32_t squared(rg_sketch *sketch, int32_t x) {
  switch (rg_pick(sketch, 3)) {
    case 0:
      return with_number(sketch, ND4C_OP_power, x, rg_chance(sketch, 8) ? 3.0 : 2.0);
    case 1:
      return rg_unary(sketch, ND4C_OP_square, x);
    default:
      return rg_binary(sketch, ND4C_OP_multiply, x, x);
  }
}

/* x over the root of (v + epsilon), or times its reciprocal. */
static int32_t over_root(rg_sketch *sketch, int32_t x, int32_t variance) {
  static const double epsilons[] = {0, 0.25, 1e-3, 1e-5, 1e-5, 1e-5};
  const int32_t sum = with_number(sketch, ND4C_OP_add, variance, epsilons[rg_pick(sketch, 6)]);
  switch (rg_pick(sketch, 4)) {
    case 0:
      return rg_binary(sketch, ND4C_OP_multiply, x,
                       rg_unary(sketch, ND4C_OP_reciprocal, rg_unary(sketch, ND4C_OP_sqrt, sum)));
    case 1:
      return rg_binary(sketch, ND4C_OP_multiply, x, rg_unary(sketch, ND4C_OP_rsqrt, sum));
    default:
      return rg_binary(sketch, ND4C_OP_divide, x, rg_unary(sketch, ND4C_OP_sqrt, sum));
  }
}

/* Scale and bias over the last `count` axes. */
static int32_t with_parameters(rg_sketch *sketch, int32_t y, int32_t count, bool bias) {
  if (y < 0) {
    return RG_NONE;
  }
  const nd4c_dtype dtype = rg_dtype(sketch, y);
  const int64_t *shape = rg_shape(sketch, y) + rg_rank(sketch, y) - count;
  y = swapped(sketch, ND4C_OP_multiply, y, rg_constant(sketch, dtype, count, shape));
  return y >= 0 && bias ? swapped(sketch, ND4C_OP_add, y, rg_constant(sketch, dtype, count, shape)) : y;
}

static int32_t motif_layer_norm(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 2 + rg_pick(sketch, 2));
  const bool first = rg_chance(sketch, 6); /* over axis 0, with parameters of all axes: almost layer_norm */
  const int64_t axes[] = {first ? 0 : -1, -2};
  const int32_t count = first ? 1 : 1 + rg_chance(sketch, 4);
  const int32_t mean = mean_over(sketch, x, axes, count), centred = rg_binary(sketch, ND4C_OP_subtract, x, mean);
  const int32_t again = rg_chance(sketch, 3) ? rg_binary(sketch, ND4C_OP_subtract, x, mean) : centred;
  const int32_t variance = mean_over(sketch, squared(sketch, again), axes, count);
  const int32_t y = over_root(sketch, centred, variance);
  if (y < 0 || rg_chance(sketch, 8)) {
    return y;
  }
  if (rg_chance(sketch, 4)) { /* two norms of one x */
    (void)with_parameters(sketch, y, first ? rg_rank(sketch, y) : count, true);
  }
  return with_parameters(sketch, y, first ? rg_rank(sketch, y) : count, !rg_chance(sketch, 4));
}

static int32_t motif_rms_norm(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 2 + rg_pick(sketch, 2));
  const int64_t axes[] = {-1};
  const int32_t y = over_root(sketch, x, mean_over(sketch, squared(sketch, x), axes, 1));
  return rg_chance(sketch, 3) ? y : with_parameters(sketch, y, 1, false);
}

/* A norm of each row [n, groups, ...] in its parts, or as instance_norm, whose parameters mostly change nothing. */
static int32_t norm_of_rows(rg_sketch *sketch, int32_t rows) {
  const int64_t axes[] = {-1};
  if (rows < 0 || rg_rank(sketch, rows) < 3 || rg_chance(sketch, 2)) {
    const int32_t centred = rg_binary(sketch, ND4C_OP_subtract, rows, mean_over(sketch, rows, axes, 1));
    return over_root(sketch, centred, mean_over(sketch, squared(sketch, centred), axes, 1));
  }
  const int64_t groups = rg_shape(sketch, rows)[1];
  const nd4c_dtype dtype = rg_dtype(sketch, rows);
  const double scale = rg_chance(sketch, 4) ? rg_number(sketch, 0.5, 2) : 1;
  const double bias = rg_chance(sketch, 4) ? rg_number(sketch, -1, 1) : 0;
  return rg_op(sketch, ND4C_OP_instance_norm,
               (int32_t[]){rows, rg_between(sketch, dtype, 1, &groups, scale, scale),
                           rg_between(sketch, dtype, 1, &groups, bias, bias)},
               3, NULL, 0);
}

/* Instance and group norm by reshapes: rows [n, groups, ...] or [n * groups, ...], which may also cut channels or reach
 * across batches. */
static int32_t motif_group_norm(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 4);
  if (x < 0) {
    return RG_NONE;
  }
  const int64_t *shape = rg_shape(sketch, x), channels = shape[1];
  const int64_t groups = rg_chance(sketch, 2) ? channels : 1 + rg_pick(sketch, 4);
  const int64_t back[] = {shape[0], channels, shape[2], shape[3]};
  const int64_t three[] = {shape[0], groups, -1}, two[] = {(rg_chance(sketch, 4) ? 1 : shape[0]) * groups, -1};
  const bool flat = rg_chance(sketch, 3);
  const int32_t rows = rg_op_ints(sketch, ND4C_OP_reshape, x, "shape", flat ? two : three, flat ? 2 : 3);
  const int32_t y = norm_of_rows(sketch, rows);
  return affine_by_channel(sketch, rg_op_ints(sketch, ND4C_OP_reshape, y, "shape", back, 4));
}

static int32_t softmax_of(rg_sketch *sketch, int32_t x) {
  return rg_op_int(sketch, ND4C_OP_softmax, x, "axis", -1);
}

/* A residual and the norm behind it; the sum is often the next residual, and sometimes the scale depends on it. */
static int32_t motif_skip_norm(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 2 + rg_pick(sketch, 2));
  const int32_t other = rg_chance(sketch, 3) ? rg_unary(sketch, ND4C_OP_tanh, x) : softmax_of(sketch, x);
  const int32_t sum = swapped(sketch, ND4C_OP_add, x, rg_chance(sketch, 6) ? rg_any_float(sketch) : other);
  if (sum < 0) {
    return RG_NONE;
  }
  const int64_t last = rg_shape(sketch, sum)[rg_rank(sketch, sum) - 1];
  const bool rms = rg_chance(sketch, 2);
  const int32_t scale = rg_constant(sketch, rg_dtype(sketch, sum), 1, &last);
  const int32_t inputs[] = {sum, rg_chance(sketch, 4) ? rg_unary(sketch, ND4C_OP_sin, scale) : scale,
                            rg_constant(sketch, rg_dtype(sketch, sum), 1, &last)};
  const nd4c_attr attrs[] = {rg_attr_int("axis", rg_chance(sketch, 6) ? 0 : -1),
                             {.name = "epsilon", .value = {.kind = ND4C_ATTR_FLOAT, .as.f = 1e-2}}};
  const int32_t y = rg_op(sketch, rms ? ND4C_OP_rms_norm : ND4C_OP_layer_norm, inputs,
                          rms ? 1 + rg_pick(sketch, 2) : 1 + rg_pick(sketch, 3), attrs, 2);
  return rg_chance(sketch, 2) ? swapped(sketch, ND4C_OP_add, sum, y) : y;
}

/* -- attention ----------------------------------------------------------------------------------------------------- */

static int32_t softmax(rg_sketch *sketch, int32_t x) {
  if (!rg_chance(sketch, 3)) {
    return softmax_of(sketch, x);
  }
  const int64_t axes[] = {-1};
  const nd4c_attr attrs[] = {rg_attr_ints("axes", axes, 1), rg_attr_int("keepdims", 1)};
  const int32_t largest = rg_op(sketch, ND4C_OP_max, &x, 1, attrs, 2);
  const int32_t powers = rg_unary(sketch, ND4C_OP_exp, rg_binary(sketch, ND4C_OP_subtract, x, largest));
  return rg_binary(sketch, ND4C_OP_divide, powers, rg_op(sketch, ND4C_OP_sum, &powers, 1, attrs, 2));
}

static int32_t attend(rg_sketch *sketch, int32_t q, int32_t k, int32_t v) {
  const double scale = rg_chance(sketch, 3) ? rg_special(sketch) : 0.35355339;
  int32_t scores = RG_NONE;
  if (rg_chance(sketch, 2)) {
    scores = rg_binary(sketch, ND4C_OP_matmul, with_number(sketch, ND4C_OP_multiply, q, scale),
                       rg_unary(sketch, ND4C_OP_matrix_transpose, k));
  } else {
    scores = rg_binary(sketch, ND4C_OP_matmul, q, rg_unary(sketch, ND4C_OP_matrix_transpose, k));
    scores = with_number(sketch, rg_chance(sketch, 2) ? ND4C_OP_multiply : ND4C_OP_divide, scores, scale);
  }
  if (scores >= 0 && rg_chance(sketch, 3)) {
    const int32_t rank = rg_rank(sketch, scores);
    const int32_t mask = rg_constant(sketch, rg_dtype(sketch, scores), 2, rg_shape(sketch, scores) + rank - 2);
    scores = swapped(sketch, ND4C_OP_add, scores, mask);
  }
  return rg_binary(sketch, ND4C_OP_matmul, softmax(sketch, scores), v);
}

/* [n, t, heads * head] to [n, heads, t, head]. */
static int32_t split_heads(rg_sketch *sketch, int32_t x, int64_t heads) {
  if (x < 0) {
    return RG_NONE;
  }
  const int64_t *s = rg_shape(sketch, x), shape[] = {s[0], s[1], heads, s[2] / heads}, axes[] = {0, 2, 1, 3};
  return rg_op_ints(sketch, ND4C_OP_transpose, rg_op_ints(sketch, ND4C_OP_reshape, x, "shape", shape, 4), "axes", axes,
                    4);
}

/* Queries, keys and values from one input by three products, heads and back. */
static int32_t motif_attention(rg_sketch *sketch) {
  const int32_t x = rg_of_rank(sketch, 3);
  if (x < 0) {
    return RG_NONE;
  }
  const int64_t n = rg_shape(sketch, x)[0], t = rg_shape(sketch, x)[1], features = rg_shape(sketch, x)[2];
  const int64_t heads = 1 + rg_pick(sketch, 2), head = 1 + rg_pick(sketch, 4), shape[] = {features, heads * head};
  int32_t parts[3];
  for (int32_t i = 0; i < 3; i++) {
    int32_t y = rg_binary(sketch, ND4C_OP_matmul, x, rg_constant(sketch, rg_dtype(sketch, x), 2, shape));
    y = rg_chance(sketch, 2) && y >= 0 ? swapped(sketch, ND4C_OP_add, y, along_axis(sketch, y, 2)) : y;
    parts[i] = heads == 1 && rg_chance(sketch, 2) ? y : split_heads(sketch, y, heads);
  }
  const int32_t y = attend(sketch, parts[0], parts[1], parts[2]);
  if (y < 0 || rg_rank(sketch, y) != 4) {
    return y;
  }
  const int64_t axes[] = {0, 2, 1, 3}, back[] = {n, t, heads * head};
  return rg_op_ints(sketch, ND4C_OP_reshape, rg_op_ints(sketch, ND4C_OP_transpose, y, "axes", axes, 4), "shape", back,
                    3);
}

static int32_t motif_softmax(rg_sketch *sketch) {
  return softmax(sketch, rg_any_float(sketch));
}

const rg_motif rg_motifs_network[] = {motif_activation, motif_conv,      motif_conv,       motif_affine,
                                      motif_pool,       motif_dense,     motif_dense,      motif_matmul,
                                      motif_chain,      motif_gated,     motif_layer_norm, motif_rms_norm,
                                      motif_group_norm, motif_skip_norm, motif_attention,  motif_softmax};
const int32_t rg_motifs_network_count = sizeof rg_motifs_network / sizeof rg_motifs_network[0];
