/* Brings the operands of an element-wise call into one loop nest and runs it (nest.h), for engine simd. */
#include "backends/cpu/support/nest.h"

#include <string.h>

#include "backends/cpu/simd/simd.h"

enum {
  BUFFER_BYTES = 16384, /* one operand of one tile: four of them stay in the L2 cache, two in L1 */
  STREAM_BYTES = 1024,  /* a piece that is streamed: so short that its stores overlap with the loads of the next */
  SHORT_ROW = 32,       /* elements: below, rows are gathered before they are computed */
  JOINED_ROW = 256,     /* elements: below, rows are computed together where what is repeated can be written out ... */
  JOINED_LEAST = 16384, /* ... and the rows of one plane have as many elements ... */
  JOINED_BYTES = 4096,  /* ... in tiles whose operands and buffers share the L1 cache with what is foreseen */
  TRANSPOSED_ROWS = 32  /* rows of a tile whose input runs along its columns */
};

/* -- making a nest -------------------------------------------------------------------------------------------- */

void nd4c_nest_start(nd4c_nest *nest, const nd4c_tensor *y) {
  nest->rank = y->rank;
  nest->operands = 1;
  nest->size = y->size;
  nest->data[0] = y->data;
  nest->bytes[0] = nd4c_cpu_dtype_bytes(y->dtype);
  for (int32_t axis = 0; axis < y->rank; axis++) {
    nest->shape[axis] = y->shape[axis];
    nest->strides[0][axis] = y->strides[axis];
  }
}

void nd4c_nest_add(nd4c_nest *nest, const nd4c_tensor *input, const nd4c_tensor *y) {
  int32_t k = nest->operands++;
  nest->data[k] = input->data;
  nest->bytes[k] = nd4c_cpu_dtype_bytes(input->dtype);
  nd4c_cpu_broadcast_strides(input, y, nest->strides[k]);
}

static void move_axis(nd4c_nest *nest, int32_t from, int32_t to) {
  int32_t step = from < to ? 1 : -1;
  for (int32_t axis = from; axis != to; axis += step) {
    int64_t extent = nest->shape[axis];
    nest->shape[axis] = nest->shape[axis + step];
    nest->shape[axis + step] = extent;
    for (int32_t k = 0; k < nest->operands; k++) {
      int64_t stride = nest->strides[k][axis];
      nest->strides[k][axis] = nest->strides[k][axis + step];
      nest->strides[k][axis + step] = stride;
    }
  }
}

static void drop_axis(nd4c_nest *nest, int32_t axis) {
  move_axis(nest, axis, nest->rank - 1);
  nest->rank--;
}

/* Walks axes on which the output runs backwards the other way. */
static void turn_axes(nd4c_nest *nest) {
  for (int32_t axis = 0; axis < nest->rank; axis++) {
    if (nest->strides[0][axis] >= 0) {
      continue;
    }
    for (int32_t k = 0; k < nest->operands; k++) {
      nest->data[k] += (nest->shape[axis] - 1) * nest->strides[k][axis] * nest->bytes[k];
      nest->strides[k][axis] = -nest->strides[k][axis];
    }
  }
}

static void sort_axes(nd4c_nest *nest) {
  for (int32_t axis = 1; axis < nest->rank; axis++) {
    int32_t place = axis;
    while (place > 0 && nest->strides[0][place - 1] < nest->strides[0][axis]) {
      place--;
    }
    if (place != axis) {
      move_axis(nest, axis, place);
    }
  }
}

static bool can_merge(const nd4c_nest *nest, int32_t axis) {
  for (int32_t k = 0; k < nest->operands; k++) {
    if (nest->strides[k][axis] != nest->strides[k][axis + 1] * nest->shape[axis + 1]) {
      return false;
    }
  }
  return true;
}

static void merge_axes(nd4c_nest *nest) {
  for (int32_t axis = nest->rank - 2; axis >= 0; axis--) {
    if (!can_merge(nest, axis)) {
      continue;
    }
    nest->shape[axis + 1] *= nest->shape[axis];
    drop_axis(nest, axis);
  }
}

