/* Implements cuts.h. ops/indexing_arrangement.c calls it for Slice. */
#include "import/onnx/emission/cuts.h"

#include "array/array.h"
#include "base/checked.h"
#include "base/status.h"
#include "graph/ir/graph.h"
#include "import/onnx/importer.h"

enum { LONGEST = 4096, STEPS = 64 };

/* A number: an element of a value, or of nothing, and a constant more. */
typedef struct form {
  nd4c_value base; /* ND4C_VALUE_NONE: the constant alone */
  int64_t element, offset;
} form;

/* -- what the nodes before give ------------------------------------------------------------------------------------ */

/* The graph, and the first failure to read a constant. */
typedef struct tracer {
  const nd4c_graph *graph;
  nd4c_status status;
} tracer;

static nd4c_status read_number(const nd4c_array *array, int64_t element, int64_t *number) {
  int64_t offset = array->offset;
  int32_t narrow = 0;
  nd4c_array *view = NULL;
  for (int32_t i = array->rank - 1; i >= 0; i--) {
    offset += element % array->shape[i] * array->strides[i];
    element /= array->shape[i];
  }
  ND4C_TRY(nd4c_array_view(array, 0, NULL, NULL, offset, &view));
  const bool wide = array->dtype == ND4C_INT64;
  const nd4c_status status =
      nd4c_array_read(view, wide ? (void *)number : &narrow, wide ? sizeof *number : sizeof narrow);
  nd4c_array_release(view);
  *number = wide ? *number : narrow;
  return status;
}

/* One of the integers of a constant. */
static bool read_element(tracer *t, const nd4c_array *array, int64_t element, int64_t *number) {
  t->status = t->status == ND4C_OK ? read_number(array, element, number) : t->status;
  return t->status == ND4C_OK;
}

static bool is_integer(const nd4c_graph_value *value) {
  return (value->dtype == ND4C_INT64 || value->dtype == ND4C_INT32) && !nd4c_extent_is_symbolic(value->size);
}

/* The element of an operand that an element of the result is computed with; false: it depends on more than that. */
static bool operand_element(const nd4c_graph_value *operand, const nd4c_graph_value *result, int64_t *element) {
  if (!is_integer(operand) || operand->dtype != result->dtype) {
    return false;
  }
  if (operand->size == 1) {
    *element = 0;
  }
  return operand->size == 1 || operand->size == result->size;
}

/* A sum or difference with a constant: moves on to the other operand. */
static bool step_over_sum(tracer *t, const nd4c_graph_node *node, form *at) {
  const nd4c_graph *graph = t->graph;
  const bool subtracts = node->def->info.op == ND4C_OP_subtract;
  const nd4c_graph_value *result = &graph->values[at->base];
  for (int32_t i = subtracts ? 1 : 0; i < 2; i++) {
    const nd4c_graph_value *constant = &graph->values[node->inputs[i]], *other = &graph->values[node->inputs[1 - i]];
    int64_t element = at->element, rest = at->element, number = 0;
    if (constant->constant == NULL || !operand_element(constant, result, &element) ||
        !operand_element(other, result, &rest) || !read_element(t, constant->constant, element, &number)) {
      continue;
    }
    *at = (form){.base = node->inputs[1 - i], .element = rest, .offset = at->offset};
    return subtracts ? nd4c_checked_subtract(at->offset, number, &at->offset)
                     : nd4c_checked_add(at->offset, number, &at->offset);
  }
  return false;
}

/* Moves on to the part that the element is of. */
static bool step_into_concat(const nd4c_graph *graph, const nd4c_graph_node *node, form *at) {
  int64_t element = at->element;
  if (graph->values[node->outputs[0]].rank != 1) {
    return false;
  }
  for (int32_t i = 0; i < node->input_count; i++) {
    const nd4c_graph_value *part = &graph->values[node->inputs[i]];
    if (!is_integer(part) || part->dtype != graph->values[node->outputs[0]].dtype) {
      return false;
    }
    if (element < part->size) {
      at->base = node->inputs[i];
      at->element = element;
      return true;
    }
    element -= part->size;
  }
  return false;
}

/* Goes one node back; false: the element is not the same as one before that node, but for a constant. */
static bool step_back(tracer *t, form *at) {
  const nd4c_graph *graph = t->graph;
  const int32_t producer = graph->values[at->base].producer;
  const nd4c_graph_node *node = producer < 0 ? NULL : &graph->nodes[producer];
  if (node == NULL || node->control != NULL || node->input_count == 0 || node->inputs[0] < 0) {
    return false;
  }
  const nd4c_graph_value *first = &graph->values[node->inputs[0]];
  switch (node->def->info.op) {
    case ND4C_OP_reshape:
    case ND4C_OP_flatten:
    case ND4C_OP_expand_dims:
    case ND4C_OP_squeeze:
    case ND4C_OP_copy:
      at->base = node->inputs[0];
      return true;
    case ND4C_OP_cast: /* to more bits */
      at->base = is_integer(first) && graph->values[at->base].dtype == ND4C_INT64 ? node->inputs[0] : at->base;
      return at->base == node->inputs[0];
    case ND4C_OP_concat:
      return step_into_concat(graph, node, at);
    case ND4C_OP_add:
    case ND4C_OP_subtract:
      return step_over_sum(t, node, at);
    default:
      return false;
  }
}

