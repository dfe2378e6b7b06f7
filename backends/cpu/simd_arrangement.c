/* Engine simd: padding, rolling and tiling of contiguous arrays, stacking, one-hot rows. */
#include <string.h>

#include "backends/cpu/nest.h"
#include "backends/cpu/reference.h"
#include "backends/cpu/simd.h"
#include "kernels/reference/arrange.h"
#include "kernels/reference/parts.h"

enum {
  WORTH_BYTES = 65536, /* what is worth another thread */
  BUFFER_BYTES = 16384 /* rows that are streamed are made there */
};

/* -- rows that continue x ------------------------------------------------------------------------------------------ */

/* y [axes..., units of `unit` bytes], x likewise; position j of an axis of y shows position j - begin of x, continued
 * by the mode. The last axis is the row. */
typedef struct continued {
  nd4c_ref_pad_mode mode;
  const char *x, *value; /* value: of one unit's elements, where the mode is constant */
  char *y;
  int32_t rank;
  int64_t bytes, unit; /* of an element; of a unit */
  int64_t from[ND4C_CPU_MAX_RANK], to[ND4C_CPU_MAX_RANK], begin[ND4C_CPU_MAX_RANK];
  int64_t pitch[ND4C_CPU_MAX_RANK]; /* of x, bytes */
  bool stream;
} continued;

/* Axes that are not padded join those before them: the last ones into the unit. */
static void continued_make(continued *c, const nd4c_tensor *x, const nd4c_tensor *y, const int64_t *begin) {
  int32_t missing = y->rank - x->rank, last = y->rank - 1;
  int64_t pitch;
  c->bytes = c->unit = nd4c_cpu_dtype_bytes(x->dtype);
  c->x = x->data;
  c->y = y->data;
  c->rank = 0;
  for (; last >= missing && begin[last] == 0 && x->shape[last - missing] == y->shape[last]; last--)
    c->unit *= y->shape[last];
  for (int32_t i = 0; i <= last; i++) {
    int64_t extent = i < missing ? 1 : x->shape[i - missing];
    bool whole = begin[i] == 0 && extent == y->shape[i];
    bool joins = whole && c->rank > 0 && c->begin[c->rank - 1] == 0 && c->from[c->rank - 1] == c->to[c->rank - 1];
    int32_t at = joins ? c->rank - 1 : c->rank++;
    c->from[at] = joins ? c->from[at] * extent : extent;
    c->to[at] = joins ? c->to[at] * extent : y->shape[i];
    c->begin[at] = begin[i];
  }
  if (c->rank == 0)
    c->from[c->rank] = c->to[c->rank] = 1, c->begin[c->rank] = 0, c->rank = 1;
  pitch = c->unit;
  for (int32_t i = c->rank - 1; i >= 0; i--) {
    c->pitch[i] = pitch;
    pitch *= c->from[i];
  }
  c->stream = y->size > nd4c_simd_stream_bytes / c->bytes;
}

static int64_t modulo(int64_t a, int64_t n) {
  int64_t rest = a % n;
  return rest < 0 ? rest + n : rest;
}

/* What is shown from position j of an axis of x with n elements on: where it stands (-1: the value), the step, and for
 * how many positions that holds. */
static int64_t run_at(nd4c_ref_pad_mode mode, int64_t n, int64_t j, int64_t *from, int64_t *step) {
  *from = j;
  *step = 1;
  if (j >= 0 && j < n)
    return n - j;
  int64_t beyond = j < 0 ? -j : INT64_MAX;
  if (mode == ND4C_REF_PAD_CONSTANT || mode == ND4C_REF_PAD_EDGE || (mode == ND4C_REF_PAD_REFLECT && n == 1)) {
    *from = mode == ND4C_REF_PAD_CONSTANT ? -1 : j < 0 ? 0 : n - 1;
    *step = 0;
    return beyond;
  }
  int64_t period = mode == ND4C_REF_PAD_WRAP ? n : mode == ND4C_REF_PAD_SYMMETRIC ? 2 * n : 2 * (n - 1);
  int64_t place = modulo(j, period);
  *step = place < n ? 1 : -1;
  *from = place < n ? place : mode == ND4C_REF_PAD_SYMMETRIC ? 2 * n - 1 - place : period - place;
  return place < n ? n - place : period - place;
}

/* `count` elements of the value. */
static void fill(const continued *c, char *to, int64_t bytes) {
  int64_t done = c->bytes < bytes ? c->bytes : bytes;
  if (bytes == c->bytes) {
    nd4c_ref_move_one(bytes, c->value, to);
    return;
  }
  if (memcmp(c->value, (const char[16]){0}, (size_t)c->bytes) == 0) {
    memset(to, 0, (size_t)bytes);
    return;
  }
  memcpy(to, c->value, (size_t)done);
  while (done < bytes) {
    int64_t more = done < bytes - done ? done : bytes - done;
    memcpy(to + done, to, (size_t)more);
    done += more;
  }
}

