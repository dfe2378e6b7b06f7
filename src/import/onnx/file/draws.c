/* Which nodes draw numbers, so that running them again gives others. parts/demand.c and ops/control_rounds.c ask. */
#include "import/onnx/model.h"

enum { DROPOUT_HAS_TEST_FLAG = 6 }; /* the last opset in which it trains unless an attribute says that it does not */

static bool draws_inside(const nd4c_onnx_graph *graph);

bool nd4c_onnx_node_draws(const nd4c_onnx_node *node) {
  static const char *const names[] = {"RandomNormal",      "RandomUniform", "RandomNormalLike",
                                      "RandomUniformLike", "Bernoulli",     "Multinomial"};
  bool any = false;
  for (size_t i = 0; i < sizeof names / sizeof *names && node->domain.size == 0; i++) {
    any = any || nd4c_span_is(node->op, names[i]);
  }
  if (node->domain.size == 0 && nd4c_span_is(node->op, "Dropout")) { /* in training, or it may be */
    any = node->opset <= DROPOUT_HAS_TEST_FLAG || (node->input_count > 2 && node->inputs[2] != ND4C_ONNX_NONE);
  }
  any = any || (node->function != NULL && draws_inside(&node->function->body));
  for (int32_t i = 0; i < node->attribute_count && !any; i++) {
    any = node->attributes[i].graph != NULL && draws_inside(node->attributes[i].graph);
  }
  return any;
}

static bool draws_inside(const nd4c_onnx_graph *graph) {
  bool any = false;
  for (int32_t i = 0; i < graph->nodes.count && !any; i++) {
    any = nd4c_onnx_node_draws(nd4c_onnx_graph_node(graph, i));
  }
  return any;
}
