/* Runs a model in parts (parts.h): the plans of its parts, which the caller has, and the interpreted nodes between
 * them. import/model_parts.c calls it. */
#include "base/alloc.h"
#include "base/status.h"
#include "import/onnx/importer.h"
#include "import/onnx/parts/parts.h"

/* A run on one thread. */
typedef struct parts_run {
  const nd4c_onnx_parts *parts;
  nd4c_onnx_importer importer;
  nd4c_onnx_scope scope;
  nd4c_region region;
  nd4c_onnx_part_run run;
  void *user;
  bool mistaken;  /* a result is not what the parts behind it take it for */
  bool *absent;   /* by value: its node ran and left it out */
  int32_t *stack; /* nodes that wait for their inputs */
} parts_run;

static const nd4c_onnx_graph *graph_of(const parts_run *r) {
  return &r->parts->model->graph;
}

/* -- interpreted nodes -----------------------------------------------------------------------------------------------
 */

/* Whether a result is what was foreseen of it. Parts behind it need not read it: a constant of theirs may be its shape.
 */
static bool came_true(const parts_run *r, int32_t number) {
  const nd4c_onnx_foreseen *foreseen = r->parts->foreseen[number];
  const nd4c_onnx_operand operand = r->scope.environment[number];
  if (foreseen == NULL) {
    return true;
  }
  const nd4c_array *array = operand == ND4C_ONNX_OPERAND_NONE ? NULL : r->importer.slots[operand].array;
  bool same = array != NULL && nd4c_array_dtype(array) == foreseen->dtype && nd4c_array_rank(array) == foreseen->rank;
  for (int32_t i = 0; same && i < foreseen->rank; i++) {
    same = foreseen->shape[i] < 0 || nd4c_array_shape(array)[i] == foreseen->shape[i];
  }
  return same;
}

static nd4c_status interpret_node(parts_run *r, int32_t index) {
  const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph_of(r), index);
  ND4C_TRY(nd4c_onnx_scope_emit(&r->importer, &r->scope, node, NULL));
  for (int32_t i = 0; i < node->output_count; i++) {
    if (node->outputs[i] != ND4C_ONNX_NONE) {
      r->absent[node->outputs[i]] = r->scope.environment[node->outputs[i]] == ND4C_ONNX_OPERAND_NONE;
      r->mistaken = r->mistaken || !came_true(r, node->outputs[i]);
    }
  }
  return ND4C_OK;
}

/* The node that must run before the value can be read; -1: none. */
static int32_t find_missing(const parts_run *r, int32_t number) {
  const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph_of(r), number);
  const bool missing = value->source == ND4C_ONNX_FROM_NODE && !r->absent[number] &&
                       r->scope.environment[number] == ND4C_ONNX_OPERAND_NONE;
  return missing ? value->index : -1;
}

/* Interprets the node, after those that make what it reads. Commonly all of that is there; a part whose plan does not
 * serve needs values that plans keep to themselves. */
static nd4c_status reach_node(parts_run *r, int32_t index) {
  int32_t depth = 0;
  r->stack[depth++] = index;
  while (depth > 0) {
    const int32_t top = r->stack[depth - 1];
    const nd4c_onnx_reads *reads = &r->parts->reads[top];
    int32_t before = -1;
    for (int32_t i = 0; i < reads->count && before < 0; i++) {
      before = find_missing(r, reads->numbers[i]);
    }
    if (before >= 0) {
      r->stack[depth++] = before;
      continue;
    }
    ND4C_TRY(interpret_node(r, top));
    depth--;
  }
  return ND4C_OK;
}

static nd4c_status reach_value(parts_run *r, int32_t number) {
  const int32_t node = find_missing(r, number);
  return node < 0 ? ND4C_OK : reach_node(r, node);
}

/* -- parts ----------------------------------------------------------------------------------------------------------
 */

/* Fills `arrays` with the part's inputs; false if one is no array. */
static bool collect(parts_run *r, const nd4c_onnx_level *level, const nd4c_array **arrays) {
  for (int32_t i = 0; i < level->input_count; i++) {
    const nd4c_onnx_operand operand = r->scope.environment[level->inputs[i]];
    arrays[i] = operand == ND4C_ONNX_OPERAND_NONE ? NULL : r->importer.slots[operand].array;
    if (arrays[i] == NULL) {
      return false;
    }
  }
  return true;
}

/* Binds fresh arrays to the part's outputs; takes over their references. */
static nd4c_status bind_outputs(parts_run *r, const nd4c_onnx_level *level, nd4c_array **arrays) {
  nd4c_status status = ND4C_OK;
  const int32_t mark = r->importer.created_count;
  for (int32_t i = 0; i < level->output_count; i++) {
    nd4c_onnx_operand operand = ND4C_ONNX_OPERAND_NONE;
    if (status != ND4C_OK) {
      nd4c_array_release(arrays[i]);
      continue;
    }
    status = nd4c_onnx_add_array(&r->importer, arrays[i], &operand);
    if (status == ND4C_OK) {
      nd4c_onnx_scope_bind(&r->importer, &r->scope, level->outputs[i], operand);
    }
  }
  nd4c_onnx_operands_sweep(&r->importer, mark);
  return status;
}

