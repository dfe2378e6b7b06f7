/* What must hold before a parsed model is used: every name defined once and before its use, ops known. */
#include <inttypes.h>

#include "base/status.h"
#include "base/text.h"
#include "io/onnx/mapping.h"
#include "io/onnx/model.h"

static nd4c_status define(nd4c_onnx_model *model, int32_t number, nd4c_onnx_source source, int32_t index,
                          uint64_t offset) {
  nd4c_onnx_value *value = nd4c_onnx_model_value(model, number);
  if (value->source != ND4C_ONNX_FROM_NOWHERE) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": value %s is defined a second time", offset,
                     nd4c_span_show(value->name).text);
  }
  value->source = source;
  value->index = index;
  return ND4C_OK;
}

static nd4c_status define_initializers(nd4c_onnx_model *model) {
  for (int32_t i = 0; i < model->initializers.count; i++) {
    const nd4c_onnx_tensor *tensor = nd4c_onnx_model_initializer(model, i);
    int32_t number = 0;
    ND4C_TRY(nd4c_onnx_names_intern(model, tensor->name, &number));
    ND4C_TRY(define(model, number, ND4C_ONNX_FROM_INITIALIZER, i, tensor->offset));
  }
  return ND4C_OK;
}

/* Inputs that have an initializer (IR version 3 wants them listed) are constants, not inputs. */
static nd4c_status define_inputs(nd4c_onnx_model *model) {
  nd4c_onnx_value_info *inputs = model->inputs.items;
  int32_t kept = 0;
  for (int32_t i = 0; i < model->inputs.count; i++) {
    nd4c_onnx_value_info info = inputs[i];
    if (nd4c_onnx_model_value(model, info.value)->source == ND4C_ONNX_FROM_INITIALIZER) {
      continue;
    }
    if (!info.is_tensor) {
      return nd4c_fail(ND4C_UNSUPPORTED, "input %s at byte %" PRIu64 " is no tensor", nd4c_span_show(info.name).text,
                       info.offset);
    }
    nd4c_dtype dtype = ND4C_DTYPE_NONE;
    nd4c_status status = nd4c_onnx_dtype_resolve(info.type, &dtype);
    if (status != ND4C_OK) {
      return nd4c_fail_prefix(status, "input %s at byte %" PRIu64, nd4c_span_show(info.name).text, info.offset);
    }
    ND4C_TRY(define(model, info.value, ND4C_ONNX_FROM_INPUT, kept, info.offset));
    inputs[kept++] = info;
  }
  model->inputs.count = kept;
  return ND4C_OK;
}

/* A value that is used before it is defined: by a later node (a cycle, or a wrong order), or never. */
static nd4c_status fail_undefined(const nd4c_onnx_model *model, const nd4c_onnx_node *node, int32_t number) {
  nd4c_span_text name = nd4c_span_show(nd4c_onnx_model_value(model, number)->name);
  for (int32_t i = 0; i < model->nodes.count; i++) {
    const nd4c_onnx_node *other = nd4c_onnx_model_node(model, i);
    for (int32_t j = 0; j < other->output_count; j++) {
      if (other->outputs[j] == number) {
        return nd4c_fail(ND4C_FORMAT,
                         "%s at byte %" PRIu64
                         " reads %s, which %s writes at or after it: the graph has a cycle or is "
                         "not in order",
                         nd4c_onnx_node_show(model, node).text, node->offset, name.text,
                         nd4c_onnx_node_show(model, other).text);
      }
    }
  }
  return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 " reads %s, which nothing defines",
                   nd4c_onnx_node_show(model, node).text, node->offset, name.text);
}

static nd4c_status define_node(nd4c_onnx_model *model, int32_t index) {
  const nd4c_onnx_node *node = nd4c_onnx_model_node(model, index);
  for (int32_t i = 0; i < node->input_count; i++) {
    int32_t number = node->inputs[i];
    if (number != ND4C_ONNX_NONE && nd4c_onnx_model_value(model, number)->source == ND4C_ONNX_FROM_NOWHERE) {
      return fail_undefined(model, node, number);
    }
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    if (node->outputs[i] != ND4C_ONNX_NONE) {
      nd4c_status status = define(model, node->outputs[i], ND4C_ONNX_FROM_NODE, index, node->offset);
      if (status != ND4C_OK) {
        return nd4c_fail_prefix(status, "%s", nd4c_onnx_node_show(model, node).text);
      }
    }
  }
  return ND4C_OK;
}

