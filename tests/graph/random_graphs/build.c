/* Makes an nd4c_graph of a sketch: of numbers or of dims, with runs of its nodes in bodies where the sketch says so.
 * trial.c and dims.c call it.
 *
 * A body gives what its nodes give, however often it runs: a call and the branches of an if run it once, a loop and a
 * scan carry values that it does not read. So the sketch's eager calls stay the oracle. The branch that the condition
 * does not take gives zeros. */
#include <stdio.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "nd4c/control.h"
#include "nd4c/variable.h"
#include "random_graphs.h"

/* A graph that is built, with the extents that stand for the sketch's dims; region: of attributes. */
typedef struct building {
  const rg_sketch *sketch;
  const rg_dims *dims; /* NULL: without dims */
  nd4c_graph *graph;
  nd4c_region *region;
  int64_t extents[RG_DIMS];
  nd4c_value values[RG_VALUES];
} building;

static nd4c_status build_range(building *b, int32_t first, int32_t last, int32_t body);

static nd4c_status build_leaf(building *b, int32_t index) {
  nd4c_array *array = b->sketch->values[index].array;
  int64_t shape[RG_RANK];
  char name[16];
  (void)snprintf(name, sizeof name, "x%d", (int)index);
  if (b->sketch->values[index].is_constant) {
    return nd4c_graph_constant(b->graph, array, &b->values[index]);
  }
  if (index == b->sketch->variable) {
    nd4c_value initial;
    rg_must(nd4c_graph_constant(b->graph, array, &initial), "initial value");
    return nd4c_graph_variable(b->graph, name, initial, false, &b->values[index]);
  }
  const int32_t rank = nd4c_array_rank(array);
  memcpy(shape, nd4c_array_shape(array), (size_t)rank * sizeof *shape);
  if (b->dims != NULL) {
    rg_dims_shape(b->dims, b->extents, rank, shape);
  }
  return nd4c_graph_input(b->graph, name, nd4c_array_dtype(array), rank, shape, &b->values[index]);
}

static nd4c_status build_node(building *b, const rg_node *node) {
  nd4c_attr_value given[RG_ATTRS];
  nd4c_attr attrs[RG_ATTRS];
  nd4c_value inputs[RG_INPUTS], outputs[RG_OUTPUTS];
  if (b->dims != NULL) {
    rg_dims_attrs(b->dims, b->extents, node, b->region, given);
  } else {
    rg_node_attrs(node, false, given);
  }
  for (int32_t i = 0; i < node->op->attr_count; i++) {
    attrs[i] = (nd4c_attr){.name = node->op->attrs[i].name, .value = given[i]};
  }
  for (int32_t i = 0; i < node->input_count; i++) {
    inputs[i] = node->inputs[i] < 0 ? ND4C_VALUE_NONE : b->values[node->inputs[i]];
  }
  const nd4c_status status = nd4c_graph_op(b->graph, node->op->op, inputs, node->input_count, attrs,
                                           node->op->attr_count, NULL, outputs, node->op->output_count);
  for (int32_t i = 0; i < node->op->output_count && status == ND4C_OK; i++) {
    b->values[node->outputs[i]] = outputs[i];
  }
  return status;
}

/* -- bodies -------------------------------------------------------------------------------------------------------- */

/* What a run of nodes reads from outside and gives to outside: values of the sketch. */
typedef struct ports {
  int32_t captured[RG_VALUES], given[RG_VALUES];
  int32_t captured_count, given_count;
} ports;

static void find_ports(const rg_sketch *sketch, const rg_body *body, ports *found) {
  bool inside[RG_VALUES] = {false}, read[RG_VALUES] = {false}, outside[RG_VALUES] = {false};
  for (int32_t i = 0; i < sketch->node_count; i++) {
    const rg_node *node = &sketch->nodes[i];
    const bool in = i >= body->first && i < body->last;
    for (int32_t k = 0; k < node->input_count && !node->removed; k++) {
      if (node->inputs[k] >= 0) {
        (in ? read : outside)[node->inputs[k]] = true;
      }
    }
    for (int32_t k = 0; k < node->op->output_count && !node->removed && in; k++) {
      inside[node->outputs[k]] = true;
    }
  }
  for (int32_t i = 0; i < sketch->output_count; i++) {
    outside[sketch->outputs[i]] = true;
  }
  for (int32_t i = 0; i < sketch->value_count; i++) {
    if (read[i] && !inside[i]) {
      found->captured[found->captured_count++] = i;
    }
    if (inside[i] && outside[i]) {
      found->given[found->given_count++] = i;
    }
  }
}

