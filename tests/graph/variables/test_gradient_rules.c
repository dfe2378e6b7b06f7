/* nd4c_graph_gradient: the rules of functions, layers, norms, pools, attention and of ops that move elements, against
 * differences of a loss, and what they refuse. */
#include "gradient_check.h"

/* -- functions ----------------------------------------------------------------------------------------------------- */

static value by_functions(nd4c_graph *graph, value x, value w) {
  const value p = BINARY(matmul, x, w), ps[] = {p};
  const value exact = UNARY(gelu, p), near = OP(gelu, ps, ATTR_BOOL("approximate", 1));
  const value slow = OP(swish, ps, ATTR_FLOAT("alpha", 0.7)), soft = OP(softplus, ps, ATTR_FLOAT("beta", 1.3));
  const value leaky = OP(leaky_relu, ps, ATTR_FLOAT("alpha", 0.2)), length = UNARY(abs, p);
  const value first = BINARY(add, BINARY(multiply, exact, near), BINARY(multiply, slow, UNARY(erf, p)));
  const value second = BINARY(multiply, BINARY(add, leaky, length), UNARY(reciprocal, soft));
  return mean_of(graph, BINARY(add, first, second));
}

/* Each function where it has a slope. Their sum would hide a term of 0, so they are multiplied by pairs. */
static value by_logarithms(nd4c_graph *graph, value x, value w) {
  const value p = BINARY(matmul, x, w), q = UNARY(cos, p), two = numbers(graph, 1, (double[]){2});
  const value above = BINARY(add, UNARY(square, p), two), near = UNARY(log1p, UNARY(square, q));
  const value logarithms = BINARY(multiply, UNARY(log2, above), UNARY(log10, above));
  const value powers = BINARY(multiply, UNARY(exp2, p), UNARY(expm1, q));
  const value pairs = BINARY(multiply, BINARY(logaddexp, p, q), BINARY(hypot, q, above));
  const value quotients = BINARY(true_divide, BINARY(true_divide, q, above), two);
  const value first = BINARY(add, BINARY(multiply, near, logarithms), BINARY(multiply, powers, UNARY(cbrt, above)));
  return mean_of(graph, BINARY(add, first, BINARY(multiply, pairs, quotients)));
}

static value by_angles(nd4c_graph *graph, value x, value w) {
  const value p = BINARY(matmul, x, w), q = UNARY(cos, p), one = numbers(graph, 1, (double[]){1.25});
  const value inside = BINARY(divide, q, one), above = BINARY(add, UNARY(square, p), one);
  const value angles = BINARY(multiply, UNARY(asin, inside), UNARY(acos, inside));
  const value areas = BINARY(multiply, UNARY(asinh, p), BINARY(multiply, UNARY(acosh, above), UNARY(atanh, inside)));
  const value curves = BINARY(multiply, UNARY(sinh, q), UNARY(cosh, p));
  const value turns = BINARY(multiply, UNARY(tan, q), BINARY(multiply, UNARY(atan, p), BINARY(atan2, p, q)));
  return mean_of(graph, BINARY(add, BINARY(multiply, angles, areas), BINARY(multiply, curves, turns)));
}

static value by_choices(nd4c_graph *graph, value x, value w) {
  const value p = BINARY(matmul, x, w), q = UNARY(cos, p);
  const value bounds[] = {numbers(graph, 1, (double[]){-0.2}), numbers(graph, 1, (double[]){0.3})};
  const value inside = check_op(graph, ND4C_OP_clip, (value[]){p, bounds[0], bounds[1]}, 3, NULL, 0);
  const value above = check_op(graph, ND4C_OP_clip, (value[]){p, bounds[0]}, 2, NULL, 0);
  const value raised = BINARY(power, BINARY(add, UNARY(square, p), bounds[1]), q);
  const value sides = BINARY(multiply, BINARY(maximum, p, q), BINARY(minimum, p, q));
  const value zero = BINARY(multiply, p, numbers(graph, 1, (double[]){0})); /* 0^0 and 0^b have the slope 0 */
  const value above_one = BINARY(add, UNARY(exp, p), numbers(graph, 1, (double[]){1}));
  const value flat = BINARY(add, BINARY(power, zero, zero), BINARY(power, zero, above_one));
  const value all = BINARY(add, BINARY(multiply, inside, above), BINARY(add, raised, sides));
  return mean_of(graph, BINARY(add, all, BINARY(multiply, flat, p)));
}

