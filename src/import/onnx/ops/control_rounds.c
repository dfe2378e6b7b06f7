/* Runs the rounds of a Loop in a plan of its body, where the model around it is interpreted (emission/loops.h): a loop
 * that collects as many values as data decides, or whose carried values change their shape. A body that cannot be a
 * graph is interpreted, as is a loop without rounds. control.c calls nd4c_onnx_run_loop for each run of such a loop. */
#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "array/narrow.h"
#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/graph.h"
#include "graph/ir/growing.h"
#include "import/onnx/emission/dense.h"
#include "import/onnx/emission/loops.h"
#include "import/onnx/importer.h"
#include "import/onnx/ops/control_nodes.h"

/* An entry in the making. */
typedef struct making {
  nd4c_onnx_emission *emission;
  const nd4c_onnx_graph *body_graph;
  nd4c_onnx_loop *loop;
  nd4c_region_list reads; /* nd4c_onnx_loop_read; in the loop's region */
  nd4c_graph *around;     /* whose inputs stand for what the body reads */
  nd4c_onnx_operand *saved;
  nd4c_graph *body;
  nd4c_onnx_first goes_on;
} making;

/* -- what the body reads from outside ------------------------------------------------------------------------------ */

static bool is_pure(const nd4c_onnx_graph *graph, int32_t number, int32_t *budget);

/* Whether a node gives the same in each run: from constants alone, and without chance. */
static bool is_pure_node(const nd4c_onnx_graph *graph, const nd4c_onnx_node *node, int32_t *budget) {
  bool pure = node->function == NULL && node->domain.size == 0 && !nd4c_onnx_node_draws(node);
  for (int32_t i = 0; i < node->attribute_count && pure; i++) {
    pure = node->attributes[i].graph == NULL && node->attributes[i].reference.size == 0;
  }
  for (int32_t i = 0; i < node->input_count && pure; i++) {
    pure = node->inputs[i] == ND4C_ONNX_NONE || is_pure(graph, node->inputs[i], budget);
  }
  return pure;
}

/* budget: how many values are still looked at. */
static bool is_pure(const nd4c_onnx_graph *graph, int32_t number, int32_t *budget) {
  const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, number);
  if (value->source == ND4C_ONNX_FROM_INITIALIZER) {
    return true;
  }
  return value->source == ND4C_ONNX_FROM_NODE && --*budget > 0 &&
         is_pure_node(graph, nd4c_onnx_graph_node(graph, value->index), budget);
}

static const nd4c_onnx_scope *scope_at(const nd4c_onnx_emission *emission, int32_t levels) {
  const nd4c_onnx_scope *scope = emission->scope;
  for (int32_t i = levels; i > 0; i--) {
    scope = scope->outer;
  }
  return scope;
}

static nd4c_status add_read(making *m, int32_t levels, int32_t number) {
  enum { LOOKED_AT = 64 };
  int32_t budget = LOOKED_AT;
  const nd4c_onnx_scope *scope = scope_at(m->emission, levels);
  const nd4c_onnx_operand operand = scope->environment[number];
  nd4c_onnx_loop_read *read = m->reads.items;
  for (int32_t i = 0; i < m->reads.count; i++) {
    if (read[i].levels == levels && read[i].number == number) {
      return ND4C_OK;
    }
  }
  if (is_pure(scope->graph, number, &budget)) {
    return ND4C_OK; /* a constant of the body */
  }
  if (nd4c_onnx_constant_array(m->emission, operand) == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the body reads %s, which %s",
                     nd4c_span_show(nd4c_onnx_graph_value(scope->graph, number)->name).text,
                     operand == ND4C_ONNX_OPERAND_NONE ? "was left out" : "is a sequence or optional");
  }
  ND4C_TRY(nd4c_region_append(&m->loop->region, &m->reads, sizeof *read, "what a loop reads", &read));
  *read = (nd4c_onnx_loop_read){.levels = levels, .number = number, .operand = operand};
  return ND4C_OK;
}

