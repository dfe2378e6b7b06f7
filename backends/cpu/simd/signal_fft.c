/* Engine simd: the fft family for lengths whose prime factors are 2, 3 and 5, in the precision of the result. It
 * transforms axis by axis, with several lines side by side in the lanes of vectors. dispatch/choice.c asks these
 * kernels before FFTW's. */
#include <string.h>

#include "backends/cpu/fftw/fftw.h"
#include "backends/cpu/simd/signal_lines.h"
#include "backends/cpu/support/signal.h"

/* A few lines of one axis with fewer points than this are left to FFTW, if it is installed. */
enum { FEW_LONG = 1 << 15 };

/* -- what can be computed ------------------------------------------------------------------------------------------ */

/* Whether pass i is that of the real axis. */
static bool is_real_pass(const nd4c_cpu_transform *t, int32_t i) {
  return (t->real_in && i == 0) || (t->real_out && i == t->count - 1);
}

/* Lines of a pass; elements of y without the pass's axis, as a pass may see fewer. */
static int64_t lines_along(const nd4c_tensor *y, int32_t axis) {
  int64_t lines = 1;
  for (int32_t i = 0; i < y->rank; i++) {
    lines *= i == axis ? 1 : y->shape[i];
  }
  return lines;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_cpu_transform t = nd4c_cpu_transform_read(call);
  const nd4c_fft_loops *loops = &nd4c_simd.fft->of[nd4c_cpu_is_single(y->dtype)];
  for (int32_t i = 0; i < t.count; i++) {
    ND4C_CPU_DECLINE_IF(!nd4c_fft_length_fits(t.lengths[i], is_real_pass(&t, i)),
                        "a length with a prime factor above 5, or a real one that is odd");
    for (int32_t other = 0; other < i; other++) {
      ND4C_CPU_DECLINE_IF(t.axes[other] == t.axes[i], "an axis is transformed twice");
    }
  }
  int64_t lines = lines_along(y, t.axes[0]), points = is_real_pass(&t, 0) ? t.lengths[0] / 2 : t.lengths[0];
  ND4C_CPU_DECLINE_IF(nd4c_cpu_transform_is_small(&t, y->size) || x->size == 0,
                      "the transform is small, or of nothing");
  if (t.count > 1 || 2 * lines >= loops->lanes) {
    return true;
  }
  ND4C_CPU_DECLINE_IF(!nd4c_fft_is_long(loops, points, lines), "fewer lines than half of a vector, and no long ones");
  const nd4c_fftw *fftw = points < FEW_LONG ? nd4c_fftw_get(nd4c_cpu_is_single(y->dtype)) : NULL;
  ND4C_CPU_DECLINE_IF(fftw != NULL && fftw->ready, "fewer lines than half of a vector, which FFTW computes");
  return true;
}

/* -- plans --------------------------------------------------------------------------------------------------------- */

typedef struct plans {
  int32_t count;
  nd4c_fft_lines_plan of[ND4C_CPU_MAX_RANK];
} plans;

static void unprepare(void *state) {
  plans *p = state;
  for (int32_t i = 0; p != NULL && i < p->count; i++) {
    nd4c_fft_lines_plan_free(&p->of[i]);
  }
  nd4c_cpu_host->free(p);
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_cpu_transform t = nd4c_cpu_transform_read(call);
  plans *p = nd4c_cpu_host->allocate(sizeof *p);
  bool made = p != NULL;
  for (int32_t i = 0; made && i < t.count; i++) {
    made = nd4c_fft_lines_plan_make(&p->of[i], nd4c_cpu_is_single(y->dtype), is_real_pass(&t, i), t.lengths[i],
                                    lines_along(y, t.axes[i]));
    p->count += made;
  }
  if (!made) {
    unprepare(p);
    return nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for roots of unity", call->op->name);
  }
  *state = p;
  return ND4C_OK;
}

/* -- running ------------------------------------------------------------------------------------------------------- */

/* A call. Between the passes the numbers are in y or, if y is real, in a dense complex array that the call
 * allocates. */
typedef struct transform_call {
  const nd4c_call *call;
  nd4c_cpu_transform t;
  const plans *plans;
  nd4c_tensor between;
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
  size_t bytes; /* of `between`, if it is its own */
} transform_call;

