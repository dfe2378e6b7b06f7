/* Splits a model into levels (parts.h). Each level is one walk over the nodes that are left: a node whose inputs are
 * there is recorded in the part; one that cannot be is a gap, and what reads it waits for the next level. All parts
 * have one table of dims, which grows from level to level: each begins with a copy of the one before, so extents and
 * lists of extents mean the same in all of them. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "device/stream/cancellation.h"
#include "graph/ir/cost.h"
#include "graph/ir/graph.h"
#include "import/onnx/parts/splitting.h"

/* A part that a core computes in fewer nanoseconds is interpreted: a plan costs some of them in each run, and as many
 * for each node when data decides upon other extents. */
static const double least_weight = 10000;

static const nd4c_onnx_graph *graph_of(const nd4c_onnx_splitting *s) {
  return &s->parts->model->graph;
}

/* -- what is known of arrays --------------------------------------------------------------------------------------- */

static nd4c_status make_known(nd4c_onnx_splitting *s, nd4c_onnx_known known, const int64_t *shape,
                              const nd4c_onnx_known **made) {
  nd4c_onnx_known *copy = NULL;
  ND4C_TRY(nd4c_region_claim(&s->region, 1, sizeof *copy + (size_t)known.rank * sizeof *shape, "a value", &copy));
  *copy = known;
  for (int32_t i = 0; i < known.rank; i++) {
    copy->shape[i] = shape[i];
  }
  *made = copy;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_note_known(nd4c_onnx_splitting *splitting, int32_t number, nd4c_dtype dtype, int32_t rank,
                                 const int64_t *shape, nd4c_onnx_operand *operand) {
  const nd4c_onnx_known known = {.number = number, .part = -1, .value = ND4C_VALUE_NONE, .dtype = dtype, .rank = rank};
  const nd4c_onnx_known *made = NULL;
  ND4C_TRY(make_known(splitting, known, shape, &made));
  return nd4c_onnx_add_known(&splitting->importer, made, operand);
}

nd4c_status nd4c_onnx_note_dims(nd4c_onnx_splitting *splitting, int32_t number) {
  const nd4c_extents *extents = splitting->graph->extents;
  while (extents != NULL && splitting->sources.count < nd4c_extents_dim_count(extents)) {
    int32_t *source = NULL;
    ND4C_TRY(nd4c_region_append(&splitting->region, &splitting->sources, sizeof *source, "dims", &source));
    *source = number;
  }
  return ND4C_OK;
}

static nd4c_status take_known(nd4c_onnx_importer *importer, const nd4c_onnx_known *known, nd4c_value *value) {
  nd4c_onnx_splitting *s = importer->splitting;
  char *name = NULL;
  int32_t *number = NULL;
  if (s == NULL || importer->graph != s->graph) {
    return nd4c_fail(ND4C_INTERNAL, "a body reads value %d of the model past its inputs", (int)known->number);
  }
  ND4C_TRY(nd4c_region_append(&s->region, &s->inputs, sizeof *number, "inputs of a part", &number));
  *number = known->number;
  nd4c_status status = nd4c_onnx_copy_name(nd4c_onnx_graph_value(graph_of(s), known->number)->name, &name);
  if (status == ND4C_OK) {
    status = nd4c_graph_input(s->graph, name, known->dtype, known->rank, known->shape, value);
  }
  nd4c_deallocate(name);
  s->inputs.count -= status != ND4C_OK;
  return status;
}

/* -- one node ------------------------------------------------------------------------------------------------------ */

/* Whether all that the node reads is there. *unknown: the first value among it of which too little is known to record
 * the node; else NONE. */
static bool is_ready(const nd4c_onnx_splitting *s, int32_t index, int32_t *unknown) {
  const nd4c_onnx_reads *reads = &s->parts->reads[index];
  *unknown = ND4C_ONNX_NONE;
  for (int32_t i = 0; i < reads->count; i++) {
    const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph_of(s), reads->numbers[i]);
    if (value->source == ND4C_ONNX_FROM_NODE) {
      const nd4c_onnx_split_node *producer = &s->nodes[value->index];
      if (producer->state == ND4C_ONNX_UNSEEN || (producer->state == ND4C_ONNX_GAP && !producer->settled)) {
        return false;
      }
    }
    if (s->unknown[reads->numbers[i]] && *unknown == ND4C_ONNX_NONE) {
      *unknown = reads->numbers[i];
    }
  }
  return true;
}

