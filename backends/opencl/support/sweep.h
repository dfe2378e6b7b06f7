/* Windows over up to three spatial axes as sweep.cl takes them, for convolutions and pools (families/window_*.c). */
#ifndef ND4C_BACKENDS_OPENCL_SUPPORT_SWEEP_H
#define ND4C_BACKENDS_OPENCL_SUPPORT_SWEEP_H

#include "backends/opencl/support/reduction.h"

/* The same struct as in sweep.cl. Spatial axes stand last; missing first ones have extent 1 and stride 0. */
typedef struct nd4c_cl_sweep {
  int64_t batch, channels, outputs, groups;
  int64_t x[3], y[3], kernel[3], stride[3], dilation[3], pad[3], pad_end[3];
  int64_t x_strides[5], y_strides[5], w_strides[5], z_strides[5];
} nd4c_cl_sweep;

/* Positions of the attributes of a window. */
typedef struct nd4c_cl_window_attrs {
  int32_t strides, pads, dilations, auto_pad; /* auto_pad -1: there is none */
} nd4c_cl_window_attrs;

/* Extents and strides of input 0 and output 0, without a window (kernel, stride and dilation 1). */
void nd4c_cl_sweep_extents(const nd4c_call *call, nd4c_cl_sweep *sweep);
/* The same with the window of the attributes and these kernel extents. */
void nd4c_cl_sweep_window(const nd4c_call *call, nd4c_cl_window_attrs at, const int64_t *kernel, nd4c_cl_sweep *sweep);
/* Strides of an operand [n, c, spatial...] of `spatial` spatial axes, or of [c, spatial...] with `leading` 1; NULL: 0.
 */
void nd4c_cl_sweep_strides(const nd4c_tensor *tensor, int32_t leading, int64_t *strides);
/* Outputs, batch and channels and all. */
int64_t nd4c_cl_sweep_outputs(const nd4c_cl_sweep *sweep);

static inline int64_t nd4c_cl_list_at(const nd4c_attr_value *list, int32_t index, int64_t otherwise) {
  return index < list->count ? list->as.ints[index] : otherwise;
}

#endif
