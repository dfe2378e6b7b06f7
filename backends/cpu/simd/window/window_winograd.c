/* conv of engine simd with windows of 3 x 3 and steps of 1, f32, channels last, by Winograd's method
 * (kernels/cpu/window/winograd.h): fewer than half of the multiplications. Weights must be CONSTANT, since their
 * transform costs as much as many rows of the result. dispatch/choice.c asks this kernel before oneDNN's. */
#include <stdatomic.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/packed_weights.h"
#include "backends/cpu/support/window.h"

/* Bytes of a block's transformed cells and sums, which should stay in the L2 cache; tiles in a block, at least and at
 * most. PADDING: elements that keep rows from lying at multiples of a page. */
enum { BLOCK_BYTES = 1 << 19, LEAST_TILES = 48, MOST_TILES = 96, PADDING = 16 };

/* Channels in one sum: long sums are sums of these. Transforms make the terms of a point larger than those of the
 * result, and their rounding with them, so sums are shorter than elsewhere (gemm_loops.h). */
enum { SUM_CHANNELS = 32 };

/* Channels and tiles below which transforms cost more than the multiplications that they save. */
enum { LEAST_CHANNELS = 16, LEAST_OUTPUTS = 32, LEAST_ALL_TILES = 24 };

typedef struct job {
  const nd4c_call *call;
  const nd4c_tensor *x, *y, *bias, *addend;
  nd4c_unary_loop activate;    /* NULL: none, or the inner one */
  nd4c_inner_activation inner; /* before sums leave the registers */
  int64_t channels, outputs;
  int64_t pad[2], tiles[2], all_tiles; /* tiles along the axes of an image */
  int64_t block, blocks;               /* tiles in a block */
  int64_t panel, panels;               /* output channels in a panel of filters */
  int64_t v_row, v_point, m_row, m_point, u_point;
  const float *u;
  char *scratch;
  int64_t worker_bytes;
} job;

static int64_t panel_of_filters(void) {
  return nd4c_simd.gemm->float32->strip_columns;
}

static int64_t filter_numbers(const nd4c_tensor *w) {
  return ND4C_WINOGRAD_POINTS * nd4c_cpu_divide_up(w->shape[0], panel_of_filters()) * panel_of_filters() * w->shape[1];
}

static void job_blocks(job *j) {
  int64_t width = j->call->width > 1 ? j->call->width : 1;
  int64_t tile_bytes = ND4C_WINOGRAD_POINTS * (j->v_row + j->m_row) * (int64_t)sizeof(float);
  int64_t most = BLOCK_BYTES / tile_bytes;
  most = most < LEAST_TILES ? LEAST_TILES : most > MOST_TILES ? MOST_TILES : most;
  j->blocks = nd4c_cpu_divide_up(nd4c_cpu_divide_up(j->all_tiles, most), width) * width;
  j->block = nd4c_cpu_divide_up(j->all_tiles, j->blocks);
  j->blocks = nd4c_cpu_divide_up(j->all_tiles, j->block);
}

static void job_make(job *j, const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  int64_t activation = ND4C_INT_OF(call, conv_activation);
  nd4c_ref_window window;
  nd4c_cpu_conv_window(call, &window);
  *j = (job){.call = call, .x = x, .y = y, .channels = x->shape[1], .outputs = y->shape[1]};
  j->bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  j->addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  j->inner = nd4c_cpu_inner_activation(activation);
  j->activate = j->inner != ND4C_INNER_NONE ? NULL : nd4c_cpu_activation_loop(activation, ND4C_FLOAT32);
  for (int32_t i = 0; i < 2; i++) {
    j->pad[i] = window.pad_begin[i];
    j->tiles[i] = nd4c_cpu_divide_up(y->shape[i + 2], 2);
  }
  j->all_tiles = y->shape[0] * j->tiles[0] * j->tiles[1];
  j->panel = panel_of_filters();
  j->panels = nd4c_cpu_divide_up(j->outputs, j->panel);
  j->u_point = j->panels * j->panel * j->channels;
  j->v_row = nd4c_cpu_divide_up(j->channels, PADDING) * PADDING + PADDING;
  j->m_row = j->panels * j->panel + PADDING;
  job_blocks(j);
  j->v_point = j->block * j->v_row;
  j->m_point = j->block * j->m_row;
  j->worker_bytes =
      (ND4C_WINOGRAD_POINTS * (j->v_point + j->m_point) + j->v_row) * (int64_t)sizeof(float); /* and a row of zeros */
  j->u = w->data;
  j->scratch = call->scratch;
}

/* -- may it ------------------------------------------------------------------------------------------------------- */

