/* Quantisation element by element (quantization.h). Engine reference calls these. */
#include "kernels/reference/quantization/quantization.h"

#include <math.h>

double nd4c_ref_real(const nd4c_ref_tensor *tensor, int64_t offset) {
  return nd4c_value_as_double(nd4c_reference_kind(tensor->dtype), nd4c_value_load(tensor->dtype, tensor->data, offset));
}

double nd4c_ref_rounded(nd4c_dtype dtype, double value) {
  char element[16];
  nd4c_value_store(dtype, element, 0, (nd4c_value){.f = value});
  return nd4c_value_load(dtype, element, 0).f;
}

void nd4c_ref_store_quantized(const nd4c_ref_tensor *y, int64_t offset, double value, bool saturate) {
  bool real = nd4c_reference_kind(y->dtype) == ND4C_KIND_FLOAT;
  nd4c_value number = {.f = real ? value : nearbyint(value)};
  if (!real || saturate) {
    number = nd4c_value_cast(ND4C_KIND_FLOAT, number, y->dtype);
  }
  nd4c_value_store(y->dtype, y->data, offset, number);
}

void nd4c_ref_cast_float8(const nd4c_ref_cast_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
  for (int64_t flat = begin; flat < end; flat++) {
    nd4c_value value = nd4c_value_load(x->dtype, x->data, nd4c_ref_offset(x, y->rank, y->shape, flat));
    int64_t to = nd4c_ref_offset(y, y->rank, y->shape, flat);
    if (y->dtype == ND4C_FLOAT8_E8M0FNU) {
      double number = nd4c_value_cast(kind, value, ND4C_FLOAT32).f; /* not rounded before it is stored */
      y->data[to] = (char)nd4c_float8_e8m0fnu_encode(number, args->rounding, args->saturate);
    } else if (args->saturate) {
      nd4c_value_store(y->dtype, y->data, to, nd4c_value_cast(kind, value, y->dtype));
    } else { /* float32 would round twice: only integers too long for a double need the care that casting to it takes */
      nd4c_value_store(y->dtype, y->data, to, nd4c_value_cast(kind, value, ND4C_FLOAT32));
    }
  }
}

/* -- element by element ------------------------------------------------------------------------------------------ */

/* Where the scale of an element lies. */
static int64_t parameter_offset(const nd4c_ref_quantization *args, const nd4c_ref_tensor *parameter, int64_t flat) {
  const nd4c_ref_tensor *x = &args->x;
  int64_t offset = 0;
  if (nd4c_ref_size(parameter) == 1) {
    return 0;
  }
  for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
    int64_t position = flat % x->shape[axis];
    flat /= x->shape[axis];
    if (args->block == 0) {
      offset += axis == args->axis ? position * parameter->strides[0] : 0;
    } else {
      offset += (axis == args->axis ? position / args->block : position) * parameter->strides[axis];
    }
  }
  return offset;
}

static double zero_point_of(const nd4c_ref_quantization *args, int64_t flat) {
  if (args->zero_point.data == NULL) {
    return 0;
  }
  return nd4c_ref_real(&args->zero_point, parameter_offset(args, &args->zero_point, flat));
}

/* NaN and infinities of the quotient: integers take NaN as 0 before the zero point is added. */
static double quantized(const nd4c_ref_quantization *args, double x, double scale, double zero_point) {
  double quotient = nd4c_ref_rounded(args->precision, nd4c_ref_rounded(args->precision, x) / scale);
  if (nd4c_reference_kind(args->y.dtype) == ND4C_KIND_FLOAT) {
    return quotient + zero_point;
  }
  return quotient != quotient ? zero_point : nearbyint(quotient) + zero_point;
}

