/* Implements bodies.h. While a body is recorded, the importer's graph is the body, and the operands that it reads from
 * outside stand for values of the body: their slots are changed before, and put back afterwards. The body begins with a
 * copy of the table of extents of the graph around it, so that shapes and lists of extents mean the same in both. */
#include "import/onnx/emission/bodies.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/graph.h"
#include "import/onnx/importer.h"

bool nd4c_onnx_takes_bodies(const nd4c_onnx_emission *emission) {
  return emission->importer->graph != NULL;
}

nd4c_status nd4c_onnx_interpret_instead(nd4c_onnx_emission *emission, nd4c_status status) {
  nd4c_onnx_importer *importer = emission->importer;
  if (status == ND4C_OK || nd4c_status_passes(status)) {
    return status;
  }
  if (!importer->needs_values) {
    importer->needs_values = true;
    (void)snprintf(importer->need, sizeof importer->need, "%s: %s", nd4c_onnx_node_show(emission->node).text,
                   nd4c_error_message());
  }
  return nd4c_fail(ND4C_UNSUPPORTED, "%s", importer->need);
}

void nd4c_onnx_forget_need(nd4c_onnx_emission *emission) {
  emission->importer->needs_values = false;
  emission->importer->need[0] = '\0';
  nd4c_error_clear();
}

nd4c_graph *nd4c_onnx_recorded_graph(const nd4c_onnx_emission *emission) {
  return emission->importer->graph;
}

nd4c_status nd4c_onnx_body_value(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, nd4c_value *value) {
  return nd4c_onnx_value_of(emission->importer, operand, value);
}

nd4c_status nd4c_onnx_body_output(nd4c_onnx_emission *emission, nd4c_value value, nd4c_onnx_operand *operand) {
  return nd4c_onnx_add_value(emission->importer, value, operand);
}

/* -- what inner graphs read from outside --------------------------------------------------------------------------- */

typedef struct finder {
  nd4c_onnx_emission *emission;
  nd4c_onnx_captures *captures;
  int32_t capacity;
} finder;

static nd4c_status add_operand(finder *find, nd4c_onnx_operand operand) {
  nd4c_onnx_captures *captures = find->captures;
  for (int32_t i = 0; i < captures->count; i++) {
    if (captures->operands[i] == operand) {
      return ND4C_OK;
    }
  }
  if (captures->count == find->capacity) {
    nd4c_onnx_operand *more = NULL;
    find->capacity = 2 * find->capacity + 16;
    ND4C_TRY(nd4c_onnx_claim(find->emission, (size_t)find->capacity, sizeof *more, "what a body reads", &more));
    for (int32_t i = 0; i < captures->count; i++) {
      more[i] = captures->operands[i];
    }
    captures->operands = more;
  }
  captures->operands[captures->count++] = operand;
  return ND4C_OK;
}

/* Reads a value of a graph around now, so that an initializer has its operand before the body. */
static nd4c_status find_value(finder *find, const nd4c_onnx_value *value, int32_t depth) {
  const nd4c_onnx_scope *scope = find->emission->scope;
  nd4c_onnx_operand operand = ND4C_ONNX_OPERAND_NONE;
  for (int32_t i = value->levels - depth - 1; i > 0; i--) {
    scope = scope->outer;
  }
  ND4C_TRY(nd4c_onnx_scope_read(find->emission->importer, scope, value->index, &operand));
  if (operand == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK; /* left out */
  }
  if (nd4c_onnx_operand_kind(find->emission, operand) != ND4C_ONNX_KIND_ARRAY) {
    return nd4c_fail(ND4C_UNSUPPORTED, "an inner graph reads %s, which is a sequence or optional",
                     nd4c_span_show(value->name).text);
  }
  return add_operand(find, operand);
}

