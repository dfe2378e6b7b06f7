/* conv of engine simd: f32 and f64, for machines without oneDNN and dtypes that it lacks. For a tile of output
 * positions at a time, the windows' cells are copied side by side and multiplied by the weights. dispatch/choice.c asks
 * this kernel after oneDNN's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/contraction_product.h"
#include "backends/cpu/support/window.h"

/* Limits of a tile: output positions, and bytes of copied cells. */
enum { TILE_POSITIONS = 192, TILE_BYTES = 1 << 20 };

typedef struct job {
  const nd4c_call *call;
  const nd4c_gemm_loops *loops;
  nd4c_unary_loop activate;
  nd4c_ref_window window;
  const nd4c_tensor *x, *w, *y, *bias, *addend;
  int64_t bytes, groups, channels, outputs; /* of one group: input channels, output channels */
  int64_t cells, depth;                     /* cells of a window; cells times channels */
  int64_t positions, image_positions, tile, tiles;
  char *scratch;
  int64_t worker_bytes;
} job;

static int64_t align(int64_t bytes) {
  return (bytes + 63) & ~(int64_t)63;
}

static void job_make(job *j, const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  bool single = y->dtype == ND4C_FLOAT32;
  *j = (job){.call = call, .x = x, .w = w, .y = y, .bytes = single ? 4 : 8};
  j->loops = single ? nd4c_simd.gemm->float32 : nd4c_simd.gemm->float64;
  j->bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  j->addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  j->activate = nd4c_cpu_activation_loop(ND4C_INT_OF(call, conv_activation), y->dtype);
  nd4c_cpu_conv_window(call, &j->window);
  j->groups = ND4C_INT_OF(call, conv_groups);
  j->channels = w->shape[1];
  j->outputs = w->shape[0] / j->groups;
  j->cells = 1;
  j->image_positions = 1;
  for (int32_t i = 0; i < j->window.spatial; i++) {
    j->cells *= j->window.kernel[i];
    j->image_positions *= y->shape[i + 2];
  }
  j->depth = j->cells * j->channels;
  j->positions = y->shape[0] * j->image_positions;
  int64_t fitting = TILE_BYTES / (j->depth * j->bytes + 1) + 1;
  j->tile = fitting < TILE_POSITIONS ? fitting : TILE_POSITIONS;
  j->tiles = (j->positions + j->tile - 1) / j->tile;
  j->worker_bytes =
      align(j->loops->buffer_bytes) + align(j->tile * j->depth * j->bytes) + align(j->tile * j->outputs * j->bytes);
  j->scratch = call->scratch;
}

static bool conv_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  const nd4c_tensor *addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  ND4C_CPU_DECLINE_IF(x->size == 0 || w->size == 0 || y->size == 0, "an operand is empty");
  int64_t run = 1;
  for (int32_t axis = w->rank - 1; axis >= 1; run *= w->shape[axis--]) {
    ND4C_CPU_DECLINE_IF(w->shape[axis] != 1 && w->strides[axis] != run, "the weights of an output channel have gaps");
  }
  ND4C_CPU_DECLINE_IF(addend != NULL && !nd4c_cpu_same_shape(addend, y), "the addend's shape is not the result's");
  return bias == NULL || bias->size == 1 || bias->strides[0] == 1 ||
         nd4c_cpu_decline(reason, reason_size, "the bias is not contiguous");
}

/* Without oneDNN this is the first kernel for images with channels first. Those for channels last (window_panels.c,
 * window_winograd.c, window_depthwise_last.c) are several times faster. */
static bool conv_preferred_order(const nd4c_call *call, int32_t *axes) {
  const int32_t rank = call->outputs[0].rank;
  if (strcmp(nd4c_simd.level, "avx512") != 0 || call->outputs[0].dtype != ND4C_FLOAT32 ||
      (ND4C_INT_OF(call, conv_groups) != 1 &&
       ND4C_INT_OF(call, conv_groups) != call->inputs[ND4C_IN_conv_x].shape[1]) ||
      (call->inputs[ND4C_IN_conv_w].flags & ND4C_TENSOR_CONSTANT) == 0) {
    return false;
  }
  axes[0] = 0;
  for (int32_t axis = 2; axis < rank; axis++) {
    axes[axis - 1] = axis;
  }
  axes[rank - 1] = 1;
  return true;
}

static int64_t conv_scratch_bytes(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  return j.worker_bytes * (call->width > 1 ? call->width : 1);
}

/* Image and spatial position of output position `flat`. */
static int64_t locate(const job *j, int64_t flat, int64_t *output) {
  for (int32_t i = j->window.spatial - 1; i >= 0; i--) {
    output[i] = flat % j->y->shape[i + 2];
    flat /= j->y->shape[i + 2];
  }
  return flat;
}

