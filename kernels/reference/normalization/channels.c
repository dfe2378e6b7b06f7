/* Softmax, batch norm and lrn (channels.h). The families normalization and loss of engine reference call these. */
#include "kernels/reference/normalization/channels.h"

#include <math.h>

void nd4c_ref_softmax(const nd4c_ref_softmax_args *args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; row++) {
    int64_t first = row / args->inner * args->length * args->inner + row % args->inner;
    const double *x = args->x + first;
    double largest = -(double)INFINITY, sum = 0;
    for (int64_t i = 0; i < args->length; i++) {
      double value = x[i * args->inner];
      largest = isnan(largest) || value <= largest ? largest : value;
    }
    for (int64_t i = 0; i < args->length; i++) {
      sum += exp(x[i * args->inner] - largest);
    }
    for (int64_t i = 0; i < args->length; i++) {
      double shifted = x[i * args->inner] - largest;
      args->y[first + i * args->inner] = args->logarithm ? shifted - log(sum) : exp(shifted) / sum;
    }
  }
}

void nd4c_ref_batch_norm(const nd4c_ref_channels *args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    int64_t c = i / args->inner % args->count;
    double value = (args->x[i] - args->mean[c]) / sqrt(args->variance[c] + args->epsilon);
    args->y[i] = value * args->scale[c] + args->bias[c];
  }
}

void nd4c_ref_lrn(const nd4c_ref_lrn_args *args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    int64_t channel = i / args->inner % args->channels;
    int64_t first = channel - (args->size - 1) / 2, last = channel + args->size / 2;
    double squares = 0;
    for (int64_t c = first > 0 ? first : 0; c <= last && c < args->channels; c++) {
      double value = args->x[i + (c - channel) * args->inner];
      squares += value * value;
    }
    args->y[i] = args->x[i] / pow(args->bias + args->alpha / (double)args->size * squares, args->beta);
  }
}
