/* Models in parts (onnx/parts/parts.h): the plans of the parts, their runs and reports, and nd4c_model_parts, which
 * programs and `nd4c graph` call. model_plans.c makes them for models that no graph can express; model_run.c runs
 * them. */
#include <stdatomic.h>
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/config/config.h"
#include "base/status.h"
#include "base/text.h"
#include "device/context/context.h"
#include "graph/dynamic.h"
#include "import/model_internal.h"
#include "import/onnx/notes.h"
#include "import/onnx/parts/parts.h"

struct nd4c_model_split {
  nd4c_onnx_parts *parts;
  nd4c_plan **plans;              /* by level; NULL: the level has no part, or its nodes are interpreted */
  char **refusals;                /* by level: why the part has no plan; NULL: it has one, or there is no part */
  bool declared;                  /* for all shapes that the model declares */
  _Atomic int64_t runs, unserved; /* unserved: runs of parts that their plans did not serve */
};

/* -- making ----------------------------------------------------------------------------------------------------------
 */

void nd4c_model_split_drop(nd4c_model_split *parts) {
  if (parts == NULL) {
    return;
  }
  for (int32_t i = 0; i < parts->parts->level_count; i++) {
    nd4c_plan_destroy(parts->plans != NULL ? parts->plans[i] : NULL);
    nd4c_deallocate(parts->refusals != NULL ? parts->refusals[i] : NULL);
  }
  nd4c_deallocate((void *)parts->plans);
  nd4c_deallocate((void *)parts->refusals);
  nd4c_onnx_parts_free(parts->parts);
  nd4c_deallocate(parts);
}

/* A model is split once for all shapes unless it leaves a rank free, or is to have no dims. */
static bool takes_declared(const nd4c_model *model) {
  char mode[16];
  nd4c_config_string(ND4C_CONFIG_MODEL_DIMS, mode, sizeof mode);
  bool takes = strcmp(mode, "none") != 0;
  for (int32_t i = 0; i < model->input_count; i++) {
    takes = takes && model->inputs[i].rank >= 0;
  }
  return takes;
}

static nd4c_status split(nd4c_model *model, nd4c_context *context, const int32_t *ranks, const int64_t *const *shapes,
                         nd4c_onnx_parts **parts) {
  nd4c_onnx_import_options options = nd4c_model_import_options(model, context);
  options.input_ranks = ranks;
  options.input_shapes = shapes;
  return nd4c_onnx_parts_make(&model->onnx, &options, parts);
}

/* A part of which no plan can be made is interpreted. */
static nd4c_status make_plan(nd4c_model *model, nd4c_context *context, nd4c_model_split *parts, int32_t index) {
  const nd4c_plan_options options = nd4c_model_plan_options(model);
  nd4c_onnx_level *level = &parts->parts->levels[index];
  nd4c_plan **plan = &parts->plans[index];
  nd4c_status status = nd4c_plan_create_told(level->graph, context, &options, &model->telling, plan);
  if (status == ND4C_OK) {
    status = nd4c_plan_move(*plan, NULL);
    if (status != ND4C_OK) {
      nd4c_plan_destroy(*plan);
      *plan = NULL;
    }
  }
  nd4c_graph_destroy(level->graph);
  level->graph = NULL;
  if (status == ND4C_UNSUPPORTED) {
    parts->refusals[index] = nd4c_duplicate_text(nd4c_error_message());
    return parts->refusals[index] != NULL ? ND4C_OK : nd4c_fail_memory("a report", 1);
  }
  return status;
}

