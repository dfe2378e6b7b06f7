/* matmul and linear on oneDNN. CONSTANT right-hand sides are packed once. oneDNN's fast implementations need results by
 * rows, so a result by columns is computed as the product of the transposes. dispatch/choice.c asks these kernels
 * before OpenBLAS's; a few kernels of engine simd come first. */

#include "backends/cpu/onednn/onednn.h"
#include "backends/cpu/openblas/openblas.h"
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/contraction_product.h"
#include "backends/cpu/support/contraction_strips.h"

static bool fits(const nd4c_cpu_product *p, const nd4c_cpu_matrices *x) {
  if (x->tensor == NULL) { /* no addend: its extents are not written */
    return true;
  }
  bool plain = nd4c_cpu_matrices_dense(p, x, true) || nd4c_cpu_matrices_dense(p, x, false);
  return plain && nd4c_onednn_strides_fit(p->rank, x->shape, x->strides);
}

/* Constant weights that fit the caches are read faster packed, where oneDNN packs them. */
enum { PACKED_VECTOR = 1 << 22 };

static bool packs_weights(void) {
  const nd4c_onednn *dnn = nd4c_onednn_get();
  return dnn == NULL || dnn->packs_weights;
}

/* One row or one column of f32: OpenBLAS reads a large matrix at the memory's speed, oneDNN at half of it or less. */
static bool left_to_openblas(const nd4c_cpu_product *p) {
  const nd4c_tensor *b = p->b.tensor;
  const bool constant = (b->flags & ND4C_TENSOR_CONSTANT) != 0 && p->m == 1 && packs_weights();
  if (p->batch != 1 || (p->m != 1 && p->n != 1) || b->dtype != ND4C_FLOAT32 ||
      (constant && p->k * p->n < PACKED_VECTOR)) {
    return false;
  }
  const nd4c_openblas *blas = nd4c_openblas_get();
  return blas != NULL && blas->ready;
}

static const char *refuse(const nd4c_call *call) {
  nd4c_cpu_product p;
  const char *why = nd4c_cpu_product_read(call, &p);
  if (why != NULL) {
    return why;
  }
  if (p.batch * p.m * p.n * p.k < ND4C_PRODUCT_SMALL) {
    return "the product is small";
  }
  if (!fits(&p, &p.a) || !fits(&p, &p.b) || !fits(&p, &p.y) || !fits(&p, &p.addend)) {
    return "an operand has neither rows nor columns without gaps";
  }
  if (left_to_openblas(&p)) {
    return "a product with a vector: OpenBLAS";
  }
  return NULL;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return nd4c_onednn_accept(refuse(call), call->inputs[0].dtype, reason, reason_size);
}

/* -- preparing -------------------------------------------------------------------------------------------------- */

/* Axes of extent 1 get the strides of a packed matrix: their strides mean nothing, but oneDNN recognises arrangements
 * by them. */
static int desc_of(const nd4c_onednn *dnn, dnn_desc *desc, const nd4c_cpu_product *p, const nd4c_cpu_matrices *x) {
  int64_t strides[ND4C_PRODUCT_MAX_RANK];
  int64_t reach = 1;
  bool columns_inside = p->rank > 1 && nd4c_cpu_matrices_dense(p, x, true);
  for (int32_t i = p->rank - 1; i >= 0; i--) {
    int32_t axis = i;
    if (!columns_inside && i >= p->rank - 2) {
      axis = i == p->rank - 1 ? p->rank - 2 : p->rank - 1;
    }
    strides[axis] = x->shape[axis] == 1 ? reach : x->strides[axis];
    int64_t end = strides[axis] * x->shape[axis];
    reach = end > reach ? end : reach;
  }
  return nd4c_onednn_desc(dnn, desc, p->rank, x->shape, x->tensor->dtype, strides);
}

