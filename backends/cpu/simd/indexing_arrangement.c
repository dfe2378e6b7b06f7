/* Engine simd: padding, rolling, shifting and tiling of contiguous arrays, stacking, one-hot rows, filled slices.
 * dispatch/choice.c asks these kernels before the reference's. */
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/nest.h"
#include "kernels/reference/indexing/arrangement.h"
#include "kernels/reference/indexing/parts.h"

enum {
  WORTH_BYTES = 1 << 18, /* what is worth another thread */
  BUFFER_BYTES = 16384,  /* rows that are streamed are made there */
  RUNS = 8,              /* of a row that are found once for all rows */
  WEAVE_BUFFER = 32768,  /* pieces of arrays that are woven ... */
  MOST_WOVEN = 20,       /* ... and how many those may be */
  PATTERN = 64           /* bytes of the value, repeated */
};

/* -- one value ----------------------------------------------------------------------------------------------------- */

typedef struct filler {
  bool zero;
  char pattern[PATTERN];
} filler;

/* value: of `bytes` bytes, a power of two up to 16. */
static void filler_make(filler *f, const char *value, int64_t bytes) {
  for (int64_t i = 0; i < PATTERN; i += bytes) {
    memcpy(f->pattern + i, value, (size_t)bytes);
  }
  f->zero = memcmp(f->pattern, (const char[PATTERN]){0}, PATTERN) == 0;
}

static void fill(const filler *f, char *to, int64_t bytes) {
  if (bytes <= PATTERN) {
    nd4c_copy_block(to, f->pattern, bytes);
    return;
  }
  if (f->zero) {
    memset(to, 0, (size_t)bytes);
    return;
  }
  memcpy(to, f->pattern, PATTERN);
  for (int64_t done = PATTERN, more; done < bytes; done += more) {
    more = done < bytes - done ? done : bytes - done;
    memcpy(to + done, to, (size_t)more);
  }
}

/* -- rows that continue x ------------------------------------------------------------------------------------------ */

/* A run of positions of y: copies of x's positions from `from` on, in steps of 1, -1 or 0; from -1: the fill value. */
typedef struct run {
  int64_t from, step, count;
} run;

/* y [axes..., units of `unit` bytes], x likewise; position j of an axis of y shows position j - begin of x, continued
 * by the mode. The last axis is the row. */
typedef struct continued {
  nd4c_ref_pad_mode mode;
  filler value; /* where the mode is constant */
  const char *x;
  char *y;
  int32_t rank;
  int64_t bytes, unit; /* of an element; of a unit */
  int64_t from[ND4C_CPU_MAX_RANK], to[ND4C_CPU_MAX_RANK], begin[ND4C_CPU_MAX_RANK];
  int64_t pitch[ND4C_CPU_MAX_RANK]; /* of x, bytes */
  bool stream;
  int32_t run_count; /* 0: a row has more than RUNS */
  run runs[RUNS];
} continued;

static int64_t modulo(int64_t a, int64_t n) {
  int64_t rest = a % n;
  return rest < 0 ? rest + n : rest;
}

/* The run that begins at position j of an axis of x, which has n elements and is continued beyond both ends. */
static run run_at(nd4c_ref_pad_mode mode, int64_t n, int64_t j) {
  if (j >= 0 && j < n) {
    return (run){j, 1, n - j};
  }
  int64_t beyond = j < 0 ? -j : INT64_MAX;
  if (mode == ND4C_REF_PAD_CONSTANT) {
    return (run){-1, 0, beyond};
  }
  if (mode == ND4C_REF_PAD_EDGE || (mode == ND4C_REF_PAD_REFLECT && n == 1)) {
    return (run){j < 0 ? 0 : n - 1, 0, beyond};
  }
  int64_t period = mode == ND4C_REF_PAD_WRAP ? n : mode == ND4C_REF_PAD_SYMMETRIC ? 2 * n : 2 * (n - 1);
  int64_t place = modulo(j, period);
  if (place < n) {
    return (run){place, 1, n - place};
  }
  return (run){mode == ND4C_REF_PAD_SYMMETRIC ? 2 * n - 1 - place : period - place, -1, period - place};
}

