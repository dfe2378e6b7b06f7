/* nd4c ops: the ops of this build, from their schemas. main.c calls cli_ops. */
#include <ctype.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* Which ops are listed: all if the pattern is NULL. The name of an op selects that op alone, a pattern with *, ? or [
 * is a glob over names, any other is searched for in name, category and meaning. */
typedef struct filter {
  const char *pattern;
  bool is_name;
} filter;

static filter make_filter(const char *pattern) {
  filter f = {.pattern = pattern};
  for (int32_t i = 0; pattern != NULL && i < nd4c_op_count(); i++) {
    f.is_name = f.is_name || strcmp(nd4c_op_at(i)->name, pattern) == 0;
  }
  return f;
}

static bool matches(const nd4c_op_info *op, const filter *f) {
  const char *pattern = f->pattern;
  if (pattern == NULL) {
    return true;
  }
  if (f->is_name) {
    return strcmp(op->name, pattern) == 0;
  }
  if (strpbrk(pattern, "*?[") != NULL) {
    return fnmatch(pattern, op->name, 0) == 0;
  }
  return strstr(op->name, pattern) != NULL || strcmp(op->category_name, pattern) == 0 ||
         strstr(op->doc, pattern) != NULL;
}

static const char *kind_text(nd4c_attr_kind kind) {
  switch (kind) {
    case ND4C_ATTR_INT:
      return "int";
    case ND4C_ATTR_BOOL:
      return "bool";
    case ND4C_ATTR_FLOAT:
      return "float";
    case ND4C_ATTR_INTS:
      return "ints";
    case ND4C_ATTR_FLOATS:
      return "floats";
    case ND4C_ATTR_STRING:
      return "string";
    case ND4C_ATTR_STRINGS:
      return "strings";
    case ND4C_ATTR_DTYPE:
      return "dtype";
    case ND4C_ATTR_ARRAY:
      return "array";
    case ND4C_ATTR_GRAPH:
      return "graph";
    case ND4C_ATTR_UNSET:
      break;
  }
  return "?";
}

static const char *preset_text(const nd4c_attr_value *preset, char *buffer, size_t size) {
  switch (preset->kind) {
    case ND4C_ATTR_INT:
      (void)snprintf(buffer, size, "%" PRId64, preset->as.i);
      break;
    case ND4C_ATTR_BOOL:
      (void)snprintf(buffer, size, "%s", preset->as.i != 0 ? "true" : "false");
      break;
    case ND4C_ATTR_FLOAT:
      (void)snprintf(buffer, size, "%g", preset->as.f);
      break;
    case ND4C_ATTR_DTYPE:
      (void)snprintf(buffer, size, "%s", preset->as.i != 0 ? nd4c_dtype_name((nd4c_dtype)preset->as.i) : "none");
      break;
    case ND4C_ATTR_STRING:
      if (preset->as.string == NULL) {
        (void)snprintf(buffer, size, "none");
      } else {
        (void)snprintf(buffer, size, "\"%s\"", preset->as.string);
      }
      break;
    default:
      (void)snprintf(buffer, size, "none");
      break;
  }
  return buffer;
}

/* Appends and truncates at the buffer's end: the longest signature is far shorter than the buffers here. */
static void append(char *buffer, size_t size, const char *before, const char *text, const char *after) {
  const size_t used = strlen(buffer);
  (void)snprintf(buffer + used, size - used, "%s%s%s", before, text, after);
}

/* The word for an attribute's value, NULL if the value has none. */
static const char *word_of(const nd4c_op_info *op, int32_t attr, int64_t value) {
  int32_t count = 0;
  const nd4c_attr_word *words = nd4c_op_attr_words(op->op, attr, &count);
  for (int32_t i = 0; i < count; i++) {
    if (words[i].value == value) {
      return words[i].word;
    }
  }
  return NULL;
}

/* The default of an attribute, by its word where it has one. */
static const char *default_text(const nd4c_op_info *op, int32_t attr, char *buffer, size_t size) {
  const nd4c_attr_value *preset = &op->attrs[attr].preset;
  const char *word = preset->kind == ND4C_ATTR_INT ? word_of(op, attr, preset->as.i) : NULL;
  return word != NULL ? word : preset_text(preset, buffer, size);
}