/* Marks what a failure may have recorded. */
typedef struct split_mark {
  nd4c_graph_mark graph;
  int32_t inputs;
} split_mark;

static split_mark mark_part(const nd4c_onnx_splitting *s) {
  return (split_mark){nd4c_graph_begin_recording(s->graph), s->inputs.count};
}

static void take_back(nd4c_onnx_splitting *s, split_mark mark) {
  nd4c_onnx_importer *importer = &s->importer;
  nd4c_graph_take_back(s->graph, mark.graph);
  nd4c_ports_cut(&s->graph->inputs, mark.inputs);
  s->inputs.count = mark.inputs;
  for (int32_t i = 0; i < importer->slot_count; i++) {
    nd4c_onnx_operand_slot *slot = &importer->slots[i];
    if (slot->kind == ND4C_ONNX_KIND_ARRAY && slot->value >= mark.graph.values) {
      slot->value = ND4C_VALUE_NONE;
    }
  }
}

static nd4c_status make_gap(nd4c_onnx_splitting *s, int32_t index, const char *why) {
  nd4c_onnx_split_node *node = &s->nodes[index];
  node->state = ND4C_ONNX_GAP;
  node->level = s->level;
  node->why = nd4c_region_text(&s->parts->region, why);
  s->importer.needs_values = false;
  s->importer.need[0] = '\0';
  nd4c_error_clear();
  return node->why != NULL ? ND4C_OK : nd4c_fail_memory("why a node is interpreted", strlen(why));
}

static nd4c_status make_unknown_gap(nd4c_onnx_splitting *s, int32_t index, int32_t unknown) {
  char why[ND4C_ONNX_NEED_SIZE];
  (void)snprintf(why, sizeof why, "%s: the dtype or rank of %s is known in a run alone",
                 nd4c_onnx_node_show(nd4c_onnx_graph_node(graph_of(s), index)).text,
                 nd4c_span_show(nd4c_onnx_graph_value(graph_of(s), unknown)->name).text);
  return make_gap(s, index, why);
}

static bool is_pure(const nd4c_onnx_splitting *s, int32_t index) {
  const nd4c_onnx_reads *reads = &s->parts->reads[index];
  bool pure = true;
  for (int32_t i = 0; i < reads->count && pure; i++) {
    const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph_of(s), reads->numbers[i]);
    pure = value->source == ND4C_ONNX_FROM_INITIALIZER ||
           (value->source == ND4C_ONNX_FROM_NODE && s->nodes[value->index].is_pure);
  }
  return pure;
}

static nd4c_status import_node(nd4c_onnx_splitting *s, int32_t index) {
  const nd4c_onnx_import_options *options = s->importer.options;
  const split_mark mark = mark_part(s);
  if (options->progress != NULL) {
    options->progress(options->user, "importing", s->imported++, graph_of(s)->nodes.count);
  }
  const nd4c_status status =
      nd4c_onnx_scope_emit(&s->importer, &s->scope, nd4c_onnx_graph_node(graph_of(s), index), NULL);
  if (status == ND4C_OK) {
    s->nodes[index].state = ND4C_ONNX_PLANNED;
    s->nodes[index].level = s->level;
    s->nodes[index].is_pure = is_pure(s, index);
    return ND4C_OK;
  }
  if (nd4c_status_passes(status)) {
    return status;
  }
  take_back(s, mark);
  return make_gap(s, index, s->importer.needs_values ? s->importer.need : nd4c_error_message());
}

/* Keeps what is known of a result, for the check of a run; the extents that data decides are dims. */
static nd4c_status keep_foreseen(nd4c_onnx_splitting *s, int32_t number) {
  const nd4c_onnx_known *known = s->importer.slots[s->scope.environment[number]].known;
  nd4c_onnx_foreseen *made = NULL;
  const size_t bytes = sizeof *made + (size_t)known->rank * sizeof *made->shape;
  ND4C_TRY(nd4c_region_claim(&s->parts->region, 1, bytes, "a value", &made));
  made->dtype = known->dtype;
  made->rank = known->rank;
  for (int32_t i = 0; i < known->rank; i++) {
    made->shape[i] = nd4c_extent_is_symbolic(known->shape[i]) ? -1 : known->shape[i];
  }
  s->parts->foreseen[number] = made;
  return ND4C_OK;
}

/* Notes what is known of a gap's results. The gap runs even if nothing reads them: parts may take their shapes for
 * numbers, which a run must check. */
