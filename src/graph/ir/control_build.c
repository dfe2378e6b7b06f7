/* The functions of nd4c/control.h that record nodes with bodies, and those that look at them. Programs call them; the
 * importer calls nd4c_graph_if, _loop and _scan. */
#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/control.h"

enum { SHOWN = 200 };

/* A node in the making: its record, with copies of the bodies, and its inputs. */
typedef struct building {
  nd4c_graph *graph;
  const char *function, *label;
  nd4c_control control; /* its bodies hold references */
  nd4c_value *inputs;
  int32_t input_count;
} building;

static nd4c_status named(const building *b, nd4c_status status) {
  if (status == ND4C_OK || b->label == NULL || b->label[0] == '\0') {
    return status == ND4C_OK ? ND4C_OK : nd4c_fail_prefix(status, "%s", b->function);
  }
  return nd4c_fail_prefix(status, "node '%.*s': %s", SHOWN, b->label, b->function);
}

static nd4c_status check_list(const char *what, const void *items, int32_t count) {
  if (count < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "the number of %s is %d", what, (int)count);
  }
  return items != NULL || count == 0 ? ND4C_OK : nd4c_fail(ND4C_NULL_ARGUMENT, "%s are NULL", what);
}

static nd4c_status add_body(building *b, const nd4c_graph *body) {
  nd4c_function *copy = NULL;
  ND4C_TRY(nd4c_graph_check(body));
  ND4C_TRY(nd4c_function_copy(NULL, body, &copy));
  b->control.bodies[b->control.body_count++] = copy;
  return ND4C_OK;
}

static nd4c_status make_room(building *b, int64_t count) {
  return nd4c_allocate_or_fail((size_t)count + 1, sizeof *b->inputs, "inputs of a node", &b->inputs);
}

static void add_inputs(building *b, const nd4c_value *values, int32_t count) {
  if (count > 0) {
    memcpy(b->inputs + b->input_count, values, (size_t)count * sizeof *values);
    b->input_count += count;
  }
}

/* What the building holds; the graph keeps its own references. */
static void finish(building *b) {
  for (int32_t i = 0; i < b->control.body_count; i++) {
    nd4c_function_release(b->control.bodies[i]);
  }
  nd4c_deallocate(b->inputs);
}

static nd4c_status check_outputs(const building *b, const nd4c_value *outputs, int32_t count) {
  const int32_t expected = nd4c_control_output_count(&b->control);
  if (outputs == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "outputs is NULL");
  }
  return count == expected
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT, "it has %d outputs, room was given for %d", (int)expected, (int)count);
}

static nd4c_status record(building *b, nd4c_value *outputs) {
  nd4c_control *kept = NULL;
  ND4C_TRY(nd4c_control_copy(&b->control, &kept));
  nd4c_status status = nd4c_control_record(b->graph, kept, b->inputs, b->input_count, b->label, outputs);
  nd4c_control_release(kept);
  return status;
}

/* -- calls and branches -------------------------------------------------------------------------------------------- */

static nd4c_status build_call(building *b, nd4c_function *function, const nd4c_value *inputs, int32_t input_count,
                              nd4c_value *outputs, int32_t output_count) {
  ND4C_TRY(nd4c_function_check(function));
  ND4C_TRY(check_list("inputs", inputs, input_count));
  b->control.bodies[b->control.body_count++] = nd4c_function_retain(function);
  b->control.captured = function->graph->inputs.count;
  ND4C_TRY(check_outputs(b, outputs, output_count));
  ND4C_TRY(make_room(b, input_count));
  add_inputs(b, inputs, input_count);
  return ND4C_OK;
}

nd4c_status nd4c_graph_call(nd4c_graph *graph, nd4c_function *function, const nd4c_value *inputs, int32_t input_count,
                            const char *label, nd4c_value *outputs, int32_t output_count) {
  building b = {
      .graph = graph, .function = "call", .label = label, .control = {.kind = ND4C_CONTROL_CALL, .rounds = -1}};
  ND4C_TRY(nd4c_graph_check(graph));
  nd4c_status status = named(&b, build_call(&b, function, inputs, input_count, outputs, output_count));
  status = status == ND4C_OK ? record(&b, outputs) : status;
  finish(&b);
  return status;
}

