/* Dims of graphs (nd4c/graph.h): what programs ask about them, and binding, which makes a graph of numbers. ahead.c
 * refuses graphs with dims by nd4c_graph_check_numbers. The table of a bound graph has the guards of the other one: a
 * pass may have removed the node that assumed one. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "device/stream/cancellation.h"
#include "graph/ir/control.h"
#include "graph/ir/variables.h"

enum { SHOWN = 200, TEXT = 1024 };

/* -- dims -------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_graph_dim(nd4c_graph *graph, const char *name, int64_t low, int64_t high, int64_t *extent) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (name == NULL || extent == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_dim: %s is NULL", name == NULL ? "name" : "extent");
  }
  if (graph->extents == NULL) {
    ND4C_TRY(nd4c_extents_create(&graph->extents));
  }
  nd4c_status status = nd4c_extents_dim(graph->extents, name, low, high, extent);
  return status == ND4C_OK ? ND4C_OK : nd4c_fail_prefix(status, "graph");
}

int32_t nd4c_graph_dim_count(const nd4c_graph *graph) {
  return graph == NULL ? 0 : nd4c_extents_dim_count(graph->extents);
}

const char *nd4c_graph_dim_name(const nd4c_graph *graph, int32_t index) {
  bool known = index >= 0 && index < nd4c_graph_dim_count(graph);
  return known ? nd4c_extents_dim_name(graph->extents, index) : NULL;
}

nd4c_status nd4c_graph_check_numbers(const nd4c_graph *graph, const char *what) {
  if (nd4c_graph_dim_count(graph) == 0) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_UNSUPPORTED,
                   "%s: the graph has %d dims ('%.*s'%s), expected numbers: nd4c_graph_bind makes a graph of them",
                   what, (int)nd4c_graph_dim_count(graph), SHOWN, nd4c_graph_dim_name(graph, 0),
                   nd4c_graph_dim_count(graph) > 1 ? ", ..." : "");
}

/* -- what passes ask --------------------------------------------------------------------------------------------- */

static bool are_numbers(int32_t count, const int64_t *extents) {
  for (int32_t i = 0; i < count; i++) {
    if (nd4c_extent_is_symbolic(extents[i])) {
      return false;
    }
  }
  return true;
}

bool nd4c_graph_is_fixed(const nd4c_graph *graph, nd4c_value value) {
  return graph->extents == NULL || value < 0 || are_numbers(graph->values[value].rank, graph->values[value].shape);
}

static bool is_attr_fixed(const nd4c_attr_value *attr) {
  switch (attr->kind) {
    case ND4C_ATTR_INT:
      return are_numbers(1, &attr->as.i);
    case ND4C_ATTR_INTS:
      return attr->as.ints == NULL || are_numbers(attr->count, attr->as.ints);
    default:
      return true;
  }
}

bool nd4c_graph_node_is_fixed(const nd4c_graph *graph, const nd4c_graph_node *node) {
  bool fixed = true;
  for (int32_t i = 0; i < node->input_count && fixed; i++) {
    fixed = nd4c_graph_is_fixed(graph, node->inputs[i]);
  }
  for (int32_t i = 0; i < node->output_count && fixed; i++) {
    fixed = nd4c_graph_is_fixed(graph, node->outputs[i]);
  }
  for (int32_t i = 0; i < node->def->info.attr_count && graph->extents != NULL && fixed; i++) {
    fixed = is_attr_fixed(&node->attrs[i]);
  }
  return fixed;
}

int64_t nd4c_graph_least(const nd4c_graph *graph, int64_t extent) {
  int64_t low, high;
  if (!nd4c_extents_has(graph->extents, extent)) {
    return extent;
  }
  nd4c_extents_bounds(graph->extents, extent, &low, &high);
  return low < 1 ? 1 : low;
}

