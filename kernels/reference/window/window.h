/* Convolutions and pools on numbers in C order (numbers.h). Each computes a range of the outputs in C order, unless its
 * comment says otherwise. Extents have three spatial axes; missing first ones are 1. backends/cpu/reference/window.c
 * calls these. */
#ifndef ND4C_KERNELS_REFERENCE_WINDOW_WINDOW_H
#define ND4C_KERNELS_REFERENCE_WINDOW_WINDOW_H

#include "kernels/reference/window/conv.h"

/* Sizes of a window over three axes; x and y: extents. */
typedef struct nd4c_ref_sweep {
  int64_t batch, channels, outputs, groups; /* outputs: channels of y */
  int64_t x[3], y[3], kernel[3], stride[3], dilation[3], pad[3],
      pad_end[3]; /* cells before the first, behind the last */
} nd4c_ref_sweep;

typedef struct nd4c_ref_conv_numbers {
  nd4c_ref_sweep sweep;
  const double *x, *w, *bias; /* bias may be NULL */
  /* deformable_conv: mask may be NULL; the spatial axes that x has */
  const double *offset, *mask;
  int64_t offset_groups;
  int32_t spatial;
  double *scratch; /* deformable_conv: channels * taps for each worker */
  double *y;
} nd4c_ref_conv_numbers;
/* Range over the planes of y: batch and channels. */
void nd4c_ref_conv_transpose(const nd4c_ref_conv_numbers *args, int64_t begin, int64_t end);
/* Range over batch and output cells. */
void nd4c_ref_deformable_conv(const nd4c_ref_conv_numbers *args, int64_t begin, int64_t end, int32_t worker);

typedef struct nd4c_ref_causal_conv_args {
  int64_t channels, length, taps;
  const double *x, *w, *bias, *past; /* bias and past may be NULL */
  bool silu;
  double *y, *present;
} nd4c_ref_causal_conv_args;
/* Range over batch and channels. */
void nd4c_ref_causal_conv(const nd4c_ref_causal_conv_args *args, int64_t begin, int64_t end);

/* What a pool does with its cells. */
typedef enum nd4c_ref_pool_kind {
  ND4C_REF_POOL_AVERAGE,
  ND4C_REF_POOL_MAX,
  ND4C_REF_POOL_LP,
  ND4C_REF_POOL_DILATION, /* largest x + w, w by channel and cell */
  ND4C_REF_POOL_EROSION   /* smallest x - w */
} nd4c_ref_pool_kind;

typedef struct nd4c_ref_pool_numbers {
  nd4c_ref_sweep sweep;
  nd4c_ref_pool_kind kind;
  bool adaptive;       /* windows from the extents alone: floor(i * x / y) to ceil((i + 1) * x / y) */
  bool counts_padding; /* AVERAGE: cells of the padding count, but not those beyond it */
  double p;
  const double *x, *w;
  double *y;
  int64_t *indices;     /* of MAX: in the plane, -1 of a window of padding alone; may be NULL */
  const int64_t *whole; /* MAX of integers, which do not fit into a double: in place of x and y */
  int64_t *y_whole, lowest;
} nd4c_ref_pool_numbers;

/* First cell, cells and step of the window of output place `at` along an axis, the first tap inside x, and the cells
 * with padding. */
typedef struct nd4c_ref_span {
  int64_t first, count, step, tap, padded;
} nd4c_ref_span;
nd4c_ref_span nd4c_ref_pool_span(const nd4c_ref_pool_numbers *args, int axis, int64_t at);

void nd4c_ref_pool(const nd4c_ref_pool_numbers *args, int64_t begin, int64_t end);

#endif
