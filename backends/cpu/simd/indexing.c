/* Engine simd: elements and blocks of elements at indices. dispatch/choice.c asks these kernels before those of
 * reference/indexing.c. */
#include <stdatomic.h>
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/nest.h"
#include "kernels/cpu/support/level.h"

enum {
  WORTH_BYTES = 1 << 18, /* what is worth another thread */
  WORTH_INDICES = 32768, /* to check */
  ASKED = 256,           /* bytes of a block that is asked for ahead */
  ASKED_ROW = 16384,     /* bytes of a row that is asked for as a whole */
  FORESEEN = 8,          /* blocks ahead that are asked for */
  COLUMNS = 64           /* of rows that pick from other rows */
};

static nd4c_indices indices_of(const nd4c_tensor *indices, int64_t extent) {
  return (nd4c_indices){indices->data, indices->dtype == ND4C_INT64, extent};
}

static nd4c_indices later(const nd4c_indices *indices, int64_t first) {
  return (nd4c_indices){(const char *)indices->data + first * (indices->wide ? 8 : 4), indices->wide, indices->extent};
}

static inline int64_t index_at(const nd4c_indices *indices, int64_t i) {
  int64_t index = indices->wide ? ((const int64_t *)indices->data)[i] : ((const int32_t *)indices->data)[i];
  return index < 0 ? index + indices->extent : index;
}

/* -- checking ------------------------------------------------------------------------------------------------------ */

typedef struct check_job {
  nd4c_indices indices;
  _Atomic bool outside;
} check_job;

static void check_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  check_job *job = user;
  nd4c_indices part = later(&job->indices, begin);
  (void)worker;
  if (!nd4c_simd.pick->in_range(end - begin, &part)) {
    atomic_store_explicit(&job->outside, true, memory_order_relaxed);
  }
}

static bool all_in_range(const nd4c_call *call, const nd4c_indices *indices, int64_t count) {
  check_job job = {.indices = *indices};
  nd4c_cpu_parallel(count, WORTH_INDICES, call->width, check_range, &job);
  return !atomic_load_explicit(&job.outside, memory_order_relaxed);
}

static bool are_indices_plain(const nd4c_tensor *indices) {
  return (indices->flags & ND4C_TENSOR_CONTIGUOUS) != 0 &&
         (indices->dtype == ND4C_INT64 || indices->dtype == ND4C_INT32);
}

/* -- blocks: gather, take, embedding_lookup ------------------------------------------------------------------------ */

typedef struct block_job {
  const char *from;
  char *to;
  nd4c_indices indices;
  int64_t count; /* indices */
  int64_t block; /* bytes */
  bool stream;
} block_job;

/* Blocks [first, first + n) of one position of the axes before. */
static void pick_blocks(const block_job *job, int64_t first, int64_t n, const char *from, char *to) {
  nd4c_indices part = later(&job->indices, first);
  if (job->block <= 16 && nd4c_simd.pick->pick[job->block] != NULL) {
    nd4c_simd.pick->pick[job->block](n, &part, from, 1, 0, to);
    return;
  }
  if (!job->stream) {
    nd4c_simd.pick->pick_blocks(n, &part, job->block, from, to);
    return;
  }
  for (int64_t i = 0; i < n; i++, to += job->block) {
    if (i + FORESEEN < n) {
      const char *next = from + index_at(&part, i + FORESEEN) * job->block;
      for (int64_t line = 0; line < job->block && line < ASKED; line += ND4C_CPU_CACHE_LINE) {
        ND4C_PREFETCH((uintptr_t)(next + line));
      }
    }
    nd4c_simd.move->stream(job->block, from + index_at(&part, i) * job->block, to);
  }
}

static void pick_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const block_job *job = user;
  (void)worker;
  while (begin < end) {
    int64_t outer = begin / job->count, first = begin % job->count;
    int64_t n = job->count - first < end - begin ? job->count - first : end - begin;
    pick_blocks(job, first, n, job->from + outer * job->indices.extent * job->block, job->to + begin * job->block);
    begin += n;
  }
  if (job->stream) {
    nd4c_simd.move->stream_fence();
  }
}