void nd4c_graph_describe_least(const nd4c_graph *graph, nd4c_value value, int64_t *shape, int64_t *strides,
                               nd4c_tensor *tensor) {
  nd4c_graph_describe(graph, value, tensor);
  if (value < 0) {
    return;
  }
  nd4c_graph_value least = graph->values[value];
  least.shape = shape;
  tensor->size = 1;
  for (int32_t i = 0; i < least.rank; i++) {
    shape[i] = nd4c_graph_least(graph, graph->values[value].shape[i]);
    tensor->size *= shape[i];
  }
  nd4c_graph_value_strides(&least, strides);
  tensor->shape = shape;
  tensor->strides = strides;
}

/* -- texts ------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_graph_extent_text(const nd4c_graph *graph, int64_t extent, char **text) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_extent_text: text is NULL");
  }
  if (extent < 0 && !nd4c_extents_has(graph->extents, extent)) {
    return nd4c_fail(ND4C_SHAPE, "nd4c_graph_extent_text: %lld is no extent of this graph", (long long)extent);
  }
  nd4c_text made = {0};
  char shown[TEXT];
  nd4c_text_print(&made, "%s", nd4c_extents_text(graph->extents, extent, shown, sizeof shown));
  return nd4c_text_take(&made, text);
}

/* -- arithmetic -------------------------------------------------------------------------------------------------- */

typedef bool (*extent_function)(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result);

static nd4c_status check_extent(const nd4c_graph *graph, const char *where, int64_t extent) {
  if (extent >= 0 || nd4c_extents_has(graph->extents, extent)) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_SHAPE, "%s: %lld is no extent of this graph", where, (long long)extent);
}

static nd4c_status refuse_result(const nd4c_graph *graph, nd4c_extent_operation operation, int64_t a, int64_t b) {
  static const char *const signs[] = {"+", "-", "*", "/", "%", "max", "min"};
  nd4c_status failure = nd4c_extents_failure(graph->extents);
  if (failure == ND4C_MEMORY) {
    return failure;
  }
  char left[SHOWN], right[SHOWN];
  (void)nd4c_extents_text(graph->extents, a, left, sizeof left);
  (void)nd4c_extents_text(graph->extents, b, right, sizeof right);
  return failure != ND4C_OK
             ? nd4c_fail(failure, "nd4c_graph_extent: (%s) %s (%s): expected an expression of fewer terms and factors",
                         left, signs[operation], right)
             : nd4c_fail(
                   ND4C_SHAPE,
                   "nd4c_graph_extent: (%s) %s (%s) is no extent: it is below 0, divides by 0, or exceeds 64 bits",
                   left, signs[operation], right);
}

nd4c_status nd4c_graph_extent(nd4c_graph *graph, nd4c_extent_operation operation, int64_t a, int64_t b,
                              int64_t *extent) {
  static const extent_function functions[] = {nd4c_extents_add,    nd4c_extents_subtract,  nd4c_extents_multiply,
                                              nd4c_extents_divide, nd4c_extents_remainder, nd4c_extents_maximum,
                                              nd4c_extents_minimum};
  ND4C_TRY(nd4c_graph_check(graph));
  if (extent == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_extent: extent is NULL");
  }
  if ((int)operation < 0 || (size_t)operation >= sizeof functions / sizeof *functions) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_graph_extent: operation %d, expected 0 to %d", (int)operation,
                     (int)(sizeof functions / sizeof *functions) - 1);
  }
  ND4C_TRY(check_extent(graph, "nd4c_graph_extent", a));
  ND4C_TRY(check_extent(graph, "nd4c_graph_extent", b));
  if (graph->extents == NULL) {
    ND4C_TRY(nd4c_extents_create(&graph->extents));
  }
  const int32_t guards = nd4c_extents_guard_count(graph->extents);
  int64_t result = -1;
  (void)nd4c_extents_failure(graph->extents);
  bool made = functions[operation](graph->extents, a, b, &result);
  if (!made || (result < 0 && !nd4c_extents_has(graph->extents, result))) {
    nd4c_extents_forget(graph->extents, guards);
    return refuse_result(graph, operation, a, b);
  }
  nd4c_extents_set_subject(graph->extents, guards, result);
  *extent = result;
  return ND4C_OK;
}

