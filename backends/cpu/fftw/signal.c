/* Engine fftw: the fft family. One plan transforms all axes; the longest of the other axes is split into pieces, which
 * the pool's threads share. dispatch/choice.c asks these kernels after those of engine simd and before the
 * reference's. */
#include "backends/cpu/fftw/fftw.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/support/signal.h"

/* Points a piece has at least, and pieces at most: what a call is split into does not depend on the width. */
enum { PIECE_POINTS = 1 << 15, PIECES = 64, EVEN_STEPS = 16 };

typedef struct job {
  const nd4c_call *call;
  nd4c_cpu_transform t;
  bool single;
  nd4c_fftw_kind kind;
  int64_t in_bytes, out_bytes; /* of a number */
  /* What the plans read: x itself, or a copy of it in C order, cut or extended with zeros, as numbers of the kind. */
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
  char *in;
  double copied_scale; /* what the copy was multiplied with */
  /* The axis that is split: `extent` in pieces of `step`. */
  int32_t split;
  int64_t extent, step;
  atomic_bool failed;
} job;

/* -- what can be computed ----------------------------------------------------------------------------------------- */

static const char *refuse(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_cpu_transform t = nd4c_cpu_transform_read(call);
  if (x->rank > ND4C_FFTW_AXES) {
    return "more than 8 axes";
  }
  for (int32_t i = 0; i < t.count; i++) {
    for (int32_t other = 0; other < i; other++) {
      if (t.axes[other] == t.axes[i]) {
        return "an axis is transformed twice";
      }
    }
  }
  if (nd4c_cpu_transform_is_small(&t, y->size) || y->size == 0 || x->size == 0) {
    return "the transform is small";
  }
  for (int32_t axis = 0; axis < y->rank; axis++) {
    if (y->strides[axis] <= 0 && y->shape[axis] > 1) {
      return "the output has a stride that is not positive";
    }
  }
  return NULL;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse(call);
  const nd4c_fftw *fftw = why == NULL ? nd4c_fftw_get(nd4c_cpu_is_single(call->outputs[0].dtype)) : NULL;
  if (why == NULL && fftw == NULL) {
    why = "no memory for FFTW's table";
  } else if (why == NULL && !fftw->ready) {
    why = fftw->text;
  }
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

/* -- the copy ----------------------------------------------------------------------------------------------------- */

/* Rows of the copy: as many numbers of x as there are, each times a scale and perhaps conjugated, then zeros. */
#define DEFINE_ROW(T)                                                                                              \
  static void copy_row_##T(const T *from, int64_t stride, int64_t count, bool from_complex, T *to, int64_t length, \
                           bool to_complex, bool conjugate, T scale) {                                             \
    int64_t from_step = from_complex ? 2 * stride : stride, to_step = to_complex ? 2 : 1;                          \
    for (int64_t i = 0; i < count; i++) {                                                                          \
      to[i * to_step] = from[i * from_step] * scale;                                                               \
    }                                                                                                              \
    for (int64_t i = 0; to_complex && i < count; i++) {                                                            \
      T part = from_complex ? from[i * from_step + 1] * scale : 0;                                                 \
      to[2 * i + 1] = conjugate ? -part : part;                                                                    \
    }                                                                                                              \
    memset(to + count * to_step, 0, (size_t)((length - count) * to_step) * sizeof(T));                             \
  }                                                                                                                \
  static void scale_row_##T(T *x, int64_t stride, int64_t count, bool is_complex, bool conjugate, T scale) {       \
    int64_t step = is_complex ? 2 * stride : stride;                                                               \
    for (int64_t i = 0; i < count; i++) {                                                                          \
      x[i * step] *= scale;                                                                                        \
    }                                                                                                              \
    for (int64_t i = 0; is_complex && i < count; i++) {                                                            \
      x[i * step + 1] *= conjugate ? -scale : scale;                                                               \
    }                                                                                                              \
  }
DEFINE_ROW(float)
DEFINE_ROW(double)

