/* Engine simd: reductions. The axes of x are brought into the order of memory. If the innermost axis is reduced, each
 * run of it becomes one accumulator; if it is kept, rows are folded into a line of accumulators. Pieces, and so the
 * bits of a result, do not depend on the parallel width. dispatch/choice.c asks these kernels before the
 * reference's. */
#include <math.h>
#include <string.h>

#include "backends/cpu/simd/elementwise/floats.h"
#include "backends/cpu/simd/reduction/reduction_terms.h"
#include "backends/cpu/support/reduction.h"

enum {
  COLUMNS = 2048,     /* accumulators of a line: they stay in the L1 cache, and pieces of rows are long */
  FEW_COLUMNS = 256,  /* lines are not cut shorter than that to give every worker one */
  RUNS = 64,          /* whose results are stored together */
  CASCADE_ROWS = 128, /* rows folded one after the other before they are merged: bounds the error of long columns */
  PARTIAL = 4096,     /* accumulators of rows that are shared out */
  LEAST_GROUPS = 4,
  MAX_GROUPS = 64,
  CHUNK = 65536, /* elements of a run that is shared out */
  MAX_CHUNKS = 512,
  GRAIN_ELEMENTS = 16384
};

typedef struct reduction {
  nd4c_reduction axes;
  double divisor;
  bool rescue; /* sums of squares of f64 may leave the range of their root */
  const nd4c_reduction_loops *loops;
  const nd4c_arg_loops *arg; /* instead of loops */
  int64_t chunk, chunks;     /* of the last axis: shared-out runs, or columns; or rows */
  uint64_t *partial;         /* accumulators of shared-out runs or rows */
} reduction;

/* -- norm2 of f64 ---------------------------------------------------------------------------------------------- */

/* The norm for one result if the sum of squares overflowed or lost digits: each element is divided by a power of two
 * near the largest. x: the first element. */
static double scaled_norm(const reduction *r, const char *x) {
  const nd4c_reduction *a = &r->axes;
  int32_t last = a->rank - 1;
  int64_t run = a->reduced[last] ? a->shape[last] : 1, unused = 0, since = 0;
  double largest = 0, scale = 1, sum = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < a->outer_reduced * run && !nd4c_reduction_stops(&r->axes, 1, &since); i++) {
      double value;
      int64_t offset = nd4c_reduction_locate(a, true, i / run, &unused) + i % run * a->x_strides[last] * a->x_bytes;
      memcpy(&value, x + offset, sizeof value);
      double scaled = value / scale;
      largest = largest == largest && !(fabs(value) <= largest) ? fabs(value) : largest;
      sum += pass == 1 ? scaled * scaled : 0;
    }
    if (!isfinite(largest) || largest == 0) {
      return largest;
    }
    scale = ldexp(1, ilogb(largest));
  }
  return sqrt(sum) * scale;
}

/* n results from accumulators; x: where the first result's elements begin. */
static void store(const reduction *r, int64_t n, const uint64_t *accumulators, const char *x, char *y) {
  const nd4c_reduction *a = &r->axes;
  r->loops->store(n, accumulators, r->divisor, y);
  for (int64_t i = 0; r->rescue && i < n; i++) {
    double square;
    memcpy(&square, &accumulators[i], sizeof square);
    if ((square > 0x1p-900 && square < INFINITY) || square != square) {
      continue;
    }
    double norm = scaled_norm(r, x + i * a->x_strides[a->rank - 1] * a->x_bytes);
    memcpy(y + i * (int64_t)sizeof norm, &norm, sizeof norm);
  }
}

/* -- the last axis is reduced --------------------------------------------------------------------------------- */

