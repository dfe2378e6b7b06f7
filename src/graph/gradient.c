/* nd4c_graph_gradient (nd4c/variable.h), which programs call: goes backwards through the nodes between some values and
 * a loss, with the rules of ops/gradient. */
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/ir/graph_emitter.h"
#include "graph/ir/variables.h"
#include "nd4c/variable.h"
#include "ops/gradient/gradient.h"

enum { MOST_GIVENS = 2 }; /* outputs of the ops whose rules read the gradients of all */

typedef struct backward {
  nd4c_graph_emitter emitter;
  nd4c_graph *graph;
  bool *depends;         /* by value: it depends on one of the values */
  nd4c_value *gradients; /* by value; ND4C_VALUE_NONE: none yet */
} backward;

static bool is_floating(const nd4c_graph *graph, nd4c_value value) {
  return nd4c_dtype_get_info(graph->values[value].dtype)->kind == ND4C_KIND_FLOAT;
}

static bool is_complex(const nd4c_graph *graph, nd4c_value value) {
  return nd4c_dtype_get_info(graph->values[value].dtype)->kind == ND4C_KIND_COMPLEX;
}

/* Marks what the nodes compute from marked values. Integers and truth values change in steps: nothing that is computed
 * from them has a slope. Complex numbers have one, which go_back refuses. */
static void mark_dependent(const nd4c_graph *graph, bool *depends) {
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    bool any = false;
    for (int32_t k = 0; k < node->input_count; k++) {
      any = any || (node->inputs[k] >= 0 && depends[node->inputs[k]]);
    }
    for (int32_t k = 0; k < node->output_count && any; k++) {
      depends[node->outputs[k]] = is_floating(graph, node->outputs[k]) || is_complex(graph, node->outputs[k]);
    }
  }
}

static nd4c_status fail_node(const nd4c_graph_node *node, nd4c_status status) {
  char label[200];
  const char *quote = node->label[0] != '\0' ? "'" : "";
  return nd4c_fail_prefix(status, "nd4c_graph_gradient: %s%s%s%s%s", node->def->info.name, *quote != '\0' ? " " : "",
                          quote, nd4c_graph_label_text(node, label, sizeof label), quote);
}

static nd4c_status find_rule(const backward *b, const nd4c_graph_node *node, nd4c_gradient_rule *rule) {
  *rule = node->control == NULL ? nd4c_gradient_find_any(node->def->info.op) : NULL;
  const bool takes_all = *rule != NULL && nd4c_gradient_takes_all(node->def->info.op);
  for (int32_t i = 1; i < node->output_count && !takes_all; i++) {
    if (b->gradients[node->outputs[i]] != ND4C_VALUE_NONE) {
      return nd4c_fail(ND4C_UNSUPPORTED, "its output %d has no gradient", (int)i);
    }
  }
  return *rule != NULL ? ND4C_OK : nd4c_fail(ND4C_UNSUPPORTED, "the op has no gradient");
}

/* Adds the gradients that a node gives to those of its inputs that depend on a value. `node` is a copy: the list of
 * nodes grows meanwhile. */
static nd4c_status go_back(backward *b, const nd4c_graph_node *node) {
  nd4c_gradient_rule rule = NULL;
  nd4c_emitter *e = &b->emitter.emitter;
  nd4c_gradient_step step = {.inputs = node->inputs,
                             .input_count = node->input_count,
                             .output = node->outputs[0],
                             .given = b->gradients[node->outputs[0]],
                             .outputs = node->outputs,
                             .attrs = node->attrs};
  ND4C_TRY(find_rule(b, node, &rule));
  nd4c_emitted givens[MOST_GIVENS];
  for (int32_t i = 0; i < node->output_count && i < MOST_GIVENS; i++) {
    givens[i] = b->gradients[node->outputs[i]];
  }
  step.givens = givens;
  for (int32_t i = 0; i < node->input_count; i++) {
    const nd4c_value input = node->inputs[i];
    nd4c_emitted gradient = ND4C_EMITTED_NONE;
    if (input < 0 || !b->depends[input]) {
      continue;
    }
    if (is_complex(b->graph, input)) {
      return nd4c_fail(ND4C_UNSUPPORTED, "its operand %d is complex, and complex numbers have no gradient", (int)i);
    }
    ND4C_TRY(nd4c_gradient_emit(e, rule, &step, i, &gradient));
    ND4C_TRY(nd4c_emit_cast(e, gradient, nd4c_emitted_get(e, input).dtype, &gradient)); /* the op may have promoted */
    if (b->gradients[input] != ND4C_VALUE_NONE) {
      ND4C_TRY(nd4c_emit_binary(e, ND4C_OP_add, b->gradients[input], gradient, &gradient));
    }
    b->gradients[input] = gradient;
  }
  return ND4C_OK;
}

