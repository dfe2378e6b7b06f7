/* Products of bytes on oneDNN: matmul_integer, qlinear_matmul, linear_int8. The primitive multiplies the bytes as they
 * are into int32 (VNNI, AMX); zero points, which may be one a row and one a column, are taken off afterwards with the
 * sums of the factors' rows and columns, in the pass that scales and rounds: sum (a - p)(b - q) = sum a b - p sum b - q
 * (sum a - k p) Weights must be signed: unsigned ones less 128 are, with zero points less 128. */
#include <stdio.h>
#include <string.h>

#include "backends/cpu/onednn.h"
#include "backends/cpu/simd.h"

/* Fewer multiplications: the reference, and the library stays closed. Columns of a piece of the last pass. */
enum { SMALL = 16384, PIECE = 1024 };

/* Positions of a call's operands, -1: none. */
typedef struct positions {
  int b, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero, bias;
} positions;

/* One call: a [batch, m, k] (rows a_row apart) times b [batch or 1, k, n]. */
typedef struct bytes_call {
  positions at;
  int64_t batch, m, n, k, a_row, a_step, b_step; /* steps: from matrix to matrix */
  int64_t b_strides[2];
  nd4c_dtype a_dtype, b_dtype, y_dtype;
} bytes_call;

static positions positions_of(const nd4c_call *call) {
  switch (call->op->op) {
    case ND4C_OP_matmul_integer:
      return (positions){ND4C_IN_matmul_integer_b,
                         -1,
                         ND4C_IN_matmul_integer_a_zero_point,
                         -1,
                         ND4C_IN_matmul_integer_b_zero_point,
                         -1,
                         -1,
                         -1};
    case ND4C_OP_qlinear_matmul:
      return (positions){ND4C_IN_qlinear_matmul_b,
                         ND4C_IN_qlinear_matmul_a_scale,
                         ND4C_IN_qlinear_matmul_a_zero_point,
                         ND4C_IN_qlinear_matmul_b_scale,
                         ND4C_IN_qlinear_matmul_b_zero_point,
                         ND4C_IN_qlinear_matmul_y_scale,
                         ND4C_IN_qlinear_matmul_y_zero_point,
                         -1};
    default:
      return (positions){ND4C_IN_linear_int8_w,
                         ND4C_IN_linear_int8_x_scale,
                         ND4C_IN_linear_int8_x_zero_point,
                         ND4C_IN_linear_int8_w_scale,
                         ND4C_IN_linear_int8_w_zero_point,
                         -1,
                         -1,
                         ND4C_IN_linear_int8_bias};
  }
}

static const nd4c_tensor *optional(const nd4c_call *call, int position) {
  return position < 0 ? NULL : nd4c_cpu_input(call, position);
}

static bool in_c_order(const nd4c_tensor *x) {
  int64_t run = 1;
  for (int32_t axis = x->rank - 1; axis >= 0; run *= x->shape[axis--]) {
    if (x->shape[axis] != 1 && x->strides[axis] != run) {
      return false;
    }
  }
  return true;
}

/* Rows of a, matrices of b. */
static const char *read_factors(const nd4c_call *call, bytes_call *c) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[c->at.b];
  bool turned = call->op->op == ND4C_OP_linear_int8;
  c->k = a->shape[a->rank - 1];
  c->m = a->rank > 1 ? a->shape[a->rank - 2] : 1;
  c->n = b->rank < 2 ? 1 : turned ? b->shape[0] : b->shape[b->rank - 1];
  if (b->rank < 2) {
    return "the second factor is a vector";
  }
  c->b_strides[0] = b->strides[turned ? 1 : b->rank - 2];
  c->b_strides[1] = b->strides[turned ? 0 : b->rank - 1];
  c->a_row = c->k;
  if (b->rank > 2) {
    if (a->rank != b->rank || !in_c_order(a) || !in_c_order(b) ||
        memcmp(a->shape, b->shape, (size_t)(a->rank - 2) * sizeof *a->shape) != 0) {
      return "batches that differ, or have gaps";
    }
    c->batch = a->size / (c->m * c->k);
    c->a_step = c->m * c->k;
    c->b_step = c->k * c->n;
    return NULL;
  }
  if (a->rank == 2 && a->strides[1] == 1 && a->strides[0] >= c->k) {
    c->a_row = a->strides[0];
  } else if (in_c_order(a)) {
    c->m = a->size / c->k; /* all rows, whatever axes they stand on */
  } else {
    return "the first factor's rows have gaps";
  }
  bool rows = c->b_strides[1] == 1 && c->b_strides[0] >= c->n,
       columns = c->b_strides[0] == 1 && c->b_strides[1] >= c->k;
  return rows || columns ? NULL : "the second factor has neither rows nor columns without gaps";
}