static int64_t magnitude(int64_t x) {
  return x < 0 ? -x : x;
}

/* Axis along which an operand's neighbours lie; the last one for an operand that repeats everywhere. */
static int32_t fastest_axis(const nd4c_nest *nest, int32_t k) {
  int32_t best = nest->rank - 1;
  for (int32_t axis = nest->rank - 1; axis >= 0; axis--) {
    int64_t stride = magnitude(nest->strides[k][axis]);
    if (stride != 0 && (nest->strides[k][best] == 0 || stride < magnitude(nest->strides[k][best]))) {
      best = axis;
    }
  }
  return best;
}

/* If the neighbours of an input lie along another axis than the last, moves that axis to the second to last place,
 * where tiles include it, and returns true. */
static bool place_transposed_axis(nd4c_nest *nest) {
  for (int32_t k = 1; k < nest->operands; k++) {
    int32_t axis = fastest_axis(nest, k);
    if (axis == nest->rank - 1 || nest->strides[k][nest->rank - 1] == 0) {
      continue;
    }
    move_axis(nest, axis, nest->rank - 2);
    return true;
  }
  return false;
}

void nd4c_nest_finish(nd4c_nest *nest) {
  for (int32_t axis = nest->rank - 1; axis >= 0; axis--) {
    if (nest->shape[axis] == 1) {
      drop_axis(nest, axis);
    }
  }
  if (nest->rank == 0) {
    nest->rank = 1;
    nest->shape[0] = 1;
    for (int32_t k = 0; k < nest->operands; k++) {
      nest->strides[k][0] = 1;
    }
  }
  if (nest->size == 0) {
    return;
  }
  turn_axes(nest);
  sort_axes(nest);
  merge_axes(nest);
}

/* -- running one ---------------------------------------------------------------------------------------------- */

typedef struct job {
  const nd4c_nest *nest;
  nd4c_nest_function function;      /* NULL: copy operand 1 to 0 */
  nd4c_nest_stream stream_function; /* or NULL */
  const void *user;
  bool stream;
  bool may_repeat;
  bool joined;      /* rows of a tile are computed as one run */
  bool outer_first; /* tiles run along the outer axes first, and keep what they hold */
  int64_t tile_rows, tile_columns, row_tiles, column_tiles, outer; /* outer: positions of the other axes */
} job;

/* What a buffer holds: `rows` rows of `columns` elements, packed from `origin`. */
typedef struct held {
  const char *origin;
  int64_t rows, columns;
} held;

typedef struct buffers {
  held held[ND4C_NEST_OPERANDS];
  _Alignas(64) char bytes[ND4C_NEST_OPERANDS][BUFFER_BYTES];
} buffers;

static void move_along(const nd4c_nest *nest, int32_t axis, int64_t steps, char **pointers) {
  for (int32_t k = 0; k < nest->operands; k++) {
    pointers[k] += steps * nest->strides[k][axis] * nest->bytes[k];
  }
}

/* Addresses of the operands at position `outer` of the first `axes` axes, counted in C order. */
static void locate(const nd4c_nest *nest, int32_t axes, int64_t outer, int64_t *index, char **pointers) {
  for (int32_t k = 0; k < nest->operands; k++) {
    pointers[k] = nest->data[k];
  }
  for (int32_t axis = axes - 1; axis >= 0; axis--) {
    index[axis] = outer % nest->shape[axis];
    outer /= nest->shape[axis];
    move_along(nest, axis, index[axis], pointers);
  }
}

/* Goes on to the next position. */
static void locate_next(const nd4c_nest *nest, int32_t axes, int64_t *index, char **pointers) {
  for (int32_t axis = axes - 1; axis >= 0; axis--) {
    bool more = ++index[axis] < nest->shape[axis];
    move_along(nest, axis, more ? 1 : 1 - nest->shape[axis], pointers);
    if (more) {
      return;
    }
    index[axis] = 0;
  }
}