/* A descriptor with dense rows, to which an addend or a result by columns is moved. */
static int dense_desc(const nd4c_onednn *dnn, dnn_desc *desc, const nd4c_cpu_product *p, const nd4c_cpu_matrices *x) {
  int64_t strides[ND4C_PRODUCT_MAX_RANK], stride = 1;
  for (int32_t axis = p->rank - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= x->shape[axis];
  }
  return nd4c_onednn_desc(dnn, desc, p->rank, x->shape, x->tensor->dtype, strides);
}

/* An operand that is used where it lies, or, result and addend, moved if it lies by columns. */
static int describe_operand(const nd4c_onednn *dnn, nd4c_onednn_operand *op, const nd4c_cpu_product *p,
                            const nd4c_cpu_matrices *x, bool may_move) {
  int status = desc_of(dnn, &op->given, p, x);
  op->moved = may_move && !nd4c_cpu_matrices_dense(p, x, true);
  if (status == DNN_SUCCESS) {
    status = op->moved ? dense_desc(dnn, &op->wanted, p, x) : dnn->dnnl_memory_desc_clone(&op->wanted, op->given);
  }
  return status;
}

static int describe_bias(const nd4c_onednn *dnn, nd4c_onednn_operand *op, const nd4c_cpu_product *p) {
  int64_t shape[ND4C_PRODUCT_MAX_RANK], strides[ND4C_PRODUCT_MAX_RANK];
  for (int32_t axis = 0; axis < p->rank; axis++) {
    shape[axis] = axis == p->rank - 1 ? p->n : 1;
    strides[axis] = axis == p->rank - 1 ? 1 : p->n;
  }
  return nd4c_onednn_desc(dnn, &op->wanted, p->rank, shape, p->bias->dtype, strides);
}

static int describe_primitive(nd4c_onednn_node *node, const nd4c_cpu_product *p) {
  const nd4c_onednn *dnn = node->dnn;
  nd4c_onednn_operand *op = node->operands;
  const nd4c_tensor *w = p->b.tensor;
  dnn_desc any = NULL;
  dnn_attr attr = NULL;
  int status = nd4c_onednn_attr(dnn, &attr, op[ND4C_ONEDNN_ADDEND].wanted, nd4c_onednn_node_fuses(node));
  bool constant = (w->flags & ND4C_TENSOR_CONSTANT) != 0;
  if (status == DNN_SUCCESS && constant) {
    status = dnn->dnnl_memory_desc_create_with_tag(&any, p->rank, p->b.shape, nd4c_onednn_dtype(w->dtype), DNN_TAG_ANY);
  }
  if (status == DNN_SUCCESS) {
    status =
        dnn->dnnl_matmul_primitive_desc_create(&node->step.desc, dnn->engine, op[ND4C_ONEDNN_X].wanted,
                                               constant ? nd4c_onednn_node_weights(node, any) : op[ND4C_ONEDNN_W].given,
                                               op[ND4C_ONEDNN_BIAS].wanted, op[ND4C_ONEDNN_Y].wanted, attr);
  }
  if (any != NULL) {
    dnn->dnnl_memory_desc_destroy(any);
  }
  if (attr != NULL) {
    dnn->dnnl_primitive_attr_destroy(attr);
  }
  return status;
}

static int describe(nd4c_onednn_node *node, const nd4c_call *call) {
  nd4c_cpu_product p;
  nd4c_cpu_product_read(call, &p); /* usable has seen that it can be read */
  const bool by_columns = nd4c_cpu_product_by_columns(call, &p);
  if (by_columns) {
    nd4c_cpu_product_turn(&p);
  }
  const nd4c_onednn *dnn = node->dnn;
  nd4c_onednn_operand *op = node->operands;
  const bool turned = by_columns || (call->op->op == ND4C_OP_linear && ND4C_FLAG_OF(call, linear_transpose_w));
  op[ND4C_ONEDNN_W].exchanged = turned ? p.rank - 1 : 0;
  op[ND4C_ONEDNN_ADDEND].present = p.addend.tensor != NULL;
  op[ND4C_ONEDNN_BIAS].present = p.bias != NULL;
  if (p.addend.tensor != NULL) {
    op[ND4C_ONEDNN_ADDEND].input = (int)(p.addend.tensor - call->inputs); /* a bias like y counts as an addend */
  }
  int status = describe_operand(dnn, &op[ND4C_ONEDNN_X], &p, &p.a, false);
  if (status == DNN_SUCCESS) {
    status = desc_of(dnn, &op[ND4C_ONEDNN_W].given, &p, &p.b);
  }
  if (status == DNN_SUCCESS) {
    status = describe_operand(dnn, &op[ND4C_ONEDNN_Y], &p, &p.y, true);
  }
  if (status == DNN_SUCCESS && p.addend.tensor != NULL) {
    status = describe_operand(dnn, &op[ND4C_ONEDNN_ADDEND], &p, &p.addend, true);
  }
  if (status == DNN_SUCCESS && p.bias != NULL) {
    status = describe_bias(dnn, &op[ND4C_ONEDNN_BIAS], &p);
  }
  return status == DNN_SUCCESS ? describe_primitive(node, &p) : status;
}