/* An input of the body like a value of the graph around it, whose extents mean the same in the body. */
static nd4c_value add_input(const building *around, nd4c_graph *body, nd4c_value like) {
  char name[16];
  nd4c_value value = ND4C_VALUE_NONE;
  const nd4c_graph_value *info = &around->graph->values[like];
  (void)snprintf(name, sizeof name, "in%d", (int)nd4c_graph_input_count(body));
  rg_must(nd4c_graph_input(body, name, info->dtype, info->rank, info->shape, &value), "input of a body");
  return value;
}

static void add_output(nd4c_graph *body, nd4c_value value) {
  char name[16];
  (void)snprintf(name, sizeof name, "out%d", (int)nd4c_graph_output_count(body));
  rg_must(nd4c_graph_output(body, name, value), "output of a body");
}

/* `state`: values of the graph around that are carried, and are not read. */
static nd4c_status build_body(const building *around, int32_t index, rg_body_kind kind, const ports *p,
                              const nd4c_value *state, nd4c_graph **made) {
  const rg_body *body = &around->sketch->bodies[index];
  building b = *around;
  rg_must(nd4c_graph_create(&b.graph), "body");
  rg_must(nd4c_extents_clone(around->graph->extents, &b.graph->extents), "dims of a body");
  if (kind == RG_LOOP) {
    nd4c_value round;
    rg_must(nd4c_graph_input(b.graph, "round", ND4C_INT64, 0, NULL, &round), "round");
  }
  for (int32_t i = 0; i < p->given_count && (kind == RG_LOOP || kind == RG_SCAN); i++) {
    (void)add_input(around, b.graph, state[i]);
  }
  if (kind == RG_SCAN) {
    nd4c_value element;
    rg_must(nd4c_graph_input(b.graph, "element", ND4C_FLOAT32, 0, NULL, &element), "element");
  }
  for (int32_t i = 0; i < p->captured_count; i++) {
    const int32_t value = p->captured[i];
    if (around->sketch->values[value].node < 0 && around->sketch->values[value].is_constant) {
      rg_must(build_leaf(&b, value), "constant of a body");
    } else {
      b.values[value] = add_input(around, b.graph, around->values[value]);
    }
  }
  const nd4c_status status = build_range(&b, body->first, body->last, index + 1);
  for (int32_t i = 0; i < p->given_count && status == ND4C_OK; i++) {
    add_output(b.graph, b.values[p->given[i]]);
  }
  *made = b.graph;
  return status;
}

/* Zeros of the dtype, and of a shape that may have extents. */
static nd4c_value zeros_like(nd4c_graph *graph, nd4c_dtype dtype, int32_t rank, const int64_t *shape) {
  nd4c_array *array = NULL;
  nd4c_value zero = ND4C_VALUE_NONE, value = ND4C_VALUE_NONE;
  const nd4c_attr to = rg_attr_ints("shape", shape, rank);
  rg_must(nd4c_array_zeros(dtype, 0, NULL, NULL, &array), "zeros");
  rg_must(nd4c_graph_constant(graph, array, &zero), "zeros");
  nd4c_array_release(array);
  rg_must(nd4c_graph_op(graph, ND4C_OP_broadcast_to, &zero, 1, &to, 1, NULL, &value, 1), "zeros");
  return value;
}

