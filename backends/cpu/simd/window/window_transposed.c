/* conv_transpose of engine simd in f32 and f64, in C order. The weights of some outputs, turned, are multiplied by x as
 * it lies, rows of some cells at a time; the products of each tap are added where the tap writes. A row of sums has
 * the cells of each phase of the stride side by side, so that all additions are of vectors; they are put in their order
 * when a plane is complete. dispatch/choice.c asks this kernel before oneDNN's, which describes a primitive for each
 * shape, and so takes milliseconds for a new one. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/window.h"

/* Rows of the products of a task, unless one output has more taps; bytes of the sums and of the products of a task. */
enum { ROWS = 96, SUMS_BYTES = 1 << 18, TILE_BYTES = 1 << 17, COLUMNS = 512 };
/* Multiplications from which on oneDNN computes with constant weights. */
enum { MANY = 1 << 24 };

typedef struct job {
  const nd4c_gemm_loops *loops;
  const nd4c_transposed_loops *own;
  const nd4c_tensor *x, *w, *y, *bias;
  nd4c_ref_sweep s;
  int64_t bytes, taps, inputs, each; /* of an element; of a window; channels and outputs of a group */
  int64_t outputs, blocks;           /* of a task; tasks of a group */
  int64_t x_rows, x_plane, y_rows, y_plane;
  int64_t phase, row;         /* elements of a phase in a row of sums, and of a row of sums */
  int64_t tile_rows, columns; /* of x: rows that are multiplied together, and cells of each */
  char *scratch;
  int64_t worker_bytes;
} job;

/* A part of the rows of x. */
typedef struct tile {
  int64_t first, last;   /* rows */
  int64_t begin, end;    /* cells of each */
  const char *products;  /* [output, tap][row][cell] */
  int64_t product_bytes; /* of an output and tap */
  char *sums;
} tile;

static int64_t aligned(int64_t bytes) {
  return (bytes + 63) & ~(int64_t)63;
}

