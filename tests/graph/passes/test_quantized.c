/* The passes hoist_quantize, quantized_conv, quantized_linear, quantized_add and dynamic_quantization: each pattern
 * becomes the op on bytes, and its result is at most one step from that of the single ops. */
#include "graph/graph_check.h"

/* -- building ------------------------------------------------------------------------------------------------------ */

static nd4c_value integers(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape, uint64_t seed,
                           int32_t low, int32_t high) {
  nd4c_array *array = NULL;
  nd4c_value value = ND4C_VALUE_NONE;
  void *data = NULL;
  uint64_t state = seed * 2654435761u + 88172645463325252u;
  CHECK_OK(nd4c_array_empty(dtype, rank, shape, NULL, &array));
  CHECK_OK(nd4c_array_data_mutable(array, &data));
  for (int64_t i = 0; i < nd4c_array_size(array); i++) {
    int32_t number = low + (int32_t)(check_random(&state) % (uint64_t)(high - low + 1));
    if (dtype == ND4C_INT32) {
      ((int32_t *)data)[i] = number;
    } else {
      ((uint8_t *)data)[i] = (uint8_t)number;
    }
  }
  CHECK_OK(nd4c_graph_constant(graph, array, &value));
  nd4c_array_release(array);
  return value;
}

static nd4c_value number(nd4c_graph *graph, nd4c_dtype dtype, int32_t value) {
  return integers(graph, dtype, 0, NULL, 1, value, value);
}

/* One scale and one zero point. */
typedef struct affine {
  nd4c_dtype dtype;
  double scale;
  int32_t zero;
} affine;

static nd4c_value quantize(nd4c_graph *graph, nd4c_value x, affine to) {
  const nd4c_value inputs[] = {x, check_scalar(graph, to.scale), number(graph, to.dtype, to.zero)};
  return check_op(graph, ND4C_OP_quantize_linear, inputs, 3, NULL, 0);
}

static nd4c_value dequantize(nd4c_graph *graph, nd4c_value x, affine from) {
  const nd4c_value inputs[] = {x, check_scalar(graph, from.scale), number(graph, from.dtype, from.zero)};
  return check_op(graph, ND4C_OP_dequantize_linear, inputs, 3, NULL, 0);
}

static nd4c_value both(nd4c_graph *graph, nd4c_value x, affine of) {
  return dequantize(graph, quantize(graph, x, of), of);
}

/* Constant weights with scales for each index of `axis`, -1: one scale. */
static nd4c_value weights(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape, int32_t axis,
                          int32_t zero) {
  const int64_t count = axis < 0 ? 1 : shape[axis];
  const int32_t low = dtype == ND4C_INT8 ? -128 : 0;
  const nd4c_value inputs[] = {
      integers(graph, dtype, rank, shape, 11, low, low + 255),
      axis < 0 ? check_scalar(graph, 0.0123) : check_constant(graph, 1, &count, 12, 0.005, 0.03),
      integers(graph, dtype, axis < 0 ? 0 : 1, &count, 13, zero, zero)};
  const nd4c_attr attr = check_int("axis", axis < 0 ? 1 : axis);
  return check_op(graph, ND4C_OP_dequantize_linear, inputs, 3, &attr, 1);
}

/* -- checking ------------------------------------------------------------------------------------------------------ */

static int32_t changes_of(const nd4c_plan *plan, const char *pass) {
  for (int32_t i = 0; i < plan->pass_count; i++) {
    if (strcmp(plan->passes[i].name, pass) == 0) {
      return plan->passes[i].changes;
    }
  }
  fail_msg("there is no pass %s", pass);
  return -1;
}

static void run_plan(const nd4c_graph *graph, bool plain, nd4c_array *const *inputs, nd4c_plan **plan,
                     nd4c_array **outputs) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = plain};
  const nd4c_array *given[CHECK_PORTS];
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    given[i] = inputs[i];
  }
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, plan));
  CHECK_OK(nd4c_plan_run(*plan, given, graph->inputs.count, outputs, graph->outputs.count));
}

/* What two results of bytes have in common. */
typedef struct comparison {
  int64_t size, different, lowest, highest; /* elements; those at the ends of the range */
  int32_t worst;                            /* difference, in steps */
} comparison;

