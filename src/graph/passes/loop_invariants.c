/* Makes bodies know and do less: captured constants become constants of the body, whose kernels can then pack them, and
 * nodes of a loop's body that read only captured values and constants move in front of the loop, where they run once.
 * passes.c runs it on every optimised plan.
 *
 * A node moves only if no data can make it fail, since a loop may have no round, and only if it costs something. */
#include <stdio.h>

#include "base/status.h"
#include "graph/ir/control.h"
#include "graph/ir/cost.h"
#include "graph/ir/sweep.h"
#include "graph/passes.h"

/* A node whose body is made anew. */
typedef struct moving {
  nd4c_rewrite *rewrite;
  nd4c_region region;
  const nd4c_control *control;
  const nd4c_graph *body;
  const nd4c_value *captured; /* of the node */
  int32_t first;              /* the body's first captured input */
  bool *moved;                /* by node of the body */
  nd4c_value *outer;          /* by value of the body: the value around that it is; ND4C_VALUE_NONE: none */
  bool *wanted;               /* by value of the body: moved, and read by what stays */
  nd4c_value *inputs;         /* captured values of the new body, in the graph around */
  int32_t input_count;
} moving;

static bool reads_text(const nd4c_graph *graph, const nd4c_graph_node *node) {
  for (int32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] >= 0 && graph->values[node->inputs[i]].dtype == ND4C_UTF8) {
      return true;
    }
  }
  return false;
}

/* Ops that no data makes fail: not those that take indices, factorise matrices, divide integers or parse texts. */
static bool is_safe(const nd4c_graph *graph, const nd4c_graph_node *node) {
  const nd4c_category category = node->def->info.category;
  if (node->control != NULL || nd4c_op_is_foreign(node->def) || node->output_count != 1 || reads_text(graph, node)) {
    return false;
  }
  switch (node->def->info.op) {
    case ND4C_OP_matmul:
    case ND4C_OP_linear:
      return true;
    case ND4C_OP_gather:
      return false;
    default:
      break;
  }
  const nd4c_dtype_info *dtype = nd4c_dtype_get_info(graph->values[node->outputs[0]].dtype);
  return category == ND4C_CATEGORY_UNARY || category == ND4C_CATEGORY_REDUCTION || category == ND4C_CATEGORY_SHAPE ||
         (category == ND4C_CATEGORY_BINARY && dtype->kind == ND4C_KIND_FLOAT);
}

static bool is_known(const moving *work, nd4c_value value) {
  return value < 0 || work->body->values[value].constant != NULL || work->outer[value] != ND4C_VALUE_NONE;
}

/* Notes which nodes move; true if one of them costs something. */
static bool find_moved(moving *work) {
  bool worth = false;
  for (int32_t i = 0; i < work->body->node_count; i++) {
    const nd4c_graph_node *node = &work->body->nodes[i];
    bool known = is_safe(work->body, node), any = false;
    for (int32_t k = 0; k < node->input_count; k++) {
      known = known && is_known(work, node->inputs[k]);
      any = any || (node->inputs[k] >= 0 && work->body->values[node->inputs[k]].constant == NULL);
    }
    work->moved[i] = known && any;
    if (work->moved[i]) {
      work->outer[node->outputs[0]] = 0; /* known from now on; its value is not made yet */
      worth = worth || nd4c_node_cost(work->body, node).bytes > 0;
    }
  }
  return worth;
}

static bool is_loop(const nd4c_control *control) {
  return control->kind == ND4C_CONTROL_LOOP || control->kind == ND4C_CONTROL_SCAN;
}

/* Captured inputs of the body that are constants around. */
static int32_t count_constants(const moving *work) {
  int32_t count = 0;
  for (int32_t i = 0; i < work->control->captured; i++) {
    count += work->rewrite->graph->values[work->captured[i]].constant != NULL;
  }
  return count;
}

/* -- the new body -------------------------------------------------------------------------------------------------- */

