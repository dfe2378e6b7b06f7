/* Implements window.h. The rows of conv in ops/window.c and ops/quantization.c name its emit function. */
#include "import/onnx/emission/window.h"

#include "base/status.h"
#include "import/onnx/ops/mapping.h"

const char *const nd4c_onnx_auto_pads[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL};

nd4c_status nd4c_onnx_check_kernel_shape(nd4c_onnx_emission *emission, int32_t weights) {
  const int64_t *kernel = NULL;
  int32_t count = 0;
  nd4c_emitted_info w = nd4c_emitted_get(&emission->emitter, emission->inputs[weights]);
  ND4C_TRY(nd4c_onnx_get_ints(emission, "kernel_shape", &kernel, &count));
  if (kernel == NULL) {
    return ND4C_OK;
  }
  bool agrees = count == w.rank - 2;
  for (int32_t i = 0; agrees && i < count; i++) {
    agrees = kernel[i] == w.shape[i + 2];
  }
  return agrees ? ND4C_OK : nd4c_fail(ND4C_SHAPE, "attribute 'kernel_shape' does not agree with the weights' shape");
}

nd4c_status nd4c_onnx_emit_conv(nd4c_onnx_emission *emission) {
  nd4c_op op = emission->node->mapping->op;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_check_kernel_shape(emission, op == ND4C_OP_qlinear_conv ? 3 : 1));
  return nd4c_onnx_emit_attrs(emission, op, emission->inputs, emission->input_count, &attrs);
}
