/* Engine simd: reductions. The axes of x are brought into the order of memory; then either the innermost axis is
 * reduced, and runs of it become single accumulators, or it is kept, and rows are folded into a line of accumulators.
 * Pieces do not depend on the parallel width, so neither do the bits of a result. */
#include <string.h>

#include "backends/cpu/nest.h"
#include "backends/cpu/simd.h"

enum {
  COLUMNS = 512,      /* accumulators of a line: with the packed row they stay in the L1 cache */
  CASCADE_ROWS = 128, /* rows folded one after the other before they are merged: bounds the error of long columns */
  CHUNK = 65536,      /* elements of a run that is shared out */
  MAX_CHUNKS = 512,
  GRAIN_ELEMENTS = 16384
};

typedef struct reduction {
  int32_t rank; /* at least 1 */
  int64_t shape[ND4C_CPU_MAX_RANK], x_strides[ND4C_CPU_MAX_RANK], y_strides[ND4C_CPU_MAX_RANK];
  bool reduced[ND4C_CPU_MAX_RANK];
  char *x, *y;
  int32_t x_bytes, y_bytes;
  int64_t outer_kept, outer_reduced; /* positions of the axes before the last, by kind */
  double divisor;
  const nd4c_reduce_loops *loops;
  const nd4c_arg_loops *arg; /* instead of loops */
  int64_t chunk, chunks;     /* of the last axis: shared-out runs, or columns */
  uint64_t *partial;         /* accumulators of a shared-out run */
} reduction;

/* -- bringing axes into order --------------------------------------------------------------------------------- */

static int64_t magnitude(int64_t x) {
  return x < 0 ? -x : x;
}

static void swap_axes(reduction *r, int32_t a, int32_t b) {
  int64_t *const lists[] = {r->shape, r->x_strides, r->y_strides};
  for (int32_t i = 0; i < 3; i++) {
    int64_t kept = lists[i][a];
    lists[i][a] = lists[i][b];
    lists[i][b] = kept;
  }
  bool reduced = r->reduced[a];
  r->reduced[a] = r->reduced[b];
  r->reduced[b] = reduced;
}

static void sort_axes(reduction *r) {
  for (int32_t axis = 1; axis < r->rank; axis++)
    for (int32_t i = axis; i > 0 && magnitude(r->x_strides[i - 1]) < magnitude(r->x_strides[i]); i--)
      swap_axes(r, i - 1, i);
}

/* Only x's order along kept axes and the order of summation change; positions of argmax keep their direction. */
static void turn_axes(reduction *r) {
  for (int32_t axis = 0; axis < r->rank; axis++) {
    if (r->x_strides[axis] >= 0 || (r->arg != NULL && r->reduced[axis]))
      continue;
    r->x += (r->shape[axis] - 1) * r->x_strides[axis] * r->x_bytes;
    r->y += (r->shape[axis] - 1) * r->y_strides[axis] * r->y_bytes;
    r->x_strides[axis] = -r->x_strides[axis];
    r->y_strides[axis] = -r->y_strides[axis];
  }
}

static void drop_axis(reduction *r, int32_t axis) {
  for (; axis + 1 < r->rank; axis++)
    swap_axes(r, axis, axis + 1);
  r->rank--;
}

static void merge_axes(reduction *r) {
  for (int32_t axis = r->rank - 2; axis >= 0; axis--) {
    int64_t inner = r->shape[axis + 1];
    if (r->reduced[axis] != r->reduced[axis + 1] || r->x_strides[axis] != r->x_strides[axis + 1] * inner ||
        r->y_strides[axis] != r->y_strides[axis + 1] * inner)
      continue;
    r->shape[axis + 1] *= r->shape[axis];
    drop_axis(r, axis);
  }
}

static void prepare(reduction *r, const nd4c_call *call, const bool *reduced, bool keepdims) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t y_strides[ND4C_CPU_MAX_RANK];
  nd4c_cpu_reduction_strides(x->rank, reduced, keepdims, y, y_strides);
  r->x = x->data;
  r->y = y->data;
  r->x_bytes = nd4c_cpu_dtype_bytes(x->dtype);
  r->y_bytes = nd4c_cpu_dtype_bytes(y->dtype);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    if (x->shape[axis] == 1)
      continue;
    r->shape[r->rank] = x->shape[axis];
    r->x_strides[r->rank] = x->strides[axis];
    r->y_strides[r->rank] = y_strides[axis];
    r->reduced[r->rank++] = reduced[axis];
  }
  if (r->rank == 0) {
    r->rank = 1;
    r->shape[0] = 1;
    r->x_strides[0] = 1;
    r->reduced[0] = true;
  }
  turn_axes(r);
  sort_axes(r);
  merge_axes(r);
  r->outer_kept = r->outer_reduced = 1;
  for (int32_t axis = 0; axis + 1 < r->rank; axis++)
    *(r->reduced[axis] ? &r->outer_reduced : &r->outer_kept) *= r->shape[axis];
}

