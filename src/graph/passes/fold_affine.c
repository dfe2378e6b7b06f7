/* Folds y = scale x + shift by channel, with constants, into the convolution or batch_norm that produces x. Covers
 * batch_norm itself and multiply, divide, add and subtract of [c, 1, 1]-shaped constants. Computed in double. passes.c
 * runs it on every optimised plan. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/ir/derived.h"
#include "graph/ir/mapped.h"
#include "graph/passes.h"

enum { LIMIT_ELEMENTS = ND4C_MAPPED_ELEMENTS };

typedef struct affine {
  nd4c_value source;
  int64_t channels;
  double *scale; /* NULL: all 1 */
  double *shift; /* NULL: all 0 */
} affine;

static void affine_free(affine *map) {
  nd4c_deallocate(map->scale);
  nd4c_deallocate(map->shift);
  map->scale = map->shift = NULL;
}

/* -- recognising -------------------------------------------------------------------------------------------------- */

/* Numbers, one for each channel, of a constant that varies only along axis 1 of `like`; NULL if it is not such a
 * constant. */
static double *channel_numbers(const nd4c_rewrite *rewrite, nd4c_value value, const nd4c_graph_value *like,
                               nd4c_status *status) {
  *status = ND4C_OK;
  const nd4c_graph_value *constant = value < 0 ? NULL : &rewrite->graph->values[value];
  if (constant == NULL || constant->dtype != like->dtype || constant->rank > like->rank) {
    return NULL;
  }
  int64_t channels = like->shape[1];
  for (int32_t i = 0; i < constant->rank; i++) {
    int32_t axis = like->rank - constant->rank + i;
    if (constant->shape[i] != 1 && (axis != 1 || constant->shape[i] != channels)) {
      return NULL;
    }
  }
  double *numbers = nd4c_constant_numbers(rewrite, value, LIMIT_ELEMENTS, status);
  if (numbers == NULL || constant->size == channels) {
    return numbers;
  }
  double *repeated = nd4c_allocate((size_t)channels * sizeof *repeated);
  for (int64_t i = 0; repeated != NULL && i < channels; i++) {
    repeated[i] = numbers[0];
  }
  nd4c_deallocate(numbers);
  if (repeated == NULL) {
    *status = nd4c_fail_memory("folding constants", (size_t)channels * sizeof *repeated);
  }
  return repeated;
}

static double *make_numbers(int64_t count, double number, nd4c_status *status) {
  double *numbers = nd4c_allocate((size_t)count * sizeof *numbers);
  if (numbers == NULL) {
    *status = nd4c_fail_memory("folding constants", (size_t)count * sizeof *numbers);
  }
  for (int64_t i = 0; numbers != NULL && i < count; i++) {
    numbers[i] = number;
  }
  return numbers;
}

/* Fills the map of a batch_norm; map->source stays NONE if its parameters are not constants. */
static nd4c_status read_batch_norm(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, affine *map) {
  enum { SCALE, BIAS, MEAN, VARIANCE, PARAMETERS };
  static const int32_t positions[PARAMETERS] = {ND4C_IN_batch_norm_scale, ND4C_IN_batch_norm_bias,
                                                ND4C_IN_batch_norm_mean, ND4C_IN_batch_norm_variance};
  const nd4c_graph_value *x = &rewrite->graph->values[node->inputs[0]];
  double *numbers[PARAMETERS] = {NULL};
  nd4c_status status = ND4C_OK;
  bool complete = true;
  for (int32_t i = 0; i < PARAMETERS && complete; i++) {
    nd4c_value value = node->inputs[positions[i]];
    if (value >= 0 && rewrite->graph->values[value].dtype == x->dtype) {
      numbers[i] = nd4c_constant_numbers(rewrite, value, LIMIT_ELEMENTS, &status);
    }
    complete = numbers[i] != NULL;
  }
  if (complete) {
    double epsilon = node->attrs[ND4C_ATTR_batch_norm_epsilon].as.f;
    for (int64_t i = 0; i < map->channels; i++) {
      numbers[SCALE][i] /= sqrt(numbers[VARIANCE][i] + epsilon);
      numbers[BIAS][i] -= numbers[MEAN][i] * numbers[SCALE][i];
    }
    map->source = node->inputs[0];
    map->scale = numbers[SCALE];
    map->shift = numbers[BIAS];
    numbers[SCALE] = numbers[BIAS] = NULL;
  }
  for (int32_t i = 0; i < PARAMETERS; i++) {
    nd4c_deallocate(numbers[i]);
  }
  return status;
}