/* Computes n elements of a row in pieces that fit a buffer and streams each out. */
static void stream_row(const job *work, int64_t n, char *const *pointers, const bool *repeated) {
  const nd4c_nest *nest = work->nest;
  _Alignas(64) char buffer[STREAM_BYTES];
  if (work->function == NULL) {
    nd4c_simd.move->stream(n * nest->bytes[0], pointers[1], pointers[0]);
    return;
  }
  char *piece[ND4C_NEST_OPERANDS];
  int64_t most = STREAM_BYTES / nest->bytes[0];
  /* The first piece ends on a cache line, so that all others begin on one. */
  int64_t head = (int64_t)(-(uintptr_t)pointers[0] % ND4C_CPU_CACHE_LINE) / nest->bytes[0];
  int64_t count = head > 0 ? head : most;
  for (int64_t i = 0; i < n; i += count, count = most) {
    count = count < n - i ? count : n - i;
    piece[0] = buffer;
    for (int32_t k = 1; k < nest->operands; k++) {
      piece[k] = pointers[k] + (repeated[k] ? 0 : i * nest->bytes[k]);
    }
    work->function(work->user, count, piece, repeated);
    nd4c_simd.move->stream(count * nest->bytes[0], buffer, pointers[0] + i * nest->bytes[0]);
  }
}

/* Elements [begin, end) where every operand is contiguous or repeated along rows, or the stream function takes it. */
static void run_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *work = user;
  const nd4c_nest *nest = work->nest;
  int32_t last = nest->rank - 1;
  int64_t columns = nest->shape[last], column = begin % columns;
  bool repeated[ND4C_NEST_OPERANDS];
  int64_t steps[ND4C_NEST_OPERANDS], index[ND4C_CPU_MAX_RANK];
  char *rows[ND4C_NEST_OPERANDS];
  (void)worker;
  locate(nest, last, begin / columns, index, rows);
  for (int32_t k = 0; k < nest->operands; k++) {
    steps[k] = nest->strides[k][last];
    repeated[k] = steps[k] == 0;
  }
  for (; begin < end; locate_next(nest, last, index, rows), column = 0) {
    char *pointers[ND4C_NEST_OPERANDS];
    int64_t count = columns - column < end - begin ? columns - column : end - begin;
    for (int32_t k = 0; k < nest->operands; k++) {
      pointers[k] = rows[k] + column * steps[k] * nest->bytes[k];
    }
    if (work->stream && work->stream_function != NULL) {
      work->stream_function(work->user, count, pointers, steps);
    } else if (work->stream) {
      stream_row(work, count, pointers, repeated);
    } else if (work->function == NULL) {
      memmove(pointers[0], pointers[1], (size_t)(count * nest->bytes[0]));
    } else {
      work->function(work->user, count, pointers, repeated);
    }
    begin += count;
  }
  if (work->stream) {
    nd4c_simd.move->stream_fence();
  }
}

/* Brings the block of operand k at `from` into its buffer. */
static void pack(const nd4c_nest *nest, int32_t k, int64_t rows, int64_t columns, const char *from, int64_t row_stride,
                 char *buffer) {
  nd4c_simd.move->move[nest->bytes[k]](rows, columns, from, row_stride, nest->strides[k][nest->rank - 1], buffer,
                                       columns, 1);
}

static int64_t row_stride(const nd4c_nest *nest, int32_t k) {
  return nest->rank > 1 ? nest->strides[k][nest->rank - 2] : 0;
}

/* Streams a block that was computed into a buffer. */
static void stream_tile(const nd4c_nest *nest, int64_t rows, int64_t columns, const char *from, char *to) {
  int64_t row_bytes = columns * nest->bytes[0], stride = row_stride(nest, 0) * nest->bytes[0];
  if (stride == row_bytes) {
    nd4c_simd.move->stream(rows * row_bytes, from, to);
    return;
  }
  for (int64_t r = 0; r < rows; r++) {
    nd4c_simd.move->stream(row_bytes, from + r * row_bytes, to + r * stride);
  }
}

