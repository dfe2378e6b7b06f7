/* Implements cost.h. Products of matrices, convolutions, attention and recurrent layers have formulas of their own; the
 * other ops count by their category. Extents that depend on dims count as they usually are
 * (nd4c_extents_usual). */
#include "graph/ir/cost.h"

#include <math.h>
#include <stdio.h>

#include "graph/ir/control.h"
#include "nd4c/dtype.h"

enum { OF_FUNCTION = 8 /* operations of exp, tanh and their like, about */ };

/* An operand; `none` if the node lacks it. */
static const nd4c_graph_value none = {.size = 0};

static const nd4c_graph_value *input_of(const nd4c_graph *graph, const nd4c_graph_node *node, int32_t position) {
  const bool given = position < node->input_count && node->inputs[position] >= 0;
  return given ? &graph->values[node->inputs[position]] : &none;
}

/* At least 1: an axis that may be empty must not hide what the others cost. */
static double extent_of(const nd4c_graph *graph, int64_t extent) {
  return nd4c_extent_is_symbolic(extent) ? fmax(nd4c_extents_usual(graph->extents, extent), 1) : (double)extent;
}

/* Extent of an axis that is counted from the end: 0 is the last one. 1 if there is no such axis. */
static double extent_from_end(const nd4c_graph *graph, const nd4c_graph_value *value, int32_t axis) {
  return axis < value->rank ? extent_of(graph, value->shape[value->rank - 1 - axis]) : 1.0;
}

static double size_of(const nd4c_graph *graph, const nd4c_graph_value *value) {
  double size = 1;
  if (!nd4c_extent_is_symbolic(value->size)) {
    return (double)value->size;
  }
  for (int32_t i = 0; i < value->rank; i++) {
    size *= extent_of(graph, value->shape[i]);
  }
  return size;
}

static double largest_size(const nd4c_graph *graph, const nd4c_graph_node *node) {
  double largest = 0;
  for (int32_t i = 0; i < node->input_count; i++) {
    largest = fmax(largest, size_of(graph, input_of(graph, node, i)));
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    largest = fmax(largest, size_of(graph, &graph->values[node->outputs[i]]));
  }
  return largest;
}

/* -- operations of ops with products --------------------------------------------------------------------------------
 */

/* Each output is a sum over one filter: w [outputs, ...]. */
static double of_windows(const nd4c_graph *graph, const nd4c_graph_value *output, const nd4c_graph_value *w) {
  return w->rank == 0 || w->shape[0] == 0
             ? 0
             : 2.0 * size_of(graph, output) * size_of(graph, w) / extent_of(graph, w->shape[0]);
}

/* q [n, heads, t, head] or [n, t, features]: scores, and their product with v. */
static double of_attention(const nd4c_graph *graph, const nd4c_graph_value *q, const nd4c_graph_value *k,
                           const nd4c_graph_value *past, const nd4c_graph_value *output) {
  const double keys = extent_from_end(graph, k, 1) + (past->rank > 1 ? extent_from_end(graph, past, 1) : 0);
  return 2.0 * keys * (size_of(graph, q) + size_of(graph, output));
}

/* Four projections and the attention between them. */
static double of_multi_head(const nd4c_graph *graph, const nd4c_graph_node *node, const nd4c_graph_value *output) {
  double operations = of_attention(graph, input_of(graph, node, 0), input_of(graph, node, 1), &none, output);
  for (int32_t i = 0; i < 4; i++) {
    const nd4c_graph_value *x = input_of(graph, node, i < 3 ? i : 0), *w = input_of(graph, node, 3 + i);
    operations += 2.0 * size_of(graph, x) / fmax(extent_from_end(graph, x, 0), 1.0) * size_of(graph, w);
  }
  return operations;
}

/* Products of a step's x and h with w and r. */
static double of_recurrent(const nd4c_graph *graph, const nd4c_graph_node *node) {
  const nd4c_graph_value *x = input_of(graph, node, 0);
  const double steps = size_of(graph, x) / fmax(extent_from_end(graph, x, 0), 1.0);
  return 2.0 * steps * (size_of(graph, input_of(graph, node, 1)) + size_of(graph, input_of(graph, node, 2)));
}

/* A sum over axes that two operands share: sizes a * b / output = (summed extents)^2. */
static double of_contraction(const nd4c_graph *graph, const nd4c_graph_node *node, const nd4c_graph_value *output) {
  const double a = size_of(graph, input_of(graph, node, 0)),
               b = node->input_count > 1 ? size_of(graph, input_of(graph, node, 1)) : 1;
  return size_of(graph, output) == 0 ? 0
                                     : 2.0 * size_of(graph, output) * fmax(1.0, sqrt(a * b / size_of(graph, output)));
}