/* x and y are contiguous, indices in range; axis: of x, seen as [outer, extent, block]. */
static void take_blocks(const nd4c_call *call, int32_t axis, int64_t extent) {
  const nd4c_tensor *x = &call->inputs[0], *indices = &call->inputs[1], *y = &call->outputs[0];
  int64_t outer = 1, count = indices->size, bytes = nd4c_cpu_dtype_bytes(x->dtype);
  for (int32_t i = 0; i < axis; i++) {
    outer *= x->shape[i];
  }
  if (y->size == 0) {
    return;
  }
  block_job job = {x->data, y->data, indices_of(indices, extent), count, y->size / outer / count * bytes, false};
  job.stream = y->size > nd4c_simd_stream_bytes / bytes && job.block >= 8 * ND4C_CPU_CACHE_LINE;
  nd4c_cpu_parallel(outer * count, WORTH_BYTES / (job.block + 8) + 1, call->width, pick_range, &job);
}

static bool usable_blocks(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->inputs[0].flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0,
                      "an operand is not contiguous");
  ND4C_CPU_DECLINE_IF(!are_indices_plain(&call->inputs[1]), "indices are not contiguous int32 or int64");
  return true;
}

static bool usable_take(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(ND4C_INT_OF(call, take_mode) != ND4C_INDEX_MODE_RAISE, "indices out of range are bent into it");
  return usable_blocks(call, reason, reason_size);
}

static nd4c_status run_take(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_take_axes];
  int32_t axis = axes->count == 0 ? 0 : nd4c_axis(axes->as.ints[0], x->rank);
  int64_t extent = axes->count == 0 ? x->size : x->shape[axis];
  nd4c_indices indices = indices_of(&call->inputs[1], extent);
  if (!all_in_range(call, &indices, call->inputs[1].size)) {
    return nd4c_cpu_check_indices(call, 1, axis, extent);
  }
  take_blocks(call, axis, extent);
  return ND4C_OK;
}

static nd4c_status run_embedding_lookup(const nd4c_call *call) {
  int64_t extent = call->inputs[0].shape[0];
  nd4c_indices indices = indices_of(&call->inputs[1], extent);
  if (!all_in_range(call, &indices, call->inputs[1].size)) {
    return nd4c_cpu_check_indices(call, 1, 0, extent);
  }
  take_blocks(call, 0, extent);
  return ND4C_OK;
}

static nd4c_status run_gather(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *tensor = &call->inputs[ND4C_IN_gather_indices];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, gather_axis), x->rank);
  int64_t extent = x->shape[axis];
  nd4c_indices indices = indices_of(tensor, extent);
  if (!all_in_range(call, &indices, tensor->size)) {
    for (int64_t i = 0; i < tensor->size; i++) {
      int64_t index = index_at(&indices, i);
      if (index < 0 || index >= extent) {
        return nd4c_cpu_gather_fail(index < 0 ? index - extent : index, axis, extent);
      }
    }
  }
  take_blocks(call, (int32_t)axis, extent);
  return ND4C_OK;
}

/* -- elements along an axis ---------------------------------------------------------------------------------------- */

/* Rows of indices and of the part, both contiguous and of one shape; the whole may have any strides. */
typedef struct element_job {
  nd4c_indices indices;
  char *whole, *part;
  int64_t bytes, stride, step, row;
  int32_t outer;
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK]; /* of the axes before the last; 0 along the axis */
  nd4c_place_function place;                                    /* NULL: picks */
  int64_t groups, lines;                                        /* rows that may share places: `lines` each */
} element_job;

static int64_t row_offset(const element_job *job, int64_t row) {
  int64_t offset = 0;
  for (int32_t i = job->outer - 1; i >= 0; i--) {
    offset += row % job->shape[i] * job->strides[i];
    row /= job->shape[i];
  }
  return offset;
}