static double multiplications(const nd4c_call *call) {
  nd4c_cpu_product p;
  nd4c_cpu_product_read(call, &p);
  return (double)p.batch * (double)p.m * (double)p.n * (double)p.k;
}

static int64_t activation(const nd4c_call *call) {
  nd4c_cpu_product p;
  nd4c_cpu_product_read(call, &p);
  return p.activation;
}

static const nd4c_onednn_kind kind = {
    .activation = activation, .describe = describe, .multiplications = multiplications};

static void matmul_inputs(const nd4c_call *call, int *inputs) {
  nd4c_cpu_product p;
  nd4c_cpu_product_read(call, &p);
  bool turned = nd4c_cpu_product_by_columns(call, &p);
  inputs[ND4C_ONEDNN_X] = turned ? ND4C_IN_matmul_b : ND4C_IN_matmul_a;
  inputs[ND4C_ONEDNN_W] = turned ? ND4C_IN_matmul_a : ND4C_IN_matmul_b;
  inputs[ND4C_ONEDNN_Y] = inputs[ND4C_ONEDNN_BIAS] = inputs[ND4C_ONEDNN_ADDEND] = -1;
}

static void linear_inputs(const nd4c_call *call, int *inputs) {
  (void)call;
  inputs[ND4C_ONEDNN_X] = ND4C_IN_linear_x;
  inputs[ND4C_ONEDNN_W] = ND4C_IN_linear_w;
  inputs[ND4C_ONEDNN_Y] = -1;
  inputs[ND4C_ONEDNN_BIAS] = ND4C_IN_linear_bias;
  inputs[ND4C_ONEDNN_ADDEND] = ND4C_IN_linear_addend;
}

/* -- one row ------------------------------------------------------------------------------------------------------ */

/* A decoder's step has dozens of products of one row, and each run of a primitive allocates eight times and opens a
 * team. So a loop of engine simd reads the packed weights if they lie in strips. Products of any number of rows share
 * them. Their padding is not read. */
static void find_strips(nd4c_onednn_node *node, const nd4c_call *call) {
  nd4c_layout w = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  nd4c_gemm_strips strips;
  nd4c_cpu_product p;
  bool turned = false;
  nd4c_cpu_product_read(call, &p);
  const bool row = p.batch == 1 && p.m == 1 && p.b.tensor->dtype == ND4C_FLOAT32 &&
                   !nd4c_cpu_product_by_columns(call, &p) && p.y.strides[p.rank - 1] == 1;
  if (row && nd4c_onednn_layout(node->dnn, node->operands[ND4C_ONEDNN_W].wanted, ND4C_FLOAT32, &w) &&
      nd4c_cpu_strips_read(&w, &strips, &turned) && !turned) {
    node->strips = strips;
  }
}

/* The weights in strips; NULL: they are not. */
static const char *strips_of(const nd4c_onednn_node *node, const nd4c_call *call) {
  const nd4c_tensor *w = nd4c_onednn_operand_tensor(call, &node->operands[ND4C_ONEDNN_W]);
  return node->strips.columns == 0          ? NULL
         : node->packed != NULL             ? node->packed
         : w->layout != ND4C_LAYOUT_STRIDED ? w->data
                                            : NULL;
}