/* "conv(x, w, bias?, addend?; strides=none, auto_pad=explicit, ...) -> y" */
static const char *signature(const nd4c_op_info *op, char *buffer, size_t size) {
  char preset[64];
  buffer[0] = '\0';
  append(buffer, size, op->name, "(", "");
  for (int32_t i = 0; i < op->input_count; i++) {
    const nd4c_op_input *input = &op->inputs[i];
    append(buffer, size, i > 0 ? ", " : "", input->name, input->variadic ? "..." : input->optional ? "?" : "");
  }
  for (int32_t i = 0; i < op->attr_count; i++) {
    append(buffer, size, i > 0 ? ", " : "; ", op->attrs[i].name, "=");
    append(buffer, size, "", default_text(op, i, preset, sizeof preset), "");
  }
  append(buffer, size, ")", "", "");
  for (int32_t i = 0; i < op->output_count; i++) {
    append(buffer, size, i > 0 ? ", " : " -> ", nd4c_op_output_name(op->op, i), "");
  }
  return buffer;
}

/* "none, relu, gelu" */
static const char *words_text(const nd4c_attr_word *words, int32_t count, char *buffer, size_t size) {
  buffer[0] = '\0';
  for (int32_t i = 0; i < count; i++) {
    char number[48];
    (void)snprintf(number, sizeof number, " (%" PRId64 ")", words[i].value);
    append(buffer, size, i > 0 ? ", " : "", words[i].word, number);
  }
  return buffer;
}

/* The dtypes of one kind, of this build; the narrow ones, which few ops take, are kinds of their own. */
static nd4c_dtype_set kind_set(nd4c_dtype_kind kind, nd4c_dtype_set narrow) {
  nd4c_dtype_set set = 0;
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
    bool wanted = narrow != 0 ? (narrow & ND4C_DTYPE_BIT(dtype)) != 0
                              : info->kind == kind && (ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(dtype)) == 0;
    set |= wanted && info->available ? ND4C_DTYPE_BIT(dtype) : 0;
  }
  return set;
}

/* The dtypes of a set; a kind with all its dtypes in the set is written as the kind's name. */
static const char *dtypes_text(nd4c_dtype_set set, char *buffer, size_t size) {
  static const struct {
    nd4c_dtype_kind kind;
    nd4c_dtype_set narrow;
    const char *name;
  } kinds[] = {{ND4C_KIND_BOOL, 0, "bool"},
               {ND4C_KIND_INT, 0, "int"},
               {ND4C_KIND_UINT, 0, "uint"},
               {ND4C_KIND_FLOAT, 0, "float"},
               {ND4C_KIND_COMPLEX, 0, "complex"},
               {ND4C_KIND_STRING, 0, "utf8"},
               {ND4C_KIND_NONE, ND4C_DTYPES_NARROW & ~ND4C_DTYPES_PACKED, "float8"},
               {ND4C_KIND_NONE, ND4C_DTYPES_PACKED, "packed"}};
  buffer[0] = '\0';
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    nd4c_dtype_set whole = kind_set(kinds[k].kind, kinds[k].narrow);
    if (whole != 0 && (set & whole) == whole) {
      append(buffer, size, buffer[0] != '\0' ? ", " : "", kinds[k].name, "");
      continue;
    }
    for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
      if ((set & whole & ND4C_DTYPE_BIT(dtype)) != 0) {
        append(buffer, size, buffer[0] != '\0' ? ", " : "", nd4c_dtype_name(dtype), "");
      }
    }
  }
  return buffer;
}

static void print_composites(void) {
  (void)printf(
      "\n## ONNX operators composed of ops\n\nONNX operators that no row above names. The importer turns each into the "
      "ops of its row.\n"
      "CastMap and DictVectorizer of ai.onnx.ml are refused: nd4c has no maps. An output that ZipMap makes is the "
      "tensor\n"
      "of its probabilities, and nd4c_model_classes has the classes of its columns.\n\n"
      "| domain | operator | composed of |\n|---|---|---|\n");
  for (int32_t i = 0; i < nd4c_onnx_composite_count(); i++) {
    const nd4c_onnx_composite *row = nd4c_onnx_composite_at(i);
    (void)printf("| %s | %s | %s |\n", row->domain[0] != '\0' ? row->domain : "ai.onnx", row->name, row->composed_of);
  }
}

/* An attribute whose values have names. */
typedef struct worded {
  const char *attr;
  const nd4c_attr_word *words;
  int32_t count;
} worded;

/* False for an attribute whose values have none. */
static bool get_worded(const nd4c_op_info *op, int32_t attr, worded *out) {
  out->attr = op->attrs[attr].name;
  out->words = nd4c_op_attr_words(op->op, attr, &out->count);
  return out->words != NULL;
}