/* A scale or zero point is one number, or a list. */
static const char *refuse_parameter(const nd4c_call *call, int position, bool scale, int64_t extent) {
  const nd4c_tensor *x = optional(call, position);
  if (x == NULL) {
    return NULL;
  }
  if (scale && x->dtype != ND4C_FLOAT32) {
    return "the scales are not float32";
  }
  return x->size == 1 || (x->rank == 1 && x->size == extent) ? NULL : "a scale or zero point is neither one nor a list";
}

static const char *read_call(const nd4c_call *call, bytes_call *c) {
  positions at = positions_of(call);
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[at.b], *y = &call->outputs[0];
  *c = (bytes_call){.at = at, .batch = 1, .a_dtype = a->dtype, .b_dtype = b->dtype, .y_dtype = y->dtype};
  if (a->size == 0 || b->size == 0 || !in_c_order(y)) {
    return "an operand is empty, or the result has gaps";
  }
  const char *why = read_factors(call, c);
  const int lists[] = {at.a_scale, at.a_zero, at.b_scale, at.b_zero, at.y_scale, at.y_zero};
  for (int i = 0; why == NULL && i < 6; i++) {
    bool of_a = i < 2;
    why = refuse_parameter(call, lists[i], i % 2 == 0, i > 3 ? 1 : of_a ? c->m : c->n);
    const nd4c_tensor *x = optional(call, lists[i]);
    if (why == NULL && of_a && x != NULL && x->size > 1 && a->rank > 2) {
      why = "a scale or zero point a row, of more than one matrix";
    }
  }
  const nd4c_tensor *bias = optional(call, at.bias);
  if (why == NULL && bias != NULL && bias->size > 1 && bias->strides[0] != 1) {
    why = "the bias is not contiguous";
  }
  return why == NULL && (double)c->m * (double)c->n * (double)c->k * (double)c->batch < SMALL ? "the product is small"
                                                                                              : why;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  bytes_call c;
  const char *why = read_call(call, &c);
  if (why != NULL) {
    snprintf(reason, reason_size, "%s", why);
    return false;
  }
  return nd4c_onednn_usable(reason, reason_size) != NULL;
}

/* -- preparing -------------------------------------------------------------------------------------------------- */

typedef struct node {
  const nd4c_onednn *dnn;
  bytes_call c;
  int32_t width;
  nd4c_onednn_step step;
  void *packed; /* CONSTANT weights as the primitive wants them, and the sums of their columns */
  size_t packed_bytes;
  int32_t *packed_sums;
  int64_t products, flipped, sums, zeros, rows, factors, bytes; /* in scratch: offsets; sums to factors per column */
} node;

static bool is_constant(const nd4c_tensor *x) {
  return (x->flags & ND4C_TENSOR_CONSTANT) != 0 && x->data != NULL;
}

static bool is_flipped(const bytes_call *c) {
  return c->b_dtype == ND4C_UINT8;
}

