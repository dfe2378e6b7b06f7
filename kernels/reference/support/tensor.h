/* Operands of the reference kernels that carry their shape, and their elements as numbers. The kernels' headers include
 * this, and backends/cpu/reference/reference.h, which makes them from a call's tensors. */
#ifndef ND4C_KERNELS_REFERENCE_SUPPORT_TENSOR_H
#define ND4C_KERNELS_REFERENCE_SUPPORT_TENSOR_H

#include <math.h>
#include <stddef.h>

#include "kernels/reference/support/value.h"

/* A strided operand. `data` is the address of element 0; a tensor without data is an optional input left out. */
typedef struct nd4c_ref_tensor {
  nd4c_dtype dtype;
  int32_t rank;
  const int64_t *shape;
  const int64_t *strides; /* elements */
  char *data;             /* inputs are never written */
} nd4c_ref_tensor;

/* Product of extents. */
static inline int64_t nd4c_ref_extent(int32_t rank, const int64_t *shape) {
  int64_t size = 1;
  for (int32_t axis = 0; axis < rank; axis++) {
    size *= shape[axis];
  }
  return size;
}

static inline int64_t nd4c_ref_size(const nd4c_ref_tensor *tensor) {
  return nd4c_ref_extent(tensor->rank, tensor->shape);
}

/* Whether a tensor lies in C order without gaps. */
static inline bool nd4c_ref_is_dense(const nd4c_ref_tensor *x) {
  int64_t stride = 1;
  for (int32_t axis = x->rank - 1; axis >= 0; stride *= x->shape[axis--]) {
    if (x->shape[axis] != 1 && x->strides[axis] != stride) {
      return false;
    }
  }
  return true;
}

/* Element at `offset` (elements) of a floating tensor. */
static inline double nd4c_ref_load(const nd4c_ref_tensor *tensor, int64_t offset) {
  return nd4c_value_load(tensor->dtype, tensor->data, offset).f;
}

static inline void nd4c_ref_store(const nd4c_ref_tensor *tensor, int64_t offset, double value) {
  nd4c_value_store(tensor->dtype, tensor->data, offset, (nd4c_value){.f = value});
}

/* Where element number `flat` (C order of `shape`) lies in a tensor that is broadcast to `shape`, in elements. */
static inline int64_t nd4c_ref_offset(const nd4c_ref_tensor *tensor, int32_t rank, const int64_t *shape, int64_t flat) {
  int64_t offset = 0;
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    int64_t position = flat % shape[axis];
    flat /= shape[axis];
    int32_t own = axis - (rank - tensor->rank);
    if (own >= 0 && tensor->shape[own] != 1) {
      offset += position * tensor->strides[own];
    }
  }
  return offset;
}

#endif