/* Whether two attributes have the same name and the same words. */
static bool is_same(const worded *a, const worded *b) {
  bool same = strcmp(a->attr, b->attr) == 0 && a->count == b->count;
  for (int32_t i = 0; same && i < a->count; i++) {
    same = a->words[i].value == b->words[i].value && strcmp(a->words[i].word, b->words[i].word) == 0;
  }
  return same;
}

/* Whether the op has such an attribute. */
static bool has_worded(const nd4c_op_info *op, const worded *wanted) {
  worded own;
  for (int32_t a = 0; a < op->attr_count; a++) {
    if (get_worded(op, a, &own) && is_same(&own, wanted)) {
      return true;
    }
  }
  return false;
}

/* A row for the attribute, with all ops that have it, unless an op before `position` had it and the row. */
static void print_worded(int32_t position, const worded *row) {
  char text[1024];
  for (int32_t i = 0; i < position; i++) {
    if (has_worded(nd4c_op_at(i), row)) {
      return;
    }
  }
  (void)printf("| `%s` | %s |", row->attr, words_text(row->words, row->count, text, sizeof text));
  const char *before = " ";
  for (int32_t i = position; i < nd4c_op_count(); i++) {
    if (has_worded(nd4c_op_at(i), row)) {
      (void)printf("%s%s", before, nd4c_op_at(i)->name);
      before = ", ";
    }
  }
  (void)printf(" |\n");
}

static void print_words(void) {
  (void)printf(
      "\n## Values of attributes by name\n\nThe C functions take the numbers in parentheses. `nd4c/ops/enums.h` has "
      "them "
      "as enums:\n"
      "`ND4C_AUTO_PAD_SAME_UPPER` is `same_upper`. Python takes the names.\n\n"
      "| attribute | values | ops |\n|---|---|---|\n");
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    worded row;
    for (int32_t a = 0; a < nd4c_op_at(i)->attr_count; a++) {
      if (get_worded(nd4c_op_at(i), a, &row)) {
        print_worded(i, &row);
      }
    }
  }
}

static void print_numbers_only(void) {
  enum { WIDTH = 118 };
  int column = 0;
  (void)printf(
      "\n## Ops that need numbers\n\nThese refuse inputs and attributes whose extents depend on a graph's dims: the "
      "length "
      "of their result\n"
      "depends on data or is an attribute, or they compute on strings\n"
      "([symbolic extents](../explanation/symbolic-extents.md#one-rule-for-both)).\n\n");
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const nd4c_op_info *op = nd4c_op_at(i);
    const int width = (int)strlen(op->name) + 4;
    if (nd4c_op_takes_dims(op->op) || op->provider[0] != '\0') {
      continue;
    }
    (void)printf("%s`%s`", column == 0 ? "" : column + width > (int)WIDTH ? ",\n" : ", ", op->name);
    column = column == 0 || column + width > (int)WIDTH ? width - 2 : column + width;
  }
  (void)printf("\n");
}

static void print_row(const nd4c_op_info *op) {
  char text[1024];
  (void)printf("| `%s` | %" PRIu32 " | %" PRIu32 " | ", signature(op, text, sizeof text), op->op, op->version);
  for (const char *c = op->doc; *c != '\0'; c++) { /* a bar would end the cell */
    (void)printf(*c == '|' ? "\\%c" : "%c", *c);
  }
  (void)printf(" | %s | %s |", dtypes_text(op->dtypes, text, sizeof text), op->category_name);
  const char *names = strcmp(op->names, "|||") == 0 ? "-|-|-|-" : op->names;
  for (const char *c = names; *c != '\0'; c++) { /* the bars between names are those between cells */
    (void)printf(*c == '|' ? " |" : c == names || c[-1] == '|' ? " %c" : "%c", *c);
  }
  (void)printf(" |\n");
}

/* The ops of one header of nd4c/ops. */
typedef struct family {
  const char *name;
  const char *about;
  const nd4c_op *ops;
  size_t count;
} family;

#define OP_NUMBER(number, ...) number,
#define FAMILY_OPS(name, NAME, about) static const nd4c_op ops_of_##name[] = {ND4C_OPS_##NAME(OP_NUMBER)};
ND4C_FAMILY_TABLE(FAMILY_OPS)

#define FAMILY_ROW(name, NAME, about) {#name, about, ops_of_##name, sizeof ops_of_##name / sizeof ops_of_##name[0]},
static const family families[] = {ND4C_FAMILY_TABLE(FAMILY_ROW)};

