/* Composites of matrix products. import/onnx/ops/contraction.c calls them. */
#include "base/status.h"
#include "ops/compose/compose.h"

static nd4c_status scaled(nd4c_emitter *e, nd4c_emitted x, double factor, nd4c_emitted *y) {
  *y = x;
  return factor == 1 || x == ND4C_EMITTED_NONE ? ND4C_OK : nd4c_emit_with_scalar(e, ND4C_OP_multiply, x, factor, y);
}

nd4c_status nd4c_compose_gemm(nd4c_emitter *e, const nd4c_gemm *gemm, nd4c_emitted *y) {
  nd4c_emitted a = gemm->a, b = gemm->b, c = gemm->beta == 0 ? ND4C_EMITTED_NONE : gemm->c;
  const nd4c_emitted_info info = nd4c_emitted_get(e, a);
  if (info.rank != 2 || nd4c_emitted_get(e, b).rank != 2) {
    return nd4c_fail(ND4C_SHAPE, "A has rank %d and B rank %d; expected 2 and 2", (int)info.rank,
                     (int)nd4c_emitted_get(e, b).rank);
  }
  ND4C_TRY(scaled(e, c, gemm->beta, &c));
  if (gemm->transpose_a) {
    ND4C_TRY(nd4c_emit_transposed(e, a, &a));
  }
  if (gemm->alpha == 1 && nd4c_dtype_get_info(info.dtype)->kind == ND4C_KIND_FLOAT) {
    const nd4c_emitted operands[] = {a, b, c};
    const nd4c_attr attr = nd4c_attr_of_bool("transpose_w", gemm->transpose_b);
    return nd4c_emit(e, ND4C_OP_linear, operands, 3, &attr, 1, y);
  }
  if (gemm->transpose_b) {
    ND4C_TRY(nd4c_emit_transposed(e, b, &b));
  }
  ND4C_TRY(nd4c_emit_binary(e, ND4C_OP_matmul, a, b, &a));
  ND4C_TRY(scaled(e, a, gemm->alpha, y));
  return c == ND4C_EMITTED_NONE ? ND4C_OK : nd4c_emit_binary(e, ND4C_OP_add, *y, c, y);
}
