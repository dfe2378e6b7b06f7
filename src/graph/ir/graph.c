/* The builder of graphs (nd4c/graph.h): checks each op and infers its outputs when it is recorded. Programs, the
 * importer and the emitters of this folder call it. */
#include "graph/ir/graph.h"

#include <string.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "graph/ir/control.h"
#include "graph/ir/derived.h"
#include "graph/ir/variables.h"

enum { GRAPH_MAGIC = 0x67726170, GRAPH_DEAD = 0x67646561, LABEL_SHOWN = 200 };

nd4c_status nd4c_graph_check(const nd4c_graph *graph) {
  if (graph == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "graph is NULL");
  }
  if (graph->magic != GRAPH_MAGIC) {
    return nd4c_fail(ND4C_HANDLE, "graph %p is not a graph, or was destroyed", (const void *)graph);
  }
  return ND4C_OK;
}

nd4c_status nd4c_graph_check_value(const nd4c_graph *graph, nd4c_value value, const char *what) {
  if (value < 0 || value >= graph->value_count) {
    return nd4c_fail(ND4C_INDEX, "%s: value %d is not one of the graph's %d values", what, value, graph->value_count);
  }
  return ND4C_OK;
}

nd4c_status nd4c_graph_create(nd4c_graph **graph) {
  if (graph == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_create: graph is NULL");
  }
  nd4c_graph *created = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *created, "a graph", &created));
  created->magic = GRAPH_MAGIC;
  *graph = created;
  return ND4C_OK;
}

static void free_table(void *table, int32_t capacity, int32_t recycled, size_t size) {
  if (recycled > 0 && capacity == recycled) {
    nd4c_recycle_give(table, (size_t)capacity * size);
  } else {
    nd4c_deallocate(table);
  }
}

void nd4c_graph_destroy(nd4c_graph *graph) {
  if (graph == NULL || graph->magic != GRAPH_MAGIC) {
    return;
  }
  for (int32_t i = 0; i < graph->value_count; i++) {
    if (graph->values[i].derived) {
      nd4c_derived_drop(graph->values[i].constant);
    }
    nd4c_array_release(graph->values[i].constant);
  }
  for (int32_t i = 0; i < graph->held_count; i++) {
    nd4c_array_release(graph->held[i]);
  }
  for (int32_t i = 0; i < graph->control_count; i++) {
    nd4c_control_release(graph->controls[i]);
  }
  nd4c_deallocate(graph->controls);
  nd4c_ports_free(&graph->inputs);
  nd4c_ports_free(&graph->outputs);
  nd4c_variables_free(graph);
  nd4c_scopes_free(graph->scopes);
  free_table(graph->values, graph->value_capacity, graph->recycled_values, sizeof *graph->values);
  free_table(graph->nodes, graph->node_capacity, graph->recycled_nodes, sizeof *graph->nodes);
  nd4c_deallocate(graph->held);
  nd4c_extents_destroy(graph->extents);
  nd4c_region_free(&graph->region);
  graph->magic = GRAPH_DEAD;
  nd4c_deallocate(graph);
}

nd4c_status nd4c_graph_add_value(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                                 nd4c_value *value) {
  int64_t size = 0;
  ND4C_TRY(nd4c_extents_size(graph->extents, dtype, rank, shape, &size));
  ND4C_TRY(nd4c_grow(&graph->values, &graph->value_capacity, graph->value_count + 1, sizeof *graph->values,
                     "values of a graph"));
  const int64_t *copy = nd4c_region_copy(&graph->region, shape, rank, sizeof *shape);
  if (copy == NULL) {
    return nd4c_error_code();
  }
  graph->values[graph->value_count] = (nd4c_graph_value){
      .dtype = dtype, .rank = rank, .size = size, .shape = copy, .input = -1, .variable = -1, .producer = -1};
  *value = graph->value_count;
  graph->value_count++;
  return ND4C_OK;
}

