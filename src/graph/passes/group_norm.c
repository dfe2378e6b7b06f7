/* A norm of x with its channels in groups, between two reshapes, becomes group_norm: layer_norm or instance_norm of x
 * as [n, groups, ...], as exporters write it. A scale and a bias by channel behind it go in, and those behind a
 * layer_norm of all places of each channel make it a group_norm of groups of one channel. Runs after layer_norm, which
 * has found the norm in its parts. passes.c runs it on optimised plans of one device, if that device has a kernel for
 * group_norm that is faster than the reference. */
#include "array/shape.h"
#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/ir/uniform.h"
#include "graph/match/fast.h"
#include "graph/match/moments.h"
#include "graph/passes.h"

/* Axes of x [n, channels, ...]. */
enum { CHANNELS = 1, PLACES = 2 };

/* A norm without parameters over the axes from `axis` on. */
typedef struct plain_norm {
  nd4c_value x;
  int32_t axis;
  double epsilon;
} plain_norm;

/* Whether a parameter is left out, or is this number everywhere. */
static bool is_neutral(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, int32_t position, double number) {
  const nd4c_value value = nd4c_node_input(node, position);
  nd4c_uniform all;
  return value < 0 || (nd4c_constant_uniform(rewrite, value, &all) && nd4c_uniform_is(&all, number));
}

static bool read_norm(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, plain_norm *norm) {
  if (node == NULL || node->def == NULL || node->input_count == 0) { /* ops that make numbers have no input */
    return false;
  }
  norm->x = node->inputs[0];
  switch (node->def->info.op) {
    case ND4C_OP_layer_norm:
      norm->axis = nd4c_axis_index(node->attrs[ND4C_ATTR_layer_norm_axis].as.i, rewrite->graph->values[norm->x].rank);
      norm->epsilon = node->attrs[ND4C_ATTR_layer_norm_epsilon].as.f;
      return is_neutral(rewrite, node, ND4C_IN_layer_norm_scale, 1) &&
             is_neutral(rewrite, node, ND4C_IN_layer_norm_bias, 0);
    case ND4C_OP_instance_norm:
      norm->axis = PLACES;
      norm->epsilon = node->attrs[ND4C_ATTR_instance_norm_epsilon].as.f;
      return is_neutral(rewrite, node, ND4C_IN_instance_norm_scale, 1) &&
             is_neutral(rewrite, node, ND4C_IN_instance_norm_bias, 0);
    case ND4C_OP_group_norm: /* what this pass makes of an instance_norm in its parts */
      norm->axis = PLACES;
      norm->epsilon = node->attrs[ND4C_ATTR_group_norm_epsilon].as.f;
      return node->attrs[ND4C_ATTR_group_norm_groups].as.i == rewrite->graph->values[norm->x].shape[CHANNELS] &&
             is_neutral(rewrite, node, ND4C_IN_group_norm_scale, 1) &&
             is_neutral(rewrite, node, ND4C_IN_group_norm_bias, 0);
    default:
      return false;
  }
}

/* How many groups the channels of `whole` [n, channels, ...] form, if each row of `parts`, from `axis` on, is one; 0:
 * the rows are no groups of channels. */
static int64_t count_groups(const nd4c_graph_value *whole, const nd4c_graph_value *parts, int32_t axis) {
  int64_t groups = 1;
  const bool split = axis > 1 && parts->shape[0] == whole->shape[0];
  for (int32_t i = split ? 1 : 0; i < axis; i++) {
    if (nd4c_extent_is_symbolic(parts->shape[i])) {
      return 0;
    }
    groups *= parts->shape[i];
  }
  if (!split) { /* [n * groups, ...] */
    const int64_t n = whole->shape[0];
    groups = nd4c_extent_is_symbolic(n) || n < 1 || groups % n != 0 ? 0 : groups / n;
  }
  const int64_t channels = whole->shape[CHANNELS];
  return groups > 0 && !nd4c_extent_is_symbolic(channels) && channels % groups == 0 ? groups : 0;
}

/* Makes the node a group_norm, if the device has a fast one. */
static nd4c_status make_norm(nd4c_rewrite *rewrite, int32_t index, const nd4c_value *inputs, int64_t groups,
                             double epsilon, const char *fused) {
  nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
  bool done = false;
  ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_group_norm, attrs));
  attrs[ND4C_ATTR_group_norm_groups].as.i = groups;
  attrs[ND4C_ATTR_group_norm_epsilon].as.f = epsilon;
  return nd4c_rewrite_is_fast(rewrite, ND4C_OP_group_norm, inputs, ND4C_IN_group_norm_count, attrs)
             ? nd4c_rewrite_node(rewrite, index, ND4C_OP_group_norm, inputs, ND4C_IN_group_norm_count, attrs, fused,
                                 &done)
             : ND4C_OK;
}

