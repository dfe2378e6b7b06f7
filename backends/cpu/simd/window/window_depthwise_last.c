/* Depthwise conv of engine simd, channels last, f32 and bfloat16: all channels of some places of a row of y at a time,
 * with CONSTANT weights that are packed once, a row of channels for each tap. dispatch/choice.c asks this kernel before
 * oneDNN's where it is faster, and after it. */
#include "backends/cpu/simd/rows.h"
#include "backends/cpu/support/packed_weights.h"

/* MOST_TAPS: of a filter. ROW_BYTES: of a worker's row of sums. ITEMS: for a worker at least, so that they share the
 * rows evenly; rows are cut into parts of channels for that. */
enum {
  MOST_TAPS = 64,
  SMALL_PLANE = 49,
  SMALL_PLANE_AVX2 = 784,
  MANY_CHANNELS_AVX2 = 64,
  SMALL_NARROW_PLANE = 196,
  ITEMS = 4,
  PART_BLOCKS = 4,
  FARTHEST = 4096
};

typedef struct job {
  nd4c_unary_loop activate; /* NULL: none, or an inner one */
  nd4c_unary_parameters parameters;
  nd4c_inner_activation inner; /* before sums leave the registers */
  const nd4c_tensor *x, *w, *y, *bias;
  nd4c_ref_window window;
  bool narrow, strips;      /* strips: rows are computed as strips */
  int64_t channels, padded; /* padded: to whole blocks */
  int64_t height, width;    /* of y */
  int64_t parts, part;      /* parts of the channels, and channels of one */
  float *start;             /* the bias in the kernel's order, `padded` elements, before the workers' rows */
  int64_t row_elements;     /* of a worker's row of sums; 0: they are written to y */
} job;

/* Windows of three cells every two share too few for strips to pay in f32 (1.1 of the time). */
static bool is_strip(const nd4c_ref_window *w, bool narrow) {
  return w->dilation[1] == 1 && nd4c_simd.depthwise_last->serves_strip(w->kernel[1], w->stride[1]) &&
         (narrow || w->kernel[1] > 3 || w->stride[1] == 1);
}

/* Whether a row of sums comes before the results: bfloat16 that an activation or other windows than strips' leave. */
static bool writes_sums(const job *j) {
  return j->narrow && (j->activate != NULL || !j->strips);
}

static void job_make(job *j, const nd4c_call *call) {
  const int64_t activation = ND4C_INT_OF(call, conv_activation), block = nd4c_simd.depthwise_last->block;
  *j = (job){.x = &call->inputs[ND4C_IN_conv_x], .w = &call->inputs[ND4C_IN_conv_w], .y = &call->outputs[0]};
  j->bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  j->inner = nd4c_cpu_inner_activation(activation);
  j->activate = j->inner != ND4C_INNER_NONE ? NULL : nd4c_cpu_activation_loop(activation, ND4C_FLOAT32);
  j->parameters = nd4c_cpu_activation_parameters(activation, ND4C_FLOAT32);
  nd4c_cpu_conv_window(call, &j->window);
  j->narrow = j->y->dtype == ND4C_BFLOAT16;
  j->strips = is_strip(&j->window, j->narrow);
  j->channels = j->y->shape[1];
  j->padded = nd4c_cpu_divide_up(j->channels, block) * block;
  j->height = j->y->shape[2];
  j->width = j->y->shape[3];
  const int64_t rows = j->y->shape[0] * j->height, width = call->width > 1 ? call->width : 1;
  const int64_t blocks = j->padded / block, most = nd4c_cpu_divide_up(blocks, PART_BLOCKS);
  j->parts = nd4c_cpu_divide_up(width * ITEMS, rows);
  j->parts = width == 1 ? 1 : j->parts < most ? j->parts : most;
  j->part = nd4c_cpu_divide_up(blocks, j->parts) * block;
  j->parts = nd4c_cpu_divide_up(j->channels, j->part);
  j->row_elements = writes_sums(j) ? j->width * j->part : 0;
  j->start = call->scratch;
}

/* -- may it ------------------------------------------------------------------------------------------------------- */

