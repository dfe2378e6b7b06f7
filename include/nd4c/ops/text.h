/* Op functions of the family text, made from include/nd4c/op_table/text.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_TEXT_H
#define ND4C_OPS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/options.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* string_concat: a followed by b, broadcast.
 * In: a (utf8), b.
 * Out: y: utf8, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_string_concat(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_string_concat_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                           nd4c_array **y);

/* string_split: parts [..., n]: the pieces of each string between delimiters (none: runs of white space), filled up
 * with empty strings; counts: how many pieces each string has; maxsplit: the most cuts, -1: no limit (Python's
 * str.split).
 * In: x (utf8).
 * Attributes: delimiter (NULL), maxsplit (-1).
 * Out: parts: utf8, in x's shape with a new last axis, whose length depends on the data; counts: int64, in x's shape.
 * Statuses: ARGUMENT, SHAPE. */
ND4C_API nd4c_status nd4c_string_split(const nd4c_array *x, const char *delimiter, int64_t maxsplit, nd4c_array **parts,
                                       nd4c_array **counts);
ND4C_API nd4c_status nd4c_string_split_on(nd4c_context *context, const nd4c_array *x, const char *delimiter,
                                          int64_t maxsplit, nd4c_array **parts, nd4c_array **counts);

/* string_normalizer: the strings of x, [c] or [1, c], without stopwords and with their case changed; one empty string
 * if none is left.
 * In: x (utf8), stopwords or NULL.
 * Attributes: change_case (ND4C_LETTER_CASE_NONE), case_sensitive (false).
 * Out: y: utf8, in x's shape [n] or [1, n]; n depends on the data if stopwords are left out of it.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_string_normalizer(const nd4c_array *x, const nd4c_array *stopwords,
                                            nd4c_letter_case change_case, bool case_sensitive, nd4c_array **y);
ND4C_API nd4c_status nd4c_string_normalizer_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *stopwords,
                                               nd4c_letter_case change_case, bool case_sensitive, nd4c_array **y);

/* string_upper: upper case, each code point on its own (Unicode's simple mapping).
 * In: x (utf8).
 * Out: y: utf8, in x's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_string_upper(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_string_upper_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* string_lower: lower case, each code point on its own (Unicode's simple mapping).
 * In: x (utf8).
 * Out: y: utf8, in x's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_string_lower(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_string_lower_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* string_strip: without white space at both ends.
 * In: x (utf8).
 * Out: y: utf8, in x's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_string_strip(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_string_strip_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* string_length: int64 number of code points.
 * In: x (utf8).
 * Out: y: int64, in x's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_string_length(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_string_length_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* regex_full_match: whether the pattern matches the whole string: PCRE2's syntax, which contains RE2's; a match of
 * more than a million steps is refused (ARGUMENT).
 * In: x (utf8).
 * Attributes: pattern (NULL).
 * Out: y: bool, in x's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_regex_full_match(const nd4c_array *x, const char *pattern, nd4c_array **y);
ND4C_API nd4c_status nd4c_regex_full_match_on(nd4c_context *context, const nd4c_array *x, const char *pattern,
                                              nd4c_array **y);

/* Options of nd4c_tfidf_vectorizer. */
typedef struct nd4c_tfidf_vectorizer_options {
  uint32_t struct_size; /* set by ND4C_TFIDF_VECTORIZER_DEFAULTS */
  const int64_t *ngram_counts;
  int32_t ngram_counts_count;
  const int64_t *ngram_indexes;
  int32_t ngram_indexes_count;
  const double *weights;
  int32_t weights_count;
  int64_t min_gram_length;
  int64_t max_gram_length;
  int64_t max_skip_count;
  nd4c_tfidf_mode mode;
} nd4c_tfidf_vectorizer_options;
#define ND4C_TFIDF_VECTORIZER_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_tfidf_vectorizer_options, mode), NULL, 0, NULL, 0, NULL, 0, 1, 1, 0, ND4C_TFIDF_MODE_TF}

/* tfidf_vectorizer: counts (TF), presence times weight (IDF) or counts times weight (TFIDF) of the pool's n-grams in
 * each row of x, as float32; ngram_counts: where the n-grams of each length begin in the pool, ngram_indexes: the
 * column of each (ONNX TfIdfVectorizer).
 * In: x (int32, int64, utf8), pool.
 * Options: ngram_counts (NULL, 0), ngram_indexes (NULL, 0), weights (NULL, 0), min_gram_length (1), max_gram_length
 *     (1), max_skip_count (0), mode (ND4C_TFIDF_MODE_TF).
 * Out: y: float32 [columns], or [n, columns] for x [n, tokens]; ngram_indexes says how many columns there are.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_tfidf_vectorizer(const nd4c_array *x, const nd4c_array *pool,
                                           const nd4c_tfidf_vectorizer_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_tfidf_vectorizer_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *pool,
                                              const nd4c_tfidf_vectorizer_options *options, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
