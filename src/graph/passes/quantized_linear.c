/* Makes qlinear_matmul and linear_int8 of dequantize_linear and matmul or linear, which multiply bytes; the first
 * quantises its result, too. passes.c runs it on optimised plans of one device, before constants are folded, which
 * would turn the weights into floats. It does so only where another kernel than the reference's computes the op.
 *
 * The products are summed exactly, and rounded once. The single ops round in float32 more often. A quantised result may
 * therefore differ by one step. Products whose sums may not fit into int32 stay in float32. */
#include "base/status.h"
#include "graph/ir/quantized.h"
#include "graph/match/fast.h"
#include "graph/passes.h"

/* The scales of a factor belong to its columns, or are one. */
static bool has_column_scales(const nd4c_rewrite *rewrite, const nd4c_quantized *b) {
  return b->single || b->axis == rewrite->graph->values[b->bytes].rank - 1;
}

/* Products that a sum has; -1: not known. */
static int64_t terms_of(const nd4c_graph_value *a) {
  const int64_t terms = a->rank < 1 ? -1 : a->shape[a->rank - 1];
  return nd4c_extent_is_symbolic(terms) ? -1 : terms;
}

/* -- matmul and quantize_linear ----------------------------------------------------------------------------------- */

static nd4c_status make_matmul(nd4c_rewrite *rewrite, int32_t index, const nd4c_graph_node *matmul,
                               const nd4c_quantized *to) {
  nd4c_quantized a, b;
  nd4c_value inputs[ND4C_IN_qlinear_matmul_count];
  if (!nd4c_quantized_read_single(rewrite, matmul->inputs[0], &a) ||
      !nd4c_quantized_read(rewrite, matmul->inputs[1], &b) || !has_column_scales(rewrite, &b) ||
      !nd4c_quantized_sums_fit(&a, &b, terms_of(&rewrite->graph->values[a.bytes]))) {
    return ND4C_OK;
  }
  inputs[ND4C_IN_qlinear_matmul_a] = a.bytes;
  inputs[ND4C_IN_qlinear_matmul_a_scale] = a.scale;
  inputs[ND4C_IN_qlinear_matmul_b] = b.bytes;
  inputs[ND4C_IN_qlinear_matmul_b_scale] = b.scale;
  inputs[ND4C_IN_qlinear_matmul_y_scale] = to->scale;
  ND4C_TRY(nd4c_quantized_zero(rewrite, &a, &inputs[ND4C_IN_qlinear_matmul_a_zero_point]));
  ND4C_TRY(nd4c_quantized_zero(rewrite, &b, &inputs[ND4C_IN_qlinear_matmul_b_zero_point]));
  ND4C_TRY(nd4c_quantized_zero(rewrite, to, &inputs[ND4C_IN_qlinear_matmul_y_zero_point]));
  if (!nd4c_quantized_is_fast(rewrite, ND4C_OP_qlinear_matmul, inputs, ND4C_IN_qlinear_matmul_count, NULL)) {
    return ND4C_OK;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_qlinear_matmul, inputs, ND4C_IN_qlinear_matmul_count, NULL,
                           "matmul of bytes", &done);
}

static nd4c_status visit_quantize(nd4c_rewrite *rewrite, int32_t index) {
  nd4c_quantized to;
  if (!nd4c_quantized_written(rewrite, &rewrite->graph->nodes[index], &to)) {
    return ND4C_OK;
  }
  const nd4c_value y = rewrite->graph->nodes[index].inputs[0];
  const nd4c_graph_node *matmul = nd4c_rewrite_producer(rewrite, y, ND4C_OP_matmul);
  return matmul != NULL && nd4c_rewrite_is_single(rewrite, y) ? make_matmul(rewrite, index, matmul, &to) : ND4C_OK;
}

/* -- matmul and linear with constant weights ---------------------------------------------------------------------- */

/* What a matmul or linear computes: x [..., k] times w, [n, k] if turned, else [k, n], plus bias. */
typedef struct product {
  nd4c_value x, w, bias;
  bool turned;
} product;

static bool read_product(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, product *p) {
  *p = (product){.x = node->inputs[0], .w = node->inputs[1], .bias = ND4C_VALUE_NONE};
  if (node->def->info.op == ND4C_OP_matmul) {
    return true;
  }
  const nd4c_graph_value *values = rewrite->graph->values;
  p->bias = nd4c_node_input(node, ND4C_IN_linear_bias);
  p->turned = node->attrs[ND4C_ATTR_linear_transpose_w].as.i != 0;
  return nd4c_node_input(node, ND4C_IN_linear_addend) < 0 &&
         node->attrs[ND4C_ATTR_linear_activation].as.i == ND4C_ACTIVATION_NONE &&
         (p->bias < 0 || (values[p->bias].rank == 1 && values[p->bias].dtype == ND4C_FLOAT32 &&
                          values[p->bias].shape[0] == values[p->w].shape[p->turned ? 0 : 1]));
}

/* Whether a conversion to floats goes away with the product: one that others read stays. */
static bool saves_conversion(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  return nd4c_rewrite_is_single(rewrite, node->inputs[0]) || nd4c_rewrite_is_single(rewrite, node->inputs[1]);
}

static nd4c_status visit_product(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph *graph = rewrite->graph;
  const nd4c_graph_node *node = &graph->nodes[index];
  nd4c_quantized x, w;
  product p;
  if (node->def == NULL || (node->def->info.op != ND4C_OP_matmul && node->def->info.op != ND4C_OP_linear) ||
      !nd4c_quantized_read_single(rewrite, node->inputs[0], &x) || !nd4c_quantized_read(rewrite, node->inputs[1], &w) ||
      graph->values[w.bytes].constant == NULL || graph->values[w.bytes].rank != 2 || graph->values[x.bytes].rank < 2 ||
      !saves_conversion(rewrite, node) || !read_product(rewrite, node, &p) ||
      (!w.single && w.axis != (p.turned ? 0 : 1)) ||
      !nd4c_quantized_sums_fit(&x, &w, terms_of(&graph->values[x.bytes]))) {
    return ND4C_OK;
  }
  nd4c_value inputs[ND4C_IN_linear_int8_count] = {
      [ND4C_IN_linear_int8_x] = x.bytes,           [ND4C_IN_linear_int8_w] = w.bytes,
      [ND4C_IN_linear_int8_x_scale] = x.scale,     [ND4C_IN_linear_int8_w_scale] = w.scale,
      [ND4C_IN_linear_int8_x_zero_point] = x.zero, [ND4C_IN_linear_int8_w_zero_point] = w.zero,
      [ND4C_IN_linear_int8_bias] = p.bias};
  if (!p.turned) {
    ND4C_TRY(nd4c_emit_transposed(&rewrite->emitter, w.bytes, &inputs[ND4C_IN_linear_int8_w]));
  }
  if (!nd4c_quantized_is_fast(rewrite, ND4C_OP_linear_int8, inputs, ND4C_IN_linear_int8_count, NULL)) {
    return ND4C_OK;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_linear_int8, inputs, ND4C_IN_linear_int8_count, NULL,
                           "linear of bytes", &done);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  int32_t count = rewrite->graph->node_count;
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(visit_quantize(rewrite, i));
  }
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(visit_product(rewrite, i));
  }
  return ND4C_OK;
}

ND4C_PASS(SIMPLIFY, 24, quantized_linear, DEVICE,
          "makes products of bytes of dequantize_linear and matmul or linear; one step may differ")
