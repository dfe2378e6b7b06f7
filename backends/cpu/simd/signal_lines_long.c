/* Long lines, one by one, as matrices of rows x columns points j columns + i. The columns are transformed side by side,
 * multiplied by w^(k i), and stored as tiles of rows, whose rows are then transformed side by side. nd4c_fft_run_axis
 * (signal_lines_short.c) calls it. */
#include <stdatomic.h>
#include <string.h>

#include "backends/cpu/simd/signal_lines.h"

enum { TOGETHER = 4, TOGETHER_BYTES = 1 << 18 };

/* A line of joined numbers. */
typedef struct line {
  char *data;
  int64_t stride; /* in numbers */
} line;

typedef struct matrix {
  const nd4c_fft_axis_pass *pass;
  line from, to;
  int64_t bytes;                           /* of a number */
  int64_t tile_bytes;                      /* of one point of all lanes */
  int64_t columns_together, rows_together; /* tiles */
  char *middle, *memory;
  size_t worker_bytes;
  int64_t groups; /* of tiles: a worker that has finished one takes the next */
  _Atomic int64_t next;
} matrix;

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Transposes tiles of columns into rows of the middle: point k of lane l becomes point first + l of lane k. */
static void turn_tiles(const matrix *m, const char *tile, int64_t first, int64_t count) {
  const nd4c_fft_lines_plan *plan = m->pass->plan;
  int64_t lanes = plan->loops->lanes, real = m->bytes / 2;
  for (int64_t k = 0; k < plan->rows; k += lanes) {
    char *to = m->middle + (k / lanes * plan->columns + first) * m->tile_bytes;
    for (int64_t part = 0; part < 2; part++) {
      nd4c_simd.transpose->transpose[real](smaller(lanes, plan->rows - k), count,
                                           tile + k * m->tile_bytes + part * lanes * real, 2 * lanes,
                                           to + part * lanes * real, 2 * lanes, false);
    }
  }
}

/* How many tiles are read or written together. The pieces of a line are pages apart, and one tile would use only a few
 * numbers of each. */
static int64_t tiles_together(const matrix *m, int64_t points, int64_t tiles) {
  int64_t fit = TOGETHER_BYTES / (points * m->tile_bytes), shares = tiles / (m->pass->width < 1 ? 1 : m->pass->width);
  fit = m->from.stride != 1 || m->to.stride != 1 ? 1 : smaller(smaller(fit, shares), TOGETHER);
  return fit < 1 ? 1 : fit;
}

/* Numbers `first` .. first + count - 1 of `points` pieces of a line, `pitch` apart, to or from tiles. */
static void move_tiles(const matrix *m, line l, int64_t points, int64_t first, int64_t count, int64_t pitch, bool in,
                       char *tiles) {
  int64_t lanes = m->pass->plan->loops->lanes;
  char *at = l.data + first * l.stride * m->bytes;
  if (l.stride != 1) {
    if (in) {
      nd4c_simd.move->move[m->bytes](points, count, at, pitch * l.stride, l.stride, tiles, lanes, 1);
    } else {
      nd4c_simd.move->move[m->bytes](points, count, tiles, lanes, 1, at, pitch * l.stride, l.stride);
    }
    return;
  }
  for (int64_t k = 0; k < points; k++, at += pitch * m->bytes) {
    for (int64_t lane = 0; lane < count; lane += lanes) {
      char *tile = tiles + lane * points * m->bytes + k * m->tile_bytes, *piece = at + lane * m->bytes;
      size_t bytes = (size_t)(smaller(lanes, count - lane) * m->bytes);
      if (bytes == 2 * ND4C_CPU_CACHE_LINE) { /* that of AVX-512, and copied without a call */
        memcpy(in ? tile : piece, in ? piece : tile, 2 * ND4C_CPU_CACHE_LINE);
      } else {
        memcpy(in ? tile : piece, in ? piece : tile, bytes);
      }
    }
  }
}

