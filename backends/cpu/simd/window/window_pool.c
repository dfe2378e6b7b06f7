/* Pools of engine simd: with channels side by side, or rows of positions of f32 and f64. dispatch/choice.c asks these
 * kernels before the reference's. */
#include <math.h>

#include "backends/cpu/simd/rows.h"

/* Cells, or rows, gathered for one loop; rows of factors that are kept. */
enum { MAX_CELLS = 64, FACTOR_ROWS = 4 };

/* Of rows of positions: steps and padding, and cells of a window along the last axis, at most. */
enum { FARTHEST = 1 << 16, LONGEST = 1 << 10 };

typedef struct job {
  const nd4c_pool_loops *loops;
  nd4c_ref_window window;
  const nd4c_tensor *x, *y;
  int64_t bytes;
  bool average, count_padding;
  int64_t cells;       /* of a window */
  nd4c_pool_line line; /* rows of positions: how windows lie along the last axis */
  char *scratch;       /* of each worker lines, and rows of factors */
  int64_t lines, line_bytes, factor_bytes, worker_bytes;
  /* Windows that lie inside x: channels side by side, along the last axis; rows of positions, along the one axis before
   * it, if bands can be used. */
  int64_t whole_first, whole_last;
} job;

/* Cells [first, last) of a window along one axis that lie inside x, and how many the mean counts. */
typedef struct extent {
  int64_t first, last, counted;
} extent;

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* Smallest k >= 0 with start + k * step >= bound. */
static int64_t cells_before(int64_t start, int64_t step, int64_t bound) {
  return start >= bound ? 0 : step == 1 ? bound - start : (bound - start + step - 1) / step;
}

static extent axis_extent(const job *j, int32_t axis, int64_t output) {
  const nd4c_ref_window *w = &j->window;
  int64_t start = output * w->stride[axis] - w->pad_begin[axis];
  extent e;
  e.first = clamp(cells_before(start, w->dilation[axis], 0), 0, w->kernel[axis]);
  e.last = clamp(cells_before(start, w->dilation[axis], w->input[axis]), e.first, w->kernel[axis]);
  e.counted = e.last - e.first;
  if (j->count_padding) {
    e.counted = clamp(cells_before(start, w->dilation[axis], w->input[axis] + w->pad_end[axis]), 0, w->kernel[axis]);
  }
  return e;
}

/* Finds the windows that lie inside x along an axis. The step of a single window may be huge. */
static void find_whole(job *j, int32_t axis) {
  const nd4c_ref_window *w = &j->window;
  int64_t windows = j->y->shape[axis + 2], step = windows > 1 ? w->stride[axis] : 1;
  int64_t farthest = (w->kernel[axis] - 1) * w->dilation[axis] - w->pad_begin[axis];
  j->whole_last = clamp(cells_before(farthest, step, w->input[axis]), 0, windows);
  j->whole_first = clamp(cells_before(-w->pad_begin[axis], step, 0), 0, j->whole_last);
}

static void fill(const job *j, int64_t n, double value, void *to) {
  nd4c_simd_row_loops(j->y->dtype)->fill(n, value, to);
}

/* -- channels side by side -------------------------------------------------------------------------------------- */

/* Runs through the cells of a window. */
typedef struct cell_walk {
  extent extents[3];
  int64_t at[3];
  int64_t left;
} cell_walk;

static cell_walk walk_start(const job *j, const int64_t *output) {
  cell_walk walk = {.left = 1};
  for (int32_t i = 0; i < j->window.spatial; i++) {
    walk.extents[i] = axis_extent(j, i, output[i]);
    walk.at[i] = walk.extents[i].first;
    walk.left *= walk.extents[i].last - walk.extents[i].first;
  }
  return walk;
}

