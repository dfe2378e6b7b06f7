/* conv of engine simd with long sums, f32, channels last: a matrix product of windows, a row each, with CONSTANT
 * weights that are packed once into panels. Its sums are made of short ones, while oneDNN adds up all terms of a window
 * in one: the error of 2,304 terms is a quarter. Windows of one cell are read where they lie, others are copied side by
 * side, some rows at a time. dispatch/choice.c asks this kernel before oneDNN's where it is faster, and after it. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/packed_weights.h"
#include "backends/cpu/support/window.h"

/* Fewer terms than LEAST_TERMS are one sum in other libraries, too. oneDNN was faster with few output channels, and
 * with many that have MANY_TERMS, unless there are few rows: 169 rows of 512 terms and 1,000 results took 1.45 of its
 * time. */
enum { LEAST_TERMS = 129, LEAST_OUTPUTS = 64, MANY_OUTPUTS = 513, MANY_TERMS = 512, FEW_ROWS = 64 };

/* Rows of a block, whose results and part of the windows stay in the L2 cache: multiples of a strip's rows. Bytes of
 * copied windows. */
enum { MOST_ROWS = 192, LEAST_ROWS = 48, COPIED_BYTES = 1 << 20 };

/* Results that are written to memory, not to a cache, and how few terms take less time than that, as the 19,200 rows of
 * 18 terms and 108 results in mobilenet_v2@1 (`nd4c run --profile`). For results that fit the L3 cache, prefetches take
 * more time than they save. */
enum { FAR_BYTES = 6 << 20, FAR_TERMS = 48 };

typedef struct job {
  const nd4c_call *call;
  const nd4c_gemm_loops *loops;
  nd4c_unary_loop activate; /* NULL: none, or the inner one */
  nd4c_unary_parameters parameters;
  nd4c_inner_activation inner; /* before sums leave the registers */
  bool copied;
  const nd4c_tensor *x, *y;
  const float *bias;                   /* NULL: none */
  float *addend;                       /* NULL: none; only read */
  int64_t x_step, y_step, addend_step; /* from one cell to the next; x_step only if windows are not copied */
  nd4c_ref_window window;
  int64_t channels, outputs, depth; /* depth: channels times cells of a window */
  int64_t rows, block;              /* rows: cells of y */
  int64_t row_parts, column_parts, panels;
  char *scratch;
  int64_t worker_bytes;
} job;

/* Workers share rows or columns: whichever repeats fewer reads of the other operand. */
static void cut(job *j) {
  const int64_t width = j->call->width > 1 ? j->call->width : 1;
  const bool by_rows = j->copied ? 2 * j->rows >= j->outputs && j->rows >= width * LEAST_ROWS / 2
                                 : j->rows >= j->outputs && j->rows >= width * LEAST_ROWS;
  int64_t most = j->copied
                     ? COPIED_BYTES / (j->depth * (int64_t)sizeof(float)) / j->loops->strip_rows * j->loops->strip_rows
                     : MOST_ROWS;
  most = most < LEAST_ROWS ? LEAST_ROWS : most < MOST_ROWS ? most : MOST_ROWS;
  j->row_parts = nd4c_cpu_divide_up(j->rows, most);
  j->row_parts = by_rows ? nd4c_cpu_divide_up(j->row_parts, width) * width : j->row_parts;
  j->block = nd4c_cpu_divide_up(nd4c_cpu_divide_up(j->rows, j->row_parts), j->loops->strip_rows) * j->loops->strip_rows;
  j->row_parts = nd4c_cpu_divide_up(j->rows, j->block);
  j->panels = nd4c_cpu_divide_up(j->outputs, j->loops->strip_columns);
  j->column_parts = by_rows ? 1 : j->panels < width ? j->panels : width;
  j->worker_bytes = j->copied ? j->block * j->depth * (int64_t)sizeof(float) : 0;
}