static nd4c_status build_if(building *b, nd4c_value condition, const nd4c_graph *const *bodies,
                            const nd4c_value *inputs, int32_t input_count, nd4c_value *outputs, int32_t output_count) {
  ND4C_TRY(check_list("inputs", inputs, input_count));
  ND4C_TRY(add_body(b, bodies[0]));
  ND4C_TRY(add_body(b, bodies[1]));
  b->control.captured = input_count;
  ND4C_TRY(check_outputs(b, outputs, output_count));
  ND4C_TRY(make_room(b, (int64_t)input_count + 1));
  add_inputs(b, &condition, 1);
  add_inputs(b, inputs, input_count);
  return ND4C_OK;
}

nd4c_status nd4c_graph_if(nd4c_graph *graph, nd4c_value condition, const nd4c_graph *then_body,
                          const nd4c_graph *else_body, const nd4c_value *inputs, int32_t input_count, const char *label,
                          nd4c_value *outputs, int32_t output_count) {
  const nd4c_graph *bodies[] = {then_body, else_body};
  building b = {.graph = graph, .function = "if", .label = label, .control = {.kind = ND4C_CONTROL_IF, .rounds = -1}};
  ND4C_TRY(nd4c_graph_check(graph));
  nd4c_status status = named(&b, build_if(&b, condition, bodies, inputs, input_count, outputs, output_count));
  status = status == ND4C_OK ? record(&b, outputs) : status;
  finish(&b);
  return status;
}

/* -- loops --------------------------------------------------------------------------------------------------------- */

static nd4c_status check_loop(const building *b, const nd4c_loop_options *options) {
  if (options == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "options is NULL");
  }
  if (!ND4C_HAS_FIELD(options, limit)) {
    return nd4c_fail(ND4C_ARGUMENT, "options.struct_size is %u, expected at least %u", options->struct_size,
                     ND4C_SIZE_OF(nd4c_loop_options));
  }
  ND4C_TRY(check_list("carried values", options->carried, options->carried_count));
  ND4C_TRY(check_list("captured values", options->captured, options->captured_count));
  if (options->trips == NULL && options->rounds == NULL && !options->decides) {
    return nd4c_fail(ND4C_ARGUMENT, "nothing ends the loop, expected trips, rounds or a body that decides");
  }
  if (options->limit < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "the limit of rounds is %lld", (long long)options->limit);
  }
  if (options->rounds != NULL && *options->rounds < 0 && !nd4c_extents_has(b->graph->extents, *options->rounds)) {
    return nd4c_fail(ND4C_SHAPE, "the number of rounds is %lld, expected an extent", (long long)*options->rounds);
  }
  return ND4C_OK;
}

static nd4c_status build_loop(building *b, const nd4c_graph *body, const nd4c_loop_options *options,
                              nd4c_value *outputs, int32_t output_count) {
  ND4C_TRY(check_loop(b, options));
  ND4C_TRY(add_body(b, body));
  nd4c_control *control = &b->control;
  control->has_trips = options->trips != NULL;
  control->has_condition = options->condition != NULL;
  control->decides = options->decides;
  control->carried = options->carried_count;
  control->captured = options->captured_count;
  control->rounds = options->rounds != NULL ? *options->rounds : -1;
  control->limit = options->limit > 0 ? options->limit : ND4C_LOOP_LIMIT;
  control->collected = body->outputs.count - control->carried - (int32_t)control->decides;
  if (control->collected < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "the body has %d outputs, expected at least %d", (int)body->outputs.count,
                     (int)(control->carried + (int32_t)control->decides));
  }
  if (control->collected > 0 && control->rounds == -1) {
    return nd4c_fail(ND4C_ARGUMENT, "%d values are collected, and the most rounds are not known: expected rounds",
                     (int)control->collected);
  }
  if (control->carried + control->collected == 0) {
    return nd4c_fail(ND4C_ARGUMENT, "the loop has no outputs, expected carried or collected values");
  }
  ND4C_TRY(check_outputs(b, outputs, output_count));
  ND4C_TRY(make_room(b, (int64_t)control->carried + control->captured + 2));
  add_inputs(b, options->trips, control->has_trips);
  add_inputs(b, options->condition, control->has_condition);
  add_inputs(b, options->carried, control->carried);
  add_inputs(b, options->captured, control->captured);
  return ND4C_OK;
}

