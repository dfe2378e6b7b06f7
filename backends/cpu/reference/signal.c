/* Engine reference: short-time transforms, windows, frequencies, convolution, pairs of reals. */
#include <string.h>

#include "backends/cpu/support/signal.h"
#include "backends/reading.h"
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
  frames f = {.window = nd4c_cpu_input(call, ND4C_IN_stft_window), .step = call->attrs[ND4C_ATTR_stft_frame_step].as.i};
  f.onesided = call->attrs[ND4C_ATTR_stft_onesided].as.i != 0;
  f.count = spectra->shape[spectra->rank - 2];
  f.length = forward ? call->attrs[ND4C_ATTR_stft_frame_length].as.i : y->shape[y->rank - 1] - (f.count - 1) * f.step;
  f.length = f.length == -1 ? f.window->shape[0] : f.length;
  return f;
}

static nd4c_status no_memory(const nd4c_call *call) {
  return nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for its frames", call->op->name);
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  frames f = read_frames(call);
  *state = nd4c_cpu_fft_plan(f.length, f.onesided);
  return *state != NULL ? ND4C_OK : no_memory(call);
}

static void unprepare(void *state) {
  nd4c_cpu_host->free(state);
}

/* The window's numbers in C order; *failed if there is no memory. NULL without a window. */
static double *read_window(const frames *f, bool *failed) {
  double *window = f->window != NULL ? nd4c_cpu_host->allocate((size_t)f->length * sizeof *window) : NULL;
  *failed = f->window != NULL && window == NULL;
  for (int64_t i = 0; window != NULL && i < f->length; i++) {
    window[i] = nd4c_value_load(f->window->dtype, f->window->data, i * f->window->strides[0]).f;
  }
  return window;
}

/* x [..., time] as [..., frames, length]: frames lie over each other. */
static nd4c_status stft_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  frames f = read_frames(call);
  int64_t shape[ND4C_CPU_MAX_RANK + 1], strides[ND4C_CPU_MAX_RANK + 1], along = x->strides[x->rank - 1];
  bool failed;
  double *window = read_window(&f, &failed);
  if (failed) {
    return no_memory(call);
  }
  memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
  memcpy(strides, x->strides, (size_t)x->rank * sizeof *strides);
  shape[x->rank - 1] = f.count;
  strides[x->rank - 1] = f.count > 1 ? f.step * along : 0;
  shape[x->rank] = f.length;
  strides[x->rank] = along;
  nd4c_fft_pass pass = {.from = {x->dtype, x->rank + 1, shape, strides, x->data},
                        .to = nd4c_cpu_ref_tensor(&call->outputs[0]),
                        .axis = x->rank,
                        .plan = call->state,
                        .scale = 1,
                        .window = window};
  nd4c_status status = nd4c_cpu_fft_pass(call, &pass);
  nd4c_cpu_host->free(window);
  return status;
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
  nd4c_status status = nd4c_cpu_fft_pass(call, &pass);
  nd4c_ref_tensor line = {y->dtype, 1, y->shape + y->rank - 1, y->strides + y->rank - 1,
                          (char *)y->data + to * nd4c_reference_bytes(y->dtype)};
  if (status == ND4C_OK) {
    nd4c_ref_overlap_add(room, f->count, f->length, f->step, window, &line);
  }
  return status;
}

static nd4c_status istft_run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  frames f = read_frames(call);
  bool failed;
  double *window = read_window(&f, &failed);
  bool fits = f.count < (INT64_C(1) << 56) / f.length;
  size_t bytes = fits ? (size_t)(f.count * f.length) * sizeof(double complex) : 0;
  double complex *room = fits && !failed ? nd4c_cpu_host->allocate_pages(bytes) : NULL;
  nd4c_status status = room != NULL ? ND4C_OK : no_memory(call);
  int64_t sequences = y->size / (y->shape[y->rank - 1] > 0 ? y->shape[y->rank - 1] : 1);
  for (int64_t index = 0; index < sequences && status == ND4C_OK; index++) {
    status = istft_sequence(call, &f, window, index, room);
  }
  if (room != NULL) {
    nd4c_cpu_host->free_pages(room, bytes);
  }
  nd4c_cpu_host->free(window);
  return status;
}

