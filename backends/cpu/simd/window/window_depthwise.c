/* Depthwise conv of engine simd, channels first: each plane is read and written along its rows. oneDNN would need
 * channels side by side and both operands reordered, so dispatch/choice.c asks this kernel first. oneDNN computes
 * channels last. */
#include "backends/cpu/simd/rows.h"

/* Bytes of the copied part of a plane, taps of a filter, and columns that are worth a vector. */
enum { BAND_BYTES = 1 << 18, MAX_TAPS = 1024, FEW_COLUMNS = 4, FARTHEST = 1024 };

typedef struct job {
  const nd4c_depthwise_loops *loops;
  nd4c_unary_loop activate;
  nd4c_unary_parameters parameters; /* of activate */
  const nd4c_tensor *x, *w, *y, *bias, *addend;
  nd4c_ref_window window; /* of two axes: an input with one axis is a plane of one row */
  int64_t bytes, height, width, copies, taps;
  int64_t x_step, y_step, addend_step;
  nd4c_depthwise_band band;
  int64_t row_bytes, rows, bands; /* rows: of y in a band */
  int64_t offsets[MAX_TAPS];
  char *scratch;
  int64_t worker_bytes, band_bytes;
} job;

static int64_t round_up(int64_t n) {
  return (n + ND4C_DEPTHWISE_LANES - 1) / ND4C_DEPTHWISE_LANES * ND4C_DEPTHWISE_LANES;
}

/* The window with an axis of one row before that of a line. */
static void window_of(const nd4c_call *call, nd4c_ref_window *w) {
  nd4c_cpu_conv_window(call, w);
  if (w->spatial == 1) {
    *w = (nd4c_ref_window){.spatial = 2,
                           .input = {1, w->input[0]},
                           .kernel = {1, w->kernel[0]},
                           .stride = {1, w->stride[0]},
                           .dilation = {1, w->dilation[0]},
                           .pad_begin = {0, w->pad_begin[0]},
                           .pad_end = {0, w->pad_end[0]}};
  }
}

static void job_band(job *j) {
  const nd4c_ref_window *w = &j->window;
  int64_t step = w->stride[1], seen = (j->width - 1) * step + (w->kernel[1] - 1) * w->dilation[1] + 1;
  j->band = (nd4c_depthwise_band){.left = w->pad_begin[1], .stride = step};
  int64_t length = seen - j->band.left < w->input[1] ? seen - j->band.left : w->input[1];
  j->band.length = length > 0 ? length : 0;
  int64_t longest = seen > j->band.left + j->band.length ? seen : j->band.left + j->band.length;
  j->band.part = round_up(longest / step + 1) + ND4C_DEPTHWISE_LANES;
  j->row_bytes = step * j->band.part * j->bytes;
  int64_t reach = (w->kernel[0] - 1) * w->dilation[0] + 1, fitting = BAND_BYTES / j->row_bytes - reach;
  j->rows = fitting / w->stride[0] > 8 ? fitting / w->stride[0] : 8;
  j->rows = j->rows < j->height ? j->rows : j->height;
  j->bands = (j->height + j->rows - 1) / j->rows;
  j->band_bytes = ((j->rows - 1) * w->stride[0] + reach) * j->row_bytes;
  j->worker_bytes = j->band_bytes + j->row_bytes;
  for (int64_t t = 0; t < j->taps; t++) {
    int64_t column = t % w->kernel[1] * w->dilation[1];
    j->offsets[t] =
        t / w->kernel[1] * w->dilation[0] * step * j->band.part + column % step * j->band.part + column / step;
  }
}

static void job_make(job *j, const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *y = &call->outputs[0];
  bool single = y->dtype == ND4C_FLOAT32;
  int32_t last = y->rank - 1;
  *j = (job){.x = x, .w = &call->inputs[ND4C_IN_conv_w], .y = y, .bytes = nd4c_simd_row_bytes(y->dtype)};
  j->loops = single ? nd4c_simd.depthwise->float32 : nd4c_simd.depthwise->float64;
  j->bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  j->addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  j->activate = nd4c_cpu_activation_loop(ND4C_INT_OF(call, conv_activation), y->dtype);
  j->parameters = nd4c_cpu_activation_parameters(ND4C_INT_OF(call, conv_activation), y->dtype);
  j->scratch = call->scratch;
  j->copies = y->shape[1] / x->shape[1];
  window_of(call, &j->window);
  j->taps = j->window.kernel[0] * j->window.kernel[1];
  j->width = y->shape[last];
  j->height = last == 3 ? y->shape[2] : 1;
  j->x_step = last == 3 ? x->strides[2] : 0;
  j->y_step = last == 3 ? y->strides[2] : 0;
  j->addend_step = last == 3 && j->addend != NULL ? j->addend->strides[2] : 0;
  job_band(j);
}

