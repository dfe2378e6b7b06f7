/* Bodies of nodes: how long they live, how they are copied, bound and appended to other graphs. Implements the first
 * part of control.h, and nd4c_function_create and _release for programs. */
#include "base/alloc.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/ir/control.h"
#include "graph/ir/variables.h"

enum { FUNCTION_MAGIC = 0x66756e63, FUNCTION_DEAD = 0x66646561, SHOWN = 200 };

/* -- functions ----------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_function_check(const nd4c_function *function) {
  if (function == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "function is NULL");
  }
  return function->magic == FUNCTION_MAGIC
             ? ND4C_OK
             : nd4c_fail(ND4C_HANDLE, "%p is not a function, or was released", (const void *)function);
}

/* Counts what lies in the body. The bodies in it are bounded, so the sum of one graph cannot overflow. */
static nd4c_status measure(nd4c_function *function) {
  const nd4c_graph *graph = function->graph;
  function->depth = 1;
  function->nodes = graph->node_count;
  function->cost = nd4c_graph_cost(graph);
  function->weight = nd4c_graph_weight(graph);
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_control *control = graph->nodes[i].control;
    for (int32_t k = 0; control != NULL && k < control->body_count; k++) {
      const nd4c_function *inner = control->bodies[k];
      function->nodes += inner->nodes;
      function->depth = inner->depth + 1 > function->depth ? inner->depth + 1 : function->depth;
    }
  }
  if (function->depth > ND4C_CONTROL_DEPTH) {
    return nd4c_fail(ND4C_UNSUPPORTED, "bodies lie in each other %d deep, expected %d at most", (int)function->depth,
                     ND4C_CONTROL_DEPTH);
  }
  return function->nodes <= ND4C_CONTROL_NODES
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED,
                         "the body has %lld nodes with those of the bodies and functions in it, expected %lld at most",
                         (long long)function->nodes, (long long)ND4C_CONTROL_NODES);
}

static nd4c_status fill(const char *name, nd4c_function *function) {
  if (function->graph->outputs.count == 0) {
    return nd4c_fail(ND4C_ARGUMENT, "the body has no outputs: name them by nd4c_graph_output");
  }
  if (name != NULL) {
    function->name = nd4c_region_text(&function->graph->region, name);
    ND4C_TRY(function->name != NULL ? ND4C_OK : nd4c_error_code());
  }
  return measure(function);
}

nd4c_status nd4c_function_make(const char *name, nd4c_graph *graph, nd4c_function **function) {
  nd4c_function *made = NULL;
  nd4c_status status = nd4c_allocate_or_fail(1, sizeof *made, "a body", &made);
  if (status != ND4C_OK) {
    nd4c_graph_destroy(graph);
    return status;
  }
  made->magic = FUNCTION_MAGIC;
  atomic_init(&made->references, 1);
  made->graph = graph;
  status = fill(name, made);
  if (status != ND4C_OK) {
    nd4c_function_release(made);
    return status;
  }
  *function = made;
  return ND4C_OK;
}

nd4c_status nd4c_function_copy(const char *name, const nd4c_graph *graph, nd4c_function **function) {
  nd4c_graph *copy = NULL;
  ND4C_TRY(nd4c_variables_refuse(graph, "the body"));
  ND4C_TRY(nd4c_graph_clone(graph, &copy));
  return nd4c_function_make(name, copy, function);
}

nd4c_status nd4c_function_create(const char *name, const nd4c_graph *body, nd4c_function **function) {
  if (name == NULL || function == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_function_create: %s is NULL", name == NULL ? "name" : "function");
  }
  if (name[0] == '\0') {
    return nd4c_fail(ND4C_NAME, "nd4c_function_create: the name is empty");
  }
  ND4C_TRY(nd4c_graph_check(body));
  nd4c_status status = nd4c_function_copy(name, body, function);
  return status == ND4C_OK ? ND4C_OK : nd4c_fail_prefix(status, "function '%.*s'", SHOWN, name);
}