static value by_extremes(nd4c_graph *graph, value x, value w) {
  const value p = BINARY(matmul, x, w), ps[] = {p};
  const value rows = OP(max, ps, INTS("axes", -1), ATTR_BOOL("keepdims", 1));
  const value columns = OP(min, ps, INTS("axes", 0));
  const value image = SHAPED(many(graph, x, w), 2, 3, 2, 2);
  const value pools = BINARY(multiply, UNARY(global_max_pool, image), UNARY(global_average_pool, image));
  return BINARY(add, weigh(graph, BINARY(multiply, rows, columns)),
                BINARY(add, weigh(graph, pools), BINARY(multiply, UNARY(max, p), UNARY(min, p))));
}

/* -- products ------------------------------------------------------------------------------------------------------ */

static value by_vectors(nd4c_graph *graph, value x, value w) {
  const value row = ints_op(graph, ND4C_OP_mean, x, "axes", (int64_t[]){0}, 1);    /* [3] */
  const value column = ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){0}, 1); /* [4] */
  const value stack = SHAPED(many(graph, x, w), 2, 3, 4);
  const value left = BINARY(matmul, row, stack), right = BINARY(matmul, stack, column); /* [2, 4], [2, 3] */
  return BINARY(add, weigh(graph, left), BINARY(add, weigh(graph, right), BINARY(matmul, row, row)));
}

static value by_linear(nd4c_graph *graph, value x, value w) {
  const value bias = ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){0}, 1);
  const value turned = ints_op(graph, ND4C_OP_transpose, w, "axes", (int64_t[]){1, 0}, 2);
  const value stack = SHAPED(x, 1, 2, 3);
  const value plain = check_op(graph, ND4C_OP_linear, (value[]){stack, w, bias, BINARY(matmul, x, w)}, 4, NULL, 0);
  const nd4c_attr attrs[] = {ATTR_BOOL("transpose_w", 1), check_int("activation", ND4C_ACTIVATION_TANH)};
  const value other = check_op(graph, ND4C_OP_linear, (value[]){x, turned}, 2, attrs, 2);
  const nd4c_attr relu = check_int("activation", ND4C_ACTIVATION_RELU);
  const value third = check_op(graph, ND4C_OP_linear, (value[]){x, w, bias}, 3, &relu, 1);
  return BINARY(add, weigh(graph, plain), weigh(graph, BINARY(multiply, other, third)));
}

/* -- convolutions and pools ---------------------------------------------------------------------------------------- */

/* One spatial axis, with strides, dilations, pads and a cell that no window reaches. */
static value by_conv(nd4c_graph *graph, value x, value w) {
  const value image = SHAPED(many(graph, x, w), 2, 2, 6), weights = SHAPED(w, 3, 2, 2);
  const value bias = ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){1}, 1);
  const value inputs[] = {image, weights, bias};
  const value strided = OP(conv, inputs, INTS("strides", 2), INTS("pads", 1, 0));
  const value wide = OP(conv, inputs, INTS("dilations", 2), INTS("strides", 3), INTS("pads", 0, 2),
                        check_int("activation", ND4C_ACTIVATION_SIGMOID));
  const value same = OP(conv, inputs, INTS("strides", 4), check_int("auto_pad", ND4C_AUTO_PAD_SAME_UPPER));
  const value lower = OP(conv, inputs, check_int("auto_pad", ND4C_AUTO_PAD_SAME_LOWER));
  return BINARY(add, BINARY(add, weigh(graph, strided), weigh(graph, wide)),
                BINARY(add, weigh(graph, same), weigh(graph, lower)));
}

