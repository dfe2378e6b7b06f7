/* Records If, Loop and Scan as nodes with bodies. A failure says that the model must be interpreted, and why: branches
 * of different shapes, carried values that grow, ops whose results depend on data. control.c calls it. */
#include "import/onnx/ops/control_nodes.h"

#include <string.h>

#include "base/status.h"
#include "nd4c/control.h"

/* -- what all of them need ----------------------------------------------------------------------------------------- */

static nd4c_status values_of(nd4c_onnx_emission *emission, const nd4c_onnx_operand *operands, int32_t count,
                             nd4c_value **values) {
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)count + 1, sizeof **values, "a node with bodies", values));
  for (int32_t i = 0; i < count; i++) {
    if (nd4c_onnx_operand_kind(emission, operands[i]) != ND4C_ONNX_KIND_ARRAY) {
      return nd4c_fail(ND4C_UNSUPPORTED, "a sequence or optional goes into an inner graph");
    }
    ND4C_TRY(nd4c_onnx_body_value(emission, operands[i], &(*values)[i]));
  }
  return ND4C_OK;
}

/* An input of the body like an operand, without its axis `without` (-1: none). */
static nd4c_status like(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand, int32_t without,
                        nd4c_onnx_body_input *input) {
  if (nd4c_onnx_operand_kind(emission, operand) != ND4C_ONNX_KIND_ARRAY) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a sequence or optional goes into an inner graph");
  }
  const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, operand);
  *input = (nd4c_onnx_body_input){.known = ND4C_ONNX_OPERAND_NONE, .dtype = info.dtype};
  for (int32_t i = 0; i < info.rank; i++) {
    if (i != without) {
      input->shape[input->rank++] = info.shape[i];
    }
  }
  return ND4C_OK;
}

static nd4c_status give_outputs(nd4c_onnx_emission *emission, const nd4c_value *values, int32_t count,
                                nd4c_onnx_operand *outputs) {
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(nd4c_onnx_body_output(emission, values[i], &outputs[i]));
  }
  return ND4C_OK;
}

/* The node's name, NUL-terminated; memory of the node. */
static nd4c_status label_of(nd4c_onnx_emission *emission, const char **label) {
  const nd4c_span name = emission->node->name;
  char *copy = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, name.size + 1, 1, "a label", &copy));
  if (name.size > 0) {
    memcpy(copy, name.bytes, name.size);
  }
  *label = copy;
  return ND4C_OK;
}

/* -- If ------------------------------------------------------------------------------------------------------------ */

static nd4c_status record_if(nd4c_onnx_emission *emission, const nd4c_onnx_captures *captures,
                             nd4c_graph *const *bodies) {
  const char *label = NULL;
  const int32_t count = emission->node->output_count;
  nd4c_value condition = ND4C_VALUE_NONE, *values = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)count + 1, sizeof *values, "an If", &values));
  ND4C_TRY(nd4c_onnx_body_value(emission, emission->inputs[0], &condition));
  ND4C_TRY(label_of(emission, &label));
  ND4C_TRY(nd4c_graph_if(nd4c_onnx_recorded_graph(emission), condition, bodies[0], bodies[1], captures->values,
                         captures->value_count, label, values, count));
  return give_outputs(emission, values, count, emission->outputs);
}

nd4c_status nd4c_onnx_emit_if_node(nd4c_onnx_emission *emission, const nd4c_onnx_graph *then_graph,
                                   const nd4c_onnx_graph *else_graph) {
  const nd4c_onnx_graph *graphs[] = {then_graph, else_graph};
  nd4c_graph *bodies[2] = {NULL, NULL};
  nd4c_onnx_captures captures;
  ND4C_TRY(nd4c_onnx_find_captures(emission, graphs, 2, &captures));
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < 2 && status == ND4C_OK; i++) {
    if (graphs[i]->inputs.count != 0 || graphs[i]->outputs.count != emission->node->output_count) {
      status =
          nd4c_fail(ND4C_FORMAT, "the inner graph has %d inputs and %d outputs; expected 0 and %d",
                    (int)graphs[i]->inputs.count, (int)graphs[i]->outputs.count, (int)emission->node->output_count);
    } else {
      status = nd4c_onnx_record_body(emission, graphs[i], &captures, NULL, NULL, NULL, &bodies[i]);
    }
  }
  if (status == ND4C_OK) {
    status = nd4c_onnx_interpret_instead(emission, record_if(emission, &captures, bodies));
  }
  nd4c_graph_destroy(bodies[0]);
  nd4c_graph_destroy(bodies[1]);
  return status;
}

