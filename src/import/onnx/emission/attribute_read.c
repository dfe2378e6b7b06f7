/* Implements the attribute functions of emission.h. The emit functions of import/onnx/ops read a node's attributes with
 * them. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/importer.h"

static const nd4c_onnx_attribute *find_named(const nd4c_onnx_attribute *attributes, int32_t count, nd4c_span name) {
  for (int32_t i = 0; i < count; i++) {
    if (nd4c_span_equal(attributes[i].name, name)) {
      return &attributes[i];
    }
  }
  return NULL;
}

const nd4c_onnx_attribute *nd4c_onnx_attribute_resolve(const nd4c_onnx_scope *scope,
                                                       const nd4c_onnx_attribute *attribute) {
  while (attribute != NULL && attribute->reference.size > 0) {
    const nd4c_onnx_call *call = scope->call;
    if (call == NULL) {
      return NULL;
    }
    nd4c_span name = attribute->reference;
    attribute = find_named(call->node->attributes, call->node->attribute_count, name);
    if (attribute == NULL) {
      const nd4c_region_list *defaults = &call->function->attributes;
      return find_named(defaults->items, defaults->count, name);
    }
    scope = call->scope;
  }
  return attribute;
}

const nd4c_onnx_attribute *nd4c_onnx_attribute_find(nd4c_onnx_emission *emission, const char *name) {
  const nd4c_onnx_node *node = emission->node;
  for (int32_t i = 0; i < node->attribute_count; i++) {
    if (nd4c_span_is(node->attributes[i].name, name)) {
      emission->used[i / 64] |= UINT64_C(1) << (i % 64);
      return nd4c_onnx_attribute_resolve(emission->scope, &node->attributes[i]);
    }
  }
  return NULL;
}

void nd4c_onnx_ignore(nd4c_onnx_emission *emission, const char *name) {
  (void)nd4c_onnx_attribute_find(emission, name);
}

static nd4c_status find_typed(nd4c_onnx_emission *emission, const char *name, nd4c_onnx_attribute_type type,
                              const nd4c_onnx_attribute **attribute) {
  static const char *const names[] = {"undefined", "float",  "int",  "string",  "tensor",
                                      "graph",     "floats", "ints", "strings", "another"};
  *attribute = nd4c_onnx_attribute_find(emission, name);
  if (*attribute == NULL) {
    return ND4C_OK;
  }
  if ((*attribute)->type != type) {
    return nd4c_fail(ND4C_FORMAT, "attribute %s is of type %s, expected %s", name, names[(*attribute)->type],
                     names[type]);
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_get_int(nd4c_onnx_emission *emission, const char *name, int64_t preset, int64_t *value) {
  const nd4c_onnx_attribute *attribute = NULL;
  ND4C_TRY(find_typed(emission, name, ND4C_ONNX_ATTR_INT, &attribute));
  *value = attribute == NULL ? preset : attribute->i;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_get_float(nd4c_onnx_emission *emission, const char *name, double preset, double *value) {
  const nd4c_onnx_attribute *attribute = NULL;
  ND4C_TRY(find_typed(emission, name, ND4C_ONNX_ATTR_FLOAT, &attribute));
  *value = attribute == NULL ? preset : (double)attribute->f;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_get_text(nd4c_onnx_emission *emission, const char *name, const char *preset, nd4c_span *value) {
  const nd4c_onnx_attribute *attribute = NULL;
  ND4C_TRY(find_typed(emission, name, ND4C_ONNX_ATTR_STRING, &attribute));
  *value = attribute == NULL ? nd4c_span_of_text(preset) : attribute->s;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_get_ints(nd4c_onnx_emission *emission, const char *name, const int64_t **values, int32_t *count) {
  static const int64_t nothing;
  const nd4c_onnx_attribute *attribute = NULL;
  ND4C_TRY(find_typed(emission, name, ND4C_ONNX_ATTR_INTS, &attribute));
  *values = attribute == NULL ? NULL : attribute->count > 0 ? attribute->ints : &nothing;
  *count = attribute == NULL ? 0 : attribute->count;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_get_floats(nd4c_onnx_emission *emission, const char *name, const double **values,
                                 int32_t *count) {
  static const double nothing;
  const nd4c_onnx_attribute *attribute = NULL;
  ND4C_TRY(find_typed(emission, name, ND4C_ONNX_ATTR_FLOATS, &attribute));
  *values = attribute == NULL ? NULL : attribute->count > 0 ? attribute->floats : &nothing;
  *count = attribute == NULL ? 0 : attribute->count;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_get_strings(nd4c_onnx_emission *emission, const char *name, const nd4c_span **values,
                                  int32_t *count) {
  static const nd4c_span nothing;
  const nd4c_onnx_attribute *attribute = NULL;
  ND4C_TRY(find_typed(emission, name, ND4C_ONNX_ATTR_STRINGS, &attribute));
  *values = attribute == NULL ? NULL : attribute->count > 0 ? attribute->strings : &nothing;
  *count = attribute == NULL ? 0 : attribute->count;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_get_tensor(nd4c_onnx_emission *emission, const char *name, const nd4c_onnx_tensor **tensor) {
  const nd4c_onnx_attribute *attribute = NULL;
  ND4C_TRY(find_typed(emission, name, ND4C_ONNX_ATTR_TENSOR, &attribute));
  *tensor = attribute == NULL ? NULL : attribute->tensor;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_get_graph(nd4c_onnx_emission *emission, const char *name, const nd4c_onnx_graph **graph) {
  const nd4c_onnx_attribute *attribute = NULL;
  ND4C_TRY(find_typed(emission, name, ND4C_ONNX_ATTR_GRAPH, &attribute));
  if (attribute == NULL || attribute->graph == NULL) {
    return nd4c_fail(ND4C_FORMAT, "attribute '%s', a graph, is missing", name);
  }
  *graph = attribute->graph;
  if ((*graph)->outer != emission->scope->graph) {
    return nd4c_fail(ND4C_UNSUPPORTED, "attribute '%s': a graph given to a function", name);
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_get_axes(nd4c_onnx_emission *emission, int64_t input_since, int32_t index, int64_t *axes,
                               int32_t *count, bool *given) {
  *count = 0;
  if (emission->opset >= input_since) {
    nd4c_onnx_operand operand = nd4c_onnx_input(emission, index);
    *given = operand != ND4C_ONNX_OPERAND_NONE;
    return *given ? nd4c_onnx_read_ints(emission, operand, "axes", ND4C_MAX_RANK, axes, count) : ND4C_OK;
  }
  const int64_t *values = NULL;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "axes", &values, count));
  *given = values != NULL;
  if (*count > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_FORMAT, "%d axes; expected at most %d", (int)*count, ND4C_MAX_RANK);
  }
  if (*given) {
    memcpy(axes, values, (size_t)*count * sizeof *axes);
  }
  return ND4C_OK;
}
