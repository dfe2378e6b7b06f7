/* Sorting unsigned words of ND4C_WORD_BITS (32 or 64) with AVX-512: quicksort whose partition compresses vectors, and
 * networks of vectors for what fits into eight of them. sort.c includes it once per width; simd/sorting/sorting.c and
 * sorting_words.c call the functions. */

#if ND4C_WORD_BITS == 32
#define WORD uint32_t
#define NAMED(name) name##_32
#define LANES 16
typedef __mmask16 NAMED(mask);
#define OP(name) _mm512_##name##_epi32
#define OPU(name) _mm512_##name##_epu32
#define SPREAD(x) _mm512_set1_epi32((int32_t)(x))
#define BELOW(v, limit) _mm512_cmplt_epu32_mask(v, limit)
#else
#define WORD uint64_t
#define NAMED(name) name##_64
#define LANES 8
typedef __mmask8 NAMED(mask);
#define OP(name) _mm512_##name##_epi64
#define OPU(name) _mm512_##name##_epu64
#define SPREAD(x) _mm512_set1_epi64((int64_t)(x))
#define BELOW(v, limit) _mm512_cmplt_epu64_mask(v, limit)
#endif
#define VECTOR __m512i
#define SMALLER OPU(min)
#define LARGER OPU(max)
#define FEW_SAMPLES LANES
#define MASK NAMED(mask)
#define ALL ((MASK)((1u << LANES) - 1))

/* -- networks -------------------------------------------------------------------------------------------------- */

/* Compares lanes with partners: those of `upper` keep the larger, the others the smaller. */
static inline __m512i NAMED(exchange)(__m512i v, __m512i partners, MASK upper) {
  return OPU(mask_max)(OPU(min)(v, partners), upper, v, partners);
}

static inline __m512i NAMED(reverse)(__m512i v) {
#if ND4C_WORD_BITS == 32
  return _mm512_permutexvar_epi32(_mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), v);
#else
  return _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), v);
#endif
}

/* Sorts a vector that rises and falls. */
static inline __m512i NAMED(clean_lanes)(__m512i v) {
#if ND4C_WORD_BITS == 32
  v = NAMED(exchange)(v, _mm512_shuffle_i64x2(v, v, 0x4e), 0xff00);
  v = NAMED(exchange)(v, _mm512_shuffle_i64x2(v, v, 0xb1), 0xf0f0);
  v = NAMED(exchange)(v, _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4e), 0xcccc);
  return NAMED(exchange)(v, _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0xb1), 0xaaaa);
#else
  v = NAMED(exchange)(v, _mm512_shuffle_i64x2(v, v, 0x4e), 0xf0);
  v = NAMED(exchange)(v, _mm512_permutex_epi64(v, 0x4e), 0xcc);
  return NAMED(exchange)(v, _mm512_permutex_epi64(v, 0xb1), 0xaa);
#endif
}

static inline __m512i NAMED(sort_lanes)(__m512i v) {
#if ND4C_WORD_BITS == 32
  v = NAMED(exchange)(v, _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0xb1), 0xaaaa);
  v = NAMED(exchange)(v, _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x1b), 0xcccc);
  v = NAMED(exchange)(v, _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0xb1), 0xaaaa);
  __m512i turned = _mm512_shuffle_epi32(_mm512_shuffle_i64x2(v, v, 0xb1), (_MM_PERM_ENUM)0x1b);
  v = NAMED(exchange)(v, turned, 0xf0f0);
  v = NAMED(exchange)(v, _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4e), 0xcccc);
  v = NAMED(exchange)(v, _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0xb1), 0xaaaa);
  v = NAMED(exchange)(v, NAMED(reverse)(v), 0xff00);
  v = NAMED(exchange)(v, _mm512_shuffle_i64x2(v, v, 0xb1), 0xf0f0);
  v = NAMED(exchange)(v, _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4e), 0xcccc);
  return NAMED(exchange)(v, _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0xb1), 0xaaaa);
#else
  v = NAMED(exchange)(v, _mm512_permutex_epi64(v, 0xb1), 0xaa);
  v = NAMED(exchange)(v, _mm512_permutex_epi64(v, 0x1b), 0xcc);
  v = NAMED(exchange)(v, _mm512_permutex_epi64(v, 0xb1), 0xaa);
  v = NAMED(exchange)(v, NAMED(reverse)(v), 0xf0);
  v = NAMED(exchange)(v, _mm512_permutex_epi64(v, 0x4e), 0xcc);
  return NAMED(exchange)(v, _mm512_permutex_epi64(v, 0xb1), 0xaa);