static comparison compare(const nd4c_array *a, const nd4c_array *b) {
  comparison found = {.size = nd4c_array_size(a)};
  uint8_t *left = malloc((size_t)found.size), *right = malloc((size_t)found.size);
  const bool is_signed = nd4c_array_dtype(a) == ND4C_INT8;
  assert_int_equal(nd4c_array_dtype(a), nd4c_array_dtype(b));
  CHECK_OK(nd4c_array_read(a, left, (size_t)found.size));
  CHECK_OK(nd4c_array_read(b, right, (size_t)found.size));
  for (int64_t i = 0; i < found.size; i++) {
    int32_t x = is_signed ? (int8_t)left[i] + 128 : left[i], y = is_signed ? (int8_t)right[i] + 128 : right[i];
    found.different += x != y;
    found.lowest += y == 0;
    found.highest += y == 255;
    found.worst = abs(x - y) > found.worst ? abs(x - y) : found.worst;
  }
  free(left);
  free(right);
  return found;
}

/* Inputs of 1.5 times the range of what they are quantised to, so that both ends saturate, with a NaN and infinities.
 */
static void make_inputs(const nd4c_graph *graph, nd4c_array **inputs, bool odd_numbers) {
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    const nd4c_graph_value *value = &graph->values[graph->inputs.items[i].value];
    inputs[i] = check_array(ND4C_FLOAT32, value->rank, value->shape, 5 + (uint64_t)i, -3, 3);
    void *data = NULL;
    CHECK_OK(nd4c_array_data_mutable(inputs[i], &data));
    const float odd[] = {NAN, INFINITY, -INFINITY, 0.0F, -0.0F};
    for (size_t k = 0; odd_numbers && k < sizeof odd / sizeof *odd; k++) {
      ((float *)data)[7 * k] = odd[k];
    }
  }
}

/* Results of the optimised plan and of the single ops differ by at most `steps`, in few places. */
static nd4c_plan *check_steps(const nd4c_graph *graph, const char *name, int32_t steps, comparison *found) {
  nd4c_array *inputs[CHECK_PORTS] = {NULL}, *expected[CHECK_PORTS] = {NULL}, *actual[CHECK_PORTS] = {NULL};
  nd4c_plan *plain = NULL, *plan = NULL;
  make_inputs(graph, inputs, true);
  run_plan(graph, true, inputs, &plain, expected);
  run_plan(graph, false, inputs, &plan, actual);
  *found = compare(expected[0], actual[0]);
  if (found->worst > steps || found->different * 20 > found->size) {
    char *report = NULL;
    CHECK_OK(nd4c_plan_report(plan, &report));
    print_error("%s", report);
    fail_msg("%s: %lld of %lld elements differ, by up to %d steps", name, (long long)found->different,
             (long long)found->size, found->worst);
  }
  check_release(inputs, graph->inputs.count);
  check_release(expected, graph->outputs.count);
  check_release(actual, graph->outputs.count);
  nd4c_plan_destroy(plain);
  return plan;
}

/* -- convolutions -------------------------------------------------------------------------------------------------- */

typedef enum bias_kind { NO_BIAS, FLOAT_BIAS, INTEGER_BIAS } bias_kind;

typedef struct conv_row {
  const char *name;
  affine x, y;
  nd4c_dtype w_dtype;
  int32_t w_axis, w_zero;
  int64_t channels, outputs, groups, kernel, stride, dilation;
  int64_t pads[4];
  bias_kind bias;
  int32_t fires; /* changes of quantized_conv */
} conv_row;

#define U8(scale, zero) {ND4C_UINT8, scale, zero}
#define S8(scale, zero) {ND4C_INT8, scale, zero}

