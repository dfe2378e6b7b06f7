/* Lets layers compute on bytes, if the caller asks for it: options.precision int8 of a plan. A layer is a convolution
 * or a product whose weights are a constant. passes.c runs it once, on optimised plans of one device, when constants
 * are folded into the weights and before anything is fused with a layer.
 *
 * With a calibration, each value that layers read, and each that a convolution gives, is quantised to uint8 by its
 * range and dequantised again. Then the passes hoist_quantize, quantized_conv and quantized_add, which run next, take
 * the single ops together. A value that is only moved or chosen from has the scale of its source, and one that ends in
 * a concat that of the concat, so that bytes stay bytes. Products become linear_int8 at once. Their result is a
 * float32, so nothing is lost behind them.
 *
 * Without a calibration, dynamic_quantize_linear finds the range of the first factor of each product in each run. */
#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/ir/quantized.h"
#include "graph/match/fast.h"
#include "graph/passes.h"
#include "graph/quantization.h"

/* A value of the graph before the pass. */
typedef struct value_state {
  bool known;                     /* it has a range */
  bool wide;                      /* it has one that bytes cannot stand for, which is as none */
  bool bytes;                     /* a layer, sum or concat of bytes gives it, or it is chosen from such a value */
  bool end;                       /* what follows the op on bytes in it alone (an activation) ends here */
  bool wanted;                    /* a layer or a sum of bytes reads it */
  nd4c_calibration_affine affine; /* if known */
  nd4c_value root;                /* the value that it is chosen from, whose affine it has; itself */
  int32_t reader;                 /* the only node that reads it; -1: several, none, or an output */
  nd4c_value codes, floats;       /* quantised, and dequantised again; NONE: not made */
} value_state;

/* A node that is to compute on bytes. */
typedef struct layer {
  bool chosen;
  nd4c_value w, w_scale; /* of a chosen layer: int8 as the op on bytes takes it, a scale for each output */
} layer;

typedef struct state {
  nd4c_rewrite *rewrite;
  nd4c_quantization *q;
  nd4c_region region; /* of this pass alone */
  const char **names; /* by value */
  value_state *values;
  int32_t value_count;
  layer *layers;        /* by node */
  nd4c_value one, zero; /* a scale and a zero point for questions to kernels */
} state;

static const nd4c_graph_node *node_at(const state *s, int32_t index) {
  return &s->rewrite->graph->nodes[index];
}

static const nd4c_graph_value *info_of(const state *s, nd4c_value value) {
  return &s->rewrite->graph->values[value];
}

/* -- values -------------------------------------------------------------------------------------------------------- */

static void find_readers(const state *s) {
  for (int32_t i = 0; i < s->rewrite->existing; i++) {
    const nd4c_graph_node *node = node_at(s, i);
    for (int32_t k = 0; node->def != NULL && k < node->input_count; k++) {
      if (nd4c_rewrite_is_single(s->rewrite, node->inputs[k])) {
        s->values[node->inputs[k]].reader = i;
      }
    }
  }
}

static nd4c_status make_values(state *s) {
  const nd4c_graph *graph = s->rewrite->graph;
  ND4C_TRY(nd4c_calibration_names(graph, &s->q->recorded, &s->region, &s->names));
  s->value_count = graph->value_count;
  ND4C_TRY(nd4c_region_make(&s->region, s->value_count, sizeof *s->values, &s->values));
  ND4C_TRY(nd4c_region_make(&s->region, graph->node_count, sizeof *s->layers, &s->layers));
  for (int32_t i = 0; i < graph->value_count; i++) {
    const nd4c_calibration_range *range =
        s->names[i] == NULL || s->q->calibration == NULL ? NULL : nd4c_calibration_find(s->q->calibration, s->names[i]);
    s->values[i] = (value_state){.root = i, .reader = -1, .codes = ND4C_VALUE_NONE, .floats = ND4C_VALUE_NONE};
    s->values[i].wide = range != NULL && !nd4c_calibration_fits(range->low, range->high);
    if (range != NULL && !s->values[i].wide) {
      s->values[i].known = true;
      s->values[i].affine = nd4c_calibration_affine_of(range->low, range->high);
    }
  }
  find_readers(s);
  return ND4C_OK;
}

