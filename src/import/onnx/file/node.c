/* Parses NodeProto: graph.c calls it for the nodes of graphs, onnx/function.c for those of functions. Also names nodes
 * in error texts. */
#include <inttypes.h>
#include <stdio.h>

#include "base/status.h"
#include "import/onnx/file/attribute.h"
#include "import/onnx/model.h"

enum {
  FIELD_INPUT = 1,
  FIELD_OUTPUT = 2,
  FIELD_NAME = 3,
  FIELD_OP_TYPE = 4,
  FIELD_ATTRIBUTE = 5,
  FIELD_DOMAIN = 7,
  FIELD_OVERLOAD = 8
};

/* Lists of the node while they grow. */
typedef struct node_lists {
  nd4c_region_list inputs, outputs, attributes;
} node_lists;

static nd4c_status add_value(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_wire *wire,
                             const nd4c_wire_field *field, nd4c_region_list *list) {
  nd4c_span name;
  int32_t *number = NULL;
  ND4C_TRY(nd4c_wire_text(wire, field, &name));
  ND4C_TRY(nd4c_region_append(&model->region, list, sizeof *number, "a node's values", &number));
  *number = ND4C_ONNX_NONE;
  return name.size == 0 ? ND4C_OK : nd4c_onnx_names_intern(model, graph, name, number);
}

static nd4c_status parse_field(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_wire *wire,
                               const nd4c_wire_field *field, nd4c_onnx_node *node, node_lists *lists) {
  nd4c_onnx_attribute *attribute = NULL;
  switch (field->number) {
    case FIELD_INPUT:
      return add_value(model, graph, wire, field, &lists->inputs);
    case FIELD_OUTPUT:
      return add_value(model, graph, wire, field, &lists->outputs);
    case FIELD_NAME:
      return nd4c_wire_text(wire, field, &node->name);
    case FIELD_OP_TYPE:
      return nd4c_wire_text(wire, field, &node->op);
    case FIELD_OVERLOAD:
      return nd4c_wire_text(wire, field, &node->overload);
    case FIELD_DOMAIN:
      ND4C_TRY(nd4c_wire_text(wire, field, &node->domain));
      node->domain = nd4c_onnx_domain(node->domain);
      return ND4C_OK;
    case FIELD_ATTRIBUTE:
      ND4C_TRY(nd4c_region_append(&model->region, &lists->attributes, sizeof *attribute, "attributes", &attribute));
      return nd4c_onnx_attribute_parse(model, wire, field, attribute);
    default:
      return ND4C_OK;
  }
}

static nd4c_status check_attributes(const nd4c_onnx_node *node) {
  enum { LIMIT = 256 }; /* keeps the comparison of all pairs cheap */
  if (node->attribute_count > LIMIT) {
    return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 " has %d attributes; expected at most %d",
                     nd4c_onnx_node_show(node).text, node->offset, (int)node->attribute_count, (int)LIMIT);
  }
  for (int32_t i = 0; i < node->attribute_count; i++) {
    for (int32_t j = 0; j < i; j++) {
      if (nd4c_span_equal(node->attributes[i].name, node->attributes[j].name)) {
        return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 " has attribute %s twice", nd4c_onnx_node_show(node).text,
                         node->offset, nd4c_span_show(node->attributes[i].name).text);
      }
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_node_parse(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_wire *wire,
                                 const nd4c_wire_field *field) {
  nd4c_wire inner;
  nd4c_onnx_node node = {.offset = field->offset, .number = graph->nodes.count};
  node_lists lists = {0};
  ND4C_TRY(nd4c_wire_enter(wire, field, "NodeProto", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field entry;
    ND4C_TRY(nd4c_wire_next(&inner, &entry));
    ND4C_TRY(parse_field(model, graph, &inner, &entry, &node, &lists));
  }
  if (node.op.size == 0) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": node %s without an op type", field->offset,
                     nd4c_span_show(node.name).text);
  }
  node.inputs = lists.inputs.items;
  node.input_count = lists.inputs.count;
  node.outputs = lists.outputs.items;
  node.output_count = lists.outputs.count;
  node.attributes = lists.attributes.items;
  node.attribute_count = lists.attributes.count;
  nd4c_onnx_node *kept = NULL;
  ND4C_TRY(nd4c_region_append(&model->region, &graph->nodes, sizeof *kept, "nodes", &kept));
  *kept = node;
  return check_attributes(kept);
}

nd4c_onnx_node_text nd4c_onnx_node_show(const nd4c_onnx_node *node) {
  nd4c_onnx_node_text shown;
  nd4c_span_text op = nd4c_span_show(node->op);
  size_t length = strlen(op.text);
  /* Removes the quotes around the op: node 'conv_1' (Conv). */
  if (node->name.size > 0) {
    (void)snprintf(shown.text, sizeof shown.text, "node %s (%.*s)", nd4c_span_show(node->name).text, (int)length - 2,
                   op.text + 1);
  } else {
    (void)snprintf(shown.text, sizeof shown.text, "node %d (%.*s)", (int)node->number, (int)length - 2, op.text + 1);
  }
  return shown;
}