/* One accumulator from n elements at x. Strided ones pass through a buffer in pieces. */
static void reduce_run(const reduction *r, int64_t n, const char *x, uint64_t *accumulator, int64_t *since) {
  const nd4c_reduction *a = &r->axes;
  _Alignas(64) char buffer[8 * COLUMNS];
  int64_t stride = a->x_strides[a->rank - 1], piece = stride == 1 ? n : (int64_t)sizeof buffer / a->x_bytes;
  for (int64_t i = 0; i < n; i += piece) {
    uint64_t one;
    int64_t count = n - i < piece ? n - i : piece;
    const char *from = nd4c_reduction_gather(a, count, x + i * stride * a->x_bytes, buffer);
    r->loops->run(1, count, from, 0, i == 0 ? accumulator : &one);
    if (i > 0) {
      r->loops->merge(1, &one, accumulator);
    }
    if (nd4c_reduction_stops(&r->axes, count, since)) {
      return;
    }
  }
}

/* Runs a step apart whose results lie side by side. */
static void even_runs_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const reduction *r = user;
  const nd4c_reduction *a = &r->axes;
  uint64_t all[RUNS];
  int64_t step = a->x_strides[0] * a->x_bytes, since = 0;
  (void)worker;
  for (int64_t kept = begin; kept < end && !nd4c_reduction_stops(&r->axes, RUNS * nd4c_reduction_last(a), &since);
       kept += RUNS) {
    int64_t count = end - kept < RUNS ? end - kept : RUNS;
    const char *x = a->x + kept * step;
    r->loops->run(count, nd4c_reduction_last(a), x, step, all);
    r->loops->store(count, all, r->divisor, a->y + kept * a->y_bytes);
  }
}

static void runs_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const reduction *r = user;
  const nd4c_reduction *a = &r->axes;
  int64_t n = nd4c_reduction_last(a), since = 0;
  (void)worker;
  for (int64_t kept = begin; kept < end && !nd4c_reduction_stops(&r->axes, 0, &since); kept++) {
    int64_t y_offset = 0, unused = 0;
    const char *x = a->x + nd4c_reduction_locate(a, false, kept, &y_offset);
    uint64_t all, one;
    for (int64_t i = 0; i < a->outer_reduced && (i == 0 || !nd4c_reduction_stops(&r->axes, 0, &since)); i++) {
      reduce_run(r, n, x + (i == 0 ? 0 : nd4c_reduction_locate(a, true, i, &unused)), i == 0 ? &all : &one, &since);
      if (i > 0) {
        r->loops->merge(1, &one, &all);
      }
    }
    store(r, 1, &all, x, a->y + y_offset);
  }
}

/* A few long runs: each in chunks, whose accumulators are merged in a fixed order. */
static void chunks_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const reduction *r = user;
  const nd4c_reduction *a = &r->axes;
  int64_t n = nd4c_reduction_last(a), stride = a->x_strides[a->rank - 1], since = 0;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t from = i * r->chunk, count = n - from < r->chunk ? n - from : r->chunk;
    reduce_run(r, count, a->x + from * stride * a->x_bytes, &r->partial[i], &since);
  }
}

static void reduce_shared_out(reduction *r, int32_t width) {
  uint64_t partial[MAX_CHUNKS];
  r->partial = partial;
  nd4c_cpu_parallel(r->chunks, 1, width, chunks_range, r);
  if (nd4c_reduction_stopped(&r->axes)) {
    return;
  }
  for (int64_t step = 1; step < r->chunks; step *= 2) {
    for (int64_t i = 0; i + step < r->chunks; i += 2 * step) {
      r->loops->merge(1, &partial[i + step], &partial[i]);
    }
  }
  store(r, 1, partial, r->axes.x, r->axes.y);
}