/* Byte offset into x (and y) of position `index` among the outer axes of one kind. */
static int64_t locate(const reduction *r, bool reduced, int64_t index, int64_t *y_offset) {
  int64_t x_offset = 0;
  for (int32_t axis = r->rank - 2; axis >= 0; axis--) {
    if (r->reduced[axis] != reduced)
      continue;
    int64_t i = index % r->shape[axis];
    index /= r->shape[axis];
    x_offset += i * r->x_strides[axis] * r->x_bytes;
    *y_offset += i * r->y_strides[axis] * r->y_bytes;
  }
  return x_offset;
}

/* n elements of the last axis, contiguous: in place or in the buffer. */
static const char *gather(const reduction *r, int64_t n, const char *x, char *buffer) {
  int64_t stride = r->x_strides[r->rank - 1];
  if (stride == 1)
    return x;
  nd4c_simd.move->move[r->x_bytes](1, n, x, 0, stride, buffer, 0, 1);
  return buffer;
}

/* -- the last axis is reduced --------------------------------------------------------------------------------- */

/* One accumulator from n elements at x. Strided ones pass through a buffer in pieces. */
static void reduce_run(const reduction *r, int64_t n, const char *x, uint64_t *accumulator) {
  _Alignas(64) char buffer[8 * COLUMNS];
  int64_t stride = r->x_strides[r->rank - 1], piece = stride == 1 ? n : (int64_t)sizeof buffer / r->x_bytes;
  for (int64_t i = 0; i < n; i += piece) {
    uint64_t one;
    int64_t count = n - i < piece ? n - i : piece;
    const char *from = gather(r, count, x + i * stride * r->x_bytes, buffer);
    r->loops->run(count, from, i == 0 ? accumulator : &one);
    if (i > 0)
      r->loops->merge(1, &one, accumulator);
  }
}

static void runs_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const reduction *r = user;
  int64_t n = r->shape[r->rank - 1];
  (void)worker;
  for (int64_t kept = begin; kept < end; kept++) {
    int64_t y_offset = 0, unused = 0;
    const char *x = r->x + locate(r, false, kept, &y_offset);
    uint64_t all, one;
    for (int64_t i = 0; i < r->outer_reduced; i++) {
      reduce_run(r, n, x + (i == 0 ? 0 : locate(r, true, i, &unused)), i == 0 ? &all : &one);
      if (i > 0)
        r->loops->merge(1, &one, &all);
    }
    r->loops->store(1, &all, r->divisor, r->y + y_offset);
  }
}

/* A few long runs: each in chunks, whose accumulators are merged in a fixed order. */
static void chunks_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const reduction *r = user;
  int64_t n = r->shape[r->rank - 1], stride = r->x_strides[r->rank - 1];
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t from = i * r->chunk, count = n - from < r->chunk ? n - from : r->chunk;
    reduce_run(r, count, r->x + from * stride * r->x_bytes, &r->partial[i]);
  }
}

static void reduce_shared_out(reduction *r, int32_t width) {
  uint64_t partial[MAX_CHUNKS];
  r->partial = partial;
  nd4c_cpu_parallel(r->chunks, 1, width, chunks_range, r);
  for (int64_t step = 1; step < r->chunks; step *= 2)
    for (int64_t i = 0; i + step < r->chunks; i += 2 * step)
      r->loops->merge(1, &partial[i + step], &partial[i]);
  r->loops->store(1, partial, r->divisor, r->y);
}

static void reduce_runs(reduction *r, int32_t width) {
  int64_t n = r->shape[r->rank - 1];
  if (r->outer_kept == 1 && r->outer_reduced == 1 && n > CHUNK) {
    r->chunk = n / MAX_CHUNKS / CHUNK * CHUNK + CHUNK;
    r->chunks = (n + r->chunk - 1) / r->chunk;
    reduce_shared_out(r, width);
    return;
  }
  nd4c_cpu_parallel(r->outer_kept, GRAIN_ELEMENTS / (n * r->outer_reduced) + 1, width, runs_range, r);
}

/* -- the last axis is kept ------------------------------------------------------------------------------------ */

/* A line of accumulators to the output, whose elements may have gaps. */
static void store_line(const reduction *r, int64_t n, const uint64_t *accumulators, char *y) {
  int64_t stride = r->y_strides[r->rank - 1];
  _Alignas(64) char buffer[8 * COLUMNS];
  r->loops->store(n, accumulators, r->divisor, stride == 1 ? y : buffer);
  if (stride != 1)
    nd4c_simd.move->move[r->y_bytes](1, n, buffer, 0, 1, y, 0, stride);
}

