/* Implements reduction_terms.h. Terms are made in blocks that stay in the first caches. A long result is made in parts
 * that do not depend on the parallel width and are merged in pairs. */
#include "backends/cpu/simd/reduction/reduction_terms.h"

enum {
  BLOCK = 4096, /* terms of all lines together */
  CASCADE_ROWS = 128,
  FOLDED_ROWS = 8, /* that the loops take at once */
  PART_ELEMENTS = 65536,
  MAX_PARTS = 512,
  PARTIAL = 4096, /* accumulators of parts */
  GRAIN_ELEMENTS = 16384
};

/* Buffers of a worker. */
typedef struct buffers {
  _Alignas(64) char terms[8 * BLOCK];
  _Alignas(64) char x[8 * BLOCK];
  _Alignas(64) char z[8 * BLOCK];
} buffers;

/* Rows of terms, `step` bytes apart, by line. */
typedef struct block {
  const char *line[ND4C_TERM_LINES];
  int64_t step;
} block;

static const char *gathered(const nd4c_simd_terms *t, int64_t n, const char *from, int64_t stride, char *buffer) {
  if (stride == 1) {
    return from;
  }
  nd4c_simd.move->move[t->axes.x_bytes](1, n, from, 0, stride, buffer, 0, 1);
  return buffer;
}

/* The terms of `rows` rows of n elements of the last axis. */
static void make_block(const nd4c_simd_terms *t, int64_t rows, int64_t n, const char *x, const char *z, int64_t x_step,
                       int64_t z_step, buffers *room, block *b) {
  const nd4c_reduction *a = &t->axes;
  int64_t x_stride = a->x_strides[a->rank - 1], z_stride = a->z != NULL ? a->z_strides[a->rank - 1] : 1;
  bool packed =
      x_stride == 1 && z_stride == 1 && (rows == 1 || (x_step == n * a->x_bytes && (z == NULL || z_step == x_step)));
  b->step = t->map == NULL && x_stride == 1 ? x_step : n * t->bytes;
  for (int32_t line = 0; line < t->lines; line++) {
    b->line[line] = t->map != NULL ? room->terms + line * t->block * t->bytes : x_stride == 1 ? x : room->x;
  }
  for (int64_t row = 0; t->map == NULL && x_stride != 1 && row < rows; row++) {
    (void)gathered(t, n, x + row * x_step, x_stride, room->x + row * b->step);
  }
  for (int64_t row = 0; t->map != NULL && row < (packed ? 1 : rows); row++) {
    void *to[ND4C_TERM_LINES] = {NULL};
    const char *from = gathered(t, n, x + row * x_step, x_stride, room->x);
    const char *second = z != NULL ? gathered(t, n, z + row * z_step, z_stride, room->z) : NULL;
    for (int32_t line = 0; line < t->lines; line++) {
      to[line] = room->terms + line * t->block * t->bytes + row * b->step;
    }
    t->map(packed ? rows * n : n, from, second, t->parameter, to);
  }
}

static const char *second_at(const nd4c_simd_terms *t, bool reduced, int64_t index, const char *z) {
  return z != NULL ? z + nd4c_reduction_locate_second(&t->axes, reduced, index) : NULL;
}

/* -- the last axis is reduced ------------------------------------------------------------------------------------- */

