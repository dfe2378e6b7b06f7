/* Implements retyping.h. */
#include "graph/passes/dtypes/retyping.h"

#include "array/shape.h"
#include "base/status.h"
#include "device/storage/storage.h"
#include "dispatch/choice.h"
#include "graph/ir/converted.h"

nd4c_status nd4c_retyping_begin(nd4c_retyping *retyping, nd4c_rewrite *rewrite, nd4c_dtype from, nd4c_dtype to) {
  *retyping = (nd4c_retyping){.rewrite = rewrite, .from = from, .to = to, .count = rewrite->graph->value_count};
  nd4c_region *region = &retyping->region;
  ND4C_TRY(nd4c_region_make(region, retyping->count, sizeof *retyping->changed, &retyping->changed));
  ND4C_TRY(nd4c_region_make(region, retyping->count, sizeof *retyping->other, &retyping->other));
  for (int32_t i = 0; i < retyping->count; i++) {
    retyping->other[i] = ND4C_VALUE_NONE;
  }
  return ND4C_OK;
}

void nd4c_retyping_end(nd4c_retyping *retyping) {
  nd4c_region_free(&retyping->region);
}

bool nd4c_retyping_covers(const nd4c_retyping *retyping, nd4c_value value) {
  return value >= 0 && (retyping->rewrite->graph->values[value].dtype == retyping->from || retyping->changed[value]);
}

bool nd4c_retyping_reads_encoded(const nd4c_retyping *retyping, const nd4c_graph_node *node) {
  const nd4c_graph_value *values = retyping->rewrite->graph->values;
  for (int32_t i = 0; i < node->input_count; i++) {
    const nd4c_array *constant = node->inputs[i] < 0 ? NULL : values[node->inputs[i]].constant;
    if (constant != NULL && (constant->storage->flags & ND4C_STORAGE_ENCODED) != 0) {
      return true;
    }
  }
  return false;
}

/* -- asking the device --------------------------------------------------------------------------------------------- */

/* An operand as the node would have it. */
static nd4c_status describe(nd4c_retyping *retyping, nd4c_value value, nd4c_dtype dtype, nd4c_tensor *tensor) {
  const nd4c_graph *graph = retyping->rewrite->graph;
  int64_t *strides = NULL, *shape = NULL;
  const int32_t rank = value < 0 ? 0 : graph->values[value].rank;
  ND4C_TRY(nd4c_region_make(&retyping->region, rank, sizeof *strides, &strides));
  ND4C_TRY(nd4c_region_make(&retyping->region, rank, sizeof *shape, &shape));
  nd4c_graph_describe_least(graph, value, shape, strides, tensor);
  tensor->flags |= nd4c_shape_is_contiguous(rank, shape, strides) ? ND4C_TENSOR_CONTIGUOUS : 0;
  tensor->dtype = nd4c_retyping_covers(retyping, value) ? dtype : tensor->dtype;
  return ND4C_OK;
}

nd4c_status nd4c_retyping_is_fast(nd4c_retyping *retyping, const nd4c_graph_node *node, nd4c_dtype dtype, bool *fast) {
  const nd4c_context *context = retyping->rewrite->context;
  nd4c_tensor *inputs = NULL, *outputs = NULL;
  *fast = node->def->view != NULL;
  if (*fast) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_region_make(&retyping->region, node->input_count, sizeof *inputs, &inputs));
  ND4C_TRY(nd4c_region_make(&retyping->region, node->output_count, sizeof *outputs, &outputs));
  for (int32_t i = 0; i < node->input_count; i++) {
    ND4C_TRY(describe(retyping, node->inputs[i], dtype, &inputs[i]));
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    ND4C_TRY(describe(retyping, node->outputs[i], dtype, &outputs[i]));
  }
  const nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                          .flags = context->deterministic ? ND4C_CALL_DETERMINISTIC : 0,
                          .op = &node->def->info,
                          .input_count = node->input_count,
                          .output_count = node->output_count,
                          .inputs = inputs,
                          .outputs = outputs,
                          .attrs = node->attrs,
                          .stream = context->stream,
                          .device = context->device->handle,
                          .width = context->width};
  *fast = nd4c_choice_is_fast(context, &call);
  return ND4C_OK;
}

