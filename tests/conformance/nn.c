/* Samplers and oracles of convolution, pooling, normalisation, softmax. */
#include <math.h>

#include "conformance.h"

/* -- windows ---------------------------------------------------------------------------------------------------- */

typedef struct window_case {
  int32_t spatial;
  int64_t input[3], kernel[3], strides[3], pads[6], dilations[3]; /* strides[0] 0: attribute left out */
  int64_t auto_pad;
  bool ceil_mode;
} window_case;

static const window_case windows[] = {
    {1, {11}, {3}, {0}, {0}, {0}, 0, false},
    {1, {12}, {3}, {2}, {1, 2}, {0}, 0, true},
    {2, {7, 6}, {3, 3}, {0}, {1, 1, 1, 1}, {0}, 0, false},
    {2, {8, 9}, {2, 3}, {2, 2}, {0, 1, 1, 0}, {0}, 0, true},
    {2, {9, 9}, {3, 2}, {1, 2}, {0, 0, 0, 0}, {2, 3}, 0, false},
    {2, {7, 8}, {3, 3}, {2, 3}, {0}, {0}, ND4C_AUTO_PAD_SAME_UPPER, false},
    {2, {7, 8}, {2, 4}, {2, 1}, {0}, {0}, ND4C_AUTO_PAD_SAME_LOWER, false},
    {2, {7, 8}, {3, 3}, {2, 2}, {0}, {0}, ND4C_AUTO_PAD_VALID, false},
    {3, {4, 5, 4}, {2, 3, 2}, {2, 1, 1}, {1, 1, 0, 0, 1, 1}, {0}, 0, false},
    {2, {5, 5}, {1, 1}, {0}, {0}, {0}, 0, false},
    {2, {16, 17}, {5, 5}, {1, 1}, {2, 2, 2, 2}, {0}, 0, false},
    {2, {19, 37}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {0}, 0, false},
    {2, {12, 21}, {7, 10}, {2, 3}, {3, 2, 3, 2}, {0}, 0, false},
    {3, {9, 9, 6}, {9, 8, 2}, {1, 1, 2}, {0}, {0}, 0, false},
    {2, {21, 40}, {3, 5}, {1, 1}, {1, 2, 1, 2}, {0}, 0, false},
    {1, {40}, {4}, {3}, {2, 1}, {0}, 0, false},
};
enum { WINDOWS = sizeof windows / sizeof windows[0] };

static void window_attrs(cf_case *c, const window_case *w) {
  if (w->strides[0] != 0) {
    cf_attr_ints(c, "strides", w->spatial, w->strides);
  }
  if (w->auto_pad == ND4C_AUTO_PAD_EXPLICIT) {
    cf_attr_ints(c, "pads", 2 * w->spatial, w->pads);
  }
  if (w->dilations[0] != 0) {
    cf_attr_ints(c, "dilations", w->spatial, w->dilations);
  }
  cf_attr_int(c, "auto_pad", w->auto_pad);
}

/* A window, resolved as ONNX defines it. */
typedef struct resolved {
  int32_t spatial;
  int64_t input[3], kernel[3], stride[3], dilation[3], begin[3], end[3], output[3];
} resolved;

static int64_t listed(const cf_case *c, const char *name, int32_t position, int64_t preset) {
  int32_t count = 0;
  const int64_t *values = cf_ints_of(c, name, &count);
  return position < count ? values[position] : preset;
}

static void resolve_axis(const cf_case *c, resolved *r, int32_t i) {
  int64_t mode = cf_int_of(c, "auto_pad", 0), reach = (r->kernel[i] - 1) * r->dilation[i] + 1;
  r->begin[i] = r->end[i] = 0;
  if (mode == ND4C_AUTO_PAD_SAME_UPPER || mode == ND4C_AUTO_PAD_SAME_LOWER) {
    r->output[i] = (r->input[i] + r->stride[i] - 1) / r->stride[i];
    int64_t total = (r->output[i] - 1) * r->stride[i] + reach - r->input[i];
    total = total > 0 ? total : 0;
    r->begin[i] = mode == ND4C_AUTO_PAD_SAME_LOWER ? total - total / 2 : total / 2;
    r->end[i] = total - r->begin[i];
    return;
  }
  if (mode == ND4C_AUTO_PAD_EXPLICIT) {
    r->begin[i] = listed(c, "pads", i, 0);
    r->end[i] = listed(c, "pads", r->spatial + i, 0);
  }
  int64_t room = r->input[i] + r->begin[i] + r->end[i] - reach;
  r->output[i] = room / r->stride[i] + 1;
  if (cf_int_of(c, "ceil_mode", 0) != 0 && room % r->stride[i] != 0 &&
      r->output[i] * r->stride[i] < r->input[i] + r->begin[i]) {
    r->output[i]++; /* a last window that begins before the padding at the end */
  }
}

