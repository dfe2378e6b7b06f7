/* Makes swiglu of the product of a value with the swish of another, as gated layers have it: swish(a) b. The CPU
 * computes both ops in one loop anyway (backends/cpu/tile), and has no kernel for swiglu but the reference's, so there
 * this pass changes nothing; it serves devices that would launch two kernels. passes.c runs it on optimised plans of
 * one device, if that device has a kernel for swiglu that is faster than the reference. */
#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/match/fast.h"
#include "graph/match/moments.h"
#include "graph/passes.h"

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)same;
  (void)state;
  for (int32_t i = 0; i < 2; i++) {
    const nd4c_graph_node *node = &rewrite->graph->nodes[index];
    const nd4c_graph_node *gate =
        node->def->info.op == ND4C_OP_multiply ? nd4c_rewrite_inner(rewrite, node->inputs[i], ND4C_OP_swish) : NULL;
    if (gate == NULL) {
      continue;
    }
    const nd4c_value inputs[] = {gate->inputs[0], node->inputs[1 - i]};
    nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
    bool done = false;
    ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_swiglu, attrs));
    attrs[ND4C_ATTR_swiglu_alpha].as.f = gate->attrs[ND4C_ATTR_swish_alpha].as.f;
    if (nd4c_rewrite_is_fast(rewrite, ND4C_OP_swiglu, inputs, 2, attrs)) {
      return nd4c_rewrite_node(rewrite, index, ND4C_OP_swiglu, inputs, 2, attrs, "swish + multiply", &done);
    }
  }
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(RECOGNIZE, 43, swiglu, DEVICE, "makes swiglu of swish and multiply, where a kernel computes both")