/* -- Loop ---------------------------------------------------------------------------------------------------------- */

enum { UNKNOWN = -1 };

typedef struct loop_node {
  nd4c_onnx_emission *emission;
  const nd4c_onnx_graph *body_graph;
  int32_t carried, collected; /* collected: those that the model reads */
  bool *wanted;               /* by output of the body's graph */
  nd4c_onnx_captures captures;
  nd4c_onnx_first goes_on; /* what the body says about another round */
  int64_t trips;           /* INT64_MAX: any number; UNKNOWN; or an extent of the graph's dims */
  nd4c_onnx_first condition;
  nd4c_graph *body;
} loop_node;

static nd4c_status read_trips(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, int64_t *trips) {
  static const char what[] = "the number of rounds";
  int32_t count = 0;
  *trips = operand == ND4C_ONNX_OPERAND_NONE ? INT64_MAX : UNKNOWN;
  if (nd4c_onnx_constant_array(emission, operand) != NULL) {
    ND4C_TRY(nd4c_onnx_read_ints(emission, operand, what, 1, trips, &count));
    *trips = *trips < 0 ? 0 : *trips;
  } else if (nd4c_onnx_is_extents(emission, operand)) {
    ND4C_TRY(nd4c_onnx_read_extents(emission, operand, what, 1, trips, &count));
  }
  return ND4C_OK;
}

static nd4c_status read_lead(loop_node *loop) {
  nd4c_onnx_emission *emission = loop->emission;
  const nd4c_onnx_operand condition = emission->inputs[1];
  ND4C_TRY(read_trips(emission, emission->inputs[0], &loop->trips));
  loop->condition = condition == ND4C_ONNX_OPERAND_NONE ? ND4C_ONNX_FIRST_TRUE : ND4C_ONNX_FIRST_UNKNOWN;
  if (nd4c_onnx_constant_array(emission, condition) != NULL) {
    double number = 0;
    ND4C_TRY(nd4c_onnx_read_number(emission, condition, "the loop's condition", &number));
    loop->condition = number != 0 ? ND4C_ONNX_FIRST_TRUE : ND4C_ONNX_FIRST_FALSE;
    loop->trips = number != 0 ? loop->trips : 0;
  }
  return ND4C_OK;
}

/* The rounds can be imported one by one, as far as the node's inputs say, and the body once it is recorded. */
static bool is_short(const loop_node *loop) {
  return loop->condition != ND4C_ONNX_FIRST_UNKNOWN && loop->trips >= 0 && /* neither unknown nor an extent */
         (loop->goes_on == ND4C_ONNX_FIRST_FALSE || loop->trips <= ND4C_ONNX_UNROLL_MOST);
}

/* Whether so many rounds, within those of the loops around, are still few. */
static bool are_few(const loop_node *loop) {
  return loop->goes_on == ND4C_ONNX_FIRST_FALSE ||
         nd4c_onnx_rounds_together(nd4c_onnx_unrolled(loop->emission), loop->trips) <= ND4C_ONNX_UNROLL_TOGETHER;
}