/* True if the op has products; *operations are theirs. */
static bool count_products(const nd4c_graph *graph, const nd4c_graph_node *node, double *operations) {
  const nd4c_graph_value *output = &graph->values[node->outputs[0]], *first = input_of(graph, node, 0);
  switch (node->def->info.op) {
    case ND4C_OP_matmul:
    case ND4C_OP_matvec:
    case ND4C_OP_vecmat:
    case ND4C_OP_inner:
    case ND4C_OP_linear:
    case ND4C_OP_linear_int8:
    case ND4C_OP_matmul_integer:
    case ND4C_OP_qlinear_matmul:
    case ND4C_OP_matmul_nbits:
      *operations = 2.0 * size_of(graph, output) * extent_from_end(graph, first, 0);
      return true;
    case ND4C_OP_conv:
    case ND4C_OP_conv_integer:
    case ND4C_OP_deformable_conv:
    case ND4C_OP_causal_conv_with_state:
      *operations = of_windows(graph, output, input_of(graph, node, 1));
      return true;
    case ND4C_OP_qlinear_conv:
      *operations = of_windows(graph, output, input_of(graph, node, ND4C_IN_qlinear_conv_w));
      return true;
    case ND4C_OP_separable_conv2d:
      *operations = of_windows(graph, output, input_of(graph, node, 2)) +
                    size_of(graph, output) / fmax(extent_from_end(graph, output, 2), 1.0) * 2.0 *
                        size_of(graph, input_of(graph, node, 1));
      return true;
    case ND4C_OP_conv_transpose:
      *operations = of_windows(graph, first, input_of(graph, node, 1));
      return true;
    case ND4C_OP_attention:
    case ND4C_OP_attention_with_cache:
      *operations = of_attention(graph, first, input_of(graph, node, ND4C_IN_attention_k),
                                 input_of(graph, node, ND4C_IN_attention_past_key), output);
      return true;
    case ND4C_OP_multi_head_attention:
      *operations = of_multi_head(graph, node, output);
      return true;
    case ND4C_OP_rnn:
    case ND4C_OP_lstm:
    case ND4C_OP_gru:
      *operations = of_recurrent(graph, node);
      return true;
    case ND4C_OP_einsum:
    case ND4C_OP_tensordot:
    case ND4C_OP_multi_dot:
      *operations = of_contraction(graph, node, output);
      return true;
    default:
      return false;
  }
}

/* -- the other ops --------------------------------------------------------------------------------------------------
 */

/* Element-wise ops that take more than an operation an element: those of two families, and some of `unary` and
 * `binary`. */
static bool is_function(nd4c_op op) {
#define FUNCTION_CASE(number, version, name, ...) case ND4C_OP_##name:
  switch (op) {
    case ND4C_OP_exp:
    case ND4C_OP_log:
    case ND4C_OP_sin:
    case ND4C_OP_cos:
    case ND4C_OP_tanh:
    case ND4C_OP_erf:
    case ND4C_OP_sigmoid:
    case ND4C_OP_gelu:
    case ND4C_OP_power:
      ND4C_OPS_MATHEMATICS(FUNCTION_CASE)
      ND4C_OPS_ACTIVATION(FUNCTION_CASE)
      return true;
    default:
      return false;
  }
#undef FUNCTION_CASE
}

static double count_others(const nd4c_graph *graph, const nd4c_graph_node *node) {
  const double largest = largest_size(graph, node);
  switch (node->def->info.category) {
    case ND4C_CATEGORY_UNARY:
    case ND4C_CATEGORY_BINARY:
    case ND4C_CATEGORY_TERNARY:
      return size_of(graph, &graph->values[node->outputs[0]]) * (is_function(node->def->info.op) ? OF_FUNCTION : 1);
    case ND4C_CATEGORY_CREATION:
    case ND4C_CATEGORY_SHAPE:
    case ND4C_CATEGORY_INDEXING:
      return 0;
    case ND4C_CATEGORY_SORTING:
      return largest * log2(largest + 1);
    case ND4C_CATEGORY_LINALG: /* decompositions of the matrices on the last two axes */
      return largest * extent_from_end(graph, input_of(graph, node, 0), 0);
    case ND4C_CATEGORY_NN:
      return largest * OF_FUNCTION;
    default:
      return largest;
  }
}

static double bytes_of(const nd4c_graph *graph, const nd4c_graph_value *value) {
  return nd4c_extent_is_symbolic(value->size) ? size_of(graph, value) * (double)nd4c_dtype_size(value->dtype)
                                              : (double)nd4c_dtype_bytes(value->dtype, value->size);
}

double nd4c_value_bytes(const nd4c_graph *graph, nd4c_value value) {
  return bytes_of(graph, &graph->values[value]);
}

/* An operand of an element-wise op has no more elements than the result. Of symbolic extents this is not always seen:
 * a guard may say that n * m is 30, where n and m alone are unknown. */