static nd4c_status give(backward *b, const nd4c_value *values, int32_t count, nd4c_value *gradients) {
  nd4c_emitter *e = &b->emitter.emitter;
  for (int32_t i = 0; i < count; i++) {
    gradients[i] = b->gradients[values[i]];
    if (gradients[i] == ND4C_VALUE_NONE) { /* the loss does not depend on it */
      const nd4c_emitted_info info = nd4c_emitted_get(e, values[i]);
      ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, &gradients[i]));
    }
  }
  return ND4C_OK;
}

static nd4c_status differentiate(backward *b, nd4c_value loss, const nd4c_value *values, int32_t count,
                                 nd4c_value *gradients) {
  nd4c_graph *graph = b->graph;
  const nd4c_emitted_info info = nd4c_emitted_get(&b->emitter.emitter, loss);
  for (int32_t i = 0; i < graph->value_count; i++) {
    b->gradients[i] = ND4C_VALUE_NONE;
  }
  for (int32_t i = 0; i < count; i++) {
    b->depends[values[i]] = true;
  }
  mark_dependent(graph, b->depends);
  const int32_t last = graph->node_count - 1;
  ND4C_TRY(nd4c_emit_full(&b->emitter.emitter, info.dtype, 1, info.rank, info.shape, &b->gradients[loss]));
  for (int32_t i = last; i >= 0; i--) {
    const nd4c_graph_node node = graph->nodes[i];
    ND4C_TRY(nd4c_cancellation_poll());
    bool given = false, depends = false;
    for (int32_t k = 0; k < node.output_count; k++) {
      given = given || b->gradients[node.outputs[k]] != ND4C_VALUE_NONE;
      depends = depends || b->depends[node.outputs[k]];
    }
    if (given && depends) {
      const nd4c_status status = go_back(b, &node);
      ND4C_TRY(status == ND4C_OK ? status : fail_node(&node, status));
    }
  }
  return give(b, values, count, gradients);
}

static nd4c_status check(const nd4c_graph *graph, nd4c_value loss, const nd4c_value *values, int32_t count) {
  ND4C_TRY(nd4c_graph_check_value(graph, loss, "nd4c_graph_gradient: the loss"));
  if (!is_floating(graph, loss)) {
    return nd4c_fail(ND4C_DTYPE, "nd4c_graph_gradient: the loss has dtype %s, expected a floating one",
                     nd4c_dtype_name(graph->values[loss].dtype));
  }
  if (graph->values[loss].size != 1) {
    return nd4c_fail(ND4C_SHAPE, "nd4c_graph_gradient: the loss is not one number; sum or mean makes one of several");
  }
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(nd4c_graph_check_value(graph, values[i], "nd4c_graph_gradient"));
    if (!is_floating(graph, values[i])) {
      return nd4c_fail(ND4C_DTYPE, "nd4c_graph_gradient: value %d has dtype %s, expected a floating one",
                       (int)values[i], nd4c_dtype_name(graph->values[values[i]].dtype));
    }
  }
  return ND4C_OK;
}

/* The trainable variables, in a region. */
static nd4c_status take_trainable(const nd4c_graph *graph, nd4c_region *region, int32_t count,
                                  const nd4c_value **values) {
  nd4c_value *made = NULL;
  int32_t found = 0;
  ND4C_TRY(nd4c_region_make(region, graph->variables.count, sizeof *made, &made));
  for (int32_t i = 0; i < graph->variables.count; i++) {
    if (graph->variable_items[i].trainable) {
      made[found++] = graph->variables.items[i].value;
    }
  }
  *values = made;
  return found == count ? ND4C_OK
                        : nd4c_fail(ND4C_ARGUMENT,
                                    "nd4c_graph_gradient: room was given for %d, the graph has %d "
                                    "trainable variables",
                                    (int)count, (int)found);
}

