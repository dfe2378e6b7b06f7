/* Matrix products. emission/scope.c calls the emit functions through the rows below. */
#include "base/status.h"
#include "import/onnx/emission/fused.h"
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

/* -- of ONNX Runtime ------------------------------------------------------------------------------------------- */

/* The activation behind a product, whose parameters are attributes of their own. */
static nd4c_status activate(nd4c_onnx_emission *emission) {
  static const char *const names[] = {"activation_alpha", "activation_beta", "activation_gamma"};
  double numbers[ND4C_ONNX_ACTIVATION_NUMBERS];
  for (int32_t i = 0; i < ND4C_ONNX_ACTIVATION_NUMBERS; i++) {
    ND4C_TRY(nd4c_onnx_get_float(emission, names[i], (double)NAN, &numbers[i]));
  }
  return nd4c_onnx_emit_activation(emission, emission->outputs[0], numbers, &emission->outputs[0]);
}

static nd4c_status emit_fused_gemm(nd4c_onnx_emission *emission) {
  ND4C_TRY(emit_gemm(emission));
  return activate(emission);
}

/* An operand as the product reads it. matrix: the last two axes change places; batch: before that, the first axis comes
 * behind the other ones of the batch. */
static nd4c_status turn(nd4c_onnx_emission *emission, const char *matrix, const char *batch, nd4c_onnx_operand *x) {
  int64_t turns_matrix = 0, turns_batch = 0, axes[ND4C_MAX_RANK];
  const int32_t rank = nd4c_emitted_get(&emission->emitter, *x).rank;
  ND4C_TRY(nd4c_onnx_get_int(emission, matrix, 0, &turns_matrix));
  ND4C_TRY(nd4c_onnx_get_int(emission, batch, 0, &turns_batch));
  if (rank < 2 || (turns_matrix == 0 && turns_batch == 0)) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < rank; i++) {
    axes[i] = turns_batch == 0 || i == rank - 1 ? i : i == rank - 2 ? 0 : i + 1;
  }
  if (turns_matrix != 0) {
    const int64_t last = axes[rank - 1];
    axes[rank - 1] = axes[rank - 2];
    axes[rank - 2] = last;
  }
  return nd4c_emit_axes(&emission->emitter, ND4C_OP_transpose, *x, rank, axes, x);
}

static nd4c_status emit_fused_matmul(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand a = emission->inputs[0], b = emission->inputs[1], *y = &emission->outputs[0];
  double alpha = 0;
  ND4C_TRY(nd4c_onnx_check_one_type(emission));
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 1, &alpha));
  ND4C_TRY(turn(emission, "transA", "transBatchA", &a));
  ND4C_TRY(turn(emission, "transB", "transBatchB", &b));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_matmul, a, b, y));
  return alpha == 1 ? ND4C_OK : nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_multiply, *y, alpha, y);
}

static nd4c_status emit_fused_matmul_activation(nd4c_onnx_emission *emission) {
  nd4c_onnx_ignore(emission, "activation_axis"); /* of activations that look at more than an element */
  ND4C_TRY(emit_fused_matmul(emission));
  return activate(emission);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                   \
  OP(MatMul, 1, LAST, 2, 2, 1, direct, matmul) \
  OP(Gemm, 1, LAST, 2, 3, 1, gemm, NONE)

ND4C_ONNX_FAMILY(contraction, "", ROWS)

#define MICROSOFT_ROWS                                                                                        \
  OP(Inverse, 1, LAST, 1, 1, 1, direct, inv)                                                                  \
  CHAIN(FusedMatMul, 1, LAST, 2, 2, 1, fused_matmul, NONE, "transpose, matmul, multiply")                     \
  CHAIN(TransposeMatMul, 1, LAST, 2, 2, 1, fused_matmul, NONE, "transpose, matmul, multiply")                 \
  CHAIN(FusedMatMulActivation, 1, LAST, 2, 2, 1, fused_matmul_activation, NONE, "FusedMatMul, an activation") \
  CHAIN(FusedGemm, 1, LAST, 2, 3, 1, fused_gemm, NONE, "linear, an activation")

ND4C_ONNX_FAMILY(contraction_microsoft, "com.microsoft", MICROSOFT_ROWS)
