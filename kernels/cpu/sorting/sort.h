/* Sorting by keys: elements become unsigned words in the same order, and the words are sorted. The files
 * simd/sorting*.c call these, and simd/statistics_median.c.
 *
 * Order is NumPy's: NaN last, -0 equal to 0. A flip (of nd4c_sort_dtype) turns the order round. A dtype of up to 32
 * bits has words of 32 bits, one of 64 bits words of 64. */
#ifndef ND4C_KERNELS_CPU_SORTING_SORT_H
#define ND4C_KERNELS_CPU_SORTING_SORT_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/dtype.h"

/* What elements had that their keys do not tell. */
enum { ND4C_SORT_NEGATIVE_ZERO = 1, ND4C_SORT_NAN = 2 };

typedef struct nd4c_sort_dtype {
  int32_t bits;     /* of a key, which is below 2^bits */
  int32_t wide;     /* words of 64 bits */
  uint64_t flip;    /* key ^ flip: key of the opposite order */
  uint64_t zero;    /* key of zero, of floats: that of both zeros */
  bool has_special; /* floats */
  /* Keys of n contiguous elements; which special ones there were. */
  uint32_t (*keys)(int64_t n, const void *x, uint64_t flip, void *words);
  /* Back; NaN of one kind, zeros positive. */
  void (*elements)(int64_t n, const void *words, uint64_t flip, void *x);
} nd4c_sort_dtype;

/* Of words of 32 and 64 bits. */
typedef struct nd4c_sort_words {
  /* Sorts only as far as places from .. to - 1 hold their words of the sorted order. work: n words if the table's
   * needs_work is set. */
  void (*sort)(void *words, int64_t n, int64_t from, int64_t to, void *work);
  /* at_least[j] += how many words are not below limits[j]. */
  void (*count)(const void *words, int64_t n, const void *limits, int32_t limit_count, int64_t *at_least);
  /* Appends each word to to[number of limits (ascending) that it reaches]. */
  void (*scatter)(const void *words, int64_t n, const void *limits, int32_t limit_count, void **to);
  /* The words that differ from the one before (before the first: none); returns how many. In place, too. */
  int64_t (*distinct)(const void *words, int64_t n, void *to);
  /* places[i]: how many of `count` ascending keys are below words[i], or, after: not above it. */
  void (*search)(int64_t n, const void *words, const void *keys, int64_t count, bool after, int64_t *places);
} nd4c_sort_words;

typedef struct nd4c_sort_table {
  bool needs_work;
  nd4c_sort_words words[2]; /* of 32 bits, of 64 */
  nd4c_sort_dtype dtypes[ND4C_DTYPE_END];
  /* to[i] = keys[i] << 32 | first + i */
  void (*pair)(int64_t n, const uint32_t *keys, int64_t first, uint64_t *to);
  /* to[i] = words[i] & mask; in place, too. */
  void (*mask)(int64_t n, const uint64_t *words, uint64_t mask, int64_t *to);
  /* to[i] = ((keys[i] - least) >> shift) << low_bits | first + i; in place, too. */
  void (*pack)(int64_t n, const uint64_t *keys, uint64_t least, int32_t shift, int32_t low_bits, int64_t first,
               uint64_t *to);
  /* Least and largest key, and which bits differ from those of key `first`; all three are updated. */
  void (*range)(int64_t n, const uint64_t *keys, uint64_t first, uint64_t *least, uint64_t *most, uint64_t *differ);
  /* Appends keys[i] << 32 | first + i of keys of at most `bound` until there is no room for 16 words; returns how many
   * keys were looked at. */
  int64_t (*filter)(int64_t n, const uint32_t *keys, int64_t first, uint32_t bound, uint64_t *to, int64_t room,
                    int64_t *count);
  /* The same for keys of 64 bits: appends first + i. */
  int64_t (*filter_wide)(int64_t n, const uint64_t *keys, int64_t first, uint64_t bound, int64_t *to, int64_t room,
                         int64_t *count);
} nd4c_sort_table;

enum { ND4C_SORT_FILTER_ROOM = 16 };

#endif