static double bytes_read(const nd4c_graph *graph, const nd4c_graph_node *node, const nd4c_graph_value *input) {
  const double bytes = bytes_of(graph, input);
  switch (node->def->info.category) {
    case ND4C_CATEGORY_UNARY:
    case ND4C_CATEGORY_BINARY:
    case ND4C_CATEGORY_TERNARY:
      return nd4c_extent_is_symbolic(input->size)
                 ? fmin(bytes, size_of(graph, &graph->values[node->outputs[0]]) * (double)nd4c_dtype_size(input->dtype))
                 : bytes;
    default:
      return bytes;
  }
}

/* Ops that pick elements read no more of their first input than they write, and ops without results nothing. */
static double count_bytes(const nd4c_graph *graph, const nd4c_graph_node *node) {
  const nd4c_category category = node->def->info.category;
  const bool picks = category == ND4C_CATEGORY_INDEXING || category == ND4C_CATEGORY_SHAPE;
  double read = 0, written = 0;
  if (node->def->view != NULL) {
    return 0;
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    written += bytes_of(graph, &graph->values[node->outputs[i]]);
  }
  for (int32_t i = 0; i < node->input_count; i++) {
    const double bytes = bytes_read(graph, node, input_of(graph, node, i));
    read += picks && i == 0 ? fmin(bytes, written) : bytes;
  }
  return written > 0 ? read + written : 0;
}

/* The dearer branch; each round of a loop whose rounds are known, else one. */
static nd4c_cost of_bodies(const nd4c_control *control) {
  const double rounds = control->rounds >= 0 ? (double)control->rounds : 1.0;
  nd4c_cost cost = {.bytes = 0};
  for (int32_t i = 0; i < control->body_count; i++) {
    cost.operations = fmax(cost.operations, rounds * control->bodies[i]->cost.operations);
    cost.bytes = fmax(cost.bytes, rounds * control->bodies[i]->cost.bytes);
  }
  return cost;
}

nd4c_cost nd4c_node_cost(const nd4c_graph *graph, const nd4c_graph_node *node) {
  if (node->control != NULL) {
    return of_bodies(node->control);
  }
  nd4c_cost cost = {.bytes = count_bytes(graph, node)};
  if (node->def->view == NULL && !count_products(graph, node, &cost.operations)) {
    cost.operations = count_others(graph, node);
  }
  return cost;
}

nd4c_cost nd4c_graph_cost(const nd4c_graph *graph) {
  nd4c_cost sum = {.bytes = 0};
  for (int32_t i = 0; i < graph->node_count; i++) {
    if (graph->nodes[i].def != NULL) {
      const nd4c_cost cost = nd4c_node_cost(graph, &graph->nodes[i]);
      sum.operations += cost.operations;
      sum.bytes += cost.bytes;
    }
  }
  return sum;
}

/* "1.25 G": three digits and a prefix. */
static const char *short_number(double number, char *buffer, size_t size) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  while (number >= 999.5 && prefix < 5) {
    number /= 1000.0;
    prefix++;
  }
  (void)snprintf(buffer, size, "%.3g %s", number, prefixes[prefix]);
  return buffer;
}

const char *nd4c_cost_text(nd4c_cost cost, char *buffer, size_t size) {
  char operations[32], bytes[32];
  (void)snprintf(buffer, size, "%soperations, %sB moved", short_number(cost.operations, operations, sizeof operations),
                 short_number(cost.bytes, bytes, sizeof bytes));
  return buffer;
}

double nd4c_cost_weight(nd4c_cost cost, int32_t nodes) {
  return fmax(cost.operations / 32.0, cost.bytes / 8.0) + 100.0 * nodes;
}

/* A node with bodies: its own call, and the dearer branch or all rounds. */
static double weight_of_bodies(const nd4c_control *control) {
  enum { ROUNDS = 8 }; /* assumed where they are not known: more than one, so that work in front of a loop is cheaper */
  const bool once = control->kind == ND4C_CONTROL_IF || control->kind == ND4C_CONTROL_CALL;
  const double rounds = once ? 1.0 : control->rounds >= 0 ? (double)control->rounds : (double)ROUNDS;
  double weight = 0;
  for (int32_t i = 0; i < control->body_count; i++) {
    weight = fmax(weight, rounds * control->bodies[i]->weight);
  }
  return weight + nd4c_cost_weight((nd4c_cost){0}, 1);
}

static double weight_of(const nd4c_graph *graph, const nd4c_graph_node *node) {
  if (node->control != NULL) {
    return weight_of_bodies(node->control);
  }
  return node->def->view == NULL ? nd4c_cost_weight(nd4c_node_cost(graph, node), 1) : 0;
}

double nd4c_graph_weight(const nd4c_graph *graph) {
  double sum = 0;
  for (int32_t i = 0; i < graph->node_count; i++) {
    sum += weight_of(graph, &graph->nodes[i]);
  }
  return sum;
}
