/* Reference kernels of quantisation: elements in double precision, products of bytes in int32. Ranges are of elements
 * of y in C order. backends/cpu/reference/quantization.c and quantization_product.c call these. */
#ifndef ND4C_KERNELS_REFERENCE_QUANTIZATION_QUANTIZATION_H
#define ND4C_KERNELS_REFERENCE_QUANTIZATION_QUANTIZATION_H

#include "kernels/narrow.h"
#include "kernels/reference/window/conv.h"

/* A number of any real dtype. */
double nd4c_ref_real(const nd4c_ref_tensor *tensor, int64_t offset);

/* `value` as a number of a floating dtype. */
double nd4c_ref_rounded(nd4c_dtype dtype, double value);

/* Stores a number as `cast` would, rounded to the nearest whole number for integers; NaN gives 0 there. With saturate
 * false, float8 goes to infinity or NaN beyond its largest number. */
void nd4c_ref_store_quantized(const nd4c_ref_tensor *y, int64_t offset, double value, bool saturate);

/* x as a float8; only float8_e8m0fnu has a choice of rounding. */
typedef struct nd4c_ref_cast_args {
  nd4c_ref_tensor x, y;
  bool saturate;
  nd4c_narrow_rounding rounding;
} nd4c_ref_cast_args;
void nd4c_ref_cast_float8(const nd4c_ref_cast_args *args, int64_t begin, int64_t end);

/* scale and zero_point (no data: none) are of one element, of x's axis, or of x's shape in blocks along axis. */
typedef struct nd4c_ref_quantization {
  nd4c_ref_tensor x, scale, zero_point, y;
  int32_t axis;
  int64_t block; /* 0: none */
  nd4c_dtype precision;
  bool saturate;
} nd4c_ref_quantization;
void nd4c_ref_quantize(const nd4c_ref_quantization *args, int64_t begin, int64_t end);
void nd4c_ref_dequantize(const nd4c_ref_quantization *args, int64_t begin, int64_t end);

/* True for a call that the loops over floats and bytes in C order compute. */
bool nd4c_ref_quantize_is_plain(const nd4c_ref_quantization *args);
bool nd4c_ref_dequantize_is_plain(const nd4c_ref_quantization *args);
void nd4c_ref_quantize_plain(const nd4c_ref_quantization *args, int64_t begin, int64_t end);
void nd4c_ref_dequantize_plain(const nd4c_ref_quantization *args, int64_t begin, int64_t end);

/* Scale and zero point for float32 as uint8. */
void nd4c_ref_dynamic_range(const nd4c_ref_tensor *x, float *scale, uint8_t *zero_point);

/* The grid of TensorFlow's fake quantisation, in x's precision class: low moves so that 0 falls on a step. */
typedef struct nd4c_ref_fake_grid {
  double first, last, scale, zero; /* steps; what one is worth; the step of 0 */
} nd4c_ref_fake_grid;
nd4c_ref_fake_grid nd4c_ref_fake_grid_of(double low, double high, int bits, bool narrow_range);

typedef struct nd4c_ref_fake_quantization {
  nd4c_ref_tensor x, low, high, y;
  int bits;
  bool narrow_range;
} nd4c_ref_fake_quantization;
void nd4c_ref_fake_quantize(const nd4c_ref_fake_quantization *args, int64_t begin, int64_t end);

/* -- products ---------------------------------------------------------------------------------------------------- */

/* Rows and columns of bytes from `offset` on as int16 less a zero point for each row (`by_row`) or column; without
 * gaps. */
typedef struct nd4c_ref_bytes {
  nd4c_ref_tensor tensor;
  int64_t offset, rows, columns, row_stride, column_stride;
  const int32_t *zeros;
  bool by_row;
} nd4c_ref_bytes;
void nd4c_ref_widen(const nd4c_ref_bytes *bytes, int16_t *to);

/* The windows of one image and group of x as a matrix: a row for each channel and cell of the window, a column for each
 * output position; what lies in the padding is 0. */
void nd4c_ref_unfold(const nd4c_ref_tensor *x, const nd4c_ref_window *window, const int64_t *output, int64_t offset,
                     int64_t channels, int32_t zero, int16_t *to);

/* Rows [begin, end) of c = a b in int32, which wraps: a [m, k], b [k, n], c [m, n], without gaps. */
void nd4c_ref_int16_product(int64_t n, int64_t k, const int16_t *a, const int16_t *b, int32_t *c, int64_t begin,
                            int64_t end);

/* Sums of a row of a with dequantised rows of b; see the op matmul_nbits. Range over the elements of y. */
typedef struct nd4c_ref_nbits {
  nd4c_ref_tensor a, b, scale, zero_point, bias, y;
  int64_t block;
} nd4c_ref_nbits;
void nd4c_ref_matmul_nbits(const nd4c_ref_nbits *args, int64_t begin, int64_t end);

#endif
