/* Imports the nodes of one graph in order: the model's graph, the body of a function, or a graph inside a node.
 * import.c runs the model's graph with it; ops with inner graphs (control.c, sequence.c, attention.c) call
 * nd4c_onnx_emit_graph. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "import/onnx/importer.h"
#include "import/onnx/ops/mapping.h"

/* -- values --------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_scope_open(nd4c_onnx_importer *importer, nd4c_onnx_scope *scope) {
  size_t count = (size_t)scope->graph->values.count;
  if (importer->depth >= ND4C_ONNX_DEPTH_MOST) {
    return nd4c_fail(ND4C_FORMAT, "graphs and functions are more than %d deep inside each other",
                     (int)ND4C_ONNX_DEPTH_MOST);
  }
  scope->environment = nd4c_allocate(count * sizeof *scope->environment);
  if (scope->environment == NULL) {
    return nd4c_fail_memory("the values of a model", count * sizeof *scope->environment);
  }
  for (size_t i = 0; i < count; i++) {
    scope->environment[i] = ND4C_ONNX_OPERAND_NONE;
  }
  importer->depth++;
  return ND4C_OK;
}

void nd4c_onnx_scope_close(nd4c_onnx_importer *importer, nd4c_onnx_scope *scope) {
  for (int32_t i = 0; i < scope->graph->values.count; i++) {
    nd4c_onnx_operand_release(importer, scope->environment[i]);
  }
  nd4c_deallocate(scope->environment);
  scope->environment = NULL;
  importer->depth--;
}

void nd4c_onnx_scope_bind(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, int32_t number,
                          nd4c_onnx_operand operand) {
  nd4c_onnx_operand_hold(importer, operand);
  nd4c_onnx_operand_release(importer, scope->environment[number]);
  scope->environment[number] = operand;
}

nd4c_status nd4c_onnx_load_initializer(const nd4c_onnx_import_options *options, const nd4c_onnx_graph *graph,
                                       int32_t index, nd4c_array **array) {
  nd4c_onnx_initializer_slot *kept = &options->initializers[graph->first_initializer + index];
  nd4c_array *found = atomic_load_explicit(kept, memory_order_acquire);
  if (found == NULL) {
    nd4c_array *made = NULL;
    ND4C_TRY(nd4c_onnx_tensor_array(nd4c_onnx_graph_initializer(graph, index), false, &made));
    if (atomic_compare_exchange_strong(kept, &found, made)) {
      found = made;
    } else {
      nd4c_array_release(made);
    }
  }
  *array = found;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_scope_read(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, int32_t number,
                                 nd4c_onnx_operand *operand) {
  const nd4c_onnx_value *value = nd4c_onnx_graph_value(scope->graph, number);
  if (value->source == ND4C_ONNX_FROM_OUTSIDE) {
    number = value->index;
    for (int32_t i = value->levels; i > 0; i--) {
      scope = scope->outer;
    }
    value = nd4c_onnx_graph_value(scope->graph, number);
  }
  *operand = scope->environment[number];
  if (*operand != ND4C_ONNX_OPERAND_NONE || value->source != ND4C_ONNX_FROM_INITIALIZER) {
    return ND4C_OK;
  }
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_onnx_load_initializer(importer->options, scope->graph, value->index, &array));
  ND4C_TRY(nd4c_onnx_add_array(importer, nd4c_array_retain(array), operand));
  nd4c_onnx_scope_bind(importer, scope, number, *operand);
  return ND4C_OK;
}

/* -- nodes ---------------------------------------------------------------------------------------------------- */

/* Refuses a node with an attribute that the emit function has not read, since it could change the result. */
static nd4c_status check_attributes(const nd4c_onnx_emission *emission) {
  const nd4c_onnx_node *node = emission->node;
  for (int32_t i = 0; i < node->attribute_count; i++) {
    if ((emission->used[i / 64] >> (i % 64) & 1) == 0) {
      return nd4c_fail(ND4C_UNSUPPORTED, "attribute %s is not known at opset %" PRId64,
                       nd4c_span_show(node->attributes[i].name).text, emission->opset);
    }
  }
  return ND4C_OK;
}

static nd4c_status check_references(const nd4c_onnx_scope *scope, const nd4c_onnx_node *node) {
  for (int32_t i = 0; i < node->attribute_count && scope->call == NULL; i++) {
    if (node->attributes[i].reference.size > 0) {
      return nd4c_fail(ND4C_FORMAT, "attribute %s refers to a function's attribute, but the node is in no function",
                       nd4c_span_show(node->attributes[i].name).text);
    }
  }
  return ND4C_OK;
}

