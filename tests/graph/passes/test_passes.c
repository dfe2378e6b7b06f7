/* Every pass: fires on its pattern, keeps the pattern if another node reads the value in between, and never changes a
 * result. */
#include "graph/graph_check.h"

/* Builds a pattern; gives the value in between that is merged away, and the last one. */
typedef void (*build_function)(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last);

typedef struct pattern {
  const char *name, *pass;
  int32_t changes; /* of the pass, when it fires */
  nd4c_op becomes; /* op among the steps afterwards */
  int32_t steps;   /* of the optimised plan */
  build_function build;
  int32_t changes_apart; /* of the pass if another node reads the value in between; later nodes may fold */
} pattern;

/* -- patterns ------------------------------------------------------------------------------------------------------ */

static nd4c_value conv_of(nd4c_graph *graph, nd4c_value x, int64_t channels, uint64_t seed, bool bias) {
  const nd4c_graph_value *info = &graph->values[x];
  nd4c_value inputs[3] = {x, check_constant(graph, 4, (int64_t[]){channels, info->shape[1], 3, 3}, seed, -1, 1)};
  inputs[2] = bias ? check_constant(graph, 1, &channels, seed + 1, -1, 1) : ND4C_VALUE_NONE;
  int64_t pads[] = {1, 1, 1, 1};
  nd4c_attr attr = check_ints("pads", pads, 4);
  return check_op(graph, ND4C_OP_conv, inputs, bias ? 3 : 2, &attr, 1);
}

static nd4c_value norm_of(nd4c_graph *graph, nd4c_value x, uint64_t seed) {
  const int64_t *channels = &graph->values[x].shape[1];
  nd4c_value inputs[5] = {x};
  for (int32_t i = 1; i < 5; i++) {
    int64_t count = *channels;
    inputs[i] = check_constant(graph, 1, &count, seed + (uint64_t)i, i == 4 ? 0.5 : -1, 1.5);
    channels = &graph->values[x].shape[1];
  }
  return check_op(graph, ND4C_OP_batch_norm, inputs, 5, NULL, 0);
}

static nd4c_value image_input(nd4c_graph *graph) {
  return check_input(graph, "x", 4, (int64_t[]){2, 3, 6, 5});
}

static nd4c_value channel_constant(nd4c_graph *graph, uint64_t seed) {
  return check_constant(graph, 3, (int64_t[]){4, 1, 1}, seed, 0.5, 1.5);
}

static void conv_norm(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, false);
  *last = norm_of(graph, *middle, 10);
}

static void conv_bias_norm(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, true);
  *last = norm_of(graph, *middle, 10);
}

static void conv_multiply(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, true);
  *last = check_binary(graph, ND4C_OP_multiply, channel_constant(graph, 3), *middle);
}

static void conv_add(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, false);
  nd4c_value bias = check_constant(graph, 4, (int64_t[]){1, 4, 1, 1}, 3, -1, 1);
  *last = check_binary(graph, ND4C_OP_add, *middle, bias);
}

static void conv_divide_scalar(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, true);
  *last = check_binary(graph, ND4C_OP_divide, *middle, check_scalar(graph, 3.0));
}

static void conv_subtract(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, true);
  *last = check_binary(graph, ND4C_OP_subtract, *middle, channel_constant(graph, 3));
}

static void conv_subtracted(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, true);
  *last = check_binary(graph, ND4C_OP_subtract, channel_constant(graph, 3), *middle);
}

static void norm_multiply_add(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = check_input(graph, "x", 4, (int64_t[]){2, 4, 6, 5});
  *middle = norm_of(graph, x, 10);
  nd4c_value scaled = check_binary(graph, ND4C_OP_multiply, *middle, channel_constant(graph, 3));
  *last = check_binary(graph, ND4C_OP_add, scaled, channel_constant(graph, 4));
}

static void conv_norm_multiply_add(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, false);
  nd4c_value norm = norm_of(graph, *middle, 10);
  nd4c_value scaled = check_binary(graph, ND4C_OP_multiply, norm, channel_constant(graph, 3));
  *last = check_binary(graph, ND4C_OP_add, scaled, channel_constant(graph, 4));
}

static nd4c_value erf_term(nd4c_graph *graph, nd4c_value x, bool divides, nd4c_value *middle) {
  nd4c_value scaled = divides ? check_binary(graph, ND4C_OP_divide, x, check_scalar(graph, 1.41421356237))
                              : check_binary(graph, ND4C_OP_multiply, check_scalar(graph, 0.70710678118), x);
  *middle = check_unary(graph, ND4C_OP_erf, scaled);
  return check_binary(graph, ND4C_OP_add, *middle, check_scalar(graph, 1.0));
}

