/* Normalisations and softmax of engine simd: f32 and f64, where the axis that is walked, or its neighbour, lies without
 * gaps. Rows of 16-bit floats (softmax, layer_norm, rms_norm) are widened, computed in f32 and rounded; batch_norm of
 * bfloat16 has factors and summands of f32. dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>
#include <string.h>

#include "backends/cpu/simd/rows.h"
#include "kernels/cpu/support/level.h"

/* Rows that are streamed past the caches are computed in a buffer. Columns of a softmax are computed in blocks, whose
 * rows are prefetched FORESEEN rows ahead. */
enum { ROW_BYTES = 32768, COLUMNS = ND4C_GATHER_COLUMNS, ROWS = ND4C_GATHER_ROWS, FORESEEN = 4 };
/* Fewer short rows are computed one by one. */
enum { FEW_ROWS = 8 };
enum { WIDE_ROW = ROW_BYTES / sizeof(float) }; /* 16-bit floats of a row that is widened */

enum { SCALE, BIAS, MEAN, VARIANCE, AFFINE_OPERANDS };

/* A call as its ranges see it. */
typedef struct job {
  const nd4c_normalization_loops *loops;
  nd4c_simd_rows rows;
  const char *x;
  char *y;
  int64_t bytes;                 /* of an element */
  int64_t length;                /* of what one loop walks */
  int64_t x_step, y_step, width; /* columns side by side; width 0: rows */
  bool logarithm, rms;
  bool half;      /* 16-bit floats */
  bool stream;    /* rows of the result */
  int64_t blocks; /* of columns */
  nd4c_dtype dtype;
  double epsilon;
  const char *scale, *bias; /* per element of a row, or NULL */
  const char *a, *b;        /* batch_norm: per channel; those of bfloat16 are of f32 */
  nd4c_lrn_parameters lrn;
} job;

static job job_make(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t bytes = nd4c_cpu_dtype_bytes(y->dtype);
  return (job){.loops = nd4c_simd_row_loops(bytes == 2 ? ND4C_FLOAT32 : y->dtype),
               .x = x->data,
               .y = y->data,
               .bytes = bytes,
               .half = bytes == 2,
               .dtype = y->dtype};
}

static void widen(const job *j, int64_t n, const char *x, float *wide) {
  nd4c_simd.cast->loops[j->dtype][ND4C_FLOAT32](n, x, wide);
}

static void narrow(const job *j, int64_t n, const float *wide, char *y) {
  nd4c_simd.cast->loops[ND4C_FLOAT32][j->dtype](n, wide, y);
}

/* Whether rows of 16-bit floats are too long for the buffer. */
static bool too_long(const nd4c_call *call, int64_t length) {
  return nd4c_cpu_dtype_bytes(call->outputs[0].dtype) == 2 && length > WIDE_ROW;
}

/* -- softmax ---------------------------------------------------------------------------------------------------- */

/* Plans rows along the axis, or neighbouring columns along the last axis. False if both have gaps. */
static bool softmax_plan(const nd4c_call *call, job *j) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, softmax_axis), x->rank), last = x->rank - 1;
  j->length = x->shape[axis];
  if (nd4c_simd_dense_axis(x, axis) && nd4c_simd_dense_axis(y, axis)) {
    nd4c_simd_rows_make(&j->rows, x, y, 1u << axis);
    return true;
  }
  if (axis == last || !nd4c_simd_dense_axis(x, last) || !nd4c_simd_dense_axis(y, last)) {
    return false;
  }
  uint32_t skip = 0;
  j->width = nd4c_simd_run(x, y, axis + 1, &skip);
  j->x_step = x->strides[axis];
  j->y_step = y->strides[axis];
  nd4c_simd_rows_make(&j->rows, x, y, skip | 1u << axis);
  return true;
}

static bool softmax_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  job j = {.width = 0};
  ND4C_CPU_DECLINE_IF(call->outputs[0].size == 0, "the result is empty");
  ND4C_CPU_DECLINE_IF(!softmax_plan(call, &j), "neither the axis nor the last one lies without gaps");
  return j.width > 0 || !too_long(call, j.length) ||
         nd4c_cpu_decline(reason, reason_size, "rows of 16-bit floats are at most %d", (int)WIDE_ROW);
}

