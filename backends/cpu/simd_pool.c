/* Pools of engine simd: f32 and f64, with channels side by side or rows of positions. */
#include <math.h>

#include "backends/cpu/simd_nn.h"

/* Cells gathered for one loop, and positions whose factors are worked out at a time. */
enum { MAX_CELLS = 64, CHUNK = 256 };

typedef struct job {
  const nd4c_nn_loops *loops;
  nd4c_ref_window window;
  const nd4c_tensor *x, *y;
  int64_t bytes;
  bool average, count_padding;
  /* Rows: positions [inside_begin, inside_end) whose windows lie inside x, where their cells can be taken together. */
  bool together;
  int64_t inside_begin, inside_end;
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

/* -- channels side by side -------------------------------------------------------------------------------------- */

/* Runs through the cells of a window, up to MAX_CELLS at a time. */
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

static int64_t walk_cells(const job *j, cell_walk *walk, const int64_t *output, const char *base, const void **cells) {
  const nd4c_ref_window *w = &j->window;
  int64_t count = 0;
  for (; walk->left > 0 && count < MAX_CELLS; walk->left--) {
    int64_t offset = 0;
    for (int32_t i = 0; i < w->spatial; i++) {
      int64_t position = output[i] * w->stride[i] - w->pad_begin[i] + walk->at[i] * w->dilation[i];
      offset += position * j->x->strides[i + 2];
    }
    cells[count++] = base + offset * j->bytes;
    for (int32_t i = w->spatial - 1; i >= 0 && ++walk->at[i] == walk->extents[i].last; i--) {
      walk->at[i] = walk->extents[i].first;
    }
  }
  return count;
}

static void pool_position(const job *j, const int64_t *output, const char *base, char *to) {
  const void *cells[MAX_CELLS];
  cell_walk walk = walk_start(j, output);
  int64_t channels = j->y->shape[1], counted = 1;
  for (int32_t i = 0; i < j->window.spatial; i++) {
    counted *= walk.extents[i].counted;
  }
  double factor = walk.left > MAX_CELLS ? 1 : 1 / (double)(counted > 0 ? counted : 1);
  bool many = walk.left > MAX_CELLS;
  int64_t count = walk_cells(j, &walk, output, base, cells);
  if (count == 0) {
    j->loops->fill(channels, j->average ? 0 : -(double)INFINITY, to);
  } else if (j->average) {
    j->loops->sum_cells(channels, count, cells, factor, to);
  } else {
    j->loops->max_cells(channels, count, cells, to);
  }
  while (walk.left > 0) {
    count = walk_cells(j, &walk, output, base, cells);
    for (int64_t c = 0; c < count; c++) {
      (j->average ? j->loops->add_steps : j->loops->max_steps)(channels, 1, cells[c], to);
    }
  }
  if (many && j->average) {
    const void *self = to;
    j->loops->sum_cells(channels, 1, &self, 1 / (double)(counted > 0 ? counted : 1), to);
  }
}

static void position_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  for (int64_t index = begin; index < end; index++) {
    int64_t output[3], rest = index, y_offset = 0;
    for (int32_t i = j->window.spatial - 1; i >= 0; i--) {
      output[i] = rest % j->y->shape[i + 2];
      rest /= j->y->shape[i + 2];
      y_offset += output[i] * j->y->strides[i + 2];
    }
    const char *base = (const char *)j->x->data + rest * j->x->strides[0] * j->bytes;
    pool_position(j, output, base, (char *)j->y->data + (y_offset + rest * j->y->strides[0]) * j->bytes);
  }
}

/* -- rows of positions ------------------------------------------------------------------------------------------ */

/* Combines the cells `shift` beyond the first of all windows. */
static void combine_steps(const job *j, const char *row, int64_t shift, int64_t width, char *to) {
  const nd4c_ref_window *w = &j->window;
  int32_t last = w->spatial - 1;
  int64_t step = w->stride[last], first = cells_before(shift, step, 0), end = cells_before(shift, step, w->input[last]);
  end = end < width ? end : width;
  if (first < end) {
    const char *from = row + (first * step + shift) * j->bytes;
    (j->average ? j->loops->add_steps : j->loops->max_steps)(end - first, step, from, to + first * j->bytes);
  }
}