/* Brings a block of operand k into its buffer, if it is not there from the tile before. */
static void hold(const nd4c_nest *nest, int32_t k, int64_t rows, int64_t columns, const char *from, buffers *scratch) {
  held *now = &scratch->held[k];
  bool same = now->origin == from && now->columns == columns && now->rows >= rows;
  if (!same) {
    pack(nest, k, rows, columns, from, row_stride(nest, k), scratch->bytes[k]);
  }
  *now = (held){from, same ? now->rows : rows, columns};
}

static void copy_tile(const job *work, int64_t rows, int64_t columns, char *const *origin, buffers *scratch) {
  const nd4c_nest *nest = work->nest;
  int32_t last = nest->rank - 1;
  if (work->stream) {
    pack(nest, 1, rows, columns, origin[1], row_stride(nest, 1), scratch->bytes[0]);
    stream_tile(nest, rows, columns, scratch->bytes[0], origin[0]);
    return;
  }
  nd4c_simd.move->move[nest->bytes[0]](rows, columns, origin[1], row_stride(nest, 1), nest->strides[1][last], origin[0],
                                       row_stride(nest, 0), nest->strides[0][last]);
}

/* Computes one block. Operands that are contiguous along rows are read in place if rows are long or joined; the others
 * go through buffers. */
static void run_tile(const job *work, int64_t rows, int64_t columns, char *const *origin, buffers *scratch) {
  const nd4c_nest *nest = work->nest;
  int32_t last = nest->rank - 1;
  bool by_row = rows == 1 || (columns >= SHORT_ROW && !work->joined);
  bool repeated[ND4C_NEST_OPERANDS] = {false};
  int64_t step[ND4C_NEST_OPERANDS];
  char *pointers[ND4C_NEST_OPERANDS];
  for (int32_t k = 0; k < nest->operands; k++) {
    int64_t stride = nest->strides[k][last];
    repeated[k] = k > 0 && stride == 0 && work->may_repeat && (by_row || row_stride(nest, k) == 0);
    bool in_line = stride == 1 && (by_row || row_stride(nest, k) == columns);
    bool direct = repeated[k] || (in_line && (k > 0 || !work->stream || work->stream_function != NULL));
    pointers[k] = direct ? origin[k] : scratch->bytes[k];
    step[k] = direct ? row_stride(nest, k) * nest->bytes[k] : columns * nest->bytes[k];
    if (!direct && k > 0) {
      hold(nest, k, rows, columns, origin[k], scratch);
    }
  }
  bool finished = pointers[0] == origin[0];
  bool stream = finished && work->stream;
  int64_t steps[ND4C_NEST_OPERANDS];
  for (int32_t k = 0; k < nest->operands; k++) {
    steps[k] = !repeated[k];
  }
  int64_t run = by_row ? columns : rows * columns;
  for (int64_t r = 0; r < (by_row ? rows : 1); r++) {
    if (stream) {
      work->stream_function(work->user, run, pointers, steps);
    } else {
      work->function(work->user, run, pointers, repeated);
    }
    for (int32_t k = 0; k < nest->operands; k++) {
      pointers[k] += step[k];
    }
  }
  if (!finished && work->stream) {
    stream_tile(nest, rows, columns, scratch->bytes[0], origin[0]);
  } else if (!finished) {
    nd4c_simd.move->move[nest->bytes[0]](rows, columns, scratch->bytes[0], columns, 1, origin[0], row_stride(nest, 0),
                                         nest->strides[0][last]);
  }
}

