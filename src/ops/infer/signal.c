/* Inference rules of Fourier transforms, windows and convolution of sequences (op_table/signal.h). nd4c_op_infer
 * (infer.c) calls the rule that an op's row names. */
#include "array/shape.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* Longer transforms than this are a mistake of the caller. */
static const int64_t longest = INT64_C(1) << 40;

/* -- dtypes and attributes -------------------------------------------------------------------------------------- */

static nd4c_dtype complex_of(nd4c_dtype dtype) {
  bool narrow = dtype == ND4C_FLOAT16 || dtype == ND4C_BFLOAT16 || dtype == ND4C_FLOAT32 || dtype == ND4C_COMPLEX64;
  return narrow ? ND4C_COMPLEX64 : ND4C_COMPLEX128;
}

static nd4c_dtype real_of(nd4c_dtype dtype) {
  return complex_of(dtype) == ND4C_COMPLEX64 ? ND4C_FLOAT32 : ND4C_FLOAT64;
}

/* A length as given, or that of the axis. */
static nd4c_status check_length(const nd4c_inference *inference, const char *attr, int64_t given, int64_t axis_length,
                                int64_t *length) {
  if (given != -1 && (given < 1 || given > longest)) {
    return nd4c_fail(given > longest ? ND4C_OVERFLOW : ND4C_ARGUMENT, "%s: %s is %lld, expected -1 or 1 to 2^40",
                     inference->op->name, attr, (long long)given);
  }
  *length = given == -1 ? axis_length : given;
  if (!nd4c_rule_is_at_least(inference, *length, 1)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 1 point to transform, or %s", attr);
  }
  return ND4C_OK;
}

/* Of n points, those that real numbers need: n / 2 + 1. */
static nd4c_status half_of(const nd4c_inference *inference, int32_t axis, int64_t n, int64_t *points) {
  return nd4c_rule_divide(inference, n, 2, points) && nd4c_rule_add(inference, *points, 1, points)
             ? ND4C_OK
             : nd4c_rule_too_long(inference, 0, axis);
}

/* The real numbers for as many points: 2 (n - 1). A number that is too long stays as it is, to be refused. */
static nd4c_status double_of(const nd4c_inference *inference, int32_t axis, int64_t points, int64_t *n) {
  *n = points;
  return points > longest || (nd4c_rule_subtract(inference, points, 1, n) && nd4c_rule_multiply(inference, *n, 2, n))
             ? ND4C_OK
             : nd4c_rule_too_long(inference, 0, axis);
}

/* -- one axis --------------------------------------------------------------------------------------------------- */

