/* Large f32 products through dnnl_sgemm: on operands that cannot be packed beforehand it is faster than oneDNN's matmul
 * primitive (512 cubed: 647 against 679 microseconds on two Zen 5 cores, measured by bench/compare). dispatch/choice.c
 * asks these kernels before those of contraction.c and window_conv.c. */

#include "backends/cpu/onednn/onednn.h"
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/contraction_product.h"
#include "backends/cpu/support/window.h"

/* Multiplications from which on it was faster: about 400 cubed. */
enum { LARGE_PRODUCT = 1 << 26, LEAST_EXTENT = 128 };

/* Leading dimension and order of a matrix whose rows or columns lie without gaps. */
static int64_t leading(const nd4c_cpu_product *p, const nd4c_cpu_matrices *x, char *transposed) {
  bool by_rows = nd4c_cpu_matrices_dense(p, x, true);
  *transposed = by_rows ? 'N' : 'T';
  return x->strides[by_rows ? p->rank - 2 : p->rank - 1];
}

static const char *refuse(const nd4c_call *call) {
  nd4c_cpu_product p;
  const char *why = nd4c_cpu_product_read(call, &p);
  if (why != NULL) {
    return why;
  }
  const nd4c_tensor *b = p.b.tensor;
  if (p.batch != 1 || p.m < LEAST_EXTENT || p.n < LEAST_EXTENT || p.k < LEAST_EXTENT ||
      p.m * p.n * p.k < LARGE_PRODUCT) {
    return "not one large product";
  }
  if ((b->flags & ND4C_TENSOR_CONSTANT) != 0) {
    return "the right-hand side is constant: the primitive packs it once";
  }
  bool dense = (nd4c_cpu_matrices_dense(&p, &p.a, true) || nd4c_cpu_matrices_dense(&p, &p.a, false)) &&
               (nd4c_cpu_matrices_dense(&p, &p.b, true) || nd4c_cpu_matrices_dense(&p, &p.b, false));
  return dense && nd4c_cpu_matrices_dense(&p, &p.y, true) ? NULL : "an operand's rows have gaps";
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return nd4c_onednn_accept(refuse(call), ND4C_FLOAT32, reason, reason_size);
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_onednn *dnn = nd4c_onednn_get();
  ND4C_CPU_FAIL_IF(dnn == NULL, ND4C_MEMORY, "no memory for oneDNN's table");
  nd4c_cpu_product p;
  nd4c_cpu_product_read(call, &p); /* usable has seen that it can be read */
  char ta, tb, ty;
  int64_t lda = leading(&p, &p.a, &ta), ldb = leading(&p, &p.b, &tb), ldy = leading(&p, &p.y, &ty);
  int before = nd4c_openmp_enter(&dnn->omp, call->width);
  int status = dnn->dnnl_sgemm(ta, tb, p.m, p.n, p.k, 1.0F, p.a.tensor->data, lda, p.b.tensor->data, ldb, 0.0F,
                               p.y.tensor->data, ldy);
  nd4c_openmp_leave(&dnn->omp, before);
  return status == DNN_SUCCESS ? ND4C_OK : nd4c_onednn_fail("dnnl_sgemm", status);
}

/* -- conv of single cells --------------------------------------------------------------------------------------- */

/* Channels first, conv with windows of one cell is a product for each image, y = w x: nothing is reordered. */
static const char *refuse_pointwise(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  if (nd4c_cpu_input(call, ND4C_IN_conv_addend) != NULL || ND4C_INT_OF(call, conv_groups) != 1) {
    return "groups or an addend";
  }
  for (int32_t axis = 2; axis < x->rank; axis++) {
    if (w->shape[axis] != 1 || x->shape[axis] != y->shape[axis]) {
      return "the windows have more than one cell, steps or padding";
    }
  }
  if (x->size == 0 || y->size == 0 || y->size / (y->shape[0] * y->shape[1]) < LEAST_EXTENT / 4) {
    return "few positions";
  }
  if (w->dtype != ND4C_FLOAT32 || (bias != NULL && (bias->dtype != ND4C_FLOAT32 || bias->size != w->shape[0] ||
                                                    (bias->size > 1 && bias->strides[0] != 1)))) {
    return "weights or a bias of another dtype, or a bias with gaps";
  }
  return nd4c_in_c_order(x) && nd4c_in_c_order(w) && nd4c_in_c_order(y)
             ? NULL
             : "an operand is not channels first, or has gaps";
}