static void run_row(const element_job *job, int64_t row, int64_t first, int64_t n) {
  int64_t at = row * job->row + first;
  nd4c_indices indices = later(&job->indices, at);
  char *whole = job->whole + (row_offset(job, row) + first * job->step) * job->bytes;
  char *part = job->part + at * job->bytes;
  if (job->place != NULL) {
    job->place(n, &indices, part, whole, job->stride, job->step);
  } else {
    nd4c_simd.pick->pick[job->bytes](n, &indices, whole, job->stride, job->step, part);
  }
}

/* Columns [begin, end) of `rows` rows from `first` on, so few at a time that their places in the whole stay in the
 * cache. */
static void run_columns(const element_job *job, int64_t first, int64_t rows, int64_t begin, int64_t end) {
  for (int64_t column = begin; column < end; column += COLUMNS) {
    int64_t n = end - column < COLUMNS ? end - column : COLUMNS;
    for (int64_t row = first; row < first + rows; row++) {
      run_row(job, row, column, n);
    }
  }
}

/* Prefetches the next row of the whole. The indices use nearly all of its cache lines, but in an order that the
 * hardware cannot predict. */
static void foresee_row(const element_job *job, int64_t row) {
  int64_t bytes = job->indices.extent * job->bytes;
  if (job->stride != 1 || job->step != 0 || bytes > ASKED_ROW || job->row < bytes / ND4C_CPU_CACHE_LINE) {
    return;
  }
  const char *next = job->whole + row_offset(job, row) * job->bytes;
  for (int64_t line = 0; line < bytes; line += ND4C_CPU_CACHE_LINE) {
    ND4C_PREFETCH((uintptr_t)(next + line));
  }
}

/* Elements [begin, end) of the part. */
static void pick_elements(void *user, int64_t begin, int64_t end, int32_t worker) {
  const element_job *job = user;
  (void)worker;
  while (begin < end) {
    int64_t row = begin / job->row, first = begin % job->row;
    int64_t n = job->row - first < end - begin ? job->row - first : end - begin;
    if (n < end - begin) {
      foresee_row(job, row + 1);
    }
    run_row(job, row, first, n);
    begin += n;
  }
}

/* Groups of rows that write to places of no other group: the rows at one position of the axes before the indexed
 * axis. */
static void run_groups(void *user, int64_t begin, int64_t end, int32_t worker) {
  const element_job *job = user;
  (void)worker;
  for (int64_t group = begin; group < end; group++) {
    run_columns(job, group * job->lines, job->lines, 0, job->row);
  }
}

/* Columns [begin, end) of all groups. */
static void run_all_columns(void *user, int64_t begin, int64_t end, int32_t worker) {
  const element_job *job = user;
  (void)worker;
  for (int64_t group = 0; group < job->groups; group++) {
    run_columns(job, group * job->lines, job->lines, begin, end);
  }
}

/* Along another axis than the last. */
static void run_across(const nd4c_call *call, element_job *job, int32_t axis, int64_t size, const int64_t *shape) {
  enum { WORTH_ELEMENTS = 16384 };
  job->groups = 1;
  for (int32_t i = 0; i < axis; i++) {
    job->groups *= shape[i];
  }
  job->lines = size / job->row / job->groups;
  if (job->groups >= call->width) {
    nd4c_cpu_parallel(job->groups, WORTH_ELEMENTS / (job->lines * job->row) + 1, call->width, run_groups, job);
  } else {
    nd4c_cpu_parallel(job->row, WORTH_ELEMENTS / (job->groups * job->lines) + ND4C_CPU_CACHE_LINE, call->width,
                      run_all_columns, job);
  }
}

static element_job element_job_make(const nd4c_tensor *whole, const nd4c_tensor *indices, const nd4c_tensor *part,
                                    int32_t axis) {
  int32_t last = whole->rank - 1;
  element_job job = {.indices = indices_of(indices, whole->shape[axis]),
                     .whole = whole->data,
                     .part = part->data,
                     .bytes = nd4c_cpu_dtype_bytes(whole->dtype),
                     .stride = whole->strides[axis],
                     .step = axis == last ? 0 : whole->strides[last],
                     .row = indices->shape[last],
                     .outer = last};
  for (int32_t i = 0; i < last; i++) {
    job.shape[i] = indices->shape[i];
    job.strides[i] = i == axis ? 0 : whole->strides[i];
  }
  return job;
}