/* Two spatial axes, in two groups; and each channel by itself. */
static value by_groups(nd4c_graph *graph, value x, value w) {
  const value image = SHAPED(many(graph, x, w), 1, 4, 3, 2), half = SHAPED(many(graph, x, w), 2, 2, 2, 3);
  const value addend = SHAPED(BINARY(matmul, x, w), 1, 2, 2, 2);
  const value grouped[] = {image, SHAPED(w, 2, 2, 3, 1)}, apart[] = {half, SHAPED(w, 2, 1, 2, 3)};
  const value added[] = {image, SHAPED(w, 2, 2, 3, 1), ND4C_VALUE_NONE, addend};
  const value first = OP(conv, grouped, check_int("groups", 2), INTS("pads", 1, 0, 1, 1));
  const value second = OP(conv, apart, check_int("groups", 2), INTS("pads", 1, 1, 0, 0), INTS("strides", 2, 1));
  const value third = OP(conv, added, check_int("groups", 2), INTS("pads", 0, 0, 1, 0));
  return BINARY(add, weigh(graph, first), BINARY(add, weigh(graph, second), weigh(graph, third)));
}

static value by_transposed_conv(nd4c_graph *graph, value x, value w) {
  const value image = SHAPED(many(graph, x, w), 2, 3, 4),
              bias = ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){0}, 1);
  const value grouped = SHAPED(many(graph, x, w), 1, 4, 2, 3);
  const value full_inputs[] = {image, SHAPED(w, 3, 4, 1), bias}, strided_inputs[] = {image, SHAPED(w, 3, 2, 2)};
  const value grouped_inputs[] = {grouped, SHAPED(w, 4, 1, 3, 1)};
  const value first = OP(conv_transpose, full_inputs, INTS("strides", 1));
  const value second = OP(conv_transpose, strided_inputs, INTS("strides", 3), INTS("pads", 1, 0),
                          INTS("output_padding", 2), INTS("dilations", 2));
  const value third = OP(conv_transpose, grouped_inputs, check_int("groups", 2), INTS("strides", 2, 1));
  return BINARY(add, weigh(graph, first), BINARY(add, weigh(graph, second), weigh(graph, third)));
}

static value by_pools(nd4c_graph *graph, value x, value w) {
  const value images[] = {SHAPED(many(graph, x, w), 1, 2, 4, 3)}, rows[] = {SHAPED(many(graph, x, w), 2, 2, 6)};
  const value largest = OP(max_pool, images, INTS("kernel", 2, 2), INTS("strides", 2, 1), INTS("pads", 1, 0, 0, 1));
  const value far = OP(max_pool, rows, INTS("kernel", 2), INTS("dilations", 3), INTS("strides", 2));
  const value mean = OP(average_pool, images, INTS("kernel", 2, 2), INTS("strides", 1, 2), INTS("pads", 1, 1, 0, 0));
  const value all = OP(average_pool, images, INTS("kernel", 3, 2), INTS("pads", 1, 1, 1, 1), INTS("strides", 2, 2),
                       ATTR_BOOL("count_include_pad", 1), ATTR_BOOL("ceil_mode", 1));
  const value same =
      OP(average_pool, rows, INTS("kernel", 3), INTS("strides", 4), check_int("auto_pad", ND4C_AUTO_PAD_SAME_LOWER));
  return BINARY(add, BINARY(add, weigh(graph, largest), weigh(graph, far)),
                BINARY(add, weigh(graph, mean), BINARY(add, weigh(graph, all), weigh(graph, same))));
}

/* -- norms --------------------------------------------------------------------------------------------------------- */

