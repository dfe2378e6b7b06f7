/* Implements rows.h: merges the axes that a kernel does not walk itself, and finds where a row starts. normalization.c
 * and statistics_scan.c call it. */
#include "backends/cpu/simd/rows.h"

void nd4c_simd_rows_make(nd4c_simd_rows *rows, const nd4c_tensor *x, const nd4c_tensor *y, uint32_t skip) {
  rows->rank = 0;
  rows->count = 1;
  for (int32_t axis = 0; axis < y->rank; axis++) {
    if ((skip >> axis & 1) == 0 && y->shape[axis] != 1) {
      int64_t length = y->shape[axis], x_stride = x->strides[axis], y_stride = y->strides[axis];
      int32_t last = rows->rank - 1;
      bool merges =
          last >= 0 && rows->x_strides[last] == x_stride * length && rows->y_strides[last] == y_stride * length;
      if (!merges) {
        rows->shape[last = rows->rank++] = 1;
      }
      rows->shape[last] *= length;
      rows->x_strides[last] = x_stride;
      rows->y_strides[last] = y_stride;
      rows->count *= length;
    }
  }
}

void nd4c_simd_rows_at(const nd4c_simd_rows *rows, int64_t index, int64_t *x_offset, int64_t *y_offset) {
  int64_t x = 0, y = 0;
  for (int32_t axis = rows->rank - 1; axis >= 0; axis--) {
    int64_t position = axis > 0 ? index % rows->shape[axis] : index;
    index /= rows->shape[axis];
    x += position * rows->x_strides[axis];
    y += position * rows->y_strides[axis];
  }
  *x_offset = x;
  *y_offset = y;
}

int64_t nd4c_simd_run(const nd4c_tensor *x, const nd4c_tensor *y, int32_t first, uint32_t *skip) {
  int64_t run = 1;
  int32_t axis = y->rank - 1;
  *skip = 0;
  for (; axis >= first; axis--) {
    if (y->shape[axis] != 1 && (x->strides[axis] != run || y->strides[axis] != run)) {
      break;
    }
    run *= y->shape[axis];
    *skip |= 1u << axis;
  }
  return axis == y->rank - 1 && y->rank > first ? 0 : run;
}
