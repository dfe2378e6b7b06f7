/* Engine simd: max_pool_with_indices, lp_pool, adaptive pools and morphology; max_pool and average_pool, where
 * window_pool.c declines. A worker converts a plane of x, or a band of it, and passes over its rows once for each row
 * of windows that sees them, in the order of the reference, so that sums have the same bits. dispatch/choice.c asks
 * these kernels before the reference's. */
#include <math.h>

#include "backends/cpu/simd/rows.h"
#include "kernels/reference/window/window.h"

enum {
  MOST_TAPS = 1 << 12, /* of a window along the last axis */
  FEW_TAPS = 4,        /* of windows of adaptive pools that are computed side by side */
  BANDS = 2,           /* for each worker */
  BAND_WORK = 16384,
  LAST_CHOICE = 98 /* below the kernels that widen operands for other kernels of this engine */
};

typedef struct job {
  const nd4c_call *call;
  nd4c_ref_pool_numbers numbers;      /* how windows lie, and what is computed; no operands */
  const nd4c_tensor *x, *y, *indices; /* indices may be NULL */
  nd4c_dtype work;                    /* in which it computes */
  const nd4c_cells_max *largest;
  nd4c_cells_row row;
  bool spread, in_place; /* windows of equal steps; x is read where it is */
  bool numbered;         /* indices are not those of the cells in their plane */
  int32_t axis;          /* along which a plane is cut into bands */
  int64_t bands, x_steps[3], y_steps[3];
  const double *weights;
  const nd4c_ref_span *spans[2]; /* of the first two axes */
  double empty;                  /* in `work`: what a window has before its first cell */
  /* Cells of a window along the last axis, and those that a mean counts. */
  const int64_t *seen, *counted;
  char *scratch; /* of the workers: plane, values, positions, piece */
  int64_t plane_bytes, row_bytes, piece_bytes;
} job;

static int64_t align(int64_t bytes) {
  return (bytes + 63) & ~(int64_t)63;
}

static int64_t plane_of(const int64_t *extents) {
  return extents[0] * extents[1] * extents[2];
}

/* -- x ------------------------------------------------------------------------------------------------------------- */

/* Numbers of uint64 compare as int64 do with their highest bit changed. */
static void turn(int64_t n, int64_t *numbers) {
  for (int64_t i = 0; i < n; i++) {
    numbers[i] ^= INT64_MIN;
  }
}

static void raise_to(double p, int64_t n, double *numbers) {
  for (int64_t i = 0; p == 1 && i < n; i++) {
    numbers[i] = fabs(numbers[i]);
  }
  for (int64_t i = 0; p == 2 && i < n; i++) {
    numbers[i] *= numbers[i];
  }
  for (int64_t i = 0; p != 1 && p != 2 && i < n; i++) {
    numbers[i] = pow(fabs(numbers[i]), p);
  }
}

static void load_run(const job *j, int64_t n, const char *from, char *to) {
  nd4c_simd.cast->loops[j->x->dtype][j->work](n, from, to);
  if (j->x->dtype == ND4C_UINT64) {
    turn(n, (int64_t *)(void *)to);
  }
  if (j->numbers.kind == ND4C_REF_POOL_LP) {
    raise_to(j->numbers.p, n, (double *)(void *)to);
  }
}

/* Brings the places first .. last - 1 along the axis of bands into the plane. */
static void load_band(const job *j, const char *x, int64_t first, int64_t last, char *plane, char *piece) {
  const int64_t *extents = j->numbers.sweep.x, bytes = nd4c_cpu_dtype_bytes(j->x->dtype);
  const int64_t wide = nd4c_cpu_dtype_bytes(j->work), columns = extents[2];
  const int64_t begin[2] = {j->axis == 0 ? first : 0, j->axis == 1 ? first : 0};
  const int64_t end[2] = {j->axis == 0 ? last : extents[0], j->axis == 1 ? last : extents[1]};
  for (int64_t a = begin[0]; a < end[0]; a++) {
    const char *from = x + (a * j->x_steps[0] + begin[1] * j->x_steps[1]) * bytes;
    char *to = plane + (a * extents[1] + begin[1]) * columns * wide;
    if (j->x_steps[2] == 1 && j->x_steps[1] == columns) {
      load_run(j, (end[1] - begin[1]) * columns, from, to);
      continue;
    }
    for (int64_t b = begin[1]; b < end[1]; b++, from += j->x_steps[1] * bytes, to += columns * wide) {
      if (j->x_steps[2] == 1) {
        load_run(j, columns, from, to);
      } else {
        nd4c_simd.move->move[bytes](1, columns, from, 0, j->x_steps[2], piece, 0, 1);
        load_run(j, columns, piece, to);
      }
    }
  }
}