/* Where row `row` (all axes but the last, of `shape`) begins; false if it lies outside of `limits`. */
static bool find_row(int32_t rank, const int64_t *shape, const int64_t *limits, const int64_t *strides, int64_t row,
                     int64_t *offset) {
  *offset = 0;
  for (int32_t axis = rank - 2; axis >= 0; axis--) {
    int64_t at = row % shape[axis];
    row /= shape[axis];
    if (at >= limits[axis]) {
      return false;
    }
    *offset += at * strides[axis];
  }
  return true;
}

static void copy_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_tensor *x = &j->call->inputs[0];
  int32_t last = x->rank - 1;
  int64_t length = j->shape[last], most = length < x->shape[last] ? length : x->shape[last];
  bool from_complex = nd4c_cpu_is_complex(x->dtype), to_complex = j->kind != ND4C_FFTW_FROM_REAL;
  bool conjugate = j->t.conjugate && j->kind == ND4C_FFTW_TO_REAL;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    int64_t offset, count = find_row(x->rank, j->shape, x->shape, x->strides, row, &offset) ? most : 0;
    const char *from = (const char *)x->data + (count > 0 ? offset : 0) * nd4c_cpu_dtype_bytes(x->dtype);
    char *to = j->in + row * length * j->in_bytes;
    if (j->single) {
      copy_row_float((const float *)from, x->strides[last], count, from_complex, (float *)to, length, to_complex,
                     conjugate, (float)j->copied_scale);
    } else {
      copy_row_double((const double *)from, x->strides[last], count, from_complex, (double *)to, length, to_complex,
                      conjugate, j->copied_scale);
    }
  }
}

/* Whether plans may read x where it lies: TO_REAL destroys what it reads. */
static bool reads_x(const job *j) {
  const nd4c_tensor *x = &j->call->inputs[0];
  bool same = j->kind != ND4C_FFTW_TO_REAL && nd4c_cpu_is_complex(x->dtype) == (j->kind == ND4C_FFTW_COMPLEX);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    same = same && j->shape[axis] == x->shape[axis] && (x->strides[axis] > 0 || x->shape[axis] == 1);
  }
  return same;
}

/* Bytes of the copy; 0 if there is none to make, -1 if they do not fit. */
static int64_t copy_bytes(job *j) {
  double size = (double)j->in_bytes;
  int64_t step = 1;
  for (int32_t axis = j->call->inputs[0].rank - 1; axis >= 0; axis--) {
    size *= (double)j->shape[axis];
  }
  if (reads_x(j)) {
    return 0;
  }
  for (int32_t axis = j->call->inputs[0].rank - 1; size < 0x1p60 && axis >= 0; axis--) {
    j->strides[axis] = step;
    step *= j->shape[axis];
  }
  return size < 0x1p60 ? step * j->in_bytes : -1;
}

static void make_copy(job *j) {
  int32_t last = j->call->inputs[0].rank - 1;
  int64_t rows = 1;
  for (int32_t axis = 0; axis < last; axis++) {
    rows *= j->shape[axis];
  }
  j->copied_scale = j->t.scale;
  nd4c_cpu_parallel(rows, nd4c_cpu_grain(j->shape[last] / 4), j->call->width, copy_rows, j);
}

/* -- running ------------------------------------------------------------------------------------------------------ */

static bool is_transformed(const nd4c_cpu_transform *t, int32_t axis) {
  bool found = false;
  for (int32_t i = 0; i < t->count; i++) {
    found = found || t->axes[i] == axis;
  }
  return found;
}

/* Points that plans go through along an axis: those of the real side of a real transform. */
static int64_t points_along(const job *j, int32_t axis) {
  int64_t in = j->shape[axis], out = j->call->outputs[0].shape[axis];
  return in > out ? in : out;
}