static value by_row_norms(nd4c_graph *graph, value x, value w) {
  const value stack = SHAPED(many(graph, x, w), 2, 3, 4),
              bias = ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){0}, 1);
  const value both[] = {stack, w, bias}, scaled[] = {stack, bias}, alone[] = {stack};
  const value first = OP(layer_norm, both, check_int("axis", 1), ATTR_FLOAT("epsilon", 0.01));
  const value second = OP(layer_norm, scaled, check_int("axis", -1));
  const value third = OP(rms_norm, scaled, ATTR_FLOAT("epsilon", 0.1));
  const value fourth = OP(rms_norm, alone, check_int("axis", 1));
  return BINARY(add, BINARY(add, weigh(graph, first), weigh(graph, second)),
                BINARY(add, weigh(graph, third), weigh(graph, fourth)));
}

static value by_channel_norms(nd4c_graph *graph, value x, value w) {
  const value image = SHAPED(many(graph, x, w), 2, 4, 3),
              line = ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){0}, 1);
  const value scale = UNARY(cos, line), spread = UNARY(exp, line);
  const value given[] = {image, scale, line, UNARY(sin, line), spread}, own[] = {image, scale, line}, alone[] = {image};
  nd4c_value trained[3];
  const value fixed = OP(batch_norm, given, ATTR_FLOAT("epsilon", 0.01));
  const value groups = OP(group_norm, own, check_int("groups", 2), ATTR_FLOAT("epsilon", 0.01));
  const value plain = OP(group_norm, alone, check_int("groups", 4));
  const value planes = OP(instance_norm, own, ATTR_FLOAT("epsilon", 0.01));
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_batch_norm_training, given, 5, NULL, 0, NULL, trained, 3));
  return BINARY(add, BINARY(add, weigh(graph, fixed), weigh(graph, trained[0])),
                BINARY(add, weigh(graph, groups), BINARY(add, weigh(graph, plain), weigh(graph, planes))));
}

/* -- attention ----------------------------------------------------------------------------------------------------- */

static value by_attention(nd4c_graph *graph, value x, value w) {
  const value all = many(graph, x, w), q = SHAPED(all, 1, 4, 3, 2), k = SHAPED(UNARY(sin, w), 1, 2, 3, 2),
              v = SHAPED(UNARY(cos, w), 1, 2, 3, 2);
  const value mask = SHAPED(ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){1}, 1), 1, 3);
  const double on[] = {1, 0, 0, 1, 0, 1, 0, 0, 0}; /* a query without keys */
  const value some = SHAPED(BINARY(greater, numbers(graph, 9, on), check_scalar(graph, 0)), 3, 3);
  const value plain[] = {q, k, v}, biased[] = {q, k, v, mask}, masked[] = {q, k, v, some};
  const value packed[] = {SHAPED(all, 2, 2, 6), SHAPED(UNARY(sin, w), 2, 2, 3), SHAPED(UNARY(cos, w), 2, 2, 3)};
  const value first = OP(attention, plain, ATTR_BOOL("is_causal", 1), ATTR_FLOAT("scale", 0.7));
  const value second = OP(attention, biased, ATTR_FLOAT("softcap", 0.5));
  const value third = OP(attention, masked, ATTR_BOOL("is_causal", 1));
  const value fourth = OP(attention, packed, check_int("q_heads", 2), check_int("kv_heads", 1));
  /* the first query's one key has the lowest score of all */
  const value lowest[] = {q, k, v, SHAPED(numbers(graph, 3, (double[]){-3.4e38, 0, 0.5}), 1, 3)};
  const value fifth = OP(attention, lowest, ATTR_BOOL("is_causal", 1));
  const value sums = BINARY(add, weigh(graph, third), BINARY(add, weigh(graph, fourth), weigh(graph, fifth)));
  return BINARY(add, BINARY(add, weigh(graph, first), weigh(graph, second)), sums);
}

