/* The window of a conv or pool call, from its attributes and shapes, for the reference, engine simd and oneDNN. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_WINDOW_H
#define ND4C_BACKENDS_CPU_SUPPORT_WINDOW_H

#include "backends/cpu/reference/reference.h"
#include "kernels/reference/window/window.h"

/* Positions of the attributes that say how windows lie; conv and pools differ. auto_pad -1: the op has none. */
typedef struct nd4c_cpu_window_attrs {
  int32_t strides, pads, dilations, auto_pad;
} nd4c_cpu_window_attrs;
#define ND4C_CPU_WINDOW_ATTRS(op) \
  {ND4C_ATTR_##op##_strides, ND4C_ATTR_##op##_pads, ND4C_ATTR_##op##_dilations, ND4C_ATTR_##op##_auto_pad}
#define ND4C_CPU_WINDOW_ATTRS_PADDED(op) \
  {ND4C_ATTR_##op##_strides, ND4C_ATTR_##op##_pads, ND4C_ATTR_##op##_dilations, -1}

/* Inference has checked the call: this only repeats its arithmetic. `kernel` has one extent for each spatial axis. */
void nd4c_cpu_window(const nd4c_call *call, nd4c_cpu_window_attrs at, const int64_t *kernel, nd4c_ref_window *window);
void nd4c_cpu_conv_window(const nd4c_call *call, nd4c_ref_window *window);
/* Of conv_transpose: pad_begin counts the cells cut off before the first; pad_end is not set. */
void nd4c_cpu_conv_transpose_window(const nd4c_call *call, nd4c_ref_window *window);
void nd4c_cpu_pool_window(const nd4c_call *call, nd4c_ref_window *window);

/* Elements from one cell of a channels-last image to the next, over all images. 0: cells are not equally far apart. */
int64_t nd4c_cpu_cell_step(const nd4c_tensor *x);
/* Each window of a conv sees the one cell of x at its own place. */
bool nd4c_cpu_sees_one_cell(const nd4c_ref_window *w, const nd4c_tensor *x, const nd4c_tensor *y);

/* Extents of x and y, with leading axes of extent 1 up to three; the same with a window. */
nd4c_ref_sweep nd4c_cpu_sweep(const nd4c_call *call);
nd4c_ref_sweep nd4c_cpu_sweep_with(const nd4c_call *call, const nd4c_ref_window *window);

/* Of max_pool_with_indices: converts the index of a cell in its plane, number `row`, to the numbering that the
 * attributes ask for; -1 stays. */
int64_t nd4c_cpu_pool_index(const nd4c_call *call, const nd4c_ref_sweep *s, int64_t row, int64_t index);

/* Of max_unpool: the extent of spatial axis i before the pool. If a call is not planar, its indices count in arrays of
 * these extents. */
int64_t nd4c_cpu_unpooled_extent(const nd4c_call *call, int32_t i);

#endif
