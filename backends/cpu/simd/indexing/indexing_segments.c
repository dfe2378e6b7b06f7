/* Engine simd: dynamic_partition, and segment_sum and the other reductions of the rows of x that have the same number.
 * The rows of a segment are put in order by counting and folded by the loops of reduction.h, neighbouring ones at once.
 * dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"
#include "kernels/reference/indexing/parts.h"

enum {
  COLUMNS = 1024,
  PICKED = 512,
  GRAIN = 16384,
  BYTES_GRAIN = 65536,
  FEW_ROWS = 7 /* so few are folded one by one; more of f32 are added in f32 four at a time */
};

typedef struct segment_job {
  nd4c_reduction_loops loops;
  nd4c_pick_function pick;
  nd4c_cast_loop narrow; /* from sums and products of whole numbers of 64 bits; NULL: loops.store */
  int64_t most_rows;     /* that are folded at once */
  const char *x;
  char *y;
  const int64_t *starts, *order;      /* the rows of segment s: order[starts[s]] .. order[starts[s + 1] - 1] */
  int64_t bytes, rows, inner, blocks; /* of an element; of x; elements of a row; blocks of columns */
  bool divides, by_root;
  _Alignas(double) char empty[sizeof(double)]; /* an element of a segment without rows */
} segment_job;

/* How many of the rows from order[k] on, before order[end], are neighbours in x. */
static int64_t neighbours(const int64_t *order, int64_t k, int64_t end) {
  const int64_t first = k;
  while (k + 1 < end && order[k + 1] == order[k] + 1) {
    k++;
  }
  return k + 1 - first;
}

/* A line of numbers, of which a row has one: those that are no neighbours are gathered first. */
static void fold_numbers(const segment_job *job, int64_t begin, int64_t end, void *total) {
  _Alignas(64) double picked[PICKED];
  const int64_t together = neighbours(job->order, begin, end);
  if (together == end - begin) {
    job->loops.run(1, together, job->x + job->order[begin] * job->bytes, 0, total);
    return;
  }
  for (int64_t k = begin; k < end; k += PICKED) {
    const int64_t n = end - k < PICKED ? end - k : PICKED;
    const nd4c_indices rows = {job->order + k, true, job->rows};
    double part = 0;
    job->pick(n, &rows, job->x, 1, 0, picked);
    job->loops.run(1, n, picked, 0, k == begin ? total : &part);
    if (k > begin) {
      job->loops.merge(1, &part, total);
    }
  }
}

static void fold_rows(const segment_job *job, int64_t begin, int64_t end, int64_t column, int64_t n, void *totals) {
  const int64_t row_bytes = job->inner * job->bytes;
  for (int64_t k = begin, together; k < end; k += together) {
    together = neighbours(job->order, k, end);
    together = together < job->most_rows ? together : job->most_rows;
    job->loops.fold(together, n, job->x + job->order[k] * row_bytes + column * job->bytes, row_bytes, totals,
                    k == begin);
  }
}

/* Blocks of columns of one segment after the other. */
static void segments_range(void *user, int64_t from, int64_t to, int32_t worker) {
  const segment_job *job = user;
  _Alignas(64) double totals[COLUMNS];
  (void)worker;
  for (int64_t i = from; i < to; i++) {
    const int64_t segment = i / job->blocks, column = i % job->blocks * COLUMNS;
    const int64_t n = job->inner - column < COLUMNS ? job->inner - column : COLUMNS;
    const int64_t begin = job->starts[segment], end = job->starts[segment + 1];
    char *y = job->y + (segment * job->inner + column) * job->bytes;
    if (begin == end) {
      nd4c_simd.creation->fill[job->bytes](n, job->empty, y);
      continue;
    }
    if (job->inner == 1) {
      fold_numbers(job, begin, end, totals);
    } else {
      fold_rows(job, begin, end, column, n, totals);
    }
    const double count = (double)(end - begin);
    if (job->narrow != NULL) {
      job->narrow(n, totals, y);
      continue;
    }
    job->loops.store(n, totals, !job->divides ? 1 : job->by_root ? sqrt(count) : count, y);
  }
}

