/* Makes qlinear_add of two dequantize_linear, add and quantize_linear: a sum of bytes. passes.c runs it on optimised
 * plans of one device. It does so only where another kernel than the reference's computes the op.
 *
 * The sum is rounded once, in the single ops three times in float32 before. A result may therefore differ by one step.
 */
#include "base/status.h"
#include "graph/ir/quantized.h"
#include "graph/match/fast.h"
#include "graph/passes.h"

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index) {
  nd4c_quantized a, b, to;
  if (!nd4c_quantized_written(rewrite, &rewrite->graph->nodes[index], &to)) {
    return ND4C_OK;
  }
  const nd4c_value y = rewrite->graph->nodes[index].inputs[0];
  const nd4c_graph_node *add = nd4c_rewrite_producer(rewrite, y, ND4C_OP_add);
  if (add == NULL || !nd4c_rewrite_is_single(rewrite, y) || !nd4c_quantized_read_single(rewrite, add->inputs[0], &a) ||
      !nd4c_quantized_read_single(rewrite, add->inputs[1], &b)) {
    return ND4C_OK;
  }
  nd4c_value inputs[ND4C_IN_qlinear_add_count] = {[ND4C_IN_qlinear_add_a] = a.bytes,
                                                  [ND4C_IN_qlinear_add_a_scale] = a.scale,
                                                  [ND4C_IN_qlinear_add_b] = b.bytes,
                                                  [ND4C_IN_qlinear_add_b_scale] = b.scale,
                                                  [ND4C_IN_qlinear_add_y_scale] = to.scale};
  ND4C_TRY(nd4c_quantized_zero(rewrite, &a, &inputs[ND4C_IN_qlinear_add_a_zero_point]));
  ND4C_TRY(nd4c_quantized_zero(rewrite, &b, &inputs[ND4C_IN_qlinear_add_b_zero_point]));
  ND4C_TRY(nd4c_quantized_zero(rewrite, &to, &inputs[ND4C_IN_qlinear_add_y_zero_point]));
  if (!nd4c_quantized_is_fast(rewrite, ND4C_OP_qlinear_add, inputs, ND4C_IN_qlinear_add_count, NULL)) {
    return ND4C_OK;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_qlinear_add, inputs, ND4C_IN_qlinear_add_count, NULL, "add of bytes",
                           &done);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    ND4C_TRY(visit(rewrite, i));
  }
  return ND4C_OK;
}

ND4C_PASS(SIMPLIFY, 25, quantized_add, DEVICE,
          "makes a sum of bytes of dequantize_linear, add and quantize_linear; one step may differ")
