/* Gradient, of the preview of the training domain: dy/dx for some x of the graph, by going backwards through the nodes
 * between. It differentiates ops that have a rule in ops/gradient. emission/scope.c calls it through the row below. */
#include "ops/gradient/gradient.h"
#include "base/status.h"
#include "import/onnx/family.h"

/* The rule of the nd4c op to which a node maps directly. */
static nd4c_status find_rule(const nd4c_onnx_node *node, nd4c_gradient_rule *rule) {
  const nd4c_onnx_mapping *row = node->mapping;
  nd4c_op op = ND4C_OP_NONE;
  if (node->function == NULL && node->input_count <= ND4C_GRADIENT_INPUTS) {
    bool same = row->emit == nd4c_onnx_emit_direct || row->emit == nd4c_onnx_emit_direct_legacy;
    op = same ? row->op : nd4c_span_is(node->op, "Identity") ? ND4C_OP_copy : ND4C_OP_NONE;
  }
  *rule = nd4c_gradient_find(op);
  return *rule != NULL
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED, "the gradient of %s is not supported", nd4c_span_show(node->op).text);
}

/* Adds the gradients that a node gives to those of its inputs that depend on an x. */
static nd4c_status go_back(nd4c_onnx_emission *emission, const nd4c_onnx_node *node, const bool *depends,
                           nd4c_onnx_operand *gradients) {
  nd4c_emitted inputs[ND4C_GRADIENT_INPUTS];
  nd4c_gradient_step step = {.inputs = inputs, .input_count = node->input_count, .given = gradients[node->outputs[0]]};
  nd4c_gradient_rule rule = NULL;
  ND4C_TRY(find_rule(node, &rule));
  ND4C_TRY(nd4c_onnx_read_value(emission, node->outputs[0], &step.output));
  for (int32_t i = 0; i < node->input_count; i++) {
    ND4C_TRY(nd4c_onnx_read_value(emission, node->inputs[i], &inputs[i]));
  }
  for (int32_t i = 0; i < node->input_count; i++) {
    nd4c_onnx_operand *sum = &gradients[node->inputs[i]];
    nd4c_onnx_operand gradient = ND4C_ONNX_OPERAND_NONE;
    if (!depends[node->inputs[i]]) {
      continue;
    }
    ND4C_TRY(nd4c_gradient_emit(&emission->emitter, rule, &step, i, &gradient));
    if (*sum != ND4C_ONNX_OPERAND_NONE) {
      ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *sum, gradient, &gradient));
    }
    *sum = gradient;
  }
  return ND4C_OK;
}

/* -- the node -------------------------------------------------------------------------------------------------- */

/* Marks the named values, which must be the node's inputs from `first` on: the gradient is taken at the values that the
 * graph has computed. */
static nd4c_status find_values(nd4c_onnx_emission *emission, const char *attribute, int32_t first, bool *marks,
                               int32_t *count) {
  const nd4c_onnx_graph *graph = nd4c_onnx_emission_graph(emission);
  const nd4c_span *names = NULL;
  ND4C_TRY(nd4c_onnx_get_strings(emission, attribute, &names, count));
  for (int32_t i = 0; i < *count; i++) {
    int32_t number = nd4c_onnx_names_find(graph, names[i]);
    if (number == ND4C_ONNX_NONE || first + i >= emission->node->input_count ||
        emission->node->inputs[first + i] != number) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient at another value of %s than the graph's own is not supported",
                       nd4c_span_show(names[i]).text);
    }
    marks[number] = true;
  }
  return ND4C_OK;
}

/* Marks all values that the nodes before `end` compute from marked values. */
static void mark_dependent(const nd4c_onnx_graph *graph, int32_t end, bool *depends) {
  for (int32_t i = 0; i < end; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    bool any = false;
    for (int32_t j = 0; j < node->input_count; j++) {
      any = any || (node->inputs[j] != ND4C_ONNX_NONE && depends[node->inputs[j]]);
    }
    for (int32_t j = 0; j < node->output_count && any; j++) {
      if (node->outputs[j] != ND4C_ONNX_NONE) {
        depends[node->outputs[j]] = true;
      }
    }
  }
}