/* Where a row is computed (in the buffer if it is streamed); row_finish then streams it to its place. */
static char *row_target(const job *j, char *to, char *buffer) {
  return j->stream ? buffer : to;
}

static void row_finish(const job *j, char *to, const char *buffer) {
  if (j->stream) {
    nd4c_simd.move->stream(j->length * j->bytes, buffer, to);
  }
}

static void rows_finish(const job *j) {
  if (j->stream) {
    nd4c_simd.move->stream_fence();
  }
}

static bool should_stream(const job *j, const nd4c_tensor *y) {
  return y->size > nd4c_simd_stream_bytes / j->bytes && j->length * j->bytes <= ROW_BYTES &&
         j->length * j->bytes >= 8 * ND4C_CPU_CACHE_LINE && j->x != j->y;
}

/* n columns beside each other: the largest and the sums of all first, in blocks of rows, then the results. */
static void softmax_columns(const job *j, int64_t n, const char *x, char *y) {
  double largest[COLUMNS], sum[COLUMNS], unused[COLUMNS];
  _Alignas(64) char buffer[8 * COLUMNS];
  _Alignas(64) float wide[COLUMNS], narrow_tops[COLUMNS], narrow_rest[COLUMNS];
  const nd4c_moments_loops *gather = &nd4c_simd.moments->exponentials[j->dtype];
  for (int64_t row = 0; row < j->length; row += ROWS) {
    int64_t rows = j->length - row < ROWS ? j->length - row : ROWS;
    gather->block(rows, n, x + row * j->x_step * j->bytes, j->x_step * j->bytes, row,
                  (nd4c_gathered){largest, sum, unused});
  }
  for (int64_t i = 0; i < n; i++) {
    sum[i] = !isfinite(largest[i]) ? (double)NAN : j->logarithm ? log(sum[i]) : 1 / sum[i];
  }
  const void *tops = largest, *rest = sum;
  if (j->dtype != ND4C_FLOAT64) {
    nd4c_simd.cast->loops[ND4C_FLOAT64][ND4C_FLOAT32](n, largest, narrow_tops);
    nd4c_simd.cast->loops[ND4C_FLOAT64][ND4C_FLOAT32](n, sum, narrow_rest);
    tops = narrow_tops, rest = narrow_rest;
  }
  for (int64_t row = 0; row < j->length; row++) {
    char *to = y + row * j->y_step * j->bytes;
    const char *from = x + row * j->x_step * j->bytes;
    for (int64_t i = 0; i < n * j->bytes; i += ND4C_CPU_CACHE_LINE) { /* short pieces far apart are not foreseen */
      ND4C_PREFETCH((uintptr_t)from + FORESEEN * (uintptr_t)j->x_step * (uintptr_t)j->bytes + (uintptr_t)i);
    }
    if (j->half) {
      widen(j, n, from, wide);
      j->loops->softmax_finish(n, wide, tops, rest, wide, j->logarithm);
      narrow(j, n, wide, row_target(j, to, buffer));
    } else {
      j->loops->softmax_finish(n, from, tops, rest, row_target(j, to, buffer), j->logarithm);
    }
    if (j->stream) {
      nd4c_simd.move->stream(n * j->bytes, buffer, to);
    }
  }
}

static void softmax_row(const job *j, const char *x, char *y) {
  if (!j->half) {
    j->loops->softmax(j->length, x, y, j->logarithm);
    return;
  }
  _Alignas(64) float wide[WIDE_ROW];
  widen(j, j->length, x, wide);
  j->loops->softmax(j->length, wide, wide, j->logarithm);
  narrow(j, j->length, wide, y);
}

static void softmax_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  _Alignas(64) char buffer[ROW_BYTES];
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t x, y, column = i % j->blocks * COLUMNS;
    nd4c_simd_rows_at(&j->rows, i / j->blocks, &x, &y);
    const char *from = j->x + x * j->bytes;
    char *to = j->y + y * j->bytes;
    if (j->width == 0) {
      softmax_row(j, from, row_target(j, to, buffer));
      row_finish(j, to, buffer);
    } else {
      int64_t n = j->width - column < COLUMNS ? j->width - column : COLUMNS;
      softmax_columns(j, n, from + column * j->bytes, to + column * j->bytes);
    }
  }
  rows_finish(j);
}

