/* Checks of a plug-in's ops (provider_check.h). provider_check.c calls it for a provider that brings ops; ops/infer
 * asks which dtypes such ops may have. */
#include <stdio.h>
#include <string.h>

#include "array/narrow.h"
#include "base/status.h"
#include "device/provider/provider_check.h"

/* The op under check, and its position. */
typedef struct place {
  const char *from; /* the plug-in */
  int32_t number;
  const nd4c_plugin_op *op;
} place;

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_of_word(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

/* Attributes and inputs become parameters of functions and keys of JSON. */
static bool is_word(const char *word) {
  size_t length = 0;
  if (word == NULL || !is_letter(word[0])) {
    return false;
  }
  while (length < ND4C_PLUGIN_WORD_SIZE && is_of_word(word[length])) {
    length++;
  }
  return length < ND4C_PLUGIN_WORD_SIZE && word[length] == '\0';
}

static bool is_op_name(const char *name) {
  bool begins = true;
  int32_t dots = 0, length = 0;
  for (; name != NULL && length < ND4C_PLUGIN_OP_NAME_SIZE && name[length] != '\0'; length++) {
    const char c = name[length];
    if (begins ? !is_letter(c) : c != '.' && c != '-' && !is_of_word(c)) {
      return false;
    }
    begins = c == '.';
    dots += begins;
  }
  return length > 0 && length < ND4C_PLUGIN_OP_NAME_SIZE && dots > 0 && !begins;
}

/* ONNX's domains and nd4c's namespace are reserved for future use. */
static bool is_reserved(const char *name) {
  static const char *const namespaces[] = {"nd4c.", "ai.onnx."};
  for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++) {
    if (strncmp(name, namespaces[i], strlen(namespaces[i])) == 0) {
      return true;
    }
  }
  return false;
}

static nd4c_status check_names(const place *p) {
  if (!is_op_name(p->op->name)) {
    return nd4c_fail(ND4C_ABI,
                     "plug-in %s: op %d has no name of at most %d bytes such as acme.swiglu2: letters, digits, '_' and "
                     "'-' in parts that begin with a letter and have dots between them",
                     p->from, p->number, ND4C_PLUGIN_OP_NAME_SIZE - 1);
  }
  if (is_reserved(p->op->name)) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: the namespaces nd4c and ai.onnx are reserved", p->from, p->op->name);
  }
  return ND4C_OK;
}

static nd4c_status check_range(const place *p, const char *what, int64_t value, int64_t least, int64_t most) {
  return value >= least && value <= most
             ? ND4C_OK
             : nd4c_fail(ND4C_ABI, "plug-in %s: op %s: %s is %lld, expected %lld to %lld", p->from, p->op->name, what,
                         (long long)value, (long long)least, (long long)most);
}

static nd4c_status check_numbers(const place *p) {
  enum {
#define CATEGORY_NUMBER(NAME, number) NUMBER_OF_##NAME = number,
    ND4C_CATEGORY_TABLE(CATEGORY_NUMBER)
#undef CATEGORY_NUMBER
        CATEGORY_END
  };
  const nd4c_plugin_op *op = p->op;
  const uint32_t flags = ND4C_PLUGIN_OP_ELEMENTWISE | ND4C_PLUGIN_OP_REFUSES_LATE;
  ND4C_TRY(check_range(p, "version", op->version, 1, INT32_MAX));
  ND4C_TRY(check_range(p, "category", (int64_t)op->category, 1, CATEGORY_END - 1));
  ND4C_TRY(check_range(p, "input_count", op->input_count, 0, ND4C_PLUGIN_OP_INPUTS));
  ND4C_TRY(check_range(p, "attr_count", op->attr_count, 0, ND4C_PLUGIN_OP_ATTRS));
  ND4C_TRY(check_range(p, "output_count", op->output_count, 1, ND4C_PLUGIN_OP_OUTPUTS));
  if ((op->flags & ~flags) != 0) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: flags are 0x%x, of which nd4c knows 0x%x", p->from, op->name,
                     (unsigned)op->flags, (unsigned)flags);
  }
  return ND4C_OK;
}

/* Only the library computes strings, and packed elements have no address. */
static nd4c_status check_dtypes(const place *p) {
  const nd4c_dtype_set set = p->op->dtypes;
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    if ((set & ND4C_DTYPE_BIT(dtype)) != 0 && !nd4c_provider_op_takes(dtype)) {
      return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: dtypes has %s, expected numbers of a byte or more and bool",
                       p->from, p->op->name, nd4c_dtype_name(dtype));
    }
  }
  const nd4c_dtype_set known = ND4C_DTYPE_BIT(ND4C_DTYPE_END) - 2; /* 0 is NONE */
  return set != 0 && (set & ~known) == 0
             ? ND4C_OK
             : nd4c_fail(ND4C_ABI, "plug-in %s: op %s: dtypes is 0x%llx, expected a set of nd4c's dtypes", p->from,
                         p->op->name, (unsigned long long)set);
}

bool nd4c_provider_op_takes(nd4c_dtype dtype) {
  return dtype != ND4C_UTF8 && !nd4c_dtype_is_packed(dtype);
}

static nd4c_status fail_name(const place *p, const char *what, int32_t number) {
  return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: %s %d has no name of its own of at most %d letters, digits and '_'",
                   p->from, p->op->name, what, number, ND4C_PLUGIN_WORD_SIZE - 1);
}

