/* Implements conv.h. backends/cpu/reference/window.c calls it. */
#include "kernels/reference/contraction/linear.h"
#include "kernels/reference/window/cells.h"

/* Sum of w * x over the window and the input channels of the group that the output channel belongs to. */
static double window_sum(const nd4c_ref_conv_args *args, const int64_t *position) {
  const nd4c_ref_tensor *x = &args->x, *w = &args->w;
  int64_t channels = w->shape[1];
  int64_t group = position[1] / (args->y.shape[1] / args->groups);
  int64_t cells = nd4c_ref_window_cells(&args->window);
  double sum = 0;
  for (int64_t cell = 0; cell < cells; cell++) {
    int64_t at[3], kernel_at[3];
    if (nd4c_ref_window_cell(&args->window, position + 2, cell, at) != ND4C_REF_INSIDE) {
      continue;
    }
    int64_t rest = cell;
    for (int32_t i = args->window.spatial - 1; i >= 0; i--) {
      kernel_at[i] = rest % args->window.kernel[i];
      rest /= args->window.kernel[i];
    }
    int64_t x_offset = position[0] * x->strides[0] + group * channels * x->strides[1] + nd4c_ref_spatial_offset(x, at);
    int64_t w_offset = position[1] * w->strides[0] + nd4c_ref_spatial_offset(w, kernel_at);
    for (int64_t c = 0; c < channels; c++) {
      sum += nd4c_ref_load(x, x_offset + c * x->strides[1]) * nd4c_ref_load(w, w_offset + c * w->strides[1]);
    }
  }
  return sum;
}

void nd4c_ref_conv(const nd4c_ref_conv_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *y = &args->y;
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t position[5] = {0};
    nd4c_ref_position(y, flat, position);
    double sum = window_sum(args, position);
    if (args->bias.data != NULL) {
      sum += nd4c_ref_load(&args->bias, position[1] * args->bias.strides[0]);
    }
    sum += nd4c_ref_addend(&args->addend, y, flat);
    nd4c_ref_store(y, nd4c_ref_offset(y, y->rank, y->shape, flat), nd4c_ref_activate(args->activation, sum));
  }
}