/* Whether rows are short and lie one behind the other: many are computed side by side then. */
static bool rows_are_short(const job *j) {
  const nd4c_simd_rows *rows = &j->rows;
  return j->width == 0 && !j->half && j->length > 1 && j->length <= ND4C_SHORT_ROW && rows->count >= FEW_ROWS &&
         rows->rank == 1 && rows->x_strides[0] == j->length && rows->y_strides[0] == j->length;
}

static void softmax_short_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const int64_t first = begin * ND4C_SHORT_ROWS, last = end * ND4C_SHORT_ROWS, at = first * j->length * j->bytes;
  (void)worker;
  j->loops->softmax_short((last < j->rows.count ? last : j->rows.count) - first, j->length, j->x + at, j->y + at,
                          j->logarithm);
}

static nd4c_status softmax_any(const nd4c_call *call, bool logarithm) {
  job j = job_make(call);
  j.logarithm = logarithm;
  softmax_plan(call, &j);
  if (rows_are_short(&j)) {
    nd4c_cpu_parallel(nd4c_cpu_divide_up(j.rows.count, ND4C_SHORT_ROWS),
                      nd4c_simd_grain(2 * j.length * ND4C_SHORT_ROWS), call->width, softmax_short_range, &j);
    return ND4C_OK;
  }
  j.blocks = j.width > 0 ? (j.width + COLUMNS - 1) / COLUMNS : 1;
  j.stream = j.width > 0 ? call->outputs[0].size > nd4c_simd_stream_bytes / j.bytes && j.x != j.y && j.width >= 128
                         : should_stream(&j, &call->outputs[0]);
  int64_t work = 4 * j.length * (j.width > COLUMNS ? COLUMNS : j.width > 0 ? j.width : 1);
  nd4c_cpu_parallel(j.rows.count * j.blocks, nd4c_simd_grain(work), call->width, softmax_range, &j);
  return ND4C_OK;
}

static nd4c_status softmax_run(const nd4c_call *call) {
  return softmax_any(call, false);
}

static nd4c_status log_softmax_run(const nd4c_call *call) {
  return softmax_any(call, true);
}

/* -- layer_norm ------------------------------------------------------------------------------------------------- */

static bool contiguous(const nd4c_tensor *tensor, int64_t size) {
  int64_t run = 1;
  for (int32_t axis = tensor->rank - 1; axis >= 0; axis--) {
    if (tensor->shape[axis] != 1 && tensor->strides[axis] != run) {
      return false;
    }
    run *= tensor->shape[axis];
  }
  return run == size;
}

static bool layer_norm_plan(const nd4c_call *call, job *j) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, layer_norm_axis), x->rank);
  uint32_t skip = 0, wanted = 0;
  j->length = nd4c_simd_run(x, y, axis, &skip);
  for (int32_t i = axis; i < x->rank; i++) {
    wanted |= 1u << i;
  }
  nd4c_simd_rows_make(&j->rows, x, y, wanted);
  return j->length > 0 && skip == wanted;
}

static bool layer_norm_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  job j = {.width = 0};
  ND4C_CPU_DECLINE_IF(call->outputs[0].size == 0, "the result is empty");
  ND4C_CPU_DECLINE_IF(!layer_norm_plan(call, &j), "the normalised axes have gaps");
  ND4C_CPU_DECLINE_IF(too_long(call, j.length), "rows of 16-bit floats are at most %d", (int)WIDE_ROW);
  const nd4c_tensor *scale = nd4c_cpu_input(call, ND4C_IN_layer_norm_scale);
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_layer_norm_bias);
  ND4C_CPU_DECLINE_IF((scale != NULL && !contiguous(scale, j.length)) || (bias != NULL && !contiguous(bias, j.length)),
                      "scale or bias is broadcast or has gaps");
  return true;
}