/* Finds where the next cells lie, `most` at most, in bytes from the image; returns their number. */
static int64_t walk_cells(const job *j, cell_walk *walk, const int64_t *output, int64_t most, int64_t *offsets) {
  const nd4c_ref_window *w = &j->window;
  int64_t count = 0;
  for (; walk->left > 0 && count < most; walk->left--) {
    int64_t offset = 0;
    for (int32_t i = 0; i < w->spatial; i++) {
      int64_t position = output[i] * w->stride[i] - w->pad_begin[i] + walk->at[i] * w->dilation[i];
      offset += position * j->x->strides[i + 2];
    }
    offsets[count++] = offset * j->bytes;
    for (int32_t i = w->spatial - 1; i >= 0 && ++walk->at[i] == walk->extents[i].last; i--) {
      walk->at[i] = walk->extents[i].first;
    }
  }
  return count;
}

/* What a window without cells gives: 0, or minus infinity. */
static void fill_cells(const job *j, int64_t channels, char *to) {
  const uint16_t infinite = j->y->dtype == ND4C_BFLOAT16 ? 0xff80 : 0xfc00;
  uint16_t *halves = (uint16_t *)(void *)to;
  if (j->bytes != sizeof *halves) {
    fill(j, channels, j->average ? 0 : -(double)INFINITY, to);
    return;
  }
  for (int64_t i = 0; i < channels; i++) {
    halves[i] = j->average ? 0 : infinite;
  }
}

/* Pools the window at `output` and those after it along the last axis; several must lie inside x along that axis, since
 * their cells lie as those of the first one. */
static void pool_windows(const job *j, const int64_t *output, int64_t windows, const char *image, char *to) {
  int32_t last = j->window.spatial - 1;
  int64_t offsets[MAX_CELLS], counted = 1;
  cell_walk walk = walk_start(j, output);
  nd4c_pool_cells cells = {.channels = j->y->shape[1],
                           .windows = windows,
                           .offsets = offsets,
                           .x = image,
                           .x_step = windows > 1 ? j->window.stride[last] * j->x->strides[last + 2] * j->bytes : 0,
                           .y = to,
                           .y_step = j->y->strides[last + 2] * j->bytes};
  for (int32_t i = 0; i <= last; i++) {
    counted *= walk.extents[i].counted;
  }
  for (int64_t i = 0; walk.left == 0 && i < windows; i++) {
    fill_cells(j, cells.channels, to + i * cells.y_step);
  }
  for (; walk.left > 0; cells.resumed = true) {
    cells.count = walk_cells(j, &walk, output, MAX_CELLS, offsets);
    if (j->average) {
      j->loops->sum_cells(&cells, walk.left > 0 ? 1 : 1 / (double)(counted > 0 ? counted : 1));
    } else {
      j->loops->max_cells(&cells);
    }
  }
}

/* Positions [begin, end), a row of the last axis after the other. */
static void position_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_tensor *x = j->x, *y = j->y;
  int32_t last = j->window.spatial - 1;
  (void)worker;
  while (begin < end) {
    int64_t output[3], rest = begin, y_offset = 0;
    for (int32_t i = last; i >= 0; i--) {
      output[i] = rest % y->shape[i + 2];
      rest /= y->shape[i + 2];
      y_offset += i < last ? output[i] * y->strides[i + 2] : 0;
    }
    const char *image = (const char *)x->data + rest * x->strides[0] * j->bytes;
    char *row = (char *)y->data + (y_offset + rest * y->strides[0]) * j->bytes;
    int64_t row_end = end - begin < y->shape[last + 2] - output[last] ? output[last] + end - begin : y->shape[last + 2];
    for (int64_t windows = 0; output[last] < row_end; output[last] += windows, begin += windows) {
      bool whole = output[last] >= j->whole_first && output[last] < j->whole_last;
      windows = whole ? clamp(j->whole_last, 0, row_end) - output[last] : 1;
      pool_windows(j, output, windows, image, row + output[last] * y->strides[last + 2] * j->bytes);
    }
  }
}

/* -- rows of positions ------------------------------------------------------------------------------------------ */