static bool is_inside(const nd4c_tensor *x, const nd4c_tensor *indices, int32_t axis) {
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != axis && indices->shape[i] > x->shape[i]) {
      return false;
    }
  }
  return true;
}

static bool usable_pick(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *indices = &call->inputs[1], *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, gather_elements_axis), x->rank);
  ND4C_CPU_DECLINE_IF(x->rank == 0, "x has no axes");
  ND4C_CPU_DECLINE_IF(!are_indices_plain(indices), "indices are not contiguous int32 or int64");
  ND4C_CPU_DECLINE_IF(
      (y->flags & ND4C_TENSOR_CONTIGUOUS) == 0 || !nd4c_cpu_same_shape(indices, y) || !is_inside(x, indices, axis),
      "an operand is broadcast, or the output not contiguous");
  return true;
}

static nd4c_status run_pick(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, gather_elements_axis), x->rank);
  element_job job = element_job_make(x, &call->inputs[1], y, axis);
  if (!all_in_range(call, &job.indices, y->size)) {
    return nd4c_cpu_check_indices(call, 1, axis, x->shape[axis]);
  }
  if (y->size > 0 && axis < x->rank - 1 && y->shape[axis] > 1) {
    run_across(call, &job, axis, y->size, y->shape);
  } else if (y->size > 0) {
    nd4c_cpu_parallel(y->size, WORTH_BYTES / 8, call->width, pick_elements, &job);
  }
  return ND4C_OK;
}

/* -- placing ------------------------------------------------------------------------------------------------------- */

/* Copies x to y. In place both are the same view, and nothing is copied. */
static void begin_with_x(const nd4c_call *call) {
  if (call->inputs[0].data != call->outputs[0].data) {
    nd4c_nest_copy_tensor(&call->inputs[0], &call->outputs[0], call->width);
  }
}

static void place_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const element_job *job = user;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    run_row(job, row, 0, job->row);
  }
}

static bool usable_scatter_elements(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *indices = &call->inputs[1], *updates = &call->inputs[2];
  ND4C_CPU_DECLINE_IF(indices->rank == 0, "x has no axes");
  ND4C_CPU_DECLINE_IF(!are_indices_plain(indices) || (updates->flags & ND4C_TENSOR_CONTIGUOUS) == 0 ||
                          !nd4c_cpu_same_shape(indices, updates),
                      "indices or updates are not contiguous");
  ND4C_CPU_DECLINE_IF(nd4c_simd_place(call->outputs[0].dtype, ND4C_INT_OF(call, scatter_elements_reduction)) == NULL,
                      "no loop for this reduction of this dtype");
  return true;
}

static nd4c_status scatter_elements(const nd4c_call *call, int32_t axis, nd4c_place_function place) {
  enum { WORTH_ELEMENTS = 16384 };
  const nd4c_tensor *indices = &call->inputs[1], *y = &call->outputs[0];
  element_job job = element_job_make(y, indices, &call->inputs[2], axis);
  if (!all_in_range(call, &job.indices, indices->size)) {
    return nd4c_cpu_check_indices(call, 1, axis, y->shape[axis]);
  }
  begin_with_x(call);
  if (indices->size == 0) {
    return ND4C_OK;
  }
  job.place = place;
  if (axis < y->rank - 1) {
    run_across(call, &job, axis, indices->size, indices->shape);
  } else {
    nd4c_cpu_parallel(indices->size / job.row, WORTH_ELEMENTS / job.row + 1, call->width, place_rows, &job);
  }
  return ND4C_OK;
}

static nd4c_status run_scatter_elements(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  return scatter_elements(call, nd4c_axis(ND4C_INT_OF(call, scatter_elements_axis), y->rank),
                          nd4c_simd_place(y->dtype, ND4C_INT_OF(call, scatter_elements_reduction)));
}

