/* Implements common.h, except for choices (common_choices.c). */
#include "graph/plan/common.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/attrs.h"

/* -- nodes -----------------------------------------------------------------------------------------------------------
 */

/* Attributes of a node that depend on dims, a bit each. */
static uint32_t mask_of(const nd4c_graph *graph, const nd4c_graph_node *node) {
  uint32_t possible = 0, mask = 0;
  (void)nd4c_op_takes_symbolic(node->def, &possible);
  for (int32_t i = 0; i < node->def->info.attr_count; i++) {
    const nd4c_attr_value *value = &node->attrs[i];
    const int64_t *numbers = value->kind == ND4C_ATTR_INTS ? value->as.ints : &value->as.i;
    const int32_t count = value->kind == ND4C_ATTR_INTS ? value->count : 1;
    bool symbolic = false;
    for (int32_t k = 0; (possible >> i & 1) != 0 && numbers != NULL && k < count; k++) {
      symbolic = symbolic || nd4c_extents_has(graph->extents, numbers[k]);
    }
    mask |= (uint32_t)symbolic << i;
  }
  return mask;
}

static uint64_t hash_node(const nd4c_graph_node *node) {
  return nd4c_attrs_hash(node->def->info.op, node->def->info.attr_count, node->attrs);
}

static bool is_same_kind(const nd4c_graph_node *a, const nd4c_graph_node *b) {
  return a->def == b->def && a->input_count == b->input_count && a->output_count == b->output_count &&
         nd4c_attrs_equal(a->def->info.attr_count, a->attrs, b->attrs);
}

/* `first_of`, `next`: by hash and by node, the nodes that begin a kind. */
static void find_kinds(const nd4c_graph *graph, int32_t *kinds, int32_t *first_of, int32_t buckets, int32_t *next) {
  memset(first_of, -1, (size_t)buckets * sizeof *first_of);
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    int32_t *bucket = &first_of[hash_node(node) % (uint64_t)buckets], at = *bucket;
    while (at >= 0 && !is_same_kind(&graph->nodes[at], node)) {
      at = next[at];
    }
    if (at < 0) {
      next[i] = *bucket;
      *bucket = i;
    }
    kinds[node->outputs[0]] = at < 0 ? i : at;
  }
}

static nd4c_status describe_nodes(nd4c_plan_common *common) {
  const nd4c_graph *graph = common->graph;
  const int32_t buckets = graph->node_count + 1;
  int32_t *kinds = NULL, *first_of = NULL, *next = NULL;
  uint32_t *masks = NULL;
  nd4c_region region = {0};
  ND4C_TRY(nd4c_region_make(&common->region, graph->value_count, sizeof *kinds, &kinds));
  ND4C_TRY(nd4c_region_make(&common->region, graph->value_count, sizeof *masks, &masks));
  ND4C_TRY(nd4c_region_make(&common->region, graph->value_count, sizeof *common->latest, &common->latest));
  nd4c_status status = nd4c_region_make(&region, buckets, sizeof *first_of, &first_of);
  status = status == ND4C_OK ? nd4c_region_make(&region, buckets, sizeof *next, &next) : status;
  if (status == ND4C_OK) {
    find_kinds(graph, kinds, first_of, buckets, next);
  }
  nd4c_region_free(&region);
  for (int32_t i = 0; i < graph->node_count; i++) {
    masks[graph->nodes[i].outputs[0]] = mask_of(graph, &graph->nodes[i]);
  }
  common->kinds = kinds;
  common->attr_masks = masks;
  return status;
}

nd4c_status nd4c_common_make(nd4c_graph *graph, nd4c_lock *lock, nd4c_plan_common **common) {
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof **common, "what bindings have in common", common));
  (*common)->graph = graph;
  (*common)->lock = lock;
  return describe_nodes(*common);
}

/* Drops the segments. */
static void forget_pieces(nd4c_plan_common *common) {
  for (int32_t i = 0; i < common->segment_count; i++) {
    nd4c_compiled_release(common->segments[i].segment.compiled);
  }
  common->segment_count = 0;
  common->segment_of = NULL;
}

