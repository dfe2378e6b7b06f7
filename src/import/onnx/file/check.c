/* Checks a parsed model: in every graph, once its nodes are in order (order.c), each name is defined once and before
 * its use. Also finds values of outer graphs, and the last use of each value. onnx/model.c calls it. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/model.h"

static nd4c_status define(nd4c_onnx_graph *graph, int32_t number, nd4c_onnx_source source, int32_t index,
                          uint64_t offset) {
  nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, number);
  if (value->source != ND4C_ONNX_FROM_NOWHERE) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": value %s is defined a second time", offset,
                     nd4c_span_show(value->name).text);
  }
  value->source = source;
  value->index = index;
  value->last_use = graph->current;
  return ND4C_OK;
}

static nd4c_status define_initializers(nd4c_onnx_model *model, nd4c_onnx_graph *graph) {
  for (int32_t i = 0; i < graph->initializers.count; i++) {
    const nd4c_onnx_tensor *tensor = nd4c_onnx_graph_initializer(graph, i);
    int32_t number = 0;
    ND4C_TRY(nd4c_onnx_names_intern(model, graph, tensor->name, &number));
    ND4C_TRY(define(graph, number, ND4C_ONNX_FROM_INITIALIZER, i, tensor->offset));
  }
  graph->first_initializer = model->initializer_count;
  model->initializer_count += graph->initializers.count;
  return ND4C_OK;
}

/* The model's inputs need a type that nd4c has; those of other graphs may have none. */
static nd4c_status check_input_type(const nd4c_onnx_value_info *info) {
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  if (info->kind_count == 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "input %s at byte %" PRIu64 " is no tensor, sequence or optional",
                     nd4c_span_show(info->name).text, info->offset);
  }
  nd4c_status status = nd4c_onnx_dtype_resolve(info->type, &dtype);
  return status == ND4C_OK
             ? status
             : nd4c_fail_prefix(status, "input %s at byte %" PRIu64, nd4c_span_show(info->name).text, info->offset);
}

/* An override's initializer is as if the file did not have it. */
static nd4c_status forget_overridden(nd4c_onnx_graph *graph, const nd4c_onnx_overrides *overrides) {
  for (int32_t i = 0; i < overrides->count; i++) {
    const char *name = overrides->names[i];
    bool found = false;
    for (int32_t k = 0; k < graph->inputs.count && !found; k++) {
      const nd4c_onnx_value_info *info = nd4c_onnx_graph_input(graph, k);
      nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, info->value);
      found = nd4c_span_is(info->name, name) && value->source == ND4C_ONNX_FROM_INITIALIZER;
      value->source = found ? ND4C_ONNX_FROM_NOWHERE : value->source;
    }
    if (!found) {
      return nd4c_fail(ND4C_ARGUMENT, "options.overridden: the model has no input %s with an initializer",
                       nd4c_span_show(nd4c_span_of_text(name)).text);
    }
  }
  return ND4C_OK;
}

/* Inputs that have an initializer (IR version 3 wants them listed) are constants, not inputs. */
static nd4c_status define_inputs(nd4c_onnx_model *model, nd4c_onnx_graph *graph, bool is_model) {
  nd4c_onnx_value_info *inputs = graph->inputs.items, *kept_default = NULL;
  int32_t kept = 0;
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    nd4c_onnx_value_info info = inputs[i];
    const bool constant = nd4c_onnx_graph_value(graph, info.value)->source == ND4C_ONNX_FROM_INITIALIZER;
    if (constant && is_model) {
      ND4C_TRY(nd4c_region_append(&model->region, &graph->defaults, sizeof info, "inputs", &kept_default));
      *kept_default = info;
    }
    if (constant) {
      continue;
    }
    if (is_model) {
      ND4C_TRY(check_input_type(&info));
    }
    ND4C_TRY(define(graph, info.value, ND4C_ONNX_FROM_INPUT, kept, info.offset));
    inputs[kept++] = info;
  }
  graph->inputs.count = kept;
  return ND4C_OK;
}

/* Whether the value is defined at this point, in the graph itself or in one around it. Notes the use. */
static bool resolve(nd4c_onnx_graph *graph, int32_t number, int32_t use) {
  nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, number);
  if (value->source != ND4C_ONNX_FROM_NOWHERE) {
    value->last_use = use;
    return true;
  }
  int32_t levels = 1;
  for (const nd4c_onnx_graph *outer = graph->outer; outer != NULL; outer = outer->outer, levels++) {
    int32_t there = nd4c_onnx_names_find(outer, value->name);
    nd4c_onnx_value *found = there == ND4C_ONNX_NONE ? NULL : nd4c_onnx_graph_value(outer, there);
    if (found != NULL && found->source != ND4C_ONNX_FROM_NOWHERE && found->source != ND4C_ONNX_FROM_OUTSIDE) {
      found->last_use = outer->current;
      *value = (nd4c_onnx_value){value->name, ND4C_ONNX_FROM_OUTSIDE, there, levels, use, value->maker};
      return true;
    }
  }
  return false;
}

