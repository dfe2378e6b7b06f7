/* Engine reference: short-time transforms, windows, frequencies, convolution, pairs of reals. dispatch/choice.c asks
 * these kernels last, after those of all other engines. */
#include <string.h>

#include "backends/cpu/reference/work.h"
#include "backends/cpu/support/signal.h"
#include "backends/reading.h"
#include "kernels/reference/indexing/arrangement.h"
#include "kernels/reference/support/runs.h"

/* -- short-time transforms -------------------------------------------------------------------------------------- */

typedef struct frames {
  const nd4c_tensor *window;
  int64_t length, step, count;
  bool onesided;
} frames;

static frames read_frames(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  bool forward = call->op->op == ND4C_OP_stft;
  const nd4c_tensor *spectra = forward ? y : x;
  frames f = {.window = nd4c_cpu_input(call, ND4C_IN_stft_window), .step = ND4C_INT_OF(call, stft_frame_step)};
  f.onesided = ND4C_FLAG_OF(call, stft_onesided);
  f.count = spectra->shape[spectra->rank - 2];
  f.length = forward ? ND4C_INT_OF(call, stft_frame_length) : y->shape[y->rank - 1] - (f.count - 1) * f.step;
  f.length = f.length == -1 ? f.window->shape[0] : f.length;
  return f;
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  frames f = read_frames(call);
  *state = nd4c_cpu_fft_plan(f.length, f.onesided);
  return *state != NULL ? ND4C_OK : nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for its frames", call->op->name);
}

static void unprepare(void *state) {
  nd4c_cpu_host->free(state);
}

/* x [..., time] as [..., frames, length]: frames lie over each other. */
static nd4c_status stft(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  frames f = read_frames(call);
  int64_t shape[ND4C_CPU_MAX_RANK + 1], strides[ND4C_CPU_MAX_RANK + 1], along = x->strides[x->rank - 1];
  const double *window = nd4c_cpu_work_load(work, ND4C_IN_stft_window);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
  memcpy(strides, x->strides, (size_t)x->rank * sizeof *strides);
  shape[x->rank - 1] = f.count;
  strides[x->rank - 1] = f.count > 1 ? f.step * along : 0;
  shape[x->rank] = f.length;
  strides[x->rank] = along;
  nd4c_fft_pass pass = {.from = {x->dtype, x->rank + 1, shape, strides, x->data},
                        .to = nd4c_cpu_ref_output(call, 0),
                        .axis = x->rank,
                        .plan = call->state,
                        .scale = 1,
                        .window = window};
  return nd4c_cpu_fft_pass(call, &pass);
}

/* Sequence by sequence: frames back in time, then added. */
static nd4c_status istft_sequence(const nd4c_call *call, const frames *f, const double *window, int64_t index,
                                  double complex *room) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t rest = index, from = 0, to = 0, dense[2] = {f->length, 1}, shape[2] = {f->count, f->length};
  for (int32_t axis = y->rank - 2; axis >= 0; axis--) {
    int64_t position = rest % y->shape[axis];
    rest /= y->shape[axis];
    from += position * x->strides[axis];
    to += position * y->strides[axis];
  }
  nd4c_fft_pass pass = {.from = {x->dtype, 2, x->shape + x->rank - 2, x->strides + x->rank - 2,
                                 (char *)x->data + from * nd4c_reference_bytes(x->dtype)},
                        .to = {ND4C_COMPLEX128, 2, shape, dense, (char *)room},
                        .axis = 1,
                        .plan = call->state,
                        .inverse = true,
                        .hermitian = f->onesided,
                        .scale = 1 / (double)f->length};
  ND4C_BACKEND_TRY(nd4c_cpu_fft_pass(call, &pass));
  nd4c_ref_tensor line = {y->dtype, 1, y->shape + y->rank - 1, y->strides + y->rank - 1,
                          (char *)y->data + to * nd4c_reference_bytes(y->dtype)};
  nd4c_ref_overlap_add(room, f->count, f->length, f->step, window, &line);
  return ND4C_OK;
}