nd4c_status nd4c_graph_input(nd4c_graph *graph, const char *name, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                             nd4c_value *value) {
  ND4C_TRY(nd4c_graph_check(graph));
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  if (value == NULL || (rank > 0 && shape == NULL)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_input: %s is NULL", value == NULL ? "value" : "shape");
  }
  if (info == NULL || !info->available) {
    return nd4c_fail(ND4C_DTYPE, "graph: input '%s': dtype %d is not in this build", name == NULL ? "" : name, dtype);
  }
  if (name != NULL && nd4c_ports_find(&graph->variables, name) >= 0) {
    return nd4c_fail(ND4C_NAME, "graph: there is already a variable named '%.*s'", LABEL_SHOWN, name);
  }
  nd4c_value added = ND4C_VALUE_NONE;
  nd4c_status status = nd4c_graph_add_value(graph, dtype, rank, shape, &added);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "graph: input '%.*s'", LABEL_SHOWN, name == NULL ? "" : name);
  }
  status = nd4c_ports_add(&graph->inputs, &graph->region, "input", name, added);
  if (status != ND4C_OK) {
    graph->value_count--;
    return status;
  }
  graph->values[added].input = graph->inputs.count - 1;
  *value = added;
  return ND4C_OK;
}

nd4c_status nd4c_graph_add_constant(nd4c_graph *graph, nd4c_array *array, nd4c_value *value) {
  nd4c_value added = ND4C_VALUE_NONE;
  ND4C_TRY(nd4c_graph_add_value(graph, array->dtype, array->rank, array->shape, &added));
  graph->values[added].constant = nd4c_array_retain(array);
  *value = added;
  return ND4C_OK;
}

/* The graph's own handle of the same elements. The caller's may be donated to a run, which takes its storage out of it
 * (runner.c), while plans have the address of the contents. */
static nd4c_status make_own(const nd4c_array *array, nd4c_array **own) {
  return nd4c_array_view(array, array->rank, array->shape, array->strides, array->offset, own);
}

nd4c_status nd4c_graph_constant(nd4c_graph *graph, nd4c_array *array, nd4c_value *value) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (value == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_constant: value is NULL");
  }
  nd4c_array *own = NULL;
  ND4C_TRY(nd4c_array_check(array, "array"));
  ND4C_TRY(make_own(array, &own));
  const nd4c_status status = nd4c_graph_add_constant(graph, own, value);
  nd4c_array_release(own);
  return status;
}

nd4c_status nd4c_graph_output(nd4c_graph *graph, const char *name, nd4c_value value) {
  ND4C_TRY(nd4c_graph_check(graph));
  ND4C_TRY(nd4c_graph_check_value(graph, value, "nd4c_graph_output"));
  return nd4c_ports_add(&graph->outputs, &graph->region, "output", name, value);
}

/* -- recording ops ---------------------------------------------------------------------------------------------- */

void nd4c_graph_describe(const nd4c_graph *graph, nd4c_value value, nd4c_tensor *tensor) {
  *tensor = (nd4c_tensor){.dtype = ND4C_DTYPE_NONE};
  if (value >= 0) {
    const nd4c_graph_value *info = &graph->values[value];
    tensor->dtype = info->dtype;
    tensor->rank = info->rank;
    tensor->shape = info->shape;
    tensor->size = info->size;
    tensor->flags = info->constant != NULL ? ND4C_TENSOR_CONSTANT | ND4C_TENSOR_READ_ONLY : 0;
  }
}

nd4c_status nd4c_graph_infer(const nd4c_graph *graph, const nd4c_op_def *def, const nd4c_value *inputs,
                             int32_t input_count, const nd4c_attr_value *attrs, nd4c_inferred *outputs) {
  enum { FEW = 8 };
  nd4c_tensor few[FEW];
  nd4c_tensor *tensors = few;
  if (input_count > FEW) {
    tensors = nd4c_allocate((size_t)input_count * sizeof *tensors);
    if (tensors == NULL) {
      return nd4c_fail_memory("inputs of an op", (size_t)input_count * sizeof *tensors);
    }
  }
  for (int32_t i = 0; i < input_count; i++) {
    nd4c_graph_describe(graph, inputs[i], &tensors[i]);
  }
  nd4c_inference inference = {.op = &def->info,
                              .input_count = input_count,
                              .inputs = tensors,
                              .attrs = attrs,
                              .outputs = outputs,
                              .extents = graph->extents};
  nd4c_status status = nd4c_op_infer(def, &inference);
  if (tensors != few) {
    nd4c_deallocate(tensors);
  }
  return status;
}

static nd4c_status hold_array(nd4c_graph *graph, nd4c_array **array) {
  ND4C_TRY(nd4c_array_check(*array, "attribute"));
  ND4C_TRY(nd4c_grow(&graph->held, &graph->held_capacity, graph->held_count + 1, sizeof *graph->held,
                     "attributes of a graph"));
  ND4C_TRY(make_own(*array, array));
  graph->held[graph->held_count++] = *array;
  return ND4C_OK;
}

