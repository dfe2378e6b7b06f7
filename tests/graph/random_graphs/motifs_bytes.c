/* Chains of ops of quantised models, as exporters and ONNX Runtime's tools write them; products of one value that are
 * joined; attention with a cache. supply.c picks them by random.
 *
 * Scales, zero points and weights are mostly such as the passes take, and sometimes of a kind that they must leave. */
#include <math.h>

#include "random_graphs.h"

/* -- bytes and their scales ---------------------------------------------------------------------------------------- */

typedef struct affine {
  nd4c_dtype dtype;
  int32_t scale, zero; /* values; zero may be left out */
} affine;

/* A constant of whole numbers, scalar or [count]. */
static int32_t whole(rg_sketch *sketch, nd4c_dtype dtype, int32_t rank, const int64_t *shape, int32_t low,
                     int32_t high) {
  return rg_between(sketch, dtype, rank, shape, low, high + 0.999);
}

/* One scale with one zero point, so that the elements of x fill the bytes, or reach beyond both ends. */
static affine affine_for(rg_sketch *sketch, int32_t x) {
  affine made = {.dtype = rg_chance(sketch, 3) ? ND4C_INT8 : ND4C_UINT8};
  const int32_t least = made.dtype == ND4C_INT8 ? -128 : 0, middle = least + 128;
  const double largest = rg_largest(sketch, x), step = (largest > 0 ? largest : 1) / 127;
  const double scale = rg_chance(sketch, 4) ? exp2(rint(log2(step))) : step * rg_number(sketch, 0.4, 1.5);
  const int32_t zero = rg_chance(sketch, 4) ? least : middle + rg_pick(sketch, 41) - 20;
  made.scale = rg_between(sketch, ND4C_FLOAT32, 0, NULL, scale, scale);
  made.zero =
      made.dtype == ND4C_UINT8 && rg_chance(sketch, 6) ? RG_OMITTED : whole(sketch, made.dtype, 0, NULL, zero, zero);
  return made;
}

static int32_t quantize(rg_sketch *sketch, int32_t x, affine to) {
  return rg_op(sketch, ND4C_OP_quantize_linear, (int32_t[]){x, to.scale, to.zero}, 3, NULL, 0);
}

static int32_t dequantize(rg_sketch *sketch, int32_t x, affine from) {
  return rg_op(sketch, ND4C_OP_dequantize_linear, (int32_t[]){x, from.scale, from.zero}, 3, NULL, 0);
}

static int32_t both(rg_sketch *sketch, int32_t x, affine of) {
  return dequantize(sketch, quantize(sketch, x, of), of);
}

/* A value of the rank as quantised models have it between two layers. */
static int32_t quantised(rg_sketch *sketch, int32_t rank) {
  const int32_t x = rg_finite(sketch, rank);
  return x < 0 ? RG_NONE : both(sketch, x, affine_for(sketch, x));
}

/* Bytes of weights with one scale for each index of `axis`, or one for all; mostly symmetric. */
static int32_t weights(rg_sketch *sketch, int32_t rank, const int64_t *shape, int32_t axis) {
  const bool flat = rg_chance(sketch, 3), is_signed = !rg_chance(sketch, 4);
  const int64_t count = flat ? 1 : shape[axis];
  const int32_t zero = is_signed ? (rg_chance(sketch, 8) ? 3 : 0) : (rg_chance(sketch, 4) ? 120 : 128);
  const nd4c_dtype dtype = is_signed ? ND4C_INT8 : ND4C_UINT8;
  const int32_t inputs[] = {whole(sketch, dtype, rank, shape, is_signed ? -127 : 1, is_signed ? 127 : 255),
                            rg_between(sketch, ND4C_FLOAT32, flat ? 0 : 1, &count, 0.002, 0.02),
                            is_signed && zero == 0 && rg_chance(sketch, 2)
                                ? RG_OMITTED
                                : whole(sketch, dtype, flat ? 0 : 1, &count, zero, zero)};
  const nd4c_attr attr = rg_attr_int("axis", axis);
  return rg_op(sketch, ND4C_OP_dequantize_linear, inputs, 3, &attr, 1);
}

