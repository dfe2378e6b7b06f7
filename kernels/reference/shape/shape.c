/* reshape and gather (shape.h). Engine reference calls these. */
#include "kernels/reference/shape/shape.h"

#include "kernels/reference/elementwise/elementwise.h"

static bool is_empty(int32_t rank, const int64_t *shape) {
  for (int32_t axis = 0; axis < rank; axis++) {
    if (shape[axis] == 0) {
      return true;
    }
  }
  return false;
}

void nd4c_reference_reshape(const nd4c_operand *x, int32_t x_rank, const int64_t *x_shape, const nd4c_operand *y,
                            int32_t y_rank, const int64_t *y_shape) {
  int64_t from[ND4C_REFERENCE_MAX_RANK] = {0}, to[ND4C_REFERENCE_MAX_RANK] = {0};
  bool more = !is_empty(x_rank, x_shape);
  while (more) {
    nd4c_value_move(x->dtype, x->data, nd4c_index_offset(x_rank, from, x->strides), y->data,
                    nd4c_index_offset(y_rank, to, y->strides));
    more = nd4c_index_next(x_rank, x_shape, from) && nd4c_index_next(y_rank, y_shape, to);
  }
}

/* The index in the range of int64; a uint64 too large for it stays out of every range. */
static int64_t load_index(const nd4c_operand *indices, int64_t offset) {
  nd4c_value value = nd4c_value_load(indices->dtype, indices->data, offset);
  return nd4c_reference_kind(indices->dtype) == ND4C_KIND_UINT && value.i < 0 ? INT64_MAX : value.i;
}

bool nd4c_reference_find_bad_index(const nd4c_operand *indices, int32_t rank, const int64_t *shape, int64_t extent,
                                   int64_t *bad) {
  int64_t index[ND4C_REFERENCE_MAX_RANK] = {0};
  if (is_empty(rank, shape)) {
    return false;
  }
  do {
    int64_t value = load_index(indices, nd4c_index_offset(rank, index, indices->strides));
    if (value < -extent || value >= extent) {
      *bad = value;
      return true;
    }
  } while (nd4c_index_next(rank, shape, index));
  return false;
}

void nd4c_reference_gather(const nd4c_operand *x, const int64_t *x_shape, const nd4c_operand *indices, int32_t axis,
                           int32_t index_rank, const nd4c_operand *y, int32_t y_rank, const int64_t *y_shape) {
  int64_t index[ND4C_REFERENCE_MAX_RANK] = {0};
  if (is_empty(y_rank, y_shape)) {
    return;
  }
  int32_t after = axis + index_rank; /* first axis of y behind the indices' */
  do {
    int64_t chosen = load_index(indices, nd4c_index_offset(index_rank, index + axis, indices->strides));
    if (chosen < 0) {
      chosen += x_shape[axis];
    }
    int64_t offset = nd4c_index_offset(axis, index, x->strides) + chosen * x->strides[axis] +
                     nd4c_index_offset(y_rank - after, index + after, x->strides + axis + 1);
    nd4c_value_move(x->dtype, x->data, offset, y->data, nd4c_index_offset(y_rank, index, y->strides));
  } while (nd4c_index_next(y_rank, y_shape, index));
}
