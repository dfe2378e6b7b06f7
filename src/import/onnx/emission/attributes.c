/* Implements attributes.h: turns the attributes of a node into those of an nd4c op by rules. The emit functions of
 * import/onnx/ops call it. */
#include "import/onnx/emission/attributes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "import/onnx/file/dtype.h"
#include "import/onnx/ops/mapping.h"

/* -- words and dtypes ---------------------------------------------------------------------------------------------- */

/* FORMAT, with the words that are known. */
static nd4c_status refuse_word(const char *attribute, nd4c_span word, const char *const *words) {
  char list[512];
  size_t length = 0;
  list[0] = '\0';
  for (int32_t i = 0; words[i] != NULL && length < sizeof list; i++) {
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "", words[i]);
  }
  return nd4c_fail(ND4C_FORMAT, "attribute '%s' is %s; expected one of: %s", attribute, nd4c_span_show(word).text,
                   list);
}

nd4c_status nd4c_onnx_get_word(nd4c_onnx_emission *emission, const char *attribute, const char *preset,
                               const char *const *words, int64_t *number) {
  nd4c_span word;
  ND4C_TRY(nd4c_onnx_get_text(emission, attribute, preset, &word));
  for (int64_t i = 0; words[i] != NULL; i++) {
    if (nd4c_span_is(word, words[i])) {
      *number = i;
      return ND4C_OK;
    }
  }
  return refuse_word(attribute, word, words);
}

nd4c_status nd4c_onnx_get_dtype(nd4c_onnx_emission *emission, const char *name, nd4c_dtype preset, nd4c_dtype *dtype) {
  int64_t number = 0;
  *dtype = preset;
  ND4C_TRY(nd4c_onnx_get_int(emission, name, 0, &number));
  return number == 0 ? ND4C_OK : nd4c_onnx_dtype_resolve(number, dtype);
}

/* -- rules --------------------------------------------------------------------------------------------------------- */

/* An attribute's bytes, NUL-terminated. */
static nd4c_status copy_text(nd4c_onnx_emission *emission, const char *name, const char **text) {
  nd4c_span span;
  char *copy = NULL;
  ND4C_TRY(nd4c_onnx_get_text(emission, name, "", &span));
  if (span.size > 0 && memchr(span.bytes, '\0', span.size) != NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "attribute '%s' holds a NUL character; expected a text without", name);
  }
  ND4C_TRY(nd4c_onnx_claim(emission, span.size + 1, 1, "an attribute", &copy));
  if (span.size > 0) {
    memcpy(copy, span.bytes, span.size);
  }
  *text = copy;
  return ND4C_OK;
}

static nd4c_status read_ints(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  const int64_t *values = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, rule->onnx, &values, &count));
  *attr = nd4c_attr_of_ints(count > 0 ? rule->name : NULL, values, count);
  return ND4C_OK;
}

static nd4c_status read_floats(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  const double *values = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_floats(emission, rule->onnx, &values, &count));
  *attr = nd4c_attr_of_floats(count > 0 ? rule->name : NULL, values, count);
  return ND4C_OK;
}

static nd4c_status read_one(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  int64_t *value = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, 1, sizeof *value, "an attribute", &value));
  ND4C_TRY(nd4c_onnx_get_int(emission, rule->onnx, 0, value));
  *attr = nd4c_attr_of_ints(rule->name, value, 1);
  return ND4C_OK;
}

static nd4c_status read_dtype(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_onnx_get_dtype(emission, rule->onnx, ND4C_DTYPE_NONE, &dtype));
  *attr = nd4c_attr_of_dtype(dtype == ND4C_DTYPE_NONE ? NULL : rule->name, dtype);
  return ND4C_OK;
}

static nd4c_status read_text(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  const char *text = NULL;
  ND4C_TRY(copy_text(emission, rule->onnx, &text));
  *attr = nd4c_attr_of_string(rule->name, text);
  return ND4C_OK;
}

