/* Attributes that convolutions and pools share. */
#ifndef ND4C_IO_ONNX_WINDOW_H
#define ND4C_IO_ONNX_WINDOW_H

#include "import/onnx/emission/emission.h"

/* As nd4c's ops take them; emit functions add their own. */
typedef struct nd4c_onnx_window {
  nd4c_attr attrs[12];
  int32_t count;
} nd4c_onnx_window;

/* Adds a list that ONNX calls `onnx`, if it is there. */
nd4c_status nd4c_onnx_window_ints(nd4c_onnx_emission *emission, const char *onnx, const char *name,
                                  nd4c_onnx_window *window);
/* strides, pads, dilations, auto_pad. */
nd4c_status nd4c_onnx_read_window(nd4c_onnx_emission *emission, nd4c_onnx_window *window);
/* The same with kernel_shape and ceil_mode. */
nd4c_status nd4c_onnx_read_pool(nd4c_onnx_emission *emission, nd4c_onnx_window *window);
/* Refuses a kernel_shape that is not that of the weights, input 1. */
nd4c_status nd4c_onnx_check_kernel_shape(nd4c_onnx_emission *emission);
/* The same for weights that are another input. */
nd4c_status nd4c_onnx_check_kernel_shape_of(nd4c_onnx_emission *emission, int32_t weights);

#endif
