/* ZipMap, which makes a list of maps from class to probability of each row of a tensor. nd4c has no maps: where the
 * list is an output of the model, it gives the tensor instead, and the classes beside it. onnx/model.c has this checked
 * and declared when a model is opened; import/model_outputs.c asks for the classes. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/model.h"

static bool makes_maps(const nd4c_onnx_node *node) {
  return nd4c_span_is(node->domain, "ai.onnx.ml") && nd4c_span_is(node->op, "ZipMap") && node->function == NULL;
}

/* The node that makes a value as maps; NULL: no ZipMap makes it. The value is one of `graph`, or of a graph around it.
 */
static const nd4c_onnx_node *maker_of_maps(const nd4c_onnx_graph *graph, int32_t number) {
  const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, number);
  if (value->source == ND4C_ONNX_FROM_OUTSIDE) {
    for (int32_t i = 0; i < value->levels; i++) {
      graph = graph->outer;
    }
    value = nd4c_onnx_graph_value(graph, value->index);
  }
  const nd4c_onnx_node *node = value->source == ND4C_ONNX_FROM_NODE ? nd4c_onnx_graph_node(graph, value->index) : NULL;
  return node != NULL && makes_maps(node) ? node : NULL;
}

static nd4c_status refuse(const nd4c_onnx_graph *graph, int32_t number, const char *reader) {
  const nd4c_onnx_node *node = number == ND4C_ONNX_NONE ? NULL : maker_of_maps(graph, number);
  return node == NULL
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED,
                         "%s reads %s, the maps that %s makes; nd4c has no maps, and gives the probabilities in their "
                         "place only where the model itself gives them",
                         reader, nd4c_span_show(nd4c_onnx_graph_value(graph, number)->name).text,
                         nd4c_onnx_node_show(node).text);
}

static nd4c_status check_readers(const nd4c_onnx_graph *graph, bool is_model) {
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    for (int32_t j = 0; j < node->input_count; j++) {
      ND4C_TRY(refuse(graph, node->inputs[j], nd4c_onnx_node_show(node).text));
    }
    for (int32_t j = 0; j < node->attribute_count; j++) {
      if (node->attributes[j].graph != NULL) {
        ND4C_TRY(check_readers(node->attributes[j].graph, false));
      }
    }
  }
  for (int32_t i = 0; i < graph->outputs.count && !is_model; i++) {
    ND4C_TRY(refuse(graph, nd4c_onnx_graph_output(graph, i)->value, "the output of a function or inner graph"));
  }
  return ND4C_OK;
}

const nd4c_onnx_attribute *nd4c_onnx_map_classes(const nd4c_onnx_model *model, int32_t output) {
  const nd4c_onnx_node *node = maker_of_maps(&model->graph, nd4c_onnx_graph_output(&model->graph, output)->value);
  for (int32_t i = 0; node != NULL && i < node->attribute_count; i++) {
    const nd4c_onnx_attribute *attribute = &node->attributes[i];
    const bool integers = nd4c_span_is(attribute->name, "classlabels_int64s") && attribute->type == ND4C_ONNX_ATTR_INTS;
    const bool texts =
        nd4c_span_is(attribute->name, "classlabels_strings") && attribute->type == ND4C_ONNX_ATTR_STRINGS;
    if ((integers || texts) && attribute->count > 0) {
      return attribute;
    }
  }
  return NULL;
}

/* An output that the file declares as a sequence of maps is a float32 array [n, classes]. */
static nd4c_status declare(nd4c_onnx_model *model, int32_t output) {
  nd4c_onnx_value_info *info = (nd4c_onnx_value_info *)model->graph.outputs.items + output;
  const nd4c_onnx_node *node = maker_of_maps(&model->graph, info->value);
  const nd4c_onnx_attribute *classes = nd4c_onnx_map_classes(model, output);
  int64_t *shape = NULL;
  nd4c_span *symbols = NULL;
  if (node == NULL) {
    return ND4C_OK;
  }
  if (classes == NULL) {
    return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 ": labels of classes are missing",
                     nd4c_onnx_node_show(node).text, node->offset);
  }
  ND4C_TRY(nd4c_region_claim(&model->region, 2, sizeof *shape, "a declared shape", &shape));
  ND4C_TRY(nd4c_region_claim(&model->region, 2, sizeof *symbols, "a declared shape", &symbols));
  shape[0] = -1;
  shape[1] = classes->count;
  *info = (nd4c_onnx_value_info){.name = info->name,
                                 .value = info->value,
                                 .type = nd4c_onnx_dtype_number(ND4C_FLOAT32),
                                 .kind_count = 1,
                                 .kinds = {ND4C_ONNX_KIND_ARRAY},
                                 .rank = 2,
                                 .shape = shape,
                                 .symbols = symbols,
                                 .offset = info->offset};
  return ND4C_OK;
}

nd4c_status nd4c_onnx_model_check_maps(nd4c_onnx_model *model) {
  const nd4c_onnx_function *functions = model->functions.items;
  for (int32_t i = 0; i < model->functions.count; i++) {
    ND4C_TRY(check_readers(&functions[i].body, false));
  }
  ND4C_TRY(check_readers(&model->graph, true));
  for (int32_t i = 0; i < model->graph.outputs.count; i++) {
    ND4C_TRY(declare(model, i));
  }
  return ND4C_OK;
}
