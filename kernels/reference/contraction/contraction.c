/* Sums of products (contraction.h). backends/cpu/support/contraction.c calls these for engine reference and for BLAS.
 */
#include "kernels/reference/contraction/contraction.h"

#include "kernels/reference/support/runs.h"

nd4c_dtype nd4c_wide_dtype(nd4c_dtype dtype) {
  switch (nd4c_reference_kind(dtype)) {
    case ND4C_KIND_FLOAT:
      return ND4C_FLOAT64;
    case ND4C_KIND_COMPLEX:
      return ND4C_COMPLEX128;
    default:
      return ND4C_INT64;
  }
}

static bool is_complex(nd4c_dtype wide) {
  return wide == ND4C_COMPLEX128 || wide == ND4C_COMPLEX64;
}

static bool is_float(nd4c_dtype wide) {
  return wide == ND4C_FLOAT64 || wide == ND4C_FLOAT32;
}

/* An element as the wide number. Unsigned ones keep their bits. */
static nd4c_value wide_value(const nd4c_wide_load_args *args, nd4c_dtype_kind kind, int64_t offset) {
  nd4c_value value = nd4c_value_load(args->x.dtype, args->x.data, offset);
  if (kind == ND4C_KIND_COMPLEX) {
    value.c = args->conjugate ? conj(value.c) : value.c;
  } else if (is_float(args->wide)) {
    value = nd4c_value_cast(kind, value, ND4C_FLOAT64);
  } else if (is_complex(args->wide)) {
    value.c = nd4c_value_cast(kind, value, ND4C_FLOAT64).f;
  }
  return value;
}

/* What one result sums up. */
static nd4c_value summed_value(const nd4c_wide_load_args *args, nd4c_dtype_kind kind, int64_t offset) {
  int32_t kept = args->x.rank - args->summed;
  int64_t index[128] = {0};
  nd4c_value sum = {.c = 0};
  for (int32_t i = kept; i < args->x.rank; i++) {
    if (args->x.shape[i] == 0) {
      return sum;
    }
  }
  do {
    int64_t inner = nd4c_index_offset(args->summed, index, args->x.strides + kept);
    nd4c_value value = wide_value(args, kind, offset + inner);
    if (is_float(args->wide)) {
      sum.f += value.f;
    } else if (is_complex(args->wide)) {
      sum.c += value.c;
    } else {
      sum.u += value.u;
    }
  } while (nd4c_index_next(args->summed, args->x.shape + kept, index));
  return sum;
}

/* A run along the last kept axis where nothing is summed. */
static void load_run(const nd4c_wide_load_args *args, nd4c_dtype_kind kind, int64_t offset, int64_t step, int64_t count,
                     int64_t at) {
  const char *data = args->x.data;
  if (args->x.dtype == args->wide && !args->conjugate) {
    int64_t bytes = nd4c_reference_bytes(args->wide);
    nd4c_ref_read_raw(bytes, data, offset, step, count, (char *)args->to + at * bytes);
  } else if (args->x.dtype == ND4C_FLOAT32 && args->wide == ND4C_FLOAT64) {
    nd4c_ref_read_doubles(args->x.dtype, data, offset, step, count, (double *)args->to + at);
  } else {
    for (int64_t i = 0; i < count; i++) {
      nd4c_value_store(args->wide, args->to, at + i, wide_value(args, kind, offset + i * step));
    }
  }
}

