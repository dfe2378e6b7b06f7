/* Sorting unsigned words of ND4C_WORD_BITS (32 or 64) in plain C: by digits, the last one first. sort.c includes it
 * once per width on levels below AVX-512; simd/sorting/sorting.c and sorting_words.c call the functions. */

#if ND4C_WORD_BITS == 32
#define WORD uint32_t
#define NAMED(name) name##_32
#else
#define WORD uint64_t
#define NAMED(name) name##_64
#endif

enum { NAMED(DIGIT_COUNT) = sizeof(WORD), NAMED(INSERTION_WORDS) = 40 };

static void NAMED(insertion_sort)(WORD *x, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    WORD word = x[i];
    int64_t place = i;
    for (; place > 0 && x[place - 1] > word; place--) {
      x[place] = x[place - 1];
    }
    x[place] = word;
  }
}

/* Digits that all words share are passed over. */
static void NAMED(radix_sort)(WORD *x, int64_t n, WORD *other) {
  int64_t counts[NAMED(DIGIT_COUNT)][256] = {{0}};
  WORD *from = x, *to = other;
  for (int64_t i = 0; i < n; i++) {
    for (int digit = 0; digit < NAMED(DIGIT_COUNT); digit++) {
      counts[digit][x[i] >> (8 * digit) & 255]++;
    }
  }
  for (int digit = 0; digit < NAMED(DIGIT_COUNT); digit++) {
    int64_t *places = counts[digit], place = 0;
    if (places[x[0] >> (8 * digit) & 255] == n) {
      continue;
    }
    for (int value = 0; value < 256; value++) {
      int64_t size = places[value];
      places[value] = place;
      place += size;
    }
    for (int64_t i = 0; i < n; i++) {
      to[places[from[i] >> (8 * digit) & 255]++] = from[i];
    }
    WORD *swap = from;
    from = to;
    to = swap;
  }
  if (from != x) {
    memcpy(x, from, (size_t)n * sizeof *x);
  }
}

static void NAMED(sort)(void *words, int64_t n, int64_t from, int64_t to, void *work) {
  (void)from;
  (void)to;
  if (n <= NAMED(INSERTION_WORDS)) {
    NAMED(insertion_sort)(words, n);
  } else {
    NAMED(radix_sort)(words, n, work);
  }
}

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