void nd4c_ref_quantize(const nd4c_ref_quantization *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  for (int64_t flat = begin; flat < end; flat++) {
    double number = nd4c_ref_real(x, nd4c_ref_offset(x, x->rank, x->shape, flat));
    double scale =
        nd4c_ref_rounded(args->precision, nd4c_ref_real(&args->scale, parameter_offset(args, &args->scale, flat)));
    double value = quantized(args, number, scale, zero_point_of(args, flat));
    nd4c_ref_store_quantized(y, nd4c_ref_offset(y, y->rank, y->shape, flat), value, args->saturate);
  }
}

void nd4c_ref_dequantize(const nd4c_ref_quantization *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  for (int64_t flat = begin; flat < end; flat++) {
    double number = nd4c_ref_real(x, nd4c_ref_offset(x, x->rank, x->shape, flat));
    double scale = nd4c_ref_real(&args->scale, parameter_offset(args, &args->scale, flat));
    nd4c_ref_store(y, nd4c_ref_offset(y, y->rank, y->shape, flat), (number - zero_point_of(args, flat)) * scale);
  }
}

/* -- floats and bytes in C order --------------------------------------------------------------------------------- */

static bool is_byte(nd4c_dtype dtype) {
  return dtype == ND4C_INT8 || dtype == ND4C_UINT8;
}

bool nd4c_ref_quantize_is_plain(const nd4c_ref_quantization *args) {
  return args->x.dtype == ND4C_FLOAT32 && args->precision == ND4C_FLOAT32 && is_byte(args->y.dtype) &&
         nd4c_ref_is_dense(&args->x) && nd4c_ref_is_dense(&args->y);
}

bool nd4c_ref_dequantize_is_plain(const nd4c_ref_quantization *args) {
  return is_byte(args->x.dtype) && args->y.dtype == ND4C_FLOAT32 && nd4c_ref_is_dense(&args->x) &&
         nd4c_ref_is_dense(&args->y);
}

/* Elements from `flat` on that share a scale. */
static int64_t run_length(const nd4c_ref_quantization *args, int64_t flat, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *scale = &args->scale;
  if (nd4c_ref_size(scale) == 1) {
    return end - flat;
  }
  int64_t inner = nd4c_ref_extent(x->rank - args->axis - 1, x->shape + args->axis + 1);
  int64_t left = inner - flat % inner;
  if (args->block > 0 && inner == 1) { /* along the last axis: to the end of the block or of the axis */
    int64_t extent = x->shape[args->axis], position = flat % extent;
    int64_t stop = (position / args->block + 1) * args->block;
    left = (stop < extent ? stop : extent) - position;
  } else if (args->block > 0) {
    left = 1; /* blocks across rows have scales of their own for each column */
  }
  return left < end - flat ? left : end - flat;
}

/* Adding and subtracting 1.5 * 2^23 rounds to the nearest whole number, ties to even; the quotient was bounded. */
static inline float to_whole(float x) {
  return (x + 12582912.0F) - 12582912.0F;
}

#define QUANTIZE_RUN(type, low, high)                                                                                \
  static void quantize_##type(int64_t n, const float *x, float scale, float zero_point, nd4c_c_##type *restrict y) { \
    for (int64_t i = 0; i < n; i++) {                                                                                \
      float q = x[i] / scale;                                                                                        \
      q = q != q ? 0 : q;                                                                                            \
      q = q < -1024 ? -1024 : q > 1024 ? 1024 : q;                                                                   \
      q = to_whole(q) + zero_point;                                                                                  \
      y[i] = (nd4c_c_##type)(q < (low) ? (low) : q > (high) ? (high) : q);                                           \
    }                                                                                                                \
  }
QUANTIZE_RUN(int8, -128, 127)
QUANTIZE_RUN(uint8, 0, 255)

void nd4c_ref_quantize_plain(const nd4c_ref_quantization *args, int64_t begin, int64_t end) {
  const float *x = (const float *)(const void *)args->x.data;
  for (int64_t flat = begin; flat < end;) {
    int64_t n = run_length(args, flat, end);
    double scale = nd4c_ref_real(&args->scale, parameter_offset(args, &args->scale, flat));
    float zero_point = (float)zero_point_of(args, flat);
    if (args->y.dtype == ND4C_INT8) {
      quantize_int8(n, x + flat, (float)scale, zero_point, (int8_t *)args->y.data + flat);
    } else {
      quantize_uint8(n, x + flat, (float)scale, zero_point, (uint8_t *)args->y.data + flat);
    }
    flat += n;
  }
}