/* reshape(norm(reshape(x))) of x's shape. */
static nd4c_status find_groups(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph *graph = rewrite->graph;
  const nd4c_graph_node *node = &graph->nodes[index];
  const nd4c_value between = node->inputs[0];
  const int32_t producer = nd4c_rewrite_is_single(rewrite, between) ? graph->values[between].producer : -1;
  plain_norm norm;
  if (producer < 0 || !read_norm(rewrite, &graph->nodes[producer], &norm)) {
    return ND4C_OK;
  }
  const nd4c_graph_node *before = nd4c_rewrite_producer(rewrite, norm.x, ND4C_OP_reshape);
  const nd4c_graph_value *y = &graph->values[node->outputs[0]];
  const nd4c_value x = before == NULL ? ND4C_VALUE_NONE : before->inputs[0];
  if (x < 0 || y->rank < PLACES ||
      !nd4c_shape_equal(y->rank, y->shape, graph->values[x].rank, graph->values[x].shape)) {
    return ND4C_OK;
  }
  const int64_t groups = count_groups(y, &graph->values[norm.x], norm.axis);
  const nd4c_value inputs[] = {x, ND4C_VALUE_NONE, ND4C_VALUE_NONE};
  char fused[256];
  return groups == 0 ? ND4C_OK
                     : make_norm(rewrite, index, inputs, groups, norm.epsilon,
                                 nd4c_fused_text(&graph->nodes[producer], "reshape", fused, sizeof fused));
}

/* -- parameters by channel ------------------------------------------------------------------------------------------
 */

/* Whether the value has a number for each channel of x and is as long as 1 elsewhere. */
static bool is_by_channel(const nd4c_graph *graph, nd4c_value value, nd4c_value x) {
  const nd4c_graph_value *given = &graph->values[value], *like = &graph->values[x];
  const int32_t before = like->rank - given->rank;
  bool fits = given->dtype == like->dtype && before >= 0 && before <= CHANNELS;
  for (int32_t i = 0; i < given->rank && fits; i++) {
    fits = given->shape[i] == (before + i == CHANNELS ? like->shape[CHANNELS] : 1);
  }
  return fits;
}

typedef struct host {
  nd4c_value inputs[ND4C_IN_group_norm_count];
  int64_t groups;
  double epsilon;
} host;

/* The norm as a group_norm that can take a parameter at `position`: the one before it must not be there yet. */
static bool read_host(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, int32_t position, host *found) {
  plain_norm norm;
  *found = (host){.inputs = {ND4C_VALUE_NONE, ND4C_VALUE_NONE, ND4C_VALUE_NONE}};
  if (node == NULL || node->def == NULL) {
    return false;
  }
  if (node->def->info.op == ND4C_OP_group_norm) {
    for (int32_t i = 0; i < ND4C_IN_group_norm_count; i++) {
      found->inputs[i] = nd4c_node_input(node, i);
    }
    found->groups = node->attrs[ND4C_ATTR_group_norm_groups].as.i;
    found->epsilon = node->attrs[ND4C_ATTR_group_norm_epsilon].as.f;
    return found->inputs[position] < 0 && found->inputs[ND4C_IN_group_norm_bias] < 0;
  }
  if (!read_norm(rewrite, node, &norm)) {
    return false;
  }
  const nd4c_graph_value *x = &rewrite->graph->values[norm.x];
  found->inputs[0] = norm.x;
  found->groups = x->rank > PLACES ? x->shape[CHANNELS] : 0;
  found->epsilon = norm.epsilon;
  return norm.axis == PLACES && found->groups > 0; /* a symbolic extent is below 0 */
}

static nd4c_status add_parameter(nd4c_rewrite *rewrite, int32_t index, int32_t position) {
  const nd4c_graph *graph = rewrite->graph;
  for (int32_t i = 0; i < 2; i++) {
    const nd4c_graph_node *node = &graph->nodes[index];
    const nd4c_value parameter = node->inputs[1 - i];
    const int32_t producer = graph->values[node->inputs[i]].producer;
    const nd4c_graph_node *norm = producer < 0 ? NULL : &graph->nodes[producer];
    host found;
    if (!read_host(rewrite, norm, position, &found) || !is_by_channel(graph, parameter, found.inputs[0]) ||
        !nd4c_may_take_in(rewrite, norm, node)) {
      continue;
    }
    char fused[256];
    (void)nd4c_fused_text(norm, node->def->info.name, fused, sizeof fused);
    const int64_t channels = graph->values[found.inputs[0]].shape[CHANNELS];
    ND4C_TRY(nd4c_emit_reshape(&rewrite->emitter, parameter, 1, &channels, &found.inputs[position]));
    return make_norm(rewrite, index, found.inputs, found.groups, found.epsilon, fused);
  }
  return ND4C_OK;
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)same;
  (void)state;
  switch (rewrite->graph->nodes[index].def->info.op) {
    case ND4C_OP_reshape:
      return find_groups(rewrite, index);
    case ND4C_OP_multiply:
      return add_parameter(rewrite, index, ND4C_IN_group_norm_scale);
    case ND4C_OP_add:
      return add_parameter(rewrite, index, ND4C_IN_group_norm_bias);
    default:
      return ND4C_OK;
  }
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(RECOGNIZE, 54, group_norm, DEVICE, "recognises group_norm in norms between reshapes and their neighbours")