/* `depth`: how many graphs lie between this one and the node. The parser bounds the depth. */
static nd4c_status find_reads(making *m, const nd4c_onnx_graph *graph, int32_t depth) {
  for (int32_t i = 0; i < graph->values.count; i++) {
    const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, i);
    if (value->source == ND4C_ONNX_FROM_OUTSIDE && value->levels > depth) {
      ND4C_TRY(add_read(m, value->levels - depth - 1, value->index));
    }
  }
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    for (int32_t k = 0; k < node->attribute_count; k++) {
      if (node->attributes[k].graph != NULL) {
        ND4C_TRY(find_reads(m, node->attributes[k].graph, depth + 1));
      }
    }
  }
  return ND4C_OK;
}

static void describe(const nd4c_array *array, nd4c_onnx_loop_port *port) {
  *port = (nd4c_onnx_loop_port){.dtype = array->dtype, .rank = array->rank};
  memcpy(port->shape, array->shape, (size_t)array->rank * sizeof *port->shape);
}

static nd4c_status describe_inputs(making *m) {
  nd4c_onnx_loop *loop = m->loop;
  ND4C_TRY(find_reads(m, m->body_graph, 0));
  loop->reads = m->reads.items;
  loop->read_count = m->reads.count;
  ND4C_TRY(nd4c_region_claim(&loop->region, (size_t)loop->carried + (size_t)loop->read_count + 1, sizeof *loop->ports,
                             "what a loop reads", &loop->ports));
  for (int32_t i = 0; i < loop->carried; i++) {
    const nd4c_array *array = nd4c_onnx_constant_array(m->emission, m->emission->inputs[2 + i]);
    if (array == NULL) {
      return nd4c_fail(ND4C_UNSUPPORTED, "carried value %d is a sequence or optional", (int)i);
    }
    describe(array, &loop->ports[i]);
  }
  for (int32_t i = 0; i < loop->read_count; i++) {
    describe(nd4c_onnx_loop_array(m->emission, &loop->reads[i]), &loop->ports[loop->carried + i]);
  }
  return ND4C_OK;
}

/* -- recording ----------------------------------------------------------------------------------------------------- */

/* While the body is recorded, what it reads has inputs of a graph around as operands, which stand for any values. */
static nd4c_status hide_reads(making *m) {
  nd4c_onnx_importer *importer = m->emission->importer;
  for (int32_t i = 0; i < m->loop->read_count; i++) {
    const nd4c_onnx_loop_read *read = &m->loop->reads[i];
    const nd4c_onnx_loop_port *port = &m->loop->ports[m->loop->carried + i];
    nd4c_onnx_operand *place = &scope_at(m->emission, read->levels)->environment[read->number];
    nd4c_onnx_operand operand = ND4C_ONNX_OPERAND_NONE;
    nd4c_value value = ND4C_VALUE_NONE;
    char name[32];
    if (read->is_baked) {
      continue;
    }
    (void)snprintf(name, sizeof name, "read%d", (int)i);
    ND4C_TRY(nd4c_graph_input(m->around, name, port->dtype, port->rank, port->shape, &value));
    ND4C_TRY(nd4c_onnx_add_value(importer, value, &operand));
    nd4c_onnx_operand_hold(importer, operand);
    m->saved[i] = *place;
    *place = operand;
  }
  return ND4C_OK;
}

static void show_reads(const making *m) {
  for (int32_t i = 0; i < m->loop->read_count; i++) {
    const nd4c_onnx_loop_read *read = &m->loop->reads[i];
    nd4c_onnx_operand *place = &scope_at(m->emission, read->levels)->environment[read->number];
    if (m->saved[i] != ND4C_ONNX_OPERAND_NONE) {
      nd4c_onnx_operand_release(m->emission->importer, *place);
      *place = m->saved[i];
    }
  }
}