static nd4c_status check_outputs(nd4c_onnx_model *model) {
  if (model->outputs.count == 0) {
    return nd4c_fail(ND4C_FORMAT, "the graph has no outputs");
  }
  bool *seen = NULL;
  ND4C_TRY(nd4c_arena_take(&model->arena, (size_t)model->values.count, sizeof *seen, "the outputs", &seen));
  for (int32_t i = 0; i < model->outputs.count; i++) {
    const nd4c_onnx_value_info *info = nd4c_onnx_model_output(model, i);
    if (nd4c_onnx_model_value(model, info->value)->source == ND4C_ONNX_FROM_NOWHERE || seen[info->value]) {
      return nd4c_fail(ND4C_FORMAT, "output %s at byte %" PRIu64 " is %s", nd4c_span_show(info->name).text,
                       info->offset, seen[info->value] ? "listed twice" : "not defined by any node");
    }
    seen[info->value] = true;
  }
  return ND4C_OK;
}

/* -- ops and opsets ------------------------------------------------------------------------------------------- */

/* The opset of a domain, 0 if the model imports none. */
static int64_t opset_of(const nd4c_onnx_model *model, nd4c_span domain) {
  const nd4c_onnx_opset *opsets = model->opsets.items;
  for (int32_t i = 0; i < model->opsets.count; i++) {
    if (nd4c_span_equal(opsets[i].domain, domain)) {
      return opsets[i].version;
    }
  }
  return 0;
}

static bool is_function(const nd4c_onnx_model *model, nd4c_span name) {
  const nd4c_span *functions = model->functions.items;
  for (int32_t i = 0; i < model->functions.count; i++) {
    if (nd4c_span_equal(functions[i], name)) {
      return true;
    }
  }
  return false;
}

/* Why a node cannot be imported, NULL if it can. */
static const char *node_problem(nd4c_onnx_model *model, nd4c_onnx_node *node) {
  if (is_function(model, node->op)) {
    return "a function of the model's own";
  }
  node->opset = opset_of(model, node->domain);
  if (node->opset == 0) {
    return "of a domain that opset_import lacks";
  }
  node->mapping = nd4c_onnx_mapping_find(node->domain, node->op, node->opset);
  if (node->mapping == NULL) {
    return nd4c_onnx_mapping_newest(node->domain) == 0 ? "of another domain" : "not known at this opset";
  }
  return NULL;
}

/* One line a kind of op, at its first node. */
static nd4c_status list_unsupported(nd4c_onnx_model *model, nd4c_text *text) {
  enum { MOST = 64 };
  const nd4c_onnx_node *listed[MOST];
  int32_t kinds = 0;
  nd4c_onnx_node *nodes = model->nodes.items;
  for (int32_t i = 0; i < model->nodes.count; i++) {
    const char *problem = node_problem(model, &nodes[i]);
    int32_t known = 0;
    if (problem == NULL) {
      continue;
    }
    while (known < kinds && !(nd4c_span_equal(listed[known]->op, nodes[i].op) &&
                              nd4c_span_equal(listed[known]->domain, nodes[i].domain))) {
      known++;
    }
    if (known == kinds && kinds < MOST) {
      listed[kinds++] = &nodes[i];
      nd4c_text_print(text, "%s%s%s%s (%s; first: %s)", kinds > 1 ? ", " : "",
                      nodes[i].domain.size == 0 ? "" : nd4c_span_show(nodes[i].domain).text,
                      nodes[i].domain.size == 0 ? "" : "::", nd4c_span_show(nodes[i].op).text, problem,
                      nd4c_onnx_node_show(model, &nodes[i]).text);
    }
  }
  if (kinds == 0) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_UNSUPPORTED, "the model (opset %" PRId64 ") needs %d op%s that nd4c lacks: %s",
                   opset_of(model, (nd4c_span){0}), (int)kinds, kinds == 1 ? "" : "s",
                   text->failed ? "(no memory for the list)" : text->bytes);
}

