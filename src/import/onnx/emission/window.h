/* Rules and functions that convolutions and pools share: ops/window.c and ops/quantization.c include it. */
#ifndef ND4C_IMPORT_ONNX_EMISSION_WINDOW_H
#define ND4C_IMPORT_ONNX_EMISSION_WINDOW_H

#include "import/onnx/emission/attributes.h"

/* The words of auto_pad, in the order of ND4C_AUTO_PAD_TABLE. */
extern const char *const nd4c_onnx_auto_pads[];

/* Rules for rows of family.h. */
#define ND4C_ONNX_STEP_RULES ATTR("strides", INTS, "strides", 0), ATTR("pads", INTS, "pads", 0)
#define ND4C_ONNX_CONV_RULES \
  ND4C_ONNX_STEP_RULES, ATTR("dilations", INTS, "dilations", 0), ATTR("group", INT, "groups", 1)
#define ND4C_ONNX_AUTO_PAD_RULE WORDS("auto_pad", "auto_pad", 0, nd4c_onnx_auto_pads)
#define ND4C_ONNX_POOL_RULES                                                              \
  ND4C_ONNX_STEP_RULES, ATTR("dilations", INTS, "dilations", 0), ND4C_ONNX_AUTO_PAD_RULE, \
      ATTR("kernel_shape", INTS, "kernel", REQUIRED), ATTR("ceil_mode", BOOL, "ceil_mode", 0)

/* Refuses a kernel_shape that is not that of the weights, input `weights`. */
nd4c_status nd4c_onnx_check_kernel_shape(nd4c_onnx_emission *emission, int32_t weights);
/* The row's op on the node's inputs with the row's rules; the weights are input 3 of qlinear_conv, 1 of the others. */
#define emit_conv nd4c_onnx_emit_conv
nd4c_status nd4c_onnx_emit_conv(nd4c_onnx_emission *emission);

#endif