static nd4c_status copy_strings(nd4c_graph *graph, nd4c_attr_value *value) {
  const char **texts = NULL;
  ND4C_TRY(nd4c_region_make(&graph->region, value->count, sizeof *texts, &texts));
  for (int32_t i = 0; i < value->count; i++) {
    texts[i] = nd4c_region_text(&graph->region, value->as.strings[i]);
    if (texts[i] == NULL && value->as.strings[i] != NULL) {
      return nd4c_error_code();
    }
  }
  value->as.strings = texts;
  return ND4C_OK;
}

static nd4c_status copy_attr(nd4c_graph *graph, nd4c_attr_value *value) {
  switch (value->kind) {
    case ND4C_ATTR_INTS:
      if (value->as.ints == NULL) {
        return ND4C_OK; /* omitted, unlike an empty list */
      }
      value->as.ints = nd4c_region_copy(&graph->region, value->as.ints, value->count, sizeof *value->as.ints);
      return value->as.ints != NULL ? ND4C_OK : nd4c_error_code();
    case ND4C_ATTR_FLOATS:
      value->as.floats = nd4c_region_copy(&graph->region, value->as.floats, value->count, sizeof *value->as.floats);
      return value->as.floats != NULL ? ND4C_OK : nd4c_error_code();
    case ND4C_ATTR_STRING:
      if (value->as.string != NULL) {
        value->as.string = nd4c_region_text(&graph->region, value->as.string);
        return value->as.string != NULL ? ND4C_OK : nd4c_error_code();
      }
      return ND4C_OK;
    case ND4C_ATTR_STRINGS:
      return copy_strings(graph, value);
    case ND4C_ATTR_ARRAY:
      return value->as.array != NULL ? hold_array(graph, &value->as.array) : ND4C_OK;
    case ND4C_ATTR_GRAPH:
      return nd4c_fail(ND4C_UNSUPPORTED, "graph: attributes that are graphs are not supported");
    default:
      return ND4C_OK;
  }
}

nd4c_status nd4c_graph_copy_attrs(nd4c_graph *graph, int32_t count, const nd4c_attr_value *from, nd4c_attr_value **to) {
  nd4c_attr_value *values = nd4c_region_copy(&graph->region, from, count, sizeof *from);
  if (values == NULL) {
    return nd4c_error_code();
  }
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(copy_attr(graph, &values[i]));
  }
  *to = values;
  return ND4C_OK;
}

/* Adds the values of a node's outputs: all of them, or none after a failure. */
static nd4c_status add_outputs(nd4c_graph *graph, const nd4c_inferred *inferred, int32_t count, nd4c_value *outputs) {
  int32_t before = graph->value_count;
  for (int32_t i = 0; i < count; i++) {
    nd4c_status status =
        nd4c_graph_add_value(graph, inferred[i].dtype, inferred[i].rank, inferred[i].shape, &outputs[i]);
    if (status != ND4C_OK) {
      graph->value_count = before;
      return status;
    }
    graph->values[outputs[i]].producer = graph->node_count;
  }
  return ND4C_OK;
}

/* The label of a node in the open scopes, in the graph's region; it is taken from now on. */
static nd4c_status make_label(nd4c_graph *graph, const nd4c_op_def *def, const char *label, const char **made) {
  nd4c_scoped room;
  const char *name = label == NULL ? "" : label;
  if (graph->scopes != NULL) {
    if (graph->scopes->depth > 0 && name[0] == '\0') {
      name = def->info.name;
    }
    ND4C_TRY(nd4c_scopes_unique(graph->scopes, name, &room, &name));
    ND4C_TRY(nd4c_scopes_take(graph->scopes, &graph->region, name));
  }
  *made = nd4c_region_text(&graph->region, name);
  return *made != NULL ? ND4C_OK : nd4c_error_code();
}

/* All steps that may fail for a checked and inferred node, in an order that leaves the graph unchanged after a
 * failure. */