/* b as it lies, or, flipped, as it lies in scratch: in its own order without gaps. */
static void weight_strides(const bytes_call *c, int64_t *strides) {
  bool by_rows = c->b_strides[1] == 1 && (c->b_strides[0] >= c->n);
  strides[0] = !is_flipped(c) ? c->b_strides[0] : by_rows ? c->n : 1;
  strides[1] = !is_flipped(c) ? c->b_strides[1] : by_rows ? 1 : c->k;
  if (c->k == 1) { /* strides of axes of one element mean nothing, but oneDNN looks at them */
    strides[0] = by_rows ? c->n : 1;
  }
  if (c->n == 1) {
    strides[1] = by_rows ? 1 : c->k;
  }
}

/* Descriptors of the three operands. */
static int describe(const node *s, bool constant, dnn_desc *a, dnn_desc *given, dnn_desc *wanted, dnn_desc *y) {
  const nd4c_onednn *dnn = s->dnn;
  const bytes_call *c = &s->c;
  const int64_t a_shape[] = {c->m, c->k}, b_shape[] = {c->k, c->n}, y_shape[] = {c->m, c->n};
  const int64_t a_strides[] = {c->m == 1 ? c->k : c->a_row, 1}, y_strides[] = {c->n, 1};
  int64_t b_strides[2];
  weight_strides(c, b_strides);
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

typedef struct column_job {
  const bytes_call *c;
  const char *b;   /* of one matrix */
  int8_t *flipped; /* NULL: b is signed */
  int32_t *sums;   /* NULL: not wanted */
} column_job;

/* Flips columns [begin, end) and adds them up. */
static void column_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const column_job *j = user;
  const bytes_call *c = j->c;
  int64_t strides[2], count = end - begin;
  (void)worker;
  weight_strides(c, strides);
  bool by_rows = strides[1] == 1 && strides[0] >= c->n;
  if (by_rows && j->sums != NULL) {
    memset(j->sums + begin, 0, (size_t)count * sizeof *j->sums);
  }
  for (int64_t i = by_rows ? 0 : begin; i < (by_rows ? c->k : end); i++) {
    const char *from = j->b + (by_rows ? i * c->b_strides[0] + begin : i * c->b_strides[1]);
    int64_t length = by_rows ? count : c->k;
    if (j->flipped != NULL) {
      int8_t *to = j->flipped + (by_rows ? i * strides[0] + begin : i * strides[1]);
      nd4c_simd.quantized->flip(length, (const void *)from, to);
      from = (const void *)to;
    }
    if (j->sums != NULL && by_rows) {
      nd4c_simd.quantized->accumulate(length, (const void *)from, j->sums + begin);
    } else if (j->sums != NULL) {
      j->sums[i] = nd4c_simd.quantized->sum(length, from, true);
    }
  }
}

static void walk_columns(const bytes_call *c, int32_t width, const void *b, int8_t *flipped, int32_t *sums) {
  column_job j = {c, b, flipped, sums};
  int64_t grain = 65536 / c->k + 64;
  nd4c_cpu_parallel(c->n, grain, width, column_range, &j);
}

static nd4c_status pack(node *s, const nd4c_call *call, const struct dnnl_memory_desc *given,
                        const struct dnnl_memory_desc *wanted) {
  const bytes_call *c = &s->c;
  size_t weights = (size_t)nd4c_onednn_align((int64_t)s->dnn->dnnl_memory_desc_get_size(wanted));
  size_t plain = is_flipped(c) ? (size_t)nd4c_onednn_align(c->k * c->n) : 0;
  s->packed_bytes = weights + (size_t)c->n * sizeof(int32_t);
  s->packed = nd4c_cpu_host->allocate_pages(s->packed_bytes);
  nd4c_onednn_step reorder = {0};
  int made = nd4c_onednn_step_reorder(s->dnn, &reorder, given, wanted);
  size_t beside = plain + (size_t)reorder.scratchpad_bytes;
  char *memory = beside > 0 ? nd4c_cpu_host->allocate_pages(beside) : NULL;
  nd4c_status status = ND4C_OK;
  if (s->packed == NULL || (beside > 0 && memory == NULL)) {
    status = nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for %zu bytes of packed weights", call->op->name,
                                 s->packed_bytes + beside);
  } else if (made != DNN_SUCCESS) {
    status = nd4c_onednn_fail("making the reorder of weights", made);
  } else {
    int8_t *flipped = is_flipped(c) ? (int8_t *)memory : NULL;
    s->packed_sums = (int32_t *)(void *)((char *)s->packed + weights);
    walk_columns(c, call->width, call->inputs[c->at.b].data, flipped, s->packed_sums);
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
  if (s->packed != NULL) {
    nd4c_cpu_host->free_pages(s->packed, s->packed_bytes);
  }
  nd4c_cpu_host->free(s);
}