static void job_make(job *j, const nd4c_call *call) {
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w], *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  const nd4c_tensor *addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  const int64_t activation = ND4C_INT_OF(call, conv_activation);
  *j = (job){.call = call, .loops = nd4c_simd.gemm->float32, .scratch = call->scratch};
  j->x = &call->inputs[ND4C_IN_conv_x];
  j->y = &call->outputs[0];
  j->inner = nd4c_cpu_inner_activation(activation);
  j->activate = j->inner != ND4C_INNER_NONE ? NULL : nd4c_cpu_activation_loop(activation, ND4C_FLOAT32);
  j->parameters = nd4c_cpu_activation_parameters(activation, ND4C_FLOAT32);
  j->bias = bias != NULL ? bias->data : NULL;
  j->addend = addend != NULL ? addend->data : NULL;
  j->addend_step = addend != NULL ? nd4c_cpu_cell_step(addend) : 0;
  j->y_step = nd4c_cpu_cell_step(j->y);
  nd4c_cpu_conv_window(call, &j->window);
  j->x_step = nd4c_cpu_sees_one_cell(&j->window, j->x, j->y) ? nd4c_cpu_cell_step(j->x) : 0;
  j->copied = j->x_step == 0;
  j->channels = w->shape[1];
  j->outputs = w->shape[0];
  j->depth = w->size / w->shape[0]; /* no extent is 0 */
  j->rows = j->y->size / j->y->shape[1];
  cut(j);
}

/* -- may it ------------------------------------------------------------------------------------------------------- */

static const char *refuse(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  const nd4c_tensor *addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  if (x->size == 0 || w->size == 0 || y->size == 0) {
    return "an operand is empty";
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
  if (x->strides[1] != 1 || nd4c_cpu_cell_step(y) == 0 || (addend != NULL && nd4c_cpu_cell_step(addend) == 0)) {
    return "channels do not lie side by side, or cells not equally far apart";
  }
  if (addend != NULL && !nd4c_cpu_same_shape(addend, y)) {
    return "the addend's shape is not the result's";
  }
  return bias != NULL && (bias->size != y->shape[1] || bias->strides[0] != 1) ? "the bias is not contiguous" : NULL;
}

/* oneDNN is faster, and sums that are so short are one in it, too. */
static const char *is_slow(const nd4c_call *call) {
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w];
  const int64_t outputs = w->shape[0], depth = w->size / outputs, rows = call->outputs[0].size / outputs;
  if (depth < LEAST_TERMS) {
    return "sums are short";
  }
  return outputs < LEAST_OUTPUTS || (outputs >= MANY_OUTPUTS && depth >= MANY_TERMS && rows > FEW_ROWS)
             ? "few results, or many of long sums: oneDNN is faster"
             : NULL;
}

/* After oneDNN's kernels: whatever this one can do, the next one does more slowly. */
static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse(call);
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

/* With AVX2, where copied windows take 0.7 to 1.1 of oneDNN's time, and need no code for a new shape: weights that stay
 * in the caches, and windows that many results share; or little work. */
static bool is_worth_copying(const job *j) {
  enum { LITTLE = 1 << 23, CACHED_BYTES = 5 << 18, SOME_ROWS = 256 };
  const int64_t weights = j->outputs * j->depth;
  const bool shared = j->outputs >= LEAST_OUTPUTS || j->outputs <= j->loops->strip_columns;
  return j->depth >= LEAST_TERMS && weights <= CACHED_BYTES / (int64_t)sizeof(float) &&
         ((shared && j->rows >= SOME_ROWS) || j->rows * weights <= LITTLE);
}

/* Where this kernel takes 0.6 to 1.1 of oneDNN's time: windows of one cell, and see above; with AVX-512, of these
 * - results with gaps between their cells, which a concat has and oneDNN would have to copy;
 * - very few cells, or few with many terms;
 * - output channels that fill no whole blocks of oneDNN's, or two with few rows.
 * Elsewhere it took up to 1.5. */
static bool usable_first(const nd4c_call *call, char *reason, size_t reason_size) {
  enum { BLOCK = 64, SOME_ROWS = 256, SINGLE_ROWS = 4, DEEP_TERMS = 480 };
  const char *why = refuse(call);
  if (why != NULL) {
    return nd4c_cpu_decline(reason, reason_size, "%s", why);
  }
  job j;
  job_make(&j, call);
  const bool gaps = j.y_step != j.outputs;
  if (nd4c_simd_level_is("avx2")) {
    return !j.copied || is_worth_copying(&j) || nd4c_cpu_decline(reason, reason_size, "oneDNN is faster");
  }
  const bool few = j.rows <= SINGLE_ROWS || (j.rows <= FEW_ROWS && j.depth >= DEEP_TERMS);
  const bool fits = j.outputs % BLOCK != 0 || (j.outputs == 2 * BLOCK && j.rows <= SOME_ROWS);
  return (!j.copied && (gaps || few || (fits && is_slow(call) == NULL))) ||
         nd4c_cpu_decline(reason, reason_size, "oneDNN is faster");
}

