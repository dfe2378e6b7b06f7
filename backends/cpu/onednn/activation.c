/* Activations that a primitive applies, and what becomes of NaN in them. oneDNN's relu and clip are maxima and minima
 * of the processor, whose result for NaN is the bound, and its gelu, swish and hard_swish of -infinity are NaN. No
 * post-op gives both right, and a pass of our own over each result would cost up to a tenth of a convolution. But such
 * a maximum raises FE_INVALID, as do all operations that make a NaN. So the flag tells at no cost that a run needs
 * another one without the activation, whose results say which ones the activation has to be applied to here. node.c
 * runs nodes with an activation through this file. */
#include <fenv.h>

#include "backends/cpu/onednn/onednn.h"
#include "backends/cpu/simd/simd.h"
#include "kernels/types.h"

bool nd4c_onednn_can_tell(const nd4c_onednn *dnn, int32_t width) {
#if defined(__x86_64__)
  return width <= 1 || dnn->omp.set_num_threads == NULL || dnn->omp.on_pool;
#else
  (void)dnn; /* arm64: FMAXNM raises the flag for signalling NaN alone */
  (void)width;
  return false;
#endif
}

/* -- applying it here ---------------------------------------------------------------------------------------------- */

enum { CHUNK = 256, GRAIN = 16384 };

/* A result, cut into lines along the axis whose elements lie closest. */
typedef struct lines {
  const nd4c_tensor *y;
  const char *before; /* the results before the activation, in y's strides; y's own data: all of them get it */
  int64_t element;    /* bytes */
  int32_t axis;
  nd4c_unary_loop loop;
  nd4c_unary_parameters parameters;
} lines;

static float load(const lines *l, const char *from) {
  return l->element == 4 ? *(const float *)(const void *)from
                         : nd4c_bfloat16_to_float(*(const uint16_t *)(const void *)from);
}

static void store(const lines *l, char *to, float number) {
  if (l->element == 4) {
    *(float *)(void *)to = number;
  } else {
    *(uint16_t *)(void *)to = nd4c_bfloat16_from_float(number);
  }
}

static bool is_finite(float number) {
  return (nd4c_float_bits(number) & 0x7f800000) != 0x7f800000;
}

static void activate_chunk(const lines *l, int64_t count, int64_t step, const char *before, char *y) {
  const bool all = l->before == l->y->data;
  float x[CHUNK], z[CHUNK];
  bool some = all;
  for (int64_t i = 0; i < count; i++) {
    x[i] = load(l, before + i * step);
    some |= !is_finite(x[i]);
  }
  if (!some) {
    return;
  }
  l->loop(count, x, z, &l->parameters);
  for (int64_t i = 0; i < count; i++) {
    if (all || !is_finite(x[i])) {
      store(l, y + i * step, z[i]);
    }
  }
}

static void activate_lines(void *user, int64_t begin, int64_t end, int32_t worker) {
  const lines *l = user;
  const nd4c_tensor *y = l->y;
  const int64_t extent = y->shape[l->axis], step = y->strides[l->axis] * l->element;
  (void)worker;
  for (int64_t number = begin; number < end; number++) {
    int64_t left = number, offset = 0;
    for (int32_t axis = y->rank - 1; axis >= 0; axis--) {
      if (axis != l->axis) {
        offset += left % y->shape[axis] * y->strides[axis];
        left /= y->shape[axis];
      }
    }
    for (int64_t at = 0; at < extent; at += CHUNK) {
      const int64_t place = offset * l->element + at * step, count = extent - at < CHUNK ? extent - at : CHUNK;
      activate_chunk(l, count, step, l->before + place, (char *)y->data + place);
    }
  }
}

static void activate(const nd4c_onednn_node *node, const nd4c_call *call, const void *before) {
  const nd4c_tensor *y = &call->outputs[0];
  lines l = {.y = y,
             .before = before,
             .element = nd4c_cpu_dtype_bytes(y->dtype),
             .axis = y->rank - 1,
             .loop = nd4c_cpu_activation_loop(node->activation, ND4C_FLOAT32),
             .parameters = nd4c_cpu_activation_parameters(node->activation, ND4C_FLOAT32)};
  for (int32_t axis = 0; axis < y->rank; axis++) {
    const bool closer = y->strides[axis] < y->strides[l.axis] || y->shape[l.axis] == 1;
    l.axis = y->shape[axis] > 1 && closer ? axis : l.axis;
  }
  const int64_t extent = y->shape[l.axis];
  nd4c_cpu_parallel(y->size / extent, GRAIN / extent + 1, call->width, activate_lines, &l);
}

/* -- results that are not finite ----------------------------------------------------------------------------------- */

/* Bytes from the first element of y to the end of the last one. */
static size_t span(const nd4c_tensor *y) {
  int64_t last = 0;
  for (int32_t axis = 0; axis < y->rank; axis++) {
    last += (y->shape[axis] - 1) * y->strides[axis];
  }
  return (size_t)((last + 1) * nd4c_cpu_dtype_bytes(y->dtype));
}

/* The results before the activation, in memory of their own. */
static nd4c_status run_apart(nd4c_onednn_node *apart, const nd4c_call *call, void *before, void *scratch) {
  nd4c_tensor y = call->outputs[0];
  nd4c_call without = *call;
  y.data = before;
  without.outputs = &y;
  without.state = apart;
  without.scratch = scratch;
  return nd4c_onednn_node_run_steps(apart, &without);
}

/* The call was run, and its operands are unchanged: no result of conv or linear is computed in place. */
static nd4c_status mend(const nd4c_onednn_node *node, const nd4c_call *call) {
  nd4c_onednn_node *apart = NULL;
  ND4C_BACKEND_TRY(nd4c_onednn_node_prepare_apart(node, call, &apart));
  const size_t bytes = span(&call->outputs[0]), scratch_bytes = (size_t)apart->scratch_bytes;
  void *before = nd4c_cpu_host->allocate_pages(bytes);
  void *scratch = scratch_bytes > 0 ? nd4c_cpu_host->allocate_pages(scratch_bytes) : NULL;
  nd4c_status status = ND4C_OK;
  if (before == NULL || (scratch_bytes > 0 && scratch == NULL)) {
    status = nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for %zu bytes of results before their activation",
                                 call->op->name, bytes + scratch_bytes);
  } else {
    status = run_apart(apart, call, before, scratch);
  }
  if (status == ND4C_OK) {
    activate(node, call, before);
  }
  nd4c_cpu_host->free_pages(before, bytes);
  nd4c_cpu_host->free_pages(scratch, scratch_bytes);
  nd4c_onednn_node_unprepare(apart);
  return status;
}

static nd4c_status run_and_mend(nd4c_onednn_node *node, const nd4c_call *call) {
  ND4C_BACKEND_TRY(nd4c_onednn_node_run_steps(node, call));
  if (node->apart) {
    activate(node, call, call->outputs[0].data);
    return ND4C_OK;
  }
  return fetestexcept(FE_INVALID) != 0 ? mend(node, call) : ND4C_OK;
}

nd4c_status nd4c_onednn_run_exactly(nd4c_onednn_node *node, const nd4c_call *call) {
  const bool was_set = fetestexcept(FE_INVALID) != 0; /* by the caller's earlier work, which may ask for it later */
  if (was_set) {
    (void)feclearexcept(FE_INVALID);
  }
  const nd4c_status status = run_and_mend(node, call);
  if (was_set) {
    (void)feraiseexcept(FE_INVALID);
  }
  return status;
}