/* Tiles [begin, end), counted with the columns running fastest, then the rows, then the other axes; or those first. */
static void run_tiles(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *work = user;
  const nd4c_nest *nest = work->nest;
  int32_t last = nest->rank - 1;
  int64_t all_rows = last > 0 ? nest->shape[last - 1] : 1, all_columns = nest->shape[last];
  buffers scratch;
  (void)worker;
  memset(scratch.held, 0, sizeof scratch.held);
  int64_t plane = work->row_tiles * work->column_tiles;
  for (int64_t number = begin; number < end; number++) {
    int64_t outer = work->outer_first ? number % work->outer : number / plane;
    int64_t tile = work->outer_first ? number / work->outer : number % plane;
    int64_t column = tile % work->column_tiles * work->tile_columns;
    int64_t row = tile / work->column_tiles * work->tile_rows;
    int64_t rows = all_rows - row < work->tile_rows ? all_rows - row : work->tile_rows;
    int64_t columns = all_columns - column < work->tile_columns ? all_columns - column : work->tile_columns;
    char *pointers[ND4C_NEST_OPERANDS];
    int64_t index[ND4C_CPU_MAX_RANK];
    locate(nest, last - 1, outer, index, pointers);
    for (int32_t k = 0; k < nest->operands; k++) {
      pointers[k] += (row * row_stride(nest, k) + column * nest->strides[k][last]) * nest->bytes[k];
    }
    if (work->function == NULL) {
      copy_tile(work, rows, columns, pointers, &scratch);
    } else {
      run_tile(work, rows, columns, pointers, &scratch);
    }
  }
  if (work->stream) {
    nd4c_simd.move->stream_fence();
  }
}

static void choose_tiles(job *work, bool transposed) {
  const nd4c_nest *nest = work->nest;
  int64_t widest = 1, rows = nest->rank > 1 ? nest->shape[nest->rank - 2] : 1, columns = nest->shape[nest->rank - 1];
  for (int32_t k = 0; k < nest->operands; k++) {
    widest = nest->bytes[k] > widest ? nest->bytes[k] : widest;
  }
  int64_t tile_bytes = work->stream && !transposed ? 2 * STREAM_BYTES : work->joined ? JOINED_BYTES : BUFFER_BYTES;
  int64_t most = tile_bytes / widest;
  int64_t least_rows = transposed ? TRANSPOSED_ROWS : 1;
  least_rows = least_rows < rows ? least_rows : rows;
  work->tile_columns = columns < most / least_rows ? columns : most / least_rows;
  work->tile_rows = most / work->tile_columns < rows ? most / work->tile_columns : rows;
  if (work->tile_columns >= SHORT_ROW && !work->joined) {
    work->tile_rows = least_rows;
  }
  if (work->joined) { /* tiles of whole cache lines, where the output begins on one */
    int64_t bytes = columns * nest->bytes[0], whole = bytes & -bytes;
    whole = whole < ND4C_CPU_CACHE_LINE ? ND4C_CPU_CACHE_LINE / whole : 1;
    work->tile_rows -= work->tile_rows > whole ? work->tile_rows % whole : 0;
  }
  work->row_tiles = (rows + work->tile_rows - 1) / work->tile_rows;
  work->column_tiles = (columns + work->tile_columns - 1) / work->tile_columns;
}

static bool rows_are_direct(const nd4c_nest *nest, bool may_repeat) {
  int32_t last = nest->rank - 1;
  if (nest->rank > 1 && nest->shape[last] < SHORT_ROW) {
    return false;
  }
  for (int32_t k = 0; k < nest->operands; k++) {
    if (nest->strides[k][last] != 1 && !(k > 0 && may_repeat && nest->strides[k][last] == 0)) {
      return false;
    }
  }
  return true;
}

/* Whether short rows can be computed together: they are contiguous in the output, and each input is so, too, or repeats
 * a row, or repeats each element of a column. Writing the repeats to a buffer costs less than a start for each row. */
static bool rows_can_join(const nd4c_nest *nest) {
  int32_t last = nest->rank - 1;
  if (nest->rank < 2 || nest->shape[last] >= JOINED_ROW || nest->shape[last] * nest->shape[last - 1] < JOINED_LEAST) {
    return false;
  }
  for (int32_t k = 0; k < nest->operands; k++) {
    int64_t row = nest->strides[k][last - 1], column = nest->strides[k][last];
    bool in_line = column == 1 && row == nest->shape[last];
    if (!in_line && (k == 0 || (row != 0 && column != 0))) {
      return false;
    }
  }
  return true;
}