/* A result in bytes again, and mostly back to floats; sometimes bounded before. */
static int32_t requantised(rg_sketch *sketch, int32_t y) {
  if (y < 0) {
    return RG_NONE;
  }
  if (rg_chance(sketch, 3)) {
    y = rg_chance(sketch, 2) ? rg_unary(sketch, ND4C_OP_relu, y)
                             : rg_op(sketch, ND4C_OP_clip,
                                     (int32_t[]){y, rg_between(sketch, ND4C_FLOAT32, 0, NULL, 0, 0),
                                                 rg_between(sketch, ND4C_FLOAT32, 0, NULL, 0.5, 3)},
                                     3, NULL, 0);
  }
  if (y < 0) {
    return RG_NONE;
  }
  const affine to = affine_for(sketch, y);
  const int32_t bytes = quantize(sketch, y, to);
  return rg_chance(sketch, 4) ? bytes : dequantize(sketch, bytes, to);
}

/* -- layers of quantised models ------------------------------------------------------------------------------------ */

static int32_t motif_quantised_conv(rg_sketch *sketch) {
  const int32_t x = quantised(sketch, 4);
  if (x < 0) {
    return RG_NONE;
  }
  const int64_t channels = rg_shape(sketch, x)[1], side = rg_chance(sketch, 2) ? 1 : 3, made = 1 + rg_pick(sketch, 8);
  const bool deep = channels > 1 && rg_chance(sketch, 4);
  const int64_t outputs = deep ? channels : made, shape[] = {outputs, deep ? 1 : channels, side, side};
  const int64_t pads[] = {side / 2, side / 2, side / 2, side / 2};
  const nd4c_attr attrs[] = {rg_attr_ints("pads", pads, 4), rg_attr_int("groups", deep ? channels : 1)};
  int32_t inputs[] = {x, weights(sketch, 4, shape, 0), RG_OMITTED};
  if (rg_chance(sketch, 3)) {
    inputs[2] = rg_between(sketch, ND4C_FLOAT32, 1, &outputs, -1, 1);
  } else if (rg_chance(sketch, 2)) { /* int32 with a scale, as exporters write it */
    const int32_t parts[] = {whole(sketch, ND4C_INT32, 1, &outputs, -3000, 3000),
                             rg_between(sketch, ND4C_FLOAT32, 0, NULL, 2e-4, 2e-4)};
    inputs[2] = rg_op(sketch, ND4C_OP_dequantize_linear, parts, 2, NULL, 0);
  }
  return requantised(sketch, rg_op(sketch, ND4C_OP_conv, inputs, 3, attrs, 2));
}

static int32_t motif_quantised_product(rg_sketch *sketch) {
  const int32_t x = quantised(sketch, 2 + rg_pick(sketch, 2));
  if (x < 0) {
    return RG_NONE;
  }
  const int64_t features = rg_shape(sketch, x)[rg_rank(sketch, x) - 1], made = 1 + rg_pick(sketch, 12);
  const bool turned = rg_chance(sketch, 3);
  const int64_t shape[] = {turned ? made : features, turned ? features : made};
  const int32_t w = weights(sketch, 2, shape, turned ? 0 : 1);
  int32_t y = RG_NONE;
  if (turned) {
    const int32_t bias = rg_chance(sketch, 2) ? rg_between(sketch, ND4C_FLOAT32, 1, &made, -1, 1) : RG_OMITTED;
    const nd4c_attr attr = rg_attr_int("transpose_w", 1);
    y = rg_op(sketch, ND4C_OP_linear, (int32_t[]){x, w, bias}, 3, &attr, 1);
  } else {
    y = rg_binary(sketch, ND4C_OP_matmul, x, w);
  }
  return rg_chance(sketch, 2) ? y : requantised(sketch, y);
}

/* A residual connection between bytes. */
static int32_t motif_quantised_sum(rg_sketch *sketch) {
  const int32_t x = rg_finite(sketch, 1 + rg_pick(sketch, 4));
  const int32_t other = x < 0 ? RG_NONE : rg_unary(sketch, rg_chance(sketch, 2) ? ND4C_OP_sin : ND4C_OP_tanh, x);
  if (other < 0) {
    return RG_NONE;
  }
  const int32_t a = both(sketch, x, affine_for(sketch, x)), b = both(sketch, other, affine_for(sketch, other));
  return requantised(
      sketch, rg_chance(sketch, 2) ? rg_binary(sketch, ND4C_OP_add, a, b) : rg_binary(sketch, ND4C_OP_add, b, a));
}

