/* Compares an output with the expected one as ONNX's backend runner does, but integers exactly. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_cases.h"

/* Two units in the last place of bfloat16: what ONNX's runner allows for it. */
#define BFLOAT16_RTOL 0.015625

static void shape_text(const nd4c_array *array, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "%s [", nd4c_dtype_name(nd4c_array_dtype(array)));
  for (int32_t i = 0; i < nd4c_array_rank(array) && used + 24 < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i > 0 ? ", " : "", nd4c_array_shape(array)[i]);
  }
  (void)snprintf(text + used, size - used, "]");
}

static bool same_shape(const nd4c_array *a, const nd4c_array *b) {
  const int32_t rank = nd4c_array_rank(a);
  return rank == nd4c_array_rank(b) &&
         (rank == 0 || memcmp(nd4c_array_shape(a), nd4c_array_shape(b), (size_t)rank * sizeof(int64_t)) == 0);
}

static bool compare_texts(const nd4c_array *given, const nd4c_array *expected, char *reason) {
  for (int64_t i = 0; i < nd4c_array_size(expected); i++) {
    const char *a = NULL, *b = NULL;
    int64_t a_length = 0, b_length = 0;
    if (nd4c_array_string(given, i, &a, &a_length) != ND4C_OK ||
        nd4c_array_string(expected, i, &b, &b_length) != ND4C_OK) {
      (void)snprintf(reason, CASE_REASON, "%s", nd4c_error_message());
      return false;
    }
    if (a_length != b_length || memcmp(a, b, (size_t)a_length) != 0) {
      (void)snprintf(reason, CASE_REASON, "element %" PRId64 " is '%.*s', expected '%.*s'", i, (int)a_length, a,
                     (int)b_length, b);
      return false;
    }
  }
  return true;
}

/* All elements as `dtype` in C order; NULL if there is no memory or no such cast. */
static void *read_as(const nd4c_array *array, nd4c_dtype dtype) {
  const size_t bytes = (size_t)nd4c_array_size(array) * (size_t)nd4c_dtype_size(dtype);
  nd4c_array *cast = NULL;
  nd4c_status status = ND4C_OK;
  void *data = malloc(bytes + 1);
  if (data == NULL) {
    return NULL;
  }
  if (nd4c_array_dtype(array) != dtype) {
    status = nd4c_cast(array, dtype, &cast);
  }
  if (status == ND4C_OK) {
    status = nd4c_array_read(cast != NULL ? cast : array, data, bytes);
  }
  nd4c_array_release(cast);
  if (status != ND4C_OK) {
    free(data);
    return NULL;
  }
  return data;
}

static bool compare_integers(const uint64_t *a, const uint64_t *b, int64_t size, bool is_unsigned, char *reason) {
  for (int64_t i = 0; i < size; i++) {
    if (a[i] != b[i]) {
      (void)snprintf(reason, CASE_REASON,
                     is_unsigned ? "element %" PRId64 " is %" PRIu64 ", expected %" PRIu64
                                 : "element %" PRId64 " is %" PRId64 ", expected %" PRId64,
                     i, a[i], b[i]);
      return false;
    }
  }
  return true;
}

/* `parts` numbers an element: 2 for complex ones. */
static bool compare_numbers(const double *a, const double *b, int64_t size, int parts, double rtol, double atol,
                            char *reason) {
  double worst = 0;
  int64_t bad = 0, first = -1;
  for (int64_t i = 0; i < size; i++) {
    const double *x = a + i * parts, *y = b + i * parts;
    const double difference = parts == 2 ? hypot(x[0] - y[0], x[1] - y[1]) : fabs(x[0] - y[0]);
    const double magnitude = parts == 2 ? hypot(y[0], y[1]) : fabs(y[0]);
    const bool equal = x[0] == y[0] && (parts == 1 || x[1] == y[1]);
    const bool both_nan = isnan(x[0]) && isnan(y[0]);
    if (equal || both_nan || (difference <= atol + rtol * magnitude && isfinite(magnitude))) {
      continue;
    }
    first = first < 0 ? i : first;
    bad++;
    worst = fmax(worst, difference);
  }
  if (bad > 0) {
    (void)snprintf(reason, CASE_REASON,
                   "%" PRId64 " of %" PRId64 " differ, by up to %.3g; element %" PRId64 " is %.9g, expected %.9g", bad,
                   size, worst, first, a[first * parts], b[first * parts]);
  }
  return bad == 0;
}

bool case_same_type(const nd4c_array *given, const nd4c_array *expected, char *reason) {
  if (nd4c_array_dtype(given) == nd4c_array_dtype(expected) && same_shape(given, expected)) {
    return true;
  }
  char a[200], b[200];
  shape_text(given, a, sizeof a);
  shape_text(expected, b, sizeof b);
  (void)snprintf(reason, CASE_REASON, "it is %s, expected %s", a, b);
  return false;
}

static bool compare_arrays(const nd4c_array *given, const nd4c_array *expected, const onnx_case *one, char *reason) {
  const nd4c_dtype dtype = nd4c_array_dtype(expected);
  if (!case_same_type(given, expected, reason)) {
    return false;
  }
  if (dtype == ND4C_UTF8) {
    return compare_texts(given, expected, reason);
  }
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  const bool is_complex = info->kind == ND4C_KIND_COMPLEX;
  const bool floating = info->kind == ND4C_KIND_FLOAT || is_complex;
  const bool is_unsigned = dtype == ND4C_UINT64;
  const nd4c_dtype wide = is_complex    ? ND4C_COMPLEX128
                          : floating    ? ND4C_FLOAT64
                          : is_unsigned ? ND4C_UINT64
                                        : ND4C_INT64;
  void *a = read_as(given, wide), *b = read_as(expected, wide);
  bool same = false;
  if (a == NULL || b == NULL) {
    (void)snprintf(reason, CASE_REASON, "cannot be compared: %s", nd4c_error_message());
  } else if (floating) {
    const double rtol = dtype == ND4C_BFLOAT16 ? fmax(one->rtol, BFLOAT16_RTOL) : one->rtol;
    same = compare_numbers(a, b, nd4c_array_size(expected), is_complex ? 2 : 1, rtol, one->atol, reason);
  } else {
    same = compare_integers(a, b, nd4c_array_size(expected), is_unsigned, reason);
  }
  free(a);
  free(b);
  return same;
}

bool case_compare(const nd4c_datum *given, const nd4c_datum *expected, const onnx_case *one, char *reason) {
  static const char *const kinds[] = {"nothing", "an array", "a sequence", "an optional"};
  const nd4c_datum_kind kind = nd4c_datum_get_kind(expected);
  if (nd4c_datum_get_kind(given) != kind || nd4c_datum_count(given) != nd4c_datum_count(expected)) {
    (void)snprintf(reason, CASE_REASON, "it is %s of %d, expected %s of %d", kinds[nd4c_datum_get_kind(given)],
                   (int)nd4c_datum_count(given), kinds[kind], (int)nd4c_datum_count(expected));
    return false;
  }
  if (kind == ND4C_DATUM_ARRAY) {
    return compare_arrays(nd4c_datum_array(given), nd4c_datum_array(expected), one, reason);
  }
  for (int32_t i = 0; i < nd4c_datum_count(expected); i++) {
    if (!case_compare(nd4c_datum_item(given, i), nd4c_datum_item(expected, i), one, reason)) {
      return false;
    }
  }
  return true;
}