/* layer_norm in double; y may be x. */
static void norm_large_row(const job *j, const float *x, const float *scale, const float *bias, float *y) {
  double mean = 0, squares = 0, lesser = 0;
  nd4c_simd.moments->moments[ND4C_FLOAT32].run(j->length, x, 0, (nd4c_gathered){&mean, &squares, &lesser});
  double factor = 1 / sqrt((squares < 0 ? 0 : squares) / (double)j->length + j->epsilon);
  for (int64_t i = 0; i < j->length; i++) {
    double normal = ((double)x[i] - (mean + lesser)) * factor;
    y[i] = (float)(normal * (scale != NULL ? (double)scale[i] : 1) + (bias != NULL ? (double)bias[i] : 0));
  }
}

/* Of f32 or f64. */
static void norm_row(const job *j, nd4c_dtype dtype, const void *x, const void *scale, const void *bias, void *y) {
  if (!j->rms) {
    if (!j->loops->layer_norm(j->length, x, scale, bias, j->epsilon, y)) {
      norm_large_row(j, x, scale, bias, y);
    }
    return;
  }
  double squares;
  nd4c_simd.reduction->loops[ND4C_REDUCE_sum_square][dtype].run(1, j->length, x, 0, &squares);
  j->loops->scale_row(j->length, x, scale, 1 / sqrt(squares / (double)j->length + j->epsilon), y);
}

static void layer_norm_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  _Alignas(64) char buffer[ROW_BYTES];
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    int64_t x, y;
    nd4c_simd_rows_at(&j->rows, row, &x, &y);
    char *to = j->y + y * j->bytes;
    norm_row(j, j->dtype, j->x + x * j->bytes, j->scale, j->bias, row_target(j, to, buffer));
    row_finish(j, to, buffer);
  }
  rows_finish(j);
}

/* Numbers of bfloat16 whose squares leave float32's range. */
static bool is_large(int64_t n, const float *x) {
  uint32_t large = 0;
  for (int64_t i = 0; i < n; i++) {
    large |= fabsf(x[i]) > 1e17f;
  }
  return large != 0;
}

static void half_norm_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  _Alignas(64) char buffer[ROW_BYTES];
  _Alignas(64) float wide[WIDE_ROW], scale[WIDE_ROW], bias[WIDE_ROW];
  (void)worker;
  if (j->scale != NULL) {
    widen(j, j->length, j->scale, scale);
  }
  if (j->bias != NULL) {
    widen(j, j->length, j->bias, bias);
  }
  for (int64_t row = begin; row < end; row++) {
    int64_t x, y;
    nd4c_simd_rows_at(&j->rows, row, &x, &y);
    char *to = j->y + y * j->bytes;
    widen(j, j->length, j->x + x * j->bytes, wide);
    if (!j->rms && is_large(j->length, wide)) {
      norm_large_row(j, wide, j->scale != NULL ? scale : NULL, j->bias != NULL ? bias : NULL, wide);
    } else {
      norm_row(j, ND4C_FLOAT32, wide, j->scale != NULL ? scale : NULL, j->bias != NULL ? bias : NULL, wide);
    }
    narrow(j, j->length, wide, row_target(j, to, buffer));
    row_finish(j, to, buffer);
  }
  rows_finish(j);
}

/* Serves layer_norm and rms_norm, whose first inputs and attributes are the same. */
static nd4c_status norm_rows(const nd4c_call *call, bool rms) {
  job j = job_make(call);
  const nd4c_tensor *scale = nd4c_cpu_input(call, ND4C_IN_layer_norm_scale);
  const nd4c_tensor *bias = rms ? NULL : nd4c_cpu_input(call, ND4C_IN_layer_norm_bias);
  j.scale = scale != NULL ? scale->data : NULL;
  j.bias = bias != NULL ? bias->data : NULL;
  j.rms = rms;
  j.epsilon = ND4C_REAL_OF(call, layer_norm_epsilon);
  layer_norm_plan(call, &j);
  j.stream = should_stream(&j, &call->outputs[0]);
  nd4c_cpu_parallel(j.rows.count, nd4c_simd_grain(3 * j.length), call->width,
                    j.half ? half_norm_range : layer_norm_range, &j);
  return ND4C_OK;
}