/* -- made of nothing -------------------------------------------------------------------------------------------- */

static nd4c_status fftfreq_run(const nd4c_call *call) {
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  nd4c_ref_frequencies(&y, call->attrs[ND4C_ATTR_fftfreq_n].as.i, call->attrs[ND4C_ATTR_fftfreq_d].as.f,
                       call->op->op == ND4C_OP_rfftfreq);
  return ND4C_OK;
}

static nd4c_status window_run(const nd4c_call *call) {
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  const nd4c_cosines window = nd4c_cosines_of(call);
  nd4c_ref_cosine_window(&y, &window);
  return ND4C_OK;
}

static nd4c_status mel_weight_matrix_run(const nd4c_call *call) {
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  const nd4c_attr_value *attrs = call->attrs;
  nd4c_ref_mel mel = {attrs[ND4C_ATTR_mel_weight_matrix_dft_length].as.i,
                      attrs[ND4C_ATTR_mel_weight_matrix_sample_rate].as.f,
                      attrs[ND4C_ATTR_mel_weight_matrix_lower].as.f, attrs[ND4C_ATTR_mel_weight_matrix_upper].as.f};
  nd4c_ref_mel_weights(&mel, &y);
  return ND4C_OK;
}

/* -- rearrangements --------------------------------------------------------------------------------------------- */

typedef struct move_args {
  const char *from;
  char *to;
  int32_t rank;
  int64_t bytes;
  const int64_t *shape, *from_strides, *to_strides;
  int64_t shift[ND4C_CPU_MAX_RANK]; /* of to's positions against from's */
} move_args;

static void move_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const move_args *m = user;
  (void)worker;
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t rest = flat, from = 0, to = 0;
    for (int32_t axis = m->rank - 1; axis >= 0; axis--) {
      int64_t position = rest % m->shape[axis];
      rest /= m->shape[axis];
      from += position * m->from_strides[axis];
      to += (position + m->shift[axis]) % m->shape[axis] * m->to_strides[axis];
    }
    memcpy(m->to + to * m->bytes, m->from + from * m->bytes, (size_t)m->bytes);
  }
}

static nd4c_status fftshift_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  bool chosen[ND4C_CPU_MAX_RANK] = {false};
  move_args args = {x->data, y->data, x->rank, nd4c_reference_bytes(x->dtype), x->shape, x->strides, y->strides, {0}};
  nd4c_cpu_reduced_axes(x->rank, &call->attrs[ND4C_ATTR_fftshift_axes], chosen);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    int64_t half = x->shape[axis] / 2;
    args.shift[axis] = !chosen[axis] ? 0 : call->op->op == ND4C_OP_fftshift ? half : x->shape[axis] - half;
  }
  nd4c_cpu_parallel(x->size, 4096, call->width, move_range, &args);
  return ND4C_OK;
}

/* Elements of `parts` by elements of `whole`: every pair of reals is one complex number. */
typedef struct pair_args {
  const nd4c_tensor *whole, *parts;
  bool to_complex;
} pair_args;

static void pair_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const pair_args *p = user;
  const nd4c_tensor *whole = p->whole, *parts = p->parts;
  nd4c_dtype_kind kind = nd4c_reference_kind(whole->dtype);
  int64_t next = parts->strides[parts->rank - 1];
  (void)worker;
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t rest = flat, in_whole = 0, in_parts = 0;
    for (int32_t axis = whole->rank - 1; axis >= 0; axis--) {
      in_whole += rest % whole->shape[axis] * whole->strides[axis];
      in_parts += rest % whole->shape[axis] * parts->strides[axis];
      rest /= whole->shape[axis];
    }
    nd4c_value real, imaginary = {.f = 0};
    if (p->to_complex) {
      real = nd4c_value_load(parts->dtype, parts->data, in_parts);
      imaginary = nd4c_value_load(parts->dtype, parts->data, in_parts + next);
      nd4c_value_store(whole->dtype, whole->data, in_whole, (nd4c_value){.c = nd4c_complex_make(real.f, imaginary.f)});
      continue;
    }
    real = nd4c_value_load(whole->dtype, whole->data, in_whole);
    if (kind == ND4C_KIND_COMPLEX) {
      imaginary.f = cimag(real.c);
      real = (nd4c_value){.f = creal(real.c)};
    }
    nd4c_value_store(parts->dtype, parts->data, in_parts, real);
    nd4c_value_store(parts->dtype, parts->data, in_parts + next, imaginary);
  }
}