/* Whether the node lies between an x and y: its output has a gradient and depends on an x. */
static nd4c_status is_on_the_way(const nd4c_onnx_node *node, const bool *is_x, const bool *depends,
                                 const nd4c_onnx_operand *gradients, bool *on_the_way) {
  *on_the_way = false;
  for (int32_t i = 0; i < node->output_count; i++) {
    int32_t number = node->outputs[i];
    if (number == ND4C_ONNX_NONE || gradients[number] == ND4C_ONNX_OPERAND_NONE || !depends[number] || is_x[number]) {
      continue;
    }
    if (node->output_count > 1) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of %s, which has several outputs, is not supported",
                       nd4c_span_show(node->op).text);
    }
    *on_the_way = true;
  }
  return ND4C_OK;
}

static nd4c_status give_gradients(nd4c_onnx_emission *emission, int32_t count, const nd4c_onnx_operand *gradients) {
  for (int32_t i = 0; i < count && i < emission->node->output_count; i++) {
    nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[i]);
    emission->outputs[i] = gradients[emission->node->inputs[i]];
    if (emission->outputs[i] == ND4C_ONNX_OPERAND_NONE) { /* y does not depend on it */
      ND4C_TRY(nd4c_emit_full(&emission->emitter, info.dtype, 0, info.rank, info.shape, &emission->outputs[i]));
    }
  }
  return ND4C_OK;
}

/* `marks`: two flags for each value, all false; `gradients`: by value, all NONE. */
static nd4c_status differentiate(nd4c_onnx_emission *emission, bool *marks, nd4c_onnx_operand *gradients) {
  const nd4c_onnx_graph *graph = nd4c_onnx_emission_graph(emission);
  bool *is_x = marks;
  bool *depends = marks + graph->values.count;
  int32_t count = 0;
  int32_t others = 0;
  nd4c_span name;
  nd4c_onnx_operand y = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(find_values(emission, "xs", 0, is_x, &count));
  memcpy(depends, is_x, (size_t)graph->values.count);
  ND4C_TRY(find_values(emission, "zs", count, is_x, &others));
  ND4C_TRY(nd4c_onnx_get_text(emission, "y", "", &name));
  int32_t number = nd4c_onnx_names_find(graph, name);
  if (number != ND4C_ONNX_NONE) {
    ND4C_TRY(nd4c_onnx_read_value(emission, number, &y));
  }
  if (y == ND4C_ONNX_OPERAND_NONE || emission->input_count != count + others) {
    return nd4c_fail(ND4C_FORMAT, "%d inputs for %d names, and %s to differentiate", (int)emission->input_count,
                     (int)(count + others), nd4c_span_show(name).text);
  }
  int32_t end = (int32_t)(emission->node - nd4c_onnx_graph_node(graph, 0));
  mark_dependent(graph, end, depends);
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, y);
  ND4C_TRY(nd4c_emit_full(&emission->emitter, info.dtype, 1, info.rank, info.shape, &gradients[number]));
  for (int32_t i = end - 1; i >= 0; i--) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    bool on_the_way = false;
    ND4C_TRY(is_on_the_way(node, is_x, depends, gradients, &on_the_way));
    if (on_the_way) {
      ND4C_TRY(go_back(emission, node, depends, gradients));
    }
  }
  return give_gradients(emission, count, gradients);
}

static nd4c_status emit_gradient(nd4c_onnx_emission *emission) {
  size_t count = (size_t)nd4c_onnx_emission_graph(emission)->values.count;
  ND4C_TRY(nd4c_onnx_check_no_dims(emission, "a gradient"));
  bool *marks = NULL;
  nd4c_onnx_operand *gradients = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, 2 * count, sizeof *marks, "a gradient", &marks));
  ND4C_TRY(nd4c_onnx_claim(emission, count, sizeof *gradients, "a gradient", &gradients));
  for (size_t i = 0; i < count; i++) {
    gradients[i] = ND4C_ONNX_OPERAND_NONE;
  }
  return differentiate(emission, marks, gradients);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define NAMED(op, rule) #op ", "
#define DIFFERENTIABLE ND4C_GRADIENT_TABLE(NAMED)
#define ROWS                                            \
  CHAIN(Gradient, 1, LAST, 1, ANY, ANY, gradient, NONE, \
        "the gradients of the nodes between the inputs and y; a node may map to " DIFFERENTIABLE "and to no other op")

ND4C_ONNX_FAMILY(gradient, "ai.onnx.preview.training", ROWS)