static const conv_row conv_rows[] = {
    {"plain", U8(0.01, 0), U8(0.02, 0), ND4C_INT8, -1, 0, 16, 32, 1, 1, 1, 1, {0}, NO_BIAS, 1},
    {"per channel", U8(0.011, 0), U8(0.017, 0), ND4C_INT8, 0, 0, 16, 24, 1, 3, 1, 1, {1, 1, 1, 1}, INTEGER_BIAS, 1},
    {"zero points", U8(0.02, 117), U8(0.07, 131), ND4C_INT8, 0, 0, 12, 20, 1, 3, 1, 1, {1, 1, 1, 1}, INTEGER_BIAS, 1},
    {"asymmetric padding", U8(0.02, 90), U8(0.07, 30), ND4C_INT8, 0, 0, 8, 16, 1, 3, 2, 1, {0, 1, 2, 0}, FLOAT_BIAS, 1},
    {"signed", S8(0.021, -7), S8(0.07, 3), ND4C_INT8, 0, 0, 16, 16, 1, 3, 1, 1, {1, 0, 0, 1}, INTEGER_BIAS, 1},
    {"signed to unsigned", S8(0.02, 0), U8(0.05, 128), ND4C_INT8, -1, 0, 16, 16, 1, 1, 2, 1, {0}, FLOAT_BIAS, 1},
    {"unsigned weights", U8(0.01, 128), U8(0.05, 128), ND4C_UINT8, 0, 128, 8, 16, 1, 3, 1, 1, {1, 1, 1, 1}, NO_BIAS, 1},
    {"depthwise", U8(0.02, 100), U8(0.05, 120), ND4C_INT8, 0, 0, 32, 32, 32, 3, 1, 1, {1, 1, 1, 1}, INTEGER_BIAS, 1},
    {"depthwise, stride", S8(0.02, 5), S8(0.05, 0), ND4C_INT8, -1, 0, 19, 19, 19, 3, 2, 1, {1, 1, 1, 1}, NO_BIAS, 1},
    {"groups", U8(0.02, 3), U8(0.05, 120), ND4C_INT8, 0, 0, 32, 64, 4, 3, 1, 1, {1, 1, 1, 1}, INTEGER_BIAS, 1},
    {"dilation", U8(0.02, 100), U8(0.05, 120), ND4C_INT8, 0, 0, 16, 16, 1, 3, 1, 2, {2, 2, 2, 2}, FLOAT_BIAS, 1},
    {"odd channels", U8(0.02, 100), U8(0.05, 120), ND4C_INT8, 0, 0, 7, 13, 1, 3, 1, 1, {1, 1, 1, 1}, FLOAT_BIAS, 1},
    {"weights with a zero point", U8(0.02, 9), U8(0.05, 1), ND4C_INT8, 0, 5, 8, 8, 1, 3, 1, 1, {0}, NO_BIAS, 0},
    {"a bias finer than its steps", U8(2, 128), U8(0.05, 128), ND4C_INT8, 0, 0, 8, 16, 1, 3, 1, 1, {0}, FLOAT_BIAS, 0},
    {"unsigned, another zero point", U8(0.02, 9), U8(0.05, 1), ND4C_UINT8, 0, 127, 8, 8, 1, 3, 1, 1, {0}, NO_BIAS, 0},
};

static nd4c_value conv_of(nd4c_graph *graph, nd4c_value x, const conv_row *row) {
  const int64_t shape[] = {row->outputs, row->channels / row->groups, row->kernel, row->kernel};
  const int64_t strides[] = {row->stride, row->stride}, dilations[] = {row->dilation, row->dilation};
  nd4c_value inputs[3] = {x, weights(graph, row->w_dtype, 4, shape, row->w_axis, row->w_zero), ND4C_VALUE_NONE};
  if (row->bias == FLOAT_BIAS) {
    inputs[2] = check_constant(graph, 1, &row->outputs, 14, -1, 1);
  } else if (row->bias == INTEGER_BIAS) {
    const nd4c_attr axis = check_int("axis", 0);
    nd4c_value parts[] = {integers(graph, ND4C_INT32, 1, &row->outputs, 15, -3000, 3000), check_scalar(graph, 2e-4)};
    inputs[2] = check_op(graph, ND4C_OP_dequantize_linear, parts, 2, &axis, 1);
  }
  const nd4c_attr attrs[] = {check_ints("strides", strides, 2), check_ints("dilations", dilations, 2),
                             check_ints("pads", row->pads, 4), check_int("groups", row->groups)};
  return check_op(graph, ND4C_OP_conv, inputs, row->bias == NO_BIAS ? 2 : 3, attrs, 4);
}

/* The weights are up to 1.5 and the fan-in up to 144, so results go beyond both ends of the bytes. */
static nd4c_graph *conv_graph(const conv_row *row) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, (int64_t[]){2, row->channels, 9, 8});
  nd4c_value y = quantize(graph, conv_of(graph, both(graph, x, row->x), row), row->y);
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  return graph;
}

/* Whether oneDNN multiplies bytes on this machine: then every pass fires. Elsewhere some do, where engine simd has a
 * kernel; results must be right in any case. */
static bool has_bytes(void) {
  comparison found;
  nd4c_graph *graph = conv_graph(&conv_rows[0]);
  nd4c_plan *plan = check_steps(graph, "probe", 1, &found);
  bool fires = changes_of(plan, "quantized_conv") == 1;
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  return fires;
}

