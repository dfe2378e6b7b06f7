/* Puts attributes given by name into the order of the schema, and checks attribute values. Dispatch, graphs and the
 * importer call it before inference; infer.c checks positional values with it. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "ops/op.h"

static const char *kind_name(nd4c_attr_kind kind) {
  static const char *const names[] = {
      [ND4C_ATTR_UNSET] = "nothing", [ND4C_ATTR_INT] = "int",         [ND4C_ATTR_BOOL] = "bool",
      [ND4C_ATTR_FLOAT] = "float",   [ND4C_ATTR_INTS] = "ints",       [ND4C_ATTR_FLOATS] = "floats",
      [ND4C_ATTR_STRING] = "string", [ND4C_ATTR_STRINGS] = "strings", [ND4C_ATTR_DTYPE] = "dtype",
      [ND4C_ATTR_ARRAY] = "array",   [ND4C_ATTR_GRAPH] = "graph"};
  uint32_t number = (uint32_t)kind;
  return number < sizeof names / sizeof *names ? names[number] : "an unknown kind";
}

static nd4c_status check_list(const nd4c_op_info *op, const nd4c_op_attr *attr, const nd4c_attr_value *value) {
  const bool floats = value->kind == ND4C_ATTR_FLOATS;
  if (!floats && value->kind != ND4C_ATTR_INTS) {
    return ND4C_OK;
  }
  if (value->count < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: attribute %s is a list whose count is %d, expected 0 or more", op->name,
                     attr->name, (int)value->count);
  }
  const bool missing = floats ? value->as.floats == NULL : value->as.ints == NULL;
  if (value->count > 0 && missing) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: attribute %s is a list of %d without values, expected %s", op->name,
                     attr->name, (int)value->count, kind_name(value->kind));
  }
  return ND4C_OK;
}

nd4c_status nd4c_op_check_attr(const nd4c_op_info *op, int32_t position, const nd4c_attr_value *value) {
  const nd4c_op_attr *attr = &op->attrs[position];
  if (value->kind != attr->preset.kind) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: attribute %s is given as %s, expected %s", op->name, attr->name,
                     kind_name(value->kind), kind_name(attr->preset.kind));
  }
  if (value->kind == ND4C_ATTR_BOOL && value->as.i != 0 && value->as.i != 1) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: attribute %s is %lld, expected 0 or 1", op->name, attr->name,
                     (long long)value->as.i);
  }
  return check_list(op, attr, value);
}

static int32_t attr_position(const nd4c_op_info *op, const char *name) {
  for (int32_t i = 0; i < op->attr_count; i++) {
    if (strcmp(op->attrs[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static nd4c_status unknown_attr(const nd4c_op_info *op, const char *name) {
  char expected[256];
  size_t length = 0;
  expected[0] = '\0';
  for (int32_t i = 0; i < op->attr_count && length < sizeof expected; i++) {
    int written = snprintf(expected + length, sizeof expected - length, "%s%s", i > 0 ? ", " : "", op->attrs[i].name);
    length += written > 0 ? (size_t)written : 0;
  }
  return nd4c_fail(ND4C_NAME, "%s: attribute '%.64s' is not known, expected %s", op->name, name,
                   op->attr_count > 0 ? expected : "none");
}

/* *value, the number of a word; a word that is NULL or empty stands for the default. */
static nd4c_status take_word(const nd4c_op_info *op, int32_t position, const char *word, nd4c_attr_value *value) {
  char expected[256] = "";
  size_t length = 0;
  int32_t count = 0;
  const nd4c_attr_word *words = nd4c_op_words(op, position, &count);
  *value = op->attrs[position].preset;
  if (word == NULL || word[0] == '\0') {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < count; i++) {
    if (strcmp(words[i].word, word) == 0) {
      value->as.i = words[i].value;
      return ND4C_OK;
    }
    int written = snprintf(expected + length, sizeof expected - length, "%s%s", i > 0 ? ", " : "", words[i].word);
    length += written > 0 && (size_t)written < sizeof expected - length ? (size_t)written : 0;
  }
  return nd4c_fail(ND4C_ARGUMENT, "%s: %s is '%.64s', expected one of %s", op->name, op->attrs[position].name, word,
                   expected);
}

/* The value as the attribute's kind: an int stands for a float or a bool of the same value, a word for its number. */
static nd4c_status convert(const nd4c_op_info *op, int32_t position, const nd4c_attr_value *given,
                           nd4c_attr_value *value) {
  const nd4c_attr_kind wanted = op->attrs[position].preset.kind;
  *value = *given;
  if (given->kind == ND4C_ATTR_INT && wanted == ND4C_ATTR_FLOAT) {
    value->kind = ND4C_ATTR_FLOAT;
    value->as.f = (double)given->as.i;
  } else if (given->kind == ND4C_ATTR_INT && wanted == ND4C_ATTR_BOOL) {
    value->kind = ND4C_ATTR_BOOL;
  } else if (given->kind == ND4C_ATTR_STRING && wanted == ND4C_ATTR_INT && nd4c_op_words(op, position, NULL) != NULL) {
    return take_word(op, position, given->as.string, value);
  }
  return ND4C_OK;
}

static bool given_before(const nd4c_attr *attrs, int32_t i) {
  for (int32_t j = 0; j < i; j++) {
    if (strcmp(attrs[j].name, attrs[i].name) == 0) {
      return true;
    }
  }
  return false;
}

nd4c_status nd4c_op_resolve_attrs(const nd4c_op_info *op, const nd4c_attr *attrs, int32_t count,
                                  nd4c_attr_value *values) {
  if (count < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d attributes given, expected 0 or more", op->name, (int)count);
  }
  if (count > 0 && attrs == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: %d attributes given without a list", op->name, (int)count);
  }
  for (int32_t i = 0; i < op->attr_count; i++) {
    values[i] = op->attrs[i].preset;
  }
  for (int32_t i = 0; i < count; i++) {
    if (attrs[i].name == NULL) {
      return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: the name of attribute %d is NULL", op->name, (int)i);
    }
    int32_t position = attr_position(op, attrs[i].name);
    if (position < 0) {
      return unknown_attr(op, attrs[i].name);
    }
    if (given_before(attrs, i)) {
      return nd4c_fail(ND4C_NAME, "%s: attribute %s is given twice", op->name, attrs[i].name);
    }
    nd4c_attr_value value;
    ND4C_TRY(convert(op, position, &attrs[i].value, &value));
    ND4C_TRY(nd4c_op_check_attr(op, position, &value));
    values[position] = value;
  }
  return ND4C_OK;
}
