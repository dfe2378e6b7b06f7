/* Engine simd: ops that move elements: copy, reshape, concat, blocks, triangles. dispatch/choice.c asks these kernels
 * before the reference's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/nest.h"

static nd4c_status run_copy(const nd4c_call *call) {
  nd4c_nest_copy_tensor(&call->inputs[0], &call->outputs[0], call->width);
  return ND4C_OK;
}

/* -- reshape and flatten: the contiguous side takes the shape of the other ------------------------------------ */

static bool usable_reshape(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(((call->inputs[0].flags | call->outputs[0].flags) & ND4C_TENSOR_CONTIGUOUS) == 0,
                      "neither side is contiguous");
  return true;
}

static nd4c_status run_reshape(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  bool output_is_plain = (y->flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  const nd4c_tensor *like = output_is_plain ? x : y;
  nd4c_tensor plain = output_is_plain ? *y : *x;
  int64_t strides[ND4C_CPU_MAX_RANK], stride = 1;
  for (int32_t axis = like->rank - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= like->shape[axis];
  }
  plain.rank = like->rank;
  plain.shape = like->shape;
  plain.strides = strides;
  nd4c_nest_copy_tensor(output_is_plain ? x : &plain, output_is_plain ? &plain : y, call->width);
  return ND4C_OK;
}

/* -- concat --------------------------------------------------------------------------------------------------- */

bool nd4c_simd_joins(const nd4c_call *call, char *reason, size_t reason_size) {
  for (int32_t i = 0; i < call->input_count; i++) {
    ND4C_CPU_DECLINE_IF(call->inputs[i].dtype != call->outputs[0].dtype, "operands of different dtypes");
  }
  return true;
}

/* Contiguous operands: each row of y consists of one part from each operand; an operand's part has the same number of
 * bytes in all rows. */
typedef struct concat_job {
  const nd4c_call *call;
  int32_t axis;
  int64_t row, inner; /* bytes of a row, and of a step along the axis */
  bool stream;
} concat_job;

/* Bytes [begin, end) of y. */
static void concat_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const concat_job *job = user;
  const nd4c_call *call = job->call;
  int64_t row = begin / job->row, at = row * job->row;
  char *y = call->outputs[0].data;
  (void)worker;
  for (int32_t i = 0; at < end; i = i + 1 < call->input_count ? i + 1 : 0, row += i == 0) {
    const nd4c_tensor *x = &call->inputs[i];
    int64_t part = x->shape[job->axis] * job->inner, first = at < begin ? begin - at : 0;
    int64_t last = part < end - at ? part : end - at;
    if (first < last && job->stream) {
      nd4c_simd.move->stream(last - first, (const char *)x->data + row * part + first, y + at + first);
    } else if (first < last) {
      nd4c_copy_block(y + at + first, (const char *)x->data + row * part + first, last - first);
    }
    at += part;
  }
  if (job->stream) {
    nd4c_simd.move->stream_fence();
  }
}

/* Writes whole rows [begin, end) of short parts: for as many rows as stay in the L1 cache, one operand after the
 * other. */
static void concat_short_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  enum { TILE = 16384 };
  const concat_job *job = user;
  int64_t most = TILE / job->row + 1;
  (void)worker;
  for (int64_t row = begin, rows; row < end; row += rows) {
    char *y = (char *)job->call->outputs[0].data + row * job->row;
    rows = end - row < most ? end - row : most;
    for (int32_t i = 0; i < job->call->input_count; i++) {
      const nd4c_tensor *x = &job->call->inputs[i];
      int64_t part = x->shape[job->axis] * job->inner;
      nd4c_simd.move->blocks(part > 0 ? rows : 0, part, (const char *)x->data + row * part, part, y, job->row);
      y += part;
    }
  }
}

static bool concat_rows(const nd4c_call *call, int32_t axis) {
  enum { WORTH_BYTES = 1 << 18, STREAMED = 512, SHORT_ROW = 4096 };
  const nd4c_tensor *y = &call->outputs[0];
  int64_t bytes = nd4c_cpu_dtype_bytes(y->dtype);
  concat_job job = {.call = call, .axis = axis, .inner = bytes};
  uint32_t flags = y->flags;
  for (int32_t i = 0; i < call->input_count; i++) {
    flags &= call->inputs[i].flags;
  }
  if ((flags & ND4C_TENSOR_CONTIGUOUS) == 0 || y->size == 0) {
    return false;
  }
  for (int32_t i = axis + 1; i < y->rank; i++) {
    job.inner *= y->shape[i];
  }
  job.row = y->shape[axis] * job.inner;
  job.stream = y->size > nd4c_simd_stream_bytes / bytes && job.row / call->input_count >= STREAMED;
  if (job.row <= SHORT_ROW && !job.stream) {
    nd4c_cpu_parallel(y->size * bytes / job.row, WORTH_BYTES / job.row, call->width, concat_short_rows, &job);
  } else {
    nd4c_cpu_parallel(y->size * bytes, WORTH_BYTES, call->width, concat_range, &job);
  }
  return true;
}

/* Whether the first operand lies where it is in the result. */
static bool concat_extends(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  bool same = x->data == y->data && x->size > 0;
  for (int32_t i = 0; i < x->rank && same; i++) {
    same = x->strides[i] == y->strides[i] || x->shape[i] == 1;
  }
  return same;
}