/* multiply, divide, add or subtract with a channel constant at input 1 or, for commutative ops and subtract, at input
 * 0. */
static nd4c_status read_binary(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, affine *map) {
  const nd4c_graph_value *output = &rewrite->graph->values[node->outputs[0]];
  nd4c_op op = node->def->info.op;
  nd4c_status status = ND4C_OK;
  int32_t constant_at = 1;
  double *numbers = channel_numbers(rewrite, node->inputs[1], output, &status);
  if (numbers == NULL && status == ND4C_OK && op != ND4C_OP_divide) {
    constant_at = 0;
    numbers = channel_numbers(rewrite, node->inputs[0], output, &status);
  }
  if (numbers == NULL) {
    return status;
  }
  bool reversed = op == ND4C_OP_subtract && constant_at == 0, negated = op == ND4C_OP_subtract && constant_at == 1;
  for (int64_t i = 0; i < map->channels; i++) {
    numbers[i] = op == ND4C_OP_divide ? 1.0 / numbers[i] : (negated ? -numbers[i] : numbers[i]);
  }
  map->source = node->inputs[1 - constant_at];
  bool scales = op == ND4C_OP_multiply || op == ND4C_OP_divide;
  map->scale = scales ? numbers : NULL;
  map->shift = scales ? NULL : numbers;
  if (reversed) {
    map->scale = make_numbers(map->channels, -1.0, &status);
  }
  return status;
}

static nd4c_status read_affine(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, affine *map) {
  *map = (affine){.source = ND4C_VALUE_NONE};
  nd4c_op op = node->def->info.op;
  bool binary = op == ND4C_OP_multiply || op == ND4C_OP_divide || op == ND4C_OP_add || op == ND4C_OP_subtract;
  if (!binary && op != ND4C_OP_batch_norm) {
    return ND4C_OK;
  }
  const nd4c_graph_value *output = &rewrite->graph->values[node->outputs[0]];
  if (output->rank < 2 || nd4c_extent_is_symbolic(output->shape[1]) ||
      (output->dtype != ND4C_FLOAT32 && output->dtype != ND4C_FLOAT64)) {
    return ND4C_OK;
  }
  map->channels = output->shape[1];
  return binary ? read_binary(rewrite, node, map) : read_batch_norm(rewrite, node, map);
}

/* Whether every factor and term may go into a sum of products. */
static bool distributes(const affine *map) {
  for (int64_t c = 0; c < map->channels; c++) {
    if ((map->scale != NULL && !nd4c_factor_distributes(map->scale[c])) ||
        (map->shift != NULL && !isfinite(map->shift[c]))) {
      return false;
    }
  }
  return true;
}

/* -- folding ------------------------------------------------------------------------------------------------------ */

/* New constant old * scale + shift by channel. *made is NONE if the dtype cannot hold it. */
static nd4c_status map_constant(nd4c_rewrite *rewrite, nd4c_value old, const affine *map, bool shift,
                                nd4c_value *made) {
  const nd4c_derived_key key = {.from = rewrite->graph->values[old].constant,
                                .channels = map->channels,
                                .scale = map->scale,
                                .shift = shift ? map->shift : NULL};
  return nd4c_map_constant(rewrite, old, &key, made);
}

static bool is_foldable_constant(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_dtype dtype) {
  const nd4c_graph_value *info = value < 0 ? NULL : &rewrite->graph->values[value];
  return info != NULL && info->constant != NULL && info->dtype == dtype && info->size <= LIMIT_ELEMENTS;
}