nd4c_status nd4c_graph_add_node(nd4c_graph *graph, nd4c_graph_node node, const nd4c_value *inputs,
                                const nd4c_attr_value *attrs, const char *label, const nd4c_inferred *inferred) {
  ND4C_TRY(
      nd4c_grow(&graph->nodes, &graph->node_capacity, graph->node_count + 1, sizeof *graph->nodes, "nodes of a graph"));
  node.inputs = nd4c_region_copy(&graph->region, inputs, node.input_count, sizeof *inputs);
  node.outputs = nd4c_region_take(&graph->region, node.output_count, sizeof *node.outputs);
  if (node.inputs == NULL || node.outputs == NULL) {
    return nd4c_error_code();
  }
  ND4C_TRY(nd4c_graph_copy_attrs(graph, node.def->info.attr_count, attrs, &node.attrs));
  const int32_t taken = graph->scopes != NULL ? graph->scopes->used.count : 0;
  nd4c_status status = make_label(graph, node.def, label, &node.label);
  status = status == ND4C_OK ? add_outputs(graph, inferred, node.output_count, node.outputs) : status;
  if (status != ND4C_OK) {
    if (graph->scopes != NULL) {
      nd4c_scopes_cut(graph->scopes, taken);
    }
    return status;
  }
  graph->nodes[graph->node_count] = node;
  graph->node_count++;
  return ND4C_OK;
}

nd4c_graph_mark nd4c_graph_begin_recording(const nd4c_graph *graph) {
  return (nd4c_graph_mark){
      .nodes = graph->node_count,
      .values = graph->value_count,
      .guards = graph->extents != NULL ? nd4c_extents_guard_count(graph->extents) : 0,
      .names = graph->scopes != NULL ? graph->scopes->used.count : 0,
  };
}

void nd4c_graph_take_back(nd4c_graph *graph, nd4c_graph_mark mark) {
  for (int32_t i = mark.values; i < graph->value_count; i++) {
    nd4c_array_release(graph->values[i].constant);
  }
  graph->node_count = mark.nodes;
  graph->value_count = mark.values;
  if (graph->extents != NULL) {
    nd4c_extents_forget(graph->extents, mark.guards);
  }
  if (graph->scopes != NULL) {
    nd4c_scopes_cut(graph->scopes, mark.names);
  }
}

/* No device computes strings, or anything from strings. */
static bool is_of_the_host(const nd4c_graph *graph, const nd4c_op_def *def, const nd4c_value *inputs,
                           int32_t input_count, const nd4c_inferred *inferred) {
  bool strings = def->info.category == ND4C_CATEGORY_TEXT || inferred[0].dtype == ND4C_UTF8;
  for (int32_t i = 0; i < input_count; i++) {
    strings = strings || (inputs[i] != ND4C_VALUE_NONE && graph->values[inputs[i]].dtype == ND4C_UTF8);
  }
  return strings;
}

static nd4c_status record(nd4c_graph *graph, const nd4c_op_def *def, const nd4c_value *inputs, int32_t input_count,
                          const nd4c_attr *attrs, int32_t attr_count, const char *label, nd4c_value *outputs) {
  enum { ATTRS = 32, OUTPUTS = 8 };
  nd4c_attr_value values[ATTRS];
  nd4c_inferred inferred[OUTPUTS];
  if (def->info.attr_count > ATTRS || def->info.output_count > OUTPUTS) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s: more than %d attributes or %d outputs in a graph", def->info.name, ATTRS,
                     OUTPUTS);
  }
  for (int32_t i = 0; i < input_count; i++) {
    if (inputs[i] != ND4C_VALUE_NONE) {
      ND4C_TRY(nd4c_graph_check_value(graph, inputs[i], def->info.name));
    }
  }
  ND4C_TRY(nd4c_op_resolve_attrs(&def->info, attrs, attr_count, values));
  ND4C_TRY(nd4c_graph_infer(graph, def, inputs, input_count, values, inferred));
  if (is_of_the_host(graph, def, inputs, input_count, inferred)) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "%s: strings are computed on the host, so it cannot be part of a graph: call it eagerly",
                     def->info.name);
  }
  for (int32_t i = 0; i < def->info.output_count; i++) {
    if (inferred[i].shape_depends_on_data) {
      return nd4c_fail(
          ND4C_UNSUPPORTED,
          "%s: the shape of its result depends on the data, so it cannot be part of a graph: call it eagerly",
          def->info.name);
    }
  }
  nd4c_graph_node node = {.def = def, .input_count = input_count, .output_count = def->info.output_count};
  ND4C_TRY(nd4c_graph_add_node(graph, node, inputs, values, label, inferred));
  memcpy(outputs, graph->nodes[graph->node_count - 1].outputs, (size_t)node.output_count * sizeof *outputs);
  return ND4C_OK;
}