static void gelu_half_last(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  nd4c_value product = check_binary(graph, ND4C_OP_multiply, x, erf_term(graph, x, true, middle));
  *last = check_binary(graph, ND4C_OP_multiply, product, check_scalar(graph, 0.5));
}

static void gelu_half_first(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  nd4c_value half = check_binary(graph, ND4C_OP_multiply, x, check_scalar(graph, 0.5));
  *last = check_binary(graph, ND4C_OP_multiply, erf_term(graph, x, false, middle), half);
}

static nd4c_value times(nd4c_graph *graph, nd4c_value a, nd4c_value b) {
  return check_binary(graph, ND4C_OP_multiply, a, b);
}

static nd4c_value mean_last(nd4c_graph *graph, nd4c_value x) {
  int64_t axes[] = {-1};
  nd4c_attr attrs[] = {check_ints("axes", axes, 1), {.name = "keepdims", .value = {.kind = ND4C_ATTR_BOOL, .as.i = 1}}};
  return check_op(graph, ND4C_OP_mean, &x, 1, attrs, 2);
}

static nd4c_value with_norm_parameters(nd4c_graph *graph, nd4c_value normal, uint64_t seed) {
  nd4c_value scale = check_constant(graph, 1, (int64_t[]){8}, seed, -1, 1);
  nd4c_value scaled = check_binary(graph, ND4C_OP_multiply, normal, scale);
  return check_binary(graph, ND4C_OP_add, scaled, check_constant(graph, 1, (int64_t[]){8}, seed + 1, -1, 1));
}

/* x - mean(x), and the root of its mean square or, with rsqrt, 1 over that. */
static nd4c_value norm_root(nd4c_graph *graph, nd4c_op square, nd4c_op root, nd4c_value *centred) {
  nd4c_value x = check_input(graph, "x", 3, (int64_t[]){2, 5, 8});
  *centred = check_binary(graph, ND4C_OP_subtract, x, mean_last(graph, x));
  nd4c_value squared = square == ND4C_OP_square     ? check_unary(graph, square, *centred)
                       : square == ND4C_OP_multiply ? check_binary(graph, square, *centred, *centred)
                                                    : check_binary(graph, square, *centred, check_scalar(graph, 2.0));
  nd4c_value sum = check_binary(graph, ND4C_OP_add, mean_last(graph, squared), check_scalar(graph, 1e-5));
  return check_unary(graph, root, sum);
}

static void norm_chain(nd4c_graph *graph, nd4c_op square, nd4c_value *middle, nd4c_value *last) {
  nd4c_value centred;
  *middle = norm_root(graph, square, ND4C_OP_sqrt, &centred);
  *last = with_norm_parameters(graph, check_binary(graph, ND4C_OP_divide, centred, *middle), 5);
}

/* The difference is what another node may read: a square reads it once, a product with itself twice. */
static void norm_difference_square(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value root = norm_root(graph, ND4C_OP_square, ND4C_OP_sqrt, middle);
  *last = with_norm_parameters(graph, check_binary(graph, ND4C_OP_divide, *middle, root), 5);
}

static void norm_difference_multiply(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value root = norm_root(graph, ND4C_OP_multiply, ND4C_OP_sqrt, middle);
  *last = with_norm_parameters(graph, check_binary(graph, ND4C_OP_divide, *middle, root), 5);
}

static void norm_chain_rsqrt(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value centred;
  *middle = norm_root(graph, ND4C_OP_square, ND4C_OP_rsqrt, &centred);
  *last = with_norm_parameters(graph, check_binary(graph, ND4C_OP_multiply, *middle, centred), 5);
}

/* As cse leaves two norms of one x: everything but the parameters is there once. */
static void norm_chain_shared(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value centred;
  *middle = norm_root(graph, ND4C_OP_square, ND4C_OP_sqrt, &centred);
  nd4c_value normal = check_binary(graph, ND4C_OP_divide, centred, *middle);
  CHECK_OK(nd4c_graph_output(graph, "second", with_norm_parameters(graph, normal, 7)));
  *last = with_norm_parameters(graph, normal, 5);
}

static void norm_chain_power(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  norm_chain(graph, ND4C_OP_power, middle, last);
}

