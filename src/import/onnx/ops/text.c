/* Strings. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "import/onnx/emission/lists.h"
#include "import/onnx/family.h"

/* An attribute's bytes, NUL-terminated; freed by the caller. */
static nd4c_status copy_text(nd4c_span span, const char *what, char **text) {
  *text = NULL;
  if (span.size > 0 && memchr(span.bytes, 0, span.size) != NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "attribute %s holds a NUL character", what);
  }
  *text = nd4c_allocate_zeroed(span.size + 1, 1);
  if (*text == NULL) {
    return nd4c_fail_memory("an attribute", span.size);
  }
  if (span.size > 0) {
    memcpy(*text, span.bytes, span.size);
  }
  return ND4C_OK;
}

static nd4c_status emit_string_split(nd4c_onnx_emission *emission) {
  nd4c_span delimiter;
  char *text = NULL;
  int64_t maxsplit = 0;
  ND4C_TRY(nd4c_onnx_get_text(emission, "delimiter", "", &delimiter));
  ND4C_TRY(nd4c_onnx_get_int(emission, "maxsplit", -1, &maxsplit));
  nd4c_status status = copy_text(delimiter, "delimiter", &text);
  if (status == ND4C_OK) {
    nd4c_attr attrs[] = {nd4c_attr_of_string("delimiter", text), nd4c_attr_of_int("maxsplit", maxsplit)};
    status = nd4c_emit_outputs(&emission->emitter, ND4C_OP_string_split, emission->inputs, 1, attrs, 2,
                               emission->outputs, 2);
  }
  nd4c_deallocate(text);
  return status;
}

/* Letters change by Unicode's mapping of no language: that of these locales is another. */
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
  static const char *const cases[] = {"NONE", "LOWER", "UPPER", NULL};
  const nd4c_span *words = NULL;
  int32_t count = 0;
  int64_t change = 0, sensitive = 0;
  nd4c_onnx_operand inputs[2] = {emission->inputs[0], ND4C_ONNX_OPERAND_NONE};
  ND4C_TRY(nd4c_onnx_get_word(emission, "case_change_action", "NONE", cases, &change));
  ND4C_TRY(nd4c_onnx_get_int(emission, "is_case_sensitive", 0, &sensitive));
  ND4C_TRY(nd4c_onnx_get_strings(emission, "stopwords", &words, &count));
  ND4C_TRY(check_locale(emission));
  if (count > 0) {
    ND4C_TRY(nd4c_onnx_string_list(emission, words, count, &inputs[1]));
  }
  nd4c_attr attrs[] = {nd4c_attr_of_int("change_case", change), nd4c_attr_of_bool("case_sensitive", sensitive != 0)};
  return nd4c_emit(&emission->emitter, ND4C_OP_string_normalizer, inputs, count > 0 ? 2 : 1, attrs, 2,
                   &emission->outputs[0]);
}

static nd4c_status emit_regex_full_match(nd4c_onnx_emission *emission) {
  nd4c_span pattern;
  char *text = NULL;
  ND4C_TRY(nd4c_onnx_get_text(emission, "pattern", "", &pattern));
  nd4c_status status = copy_text(pattern, "pattern", &text);
  if (status == ND4C_OK) {
    nd4c_attr attr = nd4c_attr_of_string("pattern", text);
    status =
        nd4c_emit(&emission->emitter, ND4C_OP_regex_full_match, emission->inputs, 1, &attr, 1, &emission->outputs[0]);
  }
  nd4c_deallocate(text);
  return status;
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
  static const char *const modes[] = {"TF", "IDF", "TFIDF", NULL};
  nd4c_onnx_operand inputs[2] = {emission->inputs[0], ND4C_ONNX_OPERAND_NONE};
  const int64_t *counts = NULL, *indexes = NULL;
  const double *weights = NULL;
  int32_t count = 0, index_count = 0, weight_count = 0;
  int64_t least = 0, most = 0, skips = 0, mode = 0;
  ND4C_TRY(read_pool(emission, &inputs[1]));
  ND4C_TRY(nd4c_onnx_get_word(emission, "mode", "", modes, &mode));
  ND4C_TRY(nd4c_onnx_get_ints(emission, "ngram_counts", &counts, &count));
  ND4C_TRY(nd4c_onnx_get_ints(emission, "ngram_indexes", &indexes, &index_count));
  ND4C_TRY(nd4c_onnx_get_floats(emission, "weights", &weights, &weight_count));
  ND4C_TRY(nd4c_onnx_get_int(emission, "min_gram_length", 1, &least));
  ND4C_TRY(nd4c_onnx_get_int(emission, "max_gram_length", 1, &most));
  ND4C_TRY(nd4c_onnx_get_int(emission, "max_skip_count", 0, &skips));
  nd4c_attr attrs[] = {nd4c_attr_of_ints("ngram_counts", counts, count),
                       nd4c_attr_of_ints("ngram_indexes", indexes, index_count),
                       nd4c_attr_of_floats("weights", weights, weight_count),
                       nd4c_attr_of_int("min_gram_length", least),
                       nd4c_attr_of_int("max_gram_length", most),
                       nd4c_attr_of_int("max_skip_count", skips),
                       nd4c_attr_of_int("mode", mode)};
  return nd4c_emit(&emission->emitter, ND4C_OP_tfidf_vectorizer, inputs, 2, attrs, sizeof attrs / sizeof attrs[0],
                   &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                       \
  OP(StringConcat, 20, LAST, 2, 2, 1, direct, string_concat)       \
  OP(StringSplit, 20, LAST, 1, 1, 2, string_split, NONE)           \
  OP(StringNormalizer, 10, LAST, 1, 1, 1, string_normalizer, NONE) \
  OP(RegexFullMatch, 20, LAST, 1, 1, 1, regex_full_match, NONE)    \
  OP(TfIdfVectorizer, 9, LAST, 1, 1, 1, tfidf_vectorizer, NONE)

ND4C_ONNX_FAMILY(text, "", ROWS)