/* The runs of a whole row, if they are few. */
static void find_runs(continued *c) {
  int32_t last = c->rank - 1, count = 0;
  int64_t j = 0;
  for (; j < c->to[last] && count < RUNS; j += c->runs[count++].count) {
    run r = run_at(c->mode, c->from[last], j - c->begin[last]);
    r.count = r.count < c->to[last] - j ? r.count : c->to[last] - j;
    c->runs[count] = r;
  }
  c->run_count = j == c->to[last] ? count : 0;
}

/* Axes that are not padded join those before them: the last ones into the unit. */
static void continued_make(continued *c, const nd4c_tensor *x, const nd4c_tensor *y, const int64_t *begin) {
  int32_t missing = y->rank - x->rank, last = y->rank - 1;
  int64_t pitch;
  c->bytes = c->unit = nd4c_cpu_dtype_bytes(x->dtype);
  c->x = x->data;
  c->y = y->data;
  c->rank = 0;
  for (; last >= missing && begin[last] == 0 && x->shape[last - missing] == y->shape[last]; last--) {
    c->unit *= y->shape[last];
  }
  for (int32_t i = 0; i <= last; i++) {
    int64_t extent = i < missing ? 1 : x->shape[i - missing];
    bool whole = begin[i] == 0 && extent == y->shape[i];
    bool joins = whole && c->rank > 0 && c->begin[c->rank - 1] == 0 && c->from[c->rank - 1] == c->to[c->rank - 1];
    int32_t at = joins ? c->rank - 1 : c->rank++;
    c->from[at] = joins ? c->from[at] * extent : extent;
    c->to[at] = joins ? c->to[at] * extent : y->shape[i];
    c->begin[at] = begin[i];
  }
  if (c->rank == 0) {
    c->from[c->rank] = c->to[c->rank] = 1, c->begin[c->rank] = 0, c->rank = 1;
  }
  pitch = c->unit;
  for (int32_t i = c->rank - 1; i >= 0; i--) {
    c->pitch[i] = pitch;
    pitch *= c->from[i];
  }
  c->stream = y->size > nd4c_simd_stream_bytes / c->bytes;
  find_runs(c);
}

static bool has_loop(const continued *c) {
  return c->unit <= 16 && nd4c_simd.move->move[c->unit] != NULL;
}

/* Units one after the other in steps of 0 or -1. */
static void copy_units(const continued *c, int64_t count, const char *from, int64_t step, char *to) {
  if (has_loop(c)) {
    nd4c_simd.move->move[c->unit](1, count, from, 0, step, to, 0, 1);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    nd4c_copy_block(to + i * c->unit, from + i * step * c->unit, c->unit);
  }
}

static void make_run(const continued *c, const char *row, const run *r, char *to) {
  if (r->from < 0) {
    fill(&c->value, to, r->count * c->unit);
  } else if (r->step == 1 || r->count == 1) {
    nd4c_copy_block(to, row + r->from * c->unit, r->count * c->unit);
  } else {
    copy_units(c, r->count, row + r->from * c->unit, r->step, to);
  }
}

/* Positions [begin, end) of a row whose x begins at `row` (NULL: nothing but the value). */
static void make_row(const continued *c, const char *row, int64_t begin, int64_t end, char *to) {
  int32_t last = c->rank - 1;
  int64_t n = c->from[last], count;
  if (row == NULL) {
    fill(&c->value, to, (end - begin) * c->unit);
    return;
  }
  if (begin == 0 && end == c->to[last] && c->run_count > 0) {
    for (int32_t i = 0; i < c->run_count; to += c->runs[i++].count * c->unit) {
      make_run(c, row, &c->runs[i], to);
    }
    return;
  }
  for (int64_t j = begin; j < end; j += count, to += count * c->unit) {
    run r = run_at(c->mode, n, j - c->begin[last]);
    count = r.count = r.count < end - j ? r.count : end - j;
    if (c->mode == ND4C_REF_PAD_WRAP && j >= begin + n) { /* copies the period before, and doubles it with each step */
      int64_t ready = (j - begin) / n * n, rest = end - j;
      count = ready < rest ? ready : rest;
      memcpy(to, to - ready * c->unit, (size_t)(count * c->unit));
    } else {
      make_run(c, row, &r, to);
    }
  }
}

