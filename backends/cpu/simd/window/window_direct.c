/* conv of engine simd with small windows and few channels, f32, channels last: some rows of x are copied with their
 * padding, and windows are read there as they lie. CONSTANT weights are packed once into panels. oneDNN would compile
 * code for each shape, which takes as long as hundreds of such convolutions. dispatch/choice.c asks this kernel before
 * oneDNN's. */
#include "backends/cpu/simd/rows.h"
#include "backends/cpu/support/packed_weights.h"

/* MOST_CELLS: of a window. BAND_BYTES: of the copied rows, which stay in the caches. FARTHEST: columns, strides and
 * padding, so that a band is small. GRAIN: multiplications that are worth another worker. */
enum { MOST_CELLS = 49, BAND_BYTES = 1 << 15, FARTHEST = 2048, GRAIN = 1 << 18, MANY_TERMS = 129 };

/* Up to LITTLE multiplications oneDNN's calls cost more than its faster code saves. Up to MUCH, with windows of at most
 * NEAR cells and LEAST_OUTPUTS outputs, this kernel takes 0.9 to 1.1 of oneDNN's time, but needs no code for a new
 * shape: that takes as long as a hundred runs and more would save. With AVX2, from MANY_TERMS on oneDNN took 0.8 to 1.0
 * of this kernel's time, and window_panels.c 0.8 to 0.9. */
enum { LITTLE = 1 << 20, MUCH = 1 << 24, NEAR = 9, LEAST_OUTPUTS = 12 };

typedef struct job {
  nd4c_unary_loop activate; /* NULL: none, or the inner one */
  nd4c_unary_parameters parameters;
  nd4c_inner_activation inner; /* before sums leave the registers */
  const nd4c_tensor *x, *w, *y, *addend;
  const float *bias; /* NULL: none */
  nd4c_ref_window window;
  nd4c_direct_window cells;
  int64_t height, width, outputs, channels; /* height, width: of y */
  int64_t before, inside, after;            /* cells of a band's row: zeros, of x, zeros */
  int64_t row_length, beyond;               /* elements of a band's row, and behind its last one */
  int64_t rows, blocks;                     /* rows: of y in a block; blocks: of an image */
  char *scratch;
  int64_t worker_bytes;
  int64_t offsets[MOST_CELLS];
} job;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t rows_seen(const job *j, int64_t rows) {
  return (rows - 1) * j->window.stride[0] + (j->window.kernel[0] - 1) * j->window.dilation[0] + 1;
}

/* Rows of y that a worker computes at a time. */
static int64_t rows_of_block(const job *j, int64_t workers) {
  const double multiplications = (double)j->y->size * (double)(j->w->size / j->outputs);
  const double worth = 1 + multiplications / GRAIN;
  const int64_t parts = worth < (double)workers ? (int64_t)worth : workers;
  const int64_t shared = nd4c_cpu_divide_up(j->height * j->y->shape[0], parts);
  const int64_t most = BAND_BYTES / (j->row_length * (int64_t)sizeof(float)) - rows_seen(j, 1);
  const int64_t fitting = most < 0 ? 1 : most / j->window.stride[0] + 1;
  return least(least(fitting, shared), j->height);
}

static void cut(job *j, int64_t workers) {
  const nd4c_ref_window *w = &j->window;
  const int64_t seen = (j->width - 1) * w->stride[1] + (w->kernel[1] - 1) * w->dilation[1] + 1;
  j->before = least(w->pad_begin[1], seen);
  j->inside = least(seen - j->before, w->input[1]);
  j->after = seen - j->before - j->inside;
  j->row_length = (j->before + j->inside + j->after) * j->channels;
  j->rows = rows_of_block(j, workers);
  j->blocks = nd4c_cpu_divide_up(j->height, j->rows);
  j->rows = nd4c_cpu_divide_up(j->height, j->blocks);
  j->blocks = nd4c_cpu_divide_up(j->height, j->rows);
  j->beyond = nd4c_simd.direct->beyond * w->stride[1] * j->channels;
  j->worker_bytes = (rows_seen(j, j->rows) * j->row_length + j->beyond) * (int64_t)sizeof(float);
}

