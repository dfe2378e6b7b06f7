/* Makes linear_int8 of matmul_integer, cast and multiply by both scales, and merges a constant vector that is added
 * into its bias: what ONNX Runtime's quantize_dynamic writes. passes.c runs it on optimised plans of one device, if
 * another kernel than the reference's computes the op.
 *
 * The products are the same integers. Their scaling rounds once instead of three times. */
#include "base/status.h"
#include "graph/ir/quantized.h"
#include "graph/match/fast.h"
#include "graph/passes.h"

static bool is_scalar(const nd4c_rewrite *rewrite, nd4c_value value) {
  const nd4c_graph_value *info = &rewrite->graph->values[value];
  return info->dtype == ND4C_FLOAT32 && info->size == 1 && info->rank <= 1;
}

/* One scale, or one for each of `count` columns. */
static bool is_scale(const nd4c_rewrite *rewrite, nd4c_value value, int64_t count) {
  const nd4c_graph_value *info = &rewrite->graph->values[value];
  return is_scalar(rewrite, value) || (info->dtype == ND4C_FLOAT32 && info->rank == 1 && info->size == count);
}

/* The matmul_integer with a constant matrix whose result the value is as float32; NULL: it is none. */
static const nd4c_graph_node *find_product(const nd4c_rewrite *rewrite, nd4c_value value) {
  const nd4c_graph_node *cast = nd4c_rewrite_producer(rewrite, value, ND4C_OP_cast);
  const nd4c_graph_value *values = rewrite->graph->values;
  if (cast == NULL || values[value].dtype != ND4C_FLOAT32 || !nd4c_rewrite_is_single(rewrite, value)) {
    return NULL;
  }
  const nd4c_graph_node *product = nd4c_rewrite_producer(rewrite, cast->inputs[0], ND4C_OP_matmul_integer);
  bool fits = product != NULL && nd4c_rewrite_is_single(rewrite, cast->inputs[0]) &&
              values[product->inputs[1]].constant != NULL && values[product->inputs[1]].rank == 2 &&
              values[product->inputs[0]].rank >= 2;
  return fits ? product : NULL;
}

/* A scale or zero point of the product, as linear_int8 takes it: one value, or a vector. */
static bool fits_vector(const nd4c_rewrite *rewrite, nd4c_value value, int64_t count) {
  const nd4c_graph_value *info = value < 0 ? NULL : &rewrite->graph->values[value];
  return info == NULL || (info->rank <= 1 && (info->size == 1 || info->size == count));
}

static nd4c_status make(nd4c_rewrite *rewrite, int32_t index, int32_t side) {
  const nd4c_graph *graph = rewrite->graph;
  const nd4c_graph_node *node = &graph->nodes[index];
  const nd4c_graph_node *product = find_product(rewrite, node->inputs[side]);
  const nd4c_graph_node *scales = nd4c_rewrite_producer(rewrite, node->inputs[1 - side], ND4C_OP_multiply);
  if (product == NULL || scales == NULL) {
    return ND4C_OK;
  }
  const int64_t columns = graph->values[product->inputs[1]].shape[1];
  const int32_t x_at = is_scalar(rewrite, scales->inputs[0]) ? 0 : 1;
  nd4c_value inputs[] = {
      [ND4C_IN_linear_int8_x] = product->inputs[0],
      [ND4C_IN_linear_int8_w] = product->inputs[1],
      [ND4C_IN_linear_int8_x_scale] = scales->inputs[x_at],
      [ND4C_IN_linear_int8_w_scale] = scales->inputs[1 - x_at],
      [ND4C_IN_linear_int8_x_zero_point] = nd4c_node_input(product, ND4C_IN_matmul_integer_a_zero_point),
      [ND4C_IN_linear_int8_w_zero_point] = nd4c_node_input(product, ND4C_IN_matmul_integer_b_zero_point)};
  if (!is_scalar(rewrite, inputs[ND4C_IN_linear_int8_x_scale]) ||
      !is_scale(rewrite, inputs[ND4C_IN_linear_int8_w_scale], columns) ||
      !fits_vector(rewrite, inputs[ND4C_IN_linear_int8_x_zero_point], 1) ||
      !fits_vector(rewrite, inputs[ND4C_IN_linear_int8_w_zero_point], columns)) {
    return ND4C_OK;
  }
  const int32_t count = ND4C_IN_linear_int8_w_zero_point + 1;
  ND4C_TRY(nd4c_emit_transposed(&rewrite->emitter, inputs[ND4C_IN_linear_int8_w], &inputs[ND4C_IN_linear_int8_w]));
  if (!nd4c_quantized_is_fast(rewrite, ND4C_OP_linear_int8, inputs, count, NULL)) {
    return ND4C_OK;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_linear_int8, inputs, count, NULL, "matmul_integer + multiply",
                           &done);
}

/* Takes an added constant vector as the bias. */
static nd4c_status add_bias(nd4c_rewrite *rewrite, int32_t index, int32_t side) {
  const nd4c_graph *graph = rewrite->graph;
  const nd4c_graph_node *node = &graph->nodes[index];
  const nd4c_graph_value *bias = &graph->values[node->inputs[1 - side]];
  const nd4c_graph_node *linear = nd4c_rewrite_producer(rewrite, node->inputs[side], ND4C_OP_linear_int8);
  if (linear == NULL || !nd4c_rewrite_is_single(rewrite, node->inputs[side]) ||
      nd4c_node_input(linear, ND4C_IN_linear_int8_bias) >= 0 || bias->constant == NULL || bias->rank != 1 ||
      bias->shape[0] != graph->values[linear->inputs[ND4C_IN_linear_int8_w]].shape[0]) {
    return ND4C_OK;
  }
  nd4c_value inputs[ND4C_IN_linear_int8_count];
  for (int32_t i = 0; i < ND4C_IN_linear_int8_count; i++) {
    inputs[i] = nd4c_node_input(linear, i);
  }
  inputs[ND4C_IN_linear_int8_bias] = node->inputs[1 - side];
  char fused[256];
  (void)nd4c_fused_text(linear, "add", fused, sizeof fused);
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_linear_int8, inputs, ND4C_IN_linear_int8_count, NULL, fused, &done);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  const int32_t count = rewrite->graph->node_count;
  for (int32_t i = 0; i < count; i++) {
    const nd4c_op_def *def = rewrite->graph->nodes[i].def;
    for (int32_t side = 0; side < 2 && def != NULL && rewrite->graph->nodes[i].def == def; side++) {
      if (def->info.op == ND4C_OP_multiply) {
        ND4C_TRY(make(rewrite, i, side));
      } else if (def->info.op == ND4C_OP_add) {
        ND4C_TRY(add_bias(rewrite, i, side));
      }
    }
  }
  return ND4C_OK;
}

ND4C_PASS(RECOGNIZE, 42, dynamic_quantization, DEVICE,
          "makes linear_int8 of matmul_integer and the products by its scales")