static bool start(transform_call *c) {
  const nd4c_tensor *x = &c->call->inputs[0], *y = &c->call->outputs[0];
  c->between = *y;
  if (!c->t.real_out || c->t.count == 1) {
    return true;
  }
  int64_t step = 1;
  c->between.dtype = nd4c_cpu_is_single(y->dtype) ? ND4C_COMPLEX64 : ND4C_COMPLEX128;
  for (int32_t axis = y->rank - 1; axis >= 0; axis--) {
    int64_t half = c->t.lengths[c->t.count - 1] / 2 + 1, given = x->shape[axis];
    bool real = axis == c->t.axes[c->t.count - 1];
    c->shape[axis] = !real ? y->shape[axis] : given < half ? given : half;
    c->strides[axis] = step;
    step *= c->shape[axis];
  }
  c->between.shape = c->shape;
  c->between.strides = c->strides;
  c->bytes = (size_t)step * (nd4c_cpu_is_single(y->dtype) ? 8 : 16);
  c->between.data = nd4c_cpu_host->allocate_pages(c->bytes);
  return c->between.data != NULL;
}

static void set_side(const nd4c_tensor *tensor, int32_t axis, int64_t given, nd4c_fft_side *side) {
  side->data = tensor->data;
  side->is_complex = nd4c_cpu_is_complex(tensor->dtype);
  side->stride = tensor->strides[axis];
  side->given = given;
  for (int32_t i = 0, k = 0; i < tensor->rank; i++) {
    if (i != axis) {
      side->strides[k++] = tensor->strides[i];
    }
  }
}

/* Elements along an axis of x that are transformed; the rest is cut off. */
static int64_t given_along(const transform_call *c, int32_t i) {
  int64_t length = c->t.lengths[i], extent = c->call->inputs[0].shape[c->t.axes[i]];
  int64_t most = c->t.real_out && i == c->t.count - 1 ? length / 2 + 1 : length;
  return extent < most ? extent : most;
}

static bool run_pass(const transform_call *c, int32_t i) {
  const nd4c_tensor *y = &c->call->outputs[0], *from = i == 0 ? &c->call->inputs[0] : &c->between;
  const nd4c_tensor *to = i == c->t.count - 1 ? y : &c->between;
  int32_t axis = c->t.axes[i];
  nd4c_fft_axis_pass pass = {.plan = &c->plans->of[i], .lines = 1, .width = c->call->width};
  set_side(from, axis, given_along(c, i), &pass.from);
  set_side(to, axis, to->shape[axis], &pass.to);
  for (int32_t k = 0; k < to->rank; k++) {
    if (k != axis) {
      pass.shape[pass.rank++] = to->shape[k];
    }
  }
  for (int32_t later = i + 1; later < c->t.count; later++) { /* later axes: the rest is 0 */
    pass.shape[c->t.axes[later] - (c->t.axes[later] > axis)] = given_along(c, later);
  }
  for (int32_t k = 0; k < pass.rank; k++) {
    pass.lines *= pass.shape[k];
  }
  pass.real_out = c->t.real_out && i == c->t.count - 1;
  pass.inverse = c->t.inverse;
  pass.conjugate = c->t.conjugate;
  pass.scale = i == c->t.count - 1 ? c->t.scale : 1;
  return nd4c_fft_run_axis(&pass);
}

static nd4c_status run(const nd4c_call *call) {
  transform_call c = {.call = call, .t = nd4c_cpu_transform_read(call), .plans = call->state};
  bool done = start(&c);
  for (int32_t i = 0; done && i < c.t.count; i++) {
    done = run_pass(&c, i);
  }
  if (c.bytes > 0 && c.between.data != NULL) {
    nd4c_cpu_host->free_pages(c.between.data, c.bytes);
  }
  return done ? ND4C_OK : nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory to transform in", call->op->name);
}

/* Asked before FFTW. */
#define KERNEL(op)                                                                                                   \
  ND4C_CPU_KERNEL("simd", op, #op, ND4C_CPU_PRIORITY_FFTW + 1, ND4C_CPU_FFT_DTYPES, usable, run, .prepare = prepare, \
                  .unprepare = unprepare),
const nd4c_kernel *const nd4c_cpu_simd_signal_fft_kernels[] = {ND4C_CPU_FFT_OPS(KERNEL) NULL};