/* -- moving elements ----------------------------------------------------------------------------------------------- */

static value by_parts(nd4c_graph *graph, value x, value w) {
  const value p = BINARY(matmul, x, w), all = many(graph, x, w), parts[] = {p, w, UNARY(sin, p)}, alls[] = {all};
  const value joined = OP(concat, parts, check_int("axis", -2)); /* [7, 4] */
  const value middle = OP(slice, alls, INTS("starts", 1, -3), INTS("stops", 4, INT64_MAX));
  const value steps =
      OP(slice, alls, INTS("starts", 5, 1), INTS("stops", INT64_MIN, 4), INTS("steps", -2, 2), INTS("axes", 0, 1));
  const value padded = OP(pad, alls, INTS("pads", 1, -1, 0, 2));
  const value one = OP(pad, alls, INTS("pads", 2, 1), INTS("axes", 1));
  return BINARY(add, BINARY(add, weigh(graph, joined), weigh(graph, middle)),
                BINARY(add, weigh(graph, steps), BINARY(add, weigh(graph, padded), weigh(graph, one))));
}

static value by_picks(nd4c_graph *graph, value x, value w) {
  const int64_t two[] = {2, 2}, pairs[] = {2, 3};
  const value all = many(graph, x, w), some = whole(graph, 2, two, (int64_t[]){0, -1, 3, 0});
  const value gathered[] = {all, some}, looked[] = {w, whole(graph, 2, two, (int64_t[]){2, 0, 1, 2})};
  const value spots[] = {w, whole(graph, 2, pairs, (int64_t[]){0, 2, 1, 1, -1, 0})};
  const value cells[] = {w, whole(graph, 2, two, (int64_t[]){2, 3, 2, 3})};
  const value columns = OP(gather, gathered, check_int("axis", 1));
  const value rows = check_op(graph, ND4C_OP_embedding_lookup, looked, 2, NULL, 0);
  const value elements = OP(gather_elements, spots, check_int("axis", 0));
  const value positions = check_op(graph, ND4C_OP_gather_nd, cells, 2, NULL, 0);
  return BINARY(add, BINARY(add, weigh(graph, columns), weigh(graph, rows)),
                BINARY(add, weigh(graph, elements), weigh(graph, positions)));
}

static void rules_agree_with_differences(void **unused) {
  static const struct {
    const char *what;
    make_loss make;
  } rows[] = {
      {"functions", by_functions},
      {"logarithms", by_logarithms},
      {"angles", by_angles},
      {"choices", by_choices},
      {"extremes", by_extremes},
      {"vectors", by_vectors},
      {"linear", by_linear},
      {"conv", by_conv},
      {"groups", by_groups},
      {"conv_transpose", by_transposed_conv},
      {"pools", by_pools},
      {"row norms", by_row_norms},
      {"channel norms", by_channel_norms},
      {"attention", by_attention},
      {"parts", by_parts},
      {"picks", by_picks},
  };
  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_rule(rows[i].what, rows[i].make);
  }
}

/* -- dtypes of 16 bits --------------------------------------------------------------------------------------------- */

static value cast_to(nd4c_graph *graph, value x, nd4c_dtype dtype) {
  const nd4c_attr attr = {"dtype", {.kind = ND4C_ATTR_DTYPE, .as.i = dtype}};
  return check_op(graph, ND4C_OP_cast, &x, 1, &attr, 1);
}

typedef value (*make_half)(nd4c_graph *graph, value x);

static value half_rms(nd4c_graph *graph, value x) {
  const value xs[] = {x};
  return OP(rms_norm, xs, check_int("axis", -1));
}

static value half_groups(nd4c_graph *graph, value x) {
  const value xs[] = {SHAPED(x, 1, 2, 3)};
  return OP(group_norm, xs, check_int("groups", 2));
}