static bool usable_put_along_axis(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *indices = &call->inputs[1], *values = &call->inputs[2];
  const int32_t axis = x->rank > 0 ? nd4c_axis(ND4C_INT_OF(call, put_along_axis_axis), x->rank) : 0;
  ND4C_CPU_DECLINE_IF(x->rank == 0, "x has no axes");
  ND4C_CPU_DECLINE_IF(!are_indices_plain(indices) || (values->flags & ND4C_TENSOR_CONTIGUOUS) == 0 ||
                          !nd4c_cpu_same_shape(indices, values) || values->dtype != x->dtype,
                      "indices or values are not contiguous, or are broadcast");
  for (int32_t i = 0; i < x->rank; i++) {
    ND4C_CPU_DECLINE_IF(i != axis && indices->shape[i] != x->shape[i], "indices are broadcast");
  }
  return true;
}

static nd4c_status run_put_along_axis(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  return scatter_elements(call, nd4c_axis(ND4C_INT_OF(call, put_along_axis_axis), y->rank),
                          nd4c_simd_place(y->dtype, ND4C_SCATTER_REDUCTION_NONE));
}

/* -- placing blocks: scatter_update, scatter_add, ... -------------------------------------------------------------- */

typedef struct slice_job {
  nd4c_indices indices;
  char *whole;
  const char *part;
  int64_t count, bytes, block, outer; /* bytes of an element; elements of a block */
  nd4c_binary_loop combine;           /* NULL: copies */
} slice_job;

/* Elements [begin, end) of all blocks. Workers take different elements of a block, so they never write to the same
 * place. */
static void place_slices(void *user, int64_t begin, int64_t end, int32_t worker) {
  const slice_job *job = user;
  int64_t pitch = job->block * job->bytes, skip = begin * job->bytes, n = end - begin;
  (void)worker;
  for (int64_t outer = 0; outer < job->outer; outer++) {
    char *whole = job->whole + outer * job->indices.extent * pitch + skip;
    const char *part = job->part + outer * job->count * pitch + skip;
    for (int64_t i = 0; i < job->count; i++, part += pitch) {
      char *to = whole + index_at(&job->indices, i) * pitch;
      if (i + FORESEEN < job->count) {
        ND4C_PREFETCH((uintptr_t)(whole + index_at(&job->indices, i + FORESEEN) * pitch));
      }
      if (job->combine != NULL) {
        job->combine(n, to, part, to);
      } else {
        nd4c_copy_block(to, part, n * job->bytes);
      }
    }
  }
}

/* The loop that combines an element with its update; NULL: there is none for the dtype. */
static nd4c_binary_loop combining_loop(nd4c_dtype dtype, int64_t reduction) {
  static const enum nd4c_binary_index ops[] = {[ND4C_SCATTER_REDUCTION_ADD] = ND4C_BINARY_add,
                                               [ND4C_SCATTER_REDUCTION_SUBTRACT] = ND4C_BINARY_subtract,
                                               [ND4C_SCATTER_REDUCTION_MULTIPLY] = ND4C_BINARY_multiply,
                                               [ND4C_SCATTER_REDUCTION_DIVIDE] = ND4C_BINARY_divide,
                                               [ND4C_SCATTER_REDUCTION_MAXIMUM] = ND4C_BINARY_maximum,
                                               [ND4C_SCATTER_REDUCTION_MINIMUM] = ND4C_BINARY_minimum};
  return nd4c_simd.binary->loops[ops[reduction]][dtype].both;
}

static bool usable_slices(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->inputs[2].flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0 ||
                          call->inputs[2].dtype != call->outputs[0].dtype,
                      "an operand is not contiguous");
  ND4C_CPU_DECLINE_IF(!are_indices_plain(&call->inputs[1]), "indices are not contiguous int32 or int64");
  return true;
}

