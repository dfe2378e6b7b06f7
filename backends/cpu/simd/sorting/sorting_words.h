/* Sorting words (kernels/cpu/sorting/sort.h) of one line on one thread or several, for sort, argsort, top_k, unique and
 * median of engine simd. */
#ifndef ND4C_BACKENDS_CPU_SIMD_SORTING_WORDS_H
#define ND4C_BACKENDS_CPU_SIMD_SORTING_WORDS_H

#include "backends/cpu/simd/simd.h"

typedef struct nd4c_words {
  bool wide; /* words of 64 bits */
  int64_t count;
  /* Places of the sorted words that matter; from 0 to `count`: all. */
  int64_t from, to;
  /* Makes words begin .. begin + n - 1; returns what the words do not show (ND4C_SORT_*). Several threads may ask for
   * the same words, and more than once. */
  uint32_t (*source)(const void *user, int64_t begin, int64_t n, void *words);
  /* Called with each run of sorted words, in place, from place `begin` on; may change them. NULL: not called. */
  void (*finish)(const void *user, int64_t begin, int64_t n, void *words);
  const void *user;
  void *words;         /* where the sorted words come: room for `count` */
  void *work;          /* as many again, where the level needs them; NULL: allocated */
  uint64_t apart_from; /* finish gets words that differ in these bits alone in one run */
} nd4c_words;

/* *special: what source returned, together. MEMORY if there is none. */
nd4c_status nd4c_words_sort(const nd4c_words *job, int32_t width, uint32_t *special);

/* Stable order of the contiguous elements at x, of any dtype but complex: key and index share a word of 64 bits. Of
 * 2^32 elements at most. */
typedef struct nd4c_order_line {
  const nd4c_sort_dtype *dtype;
  const char *x;
  int64_t bytes; /* an element */
  uint64_t flip;
  bool keeps_words; /* the order's upper bits stay: elements whose words differ above low_bits differ */
  /* Set by nd4c_order_sort. dropped: bits of keys that words do not tell. */
  uint64_t least;
  int32_t shift, low_bits, dropped;
} nd4c_order_line;
/* order: room for `count`, right up to place `to`. work: as many words where the level needs them, or NULL. */
nd4c_status nd4c_order_sort(nd4c_order_line *line, int64_t count, int64_t to, int32_t width, void *work,
                            int64_t *order);
uint64_t nd4c_order_key(const nd4c_order_line *line, int64_t index);

/* The lines of a tensor along an axis, to be read one after the other. */
typedef struct nd4c_word_lines {
  int32_t rank;
  int64_t shape[ND4C_CPU_MAX_RANK], count;
  int64_t strides[3][ND4C_CPU_MAX_RANK]; /* of x, and of up to two outputs */
} nd4c_word_lines;

/* All axes of x but `axis` (-1: x has none). Outputs have that axis, have it with length 1, or lack it; NULL: none. */
nd4c_word_lines nd4c_word_lines_of(const nd4c_tensor *x, int32_t axis, const nd4c_tensor *first,
                                   const nd4c_tensor *second);
/* Offsets of a line, in elements. */
void nd4c_word_lines_at(const nd4c_word_lines *lines, int64_t line, int64_t offsets[3]);
/* Lines from `line` on that lie one element apart in x and in the outputs, `most` at most: 1 if they do not. */
int64_t nd4c_word_lines_beside(const nd4c_word_lines *lines, int64_t line, int64_t most);

#endif