static nd4c_status fold_into_conv(nd4c_rewrite *rewrite, int32_t index, const nd4c_graph_node *conv,
                                  const affine *map) {
  nd4c_value inputs[] = {conv->inputs[0], conv->inputs[ND4C_IN_conv_w], nd4c_node_input(conv, ND4C_IN_conv_bias)};
  nd4c_dtype dtype = rewrite->graph->values[conv->outputs[0]].dtype;
  bool bias = inputs[ND4C_IN_conv_bias] >= 0;
  if (nd4c_node_input(conv, ND4C_IN_conv_addend) >= 0 || conv->attrs[ND4C_ATTR_conv_activation].as.i != 0 ||
      !is_foldable_constant(rewrite, inputs[ND4C_IN_conv_w], dtype) ||
      (bias && !is_foldable_constant(rewrite, inputs[ND4C_IN_conv_bias], dtype))) {
    return ND4C_OK;
  }
  const nd4c_attr_value *attrs = conv->attrs;
  char fused[256];
  (void)nd4c_fused_text(conv, rewrite->graph->nodes[index].def->info.name, fused, sizeof fused);
  if (map->scale != NULL) {
    ND4C_TRY(map_constant(rewrite, inputs[ND4C_IN_conv_w], map, false, &inputs[ND4C_IN_conv_w]));
  }
  if (bias) {
    ND4C_TRY(map_constant(rewrite, inputs[ND4C_IN_conv_bias], map, true, &inputs[ND4C_IN_conv_bias]));
  } else if (map->shift != NULL) {
    ND4C_TRY(nd4c_constant_make(rewrite, dtype, 1, &map->channels, map->shift, &inputs[ND4C_IN_conv_bias]));
  }
  if (inputs[ND4C_IN_conv_w] == ND4C_VALUE_NONE || (bias && inputs[ND4C_IN_conv_bias] == ND4C_VALUE_NONE)) {
    return ND4C_OK;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_conv, inputs, 3, attrs, fused, &done);
}

static nd4c_status fold_into_batch_norm(nd4c_rewrite *rewrite, int32_t index, const nd4c_graph_node *norm,
                                        const affine *map) {
  nd4c_dtype dtype = rewrite->graph->values[norm->outputs[0]].dtype;
  nd4c_value inputs[ND4C_IN_batch_norm_count];
  memcpy(inputs, norm->inputs, sizeof inputs);
  if (!is_foldable_constant(rewrite, inputs[ND4C_IN_batch_norm_scale], dtype) ||
      !is_foldable_constant(rewrite, inputs[ND4C_IN_batch_norm_bias], dtype)) {
    return ND4C_OK;
  }
  const nd4c_attr_value *attrs = norm->attrs;
  char fused[256];
  (void)nd4c_fused_text(norm, rewrite->graph->nodes[index].def->info.name, fused, sizeof fused);
  if (map->scale != NULL) {
    ND4C_TRY(map_constant(rewrite, inputs[ND4C_IN_batch_norm_scale], map, false, &inputs[ND4C_IN_batch_norm_scale]));
  }
  ND4C_TRY(map_constant(rewrite, inputs[ND4C_IN_batch_norm_bias], map, true, &inputs[ND4C_IN_batch_norm_bias]));
  if (inputs[ND4C_IN_batch_norm_scale] == ND4C_VALUE_NONE || inputs[ND4C_IN_batch_norm_bias] == ND4C_VALUE_NONE) {
    return ND4C_OK;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_batch_norm, inputs, ND4C_IN_batch_norm_count, attrs, fused, &done);
}

static nd4c_status fold(nd4c_rewrite *rewrite, int32_t index, const affine *map) {
  const nd4c_graph *graph = rewrite->graph;
  if (!nd4c_rewrite_is_single(rewrite, map->source) ||
      graph->values[map->source].size != graph->values[graph->nodes[index].outputs[0]].size) {
    return ND4C_OK;
  }
  const nd4c_graph_node *conv = nd4c_rewrite_producer(rewrite, map->source, ND4C_OP_conv);
  const nd4c_graph_node *norm = nd4c_rewrite_producer(rewrite, map->source, ND4C_OP_batch_norm);
  if (conv != NULL) {
    return fold_into_conv(rewrite, index, conv, map);
  }
  return norm != NULL && norm->input_count == ND4C_IN_batch_norm_count ? fold_into_batch_norm(rewrite, index, norm, map)
                                                                       : ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    affine map;
    ND4C_TRY(nd4c_cancellation_poll());
    nd4c_status status = read_affine(rewrite, &rewrite->graph->nodes[i], &map);
    if (status == ND4C_OK && map.source >= 0 && distributes(&map)) {
      status = fold(rewrite, i, &map);
    }
    affine_free(&map);
    ND4C_TRY(status);
  }
  return ND4C_OK;
}

ND4C_PASS(FUSE, 60, fold_affine, ANY, "folds batch_norm and channel constants into conv or batch_norm")