static value half_gelu(nd4c_graph *graph, value x) {
  const value xs[] = {x};
  return OP(gelu, xs, ATTR_BOOL("approximate", 1));
}

/* The first query's one key has a score that is no number of float16. */
static value half_attention(nd4c_graph *graph, value x) {
  const value tame = UNARY(sin, x), operand = SHAPED(tame, 1, 1, 2, 3);
  const value low = cast_to(graph, numbers(graph, 2, (double[]){-3.4e38, 0}), ND4C_FLOAT32);
  const value operands[] = {operand, operand, operand, SHAPED(low, 1, 2)};
  return OP(attention, operands, ATTR_BOOL("is_causal", 1));
}

/* The gradient of x, float32, where the op computes in a dtype. */
static void gradient_in(nd4c_dtype dtype, make_half make, float *dx) {
  const float at[X] = {1000, -500, 20, 300, 3, -900};
  nd4c_graph *graph = NULL;
  nd4c_array *x = NULL, *result = NULL;
  nd4c_value given = ND4C_VALUE_NONE, gradient = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT32, 2, x_shape, &given));
  const value y = cast_to(graph, make(graph, cast_to(graph, given, dtype)), ND4C_FLOAT32);
  const value weights = cast_to(graph, numbers(graph, X, (double[]){1, -2, 3, 0.5, 2, -1}), ND4C_FLOAT32);
  const value loss = UNARY(sum, BINARY(multiply, SHAPED(y, X), weights));
  CHECK_OK(nd4c_graph_gradient(graph, loss, &given, 1, &gradient));
  CHECK_OK(nd4c_graph_output(graph, "dx", gradient));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 2, x_shape, at, NULL, &x));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &result, 1));
  CHECK_OK(nd4c_array_read(result, dx, X * sizeof *dx));
  nd4c_array_release(x);
  nd4c_array_release(result);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void sixteen_bits_agree_with_float32(void **unused) {
  static const struct {
    const char *what;
    make_half make;
  } rows[] = {{"rms_norm", half_rms}, {"group_norm", half_groups}, {"gelu", half_gelu}, {"attention", half_attention}};
  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    float narrow[X], wide[X];
    double largest = 0;
    gradient_in(ND4C_FLOAT16, rows[i].make, narrow);
    gradient_in(ND4C_FLOAT32, rows[i].make, wide);
    for (int32_t k = 0; k < X; k++) {
      largest = fmax(largest, fabs((double)wide[k]));
    }
    assert_true(largest > 0);
    for (int32_t k = 0; k < X; k++) {
      if (!(fabs((double)narrow[k] - (double)wide[k]) <= 0.02 * largest)) {
        fail_msg("%s: element %d: %g in float16, %g in float32", rows[i].what, (int)k, narrow[k], wide[k]);
      }
    }
  }
}

/* -- dims ---------------------------------------------------------------------------------------------------------- */

/* The gradient of a small network on a batch of any size is that of a graph of numbers. */
static nd4c_graph *make_network(int64_t given, nd4c_value *x) {
  nd4c_graph *graph = NULL;
  nd4c_value gradient = ND4C_VALUE_NONE;
  int64_t batch = given;
  CHECK_OK(nd4c_graph_create(&graph));
  if (given < 0) {
    CHECK_OK(nd4c_graph_dim(graph, "batch", 1, -1, &batch));
  }
  const int64_t image[] = {batch, 2, 4, 4}, weights[] = {4, 1, 3, 3}, matrix[] = {4, 5}, list[] = {5};
  *x = check_input(graph, "x", 4, image);
  const value w = check_constant(graph, 4, weights, 1, -1, 1), m = check_constant(graph, 2, matrix, 2, -1, 1),
              scale = check_constant(graph, 1, list, 3, 0.5, 1);
  const value convs[] = {*x, w};
  const value made = OP(conv, convs, check_int("groups", 2), INTS("pads", 1, 1, 1, 1)), mades[] = {made};
  const value most = OP(max_pool, mades, INTS("kernel", 2, 2), INTS("strides", 2, 2)), mosts[] = {most};
  const value mean = OP(average_pool, mosts, INTS("kernel", 2, 2), INTS("strides", 1, 1));
  const value rows = ints_op(graph, ND4C_OP_squeeze, mean, "axes", (int64_t[]){2, 3}, 2);
  const value y = check_op(graph, ND4C_OP_linear, (value[]){rows, m}, 2, NULL, 0), norms[] = {y, scale};
  const value loss = weigh(graph, OP(layer_norm, norms, check_int("axis", -1)));
  CHECK_OK(nd4c_graph_gradient(graph, loss, (nd4c_value[]){w}, 1, &gradient));
  CHECK_OK(nd4c_graph_output(graph, "dw", gradient));
  return graph;
}