/* -- packing ------------------------------------------------------------------------------------------------------ */

static bool wants_layout(const nd4c_call *call, int32_t input, nd4c_layout *layout) {
  static const char form[] = "windows";
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w];
  const int64_t width = nd4c_simd.gemm->float32->strip_columns;
  if (input != ND4C_IN_conv_w) {
    return false;
  }
  nd4c_cpu_packed_describe(
      w, form, width, ND4C_FLOAT32,
      nd4c_cpu_divide_up(w->shape[0], width) * width * (w->size / w->shape[0]) * (int64_t)sizeof(float), layout);
  return true;
}

typedef struct packing {
  const nd4c_tensor *w;
  float *to;
  _Atomic bool finite;
} packing;

/* One panel: the weights of each cell, channel by channel. */
static void pack_panel(packing *j, int64_t panel) {
  const nd4c_gemm_loops *loops = nd4c_simd.gemm->float32;
  const nd4c_tensor *w = j->w;
  const int64_t first = panel * loops->strip_columns, channels = w->shape[1], depth = w->size / w->shape[0];
  const int64_t some = w->shape[0] - first < loops->strip_columns ? w->shape[0] - first : loops->strip_columns;
  float *to = j->to + first * depth, zeros = 0;
  for (int64_t cell = 0; cell < depth / channels; cell++, to += channels * loops->strip_columns) {
    int64_t offset = first * w->strides[0], rest = cell;
    for (int32_t axis = w->rank - 1; axis >= 2; rest /= w->shape[axis--]) {
      offset += rest % w->shape[axis] * w->strides[axis];
    }
    nd4c_gemm_matrix b = {.row_stride = w->strides[1], .column_stride = w->strides[0]};
    b.data = (char *)((float *)w->data + offset);
    loops->pack(some, channels, b, (nd4c_gemm_strips){loops->strip_columns, channels}, to);
  }
  for (const float *at = j->to + first * depth; at < to; at++) {
    zeros += *at * 0; /* NaN, unless all are finite */
  }
  if (zeros != 0) {
    j->finite = false;
  }
}

static void pack_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  for (int64_t panel = begin; panel < end; panel++) {
    pack_panel(user, panel);
  }
}

