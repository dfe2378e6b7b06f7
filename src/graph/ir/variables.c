/* Implements variables.h, and the functions of nd4c/variable.h that build and look at graphs. Programs call these;
 * graph.c, clone.c and dims.c copy and free variables; plan.c, ahead.c and explain.c open them. */
#include "graph/ir/variables.h"

#include <stdio.h>
#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "graph/state/state.h"

enum { SHOWN = 200, TEXT = 256 };

/* -- where values come from ---------------------------------------------------------------------------------------- */

static int32_t mark(const nd4c_graph *graph, nd4c_value value, bool *needed) {
  const int32_t producer = value < 0 ? -1 : graph->values[value].producer;
  const bool fresh = producer >= 0 && !needed[producer];
  if (fresh) {
    needed[producer] = true;
  }
  return fresh ? 1 : 0;
}

void nd4c_graph_mark_needed(const nd4c_graph *graph, const nd4c_value *values, int32_t count, bool *needed) {
  int32_t open = 0; /* marked, and its inputs not looked at yet: a node's inputs come from nodes before it */
  for (int32_t i = 0; i < count; i++) {
    open += mark(graph, values[i], needed);
  }
  for (int32_t i = graph->node_count - 1; i >= 0 && open > 0; i--) {
    if (needed[i]) {
      open--;
      for (int32_t k = 0; k < graph->nodes[i].input_count; k++) {
        open += mark(graph, graph->nodes[i].inputs[k], needed);
      }
    }
  }
}

/* What an initial value must not depend on; NULL: the value is none of these. */
static const char *outside_of(const nd4c_graph *graph, nd4c_value value, const char **name) {
  const nd4c_graph_value *info = value < 0 ? NULL : &graph->values[value];
  if (info != NULL && info->variable >= 0) {
    *name = graph->variables.items[info->variable].name;
    return "variable";
  }
  *name = info != NULL && info->input >= 0 ? graph->inputs.items[info->input].name : NULL;
  return *name != NULL ? "input" : NULL;
}

static nd4c_status refuse_outside(const nd4c_graph *graph, nd4c_value value) {
  const char *name = NULL;
  const char *what = outside_of(graph, value, &name);
  return what == NULL ? ND4C_OK
                      : nd4c_fail(ND4C_ARGUMENT, "its initial value depends on the %s '%.*s', expected constants alone",
                                  what, SHOWN, name);
}

static nd4c_status check_needed(const nd4c_graph *graph, nd4c_value initial, const bool *needed) {
  ND4C_TRY(refuse_outside(graph, initial));
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    for (int32_t k = 0; needed[i] && k < node->input_count; k++) {
      ND4C_TRY(refuse_outside(graph, node->inputs[k]));
    }
    if (needed[i] && !nd4c_graph_node_is_fixed(graph, node)) {
      return nd4c_fail(ND4C_SHAPE, "its initial value depends on the graph's dims, expected numbers (%s%s%.*s)",
                       node->def->info.name, node->label[0] != '\0' ? " " : "", SHOWN, node->label);
    }
  }
  return ND4C_OK;
}

static nd4c_status check_initial(const nd4c_graph *graph, nd4c_value initial) {
  bool *needed = NULL;
  ND4C_TRY(nd4c_graph_check_value(graph, initial, "its initial value"));
  if (graph->values[initial].dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_UNSUPPORTED, "its initial value has dtype utf8: strings are computed on the host");
  }
  if (graph->values[initial].constant != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_allocate_or_fail((size_t)graph->node_count, sizeof *needed, "a variable", &needed));
  nd4c_graph_mark_needed(graph, &initial, 1, needed);
  const nd4c_status status = check_needed(graph, initial, needed);
  nd4c_deallocate(needed);
  return status;
}

/* -- building ------------------------------------------------------------------------------------------------------ */

static nd4c_status check_name(const nd4c_graph *graph, const char *name) {
  if (name == NULL || name[0] == '\0') {
    return nd4c_fail(name == NULL ? ND4C_NULL_ARGUMENT : ND4C_NAME, "graph: a variable needs a name");
  }
  const bool input = nd4c_ports_find(&graph->inputs, name) >= 0;
  return !input && nd4c_ports_find(&graph->variables, name) < 0
             ? ND4C_OK
             : nd4c_fail(ND4C_NAME, "graph: there is already %s named '%.*s'", input ? "an input" : "a variable", SHOWN,
                         name);
}