static nd4c_status one_axis(nd4c_inference *inference, int32_t *axis) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_fft_norm));
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_fft_axis].as.i, x->rank, axis));
  nd4c_rule_output(inference, complex_of(x->dtype), x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: x with n on the axis (-1: unchanged), complex64 for floats of up to 32 bits and complex64, else complex128. */
nd4c_status nd4c_infer_fft(nd4c_inference *inference) {
  int64_t *shape = inference->outputs[0].shape;
  int32_t axis = 0;
  ND4C_TRY(one_axis(inference, &axis));
  return check_length(inference, "n", inference->attrs[ND4C_ATTR_fft_n].as.i, shape[axis], &shape[axis]);
}

/* Gives: x with n / 2 + 1 on the axis (n -1: x's length), complex64 for floats of up to 32 bits, else complex128. */
nd4c_status nd4c_infer_rfft(nd4c_inference *inference) {
  int64_t *shape = inference->outputs[0].shape, n = 0;
  int32_t axis = 0;
  ND4C_TRY(one_axis(inference, &axis));
  ND4C_TRY(check_length(inference, "n", inference->attrs[ND4C_ATTR_fft_n].as.i, shape[axis], &n));
  return half_of(inference, axis, n, &shape[axis]);
}

/* The length of a real result on its axis, which is x's so far. */
static nd4c_status inverse_length(nd4c_inference *inference, const char *attr, int64_t given, int32_t axis) {
  int64_t *extent = &inference->outputs[0].shape[axis], points = 0;
  if (given == -1) {
    ND4C_TRY(double_of(inference, axis, *extent, &points));
  }
  return check_length(inference, attr, given, points, extent);
}

/* Gives: x with n on the axis (-1: 2 (length - 1)), float32 for floats of up to 32 bits and complex64, else float64. */
nd4c_status nd4c_infer_irfft(nd4c_inference *inference) {
  int32_t axis = 0;
  ND4C_TRY(one_axis(inference, &axis));
  inference->outputs[0].dtype = real_of(inference->inputs[0].dtype);
  return inverse_length(inference, "n", inference->attrs[ND4C_ATTR_fft_n].as.i, axis);
}

/* -- several axes ----------------------------------------------------------------------------------------------- */

/* The axes in the order given, and their lengths as given (-1: x's). */
typedef struct transform_axes {
  int32_t count;
  int32_t axes[ND4C_MAX_RANK];
  int64_t lengths[ND4C_MAX_RANK];
} transform_axes;

static nd4c_status several_axes(nd4c_inference *inference, transform_axes *t) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *s = &inference->attrs[ND4C_ATTR_fftn_s], *axes = &inference->attrs[ND4C_ATTR_fftn_axes];
  bool chosen[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_fftn_norm));
  ND4C_TRY(nd4c_rule_axes(inference, "axes", axes, x->rank, chosen));
  t->count = axes->count > 0 ? axes->count : s->count > 0 ? s->count : x->rank;
  if (s->count > 0 && s->count != t->count) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: s has %d values and axes %d, expected as many", inference->op->name,
                     (int)s->count, (int)axes->count);
  }
  if (t->count > x->rank || t->count == 0) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least %d ax%s to transform",
                            (int)(t->count > 0 ? t->count : 1), t->count > 1 ? "es" : "is");
  }
  for (int32_t i = 0; i < t->count; i++) {
    t->axes[i] = axes->count > 0 ? nd4c_axis_index(axes->as.ints[i], x->rank) : x->rank - t->count + i;
    t->lengths[i] = s->count > 0 ? s->as.ints[i] : -1;
  }
  nd4c_rule_output(inference, complex_of(x->dtype), x->rank, x->shape);
  return ND4C_OK;
}

/* Lengths of all axes but for the last `kept` ones into the output. */
static nd4c_status set_lengths(nd4c_inference *inference, const transform_axes *t, int32_t kept) {
  int64_t *shape = inference->outputs[0].shape;
  for (int32_t i = 0; i < t->count - kept; i++) {
    ND4C_TRY(check_length(inference, "s", t->lengths[i], shape[t->axes[i]], &shape[t->axes[i]]));
  }
  return ND4C_OK;
}

/* Gives: x with s on the axes (left out: unchanged), complex64 for floats of up to 32 bits and complex64, else
 * complex128. */
nd4c_status nd4c_infer_fftn(nd4c_inference *inference) {
  transform_axes t;
  ND4C_TRY(several_axes(inference, &t));
  return set_lengths(inference, &t, 0);
}

/* Gives: x with s on the axes (left out: unchanged), the last axis then of length / 2 + 1, complex64 for floats of up
 * to 32 bits, else complex128. */
nd4c_status nd4c_infer_rfftn(nd4c_inference *inference) {
  transform_axes t;
  ND4C_TRY(several_axes(inference, &t));
  ND4C_TRY(set_lengths(inference, &t, 0));
  const int32_t last = t.axes[t.count - 1];
  int64_t *extent = &inference->outputs[0].shape[last];
  return half_of(inference, last, *extent, extent);
}

/* Gives: x with s on the axes (left out: unchanged, on the last one 2 (length - 1)), float32 for floats of up to 32
 * bits and complex64, else float64. */