static const char *refuse_form(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  int64_t run = 1;
  if (x->rank != 3 && x->rank != 4) {
    return "not of one or two axes";
  }
  if (x->shape[1] < 2 || ND4C_INT_OF(call, conv_groups) != x->shape[1]) {
    return "not a filter a channel";
  }
  for (int32_t axis = w->rank - 1; axis >= 2; run *= w->shape[axis--]) {
    if (w->shape[axis] != 1 && w->strides[axis] != run) {
      return "a filter has gaps";
    }
  }
  if (run > MAX_TAPS) {
    return "the filter is large";
  }
  nd4c_ref_window window;
  window_of(call, &window);
  for (int32_t axis = 0; axis < 2; axis++) {
    if (window.stride[axis] > FARTHEST || window.dilation[axis] > FARTHEST || window.pad_begin[axis] > FARTHEST ||
        window.pad_end[axis] > FARTHEST) {
      return "cells or windows are far apart";
    }
  }
  int32_t last = y->rank - 1;
  return y->shape[last] < FEW_COLUMNS || !nd4c_simd_dense_axis(x, last) || !nd4c_simd_dense_axis(y, last)
             ? "rows have gaps, or few elements"
             : NULL;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  const nd4c_tensor *addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  const char *why = x->size == 0 || w->size == 0 || y->size == 0 ? "an operand is empty" : refuse_form(call);
  ND4C_CPU_DECLINE_IF(why != NULL, "%s", why);
  ND4C_CPU_DECLINE_IF(addend != NULL && !nd4c_cpu_same_shape(addend, y), "the addend's shape is not the result's");
  return true;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  return j.worker_bytes * (call->width > 1 ? call->width : 1);
}

/* Adds the addend to rows [first, first + rows) of a plane, and applies the activation. */
static void finish_rows(const job *j, int64_t image, int64_t channel, int64_t first, int64_t rows, char *y) {
  const nd4c_gemm_loops *gemm = j->bytes == 4 ? nd4c_simd.gemm->float32 : nd4c_simd.gemm->float64;
  for (int64_t row = 0; row < rows; row++, y += j->y_step * j->bytes) {
    if (j->addend != NULL) {
      const nd4c_tensor *a = j->addend;
      int64_t at = image * a->strides[0] + channel * a->strides[1] + (first + row) * j->addend_step;
      gemm->start(j->width, y, (const char *)a->data + at * j->bytes, a->strides[a->rank - 1], y);
    }
    if (j->activate != NULL) {
      j->activate(j->width, y, y, &j->parameters);
    }
  }
}

static void band_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_tensor *x = j->x, *y = j->y;
  char *band = j->scratch + worker * j->worker_bytes;
  nd4c_simd_row_loops(y->dtype)->fill(j->worker_bytes / j->bytes, 0, band);
  for (int64_t index = begin; index < end; index++) {
    int64_t first = index % j->bands * j->rows, plane = index / j->bands;
    int64_t image = plane / x->shape[1], channel = plane % x->shape[1];
    int64_t rows = j->height - first < j->rows ? j->height - first : j->rows;
    int64_t seen = (rows - 1) * j->window.stride[0] + (j->window.kernel[0] - 1) * j->window.dilation[0] + 1;
    const char *from = (const char *)x->data + (image * x->strides[0] + channel * x->strides[1]) * j->bytes;
    j->loops->load(&j->band, first * j->window.stride[0] - j->window.pad_begin[0], seen, j->window.input[0], from,
                   j->x_step, band + j->band_bytes, band);
    for (int64_t o = channel * j->copies; o < (channel + 1) * j->copies; o++) {
      const char *filter = (const char *)j->w->data + o * j->w->strides[0] * j->bytes;
      int64_t at = image * y->strides[0] + o * y->strides[1] + first * j->y_step;
      char *to = (char *)y->data + at * j->bytes;
      const char *bias = j->bias != NULL ? (const char *)j->bias->data + o * j->bias->strides[0] * j->bytes : NULL;
      double start = bias == NULL    ? 0
                     : j->bytes == 4 ? (double)*(const float *)(const void *)bias
                                     : *(const double *)(const void *)bias;
      j->loops->convolve(rows, j->width, band, j->window.stride[0] * j->row_bytes / j->bytes, j->taps, j->offsets,
                         filter, start, to, j->y_step);
      if (j->addend != NULL || j->activate != NULL) {
        finish_rows(j, image, o, first, rows, to);
      }
    }
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  int64_t work = j.rows * j.width * j.taps * j.copies;
  nd4c_cpu_parallel(j.x->shape[0] * j.x->shape[1] * j.bands, 65536 / work + 1, call->width, band_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_window_depthwise_kernels[] = {
    ND4C_CPU_KERNEL("simd", conv, "conv_depthwise", ND4C_CPU_PRIORITY_ONEDNN + 2, ND4C_SIMD_ROW_DTYPES, usable, run,
                    .scratch_bytes = scratch_bytes),
    NULL};