#define DEQUANTIZE_RUN(type)                                                                         \
  static void dequantize_##type(int64_t n, const nd4c_c_##type *x, double scale, int32_t zero_point, \
                                float *restrict y) {                                                 \
    for (int64_t i = 0; i < n; i++)                                                                  \
      y[i] = (float)((double)(x[i] - zero_point) * scale);                                           \
  }
DEQUANTIZE_RUN(int8)
DEQUANTIZE_RUN(uint8)

void nd4c_ref_dequantize_plain(const nd4c_ref_quantization *args, int64_t begin, int64_t end) {
  float *y = (float *)(void *)args->y.data;
  for (int64_t flat = begin; flat < end;) {
    int64_t n = run_length(args, flat, end);
    double scale = nd4c_ref_real(&args->scale, parameter_offset(args, &args->scale, flat));
    int32_t zero_point = (int32_t)zero_point_of(args, flat);
    if (args->x.dtype == ND4C_INT8) {
      dequantize_int8(n, (const int8_t *)args->x.data + flat, scale, zero_point, y + flat);
    } else {
      dequantize_uint8(n, (const uint8_t *)args->x.data + flat, scale, zero_point, y + flat);
    }
    flat += n;
  }
}

/* -- ranges ------------------------------------------------------------------------------------------------------ */

void nd4c_ref_dynamic_range(const nd4c_ref_tensor *x, float *scale, uint8_t *zero_point) {
  float low = 0, high = 0;
  for (int64_t flat = 0; flat < nd4c_ref_size(x); flat++) {
    float value = (float)nd4c_ref_load(x, nd4c_ref_offset(x, x->rank, x->shape, flat));
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  *scale = (low == high ? 1.0F : high - low) / 255.0F;
  float zero = 0.0F - low / *scale;
  *zero_point = (uint8_t)(zero != zero || zero < 0 ? 0 : zero > 255 ? 255 : nearbyint((double)zero));
}

nd4c_ref_fake_grid nd4c_ref_fake_grid_of(double low, double high, int bits, bool narrow_range) {
  nd4c_ref_fake_grid grid = {.first = narrow_range ? 1 : 0, .last = ldexp(1, bits) - 1};
  grid.scale = (high - low) / (grid.last - grid.first);
  double zero = grid.first - low / grid.scale;
  grid.zero = zero < grid.first ? grid.first : zero > grid.last ? grid.last : nearbyint(zero);
  return grid;
}

static double fake_quantized(double x, const nd4c_ref_fake_grid *grid) {
  if (!(grid->scale > 0)) {
    return x != x ? x : 0;
  }
  double step = nearbyint(x / grid->scale) + grid->zero;
  step = step < grid->first ? grid->first : step > grid->last ? grid->last : step;
  return x != x ? x : (step - grid->zero) * grid->scale;
}

void nd4c_ref_fake_quantize(const nd4c_ref_fake_quantization *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  for (int64_t flat = begin; flat < end; flat++) {
    double low = nd4c_ref_load(&args->low, nd4c_ref_offset(&args->low, x->rank, x->shape, flat));
    double high = nd4c_ref_load(&args->high, nd4c_ref_offset(&args->high, x->rank, x->shape, flat));
    double value = nd4c_ref_load(x, nd4c_ref_offset(x, x->rank, x->shape, flat));
    nd4c_ref_fake_grid grid = nd4c_ref_fake_grid_of(low, high, args->bits, args->narrow_range);
    nd4c_ref_store(y, nd4c_ref_offset(y, y->rank, y->shape, flat), fake_quantized(value, &grid));
  }
}
