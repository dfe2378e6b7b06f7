/* Records of calls, one a line, as tests/data/ops holds them:
 *
 *   op input ... attr=value ... -> result
 *
 * An input is dtype(extents), optionally with [strides], or "-" for one left out. A value is one number or several with
 * commas; None is ND4C_SLICE_NONE. A result is dtype(extents), optionally with " view strides@offset" or " copy"; or
 * "error" for any refusal; or a status and the whole text of the refusal. */
#ifndef TESTS_OPS_RECORD_H
#define TESTS_OPS_RECORD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "ops/op.h"

enum { RECORD_INPUTS = 8, RECORD_ATTRS = 16, RECORD_OUTPUTS = 4, RECORD_VALUES = 64 };

typedef struct record {
  const nd4c_op_def *def;
  int32_t input_count, attr_count;
  nd4c_tensor inputs[RECORD_INPUTS];
  int64_t shapes[RECORD_INPUTS][RECORD_VALUES], strides[RECORD_INPUTS][RECORD_VALUES];
  nd4c_attr named[RECORD_ATTRS];
  int64_t lists[RECORD_ATTRS][RECORD_VALUES];
  nd4c_attr_value attrs[RECORD_ATTRS];
  nd4c_inferred outputs[RECORD_OUTPUTS]; /* a result is the first of them */
} record;

/* Numbers with commas; returns how many, and moves the text behind them. -1 if they are too many. */
static inline int32_t record_numbers(const char **text, int64_t *values) {
  int32_t count = 0;
  while (**text == '-' || **text == 'N' || (**text >= '0' && **text <= '9')) {
    char *end = NULL;
    if (count == RECORD_VALUES) {
      return -1;
    }
    if (strncmp(*text, "None", 4) == 0) {
      values[count++] = ND4C_SLICE_NONE;
      *text += 4;
    } else {
      values[count++] = strtoll(*text, &end, 10);
      *text = end;
    }
    *text += **text == ',' ? 1 : 0;
  }
  return count;
}

/* dtype(extents)[strides], or "-". */
static inline int record_tensor(const char *text, nd4c_tensor *tensor, int64_t *shape, int64_t *strides) {
  *tensor = (nd4c_tensor){.shape = shape, .strides = strides};
  if (strcmp(text, "-") == 0) {
    return 1;
  }
  char name[32];
  size_t length = strcspn(text, "(");
  if (text[length] != '(' || length >= sizeof name) {
    return 0;
  }
  memcpy(name, text, length);
  name[length] = '\0';
  text += length + 1;
  if (nd4c_dtype_find(name, &tensor->dtype) != ND4C_OK) {
    return 0;
  }
  tensor->rank = record_numbers(&text, shape);
  if (tensor->rank < 0 || *text++ != ')') {
    return 0;
  }
  /* C order unless the record has strides; the product wraps, because extents may be hostile. */
  uint64_t step = 1;
  for (int32_t i = tensor->rank - 1; i >= 0; i--) {
    strides[i] = (int64_t)step;
    step *= (uint64_t)(shape[i] > 0 ? shape[i] : 1);
  }
  if (*text == '[') {
    text++;
    return record_numbers(&text, strides) == tensor->rank && *text == ']';
  }
  return *text == '\0';
}

static inline int record_attr(record *self, const char *text) {
  size_t length = strcspn(text, "=");
  nd4c_attr *attr = &self->named[self->attr_count];
  for (int32_t i = 0; i < self->def->info.attr_count; i++) {
    const nd4c_op_attr *schema = &self->def->info.attrs[i];
    if (strlen(schema->name) != length || memcmp(schema->name, text, length) != 0) {
      continue;
    }
    int64_t *list = self->lists[self->attr_count];
    text += length + 1;
    attr->name = schema->name;
    attr->value = (nd4c_attr_value){.kind = schema->preset.kind};
    if (schema->preset.kind == ND4C_ATTR_INTS) {
      attr->value.count = record_numbers(&text, list);
      attr->value.as.ints = attr->value.count > 0 ? list : NULL; /* "axes=" leaves the list out */
    } else if (schema->preset.kind == ND4C_ATTR_FLOAT) {
      attr->value.as.f = strtod(text, NULL);
    } else {
      attr->value.as.i = strtoll(text, NULL, 10);
    }
    self->attr_count++;
    return attr->value.count >= 0;
  }
  return 0;
}

/* Reads the part of a line before "->" and writes zeros between its words. 0 if it is not a record. */
static inline int record_parse(record *self, char *call) {
  memset(self, 0, sizeof *self);
  const nd4c_op_info *info;
  if (nd4c_op_find(strtok(call, " "), &info) != ND4C_OK) {
    return 0;
  }
  self->def = nd4c_op_get_def(info->op);
  for (char *word = strtok(NULL, " "); word != NULL; word = strtok(NULL, " ")) {
    int fine;
    if (strchr(word, '=') != NULL) {
      fine = self->attr_count < RECORD_ATTRS && record_attr(self, word);
    } else {
      int32_t i = self->input_count++;
      fine = i < RECORD_INPUTS && record_tensor(word, &self->inputs[i], self->shapes[i], self->strides[i]);
    }
    if (!fine) {
      return 0;
    }
  }
  return 1;
}

static inline nd4c_inference record_inference(record *self) {
  return (nd4c_inference){.op = &self->def->info,
                          .input_count = self->input_count,
                          .inputs = self->inputs,
                          .attrs = self->attrs,
                          .outputs = self->outputs};
}

static inline nd4c_status record_infer(record *self) {
  ND4C_TRY(nd4c_op_resolve_attrs(&self->def->info, self->named, self->attr_count, self->attrs));
  nd4c_inference inference = record_inference(self);
  return nd4c_op_infer(self->def, &inference);
}

static inline size_t record_list(char *text, size_t size, int32_t count, const int64_t *values) {
  size_t length = 0;
  text[0] = '\0';
  for (int32_t i = 0; i < count && length < size; i++) {
    length += (size_t)snprintf(text + length, size - length, "%s%lld", i > 0 ? "," : "", (long long)values[i]);
  }
  return length;
}

/* The outcome, in the form of a record's result. */
static inline void record_result(record *self, nd4c_status status, char *text, size_t size) {
  if (status != ND4C_OK) {
    (void)snprintf(text, size, "%s %s", nd4c_status_name(status), nd4c_error_message());
    return;
  }
  char extents[512];
  (void)record_list(extents, sizeof extents, self->outputs[0].rank, self->outputs[0].shape);
  (void)snprintf(text, size, "%s(%s)", nd4c_dtype_name(self->outputs[0].dtype), extents);
}

#endif