/* What only chooses or bounds elements, between two conversions that may cancel each other. */
static int32_t motif_quantised_moves(rg_sketch *sketch) {
  const int32_t x = rg_finite(sketch, 4);
  if (x < 0) {
    return RG_NONE;
  }
  const affine of = affine_for(sketch, x);
  const int64_t flat[] = {rg_shape(sketch, x)[0], -1}, kernel[] = {2, 2}, axes[] = {0, 2, 3, 1};
  int32_t y = both(sketch, x, of);
  const int32_t count = 1 + rg_pick(sketch, 3);
  for (int32_t i = 0; i < count && y >= 0 && rg_rank(sketch, y) == 4; i++) {
    const int32_t parts[] = {y, y};
    const nd4c_attr axis = rg_attr_int("axis", 1);
    switch (rg_pick(sketch, 5)) {
      case 0:
        y = rg_op_ints(sketch, ND4C_OP_reshape, y, "shape", flat, 2);
        break;
      case 1:
        y = rg_op_ints(sketch, ND4C_OP_transpose, y, "axes", axes, 4);
        break;
      case 2:
        y = rg_op_ints(sketch, ND4C_OP_max_pool, y, "kernel", kernel, 2);
        break;
      case 3:
        y = rg_unary(sketch, ND4C_OP_relu, y);
        break;
      default:
        y = rg_op(sketch, ND4C_OP_concat, parts, 2, &axis, 1);
    }
  }
  const affine to = y < 0 || rg_chance(sketch, 2) ? of : affine_for(sketch, y);
  return dequantize(sketch, quantize(sketch, y, to), to);
}

/* What ONNX Runtime's quantize_dynamic writes: the range of x is found while the graph runs. */
static int32_t motif_dynamic(rg_sketch *sketch) {
  const int32_t x = rg_finite(sketch, 2 + rg_pick(sketch, 2));
  if (x < 0 || rg_unary(sketch, ND4C_OP_dynamic_quantize_linear, x) < 0) {
    return RG_NONE;
  }
  const int32_t *found = sketch->nodes[sketch->node_count - 1].outputs; /* bytes, scale, zero point */
  const int64_t shape[] = {rg_shape(sketch, x)[rg_rank(sketch, x) - 1], 1 + rg_pick(sketch, 12)};
  const bool flat = rg_chance(sketch, 2);
  const int32_t zero = rg_chance(sketch, 4) ? 5 : 0;
  const int32_t inputs[] = {
      found[0], whole(sketch, ND4C_INT8, 2, shape, -127, 127), found[2],
      rg_chance(sketch, 2) && zero == 0 ? RG_OMITTED : whole(sketch, ND4C_INT8, flat ? 0 : 1, &shape[1], zero, zero)};
  const int32_t scale = rg_between(sketch, ND4C_FLOAT32, flat ? 0 : 1, &shape[1], 0.002, 0.02);
  const int32_t scales = rg_chance(sketch, 2) ? rg_binary(sketch, ND4C_OP_multiply, found[1], scale)
                                              : rg_binary(sketch, ND4C_OP_multiply, scale, found[1]);
  int32_t y = rg_op(sketch, ND4C_OP_matmul_integer, inputs, 4, NULL, 0);
  y = rg_op_int(sketch, ND4C_OP_cast, y, "dtype", ND4C_FLOAT32);
  y = rg_chance(sketch, 2) ? rg_binary(sketch, ND4C_OP_multiply, y, scales)
                           : rg_binary(sketch, ND4C_OP_multiply, scales, y);
  return rg_chance(sketch, 2)
             ? y
             : rg_binary(sketch, ND4C_OP_add, y, rg_between(sketch, ND4C_FLOAT32, 1, &shape[1], -1, 1));
}

/* -- products of one value ----------------------------------------------------------------------------------------- */

/* As large as join_products wants weights to be. */
enum { WIDE = 128 };