/* The current row of y. place: for each axis, the offset in x, in bytes, that the axes up to it give; -1 if the row has
 * the fill value only. */
typedef struct row_walk {
  int64_t index[ND4C_CPU_MAX_RANK], place[ND4C_CPU_MAX_RANK];
} row_walk;

static void row_walk_place(const continued *c, row_walk *walk, int32_t axis) {
  for (int32_t i = axis; i < c->rank - 1; i++) {
    int64_t before = i == 0 ? 0 : walk->place[i - 1];
    run r = run_at(c->mode, c->from[i], walk->index[i] - c->begin[i]);
    walk->place[i] = before < 0 || r.from < 0 ? -1 : before + r.from * c->pitch[i];
  }
}

static void row_walk_start(const continued *c, row_walk *walk, int64_t row) {
  for (int32_t i = c->rank - 2; i >= 0; row /= c->to[i--]) {
    walk->index[i] = row % c->to[i];
  }
  row_walk_place(c, walk, 0);
}

static void row_walk_next(const continued *c, row_walk *walk) {
  for (int32_t i = c->rank - 2; i >= 0; i--) {
    if (++walk->index[i] < c->to[i]) {
      row_walk_place(c, walk, i);
      return;
    }
    walk->index[i] = 0;
  }
}

/* One run of rows that are made together, at `to` in the first of them. */
static void make_runs(const continued *c, int64_t rows, const run *r, const char *row, int64_t pitch, char *to) {
  int64_t to_pitch = c->to[c->rank - 1] * c->unit, bytes = r->count * c->unit;
  const char *from = r->from >= 0 ? row + r->from * c->unit : NULL;
  if (r->from >= 0 && (r->step == 1 || r->count == 1)) {
    nd4c_simd.move->blocks(rows, bytes, from, pitch, to, to_pitch);
  } else if (r->from >= 0 && has_loop(c)) {
    nd4c_simd.move->move[c->unit](rows, r->count, from, pitch / c->unit, r->step, to, to_pitch / c->unit, 1);
  } else if (r->from < 0 && bytes <= PATTERN) {
    nd4c_simd.move->blocks(rows, bytes, c->value.pattern, 0, to, to_pitch);
  } else {
    for (int64_t k = 0; k < rows; k++) {
      make_run(c, row + k * pitch, r, to + k * to_pitch);
    }
  }
}

/* Whole rows that show rows of x, from the one at `row` on, `pitch` bytes apart: run by run. The value at the end of a
 * row and at the beginning of the next one is one run, if it is short. */
static void make_rows(const continued *c, int64_t rows, const char *row, int64_t pitch, char *to) {
  int64_t to_pitch = c->to[c->rank - 1] * c->unit;
  const run *first = &c->runs[0], *last = &c->runs[c->run_count - 1];
  int64_t between = (first->count + last->count) * c->unit;
  bool join = first != last && first->from < 0 && last->from < 0 && between <= PATTERN;
  if (join) {
    nd4c_simd.move->blocks(rows - 1, between, c->value.pattern, 0, to + to_pitch - last->count * c->unit, to_pitch);
  }
  for (int32_t i = 0; i < c->run_count; to += c->runs[i++].count * c->unit) {
    bool ends = join && (i == 0 || i == c->run_count - 1);
    make_runs(c, ends ? 1 : rows, &c->runs[i], row, pitch, ends && i > 0 ? to + (rows - 1) * to_pitch : to);
  }
}

/* How many rows, from the row of `walk` on and at most `most`, have the same runs and can be written together. */
static int64_t rows_alike(const continued *c, const row_walk *walk, int64_t most, int64_t *pitch) {
  int32_t axis = c->rank - 2;
  if (axis < 0 || c->run_count == 0 || walk->place[axis] < 0) {
    return 1;
  }
  run r = run_at(c->mode, c->from[axis], walk->index[axis] - c->begin[axis]);
  int64_t left = c->to[axis] - walk->index[axis];
  *pitch = r.step * c->pitch[axis];
  most = r.count < most ? r.count : most;
  return left < most ? left : most;
}

