/* What the parts of a model give to each other, to interpreted nodes and to the caller: decided backward from the
 * model's outputs, so that a part gives only what is read. split.c calls it when all levels are there. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/graph.h"
#include "import/onnx/parts/splitting.h"

typedef struct demand {
  nd4c_onnx_splitting *s;
  const nd4c_onnx_graph *graph;
  bool *wanted, *preset;     /* by value */
  nd4c_region_list *outputs; /* by level: int32_t */
  nd4c_region_list presets;
} demand;

/* -- one value ------------------------------------------------------------------------------------------------------
 */

static nd4c_status add_preset(demand *d, int32_t number, nd4c_array *array) {
  nd4c_onnx_preset *preset = NULL;
  ND4C_TRY(nd4c_region_append(&d->s->region, &d->presets, sizeof *preset, "constants of a model", &preset));
  *preset = (nd4c_onnx_preset){number, array};
  d->preset[number] = true;
  return ND4C_OK;
}

static nd4c_status add_output(demand *d, int32_t level, int32_t number, nd4c_value value) {
  int32_t *added = NULL;
  char *name = NULL;
  ND4C_TRY(nd4c_region_append(&d->s->region, &d->outputs[level], sizeof *added, "outputs of a part", &added));
  *added = number;
  ND4C_TRY(nd4c_onnx_copy_name(nd4c_onnx_graph_value(d->graph, number)->name, &name));
  const nd4c_status status = nd4c_graph_output(d->s->parts->levels[level].graph, name, value);
  nd4c_deallocate(name);
  return status;
}

/* A value that a planned node makes: its part gives it, or the import knows it, or the node is interpreted, too. What
 * the import computed from shapes may rest on guards, bounds of dims and what was foreseen: it is a constant of the
 * part, whose plan is used where those hold. */
static nd4c_status want_planned(demand *d, int32_t number, nd4c_onnx_split_node *node) {
  const nd4c_onnx_operand operand = d->s->scope.environment[number];
  const nd4c_onnx_level *levels = d->s->parts->levels;
  if (operand == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK; /* its node leaves it out */
  }
  const nd4c_onnx_operand_slot *slot = &d->s->importer.slots[operand];
  if (slot->array != NULL && node->is_pure) {
    return add_preset(d, number, slot->array);
  }
  nd4c_graph *graph = levels[node->level].graph;
  if ((slot->array != NULL || slot->extents != NULL) && graph != NULL) {
    nd4c_value value = ND4C_VALUE_NONE;
    ND4C_TRY(slot->array != NULL ? nd4c_graph_constant(graph, slot->array, &value)
                                 : nd4c_onnx_record_extents(graph, slot, &value));
    return add_output(d, node->level, number, value);
  }
  if (slot->known != NULL && slot->known->part >= 0 && levels[slot->known->part].graph != NULL) {
    return add_output(d, slot->known->part, number, slot->known->value);
  }
  node->runs = true;
  return ND4C_OK;
}

static nd4c_status want(demand *d, int32_t number) {
  const nd4c_onnx_value *value = nd4c_onnx_graph_value(d->graph, number);
  if (d->wanted[number] || value->source != ND4C_ONNX_FROM_NODE) {
    return ND4C_OK;
  }
  nd4c_onnx_split_node *node = &d->s->nodes[value->index];
  d->wanted[number] = true;
  if (node->state == ND4C_ONNX_PLANNED) {
    return want_planned(d, number, node);
  }
  node->runs = true;
  return ND4C_OK;
}

/* -- all values -----------------------------------------------------------------------------------------------------
 */

/* What is wanted of a level is known when all later ones are done: a value that a level reads is made in it or before.
 */
static nd4c_status settle_level(demand *d, int32_t number) {
  const nd4c_onnx_level *level = &d->s->parts->levels[number];
  for (int32_t i = d->graph->nodes.count - 1; i >= 0; i--) {
    const nd4c_onnx_reads *reads = &d->s->parts->reads[i];
    for (int32_t k = 0; d->s->nodes[i].level == number && d->s->nodes[i].runs && k < reads->count; k++) {
      ND4C_TRY(want(d, reads->numbers[k]));
    }
  }
  for (int32_t i = 0; d->outputs[number].count > 0 && i < level->input_count; i++) {
    ND4C_TRY(want(d, level->inputs[i]));
  }
  return ND4C_OK;
}

/* Nodes that draw numbers give others if they run again, so a run keeps what they gave: a part that is interpreted may
 * read it. */
static nd4c_status keep_drawn(demand *d, const nd4c_onnx_node *node) {
  for (int32_t i = 0; nd4c_onnx_node_draws(node) && i < node->output_count; i++) {
    ND4C_TRY(node->outputs[i] != ND4C_ONNX_NONE ? want(d, node->outputs[i]) : ND4C_OK);
  }
  return ND4C_OK;
}

static nd4c_status settle_values(demand *d) {
  for (int32_t i = 0; i < d->graph->nodes.count; i++) {
    ND4C_TRY(keep_drawn(d, nd4c_onnx_graph_node(d->graph, i)));
  }
  for (int32_t i = 0; i < d->graph->outputs.count; i++) {
    ND4C_TRY(want(d, nd4c_onnx_graph_output(d->graph, i)->value));
  }
  for (int32_t i = d->s->parts->level_count - 1; i >= 0; i--) {
    ND4C_TRY(settle_level(d, i));
  }
  return ND4C_OK;
}

/* -- levels ---------------------------------------------------------------------------------------------------------
 */