/* The body's inputs: the round, a condition that is true whenever the body runs, the carried values. */
static nd4c_status record_body(loop_node *loop) {
  nd4c_onnx_emission *emission = loop->emission;
  const nd4c_onnx_graph *graph = loop->body_graph;
  nd4c_onnx_body_input *inputs = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)graph->inputs.count, sizeof *inputs, "a loop", &inputs));
  inputs[0] = (nd4c_onnx_body_input){.known = ND4C_ONNX_OPERAND_NONE, .dtype = ND4C_INT64};
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, ND4C_BOOL, 1, &inputs[1].known));
  for (int32_t i = 0; i < loop->carried; i++) {
    ND4C_TRY(like(emission, emission->inputs[2 + i], -1, &inputs[2 + i]));
  }
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)graph->outputs.count + 1, sizeof *loop->wanted, "a loop", &loop->wanted));
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    loop->wanted[i] = i <= loop->carried || nd4c_onnx_wants(emission, i - 1);
    loop->collected += i > loop->carried && loop->wanted[i];
  }
  ND4C_TRY(nd4c_onnx_find_captures(emission, &graph, 1, &loop->captures));
  /* Loops in the body decide here as they will when the rounds are imported: each level would double the work. */
  const int32_t around = nd4c_onnx_unrolled(emission);
  nd4c_onnx_set_unrolled(emission, is_short(loop) ? nd4c_onnx_rounds_together(around, loop->trips) : around);
  const nd4c_status status =
      nd4c_onnx_record_body(emission, graph, &loop->captures, inputs, loop->wanted, &loop->goes_on, &loop->body);
  nd4c_onnx_set_unrolled(emission, around);
  return status;
}

/* The most rounds that are known at import. */
static int64_t most_rounds(const loop_node *loop) {
  const int64_t most = loop->trips == INT64_MAX ? UNKNOWN : loop->trips;
  return loop->goes_on == ND4C_ONNX_FIRST_FALSE && most != 0 ? 1 : most;
}

static nd4c_status record_loop(const loop_node *loop) {
  const char *label = NULL;
  nd4c_onnx_emission *emission = loop->emission;
  const int32_t count = loop->carried + loop->collected;
  const int64_t most = most_rounds(loop);
  nd4c_value trips = ND4C_VALUE_NONE, condition = ND4C_VALUE_NONE, *carried = NULL, *outputs = NULL;
  nd4c_loop_options options = {.struct_size = sizeof options,
                               .carried_count = loop->carried,
                               .captured_count = loop->captures.value_count,
                               .captured = loop->captures.values,
                               .limit = nd4c_onnx_loop_limit(emission),
                               .decides = loop->goes_on == ND4C_ONNX_FIRST_UNKNOWN};
  ND4C_TRY(values_of(emission, emission->inputs + 2, loop->carried, &carried));
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)count + 1, sizeof *outputs, "a loop", &outputs));
  options.carried = carried;
  /* Also where a body runs at most once, and an extent says whether it does. */
  if (loop->trips == UNKNOWN || (nd4c_extent_is_symbolic(loop->trips) && most == 1)) {
    ND4C_TRY(nd4c_onnx_body_value(emission, emission->inputs[0], &trips));
    options.trips = &trips;
  }
  if (most != UNKNOWN) {
    options.rounds = &most;
  }
  if (loop->condition == ND4C_ONNX_FIRST_UNKNOWN) {
    ND4C_TRY(nd4c_onnx_body_value(emission, emission->inputs[1], &condition));
    options.condition = &condition;
  }
  ND4C_TRY(label_of(emission, &label));
  ND4C_TRY(nd4c_graph_loop(nd4c_onnx_recorded_graph(emission), loop->body, &options, label, outputs, count));
  ND4C_TRY(give_outputs(emission, outputs, loop->carried, emission->outputs));
  for (int32_t i = loop->carried, given = loop->carried; i < emission->node->output_count; i++) {
    if (nd4c_onnx_wants(emission, i)) {
      ND4C_TRY(nd4c_onnx_body_output(emission, outputs[given++], &emission->outputs[i]));
    }
  }
  return ND4C_OK;
}

/* Of a loop that ends by data, only the interpreter knows how long the collected values are. */
static nd4c_status check_rounds(const loop_node *loop) {
  const bool ends_early = loop->goes_on != ND4C_ONNX_FIRST_TRUE || loop->condition != ND4C_ONNX_FIRST_TRUE;
  const bool known = loop->trips == 0 || (!ends_early && loop->trips != UNKNOWN && loop->trips != INT64_MAX);
  return known || loop->collected == 0
             ? ND4C_OK
             : nd4c_fail(
                   ND4C_UNSUPPORTED,
                   "the length of the scanned outputs depends on the values of the model's inputs, so that only its "
                   "rounds run in a plan");
}