static void print_table_head(void) {
  (void)printf(
      "| op | number | version | meaning | dtypes of the first input | category | NumPy | PyTorch | ONNX | ND4J |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
}

/* The family's ops that match; nothing if none does. */
static void print_family(const family *fam, const filter *f) {
  bool begun = false;
  for (size_t i = 0; i < fam->count; i++) {
    const nd4c_op_info *op = nd4c_op_get(fam->ops[i]);
    if (op == NULL || !matches(op, f)) {
      continue;
    }
    if (!begun) {
      (void)printf("\n## %c%s\n\n`nd4c/ops/%s.h`: %s.\n\n", toupper((unsigned char)fam->name[0]), fam->name + 1,
                   fam->name, fam->about);
      print_table_head();
      begun = true;
    }
    print_row(op);
  }
}

static void print_plugin_ops(const filter *f) {
  bool begun = false;
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const nd4c_op_info *op = nd4c_op_at(i);
    if (op->provider[0] == '\0' || !matches(op, f)) {
      continue;
    }
    if (!begun) {
      (void)printf("\n## Plug-ins\n\n");
      print_table_head();
      begun = true;
    }
    print_row(op);
  }
}

static int print_markdown(const filter *f) {
  (void)printf(
      "# Ops\n\n"
      "Made by `nd4c ops --markdown` from `include/nd4c/op_table.h`; a test keeps it current.\n\n"
      "The ops stand by family; each family has a header in `nd4c/ops`. An input marked `?` may be left out, one\n"
      "marked `...` takes the rest of the inputs. Attributes stand after the semicolon with their defaults, outputs\n"
      "behind the arrow. `nd4c_<name>` is the C function, its parameters in this order. Some attributes take one of\n"
      "few values, each with a name; a table at the end of this page lists them. `int`, `uint`, `float`, `complex`\n"
      "stand for all dtypes of that kind that are computed with, `float8` and `packed` (int4, int2, float4) for those\n"
      "that are stored, moved, cast and quantised. Routing and tracing group ops by category. The last four columns\n"
      "give the op's names in NumPy or SciPy, PyTorch, ONNX and ND4J. A column is empty if that library has no\n"
      "function with exactly this meaning. All four have a dash if none of the libraries has one.\n");
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
    print_family(&families[i], f);
  }
  print_plugin_ops(f);
  if (f->pattern == NULL) {
    print_words();
    print_numbers_only();
    print_composites();
  }
  return cli_finish(&cli_ops);
}

/* {"none": 0, "relu": 1}; NULL, which adds nothing, for an attribute whose values have no names. */
static cJSON *words_json(const nd4c_op_info *op, int32_t attr) {
  int32_t count = 0;
  const nd4c_attr_word *words = nd4c_op_attr_words(op->op, attr, &count);
  cJSON *object = words != NULL ? cJSON_CreateObject() : NULL;
  for (int32_t i = 0; i < count; i++) {
    (void)cJSON_AddNumberToObject(object, words[i].word, (double)words[i].value);
  }
  return object;
}

static cJSON *op_json(const nd4c_op_info *op) {
  char text[64];
  cJSON *object = cJSON_CreateObject();
  (void)cJSON_AddStringToObject(object, "name", op->name);
  (void)cJSON_AddNumberToObject(object, "number", op->op);
  (void)cJSON_AddNumberToObject(object, "version", op->version);
  (void)cJSON_AddStringToObject(object, "category", op->category_name);
  (void)cJSON_AddStringToObject(object, "meaning", op->doc);
  (void)cJSON_AddStringToObject(object, "names", op->names);
  (void)cJSON_AddStringToObject(object, "provider", op->provider);
  cJSON *inputs = cJSON_AddArrayToObject(object, "inputs");
  for (int32_t i = 0; i < op->input_count; i++) {
    cJSON *input = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(input, "name", op->inputs[i].name);
    (void)cJSON_AddBoolToObject(input, "optional", op->inputs[i].optional);
    (void)cJSON_AddBoolToObject(input, "variadic", op->inputs[i].variadic);
    (void)cJSON_AddItemToArray(inputs, input);
  }
  cJSON *attrs = cJSON_AddArrayToObject(object, "attributes");
  for (int32_t i = 0; i < op->attr_count; i++) {
    cJSON *attr = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(attr, "name", op->attrs[i].name);
    (void)cJSON_AddStringToObject(attr, "kind", kind_text(op->attrs[i].preset.kind));
    (void)cJSON_AddStringToObject(attr, "default", preset_text(&op->attrs[i].preset, text, sizeof text));
    cJSON *words = words_json(op, i);
    if (words != NULL) {
      (void)cJSON_AddItemToObject(attr, "values", words);
    }
    (void)cJSON_AddItemToArray(attrs, attr);
  }
  cJSON *dtypes = cJSON_AddArrayToObject(object, "dtypes");
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    if ((op->dtypes & ND4C_DTYPE_BIT(dtype)) != 0) {
      (void)cJSON_AddItemToArray(dtypes, cJSON_CreateString(nd4c_dtype_name(dtype)));
    }
  }
  (void)cJSON_AddNumberToObject(object, "outputs", op->output_count);
  cJSON *names = cJSON_AddArrayToObject(object, "output_names");
  for (int32_t i = 0; i < op->output_count; i++) {
    (void)cJSON_AddItemToArray(names, cJSON_CreateString(nd4c_op_output_name(op->op, i)));
  }
  return object;
}

