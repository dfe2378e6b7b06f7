/* Products of bytes on oneDNN, by VNNI or AMX. support/quantization_product.h does the work around the product.
 * dispatch/choice.c asks these kernels before those of simd/quantization_bytes.c. */
#include "backends/cpu/onednn/onednn.h"
#include "backends/cpu/support/quantization_product.h"

enum { SMALL = 16384 }; /* multiplications; smaller products are left to engine simd, without loading oneDNN */

/* Where a is signed, some of oneDNN's products convert sums through float32, which has all whole numbers below 2^24. */
static bool may_round(const nd4c_bytes_call *c) {
  return c->a_dtype == ND4C_INT8 && c->y_dtype == ND4C_INT32 && c->k >= (1 << 24) / (128 * 128);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_bytes_call c;
  const char *why = nd4c_bytes_read(call, &c);
  if (why == NULL && may_round(&c)) {
    why = "sums may reach 2^24, which oneDNN rounds to float32";
  }
  if (why == NULL && (double)c.m * (double)c.n * (double)c.k * (double)c.batch < SMALL) {
    why = "the product is small";
  }
  if (!nd4c_onednn_accept(why, c.a_dtype, reason, reason_size)) {
    return false;
  }
  bool exact = nd4c_onednn_get()->exact_bytes;
  return nd4c_onednn_accept(
      exact ? NULL : "oneDNN has no VNNI here: it may add products of bytes in 16 bits, where they saturate", c.a_dtype,
      reason, reason_size);
}

/* -- preparing -------------------------------------------------------------------------------------------------- */

typedef struct node {
  const nd4c_onednn *dnn;
  nd4c_bytes_call c;
  int32_t width;
  nd4c_onednn_step step;
  void *packed; /* CONSTANT weights in the layout of the primitive, then the sums of their columns; part of `held` */
  nd4c_cpu_held held;
  int32_t *packed_sums;
  int64_t products, flipped, sums, zeros, rows, factors, bytes; /* offsets in scratch */
} node;

static bool is_constant(const nd4c_tensor *x) {
  return (x->flags & ND4C_TENSOR_CONSTANT) != 0 && x->data != NULL;
}

/* Descriptors of the three operands. */
static int describe(const node *s, bool constant, dnn_desc *a, dnn_desc *given, dnn_desc *wanted, dnn_desc *y) {
  const nd4c_onednn *dnn = s->dnn;
  const nd4c_bytes_call *c = &s->c;
  const int64_t a_shape[] = {c->m, c->k}, b_shape[] = {c->k, c->n}, y_shape[] = {c->m, c->n};
  const int64_t a_strides[] = {c->m == 1 ? c->k : c->a_row, 1}, y_strides[] = {c->n, 1};
  int64_t b_strides[2];
  nd4c_bytes_weight_strides(c, b_strides);
  int status = nd4c_onednn_desc(dnn, a, 2, a_shape, c->a_dtype, a_strides);
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_desc(dnn, given, 2, b_shape, ND4C_INT8, b_strides);
  }
  if (status == DNN_SUCCESS) {
    status = constant
                 ? dnn->dnnl_memory_desc_create_with_tag(wanted, 2, b_shape, nd4c_onednn_dtype(ND4C_INT8), DNN_TAG_ANY)
                 : dnn->dnnl_memory_desc_clone(wanted, *given);
  }
  return status == DNN_SUCCESS ? nd4c_onednn_desc(dnn, y, 2, y_shape, ND4C_INT32, y_strides) : status;
}