/* Writes positions [begin, end) of y, in order, to `to`. */
static void make_positions(const continued *c, int64_t begin, int64_t end, char *to) {
  int64_t length = c->to[c->rank - 1], first = begin % length;
  row_walk walk;
  row_walk_start(c, &walk, begin / length);
  for (; begin < end; first = 0) {
    int64_t left = length - first < end - begin ? length - first : end - begin;
    int64_t place = c->rank > 1 ? walk.place[c->rank - 2] : 0, pitch = 0;
    int64_t most = BUFFER_BYTES / (length * c->unit), rows = (end - begin) / length;
    rows = first > 0 || rows < 2 || most < 2 ? 1 : rows_alike(c, &walk, rows < most ? rows : most, &pitch);
    if (rows > 1) {
      make_rows(c, rows, c->x + place, pitch, to);
      walk.index[c->rank - 2] += rows - 1;
      row_walk_next(c, &walk);
      begin += rows * length;
      to += rows * length * c->unit;
      continue;
    }
    make_row(c, place < 0 ? NULL : c->x + place, first, first + left, to);
    row_walk_next(c, &walk);
    begin += left;
    to += left * c->unit;
  }
}

/* Results that are streamed are first written to a buffer, as many short rows as fit at a time. */
static void make_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const continued *c = user;
  int64_t most = BUFFER_BYTES / c->unit, length = c->to[c->rank - 1];
  _Alignas(64) char buffer[BUFFER_BYTES];
  (void)worker;
  if (!c->stream || most == 0) {
    make_positions(c, begin, end, c->y + begin * c->unit);
    return;
  }
  for (int64_t i = begin, count; i < end; i += count) {
    count = 2 * length <= most ? most - (i + most) % length : most;
    count = end - i < count ? end - i : count;
    make_positions(c, i, i + count, buffer);
    nd4c_simd.move->stream(count * c->unit, buffer, c->y + i * c->unit);
  }
  nd4c_simd.move->stream_fence();
}

static void continued_run(const nd4c_call *call, continued *c) {
  int64_t positions = 1;
  for (int32_t i = 0; i < c->rank; i++) {
    positions *= c->to[i];
  }
  if (call->outputs[0].size > 0) {
    nd4c_cpu_parallel(positions, WORTH_BYTES / c->unit + 1, call->width, make_range, c);
  }
}

static bool usable_continued(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->inputs[0].flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0,
                      "an operand is not contiguous");
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0, "x has no elements");
  return true;
}

static nd4c_status run_pad(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *value = nd4c_cpu_input(call, ND4C_IN_pad_value);
  const nd4c_attr_value *pads = &call->attrs[ND4C_ATTR_pad_pads], *axes = &call->attrs[ND4C_ATTR_pad_axes];
  int64_t begin[ND4C_CPU_MAX_RANK] = {0};
  continued c = {.mode = (nd4c_ref_pad_mode)ND4C_INT_OF(call, pad_mode)};
  filler_make(&c.value, value != NULL ? value->data : nd4c_cpu_zero, nd4c_cpu_dtype_bytes(x->dtype));
  for (int32_t i = 0; i < pads->count / 2; i++) {
    begin[axes->count == 0 ? i : nd4c_axis(axes->as.ints[i], x->rank)] = pads->as.ints[i];
  }
  continued_make(&c, x, &call->outputs[0], begin);
  continued_run(call, &c);
  return ND4C_OK;
}

static nd4c_status run_roll(const nd4c_call *call) {
  const nd4c_attr_value *shifts = &call->attrs[ND4C_ATTR_roll_shifts], *axes = &call->attrs[ND4C_ATTR_roll_axes];
  nd4c_tensor x = call->inputs[0], y = call->outputs[0];
  int64_t begin[ND4C_CPU_MAX_RANK] = {0};
  continued c = {.mode = ND4C_REF_PAD_WRAP};
  for (int32_t i = 0; i < axes->count; i++) {
    int32_t axis = nd4c_axis(axes->as.ints[i], x.rank);
    begin[axis] = modulo(begin[axis] + modulo(shifts->as.ints[i], x.shape[axis]), x.shape[axis]);
  }
  if (axes->count == 0) {
    x.rank = y.rank = 1;
    x.shape = y.shape = &call->inputs[0].size;
    begin[0] = modulo(shifts->as.ints[0], x.size);
  }
  continued_make(&c, &x, &y, begin);
  continued_run(call, &c);
  return ND4C_OK;
}

