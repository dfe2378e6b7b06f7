/* Parses ModelProto, and runs all checks of the parsed model. import/model.c calls it when a model is opened. */
#include "import/onnx/model.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/status.h"

enum { MODEL_IR_VERSION = 1, MODEL_GRAPH = 7, MODEL_OPSET = 8, MODEL_FUNCTION = 25 };
enum { OPSET_DOMAIN = 1, OPSET_VERSION = 2, OPSETS_MOST = 256 };

/* The most bytes of parsed structures: more than any valid file of `size` bytes needs. */
static size_t region_limit(size_t size) {
  const size_t base = (size_t)16 << 20;
  const size_t cap = (size_t)4 << 30;
  return size > (cap - base) / 64 ? cap : base + 64 * size;
}

/* The last entry for a domain is the valid one. */
static nd4c_status add_opset(nd4c_onnx_model *model, nd4c_region_list *list, nd4c_span domain, int64_t version) {
  nd4c_onnx_opset *opsets = list->items;
  nd4c_onnx_opset *added = NULL;
  for (int32_t i = 0; i < list->count; i++) {
    if (nd4c_span_equal(opsets[i].domain, domain)) {
      opsets[i].version = version;
      return ND4C_OK;
    }
  }
  if (list->count == OPSETS_MOST) {
    return nd4c_fail(ND4C_FORMAT, "more than %d opset imports", (int)OPSETS_MOST);
  }
  ND4C_TRY(nd4c_region_append(&model->region, list, sizeof *added, "opsets", &added));
  *added = (nd4c_onnx_opset){domain, version};
  return ND4C_OK;
}

nd4c_status nd4c_onnx_opset_parse(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *outer,
                                  nd4c_region_list *opsets) {
  nd4c_wire inner;
  nd4c_span domain = {0};
  int64_t version = 0;
  ND4C_TRY(nd4c_wire_enter(wire, outer, "OperatorSetIdProto", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    if (field.number == OPSET_DOMAIN) {
      ND4C_TRY(nd4c_wire_text(&inner, &field, &domain));
    } else if (field.number == OPSET_VERSION) {
      ND4C_TRY(nd4c_wire_int(&inner, &field, &version));
    }
  }
  if (version < 1) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": opset %" PRId64 ", expected 1 or more", outer->offset, version);
  }
  return add_opset(model, opsets, nd4c_onnx_domain(domain), version);
}

static nd4c_status parse_fields(nd4c_onnx_model *model, bool *has_graph) {
  nd4c_wire wire = nd4c_wire_open(model->files.blob->bytes, "ModelProto");
  while (nd4c_wire_more(&wire)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&wire, &field));
    if (field.number == MODEL_IR_VERSION) {
      ND4C_TRY(nd4c_wire_int(&wire, &field, &model->ir_version));
    } else if (field.number == MODEL_OPSET) {
      ND4C_TRY(nd4c_onnx_opset_parse(model, &wire, &field, &model->opsets));
    } else if (field.number == MODEL_FUNCTION) {
      ND4C_TRY(nd4c_onnx_function_parse(model, &wire, &field));
    } else if (field.number == MODEL_GRAPH) {
      if (*has_graph) {
        return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": a second graph; expected one", field.offset);
      }
      *has_graph = true;
      ND4C_TRY(nd4c_onnx_graph_parse(model, &wire, &field, &model->graph));
    }
  }
  return ND4C_OK;
}

static nd4c_status parse_model(nd4c_onnx_model *model, const nd4c_onnx_overrides *overrides) {
  bool has_graph = false;
  nd4c_status status = parse_fields(model, &has_graph);
  if (status == ND4C_FORMAT && model->ir_version == 0 && !has_graph) { /* writers put ir_version first */
    return nd4c_fail_prefix(status, "not an ONNX model");
  }
  ND4C_TRY(status);
  if (!has_graph) {
    return nd4c_fail(ND4C_FORMAT, "no graph in %zu bytes; expected an ONNX ModelProto", model->files.blob->bytes.size);
  }
  ND4C_TRY(nd4c_onnx_functions_sort(model));
  ND4C_TRY(nd4c_onnx_model_check(model, overrides));
  ND4C_TRY(nd4c_onnx_model_check_ops(model));
  ND4C_TRY(nd4c_onnx_model_check_maps(model));
  return nd4c_onnx_model_check_calls(model);
}

nd4c_status nd4c_onnx_model_parse(nd4c_blob *blob, const char *directory, const nd4c_onnx_overrides *overrides,
                                  nd4c_onnx_model *model) {
  *model = (nd4c_onnx_model){.region = {.limit = region_limit(blob->bytes.size)}};
  model->files = (nd4c_onnx_files){.region = &model->region, .blob = blob};
  nd4c_status status = ND4C_OK;
  if (directory != NULL) {
    char *copy = NULL;
    status = nd4c_region_claim(&model->region, strlen(directory) + 1, 1, "a path", &copy);
    if (status == ND4C_OK) {
      memcpy(copy, directory, strlen(directory) + 1);
      model->files.directory = copy;
    }
  }
  if (status == ND4C_OK) {
    status = parse_model(model, overrides);
  }
  if (status != ND4C_OK) {
    nd4c_onnx_model_free(model);
  }
  return status;
}

void nd4c_onnx_model_free(nd4c_onnx_model *model) {
  nd4c_onnx_files_close(&model->files);
  nd4c_blob_release(model->files.blob);
  nd4c_region_free(&model->region);
  *model = (nd4c_onnx_model){0};
}
