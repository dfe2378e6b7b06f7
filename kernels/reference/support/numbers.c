#include "kernels/reference/support/numbers.h"

#include <string.h>

enum { MAX_RANK = 32 };

/* Visits the rows (last axes) of a tensor broadcast to a shape. */
typedef struct rows {
  int32_t rank;
  const int64_t *shape;
  int64_t strides[MAX_RANK], index[MAX_RANK];
  int64_t length, step, count;
} rows;

static rows rows_of(const nd4c_ref_tensor *x, int32_t rank, const int64_t *shape) {
  rows r = {.rank = rank > 0 ? rank - 1 : 0, .shape = shape, .length = 1, .step = 1};
  for (int32_t axis = 0; axis < rank; axis++) {
    int32_t own = axis - (rank - x->rank);
    r.strides[axis] = own < 0 || x->shape[own] != shape[axis] ? 0 : x->strides[own];
  }
  if (rank > 0) {
    r.length = shape[rank - 1];
    r.step = r.strides[rank - 1];
  }
  r.count = r.length > 0 ? nd4c_ref_extent(r.rank, shape) : 0;
  return r;
}

/* One row of the common dtypes without a call an element. memcpy: foreign memory need not be aligned. */
static void load_row(const nd4c_ref_tensor *x, int64_t offset, const rows *r, double *numbers) {
  if (x->dtype == ND4C_FLOAT32) {
    for (int64_t i = 0; i < r->length; i++) {
      float value;
      memcpy(&value, x->data + (offset + i * r->step) * (int64_t)sizeof value, sizeof value);
      numbers[i] = (double)value;
    }
  } else if (x->dtype == ND4C_FLOAT64) {
    for (int64_t i = 0; i < r->length; i++)
      memcpy(&numbers[i], x->data + (offset + i * r->step) * (int64_t)sizeof(double), sizeof(double));
  } else {
    nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
    for (int64_t i = 0; i < r->length; i++)
      numbers[i] = nd4c_value_cast(kind, nd4c_value_load(x->dtype, x->data, offset + i * r->step), ND4C_FLOAT64).f;
  }
}

static void store_row(const nd4c_ref_tensor *y, int64_t offset, const rows *r, const double *numbers) {
  if (y->dtype == ND4C_FLOAT32) {
    for (int64_t i = 0; i < r->length; i++) {
      float value = (float)numbers[i];
      memcpy(y->data + (offset + i * r->step) * (int64_t)sizeof value, &value, sizeof value);
    }
  } else {
    for (int64_t i = 0; i < r->length; i++)
      nd4c_ref_store(y, offset + i * r->step, numbers[i]);
  }
}

void nd4c_ref_numbers_load(const nd4c_ref_tensor *x, int32_t rank, const int64_t *shape, double *numbers) {
  rows r = rows_of(x, rank, shape);
  for (int64_t row = 0; row < r.count; row++) {
    load_row(x, nd4c_index_offset(r.rank, r.index, r.strides), &r, numbers + row * r.length);
    (void)nd4c_index_next(r.rank, r.shape, r.index);
  }
}

void nd4c_ref_numbers_store(const nd4c_ref_tensor *y, const double *numbers) {
  rows r = rows_of(y, y->rank, y->shape);
  for (int64_t row = 0; row < r.count; row++) {
    store_row(y, nd4c_index_offset(r.rank, r.index, r.strides), &r, numbers + row * r.length);
    (void)nd4c_index_next(r.rank, r.shape, r.index);
  }
}

void nd4c_ref_integers_load(const nd4c_ref_tensor *x, int64_t *integers) {
  rows r = rows_of(x, x->rank, x->shape);
  for (int64_t row = 0; row < r.count; row++) {
    int64_t offset = nd4c_index_offset(r.rank, r.index, r.strides);
    for (int64_t i = 0; i < r.length; i++)
      integers[row * r.length + i] = nd4c_value_load(x->dtype, x->data, offset + i * r.step).i;
    (void)nd4c_index_next(r.rank, r.shape, r.index);
  }
}

void nd4c_ref_integers_store(const nd4c_ref_tensor *y, const int64_t *integers) {
  rows r = rows_of(y, y->rank, y->shape);
  for (int64_t row = 0; row < r.count; row++) {
    int64_t offset = nd4c_index_offset(r.rank, r.index, r.strides);
    for (int64_t i = 0; i < r.length; i++)
      nd4c_value_store(y->dtype, y->data, offset + i * r.step, (nd4c_value){.i = integers[row * r.length + i]});
    (void)nd4c_index_next(r.rank, r.shape, r.index);
  }
}