nd4c_status nd4c_graph_op(nd4c_graph *graph, nd4c_op op, const nd4c_value *inputs, int32_t input_count,
                          const nd4c_attr *attrs, int32_t attr_count, const char *label, nd4c_value *outputs,
                          int32_t output_count) {
  ND4C_TRY(nd4c_graph_check(graph));
  const nd4c_op_def *def = nd4c_op_get_def(op);
  if (def == NULL) {
    return nd4c_fail(ND4C_NAME, "graph: there is no op with number %u", op);
  }
  if (input_count < 0 || attr_count < 0 || (input_count > 0 && inputs == NULL) || (attr_count > 0 && attrs == NULL) ||
      outputs == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: inputs, attrs or outputs are NULL or their count is negative",
                     def->info.name);
  }
  if (output_count != def->info.output_count) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: has %d outputs, room was given for %d", def->info.name, def->info.output_count,
                     output_count);
  }
  int32_t guards = graph->extents != NULL ? nd4c_extents_guard_count(graph->extents) : 0;
  nd4c_status status = record(graph, def, inputs, input_count, attrs, attr_count, label, outputs);
  if (status != ND4C_OK && graph->extents != NULL) {
    nd4c_extents_forget(graph->extents, guards);
  }
  const char *scope = nd4c_scopes_path(graph->scopes), *shown = label == NULL ? "" : label;
  if (status != ND4C_OK && (shown[0] != '\0' || scope[0] != '\0')) {
    return nd4c_fail_prefix(status, "node '%.*s%s%.*s'", LABEL_SHOWN, scope, scope[0] != '\0' ? "/" : "", LABEL_SHOWN,
                            shown[0] != '\0' ? shown : def->info.name);
  }
  return status;
}

/* -- queries ---------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_graph_value_info(const nd4c_graph *graph, nd4c_value value, nd4c_dtype *dtype, int32_t *rank,
                                  const int64_t **shape) {
  ND4C_TRY(nd4c_graph_check(graph));
  ND4C_TRY(nd4c_graph_check_value(graph, value, "nd4c_graph_value_info"));
  if (dtype != NULL) {
    *dtype = graph->values[value].dtype;
  }
  if (rank != NULL) {
    *rank = graph->values[value].rank;
  }
  if (shape != NULL) {
    *shape = graph->values[value].shape;
  }
  return ND4C_OK;
}

nd4c_array *nd4c_graph_value_constant(const nd4c_graph *graph, nd4c_value value) {
  bool known = graph != NULL && graph->magic == GRAPH_MAGIC && value >= 0 && value < graph->value_count;
  return known ? graph->values[value].constant : NULL;
}

static const nd4c_graph_port *port_at(const nd4c_graph *graph, const nd4c_graph_ports *ports, int32_t index) {
  return graph->magic == GRAPH_MAGIC && index >= 0 && index < ports->count ? &ports->items[index] : NULL;
}

int32_t nd4c_graph_input_count(const nd4c_graph *graph) {
  return graph == NULL ? 0 : graph->inputs.count;
}

int32_t nd4c_graph_output_count(const nd4c_graph *graph) {
  return graph == NULL ? 0 : graph->outputs.count;
}

const char *nd4c_graph_input_name(const nd4c_graph *graph, int32_t index) {
  const nd4c_graph_port *port = graph == NULL ? NULL : port_at(graph, &graph->inputs, index);
  return port == NULL ? NULL : port->name;
}

const char *nd4c_graph_output_name(const nd4c_graph *graph, int32_t index) {
  const nd4c_graph_port *port = graph == NULL ? NULL : port_at(graph, &graph->outputs, index);
  return port == NULL ? NULL : port->name;
}

nd4c_value nd4c_graph_input_value(const nd4c_graph *graph, int32_t index) {
  const nd4c_graph_port *port = graph == NULL ? NULL : port_at(graph, &graph->inputs, index);
  return port == NULL ? ND4C_VALUE_NONE : port->value;
}

nd4c_value nd4c_graph_output_value(const nd4c_graph *graph, int32_t index) {
  const nd4c_graph_port *port = graph == NULL ? NULL : port_at(graph, &graph->outputs, index);
  return port == NULL ? ND4C_VALUE_NONE : port->value;
}

void nd4c_graph_value_strides(const nd4c_graph_value *value, int64_t *strides) {
  if (value->order == NULL || nd4c_dtype_is_packed(value->dtype)) {
    nd4c_shape_strides(value->rank, value->shape, strides);
    return;
  }
  int64_t stride = 1;
  for (int32_t i = value->rank - 1; i >= 0; i--) {
    int32_t axis = value->order[i];
    strides[axis] = stride;
    stride *= value->shape[axis] > 0 ? value->shape[axis] : 1;
  }
}
