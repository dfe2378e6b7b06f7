/* Copies of tensors over a nest (nest.h): by rows, by planes with exchanged axes, and, in all other cases, through
 * buffers. The moving ops of engine simd and support/decomposition.c call it. */
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/nest.h"

enum {
  PIECE_BYTES = 1 << 18, /* what is worth another thread */
  SHORT_ROW = 1024,      /* bytes of a row that is copied without a call */
  PLANE_BUFFER = 32768,  /* of lines that are streamed where they do not begin on a cache line */
  RUN_READ = 2048,       /* bytes of a tile along the input's rows ... */
  RUN_WRITTEN = 512,     /* ... and along the output's */
  RUN_BUFFERED = 256,    /* along the input's rows where tiles pass through the buffer */
  LANE_BYTES = PLANE_BUFFER / ND4C_LANES
};

typedef enum copy_kind { ROWS, PLANES, INTERLEAVED, DEINTERLEAVED } copy_kind;

/* Planes: the output runs along the last axis, the input along the one before. */
typedef struct copy_job {
  nd4c_nest nest;
  copy_kind kind;
  bool stream, aligned;
  int64_t tile_rows, tile_columns, row_tiles, column_tiles; /* rows: along the last axis */
} copy_job;

/* -- where things are ---------------------------------------------------------------------------------------------- */

/* A position of the first `axes` axes and the addresses that belong to it. */
typedef struct place {
  int64_t index[ND4C_CPU_MAX_RANK];
  char *to;
  const char *from;
} place;

static void place_find(const nd4c_nest *nest, int32_t axes, int64_t outer, place *at) {
  at->to = nest->data[0];
  at->from = nest->data[1];
  for (int32_t axis = axes - 1; axis >= 0; axis--) {
    at->index[axis] = outer % nest->shape[axis];
    outer /= nest->shape[axis];
    at->to += at->index[axis] * nest->strides[0][axis] * nest->bytes[0];
    at->from += at->index[axis] * nest->strides[1][axis] * nest->bytes[0];
  }
}

static void place_next(const nd4c_nest *nest, int32_t axes, place *at) {
  for (int32_t axis = axes - 1; axis >= 0; axis--) {
    bool more = ++at->index[axis] < nest->shape[axis];
    int64_t steps = more ? 1 : 1 - nest->shape[axis];
    at->to += steps * nest->strides[0][axis] * nest->bytes[0];
    at->from += steps * nest->strides[1][axis] * nest->bytes[0];
    if (more) {
      return;
    }
    at->index[axis] = 0;
  }
}

/* -- rows ---------------------------------------------------------------------------------------------------------- */

/* Rows [begin, end), counted in C order, of a few bytes: those of the last but one axis in a loop of their own. */
static void copy_short_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const nd4c_nest *nest = &((const copy_job *)user)->nest;
  int32_t axis = nest->rank - 2;
  int64_t bytes = nest->shape[axis + 1] * nest->bytes[0], length = nest->shape[axis], first = begin % length;
  int64_t to_pitch = nest->strides[0][axis] * nest->bytes[0], from_pitch = nest->strides[1][axis] * nest->bytes[0];
  place at;
  (void)worker;
  place_find(nest, axis, begin / length, &at);
  for (; begin < end; place_next(nest, axis, &at), first = 0) {
    int64_t count = length - first < end - begin ? length - first : end - begin;
    nd4c_simd.move->blocks(count, bytes, at.from + first * from_pitch, from_pitch, at.to + first * to_pitch, to_pitch);
    begin += count;
  }
}

static void copy_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const copy_job *job = user;
  const nd4c_nest *nest = &job->nest;
  int32_t last = nest->rank - 1;
  int64_t columns = nest->shape[last], column = begin % columns;
  place at;
  (void)worker;
  place_find(nest, last, begin / columns, &at);
  while (begin < end) {
    int64_t count = columns - column < end - begin ? columns - column : end - begin;
    int64_t bytes = count * nest->bytes[0], offset = column * nest->bytes[0];
    if (job->stream) {
      nd4c_simd.move->stream(bytes, at.from + offset, at.to + offset);
    } else {
      memmove(at.to + offset, at.from + offset, (size_t)bytes);
    }
    begin += count;
    column = 0;
    place_next(nest, last, &at);
  }
  if (job->stream) {
    nd4c_simd.move->stream_fence();
  }
}

/* -- planes -------------------------------------------------------------------------------------------------------- */

static void stream_rows(int64_t rows, int64_t bytes, const char *from, int64_t from_pitch, char *to, int64_t to_pitch) {
  for (int64_t r = 0; r < rows; r++) {
    nd4c_simd.move->stream(bytes, from + r * from_pitch, to + r * to_pitch);
  }
}

