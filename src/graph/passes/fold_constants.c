/* Computes nodes whose inputs are all constants, with eager calls. Large results are left to the run, because a
 * constant takes memory as long as the plan exists. passes.c runs it on every optimised plan. */
#include "array/narrow.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/passes.h"

enum {
  LIMIT_ELEMENTS = 1 << 22, /* of one result */
  LIMIT_BYTES = 1 << 28,    /* of all results of a plan, if its constants take no memory */
  TIMES = 32                /* bytes for each byte of its constants: a few ops on weights of 4 bits in float32 */
};

/* Elements that lie in memory. A repeated axis, with a stride of 0, has one however long it is. */
static int64_t held_elements(const nd4c_array *array) {
  int64_t low = 0, high = 0;
  const bool known = nd4c_layout_bounds(array->rank, array->shape, array->strides, &low, &high);
  return known && high - low < array->size ? high - low + 1 : array->size;
}

/* What this plan's folds may take in all. A few bytes of a model must not fill the memory, by many nodes or by nodes
 * on repeated elements. */
static void begin_folding(nd4c_rewrite *rewrite) {
  struct nd4c_folding *folding = rewrite->folding;
  if (folding->begun) {
    return;
  }
  int64_t held = 0;
  for (int32_t i = 0; i < rewrite->graph->value_count; i++) {
    const nd4c_array *constant = rewrite->graph->values[i].constant;
    const int64_t bytes = constant == NULL ? 0 : nd4c_dtype_bytes(constant->dtype, held_elements(constant));
    held += bytes < INT64_MAX / (2 * TIMES) - held ? bytes : 0;
  }
  *folding = (struct nd4c_folding){.begun = true, .left = LIMIT_BYTES + TIMES * held};
}

/* Whether the result fits into what folds may still take. A view takes nothing, unless the op has to copy: then the
 * result is counted afterwards. */
static bool fits(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  const nd4c_graph_value *output = &rewrite->graph->values[node->outputs[0]];
  return (node->def->view != NULL ? 0 : nd4c_dtype_bytes(output->dtype, output->size)) <= rewrite->folding->left;
}

/* True if all inputs are constants and neither the result nor the elements that the op reads are many, or no more than
 * lie in memory. Ops that make arrays of their attributes have no inputs. The result's size may depend on dims: a
 * constant that is broadcast to a batch. */
static bool is_foldable(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  const nd4c_graph *graph = rewrite->graph;
  int64_t held = 0, most = 0;
  if (node->control != NULL) {
    return false;
  }
  for (int32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] >= 0) {
      const nd4c_array *constant = graph->values[node->inputs[i]].constant;
      if (constant == NULL) {
        return false;
      }
      held += held_elements(constant);
      most = node->def->view == NULL && constant->size > most ? constant->size : most;
    }
  }
  const bool known = held > 0 || (node->input_count == 0 && node->def->info.category == ND4C_CATEGORY_CREATION);
  if (!known || node->output_count != 1 || !nd4c_graph_node_is_fixed(graph, node)) {
    return false;
  }
  const int64_t size = graph->values[node->outputs[0]].size;
  most = size > most ? size : most;
  return (most <= LIMIT_ELEMENTS || most <= held) && fits(rewrite, node);
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

/* The node stays as it is. One that fails with its constants fails in each run that comes to it: a branch may never
 * run, and a loop may have no round. One for which there is no memory now may find some in the run. */
static nd4c_status leave(const nd4c_graph_node *node, nd4c_status status) {
  if (status == ND4C_CANCELLED || status == ND4C_DEADLINE) {
    char label[256];
    return nd4c_fail_prefix(status, "node '%s' (%s)", nd4c_graph_label_text(node, label, sizeof label),
                            node->def->info.name);
  }
  nd4c_error_clear();
  return ND4C_OK;
}

static bool is_view(const nd4c_array *const *inputs, int32_t count, const nd4c_array *output) {
  for (int32_t i = 0; i < count; i++) {
    if (inputs[i] != NULL && inputs[i]->storage == output->storage) {
      return true;
    }
  }
  return false;
}

/* Calls the op. *bytes: what the result takes. */
static nd4c_status compute(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_array **output,
                           int64_t *bytes) {
  const nd4c_array **inputs = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)node->input_count, sizeof *inputs, "folding constants", &inputs));
  for (int32_t i = 0; i < node->input_count; i++) {
    inputs[i] = node->inputs[i] < 0 ? NULL : rewrite->graph->values[node->inputs[i]].constant;
  }
  nd4c_status status = make_output(rewrite, node, output);
  if (status == ND4C_OK) {
    status =
        nd4c_op_call_positional(rewrite->context, node->def->info.op, inputs, node->input_count, node->attrs, output);
  }
  if (status == ND4C_OK) {
    *bytes = is_view(inputs, node->input_count, *output) ? 0 : nd4c_dtype_bytes((*output)->dtype, (*output)->size);
  }
  nd4c_deallocate(inputs);
  return status;
}

static nd4c_status fold(nd4c_rewrite *rewrite, nd4c_graph_node *node) {
  nd4c_array *output = NULL;
  int64_t bytes = 0;
  const nd4c_status status = compute(rewrite, node, &output, &bytes);
  if (status != ND4C_OK) {
    nd4c_array_release(output);
    return leave(node, status);
  }
  nd4c_graph_value *value = &rewrite->graph->values[node->outputs[0]];
  value->constant = output;
  value->producer = -1;
  rewrite->folding->left -= bytes;
  nd4c_rewrite_remove(rewrite, node);
  rewrite->changes++;
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  nd4c_graph *graph = rewrite->graph;
  begin_folding(rewrite);
  for (int32_t i = 0; i < graph->node_count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    if (graph->nodes[i].def != NULL && is_foldable(rewrite, &graph->nodes[i])) {
      ND4C_TRY(fold(rewrite, &graph->nodes[i]));
    }
  }
  return ND4C_OK;
}

ND4C_PASS(SIMPLIFY, 30, fold_constants, ANY, "computes small nodes of constants alone")
