/* Engine simd: cumulative_sum, _prod, _max and _min. If the axis is the innermost of x, it walks lines; else rows side
 * by side, in blocks of columns. Large results are streamed past the caches. dispatch/choice.c asks these kernels
 * before the reference's. */
#include <string.h>

#include "backends/cpu/simd/rows.h"

enum {
  PIECE = 512,    /* elements of a line that pass through buffers together */
  COLUMNS = 1024, /* of a block of rows */
  CHUNK = 32768,  /* elements of a line that is shared out */
  MAX_CHUNKS = 512
};

typedef struct scan {
  const nd4c_scan_loops *loops;
  const nd4c_best_loops *best; /* instead of loops */
  nd4c_simd_rows rows, index_rows;
  const char *x;
  char *y;
  int64_t *indices;
  int64_t x_bytes, y_bytes;
  int64_t length;                 /* elements to take along the axis */
  int64_t x_step, y_step, i_step; /* of the axis, in elements, in the direction of the scan */
  bool initial;                   /* an element of y comes before the first sum */
  uint64_t start, one;            /* carry before the first element, and the same as an element of y */
  int64_t width, blocks;          /* columns side by side, in so many blocks; width 0: lines */
  bool stream;
  int64_t chunk, chunks; /* of one line that is shared out */
  uint64_t *carries;
  double *lost;
} scan;

/* n elements to y, `step` apart. */
static void put(const scan *s, int64_t bytes, int64_t n, const void *from, void *y, int64_t step) {
  if (step == 1 && s->stream) {
    nd4c_simd.move->stream(n * bytes, from, y);
  } else {
    nd4c_simd.move->move[bytes](1, n, from, 0, 1, y, 0, step);
  }
}

static void end(const scan *s) {
  if (s->stream) {
    nd4c_simd.move->stream_fence();
  }
}

/* -- lines -------------------------------------------------------------------------------------------------------- */

/* count <= PIECE elements of a line, contiguous: in place or in the buffer. */
static const char *piece_of(const scan *s, int64_t count, const char *x, char *buffer) {
  if (s->x_step == 1) {
    return x;
  }
  nd4c_simd.move->move[s->x_bytes](1, count, x, 0, s->x_step, buffer, 0, 1);
  return buffer;
}

static void take_line(const scan *s, int64_t n, const char *x, char *y, void *carry, double *lost) {
  _Alignas(64) char from[8 * PIECE], to[8 * PIECE];
  bool direct = s->y_step == 1 && !s->stream;
  for (int64_t i = 0; i < n; i += PIECE) {
    int64_t count = n - i < PIECE ? n - i : PIECE;
    char *result = y + i * s->y_step * s->y_bytes;
    s->loops->run(count, piece_of(s, count, x + i * s->x_step * s->x_bytes, from), direct ? result : to, carry, lost);
    if (!direct) {
      put(s, s->y_bytes, count, to, result, s->y_step);
    }
  }
}

static void take_best(const scan *s, const char *x, char *y, int64_t *indices) {
  _Alignas(64) char from[8 * PIECE], to[8 * PIECE];
  int64_t positions[PIECE], where = 0;
  uint64_t best = 0;
  memcpy(&best, x, (size_t)s->x_bytes);
  for (int64_t i = 0; i < s->length; i += PIECE) {
    int64_t count = s->length - i < PIECE ? s->length - i : PIECE;
    s->best->run(count, piece_of(s, count, x + i * s->x_step * s->x_bytes, from), i, &best, &where, to, positions);
    put(s, s->y_bytes, count, to, y + i * s->y_step * s->y_bytes, s->y_step);
    put(s, sizeof *positions, count, positions, indices + i * s->i_step, s->i_step);
  }
}

/* Writes the element before the first sum; returns the place of the next one. */
static char *put_initial(const scan *s, char *y) {
  if (!s->initial) {
    return y;
  }
  memcpy(y, &s->one, (size_t)s->y_bytes);
  return y + s->y_step * s->y_bytes;
}

/* Four lines at once, where their elements lie side by side. */
static void take_four(const scan *s, int64_t line) {
  _Alignas(64) char to[4][8 * PIECE];
  int64_t x[4], y[4];
  double carries[4];
  bool even = true;
  for (int i = 0; i < 4; i++) {
    nd4c_simd_rows_at(&s->rows, line + i, &x[i], &y[i]);
    y[i] += s->initial ? s->y_step : 0;
    memcpy(&carries[i], &s->start, sizeof s->start);
    if (s->initial) {
      memcpy(s->y + (y[i] - s->y_step) * s->y_bytes, &s->one, (size_t)s->y_bytes);
    }
    even = even && x[i] - x[0] == i * (x[1] - x[0]);
  }
  for (int64_t i = 0; even && i < s->length; i += PIECE) {
    int64_t count = s->length - i < PIECE ? s->length - i : PIECE;
    s->loops->four(count, s->x + (x[0] + i) * s->x_bytes, (x[1] - x[0]) * s->x_bytes, to, sizeof to[0], carries);
    for (int k = 0; k < 4; k++) {
      put(s, s->y_bytes, count, to[k], s->y + (y[k] + i * s->y_step) * s->y_bytes, s->y_step);
    }
  }
  for (int i = 0; !even && i < 4; i++) {
    take_line(s, s->length, s->x + x[i] * s->x_bytes, s->y + y[i] * s->y_bytes, &carries[i], NULL);
  }
}