static const char *refuse_window(const nd4c_call *call) {
  nd4c_ref_window w;
  nd4c_cpu_conv_window(call, &w);
  for (int32_t axis = 0; axis < 2; axis++) {
    if (w.stride[axis] > FARTHEST || w.dilation[axis] > FARTHEST || w.pad_begin[axis] > FARTHEST ||
        w.pad_end[axis] > FARTHEST || w.kernel[axis] > MOST_TAPS) {
      return "cells or windows are far apart";
    }
  }
  return w.kernel[0] * w.kernel[1] > MOST_TAPS ? "the filter is large" : NULL;
}

static const char *refuse(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  if (x->rank != 4 || x->size == 0 || w->size == 0 || y->size == 0) {
    return "not of two axes, or an operand is empty";
  }
  if ((w->flags & ND4C_TENSOR_CONSTANT) == 0) {
    return "the weights are not constant";
  }
  if (!nd4c_simd_level_is("avx512") && !(nd4c_simd_level_is("avx2") && y->dtype == ND4C_FLOAT32)) {
    return "without AVX2, or in bfloat16 without AVX-512, the libraries are faster";
  }
  if (ND4C_INT_OF(call, conv_groups) != x->shape[1] || y->shape[1] != x->shape[1] || x->shape[1] < 2) {
    return "not a filter a channel";
  }
  if (nd4c_cpu_input(call, ND4C_IN_conv_addend) != NULL) {
    return "an addend";
  }
  if (x->strides[1] != 1 || y->strides[1] != 1) {
    return "channels do not lie side by side";
  }
  return bias != NULL && (bias->size != y->shape[1] || bias->strides[0] != 1) ? "the bias is not contiguous"
                                                                              : refuse_window(call);
}

/* Where the kernel takes 0.4 to 1.05 of oneDNN's time. */
static const char *refuse_slow(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  const bool narrow = y->dtype == ND4C_BFLOAT16;
  nd4c_ref_window w;
  nd4c_cpu_conv_window(call, &w);
  if (nd4c_simd_level_is("avx2")) {
    const bool side_by_side = is_strip(&w, narrow) && w.stride[1] == 1 && y->shape[1] >= MANY_CHANNELS_AVX2;
    return side_by_side || y->shape[2] * y->shape[3] <= SMALL_PLANE_AVX2 ? NULL : "oneDNN is faster";
  }
  const bool small = y->shape[2] * y->shape[3] <= (narrow ? SMALL_NARROW_PLANE : SMALL_PLANE);
  const bool apart = !narrow && w.stride[0] > 1 && w.stride[1] > 1;
  const bool shared = is_strip(&w, narrow) && y->shape[1] >= nd4c_simd.depthwise_last->block;
  return small || apart || shared ? NULL : "oneDNN is faster";
}

static bool usable_first(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse(call);
  why = why != NULL ? why : refuse_slow(call);
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse(call);
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

/* -- packing ------------------------------------------------------------------------------------------------------ */

static int64_t place_of(bool narrow, int64_t channel) {
  return narrow ? nd4c_simd.depthwise_last->spread(channel) : channel;
}

static bool wants_layout(const nd4c_call *call, int32_t input, nd4c_layout *layout) {
  static const char form[] = "dw last";
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w];
  const int64_t block = nd4c_simd.depthwise_last->block;
  if (input != ND4C_IN_conv_w) {
    return false;
  }
  nd4c_cpu_packed_describe(
      w, form, block, w->dtype,
      nd4c_cpu_divide_up(w->shape[0], block) * block * (w->size / w->shape[0]) * (int64_t)sizeof(float), layout);
  return true;
}

/* Weights are few, so the calling thread packs them all. */
static nd4c_status pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to) {
  const nd4c_tensor *w = &call->inputs[input];
  const int64_t block = nd4c_simd.depthwise_last->block, padded = nd4c_cpu_divide_up(w->shape[0], block) * block;
  const int64_t taps = w->shape[2] * w->shape[3];
  float *at = to->data;
  memset(at, 0, (size_t)layout->bytes);
  for (int64_t tap = 0; tap < taps; tap++, at += padded) {
    const int64_t cell = tap / w->shape[3] * w->strides[2] + tap % w->shape[3] * w->strides[3];
    for (int64_t channel = 0; channel < w->shape[0]; channel++) {
      at[place_of(w->dtype == ND4C_BFLOAT16, channel)] = nd4c_cpu_wide_element(w, channel * w->strides[0] + cell);
    }
  }
  return ND4C_OK;
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  return nd4c_cpu_packed_prepare(call, ND4C_IN_conv_w, state);
}