/* A call of one of the model's functions: its body with the node's inputs. */
static nd4c_status emit_call(nd4c_onnx_emission *emission) {
  nd4c_onnx_importer *importer = emission->importer;
  const nd4c_onnx_node *node = emission->node;
  const nd4c_onnx_graph *body = &node->function->body;
  nd4c_onnx_call call = {node->function, node, emission->scope};
  nd4c_onnx_scope scope = {.graph = body, .call = &call};
  ND4C_TRY(nd4c_onnx_scope_open(importer, &scope));
  for (int32_t i = 0; i < node->input_count; i++) {
    nd4c_onnx_scope_bind(importer, &scope, nd4c_onnx_graph_input(body, i)->value, emission->inputs[i]);
  }
  nd4c_status status = nd4c_onnx_scope_run(importer, &scope);
  for (int32_t i = 0; i < node->output_count && status == ND4C_OK; i++) {
    status = nd4c_onnx_scope_read(importer, &scope, nd4c_onnx_graph_output(body, i)->value, &emission->outputs[i]);
    nd4c_onnx_operand_hold(importer, status == ND4C_OK ? emission->outputs[i] : ND4C_ONNX_OPERAND_NONE);
  }
  nd4c_onnx_scope_close(importer, &scope);
  for (int32_t i = 0; i < node->output_count && status == ND4C_OK; i++) {
    status = nd4c_onnx_operand_pass(importer, emission->outputs[i]);
  }
  return status;
}

static nd4c_status emit_row(nd4c_onnx_emission *emission) {
  const nd4c_onnx_mapping *row = emission->node->mapping;
  for (int32_t i = 0; i < row->inputs_least; i++) {
    if (emission->inputs[i] == ND4C_ONNX_OPERAND_NONE) {
      return nd4c_fail(ND4C_FORMAT, "input %d, %s, has no value", (int)i, nd4c_onnx_input_name(emission, i).text);
    }
  }
  ND4C_TRY(row->emit(emission));
  return check_attributes(emission);
}

/* `operands`: room for the inputs, then for the outputs. */
static nd4c_status emit_into(nd4c_onnx_emission *emission, nd4c_onnx_emit_function emit, nd4c_onnx_operand *operands,
                             int32_t output_room) {
  nd4c_onnx_importer *importer = emission->importer;
  const nd4c_onnx_scope *scope = emission->scope;
  const nd4c_onnx_node *node = emission->node;
  emission->inputs = operands;
  emission->outputs = operands + node->input_count;
  for (int32_t i = 0; i < node->input_count; i++) {
    operands[i] = ND4C_ONNX_OPERAND_NONE;
    if (node->inputs[i] != ND4C_ONNX_NONE) {
      ND4C_TRY(nd4c_onnx_scope_read(importer, scope, node->inputs[i], &operands[i]));
    }
  }
  for (int32_t i = 0; i < output_room; i++) {
    emission->outputs[i] = ND4C_ONNX_OPERAND_NONE;
  }
  ND4C_TRY(check_references(scope, node));
  ND4C_TRY(emit(emission));
  for (int32_t i = 0; i < node->output_count; i++) {
    if (node->outputs[i] != ND4C_ONNX_NONE) {
      nd4c_onnx_scope_bind(importer, scope, node->outputs[i], emission->outputs[i]);
    }
  }
  return ND4C_OK;
}

/* Of a graph that is recorded. A model that is interpreted keeps no nodes: check_calls.c bounds its functions, and the
 * loops' limit and cancellations its rounds. */
static nd4c_status count_emitted(nd4c_onnx_importer *importer) {
  return importer->graph == NULL || ++importer->emitted <= ND4C_ONNX_NODES_MOST
             ? ND4C_OK
             : nd4c_fail(ND4C_FORMAT, "more than %d nodes with all functions and loops inlined",
                         (int)ND4C_ONNX_NODES_MOST);
}

/* The failure of a node. What the graph puts in front of it, the node's name as a label, would say it a second time. */
static nd4c_status fail_node(nd4c_status status, const nd4c_onnx_node *node) {
  static const char label[] = "node '";
  const char *message = nd4c_error_message();
  const char *end = strncmp(message, label, sizeof label - 1) == 0 ? strchr(message + sizeof label - 1, '\'') : NULL;
  if (end != NULL && strncmp(end, "': ", 3) == 0) {
    (void)nd4c_fail(status, "%s", end + 3);
  }
  return nd4c_fail_prefix(status, "%s at byte %" PRIu64, nd4c_onnx_node_show(node).text, node->offset);
}