nd4c_status nd4c_graph_loop(nd4c_graph *graph, const nd4c_graph *body, const nd4c_loop_options *options,
                            const char *label, nd4c_value *outputs, int32_t output_count) {
  building b = {
      .graph = graph, .function = "loop", .label = label, .control = {.kind = ND4C_CONTROL_LOOP, .takes_round = true}};
  ND4C_TRY(nd4c_graph_check(graph));
  nd4c_status status = named(&b, build_loop(&b, body, options, outputs, output_count));
  status = status == ND4C_OK ? record(&b, outputs) : status;
  finish(&b);
  return status;
}

/* -- scans --------------------------------------------------------------------------------------------------------- */

/* Records a transpose that moves axis `from` to `to`; nothing if they are the same. */
static nd4c_status move_axis(nd4c_graph *graph, nd4c_value *value, int32_t from, int32_t to) {
  int64_t axes[ND4C_MAX_RANK];
  const int32_t rank = graph->values[*value].rank;
  if (from == to) {
    return ND4C_OK;
  }
  for (int32_t i = 0, left = 0; i < rank; i++) {
    left += left == from;
    axes[i] = i == to ? from : left++;
  }
  const nd4c_attr attr = {"axes", {.kind = ND4C_ATTR_INTS, .count = rank, .as.ints = axes}};
  return nd4c_graph_op(graph, ND4C_OP_transpose, value, 1, &attr, 1, NULL, value, 1);
}

static nd4c_status fix_axis(const char *what, int32_t number, int32_t given, int32_t rank, int32_t *axis) {
  *axis = given < 0 ? given + rank : given;
  return *axis >= 0 && *axis < rank
             ? ND4C_OK
             : nd4c_fail(ND4C_INDEX, "axis %d of %s %d, which has %d axes", (int)given, what, (int)number, (int)rank);
}

/* The scanned values with their axis in front, behind the other inputs. */
static nd4c_status add_scanned(building *b, const nd4c_scan_options *options) {
  for (int32_t i = 0; i < options->scanned_count; i++) {
    nd4c_value value = options->scanned[i];
    int32_t axis = 0;
    ND4C_TRY(nd4c_graph_check_value(b->graph, value, "a scanned value"));
    ND4C_TRY(fix_axis("scanned value", i, options->axes != NULL ? options->axes[i] : 0, b->graph->values[value].rank,
                      &axis));
    if (i == 0) {
      b->control.rounds = b->graph->values[value].shape[axis];
    }
    ND4C_TRY(move_axis(b->graph, &value, axis, 0));
    add_inputs(b, &value, 1);
  }
  return ND4C_OK;
}

static nd4c_status check_scan(const nd4c_scan_options *options) {
  if (options == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "options is NULL");
  }
  if (!ND4C_HAS_FIELD(options, output_backward)) {
    return nd4c_fail(ND4C_ARGUMENT, "options.struct_size is %u, expected at least %u", options->struct_size,
                     ND4C_SIZE_OF(nd4c_scan_options));
  }
  ND4C_TRY(check_list("carried values", options->carried, options->carried_count));
  ND4C_TRY(check_list("scanned values", options->scanned, options->scanned_count));
  ND4C_TRY(check_list("captured values", options->captured, options->captured_count));
  return options->scanned_count > 0 ? ND4C_OK : nd4c_fail(ND4C_ARGUMENT, "there is no scanned value");
}

static nd4c_status set_directions(building *b, const nd4c_scan_options *options) {
  nd4c_control *control = &b->control;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)control->scanned + (size_t)control->collected + 1, sizeof *control->backward,
                                 "a scan", &control->backward));
  for (int32_t i = 0; i < control->scanned; i++) {
    control->backward[i] = options->backward != NULL && options->backward[i];
  }
  for (int32_t i = 0; i < control->collected; i++) {
    control->backward[control->scanned + i] = options->output_backward != NULL && options->output_backward[i];
  }
  return ND4C_OK;
}

static nd4c_status build_scan(building *b, const nd4c_graph *body, const nd4c_scan_options *options,
                              nd4c_value *outputs, int32_t output_count) {
  nd4c_control *control = &b->control;
  ND4C_TRY(check_scan(options));
  ND4C_TRY(add_body(b, body));
  control->carried = options->carried_count;
  control->scanned = options->scanned_count;
  control->captured = options->captured_count;
  control->collected = body->outputs.count - control->carried;
  if (control->collected < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "the body has %d outputs, expected at least %d", (int)body->outputs.count,
                     (int)control->carried);
  }
  ND4C_TRY(check_outputs(b, outputs, output_count));
  ND4C_TRY(make_room(b, (int64_t)control->carried + control->scanned + control->captured));
  ND4C_TRY(set_directions(b, options));
  add_inputs(b, options->carried, control->carried);
  ND4C_TRY(add_scanned(b, options));
  add_inputs(b, options->captured, control->captured);
  return ND4C_OK;
}