static nd4c_status settle_gap(nd4c_onnx_splitting *s, int32_t index) {
  const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph_of(s), index);
  const split_mark mark = mark_part(s);
  const nd4c_status status = nd4c_onnx_scope_emit(&s->importer, &s->scope, node, nd4c_onnx_foresee_results);
  take_back(s, mark); /* inputs of bodies that were tried */
  if (nd4c_status_passes(status)) {
    return status;
  }
  nd4c_error_clear();
  s->importer.needs_values = false;
  s->nodes[index].settled = true;
  for (int32_t i = 0; i < node->output_count; i++) {
    if (node->outputs[i] != ND4C_ONNX_NONE) {
      const bool known = s->scope.environment[node->outputs[i]] != ND4C_ONNX_OPERAND_NONE;
      s->unknown[node->outputs[i]] = !known;
      s->nodes[index].runs = s->nodes[index].runs || known;
      ND4C_TRY(known ? keep_foreseen(s, node->outputs[i]) : ND4C_OK);
    }
  }
  return ND4C_OK;
}

/* -- one level ----------------------------------------------------------------------------------------------------- */

static nd4c_status import_nodes(nd4c_onnx_splitting *s) {
  int32_t unknown = ND4C_ONNX_NONE;
  for (int32_t i = 0; i < graph_of(s)->nodes.count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    if (s->nodes[i].state == ND4C_ONNX_UNSEEN && is_ready(s, i, &unknown)) {
      ND4C_TRY(unknown == ND4C_ONNX_NONE ? import_node(s, i) : make_unknown_gap(s, i, unknown));
    }
  }
  return ND4C_OK;
}

/* The level's gaps in order; what reads a result of which too little is known is a gap of this level, too. */
static nd4c_status settle_gaps(nd4c_onnx_splitting *s) {
  int32_t unknown = ND4C_ONNX_NONE;
  for (int32_t i = 0; i < graph_of(s)->nodes.count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    if (s->nodes[i].state == ND4C_ONNX_UNSEEN && is_ready(s, i, &unknown) && unknown != ND4C_ONNX_NONE) {
      ND4C_TRY(make_unknown_gap(s, i, unknown));
    }
    if (s->nodes[i].state == ND4C_ONNX_GAP && !s->nodes[i].settled) {
      ND4C_TRY(settle_gap(s, i));
    }
  }
  return ND4C_OK;
}

/* Whether a plan of the part can read the dim from an input. */
static bool has_source(const nd4c_graph *graph, int32_t dim) {
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    const nd4c_graph_value *value = &graph->values[graph->inputs.items[i].value];
    for (int32_t axis = 0; axis < value->rank; axis++) {
      int32_t found = -1;
      int64_t factor = 0, offset = 0;
      if (nd4c_extent_is_symbolic(value->shape[axis]) &&
          nd4c_extents_linear(graph->extents, value->shape[axis], &found, &factor, &offset) && found == dim) {
        return true;
      }
    }
  }
  return false;
}

/* Gives the part inputs from which every dim follows: those that brought a dim in. */
static nd4c_status add_sources(nd4c_onnx_splitting *s) {
  const int32_t *sources = s->sources.items;
  for (int32_t dim = 0; s->graph->extents != NULL && dim < nd4c_extents_dim_count(s->graph->extents); dim++) {
    nd4c_value value = ND4C_VALUE_NONE;
    const nd4c_onnx_operand operand = s->scope.environment[sources[dim]];
    if (!has_source(s->graph, dim)) {
      if (operand == ND4C_ONNX_OPERAND_NONE) {
        return nd4c_fail(ND4C_UNSUPPORTED, "nothing is known of %s, which has a dim of the parts",
                         nd4c_span_show(nd4c_onnx_graph_value(graph_of(s), sources[dim])->name).text);
      }
      ND4C_TRY(nd4c_onnx_value_of(&s->importer, operand, &value));
    }
  }
  return ND4C_OK;
}