/* `depth`: how many graphs lie between this one and the node. The parser bounds the depth. */
static nd4c_status find_in_graph(finder *find, const nd4c_onnx_graph *graph, int32_t depth) {
  for (int32_t i = 0; i < graph->values.count; i++) {
    const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, i);
    if (value->source == ND4C_ONNX_FROM_OUTSIDE && value->levels > depth) {
      ND4C_TRY(find_value(find, value, depth));
    }
  }
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    for (int32_t k = 0; k < node->attribute_count; k++) {
      if (node->attributes[k].graph != NULL) {
        ND4C_TRY(find_in_graph(find, node->attributes[k].graph, depth + 1));
      }
    }
  }
  return ND4C_OK;
}

/* Constants and lists of extents are known in the body, too. */
static bool is_captured(const nd4c_onnx_operand_slot *slot) {
  return slot->array == NULL && slot->extents == NULL;
}

static nd4c_status find_all(finder *find, const nd4c_onnx_graph *const *graphs, int32_t count) {
  nd4c_onnx_captures *captures = find->captures;
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(find_in_graph(find, graphs[i], 0));
  }
  ND4C_TRY(nd4c_onnx_claim(find->emission, (size_t)captures->count + 1, sizeof *captures->values, "what a body reads",
                           &captures->values));
  for (int32_t i = 0; i < captures->count; i++) {
    nd4c_onnx_importer *importer = find->emission->importer;
    if (is_captured(&importer->slots[captures->operands[i]])) {
      ND4C_TRY(nd4c_onnx_value_of(importer, captures->operands[i], &captures->values[captures->value_count++]));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_find_captures(nd4c_onnx_emission *emission, const nd4c_onnx_graph *const *graphs, int32_t count,
                                    nd4c_onnx_captures *captures) {
  finder find = {.emission = emission, .captures = captures};
  *captures = (nd4c_onnx_captures){0};
  return nd4c_onnx_interpret_instead(emission, find_all(&find, graphs, count));
}

/* -- recording ----------------------------------------------------------------------------------------------------- */

/* A body in the making, and what the importer was before. */
typedef struct recording {
  nd4c_onnx_emission *emission;
  const nd4c_onnx_graph *graph;
  const nd4c_onnx_captures *captures;
  nd4c_graph *body, *around;
  nd4c_value *saved; /* by captured operand: the value of its slot */
} recording;

static nd4c_status begin(recording *r) {
  nd4c_onnx_importer *importer = r->emission->importer;
  ND4C_TRY(nd4c_onnx_claim(r->emission, (size_t)r->captures->count + 1, sizeof *r->saved, "a body", &r->saved));
  ND4C_TRY(nd4c_graph_create(&r->body));
  const nd4c_status status = nd4c_extents_clone(importer->graph->extents, &r->body->extents);
  if (status != ND4C_OK) {
    nd4c_graph_destroy(r->body);
    return status;
  }
  for (int32_t i = 0; i < r->captures->count; i++) {
    nd4c_onnx_operand_slot *slot = &importer->slots[r->captures->operands[i]];
    r->saved[i] = slot->value;
    slot->value = ND4C_VALUE_NONE; /* constants and extents are recorded in the body when they are first read there */
  }
  r->around = importer->graph;
  importer->graph = r->body;
  return ND4C_OK;
}

static void end(const recording *r) {
  nd4c_onnx_importer *importer = r->emission->importer;
  importer->graph = r->around;
  for (int32_t i = 0; i < r->captures->count; i++) {
    importer->slots[r->captures->operands[i]].value = r->saved[i];
  }
}

static nd4c_status add_input(const recording *r, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                             nd4c_value *value) {
  char name[32];
  (void)snprintf(name, sizeof name, "input%d", (int)nd4c_graph_input_count(r->body));
  return nd4c_graph_input(r->body, name, dtype, rank, shape, value);
}

static nd4c_status add_inputs(const recording *r, const nd4c_onnx_body_input *inputs, nd4c_onnx_operand *operands) {
  nd4c_onnx_importer *importer = r->emission->importer;
  for (int32_t i = 0; i < r->graph->inputs.count; i++) {
    nd4c_value value = ND4C_VALUE_NONE;
    operands[i] = inputs[i].known;
    if (operands[i] == ND4C_ONNX_OPERAND_NONE) {
      ND4C_TRY(add_input(r, inputs[i].dtype, inputs[i].rank, inputs[i].shape, &value));
      ND4C_TRY(nd4c_onnx_add_value(importer, value, &operands[i]));
    }
  }
  for (int32_t i = 0; i < r->captures->count; i++) {
    nd4c_onnx_operand_slot *slot = &importer->slots[r->captures->operands[i]];
    nd4c_dtype dtype = ND4C_DTYPE_NONE;
    int32_t rank = 0;
    const int64_t *shape = NULL;
    if (is_captured(slot)) {
      ND4C_TRY(nd4c_graph_value_info(r->around, r->saved[i], &dtype, &rank, &shape));
      ND4C_TRY(add_input(r, dtype, rank, shape, &slot->value));
    }
  }
  return ND4C_OK;
}

/* What is known of a bool. */
static nd4c_status look_at(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, nd4c_onnx_first *first) {
  double number = 0;
  if (nd4c_onnx_constant_array(emission, operand) == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_read_number(emission, operand, "the loop's condition", &number));
  *first = number != 0 ? ND4C_ONNX_FIRST_TRUE : ND4C_ONNX_FIRST_FALSE;
  return ND4C_OK;
}

static nd4c_status add_outputs(const recording *r, const bool *wanted, nd4c_onnx_first *first,
                               const nd4c_onnx_operand *operands) {
  for (int32_t i = 0; i < r->graph->outputs.count; i++) {
    char name[32];
    nd4c_value value = ND4C_VALUE_NONE;
    if (i == 0 && first != NULL) {
      ND4C_TRY(look_at(r->emission, operands[0], first));
    }
    if ((i == 0 && first != NULL && *first != ND4C_ONNX_FIRST_UNKNOWN) || (wanted != NULL && !wanted[i])) {
      continue;
    }
    (void)snprintf(name, sizeof name, "output%d", (int)i);
    ND4C_TRY(nd4c_onnx_value_of(r->emission->importer, operands[i], &value));
    ND4C_TRY(nd4c_graph_output(r->body, name, value));
  }
  return ND4C_OK;
}

static nd4c_status fill(recording *r, const nd4c_onnx_body_input *inputs, const bool *wanted, nd4c_onnx_first *first) {
  const int32_t input_count = r->graph->inputs.count, output_count = r->graph->outputs.count;
  nd4c_onnx_operand *operands = NULL;
  ND4C_TRY(nd4c_onnx_claim(r->emission, (size_t)input_count + (size_t)output_count + 1, sizeof *operands, "a body",
                           &operands));
  ND4C_TRY(add_inputs(r, inputs, operands));
  ND4C_TRY(nd4c_onnx_emit_graph(r->emission, r->graph, operands, input_count, operands + input_count, output_count));
  return add_outputs(r, wanted, first, operands + input_count);
}

nd4c_status nd4c_onnx_record_body(nd4c_onnx_emission *emission, const nd4c_onnx_graph *graph,
                                  const nd4c_onnx_captures *captures, const nd4c_onnx_body_input *inputs,
                                  const bool *wanted, nd4c_onnx_first *first, nd4c_graph **body) {
  recording r = {.emission = emission, .graph = graph, .captures = captures};
  if (first != NULL) {
    *first = ND4C_ONNX_FIRST_UNKNOWN;
  }
  ND4C_TRY(begin(&r));
  const int32_t mark = nd4c_onnx_mark(emission);
  nd4c_status status = fill(&r, inputs, wanted, first);
  nd4c_onnx_sweep(emission, mark); /* operands of the body mean nothing outside */
  end(&r);
  if (status != ND4C_OK) {
    status = nd4c_onnx_interpret_instead(emission, status);
    nd4c_graph_destroy(r.body);
    return status;
  }
  *body = r.body;
  return ND4C_OK;
}