static void place(node *s) {
  const bytes_call *c = &s->c;
  struct {
    int64_t *offset, bytes;
  } parts[] = {{&s->products, c->y_dtype == ND4C_INT32 ? 0 : c->m * c->n * 4},
               {&s->flipped, is_flipped(c) && s->packed == NULL ? c->k * c->n : 0},
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
  const nd4c_onednn *dnn = nd4c_onednn_get();
  node *s = nd4c_cpu_host->allocate(sizeof *s);
  if (s == NULL || dnn == NULL) {
    nd4c_cpu_host->free(s);
    return nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for %zu bytes of prepared state", call->op->name, sizeof *s);
  }
  s->dnn = dnn;
  s->width = call->width;
  read_call(call, &s->c); /* usable has seen that it can be read */
  const nd4c_tensor *b = &call->inputs[s->c.at.b];
  bool constant = s->c.batch == 1 && is_constant(b);
  const struct dnnl_memory_desc *weights = NULL;
  dnn_desc descs[4] = {NULL};
  int before = nd4c_onednn_enter(dnn, call->width);
  int made = describe(s, constant, &descs[0], &descs[1], &descs[2], &descs[3]);
  if (made == DNN_SUCCESS) {
    made = make_step(s, descs, &weights);
  }
  nd4c_status status = made != DNN_SUCCESS ? nd4c_onednn_fail("making the product of bytes", made)
                       : constant          ? pack(s, call, descs[1], weights)
                                           : ND4C_OK;
  nd4c_onednn_leave(dnn, before);
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

/* What the pass over the products reads. */
typedef struct finish_job {
  const node *s;
  const nd4c_call *call;
  const nd4c_tensor *a_zero, *a_scale, *y_zero;
  const int32_t *products, *sums, *zeros, *rows; /* sums, zeros: NULL where nothing is taken off */
  const double *factors;
  const float *bias;
  double y_scale;
  int64_t matrix;
} finish_job;

static double number(const nd4c_tensor *x, int64_t index) {
  int64_t offset = x->size == 1 ? 0 : index * x->strides[0];
  switch (x->dtype) {
    case ND4C_INT8:
      return ((const int8_t *)x->data)[offset];
    case ND4C_UINT8:
      return ((const uint8_t *)x->data)[offset];
    default:
      return (double)((const float *)x->data)[offset];
  }
}

/* Factors of row i's columns; the multiplier is rounded as the reference does. */
static void row_factors(const finish_job *j, int64_t row, int64_t begin, int64_t end, double *to) {
  const nd4c_tensor *b = optional(j->call, j->s->c.at.b_scale);
  float a = (float)number(j->a_scale, row);
  for (int64_t i = begin; i < end; i++) {
    to[i - begin] = (double)((float)(a * (float)number(b, i)) / (float)j->y_scale);
  }
}

static void finish_piece(const finish_job *j, int64_t row, int64_t begin, int64_t end, const double *factors,
                         int32_t *beside) {
  const bytes_call *c = &j->s->c;
  int64_t count = end - begin, at = row * c->n + begin;
  const int32_t *x = j->products + at;
  int32_t zero = j->sums != NULL ? (int32_t)number(j->a_zero, row) : 0;
  char *y = (char *)j->call->outputs[0].data;
  bool whole = c->y_dtype == ND4C_INT32;
  at += j->matrix * c->m * c->n;
  if (j->sums != NULL || j->zeros != NULL) {
    int32_t *to = whole ? (int32_t *)(void *)y + at : beside;
    nd4c_simd.quantized->correct(count, x, zero, j->sums != NULL ? j->sums + begin : NULL,
                                 j->zeros != NULL ? j->rows[row] : 0, j->zeros != NULL ? j->zeros + begin : NULL, to);
    x = to;
  }
  if (j->y_zero != NULL) {
    nd4c_simd.quantized->requantize(count, x, factors, (int32_t)number(j->y_zero, 0),
                                    c->y_dtype == ND4C_INT8 ? -128 : 0, (uint8_t *)y + at);
  } else if (!whole) {
    nd4c_simd.quantized->dequantize(count, x, number(j->a_scale, row), factors,
                                    j->bias != NULL ? j->bias + begin : NULL, (float *)(void *)y + at);
  }
}

/* Pieces of rows. */
static void finish_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const finish_job *j = user;
  int64_t n = j->s->c.n, pieces = (n + PIECE - 1) / PIECE;
  int32_t beside[PIECE];
  double own[PIECE];
  bool by_row = j->y_zero != NULL && j->a_scale->size > 1;
  (void)worker;
  for (int64_t index = begin; index < end; index++) {
    int64_t row = index / pieces, first = index % pieces * PIECE, last = first + PIECE < n ? first + PIECE : n;
    if (by_row) {
      row_factors(j, row, first, last, own);
    }
    finish_piece(j, row, first, last, by_row ? own : j->factors != NULL ? j->factors + first : NULL, beside);
  }
}

typedef struct row_job {
  const nd4c_tensor *a, *a_zero;
  const char *data;
  int64_t row_step, k;
  int32_t *rows;
} row_job;

/* Sums of rows less k times their zero point. */
static void row_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const row_job *j = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    uint32_t zero = j->a_zero != NULL ? (uint32_t)(int32_t)number(j->a_zero, i) : 0;
    int32_t sum = nd4c_simd.quantized->sum(j->k, j->data + i * j->row_step, j->a->dtype == ND4C_INT8);
    j->rows[i] = (int32_t)((uint32_t)sum - (uint32_t)j->k * zero);
  }
}

