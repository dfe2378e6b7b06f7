/* Ops of plug-ins in models: the domain of a node is the op's namespace, its op_type the rest of the name. check_ops.c
 * binds nodes of unknown domains here; emission/scope.c calls nd4c_onnx_emit_foreign through the row that binding
 * makes. */
#include "import/onnx/ops/foreign.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "import/onnx/emission/attributes.h"
#include "ops/op.h"

/* -- binding ------------------------------------------------------------------------------------------------------- */

/* "acme.swiglu2"; false if no op of a plug-in can have such a name. */
static bool name_of(const nd4c_onnx_node *node, char name[ND4C_PLUGIN_OP_NAME_SIZE]) {
  const size_t domain = node->domain.size, op = node->op.size;
  if (domain == 0 || domain >= ND4C_PLUGIN_OP_NAME_SIZE || op >= ND4C_PLUGIN_OP_NAME_SIZE - domain - 1 ||
      !nd4c_span_is_text(node->domain) || !nd4c_span_is_text(node->op) || memchr(node->op.bytes, '@', op) != NULL) {
    return false; /* '@' would begin a version */
  }
  memcpy(name, node->domain.bytes, domain);
  name[domain] = '.';
  memcpy(name + domain + 1, node->op.bytes, op);
  name[domain + 1 + op] = '\0';
  return true;
}

/* A loaded plug-in that has other ops of the domain; NULL if there is none. */
static const char *provider_of(nd4c_span domain) {
  const nd4c_op_info *info = NULL;
  for (int32_t i = 0; (info = nd4c_op_at(i)) != NULL; i++) {
    if (info->provider[0] != '\0' && strncmp(info->name, (const char *)domain.bytes, domain.size) == 0 &&
        info->name[domain.size] == '.') {
      return info->provider;
    }
  }
  return NULL;
}

static void tell_missing(nd4c_span domain, const char *name, char *problem, size_t size) {
  const char *provider = provider_of(domain);
  if (provider != NULL) {
    (void)snprintf(problem, size, "plug-in %s brings other ops of that domain, but no op '%s'", provider, name);
  } else if (nd4c_onnx_mapping_newest(domain) != 0) {
    (void)snprintf(problem, size,
                   "of a domain of which nd4c has other operators; a plug-in that brings op '%s' could be named in "
                   "nd4c.backend.plugins (ND4C_BACKEND_PLUGINS)",
                   name);
  } else {
    (void)snprintf(problem, size,
                   "of a domain that needs a plug-in which brings op '%s': name it in nd4c.backend.plugins "
                   "(ND4C_BACKEND_PLUGINS)",
                   name);
  }
}

static int32_t required_inputs(const nd4c_op_info *info) {
  int32_t count = 0;
  while (count < info->input_count && !info->inputs[count].optional) {
    count++;
  }
  return count;
}

nd4c_status nd4c_onnx_foreign_bind(nd4c_onnx_model *model, nd4c_onnx_node *node, char *problem, size_t size) {
  char name[ND4C_PLUGIN_OP_NAME_SIZE];
  const nd4c_op_info *info = NULL;
  problem[0] = '\0';
  if (!name_of(node, name)) {
    (void)snprintf(problem, size, "of a domain of which neither nd4c nor a plug-in can have ops");
    return ND4C_OK;
  }
  if (nd4c_op_find(name, &info) != ND4C_OK) {
    tell_missing(node->domain, name, problem, size);
    return ND4C_OK;
  }
  const nd4c_op_info *first = info;
  info = nd4c_op_find_until(name, node->opset);
  if (info == NULL) {
    for (const nd4c_op_info *at = first; at != NULL; at = nd4c_op_find_until(name, (int64_t)at->version - 1)) {
      first = at;
    }
    (void)snprintf(problem, size, "plug-in %s brings it as of opset %u of that domain, the model has %lld",
                   first->provider, first->version, (long long)node->opset);
    return ND4C_OK;
  }
  nd4c_onnx_mapping *row = NULL;
  const bool variadic = info->input_count > 0 && info->inputs[info->input_count - 1].variadic;
  ND4C_TRY(nd4c_region_claim(&model->region, 1, sizeof *row, "an op of a plug-in", &row));
  *row = (nd4c_onnx_mapping){.name = info->name,
                             .since = (int32_t)info->version,
                             .until = INT32_MAX,
                             .inputs_least = required_inputs(info),
                             .inputs_most = variadic ? ND4C_ONNX_ANY : info->input_count,
                             .outputs = info->output_count,
                             .emit = nd4c_onnx_emit_foreign,
                             .op = info->op};
  node->mapping = row;
  return ND4C_OK;
}

/* -- importing ----------------------------------------------------------------------------------------------------- */

/* The rule of an attribute that has the same name in ONNX and in the op's schema. */
static nd4c_onnx_rule rule_of(const nd4c_op_attr *schema) {
  static const nd4c_onnx_rule_kind kinds[] = {
      [ND4C_ATTR_INT] = ND4C_ONNX_RULE_INT,       [ND4C_ATTR_BOOL] = ND4C_ONNX_RULE_BOOL,
      [ND4C_ATTR_FLOAT] = ND4C_ONNX_RULE_FLOAT,   [ND4C_ATTR_INTS] = ND4C_ONNX_RULE_INTS,
      [ND4C_ATTR_FLOATS] = ND4C_ONNX_RULE_FLOATS, [ND4C_ATTR_STRING] = ND4C_ONNX_RULE_TEXT,
      [ND4C_ATTR_DTYPE] = ND4C_ONNX_RULE_DTYPE};
  return (nd4c_onnx_rule){schema->name, schema->name, kinds[schema->preset.kind], 0, NULL};
}

/* Attributes that the node lacks get the presets of the op's schema. */
nd4c_status nd4c_onnx_emit_foreign(nd4c_onnx_emission *emission) {
  const nd4c_op_info *info = nd4c_op_get(emission->node->mapping->op);
  nd4c_onnx_attrs attrs = {.count = 0};
  for (int32_t i = 0; i < info->attr_count; i++) {
    const nd4c_onnx_rule rule = rule_of(&info->attrs[i]);
    if (nd4c_onnx_attribute_find(emission, rule.onnx) != NULL) {
      ND4C_TRY(nd4c_onnx_attrs_read(emission, &rule, &attrs));
    }
  }
  return nd4c_onnx_emit_attrs(emission, info->op, emission->inputs, emission->input_count, &attrs);
}