static void fold_line(const reduction *r, int64_t n, const char *x, char *y) {
  _Alignas(64) uint64_t all[COLUMNS], some[COLUMNS];
  _Alignas(64) char buffer[8 * COLUMNS];
  int64_t unused = 0;
  for (int64_t row = 0; row < r->outer_reduced; row++) {
    const char *from = gather(r, n, x + (row == 0 ? 0 : locate(r, true, row, &unused)), buffer);
    bool first = row % CASCADE_ROWS == 0;
    if (first && row > CASCADE_ROWS)
      r->loops->merge(n, some, all);
    r->loops->fold(n, from, row < CASCADE_ROWS ? all : some, first);
  }
  if (r->outer_reduced > CASCADE_ROWS)
    r->loops->merge(n, some, all);
  store_line(r, n, all, y);
}

static void arg_line(const reduction *r, int64_t n, const char *x, char *y) {
  _Alignas(64) char best[8 * COLUMNS], buffer[8 * COLUMNS];
  int64_t where[COLUMNS], unused = 0;
  for (int64_t row = 0; row < r->outer_reduced; row++)
    r->arg->fold(n, gather(r, n, x + locate(r, true, row, &unused), buffer), row, best, where);
  nd4c_simd.move->move[8](1, n, where, 0, 1, y, 0, r->y_strides[r->rank - 1]);
}

static void lines_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const reduction *r = user;
  int32_t last = r->rank - 1;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t y_offset = 0, column = i % r->chunks * r->chunk;
    int64_t n = r->shape[last] - column < r->chunk ? r->shape[last] - column : r->chunk;
    const char *x = r->x + locate(r, false, i / r->chunks, &y_offset) + column * r->x_strides[last] * r->x_bytes;
    char *y = r->y + y_offset + column * r->y_strides[last] * r->y_bytes;
    if (r->arg != NULL)
      arg_line(r, n, x, y);
    else
      fold_line(r, n, x, y);
  }
}

static void reduce_lines(reduction *r, int32_t width) {
  r->chunk = COLUMNS;
  r->chunks = (r->shape[r->rank - 1] + COLUMNS - 1) / COLUMNS;
  int64_t work = (r->shape[r->rank - 1] < COLUMNS ? r->shape[r->rank - 1] : COLUMNS) * r->outer_reduced;
  nd4c_cpu_parallel(r->outer_kept * r->chunks, GRAIN_ELEMENTS / work + 1, width, lines_range, r);
}

/* -- positions along the last axis ---------------------------------------------------------------------------- */

static void args_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const reduction *r = user;
  (void)worker;
  for (int64_t kept = begin; kept < end; kept++) {
    int64_t y_offset = 0;
    const char *x = r->x + locate(r, false, kept, &y_offset);
    int64_t found = r->arg->run(r->shape[r->rank - 1], x);
    memcpy(r->y + y_offset, &found, sizeof found);
  }
}

/* -- ops ------------------------------------------------------------------------------------------------------ */

static void run_reduction(reduction *r, int32_t width) {
  if (!r->reduced[r->rank - 1])
    reduce_lines(r, width);
  else if (r->arg == NULL)
    reduce_runs(r, width);
  else
    nd4c_cpu_parallel(r->outer_kept, GRAIN_ELEMENTS / r->shape[r->rank - 1] + 1, width, args_range, r);
}

static nd4c_status run_axes(const nd4c_call *call, enum nd4c_reduce_index op, bool mean) {
  bool reduced[ND4C_CPU_MAX_RANK];
  reduction r = {.divisor = 1, .loops = &nd4c_simd.reduce->loops[op][call->inputs[0].dtype]};
  nd4c_cpu_reduced_axes(call->inputs[0].rank, &call->attrs[ND4C_ATTR_sum_axes], reduced);
  prepare(&r, call, reduced, call->attrs[ND4C_ATTR_sum_keepdims].as.i != 0);
  if (mean)
    r.divisor = (double)(call->inputs[0].size / call->outputs[0].size);
  run_reduction(&r, call->width);
  return ND4C_OK;
}

static bool usable_axes(const nd4c_call *call, enum nd4c_reduce_index op, char *reason, size_t reason_size) {
  if (call->inputs[0].size == 0)
    return nd4c_cpu_decline(reason, reason_size, "nothing to reduce");
  if (nd4c_simd.reduce->loops[op][call->inputs[0].dtype].run == NULL)
    return nd4c_cpu_decline(reason, reason_size, "no loop for this dtype");
  return true;
}

