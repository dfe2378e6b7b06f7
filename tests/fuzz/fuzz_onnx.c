/* Any bytes as an ONNX model: a status with a text, or a model that is imported and, if it is small, run. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "graph/ir/graph.h"
#include "import/model_internal.h"
#include "nd4c/config.h"

enum { MOST_INPUTS = 8, MOST_ELEMENTS = 1 << 12, MOST_NODES = 64 };

/* One zero-filled array for each input, 2 for free dimensions; false if the inputs would be too large. */
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

/* Whether a run is short enough: no value is large. */
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

/* Whether interpreting is short enough: a loop may never end, and the interpreter does not check sizes beforehand. */
static bool is_bearable(const nd4c_onnx_graph *graph) {
  enum { MOST_INTERPRETED = 8 };
  bool bearable = graph->nodes.count <= MOST_INTERPRETED;
  for (int32_t i = 0; i < graph->nodes.count && bearable; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    bearable = !nd4c_span_is(node->op, "Loop") && node->function == NULL;
    for (int32_t j = 0; j < node->attribute_count && bearable; j++) {
      bearable = node->attributes[j].graph == NULL || is_bearable(node->attributes[j].graph);
    }
  }
  return bearable;
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
                                      .dense = &model->dense,
                                      .input_ranks = ranks,
                                      .input_shapes = shapes,
                                      .all_intermediates = model->all_intermediates};
  char *need = NULL;
  if (nd4c_onnx_import(&model->onnx, &options, &graph, &need) != ND4C_OK) {
    bool interpreted = need != NULL && is_bearable(&model->onnx.graph);
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

/* The datum that a port declares from `level` on, around the array; a sequence holds the array twice. */
static nd4c_datum *make_datum(const nd4c_model_port *port, int32_t level, nd4c_array *array) {
  nd4c_datum *made = NULL;
  if (level >= port->kind_count - 1 || level >= (int32_t)(sizeof port->kinds / sizeof *port->kinds)) {
    (void)nd4c_datum_of_array(array, &made);
    return made;
  }
  nd4c_datum *inner = make_datum(port, level + 1, array);
  nd4c_datum *items[2] = {inner, inner};
  if (inner != NULL && port->kinds[level] == ND4C_DATUM_SEQUENCE) {
    (void)nd4c_datum_of_sequence(port->dtype, items, 2, &made);
  } else if (inner != NULL) {
    (void)nd4c_datum_of_optional(inner, &made);
  }
  nd4c_datum_release(inner);
  return made;
}

static void run_data(nd4c_model *model, const char *const *names, nd4c_array *const *inputs) {
  nd4c_datum *given[MOST_INPUTS] = {0};
  nd4c_datum **outputs = calloc((size_t)model->output_count + 1, sizeof(nd4c_datum *));
  bool made = outputs != NULL && is_bearable(&model->onnx.graph);
  for (int32_t i = 0; i < model->input_count && made; i++) {
    given[i] = make_datum(&model->inputs[i], 0, inputs[i]);
    made = given[i] != NULL;
  }
  if (made && nd4c_model_run_data(model, NULL, names, (const nd4c_datum *const *)given, model->input_count, outputs,
                                  model->output_count) == ND4C_OK) {
    for (int32_t i = 0; i < model->output_count; i++) {
      fuzz_read_datum(outputs[i]);
      nd4c_datum_release(outputs[i]);
    }
  }
  for (int32_t i = 0; i < model->input_count; i++) {
    nd4c_datum_release(given[i]);
  }
  free((void *)outputs);
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
  nd4c_model_options options = {.struct_size = sizeof options, .all_intermediates = size % 2 == 1};
  if (nd4c_model_open_memory(data, size, &options, NULL, NULL, &model) != ND4C_OK) {
    return 0;
  }
  if (make_inputs(model, inputs, names)) {
    if (nd4c_model_odd_port(model) != NULL) {
      run_data(model, names, inputs);
    } else if (import_model(model, inputs)) {
      run_model(model, names, inputs);
    }
  }
  for (int32_t i = 0; i < MOST_INPUTS; i++) {
    nd4c_array_release(inputs[i]);
  }
  nd4c_model_close(model);
  return 0;
}
