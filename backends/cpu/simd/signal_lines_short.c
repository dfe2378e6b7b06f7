/* Short lines, as many side by side as a vector has lanes. signal_fft.c calls nd4c_fft_run_axis for each axis, which
 * hands long lines to signal_lines_long.c. */
#include <stdatomic.h>
#include <string.h>

#include "backends/cpu/simd/signal_lines.h"

typedef struct tiles {
  const nd4c_fft_axis_pass *pass;
  int64_t read, written;    /* points of a line as the tile has them: halves of real lines */
  bool pairs_in, pairs_out; /* real lines are read and written as pairs of neighbours */
  int64_t real_bytes;
  char *memory;
  size_t tile_bytes;
  int64_t count; /* of tiles: a worker that has finished one takes the next */
  _Atomic int64_t next;
} tiles;

int64_t nd4c_fft_line_at(const nd4c_fft_axis_pass *pass, const nd4c_fft_side *side, int64_t line) {
  int64_t offset = 0;
  for (int32_t axis = pass->rank - 1; axis >= 0; axis--) {
    offset += line % pass->shape[axis] * side->strides[axis];
    line /= pass->shape[axis];
  }
  return offset;
}

/* Whether real lines can be read or written in pairs of neighbours. */
static bool are_pairs(const nd4c_fft_axis_pass *pass, const nd4c_fft_side *side, int64_t real_bytes) {
  bool even = side->stride == 1 && side->given % 2 == 0 && (uintptr_t)side->data % (uintptr_t)(2 * real_bytes) == 0;
  for (int32_t axis = 0; axis < pass->rank; axis++) {
    even = even && side->strides[axis] % 2 == 0;
  }
  return even;
}

/* Copies elements of several lines to places that are `place` apart, lanes next to each other. The lines begin `step`
 * apart; their elements are `stride` apart. */
static void gather(int64_t bytes, int64_t points, int64_t lanes, const char *from, int64_t stride, int64_t step,
                   char *to, int64_t place, int64_t lane) {
  if (stride == 1 && step != 1 && lane == 1 && lanes > 1) {
    nd4c_simd.transpose->transpose[bytes](lanes, points, from, step, to, place, false);
  } else {
    nd4c_simd.move->move[bytes](points, lanes, from, stride, step, to, place, lane);
  }
}

static void scatter(int64_t bytes, int64_t points, int64_t lanes, const char *from, int64_t place, int64_t lane,
                    char *to, int64_t stride, int64_t step) {
  if (stride == 1 && step != 1 && lane == 1 && lanes > 1) {
    nd4c_simd.transpose->transpose[bytes](points, lanes, from, place, to, step, false);
  } else {
    nd4c_simd.move->move[bytes](points, lanes, from, place, lane, to, stride, step);
  }
}

/* Moves lines whose beginnings are equally far apart, `count` of them from offset on, between an array and a tile of
 * `points` joined points. */
static void move_run(const tiles *t, const nd4c_fft_side *side, bool in, bool pairs, int64_t offset, int64_t step,
                     int64_t count, int64_t points, char *tile) {
  int64_t lanes = t->pass->plan->loops->lanes, bytes = t->real_bytes;
  bool is_whole = side->is_complex || pairs;
  bool in_turns = !is_whole && t->pass->plan->real && in != t->pass->real_out; /* real and imaginary parts */
  int64_t unit = is_whole ? 2 * bytes : bytes, parts = in_turns ? 2 : 1;
  char *at = side->data + offset * (side->is_complex ? 2 * bytes : bytes);
  int64_t stride = side->stride * parts, place = is_whole ? lanes : 2 * lanes;
  int64_t apart = pairs ? step / 2 : step, lane = is_whole ? 1 : 2;
  for (int64_t part = 0; part < parts; part++) {
    char *array = at + part * side->stride * unit, *joined = tile + part * unit;
    int64_t here = pairs ? points / 2 : (points + parts - 1 - part) / parts;
    if (in) {
      gather(unit, here, count, array, stride, apart, joined, place, lane);
    } else {
      scatter(unit, here, count, joined, place, lane, array, stride, apart);
    }
  }
}