static void lines_range(void *user, int64_t begin, int64_t finish, int32_t worker) {
  const scan *s = user;
  (void)worker;
  for (; s->best == NULL && s->loops->four != NULL && s->x_step == 1 && begin + 4 <= finish; begin += 4) {
    take_four(s, begin);
  }
  for (int64_t line = begin; line < finish; line++) {
    int64_t x, y, unused, index;
    uint64_t carry = s->start;
    double lost = 0;
    nd4c_simd_rows_at(&s->rows, line, &x, &y);
    if (s->best != NULL) {
      nd4c_simd_rows_at(&s->index_rows, line, &unused, &index);
      take_best(s, s->x + x * s->x_bytes, s->y + y * s->y_bytes, s->indices + index);
    } else {
      take_line(s, s->length, s->x + x * s->x_bytes, put_initial(s, s->y + y * s->y_bytes), &carry, &lost);
    }
  }
  end(s);
}

/* -- one long line: the sum of each chunk first, then all chunks at once ------------------------------------------ */

static void totals_range(void *user, int64_t begin, int64_t finish, int32_t worker) {
  const scan *s = user;
  _Alignas(64) char from[8 * PIECE], to[8 * PIECE];
  (void)worker;
  for (int64_t chunk = begin; chunk < finish; chunk++) {
    const char *x = s->x + chunk * s->chunk * s->x_step * s->x_bytes;
    s->carries[chunk] = s->start;
    s->lost[chunk] = 0;
    for (int64_t i = 0; i < s->chunk; i += PIECE) {
      const char *piece = piece_of(s, PIECE, x + i * s->x_step * s->x_bytes, from);
      if (s->loops->total != NULL) {
        s->loops->total(PIECE, piece, &s->carries[chunk]);
      } else {
        s->loops->run(PIECE, piece, to, &s->carries[chunk], &s->lost[chunk]);
      }
    }
  }
}

static void chunks_range(void *user, int64_t begin, int64_t finish, int32_t worker) {
  const scan *s = user;
  (void)worker;
  for (int64_t chunk = begin; chunk < finish; chunk++) {
    int64_t from = chunk * s->chunk, count = s->length - from < s->chunk ? s->length - from : s->chunk;
    uint64_t carry = chunk == 0 ? s->start : s->carries[chunk - 1];
    double lost = chunk == 0 ? 0 : s->lost[chunk - 1];
    char *y = s->y + (from + s->initial) * s->y_step * s->y_bytes;
    take_line(s, count, s->x + from * s->x_step * s->x_bytes, y, &carry, &lost);
  }
  end(s);
}

/* Replaces each chunk's carry by that of all chunks up to it, with the loop that scans elements. */
static void join_totals(const scan *s, bool words) {
  uint64_t carry = s->start, unused;
  double lost = 0;
  for (int64_t i = 0; i + 1 < s->chunks; i++) {
    const nd4c_scan_loops *loops = &nd4c_simd.scan->sum[words ? ND4C_INT64 : ND4C_FLOAT64];
    lost += s->lost[i];
    loops->run(1, &s->carries[i], &unused, &carry, &lost);
    s->carries[i] = carry;
    s->lost[i] = lost;
  }
}

static void scan_shared_out(scan *s, int32_t width, bool words) {
  uint64_t carries[MAX_CHUNKS];
  double lost[MAX_CHUNKS];
  s->chunk = s->length / MAX_CHUNKS / CHUNK * CHUNK + CHUNK;
  s->chunks = (s->length + s->chunk - 1) / s->chunk;
  s->carries = carries;
  s->lost = lost;
  put_initial(s, s->y);
  nd4c_cpu_parallel(s->chunks - 1, 1, width, totals_range, s);
  join_totals(s, words);
  nd4c_cpu_parallel(s->chunks, 1, width, chunks_range, s);
}

/* -- rows side by side -------------------------------------------------------------------------------------------- */

