/* Engine simd: median, nanmedian and quantile, by partitions of words (kernels/cpu/sorting/sort.h) around the places
 * that are asked for. Elements that are not one run, or among which NaN do not count, are first gathered; columns many
 * at once. dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>
#include <stdatomic.h>

#include "backends/cpu/simd/sorting/sorting_words.h"
#include "backends/cpu/support/reduction.h"
#include "kernels/reference/support/value.h"

enum {
  LONG_LINE = 1 << 17, /* elements that pay for sharing out a line */
  BESIDE = 16,         /* columns that are gathered together */
  SMALL_BYTES = 16384, /* of memory that a call takes from the stack */
  FEW_PLACES = 8       /* that are looked for one by one where they are far apart */
};

/* What is made of each line of x: the elements at count places. */
typedef struct quantile_call {
  const nd4c_tensor *x;
  nd4c_dtype y_dtype;
  nd4c_reduction axes;
  const nd4c_sort_dtype *dtype;
  const double *q;
  int32_t count;
  int64_t method, q_step; /* of y, in bytes */
  bool skip_nan, in_place, columns;
  int64_t length, chunks; /* elements of a line; groups of columns */
  int32_t width;          /* for one line */
  size_t words_bytes, line_bytes, worker_bytes;
  char *memory; /* of each worker: words, room for as many, and gathered lines */
  atomic_bool failed;
} quantile_call;

typedef struct quantile_line {
  const quantile_call *c;
  const char *x;
} quantile_line;

static uint32_t key_source(const void *user, int64_t begin, int64_t n, void *words) {
  const quantile_line *line = user;
  return line->c->dtype->keys(n, line->x + begin * line->c->axes.x_bytes, 0, words);
}

/* -- places ------------------------------------------------------------------------------------------------------- */

typedef struct place {
  int64_t at, after; /* the same if the place is an element's */
  double part;
} place;

static place place_of(const quantile_call *c, int64_t count, double q) {
  double exact = q * (double)(count - 1), lower = floor(exact);
  place p = {(int64_t)lower, (int64_t)lower + (exact > lower), exact - lower};
  if (c->method == ND4C_QUANTILE_METHOD_NEAREST) {
    p.at = p.after = (int64_t)rint(exact);
  } else if (c->method == ND4C_QUANTILE_METHOD_LOWER) {
    p.after = p.at;
  } else if (c->method == ND4C_QUANTILE_METHOD_HIGHER) {
    p.at = p.after;
  }
  return p;
}

static double element_at(const quantile_call *c, const nd4c_words *job, int64_t at) {
  uint64_t element;
  c->dtype->elements(1, (const char *)job->words + at * (job->wide ? 8 : 4), 0, &element);
  nd4c_value value = nd4c_value_load(c->x->dtype, (const char *)&element, 0);
  return nd4c_value_as_double(nd4c_reference_kind(c->x->dtype), value);
}

/* Equal infinities would give NaN. */
static double between(const quantile_call *c, double a, double b, double part) {
  if (a == b) {
    return a;
  }
  if (c->method == ND4C_QUANTILE_METHOD_MIDPOINT) {
    return a / 2 + b / 2;
  }
  return part < 0.5 ? a + (b - a) * part : b - (b - a) * (1 - part);
}

static void store(const quantile_call *c, int32_t i, double value, char *y) {
  nd4c_value_store(c->y_dtype, y + i * c->q_step, 0, (nd4c_value){.f = value});
}

/* Whether each place is looked for by itself: what lies between them is more than partitions for each would cost. */
static bool apart(const quantile_call *c, const nd4c_words *job) {
  return c->count > 1 && c->count <= FEW_PLACES && job->to - job->from > job->count / 4;
}

/* Puts what belongs at a place there. The words before `sorted` are in front of it already. */
static void look_for(const nd4c_words *job, place p, int64_t sorted) {
  const int64_t from = p.at < sorted ? 0 : sorted;
  nd4c_simd.sort->words[job->wide].sort((char *)job->words + from * (job->wide ? 8 : 4), job->count - from, p.at - from,
                                        p.after + 1 - from, job->work);
}