static void copy_tile(const copy_job *job, int64_t rows, int64_t columns, const char *from, char *to) {
  const nd4c_nest *nest = &job->nest;
  int32_t last = nest->rank - 1, bytes = nest->bytes[0];
  int64_t from_row = nest->strides[1][last], to_row = nest->strides[0][last - 1];
  _Alignas(64) char buffer[PLANE_BUFFER];
  if (!job->stream || job->aligned) {
    nd4c_simd.transpose->transpose[bytes](rows, columns, from, from_row, to, to_row, job->stream);
    return;
  }
  nd4c_simd.transpose->transpose[bytes](rows, columns, from, from_row, buffer, job->tile_rows, false);
  stream_rows(columns, rows * bytes, buffer, job->tile_rows * bytes, to, to_row * bytes);
}

/* Copies `columns` elements of each lane; in the output the lanes' elements alternate. */
static void interleave(const copy_job *job, int64_t columns, const char *from, char *to) {
  const nd4c_nest *nest = &job->nest;
  int32_t last = nest->rank - 1, bytes = nest->bytes[0];
  int64_t lanes = nest->shape[last], lane = nest->strides[1][last];
  _Alignas(64) char buffer[PLANE_BUFFER];
  const void *lines[ND4C_LANES];
  for (int64_t k = 0; k < lanes; k++) {
    lines[k] = from + k * lane * bytes;
  }
  nd4c_simd.transpose->interleave[bytes](columns, lanes, lines, job->stream ? buffer : to);
  if (job->stream) {
    nd4c_simd.move->stream(columns * lanes * bytes, buffer, to);
  }
}

static void deinterleave(const copy_job *job, int64_t rows, const char *from, char *to) {
  const nd4c_nest *nest = &job->nest;
  int32_t last = nest->rank - 1, bytes = nest->bytes[0];
  int64_t lanes = nest->shape[last - 1], lane = nest->strides[0][last - 1];
  _Alignas(64) char buffer[PLANE_BUFFER];
  if (!job->stream) {
    nd4c_simd.transpose->deinterleave[bytes](rows, lanes, from, to, lane);
    return;
  }
  nd4c_simd.transpose->deinterleave[bytes](rows, lanes, from, buffer, job->tile_rows);
  stream_rows(lanes, rows * bytes, buffer, job->tile_rows * bytes, to, lane * bytes);
}

/* Tiles [begin, end): those of a plane run along the input's rows first. */
static void copy_tiles(void *user, int64_t begin, int64_t end, int32_t worker) {
  const copy_job *job = user;
  const nd4c_nest *nest = &job->nest;
  int32_t last = nest->rank - 1, bytes = nest->bytes[0];
  int64_t tiles = job->row_tiles * job->column_tiles;
  place at;
  (void)worker;
  place_find(nest, last - 1, begin / tiles, &at);
  for (int64_t number = begin, tile = begin % tiles; number < end; number++) {
    int64_t row = tile / job->column_tiles * job->tile_rows, column = tile % job->column_tiles * job->tile_columns;
    int64_t rows = nest->shape[last] - row, columns = nest->shape[last - 1] - column;
    const char *from = at.from + (row * nest->strides[1][last] + column) * bytes;
    char *to = at.to + (column * nest->strides[0][last - 1] + row) * bytes;
    rows = rows < job->tile_rows ? rows : job->tile_rows;
    columns = columns < job->tile_columns ? columns : job->tile_columns;
    if (job->kind == INTERLEAVED) {
      interleave(job, columns, from, to);
    } else if (job->kind == DEINTERLEAVED) {
      deinterleave(job, rows, from, to);
    } else {
      copy_tile(job, rows, columns, from, to);
    }
    if (++tile == tiles) {
      tile = 0;
      place_next(nest, last - 1, &at);
    }
  }
  if (job->stream) {
    nd4c_simd.move->stream_fence();
  }
}

/* -- choosing ------------------------------------------------------------------------------------------------------ */

static void exchange_axes(nd4c_nest *nest, int32_t a, int32_t b) {
  int64_t extent = nest->shape[a];
  nest->shape[a] = nest->shape[b];
  nest->shape[b] = extent;
  for (int32_t k = 0; k < nest->operands; k++) {
    int64_t stride = nest->strides[k][a];
    nest->strides[k][a] = nest->strides[k][b];
    nest->strides[k][b] = stride;
  }
}

