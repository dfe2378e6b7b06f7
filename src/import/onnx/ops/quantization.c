/* Quantisation, products and convolutions of quantised numbers. emission/scope.c calls the emit functions through the
 * rows below. */
#include "base/status.h"
#include "import/onnx/emission/window.h"
#include "import/onnx/family.h"

/* The axis of an input of rank 1 is 0, although the attribute's default is 1. */
static nd4c_status emit_scaled(nd4c_onnx_emission *emission) {
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  if (nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank == 1) {
    attrs.list[0].value.as.i = 0;
  }
  return nd4c_onnx_emit_attrs(emission, emission->node->mapping->op, emission->inputs, emission->input_count, &attrs);
}

#define ROWS                                                                                              \
  READ(QuantizeLinear, 10, LAST, 2, 3, 1, scaled, quantize_linear, ATTR("axis", INT, "axis", 1),          \
       ATTR("block_size", INT, "block_size", 0), ATTR("output_dtype", DTYPE, "dtype", 0),                 \
       ATTR("precision", DTYPE, "precision", 0), ATTR("saturate", BOOL, "saturate", 1))                   \
  READ(DequantizeLinear, 10, LAST, 2, 3, 1, scaled, dequantize_linear, ATTR("axis", INT, "axis", 1),      \
       ATTR("block_size", INT, "block_size", 0), ATTR("output_dtype", DTYPE, "dtype", 0))                 \
  OP(DynamicQuantizeLinear, 11, LAST, 1, 1, 3, direct, dynamic_quantize_linear)                           \
  OP(MatMulInteger, 10, LAST, 2, 4, 1, direct, matmul_integer)                                            \
  OP(QLinearMatMul, 10, LAST, 8, 8, 1, direct, qlinear_matmul)                                            \
  READ(ConvInteger, 10, LAST, 2, 4, 1, conv, conv_integer, ND4C_ONNX_CONV_RULES, ND4C_ONNX_AUTO_PAD_RULE) \
  READ(QLinearConv, 10, LAST, 8, 9, 1, conv, qlinear_conv, ND4C_ONNX_CONV_RULES, ND4C_ONNX_AUTO_PAD_RULE)

ND4C_ONNX_FAMILY(quantization, "", ROWS)