/* The results of one contiguous line. Its words are partitioned as far as the places reach. */
static void take_line(quantile_call *c, int64_t count, const char *x, char *memory, char *y) {
  quantile_line line = {c, x};
  nd4c_words job = {.wide = c->dtype->wide != 0, .count = count, .source = key_source, .user = &line};
  uint32_t special = 0;
  job.words = memory;
  job.work = memory + c->words_bytes;
  job.from = count;
  for (int32_t i = 0; i < c->count && count > 0; i++) {
    place p = place_of(c, count, c->q[i]);
    job.from = p.at < job.from ? p.at : job.from;
    job.to = p.after + 1 > job.to ? p.after + 1 : job.to;
  }
  const bool one_by_one = apart(c, &job);
  if (one_by_one) {
    const place first = place_of(c, count, c->q[0]);
    job.from = first.at;
    job.to = first.after + 1;
  }
  if (count > 0 && nd4c_words_sort(&job, c->width, &special) != ND4C_OK) {
    atomic_store(&c->failed, true);
    return;
  }
  const bool none = count == 0 || (special & ND4C_SORT_NAN) != 0;
  int64_t sorted = job.to;
  for (int32_t i = 0; i < c->count; i++) {
    place p = none ? (place){0, 0, 0} : place_of(c, count, c->q[i]);
    if (one_by_one && !none && i > 0) {
      look_for(&job, p, sorted);
      sorted = p.after + 1;
    }
    double a = none ? NAN : element_at(c, &job, p.at);
    store(c, i, none || p.after == p.at ? a : between(c, a, element_at(c, &job, p.after), p.part), y);
  }
}

/* -- lines -------------------------------------------------------------------------------------------------------- */

/* `lines` lines that begin next to each other at x, one after the other to `to`. */
static void gather(const quantile_call *c, int64_t lines, const char *x, char *to) {
  const nd4c_reduction *a = &c->axes;
  const int32_t last = a->rank - 1;
  const nd4c_move_function move = nd4c_simd.move->move[a->x_bytes];
  const int64_t beside = c->columns ? a->x_strides[last] : 0, step = (int64_t)c->line_bytes / a->x_bytes;
  int64_t run = 1, stride = 0, unused = 0;
  for (int32_t axis = last; axis >= 0 && run == 1; axis--) { /* the innermost reduced axis */
    if (a->reduced[axis]) {
      run = a->shape[axis];
      stride = a->x_strides[axis];
    }
  }
  for (int64_t i = 0; i < c->length; i += run) {
    const int64_t row = c->columns ? i : i / run;
    move(run, lines, x + nd4c_reduction_locate(a, true, row, &unused), stride, beside, to + i * a->x_bytes, 1, step);
  }
}

static void lines_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  quantile_call *c = user;
  const nd4c_reduction *a = &c->axes;
  char *memory = c->memory + (size_t)worker * c->worker_bytes, *lines = memory + 2 * c->words_bytes;
  for (int64_t i = begin; i < end; i++) {
    int64_t y_offset = 0, many = 1, y_step = 0, column = 0;
    const char *x = a->x + nd4c_reduction_locate(a, false, i / c->chunks, &y_offset);
    if (c->columns) {
      const int32_t last = a->rank - 1;
      column = i % c->chunks * BESIDE;
      many = a->shape[last] - column < BESIDE ? a->shape[last] - column : BESIDE;
      x += column * a->x_strides[last] * a->x_bytes;
      y_step = a->y_strides[last] * a->y_bytes;
    }
    if (!c->in_place) {
      gather(c, many, x, lines);
    }
    for (int64_t j = 0; j < many; j++) {
      char *line = lines + j * (int64_t)c->line_bytes;
      int64_t count = c->length;
      if (c->skip_nan) {
        count = nd4c_reduction_drop_nan(c->x->dtype, count, c->in_place ? x : line, line);
      }
      take_line(c, count, c->in_place && !c->skip_nan ? x : line, memory, a->y + y_offset + (column + j) * y_step);
    }
  }
}