/* A branch like `body` that gives zeros. */
static nd4c_graph *build_decoy(const nd4c_graph *body) {
  nd4c_graph *decoy = NULL;
  rg_must(nd4c_graph_create(&decoy), "body");
  rg_must(nd4c_extents_clone(body->extents, &decoy->extents), "dims of a body");
  for (int32_t i = 0; i < body->inputs.count; i++) {
    const nd4c_graph_value *value = &body->values[body->inputs.items[i].value];
    nd4c_value input;
    rg_must(nd4c_graph_input(decoy, body->inputs.items[i].name, value->dtype, value->rank, value->shape, &input),
            "input of a body");
  }
  for (int32_t i = 0; i < body->outputs.count; i++) {
    const nd4c_graph_value *value = &body->values[body->outputs.items[i].value];
    add_output(decoy, zeros_like(decoy, value->dtype, value->rank, value->shape));
  }
  return decoy;
}

static nd4c_value make_bool(nd4c_graph *graph, bool truth) {
  nd4c_array *array = NULL;
  nd4c_value value = ND4C_VALUE_NONE;
  rg_must(nd4c_array_scalar(ND4C_BOOL, truth, NULL, &array), "condition");
  rg_must(nd4c_graph_constant(graph, array, &value), "condition");
  nd4c_array_release(array);
  return value;
}

/* Whether the first element of an input is a number. It stays the first one when the dims have other sizes. */
static bool begins_with_number(const nd4c_array *array) {
  nd4c_array *wide = NULL;
  double numbers[RG_LIMIT_ELEMENTS];
  const int64_t size = nd4c_array_size(array);
  if (size == 0 || size > RG_LIMIT_ELEMENTS || nd4c_cast(array, ND4C_FLOAT64, &wide) != ND4C_OK) {
    return false;
  }
  rg_must(nd4c_array_read(wide, numbers, (size_t)size * sizeof *numbers), "read");
  nd4c_array_release(wide);
  return numbers[0] == numbers[0];
}

/* A bool that data decides and that is true: an input has an element that equals itself. NONE: no input is captured. */
static nd4c_value find_truth(const building *b, const ports *p) {
  for (int32_t i = 0; i < p->captured_count; i++) {
    const rg_value *x = &b->sketch->values[p->captured[i]];
    const nd4c_value value = b->values[p->captured[i]];
    nd4c_value same, truth;
    if (x->node < 0 && !x->is_constant && begins_with_number(x->array) &&
        nd4c_graph_op(b->graph, ND4C_OP_equal, (nd4c_value[]){value, value}, 2, NULL, 0, NULL, &same, 1) == ND4C_OK &&
        nd4c_graph_op(b->graph, ND4C_OP_any, &same, 1, NULL, 0, NULL, &truth, 1) == ND4C_OK) {
      return truth;
    }
  }
  return ND4C_VALUE_NONE;
}

static nd4c_status record_if(const building *b, const rg_body *body, const ports *p, const nd4c_graph *graph,
                             const nd4c_value *captured, int32_t count, nd4c_value *outputs) {
  nd4c_value condition = body->kind == RG_IF ? find_truth(b, p) : ND4C_VALUE_NONE;
  const bool takes = condition != ND4C_VALUE_NONE || body->rounds % 2 == 1;
  condition = condition != ND4C_VALUE_NONE ? condition : make_bool(b->graph, takes);
  nd4c_graph *decoy = build_decoy(graph);
  const nd4c_status status = nd4c_graph_if(b->graph, condition, takes ? graph : decoy, takes ? decoy : graph, captured,
                                           count, "if", outputs, p->given_count);
  nd4c_graph_destroy(decoy);
  return status;
}

static nd4c_status record_call(const building *b, const ports *p, const nd4c_graph *graph, const nd4c_value *captured,
                               int32_t count, nd4c_value *outputs) {
  nd4c_function *function = NULL;
  rg_must(nd4c_function_create("f", graph, &function), "function");
  const nd4c_status status = nd4c_graph_call(b->graph, function, captured, count, "call", outputs, p->given_count);
  nd4c_function_release(function);
  return status;
}

