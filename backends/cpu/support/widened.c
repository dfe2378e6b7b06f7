/* Implements widened.h. */
#include "backends/cpu/support/widened.h"

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/nest.h"

enum {
  OPERANDS = 16, /* inputs and outputs of a call */
  CAST_COST = 2, /* of an element, in the unit of nd4c_nest_run */
  ALIGNMENT = 64
};

/* The call in the wider dtypes. Widened operands lie in scratch, one after the other, without gaps and with the last
 * axis fastest. */
typedef struct widened {
  nd4c_call call;
  const nd4c_widened_source *source;
  bool once;    /* axes that repeat an input have the stride 0 in the widened one, too */
  bool repeats; /* an input has such an axis */
  bool bounded; /* no operand has more than ND4C_MOST_COPIES elements for one in memory; else bytes means nothing */
  nd4c_tensor tensors[OPERANDS]; /* inputs, then outputs */
  int64_t strides[OPERANDS][ND4C_CPU_MAX_RANK];
  int64_t bytes; /* of the widened operands */
} widened;

typedef struct prepared {
  const nd4c_kernel *kernel; /* of the wider dtype */
  void *state;
  bool once; /* see widened */
} prepared;

static bool is_half(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT16 || dtype == ND4C_BFLOAT16;
}

static bool is_complex(nd4c_dtype dtype) {
  return dtype == ND4C_COMPLEX64 || dtype == ND4C_COMPLEX128;
}

/* The dtype in which operands of `dtype` are computed; `dtype` if they are not widened. */
static nd4c_dtype wide_dtype(const nd4c_widened_source *source, nd4c_dtype dtype) {
  if (!source->doubles) {
    return is_half(dtype) ? ND4C_FLOAT32 : dtype;
  }
  return dtype == ND4C_COMPLEX64                         ? ND4C_COMPLEX128
         : (ND4C_DTYPE_BIT(dtype) & ND4C_CPU_REALS) != 0 ? ND4C_FLOAT64
                                                         : dtype;
}

static bool is_repeated(const nd4c_tensor *x, int32_t axis) {
  return x->strides[axis] == 0 && x->shape[axis] > 1;
}

/* The strides of the widened operand; gives its elements. x is not empty, its size is a number. */
static int64_t lay_out(const nd4c_tensor *x, bool once, int64_t *strides) {
  int64_t stride = 1;
  for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
    const bool repeated = once && is_repeated(x, axis);
    strides[axis] = repeated ? 0 : stride;
    stride *= repeated ? 1 : x->shape[axis];
  }
  return stride;
}