static void columns_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  matrix *m = user;
  const nd4c_fft_lines_plan *plan = m->pass->plan;
  const nd4c_fft_loops *loops = plan->loops;
  int64_t lanes = loops->lanes, tile_bytes = plan->rows * m->tile_bytes, step = m->columns_together * lanes;
  char *tiles = m->memory + (size_t)worker * m->worker_bytes, *room = tiles + m->columns_together * tile_bytes;
  (void)begin;
  (void)end;
  for (int64_t i; (i = atomic_fetch_add(&m->next, 1)) < m->groups;) {
    int64_t first = i * step, count = smaller(step, plan->columns - first);
    if (count % lanes != 0) {
      memset(tiles, 0, (size_t)(m->columns_together * tile_bytes));
    }
    move_tiles(m, m->from, plan->rows, first, count, plan->columns, true, tiles);
    for (int64_t lane = 0; lane < count; lane += lanes) {
      char *tile = tiles + lane / lanes * tile_bytes;
      loops->split(plan->rows, tile, m->pass->inverse, false);
      char *result = loops->run(&plan->steps, tile, room);
      loops->twist(plan->rows, &plan->roots, first + lane, plan->lane_roots, result);
      turn_tiles(m, result, first + lane, smaller(lanes, count - lane));
    }
  }
}

static void rows_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  matrix *m = user;
  const nd4c_fft_lines_plan *plan = m->pass->plan;
  const nd4c_fft_loops *loops = plan->loops;
  int64_t lanes = loops->lanes, tile_bytes = plan->columns * m->tile_bytes, step = m->rows_together * lanes;
  char *joined = m->memory + (size_t)worker * m->worker_bytes, *room = joined + m->rows_together * tile_bytes;
  (void)begin;
  (void)end;
  for (int64_t i; (i = atomic_fetch_add(&m->next, 1)) < m->groups;) {
    int64_t first = i * step, count = smaller(step, plan->rows - first);
    for (int64_t lane = 0; lane < count; lane += lanes) {
      char *result = loops->run(&plan->row_steps, m->middle + (first + lane) / lanes * tile_bytes, room);
      loops->join(plan->columns, result, m->pass->scale, m->pass->inverse, false, joined + lane / lanes * tile_bytes);
    }
    move_tiles(m, m->to, plan->columns, first, count, plan->rows, false, joined);
  }
}

static int64_t tiles_of(const matrix *m, int64_t lines) {
  int64_t lanes = m->pass->plan->loops->lanes;
  return (lines + lanes - 1) / lanes;
}

/* Groups of `together` tiles of so many points, shared out among as many threads as they pay for. */
static void run_groups(matrix *m, int64_t tiles, int64_t together, int64_t points, nd4c_range_function range) {
  int64_t width = m->pass->width, grain = 1 + 8192 / (points * m->pass->plan->loops->lanes * together);
  m->groups = (tiles + together - 1) / together;
  int64_t most = (m->groups + grain - 1) / grain, workers = width < 1 ? 1 : smaller(width, most);
  atomic_store(&m->next, 0);
  nd4c_cpu_parallel(workers, 1, (int32_t)workers, range, m);
}

static void transform(matrix *m) {
  const nd4c_fft_lines_plan *plan = m->pass->plan;
  int64_t columns = tiles_of(m, plan->columns), rows = tiles_of(m, plan->rows);
  m->columns_together = tiles_together(m, plan->rows, columns);
  m->rows_together = tiles_together(m, plan->columns, rows);
  if (plan->rows % plan->loops->lanes != 0) { /* lanes beyond the last row: any numbers will do */
    memset(m->middle + (rows - 1) * plan->columns * m->tile_bytes, 0, (size_t)(plan->columns * m->tile_bytes));
  }
  run_groups(m, columns, m->columns_together, plan->rows, columns_range);
  run_groups(m, rows, m->rows_together, plan->columns, rows_range);
}

/* -- lines that lie otherwise ------------------------------------------------------------------------------------- */

/* Real lines are cut into blocks of fixed size. Which numbers are computed in vectors then does not depend on the
 * parallel width. */
enum { BLOCK = 4096 };
typedef struct real_line {
  const nd4c_fft_axis_pass *pass;
  const char *from;
  char *to;
} real_line;

static void pack_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const real_line *l = user;
  const nd4c_fft_lines_plan *plan = l->pass->plan;
  (void)worker;
  plan->loops->pack_line(plan->points, &plan->real_roots, begin * BLOCK, smaller(end * BLOCK, plan->points / 2 + 1),
                         l->pass->conjugate, l->from, l->to);
}

static void unpack_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const real_line *l = user;
  const nd4c_fft_lines_plan *plan = l->pass->plan;
  (void)worker;
  plan->loops->unpack_line(plan->points, &plan->real_roots, begin * BLOCK, smaller(end * BLOCK, plan->points / 2 + 1),
                           l->pass->conjugate, l->to);
}