static void reduce_runs(reduction *r, int32_t width) {
  const nd4c_reduction *a = &r->axes;
  int64_t n = nd4c_reduction_last(a);
  if (a->outer_kept == 1 && a->outer_reduced == 1 && n > CHUNK) {
    r->chunk = n / MAX_CHUNKS / CHUNK * CHUNK + CHUNK;
    r->chunks = (n + r->chunk - 1) / r->chunk;
    reduce_shared_out(r, width);
    return;
  }
  bool even = a->rank == 2 && a->outer_reduced == 1 && a->x_strides[1] == 1 && a->y_strides[0] == 1 && !r->rescue;
  nd4c_cpu_parallel(a->outer_kept, GRAIN_ELEMENTS / (n * a->outer_reduced) + 1, width,
                    even ? even_runs_range : runs_range, r);
}

/* -- the last axis is kept ------------------------------------------------------------------------------------ */

/* A line of accumulators to the output, whose elements may have gaps. */
static void store_line(const reduction *r, int64_t n, const uint64_t *accumulators, const char *x, char *y) {
  const nd4c_reduction *a = &r->axes;
  int64_t stride = a->y_strides[a->rank - 1];
  _Alignas(64) char buffer[8 * COLUMNS];
  store(r, n, accumulators, x, stride == 1 ? y : buffer);
  if (stride != 1) {
    nd4c_simd.move->move[a->y_bytes](1, n, buffer, 0, 1, y, 0, stride);
  }
}

/* Rows one step apart that can be folded in one call, from row `row` on. */
static int64_t even_rows(const nd4c_reduction *a, int64_t row, int64_t *step) {
  int32_t last = a->rank - 1;
  int64_t inner = 1;
  *step = 0;
  if (a->x_strides[last] != 1) {
    return 1;
  }
  for (int32_t axis = last - 1; axis >= 0; axis--) {
    if (!a->reduced[axis]) {
      continue;
    }
    inner = a->shape[axis];
    *step = a->x_strides[axis] * a->x_bytes;
    break;
  }
  return inner - row % inner;
}

/* The accumulators of the rows from `begin` to `end`. */
static void fold_rows(const reduction *r, int64_t begin, int64_t end, int64_t n, const char *x, uint64_t *all,
                      int64_t *since) {
  const nd4c_reduction *a = &r->axes;
  _Alignas(64) uint64_t some[COLUMNS];
  _Alignas(64) char buffer[8 * COLUMNS];
  int64_t unused = 0, step, rows;
  for (int64_t row = begin, done = 0; row < end; row += rows, done += rows) {
    const char *from =
        nd4c_reduction_gather(a, n, x + (row == 0 ? 0 : nd4c_reduction_locate(a, true, row, &unused)), buffer);
    int64_t left = CASCADE_ROWS - done % CASCADE_ROWS;
    bool first = done % CASCADE_ROWS == 0;
    rows = even_rows(a, row, &step);
    rows = rows < left ? rows : left;
    rows = rows < end - row ? rows : end - row;
    if (first && done > CASCADE_ROWS) {
      r->loops->merge(n, some, all);
    }
    r->loops->fold(rows, n, from, step, done < CASCADE_ROWS ? all : some, first);
    if (nd4c_reduction_stops(&r->axes, rows * n, since)) {
      return;
    }
  }
  if (end - begin > CASCADE_ROWS) {
    r->loops->merge(n, some, all);
  }
}

static void fold_line(const reduction *r, int64_t n, const char *x, char *y, int64_t *since) {
  _Alignas(64) uint64_t all[COLUMNS];
  fold_rows(r, 0, r->axes.outer_reduced, n, x, all, since);
  store_line(r, n, all, x, y);
}

static void arg_line(const reduction *r, int64_t n, const char *x, char *y, int64_t *since) {
  const nd4c_reduction *a = &r->axes;
  _Alignas(64) char best[8 * COLUMNS], buffer[8 * COLUMNS];
  int64_t where[COLUMNS], unused = 0;
  for (int64_t row = 0; row < a->outer_reduced && (row == 0 || !nd4c_reduction_stops(&r->axes, n, since)); row++) {
    r->arg->fold(n, nd4c_reduction_gather(a, n, x + nd4c_reduction_locate(a, true, row, &unused), buffer), row, best,
                 where);
  }
  nd4c_simd.move->move[8](1, n, where, 0, 1, y, 0, a->y_strides[a->rank - 1]);
}