nd4c_status nd4c_infer_irfftn(nd4c_inference *inference) {
  transform_axes t;
  ND4C_TRY(several_axes(inference, &t));
  ND4C_TRY(set_lengths(inference, &t, 1));
  inference->outputs[0].dtype = real_of(inference->inputs[0].dtype);
  return inverse_length(inference, "s", t.lengths[t.count - 1], t.axes[t.count - 1]);
}

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_fftshift(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  bool chosen[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_axes(inference, "axes", &inference->attrs[ND4C_ATTR_fftshift_axes], x->rank, chosen));
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* -- from attributes alone --------------------------------------------------------------------------------------- */

static nd4c_status made(nd4c_inference *inference, int64_t dtype, int32_t rank, const int64_t *shape) {
  ND4C_TRY(nd4c_rule_dtype_attr(inference, dtype));
  nd4c_rule_output(inference, (nd4c_dtype)dtype, rank, shape);
  return ND4C_OK;
}

static nd4c_status frequencies(nd4c_inference *inference, bool real) {
  int64_t n = inference->attrs[ND4C_ATTR_fftfreq_n].as.i;
  double d = inference->attrs[ND4C_ATTR_fftfreq_d].as.f;
  if (n < 1 || n > longest) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: n is %lld, expected 1 to 2^40", inference->op->name, (long long)n);
  }
  if (d == 0 || d != d) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: d is %g, expected a distance other than 0", inference->op->name, d);
  }
  int64_t points = real ? n / 2 + 1 : n;
  return made(inference, inference->attrs[ND4C_ATTR_fftfreq_dtype].as.i, 1, &points);
}

/* Gives: a vector of n elements, in the attribute dtype. */
nd4c_status nd4c_infer_fftfreq(nd4c_inference *inference) {
  return frequencies(inference, false);
}

/* Gives: a vector of n / 2 + 1 elements, in the attribute dtype. */
nd4c_status nd4c_infer_rfftfreq(nd4c_inference *inference) {
  return frequencies(inference, true);
}

/* Gives: a vector of size elements, in the attribute dtype. */
nd4c_status nd4c_infer_cosine_window(nd4c_inference *inference) {
  int64_t size = inference->attrs[ND4C_ATTR_hann_window_size].as.i;
  if (size < 0 || size > longest) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: size is %lld, expected 0 to 2^40", inference->op->name, (long long)size);
  }
  return made(inference, inference->attrs[ND4C_ATTR_hann_window_dtype].as.i, 1, &size);
}

/* Gives: [dft_length / 2 + 1, mel_bins], in the attribute dtype. */
nd4c_status nd4c_infer_mel_weight_matrix(nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t filters = attrs[ND4C_ATTR_mel_weight_matrix_mel_bins].as.i;
  int64_t length = attrs[ND4C_ATTR_mel_weight_matrix_dft_length].as.i;
  double rate = attrs[ND4C_ATTR_mel_weight_matrix_sample_rate].as.f;
  double lower = attrs[ND4C_ATTR_mel_weight_matrix_lower].as.f, upper = attrs[ND4C_ATTR_mel_weight_matrix_upper].as.f;
  if (filters < 0 || filters > longest || length < 1 || length > longest) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: mel_bins is %lld and dft_length %lld, expected 0 (and 1) to 2^40",
                     inference->op->name, (long long)filters, (long long)length);
  }
  if (!(rate > 0 && rate < 1e15 && lower >= 0 && upper >= lower && upper < 1e15)) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "%s: sample_rate is %g, lower %g and upper %g, expected Hz with 0 <= lower <= upper",
                     inference->op->name, rate, lower, upper);
  }
  return made(inference, attrs[ND4C_ATTR_mel_weight_matrix_dtype].as.i, 2, (const int64_t[]){length / 2 + 1, filters});
}

/* -- frames ----------------------------------------------------------------------------------------------------- */

/* frame_length or, if that is -1, the window's length or, without a window, `otherwise`. Refuses a window of another
 * length. */