/* Copies one value of each channel: from every `step`-th element (NULL: zeros) to every cells-th. */
static void copy_cell(const job *j, const char *from, int64_t step, char *to) {
  if (j->bytes == 4) {
    const float *x = (const void *)from;
    float *y = (void *)to;
    for (int64_t c = 0; c < j->channels; c++) {
      y[c * j->cells] = from != NULL ? x[c * step] : 0;
    }
  } else {
    const double *x = (const void *)from;
    double *y = (void *)to;
    for (int64_t c = 0; c < j->channels; c++) {
      y[c * j->cells] = from != NULL ? x[c * step] : 0;
    }
  }
}

/* The cells that output position `flat` sees, in the order of the weights: channel, then cell. */
static void copy_window(const job *j, int64_t flat, int64_t group, char *to) {
  const nd4c_ref_window *window = &j->window;
  int64_t output[3] = {0}, image = locate(j, flat, output);
  int64_t base = image * j->x->strides[0] + group * j->channels * j->x->strides[1];
  for (int64_t cell = 0; cell < j->cells; cell++) {
    int64_t rest = cell, offset = base;
    bool inside = true;
    for (int32_t i = window->spatial - 1; i >= 0; i--) {
      int64_t at =
          output[i] * window->stride[i] - window->pad_begin[i] + rest % window->kernel[i] * window->dilation[i];
      rest /= window->kernel[i];
      inside = inside && at >= 0 && at < window->input[i];
      offset += at * j->x->strides[i + 2];
    }
    const char *from = inside ? (const char *)j->x->data + offset * j->bytes : NULL;
    copy_cell(j, from, j->x->strides[1], to + cell * j->bytes);
  }
}

/* Adds the addend to a tile's results [position, output channel], applies the activation and writes them to y. */
static void store_tile(const job *j, int64_t first, int64_t count, int64_t group, char *tile) {
  const nd4c_unary_parameters parameters =
      nd4c_cpu_activation_parameters(ND4C_INT_OF(j->call, conv_activation), j->y->dtype);
  for (int64_t p = 0; p < count; p++) {
    int64_t output[3] = {0}, image = locate(j, first + p, output);
    char *row = tile + p * j->outputs * j->bytes;
    int64_t y_offset = image * j->y->strides[0] + group * j->outputs * j->y->strides[1];
    int64_t addend_offset = 0;
    for (int32_t i = 0; i < j->window.spatial; i++) {
      y_offset += output[i] * j->y->strides[i + 2];
    }
    if (j->addend != NULL) {
      addend_offset = image * j->addend->strides[0] + group * j->outputs * j->addend->strides[1];
      for (int32_t i = 0; i < j->window.spatial; i++) {
        addend_offset += output[i] * j->addend->strides[i + 2];
      }
      const char *from = (const char *)j->addend->data + addend_offset * j->bytes;
      j->loops->start(j->outputs, row, from, j->addend->strides[1], row);
    }
    if (j->activate != NULL) {
      j->activate(j->outputs, row, row, &parameters);
    }
    j->loops->spread(j->outputs, row, j->y->strides[1], (char *)j->y->data + y_offset * j->bytes);
  }
}

static void tile_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  char *buffer = j->scratch + worker * j->worker_bytes;
  char *windows = buffer + align(j->loops->buffer_bytes), *tile = windows + align(j->tile * j->depth * j->bytes);
  for (int64_t index = begin; index < end; index++) {
    int64_t group = index % j->groups, first = index / j->groups * j->tile;
    int64_t count = j->positions - first < j->tile ? j->positions - first : j->tile;
    const char *bias = j->bias != NULL ? (const char *)j->bias->data + group * j->outputs * j->bytes : NULL;
    for (int64_t p = 0; p < count; p++) {
      copy_window(j, first + p, group, windows + p * j->depth * j->bytes);
      j->loops->start(j->outputs, bias, NULL, 0, tile + p * j->outputs * j->bytes);
    }
    nd4c_gemm_matrix a = {.data = windows, .row_stride = j->depth, .column_stride = 1};
    nd4c_gemm_matrix y = {.data = tile, .row_stride = j->outputs, .column_stride = 1};
    nd4c_gemm_matrix b = {.row_stride = 1, .column_stride = j->w->strides[0]};
    b.data = (char *)j->w->data + group * j->outputs * j->w->strides[0] * j->bytes;
    j->loops->multiply(count, j->outputs, j->depth, a, b, y, true, buffer);
    store_tile(j, first, count, group, tile);
  }
}

static nd4c_status conv_run(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  nd4c_cpu_host->parallel_for(j.tiles * j.groups, 1, call->width, tile_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_window_conv_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(conv, ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64), conv_usable, conv_run,
                         .scratch_bytes = conv_scratch_bytes, .preferred_order = conv_preferred_order),
    NULL};