static void job_make(job *j, const nd4c_call *call) {
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  const int64_t activation = ND4C_INT_OF(call, conv_activation);
  j->scratch = call->scratch;
  j->x = &call->inputs[ND4C_IN_conv_x];
  j->w = &call->inputs[ND4C_IN_conv_w];
  j->y = &call->outputs[0];
  j->addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  j->bias = bias != NULL ? bias->data : NULL;
  j->inner = nd4c_cpu_inner_activation(activation);
  j->activate = j->inner != ND4C_INNER_NONE ? NULL : nd4c_cpu_activation_loop(activation, ND4C_FLOAT32);
  j->parameters = nd4c_cpu_activation_parameters(activation, ND4C_FLOAT32);
  nd4c_cpu_conv_window(call, &j->window);
  j->height = j->y->shape[2];
  j->width = j->y->shape[3];
  j->outputs = j->w->shape[0];
  j->channels = j->w->shape[1];
  cut(j, call->width > 1 ? call->width : 1);
  const nd4c_ref_window *w = &j->window;
  j->cells = (nd4c_direct_window){.cells = w->kernel[0] * w->kernel[1],
                                  .channels = j->channels,
                                  .taps = w->kernel[1] == 3 && w->stride[1] == 1 && w->dilation[1] == 1 ? 3 : 1,
                                  .offsets = j->offsets,
                                  .step = w->stride[1] * j->channels};
  for (int64_t cell = 0; cell < j->cells.cells; cell++) {
    j->offsets[cell] =
        cell / w->kernel[1] * w->dilation[0] * j->row_length + cell % w->kernel[1] * w->dilation[1] * j->channels;
  }
}

/* -- may it ------------------------------------------------------------------------------------------------------- */

static const char *refuse_window(const nd4c_call *call) {
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w];
  nd4c_ref_window window;
  nd4c_cpu_conv_window(call, &window);
  for (int32_t axis = 0; axis < 2; axis++) {
    if (window.stride[axis] > FARTHEST || window.dilation[axis] > FARTHEST || window.pad_begin[axis] > FARTHEST ||
        window.pad_end[axis] > FARTHEST || window.kernel[axis] > MOST_CELLS) {
      return "cells or windows are far apart";
    }
  }
  const int64_t cells = w->shape[2] * w->shape[3];
  return cells == 1 || cells > MOST_CELLS ? "windows of one cell, or of many" : NULL;
}

static const char *refuse(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  const nd4c_tensor *addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  if (x->rank != 4 || x->size == 0 || w->size == 0 || y->size == 0) {
    return "not of two axes, or an operand is empty";
  }
  if ((w->flags & ND4C_TENSOR_CONSTANT) == 0) {
    return "the weights are not constant";
  }
  if (!nd4c_simd_level_is("avx2") && !nd4c_simd_level_is("avx512")) {
    return "without AVX2 the libraries are faster";
  }
  if (ND4C_INT_OF(call, conv_groups) != 1) {
    return "groups of channels";
  }
  if (x->strides[1] != 1 || y->strides[1] != 1 || (addend != NULL && addend->strides[1] != 1)) {
    return "channels do not lie side by side";
  }
  if (addend != NULL && !nd4c_cpu_same_shape(addend, y)) {
    return "the addend's shape is not the result's";
  }
  if (x->shape[3] > FARTHEST || y->shape[3] > FARTHEST) {
    return "many columns";
  }
  return bias != NULL && (bias->size != y->shape[1] || bias->strides[0] != 1) ? "the bias is not contiguous"
                                                                              : refuse_window(call);
}

/* Whether oneDNN computes it faster, by so much that its code for the shape is worth compiling. */
static const char *is_slow(const nd4c_call *call) {
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  const int64_t terms = w->size / w->shape[0];
  const double multiplications = (double)y->size * (double)terms;
  const int64_t width = y->shape[3], computed = nd4c_simd.direct->places(width);
  const bool fits = w->shape[2] * w->shape[3] <= NEAR && w->shape[0] >= LEAST_OUTPUTS && 4 * computed <= 5 * width;
  if (nd4c_simd_level_is("avx2") && terms >= MANY_TERMS) {
    return "oneDNN is faster";
  }
  return multiplications <= LITTLE || (multiplications <= MUCH && fits) ? NULL : "oneDNN is faster";
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse(call);
  why = why == NULL ? is_slow(call) : why;
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

/* -- packing ------------------------------------------------------------------------------------------------------ */

static int64_t panel_of(const nd4c_tensor *w) {
  return nd4c_simd.direct->panel_outputs(w->shape[0]);
}

static bool wants_layout(const nd4c_call *call, int32_t input, nd4c_layout *layout) {
  static const char form[] = "direct ";
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w];
  if (input != ND4C_IN_conv_w) {
    return false;
  }
  const int64_t rows = nd4c_cpu_divide_up(w->shape[0], panel_of(w)) * panel_of(w);
  nd4c_cpu_packed_describe(w, form, panel_of(w), ND4C_FLOAT32, rows * (w->size / w->shape[0]) * (int64_t)sizeof(float),
                           layout);
  return true;
}

