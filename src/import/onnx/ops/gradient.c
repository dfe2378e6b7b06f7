/* Gradient, of the preview of the training domain: dy/dx for some x of the graph, by going backwards through the nodes
 * between. What it differentiates is the list of rules below. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/status.h"
#include "import/onnx/family.h"

/* One node on the way back. */
typedef struct backward {
  nd4c_onnx_emission *emission;
  nd4c_onnx_operand inputs[2], output; /* what the node read and gave */
  nd4c_onnx_operand given;             /* gradient of its output */
} backward;

/* The gradient of input `index`. */
typedef nd4c_status (*backward_rule)(const backward *step, int32_t index, nd4c_onnx_operand *gradient);

#define UNARY(op, x, y) ND4C_TRY(nd4c_emit_unary(&step->emission->emitter, ND4C_OP_##op, x, y))
#define BINARY(op, a, b, y) ND4C_TRY(nd4c_emit_binary(&step->emission->emitter, ND4C_OP_##op, a, b, y))

static nd4c_status back_pass(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  (void)index;
  *gradient = step->given;
  return ND4C_OK;
}

static nd4c_status back_negative(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  (void)index;
  UNARY(negative, step->given, gradient);
  return ND4C_OK;
}

static nd4c_status back_subtract(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  return index == 0 ? back_pass(step, index, gradient) : back_negative(step, index, gradient);
}

static nd4c_status back_multiply(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  BINARY(multiply, step->given, step->inputs[1 - index], gradient);
  return ND4C_OK;
}

/* a / b: 1 / b and -(a / b) / b */
static nd4c_status back_divide(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  BINARY(divide, step->given, step->inputs[1], gradient);
  if (index == 1) {
    BINARY(multiply, *gradient, step->output, gradient);
    UNARY(negative, *gradient, gradient);
  }
  return ND4C_OK;
}

/* a b: g b^T and a^T g */
static nd4c_status back_matmul(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  static const int64_t swapped[2] = {1, 0};
  nd4c_onnx_operand other = step->inputs[1 - index];
  if (nd4c_emitted_get(&step->emission->emitter, step->inputs[0]).rank != 2 ||
      nd4c_emitted_get(&step->emission->emitter, step->inputs[1]).rank != 2) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a product of other than matrices");
  }
  ND4C_TRY(nd4c_emit_axes(&step->emission->emitter, ND4C_OP_transpose, other, 2, swapped, &other));
  BINARY(matmul, index == 0 ? step->given : other, index == 0 ? other : step->given, gradient);
  return ND4C_OK;
}

static nd4c_status back_exp(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  (void)index;
  BINARY(multiply, step->given, step->output, gradient);
  return ND4C_OK;
}

static nd4c_status back_log(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  (void)index;
  BINARY(divide, step->given, step->inputs[0], gradient);
  return ND4C_OK;
}

/* g / (2 y) */
static nd4c_status back_sqrt(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  (void)index;
  BINARY(add, step->output, step->output, gradient);
  BINARY(divide, step->given, *gradient, gradient);
  return ND4C_OK;
}

/* g (1 - y^2) */
static nd4c_status back_tanh(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  nd4c_onnx_operand one = ND4C_ONNX_OPERAND_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_scalar_like(&step->emission->emitter, step->output, 1, &one));
  UNARY(square, step->output, gradient);
  BINARY(subtract, one, *gradient, gradient);
  BINARY(multiply, step->given, *gradient, gradient);
  return ND4C_OK;
}

/* g y (1 - y) */
static nd4c_status back_sigmoid(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  nd4c_onnx_operand one = ND4C_ONNX_OPERAND_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_scalar_like(&step->emission->emitter, step->output, 1, &one));
  BINARY(subtract, one, step->output, gradient);
  BINARY(multiply, step->output, *gradient, gradient);
  BINARY(multiply, step->given, *gradient, gradient);
  return ND4C_OK;
}

