/* Implements rewrite.h, except for constants (constants.c). passes.c begins and ends a rewrite for each pass; the pass
 * calls the rest. */
#include "graph/ir/rewrite.h"

#include <stdio.h>
#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/derived.h"
#include "graph/ir/graph_emitter.h"

static void count_use(nd4c_rewrite *rewrite, nd4c_value value, int32_t change) {
  if (value >= 0) {
    rewrite->uses[value] += change;
  }
}

/* Room for the uses of more values than there are. */
static nd4c_status make_room(nd4c_rewrite *rewrite, int32_t more) {
  int32_t before = rewrite->uses_capacity;
  nd4c_status status = nd4c_grow(&rewrite->uses, &rewrite->uses_capacity, rewrite->graph->value_count + more,
                                 sizeof *rewrite->uses, "a pass");
  if (rewrite->uses_capacity > before) {
    memset(rewrite->uses + before, 0, (size_t)(rewrite->uses_capacity - before) * sizeof *rewrite->uses);
  }
  return status;
}

/* Counts what a new or changed node reads. */
static void read_inputs(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  for (int32_t i = 0; i < node->input_count; i++) {
    count_use(rewrite, node->inputs[i], 1);
    nd4c_value_readers_add(&rewrite->readers, node->inputs[i], index, i);
  }
}

/* -- adding ------------------------------------------------------------------------------------------------------- */

static nd4c_status emit(nd4c_emitter *emitter, const nd4c_op_def *def, const nd4c_emitted *inputs, int32_t input_count,
                        const nd4c_attr *attrs, int32_t attr_count, nd4c_emitted *outputs) {
  nd4c_rewrite *rewrite = (nd4c_rewrite *)emitter;
  nd4c_graph *graph = rewrite->graph;
  ND4C_TRY(make_room(rewrite, def->info.output_count));
  ND4C_TRY(nd4c_graph_op(graph, def->info.op, inputs, input_count, attrs, attr_count, NULL, outputs,
                         def->info.output_count));
  read_inputs(rewrite, graph->node_count - 1);
  return ND4C_OK;
}

nd4c_graph_mark nd4c_rewrite_begin_recording(const nd4c_rewrite *rewrite) {
  return nd4c_graph_begin_recording(rewrite->graph);
}

nd4c_status nd4c_rewrite_end_recording(nd4c_rewrite *rewrite, nd4c_graph_mark mark, nd4c_status status) {
  nd4c_graph *graph = rewrite->graph;
  status = status == ND4C_OK ? make_room(rewrite, 1) : status;
  for (int32_t i = mark.nodes; i < graph->node_count && status == ND4C_OK; i++) {
    read_inputs(rewrite, i);
  }
  if (status != ND4C_OK) {
    nd4c_graph_take_back(graph, mark);
  }
  return status;
}

static nd4c_status add_constant(nd4c_emitter *emitter, nd4c_array *array, nd4c_emitted *output) {
  return nd4c_rewrite_constant((nd4c_rewrite *)emitter, array, output);
}

static nd4c_emitted_info describe(const nd4c_emitter *emitter, nd4c_emitted value) {
  return nd4c_graph_value_describe(((const nd4c_rewrite *)emitter)->graph, value);
}

/* -- opening ------------------------------------------------------------------------------------------------------ */

nd4c_status nd4c_rewrite_begin(nd4c_rewrite *rewrite, nd4c_graph *graph, nd4c_context *context) {
  *rewrite = (nd4c_rewrite){.emitter = {.emit = emit, .constant = add_constant, .describe = describe},
                            .graph = graph,
                            .context = context,
                            .existing = graph->node_count};
  ND4C_TRY(make_room(rewrite, 1));
  for (int32_t i = 0; i < graph->node_count; i++) {
    for (int32_t k = 0; k < graph->nodes[i].input_count; k++) {
      count_use(rewrite, graph->nodes[i].inputs[k], 1);
    }
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    count_use(rewrite, graph->outputs.items[i].value, 1);
  }
  return ND4C_OK;
}