static void lines_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const reduction *r = user;
  const nd4c_reduction *a = &r->axes;
  int32_t last = a->rank - 1;
  int64_t since = 0;
  (void)worker;
  for (int64_t i = begin; i < end && !nd4c_reduction_stops(&r->axes, 0, &since); i++) {
    int64_t y_offset = 0, column = i % r->chunks * r->chunk;
    int64_t n = a->shape[last] - column < r->chunk ? a->shape[last] - column : r->chunk;
    const char *x =
        a->x + nd4c_reduction_locate(a, false, i / r->chunks, &y_offset) + column * a->x_strides[last] * a->x_bytes;
    char *y = a->y + y_offset + column * a->y_strides[last] * a->y_bytes;
    if (r->arg != NULL) {
      arg_line(r, n, x, y, &since);
    } else {
      fold_line(r, n, x, y, &since);
    }
  }
}

/* Few and short lines of many rows: groups of rows are folded apart, and merged in a fixed order. */
static void groups_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const reduction *r = user;
  const nd4c_reduction *a = &r->axes;
  int64_t n = nd4c_reduction_last(a), unused = 0, since = 0;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    const int64_t row = i % r->chunks * r->chunk, left = a->outer_reduced - row;
    fold_rows(r, row, row + (left < r->chunk ? left : r->chunk), n,
              a->x + nd4c_reduction_locate(a, false, i / r->chunks, &unused), r->partial + i * n, &since);
  }
}

/* Sets the groups of rows, which do not depend on the parallel width. False: there would be so few that the last one,
 * which is shorter, leaves a worker idle. */
static bool divide_rows(reduction *r) {
  const nd4c_reduction *a = &r->axes;
  const int64_t columns = nd4c_reduction_last(a);
  int64_t most = columns > PARTIAL / a->outer_kept ? 0 : PARTIAL / (columns * a->outer_kept);
  most = most < MAX_GROUPS ? most : MAX_GROUPS;
  if (r->arg != NULL || most < LEAST_GROUPS) {
    return false;
  }
  const int64_t least = GRAIN_ELEMENTS / columns + 1, share = a->outer_reduced / most + 1;
  const int64_t rows = share < least ? least : share;
  r->chunk = (rows + CASCADE_ROWS - 1) / CASCADE_ROWS * CASCADE_ROWS;
  r->chunks = (a->outer_reduced + r->chunk - 1) / r->chunk;
  return r->chunks >= LEAST_GROUPS;
}

static void reduce_groups(reduction *r, int32_t width) {
  const nd4c_reduction *a = &r->axes;
  _Alignas(64) uint64_t partial[PARTIAL];
  const int64_t n = nd4c_reduction_last(a);
  r->partial = partial;
  nd4c_cpu_parallel(a->outer_kept * r->chunks, 1, width, groups_range, r);
  for (int64_t kept = 0; kept < a->outer_kept && !nd4c_reduction_stopped(a); kept++) {
    uint64_t *groups = partial + kept * r->chunks * n;
    int64_t y_offset = 0;
    const char *x = a->x + nd4c_reduction_locate(a, false, kept, &y_offset);
    for (int64_t step = 1; step < r->chunks; step *= 2) {
      for (int64_t i = 0; i + step < r->chunks; i += 2 * step) {
        r->loops->merge(n, groups + (i + step) * n, groups + i * n);
      }
    }
    store_line(r, n, groups, x, a->y + y_offset);
  }
}

