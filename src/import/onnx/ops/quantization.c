/* Quantisation, products and convolutions of quantised numbers. */
#include "base/status.h"
#include "import/onnx/emission/window.h"
#include "import/onnx/family.h"

/* An element type named by an attribute; NONE if it is not there or 0. */
static nd4c_status get_dtype(nd4c_onnx_emission *emission, const char *name, nd4c_dtype *dtype) {
  int64_t number = 0;
  *dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_onnx_get_int(emission, name, 0, &number));
  return number == 0 ? ND4C_OK : nd4c_onnx_dtype_resolve(number, dtype);
}

/* axis and block_size. An input of one axis has no other, whatever the default says. */
static nd4c_status get_grain(nd4c_onnx_emission *emission, nd4c_attr *attrs) {
  int64_t axis = 0, block = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 1, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "block_size", 0, &block));
  axis = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank == 1 ? 0 : axis;
  attrs[0] = nd4c_attr_of_int("axis", axis);
  attrs[1] = nd4c_attr_of_int("block_size", block);
  return ND4C_OK;
}

static nd4c_status emit_quantize(nd4c_onnx_emission *emission) {
  int64_t saturate = 0;
  nd4c_dtype dtype, precision;
  nd4c_attr attrs[5];
  ND4C_TRY(get_grain(emission, attrs));
  ND4C_TRY(get_dtype(emission, "output_dtype", &dtype));
  ND4C_TRY(get_dtype(emission, "precision", &precision));
  ND4C_TRY(nd4c_onnx_get_int(emission, "saturate", 1, &saturate));
  attrs[2] = nd4c_attr_of_dtype("dtype", dtype);
  attrs[3] = nd4c_attr_of_dtype("precision", precision);
  attrs[4] = nd4c_attr_of_bool("saturate", saturate != 0);
  return nd4c_emit(&emission->emitter, ND4C_OP_quantize_linear, emission->inputs, emission->input_count, attrs, 5,
                   &emission->outputs[0]);
}

static nd4c_status emit_dequantize(nd4c_onnx_emission *emission) {
  nd4c_dtype dtype;
  nd4c_attr attrs[3];
  ND4C_TRY(get_grain(emission, attrs));
  ND4C_TRY(get_dtype(emission, "output_dtype", &dtype));
  attrs[2] = nd4c_attr_of_dtype("dtype", dtype);
  return nd4c_emit(&emission->emitter, ND4C_OP_dequantize_linear, emission->inputs, emission->input_count, attrs, 3,
                   &emission->outputs[0]);
}

static nd4c_status emit_dynamic(nd4c_onnx_emission *emission) {
  return nd4c_emit_outputs(&emission->emitter, ND4C_OP_dynamic_quantize_linear, emission->inputs, 1, NULL, 0,
                           emission->outputs, 3);
}

static nd4c_status emit_byte_conv(nd4c_onnx_emission *emission) {
  int64_t groups = 0;
  nd4c_onnx_window window;
  nd4c_op op = emission->node->mapping->op;
  ND4C_TRY(nd4c_onnx_read_window(emission, &window));
  ND4C_TRY(nd4c_onnx_check_kernel_shape_of(emission, op == ND4C_OP_qlinear_conv ? 3 : 1));
  ND4C_TRY(nd4c_onnx_get_int(emission, "group", 1, &groups));
  window.attrs[window.count++] = nd4c_attr_of_int("groups", groups);
  return nd4c_emit(&emission->emitter, op, emission->inputs, emission->input_count, window.attrs, window.count,
                   &emission->outputs[0]);
}

#define ROWS                                                   \
  OP(QuantizeLinear, 10, LAST, 2, 3, 1, quantize, NONE)        \
  OP(DequantizeLinear, 10, LAST, 2, 3, 1, dequantize, NONE)    \
  OP(DynamicQuantizeLinear, 11, LAST, 1, 1, 3, dynamic, NONE)  \
  OP(MatMulInteger, 10, LAST, 2, 4, 1, direct, matmul_integer) \
  OP(QLinearMatMul, 10, LAST, 8, 8, 1, direct, qlinear_matmul) \
  OP(ConvInteger, 10, LAST, 2, 4, 1, byte_conv, conv_integer)  \
  OP(QLinearConv, 10, LAST, 8, 9, 1, byte_conv, qlinear_conv)

ND4C_ONNX_FAMILY(quantization, "", ROWS)