nd4c_status nd4c_graph_guards(const nd4c_graph *graph, char **text) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_guards: text is NULL");
  }
  nd4c_text made = {0};
  int32_t count = graph->extents != NULL ? nd4c_extents_guard_count(graph->extents) : 0;
  for (int32_t i = 0; i < count; i++) {
    char guard[TEXT];
    nd4c_text_print(&made, "%s\n", nd4c_extents_guard_text(graph->extents, i, guard, sizeof guard));
  }
  return nd4c_text_take(&made, text);
}

/* -- binding ----------------------------------------------------------------------------------------------------- */

/* Puts the numbers of the named dims into `dims`; -1 where a dim is not named. */
static nd4c_status take_names(const nd4c_graph *graph, const char *where, const char *const *names,
                              const int64_t *extents, int32_t count, int64_t *dims) {
  for (int32_t i = 0; i < nd4c_graph_dim_count(graph); i++) {
    dims[i] = -1;
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t dim = names[i] == NULL ? -1 : nd4c_extents_find_dim(graph->extents, names[i]);
    const char *name = names[i] == NULL ? "" : names[i];
    if (dim < 0) {
      return nd4c_fail(ND4C_NAME, "%s: '%.*s' is no dim of the graph", where, SHOWN, name);
    }
    if (dims[dim] >= 0) {
      return nd4c_fail(ND4C_NAME, "%s: dim '%.*s' is given twice", where, SHOWN, name);
    }
    if (extents[i] < 0) {
      return nd4c_fail(ND4C_SHAPE, "%s: dim '%.*s' is %lld, expected at least 0", where, SHOWN, name,
                       (long long)extents[i]);
    }
    dims[dim] = extents[i];
  }
  return ND4C_OK;
}

/* Declares in `bound` the dims that stay, and puts their extents into `dims`. */
static nd4c_status keep_dims(const nd4c_graph *graph, nd4c_graph *bound, int64_t *dims) {
  for (int32_t i = 0; i < nd4c_graph_dim_count(graph); i++) {
    int64_t low, high;
    if (dims[i] < 0) {
      nd4c_extents_dim_bounds(graph->extents, i, &low, &high);
      ND4C_TRY(nd4c_graph_dim(bound, nd4c_graph_dim_name(graph, i), low, high == INT64_MAX ? -1 : high, &dims[i]));
    }
  }
  return ND4C_OK;
}

static nd4c_status bind_list(const nd4c_binding *binding, int32_t count, const int64_t *from, int64_t *to) {
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(nd4c_binding_get(binding, from[i], &to[i]));
  }
  return ND4C_OK;
}

nd4c_status nd4c_graph_bind_attrs(const nd4c_binding *binding, const nd4c_op_def *def, nd4c_graph *bound,
                                  nd4c_attr_value *attrs) {
  uint32_t symbolic = 0;
  (void)nd4c_op_takes_symbolic(def, &symbolic);
  for (int32_t i = 0; i < def->info.attr_count; i++) {
    nd4c_attr_value *value = &attrs[i];
    if ((symbolic & (UINT32_C(1) << i)) == 0) {
      continue;
    }
    if (value->kind == ND4C_ATTR_INT) {
      ND4C_TRY(nd4c_binding_get(binding, value->as.i, &value->as.i));
    } else if (value->kind == ND4C_ATTR_INTS && value->as.ints != NULL) {
      int64_t *list = NULL;
      ND4C_TRY(nd4c_region_make(&bound->region, value->count, sizeof *list, &list));
      ND4C_TRY(bind_list(binding, value->count, value->as.ints, list));
      value->as.ints = list;
    }
  }
  return ND4C_OK;
}

static nd4c_status set_shape(nd4c_graph *graph, nd4c_value value, int32_t rank, const int64_t *shape) {
  nd4c_graph_value *set = &graph->values[value];
  ND4C_TRY(nd4c_extents_size(graph->extents, set->dtype, rank, shape, &set->size));
  set->shape = nd4c_region_copy(&graph->region, shape, rank, sizeof *shape);
  set->rank = rank;
  return set->shape != NULL ? ND4C_OK : nd4c_error_code();
}

