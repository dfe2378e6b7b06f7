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
static nd4c_status read_text(nd4c_onnx_emission *emission, const char *name, const char **text) {
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
  int32_t count = 0;
  const int64_t *values = NULL;
  ND4C_TRY(nd4c_onnx_get_ints(emission, rule->onnx, &values, &count));
  *attr = nd4c_attr_of_ints(rule->name, count > 0 ? values : NULL, count);
  return ND4C_OK;
}

static nd4c_status read_floats(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  int32_t count = 0;
  const double *values = NULL;
  ND4C_TRY(nd4c_onnx_get_floats(emission, rule->onnx, &values, &count));
  *attr = nd4c_attr_of_floats(rule->name, count > 0 ? values : NULL, count);
  return ND4C_OK;
}

static nd4c_status read_one(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  int64_t *value = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, 1, sizeof *value, "an attribute", &value));
  ND4C_TRY(nd4c_onnx_get_int(emission, rule->onnx, 0, value));
  *attr = nd4c_attr_of_ints(rule->name, value, 1);
  return ND4C_OK;
}

static nd4c_status read_number(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  int64_t whole = 0;
  double real = 0;
  const double preset = isnan(rule->preset) ? 0 : rule->preset;
  if (rule->kind == ND4C_ONNX_RULE_FLOAT) {
    ND4C_TRY(nd4c_onnx_get_float(emission, rule->onnx, preset, &real));
    *attr = nd4c_attr_of_float(rule->name, real);
    return ND4C_OK;
  }
  ND4C_TRY(rule->kind == ND4C_ONNX_RULE_WORD
               ? nd4c_onnx_get_word(emission, rule->onnx, rule->words[(int32_t)preset], rule->words, &whole)
               : nd4c_onnx_get_int(emission, rule->onnx, (int64_t)preset, &whole));
  *attr = rule->kind == ND4C_ONNX_RULE_BOOL    ? nd4c_attr_of_bool(rule->name, whole != 0)
          : rule->kind == ND4C_ONNX_RULE_WHOLE ? nd4c_attr_of_float(rule->name, (double)whole)
                                               : nd4c_attr_of_int(rule->name, whole);
  return ND4C_OK;
}

static nd4c_status read_dtype(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_onnx_get_dtype(emission, rule->onnx, ND4C_DTYPE_NONE, &dtype));
  *attr = nd4c_attr_of_dtype(dtype == ND4C_DTYPE_NONE ? NULL : rule->name, dtype);
  return ND4C_OK;
}

/* The attribute; its name is NULL if it is left out. */
static nd4c_status read_rule(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_attr *attr) {
  const bool found = nd4c_onnx_attribute_find(emission, rule->onnx) != NULL;
  *attr = (nd4c_attr){0};
  if (!found && isnan(rule->preset)) {
    return nd4c_fail(ND4C_FORMAT, "attribute '%s' is missing", rule->onnx);
  }
  switch (rule->kind) {
    case ND4C_ONNX_RULE_IGNORED:
      return ND4C_OK;
    case ND4C_ONNX_RULE_INTS:
      return read_ints(emission, rule, attr);
    case ND4C_ONNX_RULE_FLOATS:
      return read_floats(emission, rule, attr);
    case ND4C_ONNX_RULE_ONE:
      return found ? read_one(emission, rule, attr) : ND4C_OK;
    case ND4C_ONNX_RULE_DTYPE:
      return read_dtype(emission, rule, attr);
    case ND4C_ONNX_RULE_TEXT:
      *attr = nd4c_attr_of_string(rule->name, "");
      return read_text(emission, rule->onnx, &attr->value.as.string);
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