#endif
}

#include "kernels/cpu/sorting/sort_runs.h"

/* Sorts n words, of `count` vectors at most; what is missing counts as largest. */
#define NETWORK(count)                                                                                       \
  static void NAMED(network_##count)(WORD * x, int64_t n) {                                                  \
    __m512i v[count];                                                                                        \
    MASK masks[count];                                                                                       \
    _Pragma("GCC unroll 16") for (int i = 0; i < count; i++) {                                               \
      int64_t left = n - i * LANES;                                                                          \
      masks[i] = left >= LANES ? ALL : left <= 0 ? (MASK)0 : (MASK)((1u << left) - 1);                       \
      v[i] = OP(mask_loadu)(SPREAD(-1), masks[i], x + i * LANES);                                            \
    }                                                                                                        \
    NAMED(sort_vectors)(v, count);                                                                           \
    _Pragma("GCC unroll 16") for (int i = 0; i < count; i++) OP(mask_storeu)(x + i * LANES, masks[i], v[i]); \
  }
NETWORK(1)
NETWORK(2)
NETWORK(4)
NETWORK(8)
NETWORK(16)

enum { NAMED(NETWORK_WORDS) = 16 * LANES };

static void NAMED(sort_few)(WORD *x, int64_t n) {
  if (n <= LANES) {
    NAMED(network_1)(x, n);
  } else if (n <= 2 * LANES) {
    NAMED(network_2)(x, n);
  } else if (n <= 4 * LANES) {
    NAMED(network_4)(x, n);
  } else if (n <= 8 * LANES) {
    NAMED(network_8)(x, n);
  } else {
    NAMED(network_16)(x, n);
  }
}

/* -- partition ------------------------------------------------------------------------------------------------- */

enum { NAMED(BUFFER_WORDS) = 8192 / sizeof(WORD), NAMED(UNROLLED) = 8 };

/* Words below the pivot first; how many there are. By way of a buffer, which the others pass through. */
static int64_t NAMED(partition_short)(WORD *x, int64_t n, WORD pivot) {
  WORD buffer[NAMED(BUFFER_WORDS) + LANES];
  __m512i limit = SPREAD(pivot);
  WORD *low = x, *high = buffer;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    __m512i v = _mm512_loadu_si512(x + i);
    MASK below = BELOW(v, limit);
    int32_t count = __builtin_popcount(below);
    _mm512_storeu_si512(low, OP(maskz_compress)(below, v));
    _mm512_storeu_si512(high, OP(maskz_compress)((MASK)~below, v));
    low += count;
    high += LANES - count;
  }
  if (i < n) {
    MASK there = (MASK)((1u << (n - i)) - 1);
    __m512i v = OP(maskz_loadu)(there, x + i);
    MASK below = there & BELOW(v, limit);
    int32_t count = __builtin_popcount(below);
    OP(mask_storeu)(low, (MASK)((1u << count) - 1), OP(maskz_compress)(below, v));
    _mm512_storeu_si512(high, OP(maskz_compress)((MASK)(there & ~below), v));
    low += count;
    high += n - i - count;
  }
  memcpy(low, buffer, (size_t)(high - buffer) * sizeof *x);
  return low - x;
}

/* In place, for at least 4 blocks: room is made by taking the first and the last block out, then blocks are taken from
 * the side with less room. */