static nd4c_status frame_length(const nd4c_inference *inference, int64_t otherwise, int64_t *length) {
  const nd4c_tensor *window = nd4c_rule_input(inference, ND4C_IN_stft_window);
  int64_t given = inference->attrs[ND4C_ATTR_stft_frame_length].as.i;
  int64_t step = inference->attrs[ND4C_ATTR_stft_frame_step].as.i;
  if (window != NULL) {
    ND4C_TRY(nd4c_rule_accepted_dtype(inference, ND4C_IN_stft_window));
    if (window->rank != 1 || nd4c_dtype_get_info(window->dtype)->kind != ND4C_KIND_FLOAT) {
      return nd4c_rule_refuse(inference, ND4C_IN_stft_window, ND4C_SHAPE, "expected 1 axis of real numbers");
    }
    otherwise = window->shape[0];
  }
  ND4C_TRY(check_length(inference, "frame_length", given, otherwise, length));
  if (nd4c_extents_has(inference->extents, *length)) {
    return nd4c_rule_needs_numbers(inference, 0, "expected a number as frame_length");
  }
  if (window != NULL && !nd4c_rule_is_equal(inference, window->shape[0], *length)) {
    return nd4c_rule_refuse(inference, ND4C_IN_stft_window, ND4C_SHAPE, "expected frame_length elements: %lld",
                            (long long)*length);
  }
  if (step < 1) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: frame_step is %lld, expected at least 1", inference->op->name,
                     (long long)step);
  }
  return ND4C_OK;
}

static nd4c_status frames_dtype(const nd4c_inference *inference, nd4c_dtype *dtype) {
  *dtype = inference->inputs[0].dtype;
  if (nd4c_rule_input(inference, ND4C_IN_stft_window) != NULL) {
    return nd4c_rule_promote(inference, 0, ND4C_IN_stft_window, dtype);
  }
  return ND4C_OK;
}

/* Gives: x's axes but the last, frames, points, for x [..., t]: 1 + (t - frame_length) / frame_step frames of
 * frame_length points (onesided: frame_length / 2 + 1). complex64 for floats of up to 32 bits and complex64, else
 * complex128. */
nd4c_status nd4c_infer_stft(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_inferred *output = &inference->outputs[0];
  bool onesided = inference->attrs[ND4C_ATTR_stft_onesided].as.i != 0;
  int64_t length = 0, step = inference->attrs[ND4C_ATTR_stft_frame_step].as.i;
  nd4c_dtype dtype;
  if (x->rank < 1 || x->rank >= ND4C_MAX_RANK) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [..., time] of at most %d axes", ND4C_MAX_RANK - 1);
  }
  ND4C_TRY(frame_length(inference, 0, &length));
  ND4C_TRY(frames_dtype(inference, &dtype));
  int64_t time = x->shape[x->rank - 1];
  if (!nd4c_rule_is_at_least(inference, time, length)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least frame_length elements of time: %lld",
                            (long long)length);
  }
  if (onesided && nd4c_dtype_get_info(x->dtype)->kind == ND4C_KIND_COMPLEX) {
    return nd4c_rule_refuse(inference, 0, ND4C_DTYPE, "expected real numbers where onesided is true");
  }
  nd4c_rule_output(inference, complex_of(dtype), x->rank, x->shape);
  int64_t *frames = &output->shape[x->rank - 1];
  if (!nd4c_rule_subtract(inference, time, length, frames) || !nd4c_rule_divide(inference, *frames, step, frames) ||
      !nd4c_rule_add(inference, *frames, 1, frames)) {
    return nd4c_rule_too_long(inference, 0, x->rank - 1);
  }
  output->shape[output->rank++] = onesided ? length / 2 + 1 : length;
  return ND4C_OK;
}

/* Gives: x's axes but the last two, then frame_length + (frames - 1) * frame_step elements, for x [..., frames,
 * points]. In x's dtype or, if onesided, the real dtype of its precision. */
