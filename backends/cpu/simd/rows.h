/* Rows of x and y side by side, and grains of work, for the normalisations, pools, depthwise convolutions and scans of
 * engine simd. */
#ifndef ND4C_BACKENDS_CPU_SIMD_ROWS_H
#define ND4C_BACKENDS_CPU_SIMD_ROWS_H

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/window.h"
#include "kernels/types.h"

#define ND4C_SIMD_ROW_DTYPES (ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64))

static inline const nd4c_normalization_loops *nd4c_simd_row_loops(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT32 ? nd4c_simd.normalization->float32 : nd4c_simd.normalization->float64;
}

static inline int64_t nd4c_simd_row_bytes(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT32 ? 4 : 8;
}

/* Rows of x and y side by side: the axes that a kernel does not walk itself. */
typedef struct nd4c_simd_rows {
  int32_t rank;
  int64_t count;
  int64_t shape[ND4C_CPU_MAX_RANK], x_strides[ND4C_CPU_MAX_RANK], y_strides[ND4C_CPU_MAX_RANK];
} nd4c_simd_rows;

/* All axes of y except those for which `skip` has a bit; neighbouring axes that one stride can walk are merged. */
void nd4c_simd_rows_make(nd4c_simd_rows *rows, const nd4c_tensor *x, const nd4c_tensor *y, uint32_t skip);
/* Where row `index` starts, in elements. */
void nd4c_simd_rows_at(const nd4c_simd_rows *rows, int64_t index, int64_t *x_offset, int64_t *y_offset);

/* Axis `axis` lies without gaps. */
static inline bool nd4c_simd_dense_axis(const nd4c_tensor *tensor, int32_t axis) {
  return tensor->strides[axis] == 1 || tensor->shape[axis] == 1;
}

/* Length of the run that has no gaps in x and y: over the last axes, at most back to axis `first`. *skip gets the bits
 * of those axes. 0: the last axis has gaps. */
int64_t nd4c_simd_run(const nd4c_tensor *x, const nd4c_tensor *y, int32_t first, uint32_t *skip);

/* At least this many elements for a worker. */
static inline int64_t nd4c_simd_grain(int64_t elements_a_row) {
  int64_t rows = 16384 / (elements_a_row + 1);
  return rows > 1 ? rows : 1;
}

/* An element of f32 or bfloat16; `at` counts from the tensor's data. */
static inline float nd4c_cpu_wide_element(const nd4c_tensor *x, int64_t at) {
  return x->dtype == ND4C_FLOAT32 ? ((const float *)x->data)[at]
                                  : nd4c_bfloat16_to_float(((const uint16_t *)x->data)[at]);
}

#endif