/* Units one after the other in steps of 0 or -1. */
static void copy_units(const continued *c, int64_t count, const char *from, int64_t step, char *to) {
  for (int64_t i = 0; i < count; i++)
    nd4c_ref_move_one(c->unit, from + i * step * c->unit, to + i * c->unit);
}

/* Short runs without a call: the last 16 bytes may overlap those before. */
static inline void copy_run(char *to, const char *from, int64_t bytes) {
  if (bytes < 16 || bytes > 512) {
    memcpy(to, from, (size_t)bytes);
    return;
  }
  for (int64_t i = 0; i + 16 <= bytes; i += 16)
    memcpy(to + i, from + i, 16);
  memcpy(to + bytes - 16, from + bytes - 16, 16);
}

/* Positions [begin, end) of a row whose x begins at `row` (NULL: nothing but the value). */
static void make_row(const continued *c, const char *row, int64_t begin, int64_t end, char *to) {
  int32_t last = c->rank - 1;
  int64_t n = c->from[last], count;
  if (row == NULL) {
    fill(c, to, (end - begin) * c->unit);
    return;
  }
  for (int64_t j = begin; j < end; j += count, to += count * c->unit) {
    int64_t from, step;
    count = run_at(c->mode, n, j - c->begin[last], &from, &step);
    count = count < end - j ? count : end - j;
    if (c->mode == ND4C_REF_PAD_WRAP && j >= begin + n) { /* what stands a period before, twice as much each time */
      int64_t ready = (j - begin) / n * n, rest = end - j;
      count = ready < rest ? ready : rest;
      memcpy(to, to - ready * c->unit, (size_t)(count * c->unit));
    } else if (from < 0)
      fill(c, to, count * c->unit);
    else if (step == 1)
      copy_run(to, row + from * c->unit, count * c->unit);
    else
      copy_units(c, count, row + from * c->unit, step, to);
  }
}

/* Where x's row for a row of y begins; NULL where only the value is shown. */
static const char *row_of(const continued *c, int64_t row) {
  const char *x = c->x;
  for (int32_t i = c->rank - 2; i >= 0; i--) {
    int64_t from, step;
    (void)run_at(c->mode, c->from[i], row % c->to[i] - c->begin[i], &from, &step);
    row /= c->to[i];
    if (from < 0)
      return NULL;
    x += from * c->pitch[i];
  }
  return x;
}

/* Positions [begin, end) of y in order, made at `to`. */
static void make_positions(const continued *c, int64_t begin, int64_t end, char *to) {
  int64_t length = c->to[c->rank - 1];
  while (begin < end) {
    int64_t first = begin % length, left = length - first < end - begin ? length - first : end - begin;
    make_row(c, row_of(c, begin / length), first, first + left, to);
    begin += left;
    to += left * c->unit;
  }
}

static void make_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const continued *c = user;
  int64_t most = BUFFER_BYTES / c->unit;
  _Alignas(64) char buffer[BUFFER_BYTES];
  (void)worker;
  if (!c->stream || most == 0) {
    make_positions(c, begin, end, c->y + begin * c->unit);
    return;
  }
  for (int64_t i = begin, count; i < end; i += count) {
    count = end - i < most ? end - i : most;
    make_positions(c, i, i + count, buffer);
    nd4c_simd.move->stream(count * c->unit, buffer, c->y + i * c->unit);
  }
  nd4c_simd.move->stream_fence();
}

static void continued_run(const nd4c_call *call, continued *c) {
  int64_t positions = 1;
  for (int32_t i = 0; i < c->rank; i++)
    positions *= c->to[i];
  if (call->outputs[0].size > 0)
    nd4c_cpu_parallel(positions, WORTH_BYTES / c->unit + 1, call->width, make_range, c);
}