static bool all_zero(const nd4c_tensor *x) {
  for (int64_t i = 0; x != NULL && i < x->size; i++) {
    if (number(x, i) != 0) {
      return false;
    }
  }
  return true;
}

/* b's zero points as those of signed bytes; false if all are 0. */
static bool take_zeros(const bytes_call *c, const nd4c_tensor *given, int32_t *zeros) {
  bool any = false;
  for (int64_t i = 0; i < c->n; i++) {
    zeros[i] = (given != NULL ? (int32_t)number(given, i) : 0) - (is_flipped(c) ? 128 : 0);
    any = any || zeros[i] != 0;
  }
  return any;
}

static void take_factors(finish_job *j, double *factors) {
  const nd4c_tensor *b = optional(j->call, j->s->c.at.b_scale);
  j->factors = b != NULL ? factors : NULL;
  if (j->y_zero != NULL && j->a_scale->size == 1) {
    row_factors(j, 0, 0, j->s->c.n, factors);
  } else if (j->y_zero == NULL && b != NULL) {
    for (int64_t i = 0; i < j->s->c.n; i++) {
      factors[i] = number(b, i);
    }
  }
}

static nd4c_status run_matrix(node *s, finish_job *j, const char *a, const char *b) {
  const bytes_call *c = &s->c;
  char *scratch = j->call->scratch;
  int32_t *sums = s->packed != NULL ? s->packed_sums : (int32_t *)(void *)(scratch + s->sums);
  int8_t *flipped = is_flipped(c) && s->packed == NULL ? (int8_t *)(scratch + s->flipped) : NULL;
  if (s->packed == NULL && (flipped != NULL || j->sums != NULL)) {
    walk_columns(c, s->width, b, flipped, j->sums != NULL ? sums : NULL);
  }
  j->sums = j->sums != NULL ? sums : NULL;
  int32_t *products = c->y_dtype == ND4C_INT32 ? (int32_t *)j->call->outputs[0].data + j->matrix * c->m * c->n
                                               : (int32_t *)(void *)(scratch + s->products);
  const char *weights = s->packed != NULL ? s->packed : flipped != NULL ? (const char *)flipped : b;
  nd4c_status status = nd4c_onednn_step_run(
      s->dnn, &s->step, (void *[]){(void *)(uintptr_t)a, (void *)(uintptr_t)weights, products}, scratch);
  if (status != ND4C_OK) {
    return status;
  }
  j->products = products;
  if (j->zeros != NULL) {
    row_job rows = {
        j->call->inputs, optional(j->call, c->at.a_zero), a, c->a_row, c->k, (int32_t *)(void *)(scratch + s->rows)};
    nd4c_cpu_parallel(c->m, 65536 / c->k + 1, s->width, row_range, &rows);
    j->rows = rows.rows;
  }
  if (j->sums != NULL || j->zeros != NULL || c->y_dtype != ND4C_INT32) {
    int64_t pieces = (c->n + PIECE - 1) / PIECE;
    nd4c_cpu_parallel(c->m * pieces, 16384 / (c->n < PIECE ? c->n : PIECE) + 1, s->width, finish_range, j);
  }
  return ND4C_OK;
}