/* g where x > 0 */
static nd4c_status back_relu(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  nd4c_onnx_operand operands[3] = {ND4C_ONNX_OPERAND_NONE, step->given, ND4C_ONNX_OPERAND_NONE};
  (void)index;
  ND4C_TRY(nd4c_emit_with_scalar(&step->emission->emitter, ND4C_OP_greater, step->inputs[0], 0, &operands[0]));
  ND4C_TRY(nd4c_emit_scalar_like(&step->emission->emitter, step->given, 0, &operands[2]));
  return nd4c_emit(&step->emission->emitter, ND4C_OP_where, operands, 3, NULL, 0, gradient);
}

static nd4c_status back_sin(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  (void)index;
  UNARY(cos, step->inputs[0], gradient);
  BINARY(multiply, step->given, *gradient, gradient);
  return ND4C_OK;
}

static nd4c_status back_cos(const backward *step, int32_t index, nd4c_onnx_operand *gradient) {
  (void)index;
  UNARY(sin, step->inputs[0], gradient);
  BINARY(multiply, step->given, *gradient, gradient);
  UNARY(negative, *gradient, gradient);
  return ND4C_OK;
}

static const struct {
  const char *op;
  backward_rule rule;
} rules[] = {{"Identity", back_pass}, {"Add", back_pass},     {"Sub", back_subtract},  {"Mul", back_multiply},
             {"Div", back_divide},    {"Neg", back_negative}, {"MatMul", back_matmul}, {"Exp", back_exp},
             {"Log", back_log},       {"Sqrt", back_sqrt},    {"Tanh", back_tanh},     {"Sigmoid", back_sigmoid},
             {"Relu", back_relu},     {"Sin", back_sin},      {"Cos", back_cos}};

/* -- the way back ---------------------------------------------------------------------------------------------- */

/* What was broadcast from x's shape is summed back to it. */
static nd4c_status sum_to(nd4c_onnx_emission *emission, nd4c_onnx_operand x, nd4c_onnx_operand *gradient) {
  int64_t axes[ND4C_MAX_RANK];
  int32_t count = 0;
  nd4c_emitted_info wanted = nd4c_emitted_get(&emission->emitter, x);
  nd4c_emitted_info given = nd4c_emitted_get(&emission->emitter, *gradient);
  int32_t more = given.rank - wanted.rank;
  for (int32_t i = 0; i < given.rank; i++) {
    if (i < more || (wanted.shape[i - more] == 1 && given.shape[i] != 1)) {
      axes[count++] = i;
    }
  }
  if (count == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit_reduce(&emission->emitter, ND4C_OP_sum, *gradient, count, axes, true, gradient));
  return nd4c_emit_reshape(&emission->emitter, *gradient, wanted.rank, wanted.shape, gradient);
}

static nd4c_status find_rule(const nd4c_onnx_node *node, backward_rule *rule) {
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    if (node->function == NULL && node->domain.size == 0 && nd4c_span_is(node->op, rules[i].op) &&
        node->input_count <= 2) {
      *rule = rules[i].rule;
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of %s", nd4c_span_show(node->op).text);
}

/* Adds what a node gives its inputs to their gradients, of those that depend on an x. */
static nd4c_status go_back(nd4c_onnx_emission *emission, const nd4c_onnx_node *node, const bool *depends,
                           nd4c_onnx_operand *gradients) {
  backward step = {.emission = emission, .given = gradients[node->outputs[0]]};
  backward_rule rule = NULL;
  ND4C_TRY(find_rule(node, &rule));
  ND4C_TRY(nd4c_onnx_read_value(emission, node->outputs[0], &step.output));
  for (int32_t i = 0; i < node->input_count; i++) {
    ND4C_TRY(nd4c_onnx_read_value(emission, node->inputs[i], &step.inputs[i]));
  }
  for (int32_t i = 0; i < node->input_count; i++) {
    nd4c_onnx_operand *sum = &gradients[node->inputs[i]];
    nd4c_onnx_operand gradient = ND4C_ONNX_OPERAND_NONE;
    if (!depends[node->inputs[i]]) {
      continue;
    }
    ND4C_TRY(rule(&step, i, &gradient));
    ND4C_TRY(sum_to(emission, step.inputs[i], &gradient));
    if (*sum != ND4C_ONNX_OPERAND_NONE) {
      ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *sum, gradient, &gradient));
    }
    *sum = gradient;
  }
  return ND4C_OK;
}