static int64_t align(int64_t bytes) {
  return (bytes + 63) & ~(int64_t)63;
}

static void job_lines(job *j) {
  const nd4c_ref_window *w = &j->window;
  int32_t last = w->spatial - 1;
  nd4c_pool_line *line = &j->line;
  *line = (nd4c_pool_line){.windows = j->y->shape[last + 2],
                           .left = w->pad_begin[last],
                           .stride = j->y->shape[last + 2] > 1 ? w->stride[last] : 1,
                           .kernel = w->kernel[last],
                           .dilation = w->dilation[last]};
  int64_t seen = (line->windows - 1) * line->stride + (line->kernel - 1) * line->dilation + 1 - line->left;
  line->length = clamp(seen, 0, w->input[last]);
  j->line_bytes = align(nd4c_pool_line_capacity(line) * j->bytes);
  j->factor_bytes = align((line->windows + ND4C_POOL_LANES) * j->bytes);
  j->lines = 1;
  if (w->spatial == 2 && nd4c_pool_has_band(line, w->kernel[0]) && w->stride[0] <= FARTHEST &&
      w->dilation[0] <= FARTHEST && w->pad_begin[0] <= FARTHEST) {
    j->lines = ND4C_POOL_LINES;
    find_whole(j, 0);
  }
  j->worker_bytes = j->lines * j->line_bytes + FACTOR_ROWS * j->factor_bytes;
}

/* What the sums of a row are multiplied with: one divided by the number of cells that count. */
static void find_factors(const job *j, int64_t outer_counted, void *factors) {
  float *single = factors;
  double *wide = factors;
  for (int64_t i = 0; i < j->line.windows; i++) {
    int64_t cells = outer_counted * axis_extent(j, j->window.spatial - 1, i).counted;
    double factor = 1 / (double)(cells > 0 ? cells : 1);
    if (j->bytes == 4) {
      single[i] = (float)factor;
    } else {
      wide[i] = factor;
    }
  }
}

/* Brings the rows of x that the windows of a row see into the line; how many cells count along the outer axes. */
static int64_t join_rows(const job *j, const int64_t *output, const char *base, char *line) {
  const nd4c_ref_window *w = &j->window;
  extent extents[2] = {{0, 1, 1}, {0, 1, 1}};
  int64_t steps[2] = {0, 0}, taken = 0;
  const void *rows[MAX_CELLS];
  for (int32_t i = 0; i < w->spatial - 1; i++) {
    extents[i] = axis_extent(j, i, output[i]);
    steps[i] = w->dilation[i] * j->x->strides[i + 2] * j->bytes;
    base += (output[i] * w->stride[i] - w->pad_begin[i]) * j->x->strides[i + 2] * j->bytes;
  }
  for (int64_t k = extents[0].first; k < extents[0].last; k++) {
    for (int64_t l = extents[1].first; l < extents[1].last; l++) {
      rows[taken++] = base + k * steps[0] + l * steps[1];
      if (taken == MAX_CELLS) { /* what they give is a row of the rest */
        (j->average ? j->loops->sum_rows : j->loops->max_rows)(j->line.length, taken, rows, line);
        rows[0] = line;
        taken = 1;
      }
    }
  }
  if (taken > 0) {
    (j->average ? j->loops->sum_rows : j->loops->max_rows)(j->line.length, taken, rows, line);
  } else {
    fill(j, j->line.length, j->average ? 0 : -(double)INFINITY, line);
  }
  return extents[0].counted * extents[1].counted;
}

/* The factors of a row of windows that count outer_counted cells along the outer axes. `kept` has the outer_counted of
 * each row of factors in the cache `rows`. */
static char *factors_for(const job *j, int64_t outer_counted, int64_t *kept, char *rows) {
  int64_t slot = outer_counted % FACTOR_ROWS;
  char *factors = rows + slot * j->factor_bytes;
  if (kept[slot] != outer_counted) {
    find_factors(j, outer_counted, factors);
    kept[slot] = outer_counted;
  }
  return factors;
}