static nd4c_status layer_norm_run(const nd4c_call *call) {
  return norm_rows(call, false);
}

static nd4c_status rms_norm_run(const nd4c_call *call) {
  return norm_rows(call, true);
}

/* -- skip_layer_norm ---------------------------------------------------------------------------------------------- */

/* Rows are summed and normalised in a wider dtype: float64, or float32 for 16-bit floats. */
typedef struct skip_job {
  job norm; /* has x and y; its loops are those of `wide` */
  nd4c_dtype wide;
  nd4c_binary_loop add;
  const char *skip, *addend;
  char *sum;
} skip_job;

static nd4c_dtype wider(nd4c_dtype dtype) {
  return nd4c_cpu_dtype_bytes(dtype) == 2 ? ND4C_FLOAT32 : ND4C_FLOAT64;
}

static bool skip_norm_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *skip = &call->inputs[ND4C_IN_skip_layer_norm_skip];
  const int64_t length = x->shape[x->rank - 1], most = ROW_BYTES / nd4c_cpu_dtype_bytes(wider(x->dtype));
  ND4C_CPU_DECLINE_IF(x->size == 0, "the result is empty");
  ND4C_CPU_DECLINE_IF(!contiguous(x, x->size) || !contiguous(skip, x->size) ||
                          !contiguous(&call->outputs[0], x->size) || !contiguous(&call->outputs[1], x->size),
                      "operands with gaps, or a skip that is broadcast");
  ND4C_CPU_DECLINE_IF(length > most, "rows are at most %d", (int)most);
  for (int32_t i = ND4C_IN_skip_layer_norm_scale; i < call->input_count; i++) {
    const nd4c_tensor *operand = nd4c_cpu_input(call, i);
    ND4C_CPU_DECLINE_IF(operand != NULL && !contiguous(operand, length), "a parameter is broadcast or has gaps");
  }
  return true;
}

/* The row in the wider dtype: in the buffer, or where it lies if it has that dtype. */
static const char *row_widened(const skip_job *s, const char *row, char *buffer) {
  if (row == NULL || s->wide == s->norm.dtype) {
    return row;
  }
  nd4c_simd.cast->loops[s->norm.dtype][s->wide](s->norm.length, row, buffer);
  return buffer;
}

static void row_narrowed(const skip_job *s, const char *row, char *to) {
  if (s->wide == s->norm.dtype) {
    memcpy(to, row, (size_t)(s->norm.length * s->norm.bytes));
  } else {
    nd4c_simd.cast->loops[s->wide][s->norm.dtype](s->norm.length, row, to);
  }
}

static void skip_norm_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const skip_job *s = user;
  const job *j = &s->norm;
  _Alignas(64) char sum[ROW_BYTES], other[ROW_BYTES], scales[ROW_BYTES], biases[ROW_BYTES], addends[ROW_BYTES];
  const char *scale = row_widened(s, j->scale, scales), *bias = row_widened(s, j->bias, biases);
  const char *addend = row_widened(s, s->addend, addends);
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    const int64_t at = row * j->length * j->bytes;
    s->add(j->length, row_widened(s, j->x + at, sum), row_widened(s, s->skip + at, other), sum);
    if (addend != NULL) {
      s->add(j->length, sum, addend, sum);
    }
    row_narrowed(s, sum, s->sum + at);
    if (j->half && !j->rms && is_large(j->length, (const float *)(const void *)sum)) {
      norm_large_row(j, (const float *)(const void *)sum, (const float *)(const void *)scale,
                     (const float *)(const void *)bias, (float *)(void *)other);
    } else {
      norm_row(j, s->wide, sum, scale, bias, other);
    }
    row_narrowed(s, other, j->y + at);
  }
}