static nd4c_status record_scan(const building *b, const rg_body *body, const ports *p, const nd4c_graph *graph,
                               const nd4c_value *state, const nd4c_value *captured, int32_t count,
                               nd4c_value *outputs) {
  nd4c_array *array = NULL;
  nd4c_value scanned = ND4C_VALUE_NONE;
  rg_must(nd4c_array_zeros(ND4C_FLOAT32, 1, &body->rounds, NULL, &array), "scanned");
  rg_must(nd4c_graph_constant(b->graph, array, &scanned), "scanned");
  nd4c_array_release(array);
  const nd4c_scan_options options = {.struct_size = sizeof options,
                                     .carried_count = p->given_count,
                                     .carried = state,
                                     .scanned_count = 1,
                                     .scanned = &scanned,
                                     .captured_count = count,
                                     .captured = captured};
  return nd4c_graph_scan(b->graph, graph, &options, "scan", outputs, p->given_count);
}

/* With dims, some have as many rounds as a dim says. */
static nd4c_status record_loop(const building *b, const rg_body *body, const ports *p, const nd4c_graph *graph,
                               const nd4c_value *state, const nd4c_value *captured, int32_t count,
                               nd4c_value *outputs) {
  const int64_t rounds = b->dims != NULL && body->rounds > 8 ? b->extents[0] : body->rounds;
  const nd4c_loop_options options = {.struct_size = sizeof options,
                                     .carried_count = p->given_count,
                                     .carried = state,
                                     .captured_count = count,
                                     .captured = captured,
                                     .rounds = &rounds};
  return nd4c_graph_loop(b->graph, graph, &options, "loop", outputs, p->given_count);
}

/* What the node captures: the values that are no constants. */
static int32_t list_captured(const building *b, const ports *p, nd4c_value *captured) {
  int32_t count = 0;
  for (int32_t i = 0; i < p->captured_count; i++) {
    const rg_value *value = &b->sketch->values[p->captured[i]];
    if (value->node >= 0 || !value->is_constant) {
      captured[count++] = b->values[p->captured[i]];
    }
  }
  return count;
}

static nd4c_status record_node(building *b, int32_t index, rg_body_kind kind, const ports *p, const nd4c_value *state,
                               nd4c_value *outputs) {
  const rg_body *body = &b->sketch->bodies[index];
  nd4c_value captured[RG_VALUES];
  nd4c_graph *graph = NULL;
  nd4c_status status = build_body(b, index, kind, p, state, &graph);
  if (status == ND4C_OK) {
    const int32_t count = list_captured(b, p, captured);
    status = kind == RG_CALL   ? record_call(b, p, graph, captured, count, outputs)
             : kind == RG_LOOP ? record_loop(b, body, p, graph, state, captured, count, outputs)
             : kind == RG_SCAN ? record_scan(b, body, p, graph, state, captured, count, outputs)
                               : record_if(b, body, p, graph, captured, count, outputs);
  }
  nd4c_graph_destroy(graph);
  return status;
}

/* Values to carry at first: zeros of the sketch's shapes. A graph with dims has no such numbers, so a call gives them.
 */
static nd4c_status make_state(building *b, int32_t index, const ports *p, nd4c_value *state) {
  if (b->dims != NULL) {
    return record_node(b, index, RG_CALL, p, NULL, state);
  }
  for (int32_t i = 0; i < p->given_count; i++) {
    const nd4c_array *like = b->sketch->values[p->given[i]].array;
    state[i] = zeros_like(b->graph, nd4c_array_dtype(like), nd4c_array_rank(like), nd4c_array_shape(like));
  }
  return ND4C_OK;
}

/* The nodes of a body as one node; as they are, if they give nothing. */
static nd4c_status build_wrapped(building *b, int32_t index) {
  static ports places[RG_BODIES]; /* by body: a body in a body is built while the outer one is */
  const rg_body *body = &b->sketch->bodies[index];
  ports *p = &places[index];
  nd4c_value state[RG_VALUES], outputs[RG_VALUES];
  *p = (ports){.captured_count = 0};
  find_ports(b->sketch, body, p);
  if (p->given_count == 0) {
    return build_range(b, body->first, body->last, index + 1);
  }
  const bool carries = body->kind == RG_LOOP || body->kind == RG_SCAN;
  nd4c_status status = carries ? make_state(b, index, p, state) : ND4C_OK;
  status = status == ND4C_OK ? record_node(b, index, body->kind, p, state, outputs) : status;
  for (int32_t i = 0; i < p->given_count && status == ND4C_OK; i++) {
    b->values[p->given[i]] = outputs[i];
  }
  return status;
}