/* -- closing ------------------------------------------------------------------------------------------------------ */

static bool is_dead(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  for (int32_t i = 0; i < node->output_count; i++) {
    if (rewrite->uses[node->outputs[i]] > 0) {
      return false;
    }
  }
  return true;
}

void nd4c_rewrite_remove(nd4c_rewrite *rewrite, nd4c_graph_node *node) {
  for (int32_t i = 0; i < node->input_count; i++) {
    count_use(rewrite, node->inputs[i], -1);
  }
  node->def = NULL;
}

int32_t nd4c_rewrite_remove_unread(nd4c_rewrite *rewrite) {
  int32_t removed = 0;
  for (int32_t i = rewrite->graph->node_count - 1; i >= 0; i--) {
    nd4c_graph_node *node = &rewrite->graph->nodes[i];
    if (node->def != NULL && is_dead(rewrite, node)) {
      nd4c_rewrite_remove(rewrite, node);
      removed++;
    }
  }
  return removed;
}

/* The values that a removed node gave have no producer any more. */
static void forget_producer(nd4c_graph *graph, int32_t index) {
  const nd4c_graph_node *node = &graph->nodes[index];
  for (int32_t i = 0; i < node->output_count; i++) {
    nd4c_graph_value *value = &graph->values[node->outputs[i]];
    value->producer = value->producer == index ? -1 : value->producer;
  }
}

nd4c_status nd4c_rewrite_end(nd4c_rewrite *rewrite) {
  nd4c_graph *graph = rewrite->graph;
  if (rewrite->uses == NULL) {
    return ND4C_OK; /* nothing was begun */
  }
  (void)nd4c_rewrite_remove_unread(rewrite);
  const bool added = graph->node_count > rewrite->existing;
  int32_t kept = 0;
  for (int32_t i = 0; i < graph->node_count; i++) {
    if (graph->nodes[i].def == NULL) {
      forget_producer(graph, i);
      continue;
    }
    graph->nodes[kept] = graph->nodes[i];
    for (int32_t k = 0; k < graph->nodes[kept].output_count; k++) {
      graph->values[graph->nodes[kept].outputs[k]].producer = kept;
    }
    kept++;
  }
  graph->node_count = kept;
  for (int32_t i = 0; i < graph->value_count; i++) {
    nd4c_graph_value *value = &graph->values[i];
    if (rewrite->uses[i] == 0 && value->constant != NULL) {
      if (value->derived) {
        nd4c_derived_drop(value->constant);
        value->derived = false;
      }
      nd4c_array_release(value->constant);
      value->constant = NULL;
    }
  }
  nd4c_deallocate(rewrite->uses);
  rewrite->uses = NULL;
  nd4c_value_readers_free(&rewrite->readers);
  return added ? nd4c_graph_sort(graph) : ND4C_OK;
}

/* -- looking ------------------------------------------------------------------------------------------------------ */

nd4c_graph_node *nd4c_rewrite_producer(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_op op) {
  if (value < 0 || rewrite->graph->values[value].producer < 0) {
    return NULL;
  }
  nd4c_graph_node *node = &rewrite->graph->nodes[rewrite->graph->values[value].producer];
  return node->def != NULL && node->def->info.op == op ? node : NULL;
}

bool nd4c_rewrite_is_single(const nd4c_rewrite *rewrite, nd4c_value value) {
  if (value < 0 || rewrite->uses[value] != 1) {
    return false;
  }
  for (int32_t i = 0; i < rewrite->graph->outputs.count; i++) {
    if (rewrite->graph->outputs.items[i].value == value) {
      return false;
    }
  }
  return true;
}

bool nd4c_rewrite_computes(const nd4c_rewrite *rewrite, nd4c_op made, nd4c_op replaced) {
  int32_t kernels = 0, kernels_before = 0;
  (void)nd4c_device_kernels(rewrite->context->device, made, &kernels);
  (void)nd4c_device_kernels(rewrite->context->device, replaced, &kernels_before);
  return kernels > 0 || kernels_before == 0;
}

