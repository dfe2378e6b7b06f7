/* Implements widened.h. */
#include "backends/cpu/support/widened.h"

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/nest.h"

enum {
  OPERANDS = 16,
  CAST_COST = 2
}; /* inputs and outputs of a call; an element's cost in the unit of nd4c_nest_run */

/* The call in float32. Widened operands lie in C order in scratch, one after the other. */
typedef struct widened {
  nd4c_call call;
  nd4c_tensor tensors[OPERANDS]; /* inputs, then outputs */
  int64_t strides[OPERANDS][ND4C_CPU_MAX_RANK];
  int64_t bytes; /* of the widened operands */
} widened;

typedef struct prepared {
  const nd4c_kernel *kernel; /* of float32 */
  void *state;
} prepared;

static bool is_half(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT16 || dtype == ND4C_BFLOAT16;
}

static int64_t bytes_of(const nd4c_tensor *x) {
  return (x->size * (int64_t)sizeof(float) + 63) & ~(int64_t)63;
}

/* scratch: of the widened operands; NULL: they have no address. */
static void widen_operand(widened *w, int32_t at, const nd4c_tensor *x, char *scratch) {
  nd4c_tensor *wide = &w->tensors[at];
  *wide = *x;
  if (!is_half(x->dtype)) {
    return;
  }
  nd4c_dense_strides(x->rank, x->shape, w->strides[at]);
  wide->dtype = ND4C_FLOAT32;
  wide->strides = w->strides[at];
  wide->flags = ND4C_TENSOR_CONTIGUOUS; /* not CONSTANT: the copy is another one in each run */
  wide->data = scratch == NULL ? NULL : scratch + w->bytes;
  wide->buffer = NULL;
  wide->offset = 0;
  w->bytes += bytes_of(x);
}

/* What a run needs, but for data, state and scratch of the inner kernel. */
static void widen_call(const nd4c_call *call, char *scratch, widened *w) {
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

/* The kernel of float32 that computes the widened call. NULL, with the reason of the last one that was asked. */
static const nd4c_kernel *find(const nd4c_call *call, widened *w, char *reason, size_t reason_size) {
  const nd4c_widened_source *source = call->data;
  const nd4c_kernel *best = NULL;
  (void)nd4c_cpu_decline(reason, reason_size, "no kernel of float32");
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

bool nd4c_widened_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  widened w;
  ND4C_CPU_DECLINE_IF(call->input_count + call->output_count > OPERANDS, "more than %d operands", OPERANDS);
  for (int32_t i = 0; i < call->op->attr_count; i++) {
    ND4C_CPU_DECLINE_IF(call->attrs[i].kind == ND4C_ATTR_DTYPE && call->attrs[i].as.i != ND4C_DTYPE_NONE,
                        "an attribute asks for a dtype");
  }
  widen_call(call, NULL, &w);
  return find(call, &w, reason, reason_size) != NULL;
}

nd4c_status nd4c_widened_prepare(const nd4c_call *call, void **state) {
  char reason[256];
  widened w;
  widen_call(call, NULL, &w);
  const nd4c_kernel *kernel = find(call, &w, reason, sizeof reason);
  ND4C_CPU_FAIL_IF(kernel == NULL, ND4C_UNSUPPORTED, "%s: %s", call->op->name, reason);
  prepared *p = nd4c_cpu_host->allocate(sizeof *p);
  ND4C_CPU_FAIL_IF(p == NULL, ND4C_MEMORY, "%s: no memory for %zu bytes of prepared state", call->op->name, sizeof *p);
  p->kernel = kernel;
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
  widen_call(call, NULL, &w);
  set_inner(p, &w);
  return w.bytes + (p->kernel->scratch_bytes == NULL ? 0 : p->kernel->scratch_bytes(&w.call));
}

static void cast_piece(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  const nd4c_cast_loop *loop = user;
  (void)repeated;
  (*loop)(n, pointers[1], pointers[0]);
}

static void convert(const nd4c_tensor *from, const nd4c_tensor *to, int32_t width) {
  nd4c_nest nest;
  nd4c_nest_start(&nest, to);
  nd4c_nest_add(&nest, from, to);
  nd4c_nest_finish(&nest);
  nd4c_nest_run(&nest, width, CAST_COST, false, cast_piece, NULL, &nd4c_simd.cast->loops[from->dtype][to->dtype]);
}

nd4c_status nd4c_widened_run(const nd4c_call *call) {
  const prepared *p = call->state;
  widened w;
  widen_call(call, call->scratch, &w);
  set_inner(p, &w);
  w.call.scratch = (char *)call->scratch + w.bytes;
  for (int32_t i = 0; i < call->input_count; i++) {
    if (is_half(call->inputs[i].dtype)) {
      convert(&call->inputs[i], &w.call.inputs[i], call->width);
    }
  }
  ND4C_BACKEND_TRY(p->kernel->run(&w.call));
  for (int32_t i = 0; i < call->output_count; i++) {
    if (is_half(call->outputs[i].dtype)) {
      convert(&w.call.outputs[i], &call->outputs[i], call->width);
    }
  }
  return ND4C_OK;
}