/* All that may fail comes first. */
static nd4c_status add(nd4c_graph *graph, const char *name, nd4c_value value, nd4c_variable variable) {
  if (graph->state == NULL) {
    ND4C_TRY(nd4c_state_create(&graph->state));
  }
  ND4C_TRY(nd4c_grow(&graph->variable_items, &graph->variable_capacity, graph->variables.count + 1,
                     sizeof *graph->variable_items, "variables of a graph"));
  ND4C_TRY(nd4c_ports_add(&graph->variables, &graph->region, "entry", name, value));
  const int32_t number = graph->variables.count - 1;
  graph->variable_items[number] = variable;
  graph->values[value].variable = number;
  return ND4C_OK;
}

nd4c_status nd4c_graph_variable(nd4c_graph *graph, const char *name, nd4c_value initial, bool trainable,
                                nd4c_value *value) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (value == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_variable: value is NULL");
  }
  nd4c_scoped room;
  ND4C_TRY(name != NULL && name[0] != '\0' ? nd4c_scopes_join(graph->scopes, name, &room, &name) : ND4C_OK);
  ND4C_TRY(check_name(graph, name));
  nd4c_status status = check_initial(graph, initial);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "graph: variable '%.*s'", SHOWN, name);
  }
  const nd4c_graph_value *given = &graph->values[initial];
  nd4c_value added = ND4C_VALUE_NONE;
  ND4C_TRY(nd4c_graph_add_value(graph, given->dtype, given->rank, given->shape, &added));
  status =
      add(graph, name, added, (nd4c_variable){.initial = initial, .assigned = ND4C_VALUE_NONE, .trainable = trainable});
  if (status != ND4C_OK) {
    graph->value_count--;
    return status;
  }
  *value = added;
  return ND4C_OK;
}

static const char *shape_text(const nd4c_graph *graph, const nd4c_graph_value *value, char *buffer, size_t size) {
  char numbers[TEXT];
  (void)nd4c_shape_text(value->rank, value->shape, numbers, sizeof numbers);
  nd4c_extents_translate(graph->extents, numbers, buffer, size);
  return buffer;
}

nd4c_status nd4c_graph_assign(nd4c_graph *graph, nd4c_value variable, nd4c_value value) {
  ND4C_TRY(nd4c_graph_check(graph));
  ND4C_TRY(nd4c_graph_check_value(graph, variable, "nd4c_graph_assign"));
  ND4C_TRY(nd4c_graph_check_value(graph, value, "nd4c_graph_assign"));
  const nd4c_graph_value *to = &graph->values[variable], *from = &graph->values[value];
  if (to->variable < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_graph_assign: value %d is no variable of the graph", (int)variable);
  }
  const char *name = graph->variables.items[to->variable].name;
  if (from->dtype != to->dtype) {
    return nd4c_fail(ND4C_DTYPE, "graph: variable '%.*s' is assigned dtype %s, expected %s", SHOWN, name,
                     nd4c_dtype_name(from->dtype), nd4c_dtype_name(to->dtype));
  }
  if (!nd4c_shape_equal(from->rank, from->shape, to->rank, to->shape)) {
    char given[TEXT], expected[TEXT];
    return nd4c_fail(ND4C_SHAPE, "graph: variable '%.*s' is assigned shape %s, expected %s", SHOWN, name,
                     shape_text(graph, from, given, sizeof given), shape_text(graph, to, expected, sizeof expected));
  }
  graph->variable_items[to->variable].assigned = value;
  return ND4C_OK;
}

/* -- looking ------------------------------------------------------------------------------------------------------- */

int32_t nd4c_graph_variable_count(const nd4c_graph *graph) {
  return graph == NULL || nd4c_graph_check(graph) != ND4C_OK ? 0 : graph->variables.count;
}

nd4c_status nd4c_graph_get_variable(const nd4c_graph *graph, int32_t index, nd4c_variable_info *info) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_get_variable: info is NULL");
  }
  if (!ND4C_HAS_FIELD(info, trainable)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_graph_get_variable: struct_size is %u, expected at least %u",
                     info->struct_size, ND4C_SIZE_OF(nd4c_variable_info));
  }
  if (index < 0 || index >= graph->variables.count) {
    return nd4c_fail(ND4C_INDEX, "nd4c_graph_get_variable: the graph has %d variables, not one number %d",
                     (int)graph->variables.count, (int)index);
  }
  info->name = graph->variables.items[index].name;
  info->value = graph->variables.items[index].value;
  info->initial = graph->variable_items[index].initial;
  info->assigned = graph->variable_items[index].assigned;
  info->trainable = graph->variable_items[index].trainable;
  return ND4C_OK;
}