void nd4c_wide_load(const nd4c_wide_load_args *args, int64_t begin, int64_t end) {
  int32_t kept = args->x.rank - args->summed;
  nd4c_dtype_kind kind = nd4c_reference_kind(args->x.dtype);
  int64_t row = kept > 0 ? args->x.shape[kept - 1] : 1;
  for (int64_t flat = begin; flat < end;) {
    int64_t offset = 0, rest = flat, first = flat % row, count = row - first < end - flat ? row - first : end - flat;
    for (int32_t axis = kept - 1; axis >= 0; axis--) {
      offset += rest % args->x.shape[axis] * args->x.strides[axis];
      rest /= args->x.shape[axis];
    }
    int64_t step = kept > 0 ? args->x.strides[kept - 1] : 0;
    if (args->summed == 0) {
      load_run(args, kind, offset, step, count, flat);
    } else {
      for (int64_t i = 0; i < count; i++) {
        nd4c_value_store(args->wide, args->to, flat + i, summed_value(args, kind, offset + i * step));
      }
    }
    flat += count;
  }
}

#define PRODUCT(number, MULTIPLY)                      \
  for (int64_t i = begin; i < end; i++) {              \
    number *row = (number *)c + i * n;                 \
    for (int64_t j = 0; j < n; j++) {                  \
      row[j] = 0;                                      \
    }                                                  \
    for (int64_t l = 0; l < k; l++) {                  \
      number factor = ((const number *)a)[i * k + l];  \
      const number *other = (const number *)b + l * n; \
      for (int64_t j = 0; j < n; j++) {                \
        row[j] += MULTIPLY(factor, other[j]);          \
      }                                                \
    }                                                  \
  }

static inline double complex multiply_complex(double complex a, double complex b) {
  return nd4c_complex_make(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}
#define MULTIPLY(a, b) ((a) * (b))

void nd4c_wide_product(nd4c_dtype wide, int64_t begin, int64_t end, int64_t n, int64_t k, const void *a, const void *b,
                       void *c) {
  if (wide == ND4C_FLOAT64) {
    PRODUCT(double, MULTIPLY)
  } else if (wide == ND4C_COMPLEX128) {
    PRODUCT(double complex, multiply_complex)
  } else if (wide == ND4C_FLOAT32) {
    PRODUCT(float, MULTIPLY)
  } else if (wide == ND4C_COMPLEX64) {
    PRODUCT(float complex, MULTIPLY)
  } else {
    PRODUCT(uint64_t, MULTIPLY)
  }
}

void nd4c_wide_store(nd4c_dtype wide, const void *from, const nd4c_ref_tensor *y, int64_t begin, int64_t end) {
  for (int64_t flat = begin; flat < end; flat++) {
    nd4c_value_store(y->dtype, y->data, nd4c_ref_offset(y, y->rank, y->shape, flat), nd4c_value_load(wide, from, flat));
  }
}

static nd4c_value converted(const nd4c_ref_tensor *x, int64_t offset, nd4c_dtype wide) {
  nd4c_wide_load_args args = {.x = *x, .wide = wide};
  return wide_value(&args, nd4c_reference_kind(x->dtype), offset);
}

void nd4c_ref_cross(const nd4c_ref_tensor *a, const nd4c_ref_tensor *b, const nd4c_ref_tensor *y,
                    const int64_t offsets[3], const int64_t steps[3]) {
  nd4c_dtype wide = nd4c_wide_dtype(y->dtype);
  nd4c_value u[3], v[3];
  for (int32_t i = 0; i < 3; i++) {
    u[i] = converted(a, offsets[0] + i * steps[0], wide);
    v[i] = converted(b, offsets[1] + i * steps[1], wide);
  }
  for (int32_t i = 0; i < 3; i++) {
    int32_t p = (i + 1) % 3, q = (i + 2) % 3;
    nd4c_value result = {.u = 0};
    if (wide == ND4C_FLOAT64) {
      result.f = u[p].f * v[q].f - u[q].f * v[p].f;
    } else if (wide == ND4C_COMPLEX128) {
      result.c = multiply_complex(u[p].c, v[q].c) - multiply_complex(u[q].c, v[p].c);
    } else {
      result.u = u[p].u * v[q].u - u[q].u * v[p].u;
    }
    nd4c_value_store(y->dtype, y->data, offsets[2] + i * steps[2], result);
  }
}