/* The plan's key for `count` steps along the split axis. */
static void fill_key(const job *j, int64_t count, nd4c_fftw_key *key) {
  const nd4c_tensor *y = &j->call->outputs[0];
  const nd4c_cpu_transform *t = &j->t;
  memset(key, 0, sizeof *key);
  key->single = j->single;
  key->kind = (int32_t)j->kind;
  key->sign = t->inverse ? FFTW_BACKWARD : FFTW_FORWARD;
  for (int32_t i = 0; i < t->count; i++) { /* the real axis comes first in rfftn's passes */
    int32_t at = t->real_in ? (i + 1) % t->count : i, axis = t->axes[at];
    key->dims[key->count++] = (nd4c_fftw_dim){t->lengths[at], j->strides[axis], y->strides[axis]};
  }
  for (int32_t axis = 0; axis < y->rank; axis++) {
    int64_t extent = axis == j->split ? count : y->shape[axis];
    if (!is_transformed(t, axis) && extent > 1) {
      key->dims[key->count + key->repeats++] = (nd4c_fftw_dim){extent, j->strides[axis], y->strides[axis]};
    }
  }
}

/* Whether all pieces are aligned like the first one, so that one plan serves them all. */
static bool is_even(const job *j) {
  const nd4c_tensor *y = &j->call->outputs[0];
  int64_t in = j->split < 0 ? 0 : j->step * j->strides[j->split] * j->in_bytes;
  int64_t out = j->split < 0 ? 0 : j->step * y->strides[j->split] * j->out_bytes;
  return (((uintptr_t)j->in | (uintptr_t)y->data | (uintptr_t)in | (uintptr_t)out) & 63) == 0 &&
         (j->call->flags & ND4C_CALL_DETERMINISTIC) == 0;
}

static void execute(const job *j, nd4c_fftw_plan plan, char *in, char *out) {
  const nd4c_fftw *fftw = nd4c_fftw_get(j->single);
  switch (j->kind) {
    case ND4C_FFTW_FROM_REAL:
      fftw->execute_dft_r2c(plan, in, out);
      break;
    case ND4C_FFTW_TO_REAL:
      fftw->execute_dft_c2r(plan, in, out);
      break;
    default:
      fftw->execute_dft(plan, in, out);
  }
}

/* Pieces [begin, end) that have `count` steps each. */
static void run_pieces(job *j, int64_t begin, int64_t end, int64_t count) {
  const nd4c_tensor *y = &j->call->outputs[0];
  nd4c_fftw_key key;
  nd4c_fftw_loan loan;
  fill_key(j, count, &key);
  key.unaligned = !is_even(j);
  int64_t in = j->split < 0 ? 0 : j->step * j->strides[j->split] * j->in_bytes;
  int64_t out = j->split < 0 ? 0 : j->step * y->strides[j->split] * j->out_bytes;
  if (!nd4c_fftw_borrow(&key, j->in + begin * in, (char *)y->data + begin * out, &loan)) {
    atomic_store(&j->failed, true);
    return;
  }
  for (int64_t i = begin; i < end; i++) {
    execute(j, loan.plan, j->in + i * in, (char *)y->data + i * out);
  }
  nd4c_fftw_give_back(&key, &loan);
}

static void pieces_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  job *j = user;
  int64_t whole = j->extent / j->step, rest = j->extent % j->step;
  (void)worker;
  if (begin < end && begin < whole) {
    run_pieces(j, begin, end < whole ? end : whole, j->step);
  }
  if (end > whole && rest > 0) {
    run_pieces(j, whole, whole + 1, rest);
  }
}

/* Splits the longest axis that is not transformed. */
static void choose_pieces(job *j) {
  const nd4c_tensor *y = &j->call->outputs[0];
  double points = 1;
  j->split = -1;
  j->extent = j->step = 1;
  for (int32_t axis = 0; axis < y->rank; axis++) {
    points *= (double)points_along(j, axis);
    if (!is_transformed(&j->t, axis) && y->shape[axis] > j->extent) {
      j->split = axis;
      j->extent = y->shape[axis];
    }
  }
  double pieces = points / PIECE_POINTS < PIECES ? points / PIECE_POINTS : PIECES;
  int64_t count = pieces < 1 ? 1 : (int64_t)pieces < j->extent ? (int64_t)pieces : j->extent;
  j->step = (j->extent + count - 1) / count;
  if (j->step > EVEN_STEPS) { /* pieces begin at cache lines, whatever the length of a line */
    j->step = (j->step + EVEN_STEPS - 1) / EVEN_STEPS * EVEN_STEPS;
  }
}