static nd4c_status skip_norm_run(const nd4c_call *call) {
  skip_job s = {.norm = job_make(call), .sum = call->outputs[1].data};
  const nd4c_tensor *x = &call->inputs[0], *addend = nd4c_cpu_input(call, ND4C_IN_skip_layer_norm_addend);
  const nd4c_tensor *scale = nd4c_cpu_input(call, ND4C_IN_skip_layer_norm_scale);
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_skip_layer_norm_bias);
  s.wide = wider(s.norm.dtype);
  s.skip = call->inputs[ND4C_IN_skip_layer_norm_skip].data;
  s.addend = addend != NULL ? addend->data : NULL;
  s.add = nd4c_simd.binary->loops[ND4C_BINARY_add][s.wide].both;
  s.norm.loops = nd4c_simd_row_loops(s.wide);
  s.norm.scale = scale != NULL ? scale->data : NULL;
  s.norm.bias = bias != NULL ? bias->data : NULL;
  s.norm.rms = ND4C_FLAG_OF(call, skip_layer_norm_rms);
  s.norm.epsilon = ND4C_REAL_OF(call, skip_layer_norm_epsilon);
  s.norm.length = x->shape[x->rank - 1];
  nd4c_cpu_parallel(x->size / s.norm.length, nd4c_simd_grain(6 * s.norm.length), call->width, skip_norm_range, &s);
  return ND4C_OK;
}

/* -- channels: batch_norm and lrn ------------------------------------------------------------------------------- */

/* Plans positions whose channels are neighbours (width 0), or channels that each have a run of positions. */
static bool channel_plan(const nd4c_call *call, job *j) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  j->length = x->shape[1];
  if (nd4c_simd_dense_axis(x, 1) && nd4c_simd_dense_axis(y, 1)) {
    nd4c_simd_rows_make(&j->rows, x, y, 1u << 1);
    return true;
  }
  uint32_t skip = 0;
  j->width = nd4c_simd_run(x, y, 2, &skip);
  j->x_step = x->strides[1];
  j->y_step = y->strides[1];
  nd4c_simd_rows_make(&j->rows, x, y, skip | 1u << 1);
  return j->width > 0;
}

static bool channel_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  job j = {.width = 0};
  ND4C_CPU_DECLINE_IF(call->outputs[0].size == 0, "the result is empty");
  return channel_plan(call, &j) ||
         nd4c_cpu_decline(reason, reason_size, "neither the channels nor the last axis lie without gaps");
}

static void batch_norm_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    int64_t x, y;
    nd4c_simd_rows_at(&j->rows, row, &x, &y);
    const char *from = j->x + x * j->bytes;
    char *to = j->y + y * j->bytes;
    if (j->width == 0) {
      j->loops->affine(j->length, from, j->a, j->b, to);
      continue;
    }
    for (int64_t c = 0; c < j->length; c++) {
      j->loops->affine_all(j->width, from + c * j->x_step * j->bytes, j->a + c * j->bytes, j->b + c * j->bytes,
                           to + c * j->y_step * j->bytes);
    }
  }
}

static void half_batch_norm_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const float *a = (const float *)(const void *)j->a, *b = (const float *)(const void *)j->b;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    int64_t x, y;
    nd4c_simd_rows_at(&j->rows, row, &x, &y);
    const uint16_t *from = (const uint16_t *)(const void *)j->x + x;
    uint16_t *to = (uint16_t *)(void *)j->y + y;
    if (j->width == 0) {
      nd4c_simd.channels->each(j->length, from, a, b, to);
      continue;
    }
    for (int64_t c = 0; c < j->length; c++) {
      nd4c_simd.channels->all(j->width, from + c * j->x_step, a[c], b[c], to + c * j->y_step);
    }
  }
}

/* Factors and summands of each channel, and the operands of bfloat16 widened. */
static int64_t batch_norm_scratch_bytes(const nd4c_call *call) {
  const nd4c_dtype dtype = call->outputs[0].dtype;
  const bool half = nd4c_cpu_dtype_bytes(dtype) == 2;
  return (2 + (half ? AFFINE_OPERANDS : 0)) * call->inputs[0].shape[1] *
         nd4c_simd_row_bytes(half ? ND4C_FLOAT32 : dtype);
}

static bool batch_norm_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  for (int32_t i = 0; i < AFFINE_OPERANDS && nd4c_cpu_dtype_bytes(call->outputs[0].dtype) == 2; i++) {
    const nd4c_tensor *operand = &call->inputs[ND4C_IN_batch_norm_scale + i];
    ND4C_CPU_DECLINE_IF(!contiguous(operand, operand->size), "a parameter of bfloat16 has gaps");
  }
  return channel_usable(call, reason, reason_size);
}