static void batches_may_be_dims(void **unused) {
  (void)unused;
  const int64_t image[] = {3, 2, 4, 4};
  nd4c_value x = ND4C_VALUE_NONE;
  nd4c_array *given = check_array(ND4C_FLOAT32, 4, image, 5, -1, 1), *results[2] = {NULL};
  for (int32_t i = 0; i < 2; i++) {
    nd4c_graph *graph = make_network(i == 0 ? 3 : -1, &x);
    nd4c_plan *plan = plan_of(graph, NULL, false);
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){given}, 1, &results[i], 1));
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
  assert_true(check_difference(results[0], results[1]) <= 1e-5);
  check_release(results, 2);
  nd4c_array_release(given);
}

/* A batch without elements passes through the rules that give arrays other shapes. */
static void batches_may_be_empty(void **unused) {
  const int64_t image[] = {0, 4, 6}, matrix[] = {6, 6}, kernel[] = {4, 2, 1};
  nd4c_graph *graph = NULL;
  nd4c_array *given = NULL, *result = NULL;
  nd4c_value gradients[2];
  (void)unused;
  CHECK_OK(nd4c_graph_create(&graph));
  const value x = check_input(graph, "x", 3, image), m = check_constant(graph, 2, matrix, 2, -1, 1),
              w = check_constant(graph, 3, kernel, 1, -1, 1);
  const value rows = check_op(graph, ND4C_OP_linear, (value[]){x, m}, 2, NULL, 0), alone[] = {rows};
  const value normal = OP(group_norm, alone, check_int("groups", 2)), operands[] = {normal, normal, normal};
  const value seen = OP(attention, operands, check_int("q_heads", 2), check_int("kv_heads", 2)), convs[] = {seen, w};
  const value made = OP(conv, convs, check_int("groups", 2)), mades[] = {made};
  const value pooled = OP(average_pool, mades, INTS("kernel", 2));
  CHECK_OK(nd4c_graph_gradient(graph, UNARY(sum, pooled), (nd4c_value[]){m, w}, 2, gradients));
  CHECK_OK(nd4c_graph_output(graph, "dm", gradients[0]));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  CHECK_OK(nd4c_array_full(ND4C_FLOAT32, 3, image, 0, NULL, &given));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){given}, 1, &result, 1));
  float dm[36] = {1};
  CHECK_OK(nd4c_array_read(result, dm, sizeof dm));
  for (int32_t i = 0; i < 36; i++) {
    assert_true(dm[i] == 0);
  }
  nd4c_array_release(given);
  nd4c_array_release(result);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* The largest of a row with a NaN is equal to none of its elements. */
static void rows_with_nan_give_nothing(void **unused) {
  const double at[X] = {1, NAN, 2, 5, 3, 4};
  const double expected[X] = {0, 0, 0, 1, 0, 0};
  nd4c_graph *graph = NULL;
  nd4c_array *x = NULL, *result = NULL;
  double dx[X];
  nd4c_value given = ND4C_VALUE_NONE, gradient = ND4C_VALUE_NONE;
  (void)unused;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT64, 2, x_shape, &given));
  const value loss = UNARY(sum, ints_op(graph, ND4C_OP_max, given, "axes", (int64_t[]){1}, 1));
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