static nd4c_status istft(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *y = &call->outputs[0];
  frames f = read_frames(call);
  const double *window = nd4c_cpu_work_load(work, ND4C_IN_stft_window);
  bool fits = f.count < (INT64_C(1) << 56) / f.length;
  double complex *room = (double complex *)(void *)nd4c_cpu_work_make(work, fits ? 2 * f.count * f.length : -1);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  int64_t sequences = y->size / (y->shape[y->rank - 1] > 0 ? y->shape[y->rank - 1] : 1);
  for (int64_t index = 0; index < sequences; index++) {
    ND4C_BACKEND_TRY(istft_sequence(call, &f, window, index, room));
  }
  return ND4C_OK;
}

/* -- made of nothing -------------------------------------------------------------------------------------------- */

static nd4c_status fftfreq_run(const nd4c_call *call) {
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_frequencies(&y, ND4C_INT_OF(call, fftfreq_n), ND4C_REAL_OF(call, fftfreq_d),
                       call->op->op == ND4C_OP_rfftfreq);
  return ND4C_OK;
}

static nd4c_status window_run(const nd4c_call *call) {
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  const nd4c_cosines window = nd4c_cosines_of(call);
  nd4c_ref_cosine_window(&y, &window);
  return ND4C_OK;
}

static nd4c_status mel_weight_matrix_run(const nd4c_call *call) {
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_mel mel = {ND4C_INT_OF(call, mel_weight_matrix_dft_length),
                      ND4C_REAL_OF(call, mel_weight_matrix_sample_rate), ND4C_REAL_OF(call, mel_weight_matrix_lower),
                      ND4C_REAL_OF(call, mel_weight_matrix_upper)};
  nd4c_ref_mel_weights(&mel, &y);
  return ND4C_OK;
}

/* -- rearrangements --------------------------------------------------------------------------------------------- */

/* A roll by half of each axis: padding with wrap-around on one side and negative padding on the other. */
static nd4c_status fftshift_run(const nd4c_call *call) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  bool chosen[ND4C_CPU_MAX_RANK] = {false};
  int64_t begin[ND4C_CPU_MAX_RANK];
  nd4c_cpu_reduced_axes(x.rank, &call->attrs[ND4C_ATTR_fftshift_axes], chosen);
  for (int32_t axis = 0; axis < x.rank; axis++) {
    int64_t half = x.shape[axis] / 2;
    begin[axis] = !chosen[axis] ? 0 : call->op->op == ND4C_OP_fftshift ? half : x.shape[axis] - half;
  }
  nd4c_ref_pad_continued(&x, &y, begin, ND4C_REF_PAD_WRAP);
  return ND4C_OK;
}

/* Elements of `parts` by elements of `whole`: every pair of reals is one complex number, the second of a real one is 0.
 */
typedef struct pair_args {
  nd4c_ref_tensor whole, parts;
  bool to_complex;
} pair_args;

static void pair_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const pair_args *p = user;
  const nd4c_ref_tensor *whole = &p->whole, *parts = &p->parts;
  nd4c_ref_tensor first = *parts;
  int64_t next = parts->strides[--first.rank];
  (void)worker;
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t in_whole = nd4c_ref_offset(whole, whole->rank, whole->shape, flat);
    int64_t in_parts = nd4c_ref_offset(&first, first.rank, first.shape, flat);
    double pair[2] = {0, 0};
    if (p->to_complex) {
      nd4c_ref_read_doubles(parts->dtype, parts->data, in_parts, next, 2, pair);
      nd4c_ref_write_doubles(whole->dtype, whole->data, in_whole, 1, 1, pair);
    } else {
      nd4c_ref_read_doubles(whole->dtype, whole->data, in_whole, 1, 1, pair);
      nd4c_ref_write_doubles(parts->dtype, parts->data, in_parts, next, 2, pair);
    }
  }
}

static nd4c_status pairs_run(const nd4c_call *call) {
  bool to_complex = call->op->op == ND4C_OP_view_as_complex;
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  pair_args args = {to_complex ? y : x, to_complex ? x : y, to_complex};
  nd4c_cpu_parallel(nd4c_ref_size(&args.whole), 4096, call->width, pair_range, &args);
  return ND4C_OK;
}

/* -- convolution ------------------------------------------------------------------------------------------------ */

ND4C_CPU_RANGE(convolve_range, nd4c_ref_convolve)

