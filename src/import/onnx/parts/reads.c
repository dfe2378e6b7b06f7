/* What the nodes of a model's graph read, also inside them. split.c asks for it. */
#include "base/status.h"
#include "import/onnx/parts/splitting.h"

/* -- values -------------------------------------------------------------------------------------------------------- */

typedef struct reader {
  nd4c_region *region;
  nd4c_region_list numbers; /* int32_t, of all nodes so far */
} reader;

static nd4c_status add(reader *r, int32_t number) {
  int32_t *added = NULL;
  ND4C_TRY(nd4c_region_append(r->region, &r->numbers, sizeof *added, "what nodes read", &added));
  *added = number;
  return ND4C_OK;
}

/* `depth`: how many graphs lie between this one and the model's. The parser bounds it. */
static nd4c_status add_inner(reader *r, const nd4c_onnx_graph *graph, int32_t depth) {
  for (int32_t i = 0; i < graph->values.count; i++) {
    const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, i);
    if (value->source == ND4C_ONNX_FROM_OUTSIDE && value->levels == depth + 1) {
      ND4C_TRY(add(r, value->index));
    }
  }
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    for (int32_t k = 0; k < node->attribute_count; k++) {
      if (node->attributes[k].graph != NULL) {
        ND4C_TRY(add_inner(r, node->attributes[k].graph, depth + 1));
      }
    }
  }
  return ND4C_OK;
}

static nd4c_status add_node(reader *r, const nd4c_onnx_node *node) {
  for (int32_t i = 0; i < node->input_count; i++) {
    ND4C_TRY(node->inputs[i] != ND4C_ONNX_NONE ? add(r, node->inputs[i]) : ND4C_OK);
  }
  for (int32_t i = 0; i < node->attribute_count; i++) {
    ND4C_TRY(node->attributes[i].graph != NULL ? add_inner(r, node->attributes[i].graph, 0) : ND4C_OK);
  }
  return ND4C_OK;
}

static nd4c_status list_reads(reader *r, const nd4c_onnx_graph *graph, nd4c_region *region, nd4c_onnx_reads *reads) {
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const int32_t first = r->numbers.count;
    ND4C_TRY(add_node(r, nd4c_onnx_graph_node(graph, i)));
    reads[i].count = r->numbers.count - first;
  }
  const int32_t *numbers = nd4c_region_copy(region, r->numbers.items, r->numbers.count, sizeof *numbers);
  if (numbers == NULL) {
    return nd4c_error_code();
  }
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    reads[i].numbers = numbers;
    numbers += reads[i].count;
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_list_reads(const nd4c_onnx_model *model, nd4c_region *region, nd4c_onnx_reads **reads) {
  nd4c_region work = {0};
  reader r = {.region = &work};
  nd4c_onnx_reads *made = NULL;
  ND4C_TRY(nd4c_region_claim(region, (size_t)model->graph.nodes.count, sizeof *made, "what nodes read", &made));
  const nd4c_status status = list_reads(&r, &model->graph, region, made);
  nd4c_region_free(&work);
  *reads = made;
  return status;
}

/* -- initializers -------------------------------------------------------------------------------------------------- */

static nd4c_status load_inner(const nd4c_onnx_import_options *options, const nd4c_onnx_graph *graph);

/* Calls are counted when a model is opened, so all of them together are few. */
static nd4c_status load_in_node(const nd4c_onnx_import_options *options, const nd4c_onnx_node *node) {
  if (node->function != NULL) {
    ND4C_TRY(load_inner(options, &node->function->body));
  }
  for (int32_t i = 0; i < node->attribute_count; i++) {
    ND4C_TRY(node->attributes[i].graph != NULL ? load_inner(options, node->attributes[i].graph) : ND4C_OK);
  }
  return ND4C_OK;
}

static nd4c_status load_inner(const nd4c_onnx_import_options *options, const nd4c_onnx_graph *graph) {
  nd4c_array *array = NULL;
  for (int32_t i = 0; i < graph->initializers.count; i++) {
    ND4C_TRY(nd4c_onnx_load_initializer(options, graph, i, &array));
  }
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    ND4C_TRY(load_in_node(options, nd4c_onnx_graph_node(graph, i)));
  }
  return ND4C_OK;
}

static nd4c_status load_value(const nd4c_onnx_import_options *options, const nd4c_onnx_graph *graph, int32_t number) {
  const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, number);
  nd4c_array *array = NULL;
  return value->source == ND4C_ONNX_FROM_INITIALIZER ? nd4c_onnx_load_initializer(options, graph, value->index, &array)
                                                     : ND4C_OK;
}

nd4c_status nd4c_onnx_load_read(const nd4c_onnx_parts *parts, const nd4c_onnx_import_options *options) {
  const nd4c_onnx_graph *graph = &parts->model->graph;
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    for (int32_t k = 0; k < parts->reads[i].count; k++) {
      ND4C_TRY(load_value(options, graph, parts->reads[i].numbers[k]));
    }
    ND4C_TRY(load_in_node(options, nd4c_onnx_graph_node(graph, i)));
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    ND4C_TRY(load_value(options, graph, nd4c_onnx_graph_output(graph, i)->value));
  }
  return ND4C_OK;
}