nd4c_value nd4c_node_input(const nd4c_graph_node *node, int32_t position) {
  return position < node->input_count ? node->inputs[position] : ND4C_VALUE_NONE;
}

/* -- changing ----------------------------------------------------------------------------------------------------- */

/* Of graphs with dims, the op must assume nothing that the graph has not assumed: its plan serves every size that the
 * recorded graph serves. */
static bool gives_same(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, const nd4c_op_def *def,
                       const nd4c_value *inputs, int32_t input_count, const nd4c_attr_value *attrs) {
  nd4c_inferred inferred;
  nd4c_extents *extents = rewrite->graph->extents;
  const nd4c_graph_value *output = &rewrite->graph->values[node->outputs[0]];
  const int32_t guards = extents != NULL ? nd4c_extents_guard_count(extents) : 0;
  const bool same = node->output_count == 1 && def->info.output_count == 1 &&
                    nd4c_graph_infer(rewrite->graph, def, inputs, input_count, attrs, &inferred) == ND4C_OK &&
                    inferred.dtype == output->dtype &&
                    nd4c_shape_equal(inferred.rank, inferred.shape, output->rank, output->shape);
  if (extents == NULL || nd4c_extents_guard_count(extents) == guards) {
    return same;
  }
  nd4c_extents_forget(extents, guards);
  return false;
}

/* Removes the producers of a removed node's inputs if they have no reader left, so that use counts are correct for the
 * next pattern of this pass. Nodes further back are removed when the pass ends. */
static void remove_unread(nd4c_rewrite *rewrite, const nd4c_graph_node *removed) {
  for (int32_t i = 0; i < removed->input_count; i++) {
    int32_t producer = removed->inputs[i] < 0 ? -1 : rewrite->graph->values[removed->inputs[i]].producer;
    nd4c_graph_node *node = producer < 0 ? NULL : &rewrite->graph->nodes[producer];
    if (node != NULL && node->def != NULL && is_dead(rewrite, node)) {
      nd4c_rewrite_remove(rewrite, node);
    }
  }
}

/* Nodes that a rewrite leaves without readers, the replaced one among them. */
typedef struct merged_nodes {
  int32_t indices[ND4C_PARTS_MOST];
  int32_t count;
} merged_nodes;

static int32_t count_reads(const nd4c_rewrite *rewrite, const nd4c_graph_node *replaced, const merged_nodes *merged,
                           nd4c_value value) {
  int32_t reads = 0;
  for (int32_t i = 0; i < merged->count; i++) {
    const nd4c_graph_node *node = i == 0 ? replaced : &rewrite->graph->nodes[merged->indices[i]];
    for (int32_t k = 0; k < node->input_count; k++) {
      reads += node->inputs[k] == value;
    }
  }
  return reads;
}

static bool only_merged_read(const nd4c_rewrite *rewrite, const nd4c_graph_node *replaced, const merged_nodes *merged,
                             const nd4c_graph_node *node) {
  for (int32_t i = 0; i < node->output_count; i++) {
    const nd4c_value value = node->outputs[i];
    if (rewrite->uses[value] != count_reads(rewrite, replaced, merged, value)) {
      return false;
    }
  }
  return true;
}

static bool is_merged(const merged_nodes *merged, int32_t index) {
  for (int32_t i = 0; i < merged->count; i++) {
    if (merged->indices[i] == index) {
      return true;
    }
  }
  return false;
}

/* Goes back from the replaced node, whose reads still count, as the new node's do. The nodes are in the order of their
 * numbers then. */
