/* Rows of the op table: strings (joining, splitting, case, regular expressions, TF-IDF). Strings live on the host;
 * these ops run there, and only eagerly, not in plans. op_table.h says how to read the rows. */
#ifndef ND4C_OP_TABLE_TEXT_H
#define ND4C_OP_TABLE_TEXT_H

/* The case into which string_normalizer changes letters. */
#define ND4C_LETTER_CASE_TABLE(X) \
  X(NONE, 0, "NONE")              \
  X(LOWER, 1, "LOWER")            \
  X(UPPER, 2, "UPPER")

/* What tfidf_vectorizer gives for an n-gram: its count, its weight if it occurs, or count times weight. */
#define ND4C_TFIDF_MODE_TABLE(X) \
  X(TF, 0, "TF")                 \
  X(IDF, 1, "IDF")               \
  X(TFIDF, 2, "TFIDF")

#define ND4C_SIG_STRING_SPLIT(A, op) \
  A(op, IN, x, 0) A(op, STRING, delimiter, 0) A(op, INT, maxsplit, -1) A(op, OUT, parts, 0) A(op, OUT, counts, 0)
#define ND4C_SIG_STRING_NORMALIZER(A, op) \
  A(op, IN, x, 0)                         \
  A(op, OPT, stopwords, 0)                \
  A(op, WORD, change_case, letter_case, ND4C_LETTER_CASE_NONE) A(op, BOOL, case_sensitive, 0) A(op, OUT, y, 0)
#define ND4C_SIG_REGEX(A, op) A(op, IN, x, 0) A(op, STRING, pattern, 0) A(op, OUT, y, 0)
#define ND4C_SIG_TFIDF(A, op)    \
  A(op, IN, x, 0)                \
  A(op, IN, pool, 0)             \
  A(op, INTS, ngram_counts, 0)   \
  A(op, INTS, ngram_indexes, 0)  \
  A(op, FLOATS, weights, 0)      \
  A(op, INT, min_gram_length, 1) \
  A(op, INT, max_gram_length, 1) \
  A(op, INT, max_skip_count, 0) A(op, WORD, mode, tfidf_mode, ND4C_TFIDF_MODE_TF) A(op, OUT, y, 0)

#define ND4C_OPS_TEXT(OP)                                                                                             \
  OP(800, 1, string_concat, TEXT, ND4C_SIG_BINARY, string_concat, TEXT, "a followed by b, broadcast",                 \
     "strings.add||StringConcat|")                                                                                    \
  OP(801, 1, string_split, TEXT, ND4C_SIG_STRING_SPLIT, string_split, TEXT,                                           \
     "parts [..., n]: the pieces of each string between delimiters (none: runs of white space), filled up with "      \
     "empty strings; counts: how many pieces each string has; maxsplit: the most cuts, -1: no limit (Python's "       \
     "str.split)",                                                                                                    \
     "char.split||StringSplit|split_string")                                                                          \
  OP(802, 1, string_normalizer, TEXT, ND4C_SIG_STRING_NORMALIZER, string_normalizer, TEXT,                            \
     "the strings of x, [c] or [1, c], without stopwords and with their case changed; one empty string if none is "   \
     "left",                                                                                                          \
     "||StringNormalizer|")                                                                                           \
  OP(803, 1, string_upper, TEXT, ND4C_SIG_UNARY, string_same, TEXT,                                                   \
     "upper case, each code point on its own (Unicode's simple mapping)", "strings.upper|||")                         \
  OP(804, 1, string_lower, TEXT, ND4C_SIG_UNARY, string_same, TEXT,                                                   \
     "lower case, each code point on its own (Unicode's simple mapping)", "strings.lower|||")                         \
  OP(805, 1, string_strip, TEXT, ND4C_SIG_UNARY, string_same, TEXT, "without white space at both ends",               \
     "strings.strip|||")                                                                                              \
  OP(806, 1, string_length, TEXT, ND4C_SIG_UNARY, string_length, TEXT, "int64 number of code points",                 \
     "strings.str_len|||")                                                                                            \
  OP(807, 1, regex_full_match, TEXT, ND4C_SIG_REGEX, regex, TEXT,                                                     \
     "whether the pattern matches the whole string: PCRE2's syntax, which contains RE2's; a match of more than a "    \
     "million steps is refused (ARGUMENT)",                                                                           \
     "||RegexFullMatch|")                                                                                             \
  OP(808, 1, tfidf_vectorizer, TEXT, ND4C_SIG_TFIDF, tfidf, TOKEN,                                                    \
     "counts (TF), presence times weight (IDF) or counts times weight (TFIDF) of the pool's n-grams in each row of "  \
     "x, as float32; ngram_counts: where the n-grams of each length begin in the pool, ngram_indexes: the column of " \
     "each (ONNX TfIdfVectorizer)",                                                                                   \
     "||TfIdfVectorizer|", NONE, OPTIONS)

#endif
