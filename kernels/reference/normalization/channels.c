#include "kernels/reference/window/network.h"
#include "kernels/reference/support/numbers.h"

/* Element `index` of a 1-D operand, `otherwise` if it was left out. */
static double load_vector(const nd4c_ref_tensor *vector, int64_t index, double otherwise) {
  return vector->data == NULL ? otherwise : nd4c_ref_load(vector, index * vector->strides[0]);
}

void nd4c_ref_batch_norm(const nd4c_ref_norm_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  int64_t inner = nd4c_ref_extent(y->rank - 2, y->shape + 2);
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t channel = flat / inner % y->shape[1];
    double value = nd4c_ref_load(x, nd4c_ref_offset(x, y->rank, y->shape, flat));
    double variance = load_vector(&args->variance, channel, 1);
    value = (value - load_vector(&args->mean, channel, 0)) / sqrt(variance + args->epsilon);
    value = value * load_vector(&args->scale, channel, 1) + load_vector(&args->bias, channel, 0);
    nd4c_ref_store(y, nd4c_ref_offset(y, y->rank, y->shape, flat), value);
  }
}

/* Offset of the first element of row `row`, counted over all axes but `axis`. */
static int64_t row_offset(const nd4c_ref_tensor *tensor, int32_t axis, int64_t row) {
  int64_t offset = 0;
  for (int32_t i = tensor->rank - 1; i >= 0; i--) {
    if (i != axis) {
      offset += row % tensor->shape[i] * tensor->strides[i];
      row /= tensor->shape[i];
    }
  }
  return offset;
}

void nd4c_ref_softmax(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, int32_t axis, bool logarithm, int64_t begin,
                      int64_t end) {
  int64_t length = x->shape[axis], x_step = x->strides[axis], y_step = y->strides[axis];
  for (int64_t row = begin; row < end; row++) {
    int64_t x_offset = row_offset(x, axis, row), y_offset = row_offset(y, axis, row);
    double largest = -(double)INFINITY, sum = 0;
    for (int64_t i = 0; i < length; i++) {
      double value = nd4c_ref_load(x, x_offset + i * x_step);
      largest = isnan(largest) || value <= largest ? largest : value;
    }
    for (int64_t i = 0; i < length; i++) {
      sum += exp(nd4c_ref_load(x, x_offset + i * x_step) - largest);
    }
    for (int64_t i = 0; i < length; i++) {
      double shifted = nd4c_ref_load(x, x_offset + i * x_step) - largest;
      double value = logarithm ? shifted - log(sum) : exp(shifted) / sum;
      nd4c_ref_store(y, y_offset + i * y_step, value);
    }
  }
}

void nd4c_ref_lrn(const nd4c_ref_lrn_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  int64_t inner = nd4c_ref_extent(y->rank - 2, y->shape + 2), channels = y->shape[1];
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t channel = flat / inner % channels;
    int64_t first = channel - (args->size - 1) / 2, last = channel + args->size / 2;
    int64_t offset = nd4c_ref_offset(x, x->rank, x->shape, flat);
    double squares = 0;
    for (int64_t c = first > 0 ? first : 0; c <= last && c < channels; c++) {
      double value = nd4c_ref_load(x, offset + (c - channel) * x->strides[1]);
      squares += value * value;
    }
    double value = nd4c_ref_load(x, offset);
    value /= pow(args->bias + args->alpha / (double)args->size * squares, args->beta);
    nd4c_ref_store(y, nd4c_ref_offset(y, y->rank, y->shape, flat), value);
  }
}