typedef value (*make_value)(nd4c_graph *graph, value x, value w);

static value gelu_inside(nd4c_graph *graph, value x, value w) {
  const nd4c_attr gelu = check_int("activation", ND4C_ACTIVATION_GELU);
  return check_op(graph, ND4C_OP_linear, (value[]){x, w}, 2, &gelu, 1);
}

static value padded_with_means(nd4c_graph *graph, value x, value w) {
  const value operands[] = {x, UNARY(mean, w)};
  return OP(pad, operands, INTS("pads", 0, 1, 0, 1));
}

static value windowed(nd4c_graph *graph, value x, value w) {
  const value q = SHAPED(x, 1, 1, 3, 2), operands[] = {q, q, q};
  (void)w;
  return OP(attention, operands, check_int("left_window", 1));
}

static value padded_by_itself(nd4c_graph *graph, value x, value w) {
  const value operands[] = {SHAPED(x, 1, 2, 3), SHAPED(w, 2, 6, 1)};
  return OP(conv_transpose, operands, check_int("auto_pad", ND4C_AUTO_PAD_SAME_UPPER));
}

static value of_a_given_shape(nd4c_graph *graph, value x, value w) {
  const value operands[] = {SHAPED(x, 1, 2, 3), SHAPED(w, 2, 6, 1)};
  return OP(conv_transpose, operands, INTS("output_shape", 5), INTS("strides", 2));
}

static value bounded(nd4c_graph *graph, value x, value w) {
  return check_op(graph, ND4C_OP_clip, (value[]){numbers(graph, 1, (double[]){1}), UNARY(mean, x), UNARY(mean, w)}, 3,
                  NULL, 0);
}

static void what_no_rule_covers_is_refused(void **unused) {
  static const struct {
    make_value make;
    const char *text;
  } rows[] = {
      {gelu_inside, "nd4c_graph_gradient: linear: its activation has no gradient"},
      {padded_with_means, "nd4c_graph_gradient: pad: the value of pads has no gradient"},
      {windowed, "nd4c_graph_gradient: attention: attention with windows has no gradient"},
      {padded_by_itself, "nd4c_graph_gradient: conv_transpose: the gradient needs explicit pads, without output_shape"},
      {of_a_given_shape, "nd4c_graph_gradient: conv_transpose: the gradient needs explicit pads, without output_shape"},
      {bounded, "nd4c_graph_gradient: clip: a bound has no gradient"},
  };
  (void)unused;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd4c_graph *graph = NULL;
    nd4c_value values[2], gradients[2];
    CHECK_OK(nd4c_graph_create(&graph));
    CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT64, 2, x_shape, &values[0]));
    CHECK_OK(nd4c_graph_input(graph, "w", ND4C_FLOAT64, 2, w_shape, &values[1]));
    const value loss = mean_of(graph, rows[i].make(graph, values[0], values[1]));
    const int32_t nodes = nd4c_graph_node_count(graph);
    assert_int_equal(nd4c_graph_gradient(graph, loss, values, 2, gradients), ND4C_UNSUPPORTED);
    if (strncmp(nd4c_error_message(), rows[i].text, strlen(rows[i].text)) != 0) {
      fail_msg("the text is \"%s\", expected \"%s\"", nd4c_error_message(), rows[i].text);
    }
    assert_int_equal(nd4c_graph_node_count(graph), nodes);
    nd4c_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rules_agree_with_differences), cmocka_unit_test(sixteen_bits_agree_with_float32),
      cmocka_unit_test(batches_may_be_dims),          cmocka_unit_test(batches_may_be_empty),
      cmocka_unit_test(rows_with_nan_give_nothing),   cmocka_unit_test(what_no_rule_covers_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