static nd4c_status add_input(const nd4c_graph *from, nd4c_value value, nd4c_graph *made, nd4c_value *values) {
  char name[32];
  const nd4c_graph_value *info = &from->values[value];
  (void)snprintf(name, sizeof name, "in%d", (int)made->inputs.count);
  return nd4c_graph_input(made, name, info->dtype, info->rank, info->shape, &values[value]);
}

/* The body's own inputs, then what it captures: constants stay constants, and moved values that are read come last. */
static nd4c_status add_inputs(moving *work, const nd4c_graph *body, bool moves, nd4c_graph *made, nd4c_value *values) {
  const nd4c_graph *around = work->rewrite->graph;
  work->input_count = 0;
  for (int32_t i = 0; i < body->inputs.count; i++) {
    const nd4c_value value = body->inputs.items[i].value;
    const nd4c_value outer = i < work->first ? ND4C_VALUE_NONE : work->captured[i - work->first];
    if (outer != ND4C_VALUE_NONE && around->values[outer].constant != NULL) {
      ND4C_TRY(nd4c_graph_add_constant(made, around->values[outer].constant, &values[value]));
      continue;
    }
    ND4C_TRY(add_input(body, value, made, values));
    if (outer != ND4C_VALUE_NONE) {
      work->inputs[work->input_count++] = outer;
    }
  }
  for (int32_t i = 0; moves && i < body->value_count; i++) {
    if (work->wanted[i]) {
      ND4C_TRY(add_input(body, i, made, values));
      work->inputs[work->input_count++] = work->outer[i];
    }
  }
  return ND4C_OK;
}

static nd4c_status fill_body(moving *work, const nd4c_graph *body, bool moves, nd4c_graph *made) {
  nd4c_value *values = NULL;
  bool *stays = NULL;
  ND4C_TRY(nd4c_region_make(&work->region, body->value_count, sizeof *values, &values));
  ND4C_TRY(nd4c_region_make(&work->region, (int64_t)body->node_count + 1, sizeof *stays, &stays));
  for (int32_t i = 0; i < body->value_count; i++) {
    values[i] = ND4C_VALUE_NONE;
  }
  for (int32_t i = 0; i < body->node_count; i++) {
    stays[i] = !moves || !work->moved[i];
  }
  ND4C_TRY(add_inputs(work, body, moves, made, values));
  ND4C_TRY(nd4c_graph_append(made, body, stays, values));
  for (int32_t i = 0; i < body->outputs.count; i++) {
    const nd4c_graph_port *port = &body->outputs.items[i];
    ND4C_TRY(nd4c_graph_append_value(made, body, port->value, values));
    ND4C_TRY(nd4c_graph_output(made, port->name, values[port->value]));
  }
  return ND4C_OK;
}

static nd4c_status make_body(moving *work, const nd4c_function *body, bool moves, nd4c_function **function) {
  nd4c_graph *made = NULL;
  ND4C_TRY(nd4c_graph_create(&made));
  nd4c_status status = nd4c_extents_clone(body->graph->extents, &made->extents);
  status = status == ND4C_OK ? fill_body(work, body->graph, moves, made) : status;
  if (status != ND4C_OK) {
    nd4c_graph_destroy(made);
    return status;
  }
  return nd4c_function_make(body->name, made, function);
}

/* -- the new node -------------------------------------------------------------------------------------------------- */

/* Records the moved nodes around the loop. */
static nd4c_status move_nodes(moving *work) {
  nd4c_graph *graph = work->rewrite->graph;
  for (int32_t i = 0; i < work->body->node_count; i++) {
    if (work->moved[i]) {
      work->outer[work->body->nodes[i].outputs[0]] = ND4C_VALUE_NONE;
    }
  }
  const nd4c_graph_mark mark = nd4c_rewrite_begin_recording(work->rewrite);
  ND4C_TRY(
      nd4c_rewrite_end_recording(work->rewrite, mark, nd4c_graph_append(graph, work->body, work->moved, work->outer)));
  for (int32_t i = 0; i < work->body->node_count; i++) {
    const nd4c_graph_node *node = &work->body->nodes[i];
    for (int32_t k = 0; !work->moved[i] && k < node->input_count; k++) {
      const int32_t producer = node->inputs[k] < 0 ? -1 : work->body->values[node->inputs[k]].producer;
      if (producer >= 0 && work->moved[producer]) {
        work->wanted[node->inputs[k]] = true;
      }
    }
  }
  for (int32_t i = 0; i < work->body->outputs.count; i++) {
    const int32_t producer = work->body->values[work->body->outputs.items[i].value].producer;
    if (producer >= 0 && work->moved[producer]) {
      work->wanted[work->body->outputs.items[i].value] = true;
    }
  }
  return ND4C_OK;
}