static nd4c_status run_fftshift(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  bool chosen[ND4C_CPU_MAX_RANK] = {false};
  int64_t begin[ND4C_CPU_MAX_RANK];
  continued c = {.mode = ND4C_REF_PAD_WRAP};
  nd4c_cpu_reduced_axes(x->rank, &call->attrs[ND4C_ATTR_fftshift_axes], chosen);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    const int64_t half = x->shape[axis] / 2;
    begin[axis] = !chosen[axis]                      ? 0
                  : call->op->op == ND4C_OP_fftshift ? half
                                                     : (x->shape[axis] - half) % x->shape[axis];
  }
  continued_make(&c, x, &call->outputs[0], begin);
  continued_run(call, &c);
  return ND4C_OK;
}

static nd4c_status run_tile(const nd4c_call *call) {
  static const int64_t begin[ND4C_CPU_MAX_RANK];
  continued c = {.mode = ND4C_REF_PAD_WRAP};
  continued_make(&c, &call->inputs[0], &call->outputs[0], begin);
  continued_run(call, &c);
  return ND4C_OK;
}

/* -- stack --------------------------------------------------------------------------------------------------------- */

typedef struct weave_job {
  const nd4c_call *call;
  int64_t bytes;
} weave_job;

/* For more arrays than the loop above takes: pieces of the arrays become rows of a buffer, which is transposed. */
static void weave_many(const weave_job *job, int64_t begin, int64_t end) {
  int64_t lanes = job->call->input_count, most = WEAVE_BUFFER / lanes / ND4C_CPU_CACHE_LINE * ND4C_CPU_CACHE_LINE;
  char *y = (char *)job->call->outputs[0].data + begin * lanes * job->bytes;
  _Alignas(64) char buffer[WEAVE_BUFFER];
  most /= job->bytes;
  for (int64_t count; begin < end; begin += count, y += count * lanes * job->bytes) {
    count = end - begin < most ? end - begin : most;
    for (int64_t k = 0; k < lanes; k++) {
      memcpy(buffer + k * most * job->bytes, (const char *)job->call->inputs[k].data + begin * job->bytes,
             (size_t)(count * job->bytes));
    }
    nd4c_simd.transpose->transpose[job->bytes](lanes, count, buffer, most, y, lanes, false);
  }
}

static void weave_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const weave_job *job = user;
  int64_t lanes = job->call->input_count;
  const void *from[ND4C_LANES];
  (void)worker;
  if (lanes > ND4C_LANES) {
    weave_many(job, begin, end);
    return;
  }
  for (int64_t k = 0; k < lanes; k++) {
    from[k] = (const char *)job->call->inputs[k].data + begin * job->bytes;
  }
  nd4c_simd.transpose->interleave[job->bytes](end - begin, lanes, from,
                                              (char *)job->call->outputs[0].data + begin * lanes * job->bytes);
}

/* Whether the arrays can be interleaved: all are contiguous, not too many, and stacked along the last axis. */
static bool is_woven(const nd4c_call *call, int32_t axis) {
  const nd4c_tensor *y = &call->outputs[0];
  bool woven = axis == y->rank - 1 && call->input_count >= 2 && call->input_count <= MOST_WOVEN;
  woven = woven && (y->flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  for (int32_t i = 0; i < call->input_count; i++) {
    woven = woven && (call->inputs[i].flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  }
  return woven;
}

static nd4c_status run_stack(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, stack_axis), y->rank);
  int64_t strides[ND4C_CPU_MAX_RANK];
  if (is_woven(call, axis)) {
    weave_job job = {call, nd4c_cpu_dtype_bytes(y->dtype)};
    if (y->size > 0) {
      nd4c_cpu_parallel(call->inputs[0].size, WORTH_BYTES / job.bytes, call->width, weave_range, &job);
    }
    return ND4C_OK;
  }
  for (int32_t i = 0; i + 1 < y->rank; i++) {
    strides[i] = y->strides[i < axis ? i : i + 1];
  }
  for (int32_t i = 0; i < call->input_count; i++) {
    nd4c_tensor part = call->inputs[i];
    part.strides = strides;
    part.data = y->size > 0 ? (char *)y->data + i * y->strides[axis] * nd4c_cpu_dtype_bytes(y->dtype) : y->data;
    nd4c_nest_copy_tensor(&call->inputs[i], &part, call->width);
  }
  return ND4C_OK;
}

