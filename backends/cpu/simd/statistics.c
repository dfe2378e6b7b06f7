/* Engine simd: reductions that keep more than one number for each result: var, std, moments, logsumexp, and var and std
 * without NaN. They run as in reduction.c: over runs of the innermost axis if it is reduced, else over blocks of rows,
 * in pieces that do not depend on the parallel width. Without NaN each column of a block is a run of its own, since
 * columns count differently. dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>
#include <stdatomic.h>

#include "backends/cpu/simd/reduction/reduction_terms.h"

enum {
  PIECE = ND4C_GATHER_PIECE,
  COLUMNS = ND4C_GATHER_COLUMNS,
  ROWS = ND4C_GATHER_ROWS,
  CHUNK = 65536, /* elements of a run that is shared out */
  MAX_CHUNKS = 512,
  BESIDE = 16, /* columns of a block whose NaN are dropped, and its rows: a quarter of an L2 cache */
  BESIDE_ROWS = 512,
  SHORT_ROW = 64,     /* elements of rows that are transposed, so that many are taken side by side */
  SHORT_BLOCK = 4096, /* elements of a block of them */
  GRAIN_ELEMENTS = 8192
};

typedef enum statistic { VARIANCE, DEVIATION, MOMENTS, LOGSUMEXP } statistic;

typedef struct state {
  int64_t count;
  double first, second, third;
} state;

typedef struct gathering {
  nd4c_reduction axes;
  const nd4c_moments_loops *loops;
  statistic what;
  nd4c_dtype dtype, y_dtype;
  bool skip_nan;
  double correction;
  char *variances;       /* of MOMENTS, whose y are means; strided as y */
  atomic_bool lost_mean; /* of MOMENTS: an infinity, or NaN, made NaN of a mean */
  int64_t chunk, chunks; /* of the last axis: shared-out runs, or columns */
  state *partial;        /* of a shared-out run */
} gathering;

static double finish(const gathering *g, int64_t count, double first, double second) {
  if (g->what == LOGSUMEXP) {
    return isfinite(first) ? first + log(second) : first;
  }
  double squares = second < 0 ? 0 : second, divisor = fmax((double)count - g->correction, 0);
  return g->what == DEVIATION ? sqrt(squares / divisor) : squares / divisor;
}

static void store(gathering *g, const state *s, char *y) {
  double value = finish(g, s->count, s->first, s->second);
  if (g->what == MOMENTS) {
    nd4c_reduction_store(g->y_dtype, value, g->variances + (y - g->axes.y));
    value = s->first;
    if (!isfinite(value)) {
      atomic_store(&g->lost_mean, true);
    }
  }
  nd4c_reduction_store(g->y_dtype, value, y);
}

/* -- the last axis is reduced ------------------------------------------------------------------------------------- */

static nd4c_gathered gathered_at(state *s) {
  return (nd4c_gathered){&s->first, &s->second, &s->third};
}

/* Takes count <= PIECE contiguous elements, those that are no NaN from the buffer. */
static void take_piece(const gathering *g, int64_t count, const char *x, char *buffer, state *s) {
  if (g->skip_nan) {
    count = nd4c_reduction_drop_nan(g->dtype, count, x, buffer);
    x = buffer;
  }
  if (count > 0) {
    g->loops->run(count, x, s->count, gathered_at(s));
    s->count += count;
  }
}

static void take_run(const gathering *g, int64_t n, const char *x, state *s, int64_t *since) {
  const nd4c_reduction *a = &g->axes;
  _Alignas(64) char buffer[8 * PIECE];
  int64_t step = a->x_strides[a->rank - 1] * a->x_bytes;
  for (int64_t i = 0; i < n && !nd4c_reduction_stops(a, PIECE, since); i += PIECE) {
    int64_t count = n - i < PIECE ? n - i : PIECE;
    take_piece(g, count, nd4c_reduction_gather(a, count, x + i * step, buffer), buffer, s);
  }
}