static void take_rows(const scan *s, int64_t n, const char *x, char *y) {
  _Alignas(64) char to[8 * COLUMNS];
  uint64_t carries[COLUMNS];
  double lost[COLUMNS];
  for (int64_t i = 0; i < n; i++) {
    carries[i] = s->start;
    lost[i] = 0;
  }
  if (s->initial) {
    nd4c_simd.move->move[s->y_bytes](1, n, &s->one, 0, 0, y, 0, 1);
    y += s->y_step * s->y_bytes;
  }
  for (int64_t row = 0; row < s->length; row++) {
    char *result = y + row * s->y_step * s->y_bytes;
    s->loops->row(n, x + row * s->x_step * s->x_bytes, s->stream ? to : result, carries, lost);
    if (s->stream) {
      put(s, s->y_bytes, n, to, result, 1);
    }
  }
}

static void take_best_rows(const scan *s, int64_t n, const char *x, char *y, int64_t *indices) {
  _Alignas(64) char to[8 * COLUMNS], best[8 * COLUMNS];
  int64_t where[COLUMNS], positions[COLUMNS];
  memcpy(best, x, (size_t)(n * s->x_bytes));
  memset(where, 0, (size_t)n * sizeof *where);
  for (int64_t row = 0; row < s->length; row++) {
    char *result = y + row * s->y_step * s->y_bytes;
    int64_t *at = indices + row * s->i_step;
    s->best->row(n, x + row * s->x_step * s->x_bytes, row, best, where, s->stream ? to : result,
                 s->stream ? positions : at);
    if (s->stream) {
      put(s, s->y_bytes, n, to, result, 1);
      put(s, sizeof *positions, n, positions, at, 1);
    }
  }
}

static void blocks_range(void *user, int64_t begin, int64_t finish, int32_t worker) {
  const scan *s = user;
  (void)worker;
  for (int64_t i = begin; i < finish; i++) {
    int64_t x, y, unused, index, column = i % s->blocks * COLUMNS;
    int64_t n = s->width - column < COLUMNS ? s->width - column : COLUMNS;
    nd4c_simd_rows_at(&s->rows, i / s->blocks, &x, &y);
    const char *from = s->x + (x + column) * s->x_bytes;
    char *to = s->y + (y + column) * s->y_bytes;
    if (s->best != NULL) {
      nd4c_simd_rows_at(&s->index_rows, i / s->blocks, &unused, &index);
      take_best_rows(s, n, from, to, s->indices + index + column);
    } else {
      take_rows(s, n, from, to);
    }
  }
  end(s);
}

/* -- ops ---------------------------------------------------------------------------------------------------------- */

/* Whether columns can be scanned side by side: in all tensors the last axis has stride 1, and it is not the scanned
 * one. */
static bool side_by_side(const nd4c_call *call, int32_t axis) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t last = x->rank - 1;
  if (axis == last || x->strides[last] != 1 || x->shape[last] < 8) {
    return false;
  }
  for (int32_t i = 0; i < call->output_count; i++) {
    if (call->outputs[i].strides[last] != 1) {
      return false;
    }
  }
  return true;
}

static scan make_scan(const nd4c_call *call, int32_t axis) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  scan s = {.x = x->data,
            .y = y->data,
            .x_bytes = nd4c_cpu_dtype_bytes(x->dtype),
            .y_bytes = nd4c_cpu_dtype_bytes(y->dtype),
            .length = x->shape[axis],
            .x_step = x->strides[axis],
            .y_step = y->strides[axis]};
  uint32_t skip = 1u << axis;
  if (side_by_side(call, axis)) {
    skip |= 1u << (x->rank - 1);
    s.width = x->shape[x->rank - 1];
    s.blocks = (s.width + COLUMNS - 1) / COLUMNS;
  }
  s.stream = y->size > nd4c_simd_stream_bytes / s.y_bytes && (s.width > 0 || s.y_step == 1);
  nd4c_simd_rows_make(&s.rows, x, y, skip);
  if (call->output_count > 1) {
    s.indices = call->outputs[1].data;
    s.i_step = call->outputs[1].strides[axis];
    nd4c_simd_rows_make(&s.index_rows, x, &call->outputs[1], skip);
  }
  return s;
}

static void run_scan(scan *s, int32_t width) {
  int64_t work = s->length * (s->width > COLUMNS ? COLUMNS : s->width > 0 ? s->width : 1);
  int64_t count = s->rows.count * (s->width > 0 ? s->blocks : 1);
  nd4c_cpu_parallel(count, nd4c_simd_grain(2 * work), width, s->width > 0 ? blocks_range : lines_range, s);
}

static int32_t scan_axis(const nd4c_call *call) {
  return nd4c_axis(ND4C_INT_OF(call, cumulative_sum_axis), call->inputs[0].rank);
}

