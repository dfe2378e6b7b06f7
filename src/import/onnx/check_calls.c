/* Refuses functions that call themselves, and models whose calls expand to more nodes than nd4c imports or interprets:
 * a file of two kilobytes can describe 2^40 of them. onnx/model.c calls it once the nodes are bound to their functions.
 */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/model.h"

/* GRAPH_NODES: that a graph in a node counts as. A branch or body costs tables of its own, some 40 KB. */
enum { COUNTING = -1, GRAPH_NODES = 128 };

/* What is counted: a function with all calls inlined, or, if it is NULL, the model. */
typedef struct counted {
  const nd4c_onnx_function *function;
  int64_t nodes; /* so far */
} counted;

static nd4c_status count_function(nd4c_onnx_model *model, nd4c_onnx_function *function, int32_t depth);

static nd4c_status fail_nodes(const nd4c_onnx_node *node, const nd4c_onnx_function *function) {
  const nd4c_status status =
      nd4c_fail(ND4C_FORMAT,
                "%s at byte %" PRIu64
                " brings it to more than %d nodes with all functions inlined, where a graph in a node counts as %d",
                nd4c_onnx_node_show(node).text, node->offset, (int)ND4C_ONNX_NODES_MOST, (int)GRAPH_NODES);
  return function != NULL ? nd4c_fail_prefix(status, "byte %" PRIu64 ": function %s", function->offset,
                                             nd4c_span_show(function->name).text)
                          : nd4c_fail_prefix(status, "the model's graph");
}

/* Adds the nodes of a graph, of the graphs inside its nodes, and of all calls. The body of a loop counts once. */
static nd4c_status add_graph(nd4c_onnx_model *model, const nd4c_onnx_graph *graph, int32_t depth, counted *sum) {
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    sum->nodes++;
    if (node->function != NULL) {
      nd4c_onnx_function *functions = model->functions.items;
      nd4c_onnx_function *called = &functions[node->function - functions];
      ND4C_TRY(count_function(model, called, depth + 1));
      sum->nodes += called->nodes_expanded;
    }
    for (int32_t j = 0; j < node->attribute_count; j++) {
      if (node->attributes[j].graph != NULL) {
        sum->nodes += GRAPH_NODES;
        ND4C_TRY(add_graph(model, node->attributes[j].graph, depth, sum));
      }
    }
    if (sum->nodes > ND4C_ONNX_NODES_MOST) {
      return fail_nodes(node, sum->function);
    }
  }
  return ND4C_OK;
}

/* Each function is counted once, so the time is that of reading the file. */
static nd4c_status count_function(nd4c_onnx_model *model, nd4c_onnx_function *function, int32_t depth) {
  if (function->nodes_expanded == COUNTING) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": function %s calls itself, directly or through others",
                     function->offset, nd4c_span_show(function->name).text);
  }
  if (depth > ND4C_ONNX_DEPTH_MOST) {
    return nd4c_fail(ND4C_FORMAT,
                     "byte %" PRIu64 ": function %s: graphs and functions are more than %d deep inside each other",
                     function->offset, nd4c_span_show(function->name).text, (int)ND4C_ONNX_DEPTH_MOST);
  }
  if (function->nodes_expanded == 0) {
    counted sum = {.function = function};
    function->nodes_expanded = COUNTING;
    ND4C_TRY(add_graph(model, &function->body, depth, &sum));
    function->nodes_expanded = sum.nodes;
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_model_check_calls(nd4c_onnx_model *model) {
  counted sum = {0};
  return add_graph(model, &model->graph, 0, &sum);
}
