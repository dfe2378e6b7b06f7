/* nd4c_dtype_get_limits: limits of the dtypes, computed from the parameters of their formats. The Python package and
 * `nd4c selftest` call it. */
#include <math.h>
#include <stddef.h>

#include "base/status.h"
#include "nd4c/dtype.h"

/* A floating-point format: bits of the significand with the hidden one, the powers of two of the smallest normal and
 * the largest number, and whether it has subnormal numbers. Some formats use the `lost` largest significands for
 * NaN. */
typedef struct float_format {
  int precision, lowest, highest, lost;
  bool subnormal;
} float_format;

static bool format_of(nd4c_dtype dtype, float_format *format) {
  static const float_format formats[ND4C_DTYPE_END] = {
      [ND4C_FLOAT16] = {11, -14, 15, 0, true},          [ND4C_BFLOAT16] = {8, -126, 127, 0, true},
      [ND4C_FLOAT32] = {24, -126, 127, 0, true},        [ND4C_FLOAT64] = {53, -1022, 1023, 0, true},
      [ND4C_COMPLEX64] = {24, -126, 127, 0, true},      [ND4C_COMPLEX128] = {53, -1022, 1023, 0, true},
      [ND4C_FLOAT8_E4M3FN] = {4, -6, 8, 1, true},       [ND4C_FLOAT8_E4M3FNUZ] = {4, -7, 7, 0, true},
      [ND4C_FLOAT8_E5M2] = {3, -14, 15, 0, true},       [ND4C_FLOAT8_E5M2FNUZ] = {3, -15, 15, 0, true},
      [ND4C_FLOAT8_E8M0FNU] = {1, -127, 127, 0, false}, [ND4C_FLOAT4_E2M1FN] = {2, 0, 2, 0, true}};
  *format = formats[dtype];
  return format->precision > 0;
}

static void float_limits(nd4c_dtype dtype, const float_format *format, nd4c_dtype_limits *limits) {
  double ulp = ldexp(1, format->highest - format->precision + 1);
  limits->max = ldexp(1, format->highest) + (ldexp(1, format->highest) - ulp) - format->lost * ulp;
  limits->min = dtype == ND4C_FLOAT8_E8M0FNU ? ldexp(1, format->lowest) : -limits->max;
  limits->epsilon = ldexp(1, 1 - format->precision);
  limits->smallest_normal = ldexp(1, format->lowest);
  limits->smallest_subnormal =
      format->subnormal ? ldexp(1, format->lowest - format->precision + 1) : limits->smallest_normal;
}

static void integer_limits(const nd4c_dtype_info *info, nd4c_dtype_limits *limits) {
  int32_t digits = info->kind == ND4C_KIND_INT ? info->bits - 1 : info->kind == ND4C_KIND_BOOL ? 1 : info->bits;
  limits->integer_max = digits == 64 ? UINT64_MAX : (UINT64_C(1) << digits) - 1;
  limits->integer_min = info->kind == ND4C_KIND_INT ? -(int64_t)limits->integer_max - 1 : 0;
  limits->min = (double)limits->integer_min;
  limits->max = (double)limits->integer_max;
}

nd4c_status nd4c_dtype_get_limits(nd4c_dtype dtype, nd4c_dtype_limits *limits) {
  if (limits == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "dtype_get_limits: limits is NULL");
  }
  if (limits->struct_size != sizeof *limits) {
    return nd4c_fail(ND4C_ARGUMENT, "dtype_get_limits: struct_size is %u: set it to sizeof(nd4c_dtype_limits)",
                     limits->struct_size);
  }
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  if (info == NULL || info->kind == ND4C_KIND_STRING) {
    return nd4c_fail(ND4C_DTYPE, "dtype_get_limits: %s (%d) has no limits, expected a dtype of numbers or bool",
                     nd4c_dtype_name(dtype), (int)dtype);
  }
  float_format format;
  *limits = (nd4c_dtype_limits){.struct_size = sizeof *limits,
                                .bits = info->kind == ND4C_KIND_COMPLEX ? info->bits / 2 : info->bits};
  if (format_of(dtype, &format)) {
    float_limits(dtype, &format, limits);
  } else {
    integer_limits(info, limits);
  }
  return ND4C_OK;
}