static void norm_chain_multiply(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  norm_chain(graph, ND4C_OP_multiply, middle, last);
}

static void norm_chain_square(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  norm_chain(graph, ND4C_OP_square, middle, last);
}

/* sqrt(2 / pi) (x + 0.044715 x^3), spelled in two ways. */
static nd4c_value gelu_cubic(nd4c_graph *graph, nd4c_value x, double factor, bool nested) {
  nd4c_value first = check_scalar(graph, 0.7978845608028654 * factor), third = check_scalar(graph, 0.044715);
  if (nested) { /* c x (1 + 0.044715 x x) */
    nd4c_value sum = check_binary(graph, ND4C_OP_add, check_scalar(graph, 1), times(graph, times(graph, third, x), x));
    return times(graph, times(graph, first, x), sum);
  }
  nd4c_value cube = check_binary(graph, ND4C_OP_power, x, check_scalar(graph, 3));
  return times(graph, check_binary(graph, ND4C_OP_add, x, times(graph, third, cube)), first);
}

static void gelu_by_tanh(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  *middle = check_unary(graph, ND4C_OP_tanh, gelu_cubic(graph, x, 1, false));
  nd4c_value sum = check_binary(graph, ND4C_OP_add, check_scalar(graph, 1), *middle);
  *last = times(graph, times(graph, check_scalar(graph, 0.5), x), sum);
}

static void gelu_by_nested_tanh(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  *middle = gelu_cubic(graph, x, 1, true);
  nd4c_value sum = check_binary(graph, ND4C_OP_add, check_unary(graph, ND4C_OP_tanh, *middle), check_scalar(graph, 1));
  *last = times(graph, times(graph, x, sum), check_scalar(graph, 0.5));
}

static void gelu_by_sigmoid(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  *middle = check_unary(graph, ND4C_OP_sigmoid, gelu_cubic(graph, x, 2, true));
  *last = times(graph, *middle, x);
}

static void swish_product(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  *middle = check_unary(graph, ND4C_OP_sigmoid, x);
  *last = times(graph, x, *middle);
}

static void swish_scaled(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  *middle = check_unary(graph, ND4C_OP_sigmoid, times(graph, check_scalar(graph, 1.702), x));
  *last = times(graph, *middle, x);
}

static nd4c_value exponential_sum(nd4c_graph *graph, nd4c_value x) {
  nd4c_value power = check_unary(graph, ND4C_OP_exp, check_unary(graph, ND4C_OP_negative, x));
  return check_binary(graph, ND4C_OP_add, check_scalar(graph, 1), power);
}

static void swish_quotient(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  *middle = exponential_sum(graph, x);
  *last = check_binary(graph, ND4C_OP_divide, x, *middle);
}

static void sigmoid_quotient(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = exponential_sum(graph, image_input(graph));
  *last = check_binary(graph, ND4C_OP_divide, check_scalar(graph, 1), *middle);
}

static void hard_swish_product(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  const nd4c_attr alpha = {.name = "alpha", .value = {.kind = ND4C_ATTR_FLOAT, .as.f = 0.16666667163372}};
  *middle = check_op(graph, ND4C_OP_hard_sigmoid, &x, 1, &alpha, 1);
  *last = times(graph, x, *middle);
}

static void mish_product(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  *middle = check_unary(graph, ND4C_OP_softplus, x);
  *last = times(graph, x, check_unary(graph, ND4C_OP_tanh, *middle));
}

/* x, and the root of its mean square. */
static nd4c_value root_mean_square(nd4c_graph *graph, nd4c_value *x) {
  *x = check_input(graph, "x", 3, (int64_t[]){2, 5, 8});
  nd4c_value square = check_binary(graph, ND4C_OP_power, *x, check_scalar(graph, 2.0));
  nd4c_value sum = check_binary(graph, ND4C_OP_add, mean_last(graph, square), check_scalar(graph, 1e-6));
  return check_unary(graph, ND4C_OP_sqrt, sum);
}

static nd4c_value with_scale(nd4c_graph *graph, nd4c_value normal) {
  return times(graph, check_constant(graph, 1, (int64_t[]){8}, 5, -1, 1), normal);
}

static void rms_quotient(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x;
  *middle = root_mean_square(graph, &x);
  *last = with_scale(graph, check_binary(graph, ND4C_OP_divide, x, *middle));
}