/* Values of the part are arrays that are known from now on. */
static nd4c_status leave_part(nd4c_onnx_splitting *s) {
  nd4c_onnx_importer *importer = &s->importer;
  for (int32_t i = 0; i < graph_of(s)->values.count; i++) {
    const nd4c_onnx_operand operand = s->scope.environment[i];
    nd4c_onnx_operand_slot *slot = operand == ND4C_ONNX_OPERAND_NONE ? NULL : &importer->slots[operand];
    if (slot != NULL && slot->kind == ND4C_ONNX_KIND_ARRAY && slot->array == NULL && slot->extents == NULL &&
        slot->known == NULL) {
      nd4c_onnx_known known = {.number = i, .part = s->level, .value = slot->value};
      const int64_t *shape = NULL;
      ND4C_TRY(nd4c_graph_value_info(s->graph, slot->value, &known.dtype, &known.rank, &shape));
      ND4C_TRY(make_known(s, known, shape, &slot->known));
    }
  }
  for (int32_t i = 0; i < importer->slot_count; i++) {
    if (importer->slots[i].kind == ND4C_ONNX_KIND_ARRAY) {
      importer->slots[i].value = ND4C_VALUE_NONE;
    }
  }
  return ND4C_OK;
}

static int32_t count_planned(const nd4c_onnx_splitting *s) {
  int32_t count = 0;
  for (int32_t i = 0; i < graph_of(s)->nodes.count; i++) {
    count += s->nodes[i].state == ND4C_ONNX_PLANNED && s->nodes[i].level == s->level;
  }
  return count;
}

static nd4c_status keep_part(nd4c_onnx_splitting *s) {
  nd4c_onnx_level *level = &s->parts->levels[s->level];
  ND4C_TRY(add_sources(s));
  level->node_count = count_planned(s);
  level->input_count = s->inputs.count;
  level->inputs = nd4c_region_copy(&s->parts->region, s->inputs.items, s->inputs.count, sizeof *level->inputs);
  return level->inputs != NULL ? ND4C_OK : nd4c_error_code();
}

static nd4c_status begin_part(nd4c_onnx_splitting *s, const nd4c_extents *extents) {
  s->inputs.count = 0;
  ND4C_TRY(nd4c_graph_create(&s->graph));
  s->importer.graph = s->graph;
  return nd4c_extents_clone(extents, &s->graph->extents);
}

/* Keeps the part if it pays, and begins the next one. */
static nd4c_status end_part(nd4c_onnx_splitting *s) {
  nd4c_graph *graph = s->graph;
  const bool pays = nd4c_graph_weight(graph) >= least_weight;
  nd4c_status status = pays ? keep_part(s) : ND4C_OK;
  status = status == ND4C_OK ? leave_part(s) : status;
  s->graph = NULL;
  s->importer.graph = NULL;
  status = status == ND4C_OK ? begin_part(s, graph->extents) : status;
  if (pays) {
    s->parts->levels[s->level].graph = graph;
  } else {
    nd4c_graph_destroy(graph);
  }
  return status;
}

static bool is_done(const nd4c_onnx_splitting *s) {
  for (int32_t i = 0; i < graph_of(s)->nodes.count; i++) {
    if (s->nodes[i].state == ND4C_ONNX_UNSEEN) {
      return false;
    }
  }
  return true;
}

/* What is left after the last level. */
static nd4c_status give_up(nd4c_onnx_splitting *s) {
  for (int32_t i = 0; i < graph_of(s)->nodes.count; i++) {
    if (s->nodes[i].state == ND4C_ONNX_UNSEEN) {
      ND4C_TRY(make_gap(s, i, "more parts follow one another than nd4c plans"));
    }
  }
  return ND4C_OK;
}

static nd4c_status make_levels(nd4c_onnx_splitting *s) {
  for (s->level = 0; s->level < ND4C_ONNX_LEVELS; s->level++) {
    s->parts->level_count = s->level + 1;
    ND4C_TRY(import_nodes(s));
    ND4C_TRY(end_part(s));
    ND4C_TRY(settle_gaps(s));
    if (is_done(s)) {
      return ND4C_OK;
    }
  }
  s->level = ND4C_ONNX_LEVELS - 1;
  return give_up(s);
}

/* -- the whole ----------------------------------------------------------------------------------------------------- */

static nd4c_status note_inputs(nd4c_onnx_splitting *s) {
  for (int32_t i = 0; i < graph_of(s)->inputs.count; i++) {
    const int32_t number = nd4c_onnx_graph_input(graph_of(s), i)->value;
    int64_t shape[ND4C_MAX_RANK];
    int32_t rank = 0;
    nd4c_dtype dtype = ND4C_DTYPE_NONE;
    nd4c_onnx_operand operand = ND4C_ONNX_OPERAND_NONE;
    const nd4c_onnx_value_info *info = nd4c_onnx_graph_input(graph_of(s), i);
    s->unknown[number] = info->kind_count != 1;
    if (s->unknown[number]) {
      continue;
    }
    ND4C_TRY(nd4c_onnx_describe_input(&s->importer, i, &dtype, &rank, shape));
    ND4C_TRY(nd4c_onnx_note_known(s, number, dtype, rank, shape, &operand));
    ND4C_TRY(nd4c_onnx_note_dims(s, number));
    nd4c_onnx_scope_bind(&s->importer, &s->scope, number, operand);
  }
  return ND4C_OK;
}