static nd4c_status list_inputs(const making *m, nd4c_onnx_body_input *inputs) {
  inputs[0] = (nd4c_onnx_body_input){.known = ND4C_ONNX_OPERAND_NONE, .dtype = ND4C_INT64};
  ND4C_TRY(nd4c_emit_scalar(&m->emission->emitter, ND4C_BOOL, 1, &inputs[1].known));
  for (int32_t i = 0; i < m->loop->carried; i++) {
    const nd4c_onnx_loop_port *port = &m->loop->ports[i];
    nd4c_onnx_body_input *input = &inputs[2 + i];
    *input = (nd4c_onnx_body_input){.known = ND4C_ONNX_OPERAND_NONE, .dtype = port->dtype, .rank = port->rank};
    for (int32_t k = 0; k < port->rank; k++) {
      char name[48];
      input->shape[k] = port->shape[k];
      (void)snprintf(name, sizeof name, "carried%d.%d", (int)i, (int)k);
      if ((port->free >> k & 1) != 0) {
        ND4C_TRY(nd4c_graph_dim(m->around, name, 0, -1, &input->shape[k]));
      }
    }
  }
  return ND4C_OK;
}

/* Whether another node reads each output of the body; the condition and carried values count as read. */
static nd4c_status list_wanted(const making *m, bool **wanted) {
  const int32_t outputs = m->body_graph->outputs.count, carried = m->loop->carried;
  ND4C_TRY(nd4c_onnx_claim(m->emission, (size_t)outputs + 1, sizeof **wanted, "a loop", wanted));
  m->loop->rounds.collected = 0;
  for (int32_t i = 0; i < outputs; i++) {
    (*wanted)[i] = i <= carried || nd4c_onnx_wants(m->emission, i - 1);
    m->loop->rounds.collected += i > carried && (*wanted)[i];
  }
  return ND4C_OK;
}

static bool is_initializer(const nd4c_onnx_importer *importer, const nd4c_array *array) {
  bool is = false;
  for (int32_t i = 0; i < importer->model->initializer_count && !is; i++) {
    const nd4c_array *other = atomic_load_explicit(&importer->options->initializers[i], memory_order_acquire);
    is = other != NULL && nd4c_array_overlaps(array, other);
  }
  return is;
}

/* A constant of the plan must share no memory with what the run gives to the program, which may write to it: those that
 * this run has computed are copied. Initializers are never given. */
static nd4c_status part_constant(making *m, nd4c_onnx_operand operand) {
  nd4c_onnx_importer *importer = m->emission->importer;
  nd4c_onnx_operand_slot *slot = &importer->slots[operand];
  nd4c_array *copy = NULL;
  if (is_initializer(importer, slot->array)) {
    return ND4C_OK;
  }
  const nd4c_array *array = slot->array;
  ND4C_TRY(nd4c_op_call(importer->options->context, ND4C_OP_copy, &array, 1, NULL, 0, &copy, 1));
  nd4c_array_release(slot->array);
  slot->array = copy;
  return ND4C_OK;
}

/* Records with the arrays of constants kept: recording may replace those that are views by dense copies. */
static nd4c_status record_parted(making *m, const nd4c_onnx_captures *captures, const nd4c_onnx_body_input *inputs,
                                 const bool *wanted) {
  nd4c_onnx_importer *importer = m->emission->importer;
  nd4c_array **kept = NULL;
  nd4c_status status = ND4C_OK;
  ND4C_TRY(nd4c_onnx_claim(m->emission, (size_t)captures->count + 1, sizeof *kept, "a loop", &kept));
  for (int32_t i = 0; i < captures->count; i++) {
    nd4c_array *array = importer->slots[captures->operands[i]].array;
    kept[i] = array == NULL ? NULL : nd4c_array_retain(array);
    status = status == ND4C_OK && array != NULL ? part_constant(m, captures->operands[i]) : status;
  }
  if (status == ND4C_OK) {
    status = nd4c_onnx_record_body(m->emission, m->body_graph, captures, inputs, wanted, &m->goes_on, &m->body);
  }
  for (int32_t i = 0; i < captures->count; i++) {
    nd4c_onnx_operand_slot *slot = &importer->slots[captures->operands[i]];
    if (kept[i] != NULL) {
      nd4c_array_release(slot->array);
      slot->array = kept[i];
    }
  }
  return status;
}