/* -- running ------------------------------------------------------------------------------------------------------ */

static int64_t scratch_bytes(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  return (j.padded + j.row_elements * (call->width > 1 ? call->width : 1)) * (int64_t)sizeof(float);
}

/* One row of y, and a part of its channels. */
typedef struct row_work {
  const job *j;
  int64_t row, first, channels; /* first: of the channels */
  int64_t x_offset;             /* of the image and the first channel, in elements */
  char *to;                     /* where place 0 goes */
  int64_t to_step;              /* elements from one place to the next */
} row_work;

/* The first tap of an axis that sees a cell, and the one after the last, for window `index`. */
static void tap_range(const nd4c_ref_window *w, int32_t axis, int64_t index, int64_t *first, int64_t *end) {
  const int64_t start = index * w->stride[axis] - w->pad_begin[axis], apart = w->dilation[axis];
  *first = start < 0 ? nd4c_cpu_divide_up(-start, apart) : 0;
  *end = start >= w->input[axis] ? 0 : nd4c_cpu_divide_up(w->input[axis] - start, apart);
  *end = *end < w->kernel[axis] ? *end : w->kernel[axis];
}

/* Computes `places` places from `column` on, for which the same taps along the row see cells. */
static void compute_places(const row_work *r, int64_t column, int64_t places) {
  const job *j = r->j;
  const nd4c_ref_window *w = &j->window;
  int64_t cells[MOST_TAPS], weights[MOST_TAPS], rows[2], columns[2];
  nd4c_depthwise_taps taps = {.cells = cells, .weights = weights};
  tap_range(w, 0, r->row, &rows[0], &rows[1]);
  tap_range(w, 1, column, &columns[0], &columns[1]);
  for (int64_t y = rows[0]; y < rows[1]; y++) {
    for (int64_t x = columns[0]; x < columns[1]; x++) {
      const int64_t at_y = r->row * w->stride[0] - w->pad_begin[0] + y * w->dilation[0];
      const int64_t at_x = column * w->stride[1] - w->pad_begin[1] + x * w->dilation[1];
      cells[taps.count] = r->x_offset + at_y * j->x->strides[2] + at_x * j->x->strides[3];
      weights[taps.count++] = (y * w->kernel[1] + x) * j->padded;
    }
  }
  const int64_t x_step = w->stride[1] * j->x->strides[3];
  const float *packed = (const float *)j->w->data + r->first, *bias = j->start + r->first;
  float *to = (float *)(void *)r->to + column * r->to_step;
  if (j->narrow) {
    nd4c_simd.depthwise_last->convolve_bfloat16(places, r->channels, &taps, j->x->data, x_step, packed, bias, j->inner,
                                                to, r->to_step);
  } else {
    nd4c_simd.depthwise_last->convolve_float32(places, r->channels, &taps, j->x->data, x_step, packed, bias, j->inner,
                                               to, r->to_step);
  }
}

/* Places whose windows cross an edge alone, those between them together. */
static void compute_row(const row_work *r) {
  const job *j = r->j;
  const nd4c_ref_window *w = &j->window;
  int64_t first = nd4c_cpu_divide_up(w->pad_begin[1], w->stride[1]);
  const int64_t room = w->input[1] + w->pad_begin[1] - (w->kernel[1] - 1) * w->dilation[1] - 1;
  int64_t end = room < 0 ? 0 : room / w->stride[1] + 1;
  end = end < j->width ? end : j->width;
  first = first < end ? first : end;
  for (int64_t column = 0; column < first; column++) {
    compute_places(r, column, 1);
  }
  if (first < end) {
    compute_places(r, first, end - first);
  }
  for (int64_t column = end; column < j->width; column++) {
    compute_places(r, column, 1);
  }
}