nd4c_function *nd4c_function_retain(nd4c_function *function) {
  atomic_fetch_add_explicit(&function->references, 1, memory_order_relaxed);
  return function;
}

void nd4c_function_release(nd4c_function *function) {
  if (function == NULL || function->magic != FUNCTION_MAGIC ||
      atomic_fetch_sub_explicit(&function->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  nd4c_graph_destroy(function->graph);
  function->magic = FUNCTION_DEAD;
  nd4c_deallocate(function);
}

/* -- records ------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_control_copy(const nd4c_control *control, nd4c_control **copy) {
  nd4c_control *made = NULL;
  const int32_t flags = control->scanned + control->collected;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made, "a node with bodies", &made));
  *made = *control;
  atomic_init(&made->references, 1);
  made->backward = NULL;
  for (int32_t i = 0; i < made->body_count; i++) {
    (void)nd4c_function_retain(made->bodies[i]);
  }
  nd4c_status status = nd4c_allocate_or_fail((size_t)flags + 1, sizeof *made->backward, "a scan", &made->backward);
  if (status != ND4C_OK) {
    nd4c_control_release(made);
    return status;
  }
  for (int32_t i = 0; i < flags; i++) {
    made->backward[i] = control->backward != NULL && control->backward[i];
  }
  *copy = made;
  return ND4C_OK;
}

nd4c_control *nd4c_control_retain(nd4c_control *control) {
  atomic_fetch_add_explicit(&control->references, 1, memory_order_relaxed);
  return control;
}

void nd4c_control_release(nd4c_control *control) {
  if (control == NULL || atomic_fetch_sub_explicit(&control->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  for (int32_t i = 0; i < control->body_count; i++) {
    nd4c_function_release(control->bodies[i]);
  }
  nd4c_deallocate(control->backward);
  nd4c_deallocate(control);
}

nd4c_status nd4c_graph_check_no_bodies(const nd4c_graph *graph, const char *what) {
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    if (node->control != NULL) {
      return nd4c_fail(ND4C_UNSUPPORTED, "%s: node '%.*s' (%s) has bodies, which no file of executables holds", what,
                       SHOWN, node->label, node->def->info.name);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_graph_hold_control(nd4c_graph *graph, nd4c_control *control) {
  ND4C_TRY(nd4c_grow(&graph->controls, &graph->control_capacity, graph->control_count + 1, sizeof *graph->controls,
                     "nodes with bodies"));
  graph->controls[graph->control_count++] = nd4c_control_retain(control);
  return ND4C_OK;
}

/* -- dims ---------------------------------------------------------------------------------------------------------- */

static nd4c_status find_dims(const nd4c_graph *body, const nd4c_graph *graph, int64_t *dims) {
  for (int32_t i = 0; i < nd4c_graph_dim_count(body); i++) {
    const char *name = nd4c_graph_dim_name(body, i);
    const int32_t outer = graph->extents == NULL ? -1 : nd4c_extents_find_dim(graph->extents, name);
    if (outer < 0) {
      return nd4c_fail(ND4C_NAME, "the body has a dim '%.*s', and the graph around it has none of this name", SHOWN,
                       name);
    }
    if (!nd4c_extents_dim_extent(graph->extents, outer, &dims[i])) {
      return nd4c_extents_failure(graph->extents);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_body_dims_make(const nd4c_graph *body, nd4c_graph *graph, nd4c_body_dims *made) {
  *made = (nd4c_body_dims){.symbolic = nd4c_graph_dim_count(body) > 0};
  if (!made->symbolic) {
    return ND4C_OK;
  }
  ND4C_TRY(
      nd4c_allocate_or_fail((size_t)nd4c_graph_dim_count(body), sizeof *made->dims, "dims of a body", &made->dims));
  nd4c_status status = find_dims(body, graph, made->dims);
  status = status == ND4C_OK ? nd4c_binding_make(body->extents, made->dims, graph->extents, &made->binding) : status;
  if (status != ND4C_OK) {
    nd4c_deallocate(made->dims);
    *made = (nd4c_body_dims){0};
  }
  return status;
}

void nd4c_body_dims_free(nd4c_body_dims *made) {
  if (made->symbolic) {
    nd4c_binding_free(&made->binding);
    nd4c_deallocate(made->dims);
  }
  *made = (nd4c_body_dims){0};
}

nd4c_status nd4c_body_dims_shape(const nd4c_body_dims *made, const nd4c_graph_value *value, int64_t *shape) {
  for (int32_t i = 0; i < value->rank; i++) {
    shape[i] = value->shape[i];
    if (made->symbolic) {
      ND4C_TRY(nd4c_binding_get(&made->binding, value->shape[i], &shape[i]));
    }
  }
  return ND4C_OK;
}

/* -- binding ------------------------------------------------------------------------------------------------------- */

/* The body's dims that become numbers. */
static int32_t list_numbers(const nd4c_graph *graph, const nd4c_binding *binding, const nd4c_graph *body,
                            const char **names, int64_t *extents) {
  int32_t count = 0;
  for (int32_t i = 0; i < nd4c_graph_dim_count(body); i++) {
    const char *name = nd4c_graph_dim_name(body, i);
    const int32_t dim = nd4c_extents_find_dim(graph->extents, name);
    if (dim >= 0 && !nd4c_extent_is_symbolic(binding->dims[dim])) {
      names[count] = name;
      extents[count++] = binding->dims[dim];
    }
  }
  return count;
}

static nd4c_status bind_body(const nd4c_graph *graph, const nd4c_binding *binding, nd4c_function **body) {
  const nd4c_graph *from = (*body)->graph;
  const int32_t dims = nd4c_graph_dim_count(from);
  const char **names = NULL;
  int64_t *extents = NULL;
  nd4c_graph *made = NULL;
  nd4c_function *bound = NULL;
  if (dims == 0) {
    return ND4C_OK;
  }
  nd4c_status status = nd4c_allocate_or_fail((size_t)dims, sizeof *names, "dims of a body", &names);
  status =
      status == ND4C_OK ? nd4c_allocate_or_fail((size_t)dims, sizeof *extents, "dims of a body", &extents) : status;
  if (status == ND4C_OK) {
    const int32_t count = list_numbers(graph, binding, from, names, extents);
    status = nd4c_graph_bind(from, names, extents, count, &made);
  }
  nd4c_deallocate(names);
  nd4c_deallocate(extents);
  ND4C_TRY(status);
  ND4C_TRY(nd4c_function_make((*body)->name, made, &bound));
  nd4c_function_release(*body);
  *body = bound;
  return ND4C_OK;
}

nd4c_status nd4c_control_bind(const nd4c_graph *graph, const nd4c_binding *binding, const nd4c_control *control,
                              nd4c_graph *bound, nd4c_control **made) {
  nd4c_control *copy = NULL;
  ND4C_TRY(nd4c_control_copy(control, &copy));
  nd4c_status status =
      copy->rounds == -1 || graph->extents == NULL ? ND4C_OK : nd4c_binding_get(binding, copy->rounds, &copy->rounds);
  for (int32_t i = 0; i < copy->body_count && status == ND4C_OK; i++) {
    status = bind_body(graph, binding, &copy->bodies[i]);
  }
  status = status == ND4C_OK ? nd4c_graph_hold_control(bound, copy) : status;
  nd4c_control_release(copy);
  *made = status == ND4C_OK ? copy : NULL; /* the graph holds it */
  return status;
}

/* -- appending ----------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_graph_append_value(nd4c_graph *graph, const nd4c_graph *from, nd4c_value value, nd4c_value *values) {
  if (values[value] != ND4C_VALUE_NONE) {
    return ND4C_OK;
  }
  return from->values[value].constant != NULL
             ? nd4c_graph_add_constant(graph, from->values[value].constant, &values[value])
             : nd4c_fail(ND4C_INTERNAL, "value %d of a body has no counterpart", (int)value);
}

/* Nodes on their way from a body to another graph. */
typedef struct appending {
  nd4c_graph *graph;
  const nd4c_graph *from;
  nd4c_body_dims dims;
  nd4c_value *values; /* by value of `from` */
  nd4c_value *room;   /* for the inputs and outputs of a node */
} appending;

static nd4c_status append_op(const appending *work, const nd4c_graph_node *node, nd4c_value *outputs) {
  enum { ATTRS = 32 }; /* nd4c_graph_op takes no more */
  nd4c_attr_value values[ATTRS];
  nd4c_attr attrs[ATTRS];
  const int32_t count = node->def->info.attr_count;
  for (int32_t i = 0; i < count; i++) {
    values[i] = node->attrs[i];
  }
  if (work->dims.symbolic) {
    ND4C_TRY(nd4c_graph_bind_attrs(&work->dims.binding, node->def, work->graph, values));
  }
  for (int32_t i = 0; i < count; i++) {
    attrs[i] = (nd4c_attr){node->def->info.attrs[i].name, values[i]};
  }
  return nd4c_graph_op(work->graph, node->def->info.op, work->room, node->input_count, attrs, count, node->label,
                       outputs, node->output_count);
}

static nd4c_status append_control(const appending *work, const nd4c_graph_node *node, nd4c_value *outputs) {
  nd4c_control *control = node->control;
  if (work->dims.symbolic) {
    ND4C_TRY(nd4c_control_bind(work->from, &work->dims.binding, node->control, work->graph, &control));
  }
  return nd4c_control_record(work->graph, control, work->room, node->input_count, node->label, outputs);
}

static nd4c_status append_node(const appending *work, const nd4c_graph_node *node) {
  nd4c_value *outputs = work->room + node->input_count;
  for (int32_t i = 0; i < node->input_count; i++) {
    work->room[i] = ND4C_VALUE_NONE;
    if (node->inputs[i] >= 0) {
      ND4C_TRY(nd4c_graph_append_value(work->graph, work->from, node->inputs[i], work->values));
      work->room[i] = work->values[node->inputs[i]];
    }
  }
  ND4C_TRY(node->control != NULL ? append_control(work, node, outputs) : append_op(work, node, outputs));
  for (int32_t i = 0; i < node->output_count; i++) {
    work->values[node->outputs[i]] = outputs[i];
  }
  nd4c_graph *graph = work->graph;
  return nd4c_notes_copy(node->notes, &graph->region, &graph->nodes[graph->node_count - 1].notes);
}

static nd4c_status append_all(const appending *work, const bool *chosen) {
  for (int32_t i = 0; i < work->from->node_count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    if (chosen == NULL || chosen[i]) {
      ND4C_TRY(append_node(work, &work->from->nodes[i]));
    }
  }
  return ND4C_OK;
}

/* Nodes of numbers alone may go to a graph that has none of the dims. */
static bool need_dims(const nd4c_graph *from, const bool *chosen) {
  bool need = false;
  for (int32_t i = 0; i < from->node_count && nd4c_graph_dim_count(from) > 0 && !need; i++) {
    const nd4c_graph_node *node = &from->nodes[i];
    need = (chosen == NULL || chosen[i]) && (node->control != NULL || !nd4c_graph_node_is_fixed(from, node));
  }
  return need;
}

nd4c_status nd4c_graph_append(nd4c_graph *graph, const nd4c_graph *from, const bool *chosen, nd4c_value *values) {
  appending work = {.graph = graph, .from = from, .values = values};
  int32_t most = 1;
  for (int32_t i = 0; i < from->node_count; i++) {
    const int32_t needed = from->nodes[i].input_count + from->nodes[i].output_count;
    most = needed > most ? needed : most;
  }
  if (need_dims(from, chosen)) {
    ND4C_TRY(nd4c_body_dims_make(from, graph, &work.dims));
  }
  nd4c_status status = nd4c_allocate_or_fail((size_t)most, sizeof *work.room, "operands of a body", &work.room);
  status = status == ND4C_OK ? append_all(&work, chosen) : status;
  nd4c_deallocate(work.room);
  nd4c_body_dims_free(&work.dims);
  return status;
}