static nd4c_status pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to) {
  packing j = {.w = &call->inputs[input], .to = to->data, .finite = true};
  (void)layout;
  nd4c_cpu_parallel(nd4c_cpu_divide_up(j.w->shape[0], nd4c_simd.gemm->float32->strip_columns), 1, call->width,
                    pack_range, &j);
  ND4C_CPU_FAIL_IF(!j.finite, ND4C_UNSUPPORTED, "a weight is infinite or NaN: times the zeros of padding it is NaN");
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

/* Copies the cells of one line of a window, from `column` on along the last axis: `line` is where the line of x begins.
 * NULL: it is outside of x. Cells outside are zeros. */
static float *copy_line(const job *j, const float *line, int64_t column, float *to) {
  const int32_t last = j->window.spatial - 1;
  const int64_t kernel = j->window.kernel[last], apart = j->window.dilation[last], channels = j->channels;
  const int64_t step = j->x->strides[last + 2];
  const size_t bytes = (size_t)channels * sizeof *to;
  for (int64_t k = 0, run; k < kernel; k += run, to += run * channels) {
    const int64_t at = column + k * apart;
    const bool inside = line != NULL && at >= 0 && at < j->window.input[last];
    run = 1;
    if (inside && apart == 1 && step == channels) {
      const int64_t left = j->window.input[last] - at;
      run = kernel - k < left ? kernel - k : left;
    }
    if (inside) {
      memcpy(to, line + at * step, (size_t)run * bytes);
    } else {
      memset(to, 0, bytes);
    }
  }
  return to;
}

/* Copies the window that the cell `row` of y sees: cell by cell, each with all channels. */
static void copy_window(const job *j, int64_t row, float *to) {
  const nd4c_ref_window *w = &j->window;
  const int32_t last = w->spatial - 1;
  int64_t first[3] = {0}, lines = 1;
  for (int32_t i = last; i >= 0; row /= j->y->shape[2 + i--]) {
    first[i] = row % j->y->shape[i + 2] * w->stride[i] - w->pad_begin[i];
    lines *= i < last ? w->kernel[i] : 1;
  }
  const float *image = (const float *)j->x->data + row * j->x->strides[0];
  for (int64_t line = 0; line < lines; line++) {
    int64_t rest = line, offset = 0;
    bool inside = true;
    for (int32_t i = last - 1; i >= 0; rest /= w->kernel[i--]) {
      const int64_t at = first[i] + rest % w->kernel[i] * w->dilation[i];
      inside = inside && at >= 0 && at < w->input[i];
      offset += at * j->x->strides[i + 2];
    }
    to = copy_line(j, inside ? image + offset : NULL, first[last], to);
  }
}

static void activate(const job *j, int64_t cells, int64_t columns, float *y) {
  const bool dense = columns == j->y_step;
  for (int64_t i = 0; i < (dense ? 1 : cells) && j->activate != NULL; i++) {
    j->activate(dense ? cells * columns : columns, y + i * j->y_step, y + i * j->y_step, &j->parameters);
  }
}

static void part_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  float *windows = (float *)(void *)(j->scratch + worker * j->worker_bytes);
  const int64_t sum_terms = j->loops->sum_terms / 2; /* of one sum; blocks of the product end where such a sum does */
  for (int64_t part = begin; part < end; part++) {
    const int64_t row = part / j->column_parts * j->block, wide = j->loops->strip_columns;
    const int64_t rows = j->rows - row < j->block ? j->rows - row : j->block;
    const int64_t column = part % j->column_parts * j->panels / j->column_parts * wide;
    const int64_t end_of_part = (part % j->column_parts + 1) * j->panels / j->column_parts * wide;
    const int64_t columns = (end_of_part < j->outputs ? end_of_part : j->outputs) - column;
    float *to = (float *)j->y->data + row * j->y_step + column;
    nd4c_gemm_matrix a = {.row_stride = j->copied ? j->depth : j->x_step, .column_stride = 1};
    nd4c_gemm_ending ending = {.activation = j->inner,
                               .bias = j->bias != NULL ? j->bias + column : NULL,
                               .far = j->depth < FAR_TERMS && j->rows * j->y_step * (int64_t)sizeof(float) > FAR_BYTES};
    ending.y = (nd4c_gemm_matrix){.data = (char *)to, .row_stride = j->y_step, .column_stride = 1};
    ending.addend = (nd4c_gemm_matrix){.row_stride = j->addend_step, .column_stride = 1};
    ending.addend.data = j->addend != NULL ? (char *)(j->addend + row * j->addend_step + column) : NULL;
    a.data = j->copied ? (char *)windows : (char *)((float *)j->x->data + row * j->x_step);
    for (int64_t i = 0; j->copied && i < rows; i++) {
      copy_window(j, row + i, windows + i * j->depth);
    }
    j->loops->strips(rows, column, columns, j->depth, a, j->call->inputs[ND4C_IN_conv_w].data,
                     (nd4c_gemm_strips){j->loops->strip_columns, j->depth}, ending.y, sum_terms, &ending);
    activate(j, rows, columns, to);
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  nd4c_cpu_parallel(j.row_parts * j.column_parts, 1, call->width, part_range, &j);
  return ND4C_OK;
}

#define KERNEL(name, priority, asks)                                                                               \
  ND4C_CPU_KERNEL("simd", conv, name, priority, ND4C_DTYPE_BIT(ND4C_FLOAT32), asks, run, .prepare = prepare,       \
                  .scratch_bytes = scratch_bytes, .flags = ND4C_KERNEL_SHARES_STATE, .wants_layout = wants_layout, \
                  .pack = pack)

const nd4c_kernel *const nd4c_cpu_simd_window_panels_kernels[] = {
    KERNEL("conv_panels_first", ND4C_CPU_PRIORITY_ONEDNN + 1, usable_first),
    KERNEL("conv_panels", ND4C_CPU_PRIORITY_ONEDNN - 1, usable), NULL};