static nd4c_status list_declared(nd4c_onnx_splitting *s) {
  const nd4c_onnx_graph *graph = graph_of(s);
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    s->declared[nd4c_onnx_graph_output(graph, i)->value] = nd4c_onnx_graph_output(graph, i);
  }
  for (int32_t i = 0; i < graph->value_infos.count; i++) {
    const nd4c_onnx_value_info *info = (const nd4c_onnx_value_info *)graph->value_infos.items + i;
    if (info->value != ND4C_ONNX_NONE) {
      s->declared[info->value] = info;
    }
  }
  return ND4C_OK;
}

static nd4c_status claim_lists(nd4c_onnx_splitting *s) {
  static const char what[] = "a model in parts";
  const size_t nodes = (size_t)graph_of(s)->nodes.count, values = (size_t)graph_of(s)->values.count;
  nd4c_onnx_parts *parts = s->parts;
  ND4C_TRY(nd4c_region_claim(&parts->region, ND4C_ONNX_LEVELS, sizeof *parts->levels, what, &parts->levels));
  ND4C_TRY(nd4c_region_claim(&parts->region, values, sizeof *parts->last, what, &parts->last));
  ND4C_TRY(nd4c_region_claim(&parts->region, values, sizeof *parts->foreseen, what, &parts->foreseen));
  ND4C_TRY(nd4c_region_claim(&s->region, nodes, sizeof *s->nodes, what, &s->nodes));
  ND4C_TRY(nd4c_region_claim(&s->region, values, sizeof *s->unknown, what, &s->unknown));
  ND4C_TRY(nd4c_region_claim(&s->region, values, sizeof *s->declared, what, &s->declared));
  return nd4c_onnx_list_reads(parts->model, &parts->region, &parts->reads);
}

static nd4c_status split(nd4c_onnx_splitting *s) {
  ND4C_TRY(claim_lists(s));
  ND4C_TRY(list_declared(s));
  ND4C_TRY(begin_part(s, NULL));
  ND4C_TRY(note_inputs(s));
  ND4C_TRY(make_levels(s));
  ND4C_TRY(nd4c_onnx_settle_demand(s));
  return nd4c_onnx_load_read(s->parts, s->importer.options);
}

static nd4c_status run_split(nd4c_onnx_splitting *s) {
  s->importer.free_slot = ND4C_ONNX_OPERAND_NONE;
  s->importer.splitting = s;
  s->importer.take_known = take_known;
  s->scope.graph = graph_of(s);
  nd4c_status status = nd4c_onnx_scope_open(&s->importer, &s->scope);
  if (status == ND4C_OK) {
    status = split(s);
    nd4c_onnx_scope_close(&s->importer, &s->scope);
  }
  nd4c_onnx_operands_free(&s->importer);
  nd4c_graph_destroy(s->graph);
  nd4c_region_free(&s->region);
  return status;
}

nd4c_status nd4c_onnx_parts_make(const nd4c_onnx_model *model, const nd4c_onnx_import_options *options,
                                 nd4c_onnx_parts **parts) {
  nd4c_onnx_splitting s = {.importer = {.model = model, .options = options}};
  *parts = NULL;
  if (options->all_intermediates || model->graph.keeps_values) {
    return ND4C_OK; /* values are read that no node names as inputs */
  }
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *s.parts, "a model in parts", &s.parts));
  s.parts->model = model;
  const nd4c_status status = run_split(&s);
  if (status != ND4C_OK || s.parts->part_count == 0) {
    nd4c_onnx_parts_free(s.parts);
    return status;
  }
  *parts = s.parts;
  return ND4C_OK;
}

void nd4c_onnx_parts_free(nd4c_onnx_parts *parts) {
  if (parts == NULL) {
    return;
  }
  for (int32_t i = 0; i < parts->level_count; i++) {
    nd4c_graph_destroy(parts->levels[i].graph);
  }
  for (int32_t i = 0; i < parts->preset_count; i++) {
    nd4c_array_release(parts->presets[i].array);
  }
  nd4c_region_free(&parts->region);
  nd4c_deallocate(parts);
}
