/* The work of matmul_integer, qlinear_matmul and linear_int8 around their product of bytes into int32, which oneDNN or
 * engine simd computes. The pass that scales and rounds subtracts the zero points (one, or one for each row and column)
 * with the sums of the factors' rows and columns: sum (a - p)(b - q) = sum a b - p sum b - q (sum a - k p). Unsigned
 * weights and their zero points become signed by subtracting 128. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_QUANTIZATION_PRODUCT_H
#define ND4C_BACKENDS_CPU_SUPPORT_QUANTIZATION_PRODUCT_H

#include "backends/cpu/cpu.h"

/* Positions of a call's operands, -1: none. */
typedef struct nd4c_bytes_positions {
  int b, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero, bias;
} nd4c_bytes_positions;

/* One call: a [batch, m, k] (rows a_row apart) times b [batch or 1, k, n]. */
typedef struct nd4c_bytes_call {
  nd4c_bytes_positions at;
  int64_t batch, m, n, k, a_row, a_step, b_step; /* steps: from matrix to matrix */
  int64_t b_strides[2];
  nd4c_dtype a_dtype, b_dtype, y_dtype;
} nd4c_bytes_call;

/* NULL, or why the call is not one of these. */
const char *nd4c_bytes_read(const nd4c_call *call, nd4c_bytes_call *c);

/* Number `index` of a scale, zero point or bias, or the only one: float32, int32 or bytes. */
double nd4c_bytes_number(const nd4c_tensor *x, int64_t index);

/* Whether b is unsigned. */
bool nd4c_bytes_flipped(const nd4c_bytes_call *c);
/* Strides of b as it lies or, if it is flipped, as it then lies: in its own order without gaps. */
void nd4c_bytes_weight_strides(const nd4c_bytes_call *c, int64_t *strides);
/* Flips one matrix b and adds up its columns; flipped, sums NULL: not wanted. */
void nd4c_bytes_walk_columns(const nd4c_bytes_call *c, int32_t width, const void *b, int8_t *flipped, int32_t *sums);

/* What the last pass reads. */
typedef struct nd4c_bytes_finish {
  const nd4c_bytes_call *c;
  const nd4c_call *call;
  const nd4c_tensor *a_zero, *a_scale, *y_zero;
  const int32_t *products, *sums, *zeros, *rows; /* sums, zeros: NULL where nothing is taken off */
  const double *factors;
  const float *bias;
  double y_scale;
  int64_t matrix;
  int32_t a_shift; /* what was taken off every byte of a before it was multiplied */
  bool wants_sums; /* of b's columns */
} nd4c_bytes_finish;

/* zeros, factors: room for n numbers. */
void nd4c_bytes_begin(nd4c_bytes_finish *j, const nd4c_bytes_call *c, const nd4c_call *call, int32_t a_shift,
                      int32_t *zeros, double *factors);
/* Makes number `matrix` of the result, of a [m, k] there; rows: room for m numbers. */
void nd4c_bytes_end(nd4c_bytes_finish *j, int64_t matrix, const char *a, const int32_t *products, const int32_t *sums,
                    int32_t *rows);

/* Takes `wanted` more bytes of scratch; returns their offset. */
static inline int64_t nd4c_bytes_take(int64_t *bytes, int64_t wanted) {
  int64_t at = *bytes;
  *bytes += (wanted + 63) & ~(int64_t)63;
  return at;
}

/* Offsets in scratch of what the last pass reads. */
typedef struct nd4c_bytes_room {
  int64_t sums, zeros, rows, factors, products;
} nd4c_bytes_room;

/* own_sums: the sums of b's columns need memory, because they were not packed with the weights. */
nd4c_bytes_room nd4c_bytes_place(const nd4c_bytes_call *c, bool own_sums, int64_t *bytes);

/* A kernel of the file's functions usable, prepare, unprepare, scratch_bytes and run. */
#define ND4C_BYTES_KERNEL(engine, op, priority)                                                                   \
  ND4C_CPU_KERNEL(engine, op, #op, priority, ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8), usable, run, \
                  .prepare = prepare, .unprepare = unprepare, .scratch_bytes = scratch_bytes)

#endif
