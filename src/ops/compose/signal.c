/* Composites for complex numbers that are written as pairs of reals on a last axis. import/onnx/ops/signal.c calls
 * them. */
#include <inttypes.h>

#include "base/status.h"
#include "ops/compose/compose.h"

nd4c_status nd4c_compose_numbers(nd4c_emitter *e, nd4c_emitted x, bool *is_complex, nd4c_emitted *y) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  const int64_t parts = info.rank > 0 ? info.shape[info.rank - 1] : 0;
  if (info.rank < 2 || (parts != 1 && parts != 2)) {
    return nd4c_fail(ND4C_SHAPE, "the signal has rank %d and a last axis of %" PRId64 "; expected [..., 1] or [..., 2]",
                     (int)info.rank, parts);
  }
  *is_complex = parts == 2;
  ND4C_TRY(nd4c_emit_cast(e, x, info.dtype == ND4C_FLOAT64 ? ND4C_FLOAT64 : ND4C_FLOAT32, y));
  return *is_complex ? nd4c_emit_unary(e, ND4C_OP_view_as_complex, *y, y)
                     : nd4c_emit_reshape(e, *y, info.rank - 1, info.shape, y);
}

nd4c_status nd4c_compose_pairs(nd4c_emitter *e, nd4c_emitted x, nd4c_dtype dtype, nd4c_emitted *y) {
  ND4C_TRY(nd4c_emit_unary(e, ND4C_OP_view_as_real, x, y));
  return nd4c_emit_cast(e, *y, dtype, y);
}
