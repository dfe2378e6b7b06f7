/* Checks that every node of every graph can be imported: its opset, op or function, and how many inputs it has.
 * onnx/model.c calls it after parsing; the rows and functions that it finds stay in the nodes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "base/text.h"
#include "import/onnx/model.h"
#include "import/onnx/ops/foreign.h"
#include "import/onnx/ops/mapping.h"

/* -- functions ------------------------------------------------------------------------------------------------ */

static int compare_spans(nd4c_span a, nd4c_span b) {
  size_t common = a.size < b.size ? a.size : b.size;
  int order = common > 0 ? memcmp(a.bytes, b.bytes, common) : 0;
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_functions(const void *a, const void *b) {
  const nd4c_onnx_function *x = a;
  const nd4c_onnx_function *y = b;
  int order = compare_spans(x->name, y->name);
  order = order != 0 ? order : compare_spans(x->domain, y->domain);
  return order != 0 ? order : compare_spans(x->overload, y->overload);
}

const nd4c_onnx_function *nd4c_onnx_function_find(const nd4c_onnx_model *model, const nd4c_onnx_node *node) {
  const nd4c_onnx_function key = {.domain = node->domain, .name = node->op, .overload = node->overload};
  if (model->functions.count == 0) {
    return NULL;
  }
  return bsearch(&key, model->functions.items, (size_t)model->functions.count, sizeof key, compare_functions);
}

nd4c_status nd4c_onnx_functions_sort(nd4c_onnx_model *model) {
  nd4c_onnx_function *functions = model->functions.items;
  if (model->functions.count > 0) {
    qsort(functions, (size_t)model->functions.count, sizeof *functions, compare_functions);
  }
  for (int32_t i = 1; i < model->functions.count; i++) {
    if (compare_functions(&functions[i - 1], &functions[i]) == 0) {
      return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": function %s is defined a second time", functions[i].offset,
                       nd4c_span_show(functions[i].name).text);
    }
  }
  return ND4C_OK;
}

/* -- opsets --------------------------------------------------------------------------------------------------- */

/* The opset of a domain, 0 if the list has none. */
static int64_t opset_of(const nd4c_region_list *list, nd4c_span domain) {
  const nd4c_onnx_opset *opsets = list->items;
  for (int32_t i = 0; i < list->count; i++) {
    if (nd4c_span_equal(opsets[i].domain, domain)) {
      return opsets[i].version;
    }
  }
  return 0;
}

static nd4c_status check_opset_list(const nd4c_region_list *list) {
  const nd4c_onnx_opset *opsets = list->items;
  for (int32_t i = 0; i < list->count; i++) {
    int64_t newest = nd4c_onnx_mapping_newest(opsets[i].domain);
    if (newest != 0 && opsets[i].version > newest) {
      bool is_own = opsets[i].domain.size == 0;
      return nd4c_fail(ND4C_UNSUPPORTED, "opset %" PRId64 "%s%s; nd4c knows opsets up to %" PRId64, opsets[i].version,
                       is_own ? "" : " of ", is_own ? "" : nd4c_span_show(opsets[i].domain).text, newest);
    }
  }
  return ND4C_OK;
}

/* A model older than opset_import is of opset 1. */
static nd4c_status check_opsets(nd4c_onnx_model *model) {
  const nd4c_onnx_function *functions = model->functions.items;
  if (model->opsets.count == 0) {
    if (model->ir_version >= 3 && model->graph.nodes.count > 0) {
      return nd4c_fail(ND4C_FORMAT, "no opset_import for ONNX's own domain; IR version %" PRId64 " needs one",
                       model->ir_version);
    }
    nd4c_onnx_opset *first = NULL;
    ND4C_TRY(nd4c_region_append(&model->region, &model->opsets, sizeof *first, "opsets", &first));
    *first = (nd4c_onnx_opset){{0}, 1};
  }
  ND4C_TRY(check_opset_list(&model->opsets));
  for (int32_t i = 0; i < model->functions.count; i++) {
    ND4C_TRY(check_opset_list(&functions[i].opsets));
  }
  return ND4C_OK;
}

/* -- nodes ---------------------------------------------------------------------------------------------------- */

enum { KINDS_MOST = 64 };