/* A model older than opset_import is of opset 1. */
static nd4c_status check_opsets(nd4c_onnx_model *model) {
  const nd4c_span own = {0};
  if (model->opsets.count == 0) {
    if (model->ir_version >= 3 && model->nodes.count > 0) {
      return nd4c_fail(ND4C_FORMAT, "no opset_import for ONNX's own domain; IR version %" PRId64 " needs one",
                       model->ir_version);
    }
    nd4c_onnx_opset *first = NULL;
    ND4C_TRY(nd4c_arena_append(&model->arena, &model->opsets, sizeof *first, "opsets", &first));
    *first = (nd4c_onnx_opset){own, 1};
  }
  const nd4c_onnx_opset *opsets = model->opsets.items;
  for (int32_t i = 0; i < model->opsets.count; i++) {
    int64_t newest = nd4c_onnx_mapping_newest(opsets[i].domain);
    if (newest != 0 && opsets[i].version > newest) {
      bool is_own = opsets[i].domain.size == 0;
      return nd4c_fail(ND4C_UNSUPPORTED, "opset %" PRId64 "%s%s; nd4c knows opsets up to %" PRId64, opsets[i].version,
                       is_own ? "" : " of ", is_own ? "" : nd4c_span_show(opsets[i].domain).text, newest);
    }
  }
  return ND4C_OK;
}

static nd4c_status check_ops(nd4c_onnx_model *model) {
  ND4C_TRY(check_opsets(model));
  nd4c_text text = {0};
  nd4c_status status = list_unsupported(model, &text);
  nd4c_text_free(&text);
  return status;
}

static nd4c_status check_counts(const nd4c_onnx_model *model, const nd4c_onnx_node *node) {
  const nd4c_onnx_mapping *row = node->mapping;
  if (node->input_count < row->inputs_least || node->input_count > row->inputs_most) {
    bool few = node->input_count < row->inputs_least;
    return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 " has %d inputs; expected at %s %d",
                     nd4c_onnx_node_show(model, node).text, node->offset, (int)node->input_count,
                     few ? "least" : "most", (int)(few ? row->inputs_least : row->inputs_most));
  }
  for (int32_t i = 0; i < row->inputs_least; i++) {
    if (node->inputs[i] == ND4C_ONNX_NONE) {
      return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 ": input %d is left out, but required",
                       nd4c_onnx_node_show(model, node).text, node->offset, (int)i);
    }
  }
  if (node->output_count == 0 || node->outputs[0] == ND4C_ONNX_NONE) {
    return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 " has no output", nd4c_onnx_node_show(model, node).text,
                     node->offset);
  }
  return ND4C_OK;
}

/* Outputs that the import does not make (a pool's indices, a norm's statistics) may be named, but not read. */
static nd4c_status check_unmade(const nd4c_onnx_model *model, int32_t number, const char *reader) {
  const nd4c_onnx_value *value = nd4c_onnx_model_value(model, number);
  if (value->source != ND4C_ONNX_FROM_NODE) {
    return ND4C_OK;
  }
  const nd4c_onnx_node *node = nd4c_onnx_model_node(model, value->index);
  for (int32_t i = node->mapping->outputs; i < node->output_count; i++) {
    if (node->outputs[i] == number) {
      return nd4c_fail(ND4C_UNSUPPORTED, "%s reads %s, output %d of %s; nd4c makes the first %d", reader,
                       nd4c_span_show(value->name).text, (int)i, nd4c_onnx_node_show(model, node).text,
                       (int)node->mapping->outputs);
    }
  }
  return ND4C_OK;
}

static nd4c_status check_uses(const nd4c_onnx_model *model) {
  for (int32_t i = 0; i < model->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_model_node(model, i);
    ND4C_TRY(check_counts(model, node));
    for (int32_t j = 0; j < node->input_count; j++) {
      if (node->inputs[j] != ND4C_ONNX_NONE) {
        ND4C_TRY(check_unmade(model, node->inputs[j], nd4c_onnx_node_show(model, node).text));
      }
    }
  }
  for (int32_t i = 0; i < model->outputs.count; i++) {
    ND4C_TRY(check_unmade(model, nd4c_onnx_model_output(model, i)->value, "the graph's output"));
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_model_check(nd4c_onnx_model *model) {
  ND4C_TRY(define_initializers(model));
  ND4C_TRY(define_inputs(model));
  for (int32_t i = 0; i < model->nodes.count; i++) {
    ND4C_TRY(define_node(model, i));
  }
  ND4C_TRY(check_outputs(model));
  ND4C_TRY(check_ops(model));
  return check_uses(model);
}