nd4c_status nd4c_infer_istft(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_inferred *output = &inference->outputs[0];
  bool onesided = inference->attrs[ND4C_ATTR_stft_onesided].as.i != 0;
  int64_t length = 0, step = inference->attrs[ND4C_ATTR_stft_frame_step].as.i;
  nd4c_dtype dtype;
  if (x->rank < 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [..., frames, points]");
  }
  int64_t frames = x->shape[x->rank - 2], points = x->shape[x->rank - 1];
  int64_t otherwise = points;
  ND4C_TRY(onesided ? double_of(inference, x->rank - 1, points, &otherwise) : ND4C_OK);
  ND4C_TRY(frame_length(inference, otherwise, &length));
  ND4C_TRY(frames_dtype(inference, &dtype));
  if (!nd4c_rule_is_equal(inference, points, onesided ? length / 2 + 1 : length) ||
      !nd4c_rule_is_at_least(inference, frames, 1)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at least 1 frame of %lld points",
                            (long long)(onesided ? length / 2 + 1 : length));
  }
  if (step > longest || frames > longest / step) {
    return nd4c_rule_refuse(inference, 0, ND4C_OVERFLOW, "frames %lld apart are longer than 2^40", (long long)step);
  }
  nd4c_rule_output(inference, onesided ? real_of(dtype) : complex_of(dtype), x->rank - 1, x->shape);
  int64_t *total = &output->shape[output->rank - 1];
  return nd4c_rule_subtract(inference, frames, 1, total) && nd4c_rule_multiply(inference, *total, step, total) &&
                 nd4c_rule_add(inference, *total, length, total)
             ? ND4C_OK
             : nd4c_rule_too_long(inference, 0, x->rank - 2);
}

/* -- sequences -------------------------------------------------------------------------------------------------- */

/* Gives: a vector in the dtype that the inputs promote to: m + n - 1 elements for FULL, the longer of m and n for
 * SAME, the difference of the two and 1 for VALID; a has m and b n elements. */
nd4c_status nd4c_infer_convolve(nd4c_inference *inference) {
  const int64_t mode = inference->attrs[ND4C_ATTR_convolve_mode].as.i;
  nd4c_dtype dtype;
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_convolve_mode));
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_promote(inference, 0, 1, &dtype));
  for (int32_t i = 0; i < 2; i++) {
    if (inference->inputs[i].rank != 1 || !nd4c_rule_is_at_least(inference, inference->inputs[i].shape[0], 1) ||
        inference->inputs[i].shape[0] > longest) {
      return nd4c_rule_refuse(inference, i, ND4C_SHAPE, "expected 1 axis with at least 1 element");
    }
  }
  const int64_t m = inference->inputs[0].shape[0], n = inference->inputs[1].shape[0];
  int64_t most = 0, least = 0, length = 0;
  bool fits = nd4c_rule_maximum(inference, m, n, &most) && nd4c_rule_minimum(inference, m, n, &least);
  if (mode == ND4C_CONVOLVE_MODE_FULL) {
    fits = fits && nd4c_rule_add(inference, m, n, &length) && nd4c_rule_subtract(inference, length, 1, &length);
  } else if (mode == ND4C_CONVOLVE_MODE_SAME) {
    length = most;
  } else {
    fits = fits && nd4c_rule_subtract(inference, most, least, &length) && nd4c_rule_add(inference, length, 1, &length);
  }
  nd4c_rule_output(inference, dtype, 1, &length);
  return fits ? ND4C_OK : nd4c_rule_too_long(inference, 0, 0);
}

/* Gives: x without its last axis of length 2, complex64 for floats of up to 32 bits, else complex128. */
nd4c_status nd4c_infer_view_as_complex(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  if (x->rank < 1 || !nd4c_rule_is_equal(inference, x->shape[x->rank - 1], 2)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected a last axis of length 2");
  }
  nd4c_rule_output(inference, complex_of(x->dtype), x->rank - 1, x->shape);
  return ND4C_OK;
}

/* Gives: x with a new last axis of length 2, in x's dtype, or its real dtype if x is complex. */
nd4c_status nd4c_infer_view_as_real(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_inferred *output = &inference->outputs[0];
  if (x->rank >= ND4C_MAX_RANK) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at most %d axes", ND4C_MAX_RANK - 1);
  }
  bool parts = nd4c_dtype_get_info(x->dtype)->kind == ND4C_KIND_COMPLEX;
  nd4c_rule_output(inference, parts ? real_of(x->dtype) : x->dtype, x->rank, x->shape);
  output->shape[output->rank++] = 2;
  return ND4C_OK;
}
