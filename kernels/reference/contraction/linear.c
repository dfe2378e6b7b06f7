/* Implements linear of linear.h, a product, a bias and an activation. backends/cpu/reference/contraction.c calls it;
 * window/conv.c takes its addend. */
#include "kernels/reference/contraction/linear.h"

double nd4c_ref_addend(const nd4c_ref_tensor *addend, const nd4c_ref_tensor *y, int64_t flat) {
  return addend->data == NULL ? 0 : nd4c_ref_load(addend, nd4c_ref_offset(addend, y->rank, y->shape, flat));
}

/* A row of x times a column of w. */
static double dot(const nd4c_ref_linear_args *args, int64_t x_offset, int64_t w_offset) {
  const nd4c_ref_tensor *x = &args->x, *w = &args->w;
  int64_t x_step = x->strides[x->rank - 1], w_step = w->strides[args->transpose_w ? 1 : 0];
  double sum = 0;
  for (int64_t i = 0; i < x->shape[x->rank - 1]; i++) {
    sum += nd4c_ref_load(x, x_offset + i * x_step) * nd4c_ref_load(w, w_offset + i * w_step);
  }
  return sum;
}

void nd4c_ref_linear(const nd4c_ref_linear_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *w = &args->w, *y = &args->y;
  int64_t columns = y->shape[y->rank - 1];
  nd4c_ref_tensor rows = *x; /* x without its last axis is broadcast over y's leading ones */
  rows.rank = x->rank - 1;
  for (int64_t flat = begin; flat < end; flat++) {
    double sum = dot(args, nd4c_ref_offset(&rows, y->rank - 1, y->shape, flat / columns),
                     flat % columns * w->strides[args->transpose_w ? 0 : 1]);
    sum += nd4c_ref_addend(&args->bias, y, flat) + nd4c_ref_addend(&args->addend, y, flat);
    nd4c_ref_store(y, nd4c_ref_offset(y, y->rank, y->shape, flat), nd4c_ref_activate(args->activation, sum));
  }
}