static nd4c_status record_hidden(making *m) {
  nd4c_onnx_body_input *inputs = NULL;
  bool *wanted = NULL;
  nd4c_onnx_captures captures;
  ND4C_TRY(list_wanted(m, &wanted));
  ND4C_TRY(nd4c_onnx_claim(m->emission, (size_t)m->body_graph->inputs.count, sizeof *inputs, "a loop", &inputs));
  ND4C_TRY(list_inputs(m, inputs));
  ND4C_TRY(nd4c_onnx_find_captures(m->emission, &m->body_graph, 1, &captures));
  m->loop->rounds.captured = captures.value_count;
  /* captures are in the order in which find_reads found them: both walk the body in one way */
  return record_parted(m, &captures, inputs, wanted);
}

/* Records the body as the import does: into a graph, with copies of constants that this plan alone has, and with what
 * has been noted about the run put back. */
static nd4c_status record_body(making *m) {
  nd4c_onnx_importer *importer = m->emission->importer;
  const nd4c_onnx_import_options *options = importer->options;
  nd4c_onnx_dense dense = {NULL};
  nd4c_onnx_import_options own = *options;
  const int32_t unrolled = nd4c_onnx_unrolled(m->emission);
  own.dense = &dense;
  own.loops = NULL;
  ND4C_TRY(nd4c_onnx_claim(m->emission, (size_t)m->loop->read_count + 1, sizeof *m->saved, "a loop", &m->saved));
  for (int32_t i = 0; i < m->loop->read_count; i++) {
    m->saved[i] = ND4C_ONNX_OPERAND_NONE;
  }
  ND4C_TRY(nd4c_graph_create(&m->around));
  importer->graph = m->around;
  importer->options = &own;
  importer->may_miss = true;
  importer->misses = false;
  nd4c_onnx_set_unrolled(m->emission, 1);
  nd4c_status status = hide_reads(m);
  status = status == ND4C_OK ? record_hidden(m) : status;
  show_reads(m);
  nd4c_onnx_set_unrolled(m->emission, unrolled);
  importer->options = options;
  importer->may_miss = false;
  m->loop->misses = importer->misses;
  importer->graph = NULL;
  importer->emitted = 0;
  importer->needs_values = false;
  importer->need[0] = '\0';
  nd4c_onnx_dense_free(&dense);
  nd4c_graph_destroy(m->around);
  m->around = NULL;
  return status;
}

static void drop_body(making *m) {
  nd4c_graph_destroy(m->body);
  m->body = NULL;
}

/* -- what is carried ----------------------------------------------------------------------------------------------- */

/* Frees the axes of carried values whose extents a round changes; *changed: there are such that were not free. */
static nd4c_status compare_carried(making *m, bool *changed) {
  const int32_t first = m->goes_on == ND4C_ONNX_FIRST_UNKNOWN;
  *changed = false;
  for (int32_t i = 0; i < m->loop->carried; i++) {
    nd4c_onnx_loop_port *port = &m->loop->ports[i];
    const nd4c_graph_value *value = &m->body->values[m->body->outputs.items[first + i].value];
    if (value->dtype != port->dtype || value->rank != port->rank) {
      return nd4c_fail(ND4C_UNSUPPORTED, "carried value %d changes its %s", (int)i,
                       value->dtype != port->dtype ? "dtype" : "rank");
    }
    for (int32_t k = 0; k < port->rank; k++) {
      const uint64_t axis = UINT64_C(1) << k;
      if ((port->free & axis) == 0 && value->shape[k] != port->shape[k]) {
        port->free |= axis;
        *changed = true;
      }
    }
  }
  return ND4C_OK;
}