/* -- one_hot ------------------------------------------------------------------------------------------------------- */

typedef struct one_hot_job {
  const nd4c_tensor *indices;
  char *y;
  int64_t depth, bytes;
  filler off;
  char on[16];
} one_hot_job;

static void one_hot_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const one_hot_job *job = user;
  int64_t pitch = job->depth * job->bytes;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    char *y = job->y + i * pitch;
    int64_t index = nd4c_ref_index(job->indices->dtype, job->indices->data, i);
    fill(&job->off, y, pitch);
    index += index < 0 ? job->depth : 0;
    if (index >= 0 && index < job->depth) {
      memcpy(y + index * job->bytes, job->on, (size_t)job->bytes);
    }
  }
}

static bool usable_one_hot(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *indices = &call->inputs[0], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(indices->dtype != ND4C_INT64 && indices->dtype != ND4C_INT32,
                      "indices are neither int32 nor int64");
  ND4C_CPU_DECLINE_IF((indices->flags & y->flags & ND4C_TENSOR_CONTIGUOUS) == 0 ||
                          nd4c_axis(ND4C_INT_OF(call, one_hot_axis), y->rank) != y->rank - 1,
                      "an operand is not contiguous, or the new axis not the last");
  ND4C_CPU_DECLINE_IF(nd4c_cpu_dtype_bytes(y->dtype) == 0, "elements that are not whole bytes");
  return true;
}

static nd4c_status run_one_hot(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0], *values = nd4c_cpu_input(call, ND4C_IN_one_hot_values);
  one_hot_job job = {.indices = &call->inputs[0],
                     .y = y->data,
                     .depth = y->shape[y->rank - 1],
                     .bytes = nd4c_cpu_dtype_bytes(y->dtype)};
  char off[16];
  nd4c_ref_number(y->dtype, 0, off);
  nd4c_ref_number(y->dtype, 1, job.on);
  if (values != NULL) {
    memcpy(off, values->data, (size_t)job.bytes);
    memcpy(job.on, (const char *)values->data + values->strides[0] * job.bytes, (size_t)job.bytes);
  }
  filler_make(&job.off, off, job.bytes);
  if (y->size > 0) {
    nd4c_cpu_parallel(job.indices->size, WORTH_BYTES / (job.depth * job.bytes) + 1, call->width, one_hot_rows, &job);
  }
  return ND4C_OK;
}

/* -- index_fill ---------------------------------------------------------------------------------------------------- */

typedef struct fill_job {
  const nd4c_call *call;
  int32_t axis;
  int64_t block; /* bytes */
  filler value;
} fill_job;

/* Slices at all indices of the positions [begin, end) of the axes before. */
static void fill_slices(void *user, int64_t begin, int64_t end, int32_t worker) {
  const fill_job *job = user;
  const nd4c_tensor *indices = &job->call->inputs[1], *y = &job->call->outputs[0];
  const int64_t extent = y->shape[job->axis];
  (void)worker;
  for (int64_t outer = begin; outer < end; outer++) {
    char *slices = (char *)y->data + outer * extent * job->block;
    for (int64_t i = 0; i < indices->size; i++) {
      const int64_t index = nd4c_ref_index(indices->dtype, indices->data, i);
      fill(&job->value, slices + (index < 0 ? index + extent : index) * job->block, job->block);
    }
  }
}

