/* Engine reference: Fourier transforms. Plans are made once for a signature. dispatch/choice.c asks these kernels last,
 * after those of all other engines. Engines simd and fftw read their calls with nd4c_cpu_transform_read. */
#include <stdatomic.h>
#include <string.h>

#include "backends/cpu/support/signal.h"

/* -- passes ----------------------------------------------------------------------------------------------------- */

nd4c_fft_plan *nd4c_cpu_fft_plan(int64_t length, bool real) {
  bool pairs = real && length % 2 == 0;
  int64_t bytes = pairs ? nd4c_fft_real_plan_bytes(length) : nd4c_fft_plan_bytes(length);
  int64_t work = nd4c_fft_work(pairs ? length / 2 : length, 1);
  void *memory = bytes < 0 ? NULL : nd4c_cpu_host->allocate((size_t)bytes);
  double complex *room = memory == NULL ? NULL : nd4c_cpu_host->allocate((size_t)work * sizeof *room);
  if (room == NULL) {
    nd4c_cpu_host->free(memory);
    return NULL;
  }
  nd4c_fft_plan *plan = pairs ? nd4c_fft_real_plan_make(length, memory) : nd4c_fft_plan_make(length, memory);
  nd4c_fft_plan_finish(plan, room);
  nd4c_cpu_host->free(room);
  return plan;
}

typedef struct lines_args {
  const nd4c_fft_pass *pass;
  int32_t lanes;
  atomic_bool failed;
} lines_args;

static void lines_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  lines_args *args = user;
  int64_t n = args->pass->plan->n;
  int32_t lanes = end - begin < args->lanes ? (int32_t)(end - begin) : args->lanes;
  size_t bytes = (size_t)((lanes + 1) * (n + 1) + nd4c_fft_work(n, lanes)) * sizeof(double complex);
  double complex *memory = nd4c_cpu_host->allocate_pages(bytes);
  (void)worker;
  if (memory == NULL) {
    atomic_store(&args->failed, true);
    return;
  }
  nd4c_fft_lines(args->pass, begin, end, lanes, memory);
  nd4c_cpu_host->free_pages(memory, bytes);
}

nd4c_status nd4c_cpu_fft_pass(const nd4c_call *call, const nd4c_fft_pass *pass) {
  int64_t lines = 1, n = pass->plan->n;
  for (int32_t axis = 0; axis < pass->to.rank; axis++) {
    lines *= axis == pass->axis ? 1 : pass->to.shape[axis];
  }
  lines_args args = {.pass = pass, .lanes = n <= 2048 ? 8 : n <= 16384 ? 4 : 1};
  int64_t grain = nd4c_cpu_grain(n);
  nd4c_cpu_parallel(lines, grain > args.lanes ? grain : args.lanes, call->width, lines_range, &args);
  ND4C_CPU_FAIL_IF(atomic_load(&args.failed), ND4C_MEMORY, "%s: no memory for lines of %lld points", call->op->name,
                   (long long)n);
  return ND4C_OK;
}

/* -- what a call consists of ------------------------------------------------------------------------------------ */

static bool is_several(nd4c_op op) {
  return op == ND4C_OP_fftn || op == ND4C_OP_ifftn || op == ND4C_OP_rfftn || op == ND4C_OP_irfftn;
}

static void read_kind(nd4c_op op, nd4c_cpu_transform *t) {
  t->real_in = op == ND4C_OP_rfft || op == ND4C_OP_rfftn || op == ND4C_OP_ihfft;
  t->real_out = op == ND4C_OP_irfft || op == ND4C_OP_irfftn || op == ND4C_OP_hfft;
  t->conjugate = op == ND4C_OP_hfft || op == ND4C_OP_ihfft;
  t->scales_inverse =
      op == ND4C_OP_ifft || op == ND4C_OP_ifftn || op == ND4C_OP_irfft || op == ND4C_OP_irfftn || op == ND4C_OP_ihfft;
  t->inverse = t->real_out || op == ND4C_OP_ifft || op == ND4C_OP_ifftn;
}

static double scale_of(const nd4c_cpu_transform *t, int64_t norm) {
  double points = 1;
  for (int32_t i = 0; i < t->count; i++) {
    points *= (double)t->lengths[i];
  }
  if (norm == ND4C_FFT_NORM_ORTHO) {
    return 1 / sqrt(points);
  }
  bool forward = norm == ND4C_FFT_NORM_FORWARD;
  return forward == t->scales_inverse ? 1 : 1 / points;
}

bool nd4c_cpu_transform_is_small(const nd4c_cpu_transform *t, int64_t results) {
  double points = 1;
  for (int32_t i = 0; i < t->count; i++) {
    points *= (double)t->lengths[i];
  }
  return points * (double)results < 64 * 64;
}