/* Refuses numbers of segments that are not in 0 .. count - 1; gives the largest, -1 if there are none. */
static nd4c_status check_segments(const nd4c_call *call, int64_t count, int64_t *largest) {
  const nd4c_tensor *segments = &call->inputs[ND4C_IN_segment_sum_segments];
  int64_t low = 0, high = 0;
  *largest = -1;
  if (segments->size == 0) {
    return ND4C_OK;
  }
  nd4c_simd.reduction->loops[ND4C_REDUCE_min][segments->dtype].run(1, segments->size, segments->data, 0, &low);
  nd4c_simd.reduction->loops[ND4C_REDUCE_max][segments->dtype].run(1, segments->size, segments->data, 0, &high);
  low = nd4c_ref_index(segments->dtype, (const char *)&low, 0);
  *largest = nd4c_ref_index(segments->dtype, (const char *)&high, 0);
  for (int64_t i = 0; (low < 0 || *largest >= count) && i < segments->size; i++) {
    const int64_t segment = nd4c_ref_index(segments->dtype, segments->data, i);
    ND4C_CPU_FAIL_IF(segment < 0 || segment >= count, ND4C_INDEX, "%s: number %lld of %s is %lld, expected 0 to %lld",
                     call->op->name, (long long)i, call->op->inputs[1].name, (long long)segment,
                     (long long)(count - 1));
  }
  return ND4C_OK;
}

/* Sums and products of whole numbers have 64 bits, which wrap to those of the result. */
static nd4c_cast_loop narrowing(enum nd4c_reduce_index reduction, nd4c_dtype dtype) {
  const bool wide = reduction == ND4C_REDUCE_sum || reduction == ND4C_REDUCE_prod;
  return wide && (ND4C_DTYPE_BIT(dtype) & ND4C_CPU_INTS) != 0 && nd4c_cpu_dtype_bytes(dtype) < 8
             ? nd4c_simd.cast->loops[ND4C_INT64][dtype]
             : NULL;
}

static nd4c_status reduce(const nd4c_call *call, enum nd4c_reduce_index reduction, double of_empty, bool divides,
                          bool by_root) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const nd4c_ref_tensor segments = nd4c_cpu_ref_input(call, ND4C_IN_segment_sum_segments);
  int64_t count = y->shape[0], largest;
  int64_t *starts = call->scratch, *order = starts + count + 1;
  segment_job job = {.loops = nd4c_simd.reduction->loops[reduction][x->dtype],
                     .pick = nd4c_simd.pick->pick[nd4c_cpu_dtype_bytes(x->dtype)],
                     .narrow = narrowing(reduction, x->dtype),
                     .most_rows = reduction == ND4C_REDUCE_sum && x->dtype == ND4C_FLOAT32 ? FEW_ROWS : INT64_MAX,
                     .x = x->data,
                     .y = y->data,
                     .starts = starts,
                     .order = order,
                     .bytes = nd4c_cpu_dtype_bytes(x->dtype),
                     .rows = x->shape[0],
                     .inner = 1,
                     .divides = divides,
                     .by_root = by_root};
  ND4C_BACKEND_TRY(check_segments(call, count, &largest));
  if (ND4C_INT_OF(call, segment_sum_num_segments) < 0) {
    count = largest + 1;
    for (int32_t i = 0; i < y->rank; i++) {
      call->true_shapes[0][i] = i == 0 ? count : y->shape[i];
    }
  }
  for (int32_t i = 1; i < x->rank; i++) {
    job.inner *= x->shape[i];
  }
  if (x->dtype == ND4C_FLOAT64) {
    memcpy(job.empty, &of_empty, sizeof of_empty);
  } else {
    nd4c_simd.cast->loops[ND4C_FLOAT64][x->dtype](1, &of_empty, job.empty);
  }
  nd4c_ref_group(&segments, count, starts, order);
  job.blocks = nd4c_cpu_divide_up(job.inner, COLUMNS);
  const int64_t each = (job.inner < COLUMNS ? job.inner : COLUMNS) * (1 + x->shape[0] / (count + 1));
  nd4c_cpu_parallel(count * job.blocks, GRAIN / (each + 1) + 1, call->width, segments_range, &job);
  return ND4C_OK;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  return (call->outputs[0].shape[0] + 1 + call->inputs[0].shape[0]) * (int64_t)sizeof(int64_t);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *segments = &call->inputs[ND4C_IN_segment_sum_segments];
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(x) || !nd4c_in_c_order(segments) || !nd4c_in_c_order(&call->outputs[0]),
                      "not in C order");
  ND4C_CPU_DECLINE_IF(segments->dtype != ND4C_INT32 && segments->dtype != ND4C_INT64,
                      "numbers of segments that are not of 32 or 64 bits");
  return true;
}

