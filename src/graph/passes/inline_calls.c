/* Puts bodies in place of the nodes that run them: functions, branches whose condition is a constant, and short loops
 * of a known number of rounds. The nodes of a body then take part in all other passes. passes.c runs it on every
 * optimised plan.
 *
 * The limits hold on every path, whatever calls what: a body counts with the bodies in it, and a graph does not grow
 * beyond GRAPH_MOST. What is not inlined runs as a step of its own. */
#include "base/status.h"
#include "graph/ir/control.h"
#include "graph/ir/sweep.h"
#include "graph/passes.h"

enum {
  GRAPH_MOST = 1 << 16, /* nodes of a graph that bodies still join */
  UNROLL_ROUNDS = 8,
  UNROLL_NODES = 64 /* of all rounds together */
};

/* A body in place of a node: the values of the graph for those of the body. */
typedef struct inlining {
  nd4c_rewrite *rewrite;
  const nd4c_graph *body;
  nd4c_region region;
  nd4c_value *values;
} inlining;

/* The body's nodes once. */
static nd4c_status record(inlining *work, const nd4c_value *inputs, nd4c_value *outputs) {
  nd4c_graph *graph = work->rewrite->graph;
  for (int32_t i = 0; i < work->body->value_count; i++) {
    work->values[i] = ND4C_VALUE_NONE;
  }
  for (int32_t i = 0; i < work->body->inputs.count; i++) {
    work->values[work->body->inputs.items[i].value] = inputs[i];
  }
  ND4C_TRY(nd4c_graph_append(graph, work->body, NULL, work->values));
  for (int32_t i = 0; i < work->body->outputs.count; i++) {
    const nd4c_value value = work->body->outputs.items[i].value;
    ND4C_TRY(nd4c_graph_append_value(graph, work->body, value, work->values));
    outputs[i] = work->values[value];
  }
  return ND4C_OK;
}

static nd4c_status make_number(nd4c_rewrite *rewrite, int64_t number, nd4c_value *value) {
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_array_from_data(ND4C_INT64, 0, NULL, &number, rewrite->context->device, &array));
  return nd4c_rewrite_constant(rewrite, array, value);
}

/* Round after round, each from the outputs of the one before. `inputs`: of the body, with room for the round. */
static nd4c_status unroll(inlining *work, const nd4c_control *control, nd4c_value *inputs, nd4c_value *outputs) {
  const int32_t first = control->takes_round ? 1 : 0;
  for (int32_t i = 0; i < control->carried; i++) {
    outputs[i] = inputs[first + i];
  }
  for (int64_t round = 0; round < control->rounds; round++) {
    for (int32_t i = 0; i < control->carried; i++) {
      inputs[first + i] = outputs[i];
    }
    if (control->takes_round) {
      ND4C_TRY(make_number(work->rewrite, round, &inputs[0]));
    }
    ND4C_TRY(record(work, inputs, outputs));
  }
  return ND4C_OK;
}

static bool is_short_loop(const nd4c_control *control) {
  return (control->kind == ND4C_CONTROL_LOOP || control->kind == ND4C_CONTROL_SCAN) && !control->has_trips &&
         !control->has_condition && !control->decides && control->scanned == 0 && control->collected == 0 &&
         control->rounds >= 0 && control->rounds <= UNROLL_ROUNDS && control->rounds <= control->limit &&
         control->rounds * control->bodies[0]->nodes <= UNROLL_NODES;
}

/* Which body runs for sure; NULL: it is not known, or the body stays where it is. */
static nd4c_status choose(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, const nd4c_function **body) {
  const nd4c_control *control = node->control;
  const nd4c_function *found = NULL;
  if (control->kind == ND4C_CONTROL_CALL || is_short_loop(control)) {
    found = control->bodies[0];
  } else if (control->kind == ND4C_CONTROL_IF && rewrite->graph->values[node->inputs[0]].constant != NULL) {
    uint8_t condition = 0;
    ND4C_TRY(nd4c_array_read(rewrite->graph->values[node->inputs[0]].constant, &condition, sizeof condition));
    found = control->bodies[condition != 0 ? 0 : 1];
  }
  const int64_t times = is_short_loop(control) ? control->rounds : 1;
  const bool fits = found != NULL && rewrite->graph->node_count + found->nodes * times <= GRAPH_MOST;
  *body = fits ? found : NULL;
  return ND4C_OK;
}

/* Takes everything back if the body cannot stand for all that the node gives, as one of both must be left: a body that
 * has n where the caller has m, and n == m by assumption, gives other extents in its place. */
static nd4c_status inline_body(inlining *work, int32_t index, nd4c_value *outputs) {
  const nd4c_graph_node *node = &work->rewrite->graph->nodes[index];
  nd4c_control *control = node->control; /* the graph's: it stays when the node moves */
  const int32_t lead = nd4c_control_lead(control), first = control->takes_round ? 1 : 0;
  const int32_t output_count = node->output_count;
  nd4c_value *inputs = NULL;
  ND4C_TRY(nd4c_region_make(&work->region, work->body->value_count, sizeof *work->values, &work->values));
  ND4C_TRY(nd4c_region_make(&work->region, (int64_t)node->input_count + 1, sizeof *inputs, &inputs));
  for (int32_t i = lead; i < node->input_count; i++) {
    inputs[first + i - lead] = node->inputs[i];
  }
  const nd4c_graph_mark mark = nd4c_rewrite_begin_recording(work->rewrite);
  const nd4c_status status =
      is_short_loop(control) ? unroll(work, control, inputs, outputs) : record(work, inputs, outputs);
  if (status != ND4C_OK || nd4c_rewrite_may_replace_all(work->rewrite, &work->rewrite->graph->nodes[index], outputs)) {
    return nd4c_rewrite_end_recording(work->rewrite, mark, status);
  }
  for (int32_t i = 0; i < output_count; i++) {
    outputs[i] = ND4C_VALUE_NONE;
  }
  nd4c_graph_take_back(work->rewrite->graph, mark);
  return ND4C_OK;
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)state;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_function *body = NULL;
  if (node->control == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(choose(rewrite, node, &body));
  if (body == NULL) {
    return ND4C_OK;
  }
  inlining work = {.rewrite = rewrite, .body = body->graph};
  const nd4c_status status = inline_body(&work, index, same);
  nd4c_region_free(&work.region);
  return status;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(SIMPLIFY, 11, inline_calls, ANY, "puts functions, known branches and short loops in place of their nodes")
