/* Moves quantize_linear with one scale in front of what only chooses or bounds elements: views, gather, concat,
 * max_pool, relu and clip. There it meets the op whose result it quantises, for the passes quantized_*.c, or a
 * dequantize_linear that it undoes. passes.c runs it on optimised plans of one device.
 *
 * Results have the same bits, but for NaN: it is quantised as 0 before a bound or pool sees it. */
#include <math.h>

#include "array/shape.h"
#include "base/status.h"
#include "graph/ir/quantized.h"
#include "graph/passes.h"

enum { DEPTH = 16, OPERANDS = 64 }; /* ops to look through; operands of a concat */

static bool chooses(nd4c_op op) {
  switch (op) {
    case ND4C_OP_reshape:
    case ND4C_OP_flatten:
    case ND4C_OP_squeeze:
    case ND4C_OP_expand_dims:
    case ND4C_OP_transpose:
    case ND4C_OP_matrix_transpose:
    case ND4C_OP_slice:
    case ND4C_OP_gather:
    case ND4C_OP_max_pool:
    case ND4C_OP_concat:
      return true;
    default:
      return false;
  }
}

static bool bounds(nd4c_op op) {
  return op == ND4C_OP_relu || op == ND4C_OP_clip;
}

/* Operands that hold elements; the others are indices and bounds. */
static int32_t operands_of(const nd4c_graph_node *node) {
  return node->def->info.op == ND4C_OP_concat ? node->input_count : 1;
}

/* What a quantize_linear would meet. BYTES: a constant, or bytes with other scales, so nothing is lost. GAIN: an op
 * that can give bytes, or a dequantize_linear that the quantize_linear undoes. */
typedef enum meeting { NOTHING, BYTES, GAIN } meeting;

static meeting meets(const nd4c_rewrite *rewrite, nd4c_value value, const nd4c_quantized *to, int32_t depth) {
  const nd4c_graph_value *info = &rewrite->graph->values[value];
  const nd4c_graph_node *node = info->producer < 0 ? NULL : &rewrite->graph->nodes[info->producer];
  nd4c_quantized from;
  if (info->dtype != ND4C_FLOAT32) {
    return NOTHING; /* of a concat that casts */
  }
  if (node == NULL || node->def == NULL || depth == 0) {
    return info->constant != NULL ? BYTES : NOTHING;
  }
  switch (node->def->info.op) {
    case ND4C_OP_dequantize_linear:
      return nd4c_quantized_read_single(rewrite, value, &from) && nd4c_quantized_same(&from, to) ? GAIN : BYTES;
    case ND4C_OP_conv:
    case ND4C_OP_linear:
    case ND4C_OP_matmul:
    case ND4C_OP_add:
      return nd4c_rewrite_is_single(rewrite, value) ? GAIN : NOTHING;
    default:
      break;
  }
  if (!nd4c_rewrite_is_single(rewrite, value) || (!chooses(node->def->info.op) && !bounds(node->def->info.op))) {
    return NOTHING;
  }
  meeting all = BYTES;
  for (int32_t i = 0; i < operands_of(node) && all != NOTHING; i++) {
    const meeting one = meets(rewrite, node->inputs[i], to, depth - 1);
    all = one == BYTES ? all : one;
  }
  return all;
}

/* quantize_linear of another value, as `to` says. */
static nd4c_status emit_quantize(nd4c_rewrite *rewrite, nd4c_value x, const nd4c_quantized *to, nd4c_value *y) {
  const nd4c_value inputs[] = {x, to->scale, to->zero};
  const nd4c_attr attr = nd4c_attr_of_dtype("dtype", to->dtype);
  return nd4c_emit(&rewrite->emitter, ND4C_OP_quantize_linear, inputs, 3, &attr, 1, y);
}

/* -- views and pools ---------------------------------------------------------------------------------------------- */

static nd4c_status hoist(nd4c_rewrite *rewrite, int32_t index, const nd4c_graph_node *through,
                         const nd4c_quantized *to) {
  nd4c_value inputs[OPERANDS];
  const nd4c_op op = through->def->info.op;
  const nd4c_attr_value *attrs = through->attrs;
  const int32_t count = through->input_count, operands = operands_of(through);
  if (count > OPERANDS) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < count; i++) {
    inputs[i] = through->inputs[i];
  }
  for (int32_t i = 0; i < operands; i++) { /* which moves the nodes */
    ND4C_TRY(emit_quantize(rewrite, inputs[i], to, &inputs[i]));
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, op, inputs, count, attrs, rewrite->graph->nodes[index].fused, &done);
}