/* Ops that nd4c lacks: one entry for each op, with the first node that has it. */
typedef struct missing_ops {
  nd4c_status status; /* a failure that ended the search */
  const nd4c_onnx_node *nodes[KINDS_MOST];
  int32_t count;
  nd4c_text text;
  char problem[256];
} missing_ops;

/* Whether an op takes or gives a map from keys to numbers or strings. A datum cannot be a map. */
static bool needs_map(const nd4c_onnx_node *node) {
  return nd4c_span_is(node->domain, "ai.onnx.ml") &&
         (nd4c_span_is(node->op, "CastMap") || nd4c_span_is(node->op, "DictVectorizer"));
}

/* Binds a node to its function or row. Returns "", or the reason why the node cannot be bound. */
static const char *bind_node(nd4c_onnx_model *model, const nd4c_region_list *opsets, nd4c_onnx_node *node,
                             missing_ops *missing) {
  node->opset = opset_of(opsets, node->domain);
  if (node->opset == 0) {
    node->opset = opset_of(&model->opsets, node->domain);
  }
  node->function = nd4c_onnx_function_find(model, node);
  if (node->function != NULL) {
    return "";
  }
  if (needs_map(node)) {
    return "values that are maps are not supported";
  }
  if (nd4c_span_is(node->domain, "com.microsoft.nchwc")) {
    return "it computes on ONNX Runtime's own layout, as files have it that ONNX Runtime saved at ORT_ENABLE_ALL; save "
           "the model at ORT_ENABLE_EXTENDED, or use the original file";
  }
  if (node->opset == 0) {
    return "of a domain that opset_import lacks";
  }
  node->mapping = nd4c_onnx_mapping_find(node->domain, node->op, node->opset);
  if (node->mapping != NULL) {
    return "";
  }
  if (nd4c_onnx_mapping_newest(node->domain) != 0 && !nd4c_onnx_mapping_is_open(node->domain)) {
    return "not known at this opset";
  }
  nd4c_status status = nd4c_onnx_foreign_bind(model, node, missing->problem, sizeof missing->problem);
  missing->status = missing->status == ND4C_OK ? status : missing->status;
  return missing->problem;
}

static void add_missing(missing_ops *missing, const nd4c_onnx_node *node, const char *problem) {
  for (int32_t i = 0; i < missing->count; i++) {
    if (nd4c_span_equal(missing->nodes[i]->op, node->op) && nd4c_span_equal(missing->nodes[i]->domain, node->domain)) {
      return;
    }
  }
  if (missing->count == KINDS_MOST) {
    return;
  }
  missing->nodes[missing->count++] = node;
  nd4c_text_print(&missing->text, "%s%s%s%s (%s; first: %s)", missing->count > 1 ? ", " : "",
                  node->domain.size == 0 ? "" : nd4c_span_show(node->domain).text,
                  node->domain.size == 0 ? "" : "::", nd4c_span_show(node->op).text, problem,
                  nd4c_onnx_node_show(node).text);
}

/* All nodes of a graph and of those inside it. */
static void bind_graph(nd4c_onnx_model *model, const nd4c_region_list *opsets, nd4c_onnx_graph *graph,
                       missing_ops *missing) {
  nd4c_onnx_node *nodes = graph->nodes.items;
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const char *problem = bind_node(model, opsets, &nodes[i], missing);
    if (problem[0] != '\0') {
      add_missing(missing, &nodes[i], problem);
    }
    for (int32_t j = 0; j < nodes[i].attribute_count; j++) {
      if (nodes[i].attributes[j].graph != NULL) {
        bind_graph(model, opsets, nodes[i].attributes[j].graph, missing);
      }
    }
  }
}

static nd4c_status bind_all(nd4c_onnx_model *model, missing_ops *missing) {
  nd4c_onnx_function *functions = model->functions.items;
  for (int32_t i = 0; i < model->functions.count; i++) {
    bind_graph(model, &functions[i].opsets, &functions[i].body, missing);
  }
  bind_graph(model, &model->opsets, &model->graph, missing);
  if (missing->status != ND4C_OK || missing->count == 0) {
    return missing->status;
  }
  int64_t opset = opset_of(&model->opsets, (nd4c_span){0});
  char own[48] = "";
  if (opset != 0) {
    (void)snprintf(own, sizeof own, " (opset %" PRId64 ")", opset);
  }
  return nd4c_fail(ND4C_UNSUPPORTED, "the model%s needs %d op%s that nd4c lacks: %s", own, (int)missing->count,
                   missing->count == 1 ? "" : "s",
                   missing->text.failed ? "(no memory for the list)" : missing->text.bytes);
}