static form trace(tracer *t, nd4c_value value, int64_t element) {
  form at = {.base = value, .element = element};
  for (int32_t i = 0; i < STEPS; i++) {
    const nd4c_graph_value *info = &t->graph->values[at.base];
    int64_t number = 0;
    form before = at;
    if (info->constant != NULL && read_element(t, info->constant, at.element, &number) &&
        nd4c_checked_add(at.offset, number, &number)) {
      return (form){.base = ND4C_VALUE_NONE, .offset = number};
    }
    if (info->constant != NULL || !step_back(t, &before)) {
      break;
    }
    at = before;
  }
  return at;
}

/* -- cuts ---------------------------------------------------------------------------------------------------------- */

/* Whether an operand is an array, and only a run knows its numbers. */
static bool is_open(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  const nd4c_onnx_operand_slot *slot = &emission->importer->slots[operand];
  return nd4c_onnx_operand_kind(emission, operand) == ND4C_ONNX_KIND_ARRAY && slot->array == NULL &&
         slot->extents == NULL;
}

static bool is_list(const nd4c_graph_value *value) {
  return is_integer(value) && value->rank == 1 && value->size <= ND4C_MAX_RANK;
}

nd4c_status nd4c_onnx_find_cuts(nd4c_onnx_emission *emission, nd4c_onnx_operand starts, nd4c_onnx_operand stops,
                                nd4c_onnx_cut *cuts, int32_t *count) {
  const nd4c_onnx_importer *importer = emission->importer;
  nd4c_value from = ND4C_VALUE_NONE, to = ND4C_VALUE_NONE;
  *count = 0;
  if (!importer->may_miss || importer->graph == NULL || starts == ND4C_ONNX_OPERAND_NONE ||
      stops == ND4C_ONNX_OPERAND_NONE || !is_open(emission, starts) || !is_open(emission, stops)) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_value_of(emission->importer, starts, &from));
  ND4C_TRY(nd4c_onnx_value_of(emission->importer, stops, &to));
  const nd4c_graph *graph = importer->graph;
  tracer t = {.graph = graph};
  const int64_t size = graph->values[from].size;
  bool fixed = is_list(&graph->values[from]) && is_list(&graph->values[to]) && graph->values[to].size == size;
  for (int32_t i = 0; i < size && fixed; i++) {
    const form start = trace(&t, from, i), stop = trace(&t, to, i);
    int64_t length = 0;
    cuts[i] = (nd4c_onnx_cut){.known = start.base == ND4C_VALUE_NONE, .start = start.offset, .stop = stop.offset};
    fixed = start.base == stop.base && start.element == stop.element;
    fixed = fixed && (cuts[i].known ||
                      (nd4c_checked_subtract(stop.offset, start.offset, &length) && length >= 1 && length <= LONGEST));
  }
  *count = fixed ? (int32_t)size : 0;
  return t.status;
}

/* start, start + 1, ...; negative numbers, which count from the end elsewhere, become one that no axis has. */
static nd4c_status list_positions(nd4c_onnx_emission *emission, nd4c_onnx_operand start, int64_t length,
                                  nd4c_onnx_operand *positions) {
  enum { FAR = 62 };
  int64_t steps[LONGEST];
  nd4c_onnx_operand more = ND4C_ONNX_OPERAND_NONE, negative = ND4C_ONNX_OPERAND_NONE, outside = ND4C_ONNX_OPERAND_NONE;
  for (int64_t i = 0; i < length; i++) {
    steps[i] = i;
  }
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, start, ND4C_INT64, &start));
  ND4C_TRY(nd4c_onnx_int64s(emission, 1, length, steps, &more));
  ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_less, start, 0, &negative));
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, ND4C_INT64, (double)(INT64_C(1) << FAR), &outside));
  ND4C_TRY(nd4c_emit_where(&emission->emitter, negative, outside, start, &start));
  *positions = start;
  return length == 1 ? ND4C_OK : nd4c_emit_binary(&emission->emitter, ND4C_OP_add, start, more, positions);
}

nd4c_status nd4c_onnx_emit_cut(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int32_t axis,
                               const nd4c_onnx_cut *cut, nd4c_onnx_operand starts, int32_t number,
                               nd4c_onnx_operand *y) {
  nd4c_onnx_operand start = starts, positions = ND4C_ONNX_OPERAND_NONE;
  if (nd4c_emitted_get(&emission->emitter, starts).shape[0] > 1) {
    ND4C_TRY(nd4c_emit_slice(&emission->emitter, starts, 0, number, number + 1, 1, &start));
  }
  ND4C_TRY(list_positions(emission, start, cut->stop - cut->start, &positions));
  emission->importer->misses = true;
  return nd4c_emit_along(&emission->emitter, ND4C_OP_gather, (nd4c_onnx_operand[]){x, positions}, 2, axis, y);
}