static void rms_product(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x;
  *middle = root_mean_square(graph, &x);
  *last = with_scale(graph, times(graph, x, check_binary(graph, ND4C_OP_divide, check_scalar(graph, 1), *middle)));
}

static void rms_reciprocal(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x, root = root_mean_square(graph, &x);
  *middle = check_unary(graph, ND4C_OP_reciprocal, root);
  *last = times(graph, *middle, x);
}

static nd4c_value product_of(nd4c_graph *graph, nd4c_value *x) {
  *x = check_input(graph, "x", 3, (int64_t[]){2, 5, 6});
  return check_binary(graph, ND4C_OP_matmul, *x, check_constant(graph, 2, (int64_t[]){6, 6}, 1, -1, 1));
}

static void matmul_bias(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x;
  *middle = product_of(graph, &x);
  *last = check_binary(graph, ND4C_OP_add, check_constant(graph, 1, (int64_t[]){6}, 2, -1, 1), *middle);
}

static void linear_addend(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){5, 6});
  nd4c_value w = check_constant(graph, 2, (int64_t[]){6, 6}, 1, -1, 1);
  *middle = check_op(graph, ND4C_OP_linear, (nd4c_value[]){x, w}, 2, NULL, 0);
  *last = check_binary(graph, ND4C_OP_add, x, *middle);
}

static void conv_addend(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = image_input(graph);
  *middle = conv_of(graph, x, 3, 1, true);
  *last = check_binary(graph, ND4C_OP_add, *middle, x);
}

static void conv_relu(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, true);
  *last = check_unary(graph, ND4C_OP_relu, *middle);
}

static void linear_gelu(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){5, 6});
  nd4c_value w = check_constant(graph, 2, (int64_t[]){6, 7}, 1, -1, 1);
  *middle = check_op(graph, ND4C_OP_linear, (nd4c_value[]){x, w}, 2, NULL, 0);
  *last = check_unary(graph, ND4C_OP_gelu, *middle);
}

static void linear_tanh(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){5, 6});
  nd4c_value w = check_constant(graph, 2, (int64_t[]){6, 7}, 1, -1, 1);
  *middle = check_op(graph, ND4C_OP_linear, (nd4c_value[]){x, w}, 2, NULL, 0);
  *last = check_unary(graph, ND4C_OP_tanh, *middle);
}

static void conv_sigmoid(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, false);
  *last = check_unary(graph, ND4C_OP_sigmoid, *middle);
}

static void conv_swish(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, false);
  *last = check_unary(graph, ND4C_OP_swish, *middle);
}

static void linear_hard_swish(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){5, 6});
  nd4c_value w = check_constant(graph, 2, (int64_t[]){6, 7}, 1, -4, 4);
  *middle = check_op(graph, ND4C_OP_linear, (nd4c_value[]){x, w}, 2, NULL, 0);
  *last = check_unary(graph, ND4C_OP_hard_swish, *middle);
}

/* clip between 0 and `high`. */
static void conv_clip(nd4c_graph *graph, double high, nd4c_value *middle, nd4c_value *last) {
  *middle = conv_of(graph, image_input(graph), 4, 1, false);
  const nd4c_value inputs[] = {*middle, check_scalar(graph, 0), check_scalar(graph, high)};
  *last = check_op(graph, ND4C_OP_clip, inputs, 3, NULL, 0);
}

static void conv_relu6(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  conv_clip(graph, 6, middle, last);
}

static void conv_clip_to_1(nd4c_graph *graph, nd4c_value *middle, nd4c_value *last) {
  conv_clip(graph, 1, middle, last);
}

