/* conv of engine simd with few input channels, f32: channels first in, channels last out, as the first conv of a
 * network of images. The rows of x that some rows of y see are copied with their padding, and multiplied by CONSTANT
 * weights that are packed once into panels. dispatch/choice.c asks this kernel before oneDNN's, which takes 1.3 to 2
 * times as long with small windows. */
#include "backends/cpu/simd/rows.h"
#include "backends/cpu/support/packed_weights.h"

/* With more channels or larger windows oneDNN is as fast or faster, and with fewer than MANY_OUTPUTS outputs from MUCH
 * multiplications on: below, this kernel saves the time in which oneDNN would compile code for the shape. MOST_TERMS:
 * of a window. BAND_BYTES: of the copied rows, which stay in the caches. FARTHEST: columns, strides and padding, so
 * that a band is small. GRAIN: multiplications that are worth another worker. */
enum {
  MOST_CHANNELS = 4,
  MOST_TERMS = 64,
  LEAST_OUTPUTS = 8,
  MANY_OUTPUTS = 24,
  BAND_BYTES = 1 << 16,
  FARTHEST = 2048
};
enum { MUCH = 1 << 24, GRAIN = 1 << 18 };

typedef struct job {
  nd4c_unary_loop activate; /* NULL: none, or the inner one */
  nd4c_unary_parameters parameters;
  nd4c_inner_activation inner; /* before sums leave the registers */
  const nd4c_tensor *x, *w, *y;
  const float *bias; /* NULL: none */
  nd4c_ref_window window;
  int64_t height, width, outputs, depth; /* height, width: of y; depth: terms of a sum */
  nd4c_depthwise_band band;              /* of one channel */
  int64_t row_length, plane;             /* elements of a band's row, and of a band */
  int64_t rows, blocks;                  /* rows: of y in a block; blocks: of an image */
  char *scratch;
  int64_t worker_bytes;
  int64_t offsets[MOST_TERMS]; /* of each term of a window in the bands, from the window's first */
} job;

static int64_t round_up(int64_t n) {
  return nd4c_cpu_divide_up(n, ND4C_DEPTHWISE_LANES) * ND4C_DEPTHWISE_LANES;
}

static int64_t rows_seen(const job *j, int64_t rows) {
  return (rows - 1) * j->window.stride[0] + (j->window.kernel[0] - 1) * j->window.dilation[0] + 1;
}

static double multiplications(const nd4c_tensor *w, const nd4c_tensor *y) {
  return (double)y->size * (double)(w->size / w->shape[0]); /* no extent is 0 */
}

/* Rows of y for each worker that is worth having. */
static int64_t shared_rows(const job *j, int64_t workers) {
  const double parts = 1 + multiplications(j->w, j->y) / GRAIN;
  return nd4c_cpu_divide_up(j->height * j->y->shape[0], parts < (double)workers ? (int64_t)parts : workers);
}

static void cut(job *j, int64_t workers) {
  const nd4c_ref_window *w = &j->window;
  const int64_t step = w->stride[1], seen = (j->width - 1) * step + (w->kernel[1] - 1) * w->dilation[1] + 1;
  const int64_t length = seen - w->pad_begin[1] < w->input[1] ? seen - w->pad_begin[1] : w->input[1];
  j->band = (nd4c_depthwise_band){.left = w->pad_begin[1], .stride = step, .length = length > 0 ? length : 0};
  const int64_t longest = seen > j->band.left + j->band.length ? seen : j->band.left + j->band.length;
  j->band.part = round_up(longest / step + 1) + ND4C_DEPTHWISE_LANES;
  j->row_length = step * j->band.part;
  const int64_t fitting = BAND_BYTES / (j->x->shape[1] * j->row_length * (int64_t)sizeof(float)) - rows_seen(j, 1);
  const int64_t shared = shared_rows(j, workers > 1 ? workers : 1);
  j->rows = fitting / w->stride[0] + 1;
  j->rows = j->rows < shared ? j->rows : shared;
  j->rows = j->rows < 1 ? 1 : j->rows < j->height ? j->rows : j->height;
  j->blocks = nd4c_cpu_divide_up(j->height, j->rows);
  j->plane = rows_seen(j, j->rows) * j->row_length;
  j->worker_bytes = (j->x->shape[1] * j->plane + j->row_length) * (int64_t)sizeof(float);
}

static void find_terms(job *j) {
  const nd4c_ref_window *w = &j->window;
  for (int64_t term = 0; term < j->depth; term++) {
    const int64_t cell = term % (w->kernel[0] * w->kernel[1]), channel = term / (w->kernel[0] * w->kernel[1]);
    const int64_t column = cell % w->kernel[1] * w->dilation[1], row = cell / w->kernel[1] * w->dilation[0];
    j->offsets[term] =
        channel * j->plane + row * j->row_length + column % w->stride[1] * j->band.part + column / w->stride[1];
  }
}

static void job_make(job *j, const nd4c_call *call) {
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  const int64_t activation = ND4C_INT_OF(call, conv_activation);
  j->scratch = call->scratch;
  j->x = &call->inputs[ND4C_IN_conv_x];
  j->w = &call->inputs[ND4C_IN_conv_w];
  j->y = &call->outputs[0];
  j->bias = bias != NULL ? bias->data : NULL;
  j->inner = nd4c_cpu_inner_activation(activation);
  j->activate = j->inner != ND4C_INNER_NONE ? NULL : nd4c_cpu_activation_loop(activation, ND4C_FLOAT32);
  j->parameters = nd4c_cpu_activation_parameters(activation, ND4C_FLOAT32);
  nd4c_cpu_conv_window(call, &j->window);
  j->height = j->y->shape[2];
  j->width = j->y->shape[3];
  j->outputs = j->w->shape[0];
  j->depth = j->w->size / j->outputs; /* no extent is 0 */
  cut(j, call->width);
  find_terms(j);
}

