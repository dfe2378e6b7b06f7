/* A model's graph with dims: imported once, and bound to the shapes of a run. model_plans.c asks for bound graphs,
 * model_graph.c for the graph itself. What a graph with dims cannot express, and shapes that it does not allow, are
 * imported by themselves. */
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/config/config.h"
#include "base/status.h"
#include "base/text.h"
#include "device/context/context.h"
#include "graph/ir/graph.h"
#include "import/model_internal.h"

/* Whether a declared input leaves an extent free. */
static bool has_free(const nd4c_model *model) {
  for (int32_t i = 0; i < model->input_count; i++) {
    for (int32_t j = 0; j < model->inputs[i].rank; j++) {
      if (model->inputs[i].shape[j] < 0) {
        return true;
      }
    }
  }
  return false;
}

void nd4c_model_dims_drop(nd4c_model *model) {
  nd4c_graph_destroy(model->dims.graph);
  nd4c_deallocate(model->dims.why);
  nd4c_deallocate(model->dims.unplanned);
  model->dims = (nd4c_model_dims){.graph = NULL};
}

nd4c_status nd4c_model_import_dims(nd4c_model *model, nd4c_context *context, bool frees_all, nd4c_graph **graph,
                                   char **why) {
  nd4c_onnx_import_options options = nd4c_model_import_options(model, context);
  char *need = NULL;
  *graph = NULL;
  *why = NULL;
  options.frees_all = frees_all;
  nd4c_status status = nd4c_onnx_import(&model->onnx, &options, graph, &need);
  nd4c_deallocate(need); /* the error names the node, too */
  if (status == ND4C_OK || nd4c_status_passes(status)) {
    return status;
  }
  *why = nd4c_duplicate_text(nd4c_error_message());
  return *why != NULL ? ND4C_OK : nd4c_fail_memory("a report", 1);
}

/* Whether the graph in the model was made for a context like this one. */
static bool is_current(const nd4c_model_dims *dims, const nd4c_context *context, bool frees_all) {
  int64_t settings[ND4C_MODEL_SETTINGS];
  nd4c_model_settings(context, settings);
  return dims->tried && dims->device == context->device && dims->epoch == atomic_load(&nd4c_config_epoch) &&
         dims->frees_all == frees_all && memcmp(dims->settings, settings, sizeof settings) == 0;
}

static nd4c_status update(nd4c_model *model, nd4c_context *context, bool frees_all) {
  if (is_current(&model->dims, context, frees_all)) {
    return ND4C_OK;
  }
  nd4c_model_dims_drop(model);
  ND4C_TRY(nd4c_model_import_dims(model, context, frees_all, &model->dims.graph, &model->dims.why));
  model->dims.tried = true;
  model->dims.frees_all = frees_all;
  model->dims.device = context->device;
  model->dims.epoch = atomic_load(&nd4c_config_epoch);
  nd4c_model_settings(context, model->dims.settings);
  return ND4C_OK;
}

/* The extent of an axis of the graph's inputs that is this dim. */
static int64_t find_number(const nd4c_graph *graph, int64_t dim, const nd4c_array *const *inputs) {
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    const nd4c_graph_value *value = &graph->values[graph->inputs.items[i].value];
    for (int32_t j = 0; j < value->rank; j++) {
      if (value->shape[j] == dim) {
        return nd4c_array_shape(inputs[i])[j];
      }
    }
  }
  return 0;
}

/* Names and numbers of the dims. */
static nd4c_status read_numbers(const nd4c_graph *graph, const nd4c_array *const *inputs, const char **names,
                                int64_t *numbers) {
  for (int32_t i = 0; i < nd4c_graph_dim_count(graph); i++) {
    int64_t dim = 0;
    if (!nd4c_extents_dim_extent(graph->extents, i, &dim)) {
      return nd4c_extents_failure(graph->extents);
    }
    names[i] = nd4c_graph_dim_name(graph, i);
    numbers[i] = find_number(graph, dim, inputs);
  }
  return ND4C_OK;
}

/* A failure that does not pass says that the graph does not allow these shapes. */
static nd4c_status bind(const nd4c_graph *graph, const nd4c_array *const *inputs, nd4c_graph **bound) {
  const int32_t count = nd4c_graph_dim_count(graph);
  const char **names = nd4c_allocate(((size_t)count + 1) * sizeof *names);
  int64_t *numbers = nd4c_allocate(((size_t)count + 1) * sizeof *numbers);
  nd4c_status status = names == NULL || numbers == NULL ? nd4c_fail_memory("dims", (size_t)count * sizeof *numbers)
                                                        : read_numbers(graph, inputs, names, numbers);
  status = status == ND4C_OK ? nd4c_graph_bind(graph, names, numbers, count, bound) : status;
  nd4c_deallocate((void *)names);
  nd4c_deallocate(numbers);
  return status;
}

/* Brings model->dims up to date; *wanted is false if the model is to have no dims. */
static nd4c_status prepare(nd4c_model *model, nd4c_context *context, bool *wanted) {
  char mode[16];
  nd4c_config_string(ND4C_CONFIG_MODEL_DIMS, mode, sizeof mode);
  const bool frees_all = strcmp(mode, "all") == 0;
  *wanted = strcmp(mode, "none") != 0 && model->compiled == NULL && (frees_all || has_free(model));
  return *wanted ? update(model, context, frees_all) : ND4C_OK;
}

nd4c_status nd4c_model_dims_graph(nd4c_model *model, nd4c_context *context, const nd4c_graph **graph) {
  bool wanted = false;
  ND4C_TRY(prepare(model, context, &wanted));
  *graph = wanted ? model->dims.graph : NULL;
  return ND4C_OK;
}

static nd4c_status tell(const char *begin, const char *why, char **line) {
  nd4c_text text = {0};
  nd4c_text_print(&text, "%s: %s\n", begin, why);
  return nd4c_text_take(&text, line);
}

nd4c_status nd4c_model_tell_alone(const char *why, char **alone) {
  return tell("imported for these shapes alone", why, alone);
}

nd4c_status nd4c_model_dims_unplanned(nd4c_model *model) {
  model->dims.unplanned = nd4c_duplicate_text(nd4c_error_message());
  return model->dims.unplanned != NULL ? ND4C_OK : nd4c_fail_memory("a report", 1);
}

/* The report's line about a plan of the bound graph: the graph with dims makes none, or the model asks for what such
 * plans do not take. */
static nd4c_status tell_bound(const nd4c_model *model, char **alone) {
  static const char begin[] = "planned for these shapes alone, of the graph with dims";
  const char *why = model->placement != NULL ? "a plan with dims takes no placement" : model->dims.unplanned;
  return why != NULL ? tell(begin, why, alone) : ND4C_OK;
}

nd4c_status nd4c_model_bind(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                            nd4c_graph **bound, char **alone) {
  bool wanted = false;
  *bound = NULL;
  *alone = NULL;
  ND4C_TRY(prepare(model, context, &wanted));
  if (!wanted) {
    return ND4C_OK;
  }
  nd4c_status status = model->dims.graph != NULL ? bind(model->dims.graph, inputs, bound) : ND4C_OK;
  if (*bound != NULL) {
    status = tell_bound(model, alone);
    if (status != ND4C_OK) {
      nd4c_graph_destroy(*bound);
      *bound = NULL;
    }
    return status;
  }
  if (nd4c_status_passes(status)) {
    return status;
  }
  return nd4c_model_tell_alone(model->dims.graph != NULL ? nd4c_error_message() : model->dims.why, alone);
}
