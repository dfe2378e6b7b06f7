/* Parses FunctionProto. onnx/model.c calls it for each function of a model. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/file/attribute.h"
#include "import/onnx/model.h"

enum {
  FIELD_NAME = 1,
  FIELD_INPUT = 4,
  FIELD_OUTPUT = 5,
  FIELD_NODE = 7,
  FIELD_OPSET = 9,
  FIELD_DOMAIN = 10,
  FIELD_DEFAULT = 11,
  FIELD_OVERLOAD = 13
};

/* An input or output: a name without a type. */
static nd4c_status add_port(nd4c_onnx_model *model, nd4c_onnx_graph *body, const nd4c_wire *wire,
                            const nd4c_wire_field *field, nd4c_region_list *list) {
  nd4c_onnx_value_info info = {.rank = -1, .offset = field->offset};
  nd4c_onnx_value_info *kept = NULL;
  ND4C_TRY(nd4c_wire_text(wire, field, &info.name));
  if (info.name.size == 0) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": a function's value without a name", field->offset);
  }
  ND4C_TRY(nd4c_onnx_names_intern(model, body, info.name, &info.value));
  ND4C_TRY(nd4c_region_append(&model->region, list, sizeof *kept, "a function's values", &kept));
  *kept = info;
  return ND4C_OK;
}

static nd4c_status parse_field(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *field,
                               nd4c_onnx_function *function) {
  nd4c_onnx_attribute *attribute = NULL;
  switch (field->number) {
    case FIELD_NAME:
      return nd4c_wire_text(wire, field, &function->name);
    case FIELD_OVERLOAD:
      return nd4c_wire_text(wire, field, &function->overload);
    case FIELD_DOMAIN:
      ND4C_TRY(nd4c_wire_text(wire, field, &function->domain));
      function->domain = nd4c_onnx_domain(function->domain);
      return ND4C_OK;
    case FIELD_INPUT:
      return add_port(model, &function->body, wire, field, &function->body.inputs);
    case FIELD_OUTPUT:
      return add_port(model, &function->body, wire, field, &function->body.outputs);
    case FIELD_NODE:
      return nd4c_onnx_node_parse(model, &function->body, wire, field);
    case FIELD_OPSET:
      return nd4c_onnx_opset_parse(model, wire, field, &function->opsets);
    case FIELD_DEFAULT:
      ND4C_TRY(nd4c_region_append(&model->region, &function->attributes, sizeof *attribute, "attributes", &attribute));
      *attribute = (nd4c_onnx_attribute){0};
      return nd4c_onnx_attribute_parse(model, wire, field, attribute);
    default:
      return ND4C_OK;
  }
}

nd4c_status nd4c_onnx_function_parse(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *outer) {
  nd4c_wire inner;
  nd4c_onnx_function function = {.offset = outer->offset, .body = {.offset = outer->offset}};
  nd4c_onnx_function *kept = NULL;
  ND4C_TRY(nd4c_wire_enter(wire, outer, "FunctionProto", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    ND4C_TRY(parse_field(model, &inner, &field, &function));
  }
  if (function.name.size == 0) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": a function without a name", outer->offset);
  }
  ND4C_TRY(nd4c_region_append(&model->region, &model->functions, sizeof *kept, "functions", &kept));
  *kept = function;
  return ND4C_OK;
}