/* -- inputs and outputs ---------------------------------------------------------------------------------------- */

static nd4c_status fail_inputs(const nd4c_onnx_node *node, bool few, int32_t expected) {
  return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 " has %d inputs; expected at %s %d",
                   nd4c_onnx_node_show(node).text, node->offset, (int)node->input_count, few ? "least" : "most",
                   (int)expected);
}

static nd4c_status check_call(const nd4c_onnx_node *node) {
  const nd4c_onnx_graph *body = &node->function->body;
  if (node->input_count > body->inputs.count) {
    return fail_inputs(node, false, body->inputs.count);
  }
  if (node->output_count > body->outputs.count) {
    return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 " has %d outputs; the function has %d",
                     nd4c_onnx_node_show(node).text, node->offset, (int)node->output_count, (int)body->outputs.count);
  }
  return ND4C_OK;
}

static nd4c_status check_counts(const nd4c_onnx_node *node) {
  const nd4c_onnx_mapping *row = node->mapping;
  if (node->function != NULL) {
    return check_call(node);
  }
  if (node->input_count < row->inputs_least || node->input_count > row->inputs_most) {
    bool few = node->input_count < row->inputs_least;
    return fail_inputs(node, few, few ? row->inputs_least : row->inputs_most);
  }
  for (int32_t i = 0; i < row->inputs_least; i++) {
    if (node->inputs[i] == ND4C_ONNX_NONE) {
      return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 ": input %d is left out, but required",
                       nd4c_onnx_node_show(node).text, node->offset, (int)i);
    }
  }
  if (node->output_count == 0 && row->outputs != ND4C_ONNX_ANY) {
    return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 " has no output", nd4c_onnx_node_show(node).text, node->offset);
  }
  return ND4C_OK;
}

/* Refuses to read an output that the import does not make (a norm's statistics); nodes may name such outputs. The value
 * is one of `graph`, or of a graph around it. */
static nd4c_status check_unmade(const nd4c_onnx_graph *graph, int32_t number, const char *reader) {
  const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, number);
  if (value->source == ND4C_ONNX_FROM_OUTSIDE) {
    for (int32_t i = 0; i < value->levels; i++) {
      graph = graph->outer;
    }
    number = value->index;
    value = nd4c_onnx_graph_value(graph, number);
  }
  if (value->source != ND4C_ONNX_FROM_NODE) {
    return ND4C_OK;
  }
  const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, value->index);
  for (int32_t i = node->mapping != NULL ? node->mapping->outputs : node->output_count; i < node->output_count; i++) {
    if (node->outputs[i] == number) {
      return nd4c_fail(ND4C_UNSUPPORTED, "%s reads %s, output %d of %s; nd4c makes the first %d", reader,
                       nd4c_span_show(value->name).text, (int)i, nd4c_onnx_node_show(node).text,
                       (int)node->mapping->outputs);
    }
  }
  return ND4C_OK;
}

static nd4c_status check_uses(const nd4c_onnx_graph *graph) {
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    ND4C_TRY(check_counts(node));
    for (int32_t j = 0; j < node->input_count; j++) {
      if (node->inputs[j] != ND4C_ONNX_NONE) {
        ND4C_TRY(check_unmade(graph, node->inputs[j], nd4c_onnx_node_show(node).text));
      }
    }
    for (int32_t j = 0; j < node->attribute_count; j++) {
      if (node->attributes[j].graph != NULL) {
        ND4C_TRY(check_uses(node->attributes[j].graph));
      }
    }
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    ND4C_TRY(check_unmade(graph, nd4c_onnx_graph_output(graph, i)->value, "the graph's output"));
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_model_check_ops(nd4c_onnx_model *model) {
  missing_ops missing = {0};
  const nd4c_onnx_function *functions = model->functions.items;
  ND4C_TRY(check_opsets(model));
  nd4c_status status = bind_all(model, &missing);
  nd4c_text_free(&missing.text);
  for (int32_t i = 0; i < model->functions.count && status == ND4C_OK; i++) {
    status = check_uses(&functions[i].body);
  }
  return status == ND4C_OK ? check_uses(&model->graph) : status;
}