int32_t nd4c_graph_find_variable(const nd4c_graph *graph, const char *name) {
  return name == NULL || nd4c_graph_variable_count(graph) == 0 ? -1 : nd4c_ports_find(&graph->variables, name);
}

nd4c_status nd4c_graph_state(const nd4c_graph *graph, nd4c_state **state) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (state == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_state: state is NULL");
  }
  if (graph->variables.count == 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_graph_state: the graph has no variables");
  }
  *state = nd4c_state_retain(graph->state);
  return ND4C_OK;
}

int32_t nd4c_variables_assigned(const nd4c_graph *graph) {
  int32_t count = 0;
  for (int32_t i = 0; i < graph->variables.count; i++) {
    count += graph->variable_items[i].assigned != ND4C_VALUE_NONE;
  }
  return count;
}

nd4c_status nd4c_variables_refuse(const nd4c_graph *graph, const char *what) {
  return graph->variables.count == 0
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED,
                         "%s has the variable '%.*s': declare it in the graph around it, read it there as an input of "
                         "the body, and assign an output",
                         what, SHOWN, graph->variables.items[0].name);
}

/* -- copies and plans ---------------------------------------------------------------------------------------------- */

nd4c_status nd4c_variables_copy(const nd4c_graph *from, nd4c_graph *to) {
  if (from->variables.count == 0) {
    return ND4C_OK;
  }
  to->state = nd4c_state_retain(from->state);
  for (int32_t i = 0; i < from->variables.count; i++) {
    ND4C_TRY(add(to, from->variables.items[i].name, from->variables.items[i].value, from->variable_items[i]));
  }
  return ND4C_OK;
}

void nd4c_variables_free(nd4c_graph *graph) {
  nd4c_ports_free(&graph->variables);
  nd4c_deallocate(graph->variable_items);
  nd4c_state_release(graph->state);
  graph->variables = (nd4c_graph_ports){0};
  graph->variable_items = NULL;
  graph->variable_capacity = 0;
  graph->state = NULL;
}

nd4c_status nd4c_variables_fork(nd4c_graph *graph) {
  nd4c_state *forked = NULL;
  if (graph->variables.count == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_state_fork(graph->state, &forked));
  nd4c_state_release(graph->state);
  graph->state = forked;
  return ND4C_OK;
}

/* An output under a name that no other has: what the caller named comes first. */
static nd4c_status add_output(nd4c_graph *graph, const char *verb, const char *name, nd4c_value value) {
  char text[TEXT];
  (void)snprintf(text, sizeof text, "%s %.*s", verb, SHOWN, name);
  for (int32_t i = 2; nd4c_ports_find(&graph->outputs, text) >= 0; i++) {
    (void)snprintf(text, sizeof text, "%s %.*s (%d)", verb, SHOWN, name, (int)i);
  }
  return nd4c_ports_add(&graph->outputs, &graph->region, "output", text, value);
}

nd4c_status nd4c_variables_open(nd4c_graph *graph, bool keep_initial) {
  for (int32_t i = 0; i < graph->variables.count; i++) {
    const nd4c_graph_port *port = &graph->variables.items[i];
    ND4C_TRY(nd4c_ports_add(&graph->inputs, &graph->region, "input", port->name, port->value));
    graph->values[port->value].input = graph->inputs.count - 1;
  }
  for (int32_t i = 0; i < graph->variables.count; i++) {
    const nd4c_variable *variable = &graph->variable_items[i];
    if (variable->assigned != ND4C_VALUE_NONE) {
      ND4C_TRY(add_output(graph, "assign", graph->variables.items[i].name, variable->assigned));
    }
  }
  for (int32_t i = 0; keep_initial && i < graph->variables.count; i++) {
    ND4C_TRY(add_output(graph, "initial", graph->variables.items[i].name, graph->variable_items[i].initial));
  }
  return ND4C_OK;
}

void nd4c_variables_close(nd4c_graph *graph) {
  const int32_t count = graph->variables.count, inputs = nd4c_variables_opened(graph);
  const int32_t initial = graph->outputs.count - count, outputs = initial - nd4c_variables_assigned(graph);
  int32_t at = outputs;
  for (int32_t i = 0; i < count; i++) {
    graph->values[graph->variables.items[i].value].input = -1;
    graph->variable_items[i].initial = graph->outputs.items[initial + i].value;
    if (graph->variable_items[i].assigned != ND4C_VALUE_NONE) {
      graph->variable_items[i].assigned = graph->outputs.items[at++].value;
    }
  }
  nd4c_ports_cut(&graph->inputs, inputs);
  nd4c_ports_cut(&graph->outputs, outputs);
}