static void find_merged(const nd4c_rewrite *rewrite, const nd4c_graph_node *replaced, int32_t index,
                        merged_nodes *merged) {
  *merged = (merged_nodes){.indices = {index}, .count = 1};
  for (int32_t i = 0; i < merged->count; i++) {
    const nd4c_graph_node *node = i == 0 ? replaced : &rewrite->graph->nodes[merged->indices[i]];
    for (int32_t k = 0; k < node->input_count && merged->count < (int32_t)ND4C_PARTS_MOST; k++) {
      const int32_t before = node->inputs[k] < 0 ? -1 : rewrite->graph->values[node->inputs[k]].producer;
      const nd4c_graph_node *producer = before < 0 ? NULL : &rewrite->graph->nodes[before];
      if (producer != NULL && producer->def != NULL && !is_merged(merged, before) &&
          only_merged_read(rewrite, replaced, merged, producer)) {
        merged->indices[merged->count++] = before;
      }
    }
  }
  for (int32_t i = 1; i < merged->count; i++) {
    const int32_t moved = merged->indices[i];
    int32_t at = i;
    for (; at > 0 && merged->indices[at - 1] > moved; at--) {
      merged->indices[at] = merged->indices[at - 1];
    }
    merged->indices[at] = moved;
  }
}

/* Adds a node's labels; the last one takes the place of another if there is no room. */
static void add_labels(const nd4c_graph_node *node, const char **labels, int32_t *count) {
  const bool alone = node->parts.count == 0;
  for (int32_t i = 0; i < (alone ? node->label[0] != '\0' : node->parts.count); i++) {
    *count = *count < (int32_t)ND4C_PARTS_MOST ? *count : (int32_t)ND4C_PARTS_MOST - 1;
    labels[(*count)++] = alone ? node->label : node->parts.labels[i];
  }
}

static nd4c_status merge_labels(nd4c_rewrite *rewrite, const nd4c_graph_node *replaced, int32_t index,
                                nd4c_parts *parts) {
  const char *labels[ND4C_PARTS_MOST];
  int32_t count = 0;
  merged_nodes merged;
  find_merged(rewrite, replaced, index, &merged);
  for (int32_t i = 0; i < merged.count; i++) {
    add_labels(merged.indices[i] == index ? replaced : &rewrite->graph->nodes[merged.indices[i]], labels, &count);
  }
  return nd4c_parts_make(&rewrite->graph->region, labels, count, parts);
}

nd4c_status nd4c_rewrite_node(nd4c_rewrite *rewrite, int32_t index, nd4c_op op, const nd4c_value *inputs,
                              int32_t input_count, const nd4c_attr_value *attrs, const char *fused, bool *done) {
  nd4c_graph *graph = rewrite->graph;
  const nd4c_op_def *def = nd4c_op_get_def(op);
  *done = def != NULL && gives_same(rewrite, &graph->nodes[index], def, inputs, input_count, attrs);
  if (!*done) {
    return ND4C_OK;
  }
  nd4c_graph_node made = graph->nodes[index];
  made.def = def;
  made.input_count = input_count;
  made.inputs = nd4c_region_copy(&graph->region, inputs, input_count, sizeof *inputs);
  made.fused = nd4c_region_text(&graph->region, fused);
  if (made.inputs == NULL || (made.fused == NULL && fused != NULL)) {
    return nd4c_error_code();
  }
  ND4C_TRY(nd4c_graph_copy_attrs(graph, def->info.attr_count, attrs, &made.attrs));
  nd4c_graph_node replaced = graph->nodes[index];
  graph->nodes[index] = made;
  read_inputs(rewrite, index); /* before the old reads end, so that nothing looks unread in between */
  const nd4c_status named = merge_labels(rewrite, &replaced, index, &graph->nodes[index].parts);
  nd4c_rewrite_remove(rewrite, &replaced);
  remove_unread(rewrite, &replaced);
  rewrite->changes++;
  return named;
}

void nd4c_rewrite_input(nd4c_rewrite *rewrite, nd4c_graph_node *node, int32_t position, nd4c_value value) {
  count_use(rewrite, node->inputs[position], -1);
  node->inputs[position] = value;
  count_use(rewrite, value, 1);
  nd4c_value_readers_add(&rewrite->readers, value, (int32_t)(node - rewrite->graph->nodes), position);
}

