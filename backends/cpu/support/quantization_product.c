/* Implements quantization_product.h: reads a call, sums rows and columns, and scales and rounds the products.
 * onednn/quantization_int8.c and engine simd's quantization_*.c call it around their own product. */
#include "backends/cpu/support/quantization_product.h"

#include <string.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"

enum { PIECE = 1024 }; /* columns of a piece of the last pass */

/* -- reading ---------------------------------------------------------------------------------------------------- */

static nd4c_bytes_positions positions_of(const nd4c_call *call) {
  switch (call->op->op) {
    case ND4C_OP_matmul_integer:
      return (nd4c_bytes_positions){ND4C_IN_matmul_integer_b,
                                    -1,
                                    ND4C_IN_matmul_integer_a_zero_point,
                                    -1,
                                    ND4C_IN_matmul_integer_b_zero_point,
                                    -1,
                                    -1,
                                    -1};
    case ND4C_OP_qlinear_matmul:
      return (nd4c_bytes_positions){ND4C_IN_qlinear_matmul_b,
                                    ND4C_IN_qlinear_matmul_a_scale,
                                    ND4C_IN_qlinear_matmul_a_zero_point,
                                    ND4C_IN_qlinear_matmul_b_scale,
                                    ND4C_IN_qlinear_matmul_b_zero_point,
                                    ND4C_IN_qlinear_matmul_y_scale,
                                    ND4C_IN_qlinear_matmul_y_zero_point,
                                    -1};
    default:
      return (nd4c_bytes_positions){ND4C_IN_linear_int8_w,
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

/* Rows of a, matrices of b. */
static const char *read_factors(const nd4c_call *call, nd4c_bytes_call *c) {
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
    if (a->rank != b->rank || !nd4c_in_c_order(a) || !nd4c_in_c_order(b) ||
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
  } else if (nd4c_in_c_order(a)) {
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

const char *nd4c_bytes_read(const nd4c_call *call, nd4c_bytes_call *c) {
  nd4c_bytes_positions at = positions_of(call);
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[at.b], *y = &call->outputs[0];
  *c = (nd4c_bytes_call){.at = at, .batch = 1, .a_dtype = a->dtype, .b_dtype = b->dtype, .y_dtype = y->dtype};
  if (a->size == 0 || b->size == 0 || !nd4c_in_c_order(y)) {
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
  return why;
}

bool nd4c_bytes_flipped(const nd4c_bytes_call *c) {
  return c->b_dtype == ND4C_UINT8;
}

/* b as it lies, or, flipped, as it lies in scratch: in its own order without gaps. */
void nd4c_bytes_weight_strides(const nd4c_bytes_call *c, int64_t *strides) {
  bool by_rows = c->b_strides[1] == 1 && (c->b_strides[0] >= c->n);
  strides[0] = !nd4c_bytes_flipped(c) ? c->b_strides[0] : by_rows ? c->n : 1;
  strides[1] = !nd4c_bytes_flipped(c) ? c->b_strides[1] : by_rows ? 1 : c->k;
  if (c->k == 1) { /* strides of axes of one element mean nothing, but oneDNN looks at them */
    strides[0] = by_rows ? c->n : 1;
  }
  if (c->n == 1) {
    strides[1] = by_rows ? 1 : c->k;
  }
}

/* -- columns of b ----------------------------------------------------------------------------------------------- */

typedef struct column_job {
  const nd4c_bytes_call *c;
  const char *b;   /* of one matrix */
  int8_t *flipped; /* NULL: b is signed */
  int32_t *sums;   /* NULL: not wanted */
} column_job;

/* Flips columns [begin, end) and adds them up. */
static void column_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const column_job *j = user;
  const nd4c_bytes_call *c = j->c;
  int64_t strides[2], count = end - begin;
  (void)worker;
  nd4c_bytes_weight_strides(c, strides);
  bool by_rows = strides[1] == 1 && strides[0] >= c->n;
  if (by_rows && j->sums != NULL) {
    memset(j->sums + begin, 0, (size_t)count * sizeof *j->sums);
  }
  for (int64_t i = by_rows ? 0 : begin; i < (by_rows ? c->k : end); i++) {
    const char *from = j->b + (by_rows ? i * c->b_strides[0] + begin : i * c->b_strides[1]);
    int64_t length = by_rows ? count : c->k;
    if (j->flipped != NULL) {
      int8_t *to = j->flipped + (by_rows ? i * strides[0] + begin : i * strides[1]);
      nd4c_simd.scales->flip(length, (const void *)from, to);
      from = (const void *)to;
    }
    if (j->sums != NULL && by_rows) {
      nd4c_simd.scales->accumulate(length, (const void *)from, j->sums + begin);
    } else if (j->sums != NULL) {
      j->sums[i] = nd4c_simd.scales->sum(length, from, true);
    }
  }
}

void nd4c_bytes_walk_columns(const nd4c_bytes_call *c, int32_t width, const void *b, int8_t *flipped, int32_t *sums) {
  column_job j = {c, b, flipped, sums};
  int64_t grain = 65536 / c->k + 64;
  nd4c_cpu_parallel(c->n, grain, width, column_range, &j);
}

/* -- the last pass ---------------------------------------------------------------------------------------------- */

double nd4c_bytes_number(const nd4c_tensor *x, int64_t index) {
  int64_t offset = x->size == 1 ? 0 : index * x->strides[0];
  switch (x->dtype) {
    case ND4C_INT8:
      return ((const int8_t *)x->data)[offset];
    case ND4C_UINT8:
      return ((const uint8_t *)x->data)[offset];
    case ND4C_INT32:
      return ((const int32_t *)x->data)[offset];
    default:
      return (double)((const float *)x->data)[offset];
  }
}

/* Factors of row i's columns; the multiplier is rounded as the reference does. */
static void row_factors(const nd4c_bytes_finish *j, int64_t row, int64_t begin, int64_t end, double *to) {
  const nd4c_tensor *b = optional(j->call, j->c->at.b_scale);
  float a = (float)nd4c_bytes_number(j->a_scale, row);
  for (int64_t i = begin; i < end; i++) {
    to[i - begin] = (double)((float)(a * (float)nd4c_bytes_number(b, i)) / (float)j->y_scale);
  }
}

static void finish_piece(const nd4c_bytes_finish *j, int64_t row, int64_t begin, int64_t end, const double *factors,
                         int32_t *beside) {
  const nd4c_bytes_call *c = j->c;
  int64_t count = end - begin, at = row * c->n + begin;
  const int32_t *x = j->products + at;
  int32_t zero = (j->sums != NULL && j->a_zero != NULL ? (int32_t)nd4c_bytes_number(j->a_zero, row) : 0) - j->a_shift;
  char *y = (char *)j->call->outputs[0].data;
  bool whole = c->y_dtype == ND4C_INT32;
  at += j->matrix * c->m * c->n;
  if (j->sums != NULL || j->zeros != NULL) {
    int32_t *to = whole ? (int32_t *)(void *)y + at : beside;
    nd4c_simd.scales->correct(count, x, zero, j->sums != NULL ? j->sums + begin : NULL,
                              j->zeros != NULL ? j->rows[row] : 0, j->zeros != NULL ? j->zeros + begin : NULL, to);
    x = to;
  }
  if (j->y_zero != NULL) {
    nd4c_simd.scales->requantize(count, x, NULL, factors, (int32_t)nd4c_bytes_number(j->y_zero, 0),
                                 c->y_dtype == ND4C_INT8 ? -128 : 0, (uint8_t *)y + at);
  } else if (!whole) {
    nd4c_simd.scales->dequantize(count, x, nd4c_bytes_number(j->a_scale, row), factors,
                                 j->bias != NULL ? j->bias + begin : NULL, (float *)(void *)y + at);
  }
}

/* Pieces of rows. */
static void finish_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const nd4c_bytes_finish *j = user;
  int64_t n = j->c->n, pieces = (n + PIECE - 1) / PIECE;
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
    uint32_t zero = j->a_zero != NULL ? (uint32_t)(int32_t)nd4c_bytes_number(j->a_zero, i) : 0;
    int32_t sum = nd4c_simd.scales->sum(j->k, j->data + i * j->row_step, j->a->dtype == ND4C_INT8);
    j->rows[i] = (int32_t)((uint32_t)sum - (uint32_t)j->k * zero);
  }
}

static bool all_zero(const nd4c_tensor *x) {
  for (int64_t i = 0; x != NULL && i < x->size; i++) {
    if (nd4c_bytes_number(x, i) != 0) {
      return false;
    }
  }
  return true;
}

/* b's zero points as those of signed bytes; false if all are 0. */
static bool take_zeros(const nd4c_bytes_call *c, const nd4c_tensor *given, int32_t *zeros) {
  bool any = false;
  for (int64_t i = 0; i < c->n; i++) {
    zeros[i] = (given != NULL ? (int32_t)nd4c_bytes_number(given, i) : 0) - (nd4c_bytes_flipped(c) ? 128 : 0);
    any = any || zeros[i] != 0;
  }
  return any;
}

static void take_factors(nd4c_bytes_finish *j, double *factors) {
  const nd4c_tensor *b = optional(j->call, j->c->at.b_scale);
  j->factors = b != NULL ? factors : NULL;
  if (j->y_zero != NULL && j->a_scale->size == 1) {
    row_factors(j, 0, 0, j->c->n, factors);
  } else if (j->y_zero == NULL && b != NULL) {
    for (int64_t i = 0; i < j->c->n; i++) {
      factors[i] = nd4c_bytes_number(b, i);
    }
  }
}

nd4c_bytes_room nd4c_bytes_place(const nd4c_bytes_call *c, bool own_sums, int64_t *bytes) {
  nd4c_bytes_room room;
  room.sums = nd4c_bytes_take(bytes, own_sums ? c->n * 4 : 0);
  room.zeros = nd4c_bytes_take(bytes, c->n * 4);
  room.rows = nd4c_bytes_take(bytes, c->m * 4);
  room.factors = nd4c_bytes_take(bytes, c->n * 8);
  room.products = nd4c_bytes_take(bytes, c->y_dtype == ND4C_INT32 ? 0 : c->m * c->n * 4);
  return room;
}

void nd4c_bytes_begin(nd4c_bytes_finish *j, const nd4c_bytes_call *c, const nd4c_call *call, int32_t a_shift,
                      int32_t *zeros, double *factors) {
  const nd4c_tensor *bias = optional(call, c->at.bias), *y_scale = optional(call, c->at.y_scale);
  *j = (nd4c_bytes_finish){.c = c,
                           .call = call,
                           .a_zero = optional(call, c->at.a_zero),
                           .a_scale = optional(call, c->at.a_scale),
                           .y_zero = optional(call, c->at.y_zero),
                           .bias = bias != NULL ? bias->data : NULL,
                           .y_scale = y_scale != NULL ? nd4c_bytes_number(y_scale, 0) : 1,
                           .a_shift = a_shift};
  j->zeros = take_zeros(c, optional(call, c->at.b_zero), zeros) ? zeros : NULL;
  j->wants_sums = a_shift != 0 || !all_zero(j->a_zero);
  take_factors(j, factors);
}

void nd4c_bytes_end(nd4c_bytes_finish *j, int64_t matrix, const char *a, const int32_t *products, const int32_t *sums,
                    int32_t *rows) {
  const nd4c_bytes_call *c = j->c;
  int32_t width = j->call->width;
  j->matrix = matrix;
  j->products = products;
  j->sums = j->wants_sums ? sums : NULL;
  j->rows = rows;
  if (j->zeros != NULL) {
    row_job job = {j->call->inputs, j->a_zero, a, c->a_row, c->k, rows};
    nd4c_cpu_parallel(c->m, 65536 / c->k + 1, width, row_range, &job);
  }
  if (j->sums != NULL || j->zeros != NULL || c->y_dtype != ND4C_INT32) {
    int64_t pieces = (c->n + PIECE - 1) / PIECE;
    nd4c_cpu_parallel(c->m * pieces, 16384 / (c->n < PIECE ? c->n : PIECE) + 1, width, finish_range, j);
  }
}
