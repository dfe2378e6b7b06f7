#include <string.h>

#include "kernels/reference/nn.h"

/* One output element: a row of a and a column of b. */
typedef struct dot {
  const nd4c_ref_tensor *a, *b;
  int64_t a_offset, b_offset, a_step, b_step, length;
} dot;

/* The i-th pair of factors, in the kind of number that y has. */
static nd4c_value factor(const nd4c_ref_tensor *tensor, int64_t offset, nd4c_dtype result) {
  nd4c_value value = nd4c_value_load(tensor->dtype, tensor->data, offset);
  return tensor->dtype == result ? value : nd4c_value_cast(nd4c_reference_kind(tensor->dtype), value, result);
}

static nd4c_value dot_real(const dot *d, nd4c_dtype result) {
  double sum = 0;
  for (int64_t i = 0; i < d->length; i++) {
    sum += factor(d->a, d->a_offset + i * d->a_step, result).f * factor(d->b, d->b_offset + i * d->b_step, result).f;
  }
  return (nd4c_value){.f = sum};
}

/* Unsigned arithmetic wraps, and its low bits are those of signed arithmetic. */
static nd4c_value dot_integer(const dot *d, nd4c_dtype result) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < d->length; i++) {
    sum += factor(d->a, d->a_offset + i * d->a_step, result).u * factor(d->b, d->b_offset + i * d->b_step, result).u;
  }
  return (nd4c_value){.u = sum};
}

/* Real and imaginary parts by hand: C's complex product has rules for infinities that sums of products lack. */
static nd4c_value dot_complex(const dot *d, nd4c_dtype result) {
  double parts[2] = {0, 0};
  for (int64_t i = 0; i < d->length; i++) {
    double complex p = factor(d->a, d->a_offset + i * d->a_step, result).c;
    double complex q = factor(d->b, d->b_offset + i * d->b_step, result).c;
    parts[0] += creal(p) * creal(q) - cimag(p) * cimag(q);
    parts[1] += creal(p) * cimag(q) + cimag(p) * creal(q);
  }
  nd4c_value value;
  memcpy(&value.c, parts, sizeof value.c);
  return value;
}

static void store_dot(const dot *d, const nd4c_ref_tensor *y, int64_t offset) {
  nd4c_dtype_kind kind = nd4c_reference_kind(y->dtype);
  nd4c_value value = kind == ND4C_KIND_FLOAT     ? dot_real(d, y->dtype)
                     : kind == ND4C_KIND_COMPLEX ? dot_complex(d, y->dtype)
                                                 : dot_integer(d, y->dtype);
  nd4c_value_store(y->dtype, y->data, offset, value);
}

/* Offset of an operand's matrix for the leading axes' position `flat` of y. */
static int64_t batch_offset(const nd4c_ref_tensor *operand, const nd4c_ref_tensor *y, int32_t batch_rank,
                            int64_t flat) {
  nd4c_ref_tensor batch = *operand;
  batch.rank = operand->rank > 2 ? operand->rank - 2 : 0;
  return nd4c_ref_offset(&batch, batch_rank, y->shape, flat);
}

void nd4c_ref_matmul(const nd4c_ref_tensor *a, const nd4c_ref_tensor *b, const nd4c_ref_tensor *y, int64_t begin,
                     int64_t end) {
  bool vector_a = a->rank == 1, vector_b = b->rank == 1;
  int32_t batch_rank = y->rank - (vector_a ? 0 : 1) - (vector_b ? 0 : 1);
  int64_t rows = vector_a ? 1 : a->shape[a->rank - 2];
  int64_t columns = vector_b ? 1 : b->shape[b->rank - 1];
  int64_t a_row = vector_a ? 0 : a->strides[a->rank - 2];
  int64_t b_column = vector_b ? 0 : b->strides[b->rank - 1];
  dot d = {.a = a, .b = b, .a_step = a->strides[a->rank - 1], .length = a->shape[a->rank - 1]};
  d.b_step = b->strides[vector_b ? 0 : b->rank - 2];
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t column = flat % columns, row = flat / columns % rows, matrix = flat / columns / rows;
    d.a_offset = batch_offset(a, y, batch_rank, matrix) + row * a_row;
    d.b_offset = batch_offset(b, y, batch_rank, matrix) + column * b_column;
    store_dot(&d, y, nd4c_ref_offset(y, y->rank, y->shape, flat));
  }
}

void nd4c_ref_linear(const nd4c_ref_linear_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *w = &args->w, *y = &args->y;
  int64_t columns = y->shape[y->rank - 1];
  dot d = {.a = x, .b = w, .a_step = x->strides[x->rank - 1], .b_step = w->strides[args->transpose_w ? 1 : 0]};
  d.length = x->shape[x->rank - 1];
  nd4c_ref_tensor rows = *x; /* x without its last axis is broadcast over y's leading ones */
  rows.rank = x->rank - 1;
  for (int64_t flat = begin; flat < end; flat++) {
    d.a_offset = nd4c_ref_offset(&rows, y->rank - 1, y->shape, flat / columns);
    d.b_offset = flat % columns * w->strides[args->transpose_w ? 0 : 1];
    double sum = dot_real(&d, y->dtype).f;
    if (args->bias.data != NULL) {
      int64_t offset = nd4c_ref_offset(&args->bias, y->rank, y->shape, flat);
      sum += nd4c_ref_load(&args->bias, offset);
    }
    if (args->addend.data != NULL) {
      int64_t offset = nd4c_ref_offset(&args->addend, y->rank, y->shape, flat);
      sum += nd4c_ref_load(&args->addend, offset);
    }
    nd4c_ref_store(y, nd4c_ref_offset(y, y->rank, y->shape, flat), nd4c_ref_activate(args->activation, sum));
  }
}