typedef struct row_job {
  const nd4c_onednn_node *node;
  const char *weights;
  nd4c_cpu_product p;
  bool adds;
} row_job;

static void strip_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const row_job *j = user;
  const int64_t strip = j->node->strips.columns;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    const int64_t left = j->p.n - i * strip, columns = left < strip ? left : strip;
    const nd4c_gemm_matrix a = {.data = j->p.a.tensor->data, .column_stride = j->p.a.strides[j->p.rank - 1]};
    const nd4c_gemm_matrix b = {.data = (char *)(uintptr_t)j->weights + i * strip * j->node->strips.depth * 4,
                                .row_stride = strip,
                                .column_stride = 1};
    const nd4c_gemm_matrix y = {.data = (char *)j->p.y.tensor->data + i * strip * 4, .column_stride = 1};
    nd4c_simd.gemm->thin_float32->rows(1, columns, j->p.k, a, b, y, j->adds);
  }
}

static nd4c_status run(const nd4c_call *call) {
  enum { GRAIN = 1 << 16 }; /* multiplications that are worth a thread */
  row_job j = {.node = call->state};
  j.weights = strips_of(j.node, call);
  if (j.weights == NULL) {
    return nd4c_onednn_node_run(call);
  }
  nd4c_cpu_product_read(call, &j.p);
  const int64_t strip = j.node->strips.columns;
  j.adds = nd4c_cpu_product_start(&j.p, call->width);
  nd4c_cpu_parallel((j.p.n + strip - 1) / strip, GRAIN / (j.p.k * strip) + 1, call->width, strip_range, &j);
  nd4c_cpu_product_finish(&j.p, call->width);
  return ND4C_OK;
}

#define FUNCTIONS(op_name)                                                                           \
  static bool op_name##_wants(const nd4c_call *call, int32_t input, nd4c_layout *layout) {           \
    int inputs[ND4C_ONEDNN_OPERANDS];                                                                \
    op_name##_inputs(call, inputs);                                                                  \
    return nd4c_onednn_node_wants(call, input, inputs, &kind, layout);                               \
  }                                                                                                  \
  static nd4c_status op_name##_pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout, \
                                    const nd4c_tensor *to) {                                         \
    int inputs[ND4C_ONEDNN_OPERANDS];                                                                \
    (void)input;                                                                                     \
    op_name##_inputs(call, inputs);                                                                  \
    return nd4c_onednn_node_pack(call, inputs, &kind, layout, to);                                   \
  }                                                                                                  \
  static nd4c_status op_name##_prepare(const nd4c_call *call, void **state) {                        \
    int inputs[ND4C_ONEDNN_OPERANDS];                                                                \
    op_name##_inputs(call, inputs);                                                                  \
    ND4C_BACKEND_TRY(nd4c_onednn_node_prepare(call, inputs, &kind, state));                          \
    find_strips(*state, call);                                                                       \
    return ND4C_OK;                                                                                  \
  }
FUNCTIONS(matmul)
FUNCTIONS(linear)

#define KERNEL(op_name)                                                                                          \
  ND4C_CPU_KERNEL("onednn", op_name, #op_name, ND4C_CPU_PRIORITY_ONEDNN,                                         \
                  ND4C_DTYPE_BIT(ND4C_FLOAT32) | (ND4C_CPU_FLOATS & ND4C_DTYPE_BIT(ND4C_BFLOAT16)), usable, run, \
                  .prepare = op_name##_prepare, .unprepare = nd4c_onednn_node_unprepare,                         \
                  .scratch_bytes = nd4c_onednn_node_scratch_bytes, .flags = ND4C_KERNEL_SHARES_STATE,            \
                  .wants_layout = op_name##_wants, .pack = op_name##_pack,                                       \
                  .shares_unpacked = nd4c_onednn_node_shares_unpacked)

const nd4c_kernel *const nd4c_cpu_onednn_contraction_kernels[] = {KERNEL(matmul), KERNEL(linear), NULL};
