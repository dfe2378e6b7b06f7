/* Takes attention_with_cache apart whose scores no node reads: into attention, which needs no matrix of them, and a
 * concat each for the present keys and values. passes.c runs it on optimised plans of one device, if that device has a
 * kernel for attention that is faster than the reference. */
#include "base/status.h"
#include "graph/match/fast.h"
#include "graph/passes.h"

enum { Y, PRESENT_KEY, PRESENT_VALUE, SCORES, OUTPUTS, INPUTS = ND4C_IN_attention_key_lengths + 1, AXES = 4 };

/* What the pass reads of a node: nodes move when others are added. */
typedef struct cached {
  int32_t count;
  nd4c_value inputs[INPUTS], outputs[OUTPUTS];
  nd4c_attr attrs[ND4C_REWRITE_ATTRS];
  int32_t attr_count;
  int64_t kv_heads;
} cached;

/* Whether the features of keys and values, which heads share, are a number. */
static bool has_fixed_features(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  const nd4c_graph_value *k = &rewrite->graph->values[node->inputs[1]], *v = &rewrite->graph->values[node->inputs[2]];
  return !nd4c_extent_is_symbolic(k->shape[k->rank - 1]) && !nd4c_extent_is_symbolic(v->shape[v->rank - 1]);
}

static void read_node(const nd4c_graph_node *node, cached *found) {
  const nd4c_op_info *info = &nd4c_op_get_def(ND4C_OP_attention)->info;
  found->count = node->input_count;
  for (int32_t i = 0; i < INPUTS; i++) {
    found->inputs[i] = nd4c_node_input(node, i);
  }
  for (int32_t i = 0; i < OUTPUTS; i++) {
    found->outputs[i] = node->outputs[i];
  }
  found->attr_count = info->attr_count;
  for (int32_t i = 0; i < info->attr_count; i++) { /* both ops begin with the same ones */
    found->attrs[i] = (nd4c_attr){.name = info->attrs[i].name, .value = node->attrs[i]};
  }
  found->kv_heads = node->attrs[ND4C_ATTR_attention_kv_heads].as.i;
}

/* Keys or values with the past ones before them, [n, heads, places, features]. */
static nd4c_status join(nd4c_rewrite *rewrite, const cached *found, nd4c_value own, nd4c_value past,
                        nd4c_value *joined) {
  static const int64_t heads_first[] = {0, 2, 1, 3};
  const nd4c_graph_value *x = &rewrite->graph->values[own];
  *joined = own;
  if (x->rank != AXES) {
    const int64_t shape[] = {x->shape[0], x->shape[1], found->kv_heads, x->shape[2] / found->kv_heads};
    ND4C_TRY(nd4c_emit_reshape(&rewrite->emitter, own, AXES, shape, joined));
    ND4C_TRY(nd4c_emit_axes(&rewrite->emitter, ND4C_OP_transpose, *joined, AXES, heads_first, joined));
  }
  const nd4c_value parts[] = {past, *joined};
  return past < 0 ? ND4C_OK : nd4c_emit_along(&rewrite->emitter, ND4C_OP_concat, parts, 2, 2, joined);
}

static nd4c_status replace(nd4c_rewrite *rewrite, nd4c_value old, nd4c_value value, int32_t until) {
  return rewrite->uses[old] > 0 ? nd4c_rewrite_replace(rewrite, old, value, until) : ND4C_OK;
}

/* Whether nothing reads the old value, or the other one has its dtype and shape. With dims the two may be equal only by
 * assumption. */
static bool can_replace(const nd4c_rewrite *rewrite, nd4c_value old, nd4c_value value) {
  return rewrite->uses[old] == 0 || nd4c_rewrite_may_replace(rewrite, old, value);
}

static nd4c_status take_apart(nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  cached found;
  nd4c_value y, key, value;
  const int32_t until = rewrite->graph->node_count, changes = rewrite->changes;
  nd4c_extents *extents = rewrite->graph->extents;
  const int32_t guards = extents != NULL ? nd4c_extents_guard_count(extents) : 0;
  read_node(node, &found);
  ND4C_TRY(
      nd4c_emit(&rewrite->emitter, ND4C_OP_attention, found.inputs, found.count, found.attrs, found.attr_count, &y));
  ND4C_TRY(join(rewrite, &found, found.inputs[1], found.inputs[ND4C_IN_attention_past_key], &key));
  ND4C_TRY(join(rewrite, &found, found.inputs[2], found.inputs[ND4C_IN_attention_past_value], &value));
  rewrite->changes = changes;
  if (!can_replace(rewrite, found.outputs[Y], y) || !can_replace(rewrite, found.outputs[PRESENT_KEY], key) ||
      !can_replace(rewrite, found.outputs[PRESENT_VALUE], value)) {
    if (extents != NULL) {
      nd4c_extents_forget(extents, guards);
    }
    return ND4C_OK; /* what was added is removed, as nothing reads it */
  }
  ND4C_TRY(replace(rewrite, found.outputs[Y], y, until));
  ND4C_TRY(replace(rewrite, found.outputs[PRESENT_KEY], key, until));
  ND4C_TRY(replace(rewrite, found.outputs[PRESENT_VALUE], value, until));
  rewrite->changes = changes + 1;
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->existing; i++) {
    const nd4c_graph_node *node = &rewrite->graph->nodes[i];
    if (node->def != NULL && node->def->info.op == ND4C_OP_attention_with_cache &&
        rewrite->uses[node->outputs[SCORES]] == 0 && has_fixed_features(rewrite, node) &&
        nd4c_rewrite_is_fast(rewrite, ND4C_OP_attention, node->inputs, node->input_count, node->attrs)) {
      ND4C_TRY(take_apart(rewrite, node));
    }
  }
  return ND4C_OK;
}

ND4C_PASS(RECOGNIZE, 53, attention_cache, DEVICE,
          "makes attention and concat of attention_with_cache whose scores are not read")
