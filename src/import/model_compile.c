/* nd4c_model_compile, which programs and `nd4c compile` call: makes a model's graph for some shapes on the host, and
 * compiles it ahead of time. */
#include "base/alloc.h"
#include "base/config/config.h"
#include "base/status.h"
#include "device/context/context.h"
#include "device/device.h"
#include "graph/plan/placement.h"
#include "import/model_internal.h"

static nd4c_status compile_graph(nd4c_model *model, const char *target, nd4c_graph *graph, const char *path,
                                 char **report) {
  const nd4c_plan_options options = nd4c_model_plan_options(model);
  return nd4c_plan_compile(graph, target, &options, path, report);
}

static nd4c_status compile_shapes(nd4c_model *model, const char *target, const int32_t *ranks,
                                  const int64_t *const *shapes, const char *path, char **report) {
  nd4c_device *host = NULL;
  nd4c_context *context = NULL;
  nd4c_graph *graph = NULL;
  char *need = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_context_make(host, nd4c_context_default_width(host), nd4c_config_bool(ND4C_CONFIG_DETERMINISTIC), false,
                             &context));
  nd4c_status status = nd4c_model_import(model, context, ranks, shapes, &graph, &need);
  if (need != NULL) { /* UNSUPPORTED */
    status = nd4c_fail(status, "the model is no graph, and cannot be compiled: %s", need);
  }
  status = status == ND4C_OK ? compile_graph(model, target, graph, path, report) : status;
  nd4c_graph_destroy(graph);
  nd4c_deallocate(need);
  nd4c_context_drop(context);
  return status;
}

static nd4c_status compile(nd4c_model *model, const char *target, const int32_t *given_ranks,
                           const int64_t *const *given_shapes, const char *path, char **report) {
  nd4c_model_shapes shapes;
  ND4C_TRY(nd4c_model_shapes_take("nd4c_model_compile", model, given_ranks, given_shapes, &shapes));
  const nd4c_status status = compile_shapes(model, target, shapes.ranks, shapes.shapes, path, report);
  nd4c_model_shapes_free(&shapes);
  return status;
}

nd4c_status nd4c_model_compile(nd4c_model *model, const char *target, const int32_t *ranks,
                               const int64_t *const *shapes, const char *path, char **report) {
  ND4C_TRY(nd4c_model_check(model));
  if (target == NULL || path == NULL || (ranks == NULL) != (shapes == NULL)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_compile: %s is NULL",
                     target == NULL  ? "target"
                     : path == NULL  ? "path"
                     : ranks == NULL ? "ranks"
                                     : "shapes");
  }
  const nd4c_model_port *odd = nd4c_model_odd_port(model);
  if (odd != NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "'%s' is a sequence or optional: the model is interpreted, and cannot be compiled", odd->name);
  }
  const bool placed = model->placement != NULL && nd4c_placement_single(model->placement) == NULL;
  if (placed || model->compiled != NULL) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_model_compile: the model was opened with options.%s",
                     placed ? "placement of several devices" : "compiled");
  }
  ND4C_TRY(nd4c_model_turn_take(model->turn, "nd4c_model_compile"));
  const nd4c_status status = compile(model, target, ranks, shapes, path, report);
  nd4c_model_turn_give(model->turn);
  return status;
}