static int print_json(const filter *f) {
  cJSON *array = cJSON_CreateArray();
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    if (matches(nd4c_op_at(i), f)) {
      (void)cJSON_AddItemToArray(array, op_json(nd4c_op_at(i)));
    }
  }
  return cli_print_json(&cli_ops, array, false);
}

/* " (plug-in acme)", with the version if the name alone selects a higher one; "" for this library's own ops. */
static const char *origin_text(const nd4c_op_info *op, char *buffer, size_t size) {
  const nd4c_op_info *highest = op;
  buffer[0] = '\0';
  if (op->provider[0] == '\0') {
    return buffer;
  }
  if (nd4c_op_find(op->name, &highest) == ND4C_OK && highest != op) {
    (void)snprintf(buffer, size, " (plug-in %s, version %" PRIu32 " of %" PRIu32 ")", op->provider, op->version,
                   highest->version);
  } else {
    (void)snprintf(buffer, size, " (plug-in %s)", op->provider);
  }
  return buffer;
}

/* A line for each attribute whose values have names. */
static void print_op_words(const nd4c_op_info *op) {
  char text[1024];
  for (int32_t i = 0; i < op->attr_count; i++) {
    int32_t count = 0;
    const nd4c_attr_word *words = nd4c_op_attr_words(op->op, i, &count);
    if (words != NULL) {
      (void)printf("    %s: %s\n", op->attrs[i].name, words_text(words, count, text, sizeof text));
    }
  }
}

static int print_text(const filter *f) {
  char text[1024], origin[128];
  int shown = 0;
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const nd4c_op_info *op = nd4c_op_at(i);
    if (matches(op, f)) {
      (void)printf("%s\n    %s%s\n", signature(op, text, sizeof text), op->doc, origin_text(op, origin, sizeof origin));
      print_op_words(op);
      shown++;
    }
  }
  if (shown == 0) {
    return cli_fail(&cli_ops, "no op matches '%s' (nd4c ops lists all %" PRId32 ")", f->pattern, nd4c_op_count());
  }
  return cli_finish(&cli_ops);
}

static int run(int argc, char **argv) {
  static const struct option options[] = {{"markdown", no_argument, NULL, 'm'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  bool markdown = false, json = false;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
    switch (option) {
      case 'm':
        markdown = true;
        break;
      case 'j':
        json = true;
        break;
      case 'h':
        return cli_help(&cli_ops);
      default:
        return cli_unknown_option(&cli_ops, argv[optind - 1]);
    }
  }
  if (argc - optind > 1) {
    return cli_usage(&cli_ops, "one pattern at most, '%s' is another", argv[optind + 1]);
  }
  if (markdown && json) {
    return cli_usage(&cli_ops, "--markdown and --json exclude each other");
  }
  if (nd4c_backend_probe(false) != ND4C_OK) { /* loads the plug-ins that configuration names */
    return cli_fail(&cli_ops, "%s", nd4c_error_message());
  }
  const filter f = make_filter(optind < argc ? argv[optind] : NULL);
  return markdown ? print_markdown(&f) : json ? print_json(&f) : print_text(&f);
}

const cli_command cli_ops = {
    .name = "ops",
    .summary = "list the ops of this build and of plug-ins with inputs, attributes, outputs and meaning",
    .help =
        "usage: nd4c ops [--json | --markdown] [PATTERN]\n\n"
        "  PATTERN     the name of an op, a glob over names (*pool), a category (REDUCTION), or a part of a name or\n"
        "              meaning\n"
        "  --json      an array of objects\n"
        "  --markdown  docs/reference/ops.md\n\n"
        "examples:\n"
        "  nd4c ops\n"
        "  nd4c ops lstm\n"
        "  nd4c ops '*pool'\n"
        "  nd4c ops REDUCTION --json\n",
    .run = run,
};