static nd4c_status keep_gaps(const demand *d, int32_t number, nd4c_onnx_level *level) {
  for (int32_t i = 0; i < d->graph->nodes.count; i++) {
    level->gap_count += d->s->nodes[i].level == number && d->s->nodes[i].runs;
  }
  ND4C_TRY(nd4c_region_claim(&d->s->parts->region, (size_t)level->gap_count, sizeof *level->gaps, "interpreted nodes",
                             &level->gaps));
  level->gap_count = 0;
  for (int32_t i = 0; i < d->graph->nodes.count; i++) {
    if (d->s->nodes[i].level == number && d->s->nodes[i].runs) {
      level->gaps[level->gap_count++] = (nd4c_onnx_gap){i, d->s->nodes[i].why};
    }
  }
  return ND4C_OK;
}

static nd4c_status keep_level(const demand *d, int32_t number) {
  nd4c_onnx_parts *parts = d->s->parts;
  nd4c_onnx_level *level = &parts->levels[number];
  const nd4c_region_list *outputs = &d->outputs[number];
  level->output_count = outputs->count;
  level->outputs = nd4c_region_copy(&parts->region, outputs->items, outputs->count, sizeof *level->outputs);
  if (level->outputs == NULL) {
    return nd4c_error_code();
  }
  if (outputs->count == 0) {
    nd4c_graph_destroy(level->graph);
    level->graph = NULL;
  }
  parts->part_count += level->graph != NULL;
  return keep_gaps(d, number, level);
}

static void note_last(nd4c_onnx_parts *parts, int32_t number, int32_t level) {
  parts->last[number] = level > parts->last[number] ? level : parts->last[number];
}

/* Results that nothing reads die where they are made. */
static void find_last(const demand *d) {
  nd4c_onnx_parts *parts = d->s->parts;
  for (int32_t i = 0; i < d->graph->values.count; i++) {
    parts->last[i] = -1;
  }
  for (int32_t i = 0; i < parts->level_count; i++) {
    const nd4c_onnx_level *level = &parts->levels[i];
    for (int32_t k = 0; k < level->output_count; k++) {
      note_last(parts, level->outputs[k], i);
    }
    for (int32_t k = 0; level->graph != NULL && k < level->input_count; k++) {
      note_last(parts, level->inputs[k], i);
    }
    for (int32_t k = 0; k < level->gap_count; k++) {
      const nd4c_onnx_node *node = nd4c_onnx_graph_node(d->graph, level->gaps[k].node);
      const nd4c_onnx_reads *reads = &parts->reads[level->gaps[k].node];
      for (int32_t j = 0; j < node->output_count; j++) {
        if (node->outputs[j] != ND4C_ONNX_NONE) {
          note_last(parts, node->outputs[j], i);
        }
      }
      for (int32_t j = 0; j < reads->count; j++) {
        note_last(parts, reads->numbers[j], i);
      }
    }
  }
  for (int32_t i = 0; i < d->graph->outputs.count; i++) {
    parts->last[nd4c_onnx_graph_output(d->graph, i)->value] = INT32_MAX;
  }
  for (int32_t i = 0; i < d->graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(d->graph, i);
    for (int32_t k = 0; nd4c_onnx_node_draws(node) && k < node->output_count; k++) {
      if (node->outputs[k] != ND4C_ONNX_NONE) {
        parts->last[node->outputs[k]] = INT32_MAX;
      }
    }
  }
}

/* Inputs and presets stay: no node could make them again. */
static bool dies(const demand *d, int32_t number) {
  return !d->preset[number] && nd4c_onnx_graph_value(d->graph, number)->source == ND4C_ONNX_FROM_NODE;
}

static nd4c_status list_dead(const demand *d, int32_t number) {
  nd4c_onnx_parts *parts = d->s->parts;
  nd4c_onnx_level *level = &parts->levels[number];
  nd4c_region_list dead = {0};
  for (int32_t i = 0; i < d->graph->values.count; i++) {
    int32_t *added = NULL;
    if (parts->last[i] == number && dies(d, i)) {
      ND4C_TRY(nd4c_region_append(&d->s->region, &dead, sizeof *added, "values of a model", &added));
      *added = i;
    }
  }
  level->dead_count = dead.count;
  level->dead = nd4c_region_copy(&parts->region, dead.items, dead.count, sizeof *level->dead);
  return level->dead != NULL ? ND4C_OK : nd4c_error_code();
}

static nd4c_status keep_presets(const demand *d) {
  nd4c_onnx_parts *parts = d->s->parts;
  const nd4c_onnx_preset *presets = d->presets.items;
  ND4C_TRY(nd4c_region_claim(&parts->region, (size_t)d->presets.count, sizeof *parts->presets, "constants of a model",
                             &parts->presets));
  for (int32_t i = 0; i < d->presets.count; i++) {
    parts->presets[parts->preset_count++] = (nd4c_onnx_preset){presets[i].number, nd4c_array_retain(presets[i].array)};
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_settle_demand(nd4c_onnx_splitting *splitting) {
  demand d = {.s = splitting, .graph = &splitting->parts->model->graph};
  const int32_t levels = splitting->parts->level_count;
  ND4C_TRY(nd4c_region_claim(&splitting->region, (size_t)d.graph->values.count, sizeof *d.wanted, "values of a model",
                             &d.wanted));
  ND4C_TRY(nd4c_region_claim(&splitting->region, (size_t)d.graph->values.count, sizeof *d.preset, "values of a model",
                             &d.preset));
  ND4C_TRY(nd4c_region_claim(&splitting->region, (size_t)levels, sizeof *d.outputs, "parts of a model", &d.outputs));
  ND4C_TRY(settle_values(&d));
  for (int32_t i = 0; i < levels; i++) {
    ND4C_TRY(keep_level(&d, i));
  }
  find_last(&d);
  for (int32_t i = 0; i < levels; i++) {
    ND4C_TRY(list_dead(&d, i));
  }
  return keep_presets(&d);
}
