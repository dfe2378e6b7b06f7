#include "kernels/reference/sorting/sorting.h"

enum { MAX_RANK = 32 };

static bool is_zero(nd4c_dtype_kind kind, nd4c_value value) {
  switch (kind) {
    case ND4C_KIND_FLOAT:
      return value.f == 0;
    case ND4C_KIND_COMPLEX:
      return value.c == 0;
    default:
      return value.u == 0;
  }
}

static bool is_empty(const nd4c_ref_tensor *x) {
  for (int32_t axis = 0; axis < x->rank; axis++) {
    if (x->shape[axis] == 0) {
      return true;
    }
  }
  return false;
}

int64_t nd4c_ref_count_nonzero(const nd4c_ref_tensor *x) {
  int64_t index[MAX_RANK] = {0};
  int64_t count = 0;
  nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
  if (is_empty(x)) {
    return 0;
  }
  do {
    int64_t offset = nd4c_index_offset(x->rank, index, x->strides);
    count += !is_zero(kind, nd4c_value_load(x->dtype, x->data, offset));
  } while (nd4c_index_next(x->rank, x->shape, index));
  return count;
}

void nd4c_ref_nonzero(const nd4c_ref_tensor *x, int64_t count, int64_t *y) {
  int64_t index[MAX_RANK] = {0};
  int64_t column = 0;
  nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
  if (count == 0) {
    return;
  }
  do {
    int64_t offset = nd4c_index_offset(x->rank, index, x->strides);
    if (!is_zero(kind, nd4c_value_load(x->dtype, x->data, offset))) {
      for (int32_t axis = 0; axis < x->rank || axis == 0; axis++) {
        y[axis * count + column] = index[axis];
      }
      column++;
    }
  } while (nd4c_index_next(x->rank, x->shape, index));
}

int64_t nd4c_ref_argwhere(const nd4c_ref_tensor *x, int64_t *y) {
  int64_t index[MAX_RANK] = {0};
  int64_t count = 0;
  nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
  if (is_empty(x)) {
    return 0;
  }
  do {
    int64_t offset = nd4c_index_offset(x->rank, index, x->strides);
    if (!is_zero(kind, nd4c_value_load(x->dtype, x->data, offset))) {
      for (int32_t axis = 0; axis < x->rank; axis++) {
        y[count * x->rank + axis] = index[axis];
      }
      count++;
    }
  } while (nd4c_index_next(x->rank, x->shape, index));
  return count;
}