/* Infers the node's outputs anew: of numbers, the op may know more than of the dims. */
static nd4c_status infer_outputs(nd4c_graph *bound, const nd4c_graph_node *node) {
  enum { OUTPUTS = 8 }; /* nd4c_graph_op takes no more */
  nd4c_inferred inferred[OUTPUTS];
  nd4c_status status = nd4c_graph_infer(bound, node->def, node->inputs, node->input_count, node->attrs, inferred);
  for (int32_t i = 0; i < node->output_count && status == ND4C_OK; i++) {
    status = set_shape(bound, node->outputs[i], inferred[i].rank, inferred[i].shape);
  }
  return status == ND4C_OK || node->label[0] == '\0' ? status
                                                     : nd4c_fail_prefix(status, "node '%.*s'", SHOWN, node->label);
}

/* The bodies of a node say which shapes its outputs have, and control.c has compared them. */
static nd4c_status bind_outputs(const nd4c_graph *graph, const nd4c_binding *binding, nd4c_graph *bound,
                                const nd4c_graph_node *node) {
  for (int32_t i = 0; i < node->output_count; i++) {
    const nd4c_graph_value *value = &graph->values[node->outputs[i]];
    int64_t shape[ND4C_MAX_RANK];
    ND4C_TRY(bind_list(binding, value->rank, value->shape, shape));
    ND4C_TRY(set_shape(bound, node->outputs[i], value->rank, shape));
  }
  return ND4C_OK;
}

static nd4c_status bind_node(const nd4c_graph *graph, const nd4c_binding *binding, const nd4c_graph_node *node,
                             nd4c_graph *bound) {
  nd4c_graph_node made = *node;
  made.inputs = nd4c_region_copy(&bound->region, node->inputs, node->input_count, sizeof *node->inputs);
  made.outputs = nd4c_region_copy(&bound->region, node->outputs, node->output_count, sizeof *node->outputs);
  made.label = nd4c_region_text(&bound->region, node->label);
  made.fused = nd4c_region_text(&bound->region, node->fused);
  if (made.inputs == NULL || made.outputs == NULL || made.label == NULL ||
      (made.fused == NULL && node->fused != NULL)) {
    return nd4c_error_code();
  }
  ND4C_TRY(nd4c_parts_copy(&node->parts, &bound->region, &made.parts));
  ND4C_TRY(nd4c_notes_copy(node->notes, &bound->region, &made.notes));
  ND4C_TRY(nd4c_graph_copy_attrs(bound, node->def->info.attr_count, node->attrs, &made.attrs));
  ND4C_TRY(nd4c_graph_bind_attrs(binding, node->def, bound, made.attrs));
  if (node->control != NULL) {
    ND4C_TRY(nd4c_control_bind(graph, binding, node->control, bound, &made.control));
  }
  bound->nodes[bound->node_count] = made;
  bound->node_count++;
  return node->control != NULL ? bind_outputs(graph, binding, bound, &made) : infer_outputs(bound, &made);
}

/* Constants, inputs and variables with their shapes. What nodes give gets its shape from the node; a value that passes
 * have left without a node stays without one. */
static nd4c_status bind_values(const nd4c_graph *graph, const nd4c_binding *binding, nd4c_graph *bound) {
  for (int32_t i = 0; i < graph->value_count; i++) {
    const nd4c_graph_value *value = &graph->values[i];
    const bool given = value->constant != NULL || value->input >= 0 || value->variable >= 0;
    int64_t shape[ND4C_MAX_RANK];
    nd4c_value added = ND4C_VALUE_NONE;
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(bind_list(binding, given ? value->rank : 0, value->shape, shape));
    ND4C_TRY(nd4c_graph_add_value(bound, value->dtype, given ? value->rank : 0, shape, &added));
    bound->values[added].constant = nd4c_array_retain(value->constant);
    bound->values[added].input = value->input;
    bound->values[added].producer = value->producer;
  }
  return ND4C_OK;
}