void nd4c_rewrite_output(nd4c_rewrite *rewrite, int32_t index, nd4c_value value) {
  nd4c_graph_port *port = &rewrite->graph->outputs.items[index];
  count_use(rewrite, port->value, -1);
  port->value = value;
  count_use(rewrite, value, 1);
}

bool nd4c_rewrite_may_replace(const nd4c_rewrite *rewrite, nd4c_value old, nd4c_value value) {
  const nd4c_graph_value *before = &rewrite->graph->values[old], *after = &rewrite->graph->values[value];
  return before->dtype == after->dtype && nd4c_shape_equal(before->rank, before->shape, after->rank, after->shape);
}

bool nd4c_rewrite_may_replace_all(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, const nd4c_value *values) {
  for (int32_t i = 0; i < node->output_count; i++) {
    if (!nd4c_rewrite_may_replace(rewrite, node->outputs[i], values[i])) {
      return false;
    }
  }
  return true;
}

/* The readers of `old` up to node `until` read `value`, and move to its list. */
static void replace_reads(nd4c_rewrite *rewrite, nd4c_value old, nd4c_value value, int32_t until) {
  nd4c_value_readers *readers = &rewrite->readers;
  int32_t next = -1;
  for (int32_t item = nd4c_value_readers_take(readers, old); item >= 0; item = next) {
    const nd4c_value_reader *reader = &readers->items[item];
    nd4c_graph_node *node = &rewrite->graph->nodes[reader->node];
    next = reader->next;
    if (node->def == NULL || reader->position >= node->input_count || node->inputs[reader->position] != old) {
      continue; /* out of date */
    }
    const nd4c_value read = reader->node < until ? value : old;
    count_use(rewrite, old, -1);
    count_use(rewrite, read, 1);
    node->inputs[reader->position] = read;
    nd4c_value_readers_put(readers, read, item);
  }
}

nd4c_status nd4c_rewrite_replace(nd4c_rewrite *rewrite, nd4c_value old, nd4c_value value, int32_t until) {
  nd4c_graph *graph = rewrite->graph;
  if (!nd4c_rewrite_may_replace(rewrite, old, value)) {
    return nd4c_fail(ND4C_INTERNAL, "value %d has another dtype or shape than value %d, which it is to replace",
                     (int)value, (int)old);
  }
  ND4C_TRY(nd4c_value_readers_make(&rewrite->readers, graph));
  replace_reads(rewrite, old, value, until);
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    if (graph->outputs.items[i].value == old) {
      nd4c_rewrite_output(rewrite, i, value);
    }
  }
  rewrite->changes++;
  return ND4C_OK;
}

nd4c_status nd4c_rewrite_constant(nd4c_rewrite *rewrite, nd4c_array *array, nd4c_value *value) {
  nd4c_status status = make_room(rewrite, 1);
  if (status == ND4C_OK) {
    status = nd4c_graph_add_constant(rewrite->graph, array, value);
  }
  nd4c_array_release(array);
  return status;
}

nd4c_status nd4c_rewrite_presets(nd4c_op op, nd4c_attr_value *attrs) {
  const nd4c_op_info *info = nd4c_op_get(op);
  if (info == NULL || info->attr_count > ND4C_REWRITE_ATTRS) {
    return nd4c_fail(ND4C_INTERNAL, "passes: op %u has no schema or more than %d attributes", op, ND4C_REWRITE_ATTRS);
  }
  return nd4c_op_resolve_attrs(info, NULL, 0, attrs);
}

const char *nd4c_fused_text(const nd4c_graph_node *first, const char *second, char *buffer, size_t size) {
  (void)snprintf(buffer, size, "%s + %s", first->fused != NULL ? first->fused : first->def->info.name, second);
  return buffer;
}