static nd4c_status run_places(const nd4c_call *call, quantile_call *c, const char *op) {
  _Alignas(64) char small[SMALL_BYTES];
  const nd4c_reduction *a = &c->axes;
  const int32_t last = a->rank - 1;
  c->x = &call->inputs[0];
  c->y_dtype = call->outputs[0].dtype;
  c->dtype = &nd4c_simd.sort->dtypes[c->x->dtype];
  c->columns = !a->reduced[last];
  c->length = a->outer_reduced * (c->columns ? 1 : a->shape[last]);
  c->in_place = !c->columns && a->outer_reduced == 1 && a->x_strides[last] == 1;
  c->chunks = c->columns ? nd4c_cpu_divide_up(a->shape[last], BESIDE) : 1;
  c->words_bytes = ((size_t)c->length * (c->dtype->wide ? 8 : 4) + 63) / 64 * 64;
  c->line_bytes = ((size_t)(c->length * a->x_bytes) + 63) / 64 * 64;
  const int64_t beside = c->columns && a->shape[last] > BESIDE ? BESIDE : c->columns ? a->shape[last] : 1;
  const int64_t lines = a->outer_kept * c->chunks;
  const bool shared = c->length >= LONG_LINE && lines < 4 * (int64_t)call->width;
  const int32_t workers = shared || call->width < 1 ? 1 : call->width;
  c->width = shared ? call->width : 1;
  c->worker_bytes = 2 * c->words_bytes + (c->in_place && !c->skip_nan ? 0 : (size_t)beside * c->line_bytes);
  const size_t bytes = c->worker_bytes * (size_t)workers;
  c->memory = bytes <= sizeof small ? small : nd4c_cpu_host->allocate_pages(bytes);
  ND4C_CPU_FAIL_IF(c->memory == NULL, ND4C_MEMORY, "%s: no memory for %zu bytes to sort in", op, bytes);
  nd4c_cpu_parallel(lines, 2048 / (c->length * beside) + 1, workers, lines_range, c);
  if (c->memory != small) {
    nd4c_cpu_host->free_pages(c->memory, bytes);
  }
  return atomic_load(&c->failed) ? nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory to sort in", op) : ND4C_OK;
}

static nd4c_status run_middle(const nd4c_call *call, bool skip_nan) {
  static const double half = 0.5;
  quantile_call c = {.q = &half, .count = 1, .method = ND4C_QUANTILE_METHOD_MIDPOINT, .skip_nan = skip_nan};
  nd4c_reduction_over_axes(&c.axes, call);
  return run_places(call, &c, skip_nan ? "nanmedian" : "median");
}

static nd4c_status run_median(const nd4c_call *call) {
  return run_middle(call, false);
}

static nd4c_status run_nanmedian(const nd4c_call *call) {
  return run_middle(call, true);
}

/* The result's first axis counts q; the rest is what a reduction gives. */
static nd4c_status run_quantile(const nd4c_call *call) {
  const nd4c_attr_value *q = &call->attrs[ND4C_ATTR_quantile_q];
  nd4c_tensor rest = call->outputs[0];
  nd4c_call inner = *call;
  rest.rank--;
  rest.shape++;
  rest.strides++;
  inner.outputs = &rest;
  quantile_call c = {.q = q->as.floats, .count = q->count};
  c.method = call->attrs[ND4C_ATTR_quantile_method].as.i;
  c.q_step = call->outputs[0].strides[0] * nd4c_cpu_dtype_bytes(rest.dtype);
  nd4c_reduction_over_axes(&c.axes, &inner);
  return run_places(&inner, &c, "quantile");
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0, "nothing to reduce");
  return true;
}

static bool usable_quantile(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->attrs[ND4C_ATTR_quantile_q].count == 0, "no q");
  return usable(call, reason, reason_size);
}

const nd4c_kernel *const nd4c_cpu_simd_statistics_median_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(median, ND4C_CPU_REALS, usable, run_median),
    ND4C_CPU_SIMD_KERNEL(nanmedian, ND4C_CPU_FLOATS, usable, run_nanmedian),
    ND4C_CPU_SIMD_KERNEL(quantile, ND4C_CPU_REALS, usable_quantile, run_quantile), NULL};
