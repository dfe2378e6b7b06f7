/* Matrices from tensors into columns of double, and back. backends/cpu/support/decomposition.c calls these before and
 * after the algorithms. */
#include "kernels/reference/decomposition/decomposition.h"
#include "kernels/types.h"

#define LOAD_COLUMN(type, number)                                          \
  for (int64_t i = 0; i < from->rows; i++) {                               \
    type x;                                                                \
    memcpy(&x, data + i * from->row_stride * (int64_t)sizeof x, sizeof x); \
    ((number *)to)[j * from->rows + i] = x;                                \
  }

static void load_column_real(const nd4c_dense_place *from, int64_t j, double *to) {
  const char *data = from->data + j * from->column_stride * nd4c_reference_bytes(from->dtype);
  if (from->dtype == ND4C_FLOAT32) {
    LOAD_COLUMN(float, double)
  } else if (from->dtype == ND4C_FLOAT64) {
    LOAD_COLUMN(double, double)
  } else {
    nd4c_dtype_kind kind = nd4c_reference_kind(from->dtype);
    for (int64_t i = 0; i < from->rows; i++) {
      nd4c_value value = nd4c_value_load(from->dtype, data, i * from->row_stride);
      to[j * from->rows + i] = nd4c_value_cast(kind, value, ND4C_FLOAT64).f;
    }
  }
}

static void load_column_complex(const nd4c_dense_place *from, int64_t j, double complex *to) {
  const char *data = from->data + j * from->column_stride * nd4c_reference_bytes(from->dtype);
  nd4c_dtype_kind kind = nd4c_reference_kind(from->dtype);
  for (int64_t i = 0; i < from->rows; i++) {
    nd4c_value value = nd4c_value_load(from->dtype, data, i * from->row_stride);
    to[j * from->rows + i] = kind == ND4C_KIND_COMPLEX ? value.c : nd4c_value_cast(kind, value, ND4C_FLOAT64).f;
  }
}

void nd4c_dense_load(const nd4c_dense_place *from, bool complex_numbers, void *to) {
  for (int64_t j = 0; j < from->columns; j++) {
    if (complex_numbers) {
      load_column_complex(from, j, to);
    } else {
      load_column_real(from, j, to);
    }
  }
}

#define STORE_COLUMN(type)                                               \
  for (int64_t i = 0; i < to->rows; i++) {                               \
    type x = (type)from[j * to->rows + i];                               \
    memcpy(data + i * to->row_stride * (int64_t)sizeof x, &x, sizeof x); \
  }

static void store_column_real(const nd4c_dense_place *to, int64_t j, const double *from) {
  char *data = to->data + j * to->column_stride * nd4c_reference_bytes(to->dtype);
  if (to->dtype == ND4C_FLOAT32) {
    STORE_COLUMN(float)
  } else if (to->dtype == ND4C_FLOAT64) {
    STORE_COLUMN(double)
  } else {
    for (int64_t i = 0; i < to->rows; i++) {
      double x = from[j * to->rows + i];
      nd4c_value value = {.f = x};
      if (nd4c_reference_kind(to->dtype) == ND4C_KIND_COMPLEX) {
        value.c = nd4c_complex_make(x, 0);
      } else if (nd4c_reference_kind(to->dtype) == ND4C_KIND_INT) {
        value.i = (int64_t)x;
      }
      nd4c_value_store(to->dtype, data, i * to->row_stride, value);
    }
  }
}

static void store_column_complex(const nd4c_dense_place *to, int64_t j, const double complex *from) {
  char *data = to->data + j * to->column_stride * nd4c_reference_bytes(to->dtype);
  bool real = nd4c_reference_kind(to->dtype) == ND4C_KIND_FLOAT;
  for (int64_t i = 0; i < to->rows; i++) {
    double complex x = from[j * to->rows + i];
    nd4c_value value = {.c = x};
    if (real) {
      value.f = creal(x);
    }
    nd4c_value_store(to->dtype, data, i * to->row_stride, value);
  }
}

void nd4c_dense_store(const nd4c_dense_place *to, bool complex_numbers, const void *from) {
  for (int64_t j = 0; j < to->columns; j++) {
    if (complex_numbers) {
      store_column_complex(to, j, from);
    } else {
      store_column_real(to, j, from);
    }
  }
}

/* Sums side by side, so that none waits for another. */
#define IS_FINITE(type)                       \
  enum { SUMS = 128 / sizeof(type) };         \
  type sums[SUMS] = {0}, sum = 0;             \
  int64_t whole = count / SUMS * SUMS;        \
  for (int64_t i = 0; i < whole; i += SUMS) { \
    for (int64_t k = 0; k < SUMS; k++) {      \
      sums[k] += x[i + k] * 0;                \
    }                                         \
  }                                           \
  for (int64_t i = whole; i < count; i++) {   \
    sums[i - whole] += x[i] * 0;              \
  }                                           \
  for (int64_t k = 0; k < SUMS; k++) {        \
    sum += sums[k];                           \
  }                                           \
  return sum == 0;

bool nd4c_dense_is_finite(int64_t count, const double *x) {
  IS_FINITE(double)
}

bool nd4c_dense_is_finite_single(int64_t count, const float *x) {
  IS_FINITE(float)
}
