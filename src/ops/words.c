/* What the op table says of ops in words, for those who show or bind them (`nd4c ops`, ops.md, bindings): names of
 * outputs, and names of the values of attributes. */
#include <string.h>

#include "device/op_def.h"
#include "ops/op.h"

/* A row of ND4C_ATTR_WORDS_TABLE. */
typedef struct words_row {
  const char *op, *attr;
  const nd4c_attr_word *words;
  int32_t count;
} words_row;

/* Some tables have more columns. */
#define WORD(NAME, ...) WORD_FIRST(__VA_ARGS__, 0)
#define WORD_FIRST(number, name, ...) {(number), (name)},
#define WORDS_OF(TABLE) ((const nd4c_attr_word[]){ND4C_##TABLE##_TABLE(WORD)})
#define WORDS_ROW(op, attr, TABLE) \
  {op, attr, WORDS_OF(TABLE), (int32_t)(sizeof WORDS_OF(TABLE) / sizeof(nd4c_attr_word))},

static const words_row rows[] = {ND4C_ATTR_WORDS_TABLE(WORDS_ROW)};

static const words_row *find_row(const char *op, const char *attr) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    if (strcmp(rows[i].op, op) == 0 && strcmp(rows[i].attr, attr) == 0) {
      return &rows[i];
    }
  }
  return NULL;
}

/* The row of an attribute of a built-in op; ops of plug-ins have attributes of the same names and other meanings. */
static const words_row *find_words(nd4c_op op, int32_t attr) {
  const nd4c_op_info *info = op < ND4C_OP_PLUGIN ? nd4c_op_get(op) : NULL;
  if (info == NULL || attr < 0 || attr >= info->attr_count) {
    return NULL;
  }
  const nd4c_op_attr *a = &info->attrs[attr];
  if (a->preset.kind != ND4C_ATTR_INT && a->preset.kind != ND4C_ATTR_INTS) {
    return NULL;
  }
  const words_row *own = find_row(info->name, a->name);
  return own != NULL ? own : find_row("", a->name);
}

const nd4c_attr_word *nd4c_op_attr_words(nd4c_op op, int32_t attr, int32_t *count) {
  const words_row *row = find_words(op, attr);
  if (count != NULL) {
    *count = row != NULL ? row->count : 0;
  }
  return row != NULL ? row->words : NULL;
}

const char *nd4c_op_output_name(nd4c_op op, int32_t output) {
  static const char *const numbered[ND4C_PLUGIN_OP_OUTPUTS] = {"y0", "y1", "y2", "y3", "y4", "y5", "y6", "y7"};
  const nd4c_op_def *def = nd4c_op_get_def(op);
  if (def == NULL || output < 0 || output >= def->info.output_count) {
    return NULL;
  }
  return def->output_names != NULL ? def->output_names[output] : def->info.output_count == 1 ? "y" : numbered[output];
}