static nd4c_status check_graph(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_onnx_graph *outer,
                               const nd4c_onnx_overrides *overrides);

/* Checks graphs inside the node, which may read all values that are defined before the node. */
static nd4c_status check_inner(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_onnx_node *node) {
  for (int32_t i = 0; i < node->attribute_count; i++) {
    if (node->attributes[i].graph != NULL) {
      nd4c_status status = check_graph(model, node->attributes[i].graph, graph, NULL);
      if (status != ND4C_OK) {
        return nd4c_fail_prefix(status, "%s, attribute %s", nd4c_onnx_node_show(node).text,
                                nd4c_span_show(node->attributes[i].name).text);
      }
    }
  }
  return ND4C_OK;
}

static nd4c_status define_node(nd4c_onnx_model *model, nd4c_onnx_graph *graph, int32_t index) {
  const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, index);
  graph->current = index;
  graph->keeps_values = graph->keeps_values || nd4c_span_is(node->op, "Gradient");
  for (int32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] != ND4C_ONNX_NONE && !resolve(graph, node->inputs[i], index)) {
      return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 " reads %s, which nothing defines",
                       nd4c_onnx_node_show(node).text, node->offset,
                       nd4c_span_show(nd4c_onnx_graph_value(graph, node->inputs[i])->name).text);
    }
  }
  ND4C_TRY(check_inner(model, graph, node));
  for (int32_t i = 0; i < node->output_count; i++) {
    if (node->outputs[i] != ND4C_ONNX_NONE) {
      nd4c_status status = define(graph, node->outputs[i], ND4C_ONNX_FROM_NODE, index, node->offset);
      if (status != ND4C_OK) {
        return nd4c_fail_prefix(status, "%s", nd4c_onnx_node_show(node).text);
      }
    }
  }
  return ND4C_OK;
}

static nd4c_status check_outputs(nd4c_onnx_model *model, nd4c_onnx_graph *graph, bool is_model) {
  bool *seen = NULL;
  if (is_model && graph->outputs.count == 0) {
    return nd4c_fail(ND4C_FORMAT, "the graph has no outputs");
  }
  ND4C_TRY(nd4c_region_claim(&model->region, (size_t)graph->values.count, sizeof *seen, "the outputs", &seen));
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    const nd4c_onnx_value_info *info = nd4c_onnx_graph_output(graph, i);
    bool twice = is_model && seen[info->value];
    if (twice || !resolve(graph, info->value, INT32_MAX)) {
      return nd4c_fail(ND4C_FORMAT, "output %s at byte %" PRIu64 " is %s", nd4c_span_show(info->name).text,
                       info->offset, twice ? "listed twice" : "not defined by any node");
    }
    seen[info->value] = true;
  }
  return ND4C_OK;
}

/* overrides: of the model's graph; NULL: it is another one. */
static nd4c_status check_graph(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_onnx_graph *outer,
                               const nd4c_onnx_overrides *overrides) {
  const bool is_model = overrides != NULL;
  graph->outer = outer;
  graph->current = 0;
  ND4C_TRY(define_initializers(model, graph));
  ND4C_TRY(is_model ? forget_overridden(graph, overrides) : ND4C_OK);
  ND4C_TRY(define_inputs(model, graph, is_model));
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    ND4C_TRY(define_node(model, graph, i));
  }
  return check_outputs(model, graph, is_model);
}

nd4c_status nd4c_onnx_model_check(nd4c_onnx_model *model, const nd4c_onnx_overrides *overrides) {
  nd4c_onnx_function *functions = model->functions.items;
  for (int32_t i = 0; i < model->functions.count; i++) {
    nd4c_status status = nd4c_onnx_graph_order(model, &functions[i].body);
    status = status == ND4C_OK ? check_graph(model, &functions[i].body, NULL, NULL) : status;
    if (status != ND4C_OK) {
      return nd4c_fail_prefix(status, "function %s", nd4c_span_show(functions[i].name).text);
    }
  }
  ND4C_TRY(nd4c_onnx_graph_order(model, &model->graph));
  return check_graph(model, &model->graph, NULL, overrides);
}