static void reduce_lines(reduction *r, int32_t width) {
  const nd4c_reduction *a = &r->axes;
  if (divide_rows(r)) {
    reduce_groups(r, width);
    return;
  }
  int64_t columns = nd4c_reduction_last(a), share = (columns / width + 63) / 64 * 64;
  share = share < FEW_COLUMNS ? FEW_COLUMNS : share;
  r->chunk = a->outer_kept < width && share < COLUMNS ? share : COLUMNS;
  r->chunks = (columns + r->chunk - 1) / r->chunk;
  int64_t work = (columns < r->chunk ? columns : r->chunk) * a->outer_reduced;
  nd4c_cpu_parallel(a->outer_kept * r->chunks, GRAIN_ELEMENTS / work + 1, width, lines_range, r);
}

/* -- positions along the last axis ---------------------------------------------------------------------------- */

static void args_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const reduction *r = user;
  const nd4c_reduction *a = &r->axes;
  int64_t since = 0;
  (void)worker;
  for (int64_t kept = begin; kept < end && !nd4c_reduction_stops(&r->axes, nd4c_reduction_last(a), &since); kept++) {
    int64_t y_offset = 0;
    const char *x = a->x + nd4c_reduction_locate(a, false, kept, &y_offset);
    int64_t found = r->arg->run(nd4c_reduction_last(a), x);
    memcpy(a->y + y_offset, &found, sizeof found);
  }
}

/* -- ops ------------------------------------------------------------------------------------------------------ */

static nd4c_status run_reduction(reduction *r, const nd4c_call *call) {
  const nd4c_reduction *a = &r->axes;
  const int32_t width = call->width;
  if (!a->reduced[a->rank - 1]) {
    reduce_lines(r, width);
  } else if (r->arg == NULL) {
    reduce_runs(r, width);
  } else {
    nd4c_cpu_parallel(a->outer_kept, GRAIN_ELEMENTS / nd4c_reduction_last(a) + 1, width, args_range, r);
  }
  return nd4c_reduction_end(a, call);
}

static nd4c_status reduce(const nd4c_call *call, enum nd4c_reduce_index op, const nd4c_attr_value *axes, bool keepdims,
                          bool mean) {
  const nd4c_tensor *x = &call->inputs[0];
  bool reduced[ND4C_CPU_MAX_RANK];
  reduction r = {.divisor = 1, .loops = &nd4c_simd.reduction->loops[op][x->dtype]};
  r.rescue = op == ND4C_REDUCE_norm2 && x->dtype == ND4C_FLOAT64;
  nd4c_cpu_reduced_axes(x->rank, axes, reduced);
  nd4c_reduction_prepare(&r.axes, call, reduced, keepdims, false);
  if (mean) {
    r.divisor = (double)(x->size / call->outputs[0].size);
  }
  return run_reduction(&r, call);
}

nd4c_status nd4c_simd_reduce(const nd4c_call *call, enum nd4c_reduce_index op, const nd4c_attr_value *axes,
                             bool keepdims) {
  return reduce(call, op, axes, keepdims, false);
}

static bool is_complex(nd4c_dtype dtype) {
  return (ND4C_DTYPE_BIT(dtype) & ND4C_CPU_COMPLEXES) != 0;
}

/* Of complex numbers: first of the real parts, then of the imaginary ones. */
static nd4c_status run_axes(const nd4c_call *call, enum nd4c_reduce_index op, bool mean) {
  nd4c_call same = *call;
  for (int32_t part = 0; part < 2 && is_complex(call->inputs[0].dtype); part++) {
    nd4c_simd_floats x, y;
    nd4c_simd_view_floats(&call->inputs[0], part, &x);
    nd4c_simd_view_floats(&call->outputs[0], part, &y);
    same.inputs = &x.tensor;
    same.outputs = &y.tensor;
    ND4C_BACKEND_TRY(reduce(&same, op, &call->attrs[ND4C_ATTR_sum_axes], ND4C_FLAG_OF(call, sum_keepdims), mean));
  }
  if (is_complex(call->inputs[0].dtype)) {
    return ND4C_OK;
  }
  return reduce(call, op, &call->attrs[ND4C_ATTR_sum_axes], ND4C_FLAG_OF(call, sum_keepdims), mean);
}

