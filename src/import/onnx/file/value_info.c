/* Parses ValueInfoProto, TypeProto and TensorShapeProto. graph.c calls it for inputs, outputs and intermediate
 * values. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/model.h"

enum {
  VALUE_NAME = 1,
  VALUE_TYPE = 2,
  TYPE_TENSOR = 1,
  TYPE_SEQUENCE = 4,
  TYPE_OPTIONAL = 9,
  INNER_TYPE = 1,
  TENSOR_TYPE = 1,
  TENSOR_SHAPE = 2,
  SHAPE_DIM = 1
};
enum { DIM_VALUE = 1, DIM_SYMBOL = 2 };

/* Extents while they are read. */
typedef struct found_shape {
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
  nd4c_span symbols[ND4C_MAX_RANK];
} found_shape;

static nd4c_status parse_dim(const nd4c_wire *wire, const nd4c_wire_field *outer, found_shape *found) {
  nd4c_wire inner;
  ND4C_TRY(nd4c_wire_enter(wire, outer, "Dimension", &inner));
  if (found->rank == ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": a shape of more than %d dimensions", outer->offset, ND4C_MAX_RANK);
  }
  int64_t extent = -1;
  nd4c_span symbol = {0};
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    if (field.number == DIM_VALUE) {
      ND4C_TRY(nd4c_wire_int(&inner, &field, &extent));
      /* Old exporters write 0 or -1 for "any". A real extent of 0 looks the same, so it is read as "any", too. */
      extent = extent <= 0 ? -1 : extent;
    } else if (field.number == DIM_SYMBOL) {
      ND4C_TRY(nd4c_wire_text(&inner, &field, &symbol));
    }
  }
  found->shape[found->rank] = extent;
  found->symbols[found->rank++] = extent >= 0 ? (nd4c_span){0} : symbol;
  return ND4C_OK;
}

static nd4c_status parse_shape(const nd4c_wire *wire, const nd4c_wire_field *outer, found_shape *found) {
  nd4c_wire inner;
  ND4C_TRY(nd4c_wire_enter(wire, outer, "TensorShapeProto", &inner));
  found->rank = 0;
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    if (field.number == SHAPE_DIM) {
      ND4C_TRY(parse_dim(&inner, &field, found));
    }
  }
  return ND4C_OK;
}

static nd4c_status parse_tensor_type(const nd4c_wire *wire, const nd4c_wire_field *outer, nd4c_onnx_value_info *info,
                                     found_shape *found) {
  nd4c_wire inner;
  ND4C_TRY(nd4c_wire_enter(wire, outer, "TypeProto.Tensor", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    if (field.number == TENSOR_TYPE) {
      ND4C_TRY(nd4c_wire_int(&inner, &field, &info->type));
    } else if (field.number == TENSOR_SHAPE) {
      ND4C_TRY(parse_shape(&inner, &field, found));
    }
  }
  return ND4C_OK;
}

static nd4c_status parse_type(const nd4c_wire *wire, const nd4c_wire_field *outer, nd4c_onnx_value_info *info,
                              found_shape *found);

/* TypeProto.Sequence or TypeProto.Optional: the type inside. */
static nd4c_status parse_inner_type(const nd4c_wire *wire, const nd4c_wire_field *outer, nd4c_onnx_value_info *info,
                                    found_shape *found) {
  nd4c_wire inner;
  ND4C_TRY(nd4c_wire_enter(wire, outer, "TypeProto.Sequence", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    if (field.number == INNER_TYPE) {
      ND4C_TRY(parse_type(&inner, &field, info, found));
    }
  }
  return ND4C_OK;
}

static nd4c_status add_kind(const nd4c_wire_field *field, nd4c_onnx_kind kind, nd4c_onnx_value_info *info) {
  if (info->kind_count == ND4C_ONNX_KINDS) {
    return nd4c_fail(ND4C_UNSUPPORTED, "byte %" PRIu64 ": a type more than %d deep", field->offset,
                     (int)ND4C_ONNX_KINDS);
  }
  info->kinds[info->kind_count++] = kind;
  return ND4C_OK;
}

static nd4c_status parse_type(const nd4c_wire *wire, const nd4c_wire_field *outer, nd4c_onnx_value_info *info,
                              found_shape *found) {
  nd4c_wire inner;
  ND4C_TRY(nd4c_wire_enter(wire, outer, "TypeProto", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    if (field.number == TYPE_TENSOR) {
      ND4C_TRY(add_kind(&field, ND4C_ONNX_KIND_ARRAY, info));
      ND4C_TRY(parse_tensor_type(&inner, &field, info, found));
    } else if (field.number == TYPE_SEQUENCE || field.number == TYPE_OPTIONAL) {
      bool is_sequence = field.number == TYPE_SEQUENCE;
      ND4C_TRY(add_kind(&field, is_sequence ? ND4C_ONNX_KIND_SEQUENCE : ND4C_ONNX_KIND_OPTIONAL, info));
      ND4C_TRY(parse_inner_type(&inner, &field, info, found));
    }
  }
  return ND4C_OK;
}

static nd4c_status keep_shape(nd4c_onnx_model *model, const found_shape *found, nd4c_onnx_value_info *info) {
  info->rank = found->rank;
  if (found->rank <= 0) {
    return ND4C_OK;
  }
  size_t rank = (size_t)found->rank;
  int64_t *shape = NULL;
  nd4c_span *symbols = NULL;
  ND4C_TRY(nd4c_region_claim(&model->region, rank, sizeof *shape, "a declared shape", &shape));
  ND4C_TRY(nd4c_region_claim(&model->region, rank, sizeof *symbols, "a declared shape", &symbols));
  memcpy(shape, found->shape, rank * sizeof *shape);
  memcpy(symbols, found->symbols, rank * sizeof *symbols);
  info->shape = shape;
  info->symbols = symbols;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_value_info_parse(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_wire *wire,
                                       const nd4c_wire_field *outer, nd4c_region_list *list) {
  nd4c_wire inner;
  found_shape found = {.rank = -1};
  nd4c_onnx_value_info info = {.offset = outer->offset, .value = ND4C_ONNX_NONE};
  ND4C_TRY(nd4c_wire_enter(wire, outer, "ValueInfoProto", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    if (field.number == VALUE_NAME) {
      ND4C_TRY(nd4c_wire_text(&inner, &field, &info.name));
    } else if (field.number == VALUE_TYPE) {
      ND4C_TRY(parse_type(&inner, &field, &info, &found));
    }
  }
  if (info.name.size == 0) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": a value without a name", outer->offset);
  }
  if (info.kind_count > 0 && info.kinds[info.kind_count - 1] != ND4C_ONNX_KIND_ARRAY) {
    info.kind_count = 0; /* its elements are of a kind that nd4c lacks */
  }
  ND4C_TRY(nd4c_onnx_names_intern(model, graph, info.name, &info.value));
  ND4C_TRY(keep_shape(model, &found, &info));
  nd4c_onnx_value_info *kept = NULL;
  ND4C_TRY(nd4c_region_append(&model->region, list, sizeof *kept, "declared values", &kept));
  *kept = info;
  return ND4C_OK;
}