static bool usable_continued(const nd4c_call *call, char *reason, size_t reason_size) {
  if ((call->inputs[0].flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0)
    return nd4c_cpu_decline(reason, reason_size, "an operand is not contiguous");
  if (call->inputs[0].size == 0)
    return nd4c_cpu_decline(reason, reason_size, "x has no elements");
  return true;
}

static nd4c_status run_pad(const nd4c_call *call) {
  static const char zero[16];
  const nd4c_tensor *x = &call->inputs[0], *value = nd4c_cpu_input(call, ND4C_IN_pad_value);
  const nd4c_attr_value *pads = &call->attrs[ND4C_ATTR_pad_pads], *axes = &call->attrs[ND4C_ATTR_pad_axes];
  int64_t begin[ND4C_CPU_MAX_RANK] = {0};
  continued c = {.mode = (nd4c_ref_pad_mode)call->attrs[ND4C_ATTR_pad_mode].as.i,
                 .value = value != NULL ? value->data : zero};
  for (int32_t i = 0; i < pads->count / 2; i++)
    begin[axes->count == 0 ? i : nd4c_cpu_axis(axes->as.ints[i], x->rank)] = pads->as.ints[i];
  continued_make(&c, x, &call->outputs[0], begin);
  continued_run(call, &c);
  return ND4C_OK;
}
ND4C_CPU_SIMD_KERNEL(pad, ND4C_CPU_MOVABLE, usable_continued, run_pad)

static nd4c_status run_roll(const nd4c_call *call) {
  const nd4c_attr_value *shifts = &call->attrs[ND4C_ATTR_roll_shifts], *axes = &call->attrs[ND4C_ATTR_roll_axes];
  nd4c_tensor x = call->inputs[0], y = call->outputs[0];
  int64_t begin[ND4C_CPU_MAX_RANK] = {0};
  continued c = {.mode = ND4C_REF_PAD_WRAP};
  for (int32_t i = 0; i < axes->count; i++) {
    int32_t axis = nd4c_cpu_axis(axes->as.ints[i], x.rank);
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
ND4C_CPU_SIMD_KERNEL(roll, ND4C_CPU_MOVABLE, usable_continued, run_roll)

static nd4c_status run_tile(const nd4c_call *call) {
  static const int64_t begin[ND4C_CPU_MAX_RANK];
  continued c = {.mode = ND4C_REF_PAD_WRAP};
  continued_make(&c, &call->inputs[0], &call->outputs[0], begin);
  continued_run(call, &c);
  return ND4C_OK;
}
ND4C_CPU_SIMD_KERNEL(tile, ND4C_CPU_MOVABLE, usable_continued, run_tile)

/* -- repeat -------------------------------------------------------------------------------------------------------- */

static void copy(const nd4c_tensor *from, const nd4c_tensor *to, int32_t width) {
  nd4c_nest nest;
  nd4c_nest_start(&nest, to);
  nd4c_nest_add(&nest, from, to);
  nd4c_nest_finish(&nest);
  nd4c_nest_copy(&nest, width);
}

static bool usable_repeat(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0];
  if (nd4c_cpu_input(call, ND4C_IN_repeat_counts) != NULL || call->attrs[ND4C_ATTR_repeat_repeats].count != 1)
    return nd4c_cpu_decline(reason, reason_size, "a number for each slice");
  if (call->attrs[ND4C_ATTR_repeat_axes].count == 0 && (x->flags & ND4C_TENSOR_CONTIGUOUS) == 0)
    return nd4c_cpu_decline(reason, reason_size, "all of an array that is not contiguous");
  if (x->rank == ND4C_CPU_MAX_RANK)
    return nd4c_cpu_decline(reason, reason_size, "too many axes");
  return true;
}

/* The axis of y is two: x's own, and the copies of each slice. */
static nd4c_status run_repeat(const nd4c_call *call) {
  static const int64_t one = 1;
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_repeat_axes];
  int64_t count = call->attrs[ND4C_ATTR_repeat_repeats].as.ints[0], shape[ND4C_CPU_MAX_RANK];
  int64_t from[ND4C_CPU_MAX_RANK], to[ND4C_CPU_MAX_RANK];
  nd4c_tensor x = call->inputs[0], y = call->outputs[0];
  int32_t axis = axes->count == 0 ? 0 : nd4c_cpu_axis(axes->as.ints[0], x.rank);
  if (axes->count == 0) {
    x.rank = 1;
    x.shape = &x.size;
    x.strides = &one;
  }
  for (int32_t i = 0; i < x.rank; i++) {
    shape[i + (i > axis)] = x.shape[i];
    from[i + (i > axis)] = x.strides[i];
    to[i + (i > axis)] = y.strides[i];
  }
  shape[axis + 1] = count;
  from[axis + 1] = 0;
  to[axis + 1] = y.strides[axis];
  to[axis] = y.strides[axis] * count;
  x.rank = y.rank = x.rank + 1;
  x.shape = y.shape = shape;
  x.strides = from;
  y.strides = to;
  x.size = y.size;
  copy(&x, &y, call->width);
  return ND4C_OK;
}
ND4C_CPU_SIMD_KERNEL(repeat, ND4C_CPU_MOVABLE, usable_repeat, run_repeat)

/* -- stack --------------------------------------------------------------------------------------------------------- */

static bool usable_stack(const nd4c_call *call, char *reason, size_t reason_size) {
  for (int32_t i = 0; i < call->input_count; i++)
    if (call->inputs[i].dtype != call->outputs[0].dtype)
      return nd4c_cpu_decline(reason, reason_size, "operands of different dtypes");
  return true;
}

typedef struct weave_job {
  const nd4c_call *call;
  int64_t bytes;
} weave_job;

static void weave_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const weave_job *job = user;
  int64_t lanes = job->call->input_count;
  const void *from[ND4C_LANES];
  (void)worker;
  for (int64_t k = 0; k < lanes; k++)
    from[k] = (const char *)job->call->inputs[k].data + begin * job->bytes;
  nd4c_simd.transpose->interleave[job->bytes](end - begin, lanes, from,
                                              (char *)job->call->outputs[0].data + begin * lanes * job->bytes);
}