/* Reduces all axes except those of images and channels. */
static nd4c_status run_global(const nd4c_call *call, enum nd4c_reduce_index op, bool mean) {
  const nd4c_tensor *x = &call->inputs[0];
  bool reduced[ND4C_CPU_MAX_RANK] = {false};
  reduction r = {.divisor = 1, .loops = &nd4c_simd.reduction->loops[op][x->dtype]};
  for (int32_t axis = 2; axis < x->rank; axis++) {
    reduced[axis] = true;
  }
  nd4c_reduction_prepare(&r.axes, call, reduced, true, false);
  if (mean) {
    r.divisor = (double)(x->size / call->outputs[0].size);
  }
  return run_reduction(&r, call);
}

static bool usable_axes(const nd4c_call *call, enum nd4c_reduce_index op, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0, "nothing to reduce");
  ND4C_CPU_DECLINE_IF(nd4c_simd.reduction->loops[op][nd4c_simd_part_dtype(call->inputs[0].dtype)].run == NULL,
                      "no loop for this dtype");
  return true;
}

/* The same for the ops that may be asked for a dtype. */
static bool usable_gathered(const nd4c_call *call, enum nd4c_reduce_index op, char *reason, size_t reason_size) {
  bool asked = ND4C_INT_OF(call, sum_dtype) != ND4C_DTYPE_NONE;
  nd4c_dtype x = call->inputs[0].dtype;
  bool kept = call->outputs[0].dtype == x &&
              ((ND4C_DTYPE_BIT(x) & (ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES)) != 0 || nd4c_cpu_dtype_bytes(x) == 8);
  ND4C_CPU_DECLINE_IF(asked && !kept, "not into the dtype asked for");
  return usable_axes(call, op, reason, reason_size);
}

static nd4c_status run_axis(const nd4c_call *call, const nd4c_arg_loops *loops) {
  bool reduced[ND4C_CPU_MAX_RANK] = {false};
  reduction r = {.arg = &loops[call->inputs[0].dtype]};
  reduced[nd4c_axis(ND4C_INT_OF(call, argmax_axis), call->inputs[0].rank)] = true;
  nd4c_reduction_prepare(&r.axes, call, reduced, ND4C_FLAG_OF(call, argmax_keepdims), true);
  return run_reduction(&r, call);
}

static int64_t stride_size(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

static bool usable_axis(const nd4c_call *call, const nd4c_arg_loops *loops, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0];
  ND4C_CPU_DECLINE_IF(x->size == 0 || x->rank == 0, "nothing to reduce");
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, argmax_axis), x->rank);
  bool is_last = true; /* in the order of memory */
  for (int32_t other = 0; other < x->rank; other++) {
    if (x->shape[other] > 1 && stride_size(x->strides[other]) < stride_size(x->strides[axis])) {
      is_last = false;
    }
  }
  ND4C_CPU_DECLINE_IF(x->shape[axis] == 1 || (is_last && x->strides[axis] != 1),
                      "the axis has length 1, gaps, or runs backwards");
  ND4C_CPU_DECLINE_IF(loops[x->dtype].run == NULL, "no loop for this dtype");
  return true;
}

/* X(op, loops, whether it is a mean, which usable_ function checks it) */
#define AXES_OPS(X)                  \
  X(sum, sum, false, gathered)       \
  X(prod, prod, false, gathered)     \
  X(mean, sum, true, axes)           \
  X(max, max, false, axes)           \
  X(min, min, false, axes)           \
  X(all, min, false, axes)           \
  X(any, max, false, axes)           \
  X(norm1, norm1, false, axes)       \
  X(abs_mean, norm1, true, axes)     \
  X(norm2, norm2, false, axes)       \
  X(norm_max, norm_max, false, axes) \
  X(sum_square, sum_square, false, axes)

