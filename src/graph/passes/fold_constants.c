/* Computes nodes whose inputs are all constants, with eager calls. Large results are left to the run, because a
 * constant takes memory as long as the plan exists. passes.c runs it on every optimised plan. */
#include "array/narrow.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/passes.h"

enum { LIMIT_ELEMENTS = 1 << 22 };

/* True if all inputs are constants and the result is small, or not larger than the inputs. Ops that make arrays of
 * their attributes have no inputs. The result's size may depend on dims: a constant that is broadcast to a batch. */
static bool is_foldable(const nd4c_graph *graph, const nd4c_graph_node *node) {
  int64_t given = 0;
  if (node->control != NULL) {
    return false;
  }
  for (int32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] >= 0) {
      if (graph->values[node->inputs[i]].constant == NULL) {
        return false;
      }
      given += graph->values[node->inputs[i]].size;
    }
  }
  const nd4c_graph_value *output = &graph->values[node->outputs[0]];
  const bool known = given > 0 || (node->input_count == 0 && node->def->info.category == ND4C_CATEGORY_CREATION);
  return known && node->output_count == 1 && nd4c_graph_node_is_fixed(graph, node) &&
         (output->size <= LIMIT_ELEMENTS || output->size <= given);
}

/* An output in C order, as the run would have it: an eager call would give the result of a transposed operand its
 * operand's order, and later sums would add up in another order than without this pass. Views and texts are fresh. */
static nd4c_status make_output(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_array **output) {
  const nd4c_graph_value *value = &rewrite->graph->values[node->outputs[0]];
  if (node->def->view != NULL || value->dtype == ND4C_UTF8 || nd4c_dtype_is_packed(value->dtype)) {
    return ND4C_OK;
  }
  return nd4c_array_empty(value->dtype, value->rank, value->shape, rewrite->context->device, output);
}

/* The node fails in each run that comes to it: a branch may never run, and a loop may have no round. */
static nd4c_status leave(nd4c_status status) {
  if (!nd4c_status_passes(status)) {
    nd4c_error_clear();
    return ND4C_OK;
  }
  return status;
}

static nd4c_status fold(nd4c_rewrite *rewrite, nd4c_graph_node *node) {
  nd4c_graph *graph = rewrite->graph;
  const nd4c_array **inputs = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)node->input_count, sizeof *inputs, "folding constants", &inputs));
  for (int32_t i = 0; i < node->input_count; i++) {
    inputs[i] = node->inputs[i] < 0 ? NULL : graph->values[node->inputs[i]].constant;
  }
  nd4c_array *output = NULL;
  nd4c_status status = make_output(rewrite, node, &output);
  if (status == ND4C_OK) {
    status =
        nd4c_op_call_positional(rewrite->context, node->def->info.op, inputs, node->input_count, node->attrs, &output);
  }
  nd4c_deallocate(inputs);
  if (status != ND4C_OK) {
    nd4c_array_release(output);
    return leave(status);
  }
  nd4c_graph_value *value = &graph->values[node->outputs[0]];
  value->constant = output;
  value->producer = -1;
  nd4c_rewrite_remove(rewrite, node);
  rewrite->changes++;
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  nd4c_graph *graph = rewrite->graph;
  for (int32_t i = 0; i < graph->node_count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    if (graph->nodes[i].def != NULL && is_foldable(graph, &graph->nodes[i])) {
      ND4C_TRY(fold(rewrite, &graph->nodes[i]));
    }
  }
  return ND4C_OK;
}

ND4C_PASS(SIMPLIFY, 30, fold_constants, ANY, "computes small nodes of constants alone")
