/* Large f32 products through dnnl_sgemm: on operands that cannot be packed beforehand it is faster than oneDNN's matmul
 * primitive (512 cubed: 647 against 679 microseconds on two Zen 5 cores, measured by bench/compare). */
#include <stdio.h>

#include "backends/cpu/onednn.h"
#include "backends/cpu/product.h"

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
  const char *why = refuse(call);
  if (why != NULL) {
    snprintf(reason, reason_size, "%s", why);
    return false;
  }
  return nd4c_onednn_usable(reason, reason_size) != NULL;
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_onednn *dnn = nd4c_onednn_get();
  if (dnn == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for oneDNN's table");
  }
  nd4c_cpu_product p;
  nd4c_cpu_product_read(call, &p); /* usable has seen that it can be read */
  char ta, tb, ty;
  int64_t lda = leading(&p, &p.a, &ta), ldb = leading(&p, &p.b, &tb), ldy = leading(&p, &p.y, &ty);
  int before = nd4c_onednn_enter(dnn, call->width);
  int status = dnn->dnnl_sgemm(ta, tb, p.m, p.n, p.k, 1.0F, p.a.tensor->data, lda, p.b.tensor->data, ldb, 0.0F,
                               p.y.tensor->data, ldy);
  nd4c_onednn_leave(dnn, before);
  return status == DNN_SUCCESS ? ND4C_OK : nd4c_onednn_fail("dnnl_sgemm", status);
}

static const nd4c_kernel onednn_sgemm = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),
                                         .op_version = 1,
                                         .op = "matmul",
                                         .engine = "onednn",
                                         .name = "onednn.sgemm",
                                         .priority = ND4C_CPU_PRIORITY_ONEDNN + 1,
                                         .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32),
                                         .usable = usable,
                                         .run = run};

const nd4c_kernel *const nd4c_cpu_onednn_sgemm_kernels[] = {&onednn_sgemm, NULL};