static bool usable_partition(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *counts = &call->outputs[1];
  ND4C_CPU_DECLINE_IF(nd4c_cpu_dtype_bytes(call->inputs[0].dtype) == 0, ND4C_CPU_NO_STRINGS);
  ND4C_CPU_DECLINE_IF(counts->dtype != ND4C_INT64 || !nd4c_in_c_order(counts),
                      "counts that are not 64 bits side by side");
  return usable(call, reason, reason_size);
}

/* -- dynamic_partition --------------------------------------------------------------------------------------------- */

typedef struct move_job {
  const char *x;
  char *y;
  const int64_t *order;
  int64_t rows, bytes; /* of x; of a row */
} move_job;

static void move_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const move_job *job = user;
  const nd4c_indices rows = {job->order + begin, true, job->rows};
  const nd4c_pick_function pick = job->bytes <= 16 ? nd4c_simd.pick->pick[job->bytes] : NULL;
  char *y = job->y + begin * job->bytes;
  (void)worker;
  if (pick != NULL) {
    pick(end - begin, &rows, job->x, 1, 0, y);
  } else {
    nd4c_simd.pick->pick_blocks(end - begin, &rows, job->bytes, job->x, y);
  }
}

static nd4c_status run_dynamic_partition(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *counts = &call->outputs[1];
  const nd4c_ref_tensor partitions = nd4c_cpu_ref_input(call, 1);
  const int64_t groups = counts->shape[0];
  int64_t largest, *starts = call->scratch, *order = starts + groups + 1;
  move_job job = {.x = x->data, .y = call->outputs[0].data, .order = order, .rows = call->inputs[1].size};
  ND4C_BACKEND_TRY(check_segments(call, groups, &largest));
  nd4c_ref_group(&partitions, groups, starts, order);
  job.bytes = job.rows == 0 ? 0 : x->size / job.rows * nd4c_cpu_dtype_bytes(x->dtype);
  if (job.bytes > 0) {
    nd4c_cpu_parallel(job.rows, BYTES_GRAIN / job.bytes + 1, call->width, move_range, &job);
  }
  for (int64_t i = 0; i < groups && counts->data != NULL; i++) {
    ((int64_t *)counts->data)[i] = starts[i + 1] - starts[i];
  }
  return ND4C_OK;
}

static int64_t partition_scratch_bytes(const nd4c_call *call) {
  return (call->outputs[1].shape[0] + 1 + call->inputs[1].size) * (int64_t)sizeof(int64_t);
}

/* -- list ---------------------------------------------------------------------------------------------------------- */

/* X(op, dtypes, reduction, element of a segment without rows, whether a sum is divided, whether by a root) */
#define OPS(X)                                                         \
  X(segment_sum, ND4C_CPU_REALS, sum, 0, false, false)                 \
  X(segment_mean, ND4C_CPU_FLOATS, sum, 0, true, false)                \
  X(segment_sqrt_n, ND4C_CPU_FLOATS, sum, 0, true, true)               \
  X(segment_max, ND4C_CPU_REALS, max, -(double)INFINITY, false, false) \
  X(segment_min, ND4C_CPU_REALS, min, (double)INFINITY, false, false)  \
  X(segment_prod, ND4C_CPU_REALS, prod, 1, false, false)

#define DEFINE_OP(op, dtypes, reduction, empty, divides, by_root)          \
  static nd4c_status run_##op(const nd4c_call *call) {                     \
    return reduce(call, ND4C_REDUCE_##reduction, empty, divides, by_root); \
  }
OPS(DEFINE_OP)

#define KERNEL(op, dtypes, ...) ND4C_CPU_SIMD_KERNEL(op, dtypes, usable, run_##op, .scratch_bytes = scratch_bytes),
const nd4c_kernel *const nd4c_cpu_simd_indexing_segments_kernels[] = {
    OPS(KERNEL) ND4C_CPU_SIMD_KERNEL(dynamic_partition, ND4C_CPU_MOVABLE, usable_partition, run_dynamic_partition,
                                     .scratch_bytes = partition_scratch_bytes),
    NULL};