static nd4c_status batch_norm_run(const nd4c_call *call) {
  job j = job_make(call);
  channel_plan(call, &j);
  const int64_t run = j.length * (j.half ? (int64_t)sizeof(float) : j.bytes);
  char *a = call->scratch, *b = a + run, *wide = b + run;
  const void *operands[AFFINE_OPERANDS];
  int64_t strides[AFFINE_OPERANDS];
  for (int32_t i = 0; i < AFFINE_OPERANDS; i++) {
    const nd4c_tensor *operand = &call->inputs[ND4C_IN_batch_norm_scale + i];
    operands[i] = operand->data;
    strides[i] = operand->strides[0];
    if (j.half) {
      widen(&j, j.length, operand->data, (float *)(void *)(wide + i * run));
      operands[i] = wide + i * run;
      strides[i] = 1;
    }
  }
  j.loops->fold_norm(j.length, operands, strides, ND4C_REAL_OF(call, batch_norm_epsilon), a, b);
  j.a = a;
  j.b = b;
  int64_t work = j.length * (j.width > 0 ? j.width : 1);
  nd4c_cpu_host->parallel_for(j.rows.count, nd4c_simd_grain(work), call->width,
                              j.half ? half_batch_norm_range : batch_norm_range, &j);
  return ND4C_OK;
}

static bool lrn_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(ND4C_INT_OF(call, lrn_size) > ND4C_LRN_REACH, "size %lld is above %d",
                      (long long)ND4C_INT_OF(call, lrn_size), ND4C_LRN_REACH);
  return channel_usable(call, reason, reason_size);
}

static void lrn_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    int64_t x, y;
    nd4c_simd_rows_at(&j->rows, row, &x, &y);
    const char *from = j->x + x * j->bytes;
    char *to = j->y + y * j->bytes;
    if (j->width == 0) {
      j->loops->lrn(j->length, from, &j->lrn, to);
    } else {
      j->loops->lrn_columns(j->length, j->x_step, j->width, from, j->y_step, to, &j->lrn);
    }
  }
}

static nd4c_status lrn_run(const nd4c_call *call) {
  job j = job_make(call);
  channel_plan(call, &j);
  int64_t size = ND4C_INT_OF(call, lrn_size);
  j.lrn = (nd4c_lrn_parameters){.before = (size - 1) / 2,
                                .after = size / 2,
                                .factor = ND4C_REAL_OF(call, lrn_alpha) / (double)size,
                                .beta = ND4C_REAL_OF(call, lrn_beta),
                                .bias = ND4C_REAL_OF(call, lrn_bias)};
  int64_t work = (size + 8) * j.length * (j.width > 0 ? j.width : 1);
  nd4c_cpu_host->parallel_for(j.rows.count, nd4c_simd_grain(work), call->width, lrn_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_normalization_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(softmax, ND4C_CPU_FLOATS, softmax_usable, softmax_run),
    ND4C_CPU_SIMD_KERNEL(log_softmax, ND4C_CPU_FLOATS, softmax_usable, log_softmax_run),
    ND4C_CPU_SIMD_KERNEL(layer_norm, ND4C_CPU_FLOATS, layer_norm_usable, layer_norm_run),
    ND4C_CPU_SIMD_KERNEL(rms_norm, ND4C_CPU_FLOATS, layer_norm_usable, rms_norm_run),
    ND4C_CPU_SIMD_KERNEL(skip_layer_norm, ND4C_CPU_FLOATS, skip_norm_usable, skip_norm_run),
    ND4C_CPU_SIMD_KERNEL(lrn, ND4C_SIMD_ROW_DTYPES, lrn_usable, lrn_run),
    ND4C_CPU_SIMD_KERNEL(batch_norm, ND4C_SIMD_ROW_DTYPES | (ND4C_CPU_FLOATS & ND4C_DTYPE_BIT(ND4C_BFLOAT16)),
                         batch_norm_usable, batch_norm_run, .scratch_bytes = batch_norm_scratch_bytes),
    NULL};