#define DEFINE_AXES(op, loop, mean, check)                                           \
  static nd4c_status run_##op(const nd4c_call *call) {                               \
    return run_axes(call, ND4C_REDUCE_##loop, mean);                                 \
  }                                                                                  \
  static bool usable_##op(const nd4c_call *call, char *reason, size_t reason_size) { \
    return usable_##check(call, ND4C_REDUCE_##loop, reason, reason_size);            \
  }
AXES_OPS(DEFINE_AXES)

#define DEFINE_GLOBAL(op, loop, mean)                                                \
  static nd4c_status run_##op(const nd4c_call *call) {                               \
    return run_global(call, ND4C_REDUCE_##loop, mean);                               \
  }                                                                                  \
  static bool usable_##op(const nd4c_call *call, char *reason, size_t reason_size) { \
    return usable_axes(call, ND4C_REDUCE_##loop, reason, reason_size);               \
  }
DEFINE_GLOBAL(global_average_pool, sum, true)
DEFINE_GLOBAL(global_max_pool, max, false)

static nd4c_status run_global_lp_pool(const nd4c_call *call) {
  return run_global(call, ND4C_REAL_OF(call, global_lp_pool_p) == 1 ? ND4C_REDUCE_norm1 : ND4C_REDUCE_norm2, false);
}

static bool usable_global_lp_pool(const nd4c_call *call, char *reason, size_t reason_size) {
  const double p = ND4C_REAL_OF(call, global_lp_pool_p);
  ND4C_CPU_DECLINE_IF(p != 1 && p != 2, "p is neither 1 nor 2");
  return usable_axes(call, ND4C_REDUCE_norm2, reason, reason_size);
}

#define DEFINE_AXIS(op)                                                              \
  static nd4c_status run_##op(const nd4c_call *call) {                               \
    return run_axis(call, nd4c_simd.reduction->op);                                  \
  }                                                                                  \
  static bool usable_##op(const nd4c_call *call, char *reason, size_t reason_size) { \
    return usable_axis(call, nd4c_simd.reduction->op, reason, reason_size);          \
  }
DEFINE_AXIS(argmax)
DEFINE_AXIS(argmin)

/* X(op, dtypes) */
#define OPS(X)                             \
  X(sum, ND4C_CPU_REALS | ND4C_CPU_BOOLS)  \
  X(prod, ND4C_CPU_REALS | ND4C_CPU_BOOLS) \
  X(mean, ND4C_CPU_FLOATS)                 \
  X(max, ND4C_CPU_REALS)                   \
  X(min, ND4C_CPU_REALS)                   \
  X(all, ND4C_CPU_BOOLS)                   \
  X(any, ND4C_CPU_BOOLS)                   \
  X(argmax, ND4C_CPU_REALS)                \
  X(argmin, ND4C_CPU_REALS)                \
  X(norm1, ND4C_CPU_FLOATS)                \
  X(abs_mean, ND4C_CPU_FLOATS)             \
  X(norm2, ND4C_CPU_FLOATS)                \
  X(norm_max, ND4C_CPU_FLOATS)             \
  X(sum_square, ND4C_CPU_FLOATS)           \
  X(global_average_pool, ND4C_CPU_FLOATS)  \
  X(global_max_pool, ND4C_CPU_FLOATS)      \
  X(global_lp_pool, ND4C_CPU_FLOATS)
#define COMPLEX(op) \
  ND4C_CPU_KERNEL("simd", op, #op "_complex", ND4C_SIMD_PRIORITY, ND4C_CPU_COMPLEXES, usable_##op, run_##op)
#define DEFINE_KERNEL(op, dtypes) ND4C_CPU_SIMD_KERNEL(op, dtypes, usable_##op, run_##op),

const nd4c_kernel *const nd4c_cpu_simd_reduction_kernels[] = {OPS(DEFINE_KERNEL) COMPLEX(sum), COMPLEX(mean), NULL};