/* -- bounds ------------------------------------------------------------------------------------------------------- */

/* The bounds of relu or clip; false if they are not known. */
static bool read_bounds(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, double *low, double *high) {
  *low = node->def->info.op == ND4C_OP_relu ? 0 : -INFINITY;
  *high = INFINITY;
  if (node->def->info.op == ND4C_OP_relu) {
    return true;
  }
  nd4c_value least = nd4c_node_input(node, ND4C_IN_clip_low), most = nd4c_node_input(node, ND4C_IN_clip_high);
  return (least < 0 || nd4c_constant_scalar(rewrite, least, low)) &&
         (most < 0 || nd4c_constant_scalar(rewrite, most, high)) && *low <= *high;
}

/* Quantises first, and then bounds the bytes where their range does not do so anyway. */
static nd4c_status bound_bytes(nd4c_rewrite *rewrite, int32_t index, const nd4c_graph_node *bound,
                               const nd4c_quantized *to) {
  double low = 0, high = 0;
  const nd4c_graph_value *given = &rewrite->graph->values[bound->inputs[0]],
                         *bounded = &rewrite->graph->values[bound->outputs[0]];
  /* A bound of one number can have more axes than x, which the result then has, too. */
  if (!read_bounds(rewrite, bound, &low, &high) ||
      !nd4c_shape_equal(given->rank, given->shape, bounded->rank, bounded->shape)) {
    return ND4C_OK;
  }
  const int32_t least = to->dtype == ND4C_INT8 ? -128 : 0;
  const double bytes[] = {nd4c_quantized_byte(to, low), nd4c_quantized_byte(to, high)};
  const bool wanted[] = {bytes[0] > least, bytes[1] < least + 255};
  const nd4c_value x = bound->inputs[0];
  if (!wanted[0] && !wanted[1]) {
    nd4c_rewrite_input(rewrite, &rewrite->graph->nodes[index], 0, x);
    rewrite->changes++;
    return ND4C_OK;
  }
  nd4c_value inputs[2];
  nd4c_op op = wanted[0] ? ND4C_OP_maximum : ND4C_OP_minimum;
  ND4C_TRY(emit_quantize(rewrite, x, to, &inputs[0]));
  ND4C_TRY(nd4c_constant_make(rewrite, to->dtype, 0, NULL, &bytes[wanted[0] ? 0 : 1], &inputs[1]));
  if (wanted[0] && wanted[1]) {
    ND4C_TRY(nd4c_emit_binary(&rewrite->emitter, ND4C_OP_maximum, inputs[0], inputs[1], &inputs[0]));
    ND4C_TRY(nd4c_constant_make(rewrite, to->dtype, 0, NULL, &bytes[1], &inputs[1]));
    op = ND4C_OP_minimum;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, op, inputs, 2, NULL, "bounds of bytes", &done);
}

/* -- the pass ----------------------------------------------------------------------------------------------------- */

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph *graph = rewrite->graph;
  nd4c_quantized to, from;
  if (!nd4c_quantized_written(rewrite, &graph->nodes[index], &to)) {
    return ND4C_OK;
  }
  const nd4c_value x = graph->nodes[index].inputs[0];
  if (nd4c_quantized_read_single(rewrite, x, &from) && nd4c_quantized_same(&from, &to)) {
    return nd4c_rewrite_replace(rewrite, graph->nodes[index].outputs[0], from.bytes, graph->node_count);
  }
  const nd4c_graph_node *node = graph->values[x].producer < 0 ? NULL : &graph->nodes[graph->values[x].producer];
  if (node == NULL || node->def == NULL || !nd4c_rewrite_is_single(rewrite, x) ||
      meets(rewrite, x, &to, DEPTH) != GAIN) {
    return ND4C_OK;
  }
  if (chooses(node->def->info.op)) {
    return hoist(rewrite, index, node, &to);
  }
  return bounds(node->def->info.op) ? bound_bytes(rewrite, index, node, &to) : ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    ND4C_TRY(visit(rewrite, i));
  }
  return ND4C_OK;
}

ND4C_PASS(SIMPLIFY, 22, hoist_quantize, DEVICE,
          "quantises before views, pools and bounds, and undoes dequantize_linear; loses NaN")