static nd4c_status make_plans(nd4c_model *model, nd4c_context *context, nd4c_model_split *parts) {
  const size_t count = (size_t)parts->parts->level_count;
  ND4C_TRY(nd4c_allocate_or_fail(count, sizeof *parts->plans, "plans of a model", &parts->plans));
  ND4C_TRY(nd4c_allocate_or_fail(count, sizeof *parts->refusals, "plans of a model", &parts->refusals));
  for (int32_t i = 0; i < parts->parts->level_count; i++) {
    if (parts->parts->levels[i].graph != NULL) {
      ND4C_TRY(make_plan(model, context, parts, i));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_model_split_make(nd4c_model *model, nd4c_context *context, const int32_t *ranks,
                                  const int64_t *const *shapes, nd4c_model_split **parts) {
  const bool declared = takes_declared(model);
  nd4c_onnx_parts *found = NULL;
  nd4c_model_split *made = NULL;
  ND4C_TRY(split(model, context, declared ? NULL : ranks, declared ? NULL : shapes, &found));
  if (found == NULL) {
    return ND4C_OK;
  }
  nd4c_status status = nd4c_allocate_or_fail(1, sizeof *made, "a model in parts", &made);
  if (status != ND4C_OK) {
    nd4c_onnx_parts_free(found);
    return status;
  }
  made->parts = found;
  made->declared = declared;
  status = make_plans(model, context, made);
  if (status != ND4C_OK) {
    nd4c_model_split_drop(made);
    return status;
  }
  *parts = made;
  return ND4C_OK;
}

bool nd4c_model_split_serve_all(const nd4c_model_split *parts) {
  return parts->declared;
}

bool nd4c_model_split_owns(const nd4c_model_split *parts, const nd4c_array *array) {
  bool owns = false;
  for (int32_t i = 0; i < parts->parts->preset_count && !owns; i++) {
    owns = nd4c_array_overlaps(array, parts->parts->presets[i].array);
  }
  return owns;
}

/* -- running ---------------------------------------------------------------------------------------------------------
 */

typedef struct parts_call {
  nd4c_model_split *parts;
  nd4c_context *context;
} parts_call;

/* Whether the inputs are what the plan was made for: what the import foresaw of data need not come true. */
static nd4c_status serves(nd4c_plan *plan, nd4c_context *context, const nd4c_array *const *inputs) {
  for (int32_t i = 0; i < plan->graph->inputs.count; i++) {
    ND4C_TRY(nd4c_plan_check_port(plan, "input", &plan->graph->inputs.items[i], inputs[i]));
  }
  return nd4c_plan_serves(plan, context, inputs);
}

static nd4c_status run_part(void *user, int32_t level, const nd4c_array *const *inputs, nd4c_array **outputs,
                            bool *served) {
  const parts_call *call = user;
  const nd4c_onnx_level *described = &call->parts->parts->levels[level];
  nd4c_plan *plan = call->parts->plans[level];
  if (plan == NULL) {
    return ND4C_OK;
  }
  if (inputs == NULL) {
    atomic_fetch_add_explicit(&call->parts->unserved, 1, memory_order_relaxed);
    return ND4C_OK;
  }
  const nd4c_run_request request = {.inputs = inputs,
                                    .outputs = outputs,
                                    .input_count = described->input_count,
                                    .output_count = described->output_count};
  const nd4c_status status = nd4c_plan_run_request(plan, call->context, &request);
  *served = status == ND4C_OK;
  if (status == ND4C_OK || nd4c_status_passes(status)) {
    return status;
  }
  char *message = nd4c_duplicate_text(nd4c_error_message());
  const nd4c_status refused = serves(plan, call->context, inputs);
  if (refused != ND4C_OK && !nd4c_status_passes(refused)) {
    nd4c_deallocate(message);
    nd4c_error_clear();
    atomic_fetch_add_explicit(&call->parts->unserved, 1, memory_order_relaxed);
    return ND4C_OK;
  }
  const nd4c_status failed = refused != ND4C_OK ? refused
                             : message == NULL  ? nd4c_fail_memory("an error", 1)
                                                : nd4c_fail(status, "%s", message);
  nd4c_deallocate(message);
  return failed;
}

nd4c_status nd4c_model_split_run(const nd4c_onnx_import_options *options, nd4c_model_split *parts,
                                 const nd4c_datum *const *inputs, nd4c_datum **outputs) {
  parts_call call = {parts, options->context};
  atomic_fetch_add_explicit(&parts->runs, 1, memory_order_relaxed);
  return nd4c_onnx_parts_run(parts->parts, options, run_part, &call, inputs, outputs);
}

/* -- looking at them -------------------------------------------------------------------------------------------------
 */

int32_t nd4c_model_split_plans(const nd4c_model_split *parts, nd4c_plan *const **plans) {
  *plans = parts->plans;
  return parts->parts->level_count;
}

static nd4c_status report_part(const nd4c_model_split *parts, int32_t level, int32_t number, nd4c_text *text) {
  char *told = NULL;
  nd4c_text_print(text, "\npart %d:\n", (int)number);
  if (parts->plans[level] == NULL) {
    nd4c_text_print(text, "interpreted, no plan: %s\n", parts->refusals[level]);
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_plan_report(parts->plans[level], &told));
  nd4c_text_print(text, "%s", told);
  nd4c_free(told);
  return ND4C_OK;
}

nd4c_status nd4c_model_split_report(const nd4c_model_split *parts, char **text) {
  nd4c_text told = {0};
  nd4c_status status = ND4C_OK;
  int32_t number = 0;
  nd4c_onnx_parts_tell(parts->parts, &told);
  nd4c_text_print(&told,
                  "runs: %lld; runs of parts that were interpreted, because a plan did not serve the sizes: %lld\n",
                  (long long)atomic_load(&parts->runs), (long long)atomic_load(&parts->unserved));
  for (int32_t i = 0; i < parts->parts->level_count && status == ND4C_OK; i++) {
    if (parts->parts->levels[i].output_count > 0) {
      status = report_part(parts, i, ++number, &told);
    }
  }
  if (status != ND4C_OK) {
    nd4c_text_free(&told);
    return status;
  }
  return nd4c_text_take(&told, text);
}

/* Hands the graphs of the parts out, as many as there is room for. */
static nd4c_status give_graphs(const nd4c_model *model, nd4c_onnx_parts *parts, nd4c_graph **graphs, int32_t room) {
  int32_t given = 0;
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < parts->level_count && given < room && status == ND4C_OK; i++) {
    nd4c_onnx_level *level = &parts->levels[i];
    if (level->graph != NULL) {
      status = nd4c_onnx_notes(&model->onnx, level->graph);
      graphs[given++] = level->graph;
      level->graph = NULL;
    }
  }
  for (int32_t i = 0; i < given && status != ND4C_OK; i++) {
    nd4c_graph_destroy(graphs[i]);
    graphs[i] = NULL;
  }
  return status;
}

static nd4c_status tell(const nd4c_model *model, nd4c_onnx_parts *parts, nd4c_graph **graphs, int32_t room,
                        int32_t *count, char **text) {
  nd4c_text told = {0};
  char *made = NULL;
  *count = 0;
  if (parts == NULL) {
    nd4c_text_print(&told, "interpreted, node after node: no part of the model is worth a plan\n");
  } else {
    *count = parts->part_count;
    nd4c_onnx_parts_tell(parts, &told);
  }
  ND4C_TRY(nd4c_text_take(&told, &made));
  const nd4c_status status = parts != NULL ? give_graphs(model, parts, graphs, room) : ND4C_OK;
  if (status != ND4C_OK) {
    nd4c_free(made);
    return status;
  }
  *text = made;
  return ND4C_OK;
}

static nd4c_status check_parts(const nd4c_model *model, const int32_t *ranks, const int64_t *const *shapes,
                               nd4c_graph *const *graphs, int32_t room, const int32_t *count, char *const *text) {
  ND4C_TRY(nd4c_model_check(model));
  if (count == NULL || text == NULL || (room > 0 && graphs == NULL) || (ranks == NULL) != (shapes == NULL)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_parts: %s is NULL",
                     count == NULL                ? "count"
                     : text == NULL               ? "text"
                     : room > 0 && graphs == NULL ? "graphs"
                     : ranks == NULL              ? "ranks"
                                                  : "shapes");
  }
  if (room < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_model_parts: room is %d, expected 0 or more", (int)room);
  }
  const nd4c_model_port *odd = nd4c_model_odd_port(model);
  return odd == NULL
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED, "'%s' is a sequence or optional: the model is interpreted", odd->name);
}

nd4c_status nd4c_model_parts(nd4c_model *model, nd4c_context *context, const int32_t *ranks,
                             const int64_t *const *shapes, nd4c_graph **graphs, int32_t room, int32_t *count,
                             char **text) {
  nd4c_context *resolved = NULL;
  nd4c_model_shapes taken = {NULL, NULL};
  nd4c_onnx_parts *parts = NULL;
  ND4C_TRY(check_parts(model, ranks, shapes, graphs, room, count, text));
  ND4C_TRY(nd4c_context_resolve(context, &resolved));
  ND4C_TRY(shapes == NULL ? ND4C_OK : nd4c_model_shapes_take("nd4c_model_parts", model, ranks, shapes, &taken));
  nd4c_status status = nd4c_model_turn_take(model->turn, "nd4c_model_parts");
  if (status == ND4C_OK) {
    status = split(model, resolved, taken.ranks, taken.shapes, &parts);
    nd4c_model_turn_give(model->turn);
  }
  nd4c_model_shapes_free(&taken);
  status = status == ND4C_OK ? tell(model, parts, graphs, room, count, text) : status;
  nd4c_onnx_parts_free(parts);
  return status;
}