nd4c_status nd4c_onnx_scope_emit(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, const nd4c_onnx_node *node,
                                 nd4c_onnx_emit_function emit) {
  enum { FEW = 48 };
  nd4c_onnx_emission emission = {.emitter = nd4c_onnx_emitter,
                                 .importer = importer,
                                 .scope = scope,
                                 .node = node,
                                 .opset = node->opset,
                                 .input_count = node->input_count};
  nd4c_onnx_operand few[FEW];
  nd4c_onnx_operand *operands = few;
  int32_t output_room = node->output_count < ND4C_ONNX_OUTPUTS ? ND4C_ONNX_OUTPUTS : node->output_count;
  size_t count = (size_t)node->input_count + (size_t)output_room;
  int32_t mark = importer->created_count;
  if (count > FEW) {
    ND4C_TRY(nd4c_onnx_claim(&emission, count, sizeof *operands, "the values of a node", &operands));
  }
  emit = emit != NULL ? emit : node->function != NULL ? emit_call : emit_row;
  nd4c_status status = count_emitted(importer);
  status = status == ND4C_OK ? nd4c_cancellation_poll() : status;
  status = status == ND4C_OK ? emit_into(&emission, emit, operands, output_room) : status;
  nd4c_onnx_operands_sweep(importer, mark);
  nd4c_region_free(&emission.region);
  if (status != ND4C_OK) {
    (void)nd4c_extents_translate_error(nd4c_onnx_extents(importer), status);
    return fail_node(status, node);
  }
  return ND4C_OK;
}

/* Releases operands that no later node reads. */
static void drop_dead(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, const int32_t *numbers, int32_t count,
                      int32_t node) {
  for (int32_t i = 0; i < count; i++) {
    if (numbers[i] != ND4C_ONNX_NONE && nd4c_onnx_graph_value(scope->graph, numbers[i])->last_use == node) {
      nd4c_onnx_scope_bind(importer, scope, numbers[i], ND4C_ONNX_OPERAND_NONE);
    }
  }
}

nd4c_status nd4c_onnx_scope_run(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope) {
  const nd4c_onnx_import_options *options = importer->options;
  const nd4c_onnx_graph *graph = scope->graph;
  bool is_model = graph == &importer->model->graph;
  const char *what = importer->graph != NULL ? "importing" : "running";
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    if (is_model && options->progress != NULL) {
      options->progress(options->user, what, i, graph->nodes.count);
    }
    ND4C_TRY(nd4c_onnx_scope_emit(importer, scope, node, NULL));
    if (!(is_model && options->all_intermediates) && !graph->keeps_values) {
      drop_dead(importer, scope, node->inputs, node->input_count, i);
      drop_dead(importer, scope, node->outputs, node->output_count, i);
    }
  }
  if (is_model && options->progress != NULL) {
    options->progress(options->user, what, graph->nodes.count, graph->nodes.count);
  }
  return ND4C_OK;
}

/* -- graphs inside a node -------------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_emit_graph(nd4c_onnx_emission *emission, const nd4c_onnx_graph *graph,
                                 const nd4c_onnx_operand *inputs, int32_t input_count, nd4c_onnx_operand *outputs,
                                 int32_t output_count) {
  nd4c_onnx_importer *importer = emission->importer;
  if (graph->inputs.count != input_count || graph->outputs.count != output_count) {
    return nd4c_fail(ND4C_FORMAT, "the inner graph has %d inputs and %d outputs; expected %d and %d",
                     (int)graph->inputs.count, (int)graph->outputs.count, (int)input_count, (int)output_count);
  }
  nd4c_onnx_scope scope = {.graph = graph, .outer = emission->scope, .call = emission->scope->call};
  ND4C_TRY(nd4c_onnx_scope_open(importer, &scope));
  for (int32_t i = 0; i < input_count; i++) {
    nd4c_onnx_scope_bind(importer, &scope, nd4c_onnx_graph_input(graph, i)->value, inputs[i]);
  }
  nd4c_status status = nd4c_onnx_scope_run(importer, &scope);
  for (int32_t i = 0; i < output_count && status == ND4C_OK; i++) {
    status = nd4c_onnx_scope_read(importer, &scope, nd4c_onnx_graph_output(graph, i)->value, &outputs[i]);
    if (status == ND4C_OK && outputs[i] == ND4C_ONNX_OPERAND_NONE) {
      status = nd4c_fail(ND4C_FORMAT, "output %s of the inner graph has no value",
                         nd4c_span_show(nd4c_onnx_graph_output(graph, i)->name).text);
    }
    nd4c_onnx_operand_hold(importer, status == ND4C_OK ? outputs[i] : ND4C_ONNX_OPERAND_NONE);
  }
  nd4c_onnx_scope_close(importer, &scope);
  for (int32_t i = 0; i < output_count && status == ND4C_OK; i++) {
    status = nd4c_onnx_operand_pass(importer, outputs[i]);
  }
  return status;
}
