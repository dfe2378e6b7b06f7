/* The floats of complex numbers as arrays of floats in the same memory, for elementwise_complex.c and
 * ../reduction.c. */
#ifndef ND4C_BACKENDS_CPU_SIMD_FLOATS_H
#define ND4C_BACKENDS_CPU_SIMD_FLOATS_H

#include "backends/cpu/simd/simd.h"

/* All of them, the parts along one more axis, or one part of each number. */
typedef struct nd4c_simd_floats {
  nd4c_tensor tensor;
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
} nd4c_simd_floats;

enum { ND4C_SIMD_EVERY_PART = -1 };

/* The dtype of the parts. */
static inline nd4c_dtype nd4c_simd_part_dtype(nd4c_dtype dtype) {
  return dtype == ND4C_COMPLEX64 ? ND4C_FLOAT32 : dtype == ND4C_COMPLEX128 ? ND4C_FLOAT64 : dtype;
}

static inline void nd4c_simd_view_floats(const nd4c_tensor *x, int32_t part, nd4c_simd_floats *view) {
  view->tensor = *x;
  view->tensor.dtype = nd4c_simd_part_dtype(x->dtype);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    view->shape[axis] = x->shape[axis];
    view->strides[axis] = 2 * x->strides[axis];
  }
  if (part == ND4C_SIMD_EVERY_PART) {
    view->shape[x->rank] = 2;
    view->strides[x->rank] = 1;
    view->tensor.rank = x->rank + 1;
    view->tensor.size = 2 * x->size;
  } else {
    view->tensor.flags = 0;
    view->tensor.data = (char *)x->data + part * nd4c_cpu_dtype_bytes(view->tensor.dtype);
  }
  view->tensor.shape = view->shape;
  view->tensor.strides = view->strides;
}

#endif
