/* Sorting unsigned words of ND4C_WORD_BITS (32 or 64) below AVX-512: with AVX2 by quicksort, else by digits; the rest
 * in plain C. sort.c includes it once per width; simd/sorting/sorting.c and sorting_words.c call the functions. */

#if ND4C_WORD_BITS == 32
#define WORD uint32_t
#define NAMED(name) name##_32
#else
#define WORD uint64_t
#define NAMED(name) name##_64
#endif

#if defined(AVX2_SORT)
#include "kernels/cpu/sorting/sort_avx2.h"
#else
#include "kernels/cpu/sorting/sort_radix.h"
#endif

static inline int32_t NAMED(bucket)(WORD word, const WORD *limits, int32_t limit_count) {
  int32_t bucket = 0;
  for (int32_t j = 0; j < limit_count; j++) {
    bucket += word >= limits[j];
  }
  return bucket;
}

static void NAMED(count)(const void *words, int64_t n, const void *limits, int32_t limit_count, int64_t *at_least) {
  const WORD *x = words, *limit = limits;
  for (int32_t j = 0; j < limit_count; j++) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
      count += x[i] >= limit[j];
    }
    at_least[j] += count;
  }
}

static void NAMED(scatter)(const void *words, int64_t n, const void *limits, int32_t limit_count, void **vto) {
  const WORD *x = words;
  for (int64_t i = 0; i < n; i++) {
    int32_t bucket = NAMED(bucket)(x[i], limits, limit_count);
    WORD *to = vto[bucket];
    *to = x[i];
    vto[bucket] = to + 1;
  }
}

/* The words that differ from the one before. */
static int64_t NAMED(distinct)(const void *vwords, int64_t n, void *vto) {
  const WORD *words = vwords;
  WORD *to = vto, before = n > 0 ? ~words[0] : 0;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    WORD word = words[i];
    to[count] = word;
    count += word != before;
    before = word;
  }
  return count;
}

#include "kernels/cpu/sorting/search.h"

#undef WORD
#undef NAMED