/* What one worker has: its memory, and the plane where it is. */
typedef struct place {
  char *line, *factors;
  int64_t kept[FACTOR_ROWS];
  const char *from;
  char *to;
} place;

static void pool_row(const job *j, place *at, const int64_t *output) {
  int64_t y_offset = 0;
  for (int32_t i = 0; i < j->window.spatial - 1; i++) {
    y_offset += output[i] * j->y->strides[i + 2];
  }
  char *row = at->to + y_offset * j->bytes;
  int64_t counted = join_rows(j, output, at->from, at->line + j->line.left * j->bytes);
  if (j->average) {
    j->loops->sum_line(&j->line, at->line, factors_for(j, counted, at->kept, at->factors), row);
  } else {
    j->loops->max_line(&j->line, at->line, row);
  }
}

/* Pools at most `count` rows of windows from `output` on that are inside x; returns their number. */
static int64_t pool_band(const job *j, place *at, int64_t output, int64_t count) {
  const nd4c_ref_window *w = &j->window;
  int64_t x_row = j->x->strides[2] * j->bytes, y_step = j->y->strides[2] * j->bytes;
  nd4c_pool_band band = {.count = j->whole_last - output < count ? j->whole_last - output : count,
                         .rows = w->kernel[0],
                         .x = at->from + (output * w->stride[0] - w->pad_begin[0]) * x_row,
                         .x_row = w->dilation[0] * x_row,
                         .x_step = w->stride[0] * x_row,
                         .line = at->line,
                         .line_step = j->line_bytes,
                         .y = at->to + output * y_step,
                         .y_step = y_step};
  if (j->average) {
    j->loops->sum_band(&j->line, &band, factors_for(j, band.rows, at->kept, at->factors));
  } else {
    j->loops->max_band(&j->line, &band);
  }
  return band.count;
}

static void row_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_tensor *x = j->x, *y = j->y;
  place at = {.line = j->scratch + worker * j->worker_bytes, .kept = {-1, -1, -1, -1}};
  int32_t outer = j->window.spatial - 1;
  int64_t output[3] = {0, 0, 0}, plane = begin, before = -1, done = 0;
  at.factors = at.line + j->lines * j->line_bytes;
  for (int32_t i = outer - 1; i >= 0; i--) {
    output[i] = plane % y->shape[i + 2];
    plane /= y->shape[i + 2];
  }
  fill(j, j->lines * j->line_bytes / j->bytes, j->average ? 0 : -(double)INFINITY, at.line);
  fill(j, FACTOR_ROWS * j->factor_bytes / j->bytes, 0, at.factors);
  for (int64_t index = begin; index < end; index += done) {
    if (plane != before) {
      int64_t image = plane / y->shape[1], channel = plane % y->shape[1];
      at.from = (const char *)x->data + (image * x->strides[0] + channel * x->strides[1]) * j->bytes;
      at.to = (char *)y->data + (image * y->strides[0] + channel * y->strides[1]) * j->bytes;
      before = plane;
    }
    done = 1;
    if (output[0] >= j->whole_first && output[0] < j->whole_last) {
      done = pool_band(j, &at, output[0], end - index);
    } else {
      pool_row(j, &at, output);
    }
    plane += outer == 0;
    if (outer > 0) {
      output[outer - 1] += done;
    }
    for (int32_t i = outer - 1; i >= 0 && output[i] == y->shape[i + 2]; i--) {
      output[i] = 0;
      if (i > 0) {
        output[i - 1]++;
      } else {
        plane++;
      }
    }
  }
}

/* -- kernels ---------------------------------------------------------------------------------------------------- */

static bool dense_pair(const nd4c_call *call, int32_t axis) {
  return nd4c_simd_dense_axis(&call->inputs[0], axis) && nd4c_simd_dense_axis(&call->outputs[0], axis);
}

