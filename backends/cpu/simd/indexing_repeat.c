/* Engine simd: repeat: all slices equally often, or each by its own count. dispatch/choice.c asks this kernel before
 * the reference's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/nest.h"

enum {
  WORTH_BYTES = 1 << 18, /* what is worth another thread */
  COUNTED_PARTS = 64     /* parts of an axis that is repeated by counts; workers share them */
};

/* Repeats each slice of the axis by its own count; x is seen as [outer, n, block]. */
typedef struct counted_job {
  const char *x;
  char *y;
  nd4c_indices counts;
  int64_t n, part, parts, block, outer, total; /* block: bytes; total: slices of y */
  int64_t begins[COUNTED_PARTS + 1];           /* slices of y before each part */
} counted_job;

static int64_t count_of(const counted_job *job, int64_t i) {
  return job->counts.wide ? ((const int64_t *)job->counts.data)[i] : ((const int32_t *)job->counts.data)[i];
}

static int64_t part_length(const counted_job *job, int64_t part) {
  int64_t left = job->n - part * job->part;
  return left < job->part ? left : job->part;
}

/* Finds where each part begins in y. False if a count is out of range or the sum differs from the attribute `total`. */
static bool find_begins(counted_job *job) {
  uint64_t sum = 0; /* may wrap before a count is found to be too large */
  for (int64_t part = 0; part < job->parts; part++) {
    int64_t first = part * job->part, length = part_length(job, part);
    uint64_t outside = 0;
    job->begins[part] = (int64_t)sum;
    for (int64_t i = first; i < first + length; i++) {
      int64_t count = count_of(job, i);
      outside |= (uint64_t)count > (uint64_t)job->total;
      sum += (uint64_t)count;
    }
    if (outside != 0) {
      return false;
    }
  }
  job->begins[job->parts] = (int64_t)sum;
  return sum == (uint64_t)job->total;
}

static void repeat_part(const counted_job *job, int64_t outer, int64_t part) {
  int64_t first = part * job->part, length = part_length(job, part);
  const char *x = job->x + (outer * job->n + first) * job->block;
  char *y = job->y + (outer * job->total + job->begins[part]) * job->block;
  if (job->block <= 16 && nd4c_simd.pick->repeat[job->block] != NULL) {
    const nd4c_indices counts = {(const char *)job->counts.data + first * (job->counts.wide ? 8 : 4), job->counts.wide,
                                 0};
    nd4c_simd.pick->repeat[job->block](length, &counts, x, y, job->begins[part + 1] - job->begins[part]);
    return;
  }
  for (int64_t i = 0; i < length; i++, x += job->block) {
    int64_t count = count_of(job, first + i);
    nd4c_simd.move->blocks(count, job->block, x, 0, y, job->block);
    y += count * job->block;
  }
}

static void repeat_parts(void *user, int64_t begin, int64_t end, int32_t worker) {
  const counted_job *job = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    repeat_part(job, i / job->parts, i % job->parts);
  }
}

static nd4c_status repeat_counted(const nd4c_call *call, int32_t axis) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0],
                    *counts = nd4c_cpu_input(call, ND4C_IN_repeat_counts);
  const nd4c_attr_value *repeats = &call->attrs[ND4C_ATTR_repeat_repeats];
  bool flat = call->attrs[ND4C_ATTR_repeat_axes].count == 0;
  counted_job job = {.x = x->data, .y = y->data, .block = nd4c_cpu_dtype_bytes(x->dtype), .outer = 1};
  job.counts = counts != NULL ? (nd4c_indices){counts->data, counts->dtype == ND4C_INT64, 0}
                              : (nd4c_indices){repeats->as.ints, true, 0};
  job.n = flat ? x->size : x->shape[axis];
  job.total = y->shape[axis];
  for (int32_t i = 0; !flat && i < x->rank; i++) {
    *(i < axis ? &job.outer : &job.block) *= i == axis ? 1 : x->shape[i];
  }
  job.part = job.n / COUNTED_PARTS + 1;
  job.parts = (job.n + job.part - 1) / job.part;
  if (!find_begins(&job)) {
    return nd4c_cpu_check_counts(call);
  }
  int64_t bytes = y->size * nd4c_cpu_dtype_bytes(y->dtype), pieces = job.outer * job.parts;
  if (bytes > 0) {
    nd4c_cpu_parallel(pieces, WORTH_BYTES / (bytes / pieces + 1) + 1, call->width, repeat_parts, &job);
  }
  return ND4C_OK;
}

static bool has_one_count(const nd4c_call *call) {
  return nd4c_cpu_input(call, ND4C_IN_repeat_counts) == NULL && call->attrs[ND4C_ATTR_repeat_repeats].count == 1;
}

static bool usable_repeat(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0],
                    *counts = nd4c_cpu_input(call, ND4C_IN_repeat_counts);
  bool plain = (x->flags & y->flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  ND4C_CPU_DECLINE_IF(
      !has_one_count(call) && (!plain || (counts != NULL && (counts->flags & ND4C_TENSOR_CONTIGUOUS) == 0)),
      "a number for each slice, and an operand is not contiguous");
  ND4C_CPU_DECLINE_IF(!has_one_count(call) && (x->size > INT32_MAX || y->size > INT32_MAX),
                      "a number for each of too many slices");
  ND4C_CPU_DECLINE_IF(call->attrs[ND4C_ATTR_repeat_axes].count == 0 && (x->flags & ND4C_TENSOR_CONTIGUOUS) == 0,
                      "all of an array that is not contiguous");
  ND4C_CPU_DECLINE_IF(x->rank == ND4C_CPU_MAX_RANK, "too many axes");
  return true;
}

/* Sees the repeated axis of y as two axes: the axis of x, and the copies of each slice. */
static nd4c_status run_repeat(const nd4c_call *call) {
  static const int64_t one = 1;
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_repeat_axes];
  int64_t shape[ND4C_CPU_MAX_RANK];
  int64_t from[ND4C_CPU_MAX_RANK], to[ND4C_CPU_MAX_RANK];
  nd4c_tensor x = call->inputs[0], y = call->outputs[0];
  int32_t axis = axes->count == 0 ? 0 : nd4c_axis(axes->as.ints[0], x.rank);
  if (!has_one_count(call)) {
    return repeat_counted(call, axis);
  }
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
  int64_t count = call->attrs[ND4C_ATTR_repeat_repeats].as.ints[0];
  shape[axis + 1] = count;
  from[axis + 1] = 0;
  to[axis + 1] = y.strides[axis];
  to[axis] = y.strides[axis] * count;
  x.rank = y.rank = x.rank + 1;
  x.shape = y.shape = shape;
  x.strides = from;
  y.strides = to;
  x.size = y.size;
  nd4c_nest_copy_tensor(&x, &y, call->width);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_indexing_repeat_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(repeat, ND4C_CPU_MOVABLE, usable_repeat, run_repeat), NULL};