/* Combines the cells of one window of neighbours. */
static void combine_window(const job *j, const char *row, int64_t position, char *to) {
  const nd4c_ref_window *w = &j->window;
  int32_t last = w->spatial - 1;
  int64_t start = position * w->stride[last] - w->pad_begin[last];
  int64_t first = start < 0 ? 0 : start, end = start + w->kernel[last];
  end = end < w->input[last] ? end : w->input[last];
  if (first < end) {
    (j->average ? j->loops->add_all : j->loops->max_all)(end - first, row + first * j->bytes, to + position * j->bytes);
  }
}

/* Finds what combine_row and divide_row ask for each row. */
static void find_inside(job *j) {
  const nd4c_ref_window *w = &j->window;
  int32_t last = w->spatial - 1;
  int64_t step = w->stride[last], width = j->y->shape[last + 2], reach = (w->kernel[last] - 1) * w->dilation[last];
  j->inside_begin = clamp(cells_before(-w->pad_begin[last], step, 0), 0, width);
  j->inside_end = clamp(cells_before(reach - w->pad_begin[last], step, w->input[last]), j->inside_begin, width);
  j->together = w->dilation[last] == 1 && step <= 2 && (w->kernel[last] == 2 || w->kernel[last] == 3);
}

/* Combines one row of x into the row of y. */
static void combine_row(const job *j, const char *row, char *to) {
  const nd4c_ref_window *w = &j->window;
  int32_t last = w->spatial - 1;
  int64_t width = j->y->shape[last + 2], step = w->stride[last];
  if (width == 1 && w->dilation[last] == 1) {
    extent e = axis_extent(j, last, 0);
    const char *from = row + (e.first - w->pad_begin[last]) * j->bytes;
    if (e.last > e.first) {
      (j->average ? j->loops->add_all : j->loops->max_all)(e.last - e.first, from, to);
    }
    return;
  }
  if (j->together) {
    int64_t begin = j->inside_begin, end = j->inside_end;
    const char *from = row + (begin * step - w->pad_begin[last]) * j->bytes;
    (j->average ? j->loops->add_neighbours : j->loops->max_neighbours)(end - begin, step, w->kernel[last], from,
                                                                       to + begin * j->bytes);
    for (int64_t i = begin == 0 ? end : 0; i < width; i = i + 1 == begin ? end : i + 1) {
      combine_window(j, row, i, to);
    }
    return;
  }
  for (int64_t k = 0; k < w->kernel[last]; k++) {
    combine_steps(j, row, k * w->dilation[last] - w->pad_begin[last], width, to);
  }
}

/* Divides a row of sums by the numbers of cells. Between the first and the last windows they are all alike. */
static void divide_row(const job *j, int64_t outer_count, char *to) {
  const nd4c_ref_window *w = &j->window;
  int32_t last = w->spatial - 1;
  int64_t width = j->y->shape[last + 2], begin = j->inside_begin, end = j->inside_end;
  float single[CHUNK];
  double wide[CHUNK], inside = 1 / (double)(outer_count > 0 ? outer_count * w->kernel[last] : 1);
  for (int64_t start = 0; start < width; start += CHUNK) {
    int64_t count = width - start < CHUNK ? width - start : CHUNK;
    for (int64_t i = 0; i < count; i++) {
      wide[i] = inside;
      single[i] = (float)inside;
    }
    for (int64_t i = 0; i < count; i++) {
      if (start + i >= begin && start + i < end) { /* on to the last windows */
        i = (end - start < count ? end - start : count) - 1;
        continue;
      }
      int64_t cells = outer_count * axis_extent(j, last, start + i).counted;
      wide[i] = 1 / (double)(cells > 0 ? cells : 1);
      single[i] = (float)wide[i];
    }
    const void *factors = j->bytes == 4 ? (const void *)single : (const void *)wide;
    j->loops->scale(count, factors, to + start * j->bytes);
  }
}