static nd4c_status run(const nd4c_call *call) {
  node *s = call->state;
  const bytes_call *c = &s->c;
  char *scratch = call->scratch;
  const nd4c_tensor *bias = optional(call, c->at.bias), *y_scale = optional(call, c->at.y_scale);
  int32_t *zeros = (int32_t *)(void *)(scratch + s->zeros);
  finish_job j = {.s = s,
                  .call = call,
                  .a_zero = optional(call, c->at.a_zero),
                  .a_scale = optional(call, c->at.a_scale),
                  .y_zero = optional(call, c->at.y_zero),
                  .bias = bias != NULL ? bias->data : NULL,
                  .y_scale = y_scale != NULL ? number(y_scale, 0) : 1};
  j.zeros = take_zeros(c, optional(call, c->at.b_zero), zeros) ? zeros : NULL;
  take_factors(&j, (double *)(void *)(scratch + s->factors));
  const int32_t *wants_sums = all_zero(j.a_zero) ? NULL : zeros; /* any address: the sums are placed per matrix */
  int before = nd4c_onednn_enter(s->dnn, s->width);
  nd4c_status status = ND4C_OK;
  for (j.matrix = 0; j.matrix < c->batch && status == ND4C_OK; j.matrix++) {
    j.sums = wants_sums;
    status = run_matrix(s, &j, (const char *)call->inputs[0].data + j.matrix * c->a_step,
                        (const char *)call->inputs[c->at.b].data + j.matrix * c->b_step);
  }
  nd4c_onednn_leave(s->dnn, before);
  return status;
}

#define KERNEL(op_name)                                                                                          \
  static const nd4c_kernel onednn_##op_name = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),                         \
                                               .op_version = 1,                                                  \
                                               .op = #op_name,                                                   \
                                               .engine = "onednn",                                               \
                                               .name = "onednn." #op_name,                                       \
                                               .priority = ND4C_CPU_PRIORITY_ONEDNN,                             \
                                               .dtypes = ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8), \
                                               .usable = usable,                                                 \
                                               .prepare = prepare,                                               \
                                               .unprepare = unprepare,                                           \
                                               .scratch_bytes = scratch_bytes,                                   \
                                               .run = run};
KERNEL(matmul_integer)
KERNEL(qlinear_matmul)
KERNEL(linear_int8)

const nd4c_kernel *const nd4c_cpu_onednn_int8_kernels[] = {&onednn_matmul_integer, &onednn_qlinear_matmul,
                                                           &onednn_linear_int8, NULL};