/* scratch: of the widened operands; NULL: they have no address. */
static void widen_operand(widened *w, int32_t at, const nd4c_tensor *x, char *scratch) {
  nd4c_tensor *wide = &w->tensors[at];
  const nd4c_dtype dtype = wide_dtype(w->source, x->dtype);
  *wide = *x;
  if (dtype == x->dtype) {
    return;
  }
  bool repeats = false;
  for (int32_t axis = 0; axis < x->rank; axis++) {
    repeats = repeats || is_repeated(x, axis);
  }
  const int64_t elements = x->size == 0 ? 0 : lay_out(x, w->once, w->strides[at]);
  if (x->size == 0) {
    nd4c_dense_strides(x->rank, x->shape, w->strides[at]);
  } else if (elements / ND4C_MOST_COPIES > nd4c_memory_span(x)) {
    w->bounded = false;
  }
  w->repeats = w->repeats || repeats;
  wide->dtype = dtype;
  wide->strides = w->strides[at];
  wide->flags = repeats && w->once ? 0 : ND4C_TENSOR_CONTIGUOUS; /* not CONSTANT: the copy is another one in each run */
  wide->data = scratch == NULL ? NULL : scratch + w->bytes;
  wide->buffer = NULL;
  wide->offset = 0;
  if (w->bounded) {
    w->bytes += (elements * nd4c_cpu_dtype_bytes(dtype) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
}

/* What a run needs, but for data, state and scratch of the inner kernel. */
static void widen_call(const nd4c_call *call, bool once, char *scratch, widened *w) {
  w->source = call->data;
  w->once = once;
  w->repeats = false;
  w->bounded = true;
  w->bytes = 0;
  w->call = *call;
  w->call.inputs = w->tensors;
  w->call.outputs = w->tensors + call->input_count;
  for (int32_t i = 0; i < call->input_count; i++) {
    widen_operand(w, i, &call->inputs[i], scratch);
  }
  for (int32_t i = 0; i < call->output_count; i++) {
    widen_operand(w, call->input_count + i, &call->outputs[i], scratch);
  }
}

/* The kernel of the wider dtype that computes the widened call. NULL, with the reason of the last one that was asked.
 */
static const nd4c_kernel *find_kernel(const nd4c_call *call, widened *w, char *reason, size_t reason_size) {
  const nd4c_widened_source *source = call->data;
  const nd4c_kernel *best = NULL;
  (void)nd4c_cpu_decline(reason, reason_size, "no kernel of the wider dtype");
  for (int32_t family = 0; source->families[family] != NULL; family++) {
    for (const nd4c_kernel *const *kernel = source->families[family]; *kernel != NULL; kernel++) {
      const nd4c_kernel *k = *kernel;
      if (k->priority < source->least || (best != NULL && k->priority <= best->priority) ||
          (k->dtypes & ND4C_DTYPE_BIT(w->tensors[0].dtype)) == 0 || strcmp(k->op, call->op->name) != 0) {
        continue;
      }
      w->call.data = k->data;
      best = k->usable == NULL || k->usable(&w->call, reason, reason_size) ? k : best;
    }
  }
  return best;
}

/* The same for the operands as they are repeated, or else written out. */
static const nd4c_kernel *find(const nd4c_call *call, widened *w, char *reason, size_t reason_size) {
  const nd4c_kernel *kernel = NULL;
  for (int32_t pass = 0; pass < 2 && kernel == NULL; pass++) {
    widen_call(call, pass == 0, NULL, w);
    if (!w->bounded) {
      (void)nd4c_cpu_decline(reason, reason_size, "an operand has more than %d elements for each one in memory",
                             ND4C_MOST_COPIES);
    } else {
      kernel = find_kernel(call, w, reason, reason_size);
    }
    if (!w->repeats) {
      return kernel;
    }
  }
  return kernel;
}

bool nd4c_widened_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  widened w;
  ND4C_CPU_DECLINE_IF(call->input_count + call->output_count > OPERANDS, "more than %d operands", OPERANDS);
  for (int32_t i = 0; i < call->op->attr_count; i++) {
    ND4C_CPU_DECLINE_IF(call->attrs[i].kind == ND4C_ATTR_DTYPE && call->attrs[i].as.i != ND4C_DTYPE_NONE,
                        "an attribute asks for a dtype");
  }
  return find(call, &w, reason, reason_size) != NULL;
}

nd4c_status nd4c_widened_prepare(const nd4c_call *call, void **state) {
  char reason[256];
  widened w;
  const nd4c_kernel *kernel = find(call, &w, reason, sizeof reason);
  ND4C_CPU_FAIL_IF(kernel == NULL, ND4C_UNSUPPORTED, "%s: %s", call->op->name, reason);
  prepared *p = nd4c_cpu_host->allocate(sizeof *p);
  ND4C_CPU_FAIL_IF(p == NULL, ND4C_MEMORY, "%s: no memory for %zu bytes of prepared state", call->op->name, sizeof *p);
  p->kernel = kernel;
  p->once = w.once;
  w.call.data = kernel->data;
  nd4c_status status = kernel->prepare == NULL ? ND4C_OK : kernel->prepare(&w.call, &p->state);
  if (status != ND4C_OK) {
    nd4c_cpu_host->free(p);
    return status;
  }
  *state = p;
  return ND4C_OK;
}

void nd4c_widened_unprepare(void *state) {
  prepared *p = state;
  if (p->kernel->unprepare != NULL && p->state != NULL) {
    p->kernel->unprepare(p->state);
  }
  nd4c_cpu_host->free(p);
}

static void set_inner(const prepared *p, widened *w) {
  w->call.data = p->kernel->data;
  w->call.state = p->state;
}

int64_t nd4c_widened_scratch_bytes(const nd4c_call *call) {
  const prepared *p = call->state;
  widened w;
  widen_call(call, p->once, NULL, &w);
  set_inner(p, &w);
  return w.bytes + (p->kernel->scratch_bytes == NULL ? 0 : p->kernel->scratch_bytes(&w.call));
}

typedef struct cast_job {
  nd4c_cast_loop loop;
  int64_t parts; /* of an element: 2 of complex numbers */
} cast_job;

static void cast_piece(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  const cast_job *job = user;
  (void)repeated;
  job->loop(n * job->parts, pointers[1], pointers[0]);
}

static nd4c_dtype part_dtype(nd4c_dtype dtype) {
  return dtype == ND4C_COMPLEX64 ? ND4C_FLOAT32 : dtype == ND4C_COMPLEX128 ? ND4C_FLOAT64 : dtype;
}

/* x without the axes along which `repeated` repeats its elements. */
static nd4c_tensor without_repeats(const nd4c_tensor *x, const nd4c_tensor *repeated, int64_t *shape) {
  nd4c_tensor y = *x;
  y.shape = shape;
  for (int32_t axis = 0; axis < x->rank; axis++) {
    const bool single = is_repeated(repeated, axis) && x->size > 0;
    shape[axis] = single ? 1 : x->shape[axis];
    y.size /= single ? x->shape[axis] : 1;
  }
  return y;
}

static void convert(const nd4c_tensor *from, const nd4c_tensor *to, int32_t width) {
  int64_t shape[ND4C_CPU_MAX_RANK];
  const nd4c_tensor x = without_repeats(from, to, shape), y = without_repeats(to, to, shape);
  const cast_job job = {nd4c_simd.cast->loops[part_dtype(from->dtype)][part_dtype(to->dtype)],
                        is_complex(from->dtype) ? 2 : 1};
  nd4c_nest nest;
  nd4c_nest_start(&nest, &y);
  nd4c_nest_add(&nest, &x, &y);
  nd4c_nest_finish(&nest);
  nd4c_nest_run(&nest, width, CAST_COST, false, cast_piece, NULL, &job);
}

nd4c_status nd4c_widened_run(const nd4c_call *call) {
  const prepared *p = call->state;
  widened w;
  widen_call(call, p->once, call->scratch, &w);
  set_inner(p, &w);
  w.call.scratch = (char *)call->scratch + w.bytes;
  for (int32_t i = 0; i < call->input_count; i++) {
    if (w.call.inputs[i].dtype != call->inputs[i].dtype) {
      convert(&call->inputs[i], &w.call.inputs[i], call->width);
    }
  }
  ND4C_BACKEND_TRY(p->kernel->run(&w.call));
  for (int32_t i = 0; i < call->output_count; i++) {
    if (w.call.outputs[i].dtype != call->outputs[i].dtype) {
      convert(&w.call.outputs[i], &call->outputs[i], call->width);
    }
  }
  return ND4C_OK;
}