static const pattern patterns[] = {
    {"conv, batch_norm", "fold_affine", 1, ND4C_OP_conv, 1, conv_norm, 0},
    {"conv with bias, batch_norm", "fold_affine", 1, ND4C_OP_conv, 1, conv_bias_norm, 0},
    {"conv, multiply", "fold_affine", 1, ND4C_OP_conv, 1, conv_multiply, 0},
    {"conv, add", "fold_affine", 1, ND4C_OP_conv, 1, conv_add, 0},
    {"conv, divide by scalar", "fold_affine", 1, ND4C_OP_conv, 1, conv_divide_scalar, 0},
    {"conv, subtract", "fold_affine", 1, ND4C_OP_conv, 1, conv_subtract, 0},
    {"constant minus conv", "fold_affine", 1, ND4C_OP_conv, 1, conv_subtracted, 0},
    {"batch_norm, multiply, add", "fold_affine", 2, ND4C_OP_batch_norm, 1, norm_multiply_add, 0},
    {"conv, batch_norm, multiply, add", "fold_affine", 3, ND4C_OP_conv, 1, conv_norm_multiply_add, 2},
    {"gelu, 0.5 last", "gelu", 1, ND4C_OP_gelu, 1, gelu_half_last, 0},
    {"gelu, 0.5 first", "gelu", 1, ND4C_OP_gelu, 1, gelu_half_first, 0},
    {"gelu by tanh", "gelu", 1, ND4C_OP_gelu, 1, gelu_by_tanh, 0},
    {"gelu by nested tanh", "gelu", 1, ND4C_OP_gelu, 1, gelu_by_nested_tanh, 0},
    {"gelu by sigmoid", "gelu", 1, ND4C_OP_gelu, 1, gelu_by_sigmoid, 0},
    {"layer_norm by power", "layer_norm", 3, ND4C_OP_layer_norm, 1, norm_chain_power, 0},
    {"layer_norm by multiply", "layer_norm", 3, ND4C_OP_layer_norm, 1, norm_chain_multiply, 0},
    {"layer_norm by square", "layer_norm", 3, ND4C_OP_layer_norm, 1, norm_chain_square, 0},
    {"layer_norm by rsqrt", "layer_norm", 3, ND4C_OP_layer_norm, 1, norm_chain_rsqrt, 0},
    {"layer_norm, its difference squared", "layer_norm", 3, ND4C_OP_layer_norm, 1, norm_difference_square, 0},
    {"layer_norm, its difference multiplied", "layer_norm", 3, ND4C_OP_layer_norm, 1, norm_difference_multiply, 0},
    {"two layer_norms of one x", "layer_norm", 5, ND4C_OP_layer_norm, 2, norm_chain_shared, 0},
    {"swish", "swish", 1, ND4C_OP_swish, 1, swish_product, 0},
    {"swish of 1.702 x", "swish", 1, ND4C_OP_swish, 1, swish_scaled, 0},
    {"swish as a quotient", "swish", 1, ND4C_OP_swish, 1, swish_quotient, 0},
    {"sigmoid as a quotient", "swish", 1, ND4C_OP_sigmoid, 1, sigmoid_quotient, 0},
    {"hard_swish", "swish", 1, ND4C_OP_hard_swish, 1, hard_swish_product, 0},
    {"mish", "swish", 1, ND4C_OP_mish, 1, mish_product, 0},
    {"rms_norm by divide", "rms_norm", 2, ND4C_OP_rms_norm, 1, rms_quotient, 0},
    {"rms_norm by 1 / root", "rms_norm", 2, ND4C_OP_rms_norm, 1, rms_product, 0},
    {"rms_norm by reciprocal, without scale", "rms_norm", 1, ND4C_OP_rms_norm, 1, rms_reciprocal, 0},
    {"matmul, bias", "linear", 1, ND4C_OP_linear, 1, matmul_bias, 0},
    {"linear, addend", "fuse_addend", 1, ND4C_OP_linear, 1, linear_addend, 0},
    {"conv, addend", "fuse_addend", 1, ND4C_OP_conv, 1, conv_addend, 0},
    {"conv, relu", "fuse_activation", 1, ND4C_OP_conv, 1, conv_relu, 0},
    {"linear, gelu", "fuse_activation", 1, ND4C_OP_linear, 1, linear_gelu, 0},
    {"linear, tanh", "fuse_activation", 1, ND4C_OP_linear, 1, linear_tanh, 0},
    {"conv, sigmoid", "fuse_activation", 1, ND4C_OP_conv, 1, conv_sigmoid, 0},
    {"conv, swish", "fuse_activation", 1, ND4C_OP_conv, 1, conv_swish, 0},
    {"linear, hard_swish", "fuse_activation", 1, ND4C_OP_linear, 1, linear_hard_swish, 0},
    {"conv, clip between 0 and 6", "fuse_activation", 1, ND4C_OP_conv, 1, conv_relu6, 0},
    {"conv, clip between 0 and 1", "fuse_activation", 0, ND4C_OP_conv, 2, conv_clip_to_1, 0},
};

/* -- checks -------------------------------------------------------------------------------------------------------- */

typedef enum variant { ALONE, READ_TWICE, GIVEN_OUT, VARIANTS } variant;