static bool by_channels(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  return dense_pair(call, 1) && (y->shape[1] > 1 || !dense_pair(call, y->rank - 1));
}

/* Whether windows can be reduced along a line. A line holds all cells between its windows and the padding, and windows
 * are summed one cell after the other, so strides, padding and windows must be short. */
static bool line_fits(const nd4c_call *call) {
  nd4c_ref_window w;
  nd4c_cpu_pool_window(call, &w);
  int32_t last = w.spatial - 1;
  return (w.stride[last] <= FARTHEST || call->outputs[0].shape[last + 2] == 1) && w.pad_begin[last] <= FARTHEST &&
         w.pad_end[last] <= FARTHEST && w.kernel[last] <= LONGEST;
}

static int64_t window_cells(const nd4c_call *call) {
  nd4c_ref_window w;
  int64_t cells = 1;
  nd4c_cpu_pool_window(call, &w);
  for (int32_t i = 0; i < w.spatial; i++) {
    cells *= w.kernel[i];
  }
  return cells;
}

static const nd4c_pool_loops *loops_of(nd4c_dtype dtype) {
  const nd4c_pool_table *pool = nd4c_simd.pool;
  return dtype == ND4C_FLOAT32    ? pool->float32
         : dtype == ND4C_FLOAT64  ? pool->float64
         : dtype == ND4C_BFLOAT16 ? pool->bfloat16
                                  : pool->float16;
}

static bool pool_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->outputs[0].size == 0 || call->inputs[0].size == 0, "an operand is empty");
  ND4C_CPU_DECLINE_IF(!dense_pair(call, 1) && !dense_pair(call, call->inputs[0].rank - 1),
                      "neither the channels nor the last axis lie without gaps");
  if (nd4c_cpu_dtype_bytes(call->outputs[0].dtype) == 2) {
    ND4C_CPU_DECLINE_IF(!by_channels(call), "channels of 16-bit floats do not lie side by side");
    ND4C_CPU_DECLINE_IF(call->op->op == ND4C_OP_average_pool && window_cells(call) > MAX_CELLS,
                        "sums of more than %d 16-bit floats", MAX_CELLS);
    return true;
  }
  return by_channels(call) || line_fits(call) ||
         nd4c_cpu_decline(reason, reason_size, "windows along the last axis are long, or far apart");
}

static job job_of(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  job j = {.loops = loops_of(y->dtype),
           .x = x,
           .y = y,
           .bytes = nd4c_cpu_dtype_bytes(y->dtype),
           .average = call->op->op == ND4C_OP_average_pool,
           .count_padding = ND4C_FLAG_OF(call, max_pool_count_include_pad),
           .cells = window_cells(call),
           .scratch = call->scratch};
  nd4c_cpu_pool_window(call, &j.window);
  if (by_channels(call)) {
    find_whole(&j, j.window.spatial - 1);
  } else {
    job_lines(&j);
  }
  return j;
}

static int64_t pool_scratch_bytes(const nd4c_call *call) {
  job j = job_of(call);
  return by_channels(call) ? 0 : j.worker_bytes * (call->width > 1 ? call->width : 1);
}

static nd4c_status pool_run(const nd4c_call *call) {
  job j = job_of(call);
  const nd4c_tensor *y = j.y;
  int64_t last = y->shape[y->rank - 1];
  if (by_channels(call)) {
    nd4c_cpu_parallel(y->size / y->shape[1], nd4c_simd_grain(y->shape[1] * j.cells), call->width, position_range, &j);
  } else {
    nd4c_cpu_parallel(y->size / last, nd4c_simd_grain(last * j.cells), call->width, row_range, &j);
  }
  return ND4C_OK;
}

#define KERNEL(op) ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_FLOATS, pool_usable, pool_run, .scratch_bytes = pool_scratch_bytes)

const nd4c_kernel *const nd4c_cpu_simd_window_pool_kernels[] = {KERNEL(max_pool), KERNEL(average_pool), NULL};