static nd4c_status try_node(loop_node *loop, bool *done) {
  ND4C_TRY(record_body(loop));
  if (is_short(loop) && are_few(loop) && loop->goes_on != ND4C_ONNX_FIRST_UNKNOWN) {
    return ND4C_OK;
  }
  ND4C_TRY(check_rounds(loop));
  ND4C_TRY(record_loop(loop));
  *done = true;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_emit_loop_node(nd4c_onnx_emission *emission, const nd4c_onnx_graph *body, int32_t carried,
                                     bool *done) {
  loop_node loop = {.emission = emission, .body_graph = body, .carried = carried};
  *done = false;
  if (!nd4c_onnx_takes_bodies(emission) || carried + emission->node->output_count == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(read_lead(&loop));
  nd4c_status status = try_node(&loop, done);
  nd4c_graph_destroy(loop.body);
  if (status != ND4C_OK && is_short(&loop) && !nd4c_status_passes(status)) {
    nd4c_onnx_forget_need(
        emission); /* round by round, shapes may change, and rounds may be known where they are read */
    return ND4C_OK;
  }
  return nd4c_onnx_interpret_instead(emission, status);
}

/* -- Scan ---------------------------------------------------------------------------------------------------------- */

static nd4c_status record_scan_body(nd4c_onnx_emission *emission, const nd4c_onnx_scan_node *scan,
                                    nd4c_onnx_captures *captures, nd4c_graph **body) {
  nd4c_onnx_body_input *inputs = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)(scan->carried + scan->scanned) + 1, sizeof *inputs, "a scan", &inputs));
  for (int32_t i = 0; i < scan->carried; i++) {
    ND4C_TRY(like(emission, scan->states[i], -1, &inputs[i]));
  }
  for (int32_t i = 0; i < scan->scanned; i++) {
    int32_t axis = 0;
    ND4C_TRY(nd4c_onnx_fix_axis(emission, scan->inputs[i], scan->axes[i], &axis));
    ND4C_TRY(like(emission, scan->inputs[i], axis, &inputs[scan->carried + i]));
  }
  ND4C_TRY(nd4c_onnx_find_captures(emission, &scan->body, 1, captures));
  return nd4c_onnx_record_body(emission, scan->body, captures, inputs, NULL, NULL, body);
}

static nd4c_status record_scan(nd4c_onnx_emission *emission, const nd4c_onnx_scan_node *scan,
                               const nd4c_onnx_captures *captures, const nd4c_graph *body, nd4c_onnx_operand *outputs) {
  const char *label = NULL;
  const int32_t count = scan->carried + scan->collected;
  nd4c_value *carried = NULL, *scanned = NULL, *results = NULL;
  ND4C_TRY(values_of(emission, scan->states, scan->carried, &carried));
  ND4C_TRY(values_of(emission, scan->inputs, scan->scanned, &scanned));
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)count + 1, sizeof *results, "a scan", &results));
  const nd4c_scan_options options = {.struct_size = sizeof options,
                                     .carried_count = scan->carried,
                                     .carried = carried,
                                     .scanned_count = scan->scanned,
                                     .scanned = scanned,
                                     .captured_count = captures->value_count,
                                     .captured = captures->values,
                                     .axes = scan->axes,
                                     .backward = scan->backward,
                                     .output_axes = scan->axes + scan->scanned,
                                     .output_backward = scan->backward + scan->scanned};
  ND4C_TRY(nd4c_graph_scan(nd4c_onnx_recorded_graph(emission), body, &options, label, results, count));
  return give_outputs(emission, results, count, outputs);
}

nd4c_status nd4c_onnx_emit_scan_node(nd4c_onnx_emission *emission, const nd4c_onnx_scan_node *scan,
                                     nd4c_onnx_operand *outputs) {
  nd4c_onnx_captures captures;
  nd4c_graph *body = NULL;
  nd4c_status status = record_scan_body(emission, scan, &captures, &body);
  status = status == ND4C_OK ? record_scan(emission, scan, &captures, body, outputs) : status;
  nd4c_graph_destroy(body);
  return nd4c_onnx_interpret_instead(emission, status);
}