static void check_pattern(const pattern *row, variant which) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value middle = ND4C_VALUE_NONE, last = ND4C_VALUE_NONE;
  row->build(graph, &middle, &last);
  CHECK_OK(nd4c_graph_output(graph, "last", last));
  if (which == READ_TWICE) {
    CHECK_OK(nd4c_graph_output(graph, "other", check_unary(graph, ND4C_OP_negative, middle)));
  } else if (which == GIVEN_OUT) {
    CHECK_OK(nd4c_graph_output(graph, "middle", middle));
  }
  nd4c_plan *plan = check_graph(graph, 42, 1e-5);
  int32_t expected = which == ALONE ? row->changes : row->changes_apart, changes = check_changes(plan, row->pass);
  if (changes != expected) {
    fail_msg("%s, variant %d: pass %s made %d changes, expected %d", row->name, (int)which, row->pass, changes,
             expected);
  }
  if (which == ALONE && (!check_has_step(plan, row->becomes) || plan->step_count != row->steps)) {
    char *report = NULL;
    CHECK_OK(nd4c_plan_report(plan, &report));
    print_error("%s", report);
    fail_msg("%s: became %d steps", row->name, plan->step_count);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void patterns_fire_alone_only(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
    for (variant which = ALONE; which < VARIANTS; which++) {
      check_pattern(&patterns[i], which);
    }
  }
}

static void look_alikes_are_left_alone(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = image_input(graph), middle;
  /* gelu with 0.7 instead of 0.5; an addend that is broadcast; a constant that varies along the width. */
  nd4c_value product = check_binary(graph, ND4C_OP_multiply, x, erf_term(graph, x, true, &middle));
  CHECK_OK(nd4c_graph_output(graph, "a", check_binary(graph, ND4C_OP_multiply, product, check_scalar(graph, 0.7))));
  nd4c_value small = check_input(graph, "s", 4, (int64_t[]){1, 3, 6, 5});
  nd4c_value sum = check_binary(graph, ND4C_OP_add, conv_of(graph, x, 3, 1, true), small);
  CHECK_OK(nd4c_graph_output(graph, "b", sum));
  nd4c_value wide = check_constant(graph, 1, (int64_t[]){5}, 3, 0.5, 1.5);
  nd4c_value scaled = check_binary(graph, ND4C_OP_multiply, conv_of(graph, x, 3, 2, true), wide);
  CHECK_OK(nd4c_graph_output(graph, "c", scaled));
  /* The sigmoid of another value; the mean square of another one; a hard_sigmoid of another slope. */
  nd4c_value other = check_unary(graph, ND4C_OP_tanh, x), root;
  CHECK_OK(nd4c_graph_output(graph, "d", times(graph, x, check_unary(graph, ND4C_OP_sigmoid, other))));
  CHECK_OK(nd4c_graph_output(graph, "e", times(graph, x, check_unary(graph, ND4C_OP_hard_sigmoid, x))));
  nd4c_value square = check_unary(graph, ND4C_OP_square, other);
  root = check_binary(graph, ND4C_OP_add, mean_last(graph, square), check_scalar(graph, 1e-6));
  root = check_unary(graph, ND4C_OP_sqrt, root);
  CHECK_OK(nd4c_graph_output(graph, "f", check_binary(graph, ND4C_OP_divide, x, root)));
  nd4c_plan *plan = check_graph(graph, 7, 1e-5);
  assert_int_equal(check_changes(plan, "gelu"), 0);
  assert_int_equal(check_changes(plan, "fuse_addend"), 0);
  assert_int_equal(check_changes(plan, "fold_affine"), 0);
  assert_int_equal(check_changes(plan, "swish"), 0);
  assert_int_equal(check_changes(plan, "rms_norm"), 0);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void norms_take_no_factor_behind_their_bias(void **state) {
  (void)state;
  const int64_t shape[] = {4, 6};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape), y = check_unary(graph, ND4C_OP_layer_norm, x);
  y = check_binary(graph, ND4C_OP_add, y, check_constant(graph, 1, &shape[1], 1, 1, 2));
  CHECK_OK(nd4c_graph_output(graph, "y", times(graph, y, check_constant(graph, 1, &shape[1], 2, 2, 3))));
  nd4c_plan *plan = check_graph(graph, 3, 1e-5);
  assert_int_equal(check_changes(plan, "layer_norm"), 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void identities_vanish(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){3, 4});
  int64_t same[] = {3, 4}, order[] = {0, 1}, steps[] = {-1}, starts[] = {-1}, stops[] = {-100};
  nd4c_attr shape = check_ints("shape", same, 2), axes = check_ints("axes", order, 2);
  nd4c_attr backwards[] = {check_ints("starts", starts, 1), check_ints("stops", stops, 1),
                           check_ints("steps", steps, 1)};
  nd4c_value y = check_op(graph, ND4C_OP_reshape, &x, 1, &shape, 1);
  y = check_op(graph, ND4C_OP_transpose, &y, 1, &axes, 1);
  y = check_unary(graph, ND4C_OP_copy, y);
  y = check_unary(graph, ND4C_OP_negative, y);
  nd4c_value turned = check_op(graph, ND4C_OP_slice, &y, 1, backwards, 3);
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  CHECK_OK(nd4c_graph_output(graph, "turned", turned));
  CHECK_OK(nd4c_graph_output(graph, "x again", x));
  nd4c_plan *plan = check_graph(graph, 3, 0);
  assert_int_equal(check_changes(plan, "identity"), 3);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void constants_fold_and_the_unread_dies(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){3, 4});
  nd4c_value a = check_constant(graph, 1, (int64_t[]){4}, 1, 1, 2),
             b = check_constant(graph, 1, (int64_t[]){4}, 2, 1, 2);
  nd4c_value sum = check_unary(graph, ND4C_OP_sqrt, check_binary(graph, ND4C_OP_add, a, b));
  (void)check_unary(graph, ND4C_OP_exp, check_unary(graph, ND4C_OP_negative, x));
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_multiply, x, sum)));
  CHECK_OK(nd4c_graph_output(graph, "sum", sum));
  nd4c_plan *plan = check_graph(graph, 3, 1e-6);
  assert_int_equal(check_changes(plan, "fold_constants"), 2);
  assert_int_equal(plan->passes[0].before, 5);
  assert_int_equal(plan->passes[0].after, 3);
  assert_int_equal(plan->graph->node_count, 2); /* the product, and the copy of the constant into its output */
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void shuffles_and_reshapes_keep_their_meaning(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = image_input(graph);
  nd4c_value y = conv_of(graph, x, 6, 1, true);
  int64_t split[] = {2, 2, 3, 6, 5}, swap[] = {0, 2, 1, 3, 4}, join[] = {2, 6, 6, 5}, flat[] = {2, -1};
  nd4c_attr attrs[] = {check_ints("shape", split, 5), check_ints("axes", swap, 5), check_ints("shape", join, 4),
                       check_ints("shape", flat, 2)};
  y = check_op(graph, ND4C_OP_reshape, &y, 1, &attrs[0], 1);
  y = check_op(graph, ND4C_OP_transpose, &y, 1, &attrs[1], 1);
  y = check_op(graph, ND4C_OP_reshape, &y, 1, &attrs[2], 1);
  y = conv_of(graph, y, 4, 3, true);
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_reshape, &y, 1, &attrs[3], 1)));
  nd4c_plan_destroy(check_graph(graph, 5, 1e-5));
  nd4c_graph_destroy(graph);
}

