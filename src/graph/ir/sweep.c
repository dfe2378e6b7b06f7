/* Implements sweep.h. The passes that simplify node by node call it. */
#include "graph/ir/sweep.h"

#include "array/shape.h"
#include "base/status.h"
#include "device/stream/cancellation.h"

typedef struct sweep {
  nd4c_rewrite *rewrite;
  int32_t count;       /* values when it began; later ones stand for themselves */
  nd4c_value *same_as; /* by value; itself if no other value stands for it */
  /* By value: the sweep counts as a reader of same_as[value]. A value that is emitted for readers further on would
   * otherwise have none in between, and be removed. */
  bool *holds;
  nd4c_value *found; /* of the node that is visited, by output */
  int32_t found_capacity;
} sweep;

static void release(sweep *s, nd4c_value value) {
  if (s->holds[value]) {
    s->holds[value] = false;
    s->rewrite->uses[s->same_as[value]]--;
  }
}

static bool is_read(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  for (int32_t i = 0; i < node->output_count; i++) {
    if (rewrite->uses[node->outputs[i]] > 0) {
      return true;
    }
  }
  return false;
}

/* After a reader of `value` has gone. */
static void forget(sweep *s, nd4c_value value) {
  if (s->rewrite->uses[value] > 0) {
    return;
  }
  release(s, value);
  const int32_t producer = s->rewrite->graph->values[value].producer;
  nd4c_graph_node *node = producer < 0 ? NULL : &s->rewrite->graph->nodes[producer];
  if (node != NULL && node->def != NULL && !is_read(s->rewrite, node)) {
    nd4c_rewrite_remove(s->rewrite, node);
  }
}

static void redirect(sweep *s, nd4c_graph_node *node) {
  for (int32_t k = 0; k < node->input_count; k++) {
    const nd4c_value old = node->inputs[k];
    if (old >= 0 && old < s->count && s->same_as[old] != old) {
      nd4c_rewrite_input(s->rewrite, node, k, s->same_as[old]);
      forget(s, old);
    }
  }
}

static void redirect_outputs(sweep *s) {
  for (int32_t i = 0; i < s->rewrite->graph->outputs.count; i++) {
    const nd4c_value old = s->rewrite->graph->outputs.items[i].value;
    if (old < s->count && s->same_as[old] != old) {
      nd4c_rewrite_output(s->rewrite, i, s->same_as[old]);
      forget(s, old);
    }
  }
  for (int32_t i = 0; i < s->count; i++) {
    release(s, i);
  }
}

static nd4c_status replace(sweep *s, nd4c_value old, nd4c_value value) {
  if (!nd4c_rewrite_may_replace(s->rewrite, old, value)) {
    return nd4c_fail(ND4C_INTERNAL, "value %d has another dtype or shape than value %d, which it is to replace",
                     (int)value, (int)old);
  }
  s->same_as[old] = value;
  s->holds[old] = true;
  s->rewrite->uses[value]++;
  s->rewrite->changes++;
  return ND4C_OK;
}

static nd4c_status visit_node(sweep *s, nd4c_region *region, int32_t index, nd4c_sweep_visit visit, void *state) {
  nd4c_graph *graph = s->rewrite->graph;
  if (graph->nodes[index].def == NULL || !is_read(s->rewrite, &graph->nodes[index])) {
    return ND4C_OK;
  }
  redirect(s, &graph->nodes[index]);
  const int32_t count = graph->nodes[index].output_count;
  if (count > s->found_capacity) {
    ND4C_TRY(nd4c_region_make(region, count, sizeof *s->found, &s->found));
    s->found_capacity = count;
  }
  for (int32_t i = 0; i < count; i++) {
    s->found[i] = ND4C_VALUE_NONE;
  }
  ND4C_TRY(visit(s->rewrite, index, s->found, state));
  for (int32_t i = 0; i < count; i++) {
    if (s->found[i] != ND4C_VALUE_NONE) {
      ND4C_TRY(replace(s, graph->nodes[index].outputs[i], s->found[i]));
    }
  }
  return ND4C_OK;
}

static nd4c_status begin(sweep *s, nd4c_region *region, const nd4c_value *same_as) {
  ND4C_TRY(nd4c_region_make(region, s->count, sizeof *s->same_as, &s->same_as));
  ND4C_TRY(nd4c_region_make(region, s->count, sizeof *s->holds, &s->holds));
  for (int32_t i = 0; i < s->count; i++) {
    s->same_as[i] = i;
    if (same_as != NULL && same_as[i] != i && s->rewrite->uses[i] > 0) {
      ND4C_TRY(replace(s, i, same_as[i]));
    }
  }
  return ND4C_OK;
}

static nd4c_status fail_node(const nd4c_graph_node *node, nd4c_status status) {
  char label[200];
  return node->def == NULL || node->label[0] == '\0'
             ? status
             : nd4c_fail_prefix(status, "node '%s' (%s)", nd4c_graph_label_text(node, label, sizeof label),
                                node->def->info.name);
}

nd4c_status nd4c_rewrite_sweep_from(nd4c_rewrite *rewrite, const nd4c_value *same_as, nd4c_sweep_visit visit,
                                    void *state) {
  nd4c_region region = {0};
  sweep s = {.rewrite = rewrite, .count = rewrite->graph->value_count};
  nd4c_status status = begin(&s, &region, same_as);
  const int32_t nodes = rewrite->graph->node_count;
  for (int32_t i = 0; i < nodes && status == ND4C_OK; i++) {
    status = nd4c_cancellation_poll();
    status = status == ND4C_OK ? visit_node(&s, &region, i, visit, state) : status;
    if (status != ND4C_OK) {
      status = fail_node(&rewrite->graph->nodes[i], status);
    }
  }
  if (status == ND4C_OK) {
    redirect_outputs(&s);
  }
  nd4c_region_free(&region);
  return status;
}

nd4c_status nd4c_rewrite_sweep(nd4c_rewrite *rewrite, nd4c_sweep_visit visit, void *state) {
  return nd4c_rewrite_sweep_from(rewrite, NULL, visit, state);
}