static void runs_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  gathering *g = user;
  const nd4c_reduction *a = &g->axes;
  const int64_t n = nd4c_reduction_last(a);
  int64_t since = 0;
  (void)worker;
  for (int64_t kept = begin; kept < end && !nd4c_reduction_stops(a, 0, &since); kept++) {
    int64_t y_offset = 0, unused = 0;
    const char *x = a->x + nd4c_reduction_locate(a, false, kept, &y_offset);
    state s = {.count = 0};
    for (int64_t i = 0; i < a->outer_reduced && !nd4c_reduction_stops(a, 0, &since); i++) {
      take_run(g, n, x + nd4c_reduction_locate(a, true, i, &unused), &s, &since);
    }
    store(g, &s, a->y + y_offset);
  }
}

static void chunks_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  gathering *g = user;
  const nd4c_reduction *a = &g->axes;
  int64_t n = nd4c_reduction_last(a), step = a->x_strides[a->rank - 1] * a->x_bytes, since = 0;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t from = i * g->chunk, count = n - from < g->chunk ? n - from : g->chunk;
    g->partial[i] = (state){.count = 0};
    take_run(g, count, a->x + from * step, &g->partial[i], &since);
  }
}

static void gather_shared_out(gathering *g, int32_t width) {
  state partial[MAX_CHUNKS];
  g->partial = partial;
  nd4c_cpu_parallel(g->chunks, 1, width, chunks_range, g);
  if (nd4c_reduction_stopped(&g->axes)) {
    return;
  }
  for (int64_t step = 1; step < g->chunks; step *= 2) {
    for (int64_t i = 0; i + step < g->chunks; i += 2 * step) {
      state *s = &partial[i], *other = &partial[i + step];
      if (s->count == 0) {
        *s = *other;
      } else if (other->count > 0) {
        g->loops->merge(s->count, gathered_at(s), other->count, gathered_at(other));
        s->count += other->count;
      }
    }
  }
  store(g, partial, g->axes.y);
}

/* Blocks of short rows of one kept axis. They are the same at every width, as bits depend on the place in a block. */
static void short_rows_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  gathering *g = user;
  const nd4c_reduction *a = &g->axes;
  const int64_t n = nd4c_reduction_last(a), many = g->chunk;
  double first[COLUMNS], second[COLUMNS], third[COLUMNS];
  _Alignas(64) char block[8 * SHORT_BLOCK];
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    const int64_t from = i * many, count = a->shape[0] - from < many ? a->shape[0] - from : many;
    const int64_t step = count * a->x_bytes;
    nd4c_simd.move->move[a->x_bytes](n, count, a->x + from * a->x_strides[0] * a->x_bytes, a->x_strides[1],
                                     a->x_strides[0], block, count, 1);
    for (int64_t row = 0; row < n; row += ROWS) {
      const int64_t rows = n - row < ROWS ? n - row : ROWS;
      g->loops->block(rows, count, block + row * step, step, row, (nd4c_gathered){first, second, third});
    }
    for (int64_t j = 0; j < count; j++) {
      const state s = {n, first[j], second[j], 0};
      store(g, &s, a->y + (from + j) * a->y_strides[0] * a->y_bytes);
    }
  }
}

static void gather_runs(gathering *g, int32_t width) {
  const nd4c_reduction *a = &g->axes;
  int64_t n = nd4c_reduction_last(a);
  if (a->rank == 2 && a->outer_reduced == 1 && n <= SHORT_ROW && a->shape[0] >= BESIDE && !g->skip_nan) {
    g->chunk = SHORT_BLOCK / n < COLUMNS ? SHORT_BLOCK / n : COLUMNS;
    nd4c_cpu_parallel(nd4c_cpu_divide_up(a->shape[0], g->chunk), GRAIN_ELEMENTS / (n * g->chunk) + 1, width,
                      short_rows_range, g);
    return;
  }
  if (a->outer_kept == 1 && a->outer_reduced == 1 && n > CHUNK) {
    g->chunk = n / MAX_CHUNKS / CHUNK * CHUNK + CHUNK;
    g->chunks = (n + g->chunk - 1) / g->chunk;
    gather_shared_out(g, width);
    return;
  }
  nd4c_cpu_parallel(a->outer_kept, GRAIN_ELEMENTS / (n * a->outer_reduced) + 1, width, runs_range, g);
}