static nd4c_status pairs_run(const nd4c_call *call) {
  bool to_complex = call->op->op == ND4C_OP_view_as_complex;
  pair_args args = {to_complex ? &call->outputs[0] : &call->inputs[0],
                    to_complex ? &call->inputs[0] : &call->outputs[0], to_complex};
  nd4c_cpu_parallel(args.whole->size, 4096, call->width, pair_range, &args);
  return ND4C_OK;
}

/* -- convolution ------------------------------------------------------------------------------------------------ */

typedef struct convolve_args {
  nd4c_dtype_kind kind;
  const void *a, *b;
  int64_t m, n;
  nd4c_ref_tensor y;
  int64_t shift;
} convolve_args;

static void convolve_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const convolve_args *c = user;
  (void)worker;
  nd4c_ref_convolve(c->kind, c->a, c->m, c->b, c->n, &c->y, c->shift, begin, end);
}

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

static nd4c_status convolve_run(const nd4c_call *call) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
  bool correlation = call->op->op == ND4C_OP_correlate;
  int64_t m = a->shape[0], n = b->shape[0], least = m < n ? m : n;
  bool fits = m < INT64_C(1) << 58 && n < INT64_C(1) << 58;
  size_t bytes = fits ? (size_t)(m + n) * sizeof(double complex) : 0;
  double complex *numbers = fits ? nd4c_cpu_host->allocate_pages(bytes) : NULL;
  if (numbers == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for copies of the operands", call->op->name);
  }
  convolve_args args = {.kind = nd4c_reference_kind(y->dtype), .a = numbers, .b = numbers + m, .m = m, .n = n};
  args.y = nd4c_cpu_ref_tensor(y);
  args.shift = nd4c_convolve_shift(call);
  read_sequence(a, args.kind, false, numbers);
  read_sequence(b, args.kind, correlation, numbers + m);
  nd4c_cpu_parallel(y->shape[0], nd4c_cpu_grain(least / 4), call->width, convolve_range, &args);
  nd4c_cpu_host->free_pages(numbers, bytes);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_reference_signal_kernels[] = {
    ND4C_CPU_REFERENCE_KERNEL(stft, ND4C_CPU_NUMBERS, stft_run, .prepare = prepare, .unprepare = unprepare),
    ND4C_CPU_REFERENCE_KERNEL(istft, ND4C_CPU_NUMBERS, istft_run, .prepare = prepare, .unprepare = unprepare),
    ND4C_CPU_REFERENCE_KERNEL(fftfreq, ND4C_CPU_FLOATS, fftfreq_run),
    ND4C_CPU_REFERENCE_KERNEL(rfftfreq, ND4C_CPU_FLOATS, fftfreq_run),
    ND4C_CPU_REFERENCE_KERNEL(hann_window, ND4C_CPU_FLOATS, window_run),
    ND4C_CPU_REFERENCE_KERNEL(hamming_window, ND4C_CPU_FLOATS, window_run),
    ND4C_CPU_REFERENCE_KERNEL(blackman_window, ND4C_CPU_FLOATS, window_run),
    ND4C_CPU_REFERENCE_KERNEL(mel_weight_matrix, ND4C_CPU_REALS, mel_weight_matrix_run),
    ND4C_CPU_REFERENCE_KERNEL(fftshift, ND4C_CPU_ALL, fftshift_run),
    ND4C_CPU_REFERENCE_KERNEL(ifftshift, ND4C_CPU_ALL, fftshift_run),
    ND4C_CPU_REFERENCE_KERNEL(view_as_complex, ND4C_CPU_FLOATS, pairs_run),
    ND4C_CPU_REFERENCE_KERNEL(view_as_real, ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES, pairs_run),
    ND4C_CPU_REFERENCE_KERNEL(convolve, ND4C_CPU_NUMBERS, convolve_run),
    ND4C_CPU_REFERENCE_KERNEL(correlate, ND4C_CPU_NUMBERS, convolve_run),
    NULL};