/* Copies a line and pads it with zeros to `wanted` elements: complex numbers or, if a real line is read in pairs, their
 * halves. */
static void copy_line(const matrix *m, const char *from, int64_t wanted, char *to) {
  const nd4c_fft_side *side = &m->pass->from;
  bool pairs = m->pass->plan->real && !m->pass->real_out;
  int64_t bytes = side->is_complex ? m->bytes : m->bytes / 2, step = side->is_complex || pairs ? 1 : 2;
  int64_t whole = pairs ? m->bytes / 2 : m->bytes;
  int64_t given = smaller(side->given, wanted);
  memset(to, 0, (size_t)(wanted * whole));
  nd4c_simd.move->move[bytes](given, 1, from, side->stride, 1, to, step, 1);
}

/* Bytes of a line on either side, with a number more than the points, which are what real lines need in between. */
static size_t line_bytes(const matrix *m) {
  return (size_t)((m->pass->plan->points + 1) * m->bytes + 63) / 64 * 64;
}

static bool lies_well(const matrix *m, const nd4c_fft_side *side, const char *at, int64_t wanted) {
  return side->stride == 1 && side->given >= wanted && (uintptr_t)at % (uintptr_t)m->bytes == 0;
}

/* rooms: memory for two lines, the input's and the output's. */
static void run_line(matrix *m, int64_t number, char *rooms) {
  const nd4c_fft_axis_pass *pass = m->pass;
  const nd4c_fft_lines_plan *plan = pass->plan;
  const nd4c_fft_side *from = &pass->from, *to = &pass->to;
  int64_t blocks = plan->points / 2 / BLOCK + 1, element = to->is_complex ? m->bytes : m->bytes / 2;
  bool real_in = plan->real && !pass->real_out;
  char *x = from->data + nd4c_fft_line_at(pass, from, number) * (from->is_complex ? m->bytes : m->bytes / 2);
  char *y = to->data + nd4c_fft_line_at(pass, to, number) * element;
  char *second = rooms + line_bytes(m);
  m->from = (line){x, from->stride};
  if (real_in || pass->real_out || !from->is_complex || from->given < plan->points) {
    int64_t wanted = pass->real_out ? plan->points + 1 : real_in ? plan->length : plan->points;
    bool as_it_is = from->is_complex != real_in && lies_well(m, from, x, wanted);
    if (!as_it_is) {
      copy_line(m, x, wanted, pass->real_out ? second : rooms);
    }
    m->from = (line){as_it_is ? x : rooms, 1};
    real_line packed = {pass, as_it_is ? x : second, rooms};
    if (pass->real_out) {
      nd4c_cpu_parallel(blocks, 1, pass->width, pack_range, &packed);
      m->from.data = rooms;
    }
  }
  bool direct = plan->real ? lies_well(m, to, y, 0) : true;
  m->to = direct && !plan->real ? (line){y, to->stride} : (line){direct ? y : second, 1};
  transform(m);
  real_line unpacked = {pass, NULL, m->to.data};
  if (real_in) {
    nd4c_cpu_parallel(blocks, 1, pass->width, unpack_range, &unpacked);
  }
  if (!direct) {
    nd4c_simd.move->move[element](to->given, 1, second, 1, 1, y, to->stride, 1);
  }
}

bool nd4c_fft_run_long(const nd4c_fft_axis_pass *pass) {
  const nd4c_fft_lines_plan *plan = pass->plan;
  matrix m = {.pass = pass, .bytes = plan->single ? 8 : 16};
  m.tile_bytes = plan->loops->lanes * m.bytes;
  size_t middle = (size_t)(tiles_of(&m, plan->rows) * plan->columns * m.tile_bytes), rooms = 2 * line_bytes(&m);
  int64_t longest = plan->rows > plan->columns ? plan->rows : plan->columns;
  m.worker_bytes = (size_t)((TOGETHER + 1) * longest * m.tile_bytes);
  size_t bytes = middle + rooms + m.worker_bytes * (size_t)(pass->width < 1 ? 1 : pass->width);
  m.middle = nd4c_cpu_host->allocate_pages(bytes);
  if (m.middle == NULL) {
    return false;
  }
  m.memory = m.middle + middle + rooms;
  for (int64_t number = 0; number < pass->lines; number++) {
    run_line(&m, number, m.middle + middle);
  }
  nd4c_cpu_host->free_pages(m.middle, bytes);
  return true;
}