nd4c_cpu_transform nd4c_cpu_transform_read(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const nd4c_attr_value *attrs = call->attrs;
  bool several = is_several(call->op->op);
  nd4c_cpu_transform t = {.count = 1};
  int64_t given[ND4C_CPU_MAX_RANK];
  read_kind(call->op->op, &t);
  if (several) {
    const nd4c_attr_value *s = &attrs[ND4C_ATTR_fftn_s], *axes = &attrs[ND4C_ATTR_fftn_axes];
    t.count = axes->count > 0 ? axes->count : s->count > 0 ? s->count : x->rank;
    for (int32_t i = 0; i < t.count; i++) {
      t.axes[i] = axes->count > 0 ? nd4c_axis(axes->as.ints[i], x->rank) : x->rank - t.count + i;
      given[i] = s->count > 0 ? s->as.ints[i] : -1;
    }
  } else {
    t.axes[0] = nd4c_axis(ND4C_INT_OF(call, fft_axis), x->rank);
    given[0] = ND4C_INT_OF(call, fft_n);
  }
  for (int32_t i = 0; i < t.count; i++) {
    int64_t own = t.real_out ? y->shape[t.axes[i]] : x->shape[t.axes[i]];
    t.lengths[i] = given[i] == -1 ? own : given[i];
  }
  if (t.real_in && t.count > 1) { /* the real axis, which is halved, is transformed first */
    int32_t last = t.axes[t.count - 1];
    int64_t length = t.lengths[t.count - 1];
    memmove(t.axes + 1, t.axes, (size_t)(t.count - 1) * sizeof *t.axes);
    memmove(t.lengths + 1, t.lengths, (size_t)(t.count - 1) * sizeof *t.lengths);
    t.axes[0] = last;
    t.lengths[0] = length;
  }
  t.scale = scale_of(&t, attrs[several ? ND4C_ATTR_fftn_norm : ND4C_ATTR_fft_norm].as.i);
  return t;
}

/* -- state: one plan a pass -------------------------------------------------------------------------------------- */

typedef struct plans {
  int32_t count;
  nd4c_fft_plan *of[ND4C_CPU_MAX_RANK];
} plans;

static void unprepare(void *state) {
  plans *p = state;
  for (int32_t i = 0; p != NULL && i < p->count; i++) {
    nd4c_cpu_host->free(p->of[i]);
  }
  nd4c_cpu_host->free(p);
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  nd4c_cpu_transform t = nd4c_cpu_transform_read(call);
  plans *p = nd4c_cpu_host->allocate(sizeof *p);
  for (int32_t i = 0; p != NULL && i < t.count; i++) {
    bool real = (t.real_in && i == 0) || (t.real_out && i == t.count - 1);
    p->of[i] = nd4c_cpu_fft_plan(t.lengths[i], real);
    p->count = i + 1;
    if (p->of[i] == NULL) {
      unprepare(p);
      p = NULL;
    }
  }
  *state = p;
  return p != NULL ? ND4C_OK : nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for roots of unity", call->op->name);
}

/* -- running ---------------------------------------------------------------------------------------------------- */

/* The result of one pass, which the next one reads: dense, in double. */
typedef struct between {
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK], bytes;
  void *data;
} between;

static nd4c_ref_tensor make_between(between *b, int32_t rank) {
  double size = 16;
  int64_t step = 1;
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    b->strides[axis] = step;
    size *= (double)b->shape[axis];
    step = size < 0x1p60 ? step * b->shape[axis] : 0;
  }
  b->bytes = 16 * (step > 0 ? step : 1);
  b->data = size < 0x1p60 ? nd4c_cpu_host->allocate_pages((size_t)b->bytes) : NULL;
  return (nd4c_ref_tensor){ND4C_COMPLEX128, rank, b->shape, b->strides, b->data};
}

static void free_between(between *b) {
  if (b->data != NULL) {
    nd4c_cpu_host->free_pages(b->data, (size_t)b->bytes);
    b->data = NULL;
  }
}

static nd4c_status run(const nd4c_call *call) {
  const plans *p = call->state;
  nd4c_cpu_transform t = nd4c_cpu_transform_read(call);
  between rooms[2] = {{.data = NULL}, {.data = NULL}};
  nd4c_ref_tensor from = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  nd4c_status status = ND4C_OK;
  if (call->outputs[0].size == 0) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < t.count && status == ND4C_OK; i++) {
    bool first = i == 0, last = i == t.count - 1;
    nd4c_fft_pass pass = {.from = from, .to = y, .axis = t.axes[i], .plan = p->of[i], .inverse = t.inverse};
    pass.hermitian = t.real_out && last;
    pass.conjugate_in = t.conjugate && t.real_out;
    pass.conjugate_out = t.conjugate && t.real_in;
    pass.scale = last ? t.scale : 1;
    if (!last) {
      between *room = &rooms[i % 2];
      free_between(room);
      memcpy(room->shape, from.shape, (size_t)from.rank * sizeof *room->shape);
      room->shape[t.axes[i]] = t.real_in && first ? t.lengths[i] / 2 + 1 : t.lengths[i];
      pass.to = make_between(room, from.rank);
      if (room->data == NULL) {
        status = nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory between two axes", call->op->name);
        break;
      }
    }
    status = nd4c_cpu_fft_pass(call, &pass);
    from = pass.to;
  }
  free_between(&rooms[0]);
  free_between(&rooms[1]);
  return status;
}

#define KERNEL(op) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_NUMBERS, run, .prepare = prepare, .unprepare = unprepare),
const nd4c_kernel *const nd4c_cpu_reference_signal_fft_kernels[] = {ND4C_CPU_FFT_OPS(KERNEL) NULL};