/* -- may it ------------------------------------------------------------------------------------------------------- */

static const char *refuse_window(const nd4c_call *call) {
  nd4c_ref_window w;
  nd4c_cpu_conv_window(call, &w);
  for (int32_t axis = 0; axis < 2; axis++) {
    if (w.stride[axis] > FARTHEST || w.dilation[axis] > FARTHEST || w.pad_begin[axis] > FARTHEST ||
        w.pad_end[axis] > FARTHEST || w.kernel[axis] > MOST_TERMS) {
      return "cells or windows are far apart";
    }
  }
  return NULL;
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
  if (!nd4c_simd_level_is("avx2") && !nd4c_simd_level_is("avx512")) {
    return "without AVX2 the libraries are faster";
  }
  if (x->shape[1] > MOST_CHANNELS || ND4C_INT_OF(call, conv_groups) != 1 || w->size / w->shape[0] > MOST_TERMS ||
      w->shape[0] < LEAST_OUTPUTS) {
    return "many channels, groups, large windows, or few results";
  }
  if (w->shape[0] < MANY_OUTPUTS && multiplications(w, y) > MUCH) {
    return "few results of many multiplications: oneDNN is faster";
  }
  if (nd4c_cpu_input(call, ND4C_IN_conv_addend) != NULL) {
    return "an addend";
  }
  if (y->shape[3] > FARTHEST || x->shape[3] > FARTHEST || !nd4c_simd_dense_axis(x, 3)) {
    return "rows have gaps, or many columns";
  }
  const int64_t row = y->shape[3] * y->strides[3];
  if ((w->shape[0] > 1 && y->strides[1] != 1) || (y->shape[2] > 1 && y->strides[2] != row)) {
    return "the result's channels do not lie side by side, or its cells not equally far apart";
  }
  return bias != NULL && (bias->size != w->shape[0] || (bias->size > 1 && bias->strides[0] != 1))
             ? "the bias is not contiguous"
             : refuse_window(call);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse(call);
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

/* -- packing ------------------------------------------------------------------------------------------------------ */

static bool wants_layout(const nd4c_call *call, int32_t input, nd4c_layout *layout) {
  static const char form[] = "few ch ";
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w];
  const int64_t width = nd4c_simd.few->panel_outputs;
  if (input != ND4C_IN_conv_w) {
    return false;
  }
  nd4c_cpu_packed_describe(
      w, form, width, ND4C_FLOAT32,
      nd4c_cpu_divide_up(w->shape[0], width) * width * (w->size / w->shape[0]) * (int64_t)sizeof(float), layout);
  return true;
}

/* Weights are few, so the calling thread packs them all. */
static nd4c_status pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to) {
  const nd4c_tensor *w = &call->inputs[input];
  (void)layout;
  return nd4c_cpu_packed_panels(w, nd4c_simd.few->panel_outputs, false, to->data);
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

/* The bands of all channels that rows [first, first + rows) of y see. `line`: zeros, see nd4c_depthwise_loops. */
static void load_bands(const job *j, int64_t image, int64_t first, int64_t rows, float *bands, float *line) {
  for (int64_t channel = 0; channel < j->x->shape[1]; channel++) {
    const float *from = (const float *)j->x->data + image * j->x->strides[0] + channel * j->x->strides[1];
    nd4c_simd.depthwise->float32->load(&j->band, first * j->window.stride[0] - j->window.pad_begin[0],
                                       rows_seen(j, rows), j->window.input[0], from, j->x->strides[2], line,
                                       bands + channel * j->plane);
  }
}

static void activate(const job *j, int64_t cells, int64_t step, float *y) {
  if (j->activate != NULL && step == j->outputs) {
    j->activate(cells * step, y, y, &j->parameters);
  } else if (j->activate != NULL) {
    for (int64_t i = 0; i < cells; i++) {
      j->activate(j->outputs, y + i * step, y + i * step, &j->parameters);
    }
  }
}

static void block_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const int64_t step = j->y->strides[3];
  float *bands = (float *)(void *)(j->scratch + worker * j->worker_bytes);
  float *line = bands + j->x->shape[1] * j->plane;
  nd4c_simd_row_loops(ND4C_FLOAT32)->fill(j->worker_bytes / (int64_t)sizeof *bands, 0, bands);
  for (int64_t block = begin; block < end; block++) {
    const int64_t image = block / j->blocks, first = block % j->blocks * j->rows;
    const int64_t rows = j->height - first < j->rows ? j->height - first : j->rows;
    float *to = (float *)j->y->data + image * j->y->strides[0] + first * j->width * step;
    load_bands(j, image, first, rows, bands, line);
    for (int64_t row = 0; row < rows; row++) {
      nd4c_simd.few->convolve(j->width, j->outputs, j->depth, j->offsets,
                              bands + row * j->window.stride[0] * j->row_length, j->w->data, j->bias, j->inner,
                              to + row * j->width * step, step);
    }
    activate(j, rows * j->width, step, to);
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  nd4c_cpu_parallel(j.y->shape[0] * j.blocks, 1, call->width, block_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_window_few_kernels[] = {
    ND4C_CPU_KERNEL("simd", conv, "conv_few", ND4C_CPU_PRIORITY_ONEDNN + 2, ND4C_DTYPE_BIT(ND4C_FLOAT32), usable, run,
                    .prepare = prepare, .scratch_bytes = scratch_bytes, .flags = ND4C_KERNEL_SHARES_STATE,
                    .wants_layout = wants_layout, .pack = pack),
    NULL};