/* The accumulators of the units from `begin` to `end` of one result. */
static void take_units(const nd4c_simd_terms *t, int64_t begin, int64_t end, const char *x, const char *z,
                       buffers *room, uint64_t *all, int64_t *since) {
  const nd4c_reduction *a = &t->axes;
  const int32_t last = a->rank - 1;
  const int64_t n = a->shape[last];
  uint64_t some[BLOCK / 2];
  int64_t unused = 0;
  block b;
  for (int64_t unit = begin; unit < end && (unit == begin || !nd4c_reduction_stops(a, t->block, since)); unit++) {
    int64_t at = unit % t->pieces * t->block, of = unit / t->pieces, first = of % t->row_units * t->unit_rows;
    int64_t row = of / t->row_units * t->length + first, count = n - at < t->block ? n - at : t->block;
    int64_t rows = t->length - first < t->unit_rows ? t->length - first : t->unit_rows;
    const char *from = x + nd4c_reduction_locate(a, true, row, &unused) + at * a->x_strides[last] * a->x_bytes;
    const char *second = second_at(t, true, row, z);
    second = second != NULL ? second + at * a->z_strides[last] * a->x_bytes : NULL;
    make_block(t, rows, count, from, second, t->step, t->z_step, room, &b);
    for (int32_t line = 0; line < t->lines; line++) {
      t->loops[line]->run(rows, count, b.line[line], b.step, some);
      int64_t i = unit == begin ? 1 : 0;
      all[line] = i == 1 ? some[0] : all[line];
      for (; i < rows; i++) {
        t->loops[line]->merge(1, (const char *)some + i * t->accumulator_bytes, &all[line]);
      }
    }
    if (t->settles && (*(const uint8_t *)all != 0) == t->settled_by) {
      return;
    }
  }
}

static void merge_parts(const nd4c_simd_terms *t, int64_t n, uint64_t *parts) {
  for (int64_t step = 1; step < t->shares; step *= 2) {
    for (int64_t i = 0; i + step < t->shares; i += 2 * step) {
      for (int32_t line = 0; line < t->lines; line++) {
        t->loops[line]->merge(n, parts + ((i + step) * t->lines + line) * n, parts + (i * t->lines + line) * n);
      }
    }
  }
}

static void store_one(const nd4c_simd_terms *t, uint64_t *all, const char *x, char *y) {
  uint64_t *lines[ND4C_TERM_LINES] = {&all[0], &all[1], &all[2]};
  t->store(t, 1, lines, x, 0, y, 0);
}

/* Parts of results, or results. */
static void units_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const nd4c_simd_terms *t = user;
  const nd4c_reduction *a = &t->axes;
  uint64_t all[ND4C_TERM_LINES] = {0}, some[ND4C_TERM_LINES];
  buffers room;
  int64_t since = 0;
  (void)worker;
  for (int64_t i = begin; i < end && !nd4c_reduction_stops(a, 0, &since); i++) {
    int64_t kept = t->partial != NULL ? i / t->shares : i, y_offset = 0;
    const char *x = a->x + nd4c_reduction_locate(a, false, kept, &y_offset), *z = second_at(t, false, kept, a->z);
    if (t->partial != NULL) {
      int64_t from = i % t->shares * t->share, left = t->units - from;
      take_units(t, from, from + (left < t->share ? left : t->share), x, z, &room, t->partial + i * t->lines, &since);
      continue;
    }
    for (int64_t from = 0; from < t->units && !nd4c_reduction_stops(a, 0, &since); from += t->share) {
      int64_t to = t->units - from < t->share ? t->units : from + t->share;
      take_units(t, from, to, x, z, &room, from == 0 ? all : some, &since);
      for (int32_t line = 0; from > 0 && line < t->lines; line++) {
        t->loops[line]->merge(1, &some[line], &all[line]);
      }
    }
    store_one(t, all, x, a->y + y_offset);
  }
}

/* Short rows of one kept axis: many at once. */
static void short_rows_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const nd4c_simd_terms *t = user;
  const nd4c_reduction *a = &t->axes;
  const int64_t n = nd4c_reduction_last(a), step = a->x_strides[0] * a->x_bytes, many = t->block / n;
  uint64_t all[ND4C_TERM_LINES][BLOCK / 2], *lines[ND4C_TERM_LINES] = {all[0], all[1], all[2]};
  buffers room;
  block b;
  (void)worker;
  for (int64_t kept = begin; kept < end; kept += many) {
    int64_t rows = end - kept < many ? end - kept : many;
    int64_t z_step = a->z != NULL ? a->z_strides[0] * a->x_bytes : 0;
    const char *x = a->x + kept * step, *z = a->z != NULL ? a->z + kept * z_step : NULL;
    make_block(t, rows, n, x, z, step, z_step, &room, &b);
    for (int32_t line = 0; line < t->lines; line++) {
      t->loops[line]->run(rows, n, b.line[line], b.step, all[line]);
    }
    t->store(t, rows, lines, x, step, a->y + kept * a->y_strides[0] * a->y_bytes, a->y_strides[0] * a->y_bytes);
  }
}