/* -- the last axis is kept ---------------------------------------------------------------------------------------- */

/* Rows from `row` on that lie one step apart, at most `most`. */
static int64_t even_rows(const nd4c_reduction *a, int64_t row, int64_t most, int64_t *step) {
  int32_t last = a->rank - 1;
  *step = 0;
  for (int32_t axis = last - 1; axis >= 0 && a->x_strides[last] == 1; axis--) {
    if (!a->reduced[axis]) {
      continue;
    }
    int64_t left = a->shape[axis] - row % a->shape[axis];
    *step = a->x_strides[axis] * a->x_bytes;
    return left < most ? left : most;
  }
  return 1;
}

static void lines_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  gathering *g = user;
  const nd4c_reduction *a = &g->axes;
  int32_t last = a->rank - 1;
  int64_t since = 0;
  double first[COLUMNS], second[COLUMNS], third[COLUMNS];
  _Alignas(64) char buffer[8 * COLUMNS];
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t y_offset = 0, unused = 0, step, rows, column = i % g->chunks * COLUMNS;
    int64_t n = a->shape[last] - column < COLUMNS ? a->shape[last] - column : COLUMNS;
    const char *x =
        a->x + nd4c_reduction_locate(a, false, i / g->chunks, &y_offset) + column * a->x_strides[last] * a->x_bytes;
    char *y = a->y + y_offset + column * a->y_strides[last] * a->y_bytes;
    for (int64_t row = 0; row < a->outer_reduced && (row == 0 || !nd4c_reduction_stops(a, rows * n, &since));
         row += rows) {
      const char *from = nd4c_reduction_gather(a, n, x + nd4c_reduction_locate(a, true, row, &unused), buffer);
      rows = even_rows(a, row, ROWS, &step);
      g->loops->block(rows, n, from, step, row, (nd4c_gathered){first, second, third});
    }
    for (int64_t j = 0; j < n; j++) {
      const state s = {a->outer_reduced, first[j], second[j], 0};
      store(g, &s, y + j * a->y_strides[last] * a->y_bytes);
    }
  }
}

/* Columns without NaN: blocks of rows are transposed. */
static void beside_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  gathering *g = user;
  const nd4c_reduction *a = &g->axes;
  const int32_t last = a->rank - 1;
  int64_t since = 0;
  _Alignas(64) char block[8 * BESIDE * BESIDE_ROWS], buffer[8 * BESIDE_ROWS];
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t y_offset = 0, unused = 0, step, rows, column = i % g->chunks * BESIDE;
    int64_t n = a->shape[last] - column < BESIDE ? a->shape[last] - column : BESIDE;
    const char *x =
        a->x + nd4c_reduction_locate(a, false, i / g->chunks, &y_offset) + column * a->x_strides[last] * a->x_bytes;
    state states[BESIDE] = {{.count = 0}};
    for (int64_t row = 0; row < a->outer_reduced && (row == 0 || !nd4c_reduction_stops(a, rows * n, &since));
         row += rows) {
      rows = even_rows(a, row, BESIDE_ROWS, &step);
      nd4c_simd.move->move[a->x_bytes](rows, n, x + nd4c_reduction_locate(a, true, row, &unused), step / a->x_bytes,
                                       a->x_strides[last], block, 1, BESIDE_ROWS);
      for (int64_t j = 0; j < n; j++) {
        take_piece(g, rows, block + j * BESIDE_ROWS * a->x_bytes, buffer, &states[j]);
      }
    }
    for (int64_t j = 0; j < n; j++) {
      store(g, &states[j], a->y + y_offset + (column + j) * a->y_strides[last] * a->y_bytes);
    }
  }
}