/* -- rewriting ----------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_retyping_read(nd4c_retyping *retyping, nd4c_value value, bool changed, nd4c_value *read) {
  *read = value;
  if (retyping->changed[value] == changed) {
    return ND4C_OK;
  }
  nd4c_rewrite *rewrite = retyping->rewrite;
  const nd4c_dtype dtype = changed ? retyping->to : retyping->from;
  nd4c_value *other = &retyping->other[value];
  if (*other == ND4C_VALUE_NONE && rewrite->graph->values[value].constant != NULL) {
    ND4C_TRY(nd4c_converted_constant(rewrite, value, dtype, other));
  } else if (*other == ND4C_VALUE_NONE) {
    ND4C_TRY(retyping->cast != NULL ? retyping->cast(retyping, value, dtype, other)
                                    : nd4c_emit_cast(&rewrite->emitter, value, dtype, other));
  }
  *read = *other;
  return ND4C_OK;
}

nd4c_status nd4c_retyping_inputs(nd4c_retyping *retyping, int32_t index, bool changed, nd4c_value **inputs) {
  const nd4c_graph *graph = retyping->rewrite->graph;
  const int32_t count = graph->nodes[index].input_count;
  ND4C_TRY(nd4c_region_make(&retyping->region, count, sizeof **inputs, inputs));
  for (int32_t i = 0; i < count; i++) {
    const nd4c_value value = graph->nodes[index].inputs[i];
    (*inputs)[i] = value;
    if (nd4c_retyping_covers(retyping, value)) {
      ND4C_TRY(nd4c_retyping_read(retyping, value, changed, &(*inputs)[i]));
    }
  }
  return ND4C_OK;
}

static void set_inputs(const nd4c_retyping *retyping, int32_t index, const nd4c_value *inputs) {
  nd4c_graph_node *node = &retyping->rewrite->graph->nodes[index];
  for (int32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] != inputs[i]) {
      nd4c_rewrite_input(retyping->rewrite, node, i, inputs[i]);
    }
  }
}

/* Takes back what the inference assumes about the graph's dims; false if it assumes something new. */
static bool infer(const nd4c_graph *graph, const nd4c_graph_node *node, const nd4c_value *inputs,
                  nd4c_inferred *outputs) {
  const int32_t guards = graph->extents == NULL ? 0 : nd4c_extents_guard_count(graph->extents);
  bool fits = nd4c_graph_infer(graph, node->def, inputs, node->input_count, node->attrs, outputs) == ND4C_OK;
  if (graph->extents != NULL) {
    fits = fits && nd4c_extents_guard_count(graph->extents) == guards;
    nd4c_extents_forget(graph->extents, guards);
  }
  return fits;
}

nd4c_status nd4c_retyping_fits(nd4c_retyping *retyping, int32_t index, const nd4c_value *inputs, bool *fits) {
  const nd4c_graph *graph = retyping->rewrite->graph;
  const nd4c_graph_node *node = &graph->nodes[index];
  nd4c_inferred *inferred = NULL;
  ND4C_TRY(nd4c_region_make(&retyping->region, node->output_count, sizeof *inferred, &inferred));
  *fits = infer(graph, node, inputs, inferred);
  for (int32_t i = 0; i < node->output_count && *fits; i++) {
    const nd4c_graph_value *output = &graph->values[node->outputs[i]];
    const nd4c_dtype dtype = nd4c_retyping_covers(retyping, node->outputs[i]) ? retyping->to : output->dtype;
    *fits = inferred[i].dtype == dtype &&
            nd4c_shape_equal(inferred[i].rank, inferred[i].shape, output->rank, output->shape);
  }
  return ND4C_OK;
}

nd4c_status nd4c_retyping_change(nd4c_retyping *retyping, int32_t index, bool *done) {
  nd4c_value *inputs = NULL;
  ND4C_TRY(nd4c_retyping_inputs(retyping, index, true, &inputs));
  ND4C_TRY(nd4c_retyping_fits(retyping, index, inputs, done));
  if (!*done) {
    return ND4C_OK;
  }
  set_inputs(retyping, index, inputs);
  const nd4c_graph_node *node = &retyping->rewrite->graph->nodes[index];
  for (int32_t i = 0; i < node->output_count; i++) {
    if (nd4c_retyping_covers(retyping, node->outputs[i])) {
      retyping->rewrite->graph->values[node->outputs[i]].dtype = retyping->to;
      retyping->changed[node->outputs[i]] = true;
    }
  }
  retyping->rewrite->changes++;
  return ND4C_OK;
}

nd4c_status nd4c_retyping_keep(nd4c_retyping *retyping, int32_t index) {
  nd4c_value *inputs = NULL;
  ND4C_TRY(nd4c_retyping_inputs(retyping, index, false, &inputs));
  set_inputs(retyping, index, inputs);
  return ND4C_OK;
}

nd4c_status nd4c_retyping_outputs(nd4c_retyping *retyping) {
  const nd4c_graph *graph = retyping->rewrite->graph;
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    const nd4c_value value = graph->outputs.items[i].value;
    nd4c_value read = value;
    ND4C_TRY(retyping->changed[value] ? nd4c_retyping_read(retyping, value, false, &read) : ND4C_OK);
    if (read != value) {
      nd4c_rewrite_output(retyping->rewrite, i, read);
    }
  }
  return ND4C_OK;
}