static nd4c_status run_concat(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, concat_axis), y->rank);
  nd4c_tensor part = *y;
  const bool extends = concat_extends(call);
  if (!extends && concat_rows(call, (int32_t)axis)) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < call->input_count; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    part.shape = x->shape;
    part.size = x->size;
    if (i > 0 || !extends) {
      nd4c_nest_copy_tensor(x, &part, call->width);
    }
    if (y->size > 0) {
      part.data = (char *)part.data + x->shape[axis] * y->strides[axis] * nd4c_cpu_dtype_bytes(y->dtype);
    }
  }
  return ND4C_OK;
}

/* -- depth_to_space, space_to_depth: a copy between views of more axes ------------------------------------------- */

static bool usable_blocks(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].rank + 2 > ND4C_CPU_MAX_RANK, "too many axes");
  return true;
}

static nd4c_status move_blocks(const nd4c_call *call, bool to_deep) {
  nd4c_cpu_blocks blocks;
  nd4c_tensor x = call->inputs[0], y = call->outputs[0];
  nd4c_cpu_blocks_make(call, to_deep, &blocks);
  x.rank = y.rank = blocks.rank;
  x.shape = y.shape = blocks.shape;
  x.strides = blocks.from;
  y.strides = blocks.to;
  nd4c_nest_copy_tensor(&x, &y, call->width);
  return ND4C_OK;
}

static nd4c_status run_depth_to_space(const nd4c_call *call) {
  return move_blocks(call, false);
}

static nd4c_status run_space_to_depth(const nd4c_call *call) {
  return move_blocks(call, true);
}

/* -- tril, triu, matrix_band_part: rows between zeros ------------------------------------------------------------- */

/* Row i keeps columns i + lower to i + upper; the others become 0. */
typedef struct band_job {
  const char *x;
  char *y;
  int64_t rows, columns, lower, upper, bytes; /* columns: bytes; bytes: of an element */
  bool stream;
} band_job;

static int64_t within(int64_t value, int64_t least, int64_t most) {
  return value < least ? least : value > most ? most : value;
}

static void band_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const band_job *job = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    const char *x = job->x + i * job->columns;
    char *y = job->y + i * job->columns;
    int64_t row = i % job->rows, first = within((row + job->lower) * job->bytes, 0, job->columns);
    int64_t last = within((row + job->upper + 1) * job->bytes, first, job->columns);
    memset(y, 0, (size_t)first);
    if (job->stream) {
      nd4c_simd.move->stream(last - first, x + first, y + first);
    } else if (x != y) {
      nd4c_copy_block(y + first, x + first, last - first);
    }
    memset(y + last, 0, (size_t)(job->columns - last));
  }
  if (job->stream) {
    nd4c_simd.move->stream_fence();
  }
}

static bool usable_band(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->inputs[0].flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0,
                      "an operand is not contiguous");
  return true;
}

static nd4c_status run_band(const nd4c_call *call, int64_t lower, int64_t upper) {
  enum { WORTH_BYTES = 1 << 18 };
  const nd4c_tensor *y = &call->outputs[0];
  int64_t rows = y->shape[y->rank - 2], columns = y->shape[y->rank - 1];
  band_job job = {.x = call->inputs[0].data, .y = y->data, .rows = rows, .bytes = nd4c_cpu_dtype_bytes(y->dtype)};
  job.columns = columns * job.bytes;
  job.lower = within(lower, -rows, columns);
  job.upper = within(upper, -rows - 1, columns);
  job.stream = y->size > nd4c_simd_stream_bytes / job.bytes && job.x != job.y;
  if (y->size > 0) {
    nd4c_cpu_parallel(y->size / columns, WORTH_BYTES / job.columns + 1, call->width, band_rows, &job);
  }
  return ND4C_OK;
}

static nd4c_status run_tril(const nd4c_call *call) {
  return run_band(call, INT64_MIN, ND4C_INT_OF(call, tril_k));
}

static nd4c_status run_triu(const nd4c_call *call) {
  return run_band(call, ND4C_INT_OF(call, triu_k), INT64_MAX);
}

static nd4c_status run_matrix_band_part(const nd4c_call *call) {
  int64_t lower = ND4C_INT_OF(call, matrix_band_part_lower);
  int64_t upper = ND4C_INT_OF(call, matrix_band_part_upper);
  return run_band(call, lower < 0 || lower == INT64_MAX ? INT64_MIN : -lower, upper < 0 ? INT64_MAX : upper);
}

const nd4c_kernel *const nd4c_cpu_simd_shape_kernels[] = {

    ND4C_CPU_SIMD_KERNEL(copy, ND4C_CPU_MOVABLE, NULL, run_copy),
    ND4C_CPU_SIMD_KERNEL(reshape, ND4C_CPU_MOVABLE, usable_reshape, run_reshape),
    ND4C_CPU_SIMD_KERNEL(flatten, ND4C_CPU_MOVABLE, usable_reshape, run_reshape),
    ND4C_CPU_SIMD_KERNEL(concat, ND4C_CPU_MOVABLE, nd4c_simd_joins, run_concat, .flags = ND4C_KERNEL_EXTENDS),
    ND4C_CPU_SIMD_KERNEL(depth_to_space, ND4C_CPU_MOVABLE, usable_blocks, run_depth_to_space),
    ND4C_CPU_SIMD_KERNEL(space_to_depth, ND4C_CPU_MOVABLE, usable_blocks, run_space_to_depth),
    ND4C_CPU_SIMD_KERNEL(tril, ND4C_CPU_MOVABLE, usable_band, run_tril),
    ND4C_CPU_SIMD_KERNEL(triu, ND4C_CPU_MOVABLE, usable_band, run_triu),
    ND4C_CPU_SIMD_KERNEL(matrix_band_part, ND4C_CPU_MOVABLE, usable_band, run_matrix_band_part),
    NULL};