static nd4c_status check_inputs(const place *p) {
  const nd4c_op_input *inputs = p->op->inputs;
  bool optional = false;
  if (p->op->input_count > 0 && inputs == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: inputs is NULL", p->from, p->op->name);
  }
  for (int32_t i = 0; i < p->op->input_count; i++) {
    bool known = false;
    for (int32_t j = 0; is_word(inputs[i].name) && j < i; j++) {
      known = known || strcmp(inputs[i].name, inputs[j].name) == 0;
    }
    if (!is_word(inputs[i].name) || known) {
      return fail_name(p, "input", i);
    }
    if (inputs[i].variadic && (inputs[i].optional || i + 1 < p->op->input_count)) {
      return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: input %s is variadic, which only a required last one may be",
                       p->from, p->op->name, inputs[i].name);
    }
    optional = optional || inputs[i].optional;
    if (optional && !inputs[i].optional) {
      return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: input %s is required, but comes after an optional one", p->from,
                       p->op->name, inputs[i].name);
    }
  }
  return ND4C_OK;
}

/* Lists of ops print presets unchanged. */
static bool is_clean(const char *text) {
  const char *shown = nd4c_provider_words(text);
  return shown != NULL && strcmp(shown, text) == 0;
}

/* What is wrong with a preset, NULL: nothing. */
static const char *preset_problem(const nd4c_attr_value *preset) {
  switch (preset->kind) {
    case ND4C_ATTR_INT:
    case ND4C_ATTR_FLOAT:
      return NULL;
    case ND4C_ATTR_BOOL:
      return preset->as.i == 0 || preset->as.i == 1 ? NULL : "its preset is neither 0 nor 1";
    case ND4C_ATTR_DTYPE:
      return preset->as.i >= 0 && preset->as.i < ND4C_DTYPE_END ? NULL : "its preset is not a dtype";
    case ND4C_ATTR_INTS:
    case ND4C_ATTR_FLOATS:
      return preset->as.ints == NULL && preset->count == 0 ? NULL : "the preset of a list is NULL, with count 0";
    case ND4C_ATTR_STRING:
      return is_clean(preset->as.string) ? NULL : "its preset is not a line of valid UTF-8 of at most 500 bytes";
    default:
      return "its kind is not one of INT, BOOL, FLOAT, INTS, FLOATS, STRING and DTYPE";
  }
}

static nd4c_status check_attrs(const place *p) {
  const nd4c_op_attr *attrs = p->op->attrs;
  if (p->op->attr_count > 0 && attrs == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: attrs is NULL", p->from, p->op->name);
  }
  for (int32_t i = 0; i < p->op->attr_count; i++) {
    bool known = false;
    for (int32_t j = 0; is_word(attrs[i].name) && j < i; j++) {
      known = known || strcmp(attrs[i].name, attrs[j].name) == 0;
    }
    for (int32_t j = 0; is_word(attrs[i].name) && j < p->op->input_count; j++) {
      known = known || strcmp(attrs[i].name, p->op->inputs[j].name) == 0;
    }
    if (!is_word(attrs[i].name) || known) {
      return fail_name(p, "attribute", i);
    }
    const char *problem = preset_problem(&attrs[i].preset);
    if (problem != NULL) {
      return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: attribute %s: %s", p->from, p->op->name, attrs[i].name, problem);
    }
  }
  return ND4C_OK;
}

static nd4c_status fail_reference(const place *p, const char *expected) {
  return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: its reference kernel %s", p->from, p->op->name, expected);
}

/* The reference kernel is the last resort, so it must not decline, be disabled or lack a dtype. */
static nd4c_status check_reference(const place *p) {
  const nd4c_kernel *kernel = p->op->reference;
  if (kernel != NULL && !ND4C_HAS_FIELD(kernel, run)) {
    char what[ND4C_PLUGIN_OP_NAME_SIZE + 32];
    (void)snprintf(what, sizeof what, "the reference kernel of op %s", p->op->name);
    return nd4c_provider_fail_short(p->from, what, kernel->struct_size, "nd4c_kernel");
  }
  if (kernel == NULL || kernel->run == NULL || kernel->name == NULL) {
    return fail_reference(p, "is required, with a name and run");
  }
  if (kernel->op == NULL || strcmp(kernel->op, p->op->name) != 0 || kernel->op_version != p->op->version) {
    return fail_reference(p, "is of another op or version");
  }
  if (kernel->engine == NULL || strcmp(kernel->engine, "reference") != 0 || kernel->priority != 0) {
    return fail_reference(p, "is not of engine reference with priority 0");
  }
  if (kernel->usable != NULL || (p->op->dtypes & ~kernel->dtypes) != 0) {
    return fail_reference(p, "has `usable` or lacks a dtype, expected one that computes every call");
  }
  return ND4C_OK;
}

static nd4c_status check_op(const place *p) {
  if (p->op == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: op %d is NULL", p->from, p->number);
  }
  if (!ND4C_HAS_FIELD(p->op, reference)) {
    char what[32];
    (void)snprintf(what, sizeof what, "op %d", p->number);
    return nd4c_provider_fail_short(p->from, what, p->op->struct_size, "nd4c_plugin_op");
  }
  ND4C_TRY(check_names(p));
  ND4C_TRY(check_numbers(p));
  ND4C_TRY(check_dtypes(p));
  ND4C_TRY(check_inputs(p));
  ND4C_TRY(check_attrs(p));
  if (p->op->infer == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: op %s: infer is NULL", p->from, p->op->name);
  }
  return check_reference(p);
}

nd4c_status nd4c_provider_check_ops(const char *from, const nd4c_plugin_op *const *ops, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const place p = {from, i, ops[i]};
    ND4C_TRY(check_op(&p));
    for (int32_t j = 0; j < i; j++) {
      if (ops[i]->version == ops[j]->version && strcmp(ops[i]->name, ops[j]->name) == 0) {
        return nd4c_fail(ND4C_ABI, "plug-in %s: ops %d and %d are both version %u of %s", from, j, i, ops[i]->version,
                         ops[i]->name);
      }
    }
  }
  return ND4C_OK;
}
