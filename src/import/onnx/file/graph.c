/* Parses GraphProto. onnx/model.c calls it for the model's graph, attribute.c for graphs inside nodes. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/model.h"
#include "nd4c/control.h"

/* Each graph in a node takes three messages: the node, its attribute, the graph. The deepest parts of a graph are an
 * element of a sparse tensor's table and an extent of a type in sequences and optionals. */
enum { GRAPH_MESSAGES = 3, PART_MESSAGES = 16 };
_Static_assert(1 + ND4C_CONTROL_DEPTH * GRAPH_MESSAGES + PART_MESSAGES <= ND4C_WIRE_DEPTH,
               "graphs as deep as control flow allows can be read");

enum {
  GRAPH_NODE = 1,
  GRAPH_NAME = 2,
  GRAPH_INITIALIZER = 5,
  GRAPH_INPUT = 11,
  GRAPH_OUTPUT = 12,
  GRAPH_VALUE_INFO = 13,
  GRAPH_SPARSE_INITIALIZER = 15
};

static nd4c_status add_initializer(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_wire *wire,
                                   const nd4c_wire_field *field, bool is_sparse) {
  nd4c_wire inner;
  nd4c_onnx_tensor tensor;
  nd4c_onnx_tensor *kept = NULL;
  ND4C_TRY(nd4c_wire_enter(wire, field, is_sparse ? "SparseTensorProto" : "TensorProto", &inner));
  ND4C_TRY(is_sparse ? nd4c_onnx_sparse_parse(&inner, &model->files, &tensor)
                     : nd4c_onnx_tensor_parse(&inner, &model->files, &tensor));
  if (tensor.name.size == 0) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": an initializer without a name", field->offset);
  }
  ND4C_TRY(nd4c_region_append(&model->region, &graph->initializers, sizeof *kept, "initializers", &kept));
  *kept = tensor;
  return ND4C_OK;
}

static nd4c_status parse_graph_field(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_wire *wire,
                                     const nd4c_wire_field *field) {
  switch (field->number) {
    case GRAPH_NODE:
      return nd4c_onnx_node_parse(model, graph, wire, field);
    case GRAPH_NAME:
      return nd4c_wire_text(wire, field, &graph->name);
    case GRAPH_INITIALIZER:
      return add_initializer(model, graph, wire, field, false);
    case GRAPH_INPUT:
      return nd4c_onnx_value_info_parse(model, graph, wire, field, &graph->inputs);
    case GRAPH_OUTPUT:
      return nd4c_onnx_value_info_parse(model, graph, wire, field, &graph->outputs);
    case GRAPH_VALUE_INFO:
      return nd4c_onnx_value_info_parse(model, graph, wire, field, &graph->value_infos);
    case GRAPH_SPARSE_INITIALIZER:
      return add_initializer(model, graph, wire, field, true);
    default:
      return ND4C_OK;
  }
}

nd4c_status nd4c_onnx_graph_parse(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *outer,
                                  nd4c_onnx_graph *graph) {
  nd4c_wire inner;
  *graph = (nd4c_onnx_graph){.offset = outer->offset};
  ND4C_TRY(nd4c_wire_enter(wire, outer, "GraphProto", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    ND4C_TRY(parse_graph_field(model, graph, &inner, &field));
  }
  return ND4C_OK;
}