/* kernel: extents. Fills the shape of the result, but for axes 0 and 1. */
static resolved resolve(const cf_case *c, const int64_t *kernel, int64_t *shape) {
  const cf_tensor *x = &c->inputs[0];
  resolved r = {.spatial = x->rank - 2};
  for (int32_t i = 0; i < r.spatial; i++) {
    r.input[i] = x->shape[2 + i];
    r.kernel[i] = kernel[i];
    r.stride[i] = listed(c, "strides", i, 1);
    r.dilation[i] = listed(c, "dilations", i, 1);
    resolve_axis(c, &r, i);
    shape[2 + i] = r.output[i];
  }
  return r;
}

/* One cell of a window: its position in the input, flattened over the spatial axes; -1 in the padding, -2 beyond it. */
static int64_t cell_of(const resolved *r, int64_t output, int64_t cell) {
  int64_t place = 0, stride = 1;
  bool padding = false, beyond = false;
  for (int32_t i = r->spatial - 1; i >= 0; i--) {
    int64_t at = output % r->output[i] * r->stride[i] - r->begin[i] + cell % r->kernel[i] * r->dilation[i];
    output /= r->output[i];
    cell /= r->kernel[i];
    padding = padding || at < 0 || at >= r->input[i];
    beyond = beyond || at >= r->input[i] + r->end[i];
    place += at * stride;
    stride *= r->input[i];
  }
  return beyond ? -2 : padding ? -1 : place;
}

static int64_t product(int32_t count, const int64_t *extents) {
  int64_t result = 1;
  for (int32_t i = 0; i < count; i++) {
    result *= extents[i];
  }
  return result;
}

/* -- conv ------------------------------------------------------------------------------------------------------- */

bool cf_sample_conv(cf_random *random, int32_t number, cf_case *c) {
  static const int64_t channels[][3] = {{3, 4, 1}, {4, 6, 2},   {4, 4, 4},
                                        {1, 5, 1}, {17, 16, 1}, {3, 6, 3}}; /* in, out, groups */
  if (number >= 2 * WINDOWS) {
    return false;
  }
  const window_case *w = &windows[number % WINDOWS];
  const int64_t *k = channels[number % 6];
  int64_t x_shape[5] = {number % 2 + 1, k[0]}, w_shape[5] = {k[1], k[0] / k[2]};
  for (int32_t i = 0; i < w->spatial; i++) {
    x_shape[2 + i] = w->input[i];
    w_shape[2 + i] = w->kernel[i];
  }
  cf_filled(c, random, CF_SMALL, c->dtype, w->spatial + 2, x_shape);
  cf_filled(c, random, CF_SMALL, c->dtype, w->spatial + 2, w_shape);
  window_attrs(c, w);
  cf_attr_int(c, "groups", k[2]);
  cf_attr_int(c, "activation", number % 3 == 0 ? 0 : number % 6);
  if (number % 4 != 1) {
    cf_filled(c, random, CF_SMALL, c->dtype, 1, &k[1]);
  } else {
    cf_absent(c);
  }
  if (number >= WINDOWS) {
    int64_t y_shape[5] = {x_shape[0], k[1]};
    (void)resolve(c, w->kernel, y_shape);
    cf_filled(c, random, CF_SMALL, c->dtype, w->spatial + 2, y_shape);
  }
  return true;
}

static void convolve(const cf_case *c, const resolved *r, const int64_t *at, cf_value *y, long double *scale) {
  const cf_tensor *x = &c->inputs[0], *w = &c->inputs[1];
  int64_t cells = product(r->spatial, r->kernel), plane = product(r->spatial, r->input);
  int64_t group = at[1] / (w->shape[0] / cf_int_of(c, "groups", 1));
  for (int64_t channel = 0; channel < w->shape[1]; channel++) {
    for (int64_t cell = 0; cell < cells; cell++) {
      int64_t place = cell_of(r, at[2], cell);
      if (place >= 0) {
        int64_t from = (at[0] * x->shape[1] + group * w->shape[1] + channel) * plane + place;
        long double term = cf_get(x, from).re * cf_get(w, (at[1] * w->shape[1] + channel) * cells + cell).re;
        y->re += term;
        *scale += fabsl(term);
      }
    }
  }
}

