/* Implements attribute.h. node.c calls it for each attribute of a node, onnx/function.c for the defaults of a
 * function. */
#include "import/onnx/file/attribute.h"

#include <inttypes.h>

#include "base/status.h"

/* Field numbers of AttributeProto. */
enum {
  FIELD_NAME = 1,
  FIELD_F = 2,
  FIELD_I = 3,
  FIELD_S = 4,
  FIELD_T = 5,
  FIELD_G = 6,
  FIELD_FLOATS = 7,
  FIELD_INTS = 8,
  FIELD_STRINGS = 9,
  FIELD_TENSORS = 10,
  FIELD_GRAPHS = 11,
  FIELD_TYPE_PROTO = 14,
  FIELD_TYPE_PROTOS = 15,
  FIELD_TYPE = 20,
  FIELD_REFERENCE = 21,
  FIELD_SPARSE_TENSOR = 22,
  FIELD_SPARSE_TENSORS = 23
};

/* Lists while they grow, and the type that the file declares. */
typedef struct attribute_lists {
  nd4c_region_list ints, floats, strings;
  int64_t declared;
} attribute_lists;

static nd4c_status parse_ints(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *field,
                              nd4c_region_list *ints) {
  nd4c_wire_list list;
  ND4C_TRY(nd4c_wire_list_open(wire, field, ND4C_WIRE_VARINT, &list));
  while (nd4c_wire_list_more(&list)) {
    uint64_t value = 0;
    int64_t *item = NULL;
    ND4C_TRY(nd4c_wire_list_next(&list, &value));
    ND4C_TRY(nd4c_region_append(&model->region, ints, sizeof *item, "integers of an attribute", &item));
    *item = (int64_t)value;
  }
  return ND4C_OK;
}

static nd4c_status parse_floats(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *field,
                                nd4c_region_list *floats) {
  nd4c_wire_list list;
  ND4C_TRY(nd4c_wire_list_open(wire, field, ND4C_WIRE_FIXED32, &list));
  while (nd4c_wire_list_more(&list)) {
    uint64_t value = 0;
    double *item = NULL;
    ND4C_TRY(nd4c_wire_list_next(&list, &value));
    uint32_t bits = (uint32_t)value;
    float number = 0;
    memcpy(&number, &bits, sizeof number);
    ND4C_TRY(nd4c_region_append(&model->region, floats, sizeof *item, "numbers of an attribute", &item));
    *item = number;
  }
  return ND4C_OK;
}

static nd4c_status parse_tensor(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *field,
                                bool is_sparse, nd4c_onnx_attribute *attribute) {
  nd4c_wire inner;
  nd4c_onnx_tensor *tensor = NULL;
  ND4C_TRY(nd4c_wire_enter(wire, field, is_sparse ? "SparseTensorProto" : "TensorProto", &inner));
  ND4C_TRY(nd4c_region_claim(&model->region, 1, sizeof *tensor, "a tensor attribute", &tensor));
  ND4C_TRY(is_sparse ? nd4c_onnx_sparse_parse(&inner, &model->files, tensor)
                     : nd4c_onnx_tensor_parse(&inner, &model->files, tensor));
  attribute->tensor = tensor;
  return ND4C_OK;
}