static void reduce_units(nd4c_simd_terms *t, int32_t width) {
  const nd4c_reduction *a = &t->axes;
  const int64_t n = nd4c_reduction_last(a);
  uint64_t partial[PARTIAL];
  if (a->rank == 2 && a->outer_reduced == 1 && n <= t->block / 4) {
    nd4c_cpu_parallel(a->outer_kept, GRAIN_ELEMENTS / n + 1, width, short_rows_range, t);
    return;
  }
  t->unit_rows = n < t->block ? t->block / n : 1;
  t->unit_rows = t->unit_rows < t->length ? t->unit_rows : t->length;
  t->row_units = nd4c_cpu_divide_up(t->length, t->unit_rows);
  t->pieces = nd4c_cpu_divide_up(n, t->block);
  t->units = a->outer_reduced / t->length * t->row_units * t->pieces;
  const int64_t least = PART_ELEMENTS / (t->unit_rows * (n < t->block ? n : t->block)) + 1;
  t->share = t->units / MAX_PARTS + 1 > least ? t->units / MAX_PARTS + 1 : least;
  t->shares = nd4c_cpu_divide_up(t->units, t->share);
  if (t->shares == 1 || a->outer_kept > PARTIAL / (t->shares * t->lines)) {
    nd4c_cpu_parallel(a->outer_kept, GRAIN_ELEMENTS / t->count + 1, width, units_range, t);
    return;
  }
  t->partial = partial;
  nd4c_cpu_parallel(a->outer_kept * t->shares, 1, width, units_range, t);
  for (int64_t kept = 0; kept < a->outer_kept && !nd4c_reduction_stopped(a); kept++) {
    int64_t y_offset = 0;
    const char *x = a->x + nd4c_reduction_locate(a, false, kept, &y_offset);
    uint64_t *parts = partial + kept * t->shares * t->lines;
    merge_parts(t, 1, parts);
    store_one(t, parts, x, a->y + y_offset);
  }
}

/* -- the last axis is kept ---------------------------------------------------------------------------------------- */

/* The accumulators of n columns of the rows from `begin` to `end`; those of line k are `between` k words further. */
static void take_rows(const nd4c_simd_terms *t, int64_t begin, int64_t end, int64_t n, const char *x, const char *z,
                      buffers *room, uint64_t *all, int64_t between, int64_t *since) {
  const nd4c_reduction *a = &t->axes;
  uint64_t some[BLOCK / FOLDED_ROWS];
  const int64_t many = t->block / n < CASCADE_ROWS ? t->block / n : CASCADE_ROWS;
  int64_t unused = 0, rows = 0;
  block b;
  for (int64_t row = begin, done = 0; row < end; row += rows, done += rows) {
    const int64_t left = CASCADE_ROWS - done % CASCADE_ROWS, even = t->length - row % t->length;
    rows = many < left ? many : left;
    rows = rows < even ? rows : even;
    rows = rows < end - row ? rows : end - row;
    make_block(t, rows, n, x + nd4c_reduction_locate(a, true, row, &unused), second_at(t, true, row, z), t->step,
               t->z_step, room, &b);
    for (int32_t line = 0; line < t->lines; line++) {
      uint64_t *own = done < CASCADE_ROWS ? all + line * between : some + line * n;
      t->loops[line]->fold(rows, n, b.line[line], b.step, own, done % CASCADE_ROWS == 0);
      if (own != all + line * between && (rows == left || row + rows == end)) {
        t->loops[line]->merge(n, own, all + line * between);
      }
    }
    if (nd4c_reduction_stops(a, rows * n, since)) {
      return;
    }
  }
}