void nd4c_common_free(nd4c_plan_common *common) {
  if (common == NULL) {
    return;
  }
  forget_pieces(common);
  for (int32_t i = 0; common->latest != NULL && i < common->graph->value_count; i++) {
    nd4c_choice_release(common->latest[i].choice);
  }
  for (int32_t i = 0; i < common->bucket_count; i++) {
    while (common->buckets[i] != NULL) {
      nd4c_common_choice *gone = common->buckets[i];
      common->buckets[i] = gone->next;
      nd4c_common_choice_free(gone);
    }
  }
  nd4c_deallocate(common->buckets);
  nd4c_deallocate(common->signature);
  nd4c_region_free(&common->region);
  nd4c_deallocate(common);
}

/* -- the first binding -----------------------------------------------------------------------------------------------
 */

/* Gives the graph with dims the binding's order of nodes. */
static nd4c_status keep_order(nd4c_plan_common *common, const nd4c_graph *bound) {
  nd4c_graph *graph = common->graph;
  nd4c_graph_node *nodes = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)graph->node_count + 1, sizeof *nodes, "nodes of a graph", &nodes));
  for (int32_t i = 0; i < graph->node_count; i++) {
    nodes[i] = graph->nodes[graph->values[bound->nodes[i].outputs[0]].producer];
  }
  nd4c_lock_acquire(common->lock);
  if (graph->node_count > 0) {
    memcpy(graph->nodes, nodes, (size_t)graph->node_count * sizeof *nodes);
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    for (int32_t k = 0; k < graph->nodes[i].output_count; k++) {
      graph->values[graph->nodes[i].outputs[k]].producer = i;
    }
  }
  nd4c_lock_release(common->lock);
  nd4c_deallocate(nodes);
  return ND4C_OK;
}

/* Gives it the binding's memory orders. */
static nd4c_status keep_memory_orders(nd4c_plan_common *common, const nd4c_graph *bound) {
  nd4c_graph *graph = common->graph;
  for (int32_t i = 0; i < graph->value_count; i++) {
    const int32_t *order = bound->values[i].order;
    graph->values[i].order = NULL;
    if (order != NULL) {
      graph->values[i].order = nd4c_region_copy(&common->region, order, graph->values[i].rank, sizeof *order);
      ND4C_TRY(graph->values[i].order == NULL ? nd4c_error_code() : ND4C_OK);
    }
  }
  return ND4C_OK;
}

static nd4c_status keep_pieces(nd4c_plan_common *common, const nd4c_plan *plan) {
  const int32_t values = plan->graph->value_count;
  common->segment_of =
      nd4c_region_copy(&common->region, plan->segment_of, plan->segmented_count, sizeof *plan->segment_of);
  common->fed = nd4c_region_copy(&common->region, plan->fed, values, sizeof *plan->fed);
  common->hidden = nd4c_region_copy(&common->region, plan->hidden, values, sizeof *plan->hidden);
  ND4C_TRY(nd4c_region_make(&common->region, plan->segment_count, sizeof *common->segments, &common->segments));
  if (common->segment_of == NULL || common->fed == NULL || common->hidden == NULL) {
    return nd4c_error_code();
  }
  common->segmented_count = plan->segmented_count;
  for (int32_t i = 0; i < plan->segment_count; i++) {
    common->segments[i].segment = plan->segments[i];
    common->segments[i].segment.compiled = nd4c_compiled_retain(plan->segments[i].compiled);
    common->segment_count++;
  }
  return ND4C_OK;
}

nd4c_status nd4c_common_keep(nd4c_plan *plan) {
  const nd4c_graph *graph = plan->common->graph;
  forget_pieces(plan->common); /* of an earlier try that failed later on */
  if (plan->graph->node_count != graph->node_count || plan->graph->value_count != graph->value_count) {
    plan->common->unfit = true;
    return ND4C_OK;
  }
  ND4C_TRY(keep_order(plan->common, plan->graph));
  ND4C_TRY(keep_memory_orders(plan->common, plan->graph));
  return plan->segment_of != NULL ? keep_pieces(plan->common, plan) : ND4C_OK;
}

nd4c_status nd4c_common_keep_segment(const nd4c_plan *plan, const nd4c_step *step) {
  nd4c_plan_common *common = plan->common;
  nd4c_common_segment *kept = &common->segments[step->segment - plan->segments];
  kept->segment.first = step->segment->first;
  kept->input_count = step->input_count;
  kept->output_count = step->output_count;
  kept->inputs = nd4c_region_copy(&common->region, step->inputs, step->input_count, sizeof *step->inputs);
  kept->outputs = nd4c_region_copy(&common->region, step->outputs, step->output_count, sizeof *step->outputs);
  kept->tensors = nd4c_region_copy(&common->region, step->tensors, step->input_count, sizeof *step->tensors);
  ND4C_TRY(nd4c_region_make(&common->region, step->input_count, sizeof *kept->constants, &kept->constants));
  nd4c_plan_find_constants(plan, step, kept->constants);
  return kept->inputs != NULL && kept->outputs != NULL && kept->tensors != NULL ? ND4C_OK : nd4c_error_code();
}