static const char *refuse_window(const nd4c_call *call) {
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  nd4c_ref_window window;
  if (w->rank != 4 || w->shape[2] != 3 || w->shape[3] != 3 || ND4C_INT_OF(call, conv_groups) != 1) {
    return "the windows are not 3 x 3 of all channels";
  }
  nd4c_cpu_conv_window(call, &window);
  for (int32_t i = 0; i < 2; i++) {
    if (window.stride[i] != 1 || window.dilation[i] != 1) {
      return "windows or their cells are apart";
    }
  }
  int64_t tiles = y->shape[0] * nd4c_cpu_divide_up(y->shape[2], 2) * nd4c_cpu_divide_up(y->shape[3], 2);
  return w->shape[1] < LEAST_CHANNELS || w->shape[0] < LEAST_OUTPUTS || tiles < LEAST_ALL_TILES
             ? "few channels, or few results"
             : NULL;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  const nd4c_tensor *addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  ND4C_CPU_DECLINE_IF(x->size == 0 || w->size == 0 || y->size == 0, "an operand is empty");
  ND4C_CPU_DECLINE_IF((w->flags & ND4C_TENSOR_CONSTANT) == 0, "the weights are not constant");
  const char *why = refuse_window(call);
  ND4C_CPU_DECLINE_IF(why != NULL, "%s", why);
  ND4C_CPU_DECLINE_IF(x->strides[1] != 1 || y->strides[1] != 1, "channels do not lie side by side");
  ND4C_CPU_DECLINE_IF(addend != NULL && (!nd4c_cpu_same_shape(addend, y) || addend->strides[1] != 1),
                      "the addend's shape or order is not the result's");
  ND4C_CPU_DECLINE_IF(bias != NULL && (bias->size != y->shape[1] || bias->strides[0] != 1),
                      "the bias is not contiguous");
  return true;
}

/* -- filters ------------------------------------------------------------------------------------------------------ */

typedef struct filters_job {
  const nd4c_tensor *w;
  float *u;
  _Atomic bool finite;
} filters_job;

static void filter_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  filters_job *j = user;
  const int64_t panel = panel_of_filters(), channels = j->w->shape[1], outputs = j->w->shape[0];
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    const float *w = (const float *)j->w->data + i * panel * j->w->strides[0];
    int64_t some = outputs - i * panel < panel ? outputs - i * panel : panel;
    if (!nd4c_simd.winograd->float32->filters(some, channels, w, j->w->strides, panel, j->u + i * panel * channels,
                                              filter_numbers(j->w) / ND4C_WINOGRAD_POINTS)) {
      j->finite = false;
    }
  }
}

static bool wants_layout(const nd4c_call *call, int32_t input, nd4c_layout *layout) {
  static const char form[] = "winograd";
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w];
  if (input != ND4C_IN_conv_w) {
    return false;
  }
  nd4c_cpu_packed_describe(w, form, panel_of_filters(), ND4C_FLOAT32, filter_numbers(w) * (int64_t)sizeof(float),
                           layout);
  return true;
}