/* All places of the row, if the windows are strips. */
static void compute_strip(const row_work *r) {
  const job *j = r->j;
  const nd4c_ref_window *w = &j->window;
  const nd4c_depthwise_last_table *table = nd4c_simd.depthwise_last;
  int64_t first = 0, end = 0;
  tap_range(w, 0, r->row, &first, &end);
  first = first < end ? first : end; /* windows that see padding alone */
  const nd4c_depthwise_strip strip = {.rows = end - first,
                                      .x_row_step = w->dilation[0] * j->x->strides[2],
                                      .taps = w->kernel[1],
                                      .stride = w->stride[1],
                                      .cells = w->input[1],
                                      .x_step = j->x->strides[3],
                                      .padding = w->pad_begin[1],
                                      .w_row_step = w->kernel[1] * j->padded,
                                      .w_step = j->padded};
  const int64_t top = first < end ? r->row * w->stride[0] - w->pad_begin[0] + first * w->dilation[0] : 0;
  const int64_t at = r->x_offset + top * j->x->strides[2];
  const float *packed = (const float *)j->w->data + r->first + first * strip.w_row_step, *bias = j->start + r->first;
  if (!j->narrow) {
    table->strip_float32(&strip, j->width, r->channels, (const float *)j->x->data + at, packed, bias, j->inner,
                         (float *)(void *)r->to, r->to_step);
  } else if (writes_sums(j)) {
    table->strip_sums_bfloat16(&strip, j->width, r->channels, (const uint16_t *)j->x->data + at, packed, bias, j->inner,
                               (float *)(void *)r->to, r->to_step);
  } else {
    table->strip_bfloat16(&strip, j->width, r->channels, (const uint16_t *)j->x->data + at, packed, bias, j->inner,
                          (uint16_t *)(void *)r->to, r->to_step);
  }
}

static void finish_row(const row_work *r, char *y) {
  const job *j = r->j;
  float *sums = (float *)(void *)r->to;
  const bool dense = r->to_step == r->channels;
  const int64_t padded = writes_sums(j) ? r->to_step : r->channels;
  for (int64_t i = 0; i < (dense ? 1 : j->width) && j->activate != NULL; i++) {
    j->activate(dense ? j->width * padded : padded, sums + i * r->to_step, sums + i * r->to_step, &j->parameters);
  }
  for (int64_t i = 0; i < j->width && writes_sums(j); i++) {
    nd4c_simd.depthwise_last->join_bfloat16(r->channels, sums + i * r->to_step,
                                            (uint16_t *)(void *)y + i * j->y->strides[3]);
  }
}

static void row_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const int64_t bytes = j->narrow ? 2 : 4;
  for (int64_t item = begin; item < end; item++) {
    const int64_t row = item / j->parts, image = row / j->height, first = item % j->parts * j->part;
    row_work r = {.j = j, .row = row % j->height, .first = first};
    r.channels = j->channels - first < j->part ? j->channels - first : j->part;
    r.x_offset = image * j->x->strides[0] + first;
    char *y = (char *)j->y->data + (image * j->y->strides[0] + r.row * j->y->strides[2] + first) * bytes;
    r.to = writes_sums(j) ? (char *)(j->start + j->padded + worker * j->row_elements) : y;
    r.to_step = writes_sums(j) ? j->part : j->y->strides[3];
    if (j->strips) {
      compute_strip(&r);
    } else {
      compute_row(&r);
    }
    finish_row(&r, y);
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  memset(j.start, 0, (size_t)j.padded * sizeof *j.start);
  for (int64_t channel = 0; channel < j.channels && j.bias != NULL; channel++) {
    j.start[place_of(j.narrow, channel)] = nd4c_cpu_wide_element(j.bias, channel);
  }
  const int64_t work = j.width * j.window.kernel[0] * j.window.kernel[1] * j.part;
  nd4c_cpu_parallel(j.y->shape[0] * j.height * j.parts, 65536 / work + 1, call->width, row_range, &j);
  return ND4C_OK;
}

#define KERNEL(name, priority, asks)                                                                                \
  ND4C_CPU_KERNEL("simd", conv, name, priority, ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_BFLOAT16), asks, \
                  run, .prepare = prepare, .scratch_bytes = scratch_bytes, .flags = ND4C_KERNEL_SHARES_STATE,       \
                  .wants_layout = wants_layout, .pack = pack)

const nd4c_kernel *const nd4c_cpu_simd_window_depthwise_last_kernels[] = {
    KERNEL("conv_depthwise_last_first", ND4C_CPU_PRIORITY_ONEDNN + 2, usable_first),
    KERNEL("conv_depthwise_last", ND4C_CPU_PRIORITY_ONEDNN - 1, usable), NULL};