/* The places along the axis of bands that windows first .. last - 1 see. */
static void band_seen(const job *j, int64_t first, int64_t last, int64_t *from, int64_t *to) {
  *from = INT64_MAX;
  *to = 0;
  for (int64_t at = first; at < last; at++) {
    const nd4c_ref_span span = j->spans[j->axis][at];
    const int64_t end = span.first + (span.count - 1) * span.step + 1;
    *from = span.count > 0 && span.first < *from ? span.first : *from;
    *to = span.count > 0 && end > *to ? end : *to;
  }
  *from = *from < *to ? *from : *to;
}

/* -- y ------------------------------------------------------------------------------------------------------------- */

/* What a window has before its first cell: of the largest of integers the least number of the dtype. */
static void find_empty(job *j) {
  const nd4c_dtype dtype = j->y->dtype;
  const nd4c_ref_pool_kind kind = j->numbers.kind;
  const double value = kind == ND4C_REF_POOL_EROSION                               ? (double)INFINITY
                       : kind == ND4C_REF_POOL_AVERAGE || kind == ND4C_REF_POOL_LP ? 0
                       : (ND4C_DTYPE_BIT(dtype) & ND4C_CPU_FLOATS) != 0            ? -(double)INFINITY
                       : nd4c_reference_kind(dtype) == ND4C_KIND_INT ? -ldexp(1, 8 * nd4c_cpu_dtype_bytes(dtype) - 1)
                                                                     : 0;
  const int64_t least = INT64_MIN;
  if (j->work == ND4C_INT64) {
    memcpy(&j->empty, &least, sizeof least);
  } else {
    nd4c_simd.cast->loops[ND4C_FLOAT64][j->work](1, &value, &j->empty);
  }
}

static void finish_sums(const job *j, int64_t outer_seen, int64_t outer_counted, double *values) {
  const int64_t n = j->row.windows;
  const double p = j->numbers.p;
  if (j->numbers.kind == ND4C_REF_POOL_AVERAGE) {
    for (int64_t i = 0; i < n; i++) {
      values[i] = outer_seen * j->seen[i] > 0 ? values[i] / (double)(outer_counted * j->counted[i]) : 0;
    }
  } else if (p == 2) {
    for (int64_t i = 0; i < n; i++) {
      values[i] = sqrt(values[i]);
    }
  } else if (p != 1) {
    for (int64_t i = 0; i < n; i++) {
      values[i] = outer_seen * j->seen[i] > 0 ? pow(values[i], 1 / p) : 0;
    }
  }
}

static void store_values(const job *j, char *values, char *to, char *piece) {
  const int64_t n = j->row.windows, bytes = nd4c_cpu_dtype_bytes(j->y->dtype);
  const nd4c_cast_loop cast = nd4c_simd.cast->loops[j->work][j->y->dtype];
  if (j->y->dtype == ND4C_UINT64) {
    turn(n, (int64_t *)(void *)values);
  }
  if (j->y_steps[2] == 1) {
    cast(n, values, to);
  } else {
    cast(n, values, piece);
    nd4c_simd.move->move[bytes](1, n, piece, 0, 1, to, 0, j->y_steps[2]);
  }
}

/* Positions in the plane become indices; offset: of the row in `indices`. */
static void store_indices(const job *j, int64_t plane, const char *positions, int64_t offset) {
  const nd4c_tensor *indices = j->indices;
  const int32_t *narrow = (const int32_t *)(const void *)positions;
  const int64_t *wide = (const int64_t *)(const void *)positions;
  int64_t *to = (int64_t *)indices->data + offset, step = indices->strides[indices->rank - 1];
  for (int64_t i = 0; i < j->row.windows; i++) {
    to[i * step] = j->work == ND4C_FLOAT32 ? narrow[i] : wide[i];
  }
  for (int64_t i = 0; j->numbered && i < j->row.windows; i++) {
    to[i * step] = nd4c_cpu_pool_index(j->call, &j->numbers.sweep, plane, to[i * step]);
  }
}