static void pool_row(const job *j, const int64_t *output, const char *base, char *to) {
  const nd4c_ref_window *w = &j->window;
  int32_t outer = w->spatial - 1;
  extent extents[3] = {{0, 1, 1}, {0, 1, 1}, {0, 1, 1}};
  int64_t counted = 1;
  for (int32_t i = 0; i < outer; i++) {
    extents[i] = axis_extent(j, i, output[i]);
    counted *= extents[i].counted;
  }
  j->loops->fill(j->y->shape[outer + 2], j->average ? 0 : -(double)INFINITY, to);
  for (int64_t k0 = extents[0].first; k0 < extents[0].last; k0++) {
    for (int64_t k1 = extents[1].first; k1 < extents[1].last; k1++) {
      const int64_t k[2] = {k0, k1};
      int64_t offset = 0;
      for (int32_t i = 0; i < outer; i++) {
        int64_t position = output[i] * w->stride[i] - w->pad_begin[i] + k[i] * w->dilation[i];
        offset += position * j->x->strides[i + 2];
      }
      combine_row(j, base + offset * j->bytes, to);
    }
  }
  if (j->average) {
    divide_row(j, counted, to);
  }
}

static void row_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  for (int64_t index = begin; index < end; index++) {
    int64_t output[3] = {0, 0, 0}, rest = index, y_offset = 0;
    for (int32_t i = j->window.spatial - 2; i >= 0; i--) {
      output[i] = rest % j->y->shape[i + 2];
      rest /= j->y->shape[i + 2];
      y_offset += output[i] * j->y->strides[i + 2];
    }
    int64_t channel = rest % j->y->shape[1], image = rest / j->y->shape[1];
    int64_t x_offset = image * j->x->strides[0] + channel * j->x->strides[1];
    y_offset += image * j->y->strides[0] + channel * j->y->strides[1];
    pool_row(j, output, (const char *)j->x->data + x_offset * j->bytes, (char *)j->y->data + y_offset * j->bytes);
  }
}

/* -- kernels ---------------------------------------------------------------------------------------------------- */

static bool dense_pair(const nd4c_call *call, int32_t axis) {
  return nd4c_simd_dense_axis(&call->inputs[0], axis) && nd4c_simd_dense_axis(&call->outputs[0], axis);
}

static bool pool_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  if (call->outputs[0].size == 0 || call->inputs[0].size == 0) {
    return nd4c_cpu_decline(reason, reason_size, "an operand is empty");
  }
  return dense_pair(call, 1) || dense_pair(call, call->inputs[0].rank - 1) ||
         nd4c_cpu_decline(reason, reason_size, "neither the channels nor the last axis lie without gaps");
}

static nd4c_status pool_run(const nd4c_call *call, bool average) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  job j = {.loops = nd4c_simd_nn_loops(y->dtype),
           .x = x,
           .y = y,
           .bytes = nd4c_simd_nn_bytes(y->dtype),
           .average = average,
           .count_padding = call->attrs[ND4C_ATTR_max_pool_count_include_pad].as.i != 0};
  nd4c_cpu_pool_window(call, &j.window);
  int64_t cells = 1, last = y->shape[y->rank - 1];
  for (int32_t i = 0; i < j.window.spatial; i++) {
    cells *= j.window.kernel[i];
  }
  if (dense_pair(call, 1) && (y->shape[1] > 1 || !dense_pair(call, y->rank - 1))) {
    nd4c_cpu_host->parallel_for(y->size / y->shape[1], nd4c_simd_grain(y->shape[1] * cells), call->width,
                                position_range, &j);
  } else {
    find_inside(&j);
    nd4c_cpu_host->parallel_for(y->size / last, nd4c_simd_grain(last * cells), call->width, row_range, &j);
  }
  return ND4C_OK;
}

static nd4c_status max_pool_run(const nd4c_call *call) {
  return pool_run(call, false);
}

static nd4c_status average_pool_run(const nd4c_call *call) {
  return pool_run(call, true);
}

ND4C_CPU_SIMD_KERNEL(max_pool, ND4C_SIMD_NN_DTYPES, pool_usable, max_pool_run)
ND4C_CPU_SIMD_KERNEL(average_pool, ND4C_SIMD_NN_DTYPES, pool_usable, average_pool_run)

const nd4c_kernel *const nd4c_cpu_simd_pool_kernels[] = {&simd_max_pool, &simd_average_pool, NULL};