/* A conv whose result is multiplied by, divided by, or increased by one number. */
static int32_t affine_changes(nd4c_op op, double number) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value y = conv_of(graph, image_input(graph), 4, 1, true);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, op, y, check_scalar(graph, number))));
  nd4c_plan *plan = check_graph(graph, 9, 1e-5);
  int32_t changes = check_changes(plan, "fold_affine");
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  return changes;
}

/* 0 * infinity is NaN, but a sum times infinity is not; products with 1e-38 are subnormal, sums of those with 3e38
 * infinite. */
static void numbers_that_do_not_distribute_are_not_folded(void **state) {
  (void)state;
  const double infinite = (double)INFINITY, none = (double)NAN;
  const struct {
    nd4c_op op;
    double number;
    int32_t changes;
  } rows[] = {{ND4C_OP_multiply, 2, 1},        {ND4C_OP_multiply, infinite, 0}, {ND4C_OP_multiply, 0, 0},
              {ND4C_OP_multiply, none, 0},     {ND4C_OP_multiply, 1e-38, 0},    {ND4C_OP_multiply, 3e38, 0},
              {ND4C_OP_divide, 0, 0},          {ND4C_OP_divide, infinite, 0},   {ND4C_OP_add, infinite, 0},
              {ND4C_OP_subtract, infinite, 0}, {ND4C_OP_add, none, 0},          {ND4C_OP_add, 0, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (affine_changes(rows[i].op, rows[i].number) != rows[i].changes) {
      fail_msg("row %d: folded %d times instead of %d", (int)i, 1 - rows[i].changes, rows[i].changes);
    }
  }
}

/* Large weights at a lent address are folded when they are packed: the same rule holds for their numbers. */
static void large_numbers_that_are_not_finite_are_not_folded(void **state) {
  (void)state;
  enum { OUT = 64, IN = 32, COUNT = OUT * IN * 9 };
  static float weights[COUNT];
  const double numbers[] = {0.5, (double)NAN, (double)INFINITY, 3e38};
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < COUNT; k++) {
      weights[k] = (float)(k % 7) - 3;
    }
    weights[COUNT / 2] = (float)numbers[i];
    nd4c_array *array = NULL;
    nd4c_graph *graph = NULL;
    nd4c_plan *plan = NULL;
    nd4c_value inputs[2];
    const int64_t shape[] = {OUT, IN, 3, 3};
    CHECK_OK(nd4c_graph_create(&graph));
    CHECK_OK(nd4c_array_wrap(ND4C_FLOAT32, 4, shape, NULL, weights, true, NULL, NULL, &array));
    inputs[0] = check_input(graph, "x", 4, (int64_t[]){1, IN, 6, 5});
    CHECK_OK(nd4c_graph_constant(graph, array, &inputs[1]));
    nd4c_value y = check_op(graph, ND4C_OP_conv, inputs, 2, NULL, 0);
    y = check_binary(graph, ND4C_OP_multiply, y, check_scalar(graph, 2));
    CHECK_OK(nd4c_graph_output(graph, "y", y));
    CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
    assert_int_equal(check_changes(plan, "fold_affine"), i == 0);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
    nd4c_array_release(array);
  }
}