/* -- rows of windows ----------------------------------------------------------------------------------------------- */

static void take_row(const job *j, const nd4c_cells_row *row, const char *x, const double *w, char *values,
                     char *positions) {
  const nd4c_cells_table *cells = nd4c_simd.cells;
  const double *numbers = (const double *)(const void *)x;
  double *sums = (double *)(void *)values;
  switch (j->numbers.kind) {
    case ND4C_REF_POOL_AVERAGE:
    case ND4C_REF_POOL_LP:
      (j->spread ? cells->sum_spread : cells->sum_runs)(row, numbers, sums);
      return;
    case ND4C_REF_POOL_DILATION:
      cells->dilate(row, numbers, w, sums);
      return;
    case ND4C_REF_POOL_EROSION:
      cells->erode(row, numbers, w, sums);
      return;
    case ND4C_REF_POOL_MAX:
    default:
      (j->spread ? j->largest->spread : j->largest->runs)(row, x, values, positions);
  }
}

/* What one worker has. */
typedef struct place {
  int64_t plane;     /* number of n and c */
  const char *cells; /* of the plane, in `work` */
  char *values, *positions, *piece;
} place;

static void pool_row(const job *j, const place *at, int64_t a, int64_t b) {
  const nd4c_ref_sweep *s = &j->numbers.sweep;
  const nd4c_ref_span outer = j->spans[0][a], inner = j->spans[1][b];
  const int64_t channels = j->y->shape[1], image = at->plane / channels, channel = at->plane % channels;
  const int64_t wide = nd4c_cpu_dtype_bytes(j->work);
  const double *w = j->weights == NULL ? NULL : j->weights + channel * plane_of(s->kernel);
  nd4c_cells_row row = j->row;
  nd4c_simd.creation->fill[wide](row.windows, &j->empty, at->values);
  memset(at->positions, 0xff, (size_t)(row.windows * wide));
  for (int64_t i = 0; i < outer.count; i++) {
    for (int64_t k = 0; k < inner.count; k++) {
      const int64_t tap = (outer.tap + i) * s->kernel[1] + inner.tap + k;
      row.index = ((outer.first + i * outer.step) * s->x[1] + inner.first + k * inner.step) * s->x[2];
      take_row(j, &row, at->cells + row.index * wide, w == NULL ? NULL : w + tap * s->kernel[2], at->values,
               at->positions);
    }
  }
  const int64_t outer_seen = outer.count * inner.count;
  const int64_t outer_counted = j->numbers.counts_padding ? outer.padded * inner.padded : outer_seen;
  const int64_t offset = image * j->y->strides[0] + channel * j->y->strides[1] + a * j->y_steps[0] + b * j->y_steps[1];
  if (j->numbers.kind == ND4C_REF_POOL_AVERAGE || j->numbers.kind == ND4C_REF_POOL_LP) {
    finish_sums(j, outer_seen, outer_counted, (double *)(void *)at->values);
  }
  store_values(j, at->values, (char *)j->y->data + offset * nd4c_cpu_dtype_bytes(j->y->dtype), at->piece);
  if (j->indices != NULL) {
    const nd4c_tensor *indices = j->indices;
    int64_t to = image * indices->strides[0] + channel * indices->strides[1];
    to += indices->rank > 4 ? a * indices->strides[2] : 0;
    to += indices->rank > 3 ? b * indices->strides[indices->rank - 2] : 0;
    store_indices(j, at->plane, at->positions, to);
  }
}