static const value_state *root_of(const state *s, nd4c_value value) {
  return &s->values[s->values[value].root];
}

/* The value behind a relu or clip that alone reads this one: quantising bounds it, too. */
static nd4c_value end_of(const state *s, nd4c_value value) {
  const int32_t reader = s->values[value].reader;
  const nd4c_graph_node *node = reader < 0 ? NULL : node_at(s, reader);
  const nd4c_op op = node == NULL ? ND4C_OP_copy : node->def->info.op;
  if ((op != ND4C_OP_relu && op != ND4C_OP_clip) || node->inputs[0] != value) {
    return value;
  }
  const nd4c_graph_value *given = info_of(s, value), *bounded = info_of(s, node->outputs[0]);
  return nd4c_shape_equal(given->rank, given->shape, bounded->rank, bounded->shape) ? node->outputs[0] : value;
}

/* An op whose result is among the elements of its first input. */
static bool chooses(nd4c_op op) {
  return op == ND4C_OP_reshape || op == ND4C_OP_flatten || op == ND4C_OP_squeeze || op == ND4C_OP_expand_dims ||
         op == ND4C_OP_transpose || op == ND4C_OP_slice || op == ND4C_OP_max_pool;
}

/* -- asking kernels ------------------------------------------------------------------------------------------------ */

static nd4c_status quantize(state *s, nd4c_value x, nd4c_value scale, nd4c_value zero, nd4c_value *codes) {
  const nd4c_value inputs[] = {x, scale, zero};
  return nd4c_emit(&s->rewrite->emitter, ND4C_OP_quantize_linear, inputs, 3, NULL, 0, codes);
}

/* A vector of int32 for the question whether a kernel takes a bias. */
static nd4c_status make_zeros(state *s, int64_t count, nd4c_value *zeros) {
  double *numbers = NULL;
  ND4C_TRY(nd4c_region_make(&s->region, count, sizeof *numbers, &numbers));
  return nd4c_constant_make(s->rewrite, ND4C_INT32, 1, &count, numbers, zeros);
}

static nd4c_status ask_conv(state *s, int32_t index, bool *fast) {
  const layer *made = &s->layers[index];
  const bool biased = nd4c_node_input(node_at(s, index), ND4C_IN_conv_bias) >= 0;
  const nd4c_value x = node_at(s, index)->inputs[0];
  nd4c_value inputs[ND4C_IN_qlinear_conv_count] = {
      [ND4C_IN_qlinear_conv_x_scale] = s->one,      [ND4C_IN_qlinear_conv_x_zero_point] = s->zero,
      [ND4C_IN_qlinear_conv_w] = made->w,           [ND4C_IN_qlinear_conv_w_scale] = made->w_scale,
      [ND4C_IN_qlinear_conv_y_scale] = s->one,      [ND4C_IN_qlinear_conv_y_zero_point] = s->zero,
      [ND4C_IN_qlinear_conv_bias] = ND4C_VALUE_NONE};
  const double none = 0;
  ND4C_TRY(quantize(s, x, s->one, s->zero, &inputs[ND4C_IN_qlinear_conv_x]));
  ND4C_TRY(nd4c_constant_make(s->rewrite, ND4C_INT8, 0, NULL, &none, &inputs[ND4C_IN_qlinear_conv_w_zero_point]));
  if (biased) {
    ND4C_TRY(make_zeros(s, info_of(s, made->w)->shape[0], &inputs[ND4C_IN_qlinear_conv_bias]));
  }
  *fast = nd4c_quantized_is_fast(s->rewrite, ND4C_OP_qlinear_conv, inputs,
                                 ND4C_IN_qlinear_conv_count - (biased ? 0 : 1), node_at(s, index)->attrs);
  return ND4C_OK;
}

