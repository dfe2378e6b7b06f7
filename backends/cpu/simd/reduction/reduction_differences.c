/* Engine simd: diff. Of first order: differences of a tensor and of itself one step further, and of the ends of what is
 * joined to it. Of higher orders: pieces of lines, of floats in double, whose last differences alone are rounded.
 * dispatch/choice.c asks this kernel before the reference's. */
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/nest.h"

/* Part of a tensor along one axis. The tensor's data stay the caller's. */
typedef struct part {
  nd4c_tensor tensor;
  int64_t shape[ND4C_CPU_MAX_RANK];
} part;

static void part_of(const nd4c_tensor *x, int32_t axis, int64_t from, int64_t length, part *p) {
  p->tensor = *x;
  memcpy(p->shape, x->shape, (size_t)x->rank * sizeof *p->shape);
  p->shape[axis] = length;
  p->tensor.shape = p->shape;
  p->tensor.flags = 0;
  p->tensor.size = x->shape[axis] > 0 ? x->size / x->shape[axis] * length : 0;
  p->tensor.data = (char *)x->data + from * x->strides[axis] * nd4c_cpu_dtype_bytes(x->dtype);
}

static void compute(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  const nd4c_binary_loops *loops = user;
  (void)repeated;
  loops->both(n, pointers[1], pointers[2], pointers[0]);
}

static void stream(const void *user, int64_t n, char *const *pointers, const int64_t *steps) {
  const nd4c_binary_loops *loops = user;
  loops->stream(n, pointers[1], steps[1], pointers[2], steps[2], pointers[0]);
}

/* Writes `length` differences of a (from `a_from` on) and b (from `b_from` on) to y from `at` on. */
static void subtract(const nd4c_call *call, int32_t axis, const nd4c_tensor *a, int64_t a_from, const nd4c_tensor *b,
                     int64_t b_from, int64_t length, int64_t at) {
  const nd4c_binary_loops *loops = &nd4c_simd.binary->loops[ND4C_BINARY_subtract][a->dtype];
  nd4c_nest nest;
  part y, first, second;
  if (length <= 0) {
    return;
  }
  part_of(&call->outputs[0], axis, at, length, &y);
  part_of(a, axis, a_from, length, &first);
  part_of(b, axis, b_from, length, &second);
  nd4c_nest_start(&nest, &y.tensor);
  nd4c_nest_add(&nest, &first.tensor, &y.tensor);
  nd4c_nest_add(&nest, &second.tensor, &y.tensor);
  nd4c_nest_finish(&nest);
  nd4c_nest_run(&nest, call->width, 1, false, compute, loops->stream == NULL ? NULL : stream, loops);
}

static const int32_t joined[] = {ND4C_IN_diff_prepend, ND4C_IN_diff_x, ND4C_IN_diff_append};
enum { JOINED = sizeof joined / sizeof *joined };

static void first_differences(const nd4c_call *call) {
  const int32_t axis = nd4c_axis(ND4C_INT_OF(call, diff_axis), call->inputs[0].rank);
  const nd4c_tensor *before = NULL;
  int64_t at = 0;
  for (int32_t i = 0; i < JOINED; i++) {
    const nd4c_tensor *x = nd4c_cpu_input(call, joined[i]);
    if (x == NULL || x->shape[axis] == 0) {
      continue;
    }
    if (before != NULL) {
      subtract(call, axis, x, 0, before, before->shape[axis] - 1, 1, at++);
    }
    subtract(call, axis, x, 1, x, 0, x->shape[axis] - 1, at);
    at += x->shape[axis] - 1;
    before = x;
  }
}

/* -- higher orders ------------------------------------------------------------------------------------------------- */

enum { PIECE = 512, MAX_ORDER = 256, GRAIN = 8192 };

typedef struct lines_job {
  const nd4c_call *call;
  int32_t axis;
  int64_t order, length, lines; /* of y: elements of a line, and lines */
  nd4c_dtype wide;              /* in which differences are taken */
} lines_job;

/* Offset of a line in a tensor: the place among all axes but one, in elements. */
static int64_t line_at(const lines_job *job, const nd4c_tensor *x, int64_t line) {
  int64_t offset = 0;
  for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
    if (axis != job->axis) {
      offset += line % x->shape[axis] * x->strides[axis];
      line /= x->shape[axis];
    }
  }
  return offset;
}