static void bands_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_ref_sweep *s = &j->numbers.sweep;
  const int64_t channels = j->x->shape[1], rows = s->y[j->axis];
  char *plane = j->scratch + worker * (j->plane_bytes + 2 * j->row_bytes + j->piece_bytes);
  place at = {.values = plane + j->plane_bytes};
  at.positions = at.values + j->row_bytes;
  at.piece = at.positions + j->row_bytes;
  for (int64_t item = begin; item < end; item++) {
    const int64_t band = item % j->bands, first = band * rows / j->bands, last = (band + 1) * rows / j->bands;
    int64_t from, to;
    at.plane = item / j->bands;
    const int64_t offset = at.plane / channels * j->x->strides[0] + at.plane % channels * j->x->strides[1];
    const char *x = (const char *)j->x->data + offset * nd4c_cpu_dtype_bytes(j->x->dtype);
    at.cells = j->in_place ? x : plane;
    if (!j->in_place) {
      band_seen(j, first, last, &from, &to);
      load_band(j, x, from, to, plane, at.piece);
    }
    for (int64_t a = j->axis == 0 ? first : 0; a < (j->axis == 0 ? last : 1); a++) {
      for (int64_t b = j->axis == 1 ? first : 0; b < (j->axis == 1 ? last : s->y[1]); b++) {
        pool_row(j, &at, a, b);
      }
    }
  }
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

static nd4c_ref_pool_numbers windowed(const nd4c_call *call, nd4c_ref_pool_kind kind, nd4c_cpu_window_attrs attrs,
                                      const int64_t *kernel) {
  nd4c_ref_window window;
  nd4c_cpu_window(call, attrs, kernel, &window);
  return (nd4c_ref_pool_numbers){.sweep = nd4c_cpu_sweep_with(call, &window), .kind = kind};
}

static nd4c_ref_pool_numbers adaptive(const nd4c_call *call, nd4c_ref_pool_kind kind) {
  return (nd4c_ref_pool_numbers){.sweep = nd4c_cpu_sweep(call), .kind = kind, .adaptive = true};
}

static nd4c_ref_pool_numbers numbers_of(const nd4c_call *call) {
  const nd4c_cpu_window_attrs morphology = ND4C_CPU_WINDOW_ATTRS(morphological_dilation);
  const nd4c_cpu_window_attrs pool = ND4C_CPU_WINDOW_ATTRS(max_pool), lp_pool = ND4C_CPU_WINDOW_ATTRS(lp_pool);
  const int64_t *kernel = call->attrs[ND4C_ATTR_max_pool_kernel].as.ints;
  nd4c_ref_pool_numbers numbers;
  switch (call->op->op) {
    case ND4C_OP_adaptive_average_pool:
      return adaptive(call, ND4C_REF_POOL_AVERAGE);
    case ND4C_OP_adaptive_max_pool:
      return adaptive(call, ND4C_REF_POOL_MAX);
    case ND4C_OP_morphological_dilation:
      return windowed(call, ND4C_REF_POOL_DILATION, morphology, call->inputs[1].shape + 1);
    case ND4C_OP_morphological_erosion:
      return windowed(call, ND4C_REF_POOL_EROSION, morphology, call->inputs[1].shape + 1);
    case ND4C_OP_lp_pool:
      numbers = windowed(call, ND4C_REF_POOL_LP, lp_pool, call->attrs[ND4C_ATTR_lp_pool_kernel].as.ints);
      numbers.p = ND4C_REAL_OF(call, lp_pool_p);
      return numbers;
    case ND4C_OP_average_pool:
      numbers = windowed(call, ND4C_REF_POOL_AVERAGE, pool, kernel);
      numbers.counts_padding = ND4C_FLAG_OF(call, average_pool_count_include_pad);
      return numbers;
    default:
      return windowed(call, ND4C_REF_POOL_MAX, pool, kernel);
  }
}

/* The smallest type that holds the numbers of x, and positions in its planes. */
static nd4c_dtype work_dtype(const nd4c_tensor *x, const nd4c_ref_pool_numbers *numbers) {
  if (numbers->kind != ND4C_REF_POOL_MAX) {
    return ND4C_FLOAT64;
  }
  const bool is_float = (ND4C_DTYPE_BIT(x->dtype) & ND4C_CPU_FLOATS) != 0;
  const int32_t bytes = nd4c_cpu_dtype_bytes(x->dtype);
  if (bytes == 8) {
    return is_float ? ND4C_FLOAT64 : ND4C_INT64;
  }
  return bytes <= (is_float ? 4 : 2) && plane_of(numbers->sweep.x) <= INT32_MAX ? ND4C_FLOAT32 : ND4C_FLOAT64;
}

/* Neighbouring windows of adaptive pools are equally far apart, and short. */
static bool evenly_spread(const nd4c_ref_sweep *s) {
  return s->x[2] % s->y[2] == 0 && s->x[2] / s->y[2] <= FEW_TAPS;
}

