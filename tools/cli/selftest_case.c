/* Reads the cases of `nd4c selftest` (selftest.h). selftest.c, and cases.c, kernels.c and reload.c of plugin_check/
 * call it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftest.h"

/* Cuts a text at a separator: the part before it, *rest behind it (NULL: there was none). */
static char *cut(char *text, const char *separator, char **rest) {
  char *found = strstr(text, separator);
  *rest = NULL;
  if (found != NULL) {
    *found = '\0';
    *rest = found + strlen(separator);
  }
  return text;
}

static nd4c_status damaged(const char *what, const char *text) {
  (void)fprintf(stderr, "nd4c selftest: cases: %s: '%.60s'\n", what, text);
  return ND4C_FORMAT;
}

/* -- attributes ------------------------------------------------------------------------------------------------- */

static const nd4c_op_attr *find_attr(const nd4c_op_info *op, const char *name) {
  for (int32_t i = 0; i < op->attr_count; i++) {
    if (strcmp(op->attrs[i].name, name) == 0) {
      return &op->attrs[i];
    }
  }
  return NULL;
}

/* "[1,2,3]" as integers or floats, kept in c->lists. */
static nd4c_status read_list(selftest_case *c, char *text, nd4c_attr_value *value) {
  const size_t length = strlen(text);
  int64_t *items = calloc(length + 1, sizeof(double));
  if (items == NULL) {
    return ND4C_MEMORY;
  }
  c->lists[c->attr_count] = items;
  double *reals = (double *)(void *)items;
  char *at = text + 1;
  for (value->count = 0; *at != ']' && *at != '\0'; value->count++) {
    char *end = NULL;
    if (value->kind == ND4C_ATTR_FLOATS) {
      reals[value->count] = strtod(at, &end);
    } else {
      items[value->count] = strtoll(at, &end, 10);
    }
    if (end == at) {
      return damaged("list", text);
    }
    at = end + (*end == ',');
  }
  if (value->kind == ND4C_ATTR_FLOATS) {
    value->as.floats = reals;
  } else {
    value->as.ints = items;
  }
  return ND4C_OK;
}

/* A number, or the word for one, which the generic call takes as text. */
static nd4c_status read_int(char *text, nd4c_attr_value *value) {
  char *end = NULL;
  value->as.i = strtoll(text, &end, 10);
  if (end == text || *end != '\0') {
    *value = (nd4c_attr_value){.kind = ND4C_ATTR_STRING, .as.string = text};
  }
  return ND4C_OK;
}

static nd4c_status read_value(selftest_case *c, char *text, nd4c_attr_value *value) {
  switch (value->kind) {
    case ND4C_ATTR_INT:
      return read_int(text, value);
    case ND4C_ATTR_BOOL:
      value->as.i = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
      return ND4C_OK;
    case ND4C_ATTR_FLOAT:
      value->as.f = strtod(text, NULL);
      return ND4C_OK;
    case ND4C_ATTR_STRING:
      value->as.string = text;
      return ND4C_OK;
    case ND4C_ATTR_DTYPE: {
      nd4c_dtype dtype = ND4C_DTYPE_NONE;
      const nd4c_status status = nd4c_dtype_find(text, &dtype);
      value->as.i = dtype;
      return status == ND4C_DTYPE ? ND4C_DTYPE : status == ND4C_OK ? ND4C_OK : damaged("dtype", text);
    }
    case ND4C_ATTR_INTS:
    case ND4C_ATTR_FLOATS:
      return read_list(c, text, value);
    default:
      return damaged("kind of attribute", text);
  }
}

/* "axis=1 keepdims=true", or "-". */
static nd4c_status read_attrs(selftest_case *c, char *text) {
  char *rest = strcmp(text, "-") == 0 ? NULL : text;
  while (rest != NULL) {
    char *value = NULL;
    char *name = cut(cut(rest, " ", &rest), "=", &value);
    const nd4c_op_attr *attr = find_attr(c->op, name);
    if (value == NULL || attr == NULL || c->attr_count == SELFTEST_ATTRS) {
      return damaged("attribute", name);
    }
    nd4c_attr *given = &c->attrs[c->attr_count];
    *given = (nd4c_attr){.name = name, .value = {.kind = attr->preset.kind}};
    const nd4c_status status = read_value(c, value, &given->value);
    c->attr_count++;
    if (status != ND4C_OK) {
      return status;
    }
  }
  return ND4C_OK;
}

/* -- inputs ----------------------------------------------------------------------------------------------------- */

static nd4c_status read_shape(selftest_input *input, char *text) {
  input->count = 1;
  while (*text != '\0' && *text != ']') {
    char *end = NULL;
    const long long extent = strtoll(text, &end, 10);
    if (end == text || extent < 0 || extent > 100000 || input->rank == SELFTEST_RANK) {
      return damaged("shape", text);
    }
    input->shape[input->rank++] = extent;
    input->count *= extent;
    text = end + (*end == ',');
  }
  return ND4C_OK;
}