static nd4c_status replace_node(moving *work, int32_t index, bool moves, nd4c_value *outputs) {
  nd4c_graph *graph = work->rewrite->graph;
  nd4c_control *made = NULL;
  ND4C_TRY(nd4c_control_copy(work->control, &made));
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < made->body_count && status == ND4C_OK; i++) {
    nd4c_function *body = NULL;
    status = make_body(work, made->bodies[i], moves, &body);
    if (status == ND4C_OK) {
      nd4c_function_release(made->bodies[i]);
      made->bodies[i] = body;
    }
  }
  const nd4c_graph_node node = graph->nodes[index];
  const nd4c_graph_mark mark = nd4c_rewrite_begin_recording(work->rewrite);
  const int32_t lead = node.input_count - work->control->captured;
  nd4c_value *inputs = NULL;
  made->captured = work->input_count;
  status = status == ND4C_OK
               ? nd4c_region_make(&work->region, (int64_t)lead + work->input_count, sizeof *inputs, &inputs)
               : status;
  if (status == ND4C_OK) {
    for (int32_t i = 0; i < lead + work->input_count; i++) {
      inputs[i] = i < lead ? node.inputs[i] : work->inputs[i - lead];
    }
    status = nd4c_control_record(graph, made, inputs, lead + work->input_count, node.label, outputs);
  }
  nd4c_control_release(made);
  return nd4c_rewrite_end_recording(work->rewrite, mark, status);
}

static nd4c_status begin(moving *work) {
  const int32_t values = work->body->value_count;
  ND4C_TRY(nd4c_region_make(&work->region, (int64_t)work->body->node_count + 1, sizeof *work->moved, &work->moved));
  ND4C_TRY(nd4c_region_make(&work->region, values, sizeof *work->outer, &work->outer));
  ND4C_TRY(nd4c_region_make(&work->region, values, sizeof *work->wanted, &work->wanted));
  ND4C_TRY(
      nd4c_region_make(&work->region, (int64_t)work->control->captured + values, sizeof *work->inputs, &work->inputs));
  for (int32_t i = 0; i < values; i++) {
    work->outer[i] = ND4C_VALUE_NONE;
  }
  for (int32_t i = 0; i < work->control->captured; i++) {
    work->outer[work->body->inputs.items[work->first + i].value] = work->captured[i];
  }
  return ND4C_OK;
}

static nd4c_status improve(moving *work, int32_t index, nd4c_value *outputs) {
  ND4C_TRY(begin(work));
  const bool moves = is_loop(work->control) && work->control->rounds != 0 && find_moved(work);
  if (!moves && count_constants(work) == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(moves ? move_nodes(work) : ND4C_OK);
  return replace_node(work, index, moves, outputs);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)state;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_control *control = node->control;
  if (control == NULL || control->kind == ND4C_CONTROL_CALL) { /* calls share the plan of their function */
    return ND4C_OK;
  }
  moving work = {.rewrite = rewrite,
                 .control = control,
                 .body = control->bodies[0]->graph,
                 .captured = node->inputs + node->input_count - control->captured};
  work.first = work.body->inputs.count - control->captured;
  const nd4c_status status = improve(&work, index, same);
  nd4c_region_free(&work.region);
  return status;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(SIMPLIFY, 12, loop_invariants, ANY,
          "moves what is equal in all rounds in front of loops, constants into bodies")
