/* nd4c_model_graph, which programs and `nd4c graph` call: a model's graph for some shapes. Also takes the shapes that a
 * caller gives or the model declares, for model_compile.c, too. */
#include "base/alloc.h"
#include "base/status.h"
#include "device/context/context.h"
#include "import/model_internal.h"
#include "import/onnx/notes.h"

/* Takes the declared shapes; refuses a model that leaves an extent of an input free. */
static nd4c_status take_declared(const char *function, const nd4c_model *model, int32_t *ranks,
                                 const int64_t **shapes) {
  for (int32_t i = 0; i < model->input_count; i++) {
    const nd4c_model_port *port = &model->inputs[i];
    bool known = port->rank >= 0;
    for (int32_t k = 0; k < port->rank && known; k++) {
      known = port->shape[k] >= 0;
    }
    if (!known) {
      return nd4c_fail(ND4C_SHAPE, "%s: the model leaves the shape of input '%s' free: give shapes", function,
                       port->name);
    }
    ranks[i] = port->rank;
    shapes[i] = port->shape;
  }
  return ND4C_OK;
}

/* Takes the given shapes; refuses those that a run would refuse. */
static nd4c_status take_given(const char *function, const nd4c_model *model, const int32_t *given_ranks,
                              const int64_t *const *given_shapes, int32_t *ranks, const int64_t **shapes) {
  for (int32_t i = 0; i < model->input_count; i++) {
    const nd4c_model_port *port = &model->inputs[i];
    bool fits = given_ranks[i] >= 0 && given_ranks[i] <= ND4C_MAX_RANK &&
                (given_shapes[i] != NULL || given_ranks[i] == 0) && (port->rank < 0 || port->rank == given_ranks[i]);
    for (int32_t k = 0; k < given_ranks[i] && fits; k++) {
      fits = given_shapes[i][k] >= 0 && (port->rank < 0 || port->shape[k] < 0 || port->shape[k] == given_shapes[i][k]);
    }
    if (!fits) {
      return nd4c_fail(ND4C_SHAPE, "%s: the shape given for input '%s' is not one that the model declares", function,
                       port->name);
    }
    ranks[i] = given_ranks[i];
    shapes[i] = given_shapes[i];
  }
  return ND4C_OK;
}

void nd4c_model_shapes_free(nd4c_model_shapes *shapes) {
  nd4c_deallocate(shapes->ranks);
  nd4c_deallocate((void *)shapes->shapes);
}

nd4c_status nd4c_model_shapes_take(const char *function, const nd4c_model *model, const int32_t *given_ranks,
                                   const int64_t *const *given_shapes, nd4c_model_shapes *shapes) {
  const size_t count = (size_t)model->input_count + 1;
  shapes->ranks = nd4c_allocate_zeroed(count, sizeof *shapes->ranks);
  shapes->shapes = nd4c_allocate_zeroed(count, sizeof *shapes->shapes);
  const nd4c_status status =
      shapes->ranks == NULL || shapes->shapes == NULL ? nd4c_fail_memory("the shapes of the inputs", count * 16)
      : given_ranks != NULL ? take_given(function, model, given_ranks, given_shapes, shapes->ranks, shapes->shapes)
                            : take_declared(function, model, shapes->ranks, shapes->shapes);
  if (status != ND4C_OK) {
    nd4c_model_shapes_free(shapes);
  }
  return status;
}

/* The graph of the declared shapes, with dims for what they leave free. */
static nd4c_status import_dims(nd4c_model *model, nd4c_context *context, nd4c_graph **graph) {
  char *why = NULL;
  ND4C_TRY(nd4c_model_import_dims(model, context, false, graph, &why));
  const nd4c_status status =
      *graph != NULL ? ND4C_OK : nd4c_fail(ND4C_UNSUPPORTED, "the model is no graph with dims, give shapes: %s", why);
  nd4c_deallocate(why);
  return status;
}

static bool leaves_free(const nd4c_model *model) {
  for (int32_t i = 0; i < model->input_count; i++) {
    const nd4c_model_port *port = &model->inputs[i];
    for (int32_t k = 0; k < port->rank; k++) {
      if (port->shape[k] < 0) {
        return true;
      }
    }
    if (port->rank < 0) {
      return true;
    }
  }
  return false;
}

static nd4c_status import(nd4c_model *model, nd4c_context *context, const nd4c_model_shapes *shapes,
                          nd4c_graph **graph) {
  char *need = NULL;
  nd4c_status status = nd4c_model_import(model, context, shapes->ranks, shapes->shapes, graph, &need);
  if (need != NULL) { /* UNSUPPORTED */
    status = nd4c_fail(status, "the model is no graph: %s", need);
  }
  nd4c_deallocate(need);
  return status;
}

nd4c_status nd4c_model_graph(nd4c_model *model, nd4c_context *context, const int32_t *ranks,
                             const int64_t *const *shapes, nd4c_graph **graph) {
  ND4C_TRY(nd4c_model_check(model));
  if (graph == NULL || (ranks == NULL) != (shapes == NULL)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_graph: %s is NULL",
                     graph == NULL   ? "graph"
                     : ranks == NULL ? "ranks"
                                     : "shapes");
  }
  const nd4c_model_port *odd = nd4c_model_odd_port(model);
  if (odd != NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "'%s' is a sequence or optional: the model is interpreted, and is no graph",
                     odd->name);
  }
  nd4c_context *resolved = NULL;
  nd4c_model_shapes taken = {NULL, NULL};
  const bool with_dims = shapes == NULL && leaves_free(model);
  ND4C_TRY(nd4c_context_resolve(context, &resolved));
  ND4C_TRY(with_dims ? ND4C_OK : nd4c_model_shapes_take("nd4c_model_graph", model, ranks, shapes, &taken));
  nd4c_status status = nd4c_model_turn_take(model->turn, "nd4c_model_graph");
  if (status == ND4C_OK) {
    status = with_dims ? import_dims(model, resolved, graph) : import(model, resolved, &taken, graph);
    nd4c_model_turn_give(model->turn);
  }
  nd4c_model_shapes_free(&taken);
  if (status == ND4C_OK) {
    status = nd4c_onnx_notes(&model->onnx, *graph);
    if (status != ND4C_OK) {
      nd4c_graph_destroy(*graph);
      *graph = NULL;
    }
  }
  return status;
}