static job job_of(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  job j = {.call = call, .numbers = numbers_of(call), .x = x, .y = y};
  nd4c_ref_sweep *s = &j.numbers.sweep;
  j.work = work_dtype(x, &j.numbers);
  j.largest = j.work == ND4C_FLOAT32   ? &nd4c_simd.cells->float32
              : j.work == ND4C_FLOAT64 ? &nd4c_simd.cells->float64
                                       : &nd4c_simd.cells->int64;
  j.indices = call->output_count > 1 && call->outputs[1].data != NULL ? &call->outputs[1] : NULL;
  j.numbered =
      call->op->op == ND4C_OP_max_pool_with_indices &&
      (!ND4C_FLAG_OF(call, max_pool_with_indices_planar) || ND4C_FLAG_OF(call, max_pool_with_indices_column_major));
  for (int32_t axis = 2; axis < x->rank; axis++) {
    j.x_steps[axis + 3 - x->rank] = x->strides[axis];
    j.y_steps[axis + 3 - x->rank] = y->strides[axis];
  }
  j.spread = !j.numbers.adaptive || evenly_spread(s);
  if (j.numbers.adaptive && j.spread) {
    s->kernel[2] = s->stride[2] = s->x[2] / s->y[2];
  }
  j.in_place = x->dtype == j.work && j.numbers.kind != ND4C_REF_POOL_LP && (s->x[2] == 1 || j.x_steps[2] == 1) &&
               (s->x[1] == 1 || j.x_steps[1] == s->x[2]) && (s->x[0] == 1 || j.x_steps[0] == s->x[1] * s->x[2]);
  j.axis = x->rank == 5 ? 0 : 1;
  j.row = (nd4c_cells_row){.windows = s->y[2], .taps = s->kernel[2], .step = s->y[2] > 1 ? s->stride[2] : 1};
  const int64_t wide = nd4c_cpu_dtype_bytes(j.work);
  j.plane_bytes = j.in_place ? 0 : align(plane_of(s->x) * wide);
  j.row_bytes = align(s->y[2] * wide);
  j.piece_bytes = align((s->x[2] > s->y[2] ? s->x[2] : s->y[2]) * (int64_t)sizeof(double));
  return j;
}

/* Bytes before those of the workers. */
static int64_t shared_bytes(const nd4c_call *call, const job *j) {
  const int64_t taps = j->spread ? j->row.taps * (int64_t)sizeof(nd4c_cells_tap) : 0;
  const int64_t weights = call->input_count > 1 ? call->inputs[1].size * (int64_t)sizeof(double) : 0;
  const int64_t spans = (j->numbers.sweep.y[0] + j->numbers.sweep.y[1]) * (int64_t)sizeof(nd4c_ref_span);
  return align(spans) + align(taps) + align(3 * j->row.windows * (int64_t)sizeof(int64_t)) + align(weights);
}

static int64_t scratch_bytes(const nd4c_call *call) {
  const job j = job_of(call);
  const int64_t each = j.plane_bytes + 2 * j.row_bytes + j.piece_bytes;
  return shared_bytes(call, &j) + each * (call->width > 1 ? call->width : 1);
}

/* Where windows lie along the first two axes. */
static char *find_spans(job *j, char *scratch) {
  const int64_t *windows = j->numbers.sweep.y;
  nd4c_ref_span *spans = (nd4c_ref_span *)(void *)scratch;
  for (int axis = 0; axis < 2; axis++) {
    nd4c_ref_span *to = spans + axis * windows[0];
    for (int64_t at = 0; at < windows[axis]; at++) {
      to[at] = nd4c_ref_pool_span(&j->numbers, axis, at);
    }
    j->spans[axis] = to;
  }
  return scratch + align((windows[0] + windows[1]) * (int64_t)sizeof *spans);
}

