/* Compares what a device computed with what the reference did (selftest.h). selftest.c and the sections of
 * plugin_check/ call it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "selftest.h"

/* Units in the last place by which real results may differ: a sum of some dozen terms, in another order. They relate to
 * the element, or to this part of the largest where terms cancel. The op records (tests/conformance) are stricter. */
static const double allowed_units = 64, part_of_largest = 1.0 / 32;

static bool is_real(nd4c_dtype dtype) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  return info != NULL && (info->kind == ND4C_KIND_FLOAT || info->kind == ND4C_KIND_COMPLEX);
}

static bool same_shape(const nd4c_array *a, const nd4c_array *b) {
  const int32_t rank = nd4c_array_rank(a);
  bool same = rank == nd4c_array_rank(b);
  for (int32_t i = 0; same && i < rank; i++) {
    same = nd4c_array_shape(a)[i] == nd4c_array_shape(b)[i];
  }
  return same;
}

/* All elements in C order; NULL with the library's error if they cannot be had. */
static unsigned char *read_all(const nd4c_array *array, size_t *bytes) {
  *bytes = (size_t)nd4c_dtype_bytes(nd4c_array_dtype(array), nd4c_array_size(array));
  unsigned char *data = malloc(*bytes + 1);
  if (data != NULL && nd4c_array_read(array, data, *bytes) != ND4C_OK) {
    free(data);
    return NULL;
  }
  return data;
}

/* The parts of real and complex elements as double; float16 and bfloat16 through a cast on the host. */
static double *read_reals(nd4c_context *host, const nd4c_array *array, int64_t *count) {
  const nd4c_dtype dtype = nd4c_array_dtype(array);
  const bool is_complex = dtype == ND4C_COMPLEX64 || dtype == ND4C_COMPLEX128;
  nd4c_array *near = NULL, *wide = NULL;
  double *reals = NULL;
  size_t bytes = 0;
  if (nd4c_array_to_device(array, nd4c_context_device(host), &near) == ND4C_OK &&
      nd4c_cast_on(host, near, is_complex ? ND4C_COMPLEX128 : ND4C_FLOAT64, &wide) == ND4C_OK) {
    reals = (double *)(void *)read_all(wide, &bytes);
  }
  nd4c_array_release(near);
  nd4c_array_release(wide);
  *count = (int64_t)(bytes / sizeof(double));
  return reals;
}

static bool same_real(double wanted, double got, double allowed) {
  if (isnan(wanted) || isnan(got)) {
    return isnan(wanted) && isnan(got);
  }
  if (isinf(wanted) || isinf(got)) {
    return wanted == got;
  }
  return wanted == got || fabs(wanted - got) <= allowed;
}

static const char *compare_reals(nd4c_context *host, const nd4c_array *wanted, const nd4c_array *got, char *text,
                                 size_t size) {
  nd4c_dtype_limits limits = {.struct_size = sizeof limits};
  int64_t count = 0, got_count = 0;
  double *w = read_reals(host, wanted, &count), *g = read_reals(host, got, &got_count), largest = 0;
  const char *problem = NULL;
  if (w == NULL || g == NULL || nd4c_dtype_get_limits(nd4c_array_dtype(wanted), &limits) != ND4C_OK) {
    (void)snprintf(text, size, "reading the result: %s", nd4c_error_message());
    problem = text;
  }
  for (int64_t i = 0; problem == NULL && i < count; i++) {
    largest = isfinite(w[i]) && fabs(w[i]) > largest ? fabs(w[i]) : largest;
  }
  for (int64_t i = 0; problem == NULL && i < count; i++) {
    const double size_of = fmax(fabs(w[i]), largest * part_of_largest);
    const double allowed = allowed_units * limits.epsilon * size_of + limits.smallest_normal;
    if (!same_real(w[i], g[i], allowed)) {
      (void)snprintf(text, size, "element %" PRId64 " is %.9g, expected %.9g", i, g[i], w[i]);
      problem = text;
    }
  }
  free(w);
  free(g);
  return problem;
}

static const char *compare_bytes(const nd4c_array *wanted, const nd4c_array *got, char *text, size_t size) {
  size_t bytes = 0, got_bytes = 0;
  unsigned char *w = read_all(wanted, &bytes), *g = read_all(got, &got_bytes);
  const char *problem = NULL;
  if (w == NULL || g == NULL) {
    (void)snprintf(text, size, "reading the result: %s", nd4c_error_message());
    problem = text;
  }
  const size_t element = (size_t)nd4c_dtype_size(nd4c_array_dtype(wanted));
  for (size_t i = 0; problem == NULL && i < bytes; i++) {
    if (w[i] != g[i]) {
      (void)snprintf(text, size, "element %zu differs (integers and bools must be equal)",
                     element > 0 ? i / element : i);
      problem = text;
    }
  }
  free(w);
  free(g);
  return problem;
}

const char *selftest_difference(nd4c_context *host, const nd4c_array *wanted, const nd4c_array *got, char *text,
                                size_t size) {
  if (nd4c_array_dtype(wanted) != nd4c_array_dtype(got)) {
    (void)snprintf(text, size, "dtype is %s, expected %s", nd4c_dtype_name(nd4c_array_dtype(got)),
                   nd4c_dtype_name(nd4c_array_dtype(wanted)));
    return text;
  }
  if (!same_shape(wanted, got)) {
    char have[128], want[128];
    (void)snprintf(text, size, "shape is %s, expected %s",
                   cli_shape_text(nd4c_array_rank(got), nd4c_array_shape(got), NULL, have, sizeof have),
                   cli_shape_text(nd4c_array_rank(wanted), nd4c_array_shape(wanted), NULL, want, sizeof want));
    return text;
  }
  return is_real(nd4c_array_dtype(wanted)) ? compare_reals(host, wanted, got, text, size)
                                           : compare_bytes(wanted, got, text, size);
}
