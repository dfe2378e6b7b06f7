/* What quantization_conv.c computes with: the sizes of a call, and its operands as signed bytes with channels last. */
#ifndef ND4C_BACKENDS_CPU_SIMD_QUANTIZATION_CONV_H
#define ND4C_BACKENDS_CPU_SIMD_QUANTIZATION_CONV_H

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/quantization_product.h"
#include "backends/cpu/support/window.h"

enum { ND4C_BYTES_CONV_ROWS = 48 }; /* places whose windows are copied and multiplied together */

/* Positions of a call's operands, -1: none. */
typedef struct nd4c_bytes_conv_positions {
  int w, x_zero, w_zero, x_scale, w_scale, y_scale, y_zero, bias;
} nd4c_bytes_conv_positions;

typedef struct nd4c_bytes_conv {
  const nd4c_call *call;
  nd4c_bytes_conv_positions at;
  const nd4c_tensor *x, *w, *y;
  nd4c_ref_window window;
  int64_t groups, channels, outputs; /* channels, outputs: of a group */
  int64_t cells, k, whole, panels;   /* of a window: cells, terms, and those filled up; panels of a group */
  int64_t cells_of_x, places, rows;  /* of an image; rows: places of all images */
  int64_t y_step;                    /* from place to place */
  bool single;                       /* a channel and an output a group */
  int32_t x_zero, y_zero;            /* x_zero: as of signed bytes; nd4c_bytes_conv_read_numbers sets them */
} nd4c_bytes_conv;

/* Weights as panels, group by group, and the sum of each output's weights; of single channels, their bytes
 * [cell][channel]. */
typedef struct nd4c_bytes_conv_weights {
  const int8_t *panels;
  const int32_t *sums; /* NULL of single channels */
  nd4c_cpu_held held;  /* both; memory NULL: they lie in scratch */
} nd4c_bytes_conv_weights;

/* Offsets in scratch, and in a worker's part of it. */
typedef struct nd4c_bytes_conv_room {
  int64_t x, weights, line, w_wide, zeros, factors, bias, workers, worker_bytes, bytes;
  int64_t own_sums, own_windows, own_bytes;
} nd4c_bytes_conv_room;

/* NULL, or why these kernels do not take the call. Reads no data. */
const char *nd4c_bytes_conv_read(const nd4c_call *call, nd4c_bytes_conv *c);
void nd4c_bytes_conv_read_numbers(nd4c_bytes_conv *c);
/* packs: the call has to pack its weights. */
nd4c_bytes_conv_room nd4c_bytes_conv_place(const nd4c_bytes_conv *c, int32_t width, bool packs);

/* Packs the weights into `to`, of nd4c_bytes_conv_weight_bytes, and says where they are. line: room for
 * nd4c_bytes_conv_line_bytes. */
void nd4c_bytes_conv_pack(const nd4c_bytes_conv *c, char *to, int8_t *line, nd4c_bytes_conv_weights *weights);
int64_t nd4c_bytes_conv_weight_bytes(const nd4c_bytes_conv *c);
int64_t nd4c_bytes_conv_line_bytes(const nd4c_bytes_conv *c);

/* x as signed bytes [image][cell][channel]; of single channels, as int16 less the zero point. */
void nd4c_bytes_conv_arrange(const nd4c_bytes_conv *c, char *to, int32_t width);
/* Packed weights of single channels less their zero points. */
void nd4c_bytes_conv_widen_weights(const nd4c_bytes_conv *c, const nd4c_bytes_conv_weights *weights,
                                   const int32_t *zeros, int16_t *to);

/* For each output channel, into `to`, which they return; NULL: all zero points are 0, sums are not scaled, no bias. */
const int32_t *nd4c_bytes_conv_zeros(const nd4c_bytes_conv *c, int32_t *to);
const double *nd4c_bytes_conv_factors(const nd4c_bytes_conv *c, double *to);
const int32_t *nd4c_bytes_conv_bias(const nd4c_bytes_conv *c, int32_t *to);

#endif