/* Elements of a collected value lie one behind the other. */
static nd4c_status check_collected(const making *m) {
  const nd4c_graph *body = m->body;
  for (int32_t i = body->outputs.count - m->loop->rounds.collected; i < body->outputs.count; i++) {
    const nd4c_graph_value *value = &body->values[body->outputs.items[i].value];
    if (value->rank >= ND4C_MAX_RANK || nd4c_dtype_is_packed(value->dtype)) {
      return nd4c_fail(
          ND4C_UNSUPPORTED, "a collected value has %s",
          value->rank >= ND4C_MAX_RANK ? "as many axes as an array can have" : "several elements in a byte");
    }
  }
  return ND4C_OK;
}

/* Small integers that the body reads become constants of it: it may need them for shapes. */
static bool bake_numbers(making *m) {
  bool any = false;
  for (int32_t i = 0; i < m->loop->read_count; i++) {
    nd4c_onnx_loop_read *read = &m->loop->reads[i];
    if (!read->is_baked && nd4c_onnx_loop_numbers(nd4c_onnx_loop_array(m->emission, read), read)) {
      read->is_baked = true;
      any = true;
    }
  }
  return any;
}

/* Records the body until it fits: with numbers that it needs, and with dims for extents that its rounds change. */
static nd4c_status fit_body(making *m) {
  for (bool changed = true; changed;) {
    nd4c_status status = record_body(m);
    if (status != ND4C_OK) {
      if (nd4c_status_passes(status) || !bake_numbers(m)) {
        return status;
      }
      nd4c_error_clear();
      continue;
    }
    ND4C_TRY(compare_carried(m, &changed));
    if (changed) {
      drop_body(m);
    }
  }
  return check_collected(m);
}

/* -- entries ------------------------------------------------------------------------------------------------------- */

/* Carried values that grow along an inner axis have it first in the body. */
static nd4c_status turn_growing(making *m) {
  const int32_t decides = m->goes_on == ND4C_ONNX_FIRST_UNKNOWN;
  int32_t *front = NULL;
  ND4C_TRY(nd4c_region_claim(&m->loop->region, (size_t)m->loop->carried + 1, sizeof *front, "a loop", &front));
  for (int32_t i = 0; i < m->loop->carried; i++) {
    ND4C_TRY(nd4c_graph_turn_growing(m->body, 1 + i, decides + i, &front[i]));
  }
  m->loop->rounds.front = front;
  return ND4C_OK;
}

static nd4c_status make_plan(making *m) {
  nd4c_onnx_loops *loops = m->emission->importer->options->loops;
  nd4c_onnx_loop *loop = m->loop;
  nd4c_status status = describe_inputs(m);
  if (status != ND4C_OK) {
    loop->carried = 0; /* the entry stands for all runs of the node: no plan can serve any */
    loop->read_count = 0;
    return status;
  }
  status = fit_body(m);
  for (int32_t i = 0; i < loop->read_count && status != ND4C_OK; i++) {
    loop->reads[i].is_baked = false; /* other numbers would not help */
  }
  ND4C_TRY(status);
  ND4C_TRY(turn_growing(m));
  loop->rounds.carried = loop->carried;
  loop->rounds.decides = m->goes_on == ND4C_ONNX_FIRST_UNKNOWN;
  loop->rounds.most = m->goes_on == ND4C_ONNX_FIRST_FALSE ? 1 : INT64_MAX;
  return loops->make(loops->user, m->emission->importer->options->context, m->body, &loop->plan);
}

/* An entry whose rounds run in a plan or, as it says why, are interpreted. */
static nd4c_status make_loop(nd4c_onnx_emission *emission, const nd4c_onnx_graph *body, int32_t carried,
                             nd4c_onnx_loop **made) {
  nd4c_onnx_loop *loop = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *loop, "a loop", &loop));
  making m = {.emission = emission, .body_graph = body, .loop = loop};
  loop->node = emission->node;
  loop->carried = carried;
  (void)nd4c_onnx_loop_calls(emission, loop);
  nd4c_status status = make_plan(&m);
  drop_body(&m);
  if (status != ND4C_OK && !nd4c_status_passes(status)) {
    loop->why = nd4c_region_text(&loop->region, nd4c_error_message());
    status = loop->why != NULL ? ND4C_OK : nd4c_fail_memory("a report", 1);
    nd4c_error_clear();
  }
  if (status != ND4C_OK) {
    nd4c_onnx_loop_free(loop);
    return status;
  }
  *made = loop;
  return ND4C_OK;
}