/* Brings the axis along which the input's elements are neighbours before the last; false if there is none. */
static bool find_plane(nd4c_nest *nest) {
  for (int32_t axis = nest->rank - 2; axis >= 0; axis--) {
    if (nest->strides[1][axis] == 1) {
      while (axis < nest->rank - 2) {
        exchange_axes(nest, axis, axis + 1);
        axis++;
      }
      return true;
    }
  }
  return false;
}

static int64_t at_most(int64_t value, int64_t most) {
  return value < most ? value : most;
}

/* Both extents of tiles are whole cache lines, so that tiles of an aligned plane are aligned. */
static void choose_plane_tiles(copy_job *job) {
  const nd4c_nest *nest = &job->nest;
  int32_t last = nest->rank - 1, bytes = nest->bytes[0];
  int64_t rows = nest->shape[last], columns = nest->shape[last - 1];
  job->aligned = (uintptr_t)nest->data[0] % ND4C_CPU_CACHE_LINE == 0;
  for (int32_t axis = 0; axis < last; axis++) {
    job->aligned = job->aligned && nest->strides[0][axis] * bytes % ND4C_CPU_CACHE_LINE == 0;
  }
  job->tile_rows = at_most(rows, RUN_WRITTEN / bytes);
  job->tile_columns = at_most(columns, (job->stream && !job->aligned ? PLANE_BUFFER / RUN_WRITTEN : RUN_READ / bytes));
}

static void choose_tiles(copy_job *job) {
  const nd4c_nest *nest = &job->nest;
  int32_t last = nest->rank - 1, bytes = nest->bytes[0];
  int64_t rows = nest->shape[last], columns = nest->shape[last - 1];
  if (rows <= ND4C_LANES && nest->strides[0][last - 1] == rows) {
    job->kind = INTERLEAVED;
    job->tile_rows = rows;
    job->tile_columns = at_most(columns, LANE_BYTES / bytes);
  } else if (columns <= ND4C_LANES && nest->strides[1][last] == columns) {
    job->kind = DEINTERLEAVED;
    job->tile_columns = columns;
    job->tile_rows = at_most(rows, LANE_BYTES / bytes);
  } else {
    job->kind = PLANES;
    choose_plane_tiles(job);
  }
  job->row_tiles = (rows + job->tile_rows - 1) / job->tile_rows;
  job->column_tiles = (columns + job->tile_columns - 1) / job->tile_columns;
}

static bool overlaps(const nd4c_nest *nest) {
  return nest->data[0] == nest->data[1];
}

void nd4c_nest_copy(const nd4c_nest *nest, int32_t width) {
  int32_t last = nest->rank - 1, bytes = nest->bytes[0];
  if (nest->size == 0) {
    return;
  }
  copy_job job = {
      .nest = *nest,
      .stream = nest->size > nd4c_simd_stream_bytes / bytes && !overlaps(nest) && !nd4c_nest_reads_little(nest)};
  if (nest->strides[0][last] == 1 && nest->strides[1][last] == 1) {
    int64_t row = nest->shape[last] * bytes;
    job.stream = job.stream && row >= 8 * ND4C_CPU_CACHE_LINE;
    if (last > 0 && row <= SHORT_ROW && !overlaps(nest)) {
      nd4c_cpu_parallel(nest->size / nest->shape[last], PIECE_BYTES / row + 1, width, copy_short_rows, &job);
    } else {
      nd4c_cpu_parallel(nest->size, PIECE_BYTES / bytes, width, copy_rows, &job);
    }
    return;
  }
  bool spread = nest->strides[1][last] == 0 && nest->shape[last] > 2 * ND4C_CPU_CACHE_LINE / bytes;
  if (last == 0 || spread || nest->strides[0][last] != 1 || overlaps(nest) || !find_plane(&job.nest)) {
    nd4c_nest_move(nest, width);
    return;
  }
  choose_tiles(&job);
  int64_t tile = job.tile_rows * job.tile_columns * bytes, outer = 1;
  for (int32_t axis = 0; axis < last - 1; axis++) {
    outer *= job.nest.shape[axis];
  }
  job.stream = job.stream && (job.kind != PLANES || job.tile_rows * bytes >= 4 * ND4C_CPU_CACHE_LINE);
  nd4c_cpu_parallel(outer * job.row_tiles * job.column_tiles, (PIECE_BYTES + tile - 1) / tile, width, copy_tiles, &job);
}

void nd4c_nest_copy_tensor(const nd4c_tensor *from, const nd4c_tensor *to, int32_t width) {
  nd4c_nest nest;
  nd4c_nest_start(&nest, to);
  nd4c_nest_add(&nest, from, to);
  nd4c_nest_finish(&nest);
  nd4c_nest_copy(&nest, width);
}
