/* Matrix products. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/family.h"

static nd4c_status scaled(nd4c_onnx_emission *emission, nd4c_onnx_operand x, double factor, nd4c_onnx_operand *y) {
  nd4c_onnx_operand scalar = ND4C_ONNX_OPERAND_NONE;
  *y = x;
  if (factor == 1 || x == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit_scalar_like(&emission->emitter, x, factor, &scalar));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_multiply, x, scalar, y);
}

static nd4c_status transposed(nd4c_onnx_emission *emission, nd4c_onnx_operand x, nd4c_onnx_operand *y) {
  static const int64_t axes[2] = {1, 0};
  return nd4c_emit_axes(&emission->emitter, ND4C_OP_transpose, x, 2, axes, y);
}

/* alpha * a * b + beta * c. With alpha 1 and floats that is one `linear`. */
static nd4c_status emit_gemm(nd4c_onnx_emission *emission) {
  double alpha = 0;
  double beta = 0;
  int64_t transpose_a = 0;
  int64_t transpose_b = 0;
  nd4c_onnx_operand a = emission->inputs[0];
  nd4c_onnx_operand b = emission->inputs[1];
  nd4c_onnx_operand c = nd4c_onnx_input(emission, 2);
  nd4c_onnx_ignore(emission, "broadcast");
  ND4C_TRY(nd4c_onnx_check_one_type(emission));
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 1, &alpha));
  ND4C_TRY(nd4c_onnx_get_float(emission, "beta", 1, &beta));
  ND4C_TRY(nd4c_onnx_get_int(emission, "transA", 0, &transpose_a));
  ND4C_TRY(nd4c_onnx_get_int(emission, "transB", 0, &transpose_b));
  if (nd4c_emitted_get(&emission->emitter, a).rank != 2 || nd4c_emitted_get(&emission->emitter, b).rank != 2) {
    return nd4c_fail(ND4C_SHAPE, "A has rank %d and B rank %d; expected 2 and 2",
                     (int)nd4c_emitted_get(&emission->emitter, a).rank,
                     (int)nd4c_emitted_get(&emission->emitter, b).rank);
  }
  c = beta == 0 ? ND4C_ONNX_OPERAND_NONE : c;
  ND4C_TRY(scaled(emission, c, beta, &c));
  if (transpose_a != 0) {
    ND4C_TRY(transposed(emission, a, &a));
  }
  bool floating = nd4c_dtype_get_info(nd4c_emitted_get(&emission->emitter, a).dtype)->kind == ND4C_KIND_FLOAT;
  if (alpha == 1 && floating) {
    nd4c_onnx_operand operands[] = {a, b, c};
    nd4c_attr attr = nd4c_attr_of_bool("transpose_w", transpose_b != 0);
    return nd4c_emit(&emission->emitter, ND4C_OP_linear, operands, 3, &attr, 1, &emission->outputs[0]);
  }
  nd4c_onnx_operand product = ND4C_ONNX_OPERAND_NONE;
  if (transpose_b != 0) {
    ND4C_TRY(transposed(emission, b, &b));
  }
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_matmul, a, b, &product));
  ND4C_TRY(scaled(emission, product, alpha, &emission->outputs[0]));
  if (c == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_add, emission->outputs[0], c, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                   \
  OP(MatMul, 1, LAST, 2, 2, 1, direct, matmul) \
  OP(Gemm, 1, LAST, 2, 3, 1, gemm, NONE)

ND4C_ONNX_FAMILY(linalg, "", ROWS)