void cf_oracle_conv(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0], *w = &c->inputs[1];
  const cf_tensor *bias = cf_input_of(c, ND4C_IN_conv_bias), *addend = cf_input_of(c, ND4C_IN_conv_addend);
  int64_t shape[CF_RANK] = {x->shape[0], w->shape[0]};
  resolved r = resolve(c, w->shape + 2, shape);
  int64_t outputs = product(r.spatial, r.output);
  cf_expect(expected, c->dtype, x->rank, shape, true);
  for (int64_t i = 0; i < expected->size; i++) {
    int64_t at[3] = {i / outputs / shape[1], i / outputs % shape[1], i % outputs};
    cf_value *y = &expected->values[i];
    convolve(c, &r, at, y, &expected->scale[i]);
    long double more = (bias != NULL ? cf_get(bias, at[1]).re : 0) + (addend != NULL ? cf_get(addend, i).re : 0);
    y->re = cf_activation(cf_int_of(c, "activation", 0), y->re + more);
    int64_t terms = w->shape[1] * product(r.spatial, r.kernel);
    expected->scale[i] *= terms > 16 ? (long double)terms / 16 : 1;
    expected->scale[i] += fabsl(more);
  }
}

/* -- pools ------------------------------------------------------------------------------------------------------ */

bool cf_sample_pool(cf_random *random, int32_t number, cf_case *c) {
  if (number >= 2 * WINDOWS) {
    return false;
  }
  const window_case *w = &windows[number % WINDOWS];
  bool special = c->op == ND4C_OP_max_pool && number >= WINDOWS;
  int64_t x_shape[5] = {2, number % 3 == 0 ? 17 : 3};
  for (int32_t i = 0; i < w->spatial; i++) {
    x_shape[2 + i] = w->input[i];
  }
  cf_filled(c, random, special ? CF_SPECIAL : CF_SMALL, c->dtype, w->spatial + 2, x_shape);
  cf_attr_ints(c, "kernel", w->spatial, w->kernel);
  window_attrs(c, w);
  cf_attr_bool(c, "ceil_mode", w->ceil_mode);
  cf_attr_bool(c, "count_include_pad", number % 2 == 1);
  return true;
}

static bool above(nd4c_dtype dtype, cf_value a, cf_value b) {
  if (cf_is_float(dtype)) {
    return !isnan(b.re) && (isnan(a.re) || a.re > b.re);
  }
  return cf_is_unsigned(dtype) ? (uint64_t)a.i > (uint64_t)b.i : a.i > b.i;
}

/* A sum of n terms, added one after the other, is off by at most (n - 1) u of the sum of their magnitudes, u half an
 * ulp (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2). A record allows 4 ulps of the
 * scale, which covers eight terms; the scale of a larger window grows with its cells. */
static long double sum_depth(int64_t terms) {
  return terms > 8 ? (long double)terms / 8 : 1;
}

void cf_oracle_pool(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  int32_t count = 0;
  int64_t shape[CF_RANK] = {x->shape[0], x->shape[1]};
  resolved r = resolve(c, cf_ints_of(c, "kernel", &count), shape);
  int64_t outputs = product(r.spatial, r.output), plane = product(r.spatial, r.input);
  bool with_padding = cf_int_of(c, "count_include_pad", 0) != 0;
  cf_expect(expected, c->dtype, x->rank, shape, true);
  for (int64_t i = 0; i < expected->size; i++) {
    cf_value best = {0};
    long double sum = 0;
    int64_t inside = 0, padded = 0;
    for (int64_t cell = 0; cell < product(r.spatial, r.kernel); cell++) {
      int64_t place = cell_of(&r, i % outputs, cell);
      padded += place >= -1;
      if (place >= 0) {
        cf_value value = cf_get(x, i / outputs * plane + place);
        best = inside == 0 || above(c->dtype, value, best) ? value : best;
        sum += value.re;
        expected->scale[i] += fabsl(value.re);
        inside++;
      }
    }
    int64_t divisor = with_padding ? padded : inside;
    expected->values[i] =
        c->op == ND4C_OP_max_pool ? best : (cf_value){.re = sum / (long double)(divisor > 0 ? divisor : 1)};
    expected->scale[i] *= c->op == ND4C_OP_max_pool ? 0 : sum_depth(inside) / (long double)(divisor > 0 ? divisor : 1);
  }
}

/* -- normalisation ---------------------------------------------------------------------------------------------- */