static void convs_become_convs_of_bytes(void **state) {
  (void)state;
  bool fires = has_bytes();
  for (size_t i = 0; i < sizeof conv_rows / sizeof *conv_rows; i++) {
    const conv_row *row = &conv_rows[i];
    comparison found;
    nd4c_graph *graph = conv_graph(row);
    nd4c_plan *plan = check_steps(graph, row->name, 1, &found);
    if (changes_of(plan, "quantized_conv") != (fires ? row->fires : 0)) {
      fail_msg("%s: quantized_conv changed %d", row->name, changes_of(plan, "quantized_conv"));
    }
    assert_int_equal(check_has_step(plan, ND4C_OP_qlinear_conv), fires && row->fires);
    if (found.lowest == 0 || found.highest == 0) {
      fail_msg("%s: %lld elements at the low end, %lld at the high end", row->name, (long long)found.lowest,
               (long long)found.highest);
    }
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* A factor of one half and an odd zero point: sums that are odd lie in the middle, and go to even numbers before the
 * zero point is added. */
static void middles_go_to_even_numbers(void **state) {
  (void)state;
  bool fires = has_bytes();
  for (int32_t zero = 126; zero < 130; zero++) {
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    const affine step = {ND4C_UINT8, 1, 128}, two = {ND4C_UINT8, 2, zero};
    nd4c_value x = check_input(graph, "x", 4, (int64_t[]){1, 16, 9, 8});
    nd4c_value parts[] = {integers(graph, ND4C_INT8, 4, (int64_t[]){16, 1, 1, 1}, 3, 1, 3), check_scalar(graph, 1)};
    nd4c_value inputs[] = {both(graph, x, step), check_op(graph, ND4C_OP_dequantize_linear, parts, 2, NULL, 0)};
    const nd4c_attr groups = check_int("groups", 16);
    nd4c_value y = quantize(graph, check_op(graph, ND4C_OP_conv, inputs, 2, &groups, 1), two);
    CHECK_OK(nd4c_graph_output(graph, "y", y));
    comparison found;
    nd4c_plan *plan = check_steps(graph, "middles", 0, &found);
    assert_int_equal(changes_of(plan, "quantized_conv"), fires && zero % 2 == 0); /* the reference would compute it */
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* Ops of bytes as QLinearConv and ConvInteger give them: in a plan their weights are constants, which oneDNN takes;
 * eager calls have none, and the reference computes them. Both agree to the bit. */
static void ops_of_bytes_agree_with_the_reference(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof conv_rows / sizeof *conv_rows; i++) {
    const conv_row *row = &conv_rows[i];
    for (int32_t whole = 0; whole < 2; whole++) {
      const int64_t shape[] = {row->outputs, row->channels / row->groups, row->kernel, row->kernel};
      const int64_t strides[] = {row->stride, row->stride}, dilations[] = {row->dilation, row->dilation};
      const int64_t count = row->w_axis < 0 ? 1 : row->outputs;
      nd4c_graph *graph = NULL;
      CHECK_OK(nd4c_graph_create(&graph));
      nd4c_value x = quantize(graph, check_input(graph, "x", 4, (int64_t[]){2, row->channels, 9, 8}), row->x);
      nd4c_value w = integers(graph, row->w_dtype, 4, shape, 11, row->w_dtype == ND4C_INT8 ? -128 : 0, 127);
      nd4c_value w_zero = integers(graph, row->w_dtype, 1, &count, 13, row->w_zero, row->w_zero);
      const nd4c_attr attrs[] = {check_ints("strides", strides, 2), check_ints("dilations", dilations, 2),
                                 check_ints("pads", row->pads, 4), check_int("groups", row->groups)};
      nd4c_value sums[] = {x, w, number(graph, row->x.dtype, row->x.zero), w_zero};
      nd4c_value all[] = {x,
                          check_scalar(graph, row->x.scale),
                          number(graph, row->x.dtype, row->x.zero),
                          w,
                          check_constant(graph, 1, &count, 12, 0.005, 0.03),
                          w_zero,
                          check_scalar(graph, row->y.scale),
                          number(graph, row->y.dtype, row->y.zero),
                          integers(graph, ND4C_INT32, 1, &row->outputs, 15, -3000, 3000)};
      nd4c_value y = whole ? check_op(graph, ND4C_OP_qlinear_conv, all, 9, attrs, 4)
                           : check_op(graph, ND4C_OP_conv_integer, sums, 4, attrs, 4);
      CHECK_OK(nd4c_graph_output(graph, "y", y));
      nd4c_plan_destroy(check_graph(graph, 21, 0));
      nd4c_graph_destroy(graph);
    }
  }
}

/* -- bounds, views and pools --------------------------------------------------------------------------------------- */

static nd4c_value relu(nd4c_graph *graph, nd4c_value x) {
  return check_unary(graph, ND4C_OP_relu, x);
}

static nd4c_value relu6(nd4c_graph *graph, nd4c_value x) {
  const nd4c_value inputs[] = {x, check_scalar(graph, 0), check_scalar(graph, 6)};
  return check_op(graph, ND4C_OP_clip, inputs, 3, NULL, 0);
}

static nd4c_value pool(nd4c_graph *graph, nd4c_value x) {
  const int64_t kernel[] = {3, 3}, strides[] = {2, 2}, pads[] = {1, 1, 1, 1};
  const nd4c_attr attrs[] = {check_ints("kernel", kernel, 2), check_ints("strides", strides, 2),
                             check_ints("pads", pads, 4)};
  return check_op(graph, ND4C_OP_max_pool, &x, 1, attrs, 3);
}

static nd4c_value relu_pool(nd4c_graph *graph, nd4c_value x) {
  return pool(graph, relu(graph, x));
}

static nd4c_value turned(nd4c_graph *graph, nd4c_value x) {
  const int64_t axes[] = {0, 2, 3, 1}, shape[] = {2, -1};
  const nd4c_attr attr = check_ints("axes", axes, 4), flat = check_ints("shape", shape, 2);
  x = check_op(graph, ND4C_OP_transpose, &x, 1, &attr, 1);
  return check_op(graph, ND4C_OP_reshape, &x, 1, &flat, 1);
}

static nd4c_value doubled(nd4c_graph *graph, nd4c_value x) {
  const nd4c_attr attr = check_int("axis", 1);
  return check_op(graph, ND4C_OP_concat, (nd4c_value[]){x, x}, 2, &attr, 1);
}

/* With a value of another scale, or with booleans, which concat casts. */
static nd4c_value joined(nd4c_graph *graph, nd4c_value x) {
  const affine other = {ND4C_UINT8, 0.03, 99};
  const nd4c_attr attr = check_int("axis", 1);
  nd4c_value z = both(graph, check_input(graph, "z", 4, (int64_t[]){2, 5, 9, 8}), other);
  return check_op(graph, ND4C_OP_concat, (nd4c_value[]){x, z}, 2, &attr, 1);
}

static nd4c_value joined_flags(nd4c_graph *graph, nd4c_value x) {
  const nd4c_attr attr = check_int("axis", 1);
  nd4c_value z = integers(graph, ND4C_BOOL, 4, (int64_t[]){2, 5, 9, 8}, 3, 0, 1);
  return check_op(graph, ND4C_OP_concat, (nd4c_value[]){x, z}, 2, &attr, 1);
}

typedef struct between_row {
  const char *name;
  nd4c_value (*build)(nd4c_graph *graph, nd4c_value x); /* between conv and quantize_linear */
  affine y;
  int32_t convs; /* changes of quantized_conv */
  int32_t bounds;
} between_row;

static const between_row between_rows[] = {
    {"relu of the range", relu, U8(0.05, 0), 1, 0},
    {"relu", relu, U8(0.05, 7), 1, 1},
    {"signed relu", relu, S8(0.05, -128), 1, 0},
    {"relu6 of the range", relu6, U8(6.0 / 255, 0), 1, 0},
    {"relu6", relu6, S8(0.1, -20), 1, 2},
    {"relu6, only the high end", relu6, U8(0.05, 0), 1, 1},
    {"pool", pool, U8(0.05, 100), 1, 0},
    {"relu and pool", relu_pool, U8(0.05, 0), 1, 0},
    {"transpose and reshape", turned, U8(0.05, 90), 1, 0},
    {"concat", joined, U8(0.05, 90), 1, 0},
    {"concat with a cast", joined_flags, U8(0.05, 90), 0, 0},
    {"a value that is read twice", doubled, U8(0.05, 90), 0, 0},
};

static void quantising_moves_to_the_conv(void **state) {
  (void)state;
  bool fires = has_bytes();
  for (size_t i = 0; i < sizeof between_rows / sizeof *between_rows; i++) {
    const between_row *row = &between_rows[i];
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    nd4c_value x = check_input(graph, "x", 4, (int64_t[]){2, 16, 9, 8});
    nd4c_value y = row->build(graph, conv_of(graph, both(graph, x, conv_rows[1].x), &conv_rows[1]));
    CHECK_OK(nd4c_graph_output(graph, "y", quantize(graph, y, row->y)));
    comparison found;
    nd4c_plan *plan = check_steps(graph, row->name, 1, &found);
    if (changes_of(plan, "quantized_conv") != (fires ? row->convs : 0)) {
      fail_msg("%s: quantized_conv changed %d", row->name, changes_of(plan, "quantized_conv"));
    }
    int32_t bounds = check_has_step(plan, ND4C_OP_maximum) + check_has_step(plan, ND4C_OP_minimum);
    if (fires && bounds != row->bounds && plan->segment_count == 0) {
      fail_msg("%s: %d bounds of bytes", row->name, bounds);
    }
    assert_false(check_has_step(plan, ND4C_OP_relu) || check_has_step(plan, ND4C_OP_clip));
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* -- sums and products --------------------------------------------------------------------------------------------- */

static void add_build(nd4c_graph *graph, affine a, affine b, affine y, int32_t rank, const int64_t *shape) {
  nd4c_value x = check_input(graph, "x", 3, (int64_t[]){3, 17, 40});
  nd4c_value z = check_input(graph, "z", rank, shape);
  nd4c_value sum = check_binary(graph, ND4C_OP_add, both(graph, x, a), both(graph, z, b));
  CHECK_OK(nd4c_graph_output(graph, "y", quantize(graph, sum, y)));
}

static void sums_become_sums_of_bytes(void **state) {
  (void)state;
  const struct {
    affine a, b, y;
    int32_t rank;
    int64_t shape[3];
  } rows[] = {{U8(0.01, 3), U8(0.02, 200), U8(0.025, 128), 3, {3, 17, 40}},
              {S8(0.01, 3), U8(0.02, 100), U8(0.01, 77), 1, {40}},
              {S8(0.02, -30), S8(0.02, 12), S8(0.5, -1), 3, {3, 17, 40}},
              {U8(0.01, 0), S8(0.03, 0), S8(0.02, 0), 3, {3, 1, 40}},
              {U8(0.5, 128), U8(0.5, 128), U8(1, 127), 3, {3, 17, 40}}, /* middles */
              {U8(0.01, 0), U8(0.02, 0), U8(1e-6, 5), 3, {3, 17, 40}},  /* far beyond the range: in float64 */
              {U8(0.01, 0), U8(0.02, 0), U8(1e6, 5), 3, {3, 17, 40}}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd4c_graph *graph = NULL;
    comparison found;
    CHECK_OK(nd4c_graph_create(&graph));
    add_build(graph, rows[i].a, rows[i].b, rows[i].y, rows[i].rank, rows[i].shape);
    nd4c_plan *plan = check_steps(graph, "add", 1, &found);
    assert_int_equal(changes_of(plan, "quantized_add"), 1);
    assert_true(check_has_step(plan, ND4C_OP_qlinear_add));
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

typedef struct product_row {
  const char *name;
  affine x, y;
  nd4c_dtype w_dtype;
  int32_t w_axis, w_zero;
  bool linear, turned, bias;
  nd4c_op becomes;
} product_row;

static const product_row product_rows[] = {
    {"matmul", U8(0.02, 7), U8(0.3, 120), ND4C_INT8, -1, 0, false, false, false, ND4C_OP_qlinear_matmul},
    {"matmul per column", S8(0.02, 7), S8(0.3, 5), ND4C_INT8, 1, 0, false, false, false, ND4C_OP_qlinear_matmul},
    {"matmul, even scales", U8(0.5, 7), U8(16, 121), ND4C_INT8, -1, 3, false, false, false, ND4C_OP_qlinear_matmul},
    {"unsigned weights", U8(0.02, 7), U8(0.3, 5), ND4C_UINT8, 1, 130, false, false, false, ND4C_OP_qlinear_matmul},
    {"linear", U8(0.02, 7), U8(0.3, 120), ND4C_INT8, 1, 0, true, false, true, ND4C_OP_linear_int8},
    {"linear turned", S8(0.02, 7), U8(0.3, 120), ND4C_INT8, 0, 3, true, true, true, ND4C_OP_linear_int8},
    {"scales of rows", U8(0.02, 7), U8(0.3, 120), ND4C_INT8, 0, 0, false, false, false, ND4C_OP_matmul},
    {"scales of the summed axis", U8(0.02, 7), U8(0.3, 120), ND4C_INT8, 1, 0, true, true, false, ND4C_OP_linear},
    {"linear without bias", U8(0.02, 7), S8(0.3, 1), ND4C_INT8, -1, 0, true, true, false, ND4C_OP_linear_int8},
};

static nd4c_graph *product_graph(const product_row *row) {
  /* Scales of the wrong axis must not be taken for the right ones: the matrix is square then. */
  const int64_t columns = row->w_axis == (row->turned ? 1 : 0) ? 70 : 33;
  const int64_t shape[] = {row->turned ? columns : 70, row->turned ? 70 : columns};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 3, (int64_t[]){2, 19, 70});
  nd4c_value inputs[3] = {both(graph, x, row->x), weights(graph, row->w_dtype, 2, shape, row->w_axis, row->w_zero)};
  nd4c_value y;
  if (row->linear) {
    const nd4c_attr attr = {.name = "transpose_w", .value = {.kind = ND4C_ATTR_BOOL, .as.i = row->turned}};
    inputs[2] = row->bias ? check_constant(graph, 1, &columns, 14, -1, 1) : ND4C_VALUE_NONE;
    y = check_op(graph, ND4C_OP_linear, inputs, row->bias ? 3 : 2, &attr, 1);
  } else {
    y = check_op(graph, ND4C_OP_matmul, inputs, 2, NULL, 0);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", quantize(graph, y, row->y)));
  return graph;
}

static void products_become_products_of_bytes(void **state) {
  (void)state;
  bool fires = has_bytes();
  for (size_t i = 0; i < sizeof product_rows / sizeof *product_rows; i++) {
    comparison found;
    nd4c_graph *graph = product_graph(&product_rows[i]);
    nd4c_plan *plan = check_steps(graph, product_rows[i].name, 1, &found);
    if (fires && !check_has_step(plan, product_rows[i].becomes)) {
      fail_msg("%s: stays", product_rows[i].name);
    }
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* Two inputs [2, places, 3, 24], whose heads move to the front as in attention: q k^T, of bytes that lie apart. sliced:
 * k is every second place, so that its columns have gaps. */
static nd4c_value heads(nd4c_graph *graph, const char *name, int64_t places, affine of, bool last, bool sliced) {
  const int64_t front[] = {0, 2, 1, 3}, back[] = {0, 2, 3, 1}, axes[] = {1}, start[] = {0}, stop[] = {places},
                step[] = {2};
  nd4c_value x = both(graph, check_input(graph, name, 4, (int64_t[]){2, places, 3, 24}), of);
  if (sliced) {
    const nd4c_attr attrs[] = {check_ints("axes", axes, 1), check_ints("starts", start, 1),
                               check_ints("stops", stop, 1), check_ints("steps", step, 1)};
    x = both(graph, check_op(graph, ND4C_OP_slice, &x, 1, attrs, 4), of);
  }
  const nd4c_attr attr = check_ints("axes", last ? back : front, 4);
  return both(graph, check_op(graph, ND4C_OP_transpose, &x, 1, &attr, 1), of);
}

static void products_of_heads_become_products_of_bytes(void **state) {
  (void)state;
  bool fires = has_bytes();
  const struct {
    affine q, k, y;
    bool sliced;
  } rows[] = {{U8(0.02, 117), U8(0.019, 131), U8(0.3, 77), false},
              {S8(0.02, -3), S8(0.02, 5), S8(0.2, 0), false},
              {U8(0.021, 117), U8(0.02, 131), U8(0.3, 77), true},
              {U8(0.02, 0), S8(0.021, 0), S8(0.23, -9), true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    nd4c_graph *graph = NULL;
    comparison found;
    CHECK_OK(nd4c_graph_create(&graph));
    nd4c_value q = heads(graph, "q", 40, rows[i].q, false, false);
    nd4c_value k = heads(graph, "k", 46, rows[i].k, true, rows[i].sliced);
    CHECK_OK(nd4c_graph_output(graph, "y", quantize(graph, check_binary(graph, ND4C_OP_matmul, q, k), rows[i].y)));
    nd4c_plan *plan = check_steps(graph, "heads", 1, &found);
    assert_true(!fires || check_has_step(plan, ND4C_OP_qlinear_matmul));
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* Where others read both factors as floats, bytes would save nothing. Without oneDNN engine simd may have a kernel: the
 * first product shows whether it has. */
static void a_product_saves_a_conversion(void **state) {
  (void)state;
  bool fires = has_bytes();
  for (int32_t read = 0; read < 3; read++) { /* neither factor, x, or both are read by others */
    nd4c_graph *graph = NULL;
    comparison found;
    CHECK_OK(nd4c_graph_create(&graph));
    nd4c_value x = both(graph, check_input(graph, "x", 2, (int64_t[]){21, 64}), (affine)U8(0.02, 117));
    nd4c_value w = weights(graph, ND4C_INT8, 2, (int64_t[]){64, 48}, 1, 0);
    nd4c_value y = check_binary(graph, ND4C_OP_matmul, x, w);
    CHECK_OK(nd4c_graph_output(graph, "y", quantize(graph, check_unary(graph, ND4C_OP_sin, y), (affine)U8(0.01, 128))));
    if (read > 0) {
      CHECK_OK(nd4c_graph_output(graph, "floats of x", check_unary(graph, ND4C_OP_abs, x)));
    }
    if (read > 1) {
      CHECK_OK(nd4c_graph_output(graph, "floats of w", check_unary(graph, ND4C_OP_abs, w)));
    }
    nd4c_plan *plan = check_steps(graph, "conversions", 1, &found);
    fires = fires || (read == 0 && changes_of(plan, "quantized_linear") == 1);
    assert_int_equal(changes_of(plan, "quantized_linear"), fires && read < 2);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* x and w of quantize_dynamic: dynamic_quantize_linear, matmul_integer, cast, multiply, add. */
static void dynamic_products_become_linear(void **state) {
  (void)state;
  bool fires = has_bytes();
  for (int32_t by_column = 0; by_column < 2; by_column++) {
    const int64_t columns = 48;
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    nd4c_value x = check_input(graph, "x", 2, (int64_t[]){21, 64}), given[3];
    CHECK_OK(nd4c_graph_op(graph, ND4C_OP_dynamic_quantize_linear, &x, 1, NULL, 0, NULL, given, 3));
    nd4c_value w = integers(graph, ND4C_INT8, 2, (int64_t[]){64, columns}, 3, -128, 127);
    nd4c_value zero = number(graph, ND4C_INT8, by_column ? 0 : 4);
    nd4c_value scale = by_column ? check_constant(graph, 1, &columns, 4, 0.01, 0.02) : check_scalar(graph, 0.02);
    nd4c_value sums = check_op(graph, ND4C_OP_matmul_integer, (nd4c_value[]){given[0], w, given[2], zero}, 4, NULL, 0);
    const nd4c_attr dtype = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT32}};
    sums = check_op(graph, ND4C_OP_cast, &sums, 1, &dtype, 1);
    nd4c_value scales = by_column ? check_binary(graph, ND4C_OP_multiply, scale, given[1])
                                  : check_binary(graph, ND4C_OP_multiply, given[1], scale);
    nd4c_value y = check_binary(graph, ND4C_OP_multiply, sums, scales);
    y = check_binary(graph, ND4C_OP_add, check_constant(graph, 1, &columns, 6, -1, 1), y);
    CHECK_OK(nd4c_graph_output(graph, "y", y));
    nd4c_array *inputs[1], *expected[1] = {NULL}, *actual[1] = {NULL};
    nd4c_plan *plain = NULL, *plan = NULL;
    make_inputs(graph, inputs, false);
    run_plan(graph, true, inputs, &plain, expected);
    run_plan(graph, false, inputs, &plan, actual);
    assert_true(check_difference(expected[0], actual[0]) < 1e-6);
    assert_true(!fires || changes_of(plan, "dynamic_quantization") == 2);
    nd4c_plan_destroy(plain);
    nd4c_plan_destroy(plan);
    check_release(inputs, 1);
    check_release(expected, 1);
    check_release(actual, 1);
    nd4c_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convs_become_convs_of_bytes),
      cmocka_unit_test(ops_of_bytes_agree_with_the_reference),
      cmocka_unit_test(middles_go_to_even_numbers),
      cmocka_unit_test(quantising_moves_to_the_conv),
      cmocka_unit_test(sums_become_sums_of_bytes),
      cmocka_unit_test(products_become_products_of_bytes),
      cmocka_unit_test(products_of_heads_become_products_of_bytes),
      cmocka_unit_test(a_product_saves_a_conversion),
      cmocka_unit_test(dynamic_products_become_linear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