static nd4c_status ask_sum(state *s, int32_t index, bool *fast) {
  nd4c_value inputs[ND4C_IN_qlinear_add_count] = {
      [ND4C_IN_qlinear_add_a_scale] = s->one,       [ND4C_IN_qlinear_add_b_scale] = s->one,
      [ND4C_IN_qlinear_add_y_scale] = s->one,       [ND4C_IN_qlinear_add_a_zero_point] = s->zero,
      [ND4C_IN_qlinear_add_b_zero_point] = s->zero, [ND4C_IN_qlinear_add_y_zero_point] = s->zero};
  const nd4c_value a = node_at(s, index)->inputs[0], b = node_at(s, index)->inputs[1];
  ND4C_TRY(quantize(s, a, s->one, s->zero, &inputs[ND4C_IN_qlinear_add_a]));
  ND4C_TRY(quantize(s, b, s->one, s->zero, &inputs[ND4C_IN_qlinear_add_b]));
  *fast = nd4c_quantized_is_fast(s->rewrite, ND4C_OP_qlinear_add, inputs, ND4C_IN_qlinear_add_count, NULL);
  return ND4C_OK;
}

/* -- layers -------------------------------------------------------------------------------------------------------- */

/* Exchanges the axes of [k, n] codes. */
static nd4c_status turn(double *codes, int64_t k, int64_t n) {
  double *copy = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)(k * n) + 1, sizeof *copy, "weights", &copy));
  memcpy(copy, codes, (size_t)(k * n) * sizeof *copy);
  for (int64_t i = 0; i < k * n; i++) {
    codes[i % n * k + i / n] = copy[i];
  }
  nd4c_deallocate(copy);
  return ND4C_OK;
}

/* The weights as the op on bytes takes them; *why is set if there are none. */
static nd4c_status make_weights(state *s, int32_t index, const char **why) {
  const nd4c_graph_node *node = node_at(s, index);
  const nd4c_graph_value *w = info_of(s, node->inputs[1]);
  const int32_t rank = w->rank, axis = nd4c_calibration_output_axis(node);
  int64_t shape[ND4C_MAX_RANK];
  nd4c_calibration_weights weights;
  nd4c_status status = ND4C_OK;
  memcpy(shape, w->shape, (size_t)rank * sizeof *shape);
  double *numbers = nd4c_constant_elements(s->rewrite, node->inputs[1], &status);
  ND4C_TRY(status);
  if (numbers == NULL || nd4c_calibration_round_weights(numbers, rank, shape, axis, &weights) != ND4C_OK) {
    *why = "its weights are not finite";
    return numbers == NULL || nd4c_error_code() == ND4C_UNSUPPORTED ? ND4C_OK : nd4c_error_code();
  }
  if (axis == 1) {
    status = turn(weights.codes, shape[0], shape[1]);
    shape[1] = shape[0];
    shape[0] = weights.outputs;
  }
  status = status != ND4C_OK
               ? status
               : nd4c_constant_make(s->rewrite, ND4C_INT8, rank, shape, weights.codes, &s->layers[index].w);
  if (status == ND4C_OK) {
    status =
        nd4c_constant_make(s->rewrite, ND4C_FLOAT32, 1, &weights.outputs, weights.steps, &s->layers[index].w_scale);
  }
  nd4c_calibration_weights_free(&weights);
  return status;
}

static int64_t terms_of(const nd4c_graph_value *w) {
  return w->shape[0] == 0 ? 0 : w->size / w->shape[0];
}

static bool sums_fit(const state *s, int32_t index) {
  const nd4c_quantized x = {.dtype = ND4C_UINT8, .zero = s->zero}, w = {.dtype = ND4C_INT8, .zero = ND4C_VALUE_NONE};
  return nd4c_quantized_sums_fit(&x, &w, terms_of(info_of(s, s->layers[index].w)));
}

