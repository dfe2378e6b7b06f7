/* Matrix products. emission/scope.c calls the emit functions through the rows below. */
#include "base/status.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

static nd4c_status emit_gemm(nd4c_onnx_emission *emission) {
  nd4c_gemm gemm = {.a = emission->inputs[0], .b = emission->inputs[1], .c = nd4c_onnx_input(emission, 2)};
  int64_t transpose_a = 0, transpose_b = 0;
  nd4c_onnx_ignore(emission, "broadcast");
  ND4C_TRY(nd4c_onnx_check_one_type(emission));
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 1, &gemm.alpha));
  ND4C_TRY(nd4c_onnx_get_float(emission, "beta", 1, &gemm.beta));
  ND4C_TRY(nd4c_onnx_get_int(emission, "transA", 0, &transpose_a));
  ND4C_TRY(nd4c_onnx_get_int(emission, "transB", 0, &transpose_b));
  gemm.transpose_a = transpose_a != 0;
  gemm.transpose_b = transpose_b != 0;
  return nd4c_compose_gemm(&emission->emitter, &gemm, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                   \
  OP(MatMul, 1, LAST, 2, 2, 1, direct, matmul) \
  OP(Gemm, 1, LAST, 2, 3, 1, gemm, NONE)

ND4C_ONNX_FAMILY(contraction, "", ROWS)