static nd4c_status move_outputs(const building *b, const nd4c_scan_options *options, nd4c_value *outputs) {
  const nd4c_control *control = &b->control;
  for (int32_t i = 0; i < control->collected && options->output_axes != NULL; i++) {
    nd4c_value *output = &outputs[control->carried + i];
    int32_t axis = 0;
    ND4C_TRY(fix_axis("collected value", i, options->output_axes[i], b->graph->values[*output].rank, &axis));
    ND4C_TRY(move_axis(b->graph, output, 0, axis));
  }
  return ND4C_OK;
}

nd4c_status nd4c_graph_scan(nd4c_graph *graph, const nd4c_graph *body, const nd4c_scan_options *options,
                            const char *label, nd4c_value *outputs, int32_t output_count) {
  building b = {
      .graph = graph, .function = "scan", .label = label, .control = {.kind = ND4C_CONTROL_SCAN, .limit = INT64_MAX}};
  ND4C_TRY(nd4c_graph_check(graph));
  const nd4c_graph_mark mark = nd4c_graph_begin_recording(graph);
  nd4c_value *made = NULL;
  nd4c_status status = named(&b, build_scan(&b, body, options, outputs, output_count));
  if (status == ND4C_OK) {
    status = nd4c_allocate_or_fail((size_t)output_count + 1, sizeof *made, "outputs of a scan", &made);
  }
  status = status == ND4C_OK ? record(&b, made) : status;
  status = status == ND4C_OK ? named(&b, move_outputs(&b, options, made)) : status;
  if (status != ND4C_OK) { /* without what was recorded for the scan, before and behind it */
    nd4c_graph_take_back(graph, mark);
  }
  for (int32_t i = 0; i < output_count && status == ND4C_OK; i++) {
    outputs[i] = made[i];
  }
  nd4c_deallocate(made);
  nd4c_deallocate(b.control.backward);
  finish(&b);
  return status;
}

/* -- looking ------------------------------------------------------------------------------------------------------- */

static const nd4c_graph_node *node_at(const nd4c_graph *graph, int32_t index) {
  const bool known = graph != NULL && nd4c_graph_check(graph) == ND4C_OK && index >= 0 && index < graph->node_count;
  return known ? &graph->nodes[index] : NULL;
}

nd4c_status nd4c_graph_get_control(const nd4c_graph *graph, int32_t index, nd4c_control_info *info) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_get_control: info is NULL");
  }
  if (!ND4C_HAS_FIELD(info, function)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_graph_get_control: struct_size is %u, expected at least %u",
                     info->struct_size, ND4C_SIZE_OF(nd4c_control_info));
  }
  const nd4c_graph_node *node = node_at(graph, index);
  if (node == NULL) {
    return nd4c_fail(ND4C_INDEX, "nd4c_graph_get_control: the graph has %d nodes, not one number %d",
                     (int)graph->node_count, (int)index);
  }
  const uint32_t size = info->struct_size;
  const nd4c_control *control = node->control;
  *info = (nd4c_control_info){.struct_size = size};
  if (control != NULL) {
    info->kind = control->kind;
    info->body_count = control->body_count;
    info->carried_count = control->carried;
    info->scanned_count = control->scanned;
    info->captured_count = control->captured;
    info->collected_count = control->collected;
    info->has_trips = control->has_trips;
    info->has_condition = control->has_condition;
    info->decides = control->decides;
    info->rounds = control->rounds;
    info->limit = control->kind == ND4C_CONTROL_LOOP ? control->limit : 0;
    info->function = control->bodies[0]->name;
  }
  return ND4C_OK;
}

const nd4c_graph *nd4c_graph_body(const nd4c_graph *graph, int32_t index, int32_t body) {
  const nd4c_graph_node *node = node_at(graph, index);
  const nd4c_control *control = node == NULL ? NULL : node->control;
  return control != NULL && body >= 0 && body < control->body_count ? control->bodies[body]->graph : NULL;
}
