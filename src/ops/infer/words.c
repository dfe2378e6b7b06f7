/* The words for the values of attributes, from the op table. The generic call (resolve.c), which takes a word for a
 * number, and nd4c_op_attr_words (ops/words.c) look them up here. */
#include "ops/op.h"
#include "ops/signature.h"

/* -- lists of words ---------------------------------------------------------------------------------------------- */

typedef struct word_list {
  const nd4c_attr_word *words;
  int32_t count;
} word_list;

/* Some tables have more columns. */
#define WORD(NAME, ...) WORD_FIRST(__VA_ARGS__, 0)
#define WORD_FIRST(number, word, ...) {(number), (word)},
#define WORDS(type, TABLE) static const nd4c_attr_word words_##type[] = {ND4C_##TABLE##_TABLE(WORD)};
ND4C_WORDS_TABLE(WORDS)

enum {
#define TYPE(type, TABLE) TYPE_##type,
  ND4C_WORDS_TABLE(TYPE)
#undef TYPE
};

#define WORD_LIST(type, TABLE) {words_##type, (int32_t)(sizeof words_##type / sizeof *words_##type)},
static const word_list word_lists[] = {ND4C_WORDS_TABLE(WORD_LIST)};

/* -- the list of each attribute ----------------------------------------------------------------------------------- */

#define LIST_INT(name, ...) NULL,
#define LIST_BOOL(name, ...) NULL,
#define LIST_FLOAT(name, ...) NULL,
#define LIST_INTS(name, ...) NULL,
#define LIST_FLOATS(name, ...) NULL,
#define LIST_DTYPE(name, ...) NULL,
#define LIST_STRING(name, ...) NULL,
#define LIST_WORD(name, type, preset) &word_lists[TYPE_##type],
#define LIST_WORDS(name, type, preset) &word_lists[TYPE_##type],
#define LIST(op, kind, name, ...) ND4C_FOR_ATTR(kind, LIST_##kind)(name, __VA_ARGS__)

/* By the position of the attribute; each ends in an entry that is not counted, since an op may have no attribute. */
#define ATTR_LISTS(number, version, name, category, SIGNATURE, ...) \
  static const word_list *const lists_##name[] = {SIGNATURE(LIST, name) NULL};
ND4C_OP_TABLE(ATTR_LISTS)

static const word_list *const *const lists[] = {
#define ENTRY(number, version, name, ...) [number] = lists_##name,
    ND4C_OP_TABLE(ENTRY)
#undef ENTRY
};

const nd4c_attr_word *nd4c_op_words(const nd4c_op_info *op, int32_t attr, int32_t *count) {
  /* Attributes of plug-ins' ops have no words. */
  bool listed = op->op < sizeof lists / sizeof *lists && attr >= 0 && attr < op->attr_count;
  const word_list *list = listed ? lists[op->op][attr] : NULL;
  if (count != NULL) {
    *count = list != NULL ? list->count : 0;
  }
  return list != NULL ? list->words : NULL;
}