/* A few contiguous arrays along the last axis. */
static bool is_woven(const nd4c_call *call, int32_t axis) {
  const nd4c_tensor *y = &call->outputs[0];
  bool woven = axis == y->rank - 1 && call->input_count >= 2 && call->input_count <= ND4C_LANES;
  woven = woven && (y->flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  for (int32_t i = 0; i < call->input_count; i++)
    woven = woven && (call->inputs[i].flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  return woven;
}

static nd4c_status run_stack(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_cpu_axis(call->attrs[ND4C_ATTR_stack_axis].as.i, y->rank);
  int64_t strides[ND4C_CPU_MAX_RANK];
  if (is_woven(call, axis)) {
    weave_job job = {call, nd4c_cpu_dtype_bytes(y->dtype)};
    if (y->size > 0)
      nd4c_cpu_parallel(call->inputs[0].size, WORTH_BYTES / job.bytes, call->width, weave_range, &job);
    return ND4C_OK;
  }
  for (int32_t i = 0; i + 1 < y->rank; i++)
    strides[i] = y->strides[i < axis ? i : i + 1];
  for (int32_t i = 0; i < call->input_count; i++) {
    nd4c_tensor part = call->inputs[i];
    part.strides = strides;
    part.data = y->size > 0 ? (char *)y->data + i * y->strides[axis] * nd4c_cpu_dtype_bytes(y->dtype) : y->data;
    copy(&call->inputs[i], &part, call->width);
  }
  return ND4C_OK;
}
ND4C_CPU_SIMD_KERNEL(stack, ND4C_CPU_MOVABLE, usable_stack, run_stack)

/* -- one_hot ------------------------------------------------------------------------------------------------------- */

typedef struct one_hot_job {
  const nd4c_tensor *indices;
  char *y;
  int64_t depth, bytes;
  char off[16], on[16];
} one_hot_job;

static void one_hot_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const one_hot_job *job = user;
  const continued row = {.value = job->off, .bytes = job->bytes};
  int64_t pitch = job->depth * job->bytes;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    char *y = job->y + i * pitch;
    int64_t index = nd4c_ref_index(job->indices->dtype, job->indices->data, i);
    fill(&row, y, pitch);
    index += index < 0 ? job->depth : 0;
    if (index >= 0 && index < job->depth)
      memcpy(y + index * job->bytes, job->on, (size_t)job->bytes);
  }
}

static bool usable_one_hot(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *indices = &call->inputs[0], *y = &call->outputs[0];
  if (indices->dtype != ND4C_INT64 && indices->dtype != ND4C_INT32)
    return nd4c_cpu_decline(reason, reason_size, "indices are neither int32 nor int64");
  if ((indices->flags & y->flags & ND4C_TENSOR_CONTIGUOUS) == 0 ||
      nd4c_cpu_axis(call->attrs[ND4C_ATTR_one_hot_axis].as.i, y->rank) != y->rank - 1)
    return nd4c_cpu_decline(reason, reason_size, "an operand is not contiguous, or the new axis not the last");
  return true;
}

static nd4c_status run_one_hot(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0], *values = nd4c_cpu_input(call, ND4C_IN_one_hot_values);
  one_hot_job job = {.indices = &call->inputs[0],
                     .y = y->data,
                     .depth = y->shape[y->rank - 1],
                     .bytes = nd4c_cpu_dtype_bytes(y->dtype)};
  nd4c_ref_number(y->dtype, 0, job.off);
  nd4c_ref_number(y->dtype, 1, job.on);
  if (values != NULL) {
    memcpy(job.off, values->data, (size_t)job.bytes);
    memcpy(job.on, (const char *)values->data + values->strides[0] * job.bytes, (size_t)job.bytes);
  }
  if (y->size > 0)
    nd4c_cpu_parallel(job.indices->size, WORTH_BYTES / (job.depth * job.bytes) + 1, call->width, one_hot_rows, &job);
  return ND4C_OK;
}
ND4C_CPU_SIMD_KERNEL(one_hot, ND4C_CPU_INTS, usable_one_hot, run_one_hot)

const nd4c_kernel *const nd4c_cpu_simd_arrangement_kernels[] = {&simd_pad,   &simd_roll,    &simd_tile, &simd_repeat,
                                                                &simd_stack, &simd_one_hot, NULL};