static int make_step(node *s, const dnn_desc *descs, const struct dnnl_memory_desc **weights) {
  const nd4c_onednn *dnn = s->dnn;
  dnn_attr attr = NULL;
  int status = nd4c_onednn_attr(dnn, &attr, NULL, ND4C_ACTIVATION_NONE);
  if (status == DNN_SUCCESS) {
    status =
        dnn->dnnl_matmul_primitive_desc_create(&s->step.desc, dnn->engine, descs[0], descs[2], NULL, descs[3], attr);
  }
  if (attr != NULL) {
    dnn->dnnl_primitive_attr_destroy(attr);
  }
  if (status != DNN_SUCCESS) {
    return status;
  }
  *weights = dnn->dnnl_primitive_desc_query_md(s->step.desc, DNN_QUERY_WEIGHTS, 0);
  status = nd4c_onednn_step_add(dnn, &s->step, DNN_ARG_SRC, descs[0]);
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_step_add(dnn, &s->step, DNN_ARG_WEIGHTS, *weights);
  }
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_step_add(dnn, &s->step, DNN_ARG_DST, descs[3]);
  }
  return status == DNN_SUCCESS ? nd4c_onednn_step_make(dnn, &s->step) : status;
}

static nd4c_status pack(node *s, const nd4c_call *call, const struct dnnl_memory_desc *given,
                        const struct dnnl_memory_desc *wanted) {
  const nd4c_bytes_call *c = &s->c;
  size_t weights = (size_t)nd4c_onednn_align((int64_t)s->dnn->dnnl_memory_desc_get_size(wanted));
  size_t plain = nd4c_bytes_flipped(c) ? (size_t)nd4c_onednn_align(c->k * c->n) : 0;
  nd4c_status status = nd4c_cpu_hold(call, weights + (size_t)c->n * sizeof(int32_t), "onednn packed weights", &s->held);
  if (status != ND4C_OK) {
    return status;
  }
  s->packed = s->held.memory;
  nd4c_onednn_step reorder = {0};
  int made = nd4c_onednn_step_reorder(s->dnn, &reorder, given, wanted);
  size_t beside = plain + (size_t)reorder.scratchpad_bytes;
  char *memory = beside > 0 ? nd4c_cpu_host->allocate_pages(beside) : NULL;
  if (beside > 0 && memory == NULL) {
    status = nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for %zu bytes to pack weights in", call->op->name, beside);
  } else if (made != DNN_SUCCESS) {
    status = nd4c_onednn_fail("making the reorder of weights", made);
  } else {
    int8_t *flipped = nd4c_bytes_flipped(c) ? (int8_t *)memory : NULL;
    s->packed_sums = (int32_t *)(void *)((char *)s->packed + weights);
    nd4c_bytes_walk_columns(c, call->width, call->inputs[c->at.b].data, flipped, s->packed_sums);
    void *from = flipped != NULL ? flipped : call->inputs[c->at.b].data;
    status =
        nd4c_onednn_step_run(s->dnn, &reorder, (void *[]){from, s->packed}, memory != NULL ? memory + plain : NULL);
  }
  if (memory != NULL) {
    nd4c_cpu_host->free_pages(memory, beside);
  }
  nd4c_onednn_step_free(s->dnn, &reorder);
  return status;
}

static void unprepare(void *state) {
  node *s = state;
  nd4c_onednn_step_free(s->dnn, &s->step);
  nd4c_cpu_let_go(&s->held);
  nd4c_cpu_host->free(s);
}

