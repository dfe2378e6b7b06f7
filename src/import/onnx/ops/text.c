/* Strings. emission/scope.c calls the emit functions through the rows below. */
#include <string.h>

#include "base/status.h"
#include "import/onnx/emission/lists.h"
#include "import/onnx/family.h"

/* Refuses locales whose languages change case by rules other than Unicode's language-independent mapping. */
static nd4c_status check_locale(nd4c_onnx_emission *emission) {
  static const char *const others[] = {"tr", "az", "lt"};
  nd4c_span locale;
  ND4C_TRY(nd4c_onnx_get_text(emission, "locale", "", &locale));
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    if (locale.size >= 2 && memcmp(locale.bytes, others[i], 2) == 0) {
      return nd4c_fail(ND4C_UNSUPPORTED, "locale %s: letters change case by a rule of that language",
                       nd4c_span_show(locale).text);
    }
  }
  return ND4C_OK;
}

static nd4c_status emit_string_normalizer(nd4c_onnx_emission *emission) {
  const nd4c_span *words = NULL;
  int32_t count = 0;
  nd4c_onnx_attrs attrs;
  nd4c_onnx_operand inputs[] = {emission->inputs[0], ND4C_ONNX_OPERAND_NONE};
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_get_strings(emission, "stopwords", &words, &count));
  ND4C_TRY(check_locale(emission));
  if (count > 0) {
    ND4C_TRY(nd4c_onnx_string_list(emission, words, count, &inputs[1]));
  }
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_string_normalizer, inputs, count > 0 ? 2 : 1, &attrs);
}

/* The pool, of strings or integers. */
static nd4c_status read_pool(nd4c_onnx_emission *emission, nd4c_onnx_operand *pool) {
  const nd4c_span *strings = NULL;
  const int64_t *integers = NULL;
  int32_t string_count = 0, integer_count = 0;
  ND4C_TRY(nd4c_onnx_get_strings(emission, "pool_strings", &strings, &string_count));
  ND4C_TRY(nd4c_onnx_get_ints(emission, "pool_int64s", &integers, &integer_count));
  if ((string_count > 0) == (integer_count > 0)) {
    return nd4c_fail(ND4C_FORMAT, "expected either pool_strings or pool_int64s");
  }
  return string_count > 0 ? nd4c_onnx_string_list(emission, strings, string_count, pool)
                          : nd4c_onnx_int64s(emission, 1, integer_count, integers, pool);
}

static nd4c_status emit_tfidf_vectorizer(nd4c_onnx_emission *emission) {
  nd4c_onnx_attrs attrs;
  nd4c_onnx_operand inputs[] = {emission->inputs[0], ND4C_ONNX_OPERAND_NONE};
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(read_pool(emission, &inputs[1]));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_tfidf_vectorizer, inputs, 2, &attrs);
}

static const char *const cases[] = {ND4C_LETTER_CASE_TABLE(ND4C_ONNX_WORD) NULL};
static const char *const weightings[] = {ND4C_TFIDF_MODE_TABLE(ND4C_ONNX_WORD) NULL};

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                       \
  OP(StringConcat, 20, LAST, 2, 2, 1, direct, string_concat)                                                       \
  MAP(StringSplit, 20, LAST, 1, 1, 2, string_split, ATTR("delimiter", TEXT, "delimiter", 0),                       \
      ATTR("maxsplit", INT, "maxsplit", -1))                                                                       \
  READ(StringNormalizer, 10, LAST, 1, 1, 1, string_normalizer, NONE,                                               \
       WORDS("case_change_action", "change_case", 0, cases), ATTR("is_case_sensitive", BOOL, "case_sensitive", 0)) \
  MAP(RegexFullMatch, 20, LAST, 1, 1, 1, regex_full_match, ATTR("pattern", TEXT, "pattern", 0))                    \
  READ(TfIdfVectorizer, 9, LAST, 1, 1, 1, tfidf_vectorizer, NONE, WORDS("mode", "mode", REQUIRED, weightings),     \
       ATTR("ngram_counts", INTS, "ngram_counts", 0), ATTR("ngram_indexes", INTS, "ngram_indexes", 0),             \
       ATTR("weights", FLOATS, "weights", 0), ATTR("min_gram_length", INT, "min_gram_length", 1),                  \
       ATTR("max_gram_length", INT, "max_gram_length", 1), ATTR("max_skip_count", INT, "max_skip_count", 0))

ND4C_ONNX_FAMILY(text, "", ROWS)
