/* What a model's file says about itself, as metadata of its graph. import/model_graph.c calls it. Nothing of this is
 * parsed when a model is opened, because few programs ask for it. */
#include "import/onnx/notes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

enum { PAIRS = 14, PAIR_KEY = 1, PAIR_VALUE = 2, GRAPH = 7, GRAPH_NAME = 2 };

/* Texts of ModelProto, by field. */
static const struct {
  uint32_t field;
  const char *key;
} texts[] = {{2, "onnx.producer_name"}, {3, "onnx.producer_version"}, {4, "onnx.domain"}, {6, "onnx.doc_string"}};

static bool fits(nd4c_span text, size_t most) {
  return text.size <= most && nd4c_span_is_text(text) && memchr(text.bytes, 0, text.size) == NULL;
}

static char *terminated(nd4c_span text) {
  char *copy = nd4c_allocate(text.size + 1);
  if (copy != NULL) {
    memcpy(copy, text.bytes, text.size);
    copy[text.size] = '\0';
  }
  return copy;
}

/* A pair that the limits of metadata do not allow is left out: it must not keep a model from being looked at. */
static nd4c_status set(nd4c_graph *graph, nd4c_span key, nd4c_span value) {
  if (key.size == 0 || !fits(key, ND4C_METADATA_KEY) || !fits(value, ND4C_METADATA_VALUE) ||
      nd4c_graph_metadata_count(graph, ND4C_GRAPH_ITSELF) >= ND4C_METADATA_COUNT) {
    return ND4C_OK;
  }
  char *key_text = terminated(key), *value_text = terminated(value);
  const nd4c_status status = key_text == NULL || value_text == NULL
                                 ? nd4c_fail_memory("metadata", key.size + value.size)
                                 : nd4c_graph_set_metadata(graph, ND4C_GRAPH_ITSELF, key_text, value_text);
  nd4c_deallocate(key_text);
  nd4c_deallocate(value_text);
  return status;
}

static nd4c_status set_pair(const nd4c_wire *wire, const nd4c_wire_field *outer, nd4c_graph *graph) {
  nd4c_wire inner;
  nd4c_span key = {0}, value = {0};
  ND4C_TRY(nd4c_wire_enter(wire, outer, "StringStringEntryProto", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    if (field.number == PAIR_KEY) {
      ND4C_TRY(nd4c_wire_bytes(&inner, &field, &key));
    } else if (field.number == PAIR_VALUE) {
      ND4C_TRY(nd4c_wire_bytes(&inner, &field, &value));
    }
  }
  return set(graph, key, value);
}

static nd4c_status set_graph_name(const nd4c_wire *wire, const nd4c_wire_field *outer, nd4c_graph *graph) {
  nd4c_wire inner;
  ND4C_TRY(nd4c_wire_enter(wire, outer, "GraphProto", &inner));
  while (nd4c_wire_more(&inner)) {
    nd4c_wire_field field;
    nd4c_span name = {0};
    ND4C_TRY(nd4c_wire_next(&inner, &field));
    if (field.number == GRAPH_NAME) {
      ND4C_TRY(nd4c_wire_bytes(&inner, &field, &name));
      ND4C_TRY(set(graph, nd4c_span_of_text("onnx.graph_name"), name));
    }
  }
  return ND4C_OK;
}

static nd4c_status set_text(const nd4c_wire *wire, const nd4c_wire_field *field, nd4c_graph *graph) {
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    nd4c_span value = {0};
    if (texts[i].field == field->number) {
      ND4C_TRY(nd4c_wire_bytes(wire, field, &value));
      return value.size == 0 ? ND4C_OK : set(graph, nd4c_span_of_text(texts[i].key), value);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_notes(const nd4c_onnx_model *model, nd4c_graph *graph) {
  nd4c_wire wire = nd4c_wire_open(model->files.blob->bytes, "ModelProto");
  while (nd4c_wire_more(&wire)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&wire, &field));
    ND4C_TRY(field.number == PAIRS   ? set_pair(&wire, &field, graph)
             : field.number == GRAPH ? set_graph_name(&wire, &field, graph)
                                     : set_text(&wire, &field, graph));
  }
  return ND4C_OK;
}
