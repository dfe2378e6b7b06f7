/* Any bytes as an ONNX model: a status with a text, or a model that is imported and, if it is small, run. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "graph/graph.h"
#include "io/model_internal.h"
#include "nd4c/config.h"

enum { MOST_INPUTS = 8, MOST_ELEMENTS = 1 << 12, MOST_NODES = 64 };

/* One zero-filled array an input, 2 for what is free; false if the model wants too much. */
static bool make_inputs(const nd4c_model *model, nd4c_array **inputs, const char **names) {
  if (model->input_count > MOST_INPUTS) {
    return false;
  }
  for (int32_t i = 0; i < model->input_count; i++) {
    int64_t shape[ND4C_MAX_RANK];
    int64_t size = 1;
    const nd4c_model_port *port = &model->inputs[i];
    for (int32_t j = 0; j < port->rank; j++) {
      shape[j] = port->shape[j] < 0 ? 2 : port->shape[j];
      if (shape[j] > MOST_ELEMENTS || (size *= shape[j]) > MOST_ELEMENTS) {
        return false;
      }
    }
    names[i] = port->name;
    if (nd4c_array_zeros(port->dtype, port->rank < 0 ? 0 : port->rank, shape, NULL, &inputs[i]) != ND4C_OK) {
      return false;
    }
  }
  return true;
}

/* Whether running would take a bearable time: no value is large. */
static bool is_small(const nd4c_graph *graph) {
  if (graph->node_count > MOST_NODES) {
    return false;
  }
  for (int32_t i = 0; i < graph->value_count; i++) {
    if (graph->values[i].size > MOST_ELEMENTS) {
      return false;
    }
  }
  return true;
}

/* A loop may go on for ever; that is not what is looked for here. */
static bool has_loop(const nd4c_onnx_graph *graph) {
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    bool found = nd4c_span_is(node->op, "Loop") || node->function != NULL;
    for (int32_t j = 0; j < node->attribute_count && !found; j++) {
      found = node->attributes[j].graph != NULL && has_loop(node->attributes[j].graph);
    }
    if (found) {
      return true;
    }
  }
  return false;
}

static bool import_model(nd4c_model *model, nd4c_array *const *inputs) {
  int32_t ranks[MOST_INPUTS];
  const int64_t *shapes[MOST_INPUTS];
  nd4c_graph *graph = NULL;
  for (int32_t i = 0; i < model->input_count; i++) {
    ranks[i] = nd4c_array_rank(inputs[i]);
    shapes[i] = nd4c_array_shape(inputs[i]);
  }
  nd4c_onnx_import_options options = {.initializers = model->initializers,
                                      .input_ranks = ranks,
                                      .input_shapes = shapes,
                                      .all_intermediates = model->all_intermediates};
  char *need = NULL;
  if (nd4c_onnx_import(&model->onnx, &options, &graph, &need) != ND4C_OK) {
    bool interpreted = need != NULL && !has_loop(&model->onnx.graph);
    nd4c_deallocate(need);
    return interpreted;
  }
  bool small = is_small(graph);
  nd4c_graph_destroy(graph);
  return small;
}

static void run_model(nd4c_model *model, const char *const *names, nd4c_array *const *inputs) {
  const nd4c_array *given[MOST_INPUTS];
  nd4c_array **outputs = calloc((size_t)model->output_count + 1, sizeof(nd4c_array *));
  for (int32_t i = 0; i < model->input_count; i++) {
    given[i] = inputs[i];
  }
  if (outputs != NULL &&
      nd4c_model_run(model, NULL, names, given, model->input_count, outputs, model->output_count) == ND4C_OK) {
    for (int32_t i = 0; i < model->output_count; i++) {
      fuzz_read_array(outputs[i]);
      nd4c_array_release(outputs[i]);
    }
  }
  free(outputs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool prepared;
  if (!prepared) {
    prepared = true;
    (void)nd4c_config_set("org.bytedeco.javacpp.maxbytes", "256m");
    (void)nd4c_config_set("nd4c.width", "1");
  }
  nd4c_model *model = NULL;
  nd4c_array *inputs[MOST_INPUTS] = {0};
  const char *names[MOST_INPUTS] = {0};
  nd4c_model_options options = {sizeof options, size % 2 == 1, false};
  if (nd4c_model_open_memory(data, size, &options, NULL, NULL, &model) != ND4C_OK) {
    return 0;
  }
  if (make_inputs(model, inputs, names) && import_model(model, inputs)) {
    run_model(model, names, inputs);
  }
  for (int32_t i = 0; i < MOST_INPUTS; i++) {
    nd4c_array_release(inputs[i]);
  }
  nd4c_model_close(model);
  return 0;
}