static int64_t clamped(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

static int64_t sums_bytes(const job *j, int64_t outputs) {
  return outputs * j->y_rows * j->row * j->bytes;
}

static void cut(job *j) {
  j->outputs = clamped(nd4c_cpu_divide_up(ROWS, j->taps), 1, j->each);
  j->outputs = clamped(SUMS_BYTES / sums_bytes(j, 1), 1, j->outputs);
  j->blocks = nd4c_cpu_divide_up(j->each, j->outputs);
  j->outputs = nd4c_cpu_divide_up(j->each, j->blocks);
  const int64_t cells = clamped(TILE_BYTES / (j->outputs * j->taps * j->bytes), 64, COLUMNS);
  j->columns = j->s.x[2] < 2 * cells ? j->s.x[2] : cells;
  j->tile_rows = j->columns < j->s.x[2] ? 1 : clamped(cells / j->columns, 1, j->x_rows);
  j->worker_bytes = aligned(j->loops->buffer_bytes) + aligned(sums_bytes(j, j->outputs)) +
                    aligned(j->outputs * j->taps * j->tile_rows * j->columns * j->bytes);
}

static void job_make(job *j, const nd4c_call *call) {
  nd4c_ref_window window;
  const bool single = call->outputs[0].dtype == ND4C_FLOAT32;
  *j = (job){.loops = single ? nd4c_simd.gemm->float32 : nd4c_simd.gemm->float64,
             .own = single ? &nd4c_simd.transposed->float32 : &nd4c_simd.transposed->float64,
             .x = &call->inputs[ND4C_IN_conv_transpose_x],
             .w = &call->inputs[ND4C_IN_conv_transpose_w],
             .y = &call->outputs[0],
             .bias = nd4c_cpu_input(call, ND4C_IN_conv_transpose_bias),
             .bytes = single ? 4 : 8,
             .scratch = call->scratch};
  nd4c_cpu_conv_transpose_window(call, &window);
  j->s = nd4c_cpu_sweep_with(call, &window);
  j->s.groups = ND4C_INT_OF(call, conv_transpose_groups);
  j->taps = j->s.kernel[0] * j->s.kernel[1] * j->s.kernel[2];
  j->inputs = j->s.channels / j->s.groups;
  j->each = j->s.outputs / j->s.groups;
  j->x_rows = j->s.x[0] * j->s.x[1];
  j->y_rows = j->s.y[0] * j->s.y[1];
  j->x_plane = j->x_rows * j->s.x[2];
  j->y_plane = j->y_rows * j->s.y[2];
  j->phase = nd4c_cpu_divide_up(j->s.y[2], j->s.stride[2]);
  j->row = j->phase * j->s.stride[2];
  cut(j);
}

static int64_t divide_down(int64_t x, int64_t by) {
  return x >= 0 ? x / by : -((by - 1 - x) / by);
}

/* The cells at of x in [*first, *last) for which at * stride + shift lies in y. */
static void clip(const job *j, int axis, int64_t shift, int64_t *first, int64_t *last) {
  const int64_t stride = j->s.stride[axis], low = -divide_down(shift, stride);
  const int64_t high = divide_down(j->s.y[axis] - 1 - shift, stride) + 1;
  *first = *first > low ? *first : low;
  *last = *last < high ? *last : high;
}

/* Adds the products of one tap of one output: `product` and `sums` are its first ones. */
static void add_tap(const job *j, const tile *t, int64_t tap, const char *product, char *sums) {
  const nd4c_ref_sweep *s = &j->s;
  const int64_t k[3] = {tap / (s->kernel[1] * s->kernel[2]), tap / s->kernel[2] % s->kernel[1], tap % s->kernel[2]};
  int64_t shift[3], begin = t->begin, end = t->end;
  for (int axis = 0; axis < 3; axis++) {
    shift[axis] = k[axis] * s->dilation[axis] - s->pad[axis];
  }
  clip(j, 2, shift[2], &begin, &end);
  if (begin >= end) {
    return;
  }
  const int64_t to = begin * s->stride[2] + shift[2], width = t->end - t->begin;
  const int64_t place = to % s->stride[2] * j->phase + to / s->stride[2];
  for (int64_t plane = t->first / s->x[1]; plane * s->x[1] < t->last; plane++) {
    const int64_t depth = plane * s->stride[0] + shift[0], base = plane * s->x[1];
    int64_t first = t->first > base ? t->first - base : 0, last = t->last - base < s->x[1] ? t->last - base : s->x[1];
    clip(j, 1, shift[1], &first, &last);
    if (depth < 0 || depth >= s->y[0] || first >= last) {
      continue;
    }
    const int64_t row = depth * s->y[1] + first * s->stride[1] + shift[1];
    j->own->add(last - first, end - begin, product + ((base + first - t->first) * width + begin - t->begin) * j->bytes,
                width, sums + (row * j->row + place) * j->bytes, s->stride[1] * j->row);
  }
}

static void add_tile(const job *j, const tile *t, int64_t outputs) {
  for (int64_t o = 0; o < outputs; o++) {
    for (int64_t tap = 0; tap < j->taps; tap++) {
      add_tap(j, t, tap, t->products + (o * j->taps + tap) * t->product_bytes, t->sums + sums_bytes(j, o));
    }
  }
}

/* The sums of outputs [first, first + outputs) of a group of an image. */
static void sum_tiles(const job *j, int64_t image, int64_t group, int64_t first, int64_t outputs, char *buffer,
                      char *products, char *sums) {
  char *x = (char *)j->x->data + (image * j->s.channels + group * j->inputs) * j->x_plane * j->bytes;
  char *w = (char *)j->w->data + (group * j->inputs * j->each + first) * j->taps * j->bytes;
  const nd4c_gemm_matrix a = {.data = w, .row_stride = 1, .column_stride = j->each * j->taps};
  memset(sums, 0, (size_t)sums_bytes(j, outputs));
  for (int64_t row = 0; row < j->x_rows; row += j->tile_rows) {
    for (int64_t begin = 0; begin < j->s.x[2]; begin += j->columns) {
      tile t = {.first = row, .begin = begin, .products = products, .sums = sums};
      t.last = row + j->tile_rows < j->x_rows ? row + j->tile_rows : j->x_rows;
      t.end = begin + j->columns < j->s.x[2] ? begin + j->columns : j->s.x[2];
      const int64_t cells = (t.last - t.first) * (t.end - t.begin);
      t.product_bytes = cells * j->bytes;
      const nd4c_gemm_matrix b = {
          .data = x + (row * j->s.x[2] + begin) * j->bytes, .row_stride = j->x_plane, .column_stride = 1};
      const nd4c_gemm_matrix y = {.data = products, .row_stride = cells, .column_stride = 1};
      j->loops->multiply(outputs * j->taps, cells, j->inputs, a, b, y, false, buffer);
      add_tile(j, &t, outputs);
    }
  }
}

static void task_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  char *buffer = j->scratch + worker * j->worker_bytes, *sums = buffer + aligned(j->loops->buffer_bytes);
  char *products = sums + aligned(sums_bytes(j, j->outputs));
  for (int64_t task = begin; task < end; task++) {
    const int64_t first = task % j->blocks * j->outputs, pair = task / j->blocks;
    const int64_t image = pair / j->s.groups, group = pair % j->s.groups;
    const int64_t outputs = j->each - first < j->outputs ? j->each - first : j->outputs;
    sum_tiles(j, image, group, first, outputs, buffer, products, sums);
    for (int64_t o = 0; o < outputs; o++) {
      const int64_t channel = group * j->each + first + o;
      const char *bias =
          j->bias != NULL ? (const char *)j->bias->data + channel * j->bias->strides[0] * j->bytes : NULL;
      char *y = (char *)j->y->data + (image * j->s.outputs + channel) * j->y_plane * j->bytes;
      for (int64_t row = 0; row < j->y_rows; row++) {
        j->own->write(j->s.y[2], j->s.stride[2], sums + (o * j->y_rows + row) * j->row * j->bytes, j->phase, bias,
                      y + row * j->s.y[2] * j->bytes);
      }
    }
  }
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_transpose_x], *w = &call->inputs[ND4C_IN_conv_transpose_w];
  const nd4c_tensor *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(x->size == 0 || w->size == 0 || y->size == 0, "an operand is empty");
  return (nd4c_in_c_order(x) && nd4c_in_c_order(w) && nd4c_in_c_order(y)) ||
         nd4c_cpu_decline(reason, reason_size, "an operand is not in C order");
}