static bool usable_index_fill(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->inputs[1].flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0,
                      "indices or the output are not contiguous");
  ND4C_CPU_DECLINE_IF(call->inputs[2].dtype != call->outputs[0].dtype, "value has another dtype");
  return true;
}

static nd4c_status run_index_fill(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *indices = &call->inputs[1], *y = &call->outputs[0];
  fill_job job = {.call = call,
                  .axis = nd4c_axis(ND4C_INT_OF(call, index_fill_axis), y->rank),
                  .block = nd4c_cpu_dtype_bytes(y->dtype)};
  int64_t outer = 1;
  ND4C_BACKEND_TRY(nd4c_cpu_check_indices(call, 1, job.axis, y->shape[job.axis]));
  for (int32_t i = 0; i < y->rank; i++) {
    outer *= i < job.axis ? y->shape[i] : 1;
    job.block *= i > job.axis ? y->shape[i] : 1;
  }
  filler_make(&job.value, call->inputs[2].data, nd4c_cpu_dtype_bytes(y->dtype));
  if (x->data != y->data) { /* in place both are the same view */
    nd4c_nest_copy_tensor(x, y, call->width);
  }
  if (y->size > 0 && indices->size > 0) {
    nd4c_cpu_parallel(outer, WORTH_BYTES / (indices->size * (job.block + 8)) + 1, call->width, fill_slices, &job);
  }
  return ND4C_OK;
}

/* -- sequence_mask ------------------------------------------------------------------------------------------------- */

typedef struct mask_job {
  const nd4c_call *call;
  filler off, on;
} mask_job;

static void mask_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const mask_job *job = user;
  const nd4c_tensor *lengths = &job->call->inputs[0], *y = &job->call->outputs[0];
  const int64_t bytes = nd4c_cpu_dtype_bytes(y->dtype), most = y->shape[y->rank - 1];
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    const int64_t length = nd4c_ref_index(lengths->dtype, lengths->data, row);
    const int64_t on = length < 0 ? 0 : length < most ? length : most;
    char *to = (char *)y->data + row * most * bytes;
    fill(&job->on, to, on * bytes);
    fill(&job->off, to + on * bytes, (most - on) * bytes);
  }
}

static bool usable_sequence_mask(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->inputs[0].flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0,
                      "an operand is not contiguous");
  return true;
}

static nd4c_status run_sequence_mask(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  const int64_t bytes = nd4c_cpu_dtype_bytes(y->dtype);
  mask_job job = {.call = call};
  char off[16], on[16];
  nd4c_ref_number(y->dtype, 0, off);
  nd4c_ref_number(y->dtype, 1, on);
  filler_make(&job.off, off, bytes);
  filler_make(&job.on, on, bytes);
  if (y->size > 0) {
    nd4c_cpu_parallel(call->inputs[0].size, WORTH_BYTES / (y->shape[y->rank - 1] * bytes) + 1, call->width, mask_rows,
                      &job);
  }
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_indexing_arrangement_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(pad, ND4C_CPU_MOVABLE, usable_continued, run_pad),
    ND4C_CPU_SIMD_KERNEL(roll, ND4C_CPU_MOVABLE, usable_continued, run_roll),
    ND4C_CPU_SIMD_KERNEL(tile, ND4C_CPU_MOVABLE, usable_continued, run_tile),
    ND4C_CPU_SIMD_KERNEL(stack, ND4C_CPU_MOVABLE, nd4c_simd_joins, run_stack),
    ND4C_CPU_SIMD_KERNEL(fftshift, ND4C_CPU_ALL, usable_continued, run_fftshift),
    ND4C_CPU_SIMD_KERNEL(ifftshift, ND4C_CPU_ALL, usable_continued, run_fftshift),
    ND4C_CPU_SIMD_KERNEL(index_fill, ND4C_CPU_MOVABLE, usable_index_fill, run_index_fill),
    ND4C_CPU_SIMD_KERNEL(sequence_mask, ND4C_CPU_INTS, usable_sequence_mask, run_sequence_mask),
    ND4C_CPU_SIMD_KERNEL(one_hot, ND4C_CPU_INTS, usable_one_hot, run_one_hot),
    NULL};