/* -- further bindings ------------------------------------------------------------------------------------------------
 */

nd4c_status nd4c_common_take(nd4c_plan *plan) {
  const nd4c_plan_common *common = plan->common;
  if (common->segment_of == NULL) {
    return ND4C_OK;
  }
  plan->segment_of = common->segment_of;
  plan->segmented_count = common->segmented_count;
  plan->fed = common->fed;
  plan->hidden = common->hidden;
  ND4C_TRY(nd4c_region_make(&plan->region, common->segment_count, sizeof *plan->segments, &plan->segments));
  plan->segment_count = common->segment_count;
  for (int32_t i = 0; i < common->segment_count; i++) {
    plan->segments[i] = common->segments[i].segment;
    plan->segments[i].compiled = NULL; /* until it is known to serve this binding */
  }
  return ND4C_OK;
}

/* The slot that has the memory of a constant input; NULL: the input is none. */
static nd4c_slot *constant_of(const nd4c_plan *plan, const nd4c_step *step, int32_t input) {
  nd4c_slot *root = step->inputs[input] < 0 ? NULL : &plan->slots[plan->slots[step->inputs[input]].root];
  return root != NULL && root->kind == ND4C_SLOT_CONSTANT ? root : NULL;
}

static void place_constant(nd4c_slot *root, const nd4c_tensor *from, nd4c_tensor *to) {
  /* The place is the same, but a view whose extent is a dim has gaps in one binding and none in another. */
  to->flags = (from->flags & ~(uint32_t)ND4C_TENSOR_CONTIGUOUS) | (to->flags & ND4C_TENSOR_CONTIGUOUS);
  to->layout = from->layout;
  to->arrangement = from->arrangement;
  to->data = from->data;
  to->buffer = from->buffer;
  to->offset = from->offset;
  root->bound = root->bound || to->layout == ND4C_LAYOUT_STRIDED;
}

void nd4c_common_place_constants(const nd4c_plan *plan, const nd4c_tensor *from, nd4c_step *step) {
  for (int32_t i = 0; i < step->input_count; i++) {
    nd4c_slot *root = constant_of(plan, step, i);
    if (root != NULL) {
      place_constant(root, &from[i], &step->tensors[i]);
    }
  }
}

/* A part of a constant may begin where a dim says. */
static nd4c_status place_segment_constants(nd4c_plan *plan, const nd4c_common_segment *kept, nd4c_step *step) {
  for (int32_t i = 0; i < step->input_count; i++) {
    nd4c_slot *root = constant_of(plan, step, i);
    if (root == NULL) {
      continue;
    }
    if (root->array == kept->constants[i].array && plan->slots[step->inputs[i]].offset == kept->constants[i].offset) {
      place_constant(root, &kept->tensors[i], &step->tensors[i]);
    } else {
      ND4C_TRY(nd4c_plan_place_constant(plan, step->inputs[i], &step->tensors[i]));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_common_take_segment(nd4c_plan *plan, int32_t number, nd4c_step *step, bool *served) {
  const nd4c_common_segment *kept = &plan->common->segments[number];
  nd4c_plan_segment *made = &plan->segments[number];
  const int32_t count = kept->input_count + kept->output_count;
  step->segment = made;
  step->node = made->first + made->node_count - 1;
  step->inputs = kept->inputs;
  step->outputs = kept->outputs;
  step->input_count = kept->input_count;
  step->output_count = kept->output_count;
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *step->tensors, &step->tensors));
  nd4c_plan_describe_operands(plan, step);
  step->call.inputs = step->tensors;
  step->call.outputs = step->tensors + step->input_count;
  *served = nd4c_compiled_serves(kept->segment.compiled, step->tensors, step->input_count,
                                 step->tensors + step->input_count, step->output_count, &made->info);
  if (*served) {
    made->compiled = nd4c_compiled_retain(kept->segment.compiled);
    ND4C_TRY(place_segment_constants(plan, kept, step));
  }
  return ND4C_OK;
}