/* None at all: zeros, in a sample that is not computed. */
static nd4c_status read_elements(selftest_input *input, char *text, bool may_lack) {
  const size_t count = (size_t)input->count;
  const bool lacks = may_lack && text[strspn(text, " ")] == '\0';
  bool whole = true;
  input->reals = calloc(count + 1, sizeof *input->reals);
  input->integers = calloc(count + 1, sizeof *input->integers);
  if (input->reals == NULL || input->integers == NULL) {
    return ND4C_MEMORY;
  }
  for (size_t i = 0; i < count && !lacks; i++) {
    char *end = NULL, *integer_end = NULL;
    input->reals[i] = strtod(text, &end);
    errno = 0;
    input->integers[i] = strtoll(text, &integer_end, 10);
    if (errno == ERANGE) { /* uint64's upper half */
      input->integers[i] = (int64_t)strtoull(text, &integer_end, 10);
    }
    whole = whole && integer_end == end;
    if (end == text) {
      return damaged("elements", text);
    }
    text = end;
  }
  if (!whole) {
    free(input->integers);
    input->integers = NULL;
  }
  return ND4C_OK;
}

/* "@[2,3] 1 2 3 4 5 6", "int64[] 1" or "-". */
static nd4c_status read_input(selftest_case *c, char *text) {
  if (c->input_count == SELFTEST_INPUTS) {
    return damaged("inputs", text);
  }
  selftest_input *input = &c->inputs[c->input_count++];
  *input = (selftest_input){.dtype = ND4C_DTYPE_NONE};
  if (strcmp(text, "-") == 0) {
    return ND4C_OK;
  }
  char *shape = NULL, *elements = NULL;
  const char *dtype = cut(text, "[", &shape);
  if (shape == NULL) {
    return damaged("input", text);
  }
  (void)cut(shape, "]", &elements);
  if (elements == NULL) {
    return damaged("input", text);
  }
  input->varies = strcmp(dtype, "@") == 0;
  nd4c_status status = input->varies ? ND4C_OK : nd4c_dtype_find(dtype, &input->dtype);
  if (input->varies) {
    input->dtype = ND4C_FLOAT32; /* until the test says which */
  }
  status = status == ND4C_OK ? read_shape(input, shape) : status;
  return status == ND4C_OK ? read_elements(input, elements, c->sample) : status;
}

/* -- cases ------------------------------------------------------------------------------------------------------ */

void selftest_case_clear(selftest_case *c) {
  for (int32_t i = 0; i < c->input_count; i++) {
    free(c->inputs[i].reals);
    free(c->inputs[i].integers);
  }
  for (int32_t i = 0; i < SELFTEST_ATTRS; i++) {
    free(c->lists[i]);
  }
  free(c->text);
  *c = (selftest_case){0};
}

static nd4c_status read_case(selftest_case *c) {
  static const char sample[] = "? ";
  char *rest = NULL;
  c->sample = strncmp(c->text, sample, strlen(sample)) == 0;
  const char *name = cut(c->text + (c->sample ? strlen(sample) : 0), " | ", &rest);
  if (rest == NULL) {
    return damaged("line", name);
  }
  if (nd4c_op_find(name, &c->op) != ND4C_OK) {
    return ND4C_NAME;
  }
  nd4c_status status = read_attrs(c, cut(rest, " | ", &rest));
  while (rest != NULL && status == ND4C_OK) {
    status = read_input(c, cut(rest, " | ", &rest));
  }
  return status;
}

bool selftest_case_next(const char **position, selftest_case *c, nd4c_status *status) {
  while (selftest_sample_next(position, c, status)) {
    if (!c->sample || *status != ND4C_OK) {
      return true;
    }
    selftest_case_clear(c);
  }
  return false;
}

bool selftest_sample_next(const char **position, selftest_case *c, nd4c_status *status) {
  *c = (selftest_case){0};
  *status = ND4C_OK;
  while (**position != '\0') {
    const size_t length = strcspn(*position, "\n");
    c->text = strndup(*position, length);
    *position += length + ((*position)[length] == '\n');
    *status = c->text == NULL ? ND4C_MEMORY : read_case(c);
    if (*status != ND4C_NAME && *status != ND4C_DTYPE) {
      return true;
    }
    selftest_case_clear(c); /* of an op or a dtype that this build does not have */
    *status = ND4C_OK;
  }
  return false;
}

nd4c_status selftest_array(const selftest_input *input, nd4c_dtype dtype, nd4c_device *device, nd4c_array **array) {
  const bool whole = input->integers != NULL;
  const void *data = whole ? (const void *)input->integers : (const void *)input->reals;
  nd4c_device *host = NULL;
  nd4c_array *wide = NULL, *cast = NULL;
  nd4c_status status = nd4c_device_find("cpu:0", &host);
  if (status == ND4C_OK) {
    status = nd4c_array_from_data(whole ? ND4C_INT64 : ND4C_FLOAT64, input->rank, input->shape, data, host, &wide);
  }
  nd4c_context_options options = {.struct_size = sizeof options, .device = host};
  nd4c_context *context = NULL;
  status = status == ND4C_OK ? nd4c_context_create(&options, &context) : status;
  if (status == ND4C_OK) {
    status = nd4c_cast_on(context, wide, input->varies ? dtype : input->dtype, &cast);
  }
  if (status == ND4C_OK) {
    status = nd4c_array_to_device(cast, device, array);
  }
  nd4c_array_release(wide);
  nd4c_array_release(cast);
  (void)nd4c_context_destroy(context);
  return status;
}