/* An eager call would leave the product in the order of its transposed operand. */
static void folded_constants_lie_in_c_order(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value w = check_constant(graph, 2, (int64_t[]){5, 7}, 1, -1, 1);
  nd4c_value turned = check_unary(graph, ND4C_OP_transpose, w);
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){7, 5});
  nd4c_value doubled = check_binary(graph, ND4C_OP_add, turned, turned);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_multiply, x, doubled)));
  nd4c_plan *plan = check_graph(graph, 3, 0);
  assert_int_equal(check_changes(plan, "fold_constants"), 2);
  int32_t constants = 0;
  for (int32_t i = 0; i < plan->graph->nodes[0].input_count; i++) {
    const nd4c_array *constant = plan->graph->values[plan->graph->nodes[0].inputs[i]].constant;
    constants += constant != NULL;
    assert_true(constant == NULL || nd4c_array_is_contiguous(constant));
  }
  assert_int_equal(constants, 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* What fails with its constants fails in the run. A plan is made nevertheless: the node may never run. */
static void what_cannot_be_folded_stays(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  const int64_t beyond = 7;
  nd4c_array *index = NULL, *y = NULL;
  nd4c_value values[] = {ND4C_VALUE_NONE, ND4C_VALUE_NONE};
  CHECK_OK(nd4c_graph_create(&graph));
  values[0] = check_constant(graph, 1, (int64_t[]){4}, 1, -1, 1);
  CHECK_OK(nd4c_array_from_data(ND4C_INT64, 0, NULL, &beyond, NULL, &index));
  CHECK_OK(nd4c_graph_constant(graph, index, &values[1]));
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_gather, values[0], values[1])));
  nd4c_plan *plan = NULL;
  nd4c_error_clear();
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_int_equal(nd4c_error_code(), ND4C_OK);
  assert_int_equal(check_changes(plan, "fold_constants"), 0);
  assert_int_equal(nd4c_plan_run(plan, NULL, 0, &y, 1), ND4C_INDEX);
  assert_null(y);
  nd4c_plan_destroy(plan);
  nd4c_array_release(index);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(patterns_fire_alone_only),
      cmocka_unit_test(look_alikes_are_left_alone),
      cmocka_unit_test(norms_take_no_factor_behind_their_bias),
      cmocka_unit_test(identities_vanish),
      cmocka_unit_test(constants_fold_and_the_unread_dies),
      cmocka_unit_test(shuffles_and_reshapes_keep_their_meaning),
      cmocka_unit_test(numbers_that_do_not_distribute_are_not_folded),
      cmocka_unit_test(large_numbers_that_are_not_finite_are_not_folded),
      cmocka_unit_test(folded_constants_lie_in_c_order),
      cmocka_unit_test(what_cannot_be_folded_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