/* Parts of columns, or columns. */
static void columns_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const nd4c_simd_terms *t = user;
  const nd4c_reduction *a = &t->axes;
  const int32_t last = a->rank - 1;
  const int64_t length = a->shape[last];
  uint64_t all[BLOCK / FOLDED_ROWS];
  int64_t since = 0;
  buffers room;
  (void)worker;
  for (int64_t i = begin; i < end && !nd4c_reduction_stops(a, 0, &since); i++) {
    int64_t y_offset = 0, part = i % t->shares, chunk = i / t->shares % t->chunks, kept = i / t->shares / t->chunks;
    int64_t column = chunk * t->columns, n = length - column < t->columns ? length - column : t->columns;
    const char *x = a->x + nd4c_reduction_locate(a, false, kept, &y_offset) + column * a->x_strides[last] * a->x_bytes;
    const char *z = second_at(t, false, kept, a->z);
    z = z != NULL ? z + column * a->z_strides[last] * a->x_bytes : NULL;
    int64_t from = part * t->share, left = a->outer_reduced - from, to = from + (left < t->share ? left : t->share);
    if (t->partial != NULL) {
      take_rows(t, from, to, n, x, z, &room, t->partial + i * t->lines * n, n, &since);
      continue;
    }
    take_rows(t, from, to, n, x, z, &room, all, n, &since);
    uint64_t *lines[ND4C_TERM_LINES] = {all, all + n, all + 2 * n};
    t->store(t, n, lines, x, a->x_strides[last] * a->x_bytes,
             a->y + y_offset + column * a->y_strides[last] * a->y_bytes, a->y_strides[last] * a->y_bytes);
  }
}

static void reduce_columns(nd4c_simd_terms *t, int32_t width) {
  const nd4c_reduction *a = &t->axes;
  const int32_t last = a->rank - 1;
  const int64_t n = a->shape[last], most = BLOCK / FOLDED_ROWS / t->lines / 16 * 16;
  uint64_t partial[PARTIAL];
  t->columns = n < most ? n : most;
  t->chunks = nd4c_cpu_divide_up(n, t->columns);
  t->share = nd4c_cpu_divide_up(PART_ELEMENTS / n + 1, CASCADE_ROWS) * CASCADE_ROWS;
  const int64_t room = t->chunks == 1 ? PARTIAL / (n * t->lines) / a->outer_kept : 0;
  if (room >= 2 && a->outer_reduced > t->share) {
    const int64_t even = nd4c_cpu_divide_up(a->outer_reduced / room + 1, CASCADE_ROWS) * CASCADE_ROWS;
    t->share = t->share > even ? t->share : even;
    t->partial = partial;
  } else {
    t->share = a->outer_reduced;
  }
  t->shares = nd4c_cpu_divide_up(a->outer_reduced, t->share);
  const int64_t work = t->columns * t->share;
  nd4c_cpu_parallel(a->outer_kept * t->chunks * t->shares, GRAIN_ELEMENTS / work + 1, width, columns_range, t);
  for (int64_t kept = 0; t->partial != NULL && kept < a->outer_kept && !nd4c_reduction_stopped(a); kept++) {
    int64_t y_offset = 0;
    const char *x = a->x + nd4c_reduction_locate(a, false, kept, &y_offset);
    uint64_t *parts = partial + kept * t->shares * t->lines * n;
    uint64_t *lines[ND4C_TERM_LINES] = {parts, parts + n, parts + 2 * n};
    merge_parts(t, n, parts);
    t->store(t, n, lines, x, a->x_strides[last] * a->x_bytes, a->y + y_offset, a->y_strides[last] * a->y_bytes);
  }
}

void nd4c_simd_terms_run(nd4c_simd_terms *t, int32_t width) {
  const nd4c_reduction *a = &t->axes;
  t->block = BLOCK / t->lines / 16 * 16;
  t->length = 1;
  t->step = t->z_step = 0;
  t->partial = NULL;
  for (int32_t axis = a->rank - 2; axis >= 0; axis--) {
    if (a->reduced[axis]) {
      t->length = a->shape[axis];
      t->step = a->x_strides[axis] * a->x_bytes;
      t->z_step = a->z != NULL ? a->z_strides[axis] * a->x_bytes : 0;
      break;
    }
  }
  t->count = a->outer_reduced * (a->reduced[a->rank - 1] ? nd4c_reduction_last(a) : 1);
  if (a->reduced[a->rank - 1]) {
    reduce_units(t, width);
  } else {
    reduce_columns(t, width);
  }
}