/* Nodes first to last, with the bodies from `body` on that begin in the range; outer ones come before inner ones. */
static nd4c_status build_range(building *b, int32_t first, int32_t last, int32_t body) {
  const rg_sketch *sketch = b->sketch;
  nd4c_status status = ND4C_OK;
  for (int32_t i = first; i < last && status == ND4C_OK;) {
    int32_t wrapped = body;
    while (wrapped < sketch->body_count && sketch->bodies[wrapped].first != i) {
      wrapped++;
    }
    if (wrapped < sketch->body_count) {
      status = build_wrapped(b, wrapped);
      i = sketch->bodies[wrapped].last;
      continue;
    }
    if (!sketch->nodes[i].removed) {
      status = build_node(b, &sketch->nodes[i]);
    }
    i++;
  }
  return status;
}

void rg_bodies_choose(rg_sketch *sketch) {
  sketch->body_count = 0;
  for (int32_t first = 0; first < sketch->node_count && sketch->body_count + 1 < RG_BODIES;) {
    const int32_t length = 1 + rg_pick(sketch, 5), last = first + length;
    if (last > sketch->node_count) {
      break;
    }
    if (!rg_chance(sketch, 3)) {
      static const int64_t rounds[] = {1, 2, 3, 8, 9, 20};
      rg_body body = {first, last, (rg_body_kind)rg_pick(sketch, RG_BODY_KINDS), rounds[rg_pick(sketch, 6)]};
      sketch->bodies[sketch->body_count++] = body;
      if (length > 2 && rg_chance(sketch, 2)) { /* a body in the body */
        body.first++;
        body.kind = (rg_body_kind)rg_pick(sketch, RG_BODY_KINDS);
        sketch->bodies[sketch->body_count++] = body;
      }
    }
    first = last;
  }
}

/* -- whole graphs -------------------------------------------------------------------------------------------------- */

static nd4c_status build(building *b) {
  const rg_sketch *sketch = b->sketch;
  bool read[RG_VALUES] = {false};
  nd4c_status status = ND4C_OK;
  rg_find_read(sketch, read);
  for (int32_t i = 0; b->dims != NULL && i < b->dims->count; i++) {
    int64_t low, high;
    rg_dims_bounds(b->dims, i, &low, &high);
    rg_must(nd4c_graph_dim(b->graph, rg_dims_name(i), low, high, &b->extents[i]), "dim");
  }
  for (int32_t i = 0; i < sketch->value_count && status == ND4C_OK; i++) {
    if (sketch->values[i].node < 0 && read[i]) {
      status = build_leaf(b, i);
    }
  }
  status = status == ND4C_OK ? build_range(b, 0, sketch->node_count, 0) : status;
  for (int32_t i = 0; i < sketch->output_count && status == ND4C_OK; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "y%d", (int)i);
    status = nd4c_graph_output(b->graph, name, b->values[sketch->outputs[i]]);
  }
  if (status == ND4C_OK && read[sketch->variable < 0 ? 0 : sketch->variable] && rg_assigned_output(sketch) >= 0) {
    status = nd4c_graph_assign(b->graph, b->values[sketch->variable], b->values[sketch->assigned]);
  }
  return status;
}

nd4c_graph *rg_build(const rg_sketch *sketch) {
  building b = {.sketch = sketch};
  rg_must(nd4c_graph_create(&b.graph), "graph");
  rg_must(build(&b), "node");
  return b.graph;
}

nd4c_graph *rg_build_with_dims(const rg_sketch *sketch) {
  nd4c_region region = {0};
  building b = {.sketch = sketch, .dims = &sketch->dims, .region = &region};
  rg_must(nd4c_graph_create(&b.graph), "graph");
  nd4c_graph *bound = NULL;
  if (build(&b) != ND4C_OK || rg_bind(b.graph, b.dims, b.dims->numbers, &bound) != ND4C_OK) {
    nd4c_graph_destroy(b.graph);
    b.graph = NULL;
  }
  nd4c_graph_destroy(bound);
  nd4c_region_free(&region);
  return b.graph;
}