static int64_t NAMED(partition_long)(WORD *x, int64_t n, WORD pivot) {
  enum { VECTORS = NAMED(UNROLLED), BLOCK = VECTORS * LANES };
  WORD saved[3 * BLOCK + LANES];
  WORD *left = x + BLOCK, *right = x + n - BLOCK, *low = x, *high = x + n;
  __m512i limit = SPREAD(pivot);
  memcpy(saved, x, sizeof(WORD[BLOCK]));
  memcpy(saved + BLOCK, right, sizeof(WORD[BLOCK]));
  while (right - left >= BLOCK) {
    const WORD *from = left;
    if (left - low <= high - right) {
      left += BLOCK;
    } else {
      right -= BLOCK;
      from = right;
    }
    __m512i v[VECTORS];
    _Pragma("GCC unroll 8") for (int i = 0; i < VECTORS; i++) v[i] = _mm512_loadu_si512(from + i * LANES);
    _Pragma("GCC unroll 8") for (int i = 0; i < VECTORS; i++) {
      MASK below = BELOW(v[i], limit);
      int32_t count = __builtin_popcount(below);
      _mm512_storeu_si512(low, OP(maskz_compress)(below, v[i]));
      low += count;
      high -= LANES - count;
      OP(mask_storeu)(high, (MASK)(ALL >> count), OP(maskz_compress)((MASK)~below, v[i]));
    }
  }
  int64_t rest = right - left, total = 2 * BLOCK + rest;
  memcpy(saved + 2 * BLOCK, left, (size_t)rest * sizeof *x);
  for (int64_t i = 0; i < total; i += LANES) {
    MASK there = total - i >= LANES ? ALL : (MASK)((1u << (total - i)) - 1);
    __m512i v = _mm512_loadu_si512(saved + i);
    MASK below = there & BELOW(v, limit), above = (MASK)(there & ~below);
    int32_t lows = __builtin_popcount(below), highs = __builtin_popcount(above);
    OP(mask_storeu)(low, (MASK)((1u << lows) - 1), OP(maskz_compress)(below, v));
    low += lows;
    high -= highs;
    OP(mask_storeu)(high, (MASK)((1u << highs) - 1), OP(maskz_compress)(above, v));
  }
  return low - x;
}

#include "kernels/cpu/sorting/sort_quick.h"

/* -- sharing out ------------------------------------------------------------------------------------------------ */

static void NAMED(count)(const void *words, int64_t n, const void *vlimits, int32_t limit_count, int64_t *at_least) {
  const WORD *x = words, *limits = vlimits;
  for (int64_t i = 0; i < n; i += LANES) {
    MASK there = n - i >= LANES ? ALL : (MASK)((1u << (n - i)) - 1);
    __m512i v = OP(maskz_loadu)(there, x + i);
    for (int32_t j = 0; j < limit_count; j++) {
      at_least[j] += __builtin_popcount(there & (MASK)~BELOW(v, SPREAD(limits[j])));
    }
  }
}

static void NAMED(scatter)(const void *words, int64_t n, const void *vlimits, int32_t limit_count, void **vto) {
  const WORD *x = words, *limits = vlimits;
  WORD **to = (WORD **)vto;
  for (int64_t i = 0; i < n; i += LANES) {
    MASK left = n - i >= LANES ? ALL : (MASK)((1u << (n - i)) - 1);
    __m512i v = OP(maskz_loadu)(left, x + i);
    for (int32_t j = 0; j <= limit_count; j++) {
      MASK here = j < limit_count ? left & BELOW(v, SPREAD(limits[j])) : left;
      int32_t count = __builtin_popcount(here);
      OP(mask_storeu)(to[j], (MASK)((1u << count) - 1), OP(maskz_compress)(here, v));
      to[j] += count;
      left &= (MASK)~here;
    }
  }
}

static int64_t NAMED(distinct)(const void *words, int64_t n, void *vto) {
  const WORD *x = words;
  WORD *to = vto;
  if (n == 0) {
    return 0;
  }
  WORD last = x[0];
  int64_t count = 1, i = 1;
  to[0] = last;
  for (; i + LANES <= n; i += LANES) { /* what is stored past the end has been read */
    __m512i v = _mm512_loadu_si512(x + i);
#if ND4C_WORD_BITS == 32
    __m512i before = _mm512_alignr_epi32(v, SPREAD(last), LANES - 1);
    MASK differ = _mm512_cmpneq_epu32_mask(v, before);
#else
    __m512i before = _mm512_alignr_epi64(v, SPREAD(last), LANES - 1);
    MASK differ = _mm512_cmpneq_epu64_mask(v, before);
#endif
    last = x[i + LANES - 1];
    _mm512_storeu_si512(to + count, OP(maskz_compress)(differ, v));
    count += __builtin_popcount(differ);
  }
  for (; i < n; i++) {
    WORD word = x[i];
    to[count] = word;
    count += word != last;
    last = word;
  }
  return count;
}

#include "kernels/cpu/sorting/search.h"

#undef WORD
#undef NAMED
#undef LANES
#undef OP
#undef OPU
#undef SPREAD
#undef BELOW
#undef VECTOR
#undef SMALLER
#undef LARGER
#undef FEW_SAMPLES
#undef MASK
#undef ALL
#undef NETWORK