static void scale_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_tensor *y = &j->call->outputs[0];
  int32_t last = y->rank - 1;
  bool complex_numbers = nd4c_cpu_is_complex(y->dtype), conjugate = j->t.conjugate && j->t.real_in;
  double scale = j->t.scale / j->copied_scale;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    int64_t offset;
    (void)find_row(y->rank, y->shape, y->shape, y->strides, row, &offset);
    char *at = (char *)y->data + offset * j->out_bytes;
    if (j->single) {
      scale_row_float((float *)at, y->strides[last], y->shape[last], complex_numbers, conjugate, (float)scale);
    } else {
      scale_row_double((double *)at, y->strides[last], y->shape[last], complex_numbers, conjugate, scale);
    }
  }
}

static void finish(job *j) {
  const nd4c_tensor *y = &j->call->outputs[0];
  int64_t length = y->shape[y->rank - 1];
  if (j->t.scale != j->copied_scale || (j->t.conjugate && j->t.real_in)) {
    nd4c_cpu_parallel(y->size / length, nd4c_cpu_grain(length / 4), j->call->width, scale_rows, j);
  }
}

static void start(job *j, const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  j->call = call;
  j->t = nd4c_cpu_transform_read(call);
  j->kind = j->t.real_in ? ND4C_FFTW_FROM_REAL : j->t.real_out ? ND4C_FFTW_TO_REAL : ND4C_FFTW_COMPLEX;
  j->single = nd4c_cpu_is_single(call->outputs[0].dtype);
  j->in_bytes = (j->single ? 4 : 8) * (j->kind == ND4C_FFTW_FROM_REAL ? 1 : 2);
  j->out_bytes = nd4c_cpu_dtype_bytes(call->outputs[0].dtype);
  j->copied_scale = 1;
  memcpy(j->shape, x->shape, (size_t)x->rank * sizeof *x->shape);
  memcpy(j->strides, x->strides, (size_t)x->rank * sizeof *x->strides);
  for (int32_t i = 0; i < j->t.count; i++) {
    bool halved = j->kind == ND4C_FFTW_TO_REAL && i == j->t.count - 1;
    j->shape[j->t.axes[i]] = halved ? j->t.lengths[i] / 2 + 1 : j->t.lengths[i];
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j = {.failed = false};
  start(&j, call);
  int64_t bytes = copy_bytes(&j);
  void *copy = bytes > 0 ? nd4c_cpu_host->allocate_pages((size_t)bytes) : NULL;
  ND4C_CPU_FAIL_IF(bytes != 0 && copy == NULL, ND4C_MEMORY, "%s: no memory for a copy of x", call->op->name);
  j.in = copy != NULL ? copy : call->inputs[0].data;
  if (copy != NULL) {
    make_copy(&j);
  }
  choose_pieces(&j);
  nd4c_cpu_parallel((j.extent + j.step - 1) / j.step, 1, call->width, pieces_range, &j);
  finish(&j);
  if (copy != NULL) {
    nd4c_cpu_host->free_pages(copy, (size_t)bytes);
  }
  return atomic_load(&j.failed) ? nd4c_cpu_host->fail(ND4C_INTERNAL, "%s: FFTW made no plan", call->op->name) : ND4C_OK;
}

#define KERNEL(op) ND4C_CPU_KERNEL("fftw", op, #op, ND4C_CPU_PRIORITY_FFTW, ND4C_CPU_FFT_DTYPES, usable, run),
const nd4c_kernel *const nd4c_cpu_fftw_signal_kernels[] = {ND4C_CPU_FFT_OPS(KERNEL) NULL};