static nd4c_status pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to) {
  filters_job j = {.w = &call->inputs[input], .u = to->data, .finite = true};
  (void)layout;
  nd4c_cpu_host->parallel_for(nd4c_cpu_divide_up(j.w->shape[0], panel_of_filters()), 1, call->width, filter_range, &j);
  ND4C_CPU_FAIL_IF(!j.finite, ND4C_UNSUPPORTED, "a weight is infinite or NaN");
  return ND4C_OK;
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

/* Where a tile is: its image, and its first row and column of y. */
typedef struct spot {
  int64_t image, row, column;
} spot;

static spot spot_of(const job *j, int64_t tile) {
  return (spot){.image = tile / (j->tiles[0] * j->tiles[1]),
                .row = tile / j->tiles[1] % j->tiles[0] * 2,
                .column = tile % j->tiles[1] * 2};
}

/* The cells that a tile sees; those outside of x are zeros. */
static void find_cells(const job *j, spot at, const float *zeros, const float **cells) {
  const nd4c_tensor *x = j->x;
  const float *image = (const float *)x->data + at.image * x->strides[0];
  for (int32_t p = 0; p < ND4C_WINOGRAD_POINTS; p++) {
    int64_t row = at.row + p / 4 - j->pad[0], column = at.column + p % 4 - j->pad[1];
    bool inside = row >= 0 && row < x->shape[2] && column >= 0 && column < x->shape[3];
    cells[p] = inside ? image + row * x->strides[2] + column * x->strides[3] : zeros;
  }
}

static nd4c_winograd_target find_target(const job *j, spot at) {
  nd4c_winograd_target to = {.activation = j->inner};
  for (int32_t r = 0; r < ND4C_WINOGRAD_RESULTS; r++) {
    int64_t row = at.row + r / 2, column = at.column + r % 2;
    if (row < j->y->shape[2] && column < j->y->shape[3]) {
      const int64_t *strides = j->y->strides;
      to.y[r] = (float *)j->y->data + at.image * strides[0] + row * strides[2] + column * strides[3];
      strides = j->addend != NULL ? j->addend->strides : NULL;
      to.addend[r] = j->addend != NULL ? (const float *)j->addend->data + at.image * strides[0] + row * strides[2] +
                                             column * strides[3]
                                       : NULL;
    }
  }
  return to;
}

/* The same results, `panel` panels further. */
static nd4c_winograd_target target_of_panel(const job *j, const nd4c_winograd_target *whole, int64_t panel) {
  nd4c_winograd_target to = *whole;
  int64_t first = panel * j->panel;
  to.columns = j->outputs - first < j->panel ? j->outputs - first : j->panel;
  to.bias = j->bias != NULL ? (const float *)j->bias->data + first : NULL;
  for (int32_t r = 0; r < ND4C_WINOGRAD_RESULTS; r++) {
    to.y[r] = to.y[r] != NULL ? to.y[r] + first : NULL;
    to.addend[r] = to.addend[r] != NULL ? to.addend[r] + first : NULL;
  }
  return to;
}

static void activate(const job *j, const nd4c_winograd_target *to) {
  const nd4c_unary_parameters parameters =
      nd4c_cpu_activation_parameters(ND4C_INT_OF(j->call, conv_activation), ND4C_FLOAT32);
  for (int32_t r = 0; r < ND4C_WINOGRAD_RESULTS && j->activate != NULL; r++) {
    if (to->y[r] != NULL) {
      j->activate(to->columns, to->y[r], to->y[r], &parameters);
    }
  }
}

static void finish_tile(const job *j, int64_t tile, const float *m, const float *zeros) {
  const nd4c_winograd_loops *loops = nd4c_simd.winograd->float32;
  const spot at = spot_of(j, tile);
  const nd4c_winograd_target whole = find_target(j, at);
  for (int64_t i = 0; i < j->panels; i++) {
    nd4c_winograd_target to = target_of_panel(j, &whole, i);
    if (!loops->results(m + i * j->panel, j->m_point, &to)) {
      const float *cells[ND4C_WINOGRAD_POINTS];
      find_cells(j, at, zeros, cells);
      loops->direct(j->channels, cells, j->u + i * j->panel * j->channels, j->u_point, j->panel, &to);
    }
    activate(j, &to);
  }
}

/* The matrix products of `count` tiles: one for each point and panel. */
static void multiply(const job *j, int64_t count, float *v, float *m) {
  for (int64_t p = 0; p < ND4C_WINOGRAD_POINTS; p++) {
    for (int64_t i = 0; i < j->panels; i++) {
      nd4c_gemm_matrix a = {.data = (char *)(v + p * j->v_point), .row_stride = j->v_row, .column_stride = 1};
      nd4c_gemm_matrix b = {.row_stride = j->panel, .column_stride = 1};
      nd4c_gemm_matrix y = {
          .data = (char *)(m + p * j->m_point + i * j->panel), .row_stride = j->m_row, .column_stride = 1};
      b.data = (char *)(uintptr_t)(j->u + p * j->u_point + i * j->panel * j->channels);
      nd4c_simd.gemm->float32->direct(count, j->panel, j->channels, a, b, y, false, SUM_CHANNELS);
    }
  }
}

static void block_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  float *v = (float *)(void *)(j->scratch + worker * j->worker_bytes), *m = v + ND4C_WINOGRAD_POINTS * j->v_point;
  float *zeros = m + ND4C_WINOGRAD_POINTS * j->m_point;
  memset(zeros, 0, (size_t)j->v_row * sizeof *zeros);
  for (int64_t block = begin; block < end; block++) {
    int64_t first = block * j->block;
    int64_t count = j->all_tiles - first < j->block ? j->all_tiles - first : j->block;
    for (int64_t i = 0; i < count; i++) {
      const float *cells[ND4C_WINOGRAD_POINTS];
      find_cells(j, spot_of(j, first + i), zeros, cells);
      nd4c_simd.winograd->float32->cells(j->channels, cells, v + i * j->v_row, j->v_point);
    }
    multiply(j, count, v, m);
    for (int64_t i = 0; i < count; i++) {
      finish_tile(j, first + i, m + i * j->m_row, zeros);
    }
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  nd4c_cpu_parallel(j.blocks, 1, call->width, block_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_window_winograd_kernels[] = {
    ND4C_CPU_KERNEL("simd", conv, "conv_winograd", ND4C_CPU_PRIORITY_ONEDNN + 3, ND4C_DTYPE_BIT(ND4C_FLOAT32), usable,
                    run, .prepare = prepare, .scratch_bytes = scratch_bytes, .flags = ND4C_KERNEL_SHARES_STATE,
                    .wants_layout = wants_layout, .pack = pack),
    NULL};