/* points: elements of the array's lines. */
static void move_lines(const tiles *t, const nd4c_fft_side *side, bool in, bool pairs, int64_t first, int64_t count,
                       int64_t points, char *tile) {
  int64_t at[ND4C_FFT_LANES];
  for (int64_t i = 0; i < count; i++) {
    at[i] = nd4c_fft_line_at(t->pass, side, first + i);
  }
  for (int64_t i = 0; i < count;) {
    int64_t step = i + 1 < count ? at[i + 1] - at[i] : 0, end = i + 1;
    while (end < count && at[end] - at[end - 1] == step) {
      end++;
    }
    move_run(t, side, in, pairs, at[i], step, end - i, points, tile + i * 2 * t->real_bytes);
    i = end;
  }
}

static void *transform(const tiles *t, char *tile, char *room) {
  const nd4c_fft_axis_pass *pass = t->pass;
  const nd4c_fft_lines_plan *plan = pass->plan;
  const nd4c_fft_loops *loops = plan->loops;
  loops->split(t->read, tile, pass->inverse && !pass->real_out, pass->real_out && pass->conjugate);
  if (pass->real_out) {
    loops->pack(plan->points, plan->unpacking, tile);
  }
  void *result = loops->run(&plan->steps, tile, room);
  if (plan->real && !pass->real_out) {
    loops->unpack(plan->points, plan->unpacking, result);
  }
  loops->join(t->written, result, pass->scale, pass->inverse, !pass->real_out && pass->conjugate, result);
  return result;
}

static void tiles_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  tiles *t = user;
  const nd4c_fft_axis_pass *pass = t->pass;
  const nd4c_fft_side *from = &pass->from, *to = &pass->to;
  int64_t lanes = pass->plan->loops->lanes;
  char *tile = t->memory + (size_t)worker * 2 * t->tile_bytes, *room = tile + t->tile_bytes;
  int64_t wanted = t->read * (from->is_complex || !pass->plan->real || pass->real_out ? 1 : 2);
  (void)begin;
  (void)end;
  for (int64_t i; (i = atomic_fetch_add(&t->next, 1)) < t->count;) {
    int64_t first = i * lanes, count = pass->lines - first < lanes ? pass->lines - first : lanes;
    if (count < lanes || from->given < wanted || (!from->is_complex && !t->pairs_in)) {
      memset(tile, 0, t->tile_bytes);
    }
    move_lines(t, from, true, t->pairs_in, first, count, from->given, tile);
    char *result = transform(t, tile, room);
    move_lines(t, to, false, t->pairs_out, first, count, to->given, result);
  }
}

bool nd4c_fft_run_axis(const nd4c_fft_axis_pass *pass) {
  const nd4c_fft_lines_plan *plan = pass->plan;
  if (plan->is_long) {
    return nd4c_fft_run_long(pass);
  }
  bool real_in = plan->real && !pass->real_out;
  tiles t = {.pass = pass, .real_bytes = plan->single ? 4 : 8};
  t.read = pass->real_out ? plan->points + 1 : plan->points;
  t.written = real_in ? plan->points + 1 : plan->points;
  t.pairs_in = real_in && are_pairs(pass, &pass->from, t.real_bytes);
  t.pairs_out = pass->real_out && are_pairs(pass, &pass->to, t.real_bytes);
  t.tile_bytes = (size_t)((plan->points + 1) * plan->loops->lanes * 2 * t.real_bytes);
  t.count = (pass->lines + plan->loops->lanes - 1) / plan->loops->lanes;
  int64_t grain = 1 + 4096 / (plan->points * plan->loops->lanes), most = (t.count + grain - 1) / grain;
  int64_t workers = pass->width < 1 ? 1 : pass->width < most ? pass->width : most;
  size_t bytes = 2 * t.tile_bytes * (size_t)workers;
  t.memory = nd4c_cpu_host->allocate_pages(bytes);
  if (t.memory == NULL) {
    return false;
  }
  nd4c_cpu_parallel(workers, 1, (int32_t)workers, tiles_range, &t);
  nd4c_cpu_host->free_pages(t.memory, bytes);
  return true;
}