/* Forgets what the nodes of a part made for each other, and what is read no more. */
static void forget_inner(parts_run *r, int32_t level) {
  for (int32_t i = 0; i < graph_of(r)->values.count; i++) {
    if (nd4c_onnx_graph_value(graph_of(r), i)->source == ND4C_ONNX_FROM_NODE && r->parts->last[i] <= level) {
      nd4c_onnx_scope_bind(&r->importer, &r->scope, i, ND4C_ONNX_OPERAND_NONE);
    }
  }
}

static nd4c_status interpret_part(parts_run *r, const nd4c_onnx_level *level, int32_t number) {
  for (int32_t i = 0; i < level->output_count; i++) {
    ND4C_TRY(reach_value(r, level->outputs[i]));
  }
  forget_inner(r, number - 1); /* what the level's gaps read stays */
  return ND4C_OK;
}

static nd4c_status run_with(parts_run *r, const nd4c_onnx_level *level, int32_t number, const nd4c_array **inputs,
                            nd4c_array **outputs) {
  bool served = false;
  if (r->mistaken || collect(r, level, inputs)) {
    ND4C_TRY(r->run(r->user, number, r->mistaken ? NULL : inputs, outputs, &served));
  }
  return served ? bind_outputs(r, level, outputs) : interpret_part(r, level, number);
}

static nd4c_status run_part(parts_run *r, const nd4c_onnx_level *level, int32_t number) {
  const nd4c_array **inputs = nd4c_allocate_zeroed((size_t)level->input_count + 1, sizeof *inputs);
  nd4c_array **outputs = nd4c_allocate_zeroed((size_t)level->output_count, sizeof *outputs);
  const nd4c_status status =
      inputs == NULL || outputs == NULL
          ? nd4c_fail_memory("the arrays of a part", (size_t)level->output_count * sizeof *outputs)
          : run_with(r, level, number, inputs, outputs);
  nd4c_deallocate((void *)inputs);
  nd4c_deallocate((void *)outputs);
  return status;
}

/* -- the whole -------------------------------------------------------------------------------------------------------
 */

static nd4c_status run_level(parts_run *r, int32_t number) {
  const nd4c_onnx_level *level = &r->parts->levels[number];
  if (level->output_count > 0) {
    ND4C_TRY(run_part(r, level, number));
  }
  for (int32_t i = 0; i < level->gap_count; i++) {
    ND4C_TRY(reach_node(r, level->gaps[i].node));
  }
  for (int32_t i = 0; i < level->dead_count; i++) {
    nd4c_onnx_scope_bind(&r->importer, &r->scope, level->dead[i], ND4C_ONNX_OPERAND_NONE);
  }
  return ND4C_OK;
}

static nd4c_status bind_presets(parts_run *r) {
  const int32_t mark = r->importer.created_count;
  for (int32_t i = 0; i < r->parts->preset_count; i++) {
    const nd4c_onnx_preset *preset = &r->parts->presets[i];
    nd4c_onnx_operand operand = ND4C_ONNX_OPERAND_NONE;
    ND4C_TRY(nd4c_onnx_add_array(&r->importer, nd4c_array_retain(preset->array), &operand));
    nd4c_onnx_scope_bind(&r->importer, &r->scope, preset->number, operand);
  }
  nd4c_onnx_operands_sweep(&r->importer, mark);
  return ND4C_OK;
}

static nd4c_status run_all(parts_run *r, const nd4c_datum *const *inputs, nd4c_datum **outputs) {
  const size_t values = (size_t)graph_of(r)->values.count, nodes = (size_t)graph_of(r)->nodes.count;
  ND4C_TRY(nd4c_region_claim(&r->region, values, sizeof *r->absent, "the values of a model", &r->absent));
  ND4C_TRY(nd4c_region_claim(&r->region, nodes + 1, sizeof *r->stack, "the nodes of a model", &r->stack));
  ND4C_TRY(nd4c_onnx_bind_inputs(&r->importer, &r->scope, inputs));
  ND4C_TRY(bind_presets(r));
  for (int32_t i = 0; i < r->parts->level_count; i++) {
    ND4C_TRY(run_level(r, i));
  }
  return nd4c_onnx_give_outputs(&r->importer, &r->scope, outputs);
}

nd4c_status nd4c_onnx_parts_run(const nd4c_onnx_parts *parts, const nd4c_onnx_import_options *options,
                                nd4c_onnx_part_run run, void *user, const nd4c_datum *const *inputs,
                                nd4c_datum **outputs) {
  static const nd4c_datum *const none[1];
  parts_run r = {.parts = parts, .importer = {.model = parts->model, .options = options}, .run = run, .user = user};
  r.importer.free_slot = ND4C_ONNX_OPERAND_NONE;
  r.scope.graph = graph_of(&r);
  nd4c_status status = nd4c_onnx_scope_open(&r.importer, &r.scope);
  if (status == ND4C_OK) {
    status = run_all(&r, inputs != NULL ? inputs : none, outputs);
    nd4c_onnx_scope_close(&r.importer, &r.scope);
  }
  nd4c_onnx_operands_free(&r.importer);
  nd4c_region_free(&r.region);
  return status;
}