static nd4c_status choose_conv(state *s, int32_t index, const char **why) {
  const nd4c_graph_node *node = node_at(s, index);
  const nd4c_value x = node->inputs[0], y = node->outputs[0], end = end_of(s, y);
  const nd4c_value bias = nd4c_node_input(node, ND4C_IN_conv_bias);
  bool fast = false;
  if (nd4c_node_input(node, ND4C_IN_conv_addend) >= 0 ||
      node->attrs[ND4C_ATTR_conv_activation].as.i != ND4C_ACTIVATION_NONE ||
      (bias >= 0 && info_of(s, bias)->constant == NULL)) {
    *why = "its bias is no constant, or it adds or activates in itself";
  } else if (!s->q->is_static) {
    *why = "convolutions need a calibration";
  } else if (!root_of(s, x)->known) {
    *why = root_of(s, x)->wide ? "the range of its input is too wide" : "its input has no range";
  } else if (!s->values[end].known) {
    *why = s->values[end].wide ? "the range of its result is too wide" : "its result has no range";
  } else {
    ND4C_TRY(make_weights(s, index, why));
  }
  if (*why != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(sums_fit(s, index) ? ask_conv(s, index, &fast) : ND4C_OK);
  *why = fast ? NULL : "the device has no fast kernel for it";
  if (fast) {
    s->layers[index].chosen = s->values[x].wanted = s->values[end].bytes = s->values[end].end = true;
  }
  return ND4C_OK;
}

/* The bias of a product, if linear_int8 takes it. */
static bool read_bias(const state *s, const nd4c_graph_node *node, nd4c_value *bias) {
  *bias = ND4C_VALUE_NONE;
  if (node->def->info.op == ND4C_OP_matmul) {
    return true;
  }
  *bias = nd4c_node_input(node, ND4C_IN_linear_bias);
  const int64_t outputs = info_of(s, node->inputs[1])->shape[nd4c_calibration_output_axis(node)];
  const nd4c_graph_value *info = *bias < 0 ? NULL : info_of(s, *bias);
  return nd4c_node_input(node, ND4C_IN_linear_addend) < 0 &&
         node->attrs[ND4C_ATTR_linear_activation].as.i == ND4C_ACTIVATION_NONE &&
         (info == NULL || (info->rank == 1 && info->dtype == ND4C_FLOAT32 && info->shape[0] == outputs));
}

/* All inputs of linear_int8 for a product, with the given codes of x. */
static void list_inputs(const state *s, int32_t index, nd4c_value x, nd4c_value scale, nd4c_value zero,
                        nd4c_value *inputs) {
  inputs[ND4C_IN_linear_int8_x] = x;
  inputs[ND4C_IN_linear_int8_w] = s->layers[index].w;
  inputs[ND4C_IN_linear_int8_x_scale] = scale;
  inputs[ND4C_IN_linear_int8_w_scale] = s->layers[index].w_scale;
  inputs[ND4C_IN_linear_int8_x_zero_point] = zero;
  inputs[ND4C_IN_linear_int8_w_zero_point] = ND4C_VALUE_NONE;
  (void)read_bias(s, node_at(s, index), &inputs[ND4C_IN_linear_int8_bias]);
}

static nd4c_status choose_product(state *s, int32_t index, const char **why) {
  const nd4c_graph_node *node = node_at(s, index);
  const nd4c_value x = node->inputs[0];
  nd4c_value inputs[ND4C_IN_linear_int8_count], bias = ND4C_VALUE_NONE, codes = ND4C_VALUE_NONE;
  if (!read_bias(s, node, &bias)) {
    *why = "its bias is no vector, or it adds or activates in itself";
  } else if (s->q->is_static && !root_of(s, x)->known) {
    *why = root_of(s, x)->wide ? "the range of its input is too wide" : "its input has no range";
  } else {
    ND4C_TRY(make_weights(s, index, why));
  }
  if (*why != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(quantize(s, x, s->one, s->zero, &codes));
  list_inputs(s, index, codes, s->one, s->zero, inputs);
  const bool fast = sums_fit(s, index) &&
                    nd4c_quantized_is_fast(s->rewrite, ND4C_OP_linear_int8, inputs, ND4C_IN_linear_int8_count, NULL);
  *why = fast ? NULL : "the device has no fast kernel for it";
  s->layers[index].chosen = fast;
  s->values[x].wanted = s->values[x].wanted || fast;
  return ND4C_OK;
}

static nd4c_status choose_layer(state *s, int32_t index) {
  const nd4c_graph_node *node = node_at(s, index);
  const char *name = s->names[node->outputs[0]], *op = node->def->info.name, *why = NULL;
  s->q->layers++;
  if (s->q->calibration != NULL && nd4c_calibration_keeps(s->q->calibration, name, op)) {
    why = "the calibration says so";
  } else {
    ND4C_TRY(node->def->info.op == ND4C_OP_conv ? choose_conv(s, index, &why) : choose_product(s, index, &why));
  }
  s->q->bytes += s->layers[index].chosen;
  if (why != NULL) {
    nd4c_text_print(&s->q->left, "  stays in float32: %s '%s': %s\n", op, name, why);
  }
  return s->q->left.failed ? nd4c_fail_memory("a report", 1) : ND4C_OK;
}

/* -- between layers ------------------------------------------------------------------------------------------------ */

static nd4c_status choose_sum(state *s, int32_t index) {
  const nd4c_graph_node *node = node_at(s, index);
  const nd4c_value a = node->inputs[0], b = node->inputs[1], y = node->outputs[0], end = end_of(s, y);
  bool fast = false;
  if (!s->values[a].bytes || !s->values[b].bytes || !s->values[end].known ||
      nd4c_calibration_keeps(s->q->calibration, s->names[y], node->def->info.name)) {
    return ND4C_OK;
  }
  ND4C_TRY(ask_sum(s, index, &fast));
  if (fast) {
    s->layers[index].chosen = true;
    s->values[a].wanted = s->values[b].wanted = s->values[end].bytes = s->values[end].end = true;
    s->q->sums++;
  }
  return ND4C_OK;
}

/* A concat of bytes gives bytes, of its own range, which its parts take over where nothing else reads them. */
static void choose_concat(state *s, const nd4c_graph_node *node) {
  value_state *y = &s->values[node->outputs[0]];
  bool all = y->known;
  for (int32_t i = 0; i < node->input_count; i++) {
    all = all && s->values[node->inputs[i]].bytes;
  }
  y->bytes = all;
  for (int32_t i = 0; all && i < node->input_count; i++) {
    value_state *part = &s->values[node->inputs[i]];
    if (part->end && part->reader >= 0) {
      part->affine = y->affine;
    }
  }
}

static nd4c_status choose(state *s, int32_t index) {
  const nd4c_graph_node *node = node_at(s, index);
  if (node->def == NULL) {
    return ND4C_OK;
  }
  const nd4c_op op = node->def->info.op;
  if (nd4c_calibration_is_layer(s->rewrite->graph, node)) {
    return choose_layer(s, index);
  }
  if (op == ND4C_OP_add) {
    return choose_sum(s, index);
  }
  if (op == ND4C_OP_concat) {
    choose_concat(s, node);
  } else if (chooses(op) && s->values[node->inputs[0]].bytes) {
    s->values[node->outputs[0]].bytes = true;
    s->values[node->outputs[0]].root = s->values[node->inputs[0]].root;
  }
  return ND4C_OK;
}

/* -- rewriting ----------------------------------------------------------------------------------------------------- */

static nd4c_status make_affine(state *s, nd4c_calibration_affine affine, nd4c_value *scale, nd4c_value *zero) {
  const double step = (double)affine.step, origin = affine.zero;
  ND4C_TRY(nd4c_constant_make(s->rewrite, ND4C_FLOAT32, 0, NULL, &step, scale));
  return nd4c_constant_make(s->rewrite, ND4C_UINT8, 0, NULL, &origin, zero);
}

/* Quantises a value and dequantises it again. If an op on bytes gives it, all its readers read the result. */
static nd4c_status make_codes(state *s, nd4c_value value) {
  value_state *v = &s->values[value];
  nd4c_value inputs[3];
  ND4C_TRY(make_affine(s, root_of(s, value)->affine, &inputs[1], &inputs[2]));
  ND4C_TRY(quantize(s, value, inputs[1], inputs[2], &v->codes));
  inputs[0] = v->codes;
  ND4C_TRY(nd4c_emit(&s->rewrite->emitter, ND4C_OP_dequantize_linear, inputs, 3, NULL, 0, &v->floats));
  return v->end ? nd4c_rewrite_replace(s->rewrite, value, v->floats, s->rewrite->existing) : ND4C_OK;
}

/* Lets a chosen node read a dequantised value. */
static void read_floats(const state *s, int32_t index, int32_t position, nd4c_value value) {
  nd4c_graph_node *node = &s->rewrite->graph->nodes[index];
  if (node->inputs[position] == value) {
    nd4c_rewrite_input(s->rewrite, node, position, s->values[value].floats);
    s->rewrite->changes++;
  }
}

static nd4c_status rewrite_conv(state *s, int32_t index, nd4c_value x) {
  const nd4c_value inputs[] = {s->layers[index].w, s->layers[index].w_scale};
  const nd4c_attr axis = nd4c_attr_of_int("axis", 0);
  nd4c_value w = ND4C_VALUE_NONE;
  ND4C_TRY(nd4c_emit(&s->rewrite->emitter, ND4C_OP_dequantize_linear, inputs, 2, &axis, 1, &w));
  read_floats(s, index, 0, x);
  nd4c_rewrite_input(s->rewrite, &s->rewrite->graph->nodes[index], 1, w);
  return ND4C_OK;
}

static nd4c_status rewrite_product(state *s, int32_t index, nd4c_value x) {
  nd4c_value inputs[ND4C_IN_linear_int8_count], found[3] = {s->values[x].codes};
  if (s->q->is_static) {
    ND4C_TRY(make_affine(s, root_of(s, x)->affine, &found[1], &found[2]));
  } else {
    ND4C_TRY(nd4c_emit_outputs(&s->rewrite->emitter, ND4C_OP_dynamic_quantize_linear, &x, 1, NULL, 0, found, 3));
  }
  list_inputs(s, index, found[0], found[1], found[2], inputs);
  bool done = false;
  return nd4c_rewrite_node(s->rewrite, index, ND4C_OP_linear_int8, inputs, ND4C_IN_linear_int8_count, NULL,
                           "product of bytes", &done);
}

/* The values that chosen nodes read, before any of them changes. */
typedef struct operands {
  nd4c_value a, b;
} operands;

static nd4c_status rewrite_all(state *s) {
  const int32_t count = s->rewrite->existing;
  operands *read = NULL;
  ND4C_TRY(nd4c_region_make(&s->region, count, sizeof *read, &read));
  for (int32_t i = 0; i < count; i++) {
    read[i] = s->layers[i].chosen ? (operands){node_at(s, i)->inputs[0], node_at(s, i)->inputs[1]} : (operands){0};
  }
  for (int32_t i = 0; s->q->is_static && i < s->value_count; i++) {
    ND4C_TRY(s->values[i].wanted || s->values[i].end ? make_codes(s, i) : ND4C_OK);
  }
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    if (s->layers[i].chosen && node_at(s, i)->def->info.op == ND4C_OP_add) {
      read_floats(s, i, 0, read[i].a);
      read_floats(s, i, 1, read[i].b);
    } else if (s->layers[i].chosen) {
      ND4C_TRY(node_at(s, i)->def->info.op == ND4C_OP_conv ? rewrite_conv(s, i, read[i].a)
                                                           : rewrite_product(s, i, read[i].a));
    }
  }
  return ND4C_OK;
}

static nd4c_status quantize_graph(state *s) {
  const double one = 1, none = 0;
  ND4C_TRY(make_values(s));
  ND4C_TRY(nd4c_constant_make(s->rewrite, ND4C_FLOAT32, 0, NULL, &one, &s->one));
  ND4C_TRY(nd4c_constant_make(s->rewrite, ND4C_UINT8, 0, NULL, &none, &s->zero));
  for (int32_t i = 0; i < s->rewrite->existing; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(choose(s, i));
  }
  ND4C_TRY(rewrite_all(s));
  s->rewrite->ends_round = s->rewrite->changes > 0;
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  nd4c_quantization *q = rewrite->quantization;
  if (q == NULL || q->done) {
    return ND4C_OK;
  }
  q->done = true;
  if (q->caught != NULL) {
    return nd4c_graph_clone(rewrite->graph, q->caught);
  }
  state s = {.rewrite = rewrite, .q = q};
  const nd4c_status status = quantize_graph(&s);
  nd4c_region_free(&s.region);
  return status;
}

ND4C_PASS(FUSE, 72, quantize, DEVICE,
          "lets convolutions and products with constant weights compute on bytes, if options.precision is int8")