/* x, bytes if `bytes`, times a large matrix. */
static int32_t wide_product(rg_sketch *sketch, int32_t x, bool bytes, bool biased) {
  const int64_t shape[] = {WIDE, WIDE}, columns = WIDE;
  const int32_t bias = biased ? rg_between(sketch, ND4C_FLOAT32, 1, &columns, -1, 1) : RG_OMITTED;
  if (bytes) {
    const int32_t inputs[] = {x,
                              whole(sketch, ND4C_INT8, 2, shape, -127, 127),
                              rg_between(sketch, ND4C_FLOAT32, 0, NULL, 0.01, 0.01),
                              rg_between(sketch, ND4C_FLOAT32, 1, &columns, 0.002, 0.01),
                              RG_OMITTED,
                              RG_OMITTED,
                              bias};
    return rg_op(sketch, ND4C_OP_linear_int8, inputs, 7, NULL, 0);
  }
  const int32_t w = rg_between(sketch, ND4C_FLOAT32, 2, shape, -0.2, 0.2);
  return biased ? rg_op(sketch, ND4C_OP_linear, (int32_t[]){x, w, bias}, 3, NULL, 0)
                : rg_binary(sketch, ND4C_OP_matmul, x, w);
}

/* Queries, keys and values, or the two of a gated layer, of few rows. Their weights take long to judge, so they are
 * rare. */
static int32_t motif_joined(rg_sketch *sketch) {
  const bool bytes = rg_chance(sketch, 3), biased = rg_chance(sketch, 3);
  const int64_t shape[] = {1 + rg_pick(sketch, 3), WIDE};
  if (!rg_chance(sketch, 3)) {
    return RG_NONE;
  }
  int32_t x = rg_plain_input(sketch, 2, shape);
  x = bytes ? rg_op_int(sketch, ND4C_OP_cast,
                        rg_binary(sketch, ND4C_OP_multiply, rg_unary(sketch, ND4C_OP_abs, x),
                                  rg_between(sketch, ND4C_FLOAT32, 0, NULL, 100, 100)),
                        "dtype", ND4C_UINT8)
            : x;
  const int32_t a = wide_product(sketch, x, bytes, biased), b = wide_product(sketch, x, bytes, biased);
  if (rg_chance(sketch, 2)) {
    return rg_binary(sketch, ND4C_OP_multiply, rg_unary(sketch, ND4C_OP_swish, a), b);
  }
  const int32_t c = wide_product(sketch, x, bytes, rg_chance(sketch, 4) ? !biased : biased);
  return rg_binary(sketch, ND4C_OP_multiply, rg_binary(sketch, ND4C_OP_subtract, a, b),
                   rg_unary(sketch, ND4C_OP_sin, c));
}

/* -- attention with a cache ---------------------------------------------------------------------------------------- */

static int32_t motif_cache(rg_sketch *sketch) {
  const int64_t heads = 1 + rg_pick(sketch, 3), head = 2 + 2 * rg_pick(sketch, 4), places = 1 + rg_pick(sketch, 6);
  const int64_t batch = 1 + rg_pick(sketch, 2), before = rg_pick(sketch, 5);
  const bool packed = rg_chance(sketch, 2), past = before > 0;
  const int64_t four[] = {batch, heads, places, head}, three[] = {batch, places, heads * head};
  const int64_t cached[] = {batch, heads, before, head};
  int32_t inputs[6] = {[3] = RG_OMITTED, [4] = RG_OMITTED, [5] = RG_OMITTED};
  for (int32_t i = 0; i < 3; i++) {
    inputs[i] = rg_plain_input(sketch, packed ? 3 : 4, packed ? three : four);
  }
  for (int32_t i = 4; i < 6 && past; i++) {
    inputs[i] = rg_plain_input(sketch, 4, cached);
  }
  const nd4c_attr attrs[] = {rg_attr_int("q_heads", packed ? heads : 0),
                             rg_attr_int("kv_heads", packed ? heads : 0),
                             {.name = "is_causal", .value = {.kind = ND4C_ATTR_BOOL, .as.i = rg_pick(sketch, 2)}}};
  const int32_t y = rg_op(sketch, ND4C_OP_attention_with_cache, inputs, past ? 6 : 3, attrs, 3);
  if (y >= 0 && rg_chance(sketch, 4)) { /* the scores are read */
    (void)rg_unary(sketch, ND4C_OP_sin, sketch->nodes[sketch->node_count - 1].outputs[3]);
  }
  return y;
}

const rg_motif rg_motifs_bytes[] = {motif_quantised_conv,
                                    motif_quantised_conv,
                                    motif_quantised_product,
                                    motif_quantised_sum,
                                    motif_quantised_moves,
                                    motif_dynamic,
                                    motif_joined,
                                    motif_cache};
const int32_t rg_motifs_bytes_count = sizeof rg_motifs_bytes / sizeof rg_motifs_bytes[0];