/* A number by the kind of the rule. */
static nd4c_attr attr_of_number(const nd4c_onnx_rule *rule, double number) {
  switch (rule->kind) {
    case ND4C_ONNX_RULE_FLOAT:
    case ND4C_ONNX_RULE_WHOLE:
      return nd4c_attr_of_float(rule->name, number);
    case ND4C_ONNX_RULE_BOOL:
      return nd4c_attr_of_bool(rule->name, number != 0);
    default:
      return nd4c_attr_of_int(rule->name, (int64_t)number);
  }
}

static nd4c_status read_number(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  double number = 0;
  int64_t whole = 0;
  if (rule->kind == ND4C_ONNX_RULE_FLOAT) {
    ND4C_TRY(nd4c_onnx_get_float(emission, rule->onnx, 0, &number));
    *attr = attr_of_number(rule, number);
    return ND4C_OK;
  }
  ND4C_TRY(rule->kind == ND4C_ONNX_RULE_WORD ? nd4c_onnx_get_word(emission, rule->onnx, "", rule->words, &whole)
                                             : nd4c_onnx_get_int(emission, rule->onnx, 0, &whole));
  *attr = attr_of_number(rule, (double)whole);
  if (attr->value.kind == ND4C_ATTR_INT) {
    attr->value.as.i = whole; /* of which a double may not hold the last digits */
  }
  return ND4C_OK;
}

/* The attribute of a node that lacks it; its name is NULL if it is left out. */
static nd4c_status preset_of(const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  if (isnan(rule->preset)) {
    return nd4c_fail(ND4C_FORMAT, "attribute '%s' is missing", rule->onnx);
  }
  if (rule->kind == ND4C_ONNX_RULE_TEXT) {
    *attr = nd4c_attr_of_string(rule->name, "");
  } else if (rule->kind <= ND4C_ONNX_RULE_WORD) {
    *attr = attr_of_number(rule, rule->preset);
  }
  return ND4C_OK;
}

/* The attribute; its name is NULL if it is left out. */
static nd4c_status read_rule(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  attr->name = NULL;
  if (nd4c_onnx_attribute_find(emission, rule->onnx) == NULL) {
    return preset_of(rule, attr);
  }
  switch (rule->kind) {
    case ND4C_ONNX_RULE_INTS:
      return read_ints(emission, rule, attr);
    case ND4C_ONNX_RULE_FLOATS:
      return read_floats(emission, rule, attr);
    case ND4C_ONNX_RULE_ONE:
      return read_one(emission, rule, attr);
    case ND4C_ONNX_RULE_DTYPE:
      return read_dtype(emission, rule, attr);
    case ND4C_ONNX_RULE_TEXT:
      return read_text(emission, rule, attr);
    case ND4C_ONNX_RULE_IGNORED:
      return ND4C_OK;
    default:
      return read_number(emission, rule, attr);
  }
}

/* -- lists --------------------------------------------------------------------------------------------------------- */

void nd4c_onnx_attrs_add(nd4c_onnx_attrs *attrs, nd4c_attr attr) {
  attrs->list[attrs->count++] = attr;
}

nd4c_status nd4c_onnx_attrs_read(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_onnx_attrs *attrs) {
  nd4c_attr attr;
  ND4C_TRY(read_rule(emission, rule, &attr));
  if (attr.name != NULL) {
    nd4c_onnx_attrs_add(attrs, attr);
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_read_attrs(nd4c_onnx_emission *emission, nd4c_onnx_attrs *attrs) {
  attrs->count = 0;
  for (const nd4c_onnx_rule *rule = emission->node->mapping->rules; rule->onnx != NULL; rule++) {
    ND4C_TRY(nd4c_onnx_attrs_read(emission, rule, attrs));
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_emit_attrs(nd4c_onnx_emission *emission, nd4c_op op, const nd4c_onnx_operand *inputs,
                                 int32_t input_count, const nd4c_onnx_attrs *attrs) {
  return nd4c_emit_outputs(&emission->emitter, op, inputs, input_count, attrs->list, attrs->count, emission->outputs,
                           nd4c_op_get(op)->output_count);
}
