/* Compares results with the oracle's. */
#include <math.h>
#include <stdio.h>

#include "run.h"

/* One part of a number; size: the magnitude to which the tolerance relates. */
static bool part_is_right(nd4c_dtype dtype, double ulps, long double wanted, long double got, long double size) {
  if (isnan(wanted)) {
    return isnan(got);
  }
  long double rounded = cf_round(dtype, wanted);
  if (got == rounded) {
    return true;
  }
  if (isinf(rounded) || isnan(got) || isinf(got)) {
    /* Near the end of the range a result that may be off by more than half a place may fall to either side. */
    long double finite = isinf(got) ? wanted : got;
    return ulps > 0.5 && !isnan(got) && isinf(rounded) != isinf(got) && signbit(rounded) == signbit(got) &&
           !isinf(wanted) && isinf(cf_round(dtype, finite * 1.01L));
  }
  long double tolerance = (long double)(ulps * 1.01) * cf_ulp(dtype, fmaxl(fabsl(wanted), size));
  return ulps > 0 && fabsl(got - wanted) <= tolerance;
}

/* Zeros of the other sign where signs count. */
static bool signs_differ(const cf_expected *expected, cf_value wanted, cf_value got) {
  return expected->zero_signs && ((wanted.re == 0 && signbit(wanted.re) != signbit(got.re)) ||
                                  (wanted.im == 0 && signbit(wanted.im) != signbit(got.im)));
}

static bool is_right(const cf_record *record, const cf_expected *expected, int64_t i, cf_value got) {
  cf_value wanted = expected->values[i];
  nd4c_dtype dtype = expected->dtype;
  long double size = expected->scale != NULL ? expected->scale[i] : 0;
  if (signs_differ(expected, wanted, got)) {
    return false;
  }
  if (cf_is_complex(dtype)) {
    size = fmaxl(size, hypotl(wanted.re, wanted.im));
    return part_is_right(dtype, record->complex_ulps, wanted.re, got.re, size) &&
           part_is_right(dtype, record->complex_ulps, wanted.im, got.im, size);
  }
  if (cf_is_float(dtype)) {
    double ulps = record->op == ND4C_OP_abs ? fmax(record->ulps, record->complex_ulps) : record->ulps;
    return part_is_right(dtype, ulps, wanted.re, got.re, size);
  }
  return wanted.i == got.i;
}

static const char *check_form(const cf_expected *expected, const nd4c_array *result, char *text, size_t size) {
  int32_t rank = nd4c_array_rank(result);
  bool same = rank == expected->rank;
  for (int32_t i = 0; i < rank && same; i++) {
    same = nd4c_array_shape(result)[i] == expected->shape[i];
  }
  if (nd4c_array_dtype(result) != expected->dtype) {
    (void)snprintf(text, size, "dtype is %s, expected %s", nd4c_dtype_name(nd4c_array_dtype(result)),
                   nd4c_dtype_name(expected->dtype));
    return text;
  }
  if (!same) {
    (void)snprintf(text, size, "shape differs: rank %d of %lld elements, expected rank %d of %lld", rank,
                   (long long)nd4c_array_size(result), expected->rank, (long long)expected->size);
    return text;
  }
  return NULL;
}

const char *cf_check_result(const cf_record *record, const cf_expected *expected, const nd4c_array *result, char *text,
                            size_t size) {
  cf_tensor got = {0};
  if (check_form(expected, result, text, size) != NULL) {
    return text;
  }
  if (cf_array_read(result, &got) != ND4C_OK) {
    (void)snprintf(text, size, "reading the result: %s", nd4c_error_message());
    return text;
  }
  const char *problem = NULL;
  for (int64_t i = 0; i < got.size && problem == NULL; i++) {
    cf_value value = cf_get(&got, i);
    if (!is_right(record, expected, i, value)) {
      cf_value wanted = expected->values[i];
      (void)snprintf(text, size, "element %lld is %lld %.17Lg%+.17Lgi, expected %lld %.20Lg%+.20Lgi (scale %Lg)",
                     (long long)i, (long long)value.i, value.re, value.im, (long long)wanted.i, wanted.re, wanted.im,
                     expected->scale != NULL ? expected->scale[i] : 0);
      problem = text;
    }
  }
  cf_tensor_clear(&got);
  return problem;
}