/* Before oneDNN's kernel, unless the weights are packed once, for calls that take longer than to describe a shape. */
static bool preferred(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_transpose_x], *w = &call->inputs[ND4C_IN_conv_transpose_w];
  if (!usable(call, reason, reason_size)) {
    return false;
  }
  ND4C_CPU_DECLINE_IF(w->dtype == ND4C_FLOAT32 && (w->flags & ND4C_TENSOR_CONSTANT) != 0 &&
                          (double)x->size * (double)(w->size / w->shape[0]) >= MANY,
                      "the weights are constant, and the multiplications many: oneDNN packs them once");
  return true;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  return j.worker_bytes * (call->width > 1 ? call->width : 1);
}

static nd4c_status run(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  nd4c_cpu_parallel(j.s.batch * j.s.groups * j.blocks, 1, call->width, task_range, &j);
  return ND4C_OK;
}

#define KERNEL(name, priority, its_usable)                                                                             \
  ND4C_CPU_KERNEL("simd", conv_transpose, name, priority, ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64), \
                  its_usable, run, .scratch_bytes = scratch_bytes)

const nd4c_kernel *const nd4c_cpu_simd_window_transposed_kernels[] = {
    KERNEL("own_conv_transpose", ND4C_CPU_PRIORITY_ONEDNN + 1, preferred),
    KERNEL("conv_transpose", ND4C_SIMD_PRIORITY, usable), NULL};