/* Whether what joined rows repeat is the same at all positions of the other axes. */
static bool repeats_along_outer(const nd4c_nest *nest) {
  int32_t last = nest->rank - 1;
  for (int32_t k = 1; k < nest->operands; k++) {
    for (int32_t axis = 0; axis < last - 1; axis++) {
      if ((nest->strides[k][last] != 1 || nest->strides[k][last - 1] == 0) && nest->strides[k][axis] != 0) {
        return false;
      }
    }
  }
  return true;
}

/* Of all inputs; what is repeated counts once. */
static int64_t bytes_read(const nd4c_nest *nest) {
  int64_t read = 0;
  for (int32_t k = 1; k < nest->operands; k++) {
    int64_t bytes = nest->bytes[k];
    for (int32_t axis = 0; axis < nest->rank; axis++) {
      bytes *= nest->strides[k][axis] != 0 ? nest->shape[axis] : 1;
    }
    read += bytes;
  }
  return read;
}

bool nd4c_nest_reads_little(const nd4c_nest *nest) {
  return bytes_read(nest) < nest->size * nest->bytes[0] / 8;
}

/* Streaming pays when the result will not stay in the caches, be it for what is read beside it, and its rows fill cache
 * lines; not in place, where the lines are read anyway. */
static bool should_stream(const nd4c_nest *nest, bool joined) {
  int32_t last = nest->rank - 1;
  int64_t written = nest->size * nest->bytes[0];
  bool large = written > nd4c_simd_stream_bytes || (written + bytes_read(nest)) / 3 > nd4c_simd_stream_bytes;
  if (!large || nest->strides[0][last] != 1) {
    return false;
  }
  for (int32_t k = 1; k < nest->operands; k++) {
    if (nest->data[k] == nest->data[0]) {
      return false;
    }
  }
  if (nd4c_nest_reads_little(nest)) {
    return false;
  }
  return joined || nest->shape[last] * nest->bytes[0] >= 8 * ND4C_CPU_CACHE_LINE;
}

void nd4c_nest_run(const nd4c_nest *nest, int32_t width, int32_t cost, bool may_repeat, nd4c_nest_function function,
                   nd4c_nest_stream stream, const void *user) {
  if (nest->size == 0) {
    return;
  }
  job work = {.nest = nest, .function = function, .stream_function = stream, .user = user, .may_repeat = may_repeat};
  int64_t grain = ND4C_NEST_PIECE_COST / cost;
  work.joined = function != NULL && rows_can_join(nest);
  work.stream = should_stream(nest, work.joined);
  if (!work.joined && rows_are_direct(nest, may_repeat)) {
    nd4c_cpu_parallel(nest->size, grain, width, run_rows, &work);
    return;
  }
  nd4c_nest local = *nest;
  bool transposed = !work.joined && place_transposed_axis(&local);
  if (work.stream && stream != NULL && !transposed && !work.joined) {
    nd4c_cpu_parallel(nest->size, grain, width, run_rows, &work);
    return;
  }
  work.nest = &local;
  choose_tiles(&work, transposed);
  work.outer = 1;
  for (int32_t axis = 0; axis < local.rank - 2; axis++) {
    work.outer *= local.shape[axis];
  }
  work.outer_first = work.joined && repeats_along_outer(&local);
  int64_t tile = work.tile_rows * work.tile_columns;
  nd4c_cpu_parallel(work.outer * work.row_tiles * work.column_tiles, (grain + tile - 1) / tile, width, run_tiles,
                    &work);
}

void nd4c_nest_move(const nd4c_nest *nest, int32_t width) {
  nd4c_nest_run(nest, width, 1, false, NULL, NULL, NULL);
}
