/* Finds the concats that need no step: the nodes before them compute the parts where the concat has them. slots.c asks
 * for them and makes the parts' slots.
 *
 * A part then has gaps between its rows of channels, so everything that writes or reads it must be as quick there. This
 * holds for ops with channels side by side, whose values the layout pass has marked by an order. */
#include "array/narrow.h"
#include "base/status.h"
#include "graph/plan.h"

typedef struct joins {
  const nd4c_plan *plan;
  int32_t *concats; /* by value: how often concats read it */
  bool *bound;      /* by value: it must lie without gaps, because of what reads it or because it is an output */
  bool *joined;     /* by node */
} joins;

/* Ops whose kernels read and write rows of channels wherever the rows begin. */
static bool takes_gaps(const nd4c_graph_node *node) {
  switch (node->def->info.op) {
    case ND4C_OP_max_pool:
    case ND4C_OP_average_pool:
    case ND4C_OP_batch_norm:
    case ND4C_OP_resize:
      return true;
    default:
      return node->def->alias == ND4C_ALIAS_SAME;
  }
}

static bool is_concat(const nd4c_graph_node *node) {
  return node->def->info.op == ND4C_OP_concat;
}

static void note_uses(joins *work) {
  const nd4c_graph *graph = work->plan->graph;
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    for (int32_t k = 0; k < node->input_count; k++) {
      const nd4c_value value = node->inputs[k];
      if (value >= 0) {
        work->concats[value] += is_concat(node);
        work->bound[value] =
            work->bound[value] || (!is_concat(node) && !takes_gaps(node)) || nd4c_plan_segment_of(work->plan, i) >= 0;
      }
    }
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    work->bound[graph->outputs.items[i].value] = true;
  }
}

/* Whether the node before a concat can compute this part inside the concat's result. */
static bool is_part(const joins *work, nd4c_value value, const nd4c_graph_value *whole) {
  const nd4c_graph *graph = work->plan->graph;
  const nd4c_graph_value *part = value >= 0 ? &graph->values[value] : NULL;
  if (part == NULL || part->producer < 0 || part->constant != NULL || part->size == 0 || part->dtype != whole->dtype ||
      work->concats[value] != 1 || work->bound[value]) {
    return false;
  }
  const nd4c_graph_node *producer = &graph->nodes[part->producer];
  return producer->output_count == 1 && nd4c_plan_segment_of(work->plan, part->producer) < 0 &&
         (is_concat(producer) || producer->def->info.op == ND4C_OP_conv || takes_gaps(producer));
}

static bool is_join(const joins *work, int32_t index) {
  const nd4c_graph *graph = work->plan->graph;
  const nd4c_graph_node *node = &graph->nodes[index];
  const nd4c_graph_value *whole = &graph->values[node->outputs[0]];
  bool all = is_concat(node) && whole->order != NULL && !nd4c_dtype_is_packed(whole->dtype) &&
             nd4c_plan_segment_of(work->plan, index) < 0;
  for (int32_t i = 0; i < node->input_count && all; i++) {
    all = is_part(work, node->inputs[i], whole);
  }
  return all;
}

nd4c_status nd4c_plan_find_joins(nd4c_plan *plan, bool **joined) {
  const nd4c_graph *graph = plan->graph;
  *joined = NULL;
  if (plan->place_of != NULL || plan->whole) { /* values of several devices, or of whole buffers, have no parts */
    return ND4C_OK;
  }
  nd4c_region region = {0};
  joins work = {.plan = plan};
  nd4c_status status = nd4c_region_make(&region, graph->value_count, sizeof *work.concats, &work.concats);
  if (status == ND4C_OK) {
    status = nd4c_region_make(&region, graph->value_count, sizeof *work.bound, &work.bound);
  }
  if (status == ND4C_OK) {
    status = nd4c_region_make(&plan->region, graph->node_count, sizeof *work.joined, &work.joined);
  }
  if (status == ND4C_OK) {
    note_uses(&work);
    for (int32_t i = 0; i < graph->node_count; i++) {
      work.joined[i] = is_join(&work, i);
    }
    *joined = work.joined;
  }
  nd4c_region_free(&region);
  return status;
}
