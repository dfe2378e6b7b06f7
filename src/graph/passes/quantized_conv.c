/* Makes qlinear_conv of dequantize_linear, conv and quantize_linear: a convolution of bytes. passes.c runs it on
 * optimised plans of one device, before constants are folded, which would turn the weights into floats. It does so only
 * where another kernel than the reference's computes the op.
 *
 * The products are summed exactly, and rounded once. The single ops round in float32 more often. A result may therefore
 * differ by one step. Convolutions whose sums may not fit into int32 stay in float32. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/quantized.h"
#include "graph/match/fast.h"
#include "graph/passes.h"

/* The attributes of windows stand at the same positions from `strides` on. */
_Static_assert((int)ND4C_ATTR_conv_strides == (int)ND4C_ATTR_qlinear_conv_strides &&
                   (int)ND4C_ATTR_conv_auto_pad == (int)ND4C_ATTR_qlinear_conv_auto_pad &&
                   (int)ND4C_ATTR_conv_groups == (int)ND4C_ATTR_qlinear_conv_groups,
               "positions of conv and qlinear_conv");

/* -- the bias ----------------------------------------------------------------------------------------------------- */

typedef struct bias_source {
  double *numbers; /* of a constant of floats, or of the integers that a dequantize_linear reads */
  double *scales;  /* of that dequantize_linear; NULL: none */
  int64_t scale_count;
} bias_source;

static nd4c_status read_bias(const nd4c_rewrite *rewrite, nd4c_value bias, bias_source *source) {
  const nd4c_graph_node *node = nd4c_rewrite_producer(rewrite, bias, ND4C_OP_dequantize_linear);
  nd4c_status status = ND4C_OK;
  if (node == NULL) {
    source->numbers = nd4c_constant_elements(rewrite, bias, &status);
    return status;
  }
  double zero = 0;
  nd4c_value zeros = nd4c_node_input(node, ND4C_IN_dequantize_linear_zero_point);
  nd4c_value scale = node->inputs[ND4C_IN_dequantize_linear_scale];
  double *zero_points = zeros < 0 ? NULL : nd4c_constant_elements(rewrite, zeros, &status);
  for (int64_t i = 0; zero_points != NULL && i < rewrite->graph->values[zeros].size; i++) {
    zero = zero_points[i] != 0 ? zero_points[i] : zero;
  }
  bool known = zeros < 0 || zero_points != NULL;
  nd4c_deallocate(zero_points);
  const int64_t count = rewrite->graph->values[scale].size;
  known = known && node->attrs[ND4C_ATTR_dequantize_linear_block_size].as.i == 0 &&
          (count == 1 || count == rewrite->graph->values[bias].size);
  if (status != ND4C_OK || zero != 0 || !known || rewrite->graph->values[node->inputs[0]].dtype != ND4C_INT32) {
    return status;
  }
  source->scales = nd4c_constant_elements(rewrite, scale, &status);
  source->scale_count = count;
  if (source->scales != NULL) {
    source->numbers = nd4c_constant_elements(rewrite, node->inputs[0], &status);
  }
  return status;
}

/* The bias in steps of x_scale w_scale, rounded to whole numbers. *value is NONE if it does not fit into int32, or if
 * rounding it would move the result by more than a quarter of a step of y_scale. */
static nd4c_status make_bias(nd4c_rewrite *rewrite, nd4c_value bias, const nd4c_quantized *x, const double *w_scales,
                             int64_t scale_count, const nd4c_quantized *to, nd4c_value *value) {
  const int64_t count = rewrite->graph->values[bias].size;
  bias_source source = {0};
  *value = ND4C_VALUE_NONE;
  nd4c_status status = read_bias(rewrite, bias, &source);
  bool fits = status == ND4C_OK && source.numbers != NULL;
  for (int64_t i = 0; fits && i < count; i++) {
    const double step = (double)((float)x->step * (float)w_scales[scale_count == 1 ? 0 : i]);
    const double scale = source.scales == NULL ? 1 : source.scales[source.scale_count == 1 ? 0 : i];
    const double steps = source.numbers[i] * (scale / step);
    source.numbers[i] = nearbyint(steps);
    fits = fabs(source.numbers[i]) < 0x1p30 && fabs(source.numbers[i] - steps) * step <= to->step / 4;
  }
  if (fits) {
    status = nd4c_constant_make(rewrite, ND4C_INT32, 1, &count, source.numbers, value);
  }
  nd4c_deallocate(source.numbers);
  nd4c_deallocate(source.scales);
  return status;
}