static nd4c_status parse_field(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *field,
                               nd4c_onnx_attribute *attribute, attribute_lists *lists) {
  nd4c_span *text = NULL;
  nd4c_onnx_attribute_type found = ND4C_ONNX_ATTR_UNDEFINED;
  switch (field->number) {
    case FIELD_NAME:
      return nd4c_wire_text(wire, field, &attribute->name);
    case FIELD_REFERENCE:
      return nd4c_wire_text(wire, field, &attribute->reference);
    case FIELD_TYPE:
      return nd4c_wire_int(wire, field, &lists->declared);
    case FIELD_F:
      found = ND4C_ONNX_ATTR_FLOAT;
      ND4C_TRY(nd4c_wire_float(wire, field, &attribute->f));
      break;
    case FIELD_I:
      found = ND4C_ONNX_ATTR_INT;
      ND4C_TRY(nd4c_wire_int(wire, field, &attribute->i));
      break;
    case FIELD_S:
      found = ND4C_ONNX_ATTR_STRING;
      ND4C_TRY(nd4c_wire_bytes(wire, field, &attribute->s));
      break;
    case FIELD_T:
      found = ND4C_ONNX_ATTR_TENSOR;
      ND4C_TRY(parse_tensor(model, wire, field, false, attribute));
      break;
    case FIELD_SPARSE_TENSOR:
      found = ND4C_ONNX_ATTR_TENSOR;
      ND4C_TRY(parse_tensor(model, wire, field, true, attribute));
      break;
    case FIELD_G:
      found = ND4C_ONNX_ATTR_GRAPH;
      ND4C_TRY(nd4c_region_claim(&model->region, 1, sizeof *attribute->graph, "a graph", &attribute->graph));
      ND4C_TRY(nd4c_onnx_graph_parse(model, wire, field, attribute->graph));
      break;
    case FIELD_FLOATS:
      found = ND4C_ONNX_ATTR_FLOATS;
      ND4C_TRY(parse_floats(model, wire, field, &lists->floats));
      break;
    case FIELD_INTS:
      found = ND4C_ONNX_ATTR_INTS;
      ND4C_TRY(parse_ints(model, wire, field, &lists->ints));
      break;
    case FIELD_STRINGS:
      found = ND4C_ONNX_ATTR_STRINGS;
      ND4C_TRY(nd4c_region_append(&model->region, &lists->strings, sizeof *text, "strings of an attribute", &text));
      ND4C_TRY(nd4c_wire_bytes(wire, field, text));
      break;
    case FIELD_TENSORS:
    case FIELD_GRAPHS:
    case FIELD_TYPE_PROTO:
    case FIELD_TYPE_PROTOS:
    case FIELD_SPARSE_TENSORS:
      found = ND4C_ONNX_ATTR_OTHER;
      break;
    default:
      return ND4C_OK;
  }
  /* Exporters write fields that the type does not use only with default values; the declared type decides below. */
  if (attribute->type == ND4C_ONNX_ATTR_UNDEFINED || (int64_t)found == lists->declared) {
    attribute->type = found;
  }
  return ND4C_OK;
}

/* Sets the type to the declared one. Files of IR version 1 declare none: the type of the field that was read stays. The
 * declaration is needed for empty lists, which have no field. */
static nd4c_status settle_type(const nd4c_wire_field *field, const attribute_lists *lists,
                               nd4c_onnx_attribute *attribute) {
  enum { SPARSE_TENSOR = 11 };
  int64_t declared = lists->declared == SPARSE_TENSOR ? ND4C_ONNX_ATTR_TENSOR : lists->declared;
  if (declared < 0 || declared > 14) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": attribute %s has type %" PRId64 ", expected 1 to 14",
                     field->offset, nd4c_span_show(attribute->name).text, declared);
  }
  if (declared != 0) {
    attribute->type = declared < ND4C_ONNX_ATTR_OTHER ? (nd4c_onnx_attribute_type)declared : ND4C_ONNX_ATTR_OTHER;
  }
  if (attribute->type == ND4C_ONNX_ATTR_TENSOR && attribute->tensor == NULL && attribute->reference.size == 0) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": attribute %s is a tensor, but holds none", field->offset,
                     nd4c_span_show(attribute->name).text);
  }
  if (attribute->type == ND4C_ONNX_ATTR_GRAPH && attribute->graph == NULL && attribute->reference.size == 0) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": attribute %s is a graph, but holds none", field->offset,
                     nd4c_span_show(attribute->name).text);
  }
  switch (attribute->type) {
    case ND4C_ONNX_ATTR_INTS:
      attribute->count = lists->ints.count;
      break;
    case ND4C_ONNX_ATTR_FLOATS:
      attribute->count = lists->floats.count;
      break;
    case ND4C_ONNX_ATTR_STRINGS:
      attribute->count = lists->strings.count;
      break;
    default:
      break;
  }
  attribute->ints = lists->ints.items;
  attribute->floats = lists->floats.items;
  attribute->strings = lists->strings.items;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_attribute_parse(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *field,
                                      nd4c_onnx_attribute *attribute) {
  nd4c_wire inner;
  attribute_lists lists = {0};
  ND4C_TRY(nd4c_wire_enter(wire, field, "AttributeProto", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field entry;
    ND4C_TRY(nd4c_wire_next(&inner, &entry));
    ND4C_TRY(parse_field(model, &inner, &entry, attribute, &lists));
  }
  if (attribute->name.size == 0) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": an attribute without a name", field->offset);
  }
  return settle_type(field, &lists, attribute);
}