static void place(node *s) {
  const nd4c_bytes_call *c = &s->c;
  struct {
    int64_t *offset, bytes;
  } parts[] = {{&s->products, c->y_dtype == ND4C_INT32 ? 0 : c->m * c->n * 4},
               {&s->flipped, nd4c_bytes_flipped(c) && s->packed == NULL ? c->k * c->n : 0},
               {&s->sums, s->packed == NULL ? c->n * 4 : 0},
               {&s->zeros, c->n * 4},
               {&s->rows, c->m * 4},
               {&s->factors, c->n * 8}};
  s->bytes = nd4c_onednn_align(s->step.scratchpad_bytes);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    *parts[i].offset = s->bytes;
    s->bytes += nd4c_onednn_align(parts[i].bytes);
  }
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  const nd4c_onednn *dnn = NULL;
  void *memory = NULL;
  ND4C_BACKEND_TRY(nd4c_onednn_take(call, sizeof(node), &dnn, &memory));
  node *s = memory;
  s->dnn = dnn;
  nd4c_bytes_read(call, &s->c); /* cannot fail: `usable` checked the call */
  s->width = nd4c_onednn_width(call, (double)s->c.m * (double)s->c.n * (double)s->c.k * (double)s->c.batch, s->c.batch);
  const nd4c_tensor *b = &call->inputs[s->c.at.b];
  bool constant = s->c.batch == 1 && is_constant(b);
  const struct dnnl_memory_desc *weights = NULL;
  dnn_desc descs[4] = {NULL};
  int before = nd4c_openmp_enter(&dnn->omp, s->width);
  int made = describe(s, constant, &descs[0], &descs[1], &descs[2], &descs[3]);
  if (made == DNN_SUCCESS) {
    made = make_step(s, descs, &weights);
    nd4c_onednn_cache_count(call);
  }
  nd4c_status status = made != DNN_SUCCESS ? nd4c_onednn_fail("making the product of bytes", made)
                       : constant          ? pack(s, call, descs[1], weights)
                                           : ND4C_OK;
  nd4c_openmp_leave(&dnn->omp, before);
  for (int i = 0; i < 4; i++) {
    if (descs[i] != NULL) {
      dnn->dnnl_memory_desc_destroy(descs[i]);
    }
  }
  if (status != ND4C_OK) {
    unprepare(s);
    return status;
  }
  place(s);
  *state = s;
  return ND4C_OK;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  const node *s = call->state;
  return s->bytes;
}

/* -- running ---------------------------------------------------------------------------------------------------- */

static nd4c_status run_matrix(node *s, nd4c_bytes_finish *j, int64_t matrix) {
  const nd4c_bytes_call *c = &s->c;
  char *scratch = j->call->scratch;
  const char *a = (const char *)j->call->inputs[0].data + matrix * c->a_step;
  const char *b = (const char *)j->call->inputs[c->at.b].data + matrix * c->b_step;
  int32_t *sums = s->packed != NULL ? s->packed_sums : (int32_t *)(void *)(scratch + s->sums);
  int8_t *flipped = nd4c_bytes_flipped(c) && s->packed == NULL ? (int8_t *)(scratch + s->flipped) : NULL;
  if (s->packed == NULL && (flipped != NULL || j->wants_sums)) {
    nd4c_bytes_walk_columns(c, s->width, b, flipped, j->wants_sums ? sums : NULL);
  }
  int32_t *products = c->y_dtype == ND4C_INT32 ? (int32_t *)j->call->outputs[0].data + matrix * c->m * c->n
                                               : (int32_t *)(void *)(scratch + s->products);
  const char *weights = s->packed != NULL ? s->packed : flipped != NULL ? (const char *)flipped : b;
  nd4c_status status = nd4c_onednn_step_run(
      s->dnn, &s->step, (void *[]){(void *)(uintptr_t)a, (void *)(uintptr_t)weights, products}, scratch);
  if (status == ND4C_OK) {
    nd4c_bytes_end(j, matrix, a, products, sums, (int32_t *)(void *)(scratch + s->rows));
  }
  return status;
}

static nd4c_status run(const nd4c_call *call) {
  node *s = call->state;
  char *scratch = call->scratch;
  nd4c_bytes_finish j;
  nd4c_bytes_begin(&j, &s->c, call, 0, (int32_t *)(void *)(scratch + s->zeros),
                   (double *)(void *)(scratch + s->factors));
  int before = nd4c_openmp_enter(&s->dnn->omp, s->width);
  nd4c_status status = ND4C_OK;
  for (int64_t matrix = 0; matrix < s->c.batch && status == ND4C_OK; matrix++) {
    status = run_matrix(s, &j, matrix);
  }
  nd4c_openmp_leave(&s->dnn->omp, before);
  return status;
}

const nd4c_kernel *const nd4c_cpu_onednn_quantization_int8_kernels[] = {
    ND4C_BYTES_KERNEL("onednn", matmul_integer, ND4C_CPU_PRIORITY_ONEDNN),
    ND4C_BYTES_KERNEL("onednn", qlinear_matmul, ND4C_CPU_PRIORITY_ONEDNN),
    ND4C_BYTES_KERNEL("onednn", linear_int8, ND4C_CPU_PRIORITY_ONEDNN), NULL};