static bool pointwise_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse_pointwise(call);
  nd4c_ref_window window;
  nd4c_cpu_conv_window(call, &window);
  for (int32_t i = 0; i < window.spatial && why == NULL; i++) {
    why = window.pad_begin[i] != 0 || window.stride[i] != 1 ? "steps or padding" : NULL;
  }
  return nd4c_onednn_accept(why, ND4C_FLOAT32, reason, reason_size);
}

typedef struct rows_job {
  const nd4c_call *call;
  nd4c_unary_loop activate;
  int64_t length;
} rows_job;

static void bias_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const rows_job *j = user;
  const nd4c_tensor *bias = nd4c_cpu_input(j->call, ND4C_IN_conv_bias);
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    double value = (double)((const float *)bias->data)[row % bias->size];
    nd4c_simd.normalization->float32->fill(j->length, value, (float *)j->call->outputs[0].data + row * j->length);
  }
}

static void activate_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const rows_job *j = user;
  (void)worker;
  float *y = (float *)j->call->outputs[0].data + begin * j->length;
  const nd4c_unary_parameters parameters =
      nd4c_cpu_activation_parameters(ND4C_INT_OF(j->call, conv_activation), ND4C_FLOAT32);
  j->activate((end - begin) * j->length, y, y, &parameters);
}

static nd4c_status pointwise_run(const nd4c_call *call) {
  const nd4c_onednn *dnn = nd4c_onednn_get();
  ND4C_CPU_FAIL_IF(dnn == NULL, ND4C_MEMORY, "no memory for oneDNN's table");
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  int64_t m = y->shape[1], k = x->shape[1], n = y->size / (y->shape[0] * m), rows = y->shape[0] * m;
  bool adds = nd4c_cpu_input(call, ND4C_IN_conv_bias) != NULL;
  rows_job j = {call, nd4c_cpu_activation_loop(ND4C_INT_OF(call, conv_activation), y->dtype), n};
  if (adds) {
    nd4c_cpu_parallel(rows, 16384 / n + 1, call->width, bias_range, &j);
  }
  const int32_t width = nd4c_onednn_width(call, (double)rows * (double)n * (double)k, y->shape[0]);
  int before = nd4c_openmp_enter(&dnn->omp, width), status = DNN_SUCCESS;
  for (int64_t image = 0; image < y->shape[0] && status == DNN_SUCCESS; image++) {
    status = dnn->dnnl_sgemm('N', 'N', m, n, k, 1.0F, w->data, k, (const float *)x->data + image * k * n, n,
                             adds ? 1.0F : 0.0F, (float *)y->data + image * m * n, n);
  }
  nd4c_openmp_leave(&dnn->omp, before);
  if (status == DNN_SUCCESS && j.activate != NULL) {
    nd4c_cpu_parallel(rows, 16384 / n + 1, call->width, activate_range, &j);
  }
  return status == DNN_SUCCESS ? ND4C_OK : nd4c_onednn_fail("dnnl_sgemm", status);
}

#define KERNEL(op, name, ...) \
  ND4C_CPU_KERNEL("onednn", op, name, ND4C_CPU_PRIORITY_ONEDNN + 1, ND4C_DTYPE_BIT(ND4C_FLOAT32), __VA_ARGS__)

const nd4c_kernel *const nd4c_cpu_onednn_contraction_sgemm_kernels[] = {
    KERNEL(matmul, "sgemm", usable, run),
    KERNEL(conv, "conv_pointwise", pointwise_usable, pointwise_run, .preferred_order = nd4c_onednn_channels_last),
    NULL};