/* Where the windows of a row lie along the last axis. */
static char *lay_out_row(job *j, char *scratch) {
  const nd4c_ref_sweep *s = &j->numbers.sweep;
  const int64_t windows = j->row.windows;
  nd4c_cells_tap *tap = (nd4c_cells_tap *)(void *)scratch;
  for (int64_t k = 0; j->spread && k < j->row.taps; k++) {
    const int64_t offset = k * s->dilation[2] - s->pad[2], step = j->row.step, room = s->x[2] - offset;
    const int64_t last = room <= 0 ? 0 : (room - 1) / step + 1, first = offset >= 0 ? 0 : (-offset - 1) / step + 1;
    tap[k] = (nd4c_cells_tap){offset, first, last < windows ? last : windows};
  }
  scratch += j->spread ? align(j->row.taps * (int64_t)sizeof *tap) : 0;
  int64_t *starts = (int64_t *)(void *)scratch, *seen = starts + windows, *counted = seen + windows;
  for (int64_t i = 0; i < windows; i++) {
    const nd4c_ref_span span = nd4c_ref_pool_span(&j->numbers, 2, i);
    starts[i] = span.first;
    seen[i] = span.count;
    counted[i] = j->numbers.counts_padding ? span.padded : span.count;
  }
  j->row.tap = tap;
  j->row.starts = starts;
  j->row.counts = j->seen = seen;
  j->counted = counted;
  return scratch + align(3 * windows * (int64_t)sizeof *starts);
}

static void copy_weights(const nd4c_tensor *w, double *to) {
  const nd4c_ref_tensor from = nd4c_cpu_ref_tensor(w);
  for (int64_t i = 0; i < w->size; i++) {
    nd4c_simd.cast->loops[w->dtype][ND4C_FLOAT64](
        1, from.data + nd4c_ref_offset(&from, from.rank, from.shape, i) * nd4c_cpu_dtype_bytes(w->dtype), to + i);
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j = job_of(call);
  const nd4c_ref_sweep *s = &j.numbers.sweep;
  const int64_t planes = j.y->shape[0] * j.y->shape[1], inputs = plane_of(s->x), outputs = plane_of(s->y);
  find_empty(&j);
  j.scratch = lay_out_row(&j, find_spans(&j, call->scratch));
  if (call->input_count > 1) {
    copy_weights(&call->inputs[1], (double *)(void *)j.scratch);
    j.weights = (const double *)(const void *)j.scratch;
    j.scratch += align(call->inputs[1].size * (int64_t)sizeof(double));
  }
  const int64_t cells = j.numbers.adaptive ? inputs : outputs * plane_of(s->kernel) + inputs;
  const int64_t shares = call->width * (int64_t)BANDS, worth = cells / BAND_WORK + 1;
  j.bands = planes >= shares ? 1 : nd4c_cpu_divide_up(shares, planes);
  j.bands = j.bands < worth ? j.bands : worth;
  j.bands = j.bands < s->y[j.axis] ? j.bands : s->y[j.axis];
  nd4c_cpu_parallel(planes * j.bands, nd4c_simd_grain(cells / j.bands), call->width, bands_range, &j);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(x->size == 0 || y->size == 0, "an operand is empty");
  const job j = job_of(call);
  ND4C_CPU_DECLINE_IF(j.spread && j.row.taps > MOST_TAPS, "windows of more than %d cells along the last axis",
                      MOST_TAPS);
  return true;
}

#define KERNEL(op, dtypes) ND4C_CPU_SIMD_KERNEL(op, dtypes, usable, run, .scratch_bytes = scratch_bytes)
#define LAST_KERNEL(op, dtypes) \
  ND4C_CPU_KERNEL("simd", op, "cells_" #op, LAST_CHOICE, dtypes, usable, run, .scratch_bytes = scratch_bytes)

const nd4c_kernel *const nd4c_cpu_simd_window_cells_kernels[] = {KERNEL(max_pool_with_indices, ND4C_CPU_REALS),
                                                                 KERNEL(lp_pool, ND4C_CPU_FLOATS),
                                                                 KERNEL(adaptive_average_pool, ND4C_CPU_FLOATS),
                                                                 KERNEL(adaptive_max_pool, ND4C_CPU_FLOATS),
                                                                 KERNEL(morphological_dilation, ND4C_CPU_FLOATS),
                                                                 KERNEL(morphological_erosion, ND4C_CPU_FLOATS),
                                                                 LAST_KERNEL(max_pool, ND4C_CPU_REALS),
                                                                 LAST_KERNEL(average_pool, ND4C_CPU_FLOATS),
                                                                 NULL};