bool cf_sample_batch_norm(cf_random *random, int32_t number, cf_case *c) {
  static const int64_t shapes[][4] = {{2, 3, 4, 5}, {1, 17, 3, 3}, {4, 6, 1, 1}, {0, 3, 2, 2}, {2, 5, 7, 1}};
  if (number >= 6) {
    return false;
  }
  int32_t rank = number == 5 ? 2 : 4;
  const int64_t *shape = shapes[number % 5];
  cf_filled(c, random, CF_SMALL, c->dtype, rank, shape);
  cf_filled(c, random, CF_NEAR_ONE, c->dtype, 1, &shape[1]);
  cf_filled(c, random, CF_SMALL, c->dtype, 1, &shape[1]);
  cf_filled(c, random, CF_SMALL, c->dtype, 1, &shape[1]);
  cf_filled(c, random, CF_POSITIVE, c->dtype, 1, &shape[1]);
  if (number % 2 == 0) {
    cf_attr_float(c, "epsilon", 0.01);
  }
  return true;
}

void cf_oracle_batch_norm(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  int64_t plane = product(x->rank - 2, x->shape + 2);
  cf_expect(expected, c->dtype, x->rank, x->shape, true);
  for (int64_t i = 0; i < x->size; i++) {
    int64_t channel = i / plane % x->shape[1];
    long double value = cf_get(x, i).re, scale = cf_get(&c->inputs[1], channel).re;
    long double bias = cf_get(&c->inputs[2], channel).re, mean = cf_get(&c->inputs[3], channel).re;
    long double deviation = sqrtl(cf_get(&c->inputs[4], channel).re + (long double)cf_float_of(c, "epsilon", 1e-5));
    expected->values[i].re = (value - mean) / deviation * scale + bias;
    expected->scale[i] = (fabsl(value) + fabsl(mean)) / deviation * fabsl(scale) + fabsl(bias);
  }
}

bool cf_sample_layer_norm(cf_random *random, int32_t number, cf_case *c) {
  static const int64_t shapes[][4] = {{2, 3, 4, 5}, {1, 2, 3, 70}, {3, 1, 2, 8}};
  if (number >= 12) {
    return false;
  }
  const int64_t *shape = shapes[number % 3];
  int32_t axis = number % 2 == 0 ? 3 : 2;
  cf_filled(c, random, CF_SMALL, c->dtype, 4, shape);
  if (number % 4 < 2) {
    cf_filled(c, random, CF_NEAR_ONE, c->dtype, 4 - axis, shape + axis);
  } else {
    cf_absent(c);
  }
  if (number % 4 == 0 || number % 4 == 3) {
    cf_filled(c, random, CF_SMALL, c->dtype, 4 - axis, shape + axis);
  }
  if (axis != 3 || number >= 6) {
    cf_attr_int(c, "axis", number >= 6 ? axis - 4 : axis);
  }
  if (number % 5 == 0) {
    cf_attr_float(c, "epsilon", 0.1);
  }
  return true;
}

void cf_oracle_layer_norm(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0], *scale = cf_input_of(c, 1), *bias = cf_input_of(c, 2);
  int64_t axis = cf_int_of(c, "axis", -1);
  axis = axis < 0 ? axis + x->rank : axis;
  int64_t count = product(x->rank - (int32_t)axis, x->shape + axis);
  cf_expect(expected, c->dtype, x->rank, x->shape, true);
  for (int64_t i = 0; i < x->size; i++) {
    int64_t first = i / count * count, place = i % count;
    long double mean = 0, variance = 0, largest = 0;
    for (int64_t k = 0; k < count; k++) {
      mean += cf_get(x, first + k).re / (long double)count;
      largest = fmaxl(largest, fabsl(cf_get(x, first + k).re));
    }
    for (int64_t k = 0; k < count; k++) {
      long double distance = cf_get(x, first + k).re - mean;
      variance += distance * distance / (long double)count;
    }
    long double deviation = sqrtl(variance + (long double)cf_float_of(c, "epsilon", 1e-5));
    long double s = scale != NULL ? cf_get(scale, place).re : 1, b = bias != NULL ? cf_get(bias, place).re : 0;
    expected->values[i].re = (cf_get(x, i).re - mean) / deviation * s + b;
    expected->scale[i] = largest / deviation * fabsl(s) + fabsl(b);
  }
}

/* -- softmax ---------------------------------------------------------------------------------------------------- */

/* Rows of 300, longer than vectors and no multiple of them: as they are; with a NaN among the first, in the middle, as
 * the last; with an infinity in the middle, as the last; with all but one and with all of them -infinity. */