/* A sequence as dense doubles, double complex or words; from its end and conjugated if it is `turned`. */
static void read_sequence(const nd4c_tensor *x, nd4c_dtype_kind kind, bool turned, void *to) {
  int64_t n = x->shape[0], step = turned ? -x->strides[0] : x->strides[0], start = turned ? (n - 1) * x->strides[0] : 0;
  if (kind != ND4C_KIND_FLOAT && kind != ND4C_KIND_COMPLEX) {
    nd4c_ref_read_words(x->dtype, x->data, start, step, n, to);
    return;
  }
  nd4c_ref_read_doubles(x->dtype, x->data, start, step, n, to);
  double complex *numbers = to;
  bool widens = kind == ND4C_KIND_COMPLEX && nd4c_reference_kind(x->dtype) != ND4C_KIND_COMPLEX;
  for (int64_t i = n - 1; widens && i >= 0; i--) {
    numbers[i] = ((const double *)to)[i];
  }
  for (int64_t i = 0; turned && !widens && kind == ND4C_KIND_COMPLEX && i < n; i++) {
    numbers[i] = conj(numbers[i]);
  }
}

static nd4c_status convolve(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
  int64_t m = a->shape[0], n = b->shape[0], least = m < n ? m : n;
  double *numbers = nd4c_cpu_work_make(work, m < INT64_C(1) << 56 && n < INT64_C(1) << 56 ? 2 * (m + n) : -1);
  nd4c_ref_convolve_args args = {.kind = nd4c_reference_kind(y->dtype),
                                 .a = numbers,
                                 .b = numbers + 2 * m,
                                 .m = m,
                                 .n = n,
                                 .y = nd4c_cpu_ref_tensor(y),
                                 .shift = nd4c_convolve_shift(call)};
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  read_sequence(a, args.kind, false, numbers);
  read_sequence(b, args.kind, call->op->op == ND4C_OP_correlate, numbers + 2 * m);
  return nd4c_cpu_work_parallel(work, y->shape[0], least / 4, convolve_range, &args);
}

#define N ND4C_CPU_NUMBERS
#define F ND4C_CPU_FLOATS
#define FRAME_OPS(X)           \
  X(stft, N, stft(call, work)) \
  X(istft, N, istft(call, work))
#define WORK_OPS(X)                    \
  X(convolve, N, convolve(call, work)) \
  X(correlate, N, convolve(call, work))
#define FRAME_ROW(op, ...)                                                                                     \
  ND4C_CPU_REFERENCE_KERNEL(op, N, op##_run, .scratch_bytes = nd4c_cpu_work_operand_bytes, .prepare = prepare, \
                            .unprepare = unprepare),
FRAME_OPS(ND4C_CPU_WORK_RUN)
WORK_OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_signal_kernels[] = {
    FRAME_OPS(FRAME_ROW) WORK_OPS(ND4C_CPU_WORK_ROW) ND4C_CPU_REFERENCE_KERNEL(fftfreq, ND4C_CPU_FLOATS, fftfreq_run),
    ND4C_CPU_REFERENCE_KERNEL(rfftfreq, ND4C_CPU_FLOATS, fftfreq_run),
    ND4C_CPU_REFERENCE_KERNEL(hann_window, ND4C_CPU_FLOATS, window_run),
    ND4C_CPU_REFERENCE_KERNEL(hamming_window, ND4C_CPU_FLOATS, window_run),
    ND4C_CPU_REFERENCE_KERNEL(blackman_window, ND4C_CPU_FLOATS, window_run),
    ND4C_CPU_REFERENCE_KERNEL(mel_weight_matrix, ND4C_CPU_REALS, mel_weight_matrix_run),
    ND4C_CPU_REFERENCE_KERNEL(fftshift, ND4C_CPU_ALL, fftshift_run),
    ND4C_CPU_REFERENCE_KERNEL(ifftshift, ND4C_CPU_ALL, fftshift_run),
    ND4C_CPU_REFERENCE_KERNEL(view_as_complex, ND4C_CPU_FLOATS, pairs_run),
    ND4C_CPU_REFERENCE_KERNEL(view_as_real, ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES, pairs_run),
    NULL};