static void gather_lines(gathering *g, int32_t width) {
  const nd4c_reduction *a = &g->axes;
  const int64_t columns = nd4c_reduction_last(a), most = g->skip_nan ? BESIDE : COLUMNS;
  const int64_t work = (columns < most ? columns : most) * a->outer_reduced;
  g->chunks = nd4c_cpu_divide_up(columns, most);
  nd4c_cpu_parallel(a->outer_kept * g->chunks, GRAIN_ELEMENTS / work + 1, width,
                    g->skip_nan ? beside_range : lines_range, g);
}

/* -- ops ---------------------------------------------------------------------------------------------------------- */

static nd4c_status gather(const nd4c_call *call, const nd4c_moments_loops *loops, statistic what, double correction,
                          bool skip_nan) {
  nd4c_dtype dtype = call->inputs[0].dtype;
  gathering g = {.loops = &loops[dtype],
                 .what = what,
                 .dtype = dtype,
                 .y_dtype = call->outputs[0].dtype,
                 .correction = correction,
                 .skip_nan = skip_nan};
  nd4c_reduction_over_axes(&g.axes, call);
  g.variances = what == MOMENTS ? (char *)call->outputs[1].data + (g.axes.y - (char *)call->outputs[0].data) : NULL;
  (g.axes.reduced[g.axes.rank - 1] ? gather_runs : gather_lines)(&g, call->width);
  const nd4c_status status = nd4c_reduction_end(&g.axes, call);
  return status == ND4C_OK && atomic_load(&g.lost_mean) ? nd4c_simd_mean(call) : status;
}

nd4c_status nd4c_simd_logsumexp(const nd4c_call *call) {
  return gather(call, nd4c_simd.moments->exponentials, LOGSUMEXP, 0, false);
}

nd4c_status nd4c_simd_moments(const nd4c_call *call) {
  return gather(call, nd4c_simd.moments->moments, MOMENTS, 0, false);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return call->inputs[0].size > 0 || nd4c_cpu_decline(reason, reason_size, "nothing to reduce");
}

static bool usable_moments(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *mean = &call->outputs[0], *variance = &call->outputs[1];
  for (int32_t axis = 0; axis < mean->rank; axis++) {
    ND4C_CPU_DECLINE_IF(mean->strides[axis] != variance->strides[axis], "results of two layouts");
  }
  return usable(call, reason, reason_size);
}

/* X(op, usable, loops, statistic, correction, whether NaN are left out) */
#define OPS(X)                                                                       \
  X(var, usable, moments, VARIANCE, ND4C_REAL_OF(call, var_correction), false)       \
  X(std, usable, moments, DEVIATION, ND4C_REAL_OF(call, std_correction), false)      \
  X(nanvar, usable, moments, VARIANCE, ND4C_REAL_OF(call, nanvar_correction), true)  \
  X(nanstd, usable, moments, DEVIATION, ND4C_REAL_OF(call, nanstd_correction), true) \
  X(moments, usable_moments, moments, MOMENTS, 0, false)                             \
  X(logsumexp, usable, exponentials, LOGSUMEXP, 0, false)

#define DEFINE_OP(op, usable, loops, what, correction, skip_nan)                 \
  static nd4c_status run_##op(const nd4c_call *call) {                           \
    return gather(call, nd4c_simd.moments->loops, what, (correction), skip_nan); \
  }
OPS(DEFINE_OP)

#define KERNEL(op, usable, ...) ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_FLOATS, usable, run_##op),
const nd4c_kernel *const nd4c_cpu_simd_statistics_kernels[] = {OPS(KERNEL) NULL};