/* -- the pass ----------------------------------------------------------------------------------------------------- */

/* Products that a sum has; -1: not known. */
static int64_t terms_of(const nd4c_graph_value *w) {
  int64_t terms = 1;
  for (int32_t i = 1; i < w->rank; i++) {
    if (nd4c_extent_is_symbolic(w->shape[i])) {
      return -1;
    }
    terms *= w->shape[i];
  }
  return terms;
}

static nd4c_status make(nd4c_rewrite *rewrite, int32_t index, const nd4c_graph_node *conv, const nd4c_quantized *to) {
  nd4c_quantized x, w;
  nd4c_value inputs[ND4C_IN_qlinear_conv_count];
  const nd4c_graph *graph = rewrite->graph;
  const nd4c_value bias = nd4c_node_input(conv, ND4C_IN_conv_bias);
  const nd4c_attr_value *attrs = conv->attrs;
  if (!nd4c_quantized_read_single(rewrite, conv->inputs[ND4C_IN_conv_x], &x) ||
      !nd4c_quantized_read(rewrite, conv->inputs[ND4C_IN_conv_w], &w) || (!w.single && w.axis != 0) ||
      !nd4c_quantized_sums_fit(&x, &w, terms_of(&graph->values[w.bytes]))) {
    return ND4C_OK;
  }
  int32_t count = bias >= 0 ? ND4C_IN_qlinear_conv_count : ND4C_IN_qlinear_conv_count - 1;
  ND4C_TRY(
      nd4c_quantized_weights(rewrite, &w, &inputs[ND4C_IN_qlinear_conv_w], &inputs[ND4C_IN_qlinear_conv_w_zero_point]));
  if (inputs[ND4C_IN_qlinear_conv_w] < 0) {
    return ND4C_OK;
  }
  if (bias >= 0) {
    nd4c_status status = ND4C_OK;
    double *scales = nd4c_constant_elements(rewrite, w.scale, &status);
    if (scales != NULL) {
      status =
          make_bias(rewrite, bias, &x, scales, graph->values[w.scale].size, to, &inputs[ND4C_IN_qlinear_conv_bias]);
    }
    bool found = scales != NULL;
    nd4c_deallocate(scales);
    ND4C_TRY(status);
    if (!found || inputs[ND4C_IN_qlinear_conv_bias] < 0) {
      return ND4C_OK;
    }
  }
  inputs[ND4C_IN_qlinear_conv_x] = x.bytes;
  inputs[ND4C_IN_qlinear_conv_x_scale] = x.scale;
  ND4C_TRY(nd4c_quantized_zero(rewrite, &x, &inputs[ND4C_IN_qlinear_conv_x_zero_point]));
  inputs[ND4C_IN_qlinear_conv_w_scale] = w.scale;
  inputs[ND4C_IN_qlinear_conv_y_scale] = to->scale;
  ND4C_TRY(nd4c_quantized_zero(rewrite, to, &inputs[ND4C_IN_qlinear_conv_y_zero_point]));
  if (!nd4c_quantized_is_fast(rewrite, ND4C_OP_qlinear_conv, inputs, count, attrs)) {
    return ND4C_OK;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_qlinear_conv, inputs, count, attrs, "conv of bytes", &done);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index) {
  nd4c_quantized to;
  if (!nd4c_quantized_written(rewrite, &rewrite->graph->nodes[index], &to)) {
    return ND4C_OK;
  }
  const nd4c_value y = rewrite->graph->nodes[index].inputs[0];
  const nd4c_graph_node *conv = nd4c_rewrite_producer(rewrite, y, ND4C_OP_conv);
  bool plain = conv != NULL && nd4c_rewrite_is_single(rewrite, y) && nd4c_node_input(conv, ND4C_IN_conv_addend) < 0 &&
               conv->attrs[ND4C_ATTR_conv_activation].as.i == ND4C_ACTIVATION_NONE;
  return plain ? make(rewrite, index, conv, &to) : ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    ND4C_TRY(visit(rewrite, i));
  }
  return ND4C_OK;
}

ND4C_PASS(SIMPLIFY, 23, quantized_conv, DEVICE,
          "makes a conv of bytes of dequantize_linear, conv and quantize_linear; one step may differ")