/* Values and nodes keep their numbers, also those of a graph that passes have rewritten. */
static nd4c_status bind_all(const nd4c_graph *graph, const nd4c_binding *binding, nd4c_graph *bound) {
  ND4C_TRY(bind_values(graph, binding, bound));
  ND4C_TRY(
      nd4c_grow(&bound->nodes, &bound->node_capacity, graph->node_count, sizeof *bound->nodes, "nodes of a graph"));
  for (int32_t i = 0; i < graph->node_count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(bind_node(graph, binding, &graph->nodes[i], bound));
  }
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    ND4C_TRY(nd4c_ports_add(&bound->inputs, &bound->region, "input", graph->inputs.items[i].name,
                            graph->inputs.items[i].value));
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    ND4C_TRY(nd4c_graph_output(bound, graph->outputs.items[i].name, graph->outputs.items[i].value));
  }
  ND4C_TRY(nd4c_notes_copy(graph->notes, &bound->region, &bound->notes));
  return nd4c_variables_copy(graph, bound);
}

static nd4c_status bind_into(const nd4c_graph *graph, int64_t *dims, nd4c_graph *bound) {
  nd4c_binding binding = {0};
  ND4C_TRY(keep_dims(graph, bound, dims));
  if (graph->extents == NULL) {
    return bind_all(graph, &binding, bound);
  }
  nd4c_status status = nd4c_binding_make(graph->extents, dims, bound->extents, &binding);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "nd4c_graph_bind");
  }
  status = bind_all(graph, &binding, bound);
  nd4c_binding_free(&binding);
  return status;
}

nd4c_status nd4c_graph_bind(const nd4c_graph *graph, const char *const *names, const int64_t *extents, int32_t count,
                            nd4c_graph **bound) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (bound == NULL || count < 0 || (count > 0 && (names == NULL || extents == NULL))) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_bind: names, extents or bound are NULL, or count is negative");
  }
  int64_t *dims = NULL;
  nd4c_graph *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)nd4c_graph_dim_count(graph) + 1, sizeof *dims, "dims of a graph", &dims));
  nd4c_status status = take_names(graph, "nd4c_graph_bind", names, extents, count, dims);
  status = status == ND4C_OK ? nd4c_graph_create(&made) : status;
  status = status == ND4C_OK ? bind_into(graph, dims, made) : status;
  nd4c_deallocate(dims);
  if (status != ND4C_OK) {
    nd4c_graph_destroy(made);
    return status;
  }
  *bound = made;
  return ND4C_OK;
}

/* -- numbers of extents ------------------------------------------------------------------------------------------- */

static nd4c_status number_of(const nd4c_graph *graph, int64_t extent, const int64_t *dims, int64_t *number) {
  nd4c_binding binding = {0};
  for (int32_t i = 0; i < nd4c_graph_dim_count(graph); i++) {
    if (dims[i] < 0) {
      return nd4c_fail(ND4C_NAME, "nd4c_graph_extent_number: the number of dim '%.*s' lacks", SHOWN,
                       nd4c_graph_dim_name(graph, i));
    }
  }
  nd4c_status status = nd4c_binding_make(graph->extents, dims, NULL, &binding);
  if (status == ND4C_OK) {
    status = nd4c_binding_get(&binding, extent, number);
    nd4c_binding_free(&binding);
  }
  return status == ND4C_OK ? ND4C_OK : nd4c_fail_prefix(status, "nd4c_graph_extent_number");
}

nd4c_status nd4c_graph_extent_number(const nd4c_graph *graph, int64_t extent, const char *const *names,
                                     const int64_t *extents, int32_t count, int64_t *number) {
  static const char where[] = "nd4c_graph_extent_number";
  ND4C_TRY(nd4c_graph_check(graph));
  if (number == NULL || count < 0 || (count > 0 && (names == NULL || extents == NULL))) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: names, extents or number are NULL, or count is negative", where);
  }
  ND4C_TRY(check_extent(graph, where, extent));
  if (extent >= 0) {
    *number = extent;
    return ND4C_OK;
  }
  int64_t *dims = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)nd4c_graph_dim_count(graph) + 1, sizeof *dims, "dims of a graph", &dims));
  nd4c_status status = take_names(graph, where, names, extents, count, dims);
  status = status == ND4C_OK ? number_of(graph, extent, dims, number) : status;
  nd4c_deallocate(dims);
  return status;
}
