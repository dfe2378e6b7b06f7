/* Walks over a window's cells inside the input. conv.c and quantization/product.c call it for each output. */
#ifndef ND4C_KERNELS_REFERENCE_WINDOW_CELLS_H
#define ND4C_KERNELS_REFERENCE_WINDOW_CELLS_H

#include "kernels/reference/window/conv.h"

/* Number of cells in a window. */
static inline int64_t nd4c_ref_window_cells(const nd4c_ref_window *window) {
  int64_t cells = 1;
  for (int32_t i = 0; i < window->spatial; i++) {
    cells *= window->kernel[i];
  }
  return cells;
}

typedef enum nd4c_ref_cell { ND4C_REF_INSIDE, ND4C_REF_PADDING, ND4C_REF_OUTSIDE } nd4c_ref_cell;

/* Cell number `cell` (C order) of the window at output position `output`: `input` gets its position in x. PADDING: in
 * the padding; OUTSIDE: past the padding too, where ceil_mode lets the last window hang over. */
static inline nd4c_ref_cell nd4c_ref_window_cell(const nd4c_ref_window *window, const int64_t *output, int64_t cell,
                                                 int64_t *input) {
  nd4c_ref_cell result = ND4C_REF_INSIDE;
  for (int32_t i = window->spatial - 1; i >= 0; i--) {
    int64_t k = cell % window->kernel[i];
    cell /= window->kernel[i];
    input[i] = output[i] * window->stride[i] - window->pad_begin[i] + k * window->dilation[i];
    if (input[i] >= window->input[i] + window->pad_end[i]) {
      result = ND4C_REF_OUTSIDE;
    } else if ((input[i] < 0 || input[i] >= window->input[i]) && result == ND4C_REF_INSIDE) {
      result = ND4C_REF_PADDING;
    }
  }
  return result;
}

/* Position of element number `flat` of y [n, c, spatial...]. */
static inline void nd4c_ref_position(const nd4c_ref_tensor *y, int64_t flat, int64_t *position) {
  for (int32_t axis = y->rank - 1; axis >= 0; axis--) {
    position[axis] = flat % y->shape[axis];
    flat /= y->shape[axis];
  }
}

/* Offset of the spatial position `at` in x [n, c, spatial...]. */
static inline int64_t nd4c_ref_spatial_offset(const nd4c_ref_tensor *x, const int64_t *at) {
  int64_t offset = 0;
  for (int32_t i = 0; i < x->rank - 2; i++) {
    offset += at[i] * x->strides[i + 2];
  }
  return offset;
}

#endif