/* -- running ------------------------------------------------------------------------------------------------------- */

static nd4c_status give_outputs(nd4c_onnx_emission *emission, const nd4c_onnx_loop *loop, nd4c_array **results) {
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0, given = 0; i < emission->node->output_count; i++) {
    if (i >= loop->carried && !nd4c_onnx_wants(emission, i)) {
      continue;
    }
    if (status == ND4C_OK) {
      status = nd4c_emit_constant(&emission->emitter, results[given++], &emission->outputs[i]);
    } else {
      nd4c_array_release(results[given++]);
    }
  }
  return status;
}

static nd4c_status run_rounds(nd4c_onnx_emission *emission, const nd4c_onnx_loop *loop, int64_t trips) {
  nd4c_rounds rounds = loop->rounds;
  const nd4c_array **given = NULL;
  nd4c_array **results = NULL;
  int32_t count = 0;
  rounds.most = trips < rounds.most ? trips : rounds.most;
  rounds.limit = nd4c_onnx_loop_limit(emission);
  ND4C_TRY(
      nd4c_onnx_claim(emission, (size_t)rounds.carried + (size_t)rounds.captured + 1, sizeof *given, "a loop", &given));
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)rounds.carried + (size_t)rounds.collected + 1, sizeof *results, "a loop",
                           &results));
  for (int32_t i = 0; i < rounds.carried; i++) {
    given[count++] = nd4c_onnx_constant_array(emission, emission->inputs[2 + i]);
  }
  for (int32_t i = 0; i < loop->read_count; i++) {
    if (!loop->reads[i].is_baked) {
      given[count++] = nd4c_onnx_loop_array(emission, &loop->reads[i]);
    }
  }
  ND4C_TRY(nd4c_rounds_run(loop->plan, emission->importer->options->context, &rounds, given, results));
  return give_outputs(emission, loop, results);
}

/* Whether a run tries the plan: not after it has failed often, but for one run in 16. */
static bool is_tried(nd4c_onnx_loop *loop) {
  enum { FIRST = 64, RARE = 16 };
  const int64_t runs = atomic_fetch_add_explicit(&loop->runs, 1, memory_order_relaxed);
  return loop->plan != NULL && RARE * atomic_load_explicit(&loop->unserved, memory_order_relaxed) <= FIRST + runs;
}

nd4c_status nd4c_onnx_run_loop(nd4c_onnx_emission *emission, const nd4c_onnx_graph *body, int32_t carried,
                               int64_t trips, bool *done) {
  nd4c_onnx_loops *loops = emission->importer->options->loops;
  bool refused = false;
  *done = false;
  if (loops == NULL || !nd4c_onnx_is_interpreting(emission) || trips < 1 ||
      carried + emission->node->output_count == 0) {
    return ND4C_OK;
  }
  nd4c_onnx_loop *loop = nd4c_onnx_loops_find(loops, emission, &refused);
  if (refused) {
    return ND4C_OK;
  }
  if (loop == NULL) {
    ND4C_TRY(make_loop(emission, body, carried, &loop));
    loop = nd4c_onnx_loops_add(loops, emission, loop);
  }
  *done = is_tried(loop);
  nd4c_status status = *done ? run_rounds(emission, loop, trips) : ND4C_OK;
  /* A plan may have assumed of sizes or positions what does not hold; the interpreter knows, and says what is wrong. */
  const bool assumes = loop->misses || (loop->plan != NULL && loop->plan->dynamic != NULL);
  if (status != ND4C_OK && !nd4c_status_passes(status) && assumes && status != ND4C_OVERFLOW) {
    nd4c_error_clear();
    atomic_fetch_add_explicit(&loop->unserved, 1, memory_order_relaxed);
    *done = false;
    status = ND4C_OK;
  }
  nd4c_onnx_loops_leave(loops, loop);
  return status;
}