/* Weights are few, so the calling thread packs them all. */
static nd4c_status pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to) {
  const nd4c_tensor *w = &call->inputs[input];
  (void)layout;
  return nd4c_cpu_packed_panels(w, panel_of(w), true, to->data);
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  return nd4c_cpu_packed_prepare(call, ND4C_IN_conv_w, state);
}

/* -- running ------------------------------------------------------------------------------------------------------ */

static int64_t scratch_bytes(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  return j.worker_bytes * (call->width > 1 ? call->width : 1);
}

/* Row `row` of x with its padding; a row outside of x is zeros. */
static void load_row(const job *j, const float *image, int64_t row, float *to) {
  const int64_t column_step = j->x->strides[3], channels = j->channels;
  const size_t cell = (size_t)channels * sizeof *to;
  if (row < 0 || row >= j->window.input[0]) {
    memset(to, 0, (size_t)j->row_length * sizeof *to);
    return;
  }
  const float *from = image + row * j->x->strides[2];
  memset(to, 0, (size_t)j->before * cell);
  to += j->before * channels;
  if (column_step == channels) {
    memcpy(to, from, (size_t)j->inside * cell);
  } else {
    for (int64_t i = 0; i < j->inside; i++) {
      memcpy(to + i * channels, from + i * column_step, cell);
    }
  }
  memset(to + j->inside * channels, 0, (size_t)j->after * cell);
}

static void activate(const job *j, float *y) {
  for (int64_t i = 0; i < j->width && j->activate != NULL; i++) {
    j->activate(j->outputs, y + i * j->y->strides[3], y + i * j->y->strides[3], &j->parameters);
  }
}

static nd4c_direct_target target_of_row(const job *j, int64_t image, int64_t row) {
  const nd4c_tensor *y = j->y, *addend = j->addend;
  nd4c_direct_target to = {.step = y->strides[3], .bias = j->bias, .activation = j->inner};
  to.y = (float *)y->data + image * y->strides[0] + row * y->strides[2];
  if (addend != NULL) {
    to.addend = (const float *)addend->data + image * addend->strides[0] + row * addend->strides[2];
    to.addend_step = addend->strides[3];
  }
  return to;
}

static void block_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  float *band = (float *)(void *)(j->scratch + worker * j->worker_bytes);
  memset(band + rows_seen(j, j->rows) * j->row_length, 0, (size_t)j->beyond * sizeof *band);
  for (int64_t block = begin; block < end; block++) {
    const int64_t index = block / j->blocks, first = block % j->blocks * j->rows;
    const int64_t rows = least(j->height - first, j->rows);
    const float *image = (const float *)j->x->data + index * j->x->strides[0];
    for (int64_t i = 0; i < rows_seen(j, rows); i++) {
      load_row(j, image, first * j->window.stride[0] - j->window.pad_begin[0] + i, band + i * j->row_length);
    }
    for (int64_t row = 0; row < rows; row++) {
      const nd4c_direct_target to = target_of_row(j, index, first + row);
      nd4c_simd.direct->convolve(j->width, j->outputs, &j->cells, band + row * j->window.stride[0] * j->row_length,
                                 j->w->data, &to);
      activate(j, to.y);
    }
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  nd4c_cpu_parallel(j.y->shape[0] * j.blocks, 1, call->width, block_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_window_direct_kernels[] = {
    ND4C_CPU_KERNEL("simd", conv, "conv_direct", ND4C_CPU_PRIORITY_ONEDNN + 1, ND4C_DTYPE_BIT(ND4C_FLOAT32), usable,
                    run, .prepare = prepare, .scratch_bytes = scratch_bytes, .flags = ND4C_KERNEL_SHARES_STATE,
                    .wants_layout = wants_layout, .pack = pack),
    NULL};