static nd4c_status scatter_slices(const nd4c_call *call, int64_t reduction) {
  const nd4c_tensor *indices = &call->inputs[1], *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, scatter_add_axis), y->rank);
  slice_job job = {.indices = indices_of(indices, y->shape[axis]),
                   .whole = y->data,
                   .part = call->inputs[2].data,
                   .count = indices->size,
                   .bytes = nd4c_cpu_dtype_bytes(y->dtype),
                   .block = 1,
                   .outer = 1,
                   .combine = reduction == ND4C_SCATTER_REDUCTION_NONE ? NULL : combining_loop(y->dtype, reduction)};
  if (!all_in_range(call, &job.indices, indices->size)) {
    return nd4c_cpu_check_indices(call, 1, axis, y->shape[axis]);
  }
  begin_with_x(call);
  for (int32_t i = 0; i < axis; i++) {
    job.outer *= y->shape[i];
  }
  for (int32_t i = axis + 1; i < y->rank; i++) {
    job.block *= y->shape[i];
  }
  if (job.outer * job.block * job.count == 0) {
    return ND4C_OK;
  }
  nd4c_place_function place = job.block == 1 ? nd4c_simd_place(y->dtype, reduction) : NULL;
  for (int64_t outer = 0; place != NULL && outer < job.outer; outer++) {
    place(job.count, &job.indices, job.part + outer * job.count * job.bytes,
          job.whole + outer * job.indices.extent * job.bytes, 1, 0);
  }
  if (place == NULL) {
    nd4c_cpu_parallel(job.block, WORTH_BYTES / (job.outer * job.count * job.bytes) + ND4C_CPU_CACHE_LINE / job.bytes,
                      call->width, place_slices, &job);
  }
  return ND4C_OK;
}

static nd4c_status run_scatter_update(const nd4c_call *call) {
  return scatter_slices(call, ND4C_SCATTER_REDUCTION_NONE);
}

/* X(op, reduction) */
#define COMBINING(X)            \
  X(scatter_add, ADD)           \
  X(scatter_subtract, SUBTRACT) \
  X(scatter_multiply, MULTIPLY) \
  X(scatter_divide, DIVIDE)     \
  X(scatter_maximum, MAXIMUM)   \
  X(scatter_minimum, MINIMUM)
#define DEFINE_COMBINING(op, reduction)                                                                     \
  static bool usable_##op(const nd4c_call *call, char *reason, size_t reason_size) {                        \
    ND4C_CPU_DECLINE_IF(combining_loop(call->outputs[0].dtype, ND4C_SCATTER_REDUCTION_##reduction) == NULL, \
                        "no loop for this dtype");                                                          \
    return usable_slices(call, reason, reason_size);                                                        \
  }                                                                                                         \
  static nd4c_status run_##op(const nd4c_call *call) {                                                      \
    return scatter_slices(call, ND4C_SCATTER_REDUCTION_##reduction);                                        \
  }
#define COMBINING_KERNEL(op, reduction) ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_MOVABLE, usable_##op, run_##op),
COMBINING(DEFINE_COMBINING)

const nd4c_kernel *const nd4c_cpu_simd_indexing_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(take, ND4C_CPU_MOVABLE, usable_take, run_take),
    ND4C_CPU_SIMD_KERNEL(embedding_lookup, ND4C_CPU_MOVABLE, usable_blocks, run_embedding_lookup),
    ND4C_CPU_SIMD_KERNEL(gather, ND4C_CPU_MOVABLE, usable_blocks, run_gather),
    ND4C_CPU_SIMD_KERNEL(gather_elements, ND4C_CPU_MOVABLE, usable_pick, run_pick),
    ND4C_CPU_SIMD_KERNEL(take_along_axis, ND4C_CPU_MOVABLE, usable_pick, run_pick),
    ND4C_CPU_SIMD_KERNEL(scatter_elements, ND4C_CPU_MOVABLE, usable_scatter_elements, run_scatter_elements),
    ND4C_CPU_SIMD_KERNEL(put_along_axis, ND4C_CPU_MOVABLE, usable_put_along_axis, run_put_along_axis),
    ND4C_CPU_SIMD_KERNEL(scatter_update, ND4C_CPU_MOVABLE, usable_slices, run_scatter_update),
    COMBINING(COMBINING_KERNEL) NULL};