/* 1 as an element of a dtype. */
static uint64_t one_of(nd4c_dtype dtype) {
  static const double wide = 1;
  static const float narrow = 1;
  uint64_t bits = 1;
  if (dtype == ND4C_FLOAT64) {
    memcpy(&bits, &wide, sizeof wide);
  } else if (dtype == ND4C_FLOAT32) {
    memcpy(&bits, &narrow, sizeof narrow);
  }
#ifndef ND4C_DTYPES_LITE
  else if (dtype == ND4C_FLOAT16) {
    bits = nd4c_float16_from_float(1);
  } else if (dtype == ND4C_BFLOAT16) {
    bits = nd4c_bfloat16_from_float(1);
  }
#endif
  return bits;
}

static nd4c_status run_cumulative(const nd4c_call *call, const nd4c_scan_loops *loops, bool product) {
  int32_t axis = scan_axis(call);
  nd4c_dtype x = call->inputs[0].dtype, y = call->outputs[0].dtype;
  bool words = (ND4C_DTYPE_BIT(y) & ND4C_CPU_INTS) != 0;
  bool exclusive = ND4C_FLAG_OF(call, cumulative_sum_exclusive);
  bool initial = ND4C_FLAG_OF(call, cumulative_sum_include_initial);
  scan s = make_scan(call, axis);
  s.loops = &loops[x];
  s.start = product ? one_of(words ? y : ND4C_FLOAT64) : 0;
  s.one = product ? one_of(y) : 0;
  s.initial = exclusive || initial;
  if (ND4C_FLAG_OF(call, cumulative_sum_reverse)) {
    s.x += (s.length - 1) * s.x_step * s.x_bytes;
    s.y += (call->outputs[0].shape[axis] - 1) * s.y_step * s.y_bytes;
    s.x_step = -s.x_step;
    s.y_step = -s.y_step;
    s.stream = s.stream && s.width > 0;
  }
  s.length -= exclusive;
  if (!product && s.rows.count == 1 && s.width == 0 && s.length > 2 * CHUNK) {
    scan_shared_out(&s, call->width, words);
  } else {
    run_scan(&s, call->width);
  }
  return ND4C_OK;
}

static nd4c_status run_best(const nd4c_call *call, const nd4c_best_loops *loops) {
  scan s = make_scan(call, scan_axis(call));
  s.best = &loops[call->inputs[0].dtype];
  run_scan(&s, call->width);
  return ND4C_OK;
}

static bool usable_cumulative(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_dtype x = call->inputs[0].dtype, y = call->outputs[0].dtype;
  bool words = (ND4C_DTYPE_BIT(x) & (ND4C_CPU_INTS | ND4C_CPU_BOOLS)) != 0 && (y == ND4C_INT64 || y == ND4C_UINT64);
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0 || call->inputs[0].rank == 0, "nothing to run along");
  ND4C_CPU_DECLINE_IF(x != y && !words, "not into the dtype asked for");
  ND4C_CPU_DECLINE_IF(nd4c_simd.scan->sum[x].run == NULL || (words && nd4c_cpu_dtype_bytes(y) != 8),
                      "no loop for this dtype");
  return (ND4C_DTYPE_BIT(x) & ND4C_CPU_FLOATS) != 0 || words ||
         nd4c_cpu_decline(reason, reason_size, "integers narrower than 64 bits");
}

static bool usable_best(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0 || call->inputs[0].rank == 0, "nothing to run along");
  return nd4c_simd.scan->max[call->inputs[0].dtype].run != NULL ||
         nd4c_cpu_decline(reason, reason_size, "no loop for this dtype");
}

static nd4c_status run_cumulative_sum(const nd4c_call *call) {
  return run_cumulative(call, nd4c_simd.scan->sum, false);
}

static nd4c_status run_cumulative_prod(const nd4c_call *call) {
  return run_cumulative(call, nd4c_simd.scan->prod, true);
}

static nd4c_status run_cumulative_max(const nd4c_call *call) {
  return run_best(call, nd4c_simd.scan->max);
}

static nd4c_status run_cumulative_min(const nd4c_call *call) {
  return run_best(call, nd4c_simd.scan->min);
}

const nd4c_kernel *const nd4c_cpu_simd_statistics_scan_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(cumulative_sum, ND4C_CPU_REALS | ND4C_CPU_BOOLS, usable_cumulative, run_cumulative_sum),
    ND4C_CPU_SIMD_KERNEL(cumulative_prod, ND4C_CPU_REALS | ND4C_CPU_BOOLS, usable_cumulative, run_cumulative_prod),
    ND4C_CPU_SIMD_KERNEL(cumulative_max, ND4C_CPU_REALS, usable_best, run_cumulative_max),
    ND4C_CPU_SIMD_KERNEL(cumulative_min, ND4C_CPU_REALS, usable_best, run_cumulative_min), NULL};
