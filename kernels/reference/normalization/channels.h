/* Softmax, batch normalisation and local response normalisation on numbers in C order (numbers.h), for the families
 * normalization and loss of engine reference. */
#ifndef ND4C_KERNELS_REFERENCE_NORMALIZATION_CHANNELS_H
#define ND4C_KERNELS_REFERENCE_NORMALIZATION_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

/* Rows along the middle axis of [outer, length, inner]. */
typedef struct nd4c_ref_softmax_args {
  int64_t length, inner;
  bool logarithm;
  const double *x;
  double *y;
} nd4c_ref_softmax_args;
/* Range over rows. */
void nd4c_ref_softmax(const nd4c_ref_softmax_args *args, int64_t begin, int64_t end);

/* [batch, count, inner]; all but x and y by channel. */
typedef struct nd4c_ref_channels {
  int64_t inner, count;
  const double *x, *scale, *bias, *mean, *variance;
  double epsilon, *y;
} nd4c_ref_channels;
/* Range over elements. */
void nd4c_ref_batch_norm(const nd4c_ref_channels *args, int64_t begin, int64_t end);

typedef struct nd4c_ref_lrn_args {
  int64_t inner, channels, size;
  double alpha, beta, bias;
  const double *x;
  double *y;
} nd4c_ref_lrn_args;
/* Range over elements. */
void nd4c_ref_lrn(const nd4c_ref_lrn_args *args, int64_t begin, int64_t end);

#endif