/* -- the node -------------------------------------------------------------------------------------------------- */

/* Numbers of the named values, which are the node's inputs from `first` on: the graph is differentiated where it was
 * computed. */
static nd4c_status find_values(nd4c_onnx_emission *emission, const char *attribute, int32_t first, bool *marks,
                               int32_t *count) {
  const nd4c_onnx_graph *graph = nd4c_onnx_emission_graph(emission);
  const nd4c_span *names = NULL;
  ND4C_TRY(nd4c_onnx_get_strings(emission, attribute, &names, count));
  for (int32_t i = 0; i < *count; i++) {
    int32_t number = nd4c_onnx_names_find(graph, names[i]);
    if (number == ND4C_ONNX_NONE || first + i >= emission->node->input_count ||
        emission->node->inputs[first + i] != number) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient at another value of %s than the graph's own",
                       nd4c_span_show(names[i]).text);
    }
    marks[number] = true;
  }
  return ND4C_OK;
}

/* Marks what is computed from what is marked, in the nodes before this one. */
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

/* Whether the way back leads through the node: something depends on what it gives, and it on an x. */
static nd4c_status is_on_the_way(const nd4c_onnx_node *node, const bool *is_x, const bool *depends,
                                 const nd4c_onnx_operand *gradients, bool *on_the_way) {
  *on_the_way = false;
  for (int32_t i = 0; i < node->output_count; i++) {
    int32_t number = node->outputs[i];
    if (number == ND4C_ONNX_NONE || gradients[number] == ND4C_ONNX_OPERAND_NONE || !depends[number] || is_x[number]) {
      continue;
    }
    if (node->output_count > 1) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of %s, which has several outputs",
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
      nd4c_onnx_operand zero = ND4C_ONNX_OPERAND_NONE;
      ND4C_TRY(nd4c_emit_scalar(&emission->emitter, info.dtype, 0, &zero));
      ND4C_TRY(nd4c_emit_broadcast(&emission->emitter, zero, info.rank, info.shape, &emission->outputs[i]));
    }
  }
  return ND4C_OK;
}

/* `marks`: room for two flags a value, zero; gradients: NONE. */
static nd4c_status differentiate(nd4c_onnx_emission *emission, bool *marks, nd4c_onnx_operand *gradients) {
  const nd4c_onnx_graph *graph = nd4c_onnx_emission_graph(emission);
  bool *is_x = marks;
  bool *depends = marks + graph->values.count;
  int32_t count = 0;
  int32_t others = 0;
  nd4c_span name;
  nd4c_onnx_operand y = ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_operand one = ND4C_ONNX_OPERAND_NONE;
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
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, info.dtype, 1, &one));
  ND4C_TRY(nd4c_emit_broadcast(&emission->emitter, one, info.rank, info.shape, &gradients[number]));
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
  bool *marks = nd4c_allocate_zeroed(2 * count, sizeof *marks);
  nd4c_onnx_operand *gradients = nd4c_allocate(count * sizeof *gradients);
  nd4c_status status = ND4C_OK;
  if (marks == NULL || gradients == NULL) {
    status = nd4c_fail_memory("a gradient", count * sizeof *gradients);
  } else {
    for (size_t i = 0; i < count; i++) {
      gradients[i] = ND4C_ONNX_OPERAND_NONE;
    }
    status = differentiate(emission, marks, gradients);
  }
  nd4c_deallocate(marks);
  nd4c_deallocate(gradients);
  return status;
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS(X) X(Gradient, 1, LAST, 1, ANY, ANY, gradient, NONE)

ND4C_ONNX_FAMILY(gradient, "ai.onnx.preview.training", ROWS)