static void fill_hostile_rows(cf_tensor *x) {
  static const struct {
    int64_t row, column;
    long double value;
  } set[] = {{1, 3, NAN}, {2, 150, NAN}, {3, 299, NAN}, {4, 150, INFINITY}, {5, 299, INFINITY}};
  for (size_t i = 0; i < sizeof set / sizeof set[0]; i++) {
    cf_set(x, set[i].row * x->shape[1] + set[i].column, (cf_value){.re = set[i].value});
  }
  for (int64_t i = 6 * x->shape[1] + 1; i < x->size; i++) {
    cf_set(x, i, (cf_value){.re = -(long double)INFINITY});
  }
}

bool cf_sample_softmax(cf_random *random, int32_t number, cf_case *c) {
  switch (number) {
    case 0:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(3, 7));
      return true;
    case 1:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(2, 5, 3, 4));
      cf_attr_int(c, "axis", 1);
      return true;
    case 2:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(131));
      cf_attr_int(c, "axis", 0);
      return true;
    case 3:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(0, 4));
      return true;
    case 4: { /* a mask, as attention has it: some are -infinity, one of a row never is */
      cf_tensor *x = cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(4, 19));
      for (int64_t i = 0; i < x->size; i += 1 + cf_between(random, 0, 3)) {
        cf_set(x, i, (cf_value){.re = i % 19 != 3 ? -(long double)INFINITY : 1});
      }
      return true;
    }
    case 5: { /* large numbers do not overflow */
      cf_tensor *x = cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(2, 9));
      for (int64_t i = 0; i < x->size; i++) {
        cf_set(x, i, (cf_value){.re = cf_get(x, i).re + 1000});
      }
      return true;
    }
    case 6:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(3, 1));
      return true;
    case 7:
      if (c->dtype == ND4C_FLOAT32) {
        fill_hostile_rows(cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(8, 300)));
      }
      return true;
    default:
      return false;
  }
}

void cf_oracle_softmax(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  int64_t axis = cf_int_of(c, "axis", -1);
  axis = axis < 0 ? axis + x->rank : axis;
  int64_t count = x->shape[axis], inner = product(x->rank - (int32_t)axis - 1, x->shape + axis + 1);
  cf_expect(expected, c->dtype, x->rank, x->shape, true);
  for (int64_t i = 0; i < x->size; i++) {
    int64_t first = i / (inner * count) * inner * count + i % inner;
    long double largest = -(long double)INFINITY, sum = 0;
    for (int64_t k = 0; k < count; k++) {
      largest = fmaxl(largest, cf_get(x, first + k * inner).re);
    }
    for (int64_t k = 0; k < count; k++) {
      sum += expl(cf_get(x, first + k * inner).re - largest);
    }
    long double shifted = cf_get(x, i).re - largest;
    bool logarithm = c->op == ND4C_OP_log_softmax;
    expected->values[i].re = logarithm ? shifted - logl(sum) : expl(shifted) / sum;
    long double distance = isinf(shifted) ? 0 : fabsl(shifted);
    expected->scale[i] = logarithm ? 1 + distance : expected->values[i].re * (1 + distance);
  }
}

bool cf_sample_lrn(cf_random *random, int32_t number, cf_case *c) {
  static const int64_t shapes[][4] = {{2, 7, 3, 4}, {1, 16, 2, 2}, {1, 3, 5, 1}, {2, 6, 1, 1}};
  if (number >= 8) {
    return false;
  }
  cf_filled(c, random, CF_SMALL, c->dtype, number == 7 ? 2 : 4, shapes[number % 4]);
  cf_attr_int(c, "size", number < 4 ? 5 : number % 4 + 1);
  if (number % 2 == 1) {
    cf_attr_float(c, "alpha", 0.5);
    cf_attr_float(c, "beta", 0.6);
    cf_attr_float(c, "bias", 2);
  }
  return true;
}

void cf_oracle_lrn(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  int64_t plane = product(x->rank - 2, x->shape + 2), channels = x->shape[1], size = cf_int_of(c, "size", 5);
  cf_expect(expected, c->dtype, x->rank, x->shape, true);
  for (int64_t i = 0; i < x->size; i++) {
    int64_t channel = i / plane % channels;
    long double sum = 0;
    for (int64_t k = channel - (size - 1) / 2; k <= channel + size / 2; k++) {
      if (k >= 0 && k < channels) {
        long double value = cf_get(x, i + (k - channel) * plane).re;
        sum += value * value;
      }
    }
    long double base =
        (long double)cf_float_of(c, "bias", 1) + (long double)cf_float_of(c, "alpha", 1e-4) / (long double)size * sum;
    expected->values[i].re = cf_get(x, i).re / powl(base, (long double)cf_float_of(c, "beta", 0.75));
  }
}