static nd4c_status run(nd4c_graph *graph, nd4c_region *region, nd4c_value loss, const nd4c_value *values, int32_t count,
                       nd4c_value *gradients) {
  backward b = {.graph = graph};
  nd4c_value *found = NULL;
  ND4C_TRY(values == NULL ? take_trainable(graph, region, count, &values) : ND4C_OK);
  ND4C_TRY(check(graph, loss, values, count));
  ND4C_TRY(nd4c_region_make(region, graph->value_count, sizeof *b.depends, &b.depends));
  ND4C_TRY(nd4c_region_make(region, graph->value_count, sizeof *b.gradients, &b.gradients));
  ND4C_TRY(nd4c_region_make(region, count, sizeof *found, &found));
  nd4c_graph_emitter_open(&b.emitter, graph, NULL);
  const nd4c_graph_mark mark = nd4c_graph_begin_recording(graph);
  const nd4c_status status = differentiate(&b, loss, values, count, found);
  if (status != ND4C_OK) {
    nd4c_graph_take_back(graph, mark);
  }
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    gradients[i] = found[i];
  }
  return status;
}

nd4c_status nd4c_graph_gradient(nd4c_graph *graph, nd4c_value loss, const nd4c_value *values, int32_t count,
                                nd4c_value *gradients) {
  nd4c_region region = {0};
  ND4C_TRY(nd4c_graph_check(graph));
  if (count < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_graph_gradient: count is %d, expected at least 0", (int)count);
  }
  if (count > 0 && gradients == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_gradient: gradients is NULL, but count is %d", (int)count);
  }
  const nd4c_status status = run(graph, &region, loss, values, count, gradients);
  nd4c_region_free(&region);
  return status;
}

/* -- values without gradient --------------------------------------------------------------------------------------- */

/* Integers of as many bits as a float. */
static nd4c_dtype integers_for(nd4c_dtype dtype) {
  switch (nd4c_dtype_get_info(dtype)->bits) {
    case 8:
      return ND4C_INT8;
    case 16:
      return ND4C_INT16;
    case 32:
      return ND4C_INT32;
    case 64:
      return ND4C_INT64;
    default:
      return ND4C_DTYPE_NONE;
  }
}

/* Nothing goes through integers. The pass peephole takes the pair of casts out again. */
nd4c_status nd4c_graph_stop_gradient(nd4c_graph *graph, nd4c_value value, nd4c_value *result) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (result == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_stop_gradient: result is NULL");
  }
  ND4C_TRY(nd4c_graph_check_value(graph, value, "nd4c_graph_stop_gradient"));
  const nd4c_dtype dtype = graph->values[value].dtype, bits = integers_for(dtype);
  if (!is_floating(graph, value) || bits == ND4C_DTYPE_NONE) {
    return nd4c_fail(ND4C_DTYPE, "nd4c_graph_stop_gradient: value %d has dtype %s, expected a float of 8 to 64 bits",
                     (int)value, nd4c_dtype_name(dtype));
  }
  const nd4c_attr there = nd4c_attr_of_dtype("dtype", bits), back = nd4c_attr_of_dtype("dtype", dtype);
  nd4c_graph_emitter emitter;
  nd4c_emitted cast = ND4C_EMITTED_NONE;
  nd4c_graph_emitter_open(&emitter, graph, NULL);
  const nd4c_graph_mark mark = nd4c_graph_begin_recording(graph);
  nd4c_status status = nd4c_emit(&emitter.emitter, ND4C_OP_bit_cast, &value, 1, &there, 1, &cast);
  if (status == ND4C_OK) {
    status = nd4c_emit(&emitter.emitter, ND4C_OP_bit_cast, &cast, 1, &back, 1, &cast);
  }
  if (status != ND4C_OK) {
    nd4c_graph_take_back(graph, mark);
    return status;
  }
  *result = cast;
  return ND4C_OK;
}