/* n elements from `from` on of what is joined to a line, in the wide dtype. */
static void read_line(const lines_job *job, int64_t line, int64_t from, int64_t n, char *wide) {
  const int64_t wide_bytes = nd4c_cpu_dtype_bytes(job->wide);
  for (int32_t i = 0; i < JOINED && n > 0; i++) {
    const nd4c_tensor *x = nd4c_cpu_input(job->call, joined[i]);
    const int64_t length = x != NULL ? x->shape[job->axis] : 0;
    if (from >= length) {
      from -= length;
      continue;
    }
    _Alignas(64) char given[8 * (PIECE + MAX_ORDER)];
    const int64_t count = length - from < n ? length - from : n, stride = x->strides[job->axis];
    const int32_t bytes = nd4c_cpu_dtype_bytes(x->dtype);
    const char *own = (const char *)x->data + (line_at(job, x, line) + from * stride) * bytes;
    nd4c_simd.move->move[bytes](1, count, own, 0, stride, x->dtype == job->wide ? wide : given, 0, 1);
    if (x->dtype != job->wide) {
      nd4c_simd.cast->loops[x->dtype][job->wide](count, given, wide);
    }
    wide += count * wide_bytes;
    n -= count;
    from = 0;
  }
}

static void take_piece(const lines_job *job, int64_t line, int64_t from, int64_t n) {
  _Alignas(64) char buffers[2][8 * (PIECE + MAX_ORDER)];
  const nd4c_tensor *y = &job->call->outputs[0];
  const int64_t stride = y->strides[job->axis], wide_bytes = nd4c_cpu_dtype_bytes(job->wide);
  const int32_t bytes = nd4c_cpu_dtype_bytes(y->dtype);
  int32_t from_buffer = 0;
  read_line(job, line, from, n + job->order, buffers[0]);
  for (int64_t left = job->order; left > 0; left--, from_buffer ^= 1) {
    const char *x = buffers[from_buffer];
    nd4c_simd.binary->loops[ND4C_BINARY_subtract][job->wide].both(n + left - 1, x + wide_bytes, x,
                                                                  buffers[from_buffer ^ 1]);
  }
  char *made = buffers[from_buffer];
  if (y->dtype != job->wide) { /* by the loop of a reduction that rounds and does not divide */
    nd4c_simd.reduction->loops[ND4C_REDUCE_prod][y->dtype].store(n, made, 1, buffers[from_buffer ^ 1]);
    made = buffers[from_buffer ^ 1];
  }
  char *to = (char *)y->data + (line_at(job, y, line) + from * stride) * bytes;
  nd4c_simd.move->move[bytes](1, n, made, 0, 1, to, 0, stride);
}

/* The lines of one piece one after the other: neighbours share cache lines, if the axis is not the innermost. */
static void lines_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const lines_job *job = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    const int64_t from = i / job->lines * PIECE, left = job->length - from;
    take_piece(job, i % job->lines, from, left < PIECE ? left : PIECE);
  }
}

static nd4c_status run_diff(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  lines_job job = {.call = call, .order = ND4C_INT_OF(call, diff_order), .wide = y->dtype};
  if (job.order == 1) {
    first_differences(call);
    return ND4C_OK;
  }
  job.axis = nd4c_axis(ND4C_INT_OF(call, diff_axis), y->rank);
  job.length = y->shape[job.axis];
  job.lines = y->size / job.length;
  if ((ND4C_DTYPE_BIT(y->dtype) & ND4C_CPU_FLOATS) != 0) {
    job.wide = ND4C_FLOAT64;
  }
  const int64_t piece = job.length < PIECE ? job.length : PIECE;
  nd4c_cpu_parallel(job.lines * nd4c_cpu_divide_up(job.length, PIECE), GRAIN / (piece * job.order) + 1, call->width,
                    lines_range, &job);
  return ND4C_OK;
}

static bool usable_diff(const nd4c_call *call, char *reason, size_t reason_size) {
  const int64_t order = ND4C_INT_OF(call, diff_order);
  ND4C_CPU_DECLINE_IF(order < 1 || order > MAX_ORDER, "of order 0, or of more than %d", (int)MAX_ORDER);
  ND4C_CPU_DECLINE_IF(call->outputs[0].size == 0, "no differences");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_reduction_differences_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(diff, ND4C_CPU_REALS, usable_diff, run_diff), NULL};