/* The same for the ops that may be asked for a dtype. */
static bool usable_gathered(const nd4c_call *call, enum nd4c_reduce_index op, char *reason, size_t reason_size) {
  bool asked = call->attrs[ND4C_ATTR_sum_dtype].as.i != ND4C_DTYPE_NONE;
  nd4c_dtype x = call->inputs[0].dtype;
  bool kept =
      call->outputs[0].dtype == x && ((ND4C_DTYPE_BIT(x) & ND4C_CPU_FLOATS) != 0 || nd4c_cpu_dtype_bytes(x) == 8);
  if (asked && !kept)
    return nd4c_cpu_decline(reason, reason_size, "not into the dtype asked for");
  return usable_axes(call, op, reason, reason_size);
}

static nd4c_status run_axis(const nd4c_call *call, const nd4c_arg_loops *loops) {
  bool reduced[ND4C_CPU_MAX_RANK] = {false};
  reduction r = {.arg = &loops[call->inputs[0].dtype]};
  int64_t axis = call->attrs[ND4C_ATTR_argmax_axis].as.i;
  reduced[axis < 0 ? axis + call->inputs[0].rank : axis] = true;
  prepare(&r, call, reduced, call->attrs[ND4C_ATTR_argmax_keepdims].as.i != 0);
  run_reduction(&r, call->width);
  return ND4C_OK;
}

static bool usable_axis(const nd4c_call *call, const nd4c_arg_loops *loops, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0];
  if (x->size == 0 || x->rank == 0)
    return nd4c_cpu_decline(reason, reason_size, "nothing to reduce");
  int64_t axis = call->attrs[ND4C_ATTR_argmax_axis].as.i;
  axis = axis < 0 ? axis + x->rank : axis;
  bool is_last = true; /* in the order of memory */
  for (int32_t other = 0; other < x->rank; other++)
    if (x->shape[other] > 1 && magnitude(x->strides[other]) < magnitude(x->strides[axis]))
      is_last = false;
  if (x->shape[axis] == 1 || (is_last && x->strides[axis] != 1))
    return nd4c_cpu_decline(reason, reason_size, "the axis has length 1, gaps, or runs backwards");
  if (loops[x->dtype].run == NULL)
    return nd4c_cpu_decline(reason, reason_size, "no loop for this dtype");
  return true;
}

/* X(op, loops, mean, what says whether they serve) */
#define AXES_OPS(X)              \
  X(sum, sum, false, gathered)   \
  X(prod, prod, false, gathered) \
  X(mean, sum, true, axes)       \
  X(max, max, false, axes)       \
  X(min, min, false, axes)       \
  X(all, min, false, axes)       \
  X(any, max, false, axes)

#define DEFINE_AXES(op, loop, mean, check)                                           \
  static nd4c_status run_##op(const nd4c_call *call) {                               \
    return run_axes(call, ND4C_REDUCE_##loop, mean);                                 \
  }                                                                                  \
  static bool usable_##op(const nd4c_call *call, char *reason, size_t reason_size) { \
    return usable_##check(call, ND4C_REDUCE_##loop, reason, reason_size);            \
  }
AXES_OPS(DEFINE_AXES)

#define DEFINE_AXIS(op)                                                              \
  static nd4c_status run_##op(const nd4c_call *call) {                               \
    return run_axis(call, nd4c_simd.reduce->op);                                     \
  }                                                                                  \
  static bool usable_##op(const nd4c_call *call, char *reason, size_t reason_size) { \
    return usable_axis(call, nd4c_simd.reduce->op, reason, reason_size);             \
  }
DEFINE_AXIS(argmax)
DEFINE_AXIS(argmin)

/* X(op, dtypes) */
#define OPS(X)              \
  X(sum, ND4C_CPU_REALS)    \
  X(prod, ND4C_CPU_REALS)   \
  X(mean, ND4C_CPU_FLOATS)  \
  X(max, ND4C_CPU_REALS)    \
  X(min, ND4C_CPU_REALS)    \
  X(all, ND4C_CPU_BOOLS)    \
  X(any, ND4C_CPU_BOOLS)    \
  X(argmax, ND4C_CPU_REALS) \
  X(argmin, ND4C_CPU_REALS)
#define DEFINE_KERNEL(op, dtypes) ND4C_CPU_SIMD_KERNEL(op, dtypes, usable_##op, run_##op)
OPS(DEFINE_KERNEL)

#define KERNEL_ENTRY(op, dtypes) &simd_##op,
const nd4c_kernel *const nd4c_cpu_simd_reduction_kernels[] = {OPS(KERNEL_ENTRY) NULL};
